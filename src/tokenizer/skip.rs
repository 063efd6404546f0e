//! Passing over a value of any kind: its JSON is checked, and nothing of it is kept but which containers are open.

use super::between::Between;
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
    #[inline(never)]
    fn skip_strings(&mut self, open: &mut Vec<u8>) {
        let mut between = [Between::default(); 2];
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
                    let is_string = self.from(string).first() == Some(&b'"');
                    if is_list && open.len() == MAX_DEPTH || !is_string || !self.is_string_at(string) {
                        return self.go_to(start);
                    }
                    if is_list {
                        open.push(b']');
                    }
                    if last.1 == open.len() {
                        // The one before this one comes next.
                        between = [between[1], Between::new(self.part(last.0, string + 1))];
                        while self.skip_alike(&between) {}
                    } else {
                        between = [Between::default(); 2];
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

    /// Passes over some strings behind the one and the other by turns; false where something else stands.
    #[inline(never)]
    fn skip_alike(&mut self, between: &[Between; 2]) -> bool {
        for _ in 0..128 {
            for between in between {
                let start = self.position();
                if !between.is_at(self.from(start)) {
                    return false;
                }
                let quote = start + between.len - 1;
                if !self.plain_string_at(quote) && !self.is_string_at(quote) {
                    self.go_to(start);
                    return false;
                }
            }
        }
        true
    }

    /// Passes over the rest of any string whose quote stands at a place; false if it is none, or is cut.
    #[inline(never)]
    fn is_string_at(&mut self, quote: usize) -> bool {
        self.go_to(quote + 1);
        self.string_body(None).is_ok() && !self.starved()
    }

    #[inline(never)]
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
