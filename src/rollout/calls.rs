//! Spans to calls: prompt and response of each, with mask and log-probabilities, as one list of ids.
//!
//! The shapes are those of `layouts`: two flat lists; one list that holds both, by a selection; lists of lists, which are a
//! batch, choices or turns; lists of choices or messages, each with ids of its own.

use std::collections::BTreeMap;

use super::lists::{Piece, pieces};
use super::woven::{branches, woven};
use crate::report::FieldKind;
use crate::span::{Span, SpanField};

/// One call of a model, or a whole trajectory that holds several: one list of ids in order, and what the trace says of
/// them.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Call {
    /// Position of its span in the list that it was read from.
    pub span: usize,
    /// Number of the choice, sample or row, where a span has several.
    pub index: Option<usize>,
    /// All ids: those of the prompt, then those of the response; in the order of the list where one list holds both.
    pub ids: Vec<u32>,
    /// How many of the ids come before the first one of the response.
    pub prompt: usize,
    /// For each id behind the prompt whether the model wrote it, if the trace says so.
    pub mask: Option<Vec<bool>>,
    /// For each id behind the prompt its log-probability, NaN where none stands, if the trace has them.
    pub logprobs: Option<Vec<f64>>,
    /// Where in the response another turn begins, if the trace has the turns without what came between.
    pub breaks: Vec<usize>,
    /// What stands in the trace and does not fit, and was left out: how long each list is.
    pub misfits: Vec<Misfit>,
    /// Position among the calls of its span.
    pub(super) number: usize,
}

/// A list that stands beside ids and is not as long as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misfit {
    /// `"mask"` or `"logprobs"`.
    pub list: &'static str,
    /// How long it is.
    pub len: usize,
    /// How many ids there are.
    pub ids: usize,
}

impl Call {
    /// The ids of the prompt.
    pub fn prompt_ids(&self) -> &[u32] {
        self.ids.get(..self.prompt).unwrap_or_default()
    }

    /// The ids behind the prompt.
    pub fn response_ids(&self) -> &[u32] {
        self.ids.get(self.prompt..).unwrap_or_default()
    }

    /// Whether the model wrote the id at a position of [`Call::ids`]: as the mask says, or all behind the prompt.
    pub fn is_model(&self, at: usize) -> bool {
        let Some(behind) = at.checked_sub(self.prompt).filter(|_| at < self.ids.len()) else { return false };
        self.mask.as_ref().is_none_or(|mask| mask.get(behind).copied().unwrap_or(false))
    }
}

/// Layouts whose lists of lists are the turns of one call: ms-swift writes `response_token_ids`, its mask and its
/// log-probabilities as lists per turn.
const ROWS_ARE_TURNS: [&str; 1] = ["ms-swift"];

/// Lists of responses that are the messages of one answer, in order, and not answers to choose from (vLLM's Responses API).
const ANSWERS_IN_MESSAGES: [&str; 1] = ["output_messages"];

/// The calls of spans, in their order: each id of a field is in one call, but for a prompt that several answers share.
///
/// A prompt without an answer and an answer without a prompt are calls too. A batch with more answers than prompts has as many
/// answers to each, one prompt's after the other's (TRL's `vllm-serve`); if the numbers do not say how many, each is a call
/// for itself.
///
/// ```
/// use token2text::rollout::calls;
/// use token2text::{ReadOptions, read};
///
/// let body = br#"{"output": {"prompt_ids": [1, 2], "response_ids": [3, 4], "response_mask": [1, 0]}}"#;
/// let calls = calls(&read(body, &ReadOptions::default())?);
/// assert_eq!((calls[0].ids.as_slice(), calls[0].prompt), ([1, 2, 3, 4].as_slice(), 2));
/// assert_eq!(calls[0].mask, Some(vec![true, false]));
/// # Ok::<(), token2text::Error>(())
/// ```
pub fn calls(spans: &[Span]) -> Vec<Call> {
    spans.iter().enumerate().flat_map(|(at, span)| of_span(at, span)).collect()
}

/// The calls of a span at a position, each with its number.
pub(super) fn of_span(at: usize, span: &Span) -> Vec<Call> {
    let mut calls = Vec::new();
    of_fields(&span.fields, &mut calls);
    for (number, call) in calls.iter_mut().enumerate() {
        (call.span, call.number) = (at, number);
    }
    calls
}

