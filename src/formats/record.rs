//! Format `record`: JSON as an object, an array of objects, or JSON lines.

use crate::json::{Edits, Json, ScanError, TOO_DEEP, skip_space};
use crate::limits::Limits;
use crate::view::{Kind, NodeId, Place, Tree, View};
use crate::{Error, ErrorCode};

/// Where spans keep the name of their model, most telling first.
const MODEL_ATTRIBUTES: [&str; 4] = ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "model"];

/// Rewrites a body value by value: `edit` is given the address of each value, and the value or why there is none,
/// as of a broken line, which is copied. All bytes that no edit touches are copied.
pub(crate) fn rewrite(
    body: &[u8],
    limits: &Limits,
    edit: &mut dyn FnMut(&str, Result<&mut Json<'_>, &ScanError>) -> Edits,
) -> Result<Vec<u8>, Error> {
    let start = after_byte_order_mark(body);
    if skip_space(body, start) == body.len() {
        return Ok(body.to_vec());
    }
    let whole = scan_whole(body, start, limits.depth);
    if whole.is_ok() || !has_whole_line(body) {
        let mut json = whole.map_err(|error| invalid(&error))?;
        let edits = edit("", Ok(&mut json));
        return within(json.render(edits), body, limits);
    }
    let mut out = Vec::with_capacity(body.len());
    let mut index = 0;
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let start = if out.is_empty() { start } else { 0 };
        if skip_space(line, start) == line.len() {
            out.extend_from_slice(line);
            continue;
        }
        let path = format!("/{index}");
        index += 1;
        match scan_whole(line, start, limits.depth) {
            Ok(mut json) => {
                let edits = edit(&path, Ok(&mut json));
                if edits.is_empty() { out.extend_from_slice(line) } else { out.append(&mut json.render(edits)) }
            }
            Err(error) => {
                edit(&path, Err(&error));
                out.extend_from_slice(line);
            }
        }
        out = within(out, body, limits)?;
    }
    Ok(out)
}

fn within(out: Vec<u8>, body: &[u8], limits: &Limits) -> Result<Vec<u8>, Error> {
    let most = limits.output_bytes(body.len());
    if out.len() <= most {
        return Ok(out);
    }
    Err(Error::new(ErrorCode::LimitExceeded, format!("the enriched body would have more than {most} bytes")))
}

/// Whether some line, but not the whole body, is a JSON object.
pub(crate) fn has_whole_line(body: &[u8]) -> bool {
    let lines = body.split(|&byte| byte == b'\n').filter(|line| line.trim_ascii().starts_with(b"{"));
    body.contains(&b'\n') && lines.into_iter().any(is_json)
}

/// Whether the text is one JSON value.
pub(crate) fn is_json(text: &[u8]) -> bool {
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

fn scan_whole(text: &[u8], at: usize, max_depth: usize) -> Result<Json<'_>, ScanError> {
    let (json, end) = Json::scan(text, at, max_depth)?;
    let end = skip_space(text, end);
    if end < text.len() { Err(ScanError { at: end, what: "something follows the value" }) } else { Ok(json) }
}

/// The spans of one JSON value: an object, or the objects of an array.
pub(crate) fn views(tree: &mut dyn Tree, root: NodeId, path: &str) -> Vec<View> {
    match tree.kind(root) {
        Kind::Object => vec![view(tree, root, path.to_owned())],
        Kind::Array => {
            let is_numbers = tree.element(root, 0).is_some_and(|first| tree.kind(first) == Kind::Number);
            let elements = if is_numbers { Vec::new() } else { tree.elements(root) };
            let objects = elements.into_iter().enumerate().filter(|&(_, node)| tree.kind(node) == Kind::Object);
            let objects: Vec<_> = objects.collect();
            objects.into_iter().map(|(i, node)| view(tree, node, format!("{path}/{i}"))).collect()
        }
        _ => Vec::new(),
    }
}

fn view(tree: &mut dyn Tree, record: NodeId, path: String) -> View {
    let mut present = |key: &str| {
        let node = tree.member(record, key)?;
        (tree.kind(node) != Kind::Null).then(|| Place { node, path: format!("{path}/{key}") })
    };
    let inputs = present("inputs");
    let output = present("output").or_else(|| present("outputs"));
    let (attributes, events) = (present("attributes"), present("events"));
    let whole = Place { node: record, path: path.clone() };
    // Without inputs the record may be the output itself, as a server's response or a trainer's dump is.
    let bare = inputs.is_none().then(|| whole.clone());
    let model = model(tree, record, [&attributes, &inputs, &output]);
    View { path, inputs, output, attributes, events, bare, beside_output: Some(whole), model }
}

fn model(tree: &mut dyn Tree, record: NodeId, [attributes, inputs, output]: [&Option<Place>; 3]) -> Option<String> {
    let named = attributes.iter().flat_map(|place| MODEL_ATTRIBUTES.map(|key| (place.node, key)));
    let plain = [output, inputs].into_iter().flatten().map(|place| (place.node, "model"));
    named.chain(plain).chain([(record, "model")]).find_map(|(object, key)| {
        let node = (tree.kind(object) == Kind::Object).then(|| tree.member(object, key)).flatten()?;
        let json = tree.json(node);
        let content = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        String::from_utf8(crate::json::unescape(content).into_owned()).ok()
    })
}
