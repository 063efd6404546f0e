//! The vocabulary of a model as it stands in the file: most of what is kept of it, so the usual member has a way of its
//! own. Both kinds are read in calls of some entries each, since a wasm engine compiles a function better once it has
//! been called often enough, which it would not notice inside one long loop.

use super::json::Reader;
use super::spec::{Vocab, Word};
use super::{invalid, limit_exceeded, quoted};
use crate::Error;

/// The most tokens a model may have; the largest vocabularies in use have a quarter of it.
const MAX_TOKENS: usize = 1 << 22;

/// Entries of one call.
const SOME: usize = 256;

/// Reads some entries; false at the end, which is taken.
pub(super) fn read_some(reader: &mut Reader<'_>, vocab: &mut Vocab, content: &mut Vec<u8>) -> Result<bool, Error> {
    if vocab.is_list { list_entries(reader, vocab, content) } else { map_entries(reader, vocab, content) }
}

#[inline(never)]
fn map_entries(reader: &mut Reader<'_>, vocab: &mut Vocab, content: &mut Vec<u8>) -> Result<bool, Error> {
    for _ in 0..SOME {
        let is_first = vocab.words.list.is_empty();
        let start = vocab.words.buffer.len();
        let id = match reader.plain_member(is_first) {
            Some((from, len, id)) => {
                vocab.words.buffer.push_start(from, len);
                id
            }
            None => {
                let Some(id) = map_entry(reader, is_first, content)? else { return Ok(false) };
                if reader.starved() {
                    return Ok(true);
                }
                vocab.words.buffer.push(content);
                id
            }
        };
        push(reader, vocab, id, start)?;
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
        let content = String::from_utf8_lossy(content);
        return Err(invalid(&["model.vocab: ", &quoted(&content), " has no id below 2^32"]));
    }
    Ok(id)
}

#[inline(never)]
fn list_entries(reader: &mut Reader<'_>, vocab: &mut Vocab, content: &mut Vec<u8>) -> Result<bool, Error> {
    for _ in 0..SOME {
        let id = vocab.words.list.len() as u32;
        let mut is_first = id == 0;
        if !reader.element(&mut is_first, b']')? {
            return Ok(false);
        }
        if !list_entry(reader, content)? {
            return Err(invalid(&["model.vocab[", &id.to_string(), "]: expected a token and its score"]));
        }
        let start = vocab.words.buffer.len();
        vocab.words.buffer.push(content);
        push(reader, vocab, id, start)?;
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

/// Adds the token whose content was just written.
#[inline(always)]
fn push(reader: &mut Reader<'_>, vocab: &mut Vocab, id: u32, start: usize) -> Result<(), Error> {
    if vocab.words.list.len() == MAX_TOKENS {
        return Err(limit_exceeded("model.vocab: more than 4194304 tokens"));
    }
    // A file of at most `MAX_BYTES` fits in 32 bits.
    let len = (vocab.words.buffer.len() - start) as u32;
    vocab.words.list.push(Word { id, start: start as u32, len, special: false });
    reader.commit();
    Ok(())
}
