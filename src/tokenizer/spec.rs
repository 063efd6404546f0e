//! What a tokenizer.json says, before anything is numbered or built: the one place where a reading that differs
//! from the file (see [`Compat`](super::Compat)) can change it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::chain::Step;
use super::general;
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
    /// A last change of the whole text, for readings that clean it up.
    pub clean_up: Option<fn(&str) -> String>,
}

/// The declared decoder.
#[derive(Debug)]
pub(super) struct Decoder {
    /// Its steps in order, nested sequences flattened.
    pub steps: Vec<Step>,
    /// Its kinds in words, for [`TokenizerInfo`](super::TokenizerInfo).
    pub words: String,
}

/// The vocabulary of the model, in file order, its contents in one buffer.
#[derive(Debug, Default)]
pub(super) struct Vocab {
    pub buffer: String,
    pub entries: Vec<Entry>,
    /// Unigram: a list, where two ids may share one content. Otherwise a map, where the last of equal keys counts.
    pub is_list: bool,
}

/// One token of the model.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub id: u32,
    pub start: u32,
    pub len: u32,
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

/// Every token that decodes, by ascending id, each id once.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The contents.
    pub buffer: String,
    pub list: Vec<Word>,
}

impl Words {
    /// The token of an id.
    pub fn get(&self, id: u32) -> Option<Word> {
        // Without holes the id is the position.
        let direct = usize::try_from(id).ok().and_then(|at| self.list.get(at)).filter(|word| word.id == id);
        direct.or_else(|| self.list.get(self.list.binary_search_by_key(&id, |word| word.id).ok()?)).copied()
    }

    /// The content of a token.
    pub fn text(&self, word: Word) -> &str {
        let start = word.start as usize;
        self.buffer.get(start..start + word.len as usize).unwrap_or_default()
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
        let Vocab { mut buffer, mut entries, is_list } = std::mem::take(&mut self.vocab);
        let index = Index::new(buffer.as_bytes(), &mut entries, is_list);
        let normalized = self.normalized_contents()?;

        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let (mut next, mut call) = (count, 0);
        let mut ids: HashMap<&str, u32> = HashMap::new();
        let mut contents: BTreeMap<u32, &str> = BTreeMap::new();
        let mut changed: HashMap<u32, &str> = HashMap::new();
        let mut special: HashSet<&str> = HashSet::new();
        for (at, token) in self.added.iter().enumerate() {
            if token.content.is_empty() {
                continue;
            }
            if token.call != call {
                call = token.call;
                let highest = contents.keys().next_back().filter(|&&id| id >= count || count == 0);
                next = highest.map_or(count, |id| id.wrapping_add(1));
            }
            let content = token.content.as_str();
            let known = ids.get(content).copied();
            let id = known
                .or_else(|| index.find(buffer.as_bytes(), &entries, content).map(|entry| entry.id))
                .unwrap_or_else(|| {
                    next = next.wrapping_add(1);
                    next.wrapping_sub(1)
                });
            if let Some(form) = normalized.get(&at).filter(|form| *form != content) {
                changed.insert(id, form);
            }
            ids.insert(content, id);
            contents.insert(id, content);
            if token.special {
                special.insert(content);
            }
        }

        let mut list: Vec<Word> = Vec::with_capacity(entries.len() + contents.len());
        list.extend(entries.iter().map(|&Entry { id, start, len }| Word { id, start, len, special: false }));
        for content in &special {
            if let Some(at) = index.position(buffer.as_bytes(), &entries, content) {
                // In a list, later ids may have the same content.
                let twins = index.twins.get(&at).into_iter().flatten();
                for at in twins.chain([&at]) {
                    if let Some(word) = list.get_mut(*at as usize) {
                        word.special = true;
                    }
                }
            }
        }
        for (&id, &content) in &contents {
            let text = changed.get(&id).copied().unwrap_or(content);
            let (start, len) = (buffer.len() as u32, text.len() as u32);
            buffer.push_str(text);
            list.push(Word { id, start, len, special: special.contains(text) });
        }
        // Added tokens stand last, so they win over the model's; among the model's own, the last in the file wins.
        list.sort_by_key(|word| word.id);
        list.reverse();
        list.dedup_by_key(|word| word.id);
        list.reverse();
        Ok(Words { buffer, list })
    }

    /// The normalizer's forms of the added tokens it applies to, by position.
    fn normalized_contents(&self) -> Result<HashMap<usize, String>, Error> {
        let Some(normalizer) = &self.normalizer else { return Ok(HashMap::new()) };
        let affected =
            || self.added.iter().enumerate().filter(|(_, token)| token.normalized && !token.content.is_empty());
        if affected().next().is_none() {
            return Ok(HashMap::new());
        }
        let contents: Vec<&str> = affected().map(|(_, token)| token.content.as_str()).collect();
        let forms = general::normalize(normalizer, &contents)?;
        Ok(affected().map(|(at, _)| at).zip(forms).collect())
    }
}

/// Finds the model's entries by content.
struct Index {
    /// Open addressing: the high half is a hash, the low half a position plus one; zero is empty.
    slots: Vec<u64>,
    /// Used instead when contents were made to collide: always fast enough.
    sorted: Option<BTreeMap<Box<[u8]>, u32>>,
    /// In a list, the later positions of a content by its first one.
    twins: HashMap<u32, Vec<u32>>,
}

impl Index {
    /// Indexes the entries. Of a map's equal keys only the last stays, at the place of the first.
    fn new(bytes: &[u8], entries: &mut Vec<Entry>, is_list: bool) -> Index {
        Index::with_patience(bytes, entries, is_list, 16)
    }

