//! `TokenizerCore.pieces`: a text, and which token gave which part of it.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::{TokenizerCore, to_js_error};
use crate::tokenizer::DecodeOptions;
use crate::{Error, ErrorCode};

/// Most ids, and bytes of text with those that a stream holds: what is known of them takes several times that.
const MOST_IDS: usize = 16 << 20;
const MOST_BYTES: usize = 256 << 20;

#[wasm_bindgen]
impl TokenizerCore {
    /// The text of the ids and its parts: for each id where its part ends in the text, in four bytes; for each its flags, in
    /// one; then the text.
    pub fn pieces(&self, ids: &[u32], skip_special_tokens: bool) -> Result<Uint8Array, JsValue> {
        check(ids, |most| self.tokenizer.may_exceed(ids, most))?;
        let pieces = self.tokenizer.pieces(ids, DecodeOptions { skip_special_tokens });
        let mut out = Vec::new();
        for end in pieces.ends {
            out.extend_from_slice(&(end as u32).to_le_bytes());
        }
        out.extend_from_slice(&pieces.flags);
        out.extend_from_slice(pieces.text.as_bytes());
        Ok(Uint8Array::from(out.as_slice()))
    }
}

/// Refuses ids that would take too much memory.
pub(super) fn check(ids: &[u32], may_exceed: impl FnOnce(usize) -> bool) -> Result<(), JsValue> {
    if ids.len() > MOST_IDS || may_exceed(MOST_BYTES) {
        let what = "pieces and streams take at most 16 Mi ids and 256 MiB of text at once; decode in parts";
        return Err(to_js_error(Error::new(ErrorCode::LimitExceeded, what)));
    }
    Ok(())
}
