//! Tokens by content. Which id an added token has, which of equal keys counts and what is special depend on whether
//! contents are equal: of a few hundred in a file, since a filter has told the others apart while they were read.

use super::buffer::cover;
use super::limit_exceeded;
use super::spec::{Contents, SOME, Word};
use crate::Error;

/// So many tokens at the beginning of a vocabulary are suspected unseen, so that small ones need no filter.
const FIRST: usize = 512;

/// A set of contents by two bits each: of one that it has, it says so; of another one mostly that it has not. It has so many
/// times 64 bits, a power of two, at most 2^16.
#[derive(Debug, Default)]
pub(super) struct Filter(Vec<u64>);

impl Filter {
    /// Makes room if there is none, and more words come behind so many.
    pub fn expect(&mut self, count: usize) {
        if count >= FIRST && self.0.is_empty() {
            self.0 = vec![0; 1 << 16];
        }
    }

    /// Adds a content; whether it, or others with its bits, had been added. Without room, it may have been.
    #[inline(always)]
    pub fn add(&mut self, sketch: u64) -> bool {
        let at = (sketch >> 48) as usize & self.0.len().wrapping_sub(1);
        let Some(word) = self.0.get_mut(at) else { return true };
        let bits = bits(sketch);
        let had = *word & bits == bits;
        *word |= bits;
        had
    }

    /// Adds the content of a word.
    pub fn add_word(&mut self, words: &Contents, word: Word) -> bool {
        self.add(words.sketch(word))
    }

    #[inline(always)]
    fn has(&self, sketch: u64) -> bool {
        let at = (sketch >> 48) as usize & self.0.len().wrapping_sub(1);
        let bits = bits(sketch);
        self.0.get(at).is_some_and(|word| word & bits == bits)
    }
}

#[inline(always)]
fn bits(sketch: u64) -> u64 {
    1 << (sketch >> 42 & 63) | 1 << (sketch >> 36 & 63)
}

