//! Bytes looked for sixteen at a time in WebAssembly, else eight at a time in a word: most of a trace is text without
//! escapes and lists of short numbers, and a step that does not depend on the single byte is several times as fast. The
//! module is built for size, which leaves such loops to us.

#[cfg(any(target_feature = "simd128", test))]
mod block;

#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
pub(crate) use block::{MOST_IDS, ids_run};
#[cfg(any(target_feature = "simd128", test))]
pub(crate) use block::{escapes_run, numbers_run};

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
/// The digit 0 in each byte.
const ZEROS: u64 = ONES * 0x30;

/// Where the first quote, backslash or control character from `at` on stands; else the end of the text.
#[inline(always)]
pub(crate) fn plain_end_here(text: &[u8], #[allow(unused_mut)] mut at: usize) -> usize {
    #[cfg(target_feature = "simd128")]
    if block::skip(text, &mut at, |block| block.marks_in_strings()) {
        return at;
    }
    find(text, at, marks_in_strings)
}

/// [`plain_end_here`] of a short string: a place up to there, with nothing but plain bytes before it.
#[inline(always)]
pub(crate) fn short_plain_end(text: &[u8], at: usize) -> usize {
    #[cfg(target_feature = "simd128")]
    if let Some(block) = block::Block::at(text, at) {
        return at + (block.marks_in_strings() | 1 << block::LEN).trailing_zeros() as usize;
    }
    let _ = text;
    at
}

/// Where the first byte from `at` on stands that is no white space; else the end of the text.
#[inline(always)]
pub(crate) fn space_end(text: &[u8], #[allow(unused_mut)] mut at: usize) -> usize {
    #[cfg(target_feature = "simd128")]
    if block::skip(text, &mut at, |block| block.not_space()) {
        return at;
    }
    super::skip_space(text, at)
}

/// [`plain_end_here`] as a function of its own, for all but the scanner.
pub(crate) fn plain_end(text: &[u8], at: usize) -> usize {
    plain_end_here(text, at)
}

/// Whether something that stands behind a quote in a text, up to the next quote or backslash, is what is looked for; or a
/// character of ASCII is spelled by its number there (`\\u0070`), so that this cannot be told.
pub(crate) fn any_behind_quote(text: &[u8], is_it: &mut dyn FnMut(usize, usize) -> bool) -> bool {
    #[cfg(any(target_feature = "simd128", test))]
    let (mut found, mut at, mut start) = block::behind_quotes(text, &mut *is_it);
    #[cfg(not(any(target_feature = "simd128", test)))]
    let (mut found, mut at, mut start) = (false, 0usize, None);
    found |= at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\\') && is_ascii_number(text, at);
    while !found && at < text.len() {
        let end = plain_end(text, at);
        let mark = text.get(end).copied().filter(|&byte| byte >= b' ');
        if let Some(start) = start.take_if(|_| mark.is_some()) {
            found = is_it(start, end);
        }
        at = end + 1;
        match mark {
            Some(b'"') => start = Some(at),
            Some(_) => found |= is_ascii_number(text, at),
            None => {}
        }
    }
    found
}

/// Whether the number of a character of ASCII stands at `at`, behind a backslash.
fn is_ascii_number(text: &[u8], at: usize) -> bool {
    matches!(text.get(at..), Some([b'u', b'0', b'0', b'0'..=b'7', ..]))
}

/// Eight bytes of a string's content from `at` on, and how many of them stand before an escape or the end.
#[inline(always)]
pub(crate) fn plain_word(text: &[u8], at: usize) -> ([u8; 8], usize) {
    let word = word(text, at);
    let plain = (equal(word, b'\\').trailing_zeros() / 8) as usize;
    (word.to_le_bytes(), plain.min(text.len() - at))
}

/// Eight bytes of a text from `at` on, and how many of them stand before one that must be escaped or the end.
#[inline(always)]
pub(crate) fn unescaped_word(text: &[u8], at: usize) -> ([u8; 8], usize) {
    let word = word(text, at);
    let plain = (marks_in_strings(word).trailing_zeros() / 8) as usize;
    (word.to_le_bytes(), plain.min(text.len() - at))
}

