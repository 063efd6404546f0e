//! What is found in rollouts: each planted fault, and nothing in clean ones.
#![cfg(all(not(target_arch = "wasm32"), feature = "rollouts"))]

#[path = "common/rollouts.rs"]
mod rollouts;

use std::sync::Arc;

use rollouts::{Made, Numbers, Plan, TEMPLATES, Template, Turn, lines, make};
use token2text::rollout::{CODES, Chat, CheckOptions, Checked, Rollouts, SegmentKind};
use token2text::{ReadOptions, Tokenizer, TokenizerSet, read};

const CLEAN: usize = 200;

fn tokenizers(template: &Template) -> TokenizerSet {
    let json = std::fs::read(format!(
        "{}/.cache/tokenizers/{}/tokenizer.json",
        env!("CARGO_MANIFEST_DIR"),
        template.tokenizer
    ));
    Tokenizer::from_json(&json.expect("run `make fetch-tokenizers`")).unwrap().into()
}

/// Each rollout of a body, looked at.
fn checked(body: &[u8], tokenizers: &TokenizerSet, options: &CheckOptions) -> (Rollouts, Vec<Checked>) {
    let spans = read(body, &ReadOptions::default()).unwrap();
    let rollouts = Rollouts::new(spans, tokenizers.clone(), options.clone()).unwrap();
    let checked = (0..rollouts.list.len()).map(|at| rollouts.check(at).unwrap()).collect();
    (rollouts, checked)
}

fn codes(checked: &[Checked]) -> Vec<&'static str> {
    let mut codes: Vec<&str> = checked.iter().flat_map(|one| &one.findings).map(|finding| finding.code).collect();
    codes.dedup();
    codes
}

/// Segments and messages have every token of a call once, in order.
fn covers_everything(rollouts: &Rollouts, checked: &[Checked]) {
    for (rollout, checked) in rollouts.list.iter().zip(checked) {
        for (node, cut) in rollout.nodes.iter().zip(&checked.calls) {
            let ids = rollouts.calls[node.call].ids.len();
            let mut end = 0;
            for segment in &cut.segments {
                assert_eq!(segment.tokens[0], end);
                assert!(segment.tokens[1] > end);
                end = segment.tokens[1];
            }
            assert_eq!(end, ids);
            let from = node.continued();
            let Some(first) = cut.messages.first() else { continue };
            assert!(first.tokens[0] <= from);
            let mut end = first.tokens[0];
            for message in &cut.messages {
                assert_eq!(message.tokens[0], end);
                end = message.tokens[1];
            }
            assert_eq!(end, ids);
        }
    }
}

const PLAN: Plan = Plan { turns: 4, words: 8, strips: false, cut: 0 };

#[test]
fn clean_rollouts_have_nothing_to_find() {
    for template in &TEMPLATES {
        let tokenizers = tokenizers(template);
        let mut numbers = Numbers(7);
        for number in 0..CLEAN {
            let plan = Plan { turns: 1 + number % 5, words: 1 + number % 17, cut: number % 30, ..PLAN };
            let made = make(template, plan, &mut numbers);
            let (rollouts, checked) =
                checked(&lines(&made.records(number % 2 == 0)), &tokenizers, &CheckOptions::default());
            covers_everything(&rollouts, &checked);
            // A turn that was cut has no end, which is a note.
            let found: Vec<_> =
                checked.iter().flat_map(|one| &one.findings).filter(|found| found.code != "truncated").collect();
            assert!(found.is_empty(), "{} {number}: {found:?}", template.name);
            assert_eq!(checked.len(), 1, "{} {number}", template.name);
            assert_eq!(checked[0].totals.turns, made.turns.len(), "{} {number}", template.name);
            let written: usize = made.turns.iter().map(|turn| turn.response.len()).sum();
            assert_eq!(checked[0].totals.tokens[SegmentKind::Model as usize], written, "{} {number}", template.name);
            let all: usize = checked[0].totals.tokens.iter().sum();
            assert_eq!(all, made.turns.last().unwrap().ids().len(), "{} {number}", template.name);
        }
    }
}

/// Changes a clean rollout; false if this one cannot have the fault.
type Plant = fn(&mut Made, &mut Numbers) -> bool;

