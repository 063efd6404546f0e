//! Bytes looked for eight at a time, in a word: most of a trace is text without escapes and lists of short numbers, and
//! a step that does not depend on the single byte is several times as fast. The module is built for size, which leaves
//! such loops to us.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// The digit 0 in each byte.
const ZEROS: u64 = ONES * 0x30;

/// Where the first quote, backslash or control character from `at` on stands; else the end of the text.
pub(crate) fn plain_end(text: &[u8], at: usize) -> usize {
    find(text, at, |word| {
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        control | equal(word, b'"') | equal(word, b'\\')
    })
}

/// Where the line that starts at `at` ends, its line feed included.
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    (find(text, at, |word| equal(word, b'\n')) + 1).min(text.len())
}

/// Where the digits at `at` end.
pub(crate) fn digits_end(text: &[u8], at: usize) -> usize {
    find(text, at, |word| not_digits(word ^ ZEROS))
}

/// How many digits stand at `at`, and their value, if that is fewer than eight.
#[inline(always)]
pub(crate) fn short_digits(text: &[u8], at: usize) -> Option<(usize, u32)> {
    let digits = word(text, at) ^ ZEROS;
    let count = (not_digits(digits).trailing_zeros() / 8) as usize;
    if count == 0 || count == 8 {
        return None;
    }
    // The last digit to the top, zeros before the first: then pairs, fours and eights of digits become numbers.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    Some((count, (fours.wrapping_mul(10_000 << 32 | 1) >> 32) as u32))
}

/// Where the first byte stands that `marks` sets the highest bit of. Bits above that one may be wrong.
#[inline(always)]
fn find(text: &[u8], mut at: usize, marks: impl Fn(u64) -> u64) -> usize {
    while at < text.len() {
        let found = marks(word(text, at));
        if found != 0 {
            return text.len().min(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    text.len()
}

/// Eight bytes of a text, the first lowest; zeros behind its end.
#[inline(always)]
fn word(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => last_word(rest),
    }
}

fn last_word(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Marks the bytes that are this one; of those above the first perhaps others.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let zero = word ^ (ONES * u64::from(byte));
    zero.wrapping_sub(ONES) & !zero & HIGH
}

/// Marks the bytes above nine.
#[inline(always)]
fn not_digits(digits: u64) -> u64 {
    (((digits & !HIGH) + ONES * 0x76) | digits) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte at every place of texts of some lengths, behind bytes of several kinds.
    fn each(tell: &mut dyn FnMut(&[u8], usize)) {
        for len in 0..20 {
            for filler in [b'a', b'7', b' ', 0xE3] {
                for place in 0..=len {
                    for byte in 0..=255 {
                        let mut text = vec![filler; len];
                        text.insert(place, byte);
                        for at in [0, 1, len] {
                            tell(&text, at);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn finds_what_a_look_at_each_byte_finds() {
        each(&mut |text, at| {
            let first = |is: &dyn Fn(u8) -> bool| {
                text.iter().skip(at).position(|&byte| is(byte)).map_or(text.len(), |found| at + found)
            };
            assert_eq!(plain_end(text, at), first(&|byte| byte < 0x20 || byte == b'"' || byte == b'\\'));
            assert_eq!(line_end(text, at), (first(&|byte| byte == b'\n') + 1).min(text.len()));
            assert_eq!(digits_end(text, at), first(&|byte| !byte.is_ascii_digit()));
        });
    }

    #[test]
    fn reads_short_runs_of_digits() {
        each(&mut |text, at| {
            let digits: Vec<u8> = text.iter().skip(at).copied().take_while(u8::is_ascii_digit).collect();
            let value = std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse().ok());
            let expected = value.filter(|_| digits.len() < 8).map(|value: u32| (digits.len(), value));
            assert_eq!(short_digits(text, at), expected, "{text:?} from {at}");
        });
        assert_eq!(short_digits(b"1234567]", 0), Some((7, 1_234_567)));
        assert_eq!(short_digits(b"0090,", 0), Some((4, 90)));
    }
}
