//! The smallest wrapper around the reference that JavaScript can decode and encode with.

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

    /// The ids of a text, without special tokens around it.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, JsError> {
        let encoding = self.0.encode_fast(text, false).map_err(|error| JsError::new(&error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }
}
