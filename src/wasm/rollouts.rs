//! `RolloutsCore`: what `openRollouts` and `readRollouts` ask.

use std::cell::{Ref, RefCell};

use js_sys::{Array, Float64Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::span_json::Writer;
use super::tokenizer::TokenizerCore;
use super::{json_text, to_js_error};
use crate::formats::Origin;
use crate::read::{BodyReader, Skipped};
use crate::report::Value;
use crate::rollout::{CallFinder, CheckOptions, Rollout, Rollouts};
use crate::tokenizer::TokenizerSet;

/// The rollouts of a body.
#[wasm_bindgen]
#[derive(Default)]
pub struct RolloutsCore {
    /// Those that the next `finish` or `use` takes.
    tokenizers: RefCell<TokenizerSet>,
    reading: RefCell<Option<(BodyReader, CallFinder, CheckOptions)>>,
    rollouts: RefCell<Option<Rollouts>>,
}

#[wasm_bindgen]
impl RolloutsCore {
    /// Without a body yet.
    #[wasm_bindgen(constructor)]
    pub fn new() -> RolloutsCore {
        RolloutsCore::default()
    }

    /// Adds a tokenizer for the models whose name fits the pattern, for the next `finish` or `use`.
    #[wasm_bindgen(js_name = addTokenizer)]
    pub fn add_tokenizer(&self, pattern: &str, tokenizer: &TokenizerCore) {
        self.tokenizers.borrow_mut().add(pattern, tokenizer.tokenizer.clone());
    }

    /// Begins a body of so many bytes, or 0 if nobody knows. Options as JSON: `format`, `layouts`, `limits`, `drift`, `maxTokens`,
    /// `template`. Of where it comes from, and of traces, what is empty says nothing.
    pub fn begin(
        &self,
        bytes: usize,
        options: &str,
        content_type: &str,
        url: &str,
        trace_infos: &[u8],
    ) -> Result<(), JsValue> {
        let origin = Origin { content_type: Some(content_type), url: Some(url) };
        let (mut options, check) = CheckOptions::from_json(options.as_bytes()).map_err(to_js_error)?;
        options.trace_infos = Some(trace_infos).filter(|infos| !infos.is_empty()).map(<[u8]>::to_vec);
        let reader = BodyReader::new(options, &origin).omitting_lists().expect(bytes).map_err(to_js_error)?;
        *self.reading.borrow_mut() = Some((reader, CallFinder::default(), check));
        Ok(())
    }

    /// Takes the next piece of the body.
    pub fn push(&self, piece: &[u8]) -> Result<(), JsValue> {
        match self.reading.borrow_mut().as_mut() {
            Some((reader, calls, _)) => {
                reader.push(piece).map_err(to_js_error)?;
                calls.look_at(reader.settled());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Ends the body: how many rollouts it has, and as JSON text a list of what could not be read.
    pub fn finish(&self) -> Result<Array, JsValue> {
        let tokenizers = self.tokenizers.take();
        let Some((reader, calls, check)) = self.reading.take() else { return Ok(Array::new()) };
        let reading = reader.finish().map_err(to_js_error)?;
        let rollouts = Rollouts::of(reading.spans, calls, tokenizers, check).map_err(to_js_error)?;
        let skipped = Value::list(&reading.skipped, skipped_value);
        let answer = Array::of2(&rollouts.list.len().into(), &json_text(&skipped).into());
        *self.rollouts.borrow_mut() = Some(rollouts);
        Ok(answer)
    }

    /// Looks at the body with the tokenizers that were added since; how many rollouts it has. Options as for `read`.
    #[wasm_bindgen(js_name = use)]
    pub fn use_tokenizers(&self, options: &str) -> Result<usize, JsValue> {
        let tokenizers = self.tokenizers.take();
        let (_, check) = CheckOptions::from_json(options.as_bytes()).map_err(to_js_error)?;
        let mut rollouts = self.rollouts.borrow_mut();
        let Some(rollouts) = rollouts.as_mut() else { return Ok(0) };
        rollouts.use_tokenizers(tokenizers, check).map_err(to_js_error)?;
        Ok(rollouts.list.len())
    }

    /// What is known of the rollouts from one position to another without decoding, as JSON text.
    pub fn overview(&self, from: usize, to: usize) -> String {
        let rollouts = self.rollouts.borrow();
        rollouts.as_ref().map_or(String::new(), |rollouts| rollouts.overview_json(from, to, json_text))
    }

    /// A rollout: its JSON text, and the ids of its calls one after the other.
    pub fn rollout(&self, at: usize) -> Result<Option<Array>, JsValue> {
        let Some((rollouts, rollout)) = self.at(at) else { return Ok(None) };
        let checked = rollouts.check(at).map_err(to_js_error)?;
        let mut ids = Vec::new();
        for node in &rollout.nodes {
            ids.extend_from_slice(&rollouts.calls[node.call].ids);
        }
        let json = json_text(&rollouts.value(at, &checked));
        Ok(Some(Array::of2(&json.into(), &Uint32Array::from(ids.as_slice()))))
    }

    /// What the calls of a rollout add to one another: as JSON text the pattern of the tokenizer and of each call its position, where
    /// that begins and how many ids it is; and the ids one after the other.
    pub fn added(&self, at: usize) -> Option<Array> {
        let (rollouts, rollout) = self.at(at)?;
        let (mut members, mut ids) = (vec![Value::text(rollouts.tokenizer(&rollout))], Vec::new());
        for (call, first, added) in rollouts.added(at) {
            members.extend([call, first, added.len()].map(Value::Count));
            ids.extend_from_slice(added);
        }
        let json = json_text(&Value::List(members));
        Some(Array::of2(&json.into(), &Uint32Array::from(ids.as_slice())))
    }

    /// The numbers beside the ids of a rollout: as JSON text for each call a list of its length and the names, and all the numbers
    /// one list after the other.
    pub fn numbers(&self, at: usize) -> Option<Array> {
        let (rollouts, _) = self.at(at)?;
        let numbers = rollouts.numbers(at);
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for of_call in &numbers {
            let mut members = vec![Value::Count(of_call.first().map_or(0, |one| one.values.len()))];
            for one in of_call {
                members.push(Value::Text(&one.name));
                values.extend_from_slice(&one.values);
            }
            names.push(Value::List(members));
        }
        let json = json_text(&Value::List(names));
        Some(Array::of2(&json.into(), &Float64Array::from(values.as_slice())))
    }

    /// The span of a call as JSON text, without its fields.
    pub fn span(&self, at: usize, call: usize) -> Option<String> {
        let (rollouts, rollout) = self.at(at)?;
        let node = rollout.nodes.get(call)?;
        let mut writer = Writer::default();
        writer.facts(&*rollouts.whole_span(node.call)?);
        Some(writer.finish().0)
    }

    /// The spans around the calls of a rollout as JSON text.
    pub fn spans(&self, at: usize) -> Option<String> {
        let (rollouts, rollout) = self.at(at)?;
        Some(rollouts.spans_json(&rollout, json_text))
    }

    fn at(&self, at: usize) -> Option<(Ref<'_, Rollouts>, Ref<'_, Rollout>)> {
        let rollouts = Ref::filter_map(self.rollouts.borrow(), Option::as_ref).ok()?;
        let rollout = Ref::filter_map(Ref::clone(&rollouts), |rollouts| rollouts.list.get(at)).ok()?;
        Some((rollouts, rollout))
    }
}

fn skipped_value(skipped: &Skipped) -> Value<'_> {
    Value::Members(vec![
        ("path", Value::Text(&skipped.path)),
        ("reason", Value::Text(skipped.reason)),
        ("detail", Value::Text(&skipped.detail)),
    ])
}
