//! Reads objects that people write, as options and layouts, and says of each mistake where it is and what would
//! be right.

use super::Json;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

/// An object, the place it has for messages, and the code of its errors.
pub(crate) struct Object<'j, 't> {
    pub json: &'j mut Json<'t>,
    pub node: NodeId,
    pub place: String,
    code: ErrorCode,
}

impl<'j, 't> Object<'j, 't> {
    pub(crate) fn open(json: &'j mut Json<'t>, node: NodeId, place: &str, code: ErrorCode) -> Result<Self, Error> {
        let kind = json.kind(node);
        let object = Object { json, node, place: place.to_owned(), code };
        if kind == Kind::Object {
            Ok(object)
        } else {
            Err(object.error(format!("an object is needed, not {}", kind.name())))
        }
    }

    pub(crate) fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::new(self.code, format!("{}: {what}", self.place))
    }

    pub(crate) fn wrong<T>(&self, key: &str, needed: &str, node: NodeId) -> Result<T, Error> {
        Err(self.error(format!("`{key}` must be {needed}, not {}", self.json.kind(node).name())))
    }

    /// Refuses members that are not known: a typing mistake must not go unseen.
    pub(crate) fn done(&self, known: &[&str]) -> Result<(), Error> {
        for (key, _) in self.json.members(self.node) {
            let key = self.json.str(key).unwrap_or_default();
            if !known.contains(&key.as_str()) {
                return Err(self.error(format!("unknown member `{key}` (known: {})", known.join(", "))));
            }
        }
        Ok(())
    }

    /// A member; null counts as absent.
    pub(crate) fn member(&mut self, key: &str) -> Option<NodeId> {
        self.json.member(self.node, key).filter(|&node| self.json.kind(node) != Kind::Null)
    }

    pub(crate) fn string(&mut self, key: &str) -> Result<Option<String>, Error> {
        let Some(node) = self.member(key) else { return Ok(None) };
        match self.json.str(node) {
            Some(text) => Ok(Some(text)),
            None => self.wrong(key, "a string", node),
        }
    }

    pub(crate) fn list(&mut self, key: &str) -> Result<Option<Vec<NodeId>>, Error> {
        match self.member(key) {
            None => Ok(None),
            Some(node) if self.json.kind(node) == Kind::Array => Ok(Some(self.json.elements(node))),
            Some(node) => self.wrong(key, "a list", node),
        }
    }

    pub(crate) fn choice<T: Copy>(&mut self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>, Error> {
        let Some(text) = self.string(key)? else { return Ok(None) };
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let names: Vec<_> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
                Err(self.error(format!("`{key}` is `{text}`, must be one of {}", names.join(", "))))
            }
        }
    }

    pub(crate) fn boolean(&mut self, key: &str) -> Result<Option<bool>, Error> {
        let Some(node) = self.member(key) else { return Ok(None) };
        match self.json.raw(node) {
            b"true" => Ok(Some(true)),
            b"false" => Ok(Some(false)),
            _ => self.wrong(key, "true or false", node),
        }
    }
}
