//! Finds token ids in LLM traces and writes the text next to them.
#![warn(missing_docs)]
#![forbid(unsafe_op_in_unsafe_fn)]

mod enrich;
mod error;
mod formats;
mod ids;
mod json;
mod layouts;
mod limits;
mod options;
mod report;
pub mod tokenizer;
mod view;

pub use enrich::{EnrichOptions, Enriched, Existing, enrich, strip};
pub use error::{Error, ErrorCode};
pub use formats::Format;
pub use layouts::Layout;
pub use limits::Limits;
pub use report::{Comparison, Counts, FieldKind, FieldReport, Report, SelectReport, Status, Totals, Unknown, Warning};
pub use tokenizer::{Compat, DecodeOptions, Engine, LoadOptions, Tokenizer, TokenizerInfo, TokenizerSet};

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod wasm;
