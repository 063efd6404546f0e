//! A trace request of OTLP, in either encoding: one walk over the spans, and what differs is how a field is written.

use crate::Error;
use crate::json::Json;
use crate::json::double::parse::double;
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, NodeId, Tree};

use super::clean::{NonFinite, Taste};
use super::ids::{Id, parent, span_bytes, trace_bytes};
use super::message::{Field, Message};
use super::number::integer;
use super::out::joined;
use super::values::{INPUTS, MODEL, OUTPUTS, Values, each};

/// Lists and objects inside each other that are written as such; what is deeper is written as JSON text. The readers of
/// protocol buffers give up at 100 messages, of which an object takes three.
const MOST_NESTED: usize = 24;

const TASTE: Taste = Taste { depth: 1024, non_finite: NonFinite::Kept, bounds_integers: false };

/// What the keys of MLflow begin with. Its server reads strings that look like JSON as JSON.
const MLFLOW: &str = "mlflow.";

const fn field(number: u32, name: &'static str) -> Field {
    Field { number, name }
}

const RESOURCE_SPANS: Field = field(1, "resourceSpans");
const RESOURCE: Field = field(1, "resource");
const SCOPE_SPANS: Field = field(2, "scopeSpans");
const SCOPE: Field = field(1, "scope");
const SCOPE_NAME: Field = field(1, "name");
const SPANS: Field = field(2, "spans");
const TRACE_ID: Field = field(1, "traceId");
const SPAN_ID: Field = field(2, "spanId");
const PARENT_SPAN_ID: Field = field(4, "parentSpanId");
const NAME: Field = field(5, "name");
const START: Field = field(7, "startTimeUnixNano");
const END: Field = field(8, "endTimeUnixNano");
const ATTRIBUTES: Field = field(9, "attributes");
const EVENTS: Field = field(11, "events");
const EVENT_TIME: Field = field(1, "timeUnixNano");
const EVENT_NAME: Field = field(2, "name");
const EVENT_ATTRIBUTES: Field = field(3, "attributes");
const STATUS: Field = field(15, "status");
const STATUS_MESSAGE: Field = field(2, "message");
const STATUS_CODE: Field = field(3, "code");
const KEY: Field = field(1, "key");
const VALUE: Field = field(2, "value");
const STRING: Field = field(1, "stringValue");
const BOOL: Field = field(2, "boolValue");
const INT: Field = field(3, "intValue");
const DOUBLE: Field = field(4, "doubleValue");
const ARRAY: Field = field(5, "arrayValue");
const KVLIST: Field = field(6, "kvlistValue");
const VALUES: Field = field(1, "values");

/// A request with all spans.
pub(super) fn write(spans: &[Span], is_json: bool) -> Result<Vec<u8>, Error> {
    let mut out = Message::new(is_json);
    out.list(RESOURCE_SPANS);
    let resource_spans = out.item(RESOURCE_SPANS);
    let resource = out.begin(RESOURCE);
    out.end(resource);
    out.list(SCOPE_SPANS);
    let scope_spans = out.item(SCOPE_SPANS);
    let scope = out.begin(SCOPE);
    out.text(SCOPE_NAME, b"token2text");
    out.end(scope);
    out.list(SPANS);
    each(spans, TASTE, &mut |values, id| write_span(values, id, &mut out))?;
    out.end_list();
    out.end(scope_spans);
    out.end_list();
    out.end(resource_spans);
    out.end_list();
    Ok(out.into_bytes())
}

fn write_span(values: &mut Values<'_>, id: &Id, out: &mut Message) {
    let span = values.span;
    let message = out.item(SPANS);
    out.id(TRACE_ID, &trace_bytes(&id.trace));
    out.id(SPAN_ID, &span_bytes(&id.span));
    if let Some(parent) = parent(span) {
        out.id(PARENT_SPAN_ID, &span_bytes(parent));
    }
    out.text(NAME, span.name.as_bytes());
    out.fixed(START, span.start_unix_nano.unwrap_or(0));
    out.fixed(END, span.end_unix_nano.unwrap_or(0));
    attributes(values, out);
    out.list(EVENTS);
    for event in std::mem::take(&mut values.events) {
        let message = out.item(EVENTS);
        out.fixed(EVENT_TIME, event.unix_nano);
        out.text(EVENT_NAME, event.name.as_bytes());
        pairs(&mut values.json, event.attributes, EVENT_ATTRIBUTES, 0, out);
        out.end(message);
    }
    out.end_list();
    let code = match span.status {
        SpanStatus::Unset => 0,
        SpanStatus::Ok => 1,
        SpanStatus::Error => 2,
    };
    let status = out.begin(STATUS);
    if let Some(error) = &span.error {
        out.text(STATUS_MESSAGE, error.as_bytes());
    }
    out.number(STATUS_CODE, code);
    out.end(status);
    out.end(message);
}

