//! Calls, turns and joins: of recorded bodies, of rollouts that were made with the marks of real templates, and of any ids.
#![cfg(all(not(target_arch = "wasm32"), feature = "rollouts"))]

mod common;
#[path = "common/rollouts.rs"]
mod rollouts;

use std::path::{Path, PathBuf};

use common::project;
use rollouts::{Made, Marks, Numbers, Plan, TEMPLATES, lines, make, template};
use serde_json::{Value, json};
use token2text::rollout::{
    Call, Chat, DisagreementKind, Join, JoinKind, Known, Misfit, Role, Rollout, Tokens, calls,
    rollouts as read_rollouts,
};
use token2text::{ReadOptions, Span, read};

fn spans_of(body: &[u8]) -> Vec<Span> {
    read(body, &ReadOptions::default()).unwrap()
}

/// The spans and calls of a recorded body.
fn captured(path: &str) -> (Vec<Span>, Vec<Call>) {
    let path = project("tests/fixtures/captures").join(path);
    let body = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let spans = spans_of(&body);
    let calls = calls(&spans);
    (spans, calls)
}

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

fn one(calls: &[Call]) -> &Call {
    let [call] = calls else { panic!("{} calls", calls.len()) };
    call
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

/// The roles, spans' names, prompts and parents of a rollout, without what depends on the order of copies.
fn shape(spans: &[Span], calls: &[Call], rollout: &Rollout) -> Vec<(String, String, usize, usize, Option<usize>)> {
    let node = |node: &token2text::rollout::Node| {
        let call = &calls[node.call];
        let parent = node.parent.map(|parent| calls[rollout.nodes[parent].call].ids.len());
        (node.role.as_str().to_owned(), spans[call.span].name.clone(), call.prompt, call.ids.len(), parent)
    };
    let mut shape: Vec<_> = rollout.nodes.iter().map(node).collect();
    shape.sort();
    shape
}

/// No call is missing, none is there twice, and what nodes point to is there.
fn check_tree(calls: &[Call], rollouts: &[Rollout]) {
    let mut seen: Vec<usize> = rollouts.iter().flat_map(|rollout| &rollout.nodes).map(|node| node.call).collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..calls.len()).collect::<Vec<_>>());
    for rollout in rollouts {
        for (at, node) in rollout.nodes.iter().enumerate() {
            assert!(node.parent.is_none_or(|parent| parent < at), "a turn takes up one before it");
            assert!(node.within.is_none_or(|within| within < rollout.nodes.len() && within != at));
            assert_eq!(node.join.is_some(), node.parent.is_some());
            if let (Some(join), Some(parent)) = (&node.join, node.parent) {
                let (turn, call) = (&calls[rollout.nodes[parent].call], &calls[node.call]);
                assert_eq!(turn.ids[..join.common], call.ids[..join.common]);
                assert!(join.common <= join.continued && join.continued <= call.prompt, "{join:?}");
                assert!(join.inserted[0] <= join.inserted[1] && join.inserted[1] <= call.prompt, "{join:?}");
                assert!(join.removed.iter().all(|[start, end]| start < end && *end <= turn.ids.len()), "{join:?}");
            }
            for found in &node.disagreements {
                assert!(found.tokens[0] < found.tokens[1] && found.tokens[1] <= calls[node.call].ids.len());
            }
        }
    }
}

/// Folders of recordings: those of the repository, or all if `READ_CAPTURES` names where they are.
fn capture_folders() -> Vec<PathBuf> {
    let roots = match std::env::var_os("READ_CAPTURES") {
        Some(root) => ["mlflow", "otlp", "plain", "trackio", "weave-js", "weave-python"]
            .map(|part| Path::new(&root).join(part))
            .to_vec(),
        None => ["captures", "wire/mlflow", "wire/otlp"].map(|part| project("tests/fixtures").join(part)).to_vec(),
    };
    let entries = roots.into_iter().flat_map(|root| std::fs::read_dir(root).unwrap());
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[test]
fn recorded_rollouts_are_clean() {
    let (mut joins, mut trajectories, mut bodies) = (0, 0, 0);
    for folder in capture_folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            if file == "meta.json" || file == "expected.json" {
                continue;
            }
            let Ok(spans) = read(&std::fs::read(&path).unwrap(), &ReadOptions::default()) else { continue };
            let calls = calls(&spans);
            let rollouts = read_rollouts(&spans, &calls, &());
            check_tree(&calls, &rollouts);
            bodies += 1;
            for node in rollouts.iter().flat_map(|rollout| &rollout.nodes) {
                trajectories += usize::from(node.role == Role::Trajectory);
                // Odd values stand in bodies that are called so; a body with all of them has what was never one rollout.
                if let Some(join) = node.join.as_ref().filter(|_| !name.contains("edge")) {
                    assert!(join.kind.is_legal(), "{name}/{file}: {join:?}");
                    joins += 1;
                }
                if !name.contains("edge") {
                    assert_eq!(node.disagreements, [], "{name}/{file}");
                }
            }
        }
    }
    println!("{bodies} bodies, {joins} joins, {trajectories} trajectories");
    assert!(
        bodies > 60 && joins > 10 && trajectories > 8,
        "{bodies} bodies, {joins} joins, {trajectories} trajectories"
    );
}

