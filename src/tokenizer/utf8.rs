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

/// The method of Keiser and Lemire ("Validating UTF-8 in less than one instruction per byte"): of two bytes in a row,
/// three tables of sixteen tell each by four bits which mistakes they could be; a mistake that all three name is one.
#[cfg(target_feature = "simd128")]
mod blocks {
    use core::arch::wasm32::{
        i8x16_shuffle, u8x16, u8x16_bitmask, u8x16_shr, u8x16_splat, u8x16_sub_sat, u8x16_swizzle, u64x2, v128,
        v128_and, v128_any_true, v128_or, v128_xor,
    };

    /// A lead byte, then no continuation.
    const TOO_SHORT: u8 = 1;
    /// ASCII, then a continuation.
    const TOO_LONG: u8 = 1 << 1;
    const OVERLONG_3: u8 = 1 << 2;
    const TOO_LARGE: u8 = 1 << 3;
    const SURROGATE: u8 = 1 << 4;
    const OVERLONG_2: u8 = 1 << 5;
    /// Too large, or of four bytes where fewer would do.
    const LARGE_OR_OVERLONG_4: u8 = 1 << 6;
    /// Two continuations: right in characters of three and four bytes.
    const TWO_CONTINUATIONS: u8 = 1 << 7;
    /// Mistakes that the low half of the first byte says nothing about.
    const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;
    const HIGH: u8 = ANY | TOO_LARGE | LARGE_OR_OVERLONG_4;
    const NEXT: u8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;

    pub(super) fn are_utf8(bytes: &[u8]) -> bool {
        let mut state = [u8x16_splat(0); 2];
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
        !v128_any_true(state[1])
    }

    /// Looks at some blocks; `state` is the block before, and the mistakes.
    #[inline(never)]
    fn check(blocks: &[[u8; 16]], state: &mut [v128; 2]) {
        let [mut before, mut mistakes] = *state;
        for block in blocks {
            let value = u128::from_le_bytes(*block);
            let block = u64x2(value as u64, (value >> 64) as u64);
            // ASCII, and none of the last three before it begins a character.
            if u8x16_bitmask(block) == 0 && u8x16_bitmask(before) < 0x2000 {
                before = block;
                continue;
            }
            let one = i8x16_shuffle::<15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30>(before, block);
            let two = i8x16_shuffle::<14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29>(before, block);
            let three = i8x16_shuffle::<13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28>(before, block);
            const S: u8 = TOO_LONG;
            const C: u8 = TWO_CONTINUATIONS;
            const E: u8 = TOO_SHORT | OVERLONG_3 | SURROGATE;
            const F: u8 = TOO_SHORT | TOO_LARGE | LARGE_OR_OVERLONG_4;
            let first_high = u8x16(S, S, S, S, S, S, S, S, C, C, C, C, TOO_SHORT | OVERLONG_2, TOO_SHORT, E, F);
            const ZERO: u8 = ANY | OVERLONG_3 | OVERLONG_2 | LARGE_OR_OVERLONG_4;
            const D: u8 = HIGH | SURROGATE;
            let first_low = u8x16(
                ZERO,
                ANY | OVERLONG_2,
                ANY,
                ANY,
                ANY | TOO_LARGE,
                HIGH,
                HIGH,
                HIGH,
                HIGH,
                HIGH,
                HIGH,
                HIGH,
                HIGH,
                D,
                HIGH,
                HIGH,
            );
            const T: u8 = TOO_SHORT;
            const A: u8 = NEXT | SURROGATE | TOO_LARGE;
            let second_high = u8x16(
                T,
                T,
                T,
                T,
                T,
                T,
                T,
                T,
                NEXT | OVERLONG_3 | LARGE_OR_OVERLONG_4,
                NEXT | OVERLONG_3 | TOO_LARGE,
                A,
                A,
                T,
                T,
                T,
                T,
            );
            let low_half = u8x16_splat(0x0f);
            let named = v128_and(
                v128_and(
                    u8x16_swizzle(first_high, u8x16_shr(one, 4)),
                    u8x16_swizzle(first_low, v128_and(one, low_half)),
                ),
                u8x16_swizzle(second_high, u8x16_shr(block, 4)),
            );
            // Where a third or fourth byte must be, two continuations are right.
            let third = u8x16_sub_sat(two, u8x16_splat(0xe0 - 0x80));
            let fourth = u8x16_sub_sat(three, u8x16_splat(0xf0 - 0x80));
            let must = v128_and(v128_or(third, fourth), u8x16_splat(0x80));
            mistakes = v128_or(mistakes, v128_xor(named, must));
            before = block;
        }
        *state = [before, mistakes];
    }
}
