//! The vocabulary of a model as it stands in the file: most of what is kept of it, so the usual member has a way of its
//! own.

use super::json::Reader;
use super::spec::{SOME, Vocab, Word};
use super::{invalid, limit_exceeded, quoted};
use crate::Error;
use crate::json::lossy;

/// The most tokens a model may have; the largest vocabularies in use have a quarter of it.
const MAX_TOKENS: usize = 1 << 22;

/// Entries that were read, on their way to the list.
struct Batch {
    words: [Word; SOME],
    count: usize,
}

impl Batch {
    /// Adds the token whose content was just written.
    #[inline(always)]
    fn push(&mut self, reader: &mut Reader<'_>, id: u32, start: usize, end: usize) {
        if let Some(word) = self.words.get_mut(self.count) {
            // A file of at most `MAX_BYTES` fits in 32 bits.
            *word = Word { id, start: start as u32, len: (end - start) as u32, special: false };
            self.count += 1;
        }
        reader.commit();
    }
}

/// Reads some entries; false at the end, which is taken.
pub(super) fn read_some(reader: &mut Reader<'_>, vocab: &mut Vocab, content: &mut Vec<u8>) -> Result<bool, Error> {
    let mut some = Batch { words: [Word::default(); SOME], count: 0 };
    let goes_on = if vocab.is_list {
        list_entries(reader, vocab, content, &mut some)
    } else {
        map_entries(reader, vocab, content, &mut some)
    };
    vocab.words.list.extend_from_slice(some.words.get(..some.count).unwrap_or_default());
    if vocab.words.list.len() > MAX_TOKENS {
        return Err(limit_exceeded("model.vocab: more than 4194304 tokens"));
    }
    goes_on
}

#[inline(never)]
fn map_entries(
    reader: &mut Reader<'_>,
    vocab: &mut Vocab,
    content: &mut Vec<u8>,
    some: &mut Batch,
) -> Result<bool, Error> {
    let mut is_first = vocab.words.list.is_empty();
    let buffer = &mut vocab.words.buffer;
    while some.count < SOME {
        let start = buffer.len();
        let id = match reader.plain_member(is_first) {
            Some((from, len, id)) => {
                buffer.push_start(from, len);
                id
            }
            None => {
                let Some(id) = map_entry(reader, is_first, content)? else { return Ok(false) };
                if reader.starved() {
                    return Ok(true);
                }
                buffer.push(content);
                id
            }
        };
        is_first = false;
        some.push(reader, id, start, buffer.len());
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
fn list_entries(
    reader: &mut Reader<'_>,
    vocab: &mut Vocab,
    content: &mut Vec<u8>,
    some: &mut Batch,
) -> Result<bool, Error> {
    while some.count < SOME {
        let at = vocab.words.list.len() + some.count;
        if !reader.element(&mut (at == 0), b']')? {
            return Ok(false);
        }
        if !list_entry(reader, content)? {
            return Err(invalid(&["model.vocab[", &at.to_string(), "]: expected a token and its score"]));
        }
        let start = vocab.words.buffer.len();
        vocab.words.buffer.push(content);
        some.push(reader, at as u32, start, vocab.words.buffer.len());
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
