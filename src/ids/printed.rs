//! Arrays as NumPy prints them: `[1 2 3]`, `array([1, 2], dtype=int32)`; its scalars: `np.int64(5)`.

use super::{Refusal, shorten};
use crate::json::number_end;

/// The number of each item of a printed array, with its place.
pub(super) type Items<'t> = Vec<(usize, &'t [u8])>;

/// Reads a printed array of one dimension; nothing if the text is no such array at all.
pub(super) fn array(text: &[u8]) -> Result<Option<Items<'_>>, Box<Refusal>> {
    let in_array = text.strip_prefix(b"array(").and_then(|rest| rest.strip_suffix(b")"));
    let list = in_array.unwrap_or(text);
    let Some(end) = list.iter().position(|&byte| byte == b']').filter(|_| list.starts_with(b"[")) else {
        return Ok(None);
    };
    if list.windows(3).any(|dots| dots == b"...") {
        return Err(Refusal::new(
            "truncated_at_source",
            "the printed array was cut (`...`) where it was written: the ids between are lost",
        ));
    }
    let (inside, rest) = (&list[1..end], list[end + 1..].trim_ascii());
    let has_commas = inside.contains(&b',');
    if inside.contains(&b'[') {
        return Err(Refusal::new("not_ids", "the value is a printed array of more than one dimension"));
    }
    let is_closed = rest.is_empty() || in_array.is_some() && is_integer_type(rest);
    if !is_closed {
        return Ok(None);
    }
    let is_separator = |byte: &u8| if has_commas { *byte == b',' } else { byte.is_ascii_whitespace() };
    let mut items = Vec::new();
    let inside = inside.trim_ascii();
    let inside = inside.strip_suffix(b",").unwrap_or(inside);
    let parts = inside.split(is_separator).map(<[u8]>::trim_ascii);
    for (index, item) in parts.filter(|part| has_commas || !part.is_empty()).enumerate() {
        items.push((index, number(item, index)?));
    }
    Ok(Some(items))
}

/// The digits of `np.int64(5)` and its like.
pub(super) fn numpy_scalar(text: &[u8]) -> Option<&[u8]> {
    let call = text.strip_prefix(b"np.").or_else(|| text.strip_prefix(b"numpy."))?.strip_suffix(b")")?;
    let open = call.iter().position(|&byte| byte == b'(')?;
    is_integer_name(&call[..open]).then(|| &call[open + 1..])
}

fn number(item: &[u8], index: usize) -> Result<&[u8], Box<Refusal>> {
    if number_end(item, 0) == Some(item.len()) {
        return Ok(item);
    }
    Err(Refusal::new("not_ids", format!("item {index} is {}", shorten(item))))
}

/// `, dtype=int32` and its like.
fn is_integer_type(rest: &[u8]) -> bool {
    let name = rest.strip_prefix(b",").map(<[u8]>::trim_ascii_start).and_then(|rest| rest.strip_prefix(b"dtype="));
    name.is_some_and(is_integer_name)
}

/// `int64`, `uint8` and their like.
fn is_integer_name(name: &[u8]) -> bool {
    let bits = name.strip_prefix(b"u").unwrap_or(name).strip_prefix(b"int");
    bits.is_some_and(|bits| matches!(bits, b"8" | b"16" | b"32" | b"64"))
}
