//! Weave, Trackio and event streams byte by byte: how they are told, where their texts go, what stays as it was, and
//! that nothing panics.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{letters, project};
use token2text::{EnrichOptions, Enriched, Format, Origin, enrich, enrich_from, strip};

fn run(body: &str, options: &str) -> Enriched {
    let options = EnrichOptions::from_json(options.as_bytes()).unwrap();
    enrich(body.as_bytes(), &letters(), &options).unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// The enriched body; also checks that `strip` gives the body back and that twice is once.
fn enriched(body: &str) -> String {
    let once = run(body, "{}").body;
    let options = EnrichOptions::default();
    assert_eq!(String::from_utf8_lossy(&strip(&once, &options).unwrap()), body);
    assert_eq!(enrich(&once, &letters(), &options).unwrap().body, once);
    String::from_utf8(once).unwrap()
}

#[test]
fn a_weave_end_alone_has_its_texts_in_the_summary() {
    let layout = r#"{"name":"mine","when":["/output/0"],"fields":[
        {"kind":"response","ids":["/output"],"text":"/response_text"}]}"#;
    let options = EnrichOptions::from_json(format!(r#"{{"layouts":[{layout}]}}"#).as_bytes()).unwrap();
    let start = r#"{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"x":0}}}}"#;
    let end = r#"{"mode":"end","req":{"end":{"id":"1","output":[1],"summary":{"usage":{}}}}}"#;
    let other = r#"{"mode":"end","req":{"end":{"id":"2","output":[1]}}}"#;
    let text = |json: &str, place: &str, member: &str| json.replacen(place, &[place, member].concat(), 1);
    for (body, expected, reason) in [
        (end.to_owned(), text(end, r#""summary":{"#, r#""response_text":"b","#), None),
        // With its start in the attributes, as of a whole call.
        (
            [start, end].join(","),
            [text(start, r#""attributes":{"#, r#""response_text":"b""#), end.to_owned()].join(","),
            None,
        ),
        (
            [end, start].join(","),
            [end.to_owned(), text(start, r#""attributes":{"#, r#""response_text":"b""#)].join(","),
            None,
        ),
        (other.to_owned(), other.to_owned(), Some("no_text_place")),
    ] {
        let [body, expected] = [body, expected].map(|items| format!(r#"{{"batch":[{items}]}}"#));
        let once = enrich(body.as_bytes(), &letters(), &options).unwrap();
        assert_eq!(String::from_utf8(once.body.clone()).unwrap(), expected);
        assert_eq!(once.report.fields[0].reason, reason);
        assert_eq!(enrich(&once.body, &letters(), &options).unwrap().body, once.body);
        assert_eq!(String::from_utf8(strip(&once.body, &options).unwrap()).unwrap(), body);
    }
}

#[test]
fn weave_has_its_texts_where_its_service_keeps_them() {
    for (body, expected) in [
        (
            r#"{"batch":[{"op_name":"g","trace_id":"t","attributes":{"step":1},"inputs":{"prompt_ids":[0]},"output":{"token_ids":[1]}}]}"#,
            r#"{"batch":[{"op_name":"g","trace_id":"t","attributes":{"step":1},"inputs":{"prompt_ids":[0]},"output":{"prompt_text":"a","response_text":"b","token_ids":[1]}}]}"#,
        ),
        // Ids that are themselves the output: beside it is no place.
        (
            r#"{"op_name":"g","trace_id":"t","attributes":{"step":1},"inputs":{"prompt_ids":[0]},"output":[1]}"#,
            r#"{"op_name":"g","trace_id":"t","attributes":{"response_text":"b","step":1},"inputs":{"prompt_text":"a","prompt_ids":[0]},"output":[1]}"#,
        ),
        // Start and end apart: each has its own.
        (
            r#"{"batch":[{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_ids":[0]}}}},{"mode":"end","req":{"end":{"id":"1","output":{"token_ids":[1]}}}}]}"#,
            r#"{"batch":[{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_text":"a","prompt_ids":[0]}}}},{"mode":"end","req":{"end":{"id":"1","output":{"response_text":"b","token_ids":[1]}}}}]}"#,
        ),
        // The end is told of the start's inputs, and its text goes into the start's attributes.
        (
            r#"{"batch":[{"mode":"end","req":{"end":{"id":"1","output":[1]}}},{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_ids":[0]}}}}]}"#,
            r#"{"batch":[{"mode":"end","req":{"end":{"id":"1","output":[1]}}},{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{"response_text":"b"},"inputs":{"prompt_text":"a","prompt_ids":[0]}}}}]}"#,
        ),
        // Without the start nothing says that a list is ids.
        (
            r#"{"batch":[{"mode":"end","req":{"end":{"id":"1","output":[1]}}}]}"#,
            r#"{"batch":[{"mode":"end","req":{"end":{"id":"1","output":[1]}}}]}"#,
        ),
        (
            r#"{"end":{"project_id":"p","id":"1","ended_at":"t","output":[1],"summary":{"usage":{}}}}"#,
            r#"{"end":{"project_id":"p","id":"1","ended_at":"t","output":[1],"summary":{"usage":{}}}}"#,
        ),
        // The prompt's text may stand in the end's output.
        (
            r#"{"batch":[{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_ids":[0]}}}},{"mode":"end","req":{"end":{"id":"1","output":{"token_ids":[1],"prompt_text":"old"}}}}]}"#,
            r#"{"batch":[{"mode":"start","req":{"start":{"id":"1","op_name":"g","attributes":{},"inputs":{"prompt_ids":[0]}}}},{"mode":"end","req":{"end":{"id":"1","output":{"response_text":"b","token_ids":[1],"prompt_text":"old"}}}}]}"#,
        ),
        (
            r#"{"start": {"op_name": "g", "id": "1", "attributes": {}, "inputs": {"arg0": {"prompt_ids": [0]}}}}"#,
            r#"{"start": {"op_name": "g", "id": "1", "attributes": {}, "inputs": {"arg0": {"prompt_text": "a", "prompt_ids": [0]}}}}"#,
        ),
        (
            "{\"op_name\":\"g\",\"trace_id\":\"t\",\"output\":{\"token_ids\":[1]}}\n{\"op_name\":\"g\",\"trace_id\":\"t\",\"output\":null}\n",
            "{\"op_name\":\"g\",\"trace_id\":\"t\",\"output\":{\"response_text\":\"b\",\"token_ids\":[1]}}\n{\"op_name\":\"g\",\"trace_id\":\"t\",\"output\":null}\n",
        ),
    ] {
        assert_eq!(enriched(body), expected);
        assert_eq!(run(body, "{}").report.format, "weave", "{body}");
    }
}

#[test]
fn trackio_has_its_texts_in_metadata_and_messages_stay() {
    let trace = |inner: &str| {
        format!(
            r#"{{"_type":"trackio.trace","messages":[{{"role":"user","content":"{{\"inputs\": {{\"prompt_ids\": [0]}}}}"}}],{inner}}}"#
        )
    };
    for (before, after) in [
        (
            r#""metadata":{"inputs":{"prompt_ids":[0]},"output":{"token_ids":[1]}}"#,
            r#""metadata":{"inputs":{"prompt_ids":[0]},"output":{"prompt_text":"a","response_text":"b","token_ids":[1]}}"#,
        ),
        (
            r#""metadata":{"op":"g","inputs":{"prompt_ids":[0]},"output":[1]}"#,
            r#""metadata":{"op":"g","inputs":{"prompt_text":"a","prompt_ids":[0]},"response_text":"b","output":[1]}"#,
        ),
        (
            r#""metadata":{"prompt_ids":[0],"response_ids":[1]}"#,
            r#""metadata":{"prompt_text":"a","prompt_ids":[0],"response_text":"b","response_ids":[1]}"#,
        ),
        (
            r#""metadata":null,"spans":[{"name":"g","input":{"prompt_ids":[0]},"output":{"token_ids":[1]}},{"input":{"prompt_ids":[0]},"output":[1]}]"#,
            r#""metadata":null,"spans":[{"name":"g","input":{"prompt_ids":[0]},"output":{"prompt_text":"a","response_text":"b","token_ids":[1]}},{"input":{"prompt_text":"a","prompt_ids":[0]},"response_text":"b","output":[1]}]"#,
        ),
    ] {
        let (before, after) = (trace(before), trace(after));
        for (head, tail) in [
            (r#"{"hf_token":null,"logs":[{"project":"p","run":"r","metrics":{"loss":NaN,"a/b~":"#, r#","x":[1]}}]}"#),
            (r#"{"kwargs":{"logs":[{"metrics":{}},{"metrics":{"t":[1,"#, r#"]}}]}}"#),
            (r#"{"kwargs":{"logs":[{"metrics":{"t":["#, r#"]}}]}}"#),
            (r#"{"v":1,"project":"p","run":"r","metrics":{"t":"#, "}}\n"),
        ] {
            // A list that begins with a number is none of traces.
            let is_list_of_traces = !head.ends_with("[1,");
            let expected = if is_list_of_traces { &after } else { &before };
            assert_eq!(enriched(&format!("{head}{before}{tail}")), format!("{head}{expected}{tail}"));
        }
        // As it is given back, without its type.
        let row = |trace: &str| {
            format!(
                r#"{{"data": [{}, "key": "k", "run": "r"}}]}}"#,
                trace[..trace.len() - 1].replace("\"_type\":\"trackio.trace\",", "")
            )
        };
        assert_eq!(enriched(&row(&before)), row(&after));
        assert_eq!(run(&row(&before), "{}").report.rule, "Trackio get_traces");
    }
    // Of repeated keys the last counts, and what is no trace has no ids.
    let body = r#"{"logs":[{"metrics":{"t":TRACE,"t":TRACE,"u":{"metadata":{"token_ids":[1]}}}}]}"#
        .replace("TRACE", &trace(r#""metadata":{"token_ids":[1]}"#));
    let report = run(&body, "{}").report;
    assert_eq!((report.fields.len(), report.spans), (1, 1));
    assert_eq!(report.fields[0].path, "/logs/0/metrics/t/metadata/token_ids");
}

#[test]
fn an_event_that_was_put_in_goes_again_however_lines_end() {
    const ENDS: [&str; 3] = ["\n", "\r", "\r\n"];
    let first = r#"data: {"choices": [{"index": 0, "token_ids": [1]}]}"#;
    let mut seen = 0;
    for number in 0..ENDS.len().pow(4) {
        let end = |place: u32| ENDS[number / ENDS.len().pow(place) % ENDS.len()];
        for tail in ["", "e", ": c", "event: end", "data: [DONE]", "data: x"] {
            let body = format!("{first}{}{}data: x{}{}{tail}", end(0), end(1), end(2), end(3));
            // Where two ends are one line's (`\r\n`), both lines are one event, whose data is no JSON.
            seen += usize::from(enriched(&body) != body);
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn event_streams_get_one_more_event() {
    let delta = |index: usize, ids: &str| format!(r#"data: {{"choices": [{{"index": {index}, "token_ids": {ids}}}]}}"#);
    let (first, second) = (delta(0, "[1, 2]"), delta(0, "[3]"));
    let ours = r#"data: {"token2text": {"response_text": "bcd"}}"#;
    for (before, after) in [
        (
            format!("{first}\n\n{second}\n\ndata: [DONE]\n\n"),
            format!("{first}\n\n{second}\n\n{ours}\n\ndata: [DONE]\n\n"),
        ),
        (format!("{first}\n\n{second}\n\n"), format!("{first}\n\n{second}\n\n{ours}\n\n")),
        (format!("{first}\n\n{second}\n"), format!("{first}\n\n{second}\n\n{ours}\n")),
        (format!("{first}\n\n{second}"), format!("{first}\n\n{second}\n\n{ours}")),
        (
            format!("{first}\r\n\r\n{second}\r\n\r\n: bye\r\n\r\n"),
            format!("{first}\r\n\r\n{second}\r\n\r\n{ours}\r\n\r\n: bye\r\n\r\n"),
        ),
        (
            format!(
                "\u{FEFF}: hello\n\nevent: x\nid: 7\n{first}\n\n\n{second}\nretry: 5\n\nevent: end\ndata: [DONE]\n"
            ),
            format!(
                "\u{FEFF}: hello\n\nevent: x\nid: 7\n{first}\n\n\n{second}\nretry: 5\n\n{ours}\n\nevent: end\ndata: [DONE]\n"
            ),
        ),
        (format!("{first}\r\r{second}\r\rdata:[DONE]"), format!("{first}\r\r{second}\r\r{ours}\r\rdata:[DONE]")),
        ("data: [DONE]\n\n".into(), "data: [DONE]\n\n".into()),
        ("data: {\"x\": 1}\n\ndata: [1]\n\ndata: 5\n\n".into(), "data: {\"x\": 1}\n\ndata: [1]\n\ndata: 5\n\n".into()),
    ] {
        assert_eq!(enriched(&before), after);
        assert_eq!(run(&before, "{}").report.rule, "event stream");
    }
    let text = |events: &[&str]| {
        let body = events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
        enriched(&body)[body.len()..].trim_end().to_owned()
    };
    for (events, expected) in [
        // Choices in the order of their numbers, whichever comes first.
        (
            &[
                r#"{"choices":[{"index":1,"token_ids":[5]}],"prompt_token_ids":[0]}"#,
                r#"{"choices":[{"index":0,"token_ids":[1]},{"index":1,"token_ids":[6]}]}"#,
            ][..],
            r#"data: {"token2text": {"prompt_text": "a", "response_text": ["b", "fg"]}}"#,
        ),
        (&[r#"{"output_ids":[1]}"#, r#"{"output_ids":[1,2]}"#], r#"data: {"token2text": {"response_text": "bc"}}"#),
        (&[r#"{"output_ids":[1]}"#, r#"{"output_ids":[2]}"#], r#"data: {"token2text": {"response_text": "bc"}}"#),
        (&[r#"{"output_ids":"#, r#"{"output_ids":[2]}"#, "ping"], r#"data: {"token2text": {"response_text": "c"}}"#),
        (&["{\"output_ids\":\ndata: [3]}"], r#"data: {"token2text": {"response_text": "d"}}"#),
        (&[r#"{"prompt_token_ids":[0],"choices":[]}"#], r#"data: {"token2text": {"prompt_text": "a"}}"#),
        // Completions have the prompt in each choice.
        (
            &[
                r#"{"choices":[{"index":0,"prompt_token_ids":[0],"token_ids":[1]}]}"#,
                r#"{"choices":[{"index":0,"token_ids":[2]}]}"#,
            ],
            r#"data: {"token2text": {"prompt_text": "a", "response_text": "bc"}}"#,
        ),
        // The producer's own text of the prompt is kept.
        (
            &[r#"{"choices":[{"index":0,"token_ids":[5]}],"prompt_token_ids":[0],"prompt_text":"a"}"#],
            r#"data: {"token2text": {"response_text": "f"}}"#,
        ),
    ] {
        assert_eq!(text(events), expected, "{events:?}");
    }
    let report = run("data: {\n\ndata: {\"output_ids\":[2]}\n\n", "{}").report;
    assert_eq!((report.warnings[0].code, &*report.warnings[0].path), ("invalid_body", "/0"));
    assert_eq!(report.fields[0].path, "/*/output_ids");
    assert_eq!(report.fields[0].text_path.as_deref(), Some("/2/token2text/response_text"));
}

#[test]
fn formats_are_told_by_content_first() {
    let weave = r#"{"op_name": "g", "trace_id": "t"}"#;
    let trackio = r#"{"logs": [{"metrics": {}}]}"#;
    let both = r#"{"logs": [{"metrics": {}}], "op_name": "g", "trace_id": "t"}"#;
    for (body, url, content_type, format, rule, is_doubtful) in [
        (weave, "", "", "weave", "Weave calls/stream_query", false),
        (trackio, "", "application/json", "trackio", "Trackio bulk_log", false),
        (both, "", "", "weave", "Weave calls/stream_query", true),
        (weave, "https://h/api/bulk_log?x#y", "", "weave", "Weave calls/stream_query", true),
        (weave, "https://h/calls/stream_query", "", "weave", "Weave calls/stream_query", false),
        ("{}", "https://h/v2/e/p/calls/complete/", "", "weave", "URL", false),
        ("{}", "/api/get_traces?limit=1", "text/event-stream", "trackio", "URL", false),
        ("{}", "", "text/event-stream", "record", "JSON", true),
        ("hello\n\ndata: {}\n\n", "", "Text/Event-Stream; charset=utf-8", "sse", "content type", false),
        ("hello\n\ndata: {}\n\n", "answer.sse", "", "sse", "URL", false),
        ("event: x\ndata: {}\n\n", "", "", "sse", "event stream", false),
        ("{}\n{}", "", "", "record", "JSON lines", false),
        ("[{\"op_name\": \"g\", \"trace_id\": \"t\"}]", "", "", "weave", "Weave calls/stream_query", false),
        ("  ", "/api/bulk_log", "", "record", "empty body", false),
        ("{}", "https://h/v1/traces", "application/json", "otlp-json", "URL", false),
        ("{\"resourceSpans\":[]}", "/api/bulk_log", "", "otlp-json", "JSON with `resourceSpans`", true),
        ("{\"spans\":[]}", "/api/3.0/mlflow/traces/get?x", "", "mlflow", "URL", false),
        ("\n\u{2}\u{12}\0", "/v1/traces", "application/x-protobuf", "otlp-proto", "protocol buffers", false),
        ("\u{12}\0", "/v1/traces", "application/x-protobuf", "otlp-proto", "content type", false),
        ("{}", "", "application/x-protobuf", "record", "JSON", true),
    ] {
        let origin = Origin { content_type: Some(content_type), url: Some(url) };
        let report = enrich_from(body.as_bytes(), &origin, &letters(), &EnrichOptions::default()).unwrap().report;
        assert_eq!((report.format, report.rule), (format, rule), "{body} {url} {content_type}");
        let codes: Vec<_> = report.warnings.iter().map(|warning| warning.code).collect();
        assert_eq!(codes, if is_doubtful { vec!["ambiguous_format"] } else { vec![] }, "{body} {url} {content_type}");
        // An option has the last word.
        let mut options = EnrichOptions::default();
        options.format = Format::Record;
        let told = enrich_from(b"{}", &origin, &letters(), &options).unwrap().report;
        assert_eq!((told.format, told.rule, told.warnings.len()), ("record", "asked for", 0));
    }
    let error = enrich(b"hello", &letters(), &EnrichOptions::default()).unwrap_err();
    assert_eq!(error.code().as_str(), "unknown_format");
}

/// A generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Members that no format and no layout knows, each with a comma after it.
    fn members(&mut self) -> String {
        const VALUES: [&str; 12] = [
            "1.50e+3",
            "-0",
            "18446744073709551616",
            "NaN",
            "null",
            "\"\\ud83d\"",
            "\"\\u00e9\\/\"",
            "[ ]",
            "{\"a\" : [1, {}] }",
            "\"{\\\"x\\\": [1]}\"",
            "[1,2,3]",
            "\"☔\"",
        ];
        (0..self.below(4))
            .map(|_| {
                format!(
                    "\"{}{}\"{}{},{}",
                    ["x", "é", "\\u0041"][self.below(3)],
                    self.below(99),
                    [":", ": ", " :\n"][self.below(3)],
                    VALUES[self.below(12)],
                    ["", " ", "\n\t"][self.below(3)]
                )
            })
            .collect()
    }

    /// A body with such members where `@` stands.
    fn fill(&mut self, template: &str) -> String {
        let mut parts = template.split('@');
        let mut body = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            body.push_str(&self.members());
            body.push_str(part);
        }
        body
    }
}

const TEMPLATES: [&str; 4] = [
    r#"{@"batch":[{@"op_name":"g",@"trace_id":"t","attributes":{@"s":1},"inputs":{@"prompt_ids":[0],@"k":2},@"output":{@"token_ids":[1],@"z":0}},{@"op_name":"h","output":[1],"inputs":{@"prompt_ids":[2]},"attributes":{@"s":1}}],@"y":0}"#,
    r#"{@"batch":[{"mode":"start",@"req":{@"start":{@"id":"1","attributes":{@"s":1},"inputs":{@"prompt_ids":[0]}}}},{"mode":"end","req":{"end":{@"id":"1",@"output":{@"token_ids":[1],@"z":0}}}}],@"y":0}"#,
    r#"{@"kwargs":{@"logs":[{@"metrics":{@"t":{@"_type":"trackio.trace","messages":[{@"content":"{\"inputs\": {\"prompt_ids\": [0]}}"}],@"metadata":{@"inputs":{@"prompt_ids":[0]},@"output":{@"token_ids":[1]}},"spans":[{@"input":{@"prompt_ids":[3]},@"z":0}]}}}]}}"#,
    r#"{@"data":[{@"run":"r","key":"k","messages":[],@"metadata":{@"prompt_ids":[0],@"response_ids":[1],@"z":0}}]}"#,
];

#[test]
fn whatever_else_is_there_stays_as_it_is() {
    let mut numbers = Numbers(1);
    for round in 0..400 {
        let body = numbers.fill(TEMPLATES[round % TEMPLATES.len()]);
        let mut bare = enriched(&body);
        assert_ne!(bare, body);
        // Each text is a member before another, whatever separates them: what is left without it is the body.
        for text in ["\"prompt_text\"", "\"response_text\""] {
            while let Some(start) = bare.find(text) {
                let rest = &bare[start..];
                let value = rest[text.len()..].find('"').unwrap() + text.len();
                let end = start + value + 3;
                let separator = bare[end..].find(',').unwrap() + 1;
                let space = bare[end + separator..].len() - bare[end + separator..].trim_start().len();
                // A separator is copied with its white space.
                bare.replace_range(start..end + separator + space, "");
            }
        }
        assert_eq!(bare, body);
    }
}

#[test]
fn broken_bodies_never_panic() {
    let mut numbers = Numbers(2);
    let mut bodies: Vec<Vec<u8>> = TEMPLATES.iter().map(|template| numbers.fill(template).into_bytes()).collect();
    for file in [
        "weave-python-synthetic-edge/01-calls-complete.json",
        "trackio-synthetic-edge/01-bulk-log.json",
        "vllm-chat-stream-n2/response.sse",
    ] {
        bodies.push(std::fs::read(project("tests/fixtures/captures").join(file)).unwrap());
    }
    let mut options = Vec::new();
    for format in ["auto", "record", "weave", "trackio", "sse"] {
        for rest in ["", r#", "ids": "drop", "existing": "replace", "maxTextChars": 1"#] {
            options.push(EnrichOptions::from_json(format!(r#"{{"format": "{format}"{rest}}}"#).as_bytes()).unwrap());
        }
    }
    const PIECES: [&[u8]; 12] =
        [b"{", b"}", b"[", b"]", b"\"", b",", b"null", b"\n\n", b"data: ", b"\"token2text\"", b"\xFF", b"[DONE]"];
    for round in 0..1500 {
        let mut body = bodies[round % bodies.len()].clone();
        for _ in 0..1 + numbers.below(4) {
            let start = numbers.below(body.len());
            let end = (start + numbers.below(20)).min(body.len());
            let piece = PIECES[numbers.below(PIECES.len())];
            body.splice(start..end, piece.iter().copied());
        }
        let options = &options[numbers.below(options.len())];
        if let Ok(enriched) = enrich(&body, &letters(), options) {
            let again = enrich(&enriched.body, &letters(), options).unwrap();
            assert!(again.body == enriched.body, "{}", String::from_utf8_lossy(&body));
            strip(&enriched.body, options).unwrap();
        }
    }
}
