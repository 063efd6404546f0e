//! What a span says of itself, in every format: tables of where each fact stands and how it is written.

mod time;
mod trajectory;
mod values;

use super::Format;
use super::trackio::log_id;
use crate::base64;
use crate::json::string_content;
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, NodeId, Place, Tree, View, json_into};

pub(crate) use trajectory::fill;
pub(crate) use values::json;

/// A fact, steps to where it may stand from the span, and how it is written there. What comes first counts.
type Row = (Fact, &'static str, Written);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fact {
    TraceId,
    SpanId,
    ParentId,
    Name,
    Start,
    End,
    Status,
    Error,
    Reward,
}
use Fact::{End, Error, Name, ParentId, Reward, SpanId, Start, Status, TraceId};

#[derive(Clone, Copy)]
enum Written {
    /// Bytes in hexadecimal or base64, perhaps behind `tr-`.
    Bytes,
    /// A text, or a number as it is spelled.
    Text,
    /// A text, or the address of an operation in Weave, whose name is meant.
    Operation,
    /// Whole nanoseconds since 1970, as a number or a string of digits.
    Nano,
    /// Date and time of ISO 8601, with its offset.
    Iso,
    /// A word.
    Word,
    /// A word, or OTLP's number.
    Code,
    /// How many there were: one or more is an error.
    Errors,
    /// Something that a call has only if it ended well, or else an error.
    Ended,
}
use Written::{Bytes, Code, Ended, Errors, Iso, Nano, Operation, Text, Word};

/// OTLP, in both spellings, and what MLflow makes of it; at the end its older files.
const SPAN: &[Row] = &[
    (TraceId, "/traceId", Bytes),
    (TraceId, "/trace_id", Bytes),
    (SpanId, "/spanId", Bytes),
    (SpanId, "/span_id", Bytes),
    (ParentId, "/parentSpanId", Bytes),
    (ParentId, "/parent_span_id", Bytes),
    (Name, "/name", Text),
    (Start, "/startTimeUnixNano", Nano),
    (Start, "/start_time_unix_nano", Nano),
    (End, "/endTimeUnixNano", Nano),
    (End, "/end_time_unix_nano", Nano),
    (Status, "/status/code", Code),
    (Status, "/status", Code),
    (Error, "/status/message", Text),
    (TraceId, "/context/trace_id", Bytes),
    (SpanId, "/context/span_id", Bytes),
    (ParentId, "/parent_id", Bytes),
    (Start, "/start_time", Nano),
    (End, "/end_time", Nano),
    (Status, "/status_code", Code),
    (Error, "/status_message", Text),
];

/// What MLflow's server says of a trace.
const TRACE: &[Row] = &[
    (TraceId, "/trace_id", Bytes),
    (TraceId, "/request_id", Bytes),
    (Name, "/tags/mlflow.traceName", Text),
    (Start, "/request_time", Iso),
    (Status, "/state", Word),
    (Status, "/status", Word),
];

const WEAVE: &[Row] = &[
    (TraceId, "/trace_id", Text),
    (SpanId, "/id", Text),
    (ParentId, "/parent_id", Text),
    (Name, "/display_name", Text),
    (Name, "/op_name", Operation),
    (Start, "/started_at", Iso),
    (End, "/ended_at", Iso),
    (Error, "/exception", Text),
    (Status, "/summary/weave/status", Word),
    (Status, "/exception", Errors),
    // Those of calls inside count too: they tell of this one only if nothing went well.
    (Status, "/summary/status_counts/success", Ended),
    (Status, "/summary/status_counts/error", Errors),
    (Status, "/ended_at", Ended),
];

const TRACKIO_TRACE: &[Row] = &[
    (SpanId, "/id", Text),
    (Name, "/metadata/op", Text),
    (Name, "/key", Text),
    (Start, "/metadata/start_time", Iso),
    (Start, "/timestamp", Iso),
    (End, "/metadata/end_time", Iso),
    (Status, "/metadata/status", Word),
    (Error, "/metadata/error", Text),
    (Error, "/metadata/exception_type", Text),
];

const TRACKIO_SPAN: &[Row] = &[
    (SpanId, "/id", Text),
    (ParentId, "/parent_id", Text),
    (Name, "/name", Text),
    (Start, "/start_time", Iso),
    (End, "/end_time", Iso),
    (Status, "/status", Word),
    (Error, "/error", Text),
];

