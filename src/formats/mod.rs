//! Wire formats: where in a body the spans are, and where in a span its inputs, output and attributes.

pub(crate) mod record;
mod text;

use crate::json::{Json, skip_space};
use crate::limits::Limits;
use crate::view::{NodeId, Tree, View, Write};
use crate::{Error, ErrorCode};

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
}

impl Format {
    pub(crate) const ALL: [Format; 2] = [Format::Auto, Format::Record];

    /// The name in options and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Record => "record",
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
    }
}

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
    match body.get(start) {
        None => Ok((Format::Record, "empty body")),
        Some(b'{' | b'[') => Ok((Format::Record, "JSON")),
        // A broken first line does not hide the whole ones after it.
        Some(_) if text::has_whole_line(body) => Ok((Format::Record, "JSON lines")),
        Some(_) if text::is_json(body) => Ok((Format::Record, "JSON")),
        Some(_) => Err(Error::new(
            ErrorCode::UnknownFormat,
            "the body is neither JSON nor JSON lines; no other format is read yet",
        )),
    }
}
