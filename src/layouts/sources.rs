//! The members that hold the ids of a field, for when they are to go: those the text is of, and those that say the same.

use super::Field;
use super::pointer::{is_key, steps, unescape_key};
use super::resolve::{Located, Resolver};
use crate::ids::Ids;
use crate::view::{Kind, NodeId};

/// A member that holds ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub object: NodeId,
    pub key: String,
    /// Its address; of the elements that `*` finds the same for all.
    pub path: String,
}

impl Resolver<'_> {
    /// The members that hold `ids`, which the first candidate gave; none if they are not members, as elements of a list.
    pub(super) fn sources(&mut self, field: &Field, candidates: &[Located<'_>], ids: &Ids) -> Vec<Source> {
        let mut sources = Vec::new();
        for (i, located) in candidates.iter().enumerate() {
            let says_same = i == 0 || self.joined(field, located).is_ok_and(|other| is_same(&other, ids));
            if says_same {
                let members = self.members(located);
                if i == 0 && members.is_empty() {
                    return sources;
                }
                self.copies(located, ids, &mut sources);
                sources.extend(members);
            }
        }
        sources
    }

    /// The members that a pointer found.
    fn members(&mut self, located: &Located<'_>) -> Vec<Source> {
        let mut members = Vec::new();
        let Some(key) = last_key(&located.pointer.text) else { return members };
        for found in &located.matches {
            let holder = found.holder.filter(|&holder| self.tree.kind(holder) == Kind::Object);
            let Some(object) = holder else { return Vec::new() };
            members.push(Source { object, key: key.clone(), path: located.path.clone() });
        }
        members
    }

    /// The same members in the copies of what they are in.
    fn copies(&mut self, located: &Located<'_>, ids: &Ids, sources: &mut Vec<Source>) {
        let whole = self.view.whole.as_ref();
        let Some(steps) = whole.and_then(|whole| located.path.strip_prefix(&whole.path)) else { return };
        let Some(key) = last_key(steps) else { return };
        for copy in &self.view.copies {
            let root = self.tree.open_json(copy.node);
            let found = root.and_then(|root| self.walk(root, steps).first().copied());
            let Some((node, Some(object))) = found.map(|found| (found.node, found.holder)) else { continue };
            let read = self.read(node, located.pointer, self.limits.ids_per_field);
            if read.is_ok_and(|other| is_same(&other, ids)) && self.tree.kind(object) == Kind::Object {
                sources.push(Source { object, key: key.clone(), path: format!("{}/!json{steps}", copy.path) });
            }
        }
    }
}

fn is_same(left: &Ids, right: &Ids) -> bool {
    left.ids == right.ids && left.rows == right.rows
}

/// The last key of a pointer, before what only says how the value is spelled.
fn last_key(pointer: &str) -> Option<String> {
    let last = steps(pointer).filter(|step| !step.starts_with('!')).last()?;
    is_key(last).then(|| unescape_key(last)).flatten().map(|key| key.into_owned())
}
