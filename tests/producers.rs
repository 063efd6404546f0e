//! Producers of token ids: a small body of each in its own shape, the names that mean more than one thing, and what is
//! said where two layouts fit.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::BTreeSet;

use common::{at, letters, project, real_set};
use serde_json::{Value, json};
use token2text::{EnrichOptions, Layout, Report, Status, enrich, strip};

struct Producer {
    name: String,
    layout: Option<String>,
    tokenizer: String,
    body: Value,
    fields: Vec<Value>,
}

/// What `tests/oracle/producers.py` wrote.
fn producers() -> Vec<Producer> {
    let mut producers = Vec::new();
    for entry in std::fs::read_dir(project("tests/fixtures/producers")).unwrap() {
        let path = entry.unwrap().path();
        let value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        producers.push(Producer {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            layout: value["layout"].as_str().map(str::to_owned),
            tokenizer: value["tokenizer"].as_str().unwrap().to_owned(),
            body: value["body"].clone(),
            fields: value["fields"].as_array().unwrap().clone(),
        });
    }
    producers.sort_by(|a, b| a.name.cmp(&b.name));
    producers
}

#[test]
fn every_producer_is_decoded_by_its_layout_and_nothing_else() {
    let options = EnrichOptions::default();
    let mut seen = BTreeSet::new();
    for producer in producers() {
        let Producer { name, layout, body, fields, .. } = &producer;
        let text = body.to_string();
        let enriched = enrich(text.as_bytes(), &real_set(&producer.tokenizer), &options).unwrap();
        let value: Value = serde_json::from_slice(&enriched.body).unwrap();
        let report = &enriched.report;
        for expected in fields {
            let path = expected["text_path"].as_str().unwrap();
            assert_eq!(at(&value, path).as_ref(), Some(&expected["text"]), "{name} {path}");
            let field = report.fields.iter().find(|field| field.text_path.as_deref() == Some(path)).unwrap();
            assert_eq!(serde_json::to_value(field.kind).unwrap(), expected["kind"], "{name} {path}");
            assert_eq!(Some(&field.layout), layout.as_ref(), "{name} {path}");
            assert_eq!(field.status, Status::Decoded, "{name} {path}");
        }
        assert_eq!(report.fields.len(), fields.len(), "{name}: {:?}", report.fields);
        assert_eq!(report.warnings, [], "{name}");
        let again = enrich(&enriched.body, &real_set(&producer.tokenizer), &options).unwrap();
        assert!(again.body == enriched.body, "{name}: twice is not once");
        assert_eq!(String::from_utf8(strip(&enriched.body, &options).unwrap()).unwrap(), text, "{name}");
        seen.extend(layout.clone());
    }
    let layouts: BTreeSet<String> = Layout::builtin().iter().map(|layout| layout.name().to_owned()).collect();
    // Those of event streams have theirs among the captures.
    let layouts: BTreeSet<String> = layouts.into_iter().filter(|name| !name.ends_with("-stream")).collect();
    assert_eq!(seen, layouts, "each built-in layout has a body");
}

fn run(body: &Value) -> Report {
    enrich(body.to_string().as_bytes(), &letters(), &EnrichOptions::default()).unwrap().report
}

/// Address, kind and layout of each field, and which ids a selection takes.
fn found(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for field in run(body).fields {
        let kind = serde_json::to_value(field.kind).unwrap();
        let select = field.select.map_or(String::new(), |select| serde_json::to_value(select).unwrap().to_string());
        found.push(format!("{} {} {}{select}", field.path, kind.as_str().unwrap(), field.layout));
    }
    found
}

#[test]
fn token_ids_are_the_response_the_prompt_or_the_whole() {
    assert_eq!(found(&json!({ "token_ids": [0] })), ["/token_ids response verl"]);
    assert_eq!(found(&json!({ "choices": [{ "token_ids": [0] }] })), ["/choices/0/token_ids response vllm"]);
    assert_eq!(found(&json!({ "token_ids": [0], "sampling_params": {} })), ["/token_ids prompt vllm"]);
    let exchange = json!({ "request": { "token_ids": [0] }, "response": { "choices": [{ "token_ids": [1] }] } });
    assert_eq!(found(&exchange), ["/request/token_ids prompt vllm", "/response/choices/0/token_ids response vllm"]);
    for (mask, layout, values) in [
        ("token_loss_mask", "nemo-rl", json!([0, 1])),
        ("loss_mask", "prime-rl", json!([false, true])),
        ("assistant_mask", "art", json!([0, 1])),
    ] {
        assert_eq!(
            found(&json!({ "token_ids": [0, 1], mask: values })),
            [
                format!("/token_ids prompt {layout}{{\"mask\":\"/{mask}\",\"value\":0.0}}"),
                format!("/token_ids response {layout}{{\"mask\":\"/{mask}\",\"value\":1.0}}"),
            ]
        );
    }
    assert_eq!(
        found(&json!({ "token_ids": [0, 1], "labels": [-100, 1] })),
        [
            "/token_ids prompt xtuner{\"mask\":\"/labels\",\"value\":-100.0}",
            "/token_ids response xtuner{\"mask\":\"/labels\",\"not\":-100.0}",
        ]
    );
    // The delta of a message, and the messages of a branch.
    assert_eq!(
        found(&json!({ "nodes": [{ "parent": null, "sampled": true, "token_ids": [0] }] })),
        ["/nodes/*/token_ids response verifiers", "/nodes/0/token_ids response verifiers"]
    );
}

