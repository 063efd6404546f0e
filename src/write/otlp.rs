//! A trace request of OTLP, in either encoding: one walk over the spans, and what differs is how a field is written.

use crate::Error;
use crate::formats::MODELS;
use crate::json::Json;
use crate::json::double::parse::double;
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, NodeId, Tree};

use super::clean::{NonFinite, Taste};
use super::ids::{Ids, parent, span_bytes, trace_bytes};
use super::message::{Field, Message};
use super::values::Values;

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
    let ids = Ids::of(spans);
    let mut out = Message::new(is_json);
    let mut failed = Ok(());
    out.whole(&mut |out| {
        out.list(RESOURCE_SPANS, &mut |out| {
            out.item(RESOURCE_SPANS, &mut |out| {
                out.message(RESOURCE, &mut |_| {});
                out.list(SCOPE_SPANS, &mut |out| {
                    out.item(SCOPE_SPANS, &mut |out| {
                        out.message(SCOPE, &mut |out| out.text(NAME_OF_SCOPE, b"token2text"));
                        out.list(SPANS, &mut |out| {
                            for (i, (span, id)) in spans.iter().zip(&ids.spans).enumerate() {
                                match Values::of(span, i, TASTE) {
                                    Ok(mut values) => out.item(SPANS, &mut |out| {
                                        out.id(TRACE_ID, &trace_bytes(&id.trace));
                                        out.id(SPAN_ID, &span_bytes(&id.span));
                                        write_span(&mut values, out);
                                    }),
                                    Err(error) => {
                                        failed = Err(error);
                                        break;
                                    }
                                }
                            }
                        });
                    });
                });
            });
        });
    });
    failed.map(|()| out.into_bytes())
}

const NAME_OF_SCOPE: Field = field(1, "name");

fn write_span(values: &mut Values<'_>, out: &mut Message) {
    let span = values.span;
    if let Some(parent) = parent(span) {
        out.id(PARENT_SPAN_ID, &span_bytes(parent));
    }
    out.text(NAME, span.name.as_bytes());
    out.fixed(START, span.start_unix_nano.unwrap_or(0));
    out.fixed(END, span.end_unix_nano.unwrap_or(0));
    out.list(ATTRIBUTES, &mut |out| attributes(values, out));
    let events = std::mem::take(&mut values.events);
    if !events.is_empty() {
        out.list(EVENTS, &mut |out| {
            for event in &events {
                out.item(EVENTS, &mut |out| {
                    out.fixed(EVENT_TIME, event.unix_nano);
                    out.text(EVENT_NAME, event.name.as_bytes());
                    out.list(EVENT_ATTRIBUTES, &mut |out| {
                        for (key, node) in &event.attributes {
                            pair(EVENT_ATTRIBUTES, key, out, &mut |out| value(&mut values.json, *node, 0, out));
                        }
                    });
                });
            }
        });
    }
    let code = match span.status {
        SpanStatus::Unset => 0,
        SpanStatus::Ok => 1,
        SpanStatus::Error => 2,
    };
    if code > 0 || span.error.is_some() {
        out.message(STATUS, &mut |out| {
            if let Some(error) = &span.error {
                out.text(STATUS_MESSAGE, error.as_bytes());
            }
            out.number(STATUS_CODE, code);
        });
    }
}

fn attributes(values: &mut Values<'_>, out: &mut Message) {
    let span = values.span;
    let is_reread = values.attributes.iter().any(|(key, _)| key.starts_with(MLFLOW));
    let places = [("mlflow.spanInputs", values.inputs), ("mlflow.spanOutputs", values.output)];
    for (key, node) in places {
        if let Some(node) = node {
            pair(ATTRIBUTES, key, out, &mut |out| whole(&mut values.json, node, out));
        }
    }
    if let Some(model) = &span.model
        && !MODELS.iter().any(|key| values.has_attribute(key))
    {
        pair(ATTRIBUTES, "gen_ai.request.model", out, &mut |out| out.text(STRING, model.as_bytes()));
    }
    for (key, node) in std::mem::take(&mut values.attributes) {
        if places.iter().any(|(taken, node)| *taken == key && node.is_some()) {
            continue;
        }
        pair(ATTRIBUTES, &key, out, &mut |out| {
            if is_reread && looks_like_json(&mut values.json, node) {
                out.text(STRING, values.json.raw(node));
            } else {
                value(&mut values.json, node, 0, out);
            }
        });
    }
    // MLflow makes tags of the trace of them.
    if parent(span).is_none() {
        for (key, node) in &values.trajectory {
            let tag = match values.json.raw(*node) {
                b"true" => b"True".to_vec(),
                b"false" => b"False".to_vec(),
                raw => values.json.string(*node).map_or_else(|| raw.to_vec(), |text| text.into_owned()),
            };
            let key = [MLFLOW, "traceTag.", key].concat();
            pair(ATTRIBUTES, &key, out, &mut |out| out.text(STRING, &tag));
        }
    }
}

/// A key and its value.
fn pair(list: Field, key: &str, out: &mut Message, fill: &mut dyn FnMut(&mut Message)) {
    out.item(list, &mut |out| {
        out.text(KEY, key.as_bytes());
        out.message(VALUE, fill);
    });
}

/// Inputs or output: JSON text, as MLflow and Weave read it; numbers, booleans and null, which they would take for text, as
/// what they are.
fn whole(json: &mut Json<'static>, node: NodeId, out: &mut Message) {
    match json.kind(node) {
        Kind::Object | Kind::Array | Kind::String => out.text(STRING, json.raw(node)),
        _ => value(json, node, 0, out),
    }
}

/// A value with its type.
fn value(json: &mut Json<'static>, node: NodeId, depth: usize, out: &mut Message) {
    match json.kind(node) {
        Kind::Null => {}
        Kind::Bool => out.boolean(BOOL, json.raw(node) == b"true"),
        Kind::Number => number(json.raw(node), out),
        Kind::String => out.text(STRING, &json.string(node).unwrap_or_default()),
        Kind::Array | Kind::Object if depth >= MOST_NESTED => out.text(STRING, json.raw(node)),
        Kind::Array => out.message(ARRAY, &mut |out| {
            out.list(VALUES, &mut |out| {
                for element in json.elements(node) {
                    out.item(VALUES, &mut |out| value(json, element, depth + 1, out));
                }
            });
        }),
        Kind::Object => out.message(KVLIST, &mut |out| {
            out.list(VALUES, &mut |out| {
                for (key, member) in json.members(node) {
                    pair(VALUES, &key, out, &mut |out| value(json, member, depth + 1, out));
                }
            });
        }),
    }
}

/// An integer, a double, or, where neither holds the number, its text.
fn number(text: &[u8], out: &mut Message) {
    let is_integer = text.iter().all(|byte| matches!(byte, b'-' | b'0'..=b'9'));
    if is_integer {
        match std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
            Some(number) => out.integer(INT, number),
            None => out.text(STRING, text),
        }
        return;
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
