//! Edits of pairs: put in, replaced, taken out. A pair is written with spaces if the body is.

use super::super::Document;
use super::{ARRAY, ENCODED, STRING, Typed, VALUE};
use crate::formats::span::role;
use crate::json::{leaving, quote_into, text_into};
use crate::view::{Form, NodeId, Text, Write};

/// Stands between the key and a list that was made. Those who write empty lists at all write them without the space.
const MADE_COLON: &[u8] = b": ";

impl Typed<'_, '_> {
    /// Closes the lists that were made.
    pub(super) fn finish(&mut self) {
        for content in std::mem::take(&mut self.made) {
            self.insert(content, b"]", b"");
        }
    }

    fn put(&mut self, node: NodeId, range: std::ops::Range<usize>, bytes: Vec<u8>) {
        let document = &mut *self.document;
        document.json.put(node, range, bytes, 0, &mut document.edits);
    }

    /// Puts bytes behind the bracket or brace that a value begins with.
    fn insert(&mut self, node: NodeId, first: &[u8], second: &[u8]) {
        let at = self.stored().range(node).start + 1;
        let mut bytes = first.to_vec();
        bytes.extend_from_slice(second);
        self.put(node, at..at, bytes);
    }

    /// A template with what goes into it in place of 1 and 2; without spaces if the body has none.
    fn filled(&self, template: &[u8], first: &[u8], second: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for byte in template {
            match byte {
                b'1' => out.extend_from_slice(first),
                b'2' => out.extend_from_slice(second),
                b' ' if !self.is_spaced => {}
                byte => out.push(*byte),
            }
        }
        out
    }

    fn type_name(&self, (camel, snake): (&'static str, &'static str)) -> &'static [u8] {
        if self.is_snake { snake } else { camel }.as_bytes()
    }

    /// A value with its type.
    fn value_of(&self, text: &Text) -> Vec<u8> {
        let mut list = Vec::new();
        for text in &text.texts {
            let mut quoted = Vec::new();
            quote_into(text.as_bytes(), &mut quoted);
            let template: &[u8] = if list.is_empty() { br#"{"1": 2}"# } else { br#", {"1": 2}"# };
            list.extend_from_slice(&self.filled(template, self.type_name(STRING), &quoted));
        }
        if text.form == Form::Rows {
            list = self.filled(br#"{"1": {"values": [2]}}"#, self.type_name(ARRAY), &list);
        }
        list
    }

    fn pair_of(&self, write: &Write) -> Vec<u8> {
        let mut key = Vec::new();
        quote_into(write.key.as_bytes(), &mut key);
        self.filled(br#"{"key": 1, "value": 2}"#, &key, &self.value_of(&write.text))
    }

    fn write_pair(&mut self, object: NodeId, write: &Write) {
        let pairs = self.pairs(object);
        if write.drops() {
            let (mut members, mut goes) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
            for pair in pairs {
                members.push((pair, pair));
                goes.push(self.has_name(pair, &write.key));
            }
            let document = &mut *self.document;
            return document.json.remove(&members, &goes, &mut document.edits);
        }
        let list = self.list(object);
        let at = |key: &str| pairs.iter().rposition(|&pair| self.has_name(pair, key));
        let mut bytes = self.pair_of(write);
        if let Some(there) = at(&write.key) {
            let mut node = pairs[there];
            if let Some((_, value)) = self.stored().find_member(node, "value") {
                bytes = self.value_of(&write.text);
                node = value;
            }
            let range = self.stored().range(node);
            return self.put(node, range, bytes);
        }
        if let Some(&first) = pairs.first() {
            let i = write.before.as_deref().and_then(at).unwrap_or(0);
            let start = self.stored().range(pairs[i]).start;
            // The separator of two pairs that are there, or the space that the only one stands behind.
            let left = match pairs.get(i.max(1)).map(|_| pairs[i.max(1) - 1]) {
                Some(left) => self.stored().range(left).end,
                None => self.stored().range(list.unwrap_or(first)).start + 1,
            };
            let right = self.stored().range(pairs[i.max(1).min(pairs.len() - 1)]).start;
            let space = self.stored().text(first, left..right);
            let comma: &[u8] = match space {
                b"" => b", ",
                _ if space.contains(&b',') => b"",
                _ => b",",
            };
            let pair_len = bytes.len();
            bytes.extend_from_slice(&self.filled(comma, b"", b""));
            bytes.extend_from_slice(space);
            let (document, comma) = (&mut *self.document, bytes.len() - pair_len);
            return document.json.put(first, start..start, bytes, comma, &mut document.edits);
        }
        // The first pair goes into the list that is there, or makes one.
        let Some(list) = list else {
            let content = self.content(write.object).1;
            let is_new = !self.made.contains(&content);
            if is_new {
                self.made.push(content);
            }
            let opening: &[u8] = if is_new { b"\"values\": [" } else { b"," };
            return self.insert(content, opening, &bytes);
        };
        let comma: &[u8] = if self.document.edits.fill(list) { b"," } else { b"" };
        self.insert(list, comma, &bytes);
    }
}

impl Document for Typed<'_, '_> {
    fn write(&mut self, write: &Write) {
        let Write { object, key, before, mut text } = write.clone();
        let (role, node) = role(object);
        if self.is_encoded(object) && (role == ENCODED || text.form != Form::Rows) && !write.drops() {
            // The JSON of the text as the content of a string.
            let mut json = Vec::new();
            text_into(&text, true, &mut json);
            text = Text { texts: vec![String::from_utf8(json).unwrap_or_default()], form: Form::One };
        }
        let write = Write { object: node, key, before, text };
        if self.is_listed(object) {
            return self.write_pair(object, &write);
        }
        let document = &mut *self.document;
        document.json.write(node, &write, &mut document.edits);
    }

    fn take_out(&mut self, object: NodeId, members: Vec<(String, Option<String>)>) {
        let (role, node) = role(object);
        if !self.is_listed(object) {
            let document = &mut *self.document;
            return document.json.take_out(node, members, &mut document.edits);
        }
        let pairs = self.pairs(object);
        let goes = leaving(pairs.len(), members, &|key| pairs.iter().rposition(|&pair| self.has_name(pair, key)));
        // A list that was made for the texts goes with them.
        if role == VALUE
            && !goes.contains(&false)
            && let Some((key, list)) = self.stored().find_member(self.content(node).1, "values")
        {
            let json = self.stored();
            let (key, list) = (json.range(key), json.range(list));
            if json.text(node, key.end..list.start) == MADE_COLON {
                return self.put(node, key.start..list.end, Vec::new());
            }
        }
        for (i, &pair) in pairs.iter().enumerate() {
            let range = self.stored().range(pair);
            let end = pairs.get(i + 1).map_or(range.end, |&next| self.stored().range(next).start);
            if goes[i] {
                self.put(pair, range.start..end, Vec::new());
            }
        }
    }
}
