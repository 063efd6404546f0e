//! The numbers of a tokenizer.json: ids, and those that only must be numbers.

use super::json::Reader;
use crate::Error;
use crate::json::number_end;

impl Reader<'_> {
    /// Passes over a number.
    #[inline(never)]
    pub(super) fn number(&mut self) -> Result<(), Error> {
        self.peek();
        let start = self.position();
        let mut end = start;
        while let Some(b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') = self.byte(end) {
            end += 1;
        }
        let number = self.part(start, end);
        if number_end(number, 0) != Some(number.len()) {
            return Err(self.fail("a malformed number"));
        }
        if !is_finite(number) {
            return Err(self.fail("a number out of range"));
        }
        self.go_to(end);
        Ok(())
    }

    /// Reads an unsigned 32-bit integer, the type of a token id; `None` and no move for anything else.
    #[inline(never)]
    pub(super) fn id(&mut self) -> Option<u32> {
        self.peek();
        let start = self.position();
        let mut value = 0_u64;
        let mut end = start;
        while let Some(digit @ b'0'..=b'9') = self.byte(end) {
            value = value * 10 + u64::from(digit - b'0');
            end += 1;
            if end - start > 10 {
                return None;
            }
        }
        let followed = matches!(self.byte(end), Some(b'.' | b'e' | b'E'));
        let zeros = end > start + 1 && self.byte(start) == Some(b'0');
        if end == start || followed || zeros {
            return None;
        }
        let id = u32::try_from(value).ok()?;
        self.go_to(end);
        Some(id)
    }
}

/// Whether a double can hold a number. Digits after the twentieth are not looked at, so of the numbers that just round
/// to the greatest double some are refused.
#[inline(never)]
fn is_finite(number: &[u8]) -> bool {
    let exponent_at = number.iter().position(|byte| matches!(byte, b'e' | b'E'));
    // Only such numbers can be too large.
    if exponent_at.is_none() && number.len() <= 300 {
        return true;
    }
    let (mantissa, exponent_text) = number.split_at(exponent_at.unwrap_or(number.len()));
    let mut exponent = 0_i64;
    for digit in exponent_text.iter().filter(|byte| byte.is_ascii_digit()) {
        exponent = (exponent * 10 + i64::from(digit - b'0')).min(1 << 40);
    }
    if exponent_text.get(1) == Some(&b'-') {
        exponent = -exponent;
    }
    // The number is 0.ddd... times ten to the power of `magnitude`, and the first d is not 0.
    let (mut digits, mut count, mut magnitude, mut fraction) = ([b'0'; 20], 0, exponent, false);
    for &byte in mantissa {
        match byte {
            b'-' => {}
            b'.' => fraction = true,
            b'0' if count == 0 => magnitude -= i64::from(fraction),
            _ => {
                magnitude += i64::from(!fraction);
                if let Some(digit) = digits.get_mut(count) {
                    *digit = byte;
                    count += 1;
                }
            }
        }
    }
    count == 0 || magnitude < 309 || (magnitude == 309 && digits < *b"17976931348623158079")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_range_where_a_double_is() {
        let zeros = "0".repeat(400);
        let mut numbers: Vec<String> = Vec::new();
        for mantissa in ["0", "1", "9.99", "0.001", "1.7976931348623157", "1.7976931348623159", "17976931348623158"] {
            for exponent in ["", "e307", "E+308", "e309", "e292", "e311", "e-400", "e99999999999999999999999"] {
                numbers.push(format!("-{mantissa}{exponent}"));
                numbers.push(format!("{mantissa}{exponent}"));
            }
        }
        numbers.extend([
            format!("0.{zeros}1e709"),
            format!("0.{zeros}1e710"),
            format!("1{zeros}"),
            format!("1{zeros}e-93"),
            format!("1{zeros}e-92"),
            format!("1{zeros}.5e-91"),
            format!("1{zeros}e-99999999999999999999"),
            format!("0.{zeros}"),
            "9".repeat(308),
            "9".repeat(309),
            format!("0e{zeros}9"),
        ]);
        for number in numbers {
            let expected = number.parse::<f64>().is_ok_and(f64::is_finite);
            assert_eq!(Reader::new(number.as_bytes()).number().is_ok(), expected, "{number}");
        }
    }
}
