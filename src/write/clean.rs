//! JSON text as every backend takes it.

use crate::json::{Json, number_end, quote_into};
use crate::{Error, ErrorCode};

use super::number::{integer, unsigned};

/// What a backend takes of the JSON that is written into its body.
#[derive(Clone, Copy)]
pub(super) struct Taste {
    /// Most lists and objects inside each other.
    pub depth: usize,
    /// What becomes of `NaN` and the infinities.
    pub non_finite: NonFinite,
    /// Whether integers of more than 64 bits become strings.
    pub bounds_integers: bool,
}

/// What becomes of the literals of numbers that JSON has not.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NonFinite {
    /// They stay.
    Kept,
    /// They are null.
    Null,
    /// They are strings.
    Text,
}

/// Text that is one value of JSON, with U+FFFD for each half of a surrogate pair that has no other half, without line
/// breaks between its values, and as a backend wants its numbers.
pub(super) fn clean(text: &str, place: &str, taste: Taste) -> Result<Vec<u8>, Error> {
    let text = text.as_bytes();
    if let Err(scan) = Json::parse(text, taste.depth) {
        let is_deep = scan.what == crate::json::TOO_DEEP;
        let (code, what) = if is_deep {
            (ErrorCode::LimitExceeded, format!("{place} is nested deeper than {} levels", taste.depth))
        } else {
            (ErrorCode::InvalidBody, format!("{place} is not JSON: {} at byte {}", scan.what, scan.at))
        };
        return Err(Error::new(code, what));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    let mut in_string = false;
    while let Some(&byte) = text.get(at) {
        let len = match byte {
            b'"' => {
                in_string = !in_string;
                1
            }
            b'\\' if in_string => {
                let (len, is_lone) = escape(text, at);
                if is_lone {
                    out.extend_from_slice(b"\\ufffd");
                    at += len;
                    continue;
                }
                len
            }
            b'\n' | b'\r' if !in_string => {
                out.push(b' ');
                at += 1;
                continue;
            }
            b'-' | b'0'..=b'9' | b'N' | b'I' if !in_string => {
                let end = number_end(text, at).unwrap_or(at + 1);
                number_into(text.get(at..end).unwrap_or_default(), taste, &mut out);
                at = end;
                continue;
            }
            _ => 1,
        };
        out.extend_from_slice(text.get(at..at + len).unwrap_or_default());
        at += len;
    }
    Ok(out)
}

/// The length of the escape at `at`, two of a surrogate pair together, and whether it is half of one alone.
fn escape(text: &[u8], at: usize) -> (usize, bool) {
    let half = |at: usize| {
        let is_escape = text.get(at..at + 2) == Some(b"\\u");
        let digits = text.get(at + 2..at + 6).filter(|_| is_escape)?;
        let is_surrogate = matches!(digits.first(), Some(b'd' | b'D'));
        let second = digits.get(1).filter(|_| is_surrogate)?.to_ascii_lowercase();
        matches!(second, b'8'..=b'9' | b'a'..=b'f').then_some(second >= b'c')
    };
    match half(at) {
        Some(false) if half(at + 6) == Some(true) => (12, false),
        Some(_) => (6, true),
        None => (2, false),
    }
}

fn number_into(number: &[u8], taste: Taste, out: &mut Vec<u8>) {
    let is_finite = !matches!(number.last(), Some(b'N' | b'y'));
    if !is_finite && taste.non_finite == NonFinite::Null {
        return out.extend_from_slice(b"null");
    }
    let is_text =
        if is_finite { taste.bounds_integers && is_too_large(number) } else { taste.non_finite == NonFinite::Text };
    if is_text {
        return quote_into(number, out);
    }
    out.extend_from_slice(number);
}

/// Whether a number is an integer that neither an `i64` nor a `u64` holds.
fn is_too_large(number: &[u8]) -> bool {
    number.iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9'))
        && integer(number).or(unsigned(number).map(|_| 0)).is_none()
}
