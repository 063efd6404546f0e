//! Each planted fault is found, and nothing else.

use crate::made::{Made, Numbers, Plan, Run, Turn, lines, make};
use crate::support::{checked, codes, covers_everything};
use crate::templates::TEMPLATES;
use token2text::rollout::CheckOptions;

const PLAN: Plan = Plan { turns: 4, words: 16, strips: false, cut: 0 };

/// Changes a clean rollout; false if this one cannot have the fault.
pub type Plant = fn(&mut Made, &mut Numbers) -> bool;

/// A fault, and the codes that must be found, and no others.
pub const FAULTS: [(&str, Plant, &[&str]); 19] = [
    (
        "a mask that is too short",
        |made, _| run(made, |run| run.mask.truncate(run.mask.len() - 1)),
        &["length_mismatch"],
    ),
    (
        "log-probabilities that are too many",
        |made, _| first_turn(made, |turn| turn.logprobs.push(-1.0)),
        &["length_mismatch"],
    ),
    (
        "a log-probability above zero",
        |made, numbers| any_turn(made, numbers, |turn| turn.logprobs[0] = 0.7),
        &["bad_logprob"],
    ),
    (
        "a log-probability that is none",
        |made, _| first_turn(made, |turn| turn.logprobs[0] = f64::NAN),
        &["bad_logprob"],
    ),
    ("the same text in other ids", retokenized, &["retokenized"]),
    ("another text", edited, &["edited_history"]),
    ("a mask of zeros", zeros, &["mask_all_zero"]),
    ("a one where a tool wrote", |made, _| flip(made, 0, 1), &["mask_mismatch"]),
    ("a zero where the model wrote", |made, _| flip(made, 1, 0), &["mask_mismatch"]),
    ("a log-probability where a tool wrote", masked_logprob, &["logprob_where_masked"]),
    ("a trajectory of other ids", |made, _| run(made, |run| run.response[0] += 1), &["trajectory_mismatch"]),
    ("ids of another tokenizer", |made, _| alone(made, |turn| turn.response[0] = 4_000_000), &["unknown_ids"]),
    (
        "a mark inside the text",
        |made, _| {
            let mark = made.template.mark(made.template.open);
            !writes_headers(made) && alone(made, |turn| turn.response[0] = mark)
        },
        &["mark_in_text"],
    ),
    (
        "an end inside the text",
        |made, _| {
            let close = made.template.close();
            // Where it opens messages too, what follows it is one of the user.
            let is_end = !writes_headers(made) && !made.template.assistant.1.is_empty();
            is_end && alone(made, |turn| turn.response[0] = close)
        },
        &["mark_in_text"],
    ),
    ("a loop", looped, &["loop"]),
    (
        "more than was allowed",
        |made, _| {
            alone(made, |turn| {
                turn.logprobs.clear();
                turn.response.splice(0..0, (0..600).map(|id| 1000 + id * 7));
            })
        },
        &["over_limit"],
    ),
    (
        "no end",
        |made, _| {
            alone(made, |turn| {
                turn.response.pop();
                turn.logprobs.pop();
            })
        },
        &["truncated"],
    ),
    (
        "history without its thoughts",
        |made, numbers| {
            *made = make(made.template, Plan { strips: true, ..PLAN }, numbers);
            made.turns[0].has_thought(made.template)
        },
        &["thinking_stripped"],
    ),
    ("a prompt that is shorter than the history", shortened, &["edited_history"]),
];

/// Whether the model writes several messages in a turn, so that marks stand inside its text.
fn writes_headers(made: &Made) -> bool {
    made.template.pair().chat.writes_headers()
}

fn run(made: &mut Made, change: impl FnOnce(&mut Run)) -> bool {
    made.run.as_mut().map(change).is_some()
}

fn first_turn(made: &mut Made, change: impl FnOnce(&mut Turn)) -> bool {
    made.run = None;
    change(&mut made.turns[0]);
    true
}

fn any_turn(made: &mut Made, numbers: &mut Numbers, change: impl FnOnce(&mut Turn)) -> bool {
    made.run = None;
    let turn = numbers.below(made.turns.len());
    change(&mut made.turns[turn]);
    true
}

