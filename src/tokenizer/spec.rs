//! What a tokenizer.json says, before anything is numbered or built: the one place where a reading that differs
//! from the file (see [`Compat`](super::Compat)) can change it.

use super::buffer::Buffer;
use super::chain::Step;
use super::general;
use super::index::{Index, sketch};
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
    pub words: Contents,
    /// Unigram: a list, where two ids may share one content. Otherwise a map, where the last of equal keys counts.
    pub is_list: bool,
    /// Positions: of each content that is there twice, at least one.
    pub suspects: Vec<u32>,
    /// Whether some id is not larger than the one before.
    pub is_mixed: bool,
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

/// Whether contents can be normalized, and tokens be added in several calls: a build without the general engine need not have
/// the code for what becomes of them.
const HAS_GENERAL: bool = cfg!(feature = "general");

/// Tokens that are dealt with in one call: a wasm engine compiles a function better once it has been called often enough,
/// which it would not notice inside one long loop.
pub(super) const SOME: usize = 256;

/// One token as the decoder gets it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Word {
    pub id: u32,
    pub start: u32,
    pub len: u32,
    /// Left out by `skip_special_tokens`.
    pub special: bool,
}

fn position(list: &[Word], id: u32) -> Option<usize> {
    // Without holes the id is the position.
    if list.get(id as usize).is_some_and(|word| word.id == id) {
        return Some(id as usize);
    }
    list.binary_search_by_key(&id, |word| word.id).ok()
}

/// Tokens: while a file is read in its order, once they are numbered by ascending id, each id once.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    /// UTF-8, as the reader of the file has checked.
    pub buffer: Buffer,
    pub list: Vec<Word>,
}

impl Contents {
    /// The token of an id, once they are numbered.
    pub fn get(&self, id: u32) -> Option<Word> {
        self.list.get(position(&self.list, id)?).copied()
    }

    /// The content of a token.
    #[inline(always)]
    pub fn bytes(&self, word: Word) -> &[u8] {
        self.buffer.get(word.start as usize, word.len as usize)
    }

    /// The content of a token.
    pub fn text(&self, word: Word) -> &str {
        std::str::from_utf8(self.bytes(word)).unwrap_or_default()
    }

    /// Makes room for about as many tokens as a file of so many bytes has, of which nothing is touched before it is used.
    pub fn reserve(&mut self, bytes: usize) {
        self.list.reserve(bytes / 40);
        self.buffer.reserve(bytes / 4);
    }

    /// Id and content of each special token.
    #[inline(never)]
    pub fn special_tokens(&self) -> Vec<(u32, String)> {
        let mut special_tokens = Vec::new();
        for some in self.list.chunks(SOME) {
            self.add_special(some, &mut special_tokens);
        }
        special_tokens
    }

    #[inline(never)]
    fn add_special(&self, some: &[Word], special_tokens: &mut Vec<(u32, String)>) {
        for &word in some {
            if word.special {
                special_tokens.push((word.id, self.text(word).to_owned()));
            }
        }
    }

    /// Adds a word; whether its id is larger than that of the last one.
    pub fn push(&mut self, word: Word) -> bool {
        let ascends = self.list.last().is_none_or(|last| last.id < word.id);
        self.list.push(word);
        ascends
    }

    /// Takes out the words that are left out beside the one behind them.
    pub fn keep(&mut self, is_kept: fn(&Word, Option<&Word>) -> bool) {
        let (mut at, mut kept) = (0, 0);
        while let Some(&word) = self.list.get(at) {
            at += 1;
            if is_kept(&word, self.list.get(at))
                && let Some(place) = self.list.get_mut(kept)
            {
                *place = word;
                kept += 1;
            }
        }
        self.list.truncate(kept);
    }

    /// What is seen of a content at once.
    #[inline(never)]
    pub fn sketch(&self, word: Word) -> u64 {
        sketch(self.buffer.block(word.start as usize), word.len as usize)
    }

    /// Writes a content behind the others, for a token that is not in the list yet.
    pub fn write(&mut self, id: u32, content: &[u8]) -> Word {
        // A file of at most `MAX_BYTES` fits in 32 bits.
        let start = self.buffer.len() as u32;
        self.buffer.push(content);
        Word { id, start, len: content.len() as u32, ..Word::default() }
    }
}

