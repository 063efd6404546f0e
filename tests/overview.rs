//! What is known of rollouts without decoding: lines of a list, numbers beside tokens, rewards.
#![cfg(all(not(target_arch = "wasm32"), feature = "rollouts"))]

mod common;

use common::project;
use serde_json::{Value, json};
use token2text::rollout::{CheckOptions, Numbers, Role, Rollouts};
use token2text::{ReadOptions, TokenizerSet, read};

fn opened(body: &[u8]) -> Rollouts {
    let spans = read(body, &ReadOptions::default()).unwrap();
    Rollouts::new(spans, TokenizerSet::new(), CheckOptions::default()).unwrap()
}

fn of_lines(records: &[Value]) -> Rollouts {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    opened(lines.join("\n").as_bytes())
}

/// The numbers of the only call of the only rollout.
fn numbers_of(record: &Value) -> Vec<Numbers> {
    let rollouts = of_lines(std::slice::from_ref(record));
    let [numbers] = &rollouts.numbers(0)[..] else { panic!("{} calls", rollouts.calls.len()) };
    numbers.clone()
}

fn names(numbers: &[Numbers]) -> Vec<&str> {
    numbers.iter().map(|one| one.name.as_str()).collect()
}

/// The values, with none for NaN.
fn values(numbers: &Numbers) -> Vec<Option<f64>> {
    numbers.values.iter().map(|&value| Some(value).filter(|value| !value.is_nan())).collect()
}

fn with_output(members: Value) -> Value {
    let mut output = json!({"token_ids": [10, 11, 12, 13, 14]});
    output.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    json!({"inputs": {"prompt_ids": [1, 2, 3, 4]}, "output": output})
}

#[test]
fn a_list_as_long_as_a_part_of_the_call_is_one() {
    let record = with_output(json!({
        "log_probs": [-0.5, -0.25, -1, -2, -4],
        "entropy": [0.1, null, 1e-300, 2, 0.30000000000000004],
        "prompt_logprobs": [null, -1, -2, -3],
        "values": [1, 2, 3, 4, 5, 6, 7, 8, 9.5],
        "three": [1, 2, 3], "six": [1, 2, 3, 4, 5, 6], "words": ["a", "b", "c", "d", "e"], "flags": [true, true, false, true, true],
        "nothing": [null, null, null, null, null],
    }));
    let found = numbers_of(&record);
    assert_eq!(names(&found), ["logprobs", "entropy", "prompt_logprobs", "values"]);
    let behind = [None, None, None, None];
    let of = |response: [Option<f64>; 5]| [&behind[..], &response].concat();
    assert_eq!(values(&found[0]), of([Some(-0.5), Some(-0.25), Some(-1.0), Some(-2.0), Some(-4.0)]));
    assert_eq!(values(&found[1]), of([Some(0.1), None, Some(1e-300), Some(2.0), Some(0.1 + 0.2)]));
    assert_eq!(values(&found[2])[..5], [None, Some(-1.0), Some(-2.0), Some(-3.0), None]);
    assert_eq!(found[3].values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.5]);
}

#[test]
fn what_names_tokens_or_picks_them_is_none() {
    let record = json!({"output": {
        "prompt_ids": [1, 2, 3, 4], "response_ids": [10, 11, 12, 13, 14], "response_mask": [1, 1, 0, 1, 1],
        "again": [10, 11, 12, 13, 14], "whole": [1, 2, 3, 4, 10, 11, 12, 13, 14], "same_mask": [1, 1, 0, 1, 1],
        "whole_mask_of_another_name": [0, 0, 0, 0, 1, 1, 0, 1, 1],
        "position_ids": [4, 5, 6, 7, 8], "attention_mask": [1, 1, 1, 1, 1], "teacher_ids": [7, 7, 7, 7, 7], "labels": [-100, 11, 12, 13, 14],
        "versions": [3, 3, 4, 4, 4],
    }});
    assert_eq!(names(&numbers_of(&record)), ["versions"]);
}

#[test]
fn they_are_found_wherever_they_are_and_named_apart() {
    let record = json!({
        "inputs": {"prompt_ids": [1, 2, 3, 4], "ref": {"logprob": [-1, -1, -1, -1, -1]}},
        "output": {
            "token_ids": [10, 11, 12, 13, 14],
            "log_probs": [-0.5, -0.5, -0.5, -0.5, -0.5],
            "old": {"logprob": [-2, -2, -2, -2, -2], "same": [-0.5, -0.5, -0.5, -0.5, -0.5]},
        },
        "attributes": {"train.advantages": "[0.5, 0.5, 0.5, 0.5, NaN]", "deep": [[{"more": [{"kl": [0, 0, 0, 0, 1]}]}]]},
    });
    let found = numbers_of(&record);
    assert_eq!(names(&found), ["logprobs", "old.logprob", "train.advantages", "kl", "ref.logprob"]);
    assert_eq!(values(&found[2])[7..], [Some(0.5), None]);
}

