//! Bytes that are written one short text after the other.

/// So many bytes stand behind what was written, so that a short text is written, and read, in one piece.
pub(super) const SLACK: usize = 16;

/// How much more room is made than is needed.
const MORE: usize = 1 << 16;

/// What was written, and at least [`SLACK`] bytes without meaning behind it once something was.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    len: usize,
}

impl Buffer {
    /// With room for so many bytes.
    pub fn with_capacity(capacity: usize) -> Buffer {
        Buffer { bytes: vec![0; capacity + SLACK], len: 0 }
    }

    /// Makes room for so many bytes at once.
    pub fn reserve(&mut self, count: usize) {
        self.bytes.reserve(count);
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Some of what was written.
    #[inline(always)]
    pub fn get(&self, start: usize, len: usize) -> &[u8] {
        self.bytes.get(start..start + len).unwrap_or_default()
    }

    /// Eight bytes; those behind the end have no meaning.
    #[inline(always)]
    pub fn word(&self, at: usize) -> u64 {
        self.bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
    }

    /// The room behind what was written, for so many bytes at least.
    #[inline(always)]
    pub fn room(&mut self, count: usize) -> &mut [u8] {
        if self.bytes.len() < self.len + count + SLACK {
            self.grow(count);
        }
        self.bytes.get_mut(self.len..).unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, count: usize) {
        self.bytes.resize(self.len + count + SLACK + MORE, 0);
    }

    /// Takes what was written into the room.
    #[inline(always)]
    pub fn advance(&mut self, count: usize) {
        self.len += count;
    }

    pub fn push(&mut self, text: &[u8]) {
        self.push_start(text, text.len());
    }

    /// The first `len` bytes of something.
    #[inline(always)]
    pub fn push_start(&mut self, from: &[u8], len: usize) {
        let room = self.room(len);
        match (from.first_chunk::<SLACK>(), room.first_chunk_mut::<SLACK>()) {
            (Some(from), Some(to)) if len <= SLACK => *to = *from,
            _ => copy(from, room, len),
        }
        self.len += len;
    }

    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// What was written.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.len);
        self.bytes
    }
}

#[inline(never)]
fn copy(from: &[u8], to: &mut [u8], len: usize) {
    if let (Some(from), Some(to)) = (from.get(..len), to.get_mut(..len)) {
        to.copy_from_slice(from);
    }
}
