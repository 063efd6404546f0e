//! Edits of JSON text: members put in, values replaced, members taken out. A text inside a string, at any depth,
//! is edited where it stands: the edit is moved out to the raw text of the string that holds it, escaped once more,
//! and nothing else of that string changes.

use std::ops::Range;

use crate::json::scan::{Node, Tag};
use crate::json::string::{escape_into, quote_into, raw_offsets};
use crate::json::{Json, NodeId};
use crate::view::{Form, Names, Text, Write};

/// Bytes to be put in place of the bytes from `start` to `end` of a document.
struct Edit {
    document: usize,
    start: usize,
    end: usize,
    bytes: Vec<u8>,
    /// Of a member put in: how many of the bytes separate it from the next.
    comma: usize,
    /// Of a member taken out: whether it is the last of its object, and where the member before it ends.
    is_last: bool,
    before: usize,
}

/// An [`Edit`] of the body itself, when all of them are known.
pub(crate) struct Change<'e> {
    start: usize,
    end: usize,
    bytes: &'e [u8],
    edit: &'e Edit,
}

/// Edits of one [`Json`], in the order they were asked for.
#[derive(Default)]
pub(crate) struct Edits {
    list: Vec<Edit>,
    /// Objects and lists that had nothing in them and have something now.
    filled: Names,
}

impl Edits {
    fn push(&mut self, document: usize, range: Range<usize>, bytes: Vec<u8>) {
        let Range { start, end } = range;
        self.list.push(Edit { document, start, end, bytes, comma: 0, is_last: false, before: start });
    }

    /// Notes bytes to be put in place of a range of the body.
    pub(crate) fn put(&mut self, range: Range<usize>, bytes: Vec<u8>) {
        self.push(0, range, bytes);
    }

    /// Whether an object or a list that had nothing in it has something now; it has from now on.
    pub(crate) fn fill(&mut self, empty: NodeId) -> bool {
        self.filled.insert(&empty.to_string(), empty).is_some()
    }

    /// Whether there is nothing to do.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl Json<'_> {
    /// Writes a text into an object (`target`, which stands for that of `write`): in place of the member with its key,
    /// else directly before the member it is to stand before, else as the first member. Separators are those of the
    /// neighbouring member.
    pub(crate) fn write(&self, target: NodeId, write: &Write, edits: &mut Edits) {
        let object = self.node(target);
        if object.tag != Tag::Object {
            return;
        }
        let document = object.document();
        if write.drops() {
            let members: Vec<_> = self.pairs(target).collect();
            let mut goes = Vec::with_capacity(members.len());
            for &(key, _) in &members {
                goes.push(self.has_key(key, &write.key));
            }
            return self.remove(&members, &goes, edits);
        }
        if let Some((key, value)) = self.find_member(target, &write.key) {
            let colon = self.between(self.node(key), self.node(value));
            let mut bytes = Vec::new();
            text_into(&write.text, has_space(colon), &mut bytes);
            return edits.push(document, self.range(value), bytes);
        }
        let neighbour = write.before.as_ref().and_then(|key| self.find_member(target, key));
        let mut bytes = Vec::new();
        let mut member_len = 0;
        let at = match neighbour.or(self.pairs(target).next()) {
            Some((key, value)) => {
                let colon = self.between(self.node(key), self.node(value));
                member_into(write, colon, &mut bytes);
                member_len = bytes.len();
                self.comma_into(target, key, &mut bytes);
                self.node(key).start as usize
            }
            None => {
                let at = object.start as usize + 1;
                let colon = self.colon_around(target);
                if edits.fill(target) {
                    comma_into(has_space(colon), &mut bytes);
                }
                member_into(write, colon, &mut bytes);
                at
            }
        };
        let comma = if member_len > 0 { bytes.len() - member_len } else { 0 };
        edits.list.push(Edit { document, start: at, end: at, bytes, comma, is_last: false, before: at });
    }

    /// Takes members out of an object: each key with the key of the member that [`Json::write`] would have put it
    /// before (none: it would be the first). Only members that stand just there go.
    pub(crate) fn take_out(&self, object: NodeId, candidates: Vec<(String, Option<String>)>, edits: &mut Edits) {
        let members: Vec<_> = self.pairs(object).collect();
        let position = |key: &str| members.iter().rposition(|&(node, _)| self.has_key(node, key));
        let goes = leaving(members.len(), candidates, &position);
        self.remove(&members, &goes, edits);
    }

    /// Takes members of an object or elements of a list out, each with what separates it from the next.
    pub(crate) fn remove(&self, members: &[(NodeId, NodeId)], goes: &[bool], edits: &mut Edits) {
        for (i, &(key, value)) in members.iter().enumerate().filter(|&(i, _)| goes[i]) {
            let (document, start) = (self.node(key).document(), self.node(key).start as usize);
            let before = i.checked_sub(1).map_or(start, |i| self.node(members[i].1).end as usize);
            let (end, is_last) = match members.get(i + 1) {
                Some(&(next, _)) => (self.node(next).start as usize, false),
                None => (self.node(value).end as usize, true),
            };
            edits.list.push(Edit { document, start, end, bytes: Vec::new(), comma: 0, is_last, before });
        }
    }

