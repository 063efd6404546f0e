//! OTLP and MLflow byte by byte: where texts go in each container, what stays as it was, what is refused, and that
//! nothing panics.
#![cfg(not(target_arch = "wasm32"))]

mod common;
#[path = "common/otlp_writer.rs"]
mod otlp_writer;

use common::letters;
use otlp_writer::{Numbers, Writer};
use token2text::{EnrichOptions, Error, ErrorCode, Existing, Format, Layout, Report, TokenizerSet, enrich, strip};

/// Layouts with all that the built-in ones do not have.
fn options() -> EnrichOptions {
    let mut options = EnrichOptions::default();
    options.layouts.extend(
        Layout::from_json(
            br#"{ "name": "flat", "when": ["/attributes/ids"], "fields": [
                { "kind": "response", "ids": "/attributes/ids", "text": "/attributes/text" } ] }"#,
        )
        .unwrap(),
    );
    options
}

fn run(body: &[u8]) -> Result<(Vec<u8>, Report), Error> {
    enrich(body, &letters(), &options()).map(|enriched| (enriched.body, enriched.report))
}

/// The enriched body; also checks that `strip` gives the body back, that twice is once, and that another format does not
/// come out.
fn enriched(body: &[u8], format: &str) -> Vec<u8> {
    let (once, report) = run(body).unwrap_or_else(|error| panic!("{}: {error}", String::from_utf8_lossy(body)));
    assert_eq!(report.format, format, "{}", String::from_utf8_lossy(body));
    assert_eq!(String::from_utf8_lossy(&strip(&once, &options()).unwrap()), String::from_utf8_lossy(body));
    for existing in [Existing::Keep, Existing::Replace] {
        let mut options = options();
        options.existing = existing;
        assert!(enrich(&once, &letters(), &options).unwrap().body == once, "{}", String::from_utf8_lossy(&once));
    }
    once
}

