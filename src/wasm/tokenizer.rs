//! `TokenizerCore`: the tokenizer behind the JavaScript class `Tokenizer`.

use std::cell::RefCell;
use std::sync::Arc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::{to_js, to_js_error};
use crate::Error;
#[cfg(feature = "general")]
use crate::ErrorCode;
#[cfg(feature = "general")]
use crate::json::{Json, Object, parse};
use crate::report::Value;
use crate::tokenizer::{Cells, DecodeOptions, Engine, LoadOptions, Tokenizer, TokenizerLoader};
#[cfg(feature = "general")]
use crate::tokenizer::{Compat, EncodeOptions};

/// A loaded tokenizer, and buffers through which ids come in and texts go out without a copy at the boundary.
#[wasm_bindgen]
pub struct TokenizerCore {
    pub(super) tokenizer: Arc<Tokenizer>,
    buffers: RefCell<Buffers>,
}

#[derive(Default)]
struct Buffers {
    /// Two words for the result, then the ids.
    words: Vec<u32>,
    bytes: Vec<u8>,
    cells: Cells,
}

impl TokenizerCore {
    fn of(tokenizer: Tokenizer) -> TokenizerCore {
        TokenizerCore { tokenizer: Arc::new(tokenizer), buffers: RefCell::default() }
    }
}

/// Loads a tokenizer whose file comes in chunks.
#[wasm_bindgen]
pub struct LoaderCore(RefCell<Option<TokenizerLoader<'static>>>);

#[wasm_bindgen]
impl LoaderCore {
    /// A loader of a file for the module's own engine, or of a packed one. `bytes`: how long it will be, or 0.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: usize) -> LoaderCore {
        let mut loader = TokenizerLoader::new(LoadOptions::default()).ok();
        loader.iter_mut().for_each(|loader| loader.expect(bytes));
        LoaderCore(RefCell::new(loader))
    }

    /// Adds the next bytes. They are copied: pieces of a few ten thousand are best.
    pub fn push(&self, bytes: &[u8]) -> Result<(), JsValue> {
        self.0.borrow_mut().as_mut().map_or(Ok(()), |loader| loader.push(bytes)).map_err(to_js_error)
    }

    /// The tokenizer, at the end of the file. The loader is used up.
    pub fn finish(&self) -> Result<Option<TokenizerCore>, JsValue> {
        let loader = self.0.borrow_mut().take();
        loader.map(TokenizerLoader::finish).transpose().map(|made| made.map(TokenizerCore::of)).map_err(to_js_error)
    }
}

