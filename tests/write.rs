//! `write`: what it makes is read by what the backends read with, and its refusals.
#![cfg(not(target_arch = "wasm32"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

mod common;
#[path = "common/written.rs"]
mod written;

use common::letters;
use serde_json::{Value, json};
use token2text::{EnrichOptions, ErrorCode, Format, Span, SpanStatus, WriteOptions, enrich, write};
use written::{FORMATS, options, recorded, write_shallow};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

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

/// The Python that has the backends' own code; the first run installs it, and tests run at the same time.
static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| {
    let venv = Command::new(root().join("scripts/venv.sh")).arg("write").output().unwrap();
    assert!(venv.status.success(), "{}", String::from_utf8_lossy(&venv.stderr));
    root().join(String::from_utf8(venv.stdout).unwrap().trim())
});

/// Has the folders read by the backends' own code.
fn check(folders: &[PathBuf]) {
    let python = PYTHON.as_path();
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
