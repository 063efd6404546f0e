//! JSON lines, a span each, with the names that spans have in JavaScript.

use crate::Error;
use crate::span::{Span, SpanStatus};

use super::clean::{NonFinite, Taste};
use super::out::JsonOut;
use super::values::{Values, each};

const TASTE: Taste = Taste { depth: 1024, non_finite: NonFinite::Kept, bounds_integers: false };

pub(super) fn write(spans: &[Span]) -> Result<Vec<u8>, Error> {
    let mut out = JsonOut::default();
    each(spans, TASTE, &mut |values, _| line(values, &mut out))?;
    Ok(out.bytes)
}

fn line(values: &Values<'_>, out: &mut JsonOut) {
    let span = values.span;
    out.open(b'{');
    let time = |time: Option<u64>| time.map(|time| time.to_string());
    let (start, end) = (time(span.start_unix_nano), time(span.end_unix_nano));
    let status = Some(span.status.as_str()).filter(|_| span.status != SpanStatus::Unset);
    for (key, text) in [
        ("traceId", Some(span.trace_id.as_str())),
        ("spanId", Some(span.span_id.as_str())),
        ("parentId", span.parent_id.as_deref()),
        ("name", Some(span.name.as_str())),
        ("startUnixNano", start.as_deref()),
        ("endUnixNano", end.as_deref()),
        ("status", status),
        ("error", span.error.as_deref()),
        ("model", span.model.as_deref()),
    ] {
        out.text_if(key, text.filter(|text| !text.is_empty()));
    }
    for &(key, node) in &values.trajectory {
        let key = match key {
            "sample_index" => "sampleIndex",
            "rollout_n" => "rolloutN",
            "experiment_name" => "experimentName",
            other => other,
        };
        out.member(key, Some(values.text(node)));
    }
    for (key, node) in [
        ("inputs", values.inputs),
        ("output", values.output),
        ("attributes", values.attributes_node),
        ("events", values.events_node),
    ] {
        values.member_if(key, node, out);
    }
    out.bytes.extend_from_slice(b"}\n");
}
