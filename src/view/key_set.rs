//! A few keys of which a value has one or none.

use super::key_hash_in;
use crate::json::any_behind_quote;

/// Keys by their hashes: that one of them is there may be wrong, that none is there is right.
pub(crate) struct KeySet {
    /// The hashes, each in the slot of its lowest bits or in the first after it that was free: most slots are. Zero stands
    /// for a free one, and one for both.
    slots: Vec<u32>,
    /// Whether [`KeySet::may_be_in`] can tell.
    has_one_spelling: bool,
}

impl KeySet {
    /// `has_one_spelling`: all keys are printable ASCII without quotes, backslashes and slashes, and stand in double quotes
    /// where they stand in a text.
    pub(crate) fn new(hashes: Vec<u32>, has_one_spelling: bool) -> KeySet {
        let mut keys = KeySet { slots: vec![0; (hashes.len() * 8 + 8).next_power_of_two()], has_one_spelling };
        for hash in hashes {
            let slot = keys.slot(hash);
            keys.slots[slot] = hash.max(1);
        }
        keys
    }

    #[inline(always)]
    pub(crate) fn has(&self, hash: u32) -> bool {
        self.slots.get(self.slot(hash)).is_some_and(|&there| there == hash.max(1))
    }

    /// Where a hash stands or would stand.
    #[inline(always)]
    fn slot(&self, hash: u32) -> usize {
        let last = self.slots.len() - 1;
        let mut slot = hash as usize & last;
        while self.slots[slot] != 0 && self.slots[slot] != hash.max(1) {
            slot = (slot + 1) & last;
        }
        slot
    }

    /// Whether JSON text, or JSON in its strings to any depth, may have one of the keys: told without reading it. However
    /// often a text is escaped, a key in it stands between a quote and a backslash or a quote, unless one of its characters
    /// is spelled by its number (`\u0070`).
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        !self.has_one_spelling || any_behind_quote(text, |start, end| self.has(key_hash_in(text, start, end)))
    }
}