/// The element of a list that holds a field with an index: its list and itself, by their addresses.
fn element(field: &SpanField) -> Option<(String, usize)> {
    field.index?;
    // Behind a star are parts of the field itself.
    let path = field.path.split("/*").next().unwrap_or_default();
    let mut steps: Vec<&str> = path.split('/').collect();
    while let Some(step) = steps.pop() {
        if let Ok(number) = step.parse() {
            return Some((steps.join("/"), number));
        }
    }
    None
}

/// The fields of one element of a list.
#[derive(Default)]
struct Element<'f> {
    prompt: Option<&'f SpanField>,
    response: Option<&'f SpanField>,
    index: Option<usize>,
}

/// The elements of a list of choices, samples, messages or chunks, in order.
type Elements<'f> = BTreeMap<usize, Element<'f>>;

/// The calls of one span's fields.
fn of_fields(fields: &[SpanField], calls: &mut Vec<Call>) {
    let mut lists: Vec<(String, Elements<'_>)> = Vec::new();
    let mut flat: Vec<&SpanField> = Vec::new();
    for field in fields {
        let Some((list, number)) = element(field) else {
            flat.push(field);
            continue;
        };
        let known = lists.iter().position(|(known, _)| *known == list);
        let known = known.unwrap_or_else(|| {
            lists.push((list, Elements::new()));
            lists.len() - 1
        });
        let element = lists[known].1.entry(number).or_default();
        element.index = field.index;
        let place = if field.kind == FieldKind::Prompt { &mut element.prompt } else { &mut element.response };
        // A second field with the same ids is a copy; no layout has one.
        place.get_or_insert(field);
    }
    weave(&mut flat, calls);
    messages(&mut flat, &mut lists, calls);

    let mut prompts: Vec<Piece> = Vec::new();
    let mut answers: Vec<(Option<usize>, Piece)> = Vec::new();
    let mut pairs: Vec<(Option<usize>, Piece, Piece)> = Vec::new();
    let mut own: Vec<(Option<usize>, Piece)> = Vec::new();
    for field in flat {
        let has_rows = field.rows.is_some();
        let of_field = pieces(field);
        match field.kind {
            FieldKind::Prompt if prompts.is_empty() => prompts = of_field,
            FieldKind::Prompt => own.extend(of_field.into_iter().map(|piece| (None, piece))),
            FieldKind::Response if ROWS_ARE_TURNS.contains(&&*field.layout) && prompts.len() <= 1 => {
                answers.push((None, joined(of_field)));
            }
            FieldKind::Response => {
                let numbered = of_field.into_iter().enumerate();
                answers.extend(numbered.map(|(row, piece)| (has_rows.then_some(row), piece)));
            }
        }
    }
    let mut choices: Vec<(Option<usize>, Piece)> = Vec::new();
    for (list, elements) in lists {
        let whole = |field: &SpanField| joined(pieces(field));
        let is_one_answer = ANSWERS_IN_MESSAGES.iter().any(|name| list.rsplit('/').next() == Some(name));
        if elements.values().all(|element| element.response.is_none()) {
            let chunks = joined(elements.values().filter_map(|element| element.prompt).map(whole).collect());
            match prompts.is_empty() {
                true => prompts.push(chunks),
                false => own.push((None, chunks)),
            }
        } else if is_one_answer {
            answers.push((None, joined(elements.values().filter_map(|element| element.response).map(whole).collect())));
        } else {
            for Element { prompt, response, index } in elements.into_values() {
                match (prompt.map(whole), response.map(whole)) {
                    (Some(prompt), Some(response)) => pairs.push((index, prompt, response)),
                    (None, Some(response)) => choices.push((index, response)),
                    (Some(prompt), None) => own.push((index, prompt)),
                    (None, None) => {}
                }
            }
        }
    }
    // Choices beside a whole answer are its last turn (ms-swift), whose prompt is not written.
    if answers.is_empty() {
        answers.append(&mut choices);
    }
    // The prompts of a request stand in its answers once more.
    if !pairs.is_empty() && answers.is_empty() {
        prompts.retain(|prompt| !pairs.iter().any(|(_, own, _)| own.ids == prompt.ids));
    }
    let each = if prompts.is_empty() { 0 } else { answers.len() / prompts.len() };
    if each > 0 && each * prompts.len() == answers.len() {
        for (at, (index, answer)) in answers.into_iter().enumerate() {
            calls.push(call(index, prompts.get(at / each).cloned().unwrap_or_default(), answer));
        }
    } else {
        let has_several = prompts.len() > 1;
        let numbered = prompts.into_iter().enumerate().map(|(row, piece)| (has_several.then_some(row), piece));
        calls.extend(numbered.map(|(index, prompt)| call(index, prompt, Piece::default())));
        calls.extend(answers.into_iter().map(|(index, answer)| call(index, Piece::default(), answer)));
    }
    calls.extend(pairs.into_iter().map(|(index, prompt, answer)| call(index, prompt, answer)));
    calls.extend(own.into_iter().map(|(index, prompt)| call(index, prompt, Piece::default())));
    calls.extend(choices.into_iter().map(|(index, answer)| call(index, Piece::default(), answer)));
}

/// Takes out the fields that are selections of one list.
fn weave(flat: &mut Vec<&SpanField>, calls: &mut Vec<Call>) {
    let is_pair = |prompt: &SpanField, response: &SpanField| {
        prompt.kind == FieldKind::Prompt
            && response.kind == FieldKind::Response
            && prompt.path == response.path
            && prompt.segments.is_some()
            && response.segments.is_some()
    };
    let mut at = 0;
    while let Some(&prompt) = flat.get(at) {
        match flat.iter().position(|response| is_pair(prompt, response)) {
            Some(other) => {
                let response = flat[other];
                flat.retain(|&field| !std::ptr::eq(field, prompt) && !std::ptr::eq(field, response));
                calls.extend(woven(prompt, response));
            }
            None => at += 1,
        }
    }
}

/// Takes out lists whose elements are the messages of one conversation, each with the ids that it adds: those with prompts and
/// responses that never stand in one element (verifiers' `nodes`, NeMo RL's `message_log`).
fn messages(flat: &mut Vec<&SpanField>, lists: &mut Vec<(String, Elements<'_>)>, calls: &mut Vec<Call>) {
    lists.retain(|(list, elements)| {
        let has = |has: fn(&Element<'_>) -> bool| elements.values().any(has);
        let are_messages = has(|element| element.prompt.is_some())
            && has(|element| element.response.is_some())
            && !has(|element| element.prompt.is_some() && element.response.is_some());
        if !are_messages {
            return true;
        }
        let fields = elements.values().filter_map(|element| element.prompt.or(element.response));
        let nodes: Vec<(FieldKind, Piece)> = fields.map(|field| (field.kind, joined(pieces(field)))).collect();
        // What a layout has joined of them says which are of one branch.
        let joins = |field: &&SpanField| field.path.starts_with(list) && field.path[list.len()..].starts_with("/*/");
        let whole = flat.iter().position(joins).map(|at| flat.remove(at));
        calls.extend(branches(nodes, whole.map(pieces)));
        false
    });
}

/// Pieces of one list, one after the other.
pub(super) fn joined(pieces: Vec<Piece>) -> Piece {
    let mut whole = Piece::default();
    let has_mask = pieces.iter().any(|piece| piece.mask.is_some());
    let has_logprobs = pieces.iter().any(|piece| piece.logprobs.is_some());
    for Piece { ids, mask, logprobs, misfits, .. } in pieces {
        if !whole.ids.is_empty() && !ids.is_empty() {
            whole.breaks.push(whole.ids.len());
        }
        if has_mask {
            whole.mask.get_or_insert_default().extend(mask.unwrap_or_else(|| vec![true; ids.len()]));
        }
        if has_logprobs {
            whole.logprobs.get_or_insert_default().extend(logprobs.unwrap_or_else(|| vec![f64::NAN; ids.len()]));
        }
        whole.ids.extend(ids);
        whole.misfits.extend(misfits);
    }
    whole
}

/// A call of a prompt and what was answered; what stands beside the prompt is not of it.
pub(super) fn call(index: Option<usize>, prompt: Piece, response: Piece) -> Call {
    let Piece { mut ids, .. } = prompt;
    let prompt = ids.len();
    ids.reserve_exact(response.ids.len());
    ids.extend(response.ids);
    let Piece { mask, logprobs, misfits, breaks, .. } = response;
    let breaks = breaks.into_iter().map(|at| prompt + at).collect();
    Call { index, ids, prompt, mask, logprobs, breaks, misfits, ..Call::default() }
}
