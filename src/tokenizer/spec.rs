//! What a tokenizer.json says, before anything is numbered or built: the one place where a reading that differs
//! from the file (see [`Compat`](super::Compat)) can change it.

use super::chain::Step;
use super::{general, limit_exceeded};
use crate::Error;

/// A parsed tokenizer.json.
#[derive(Debug, Default)]
pub(super) struct Spec {
    /// The type of the model.
    pub model: &'static str,
    /// The model's own vocabulary.
    pub vocab: Vocab,
    /// The added tokens in file order.
    pub added: Vec<AddedToken>,
    /// The JSON text of the normalizer; `None` if there is none, or one that does nothing.
    pub normalizer: Option<String>,
    /// The JSON text of the padding, if there is one.
    pub padding: Option<String>,
    /// The decoder; `None` joins the tokens with a space.
    pub decoder: Option<Decoder>,
    /// Whether spaces are taken out of the whole text in the end, as `transformers` may.
    pub cleans_up: bool,
}

/// The declared decoder.
#[derive(Debug)]
pub(super) struct Decoder {
    /// Its steps in order, nested sequences flattened.
    pub steps: Vec<Step>,
    /// Its kinds in words, for [`TokenizerInfo`](super::TokenizerInfo).
    pub words: String,
}

/// The vocabulary of the model, in file order.
#[derive(Debug, Default)]
pub(super) struct Vocab {
    pub words: Words,
    /// Unigram: a list, where two ids may share one content. Otherwise a map, where the last of equal keys counts.
    pub is_list: bool,
}

/// One entry of `added_tokens`.
#[derive(Debug, Clone)]
pub(super) struct AddedToken {
    /// The id the file gives. The reference ignores it and numbers the tokens itself; transformers does not.
    #[cfg_attr(not(feature = "general"), expect(dead_code))]
    pub id: u32,
    /// Zero in a file. Tokens that are added to a loaded tokenizer, in one call or several, are numbered anew from
    /// the highest added id upward in each.
    pub call: u32,
    pub content: String,
    pub special: bool,
    pub normalized: bool,
}

/// One token as the decoder gets it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub id: u32,
    pub start: u32,
    pub len: u32,
    /// Left out by `skip_special_tokens`.
    pub special: bool,
}

/// Tokens with their contents in one buffer: every token that decodes, by ascending id, each id once; while a file
/// is read, in its order.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The contents.
    pub buffer: String,
    pub list: Vec<Word>,
}

impl Words {
    /// The token of an id.
    pub fn get(&self, id: u32) -> Option<Word> {
        self.list.get(self.position(id)?).copied()
    }

    fn position(&self, id: u32) -> Option<usize> {
        // Without holes the id is the position.
        if self.list.get(id as usize).is_some_and(|word| word.id == id) {
            return Some(id as usize);
        }
        self.list.binary_search_by_key(&id, |word| word.id).ok()
    }

    /// The content of a token.
    pub fn text(&self, word: Word) -> &str {
        let start = word.start as usize;
        self.buffer.get(start..start + word.len as usize).unwrap_or_default()
    }

    /// Writes a content to the buffer, for a token that is not in the list yet.
    fn write(&mut self, id: u32, content: &str, special: bool) -> Word {
        let start = self.buffer.len() as u32;
        self.buffer.push_str(content);
        Word { id, start, len: content.len() as u32, special }
    }
}

