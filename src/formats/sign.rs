//! What tells a format: signs in the content, and what is known of where the body came from. The content comes first,
//! so that one body is always read in one way; the origin decides what the content leaves open.

use super::{Format, sse, text, walk};
use crate::json::{Json, skip_space};
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

/// What is known of a body besides its bytes. It counts where the content alone does not tell the format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin<'o> {
    /// The header `content-type`.
    pub content_type: Option<&'o str>,
    /// The URL that the body was sent to or came from, its path, or the name of a file.
    pub url: Option<&'o str>,
}

/// The format of a body.
pub(crate) struct Told {
    pub format: Format,
    /// What told it, for the report.
    pub rule: &'static str,
    /// What else the body might be, as a sentence.
    pub doubt: Option<String>,
}

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
    (Format::Trackio, "Trackio get_traces", &["/data/0/messages", "/data/0/metadata", "/data/0/run"]),
    (Format::Trackio, "Trackio trace", &["/messages", "/metadata", "/run"]),
    (Format::Trackio, "Trackio inbox", &["/metrics", "/run", "/project"]),
];

/// How the path of a URL ends.
const URLS: [(Format, &str); 10] = [
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

const CONTENT_TYPES: [(Format, &str); 1] = [(Format::Sse, "text/event-stream")];

/// Tells the format of a body.
pub(crate) fn tell(body: &[u8], asked: Format, origin: &Origin<'_>) -> Result<Told, Error> {
    if body.starts_with(&[0x1F, 0x8B]) {
        let what = "the body is gzip: decompress it first (the command line tool does so by itself)";
        return Err(Error::new(ErrorCode::CompressedInput, what));
    }
    if asked != Format::Auto {
        return Ok(Told { format: asked, rule: "asked for", doubt: None });
    }
    let start = skip_space(body, text::after_byte_order_mark(body));
    if start == body.len() {
        return Ok(Told { format: Format::Record, rule: "empty body", doubt: None });
    }
    let (told, mut doubt) = by_content(body, start);
    let by_origin = by_origin(origin);
    let Some((format, rule)) = told else {
        // An event stream may begin with anything.
        return match by_origin {
            Some((Format::Sse, rule)) => Ok(Told { format: Format::Sse, rule, doubt: None }),
            _ => Err(Error::new(
                ErrorCode::UnknownFormat,
                "the body is neither JSON, JSON lines nor an event stream; no other format is read yet",
            )),
        };
    };
    match by_origin {
        Some((other, rule)) if format == Format::Record && other != Format::Sse => {
            return Ok(Told { format: other, rule, doubt });
        }
        Some((other, by)) if other != format => doubt = Some(doubtful(format, rule, other, by)),
        _ => {}
    }
    Ok(Told { format, rule, doubt })
}

/// Tells the format of a JSON value that stands for itself.
#[cfg(target_arch = "wasm32")]
pub(crate) fn tell_value(tree: &mut dyn Tree, root: NodeId, asked: Format) -> Format {
    match asked {
        Format::Auto | Format::Sse => by_signs(tree, root).0.map_or(Format::Record, |(format, _)| format),
        other => other,
    }
}

/// A format, and what told it.
type Sign = (Format, &'static str);

fn by_content(body: &[u8], start: usize) -> (Option<Sign>, Option<String>) {
    if sse::is_stream(&body[start..]) {
        return (Some((Format::Sse, "event stream")), None);
    }
    let depth = Limits::default().depth;
    let mut rule = "JSON";
    let mut json = Json::scan(body, start, depth).ok();
    if json.is_none() {
        // A broken first line does not hide the whole ones after it.
        let line = body.split(|&byte| byte == b'\n').find(|line| text::is_json_object(line));
        if let Some(line) = line.filter(|_| body.contains(&b'\n')) {
            rule = "JSON lines";
            json = Json::parse(line, depth).ok();
        }
    }
    match json {
        Some(mut json) => {
            let (told, doubt) = by_signs(&mut json, Json::ROOT);
            (told.or(Some((Format::Record, rule))), doubt)
        }
        // Broken JSON is for the reader of JSON to name.
        None if matches!(body[start], b'{' | b'[') => (Some((Format::Record, rule)), None),
        None => (None, None),
    }
}

/// The first of the signs that a value has, and whether it has one of another format too.
fn by_signs(tree: &mut dyn Tree, root: NodeId) -> (Option<Sign>, Option<String>) {
    let mut node = root;
    if tree.kind(root) == Kind::Array {
        node = tree.element(root, 0).unwrap_or(root);
    }
    let (mut told, mut doubt) = (None, None);
    for (format, rule, needed) in SIGNS {
        let mut has_all = true;
        for steps in needed {
            has_all = has_all && walk(tree, node, steps).is_some();
        }
        match told {
            _ if !has_all => {}
            None => told = Some((format, rule)),
            Some((first, by)) if first != format && doubt.is_none() => doubt = Some(doubtful(first, by, format, rule)),
            Some(_) => {}
        }
    }
    (told, doubt)
}

fn by_origin(origin: &Origin<'_>) -> Option<Sign> {
    let path = origin.url.and_then(|url| url.split(['?', '#']).next()).unwrap_or_default().trim_end_matches('/');
    for (format, end) in URLS {
        if path.ends_with(end) {
            return Some((format, "URL"));
        }
    }
    let media_type = origin.content_type.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    for (format, name) in CONTENT_TYPES {
        if media_type.eq_ignore_ascii_case(name) {
            return Some((format, "content type"));
        }
    }
    None
}

fn doubtful(format: Format, rule: &str, other: Format, other_rule: &str) -> String {
    let (format, other) = (format.as_str(), other.as_str());
    format!("read as `{format}` ({rule}), but it may be `{other}` ({other_rule}); the option `format` says which")
}
