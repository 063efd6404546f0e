//! Sixteen bytes at once: what each of them is, as a bit of a mask, the first byte the lowest.

/// Every other bit, from the lowest on.
const EVEN: u32 = 0x5555;

/// How many ids [`ids_run`] reads, at most, and how many of them may end in one window.
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
pub(crate) const MOST_IDS: usize = 128;
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
const MOST_IN_WINDOW: usize = WINDOW / 2;

/// Bytes of which [`ids_run`] finds the commas at once, and the most digits of an id that it reads.
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
const WINDOW: usize = 64;
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
const MOST_DIGITS: usize = 7;

/// Bytes of a block.
pub(super) const LEN: usize = 16;

/// What stands in a block of a list of numbers.
struct Classes {
    digits: u32,
    zeros: u32,
    commas: u32,
    spaces: u32,
    points: u32,
    minuses: u32,
}

/// What stands in a block of a string's content.
struct StringClasses {
    quotes: u32,
    backslashes: u32,
    controls: u32,
    /// Bytes that make an escape behind a backslash, of the more frequent ones.
    letters: u32,
    /// The first byte behind the backslash of a character that is spelled by its number.
    us: u32,
}

#[cfg(target_feature = "simd128")]
pub(super) struct Block(core::arch::wasm32::v128);

/// Moves `at` to the first byte that `marks` marks; false if there is none in the blocks of the text.
#[cfg(target_feature = "simd128")]
#[inline(always)]
pub(super) fn skip(text: &[u8], at: &mut usize, marks: impl Fn(Block) -> u32) -> bool {
    while let Some(block) = Block::at(text, *at) {
        let marks = marks(block);
        if marks != 0 {
            *at += marks.trailing_zeros() as usize;
            return true;
        }
        *at += LEN;
    }
    false
}

#[cfg(target_feature = "simd128")]
impl Block {
    #[inline(always)]
    pub(super) fn at(text: &[u8], at: usize) -> Option<Block> {
        let value = u128::from_le_bytes(*text.get(at..)?.first_chunk()?);
        Some(Block(core::arch::wasm32::u64x2(value as u64, (value >> 64) as u64)))
    }

    /// The quotes, backslashes and control characters.
    #[inline(always)]
    pub(super) fn marks_in_strings(&self) -> u32 {
        use core::arch::wasm32::{u8x16_bitmask, u8x16_lt, u8x16_splat, v128_or};
        let control = u8x16_lt(self.0, u8x16_splat(0x20));
        u8x16_bitmask(v128_or(control, v128_or(self.equal(b'"'), self.equal(b'\\')))).into()
    }

    /// What is no white space.
    #[inline(always)]
    pub(super) fn not_space(&self) -> u32 {
        use core::arch::wasm32::{u8x16_bitmask, v128_not, v128_or};
        let breaks = v128_or(v128_or(self.equal(b'\n'), self.equal(b'\r')), self.equal(b'\t'));
        u8x16_bitmask(v128_not(v128_or(self.equal(b' '), breaks))).into()
    }

    #[inline(always)]
    pub(super) fn line_feeds(&self) -> u32 {
        core::arch::wasm32::u8x16_bitmask(self.equal(b'\n')).into()
    }

    #[inline(always)]
    fn equal(&self, byte: u8) -> core::arch::wasm32::v128 {
        core::arch::wasm32::u8x16_eq(self.0, core::arch::wasm32::u8x16_splat(byte))
    }

    #[inline(always)]
    fn string_classes(&self) -> StringClasses {
        use core::arch::wasm32::{u8x16_bitmask, u8x16_lt, u8x16_splat, v128_or};
        StringClasses {
            quotes: u8x16_bitmask(self.equal(b'"')).into(),
            backslashes: u8x16_bitmask(self.equal(b'\\')).into(),
            controls: u8x16_bitmask(u8x16_lt(self.0, u8x16_splat(0x20))).into(),
            letters: u8x16_bitmask(v128_or(self.equal(b'n'), self.equal(b't'))).into(),
            us: u8x16_bitmask(self.equal(b'u')).into(),
        }
    }

    #[inline(always)]
    fn classes(&self) -> Classes {
        use core::arch::wasm32::{u8x16_bitmask, u8x16_lt, u8x16_splat, u8x16_sub};
        let mask = |byte| u32::from(u8x16_bitmask(self.equal(byte)));
        let digits = u8x16_lt(u8x16_sub(self.0, u8x16_splat(b'0')), u8x16_splat(10));
        Classes {
            digits: u8x16_bitmask(digits).into(),
            zeros: mask(b'0'),
            commas: mask(b','),
            spaces: mask(b' '),
            points: mask(b'.'),
            minuses: mask(b'-'),
        }
    }
}

/// Stands in for the block of WebAssembly in native tests.
#[cfg(not(target_feature = "simd128"))]
struct Block<'t>(&'t [u8; LEN]);