    /// The text of the body with all edits made.
    pub(crate) fn render(&self, edits: Edits) -> Vec<u8> {
        let mut body = Vec::new();
        self.render_into(edits, &mut body);
        body
    }

    /// Appends the text of the body with all edits made.
    pub(crate) fn render_into(&self, edits: Edits, out: &mut Vec<u8>) {
        self.render_each(edits, &mut |document, changes| {
            if document == 0 {
                spliced_into(self.whole(document), changes, out);
            }
        });
    }

    /// The text of a document.
    pub(crate) fn whole(&self, document: usize) -> &[u8] {
        &self.documents[document].text
    }

    /// Tells what edits change in each value that stands in no string, in order, by the number of its document. Of those
    /// after the first only if something changes.
    pub(crate) fn render_each(&self, edits: Edits, tell: &mut dyn FnMut(usize, &[Change<'_>])) {
        let mut by_document: Vec<Vec<Edit>> = Vec::new();
        by_document.resize_with(self.documents.len(), Vec::new);
        for edit in edits.list {
            by_document[edit.document].push(edit);
        }
        // A document is always opened after the one that holds it, so going down moves every edit out to the body.
        while let Some(edits) = by_document.pop() {
            let document = by_document.len();
            let changes = changes(&edits);
            let Some(holder) = self.documents[document].holder else {
                if document == 0 || !changes.is_empty() {
                    tell(document, &changes);
                }
                continue;
            };
            let mut offsets = Vec::new();
            for change in &changes {
                offsets.extend([change.start, change.end]);
            }
            let raw = raw_offsets(self.inside_quotes(holder), &offsets);
            let (document, content) = (self.node(holder).document(), self.node(holder).start as usize + 1);
            for (change, raw) in changes.into_iter().zip(raw.chunks_exact(2)) {
                let mut bytes = Vec::new();
                escape_into(change.bytes, &mut bytes);
                let (start, end) = (content + raw[0], content + raw[1]);
                let edit = Edit { document, start, end, bytes, comma: 0, is_last: false, before: start };
                by_document[document].push(edit);
            }
        }
    }

    /// Notes bytes to be put in place of a range of the document that a value stands in; the last `comma` of them only
    /// separate the rest from what follows.
    pub(crate) fn put(&self, node: NodeId, range: Range<usize>, bytes: Vec<u8>, comma: usize, edits: &mut Edits) {
        let (document, Range { start, end }) = (self.node(node).document(), range);
        edits.list.push(Edit { document, start, end, bytes, comma, is_last: false, before: start });
    }

    /// A range of the document that a value stands in.
    pub(crate) fn text(&self, node: NodeId, range: Range<usize>) -> &[u8] {
        self.documents[self.node(node).document()].text.get(range).unwrap_or_default()
    }

    /// What stands between two nodes of one document.
    fn between(&self, left: Node, right: Node) -> &[u8] {
        &self.documents[left.document()].text[left.end as usize..right.start as usize]
    }

    /// Appends what separates the member with this key from the next, else from the one before. A member alone is
    /// given a comma and the white space before its key.
    fn comma_into(&self, object: NodeId, key: NodeId, out: &mut Vec<u8>) {
        let members: Vec<_> = self.pairs(object).collect();
        let at = members.iter().position(|&(other, _)| other == key).unwrap_or(0);
        // The pair of this member and the next, else of the one before and this.
        let pair = members.get(at..at + 2).or(at.checked_sub(1).and_then(|before| members.get(before..=at)));
        if let Some(&[(_, left), (right, _)]) = pair {
            return out.extend_from_slice(self.between(self.node(left), self.node(right)));
        }
        let (object, key, value) = (self.node(object), self.node(key), self.node(key + 1));
        let text = &self.documents[object.document()].text;
        match &text[object.start as usize + 1..key.start as usize] {
            [] => comma_into(has_space(self.between(key, value)), out),
            space => {
                out.push(b',');
                out.extend_from_slice(space);
            }
        }
    }

    /// What stands between key and value where the object itself is a value; `: ` where it is none.
    fn colon_around(&self, object: NodeId) -> &[u8] {
        let object = self.node(object);
        let text = &self.documents[object.document()].text[..object.start as usize];
        let space = text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        match text[..text.len() - space].last() {
            Some(b':') => &text[text.len() - space - 1..],
            _ => b": ",
        }
    }
}

/// A body with edits made that were noted for it alone.
pub(crate) fn splice_body(body: &[u8], edits: &Edits) -> Vec<u8> {
    splice(body, &changes(&edits.list))
}

/// Which of `count` members go: each candidate's key with the key of the member that it was put before (none: it was
/// the first), if it stands just there, with nothing between but others that go.
pub(crate) fn leaving(
    count: usize,
    candidates: Vec<(String, Option<String>)>,
    position: &dyn Fn(&str) -> Option<usize>,
) -> Vec<bool> {
    let mut goes = vec![false; count];
    // Each with the range of members that must go too.
    let mut standing = Vec::new();
    for (key, before) in candidates {
        let Some(at) = position(&key) else { continue };
        let between = match before.and_then(|before| position(&before)) {
            Some(before) if before <= at => continue,
            Some(before) => at..before,
            None => 0..at,
        };
        goes[at] = true;
        standing.push((at, between));
    }
    // Each that is found to stay can make another stay.
    let mut all = 0;
    while all != standing.len() {
        all = standing.len();
        standing.retain(|(at, between)| {
            goes[*at] = goes[between.clone()].iter().all(|&goes| goes);
            goes[*at]
        });
    }
    goes
}

/// A text with changes made.
pub(crate) fn splice(text: &[u8], changes: &[Change<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    spliced_into(text, changes, &mut out);
    out
}

/// Appends a text with changes made.
fn spliced_into(text: &[u8], changes: &[Change<'_>], out: &mut Vec<u8>) {
    let added: usize = changes.iter().map(|change| change.bytes.len()).sum();
    let all = text.len() + added;
    // What is the first and may be the only text gets no more room than it needs.
    if out.is_empty() {
        out.reserve_exact(all);
    }
    splice_into(text, 0..text.len(), changes, out);
}

/// Appends a part of a text with the changes made that are in it.
pub(crate) fn splice_into(text: &[u8], part: Range<usize>, changes: &[Change<'_>], out: &mut Vec<u8>) {
    let mut copied = part.start;
    for change in changes {
        if change.start >= copied && change.end <= part.end {
            out.extend_from_slice(&text[copied..change.start]);
            out.extend_from_slice(change.bytes);
            copied = change.end;
        }
    }
    out.extend_from_slice(&text[copied..part.end]);
}

/// What edits of one document change, in order; of two that overlap the first. Where the last member of an object goes,
/// so does the separator before it, which stands in the text, or ends what is put in there.
fn changes(edits: &[Edit]) -> Vec<Change<'_>> {
    let mut changes: Vec<Change<'_>> = Vec::with_capacity(edits.len());
    for edit in sorted(edits) {
        let mut change = Change { start: edit.start, end: edit.end, bytes: &edit.bytes, edit };
        if edit.is_last {
            let mut before = edit.before;
            // Members before it that go too are one with it.
            while let Some(last) =
                changes.pop_if(|last| last.end == change.start && last.start < last.end && last.bytes.is_empty())
            {
                (change.start, before) = (last.start, last.edit.before);
            }
            match changes.last_mut() {
                Some(last) if last.end == change.start && last.edit.comma > 0 => {
                    last.bytes = &last.bytes[..last.bytes.len() - last.edit.comma];
                }
                _ => change.start = before,
            }
        }
        if changes.last().is_none_or(|last| last.end <= change.start) {
            changes.push(change);
        }
    }
    changes
}

/// The edits by start; those at one place in the order in which they were asked for, what is put in before what is
/// taken out. A merge sort of a few lines: the one of the standard library is as large as the rest of this file in the
/// WebAssembly module.
fn sorted(edits: &[Edit]) -> Vec<&Edit> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    let mut width = 1;
    while width < edits.len() {
        let mut merged = Vec::with_capacity(edits.len());
        for pair in sorted.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((&l, lefts)), Some((&r, rights))) = (left.split_first(), right.split_first()) {
                if r.start < l.start || r.start == l.start && r.start == r.end && l.start < l.end {
                    merged.push(r);
                    right = rights;
                } else {
                    merged.push(l);
                    left = lefts;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        sorted = merged;
        width *= 2;
    }
    sorted
}

/// Whether a separator of key and value says that this JSON is written with spaces.
fn has_space(colon: &[u8]) -> bool {
    colon != b":"
}

fn comma_into(spaced: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if spaced { b", " } else { b"," });
}

fn member_into(write: &Write, colon: &[u8], out: &mut Vec<u8>) {
    quote_into(write.key.as_bytes(), out);
    out.extend_from_slice(colon);
    text_into(&write.text, has_space(colon), out);
}

/// Appends a text as JSON, several as a list.
pub(crate) fn text_into(text: &Text, spaced: bool, out: &mut Vec<u8>) {
    #[cfg(feature = "rollouts")]
    if text.form == Form::Json {
        return text.texts.iter().for_each(|json| out.extend_from_slice(json.as_bytes()));
    }
    if text.form == Form::Rows {
        out.push(b'[');
    }
    for (i, text) in text.texts.iter().enumerate() {
        if i > 0 {
            comma_into(spaced, out);
        }
        quote_into(text.as_bytes(), out);
    }
    if text.form == Form::Rows {
        out.push(b']');
    }
}
