//! The vocabulary of a model as it stands in the file: most of what is kept of it, so the usual member has a way of its
//! own.

use super::index::Filter;
use super::json::Reader;
use super::spec::{SOME, Vocab};
use super::usual::{self, Usual};
use super::{invalid, limit_exceeded, quoted};
use crate::Error;
use crate::json::lossy;

/// The most tokens a model may have; the largest vocabularies in use have a quarter of it.
const MAX_TOKENS: usize = 1 << 22;

/// What reading a vocabulary makes use of, and keeps for the next one.
#[derive(Debug, Default)]
pub(super) struct AtHand {
    filter: Filter,
    usual: Usual,
    /// A content on the way.
    content: Vec<u8>,
}

/// Reads some entries; false at the end, which is taken.
#[inline(never)]
pub(super) fn read_some(reader: &mut Reader<'_>, vocab: &mut Vocab, at_hand: &mut AtHand) -> Result<bool, Error> {
    at_hand.filter.expect(vocab.words.list.len());
    let read = if vocab.is_list { list_entries } else { map_entries };
    let goes_on = read(reader, vocab, at_hand);
    if vocab.words.list.len() > MAX_TOKENS {
        return Err(limit_exceeded("model.vocab: more than 4194304 tokens"));
    }
    goes_on
}

impl Vocab {
    /// Adds a token.
    fn push(&mut self, id: u32, content: &[u8], filter: &mut Filter) {
        let word = self.words.write(id, content);
        if filter.add_word(&self.words, word) {
            self.suspects.push(self.words.list.len() as u32);
        }
        self.is_mixed |= !self.words.push(word);
    }
}

fn map_entries(reader: &mut Reader<'_>, vocab: &mut Vocab, at_hand: &mut AtHand) -> Result<bool, Error> {
    let AtHand { filter, usual, content } = at_hand;
    usual::read(reader, vocab, usual, filter);
    let Some(id) = map_entry(reader, vocab.words.list.is_empty(), content)? else { return Ok(false) };
    if !reader.starved() {
        vocab.push(id, content, filter);
        reader.commit();
    }
    Ok(true)
}

/// Any other entry: its id, and its content; nothing at the end of the map.
#[inline(never)]
fn map_entry(reader: &mut Reader<'_>, mut is_first: bool, content: &mut Vec<u8>) -> Result<Option<u32>, Error> {
    if !reader.element(&mut is_first, b'}')? {
        return Ok(None);
    }
    content.clear();
    reader.string_into(content)?;
    reader.expect(b':')?;
    let id = reader.id();
    if id.is_none() {
        // A file that was cut here should be called cut.
        reader.scalar_or_open()?;
        let content = lossy(std::mem::take(content));
        return Err(invalid(&["model.vocab: ", &quoted(&content), " has no id below 2^32"]));
    }
    Ok(id)
}

#[inline(never)]
fn list_entries(reader: &mut Reader<'_>, vocab: &mut Vocab, at_hand: &mut AtHand) -> Result<bool, Error> {
    let AtHand { filter, content, .. } = at_hand;
    for _ in 0..SOME {
        let at = vocab.words.list.len();
        if !reader.element(&mut (at == 0), b']')? {
            return Ok(false);
        }
        if !list_entry(reader, content)? {
            return Err(invalid(&["model.vocab[", &at.to_string(), "]: expected a token and its score"]));
        }
        vocab.push(at as u32, content, filter);
        reader.commit();
    }
    Ok(true)
}

/// Reads `["content", -1.5]`; false if something else stands there.
fn list_entry(reader: &mut Reader<'_>, content: &mut Vec<u8>) -> Result<bool, Error> {
    content.clear();
    if !reader.take(b'[') || reader.peek() != Some(b'"') {
        return Ok(false);
    }
    reader.string_into(content)?;
    reader.expect(b',')?;
    if !matches!(reader.peek(), Some(b'-' | b'0'..=b'9')) {
        return Ok(false);
    }
    reader.number()?;
    Ok(reader.take(b']'))
}
