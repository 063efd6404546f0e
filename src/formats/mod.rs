//! Wire formats: where in a body the spans are, and where in a span its inputs, output and attributes.

pub(crate) mod record;

use crate::json::skip_space;
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

/// The format of a body, and the rule it was told by, for the report.
pub(crate) fn detect(body: &[u8], asked: Format) -> Result<(Format, &'static str), Error> {
    if body.starts_with(&[0x1F, 0x8B]) {
        let what = "the body is gzip: decompress it first (the command line tool does so by itself)";
        return Err(Error::new(ErrorCode::CompressedInput, what));
    }
    if asked != Format::Auto {
        return Ok((asked, "asked for"));
    }
    let start = skip_space(body, record::after_byte_order_mark(body));
    match body.get(start) {
        None => Ok((Format::Record, "empty body")),
        Some(b'{' | b'[') => Ok((Format::Record, "JSON")),
        // A broken first line does not hide the whole ones after it.
        Some(_) if record::has_whole_line(body) => Ok((Format::Record, "JSON lines")),
        Some(_) if record::is_json(body) => Ok((Format::Record, "JSON")),
        Some(_) => Err(Error::new(
            ErrorCode::UnknownFormat,
            "the body is neither JSON nor JSON lines; no other format is read yet",
        )),
    }
}
