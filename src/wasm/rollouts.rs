//! `RolloutsCore`: what `readRollouts` asks.

use std::cell::RefCell;

use js_sys::{Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::tokenizer::TokenizerCore;
use super::{json_text, to_js_error};
use crate::formats::Origin;
use crate::read::{ReadOptions, Skipped, read_all};
use crate::report::Value;
use crate::rollout::{CheckOptions, Rollouts};
use crate::tokenizer::TokenizerSet;

/// The rollouts of a body.
#[wasm_bindgen]
pub struct RolloutsCore {
    read: ReadOptions,
    check: CheckOptions,
    tokenizers: RefCell<TokenizerSet>,
    rollouts: RefCell<Option<Rollouts>>,
}

#[wasm_bindgen]
impl RolloutsCore {
    /// Reads options as JSON: `format`, `layouts`, `limits`, `drift`, `maxTokens`, `template`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<RolloutsCore, JsValue> {
        let (read, check) = CheckOptions::from_json(options.as_bytes()).map_err(to_js_error)?;
        Ok(RolloutsCore { read, check, tokenizers: RefCell::default(), rollouts: RefCell::default() })
    }

    /// Adds a tokenizer for the models whose name fits the pattern.
    #[wasm_bindgen(js_name = addTokenizer)]
    pub fn add_tokenizer(&self, pattern: &str, tokenizer: &TokenizerCore) {
        self.tokenizers.borrow_mut().add(pattern, tokenizer.tokenizer.clone());
    }

    /// Reads a body: how many rollouts it has, and as JSON text a list of what could not be read. Of where it comes from, and of
    /// traces, what is empty says nothing.
    pub fn read(&self, body: &[u8], content_type: &str, url: &str, trace_infos: &[u8]) -> Result<Array, JsValue> {
        let origin = Origin { content_type: Some(content_type), url: Some(url) };
        let mut options = self.read.clone();
        options.trace_infos = Some(trace_infos).filter(|infos| !infos.is_empty()).map(<[u8]>::to_vec);
        let reading = read_all(body, &origin, &options).map_err(to_js_error)?;
        let tokenizers = self.tokenizers.borrow().clone();
        let rollouts = Rollouts::new(reading.spans, tokenizers, self.check.clone()).map_err(to_js_error)?;
        let skipped = Value::list(&reading.skipped, skipped_value);
        let answer = Array::of2(&rollouts.list.len().into(), &json_text(&skipped).into());
        *self.rollouts.borrow_mut() = Some(rollouts);
        Ok(answer)
    }

    /// A rollout: its JSON text, and the ids of its calls one after the other.
    pub fn rollout(&self, at: usize) -> Result<Option<Array>, JsValue> {
        let rollouts = self.rollouts.borrow();
        let Some((rollouts, rollout)) = rollouts.as_ref().and_then(|rollouts| Some((rollouts, rollouts.list.get(at)?)))
        else {
            return Ok(None);
        };
        let checked = rollouts.check(at).map_err(to_js_error)?;
        let mut ids = Vec::new();
        for node in &rollout.nodes {
            ids.extend_from_slice(&rollouts.calls[node.call].ids);
        }
        let json = json_text(&rollouts.value(at, &checked));
        Ok(Some(Array::of2(&json.into(), &Uint32Array::from(ids.as_slice()))))
    }
}

fn skipped_value(skipped: &Skipped) -> Value<'_> {
    Value::Members(vec![
        ("path", Value::Text(&skipped.path)),
        ("reason", Value::Text(skipped.reason)),
        ("detail", Value::Text(&skipped.detail)),
    ])
}
