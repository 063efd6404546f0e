//! JSON whose attributes are not plain members: lists of `{"key": ..., "value": {"stringValue": ...}}`, as in OTLP/JSON
//! and in what MLflow's server gives out, or members that hold JSON in strings, as in MLflow's files. Shown as plain
//! objects and lists; texts are put in as what stands around them is spelled.

mod edit;

use std::borrow::Cow;

use super::Part;
use super::span::{self, MAX_LISTS, REREAD, ROLE_SHIFT, role, shown};
use super::text::JsonDocument;
use crate::json::{Json, number_end, short_digits, string_content};
use crate::view::{KeySet, Kind, MARK, Names, NodeId, Tree};

/// What a node is shown as: plain JSON; a part of the format (a span, and what leads to it); events, and one of them; the
/// attributes of a span or an event; a value with its type; the attributes of a span, with JSON in their strings.
const PLAIN: u32 = 0;
const PART: u32 = 1;
const EVENT: u32 = 2;
const ATTRIBUTES: u32 = 3;
const VALUE: u32 = 4;
const ENCODED: u32 = 5;

/// The types of a value in both spellings, and what it is.
const TYPES: [(&str, &str, Kind); 7] = [
    (STRING.0, STRING.1, Kind::String),
    ("boolValue", "bool_value", Kind::Bool),
    ("intValue", "int_value", Kind::Number),
    ("doubleValue", "double_value", Kind::Number),
    (ARRAY.0, ARRAY.1, Kind::Array),
    ("kvlistValue", "kvlist_value", Kind::Object),
    ("bytesValue", "bytes_value", Kind::String),
];
const STRING: (&str, &str) = ("stringValue", "string_value");
const ARRAY: (&str, &str) = ("arrayValue", "array_value");

/// What a member of a node that is no list of pairs is shown as.
fn member_role(role: u32, key: &str, kind: Kind) -> u32 {
    match (role, key) {
        (PART, "events") => EVENT,
        // A span's attributes are encoded where they are plain members.
        (PART, "attributes") if kind == Kind::Object => ENCODED,
        (PART | EVENT, "attributes") => ATTRIBUTES,
        (PART, _) => PART,
        _ => PLAIN,
    }
}

/// Whether a type's content can be a value of this kind.
fn holds(of_type: Kind, inside: Kind) -> bool {
    match of_type {
        Kind::Array => inside == Kind::Object,
        // Numbers may be spelled as strings.
        Kind::Number => inside == Kind::Number || inside == Kind::String,
        _ => inside == of_type,
    }
}

/// The root of a document.
const ROOT: NodeId = PART << ROLE_SHIFT;

