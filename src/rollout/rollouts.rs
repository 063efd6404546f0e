//! Calls to rollouts: which belong together, what each of them is, and how one takes up another.

use std::collections::{BTreeMap, HashMap};

use super::calls::Call;
use super::cover::{Disagreement, covers, disagreements};
use super::groups::{Group, Order, Parents, groups, parents};
use super::joins::{Join, JoinKind, Tokens};
use super::turns::Turns;
use crate::span::{Span, Trajectory};

/// The calls of one rollout: its turns as a tree, and what was logged of them besides.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Rollout {
    /// Id of the trace, if its spans are in one.
    pub trace_id: String,
    /// Which sample of which training step it is, as far as its spans say.
    pub trajectory: Trajectory,
    /// Its calls, each once, in order: by time in a trace, else by request and growing prompts, or as they came if turns
    /// continue one another better so.
    pub nodes: Vec<Node>,
}

/// A call in a rollout.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Node {
    /// Position of the call in the list that was given.
    pub call: usize,
    /// What it is.
    pub role: Role,
    /// The call that it is part of, a position in [`Rollout::nodes`]: of a turn the trajectory, of an attempt the turn, of a
    /// copy what it copies.
    pub within: Option<usize>,
    /// Of a turn: the turn that its prompt takes up, a position in [`Rollout::nodes`].
    pub parent: Option<usize>,
    /// How it takes that up.
    pub join: Option<Join>,
    /// Of a call that holds others: where they disagree.
    pub disagreements: Vec<Disagreement>,
}

impl Node {
    /// How many ids it has in common with its parent, from the first on.
    pub fn common(&self) -> usize {
        self.join.as_ref().map_or(0, |join| join.common)
    }

    /// Where in its prompt that ends which its parent has: what follows is new.
    pub fn continued(&self) -> usize {
        self.join.as_ref().map_or(0, |join| join.continued)
    }

    /// What a template put between its parent and the next message, if anything: a range `[start, end)` of its ids.
    pub fn inserted(&self) -> Option<&[usize; 2]> {
        self.join.as_ref().map(|join| &join.inserted).filter(|[start, end]| start < end)
    }

    /// How little a turn continues another: not at all, or with a change.
    fn looseness(&self) -> usize {
        match self.join.as_ref().map(|join| join.kind) {
            _ if self.role != Role::Turn => 0,
            Some(JoinKind::Extends) => 0,
            None | Some(JoinKind::Branch) => 2,
            Some(_) => 1,
        }
    }
}

/// What a call is in its rollout. Who counts tokens counts turns, and trajectories that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Several turns with what came between them.
    Trajectory,
    /// One answer of the model.
    Turn,
    /// A part of a turn: what one of several attempts gave, each going on where the one before was stopped.
    Attempt,
    /// The ids of another call once more, as verl's tool parsers log them.
    Copy,
}

impl Role {
    /// The name in JavaScript.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Trajectory => "trajectory",
            Role::Turn => "turn",
            Role::Attempt => "attempt",
            Role::Copy => "copy",
        }
    }
}

/// The rollouts that calls are of. Every call is in one of them, once.
///
/// Spans of one trace are a rollout. Records that are in no trace and have no parents (Trackio's) are one if they have the same
/// experiment, step, validation, sample and number of the rollout, which is how verl marks them. Others are one if they have the
/// same `request_id` in their inputs, or if their ids continue one another. A sample's number may be that of another worker's
/// too: then a rollout has two roots.
///
/// ```
/// use token2text::rollout::{JoinKind, calls, rollouts};
/// use token2text::{ReadOptions, read};
///
/// let body = br#"{"prompt_token_ids": [1, 2], "completion_token_ids": [3], "logprobs": [-0.5]}
/// {"prompt_token_ids": [1, 2, 3, 4], "completion_token_ids": [5], "logprobs": [-0.5]}"#;
/// let spans = read(body, &ReadOptions::default())?;
/// let rollouts = rollouts(&spans, &calls(&spans), &());
/// let second = &rollouts[0].nodes[1];
/// assert_eq!(second.parent, Some(0));
/// assert_eq!(second.join.as_ref().map(|join| (join.kind, join.common)), Some((JoinKind::Extends, 3)));
/// # Ok::<(), token2text::Error>(())
/// ```
pub fn rollouts(spans: &[Span], calls: &[Call], tokens: &dyn Tokens) -> Vec<Rollout> {
    let mut rollouts = Vec::new();
    let parents = parents(spans);
    for Group { in_tree, orders } in groups(spans, calls, &parents) {
        // How loose the turns are in the best order so far; of one conversation the first one is.
        let mut best: Option<(usize, Vec<Node>, Option<Vec<usize>>)> = None;
        for Order { members, links } in orders {
            if best.as_ref().is_some_and(|&(loose, ..)| loose <= 2) {
                break;
            }
            let nodes = nodes(spans, calls, &members, in_tree.then_some(&parents), tokens);
            let loose = nodes.iter().map(Node::looseness).sum();
            if best.as_ref().is_none_or(|&(known, ..)| loose < known) {
                best = Some((loose, nodes, links));
            }
        }
        let parts = best.map(|(_, nodes, links)| components(nodes, links));
        rollouts.extend(parts.into_iter().flatten().map(|nodes| rollout(spans, calls, nodes, in_tree)));
    }
    let first = |rollout: &Rollout| rollout.nodes.iter().map(|node| node.call).min();
    rollouts.sort_by_key(first);
    rollouts
}

