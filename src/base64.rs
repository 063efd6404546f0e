//! Bytes as text: hexadecimal digits, and base64 with padding (RFC 4648, section 4). The crate of that name would be a twentieth of the slim module.

/// The bytes; nothing if the text is not base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let digits = text.strip_suffix(b"==").or(text.strip_suffix(b"=")).unwrap_or(text);
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut bits, mut filled) = (0u32, 0);
    for &byte in digits {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        filled += 6;
        if filled >= 8 {
            filled -= 8;
            bytes.push((bits >> filled) as u8);
        }
    }
    // The bits left over carry nothing.
    (bits & ((1 << filled) - 1) == 0).then_some(bytes)
}

/// Appends bytes as hexadecimal digits.
pub(crate) fn hex_into(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    }
}

/// Appends bytes as base64.
pub(crate) fn encode_into(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let mut bits = 0;
        for i in 0..3 {
            bits = bits << 8 | usize::from(chunk.get(i).copied().unwrap_or(0));
        }
        for i in 0..4 {
            out.push(if i <= chunk.len() { DIGITS[bits >> (18 - 6 * i) & 63] } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode_into};

    #[test]
    fn rfc_4648_vectors() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
            let mut encoded = Vec::new();
            encode_into(bytes.as_bytes(), &mut encoded);
            assert_eq!(encoded, text.as_bytes());
        }
        for bad in ["Z", "Zg=", "Zh==", "Z===", "Zm9_", "Zg==Zg=="] {
            assert_eq!(decode(bad.as_bytes()), None, "{bad}");
        }
    }
}