#[test]
fn backends_tell_the_same_turns() {
    // Two rollouts in one body each: MLflow's is nested, Weave's has no span around the run, Trackio's is flat, and what its
    // server answers is in no order.
    let folders = [
        ("wire/mlflow/verl-qwen3-ids", "15-get-trace-artifact.json"),
        ("wire/mlflow/verl-qwen3-ids", "16-traces-get.json"),
        ("captures/weave-python-verl-qwen3-ids", "01-calls-complete.json"),
        ("captures/weave-python-verl-qwen3-ids", "02-stream-query.jsonl"),
        ("captures/trackio-verl-qwen3-ids", "01-bulk-log.json"),
        ("captures/trackio-verl-qwen3-ids", "02-get-traces.json"),
    ];
    let mut bodies: Vec<(&str, PathBuf)> =
        folders.iter().map(|(folder, file)| ("qwen3", project("tests/fixtures").join(folder).join(file))).collect();
    if let Some(root) = std::env::var_os("READ_CAPTURES") {
        for tokenizer in ["qwen3", "llama3_1", "llama2"] {
            for backend in ["mlflow", "weave-python", "trackio"] {
                let folder = Path::new(&root).join(backend).join(format!("verl-{tokenizer}-ids"));
                let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
                let wanted = [
                    "put-traces-json",
                    "get-trace-artifact",
                    "calls-complete",
                    "stream-query",
                    "bulk-log",
                    "get-traces.",
                ];
                let files = files.filter(|path| {
                    wanted.iter().any(|part| path.file_name().unwrap().to_string_lossy().contains(part))
                });
                bodies.extend(files.map(|path| (tokenizer, path)));
            }
        }
    }
    // What is told of the first conversation, by tokenizer.
    let mut told = std::collections::BTreeMap::new();
    for (tokenizer, path) in &bodies {
        let spans = spans_of(&std::fs::read(path).unwrap());
        let calls = calls(&spans);
        let rollouts = read_rollouts(&spans, &calls, &());
        check_tree(&calls, &rollouts);
        assert!(!rollouts.is_empty(), "{}", path.display());
        for rollout in &rollouts {
            let shape = shape(&spans, &calls, rollout);
            let key = (*tokenizer, shape.iter().map(|(.., len, _)| *len).max());
            let known = told.entry(key).or_insert_with(|| shape.clone());
            assert_eq!(*known, shape, "{}", path.display());
        }
    }
    let kyoto = &told[&("qwen3", Some(485))];
    let roles: Vec<&str> = kyoto.iter().map(|(role, ..)| role.as_str()).collect();
    assert_eq!(roles, ["copy", "copy", "copy", "trajectory", "turn", "turn", "turn"]);
    let parents: Vec<Option<usize>> = kyoto.iter().map(|&(.., parent)| parent).collect();
    assert_eq!(parents, [None, None, None, None, None, Some(290), Some(390)]);
    println!("{} bodies, {} rollouts", bodies.len(), told.len());
}

