//! Drift in rollouts.

use token2text::rollout::{CheckOptions, Rollouts};
use token2text::{Engine, LoadOptions, ReadOptions, Tokenizer, TokenizerSet, read};

use crate::faults::{Plant, alone};
use crate::made::{Numbers, Plan, Turn, lines, make};
use crate::support::{checked, codes};
use crate::templates::{TEMPLATES, Template};

/// Some of the templates are enough: loading to encode takes long.
const COUNT: usize = 5;

const PLAN: Plan = Plan { turns: 1, words: 16, strips: false, cut: 0 };

fn encoding(template: &Template) -> TokenizerSet {
    let options = LoadOptions { engine: Engine::General, ..LoadOptions::default() };
    Tokenizer::load(&template.json(), &options).unwrap().into()
}

fn options() -> CheckOptions {
    let mut options = CheckOptions::default();
    options.drift = true;
    options
}

/// Behind the first word of an answer.
fn boundary(template: &Template, turn: &Turn) -> usize {
    if turn.has_thought(template) { 3 } else { 1 }
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
    for template in &TEMPLATES[..COUNT] {
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
                let mut made = make(template, PLAN, &mut numbers);
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

#[test]
fn all_runs_count_and_none_hides_another() {
    // More runs of one cause than a list of them holds, and one of another behind them.
    let template = &TEMPLATES[0];
    let (word, spelled) = (template.ids(" weather"), [template.ids("<"), template.ids("|im_end|>")].concat());
    let [one, two] = [template.ids(" we"), template.ids("ather")].map(|half| half[0]);
    assert_eq!(word.len(), 1);
    let mut response = template.ids("So");
    for at in 0..1200 {
        response.extend([one, two, template.ids(" is")[0], 1000 + at]);
    }
    response.extend(spelled);
    response.push(template.close());
    let record = serde_json::json!({ "inputs": { "prompt_ids": template.ids("<|im_start|>assistant\n") }, "outputs": { "token_ids": response } });
    let (_, checked) = checked(&lines(&[record]), &encoding(template), &options());
    let found: Vec<_> = checked[0].findings.iter().filter(|found| found.code == "special_as_text").collect();
    assert_eq!(found.len(), 1, "{:?}", codes(&checked));
    let cut = "the model cut the text up otherwise than the tokenizer; ";
    let words = checked[0].findings.iter().find_map(|found| found.message.split_once(cut)).unwrap().1;
    assert!(words.strip_suffix(" runs more").unwrap().parse::<usize>().unwrap() >= 1199, "{words}");
}
