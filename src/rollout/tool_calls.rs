//! Calls of tools in a text, by the syntax that a template's data names.

use super::body::{Body, IsMark};
use super::messages::ToolCall;
use super::syntax::{Calls, Shape};
use crate::json::{Json, lossy, quote_into, skip_space};
use crate::view::{Kind, NodeId, Tree};

/// How deep arguments may be nested.
const MAX_DEPTH: usize = 64;

/// The most bytes of a name.
const LONGEST_NAME: usize = 256;

/// How often a text may be read in vain, all attempts together, before the rest of it counts as text.
const ATTEMPTS: usize = 16;

/// Takes the calls out of a text from a place on; what is left becomes the content.
pub(super) fn read(syntaxes: &[Calls], text: &str, start: usize, is_mark: IsMark<'_>, body: &mut Body) {
    // From where on the text is not yet in the content, and where a call may begin.
    let (mut at, mut from) = (start, start);
    let mut effort = text.len().saturating_mul(ATTEMPTS);
    // Where each syntax may begin next: no place is looked for twice.
    let mut places: Vec<Option<usize>> = syntaxes.iter().map(|calls| calls.find(text, start, start)).collect();
    while let Some(place) = places.iter().flatten().min().copied() {
        let mut found = None;
        for (calls, _) in syntaxes.iter().zip(&places).filter(|(_, at)| **at == Some(place)) {
            if found.is_none() && is_mark(calls.mark(), place) {
                found = calls.read(text, place, &mut effort).map(|(list, end)| (calls, list, end));
            }
        }
        from = match found {
            Some((calls, list, end)) => {
                let before = text.get(at..place).unwrap_or_default();
                body.content.push_str(without_gap(before, calls.gap));
                body.tool_calls.extend(list);
                at = end;
                end
            }
            None if effort == 0 => break,
            None => from.max(place) + 1,
        };
        for (place, calls) in places.iter_mut().zip(syntaxes) {
            if place.is_some_and(|place| place < from) {
                *place = calls.find(text, from, start);
            }
        }
    }
    let tail = text.get(at..).unwrap_or_default();
    if body.tool_calls.is_empty() || !tail.trim().is_empty() {
        body.content.push_str(tail);
    }
}

/// A text that stands before a call, without the line feeds that go with the call.
fn without_gap(text: &str, gap: usize) -> &str {
    (0..gap).fold(text, |text, _| text.strip_suffix('\n').unwrap_or(text))
}

impl Calls {
    /// What calls begin with.
    fn mark(&self) -> &'static str {
        if self.section.0.is_empty() { self.open } else { self.section.0 }
    }

    /// Where a call or a list of calls may begin, from a place on: at the start alone if no mark opens it.
    fn find(&self, text: &str, from: usize, start: usize) -> Option<usize> {
        let mark = self.mark();
        if mark.is_empty() {
            return (from == start && from < text.len()).then_some(start);
        }
        let from = (from..text.len()).find(|&at| text.is_char_boundary(at))?;
        text.get(from..)?.find(mark).map(|at| from + at)
    }

    /// The calls at a place, and where they end; nothing if one of them is not well formed.
    fn read(&self, text: &str, at: usize, effort: &mut usize) -> Option<(Vec<ToolCall>, usize)> {
        let mut reader = Reader { text, at, furthest: at };
        let calls = self.read_from(&mut reader);
        if calls.is_none() {
            *effort = effort.saturating_sub(reader.furthest - at);
        }
        Some((calls?, reader.at))
    }

    fn read_from(&self, reader: &mut Reader<'_>) -> Option<Vec<ToolCall>> {
        let mut calls = Vec::new();
        reader.take(self.section.0)?;
        loop {
            reader.take(self.open)?;
            let start = reader.at;
            let count = calls.len();
            let is_read = self.shapes.iter().any(|&shape| {
                reader.at = start;
                calls.truncate(count);
                reader.shape(shape, &mut calls).is_some() && reader.ends(self)
            });
            if !is_read {
                return None;
            }
            if self.section.0.is_empty() {
                return Some(calls);
            }
            reader.space();
            if !reader.rest().starts_with(self.open) {
                break;
            }
        }
        // DeepSeek V3 writes no end behind a single call.
        if reader.take(self.section.1).is_none() && !reader.rest().is_empty() {
            return None;
        }
        Some(calls)
    }
}

