//! What tells a format: signs in the content, and what is known of where the body came from. The content comes first,
//! so that one body is always read in one way; the origin decides what the content leaves open.

use super::span::{CONTAINERS, SPANS};
use super::{Format, otlp_proto, sse, text};
use crate::json::{Json, skip_space};
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Place, Tree};
use crate::{Error, ErrorCode};

/// What is known of a body besides its bytes. It counts where the content alone does not tell the format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin<'o> {
    /// The header `content-type`.
    pub content_type: Option<&'o str>,
    /// The URL that the body was sent to or came from, its path, or the name of a file.
    pub url: Option<&'o str>,
}

/// The format of a body, as far as it is detected.
pub(crate) struct Detected {
    /// [`Format::Auto`] for JSON of which no object or list is seen yet.
    pub format: Format,
    /// What it was detected by, for the report.
    pub rule: &'static str,
    /// Another format that fits too.
    pub other: Option<Sign>,
}

/// A format, and what tells it.
type Sign = (Format, &'static str);

/// The signs of formats that are JSON: what must be there in a body, in its first line or in the first item of its list.
const SIGNS: [(Format, &str, &[&str]); 12] = [
    (Format::Weave, "Weave calls/complete", &["/batch/0/op_name"]),
    (Format::Weave, "Weave call/upsert_batch", &["/batch/0/mode", "/batch/0/req"]),
    (Format::Weave, "Weave call/start", &["/start/op_name"]),
    (Format::Weave, "Weave call/end", &["/end/project_id", "/end/ended_at"]),
    (Format::Weave, "Weave call/read", &["/call/op_name"]),
    (Format::Weave, "Weave calls/query", &["/calls/0/op_name"]),
    (Format::Weave, "Weave calls/stream_query", &["/op_name", "/trace_id"]),
    (Format::Trackio, "Trackio bulk_log", &["/kwargs/logs/0/metrics"]),
    (Format::Trackio, "Trackio bulk_log", &["/logs/0/metrics"]),
    (Format::Trackio, "Trackio get_traces", &["/data/0/messages", "/data/0/run", "/data/0/key"]),
    (Format::Trackio, "Trackio trace", &["/messages", "/run", "/key"]),
    (Format::Trackio, "Trackio inbox", &["/metrics", "/run", "/project"]),
];

/// Keys that tell of spans with attributes, the rule for the report, and whether containers of spans must stand around
/// them.
const SPAN_SIGNS: [(Format, &str, &str, bool); 5] = [
    (Format::OtlpJson, "JSON with `resourceSpans`", "resourceSpans", false),
    (Format::OtlpJson, "JSON with `resource_spans`", "resource_spans", false),
    (Format::Mlflow, "JSON with `trace_info` of a trace", "trace_info", true),
    (Format::Mlflow, "JSON with `trace_location` of a trace", "trace_location", true),
    (Format::Mlflow, "JSON with `start_time_unix_nano` of a span", "start_time_unix_nano", true),
];

/// How many containers around such a key are looked into.
const MOST_CONTAINERS: usize = 3;

/// How the path of a URL ends.
const URLS: [(Format, &str); 16] = [
    (Format::OtlpJson, "/v1/traces"),
    (Format::Mlflow, "/mlflow/traces"),
    (Format::Mlflow, "/mlflow/traces/get"),
    (Format::Mlflow, "/mlflow/traces/batchGet"),
    (Format::Mlflow, "/mlflow/traces/search"),
    (Format::Mlflow, "/mlflow/get-trace-artifact"),
    (Format::Weave, "/calls/complete"),
    (Format::Weave, "/call/upsert_batch"),
    (Format::Weave, "/call/start"),
    (Format::Weave, "/call/end"),
    (Format::Weave, "/call/read"),
    (Format::Weave, "/calls/stream_query"),
    (Format::Weave, "/calls/query"),
    (Format::Trackio, "/api/bulk_log"),
    (Format::Trackio, "/api/get_traces"),
    (Format::Sse, ".sse"),
];

const CONTENT_TYPES: [(Format, &str); 2] =
    [(Format::Sse, "text/event-stream"), (Format::OtlpProto, "application/x-protobuf")];

/// Tells the format of a body; of JSON the first value does, when it is read.
pub(crate) fn detect(body: &[u8], asked: Format, origin: &Origin<'_>) -> Result<Detected, Error> {
    if body.starts_with(&[0x1F, 0x8B]) {
        let what = "the body is gzip: decompress it first (the command line tool does so by itself)";
        return Err(Error::new(ErrorCode::CompressedInput, what));
    }
    let detected = |format, rule, other| Ok(Detected { format, rule, other });
    if asked != Format::Auto {
        return detected(asked, "asked for", None);
    }
    let start = skip_space(body, text::after_byte_order_mark(body));
    let (by_url, by_content_type) = (by_url(origin), by_content_type(origin));
    let by_origin = by_url.or(by_content_type);
    let may_be_json = matches!(body.get(start), Some(b'{' | b'['));
    // Without white space after the first byte there is no other reading; with it there has to be no mistake.
    if otlp_proto::begins(body)
        && (!may_be_json && start < 3 || otlp_proto::check(body, Limits::default().depth).is_ok())
    {
        // One URL takes both spellings.
        let other = by_origin.filter(|(format, _)| *format != Format::OtlpJson);
        return detected(Format::OtlpProto, "protocol buffers", other);
    }
    match body.get(start) {
        None => detected(Format::Record, "empty body", None),
        Some(_) if may_be_json => detected(Format::Auto, "JSON", by_origin),
        Some(_) if sse::is_stream(&body[start..]) => detected(Format::Sse, "event stream", by_origin),
        // A broken first line does not hide the whole ones after it.
        Some(_) if text::is_json(body) => detected(Format::Auto, "JSON", by_origin),
        // An event stream may begin with anything.
        _ => match by_content_type.filter(|sign| !is_json(sign.0)).or(by_url) {
            Some((format, rule)) if !is_json(format) => detected(format, rule, None),
            _ => {
                let what =
                    "the body is neither JSON, JSON lines, an event stream nor OTLP; no other format is read yet";
                Err(Error::new(ErrorCode::UnknownFormat, what))
            }
        },
    }
}

impl Detected {
    /// Tells by the first value of the body, which has an address if there are several.
    pub(super) fn settle(&mut self, tree: &mut dyn Tree, path: &str) {
        if self.format != Format::Auto || !matches!(tree.kind(Json::ROOT), Kind::Object | Kind::Array) {
            return;
        }
        let by_origin = self.other.take();
        let (detected, other) = by_signs(tree, Json::ROOT);
        self.other = other;
        (self.format, self.rule) = match (detected, by_origin) {
            (Some(detected), _) => detected,
            (None, Some(by_origin)) if is_json(by_origin.0) => by_origin,
            _ => (Format::Record, if path.is_empty() { "JSON" } else { "JSON lines" }),
        };
        self.other = by_origin.or(self.other);
    }

    /// Why the format is in doubt.
    pub(crate) fn doubt(&self) -> Option<String> {
        let (format, rule) = self.other.filter(|(format, _)| *format != self.format)?;
        Some(format!("it may be `{}` ({rule}) instead; the option `format` says which", format.as_str()))
    }
}

/// Whether a format is JSON.
fn is_json(format: Format) -> bool {
    !matches!(format, Format::Sse | Format::OtlpProto)
}

/// The first of the signs that a value has, and one of another format that it has too.
fn by_signs(tree: &mut dyn Tree, root: NodeId) -> (Option<Sign>, Option<Sign>) {
    let mut place = Place { node: root, path: String::new() };
    if let Some(first) = tree.element(root, 0) {
        place.node = first;
    }
    let (mut detected, mut other) = (span_sign(tree, root, 0), None);
    for (format, rule, needed) in &SIGNS {
        let mut has_all = true;
        for steps in *needed {
            has_all = has_all && place.find(tree, steps).is_some();
        }
        if has_all {
            let (first, _) = *detected.get_or_insert((*format, *rule));
            if first != *format {
                other = Some((*format, *rule));
            }
        }
    }
    (detected, other)
}

/// The first sign of spans in an object or the first element of a list, or in the containers of spans inside it.
fn span_sign(tree: &mut dyn Tree, mut node: NodeId, depth: usize) -> Option<Sign> {
    while tree.kind(node) == Kind::Array {
        node = tree.element(node, 0)?;
    }
    if tree.kind(node) != Kind::Object {
        return None;
    }
    for (format, rule, key, is_inside) in SPAN_SIGNS {
        if (depth > 0 || !is_inside) && tree.member(node, key).is_some() {
            return Some((format, rule));
        }
    }
    let mut found = None;
    for key in CONTAINERS.iter().chain(&[SPANS]) {
        if depth < MOST_CONTAINERS
            && found.is_none()
            && let Some(inner) = tree.member(node, key)
        {
            found = span_sign(tree, inner, depth + 1);
        }
    }
    found
}

fn by_url(origin: &Origin<'_>) -> Option<Sign> {
    let mut path = before(origin.url, b"?#");
    path = path.strip_suffix(b"/").unwrap_or(path);
    for (format, end) in &URLS {
        if path.ends_with(end.as_bytes()) {
            return Some((*format, "URL"));
        }
    }
    None
}

fn by_content_type(origin: &Origin<'_>) -> Option<Sign> {
    let media_type = before(origin.content_type, b"; ");
    for (format, name) in &CONTENT_TYPES {
        if media_type.eq_ignore_ascii_case(name.as_bytes()) {
            return Some((*format, "content type"));
        }
    }
    None
}

/// What stands before the first of some bytes.
fn before<'t>(text: Option<&'t str>, ends: &[u8]) -> &'t [u8] {
    let text = text.unwrap_or_default().as_bytes();
    let len = text.iter().position(|byte| ends.contains(byte)).unwrap_or(text.len());
    &text[..len]
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// `formats.json` says to people what the tables above say: `scripts/formats.js` makes the table of README.md of it.
    #[test]
    fn the_formats_are_told_by_what_their_description_says() {
        let mut told: Vec<Value> = serde_json::from_str(include_str!("formats.json")).unwrap();
        let mut formats = Vec::new();
        for row in &mut told {
            let row = row.as_object_mut().unwrap();
            assert!(row.remove("bodies").is_some_and(|bodies| bodies.is_string()));
            let is_told = row.remove("told").is_some();
            assert_ne!(is_told, row["signs"] != json!([]), "a format has signs, or words for what tells it");
        }
        for format in &Format::ALL[1..] {
            let signs = SIGNS.iter().filter(|sign| sign.0 == *format);
            let signs = signs.map(|(_, rule, has)| json!({ "rule": rule, "has": has }));
            let of_spans = SPAN_SIGNS.iter().filter(|sign| sign.0 == *format);
            let of_spans = of_spans.map(|(_, rule, key, inside)| json!({ "rule": rule, "key": key, "inside": inside }));
            let texts = |table: &[(Format, &str)]| {
                let own = table.iter().filter(|row| row.0 == *format);
                own.map(|row| Value::from(row.1)).collect::<Value>()
            };
            formats.push(json!({
                "format": format.as_str(),
                "signs": signs.chain(of_spans).collect::<Value>(),
                "urls": texts(&URLS),
                "contentTypes": texts(&CONTENT_TYPES),
            }));
        }
        assert_eq!(told, formats);
    }
}
