//! Bytes that are written one short text after the other.

/// So many bytes stand behind what was written, so that a short text is written, and read, in one piece.
pub(super) const SLACK: usize = 16;

/// Room is made in pieces of so many bytes.
const MORE: usize = 1 << 12;

/// What was written, and at least [`SLACK`] bytes without meaning behind it once something was.
#[derive(Debug, Clone, Default)]
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

    /// The same, to be changed.
    pub fn get_mut(&mut self, start: usize, len: usize) -> &mut [u8] {
        self.bytes.get_mut(start..start + len).unwrap_or_default()
    }

    /// Sixteen bytes; those behind the end have no meaning.
    #[inline(always)]
    pub fn block(&self, at: usize) -> u128 {
        self.bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |block| u128::from_le_bytes(*block))
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
        while self.bytes.len() < self.len + count + SLACK {
            self.bytes.extend_from_slice(&[0; MORE]);
        }
    }

    /// Takes what was written into the room.
    #[inline(always)]
    pub fn advance(&mut self, count: usize) {
        self.len += count;
    }

    #[inline(never)]
    pub fn push(&mut self, text: &[u8]) {
        if let Some(room) = self.room(text.len()).get_mut(..text.len()) {
            room.copy_from_slice(text);
        }
        self.len += text.len();
    }

    /// Moves what was written from a place on to one that is not behind it, over what stands there.
    pub fn move_back(&mut self, from: usize, to: usize) {
        if from <= self.len {
            self.bytes.copy_within(from..self.len, to.min(from));
            self.len = from;
        }
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

/// The bits of as many bytes as a text has, of sixteen at most.
#[inline(always)]
pub(super) fn cover(len: usize) -> u128 {
    /// Sixteen of these, from sixteen less the length on.
    const MASKS: [u8; 2 * SLACK] = {
        let mut masks = [0; 2 * SLACK];
        let mut at = 0;
        while at < SLACK {
            masks[at] = 0xff;
            at += 1;
        }
        masks
    };
    let masks = MASKS.get(SLACK.saturating_sub(len)..).and_then(|masks| masks.first_chunk());
    masks.map_or(0, |masks| u128::from_le_bytes(*masks))
}