impl Spec {
    /// Numbers the added tokens as the reference does when it loads the file, and takes everything out of the vocabulary.
    ///
    /// The rules, each seen in the reference: an added content that the model or an earlier entry has keeps that id;
    /// any other gets the next number from the *count* of the model's contents upward, even if the model uses that
    /// number; an empty content is passed over; a content once special stays special; a token that the normalizer
    /// changes decodes to the changed form. "Special" is a property of the decoded string, not of the id.
    pub fn number(&mut self) -> Result<Contents, Error> {
        let Vocab { mut words, is_list, suspects, mut is_mixed } = std::mem::take(&mut self.vocab);
        let forms = self.normalized_contents()?;
        let mut index = Index::new(suspects.len() + self.added.len() + forms.len(), words.list.len());
        for at in suspects {
            if let Some(&word) = words.list.get(at as usize) {
                index.key(&words, word)?;
            }
        }
        let mut keys = Vec::with_capacity(self.added.len());
        for token in &self.added {
            keys.push(index.key_of(&mut words, &token.content)?);
        }
        let mut form_keys = Vec::new();
        if HAS_GENERAL {
            for form in &forms {
                form_keys.push(index.key_of(&mut words, form)?);
            }
        }
        let before = words.list.len();
        let has_twins = index.find_all(&mut words, is_list)?;
        // What is gone may have given its id to another.
        is_mixed |= words.list.len() < before;

        let count = words.list.len() as u32;
        let (mut next, mut last_call, mut highest) = (count, 0, None);
        let mut positions = Vec::with_capacity(self.added.len());
        let mut form_keys = form_keys.iter();
        let mut changed = Vec::new();
        for (AddedToken { content, special, normalized, call, .. }, &(word, key)) in self.added.iter().zip(&keys) {
            if content.is_empty() {
                continue;
            }
            if HAS_GENERAL && *call != last_call {
                last_call = *call;
                let above = highest.filter(|&id| id >= count || count == 0);
                next = above.map_or(count, |id: u32| id.wrapping_add(1));
            }
            let form = if HAS_GENERAL && *normalized { form_keys.next() } else { None };
            let Some(place) = index.place(key) else { continue };
            let at = *place.get_or_insert(words.list.len());
            if at == words.list.len() {
                is_mixed |= !words.push(Word { id: next, ..word });
                next = next.wrapping_add(1);
            }
            positions.push(at);
            let Some(word) = words.list.get_mut(at) else { continue };
            highest = highest.max(Some(word.id));
            word.special |= special;
            if let Some(&(form, form_key)) = form.filter(|(_, form_key)| *form_key != key) {
                changed.push((Word { id: word.id, ..form }, form_key));
            }
        }
        if HAS_GENERAL {
            for (form, key) in &mut changed {
                form.special = index.is_special(&words, *key);
            }
        }
        if has_twins {
            for (at, key) in index.hits(&words)? {
                let special = index.is_special(&words, key as usize);
                if let Some(word) = words.list.get_mut(at as usize) {
                    word.special = special;
                }
            }
        }
        if is_mixed {
            // Added tokens stand last, so they win over the model's; among the model's own, the last in the file wins.
            for at in positions {
                if let Some(&word) = words.list.get(at) {
                    words.list.push(word);
                }
            }
            sort_by_id(&mut words.list);
            words.keep(|word, next| next.is_none_or(|next| next.id != word.id));
        }
        if HAS_GENERAL {
            for (form, _) in changed {
                if let Some(old) = position(&words.list, form.id).and_then(|at| words.list.get_mut(at)) {
                    *old = form;
                }
            }
        }
        Ok(words)
    }

    /// The normalizer's forms of the added tokens it applies to.
    fn normalized_contents(&self) -> Result<Vec<String>, Error> {
        let mut contents = Vec::new();
        for token in &self.added {
            if token.normalized && !token.content.is_empty() {
                contents.push(token.content.as_str());
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sort_is_stable() {
        let ids = [7, 0x0102_0304, 3, u32::MAX, 7, 0, 256, 3, 7];
        let mut list: Vec<Word> = (0..).zip(ids).map(|(start, id)| Word { id, start, ..Word::default() }).collect();
        let mut expected: Vec<(u32, u32)> = list.iter().map(|word| (word.id, word.start)).collect();
        sort_by_id(&mut list);
        expected.sort_unstable();
        assert_eq!(list.iter().map(|word| (word.id, word.start)).collect::<Vec<_>>(), expected);
    }
}