/// Marks quotes, backslashes and control characters; above the first perhaps others.
#[inline(always)]
fn marks_in_strings(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    control | equal(word, b'"') | equal(word, b'\\')
}

/// Where the line that starts at `at` ends, its line feed included.
pub(crate) fn line_end(text: &[u8], #[allow(unused_mut)] mut at: usize) -> usize {
    #[cfg(target_feature = "simd128")]
    if block::skip(text, &mut at, |block| block.line_feeds()) {
        return at + 1;
    }
    (find(text, at, |word| equal(word, b'\n')) + 1).min(text.len())
}

/// Where the digits at `at` end.
pub(crate) fn digits_end(text: &[u8], at: usize) -> usize {
    find(text, at, |word| not_digits(word ^ ZEROS))
}

/// How far a list of numbers that starts at `at` can be told to be one in blocks, and how many numbers stand before that:
/// nowhere, without blocks.
#[cfg(not(any(target_feature = "simd128", test)))]
pub(crate) fn numbers_run(_text: &[u8], at: usize) -> (usize, u32) {
    (at, 0)
}

/// How far the content of a string can be told to be right in blocks: nowhere, without blocks.
#[cfg(not(any(target_feature = "simd128", test)))]
pub(crate) fn escapes_run(_text: &[u8], at: usize) -> usize {
    at
}

/// How many digits stand at `at`, and their value, if that is fewer than eight.
#[inline(always)]
pub(crate) fn short_digits(text: &[u8], at: usize) -> Option<(usize, u32)> {
    let digits = word(text, at) ^ ZEROS;
    let count = (not_digits(digits).trailing_zeros() / 8) as usize;
    if count == 0 || count == 8 {
        return None;
    }
    Some((count, value(digits, count)))
}

/// The number that the first digits of a word are, one to seven, each given as its value.
#[inline(always)]
fn value(digits: u64, count: usize) -> u32 {
    // The last digit to the top, zeros before the first: then pairs, fours and eights of digits become numbers.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100 << 16 | 1) >> 16 & 0x0000_FFFF_0000_FFFF;
    (fours.wrapping_mul(10_000 << 32 | 1) >> 32) as u32
}

/// Whether two lists are the same. The standard library compares memory, which is a byte a step in WebAssembly.
#[cfg(feature = "rollouts")]
pub(crate) fn are_same<T: Copy + PartialEq>(left: &[T], right: &[T]) -> bool {
    let is_same =
        |(left, right): (&[T], &[T])| left.iter().zip(right).fold(true, |are, (left, right)| are & (left == right));
    left.len() == right.len() && left.chunks(64).zip(right.chunks(64)).all(is_same)
}

