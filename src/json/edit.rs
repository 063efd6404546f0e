//! Edits of JSON text: members put in, values replaced, members taken out. A text inside a string, at any depth,
//! is edited where it stands: the edit is moved out to the raw text of the string that holds it, escaped once more,
//! and nothing else of that string changes.

use std::ops::Range;

use crate::json::scan::{Node, Tag};
use crate::json::string::{escape_into, quote_into, raw_offsets};
use crate::json::{Json, NodeId};
use crate::view::{Text, Write};

/// Bytes to be put in place of the bytes from `start` to `end` of a document.
struct Edit {
    document: u16,
    start: usize,
    end: usize,
    bytes: Vec<u8>,
    /// Edits at one place keep the order in which they were asked for.
    order: usize,
}

/// Edits of one [`Json`], in the order they were asked for.
#[derive(Default)]
pub(crate) struct Edits {
    list: Vec<Edit>,
}

impl Edits {
    fn push(&mut self, document: u16, range: Range<usize>, bytes: Vec<u8>) {
        let order = self.list.len();
        self.list.push(Edit { document, start: range.start, end: range.end, bytes, order });
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn ends_at(&self, document: u16, at: usize) -> bool {
        self.list.iter().any(|edit| edit.document == document && edit.start == at && edit.end == at)
    }
}

impl Json<'_> {
    /// Writes a text into an object: in place of the member with its key, else directly before the member it is
    /// to stand before, else as the first member. Separators are those of the neighbouring member.
    pub(crate) fn write(&self, write: &Write, edits: &mut Edits) {
        let object = self.node(write.object);
        if object.tag != Tag::Object {
            return;
        }
        let document = object.document;
        if let Some((key, value)) = self.find_member(write.object, &write.key) {
            let colon = self.between(self.node(key), self.node(value));
            let bytes = text_json(&write.text, has_space(colon));
            return edits.push(document, self.range(value), bytes);
        }
        let neighbour = write.before.as_ref().and_then(|key| self.find_member(write.object, key));
        let first = self.members(write.object).next();
        let mut bytes = Vec::new();
        let at = match neighbour.or(first) {
            Some((key, value)) => {
                let colon = self.between(self.node(key), self.node(value));
                bytes = member_json(&write.key, colon, &write.text);
                bytes.extend_from_slice(&self.comma(write.object, key));
                self.node(key).start as usize
            }
            None => {
                let at = object.start as usize + 1;
                let colon = self.colon_around(write.object);
                if edits.ends_at(document, at) {
                    bytes.extend_from_slice(if has_space(colon) { b", " } else { b"," });
                }
                bytes.extend_from_slice(&member_json(&write.key, colon, &write.text));
                at
            }
        };
        edits.push(document, at..at, bytes);
    }

    /// Takes members out of an object: each key with the key of the member that [`Json::write`] would have put it
    /// before (none: it would be the first). Only members that stand just there go.
    pub(crate) fn take_out(&self, object: NodeId, candidates: &[(&str, Option<&str>)], edits: &mut Edits) {
        let members: Vec<_> = self.members(object).collect();
        let position = |key: &str| members.iter().rposition(|&(node, _)| self.has_key(node, key));
        let mut goes = vec![false; members.len()];
        let mut standing: Vec<_> =
            candidates.iter().filter_map(|&(key, before)| Some((position(key)?, before.and_then(position)))).collect();
        standing.iter().for_each(|&(at, _)| goes[at] = true);
        // A member counts as standing before its neighbour if only members that go too are between the two, so
        // each that is found to stay can make another stay.
        loop {
            let all = standing.len();
            standing.retain(|&(at, before)| {
                let in_place = match before {
                    Some(before) => at < before && goes[at..before].iter().all(|&goes| goes),
                    None => goes[..at].iter().all(|&goes| goes),
                };
                goes[at] = in_place;
                in_place
            });
            if standing.len() == all {
                break;
            }
        }
        for (i, &(key, value)) in members.iter().enumerate().filter(|&(i, _)| goes[i]) {
            let start = self.node(key).start as usize;
            let end = match members.get(i + 1) {
                Some(&(next, _)) => self.node(next).start as usize,
                None => self.node(value).end as usize,
            };
            edits.push(self.node(key).document, start..end, Vec::new());
        }
    }

