//! The conversation that the ids of a span are.

use std::cell::RefCell;
use std::rc::Rc;

use super::drop::Done;
use super::{EnrichOptions, Target};
use crate::report::{Comparison, FieldKind, Status};
use crate::rollout::{Chat, Message};
use crate::tokenizer::Tokenizer;
use crate::view::View;

/// The chat templates of tokenizers, bound when they are first asked for.
#[derive(Default)]
pub(super) struct Chats {
    bound: RefCell<Vec<(String, Option<Rc<Chat>>)>>,
}

impl Chats {
    /// The template of the tokenizer of a pattern.
    pub fn of(&self, pattern: &str, tokenizer: &Tokenizer) -> Option<Rc<Chat>> {
        let mut bound = self.bound.borrow_mut();
        if let Some((_, chat)) = bound.iter().find(|(known, _)| known == pattern) {
            return chat.clone();
        }
        let chat = Chat::of(tokenizer).map(Rc::new);
        bound.push((pattern.to_owned(), chat.clone()));
        chat
    }
}

/// The ids of a field, and which of a list they are.
pub(super) struct Part {
    ids: Vec<u32>,
    segments: Option<Vec<[usize; 2]>>,
    is_list: bool,
}

impl Part {
    pub fn of(target: &Target) -> Part {
        let is_list = target.ids.rows.is_none();
        Part { ids: target.ids.ids.clone(), segments: target.segments.clone(), is_list }
    }
}

/// Why a conversation is not written: a stable code, and what was wrong.
pub(super) struct Why(pub &'static str, pub String);

impl Why {
    pub fn new(reason: &'static str, detail: impl Into<String>) -> Why {
        Why(reason, detail.into())
    }
}

/// The messages of a span.
pub(super) struct Conversation {
    /// What the model was given.
    pub inputs: Vec<Message>,
    /// What came back, for each choice.
    pub choices: Vec<Vec<Message>>,
}

/// The conversation of the fields of a span.
pub(super) fn conversation(
    view: &View,
    done: &[Done],
    parts: &[Option<Part>],
    tokenizer: &Tokenizer,
    chat: &dyn Fn() -> Option<Rc<Chat>>,
    options: &EnrichOptions,
) -> Result<Conversation, Why> {
    let (mut prompt, mut responses) = (None::<(&Done, &Part)>, Vec::new());
    for (of_field, part) in done.iter().zip(parts) {
        let part = usable(of_field, part.as_ref(), view)?;
        match (of_field.field.kind, prompt) {
            (FieldKind::Response, _) => responses.push((of_field, part)),
            (FieldKind::Prompt, None) => prompt = Some((of_field, part)),
            (FieldKind::Prompt, Some((_, first))) if first.ids == part.ids => {}
            (FieldKind::Prompt, Some(_)) => return Err(Why::new("several_calls", "the span has several prompts")),
        }
    }
    let are_choices = |(of_field, _): &(&Done, &Part)| of_field.field.path.contains("/choices/");
    if responses.len() > 1 && !responses.iter().all(are_choices) {
        return Err(Why::new("several_calls", "the span has several responses, which are no choices"));
    }
    let lists = match (prompt, &*responses) {
        (Some(prompt), [response]) if prompt.0.field.path == response.0.field.path => {
            vec![woven(prompt.1, response.1)?]
        }
        _ => {
            let mut lists = Vec::with_capacity(responses.len().max(1));
            let prompt = prompt.map_or(Ok([].as_slice()), |(_, part)| run(part))?;
            for (_, response) in &responses {
                lists.push(List::of(prompt, run(response)?));
            }
            if responses.is_empty() {
                lists.push(List::of(prompt, &[]));
            }
            lists
        }
    };
    let chat = chat();
    let chat =
        chat.ok_or_else(|| Why::new("no_chat_template", "no known chat template has its marks in the tokenizer"))?;
    let mut told = Conversation { inputs: Vec::new(), choices: Vec::new() };
    let mut room = options.limits.text_bytes_per_field;
    for List { mut ids, prompt } in lists {
        if tokenizer.may_exceed(&ids, room) {
            let most = options.limits.text_bytes_per_field;
            let what = format!("the messages may have more than {most} bytes (limit `textBytesPerField`)");
            return Err(Why::new("limit_exceeded", what));
        }
        let has_answer = ids.len() > prompt;
        if !has_answer && let Some(opening) = chat.generation_prompt(&ids, tokenizer) {
            ids.truncate(opening);
        }
        let mut messages = chat.messages(&ids, tokenizer);
        room = room.saturating_sub(messages.iter().map(|message| message.content.len()).sum());
        let first = messages.iter().position(|message| message.body[1] > prompt || message.body[0] >= prompt);
        let outputs = messages.split_off(if has_answer { first.unwrap_or(messages.len()) } else { messages.len() });
        if told.choices.is_empty() {
            told.inputs = with_roles(messages, None)?;
        }
        let role = if prompt == 0 { Some("assistant") } else { None };
        told.choices.push(with_roles(outputs, role)?);
    }
    told.choices.retain(|choice| !choice.is_empty());
    if told.inputs.is_empty() && told.choices.is_empty() {
        return Err(Why::new("no_role", "the ids are no messages"));
    }
    Ok(told)
}

/// What of a field the conversation is made of, if its text says all of it.
fn usable<'p>(of_field: &Done, part: Option<&'p Part>, view: &View) -> Result<&'p Part, Why> {
    let field = &of_field.field;
    let why = |reason, what: &str| Why::new(reason, format!("`{}`: {what}", field.path));
    let part = part.filter(|_| field.status != Status::Skipped);
    let Some(part) = part else { return Err(why("field_skipped", "the field is skipped")) };
    let inputs = view.places.iter().find(|(name, _)| *name == "inputs");
    let is_input =
        inputs.and_then(|(_, place)| field.path.strip_prefix(&*place.path)).is_some_and(|rest| rest.starts_with('/'));
    if is_input && field.kind == FieldKind::Response {
        return Err(why("response_in_inputs", "what a model wrote is an input here"));
    }
    if field.status == Status::Kept && field.existing != Some(Comparison::Same) {
        return Err(why("different_text", "the text that is there is another"));
    }
    if field.unknown.is_some() {
        return Err(why("unknown_ids", "some ids are unknown to the tokenizer"));
    }
    if field.shortened.is_some() {
        return Err(why("shortened", "the text is shortened"));
    }
    if !part.is_list {
        return Err(why("several_calls", "the ids are a list of lists"));
    }
    Ok(part)
}