#[test]
fn rows_and_choices_have_their_own() {
    let batch = json!({
        "prompt_token_ids": [[1, 2], [1, 3]], "response_ids": [[10, 11, 12, 13], [20, 21, 22, 23, 24]],
        "loss_masks": [[1, 1, 1, 1], [1, 1, 1, 1, 1]], "rewards": [1.0, 0.0],
        "entropies": [[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8, 0.9]],
        "extra": [{"adv": [1, 2, 3, 4]}, {"adv": [5, 6, 7, 8, 9]}],
    });
    let rollouts = of_lines(&[batch]);
    let (mut calls, mut seen) = (Vec::new(), Vec::new());
    for at in 0..rollouts.list.len() {
        seen.extend(rollouts.list[at].nodes.iter().map(|node| rollouts.calls[node.call].index));
        calls.extend(rollouts.numbers(at));
    }
    assert_eq!(seen, [Some(0), Some(1)]);
    assert_eq!(calls.iter().map(|call| names(call)).collect::<Vec<_>>(), [["entropies", "adv"]; 2]);
    assert_eq!(calls[0][0].values[2..], [0.1, 0.2, 0.3, 0.4]);
    assert_eq!(calls[1][0].values[2..], [0.5, 0.6, 0.7, 0.8, 0.9]);
    assert_eq!(calls[1][1].values[2..], [5.0, 6.0, 7.0, 8.0, 9.0]);
}

#[test]
fn numbers_of_a_padded_list_are_those_of_its_ids() {
    let record = json!({
        "content": [], "token_ids": [1, 2, 3, 10, 11, 12, 0, 0], "token_loss_mask": [0, 0, 0, 1, 1, 1, 0, 0], "input_lengths": 6,
        "generation_logprobs": [0, 0, 0, -1, -2, -3, 0, 0], "prev_logprobs": [0, 0, 0, -1.5, -2.5, -3.5, 0, 0],
        "advantages": [9, 9, 9, 0.5, 0.5, 0.5, 9, 9], "rewards": 1.0,
    });
    let found = numbers_of(&record);
    assert_eq!(names(&found), ["logprobs", "prev_logprobs", "advantages"]);
    assert_eq!(found[1].values, [0.0, 0.0, 0.0, -1.5, -2.5, -3.5]);
    assert_eq!(found[2].values, [9.0, 9.0, 9.0, 0.5, 0.5, 0.5]);
}

#[test]
fn recorded_bodies_have_only_the_log_probabilities() {
    let mut calls = 0;
    for entry in std::fs::read_dir(project("tests/fixtures/captures")).unwrap() {
        let Ok(files) = std::fs::read_dir(entry.unwrap().path()) else { continue };
        for file in files.map(|file| file.unwrap().path()) {
            let Ok(spans) = read(&std::fs::read(&file).unwrap(), &ReadOptions::default()) else { continue };
            let all = token2text::rollout::calls(&spans);
            let rollouts = Rollouts::new(spans, TokenizerSet::new(), CheckOptions::default()).unwrap();
            for at in 0..rollouts.list.len() {
                for (node, found) in rollouts.list[at].nodes.iter().zip(rollouts.numbers(at)) {
                    let call = rollouts.call(node.call).unwrap();
                    assert!(all.iter().any(|one| format!("{one:?}") == format!("{call:?}")), "{}", file.display());
                    let expected: &[&str] = if call.logprobs.is_some() { &["logprobs"] } else { &[] };
                    let others: Vec<&str> = names(&found).into_iter().filter(|name| !KNOWN.contains(name)).collect();
                    assert_eq!(others, expected, "{}", file.display());
                    calls += 1;
                }
            }
        }
    }
    assert!(calls > 150, "{calls}");
}

/// What recorded bodies have besides: AReaL's versions of the weights.
const KNOWN: [&str; 1] = ["versions"];

