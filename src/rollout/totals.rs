//! What a rollout counts up to.

use super::check::CheckedCall;
use super::rollouts::{Node, Role};
use super::segments::SegmentKind;
use super::statistics::{Logprobs, bounded};

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
        for ((node, call), is_counted) in nodes.iter().zip(checked).zip(counted(nodes)) {
            if !is_counted {
                continue;
            }
            let statistics = &call.statistics;
            totals.turns += match (node.role, statistics.model_messages) {
                // Without a template that has messages: as often as the model wrote.
                (Role::Trajectory, 0) => {
                    call.segments.iter().filter(|segment| segment.kind == SegmentKind::Model).count()
                }
                (Role::Trajectory, messages) => messages,
                _ => 1,
            };
            totals.tool_calls += statistics.tool_calls;
            for (total, tokens) in totals.tokens.iter_mut().zip(statistics.tokens) {
                *total += tokens;
            }
            if let Some(logprobs) = &statistics.logprobs {
                sum = bounded(sum + logprobs.mean * logprobs.count as f64);
                count += logprobs.count;
                least = least.min(logprobs.least);
            }
        }
        totals.logprobs = (count > 0).then(|| Logprobs { count, mean: sum / count as f64, least, least_at: 0 });
        totals
    }
}

/// Which calls are counted, and their text looked at: not those that are parts of a turn, or whose turns are there.
pub(super) fn counted(nodes: &[Node]) -> Vec<bool> {
    let mut counted: Vec<bool> = nodes.iter().map(|node| matches!(node.role, Role::Turn | Role::Trajectory)).collect();
    for outer in nodes.iter().filter(|node| node.role == Role::Turn).filter_map(|node| node.within) {
        if let Some(is_counted) = counted.get_mut(outer) {
            *is_counted = nodes[outer].role == Role::Turn;
        }
    }
    counted
}