/// A change of one turn that stands alone.
pub fn alone(made: &mut Made, change: impl FnOnce(&mut Turn)) -> bool {
    made.run = None;
    made.turns.truncate(1);
    let turn = &mut made.turns[0];
    if turn.response.len() < 4 {
        return false;
    }
    change(turn);
    true
}

fn retokenized(made: &mut Made, _: &mut Numbers) -> bool {
    made.run = None;
    let from = made.turns[0].prompt.len();
    let Some((at, two)) = made.template.split(&made.turns[0].ids(), from) else { return false };
    for turn in &mut made.turns[1..] {
        turn.prompt.splice(at..=at, two);
    }
    true
}

fn edited(made: &mut Made, _: &mut Numbers) -> bool {
    made.run = None;
    let at = made.turns[0].prompt.len() + 1;
    if made.turns[0].response.len() < 8 || made.template.thought.is_some() {
        return false;
    }
    let other = made.template.ids("So")[0];
    let is_same = made.turns[1].prompt[at] == other;
    for turn in &mut made.turns[1..] {
        turn.prompt[at] = other;
    }
    !is_same
}

fn shortened(made: &mut Made, _: &mut Numbers) -> bool {
    made.run = None;
    let start = made.turns[0].prompt.len();
    let len = made.turns[0].response.len();
    if len < 24 || made.template.thought.is_some() {
        return false;
    }
    for turn in &mut made.turns[1..] {
        turn.prompt.drain(start + 4..start + 6);
    }
    true
}

fn zeros(made: &mut Made, _: &mut Numbers) -> bool {
    made.turns.clear();
    run(made, |run| {
        run.mask.fill(0);
        run.logprobs.fill(0.0);
    })
}

fn flip(made: &mut Made, from: u8, to: u8) -> bool {
    run(made, |run| {
        // The first one of a run may be a mark that the model wrote and the next message has.
        let at = run.mask.windows(2).position(|pair| pair == [from, from]).unwrap() + 1;
        run.mask[at] = to;
        run.logprobs[at] = 0.0;
    })
}

fn masked_logprob(made: &mut Made, _: &mut Numbers) -> bool {
    run(made, |run| {
        let at = run.mask.iter().position(|&mask| mask == 0).unwrap();
        run.logprobs[at] = -0.25;
    })
}

fn looped(made: &mut Made, numbers: &mut Numbers) -> bool {
    let round: Vec<u32> = (0..3 + numbers.below(40) as u32).map(|id| 2000 + id).collect();
    alone(made, |turn| {
        turn.logprobs.clear();
        let rounds = 4 + 70 / round.len();
        turn.response.splice(1..1, round.repeat(rounds));
    })
}

/// The records of a rollout, each generation of which may write so many tokens.
fn body(made: &Made, in_tree: bool, most: Option<usize>) -> Vec<u8> {
    let mut records = made.records(in_tree);
    for record in &mut records {
        if let (Some(most), Some(parameters)) = (most, record["inputs"].get_mut("sampling_params")) {
            parameters["max_tokens"] = serde_json::json!(most);
        }
    }
    lines(&records)
}

#[test]
fn planted_faults_are_found_and_nothing_else() {
    let mut wrong = Vec::new();
    let mut tried = std::collections::BTreeMap::new();
    for template in &TEMPLATES {
        let tokenizers = template.set();
        let mut numbers = Numbers(11);
        for number in 0..6 {
            for (name, plant, expected) in FAULTS {
                let mut made = make(template, PLAN, &mut numbers);
                if !plant(&mut made, &mut numbers) {
                    continue;
                }
                let body = body(&made, number % 2 == 0, Some(512));
                let (rollouts, checked) = checked(&body, &tokenizers, &CheckOptions::default());
                covers_everything(&rollouts, &checked);
                let mut found = codes(&checked);
                found.sort_unstable();
                found.dedup();
                let told: Vec<_> = checked.iter().flat_map(|one| &one.findings).collect();
                if found != expected {
                    wrong.push(format!("{name}, {} {number}: {found:?} {told:?}", template.name));
                }
                *tried.entry(name).or_insert(0) += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    for (name, ..) in FAULTS {
        assert!(tried.get(name).is_some_and(|&count| count >= 5), "{name}: {tried:?}");
    }
}
