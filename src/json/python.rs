//! Python literals, as `repr` prints them, as JSON text.

use super::number_end;
use super::string::{escape_into, quote_into};

/// The JSON text of a Python literal; nothing if the text is none. Tuples become lists, keys that are no strings become
/// strings, as Python's `json` has them. Of what is no literal, three things that stand in printed dictionaries are taken:
/// a call with named arguments (`Output(token_ids=[1], text=None)`, as pydantic prints) becomes an object; any other call
/// (`array([1, 2])`, `np.int64(5)`) and an ellipsis become strings of what was printed.
///
/// ```text
/// {'ids': (1, 2), 'text': 'it\'s', 'stop': None}    {"ids":[1,2],"text":"it's","stop":null}
/// ```
pub(crate) fn python_to_json(text: &[u8]) -> Option<Vec<u8>> {
    let mut transcoder = Transcoder { text, at: 0, out: Vec::with_capacity(text.len()), open: Vec::new() };
    transcoder.run()?;
    Some(transcoder.out)
}

/// A list, tuple, dictionary or call that is not closed yet.
struct Open {
    close: u8,
    /// Whether its items have keys: before a colon, or (of a call) before an equals sign.
    keys: Option<u8>,
    /// Where in the output it begins.
    start: usize,
    is_empty: bool,
    has_comma: bool,
}

struct Transcoder<'t> {
    text: &'t [u8],
    at: usize,
    out: Vec<u8>,
    /// A stack in place of recursion, so that no depth is too much; how deep is too deep the JSON scanner says.
    open: Vec<Open>,
}