#[test]
fn attempts_are_part_of_their_generation() {
    let (spans, calls) = captured("verl-aborted/calls.jsonl");
    let rollouts = read_rollouts(&spans, &calls, &());
    check_tree(&calls, &rollouts);
    let [rollout] = &rollouts[..] else { panic!("{} rollouts", rollouts.len()) };
    let roles: Vec<(usize, Role)> = rollout.nodes.iter().map(|node| (calls[node.call].span, node.role)).collect();
    assert_eq!(roles, [(0, Role::Attempt), (3, Role::Turn), (1, Role::Attempt), (2, Role::Attempt)]);
    assert!(rollout.nodes.iter().all(|node| node.disagreements.is_empty()));
    // In a tree, inside a run, with an attempt that the generation has otherwise.
    let record = |id: &str, parent: Option<&str>, at: u64, name: &str, inputs: Value, outputs: Value| {
        json!({ "trace_id": "t", "span_id": id, "parent_id": parent, "name": name, "inputs": inputs, "outputs": outputs,
            "start_time_unix_nano": at, "end_time_unix_nano": at + 1 })
    };
    let generate = |id: &str, parent: &str, at: u64, name: &str, prompt: &[u32], response: &[u32]| {
        record(id, Some(parent), at, name, json!({ "prompt_ids": prompt }), json!({ "token_ids": response }))
    };
    let records = [
        record(
            "run",
            None,
            1,
            "ToolAgentLoop.run",
            json!({}),
            json!({ "prompt_ids": [1, 2], "response_ids": [3, 4, 5, 9, 6],
            "response_mask": [1, 1, 1, 0, 1] }),
        ),
        generate("outer", "run", 2, "FullyAsyncLLMServerClient.generate", &[1, 2], &[3, 4, 5]),
        generate("a", "outer", 3, "LLMServerClient.generate", &[1, 2], &[3]),
        generate("b", "outer", 4, "LLMServerClient.generate", &[1, 2, 3], &[4, 7]),
        generate("next", "run", 5, "FullyAsyncLLMServerClient.generate", &[1, 2, 3, 4, 5, 9], &[6]),
    ];
    let spans = spans_of(&lines(&records));
    let calls = token2text::rollout::calls(&spans);
    let rollouts = read_rollouts(&spans, &calls, &());
    check_tree(&calls, &rollouts);
    let nodes = &rollouts[0].nodes;
    let told: Vec<(Role, Option<usize>)> = nodes.iter().map(|node| (node.role, node.within)).collect();
    assert_eq!(
        told,
        [
            (Role::Trajectory, None),
            (Role::Turn, Some(0)),
            (Role::Attempt, Some(1)),
            (Role::Attempt, Some(1)),
            (Role::Turn, Some(0))
        ]
    );
    assert_eq!(nodes[4].parent, Some(1));
    let found: Vec<_> = nodes[1].disagreements.iter().map(|found| (found.kind, found.tokens, found.turn)).collect();
    assert_eq!(found, [(DisagreementKind::Ids, [4, 5], Some(3))]);
    assert_eq!(nodes[0].disagreements, []);
}

/// What was read of rollouts that were made.
struct Read {
    calls: Vec<Call>,
    rollouts: Vec<Rollout>,
}

fn read_made(records: &[Value], tokens: &dyn Tokens) -> Read {
    let spans = spans_of(&lines(records));
    let calls = calls(&spans);
    let rollouts = read_rollouts(&spans, &calls, tokens);
    check_tree(&calls, &rollouts);
    Read { calls, rollouts }
}

impl Read {
    /// The joins of the one rollout's turns, in order.
    fn joins(&self) -> Vec<Option<&Join>> {
        let [rollout] = &self.rollouts[..] else { panic!("{} rollouts", self.rollouts.len()) };
        let turns = rollout.nodes.iter().filter(|node| node.role == Role::Turn);
        turns.map(|node| node.join.as_ref()).collect()
    }

    fn kinds(&self) -> Vec<JoinKind> {
        self.joins().into_iter().flatten().map(|join| join.kind).collect()
    }
}

const PLAN: Plan = Plan { turns: 4, words: 12, strips: false, cut: 0 };

#[test]
fn clean_rollouts_have_nothing_to_find() {
    let mut numbers = Numbers(7);
    for template in &TEMPLATES {
        let tokens = template.marks();
        let mut stripped = 0;
        for round in 0..200 {
            let plan =
                Plan { turns: 1 + numbers.below(6), words: 12, strips: template.thinks && round % 3 == 0, cut: 15 };
            let made = make(template, plan, &mut numbers);
            let mut shapes = Vec::new();
            for in_tree in [false, true] {
                let mut records = made.records(in_tree);
                if round % 2 == 1 {
                    records.reverse();
                }
                let read = read_made(&records, &tokens);
                let joins = read.joins();
                assert_eq!(joins.len(), plan.turns, "{} {round}", template.name);
                for (turn, join) in joins.iter().enumerate() {
                    assert_eq!(join.is_some(), turn > 0, "{} {round}: {join:?}", template.name);
                    let Some(join) = join else { continue };
                    let is_known = match plan.strips {
                        true => matches!(join.kind, JoinKind::Extends | JoinKind::ThinkingStripped),
                        false => join.kind == JoinKind::Extends,
                    };
                    assert!(is_known, "{} {round}: {join:?}", template.name);
                    stripped += usize::from(join.kind == JoinKind::ThinkingStripped);
                }
                let nodes = &read.rollouts[0].nodes;
                for node in nodes {
                    assert_eq!(node.disagreements, [], "{} {round}", template.name);
                }
                let has = |role: Role| nodes.iter().filter(|node| node.role == role).count();
                assert_eq!((has(Role::Trajectory), has(Role::Copy)), (usize::from(made.run.is_some()), plan.turns));
                // One after the other.
                let turns: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].role == Role::Turn).collect();
                for pair in turns.windows(2) {
                    assert_eq!(nodes[pair[1]].parent, Some(pair[0]));
                }
                shapes.push(joins.into_iter().map(|join| join.cloned()).collect::<Vec<_>>());
            }
            assert_eq!(shapes[0], shapes[1], "nested and flat give the same");
        }
        assert_eq!(stripped > 50, template.thinks, "{stripped}");
    }
}

