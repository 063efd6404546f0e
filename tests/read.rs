//! Spans read from recorded bodies, compared with what others read in them: `expected.json` for the ids, serde_json for
//! the facts in JSON, OpenTelemetry's own classes for those in protocol buffers (`tests/oracle/read.py`).
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::{at, letters, project, real_set};
use serde_json::{Map, Value, json};
use token2text::{EnrichOptions, Format, Limits, ReadOptions, Span, SpanStatus, Status, enrich, read};

struct Body {
    /// The folder and the file.
    name: String,
    folder: PathBuf,
    format: String,
    bytes: Vec<u8>,
}

/// All recorded bodies of the project, or of the folder that `READ_CAPTURES` names.
fn bodies() -> Vec<Body> {
    let mut folders = Vec::new();
    let roots = match std::env::var_os("READ_CAPTURES") {
        Some(root) => ["mlflow", "otlp", "plain", "trackio", "weave-js", "weave-python"]
            .map(|part| PathBuf::from(&root).join(part))
            .to_vec(),
        None => ["captures", "wire/mlflow", "wire/otlp"].map(|part| project("tests/fixtures").join(part)).to_vec(),
    };
    for root in roots {
        for entry in std::fs::read_dir(root).unwrap() {
            let folder = entry.unwrap().path();
            if folder.is_dir() {
                folders.push(folder);
            }
        }
    }
    let mut bodies = Vec::new();
    for folder in folders {
        for file in parsed(&std::fs::read(folder.join("meta.json")).unwrap())["files"].as_array().unwrap() {
            let file_name = file["file"].as_str().unwrap();
            let Ok(bytes) = std::fs::read(folder.join(file_name)) else { continue };
            let name = format!("{}/{file_name}", folder.file_name().unwrap().to_string_lossy());
            bodies.push(Body { name, folder: folder.clone(), format: file["format"].as_str().unwrap().into(), bytes });
        }
    }
    bodies.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(bodies.len() > 80, "only {} bodies", bodies.len());
    bodies
}

/// JSON as Python writes it.
fn parsed(bytes: &[u8]) -> Value {
    try_parsed(bytes).unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&bytes[..bytes.len().min(300)])))
}

fn try_parsed(bytes: &[u8]) -> Option<Value> {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    for word in ["-Infinity", "Infinity", "NaN"] {
        for before in ["[", ", ", ",", ": ", ":"] {
            text = text.replace(&format!("{before}{word}"), &format!("{before}null"));
        }
    }
    serde_json::from_str(&without_halves(&text)).ok()
}

/// Half a surrogate pair, which serde_json refuses, as a question mark.
fn without_halves(text: &str) -> String {
    let is_half = |at: usize, digits: &str| {
        let escape = text.get(at..at + 4).unwrap_or_default().to_ascii_lowercase();
        escape.starts_with("\\ud") && escape.ends_with(|last| digits.contains(last))
    };
    let (mut out, mut at) = (String::new(), 0);
    while let Some(found) = text[at..].find("\\ud") {
        let start = at + found;
        // A backslash that is escaped itself begins no escape.
        let before = text[..start].bytes().rev().take_while(|&byte| byte == b'\\').count();
        if before % 2 == 1 {
            out += &text[at..start + 2];
            at = start + 2;
            continue;
        }
        let len = if is_half(start, "89ab") && is_half(start + 6, "cdef") { 12 } else { 6 };
        out += &text[at..start];
        out += if len == 12 || is_half(start, "01234567") { &text[start..start + len] } else { "?" };
        at = start + len;
    }
    out + &text[at..]
}

fn spans(body: &Body) -> Vec<Span> {
    read(&body.bytes, &ReadOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", body.name))
}

#[test]
fn fields_are_those_of_enrichment() {
    let mut checked = 0;
    for body in bodies() {
        let enriched = enrich(&body.bytes, &real_set("qwen3"), &EnrichOptions::default()).unwrap();
        let spans = spans(&body);
        let mut fields = Vec::new();
        for span in &spans {
            fields.extend(&span.fields);
        }
        for report in &enriched.report.fields {
            if report.status == Status::Skipped {
                continue;
            }
            // The halves of a call are one span, so the order may be another.
            let field = fields.iter().find(|field| field.path == report.path && field.text_path == report.text_path);
            let field = field.unwrap_or_else(|| panic!("{}: {} is not read", body.name, report.path));
            assert_eq!(field.ids.len(), report.ids, "{}: {}", body.name, report.path);
            assert_eq!((&field.layout, field.kind, field.index), (&report.layout, report.kind, report.index));
            assert_eq!(field.existing.is_some(), report.existing.is_some(), "{}: {}", body.name, report.path);
            assert_eq!(field.segments.is_some(), report.select.is_some(), "{}: {}", body.name, report.path);
            if let Some(segments) = &field.segments {
                let count: usize = segments.iter().map(|[start, end]| end - start).sum();
                assert_eq!(count, field.ids.len(), "{}: {}", body.name, report.path);
            }
            checked += 1;
        }
    }
    println!("{checked} fields");
    assert!(checked > 700, "only {checked} fields");
}

#[test]
fn ids_are_those_that_the_captures_expect() {
    let mut checked = 0;
    for body in bodies() {
        let spans = spans(&body);
        let expected = parsed(&std::fs::read(body.folder.join("expected.json")).unwrap());
        let mut by_path: BTreeMap<&str, Vec<&token2text::SpanField>> = BTreeMap::new();
        for field in spans.iter().flat_map(|span| &span.fields) {
            by_path.entry(&field.path).or_default().push(field);
        }
        let file = body.name.split_once('/').unwrap().1;
        for entry in expected.as_array().unwrap() {
            let Some(ids) = entry["ids"].as_array().filter(|_| entry["status"] == "ok" && entry["select"].is_null())
            else {
                continue;
            };
            for place in entry["where"].as_array().into_iter().flatten() {
                let Some(address) = place.as_str().unwrap().strip_prefix(&format!("{file}#")) else { continue };
                let Some([field]) = by_path.get(address).map(Vec::as_slice) else { continue };
                if field.segments.is_some() {
                    continue;
                }
                assert_eq!(json!(field.ids), Value::Array(ids.clone()), "{} {address}", body.name);
                checked += 1;
            }
        }
    }
    println!("{checked} lists");
    assert!(checked > 400, "only {checked} lists");
}

/// Bytes of base64 as hexadecimal digits.
fn hex_of(value: &Value) -> String {
    let digit =
        |byte: u8| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|&d| d == byte);
    let bits: Vec<usize> = value.as_str().unwrap_or_default().bytes().map_while(digit).collect();
    let mut hex = String::new();
    for group in bits.chunks(4) {
        let bytes = [group[0] << 2 | group.get(1).unwrap_or(&0) >> 4]
            .into_iter()
            .chain(group.get(2).map(|third| group[1] << 4 & 0xF0 | third >> 2))
            .chain(group.get(3).map(|fourth| group[2] << 6 & 0xC0 | fourth));
        for byte in bytes {
            hex += &format!("{byte:02x}");
        }
    }
    hex
}

