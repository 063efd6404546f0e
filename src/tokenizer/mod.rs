//! A loaded `tokenizer.json`: token ids to text.

mod set;

use crate::Error;

pub use set::TokenizerSet;

/// How ids become text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Leave out tokens marked `special` in the tokenizer.
    pub skip_special_tokens: bool,
}

/// Whose reading of the tokenizer files is followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compat {
    /// Python `tokenizers` 0.23.x reading `tokenizer.json` as it is.
    #[default]
    Tokenizers,
    /// `transformers` 4.57 with `tokenizer_config.json`.
    Transformers4,
    /// `transformers` 5 with `tokenizer_config.json`.
    Transformers5,
}

/// Which engine decodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// Our own tables and decoder chain; the `tokenizers` crate only where a file needs it.
    #[default]
    Auto,
    /// Require a build with the general engine, also if the file does not need it.
    General,
}

/// How a tokenizer is loaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    /// Whose reading is followed.
    pub compat: Compat,
    /// The bytes of `tokenizer_config.json`, for the `transformers` readings.
    pub config: Option<&'a [u8]>,
    /// Which engine decodes.
    pub engine: Engine,
}

/// Facts about a loaded tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizerInfo {
    /// Number of ids that decode to a token.
    pub vocab_size: usize,
    /// The declared decoder, in words: `"ByteLevel"`, `"Sequence[Replace, ByteFallback, Fuse]"`, `"none"`.
    pub decoder: String,
    /// Id and content of each special token, by id.
    pub special_tokens: Vec<(u32, String)>,
    /// `"table"`, `"chain"` or `"general"`.
    pub engine: &'static str,
}

/// A loaded tokenizer.
#[derive(Debug)]
pub struct Tokenizer {}

impl Tokenizer {
    /// Reads a `tokenizer.json`.
    pub fn from_json(bytes: &[u8]) -> Result<Tokenizer, Error> {
        Tokenizer::load(bytes, &LoadOptions::default())
    }
    /// Reads a `tokenizer.json` with options.
    pub fn load(_bytes: &[u8], _options: &LoadOptions<'_>) -> Result<Tokenizer, Error> {
        todo!()
    }
    /// The text of the ids.
    pub fn decode(&self, _ids: &[u32], _options: DecodeOptions) -> String {
        todo!()
    }
    /// Appends the bytes whose lossy UTF-8 reading is the text.
    pub fn decode_into(&self, _ids: &[u32], _options: DecodeOptions, _out: &mut Vec<u8>) {
        todo!()
    }
    /// The bytes whose lossy UTF-8 reading is the text of [`Tokenizer::decode`].
    pub fn decode_bytes(&self, _ids: &[u32], _options: DecodeOptions) -> Vec<u8> {
        todo!()
    }
    /// Whether the id decodes to a token.
    pub fn contains(&self, _id: u32) -> bool {
        todo!()
    }
    /// Facts about the vocabulary.
    pub fn info(&self) -> TokenizerInfo {
        todo!()
    }
}
