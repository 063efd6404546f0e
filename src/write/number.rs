//! Whole numbers out of their digits. The standard library's parsers are a function for each type.

/// The number that a sign and digits are, if an `i64` holds it.
pub(super) fn integer(text: &[u8]) -> Option<i64> {
    match text.strip_prefix(b"-") {
        Some(digits) => 0i64.checked_sub_unsigned(unsigned(digits)?),
        None => i64::try_from(unsigned(text)?).ok(),
    }
}

/// The number that digits are, if a `u64` holds it.
pub(super) fn unsigned(digits: &[u8]) -> Option<u64> {
    let mut number = 0u64;
    for &digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(value))?;
    }
    (!digits.is_empty()).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{integer, unsigned};

    #[test]
    fn agrees_with_the_standard_library() {
        for text in [
            "0",
            "-0",
            "7",
            "-7",
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775808",
            "-9223372036854775809",
            "18446744073709551615",
            "18446744073709551616",
            "-18446744073709551616",
            "",
            "-",
            "--1",
            "1.0",
            "1e3",
            " 1",
            "a",
        ] {
            assert_eq!(integer(text.as_bytes()), text.parse().ok(), "{text}");
            assert_eq!(unsigned(text.as_bytes()), text.parse().ok(), "{text}");
        }
    }
}