/// The rewards of all rollouts of a recorded body.
fn rewards(path: &str) -> Vec<Option<f64>> {
    let body = std::fs::read(project("tests/fixtures").join(path)).unwrap();
    let rollouts = match path.starts_with("producers") {
        true => of_lines(&[serde_json::from_slice::<Value>(&body).unwrap()["body"].clone()]),
        false => opened(&body),
    };
    (0..rollouts.list.len()).map(|at| rollouts.reward(at)).collect()
}

#[test]
fn rewards_of_recorded_bodies() {
    for (path, expected) in [
        ("captures/art/trajectory.json", &[Some(0.3)][..]),
        ("captures/nemo-rl/train_data_step7.jsonl", &[Some(1.0)]),
        ("captures/openrlhf/samples.jsonl", &[Some(0.5)]),
        ("captures/slime-miles/samples.jsonl", &[Some(1.0), None]),
        ("producers/art.json", &[Some(0.3)]),
        ("producers/nemo-gym-rollout.json", &[Some(1.0)]),
        ("producers/nemo-rl.json", &[Some(1.0)]),
        ("producers/openrlhf.json", &[Some(1.0)]),
        ("producers/slime.json", &[Some(1.0)]),
        // Null when the trace is written.
        ("producers/verl-run.json", &[None]),
        ("captures/verl-calls-qwen3/calls.jsonl", &[None, None]),
    ] {
        assert_eq!(rewards(path), expected, "{path}");
    }
    for path in ["15-get-trace-artifact.json", "06-v1-traces.pb"] {
        assert!(rewards(&format!("wire/mlflow/verl-qwen3-ids/{path}")).iter().all(Option::is_none), "{path}");
    }
}

#[test]
fn each_name_of_a_reward() {
    for (members, expected) in [
        (json!({"reward": 0.75}), Some(0.75)),
        (json!({"reward_score": -1e-3, "reward": 2}), Some(-0.001)),
        (json!({"reward_score": null, "reward": 2}), Some(2.0)),
        (json!({"reward": {"score": 0.5, "acc": 1}}), Some(0.5)),
        (json!({"rewards": [0.25]}), Some(0.25)),
        (json!({"rewards": 3}), Some(3.0)),
        (json!({"score": "0.5"}), Some(0.5)),
        (json!({"extra_fields": {"turn_scores": [0, 0.25, 0.5]}}), Some(0.5)),
        (json!({"extra_fields": {"turn_scores": []}}), None),
        (json!({"reward": null}), None),
        (json!({"reward": true}), None),
        (json!({"reward": "high"}), None),
        (json!({"rewards": [0, 1]}), None),
        (json!({"metrics": {"reward": 1}, "compute_score": 1}), None),
    ] {
        let rollouts = of_lines(&[with_output(members.clone())]);
        assert_eq!((rollouts.reward(0), rollouts.overview(0).reward), (expected, expected), "{members}");
    }
    let attributes =
        json!({"inputs": {"prompt_ids": [1]}, "output": {"token_ids": [2]}, "attributes": {"reward": 0.5}});
    assert_eq!(of_lines(&[attributes]).reward(0), Some(0.5));
    let inputs = json!({"inputs": {"prompt_ids": [1], "reward": 0.5}, "output": {"token_ids": [2]}});
    assert_eq!(of_lines(&[inputs]).reward(0), Some(0.5));
}

