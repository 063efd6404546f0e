//! The sign that the decoders of nearly all files replace where tokens begin with it, mostly that of a space. Of most tokens the rest
//! stays as it is, which is seen in one block.

use super::buffer::{Buffer, SLACK};
use super::spec::Word;

/// A sign, the byte that replaces it, and which bytes stay as they are.
#[derive(Debug, Default)]
pub(super) struct Sign {
    bytes: u64,
    mask: u64,
    len: usize,
    content: u8,
    /// So many bytes from the first one on stay, where 0 comes behind 255; the others are odd.
    first: u8,
    count: u8,
    /// Which bytes of the sign itself are odd.
    odd: u32,
}

impl Sign {
    /// Nothing if the sign is longer than a word, or the content is not one byte, or might begin the token of a byte.
    pub fn new(sign: &str, content: &str, first: u8, count: u8) -> Option<Sign> {
        let &[content] = content.as_bytes() else { return None };
        let len = sign.len();
        if len > 8 || content == b'<' {
            return None;
        }
        let bytes = sign.bytes().rev().fold(0, |bytes, byte| bytes << 8 | u64::from(byte));
        let odd = odd(bytes.into(), len, first, count);
        Some(Sign { bytes, mask: u64::MAX >> (64 - 8 * len), len, content, first, count, odd })
    }

    /// Makes the form of a token where its content stands: where it begins, and its length. Nothing if that takes another look.
    #[inline(always)]
    pub fn form(&self, word: Word, buffer: &mut Buffer) -> Option<(usize, usize)> {
        let (start, len) = (word.start as usize, word.len as usize);
        let block = buffer.block(start);
        let odd = odd(block, len, self.first, self.count);
        if len > SLACK {
            return None;
        }
        if odd == 0 {
            return Some((start, len));
        }
        if odd != self.odd || block as u64 & self.mask != self.bytes || len < self.len {
            return None;
        }
        let cut = self.len - 1;
        *buffer.get_mut(start + cut, 1).first_mut()? = self.content;
        Some((start + cut, len - cut))
    }
}

/// Which of the first bytes of a block, at most of all, are not among `count` from `first` on.
#[inline(always)]
fn odd(block: u128, len: usize, first: u8, count: u8) -> u32 {
    #[cfg(target_feature = "simd128")]
    let odd: u32 = {
        use core::arch::wasm32::{u8x16_bitmask, u8x16_ge, u8x16_splat, u8x16_sub, u64x2};
        let bytes = u8x16_sub(u64x2(block as u64, (block >> 64) as u64), u8x16_splat(first));
        u8x16_bitmask(u8x16_ge(bytes, u8x16_splat(count))).into()
    };
    #[cfg(not(target_feature = "simd128"))]
    let odd = {
        let mark = |marks, byte: &u8| marks << 1 | u32::from(byte.wrapping_sub(first) >= count);
        block.to_be_bytes().iter().fold(0, mark)
    };
    odd & !(u32::MAX << len.min(SLACK))
}
