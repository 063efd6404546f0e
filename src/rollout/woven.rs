//! One list that holds prompts and responses by turns, from its parts.

use super::calls::Call;
use super::lists::{Piece, Row, bools, rows};
use crate::report::FieldKind;
use crate::span::SpanField;

/// The calls of a list of which a prompt and a response are selections: in the order of the list, one for each row.
pub(super) fn woven(prompt: &SpanField, response: &SpanField) -> Vec<Call> {
    let mut placed = placed(prompt, false);
    placed.extend(self::placed(response, true));
    placed.sort_unstable_by_key(|&(at, ..)| at);
    let rows_of = |field: &SpanField| field.rows.clone().unwrap_or_else(|| vec![field.ids.len()]);
    let (prompts, responses) = (rows_of(prompt), rows_of(response));
    let has_rows = response.rows.is_some() && responses.len() > 1;
    let (mut calls, mut start) = (Vec::new(), 0);
    for row in 0..prompts.len().max(responses.len()) {
        let end = |ends: &[usize]| ends.get(row).or(ends.last()).copied().unwrap_or(0);
        let end = (end(&prompts) + end(&responses)).min(placed.len());
        let mut call = of_row(placed.get(start..end).unwrap_or_default());
        call.index = has_rows.then_some(row);
        beside(&mut call, placed.get(start..end).unwrap_or_default(), response, row, responses.len());
        calls.push(call);
        start = end;
    }
    calls
}

/// An id with its position in the list and whether it is of the response.
type Placed = (usize, u32, bool);

fn placed(field: &SpanField, is_response: bool) -> Vec<Placed> {
    let positions = field.segments.iter().flatten().flat_map(|&[start, end]| start..end);
    positions.zip(&field.ids).map(|(at, &id)| (at, id, is_response)).collect()
}

fn of_row(placed: &[Placed]) -> Call {
    let prompt = placed.iter().position(|&(.., is_response)| is_response).unwrap_or(placed.len());
    let behind = placed.iter().skip(prompt);
    let mask = Some(behind.map(|&(.., is_response)| is_response).collect());
    Call { ids: placed.iter().map(|&(_, id, _)| id).collect(), prompt, mask, ..Call::default() }
}

/// The mask and the log-probabilities of a row: for all of the list, or for the response alone.
fn beside(call: &mut Call, placed: &[Placed], field: &SpanField, row: usize, row_count: usize) {
    let behind = placed.get(call.prompt..).unwrap_or_default();
    let first = placed.first().map_or(0, |&(at, ..)| at);
    let base = if row_count > 1 { first } else { 0 };
    let last = placed.last().map_or(0, |&(at, ..)| at + 1 - base);
    let count = behind.iter().filter(|&&(.., is_response)| is_response).count();
    let of = |json: &Option<String>| {
        let ends = vec![0; row_count];
        let rows = rows(json.as_deref()?, field.rows.is_some(), &ends)?;
        rows.into_iter().nth(row)
    };
    let mask = of(&field.mask);
    // Padding may follow the ids that count. Only a mask by which they were selected says how long the list is with it.
    let is_response = |at: usize| behind.binary_search_by_key(&(at + base), |&(at, ..)| at).is_ok_and(|i| behind[i].2);
    let whole = mask.as_deref().filter(|mask| {
        let said = bools(mask);
        said.len() > last && (0..last).all(|at| said.get(at).copied().unwrap_or(false) == is_response(at))
    });
    let whole = whole.map_or(last, <[f64]>::len);
    // For each id behind the prompt its number in a list of either length.
    let in_all: Vec<usize> = behind.iter().map(|&(at, ..)| at - base).collect();
    let spread = |numbers: Vec<f64>| -> Vec<f64> {
        let mut rest = numbers.into_iter();
        let one = |&(.., is_response): &Placed| if is_response { rest.next() } else { None };
        behind.iter().map(one).map(|number| number.unwrap_or(f64::NAN)).collect()
    };
    let fitting = |numbers: Vec<f64>| match numbers.len() {
        len if len == count => Row { numbers: spread(numbers), picked: None },
        len if len == whole => Row { numbers, picked: Some(in_all.clone()) },
        _ => Row { numbers, picked: None },
    };
    let mut piece = Piece { ids: vec![0; behind.len()], mask: call.mask.take(), ..Piece::default() };
    let selected = piece.mask.clone();
    piece.set(mask.map(fitting), of(&field.logprobs).map(fitting));
    call.mask = piece.mask.or(selected);
    call.logprobs = piece.logprobs;
    call.misfits = piece.misfits;
    for misfit in &mut call.misfits {
        misfit.ids = count;
    }
}

/// The calls of messages that each have the ids they add: one for each branch, or one of them all. What a response is, is the
/// model's, unless its own mask says otherwise.
pub(super) fn branches(nodes: Vec<(FieldKind, Piece)>, wholes: Option<Vec<Piece>>) -> Vec<Call> {
    let Some(wholes) = wholes else { return vec![of_messages(nodes.iter())] };
    let has_several = wholes.len() > 1;
    let branch = |(row, whole): (usize, Piece)| {
        // Parents stand before their children.
        let mut at = 0;
        let members = nodes.iter().filter(|(_, node)| {
            let is_next = whole.ids.get(at..).is_some_and(|rest| rest.starts_with(&node.ids));
            at += if is_next { node.ids.len() } else { 0 };
            is_next
        });
        let call = of_messages(members.collect::<Vec<_>>().into_iter());
        let call = if call.ids == whole.ids { call } else { Call { ids: whole.ids, ..Call::default() } };
        Call { index: has_several.then_some(row), ..call }
    };
    wholes.into_iter().enumerate().map(branch).collect()
}

fn of_messages<'n>(nodes: impl Iterator<Item = &'n (FieldKind, Piece)>) -> Call {
    let (mut call, mut mask, mut logprobs) = (Call::default(), Vec::new(), Vec::new());
    let mut has_answer = false;
    for (kind, node) in nodes {
        let is_model = *kind == FieldKind::Response;
        has_answer |= is_model;
        call.ids.extend(&node.ids);
        call.misfits.extend(node.misfits.clone());
        if has_answer {
            mask.extend(node.mask.clone().unwrap_or_else(|| vec![is_model; node.ids.len()]));
            logprobs.extend(node.logprobs.clone().unwrap_or_else(|| vec![f64::NAN; node.ids.len()]));
        } else {
            call.prompt += node.ids.len();
        }
    }
    call.mask = has_answer.then_some(mask);
    call.logprobs = logprobs.iter().any(|number| !number.is_nan()).then_some(logprobs);
    call
}