/// What is seen of a content at once: its length and the first sixteen bytes of a block that begins with it.
#[inline(always)]
pub(super) fn sketch(block: u128, len: usize) -> u64 {
    let block = block & cover(len);
    let (first, second) = (block as u64, (block >> 64) as u64);
    let state = (first ^ second.rotate_left(29)).wrapping_add(len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (state ^ state >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// A content that matters.
struct Key {
    content: Word,
    /// The position of the word that has it.
    at: Option<usize>,
}

/// The contents that matter, by open addressing, at most two thirds full.
pub(super) struct Index {
    keys: Vec<Key>,
    slots: Vec<u32>,
    filter: Filter,
    /// How many more slots may be passed on the way to the right ones.
    patience: usize,
}

/// The length of a word that another one replaces.
const GONE: u32 = u32::MAX;

/// In a slot, a position plus one has so many bits, for more keys than a file can have; above them are bits of the hash.
/// Zero is free.
const POSITION: u32 = (1 << 24) - 1;

impl Index {
    /// An index for so many keys, to be looked up for so many words.
    pub fn new(keys: usize, words: usize) -> Index {
        let size = (keys + keys / 2).next_power_of_two().max(16);
        // A word costs one or two steps; only contents that were made to collide cost so many.
        let patience = (keys + words) * 32 + 1024;
        Index { keys: Vec::with_capacity(keys), slots: vec![0; size], filter: Filter(vec![0; 1 << 11]), patience }
    }

    /// The key of a content; one that is made if there is none, or nothing.
    #[inline(never)]
    fn find(&mut self, words: &Contents, content: Word, makes: bool) -> Result<Option<usize>, Error> {
        let bytes = words.bytes(content);
        let mask = self.slots.len() - 1;
        let hash = hash(bytes);
        let mut at = hash as usize & mask;
        let mark = (hash >> 32) as u32 & !POSITION;
        while let Some(slot) = self.slots.get_mut(at) {
            if *slot == 0 {
                if !makes {
                    break;
                }
                let key = self.keys.len();
                self.keys.push(Key { content, at: None });
                *slot = mark | (key + 1) as u32;
                self.filter.add_word(words, content);
                return Ok(Some(key));
            }
            if *slot & !POSITION == mark {
                let key = ((*slot & POSITION) as usize).wrapping_sub(1);
                if self.keys.get(key).is_some_and(|other| words.bytes(other.content) == bytes) {
                    return Ok(Some(key));
                }
            }
            if self.patience == 0 {
                return Err(limit_exceeded("the contents of the tokens were made to collide"));
            }
            self.patience -= 1;
            at = (at + 1) & mask;
        }
        Ok(None)
    }

    /// The key of a content, which is made if there is none.
    pub fn key(&mut self, words: &Contents, content: Word) -> Result<usize, Error> {
        Ok(self.find(words, content, true)?.unwrap_or_default())
    }

    /// Writes a content behind those of the words, and gives it with its key.
    pub fn key_of(&mut self, words: &mut Contents, content: &str) -> Result<(Word, usize), Error> {
        let word = words.write(0, content.as_bytes());
        Ok((word, self.key(words, word)?))
    }

    /// Where the word of a key stands, if one has it.
    pub fn place(&mut self, key: usize) -> Option<&mut Option<usize>> {
        self.keys.get_mut(key).map(|key| &mut key.at)
    }

    /// Whether a key is the content of a special token.
    pub fn is_special(&self, words: &Contents, key: usize) -> bool {
        self.keys.get(key).and_then(|key| words.list.get(key.at?)).is_some_and(|word| word.special)
    }

    /// Finds the words of all keys; true if a list has twins. Of a map's equal keys only the last stays, at the place of the
    /// first; of a list's, the last is found.
    #[inline(never)]
    pub fn find_all(&mut self, words: &mut Contents, is_list: bool) -> Result<bool, Error> {
        loop {
            let (mut has_twins, mut has_gone) = (false, false);
            for (at, key) in self.hits(words)? {
                let Some(place) = self.place(key as usize) else { continue };
                match *place {
                    Some(first) if !is_list => {
                        let again = words.list.get_mut(at as usize).map(|word| (word.id, word.len = GONE));
                        if let (Some((id, ())), Some(word)) = (again, words.list.get_mut(first)) {
                            word.id = id;
                        }
                        has_gone = true;
                    }
                    _ => has_twins |= place.replace(at as usize).is_some(),
                }
            }
            if !has_gone {
                return Ok(has_twins);
            }
            words.keep(|word, _| word.len != GONE);
            self.keys.iter_mut().for_each(|key| key.at = None);
        }
    }

    /// The words that have a key, by position, and their keys.
    #[inline(never)]
    pub fn hits(&mut self, words: &Contents) -> Result<Vec<(u32, u32)>, Error> {
        let mut hits = Vec::new();
        let mut at = 0;
        while at < words.list.len() {
            self.some_hits(words, at, &mut hits)?;
            at += SOME;
        }
        Ok(hits)
    }

    #[inline(never)]
    fn some_hits(&mut self, words: &Contents, start: usize, hits: &mut Vec<(u32, u32)>) -> Result<(), Error> {
        for at in start..start + SOME {
            let Some(&word) = words.list.get(at) else { break };
            if self.filter.has(words.sketch(word))
                && let Some(key) = self.find(words, word, false)?
            {
                hits.push((at as u32, key as u32));
            }
        }
        Ok(())
    }
}

/// A hash that is good in both halves.
fn hash(bytes: &[u8]) -> u64 {
    let mut state = bytes.len() as u64;
    for &byte in bytes {
        state = (state ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state ^= state >> 32;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(list: &[&str]) -> Contents {
        let mut words = Contents::default();
        for (id, content) in list.iter().enumerate() {
            let word = words.write(id as u32, content.as_bytes());
            words.list.push(word);
        }
        words
    }

    /// Finds equal contents as in a file of these words, and the positions of some more.
    fn fill(words: &mut Contents, is_list: bool, more: &[&str]) -> Result<(bool, Vec<Option<usize>>), Error> {
        let (mut filter, mut suspects) = (Filter::default(), Vec::new());
        for (at, &word) in words.list.iter().enumerate() {
            filter.expect(at);
            if filter.add_word(words, word) {
                suspects.push(at as u32);
            }
        }
        let mut index = Index::new(suspects.len() + more.len(), words.list.len());
        for at in suspects {
            index.key(words, words.list[at as usize])?;
        }
        let mut keys = Vec::new();
        for content in more {
            keys.push(index.key_of(words, content)?.1);
        }
        let has_twins = index.find_all(words, is_list)?;
        Ok((has_twins, keys.iter().map(|&key| index.keys[key].at).collect()))
    }

    #[test]
    fn the_last_of_equal_contents_is_found() {
        let list = ["a", "b", "a", "", "c", "b", "a", "long enough for two words", "\u{0}", "a\u{0}", "eight by"];
        let looked_up = ["a", "b", "c", "", "a\u{0}", "eight by", "d", "eight b"];
        for is_list in [false, true] {
            let mut words = contents(&list);
            let (has_twins, found) = fill(&mut words, is_list, &looked_up).expect("they do not collide");
            assert_eq!(has_twins, is_list);
            assert_eq!(words.list.len(), if is_list { 11 } else { 8 });
            let ids: Vec<Option<u32>> = found.iter().map(|at| at.map(|at| words.list[at].id)).collect();
            assert_eq!(ids, [Some(6), Some(5), Some(4), Some(3), Some(9), Some(10), None, None]);
        }
    }

    #[test]
    fn equal_keys_are_found_wherever_they_stand() {
        // More than the filter leaves out, and than one call has; short ones, and ones that differ where they are not seen at
        // once.
        for middle in ["", " of those that differ in the middle ", " of 16 by"] {
            let content = |number: usize| match number % 2 {
                0 => format!("key {number}{middle}"),
                _ => number.to_string(),
            };
            let keys: Vec<String> = (0..5000).chain(0..5000).map(|number| content(number % 4900)).collect();
            let mut words = contents(&keys.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(fill(&mut words, false, &[]), Ok((false, vec![])));
            assert_eq!(words.list.len(), 4900);
            for (at, &word) in words.list.iter().enumerate() {
                assert_eq!(words.text(word), keys[at]);
                assert_eq!(word.id as usize, keys.iter().rposition(|key| *key == keys[at]).unwrap());
            }
        }
    }

    #[test]
    fn contents_that_collide_are_refused() {
        // All of them belong to a few places.
        let mut words = Contents::default();
        let mut number = 0_u64;
        while words.list.len() < 4000 {
            number += 1;
            let word = words.write(words.list.len() as u32, format!("the same at {number} both ends of it").as_bytes());
            if hash(words.bytes(word)) & 0x3ff == 0 {
                words.list.push(word);
            }
        }
        let mut index = Index::new(words.list.len(), words.list.len());
        let all = words.list.iter().try_for_each(|&word| index.key(&words, word).map(drop));
        assert_eq!(all.expect_err("they collide").code(), crate::ErrorCode::LimitExceeded);
    }
}
