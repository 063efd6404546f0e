//! A double out of its decimal digits: the nearest one, and of two as near the even one, as IEEE 754 has it. The standard
//! library's parser has tables that are larger than all of this.

use std::cmp::Ordering;

use super::big::Big;

/// Digits that decide: more of them than the longest halfway case between two doubles has.
const MOST_DIGITS: usize = 800;

/// Digits that a `u64` holds whatever they are.
const FEW_DIGITS: usize = 19;

/// Bits of the fraction of a double, with the leading one.
const PRECISION: u32 = 53;

/// The smallest power of two that a fraction is multiplied with.
const LEAST_EXPONENT: i64 = -1074;

/// The nearest double to a number of JSON, also to `NaN`, `Infinity` and `-Infinity`; nothing for other text. Numbers that
/// are too large are an infinity.
pub(crate) fn double(text: &[u8]) -> Option<f64> {
    let (is_negative, unsigned) = match text.strip_prefix(b"-") {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let value = match unsigned {
        b"NaN" => f64::NAN,
        b"Infinity" => f64::INFINITY,
        _ => Decimal::parse(unsigned)?.nearest(),
    };
    Some(if is_negative { -value } else { value })
}

/// Digits, and the power of ten that they are multiplied with.
struct Decimal {
    /// Without zeros in front and at the end. Of more than [`MOST_DIGITS`] the last stands for the rest.
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    fn parse(text: &[u8]) -> Option<Decimal> {
        let mut decimal = Decimal { digits: Vec::new(), exponent: 0 };
        let mut in_fraction = false;
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'.' => in_fraction = true,
                b'0'..=b'9' => decimal.push(byte - b'0', in_fraction),
                b'e' | b'E' => break,
                _ => return None,
            }
            at += 1;
        }
        if let Some((_, exponent)) = text.get(at..)?.split_first() {
            let (is_negative, exponent) = match exponent.split_first()? {
                (b'-', digits) => (true, digits),
                (b'+', digits) => (false, digits),
                _ => (false, exponent),
            };
            let mut value = 0i64;
            for digit in exponent {
                value = value.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0')));
            }
            // Larger ones are 0 or an infinity, however long a body can be.
            let value = value.min(1 << 40);
            decimal.exponent += if is_negative { -value } else { value };
        }
        while decimal.digits.last() == Some(&0) {
            decimal.digits.pop();
            decimal.exponent += 1;
        }
        (at > 0).then_some(decimal)
    }

    fn push(&mut self, digit: u8, in_fraction: bool) {
        if self.digits.is_empty() && digit == 0 {
            self.exponent -= i64::from(in_fraction);
            return;
        }
        if self.digits.len() < MOST_DIGITS {
            self.digits.push(digit);
            self.exponent -= i64::from(in_fraction);
            return;
        }
        // What is cut off makes the last digit odd: then no halfway case is met that is none.
        if let Some(last) = self.digits.last_mut() {
            *last |= u8::from(digit > 0);
        }
        self.exponent += i64::from(!in_fraction);
    }

    fn nearest(&self) -> f64 {
        let magnitude = self.exponent + self.digits.len() as i64;
        if self.digits.is_empty() || magnitude < -330 {
            return 0.0;
        }
        if magnitude > 310 {
            return f64::INFINITY;
        }
        if self.digits.len() <= FEW_DIGITS
            && let Some(value) = self.fast()
        {
            return value;
        }
        self.exact()
    }

    /// One operation on two exact doubles, which rounds as it must (Clinger).
    fn fast(&self) -> Option<f64> {
        let mantissa = self.digits.iter().fold(0u64, |mantissa, &digit| mantissa * 10 + u64::from(digit));
        if mantissa >> PRECISION != 0 || !(-22..=22).contains(&self.exponent) {
            return None;
        }
        let mut power = 1.0;
        for _ in 0..self.exponent.unsigned_abs() {
            power *= 10.0;
        }
        let mantissa = mantissa as f64;
        Some(if self.exponent < 0 { mantissa / power } else { mantissa * power })
    }

    /// The number as a fraction of whole numbers, scaled by powers of two until the quotient has the bits of a double; one
    /// bit after the other by comparing and subtracting.
    fn exact(&self) -> f64 {
        let mut above = Big::new(0);
        for &digit in &self.digits {
            above.multiply_add(10, u32::from(digit));
        }
        let mut below = Big::new(1);
        let power = self.exponent.unsigned_abs() as u32;
        if self.exponent < 0 {
            below.multiply_ten(power)
        } else {
            above.multiply_ten(power)
        }

        // 2^exponent <= number < 2^(exponent + 1): first by the lengths, then by comparing.
        let mut exponent = i64::from(above.bits()) - i64::from(below.bits());
        scale(&mut above, &mut below, exponent);
        if above.compare(&below) == Ordering::Less {
            above.multiply_two(1);
            exponent -= 1;
        }
        // Numbers near 0 have fewer bits.
        let lowest = (exponent - i64::from(PRECISION) + 1).max(LEAST_EXPONENT);
        let bits = exponent - lowest + 1;
        if bits < 0 {
            return 0.0;
        }
        let mut fraction = 0u64;
        for _ in 0..bits {
            fraction <<= 1;
            if above.compare(&below) != Ordering::Less {
                above.subtract(&below);
                fraction |= 1;
            }
            above.multiply_two(1);
        }
        // What is left, doubled already, against one: half or more rounds up.
        fraction += match above.compare(&below) {
            Ordering::Greater => 1,
            Ordering::Equal => fraction & 1,
            Ordering::Less => 0,
        };
        assemble(fraction, lowest)
    }
}

