//! Values as JSON, for those who read ids; texts as values.

use super::wire::{BYTES, bytes_into, next};
use super::{BOOL, DOUBLE, INT, KEY_VALUES, OtlpProto, STRING, VALUES};
use crate::base64;
use crate::json::{decimal_into, quote_into, text_into};
use crate::view::{Form, Text};

impl OtlpProto<'_> {
    /// Appends the value between two places as JSON, with so many lists inside each other.
    pub(super) fn json_into(&self, value: (usize, usize), lists: usize, out: &mut Vec<u8>) {
        let Some(field) = self.content_between(value) else { return out.extend_from_slice(b"null") };
        let content = &self.body[field.start..field.end];
        match field.number {
            STRING => quote_into(content, out),
            BOOL => out.extend_from_slice(if field.value == 0 { b"false" } else { b"true" }),
            INT => {
                if (field.value as i64) < 0 {
                    out.push(b'-');
                }
                decimal_into((field.value as i64).unsigned_abs(), out);
            }
            DOUBLE => rough_double_into(content, out),
            VALUES if lists == 0 => out.extend_from_slice(b"[]"),
            VALUES => {
                // Not by nodes: a mask or log-probabilities can be long.
                out.push(b'[');
                let mut at = field.start;
                while let Some(item) = next(self.body, &mut at, field.end) {
                    if item.number == 1 && item.wire == BYTES {
                        if out.last() != Some(&b'[') {
                            out.push(b',');
                        }
                        self.json_into((item.start, item.end), lists - 1, out);
                    }
                }
                out.push(b']');
            }
            KEY_VALUES => out.extend_from_slice(b"{}"),
            _ => {
                out.push(b'"');
                base64::encode_into(content, out);
                out.push(b'"');
            }
        }
    }

    /// The pair for a text; inside what MLflow reads again as a JSON string.
    pub(super) fn pair_of(key: &str, text: &Text, is_reread: bool) -> Vec<u8> {
        let mut pair = Vec::new();
        bytes_into(1, key.as_bytes(), &mut pair);
        bytes_into(2, &Self::value_of(text, is_reread), &mut pair);
        pair
    }

    pub(super) fn value_of(text: &Text, is_reread: bool) -> Vec<u8> {
        let (mut value, mut list) = (Vec::new(), Vec::new());
        if is_reread && text.form != Form::Rows {
            let mut json = Vec::new();
            text_into(text, true, &mut json);
            bytes_into(STRING, &json, &mut value);
            return value;
        }
        for text in &text.texts {
            value.clear();
            bytes_into(STRING, text.as_bytes(), &mut value);
            bytes_into(1, &value, &mut list);
        }
        if text.form == Form::Rows {
            value.clear();
            bytes_into(VALUES, &list, &mut value);
        }
        value
    }
}

/// Appends a double as JSON, as exactly as ids, masks and lengths need it, which is faster than exactly:
/// fractions have six digits.
fn rough_double_into(bytes: &[u8], out: &mut Vec<u8>) {
    let double = f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    if double.is_nan() {
        return out.extend_from_slice(b"NaN");
    }
    if double.is_sign_negative() {
        out.push(b'-');
    }
    let double = double.abs();
    if double >= 1e18 {
        return out.extend_from_slice(if double.is_infinite() { b"Infinity" } else { b"1e18" });
    }
    let whole = double as u64;
    let fraction = double - whole as f64;
    // Not to be taken for a whole number.
    let millionths = if fraction > 0.0 { ((fraction * 1e6 + 0.5) as u64).clamp(1, 999_999) } else { 0 };
    decimal_into(whole, out);
    let point = out.len();
    decimal_into(1_000_000 + millionths, out);
    out[point] = b'.';
}