    /// `patience` is how many steps a content may cost on average before hashing is given up.
    fn with_patience(bytes: &[u8], entries: &mut Vec<Entry>, is_list: bool, patience: usize) -> Index {
        let size = (entries.len() * 2).next_power_of_two().max(16);
        let mut index = Index { slots: vec![0; size], sorted: None, twins: HashMap::new() };
        let mut steps = entries.len().saturating_mul(patience);
        let mut repeated = Vec::new();
        for at in 0..entries.len() {
            let Some(entry) = entries.get(at).copied() else { break };
            let content = text(bytes, entry);
            let first = match &mut index.sorted {
                None => {
                    let (first, cost) = index.insert(bytes, entries, content, at as u32);
                    steps = steps.saturating_sub(cost);
                    if steps == 0 {
                        let known = entries.iter().take(at + 1).enumerate().rev();
                        index.sorted = Some(known.map(|(at, &entry)| (text(bytes, entry).into(), at as u32)).collect());
                    }
                    first
                }
                Some(sorted) => {
                    let first = *sorted.entry(content.into()).or_insert(at as u32);
                    Some(first).filter(|&first| first != at as u32)
                }
            };
            let Some(first) = first else { continue };
            if is_list {
                index.twins.entry(first).or_default().push(at as u32);
            } else {
                repeated.push(at as u32);
                if let Some(earlier) = entries.get_mut(first as usize) {
                    earlier.id = entry.id;
                }
            }
        }
        if !repeated.is_empty() {
            let mut at = 0;
            entries.retain(|_| {
                at += 1;
                repeated.binary_search(&(at - 1)).is_err()
            });
            return Index::with_patience(bytes, entries, is_list, patience);
        }
        index
    }

    /// Inserts a position, or gives the earlier position of the same content; and how many slots were looked at.
    fn insert(&mut self, bytes: &[u8], entries: &[Entry], content: &[u8], at: u32) -> (Option<u32>, usize) {
        let mask = self.slots.len() - 1;
        let hash = hash(content);
        let mut slot = hash as usize & mask;
        for cost in 1.. {
            let Some(value) = self.slots.get_mut(slot) else { break };
            if *value == 0 {
                *value = hash & !0xffff_ffff | u64::from(at + 1);
                return (None, cost);
            }
            let other = (*value as u32).wrapping_sub(1);
            if *value >> 32 == hash >> 32
                && entries.get(other as usize).is_some_and(|&entry| text(bytes, entry) == content)
            {
                return (Some(other), cost);
            }
            slot = (slot + 1) & mask;
        }
        (None, 0)
    }

    fn position(&self, bytes: &[u8], entries: &[Entry], content: &str) -> Option<u32> {
        let content = content.as_bytes();
        if let Some(sorted) = &self.sorted {
            return sorted.get(content).copied();
        }
        let mask = self.slots.len() - 1;
        let hash = hash(content);
        let mut slot = hash as usize & mask;
        loop {
            let value = self.slots.get(slot).copied().filter(|&value| value != 0)?;
            let at = (value as u32).wrapping_sub(1);
            if value >> 32 == hash >> 32 && entries.get(at as usize).is_some_and(|&entry| text(bytes, entry) == content)
            {
                return Some(at);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The entry the reference finds for a content: in a list the last of equal ones.
    fn find(&self, bytes: &[u8], entries: &[Entry], content: &str) -> Option<Entry> {
        let first = self.position(bytes, entries, content)?;
        let last = self.twins.get(&first).and_then(|twins| twins.last()).copied().unwrap_or(first);
        entries.get(last as usize).copied()
    }
}

fn text(bytes: &[u8], entry: Entry) -> &[u8] {
    let start = entry.start as usize;
    bytes.get(start..start + entry.len as usize).unwrap_or_default()
}

/// A quick hash of a short string, good in both halves.
fn hash(bytes: &[u8]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(K);
        (product as u64) ^ (product >> 64) as u64
    };
    let (words, tail) = bytes.as_chunks::<8>();
    let state = words.iter().fold(K ^ bytes.len() as u64, |state, word| mix(state, u64::from_le_bytes(*word)));
    mix(state, tail.iter().fold(0, |word, &byte| word << 8 | u64::from(byte))).wrapping_mul(K)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocab(words: &[&str]) -> (Vec<u8>, Vec<Entry>) {
        let mut bytes = Vec::new();
        let entry = |(id, word): (usize, &&str)| {
            let start = bytes.len() as u32;
            bytes.extend_from_slice(word.as_bytes());
            Entry { id: id as u32, start, len: word.len() as u32 }
        };
        let entries = words.iter().enumerate().map(entry).collect();
        (bytes, entries)
    }

    #[test]
    fn the_index_is_the_same_with_and_without_hashing() {
        let words = ["a", "b", "a", "", "c", "b", "a", "long enough for two words", "\u{0}", "a\u{0}"];
        for is_list in [false, true] {
            // One step per content is used up at once, then all is sorted.
            for patience in [16, 1, 0] {
                let (bytes, mut entries) = vocab(&words);
                let index = Index::with_patience(&bytes, &mut entries, is_list, patience);
                assert_eq!(entries.len(), if is_list { 10 } else { 7 });
                for (word, id) in [("a", 6), ("b", 5), ("c", 4), ("", 3), ("a\u{0}", 9)] {
                    assert_eq!(
                        index.find(&bytes, &entries, word).map(|entry| entry.id),
                        Some(id),
                        "{word:?} {patience}"
                    );
                }
                assert!(index.find(&bytes, &entries, "d").is_none());
            }
        }
    }

    #[test]
    fn a_list_keeps_every_twin() {
        let (bytes, mut entries) = vocab(&["a", "b", "a", "a"]);
        let index = Index::new(&bytes, &mut entries, true);
        assert_eq!(index.twins, HashMap::from([(0, vec![2, 3])]));
    }
}
