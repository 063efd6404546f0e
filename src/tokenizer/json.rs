//! A strict reader over the bytes of a JSON text: it goes forward once, keeps no tree and takes no memory per value.
//!
//! The reference refuses control characters and lone surrogate escapes in strings, numbers beyond a double, and
//! anything after the top value; so does this reader, also in values it only passes over.

use std::borrow::Cow;

use super::invalid;
use crate::Error;
use crate::json::joined;

/// Arrays and objects may nest this deep. No tokenizer comes near it, and nothing here recurses, so the number only
/// bounds the memory of the stack of open containers.
const MAX_DEPTH: usize = 1024;

/// A position in a JSON text.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// An error that names the reader's position.
    #[cold]
    #[inline(never)]
    fn fail(&self, what: &str) -> Error {
        let (at, count) = (self.at.to_string(), self.bytes.len().to_string());
        invalid(&[
            "not well-formed JSON at byte ",
            &at,
            " of ",
            &count,
            ": ",
            what,
            "; the file is cut short or damaged, fetch it again",
        ])
    }

    #[cold]
    #[inline(never)]
    fn fail_expected(&self, byte: u8) -> Error {
        self.fail(&joined(&["expected '", char::from(byte).encode_utf8(&mut [0; 4]), "'"]))
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is not white space, without taking it.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        // Mostly nothing stands in between.
        match self.bytes.get(self.at) {
            Some(&byte) if byte > b' ' => Some(byte),
            _ => self.peek_behind_space(),
        }
    }

    #[inline(never)]
    fn peek_behind_space(&mut self) -> Option<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\n' | b'\t' | b'\r') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    /// Takes `byte` if it comes next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// Takes `byte`, or fails.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.take(byte) { Ok(()) } else { Err(self.fail_expected(byte)) }
    }

    /// Fails unless only white space is left.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if self.peek().is_none() { Ok(()) } else { Err(self.fail("something follows the end of the value")) }
    }

    /// Moves to the next element of an array or object whose opening bracket was taken; false at its end, which is
    /// taken. `first` starts true.
    #[inline(never)]
    pub(super) fn element(&mut self, first: &mut bool, close: u8) -> Result<bool, Error> {
        let was_first = std::mem::replace(first, false);
        if self.take(close) {
            return Ok(false);
        }
        if !was_first {
            self.expect(b',')?;
        }
        Ok(true)
    }

    /// Moves past the next key of an object; `None` at its end.
    #[inline(never)]
    pub(super) fn key(&mut self, first: &mut bool) -> Result<Option<Cow<'a, str>>, Error> {
        if !self.element(first, b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    /// Reads a string.
    #[inline(never)]
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.expect(b'"')?;
        let start = self.at;
        let (run, _) = plain_run(self.rest());
        if self.rest().get(run) == Some(&b'"') {
            self.at += run + 1;
            return self.text(start, start + run).map(Cow::Borrowed);
        }
        let mut string = String::new();
        self.string_body(Some(&mut string))?;
        Ok(Cow::Owned(string))
    }

    /// Reads a string to the end of `out`.
    pub(super) fn string_into(&mut self, out: &mut String) -> Result<(), Error> {
        self.expect(b'"')?;
        self.string_body(Some(out))
    }

    /// The rest of a string whose opening quote was taken, to the end of `out` if it is wanted.
    #[inline(never)]
    fn string_body(&mut self, mut out: Option<&mut String>) -> Result<(), Error> {
        loop {
            let rest = self.rest();
            let (run, is_ascii) = plain_run(rest);
            let (plain, after) = rest.split_at(run.min(rest.len()));
            // Only what is in strings can be other than ASCII, and most strings are ASCII.
            if out.is_some() || !is_ascii {
                let Ok(plain) = std::str::from_utf8(plain) else { return Err(self.not_utf8()) };
                if let Some(out) = &mut out {
                    out.push_str(plain);
                }
            }
            self.at += run;
            match after.first() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let character = self.escape()?;
                    if let Some(out) = &mut out {
                        out.push(character);
                    }
                }
                Some(_) => return Err(self.fail("a control character in a string")),
                None => return Err(self.fail("the text ends inside a string")),
            }
        }
    }

    #[cold]
    fn not_utf8(&self) -> Error {
        self.fail("a string that is not UTF-8")
    }

    /// Reads one escape, from its backslash.
    #[inline(never)]
    fn escape(&mut self) -> Result<char, Error> {
        let value = match self.bytes.get(self.at + 1) {
            Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.fail("an unknown escape in a string")),
        };
        self.at += 2;
        Ok(value)
    }

    fn unicode_escape(&mut self) -> Result<char, Error> {
        let mut code = self.hex_unit()?;
        if let 0xD800..=0xDBFF = code {
            let low = self.hex_unit()?;
            // Without a low half the code stays a surrogate, which is no character.
            if let 0xDC00..=0xDFFF = low {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            }
        }
        char::from_u32(code).ok_or_else(|| self.fail("a lone surrogate escape in a string"))
    }

    /// Reads `\uHHHH`.
    #[inline(never)]
    fn hex_unit(&mut self) -> Result<u32, Error> {
        let Some([b'\\', b'u', digits @ ..]) = self.rest().get(..6) else {
            return Err(self.fail("a lone surrogate or a cut escape in a string"));
        };
        let mut unit = 0;
        for &digit in digits {
            let Some(digit) = char::from(digit).to_digit(16) else {
                return Err(self.fail("an escape without four hex digits"));
            };
            unit = unit * 16 + digit;
        }
        self.at += 6;
        Ok(unit)
    }

    /// Where the digits that start at `at` end.
    #[inline(never)]
    fn digits(&self, mut at: usize) -> usize {
        while let Some(b'0'..=b'9') = self.bytes.get(at) {
            at += 1;
        }
        at
    }

    /// Passes over a number.
    #[inline(never)]
    pub(super) fn number(&mut self) -> Result<(), Error> {
        self.peek();
        let start = self.at + usize::from(self.bytes.get(self.at) == Some(&b'-'));
        let mut end = self.digits(start);
        let mut well_formed = end == start + 1 || (end > start && self.bytes.get(start) != Some(&b'0'));
        if self.bytes.get(end) == Some(&b'.') {
            let fraction = end + 1;
            end = self.digits(fraction);
            well_formed &= end > fraction;
        }
        let mantissa = self.bytes.get(start..end).unwrap_or_default();
        let mut large = mantissa.len() > 300;
        let mut exponent = 0_i64;
        if let Some(b'e' | b'E') = self.bytes.get(end) {
            large = true;
            let sign = self.bytes.get(end + 1);
            let digits = end + 1 + usize::from(matches!(sign, Some(b'+' | b'-')));
            end = self.digits(digits);
            well_formed &= end > digits;
            for digit in self.bytes.get(digits..end).unwrap_or_default() {
                exponent = (exponent * 10 + i64::from(digit - b'0')).min(1 << 40);
            }
            if sign == Some(&b'-') {
                exponent = -exponent;
            }
        }
        if !well_formed {
            return Err(self.fail("a malformed number"));
        }
        // Only such numbers can be too large for a double.
        if large && !is_finite(mantissa, exponent) {
            return Err(self.fail("a number out of range"));
        }
        self.at = end;
        Ok(())
    }

    /// Reads an unsigned 32-bit integer, the type of a token id; `None` and no move for anything else.
    #[inline(never)]
    pub(super) fn id(&mut self) -> Option<u32> {
        self.peek();
        let start = self.at;
        let mut value = 0_u64;
        let mut end = start;
        while let Some(&digit @ b'0'..=b'9') = self.bytes.get(end) {
            value = value * 10 + u64::from(digit - b'0');
            end += 1;
            if end - start > 10 {
                return None;
            }
        }
        let followed = matches!(self.bytes.get(end), Some(b'.' | b'e' | b'E'));
        let zeros = end > start + 1 && self.bytes.get(start) == Some(&b'0');
        if end == start || followed || zeros {
            return None;
        }
        let id = u32::try_from(value).ok()?;
        self.at = end;
        Some(id)
    }

    fn literal(&mut self, word: &str) -> Result<(), Error> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.fail("expected a value"));
        }
        self.at += word.len();
        Ok(())
    }

    /// The text between two positions.
    fn text(&self, start: usize, end: usize) -> Result<&'a str, Error> {
        let bytes = self.bytes.get(start..end).unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| self.not_utf8())
    }

    /// Passes over one value of any kind, checking it, and gives its text.
    #[inline(never)]
    pub(super) fn value(&mut self) -> Result<&'a str, Error> {
        self.peek();
        let start = self.at;
        self.skip()?;
        self.text(start, self.at)
    }

    /// Passes over one value of any kind, checking it.
    #[inline(never)]
    pub(super) fn skip(&mut self) -> Result<(), Error> {
        // The closing brackets of the containers that are open.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let close = match self.peek() {
                Some(b'{') => b'}',
                Some(b'[') => b']',
                _ => 0,
            };
            if close == 0 {
                self.scalar()?;
            } else {
                self.at += 1;
                if !self.take(close) {
                    open.push(close);
                    if open.len() > MAX_DEPTH {
                        return Err(self.fail("nested deeper than 1024"));
                    }
                    self.skip_key(close)?;
                    continue;
                }
            }
            loop {
                let Some(&close) = open.last() else { return Ok(()) };
                if self.take(b',') {
                    self.skip_key(close)?;
                    break;
                }
                self.expect(close)?;
                open.pop();
            }
        }
    }

    /// In an object, passes over the key of a member.
    fn skip_key(&mut self, close: u8) -> Result<(), Error> {
        if close == b'}' {
            self.expect(b'"')?;
            self.string_body(None)?;
            self.expect(b':')?;
        }
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), Error> {
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                self.string_body(None)
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            Some(_) => Err(self.fail("expected a value")),
            None => Err(self.fail("the text ends where a value should be")),
        }
    }
}

