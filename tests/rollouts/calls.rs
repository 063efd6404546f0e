//! Spans to calls, in each shape of the layouts.

use serde_json::{Value, json};
use token2text::rollout::{Call, Misfit, Role, calls, rollouts as read_rollouts};

use crate::common::project;
use crate::support::{captured, one, spans_of};

/// The list at a pointer of a recorded body, as ids.
fn recorded(path: &str, pointer: &str) -> Vec<u32> {
    let body = std::fs::read(project("tests/fixtures/captures").join(path)).unwrap();
    let lines: Value = match serde_json::from_slice(&body) {
        Ok(value) => value,
        Err(_) => body
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice::<Value>(line).unwrap())
            .collect(),
    };
    serde_json::from_value(lines.pointer(pointer).unwrap_or_else(|| panic!("{path}: {pointer}")).clone()).unwrap()
}

/// Where the mask is one, from the mask's own text.
fn runs(call: &Call) -> Vec<[usize; 2]> {
    let mut runs: Vec<[usize; 2]> = Vec::new();
    for at in (0..call.ids.len()).filter(|&at| call.is_model(at)) {
        match runs.last_mut() {
            Some([_, end]) if *end == at => *end += 1,
            _ => runs.push([at, at + 1]),
        }
    }
    runs
}

#[test]
fn a_pair_of_flat_lists() {
    let path = "verl-calls-qwen3/calls.jsonl";
    let (spans, calls) = captured(path);
    assert_eq!((spans.len(), calls.len()), (14, 14));
    assert_eq!(calls[0].prompt_ids(), recorded(path, "/0/inputs/prompt_ids"));
    assert_eq!(calls[0].response_ids(), recorded(path, "/0/outputs/token_ids"));
    assert_eq!((calls[0].span, calls[0].index, calls[0].mask.is_none()), (0, None, true));
    assert_eq!(calls[0].logprobs.as_ref().unwrap()[..2], [-0.30016, -0.22775]);
    // A parser's record has an answer only.
    assert_eq!((calls[1].prompt, calls[1].ids.len()), (0, 54));
    // A trajectory with mask and log-probabilities.
    let run = &calls[6];
    assert_eq!((run.prompt, run.ids.len()), (236, 485));
    assert_eq!(runs(run), [[236, 290], [339, 390], [418, 485]]);
    assert_eq!(run.logprobs.as_ref().unwrap().len(), 249);
    let (_, calls) = captured("vllm-chat-qwen3/response.json");
    // Two choices, which share the prompt.
    let sizes: Vec<_> = calls.iter().map(|call| (call.index, call.prompt, call.ids.len())).collect();
    assert_eq!(sizes, [(Some(0), 236, 290), (Some(1), 236, 275)]);
}

#[test]
fn one_list_by_a_selection() {
    for (path, pointer, ranges) in [
        ("trl-async-grpo/samples.jsonl", "/input_ids", [[148, 168], [208, 231], [249, 335]]),
        ("openrlhf/samples.jsonl", "/observation_tokens", [[236, 290], [339, 390], [418, 485]]),
        ("slime-miles/samples.jsonl", "/0/tokens", [[148, 168], [208, 231], [249, 335]]),
        ("prime-rl/tokens.jsonl", "/token_ids", [[139, 168], [198, 225], [254, 317]]),
        ("areal/dump.jsonl", "/input_ids/0", [[148, 168], [208, 231], [249, 335]]),
    ] {
        let (_, calls) = captured(path);
        let call = &calls[0];
        assert_eq!(call.ids, recorded(path, pointer), "{path}");
        assert_eq!(runs(call), ranges, "{path}");
        assert_eq!(call.prompt, ranges[0][0], "{path}");
        let logprobs = call.logprobs.as_ref().unwrap_or_else(|| panic!("{path}"));
        assert_eq!(logprobs.len(), call.ids.len() - call.prompt, "{path}");
        assert_eq!(call.misfits, [], "{path}");
    }
    // Padding behind the ids that count is left out.
    let (_, calls) = captured("nemo-rl/train_data_step7.jsonl");
    let padded = recorded("nemo-rl/train_data_step7.jsonl", "/token_ids");
    assert!(padded.len() > 317);
    assert_eq!(calls[0].ids, padded[..317]);
    assert_eq!(calls[0].logprobs.as_ref().unwrap().len(), 317 - 139);
    // A sample without a response.
    let (_, calls) = captured("slime-miles/samples.jsonl");
    assert_eq!((calls[1].ids.len(), calls[1].prompt), (148, 148));
}

