//! `EnricherCore` and `strip`: enrichment behind the JavaScript class `Enricher`.

use std::cell::{Cell, RefCell};

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::tokenizer::TokenizerCore;
use super::{set, to_js, to_js_error};
use crate::enrich::{EnrichOptions, Prepared, enrich_borrowed, strip_from};
use crate::formats::Origin;
use crate::tokenizer::TokenizerSet;

/// Options and tokenizers of an enrichment.
#[wasm_bindgen]
pub struct EnricherCore {
    options: EnrichOptions,
    prepared: Prepared,
    tokenizers: RefCell<TokenizerSet>,
}

#[wasm_bindgen]
impl EnricherCore {
    /// Reads options as JSON: `format`, `layouts`, `existing`, `skipSpecialTokens`, `messages`, `ids`, `maxTextChars`,
    /// `limits`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<EnricherCore, JsValue> {
        let options = EnrichOptions::from_json(options.as_bytes()).map_err(to_js_error)?;
        let prepared = Prepared::of(&options);
        Ok(EnricherCore { options, prepared, tokenizers: RefCell::default() })
    }

    /// Adds a tokenizer for the models whose name fits the pattern. The tokenizer may be freed afterwards.
    #[wasm_bindgen(js_name = addTokenizer)]
    pub fn add_tokenizer(&self, pattern: &str, tokenizer: &TokenizerCore) {
        self.tokenizers.borrow_mut().add(pattern, tokenizer.tokenizer.clone());
    }

    /// Enriches the bytes of a body: `{ body, report }`. Of where it comes from empty strings say nothing.
    #[wasm_bindgen(js_name = enrichBody)]
    pub fn enrich_body(&self, body: &[u8], content_type: &str, url: &str) -> Result<JsValue, JsValue> {
        let origin = Origin { content_type: Some(content_type), url: Some(url) };
        let enriched = enrich_borrowed(body, &origin, &self.tokenizers.borrow(), &self.options, &self.prepared);
        let (body, report) = enriched.map_err(to_js_error)?;
        let result = js_sys::Object::new();
        set(&result, "body", &Uint8Array::from(&*body));
        set(&result, "report", &to_js(&report.value()));
        Ok(result.into())
    }
}

thread_local! {
    /// The options of the last `strip`, and what they were read from: a file is stripped line by line, and reading all
    /// layouts takes longer than most lines do.
    static LAST: Cell<Option<(String, EnrichOptions)>> = const { Cell::new(None) };
}

/// Takes the texts of a default enrichment out of a body again. `options` as for [`EnricherCore`], the origin as for
/// [`EnricherCore::enrich_body`].
#[wasm_bindgen]
pub fn strip(body: &[u8], options: &str, content_type: &str, url: &str) -> Result<Uint8Array, JsValue> {
    let last = match LAST.try_with(Cell::take).ok().flatten().filter(|(text, _)| text == options) {
        Some(last) => last,
        None => (options.to_owned(), EnrichOptions::from_json(options.as_bytes()).map_err(to_js_error)?),
    };
    let origin = Origin { content_type: Some(content_type), url: Some(url) };
    let stripped = strip_from(body, &origin, &last.1).map_err(to_js_error);
    let _ = LAST.try_with(|place| place.set(Some(last)));
    stripped.map(|body| Uint8Array::from(body.as_slice()))
}