#[wasm_bindgen]
impl TokenizerCore {
    /// Loads what [`TokenizerCore::pack`] gave or, for the general engine, a tokenizer.json; others come through [`LoaderCore`].
    /// `options` is JSON: `compat`, `config` (text of tokenizer_config.json), `engine`; `{}` where nothing is asked for.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Vec<u8>, options: &str) -> Result<TokenizerCore, JsValue> {
        load(bytes, options).map(TokenizerCore::of).map_err(to_js_error)
    }

    /// Makes room for two words and so many ids behind them; gives the address, which is good until the next call.
    pub fn reserve(&self, count: usize) -> *const u32 {
        let words = &mut self.buffers.borrow_mut().words;
        if words.len() < count + 2 {
            words.resize(count + 2, 0);
        }
        words.as_ptr()
    }

    /// Decodes the first `count` ids that were written behind the address of [`TokenizerCore::reserve`], to bytes or to the
    /// form that is read the fastest; gives how many bytes that are, or `usize::MAX` if they would be too many.
    ///
    /// The two words are then their address, and their form: `0` for bytes whose lossy UTF-8 reading is the text, `1` for
    /// ASCII, `2` for UTF-16; and `4` more if there is one id, which gives the same wherever it stands.
    pub fn decode(&self, count: usize, skip_special_tokens: bool, as_bytes: bool) -> usize {
        let mut buffers = self.buffers.borrow_mut();
        let Buffers { words, bytes, cells } = &mut *buffers;
        let [address, form, ids @ ..] = words.as_mut_slice() else { return 0 };
        let ids = ids.get(..count).unwrap_or_default();
        let options = DecodeOptions { skip_special_tokens };
        let text = if as_bytes { None } else { self.tokenizer.decode_cells(ids, options, cells) };
        let (text, kind) = match text {
            Some((text, is_utf16)) => (text, 1 + u32::from(is_utf16)),
            None if self.tokenizer.may_exceed(ids, MOST_BYTES) => return usize::MAX,
            None => {
                bytes.clear();
                self.tokenizer.decode_into(ids, options, bytes);
                (bytes.as_slice(), 0)
            }
        };
        *form = kind;
        if let [id] = ids
            && self.tokenizer.is_whole(*id, options)
        {
            *form += 4;
        }
        *address = text.as_ptr() as u32;
        text.len()
    }

    /// The tokenizer as bytes that [`TokenizerCore::new`] takes, here or in another instance. `source_sha256`: of its
    /// tokenizer.json in 32 bytes, or none.
    pub fn pack(&self, source_sha256: &[u8]) -> Uint8Array {
        let packed = match source_sha256.first_chunk() {
            Some(sha256) => self.tokenizer.to_packed_of(*sha256),
            None => self.tokenizer.to_packed(),
        };
        Uint8Array::from(packed.as_slice())
    }

    /// The ids of a text.
    #[cfg(feature = "general")]
    pub fn encode(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>, JsValue> {
        self.tokenizer.encode(text, EncodeOptions { add_special_tokens }).map_err(to_js_error)
    }

    /// Facts about the vocabulary.
    pub fn info(&self) -> JsValue {
        let info = self.tokenizer.facts();
        let special_tokens = Value::list(&info.special_tokens, |(id, content)| {
            Value::Members(vec![("id", Value::Count(*id as usize)), ("content", Value::Text(content))])
        });
        to_js(&Value::Members(vec![
            ("vocabSize", Value::Count(info.vocab_size)),
            ("decoder", Value::Text(&info.decoder)),
            ("specialTokens", special_tokens),
            ("engine", Value::Text(info.engine)),
        ]))
    }
}

/// Most bytes of one decode: beyond them the memory of a WebAssembly instance runs out, which ends it.
const MOST_BYTES: usize = 1 << 30;

fn load(bytes: Vec<u8>, options: &str) -> Result<Tokenizer, Error> {
    // No scanner, which a packed tokenizer does not need either.
    if options == "{}" {
        return Tokenizer::load_owned(bytes, &LoadOptions::default());
    }
    asked(bytes, options)
}

/// What asks for something needs the general engine: this is its error.
#[cfg(not(feature = "general"))]
fn asked(bytes: Vec<u8>, _: &str) -> Result<Tokenizer, Error> {
    Tokenizer::load_owned(bytes, &LoadOptions { engine: Engine::General, ..LoadOptions::default() })
}

#[cfg(feature = "general")]
fn asked(bytes: Vec<u8>, options: &str) -> Result<Tokenizer, Error> {
    let mut json = parse(options.as_bytes(), "options", ErrorCode::InvalidOptions)?;
    let mut object = Object::open(&mut json, Json::ROOT, "options", ErrorCode::InvalidOptions);
    object.done(&["compat", "config", "engine"]);
    let compat = object.choice("compat", &["tokenizers", "transformers4", "transformers5"]).unwrap_or(0);
    let engine = object.choice("engine", &["auto", "general"]).unwrap_or(0);
    let config = object.string("config");
    object.finish()?;
    let options = LoadOptions {
        compat: [Compat::Tokenizers, Compat::Transformers4, Compat::Transformers5][compat],
        config: config.as_ref().map(String::as_bytes),
        engine: [Engine::Auto, Engine::General][engine],
    };
    Tokenizer::load_owned(bytes, &options)
}
