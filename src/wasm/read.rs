//! `read`: spans as one JSON text and one list of ids, which JavaScript takes apart.

use js_sys::{Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::span_json::Writer;
use super::to_js_error;
use crate::formats::Origin;
use crate::read::{ReadOptions, read_from};

/// Reads the spans of a body: a list of their JSON text, without ids, and of the ids of all fields one after the other.
/// `options` as JSON: `format`, `layouts`, `limits`. Of where the body comes from, and of traces, what is empty says nothing.
#[wasm_bindgen]
pub fn read(body: &[u8], options: &str, content_type: &str, url: &str, trace_infos: &[u8]) -> Result<Array, JsValue> {
    let origin = Origin { content_type: Some(content_type), url: Some(url) };
    let spans = ReadOptions::from_json(options.as_bytes()).and_then(|mut options| {
        options.trace_infos = Some(trace_infos).filter(|infos| !infos.is_empty()).map(<[u8]>::to_vec);
        read_from(body, &origin, &options)
    });
    let mut writer = Writer::default();
    writer.list(&spans.map_err(to_js_error)?, Writer::span);
    let (json, ids) = writer.finish();
    Ok(Array::of2(&json.into(), &Uint32Array::from(ids.as_slice())))
}
