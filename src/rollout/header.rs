//! Headers of messages: who speaks, on which channel, to whom.

use super::chat::Chat;
use super::messages::Text;
use super::scan::{Cut, Place};
use super::syntax;

/// The most bytes of a header that a token does not end, and of a role.
const LONGEST: usize = 256;

/// What the header of a message says, and where in the text it ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Header<'t> {
    pub role: Option<&'t str>,
    pub channel: Option<&'t str>,
    /// The tool that is called.
    pub recipient: Option<&'t str>,
    pub end: usize,
}

/// Reads the header of a message.
pub(super) fn read<'t>(chat: &Chat, text: &'t Text, cut: &Cut) -> Header<'t> {
    let close = text.start(cut.close);
    let first = text.start(cut.first);
    match cut.header {
        Place::Nowhere if cut.role.is_none() => Header { end: first, ..Header::default() },
        Place::Nowhere => Header { role: cut.role, end: skip(chat, text, first, close), ..Header::default() },
        Place::Ended(from, to) => {
            let start = text.start(from);
            let written = text.slice(start, text.start(to));
            let header = match cut.role {
                Some(role) => written.trim().is_empty().then_some(Header { role: Some(role), ..Header::default() }),
                None => parse(chat, written),
            };
            let end = skip(chat, text, first, close);
            header.map_or(Header { end: start, ..Header::default() }, |header| Header { end, ..header })
        }
        Place::Open(from) => unended(chat, text.slice(text.start(from), close), text.start(from)),
    }
}

/// The header at the beginning of a text that no token ends.
fn unended<'t>(chat: &Chat, text: &'t str, start: usize) -> Header<'t> {
    let line = text.bytes().take(LONGEST).position(|byte| byte == b'\n');
    let (len, next) = match line.filter(|_| chat.template.header == syntax::Header::Line) {
        Some(len) => (len, len + 1),
        // The list was cut off inside of the header, if that is all.
        None => (text.len(), text.len()),
    };
    let header = text.get(..len).filter(|_| len <= LONGEST).and_then(|header| parse(chat, header));
    header.map_or(Header { end: start, ..Header::default() }, |header| Header { end: start + next, ..header })
}

/// Behind what the template writes between a header and the text.
fn skip(chat: &Chat, text: &Text, from: usize, to: usize) -> usize {
    let body = text.slice(from, to);
    let found = chat.template.after_header.iter().find(|after| body.starts_with(**after));
    from + found.map_or(0, |after| after.len())
}

/// What a header says: `assistant`, `system name=<|plugin|>`, `assistant to=functions.f<|channel|>commentary`. Nothing if it is
/// none: a text with spaces.
fn parse<'t>(chat: &Chat, header: &'t str) -> Option<Header<'t>> {
    let template = chat.template;
    let said = word(header.trim_start());
    let known = template.roles.iter().find(|(name, _)| said == Some(*name)).map(|(_, role)| *role);
    let is_usual = matches!(said, None | Some("system" | "developer" | "user" | "assistant" | "tool"));
    let other = template.other_roles.filter(|_| !is_usual);
    let role = known.or(other).or(said);
    if template.has_channels {
        let after = |mark: &str| header.split_once(mark).and_then(|(_, rest)| word(rest));
        let channel = after("<|channel|>");
        let header = Header { role, channel, recipient: after("to=functions."), end: 0 };
        return (role.is_some() || channel.is_some()).then_some(header);
    }
    let rest = header.trim_start().get(said?.len()..)?.trim();
    (rest.is_empty() || rest.starts_with("name=")).then_some(Header { role, ..Header::default() })
}

/// The word that a text begins with.
fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| c.is_whitespace() || c == '<').unwrap_or(text.len());
    text.get(..end).filter(|word| (1..=LONGEST).contains(&word.len()))
}