/// Spellings that people use. A number is a time only where its name has the unit.
const RECORD: &[Row] = &[
    (TraceId, "/trace_id", Text),
    (TraceId, "/traceId", Text),
    (SpanId, "/span_id", Text),
    (SpanId, "/spanId", Text),
    (SpanId, "/id", Text),
    (SpanId, "/request_id", Text),
    (ParentId, "/parent_id", Text),
    (ParentId, "/parentId", Text),
    (ParentId, "/parent_span_id", Text),
    (ParentId, "/parentSpanId", Text),
    (Name, "/name", Text),
    (Name, "/op_name", Operation),
    (Name, "/op", Text),
    (Start, "/start_time_unix_nano", Nano),
    (Start, "/startTimeUnixNano", Nano),
    (Start, "/start_unix_nano", Nano),
    (Start, "/startUnixNano", Nano),
    (Start, "/start_time", Iso),
    (Start, "/startTime", Iso),
    (Start, "/started_at", Iso),
    (Start, "/timestamp", Iso),
    (End, "/end_time_unix_nano", Nano),
    (End, "/endTimeUnixNano", Nano),
    (End, "/end_unix_nano", Nano),
    (End, "/endUnixNano", Nano),
    (End, "/end_time", Iso),
    (End, "/endTime", Iso),
    (End, "/ended_at", Iso),
    (Status, "/status/code", Word),
    (Status, "/status", Word),
    (Error, "/error/message", Text),
    (Error, "/error", Text),
    (Error, "/exception", Text),
    (Error, "/status/message", Text),
    // verl's dumps have a score; NeMo Gym's rollouts, and others that log a request with its answer, a reward beside them.
    (Reward, "/reward", Text),
    (Reward, "/rewards", Text),
    (Reward, "/score", Text),
];

/// Words for how something ended.
const WORDS: [(&str, SpanStatus); 8] = [
    ("ok", SpanStatus::Ok),
    ("success", SpanStatus::Ok),
    ("STATUS_CODE_OK", SpanStatus::Ok),
    // Weave: something inside went wrong, the call did not.
    ("descendant_error", SpanStatus::Ok),
    ("error", SpanStatus::Error),
    ("failed", SpanStatus::Error),
    ("failure", SpanStatus::Error),
    ("STATUS_CODE_ERROR", SpanStatus::Error),
];

/// Reads a span: everything but its fields. `trace` is what was read of the trace that it is in
/// (see [`is_in_trace`]).
pub(crate) fn tell(tree: &mut dyn Tree, view: &View, format: Format, trace: Option<&Span>) -> Span {
    let mut span = Span { path: view.path.clone(), model: view.model.clone(), ..Span::default() };
    let at = Place { node: view.node, path: String::new() };
    let is_in_trace = is_in_trace(view, format);
    let table = match format {
        Format::OtlpJson | Format::OtlpProto | Format::Mlflow if view.is_trace => TRACE,
        Format::OtlpJson | Format::OtlpProto | Format::Mlflow => SPAN,
        Format::Weave => WEAVE,
        Format::Trackio if is_in_trace => TRACKIO_SPAN,
        Format::Trackio => TRACKIO_TRACE,
        Format::Sse => &[],
        Format::Auto | Format::Record => RECORD,
    };
    for &(fact, steps, written) in table {
        if let Some(place) = at.find(tree, steps) {
            read(tree, place.node, fact, written, &mut span);
        }
    }
    if let Some(trace) = trace.filter(|_| is_in_trace) {
        span.trace_id.clone_from(&trace.trace_id);
        if span.parent_id.is_none() && !trace.span_id.is_empty() {
            span.parent_id = Some(trace.span_id.clone());
        }
    } else if format == Format::Trackio {
        if let Some(entry) = &view.around {
            let (id, key) = log_id(tree, entry, &view.path);
            span.span_id = id.unwrap_or_default();
            if span.name.is_empty() {
                span.name = key;
            }
            if let Some(time) = entry.find(tree, "/timestamp") {
                read(tree, time.node, Start, Iso, &mut span);
            }
        }
        span.trace_id.clone_from(&span.span_id);
    }
    // What an error without a status is to OTLP, it says itself.
    if span.status == SpanStatus::Unset && span.error.is_some() && !std::ptr::eq(table, SPAN) {
        span.status = SpanStatus::Error;
    }
    values::read(tree, view, format, &mut span);
    trajectory::read(tree, view, format, &mut span.trajectory);
    if let Some(trace) = trace.filter(|_| is_in_trace) {
        fill(&mut span.trajectory, &trace.trajectory);
    }
    span
}

/// Whether a view is a span in a trace of Trackio, which is a span itself.
pub(crate) fn is_in_trace(view: &View, format: Format) -> bool {
    let rest = view.around.as_ref().and_then(|around| view.path.strip_prefix(&around.path));
    format == Format::Trackio && rest.is_some_and(|rest| rest.starts_with("/spans/"))
}

/// Whether a call of Weave is its start or its end alone.
pub(crate) fn is_half(view: &View, format: Format) -> bool {
    format == Format::Weave && (view.path.ends_with("/start") || view.path.ends_with("/end"))
}

/// Takes what the other half of a call says and this one does not.
pub(crate) fn join(half: &mut Span, other: Span) {
    let Span {
        name, start_unix_nano, end_unix_nano, status, error, model, request_id, inputs, output, attributes, ..
    } = other;
    for (own, others) in [
        (&mut half.parent_id, other.parent_id),
        (&mut half.error, error),
        (&mut half.model, model),
        (&mut half.request_id, request_id),
        (&mut half.inputs, inputs),
        (&mut half.output, output),
        (&mut half.attributes, attributes),
    ] {
        if own.is_none() {
            *own = others;
        }
    }
    for (own, others) in [(&mut half.trace_id, other.trace_id), (&mut half.name, name)] {
        if own.is_empty() {
            *own = others;
        }
    }
    half.start_unix_nano = half.start_unix_nano.or(start_unix_nano);
    half.end_unix_nano = half.end_unix_nano.or(end_unix_nano);
    if half.status == SpanStatus::Unset {
        half.status = status;
    }
    fill(&mut half.trajectory, &other.trajectory);
    half.fields.extend(other.fields);
}

