//! Format `sse`: the transcript of an event stream, as inference servers send it. The events stay as they are; their
//! text goes into one more event, `data: {"token2text": {...}}`, before `[DONE]` or at the end.
//!
//! The body is read as JSON of the same length: what is not data is masked by spaces, so that every offset in the JSON
//! is one in the body, and edits go there unchanged.

use std::borrow::Cow;

use super::text::{JsonDocument, after_byte_order_mark, within};
use super::{Part, string_member};
use crate::Error;
use crate::json::{Json, splice_into};
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Place, Tree, View};

/// Our event before any text is in it, and its member.
pub(super) const EVENT: &str = "{\"token2text\": {}}";
const MEMBER: &str = "token2text";

/// Whether a text begins as an event stream and has data.
pub(super) fn is_stream(text: &[u8]) -> bool {
    let mut is_stream = false;
    for field in ["data:", "event:", "id:", "retry:", ":"] {
        is_stream |= text.starts_with(field.as_bytes());
    }
    let mut at = 0;
    while let Some(line) = Line::at(text, at).filter(|_| is_stream) {
        if data(&text[at..line.end]).is_some() {
            return true;
        }
        at = line.next;
    }
    false
}

/// Where a line ends, and where the next one starts.
#[derive(Clone, Copy)]
struct Line {
    end: usize,
    next: usize,
}

impl Line {
    /// The line that starts at `start`. It ends with `\n`, `\r\n` or `\r`.
    fn at(body: &[u8], start: usize) -> Option<Line> {
        let mut end = start;
        while !matches!(body.get(end), None | Some(b'\n' | b'\r')) {
            end += 1;
        }
        let mut next = end;
        next += usize::from(body.get(next) == Some(&b'\r'));
        next += usize::from(body.get(next) == Some(&b'\n'));
        (start < body.len()).then_some(Line { end, next })
    }
}

/// The data of a line, with a space before it where there is one.
fn data(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"data:").filter(|data| !data.trim_ascii().is_empty())
}

/// Where an event starts, and where its last line ends.
#[derive(Clone, Copy)]
struct Event {
    start: usize,
    end: usize,
}

/// What is in a body.
struct Stream {
    /// The events with data, but for `[DONE]`.
    events: Vec<Event>,
    /// Their data as a list, each where it stands in the body.
    json: Vec<u8>,
    /// Numbers of the events whose data is no JSON.
    broken: Vec<usize>,
    /// The last event, if it is `[DONE]`.
    done: Option<Event>,
}

impl Stream {
    fn read(body: &[u8], limits: &Limits) -> Stream {
        let json = vec![b' '; body.len()];
        let mut stream = Stream { events: Vec::new(), json, broken: Vec::new(), done: None };
        let mut start = after_byte_order_mark(body);
        // The event that is read, and where its data starts.
        let mut open: Option<(Event, usize)> = None;
        let mut at = start;
        while let Some(Line { end, next }) = Line::at(body, at) {
            let line = &body[at..end];
            if line.is_empty() {
                stream.close(open.take(), limits);
                start = next;
            } else if let Some(data) = data(line) {
                stream.json[end - data.len()..end].copy_from_slice(data);
                let (event, _) = open.get_or_insert((Event { start, end }, at));
                event.end = end;
            } else if let Some((event, _)) = &mut open {
                event.end = end;
            }
            at = next;
        }
        stream.close(open, limits);
        stream
    }

    /// Takes an event in that has ended.
    fn close(&mut self, event: Option<(Event, usize)>, limits: &Limits) {
        let Some((event, data)) = event else { return };
        let json = &mut self.json[data..event.end];
        // The mask is the data and spaces.
        if json.trim_ascii() == b"[DONE]" {
            json.fill(b' ');
            self.done = Some(event);
            return;
        }
        if Json::parse(json, limits.depth).is_err() {
            // There is room: the name of the field and its colon have five bytes.
            json.fill(b' ');
            json[1..5].copy_from_slice(b"null");
            self.broken.push(self.events.len());
        }
        json[0] = if self.events.is_empty() { b'[' } else { b',' };
        self.events.push(event);
        self.done = None;
    }
}

