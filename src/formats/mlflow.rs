//! What MLflow's server and its client's files hold: spans, and what the server says of traces.

use super::span::{opened, view};
use crate::view::{Kind, NodeId, Tree, View};

/// Where the spans are.
const SPANS: [&[&str]; 5] =
    [&["spans"], &["trace", "spans"], &["traces", "*", "spans"], &["data", "spans"], &["traces", "*", "data", "spans"]];

/// Where a trace is told of, with previews of its inputs and its output.
const INFOS: [&[&str]; 6] = [
    &["trace", "trace_info"],
    &["traces", "*", "trace_info"],
    &["traces", "*"],
    &["trace_infos", "*"],
    &["info"],
    &["traces", "*", "info"],
];

/// The previews: JSON text, cut where it is long.
const PREVIEWS: [(&str, &str); 2] = [("request_preview", "inputs"), ("response_preview", "output")];

/// The spans of a body, and the previews in it that are whole.
pub(super) fn views(tree: &mut dyn Tree, root: NodeId, path: &str) -> Vec<View> {
    let mut views = Vec::new();
    for steps in SPANS {
        each(tree, root, path.to_owned(), steps, &mut |tree, spans, path| {
            if tree.kind(spans) != Kind::Array {
                return;
            }
            for (i, span) in tree.elements(spans).into_iter().enumerate() {
                views.push(view(tree, span, format!("{path}/{i}"), None));
            }
        });
    }
    for steps in INFOS {
        each(tree, root, path.to_owned(), steps, &mut |tree, info, path| {
            let mut places = Vec::new();
            for (key, name) in PREVIEWS {
                if let Some(place) =
                    opened(tree, info, &path, key).filter(|place| tree.kind(place.node) != Kind::String)
                {
                    places.push((name, place));
                }
            }
            if !places.is_empty() {
                views.push(View { path, places, ..View::default() });
            }
        });
    }
    views
}

/// Tells what some steps lead to, `*` being every element.
fn each(
    tree: &mut dyn Tree,
    node: NodeId,
    path: String,
    steps: &[&str],
    tell: &mut dyn FnMut(&mut dyn Tree, NodeId, String),
) {
    match steps.split_first() {
        None => tell(tree, node, path),
        Some((&"*", rest)) => {
            if tree.kind(node) == Kind::Array {
                for (i, node) in tree.elements(node).into_iter().enumerate() {
                    each(tree, node, format!("{path}/{i}"), rest, tell);
                }
            }
        }
        Some((step, rest)) => {
            if let Some(node) = tree.member(node, step) {
                each(tree, node, format!("{path}/{step}"), rest, tell);
            }
        }
    }
}