impl Transcoder<'_> {
    fn run(&mut self) -> Option<()> {
        self.skip_space();
        loop {
            let close = self.open.last().map(|open| open.close);
            if close.is_some() && close == self.peek() {
                self.close()?;
            } else {
                self.key()?;
                if self.opens() {
                    self.skip_space();
                    continue;
                }
                self.scalar()?;
            }
            self.skip_space();
            let Some(open) = self.open.last_mut() else { return (self.at == self.text.len()).then_some(()) };
            match self.text.get(self.at)? {
                b',' => {
                    open.has_comma = true;
                    self.at += 1;
                    self.skip_space();
                }
                close if *close == open.close => {}
                _ => return None,
            }
        }
    }

    /// What stands before an item: the comma, the key.
    fn key(&mut self) -> Option<()> {
        let Some(open) = self.open.last_mut() else { return Some(()) };
        if !std::mem::replace(&mut open.is_empty, false) {
            self.out.push(b',');
        }
        let Some(sign) = open.keys else { return Some(()) };
        let start = self.out.len();
        if sign == b'=' {
            let end = self.word_end();
            quote_into(self.text.get(self.at..end)?, &mut self.out);
            self.at = end;
        } else {
            self.scalar()?;
            if self.out.get(start) != Some(&b'"') {
                self.out.insert(start, b'"');
                self.out.push(b'"');
            }
        }
        self.skip_space();
        self.take(sign)?;
        self.skip_space();
        self.out.push(b':');
        Some(())
    }

    /// Takes the beginning of what holds items.
    fn opens(&mut self) -> bool {
        let (after, close, keys) = match self.peek() {
            Some(b'[') => (self.at + 1, b']', None),
            Some(b'(') => (self.at + 1, b')', None),
            Some(b'{') => (self.at + 1, b'}', Some(b':')),
            _ => match self.named_arguments() {
                Some(after) => (after, b')', Some(b'=')),
                None => return false,
            },
        };
        let start = self.out.len();
        self.open.push(Open { close, keys, start, is_empty: true, has_comma: false });
        self.out.push(if keys.is_some() { b'{' } else { b'[' });
        self.at = after;
        true
    }

    fn close(&mut self) -> Option<()> {
        let open = self.open.pop()?;
        self.at += 1;
        if open.keys.is_some() {
            self.out.push(b'}');
        } else if open.close == b')' && !open.is_empty && !open.has_comma {
            // One value in parentheses is that value.
            *self.out.get_mut(open.start)? = b' ';
        } else {
            self.out.push(b']');
        }
        Some(())
    }

    /// Where the arguments of a call begin, if they have names.
    fn named_arguments(&self) -> Option<usize> {
        let open = self.word_end();
        let is_call = open > self.at && self.text.get(open) == Some(&b'(');
        let after = Transcoder { text: self.text, at: open + 1, out: Vec::new(), open: Vec::new() };
        let end = after.word_end();
        (is_call && end > after.at && self.text.get(end) == Some(&b'=')).then_some(open + 1)
    }

    fn scalar(&mut self) -> Option<()> {
        let start = self.at;
        match self.peek()? {
            b'"' | b'\'' => return self.string(),
            b'.' if self.text[start..].starts_with(b"...") => {
                self.at += 3;
                self.out.extend_from_slice(b"\"...\"");
                return Some(());
            }
            byte if byte == b'-' || byte.is_ascii_digit() => {
                if let Some(end) = number_end(self.text, start).filter(|&end| self.text[end - 1].is_ascii_digit()) {
                    self.at = end;
                    self.out.extend_from_slice(&self.text[start..end]);
                    return Some(());
                }
                self.at += 1;
            }
            _ => {}
        }
        self.at = self.word_end();
        let json: &[u8] = match self.text.get(start..self.at)? {
            b"None" => b"null",
            b"True" => b"true",
            b"False" => b"false",
            b"nan" => b"NaN",
            b"inf" => b"Infinity",
            b"-inf" => b"-Infinity",
            [first, ..] if first.is_ascii_alphabetic() && self.peek() == Some(b'(') => {
                self.skip_call()?;
                quote_into(&self.text[start..self.at], &mut self.out);
                return Some(());
            }
            _ => return None,
        };
        self.out.extend_from_slice(json);
        Some(())
    }

    /// Skips what stands in brackets.
    fn skip_call(&mut self) -> Option<()> {
        let mut depth = 0usize;
        let mut quote = None;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match (quote, byte) {
                (Some(_), b'\\') => self.at += 1,
                (Some(open), _) if open == byte => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'(' | b'[' | b'{') => depth += 1,
                (None, b')' | b']' | b'}') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        let quote = self.peek()?;
        self.at += 1;
        self.out.push(b'"');
        loop {
            let start = self.at;
            while self.peek().is_some_and(|byte| byte != quote && !matches!(byte, b'\\' | b'\n' | b'\r' | 0)) {
                self.at += 1;
            }
            escape_into(&self.text[start..self.at], &mut self.out);
            let byte = self.peek()?;
            self.at += 1;
            if byte == quote {
                self.out.push(b'"');
                return Some(());
            }
            if byte != b'\\' {
                return None;
            }
            self.escape()?;
        }
    }

    /// What stands after a backslash, of the escapes that `repr` prints.
    fn escape(&mut self) -> Option<()> {
        let escaped = self.peek()?;
        self.at += 1;
        let digits = match escaped {
            b'x' => 2,
            b'u' => 4,
            b'U' => 8,
            b'\\' | b'\'' | b'"' => return self.push(u32::from(escaped)),
            b'n' => return self.push(10),
            b'r' => return self.push(13),
            b't' => return self.push(9),
            _ => return None,
        };
        let mut code = 0u32;
        for _ in 0..digits {
            code = code << 4 | char::from(self.peek()?).to_digit(16)?;
            self.at += 1;
        }
        if code >> 11 != 0xD800 >> 11 {
            return self.push(code);
        }
        // A lone surrogate, as JSON spells it.
        self.out.extend_from_slice(b"\\u");
        self.out.extend_from_slice(&self.text[self.at - 4..self.at]);
        Some(())
    }

    fn push(&mut self, code: u32) -> Option<()> {
        escape_into(char::from_u32(code)?.encode_utf8(&mut [0; 4]).as_bytes(), &mut self.out);
        Some(())
    }

    /// Where the name at this place ends.
    fn word_end(&self) -> usize {
        let mut end = self.at;
        while self.text.get(end).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')) {
            end += 1;
        }
        end
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t' | 0x0C)) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use crate::view::Tree as _;

    fn json(text: &str) -> Option<String> {
        python_to_json(text.as_bytes()).map(|json| String::from_utf8(json).unwrap())
    }

    #[test]
    fn literals_are_read_as_python_reads_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracle/literals.json");
        let file = std::fs::read(path).unwrap();
        let mut rows = Json::parse(&file, 64).unwrap();
        let (mut read, mut refused) = (0, 0);
        for row in rows.elements(Json::ROOT) {
            let [text, expected, printed] = rows.elements(row)[..] else { panic!("a row is three values") };
            let text = rows.str(text).unwrap();
            let ours = json(text.trim());
            let expected = rows.string(expected).map(|json| String::from_utf8(json.into_owned()).unwrap());
            if rows.raw(printed) == b"true" || ours.is_some() {
                assert_eq!(ours.as_deref().map(str::trim), expected.as_deref(), "{text:?}");
            }
            read += usize::from(ours.is_some());
            refused += usize::from(ours.is_none());
        }
        assert!(read > 250 && refused > 100, "{read} read, {refused} refused");
    }

    #[test]
    fn what_is_printed_of_other_objects_is_an_object_or_a_string() {
        for (python, expected) in [
            ("TokenOutput(token_ids=[1, 2], log_probs=None)", Some(r#"{"token_ids":[1,2],"log_probs":null}"#)),
            ("[a.B(c='d', e=F(g=1,),)]", Some(r#"[{"c":"d","e":{"g":1}}]"#)),
            (
                "{'ids': array([1, 2,\n 3]), 'n': np.int64(5)}",
                Some(r#"{"ids":"array([1, 2,\n 3])","n":"np.int64(5)"}"#),
            ),
            ("[date(2026, 1, 2), f(')', g(1))]", Some(r#"["date(2026, 1, 2)","f(')', g(1))"]"#)),
            ("array([0, 1, ..., 8, 9], dtype=int32)", Some(r#""array([0, 1, ..., 8, 9], dtype=int32)""#)),
            ("[1, ...]", Some(r#"[1,"..."]"#)),
            ("A()", Some(r#""A()""#)),
            ("A(b=1", None),
            ("A(b=1, 2)", None),
            ("A(b==1)", None),
            ("f('", None),
            ("f('\\", None),
            ("<A object at 0x7f>", None),
            ("token_ids=[1, 2] log_probs=None", None),
        ] {
            assert_eq!(json(python).as_deref(), expected, "{python}");
        }
    }
}
