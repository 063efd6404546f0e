//! A `bulk_log` of Trackio: an entry for each span that is in no other, as verl's client makes them, with the spans in it.

use crate::json::double::print::double_into;
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

use super::WriteOptions;
use super::clean::{NonFinite, Taste};
use super::ids::{Ids, parent, two_hashes};
use super::out::{JsonOut, hex, joined};
use super::time::iso;
use super::values::Values;

/// The server answers 500 to integers of more than 64 bits, and to more than 254 levels, which is what orjson writes: the
/// list of spans and a span are around these. Its Python client sends `NaN` as a string.
const TASTE: Taste = Taste { depth: 252, non_finite: NonFinite::Text, bounds_integers: true };

/// Ends of the names of projects that its Python client refuses: they are tables of another project's files.
const RESERVED: [&str; 8] = [
    "_system",
    "_configs",
    "_traces",
    "_artifacts",
    "_artifact_versions",
    "_artifact_aliases",
    "_run_artifact_links",
    "_external_run_artifact_links",
];

/// What the names of registries begin with.
const REGISTRY: &str = "registry-";

pub(super) fn write(spans: &[Span], project: &str, run: &str, options: &WriteOptions) -> Result<Vec<u8>, Error> {
    check_project(project)?;
    let ids = Ids::of(spans);
    // Of each span those in it, in the order of the list.
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    for (i, &root) in ids.roots.iter().enumerate() {
        if i != root
            && let Some(inside) = inside.get_mut(root)
        {
            inside.push(i);
        }
    }
    let mut out = JsonOut::default();
    out.bytes.extend_from_slice(br#"{"hf_token":null,"logs":["#);
    for (i, (span, id)) in spans.iter().zip(&ids.spans).enumerate() {
        if ids.roots.get(i) != Some(&i) {
            continue;
        }
        let run_id = options.run_id.as_deref();
        let mut values = Values::of(span, i, TASTE)?;
        out.open(b'{');
        out.text("project", Some(project));
        out.text("run", Some(run));
        out.text("run_id", run_id);
        let step = span.trajectory.step.map(|step| step.to_string());
        out.member("step", step.as_deref().map(str::as_bytes));
        out.member("config", None);
        let of = [run_id.unwrap_or(run), &id.trace, &id.span];
        out.text("log_id", Some(&hex(&two_hashes(&of))));
        out.key("metrics");
        out.open(b'{');
        out.key(&log_key(&span.name));
        out.bytes.extend_from_slice(br#"[{"_type":"trackio.trace""#);
        messages(&mut values, &mut out);
        metadata(&values, &id.trace, &id.span, &mut out);
        out.key("spans");
        out.open(b'[');
        let inside = inside.get(i).map(Vec::as_slice).unwrap_or_default();
        if !inside.is_empty() {
            // The span itself, whose inputs and output are in the metadata, so that the tree is whole.
            in_tree(&values, &id.span, false, &mut out);
        }
        for &i in inside {
            if let (Some(span), Some(id)) = (spans.get(i), ids.spans.get(i)) {
                in_tree(&Values::of(span, i, TASTE)?, &id.span, true, &mut out);
            }
        }
        out.bytes.extend_from_slice(b"]}]}}");
    }
    out.bytes.extend_from_slice(b"]}");
    Ok(out.bytes)
}

/// Refuses what Trackio's Python client refuses, where the server would mix up files. Of a name only letters, digits, `-`
/// and `_` count there; of letters beyond ASCII none is looked at here.
fn check_project(project: &str) -> Result<(), Error> {
    let mut name = project.to_owned();
    name.retain(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
    let is_reserved = RESERVED.iter().any(|end| name.ends_with(end) && name.len() > end.len());
    if !is_reserved && !name.starts_with(REGISTRY) {
        return Ok(());
    }
    let what = format!("`project`: Trackio keeps names such as `{project}` for its own files; choose another");
    Err(Error::new(ErrorCode::InvalidOptions, what))
}

/// verl's name for the traces of an operation.
fn log_key(name: &str) -> String {
    let mut key = "rollout_trace/".to_owned();
    for char in name.chars() {
        let is_kept = char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
        key.push(if is_kept { char } else { '_' });
    }
    key
}

/// The messages of the inputs, else what was called with what; then what came out.
fn messages(values: &mut Values<'_>, out: &mut JsonOut) {
    out.key("messages");
    out.open(b'[');
    match messages_in(values) {
        Some(messages) => {
            for message in values.json.elements(messages) {
                out.raw(values.text(message));
            }
        }
        None => {
            let system = joined(&["verl rollout trace operation: ", &values.span.name]);
            message(out, "system", &mut |out| out.text("content", Some(&system)));
            let inputs = values.inputs.map_or(b"{}".as_slice(), |node| values.text(node));
            message(out, "user", &mut |out| out.wrapped("content", "inputs", inputs));
        }
    }
    let said = ["response_text", "answer"].iter().find_map(|key| {
        let (_, node) = values.json.find_member(values.output?, key)?;
        values.json.string(node).filter(|text| !text.is_empty())
    });
    message(out, "assistant", &mut |out| match (&said, values.output) {
        (Some(said), _) => {
            out.key("content");
            out.string(said);
        }
        (None, None) if values.span.error.is_some() => out.text("content", values.span.error.as_deref()),
        (None, output) => out.wrapped("content", "output", output.map_or(b"null", |node| values.text(node))),
    });
    out.close(b']');
}

fn message(out: &mut JsonOut, role: &str, content: &mut dyn FnMut(&mut JsonOut)) {
    out.open(b'{');
    out.text("role", Some(role));
    content(out);
    out.close(b'}');
}

/// The list `messages` of the inputs, if all in it are messages.
fn messages_in(values: &mut Values<'_>) -> Option<NodeId> {
    let (_, messages) = values.json.find_member(values.inputs?, "messages")?;
    if values.json.kind(messages) != Kind::Array {
        return None;
    }
    for message in values.json.elements(messages) {
        let (_, role) = values.json.find_member(message, "role")?;
        values.json.string(role)?;
    }
    Some(messages)
}

/// What verl's client says of a call, and of the span what has no other place in a trace.
fn metadata(values: &Values<'_>, trace_id: &str, span_id: &str, out: &mut JsonOut) {
    let span = values.span;
    out.key("metadata");
    out.open(b'{');
    out.text("op", Some(&span.name));
    values.member_if("inputs", values.inputs, out);
    for (key, node) in &values.trajectory {
        out.member(key, Some(values.text(*node)));
    }
    out.text_if("status", status(span.status));
    values.member_if("output", values.output, out);
    out.text_if("error", span.error.as_deref());
    out.text_if("model", span.model.as_deref());
    out.text("trace_id", Some(trace_id));
    out.text("span_id", Some(span_id));
    out.text_if("parent_id", parent(span));
    times(span, out);
    for (key, node) in &values.attributes {
        if !is_written(values, key) {
            out.member(key, Some(values.text(*node)));
        }
    }
    out.close(b'}');
}

/// Whether the metadata have a member of this name already, so that an attribute cannot.
fn is_written(values: &Values<'_>, key: &str) -> bool {
    let span = values.span;
    match key {
        "op" | "trace_id" | "span_id" => true,
        "inputs" => values.inputs.is_some(),
        "output" => values.output.is_some(),
        "status" => status(span.status).is_some(),
        "error" => span.error.is_some(),
        "model" => span.model.is_some(),
        "parent_id" => parent(span).is_some(),
        "start_time" => span.start_unix_nano.is_some(),
        "end_time" => span.end_unix_nano.is_some(),
        "duration_ms" => lasted(span).is_some(),
        _ => values.trajectory.iter().any(|(name, _)| *name == key),
    }
}

fn times(span: &Span, out: &mut JsonOut) {
    for (key, time) in [("start_time", span.start_unix_nano), ("end_time", span.end_unix_nano)] {
        out.text_if(key, time.map(iso).as_deref());
    }
    if let Some(nanos) = lasted(span) {
        let mut text = Vec::new();
        double_into(nanos as f64 / 1e6, &mut text);
        out.member("duration_ms", Some(&text));
    }
}

fn lasted(span: &Span) -> Option<u64> {
    span.end_unix_nano?.checked_sub(span.start_unix_nano?)
}

fn status(status: SpanStatus) -> Option<&'static str> {
    match status {
        SpanStatus::Unset => None,
        SpanStatus::Ok => Some("success"),
        SpanStatus::Error => Some("error"),
    }
}

/// A span as the tree of a trace has it.
fn in_tree(values: &Values<'_>, id: &str, with_values: bool, out: &mut JsonOut) {
    let span = values.span;
    out.open(b'{');
    out.text("id", Some(id));
    out.text("name", Some(&span.name));
    out.text("kind", Some("span"));
    out.text_if("parent_id", parent(span));
    times(span, out);
    out.text_if("status", status(span.status));
    out.text_if("error", span.error.as_deref());
    out.text_if("model", span.model.as_deref());
    if with_values {
        values.member_if("input", values.inputs, out);
        values.member_if("output", values.output, out);
        values.members("metadata", &values.attributes, out);
    }
    out.close(b'}');
}
