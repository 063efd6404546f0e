//! `EnricherCore` and `strip`: enrichment behind the JavaScript class `Enricher`.

use std::cell::RefCell;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::object::JsTree;
use super::tokenizer::TokenizerCore;
use super::{set, to_js, to_js_error};
use crate::enrich::{EnrichOptions, enrich_borrowed, enrich_views, strip_from};
use crate::formats::{Format, Origin, detect_value, too_many, views};
use crate::layouts::Sieve;
use crate::report::Report;
use crate::tokenizer::TokenizerSet;

/// Options and tokenizers of an enrichment.
#[wasm_bindgen]
pub struct EnricherCore {
    options: EnrichOptions,
    sieve: Sieve,
    tokenizers: RefCell<TokenizerSet>,
}

#[wasm_bindgen]
impl EnricherCore {
    /// Reads options as JSON: `format`, `layouts`, `existing`, `skipSpecialTokens`, `ids`, `maxTextChars`, `limits`.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &str) -> Result<EnricherCore, JsValue> {
        let options = EnrichOptions::from_json(options.as_bytes()).map_err(to_js_error)?;
        let sieve = Sieve::of(&options.layouts);
        Ok(EnricherCore { options, sieve, tokenizers: RefCell::default() })
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
        let enriched = enrich_borrowed(body, &origin, &self.tokenizers.borrow(), &self.options, &self.sieve);
        let (body, report) = enriched.map_err(to_js_error)?;
        let result = js_sys::Object::new();
        set(&result, "body", &Uint8Array::from(&*body));
        set(&result, "report", &to_js(&report.value()));
        Ok(result.into())
    }

    /// Enriches a parsed record: `{ span, report }`. The record stays as it is; what has no text in it is shared.
    pub fn enrich(&self, record: &JsValue) -> Result<JsValue, JsValue> {
        let depth = self.options.limits.depth;
        let mut tree = JsTree::new(record.clone(), depth);
        let format = detect_value(&mut tree, JsTree::ROOT, self.options.format);
        if let Format::OtlpJson | Format::Mlflow = format {
            tree = JsTree::of_spans(record.clone(), depth, format == Format::OtlpJson);
        }
        let mut report = Report { format: format.as_str(), rule: "parsed value", ..Report::default() };
        let views = views(&mut tree, JsTree::ROOT, "", format, None);
        if let Some(error) = too_many(&views) {
            return Err(to_js_error(error));
        }
        let tokenizers = self.tokenizers.borrow();
        let writes = enrich_views(&mut tree, &views, &tokenizers, &self.options, &self.sieve, &mut report);
        let result = js_sys::Object::new();
        set(&result, "span", &tree.with(&writes));
        set(&result, "report", &to_js(&report.value()));
        Ok(result.into())
    }
}

thread_local! {
    /// The options of the last `strip`, and what they were read from: a file is stripped line by line, and reading all
    /// layouts takes longer than most lines do.
    static LAST: RefCell<Option<(String, EnrichOptions)>> = const { RefCell::new(None) };
}

/// Takes the texts of a default enrichment out of a body again. `options` as for [`EnricherCore`], the origin as for
/// [`EnricherCore::enrich_body`].
#[wasm_bindgen]
pub fn strip(body: &[u8], options: &str, content_type: &str, url: &str) -> Result<Uint8Array, JsValue> {
    let known = LAST.take().filter(|(text, _)| text == options);
    let last = match known {
        Some(last) => last,
        None => (options.to_owned(), EnrichOptions::from_json(options.as_bytes()).map_err(to_js_error)?),
    };
    let origin = Origin { content_type: Some(content_type), url: Some(url) };
    let stripped = strip_from(body, &origin, &last.1).map_err(to_js_error);
    LAST.set(Some(last));
    stripped.map(|body| Uint8Array::from(body.as_slice()))
}
