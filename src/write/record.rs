//! JSON lines, a span each, with the names that spans have in JavaScript.

use crate::Error;
use crate::span::{Span, SpanStatus};

use super::clean::{NonFinite, Taste};
use super::out::JsonOut;
use super::values::Values;

const TASTE: Taste = Taste { depth: 1024, non_finite: NonFinite::Kept, bounds_integers: false };

pub(super) fn write(spans: &[Span]) -> Result<Vec<u8>, Error> {
    let mut out = JsonOut::default();
    for (i, span) in spans.iter().enumerate() {
        let values = Values::of(span, i, TASTE)?;
        out.open(b'{');
        let time = |time: Option<u64>| time.map(|time| time.to_string());
        for (key, text) in [
            ("traceId", Some(span.trace_id.clone())),
            ("spanId", Some(span.span_id.clone())),
            ("parentId", span.parent_id.clone()),
            ("name", Some(span.name.clone())),
            ("startUnixNano", time(span.start_unix_nano)),
            ("endUnixNano", time(span.end_unix_nano)),
            (
                "status",
                Some(span.status).filter(|status| *status != SpanStatus::Unset).map(|it| it.as_str().to_owned()),
            ),
            ("error", span.error.clone()),
            ("model", span.model.clone()),
        ] {
            if text.as_deref().is_some_and(|text| !text.is_empty()) {
                out.text(key, text.as_deref());
            }
        }
        for (key, node) in &values.trajectory {
            let key = match *key {
                "sample_index" => "sampleIndex",
                "rollout_n" => "rolloutN",
                "experiment_name" => "experimentName",
                other => other,
            };
            out.member(key, Some(values.text(*node)));
        }
        for (key, node) in [
            ("inputs", values.inputs),
            ("output", values.output),
            ("attributes", values.attributes_node),
            ("events", values.events_node),
        ] {
            if let Some(node) = node {
                out.member(key, Some(values.text(node)));
            }
        }
        out.bytes.extend_from_slice(b"}\n");
    }
    Ok(out.bytes)
}
