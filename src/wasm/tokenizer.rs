//! `TokenizerCore`: the tokenizer behind the JavaScript class `Tokenizer`.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::{to_js, to_js_error};
use crate::json::{Json, Object, parse};
use crate::report::Value;
#[cfg(feature = "general")]
use crate::tokenizer::EncodeOptions;
use crate::tokenizer::{Cells, Compat, DecodeOptions, Engine, LoadOptions, Tokenizer};
use crate::{Error, ErrorCode};

/// A loaded tokenizer, and buffers through which ids come in and texts go out without a copy at the boundary.
#[wasm_bindgen]
pub struct TokenizerCore {
    pub(super) tokenizer: Arc<Tokenizer>,
    ids: RefCell<Vec<u32>>,
    bytes: RefCell<Vec<u8>>,
    cells: RefCell<Cells>,
    result: [Cell<usize>; 2],
}

#[wasm_bindgen]
impl TokenizerCore {
    /// Loads a tokenizer.json, or what [`TokenizerCore::pack`] gave. `options` is JSON: `compat`, `config` (text of tokenizer_config.json), `engine`.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8], options: &str) -> Result<TokenizerCore, JsValue> {
        let tokenizer = Arc::new(load(bytes, options).map_err(to_js_error)?);
        Ok(TokenizerCore {
            tokenizer,
            ids: RefCell::default(),
            bytes: RefCell::default(),
            cells: RefCell::default(),
            result: Default::default(),
        })
    }

    /// Makes room for ids; gives the address of the first, which is good until the next call.
    pub fn reserve(&self, count: usize) -> *const u32 {
        let mut ids = self.ids.borrow_mut();
        if ids.len() < count {
            ids.resize(count, 0);
        }
        ids.as_ptr()
    }

    /// Where the last [`TokenizerCore::decode`] left two words: the address of what it decoded, and its form, `0` for bytes
    /// whose lossy UTF-8 reading is the text, `1` for ASCII, `2` for UTF-16.
    pub fn result(&self) -> *const usize {
        self.result.as_ptr().cast()
    }

    /// Decodes the first `count` ids that were written to the address of [`TokenizerCore::reserve`], to bytes or to the
    /// form that is read the fastest; gives how many bytes there are at the address of
    /// [`TokenizerCore::result`]. `usize::MAX` if they would be too many.
    pub fn decode(&self, count: usize, skip_special_tokens: bool, as_bytes: bool) -> usize {
        let ids = self.ids.borrow();
        let ids = ids.get(..count).unwrap_or(&ids);
        let options = DecodeOptions { skip_special_tokens };
        let mut cells = self.cells.borrow_mut();
        let text = if as_bytes { None } else { self.tokenizer.decode_cells(ids, options, &mut cells) };
        match text {
            Some((text, is_utf16)) => self.leave(text, 1 + usize::from(is_utf16)),
            None if self.tokenizer.may_exceed(ids, MOST_BYTES) => usize::MAX,
            None => {
                let mut bytes = self.bytes.borrow_mut();
                bytes.clear();
                self.tokenizer.decode_into(ids, options, &mut bytes);
                self.leave(&bytes, 0)
            }
        }
    }

    fn leave(&self, bytes: &[u8], form: usize) -> usize {
        self.result[0].set(bytes.as_ptr() as usize);
        self.result[1].set(form);
        bytes.len()
    }

    /// Whether the id gives the same text wherever it stands, which is no part of a character.
    #[wasm_bindgen(js_name = isWhole)]
    pub fn is_whole(&self, id: u32, skip_special_tokens: bool) -> bool {
        self.tokenizer.is_whole(id, DecodeOptions { skip_special_tokens })
    }

    /// The tokenizer as bytes that [`TokenizerCore::new`] takes, here or in another instance.
    pub fn pack(&self) -> Uint8Array {
        Uint8Array::from(self.tokenizer.to_packed().as_slice())
    }

    /// The ids of a text.
    #[cfg(feature = "general")]
    pub fn encode(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>, JsValue> {
        self.tokenizer.encode(text, EncodeOptions { add_special_tokens }).map_err(to_js_error)
    }

    /// Facts about the vocabulary.
    pub fn info(&self) -> JsValue {
        let info = self.tokenizer.info();
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

fn load(bytes: &[u8], options: &str) -> Result<Tokenizer, Error> {
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
    Tokenizer::load(bytes, &options)
}
