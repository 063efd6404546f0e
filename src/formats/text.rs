//! Bodies of JSON text: a document, or JSON lines.

use std::borrow::Cow;

use super::Document;
use crate::json::{Edits, Json, Node, ScanError, TOO_DEEP, line_end, skip_space};
use crate::limits::Limits;
use crate::view::{KeySet, Kind, NodeId, Tree, Write, numbered};
use crate::{Error, ErrorCode};

/// A JSON value and the edits that were noted for it.
pub(crate) struct JsonDocument<'t> {
    pub(super) json: Json<'t>,
    pub(super) edits: Edits,
    /// Whether members may be taken out.
    pub(super) may_drop: bool,
}

impl<'t> JsonDocument<'t> {
    pub(super) fn new(json: Json<'t>) -> JsonDocument<'t> {
        JsonDocument { json, edits: Edits::default(), may_drop: true }
    }

    fn render(self) -> Vec<u8> {
        self.json.render(self.edits)
    }
}

impl Document for JsonDocument<'_> {
    fn write(&mut self, write: &Write) {
        self.json.write(write.object, write, &mut self.edits);
    }

    fn take_out(&mut self, object: NodeId, members: Vec<(String, Option<String>)>) {
        self.json.take_out(object, members, &mut self.edits);
    }
}

impl Tree for JsonDocument<'_> {
    fn kind(&self, node: NodeId) -> Kind {
        self.json.kind(node)
    }

    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        self.json.member(object, key)
    }

    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8])) {
        self.json.keys(object, tell);
    }

    fn keys_inside(&self, node: NodeId, tell: &mut dyn FnMut(u32)) -> bool {
        self.json.keys_inside(node, tell)
    }

    fn may_have(&self, node: NodeId, keys: &KeySet, in_strings: bool) -> bool {
        self.json.may_have(node, keys, in_strings)
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        self.json.element(array, index)
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        self.json.elements(array)
    }

    fn members(&mut self, object: NodeId) -> Vec<(String, NodeId)> {
        self.json.members(object)
    }

    fn len(&mut self, array: NodeId) -> usize {
        self.json.len(array)
    }

    fn open_json(&mut self, string: NodeId) -> Option<NodeId> {
        self.json.open_json(string)
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        self.json.json(node)
    }

    fn may_drop(&self) -> bool {
        self.may_drop
    }
}

/// Rewrites a body value by value: `edit` is given the address of each value, and the value or why there is none,
/// as of a broken line, which is copied. All bytes that no edit touches are copied.
pub(crate) fn rewrite<'b>(
    body: &'b [u8],
    limits: &Limits,
    edit: &mut dyn FnMut(&str, Result<&mut JsonDocument<'_>, String>),
) -> Result<Cow<'b, [u8]>, Error> {
    let start = after_byte_order_mark(body);
    if skip_space(body, start) == body.len() {
        return Ok(Cow::Borrowed(body));
    }
    let whole = Json::scan(body, start, limits.depth);
    if whole.is_ok() || !has_whole_line(body) {
        let mut document = JsonDocument::new(whole.map_err(|error| invalid(&error))?);
        edit("", Ok(&mut document));
        if document.edits.is_empty() {
            return Ok(Cow::Borrowed(body));
        }
        return within(document.render(), body, limits).map(Cow::Owned);
    }
    // What came of the lines up to `copied`: nothing is copied before there is an edit.
    let (mut out, mut copied) = (Vec::new(), 0);
    let mut lines = Lines::default();
    let mut end = 0;
    while end < body.len() {
        let at = end;
        end = line_end(body, at);
        lines.line(&body[at..end], limits, edit, |json, edits| {
            out.extend_from_slice(&body[copied..at]);
            json.render_into(edits, &mut out);
            copied = end;
        });
        out = within(out, body, limits)?;
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(body));
    }
    out.extend_from_slice(&body[copied..]);
    within(out, body, limits).map(Cow::Owned)
}

/// The lines of a body, of which the first may begin with a byte order mark.
#[derive(Default)]
pub(super) struct Lines {
    /// How many lines there were, and of them how many that are not only space.
    count: usize,
    values: usize,
    /// Those of the line before, whose memory is used again.
    nodes: Vec<Node>,
}

impl Lines {
    /// Takes the next line: `edit` is given its address and its value or why there is none, `changed` what was edited.
    #[inline(always)]
    pub(super) fn line(
        &mut self,
        line: &[u8],
        limits: &Limits,
        edit: &mut dyn FnMut(&str, Result<&mut JsonDocument<'_>, String>),
        changed: impl FnOnce(&Json<'_>, Edits),
    ) {
        let start = if self.count == 0 { after_byte_order_mark(line) } else { 0 };
        self.count += 1;
        if skip_space(line, start) == line.len() {
            return;
        }
        let path = numbered("", self.values);
        self.values += 1;
        match Json::scan_with(std::mem::take(&mut self.nodes), line, start, limits.depth) {
            Ok(json) => {
                let mut document = JsonDocument::new(json);
                edit(&path, Ok(&mut document));
                let JsonDocument { json, edits, .. } = document;
                if !edits.is_empty() {
                    changed(&json, edits);
                }
                self.nodes = json.into_nodes();
            }
            Err(error) => {
                edit(&path, Err(format!("the line is not JSON and was copied: {} at byte {}", error.what, error.at)));
            }
        }
    }
}

/// Whether a body of which this is the beginning is JSON lines, as [`rewrite`] would find: it begins with an object that ends with
/// its line, and something follows. None if more of it is needed to say so.
pub(super) fn are_lines(beginning: &[u8]) -> Option<bool> {
    let text = &beginning[after_byte_order_mark(beginning)..];
    if !text.starts_with(b"{") {
        return if text.is_empty() || b"\xEF\xBB\xBF".starts_with(text) { None } else { Some(false) };
    }
    let end = line_end(text, 0);
    let (line, rest) = text.split_at(end);
    if !line.ends_with(b"\n") {
        return None;
    }
    if !is_value(line) {
        return Some(false);
    }
    (skip_space(rest, 0) < rest.len()).then_some(true)
}

/// The output, if it is not too large.
pub(super) fn within(out: Vec<u8>, body: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    let most = limits.output_bytes(body.len());
    if out.len() <= most {
        return Ok(out);
    }
    Err(Error::new(ErrorCode::LimitExceeded, format!("the enriched body would have more than {most} bytes")))
}

/// Whether some line, but not the whole body, is a JSON object.
fn has_whole_line(body: &[u8]) -> bool {
    let lines = body.split(|&byte| byte == b'\n').filter(|line| line.trim_ascii().starts_with(b"{"));
    body.contains(&b'\n') && lines.into_iter().any(is_value)
}

/// Whether a body is a JSON value, or some line of it is one.
pub(super) fn is_json(body: &[u8]) -> bool {
    has_whole_line(body) || is_value(body)
}

/// Whether the text is one JSON value.
fn is_value(text: &[u8]) -> bool {
    Json::parse(text, Limits::default().depth).is_ok()
}

/// Where the text begins: files from some editors start with a byte order mark.
pub(crate) fn after_byte_order_mark(body: &[u8]) -> usize {
    if body.starts_with(&[0xEF, 0xBB, 0xBF]) { 3 } else { 0 }
}

/// The error for a body that is not JSON.
fn invalid(error: &ScanError) -> Error {
    let code = if error.what == TOO_DEEP { ErrorCode::LimitExceeded } else { ErrorCode::InvalidBody };
    Error::new(code, format!("the body is not JSON: {} at byte {}", error.what, error.at))
}
