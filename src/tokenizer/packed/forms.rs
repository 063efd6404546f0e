//! What each token is, as a packed tokenizer has it: a byte for each id, and the bytes of all of them in two buffers.
//!
//! The buffer of texts is UTF-8 as a whole and every text in it begins at a character, so each of them is UTF-8 after
//! one pass over all. The loops work through pieces, one call for each: V8 compiles a function well only once it is
//! called again.

use super::parts::{Parts, bytes, numbers};
use crate::tokenizer::table::{BYTE, PARTIAL, PRESENT, Slot};

/// So many codes, or bytes of text, are a piece.
const CODES: usize = 512;
const BYTES: usize = 4096;

/// The highest bits of a code: nothing, or as much of the normal form of the token as is left after the length; text;
/// bytes that are no text by themselves; the byte of a byte token.
pub(super) const TEXT: u8 = 1;
const KINDS: [u64; 4] = [0, PRESENT, PRESENT | PARTIAL, PRESENT | PARTIAL | BYTE];

/// The other bits of a code are a length. This one says that it stands among the long ones.
const LONG: usize = 63;

/// Forms as they stand in a packed tokenizer.
pub(super) struct Forms<'a> {
    pub codes: &'a [u8],
    longs: &'a [[u8; 4]],
    pub text: &'a [u8],
    pub others: &'a [u8],
}

/// A form: its flags, its place among the bytes, its length.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub flags: u64,
    pub start: u64,
    pub len: usize,
}

/// Goes through codes, and says where each form is. `damaged` counts only after the last one.
pub(super) struct Walk<'a> {
    longs: &'a [[u8; 4]],
    bytes: &'a [u8],
    /// Where the next text and the next of the others begin.
    text: u64,
    others: u64,
    ends: [u64; 2],
    damaged: bool,
}

impl<'a> Forms<'a> {
    pub fn read(parts: &mut Parts<'a>) -> Forms<'a> {
        let (codes, longs) = (parts.bytes(), parts.numbers());
        let forms = Forms { codes, longs, text: parts.bytes(), others: parts.bytes() };
        parts.damaged |= !is_text(forms.text);
        forms
    }

    /// Begins to go through them, once their bytes stand among others, from a place on.
    pub fn walk<'b>(&'b self, bytes: &'b [u8], start: usize) -> Walk<'b> {
        let others = (start + self.text.len()) as u64;
        let ends = [others, others + self.others.len() as u64];
        Walk { longs: self.longs, bytes, text: start as u64, others, ends, damaged: false }
    }

    /// The slots of all forms, whose own bytes begin at `start` among `bytes`; `normal` are those of the normal forms
    /// where these are others. `None` after damage.
    pub fn slots(&self, bytes: &[u8], start: usize, normal: &[Slot]) -> Option<Vec<Slot>> {
        let mut walk = self.walk(bytes, start);
        let mut slots = Vec::with_capacity(self.codes.len());
        for codes in self.codes.chunks(CODES) {
            walk.fill(codes, normal.get(slots.len()..).unwrap_or_default(), &mut slots);
        }
        walk.ends_well().then_some(slots)
    }
}

impl Walk<'_> {
    #[inline(always)]
    pub fn next(&mut self, code: u8) -> Form {
        let (kind, mut len) = (code >> 6, code as usize & LONG);
        if len == LONG {
            len = self.long();
        }
        let flags = KINDS.get(usize::from(kind)).copied().unwrap_or_default();
        let place = match kind {
            0 => return Form { flags, start: 0, len },
            TEXT => &mut self.text,
            _ => &mut self.others,
        };
        let start = *place;
        *place += len as u64;
        if kind == TEXT {
            self.damaged |= len > 0 && self.splits(start as usize);
        }
        Form { flags, start, len }
    }

    #[cold]
    #[inline(never)]
    fn long(&mut self) -> usize {
        let first = self.longs.split_first();
        self.damaged |= first.is_none();
        first.map_or(0, |(long, rest)| {
            self.longs = rest;
            u32::from_le_bytes(*long) as usize
        })
    }

    /// Whether a place is inside a character.
    #[inline(always)]
    fn splits(&self, at: usize) -> bool {
        self.bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80)
    }

    #[inline(never)]
    fn fill(&mut self, codes: &[u8], normal: &[Slot], slots: &mut Vec<Slot>) {
        slots.extend(codes.iter().enumerate().map(|(at, &code)| {
            let Form { flags, start, len } = self.next(code);
            let slot = if flags == 0 {
                self.rest(normal.get(at).copied().unwrap_or_default(), len)
            } else {
                Slot::new(start as usize, len, flags)
            };
            self.damaged |= slot.is_none();
            slot.unwrap_or_default()
        }));
    }

    /// What a normal form is without its first bytes.
    fn rest(&mut self, normal: Slot, cut: usize) -> Option<Slot> {
        let (start, len) = (normal.start() + cut, normal.len().checked_sub(cut)?);
        self.damaged |= len > 0 && !normal.has(PARTIAL) && self.splits(start);
        Slot::new(start, len, normal.flags())
    }

    /// Whether there was a form for every byte, and no form without its bytes.
    pub fn ends_well(&self) -> bool {
        !self.damaged && self.longs.is_empty() && [self.text, self.others] == self.ends
    }
}

/// Forms as they are written.
#[derive(Default)]
pub(super) struct Written {
    codes: Vec<u8>,
    longs: Vec<u32>,
    text: Vec<u8>,
    others: Vec<u8>,
}

impl Written {
    /// A form with its flags; without flags, nothing.
    pub fn push(&mut self, flags: u64, form: &[u8]) {
        let flags = flags & (PRESENT | PARTIAL | BYTE);
        let kind = KINDS.iter().position(|&kind| kind == flags).unwrap_or_default() as u8;
        self.code(kind, form.len());
        if kind == TEXT { &mut self.text } else { &mut self.others }.extend_from_slice(form);
    }

    /// The normal form without so many bytes.
    pub fn push_rest(&mut self, cut: usize) {
        self.code(0, cut);
    }

    fn code(&mut self, kind: u8, len: usize) {
        if len >= LONG {
            self.longs.push(u32::try_from(len).unwrap_or(u32::MAX));
        }
        self.codes.push(kind << 6 | len.min(LONG) as u8);
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        bytes(&self.codes, out);
        numbers(&self.longs, out);
        bytes(&self.text, out);
        bytes(&self.others, out);
    }
}

/// Whether bytes are UTF-8.
pub(super) fn is_text(mut bytes: &[u8]) -> bool {
    while let Some(piece) = bytes.get(..BYTES) {
        // The last character of a piece may go on in the next.
        let whole = std::str::from_utf8(piece).map_or_else(|error| error.valid_up_to(), str::len);
        if whole + 3 < BYTES {
            return false;
        }
        bytes = bytes.get(whole..).unwrap_or_default();
    }
    std::str::from_utf8(bytes).is_ok()
}
