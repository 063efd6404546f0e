//! OTLP in either encoding: resources, scopes, spans.

use super::span::view;
use crate::view::{NodeId, Tree, View};

/// The lists that lead to the spans, each in the two spellings that JSON has.
const RESOURCE_SPANS: [&str; 2] = ["resourceSpans", "resource_spans"];
const SCOPE_SPANS: [&str; 2] = ["scopeSpans", "scope_spans"];
const SPANS: [&str; 2] = ["spans", "spans"];

/// The spans of a request, or of each request of a list.
pub(super) fn views(tree: &mut dyn Tree, root: NodeId, path: &str) -> Vec<View> {
    let mut views = Vec::new();
    let mut requests = Vec::new();
    if tree.kind(root) == crate::view::Kind::Array {
        for (i, node) in tree.elements(root).into_iter().enumerate() {
            requests.push((node, format!("{path}/{i}")));
        }
    } else {
        requests.push((root, path.to_owned()));
    }
    for (request, path) in requests {
        for (resource_spans, path) in listed(tree, request, &path, RESOURCE_SPANS) {
            let resource = tree.member(resource_spans, "resource");
            for (scope_spans, path) in listed(tree, resource_spans, &path, SCOPE_SPANS) {
                for (span, path) in listed(tree, scope_spans, &path, SPANS) {
                    views.push(view(tree, span, path, resource));
                }
            }
        }
    }
    views
}

/// The elements of a list, each with its address.
fn listed(tree: &mut dyn Tree, object: NodeId, path: &str, keys: [&str; 2]) -> Vec<(NodeId, String)> {
    let mut elements = Vec::new();
    for key in keys {
        let Some(list) = tree.member(object, key).filter(|_| elements.is_empty()) else { continue };
        for (i, node) in tree.elements(list).into_iter().enumerate() {
            elements.push((node, format!("{path}/{key}/{i}")));
        }
    }
    elements
}
