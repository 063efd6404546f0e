//! The option `messages`: conversations on recorded bodies. What the messages must be, verl's own traces say: the agent loop is
//! given them as `raw_prompt`, and the ids of its calls are the chat template's rendering of them.
#![cfg(all(feature = "rollouts", not(target_arch = "wasm32")))]

mod common;

use std::path::{Path, PathBuf};

use common::{at, letters, project, real_set};
use serde_json::{Value, json};
use token2text::{
    EnrichOptions, Enriched, Format, MessagesReport, Origin, Status, TokenizerSet, enrich, enrich_from, strip,
};

/// Of Qwen 3, by the reference library: `<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n`.
const PROMPT: &[u32] = &[151644, 872, 198, 3838, 374, 220, 17, 488, 220, 17, 30, 151645, 198, 151644, 77091, 198];
/// `<think>\nIt adds.\n</think>\n\nLet me see.\n<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call><|im_end|>`.
const RESPONSE: &[u32] = &[
    151667, 198, 2132, 11367, 624, 151668, 271, 10061, 752, 1490, 624, 151657, 198, 4913, 606, 788, 330, 718, 497, 330,
    16370, 788, 5212, 64, 788, 220, 17, 11, 330, 65, 788, 220, 17, 11248, 151658, 151645,
];
/// `\n<|im_start|>user\n<tool_response>\n4\n</tool_response><|im_end|>\n<|im_start|>assistant\n4.<|im_end|>`.
const MORE: &[u32] =
    &[198, 151644, 872, 198, 151665, 198, 19, 198, 151666, 151645, 198, 151644, 77091, 198, 19, 13, 151645];
/// `<|im_start|>critic\nNo.<|im_end|>\n`.
const CRITIC: &[u32] = &[151644, 36996, 292, 198, 2753, 13, 151645, 198];

fn with_messages() -> EnrichOptions {
    let mut options = EnrichOptions::default();
    options.messages = true;
    options
}

