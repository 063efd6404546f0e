//! Wire formats: where in a body the spans are, and where in a span its inputs, output and attributes.

mod detect;
mod otlp_proto;
mod record;
mod span;
mod sse;
mod text;
mod trackio;
mod typed;
mod weave;

pub use detect::Origin;
#[cfg(target_arch = "wasm32")]
pub(crate) use detect::detect_value;
pub(crate) use detect::{Detected, detect};
pub(crate) use span::MODELS;

use crate::Error;
use crate::json::{Json, string_content};
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Place, Tree, View, Write};

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

/// Rewrites a body part by part: `edit` is given the address of each part and what is there. All bytes that no edit
/// touches are copied.
pub(crate) fn rewrite(
    body: &[u8],
    detected: &mut Detected,
    limits: &Limits,
    edit: &mut dyn FnMut(&str, Part<'_>),
) -> Result<Vec<u8>, Error> {
    match detected.format {
        Format::Sse => sse::rewrite(body, limits, edit),
        Format::OtlpProto => otlp_proto::rewrite(body, limits, edit),
        _ => text::rewrite(body, limits, &mut |path, value| match value {
            Ok(document) => {
                detected.settle(document, path);
                match detected.format {
                    Format::OtlpJson => typed::edit(document, path, true, edit),
                    Format::Mlflow => typed::edit(document, path, false, edit),
                    format => {
                        let views = views(document, Json::ROOT, path, format);
                        edit(path, Ok((document, views)));
                    }
                }
            }
            Err(why) => edit(path, Err(why)),
        }),
    }
}

/// The spans of a value in one of the formats that are plain JSON.
pub(crate) fn views(tree: &mut dyn Tree, root: NodeId, path: &str, format: Format) -> Vec<View> {
    let place = Place { node: root, path: path.to_owned() };
    match format {
        Format::Weave => weave::views(tree, place),
        Format::Trackio => trackio::views(tree, place),
        _ => record::views(tree, root, path),
    }
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
    let content = string_content(&tree.json(node))?.into_owned();
    String::from_utf8(content).ok()
}
