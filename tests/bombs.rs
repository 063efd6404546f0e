//! Bodies that are made to cost more than they are: depth, counts, lengths that lie. Each gets its error or its report, and
//! work and memory grow with the body: where they grew with its square, these tests would not end.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::letters;
use token2text::{EnrichOptions, Enriched, Error, ErrorCode, Format, enrich, strip};

const MIB: usize = 1 << 20;
const FORMATS: [Format; 8] = [
    Format::Auto,
    Format::Record,
    Format::OtlpJson,
    Format::OtlpProto,
    Format::Mlflow,
    Format::Weave,
    Format::Trackio,
    Format::Sse,
];

fn run_as(body: &[u8], format: Format) -> Result<Enriched, Error> {
    let mut options = EnrichOptions::default();
    options.format = format;
    enrich(body, &letters(), &options)
}

fn run(body: &[u8]) -> Enriched {
    run_as(body, Format::Auto).unwrap()
}

fn code(body: &[u8], format: Format) -> Option<ErrorCode> {
    run_as(body, format).err().map(|error| error.code())
}

/// A field of protocol buffers with a length.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![number << 3 | 2];
    let mut length = content.len();
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(content);
    out
}

/// A content in fields in fields, the first outermost.
fn nested(numbers: &[u8], content: &[u8]) -> Vec<u8> {
    numbers.iter().rev().fold(content.to_vec(), |content, &number| field(number, &content))
}

fn attribute(key: &str, value: &[u8]) -> Vec<u8> {
    field(9, &[field(1, key.as_bytes()), field(2, value)].concat())
}

/// A request with the content of one span.
fn request(span: &[u8]) -> Vec<u8> {
    nested(&[1, 2, 2], span)
}

fn string_value(text: &str) -> Vec<u8> {
    field(1, text.as_bytes())
}

#[test]
fn brackets_without_end_are_refused_in_every_format() {
    for opening in ["[", "{\"a\":", "[{\"a\":", "{\"spans\":[", "{\"resourceSpans\":"] {
        let body = opening.repeat(16 * MIB / opening.len());
        for format in FORMATS {
            let expected = match format {
                // Its first byte says that it is none; what is no event is copied.
                Format::OtlpProto => Some(ErrorCode::InvalidBody),
                Format::Sse => None,
                _ => Some(ErrorCode::LimitExceeded),
            };
            assert_eq!(code(body.as_bytes(), format), expected, "{opening} {format:?}");
        }
    }
    let event = format!("data: {}\n\ndata: {{\"output_ids\": [0]}}\n\n", "[".repeat(16 * MIB));
    let report = run(event.as_bytes()).report;
    assert_eq!((report.totals.decoded, report.warnings[0].code), (1, "invalid_body"));
}

