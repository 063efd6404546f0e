//! `TokenizerCore`: the tokenizer behind the JavaScript class `Tokenizer`.

use std::cell::RefCell;
use std::sync::Arc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::{to_js, to_js_error};
use crate::json::{Json, Object, parse};
use crate::report::Value;
#[cfg(feature = "general")]
use crate::tokenizer::EncodeOptions;
use crate::tokenizer::{Compat, DecodeOptions, Engine, LoadOptions, Tokenizer};
use crate::{Error, ErrorCode};

/// A loaded tokenizer, and buffers through which ids come in and bytes go out without a copy at the boundary.
#[wasm_bindgen]
pub struct TokenizerCore {
    pub(super) tokenizer: Arc<Tokenizer>,
    ids: RefCell<Vec<u32>>,
    output: RefCell<Vec<u8>>,
}

#[wasm_bindgen]
impl TokenizerCore {
    /// Loads a tokenizer.json, or what [`TokenizerCore::pack`] gave. `options` is JSON: `compat`, `config` (text of tokenizer_config.json), `engine`.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8], options: &str) -> Result<TokenizerCore, JsValue> {
        let tokenizer = load(bytes, options).map_err(to_js_error)?;
        Ok(TokenizerCore { tokenizer: Arc::new(tokenizer), ids: RefCell::default(), output: RefCell::default() })
    }

    /// Makes room for ids; gives the address of the first.
    pub fn reserve(&self, count: usize) -> Result<*const u32, JsValue> {
        if count > MOST_IDS {
            return Err(too_much(MOST_IDS, "ids"));
        }
        let mut ids = self.ids.borrow_mut();
        if ids.len() < count {
            ids.resize(count, 0);
        }
        Ok(ids.as_ptr())
    }

    /// Decodes the first `count` ids that were written to the address of [`TokenizerCore::reserve`]; gives the
    /// number of bytes at [`TokenizerCore::output_ptr`].
    pub fn decode(&self, count: usize, skip_special_tokens: bool) -> Result<usize, JsValue> {
        let ids = self.ids.borrow();
        let mut output = self.output.borrow_mut();
        output.clear();
        let ids = ids.get(..count).unwrap_or(&ids);
        if self.tokenizer.may_exceed(ids, MOST_BYTES) {
            return Err(too_much(MOST_BYTES, "bytes of text"));
        }
        self.tokenizer.decode_into(ids, DecodeOptions { skip_special_tokens }, &mut output);
        Ok(output.len())
    }

    /// The address of the decoded bytes, valid until the next call.
    #[wasm_bindgen(js_name = outputPtr)]
    pub fn output_ptr(&self) -> *const u8 {
        self.output.borrow().as_ptr()
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

/// Most ids and bytes of one decode: beyond them the memory of a WebAssembly instance runs out, which ends it.
const MOST_IDS: usize = 64 << 20;
const MOST_BYTES: usize = 1 << 30;

fn too_much(most: usize, what: &str) -> JsValue {
    let what = format!("one decode takes at most {most} {what}; decode in parts");
    to_js_error(Error::new(ErrorCode::LimitExceeded, what))
}

fn load(bytes: &[u8], options: &str) -> Result<Tokenizer, Error> {
    // No scanner, which a packed tokenizer does not need either.
    if options == "{}" {
        return Tokenizer::from_json(bytes);
    }
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
