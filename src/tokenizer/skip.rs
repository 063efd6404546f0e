//! Passing over a value of any kind: its JSON is checked, and nothing of it is kept but which containers are open.

use super::json::Reader;
use crate::Error;

/// Arrays and objects may nest this deep. No tokenizer comes near it, and nothing here recurses, so the number only
/// bounds the memory of the stack of open containers.
const MAX_DEPTH: usize = 1024;

/// How far a value was passed over.
#[derive(Debug, Default)]
pub(super) struct Skip {
    /// The closing brackets of the containers that are open.
    open: Vec<u8>,
    next: Next,
}

/// What may come next.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Next {
    /// The value itself.
    #[default]
    Value,
    /// The first element of a container, or its end.
    First,
    /// Another element, or the end.
    More,
}

impl<'a> Reader<'a> {
    /// Goes on with a value for some steps; true at its end. Where a piece of a text ends, nothing is lost: the next
    /// piece must begin where the reader stands. A wasm engine compiles a function better once it has been called
    /// often enough, which it would not notice inside one long loop.
    #[inline(never)]
    pub(super) fn skip_some(&mut self, skip: &mut Skip) -> Result<bool, Error> {
        for _ in 0..256 {
            if skip.next == Next::More {
                self.skip_strings(&mut skip.open);
            }
            let start = self.position();
            if self.starved() {
                return Ok(false);
            }
            let stepped = self.skip_step(skip);
            if self.starved() {
                self.go_to(start);
                return Ok(false);
            }
            if let Some(next) = stepped? {
                skip.next = next;
            }
            if skip.open.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Passes over plain strings in lists, and in lists inside them, as far as there is nothing else: most of a file. It
    /// stops behind an element, where the rest is looked at with care.
    ///
    /// What stands between two strings is mostly the same, or the same by turns. If it left as many lists open as it
    /// found, it can stand there again without another look.
    fn skip_strings(&mut self, open: &mut Vec<u8>) {
        let mut between: [&'a [u8]; 2] = [&[]; 2];
        let mut turn = 0;
        // Where the last string ended, and how many containers were open there.
        let mut last = (usize::MAX, 0);
        while open.last() == Some(&b']') {
            match self.peek() {
                Some(b',') => {
                    let start = self.position();
                    self.go_to(start + 1);
                    let is_list = self.peek() == Some(b'[');
                    if is_list {
                        self.go_to(self.position() + 1);
                        self.peek();
                    }
                    let string = self.position();
                    if is_list && open.len() == MAX_DEPTH || !self.plain_string() {
                        return self.go_to(start);
                    }
                    if is_list {
                        open.push(b']');
                    }
                    if last.1 == open.len() {
                        if let Some(slot) = between.get_mut(turn) {
                            *slot = self.part(last.0, string);
                        }
                        turn ^= 1;
                        while self.same_and_string(between.get(turn).copied().unwrap_or_default()) {
                            turn ^= 1;
                        }
                    } else {
                        between = [&[]; 2];
                    }
                    last = (self.position(), open.len());
                }
                Some(b']') if open.len() > 1 => {
                    self.go_to(self.position() + 1);
                    open.pop();
                }
                _ => return,
            }
        }
    }

    /// Passes over these bytes, of which there are some, and a plain string behind them; false and no move otherwise.
    #[inline(always)]
    fn same_and_string(&mut self, bytes: &[u8]) -> bool {
        let start = self.position();
        let next = self.part(start, start + bytes.len());
        if next.is_empty() || !are_same(next, bytes) {
            return false;
        }
        self.go_to(start + bytes.len());
        let is_string = self.plain_string();
        if !is_string {
            self.go_to(start);
        }
        is_string
    }

    fn skip_step(&mut self, skip: &mut Skip) -> Result<Option<Next>, Error> {
        let close = skip.open.last().copied().unwrap_or_default();
        match skip.next {
            Next::Value => {}
            Next::First if self.take(close) => {
                skip.open.pop();
                return Ok(Some(Next::More));
            }
            Next::First => {}
            Next::More if self.take(b',') => {}
            Next::More => {
                self.expect(close)?;
                skip.open.pop();
                return Ok(None);
            }
        }
        if close == b'}' {
            self.expect(b'"')?;
            self.string_body(None)?;
            self.expect(b':')?;
        }
        let inner = match self.peek() {
            Some(b'{') => b'}',
            Some(b'[') => b']',
            _ => {
                self.scalar()?;
                return Ok(Some(Next::More));
            }
        };
        self.expect(inner - 2)?;
        skip.open.push(inner);
        if skip.open.len() > MAX_DEPTH {
            return Err(self.fail("nested deeper than 1024"));
        }
        Ok(Some(Next::First))
    }
}

/// Whether short texts of one length are the same.
#[inline(always)]
fn are_same(left: &[u8], right: &[u8]) -> bool {
    let ((lefts, left), (rights, right)) = (left.as_chunks::<8>(), right.as_chunks::<8>());
    for (left, right) in lefts.iter().zip(rights) {
        if u64::from_le_bytes(*left) != u64::from_le_bytes(*right) {
            return false;
        }
    }
    for (left, right) in left.iter().zip(right) {
        if left != right {
            return false;
        }
    }
    true
}

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_strings_are_passed_over_as_other_values_are() {
        let valid = [
            r#"{"a":["x","y"],"b":[["x"],["y","z"]],"c":1}"#,
            r#"[["a" , "b"] , ["c", "d"], [], ["e", 1], "f"]"#,
            r#"["a\n", "b", ["c"], {"d": ["e", "f"]}, ["g", {"h": "i"}]]"#,
            r#"["x",["y"]]"#,
            r#"["x"]"#,
            r#"[["a","b"],["c","d"],["e","f"],["g","h"],["i","j"]]"#,
            r#"{"a":[["a"],["b"],["c"],["d"]],"e":["f","g","h","i"],"j":[[["k"],["l"],["m"]],["n"],["o"]]}"#,
        ];
        for text in valid {
            assert_eq!(Reader::new(text.as_bytes()).value().as_deref(), Ok(text));
            for (at, _) in text.char_indices() {
                for other in [",", "]", "[", "}", "\"", ":"] {
                    let changed = format!("{}{other}{}", &text[..at], &text[at + 1..]);
                    let mut reader = Reader::new(changed.as_bytes());
                    let ours = reader.value().is_ok() && reader.peek().is_none();
                    assert_eq!(ours, serde_json::from_str::<serde_json::Value>(&changed).is_ok(), "{changed}");
                }
            }
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
