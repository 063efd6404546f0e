//! What is read of bodies, and what must be true of all that is read.

use serde_json::Value;
use token2text::rollout::{
    Call, CheckOptions, Checked, Join, JoinKind, Role, Rollout, Rollouts, Tokens, calls, rollouts as read_rollouts,
};
use token2text::{ReadOptions, Span, TokenizerSet, read};

use crate::common::project;
use crate::made::{Made, Numbers, Plan, lines, make};
use crate::templates::extending;

pub fn spans_of(body: &[u8]) -> Vec<Span> {
    read(body, &ReadOptions::default()).unwrap()
}

/// The spans and calls of a recorded body.
pub fn captured(path: &str) -> (Vec<Span>, Vec<Call>) {
    let path = project("tests/fixtures/captures").join(path);
    let body = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let spans = spans_of(&body);
    let calls = calls(&spans);
    (spans, calls)
}

pub fn one(calls: &[Call]) -> &Call {
    let [call] = calls else { panic!("{} calls", calls.len()) };
    call
}

/// No call is missing, none is there twice, and what nodes point to is there.
pub fn check_tree(calls: &[Call], rollouts: &[Rollout]) {
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

/// What was read of rollouts that were made.
pub struct Read {
    pub calls: Vec<Call>,
    pub rollouts: Vec<Rollout>,
}

pub fn read_made(records: &[Value], tokens: &dyn Tokens) -> Read {
    let spans = spans_of(&lines(records));
    let calls = calls(&spans);
    let rollouts = read_rollouts(&spans, &calls, tokens);
    check_tree(&calls, &rollouts);
    Read { calls, rollouts }
}

impl Read {
    /// The joins of the one rollout's turns, in order.
    pub fn joins(&self) -> Vec<Option<&Join>> {
        let [rollout] = &self.rollouts[..] else { panic!("{} rollouts", self.rollouts.len()) };
        let turns = rollout.nodes.iter().filter(|node| node.role == Role::Turn);
        turns.map(|node| node.join.as_ref()).collect()
    }

    pub fn kinds(&self) -> Vec<JoinKind> {
        self.joins().into_iter().flatten().map(|join| join.kind).collect()
    }
}

/// A rollout of three turns with a change to its prompts, its responses or its run, in a tree and flat.
pub fn changed(made: &Made, tokens: &dyn Tokens, change: impl Fn(&mut Made)) -> [Read; 2] {
    let mut made = made.clone();
    change(&mut made);
    [false, true].map(|in_tree| read_made(&made.records(in_tree), tokens))
}

/// For each template without marks that joins take away some rollouts, whose runs are left out, as the turns are what is looked
/// at.
pub fn for_each(plan: Plan, test: impl Fn(&Made, &dyn Tokens)) {
    let mut numbers = Numbers(23);
    for template in extending() {
        let tokens = template.known();
        for _ in 0..6 {
            let made = make(template, plan, &mut numbers);
            test(&Made { run: None, ..made }, &tokens);
        }
    }
}

pub const THREE: Plan = Plan { turns: 3, words: 16, strips: false, cut: 0 };

/// Each rollout of a body, looked at.
pub fn checked(body: &[u8], tokenizers: &TokenizerSet, options: &CheckOptions) -> (Rollouts, Vec<Checked>) {
    let spans = read(body, &ReadOptions::default()).unwrap();
    let rollouts = Rollouts::new(spans, tokenizers.clone(), options.clone()).unwrap();
    let checked = (0..rollouts.list.len()).map(|at| rollouts.check(at).unwrap()).collect();
    (rollouts, checked)
}

pub fn codes(checked: &[Checked]) -> Vec<&'static str> {
    let mut codes: Vec<&str> = checked.iter().flat_map(|one| &one.findings).map(|finding| finding.code).collect();
    codes.dedup();
    codes
}

/// Segments and messages have every token of a call once, in order.
pub fn covers_everything(rollouts: &Rollouts, checked: &[Checked]) {
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
