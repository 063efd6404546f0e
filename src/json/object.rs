//! Reads objects that people write, as options and layouts, and says of the first mistake where it is and what would
//! be right.

use super::Json;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

/// The JSON text that such an object is.
pub(crate) fn parse<'t>(text: &'t [u8], place: &str, code: ErrorCode) -> Result<Json<'t>, Error> {
    Json::parse(text, 64)
        .map_err(|scan| Error::new(code, format!("{place}: not JSON: {} at byte {}", scan.what, scan.at)))
}

/// Names for a message.
pub(crate) fn listed(names: &[&str], between: &str) -> String {
    let mut list = String::new();
    for name in names {
        if !list.is_empty() {
            list.push_str(between);
        }
        list.push_str(name);
    }
    list
}

/// The object that is read, and the place it has for messages. The first mistake is kept for [`Object::finish`]; what
/// is read after it is of no use, and does no harm.
pub(crate) struct Object<'j, 't> {
    pub json: &'j mut Json<'t>,
    node: NodeId,
    pub place: String,
    code: ErrorCode,
    error: Option<Error>,
}

impl<'j, 't> Object<'j, 't> {
    pub(crate) fn open(json: &'j mut Json<'t>, node: NodeId, place: &str, code: ErrorCode) -> Self {
        let mut object = Object { json, node, place: String::new(), code, error: None };
        object.enter(node, place);
        object
    }

    /// The first mistake.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.error.map_or(Ok(()), Err)
    }

    /// Goes to an object inside; [`Object::leave`] with the answer goes back.
    pub(crate) fn enter(&mut self, node: NodeId, place: &str) -> (NodeId, usize) {
        let outer = (self.node, self.place.len());
        self.node = node;
        self.place.push_str(place);
        let kind = self.json.kind(node);
        if kind != Kind::Object {
            self.fail(&format!("an object is needed, not {}", kind.name()));
        }
        outer
    }

    pub(crate) fn leave(&mut self, (node, place_len): (NodeId, usize)) {
        self.node = node;
        self.place.truncate(place_len);
    }

    pub(crate) fn fail(&mut self, what: &str) {
        self.fail_with(Error::new(self.code, format!("{}: {what}", self.place)));
    }

    pub(crate) fn fail_with(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    pub(crate) fn wrong(&mut self, key: &str, needed: &str, node: NodeId) {
        self.fail(&format!("`{key}` must be {needed}, not {}", self.json.kind(node).name()));
    }

    /// Refuses members that are not known: a typing mistake must not go unseen.
    pub(crate) fn done(&mut self, known: &[&str]) {
        let mut unknown = None;
        for (key, _) in self.json.pairs(self.node) {
            if unknown.is_none() && !known.iter().any(|known| self.json.has_key(key, known)) {
                unknown = Some(key);
            }
        }
        if let Some(key) = unknown {
            let key = self.json.str(key).unwrap_or_default();
            self.fail(&format!("unknown member `{key}` (known: {})", listed(known, ", ")));
        }
    }

    /// A member; null counts as absent.
    pub(crate) fn member(&mut self, key: &str) -> Option<NodeId> {
        self.json.member(self.node, key).filter(|&node| self.json.kind(node) != Kind::Null)
    }

    pub(crate) fn string(&mut self, key: &str) -> Option<String> {
        let node = self.member(key)?;
        let text = self.json.str(node);
        if text.is_none() {
            self.wrong(key, "a string", node);
        }
        text
    }

    pub(crate) fn list(&mut self, key: &str) -> Option<Vec<NodeId>> {
        let node = self.member(key)?;
        if self.json.kind(node) != Kind::Array {
            self.wrong(key, "a list", node);
        }
        Some(self.json.elements(node))
    }

    /// The number of the choice that a member names.
    pub(crate) fn choice(&mut self, key: &str, choices: &[&str]) -> Option<usize> {
        let text = self.string(key)?;
        let choice = choices.iter().position(|choice| *choice == text);
        if choice.is_none() {
            self.fail(&format!("`{key}` is `{text}`, must be one of `{}`", listed(choices, "`, `")));
        }
        choice
    }

    pub(crate) fn boolean(&mut self, key: &str) -> Option<bool> {
        let node = self.member(key)?;
        match self.json.raw(node) {
            b"true" => return Some(true),
            b"false" => return Some(false),
            _ => self.wrong(key, "true or false", node),
        }
        None
    }
}