/// Has a value edited. `is_reread`: MLflow reads it, and what stands in the attributes of its spans again.
pub(super) fn edit(
    document: &mut JsonDocument<'_>,
    path: &str,
    is_reread: bool,
    keys: Option<&KeySet>,
    edit: &mut dyn FnMut(&str, Part<'_>),
) {
    let is_spaced = document.json.is_spaced();
    // What MLflow's server gives out is spelled with underscores too.
    let is_snake = !is_reread || document.member(Json::ROOT, "resource_spans").is_some();
    let mut document = Typed { document, is_reread, is_snake, is_spaced, made: Vec::new() };
    let views = span::views(&mut document, ROOT, path, keys);
    edit(path, Ok((&mut document, views)));
    document.finish();
}

/// A JSON document, shown so.
struct Typed<'d, 't> {
    document: &'d mut JsonDocument<'t>,
    /// Whether MLflow reads this.
    is_reread: bool,
    /// Whether types are spelled with underscores, and whether JSON is written with spaces.
    is_snake: bool,
    is_spaced: bool,
    /// What holds lists of pairs that were made, and are still open.
    made: Vec<NodeId>,
}

impl<'d, 't> Typed<'d, 't> {
    fn stored(&self) -> &Json<'t> {
        &self.document.json
    }

    /// What a value is, and where its content is. Of several types the last counts.
    fn content(&self, value: NodeId) -> (Kind, NodeId) {
        let mut content = (Kind::Null, value);
        for (key, node) in self.stored().pairs(value) {
            let name = self.stored().string(key).unwrap_or_default();
            for (camel, snake, kind) in TYPES {
                let is_there = *name == *camel.as_bytes() || *name == *snake.as_bytes();
                if is_there && holds(kind, self.document.json.kind(node)) {
                    content = (kind, node);
                }
            }
        }
        content
    }

    /// Whether a node is shown by a list of pairs or values.
    fn is_listed(&self, node: NodeId) -> bool {
        let (role, node) = role(node);
        role == VALUE || role == ATTRIBUTES && self.document.json.kind(node) == Kind::Array
    }

    /// The list that holds the items of a value or of attributes, if it is there.
    fn list(&self, node: NodeId) -> Option<NodeId> {
        match role(node) {
            (ATTRIBUTES, list) => Some(list),
            (VALUE, value) => match self.content(value) {
                (Kind::Array | Kind::Object, content) => Some(self.stored().find_member(content, "values")?.1),
                _ => None,
            },
            _ => None,
        }
        .filter(|&list| self.document.json.kind(list) == Kind::Array)
    }

    /// The items of such a list.
    fn items(&self, node: NodeId) -> Vec<NodeId> {
        self.list(node).map_or(Vec::new(), |list| self.stored().nodes_in(list))
    }

    /// The pairs of an object that is made of them.
    fn pairs(&self, object: NodeId) -> Vec<NodeId> {
        if self.kind(object) == Kind::Object { self.items(object) } else { Vec::new() }
    }

    fn has_name(&self, pair: NodeId, wanted: &str) -> bool {
        let key = self.stored().find_member(pair, "key");
        key.is_some_and(|(_, key)| self.stored().kind(key) == Kind::String && self.stored().has_key(key, wanted))
    }

    /// The last pair with a key.
    fn pair(&self, object: NodeId, key: &str) -> Option<NodeId> {
        let mut found = None;
        for pair in self.pairs(object) {
            if self.has_name(pair, key) {
                found = Some(pair);
            }
        }
        found
    }

    /// Whether a text of ours among these attributes is a JSON string in a string.
    fn is_encoded(&self, attributes: NodeId) -> bool {
        let (role, _) = role(attributes);
        let mut is_encoded = role == ENCODED;
        if role == ATTRIBUTES && self.is_reread {
            for pair in self.pairs(attributes) {
                let key = self.stored().find_member(pair, "key").and_then(|(_, key)| self.stored().string(key));
                is_encoded |= key.is_some_and(|key| key.starts_with(REREAD.as_bytes()));
            }
        }
        is_encoded
    }

    /// Whether an event is as in MLflow's files.
    fn is_plain_event(&self, event: NodeId) -> bool {
        let attributes = self.stored().find_member(event, "attributes");
        let is_listed = attributes.is_some_and(|(_, node)| self.document.json.kind(node) == Kind::Array);
        !self.is_reread && !is_listed
    }

    fn found(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        let (role, node) = role(object);
        if self.is_listed(object) {
            let pair = self.pair(object, key)?;
            return shown(VALUE, self.document.json.member(pair, "value")?);
        }
        let member = self.document.json.member(node, key)?;
        shown(member_role(role, key, self.document.json.kind(member)), member)
    }

    /// Tells the numbers of a list that has no nodes for its items, as those of numbers alone have none.
    fn each_number<'j>(&'j self, value: NodeId, tell: &mut dyn FnMut(&'j [u8])) -> bool {
        let list = shown(VALUE, value).and_then(|value| self.list(value));
        list.is_some_and(|list| self.stored().typed_numbers(list, tell))
    }

    /// The items of a list, which are given nodes if they have none.
    fn made_items(&mut self, node: NodeId) -> Vec<NodeId> {
        let list = self.list(node);
        list.map_or(Vec::new(), |list| self.document.json.elements(list))
    }

    /// Appends a value as plain JSON, with so many lists inside each other.
    fn json_into(&self, value: NodeId, lists: usize, out: &mut Vec<u8>) {
        let (kind, content) = self.content(value);
        match kind {
            Kind::Null => out.extend_from_slice(b"null"),
            Kind::Object => out.extend_from_slice(b"{}"),
            Kind::Array if lists == 0 => out.extend_from_slice(b"[]"),
            Kind::Array => {
                out.push(b'[');
                self.each_number(value, &mut |number| {
                    if out.last() != Some(&b'[') {
                        out.push(b',');
                    }
                    out.extend_from_slice(number);
                });
                for item in shown(VALUE, value).map_or(Vec::new(), |value| self.items(value)) {
                    if out.last() != Some(&b'[') {
                        out.push(b',');
                    }
                    self.json_into(item, lists - 1, out);
                }
                out.push(b']');
            }
            Kind::Number => {
                let raw = self.stored().raw(content);
                match string_content(raw) {
                    // What is no finite number too, as Python writes it.
                    Some(digits) if number_end(&digits, 0) == Some(digits.len()) => out.extend_from_slice(&digits),
                    _ => out.extend_from_slice(raw),
                }
            }
            Kind::String | Kind::Bool => out.extend_from_slice(self.stored().raw(content)),
        }
    }
}

