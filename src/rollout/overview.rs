//! What is known of a rollout without looking into its tokens: a line of a list.

use std::collections::BTreeMap;

use super::calls::Call;
use super::check::Rollouts;
use super::rollouts::{Node, Role, Rollout};
use super::totals::counted;
use crate::span::Span;
use crate::view::{Names, NodeId};

/// A line of a list of rollouts. What the rollout is, is in [`Rollout`]; this is what is summed up or looked for.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Overview {
    /// What its calls share as `request_id`.
    pub request_id: Option<String>,
    /// What the training gave for it, if its spans say so: see [`Rollouts::reward`].
    pub reward: Option<f64>,
    /// Number of turns, as [`Totals`](super::Totals) counts them. Of a trajectory whose turns are not in the trace those stretches are
    /// counted that its mask says the model wrote.
    pub turns: usize,
    /// Number of tokens of all kinds. What turns share is counted once.
    pub tokens: usize,
    /// When the first of its spans began, in nanoseconds since 1970.
    pub start_unix_nano: Option<u64>,
    /// When the last of them ended.
    pub end_unix_nano: Option<u64>,
}

impl Rollouts {
    /// What is known of a rollout of the list without decoding anything. One that is not there has nothing in it.
    ///
    /// ```
    /// use token2text::rollout::{CheckOptions, Rollouts};
    /// use token2text::{ReadOptions, TokenizerSet, read};
    ///
    /// let body = br#"{"inputs": {"request_id": "r1", "prompt_ids": [1, 2]}, "outputs": {"token_ids": [3], "reward": 0.5}}
    /// {"inputs": {"request_id": "r1", "prompt_ids": [1, 2, 3, 4]}, "outputs": {"token_ids": [5], "reward": 1}}"#;
    /// let spans = read(body, &ReadOptions::default())?;
    /// let rollouts = Rollouts::new(spans, TokenizerSet::new(), CheckOptions::default())?;
    /// let overview = rollouts.overview(0);
    /// assert_eq!((overview.turns, overview.tokens, overview.reward), (2, 5, Some(1.0)));
    /// # Ok::<(), token2text::Error>(())
    /// ```
    pub fn overview(&self, at: usize) -> Overview {
        let Some(rollout) = self.list.get(at) else { return Overview::default() };
        let mut overview =
            Overview { request_id: self.request_id(rollout), reward: self.reward(at), ..Overview::default() };
        for (at, _, ids) in self.added(at) {
            let node = &rollout.nodes[at];
            overview.turns += if node.role == Role::Trajectory { written_runs(&self.calls[node.call]) } else { 1 };
            overview.tokens += ids.len();
        }
        for span in self.spans_of(rollout).into_iter().filter_map(|at| self.spans.get(at)) {
            let (start, end) = (span.start_unix_nano, span.end_unix_nano);
            overview.start_unix_nano = overview.start_unix_nano.into_iter().chain(start).min();
            overview.end_unix_nano = overview.end_unix_nano.max(end);
        }
        overview
    }

    /// What each call of a rollout of the list adds to those before, so that every token is there once: the call's position among
    /// the nodes, where in its ids that begins, and the ids.
    pub fn added(&self, at: usize) -> Vec<(usize, usize, &[u32])> {
        let Some(rollout) = self.list.get(at) else { return Vec::new() };
        let counted = counted(&rollout.nodes).into_iter().zip(&rollout.nodes).enumerate();
        let of_node = |(at, (is_counted, node)): (usize, (bool, &Node))| {
            let first = node.continued();
            let ids = self.calls.get(node.call).filter(|_| is_counted)?.ids.get(first..)?;
            Some((at, first, ids))
        };
        counted.filter_map(of_node).collect()
    }

    /// The spans of a rollout, positions in [`Rollouts::spans`] in their order: all of its trace, also those without ids; or those of
    /// its calls, if it is in no trace.
    pub fn spans_of(&self, rollout: &Rollout) -> Vec<usize> {
        match self.traces.spans(&rollout.trace_id) {
            Some(spans) => spans.to_vec(),
            None => self.nodes_in_spans(rollout).into_keys().collect(),
        }
    }

    /// The spans of a rollout's calls, and of each the nodes in it.
    pub(super) fn nodes_in_spans(&self, rollout: &Rollout) -> BTreeMap<usize, Vec<usize>> {
        let mut nodes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, node) in rollout.nodes.iter().enumerate() {
            if let Some(call) = self.calls.get(node.call) {
                nodes.entry(call.span).or_default().push(at);
            }
        }
        nodes
    }
}

/// Which spans are of which trace.
#[derive(Debug, Default)]
pub(super) struct Traces {
    numbers: Names,
    spans: Vec<Vec<usize>>,
}

impl Traces {
    pub(super) fn of(spans: &[Span]) -> Traces {
        let mut traces = Traces::default();
        for (at, span) in spans.iter().enumerate().filter(|(_, span)| !span.trace_id.is_empty()) {
            let new = traces.spans.len();
            match traces.numbers.insert(&span.trace_id, new as NodeId) {
                Some(known) => traces.spans[known as usize].push(at),
                None => traces.spans.push(vec![at]),
            }
        }
        traces
    }

    /// The spans of a trace in their order.
    fn spans(&self, trace: &str) -> Option<&[usize]> {
        self.spans.get(self.numbers.get(trace)? as usize).map(Vec::as_slice)
    }
}

/// The stretches behind the prompt that the model wrote.
fn written_runs(call: &Call) -> usize {
    let Some(mask) = &call.mask else { return usize::from(call.ids.len() > call.prompt) };
    let (mut runs, mut before) = (0, false);
    for &is_model in mask {
        runs += usize::from(is_model && !before);
        before = is_model;
    }
    runs
}
