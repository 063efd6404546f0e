//! The file `traces.json` of MLflow: spans whose attributes are JSON in strings.

use crate::Error;
use crate::base64::encode_into;
use crate::formats::MODELS;
use crate::json::quote_into;
use crate::span::{Span, SpanStatus};

use super::clean::{NonFinite, Taste};
use super::ids::{Ids, parent, span_bytes, trace_bytes};
use super::out::{JsonOut, hex};
use super::values::Values;

const TASTE: Taste = Taste { depth: 1024, non_finite: NonFinite::Kept, bounds_integers: false };

const REQUEST_ID: &str = "mlflow.traceRequestId";

pub(super) fn write(spans: &[Span]) -> Result<Vec<u8>, Error> {
    let ids = Ids::of(spans);
    let mut out = JsonOut::default();
    out.open(b'{');
    out.key("spans");
    out.open(b'[');
    for (i, (span, id)) in spans.iter().zip(&ids.spans).enumerate() {
        let values = Values::of(span, i, TASTE)?;
        let trace = trace_bytes(&id.trace);
        out.open(b'{');
        out.text("trace_id", Some(&base64_of(&trace)));
        out.text("span_id", Some(&base64_of(&span_bytes(&id.span))));
        out.text("parent_span_id", parent(span).map(|parent| base64_of(&span_bytes(parent))).as_deref());
        out.text("name", Some(&span.name));
        // Its reader needs a start.
        let start = span.start_unix_nano.or(span.end_unix_nano).unwrap_or(0);
        out.member("start_time_unix_nano", Some(start.to_string().as_bytes()));
        let end = span.end_unix_nano.map(|end| end.to_string());
        out.member("end_time_unix_nano", end.as_deref().map(str::as_bytes));
        events(&values, &mut out);
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
        attributes(&values, &["tr-", &hex(&trace)].concat(), &mut out);
        out.member("links", Some(b"[]"));
        out.close(b'}');
    }
    out.bytes.extend_from_slice(b"]}");
    Ok(out.bytes)
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
        out.member("time_unix_nano", Some(event.unix_nano.to_string().as_bytes()));
        out.key("attributes");
        out.open(b'{');
        for (key, node) in &event.attributes {
            out.member(key, Some(values.text(*node)));
        }
        out.bytes.extend_from_slice(b"}}");
    }
    out.close(b']');
}

fn attributes(values: &Values<'_>, request_id: &str, out: &mut JsonOut) {
    let mut written = vec![REQUEST_ID];
    out.key("attributes");
    out.open(b'{');
    let mut add = |key: &str, json: &[u8]| {
        out.key(key);
        out.string(json);
    };
    let quoted = |text: &str| {
        let mut json = Vec::new();
        quote_into(text.as_bytes(), &mut json);
        json
    };
    add(REQUEST_ID, &quoted(request_id));
    for (key, node) in [("mlflow.spanInputs", values.inputs), ("mlflow.spanOutputs", values.output)] {
        if let Some(node) = node {
            add(key, values.text(node));
            written.push(key);
        }
    }
    if let Some(model) = &values.span.model
        && !MODELS.iter().any(|key| values.has_attribute(key))
    {
        add("gen_ai.request.model", &quoted(model));
    }
    for (key, node) in &values.attributes {
        if !written.contains(&key.as_str()) {
            add(key, values.text(*node));
        }
    }
    out.close(b'}');
}