/// Attributes of a span in OTLP/JSON, and what becomes of them.
#[test]
fn texts_stand_before_their_ids_in_every_container_of_otlp_json() {
    let body = |attributes: &str| {
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"attributes":[{attributes}]}}]}}]}}]}}"#)
    };
    for (before, after) in [
        // JSON inside a string.
        (
            r#"{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"x\": 1, \"token_ids\": [0, 1]}"}}"#,
            r#"{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"x\": 1, \"response_text\": \"ab\", \"token_ids\": [0, 1]}"}}"#,
        ),
        (
            r#"{"key":"output.value","value":{"stringValue":"{\"token_ids\":[0,1]}"}}"#,
            r#"{"key":"output.value","value":{"stringValue":"{\"response_text\":\"ab\",\"token_ids\":[0,1]}"}}"#,
        ),
        // MLflow's own attribute comes first.
        (
            r#"{"key":"output.value","value":{"stringValue":"{\"token_ids\":[7]}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"token_ids\":[0]}"}}"#,
            r#"{"key":"output.value","value":{"stringValue":"{\"token_ids\":[7]}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"response_text\":\"a\",\"token_ids\":[0]}"}}"#,
        ),
        // Lists of pairs, both spellings of integers.
        (
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"n","value":{}},{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"0"},{"intValue":1}]}}}]}}}"#,
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"n","value":{}},{"key":"response_text","value":{"stringValue":"ab"}},{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"0"},{"intValue":1}]}}}]}}}"#,
        ),
        // An output without members, in both ways to write one.
        (
            r#"{"key":"mlflow.spanInputs","value":{"stringValue":"{\"prompt_ids\":[2]}"}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{}}}"#,
            r#"{"key":"mlflow.spanInputs","value":{"stringValue":"{\"prompt_ids\":[2]}"}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values": [{"key":"prompt_text","value":{"stringValue":"c"}}]}}}"#,
        ),
        (
            r#"{"key":"mlflow.spanInputs","value":{"stringValue":"{\"prompt_ids\":[2]}"}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[]}}}"#,
            r#"{"key":"mlflow.spanInputs","value":{"stringValue":"{\"prompt_ids\":[2]}"}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"prompt_text","value":{"stringValue":"c"}}]}}}"#,
        ),
        // Attributes that are the output themselves; marked, since everyone's names stand there.
        (
            r#"{"key":"x","value":{"stringValue":"y"}},{"key":"ids","value":{"arrayValue":{"values":[{"intValue":0}]}}}"#,
            r#"{"key":"x","value":{"stringValue":"y"}},{"key":"token2text.text","value":{"stringValue":"a"}},{"key":"ids","value":{"arrayValue":{"values":[{"intValue":0}]}}}"#,
        ),
        (
            r#"{"key":"prompt_ids","value":{"stringValue":"[0]"}},{"key":"response_ids","value":{"stringValue":"[1]"}}"#,
            r#"{"key":"token2text.prompt_text","value":{"stringValue":"a"}},{"key":"prompt_ids","value":{"stringValue":"[0]"}},{"key":"token2text.response_text","value":{"stringValue":"b"}},{"key":"response_ids","value":{"stringValue":"[1]"}}"#,
        ),
        // Several texts.
        (
            r#"{"key":"ids","value":{"stringValue":"[[0], [1, 2]]"}}"#,
            r#"{"key":"token2text.text","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"bc"}]}}},{"key":"ids","value":{"stringValue":"[[0], [1, 2]]"}}"#,
        ),
        // MLflow reads again what looks like JSON: a text is a JSON string there.
        (
            r#"{"key":"mlflow.spanType","value":{"stringValue":"LLM"}},{"key":"ids","value":{"stringValue":"[0]"}}"#,
            r#"{"key":"mlflow.spanType","value":{"stringValue":"LLM"}},{"key":"token2text.text","value":{"stringValue":"\"a\""}},{"key":"ids","value":{"stringValue":"[0]"}}"#,
        ),
        // What Python prints.
        (
            r#"{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"token_ids\": \"[np.int64(0), np.int64(1)]\"}"}}"#,
            r#"{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"response_text\": \"ab\", \"token_ids\": \"[np.int64(0), np.int64(1)]\"}"}}"#,
        ),
        // Unknown members everywhere.
        (
            r#"{"new":[1,{"k":null}],"key":"mlflow.spanOutputs","value":{"kvlistValue":{"new":1,"values":[{"value":{"arrayValue":{"values":[{"intValue":"0"}],"new":{}}},"key":"token_ids","new":2e00}]}}}"#,
            r#"{"new":[1,{"k":null}],"key":"mlflow.spanOutputs","value":{"kvlistValue":{"new":1,"values":[{"key":"response_text","value":{"stringValue":"a"}},{"value":{"arrayValue":{"values":[{"intValue":"0"}],"new":{}}},"key":"token_ids","new":2e00}]}}}"#,
        ),
    ] {
        assert_eq!(String::from_utf8(enriched(body(before).as_bytes(), "otlp-json")).unwrap(), body(after));
    }
}