/// A value with its type, of MLflow's server, plain.
fn plain(value: &Value) -> Value {
    let Some((kind, content)) = value.as_object().and_then(|object| object.iter().next()) else { return Value::Null };
    match kind.as_str() {
        "array_value" => content["values"].as_array().into_iter().flatten().map(plain).collect(),
        "kvlist_value" => Value::Object(pairs(&content["values"])),
        "double_value" if content.is_string() => Value::Null,
        _ => content.clone(),
    }
}

fn pairs(list: &Value) -> Map<String, Value> {
    let pairs = list.as_array().into_iter().flatten();
    pairs.map(|pair| (pair["key"].as_str().unwrap_or_default().to_owned(), plain(&pair["value"]))).collect()
}

fn as_json(text: Option<&String>) -> Value {
    text.map_or(Value::Null, |text| parsed(text.as_bytes()))
}

/// A value of an attribute that MLflow reads again.
fn reread(value: &Value) -> Value {
    value.as_str().and_then(|text| try_parsed(text.as_bytes())).unwrap_or_else(|| value.clone())
}

#[test]
fn facts_of_mlflow_are_those_of_serde_json() {
    let mut checked = 0;
    for body in bodies() {
        let value = match body.format.as_str() {
            "mlflow-spans" => json!([{ "spans": parsed(&body.bytes)["spans"] }]),
            "mlflow-trace" | "json" if body.folder.parent().unwrap().ends_with("mlflow") => {
                let value = parsed(&body.bytes);
                value["traces"].as_array().cloned().map_or(json!([value["trace"]]), Value::Array)
            }
            _ => continue,
        };
        let spans = spans(&body);
        let mut spans = spans.iter().filter(|span| !span.span_id.is_empty());
        for trace in value.as_array().unwrap() {
            let tags = &trace["trace_info"]["tags"];
            for wanted in trace["spans"].as_array().into_iter().flatten() {
                let span = spans.next().unwrap_or_else(|| panic!("{}: too few spans", body.name));
                assert_eq!(span.trace_id, hex_of(&wanted["trace_id"]), "{}", body.name);
                assert_eq!(span.span_id, hex_of(&wanted["span_id"]));
                let parent = hex_of(&wanted["parent_span_id"]);
                assert_eq!(span.parent_id.clone().unwrap_or_default(), parent);
                assert_eq!(json!(span.name), wanted["name"]);
                assert_eq!(span.start_unix_nano, wanted["start_time_unix_nano"].as_u64());
                assert_eq!(span.end_unix_nano, wanted["end_time_unix_nano"].as_u64());
                let status = wanted["status"]["code"].as_str().unwrap_or("STATUS_CODE_UNSET");
                assert_eq!(status, format!("STATUS_CODE_{}", span.status.as_str().to_uppercase()));
                let message = wanted["status"]["message"].as_str().filter(|message| !message.is_empty());
                assert_eq!(span.error.as_deref(), message);
                let step = tags["step"].as_str().map(|step| step.parse().unwrap());
                assert_eq!(span.trajectory.step, step);
                assert_eq!(span.trajectory.validate, tags["validate"].as_str().map(|text| text == "True"));
                assert_eq!(span.trajectory.experiment_name.as_deref(), tags["experiment_name"].as_str());
                // A null is shown as neither.
                let mut attributes = match &wanted["attributes"] {
                    Value::Object(object) => {
                        object.iter().map(|(key, value)| (key.clone(), reread(value))).collect::<Map<_, _>>()
                    }
                    list => pairs(list),
                };
                let [inputs, output] = ["mlflow.spanInputs", "mlflow.spanOutputs"].map(|key| {
                    let value = reread(attributes.get(key).unwrap_or(&Value::Null));
                    if !value.is_null() {
                        attributes.remove(key);
                    }
                    value
                });
                assert_eq!(as_json(span.inputs.as_ref()), inputs, "{}", body.name);
                assert_eq!(as_json(span.output.as_ref()), output, "{}", body.name);
                assert_eq!(as_json(span.attributes.as_ref()), Value::Object(attributes), "{}", body.name);
                checked += 1;
            }
        }
    }
    println!("{checked} spans");
    assert!(checked > 10, "only {checked} spans");
}

