//! A loaded `tokenizer.json`, or its packed form: token ids to text.

mod between;
mod buffer;
mod build;
#[cfg(any(all(test, not(target_arch = "wasm32")), target_arch = "wasm32"))]
mod cells;
mod chain;
#[cfg(feature = "general")]
mod compat;
mod decoders;
mod fields;
#[cfg(feature = "rollouts")]
mod find;
mod flow;
#[cfg(feature = "general")]
mod general;
#[cfg(not(feature = "general"))]
#[path = "no_general.rs"]
mod general;
mod index;
mod json;
mod loader;
mod model;
mod numbers;
mod packed;
mod pieces;
mod read;
mod set;
mod sign;
mod skip;
mod sniff;
mod spec;
mod stream;
mod table;
mod usual;
mod utf8;
mod vocab;

use chain::Chain;
use flow::Flow;
use table::Table;

#[cfg(target_arch = "wasm32")]
pub(crate) use cells::Cells;
#[cfg(feature = "general")]
pub(crate) use general::{Encoded, Encoder, MOST_TEXT};
pub use loader::TokenizerLoader;
pub use pieces::Pieces;
pub use set::TokenizerSet;
pub use stream::TextStream;

use crate::json::{joined, lossy};
use crate::{Error, ErrorCode};

/// What a vocabulary may take when it is decoded: so many bytes, and four times the file.
const ROOM: usize = 64 << 20;

/// How ids become text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Leave out tokens marked `special` in the tokenizer.
    pub skip_special_tokens: bool,
}

/// How text becomes ids.
#[cfg(feature = "general")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Put the special tokens around the text that the tokenizer's post-processor adds.
    pub add_special_tokens: bool,
}

#[cfg(feature = "general")]
impl Default for EncodeOptions {
    fn default() -> EncodeOptions {
        EncodeOptions { add_special_tokens: true }
    }
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

impl LoadOptions<'_> {
    /// Whether the general engine is asked for; an error if this build has none.
    fn asks_general(&self) -> Result<bool, Error> {
        let asks = self.engine == Engine::General || self.compat != Compat::Tokenizers;
        if asks && !cfg!(feature = "general") {
            let what = "`engine: \"general\"` and the `transformers` readings need the general engine; use a build that has it";
            return Err(Error::new(ErrorCode::EngineNotAvailable, what));
        }
        Ok(asks)
    }
}

/// What the tokens of a file of so many bytes may take.
fn room(bytes: usize) -> usize {
    bytes.saturating_mul(4).saturating_add(ROOM)
}

/// Facts about a loaded tokenizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenizerInfo {
    /// Number of ids that decode to a token, added tokens included.
    pub vocab_size: usize,
    /// The declared decoder, in words: `"ByteLevel"`, `"Sequence[Replace, ByteFallback, Fuse]"`, `"none"`.
    pub decoder: String,
    /// Id and text of each token that `skip_special_tokens` leaves out, by id. The text is what the decoder is given.
    pub special_tokens: Vec<(u32, String)>,
    /// `"table"` or `"chain"`: our own; `"general"`: the `tokenizers` crate was asked for or takes part in decoding.
    pub engine: &'static str,
    /// SHA-256 of the plain tokenizer.json; only of a packed tokenizer that was packed with it.
    pub source_sha256: Option<[u8; 32]>,
}

/// A loaded tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    vocabulary: Vocabulary,
    /// Whether spaces are taken out of the whole text in the end.
    cleans_up: bool,
    /// More bytes than any token has in a text.
    longest: usize,
    info: TokenizerInfo,
    /// What encodes, or why nothing does.
    #[cfg(feature = "general")]
    encoder: Result<general::Encoder, Error>,
}

/// What decodes.
#[derive(Debug)]
enum Vocabulary {
    Table(Table),
    Chain(Chain),
}

