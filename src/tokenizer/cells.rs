//! Texts as JavaScript keeps them: one byte a character while all of them are ASCII, UTF-16 from the first other one on.
//!
//! A token that fits into sixteen bytes has a cell at its id, filled when it is first seen: one load, one store or two.
//! What has no cell is decoded by the table, in stretches that end before a token which is text by itself: no character
//! and no run of byte tokens goes on from there.

use super::table::Table;
use super::{DecodeOptions, Tokenizer, Vocabulary};

/// Longer texts are made without cells: in UTF-16 they take twice the memory.
const MOST_BYTES: usize = 64 << 20;

/// So many ids are decoded between two looks at the room.
const BATCH: usize = 64;

/// Bytes of a cell; as many characters are written at a time.
const CELL: usize = 16;

/// A mask for the places that a batch of cells is written to.
const PLACES: usize = BATCH * CELL * 2 - 1;

/// Room for a batch: at every place there is some for a cell in UTF-16.
const WINDOW: usize = PLACES + CELL * 2;

/// A cell's last byte: how many characters it has, and what they are. Zero: it is not filled, or never will be.
const LAST: usize = CELL - 1;
const COUNT: u8 = 15;
const ASCII: u8 = 16;
const UTF16: u8 = 32;
const RAW: u8 = 64;

/// Most units of UTF-16 in a cell.
const UNITS: usize = 7;

/// What a token gives: up to fifteen bytes of ASCII, or that are no text by themselves; or seven units of UTF-16.
type Cell = [u8; CELL];

/// A text, and what makes the next one fast: sixteen bytes for each id of the vocabulary, once so much was decoded that
/// it is worth touching them all.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// How many ids were decoded before there were cells.
    count: usize,
    /// The text up to `len`, and behind it anything.
    text: Vec<u8>,
    len: usize,
    is_utf16: bool,
    /// The bytes of a stretch.
    raw: Vec<u8>,
}

impl Tokenizer {
    /// Decodes to ASCII or, as is told, to UTF-16 in little endian, the fastest way; `None` if there is none for this
    /// tokenizer or so many ids, or not yet.
    pub(crate) fn decode_cells<'a>(
        &self,
        ids: &[u32],
        options: DecodeOptions,
        cells: &'a mut Cells,
    ) -> Option<(&'a [u8], bool)> {
        match &self.vocabulary {
            Vocabulary::Table(table) if !self.cleans_up && !self.may_exceed(ids, MOST_BYTES) => {
                cells.count = cells.count.saturating_add(ids.len());
                (cells.count >= table.near).then(|| cells.decode(table, ids, options))
            }
            _ => None,
        }
    }

    /// Whether the id gives the same text in whatever place among others.
    pub(crate) fn is_whole(&self, id: u32, options: DecodeOptions) -> bool {
        match &self.vocabulary {
            Vocabulary::Table(table) => !self.cleans_up && !table.is_positional() && table.is_whole(id, options),
            Vocabulary::Chain(_) => false,
        }
    }
}

impl Cells {
    /// Decodes ids with the table that all earlier ones were decoded with.
    pub(super) fn decode(&mut self, table: &Table, ids: &[u32], options: DecodeOptions) -> (&[u8], bool) {
        if self.cells.is_empty() {
            self.cells = vec![[0; CELL]; table.near];
        }
        self.is_utf16 = false;
        if !self.try_all(table, ids, options) {
            // Again from the start: what was ASCII is done faster anew than it is widened.
            self.is_utf16 = true;
            self.try_all(table, ids, options);
        }
        (self.text.get(..self.len).unwrap_or_default(), self.is_utf16)
    }

    /// Decodes to what is asked for; false if that is ASCII and there is something else.
    fn try_all(&mut self, table: &Table, ids: &[u32], options: DecodeOptions) -> bool {
        self.len = 0;
        let mut rest = ids;
        let mut is_first = table.is_positional();
        while !rest.is_empty() {
            if !is_first {
                rest = if self.is_utf16 { self.walk::<true>(rest) } else { self.walk::<false>(rest) };
                let Some(&id) = rest.first() else { break };
                let kind = self.fill(table, id);
                if kind != 0 && !self.is_utf16 && kind != ASCII {
                    return false;
                }
                if kind == RAW
                    && let Some(behind) = self.raw_cells(table, rest)
                {
                    rest = behind;
                    continue;
                }
                if kind & (ASCII | UTF16) != 0 {
                    continue;
                }
            }
            rest = self.stretch(table, rest, is_first, options);
            is_first = false;
            if !self.append() {
                return false;
            }
        }
        true
    }

