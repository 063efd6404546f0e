//! What each token is, as a packed tokenizer has it: a byte for each id, and the bytes of all of them in three buffers.
//!
//! The texts of ASCII are ASCII as a whole, the other ones UTF-8 as a whole, and each of them begins at a character: so
//! each is UTF-8 after one pass over all, of which the one over ASCII is quick. The loops work through pieces, one call
//! for each: V8 compiles a function well only once it is called again.

use super::parts::{Parts, bytes, numbers};
use crate::tokenizer::table::{BYTE, PARTIAL, PRESENT, Slot};
use crate::tokenizer::utf8;

/// So many codes are a piece.
const CODES: usize = 512;

/// The highest bits of a code. Nothing; or, of a form that a token has where it comes first, what its normal form is
/// without its first bytes.
const REST: u8 = 0;
pub(super) const ASCII: u8 = 1;
pub(super) const TEXT: u8 = 2;
/// No text by itself, or the byte of a byte token.
pub(super) const OTHER: u8 = 3;

/// The other bits of a code are a length. This one says that it stands among the long ones.
const LONG: u8 = 63;

/// Forms as they stand in a packed tokenizer: a buffer for each kind but the first.
#[derive(Default)]
pub(super) struct Forms<'a> {
    file: &'a [u8],
    pub codes: &'a [u8],
    longs: &'a [[u8; 4]],
    /// Where in the file the next form of each kind begins, and where the last one ends.
    at: [u64; 4],
    ends: [u64; 4],
    /// The flags of what is no text.
    other: u64,
    /// How many forms there are, and the most bytes of text that one has.
    pub count: usize,
    pub longest: usize,
    damaged: bool,
}

impl<'a> Forms<'a> {
    /// `other` are the flags of what is no text.
    pub fn read(parts: &mut Parts<'a>, other: u64) -> Forms<'a> {
        let (file, codes, longs) = (parts.file, parts.bytes(), parts.numbers());
        let mut forms = Forms { file, codes, longs, other, ..Forms::default() };
        for (kind, (at, end)) in forms.at.iter_mut().zip(&mut forms.ends).enumerate().skip(1) {
            let bytes = parts.bytes();
            // ASCII too: for one more function V8 would compile it anew.
            parts.damaged |= kind != usize::from(OTHER) && utf8::whole(bytes) != (bytes.len(), false);
            *end = parts.at() as u64;
            *at = *end - bytes.len() as u64;
        }
        forms
    }

    /// Appends the slots of all forms; `normal` are the slots of the normal forms where these are others. False after damage.
    pub fn fill(&mut self, normal: &[Slot], slots: &mut Vec<Slot>) -> bool {
        slots.reserve_exact(self.codes.len());
        let mut normal = normal.chunks(CODES);
        let mut piece = [Slot::default(); CODES];
        for codes in self.codes.chunks(CODES) {
            self.fill_some(codes, normal.next().unwrap_or_default(), &mut piece);
            slots.extend_from_slice(piece.get(..codes.len()).unwrap_or_default());
        }
        // A form for every byte, and no form without its bytes.
        !self.damaged && self.longs.is_empty() && self.at == self.ends
    }

    /// The slot of any form, which may be what a normal one is without its first bytes.
    #[inline(never)]
    fn slot(&mut self, code: u8, normal: Slot) -> Slot {
        let (kind, mut len) = (code >> 6, usize::from(code & LONG));
        if code & LONG == LONG {
            let first = self.longs.split_first();
            self.damaged |= first.is_none();
            let (long, rest) = first.unwrap_or((&[0; 4], &[]));
            len = u32::from_le_bytes(*long) as usize;
            self.longs = rest;
        }
        let (flags, start) = if kind == REST {
            let cut = len.min(normal.len());
            self.damaged |= len > cut;
            len = normal.len() - cut;
            (normal.flags(), normal.start() + cut)
        } else {
            let place = &mut self.at[usize::from(kind)];
            let start = *place as usize;
            *place += len as u64;
            (if kind == OTHER { self.other } else { PRESENT }, start)
        };
        self.damaged |= len > 0 && flags & PARTIAL == 0 && splits(self.file, start as u64);
        let slot = Slot::new(start, len, flags);
        self.damaged |= slot.is_none();
        let slot = slot.unwrap_or_default();
        self.count += usize::from(slot.has(PRESENT));
        self.longest = self.longest.max(slot.most());
        slot
    }

    /// Short texts, which most forms are, without a call for each.
    #[inline(never)]
    fn fill_some(&mut self, codes: &[u8], normal: &[Slot], slots: &mut [Slot]) {
        let (file, mut at, mut longest, mut damaged) = (self.file, 0, 0, false);
        while let (Some(&code), Some(slot)) = (codes.get(at), slots.get_mut(at)) {
            let len = u64::from(code & LONG);
            // Of the kinds the two in the middle.
            if code.wrapping_add(ASCII << 6) >= TEXT << 6 && len < LONG.into() {
                let place = &mut self.at[usize::from(code >> 6)];
                damaged |= len > 0 && splits(file, *place);
                *slot = Slot(*place | len << 32 | PRESENT << 56);
                *place += len;
                longest = len.max(longest);
                self.count += 1;
            } else {
                *slot = self.slot(code, normal.get(at).copied().unwrap_or_default());
            }
            at += 1;
        }
        self.longest = self.longest.max(longest as usize);
        self.damaged |= damaged;
    }
}

/// Whether a place is inside a character.
#[inline(always)]
fn splits(bytes: &[u8], at: u64) -> bool {
    bytes.get(at as usize).is_some_and(|byte| byte & 0xc0 == 0x80)
}

/// Forms as they are written.
#[derive(Default)]
pub(super) struct Written {
    codes: Vec<u8>,
    longs: Vec<u32>,
    buffers: [Vec<u8>; 3],
}

impl Written {
    /// A form with its flags; without flags, nothing.
    pub fn push(&mut self, flags: u64, form: &[u8]) {
        let kind = match flags {
            0 => REST,
            _ if flags & (PARTIAL | BYTE) != 0 => OTHER,
            _ if form.is_ascii() => ASCII,
            _ => TEXT,
        };
        self.code(kind, form.len());
        if let Some(buffer) = self.buffers.get_mut(usize::from(kind).wrapping_sub(1)) {
            buffer.extend_from_slice(form);
        }
    }

    /// The normal form without so many bytes.
    pub fn push_rest(&mut self, cut: usize) {
        self.code(REST, cut);
    }

    fn code(&mut self, kind: u8, len: usize) {
        if len >= LONG.into() {
            self.longs.push(u32::try_from(len).unwrap_or(u32::MAX));
        }
        self.codes.push(kind << 6 | len.min(LONG.into()) as u8);
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        bytes(&self.codes, out);
        numbers(&self.longs, out);
        self.buffers.iter().for_each(|buffer| bytes(buffer, out));
    }
}
