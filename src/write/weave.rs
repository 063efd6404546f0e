//! A batch of whole calls for Weave (`calls/complete`).

use crate::Error;
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, Tree};

use super::clean::{NonFinite, Taste};
use super::ids::{Id, parent};
use super::out::JsonOut;
use super::time::iso;
use super::values::{Values, each};

/// The parser of its models takes no literals that JSON has not, for which its Python client writes null, and no more than
/// 201 levels: the body, the batch and the call are around these, and an object around inputs that are none.
const TASTE: Taste = Taste { depth: 197, non_finite: NonFinite::Null, bounds_integers: false };

/// Where inputs go that are no object.
const INPUTS: &str = "inputs";

pub(super) fn write(spans: &[Span], project_id: &str) -> Result<Vec<u8>, Error> {
    let mut out = JsonOut::default();
    out.bytes.extend_from_slice(br#"{"batch":["#);
    each(spans, TASTE, &mut |values, id| call(values, id, project_id, &mut out))?;
    out.bytes.extend_from_slice(b"]}");
    Ok(out.bytes)
}

fn call(values: &mut Values<'_>, id: &Id, project_id: &str, out: &mut JsonOut) {
    let span = values.span;
    out.open(b'{');
    out.text("project_id", Some(project_id));
    out.text("id", Some(&id.span));
    out.text("trace_id", Some(&id.trace));
    out.text("parent_id", parent(span));
    out.text("op_name", Some(&span.name));
    let start = span.start_unix_nano.or(span.end_unix_nano).unwrap_or(0);
    out.text("started_at", Some(&iso(start)));
    out.text("ended_at", Some(&iso(span.end_unix_nano.unwrap_or(start))));
    let has_model = |values: &Values<'_>, node| values.json.find_member(node, "model").is_some();
    let in_inputs = values.inputs.is_some_and(|inputs| has_model(values, inputs));
    if !in_inputs && !values.has_attribute("model") {
        values.add_text("model", span.model.as_deref());
    }
    values.members("attributes", &values.attributes, out);
    out.key("inputs");
    match values.inputs {
        Some(node) if values.json.kind(node) == Kind::Object => out.raw(values.text(node)),
        node => {
            out.open(b'{');
            let node = node.filter(|&node| values.json.kind(node) != Kind::Null);
            values.member_if(INPUTS, node, out);
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