/// The attributes; the inputs and the output first.
fn attributes(values: &mut Values<'_>, out: &mut Message) {
    let span = values.span;
    out.list(ATTRIBUTES);
    let is_reread = values.attributes.iter().any(|(key, _)| key.starts_with(MLFLOW));
    for (key, node) in [(INPUTS, values.inputs), (OUTPUTS, values.output)] {
        if let Some(node) = node {
            pair(&mut values.json, key, node, ATTRIBUTES, Shown::AsJson, out);
        }
    }
    if let Some(model) = values.unnamed_model() {
        text_pair(MODEL, model.as_bytes(), out);
    }
    for (key, node) in std::mem::take(&mut values.attributes) {
        let is_taken = key == INPUTS && values.inputs.is_some() || key == OUTPUTS && values.output.is_some();
        if !is_taken {
            let is_json = is_reread && looks_like_json(&mut values.json, node);
            let shown = if is_json { Shown::AsJson } else { Shown::Typed(0) };
            pair(&mut values.json, &key, node, ATTRIBUTES, shown, out);
        }
    }
    // MLflow makes tags of the trace of them.
    if parent(span).is_none() {
        for &(key, node) in &values.trajectory {
            let mut tag = values.json.raw(node).to_vec();
            match tag.first_mut() {
                // Python's spelling, as verl's tags have it.
                Some(first @ (b't' | b'f')) => first.make_ascii_uppercase(),
                Some(b'"') => tag = values.json.string(node).unwrap_or_default().into_owned(),
                _ => {}
            }
            text_pair(&joined(&[MLFLOW, "traceTag.", key]), &tag, out);
        }
    }
    out.end_list();
}

/// How a value is written.
#[derive(Clone, Copy)]
enum Shown {
    /// As JSON text, which MLflow and Weave read. Numbers, booleans and null, which they would take for text, as they are.
    AsJson,
    /// With its type, so many levels inside the attribute.
    Typed(usize),
}

/// A key and its text.
fn text_pair(key: &str, text: &[u8], out: &mut Message) {
    let message = out.item(ATTRIBUTES);
    out.text(KEY, key.as_bytes());
    let value = out.begin(VALUE);
    out.text(STRING, text);
    out.end(value);
    out.end(message);
}

/// A key and its value.
fn pair(json: &mut Json<'static>, key: &str, node: NodeId, list: Field, shown: Shown, out: &mut Message) {
    let message = out.item(list);
    out.text(KEY, key.as_bytes());
    let content = out.begin(VALUE);
    value(json, node, shown, out);
    out.end(content);
    out.end(message);
}

fn pairs(json: &mut Json<'static>, members: Vec<(String, NodeId)>, list: Field, depth: usize, out: &mut Message) {
    out.list(list);
    for (key, member) in members {
        pair(json, &key, member, list, Shown::Typed(depth), out);
    }
    out.end_list();
}

fn value(json: &mut Json<'static>, node: NodeId, shown: Shown, out: &mut Message) {
    let kind = json.kind(node);
    let depth = match shown {
        Shown::AsJson if matches!(kind, Kind::Object | Kind::Array | Kind::String) => MOST_NESTED,
        Shown::AsJson => 0,
        Shown::Typed(depth) => depth,
    };
    match kind {
        Kind::Null => {}
        Kind::Bool => out.boolean(BOOL, json.raw(node) == b"true"),
        Kind::Number => number(json.raw(node), out),
        Kind::String if !matches!(shown, Shown::AsJson) => {
            out.text(STRING, &json.string(node).unwrap_or_default());
        }
        _ if depth >= MOST_NESTED => out.text(STRING, json.raw(node)),
        Kind::Object => {
            let members = json.members(node);
            let list = out.begin(KVLIST);
            pairs(json, members, VALUES, depth + 1, out);
            out.end(list);
        }
        _ => {
            let list = out.begin(ARRAY);
            out.list(VALUES);
            for element in json.elements(node) {
                let item = out.item(VALUES);
                value(json, element, Shown::Typed(depth + 1), out);
                out.end(item);
            }
            out.end_list();
            out.end(list);
        }
    }
}

/// An integer, a double, or, where neither holds the number, its text.
fn number(text: &[u8], out: &mut Message) {
    let is_integer = text.iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9'));
    if is_integer {
        return match integer(text) {
            Some(number) => out.integer(INT, number, text),
            None => out.text(STRING, text),
        };
    }
    let is_named = matches!(text.last(), Some(b'N' | b'y'));
    match double(text) {
        Some(number) if number.is_finite() || is_named => out.double(DOUBLE, number, text),
        _ => out.text(STRING, text),
    }
}

/// Whether a value is a string that MLflow's server would take for an object, a list or a string in it.
fn looks_like_json(json: &mut Json<'static>, node: NodeId) -> bool {
    json.kind(node) == Kind::String
        && json
            .open_json(node)
            .is_some_and(|inner| matches!(json.kind(inner), Kind::Object | Kind::Array | Kind::String))
}