impl Tokenizer {
    /// Reads a `tokenizer.json`, or what [`Tokenizer::to_packed`] gave.
    ///
    /// # Errors
    ///
    /// Those of [`Tokenizer::load`].
    pub fn from_json(bytes: &[u8]) -> Result<Tokenizer, Error> {
        Tokenizer::load(bytes, &LoadOptions::default())
    }

    /// Reads a `tokenizer.json`, or what [`Tokenizer::to_packed`] gave, with options.
    ///
    /// # Errors
    ///
    /// `invalid_tokenizer` if the bytes are damaged, or packed by another version of this crate;
    /// `unsupported_tokenizer` if they are a vocabulary of another kind; `compressed_input`; `limit_exceeded`;
    /// `engine_not_available` if the general engine is needed and this build has none; `invalid_options` if packed bytes
    /// are to be read in another way than they were packed.
    pub fn load(bytes: &[u8], options: &LoadOptions<'_>) -> Result<Tokenizer, Error> {
        options.asks_general()?;
        if packed::is_one(bytes) {
            return Tokenizer::load_packed(bytes.to_vec(), options);
        }
        Tokenizer::read(loader::read(bytes)?, bytes, options, room(bytes.len()))
    }

    /// Loads a packed tokenizer out of its bytes without a copy of them.
    fn load_packed(file: Vec<u8>, options: &LoadOptions<'_>) -> Result<Tokenizer, Error> {
        if options.compat != Compat::Tokenizers || options.config.is_some() {
            let what = "a packed tokenizer already holds its reading; leave out `compat` and `config`, or load its tokenizer.json";
            return Err(Error::new(ErrorCode::InvalidOptions, what));
        }
        let room = room(file.len());
        packed::read(file, options.engine, room)
    }

