//! Which tokenizer decodes which span, and the signs that it is the wrong one.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::sync::Arc;

use common::{letters, letters_tokenizer};
use token2text::{EnrichOptions, TokenizerSet, enrich};

#[test]
fn models_choose_their_tokenizer() {
    let mut set = TokenizerSet::new();
    set.add("Qwen/*", Arc::new(letters_tokenizer()));
    let run = |body: &str| enrich(body.as_bytes(), &set, &EnrichOptions::default()).unwrap().report.fields.remove(0);
    for body in [
        r#"{"model": "Qwen/Qwen3", "token_ids": [0]}"#,
        r#"{"attributes": {"gen_ai.request.model": "Qwen/Qwen3"}, "outputs": {"token_ids": [0]}}"#,
        r#"{"inputs": {"model": "Qwen/Qwen3"}, "outputs": {"token_ids": [0]}}"#,
        r#"{"attributes": {"gen_ai.response.model": "Qwen/Qwen3"}, "outputs": {"token_ids": [0]}}"#,
        r#"{"attributes": {"llm.model_name": "Qwen/Qwen3"}, "outputs": {"token_ids": [0]}}"#,
        r#"{"attributes": {"gen_ai.request.model": "Qwen/Qwen3", "model": "Llama"}, "outputs": {"token_ids": [0]}}"#,
        r#"{"outputs": {"model": "Qwen/Qwen3", "token_ids": [0]}, "inputs": {"model": "qwen"}}"#,
        r#"{"request": {"model": "Qwen/Qwen3"}, "response": {"token_ids": [0]}}"#,
        r#"{"request": {"model": "qwen"}, "response": {"model": "Qwen/Qwen3", "token_ids": [0]}}"#,
        r#"{"metadata": {"model_name": "Qwen/Qwen3"}, "token_ids": [0]}"#,
        r#"{"resource": {"attributes": {"gen_ai.request.model": "Qwen/Qwen3"}}, "outputs": {"token_ids": [0]}}"#,
    ] {
        assert_eq!(run(body).tokenizer.as_deref(), Some("Qwen/*"), "{body}");
    }
    for body in [r#"{"model": "Llama", "token_ids": [0]}"#, r#"{"token_ids": [0]}"#] {
        assert_eq!(run(body).reason, Some("no_tokenizer"), "{body}");
    }
}

#[test]
fn a_span_of_another_model_is_left_alone_and_reported() {
    let mut set = TokenizerSet::new();
    set.add("Qwen/*", Arc::new(letters_tokenizer()));
    let body = br#"{"model": "Llama", "token_ids": [0]}"#;
    let out = enrich(body, &set, &EnrichOptions::default()).unwrap();
    assert_eq!(out.body, body);
    let detail = out.report.fields[0].detail.as_deref().unwrap();
    assert_eq!(detail, "the model is `Llama`, and no pattern of the tokenizers matches");
}

#[test]
fn many_unknown_ids_are_a_sign_of_the_wrong_tokenizer() {
    let warned = |known: usize, unknown: usize| {
        let ids: Vec<usize> = vec![1; known].into_iter().chain(vec![99; unknown]).collect();
        let report = enrich(format!("{{\"token_ids\": {ids:?}}}").as_bytes(), &letters(), &EnrichOptions::default())
            .unwrap()
            .report;
        report.warnings.iter().map(|warning| (warning.code, warning.path.clone())).collect::<Vec<_>>()
    };
    assert_eq!(warned(99, 1), []);
    assert_eq!(warned(98, 1), [("tokenizer_mismatch", "/token_ids".to_owned())]);
    assert_eq!(warned(0, 1), [("tokenizer_mismatch", "/token_ids".to_owned())]);
    assert_eq!(warned(0, 0), []);
}
