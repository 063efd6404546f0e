//! What several test files share: real tokenizers, recorded bodies, and addresses in them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::Value;
use token2text::{Tokenizer, TokenizerSet};

/// Tokenizers that a test loaded before.
static LOADED: LazyLock<Mutex<HashMap<String, Arc<Tokenizer>>>> = LazyLock::new(Mutex::default);

/// A file of the project.
#[allow(dead_code)]
pub fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A real tokenizer, by its key in `tests/oracle/tokenizers.json`, for all spans.
#[allow(dead_code)]
pub fn real_set(key: &str) -> TokenizerSet {
    let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let tokenizer = loaded.entry(key.to_owned()).or_insert_with(|| {
        let path = project(&format!(".cache/tokenizers/{key}/tokenizer.json"));
        let bytes = std::fs::read(&path)
            .unwrap_or_else(|error| panic!("{}: {error}; run `make fetch-tokenizers`", path.display()));
        Arc::new(Tokenizer::from_json(&bytes).unwrap_or_else(|error| panic!("{key}: {error}")))
    });
    let mut set = TokenizerSet::new();
    set.add("*", tokenizer.clone());
    set
}

/// The value at an address: a JSON Pointer that may step into a string with `!json`.
#[allow(dead_code)]
pub fn at(value: &Value, path: &str) -> Option<Value> {
    let mut value = value.clone();
    for step in path.split('/').skip(1) {
        let key = step.replace("~1", "/").replace("~0", "~");
        value = match (&value, step) {
            (Value::String(text), "!json") => serde_json::from_str(text).ok()?,
            (Value::Array(list), _) => list.get(key.parse::<usize>().ok()?)?.clone(),
            (Value::Object(object), _) => object.get(&key)?.clone(),
            _ => return None,
        };
    }
    Some(value)
}

/// A tokenizer whose ids 0 to 25 are the letters a to z.
#[allow(dead_code)]
pub fn letters_tokenizer() -> Tokenizer {
    let vocab: serde_json::Map<String, Value> =
        ('a'..='z').enumerate().map(|(id, letter)| (letter.to_string(), id.into())).collect();
    let json = serde_json::json!({
        "version": "1.0", "added_tokens": [], "decoder": { "type": "Fuse" },
        "model": { "type": "WordLevel", "vocab": vocab, "unk_token": "a" },
    });
    Tokenizer::from_json(json.to_string().as_bytes()).unwrap()
}

/// [`letters_tokenizer`] for all spans.
#[allow(dead_code)]
pub fn letters() -> TokenizerSet {
    letters_tokenizer().into()
}