#[test]
fn the_spelling_of_a_body_is_followed() {
    for (format, before, after) in [
        (
            "otlp-json",
            r#"{"resource_spans": [{"scope_spans": [{"spans": [{"attributes": [{"key": "ids", "value": {"array_value": {"values": [{"int_value": "0"}]}}}]}]}]}]}"#,
            r#"{"resource_spans": [{"scope_spans": [{"spans": [{"attributes": [{"key": "token2text.text", "value": {"string_value": "a"}}, {"key": "ids", "value": {"array_value": {"values": [{"int_value": "0"}]}}}]}]}]}]}"#,
        ),
        (
            "otlp-json",
            "{\n \"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [{\"attributes\": [\n  {\"key\": \"ids\", \"value\": {\"stringValue\": \"[0]\"}}\n ]}]}]}]}",
            "{\n \"resourceSpans\": [{\"scopeSpans\": [{\"spans\": [{\"attributes\": [\n  {\"key\": \"token2text.text\", \"value\": {\"stringValue\": \"a\"}},\n  {\"key\": \"ids\", \"value\": {\"stringValue\": \"[0]\"}}\n ]}]}]}]}",
        ),
        // Events.
        (
            "otlp-json",
            r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":[{"attributes":[{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":0}]}}}]}]}]}]}]}"#,
            r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":[{"attributes":[{"key":"token2text.response_text","value":{"stringValue":"a"}},{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":0}]}}}]}]}]}]}]}"#,
        ),
        // MLflow: JSON in strings; times and NaN as they are.
        (
            "mlflow",
            r#"{"spans": [{"trace_id": "aa==", "start_time_unix_nano": 1795963388073006384, "attributes": {"mlflow.spanOutputs": "{\"token_ids\": [0], \"log_probs\": [NaN, -Infinity]}"}}]}"#,
            r#"{"spans": [{"trace_id": "aa==", "start_time_unix_nano": 1795963388073006384, "attributes": {"mlflow.spanOutputs": "{\"response_text\": \"a\", \"token_ids\": [0], \"log_probs\": [NaN, -Infinity]}"}}]}"#,
        ),
        (
            "mlflow",
            r#"{"spans": [{"start_time_unix_nano": 1, "attributes": {"x": "1", "ids": "[[0], [1]]"}, "events": [{"attributes": {"token_ids": [2]}}]}]}"#,
            r#"{"spans": [{"start_time_unix_nano": 1, "attributes": {"x": "1", "token2text.text": "[\"a\", \"b\"]", "ids": "[[0], [1]]"}, "events": [{"attributes": {"token2text.response_text": "c", "token_ids": [2]}}]}]}"#,
        ),
        (
            "mlflow",
            r#"{"data": {"spans": [{"start_time_unix_nano": 1, "attributes": {"ids": "[0]"}}]}}"#,
            r#"{"data": {"spans": [{"start_time_unix_nano": 1, "attributes": {"token2text.text": "\"a\"", "ids": "[0]"}}]}}"#,
        ),
        // What the server gives out.
        (
            "mlflow",
            r#"{"traces":[{"trace_info":{},"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlist_value":{"values":[{"key":"token_ids","value":{"array_value":{"values":[{"int_value":0}]}}}]}}}]}]}]}"#,
            r#"{"traces":[{"trace_info":{},"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlist_value":{"values":[{"key":"response_text","value":{"string_value":"a"}},{"key":"token_ids","value":{"array_value":{"values":[{"int_value":0}]}}}]}}}]}]}]}"#,
        ),
        // Previews that are whole.
        (
            "mlflow",
            r#"{"trace":{"trace_info":{"request_preview":"{\"prompt_ids\": [0, 1, 2","response_preview":"{\"token_ids\": [0]}"}}}"#,
            r#"{"trace":{"trace_info":{"request_preview":"{\"prompt_ids\": [0, 1, 2","response_preview":"{\"response_text\": \"a\", \"token_ids\": [0]}"}}}"#,
        ),
        // A request a line.
        (
            "otlp-json",
            "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"attributes\":[{\"key\":\"ids\",\"value\":{\"stringValue\":\"[0]\"}}]}]}]}]}\nbroken\n{\"resourceSpans\":[]}\n",
            "{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"attributes\":[{\"key\":\"token2text.text\",\"value\":{\"stringValue\":\"a\"}},{\"key\":\"ids\",\"value\":{\"stringValue\":\"[0]\"}}]}]}]}]}\nbroken\n{\"resourceSpans\":[]}\n",
        ),
    ] {
        assert_eq!(String::from_utf8(enriched(before.as_bytes(), format)).unwrap(), after);
    }
}

