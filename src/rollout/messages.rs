//! Turns at special tokens into messages.

use super::body;
use super::chat::Chat;
use super::header;
use super::scan::{Cut, scan};
use crate::tokenizer::{DecodeOptions, Tokenizer};

/// A message out of a list of ids.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Message {
    /// Who speaks: `"system"`, `"user"`, `"assistant"`, `"tool"`, or as the header says. None for text without a header.
    pub role: Option<String>,
    /// The text, without what the fields below hold. Ill-formed calls stay in it.
    pub content: String,
    /// What the model thought before it spoke. None if it thought nothing.
    pub reasoning: Option<String>,
    /// Well-formed calls of tools, in order.
    pub tool_calls: Vec<ToolCall>,
    /// The message in the list: header, text, end and what stands until the next one, `[start, end)`.
    pub tokens: [usize; 2],
    /// Its text in the list, without the header and the end, `[start, end)`. A token that holds the end of the header and the
    /// beginning of the text counts as text.
    pub body: [usize; 2],
    /// Whether the token that ends messages stands at its end; or the next message's opening, where the template has no such
    /// token.
    pub is_closed: bool,
}

/// A call of a tool in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments as JSON text, as the model wrote them where it wrote JSON. Where it wrote each argument apart (Qwen3-Coder,
    /// GLM), one that reads as JSON other than a string is that, and any other is a string.
    pub arguments: String,
}

impl ToolCall {
    pub(super) fn new(name: &str, arguments: &str) -> ToolCall {
        ToolCall { name: name.to_owned(), arguments: arguments.to_owned() }
    }
}

/// A message, and where the reasoning in it is.
#[derive(Debug, Default)]
pub(super) struct Split {
    pub message: Message,
    pub reasoning: Option<[usize; 2]>,
}

/// The text of a list of ids, and where its tokens are in it.
#[derive(Debug)]
pub(super) struct Text {
    pub text: String,
    ends: Vec<usize>,
}

impl Text {
    fn of(ids: &[u32], tokenizer: &Tokenizer) -> Text {
        let pieces = tokenizer.pieces(ids, DecodeOptions::default());
        Text { text: pieces.text, ends: pieces.ends }
    }

    /// Where a token begins in the text; the end of the text for those behind the last.
    pub fn start(&self, token: usize) -> usize {
        match token.checked_sub(1) {
            Some(before) => self.ends.get(before).copied().unwrap_or(self.text.len()),
            None => 0,
        }
    }

    /// A part of the text.
    pub fn slice(&self, from: usize, to: usize) -> &str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The text of a token.
    pub fn token(&self, token: usize) -> &str {
        self.slice(self.start(token), self.start(token + 1))
    }

    /// The first token that has text at or behind a place, or stands between texts there.
    pub fn token_from(&self, at: usize) -> usize {
        let token = self.ends.partition_point(|end| *end < at);
        let ends_there = self.start(token) < at && self.ends.get(token).is_some_and(|end| *end == at);
        if ends_there { token + 1 } else { token }
    }

    /// How many tokens begin before a place.
    fn tokens_before(&self, at: usize) -> usize {
        let after_first = self.ends.partition_point(|end| *end < at);
        if at == 0 { 0 } else { (after_first + 1).min(self.ends.len()) }
    }

    /// How many tokens end at or before a place.
    pub fn tokens_until(&self, at: usize) -> usize {
        self.ends.partition_point(|end| *end <= at)
    }
}

/// Cuts a list into messages.
pub(super) fn split(chat: &Chat, ids: &[u32], tokenizer: &Tokenizer) -> Vec<Split> {
    let text = Text::of(ids, tokenizer);
    let mut splits = Vec::new();
    for cut in scan(chat, ids, &text) {
        read(chat, ids, &text, &cut, &mut splits);
    }
    splits
}

