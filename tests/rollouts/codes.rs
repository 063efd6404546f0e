//! The codes of findings.

use std::sync::Arc;

use token2text::rollout::{CODES, Chat, CheckOptions};
use token2text::{Tokenizer, TokenizerSet};

use crate::faults::FAULTS;
use crate::made::lines;
use crate::support::{checked, codes};
use crate::templates::template;

#[test]
fn every_code_is_in_the_table_and_used() {
    let planted: Vec<&str> = FAULTS.iter().flat_map(|(.., codes)| codes.iter().copied()).collect();
    // Found by other tests: these here, those of drift, and of the command line.
    let elsewhere =
        ["unreadable", "no_tokenizer", "no_template", "special_as_text", "invalid_utf8", "drift", "drift_unchecked"];
    for (code, ..) in CODES {
        assert!(planted.contains(&code) || elsewhere.contains(&code), "{code}");
    }
}

#[test]
fn the_docs_have_every_code_and_template() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/rollouts.md")).unwrap();
    for (code, level, words) in CODES {
        assert!(docs.contains(&format!("| `{code}` | {} | {words} |", level.as_str())), "{code}");
    }
    for name in Chat::names() {
        assert!(docs.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn models_without_a_tokenizer_and_tokenizers_without_a_template_are_told() {
    let body = br#"{"model": "Qwen/Qwen3-8B", "inputs": {"prompt_ids": [1, 2]}, "outputs": {"token_ids": [3]}}"#;
    let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":1,"b":2,"c":3},"merges":[]}}"#;
    let mut set = TokenizerSet::new();
    set.add("Llama*", Arc::new(Tokenizer::from_json(json).unwrap()));
    let (_, found) = checked(body, &set, &CheckOptions::default());
    assert_eq!(codes(&found), ["no_tokenizer"]);
    assert!(found[0].findings[0].message.contains("\"Qwen/Qwen3-8B\""), "{:?}", found[0].findings);
    set.add("*", Arc::new(Tokenizer::from_json(json).unwrap()));
    let (_, found) = checked(body, &set, &CheckOptions::default());
    assert_eq!(codes(&found), ["no_template"]);
}

#[test]
fn odd_bodies_give_few_words_and_finite_numbers() {
    let template = template("chatml");
    let (prompt, open) = (template.ids("<|im_start|>assistant\n"), template.mark(template.open));
    let told = |outputs: serde_json::Value| {
        let record = serde_json::json!({ "inputs": { "prompt_ids": prompt }, "outputs": outputs });
        checked(&lines(&[record]), &template.set(), &CheckOptions::default()).1.remove(0)
    };
    // A policy that fell apart.
    let found = told(serde_json::json!({ "token_ids": vec![open; 5000] })).findings;
    let words: Vec<&str> =
        found.iter().filter(|found| found.code == "mark_in_text").map(|found| found.message.as_str()).collect();
    let mark =
        format!("the model wrote \"<|im_start|>\" at token {}, inside its own text; 4999 more of it", prompt.len());
    assert_eq!(words, [mark]);
    // Sums that no number holds.
    let logprobs = told(serde_json::json!({ "token_ids": [5, 6, 7], "log_probs": [-1.7e308, -1.7e308, -1.7e308] }))
        .totals
        .logprobs;
    assert!(logprobs.as_ref().is_some_and(|logprobs| logprobs.mean.is_finite()), "{logprobs:?}");
}
