//! Which calls belong together, and what holds what.

use serde_json::{Value, json};
use token2text::rollout::{DisagreementKind, JoinKind, Role, rollouts as read_rollouts};

use crate::made::{Made, Numbers, Plan, Run, Turn, lines, make};
use crate::support::{Read, THREE, captured, changed, check_tree, read_made, spans_of};
use crate::templates::{extending, template};

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

#[test]
fn several_rollouts_in_one_body() {
    let mut numbers = Numbers(11);
    let tokens = template("chatml").known();
    let made: Vec<Made> = (0..20).map(|_| make(template("chatml"), Plan { turns: 4, ..THREE }, &mut numbers)).collect();
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
            let is_it = |made: &Made| made.turns.iter().map(|turn| turn.ids().len()).eq(lens.iter().copied());
            assert!(made.iter().any(is_it), "{lens:?}");
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
        let record = |turn: &Turn| json!({ "prompt_token_ids": turn.prompt, "completion_token_ids": turn.response, "logprobs": turn.logprobs });
        made.turns.iter().map(record).collect()
    };
    let read = read_made(&made.iter().flat_map(plain).collect::<Vec<_>>(), &tokens);
    assert_eq!(read.rollouts.len(), 20);
    assert!(read.rollouts.iter().all(|rollout| rollout.nodes.len() == 4));
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
    for template in extending() {
        let tokens = template.known();
        for _ in 0..5 {
            let made = Made { run: None, ..make(template, THREE, &mut numbers) };
            let new = |prompt: Vec<u32>, numbers: &mut Numbers| Turn {
                prompt,
                response: [template.ids(&format!("Else {}", numbers.text(9))), vec![template.close()]].concat(),
                logprobs: Vec::new(),
            };
            let read = |turns: Vec<Turn>| {
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
    for template in extending() {
        let tokens = template.known();
        for _ in 0..5 {
            let made = make(template, THREE, &mut numbers);
            let first = made.turns[0].prompt.len();
            let ends: Vec<[usize; 2]> = made.turns.iter().map(|turn| [turn.prompt.len(), turn.ids().len()]).collect();
            let found = |change: &dyn Fn(&mut Run)| {
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
            let cut = |run: &mut Run| {
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
        let read = read_made(&records, &template("chatml").known());
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

#[test]
fn a_mark_that_the_join_takes_away_is_missing_from_the_trajectory() {
    // As verl does for GLM: the `<|user|>` that the model ended with is taken away, and the next message, a result of a tool or
    // one of the user, puts its own there.
    let template = template("glm4");
    let ids = |text: &str| template.ids(text);
    let (start, said) = (ids("[gMASK]<sop><|user|>\nHi<|assistant|>"), ids("\nHello there, all of you<|user|>"));
    let found = |next: &str, mask_of_mark: u8, change: &dyn Fn(&mut Run)| {
        let next = ids(&format!("{next}\nMore<|assistant|>"));
        let history = [&start[..], &said[..said.len() - 1]].concat();
        let answer = ids("\nBye now<|user|>");
        let first = Turn { prompt: start.clone(), response: said.clone(), logprobs: vec![-0.5; said.len()] };
        let second = Turn {
            prompt: [&history[..], &next].concat(),
            response: answer.clone(),
            logprobs: vec![-0.5; answer.len()],
        };
        let response = [&said[..said.len() - 1], &next, &answer].concat();
        let mut mask = [vec![1; said.len() - 1], vec![0; next.len()], vec![1; answer.len()]].concat();
        mask[said.len() - 1] = mask_of_mark;
        let mut run = Run { prompt: start.clone(), logprobs: vec![0.0; response.len()], response, mask };
        change(&mut run);
        let plan = Plan { turns: 1, ..THREE };
        let made = Made { turns: vec![first, second], run: Some(run), ..make(template, plan, &mut Numbers(1)) };
        let reads = changed(&made, &template.known(), |_| {});
        reads.map(|read| {
            let nodes = read.rollouts.iter().flat_map(|rollout| &rollout.nodes);
            let found = nodes.clone().flat_map(|node| &node.disagreements).map(|found| (found.kind, found.tokens));
            let joins: Vec<JoinKind> = nodes.filter_map(|node| node.join.as_ref()).map(|join| join.kind).collect();
            (joins, found.collect::<Vec<_>>())
        })
    };
    let first = start.len();
    for (next, mask, join) in [
        ("<|user|>", 0, JoinKind::Extends),
        ("<|user|>", 1, JoinKind::Extends),
        ("<|observation|>", 0, JoinKind::Trimmed),
    ] {
        assert_eq!(found(next, mask, &|_| {}), [(); 2].map(|()| (vec![join], vec![])), "{next} {mask}");
        // A fault beside it is found alone.
        for at in [0, 2] {
            let wrong = vec![(DisagreementKind::Ids, [first + at, first + at + 1])];
            let told = found(next, mask, &|run| run.response[at] += 1);
            assert_eq!(told, [(); 2].map(|()| (vec![join], wrong.clone())), "{next} {mask} {at}");
        }
        let wrong = vec![(DisagreementKind::MaskZeros, [first + 1, first + 2])];
        let told = found(next, mask, &|run| run.mask[1] = 0);
        assert_eq!(told, [(); 2].map(|()| (vec![join], wrong.clone())), "{next} {mask}");
    }
}
