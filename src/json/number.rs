//! Numbers out of their JSON text, without the standard library's parser of floats: its tables alone would be a
//! fifth of the slim WebAssembly module.

/// Why a number is no id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAnId {
    Negative,
    Fractional,
    OutOfRange,
    /// `NaN` or an infinity.
    NotFinite,
}

/// The id that a number is, in whatever way it is spelled: `5`, `5.0`, `50e-1`.
pub(crate) fn id(text: &[u8]) -> Result<u32, NotAnId> {
    let mut decimal = Decimal::parse(text).ok_or(NotAnId::NotFinite)?;
    decimal.trim();
    if decimal.mantissa == 0 {
        return Ok(0);
    }
    if decimal.negative {
        return Err(NotAnId::Negative);
    }
    if decimal.exponent < 0 {
        return Err(NotAnId::Fractional);
    }
    let scale = (0..decimal.exponent.min(20)).try_fold(1u64, |scale, _| scale.checked_mul(10));
    let value = scale.and_then(|scale| decimal.mantissa.checked_mul(scale));
    value.and_then(|value| u32::try_from(value).ok()).ok_or(NotAnId::OutOfRange)
}

/// The value of a number: the nearest double for all of up to 15 digits and exponents from -22 to 22, close to it for
/// others.
pub(crate) fn double(text: &[u8]) -> Option<f64> {
    let decimal = match text {
        b"NaN" => return Some(f64::NAN),
        b"Infinity" => return Some(f64::INFINITY),
        b"-Infinity" => return Some(f64::NEG_INFINITY),
        _ => Decimal::parse(text)?,
    };
    // Powers of ten up to the 22nd are exact, and so is one operation on exact numbers.
    let power = (0..decimal.exponent.unsigned_abs().min(400)).fold(1.0, |power, _| power * 10.0);
    let mantissa = decimal.mantissa as f64;
    let value = if decimal.exponent < 0 { mantissa / power } else { mantissa * power };
    Some(if decimal.negative { -value } else { value })
}

/// `mantissa` times ten to the power of `exponent`.
struct Decimal {
    negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl Decimal {
    /// Takes text that is a number in JSON; nothing for another.
    fn parse(text: &[u8]) -> Option<Decimal> {
        let (negative, digits) = match text.strip_prefix(b"-") {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let mut decimal = Decimal { negative, mantissa: 0, exponent: 0 };
        let mut in_fraction = false;
        let mut at = 0;
        while let Some(&byte) = digits.get(at) {
            match byte {
                b'.' => in_fraction = true,
                b'0'..=b'9' => decimal.push(byte - b'0', in_fraction),
                b'e' | b'E' => break,
                _ => return None,
            }
            at += 1;
        }
        if let Some((_, exponent)) = digits.get(at..)?.split_first() {
            let (is_negative, exponent) = match exponent.split_first()? {
                (b'-', digits) => (true, digits),
                (b'+', digits) => (false, digits),
                _ => (false, exponent),
            };
            let value = exponent.iter().fold(0i32, |value, digit| {
                value.saturating_mul(10).saturating_add(i32::from(digit.wrapping_sub(b'0')))
            });
            decimal.exponent = decimal.exponent.saturating_add(if is_negative { -value } else { value });
        }
        (!digits.is_empty()).then_some(decimal)
    }

    fn push(&mut self, digit: u8, in_fraction: bool) {
        const FULL: u64 = u64::MAX / 10 - 1;
        if self.mantissa <= FULL {
            self.mantissa = self.mantissa * 10 + u64::from(digit);
            self.exponent -= i32::from(in_fraction);
        } else {
            // Nineteen digits are held. What follows them makes the last odd, so that no fraction is lost.
            self.mantissa |= u64::from(digit > 0);
            self.exponent += i32::from(!in_fraction);
        }
    }

    /// Moves the zeros at the end of the mantissa into the exponent.
    fn trim(&mut self) {
        while self.mantissa != 0 && self.mantissa.is_multiple_of(10) {
            self.mantissa /= 10;
            self.exponent = self.exponent.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        use NotAnId::*;
        for (text, expected) in [
            ("0", Ok(0)),
            ("-0", Ok(0)),
            ("-0.0e5", Ok(0)),
            ("5.000", Ok(5)),
            ("50e-1", Ok(5)),
            ("0.5e1", Ok(5)),
            ("4294967295", Ok(u32::MAX)),
            ("4294967295.0000000000000000000", Ok(u32::MAX)),
            ("4294967296", Err(OutOfRange)),
            ("18446744073709551616123", Err(OutOfRange)),
            ("1e400", Err(OutOfRange)),
            ("1e99999999999", Err(OutOfRange)),
            ("0e99999999999", Ok(0)),
            ("5.00000000000000000000000001", Err(Fractional)),
            ("0.5", Err(Fractional)),
            ("1e-400", Err(Fractional)),
            ("-1", Err(Negative)),
            ("-0.5", Err(Negative)),
            ("NaN", Err(NotFinite)),
            ("-Infinity", Err(NotFinite)),
        ] {
            assert_eq!(id(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn doubles_are_those_of_the_standard_library() {
        for text in
            ["0", "-100", "1.5", "0.1", "1e-1", "-2.5e3", "123456789012345", "1e22", "9007199254740991", "3e-22"]
        {
            assert_eq!(double(text.as_bytes()), text.parse().ok(), "{text}");
        }
        assert_eq!(double(b"1e999"), Some(f64::INFINITY));
        assert_eq!(double(b"1e-999"), Some(0.0));
    }
}
