//! Tells by the keys of a span alone that no layout finds ids in it: most spans of a body have none, and nothing else is
//! asked of those.

use super::pointer::steps;
use super::{Layout, Pointer};
use crate::view::{IN_STRING, KeySet, Kind, Tree, View, key_hash};

/// Keys of which a span has one if any layout finds ids in it: of each layout those that one of its conditions needs.
pub(crate) struct Sieve {
    keys: KeySet,
    /// Whether some layout needs no key.
    lets_all_through: bool,
}

impl Sieve {
    pub(crate) fn of(layouts: &[Layout]) -> Sieve {
        let mut hashes = Vec::new();
        // Those of what a span has as a string.
        let mut in_strings = Vec::new();
        let mut lets_all_through = false;
        let mut has_one_spelling = true;
        for layout in layouts {
            let known = hashes.len();
            let mut rarity = 0;
            for alternatives in &layout.when {
                take_rarer(&mut alternatives.iter(), known, &mut rarity, &mut hashes);
            }
            if !layout.has_hidden_elements() {
                let mut ids = layout.fields.iter().flat_map(|field| &field.ids);
                take_rarer(&mut ids, known, &mut rarity, &mut hashes);
            }
            lets_all_through |= rarity == 0;
            for pointer in layout.when.iter().flatten().chain(layout.fields.iter().flat_map(|field| &field.ids)) {
                has_one_spelling &= pointer.has_one_spelling();
                if pointer.rarest().0 == key_hash(IN_STRING) {
                    let last = steps(&pointer.text).filter(|step| !step.starts_with('!')).last();
                    in_strings.push(key_hash(last.unwrap_or_default().as_bytes()));
                }
            }
        }
        hashes.append(&mut in_strings);
        Sieve { keys: KeySet::new(hashes, has_one_spelling), lets_all_through }
    }

    /// The keys, if each layout needs one. A string may also have some inside.
    pub(crate) fn keys(&self) -> Option<&KeySet> {
        (!self.lets_all_through).then_some(&self.keys)
    }

    /// Whether a layout may find ids in a span.
    pub(crate) fn lets_through(&self, tree: &dyn Tree, view: &View) -> bool {
        if view.has_none || self.lets_all_through || !view.flattened.is_empty() {
            return !view.has_none;
        }
        let mut is_through = false;
        let places = view.places.iter().chain(&view.elsewhere).map(|(_, place)| place);
        for place in places.chain(&view.bare) {
            let mut has_any = tree.kind(place.node) == Kind::String && self.keys.has(key_hash(IN_STRING));
            let is_known = tree.keys_inside(place.node, &mut |hash| has_any |= self.keys.has(hash));
            is_through |= has_any || !is_known;
        }
        is_through
    }
}

/// Takes the keys of a condition in place of those from `known` on, if they are rarer: one of each pointer that may meet
/// it, of which the least rare counts.
fn take_rarer(pointers: &mut dyn Iterator<Item = &Pointer>, known: usize, rarity: &mut u32, hashes: &mut Vec<u32>) {
    let start = hashes.len();
    let mut least = u32::MAX;
    for pointer in pointers {
        let (hash, of_pointer) = pointer.rarest();
        hashes.push(hash);
        least = least.min(of_pointer);
    }
    if hashes.len() > start && least > *rarity {
        *rarity = least;
        hashes.drain(known..start);
    } else {
        hashes.truncate(start);
    }
}