impl Spec {
    /// Numbers the added tokens as the reference does when it loads the file, and takes everything out of the vocabulary.
    ///
    /// The rules, each seen in the reference: an added content that the model or an earlier entry has keeps that id;
    /// any other gets the next number from the *count* of the model's contents upward, even if the model uses that
    /// number; an empty content is passed over; a content once special stays special; a token that the normalizer
    /// changes decodes to the changed form. "Special" is a property of the decoded string, not of the id.
    pub fn number(&mut self) -> Result<Words, Error> {
        let Vocab { mut words, is_list } = std::mem::take(&mut self.vocab);
        let mut index = Index::new(words.list.len() + self.added.len());
        let has_twins = index.fill(&mut words, is_list)?;
        let forms = self.normalized_contents()?;
        let mut forms = forms.iter();

        let count = words.list.len() as u32;
        let (mut next, mut last_call, mut highest) = (count, 0, None);
        let mut positions = Vec::with_capacity(self.added.len());
        let mut changed = Vec::new();
        for AddedToken { content, special, normalized, call, .. } in &self.added {
            if content.is_empty() {
                continue;
            }
            if *call != last_call {
                last_call = *call;
                let above = highest.filter(|&id| id >= count || count == 0);
                next = above.map_or(count, |id: u32| id.wrapping_add(1));
            }
            let form = if *normalized { forms.next() } else { None };
            let place = index.find(&words, content)?;
            let at = place.at.unwrap_or(words.list.len());
            if place.at.is_none() {
                index.set(&place, at);
                let word = words.write(next, content, false);
                words.list.push(word);
                next = next.wrapping_add(1);
            }
            positions.push(at);
            let Some(word) = words.list.get_mut(at) else { continue };
            highest = highest.max(Some(word.id));
            word.special |= special;
            if let Some(form) = form.filter(|form| *form != content) {
                changed.push((word.id, form, false));
            }
        }
        for (_, form, special) in &mut changed {
            *special = index.special(&words, form)?;
        }
        if has_twins {
            for at in 0..words.list.len() {
                let Some(&word) = words.list.get(at) else { break };
                let special = index.special(&words, words.text(word))?;
                if let Some(word) = words.list.get_mut(at) {
                    word.special = special;
                }
            }
        }
        if !words.list.is_sorted_by(|word, next| word.id < next.id) {
            // Added tokens stand last, so they win over the model's; among the model's own, the last in the file wins.
            for at in positions {
                words.list.extend(words.list.get(at).copied());
            }
            sort_by_id(&mut words.list);
            words.list.dedup_by(|next, kept| {
                let same = next.id == kept.id;
                if same {
                    *kept = *next;
                }
                same
            });
        }
        for (id, form, special) in changed {
            let word = words.write(id, form, special);
            if let Some(old) = words.position(id).and_then(|at| words.list.get_mut(at)) {
                *old = word;
            }
        }
        Ok(words)
    }

    /// The normalizer's forms of the added tokens it applies to.
    fn normalized_contents(&self) -> Result<Vec<String>, Error> {
        let affected = self.added.iter().filter(|token| token.normalized && !token.content.is_empty());
        let contents: Vec<&str> = affected.map(|token| token.content.as_str()).collect();
        match &self.normalizer {
            Some(normalizer) if !contents.is_empty() => general::normalize(normalizer, &contents),
            _ => Ok(Vec::new()),
        }
    }
}

/// Sorts by id and leaves equal ids in their order: a counting pass for each byte of the ids.
fn sort_by_id(list: &mut Vec<Word>) {
    let mut sorted = list.clone();
    for shift in [0, 8, 16, 24] {
        let digit = |word: &Word| (word.id >> shift) as u8 as usize;
        let mut places = [0_usize; 256];
        for word in list.iter() {
            places[digit(word)] += 1;
        }
        let mut sum = 0;
        for place in &mut places {
            sum += std::mem::replace(place, sum);
        }
        for word in list.iter() {
            let place = &mut places[digit(word)];
            if let Some(slot) = sorted.get_mut(*place) {
                *slot = *word;
            }
            *place += 1;
        }
        std::mem::swap(list, &mut sorted);
    }
}

/// Finds words by content: open addressing, at most half full.
struct Index {
    /// The high half is a hash, the low half a position plus one; zero is free.
    slots: Vec<u64>,
    /// How many more slots may be passed on the way to the right ones.
    patience: usize,
}

/// Where a content is in the index, or would be.
struct Place {
    slot: usize,
    hash: u64,
    /// The position of the word that has it.
    at: Option<usize>,
}

impl Index {
    /// An index for so many words.
    fn new(count: usize) -> Index {
        let size = (count * 2).next_power_of_two().max(16);
        // A word costs one or two steps; only contents that were made to collide cost so many.
        Index { slots: vec![0; size], patience: count * 32 + 1024 }
    }

    /// Indexes a vocabulary; true if it has twins. Of a map's equal keys only the last stays, at the place of the
    /// first; of a list's, the last is found.
    fn fill(&mut self, words: &mut Words, is_list: bool) -> Result<bool, Error> {
        let (mut kept, mut has_twins) = (0, false);
        for at in 0..words.list.len() {
            let Some(&word) = words.list.get(at) else { break };
            let place = self.find(words, words.text(word))?;
            if let Some(first) = place.at.filter(|_| !is_list) {
                if let Some(first) = words.list.get_mut(first) {
                    first.id = word.id;
                }
                continue;
            }
            has_twins |= place.at.is_some();
            self.set(&place, kept);
            if let Some(slot) = words.list.get_mut(kept) {
                *slot = word;
            }
            kept += 1;
        }
        words.list.truncate(kept);
        Ok(has_twins)
    }