#[test]
fn known_templates_tell_the_same() {
    let mut numbers = Numbers(3);
    for template in &TEMPLATES {
        let pair = template.pair();
        let chat = Chat::of(&pair.ours);
        assert!(chat.is_some(), "{}", template.name);
        let (known, marks) = (Known { tokenizer: &pair.ours, chat: chat.as_ref() }, template.marks());
        for round in 0..30 {
            let made =
                make(template, Plan { strips: template.thinks && round % 2 == 0, cut: 30, ..THREE }, &mut numbers);
            let records = made.records(round % 3 == 0);
            let [by_chat, by_marks] = [&known as &dyn Tokens, &marks].map(|tokens| read_made(&records, tokens));
            assert_eq!(by_chat.rollouts, by_marks.rollouts, "{} {round}", template.name);
        }
    }
}

#[test]
fn several_rollouts_in_one_body() {
    let mut numbers = Numbers(11);
    let tokens = template("chatml").marks();
    let made: Vec<Made> = (0..20).map(|_| make(template("chatml"), PLAN, &mut numbers)).collect();
    for in_tree in [false, true] {
        // Interleaved, as workers write them.
        let all: Vec<Vec<Value>> = made.iter().map(|made| made.records(in_tree)).collect();
        let mut records = Vec::new();
        for at in 0..all.iter().map(Vec::len).max().unwrap() {
            records.extend(all.iter().filter_map(|of| of.get(at).cloned()));
        }
        let read = read_made(&records, &tokens);
        assert_eq!(read.rollouts.len(), 20);
        for rollout in &read.rollouts {
            let turns: Vec<_> = rollout.nodes.iter().filter(|node| node.role == Role::Turn).collect();
            assert_eq!(turns.len(), 4);
            let lens: Vec<usize> = turns.iter().map(|turn| read.calls[turn.call].ids.len()).collect();
            let wanted = made.iter().find(|made| made.turns[3].ids().len() == lens[3]).unwrap();
            assert_eq!(lens, wanted.turns.iter().map(|turn| turn.ids().len()).collect::<Vec<_>>());
            assert_eq!(rollout.trajectory.step, Some(3));
        }
    }
    // Two workers whose samples have one number: two roots.
    let mut other = made[1].clone();
    (other.sample_index, other.rollout_n) = (made[0].sample_index, made[0].rollout_n);
    let read = read_made(&[made[0].records(false), other.records(false)].concat(), &tokens);
    let [rollout] = &read.rollouts[..] else { panic!("{} rollouts", read.rollouts.len()) };
    assert_eq!(rollout.nodes.iter().filter(|node| node.role == Role::Turn && node.parent.is_none()).count(), 2);
    assert!(rollout.nodes.iter().all(|node| node.disagreements.is_empty()));
    // Records that say nothing of where they belong: by their ids.
    let plain = |made: &Made| -> Vec<Value> {
        let record = |turn: &rollouts::Turn| json!({ "prompt_token_ids": turn.prompt, "completion_token_ids": turn.response, "logprobs": turn.logprobs });
        made.turns.iter().map(record).collect()
    };
    let read = read_made(&made.iter().flat_map(plain).collect::<Vec<_>>(), &tokens);
    assert_eq!(read.rollouts.len(), 20);
    assert!(read.rollouts.iter().all(|rollout| rollout.nodes.len() == 4));
}

/// A rollout of three turns with a change to its prompts, its responses or its run, in a tree and flat.
fn changed(made: &Made, tokens: &Marks, change: impl Fn(&mut Made)) -> [Read; 2] {
    let mut made = made.clone();
    change(&mut made);
    [false, true].map(|in_tree| read_made(&made.records(in_tree), tokens))
}

/// For each template some rollouts of three turns, whose runs are left out, as the turns are what is looked at.
fn for_each(plan: Plan, test: impl Fn(&Made, &Marks)) {
    let mut numbers = Numbers(23);
    for template in &TEMPLATES {
        let tokens = template.marks();
        for _ in 0..12 {
            let made = make(template, plan, &mut numbers);
            test(&Made { run: None, ..made }, &tokens);
        }
    }
}

const THREE: Plan = Plan { turns: 3, words: 16, strips: false, cut: 0 };

#[test]
fn what_templates_insert_is_told() {
    for_each(THREE, |made, tokens| {
        for read in changed(made, tokens, |_| {}) {
            for join in read.joins().into_iter().flatten() {
                let len = made.template.ids(made.template.between).len();
                assert_eq!((join.kind, join.inserted), (JoinKind::Extends, [join.common, join.common + len]));
            }
        }
    });
    // A model that stops without the end token: the template closes the message.
    for_each(Plan { cut: 100, ..THREE }, |made, tokens| {
        for read in changed(made, tokens, |_| {}) {
            for join in read.joins().into_iter().flatten() {
                let len = 1 + made.template.ids(made.template.between).len();
                assert_eq!((join.kind, join.inserted), (JoinKind::Extends, [join.common, join.common + len]));
            }
        }
    });
}

