//! What stands between two strings of a list or map is mostly the same throughout a file: then it is compared, not read.

/// The longest that is compared.
pub(super) const LONGEST: usize = 32;

/// What stands between two strings, up to the quote that begins the second one; behind it the masks are zero.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Between {
    bytes: [[u8; 16]; 2],
    masks: [[u8; 16]; 2],
    /// Zero if there is nothing to compare.
    pub len: usize,
}

impl Between {
    pub fn new(bytes: &[u8]) -> Between {
        let mut between = Between::default();
        let places = between.bytes.as_flattened_mut().iter_mut().zip(between.masks.as_flattened_mut());
        for ((byte, mask), &is) in places.zip(bytes) {
            (*byte, *mask) = (is, 0xff);
        }
        Between { len: if bytes.len() <= LONGEST { bytes.len() } else { 0 }, ..between }
    }

    /// Whether a text, of which there must be enough, begins with it.
    #[inline(always)]
    pub fn is_at(&self, text: &[u8]) -> bool {
        let (Some(one), Some(two)) = (text.first_chunk(), text.get(16..).and_then(|text| text.first_chunk())) else {
            return false;
        };
        self.len > 0 && self.is_short_at(one) && is_same(two, self.bytes[1], self.masks[1])
    }

    /// The same for one that is known to be shorter than a block.
    #[inline(always)]
    pub fn is_short_at(&self, text: &[u8; 16]) -> bool {
        is_same(text, self.bytes[0], self.masks[0])
    }
}

#[inline(always)]
fn is_same(text: &[u8; 16], bytes: [u8; 16], mask: [u8; 16]) -> bool {
    (u128::from_le_bytes(*text) ^ u128::from_le_bytes(bytes)) & u128::from_le_bytes(mask) == 0
}
