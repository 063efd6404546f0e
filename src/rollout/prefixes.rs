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
    /// Takes in a list by its number and its hash.
    pub(super) fn insert(&mut self, len: usize, hash: Hash, number: usize) {
        let word = len / 64;
        if self.lengths.len() <= word {
            self.lengths.resize(word + 1, 0);
        }
        self.lengths[word] |= 1 << (len % 64);
        self.by_hash.entry(hash.0).or_default().push(number);
    }

    /// Tells the numbers of the lists that the ids may begin with, shorter ones first, and of one length in the order in which
    /// they came. A hash is no proof: who is told compares. The hash of the ids.
    pub(super) fn tell(&self, ids: &[u32], tell: &mut dyn FnMut(&[usize])) -> Hash {
        let (mut hash, mut at) = (Hash::default(), 0);
        for (word, &lengths) in self.lengths.iter().enumerate() {
            let mut longer = lengths;
            while longer != 0 {
                let len = word * 64 + longer.trailing_zeros() as usize;
                longer &= longer - 1;
                let Some(more) = ids.get(at..len) else { return hash.then(&ids[at..]) };
                (hash, at) = (hash.then(more), len);
                if let Some(numbers) = self.by_hash.get(&hash.0) {
                    tell(numbers);
                }
            }
        }
        hash.then(&ids[at..])
    }
}

/// A hash of a list of ids: a polynomial of them, so that several are taken in a step and the list can be cut anywhere.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hash(u64);

/// Where the polynomial is evaluated: an odd number without a pattern.
const POINT: u64 = 0x517C_C1B7_2722_0A95;
const SQUARE: u64 = POINT.wrapping_mul(POINT);
const CUBE: u64 = SQUARE.wrapping_mul(POINT);

impl Hash {
    /// That of a list with more ids behind it.
    pub(super) fn then(self, ids: &[u32]) -> Hash {
        // No id is nothing.
        let term = |id: u32, power: u64| (u64::from(id) + 1).wrapping_mul(power);
        let (fours, rest) = ids.as_chunks();
        let hash = fours.iter().fold(self.0, |hash: u64, &[a, b, c, d]| {
            let four =
                term(a, CUBE).wrapping_add(term(b, SQUARE)).wrapping_add(term(c, POINT)).wrapping_add(term(d, 1));
            hash.wrapping_mul(CUBE.wrapping_mul(POINT)).wrapping_add(four)
        });
        Hash(rest.iter().fold(hash, |hash, &id| hash.wrapping_mul(POINT).wrapping_add(term(id, 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_does_not_depend_on_where_a_list_is_cut() {
        let ids: Vec<u32> = (0..19).map(|id| id * id * 1_000_003).collect();
        let whole = Hash::default().then(&ids).0;
        for cut in 0..=ids.len() {
            assert_eq!(Hash::default().then(&ids[..cut]).then(&ids[cut..]).0, whole);
            assert_ne!(Hash::default().then(&ids[..cut]).0, Hash::default().then(&[&ids[..cut], &[0]].concat()).0);
        }
    }
}
