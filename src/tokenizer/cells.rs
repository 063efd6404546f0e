//! Texts as JavaScript keeps them: one byte a character while all of them are ASCII, UTF-16 from the first other one on.
//!
//! A token that fits into sixteen bytes has a cell at its id, filled when it is first seen: one load, one store. What
//! has no cell is decoded by the table, in stretches that end before a token which is text by itself: there no character
//! and no run of byte tokens goes on.

use super::table::Table;
use super::{DecodeOptions, Tokenizer, Vocabulary};

/// So many ids are decoded between two looks at the room.
const BATCH: usize = 64;

/// Most characters of a batch of cells, as a mask of places in a window.
const MOST: usize = BATCH * CELL - 1;

/// What is written at a place of a window.
const CELL: usize = 16;

/// A window of a buffer, in which every place under the mask has room for a cell.
const WINDOW: usize = MOST + CELL;

/// A cell's last byte: how many characters it has, and what they are. Zero: it is not filled, or can never be.
const LAST: usize = CELL - 1;
const COUNT: u8 = 15;
const ASCII: u8 = 16;
const UTF16: u8 = 32;
const RAW: u8 = 64;

/// Most units of UTF-16 in a cell.
const UNITS: usize = 7;

/// What a token gives: up to fifteen bytes of ASCII, or that are no text by themselves; or seven units of UTF-16, little endian.
type Cell = [u8; CELL];

/// A text, and what makes the next one fast. Sixteen bytes for each id of the vocabulary, once something was decoded.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    cells: Vec<Cell>,
    /// Both are filled up to `len` and have zeros or an older text behind.
    ascii: Vec<u8>,
    utf16: Vec<u16>,
    is_utf16: bool,
    len: usize,
    /// The bytes of a stretch.
    raw: Vec<u8>,
}

/// Longer texts are made without cells: in UTF-16 they take twice the memory.
const MOST_BYTES: usize = 64 << 20;

impl Tokenizer {
    /// The text as JavaScript keeps it, the fastest way; `None` if there is none for this tokenizer or so many ids.
    pub(crate) fn decode_cells<'a>(
        &self,
        ids: &[u32],
        options: DecodeOptions,
        cells: &'a mut Cells,
    ) -> Option<Text<'a>> {
        match &self.vocabulary {
            Vocabulary::Table(table) if !self.cleans_up && !self.may_exceed(ids, MOST_BYTES) => {
                Some(cells.decode(table, ids, options))
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

/// A decoded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text<'a> {
    Ascii(&'a [u8]),
    Utf16(&'a [u16]),
}

impl Cells {
    /// Decodes ids with the table that all earlier ones were decoded with.
    pub(super) fn decode(&mut self, table: &Table, ids: &[u32], options: DecodeOptions) -> Text<'_> {
        if self.cells.is_empty() {
            self.cells.resize(table.near, [0; CELL]);
        }
        (self.len, self.is_utf16) = (0, false);
        let mut rest = if table.is_positional() { self.head(table, ids, options) } else { ids };
        loop {
            rest = if self.is_utf16 {
                walk(&self.cells, rest, &mut self.utf16, &mut self.len)
            } else {
                walk(&self.cells, rest, &mut self.ascii, &mut self.len)
            };
            let Some(&id) = rest.first() else { break };
            let kind = self.fill(table, id);
            if kind == UTF16 {
                self.widen();
            } else if kind != ASCII {
                rest = match self.raw_cells(table, rest) {
                    Some(behind) => behind,
                    None => self.stretch(table, rest, options),
                };
            }
        }
        if self.is_utf16 {
            Text::Utf16(self.utf16.get(..self.len).unwrap_or_default())
        } else {
            Text::Ascii(self.ascii.get(..self.len).unwrap_or_default())
        }
    }

    /// Decodes as many of the first ids as it takes to know what comes first, and gives the others.
    fn head<'a>(&mut self, table: &Table, ids: &'a [u32], options: DecodeOptions) -> &'a [u32] {
        let mut end = 0;
        self.raw.clear();
        while self.raw.is_empty() && end < ids.len() {
            end = stretch(table, ids, end * 2 + 1, options);
            table.decode_into(ids.get(..end).unwrap_or_default(), options, &mut self.raw);
        }
        self.append();
        ids.get(end..).unwrap_or_default()
    }

    /// Decodes the first id, and those behind it up to one that is text by itself; gives the others.
    fn stretch<'a>(&mut self, table: &Table, ids: &'a [u32], options: DecodeOptions) -> &'a [u32] {
        let end = stretch(table, ids, 1, options);
        self.raw.clear();
        table.decode_inner(ids.get(..end).unwrap_or_default(), options, &mut self.raw);
        self.append();
        ids.get(end..).unwrap_or_default()
    }

    /// What a cell holds: `ASCII`, `UTF16` or `RAW`; zero if the id has none.
    #[inline(never)]
    fn fill(&mut self, table: &Table, id: u32) -> u8 {
        let Some(cell) = self.cells.get_mut(id as usize) else { return 0 };
        if cell[LAST] == 0
            && let Some((form, is_whole)) = table.form(id)
            && let Some(filled) = filled(form, is_whole)
        {
            *cell = filled;
        }
        cell[LAST] & !COUNT
    }

    /// Goes on in UTF-16.
    #[inline(never)]
    fn widen(&mut self) {
        if self.is_utf16 {
            return;
        }
        self.is_utf16 = true;
        let mut at = 0;
        while at < self.len {
            // Behind the last character stand some that are no part of the text.
            let from = self.ascii.get(at..).and_then(|rest| rest.first_chunk::<CELL>());
            let to = window(&mut self.utf16, at).and_then(|window| window.first_chunk_mut());
            if let (Some(from), Some(to)) = (from, to) {
                spread(from, false, to);
            }
            at += CELL;
        }
    }

    /// Appends the bytes in cells of the first ids, up to the first one that has other cells; gives that and those behind it.
    /// `None` if there is no cell for one of them.
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

    /// Appends the lossy reading of the bytes of a stretch.
    #[inline(never)]
    fn append(&mut self) {
        if !self.raw.is_ascii() {
            self.widen();
        }
        // No byte makes more than one unit.
        let count = self.raw.len();
        if self.is_utf16 {
            let room = room(&mut self.utf16, self.len, count);
            self.len += room.map_or(0, |room| read_lossy(&self.raw, room));
        } else if let Some(room) = room(&mut self.ascii, self.len, count) {
            room.copy_from_slice(&self.raw);
            self.len += count;
        }
    }
}

