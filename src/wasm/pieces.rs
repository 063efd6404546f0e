//! `TokenizerCore.pieces`: a text, and which token gave which part of it.

use wasm_bindgen::prelude::*;

use super::TokenizerCore;
use super::tokenizer::too_much;
use crate::tokenizer::DecodeOptions;

/// Most ids and bytes of text at once: what is known of them takes several times that.
const MOST_IDS: usize = 16 << 20;
pub(super) const MOST_BYTES: usize = 256 << 20;

#[wasm_bindgen]
impl TokenizerCore {
    /// The text of the first `count` ids and its parts; gives the number of bytes at [`TokenizerCore::output_ptr`]: for each
    /// id where its part ends in the text, in four bytes; for each its flags, in one; and the text.
    pub fn pieces(&self, count: usize, skip_special_tokens: bool) -> Result<usize, JsValue> {
        let ids = self.ids.borrow();
        let ids = ids.get(..count).unwrap_or(&ids);
        if ids.len() > MOST_IDS {
            return Err(too_much(MOST_IDS, "ids"));
        }
        if self.tokenizer.may_exceed(ids, MOST_BYTES) {
            return Err(too_much(MOST_BYTES, "bytes of text"));
        }
        let pieces = self.tokenizer.pieces(ids, DecodeOptions { skip_special_tokens });
        let mut output = self.output.borrow_mut();
        output.clear();
        for end in pieces.ends {
            output.extend_from_slice(&(end as u32).to_le_bytes());
        }
        output.extend_from_slice(&pieces.flags);
        output.extend_from_slice(pieces.text.as_bytes());
        Ok(output.len())
    }
}
