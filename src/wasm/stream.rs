//! `StreamCore`: the stream behind the JavaScript class `TextStream`.

use std::cell::RefCell;
use std::sync::Arc;

use wasm_bindgen::prelude::*;

use super::TokenizerCore;
use super::pieces::check;
use crate::tokenizer::{DecodeOptions, TextStream, Tokenizer};

/// Text as its tokens arrive. It shares the tokenizer, which may be freed before.
#[wasm_bindgen]
pub struct StreamCore(RefCell<TextStream<Arc<Tokenizer>>>);

#[wasm_bindgen]
impl StreamCore {
    /// A stream of a tokenizer.
    #[wasm_bindgen(constructor)]
    pub fn new(core: &TokenizerCore, skip_special_tokens: bool) -> StreamCore {
        let options = DecodeOptions { skip_special_tokens };
        StreamCore(RefCell::new(TextStream::new(Arc::clone(&core.tokenizer), options)))
    }

    /// The text that the next ids settle.
    pub fn push(&self, ids: &[u32]) -> Result<String, JsValue> {
        let mut stream = self.0.borrow_mut();
        check(ids, |most| stream.may_exceed(ids, most))?;
        Ok(stream.push(ids))
    }

    /// The rest of the text.
    pub fn finish(self) -> String {
        self.0.into_inner().finish()
    }
}
