//! OTLP protocol buffers as the JSON value that captures address: a reader of its own, so that a mistake of the crate is
//! not made twice. It panics on what is not whole.

use serde_json::{Map, Value, json};

/// The fields of a message: number, content, value of a number.
fn fields(mut bytes: &[u8]) -> Vec<(u64, &[u8], u64)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let (content, value) = match tag & 7 {
            0 => (&bytes[..0], varint(&mut bytes)),
            2 => {
                let length = varint(&mut bytes) as usize;
                (take(&mut bytes, length), 0)
            }
            1 => (take(&mut bytes, 8), 0),
            5 => (take(&mut bytes, 4), 0),
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, content, value));
    }
    fields
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(count);
    *bytes = rest;
    taken
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = take(bytes, 1)[0];
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn value_of(bytes: &[u8]) -> Value {
    let Some((number, content, value)) = fields(bytes).into_iter().rfind(|(number, ..)| (1..=7).contains(number))
    else {
        return Value::Null;
    };
    match number {
        1 => text(content).into(),
        2 => (value != 0).into(),
        3 => (value as i64).into(),
        4 => json!(f64::from_le_bytes(content.try_into().unwrap())),
        5 => list(content, 1, value_of),
        6 => pairs(content, 1),
        _ => json!({ "bytes": content }),
    }
}

fn list(bytes: &[u8], number: u64, item: impl Fn(&[u8]) -> Value) -> Value {
    fields(bytes).into_iter().filter(|field| field.0 == number).map(|(_, content, _)| item(content)).collect()
}

fn pairs(bytes: &[u8], number: u64) -> Value {
    let mut object = Map::new();
    for (_, pair, _) in fields(bytes).into_iter().filter(|field| field.0 == number) {
        let pair = fields(pair);
        let of = |number: u64| pair.iter().rfind(|field| field.0 == number).map(|(_, content, _)| *content);
        object.insert(text(of(1).unwrap_or_default()), of(2).map_or(Value::Null, value_of));
    }
    Value::Object(object)
}

/// A trace request.
pub fn request(bytes: &[u8]) -> Value {
    let event = |bytes: &[u8]| json!({ "attributes": pairs(bytes, 3) });
    let span = move |bytes: &[u8]| json!({ "attributes": pairs(bytes, 9), "events": list(bytes, 11, event) });
    let scope = move |bytes: &[u8]| json!({ "spans": list(bytes, 2, span) });
    json!({ "resourceSpans": list(bytes, 1, move |bytes| json!({ "scopeSpans": list(bytes, 2, scope) })) })
}