#[test]
fn lists_of_lists() {
    let sizes = |calls: &[Call]| -> Vec<(Option<usize>, usize, usize)> {
        calls.iter().map(|call| (call.index, call.prompt, call.ids.len() - call.prompt)).collect()
    };
    let (_, calls) = captured("skyrl/batch.json");
    assert_eq!(sizes(&calls), [(Some(0), 236, 54), (Some(1), 339, 51), (Some(2), 418, 67)]);
    assert_eq!(calls[2].mask, Some(vec![true; 67]));
    assert_eq!(calls[1].ids[..339], recorded("skyrl/batch.json", "/prompt_token_ids/1"));
    // Two prompts, four completions.
    let (_, calls) = captured("trl-vllm-serve/generate.json");
    assert_eq!(sizes(&calls), [(Some(0), 236, 54), (Some(1), 236, 9), (Some(2), 339, 51), (Some(3), 339, 7)]);
    assert_eq!(calls[0].logprobs.as_ref().unwrap()[0], -0.30016);
    // Choices of one prompt; those of a stream.
    let (_, calls) = captured("tinker/capture.jsonl");
    assert_eq!(sizes(&calls), [(Some(0), 236, 54), (Some(1), 236, 4)]);
    let (_, calls) = captured("vllm-chat-stream-n2/response.sse");
    assert_eq!(sizes(&calls), [(Some(0), 139, 29), (Some(1), 139, 50)]);
    // Each choice with a prompt of its own, which stands in the request once more.
    let (_, calls) = captured("sglang-generate/exchange.jsonl");
    assert_eq!(sizes(&calls), [(Some(0), 139, 29), (Some(1), 198, 27)]);
    // The rows are turns of one call, and the last one stands in a choice once more.
    let (spans, calls) = captured("ms-swift/rollout.json");
    assert_eq!(sizes(&calls), [(None, 148, 129), (Some(0), 0, 86)]);
    assert_eq!(calls[0].logprobs.as_ref().unwrap().len(), 129);
    let rollouts = read_rollouts(&spans, &calls, &());
    assert_eq!((rollouts.len(), rollouts[0].nodes[1].role, rollouts[0].nodes[1].within), (1, Role::Copy, Some(0)));
    // Prompts that answers cannot be shared out to.
    let spans = spans_of(br#"{"prompt_ids": [[1], [2]], "completion_ids": [[3], [4], [5]], "logprobs": null}"#);
    assert_eq!(
        sizes(&token2text::rollout::calls(&spans)),
        [(Some(0), 1, 0), (Some(1), 1, 0), (Some(0), 0, 1), (Some(1), 0, 1), (Some(2), 0, 1)]
    );
}

#[test]
fn messages_that_add_ids() {
    let (_, calls) = captured("verifiers/graph.json");
    let call = one(&calls);
    assert_eq!(runs(call), [[148, 168], [208, 231], [249, 335]]);
    // Log-probabilities are there for the model's ids only.
    let logprobs = call.logprobs.as_ref().unwrap();
    assert_eq!((logprobs.len(), logprobs[0], logprobs[20].is_nan()), (187, -0.15325, true));
    // Two branches of one root.
    let nodes = json!({ "nodes": [
        { "message": {}, "parent": null, "sampled": false, "token_ids": [1, 2], "mask": [false, false], "logprobs": [] },
        { "message": {}, "parent": 0, "sampled": true, "token_ids": [3, 4], "mask": [true, true], "logprobs": [-0.5, -0.25] },
        { "message": {}, "parent": 0, "sampled": true, "token_ids": [5], "mask": [true], "logprobs": [-1.0] },
    ]});
    let spans = spans_of(nodes.to_string().as_bytes());
    let calls = token2text::rollout::calls(&spans);
    let ids: Vec<&[u32]> = calls.iter().map(|call| call.ids.as_slice()).collect();
    assert_eq!(ids, [[1, 2, 3, 4].as_slice(), &[1, 2, 5]]);
    assert_eq!((calls[0].prompt, calls[1].logprobs.clone()), (2, Some(vec![-1.0])));
    let (_, calls) = captured("vllm-responses/response.json");
    assert_eq!((one(&calls).prompt, one(&calls).ids.len()), (148, 168));
    let (_, calls) = captured("tinker/sample.json");
    assert_eq!((one(&calls).prompt, one(&calls).ids.len()), (236, 290));
}

#[test]
fn masks_and_logprobs_that_do_not_fit() {
    let call = |mask: &str, logprobs: &str| {
        let body = format!(
            r#"{{"output": {{"prompt_ids": [9], "response_ids": [5, 6, 7], "response_mask": {mask}, "response_logprobs": {logprobs}}}}}"#
        );
        one(&calls(&spans_of(body.as_bytes()))).clone()
    };
    let fits = call("[1, 0.0, true]", "[-0.5, NaN, null]");
    assert_eq!(fits.mask, Some(vec![true, false, true]));
    let logprobs = fits.logprobs.unwrap();
    assert!(logprobs[0] == -0.5 && logprobs[1].is_nan() && logprobs[2].is_nan());
    assert_eq!(call("[-100, 6, 7]", "null").mask, Some(vec![false, true, true]));
    let odd = call("[1, 0]", "[-1, -2, -3, -4]");
    assert_eq!((odd.mask, odd.logprobs), (None, None));
    let wrong = |list: &'static str, len: usize| format!("{list} {len} 3");
    let told = |misfit: &Misfit| format!("{} {} {}", misfit.list, misfit.len, misfit.ids);
    assert_eq!(odd.misfits.iter().map(told).collect::<Vec<_>>(), [wrong("mask", 2), wrong("logprobs", 4)]);
    // Log-probabilities for the ones of the mask alone.
    let compact = call("[1, 0, 1]", "[-1, -3]").logprobs.unwrap();
    assert!(compact[0] == -1.0 && compact[1].is_nan() && compact[2] == -3.0);
    // Of a selection: for the response, for the whole list, or for neither.
    let slime = |mask: &str| {
        let body = format!(r#"{{"tokens": [1, 2, 3, 4, 5], "response_length": 3, "loss_mask": {mask}}}"#);
        let call = one(&calls(&spans_of(body.as_bytes()))).clone();
        (call.mask.unwrap(), call.misfits.len())
    };
    assert_eq!(slime("[1, 0, 1]"), (vec![true, false, true], 0));
    assert_eq!(slime("[0, 0, 0, 1, 1]"), (vec![false, true, true], 0));
    assert_eq!(slime("[1, 1, 1, 1, 1, 1]"), (vec![true; 3], 1));
}
