//! What says something of ids: masks, log-probabilities, lengths.

use std::hint::black_box;

use super::{Found, Resolver};
use crate::json::items;
use crate::layouts::find::{Element, Located};
use crate::layouts::select::is_one;
#[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
use crate::layouts::unfolded::Unfolded;
use crate::layouts::{Field, Pointer};
use crate::report::Warning;
#[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
use crate::view::NodeId;
use crate::view::{Tree, json_into};

/// What is asked for besides the ids and the place of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    Nothing,
    /// The members that hold the ids.
    Sources,
    /// The mask and the log-probabilities.
    Lists(TakeLists),
}

/// The mask and the log-probabilities as JSON, if they are there.
pub(super) type Lists = [Option<Vec<u8>>; 2];

/// What takes the lists of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakeLists(pub(super) fn(&mut Resolver<'_>, &Field, Element<'_>) -> Lists);

impl Wanted {
    /// With the mask and the log-probabilities. The compiler is kept from seeing what takes them: it would put that into
    /// [`resolve`], and so into the WebAssembly modules that never ask for them.
    pub(crate) fn lists() -> Wanted {
        Wanted::Lists(black_box(TakeLists(|resolver, field, element| resolver.lists(field, element))))
    }
}

impl Resolver<'_> {
    /// The mask and the log-probabilities of a field; of what `*` finds, the items of all as one list.
    fn lists(&mut self, field: &Field, element: Element<'_>) -> Lists {
        [self.list(&field.mask, element), self.list(&field.logprobs, element)]
    }

    /// Where the ids, which were found, and the log-probabilities of one element stand, if lists were asked for.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub(super) fn nodes(
        &mut self,
        field: &Field,
        element: Option<Element<'_>>,
        located: &Located<'_>,
    ) -> [Option<NodeId>; 2] {
        let node = |located: &Located<'_>| {
            let node = located.matches[0].node;
            (!located.pointer.is_every() && !Unfolded::is_folded(node)).then_some(node)
        };
        let Some(element) = element.filter(|_| matches!(self.wanted, Wanted::Lists(_))) else { return [None, None] };
        let logprobs = field.logprobs.as_ref().and_then(|pointer| self.beside(element, pointer));
        [node(located), logprobs.as_ref().and_then(node)]
    }

    fn list(&mut self, pointer: &Option<Pointer>, element: Element<'_>) -> Option<Vec<u8>> {
        let pointer = pointer.as_ref()?;
        let located = self.beside(element, pointer)?;
        let mut json = Vec::new();
        if !pointer.is_every() {
            json_into(&mut self.find.tree, located.matches[0].node, &mut json);
            return Some(json);
        }
        json.push(b'[');
        for node in self.find.all(&located) {
            let start = json.len();
            if start > 1 {
                json.push(b',');
            }
            let mut one = Vec::new();
            json_into(&mut self.find.tree, node, &mut one);
            match one.strip_prefix(b"[").and_then(|one| one.strip_suffix(b"]")) {
                Some(items) if items.trim_ascii().is_empty() => json.truncate(start),
                Some(items) => json.extend_from_slice(items),
                None => json.extend_from_slice(&one),
            }
        }
        json.push(b']');
        Some(json)
    }

    /// What says something of ids, a mask as much as a length: as JSON in a string too, once or twice, as the ids may be.
    pub(super) fn beside<'p>(&mut self, element: Element<'_>, pointer: &'p Pointer) -> Option<Located<'p>> {
        let mut located = self.find.locate(element, pointer)?;
        for found in &mut located.matches {
            for _ in 0..2 {
                found.node = self.find.tree.open_json(found.node).unwrap_or(found.node);
            }
        }
        Some(located)
    }

    /// Reports a mask or log-probabilities that are not as long as the ids, all or selected. Log-probabilities may also
    /// be there for those ids only that the mask has.
    pub(super) fn check_lengths(
        &mut self,
        field: &Field,
        element: Element<'_>,
        mut lengths: [usize; 3],
        found: &mut Found,
    ) {
        let all = lengths[0];
        for (name, pointer) in [("mask", &field.mask), ("logprobs", &field.logprobs)] {
            let Some(located) = pointer.as_ref().and_then(|pointer| self.beside(element, pointer)) else { continue };
            let len = self.find.count(&located);
            if !lengths.contains(&len) {
                let message = format!("the {name} has {len} items, the ids are {all}");
                found.warnings.push(Warning { code: "odd_length", message, path: located.path });
            } else if name == "mask" && len == all {
                let json = self.find.tree.json(located.matches[0].node);
                let mut ones = 0;
                for item in items(&json) {
                    ones += usize::from(is_one(item));
                }
                lengths[2] = ones;
            }
        }
    }
}
