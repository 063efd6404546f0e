//! A strict reader over the bytes of a JSON text: it goes forward once, keeps no tree and takes no memory per value.
//!
//! The reference refuses control characters and lone surrogate escapes in strings, numbers beyond a double, and
//! anything after the top value; so does this reader, also in values it only passes over.
//!
//! The text may be a piece of a longer one. Whatever is met at its end then says nothing yet: see [`Reader::starved`].

use std::borrow::Cow;

use super::invalid;
use super::skip::Skip;
use super::utf8::is_text;
use crate::Error;
use crate::json::{joined, plain_end, short_plain_end, space_end, unescape};

/// What the letters behind a backslash stand for.
const ESCAPES: [(u8, u8); 8] =
    [(b'"', b'"'), (b'\\', b'\\'), (b'/', b'/'), (b'n', b'\n'), (b't', b'\t'), (b'r', b'\r'), (b'b', 8), (b'f', 12)];

/// A position in a JSON text that is UTF-8.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How much of the text came before these bytes.
    base: usize,
    /// Whether more of the text will come.
    is_cut: bool,
    is_starved: bool,
    /// Up to where everything was dealt with.
    done: usize,
}

impl<'a> Reader<'a> {
    /// A reader of a whole text.
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, base: 0, is_cut: false, is_starved: false, done: 0 }
    }

    /// A reader of a piece of a text, with `base` bytes before it, and more behind it if it `is_cut`.
    pub(super) fn piece(bytes: &'a [u8], base: usize, is_cut: bool) -> Reader<'a> {
        Reader { base, is_cut, ..Reader::new(bytes) }
    }

    /// Whether something was looked for behind the end of a piece: then what was read since [`Reader::commit`], be it
    /// a value or an error, may be another once more of the text is there.
    #[inline(always)]
    pub(super) fn starved(&self) -> bool {
        self.is_starved
    }

    /// Settles what was read up to here.
    #[inline(always)]
    pub(super) fn commit(&mut self) {
        self.done = self.at;
    }

    /// Where the reader stands in the piece.
    #[inline(always)]
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// What stands between two positions; nothing if that is more than there is.
    #[inline(always)]
    pub(super) fn part(&self, start: usize, end: usize) -> &'a [u8] {
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// What stands from a place on.
    #[inline(always)]
    pub(super) fn from(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..).unwrap_or_default()
    }

    /// Moves the reader.
    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// How much of the piece is settled.
    pub(super) fn done(&self) -> usize {
        self.done
    }

    /// An error that names the reader's position.
    #[cold]
    #[inline(never)]
    pub(super) fn fail(&self, what: &str) -> Error {
        let at = (self.base + self.at).to_string();
        let advice = "; the file is cut short or damaged, fetch it again";
        invalid(&["not well-formed JSON at byte ", &at, ": ", what, advice])
    }

    /// The error about the first byte that is not UTF-8, before which the piece ends.
    #[cold]
    pub(super) fn not_utf8(&mut self) -> Error {
        self.at = self.bytes.len();
        self.fail("text that is not UTF-8")
    }

    #[cold]
    #[inline(never)]
    fn fail_expected(&self, byte: u8) -> Error {
        self.fail(&joined(&["expected '", char::from(byte).encode_utf8(&mut [0; 4]), "'"]))
    }

    /// The byte at a place.
    #[inline(always)]
    pub(super) fn byte(&mut self, at: usize) -> Option<u8> {
        let byte = self.bytes.get(at).copied();
        if byte.is_none() {
            self.is_starved = self.is_cut;
        }
        byte
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
        self.at = space_end(self.bytes, self.at);
        self.byte(self.at)
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
        let (start, end) = (self.at, plain_end(self.bytes, self.at));
        if self.byte(end) == Some(b'"') {
            self.at = end + 1;
            return Ok(Cow::Borrowed(self.text(start, end)));
        }
        let mut content = Vec::new();
        self.string_body(Some(&mut content))?;
        Ok(Cow::Owned(String::from_utf8(content).unwrap_or_default()))
    }

    /// The content of a string, to the end of `out`.
    pub(super) fn string_into(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.expect(b'"')?;
        self.string_body(Some(out))
    }

    /// The rest of a string whose opening quote was taken, to the end of `out` if it is wanted.
    #[inline(never)]
    pub(super) fn string_body(&mut self, mut out: Option<&mut Vec<u8>>) -> Result<(), Error> {
        loop {
            let end = plain_end(self.bytes, self.at);
            if let Some(out) = &mut out {
                out.extend_from_slice(self.bytes.get(self.at..end).unwrap_or_default());
            }
            self.at = end;
            match self.byte(end) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let letter = self.byte(end + 1);
                    if let Some((_, content)) = ESCAPES.iter().find(|(known, _)| letter == Some(*known)) {
                        if let Some(out) = &mut out {
                            out.push(*content);
                        }
                        self.at += 2;
                        continue;
                    }
                    let content = self.escape()?;
                    if let Some(out) = &mut out {
                        out.extend_from_slice(&content);
                    }
                }
                Some(_) => return Err(self.fail("a control character in a string")),
                None => return Err(self.fail("the text ends inside a string")),
            }
        }
    }

    /// Reads the escape of a number, from its backslash, or the two of a pair of surrogates.
    #[inline(never)]
    fn escape(&mut self) -> Result<Cow<'a, [u8]>, Error> {
        let start = self.at;
        if self.byte(start + 1) != Some(b'u') {
            return Err(self.fail("an unknown escape in a string"));
        }
        let mut len = 2;
        while len < 6 {
            if !self.byte(start + len).is_some_and(|digit| digit.is_ascii_hexdigit()) {
                return Err(self.fail("an escape without four hex digits"));
            }
            len += 1;
        }
        let mut content = unescape(self.part(start, start + len));
        // Half of a pair is no text.
        if !is_text(&content) {
            len = 12;
            content = unescape(self.part(start, start + len));
            if self.byte(start + len - 1).is_none() || !is_text(&content) {
                return Err(self.fail("a lone surrogate escape in a string"));
            }
        }
        self.at = start + len;
        Ok(content)
    }

    fn literal(&mut self, word: &str) -> Result<(), Error> {
        for &letter in word.as_bytes() {
            if self.byte(self.at) != Some(letter) {
                return Err(self.fail("expected a value"));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// The text between two positions.
    fn text(&self, start: usize, end: usize) -> &'a str {
        std::str::from_utf8(self.bytes.get(start..end).unwrap_or_default()).unwrap_or_default()
    }

    /// Passes over one value of any kind, checking it, and gives its text.
    #[inline(never)]
    pub(super) fn value(&mut self) -> Result<&'a str, Error> {
        self.peek();
        let start = self.at;
        let mut skip = Skip::default();
        while !self.skip_some(&mut skip)? {
            if self.is_starved {
                return Err(self.fail("the text ends inside a value"));
            }
        }
        Ok(self.text(start, self.at))
    }

    /// Passes over the rest of a string whose quote stands at a place, without an escape; false and no move otherwise.
    #[inline(always)]
    pub(super) fn plain_string_at(&mut self, quote: usize) -> bool {
        let mut end = short_plain_end(self.bytes, quote + 1);
        if self.bytes.get(end) != Some(&b'"') {
            end = plain_end(self.bytes, end);
        }
        let is_plain = self.bytes.get(end) == Some(&b'"');
        if is_plain {
            self.at = end + 1;
        }
        is_plain
    }

    /// Passes over a scalar, or over the bracket that opens something else.
    pub(super) fn scalar_or_open(&mut self) -> Result<(), Error> {
        if self.take(b'{') || self.take(b'[') { Ok(()) } else { self.scalar() }
    }

    /// Passes over a value that is no array or object.
    pub(super) fn scalar(&mut self) -> Result<(), Error> {
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

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests {
    use super::*;

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
            let ours = reader.value().is_ok() && reader.peek().is_none();
            // The reference takes strings as text, so lone surrogates count.
            assert_eq!(ours, serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}");
        }
    }
}
