//! The WebAssembly side, run in Node and in a browser: every hand-made tokenizer against the reference's texts.
#![cfg(all(target_arch = "wasm32", target_os = "unknown"))]

use js_sys::{Array, JSON, Reflect, Uint8Array, Uint32Array};
use token2text::wasm::{EnricherCore, TokenizerCore, strip};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

const HANDMADE: &str = include_str!("oracle/handmade.json");

/// Ids 0 to 25 are the letters a to z.
fn letters() -> TokenizerCore {
    let vocab: Vec<String> = ('a'..='z').enumerate().map(|(id, letter)| format!("\"{letter}\":{id}")).collect();
    let json = format!(
        r#"{{"added_tokens":[],"decoder":{{"type":"Fuse"}},"model":{{"type":"WordLevel","unk_token":"a","vocab":{{{}}}}}}}"#,
        vocab.join(",")
    );
    TokenizerCore::new(json.as_bytes().to_vec(), "{}").unwrap()
}

fn enricher(options: &str) -> EnricherCore {
    let enricher = EnricherCore::new(options).unwrap();
    enricher.add_tokenizer("*", &letters());
    enricher
}

fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap()
}

fn stringify(value: &JsValue) -> String {
    JSON::stringify(value).unwrap().into()
}

fn code(error: Result<impl Sized, JsValue>) -> String {
    let error = error.err().expect("an error");
    assert!(error.is_instance_of::<js_sys::Error>());
    get(&error, "code").as_string().unwrap()
}

/// Decodes through the buffers that the JavaScript face uses.
fn decode(core: &TokenizerCore, ids: &[u32], skip: bool) -> String {
    let memory = wasm_bindgen::memory().unchecked_into::<js_sys::WebAssembly::Memory>();
    let at = core.reserve(ids.len()) as u32;
    Uint32Array::new_with_byte_offset_and_length(&memory.buffer(), at + 8, ids.len() as u32).copy_from(ids);
    let mut results = Vec::new();
    for as_bytes in [true, false] {
        let len = core.decode(ids.len(), skip, as_bytes) as u32;
        let result = Uint32Array::new_with_byte_offset_and_length(&memory.buffer(), at, 2).to_vec();
        let bytes = Uint8Array::new_with_byte_offset_and_length(&memory.buffer(), result[0], len).to_vec();
        results.push(if result[1] & 2 == 0 {
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            let units: Vec<u16> = bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
            String::from_utf16(&units).unwrap()
        });
    }
    assert_eq!(results[0], results[1], "{ids:?}");
    results.pop().unwrap()
}

#[wasm_bindgen_test]
fn handmade_tokenizers_decode_as_the_reference() {
    let items: Array = get(&JSON::parse(HANDMADE).unwrap(), "items").into();
    let mut checked = 0;
    for item in items.iter() {
        let name = get(&item, "name").as_string().unwrap();
        // Known differences are held by the native test.
        if !get(&item, "differs").is_undefined() {
            continue;
        }
        // Files that JSON cannot hold as a value stand as text, or as bytes in hexadecimal, which are all refused.
        let raw = get(&item, "raw");
        let Some(text) = raw.as_string().or_else(|| JSON::stringify(&get(&item, "tokenizer")).ok()?.as_string()) else {
            continue;
        };
        let core = match TokenizerCore::new(text.as_bytes().to_vec(), "{}") {
            Ok(core) => core,
            // The native oracle test knows which files are refused, and why.
            Err(error) => {
                let code = get(&error, "code").as_string().unwrap();
                assert!(code == "invalid_tokenizer" || code == "engine_not_available", "{name}: {code}");
                continue;
            }
        };
        let cases = get(&item, "cases");
        for case in cases.dyn_into::<Array>().into_iter().flat_map(|cases| cases.to_vec()) {
            let Some(expected) = get(&case, "text").as_string() else { continue };
            let ids = Array::from(&get(&case, "ids")).iter().map(|id| id.as_f64().unwrap() as u32).collect::<Vec<_>>();
            let skip = get(&case, "skip").as_bool().unwrap();
            assert_eq!(decode(&core, &ids, skip), expected, "{name} {ids:?} skip {skip}");
            checked += 1;
        }
    }
    assert!(checked > 1000, "only {checked} cases checked");
}

