//! A body with spans in, the spans as plain data out: what exporters, viewers and checks work with.

mod body_reader;
#[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
mod places;

use crate::formats::facts::{fill, is_half, is_in_trace, join, json, tell};
use crate::formats::{Detected, Format, Lines, Origin, Part, detect, rewrite};
use crate::json::lossy;
use crate::layouts::{Existing, Found, Layout, Target, Wanted, resolve};
use crate::limits::Limits;
use crate::span::{Span, SpanField, Trajectory};
use crate::view::{Names, NodeId, Tree, View};
use crate::{Error, ErrorCode};

pub use body_reader::BodyReader;

/// How a body is read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The wire format.
    pub format: Format,
    /// The layouts that find the fields of token ids, in the order in which they are tried.
    pub layouts: Vec<Layout>,
    /// Bounds on one call.
    pub limits: Limits,
    /// What MLflow's server says of traces, in any of its answers with `trace_info`s: their tags are the trajectories of
    /// spans whose body has none.
    pub trace_infos: Option<Vec<u8>>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { format: Format::Auto, layouts: Layout::builtin(), limits: Limits::default(), trace_infos: None }
    }
}

/// Reads the spans of a body. It needs no tokenizer.
///
/// The halves of a Weave call that are both in the body are one span; so is an event stream. A trace of Trackio is a span,
/// with those in it below. What MLflow's server tells of a trace is a span without an id if it has previews of the inputs
/// or the output; in any case its tags are the trajectory of the trace's spans. A record that holds ids
/// and no output, or all of them beside it, is the output itself. Of JSON lines a broken one is left out. A field whose ids
/// cannot be read is left out too: the report of an enrichment says why.
///
/// # Errors
/// As [`crate::enrich`], but for the size of an output.
///
/// # Example
/// ```
/// use token2text::{ReadOptions, read};
///
/// let body = br#"{"id": "a1", "inputs": {"prompt_ids": [9707]}, "outputs": {"token_ids": [4337, 0]}}"#;
/// let spans = read(body, &ReadOptions::default())?;
/// assert_eq!(spans[0].span_id, "a1");
/// assert_eq!(spans[0].output.as_deref(), Some(r#"{"token_ids": [4337, 0]}"#));
/// assert_eq!(spans[0].fields[1].ids, [4337, 0]);
/// # Ok::<(), token2text::Error>(())
/// ```
pub fn read(body: &[u8], options: &ReadOptions) -> Result<Vec<Span>, Error> {
    read_from(body, &Origin::default(), options)
}

/// As [`read`], for a body of which is known where it comes from.
///
/// # Errors
/// As [`read`].
pub fn read_from(body: &[u8], origin: &Origin<'_>, options: &ReadOptions) -> Result<Vec<Span>, Error> {
    read_all(body, origin, options).map(|reading| reading.spans)
}

/// The spans of a body, and what of it could not be read.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Reading {
    /// The spans.
    pub spans: Vec<Span>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

/// Something of a body that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Position of the span whose field it is; none for a line of JSON lines.
    pub span: Option<usize>,
    /// Address of the field or the line.
    pub path: String,
    /// Why it was left out: a stable code, as in the report of an enrichment.
    pub reason: &'static str,
    /// What was wrong, for a person.
    pub detail: String,
}

/// As [`read_from`], with what could not be read.
///
/// # Errors
/// As [`read`].
pub fn read_all(body: &[u8], origin: &Origin<'_>, options: &ReadOptions) -> Result<Reading, Error> {
    let mut reader = Reader::default();
    reader.body(body, origin, options)?;
    reader.finish(options)
}

/// What was read of a body.
#[derive(Default)]
struct Reader {
    spans: Vec<Span>,
    /// The half of a call that came first, by the call's id.
    halves: Names,
    told: Told,
    skipped: Vec<Skipped>,
    /// Whether lists that a span's fields hold are left out of its texts.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    omits: bool,
    /// Where the lists of the last span's fields stand.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    nodes: Vec<places::Nodes>,
}

/// The trajectories of traces, as far as the body tells of traces.
#[derive(Default)]
struct Told {
    by_trace: Names,
    trajectories: Vec<Trajectory>,
}

impl Told {
    fn add(&mut self, trace_id: &str, trajectory: &Trajectory) {
        let new = self.trajectories.len() as NodeId;
        match self.by_trace.insert(trace_id, new) {
            Some(known) => fill(&mut self.trajectories[known as usize], trajectory),
            None => self.trajectories.push(trajectory.clone()),
        }
    }

    fn of(&self, trace_id: &str) -> Option<&Trajectory> {
        self.trajectories.get(self.by_trace.get(trace_id)? as usize)
    }
}

/// Whether an address is in the inputs, the output, the attributes or the events of a span.
fn is_in_place(view: &View, path: &str) -> bool {
    for (_, place) in &view.places {
        if let Some(rest) = path.strip_prefix(place.path.as_str())
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return true;
        }
    }
    false
}