    /// Appends the tokens of the ids up to the first that has no cell of the kind; gives that and those behind it.
    #[inline(never)]
    fn walk<'a, const TO_UTF16: bool>(&mut self, mut ids: &'a [u32]) -> &'a [u32] {
        let kinds = if TO_UTF16 { ASCII | UTF16 } else { ASCII };
        let cells = self.cells.as_slice();
        while !ids.is_empty() {
            let batch = ids.get(..BATCH).unwrap_or(ids);
            let Some(window) = room(&mut self.text, self.len).first_chunk_mut::<WINDOW>() else { break };
            let (mut at, mut done) = (0, 0);
            for &id in batch {
                let Some(cell) = cells.get(id as usize) else { break };
                let last = cell[LAST];
                if last & kinds == 0 {
                    break;
                }
                let Some(to) = window.get_mut(at & PLACES..).and_then(|rest| rest.first_chunk_mut()) else { break };
                let count = usize::from(last & COUNT);
                if TO_UTF16 {
                    spread(cell, last & UTF16 != 0, to);
                    at += count * 2;
                } else {
                    if let Some(to) = to.first_chunk_mut() {
                        *to = *cell;
                    }
                    at += count;
                }
                done += 1;
            }
            self.len += at;
            let is_done = done == batch.len();
            ids = ids.get(done..).unwrap_or_default();
            if !is_done {
                break;
            }
        }
        ids
    }

    /// Decodes the first ids to bytes, as many as it takes to know what they give; gives the others.
    fn stretch<'a>(&mut self, table: &Table, ids: &'a [u32], is_first: bool, options: DecodeOptions) -> &'a [u32] {
        self.raw.clear();
        let mut end = 0;
        loop {
            end = end * 2 + 1;
            while let Some(&id) = ids.get(end)
                && !table.is_whole(id, options)
            {
                end += 1;
            }
            let (some, rest) = ids.split_at_checked(end).unwrap_or((ids, &[]));
            if !is_first {
                table.decode_odd(some, options, &mut self.raw);
                return rest;
            }
            table.decode_into(some, options, &mut self.raw);
            // What comes first is known when there is a text.
            if !self.raw.is_empty() || rest.is_empty() {
                return rest;
            }
        }
    }

    /// Appends what is in cells as bytes, up to the first id that has another cell; gives that and those behind it. `None`
    /// if there is no cell for one of them.
    fn raw_cells<'a>(&mut self, table: &Table, mut ids: &'a [u32]) -> Option<&'a [u32]> {
        self.raw.clear();
        while let Some((&id, rest)) = ids.split_first() {
            match self.fill(table, id) {
                0 => return None,
                RAW => {
                    let cell = self.cells.get(id as usize)?;
                    self.raw.extend_from_slice(cell.get(..usize::from(cell[LAST] & COUNT))?);
                }
                _ => break,
            }
            ids = rest;
        }
        self.append();
        Some(ids)
    }

    /// What a cell holds: `ASCII`, `UTF16` or `RAW`; zero if the id has none.
    #[inline(never)]
    fn fill(&mut self, table: &Table, id: u32) -> u8 {
        let Some(cell) = self.cells.get_mut(id as usize) else { return 0 };
        if cell[LAST] == 0
            && let Some((form, is_whole)) = table.settled_form(id)
        {
            // As many units as a cell can hold are no more bytes of UTF-8 than these.
            let mut filled = [0; 3 * UNITS * 2];
            let mut count = form.len();
            let mut kind = if is_whole { ASCII } else { RAW };
            let mut most = LAST;
            if is_whole && !is_ascii(form) {
                (kind, most) = (UTF16, UNITS);
                count = if count * 2 > filled.len() { CELL } else { read_lossy(form, &mut filled) / 2 };
            } else if let Some(to) = filled.get_mut(..count) {
                to.copy_from_slice(form);
            }
            if count <= most {
                filled[LAST] = kind | count as u8;
                if let Some(filled) = filled.first_chunk() {
                    *cell = *filled;
                }
            }
        }
        cell[LAST] & !COUNT
    }

    /// Appends the lossy reading of the bytes of a stretch; false if only ASCII is asked for and they are not.
    #[inline(never)]
    fn append(&mut self) -> bool {
        let bytes = self.raw.as_slice();
        // No byte makes more than one unit.
        room(&mut self.text, self.len + bytes.len() * 2);
        let to = self.text.get_mut(self.len..).unwrap_or_default();
        if self.is_utf16 {
            self.len += read_lossy(bytes, to);
        } else if let Some(to) = to.get_mut(..bytes.len()) {
            to.copy_from_slice(bytes);
            self.len += bytes.len();
        }
        self.is_utf16 || is_ascii(bytes)
    }
}