#[test]
fn a_trimmed_mark_is_legal() {
    // As GLM, which stops with the mark of the next message, that then is another one.
    for_each(THREE, |made, tokens| {
        let mark = made.template.mark(made.template.opens[0]);
        for read in changed(made, tokens, |made| *made.turns[1].response.last_mut().unwrap() = mark) {
            let (joins, turn) = (read.joins(), made.turns[1].ids().len());
            assert_eq!(read.kinds(), [JoinKind::Extends, JoinKind::Trimmed]);
            let join = joins[2].unwrap();
            assert_eq!(
                (join.common, join.continued, join.removed.as_slice()),
                (turn - 1, turn - 1, [[turn - 1, turn]].as_slice())
            );
            assert_eq!(join.inserted[0], turn - 1);
            assert_eq!(join.divergence.as_ref().unwrap().turn, [mark]);
        }
    });
}

#[test]
fn stripped_thinking_is_legal() {
    let mut numbers = Numbers(5);
    let tokens = template("chatml").marks();
    let think = template("chatml").mark("<think>");
    let mut seen = 0;
    for _ in 0..40 {
        let made = make(template("chatml"), Plan { strips: true, cut: 20, ..THREE }, &mut numbers);
        for in_tree in [false, true] {
            let read = read_made(&made.records(in_tree), &tokens);
            for (turn, join) in read.joins().into_iter().enumerate().skip(1) {
                let (join, before) = (join.unwrap(), &made.turns[turn - 1]);
                let thought = before.response[0] == think;
                assert_eq!(join.kind == JoinKind::ThinkingStripped, thought);
                if thought {
                    let [[start, end]] = join.removed[..] else { panic!("{:?}", join.removed) };
                    let text = made.template.pair().ours.decode(&before.ids()[start..end], Default::default());
                    assert!(
                        start == before.prompt.len() && text.starts_with("<think>") && text.ends_with("</think>\n\n")
                    );
                    assert_eq!(join.continued, before.ids().len() - (end - start));
                    seen += 1;
                }
            }
        }
        // Without any knowledge of marks nobody can tell.
        let read = read_made(&made.records(false), &());
        assert!(!read.kinds().contains(&JoinKind::ThinkingStripped));
    }
    assert!(seen > 60, "{seen}");
    // What templates put in: an empty block where there was none, or in place of one that the prompt began.
    let ids = |text: &str| template("chatml").ids(text);
    let record = |prompt: &str, response: &str| json!({ "prompt_token_ids": ids(prompt), "completion_token_ids": ids(response), "logprobs": null });
    let start = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";
    let rest = "Hello there, all<|im_end|>\n<|im_start|>user\nMore<|im_end|>\n<|im_start|>assistant\n";
    for (first, prompt, response) in [
        (start.to_owned(), format!("{start}<think>\n\n</think>\n\n{rest}"), "Hello there, all<|im_end|>"),
        (format!("{start}<think>\n\n</think>\n\n"), format!("{start}{rest}"), "Hello there, all<|im_end|>"),
        (format!("{start}<think>\n"), format!("{start}{rest}"), "hm\n</think>\n\nHello there, all<|im_end|>"),
        (
            start.to_owned(),
            format!("{start}<think>\n\n</think>\n\n{rest}"),
            "<think>\nhm\n</think>\n\nHello there, all<|im_end|>",
        ),
    ] {
        let read = read_made(&[record(&first, response), record(&prompt, "Yes")], &tokens);
        assert_eq!(read.kinds(), [JoinKind::ThinkingStripped], "{first:?} {prompt:?}");
    }
    let edited = format!("{start}<think>\nno\n</think>\n\n{rest}");
    let read = read_made(
        &[record(start, "<think>\nhm\n</think>\n\nHello there, all<|im_end|>"), record(&edited, "Yes")],
        &tokens,
    );
    assert_eq!(read.kinds(), [JoinKind::Edited]);
}

#[test]
fn the_same_text_in_other_ids_is_found() {
    let count = std::cell::Cell::new(0);
    for_each(THREE, |made, tokens| {
        let template = made.template;
        // Somewhere in the response of the second turn, or in what came before it.
        for from in [made.turns[1].prompt.len(), made.turns[0].ids().len()] {
            let whole = made.turns[1].ids();
            let Some((at, halves)) = template.split(&whole, from) else { continue };
            let reads = changed(made, tokens, |made| {
                made.turns[2].prompt.splice(at..=at, halves);
            });
            for read in reads {
                assert_eq!(read.kinds(), [JoinKind::Extends, JoinKind::Retokenized], "{}", template.name);
                let join = read.joins()[2].unwrap();
                let found = join.divergence.as_ref().unwrap();
                assert_eq!((join.common, join.continued), (at, whole.len() + 1));
                assert_eq!(
                    (found.at, found.turn.as_slice(), found.prompt.as_slice()),
                    (at, &whole[at..=at], halves.as_slice())
                );
                count.set(count.get() + 1);
            }
        }
    });
    assert!(count.get() > 150, "{}", count.get());
}

