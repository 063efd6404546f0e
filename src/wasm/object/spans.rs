//! OTLP requests and MLflow's traces as JavaScript objects, shown as `formats::typed` shows them in JSON text: attributes
//! that are lists of pairs, or that hold JSON in strings, as plain objects; texts are written as what is around them.

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use super::{Copies, JsTree, Node, define, get, is_list, list_len, stringify};
use crate::formats::span::REREAD;
use crate::formats::typed::{ARRAY, ATTRIBUTES, ENCODED, PART, PLAIN, STRING, TYPES, VALUE, holds, member_role};
use crate::json::{number_end, text_into};
use crate::view::{Kind, Names, NodeId, Text, Tree, Write};

/// Shown as what [`formats::typed`](crate::formats::typed) knows, and as two more: a list of pairs that is an object, and
/// a number that is spelled as a string.
pub(super) const PAIRS: u32 = 6;
pub(super) const DIGITS: u32 = 7;

/// The keys of the pairs of a list; what has none is undefined.
pub(super) type Keys = Option<Array>;

impl JsTree {
    /// The spans of OTLP or MLflow. `is_reread`: MLflow reads it, and what stands in the attributes of its spans again.
    pub(in crate::wasm) fn of_spans(value: JsValue, max_depth: usize, is_reread: bool) -> JsTree {
        // What MLflow's server gives out is spelled with underscores too.
        let is_snake = !is_reread || !get(&value, "resource_spans").is_undefined();
        let mut tree = JsTree::new(value, max_depth);
        (tree.is_reread, tree.is_snake) = (is_reread, is_snake);
        tree.show(JsTree::ROOT, PART);
        tree
    }

    /// Has a node shown as something.
    pub(super) fn show(&mut self, node: NodeId, as_role: u32) -> NodeId {
        let Node::Js { value, role, keys, .. } = &mut self.nodes[node as usize] else { return node };
        *role = as_role;
        if keys.is_none() && (as_role == PAIRS || as_role == ATTRIBUTES && is_list(value)) {
            let all = Array::new();
            for index in 0..list_len(value) {
                all.push(&get(&get(value, &index.to_string()), "key"));
            }
            *keys = Some(all);
        }
        node
    }

    pub(super) fn role(&self, node: NodeId) -> u32 {
        match &self.nodes[node as usize] {
            Node::Js { role, .. } => *role,
            Node::Inner { .. } => PLAIN,
        }
    }

    /// The keys of the pairs, if the node is an object that is a list of them.
    pub(super) fn keys_of_pairs(&self, node: NodeId) -> Keys {
        match &self.nodes[node as usize] {
            Node::Js { keys, .. } => keys.clone(),
            Node::Inner { .. } => None,
        }
    }

    /// The value of the last pair with a key.
    pub(super) fn paired(&mut self, list: NodeId, keys: &Array, key: &str) -> Option<NodeId> {
        let index = position(keys, key)?;
        let pair = self.stored_element(list, index)?;
        let value = self.member(pair, "value")?;
        Some(self.content(value))
    }

    /// A member of what is no list of pairs, shown as what it is.
    pub(super) fn shown_member(&mut self, object: NodeId, key: &str, member: NodeId) -> NodeId {
        let role = member_role(self.role(object), key, self.kind(member));
        if role == PLAIN { member } else { self.show(member, role) }
    }

    /// What a value with its type holds.
    pub(super) fn content(&mut self, value: NodeId) -> NodeId {
        let mut content = None;
        for (name, node) in self.members(value) {
            let inside = self.kind(node);
            for (camel, snake, kind) in TYPES {
                if (name == camel || name == snake) && holds(kind, inside) {
                    content = Some((kind, node));
                }
            }
        }
        match content {
            Some((kind @ (Kind::Array | Kind::Object), node)) => {
                let there = self.member(node, "values");
                let list = there.unwrap_or_else(|| self.push_child(node, "values", Array::new().into()));
                if let Node::Js { value, .. } = &mut self.nodes[list as usize]
                    && !is_list(value)
                {
                    *value = Array::new().into();
                }
                self.show(list, if kind == Kind::Array { VALUE } else { PAIRS })
            }
            Some((Kind::Number, node)) if self.kind(node) == Kind::String => self.show(node, DIGITS),
            Some((_, node)) => node,
            None => self.push_child(value, "", JsValue::NULL),
        }
    }

    /// Whether a text of ours among these attributes is a JSON string in a string.
    pub(super) fn is_encoded(&self, attributes: NodeId) -> bool {
        match self.role(attributes) {
            ENCODED => true,
            ATTRIBUTES if self.is_reread => {
                let mut is_encoded = false;
                self.keys(attributes, &mut |key| is_encoded |= key.starts_with(REREAD.as_bytes()));
                is_encoded
            }
            _ => false,
        }
    }