/// What `tests/oracle/read.py` read in the requests with OpenTelemetry's own classes.
fn facts_of_otlp() -> Map<String, Value> {
    let path = match std::env::var_os("READ_FACTS") {
        Some(path) => PathBuf::from(path),
        None => project("tests/oracle/read.json"),
    };
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn facts_of_otlp_are_those_of_opentelemetry() {
    let facts = facts_of_otlp();
    let mut checked = 0;
    for body in bodies().into_iter().filter(|body| body.format.starts_with("otlp")) {
        let Some(wanted) = facts.get(&body.name) else { panic!("{} is not in read.json", body.name) };
        let spans = spans(&body);
        assert_eq!(spans.len(), wanted.as_array().unwrap().len(), "{}", body.name);
        for (span, wanted) in spans.iter().zip(wanted.as_array().unwrap()) {
            let number = |time: Option<u64>| json!(time.unwrap_or(0));
            let facts = json!({
                "trace_id": span.trace_id, "span_id": span.span_id, "parent_id": span.parent_id, "name": span.name,
                "start": number(span.start_unix_nano), "end": number(span.end_unix_nano),
                "status": span.status.as_str(), "error": span.error,
            });
            assert_eq!(facts, wanted["facts"], "{} {}", body.name, span.path);
            // Texts, so that numbers are compared as they are spelled.
            for (name, text) in [
                ("inputs", &span.inputs),
                ("output", &span.output),
                ("attributes", &span.attributes),
                ("events", &span.events),
            ] {
                let hash = text.as_ref().map(|text| digest(text.as_bytes()));
                assert_eq!(json!(hash), wanted[name], "{} {} {name}: {text:?}", body.name, span.path);
            }
            checked += 1;
        }
    }
    println!("{checked} spans");
    assert!(checked > 50, "only {checked} spans");
}

/// FNV-1a of 64 bits.
fn digest(text: &[u8]) -> String {
    let hash = text
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
    format!("{hash:016x}")
}

/// A line of Weave's answer or a call of its request.
fn calls(body: &Body) -> Vec<Value> {
    if body.format == "weave-jsonl" {
        let lines = body.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        return lines.map(parsed).collect();
    }
    parsed(&body.bytes)["batch"].as_array().unwrap().clone()
}

/// Nanoseconds of `2026-11-29T14:44:21.386003Z` or with `+00:00`, by the calendar of the test.
fn nano(text: &Value) -> Option<u64> {
    let text = text.as_str()?.replace("+00:00", "Z");
    let number = |range: std::ops::Range<usize>| text[range].parse::<u64>().unwrap();
    let (year, month, day) = (number(0..4), number(5..7), number(8..10));
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut days: u64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    let months = [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    days += months[..month as usize - 1].iter().sum::<u64>() + day - 1;
    let seconds = ((days * 24 + number(11..13)) * 60 + number(14..16)) * 60 + number(17..19);
    let fraction = text[19..].trim_matches(['.', 'Z']);
    Some(seconds * 1_000_000_000 + format!("{fraction:0<9}").parse::<u64>().unwrap())
}

#[test]
fn facts_of_weave_are_those_of_serde_json() {
    let mut checked = 0;
    for body in bodies().into_iter().filter(|body| body.format.starts_with("weave")) {
        let spans = spans(&body);
        let mut wanted: Vec<Map<String, Value>> = Vec::new();
        for item in calls(&body) {
            let call = [&item["req"]["start"], &item["req"]["end"]].into_iter().find(|half| half.is_object());
            let call = call.unwrap_or(&item).as_object().unwrap().clone();
            match wanted.iter_mut().find(|other| other["id"] == call["id"]) {
                Some(other) => other.extend(call),
                None => wanted.push(call),
            }
        }
        assert_eq!(spans.len(), wanted.len(), "{}", body.name);
        for (span, wanted) in spans.iter().zip(&wanted) {
            let member = |key: &str| wanted.get(key).cloned().unwrap_or(Value::Null);
            assert_eq!(json!(span.span_id), member("id"), "{}", body.name);
            assert_eq!(span.trace_id, member("trace_id").as_str().unwrap_or_default());
            assert_eq!(json!(span.parent_id), member("parent_id"));
            assert_eq!(span.start_unix_nano, nano(&member("started_at")));
            assert_eq!(span.end_unix_nano, nano(&member("ended_at")));
            let name = member("op_name").as_str().map(|name| {
                let name = name.rsplit('/').next().unwrap();
                name.split(':').next().unwrap().to_owned()
            });
            assert_eq!(span.name, name.unwrap_or_default());
            assert_eq!(json!(span.error), member("exception"));
            let status = match (member("exception").is_null(), member("ended_at").is_null()) {
                (false, _) => SpanStatus::Error,
                (true, false) => SpanStatus::Ok,
                (true, true) => SpanStatus::Unset,
            };
            assert_eq!(span.status, status, "{}", body.name);
            let attributes = member("attributes");
            assert_eq!(json!(span.trajectory.step), attributes["step"]);
            assert_eq!(json!(span.trajectory.sample_index), attributes["sample_index"]);
            assert_eq!(json!(span.trajectory.rollout_n), attributes["rollout_n"]);
            assert_eq!(json!(span.trajectory.validate), attributes["validate"]);
            assert_eq!(json!(span.trajectory.experiment_name), attributes["experiment_name"]);
            assert_eq!(as_json(span.attributes.as_ref()), attributes);
            assert_eq!(as_json(span.output.as_ref()), member("output"));
            let inputs = member("inputs");
            assert_eq!(as_json(span.inputs.as_ref()), inputs.get("arg0").cloned().unwrap_or(inputs));
            checked += 1;
        }
    }
    println!("{checked} calls");
    assert!(checked > 20, "only {checked} calls");
}

#[test]
fn facts_of_trackio_are_those_of_serde_json() {
    let mut checked = 0;
    for body in bodies().into_iter().filter(|body| {
        body.folder.file_name().unwrap().to_str().unwrap().contains("trackio")
            || body.format.starts_with("trackio")
            || body.folder.parent().unwrap().ends_with("trackio")
    }) {
        let value = parsed(&body.bytes);
        let spans = spans(&body);
        let mut spans = spans.iter();
        let entries =
            [&value["data"], &value["logs"], &value["kwargs"]["logs"]].into_iter().find(|list| list.is_array());
        for entry in entries.unwrap().as_array().unwrap() {
            // Each trace with its name, its number in a list, and its id.
            let mut traces = Vec::new();
            if let Some(metrics) = entry["metrics"].as_object() {
                for (key, value) in metrics {
                    let list = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                    for (i, trace) in
                        list.into_iter().enumerate().filter(|(_, trace)| trace["_type"] == "trackio.trace")
                    {
                        let index = if value.is_array() { format!(":{i}") } else { String::new() };
                        let [run, log] = ["run_id", "log_id"].map(|key| entry[key].as_str().unwrap());
                        traces.push((format!("{run}:{log}:{key}{index}"), key.clone(), trace));
                    }
                }
            } else {
                let [id, key] = ["id", "key"].map(|key| entry[key].as_str().unwrap().to_owned());
                traces.push((id, key, entry.clone()));
            }
            for (id, key, trace) in traces {
                let span = spans.next().unwrap();
                let metadata = &trace["metadata"];
                assert_eq!((&span.trace_id, &span.span_id), (&id, &id), "{}", body.name);
                assert_eq!(span.name, metadata["op"].as_str().unwrap_or(&key));
                assert_eq!(span.start_unix_nano, nano(&entry["timestamp"]));
                let status = if metadata["exception_type"].is_string() { "error" } else { "ok" };
                if !metadata["status"].is_null() {
                    assert_eq!(span.status.as_str(), status, "{}", body.name);
                }
                assert_eq!(json!(span.error), metadata["exception_type"]);
                let step = metadata["step"].as_i64().or(entry["step"].as_i64());
                assert_eq!(span.trajectory.step, step);
                assert_eq!(json!(span.trajectory.sample_index), metadata["sample_index"]);
                assert_eq!(json!(span.trajectory.validate), metadata["validate"]);
                let mut attributes = metadata.as_object().cloned().unwrap_or_default();
                let [inputs, output] = ["inputs", "output"].map(|key| attributes.remove(key).unwrap_or(Value::Null));
                assert_eq!(as_json(span.inputs.as_ref()), inputs);
                assert_eq!(as_json(span.output.as_ref()), output);
                // A null is no value that is shown elsewhere.
                let mut shown = as_json(span.attributes.as_ref()).as_object().cloned().unwrap_or_default();
                shown.retain(|key, value| !(value.is_null() && (key == "inputs" || key == "output")));
                assert_eq!(shown, attributes, "{}", body.name);
                for inner in trace["spans"].as_array().into_iter().flatten() {
                    let span = spans.next().unwrap();
                    assert_eq!(span.trace_id, id);
                    assert_eq!(json!(span.span_id), inner["id"]);
                    assert_eq!(span.parent_id.as_deref(), inner["parent_id"].as_str().or(Some(&id)));
                    assert_eq!(as_json(span.output.as_ref()), inner["output"]);
                }
                checked += 1;
            }
        }
    }
    println!("{checked} traces");
    assert!(checked > 5, "only {checked} traces");
}

/// The parts of a span that do not depend on where it was read.
fn essence(span: &Span) -> Value {
    json!({
        "trace": span.trace_id, "parent": span.parent_id, "name": span.name, "start": span.start_unix_nano,
        "end": span.end_unix_nano, "status": span.status.as_str(), "error": span.error,
        "inputs": as_json(span.inputs.as_ref()), "output": as_json(span.output.as_ref()),
        "ids": span.fields.iter().map(|field| json!([field.layout, field.ids])).collect::<Value>(),
    })
}

#[test]
fn a_span_is_the_same_however_it_is_recorded() {
    let mut folders: BTreeMap<PathBuf, [BTreeMap<String, Value>; 3]> = BTreeMap::new();
    for body in bodies().into_iter().filter(|body| body.folder.parent().unwrap().ends_with("mlflow")) {
        let kind = match body.format.as_str() {
            "otlp-proto" => 0,
            "mlflow-spans" => 1,
            "mlflow-trace" => 2,
            _ => continue,
        };
        for span in spans(&body).iter().filter(|span| !span.span_id.is_empty()) {
            folders.entry(body.folder.clone()).or_default()[kind].insert(span.span_id.clone(), essence(span));
        }
    }
    let mut checked = [0, 0];
    for (folder, [sent, file, given]) in &folders {
        for (kind, read_back) in [file, given].into_iter().enumerate() {
            for (id, span) in read_back {
                if let Some(sent) = sent.get(id) {
                    assert_eq!(span, sent, "{}", folder.display());
                    checked[kind] += 1;
                }
            }
        }
    }
    println!("{checked:?} spans");
    assert!(checked.iter().all(|&count| count >= 5), "{checked:?}");
}

#[test]
fn trace_infos_give_trajectories() {
    let folder = project("tests/fixtures/wire/mlflow/verl-qwen3-ids");
    let file = |part: &str| {
        let mut files: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let path = files.into_iter().find(|path| path.to_string_lossy().contains(part));
        std::fs::read(path.unwrap_or_else(|| panic!("no {part}"))).unwrap()
    };
    let infos = parsed(&file("search"));
    let spans = file("get-trace-artifact");
    assert!(read(&spans, &ReadOptions::default()).unwrap().iter().all(|span| span.trajectory == Default::default()));
    let mut options = ReadOptions::default();
    options.trace_infos = Some(file("search"));
    let spans = read(&spans, &options).unwrap();
    let info =
        infos["traces"].as_array().unwrap().iter().find(|info| info["trace_id"] == format!("tr-{}", spans[0].trace_id));
    let tags = &info.unwrap()["tags"];
    for span in &spans {
        let trajectory = &span.trajectory;
        assert_eq!(trajectory.step.unwrap().to_string(), tags["step"].as_str().unwrap());
        assert_eq!(trajectory.sample_index.unwrap().to_string(), tags["sample_index"].as_str().unwrap());
        assert_eq!(trajectory.rollout_n.unwrap().to_string(), tags["rollout_n"].as_str().unwrap());
        assert_eq!(trajectory.validate, Some(false));
        assert_eq!(trajectory.experiment_name.as_deref(), tags["experiment_name"].as_str());
    }
    options.trace_infos = Some(b"{".to_vec());
    assert_eq!(read(b"{}", &options).unwrap_err().code().as_str(), "invalid_body");
}

/// The only span of a body.
fn one(body: impl AsRef<[u8]>, format: Format) -> Span {
    let mut options = ReadOptions::default();
    options.format = format;
    let mut spans = read(body.as_ref(), &options).unwrap();
    assert_eq!(spans.len(), 1);
    spans.remove(0)
}

#[test]
fn odd_ids_times_and_statuses() {
    let span = |span: Value| {
        one(json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] }).to_string(), Format::Auto)
    };
    let read = span(json!({
        "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "7u4Ze8eywXQ=", "parentSpanId": "0000000000000000",
        "name": "a", "startTimeUnixNano": 1795963387703045411_u64, "endTimeUnixNano": "1795963387703045412",
        "status": { "code": 2, "message": "no" },
    }));
    assert_eq!(read.trace_id, "5b8efff798038103d269b633813fc60c");
    assert_eq!(read.span_id, "eeee197bc7b2c174");
    assert_eq!((read.parent_id, read.error.as_deref()), (None, Some("no")));
    assert_eq!(read.start_unix_nano.zip(read.end_unix_nano), Some((1795963387703045411, 1795963387703045412)));
    assert_eq!(read.status, SpanStatus::Error);
    let read = span(json!({
        "traceId": 5, "spanId": "xyz", "name": null, "startTimeUnixNano": -1, "endTimeUnixNano": "1.5e18",
        "status": { "code": "STATUS_CODE_OK" }, "parentSpanId": { "a": 1 },
    }));
    assert_eq!((&*read.trace_id, &*read.span_id, &*read.name, read.parent_id), ("5", "xyz", "", None));
    assert_eq!((read.start_unix_nano, read.end_unix_nano, read.status), (None, None, SpanStatus::Ok));
    let read = span(json!({ "startTimeUnixNano": "99999999999999999999", "endTimeUnixNano": 0, "status": 7 }));
    assert_eq!((read.start_unix_nano, read.end_unix_nano, read.status), (None, None, SpanStatus::Unset));
}

