//! Records byte by byte: where texts go, what stays as it was, what is refused, and that nothing panics.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::letters;
use proptest::prelude::*;
use serde_json::Value;
use token2text::{Comparison, EnrichOptions, Enriched, ErrorCode, Existing, Format, Status, enrich, strip};

fn run(body: &str) -> Enriched {
    enrich(body.as_bytes(), &letters(), &EnrichOptions::default()).unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// The enriched body; also checks that `strip` gives the body back and that twice is once.
fn enriched(body: &str) -> String {
    let Enriched { body: once, .. } = run(body);
    let options = EnrichOptions::default();
    assert_eq!(String::from_utf8_lossy(&strip(&once, &options).unwrap()), body);
    assert_eq!(enrich(&once, &letters(), &options).unwrap().body, once);
    String::from_utf8(once).unwrap()
}

#[test]
fn text_stands_before_its_ids_with_the_neighbours_separators() {
    for (body, expected) in [
        (
            r#"{"inputs":{"prompt_ids":[0,1]},"outputs":{"token_ids":[2],"x":1}}"#,
            r#"{"inputs":{"prompt_ids":[0,1]},"outputs":{"prompt_text":"ab","response_text":"c","token_ids":[2],"x":1}}"#,
        ),
        (
            r#"{"inputs": {"prompt_ids": [0]}, "outputs": {"stop": null, "token_ids": [2]}}"#,
            r#"{"inputs": {"prompt_ids": [0]}, "outputs": {"prompt_text": "a", "stop": null, "response_text": "c", "token_ids": [2]}}"#,
        ),
        (
            "{\n  \"outputs\" : {\n    \"token_ids\" : [2]\n  }\n}\n",
            "{\n  \"outputs\" : {\n    \"response_text\" : \"c\",\n    \"token_ids\" : [2]\n  }\n}\n",
        ),
        (r#"{"outputs": {"token_ids": [2]}}"#, r#"{"outputs": {"response_text": "c", "token_ids": [2]}}"#),
        (
            r#"{"inputs": {"prompt_ids": [0]}, "outputs": {}}"#,
            r#"{"inputs": {"prompt_ids": [0]}, "outputs": {"prompt_text": "a"}}"#,
        ),
        (
            r#"{"inputs":{"prompt_ids":[0]},"outputs":null}"#,
            r#"{"inputs":{"prompt_text":"a","prompt_ids":[0]},"outputs":null}"#,
        ),
        (
            r#"{"inputs":{"prompt_ids":[0]},"outputs":"done"}"#,
            r#"{"inputs":{"prompt_text":"a","prompt_ids":[0]},"outputs":"done"}"#,
        ),
        (
            r#"{"inputs":{"prompt_ids":[0]},"outputs":[1,2]}"#,
            r#"{"inputs":{"prompt_text":"a","prompt_ids":[0]},"response_text":"bc","outputs":[1,2]}"#,
        ),
        (
            r#"{"prompt_ids":[0],"response_ids":[[1],[2,3]]}"#,
            r#"{"prompt_text":"a","prompt_ids":[0],"response_text":["b","cd"],"response_ids":[[1],[2,3]]}"#,
        ),
        (
            r#"[{"token_ids":[0]}, 5, {"token_ids":[1]}]"#,
            r#"[{"response_text":"a","token_ids":[0]}, 5, {"response_text":"b","token_ids":[1]}]"#,
        ),
        (
            "{\"token_ids\":[0]}\r\n\r\n{\"token_ids\":[1]}",
            "{\"response_text\":\"a\",\"token_ids\":[0]}\r\n\r\n{\"response_text\":\"b\",\"token_ids\":[1]}",
        ),
        ("\u{FEFF}{\"token_ids\":[0]}", "\u{FEFF}{\"response_text\":\"a\",\"token_ids\":[0]}"),
        (
            r#"{"outputs":"{\"token_ids\": [0], \"s\": \"\u00e9\\ud83d\"}"}"#,
            r#"{"outputs":"{\"response_text\": \"a\", \"token_ids\": [0], \"s\": \"\u00e9\\ud83d\"}"}"#,
        ),
        (
            r#"{"outputs":"\"{\\\"token_ids\\\":[0]}\""}"#,
            r#"{"outputs":"\"{\\\"response_text\\\":\\\"a\\\",\\\"token_ids\\\":[0]}\""}"#,
        ),
        (
            r#"{"events":[{"name":"e","attributes":{"token_ids":[0]}}]}"#,
            r#"{"events":[{"name":"e","attributes":{"response_text":"a","token_ids":[0]}}]}"#,
        ),
    ] {
        assert_eq!(enriched(body), expected);
    }
}

#[test]
fn bodies_without_ids_are_the_same_bytes() {
    for body in [
        "",
        " \n",
        "{}",
        "[]",
        "null",
        "3",
        "\"token_ids\"",
        "[1,2,3]",
        "{\"a\":[1,2,3]}\n",
        "{\"token_ids\":null}",
        "{\"inputs\":{\"token_ids_len\":[1],\"Prompt_ids\":[2]},\"outputs\":{}}",
        "{}\n\n{}",
        "[[{\"token_ids\":[1]}]]",
    ] {
        assert_eq!(enriched(body), body);
    }
}

#[test]
fn every_spelling_of_ids_is_read_or_refused() {
    // The ids as JSON text; the text, or the reason why there is none; how the ids were spelled.
    let cases: &[(&str, Result<&str, &str>, Option<&str>)] = &[
        ("[0, 1]", Ok("ab"), None),
        ("[]", Ok(""), None),
        ("[99, 1]", Ok("b"), None),
        ("7", Ok("h"), Some("single_integer")),
        ("\"[0, 1]\"", Ok("ab"), Some("json_string")),
        ("\"\\\"[0, 1]\\\"\"", Ok("ab"), Some("json_string")),
        ("\"\\\"\\\\\\\"[0]\\\\\\\"\\\"\"", Err("not_ids"), Some("json_string")),
        ("[\"0\", \"1\"]", Ok("ab"), Some("decimal_strings")),
        ("\"5\"", Ok("f"), Some("decimal_strings")),
        ("[1.0, 2e0, 30e-1]", Ok("bcd"), Some("integral_floats")),
        ("[{\"intValue\": 1}, {\"intValue\": \"2\"}]", Ok("bc"), Some("otlp_values")),
        ("{\"arrayValue\": {\"values\": [{\"intValue\": \"3\"}]}}", Ok("d"), Some("otlp_values")),
        ("{\"arrayValue\": {}}", Ok(""), Some("otlp_values")),
        ("\"[0 1\\n  2]\"", Ok("abc"), Some("numpy_array")),
        ("\"array([0, 1,\\n 2])\"", Ok("abc"), Some("numpy_array")),
        ("\"array([0, 1], dtype=int32)\"", Ok("ab"), Some("numpy_array")),
        ("\"array([0, 1], dtype=float32)\"", Err("not_ids"), None),
        ("\"[]\"", Ok(""), Some("json_string")),
        ("[\"np.int64(5)\", \"np.int32(6)\"]", Ok("fg"), Some("numpy_scalars")),
        ("\"[np.int64(5), np.int64(6)]\"", Ok("fg"), Some("python_list")),
        ("\"np.int64(5)\"", Ok("f"), Some("numpy_scalars")),
        ("\"np.float64(5)\"", Err("not_ids"), None),
        ("\"[0 1 ... 8 9]\"", Err("truncated_at_source"), None),
        ("\"[[0 1]\\n [2 3]]\"", Err("not_ids"), None),
        ("\"[1, None]\"", Err("null_inside"), Some("python_list")),
        ("\"[1, True]\"", Err("boolean_inside"), Some("python_list")),
        ("\"tensor([1, 2])\"", Err("not_ids"), None),
        ("\"1 2 3\"", Err("not_ids"), None),
        ("\"already text\"", Err("not_ids"), None),
        ("[0, -1]", Err("negative"), None),
        ("[\"-1\"]", Err("negative"), None),
        ("-100", Err("negative"), None),
        ("[0.5]", Err("fractional"), None),
        ("[4294967295]", Ok(""), None),
        ("[4294967296]", Err("out_of_range"), None),
        ("[18446744073709551616]", Err("out_of_range"), None),
        ("[1e400]", Err("out_of_range"), None),
        ("[NaN]", Err("not_ids"), None),
        ("[0, null]", Err("null_inside"), None),
        ("[true]", Err("boolean_inside"), None),
        ("false", Err("boolean_inside"), None),
        ("[{\"id\": 3}]", Err("not_ids"), None),
        ("{\"a\": 1}", Err("not_ids"), None),
        ("[[0], [1, 2]]", Ok("[\"a\", \"bc\"]"), None),
        ("[[0], []]", Ok("[\"a\", \"\"]"), None),
        ("[[0], [-1]]", Err("negative"), None),
        ("[[[0]]]", Err("nested_too_deep"), None),
        ("[0, [1]]", Err("mixed_nesting"), None),
    ];
    for (ids, expected, converted) in cases {
        let body = format!("{{\"x\": 1, \"token_ids\": {ids}}}");
        let Enriched { body: out, report } = run(&body);
        let out = String::from_utf8(out).unwrap();
        let [field] = &*report.fields else { panic!("{ids}: {:?}", report.fields) };
        match expected {
            Ok(text) => {
                let text = if text.starts_with('[') { (*text).to_owned() } else { format!("\"{text}\"") };
                assert_eq!(out, format!("{{\"x\": 1, \"response_text\": {text}, \"token_ids\": {ids}}}"), "{ids}");
                assert_eq!(field.converted, *converted, "{ids}");
            }
            Err(reason) => {
                assert_eq!(out, body, "{ids}");
                assert_eq!((field.status, field.reason), (Status::Skipped, Some(*reason)), "{ids}: {:?}", field.detail);
            }
        }
    }
}

#[test]
fn a_refusal_says_what_and_where() {
    let detail = |ids: &str| run(&format!("{{\"token_ids\": {ids}}}")).report.fields[0].detail.clone().unwrap();
    assert_eq!(detail("[5, 6, -100]"), "item 2 is -100");
    assert_eq!(detail("[[1], [2, 0.5]]"), "row 1, item 1 is 0.5");
    assert_eq!(detail("[1, \"x\"]"), "item 1 is the string x");
}

#[test]
fn text_that_is_there_is_kept_and_compared() {
    let run = |existing, text: &str| {
        let mut options = EnrichOptions::default();
        options.existing = existing;
        let body = format!("{{\"token_ids\": [0], \"response_text\": {text}}}");
        let out = enrich(body.as_bytes(), &letters(), &options).unwrap();
        let field = &out.report.fields[0];
        (out.body != body.as_bytes(), field.status, field.existing)
    };
    use Comparison::{Different, Same};
    assert_eq!(run(Existing::Keep, "\"a\""), (false, Status::Kept, Some(Same)));
    assert_eq!(run(Existing::Keep, "\"\\u0061\""), (false, Status::Kept, Some(Same)));
    assert_eq!(run(Existing::Keep, "\"\""), (false, Status::Kept, Some(Different)));
    assert_eq!(run(Existing::Keep, "\"\\ud83d\""), (false, Status::Kept, Some(Different)));
    assert_eq!(run(Existing::Keep, "null"), (true, Status::Decoded, None));
    assert_eq!(run(Existing::Keep, "[\"a\"]"), (true, Status::Replaced, None));
    assert_eq!(run(Existing::Replace, "\"a\""), (false, Status::Kept, Some(Same)));
    assert_eq!(run(Existing::Replace, "\"b\""), (true, Status::Replaced, Some(Different)));
}

#[test]
fn no_key_stands_twice() {
    let Enriched { body, .. } = run(r#"{"token_ids": [0], "response_text": null, "x": 1}"#);
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"token_ids": [0], "response_text": "a", "x": 1}"#);
}

#[test]
fn strip_leaves_text_that_stands_elsewhere() {
    let options = EnrichOptions::default();
    for body in [
        r#"{"token_ids": [0], "response_text": "a"}"#,
        r#"{"response_text": "a", "x": 1, "token_ids": [0]}"#,
        r#"{"response_text": 5, "token_ids": [0]}"#,
        r#"{"response_text": "no ids"}"#,
    ] {
        assert_eq!(String::from_utf8(strip(body.as_bytes(), &options).unwrap()).unwrap(), body);
    }
}

#[test]
fn a_request_and_its_response_are_a_span() {
    assert_eq!(
        enriched(r#"{"request":{"prompt_ids":[0]},"response":{"token_ids":[1]}}"#),
        r#"{"request":{"prompt_ids":[0]},"response":{"prompt_text":"a","response_text":"b","token_ids":[1]}}"#
    );
    // A text of that name says nothing of the record, nor does either beside the usual names.
    assert_eq!(
        enriched(r#"{"response":"b","request":"a","token_ids":[1]}"#),
        r#"{"response":"b","request":"a","response_text":"b","token_ids":[1]}"#
    );
    assert_eq!(
        enriched(r#"{"response":{},"request":{},"response_ids":[1]}"#),
        r#"{"response":{},"request":{},"response_text":"b","response_ids":[1]}"#
    );
    assert_eq!(
        enriched(r#"{"inputs":{"prompt_ids":[0]},"request":{"prompt_ids":[1]},"output":{}}"#),
        r#"{"inputs":{"prompt_ids":[0]},"request":{"prompt_ids":[1]},"output":{"prompt_text":"a"}}"#
    );
}

#[test]
fn bad_bodies_are_refused_with_their_code() {
    let code = |body: &[u8]| enrich(body, &letters(), &EnrichOptions::default()).unwrap_err().code();
    assert_eq!(code(b"\x1f\x8b\x08\x00"), ErrorCode::CompressedInput);
    assert_eq!(code(b"\x0a\x05hello"), ErrorCode::UnknownFormat);
    assert_eq!(code(b"\x0a\x05\x0a\x03\x0a\x05x"), ErrorCode::InvalidBody);
    assert_eq!(code(b"hello"), ErrorCode::UnknownFormat);
    assert_eq!(code(b"{\"a\": 1"), ErrorCode::InvalidBody);
    assert_eq!(code("[".repeat(2000).as_bytes()), ErrorCode::LimitExceeded);
    let mut options = EnrichOptions::default();
    options.limits.body_bytes = 3;
    assert_eq!(enrich(b"{   }", &letters(), &options).unwrap_err().code(), ErrorCode::LimitExceeded);
    options = EnrichOptions::default();
    options.format = Format::Record;
    assert_eq!(enrich(b"hello", &letters(), &options).unwrap_err().code(), ErrorCode::InvalidBody);
}

#[test]
fn limits_skip_a_field_not_the_body() {
    let mut options = EnrichOptions::default();
    options.limits.ids_per_field = 2;
    let body = br#"{"prompt_ids": [0, 1, 2], "token_ids": [0, 1]}"#;
    let out = enrich(body, &letters(), &options).unwrap();
    assert_eq!(out.report.fields[0].reason, Some("limit_exceeded"));
    assert_eq!(out.report.totals.decoded, 1);
    options = EnrichOptions::default();
    options.limits.text_bytes_per_field = 2;
    let out = enrich(body, &letters(), &options).unwrap();
    assert_eq!(out.report.fields[0].reason, Some("limit_exceeded"));
    assert_eq!(out.report.totals.decoded, 1);
}

#[test]
fn options_are_read_from_json_and_mistakes_are_named() {
    for (options, message) in [
        ("[]", "an object is needed"),
        ("{\"exsting\": 1}", "unknown member `exsting`"),
        ("{\"existing\": \"drop\"}", "must be one of `keep`, `replace`"),
        (
            "{\"format\": \"otlp\"}",
            "must be one of `auto`, `record`, `otlp-json`, `otlp-proto`, `mlflow`, `weave`, `trackio`, `sse`",
        ),
        ("{\"skipSpecialTokens\": 1}", "must be true or false"),
        ("{\"layouts\": [\"vrel\"]}", "`vrel` is no built-in layout (known: agent-lightning, ms-swift, "),
        ("{\"layouts\": [{}]}", "layouts[0]: `name` is missing"),
        ("{\"limits\": {\"depth\": -1}}", "must be a whole number"),
        ("{\"messages\": 1}", "`messages`"),
    ] {
        let error = EnrichOptions::from_json(options.as_bytes()).expect_err(options);
        assert!(error.message().contains(message), "{options}: {error}");
    }
    let options = EnrichOptions::from_json(br#"{"layouts": ["verl"], "limits": {"depth": 9}}"#).unwrap();
    assert_eq!((options.limits.depth, options.expect_ids), (9, true));
    assert_eq!(EnrichOptions::from_json(b"{}").unwrap(), EnrichOptions::default());
}

/// Work must grow with the body, not with its square: each of these would not end otherwise.
#[test]
fn many_records_in_one_value() {
    const MANY: usize = 70_000;
    let layout = br#"{ "name": "choices", "when": ["/output/choices"], "each": "/output/choices/*", "fields": [
        { "kind": "response", "ids": ["/ids"], "text": "/text" }] }"#;
    let mut options = EnrichOptions::default();
    options.layouts.extend(token2text::Layout::from_json(layout).unwrap());
    for (start, record, end) in [
        ("[", r#"{"outputs": "{\"token_ids\": [0]}"}"#, "]"),
        ("[", r#"{"inputs": {"prompt_ids": [0]}, "outputs": {}}"#, "]"),
        (r#"{"choices": ["#, r#"{"ids": [0]}"#, "]}"),
        (r#"{"choices": ["#, r#"{"ids": "[0]"}"#, "]}"),
        (r#"{"choices": ["#, r#"{"token_ids": [0]}"#, "]}"),
        (r#"{"message_log": ["#, r#"{"role": "user", "token_ids": [0]}"#, "]}"),
        (r#"{"output": ["#, r#"{"generation_token_ids": [0]}"#, "]}"),
    ] {
        let body = format!("{start}{}{end}", vec![record; MANY].join(", "));
        let out = enrich(body.as_bytes(), &letters(), &options).unwrap();
        assert_eq!((out.report.totals.decoded, out.report.fields.len()), (MANY, 10_000), "{record}");
        assert!(strip(&out.body, &options).unwrap() == body.as_bytes(), "{record}");
    }
}

/// A long trunk with many leaves at its end: the branches would be millions of times as long as the body.
#[test]
fn branches_are_bounded() {
    const MANY: usize = 20_000;
    let node = |i: usize| format!(r#"{{"parent": {}, "token_ids": [0]}}"#, i.min(MANY) - 1);
    let nodes: Vec<String> = (1..2 * MANY).map(node).collect();
    let body = format!(r#"{{"nodes": [{{"token_ids": [1]}}, {}]}}"#, nodes.join(", "));
    let report = run(&body).report;
    assert_eq!((report.fields[0].reason, report.totals.decoded), (Some("limit_exceeded"), 2 * MANY));
}

/// JSON of all kinds around the names that the layouts look for.
fn json_text() -> impl Strategy<Value = String> {
    let space = prop::sample::select(vec!["", " ", "\n", "\t "]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("NaN".to_owned()),
        Just("1.50E+2".to_owned()),
        Just("\"a\\u00e9\\ud83d \\\"x\\\"\"".to_owned()),
        Just("\"[0, 1]\"".to_owned()),
        Just("\"{\\\"token_ids\\\": [3]}\"".to_owned()),
        prop::collection::vec(0u32..30, 0..5).prop_map(|ids| format!("{ids:?}")),
        prop::collection::vec(prop::collection::vec(0u32..30, 0..3), 0..3).prop_map(|ids| format!("{ids:?}")),
        (-5i64..5000000000).prop_map(|number| number.to_string()),
    ];
    let key = prop::sample::select(vec![
        "request",
        "response",
        "choices",
        "tokens",
        "nodes",
        "loss_mask",
        "inputs",
        "output",
        "outputs",
        "attributes",
        "events",
        "prompt_ids",
        "response_ids",
        "token_ids",
        "responses_ids",
        "prompt_text",
        "response_text",
        "x",
        "model",
    ]);
    leaf.prop_recursive(4, 40, 5, move |inner| {
        let member = (key.clone(), space.clone(), inner.clone());
        prop_oneof![
            3 => (prop::collection::vec(member, 0..5), space.clone()).prop_map(|(members, space)| {
                let members: Vec<_> = members.iter().map(|(key, space, value)| format!("\"{key}\"{space}:{space}{value}")).collect();
                format!("{{{space}{}{space}}}", members.join(&format!(",{space}")))
            }),
            1 => (prop::collection::vec(inner, 0..4), space.clone()).prop_map(|(items, space)| {
                format!("[{space}{}]", items.join(&format!("{space},")))
            }),
        ]
    })
}

/// Whether `out` is `body` with bytes put in.
fn is_subsequence(body: &[u8], out: &[u8]) -> bool {
    let mut out = out.iter();
    body.iter().all(|byte| out.any(|other| other == byte))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = enrich(&body, &letters(), &EnrichOptions::default());
        let _ = strip(&body, &EnrichOptions::default());
    }

    #[test]
    fn broken_json_never_panics(text in json_text(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = text.into_bytes();
        let at = cut.index(bytes.len());
        let _ = enrich(&bytes[..at], &letters(), &EnrichOptions::default());
        bytes[at] = byte;
        let _ = enrich(&bytes, &letters(), &EnrichOptions::default());
    }

    #[test]
    fn nothing_but_texts_is_added_and_strip_takes_them_out(text in json_text()) {
        let options = EnrichOptions::default();
        let out = enrich(text.as_bytes(), &letters(), &options).unwrap();
        prop_assert_eq!(&enrich(&out.body, &letters(), &options).unwrap().body, &out.body);
        if out.report.totals.replaced == 0 && !text.contains("_text\"") {
            prop_assert!(is_subsequence(text.as_bytes(), &out.body));
            let stripped = strip(&out.body, &options).unwrap();
            prop_assert_eq!(String::from_utf8(stripped).unwrap(), text.clone());
        }
        if !text.contains("NaN") && !text.contains("\\ud83d") {
            let _: Value = serde_json::from_slice(&out.body).unwrap();
        }
    }
}
