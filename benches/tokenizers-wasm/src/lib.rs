//! The smallest wrapper around the reference that JavaScript can decode with.

use tokenizers::Tokenizer;
use wasm_bindgen::prelude::*;

/// A tokenizer of the `tokenizers` crate.
#[wasm_bindgen]
pub struct Reference(Tokenizer);

#[wasm_bindgen]
impl Reference {
    /// Loads the bytes of a tokenizer.json.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Result<Reference, JsError> {
        Tokenizer::from_bytes(bytes).map(Reference).map_err(|error| JsError::new(&error.to_string()))
    }

    /// The text of ids, special tokens too.
    pub fn decode(&self, ids: &[u32]) -> Result<String, JsError> {
        self.0.decode(ids, false).map_err(|error| JsError::new(&error.to_string()))
    }
}