/// Rewrites an event stream: `edit` is given one document, the list of all events.
pub(super) fn rewrite<'b>(
    body: &'b [u8],
    limits: &Limits,
    edit: &mut dyn FnMut(&str, Part<'_>),
) -> Result<Cow<'b, [u8]>, Error> {
    let Stream { events, json: mut text, broken, done } = Stream::read(body, limits);
    for index in broken {
        edit(&format!("/{index}"), Err("the event is not JSON and was copied".into()));
    }
    let Some(last) = events.last() else { return Ok(Cow::Borrowed(body)) };
    // One more event, as if it were there.
    text.push(b',');
    text.extend_from_slice(EVENT.as_bytes());
    text.push(b']');
    let Ok(json) = Json::scan(&text, 0, limits.depth.saturating_add(1)) else { return Ok(Cow::Borrowed(body)) };
    let mut document = JsonDocument { may_drop: false, ..JsonDocument::new(json) };
    let nodes = document.elements(Json::ROOT);
    // Ours: the one that is there, else the one that may come.
    let (mut ours, mut object) = (events.len(), Json::ROOT);
    let mut model = None;
    for (index, &node) in nodes.iter().enumerate() {
        model = model.or_else(|| string_member(&mut document, node, "model"));
        if let Some(found) = text_object(&mut document, node)
            && (index < events.len() || object == Json::ROOT)
        {
            (ours, object) = (index, found);
        }
    }
    let events_place = Place { node: Json::ROOT, path: String::new() };
    let whole = Place { node: object, path: format!("/{ours}/{MEMBER}") };
    let mut view = View { whole: Some(whole), model, ..View::of(&events_place) };
    view.places.push(("events", events_place));
    edit("", Ok((&mut document, vec![view])));

    let JsonDocument { json, edits, .. } = document;
    if edits.is_empty() {
        return Ok(Cow::Borrowed(body));
    }
    let value = nodes.get(ours).map_or(0..0, |&node| json.range(node));
    let mut out = Vec::new();
    json.render_each(edits, &mut |_, changes| {
        let mut event = b"data: ".to_vec();
        splice_into(&text, value.clone(), changes, &mut event);
        let says_nothing = event.ends_with(EVENT.as_bytes());
        let (mut from, mut to) = (body.len(), body.len());
        if let Some(there) = events.get(ours) {
            if says_nothing {
                (from, to) = cut(body, *there, done.is_some());
            }
            event.clear();
        } else if says_nothing {
            event.clear();
        } else if let Some(done) = done {
            (from, to) = (done.start, done.start);
            blank_into(body, &mut event);
        } else {
            (from, to) = (last.end, last.end);
            let text = std::mem::take(&mut event);
            blank_into(body, &mut event);
            event.extend_from_slice(&text);
        }
        out.reserve(body.len() + event.len());
        splice_into(body, 0..from, changes, &mut out);
        out.extend_from_slice(&event);
        splice_into(body, to..body.len(), changes, &mut out);
    });
    within(out, body, limits).map(Cow::Owned)
}

/// The object that an event of ours has its texts in.
fn text_object(document: &mut JsonDocument<'_>, event: NodeId) -> Option<NodeId> {
    let is_alone = document.kind(event) == Kind::Object && document.json.pairs(event).count() == 1;
    let object = is_alone.then(|| document.member(event, MEMBER)).flatten()?;
    (document.kind(object) == Kind::Object).then_some(object)
}

/// What goes with an event that was put in: it stands with a blank line after it where there is `[DONE]`, else after one.
fn cut(body: &[u8], event: Event, has_done: bool) -> (usize, usize) {
    let mut blank = Vec::new();
    blank_into(body, &mut blank);
    if !has_done && body[..event.start].ends_with(&blank) {
        return (event.start - blank.len(), event.end);
    }
    let mut end = event.end;
    for _ in 0..2 {
        end = Line::at(body, end).map_or(end, |line| line.next);
    }
    (event.start, end)
}

/// Appends what ends a line and the blank one after it, as lines of the body end.
fn blank_into(body: &[u8], out: &mut Vec<u8>) {
    let ending = match Line::at(body, 0) {
        Some(Line { end, next }) if end < next => &body[end..next],
        _ => b"\n",
    };
    out.extend_from_slice(ending);
    out.extend_from_slice(ending);
}