#[test]
fn of_several_rewards_that_of_the_outermost_or_the_last() {
    let span = |id: &str, parent: Option<&str>, second: u32, more: Value| {
        let mut span = json!({"trace_id": "t1", "span_id": id, "parent_id": parent, "name": id, "start_time": format!("2026-01-01T00:00:{second:02}Z")});
        span.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        span
    };
    let turn = |reward: Value| json!({"inputs": {"prompt_ids": [1]}, "outputs": {"token_ids": [2], "reward": reward}});
    let root = |outputs: Value| span("root", None, 0, json!({"outputs": outputs}));
    let turns = [span("b", Some("root"), 9, turn(json!(0.2))), span("a", Some("root"), 5, turn(json!(0.1)))];
    let reward = |root: &Value, turns: &[Value]| {
        let rollouts = of_lines(&[std::slice::from_ref(root), turns].concat());
        assert_eq!(rollouts.list.len(), 1);
        assert_eq!(rollouts.spans_of(&rollouts.list[0]).len(), 1 + turns.len());
        rollouts.reward(0)
    };
    assert_eq!(reward(&root(json!({"answer": "x"})), &turns), Some(0.2), "the last");
    assert_eq!(reward(&root(json!({"reward": 0.9})), &turns), Some(0.9), "the outermost");
    assert_eq!(reward(&root(json!({"score": 0.9})), &turns), Some(0.2), "what is no reward in a span without ids");
    let annotation = span("note", Some("root"), 1, json!({"attributes": {"agentlightning.reward.0.value": 0.4}}));
    let plain = [span("a", Some("root"), 5, turn(Value::Null)), annotation];
    assert_eq!(reward(&root(json!({})), &plain), Some(0.4), "of a span without ids");
    // Without a tree: a trajectory holds its turns.
    let call = |prompt: &[u32], answer: &[u32], reward: f64| json!({"inputs": {"request_id": "r", "prompt_ids": prompt}, "outputs": {"token_ids": answer, "reward": reward}});
    let turns = [call(&[1, 2], &[3, 4], 0.1), call(&[1, 2, 3, 4, 5], &[6], 0.2)];
    assert_eq!(of_lines(&turns).reward(0), Some(0.2));
    let run = json!({"inputs": {"request_id": "r"}, "outputs": {
        "prompt_ids": [1, 2], "response_ids": [3, 4, 5, 6], "response_mask": [1, 1, 0, 1], "reward": 0.7,
    }});
    let rollouts = of_lines(&[run, turns[0].clone(), turns[1].clone()]);
    assert_eq!(rollouts.list.len(), 1);
    assert_eq!(rollouts.list[0].nodes.iter().filter(|node| node.role == Role::Trajectory).count(), 1);
    assert_eq!(rollouts.reward(0), Some(0.7));
    let overview = rollouts.overview(0);
    assert_eq!((overview.turns, overview.tokens), (2, 6));
}

#[test]
fn rows_with_different_rewards_have_none_in_common() {
    let batch = |rewards: Value| json!({"prompt_token_ids": [[1], [1]], "response_ids": [[2], [3]], "loss_masks": [[1], [1]], "rewards": rewards});
    let reward = |rewards: Value| {
        let rollouts = of_lines(&[batch(rewards)]);
        (0..rollouts.list.len()).map(|at| rollouts.reward(at)).collect::<Vec<_>>()
    };
    assert_eq!(reward(json!([1.0, 1.0])), [Some(1.0)]);
    assert_eq!(reward(json!([1.0, 0.0])), [None]);
    assert_eq!(reward(json!([[0, 1.0], [0, 1.0]])), [None], "numbers of tokens");
}

#[test]
fn a_trajectory_alone_has_the_turns_of_its_mask() {
    let mask =
        |mask: &[u8]| json!({"output": {"prompt_ids": [1], "response_ids": [2, 3, 4, 5], "response_mask": mask}});
    for (bits, turns) in [([1, 0, 1, 1], 2), ([1, 1, 1, 0], 1), ([0, 1, 0, 1], 2), ([0, 0, 0, 0], 0)] {
        let overview = of_lines(&[mask(&bits)]).overview(0);
        assert_eq!((overview.turns, overview.tokens), (turns, 5), "{bits:?}");
    }
}

#[test]
fn other_tokenizers_give_what_they_would_have_given_at_once() {
    let body = std::fs::read(project("tests/fixtures/captures/verl-calls-qwen3/calls.jsonl")).unwrap();
    let spans = read(&body, &ReadOptions::default()).unwrap();
    let fresh = |tokenizers: TokenizerSet| {
        let rollouts = Rollouts::new(spans.clone(), tokenizers, CheckOptions::default()).unwrap();
        let checked: Vec<_> = (0..rollouts.list.len()).map(|at| rollouts.check(at).unwrap()).collect();
        (rollouts.calls, rollouts.list, checked)
    };
    let mut rollouts = Rollouts::new(spans.clone(), TokenizerSet::new(), CheckOptions::default()).unwrap();
    for tokenizers in [common::real_set("qwen3"), common::letters(), TokenizerSet::new()] {
        rollouts.use_tokenizers(tokenizers.clone(), CheckOptions::default()).unwrap();
        let checked: Vec<_> = (0..rollouts.list.len()).map(|at| rollouts.check(at).unwrap()).collect();
        assert_eq!((rollouts.calls.clone(), rollouts.list.clone(), checked), fresh(tokenizers));
    }
    let mut options = CheckOptions::default();
    options.template = Some("gemma".to_owned());
    let before = rollouts.list.clone();
    assert!(rollouts.use_tokenizers(common::real_set("qwen3"), options).is_err());
    assert_eq!((rollouts.list.clone(), rollouts.check(0).unwrap().tokenizer), (before, None));
    assert_eq!((rollouts.overview(9), rollouts.reward(9), rollouts.numbers(9)), Default::default());
}