#[test]
fn values_of_otlp_are_json() {
    let attributes = json!([
        { "key": "n", "value": { "intValue": "9223372036854775807" } },
        { "key": "d", "value": { "doubleValue": 0.1 } },
        { "key": "nan", "value": { "doubleValue": "NaN" } },
        { "key": "none" },
        { "key": "twice", "value": { "boolValue": false } },
        { "key": "b", "value": { "bytesValue": "AAEC" } },
        { "key": "deep", "value": { "kvlistValue": { "values": [
            { "key": "list", "value": { "arrayValue": { "values": [
                { "kvlistValue": { "values": [{ "key": "x\"", "value": { "stringValue": "a\nb" } }] } }, { "arrayValue": {} },
            ] } } }] } } },
        { "key": "twice", "value": { "boolValue": true } },
        { "key": "mlflow.spanInputs", "value": { "stringValue": "{\"prompt_ids\": [0, 1], \"big\": 12345678901234567890}" } },
        { "key": "mlflow.spanOutputs", "value": { "kvlistValue": { "values": [{ "key": "token_ids", "value": { "arrayValue": {
            "values": [{ "intValue": 2 }] } } }] } } },
    ]);
    let events =
        json!([{ "name": "e", "timeUnixNano": "5", "attributes": [{ "key": "i", "value": { "intValue": 1 } }] }, {}]);
    let body =
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{ "attributes": attributes, "events": events }] }] }] });
    let span = one(body.to_string(), Format::Auto);
    assert_eq!(
        span.attributes.as_deref(),
        Some(
            r#"{"n":9223372036854775807,"d":0.1,"nan":NaN,"none":null,"b":"AAEC","deep":{"list":[{"x\"":"a\nb"},[]]},"twice":true}"#
        )
    );
    assert_eq!(span.inputs.as_deref(), Some(r#"{"prompt_ids": [0, 1], "big": 12345678901234567890}"#));
    assert_eq!(span.output.as_deref(), Some(r#"{"token_ids":[2]}"#));
    assert_eq!(span.events.as_deref(), Some(r#"[{"name":"e","time_unix_nano":5,"attributes":{"i":1}},{}]"#));
    assert_eq!(span.fields.len(), 2);
}

#[test]
fn attributes_of_mlflow_are_what_they_read_as() {
    let body = json!({ "spans": [{
        "trace_id": "TfteWyfAe5+ORB6rMNbNUw==", "span_id": "EoH82g+/7TU=", "parent_span_id": null, "start_time_unix_nano": 1,
        "status": "ERROR",
        "attributes": { "n": "20", "s": "\"text\"", "bad": "no json", "plain": 5, "mlflow.spanInputs": "5", "step": "\"7\"",
            "gen_ai.request.model": "\"Qwen/Qwen3-8B\"" },
        "events": [{ "name": "tok", "time_unix_nano": 5, "attributes": { "i": 1 } }],
    }, {
        "context": { "trace_id": "0x1", "span_id": "b7ad6b7169203331" }, "parent_id": "00f067aa0ba902b7", "start_time": 7,
        "status_code": "OK", "attributes": {},
    }] });
    let mut options = ReadOptions::default();
    options.format = Format::Mlflow;
    let spans = read(body.to_string().as_bytes(), &options).unwrap();
    assert_eq!(spans[0].trace_id, "4dfb5e5b27c07b9f8e441eab30d6cd53");
    assert_eq!(spans[0].span_id, "1281fcda0fbfed35");
    assert_eq!(spans[0].status, SpanStatus::Error);
    assert_eq!(spans[0].inputs.as_deref(), Some("5"));
    assert_eq!(spans[0].trajectory.step, Some(7));
    let attributes = as_json(spans[0].attributes.as_ref());
    let others = json!({ "n": 20, "s": "text", "bad": "no json", "plain": 5, "step": "7", "gen_ai.request.model": "Qwen/Qwen3-8B" });
    assert_eq!(attributes, others);
    assert_eq!(spans[0].model.as_deref(), Some("Qwen/Qwen3-8B"));
    assert_eq!(as_json(spans[0].events.as_ref()), body["spans"][0]["events"]);
    assert_eq!((&*spans[1].trace_id, &*spans[1].span_id), ("0x1", "b7ad6b7169203331"));
    assert_eq!(spans[1].parent_id.as_deref(), Some("00f067aa0ba902b7"));
    assert_eq!((spans[1].start_unix_nano, spans[1].status), (Some(7), SpanStatus::Ok));
}

#[test]
fn what_is_told_of_a_trace() {
    let info = |id: &str, more: Value| {
        let mut info = json!({ "trace_id": id, "request_time": "2026-11-29T14:43:07.703Z", "state": "ERROR" });
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        info
    };
    // No spans come of infos without previews.
    let id = "tr-4dfb5e5b27c07b9f8e441eab30d6cd53";
    let tags = json!({ "tags": [{ "key": "step", "value": "3" }, { "key": "validate", "value": "True" }] });
    let body = json!({ "traces": [info(id, tags.clone())] });
    let mut options = ReadOptions::default();
    options.format = Format::Mlflow;
    assert_eq!(read(body.to_string().as_bytes(), &options).unwrap(), []);
    // Elsewhere in the body they are known to the spans.
    let body = json!({ "trace_infos": [info(id, tags)], "spans": [{ "trace_id": id, "start_time_unix_nano": 1 }] });
    let span = one(body.to_string(), Format::Mlflow);
    assert_eq!((span.trajectory.step, span.trajectory.validate), (Some(3), Some(true)));
    let body = json!({ "traces": [info(id, json!({ "tags": { "mlflow.traceName": "n" }, "request_preview": "{\"prompt_ids\": [1]}" }))] });
    let span = one(body.to_string(), Format::Mlflow);
    assert_eq!((&*span.trace_id, &*span.span_id, &*span.name), (&id[3..], "", "n"));
    assert_eq!((span.start_unix_nano, span.status), (Some(1_795_963_387_703_000_000), SpanStatus::Error));
    assert_eq!(span.inputs.as_deref(), Some("{\"prompt_ids\": [1]}"));
}

#[test]
fn halves_of_a_call_are_one_span() {
    let start = json!({ "start": { "id": "a", "op_name": "weave:///e/p/op/x.y:digest", "trace_id": "t", "started_at": "2026-11-29T14:44:21Z",
        "attributes": { "step": 3 }, "inputs": { "prompt_ids": [1] } } });
    let end = json!({ "end": { "id": "a", "project_id": "e/p", "ended_at": "2026-11-29T14:44:22Z", "output": { "token_ids": [2] }, "summary": {} } });
    for lines in [[&start, &end], [&end, &start]] {
        let span = one(format!("{}\n{}", lines[0], lines[1]), Format::Weave);
        assert_eq!((&*span.span_id, &*span.trace_id, &*span.name), ("a", "t", "x.y"));
        assert_eq!((span.status, span.trajectory.step), (SpanStatus::Ok, Some(3)));
        assert_eq!(span.end_unix_nano.unwrap() - span.start_unix_nano.unwrap(), 1_000_000_000);
        assert_eq!(span.attributes.as_deref(), Some("{\"step\":3}"));
        assert_eq!(span.output.as_deref(), Some("{\"token_ids\":[2]}"));
        assert!(span.inputs.is_some());
    }
    assert_eq!(one(end.to_string(), Format::Auto).start_unix_nano, None);
    let lone = one(start.to_string(), Format::Auto);
    assert_eq!((lone.status, lone.end_unix_nano, lone.output), (SpanStatus::Unset, None, None));
    let failed = json!({ "op_name": "plain", "trace_id": "t", "display_name": "shown", "summary": { "status_counts": { "success": 0, "error": 1 } } });
    let failed = one(failed.to_string(), Format::Auto);
    assert_eq!((failed.status, &*failed.name), (SpanStatus::Error, "shown"));
}

#[test]
fn spans_of_a_trackio_trace() {
    let body = json!({ "logs": [{ "run": "r", "run_id": "rid", "log_id": "l", "step": 4, "timestamp": "2026-01-02T03:04:05+00:00", "metrics": {
        "a/b~c": [{ "_type": "trackio.trace", "metadata": { "sample_index": "7", "validate": 1, "inputs": { "x": 1 }, "output": "t", "rest": [1.50] },
            "spans": [{ "id": "s1", "start_time": "2026-01-02T03:04:05.5Z", "output": { "token_ids": [3] } }, { "parent_id": "s1", "error": "no" }] }],
        "bare": { "_type": "trackio.trace", "metadata": { "exception_type": "ValueError" } },
        "timed": { "_type": "trackio.trace", "metadata": { "start_time": "1970-01-01T00:00:01Z", "end_time": "1970-01-01T00:00:02Z",
            "error": "no", "exception_type": "E" } } } }] });
    let spans = read(body.to_string().as_bytes(), &ReadOptions::default()).unwrap();
    let [trace, first, second, bare, timed] = &spans[..] else { panic!("{} spans", spans.len()) };
    assert_eq!((&*trace.span_id, &*trace.trace_id, &*trace.name), ("rid:l:a/b~c:0", "rid:l:a/b~c:0", "a/b~c"));
    assert_eq!(trace.attributes.as_deref(), Some(r#"{"sample_index":"7","validate":1,"rest":[1.5]}"#));
    assert_eq!((trace.inputs.as_deref(), trace.output.as_deref()), (Some("{\"x\":1}"), Some("\"t\"")));
    for span in [trace, first, second] {
        assert_eq!((span.trajectory.step, span.trajectory.sample_index), (Some(4), Some(7)));
        assert_eq!((span.trajectory.validate, &*span.trace_id), (Some(true), "rid:l:a/b~c:0"));
    }
    assert_eq!((first.parent_id.as_deref(), second.parent_id.as_deref()), (Some("rid:l:a/b~c:0"), Some("s1")));
    assert_eq!(first.fields[0].ids, [3]);
    assert_eq!((second.status, second.error.as_deref()), (SpanStatus::Error, Some("no")));
    assert_eq!((&*bare.span_id, bare.status), ("rid:l:bare", SpanStatus::Error));
    assert_eq!(bare.trajectory.sample_index, None);
    assert_eq!(bare.start_unix_nano, Some(1_767_323_045_000_000_000));
    assert_eq!((timed.start_unix_nano, timed.end_unix_nano), (Some(1_000_000_000), Some(2_000_000_000)));
    assert_eq!(timed.error.as_deref(), Some("no"));
}

#[test]
fn records_as_people_spell_them() {
    let span = one(
        br#"{"traceId": "t", "request_id": 7, "parent_span_id": "p", "op": "gen", "start_time": 5, "startUnixNano": "12",
            "ended_at": "1970-01-01T00:00:01Z", "error": {"message": "no"}, "step": "3", "extra_info": {"rollout_n": 2, "x": 1.50},
            "inputs": "{\"prompt_ids\": [1, 2]}", "output": "[5]"}"#,
        Format::Auto,
    );
    assert_eq!((&*span.trace_id, &*span.span_id, span.parent_id.as_deref(), &*span.name), ("t", "7", Some("p"), "gen"));
    assert_eq!((span.start_unix_nano, span.end_unix_nano), (Some(12), Some(1_000_000_000)));
    assert_eq!((span.status, span.error.as_deref()), (SpanStatus::Error, Some("no")));
    assert_eq!((span.trajectory.step, span.trajectory.rollout_n), (Some(3), Some(2)));
    assert_eq!(span.attributes.as_deref(), Some("{\"rollout_n\": 2, \"x\": 1.50}"));
    // The bytes of the body: a text is a text.
    assert_eq!(span.inputs.as_deref(), Some(r#""{\"prompt_ids\": [1, 2]}""#));
    assert_eq!(span.fields[0].path, "/inputs/!json/prompt_ids");
    // A server's response is the output itself.
    let body = br#"{"id": "c", "model": "m", "prompt_token_ids": [1], "choices": [{"index": 0, "token_ids": [2]}]}"#;
    let span = one(body, Format::Auto);
    assert_eq!(span.output.as_deref().map(str::as_bytes), Some(body.as_slice()));
    assert_eq!(span.model.as_deref(), Some("m"));
    // Also with a member that is called so and holds none of its ids.
    let body =
        br#"{"output": [], "output_messages": [{"type": "raw_message_tokens", "tokens": [1]}], "input_messages": []}"#;
    assert_eq!(one(body, Format::Auto).output.as_deref().map(str::as_bytes), Some(body.as_slice()));
    let body = br#"{"prompt": {"chunks": [{"type": "encoded_text", "tokens": [1]}]}, "response": {"sequences": [{"tokens": [2]}]}}"#;
    assert_eq!(one(body, Format::Auto).output.as_deref(), Some(r#"{"sequences": [{"tokens": [2]}]}"#));
    assert_eq!(one(b"{\"id\": \"c\"}", Format::Auto).output, None);
}

#[test]
fn masks_segments_and_rows() {
    let span = one(
        br#"{"inputs": {"prompt_ids": [1]}, "output": {"prompt_ids": [1], "response_ids": [5, 6, 7], "response_mask": [1, 0, 1],
            "response_logprobs": [-0.5, NaN, null], "response_text": "old"}}"#,
        Format::Auto,
    );
    let field = span.fields.iter().find(|field| field.path == "/output/response_ids").unwrap();
    assert_eq!(field.mask.as_deref(), Some("[1, 0, 1]"));
    assert_eq!(field.logprobs.as_deref(), Some("[-0.5, NaN, null]"));
    assert_eq!(field.existing.as_deref(), Some(["old".to_owned()].as_slice()));
    let layouts = br#"{"name": "l", "when": ["/output/r"], "fields": [
        {"kind": "response", "ids": ["/output/r"], "text": "/output/t", "select": {"mask": "/output/m", "value": 1}},
        {"kind": "prompt", "ids": ["/output/rows"], "text": "/output/u"}]}"#;
    let mut options = ReadOptions::default();
    options.layouts = token2text::Layout::from_json(layouts).unwrap();
    let body = br#"{"output": {"r": [1, 2, 3, 4, 5], "m": [1, 1, 0, 0, true], "rows": [[1, 2], [], [3]]}}"#;
    let spans = read(body, &options).unwrap();
    let fields = &spans[0].fields;
    assert_eq!(
        (&*fields[0].ids, fields[0].segments.as_deref()),
        ([1, 2, 5].as_slice(), Some([[0, 2], [4, 5]].as_slice()))
    );
    assert_eq!((&*fields[1].ids, fields[1].rows.as_deref()), ([1, 2, 3].as_slice(), Some([2, 2, 3].as_slice())));
}

#[test]
fn an_event_stream_is_one_span() {
    let body =
        b"data: {\"id\":\"c\",\"model\":\"m\",\"choices\":[{\"index\":0,\"token_ids\":[1]}]}\n\ndata: broken\n\n\
        data: {\"choices\":[{\"index\":0,\"token_ids\":[2]}]}\n\ndata: [DONE]\n\n";
    let span = one(body, Format::Auto);
    assert_eq!(span.model.as_deref(), Some("m"));
    let events = as_json(span.events.as_ref());
    assert_eq!(events.as_array().unwrap().len(), 3);
    assert_eq!((&events[1], &events[2]["choices"][0]["token_ids"]), (&Value::Null, &json!([2])));
    assert_eq!(span.fields[0].ids, [1, 2]);
}

#[test]
fn a_span_that_was_read_can_be_enriched() {
    let body = json!({ "batch": [{ "id": "a", "op_name": "x", "trace_id": "t", "inputs": { "prompt_ids": [0, 1] },
        "output": { "token_ids": [2] } }] });
    let span = one(body.to_string(), Format::Auto);
    let record =
        json!({ "traceId": span.trace_id, "spanId": span.span_id, "inputs": span.inputs, "output": span.output });
    let enriched = enrich(record.to_string().as_bytes(), &letters(), &EnrichOptions::default()).unwrap();
    let enriched: Value = serde_json::from_slice(&enriched.body).unwrap();
    assert_eq!(at(&enriched, "/output/!json/response_text"), Some(json!("c")));
    assert_eq!(
        at(&enriched, "/output/!json/prompt_text").or(at(&enriched, "/inputs/!json/prompt_text")),
        Some(json!("ab"))
    );
}

#[test]
fn hostile_bodies_give_errors_or_less() {
    let limits = Limits { depth: 40, ..Limits::default() };
    let mut options = ReadOptions::default();
    options.limits = limits;
    let deep = |depth: usize| {
        let mut value = json!({ "intValue": 1 });
        for _ in 0..depth {
            value = json!({ "kvlistValue": { "values": [{ "key": "k", "value": value }] } });
        }
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [{ "attributes": [{ "key": "a", "value": value }] }] }] }] }).to_string()
    };
    assert_eq!(read(deep(40).as_bytes(), &options).unwrap_err().code().as_str(), "limit_exceeded");
    options.limits = Limits::default();
    let deepest = read(deep(240).as_bytes(), &options).unwrap();
    assert!(deepest[0].attributes.as_ref().unwrap().ends_with(&format!("1{}", "}".repeat(241))));
    // Every prefix of every small body, and every one with a byte changed.
    let mut read_well = 0;
    for body in bodies().into_iter().filter(|body| body.bytes.len() < 3000) {
        let origin = token2text::Origin::default();
        for end in (0..body.bytes.len()).step_by(7) {
            let _ = token2text::read_from(&body.bytes[..end], &origin, &ReadOptions::default());
            let mut changed = body.bytes.clone();
            changed[end] ^= 1 << (end % 8);
            read_well += usize::from(read(&changed, &options).is_ok());
        }
    }
    assert!(read_well > 100, "only {read_well}");
}
