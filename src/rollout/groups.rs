//! Which calls may be of one rollout, and in what order.

use std::collections::{BTreeMap, HashMap};

use super::calls::Call;
use crate::span::{Span, Trajectory};

/// Calls that may be of one rollout.
pub(super) struct Group {
    /// Whether their spans are in a trace, with parents and times.
    pub in_tree: bool,
    /// The orders in which they may have come: the first, unless turns continue one another better in another.
    pub orders: Vec<Order>,
}

/// Calls in order.
#[derive(PartialEq)]
pub(super) struct Order {
    /// Numbers of the calls.
    pub members: Vec<usize>,
    /// For members that are not all of one rollout: those with the same number are.
    pub links: Option<Vec<usize>>,
}

/// What spans have in common that are of one rollout.
#[derive(PartialEq, Eq, Hash)]
enum Key<'s> {
    Trace(&'s str),
    /// verl's five facts of a trajectory.
    Sample(Option<&'s str>, Option<i64>, Option<bool>, i64, Option<i64>),
    /// Nothing that says so.
    Pool,
}

fn key<'s>(span: &'s Span, in_trace: &HashMap<&str, usize>) -> Key<'s> {
    // A record of Trackio is a trace of its own.
    let has_trace = !span.trace_id.is_empty()
        && (span.parent_id.is_some() || in_trace.get(span.trace_id.as_str()).is_some_and(|&count| count > 1));
    let Trajectory { step, sample_index, rollout_n, validate, experiment_name, .. } = &span.trajectory;
    match sample_index {
        _ if has_trace => Key::Trace(&span.trace_id),
        Some(sample) => Key::Sample(experiment_name.as_deref(), *step, *validate, *sample, *rollout_n),
        None => Key::Pool,
    }
}

/// Of each span that is in another the id of that, by its own.
pub(super) type Parents<'s> = HashMap<&'s str, &'s str>;

pub(super) fn parents(spans: &[Span]) -> Parents<'_> {
    spans.iter().filter_map(|span| Some((span.span_id.as_str(), span.parent_id.as_deref()?))).collect()
}

/// The groups of calls, in the order of their first ones.
pub(super) fn groups(spans: &[Span], calls: &[Call], parents: &Parents<'_>) -> Vec<Group> {
    let mut in_trace: HashMap<&str, usize> = HashMap::new();
    for span in spans {
        *in_trace.entry(&span.trace_id).or_default() += 1;
    }
    let mut numbers: HashMap<Key<'_>, usize> = HashMap::new();
    let mut groups: BTreeMap<usize, (bool, bool, Vec<usize>)> = BTreeMap::new();
    for (number, call) in calls.iter().enumerate() {
        let Some(span) = spans.get(call.span) else { continue };
        let key = key(span, &in_trace);
        let (in_tree, is_pool) = (matches!(key, Key::Trace(_)), key == Key::Pool);
        let count = numbers.len();
        let group = *numbers.entry(key).or_insert(count);
        groups.entry(group).or_insert_with(|| (in_tree, is_pool, Vec::new())).2.push(number);
    }
    let ordered = |(in_tree, is_pool, members): (bool, bool, Vec<usize>)| match in_tree {
        true => {
            Group { in_tree, orders: vec![Order { members: by_time(spans, calls, members, parents), links: None }] }
        }
        false => Group { in_tree, orders: by_request(spans, calls, members, is_pool) },
    };
    groups.into_values().map(ordered).collect()
}

/// By the start, an outer span before those in it; as they came if one does not say when it began.
fn by_time(spans: &[Span], calls: &[Call], mut members: Vec<usize>, parents: &Parents<'_>) -> Vec<usize> {
    // Parents that are around one another in a circle are as deep as that.
    let depth = |span: &Span| {
        let mut at = span.span_id.as_str();
        (0..256)
            .take_while(|_| parents.get(at).is_some_and(|parent| std::mem::replace(&mut at, *parent) != *parent))
            .count()
    };
    let start = |&call: &usize| spans[calls[call].span].start_unix_nano;
    let has_times = members.iter().all(|call| start(call).is_some());
    members.sort_by_cached_key(|call| {
        let span = &spans[calls[*call].span];
        (start(call).filter(|_| has_times), depth(span), *call)
    });
    members
}

/// By the id of the request, and then by growing prompts, for a turn's prompt has all that came before; or as they came, for a
/// prompt is shorter where a window was cut. In the pool, where most have nothing to do with each other, requests stand in the
/// order in which they came.
fn by_request(spans: &[Span], calls: &[Call], members: Vec<usize>, is_pool: bool) -> Vec<Order> {
    let id = |call: usize| spans[calls[call].span].request_id.as_deref();
    let mut requests: BTreeMap<&str, usize> = BTreeMap::new();
    for &call in &members {
        if let Some(id) = id(call) {
            let first = requests.len();
            requests.entry(id).or_insert(if is_pool { call } else { first });
        }
    }
    if !is_pool {
        for (rank, place) in requests.values_mut().enumerate() {
            *place = rank + 1;
        }
    }
    let request_of = |call: usize| requests.get(id(call)?).copied();
    let order = |by_prompt: bool| {
        let mut members = members.clone();
        members.sort_by_key(|&call| match request_of(call) {
            Some(request) => (request, if by_prompt { calls[call].prompt } else { 0 }, call),
            None if is_pool => (call, 0, call),
            None => (0, if by_prompt { calls[call].prompt } else { 0 }, call),
        });
        // A span without a request is one for itself.
        let link = |&call: &usize| request_of(call).unwrap_or(calls[call].span + calls.len());
        let links = is_pool.then(|| members.iter().map(link).collect());
        Order { members, links }
    };
    let mut orders = vec![order(true), order(false)];
    orders.dedup();
    orders
}
