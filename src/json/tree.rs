//! JSON as a [`Tree`]: what layouts ask of it.

use std::borrow::Cow;

use super::scan::{MOST_DOCUMENTS, Node, Tag, scan};
use super::string::unescape;
use super::values::NUMBERS;
use super::{Document, Json, NOT_JSON};
use crate::view::{KeySet, Kind, Names, NodeId, Tree, key_hash};

impl Tree for Json<'_> {
    fn kind(&self, node: NodeId) -> Kind {
        match self.node(node).tag {
            Tag::Null => Kind::Null,
            Tag::True | Tag::False => Kind::Bool,
            Tag::Number => Kind::Number,
            Tag::String | Tag::Key => Kind::String,
            Tag::Array | Tag::Numbers | Tag::Typed => Kind::Array,
            Tag::Object => Kind::Object,
        }
    }

    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        self.find_member(object, key).map(|(_, value)| value)
    }

    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8])) {
        for (key, _) in self.pairs(object) {
            tell(&unescape(self.inside_quotes(key)));
        }
    }

    fn keys_inside(&self, node: NodeId, tell: &mut dyn FnMut(u32)) -> bool {
        for inside in self.nodes_at(node) {
            match inside.tag {
                Tag::Key => tell(inside.next),
                Tag::Typed => NUMBERS.into_iter().for_each(|key| tell(key_hash(key.as_bytes()))),
                _ => {}
            }
        }
        true
    }

    fn may_have(&self, node: NodeId, keys: &KeySet, in_strings: bool) -> bool {
        for (i, inside) in self.nodes_at(node).iter().enumerate() {
            let may_have = match inside.tag {
                Tag::Key => keys.has(inside.next),
                Tag::String => in_strings && keys.may_be_in(self.raw(node + i as NodeId)),
                Tag::Typed => NUMBERS.into_iter().any(|key| keys.has(key_hash(key.as_bytes()))),
                _ => false,
            };
            if may_have {
                return true;
            }
        }
        let is_string = |value: NodeId| self.node(value).tag == Tag::String;
        !in_strings && self.pairs(node).any(|(_, value)| is_string(value) && keys.may_be_in(self.raw(value)))
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        let array = self.with_nodes(array);
        match self.node(array) {
            Node { tag: Tag::Numbers, next: count, .. } if index < count as usize => {
                self.number_nodes(array, index, 1).first().copied()
            }
            Node { tag: Tag::Array, next: end, .. } => {
                let mut element = array + 1;
                for _ in 0..index {
                    if element >= end {
                        return None;
                    }
                    element = self.after(element);
                }
                (element < end).then_some(element)
            }
            _ => None,
        }
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        match self.node(array) {
            Node { tag: Tag::Numbers, next: count, .. } => self.number_nodes(array, 0, count as usize),
            _ => {
                let array = self.with_nodes(array);
                self.nodes_in(array)
            }
        }
    }

    fn members(&mut self, object: NodeId) -> Vec<(String, NodeId)> {
        let mut members = Vec::new();
        let mut known = Names::default();
        let mut nodes: Vec<_> = self.pairs(object).collect();
        // From the last on, so that of two with one key the last counts.
        while let Some((key, value)) = nodes.pop() {
            if let Some(key) = self.str(key)
                && known.insert(&key, value).is_none()
            {
                members.push((key, value));
            }
        }
        members.reverse();
        members
    }

    fn len(&mut self, array: NodeId) -> usize {
        match self.node(array) {
            Node { tag: Tag::Numbers | Tag::Typed, next: count, .. } => count as usize,
            _ => self.elements(array).len(),
        }
    }

    fn open_json(&mut self, string: NodeId) -> Option<NodeId> {
        let name = string.to_string();
        let root = self.opened.get(&name).unwrap_or_else(|| {
            let root = self.scan_inside(string).unwrap_or(NOT_JSON);
            self.opened.insert(&name, root);
            root
        });
        (root != NOT_JSON).then_some(root)
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        Cow::Borrowed(self.raw(node))
    }
}

impl Json<'_> {
    fn scan_inside(&mut self, string: NodeId) -> Option<NodeId> {
        let content = self.string(string)?.into_owned();
        self.take_in(content, Some(string))
    }

    pub(super) fn take_in(&mut self, text: Vec<u8>, holder: Option<NodeId>) -> Option<NodeId> {
        let document = self.documents.len();
        let root = self.nodes.len() as u32;
        if document >= MOST_DOCUMENTS || scan(&text, 0, self.max_depth, &mut self.nodes).is_err() {
            self.nodes.truncate(root as usize);
            return None;
        }
        for node in &mut self.nodes[root as usize..] {
            *node = node.in_document(document);
        }
        self.documents.push(Document { text: Cow::Owned(text), holder });
        Some(root)
    }
}
