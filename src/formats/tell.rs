//! Which format a body has, told from how it begins.

use super::{Format, otlp_proto, text};
use crate::json::{skip_space, value_end};
use crate::limits::Limits;
use crate::{Error, ErrorCode};

/// What JSON has that is in a format: keys that lead there, lists being entered at their first element, the format, and
/// the rule for the report.
const SIGNS: [(&[&str], Format, &str); 11] = [
    (&["resourceSpans"], Format::OtlpJson, "JSON with `resourceSpans`"),
    (&["resource_spans"], Format::OtlpJson, "JSON with `resource_spans`"),
    (&["spans", "start_time_unix_nano"], Format::Mlflow, "JSON with `spans` of MLflow"),
    (&["trace", "trace_info"], Format::Mlflow, "JSON with a `trace` of MLflow"),
    (&["trace", "spans", "start_time_unix_nano"], Format::Mlflow, "JSON with a `trace` of MLflow"),
    (&["traces", "trace_info"], Format::Mlflow, "JSON with `traces` of MLflow"),
    (&["traces", "spans", "start_time_unix_nano"], Format::Mlflow, "JSON with `traces` of MLflow"),
    (&["traces", "trace_location"], Format::Mlflow, "JSON with `traces` of MLflow"),
    (&["trace_infos", "trace_location"], Format::Mlflow, "JSON with `trace_infos` of MLflow"),
    (&["info", "trace_location"], Format::Mlflow, "JSON with the `info` of a trace of MLflow"),
    (&["data", "spans", "start_time_unix_nano"], Format::Mlflow, "JSON with `data` of a trace of MLflow"),
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
        for (keys, format, rule) in SIGNS {
            if leads(head, 0, keys) {
                return Ok((format, rule));
            }
        }
        return Ok((Format::Record, "JSON"));
    }
    match body.get(start) {
        None => Ok((Format::Record, "empty body")),
        // A broken first line does not hide the whole ones after it.
        Some(_) if text::has_whole_line(body) => Ok((Format::Record, "JSON lines")),
        Some(_) if text::is_json(body) => Ok((Format::Record, "JSON")),
        Some(_) => Err(Error::new(
            ErrorCode::UnknownFormat,
            "the body is neither JSON nor JSON lines nor OTLP as protocol buffers; no other format is read yet",
        )),
    }
}

/// Whether keys lead on in a JSON value, as far as its text goes.
fn leads(text: &[u8], at: usize, keys: &[&str]) -> bool {
    let Some((wanted, rest)) = keys.split_first() else { return true };
    let mut at = skip_space(text, at);
    while text.get(at) == Some(&b'[') {
        at = skip_space(text, at + 1);
    }
    if text.get(at) != Some(&b'{') {
        return false;
    }
    at = skip_space(text, at + 1);
    while text.get(at) == Some(&b'"') {
        let end = value_end(text, at);
        let key = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default();
        at = skip_space(text, end);
        if text.get(at) != Some(&b':') {
            return false;
        }
        at = skip_space(text, at + 1);
        if key == wanted.as_bytes() {
            return leads(text, at, rest);
        }
        at = skip_space(text, value_end(text, at));
        if text.get(at) != Some(&b',') {
            return false;
        }
        at = skip_space(text, at + 1);
    }
    false
}