impl Reader {
    /// Reads a body as a whole.
    fn body(&mut self, body: &[u8], origin: &Origin<'_>, options: &ReadOptions) -> Result<(), Error> {
        options.limits.check(body)?;
        let mut detected = detect(body, options.format, origin)?;
        rewrite(body, &mut detected, &options.limits, None, &mut |path, format, part| {
            self.part(path, format, part, options);
        })?;
        Ok(())
    }

    /// Reads a part of a body.
    fn part(&mut self, path: &str, format: Format, part: Part<'_>, options: &ReadOptions) {
        if let Err(why) = &part {
            let reason = ErrorCode::InvalidBody.as_str();
            self.skipped.push(Skipped { span: None, path: path.to_owned(), reason, detail: why.clone() });
        }
        self.spans_of(format, part, options, true);
    }

    /// Reads the next of JSON lines.
    fn line(&mut self, lines: &mut Lines, line: &[u8], options: &ReadOptions) {
        lines.line(line, &options.limits, &mut |path, format, part| self.part(path, format, part, options));
    }

    /// Spans that stay what they are: a half of a call may still get its other half.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    fn settled(&mut self) -> &mut [Span] {
        if self.halves.is_empty() { &mut self.spans } else { &mut [] }
    }

    /// What the whole body says, once all of it was read.
    fn finish(mut self, options: &ReadOptions) -> Result<Reading, Error> {
        if let Some(infos) = &options.trace_infos {
            options.limits.check(infos)?;
            let mut detected = Detected { format: Format::Mlflow, rule: "asked for", other: None };
            rewrite(infos, &mut detected, &options.limits, None, &mut |_, format, part| {
                self.spans_of(format, part, options, false);
            })?;
        }
        let Reader { mut spans, told, skipped, .. } = self;
        for span in &mut spans {
            if let Some(trajectory) = told.of(&span.trace_id) {
                fill(&mut span.trajectory, trajectory);
            }
        }
        Ok(Reading { spans, skipped })
    }

    /// Reads the spans of a part of a body; only what is told of traces, if they are not wanted.
    fn spans_of(&mut self, format: Format, part: Part<'_>, options: &ReadOptions, with_spans: bool) {
        let Ok((document, views)) = part else { return };
        let mut trace = None;
        for view in views {
            if !with_spans && !view.is_trace {
                continue;
            }
            let of_trace = trace.and_then(|trace: usize| self.spans.get(trace));
            let mut span = tell(document, &view, format, of_trace);
            if view.is_trace && !span.trace_id.is_empty() {
                self.told.add(&span.trace_id, &span.trajectory);
            }
            if !with_spans || view.is_trace && view.places.is_empty() {
                continue;
            }
            span.fields = self.fields(document, &view, options);
            // A record all of whose ids are beside its inputs and its output is the output.
            if matches!(format, Format::Auto | Format::Record)
                && view.bare.is_some()
                && !span.fields.is_empty()
                && (span.output.is_none() || !span.fields.iter().any(|field| is_in_place(&view, &field.path)))
            {
                span.output = Some(json(document, view.node));
            }
            #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
            if self.omits && !is_half(&view, format) {
                span.omit(places::of_lists(document, &view, &span, &self.nodes));
            }
            if !is_in_trace(&view, format) {
                trace = Some(self.spans.len());
            }
            self.add(span, is_half(&view, format));
        }
    }

    /// Takes in a span; a half of a call joins the other, if that is there.
    fn add(&mut self, span: Span, is_half: bool) {
        if is_half && !span.span_id.is_empty() {
            let other = self.halves.insert(&span.span_id, self.spans.len() as NodeId);
            if let Some((at, whole)) = other.and_then(|at| Some((at as usize, self.spans.get_mut(at as usize)?))) {
                join(whole, span);
                let new = self.spans.len();
                for skipped in self.skipped.iter_mut().rev().take_while(|skipped| skipped.span == Some(new)) {
                    skipped.span = Some(at);
                }
                return;
            }
        }
        self.spans.push(span);
    }

    fn fields(&mut self, tree: &mut dyn Tree, view: &View, options: &ReadOptions) -> Vec<SpanField> {
        let mut fields = Vec::new();
        #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
        self.nodes.clear();
        for Found { report, target, .. } in resolve(tree, view, &options.layouts, &options.limits, Wanted::lists()) {
            let Some(target) = target else {
                let reason = report.reason.unwrap_or_default();
                let detail = report.detail.unwrap_or_default();
                self.skipped.push(Skipped { span: Some(self.spans.len()), path: report.path, reason, detail });
                continue;
            };
            #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
            self.nodes.push(target.nodes);
            let Target { ids, existing, segments, lists: [mask, logprobs], .. } = target;
            let existing = match existing {
                Existing::Text { texts, .. } => Some(texts.into_iter().map(lossy).collect()),
                _ => None,
            };
            fields.push(SpanField {
                kind: report.kind,
                layout: report.layout,
                path: report.path,
                text_path: report.text_path,
                index: report.index,
                ids: ids.ids,
                rows: ids.rows,
                segments,
                mask: mask.map(lossy),
                logprobs: logprobs.map(lossy),
                existing,
            });
        }
        fields
    }
}
