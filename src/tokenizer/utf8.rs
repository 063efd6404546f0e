//! How much of some bytes is UTF-8: sixteen at a time in WebAssembly, where the check in the standard library takes as
//! long as all the rest of reading a file.

/// How many of the bytes are whole characters, up to the first that cannot be one, and whether there is such a one;
/// otherwise at most a character that is cut is missing.
pub(super) fn whole(bytes: &[u8]) -> (usize, bool) {
    #[cfg(target_feature = "simd128")]
    {
        let end = bytes.len() - cut_len(bytes);
        if blocks::are_utf8(bytes.get(..end).unwrap_or_default()) {
            return (end, false);
        }
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.len(), false),
        Err(error) => (error.valid_up_to(), error.error_len().is_some()),
    }
}

/// Whether short bytes are UTF-8.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// How many bytes at the end are the beginning of a character that goes on behind it.
#[cfg(target_feature = "simd128")]
fn cut_len(bytes: &[u8]) -> usize {
    for back in 1..4 {
        let needed = match bytes.len().checked_sub(back).and_then(|at| bytes.get(at)) {
            Some(0x80..0xc0) => continue,
            Some(0xc0..0xe0) => 2,
            Some(0xe0..0xf0) => 3,
            Some(0xf0..) => 4,
            _ => 0,
        };
        return if back < needed { back } else { 0 };
    }
    0
}

/// Which bytes of a block begin a character, and of how many, is a bit for each: those that must follow are these bits, shifted.
#[cfg(target_feature = "simd128")]
mod blocks {
    use core::arch::wasm32::{
        i8x16_shuffle, u8x16_bitmask, u8x16_eq, u8x16_ge, u8x16_lt, u8x16_splat, u64x2, v128, v128_and, v128_or,
    };

    /// What was seen so far.
    struct State {
        /// The last block.
        before: v128,
        /// Which bytes of the next block must go on with a character.
        open: u32,
        /// Not zero if something was wrong.
        wrong: u32,
    }

    pub(super) fn are_utf8(bytes: &[u8]) -> bool {
        let mut state = State { before: u8x16_splat(0), open: 0, wrong: 0 };
        let (blocks, rest) = bytes.as_chunks::<16>();
        for some in blocks.chunks(64) {
            check(some, &mut state);
        }
        // Zeros behind the end, so that a character that is cut there is seen.
        let mut last = [0; 16];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        check(&[last], &mut state);
        state.wrong == 0
    }

    #[inline(always)]
    fn load(block: &[u8; 16]) -> v128 {
        let value = u128::from_le_bytes(*block);
        u64x2(value as u64, (value >> 64) as u64)
    }

    /// The bytes of a block from a number on.
    #[inline(always)]
    fn from(block: v128, byte: u8) -> u32 {
        u8x16_bitmask(u8x16_ge(block, u8x16_splat(byte))).into()
    }

    /// Looks at some blocks.
    #[inline(never)]
    fn check(blocks: &[[u8; 16]], state: &mut State) {
        let State { mut before, mut open, mut wrong } = *state;
        for some in blocks.chunks(4) {
            // ASCII, behind ASCII. Of fewer bytes some are mostly something else, so that it is not known which way goes on.
            let mut all = before;
            for block in some {
                all = v128_or(all, load(block));
            }
            if u8x16_bitmask(all) == 0 {
                continue;
            }
            for block in some {
                let block = load(block);
                let (first, two, three) = (from(block, 0xc0), from(block, 0xc2), from(block, 0xe0));
                // More than one byte is open where the last one began a character of three.
                let may_misfit = three != 0 || open > 1;
                open |= two << 1 | three << 2 | from(block, 0xf0) << 3;
                wrong |= (open & 0xffff) ^ u32::from(u8x16_bitmask(block)) ^ first | first ^ two;
                if may_misfit {
                    wrong |= u32::from(u8x16_bitmask(misfits(before, block)));
                }
                open >>= 16;
                before = block;
            }
        }
        *state = State { before, open, wrong };
    }

    /// What no character begins with, and what is no second byte of one that begins with the byte before: else there were two ways
    /// to write it, or it is half of a pair, or none.
    #[inline(always)]
    fn misfits(before: v128, block: v128) -> v128 {
        let one = i8x16_shuffle::<15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(before, block);
        let mut misfits = u8x16_ge(block, u8x16_splat(0xf5));
        for (first, below, second) in [(0xe0, true, 0xa0), (0xed, false, 0xa0), (0xf0, true, 0x90), (0xf4, false, 0x90)]
        {
            let second = u8x16_splat(second);
            let is_out = if below { u8x16_lt(block, second) } else { u8x16_ge(block, second) };
            misfits = v128_or(misfits, v128_and(u8x16_eq(one, u8x16_splat(first)), is_out));
        }
        misfits
    }
}
