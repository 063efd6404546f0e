//! `TokenizerCore.drift`: ids beside those that their text is encoded to.

use js_sys::Function;
use wasm_bindgen::prelude::*;

use super::{TokenizerCore, to_js, to_js_error};
use crate::rollout::drift_with_progress;

#[wasm_bindgen]
impl TokenizerCore {
    /// Where ids differ from those that their text is encoded to: the members of [`Drift`](crate::rollout::Drift).
    /// `ranges`: start and end of each, one behind the other. `progress` is called with two numbers, the bytes of text that
    /// are encoded and all; what it throws counts for nothing.
    pub fn drift(&self, ids: &[u32], ranges: &[u32], progress: Option<Function>) -> Result<JsValue, JsValue> {
        let ranges: Vec<_> = ranges.as_chunks().0.iter().map(|range: &[u32; 2]| range.map(|at| at as usize)).collect();
        let mut tell = |done: usize, of: usize| {
            if let Some(progress) = &progress {
                let _ = progress.call2(&JsValue::UNDEFINED, &done.into(), &of.into());
            }
        };
        let drift = drift_with_progress(&self.tokenizer, ids, &ranges, &mut tell).map_err(to_js_error)?;
        Ok(to_js(&drift.value()))
    }
}