fn rollout(spans: &[Span], calls: &[Call], nodes: Vec<Node>, in_tree: bool) -> Rollout {
    let mut rollout = Rollout { nodes, ..Rollout::default() };
    for node in &rollout.nodes {
        let Some(span) = calls.get(node.call).and_then(|call| spans.get(call.span)) else { continue };
        if in_tree && rollout.trace_id.is_empty() {
            rollout.trace_id.clone_from(&span.trace_id);
        }
        let (known, said) = (&mut rollout.trajectory, &span.trajectory);
        known.step = known.step.or(said.step);
        known.sample_index = known.sample_index.or(said.sample_index);
        known.rollout_n = known.rollout_n.or(said.rollout_n);
        known.validate = known.validate.or(said.validate);
        if known.experiment_name.is_none() {
            known.experiment_name.clone_from(&said.experiment_name);
        }
    }
    rollout
}

/// The calls of a group with all that is between them; of a group in a trace with the parents of spans.
fn nodes(
    spans: &[Span],
    calls: &[Call],
    members: &[usize],
    parents: Option<&Parents<'_>>,
    tokens: &dyn Tokens,
) -> Vec<Node> {
    let copied = copies(spans, calls, members);
    let originals: Vec<usize> = (0..members.len()).filter(|&member| copied[member].is_none()).collect();
    let original_calls: Vec<usize> = originals.iter().map(|&member| members[member]).collect();
    let mut within = copied.clone();
    for (inner, outer) in covers(spans, calls, &original_calls, parents).into_iter().enumerate() {
        within[originals[inner]] = outer.map(|outer| originals[outer]);
    }
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    for &member in &originals {
        if let Some(outer) = within[member] {
            inside[outer].push(member);
        }
    }
    for inside in &mut inside {
        inside.sort_by_key(|&member| (calls[members[member]].prompt, calls[members[member]].ids.len()));
    }
    let is_trajectory = |member: usize| {
        let (call, inside) = (&calls[members[member]], &inside[member]);
        // Attempts go on where the one before ended, from the prompt to the end.
        let mut end = call.prompt;
        let mut has_gap = false;
        for inner in inside.iter().map(|&inner| &calls[members[inner]]) {
            has_gap |= inner.prompt > end;
            end = end.max(inner.ids.len());
        }
        has_gap |= end < call.ids.len();
        let has_zeros = call.mask.iter().flatten().any(|is_model| !is_model);
        if inside.is_empty() { has_zeros && within[member].is_none() } else { has_gap || call.mask.is_some() }
    };
    let role = |member: usize| match within[member] {
        _ if copied[member].is_some() => Role::Copy,
        _ if is_trajectory(member) => Role::Trajectory,
        Some(outer) if !is_trajectory(outer) => Role::Attempt,
        _ => Role::Turn,
    };
    let mut turns = Turns::new(calls, tokens);
    let mut turn_members = Vec::new();
    let mut nodes = Vec::with_capacity(members.len());
    for (member, &call) in members.iter().enumerate() {
        let role = role(member);
        let (mut parent, mut join) = (None, None);
        if role == Role::Turn {
            if let Some((turn, found)) = turns.add(call) {
                (parent, join) = (turn_members.get(turn).copied(), Some(found));
            }
            turn_members.push(member);
        }
        let inner: Vec<(usize, &Call)> = inside[member].iter().map(|&inner| (inner, &calls[members[inner]])).collect();
        let disagreements = disagreements(&calls[call], &inner, tokens);
        nodes.push(Node { call, role, within: within[member], parent, join, disagreements });
    }
    nodes
}