fn read(path: &str) -> Vec<u8> {
    let path = project(&format!("tests/fixtures/{path}"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The body with conversations. Also checks that twice is once.
fn written(body: &[u8], tokenizers: &TokenizerSet) -> Enriched {
    let once = enrich(body, tokenizers, &with_messages()).unwrap();
    let twice = enrich(&once.body, tokenizers, &with_messages()).unwrap();
    assert!(twice.body == once.body, "enriching twice is not enriching once");
    assert_eq!(twice.report.totals.messages, 0);
    once
}

fn value(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

/// Messages as verl's loops are given them and as they come back: without ids of calls, and with arguments as values.
fn plain(messages: &Value) -> Vec<Value> {
    let mut plain = messages.as_array().unwrap().clone();
    for message in &mut plain {
        let message = message.as_object_mut().unwrap();
        message.remove("tool_call_id");
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
            *call = json!([call["function"]["name"], arguments]);
        }
    }
    plain
}

/// The attribute of each span of MLflow's JSON that has one, by the name of the span.
fn of_spans(body: &[u8]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for span in value(body)["spans"].as_array().unwrap() {
        if let Some(messages) = span["attributes"]["mlflow.chat.messages"].as_str() {
            found.push((span["name"].as_str().unwrap().to_owned(), value(messages.as_bytes())));
        }
    }
    found
}

#[test]
fn mlflow_gets_the_conversation_of_each_call_and_loop() {
    let body = read("wire/mlflow/verl-qwen3-ids/15-get-trace-artifact.json");
    let Enriched { body: out, report } = written(&body, &real_set("qwen3"));
    let spans = of_spans(&out);
    assert_eq!(report.totals.messages, spans.len());
    assert!(spans.len() >= 2, "{}", report.summary());
    let (_, whole) = spans.iter().find(|(name, _)| name.ends_with("Loop.run")).unwrap();
    for (name, messages) in &spans {
        // Prompts grow, so each conversation is the beginning of that of the loop.
        let (messages, whole) = (plain(messages), plain(whole));
        assert!(whole.starts_with(&messages), "{name}: {messages:?}");
        assert_eq!(messages.last().unwrap()["role"], "assistant");
    }
    let before = value(&body);
    let root =
        before["spans"].as_array().unwrap().iter().find(|span| span["name"].as_str().unwrap().ends_with("Loop.run"));
    let inputs = value(root.unwrap()["attributes"]["mlflow.spanInputs"].as_str().unwrap().as_bytes());
    let given = inputs["kwargs"]["raw_prompt"].as_array().unwrap();
    assert!(!given.is_empty());
    for (message, given) in plain(whole).iter().zip(given) {
        assert_eq!(message["role"], given["role"]);
        // Behind a system message the template writes the tools.
        assert!(
            message["content"].as_str().unwrap().starts_with(given["content"].as_str().unwrap()),
            "{message} {given}"
        );
    }
    assert!(strip(&out, &with_messages()).unwrap() == body, "strip does not give the body back");
}

#[test]
fn recorded_requests_get_conversations_and_give_them_back() {
    let mut count = 0;
    for (file, tokenizer, is_odd) in [
        ("mlflow/verl-qwen3-ids/02-v1-traces.pb", "qwen3", false),
        ("mlflow/verl-qwen3-ids/06-v1-traces.pb", "qwen3", false),
        ("otlp/python-gzip-llama3_1/01-v1-traces.pb", "llama3_1", false),
        ("otlp/js-proto-qwen3/01-v1-traces.pb", "qwen3", false),
        // Unknown ids, bare texts, what is no id.
        ("otlp/js-proto-qwen3/02-v1-traces.pb", "qwen3", true),
        ("otlp/js-json-llama2/01-v1-traces.json", "llama2", true),
    ] {
        let body = read(&format!("wire/{file}"));
        let Enriched { body: out, report } = written(&body, &real_set(tokenizer));
        count += report.totals.messages;
        assert!(strip(&out, &with_messages()).unwrap() == body, "{file}: strip does not give the body back");
        for place in &report.messages {
            // Parsers are given a response.
            assert!(is_odd || matches!(place.reason, None | Some("response_in_inputs")), "{file} {place:?}");
        }
    }
    assert!(count >= 4, "{count}");
}

#[test]
fn other_spans_of_otlp_get_the_parts_of_the_conventions() {
    let values = |ids: &[u32]| ids.iter().map(|id| json!({"intValue": id.to_string()})).collect::<Value>();
    let attribute = |key: &str, ids: &[u32]| json!({"key": key, "value": {"arrayValue": {"values": values(ids)}}});
    let attributes = json!([attribute("prompt_token_ids", PROMPT), attribute("response_token_ids", RESPONSE)]);
    let body = json!({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": attributes}]}]}]}).to_string();
    let Enriched { body: out, report } = written(body.as_bytes(), &real_set("qwen3"));
    assert_eq!(report.totals.messages, 2, "{}", report.summary());
    let attributes = value(&out)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"].clone();
    let keys: Vec<&str> = attributes.as_array().unwrap().iter().map(|pair| pair["key"].as_str().unwrap()).collect();
    assert_eq!(keys[1..3], ["gen_ai.input.messages", "gen_ai.output.messages"]);
    let told = |i: usize| value(attributes[i + 1]["value"]["stringValue"].as_str().unwrap().as_bytes());
    assert_eq!(told(0), json!([{"role": "user", "parts": [{"type": "text", "content": "What is 2 + 2?"}]}]));
    let parts = json!([
        {"type": "reasoning", "content": "It adds."},
        {"type": "text", "content": "Let me see."},
        {"type": "tool_call", "name": "add", "arguments": {"a": 2, "b": 2}},
    ]);
    assert_eq!(told(1), json!([{"role": "assistant", "parts": parts}]));
    assert_eq!(String::from_utf8(strip(&out, &with_messages()).unwrap()).unwrap(), body);
}

/// The messages of a whole loop, as OpenAI's API has them.
fn loop_messages() -> [Value; 4] {
    let call = json!({"id": "call_13_0", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 2, \"b\": 2}"}});
    let thought = "<think>\nIt adds.\n</think>\n\nLet me see.";
    [
        json!({"role": "user", "content": "What is 2 + 2?"}),
        json!({"role": "assistant", "content": thought, "tool_calls": [call]}),
        json!({"role": "tool", "content": "4", "tool_call_id": "call_13_0"}),
        json!({"role": "assistant", "content": "4."}),
    ]
}

fn weave_call(inputs: &Value, output: &Value) -> Value {
    json!({"op_name": "o", "id": "c", "attributes": {}, "inputs": inputs, "output": output})
}

#[test]
fn weave_gets_inputs_and_the_answer() {
    let [user, calls, result, answer] = loop_messages();
    let call = |inputs: Value, output: Value| json!({"batch": [weave_call(&inputs, &output)]}).to_string();
    let body = call(json!({"prompt_ids": PROMPT}), json!({"token_ids": RESPONSE}));
    let Enriched { body: out, .. } = written(body.as_bytes(), &real_set("qwen3"));
    let found = value(&out)["batch"][0].clone();
    assert_eq!(found["inputs"]["messages"], json!([user]));
    let alone = |message: &Value| json!([{"index": 0, "message": message}]);
    assert_eq!(found["output"]["choices"], alone(&calls));
    assert_eq!(String::from_utf8(strip(&out, &with_messages()).unwrap()).unwrap(), body);

    let whole = [RESPONSE, MORE].concat();
    let body = call(json!({"kwargs": {}}), json!({"prompt_ids": PROMPT, "response_ids": whole}));
    let found = value(&written(body.as_bytes(), &real_set("qwen3")).body)["batch"][0].clone();
    assert_eq!(found["inputs"]["messages"], json!([user, calls, result]));
    assert_eq!(found["output"]["choices"], alone(&answer));

    // What is there stays.
    let body = call(json!({"messages": [], "prompt_ids": PROMPT}), json!({"choices": null, "token_ids": RESPONSE}));
    let Enriched { body: out, report } = written(body.as_bytes(), &real_set("qwen3"));
    let statuses: Vec<Status> = report.messages.iter().map(|place| place.status).collect();
    assert_eq!(statuses, [Status::Kept, Status::Decoded]);
    assert_eq!(value(&out)["batch"][0]["inputs"]["messages"], json!([]));
    assert_eq!(value(&out)["batch"][0]["output"]["choices"], alone(&calls));
}

#[test]
fn halves_of_a_weave_call_get_their_parts() {
    let body = read("captures/weave-js-agent-llama3_1/01-upsert-batch.json");
    let Enriched { body: out, report } = written(&body, &real_set("llama3_1"));
    let places: Vec<&str> = report.messages.iter().filter(|place| place.count > 0).map(|place| &*place.path).collect();
    assert!(places.contains(&"/batch/0/req/start/inputs/messages"), "{places:?}");
    assert!(places.contains(&"/batch/1/req/end/output/choices"), "{places:?}");
    let out = value(&out);
    assert_eq!(out["batch"][0]["req"]["start"]["inputs"]["messages"][0]["role"], "system");
    assert_eq!(out["batch"][1]["req"]["end"]["output"]["choices"][0]["message"]["role"], "assistant");
}

fn trackio_body(messages: &Value) -> String {
    let metadata = json!({"inputs": {"prompt_ids": PROMPT}, "output": {"token_ids": RESPONSE}});
    let trace = json!({"_type": "trackio.trace", "messages": messages, "metadata": metadata, "spans": []});
    json!({"logs": [{"run": "r", "metrics": {"t": trace}}]}).to_string()
}

#[test]
fn trackio_has_the_conversation_in_place_of_what_verl_made() {
    let [user, calls, ..] = loop_messages();
    let operation = json!({"role": "system", "content": "verl rollout trace operation: x"});
    let made_of = |role: &str, value: Value| json!({"role": role, "content": value.to_string()});
    let inputs = made_of("user", json!({"inputs": {"prompt_ids": PROMPT}}));
    let output = made_of("assistant", json!({"output": "token_ids=[1]"}));
    let own = json!({"role": "user", "content": "What is 2 + 2?", "more": [1, 2.50]});
    let other = made_of("user", json!({"inputs": {}, "output": {}}));
    for (before, after, status) in [
        (json!([operation, inputs, output]), json!([operation, user, calls]), Status::Replaced),
        (json!([own, output]), json!([own, calls]), Status::Replaced),
        (json!([output, operation, own]), json!([calls, operation, own]), Status::Replaced),
        (json!([own, other]), json!([own, other]), Status::Kept),
        (json!([]), json!([]), Status::Kept),
    ] {
        let body = trackio_body(&before);
        let Enriched { body: out, report } = written(body.as_bytes(), &real_set("qwen3"));
        assert_eq!(value(&out)["logs"][0]["metrics"]["t"]["messages"], after);
        assert_eq!(report.messages.iter().map(|place| place.status).collect::<Vec<_>>(), [status]);
        assert_eq!(report.messages[0].path, "/logs/0/metrics/t/messages");
    }
    // Byte by byte: what is not replaced stays as it was written, also between the messages.
    let body = trackio_body(&json!(["HERE"])).replace("\"HERE\"", &format!(" {{ \"n\" : 1.0 }} ,\n {output} "));
    let out = String::from_utf8(written(body.as_bytes(), &real_set("qwen3")).body).unwrap();
    assert!(out.contains(&format!("\"messages\":[ {{ \"n\" : 1.0 }} ,\n {calls} ]")), "{out}");
}

#[test]
fn ids_go_and_conversations_come() {
    let made_of = |role: &str, value: Value| json!({"role": role, "content": value.to_string()});
    let inputs = made_of("user", json!({"inputs": {"prompt_ids": PROMPT}}));
    let output = made_of("assistant", json!({"output": {"token_ids": RESPONSE}}));
    let mut options = with_messages();
    options.drop_ids = true;
    let once = enrich(trackio_body(&json!([inputs, output])).as_bytes(), &real_set("qwen3"), &options).unwrap();
    let out = value(&once.body)["logs"][0]["metrics"]["t"].clone();
    assert_eq!(out["messages"].as_array().unwrap()[..], loop_messages()[..2]);
    assert_eq!(once.report.totals.ids_dropped, PROMPT.len() + RESPONSE.len(), "{}", once.report.summary());
    assert!(!out.to_string().contains("_ids"), "{out}");
    assert!(enrich(&once.body, &real_set("qwen3"), &options).unwrap().body == once.body);

    let spans = [json!({"prompt_ids": PROMPT}), json!({"token_ids": RESPONSE})].map(|value| value.to_string());
    let attributes = json!({"mlflow.spanInputs": spans[0], "mlflow.spanOutputs": spans[1]});
    let body = json!({"trace_info": {}, "spans": [{"start_time_unix_nano": 1, "attributes": attributes}]}).to_string();
    let out = enrich(body.as_bytes(), &real_set("qwen3"), &options).unwrap();
    let chat = at(&value(&out.body), "/spans/0/attributes/mlflow.chat.messages/!json").unwrap();
    assert_eq!(chat.as_array().unwrap()[..], loop_messages()[..2]);
    assert!(!String::from_utf8(out.body).unwrap().contains("_ids"));
}

/// Inputs, output, options, a tokenizer, and why no conversation is written.
type Case = (Value, Value, fn() -> EnrichOptions, &'static str, &'static str);

/// Why no conversation is written, by what a record in Weave's form says.
#[test]
fn a_conversation_is_whole_or_the_report_says_why() {
    let plain = with_messages;
    let short = || {
        let mut options = with_messages();
        options.max_text_chars = Some(3);
        options
    };
    let small = || {
        let mut options = with_messages();
        options.limits.text_bytes_per_field = 300;
        options
    };
    let unknown = [PROMPT, &[400_000]].concat();
    let raw: &[u32] = &[12522, 5193];
    let long = vec![3838; 60];
    let cases: [Case; 9] = [
        (json!({"prompt_ids": unknown}), json!({"token_ids": RESPONSE}), plain, "qwen3", "unknown_ids"),
        (json!({"prompt_ids": PROMPT}), json!({"token_ids": RESPONSE}), short, "qwen3", "shortened"),
        (
            json!({"prompt_ids": PROMPT}),
            json!({"token_ids": RESPONSE, "response_text": "x"}),
            plain,
            "qwen3",
            "different_text",
        ),
        (json!({"prompt_ids": PROMPT}), json!({"token_ids": [-1]}), plain, "qwen3", "field_skipped"),
        (json!({"responses_ids": RESPONSE}), json!({}), plain, "qwen3", "response_in_inputs"),
        (json!({"prompt_ids": raw}), json!({"token_ids": RESPONSE}), plain, "qwen3", "no_role"),
        (json!({"prompt_ids": [1, 2]}), json!({"token_ids": [3]}), plain, "llama2", "no_chat_template"),
        (json!({"prompt_ids": long}), json!({"token_ids": long}), small, "qwen3", "limit_exceeded"),
        (
            json!({"prompt_ids": [PROMPT, PROMPT]}),
            json!({"token_ids": [RESPONSE, RESPONSE]}),
            plain,
            "qwen3",
            "several_calls",
        ),
    ];
    for (inputs, output, options, tokenizer, reason) in cases {
        let body = json!({"batch": [weave_call(&inputs, &output)]}).to_string();
        let mut options = options();
        let told = enrich(body.as_bytes(), &real_set(tokenizer), &options).unwrap();
        let reasons: Vec<_> = told.report.messages.iter().map(|MessagesReport { reason, .. }| *reason).collect();
        assert_eq!(reasons, [Some(reason)], "{inputs} {output}");
        assert_eq!(told.report.totals.no_messages.iter().collect::<Vec<_>>(), [(reason, 1)]);
        // Everything else is as without.
        options.messages = false;
        assert!(told.body == enrich(body.as_bytes(), &real_set(tokenizer), &options).unwrap().body);
    }
}

#[test]
fn roles_that_mlflow_does_not_know_are_not_written() {
    let body = |prompt: &[u32], more: &str| {
        let inputs = json!({"prompt_ids": prompt}).to_string();
        json!({"trace_info": {}, "spans": [{"start_time_unix_nano": 1, "attributes": {
            "mlflow.spanInputs": inputs, "mlflow.spanOutputs": json!({"token_ids": RESPONSE}).to_string(), "x": more }}]})
        .to_string()
    };
    let prompt = [CRITIC, PROMPT].concat();
    let told = enrich(body(&prompt, "").as_bytes(), &real_set("qwen3"), &with_messages()).unwrap();
    assert_eq!(told.report.messages[0].reason, Some("unknown_role"));
    assert!(told.report.messages[0].detail.as_deref().unwrap().contains("critic"), "{}", told.report.summary());
    assert!(told.report.summary().contains("no conversation, unknown_role: 1"), "{}", told.report.summary());

    let Enriched { body: out, report } = written(body(PROMPT, "").as_bytes(), &real_set("qwen3"));
    assert_eq!(report.messages[0].path, "/spans/0/attributes/mlflow.chat.messages");
    let attribute = at(&value(&out), "/spans/0/attributes/mlflow.chat.messages/!json").unwrap();
    assert_eq!(attribute.as_array().unwrap()[..], loop_messages()[..2]);
}

#[test]
fn formats_without_a_place_are_as_without_the_option() {
    let body = json!({"inputs": {"prompt_ids": PROMPT}, "output": {"token_ids": RESPONSE}}).to_string();
    let told = written(body.as_bytes(), &real_set("qwen3"));
    assert!(told.report.messages.is_empty());
    assert!(told.body == enrich(body.as_bytes(), &real_set("qwen3"), &EnrichOptions::default()).unwrap().body);
    assert!(enrich(b"{}", &letters(), &with_messages()).is_ok());
}

/// Every recorded body, in its own format and as if it were of each other one.
#[test]
fn nothing_else_changes_on_recorded_bodies() {
    let mut files = Vec::new();
    for folder in ["captures", "wire/mlflow", "wire/otlp"] {
        collect(&project(&format!("tests/fixtures/{folder}")), &mut files);
    }
    let mut told = 0;
    for (path, tokenizer) in files {
        let body = std::fs::read(&path).unwrap();
        let url = path.to_string_lossy().into_owned();
        for format in [Format::Auto, Format::Weave, Format::Trackio, Format::Mlflow] {
            let mut options = with_messages();
            options.format = format;
            let origin = Origin { url: Some(&url), ..Origin::default() };
            let Ok(once) = enrich_from(&body, &origin, &real_set(&tokenizer), &options) else { continue };
            let twice = enrich_from(&once.body, &origin, &real_set(&tokenizer), &options).unwrap();
            assert!(once.body == twice.body, "{url} {format:?}");
            assert_eq!(
                once.report.totals.messages,
                once.report.messages.iter().filter(|place| place.count > 0).count()
            );
            told += once.report.totals.messages;
            options.messages = false;
            let plain = enrich_from(&body, &origin, &real_set(&tokenizer), &options).unwrap();
            assert_eq!(plain.report.fields, once.report.fields, "{url}");
            if once.report.totals.messages == 0 {
                assert!(plain.body == once.body, "{url} {format:?}");
            }
        }
    }
    assert!(told > 40, "{told}");
}

/// The bodies of a folder of captures, each with the tokenizer of its capture.
fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let capture = entry.unwrap().path();
        let Ok(meta) = std::fs::read(capture.join("meta.json")) else { continue };
        let tokenizer = value(&meta)["tokenizer"][0].as_str().unwrap().to_owned();
        for file in std::fs::read_dir(&capture).unwrap() {
            let file = file.unwrap().path();
            if !["meta.json", "expected.json"].contains(&&*file.file_name().unwrap().to_string_lossy()) {
                files.push((file, tokenizer.clone()));
            }
        }
    }
}
