//! The usual entries of a vocabulary: without an escape, and as far apart as the one before. Nearly all
//! are, so this is the loop that loading takes longest in; whatever else stands there is left to [`vocab`](super::vocab).

use super::between::Between;
use super::buffer::SLACK;
use super::index::{Filter, sketch};
use super::json::Reader;
use super::spec::{Contents, SOME, Vocab, Word};
use crate::json::{plain_end, short_digits, short_plain_end};

/// What is the same in all of them.
#[derive(Debug, Default)]
pub(super) struct Usual {
    /// Up to the key.
    before: Between,
    /// From the quote that ends the key to the number; nothing if no entry is usual.
    colon: Between,
}

impl Usual {
    /// As in the entry that comes next, whatever its key is, if it can be a usual one.
    fn new(text: &[u8], at: usize) -> Option<Usual> {
        let mut reader = Reader::new(text);
        reader.go_to(at);
        if !reader.take(b',') || !reader.take(b'"') {
            return None;
        }
        let start = reader.position();
        let end = plain_end(text, start);
        reader.go_to(end);
        if !reader.take(b'"') || !reader.take(b':') {
            return None;
        }
        let colon = reader.position();
        let colon = text.get(end..colon + usize::from(text.get(colon) == Some(&b' ')))?;
        let before = text.get(at..start)?;
        if before.len() > SLACK || colon.len() > 8 {
            return None;
        }
        Some(Usual { before: Between::new(before), colon: Between::new(colon) })
    }

    /// Where the content of the next entry begins and ends, its number, and where the comma behind it stands.
    #[inline(always)]
    fn entry(&self, text: &[u8], at: usize) -> Option<(usize, usize, u32, usize)> {
        if !self.before.is_short_at(text.get(at..)?.first_chunk()?) {
            return None;
        }
        let start = at + self.before.len;
        let mut end = short_plain_end(text, start);
        if text.get(end) != Some(&b'"') {
            end = plain_end(text, end);
        }
        let tail = text.get(end..)?.first_chunk()?;
        if self.colon.len == 0 || !self.colon.is_short_at(tail) {
            return None;
        }
        let digits = tail.get(self.colon.len..)?;
        let (count, id) = short_digits(digits, 0)?;
        if digits.get(count) != Some(&b',') || digits.first() == Some(&b'0') && count > 1 {
            return None;
        }
        Some((start, end, id, end + self.colon.len + count))
    }
}

/// Reads the usual entries that come next, but not very many.
#[inline(never)]
pub(super) fn read(reader: &mut Reader<'_>, vocab: &mut Vocab, usual: &mut Usual, filter: &mut Filter) {
    let Vocab { words: Contents { buffer, list }, suspects, is_mixed, .. } = vocab;
    let (text, mut at) = (reader.from(0), reader.position());
    let Some(last) = list.last() else { return };
    let mut last = last.id;
    // The bytes of the contents, for which there is room.
    let (base, first, mut len) = (buffer.len(), list.len(), 0);
    let room = buffer.room(text.len());
    for _ in 0..SOME {
        let Some((start, end, id, next)) = usual.entry(text, at) else { break };
        let content_len = end - start;
        let Some(block) = copy(text, start, content_len, room.get_mut(len..).unwrap_or_default()) else { break };
        if filter.add(sketch(block, content_len)) {
            suspects.push(list.len() as u32);
        }
        // A file of at most `MAX_BYTES` fits in 32 bits.
        list.push(Word { id, start: (base + len) as u32, len: content_len as u32, special: false });
        *is_mixed |= id <= last;
        last = id;
        len += content_len;
        at = next;
    }
    if list.len() == first {
        *usual = Usual::new(text, at).unwrap_or_default();
    }
    buffer.advance(len);
    reader.go_to(at);
    reader.commit();
}

/// Copies a content, behind which there are sixteen more bytes, in whole blocks. Gives the first one.
#[inline(always)]
fn copy(text: &[u8], start: usize, len: usize, room: &mut [u8]) -> Option<u128> {
    let first = text.get(start..)?.first_chunk()?;
    *room.first_chunk_mut()? = *first;
    let mut at = SLACK;
    while at < len {
        *room.get_mut(at..)?.first_chunk_mut::<SLACK>()? = *text.get(start + at..)?.first_chunk()?;
        at += SLACK;
    }
    Some(u128::from_le_bytes(*first))
}
