//! One pass over JSON text into a flat list of nodes that point into it. Nothing is copied or converted, so all
//! that a parser loses (spelling of numbers, order and repetition of keys, escapes) is still there.
//!
//! The grammar is RFC 8259 with the three literals that Python's `json` writes: `NaN`, `Infinity`, `-Infinity`.
//! Bytes of 0x80 and above are taken inside strings as they are.

use super::bytes::{digits_end, numbers_run, plain_end, short_digits};
use super::string::unescape;
use crate::view::key_hash;

/// What a node is. `Numbers` is an array that holds nothing but numbers: it has no child nodes, since ids, masks
/// and log-probabilities are by far the most of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Null,
    True,
    False,
    Number,
    String,
    Key,
    Array,
    Numbers,
    Object,
}

/// A value, or the key of a member, directly before its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub tag: Tag,
    /// Which text `start` and `end` count in; [`scan`] leaves it 0.
    pub document: u32,
    pub start: u32,
    pub end: u32,
    /// Index after the last node of an array or an object; for `Numbers` the number of elements, for a key its [`key_hash`].
    pub next: u32,
}

/// Where and why text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScanError {
    pub at: usize,
    pub what: &'static str,
}

/// What [`scan`] says of too deep nesting.
pub(crate) const TOO_DEEP: &str = "nesting is too deep";

/// Scans text that from `at` on is one value and nothing else, and appends its nodes.
pub(crate) fn scan(text: &[u8], at: usize, max_depth: usize, nodes: &mut Vec<Node>) -> Result<(), ScanError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ScanError { at: 0, what: "the text has 4 GiB or more" });
    }
    let mut scanner = Scanner { text, at, nodes, open: Vec::new(), max_depth };
    scanner.run()?;
    scanner.skip_space();
    if scanner.at < text.len() { scanner.error("something follows the value") } else { Ok(()) }
}

/// Skips the white space of JSON.
#[inline(always)]
pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The end of the number (or `NaN`, `Infinity`, `-Infinity`) that starts at `at`.
pub(crate) fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let digits = |start: usize| Some(digits_end(text, start)).filter(|&end| end > start);
    let start = at + usize::from(text.get(at) == Some(&b'-'));
    let mut end = match text.get(start)? {
        b'0' => start + 1,
        b'1'..=b'9' => digits(start)?,
        b'N' if start == at => return text[at..].starts_with(b"NaN").then_some(at + 3),
        b'I' => return text[start..].starts_with(b"Infinity").then_some(start + 8),
        _ => return None,
    };
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Some(end)
}

/// The end of the value at `at`, in text that was scanned before.
pub(crate) fn value_end(text: &[u8], at: usize) -> usize {
    let (mut end, mut depth) = (at, 0usize);
    while let Some(&byte) = text.get(end) {
        match byte {
            b'"' => {
                end = plain_end(text, end + 1);
                while text.get(end).is_some_and(|&byte| byte != b'"') {
                    end = plain_end(text, end + 1 + usize::from(text[end] == b'\\'));
                }
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 0 => return end,
            b']' | b'}' => depth -= 1,
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return end,
            _ => {}
        }
        end += 1;
        if depth == 0 && matches!(byte, b'"' | b']' | b'}') {
            return end.min(text.len());
        }
    }
    end.min(text.len())
}

/// The items of a list, given its text, which was scanned before.
pub(crate) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = skip_space(list, 1);
    std::iter::from_fn(move || {
        if matches!(list.get(at), None | Some(b']')) {
            return None;
        }
        let end = value_end(list, at);
        let item = &list[at..end];
        at = skip_space(list, end);
        if list.get(at) == Some(&b',') {
            at = skip_space(list, at + 1);
        }
        Some(item)
    })
}

struct Scanner<'t, 'n> {
    text: &'t [u8],
    at: usize,
    nodes: &'n mut Vec<Node>,
    /// Indices of the arrays and objects that are still open.
    open: Vec<u32>,
    max_depth: usize,
}

impl Scanner<'_, '_> {
    fn run(&mut self) -> Result<(), ScanError> {
        self.skip_space();
        self.value()?;
        while let Some(&container) = self.open.last() {
            let is_object = self.nodes[container as usize].tag == Tag::Object;
            self.skip_space();
            match (self.peek(), is_object) {
                (Some(b','), _) => {
                    self.at += 1;
                    self.skip_space();
                    if is_object {
                        self.key()?;
                    }
                    self.value()?;
                }
                (Some(b']'), false) | (Some(b'}'), true) => self.close(),
                (_, false) => return self.error("expected ',' or ']'"),
                (_, true) => return self.error("expected ',' or '}'"),
            }
        }
        Ok(())
    }

