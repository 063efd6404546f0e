//! Spans and options as JavaScript has them, read from JSON.

use crate::formats::Format;
use crate::json::{Json, Object, parse};
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, Tree};
use crate::{Error, ErrorCode};

use super::WriteOptions;
use super::clean::{NonFinite, Taste, clean};
use super::number::{integer, unsigned};
use super::out::joined;

impl WriteOptions {
    /// Reads options as JavaScript writes them, and the format among them.
    ///
    /// ```
    /// use token2text::{Format, WriteOptions};
    /// let (format, options) = WriteOptions::from_json(br#"{"format": "weave", "projectId": "me/rollouts"}"#)?;
    /// assert_eq!((format, options.project_id.as_deref()), (Format::Weave, Some("me/rollouts")));
    /// assert!(WriteOptions::from_json(br#"{"format": "wave"}"#).is_err());
    /// # Ok::<(), token2text::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_options`: an unknown name or a wrong value.
    pub fn from_json(text: &[u8]) -> Result<(Format, WriteOptions), Error> {
        let mut json = parse(text, "options", ErrorCode::InvalidOptions)?;
        let mut object = Object::open(&mut json, Json::ROOT, "options", ErrorCode::InvalidOptions);
        object.done(&["format", "projectId", "project", "run", "runId"]);
        let format = object.choice("format", &Format::ALL.map(Format::as_str)).unwrap_or(0);
        let options = WriteOptions {
            project_id: object.string("projectId"),
            project: object.string("project"),
            run: object.string("run"),
            run_id: object.string("runId"),
        };
        object.finish()?;
        Ok((Format::ALL[format], options))
    }
}

impl Span {
    /// Reads a list of spans as JavaScript has them. Halves of surrogate pairs, which its strings may have, become U+FFFD.
    ///
    /// ```
    /// use token2text::Span;
    /// let spans = Span::list_from_json(r#"[{"name": "generate", "startUnixNano": "5", "inputs": "[1]", "step": 3}]"#)?;
    /// assert_eq!((spans[0].start_unix_nano, spans[0].trajectory.step), (Some(5), Some(3)));
    /// # Ok::<(), token2text::Error>(())
    /// ```
    ///
    /// # Errors
    /// `invalid_body`: the text is no such list, or a member of a span is of a wrong kind.
    pub fn list_from_json(text: &str) -> Result<Vec<Span>, Error> {
        let text = clean(text, "the spans", ANY)?;
        let mut json = parse(&text, "the spans", ErrorCode::InvalidBody)?;
        if json.kind(Json::ROOT) != Kind::Array {
            let what = format!("the spans must be a list, not {}", json.kind(Json::ROOT).name());
            return Err(Error::new(ErrorCode::InvalidBody, what));
        }
        let mut spans = Vec::new();
        for (i, node) in json.elements(Json::ROOT).into_iter().enumerate() {
            let place = joined(&["spans[", &i.to_string(), "]"]);
            let mut object = Object::open(&mut json, node, &place, ErrorCode::InvalidBody);
            spans.push(span(&mut object));
            object.finish()?;
        }
        Ok(spans)
    }
}

const ANY: Taste = Taste { depth: 64, non_finite: NonFinite::Kept, bounds_integers: false };

fn span(object: &mut Object<'_, '_>) -> Span {
    let mut span = Span::default();
    for (key, text) in [("traceId", &mut span.trace_id), ("spanId", &mut span.span_id), ("name", &mut span.name)] {
        *text = object.string(key).unwrap_or_default();
    }
    for (key, text) in [
        ("parentId", &mut span.parent_id),
        ("error", &mut span.error),
        ("model", &mut span.model),
        ("inputs", &mut span.inputs),
        ("output", &mut span.output),
        ("attributes", &mut span.attributes),
        ("events", &mut span.events),
        ("experimentName", &mut span.trajectory.experiment_name),
    ] {
        *text = object.string(key);
    }
    for (key, time) in [("startUnixNano", &mut span.start_unix_nano), ("endUnixNano", &mut span.end_unix_nano)] {
        let Some(node) = object.member(key) else { continue };
        *time = object.json.string(node).and_then(|digits| unsigned(&digits));
        if time.is_none() {
            object.wrong(key, "a string of digits, nanoseconds since 1970", node);
        }
    }
    for (key, number) in [
        ("step", &mut span.trajectory.step),
        ("sampleIndex", &mut span.trajectory.sample_index),
        ("rolloutN", &mut span.trajectory.rollout_n),
    ] {
        let Some(node) = object.member(key) else { continue };
        *number = integer(object.json.raw(node));
        if number.is_none() {
            object.wrong(key, "an integer", node);
        }
    }
    span.trajectory.validate = object.boolean("validate");
    let states = [SpanStatus::Unset, SpanStatus::Ok, SpanStatus::Error];
    let names = [states[0].as_str(), states[1].as_str(), states[2].as_str()];
    span.status = states[object.choice("status", &names).unwrap_or(0)];
    span
}
