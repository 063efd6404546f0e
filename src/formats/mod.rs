//! Wire formats: where in a body the spans are, and where in a span its inputs, output and attributes.

mod record;
mod sign;
mod sse;
mod text;
mod trackio;
mod weave;

pub use sign::Origin;
pub(crate) use sign::tell;
#[cfg(target_arch = "wasm32")]
pub(crate) use sign::tell_value;

use crate::Error;
use crate::json::Json;
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Tree, View, Write};

/// A wire format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Told from the body.
    #[default]
    Auto,
    /// JSON: an object, an array of objects, or JSON lines, with `inputs`, `output` or `outputs` and `attributes`, or
    /// the fields alone.
    Record,
    /// Weave: calls to and from W&B's trace service.
    Weave,
    /// Trackio: traces in `bulk_log` and `get_traces`.
    Trackio,
    /// The transcript of an event stream (server-sent events).
    Sse,
}

impl Format {
    pub(crate) const ALL: [Format; 5] = [Format::Auto, Format::Record, Format::Weave, Format::Trackio, Format::Sse];

    /// The name in options and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Record => "record",
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
    /// Notes that all members with a key go out of an object, if [`Tree::may_drop`] says so.
    fn drop_member(&mut self, _object: NodeId, _key: &str) {}
}

/// What there is to edit in a part of a body: its document and the spans in it, or why the part is only copied.
pub(crate) type Part<'p> = Result<(&'p mut dyn Document, Vec<View>), String>;

/// Rewrites a body part by part: `edit` is given the address of each part and what is there. All bytes that no edit
/// touches are copied.
pub(crate) fn rewrite(
    body: &[u8],
    format: Format,
    limits: &Limits,
    edit: &mut dyn FnMut(&str, Part<'_>),
) -> Result<Vec<u8>, Error> {
    match format {
        Format::Auto | Format::Record | Format::Weave | Format::Trackio => {
            text::rewrite(body, limits, &mut |path, value| match value {
                Ok(document) => {
                    let views = views(document, Json::ROOT, path, format);
                    edit(path, Ok((document, views)));
                }
                Err(why) => edit(path, Err(why)),
            })
        }
        Format::Sse => sse::rewrite(body, limits, edit),
    }
}

/// The spans of a value in one of the formats that are JSON.
pub(crate) fn views(tree: &mut dyn Tree, root: NodeId, path: &str, format: Format) -> Vec<View> {
    let views = match format {
        Format::Auto | Format::Record | Format::Sse => record::views,
        Format::Weave => weave::views,
        Format::Trackio => trackio::views,
    };
    views(tree, root, path)
}

/// Follows the keys of a pointer.
fn walk(tree: &mut dyn Tree, from: NodeId, steps: &str) -> Option<NodeId> {
    let mut node = from;
    for step in steps.split('/').skip(1) {
        node = match tree.kind(node) {
            Kind::Object => tree.member(node, step)?,
            Kind::Array => tree.element(node, step.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(node)
}
