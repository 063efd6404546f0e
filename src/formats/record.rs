//! Format `record`: JSON as an object, an array of objects, or JSON lines.

use crate::json::{Edits, Json, ScanError, TOO_DEEP, skip_space, string_content};
use crate::limits::Limits;
use crate::view::{Keys, Kind, NodeId, Place, Tree, View, hash};
use crate::{Error, ErrorCode};

/// What of a record layouts point into: its key, their name for it, and where in it the name of the model may stand;
/// most telling first.
const PLACES: [(&str, &str, &[&str]); 7] = [
    ("attributes", "attributes", &MODEL_ATTRIBUTES),
    ("output", "output", &["model"]),
    ("outputs", "output", &["model"]),
    (RESPONSE, "output", &["model"]),
    (INPUTS, "inputs", &["model"]),
    (REQUEST, "inputs", &["model"]),
    ("events", "events", &[]),
];

const INPUTS: &str = "inputs";
/// What a gateway logs. As text, which a record's own `response` may be, they are no places.
const REQUEST: &str = "request";
const RESPONSE: &str = "response";

const MODEL_ATTRIBUTES: [&str; 5] =
    ["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "mlflow.llm.model", "model"];

/// Where else a record may name its model.
const OTHER_MODELS: [(&[&str], &[&str]); 4] = [
    (&[], &["model", "model_name"]),
    (&["metadata"], &["model", "model_name"]),
    (&["resource", "attributes"], &MODEL_ATTRIBUTES),
    (&["resource"], &MODEL_ATTRIBUTES),
];

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
    let whole = Json::scan(body, start, limits.depth);
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
        match Json::scan(line, start, limits.depth) {
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

/// The spans of one JSON value: an object, or the objects of an array.
pub(crate) fn views(tree: &mut dyn Tree, root: NodeId, path: &str) -> Vec<View> {
    let mut views = Vec::new();
    match tree.kind(root) {
        Kind::Object => views.push(view(tree, root, path.to_owned())),
        // A list of numbers can be long, and each would become a node.
        Kind::Array if tree.element(root, 0).is_some_and(|first| tree.kind(first) != Kind::Number) => {
            for (i, node) in tree.elements(root).into_iter().enumerate() {
                if tree.kind(node) == Kind::Object {
                    views.push(view(tree, node, format!("{path}/{i}")));
                }
            }
        }
        _ => {}
    }
    views
}

fn view(tree: &mut dyn Tree, record: NodeId, path: String) -> View {
    let mut places = Vec::new();
    let mut model = None;
    let mut has_inputs = false;
    let keys = Keys::of(tree, record);
    for (key, name, models) in PLACES {
        let node = keys.may_have(hash(key.as_bytes())).then(|| tree.member(record, key)).flatten();
        let node = node.filter(|&node| match tree.kind(node) {
            Kind::Null => false,
            Kind::Array | Kind::Object => true,
            _ => key != REQUEST && key != RESPONSE,
        });
        let Some(node) = node.filter(|_| !is_there(&places, name)) else { continue };
        places.push((name, Place { node, path: format!("{path}/{key}") }));
        has_inputs |= key == INPUTS;
        for key in models {
            model = model.or_else(|| string_member(tree, node, key));
        }
    }
    for (steps, models) in OTHER_MODELS {
        let mut node = Some(record).filter(|_| steps.first().is_none_or(|key| keys.may_have(hash(key.as_bytes()))));
        for key in steps {
            node = node.and_then(|node| tree.member(node, key));
        }
        for key in models {
            model = model.or_else(|| string_member(tree, node?, key));
        }
    }
    let whole = Place { node: record, path: path.clone() };
    // Without inputs the record may be the output itself, as a server's response or a trainer's dump is.
    let bare = (!has_inputs).then(|| (whole.clone(), keys));
    View { path, places, bare, whole: Some(whole), model }
}

fn is_there(places: &[(&str, Place)], wanted: &str) -> bool {
    places.iter().any(|(name, _)| *name == wanted)
}

fn string_member(tree: &mut dyn Tree, object: NodeId, key: &str) -> Option<String> {
    let node = (tree.kind(object) == Kind::Object).then(|| tree.member(object, key)).flatten()?;
    let content = string_content(&tree.json(node))?.into_owned();
    String::from_utf8(content).ok()
}
