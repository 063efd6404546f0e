//! Finds token ids in LLM traces and writes the text next to them.
#![warn(missing_docs)]
#![forbid(unsafe_op_in_unsafe_fn)]

mod error;
pub mod tokenizer;

pub use error::{Error, ErrorCode};
pub use tokenizer::{Compat, DecodeOptions, Engine, LoadOptions, Tokenizer, TokenizerInfo};
