//! Wire formats: where in a body the spans are, and where in a span its inputs, output and attributes.

mod detect;
mod dotted;
pub(crate) mod facts;
mod otlp_proto;
mod record;
pub(crate) mod span;
mod sse;
mod text;
mod trackio;
pub(crate) mod typed;
mod weave;

pub use detect::Origin;
pub(crate) use detect::{Detected, detect};
pub(crate) use span::MODELS;
#[cfg(feature = "rollouts")]
pub(crate) use span::is_of_mlflow;

use std::borrow::Cow;

use crate::json::{Json, string_content};
use crate::limits::{Limits, MOST_SPANS};
use crate::view::{KeySet, Kind, NodeId, Place, Tree, View, Write};
use crate::{Error, ErrorCode};

/// A wire format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Detected from the body.
    #[default]
    Auto,
    /// JSON: an object, an array of objects, or JSON lines, with `inputs`, `output` or `outputs` and `attributes`, or
    /// the fields alone.
    Record,
    /// A trace request of OTLP as JSON, or one a line.
    OtlpJson,
    /// A trace request of OTLP as protocol buffers.
    OtlpProto,
    /// Spans as MLflow's client stores and its server gives them, and what the server says of traces.
    Mlflow,
    /// Weave: calls to and from W&B's trace service.
    Weave,
    /// Trackio: traces in `bulk_log` and `get_traces`.
    Trackio,
    /// The transcript of an event stream (server-sent events).
    Sse,
}

impl Format {
    pub(crate) const ALL: [Format; 8] = [
        Format::Auto,
        Format::Record,
        Format::OtlpJson,
        Format::OtlpProto,
        Format::Mlflow,
        Format::Weave,
        Format::Trackio,
        Format::Sse,
    ];

    /// The name in options and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Record => "record",
            Format::OtlpJson => "otlp-json",
            Format::OtlpProto => "otlp-proto",
            Format::Mlflow => "mlflow",
            Format::Weave => "weave",
            Format::Trackio => "trackio",
            Format::Sse => "sse",
        }
    }
}

/// A body, or the part of one that is rewritten at once: a tree of values into which texts are written.
pub(crate) trait Document: Tree {
    /// Notes a text to be written.
    fn write(&mut self, write: &Write);
    /// Notes members to be taken out of an object: each key with the key of the member that [`Document::write`] would
    /// have put it before (none: it would be the first). Only those that stand just there go.
    fn take_out(&mut self, object: NodeId, members: Vec<(String, Option<String>)>);
}

/// What there is to edit in a part of a body: its document and the spans in it, or why the part is only copied.
pub(crate) type Part<'p> = Result<(&'p mut dyn Document, Vec<View>), String>;

/// Rewrites a body part by part: `edit` is given the address of each part, its format, and what is there. All bytes that
/// no edit touches are copied; without any edit the body itself comes back. Where a span must have one of some `keys` to be
/// of interest, of others no more is told than that they are there ([`View::has_none`]).
pub(crate) fn rewrite<'b>(
    body: &'b [u8],
    detected: &mut Detected,
    limits: &Limits,
    keys: Option<&KeySet>,
    edit: &mut dyn FnMut(&str, Format, Part<'_>),
) -> Result<Cow<'b, [u8]>, Error> {
    let mut refusal = None;
    let edit: &mut dyn FnMut(&str, Format, Part<'_>) =
        &mut |path, format, part| refusal = bounded(path, format, part, edit).or(refusal.take());
    let out = match detected.format {
        Format::Sse => sse::rewrite(body, limits, &mut |path, part| edit(path, Format::Sse, part)),
        Format::OtlpProto => {
            otlp_proto::rewrite(body, limits, keys, &mut |path, part| edit(path, Format::OtlpProto, part))
        }
        _ => text::rewrite(body, limits, &mut |path, value| edit_value(path, value, detected, keys, edit)),
    };
    refusal.map_or(out, Err)
}

/// Edits a part that has not too many spans. If it has: why the body is refused.
#[inline(always)]
fn bounded(path: &str, format: Format, part: Part<'_>, edit: &mut dyn FnMut(&str, Format, Part<'_>)) -> Option<Error> {
    match part {
        Ok((document, views)) => match too_many(&views) {
            None => edit(path, format, Ok((document, views))),
            Some(error) if path.is_empty() => return Some(error),
            // Of JSON lines one is no reason to refuse the others.
            Some(_) => edit(path, format, Err(format!("the line has more than {MOST_SPANS} spans and was copied"))),
        },
        Err(why) => edit(path, format, Err(why)),
    }
    None
}

