//! OTLP as protocol buffers. The bytes are checked once from end to end; a message becomes a node when it is looked
//! into, so that spans without ids cost no memory. Edits change the bytes they concern and the lengths around them.

mod tree;
mod values;
mod wire;

use std::borrow::Cow;
use std::ops::Range;

use super::span::{REREAD, role};
use super::{Part, span, text};
use crate::json::{Edits, Json, TOO_DEEP, splice, splice_body};
use crate::limits::{Limits, MOST_MESSAGES};
use crate::view::{KeySet, Kind, NodeId, Tree};
use crate::{Error, ErrorCode};
use wire::{BYTES, FIXED64, Field, VARINT, bytes_into, field, new_length, next, numbers};

/// The messages on the way to the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Message {
    Request,
    ResourceSpans,
    Resource,
    ScopeSpans,
    Span,
    Event,
    KeyValue,
    Value,
    Values,
    KeyValues,
    Status,
    /// What is no message: bytes that are shown as hexadecimal digits, a text, a number of eight bytes, a varint.
    Id,
    Text,
    Fixed,
    Varint,
}

/// The messages inside messages: in which, field number, what, and its name in OTLP/JSON.
const INSIDE: [(Message, u32, Message, &str); 12] = [
    (Message::Value, 5, Message::Values, ""),
    (Message::Values, 1, Message::Value, ""),
    (Message::KeyValue, 2, Message::Value, ""),
    (Message::KeyValues, 1, Message::KeyValue, ""),
    (Message::Value, 6, Message::KeyValues, ""),
    (Message::Span, 9, Message::KeyValue, "attributes"),
    (Message::Span, 11, Message::Event, "events"),
    (Message::Event, 3, Message::KeyValue, "attributes"),
    (Message::ScopeSpans, 2, Message::Span, "spans"),
    (Message::ResourceSpans, 1, Message::Resource, "resource"),
    (Message::ResourceSpans, 2, Message::ScopeSpans, "scopeSpans"),
    (Message::Resource, 1, Message::KeyValue, "attributes"),
];

/// The facts of a span: in which message, field number, what, and its name in OTLP/JSON. They are looked for only when
/// they are asked for, so that a status that is no message is no mistake of the body.
const FACTS: [(Message, u32, Message, &str); 11] = [
    (Message::Span, 1, Message::Id, "traceId"),
    (Message::Span, 2, Message::Id, "spanId"),
    (Message::Span, 4, Message::Id, "parentSpanId"),
    (Message::Span, 5, Message::Text, "name"),
    (Message::Span, 7, Message::Fixed, "startTimeUnixNano"),
    (Message::Span, 8, Message::Fixed, "endTimeUnixNano"),
    (Message::Span, 15, Message::Status, "status"),
    (Message::Status, 2, Message::Text, "message"),
    (Message::Status, 3, Message::Varint, "code"),
    (Message::Event, 1, Message::Fixed, "timeUnixNano"),
    (Message::Event, 2, Message::Text, "name"),
];

/// Where the resource spans stand in a request.
const RESOURCE_SPANS: (u32, &str) = (1, "resourceSpans");

/// The fields of a value.
const STRING: u32 = 1;
const BOOL: u32 = 2;
const INT: u32 = 3;
const DOUBLE: u32 = 4;
const VALUES: u32 = 5;
const KEY_VALUES: u32 = 6;
/// Bytes.
const LAST: u32 = 7;

/// What a node is shown as: a message itself, all its children of one kind as a list, all its attributes as an object, or
/// JSON inside a string.
const ITSELF: u32 = 0;
const LIST: u32 = 1;
const ATTRIBUTES: u32 = 2;
const JSON: u32 = 3;

/// What a field of a message holds, if that is a message too.
fn inside(message: Message, field: &Field) -> Option<Message> {
    if field.wire != BYTES {
        return None;
    }
    if message == Message::Request {
        return (field.number == RESOURCE_SPANS.0).then_some(Message::ResourceSpans);
    }
    let mut row = INSIDE.iter();
    row.find(|(outer, number, ..)| *outer == message && *number == field.number).map(|(_, _, inner, _)| *inner)
}

/// A message that was looked into.
#[derive(Clone, Copy)]
struct Node {
    message: Message,
    parent: NodeId,
    /// Where its field begins, and its content.
    at: u32,
    start: u32,
    end: u32,
    /// Its messages, in order: the first, once they were looked for, and how many.
    children: Option<(NodeId, u32)>,
    /// The JSON inside its string: a node that is shown, once it was looked for; the message itself if there is none.
    opened: Option<NodeId>,
}

/// Bytes to be put in place of others in the content of a message.
struct Change {
    message: NodeId,
    range: Range<usize>,
    bytes: Vec<u8>,
}

