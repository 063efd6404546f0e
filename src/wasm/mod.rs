//! The boundary to JavaScript: the only folder that names `wasm_bindgen`, `js_sys` and `serde_wasm_bindgen`.
//!
//! Every method takes `&self`: after a trap, or when a callback calls in again, an object whose `&mut self` method
//! was left half way would be dead. Every error crosses as a JavaScript `Error` with the code as its `code`.

mod enricher;
mod object;
mod read;
mod tokenizer;
#[cfg(feature = "general")]
mod write;

use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::Error;
use crate::report::Value;

pub use enricher::{EnricherCore, strip};
pub use read::read;
pub use tokenizer::TokenizerCore;
#[cfg(feature = "general")]
pub use write::write;

/// An error as JavaScript sees it.
fn to_js_error(error: Error) -> JsValue {
    let js = js_sys::Error::new(error.message());
    set(&js, "code", &error.code().as_str().into());
    js.into()
}

/// A plain JavaScript value: objects, arrays, numbers, strings.
fn to_js(value: &Value<'_>) -> JsValue {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).unwrap_or(JsValue::UNDEFINED)
}

/// Sets a member of an object that was just made, which cannot fail.
fn set(object: &JsValue, key: &str, value: &JsValue) {
    let _ = js_sys::Reflect::set(object, &key.into(), value);
}