    #[inline(never)]
    fn find(&mut self, words: &Words, content: &str) -> Result<Place, Error> {
        let mask = self.slots.len() - 1;
        let hash = hash(content.as_bytes());
        let mut slot = hash as usize & mask;
        loop {
            let value = self.slots.get(slot).copied().unwrap_or_default();
            if value == 0 {
                return Ok(Place { slot, hash, at: None });
            }
            let at = (value as u32).wrapping_sub(1) as usize;
            if value >> 32 == hash >> 32 && words.list.get(at).is_some_and(|&word| words.text(word) == content) {
                return Ok(Place { slot, hash, at: Some(at) });
            }
            if self.patience == 0 {
                return Err(limit_exceeded("the contents of the tokens were made to collide"));
            }
            self.patience -= 1;
            slot = (slot + 1) & mask;
        }
    }

    /// Puts a position at a place.
    fn set(&mut self, place: &Place, at: usize) {
        if let Some(slot) = self.slots.get_mut(place.slot) {
            *slot = place.hash & !0xffff_ffff | (at as u64 + 1);
        }
    }

    /// Whether a content is that of a special token.
    fn special(&mut self, words: &Words, content: &str) -> Result<bool, Error> {
        let at = self.find(words, content)?.at;
        Ok(at.and_then(|at| words.list.get(at)).is_some_and(|word| word.special))
    }
}

/// A quick hash, good in both halves. Packed tokenizers hold it, so to change it is to change their format.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    let mut mix = |word: u64| {
        state = (state ^ word).wrapping_mul(K);
        state ^= state >> 32;
    };
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        mix(u64::from_le_bytes(*word));
    }
    let mut last = 0;
    for &byte in tail {
        last = last << 8 | u64::from(byte);
    }
    mix(last);
    // Once more, so that the high half too depends on every byte.
    mix(0);
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocab(list: &[&str]) -> Words {
        let mut words = Words::default();
        for (id, word) in list.iter().enumerate() {
            let word = words.write(id as u32, word, false);
            words.list.push(word);
        }
        words
    }

    #[test]
    fn the_last_of_equal_contents_is_found() {
        let list = ["a", "b", "a", "", "c", "b", "a", "long enough for two words", "\u{0}", "a\u{0}"];
        for is_list in [false, true] {
            let mut words = vocab(&list);
            let mut index = Index::new(list.len());
            assert_eq!(index.fill(&mut words, is_list), Ok(is_list));
            assert_eq!(words.list.len(), if is_list { 10 } else { 7 });
            for (word, id) in [("a", 6), ("b", 5), ("c", 4), ("", 3), ("a\u{0}", 9)] {
                let at = index.find(&words, word).expect("found").at.expect("known");
                assert_eq!(words.list[at].id, id, "{word:?}");
            }
            assert!(index.find(&words, "d").expect("found").at.is_none());
        }
    }

    #[test]
    fn contents_that_collide_are_refused() {
        // All of them belong to a few places.
        let mut words = Words::default();
        let mut id = 0;
        let mut number = 0_u64;
        while id < 4000 {
            number += 1;
            let content = number.to_string();
            if hash(content.as_bytes()) & 0x3ff == 0 {
                let word = words.write(id, &content, false);
                words.list.push(word);
                id += 1;
            }
        }
        let error = Index::new(words.list.len()).fill(&mut words, false).expect_err("they collide");
        assert_eq!(error.code(), crate::ErrorCode::LimitExceeded);
    }

    #[test]
    fn the_sort_is_stable() {
        let ids = [7, 0x0102_0304, 3, u32::MAX, 7, 0, 256, 3, 7];
        let mut list: Vec<Word> =
            (0..).zip(ids).map(|(start, id)| Word { id, start, len: 0, special: false }).collect();
        let mut expected: Vec<(u32, u32)> = list.iter().map(|word| (word.id, word.start)).collect();
        sort_by_id(&mut list);
        expected.sort_unstable();
        assert_eq!(list.iter().map(|word| (word.id, word.start)).collect::<Vec<_>>(), expected);
    }
}