/// Where the opening of the assistant's turn begins that a list ends with.
pub(super) fn generation_prompt(chat: &Chat, ids: &[u32], tokenizer: &Tokenizer) -> Option<usize> {
    // Only the last message matters, and what is before its opening does not change it.
    let from = ids.iter().rposition(|&id| chat.opens(id)).unwrap_or(0);
    let tail = ids.get(from..)?;
    let text = Text::of(tail, tokenizer);
    let cut = scan(chat, tail, &text).pop()?;
    if cut.next_role == Some("assistant") {
        return text.slice(text.start(cut.close + 1), text.text.len()).trim().is_empty().then_some(ids.len());
    }
    let mut splits = Vec::new();
    read(chat, tail, &text, &cut, &mut splits);
    let Split { message, reasoning } = splits.pop()?;
    let is_open = message.role.as_deref() == Some("assistant") && !message.is_closed;
    let is_silent = message.content.trim().is_empty() && message.tool_calls.is_empty() && message.reasoning.is_none();
    let has_opening = message.tokens[0] < message.body[0] || reasoning.is_some();
    (is_open && is_silent && has_opening).then_some(from + cut.opening)
}

/// Reads one message, or several results of calls that stand in one.
fn read(chat: &Chat, ids: &[u32], text: &Text, cut: &Cut, splits: &mut Vec<Split>) {
    let header = header::read(chat, text, cut);
    let end = text.start(cut.close).max(header.end);
    let mut message = Message {
        role: header.role.map(str::to_owned),
        tokens: [cut.start, cut.end],
        body: [text.token_from(header.end).clamp(cut.first, cut.close), cut.close],
        is_closed: cut.is_closed
            || cut.is_followed && header.role.is_some_and(|role| chat.template.open_ended.contains(&role)),
        ..Message::default()
    };
    let body = text.slice(header.end, end);
    let is_result = matches!(header.role, Some("user" | "tool"));
    if let Some(results) = chat.template.results.filter(|_| is_result).and_then(|marks| body::results(body, marks)) {
        "tool".clone_into(message.role.get_or_insert_default());
        return push_results(text, header.end, &results, &message, splits);
    }
    let mut reasoning = None;
    if matches!(header.role, None | Some("assistant")) {
        let is_mark = |mark: &str, at: usize| is_mark(chat, ids, text, mark, header.end + at);
        let found = body::read(chat, body, message.is_closed, &header, &is_mark);
        message.content = found.content;
        message.reasoning = found.reasoning.filter(|thought| !thought.is_empty());
        message.tool_calls = found.tool_calls;
        reasoning = found.thinking.map(|range| {
            // On a channel of its own the whole message is.
            if header.channel.is_some() {
                return message.tokens;
            }
            let start = text.tokens_until(header.end + range.start).max(message.body[0]);
            [start, text.tokens_until(header.end + range.end).clamp(start, cut.close)]
        });
    } else {
        body.clone_into(&mut message.content);
    }
    splits.push(Split { message, reasoning });
}

/// Adds a message for each result of a call, given where they are in the text of the message that holds them.
fn push_results(text: &Text, offset: usize, results: &[[usize; 4]], whole: &Message, splits: &mut Vec<Split>) {
    let mut start = whole.tokens[0];
    let mut results = results.iter().peekable();
    while let Some(&[_, from, to, _]) = results.next() {
        let end = match results.peek() {
            Some([next, ..]) => text.token_from(offset + next).clamp(start, whole.body[1]),
            None => whole.tokens[1],
        };
        let last = end.min(whole.body[1]);
        let body_start = text.tokens_until(offset + from).clamp(start, last);
        let has_text = from < to;
        let body_end = if has_text { text.tokens_before(offset + to).clamp(body_start, last) } else { body_start };
        let content = text.slice(offset + from, offset + to).to_owned();
        let is_closed = whole.is_closed || results.peek().is_some();
        let (role, tokens, body) = (whole.role.clone(), [start, end], [body_start, body_end]);
        splits.push(Split {
            message: Message { role, content, tokens, body, is_closed, ..Message::default() },
            reasoning: None,
        });
        start = end;
    }
}

/// Whether a mark that stands at a place of the text counts: as a token if the tokenizer has a special one for it.
fn is_mark(chat: &Chat, ids: &[u32], text: &Text, mark: &str, at: usize) -> bool {
    match chat.token(mark) {
        Some((id, true)) => {
            let token = text.tokens_until(at);
            text.start(token) == at && ids.get(token) == Some(&id)
        }
        _ => true,
    }
}