#[test]
fn depth_inside_strings_is_bounded_too() {
    let deep = "[".repeat(MIB) + &"]".repeat(MIB);
    for (body, reason) in [
        (format!(r#"{{"token_ids": "{deep}"}}"#), Some("not_ids")),
        (format!(r#"{{"token_ids": "{}"}}"#, "[".repeat(MIB)), Some("not_ids")),
        (format!(r#"{{"outputs": "{{\"token_ids\": {deep}}}"}}"#), None),
    ] {
        let report = run(body.as_bytes()).report;
        assert_eq!((report.totals.decoded, report.fields.first().and_then(|field| field.reason)), (0, reason));
    }
    // A string in a string in a string: each is twice as long as what is in it.
    let mut json = r#"{"token_ids": [0]}"#.to_owned();
    for _ in 0..18 {
        json = format!(r#"{{"outputs": {}}}"#, serde_json::Value::String(json));
    }
    run(json.as_bytes());
    let mut string = "[0]".to_owned();
    for _ in 0..18 {
        string = serde_json::Value::String(string).to_string();
    }
    assert_eq!(run(format!(r#"{{"token_ids": {string}}}"#).as_bytes()).report.totals.decoded, 0);
    // In values of protocol buffers: pairs in pairs, and JSON in a string of theirs.
    let pairs = |depth: usize| nested(&[9, 2].into_iter().chain([6, 1, 2].repeat(depth)).collect::<Vec<_>>(), &[]);
    assert_eq!(code(&request(&pairs(300)), Format::Auto), None);
    assert_eq!(code(&request(&pairs(20_000)), Format::OtlpProto), Some(ErrorCode::LimitExceeded));
    let body = request(&attribute("output.value", &string_value(&format!(r#"{{"token_ids": {deep}}}"#))));
    assert_eq!(run(&body).report.totals.decoded, 0);
}

#[test]
fn lengths_that_lie_are_refused() {
    let good = request(&attribute("output.value", &string_value(r#"{"token_ids": [0]}"#)));
    assert_eq!(run(&good).report.totals.decoded, 1);
    for at in 0..good.len() {
        // Every byte may be a length: longer than the rest, 2^64 - 1, spelled too long, without end.
        for lie in [
            &[0x7F][..],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
            &[0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00],
            &[0x80; 11],
            &[0x0B],
        ] {
            let body = [&good[..at], lie, &good[at + 1..]].concat();
            if let Ok(enriched) = run_as(&body, Format::OtlpProto) {
                let mut options = EnrichOptions::default();
                options.format = Format::OtlpProto;
                assert_eq!(strip(&enriched.body, &options).unwrap(), body, "{at} {lie:?}");
            }
        }
    }
}

#[test]
fn many_spans_cost_what_they_are() {
    // Two bytes each.
    let report = run(&nested(&[1, 2], &[0x12, 0].repeat(MIB / 4))).report;
    assert_eq!((report.spans, report.totals.decoded), (MIB / 4, 0));
    for (start, item, end, format) in [
        ("[", "{}", "]", Format::Record),
        (r#"{"resourceSpans":[{"scopeSpans":[{"spans":["#, "{}", "]}]}]}", Format::OtlpJson),
        (r#"{"spans":["#, "{}", "]}", Format::Mlflow),
        (r#"{"batch":["#, "{}", "]}", Format::Weave),
        (r#"{"batch":["#, r#"{"end":{"id":"1"}}"#, "]}", Format::Weave),
        (r#"{"logs":["#, r#"{"metrics":{}}"#, "]}", Format::Trackio),
        ("", "data: {}\n\n", "", Format::Sse),
    ] {
        let separator = if start.is_empty() { "" } else { "," };
        let body = [start, &vec![item; MIB / 4].join(separator), end].concat();
        let out = run_as(body.as_bytes(), format).unwrap();
        assert!(out.body == body.as_bytes(), "{format:?}");
    }
}

/// A span is some hundred bytes of memory, and two of a body.
#[test]
fn more_spans_than_a_body_may_have_are_refused() {
    let refused = Some(ErrorCode::LimitExceeded);
    assert_eq!(code(&nested(&[1, 2], &[0x12, 0].repeat(MIB + 1)), Format::Auto), refused);
    assert_eq!(code(&nested(&[1, 2], &[0x12, 0].repeat(30 * MIB)), Format::Auto), refused);
    // Attributes of one span.
    assert_eq!(code(&request(&[0x4A, 0].repeat(17 * MIB)), Format::Auto), refused);
    for (start, end, format) in [
        ("[", "]", Format::Record),
        (r#"{"resourceSpans":[{"scopeSpans":[{"spans":["#, "]}]}]}", Format::OtlpJson),
        (r#"{"batch":["#, "]}", Format::Weave),
        (r#"{"data":["#, "]}", Format::Trackio),
        (r#"{"data":[{"spans":["#, "]}]}", Format::Trackio),
    ] {
        let line = [start, &vec!["{}"; MIB + 1].join(","), end].concat();
        assert_eq!(code(line.as_bytes(), format), refused, "{format:?}");
        // One line of many is copied.
        let body = [&line, "\n", r#"{"token_ids": [0]}"#, "\n"].concat();
        let out = run_as(body.as_bytes(), format).unwrap();
        assert_eq!((out.report.warnings[0].code, &*out.report.warnings[0].path), ("invalid_body", "/0"));
        assert!(out.body.starts_with(line.as_bytes()));
    }
}

#[test]
fn many_attributes_and_keys_cost_what_they_are() {
    const MANY: usize = 1 << 20;
    let ids = attribute("token_ids", &string_value("[0]"));
    let text = run(&request(&[attribute("x", &[]).repeat(MANY), ids].concat())).report.fields.remove(0);
    assert_eq!(
        text.text_path.as_deref(),
        Some("/resourceSpans/0/scopeSpans/0/spans/0/attributes/token2text.response_text")
    );
    let pair = r#"{"key":"x","value":{}},"#;
    let body = [
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":["#,
        &pair.repeat(MANY / 4),
        r#"{"key":"token_ids","value":{"stringValue":"[0]"}}]}]}]}]}"#,
    ]
    .concat();
    assert_eq!(run(body.as_bytes()).report.totals.decoded, 1);
    // One key again and again, and as many keys: the last counts, and all of it goes when it is to go.
    let mut drop_ids = EnrichOptions::default();
    drop_ids.drop_ids = true;
    for body in [
        format!("{{{}\"token_ids\":[1]}}", "\"token_ids\":[0],".repeat(MANY)),
        format!("{{{}\"token_ids\":[1]}}", (0..MANY).map(|i| format!("\"{i}\":[0],")).collect::<String>()),
    ] {
        let out = enrich(body.as_bytes(), &letters(), &drop_ids).unwrap();
        assert_eq!((out.report.totals.decoded, out.report.fields.len()), (1, 1));
        assert!(!out.body.ends_with(b"\"token_ids\":[1]}"));
    }
    // A key as long as a body.
    let key = "k".repeat(16 * MIB);
    let body = format!(r#"{{"{key}": {{"{key}": 1}}, "token_ids": [0]}}"#);
    assert_eq!(run(body.as_bytes()).report.totals.decoded, 1);
    let body = format!(
        r#"{{"logs": [{{"metrics": {{"{key}": {{"_type": "trackio.trace", "metadata": {{"token_ids": [0]}}}}}}}}]}}"#
    );
    assert_eq!(run(body.as_bytes()).report.totals.decoded, 1);
}

#[test]
fn more_ids_or_text_than_a_field_may_have_are_skipped() {
    const MANY: usize = 10 << 20;
    let list = format!("[{}0]", "0,".repeat(MANY - 1));
    for body in [
        request(&attribute("token_ids", &field(5, &[0x0A, 2, 0x18, 0].repeat(MANY)))),
        request(&attribute("token_ids", &string_value(&list))),
        format!(r#"{{"token_ids": {list}}}"#).into_bytes(),
        format!(r#"{{"token_ids": "{list}"}}"#).into_bytes(),
        format!(r#"{{"token_ids": [[0], {list}]}}"#).into_bytes(),
        format!("data: {{\"output_ids\": {list}}}\n\n").into_bytes(),
    ] {
        let out = run(&body);
        assert_eq!(out.report.fields[0].reason, Some("limit_exceeded"));
        assert!(out.body == body);
    }
    // A text that is longer than all of its ids.
    let long = token2text::Tokenizer::from_json(
        format!(r#"{{"decoder":null,"model":{{"type":"BPE","merges":[],"vocab":{{"{}":0}}}}}}"#, "x".repeat(MIB))
            .as_bytes(),
    )
    .unwrap();
    let field = enrich(
        format!(r#"{{"token_ids": [{}0]}}"#, "0,".repeat(64)).as_bytes(),
        &long.into(),
        &EnrichOptions::default(),
    );
    assert_eq!(field.unwrap().report.fields[0].reason, Some("limit_exceeded"));
}

#[test]
fn the_output_is_bounded() {
    let token =
        format!(r#"{{"decoder":null,"model":{{"type":"BPE","merges":[],"vocab":{{"{}":0}}}}}}"#, "x".repeat(MIB));
    let tokenizers = token2text::Tokenizer::from_json(token.as_bytes()).unwrap().into();
    // Each text alone is short enough.
    let record = format!(r#"{{"token_ids": [{}0]}}"#, "0,".repeat(29));
    for separator in [",", "\n"] {
        let records = [record.as_str(); 3].join(separator);
        let body = if separator == "," { format!("[{records}]") } else { records };
        let error = enrich(body.as_bytes(), &tokenizers, &EnrichOptions::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::LimitExceeded);
    }
    let span = attribute("token_ids", &field(5, &[0x0A, 2, 0x18, 0].repeat(30)));
    let body = nested(&[1, 2], &field(2, &span).repeat(3));
    let error = enrich(&body, &tokenizers, &EnrichOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::LimitExceeded);
    assert_eq!(code(&vec![b' '; 64 * MIB + 1], Format::Auto), Some(ErrorCode::LimitExceeded));
}
