//! The file `traces.json` of MLflow: spans whose attributes are JSON in strings.

use crate::Error;
use crate::base64::encode_into;
use crate::json::quote_into;
use crate::span::{Span, SpanStatus};

use super::clean::{NonFinite, Taste};
use super::ids::{Id, parent, span_bytes, trace_bytes};
use super::out::{JsonOut, hex, joined};
use super::values::{INPUTS, MODEL, OUTPUTS, Values, each};

const TASTE: Taste = Taste { depth: 1024, non_finite: NonFinite::Kept, bounds_integers: false };

const REQUEST_ID: &str = "mlflow.traceRequestId";

pub(super) fn write(spans: &[Span]) -> Result<Vec<u8>, Error> {
    let mut out = JsonOut::default();
    out.bytes.extend_from_slice(br#"{"spans":["#);
    each(spans, TASTE, &mut |values, id| write_span(values, id, &mut out))?;
    out.bytes.extend_from_slice(b"]}");
    Ok(out.bytes)
}

fn write_span(values: &Values<'_>, id: &Id, out: &mut JsonOut) {
    let span = values.span;
    let trace = trace_bytes(&id.trace);
    out.open(b'{');
    out.text("trace_id", Some(&base64_of(&trace)));
    out.text("span_id", Some(&base64_of(&span_bytes(&id.span))));
    out.text("parent_span_id", parent(span).map(|parent| base64_of(&span_bytes(parent))).as_deref());
    out.text("name", Some(&span.name));
    // Its reader needs a start.
    out.time("start_time_unix_nano", Some(span.start_unix_nano.or(span.end_unix_nano).unwrap_or(0)));
    out.time("end_time_unix_nano", span.end_unix_nano);
    events(values, out);
    out.key("status");
    out.open(b'{');
    let code = match span.status {
        SpanStatus::Unset => "STATUS_CODE_UNSET",
        SpanStatus::Ok => "STATUS_CODE_OK",
        SpanStatus::Error => "STATUS_CODE_ERROR",
    };
    out.text("code", Some(code));
    out.text("message", Some(span.error.as_deref().unwrap_or_default()));
    out.close(b'}');
    attributes(values, &joined(&["tr-", &hex(&trace)]), out);
    out.member("links", Some(b"[]"));
    out.close(b'}');
}

fn base64_of(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    encode_into(bytes, &mut text);
    String::from_utf8(text).unwrap_or_default()
}

fn events(values: &Values<'_>, out: &mut JsonOut) {
    out.key("events");
    out.open(b'[');
    for event in &values.events {
        out.open(b'{');
        out.text("name", Some(&event.name));
        out.time("time_unix_nano", Some(event.unix_nano));
        values.members("attributes", &event.attributes, out);
        out.close(b'}');
    }
    out.close(b']');
}

/// Each value as a string that holds its JSON.
fn attributes(values: &Values<'_>, request_id: &str, out: &mut JsonOut) {
    out.key("attributes");
    out.open(b'{');
    for (key, text) in [(REQUEST_ID, Some(request_id)), (MODEL, values.unnamed_model())] {
        if let Some(text) = text {
            let mut json = Vec::new();
            quote_into(text.as_bytes(), &mut json);
            out.key(key);
            out.string(&json);
        }
    }
    for (key, node) in [(INPUTS, values.inputs), (OUTPUTS, values.output)] {
        if let Some(node) = node {
            out.key(key);
            out.string(values.text(node));
        }
    }
    for (key, node) in &values.attributes {
        let is_taken = key == INPUTS && values.inputs.is_some() || key == OUTPUTS && values.output.is_some();
        if !is_taken && key != REQUEST_ID {
            out.key(key);
            out.string(values.text(*node));
        }
    }
    out.close(b'}');
}