/// Edits a JSON value of a body, or a line of it. Put into its caller it is smaller, as in [`bounded`].
#[inline(always)]
fn edit_value(
    path: &str,
    value: Result<&mut text::JsonDocument<'_>, String>,
    detected: &mut Detected,
    keys: Option<&KeySet>,
    edit: &mut dyn FnMut(&str, Format, Part<'_>),
) {
    let document = match value {
        Ok(document) => document,
        Err(why) => return edit(path, detected.format, Err(why)),
    };
    detected.settle(document, path);
    let format = detected.format;
    if matches!(format, Format::OtlpJson | Format::Mlflow) {
        let edit = &mut |path: &str, part: Part<'_>| edit(path, format, part);
        return typed::edit(document, path, format == Format::OtlpJson, keys, edit);
    }
    let views = views(document, Json::ROOT, path, format, keys);
    edit(path, format, Ok((document, views)));
}

/// What a body is, as its beginning tells.
pub(crate) enum Beginning {
    /// More of it is needed to say so.
    Short,
    /// JSON lines, which can be read one by one.
    Lines(Lines),
    /// Anything that is read as a whole.
    Whole,
}

impl Beginning {
    pub(crate) fn of(beginning: &[u8], asked: Format, origin: &Origin<'_>) -> Result<Beginning, Error> {
        Ok(match text::are_lines(beginning) {
            None => Beginning::Short,
            Some(false) => Beginning::Whole,
            Some(true) => match detect(beginning, asked, origin)? {
                Detected { format: Format::Sse | Format::OtlpProto, .. } => Beginning::Whole,
                detected => Beginning::Lines(Lines { detected, lines: text::Lines::default() }),
            },
        })
    }
}

/// JSON lines, one by one.
pub(crate) struct Lines {
    detected: Detected,
    lines: text::Lines,
}

impl Lines {
    /// Takes the next line: `read` is told what [`rewrite`] tells of it.
    pub(crate) fn line(&mut self, line: &[u8], limits: &Limits, read: &mut dyn FnMut(&str, Format, Part<'_>)) {
        let Lines { detected, lines } = self;
        let read: &mut dyn FnMut(&str, Format, Part<'_>) = &mut |path, format, part| {
            // A line has an address, so that it refuses no body.
            let _ = bounded(path, format, part, read);
        };
        lines.line(line, limits, &mut |path, value| edit_value(path, value, detected, None, read), |_, _| {});
    }
}

/// Whether there is room for one more span; for one more than a body may have, so that it is seen.
fn has_room(views: &[View]) -> bool {
    views.len() <= MOST_SPANS
}

/// The error for a body with too many spans.
pub(crate) fn too_many(views: &[View]) -> Option<Error> {
    let what = || format!("the body has more than {MOST_SPANS} spans; send them in several bodies");
    (views.len() > MOST_SPANS).then(|| Error::new(ErrorCode::LimitExceeded, what()))
}

/// The spans of a value in one of the formats that are JSON. Those of OTLP and MLflow are in a tree that shows them so.
pub(crate) fn views(tree: &mut dyn Tree, root: NodeId, path: &str, format: Format, keys: Option<&KeySet>) -> Vec<View> {
    let place = Place { node: root, path: path.to_owned() };
    match format {
        Format::Weave => weave::views(tree, place),
        Format::Trackio => trackio::views(tree, place),
        #[cfg(target_arch = "wasm32")]
        Format::OtlpJson | Format::Mlflow => span::views(tree, root, path, keys),
        _ => record::views(tree, root, path, keys),
    }
}

/// Whether a span has none of some keys, in its strings neither (`in_strings`: in any of them), and nothing that is
/// flattened over keys of its attributes. `sources`: attributes with the inputs or the output, as [`dotted::is_flattened`]
/// takes them.
fn has_none(
    tree: &mut dyn Tree,
    span: NodeId,
    keys: Option<&KeySet>,
    in_strings: bool,
    sources: &[(&str, &'static str)],
) -> bool {
    if keys.is_none_or(|keys| tree.may_have(span, keys, in_strings)) {
        return false;
    }
    let attributes = tree.member(span, "attributes");
    attributes.is_none_or(|attributes| !dotted::is_flattened(tree, attributes, sources))
}

/// Shows layouts what stands somewhere in a span; the model may be named there as `model`.
fn add_place(tree: &mut dyn Tree, view: &mut View, from: &Place, steps: &str, name: &'static str) {
    if let Some(place) = from.find(tree, steps) {
        if view.model.is_none() {
            view.model = string_member(tree, place.node, "model");
        }
        view.places.push((name, place));
    }
}

/// The text of a member.
fn string_member(tree: &mut dyn Tree, object: NodeId, key: &str) -> Option<String> {
    if tree.kind(object) != Kind::Object {
        return None;
    }
    let node = tree.member(object, key)?;
    string_at(tree, node)
}

/// The text of a string.
fn string_at(tree: &mut dyn Tree, node: NodeId) -> Option<String> {
    let content = string_content(&tree.json(node))?.into_owned();
    String::from_utf8(content).ok()
}