/// A request and the edits that were noted for it.
struct OtlpProto<'b> {
    body: &'b [u8],
    nodes: Vec<Node>,
    changes: Vec<Change>,
    /// The JSON values inside strings, and the edits in them.
    json: Json<'static>,
    edits: Edits,
    /// The documents of `json` that stand in no other, in order, each with the value whose string it is.
    holders: Vec<(usize, NodeId)>,
    /// Whether there are more messages to look into than there is room for.
    is_full: bool,
}

/// Rewrites a request.
pub(super) fn rewrite<'b>(
    body: &'b [u8],
    limits: &Limits,
    keys: Option<&KeySet>,
    edit: &mut dyn FnMut(&str, Part<'_>),
) -> Result<Cow<'b, [u8]>, Error> {
    check(body, limits.depth)?;
    let root = Node {
        message: Message::Request,
        parent: 0,
        at: 0,
        start: 0,
        end: body.len() as u32,
        children: None,
        opened: None,
    };
    let mut document = OtlpProto {
        body,
        nodes: vec![root],
        changes: Vec::new(),
        json: Json::none(limits.depth),
        edits: Edits::default(),
        holders: Vec::new(),
        is_full: false,
    };
    let views = span::views(&mut document, 0, "", keys);
    edit("", Ok((&mut document, views)));
    if document.is_full {
        let what = format!("the body has more than {MOST_MESSAGES} messages; send its spans in several bodies");
        return Err(Error::new(ErrorCode::LimitExceeded, what));
    }
    if document.changes.is_empty() && document.edits.is_empty() {
        return Ok(Cow::Borrowed(body));
    }
    text::within(document.render(), body, limits).map(Cow::Owned)
}

/// Whether a body begins as a request does: resource spans, and one of their three fields. To JSON the first byte is
/// white space.
pub(super) fn begins(body: &[u8]) -> bool {
    const LISTS: [u8; 3] = [0x0A, 0x12, 0x1A];
    let length = body.iter().skip(1).take_while(|&&byte| byte >= 0x80).count() + 1;
    body.first() == LISTS.first() && body.get(1 + length).is_some_and(|byte| LISTS.contains(byte))
}

/// Whether every field down to the last value is whole.
pub(super) fn check(body: &[u8], max_depth: usize) -> Result<(), Error> {
    let invalid = |code, what: &str, at: usize| {
        Err(Error::new(code, format!("the body is not OTLP as protocol buffers: {what} at byte {at}")))
    };
    if u32::try_from(body.len()).is_err() {
        return invalid(ErrorCode::LimitExceeded, "it has 4 GiB or more,", 0);
    }
    let mut open = vec![(Message::Request, body.len())];
    let mut at = 0;
    while let Some(&(message, end)) = open.last() {
        if at == end {
            open.pop();
            continue;
        }
        if message == Message::Values && open.len() <= max_depth {
            let behind = numbers(body, at, end, &mut |_| {});
            if behind > at {
                at = behind;
                continue;
            }
        }
        match field(body, at, end) {
            Ok(field) => match inside(message, &field) {
                Some(_) if open.len() > max_depth => return invalid(ErrorCode::LimitExceeded, TOO_DEEP, at),
                Some(inner) => {
                    open.push((inner, field.end));
                    at = field.start;
                }
                None => at = field.end,
            },
            Err(what) => return invalid(ErrorCode::InvalidBody, what, at),
        }
    }
    Ok(())
}

