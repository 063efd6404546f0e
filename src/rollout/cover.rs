//! Calls that hold others: a trajectory its turns, a generation its attempts.
//!
//! In verl the span of a `run` has the first prompt, and as response all turns and observations with a mask; the fully
//! asynchronous client has a span for a generation around one for each attempt, whose prompt is the prompt and the tokens that
//! were generated before. So a call covers another if the other's prompt begins with its own, and the other's response stands in
//! its own.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::calls::Call;
use super::chat::Mark;
use super::groups::Parents;
use super::joins::{Tokens, common, ends_in_mark, find};
use super::prefixes::{Hash, Prefixes};
use crate::span::Span;

/// How many calls with one prompt that another begins with are looked at.
const MOST_COVERS: usize = 64;
/// How many calls are compared with another that they may hold, those with shorter prompts first.
const MOST_COMPARED: usize = 256;
/// How deep spans are in one another, at most.
const MOST_DEPTH: usize = 256;
/// A response is known again by so many ids at its end.
const KNOWN_BY: usize = 16;
/// A response of fewer ids may stand anywhere.
const LEAST_KNOWN: usize = 4;

/// For each of the members, which are numbers of calls, the member that holds it; by the parents of spans if those are known.
pub(super) fn covers(
    spans: &[Span],
    calls: &[Call],
    members: &[usize],
    parents: Option<&Parents<'_>>,
) -> Vec<Option<usize>> {
    match parents {
        Some(parents) => in_spans(spans, calls, members, parents),
        None => by_prompts(spans, calls, members),
    }
}

/// The ids of a response by which it is known: without the last, which may be taken away where the next message is put behind it.
fn known(call: &Call) -> &[u32] {
    match call.response_ids() {
        [rest @ .., _] if !rest.is_empty() => rest,
        whole => whole,
    }
}

/// Where in a call the response of another begins, if it stands there: at the same place, or anywhere.
pub(super) fn place(outer: &Call, inner: &Call) -> Option<usize> {
    let known = known(inner);
    let at = outer.ids.get(inner.prompt..).filter(|rest| rest.starts_with(known)).map(|_| inner.prompt);
    let anywhere = || {
        let last = known.len().saturating_sub(KNOWN_BY);
        let found = find(outer.response_ids(), &known[last..]).filter(|_| known.len() >= LEAST_KNOWN)?;
        (outer.prompt + found).checked_sub(last)
    };
    at.filter(|&at| at >= outer.prompt).or_else(anywhere)
}

/// Whether a call around another holds it. Its response may be cut (verl cuts it at `response_length`), or differ, which is
/// what is looked for.
fn holds(outer: &Call, inner: &Call) -> bool {
    !outer.response_ids().is_empty()
        && (inner.prompt_ids().starts_with(outer.prompt_ids()) && inner.prompt > 0 || place(outer, inner).is_some())
}

/// The nearest span around that has a call which holds it.
fn in_spans(spans: &[Span], calls: &[Call], members: &[usize], parents: &Parents<'_>) -> Vec<Option<usize>> {
    let mut of_span: HashMap<&str, Vec<usize>> = HashMap::new();
    for (member, &call) in members.iter().enumerate() {
        of_span.entry(&spans[calls[call].span].span_id).or_default().push(member);
    }
    let covering = |&call: &usize| {
        let mut at = spans[calls[call].span].span_id.as_str();
        for _ in 0..MOST_DEPTH {
            at = parents.get(at)?;
            let around = of_span.get(at).into_iter().flatten();
            let holding = around.copied().find(|&outer| holds(&calls[members[outer]], &calls[call]));
            if holding.is_some() {
                return holding;
            }
        }
        None
    };
    // Spans that are around one another in a circle hold nobody.
    let mut covers: Vec<Option<usize>> = members.iter().map(covering).collect();
    for member in 0..covers.len() {
        let mut at = covers[member];
        for _ in 0..MOST_DEPTH {
            at = at.and_then(|at| covers[at]);
        }
        if at.is_some() {
            covers[member] = None;
        }
    }
    covers
}

/// Of records that know of no others around them: the one that holds most of it, of those the shortest. Two of one kind never
/// hold each other: they may be answers to one prompt, the shorter one by chance the beginning of the longer.
fn by_prompts(spans: &[Span], calls: &[Call], members: &[usize]) -> Vec<Option<usize>> {
    let kind = |&call: &usize| (calls[call].mask.is_some(), spans[calls[call].span].name.as_str());
    let kinds: HashSet<(bool, &str)> = members.iter().map(kind).collect();
    if kinds.len() <= 1 {
        return vec![None; members.len()];
    }
    let mut prompts = Prefixes::default();
    for (member, &call) in members.iter().enumerate() {
        let call = &calls[call];
        if call.prompt > 0 && call.ids.len() > call.prompt {
            prompts.insert(call.prompt, Hash::default().then(call.prompt_ids()), member);
        }
    }
    let rank = |call: &Call| (call.mask.is_some(), call.ids.len(), Reverse(call.prompt));
    let covering = |(member, &call): (usize, &usize)| {
        let inner = &calls[call];
        let name = &spans[inner.span].name;
        let mut best: Option<(usize, usize)> = None;
        let mut left = MOST_COMPARED;
        prompts.tell(inner.prompt_ids(), &mut |outers| {
            for &other in outers.iter().take(MOST_COVERS).filter(|&&other| other != member) {
                let outer = &calls[members[other]];
                let other_name = &spans[outer.span].name;
                let is_kind = outer.mask.is_some() && inner.mask.is_none()
                    || name != other_name && !name.is_empty() && !other_name.is_empty();
                // Of two that are the same the one with a mask holds the other, or the one that was written later.
                let is_order = rank(outer) > rank(inner) || rank(outer) == rank(inner) && outer.span > inner.span;
                if outer.span == inner.span || !is_kind || !is_order || left == 0 {
                    continue;
                }
                left -= 1;
                let shared = common(&outer.ids, &inner.ids);
                let is_in = shared == inner.ids.len()
                    || outer.mask.is_some() && (shared > outer.prompt || place(outer, inner).is_some());
                let is_better = best.is_none_or(|(most, known)| {
                    let len = |member: usize| calls[members[member]].ids.len();
                    shared > most || shared == most && len(other) < len(known)
                });
                if is_in && is_better && inner.prompt_ids().starts_with(outer.prompt_ids()) {
                    best = Some((shared, other));
                }
            }
        });
        best.map(|(_, outer)| outer)
    };
    members.iter().enumerate().map(covering).collect()
}

