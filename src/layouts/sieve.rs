//! Tells by the keys of a span alone that no layout finds ids in it: most spans of a body have none, and nothing else is
//! asked of those.

use super::{Layout, Pointer};
use crate::view::{IN_STRING, Kind, Tree, View, key_hash};

/// Keys of which a span has one if any layout finds ids in it: of each layout those that one of its conditions needs.
pub(crate) struct Sieve {
    /// The hashes, each in the slot of its lowest bits or in the first after it that was free: most slots are. Zero stands
    /// for a free one.
    slots: Vec<u32>,
    /// Whether some layout needs no key.
    lets_all_through: bool,
}

impl Sieve {
    pub(crate) fn of(layouts: &[Layout]) -> Sieve {
        let mut hashes = Vec::new();
        let mut lets_all_through = false;
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
        }
        let mut sieve = Sieve { slots: vec![0; (hashes.len() * 8 + 8).next_power_of_two()], lets_all_through };
        for hash in hashes {
            let slot = sieve.slot(hash);
            sieve.slots[slot] = hash;
        }
        sieve
    }

    /// Whether a layout may find ids in a span.
    pub(crate) fn lets_through(&self, tree: &dyn Tree, view: &View) -> bool {
        if self.lets_all_through || !view.flattened.is_empty() {
            return true;
        }
        let mut is_through = false;
        let places = view.places.iter().chain(&view.elsewhere).map(|(_, place)| place);
        for place in places.chain(&view.bare) {
            let mut has_any = tree.kind(place.node) == Kind::String && self.has(key_hash(IN_STRING));
            let is_known = tree.keys_inside(place.node, &mut |hash| has_any |= self.has(hash));
            is_through |= has_any || !is_known;
        }
        is_through
    }

    #[inline(always)]
    fn has(&self, hash: u32) -> bool {
        self.slots.get(self.slot(hash)).is_some_and(|&there| there == hash)
    }

    /// Where a hash stands or would stand.
    #[inline(always)]
    fn slot(&self, hash: u32) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = hash as usize & last;
        while self.slots[slot] != 0 && self.slots[slot] != hash {
            slot = (slot + 1) & last;
        }
        slot
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