/// Divides by a power of two.
fn scale(above: &mut Big, below: &mut Big, exponent: i64) {
    let by = exponent.unsigned_abs() as u32;
    if exponent < 0 { above.multiply_two(by) } else { below.multiply_two(by) }
}

/// `fraction` times two to the power of `lowest`, which a double holds or which is too large for one.
fn assemble(fraction: u64, lowest: i64) -> f64 {
    let (mut fraction, mut lowest) = (fraction, lowest);
    if fraction >> PRECISION != 0 {
        fraction >>= 1;
        lowest += 1;
    }
    let stored = lowest - LEAST_EXPONENT + 1;
    if stored >= 0x7FF {
        return f64::INFINITY;
    }
    // Without the leading one, numbers near 0 have the exponent 0.
    let is_normal = fraction >> (PRECISION - 1) != 0;
    let stored = if is_normal { stored as u64 } else { 0 };
    f64::from_bits(stored << (PRECISION - 1) | fraction & ((1 << (PRECISION - 1)) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(double(text.as_bytes()).map(f64::to_bits), Some(expected.to_bits()), "{text}");
    }

    /// xorshift: a different number each time.
    fn next(seed: &mut u64) -> u64 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed
    }

    #[test]
    fn reads_as_the_standard_library_does() {
        for text in [
            "0",
            "-0",
            "-0.0",
            "0e5",
            "5",
            "-100",
            "1.5",
            "0.1",
            "1e-1",
            "-2.5e3",
            "1E+5",
            "3e-22",
            "1e22",
            "1e23",
            "9007199254740991",
            "9007199254740993",
            "18446744073709551616",
            "123456789012345678901234567890",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e308",
            "1e309",
            "1e400",
            "1e-400",
            "0.000001e-318",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "0e99999999999999999999",
            "8.41e21",
            "6.631236846766476e-316",
            "3.237883913302901e-319",
        ] {
            agree(text);
        }
        assert!(double(b"NaN").is_some_and(f64::is_nan));
        assert_eq!(double(b"Infinity"), Some(f64::INFINITY));
        assert_eq!(double(b"-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(double(b""), None);
        assert_eq!(double(b"true"), None);
    }

    #[test]
    fn random_numbers() {
        let mut seed = 88_172_645_463_325_252;
        for _ in 0..RANDOM {
            let value = f64::from_bits(next(&mut seed));
            if value.is_finite() {
                agree(&format!("{value:e}"));
                agree(&format!("{value:.25e}"));
            }
            let exponent = (next(&mut seed) % 700) as i64 - 350;
            agree(&format!("{}e{exponent}", next(&mut seed)));
            agree(&format!("0.{:020}{}", next(&mut seed) % 1000, next(&mut seed)));
        }
    }

    /// The number exactly between two doubles, and the nearest on either side of it, written with all their digits.
    #[test]
    fn halfway_cases() {
        let mut seed = 2_463_534_242;
        let mut values: Vec<f64> = [0.0, f64::MIN_POSITIVE, 1.0, 2f64.powi(53), f64::from_bits(1)].to_vec();
        for _ in 0..RANDOM / 50 {
            values.push(f64::from_bits(next(&mut seed) >> 1));
        }
        for value in values {
            let above = f64::from_bits(value.to_bits() + 1);
            if !above.is_finite() {
                continue;
            }
            // Exact: all digits of both are written, and half of their sum is made of the digits.
            let (low, high) = (format!("{value:.1080}"), format!("{above:.1080}"));
            let middle = half_of_sum(&low, &high);
            agree(&middle);
            agree(&format!("{middle}1"));
            agree(&format!("{middle}{:0>900}", 1));
            let mut below = middle.into_bytes();
            for byte in below.iter_mut().rev() {
                match byte {
                    b'0' => *byte = b'9',
                    b'1'..=b'9' => {
                        *byte -= 1;
                        break;
                    }
                    _ => {}
                }
            }
            agree(&String::from_utf8(below).unwrap());
        }
    }

    /// Half the sum of two decimals with equally many digits after the point.
    fn half_of_sum(low: &str, high: &str) -> String {
        let width = low.len().max(high.len());
        let digits = |text: &str| format!("{text:0>width$}").into_bytes();
        let (low, high) = (digits(low), digits(high));
        let mut sum = Vec::new();
        let mut carry = 0;
        for (a, b) in low.iter().zip(&high).rev() {
            if *a == b'.' {
                sum.push(b'.');
                continue;
            }
            carry += a - b'0' + b - b'0';
            sum.push(carry % 10);
            carry /= 10;
        }
        sum.push(carry);
        sum.reverse();
        let mut rest = 0;
        let mut half = String::new();
        for digit in sum {
            if digit == b'.' {
                half.push('.');
                continue;
            }
            rest = rest * 10 + digit;
            half.push(char::from(b'0' + rest / 2));
            rest %= 2;
        }
        half.push(if rest == 1 { '5' } else { '0' });
        let trimmed = half.trim_start_matches('0');
        if trimmed.starts_with('.') { format!("0{trimmed}") } else { trimmed.to_owned() }
    }

    /// Rounds of random numbers: some millions take a minute in an unoptimized build.
    const RANDOM: usize = if cfg!(debug_assertions) { 50_000 } else { 1_000_000 };
}