/// A fault, and the codes that must be found, and no others.
const FAULTS: [(&str, Plant, &[&str]); 19] = [
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
            let mark = made.template.mark(made.template.opens[0]);
            alone(made, |turn| turn.response[0] = mark)
        },
        &["mark_in_text"],
    ),
    (
        "an end inside the text",
        |made, _| {
            let close = made.template.close();
            alone(made, |turn| turn.response[0] = close)
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
            made.template.thinks && has_thoughts(made)
        },
        &["thinking_stripped"],
    ),
    ("a prompt that is shorter than the history", shortened, &["edited_history"]),
];

fn run(made: &mut Made, change: impl FnOnce(&mut rollouts::Run)) -> bool {
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
fn alone(made: &mut Made, change: impl FnOnce(&mut Turn)) -> bool {
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
    if made.turns[0].response.len() < 8 || made.template.thinks {
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
    if len < 24 || made.template.thinks {
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
        let at = run.mask.iter().position(|&mask| mask == from).unwrap();
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

fn has_thoughts(made: &Made) -> bool {
    let open = made.template.mark("<think>");
    made.turns[0].response.contains(&open)
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
    let mut tried = std::collections::BTreeMap::new();
    for template in &TEMPLATES {
        let tokenizers = tokenizers(template);
        let mut numbers = Numbers(11);
        for number in 0..12 {
            for (name, plant, expected) in FAULTS {
                let mut made = make(template, Plan { words: 16, ..PLAN }, &mut numbers);
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
                assert_eq!(found, expected, "{name}, {} {number}: {told:#?}", template.name);
                *tried.entry(name).or_insert(0) += 1;
            }
        }
    }
    for (name, ..) in FAULTS {
        assert!(tried.get(name).is_some_and(|&count| count >= 5), "{name}: {tried:?}");
    }
}

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

#[cfg(feature = "general")]
mod drift {
    use super::*;
    use token2text::{Engine, LoadOptions};

    fn encoding(template: &Template) -> TokenizerSet {
        let path = format!("{}/.cache/tokenizers/{}/tokenizer.json", env!("CARGO_MANIFEST_DIR"), template.tokenizer);
        let options = LoadOptions { engine: Engine::General, ..LoadOptions::default() };
        Tokenizer::load(&std::fs::read(path).unwrap(), &options).unwrap().into()
    }

    fn options() -> CheckOptions {
        let mut options = CheckOptions::default();
        options.drift = true;
        options
    }

    /// Behind the first word of an answer.
    fn boundary(template: &Template, turn: &Turn) -> usize {
        let thinks = template.thinks && turn.response[0] == template.mark("<think>");
        if thinks { 3 } else { 1 }
    }

    /// What the model wrote otherwise than the tokenizer would have; the places are those of the first answer.
    const FAULTS: [(&str, Plant, &[&str]); 3] = [
        (
            "a word cut up otherwise",
            |made, _| {
                let (template, start) = (made.template, made.turns[0].prompt.len());
                let Some((at, two)) = template.split(&made.turns[0].ids(), start) else { return false };
                alone(made, |turn| {
                    turn.logprobs.clear();
                    turn.response.splice(at - start..=at - start, two);
                })
            },
            &["drift"],
        ),
        (
            "an end spelled as text",
            |made, _| {
                let (template, end) = (made.template, made.template.assistant.1);
                let mut spelled: Vec<u32> = template.ids(&end[..1]);
                spelled.extend(template.ids(&end[1..]));
                alone(made, |turn| {
                    turn.logprobs.clear();
                    let at = boundary(template, turn);
                    turn.response.splice(at..at, spelled);
                })
            },
            &["special_as_text"],
        ),
        (
            "half of a character",
            |made, _| {
                // The first byte of one, as a token.
                let template = made.template;
                let pair = template.pair();
                let byte = ["<0xF0>", "\u{f0}"].iter().find_map(|token| pair.reference.token_to_id(token));
                let Some(byte) = byte else { return false };
                alone(made, |turn| {
                    turn.logprobs.clear();
                    turn.response.insert(boundary(template, turn), byte);
                })
            },
            &["invalid_utf8"],
        ),
    ];

    #[test]
    fn it_is_found_where_it_is_planted_and_nowhere_else() {
        for template in &TEMPLATES {
            let tokenizers = encoding(template);
            let mut numbers = Numbers(5);
            for number in 0..40 {
                let made = make(template, Plan { turns: 1 + number % 3, words: 1 + number % 9, ..PLAN }, &mut numbers);
                let (_, checked) = checked(&lines(&made.records(number % 2 == 0)), &tokenizers, &options());
                let found: Vec<_> = checked.iter().flat_map(|one| &one.findings).collect();
                assert!(found.is_empty(), "{} {number}: {found:#?}", template.name);
            }
            let mut tried = 0;
            for _ in 0..4 {
                for (name, plant, expected) in FAULTS {
                    let mut made = make(template, Plan { words: 16, ..PLAN }, &mut numbers);
                    if !plant(&mut made, &mut numbers) {
                        continue;
                    }
                    tried += 1;
                    let (_, checked) = checked(&lines(&made.records(false)), &tokenizers, &options());
                    assert_eq!(codes(&checked), expected, "{name}, {}: {checked:#?}", template.name);
                }
            }
            assert!(tried > 4, "{}: {tried}", template.name);
        }
    }

    #[test]
    fn a_tokenizer_that_does_not_encode_is_refused() {
        let body = br#"{"inputs": {"prompt_ids": [1, 2]}, "outputs": {"token_ids": [3]}}"#;
        let spans = read(body, &ReadOptions::default()).unwrap();
        let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":1,"b":2,"c":3},"merges":[]}}"#;
        let tokenizers = TokenizerSet::from(Tokenizer::from_json(json).unwrap());
        let error = Rollouts::new(spans, tokenizers, options()).unwrap().check(0).unwrap_err();
        assert_eq!(error.code(), token2text::ErrorCode::EngineNotAvailable);
        // One that was packed will never encode, which must not pass for a clean rollout.
        let spans = read(body, &ReadOptions::default()).unwrap();
        let packed = Tokenizer::from_json(&Tokenizer::from_json(json).unwrap().to_packed()).unwrap();
        let found = Rollouts::new(spans, packed.into(), options()).unwrap().check(0);
        let codes: Vec<_> = found.unwrap().findings.iter().map(|found| found.code).collect();
        assert_eq!(codes, ["drift_unchecked", "no_template"]);
    }
}

/// A template that the generator has not got: the tokenizer; what stands around the first question, and around an answer; what ends that
/// in the history, and what stands around the next question.
type Other = (&'static str, [&'static str; 2], [&'static str; 2], [&'static str; 3]);

const OTHERS: [Other; 2] = [
    (
        "gptoss",
        ["<|start|>system<|message|>Be brief.<|end|><|start|>user<|message|>", "<|end|><|start|>assistant"],
        ["<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant<|channel|>final<|message|>", "<|return|>"],
        // What ended the answer is an end in the history.
        ["<|end|>", "<|start|>user<|message|>", "<|end|><|start|>assistant"],
    ),
    (
        "command_r_plus",
        [
            "<BOS_TOKEN><|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
            "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ],
        ["", "<|END_OF_TURN_TOKEN|>"],
        [
            "<|END_OF_TURN_TOKEN|>",
            "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
            "<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
        ],
    ),
];

#[test]
fn clean_rollouts_of_other_templates_have_nothing_to_find() {
    for (key, start, answer, next) in OTHERS {
        let path = format!("{}/.cache/tokenizers/{key}/tokenizer.json", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read(path).unwrap();
        let reference = tokenizers::Tokenizer::from_bytes(&file).unwrap();
        let tokenizers = TokenizerSet::from(Tokenizer::from_json(&file).unwrap());
        let ids = |text: String| reference.encode(text, false).unwrap().get_ids().to_vec();
        let mut numbers = Numbers(3);
        for number in 0..CLEAN {
            let mut history = ids(format!("{}{}{}", start[0], numbers.text(6), start[1]));
            let mut records = Vec::new();
            let mut written = 0;
            for _ in 0..=number % 4 {
                let said = ids(format!("{}{}", answer[0], numbers.text(9)));
                let response = [said.clone(), ids(answer[1].to_owned())].concat();
                records.push(serde_json::json!({ "inputs": { "request_id": "r", "prompt_ids": history },
                    "outputs": { "token_ids": response } }));
                written += response.len();
                history.extend(said);
                history.extend(ids(next[0].to_owned()));
                history.extend(ids(format!("{}{}{}", next[1], numbers.text(6), next[2])));
            }
            let (rollouts, checked) = checked(&lines(&records), &tokenizers, &CheckOptions::default());
            covers_everything(&rollouts, &checked);
            let found: Vec<_> = checked.iter().flat_map(|one| &one.findings).collect();
            assert!(found.is_empty(), "{key} {number}: {found:#?}");
            assert_eq!(checked.len(), 1, "{key} {number}");
            assert_eq!(checked[0].totals.turns, records.len(), "{key} {number}");
            assert_eq!(checked[0].totals.tokens[SegmentKind::Model as usize], written, "{key} {number}");
        }
    }
}
