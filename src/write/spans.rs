//! Spans and options as JavaScript has them, read from JSON.

use crate::formats::Format;
use crate::json::{Json, Object, parse};
use crate::span::{Span, SpanStatus};
use crate::view::{Kind, Tree};
use crate::{Error, ErrorCode};

use super::WriteOptions;
use super::clean::{NonFinite, Taste, clean};

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
            let place = ["spans[", &i.to_string(), "]"].concat();
            let mut object = Object::open(&mut json, node, &place, ErrorCode::InvalidBody);
            spans.push(span(&mut object));
            object.finish()?;
        }
        Ok(spans)
    }
}

const ANY: Taste = Taste { depth: 64, non_finite: NonFinite::Kept, bounds_integers: false };

fn span(object: &mut Object<'_, '_>) -> Span {
    let mut span = Span {
        trace_id: object.string("traceId").unwrap_or_default(),
        span_id: object.string("spanId").unwrap_or_default(),
        parent_id: object.string("parentId"),
        name: object.string("name").unwrap_or_default(),
        start_unix_nano: whole(object, "startUnixNano", TIME),
        end_unix_nano: whole(object, "endUnixNano", TIME),
        error: object.string("error"),
        model: object.string("model"),
        inputs: object.string("inputs"),
        output: object.string("output"),
        attributes: object.string("attributes"),
        events: object.string("events"),
        ..Span::default()
    };
    let states = [SpanStatus::Unset, SpanStatus::Ok, SpanStatus::Error];
    let status = object.choice("status", &states.map(SpanStatus::as_str)).unwrap_or(0);
    span.status = states[status];
    span.trajectory.step = whole(object, "step", INTEGER);
    span.trajectory.sample_index = whole(object, "sampleIndex", INTEGER);
    span.trajectory.rollout_n = whole(object, "rolloutN", INTEGER);
    span.trajectory.validate = object.boolean("validate");
    span.trajectory.experiment_name = object.string("experimentName");
    span
}

const TIME: (Kind, &str) = (Kind::String, "a string of digits, nanoseconds since 1970");
const INTEGER: (Kind, &str) = (Kind::Number, "an integer");

/// A whole number, written as such or in a string.
fn whole<T: std::str::FromStr>(object: &mut Object<'_, '_>, key: &str, (kind, needed): (Kind, &str)) -> Option<T> {
    let node = object.member(key)?;
    let is_kind = object.json.kind(node) == kind;
    let text = if kind == Kind::String {
        object.json.str(node)
    } else {
        String::from_utf8(object.json.raw(node).to_vec()).ok()
    };
    let number = text.filter(|_| is_kind).and_then(|text| text.parse().ok());
    if number.is_none() {
        object.wrong(key, needed, node);
    }
    number
}
