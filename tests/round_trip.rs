//! Bodies that are read, written in another format and read again.
#![cfg(not(target_arch = "wasm32"))]

mod common;
#[path = "common/written.rs"]
mod written;

use serde_json::Value;
use token2text::{FieldKind, Format, ReadOptions, Span, SpanStatus, read, write};
use written::{FORMATS, options, recorded, write_shallow};

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

fn ids(span: &Span) -> Vec<(FieldKind, Vec<u32>)> {
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