#[test]
fn the_report_names_the_length_of_a_padded_sequence() {
    let padded = json!({ "token_ids": [0, 1, 25], "token_loss_mask": [0, 1, 0], "input_lengths": 2 });
    let select = r#"{"mask":"/token_loss_mask","value":0.0,"length":"/input_lengths"}"#;
    assert_eq!(found(&padded)[0], format!("/token_ids prompt nemo-rl{select}"));
}

#[test]
fn tokens_are_a_response_a_sequence_a_chunk_strings_or_objects() {
    let none: [&str; 0] = [];
    assert_eq!(found(&json!({ "tokens": [0, 1], "tokens_predicted": 2 })), ["/tokens response llama.cpp"]);
    assert_eq!(
        found(&json!({ "tokens": [0, 1], "response_length": 1 })),
        [
            "/tokens prompt slime{\"tail\":\"/response_length\",\"inside\":false}",
            "/tokens response slime{\"tail\":\"/response_length\",\"inside\":true}",
        ]
    );
    assert_eq!(found(&json!({ "sequences": [{ "tokens": [0] }] })), ["/sequences/0/tokens response tinker"]);
    let chunks = json!([{ "type": "encoded_text", "tokens": [0] }, { "type": "other", "tokens": [1] }]);
    assert_eq!(found(&json!({ "prompt": { "chunks": chunks } })), ["/prompt/chunks/0/tokens prompt tinker"]);
    assert_eq!(found(&json!({ "choices": [{ "text": "a", "logprobs": { "tokens": ["a", "b"] } }] })), none);
    assert_eq!(found(&json!({ "details": { "tokens": [{ "id": 0 }] } })), ["/details/tokens/*/id response tgi"]);
    // Nothing says what these are.
    assert_eq!(found(&json!({ "tokens": [0, 1] })), none);
}

#[test]
fn input_ids_are_the_prompt_or_the_whole() {
    let none: [&str; 0] = [];
    assert_eq!(found(&json!({ "input_ids": [0], "sampling_params": {} })), ["/input_ids prompt sglang"]);
    for (mask, layout) in [("completion_mask", "trl"), ("loss_mask", "areal")] {
        assert_eq!(
            found(&json!({ "input_ids": [0, 1], mask: [0, 1] })),
            [
                format!("/input_ids prompt {layout}{{\"mask\":\"/{mask}\",\"value\":0.0}}"),
                format!("/input_ids response {layout}{{\"mask\":\"/{mask}\",\"value\":1.0}}"),
            ]
        );
    }
    assert_eq!(found(&json!({ "input_ids": [0, 1] })), none);
}

#[test]
fn prompt_tokens_are_a_count_or_ids() {
    let none: [&str; 0] = [];
    let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3 });
    assert_eq!(found(&json!({ "usage": usage, "choices": [{ "message": {} }] })), none);
    assert_eq!(found(&json!({ "prompt_tokens": 7, "completion_tokens": 3 })), none);
    assert_eq!(
        found(&json!({ "output_ids": [0], "meta_info": { "prompt_tokens": 7 } })),
        ["/output_ids response sglang"]
    );
    assert_eq!(
        found(&json!({ "prompt_tokens": [0], "samples": [{ "tokens": [1] }] })),
        ["/prompt_tokens prompt tinker", "/samples/0/tokens response tinker"]
    );
    // Anthropic's usage, XTuner's span attributes.
    assert_eq!(found(&json!({ "input_tokens": 7, "output_tokens": 3 })), none);
    assert_eq!(found(&json!({ "attributes": { "prompt.tokens": 7 } })), none);
}

