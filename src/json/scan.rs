//! One pass over JSON text into a flat list of nodes that point into it. Nothing is copied or converted, so all
//! that a parser loses (spelling of numbers, order and repetition of keys, escapes) is still there.
//!
//! The grammar is RFC 8259 with the three literals that Python's `json` writes: `NaN`, `Infinity`, `-Infinity`.
//! Bytes of 0x80 and above are taken inside strings as they are.

use super::bytes::{escapes_run, numbers_run, plain_end_here, short_digits, short_plain_end};
use super::string::unescape;
use super::values::{number_end, skip_space, typed_numbers};
use crate::view::{key_hash, key_hash_in};

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
    /// A list of OTLP/JSON's numbers, which are objects with one member each: it has no child nodes either. Where they are
    /// wanted they are made elsewhere.
    Typed,
    Object,
}

/// A value, or the key of a member, directly before its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub tag: Tag,
    /// Which text `start` and `end` count in, in three bytes; [`scan`] leaves it 0.
    document: [u8; 3],
    pub start: u32,
    pub end: u32,
    /// Index after the last node of an array or an object; for `Numbers` and `Typed` the number of elements, for a key its [`key_hash`].
    pub next: u32,
}

impl Node {
    #[inline(always)]
    pub(crate) const fn new(tag: Tag, start: usize, end: usize, next: u32) -> Node {
        Node { tag, document: [0; 3], start: start as u32, end: end as u32, next }
    }

    #[inline(always)]
    pub(crate) fn document(&self) -> usize {
        let [low, middle, high] = self.document;
        u32::from_le_bytes([low, middle, high, 0]) as usize
    }

    /// The same node in a document of fewer than 2^24.
    pub(crate) fn in_document(mut self, document: usize) -> Node {
        let [low, middle, high, _] = (document as u32).to_le_bytes();
        self.document = [low, middle, high];
        self
    }
}

/// Documents are fewer.
pub(crate) const MOST_DOCUMENTS: usize = 1 << 24;

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
    scan_from(text, at, max_depth, nodes, usize::MAX)
}

/// As [`scan`]; an array that starts at `whole` gets all its nodes.
pub(crate) fn scan_from(
    text: &[u8],
    at: usize,
    max_depth: usize,
    nodes: &mut Vec<Node>,
    whole: usize,
) -> Result<(), ScanError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ScanError { at: 0, what: "the text has 4 GiB or more" });
    }
    let first = nodes.len();
    let mut scanner = Scanner { text, at, first, count: first, nodes, open: Vec::new(), max_depth, whole, what: "" };
    if scanner.run().is_none() {
        return Err(ScanError { at: scanner.at, what: scanner.what });
    }
    scanner.nodes.truncate(scanner.count);
    let at = skip_space(text, scanner.at);
    if at < text.len() { Err(ScanError { at, what: "something follows the value" }) } else { Ok(()) }
}

struct Scanner<'t, 'n> {
    text: &'t [u8],
    at: usize,
    /// The nodes, so many of them, and room for more behind them. Those before `first` are of other texts.
    nodes: &'n mut Vec<Node>,
    first: usize,
    count: usize,
    /// Indices of the arrays and objects that are still open.
    open: Vec<u32>,
    max_depth: usize,
    whole: usize,
    /// What is wrong at `at`, once a step gave nothing. Not in an error that each step passes on, which is larger than a word.
    what: &'static str,
}

impl Scanner<'_, '_> {
    fn run(&mut self) -> Option<()> {
        self.skip_space();
        loop {
            self.value()?;
            // What the value ends, and the next that begins.
            loop {
                let Some(&container) = self.open.last() else { return Some(()) };
                let is_object = self.nodes.get(container as usize).is_some_and(|node| node.tag == Tag::Object);
                self.skip_space();
                match (self.peek(), is_object) {
                    (Some(b','), _) => {
                        self.at += 1;
                        self.skip_space();
                        if is_object {
                            self.key()?;
                        }
                        break;
                    }
                    (Some(b']'), false) | (Some(b'}'), true) => self.close(),
                    (_, false) => return self.error("expected ',' or ']'"),
                    (_, true) => return self.error("expected ',' or '}'"),
                }
            }
        }
    }