#[test]
fn another_text_is_found() {
    for_each(THREE, |made, tokens| {
        let other = made.template.ids(" somewhere else")[0];
        let (response, whole) = (made.turns[1].prompt.len(), made.turns[1].ids().len());
        // In the response, in what came before it, and in the first message, as a clock in the system prompt does.
        for at in [response + 1, whole - 2, response - 3, 4] {
            for read in changed(made, tokens, |made| made.turns[2].prompt[at] = other) {
                assert_eq!(read.kinds(), [JoinKind::Extends, JoinKind::Edited], "{} at {at}", made.template.name);
                let found = read.joins()[2].unwrap().divergence.as_ref().unwrap();
                assert_eq!((found.at, found.prompt[0], found.turn[0]), (at, other, made.turns[1].ids()[at]));
            }
        }
    });
}

#[test]
fn a_window_that_was_cut_is_told() {
    for_each(THREE, |made, tokens| {
        let old = made.turns[1].prompt.len() - 6;
        for kept in [0, 3] {
            for read in changed(made, tokens, |made| drop(made.turns[2].prompt.drain(kept..old))) {
                let join = read.joins()[2].unwrap();
                assert_eq!(join.kind, JoinKind::TruncatedLeft, "{}", made.template.name);
                let [[start, end]] = join.removed[..] else { panic!("{:?}", join.removed) };
                // Where the cut is depends on what is the same on both sides of it.
                assert_eq!(end - start, old - kept);
                assert!(start >= kept && join.continued == made.turns[1].ids().len() - (old - kept));
            }
        }
    });
}

#[test]
fn branches_give_a_tree() {
    let parents = |read: &Read| -> Vec<(Option<usize>, Option<JoinKind>)> {
        let [rollout] = &read.rollouts[..] else { panic!("{} rollouts", read.rollouts.len()) };
        let turns: Vec<usize> = (0..rollout.nodes.len()).filter(|&at| rollout.nodes[at].role == Role::Turn).collect();
        let place = |at: usize| turns.iter().position(|&turn| turn == at).unwrap();
        let told = |&at: &usize| {
            let node = &rollout.nodes[at];
            (node.parent.map(place), node.join.as_ref().map(|join| join.kind))
        };
        turns.iter().map(told).collect()
    };
    const EXTENDS: Option<JoinKind> = Some(JoinKind::Extends);
    const BRANCH: Option<JoinKind> = Some(JoinKind::Branch);
    let mut numbers = Numbers(31);
    for template in &TEMPLATES {
        let tokens = template.marks();
        for _ in 0..10 {
            let made = Made { run: None, ..make(template, THREE, &mut numbers) };
            let new = |prompt: Vec<u32>, numbers: &mut Numbers| rollouts::Turn {
                prompt,
                response: [template.ids(&format!("Else {}", numbers.text(9))), vec![template.close()]].concat(),
                logprobs: Vec::new(),
            };
            let read = |turns: Vec<rollouts::Turn>| {
                let mut made = made.clone();
                made.turns.extend(turns);
                read_made(&made.records(true), &tokens)
            };
            // Another answer to the second prompt, and a turn after it.
            let sibling = new(made.turns[1].prompt.clone(), &mut numbers);
            let after = template.ids(&format!(
                "{}{}More{}{}{}",
                template.between, template.user.0, template.user.1, template.between, template.assistant.0
            ));
            let next = new([sibling.ids(), after.clone()].concat(), &mut numbers);
            let chain = [(None, None), (Some(0), EXTENDS), (Some(1), EXTENDS)];
            let tree = parents(&read(vec![sibling, next]));
            assert_eq!(
                tree,
                [chain.as_slice(), &[(Some(0), EXTENDS), (Some(3), EXTENDS)]].concat(),
                "{}",
                template.name
            );
            // Another observation after the second turn.
            let fork = new([made.turns[1].ids(), after.clone()].concat(), &mut numbers);
            assert_eq!(parents(&read(vec![fork]))[3], (Some(1), EXTENDS));
            // Another answer to the first prompt: the same beginning, and nothing to take up.
            let root = new(made.turns[0].prompt.clone(), &mut numbers);
            assert_eq!(parents(&read(vec![root]))[3], (Some(0), BRANCH));
            // Another agent, with another first message; one with the same system message where the template has one.
            let system = template.ids(&format!("{}{}Agent{}", template.begin, template.system.0, template.system.1));
            let agent = new([system, after.clone()].concat(), &mut numbers);
            assert_eq!(parents(&read(vec![agent]))[3], (None, None), "{}", template.name);
            if !template.system.0.is_empty() {
                let first = &made.turns[0].prompt;
                let end = first.iter().position(|&id| id == template.close()).unwrap() + 1;
                let agent = new([first[..end].to_vec(), after].concat(), &mut numbers);
                let (parent, kind) = parents(&read(vec![agent]))[3];
                assert_eq!((parent, kind), (Some(0), BRANCH), "{}", template.name);
            }
        }
    }
}

