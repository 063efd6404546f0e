//! What the training gave for a rollout, if its spans say so.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::check::Rollouts;
use super::lists::numbers;
use super::rollouts::Rollout;
use crate::json::{Json, items};
use crate::span::Span;
use crate::view::{KeySet, Kind, NodeId, Tree, key_hash};

/// Where a reward stands.
struct Source {
    /// The keys to it, from the output, the attributes or the inputs of a span on.
    path: &'static [&'static str],
    list: Listed,
    /// Whether it counts in a span without ids, too: the name says enough.
    is_plain: bool,
}

/// What a list of them is.
#[derive(Clone, Copy, PartialEq)]
enum Listed {
    /// One for each row or choice.
    Rows,
    /// One for each turn, the last of which counts.
    Turns,
}

/// Where rewards stand, what says more first; of each who writes it.
const SOURCES: [Source; 7] = [
    // verl: `AgentLoopOutput.reward_score`, which is null in the traces of its own loops.
    Source { path: &["reward_score"], list: Listed::Rows, is_plain: true },
    // Agent Lightning 0.3: an annotation, which is a span of its own.
    Source { path: &["agentlightning.reward.0.value"], list: Listed::Rows, is_plain: true },
    // slime, miles, OpenRLHF, ART, NeMo Gym, verifiers.
    Source { path: &["reward"], list: Listed::Rows, is_plain: true },
    // slime, if its reward function gives several.
    Source { path: &["reward", "score"], list: Listed::Rows, is_plain: true },
    // SkyRL: one for each trajectory of a batch. NeMo RL: a number.
    Source { path: &["rewards"], list: Listed::Rows, is_plain: true },
    // verl: its dumps and the generations of its validation.
    Source { path: &["score"], list: Listed::Rows, is_plain: false },
    // verl: what the interactions of its tool agent gave.
    Source { path: &["extra_fields", "turn_scores"], list: Listed::Turns, is_plain: false },
];

/// Inputs are not nested deeper than bodies may be.
const MAX_DEPTH: usize = 1024;
/// How deep spans are in one another, at most.
const DEEPEST: usize = 256;

/// A reward and the span that has it.
struct Found {
    span: usize,
    value: f64,
    /// Whether it is that of a part: an attempt, a turn of a trajectory.
    is_part: bool,
    /// The later the greater.
    order: usize,
}

impl Rollouts {
    /// The reward of a rollout of the list, if its spans have one, in their output, attributes or inputs: a number under a name that
    /// a trainer gives it, or of a list for rows or choices the one with the call's index. Of several the one of the
    /// outermost span, of these the one of the last. None if the rows of one span have different ones: which of them it is nobody can tell.
    pub fn reward(&self, at: usize) -> Option<f64> {
        let rollout = self.list.get(at)?;
        let in_spans = self.nodes_in_spans(rollout);
        let keys = KeySet::new(
            SOURCES.iter().filter_map(|source| source.path.last()).map(|key| key_hash(key.as_bytes())).collect(),
            true,
        );
        let mut found: Vec<Found> = Vec::new();
        for (position, span) in self.spans_of(rollout).into_iter().enumerate() {
            let nodes = in_spans.get(&span).map_or(&[][..], Vec::as_slice);
            let indices: Vec<Option<usize>> =
                nodes.iter().map(|&node| self.calls[rollout.nodes[node].call].index).collect();
            if let Some(value) = self.spans.get(span).and_then(|span| of_spans(span, &indices, &keys)) {
                let is_part = nodes.iter().any(|&node| rollout.nodes[node].within.is_some());
                let order = if rollout.trace_id.is_empty() { nodes.last().copied().unwrap_or(0) } else { position };
                found.push(Found { span, value, is_part, order });
            }
        }
        self.outermost(rollout, &found)
    }

    fn outermost(&self, rollout: &Rollout, found: &[Found]) -> Option<f64> {
        if let [only] = found {
            return Some(only.value);
        }
        let mut parents: HashMap<&str, &str> = HashMap::new();
        if !rollout.trace_id.is_empty() && !found.is_empty() {
            for span in self.spans_of(rollout).into_iter().map(|at| &self.spans[at]) {
                if let Some(parent) = span.parent_id.as_deref() {
                    parents.insert(&span.span_id, parent);
                }
            }
        }
        let depth = |span: &Span| {
            let (mut at, mut depth) = (span.span_id.as_str(), 0);
            while let Some(parent) = parents.get(at).filter(|_| depth < DEEPEST) {
                (at, depth) = (parent, depth + 1);
            }
            depth
        };
        let rank = |found: &&Found| {
            let span = &self.spans[found.span];
            (Reverse(depth(span)), !found.is_part, span.start_unix_nano, found.order)
        };
        found.iter().max_by_key(rank).map(|found| found.value)
    }
}

/// The reward that a span has for its calls, given their indices.
fn of_spans(span: &Span, indices: &[Option<usize>], keys: &KeySet) -> Option<f64> {
    if let Some(reward) = span.reward.filter(|_| !indices.is_empty()) {
        return Some(reward);
    }
    for text in [&span.output, &span.attributes, &span.inputs].into_iter().flatten() {
        if !keys.may_be_in(text.as_bytes()) {
            continue;
        }
        let Ok(mut json) = Json::parse(text.as_bytes(), MAX_DEPTH) else { continue };
        for source in SOURCES.iter().filter(|source| source.is_plain || !indices.is_empty()) {
            let value = source.path.iter().try_fold(Json::ROOT, |at, key| json.member(at, key));
            let Some(value) = value else { continue };
            let mut rewards = Vec::with_capacity(indices.len().max(1));
            for &index in if indices.is_empty() { &[None] } else { indices } {
                rewards.push(of_call(&mut json, value, source.list, index));
            }
            if let Some(reward) = rewards[0].filter(|_| rewards.iter().all(|other| *other == rewards[0])) {
                return Some(reward);
            }
        }
    }
    None
}

/// A value as the reward of a call.
fn of_call(json: &mut Json<'_>, value: NodeId, list: Listed, index: Option<usize>) -> Option<f64> {
    let text = json.raw(value);
    let reward = match json.kind(value) {
        Kind::Number => number(text),
        // A number of NumPy is one in MLflow.
        Kind::String => number(text.get(1..text.len().saturating_sub(1))?),
        Kind::Array => match (list, index) {
            (Listed::Turns, _) => numbers(text).last().copied(),
            (Listed::Rows, Some(row)) => items(text).nth(row).and_then(number),
            (Listed::Rows, None) => items(text).next().filter(|_| items(text).count() == 1).and_then(number),
        },
        _ => None,
    };
    reward.filter(|reward| reward.is_finite())
}

/// The number that a text is.
fn number(text: &[u8]) -> Option<f64> {
    let is_number = matches!(text, [b'-' | b'0'..=b'9', ..]);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}
