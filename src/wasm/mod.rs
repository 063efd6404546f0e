//! The boundary to JavaScript: the only folder that names `wasm_bindgen` and `js_sys`.
//!
//! Every method takes `&self`: after a trap, or when a callback calls in again, an object whose `&mut self` method
//! was left half way would be dead. Every error crosses as a JavaScript `Error` with the code as its `code`.

#[cfg(feature = "general")]
mod drift;
mod enricher;
#[cfg(all(not(target_feature = "atomics"), feature = "rollouts"))]
mod memory;
mod pieces;
#[cfg(feature = "spans")]
mod read;
#[cfg(feature = "reader")]
mod rollouts;
#[cfg(any(feature = "reader", feature = "spans"))]
mod span_json;
mod stream;
mod tokenizer;
#[cfg(feature = "spans")]
mod write;

use wasm_bindgen::prelude::*;

use crate::Error;

pub use enricher::{EnricherCore, strip};
#[cfg(feature = "spans")]
pub use read::read;
#[cfg(feature = "reader")]
pub use rollouts::RolloutsCore;
pub use stream::StreamCore;
pub use tokenizer::{LoaderCore, TokenizerCore};
#[cfg(feature = "spans")]
pub use write::write;

/// A third of the code of the one in the standard library.
#[cfg(all(not(target_feature = "atomics"), not(feature = "rollouts")))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// What keeps many spans takes memory in larger steps.
#[cfg(all(not(target_feature = "atomics"), feature = "rollouts"))]
#[global_allocator]
static ALLOCATOR: talc::cell::TalcSyncCell<memory::Steps, talc::wasm::WasmBinning> =
    talc::cell::TalcSyncCell::new_wasm(memory::Steps::new());

/// An error as JavaScript sees it.
fn to_js_error(error: Error) -> JsValue {
    let js = js_sys::Error::new(error.message());
    set(&js, "code", &error.code().as_str().into());
    js.into()
}

/// A plain JavaScript value: objects, arrays, numbers, strings.
fn to_js(value: &crate::report::Value<'_>) -> JsValue {
    // Of what we write there is no mistake to be told.
    js_sys::JSON::parse(&json_text(value)).unwrap_or(JsValue::UNDEFINED)
}

fn json_text(value: &crate::report::Value<'_>) -> String {
    let number = |number: f64| js_sys::JSON::stringify(&number.into()).map_or(String::new(), String::from);
    let mut json = Vec::new();
    value.json_into(number, &mut json);
    String::from_utf8(json).unwrap_or_default()
}

/// Sets a member of an object that was just made, which cannot fail.
fn set(object: &JsValue, key: &str, value: &JsValue) {
    let _ = js_sys::Reflect::set(object, &key.into(), value);
}