/// Appends a whole number.
pub(crate) fn decimal_into(mut number: u64, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        out.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
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
    use crate::json::number_end;

    /// Numbers below what is asked for, always the same ones.
    pub(super) fn numbers_from(mut seed: u64) -> impl FnMut(usize) -> usize {
        move |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        }
    }

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

    /// Pieces of strings, put together at random: a run ends where a look at each byte finds the first thing that is no plain
    /// byte and no frequent escape, or a block before the end of the text.
    #[test]
    fn runs_of_escapes_are_those_of_the_grammar() {
        const PIECES: [&[u8]; 16] = [
            b"\\n",
            b"\\\\",
            b"\\\"",
            b"\\t",
            b"\\\\\\\"",
            b"\\\\\\\\",
            b"n",
            b"text",
            b"\xE3\x81\x84",
            b" ",
            b"\\\\n",
            b"\\r",
            b"\"",
            b"\\u0041",
            b"\\x",
            b"\x1F",
        ];
        let mut random = numbers_from(3);
        let mut longest = 0;
        for _ in 0..100_000 {
            let mut text = Vec::new();
            while text.len() < 70 {
                let count = if random(24) == 0 { PIECES.len() } else { 11 };
                text.extend_from_slice(PIECES[random(count)]);
            }
            let end = escapes_run(&text, 0);
            let mut at = 0;
            loop {
                let is_escape = matches!(text.get(at..at + 2), Some([b'\\', b'n' | b't' | b'"' | b'\\']));
                let step = if is_escape { 2 } else { 1 };
                let is_plain = text.get(at).is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\');
                if at + step > text.len() / 16 * 16 || !is_escape && !is_plain {
                    break;
                }
                at += step;
            }
            assert_eq!(end, at, "{}", String::from_utf8_lossy(&text));
            longest = longest.max(end);
        }
        assert!(longest >= 64);
    }

    /// What stands behind quotes in texts put together at random is what a look at each byte tells.
    #[test]
    fn tells_what_stands_behind_quotes() {
        const PIECES: [&[u8]; 12] = [
            b"\"",
            b"\\\"",
            b"\\\\\\\"",
            b"key",
            b"a longer key of many bytes",
            b": ",
            b",",
            b"\n",
            b"\\\\",
            b"\\u00e9",
            b"u",
            b"\\u0041",
        ];
        let mut random = numbers_from(5);
        let mut numbers = 0;
        for _ in 0..50_000 {
            let mut text = Vec::new();
            let len = 20 + random(60);
            while text.len() < len {
                let count = if random(16) == 0 { PIECES.len() } else { 11 };
                text.extend_from_slice(PIECES[random(count)]);
            }
            let mut expected = Vec::new();
            for (at, _) in text.iter().enumerate().filter(|&(_, &byte)| byte == b'"') {
                let rest = &text[at + 1..];
                let len = rest.iter().position(|&byte| byte == b'"' || byte == b'\\');
                expected.extend(len.map(|len| (at + 1, at + 1 + len)));
            }
            let has_number =
                text.windows(4).any(|bytes| bytes == b"\\u00") && text.windows(5).any(|bytes| bytes == b"\\u004");
            let mut told = Vec::new();
            let found = any_behind_quote(&text, &mut |start, end| {
                told.push((start, end));
                false
            });
            let shown = String::from_utf8_lossy(&text);
            assert_eq!(found, has_number, "{shown}");
            if !found {
                assert_eq!(told, expected, "{shown}");
            }
            if let Some(&last) = expected.last().filter(|_| !found) {
                assert!(any_behind_quote(&text, &mut |start, end| (start, end) == last), "{shown}");
            }
            numbers += usize::from(found);
        }
        assert!(numbers > 1000);
    }

    /// Pieces of lists, put together at random: what is a run in blocks is a list of numbers, and no more is one.
    #[test]
    fn runs_of_numbers_are_those_of_the_grammar() {
        const PIECES: [&[u8]; 24] = [
            b"0",
            b"1",
            b"7",
            b"42",
            b"1234567",
            b"99999999999999999999",
            b"-1.25",
            b"-0.0312",
            b"0.5",
            b"1e5",
            b"-",
            b".",
            b",",
            b", ",
            b", ",
            b", ",
            b", ",
            b",",
            b",",
            b" ",
            b"00",
            b"]",
            b"1.2.3",
            b"NaN",
        ];
        let mut random = numbers_from(7);
        let mut longest = 0;
        for _ in 0..200_000 {
            let mut text = Vec::new();
            while text.len() < 70 {
                // Mostly a number and a comma in turn.
                let range = match random(16) {
                    0 => 0..PIECES.len(),
                    _ if text.last().is_some_and(u8::is_ascii_digit) => 12..19,
                    _ => 0..9,
                };
                text.extend_from_slice(PIECES[range.start + random(range.len())]);
            }
            let (end, count) = numbers_run(&text, 0);
            let (mut at, mut expected) = (usize::from(text[0] == b' '), (0, 0));
            while let Some(behind) = number_end(&text, at) {
                let is_spelled_so = !text[at..behind].iter().any(u8::is_ascii_alphabetic);
                if text.get(behind) != Some(&b',') || !is_spelled_so || behind >= text.len() / 16 * 16 {
                    break;
                }
                expected = (behind + 1, expected.1 + 1);
                at = behind + 1 + usize::from(text.get(behind + 1) == Some(&b' '));
            }
            assert_eq!((end, count), expected, "{}", String::from_utf8_lossy(&text));
            longest = longest.max(end);
        }
        assert!(longest >= 64);
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
