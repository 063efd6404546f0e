//! `write`: what it makes is read by what the backends read with, and its refusals.
#![cfg(not(target_arch = "wasm32"))]

use std::path::{Path, PathBuf};
use std::process::Command;

mod common;

use common::letters;
use serde_json::{Value, json};
use token2text::{
    EnrichOptions, Error, ErrorCode, Format, ReadOptions, Span, SpanStatus, WriteOptions, enrich, read, write,
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn options() -> WriteOptions {
    let text = br#"{"projectId": "entity/project", "project": "rollouts", "run": "exp1", "runId": "0123456789abcdef"}"#;
    WriteOptions::from_json(text).unwrap().1
}

const FORMATS: [(Format, &str); 6] = [
    (Format::OtlpProto, "otlp.pb"),
    (Format::OtlpJson, "otlp.json"),
    (Format::Mlflow, "mlflow.json"),
    (Format::Weave, "weave.json"),
    (Format::Trackio, "trackio.json"),
    (Format::Record, "record.jsonl"),
];

/// Writes spans, which are JSON as JavaScript has it, in every format into a folder for `tests/oracle/write_check.py`.
/// Spans that a format refuses as too deep are left out there; `refused.json` tells which, so that it is known whether the
/// backend refuses them too.
fn write_bodies(name: &str, json: &str) -> PathBuf {
    let folder = root().join("target/write").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("spans.json"), json).unwrap();
    let spans = Span::list_from_json(json).unwrap();
    let mut refused = serde_json::Map::new();
    for (format, file) in FORMATS {
        let (body, too_deep) = write_shallow(&spans, format).unwrap_or_else(|error| panic!("{name}, {file}: {error}"));
        std::fs::write(folder.join(file), body).unwrap();
        refused.insert(file.to_owned(), too_deep.into());
    }
    std::fs::write(folder.join("refused.json"), Value::Object(refused).to_string()).unwrap();
    folder
}

