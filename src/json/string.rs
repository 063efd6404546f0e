//! JSON strings: what they hold, how text is written as one, and where a byte of the content stands in the raw text.

use std::borrow::Cow;

use super::bytes::{plain_end, plain_word, unescaped_word};

/// The content of a string, given what stands between its quotes. A lone surrogate escape becomes the three bytes
/// that UTF-8 would have for it (as in WTF-8), so that no two different strings have one content.
pub(crate) fn unescape(raw: &[u8]) -> Cow<'_, [u8]> {
    if !raw.contains(&b'\\') {
        return Cow::Borrowed(raw);
    }
    // Filled word by word: of a word with an escape what stands before it counts, and the rest is written over.
    let mut content = vec![0; raw.len() + 8];
    let (mut at, mut len) = (0, 0);
    while at < raw.len() {
        let (eight, plain) = plain_word(raw, at);
        if let Some(place) = content.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
            *place = eight;
        }
        at += plain;
        len += plain;
        if plain < 8 && at < raw.len() {
            let unit = Unit::at(raw, at);
            if let Some(place) = content.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
                *place = unit.bytes;
            }
            at += unit.raw_len;
            len += unit.content_len;
        }
    }
    content.truncate(len);
    Cow::Owned(content)
}

/// The content of a string, given its JSON text; nothing for another value.
pub(crate) fn string_content(json: &[u8]) -> Option<Cow<'_, [u8]>> {
    Some(unescape(json.strip_prefix(b"\"")?.strip_suffix(b"\"")?))
}

/// Offsets in the raw text of offsets in the content. `offsets` ascend.
pub(crate) fn raw_offsets(raw: &[u8], offsets: &[usize]) -> Vec<usize> {
    let (mut at, mut in_content) = (0, 0);
    offsets
        .iter()
        .map(|&offset| {
            while in_content < offset && at < raw.len() {
                let plain = (plain_end(raw, at) - at).min(offset - in_content);
                at += plain;
                in_content += plain;
                if in_content < offset && at < raw.len() {
                    let unit = Unit::at(raw, at);
                    in_content += unit.content_len;
                    at += unit.raw_len;
                }
            }
            at
        })
        .collect()
}

/// Appends `text` as what stands between the quotes of a string: only what must be escaped is.
pub(crate) fn escape_into(text: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    // For what most texts take.
    out.reserve(text.len() + text.len() / 8);
    // Filled eight bytes at a time: of those with something to escape what stands before it counts.
    let (mut buffer, mut len) = ([0; 256], 0);
    let mut at = 0;
    while at < text.len() {
        let (eight, plain) = unescaped_word(text, at);
        if let Some(place) = buffer.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
            *place = eight;
        }
        at += plain;
        len += plain;
        if let Some(&byte) = text.get(at).filter(|_| plain < 8) {
            let letter = match byte {
                b'"' | b'\\' => byte,
                b'\n' => b'n',
                b'\r' => b'r',
                b'\t' => b't',
                0x08 => b'b',
                0x0C => b'f',
                _ => b'u',
            };
            let [high, low] = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
            if let Some(place) = buffer.get_mut(len..).and_then(|rest| rest.first_chunk_mut()) {
                *place = [b'\\', letter, b'0', b'0', high, low];
            }
            at += 1;
            len += if letter == b'u' { 6 } else { 2 };
        }
        if len > buffer.len() - 16 {
            out.extend_from_slice(&buffer[..len]);
            len = 0;
        }
    }
    out.extend_from_slice(&buffer[..len]);
}

/// Appends `text` as a JSON string with its quotes.
pub(crate) fn quote_into(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escape_into(text, out);
    out.push(b'"');
}

/// One byte or one escape of the raw text (a surrogate pair is one), and what it stands for.
struct Unit {
    bytes: [u8; 4],
    content_len: usize,
    raw_len: usize,
}

