//! What stands in the text of a message: reasoning, calls of tools, results of calls, and the rest.

use std::ops::Range;

use super::chat::Chat;
use super::header::Header;
use super::messages::ToolCall;
use super::tool_calls;

/// The parts of an assistant's text.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub content: String,
    pub reasoning: Option<String>,
    /// Where the reasoning is in the text, with its marks and what goes with it.
    pub thinking: Option<Range<usize>>,
    pub tool_calls: Vec<ToolCall>,
}

/// Whether a mark that stands at a place of a text counts.
pub(super) type IsMark<'a> = &'a dyn Fn(&str, usize) -> bool;

/// Takes the assistant's text apart.
pub(super) fn read(chat: &Chat, text: &str, is_closed: bool, header: &Header<'_>, is_mark: IsMark<'_>) -> Body {
    if header.channel == Some("analysis") && header.recipient.is_none() {
        return Body { reasoning: Some(text.to_owned()), thinking: Some(0..text.len()), ..Body::default() };
    }
    if let Some(name) = header.recipient
        && let Some(arguments) = tool_calls::object(text)
    {
        return Body { tool_calls: vec![ToolCall::new(name, arguments)], ..Body::default() };
    }
    let (reasoning, thinking) = thinking(chat, text, is_closed, is_mark).unzip();
    let start = thinking.as_ref().map_or(0, |range: &Range<usize>| range.end);
    let mut body = Body { reasoning, thinking, ..Body::default() };
    tool_calls::read(chat.template.calls, text, start, is_mark, &mut body);
    body
}

/// What the model thought, and where that is. It stands at the beginning; its opening may be missing if it is a token, since
/// then a template may have written it into the prompt.
fn thinking(chat: &Chat, text: &str, is_closed: bool, is_mark: IsMark<'_>) -> Option<(String, Range<usize>)> {
    let marks = chat.template.thinking?;
    let trim = |thought: &str| if marks.trims { thought.trim_matches('\n') } else { thought }.to_owned();
    let lead = text.len() - text.trim_start().len();
    let is_opened = text.get(lead..)?.starts_with(marks.open) && is_mark(marks.open, lead);
    if !is_opened && chat.token(marks.close).is_none() {
        return None;
    }
    let from = if is_opened { lead + marks.open.len() } else { 0 };
    let rest = text.get(from..)?;
    let find = |mark: &str| rest.match_indices(mark).map(|(at, _)| at).find(|at| is_mark(mark, from + at));
    let Some(close) = find(marks.close) else {
        return (is_opened && !is_closed).then(|| (trim(rest), lead..text.len()));
    };
    if !is_opened && find(marks.open).is_some_and(|open| open < close) {
        return None;
    }
    let thought = rest.get(..close)?;
    let mut end = from + close + marks.close.len();
    if marks.trims {
        let behind = text.get(end..)?;
        end += behind.len() - behind.trim_start_matches('\n').len();
    }
    let start = if is_opened { lead } else { 0 };
    Some((trim(thought), start..end))
}

/// The results of calls of which a text consists, given what stands around each: for each where it begins, where its content
/// begins and ends, and where it ends. Nothing if the text is something else.
pub(super) fn results(text: &str, (open, close): (&str, &str)) -> Option<Vec<[usize; 4]>> {
    let mut results = Vec::new();
    // A line feed may stand before each.
    let begins = |at: usize| {
        let rest = text.get(at..)?;
        let start = at + usize::from(rest.starts_with('\n'));
        text.get(start..)?.starts_with(open).then_some(start)
    };
    let mut start = begins(0)?;
    let last = text.trim_end_matches('\n').len();
    let mut from = start + open.len();
    for (at, _) in text.match_indices(close) {
        let end = at + close.len();
        let next = begins(end);
        if at < from || next.is_none() && end < last {
            continue;
        }
        results.push([start, from, at, end]);
        match next {
            Some(next) => (start, from) = (next, next + open.len()),
            None => return Some(results),
        }
    }
    None
}
