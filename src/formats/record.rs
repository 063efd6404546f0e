//! Format `record`: JSON as an object, an array of objects, or JSON lines.

use super::string_member;
use crate::view::{Kind, NodeId, Place, Tree, View};

/// What of a record layouts point into: its key, their name for it, and where in it the name of the model may stand;
/// most telling first.
const PLACES: [(&str, &str, &[&str]); 5] = [
    ("attributes", "attributes", &["gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "model"]),
    ("output", "output", &["model"]),
    ("outputs", "output", &["model"]),
    ("inputs", "inputs", &["model"]),
    ("events", "events", &[]),
];

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
    for (key, name, models) in PLACES {
        let node = tree.member(record, key).filter(|&node| tree.kind(node) != Kind::Null);
        let Some(node) = node.filter(|_| !is_there(&places, name)) else { continue };
        places.push((name, Place { node, path: format!("{path}/{key}") }));
        for key in models {
            model = model.or_else(|| string_member(tree, node, key));
        }
    }
    let model = model.or_else(|| string_member(tree, record, "model"));
    let whole = Place { node: record, path: path.clone() };
    // Without inputs the record may be the output itself, as a server's response or a trainer's dump is.
    let bare = (!is_there(&places, "inputs")).then(|| whole.clone());
    View { path, places, bare, whole: Some(whole), model, ..View::default() }
}

fn is_there(places: &[(&str, Place)], wanted: &str) -> bool {
    places.iter().any(|(name, _)| *name == wanted)
}