    /// Appends a list of values as plain JSON, with so many lists inside each other.
    pub(super) fn json_into(&mut self, node: NodeId, lists: usize, out: &mut Vec<u8>) {
        match (self.role(node), &self.nodes[node as usize]) {
            (VALUE, _) => {
                out.push(b'[');
                let values = if lists > 0 { self.elements(node) } else { Vec::new() };
                for (i, value) in values.into_iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    self.json_into(value, lists - 1, out);
                }
                out.push(b']');
            }
            (PAIRS | ATTRIBUTES, _) => out.extend_from_slice(b"{}"),
            (role, Node::Js { value, .. }) => {
                let digits = value
                    .as_string()
                    .filter(|text| role == DIGITS && number_end(text.as_bytes(), 0) == Some(text.len()));
                out.extend_from_slice(digits.unwrap_or_else(|| stringify(value)).as_bytes());
            }
            _ => {}
        }
    }
}

/// Where the last pair with a key is.
fn position(keys: &Array, wanted: &str) -> Option<usize> {
    usize::try_from(keys.last_index_of(&wanted.into(), -1)).ok()
}

/// What becomes of one list of pairs: at an index a pair that is put before the one there, or none if that goes.
type Changes = Vec<(usize, Option<JsValue>)>;

/// What becomes of lists of pairs, each list once.
#[derive(Default)]
pub(super) struct Pairs {
    lists: Vec<(NodeId, Changes)>,
    by_node: Names,
}

impl Pairs {
    fn change(&mut self, list: NodeId, index: usize, new: Option<JsValue>) {
        let next = self.lists.len() as NodeId;
        let at = self.by_node.insert(&list.to_string(), next).unwrap_or(next);
        if at == next {
            self.lists.push((list, Vec::new()));
        }
        self.lists[at as usize].1.push((index, new));
    }
}

impl Copies<'_> {
    /// Writes a text into an object, which may be a list of pairs, or hold texts as JSON in strings.
    pub(super) fn write_to_span(&mut self, write: &Write) {
        let object = write.object;
        let mut write = write.clone();
        let is_string = self.tree.role(object) == ENCODED || !write.text.in_rows;
        if is_string && !write.drops() && self.tree.is_encoded(object) {
            let mut json = Vec::new();
            text_into(&write.text, true, &mut json);
            write.text = Text { texts: vec![String::from_utf8(json).unwrap_or_default()], in_rows: false };
        }
        let Some(keys) = self.tree.keys_of_pairs(object) else { return self.write_member(&write) };
        let list = self.copy(object);
        if write.drops() {
            for index in 0..keys.length() {
                if keys.get(index) == write.key.as_str() {
                    self.pairs.change(object, index as usize, None);
                }
            }
            return;
        }
        let value = self.typed(&write.text);
        if let Some(index) = position(&keys, &write.key) {
            // What is there was looked at.
            let index = index.to_string();
            let pair = self.tree.children.get(&format!("{object}/{index}")).map(|pair| self.copy(pair));
            define(&pair.unwrap_or_else(|| get(&list, &index)), &"value".into(), &value);
        } else {
            let index = write.before.as_ref().and_then(|before| position(&keys, before)).unwrap_or(0);
            let pair = object_of("key", &write.key.as_str().into());
            define(&pair, &"value".into(), &value);
            self.pairs.change(object, index, Some(pair));
        }
    }

    /// A text as a value with its type.
    fn typed(&self, text: &Text) -> JsValue {
        let name = |(camel, snake): (&'static str, &'static str)| if self.tree.is_snake { snake } else { camel };
        let values = Array::new();
        for text in &text.texts {
            values.push(&object_of(name(STRING), &text.as_str().into()));
        }
        if text.in_rows { object_of(name(ARRAY), &object_of("values", &values)) } else { values.get(0) }
    }

    /// Puts pairs in and takes pairs out. It comes last: copies of pairs and of what is in them go to their old places.
    pub(super) fn change_pairs(&mut self) {
        for (list, changes) in std::mem::take(&mut self.pairs.lists) {
            let copy = self.copy(list);
            let list: &Array = copy.unchecked_ref();
            let old = list.slice(0, u32::MAX);
            list.set_length(0);
            for index in 0..=old.length() {
                let mut goes = index == old.length();
                for (at, new) in &changes {
                    if *at == index as usize {
                        match new {
                            Some(pair) => drop(list.push(pair)),
                            None => goes = true,
                        }
                    }
                }
                if !goes {
                    list.push(&old.get(index));
                }
            }
        }
    }
}

fn object_of(key: &str, value: &JsValue) -> JsValue {
    let object: JsValue = Object::new().into();
    define(&object, &key.into(), value);
    object
}
