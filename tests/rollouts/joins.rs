//! How a prompt takes up the turn before it.

use serde_json::json;
use token2text::rollout::JoinKind;

use crate::made::{Numbers, Plan, make};
use crate::support::{THREE, changed, for_each, read_made};
use crate::templates::template;

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
        let mark = made.template.mark(made.template.open);
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
    let tokens = template("chatml").known();
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
        let others = made.template.ids(" somewhere else");
        let (response, whole) = (made.turns[1].prompt.len(), made.turns[1].ids().len());
        // In the response, in what came before it, and in the first message, as a clock in the system prompt does.
        for at in [response + 1, whole - 2, response - 3, 4] {
            let other = *others.iter().find(|&&other| other != made.turns[1].ids()[at]).unwrap();
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
fn a_header_and_a_short_answer_are_no_history() {
    // Another question whose conversation has the same answer: nothing of the first is in it.
    let template = template("chatml");
    let record = |prompt: &str, response: &str| json!({ "prompt_token_ids": template.ids(prompt), "completion_token_ids": template.ids(response), "logprobs": null });
    let asked =
        |question: &str| format!("<|im_start|>user\n{question} Answer by a letter.<|im_end|>\n<|im_start|>assistant\n");
    let first = record(&asked("Which is a fruit?"), "B<|im_end|>");
    let next = format!("{}B<|im_end|>\n{}", asked("What is the capital of Norway, of these?"), asked("And of Chile?"));
    let read = read_made(&[first, record(&next, "A<|im_end|>")], &template.known());
    assert_eq!(read.rollouts.len(), 2);
    // What goes on with it under another system message is an edit of it.
    let long = format!(
        "Look at this list, and then at the next one, and say what all of them have in common: {}",
        "pear, ".repeat(9)
    );
    let first = record(&format!("<|im_start|>system\nIt is 9:41<|im_end|>\n{}", asked(&long)), "B<|im_end|>");
    let next =
        format!("<|im_start|>system\nIt is 9:42<|im_end|>\n{}B<|im_end|>\n{}", asked(&long), asked("And of Chile?"));
    let read = read_made(&[first, record(&next, "A<|im_end|>")], &template.known());
    assert_eq!(read.kinds(), [JoinKind::Edited]);
}
