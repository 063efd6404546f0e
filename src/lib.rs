//! Finds token ids in LLM traces and writes the text next to them.
//!
//! Researchers who train agents log rollouts as token ids. [`enrich`] finds them in a body by [`Layout`]s, decodes them
//! with a [`Tokenizer`], and writes the text beside them; every other byte stays as it was, and the [`Report`] says what
//! became of each field. [`strip`] takes the texts out again.
//!
//! ```
//! use token2text::{EnrichOptions, Tokenizer, TokenizerSet, enrich};
//!
//! let json = br#"{
//!     "added_tokens": [], "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true },
//!     "model": { "type": "BPE", "vocab": { "Hello": 0, "\u0120world": 1 }, "merges": [] }
//! }"#;
//! let tokenizer = Tokenizer::from_json(json)?;
//! let body = br#"{"outputs": {"token_ids": [0, 1], "stop_reason": "completed"}}"#;
//! let enriched = enrich(body, &TokenizerSet::from(tokenizer), &EnrichOptions::default())?;
//! assert_eq!(
//!     String::from_utf8_lossy(&enriched.body),
//!     r#"{"outputs": {"response_text": "Hello world", "token_ids": [0, 1], "stop_reason": "completed"}}"#
//! );
//! # Ok::<(), token2text::Error>(())
//! ```
//!
//! | feature | what it adds |
//! |---|---|
//! | `general` (default) | the `tokenizers` crate behind regular expressions in decoders and normalized added tokens, `Tokenizer::encode`, `rollout::drift`, and the `transformers` readings |
//! | `rollouts` (in `general`) | [`rollout`]: what the ids of a rollout's calls say together |
//! | `reader`, `spans` | `rollouts`, and that the WebAssembly module exports the rollouts of a body, or `read` and `write`; native builds have them anyway |
//!
//! Without it a file that needs one of these is refused with [`ErrorCode::EngineNotAvailable`].
#![warn(missing_docs)]
#![forbid(unsafe_op_in_unsafe_fn)]

mod base64;
mod enrich;
mod error;
mod formats;
mod ids;
mod json;
mod layouts;
mod limits;
mod options;
mod read;
mod report;
#[cfg(feature = "rollouts")]
pub mod rollout;
mod span;
pub mod tokenizer;
mod view;
mod write;

pub use enrich::{EnrichOptions, Enriched, Existing, enrich, enrich_from, strip, strip_from};
pub use error::{Error, ErrorCode};
pub use formats::{Format, Origin};
pub use layouts::Layout;
pub use limits::Limits;
pub use read::{BodyReader, ReadOptions, Reading, Skipped, read, read_all, read_from};
#[cfg(feature = "rollouts")]
pub use report::MessagesReport;
pub use report::{Comparison, Counts, FieldKind, FieldReport, Report, SelectReport, Status, Totals, Unknown, Warning};
pub use span::{Span, SpanField, SpanStatus, Trajectory};
#[cfg(feature = "general")]
pub use tokenizer::EncodeOptions;
pub use tokenizer::{
    Compat, DecodeOptions, Engine, LoadOptions, Pieces, TextStream, Tokenizer, TokenizerInfo, TokenizerLoader,
    TokenizerSet,
};
pub use write::{WriteOptions, write};

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub mod wasm;
