//! Edits of pairs: put in with the spelling and the white space of a neighbour, replaced, taken out.

use super::super::Document;
use super::{ARRAY, ENCODED, STRING, Typed, VALUE};
use crate::formats::span::role;
use crate::json::{leaving, quote_into, text_into};
use crate::view::{NodeId, Text, Write};

/// Stands after the key of a list that was made. Those who write empty lists at all write them without the space.
const MADE_COLON: &[u8] = b": ";

impl Typed<'_, '_> {
    /// Notes what was held back: what goes into lists that were empty.
    pub(super) fn finish(&mut self) {
        for (node, bytes) in std::mem::take(&mut self.filled) {
            let at = self.stored().range(node).start + 1;
            self.put(node, at..at, bytes);
        }
    }

    fn put(&mut self, node: NodeId, range: std::ops::Range<usize>, bytes: Vec<u8>) {
        let document = &mut *self.document;
        document.json.put(node, range, bytes, &mut document.edits);
    }

    /// The text as the JSON of one string, where attributes hold JSON in strings.
    fn encoded(text: &Text) -> Text {
        let mut json = Vec::new();
        text_into(text, true, &mut json);
        Text { texts: vec![String::from_utf8(json).unwrap_or_default()], in_rows: false }
    }

    /// A pair for a text, written as its model is, which has a key and a value of one type.
    fn pair_like(&self, model: Option<NodeId>, write: &Write, snake: bool) -> Vec<u8> {
        let mut key = Vec::new();
        quote_into(write.key.as_bytes(), &mut key);
        let json = self.stored();
        let model = model.and_then(|pair| {
            let (_, name) = json.find_member(pair, "key")?;
            let (_, value) = json.find_member(pair, "value")?;
            let mut types = json.members(value);
            let only = types.next().filter(|_| types.next().is_none() && json.members(pair).count() == 2)?;
            Some((pair, name, only))
        });
        let Some((pair, name, (kind, content))) = model else {
            let (kind, content) = typed(&write.text, snake, false);
            return [br#"{"key":"#, &*key, br#","value":{""#, kind.as_bytes(), br#"":"#, &*content, b"}}"].concat();
        };
        let colon = json.text(kind, json.range(kind).end..json.range(content).start);
        let (new_kind, new_content) = typed(&write.text, snake, colon != b":");
        let mut quoted = Vec::new();
        quote_into(new_kind.as_bytes(), &mut quoted);
        let mut parts = [(json.range(name), key), (json.range(kind), quoted), (json.range(content), new_content)];
        if parts[0].0.start > parts[1].0.start {
            parts.rotate_left(1);
        }
        let std::ops::Range { start: mut at, end } = json.range(pair);
        let mut out = Vec::new();
        for (range, bytes) in parts {
            out.extend_from_slice(json.text(pair, at..range.start));
            out.extend_from_slice(&bytes);
            at = range.end;
        }
        out.extend_from_slice(json.text(pair, at..end));
        out
    }

    /// Whether the keys around here are spelled with underscores.
    fn is_snake(&mut self, object: NodeId, pairs: &[NodeId]) -> bool {
        let json = self.stored();
        let own = (role(object).0 == VALUE).then_some(role(object).1);
        for value in pairs.iter().map(|&pair| json.find_member(pair, "value").map(|(_, value)| value)).chain([own]) {
            if let Some((kind, _)) = value.and_then(|value| json.members(value).next()) {
                return json.raw(kind).contains(&b'_');
            }
        }
        false
    }

    /// What separates an item from the next, else from the one before.
    fn comma(&self, list: NodeId, items: &[NodeId], at: usize) -> Vec<u8> {
        let json = self.stored();
        let pair = items.get(at..at + 2).or(at.checked_sub(1).and_then(|before| items.get(before..=at)));
        let gap = match pair {
            Some(&[left, right]) => json.text(list, json.range(left).end..json.range(right).start),
            _ => json.text(list, json.range(list).start + 1..json.range(items[at]).start),
        };
        if gap.contains(&b',') { gap.to_vec() } else { [b",", gap].concat() }
    }

    /// Where the list of a value's pairs stands, with its key, if it was made for texts.
    fn made_list(&self, object: NodeId) -> Option<std::ops::Range<usize>> {
        let (VALUE, value) = role(object) else { return None };
        let json = self.stored();
        let (key, list) = json.members(self.content(value).1).next()?;
        let range = json.range(key).start..json.range(list).end;
        (json.text(key, json.range(key).end..json.range(list).start) == MADE_COLON).then_some(range)
    }

    fn write_pair(&mut self, write: &Write) {
        let pairs = self.pairs(write.object);
        let snake = self.is_snake(write.object, &pairs);
        let list = self.list(write.object);
        let at = |key: &str| pairs.iter().rposition(|&pair| self.has_name(pair, key));
        if let Some(i) = at(&write.key) {
            let (kind, content) = typed(&write.text, snake, false);
            let value = [br#"{""#, kind.as_bytes(), br#"":"#, &*content, b"}"].concat();
            let (node, bytes) = match self.stored().find_member(pairs[i], "value") {
                Some((_, node)) => (node, value),
                None => (pairs[i], self.pair_like(None, write, snake)),
            };
            let range = self.stored().range(node);
            return self.put(node, range, bytes);
        }
        if let (Some(list), false) = (list, pairs.is_empty()) {
            let i = write.before.as_deref().and_then(at).unwrap_or(0);
            let mut bytes = self.pair_like(Some(pairs[i]), write, snake);
            bytes.extend_from_slice(&self.comma(list, &pairs, i));
            let start = self.stored().range(pairs[i]).start;
            return self.put(list, start..start, bytes);
        }
        // The first pair goes into the list that is there, or makes one.
        let pair = self.pair_like(None, write, snake);
        let content = self.content(role(write.object).1).1;
        let place = list.unwrap_or(content);
        if let Some((_, bytes)) = self.filled.iter_mut().find(|(known, _)| *known == place) {
            let end = bytes.len() - usize::from(list.is_none());
            bytes.splice(end..end, [b",", &*pair].concat());
            return;
        }
        let bytes = if list.is_some() { pair } else { [br#""values""#, MADE_COLON, b"[", &*pair, b"]"].concat() };
        self.filled.push((place, bytes));
    }
}

/// The type of a text and its content.
fn typed(text: &Text, snake: bool, spaced: bool) -> (&'static str, Vec<u8>) {
    let name = |(camel, underscored): (&'static str, &'static str)| if snake { underscored } else { camel };
    let mut content = Vec::new();
    if !text.in_rows {
        text_into(text, spaced, &mut content);
        return (name(STRING), content);
    }
    let (colon, comma): (&[u8], &[u8]) = if spaced { (b": ", b", ") } else { (b":", b",") };
    content.extend_from_slice(&[b"{\"values\"", colon, b"["].concat());
    for (i, text) in text.texts.iter().enumerate() {
        if i > 0 {
            content.extend_from_slice(comma);
        }
        content.extend_from_slice(&[b"{\"", name(STRING).as_bytes(), b"\"", colon].concat());
        quote_into(text.as_bytes(), &mut content);
        content.push(b'}');
    }
    content.extend_from_slice(b"]}");
    (name(ARRAY), content)
}

impl Document for Typed<'_, '_> {
    fn write(&mut self, write: &Write) {
        let is_encoded = self.is_encoded(write.object) && (role(write.object).0 == ENCODED || !write.text.in_rows);
        let text = if is_encoded { Self::encoded(&write.text) } else { write.text.clone() };
        let write = &Write { object: write.object, key: write.key.clone(), before: write.before.clone(), text };
        if self.is_listed(write.object) {
            return self.write_pair(write);
        }
        let document = &mut *self.document;
        document.json.write(role(write.object).1, write, &mut document.edits);
    }

    fn take_out(&mut self, object: NodeId, members: Vec<(String, Option<String>)>) {
        if !self.is_listed(object) {
            let document = &mut *self.document;
            return document.json.take_out(role(object).1, members, &mut document.edits);
        }
        let pairs = self.pairs(object);
        let goes = leaving(pairs.len(), members, &|key| pairs.iter().rposition(|&pair| self.has_name(pair, key)));
        for (i, &pair) in pairs.iter().enumerate().filter(|(i, _)| goes[*i]) {
            let std::ops::Range { start, end } = self.stored().range(pair);
            let end = pairs.get(i + 1).map_or(end, |&next| self.stored().range(next).start);
            self.put(pair, start..end, Vec::new());
        }
        // A list that was made for the texts goes with them.
        if goes.iter().all(|&goes| goes)
            && let Some(range) = self.made_list(object)
        {
            self.put(role(object).1, range, Vec::new());
        }
    }
}
