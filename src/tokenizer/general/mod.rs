//! The parts of a tokenizer that need the `tokenizers` crate: regular expressions in a decoder, the normalizer of added
//! tokens, and encoding. The only folder that names `tokenizers` and `serde_json`.
//!
//! The crate panics on some damaged files, and in wasm a panic ends the instance, so what could reach those places is
//! checked here first.

mod encode;
mod finish;
mod normalize;
mod parts;

use tokenizers::Decoder;
use tokenizers::normalizers::Replace;
use tokenizers::normalizers::replace::ReplacePattern;

pub(crate) use encode::{Encoded, Encoder, MOST_TEXT};
pub(super) use encode::{encoder, packed};
pub(super) use normalize::normalize;

use super::{limit_exceeded, quoted};
use crate::{Error, ErrorCode};

/// A `Replace` step whose pattern is a regular expression.
#[derive(Debug)]
pub(super) struct RegexReplace {
    replace: Replace,
    pattern: String,
    content: String,
}

impl RegexReplace {
    pub fn new(pattern: &str, content: &str) -> Result<RegexReplace, Error> {
        let replace = Replace::new(ReplacePattern::Regex(pattern.into()), content);
        match replace {
            Ok(replace) => Ok(RegexReplace { replace, pattern: pattern.to_owned(), content: content.to_owned() }),
            Err(error) => {
                Err(invalid(format!("decoder: the pattern {} is no regular expression: {error}", quoted(pattern))))
            }
        }
    }

    /// What it is made of: the pattern, and what stands for each match.
    pub fn parts(&self) -> (&str, &str) {
        (&self.pattern, &self.content)
    }

    /// Appends the token with its matches replaced.
    pub fn replace(&self, token: &str, out: &mut String) {
        match self.replace.decode_chain(vec![token.to_owned()]) {
            Ok(pieces) => pieces.iter().for_each(|piece| out.push_str(piece)),
            // The crate stops at a match that fails and never returns an error here.
            Err(_) => out.push_str(token),
        }
    }
}

fn invalid(what: String) -> Error {
    Error::new(ErrorCode::InvalidTokenizer, what)
}

fn unsupported(what: impl Into<String>) -> Error {
    Error::new(ErrorCode::UnsupportedTokenizer, what)
}