/// Writes the spans that are not too deep for a format, and says which are.
fn write_shallow(spans: &[Span], format: Format) -> Result<(Vec<u8>, Vec<usize>), Error> {
    let (mut kept, mut too_deep): (Vec<usize>, Vec<usize>) = ((0..spans.len()).collect(), Vec::new());
    loop {
        let left: Vec<Span> = kept.iter().map(|&i| spans[i].clone()).collect();
        match write(&left, format, &options()) {
            Ok(body) => return Ok((body, too_deep)),
            Err(error) if error.code() == ErrorCode::LimitExceeded => {
                let place = error.message().strip_prefix("spans[").and_then(|rest| rest.split_once(']')).unwrap().0;
                too_deep.push(kept.remove(place.parse().unwrap()));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Has the folders read by the backends' own code; the first run installs it.
fn check(folders: &[PathBuf]) {
    let venv = Command::new(root().join("scripts/venv.sh")).arg("write").output().unwrap();
    assert!(venv.status.success(), "{}", String::from_utf8_lossy(&venv.stderr));
    let python = root().join(String::from_utf8(venv.stdout).unwrap().trim());
    let script = root().join("tests/oracle/write_check.py");
    let checked = Command::new(python).arg(script).args(folders).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
    assert!(checked.status.success(), "{out}{err}");
    assert!(out.contains(" comparisons"), "{out}{err}");
    print!("{out}");
}

#[test]
fn backends_read_what_is_written() {
    let json = std::fs::read_to_string(root().join("tests/fixtures/write/spans.json")).unwrap();
    check(&[write_bodies("made-by-hand", &json)]);
}

/// A span as JavaScript has it, as far as it can be written.
fn as_javascript(span: &Span) -> Value {
    let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let time = |time: Option<u64>| time.map(|time| time.to_string());
    let members = json!({
        "traceId": text(&span.trace_id), "spanId": text(&span.span_id), "parentId": span.parent_id, "name": span.name,
        "startUnixNano": time(span.start_unix_nano), "endUnixNano": time(span.end_unix_nano),
        "status": span.status.as_str(), "error": span.error, "model": span.model, "step": span.trajectory.step,
        "sampleIndex": span.trajectory.sample_index, "rolloutN": span.trajectory.rollout_n,
        "validate": span.trajectory.validate, "experimentName": span.trajectory.experiment_name,
        "inputs": span.inputs, "output": span.output, "attributes": span.attributes, "events": span.events,
    });
    let members = members.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
    Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect())
}

#[test]
fn spans_are_read_as_javascript_has_them() {
    let json = std::fs::read_to_string(root().join("tests/fixtures/write/spans.json")).unwrap();
    let spans = Span::list_from_json(&json).unwrap();
    assert!(spans.len() > 10);
    let again = Value::Array(spans.iter().map(as_javascript).collect()).to_string();
    assert_eq!(Span::list_from_json(&again).unwrap(), spans);
    // Halves of surrogate pairs, in a string and in the JSON of one.
    let spans = Span::list_from_json(r#"[{"name":"a\ud83d","inputs":"\"\\ud83d\""}]"#).unwrap();
    assert_eq!((spans[0].name.as_str(), spans[0].inputs.as_deref()), ("a\u{FFFD}", Some(r#""\ud83d""#)));
    let body = write(&spans, Format::Record, &options()).unwrap();
    assert_eq!(String::from_utf8(body).unwrap(), "{\"name\":\"a\u{FFFD}\",\"inputs\":\"\\ufffd\"}\n");
}

#[test]
fn mistakes_in_spans_are_named_with_their_place() {
    for (json, words) in [
        ("{}", "the spans must be a list, not an object"),
        ("[1", "not JSON"),
        (r#"[{},5]"#, "spans[1]: an object is needed"),
        (r#"[{"name":5}]"#, "spans[0]: `name` must be a string, not a number"),
        (r#"[{"startUnixNano":5}]"#, "`startUnixNano` must be a string of digits"),
        (r#"[{"endUnixNano":"-5"}]"#, "`endUnixNano` must be a string of digits"),
        (r#"[{"step":"5"}]"#, "`step` must be an integer, not a string"),
        (r#"[{"sampleIndex":1.5}]"#, "`sampleIndex` must be an integer"),
        (r#"[{"validate":"no"}]"#, "`validate` must be true or false"),
        (r#"[{"status":"fine"}]"#, "`status` is `fine`, must be one of `unset`, `ok`, `error`"),
    ] {
        let error = Span::list_from_json(json).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidBody, "{error}");
        assert!(error.message().contains(words), "{json}: {error}");
    }
    let mut spans = vec![Span::default(), Span::default()];
    let mut refused = |change: &dyn Fn(&mut Span), code: ErrorCode, words: &str| {
        spans[1] = Span::default();
        change(&mut spans[1]);
        for (format, _) in FORMATS {
            let error = write(&spans, format, &options()).unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert!(error.message().starts_with(words), "{error}");
        }
    };
    let text = |text: &str| Some(text.to_owned());
    let invalid = ErrorCode::InvalidBody;
    refused(
        &|span| span.inputs = text("{oops"),
        invalid,
        "spans[1].inputs is not JSON: expected a key in quotes at byte 1",
    );
    refused(&|span| span.output = text(""), invalid, "spans[1].output is not JSON");
    refused(&|span| span.output = text("1 2"), invalid, "spans[1].output is not JSON: something follows");
    refused(&|span| span.attributes = text("[]"), invalid, "spans[1].attributes must be an object, not a list");
    refused(&|span| span.events = text("{}"), invalid, "spans[1].events must be a list, not an object");
    let deep = "[".repeat(2000) + &"]".repeat(2000);
    let limit = ErrorCode::LimitExceeded;
    refused(&|span| span.inputs = Some(deep.clone()), limit, "spans[1].inputs is nested deeper than ");
}

#[test]
fn a_backend_gets_what_it_needs_or_the_option_is_named() {
    for (format, given, words) in [
        ("auto", "", "spans cannot be written as `auto`"),
        ("sse", "", "spans cannot be written as `sse`"),
        ("weave", "", "the backend needs the option `projectId`"),
        ("weave", r#","projectId":"project""#, "`projectId` must be"),
        ("weave", r#","projectId":"/project""#, "`projectId` must be"),
        ("trackio", r#","run":"a""#, "the backend needs the option `project`"),
        ("trackio", r#","project":"a""#, "the backend needs the option `run`"),
        ("trackio", r#","project":"","run":"a""#, "the backend needs the option `project`"),
        ("trackio", r#","project":"a_traces","run":"a""#, "Trackio keeps names such as `a_traces`"),
        ("trackio", r#","project":"a._system.","run":"a""#, "Trackio keeps names"),
        ("trackio", r#","project":"registry-a","run":"a""#, "Trackio keeps names"),
    ] {
        let text = format!(r#"{{"format":"{format}"{given}}}"#);
        let (format, options) = WriteOptions::from_json(text.as_bytes()).unwrap();
        let error = write(&[Span::default()], format, &options).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidOptions);
        assert!(error.message().contains(words), "{text}: {error}");
    }
    for name in ["_traces", "a_tracesb", "traces", "a-registry-b"] {
        let text = format!(r#"{{"format":"trackio","project":"{name}","run":"a"}}"#);
        let (format, options) = WriteOptions::from_json(text.as_bytes()).unwrap();
        assert!(write(&[Span::default()], format, &options).is_ok(), "{name}");
    }
    for text in [r#"{"format":"wave"}"#, r#"{"projectID":"a/b"}"#, r#"{"run":5}"#, "[]", "{"] {
        assert_eq!(WriteOptions::from_json(text.as_bytes()).unwrap_err().code(), ErrorCode::InvalidOptions, "{text}");
    }
}

fn small() -> Span {
    let mut span = Span::default();
    span.trace_id = "c5ddc8ad0b9d6a4fd79d59c179f3870b".to_owned();
    span.span_id = "aa00000000000002".to_owned();
    span.name = "gen".to_owned();
    span.start_unix_nano = Some(1_795_959_821_263_328_487);
    span.end_unix_nano = Some(1_795_959_821_263_636_756);
    span.status = SpanStatus::Ok;
    span.trajectory.step = Some(3);
    span.inputs = Some(r#"{"prompt_ids":[0]}"#.to_owned());
    span.output = Some(r#"{"token_ids":[1]}"#.to_owned());
    span
}

#[test]
fn bodies_are_these() {
    for (format, expected) in [
        (
            Format::OtlpJson,
            r#"{"resourceSpans":[{"resource":{},"scopeSpans":[{"scope":{"name":"token2text"},"spans":[{"traceId":"c5ddc8ad0b9d6a4fd79d59c179f3870b","spanId":"aa00000000000002","name":"gen","startTimeUnixNano":"1795959821263328487","endTimeUnixNano":"1795959821263636756","attributes":[{"key":"mlflow.spanInputs","value":{"stringValue":"{\"prompt_ids\":[0]}"}},{"key":"mlflow.spanOutputs","value":{"stringValue":"{\"token_ids\":[1]}"}},{"key":"step","value":{"intValue":"3"}},{"key":"mlflow.traceTag.step","value":{"stringValue":"3"}}],"events":[],"status":{"code":1}}]}]}]}"#,
        ),
        (
            Format::Mlflow,
            r#"{"spans":[{"trace_id":"xd3IrQudak/XnVnBefOHCw==","span_id":"qgAAAAAAAAI=","parent_span_id":null,"name":"gen","start_time_unix_nano":1795959821263328487,"end_time_unix_nano":1795959821263636756,"events":[],"status":{"code":"STATUS_CODE_OK","message":""},"attributes":{"mlflow.traceRequestId":"\"tr-c5ddc8ad0b9d6a4fd79d59c179f3870b\"","mlflow.spanInputs":"{\"prompt_ids\":[0]}","mlflow.spanOutputs":"{\"token_ids\":[1]}","step":"3"},"links":[]}]}"#,
        ),
        (
            Format::Weave,
            r#"{"batch":[{"project_id":"entity/project","id":"aa00000000000002","trace_id":"c5ddc8ad0b9d6a4fd79d59c179f3870b","parent_id":null,"op_name":"gen","started_at":"2026-11-29T13:43:41.263328Z","ended_at":"2026-11-29T13:43:41.263636Z","attributes":{"step":3},"inputs":{"prompt_ids":[0]},"output":{"token_ids":[1]},"summary":{"status_counts":{"success":1,"error":0}},"exception":null}]}"#,
        ),
        (
            Format::Trackio,
            r#"{"hf_token":null,"logs":[{"project":"rollouts","run":"exp1","run_id":"0123456789abcdef","step":3,"config":null,"log_id":"LOG_ID","metrics":{"rollout_trace/gen":[{"_type":"trackio.trace","messages":[{"role":"system","content":"verl rollout trace operation: gen"},{"role":"user","content":"{\"inputs\": {\"prompt_ids\":[0]}}"},{"role":"assistant","content":"{\"output\": {\"token_ids\":[1]}}"}],"metadata":{"op":"gen","inputs":{"prompt_ids":[0]},"step":3,"status":"success","output":{"token_ids":[1]},"trace_id":"c5ddc8ad0b9d6a4fd79d59c179f3870b","span_id":"aa00000000000002","start_time":"2026-11-29T13:43:41.263328Z","end_time":"2026-11-29T13:43:41.263636Z","duration_ms":0.308269},"spans":[]}]}}]}"#,
        ),
        (
            Format::Record,
            "{\"traceId\":\"c5ddc8ad0b9d6a4fd79d59c179f3870b\",\"spanId\":\"aa00000000000002\",\"name\":\"gen\",\"startUnixNano\":\"1795959821263328487\",\"endUnixNano\":\"1795959821263636756\",\"status\":\"ok\",\"step\":3,\"inputs\":{\"prompt_ids\":[0]},\"output\":{\"token_ids\":[1]}}\n",
        ),
    ] {
        let body = String::from_utf8(write(&[small()], format, &options()).unwrap()).unwrap();
        let log_id = body.split_once("\"log_id\":\"").map_or("", |(_, rest)| &rest[..32]);
        assert!(log_id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(body, expected.replace("LOG_ID", log_id));
    }
}

#[test]
fn enrichment_knows_each_format_and_finds_the_ids() {
    for (format, file) in FORMATS {
        let body = write(&[small()], format, &options()).unwrap();
        let enriched = enrich(&body, &letters(), &EnrichOptions::default()).unwrap();
        assert_eq!(enriched.report.format, format.as_str());
        assert_eq!((enriched.report.totals.decoded, enriched.report.warnings.len()), (2, 0), "{file}");
    }
}

#[test]
fn nothing_panics_and_the_same_is_written_each_time() {
    let json = std::fs::read_to_string(root().join("tests/fixtures/write/spans.json")).unwrap();
    let spans = Span::list_from_json(&json).unwrap();
    let mut written = 0;
    for span in &spans {
        for text in [&span.inputs, &span.output, &span.attributes, &span.events].into_iter().flatten() {
            for end in (0..=text.len()).filter(|&end| text.is_char_boundary(end)) {
                let mut cut = Span::default();
                cut.inputs = Some(text[..end].to_owned());
                cut.attributes = Some(text[end..].to_owned());
                for (format, _) in FORMATS {
                    let first = write(&[cut.clone(), span.clone()], format, &options());
                    assert_eq!(write(&[cut.clone(), span.clone()], format, &options()), first);
                    written += usize::from(first.is_ok());
                }
            }
        }
    }
    assert!(written < 100, "{written} broken spans were written");
    for (format, file) in FORMATS {
        let body = write(&[], format, &options()).unwrap();
        assert!(body.len() < 100, "{file}");
    }
}

/// Files beside the recorded bodies.
const NO_BODIES: [&str; 5] = ["expected.json", "meta.json", "index.json", "tokenizers.json", "README.md"];

/// The spans of every recorded body of the project, or of the folder that `READ_CAPTURES` names.
fn recorded() -> Vec<(String, Vec<Span>)> {
    let folder = std::env::var_os("READ_CAPTURES").map_or_else(|| root().join("tests/fixtures"), PathBuf::from);
    let mut pending = match std::env::var_os("READ_CAPTURES") {
        Some(_) => vec![folder.clone()],
        None => vec![folder.join("wire"), folder.join("captures")],
    };
    let mut bodies = Vec::new();
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            if NO_BODIES.contains(&path.file_name().unwrap().to_str().unwrap()) {
                continue;
            }
            // What is compressed or a protocol of its own is no body.
            let Ok(spans) = read(&std::fs::read(&path).unwrap(), &ReadOptions::default()) else { continue };
            if !spans.is_empty() {
                bodies.push((path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('/', "+"), spans));
            }
        }
    }
    bodies.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(bodies.len() > 80, "{} bodies", bodies.len());
    bodies
}

#[test]
fn the_deepest_that_is_written_is_taken_and_what_is_refused_is_not() {
    let mut spans = vec![json!({ "traceId": "t", "spanId": "0", "name": "root" })];
    for (depth, id) in [(197, "1"), (198, "2"), (252, "3"), (253, "4")] {
        let list = "[".repeat(depth) + &"]".repeat(depth);
        let object = format!("{{\"a\":{}}}", &list[1..list.len() - 1]);
        spans.push(
            json!({ "traceId": "t", "spanId": id, "parentId": "0", "name": "deep", "inputs": list, "output": list,
            "attributes": object }),
        );
    }
    let folder = write_bodies("deepest", &Value::Array(spans).to_string());
    let refused = std::fs::read_to_string(folder.join("refused.json")).unwrap();
    let refused: Value = serde_json::from_str(&refused).unwrap();
    for (_, file) in FORMATS {
        let expected = match file {
            "weave.json" => json!([2, 3, 4]),
            "trackio.json" => json!([4]),
            _ => json!([]),
        };
        assert_eq!(refused[file], expected, "{file}");
    }
    check(&[folder]);
}

#[test]
fn backends_read_what_is_read_and_written_again() {
    let mut folders = Vec::new();
    for (name, spans) in recorded() {
        let json = Value::Array(spans.iter().map(as_javascript).collect()).to_string();
        folders.push(write_bodies(&name, &json));
    }
    check(&folders);
}

/// The JSON that a text holds, with strings for the numbers that no double is, and U+FFFD for halves of surrogate pairs.
fn value(text: &Option<String>) -> Value {
    let mut text = whole(text.as_deref().unwrap_or("null"));
    for word in ["-Infinity", "Infinity", "NaN", "1e400", "-1e400"] {
        for before in [":", ": ", "[", ", ", ","] {
            text = text.replace(&format!("{before}{word}"), &format!("{before}\"{word}\""));
        }
    }
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// JSON with U+FFFD for each escape that is half of a surrogate pair alone.
fn whole(text: &str) -> String {
    let half = |text: &str, digits: &str| {
        text.strip_prefix("\\ud").is_some_and(|rest| rest.starts_with(|digit| digits.contains(digit)))
    };
    let (high, low) = (|text: &str| half(text, "89ab"), |text: &str| half(text, "cdef"));
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let len = match rest {
            _ if high(rest) && low(rest.get(6..).unwrap_or("")) => 12,
            _ if high(rest) || low(rest) => {
                out.push('\u{FFFD}');
                rest = &rest[6..];
                continue;
            }
            _ => 2,
        };
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out + rest
}

fn list(list: &Option<String>) -> Vec<Value> {
    value(list).as_array().cloned().unwrap_or_default()
}

/// Attributes that formats have for what spans have in members.
const OF_MEMBERS: [&str; 6] =
    ["step", "sample_index", "rollout_n", "validate", "experiment_name", "gen_ai.request.model"];

/// What metadata of Trackio say of the span.
const OF_TRACKIO: [&str; 12] = [
    "op",
    "model",
    "inputs",
    "output",
    "status",
    "error",
    "trace_id",
    "span_id",
    "parent_id",
    "start_time",
    "end_time",
    "duration_ms",
];

/// Digits that are an id of OTLP as they stand.
fn is_id(text: &str, digits: usize) -> bool {
    text.len() == digits
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && !text.trim_matches('0').is_empty()
}

fn ids(span: &Span) -> Vec<(token2text::FieldKind, Vec<u32>)> {
    span.fields.iter().map(|field| (field.kind, field.ids.clone())).collect()
}

/// Holds a prompt beside an output that holds ids too: a span has no place for what is beside its inputs and its output.
const HAS_MORE: &str = "tinker+sample.json";

/// What a format carries of a span.
fn carried(span: &Span, format: Format) -> Span {
    let mut span = span.clone();
    let micros = |time: Option<u64>| time.map(|time| time / 1000 * 1000);
    if matches!(format, Format::Weave | Format::Trackio) {
        span.events = None;
        span.fields.retain(|field| !field.path.contains("/events/"));
    }
    match format {
        // It needs a start.
        Format::Mlflow => span.start_unix_nano = span.start_unix_nano.or(span.end_unix_nano),
        // It needs both times, takes a call without an exception for a success, and only objects as inputs.
        Format::Weave => {
            let start = span.start_unix_nano.or(span.end_unix_nano).or(Some(0));
            span.end_unix_nano = micros(span.end_unix_nano.or(start));
            span.start_unix_nano = micros(start);
            if span.status == SpanStatus::Error && span.error.is_none() {
                span.error = Some("error".to_owned());
            }
            span.status = if span.error.is_some() { SpanStatus::Error } else { SpanStatus::Ok };
            let inputs = span.inputs.take().unwrap_or_else(|| "{}".to_owned());
            let is_object = inputs.starts_with('{');
            span.fields.retain(|field| is_object || !field.path.contains("/inputs/"));
            span.inputs = Some(if is_object { inputs } else { format!("{{\"inputs\":{inputs}}}") });
            span.output = span.output.filter(|output| output != "null");
        }
        Format::Trackio => {
            span.start_unix_nano = micros(span.start_unix_nano);
            span.end_unix_nano = micros(span.end_unix_nano);
            if span.name.is_empty() {
                span.name = "rollout_trace/".to_owned();
            }
            if span.error.is_some() && span.status == SpanStatus::Unset {
                span.status = SpanStatus::Error;
            }
        }
        _ => {}
    }
    span
}

/// Whether an id is there again: as it was, where the format takes it so; else one that the format takes.
fn is_id_again(id: &str, again: &str, digits: usize, format: Format) -> bool {
    match format {
        Format::Weave if id.is_empty() => !again.is_empty(),
        Format::Weave => again == id,
        // Its server makes the ids.
        Format::Trackio => !again.is_empty(),
        _ if is_id(id, digits) => again == id,
        _ => is_id(again, digits),
    }
}

/// What of a span is not there any more once it was written in a format and read again.
fn lost(span: &Span, again: &Span, format: Format) -> Vec<&'static str> {
    let parents = match (&span.parent_id, &again.parent_id) {
        // Alone in a body, a span has no other around it.
        (_, None) if format == Format::Trackio => true,
        (Some(id), Some(again)) => is_id_again(id, again, 16, format),
        (id, again) => id == again,
    };
    let is_same =
        |a: &Option<String>, b: &Option<String>| a == b || changed(value(a), format) == changed(value(b), format);
    let in_format = |attributes: &Option<String>| match changed(value(attributes), format) {
        Value::Object(members) => members,
        _ => serde_json::Map::new(),
    };
    let (mut had, mut has) = (in_format(&span.attributes), in_format(&again.attributes));
    for attributes in [&mut had, &mut has] {
        attributes.remove("mlflow.traceRequestId");
    }
    let is_of_member = |key: &str| {
        OF_MEMBERS.contains(&key) || key.starts_with("mlflow.traceTag.") || format == Format::Weave && key == "model"
    };
    has.retain(|key, _| had.contains_key(key) || !is_of_member(key));
    // Its members of these names are those of the span.
    if format == Format::Trackio {
        for key in OF_TRACKIO {
            had.remove(key);
            has.remove(key);
        }
    }
    // The ids of an event stream are in its events, which stay, but other formats have none there.
    let is_stream = span.fields.iter().any(|field| field.path.starts_with("/*/"));
    let span = &carried(span, format);
    let kept = [
        ("name", again.name == span.name),
        ("traceId", is_id_again(&span.trace_id, &again.trace_id, 32, format)),
        ("spanId", is_id_again(&span.span_id, &again.span_id, 16, format)),
        ("parentId", parents),
        ("start", again.start_unix_nano == span.start_unix_nano),
        ("end", again.end_unix_nano == span.end_unix_nano),
        ("status", again.status == span.status),
        ("error", again.error == span.error),
        ("model", again.model == span.model),
        ("trajectory", again.trajectory == span.trajectory),
        ("inputs", is_same(&again.inputs, &span.inputs)),
        ("output", is_same(&again.output, &span.output)),
        ("attributes", has == had),
        ("events", list(&again.events).len() == list(&span.events).len()),
        ("fields", ids(again) == ids(span) || is_stream),
    ];
    kept.into_iter().filter(|(_, is_kept)| !is_kept).map(|(name, _)| name).collect()
}

/// Numbers as formats have them: those that JSON has not are null to Weave, those of more than 64 bits text to Trackio.
fn changed(value: Value, format: Format) -> Value {
    match value {
        Value::String(text) if format == Format::Weave && ["NaN", "Infinity", "-Infinity"].contains(&text.as_str()) => {
            Value::Null
        }
        Value::String(text) if format == Format::Trackio && text.len() > 19 => {
            text.parse().map_or(Value::String(text), |number: f64| number.into())
        }
        Value::Array(list) => list.into_iter().map(|value| changed(value, format)).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, changed(value, format))).collect(),
        other => other,
    }
}

/// Writes spans and reads them again; where a format puts spans inside others, each alone.
fn again(spans: &[Span], format: Format) -> Vec<Span> {
    let bodies = if format == Format::Trackio { spans.chunks(1).collect() } else { vec![spans] };
    let body = |spans: &[Span]| write(spans, format, &options()).unwrap();
    bodies.into_iter().flat_map(|spans| read(&body(spans), &ReadOptions::default()).unwrap()).collect()
}

#[test]
fn what_is_read_again_is_what_was_read() {
    let (mut compared, mut losses) = (0, Vec::new());
    for (name, spans) in recorded() {
        for (format, file) in &FORMATS[..5] {
            let (_, too_deep) = write_shallow(&spans, *format).unwrap();
            let kept = spans.iter().enumerate().filter(|(i, _)| !too_deep.contains(i));
            let spans: Vec<Span> = kept.map(|(_, span)| span.clone()).collect();
            let all_again = again(&spans, *format);
            assert_eq!(all_again.len(), spans.len(), "{name}, {file}");
            for (span, again) in spans.iter().zip(&all_again) {
                compared += 1;
                for lost in lost(span, again, *format) {
                    if name.ends_with(HAS_MORE) && lost == "fields" {
                        assert_eq!(ids(again), ids(span)[2..], "the response stays");
                        continue;
                    }
                    losses.push(format!("{name}, {file}, {}: {lost}", span.path));
                }
            }
        }
    }
    assert!(losses.is_empty(), "{}", losses.join("\n"));
    assert!(compared > 500, "{compared} spans");
}
