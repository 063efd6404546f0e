//! The boundary to JavaScript: the only folder that names `wasm_bindgen` and `js_sys`.
//!
//! Every method takes `&self`: after a trap, or when a callback calls in again, an object whose `&mut self` method
//! was left half way would be dead. Every error crosses as a JavaScript `Error` with the code as its `code`.

#[cfg(not(feature = "spans"))]
mod enricher;
#[cfg(not(feature = "spans"))]
mod object;
#[cfg(feature = "spans")]
mod read;
#[cfg(not(feature = "spans"))]
mod tokenizer;
#[cfg(feature = "spans")]
mod write;

use wasm_bindgen::prelude::*;

use crate::Error;
#[cfg(not(feature = "spans"))]
use crate::report::Value;

#[cfg(not(feature = "spans"))]
pub use enricher::{EnricherCore, strip};
#[cfg(feature = "spans")]
pub use read::read;
#[cfg(not(feature = "spans"))]
pub use tokenizer::TokenizerCore;
#[cfg(feature = "spans")]
pub use write::write;

/// A third of the code of the one in the standard library.
#[cfg(not(target_feature = "atomics"))]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// An error as JavaScript sees it.
fn to_js_error(error: Error) -> JsValue {
    let js = js_sys::Error::new(error.message());
    set(&js, "code", &error.code().as_str().into());
    js.into()
}

/// A plain JavaScript value: objects, arrays, numbers, strings.
#[cfg(not(feature = "spans"))]
fn to_js(value: &Value<'_>) -> JsValue {
    match value {
        Value::Nothing => JsValue::UNDEFINED,
        Value::Text(text) => JsValue::from_str(text),
        Value::Count(count) => JsValue::from_f64(*count as f64),
        Value::Number(number) => JsValue::from_f64(*number),
        Value::Flag(flag) => JsValue::from_bool(*flag),
        Value::List(values) => {
            let list = js_sys::Array::new();
            for value in values {
                list.push(&to_js(value));
            }
            list.into()
        }
        Value::Members(members) => {
            let object = js_sys::Object::new();
            for (key, value) in members {
                if !matches!(value, Value::Nothing) {
                    set(&object, key, &to_js(value));
                }
            }
            object.into()
        }
    }
}

/// Sets a member of an object that was just made, which cannot fail.
fn set(object: &JsValue, key: &str, value: &JsValue) {
    let _ = js_sys::Reflect::set(object, &key.into(), value);
}
