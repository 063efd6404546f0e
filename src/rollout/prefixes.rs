//! Which of many lists another list begins with.

use std::collections::HashMap;

/// Lists of ids, by a hash of all their ids and how many they are.
#[derive(Default)]
pub(super) struct Prefixes {
    by_hash: HashMap<u64, Vec<usize>>,
    /// A bit for each length that a list has, so that only those are looked up.
    lengths: Vec<u64>,
}

impl Prefixes {
    /// Takes in a list by its number.
    pub(super) fn insert(&mut self, ids: &[u32], number: usize) {
        let word = ids.len() / 64;
        if self.lengths.len() <= word {
            self.lengths.resize(word + 1, 0);
        }
        self.lengths[word] |= 1 << (ids.len() % 64);
        let hash = ids.iter().fold(0, |hash, &id| next(hash, id));
        self.by_hash.entry(hash).or_default().push(number);
    }

    /// Tells the numbers of the lists that the ids may begin with, shorter ones first, and of one length in the order in which
    /// they came. A hash is no proof: who is told compares.
    pub(super) fn tell(&self, ids: &[u32], tell: &mut dyn FnMut(&[usize])) {
        let mut hash = 0;
        for len in 0..=ids.len() {
            if self.lengths.get(len / 64).is_some_and(|word| word >> (len % 64) & 1 == 1)
                && let Some(numbers) = self.by_hash.get(&hash)
            {
                tell(numbers);
            }
            hash = ids.get(len).map_or(hash, |&id| next(hash, id));
        }
    }
}

/// The hash with one more id.
fn next(hash: u64, id: u32) -> u64 {
    (hash.rotate_left(5) ^ (u64::from(id) + 1)).wrapping_mul(0x517C_C1B7_2722_0A95)
}
