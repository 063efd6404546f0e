//! Which format a body has, told from how it begins.

use super::span::{CONTAINERS, SPANS};
use super::{Format, otlp_proto, text};
use crate::json::{skip_space, value_end};
use crate::limits::Limits;
use crate::{Error, ErrorCode};

/// Keys that a format is told by, the rule for the report, and whether containers of spans must stand around them.
const SIGNS: [(&str, Format, &str, bool); 5] = [
    ("resourceSpans", Format::OtlpJson, "JSON with `resourceSpans`", false),
    ("resource_spans", Format::OtlpJson, "JSON with `resource_spans`", false),
    ("trace_info", Format::Mlflow, "JSON with `trace_info` of a trace", true),
    ("trace_location", Format::Mlflow, "JSON with `trace_location` of a trace", true),
    ("start_time_unix_nano", Format::Mlflow, "JSON with `start_time_unix_nano` of a span", true),
];

/// How many bytes of a JSON body are looked at.
const HEAD: usize = 4096;

/// The format of a body, and the rule it was told by, for the report.
pub(crate) fn detect(body: &[u8], asked: Format) -> Result<(Format, &'static str), Error> {
    if body.starts_with(&[0x1F, 0x8B]) {
        let what = "the body is gzip: decompress it first (the command line tool does so by itself)";
        return Err(Error::new(ErrorCode::CompressedInput, what));
    }
    if asked != Format::Auto {
        return Ok((asked, "asked for"));
    }
    let start = skip_space(body, text::after_byte_order_mark(body));
    let may_be_json = matches!(body.get(start), Some(b'{' | b'['));
    // Without white space after the first byte there is no other reading; with it there has to be no mistake.
    if otlp_proto::begins(body)
        && (!may_be_json && start < 3 || otlp_proto::check(body, Limits::default().depth).is_ok())
    {
        return Ok((Format::OtlpProto, "protocol buffers"));
    }
    if may_be_json {
        let head = &body[start..body.len().min(start + HEAD)];
        return Ok(sign(head, 0, 0).unwrap_or((Format::Record, "JSON")));
    }
    match body.get(start) {
        None => Ok((Format::Record, "empty body")),
        // A broken first line does not hide the whole ones after it.
        Some(_) if text::has_whole_line(body) => Ok((Format::Record, "JSON lines")),
        Some(_) if text::is_json(body) => Ok((Format::Record, "JSON")),
        Some(_) => Err(Error::new(
            ErrorCode::UnknownFormat,
            "the body is neither JSON nor JSON lines nor OTLP; no other format is read yet",
        )),
    }
}

/// The first sign in a JSON value, as far as its text goes: in an object or the first element of a list, and in the
/// containers of spans inside it.
fn sign(text: &[u8], at: usize, depth: usize) -> Option<(Format, &'static str)> {
    let mut at = skip_space(text, at);
    while text.get(at) == Some(&b'[') {
        at = skip_space(text, at + 1);
    }
    // Each member follows a brace or a comma.
    while matches!(text.get(at), Some(b'{' | b',')) {
        let start = skip_space(text, at + 1);
        let end = value_end(text, start);
        let key = text.get(start + 1..end.saturating_sub(1))?;
        let colon = skip_space(text, end);
        if text.get(colon) != Some(&b':') {
            return None;
        }
        for (name, format, rule, is_inside) in SIGNS {
            if key == name.as_bytes() && (depth > 0 || !is_inside) {
                return Some((format, rule));
            }
        }
        let is_container = CONTAINERS.iter().any(|container| key == container.as_bytes());
        if depth < 3 && (is_container || key == SPANS.as_bytes()) {
            let found = sign(text, colon + 1, depth + 1);
            if found.is_some() {
                return found;
            }
        }
        at = skip_space(text, value_end(text, skip_space(text, colon + 1)));
    }
    None
}