#[test]
fn response_ids_are_flat_or_a_batch() {
    assert_eq!(
        found(&json!({ "prompt_ids": [0], "response_ids": [1] })),
        ["/prompt_ids prompt verl", "/response_ids response verl"]
    );
    let batch = json!({ "prompt_token_ids": [[0]], "response_ids": [[1], [2]] });
    assert_eq!(found(&batch), ["/prompt_token_ids prompt skyrl", "/response_ids response skyrl"]);
}

#[test]
fn prompt_text_of_a_server_is_kept_and_compared() {
    let report = run(&json!({ "prompt_text": "chat", "prompt_token_ids": [0], "choices": [{ "token_ids": [1] }] }));
    let statuses: Vec<_> = report.fields.iter().map(|field| field.status).collect();
    assert_eq!(statuses, [Status::Kept, Status::Decoded]);
    assert_eq!(report.totals.different, 1);
}

#[test]
fn bytes_and_candidates_are_never_ids() {
    let none: [&str; 0] = [];
    let token = json!({ "token": "a", "bytes": [0, 1], "top_logprobs": [{ "token": "b", "bytes": [1] }] });
    assert_eq!(found(&json!({ "choices": [{ "message": {}, "logprobs": { "content": [token] } }] })), none);
    let probability = json!({ "id": 3, "bytes": [7], "top_logprobs": [{ "id": 4, "bytes": [8] }] });
    assert_eq!(
        found(&json!({ "id_slot": 0, "completion_probabilities": [probability] })),
        ["/completion_probabilities/*/id response llama.cpp"]
    );
    let pieces = json!([{ "id": 1, "piece": [240, 159] }]);
    assert_eq!(found(&json!({ "tokens": pieces })), ["/tokens/*/id prompt llama.cpp"]);
    assert_eq!(
        found(&json!({ "prompt_ids": [[0]], "completion_ids": [[1]], "logprob_token_ids": [[[2, 3]]] })),
        ["/prompt_ids prompt trl", "/completion_ids response trl"]
    );
}

#[test]
fn masks_of_padding_are_not_masks_of_the_model() {
    let batch = json!({ "prompt_ids": [[25, 0]], "prompt_mask": [[0, 1]], "completion_ids": [[1, 2, 25]],
        "completion_mask": [[1, 1, 0]], "tool_mask": [[1, 0, 0]] });
    let out = enrich(batch.to_string().as_bytes(), &letters(), &EnrichOptions::default()).unwrap();
    let value: Value = serde_json::from_slice(&out.body).unwrap();
    assert_eq!((&value["prompt_text"], &value["response_text"]), (&json!(["a"]), &json!(["bc"])));
}

#[test]
fn ids_that_two_layouts_read_otherwise_are_reported() {
    let ambiguous = |body: Value| {
        let report = run(&body);
        let warnings: Vec<_> = report.warnings.iter().map(|warning| (warning.code, warning.path.clone())).collect();
        (report.fields[0].layout.clone(), warnings)
    };
    let warned = |path: &str| vec![("ambiguous_layout", path.to_owned())];
    assert_eq!(
        ambiguous(json!({ "token_ids": [0, 1], "loss_mask": [0, 1], "token_loss_mask": [1, 0] })),
        ("nemo-rl".into(), warned("/token_ids"))
    );
    assert_eq!(
        ambiguous(json!({ "input_ids": [0, 1], "loss_mask": [0, 1], "completion_mask": [1, 1] })),
        ("trl".into(), warned("/input_ids"))
    );
    assert_eq!(
        ambiguous(json!({ "tokens": [0, 1], "response_length": 1, "id_slot": 0 })),
        ("slime".into(), warned("/tokens"))
    );
    // The layout for any `token_ids` is only the more general one; two that read the same are no matter.
    assert_eq!(ambiguous(json!({ "token_ids": [0, 1], "loss_mask": [0, 1] })), ("prime-rl".into(), vec![]));
    assert_eq!(ambiguous(json!({ "choices": [{ "token_ids": [0], "matched_stop": 1 }] })), ("sglang".into(), vec![]));
}

#[test]
fn the_option_layouts_decides() {
    let body = json!({ "token_ids": [0, 1], "loss_mask": [0, 1], "token_loss_mask": [1, 0] }).to_string();
    for name in ["prime-rl", "nemo-rl", "verl"] {
        let options = format!("{{\"layouts\": [\"{name}\"]}}");
        let options = EnrichOptions::from_json(options.as_bytes()).unwrap();
        let report = enrich(body.as_bytes(), &letters(), &options).unwrap().report;
        assert_eq!(report.fields[0].layout, name);
        assert_eq!(report.warnings, []);
    }
}
