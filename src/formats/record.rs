//! Format `record`: JSON as an object, an array of objects, or JSON lines.

use super::dotted::add_flattened;
use super::{has_none, has_room, string_member};
use crate::view::{KeySet, Keys, Kind, NodeId, Place, Tree, View, key_hash, numbered};

/// What a record has that is a span of `read` in JavaScript. Of such a one the places are JSON in strings; of others a text
/// is a text, unless a layout says otherwise.
const OF_READ: [&str; 2] = ["traceId", "spanId"];

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

/// The spans of one JSON value: an object, or the objects of an array. Those that have none of the keys are not looked into.
pub(crate) fn views(tree: &mut dyn Tree, root: NodeId, path: &str, wanted: Option<&KeySet>) -> Vec<View> {
    let mut views = Vec::new();
    match tree.kind(root) {
        Kind::Object => views.push(view(tree, root, path.to_owned(), wanted)),
        // A list of numbers can be long, and each would become a node.
        Kind::Array if tree.element(root, 0).is_some_and(|first| tree.kind(first) != Kind::Number) => {
            for (i, node) in tree.elements(root).into_iter().enumerate() {
                if has_room(&views) && tree.kind(node) == Kind::Object {
                    views.push(view(tree, node, numbered(path, i), wanted));
                }
            }
        }
        _ => {}
    }
    views
}

fn view(tree: &mut dyn Tree, record: NodeId, path: String, wanted: Option<&KeySet>) -> View {
    let whole = Place { node: record, path };
    if has_none(tree, record, wanted, false, &[]) {
        return View { has_none: true, ..View::of(&whole) };
    }
    let mut places = Vec::with_capacity(4);
    let mut model = None;
    let mut has_inputs = false;
    let keys = Keys::of(tree, record);
    let mut is_read = true;
    for key in OF_READ {
        is_read = is_read && keys.may_have(key_hash(key.as_bytes())) && tree.member(record, key).is_some();
    }
    for (key, name, models) in PLACES {
        let node = keys.may_have(key_hash(key.as_bytes())).then(|| tree.member(record, key)).flatten();
        let node = node.filter(|&node| match tree.kind(node) {
            Kind::Null => false,
            Kind::Array | Kind::Object => true,
            _ => key != REQUEST && key != RESPONSE,
        });
        let Some(node) = node.filter(|_| !is_there(&places, name)) else { continue };
        let mut place = whole.then(node, "/");
        place.path.push_str(key);
        if is_read {
            place = opened(tree, place);
        }
        let node = place.node;
        places.push((name, place));
        has_inputs |= key == INPUTS;
        for key in models {
            model = model.or_else(|| string_member(tree, node, key));
        }
    }
    for (steps, models) in OTHER_MODELS {
        let mut node = Some(record).filter(|_| steps.first().is_none_or(|key| keys.may_have(key_hash(key.as_bytes()))));
        for key in steps {
            node = node.and_then(|node| tree.member(node, key));
        }
        for key in models {
            model = model.or_else(|| string_member(tree, node?, key));
        }
    }
    // Without inputs the record may be the output itself, as a server's response or a trainer's dump is.
    let bare = (!has_inputs).then(|| whole.clone());
    let mut view = View { places, bare, model, ..View::of(&whole) };
    view.whole = Some(whole);
    let attributes = view.places.iter().find(|(name, _)| *name == "attributes").map(|(_, place)| place.clone());
    if let Some(attributes) = attributes {
        add_flattened(tree, &attributes, &mut view);
    }
    view
}

/// What is inside a string that holds JSON of an object or a list; another value as it is.
fn opened(tree: &mut dyn Tree, place: Place) -> Place {
    if tree.kind(place.node) == Kind::String
        && let Some(node) = tree.open_json(place.node)
        && matches!(tree.kind(node), Kind::Object | Kind::Array)
    {
        return place.then(node, "/!json");
    }
    place
}

fn is_there(places: &[(&str, Place)], wanted: &str) -> bool {
    places.iter().any(|(name, _)| *name == wanted)
}