/// What is behind a place in a buffer, at least a window.
#[inline(never)]
fn room(buffer: &mut Vec<u8>, at: usize) -> &mut [u8] {
    let end = at + WINDOW;
    if buffer.len() < end {
        let mut longer = vec![0; end + end / 2];
        if let Some(to) = longer.get_mut(..buffer.len()) {
            to.copy_from_slice(buffer);
        }
        *buffer = longer;
    }
    buffer.get_mut(at..).unwrap_or_default()
}

#[inline(never)]
fn is_ascii(bytes: &[u8]) -> bool {
    let mut all = 0;
    for &byte in bytes {
        all |= byte;
    }
    all < 0x80
}

/// Reads UTF-8 as `String::from_utf8_lossy` does: U+FFFD for as many bytes as begin a character. Gives how many bytes of
/// UTF-16 there are; it takes room for one unit a byte.
fn read_lossy(bytes: &[u8], to: &mut [u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    let mut put = |unit: u32| {
        if let Some(to) = to.get_mut(count..).and_then(|rest| rest.first_chunk_mut()) {
            *to = (unit as u16).to_le_bytes();
            count += 2;
        }
    };
    while let Some(&first) = bytes.get(at) {
        at += 1;
        if first < 0x80 {
            put(first.into());
            continue;
        }
        // How many bytes follow, and between which the first of them lies.
        let mut missing = if matches!(first, 0xc2..=0xf4) { first.leading_ones() - 1 } else { 0 };
        let mut low = match first {
            0xe0 => 0xa0,
            0xf0 => 0x90,
            _ => 0x80,
        };
        let mut high = match first {
            0xed => 0x9f,
            0xf4 => 0x8f,
            _ => 0xbf,
        };
        let mut code = u32::from(first) & (0x3f >> missing);
        let is_none = missing == 0;
        while missing > 0
            && let Some(&next) = bytes.get(at)
            && low <= next
            && next <= high
        {
            code = code << 6 | u32::from(next & 0x3f);
            at += 1;
            missing -= 1;
            (low, high) = (0x80, 0xbf);
        }
        if is_none || missing > 0 {
            code = 0xfffd;
        }
        if code > 0xffff {
            put(0xd7c0 + (code >> 10));
            code = 0xdc00 | code & 0x3ff;
        }
        put(code);
    }
    count
}

/// Writes sixteen bytes as as many units of UTF-16, or as the eight that they are, with anything behind.
#[cfg(target_feature = "simd128")]
#[inline(always)]
fn spread(cell: &Cell, is_utf16: bool, to: &mut [u8; CELL * 2]) {
    use core::arch::wasm32::{
        i16x8_extend_high_u8x16, i16x8_extend_low_u8x16, i16x8_splat, u64x2, u64x2_extract_lane, v128_bitselect,
    };
    let (low, high) = cell.split_at(CELL / 2);
    let word = |half: &[u8]| half.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let bytes = u64x2(word(low), word(high));
    let first = v128_bitselect(bytes, i16x8_extend_low_u8x16(bytes), i16x8_splat(-i16::from(is_utf16)));
    let second = i16x8_extend_high_u8x16(bytes);
    let mut put = |at: usize, word: u64| {
        if let Some(to) = to.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
            *to = word.to_le_bytes();
        }
    };
    put(0, u64x2_extract_lane::<0>(first));
    put(8, u64x2_extract_lane::<1>(first));
    put(16, u64x2_extract_lane::<0>(second));
    put(24, u64x2_extract_lane::<1>(second));
}

#[cfg(not(target_feature = "simd128"))]
fn spread(cell: &Cell, is_utf16: bool, to: &mut [u8; CELL * 2]) {
    for (two, &byte) in to.chunks_exact_mut(2).zip(cell) {
        two.copy_from_slice(&[byte, 0]);
    }
    if is_utf16 {
        to[..CELL].copy_from_slice(cell);
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests;