    /// Takes a scalar or a whole array of numbers, or opens a container and takes what comes first in it.
    fn value(&mut self) -> Result<(), ScanError> {
        loop {
            let start = self.at;
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    self.push(Tag::String, start);
                }
                Some(b'-' | b'0'..=b'9' | b'N' | b'I') => match number_end(self.text, start) {
                    Some(end) => {
                        self.at = end;
                        self.push(Tag::Number, start);
                    }
                    None => return self.error("not a number"),
                },
                Some(b't') => self.literal(b"true", Tag::True)?,
                Some(b'f') => self.literal(b"false", Tag::False)?,
                Some(b'n') => self.literal(b"null", Tag::Null)?,
                Some(b'[') if self.numbers() => {}
                Some(byte @ (b'[' | b'{')) => {
                    if self.open.len() >= self.max_depth {
                        return self.error(TOO_DEEP);
                    }
                    self.open.push(self.nodes.len() as u32);
                    self.at += 1;
                    self.push(if byte == b'[' { Tag::Array } else { Tag::Object }, start);
                    self.skip_space();
                    if byte == b'{' {
                        if self.peek() == Some(b'}') {
                            self.close();
                            return Ok(());
                        }
                        self.key()?;
                    }
                    continue;
                }
                Some(_) => return self.error("expected a value"),
                None => return self.error("the text ends where a value is expected"),
            }
            return Ok(());
        }
    }

    /// Takes an array that holds nothing but numbers; leaves everything as it was if it is another.
    fn numbers(&mut self) -> bool {
        let text = self.text;
        let start = self.at;
        if self.open.len() >= self.max_depth {
            return false;
        }
        let mut count = 0u32;
        let mut at = skip_space(text, start + 1);
        if text.get(at) != Some(&b']') {
            loop {
                let (behind, numbers) = numbers_run(text, at);
                count += numbers;
                at = skip_space(text, behind);
                // The common case first: an integer of a few digits.
                at = match short_digits(text, at) {
                    Some((len, _)) if !matches!(text.get(at + len), Some(b'.' | b'e' | b'E')) => {
                        if len > 1 && text[at] == b'0' {
                            return false;
                        }
                        at + len
                    }
                    _ => match number_end(text, at) {
                        Some(end) => end,
                        None => return false,
                    },
                };
                at = skip_space(text, at);
                count += 1;
                match text.get(at) {
                    Some(b',') => at = skip_space(text, at + 1),
                    Some(b']') => break,
                    _ => return false,
                }
            }
        }
        self.at = at + 1;
        self.push_with(Tag::Numbers, start, count);
        true
    }

    fn key(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.error("expected a key in quotes");
        }
        let has_escapes = self.string()?;
        let key = &self.text[start + 1..self.at - 1];
        let hash = if has_escapes { key_hash(&unescape(key)) } else { key_hash(key) };
        self.push_with(Tag::Key, start, hash);
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.error("expected ':' after the key");
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    /// Takes a string; whether it has escapes.
    fn string(&mut self) -> Result<bool, ScanError> {
        let start = self.at + 1;
        let mut at = plain_end(self.text, start);
        let plain = at;
        loop {
            match self.text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => match self.text.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u')
                        if self.text.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) =>
                    {
                        at += 6
                    }
                    _ => return Err(ScanError { at, what: "not an escape" }),
                },
                Some(_) => return Err(ScanError { at, what: "a control character inside a string" }),
                None => return Err(ScanError { at, what: "the text ends inside a string" }),
            }
            at = plain_end(self.text, at);
        }
        self.at = at + 1;
        Ok(at > plain)
    }

    fn literal(&mut self, word: &[u8], tag: Tag) -> Result<(), ScanError> {
        let start = self.at;
        if !self.text[start..].starts_with(word) {
            return self.error("expected a value");
        }
        self.at += word.len();
        self.push(tag, start);
        Ok(())
    }

    fn push(&mut self, tag: Tag, start: usize) {
        self.push_with(tag, start, 0);
    }

    #[inline(always)]
    fn push_with(&mut self, tag: Tag, start: usize, next: u32) {
        self.nodes.push(Node { tag, document: 0, start: start as u32, end: self.at as u32, next });
    }

    fn close(&mut self) {
        self.at += 1;
        let next = self.nodes.len() as u32;
        if let Some(node) = self.open.pop().and_then(|index| self.nodes.get_mut(index as usize)) {
            node.end = self.at as u32;
            node.next = next;
        }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline(always)]
    fn skip_space(&mut self) {
        self.at = skip_space(self.text, self.at);
    }

    fn error<T>(&self, what: &'static str) -> Result<T, ScanError> {
        Err(ScanError { at: self.at, what })
    }
}