/// For each member the one whose ids it has once more: an answer without a prompt that is the answer of another, or a span that
/// was read before. Of several that are alike the first copy is of the first.
fn copies(spans: &[Span], calls: &[Call], members: &[usize]) -> Vec<Option<usize>> {
    let is_bare = |call: &Call| call.prompt == 0 && !call.ids.is_empty();
    let mut answers: HashMap<&[u32], (Vec<usize>, usize)> = HashMap::new();
    let mut in_span: HashMap<usize, Vec<usize>> = HashMap::new();
    // Most rollouts have none, and hashing their ids would be for nothing.
    let has_bare = members.iter().any(|&call| is_bare(&calls[call]));
    for (member, &number) in members.iter().enumerate().filter(|_| has_bare) {
        let call = &calls[number];
        if call.prompt > 0 {
            answers.entry(call.response_ids()).or_default().0.push(member);
            in_span.entry(call.span).or_default().push(member);
        }
    }
    let mut known = HashMap::new();
    let mut copied = Vec::with_capacity(members.len());
    for (member, &number) in members.iter().enumerate() {
        let call = &calls[number];
        let span = &spans[call.span];
        let before = match span.span_id.is_empty() {
            true => None,
            false => {
                let same = *known.entry((&span.trace_id, &span.span_id, call.index, &call.ids)).or_insert(member);
                Some(same).filter(|&same| same != member && calls[members[same]].span != call.span)
            }
        };
        let of_answer = || {
            let (those, count) = answers.get_mut(call.response_ids()).filter(|_| is_bare(call))?;
            *count += 1;
            those.get((*count - 1).min(those.len() - 1)).copied()
        };
        // A choice that is the last turn of the call (ms-swift).
        let of_end = || {
            let ends = |&&other: &&usize| calls[members[other]].response_ids().ends_with(&call.ids);
            in_span.get(&call.span).filter(|_| is_bare(call))?.iter().find(ends).copied()
        };
        copied.push(before.or_else(of_answer).or_else(of_end));
    }
    // What copies a copy copies what that copies.
    (0..copied.len()).map(|member| copied[member].map(|of| copied[of].unwrap_or(of))).collect()
}

/// Nodes that belong together: those that are linked, hold each other, or take each other up. Without links all are one.
fn components(nodes: Vec<Node>, links: Option<Vec<usize>>) -> Vec<Vec<Node>> {
    let Some(links) = links else { return vec![nodes] };
    let mut roots: Vec<usize> = (0..nodes.len()).collect();
    let mut first_of: HashMap<usize, usize> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        let linked = links.get(at).map(|&link| *first_of.entry(link).or_insert(at));
        let is_branch = node.join.as_ref().is_some_and(|join| join.kind == JoinKind::Branch);
        for other in [linked, node.within, node.parent.filter(|_| !is_branch)].into_iter().flatten() {
            let (one, other) = (root(&mut roots, at), root(&mut roots, other));
            roots[one.max(other)] = one.min(other);
        }
    }
    let mut parts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..nodes.len() {
        parts.entry(root(&mut roots, at)).or_default().push(at);
    }
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let part = |members: Vec<usize>| {
        let position = |of: usize| members.binary_search(&of).ok();
        let moved = |at: &usize| {
            let mut node = nodes.get_mut(*at).and_then(Option::take)?;
            node.within = node.within.and_then(position);
            node.parent = node.parent.and_then(position);
            node.join = node.join.filter(|_| node.parent.is_some());
            for found in &mut node.disagreements {
                found.turn = found.turn.and_then(position);
            }
            Some(node)
        };
        members.iter().filter_map(moved).collect()
    };
    parts.into_values().map(part).collect()
}

/// The root of a tree of the union.
fn root(roots: &mut [usize], mut at: usize) -> usize {
    while roots[at] != at {
        roots[at] = roots[roots[at]];
        at = roots[at];
    }
    at
}