    /// Takes a scalar or a whole array of numbers, or opens a container and takes what comes first in it.
    #[inline(always)]
    fn value(&mut self) -> Option<()> {
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
                Some(b'[') if self.numbers() || self.typed_numbers() => {}
                Some(byte @ (b'[' | b'{')) => {
                    if self.open.len() >= self.max_depth {
                        return self.error(TOO_DEEP);
                    }
                    self.open.push(self.count as u32);
                    self.at += 1;
                    self.push(if byte == b'[' { Tag::Array } else { Tag::Object }, start);
                    self.skip_space();
                    if byte == b'{' {
                        if self.peek() == Some(b'}') {
                            self.close();
                            return Some(());
                        }
                        self.key()?;
                    }
                    continue;
                }
                Some(_) => return self.error("expected a value"),
                None => return self.error("the text ends where a value is expected"),
            }
            return Some(());
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
        let first = text.get(at);
        if first != Some(&b']') {
            if matches!(first, Some(b'{' | b'"' | b'[')) {
                return false;
            }
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

    /// Takes an array of OTLP/JSON's numbers in an `arrayValue`; leaves everything as it was if it is another.
    fn typed_numbers(&mut self) -> bool {
        let start = self.at;
        let Some([outer, object, key]) = self.nodes.get(..self.count).and_then(|nodes| nodes.last_chunk()) else {
            return false;
        };
        let is_array = outer.next == key_hash(b"arrayValue") || outer.next == key_hash(b"array_value");
        let is_values = key.next == key_hash(b"values");
        if !(is_array && is_values)
            || (outer.tag, object.tag, key.tag) != (Tag::Key, Tag::Object, Tag::Key)
            || start == self.whole
            || self.open.len() + 1 >= self.max_depth
        {
            return false;
        }
        let mut count = 0;
        match typed_numbers(self.text, start, &mut |_| count += 1) {
            Some(end) => {
                self.at = end;
                self.push_with(Tag::Typed, start, count);
                true
            }
            None => false,
        }
    }

    fn key(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.error("expected a key in quotes");
        }
        let has_escapes = self.string()?;
        let (first, end) = (start + 1, self.at - 1);
        let hash =
            if has_escapes { key_hash(&unescape(&self.text[first..end])) } else { key_hash_in(self.text, first, end) };
        self.push_with(Tag::Key, start, hash);
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.error("expected ':' after the key");
        }
        self.at += 1;
        self.skip_space();
        Some(())
    }

    /// Takes a string; whether it has escapes.
    #[inline(always)]
    fn string(&mut self) -> Option<bool> {
        let at = short_plain_end(self.text, self.at + 1);
        if self.text.get(at) == Some(&b'"') {
            self.at = at + 1;
            return Some(false);
        }
        self.long_string(at)
    }

    /// Takes a string of which what stands before `at` is plain.
    fn long_string(&mut self, mut at: usize) -> Option<bool> {
        let mut has_escapes = false;
        loop {
            at = plain_end_here(self.text, at);
            match self.text.get(at) {
                Some(b'"') => break,
                Some(b'\\') => match self.text.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => at += 2,
                    Some(b'u')
                        if self.text.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) =>
                    {
                        at += 6
                    }
                    _ => return self.error_at(at, "not an escape"),
                },
                Some(_) => return self.error_at(at, "a control character inside a string"),
                None => return self.error_at(at, "the text ends inside a string"),
            }
            has_escapes = true;
            at = escapes_run(self.text, at);
        }
        self.at = at + 1;
        Some(has_escapes)
    }

    fn literal(&mut self, word: &[u8], tag: Tag) -> Option<()> {
        let start = self.at;
        if !self.text[start..].starts_with(word) {
            return self.error("expected a value");
        }
        self.at += word.len();
        self.push(tag, start);
        Some(())
    }

    fn push(&mut self, tag: Tag, start: usize) {
        self.push_with(tag, start, 0);
    }

    #[inline(always)]
    fn push_with(&mut self, tag: Tag, start: usize, next: u32) {
        let node = Node::new(tag, start, self.at, next);
        match self.nodes.get_mut(self.count) {
            Some(place) => *place = node,
            None => self.grow(node),
        }
        self.count += 1;
    }

    /// Makes room for more nodes, first for as many as most texts of this length have.
    fn grow(&mut self, node: Node) {
        let more = ((self.count - self.first) / 2).max((self.text.len() / 24).min(4096)) + 8;
        if self.nodes.capacity() < self.count + more {
            self.nodes.reserve_exact(more.max(self.count / 2));
        }
        self.nodes.resize(self.count + more, node);
    }

    fn close(&mut self) {
        self.at += 1;
        let next = self.count as u32;
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

    fn error<T>(&mut self, what: &'static str) -> Option<T> {
        self.what = what;
        None
    }

    fn error_at<T>(&mut self, at: usize, what: &'static str) -> Option<T> {
        self.at = at;
        self.error(what)
    }
}