#[test]
fn formats_are_told_from_the_body() {
    for (body, format, rule) in [
        (&b"{\"resourceSpans\":[]}"[..], "otlp-json", "JSON with `resourceSpans`"),
        (b" [{\"resource_spans\":[]}]", "otlp-json", "JSON with `resource_spans`"),
        (b"{\"x\":[{}],\"trace\":{\"trace_info\":{}}}", "mlflow", "JSON with `trace_info` of a trace"),
        (
            b"{\"traces\":[{\"trace_id\":\"tr-1\",\"trace_location\":{}}]}",
            "mlflow",
            "JSON with `trace_location` of a trace",
        ),
        (b"{\"spans\":[{\"start_time_unix_nano\":1}]}", "mlflow", "JSON with `start_time_unix_nano` of a span"),
        // Records that look a little like one.
        (b"{\"start_time_unix_nano\":1,\"trace_info\":{}}", "record", "JSON"),
        (b"{\"inputs\":{\"spans\":[{\"start_time_unix_nano\":1}]}}", "record", "JSON"),
        (b"{\"spans\":[]}", "record", "JSON"),
        (b"\n{\n \"a\": 1}", "record", "JSON"),
        (b"\n\n\n{\"a\": 1}\n{\"a\": 1}", "record", "JSON lines"),
        (b"\x0A\x02\x12\x00", "otlp-proto", "protocol buffers"),
    ] {
        let (_, report) = run(body).unwrap();
        assert_eq!((report.format, report.rule), (format, rule), "{}", String::from_utf8_lossy(body));
    }
    // A length that is a brace to JSON.
    let mut body = vec![0x0A, b'{', 0x12, b'y'];
    body.extend([0x22, b'w']);
    body.extend([b'x'; 119]);
    assert_eq!(run(&body).unwrap().1.format, "otlp-proto");
    let mut options = options();
    options.format = Format::Record;
    let report = enrich(b"{\"resourceSpans\":[]}", &letters(), &options).unwrap().report;
    assert_eq!((report.format, report.rule), ("record", "asked for"));
}

#[test]
fn models_of_spans_choose_their_tokenizer() {
    let mut set = TokenizerSet::new();
    set.add("Qwen/*", std::sync::Arc::new(common::letters_tokenizer()));
    let ids = r#"{"key":"ids","value":{"stringValue":"[0]"}}"#;
    let model = |key: &str| format!(r#"{{"key":"{key}","value":{{"stringValue":"Qwen/Qwen3"}}}}"#);
    for (resource, attributes) in [
        (String::new(), format!("{ids},{}", model("gen_ai.request.model"))),
        (String::new(), format!("{ids},{}", model("llm.model_name"))),
        (model("gen_ai.response.model"), ids.to_owned()),
        (
            String::new(),
            format!(r#"{ids},{{"key":"input.value","value":{{"stringValue":"{{\"model\":\"Qwen/Qwen3\"}}"}}}}"#),
        ),
    ] {
        let body = format!(
            r#"{{"resourceSpans":[{{"resource":{{"attributes":[{resource}]}},"scopeSpans":[{{"spans":[{{"attributes":[{attributes}]}}]}}]}}]}}"#
        );
        let field = enrich(body.as_bytes(), &set, &options()).unwrap().report.fields.remove(0);
        assert_eq!(field.tokenizer.as_deref(), Some("Qwen/*"), "{body}");
    }
}

#[test]
fn random_requests_grow_by_their_texts_and_nothing_else() {
    let mut grown = 0;
    for seed in 0..3000 {
        let [before, after] = [false, true].map(|with_text| Writer { numbers: Numbers(seed), with_text }.request());
        grown += usize::from(before != after);
        assert!(enriched(&before, "otlp-proto") == after, "seed {seed}");
    }
    assert!(grown > 1000, "only {grown} bodies had ids");
}

/// Good bodies of every format.
fn samples() -> Vec<Vec<u8>> {
    let mut samples: Vec<Vec<u8>> =
        (0..20).map(|seed| Writer { numbers: Numbers(seed), with_text: seed % 2 == 0 }.request()).collect();
    for body in [
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"0"}]}}}]}}},{"key":"ids","value":{"stringValue":"[0]"}}]}]}]}]}"#,
        r#"{"spans": [{"start_time_unix_nano": 1, "attributes": {"mlflow.spanOutputs": "{\"token_ids\": [0]}", "ids": "[[0], [1]]"}, "events": [{"attributes": {"token_ids": [2]}}]}]}"#,
        r#"{"traces":[{"trace_info":{"request_preview":"{\"prompt_ids\":[1]}"},"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlist_value":{}}},{"key":"mlflow.spanInputs","value":{"kvlist_value":{"values":[{"key":"prompt_ids","value":{"array_value":{"values":[{"int_value":0}]}}}]}}}]}]}]}"#,
    ] {
        samples.push(body.as_bytes().to_vec());
    }
    samples
}

