//! Ids that go when their text is written, and texts that are cut: what goes, what stays, and what is said of it.
#![cfg(not(target_arch = "wasm32"))]

mod common;
#[path = "common/otlp_encode.rs"]
mod otlp_encode;

use common::{letters, real_set};
use serde_json::Value;
use token2text::{EnrichOptions, Enriched, FieldReport, Layout, Status, enrich};

fn run(body: &str, options: &str) -> Enriched {
    let options = EnrichOptions::from_json(options.as_bytes()).unwrap();
    enrich(body.as_bytes(), &letters(), &options).unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// The body with ids dropped; also checks that twice is once.
fn dropped(body: &str, options: &str) -> (String, Vec<FieldReport>) {
    let Enriched { body: once, report } = run(body, options);
    let once = String::from_utf8(once).unwrap();
    assert_eq!(String::from_utf8(run(&once, options).body).unwrap(), once);
    (once, report.fields)
}

const DROP: &str = r#"{"ids": "drop"}"#;

#[test]
fn members_go_with_one_separator_and_nothing_else_changes() {
    for (body, expected) in [
        // First, middle, last, alone; the text takes the place.
        (r#"{"token_ids":[1],"x": 1 }"#, r#"{"response_text":"b","x": 1 }"#),
        (r#"{"y": 0 , "token_ids": [1],  "x": 1}"#, r#"{"y": 0 , "response_text": "b",  "x": 1}"#),
        (r#"{"y": 0 , "token_ids": [1] }"#, r#"{"y": 0 , "response_text": "b" }"#),
        (r#"{ "token_ids" : [1]}"#, r#"{ "response_text" : "b"}"#),
        ("{\n  \"token_ids\": [1]\n}", "{\n  \"response_text\": \"b\"\n}"),
        // Text that is there stays where it is.
        (r#"{"response_text":"b","token_ids":[1]}"#, r#"{"response_text":"b"}"#),
        (r#"{"token_ids":[1],"response_text":"b"}"#, r#"{"response_text":"b"}"#),
        (r#"{"x":1,"token_ids":[1],"response_text":"b","y":1}"#, r#"{"x":1,"response_text":"b","y":1}"#),
        // Several, side by side and at the end.
        (r#"{"prompt_ids":[0],"response_ids":[1]}"#, r#"{"prompt_text":"a","response_text":"b"}"#),
        (r#"{"x":1,"prompt_ids":[0],"response_ids":[1]}"#, r#"{"x":1,"prompt_text":"a","response_text":"b"}"#),
        (
            r#"{"prompt_text":"a","response_text":"b","prompt_ids":[0], "response_ids":[1]}"#,
            r#"{"prompt_text":"a","response_text":"b"}"#,
        ),
        // The text in one object, the ids in another, of which nothing is left.
        (
            r#"{"inputs":{ "prompt_ids":[0] },"output":{"token_ids":[1]}}"#,
            r#"{"inputs":{  },"output":{"prompt_text":"a","response_text":"b"}}"#,
        ),
        (r#"{"inputs":{"x":{}, "prompt_ids":[0]},"output":{}}"#, r#"{"inputs":{"x":{}},"output":{"prompt_text":"a"}}"#),
        // What says the same less well goes too, repeated keys as well; what says something else stays.
        (
            r#"{"inputs":{"prompt_ids":[0]},"output":{"prompt_ids":"[0]","response_ids":[1],"token_ids":[1]}}"#,
            r#"{"inputs":{},"output":{"prompt_text":"a","response_text":"b"}}"#,
        ),
        (
            r#"{"inputs":{"prompt_ids":[5]},"output":{"prompt_ids":[0],"response_ids":[],"token_ids":[1]}}"#,
            r#"{"inputs":{"prompt_ids":[5]},"output":{"prompt_text":"a","response_text":"","token_ids":[1]}}"#,
        ),
        (r#"{"token_ids":[9],"x":0,"token_ids":[1]}"#, r#"{"x":0,"response_text":"b"}"#),
        // Masks and log-probabilities stay.
        (
            r#"{"response_ids":[1,2],"response_mask":[1,0],"response_logprobs":[-1,-2]}"#,
            r#"{"response_text":"bc","response_mask":[1,0],"response_logprobs":[-1,-2]}"#,
        ),
        (
            r#"{"outputs":"{\"s\":\"\\u00e9\", \"token_ids\": [0]}"}"#,
            r#"{"outputs":"{\"s\":\"\\u00e9\", \"response_text\": \"a\"}"}"#,
        ),
        (
            "{\"token_ids\":[0]}\n{\"x\"\n{\"token_ids\":[1]}\n",
            "{\"response_text\":\"a\"}\n{\"x\"\n{\"response_text\":\"b\"}\n",
        ),
    ] {
        assert_eq!(dropped(body, DROP).0, expected, "{body}");
    }
}

#[test]
fn copies_go_too() {
    let trace = |ids: &str, content: &str, inputs: &str, output: &str| {
        format!(
            r#"{{"logs":[{{"metrics":{{"t":{{"_type":"trackio.trace","messages":[{{"role":"user","content":"{content}"}},5,{{"content":"{{\"inputs\": {{\"prompt_ids\": [7]}}}}"}}{ids}],"metadata":{{"inputs":{{{inputs}}},"output":{{{output}}}}}}}}}}}]}}"#
        )
    };
    let before = trace(
        "",
        r#"{\"inputs\": {\"x\": \"\\u00e9\", \"prompt_ids\": [0]}}"#,
        r#""prompt_ids":[0]"#,
        r#""token_ids":[1]"#,
    );
    let after = trace("", r#"{\"inputs\": {\"x\": \"\\u00e9\"}}"#, "", r#""prompt_text":"a","response_text":"b""#);
    let (body, fields) = dropped(&before, DROP);
    // Another prompt in a message is no copy.
    assert_eq!(body, after);
    assert_eq!(
        fields[0].ids_dropped,
        [
            "/logs/0/metrics/t/metadata/inputs/prompt_ids",
            "/logs/0/metrics/t/messages/0/content/!json/inputs/prompt_ids"
        ]
    );
    assert_eq!(fields[1].ids_dropped, ["/logs/0/metrics/t/metadata/output/token_ids"]);
    // In a start and an end of a call each has its own.
    let start = r#"{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_ids":[0],"x":1}}}}"#;
    let end = r#"{"mode":"end","req":{"end":{"id":"1","output":{"token_ids":[1]}}}}"#;
    assert_eq!(
        dropped(&format!(r#"{{"batch":[{start},{end}]}}"#), DROP).0,
        r#"{"batch":[{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_text":"a","x":1}}}},{"mode":"end","req":{"end":{"id":"1","output":{"response_text":"b"}}}}]}"#
    );
}

#[test]
fn ids_that_say_more_than_their_text_stay() {
    for (body, options, status, detail) in [
        (r#"{"token_ids":[1,99]}"#, DROP, Status::Decoded, "some ids are unknown to the tokenizer"),
        (r#"{"response_text":"x","token_ids":[1]}"#, DROP, Status::Kept, "the text that is there is another"),
        (r#"{"token_ids":[1,2,3]}"#, r#"{"ids":"drop","maxTextChars":2}"#, Status::Decoded, "the text is shortened"),
        (
            r#"{"response_text":"bc","token_ids":[1,2,3]}"#,
            r#"{"ids":"drop","maxTextChars":2}"#,
            Status::Kept,
            "the text is shortened",
        ),
        (
            r#"{"inputs":{"prompt_ids":[99]},"output":[1]}"#,
            DROP,
            Status::Decoded,
            "they are no member that can be taken out",
        ),
        ("data: {\"output_ids\":[1]}\n\n", DROP, Status::Decoded, "they are no member that can be taken out"),
    ] {
        let keeping = run(body, &options.replace("drop", "keep"));
        let (out, fields) = dropped(body, options);
        assert_eq!(out.as_bytes(), keeping.body, "{body}");
        let field = fields.last().unwrap();
        assert_eq!(
            (field.status, field.reason, field.detail.as_deref()),
            (status, Some("not_dropped"), Some(detail)),
            "{body}"
        );
        assert!(field.ids_dropped.is_empty());
    }
    // What is skipped keeps its own reason.
    assert_eq!(dropped(r#"{"token_ids":[-1]}"#, DROP).1[0].reason, Some("negative"));
    // A whole text that is there is whole, whatever the limit.
    let (body, fields) =
        dropped(r#"{"response_text":"bcd","token_ids":[1,2,3]}"#, r#"{"ids":"drop","maxTextChars":2}"#);
    assert_eq!((&*body, fields[0].shortened), (r#"{"response_text":"bcd"}"#, None));
    // A text in place of another is written now.
    let (body, _) = dropped(r#"{"response_text":"x","token_ids":[1]}"#, r#"{"ids":"drop","existing":"replace"}"#);
    assert_eq!(body, r#"{"response_text":"b"}"#);
    // Half a character has no text.
    let options = EnrichOptions::from_json(DROP.as_bytes()).unwrap();
    let half = enrich(br#"{"token_ids":[11162]}"#, &real_set("qwen3"), &options).unwrap();
    assert_eq!(half.report.fields[0].detail.as_deref(), Some("the text has a replacement character (U+FFFD) in it"));
    let report = half.report;
    assert_eq!(
        (report.totals.ids_dropped, report.totals.reasons.iter().collect::<Vec<_>>()),
        (0, vec![("not_dropped", 1)])
    );
    assert!(report.summary().contains("ids stay, not_dropped: 1, as /token_ids"), "{}", report.summary());
}

#[test]
fn a_list_goes_when_all_its_selections_are_written() {
    let layouts = |fields: &str| {
        let layout = format!(r#"{{"name":"l","when":["/output/ids"],"fields":[{fields}]}}"#);
        Layout::from_json(layout.as_bytes()).unwrap()
    };
    let field = |kind: &str, value: u8| {
        format!(
            r#"{{"kind":"{kind}","ids":["/output/ids"],"text":"/output/{kind}_text","select":{{"mask":"/output/mask","value":{value}}}}}"#
        )
    };
    let mut options = EnrichOptions::from_json(DROP.as_bytes()).unwrap();
    let mut run = |fields: &str, body: &str| {
        options.layouts = layouts(fields);
        let enriched = enrich(body.as_bytes(), &letters(), &options).unwrap();
        let details =
            enriched.report.fields.iter().map(|field| field.detail.clone().unwrap_or_default()).collect::<Vec<_>>();
        (String::from_utf8(enriched.body).unwrap(), details.join("|"))
    };
    let body = r#"{"output":{"mask":[0,1],"ids":[1,2]}}"#;
    // One selection leaves ids without a text.
    let (out, detail) = run(&field("response", 1), body);
    assert_eq!(out, r#"{"output":{"mask":[0,1],"response_text":"c","ids":[1,2]}}"#);
    assert_eq!(detail, "some of the list's ids are in no text");
}

#[test]
fn texts_are_cut_between_characters() {
    let options = |most: usize| EnrichOptions::from_json(format!(r#"{{"maxTextChars": {most}}}"#).as_bytes()).unwrap();
    for (most, body, expected, whole) in [
        (2, r#"{"token_ids":[1,2,3]}"#, r#"{"response_text":"bc","token_ids":[1,2,3]}"#, Some(3)),
        (3, r#"{"token_ids":[1,2,3]}"#, r#"{"response_text":"bcd","token_ids":[1,2,3]}"#, None),
        (0, r#"{"token_ids":[1]}"#, r#"{"response_text":"","token_ids":[1]}"#, Some(1)),
        (1, r#"{"token_ids":[[1,2],[3]]}"#, r#"{"response_text":["b","d"],"token_ids":[[1,2],[3]]}"#, Some(3)),
    ] {
        let once = enrich(body.as_bytes(), &letters(), &options(most)).unwrap();
        assert_eq!(String::from_utf8_lossy(&once.body), expected);
        assert_eq!(once.report.fields[0].shortened, whole);
        assert_eq!(once.report.totals.shortened, usize::from(whole.is_some()));
        let twice = enrich(&once.body, &letters(), &options(most)).unwrap();
        assert_eq!(twice.body, once.body);
        assert_eq!(twice.report.totals.different, 0, "{body}");
    }
    let emoji = enrich(br#"{"token_ids":[145851]}"#, &real_set("qwen3"), &options(1)).unwrap();
    let value: Value = serde_json::from_slice(&emoji.body).unwrap();
    assert_eq!(value["response_text"].as_str().unwrap().chars().count(), 1);
}

/// A span of OTLP/JSON with attributes, and `more` of its members.
fn request(attributes: &str, more: &str) -> String {
    format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"attributes":[{attributes}]{more}}}]}}]}}]}}"#)
}

/// Drops ids among attributes in OTLP/JSON and in the same request as protocol buffers; gives the attributes after, and
/// the addresses of the ids inside the attributes.
fn dropped_attributes(attributes: &str, more: &str) -> (String, Vec<String>) {
    let before = request(attributes, more);
    let (after, fields) = dropped(&before, DROP);
    let value = |json: &str| serde_json::from_str::<Value>(json).unwrap();
    let options = EnrichOptions::from_json(DROP.as_bytes()).unwrap();
    let proto = enrich(&otlp_encode::request(&value(&before)), &letters(), &options).unwrap();
    // Every length is right, and nothing else changed.
    assert_eq!(proto.body, otlp_encode::request(&value(&after)), "{before}");
    assert_eq!(enrich(&proto.body, &letters(), &options).unwrap().body, proto.body);
    let paths = |fields: &[FieldReport]| fields.iter().flat_map(|field| field.ids_dropped.clone()).collect::<Vec<_>>();
    assert_eq!(paths(&proto.report.fields), paths(&fields));
    for (proto, json) in proto.report.fields.iter().zip(&fields) {
        assert_eq!((proto.status, proto.reason, &proto.detail), (json.status, json.reason, &json.detail), "{before}");
    }
    let [start, end] = request("|", more).split('|').map(str::len).collect::<Vec<_>>()[..] else { panic!() };
    let inside = paths(&fields).into_iter().map(|path| path.split_once("/spans/0").unwrap().1.to_owned()).collect();
    (after[start..after.len() - end].to_owned(), inside)
}

#[test]
fn ids_go_out_of_every_container_of_a_span() {
    for (before, after, paths) in [
        // JSON in a string: the member in it.
        (
            r#"{"key":"output.value","value":{"stringValue":"{\"x\": \"\\u00e9\", \"token_ids\": [1]}"}}"#,
            r#"{"key":"output.value","value":{"stringValue":"{\"x\": \"\\u00e9\", \"response_text\": \"b\"}"}}"#,
            &["/attributes/output.value/!json/token_ids"][..],
        ),
        // Pairs: the pair, first, last and alone; masks stay.
        (
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"response_ids","value":{"arrayValue":{"values":[{"intValue":"1"}]}}},{"key":"response_mask","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}]}}}"#,
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"response_text","value":{"stringValue":"b"}},{"key":"response_mask","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}]}}}"#,
            &["/attributes/mlflow.spanOutputs/response_ids"],
        ),
        (
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"x","value":{}},  {"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}]}}}"#,
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"x","value":{}},  {"key":"response_text","value":{"stringValue":"b"}}]}}}"#,
            &["/attributes/mlflow.spanOutputs/token_ids"],
        ),
        (
            r#"{"key":"mlflow.spanInputs","value":{"kvlistValue":{"values":[{"key":"prompt_ids","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}]}}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"x","value":{}}]}}}"#,
            r#"{"key":"mlflow.spanInputs","value":{"kvlistValue":{"values":[]}}},{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"prompt_text","value":{"stringValue":"b"}},{"key":"x","value":{}}]}}}"#,
            &["/attributes/mlflow.spanInputs/prompt_ids"],
        ),
        // Attributes themselves, as lists and as JSON; beside each other and at the end.
        (
            r#"{"key":"prompt_ids","value":{"arrayValue":{"values":[{"intValue":"0"}]}}},{"key":"response_ids","value":{"stringValue":"[1]"}}"#,
            r#"{"key":"token2text.prompt_text","value":{"stringValue":"a"}},{"key":"token2text.response_text","value":{"stringValue":"b"}}"#,
            &["/attributes/prompt_ids", "/attributes/response_ids"],
        ),
        (
            r#"{"key":"x","value":{"stringValue":"y"}},{"key":"prompt_ids","value":{"stringValue":"[0]"}},{"key":"response_ids","value":{"stringValue":"[1]"}},{"key":"z","value":{}}"#,
            r#"{"key":"x","value":{"stringValue":"y"}},{"key":"token2text.prompt_text","value":{"stringValue":"a"}},{"key":"token2text.response_text","value":{"stringValue":"b"}},{"key":"z","value":{}}"#,
            &["/attributes/prompt_ids", "/attributes/response_ids"],
        ),
        // What says the same in another attribute goes too; what says something else stays.
        (
            r#"{"key":"output.value","value":{"stringValue":"{\"token_ids\": [1], \"x\": 1}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"token_ids\":[1]}"}}"#,
            r#"{"key":"output.value","value":{"stringValue":"{\"x\": 1}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"response_text\":\"b\"}"}}"#,
            &["/attributes/mlflow.spanOutputs/!json/token_ids", "/attributes/output.value/!json/token_ids"],
        ),
        (
            r#"{"key":"output.value","value":{"stringValue":"{\"token_ids\": [7]}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"token_ids\":[1]}"}}"#,
            r#"{"key":"output.value","value":{"stringValue":"{\"token_ids\": [7]}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"response_text\":\"b\"}"}}"#,
            &["/attributes/mlflow.spanOutputs/!json/token_ids"],
        ),
        // Ids of which the text does not say everything, and ids that are the output.
        (
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"99"}]}}}]}}}"#,
            r#"{"key":"mlflow.spanOutputs","value":{"kvlistValue":{"values":[{"key":"response_text","value":{"stringValue":""}},{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"99"}]}}}]}}}"#,
            &[],
        ),
    ] {
        let (attributes, found) = dropped_attributes(before, r#","name":"g""#);
        assert_eq!((attributes.as_str(), found), (after, paths.iter().map(|path| path.to_string()).collect()));
    }
    // Events.
    let event = |attributes: &str| format!(r#","events":[{{"attributes":[{attributes}]}}]"#);
    let ids = r#"{"key":"token_ids","value":{"arrayValue":{"values":[{"intValue":"1"}]}}}"#;
    let text = r#"{"key":"token2text.response_text","value":{"stringValue":"b"}}"#;
    assert_eq!(dropped(&request("", &event(ids)), DROP).0, request("", &event(text)));
}

#[test]
fn ids_go_out_of_what_mlflow_keeps_and_gives() {
    for (before, after) in [
        // Its files: JSON in strings.
        (
            r#"{"spans":[{"start_time_unix_nano":1,"attributes":{"mlflow.spanOutputs":"{\"token_ids\":[1]}"}}]}"#,
            r#"{"spans":[{"start_time_unix_nano":1,"attributes":{"mlflow.spanOutputs":"{\"response_text\":\"b\"}"}}]}"#,
        ),
        (
            r#"{"spans": [{"start_time_unix_nano": 1, "attributes": {"a": "1", "response_ids": "[1]"}}]}"#,
            r#"{"spans": [{"start_time_unix_nano": 1, "attributes": {"a": "1", "token2text.response_text": "\"b\""}}]}"#,
        ),
        // Its server: pairs, and previews.
        (
            r#"{"trace":{"trace_info":{"response_preview":"{\"token_ids\": [1]}"},"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlist_value":{"values":[{"key":"token_ids","value":{"array_value":{"values":[{"int_value":1}]}}}]}}}]}]}}"#,
            r#"{"trace":{"trace_info":{"response_preview":"{\"response_text\": \"b\"}"},"spans":[{"attributes":[{"key":"mlflow.spanOutputs","value":{"kvlist_value":{"values":[{"key":"response_text","value":{"string_value":"b"}}]}}}]}]}}"#,
        ),
    ] {
        assert_eq!(dropped(before, DROP).0, after);
    }
}

#[test]
fn ids_of_events_of_a_stream_stay_and_the_report_says_so() {
    let body = "data: {\"output_ids\":[1]}\n\n";
    let (after, fields) = dropped(body, DROP);
    assert_eq!(after, [body, "data: {\"token2text\": {\"response_text\": \"b\"}}\n\n"].concat());
    assert_eq!((fields[0].reason, fields[0].ids_dropped.len()), (Some("not_dropped"), 0));
}