/// A trajectory that says something else than its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Disagreement {
    /// What it is.
    pub kind: DisagreementKind,
    /// The tokens, a range `[start, end)` of the trajectory's ids.
    pub tokens: [usize; 2],
    /// The turn: a position in [`Rollout::nodes`](super::Rollout::nodes).
    pub turn: Option<usize>,
}

/// What a trajectory and its turns disagree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisagreementKind {
    /// The ids: the turn was given, or wrote, others.
    Ids,
    /// The mask says that the model wrote what no turn wrote.
    MaskOnes,
    /// The mask says that the model did not write what a turn wrote.
    MaskZeros,
}

/// How many ids before a response tell that a turn begins: the last of the generation prompt.
const BEFORE: usize = 2;

/// What a call and those in it, by growing prompts, disagree on. The calls come with their positions in the rollout.
///
/// The mark that ends a turn may be taken away where the next message is put behind it, as at a join of turns. Where it opens
/// messages too (GLM's `<|user|>`) that may put the same one there again, so the mask may say either.
pub(super) fn disagreements(outer: &Call, inner: &[(usize, &Call)], tokens: &dyn Tokens) -> Vec<Disagreement> {
    let mut found: Vec<Disagreement> = Vec::new();
    let mut written = vec![None; outer.ids.len()];
    for &(turn, call) in inner {
        let shared = common(&outer.ids, &call.ids);
        let start = if shared > call.prompt { Some(call.prompt) } else { place(outer, call) };
        let start = start.unwrap_or(call.prompt);
        let mut len = call.response_ids().len();
        let last = (start + len).saturating_sub(1);
        let differs = outer.ids.get(last).is_some_and(|id| call.ids.last() != Some(id));
        let is_taken = differs && ends_in_mark(call.response_ids(), tokens);
        len -= usize::from(is_taken);
        let end = (call.prompt + len).min(outer.ids.len());
        let starts_here = |known: &Disagreement| known.tokens[0] == shared;
        // Of an answer without a prompt only the place is known.
        if call.prompt > 0 && shared < end && !found.iter().any(starts_here) {
            // What follows may be the same again.
            let alike = outer.ids[shared..end].iter().rev().zip(call.ids[shared..end].iter().rev());
            let alike = if call.ids.len() <= outer.ids.len() { alike.take_while(|(a, b)| a == b).count() } else { 0 };
            let tokens = [shared, (end - alike).max(shared + 1)];
            found.push(Disagreement { kind: DisagreementKind::Ids, tokens, turn: Some(turn) });
        }
        for place in written.iter_mut().skip(start).take(len) {
            *place = Some(turn);
        }
        let is_opening = !is_taken && call.response_ids().last().is_some_and(|&id| tokens.mark(id) == Some(Mark::Open));
        if let Some(place) = written.get_mut(last).filter(|_| is_opening && !outer.is_model(last)) {
            *place = None;
        }
    }
    if inner.is_empty() || outer.mask.is_none() {
        return found;
    }
    let begins = |at: usize| outer.ids.get(at.saturating_sub(BEFORE)..at).unwrap_or_default();
    let known: Vec<&[u32]> =
        (1..written.len()).filter(|&at| written[at].is_some() && written[at] != written[at - 1]).map(begins).collect();
    let mut at = outer.prompt;
    while at < outer.ids.len() {
        let (turn, is_model) = (written[at], outer.is_model(at));
        let start = at;
        while at < outer.ids.len() && written[at] == turn && outer.is_model(at) == is_model {
            at += 1;
        }
        // Ones that begin as turns begin are those of a turn that is not in the trace.
        let is_unknown_turn = || {
            let touches = start > 0 && written[start - 1].is_some();
            start == outer.prompt || !touches && known.contains(&begins(start))
        };
        let kind = match (turn, is_model) {
            (None, true) if !is_unknown_turn() => DisagreementKind::MaskOnes,
            (Some(_), false) => DisagreementKind::MaskZeros,
            _ => continue,
        };
        found.push(Disagreement { kind, tokens: [start, at], turn });
    }
    found
}