/// One list of ids, and how many of them are before the response.
struct List {
    ids: Vec<u32>,
    prompt: usize,
}

impl List {
    fn of(prompt: &[u32], response: &[u32]) -> List {
        List { ids: [prompt, response].concat(), prompt: prompt.len() }
    }
}

/// The ids of a field that are one run of its list.
fn run(part: &Part) -> Result<&[u32], Why> {
    let mut end = None;
    for &[from, to] in part.segments.iter().flatten().filter(|[from, to]| from < to) {
        if end.is_some_and(|end| end != from) {
            return Err(Why::new("selection", "ids between those that are selected are in no text"));
        }
        end = Some(to);
    }
    Ok(&part.ids)
}

/// Prompt and response that are selected from one list, in its order.
fn woven(prompt: &Part, response: &Part) -> Result<List, Why> {
    let mut placed = Vec::with_capacity(prompt.ids.len() + response.ids.len());
    for (part, is_response) in [(prompt, false), (response, true)] {
        let positions = part.segments.iter().flatten().flat_map(|&[from, to]| from..to);
        placed.extend(positions.zip(&part.ids).map(|(at, &id)| (at, id, is_response)));
    }
    placed.sort_unstable();
    if placed.windows(2).any(|pair| matches!(pair, [(at, ..), (next, ..)] if at + 1 != *next)) {
        return Err(Why::new("selection", "ids between those that are selected are in no text"));
    }
    let prompt = placed.iter().position(|(.., is_response)| *is_response).unwrap_or(placed.len());
    Ok(List { ids: placed.into_iter().map(|(_, id, _)| id).collect(), prompt })
}

/// Messages that have a role. White space between messages is none; what stands first may be of `role`.
fn with_roles(messages: Vec<Message>, role: Option<&str>) -> Result<Vec<Message>, Why> {
    let mut told: Vec<Message> = Vec::with_capacity(messages.len());
    for (i, mut message) in messages.into_iter().enumerate() {
        if message.role.is_none() && i == 0 {
            message.role = role.map(str::to_owned);
        }
        let is_silent =
            message.content.trim().is_empty() && message.reasoning.is_none() && message.tool_calls.is_empty();
        match message.role {
            Some(_) => told.push(message),
            None if is_silent => {}
            None => {
                let [start, end] = message.tokens;
                return Err(Why::new("no_role", format!("tokens {start} to {end} are in no message")));
            }
        }
    }
    Ok(told)
}
