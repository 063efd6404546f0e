//! `write`: spans to the bodies of backends.

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::to_js_error;
use crate::span::Span;
use crate::write::WriteOptions;

/// Writes spans, which are JSON. `options` as JSON: `format`, and what its backend needs.
#[wasm_bindgen]
pub fn write(spans: &str, options: &str) -> Result<Uint8Array, JsValue> {
    let (format, options) = WriteOptions::from_json(options.as_bytes()).map_err(to_js_error)?;
    let spans = Span::list_from_json(spans).map_err(to_js_error)?;
    let body = crate::write::write(&spans, format, &options).map_err(to_js_error)?;
    Ok(Uint8Array::from(body.as_slice()))
}
