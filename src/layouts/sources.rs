//! The members that hold the ids of a field, for when they are to go: those the text is of, and those that say the same.

use super::Field;
use super::find::{Located, Match};
use super::pointer::{is_key, steps, unescape_key};
use super::resolve::Resolver;
use super::unfolded::Unfolded;
use crate::ids::Ids;
use crate::view::{Kind, NodeId, Tree as _};

/// A member that holds ids, or the same of several objects that `*` finds.
#[derive(Debug)]
pub(crate) struct Source {
    pub objects: Vec<NodeId>,
    pub key: String,
    pub path: String,
}

impl Resolver<'_> {
    /// The members that hold `ids`, which the first candidate gave; none if they are not members, as elements of a list.
    pub(super) fn sources(&mut self, field: &Field, candidates: &[Located<'_>], ids: &Ids) -> Vec<Source> {
        let mut sources = Vec::new();
        for (i, located) in candidates.iter().enumerate() {
            if i > 0 && !self.joined(field, located).is_ok_and(|other| is_same(&other, ids)) {
                continue;
            }
            self.source(&located.matches, &located.path, &mut sources);
            if sources.is_empty() {
                break;
            }
            // The same in the copies of what it is in.
            for (of, copy) in &self.view.copies {
                let steps = located.path.strip_prefix(&**of).filter(|steps| steps.starts_with('/'));
                let opened = self.find.tree.open_json(copy.node).map(|root| copy.then(root, "/!json"));
                let (Some(steps), root) = (steps, opened.as_ref().unwrap_or(copy)) else { continue };
                let found = self.find.walk(root.node, steps);
                let Some(first) = found.first() else { continue };
                let read = self.read(first.node, located.pointer, self.limits.ids_per_field);
                if read.is_ok_and(|other| is_same(&other, ids)) {
                    self.source(&found, &root.then(root.node, steps).path, &mut sources);
                }
            }
        }
        sources
    }

    /// The members that were found, if each is one of an object.
    fn source(&mut self, found: &[Match], path: &str, sources: &mut Vec<Source>) {
        let Some(key) = last_key(path) else { return };
        let mut objects = Vec::with_capacity(found.len());
        for found in found {
            match found.holder {
                Some(holder) if self.find.tree.kind(holder) == Kind::Object && !Unfolded::is_folded(holder) => {
                    objects.push(holder)
                }
                _ => return,
            }
        }
        sources.push(Source { objects, key, path: path.to_owned() });
    }
}

fn is_same(left: &Ids, right: &Ids) -> bool {
    left.ids == right.ids && left.rows == right.rows
}

/// The last key of a pointer, before what only says how the value is spelled.
fn last_key(path: &str) -> Option<String> {
    let mut last = "";
    for step in steps(path) {
        if !step.starts_with('!') {
            last = step;
        }
    }
    if !is_key(last) {
        return None;
    }
    unescape_key(last).map(|key| key.into_owned())
}