#[test]
fn trajectories_that_disagree_with_their_turns_are_found() {
    let mut numbers = Numbers(41);
    for template in &TEMPLATES {
        let tokens = template.marks();
        for _ in 0..10 {
            let made = make(template, THREE, &mut numbers);
            let first = made.turns[0].prompt.len();
            let ends: Vec<[usize; 2]> = made.turns.iter().map(|turn| [turn.prompt.len(), turn.ids().len()]).collect();
            let found = |change: &dyn Fn(&mut rollouts::Run)| {
                let reads = changed(&made, &tokens, |made| change(made.run.as_mut().unwrap()));
                let told = reads.map(|read| {
                    let [rollout] = &read.rollouts[..] else { panic!("{} rollouts", read.rollouts.len()) };
                    let nodes = rollout.nodes.iter().flat_map(|node| &node.disagreements);
                    nodes.map(|found| (found.kind, found.tokens)).collect::<Vec<_>>()
                });
                assert_eq!(told[0], told[1], "{}", template.name);
                told[0].clone()
            };
            use DisagreementKind::{Ids, MaskOnes, MaskZeros};
            assert_eq!(found(&|_| {}), []);
            // An id of the second turn, of an observation, and of the first one's beginning.
            for at in [ends[1][0] + 2, ends[1][1] + 1, ends[0][0]] {
                assert_eq!(found(&|run| run.response[at - first] += 1), [(Ids, [at, at + 1])], "{}", template.name);
            }
            // The mask: a token of an observation, the one behind a turn, one of a turn, the first of one; moved by one.
            for at in [ends[0][1] + 2, ends[1][1]] {
                assert_eq!(found(&|run| run.mask[at - first] = 1), [(MaskOnes, [at, at + 1])]);
            }
            for at in [ends[1][0] + 1, ends[2][0], ends[0][0]] {
                assert_eq!(found(&|run| run.mask[at - first] = 0), [(MaskZeros, [at, at + 1])]);
            }
            let moved = found(&|run| run.mask.rotate_right(1));
            let mut wanted = Vec::new();
            for (turn, [start, end]) in ends.iter().enumerate() {
                // The last one of the mask comes to the front.
                wanted.extend((turn > 0).then_some((MaskZeros, [*start, start + 1])));
                wanted.extend((turn < 2).then_some((MaskOnes, [*end, end + 1])));
            }
            assert_eq!(moved, wanted);
            // A response that was cut at a length disagrees with nothing.
            let cut = |run: &mut rollouts::Run| {
                let len = ends[2][0] + 2 - first;
                run.response.truncate(len);
                run.mask.truncate(len);
                run.logprobs.truncate(len);
            };
            assert_eq!(found(&cut), []);
        }
    }
    // A turn that the trace does not hold is no mistake of the mask.
    let made = make(template("chatml"), Plan { turns: 5, ..THREE }, &mut numbers);
    for missing in 0..5 {
        let mut records = made.records(true);
        records.retain(|record| record["span_id"] != json!(format!("{}-{}", made.request_id, 1 + missing * 2)));
        let read = read_made(&records, &template("chatml").marks());
        assert!(read.rollouts[0].nodes.iter().all(|node| node.disagreements.is_empty()), "{missing}");
    }
}

/// A long rollout: how many ids its prompts have in all.
fn long(turns: usize, step: u32) -> (Vec<Value>, usize) {
    let (mut history, mut records, mut count) = (Vec::new(), Vec::new(), 0);
    for turn in 0..turns as u32 {
        history.extend((0..step).map(|at| (turn * 131 + at * 7) % 50_000));
        count += history.len();
        let response: Vec<u32> = (0..step).map(|at| (turn * 17 + at * 3) % 50_000).collect();
        records.push(json!({ "trace_id": "t", "span_id": format!("{turn}"), "parent_id": "run", "name": "generate",
            "inputs": { "prompt_ids": history }, "outputs": { "token_ids": response }, "start_time_unix_nano": 1 + turn }));
        history.extend(response);
    }
    (records, count)
}