impl Unit {
    #[inline(always)]
    fn at(raw: &[u8], at: usize) -> Unit {
        let byte = raw[at];
        if byte != b'\\' {
            return Unit { bytes: [byte, 0, 0, 0], content_len: 1, raw_len: 1 };
        }
        let escaped = raw.get(at + 1).copied().unwrap_or(b'\\');
        let simple = match escaped {
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return Unit::unicode(raw, at),
            other => other,
        };
        Unit { bytes: [simple, 0, 0, 0], content_len: 1, raw_len: 2 }
    }

    fn unicode(raw: &[u8], at: usize) -> Unit {
        let first = hex4(raw, at);
        let second = hex4(raw, at + 6);
        let is_pair = (0xD800..0xDC00).contains(&first)
            && raw.get(at + 6..at + 8) == Some(b"\\u".as_slice())
            && (0xDC00..0xE000).contains(&second);
        let (code, raw_len) =
            if is_pair { (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12) } else { (first, 6) };
        let mut bytes = [0; 4];
        let content_len = match char::from_u32(code) {
            Some(char) => char.encode_utf8(&mut bytes).len(),
            None => {
                bytes = [0xE0 | (code >> 12) as u8, 0x80 | (code >> 6 & 63) as u8, 0x80 | (code & 63) as u8, 0];
                3
            }
        };
        Unit { bytes, content_len, raw_len }
    }
}

/// The text of bytes, without a copy if they are text: U+FFFD stands for as many bytes as begin a character.
pub(crate) fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let (mut text, mut rest) = (String::new(), error.as_bytes());
        while !rest.is_empty() {
            let (valid, invalid) = push_lossy(rest, &mut text);
            rest = rest.get(valid + invalid..).unwrap_or_default();
        }
        text
    })
}

/// Appends what is text at the start of some bytes, and U+FFFD for what stands behind it. Gives how many bytes both have.
#[inline(never)]
pub(crate) fn push_lossy(bytes: &[u8], text: &mut String) -> (usize, usize) {
    match std::str::from_utf8(bytes) {
        Ok(all) => {
            text.push_str(all);
            (bytes.len(), 0)
        }
        Err(error) => {
            let valid = error.valid_up_to();
            text.push_str(bytes.get(..valid).and_then(|valid| std::str::from_utf8(valid).ok()).unwrap_or_default());
            text.push(char::REPLACEMENT_CHARACTER);
            (valid, error.error_len().unwrap_or(bytes.len() - valid))
        }
    }
}

/// The parts, one after the other: what `concat` gives, in a tenth of its code.
pub(crate) fn joined(parts: &[&str]) -> String {
    let mut all = String::new();
    for part in parts {
        all.push_str(part);
    }
    all
}

/// The value of the four hexadecimal digits of the escape at `at`; 0 where there are none.
fn hex4(raw: &[u8], at: usize) -> u32 {
    let digits = raw.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
    digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_of_every_escape() {
        for (raw, content) in [
            (r"plain", "plain".as_bytes()),
            (r#"\"\\\/\b\f\n\r\t"#, b"\"\\/\x08\x0C\n\r\t"),
            (r"\u00e9\ud83d\ude00", "é😀".as_bytes()),
            (r"\ud83d", b"\xED\xA0\xBD"),
            (r"\ud83d\u0041", b"\xED\xA0\xBDA"),
            (r"\ude00\ud83d", b"\xED\xB8\x80\xED\xA0\xBD"),
        ] {
            assert_eq!(unescape(raw.as_bytes()), content, "{raw}");
        }
    }

    #[test]
    fn offsets_follow_the_content() {
        let raw = br#"a\"\ud83d\ude00\u0041z"#;
        // Content: a " (4 bytes of the emoji) A z
        assert_eq!(raw_offsets(raw, &[0, 1, 2, 6, 7, 8]), [0, 1, 3, 15, 21, 22]);
    }

    #[test]
    fn escaping_is_undone_by_unescaping() {
        let text: String = (0..0x250).filter_map(char::from_u32).chain("𝒯\u{2028}".chars()).collect();
        let mut raw = Vec::new();
        escape_into(text.as_bytes(), &mut raw);
        assert_eq!(unescape(&raw), text.as_bytes());
        assert!(raw.iter().all(|&byte| byte >= 0x20));
    }
}
