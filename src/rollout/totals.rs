//! What a rollout counts up to.

use super::check::CheckedCall;
use super::rollouts::{Node, Role};
use super::segments::SegmentKind;
use super::statistics::Logprobs;

/// Sums over the turns of a rollout. What turns have in common counts once; attempts count as the turn they are parts of, and a
/// trajectory only where its turns are not there.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Totals {
    /// Number of turns.
    pub turns: usize,
    /// Number of tokens of each kind, in the order of [`SegmentKind::ALL`].
    pub tokens: [usize; SegmentKind::ALL.len()],
    /// Well-formed calls of tools that the model made.
    pub tool_calls: usize,
    /// Log-probabilities of the model's tokens; `least_at` has no meaning here.
    pub logprobs: Option<Logprobs>,
}

impl Totals {
    pub(super) fn of(nodes: &[Node], checked: &[CheckedCall]) -> Totals {
        let mut totals = Totals::default();
        let (mut sum, mut count, mut least) = (0.0, 0, f64::INFINITY);
        for (at, (node, call)) in nodes.iter().zip(checked).enumerate() {
            if !is_counted(nodes, at) {
                continue;
            }
            let statistics = &call.statistics;
            totals.turns += if node.role == Role::Trajectory { statistics.model_messages } else { 1 };
            totals.tool_calls += statistics.tool_calls;
            for (total, tokens) in totals.tokens.iter_mut().zip(statistics.tokens) {
                *total += tokens;
            }
            if let Some(logprobs) = &statistics.logprobs {
                sum += logprobs.mean * logprobs.count as f64;
                count += logprobs.count;
                least = least.min(logprobs.least);
            }
        }
        totals.logprobs = (count > 0).then(|| Logprobs { count, mean: sum / count as f64, least, least_at: 0 });
        totals
    }
}

/// Whether a call is counted, and its text looked at: not if it is a part of a turn, or its turns are there.
pub(super) fn is_counted(nodes: &[Node], at: usize) -> bool {
    match nodes.get(at).map(|node| node.role) {
        Some(Role::Turn) => true,
        Some(Role::Trajectory) => !nodes.iter().any(|node| node.within == Some(at) && node.role == Role::Turn),
        _ => false,
    }
}