/// Reads a call.
struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// How far it looked.
    furthest: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn take(&mut self, mark: &str) -> Option<()> {
        self.rest().starts_with(mark).then(|| self.at += mark.len())
    }

    fn space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// A name, and the mark behind it, which is taken.
    fn name(&mut self, mark: &str) -> Option<&'t str> {
        let rest = self.rest();
        let stops = |byte: u8| matches!(byte, b'\n' | b'<' | b'>' | b'[') || mark.as_bytes().first() == Some(&byte);
        let end = rest.bytes().take(LONGEST_NAME).position(stops)?;
        let name = rest.get(..end)?.trim();
        self.at += end;
        self.take(mark)?;
        Some(name).filter(|name| !name.is_empty())
    }

    /// A JSON value.
    fn json(&mut self) -> Option<&'t str> {
        let start = skip_space(self.text.as_bytes(), self.at);
        // Where something follows, the value ends before it.
        let end = match Json::scan(self.text.as_bytes(), start, MAX_DEPTH) {
            Ok(_) => self.text.len(),
            Err(error) => error.at,
        };
        self.furthest = self.furthest.max(end);
        let value = self.text.get(start..end)?.trim_end();
        Json::parse(value.as_bytes(), MAX_DEPTH).ok()?;
        self.at = start + value.len();
        Some(value)
    }

    /// A JSON object.
    fn object(&mut self) -> Option<&'t str> {
        self.json().filter(|value| value.starts_with('{'))
    }

    /// Whether the end of a call is here, which is taken.
    fn ends(&mut self, calls: &Calls) -> bool {
        let before = self.at;
        self.space();
        if !calls.close.is_empty() {
            return self.take(calls.close).is_some();
        }
        if !calls.open.is_empty() && self.rest().starts_with(calls.open) {
            self.at = before;
            return true;
        }
        self.rest().is_empty()
    }

    fn shape(&mut self, shape: Shape, calls: &mut Vec<ToolCall>) -> Option<()> {
        match shape {
            Shape::Json => named_calls(self.json()?, calls),
            Shape::Fenced => {
                self.space();
                self.take("```json")?;
                named_calls(self.json()?, calls)
            }
            Shape::NameThenJson(mark, id) => {
                let name = if id.is_empty() { self.name(mark)? } else { self.name_with_id(mark, id)? };
                calls.push(ToolCall::new(name, self.object()?));
                Some(())
            }
            Shape::IdThenJson(mark) => {
                let id = self.name(mark)?;
                let name = id.rsplit_once(':').map_or(id, |(name, _)| name);
                let name = name.strip_prefix("functions.").unwrap_or(name);
                calls.push(ToolCall::new(name, self.object()?));
                Some(())
            }
            Shape::KindThenFence(mark) => {
                self.name(mark)?;
                let name = self.name("\n")?;
                self.take("```json\n")?;
                calls.push(ToolCall::new(name, self.object()?));
                self.space();
                self.take("```")
            }
            Shape::FunctionTags => self.function_tags(calls),
            Shape::ArgTags => self.arg_tags(calls),
            Shape::PythonCall => self.python_call(calls),
        }
    }

    /// A name that an id of the call may follow.
    fn name_with_id(&mut self, mark: &str, id: &str) -> Option<&'t str> {
        let start = self.at;
        if let Some(name) = self.name(mark) {
            return Some(name);
        }
        self.at = start;
        let name = self.name(id)?;
        self.name(mark)?;
        Some(name)
    }

    fn function_tags(&mut self, calls: &mut Vec<ToolCall>) -> Option<()> {
        self.space();
        self.take("<function=")?;
        let name = self.name(">")?;
        let mut arguments = Arguments::new();
        loop {
            self.space();
            if self.take("</function>").is_some() {
                break;
            }
            self.take("<parameter=")?;
            let key = self.name(">")?;
            let value = self.until("</parameter>")?;
            let value = value.strip_prefix('\n').unwrap_or(value);
            arguments.push(key, value.strip_suffix('\n').unwrap_or(value));
        }
        calls.push(arguments.call_of(name));
        Some(())
    }

    fn arg_tags(&mut self, calls: &mut Vec<ToolCall>) -> Option<()> {
        let rest = self.rest();
        let end = rest.bytes().take(LONGEST_NAME).position(|byte| matches!(byte, b'\n' | b'<'))?;
        let name = rest.get(..end).map(str::trim).filter(|name| !name.is_empty() && !name.starts_with('{'))?;
        self.at += end;
        let mut arguments = Arguments::new();
        loop {
            self.space();
            if self.take("<arg_key>").is_none() {
                break;
            }
            let key = self.until("</arg_key>")?;
            self.space();
            self.take("<arg_value>")?;
            arguments.push(key, self.until("</arg_value>")?);
        }
        calls.push(arguments.call_of(name));
        Some(())
    }

    fn until(&mut self, mark: &str) -> Option<&'t str> {
        let found = self.rest().split_once(mark);
        let text = found.map_or(self.rest(), |(text, _)| text);
        self.furthest = self.furthest.max(self.at + text.len());
        self.at += found?.0.len() + mark.len();
        Some(text)
    }

    /// `f.call(a="1", b="2")`, whose values are texts with nothing escaped.
    fn python_call(&mut self, calls: &mut Vec<ToolCall>) -> Option<()> {
        let end = self.rest().bytes().take(LONGEST_NAME).position(|byte| matches!(byte, b'(' | b'\n' | b' '))?;
        let name = self.rest().get(..end)?.strip_suffix(".call").filter(|name| !name.is_empty())?;
        self.at += end;
        self.take("(")?;
        let mut arguments = Arguments::new();
        while self.take(")").is_none() {
            let key = self.name("=")?;
            self.take("\"")?;
            let value = self.until("\"")?;
            arguments.push_text(key, value);
            if self.take(", ").is_none() && !self.rest().starts_with(')') {
                return None;
            }
        }
        calls.push(arguments.call_of(name));
        Some(())
    }
}