#[test]
fn long_rollouts_take_one_look_at_each_id() {
    // Two hundred turns, of which every second begins otherwise: what is looked at grows with the ids, not with their square.
    let (mut records, count) = long(200, 80);
    assert!(count > 3_000_000);
    let clean = read_made(&records, &());
    assert!(clean.kinds().len() == 199 && clean.kinds().iter().all(|&kind| kind == JoinKind::Extends));
    for record in records.iter_mut().step_by(2) {
        record["inputs"]["prompt_ids"][40] = json!(7);
    }
    let read = read_made(&records, &());
    assert_eq!(read.joins().len(), 200);
}

mod properties {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A record with ids in one of the shapes that the layouts know.
    fn record() -> impl Strategy<Value = Value> {
        let ids = || vec(0u32..4, 0..12);
        let list = vec(
            prop_oneof![Just(json!(0)), Just(json!(1)), Just(json!(null)), Just(json!(-100)), Just(json!([0.5]))],
            0..12,
        );
        let name = prop_oneof![Just("a.run"), Just("b.generate"), Just("")];
        let shape = 0usize..9;
        let place = (0usize..4, 0usize..6, proptest::option::of(0usize..6), 0u64..5);
        (shape, ids(), ids(), vec(ids(), 0..4), list, name, place).prop_map(|(shape, prompt, response, rows, list, name, place)| {
            let outputs = match shape {
                0 => json!({ "token_ids": response, "log_probs": list }),
                1 => json!({ "prompt_ids": prompt, "response_ids": response, "response_mask": list, "response_logprobs": list }),
                2 => json!({ "tokens": prompt, "response_length": response.len(), "loss_mask": list, "rollout_log_probs": list }),
                3 => json!({ "input_ids": prompt, "completion_mask": list, "old_log_probs": list }),
                4 => json!({ "prompt_token_ids": rows, "response_ids": rows, "loss_masks": [list], "rollout_logprobs": list }),
                5 => json!({ "prompt_ids": [prompt], "completion_ids": rows, "logprobs": [list] }),
                6 => json!({ "prompt_token_ids": prompt, "choices": rows.iter().map(|row| json!({ "token_ids": row })).collect::<Vec<_>>() }),
                7 => json!({ "nodes": rows.iter().enumerate().map(|(at, row)| json!({ "token_ids": row, "parent": at.checked_sub(1),
                    "sampled": at % 2 == 1, "mask": list, "logprobs": list })).collect::<Vec<_>>() }),
                _ => json!({ "prompt_token_ids": prompt, "response_token_ids": rows, "response_loss_mask": [list], "rollout_logprobs": rows }),
            };
            let (trace, id, parent, start) = place;
            let mut record = json!({ "name": name, "outputs": outputs, "inputs": { "request_id": format!("{start}"), "prompt_ids": prompt,
                "responses_ids": response } });
            if trace > 1 {
                record["trace_id"] = json!(trace.to_string());
                record["span_id"] = json!(id.to_string());
                record["parent_id"] = json!(parent.map(|parent| parent.to_string()));
                record["start_time_unix_nano"] = json!(start);
            } else if trace == 1 {
                record["attributes"] = json!({ "sample_index": id, "step": 1 });
            }
            record
        })
    }

    /// Knows a little of tokens: text, a mark, reasoning.
    struct Odd;

    impl Tokens for Odd {
        fn bytes(&self, ids: &[u32]) -> Option<Vec<u8>> {
            Some(ids.iter().flat_map(|id| [b"a".as_slice(), b"aa", b"\n", b"b"][*id as usize % 4]).copied().collect())
        }

        fn mark(&self, id: u32) -> Option<token2text::rollout::Mark> {
            use token2text::rollout::Mark;
            [None, None, Some(Mark::Close), Some(Mark::Reasoning)][id as usize % 4]
        }

        fn reasoning(&self, ids: &[u32]) -> Vec<[usize; 2]> {
            (0..ids.len()).filter(|&at| ids[at] == 3).map(|at| [at, (at + 2).min(ids.len())]).collect()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_ids_give_a_tree_with_each_call_once(records in vec(record(), 0..10)) {
            let spans = spans_of(&lines(&records));
            let calls = calls(&spans);
            for call in &calls {
                prop_assert!(call.prompt <= call.ids.len());
                let behind = call.ids.len() - call.prompt;
                prop_assert!(call.mask.as_ref().is_none_or(|mask| mask.len() == behind));
                prop_assert!(call.logprobs.as_ref().is_none_or(|logprobs| logprobs.len() == behind));
            }
            for tokens in [&() as &dyn Tokens, &Odd] {
                let rollouts = read_rollouts(&spans, &calls, tokens);
                check_tree(&calls, &rollouts);
                prop_assert_eq!(&rollouts, &read_rollouts(&spans, &calls, tokens));
            }
        }
    }
}