#[wasm_bindgen_test]
fn a_packed_tokenizer_decodes_in_another_place() {
    let packed = letters().pack(&[]).to_vec();
    let again = TokenizerCore::new(packed.to_vec(), "{}").unwrap();
    assert_eq!(decode(&again, &[7, 8, 99], false), "hi");
    assert_eq!(again.pack(&[]).to_vec(), packed);
    assert_eq!(stringify(&again.info()), stringify(&letters().info()));
    assert_eq!(code(TokenizerCore::new(packed[..packed.len() - 1].to_vec(), "{}")), "invalid_tokenizer");
    assert_eq!(code(TokenizerCore::new(packed.to_vec(), r#"{"config":"{}"}"#)), "invalid_options");
    let regex =
        r#"{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":{"Regex":"a+"},"content":"-"}]}"#;
    let json = format!(r#"{{"decoder":{regex},"model":{{"type":"BPE","merges":[],"vocab":{{"a":0}}}}}}"#);
    match TokenizerCore::new(json.as_bytes().to_vec(), "{}") {
        Ok(core) => {
            assert_eq!(decode(&TokenizerCore::new(core.pack(&[]).to_vec(), "{}").unwrap(), &[0, 0], false), "-")
        }
        Err(error) => assert_eq!(get(&error, "code").as_string().unwrap(), "engine_not_available"),
    }
}

#[cfg(feature = "general")]
#[wasm_bindgen_test]
fn text_is_encoded_where_the_general_engine_was_asked_for() {
    let json = br#"{"post_processor":{"type":"BertProcessing","sep":["b",1],"cls":["a",0]},
        "model":{"type":"BPE","merges":["a b"],"vocab":{"a":0,"b":1,"ab":2}}}"#;
    let core = TokenizerCore::new(json.to_vec(), r#"{"engine":"general"}"#).unwrap();
    assert_eq!(core.encode("abb", false).unwrap(), [2, 1]);
    assert_eq!(core.encode("abb", true).unwrap(), [0, 2, 1, 1]);
    assert_eq!(code(letters().encode("a", true)), "engine_not_available");
    let packed = TokenizerCore::new(core.pack(&[]).to_vec(), r#"{"engine":"general"}"#).unwrap();
    assert_eq!(code(packed.encode("a", true)), "unsupported_tokenizer");
}

/// What a program in Rust takes of a report.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Field {
    path: String,
    text_path: String,
    kind: String,
    layout: String,
    tokenizer: String,
    ids: usize,
    status: String,
}

#[wasm_bindgen_test]
fn a_report_is_a_plain_object() {
    let result = enricher("{}").enrich_body(br#"{"prompt_ids":[7,8]}"#, "", "").unwrap();
    let report = get(&result, "report");
    let [field]: [Field; 1] = serde_wasm_bindgen::from_value(get(&report, "fields")).unwrap();
    let places = (&*field.path, &*field.text_path, &*field.kind);
    assert_eq!(places, ("/prompt_ids", "/prompt_text", "prompt"));
    let rest = (&*field.layout, &*field.tokenizer, field.ids, &*field.status);
    assert_eq!(rest, ("verl", "*", 2, "decoded"));
}

#[wasm_bindgen_test]
fn errors_cross_with_their_code() {
    assert_eq!(code(TokenizerCore::new(b"{".to_vec(), "{}")), "invalid_tokenizer");
    assert_eq!(code(TokenizerCore::new(b"\x1f\x8b\x08".to_vec(), "{}")), "compressed_input");
    assert_eq!(code(TokenizerCore::new(b"{}".to_vec(), "{\"engin\":1}")), "invalid_options");
    assert_eq!(code(EnricherCore::new("{\"existing\":\"x\"}")), "invalid_options");
    assert_eq!(code(EnricherCore::new("{\"layouts\":[{}]}")), "invalid_layout");
    assert_eq!(code(enricher("{}").enrich_body(b"{", "", "")), "invalid_body");
    assert_eq!(code(enricher("{}").enrich_body(b"what", "", "")), "unknown_format");
    assert_eq!(code(strip(b"{", "{}", "", "")), "invalid_body");
}

#[wasm_bindgen_test]
fn a_text_that_would_be_too_long_is_none() {
    let long =
        format!(r#"{{"decoder":null,"model":{{"type":"BPE","merges":[],"vocab":{{"{}":0}}}}}}"#, "x".repeat(1 << 20));
    let core = TokenizerCore::new(long.as_bytes().to_vec(), "{}").unwrap();
    core.reserve(1 << 10);
    for as_bytes in [true, false] {
        assert_eq!(core.decode(1 << 10, false, as_bytes), usize::MAX);
        // With spaces between the tokens.
        assert_eq!(core.decode(8, false, as_bytes), (8 << 20) + 7);
    }
}

#[wasm_bindgen_test]
fn reports_are_plain_objects() {
    let enricher = enricher(r#"{"layouts":["verl"]}"#);
    let result = enricher.enrich_body(br#"{"output": {"token_ids": [0, 99]}}"#, "", "").unwrap();
    let report = get(&result, "report");
    assert_eq!(
        stringify(&get(&report, "fields")),
        concat!(
            r#"[{"path":"/output/token_ids","textPath":"/output/response_text","kind":"response","layout":"verl","#,
            r#""tokenizer":"*","ids":2,"status":"decoded","unknown":{"count":1,"positions":[1]}}]"#
        )
    );
}