impl OtlpProto<'_> {
    /// Where a message begins and ends.
    fn range(&self, node: NodeId) -> (usize, usize) {
        let node = &self.nodes[node as usize];
        (node.start as usize, node.end as usize)
    }

    /// The messages in a message.
    fn children(&mut self, parent: NodeId) -> Range<NodeId> {
        let message = self.message(parent);
        let (first, count) = self.nodes[parent as usize].children.unwrap_or_else(|| {
            let first = self.nodes.len();
            let (mut at, end) = self.range(parent);
            while let Some(field) = next(self.body, &mut at, end) {
                self.is_full |= self.nodes.len() >= MOST_MESSAGES;
                if let Some(inner) = inside(message, &field).filter(|_| !self.is_full) {
                    let (at, start, end) = (field.at as u32, field.start as u32, field.end as u32);
                    self.nodes.push(Node { message: inner, parent, at, start, end, children: None, opened: None });
                }
            }
            (first as NodeId, (self.nodes.len() - first) as u32)
        });
        self.nodes[parent as usize].children = Some((first, count));
        first..first + count
    }

    /// The messages of one kind in a message, in order.
    fn of_kind(&mut self, node: NodeId, kind: Message) -> Vec<NodeId> {
        let mut found = Vec::new();
        for child in self.children(node) {
            if self.message(child) == kind {
                found.push(child);
            }
        }
        found
    }

    /// Tells all keys in a message between two places, and all strings that are values.
    fn walk(&self, message: Message, (mut at, end): (usize, usize), tell: &mut dyn FnMut(Message, &[u8])) {
        let mut open = vec![(message, end)];
        while let Some(&(message, end)) = open.last() {
            if message == Message::Values {
                at = numbers(self.body, at, end, &mut |_| {});
            }
            let Some(field) = next(self.body, &mut at, end) else {
                open.pop();
                continue;
            };
            if let Some(inner) = inside(message, &field) {
                open.push((inner, field.end));
                at = field.start;
            } else if field.number == STRING && field.wire == BYTES {
                tell(message, &self.body[field.start..field.end]);
            }
        }
    }

    /// The field of a value that counts: the last.
    fn content(&self, value: NodeId) -> Option<Field> {
        let mut content = None;
        let (mut at, end) = self.range(value);
        while let Some(field) = next(self.body, &mut at, end) {
            let wire = match field.number {
                BOOL | INT => VARINT,
                DOUBLE => FIXED64,
                STRING..=LAST => BYTES,
                _ => continue,
            };
            if field.wire == wire {
                content = Some(field);
            }
        }
        content
    }

    /// The list or the members that a value holds.
    fn container(&mut self, value: NodeId) -> Option<NodeId> {
        let start = self.content(value)?.start;
        let mut container = None;
        for child in self.children(value) {
            if self.range(child).0 == start {
                container = Some(child);
            }
        }
        container
    }

    /// The message whose key-value pairs are the members of an object.
    fn owner(&mut self, object: NodeId) -> Option<NodeId> {
        match role(object) {
            (ATTRIBUTES, owner) => Some(owner),
            (ITSELF, value) if self.kind(object) == Kind::Object && self.message(value) == Message::Value => {
                self.container(value)
            }
            _ => None,
        }
    }

    fn message(&self, node: NodeId) -> Message {
        self.nodes[node as usize].message
    }

    fn key(&self, pair: NodeId) -> &[u8] {
        self.key_between(self.range(pair))
    }

    /// The key of a pair that stands between two places.
    fn key_between(&self, (mut at, end): (usize, usize)) -> &[u8] {
        let mut key: &[u8] = &[];
        while let Some(field) = next(self.body, &mut at, end) {
            if field.number == 1 && field.wire == BYTES {
                key = &self.body[field.start..field.end];
            }
        }
        key
    }

    /// The value of a pair, if it has one.
    fn value(&mut self, pair: NodeId) -> Option<NodeId> {
        self.children(pair).next_back()
    }

    /// The last pair with a key.
    fn pair(&mut self, owner: NodeId, key: &str) -> Option<NodeId> {
        let mut found = None;
        for pair in self.of_kind(owner, Message::KeyValue) {
            if self.key(pair) == key.as_bytes() {
                found = Some(pair);
            }
        }
        found
    }

    /// Whether MLflow reads again what stands in the attributes of this span.
    fn is_reread(&mut self, owner: NodeId) -> bool {
        let mut is_reread = false;
        for pair in self.of_kind(owner, Message::KeyValue) {
            is_reread |= self.key(pair).starts_with(REREAD.as_bytes());
        }
        is_reread && self.message(owner) == Message::Span
    }

    fn change(&mut self, message: NodeId, range: Range<usize>, bytes: Vec<u8>) {
        self.changes.push(Change { message, range, bytes });
    }

    /// The body with all edits made.
    fn render(mut self) -> Vec<u8> {
        let mut texts = Vec::new();
        let edits = std::mem::take(&mut self.edits);
        if !edits.is_empty() {
            let json = &self.json;
            json.render_each(edits, &mut |document, changes| {
                texts.push((document, splice(json.whole(document), changes)));
            });
        }
        // The last comes first.
        for (document, text) in texts {
            while self.holders.last().is_some_and(|(other, _)| *other > document) {
                self.holders.pop();
            }
            let Some(&(_, value)) = self.holders.last() else { break };
            if let Some(field) = self.content(value).filter(|field| text != self.body[field.start..field.end]) {
                let mut bytes = Vec::new();
                bytes_into(STRING, &text, &mut bytes);
                self.change(value, field.at..field.end, bytes);
            }
        }
        let mut edits = Edits::default();
        let mut growth = vec![0isize; self.nodes.len()];
        for Change { message, range, bytes } in self.changes {
            growth[message as usize] += bytes.len() as isize - range.len() as isize;
            edits.put(range, bytes);
        }
        // A message always has a higher number than the one that holds it.
        for i in (1..growth.len()).rev() {
            let node = &self.nodes[i];
            if growth[i] == 0 {
                continue;
            }
            let (start, end) = (node.start as usize, node.end as usize);
            let Ok(field) = field(self.body, node.at as usize, end) else { continue };
            let length = field.after_number..start;
            let new = new_length(length.len(), end - start, (end - start).saturating_add_signed(growth[i]));
            growth[node.parent as usize] += growth[i] + new.len() as isize - length.len() as isize;
            edits.put(length, new);
        }
        splice_body(self.body, &edits)
    }
}