/// A cell, if there is room in one.
fn filled(form: &[u8], is_whole: bool) -> Option<Cell> {
    let mut cell = [0; CELL];
    let is_ascii = form.is_ascii();
    if is_ascii || !is_whole {
        cell.get_mut(..form.len()).filter(|_| form.len() < CELL)?.copy_from_slice(form);
        cell[LAST] = form.len() as u8 | if is_whole { ASCII } else { RAW };
        return Some(cell);
    }
    let mut units = [0; 3 * UNITS];
    let count = read_lossy(form, units.get_mut(..form.len())?);
    for (two, unit) in cell.chunks_exact_mut(2).zip(units) {
        two.copy_from_slice(&unit.to_le_bytes());
    }
    cell[LAST] = count as u8 | UTF16;
    (count <= UNITS).then_some(cell)
}

/// Reads UTF-8 as `String::from_utf8_lossy` does: U+FFFD for as many bytes as begin a character. Gives how many units of
/// UTF-16 there are; it takes room for one a byte.
fn read_lossy(bytes: &[u8], to: &mut [u16]) -> usize {
    let (mut at, mut count) = (0, 0);
    let mut put = |unit: u32| {
        if let Some(to) = to.get_mut(count) {
            *to = unit as u16;
            count += 1;
        }
    };
    while let Some(&first) = bytes.get(at) {
        at += 1;
        // How many bytes follow, and between which the first of them lies.
        let (mut missing, mut low, mut high) = match first {
            0..0x80 => {
                put(first.into());
                continue;
            }
            0xc2..=0xdf => (1, 0x80, 0xbf),
            0xe0 => (2, 0xa0, 0xbf),
            0xed => (2, 0x80, 0x9f),
            0xe1..=0xef => (2, 0x80, 0xbf),
            0xf0 => (3, 0x90, 0xbf),
            0xf1..=0xf3 => (3, 0x80, 0xbf),
            0xf4 => (3, 0x80, 0x8f),
            _ => (0, 0, 0),
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

/// How many of the ids, at least so many, come before one whose token is text by itself.
fn stretch(table: &Table, ids: &[u32], least: usize, options: DecodeOptions) -> usize {
    let mut end = least.min(ids.len());
    while let Some(&id) = ids.get(end)
        && !table.is_whole(id, options)
    {
        end += 1;
    }
    end
}

/// So many characters of a buffer from a place on, whatever they are.
fn room<T: Default + Copy>(buffer: &mut Vec<T>, at: usize, count: usize) -> Option<&mut [T]> {
    let end = at + count;
    if buffer.len() < end {
        buffer.resize(end + end / 2, T::default());
    }
    buffer.get_mut(at..end)
}

/// Room for a batch.
fn window<T: Default + Copy>(buffer: &mut Vec<T>, at: usize) -> Option<&mut [T; WINDOW]> {
    room(buffer, at, WINDOW)?.first_chunk_mut()
}

/// What cells are written to.
trait Unit: Default + Copy {
    /// The kinds of cells that it takes.
    const TAKES: u8;

    fn put(cell: &Cell, to: &mut [Self; CELL]);
}

impl Unit for u8 {
    const TAKES: u8 = ASCII;

    #[inline(always)]
    fn put(cell: &Cell, to: &mut [u8; CELL]) {
        *to = *cell;
    }
}

impl Unit for u16 {
    const TAKES: u8 = ASCII | UTF16;

    #[inline(always)]
    fn put(cell: &Cell, to: &mut [u16; CELL]) {
        spread(cell, cell[LAST] & UTF16 != 0, to);
    }
}

/// Appends the tokens of the ids up to the first whose cell cannot be written; gives that and those behind it.
#[inline(never)]
fn walk<'a, T: Unit>(cells: &[Cell], mut ids: &'a [u32], out: &mut Vec<T>, len: &mut usize) -> &'a [u32] {
    while !ids.is_empty() {
        let Some(window) = window(out, *len) else { break };
        let batch = ids.get(..BATCH).unwrap_or(ids);
        let mut at = 0;
        let mut done = 0;
        for &id in batch {
            let Some(cell) = cells.get(id as usize) else { break };
            let last = cell[LAST];
            if last & T::TAKES == 0 {
                break;
            }
            if let Some(to) = window.get_mut(at & MOST..).and_then(|rest| rest.first_chunk_mut()) {
                T::put(cell, to);
            }
            at += usize::from(last & COUNT);
            done += 1;
        }
        *len += at;
        let all = done == batch.len();
        ids = ids.get(done..).unwrap_or_default();
        if !all {
            break;
        }
    }
    ids
}

/// Writes sixteen bytes as as many characters, or as eight that they are, with some more behind.
#[cfg(target_feature = "simd128")]
#[inline(always)]
fn spread(bytes: &Cell, is_utf16: bool, to: &mut [u16; CELL]) {
    use core::arch::wasm32::{
        i16x8_extend_high_u8x16, i16x8_extend_low_u8x16, i16x8_extract_lane, i16x8_splat, u64x2, v128_bitselect,
    };
    let (low, high) = bytes.split_at(CELL / 2);
    let word = |half: &[u8]| half.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    let bytes = u64x2(word(low), word(high));
    let first = v128_bitselect(bytes, i16x8_extend_low_u8x16(bytes), i16x8_splat(-i16::from(is_utf16)));
    let second = i16x8_extend_high_u8x16(bytes);
    macro_rules! store {
        ($($lane:literal)*) => {$(
            to[$lane] = i16x8_extract_lane::<$lane>(first) as u16;
            to[$lane + 8] = i16x8_extract_lane::<$lane>(second) as u16;
        )*};
    }
    store!(0 1 2 3 4 5 6 7);
}

#[cfg(not(target_feature = "simd128"))]
fn spread(bytes: &Cell, is_utf16: bool, to: &mut [u16; CELL]) {
    for (at, to) in to.iter_mut().enumerate() {
        let low = |at: usize| u16::from(bytes.get(at).copied().unwrap_or(0));
        *to = if is_utf16 { low(2 * at) | low(2 * at + 1) << 8 } else { low(at) };
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8]) {
        let mut units = vec![0; bytes.len()];
        let count = read_lossy(bytes, &mut units);
        let expected: Vec<u16> = String::from_utf8_lossy(bytes).encode_utf16().collect();
        assert_eq!(units.get(..count), Some(expected.as_slice()), "{bytes:x?}");
    }

    #[test]
    fn bytes_are_read_as_lossily_as_strings_are() {
        for first in 0..=255 {
            check(&[first]);
            for second in 0..=255 {
                check(&[first, second]);
                check(&[first, second, 0x80]);
                check(&[first, second, 0xbf, b'a']);
                check(&[first, second, 0x80, 0xbf]);
                check(&[0xf0, 0x9f, first, second]);
            }
        }
        // Ends of ranges, and what stands beside them.
        const BYTES: [u8; 24] = [
            0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
            0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff,
        ];
        let mut state = 1_u64;
        for count in 0..200_000 {
            let mut bytes = Vec::new();
            for _ in 0..count % 12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                bytes.push(BYTES[(state >> 33) as usize % BYTES.len()]);
            }
            check(&bytes);
        }
    }

    #[test]
    fn characters_that_are_cut_off_anywhere_are_read() {
        let text =
            "a\u{7f}\u{80}é\u{7ff}\u{800}日\u{d7ff}\u{e000}\u{feff}\u{fffd}\u{ffff}\u{10000}🙂\u{10ffff}z".as_bytes();
        for end in 0..=text.len() {
            for start in 0..=end {
                check(&text[start..end]);
            }
        }
    }
}