#[cfg(not(target_feature = "simd128"))]
impl<'t> Block<'t> {
    fn at(text: &'t [u8], at: usize) -> Option<Block<'t>> {
        text.get(at..)?.first_chunk().map(Block)
    }

    fn mask(&self, is: &dyn Fn(u8) -> bool) -> u32 {
        (0..LEN).fold(0, |mask, i| mask | u32::from(is(self.0[i])) << i)
    }

    fn string_classes(&self) -> StringClasses {
        StringClasses {
            quotes: self.mask(&|byte| byte == b'"'),
            backslashes: self.mask(&|byte| byte == b'\\'),
            controls: self.mask(&|byte| byte < 0x20),
            letters: self.mask(&|byte| matches!(byte, b'n' | b't')),
            us: self.mask(&|byte| byte == b'u'),
        }
    }

    fn classes(&self) -> Classes {
        let mask = |is: &dyn Fn(u8) -> bool| self.mask(is);
        Classes {
            digits: mask(&|byte| byte.is_ascii_digit()),
            zeros: mask(&|byte| byte == b'0'),
            commas: mask(&|byte| byte == b','),
            spaces: mask(&|byte| byte == b' '),
            points: mask(&|byte| byte == b'.'),
            minuses: mask(&|byte| byte == b'-'),
        }
    }
}

/// How far the content of a string, in which no escape ends at `at`, can be told to be right by looking at blocks: to the
/// quote that ends it, a control character, or the backslash of a rarer escape or of a mistake, all as [`super::plain_end`]
/// finds them; else to where too few bytes follow.
pub(crate) fn escapes_run(text: &[u8], mut at: usize) -> usize {
    // Whether the byte at `at` is the second of an escape, in the lowest bit.
    let mut is_second = 0;
    while let Some(block) = Block::at(text, at) {
        let is = block.string_classes();
        // In each run of backslashes every other one begins an escape. A sum carries from the first of a run that begins
        // at an odd place to what stands behind the last, and tells these runs from the others.
        let backslashes = is.backslashes & !is_second;
        let behind = backslashes << 1 | is_second;
        let odd = backslashes & !EVEN & !behind;
        let sum = odd + backslashes;
        let seconds = (EVEN ^ sum << 1) & behind;
        let simple = is.quotes | is.backslashes | is.letters;
        let stops = (is.quotes & !seconds | is.controls | seconds & !simple) & 0xFFFF;
        if stops != 0 {
            let stop = stops.trailing_zeros();
            return at + stop as usize - (seconds >> stop & 1) as usize;
        }
        is_second = sum >> LEN;
        at += LEN;
    }
    at - is_second as usize
}

/// Tells what stands behind each quote, up to the next quote or backslash, as far as blocks go: where it begins and ends. Ends
/// early if that gives true, or at a character that is ASCII and spelled by its number. Gives whether it did, up to where
/// the text was looked at, and where what is not told yet begins.
#[inline(always)]
pub(super) fn behind_quotes(text: &[u8], mut tell: impl FnMut(usize, usize) -> bool) -> (bool, usize, Option<usize>) {
    let (mut at, mut start, mut is_behind_backslash) = (0, None, 0);
    while let Some(block) = Block::at(text, at) {
        let is = block.string_classes();
        let (mut quotes, marks) = (is.quotes, is.quotes | is.backslashes);
        let mut numbers = is.us & (is.backslashes << 1 | is_behind_backslash);
        is_behind_backslash = is.backslashes >> (LEN - 1);
        while numbers != 0 {
            if super::is_ascii_number(text, at + numbers.trailing_zeros() as usize) {
                return (true, at, start);
            }
            numbers &= numbers - 1;
        }
        if marks != 0
            && let Some(start) = start.take()
            && tell(start, at + marks.trailing_zeros() as usize)
        {
            return (true, at, None);
        }
        while quotes != 0 {
            let quote = quotes.trailing_zeros();
            quotes &= quotes - 1;
            let (behind, rest) = (at + quote as usize + 1, marks >> quote >> 1);
            if rest == 0 {
                start = Some(behind);
            } else if tell(behind, behind + rest.trailing_zeros() as usize) {
                return (true, at, None);
            }
        }
        at += LEN;
    }
    (false, at, start)
}

/// How far a list of numbers, of which one is expected at `at`, can be told to be one by looking at blocks: to behind a
/// comma; and how many numbers stand before that. Numbers with an exponent and other white space than one space behind
/// each comma end it, as does a mistake.
pub(crate) fn numbers_run(text: &[u8], mut at: usize) -> (usize, u32) {
    let (mut end, mut count) = (at, 0);
    // What the byte before the block is, in the lowest bit: as if it were a comma, before the first. Whether digits before a
    // point end there, and whether they are just a zero.
    let mut before = Classes { digits: 0, zeros: 0, commas: 1, spaces: 0, points: 0, minuses: 0 };
    let (mut whole, mut zero) = (0, 0);
    while let Some(block) = Block::at(text, at) {
        let is = block.classes();
        let after_digit = is.digits << 1 | before.digits;
        let after_comma = is.commas << 1 | before.commas;
        let starts = after_comma | is.spaces << 1 | before.spaces;
        let first_digits = is.digits & (starts | is.minuses << 1 | before.minuses);
        // A sum carries from the first of some digits to what stands behind the last.
        let sum = is.digits + first_digits + whole;
        let after_whole = sum & !is.digits;
        let leading_zeros = (is.zeros & first_digits) << 1 | zero;
        let right = is.digits & !leading_zeros
            | is.commas & after_digit
            | is.spaces & after_comma
            | is.minuses & starts
            | is.points & after_whole;
        let is_right = (!right & 0xFFFF).trailing_zeros().min(LEN as u32);
        let commas = is.commas & ((1 << is_right) - 1);
        if commas != 0 {
            count += commas.count_ones();
            end = at + 32 - commas.leading_zeros() as usize;
        }
        if is_right < LEN as u32 {
            break;
        }
        (whole, zero) = (sum >> LEN, leading_zeros >> LEN);
        before = Classes {
            digits: is.digits >> (LEN - 1),
            zeros: 0,
            commas: is.commas >> (LEN - 1),
            spaces: is.spaces >> (LEN - 1),
            points: 0,
            minuses: is.minuses >> (LEN - 1),
        };
        at += LEN;
    }
    (end, count)
}

/// Reads the ids of a list, of which one is expected at `at`, by looking at blocks: those of few digits with a comma behind them, and
/// perhaps one space. Gives where the next is expected, and how many there were.
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
pub(crate) fn ids_run(text: &[u8], mut at: usize, ids: &mut [u32; MOST_IDS]) -> (usize, usize) {
    let mut count = 0;
    while count + MOST_IN_WINDOW <= MOST_IDS
        && let Some(window) = text.get(at..at + WINDOW + size_of::<u64>())
    {
        let (mut digits, mut commas, mut spaces) = (0u64, 0u64, 0u64);
        for start in (0..WINDOW).step_by(LEN) {
            let Some(block) = Block::at(window, start) else { break };
            let is = block.classes();
            digits |= u64::from(is.digits) << start;
            commas |= u64::from(is.commas) << start;
            spaces |= u64::from(is.spaces) << start;
        }
        // Either a space stands behind each comma, or nowhere.
        let has_spaces = spaces & commas << 1 != 0;
        let wrong = !(digits | commas | spaces) | spaces & !(commas << 1);
        let mut ends = if has_spaces {
            let wrong = wrong | commas << 1 & !spaces;
            commas & (wrong & wrong.wrapping_neg()).wrapping_sub(1) >> 1
        } else {
            commas & (wrong & wrong.wrapping_neg()).wrapping_sub(1)
        };
        let (step, mut start) = (1 + usize::from(has_spaces), 0);
        while ends != 0 {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            let len = end.wrapping_sub(start);
            if !(1..=MOST_DIGITS).contains(&len) {
                return (at + start, count);
            }
            ids[count] = super::value(super::word(window, start) ^ super::ZEROS, len);
            count += 1;
            start = end + step;
        }
        if start == 0 {
            break;
        }
        at += start;
    }
    (at, count)
}

#[cfg(test)]
mod tests {
    use super::super::tests::numbers_from;
    use super::*;

