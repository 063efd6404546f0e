//! Values and lists in JSON text by their bytes alone, without nodes.

use super::bytes::{digits_end, plain_end};

/// Skips the white space of JSON.
#[inline(always)]
pub(crate) fn skip_space(text: &[u8], mut at: usize) -> usize {
    // One comparison where there is none, as is most often the case.
    while text.get(at).is_some_and(|&byte| byte <= b' ' && matches!(byte, b' ' | b'\n' | b'\r' | b'\t')) {
        at += 1;
    }
    at
}

/// The end of the number (or `NaN`, `Infinity`, `-Infinity`) that starts at `at`.
pub(crate) fn number_end(text: &[u8], at: usize) -> Option<usize> {
    let digits = |start: usize| Some(digits_end(text, start)).filter(|&end| end > start);
    let start = at + usize::from(text.get(at) == Some(&b'-'));
    let mut end = match text.get(start)? {
        b'0' => start + 1,
        b'1'..=b'9' => digits(start)?,
        b'N' if start == at => return text[at..].starts_with(b"NaN").then_some(at + 3),
        b'I' => return text[start..].starts_with(b"Infinity").then_some(start + 8),
        _ => return None,
    };
    if text.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + sign)?;
    }
    Some(end)
}

/// The end of the value at `at`, in text that was scanned before.
pub(crate) fn value_end(text: &[u8], at: usize) -> usize {
    let (mut end, mut depth) = (at, 0usize);
    while let Some(&byte) = text.get(end) {
        match byte {
            b'"' => {
                end = plain_end(text, end + 1);
                while text.get(end).is_some_and(|&byte| byte != b'"') {
                    end = plain_end(text, end + 1 + usize::from(text[end] == b'\\'));
                }
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 0 => return end,
            b']' | b'}' => depth -= 1,
            b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return end,
            _ => {}
        }
        end += 1;
        if depth == 0 && matches!(byte, b'"' | b']' | b'}') {
            return end.min(text.len());
        }
    }
    end.min(text.len())
}

/// The items of a list, given its text, which was scanned before.
pub(crate) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut at = skip_space(list, 1);
    std::iter::from_fn(move || {
        if matches!(list.get(at), None | Some(b']')) {
            return None;
        }
        // Masks are made of digits.
        let end = match list.get(at..at + 2) {
            Some([b'0'..=b'9', b',' | b']']) => at + 1,
            _ => value_end(list, at),
        };
        let item = &list[at..end];
        at = skip_space(list, end);
        if list.get(at) == Some(&b',') {
            at = skip_space(list, at + 1);
        }
        Some(item)
    })
}

/// Tells the numbers of a list whose items are numbers of OTLP/JSON, each an object with its type, the number in quotes or
/// not, and gives where the list ends; nothing if something else is in it or if it is empty.
pub(crate) fn typed_numbers<'t>(text: &'t [u8], list: usize, tell: &mut dyn FnMut(&'t [u8])) -> Option<usize> {
    // What stands before and behind the number of the item before, which is the same for most.
    let (mut before, mut behind) = (&text[..0], &text[..0]);
    let mut at = skip_space(text, list + 1);
    loop {
        let item = text.get(at..)?;
        if before.is_empty() || !item.starts_with(before) {
            before = item.get(..before_number(item)?)?;
            behind = &text[..0];
        }
        let start = at + before.len();
        let end = number_end(text, start)?;
        tell(&text[start..end]);
        let rest = text.get(end..)?;
        if behind.is_empty() || !rest.starts_with(behind) {
            let quote = usize::from(before.last() == Some(&b'"'));
            let brace = skip_space(rest, quote);
            if quote == 1 && rest.first() != Some(&b'"') || rest.get(brace) != Some(&b'}') {
                return None;
            }
            behind = &rest[..=brace];
        }
        at = skip_space(text, end + behind.len());
        match text.get(at) {
            Some(b',') => at = skip_space(text, at + 1),
            Some(b']') => return Some(at + 1),
            _ => return None,
        }
    }
}

/// The types of numbers.
pub(crate) const NUMBERS: [&str; 4] = ["intValue", "int_value", "doubleValue", "double_value"];

/// How much of an item stands before its number: `{"intValue":"`.
fn before_number(item: &[u8]) -> Option<usize> {
    let start = skip_space(item, usize::from(item.first() == Some(&b'{')));
    let name = item.get(start + 1..).filter(|_| start > 0 && item[start] == b'"')?;
    let name = NUMBERS
        .into_iter()
        .find(|known| name.starts_with(known.as_bytes()) && name[known.len()..].starts_with(b"\""))?;
    let colon = skip_space(item, start + name.len() + 2);
    let value = skip_space(item, colon + 1);
    let quote = usize::from(item.get(value) == Some(&b'"'));
    (item.get(colon) == Some(&b':')).then_some(value + quote)
}
