//! The shortest decimal of a double: of those that are read as this very double the one with the fewest digits, of several
//! the nearest (Steele and White; Burger and Dybvig). Written as Python's `repr` and `json.dumps` write it.

use std::cmp::Ordering;

use super::big::Big;

/// Most digits that a shortest decimal has.
const MOST_DIGITS: usize = 17;

/// Appends a double as Python's `json.dumps` writes it, with `NaN`, `Infinity` and `-Infinity`.
pub(crate) fn double_into(double: f64, out: &mut Vec<u8>) {
    if double.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if double.is_sign_negative() {
        out.push(b'-');
    }
    if double.is_infinite() {
        return out.extend_from_slice(b"Infinity");
    }
    if double == 0.0 {
        return out.extend_from_slice(b"0.0");
    }
    let (digits, point) = shortest(double);
    layout_into(&digits, point, out);
}

/// Appends digits with a point after so many of them; with an exponent where Python has one.
fn layout_into(digits: &[u8], point: i32, out: &mut Vec<u8>) {
    let exponent = point - 1;
    if (-4..16).contains(&exponent) {
        for at in (point - 1).min(0)..(point + 1).max(digits.len() as i32) {
            if at == point {
                out.push(b'.');
            }
            let digit = usize::try_from(at).ok().and_then(|at| digits.get(at));
            out.push(digit.copied().unwrap_or(b'0'));
        }
        return;
    }
    let (first, rest) = digits.split_at(1);
    out.extend_from_slice(first);
    if !rest.is_empty() {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    let exponent = exponent.unsigned_abs();
    if exponent >= 100 {
        out.push(b'0' + (exponent / 100) as u8);
    }
    out.extend_from_slice(&[b'0' + (exponent / 10 % 10) as u8, b'0' + (exponent % 10) as u8]);
}

/// The digits of a finite double that is not 0, without its sign, and after how many of them the point is.
fn shortest(double: f64) -> (Vec<u8>, i32) {
    let bits = double.to_bits();
    let stored = (bits >> 52 & 0x7FF) as i32;
    let fraction = bits & ((1 << 52) - 1);
    let mantissa = if stored == 0 { fraction } else { fraction | 1 << 52 };
    let exponent = stored.max(1) - 1075;
    // The double is `rest / scale`; half the way to the next one is `above / scale`, to the one before `below / scale`.
    let (mut rest, mut scale, mut above) = (Big::new(mantissa), Big::new(1), Big::new(1));
    for part in [&mut rest, &mut above] {
        part.multiply_two(exponent.max(0) as u32);
    }
    let mut below = above.clone();
    scale.multiply_two((-exponent).max(0) as u32);
    // The doubles below a power of two are twice as close.
    let is_power = fraction == 0 && stored > 1;
    for (part, twos) in [(&mut rest, 1), (&mut scale, 1), (&mut above, 0)] {
        part.multiply_two(twos + u32::from(is_power));
    }
    // What lies between is read as the even one.
    let is_even = mantissa % 2 == 0;
    let reaches = |order: Ordering| order == Ordering::Greater || is_even && order == Ordering::Equal;
    let is_high = |rest: &Big, above: &Big, scale: &Big| {
        let mut high = rest.clone();
        high.add(above);
        reaches(high.compare(scale))
    };

    // Not more than the true one: the logarithm of the power of two below, rounded down. No such power is so close to
    // one of ten that the five digits of log10(2) tell it wrong.
    let width = 64 - mantissa.leading_zeros() as i32;
    let mut point = ((width + exponent - 1) * 30103).div_euclid(100_000);
    scale.multiply_ten(point.max(0) as u32);
    for part in [&mut rest, &mut above, &mut below] {
        part.multiply_ten((-point).max(0) as u32);
    }
    while is_high(&rest, &above, &scale) {
        scale.multiply_add(10, 0);
        point += 1;
    }
    let mut digits = Vec::with_capacity(MOST_DIGITS);
    loop {
        for part in [&mut rest, &mut above, &mut below] {
            part.multiply_add(10, 0);
        }
        let mut digit = b'0';
        while rest.compare(&scale) != Ordering::Less {
            rest.subtract(&scale);
            digit += 1;
        }
        let is_low = reaches(below.compare(&rest));
        let is_high = is_high(&rest, &above, &scale);
        if is_low || is_high {
            rest.multiply_two(1);
            let is_up = is_high && (!is_low || rest.compare(&scale) != Ordering::Less);
            digits.push(digit + u8::from(is_up));
            return (digits, point);
        }
        digits.push(digit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(double: f64) -> String {
        let mut out = Vec::new();
        double_into(double, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn check(double: f64) {
        let (digits, point) = shortest(double);
        let std = format!("{:e}", double.abs());
        let (mantissa, exponent) = std.split_once('e').unwrap();
        let wanted = (mantissa.replace('.', ""), exponent.parse::<i32>().unwrap() + 1);
        assert_eq!((String::from_utf8(digits).unwrap(), point), wanted, "{double:e}");
        assert_eq!(printed(double).parse::<f64>().unwrap().to_bits(), double.to_bits(), "{double:e}");
    }

    #[test]
    fn edges_and_powers() {
        for double in [5e-324, f64::MAX, f64::MIN_POSITIVE, 0.1 + 0.2, 1e21, 1e22, 1e23, 9007199254740993.0, 2.2e-308] {
            check(double);
        }
        for exponent in 0..2047u64 {
            for fraction in [0, 1, (1 << 52) - 1] {
                let double = f64::from_bits(exponent << 52 | fraction);
                if double != 0.0 {
                    check(double);
                }
            }
        }
        for exponent in -323..309 {
            check(format!("1e{exponent}").parse().unwrap());
        }
    }

    #[test]
    fn random_bits() {
        let count = if cfg!(debug_assertions) { 50_000 } else { 4_000_000 };
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        for i in 0..count {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            let double = f64::from_bits(seed);
            if double.is_finite() && double != 0.0 {
                check(double);
            }
            // As log-probabilities are, and as they come from single precision.
            check(-f64::from(i + 1) / 12345.6789);
            check(f64::from(-(i as f32) / 777.7 - 1e-3));
        }
    }

    #[test]
    fn written_as_python_writes() {
        for (double, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-120.0, "-120.0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00012345, "0.00012345"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(printed(double), text);
        }
    }
}
