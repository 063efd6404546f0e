//! Tokenizers with the marks of a chat template: real files, with tokens that the files lack.

use serde_json::{Value, json};

use crate::common::project;

/// What stands in `tests/oracle/chat.jsonl`: for each tokenizer a line with its key, the tokens to add and the template's name,
/// and its conversations behind it.
pub fn chat_lines() -> Vec<Value> {
    let text = std::fs::read_to_string(project("tests/oracle/chat.jsonl")).unwrap();
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The file of a real tokenizer, with more tokens or others in place of its own: content, id, whether it is special, whether it
/// takes the white space behind it.
pub fn tokenizer_json(key: &str, tokens: &Value) -> Vec<u8> {
    let path = project(&format!(".cache/tokenizers/{key}/tokenizer.json"));
    let bytes =
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; run `make fetch-tokenizers`", path.display()));
    let tokens = tokens.as_array().unwrap();
    if tokens.is_empty() {
        return bytes;
    }
    let mut spec: Value = serde_json::from_slice(&bytes).unwrap();
    let is_new = |id: &Value| tokens.iter().any(|token| token[1] == *id);
    spec["model"]["vocab"].as_object_mut().unwrap().retain(|_, id| !is_new(id));
    spec["added_tokens"].as_array_mut().unwrap().retain(|token| !is_new(&token["id"]));
    spec["added_tokens"].as_array_mut().unwrap().extend(tokens.iter().map(|token| {
        json!({
            "id": token[1], "content": token[0], "special": token[2], "rstrip": token[3],
            "single_word": false, "lstrip": false, "normalized": false,
        })
    }));
    // An added token that is not in the vocabulary would be numbered anew.
    for token in spec["added_tokens"].as_array().unwrap().clone() {
        spec["model"]["vocab"][token["content"].as_str().unwrap()] = token["id"].clone();
    }
    serde_json::to_vec(&spec).unwrap()
}
