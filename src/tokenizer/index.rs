//! Finds tokens by content: open addressing, at most two thirds full.

use super::limit_exceeded;
use super::spec::{Contents, SOME, Word};
use crate::Error;

/// In a slot, a position plus one has so many bits, for more tokens than a file can have; above them are bits of the
/// hash. Zero is free.
const POSITION: u32 = (1 << 23) - 1;

pub(super) struct Index {
    slots: Vec<u32>,
    /// How many more slots may be passed on the way to the right ones.
    patience: usize,
}

/// Where a content is in the index, or would be.
pub(super) struct Place {
    slot: usize,
    /// The bits of its hash that are in a slot.
    mark: u32,
    /// The position of the word that has it.
    pub at: Option<usize>,
}

impl Index {
    /// An index for so many words.
    pub fn new(count: usize) -> Index {
        let size = (count + count / 2).next_power_of_two().max(16);
        // A word costs one or two steps; only contents that were made to collide cost so many.
        Index { slots: vec![0; size], patience: count * 32 + 1024 }
    }

    /// Indexes a vocabulary; true if it has twins. Of a map's equal keys only the last stays, at the place of the
    /// first; of a list's, the last is found.
    pub fn fill(&mut self, words: &mut Contents, is_list: bool) -> Result<bool, Error> {
        let (mut at, mut kept, mut has_twins) = (0, 0, false);
        while at < words.list.len() {
            has_twins |= self.fill_some(words, is_list, at, &mut kept)?;
            at += SOME;
        }
        words.list.truncate(kept);
        Ok(has_twins)
    }

    /// Indexes some words from `start` on, and moves them to `kept`.
    #[inline(never)]
    fn fill_some(
        &mut self,
        words: &mut Contents,
        is_list: bool,
        start: usize,
        kept: &mut usize,
    ) -> Result<bool, Error> {
        let mut has_twins = false;
        for at in start..start + SOME {
            let Some(&word) = words.list.get(at) else { break };
            let place = self.find(words, word)?;
            if let Some(first) = place.at.filter(|_| !is_list) {
                if let Some(first) = words.list.get_mut(first) {
                    first.id = word.id;
                }
                continue;
            }
            has_twins |= place.at.is_some();
            self.set(&place, *kept);
            if *kept != at
                && let Some(slot) = words.list.get_mut(*kept)
            {
                *slot = word;
            }
            *kept += 1;
        }
        Ok(has_twins)
    }

    /// The place of a word's content.
    #[inline(never)]
    pub fn find(&mut self, words: &Contents, word: Word) -> Result<Place, Error> {
        let mask = self.slots.len() - 1;
        let hash = hash(words, word);
        let mut slot = hash as usize & mask;
        let mark = (hash >> 32) as u32 & !POSITION;
        loop {
            let value = self.slots.get(slot).copied().unwrap_or_default();
            if value == 0 {
                return Ok(Place { slot, mark, at: None });
            }
            if value & !POSITION == mark {
                let at = ((value & POSITION) as usize).wrapping_sub(1);
                if words.list.get(at).is_some_and(|&other| words.bytes(other) == words.bytes(word)) {
                    return Ok(Place { slot, mark, at: Some(at) });
                }
            }
            if self.patience == 0 {
                return Err(limit_exceeded("the contents of the tokens were made to collide"));
            }
            self.patience -= 1;
            slot = (slot + 1) & mask;
        }
    }

    /// Puts a position at a place.
    #[inline(always)]
    pub fn set(&mut self, place: &Place, at: usize) {
        if let Some(slot) = self.slots.get_mut(place.slot) {
            *slot = place.mark | (at as u32 + 1);
        }
    }
}

/// A quick hash, good in both halves.
#[inline(always)]
fn hash(words: &Contents, word: Word) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let (mut at, mut left) = (word.start as usize, word.len);
    let mut state = u64::from(left).wrapping_mul(K);
    while left > 8 {
        state = (state ^ words.buffer.word(at)).wrapping_mul(K);
        state ^= state >> 32;
        at += 8;
        left -= 8;
    }
    let last = words.buffer.word(at) & if left == 0 { 0 } else { u64::MAX >> (64 - 8 * left) };
    state = (state ^ last).wrapping_mul(K);
    // Once more, so that the high half too depends on every byte.
    state = (state ^ state >> 32).wrapping_mul(K);
    state ^ state >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(list: &[&str]) -> Contents {
        let mut words = Contents::default();
        for (id, content) in list.iter().enumerate() {
            let word = words.write(id as u32, content);
            words.list.push(word);
        }
        words
    }

    fn find(index: &mut Index, words: &mut Contents, content: &str) -> Option<usize> {
        let word = words.write(0, content);
        let at = index.find(words, word).expect("found").at;
        words.buffer.truncate(word.start as usize);
        at
    }

    #[test]
    fn the_last_of_equal_contents_is_found() {
        let list = ["a", "b", "a", "", "c", "b", "a", "long enough for two words", "\u{0}", "a\u{0}", "eight by"];
        for is_list in [false, true] {
            let mut words = contents(&list);
            let mut index = Index::new(list.len());
            assert_eq!(index.fill(&mut words, is_list), Ok(is_list));
            assert_eq!(words.list.len(), if is_list { 11 } else { 8 });
            for (word, id) in [("a", 6), ("b", 5), ("c", 4), ("", 3), ("a\u{0}", 9), ("eight by", 10)] {
                let at = find(&mut index, &mut words, word).expect("known");
                assert_eq!(words.list[at].id, id, "{word:?}");
            }
            assert_eq!(find(&mut index, &mut words, "d"), None);
            assert_eq!(find(&mut index, &mut words, "eight b"), None);
        }
    }

    #[test]
    fn equal_keys_are_found_wherever_they_stand() {
        // More than one call of `fill_some` has, and the same again.
        let keys: Vec<String> = (0..1000).chain(0..1000).map(|number| format!("key {}", number % 900)).collect();
        let mut words = contents(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        let mut index = Index::new(keys.len());
        assert_eq!(index.fill(&mut words, false), Ok(false));
        assert_eq!(words.list.len(), 900);
        for (at, &word) in words.list.iter().enumerate() {
            assert_eq!(words.text(word), keys[at]);
            assert_eq!(word.id as usize, keys.iter().rposition(|key| *key == keys[at]).unwrap());
        }
    }

    #[test]
    fn contents_that_collide_are_refused() {
        // All of them belong to a few places.
        let mut words = Contents::default();
        let mut number = 0_u64;
        while words.list.len() < 4000 {
            number += 1;
            let word = words.write(words.list.len() as u32, &number.to_string());
            if hash(&words, word) & 0x3ff == 0 {
                words.list.push(word);
            }
        }
        let error = Index::new(words.list.len()).fill(&mut words, false).expect_err("they collide");
        assert_eq!(error.code(), crate::ErrorCode::LimitExceeded);
    }
}