/// A text that is a JSON object and nothing else.
pub(super) fn object(text: &str) -> Option<&str> {
    let text = text.trim();
    (text.starts_with('{') && Json::parse(text.as_bytes(), MAX_DEPTH).is_ok()).then_some(text)
}

/// The calls that a JSON object, or a list of such, says: a name, and arguments that are an object.
fn named_calls(value: &str, calls: &mut Vec<ToolCall>) -> Option<()> {
    let mut json = Json::parse(value.as_bytes(), MAX_DEPTH).ok()?;
    let nodes = match json.kind(Json::ROOT) {
        Kind::Object => vec![Json::ROOT],
        Kind::Array => json.elements(Json::ROOT),
        _ => return None,
    };
    if nodes.is_empty() {
        return None;
    }
    for node in nodes {
        let name = member(&json, node, &["name", "tool_name"])?;
        let arguments = member(&json, node, &["arguments", "parameters"])?;
        if json.kind(arguments) != Kind::Object {
            return None;
        }
        let name = json.str(name)?;
        calls.push(ToolCall { name, arguments: lossy(json.raw(arguments).to_vec()) });
    }
    Some(())
}

fn member(json: &Json<'_>, object: NodeId, keys: &[&str]) -> Option<NodeId> {
    keys.iter().find_map(|key| json.find_member(object, key)).map(|(_, value)| value)
}

/// Arguments that were written one by one, as a JSON object.
struct Arguments {
    json: Vec<u8>,
}

impl Arguments {
    fn new() -> Arguments {
        Arguments { json: vec![b'{'] }
    }

    /// Adds one, which is a text if it does not read as JSON.
    fn push(&mut self, key: &str, value: &str) {
        // What the scanner takes besides JSON is text too.
        let is_text = value.trim_start().starts_with(['"', 'N', 'I']) || value.trim() == "-Infinity";
        let is_text = is_text || Json::parse(value.as_bytes(), MAX_DEPTH).is_err();
        if is_text {
            return self.push_text(key, value);
        }
        self.push_key(key);
        self.json.extend_from_slice(value.trim().as_bytes());
    }

    fn push_text(&mut self, key: &str, value: &str) {
        self.push_key(key);
        quote_into(value.as_bytes(), &mut self.json);
    }

    fn push_key(&mut self, key: &str) {
        if self.json.len() > 1 {
            self.json.extend_from_slice(b", ");
        }
        quote_into(key.as_bytes(), &mut self.json);
        self.json.extend_from_slice(b": ");
    }

    fn call_of(mut self, name: &str) -> ToolCall {
        self.json.push(b'}');
        ToolCall { name: name.to_owned(), arguments: lossy(self.json) }
    }
}