    /// Pieces of lists, put together at random: what is read in blocks is what a look at each byte reads, and of a list in one spelling all
    /// that a window has room for.
    #[test]
    fn runs_of_ids_are_those_of_the_grammar() {
        const NUMBERS: [&str; 8] = ["0", "7", "42", "123", "9999", "50256", "128256", "1234567"];
        const OTHERS: [&str; 12] = ["12345678", "-1", "1.5", "1e3", ",", " ", "]", "[", "  ", "\"", "a", "\n"];
        let mut random = numbers_from(11);
        let mut whole = 0;
        for round in 0..100_000 {
            let comma = [",", ", "][round % 2];
            let (mut text, mut is_regular) = (String::new(), true);
            for _ in 0..10 + random(200) {
                text += NUMBERS[random(NUMBERS.len())];
                if random(100) == 0 {
                    text += OTHERS[random(OTHERS.len())];
                    is_regular = false;
                }
                text += if random(400) == 0 { [",", ", ", " ,"][random(3)] } else { comma };
                is_regular = is_regular && text.ends_with(comma);
            }
            let mut ids = [0; MOST_IDS];
            let (end, count) = ids_run(text.as_bytes(), 0, &mut ids);
            let mut rest = text.as_str();
            for &id in &ids[..count] {
                let (digits, behind) = rest.split_once(',').unwrap();
                assert!((1..=7).contains(&digits.len()) && digits.parse() == Ok(id), "{text}");
                rest = behind.strip_prefix(' ').unwrap_or(behind);
            }
            let at = text.len() - rest.len();
            assert!(end == at || end + 1 == at && text[end..].starts_with(' '), "{text}");
            if is_regular && !text.contains(if comma == "," { " " } else { " ," }) {
                assert!(count + MOST_IN_WINDOW > MOST_IDS || end + WINDOW + 8 > text.len(), "{text}");
                whole += 1;
            }
        }
        assert!(whole > 5000);
    }
}