/// Nothing panics, whatever is done to a body, and what is still a body is given back.
#[test]
fn changed_bodies_never_panic() {
    let mut numbers = Numbers(1);
    let samples = samples();
    let mut good = 0;
    for round in 0..10_000 {
        let mut body = samples[round % samples.len()].clone();
        for _ in 0..=numbers.below(3) {
            let at = numbers.below(body.len().max(1) as u64) as usize;
            match numbers.below(5) {
                0 => body.truncate(at),
                1 if at < body.len() => body[at] = numbers.below(256) as u8,
                2 if at < body.len() => body[at] ^= 1 << numbers.below(8),
                3 => body.insert(at.min(body.len()), numbers.below(256) as u8),
                _ => drop(body.drain(at.min(body.len())..(at + 3).min(body.len()))),
            }
        }
        for format in [Format::Auto, Format::OtlpProto, Format::OtlpJson, Format::Mlflow, Format::Record] {
            let mut options = options();
            options.format = format;
            if let Ok(enriched) = enrich(&body, &letters(), &options) {
                good += 1;
                strip(&enriched.body, &options).unwrap();
                let twice = enrich(&enriched.body, &letters(), &options).unwrap();
                assert!(twice.body == enriched.body, "round {round} as {format:?}");
            }
        }
    }
    assert!(good > 3_000, "only {good} bodies were read");
}

#[test]
fn broken_and_bottomless_requests_are_refused() {
    let code = |body: &[u8]| {
        let mut options = options();
        options.format = Format::OtlpProto;
        enrich(body, &letters(), &options).err().map(|error| error.code())
    };
    let wrap = |levels: &[u8], inner: &[u8]| {
        levels.iter().rev().fold(inner.to_vec(), |content, &number| {
            [vec![number << 3 | 2], Writer::varint(content.len() as u64, 0), content].concat()
        })
    };
    // Resource spans, scope spans, span, attribute, value: then lists in lists.
    let nested = |depth: usize| wrap(&[1, 2, 2, 9, 2], &wrap(&[5, 1].repeat(depth), &[]));
    assert_eq!(code(&nested(100)), None);
    assert_eq!(code(&nested(509)), None);
    assert_eq!(code(&nested(30_000)), Some(ErrorCode::LimitExceeded));
    // No depth that is asked for can overflow the stack.
    let mut deep = options();
    deep.limits.depth = usize::MAX;
    let lists =
        wrap(&[1, 2, 2, 9], &[&[0x0A, 3][..], b"ids", &wrap(&[2], &wrap(&[5, 1].repeat(30_000), &[]))].concat());
    let field = enrich(&lists, &letters(), &deep).unwrap().report.fields.remove(0);
    assert_eq!(field.reason, Some("nested_too_deep"));
    let json = [
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"ids","value":"#,
        &r#"{"arrayValue":{"values":["#.repeat(30_000),
        &"]}}".repeat(30_000),
        "}]}]}]}]}",
    ]
    .concat();
    let field = enrich(json.as_bytes(), &letters(), &deep).unwrap().report.fields.remove(0);
    assert_eq!(field.reason, Some("nested_too_deep"));
    deep.format = Format::OtlpJson;
    enrich(["[".repeat(30_000), "]".repeat(30_000)].concat().as_bytes(), &letters(), &deep).unwrap();
    for (bad, what) in [
        (&[0x0A, 0x05, 0x12][..], "a length past the end"),
        (&[0x0A, 0x02, 0x12, 0x05], "a length past the end of its message"),
        (&[0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], "a length of 2^64"),
        (&[0x0A, 0x80, 0x80], "a number that is cut off"),
        (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], "an endless number"),
        (&[0x0A, 0x02, 0x0B, 0x0C], "a group"),
        (&[0x0A, 0x01, 0x0C], "the end of a group"),
        (&[0x0A, 0x01, 0x0F], "no wire type"),
        (&[0x00, 0x00], "no field number"),
        (&[0x11, 0, 0, 0], "eight bytes that are cut off"),
        (&[0x15, 0, 0], "four bytes that are cut off"),
    ] {
        assert_eq!(code(bad), Some(ErrorCode::InvalidBody), "{what}");
    }
    let mut options = options();
    options.limits.ids_per_field = 2;
    let body = wrap(&[1, 2, 2, 9], &[&[0x0A, 3][..], b"ids", &wrap(&[2, 5], &[0x0A, 2, 0x18, 0].repeat(3))].concat());
    let field = enrich(&body, &letters(), &options).unwrap().report.fields.remove(0);
    assert_eq!(field.reason, Some("limit_exceeded"));
}

