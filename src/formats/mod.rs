//! Wire formats: where in a body the spans are, and where in a span its inputs, output and attributes.

mod otlp_proto;
pub(crate) mod record;
mod span;
mod tell;
mod text;
mod typed;

use crate::Error;
use crate::json::Json;
use crate::limits::Limits;
use crate::view::{NodeId, Tree, View, Write};

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
    /// A trace request of OTLP as JSON, or one a line.
    OtlpJson,
    /// A trace request of OTLP as protocol buffers.
    OtlpProto,
    /// Spans as MLflow's client stores and its server gives them, and what the server says of traces.
    Mlflow,
}

impl Format {
    pub(crate) const ALL: [Format; 5] =
        [Format::Auto, Format::Record, Format::OtlpJson, Format::OtlpProto, Format::Mlflow];

    /// The name in options and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Record => "record",
            Format::OtlpJson => "otlp-json",
            Format::OtlpProto => "otlp-proto",
            Format::Mlflow => "mlflow",
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
    format: Format,
    limits: &Limits,
    edit: &mut dyn FnMut(&str, Part<'_>),
) -> Result<Vec<u8>, Error> {
    match format {
        Format::Auto | Format::Record => text::rewrite(body, limits, &mut |path, value| match value {
            Ok(document) => {
                let views = record::views(document, Json::ROOT, path);
                edit(path, Ok((document, views)));
            }
            Err(why) => edit(path, Err(why)),
        }),
        Format::OtlpJson => typed::rewrite(body, limits, true, edit),
        Format::Mlflow => typed::rewrite(body, limits, false, edit),
        Format::OtlpProto => otlp_proto::rewrite(body, limits, edit),
    }
}

pub(crate) use tell::detect;