    /// The text of the body with all edits made.
    pub(crate) fn render(&self, edits: Edits) -> Vec<u8> {
        let mut by_document: Vec<Vec<Edit>> = self.documents.iter().map(|_| Vec::new()).collect();
        for edit in edits.list {
            by_document[usize::from(edit.document)].push(edit);
        }
        // A document is always opened after the one that holds it, so going down moves every edit out to the body.
        for index in (1..self.documents.len()).rev() {
            let mut inner = std::mem::take(&mut by_document[index]);
            let Some(holder) = self.documents[index].holder.filter(|_| !inner.is_empty()) else { continue };
            sort(&mut inner);
            let offsets: Vec<usize> = inner.iter().flat_map(|edit| [edit.start, edit.end]).collect();
            let raw = raw_offsets(self.inside_quotes(holder), &offsets);
            let Node { document, start, .. } = self.node(holder);
            let quote_end = start as usize + 1;
            for (edit, raw) in inner.into_iter().zip(raw.chunks_exact(2)) {
                let mut bytes = Vec::with_capacity(edit.bytes.len() + 16);
                escape_into(&edit.bytes, &mut bytes);
                let (start, end) = (quote_end + raw[0], quote_end + raw[1]);
                by_document[usize::from(document)].push(Edit { document, start, end, bytes, order: edit.order });
            }
        }
        let mut body = std::mem::take(&mut by_document[0]);
        sort(&mut body);
        let text = &self.documents[0].text;
        let added: usize = body.iter().map(|edit| edit.bytes.len()).sum();
        let mut out = Vec::with_capacity(text.len() + added);
        let mut copied = 0;
        for edit in body {
            out.extend_from_slice(&text[copied..edit.start]);
            out.extend_from_slice(&edit.bytes);
            copied = edit.end;
        }
        out.extend_from_slice(&text[copied..]);
        out
    }

    /// What stands between two nodes of one document.
    fn between(&self, left: Node, right: Node) -> &[u8] {
        &self.documents[usize::from(left.document)].text[left.end as usize..right.start as usize]
    }

    /// What separates the member with this key from the next, else from the one before. A member alone is given a
    /// comma and the white space before its key.
    fn comma(&self, object: NodeId, key: NodeId) -> Vec<u8> {
        let members: Vec<_> = self.members(object).collect();
        let at = members.iter().position(|&(other, _)| other == key).unwrap_or(0);
        let (left, right) = match (members.get(at + 1), at.checked_sub(1)) {
            (Some(_), _) => (at, at + 1),
            (None, Some(before)) => (before, at),
            (None, None) => {
                let (object, key) = (self.node(object), self.node(key));
                let text = &self.documents[usize::from(object.document)].text;
                return [b",", &text[object.start as usize + 1..key.start as usize]].concat();
            }
        };
        self.between(self.node(members[left].1), self.node(members[right].0)).to_vec()
    }

    /// What stands between key and value where the object itself is a value; `: ` where it is none.
    fn colon_around(&self, object: NodeId) -> &[u8] {
        let Node { document, start, .. } = self.node(object);
        let text = &self.documents[usize::from(document)].text[..start as usize];
        let space = text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        match text[..text.len() - space].last() {
            Some(b':') => &text[text.len() - space - 1..],
            _ => b": ",
        }
    }
}

fn sort(edits: &mut [Edit]) {
    edits.sort_unstable_by_key(|edit| (edit.start, edit.order));
}

/// Whether a separator of key and value says that this JSON is written with spaces.
fn has_space(colon: &[u8]) -> bool {
    colon != b":"
}

fn member_json(key: &str, colon: &[u8], text: &Text) -> Vec<u8> {
    let mut bytes = Vec::new();
    quote_into(key, &mut bytes);
    bytes.extend_from_slice(colon);
    bytes.extend_from_slice(&text_json(text, has_space(colon)));
    bytes
}

fn text_json(text: &Text, spaced: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    match text {
        Text::One(text) => quote_into(text, &mut bytes),
        Text::Many(texts) => {
            bytes.push(b'[');
            for (i, text) in texts.iter().enumerate() {
                if i > 0 {
                    bytes.extend_from_slice(if spaced { b", " } else { b"," });
                }
                quote_into(text, &mut bytes);
            }
            bytes.push(b']');
        }
    }
    bytes
}