/// Whether a double can hold digits, with a point in them or not, times a power of ten. Digits after the twentieth
/// are not looked at, so of the numbers that just round to the greatest double some are refused.
#[inline(never)]
fn is_finite(mantissa: &[u8], exponent: i64) -> bool {
    // The number is 0.ddd... times ten to the power of `magnitude`, and the first d is not 0.
    let (mut digits, mut count, mut magnitude, mut fraction) = ([b'0'; 20], 0, exponent, false);
    for &byte in mantissa {
        match byte {
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

/// How many bytes come before the first quote, backslash or control character, and whether they are surely ASCII.
/// Eight bytes at a time.
fn plain_run(bytes: &[u8]) -> (usize, bool) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, tail) = bytes.as_chunks::<8>();
    let mut seen = 0;
    for (index, &word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(word);
        seen |= word;
        // Each term is exact for the lowest byte it marks, and only the lowest one is used.
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let marks = control | zero(word ^ (ONES * u64::from(b'"'))) | zero(word ^ (ONES * u64::from(b'\\')));
        if marks != 0 {
            return (index * 8 + (marks.trailing_zeros() / 8) as usize, seen & HIGHS == 0);
        }
    }
    let stop = |&byte: &u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let run = bytes.len() - tail.len() + tail.iter().position(stop).unwrap_or(tail.len());
    (run, seen & HIGHS == 0 && tail.is_ascii())
}

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_runs_stop_where_a_byte_loop_stops() {
        for stop in [b'"', b'\\', 0, 0x1f, 0x0a] {
            for at in 0..20 {
                let mut bytes: Vec<u8> =
                    (0..20).map(|n| [b'a', 0x80, 0xff, 0x7f, b' ', b'!', b'#', b'['][n % 8]).collect();
                bytes[at] = stop;
                assert_eq!(plain_run(&bytes).0, at, "{stop:#x}");
            }
        }
        assert_eq!(plain_run("no stop at all, é".as_bytes()), (18, false));
        assert_eq!(plain_run(b"only ASCII, no stop"), (19, true));
        assert_eq!(plain_run("é, then a \"".as_bytes()), (11, false));
    }

    #[test]
    fn values_are_taken_or_refused_as_by_serde_json() {
        let cases = [
            "1",
            "-0",
            "01",
            "1.",
            "1.5e3",
            "1e",
            "1e999",
            "-",
            "null",
            "nul",
            "truex",
            "\"a\"",
            "\"\\ud800\"",
            "\"\\ud83d\\ude00\"",
            "\"\\ud83dx\"",
            "\"\\udc00\"",
            "\"\\x\"",
            "\"\u{1}\"",
            "[]",
            "[1,]",
            "[,1]",
            "{}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{\"a\"}",
            "{1:1}",
            "[1 2]",
            "[1",
            "{\"a\":[{}]}",
            "\u{feff}1",
            " \n\t\r1 ",
            "1 1",
            "",
            "[[]",
            "[]]",
            "\"\\u12\"",
            "\"\\u00e9\\/\\b\"",
            "\"\\ud800\\u0041\"",
            "+1",
            ".5",
            "NaN",
        ];
        for text in cases {
            let mut reader = Reader::new(text.as_bytes());
            let ours = reader.value().and_then(|_| reader.end()).is_ok();
            // The reference takes strings as text, so lone surrogates count.
            assert_eq!(ours, serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }

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

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Reader::new(nested(MAX_DEPTH).as_bytes()).value().is_ok());
        assert!(Reader::new(nested(MAX_DEPTH + 2).as_bytes()).value().is_err());
        assert!(Reader::new("[".repeat(1 << 20).as_bytes()).value().is_err());
    }
}