    /// The same as [`Tokenizer::load`] of bytes that nobody else needs; without the general engine, only of packed ones.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn load_owned(bytes: Vec<u8>, options: &LoadOptions<'_>) -> Result<Tokenizer, Error> {
        options.asks_general()?;
        if cfg!(feature = "general") && !packed::is_one(&bytes) {
            return Tokenizer::load(&bytes, options);
        }
        Tokenizer::load_packed(bytes, options)
    }

    /// What becomes of a file that was read; its bytes matter only where the options ask for the general engine.
    #[cfg_attr(not(feature = "general"), expect(unused_mut, unused_variables))]
    fn read(mut spec: spec::Spec, bytes: &[u8], options: &LoadOptions<'_>, room: usize) -> Result<Tokenizer, Error> {
        #[cfg(feature = "general")]
        let encoder = general::encoder(bytes, options, &spec);
        #[cfg(feature = "general")]
        compat::apply(&mut spec, options.compat, options.config, bytes)?;
        let tokenizer = Tokenizer::build(spec, options.engine, room)?;
        #[cfg(feature = "general")]
        let tokenizer = Tokenizer { encoder, ..tokenizer };
        Ok(tokenizer)
    }

    // What loops here is in functions of its own: V8 compiles a function once more, as a whole, when a loop in it ran for long.
    #[inline(never)]
    fn build(mut spec: spec::Spec, engine: Engine, room: usize) -> Result<Tokenizer, Error> {
        let mut contents = spec.number()?;
        let (steps, decoder) = match spec.decoder {
            Some(decoder) => (Some(decoder.steps), decoder.words),
            None => (None, "none".to_owned()),
        };
        chain::check(steps.as_deref(), contents.buffer.len(), contents.list.len(), room)?;
        let special_tokens = contents.special_tokens();
        let is_general = cfg!(feature = "general") && (engine == Engine::General || chain::has_regex(steps.as_deref()));
        let vocabulary = match steps.as_deref().and_then(|steps| Table::new(&mut contents, steps)) {
            Some(table) => Vocabulary::Table(table),
            // What is packed has no longer ones.
            None if contents.list.iter().any(|word| word.len >> 24 > 0) => {
                return Err(limit_exceeded("a token has 16 MiB or more"));
            }
            None => Vocabulary::Chain(Chain { words: contents, steps }),
        };
        Ok(Tokenizer::new(vocabulary, spec.cleans_up, decoder, special_tokens, is_general))
    }

    fn new(
        vocabulary: Vocabulary,
        cleans_up: bool,
        decoder: String,
        special_tokens: Vec<(u32, String)>,
        is_general: bool,
    ) -> Tokenizer {
        let (vocab_size, longest, own) = match &vocabulary {
            Vocabulary::Table(table) => (table.count, table.longest, "table"),
            Vocabulary::Chain(chain) => (chain.words.list.len(), chain.longest(), "chain"),
        };
        let engine = if cfg!(feature = "general") && is_general { "general" } else { own };
        let info = TokenizerInfo { vocab_size, decoder, special_tokens, engine, source_sha256: None };
        Tokenizer {
            vocabulary,
            cleans_up,
            longest,
            info,
            #[cfg(feature = "general")]
            encoder: Err(general::packed()),
        }
    }

    /// The loaded tokenizer as bytes, from which [`Tokenizer::load`] makes it again many times faster, here or in
    /// another instance. They hold what decoding needs, in the reading that it was loaded with, and nothing else of the
    /// file. docs/packed.md says what is in them. Another version of this crate may refuse them: keep the
    /// `tokenizer.json` as well.
    ///
    /// ```
    /// use token2text::{DecodeOptions, Tokenizer};
    ///
    /// let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}}"#;
    /// let packed = Tokenizer::from_json(json)?.to_packed();
    /// assert_eq!(Tokenizer::from_json(&packed)?.decode(&[1, 0], DecodeOptions::default()), "ba");
    /// # Ok::<(), token2text::Error>(())
    /// ```
    pub fn to_packed(&self) -> Vec<u8> {
        packed::write(self, self.info.source_sha256)
    }

    /// The same, with the SHA-256 of the plain `tokenizer.json` that it was loaded from, which nothing checks: a label,
    /// which [`TokenizerInfo::source_sha256`] shows when the bytes are loaded.
    pub fn to_packed_of(&self, source_sha256: [u8; 32]) -> Vec<u8> {
        packed::write(self, Some(source_sha256))
    }

    /// The text of the ids. Ids that no token has are left out, as the reference leaves them out.
    pub fn decode(&self, ids: &[u32], options: DecodeOptions) -> String {
        lossy(self.decode_bytes(ids, options))
    }

    /// Appends the bytes whose lossy UTF-8 reading is the text.
    pub fn decode_into(&self, ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        if !self.cleans_up {
            return self.decode_raw(ids, options, out);
        }
        let mut raw = Vec::new();
        self.decode_raw(ids, options, &mut raw);
        let mut text = lossy(raw);
        chain::clean_up(&mut text, 0, false);
        out.extend_from_slice(text.as_bytes());
    }

    /// The bytes whose lossy UTF-8 reading is the text of [`Tokenizer::decode`].
    pub fn decode_bytes(&self, ids: &[u32], options: DecodeOptions) -> Vec<u8> {
        let mut out = Vec::new();
        self.decode_into(ids, options, &mut out);
        out
    }

    /// The ids of a text, as Python `tokenizers` 0.23.x gives them with `encode(text, add_special_tokens).ids`: truncated
    /// and padded as the file says.
    ///
    /// Only a tokenizer that was loaded with [`Engine::General`] from a `tokenizer.json` can encode.
    ///
    /// ```
    /// use token2text::{EncodeOptions, Engine, LoadOptions, Tokenizer};
    ///
    /// let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}"#;
    /// let tokenizer = Tokenizer::load(json, &LoadOptions { engine: Engine::General, ..LoadOptions::default() })?;
    /// assert_eq!(tokenizer.encode("abb", EncodeOptions::default())?, [2, 1]);
    /// # Ok::<(), token2text::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `engine_not_available` if the tokenizer was loaded without `engine: "general"`; `unsupported_tokenizer` if it was
    /// packed, loaded with a `compat` reading, or cannot encode this text; `invalid_tokenizer` if the parts of the file
    /// that only encoding needs are damaged; `limit_exceeded` for more than 4 MiB of text, or too many ids.
    #[cfg(feature = "general")]
    pub fn encode(&self, text: &str, options: EncodeOptions) -> Result<Vec<u32>, Error> {
        self.encoder()?.encode(text, options.add_special_tokens)
    }

    /// What encodes, or why nothing does.
    #[cfg(feature = "general")]
    pub(crate) fn encoder(&self) -> Result<&Encoder, Error> {
        self.encoder.as_ref().map_err(Error::clone)
    }

    fn decode_raw(&self, ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        match &self.vocabulary {
            Vocabulary::Table(table) => table.decode_into(ids, options, out),
            Vocabulary::Chain(chain) => chain.decode_into(ids, options, out),
        }
    }

    /// Sends a token on its way to those that came before.
    fn send(&self, id: u32, options: DecodeOptions, flow: &mut Flow) {
        match &self.vocabulary {
            Vocabulary::Table(table) => table.send(id, options, flow),
            Vocabulary::Chain(chain) => chain.send(id, options, flow),
        }
    }

    /// The steps through which tokens are sent.
    fn steps(&self) -> &[chain::Step] {
        match &self.vocabulary {
            Vocabulary::Table(table) => &table.steps,
            Vocabulary::Chain(chain) => chain.steps(),
        }
    }

    /// Whether decoding the ids might take more than so many bytes: asked before memory is taken. The answer yes is
    /// exact, except for decoders that make tokens longer and for bytes that are not UTF-8.
    pub(crate) fn may_exceed(&self, ids: &[u32], most: usize) -> bool {
        ids.len().saturating_mul(self.longest) > most && self.text_bytes_bound(ids) > most
    }

    fn text_bytes_bound(&self, ids: &[u32]) -> usize {
        // Cleaning up only makes a text shorter.
        match &self.vocabulary {
            Vocabulary::Table(table) => table.text_bytes_bound(ids),
            Vocabulary::Chain(chain) => chain.text_bytes_bound(ids),
        }
    }

    /// Whether the id decodes to a token.
    pub fn contains(&self, id: u32) -> bool {
        match &self.vocabulary {
            Vocabulary::Table(table) => table.contains(id),
            Vocabulary::Chain(chain) => chain.words.get(id).is_some(),
        }
    }

    /// Whether each of some ids decodes to a token.
    pub(crate) fn contains_all(&self, ids: &[u32]) -> bool {
        match &self.vocabulary {
            Vocabulary::Table(table) => table.contains_all(ids),
            Vocabulary::Chain(_) => ids.iter().all(|&id| self.contains(id)),
        }
    }

    /// Facts about the vocabulary.
    pub fn info(&self) -> TokenizerInfo {
        self.facts().clone()
    }

    /// The same without a copy.
    pub(crate) fn facts(&self) -> &TokenizerInfo {
        &self.info
    }
}

/// An error about the file, its message in parts.
#[cold]
#[inline(never)]
fn invalid(what: &[&str]) -> Error {
    Error::new(ErrorCode::InvalidTokenizer, joined(what))
}

#[cold]
#[inline(never)]
fn limit_exceeded(what: &str) -> Error {
    Error::new(ErrorCode::LimitExceeded, what)
}

/// A text of the file as a message shows it: in quotes, on one line, and not too long.
#[cold]
#[inline(never)]
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for (count, character) in text.chars().enumerate() {
        match character {
            _ if count == 80 => {
                quoted.push_str("...");
                break;
            }
            '"' | '\\' => quoted.push('\\'),
            _ => {}
        }
        quoted.push(if character < ' ' { ' ' } else { character });
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
