//! A batch of whole calls for Weave (`calls/complete`).

use crate::Error;
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, Tree};

use super::clean::{NonFinite, Taste};
use super::ids::{Ids, parent};
use super::out::JsonOut;
use super::time::iso;
use super::values::Values;

/// The service's parser takes no literals that JSON has not; its Python client writes null for them.
const TASTE: Taste = Taste { depth: 180, non_finite: NonFinite::Null, bounds_integers: false };

/// Where inputs go that are no object.
const INPUTS: &str = "inputs";

pub(super) fn write(spans: &[Span], project_id: &str) -> Result<Vec<u8>, Error> {
    let ids = Ids::of(spans);
    let mut out = JsonOut::default();
    out.open(b'{');
    out.key("batch");
    out.open(b'[');
    for (i, (span, id)) in spans.iter().zip(&ids.spans).enumerate() {
        let values = Values::of(span, i, TASTE)?;
        out.open(b'{');
        out.text("project_id", Some(project_id));
        out.text("id", Some(&id.span));
        out.text("trace_id", Some(&id.trace));
        out.text("parent_id", parent(span));
        out.text("op_name", Some(&span.name));
        let start = span.start_unix_nano.or(span.end_unix_nano).unwrap_or(0);
        out.text("started_at", Some(&iso(start)));
        out.text("ended_at", Some(&iso(span.end_unix_nano.unwrap_or(start))));
        attributes(&values, &mut out);
        out.key("inputs");
        match values.inputs {
            Some(node) if values.json.kind(node) == Kind::Object => out.raw(values.text(node)),
            node => {
                out.open(b'{');
                if let Some(node) = node.filter(|&node| values.json.kind(node) != Kind::Null) {
                    out.member(INPUTS, Some(values.text(node)));
                }
                out.close(b'}');
            }
        }
        out.member("output", values.output.map(|node| values.text(node)));
        let summary: &[u8] = match span.status {
            SpanStatus::Unset => b"{}",
            SpanStatus::Ok => br#"{"status_counts":{"success":1,"error":0}}"#,
            SpanStatus::Error => br#"{"status_counts":{"success":0,"error":1}}"#,
        };
        out.member("summary", Some(summary));
        // Its server takes a call without one for a success.
        let is_error = span.status == SpanStatus::Error;
        out.text("exception", span.error.as_deref().or(is_error.then_some("error")));
        out.close(b'}');
    }
    out.bytes.extend_from_slice(b"]}");
    Ok(out.bytes)
}

fn attributes(values: &Values<'_>, out: &mut JsonOut) {
    out.key("attributes");
    out.open(b'{');
    for (key, node) in &values.attributes {
        out.member(key, Some(values.text(*node)));
    }
    let in_inputs = values.inputs.is_some_and(|inputs| values.json.find_member(inputs, "model").is_some());
    if values.span.model.is_some() && !in_inputs && !values.has_attribute("model") {
        out.text("model", values.span.model.as_deref());
    }
    out.close(b'}');
}
