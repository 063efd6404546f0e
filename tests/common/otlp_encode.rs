//! OTLP/JSON as protocol buffers, for what tests write: attributes of spans and of events.

use serde_json::Value;

fn message(number: u64, content: &[u8]) -> Vec<u8> {
    [varint(number << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn all(number: u64, list: &Value, encode: impl Fn(&Value) -> Vec<u8>) -> Vec<u8> {
    list.as_array().into_iter().flatten().flat_map(|item| message(number, &encode(item))).collect()
}

fn pair(pair: &Value) -> Vec<u8> {
    [message(1, pair["key"].as_str().unwrap().as_bytes()), message(2, &value(&pair["value"]))].concat()
}

fn value(value: &Value) -> Vec<u8> {
    let Some((kind, content)) = value.as_object().unwrap().iter().next() else { return Vec::new() };
    let number = || content.as_str().map_or(content.as_u64(), |digits| digits.parse().ok()).unwrap();
    match kind.as_str() {
        "stringValue" => message(1, content.as_str().unwrap().as_bytes()),
        "intValue" => [varint(3 << 3), varint(number())].concat(),
        "arrayValue" => message(5, &all(1, &content["values"], self::value)),
        "kvlistValue" => message(6, &all(1, &content["values"], pair)),
        other => panic!("{other}"),
    }
}

/// A trace request.
pub fn request(json: &Value) -> Vec<u8> {
    let event = |event: &Value| all(3, &event["attributes"], pair);
    let span = move |span: &Value| [all(9, &span["attributes"], pair), all(11, &span["events"], event)].concat();
    let scope = move |scope: &Value| all(2, &scope["spans"], span);
    all(1, &json["resourceSpans"], move |resource| all(2, &resource["scopeSpans"], scope))
}