impl Tree for Typed<'_, '_> {
    fn kind(&self, node: NodeId) -> Kind {
        match role(node) {
            (VALUE, value) => self.content(value).0,
            (ATTRIBUTES, _) => Kind::Object,
            (_, node) => self.document.json.kind(node),
        }
    }

    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        let member = self.found(object, key)?;
        if key.starts_with(MARK) && self.is_encoded(object) {
            return self.open_json(member).or(Some(member));
        }
        Some(member)
    }

    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8])) {
        if !self.is_listed(object) {
            return self.stored().keys(role(object).1, tell);
        }
        for pair in self.pairs(object) {
            if let Some(key) = self.stored().find_member(pair, "key").and_then(|(_, key)| self.stored().string(key)) {
                tell(&key);
            }
        }
    }

    fn keys_inside(&self, node: NodeId, tell: &mut dyn FnMut(u32)) -> bool {
        let (role, node) = role(node);
        if role != PLAIN {
            self.stored().pair_keys(node, tell);
        }
        self.stored().keys_inside(node, tell)
    }

    fn may_have(&self, node: NodeId, keys: &KeySet, in_strings: bool) -> bool {
        self.stored().may_have(role(node).1, keys, in_strings)
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        match role(array) {
            (VALUE, _) => shown(VALUE, self.made_items(array).get(index).copied()?),
            (role, array) => shown(role, self.document.json.element(array, index)?),
        }
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        let (elements, role) = match role(array) {
            (VALUE, _) => (self.made_items(array), VALUE),
            (PLAIN, array) => (self.document.json.elements(array), PLAIN),
            (role, array) => (self.stored().nodes_in(array), role),
        };
        let mut all = Vec::with_capacity(elements.len());
        for node in elements {
            all.extend(shown(role, node));
        }
        all
    }

    fn members(&mut self, object: NodeId) -> Vec<(String, NodeId)> {
        let mut members = Vec::new();
        if !self.is_listed(object) {
            for (key, node) in self.document.json.members(role(object).1) {
                members.extend(shown(PLAIN, node).map(|node| (key, node)));
            }
            return members;
        }
        let mut known = Names::default();
        // From the last on, so that of two with one key the last counts.
        for pair in self.pairs(object).into_iter().rev() {
            // An empty key may be left out, as protocol buffers leave it out.
            let key = self.stored().find_member(pair, "key");
            let key = key.map_or(Some(String::new()), |(_, key)| self.stored().str(key));
            // Without a value the pair has none of a type either.
            let value = self.stored().find_member(pair, "value").map_or(pair, |(_, value)| value);
            if let (Some(key), Some(value)) = (key, shown(VALUE, value))
                && known.insert(&key, value).is_none()
            {
                members.push((key, value));
            }
        }
        members.reverse();
        members
    }

    fn holds_json(&self, object: NodeId) -> bool {
        role(object).0 == ENCODED
    }

    fn is_plain(&self, node: NodeId) -> bool {
        let (role, inside) = role(node);
        match (role, self.document.json.kind(inside)) {
            (PLAIN | PART, _) | (ATTRIBUTES, Kind::Object) => true,
            (EVENT, Kind::Array) => self.stored().nodes_in(inside).into_iter().all(|event| self.is_plain_event(event)),
            (EVENT, _) => self.is_plain_event(inside),
            _ => false,
        }
    }

    fn len(&mut self, array: NodeId) -> usize {
        match role(array) {
            (VALUE, _) => self.list(array).map_or(0, |list| self.document.json.len(list)),
            (_, array) => self.document.json.len(array),
        }
    }

    fn open_json(&mut self, string: NodeId) -> Option<NodeId> {
        let string = match role(string) {
            (VALUE, value) => self.content(value).1,
            (_, string) => string,
        };
        shown(PLAIN, self.document.json.open_json(string)?)
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        match role(node) {
            (VALUE, value) => {
                let mut json = Vec::new();
                self.json_into(value, MAX_LISTS, &mut json);
                Cow::Owned(json)
            }
            (ATTRIBUTES, _) => Cow::Borrowed(b"{}"),
            (_, node) => Cow::Borrowed(self.stored().raw(node)),
        }
    }

    fn token_ids(&mut self, array: NodeId) -> Option<Vec<u32>> {
        let (VALUE, value) = role(array) else { return None };
        let (mut ids, mut are_ids) = (Vec::new(), true);
        let is_list = self.each_number(value, &mut |number| match short_digits(number, 0) {
            Some((len, id)) if len == number.len() => ids.push(id),
            _ => are_ids = false,
        });
        (is_list && are_ids).then_some(ids)
    }

    fn may_drop(&self) -> bool {
        self.document.may_drop
    }

    fn mark(&self, object: NodeId) -> &'static str {
        if let ATTRIBUTES | ENCODED = role(object).0 { MARK } else { "" }
    }
}