/// Work must grow with the body, not with its square: each of these would not end otherwise.
#[test]
fn large_bodies() {
    let ids = [0x0A, 2, 0x18, 1].repeat(200_000);
    let list = |number: u8, content: &[u8]| {
        [vec![number << 3 | 2], Writer::varint(content.len() as u64, 0), content.to_vec()].concat()
    };
    let span = list(2, &list(9, &[&[0x0A, 3][..], b"ids", &list(2, &list(5, &ids))].concat()));
    let body = list(1, &list(2, &span.repeat(4)));
    let (_, report) = run(&body).unwrap();
    assert_eq!((report.totals.decoded, report.fields[0].ids), (4, 200_000));
    let small = list(2, &list(9, &[&[0x0A, 3][..], b"ids", &list(2, &list(5, &[0x0A, 2, 0x18, 1]))].concat()));
    assert_eq!(run(&list(1, &list(2, &small.repeat(30_000)))).unwrap().1.totals.decoded, 30_000);
    let json = [
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":["#,
        &vec![r#"{"attributes":[{"key":"ids","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}]}"#; 20_000]
            .join(","),
        "]}]}]}",
    ]
    .concat();
    assert_eq!(run(json.as_bytes()).unwrap().1.totals.decoded, 20_000);
}

/// Values that are not what a format says, at every place.
#[test]
fn odd_values_are_left_alone() {
    let typed = r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"0"}]}}}]}}}],"events":[{"attributes":[{"key":"ids","value":{"stringValue":"[0]"}}]}]}]}]}]}"#;
    let stored = r#"{"spans":[{"start_time_unix_nano":1,"attributes":{"mlflow.spanOutputs":"{\"token_ids\": [0]}","ids":"[0]"},"events":[{"attributes":{"token_ids":[2]}}]}]}"#;
    for (body, format) in [(typed, Format::OtlpJson), (stored, Format::Mlflow)] {
        let parts: Vec<usize> = body.match_indices(['{', '[', '"']).map(|(at, _)| at).collect();
        for &at in &parts {
            // Each value in place of what stands there, up to the end of it.
            let Some(whole) =
                (at + 1..=body.len()).find(|&end| serde_json::from_str::<serde_json::Value>(&body[at..end]).is_ok())
            else {
                continue;
            };
            for odd in [
                "null",
                "1",
                "\"x\"",
                "[\"x\"]",
                "[]",
                "{}",
                "[1]",
                "[[]]",
                "[null,{}]",
                "{\"key\":[\"x\"],\"value\":[\"stringValue\"]}",
            ] {
                let body = [&body[..at], odd, &body[whole..]].concat();
                let mut options = options();
                options.format = format;
                if let Ok(enriched) = enrich(body.as_bytes(), &letters(), &options) {
                    assert_eq!(String::from_utf8(strip(&enriched.body, &options).unwrap()).unwrap(), body);
                }
            }
        }
    }
}