/// Reads a fact, if nothing was read of it yet.
fn read(tree: &mut dyn Tree, node: NodeId, fact: Fact, written: Written, span: &mut Span) {
    match fact {
        TraceId | SpanId | Name => {
            let place = match fact {
                TraceId => &mut span.trace_id,
                SpanId => &mut span.span_id,
                _ => &mut span.name,
            };
            if place.is_empty() {
                *place = text(tree, node, written).unwrap_or_default();
            }
        }
        ParentId | Error => {
            let place = if fact == ParentId { &mut span.parent_id } else { &mut span.error };
            if place.is_none() {
                // OTLP's root has an empty parent or one of zeros.
                let is_no_parent = |text: &str| fact == ParentId && text.bytes().all(|byte| byte == b'0');
                *place = text(tree, node, written).filter(|text| !text.is_empty() && !is_no_parent(text));
            }
        }
        Start | End => {
            let place = if fact == Start { &mut span.start_unix_nano } else { &mut span.end_unix_nano };
            if place.is_none() {
                let text = text(tree, node, Text).unwrap_or_default();
                let is_text = tree.kind(node) == Kind::String;
                *place = match written {
                    // Zero is how OTLP says that it does not know.
                    Nano => digits(text.as_bytes()).filter(|&time| time > 0),
                    _ => time::parse(text.as_bytes()).filter(|_| is_text),
                };
            }
        }
        Status if span.status == SpanStatus::Unset => {
            let text = text(tree, node, Text).unwrap_or_default();
            let is_some = !text.is_empty() && text != "0";
            span.status = match written {
                Errors if is_some => SpanStatus::Error,
                Ended if is_some && span.end_unix_nano.is_some() => SpanStatus::Ok,
                Code if text == "1" => SpanStatus::Ok,
                Code if text == "2" => SpanStatus::Error,
                Code | Word => WORDS
                    .iter()
                    .find(|(word, _)| word.eq_ignore_ascii_case(&text))
                    .map_or(SpanStatus::Unset, |(_, status)| *status),
                _ => SpanStatus::Unset,
            };
        }
        Status => {}
        Reward => {
            let number = text(tree, node, Text).and_then(|text| text.parse().ok());
            span.reward = span.reward.or(number).filter(|reward: &f64| reward.is_finite());
        }
    }
}

/// The number that some digits are.
fn digits(text: &[u8]) -> Option<u64> {
    let mut number = None;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        number = Some(number.unwrap_or(0u64).checked_mul(10)?.checked_add(u64::from(digit)).filter(|_| digit < 10)?);
    }
    number
}

/// The whole number that a text is.
fn whole(text: Option<String>) -> Option<i64> {
    let text = text?;
    match text.strip_prefix('-') {
        Some(below) => 0i64.checked_sub_unsigned(digits(below.as_bytes())?),
        None => 0i64.checked_add_unsigned(digits(text.as_bytes())?),
    }
}

/// The text that a value is; a number as it is spelled.
fn text(tree: &mut dyn Tree, node: NodeId, written: Written) -> Option<String> {
    let content = match tree.kind(node) {
        Kind::String => string_content(&tree.json(node))?.into_owned(),
        Kind::Number | Kind::Bool => {
            let mut json = Vec::new();
            json_into(tree, node, &mut json);
            json
        }
        _ => return None,
    };
    let text = String::from_utf8(content).ok()?;
    Some(match written {
        Bytes => identifier(text),
        Operation => operation(text),
        _ => text,
    })
}

/// The hexadecimal digits of an id of OTLP or MLflow, which may be in base64 and may stand behind `tr-`; another text as
/// it is.
fn identifier(text: String) -> String {
    let digits = text.strip_prefix("tr-").unwrap_or(&text);
    if matches!(digits.len(), 16 | 32) && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return digits.to_ascii_lowercase();
    }
    match base64::decode(text.as_bytes()) {
        Some(bytes) if matches!(bytes.len(), 8 | 16) => {
            let mut digits = Vec::with_capacity(32);
            base64::hex_into(&bytes, &mut digits);
            String::from_utf8(digits).unwrap_or_default()
        }
        _ => text,
    }
}

/// The name in `weave:///entity/project/op/NAME:digest`; another text as it is.
fn operation(text: String) -> String {
    let last = |byte: u8, text: &str| text.bytes().rposition(|other| other == byte);
    // By bytes: to search for a text is more code than all else here.
    let Some(slash) = last(b'/', &text).filter(|_| text.starts_with("weave:///")) else { return text };
    let Some((before, name)) = text.split_at_checked(slash + 1) else { return text };
    if !before.ends_with("/op/") {
        return text;
    }
    let end = last(b':', name).unwrap_or(name.len());
    name.get(..end).unwrap_or(name).to_owned()
}
