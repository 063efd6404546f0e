//! Numbers, texts and lists as they stand in a packed tokenizer: little-endian, each list and text behind its count.

/// What is left of a packed tokenizer. After damage everything reads as nothing, so one look at the end is enough.
pub(super) struct Parts<'a> {
    pub file: &'a [u8],
    pub rest: &'a [u8],
    pub damaged: bool,
}

impl<'a> Parts<'a> {
    pub fn new(file: &'a [u8]) -> Parts<'a> {
        Parts { file, rest: file, damaged: false }
    }

    /// How many bytes were taken.
    pub fn at(&self) -> usize {
        self.file.len() - self.rest.len()
    }

    #[inline(never)]
    pub fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or_else(|| {
            self.damaged = true;
            Default::default()
        });
        self.rest = rest;
        taken
    }

    #[inline(never)]
    pub fn number(&mut self) -> u32 {
        self.take(4).first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    pub fn character(&mut self) -> char {
        let character = char::from_u32(self.number());
        self.damaged |= character.is_none();
        character.unwrap_or_default()
    }

    /// A count of parts that have at least so many bytes each, no more than there can be.
    pub fn count(&mut self, size: usize) -> usize {
        let count = self.number() as usize;
        let fits = count <= self.rest.len() / size;
        self.damaged |= !fits;
        if fits { count } else { 0 }
    }

    pub fn numbers(&mut self) -> &'a [[u8; 4]] {
        let len = self.count(4) * 4;
        self.take(len).as_chunks().0
    }

    pub fn bytes(&mut self) -> &'a [u8] {
        let len = self.number() as usize;
        self.take(len)
    }

    #[inline(never)]
    pub fn text(&mut self) -> &'a str {
        let text = std::str::from_utf8(self.bytes());
        self.damaged |= text.is_err();
        text.unwrap_or_default()
    }
}

pub(super) fn number(number: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// A count of something in a file, which has fewer than 2^32 bytes. Steps may ask for more, which changes nothing.
pub(super) fn count(count: usize, out: &mut Vec<u8>) {
    number(u32::try_from(count).unwrap_or(u32::MAX), out);
}

pub(super) fn numbers(list: &[u32], out: &mut Vec<u8>) {
    count(list.len(), out);
    list.iter().for_each(|&part| number(part, out));
}

pub(super) fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    count(bytes.len(), out);
    out.extend_from_slice(bytes);
}
