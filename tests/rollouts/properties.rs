//! Whatever the ids.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use token2text::rollout::{Mark, Tokens, calls, rollouts as read_rollouts};

use crate::made::lines;
use crate::support::{check_tree, spans_of};

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

    fn mark(&self, id: u32) -> Option<Mark> {
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
