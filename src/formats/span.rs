//! What a span of OTLP and of MLflow have in common: attributes, among which its inputs and its output stand.

use super::record::string_member;
use crate::view::{Kind, NodeId, Place, Tree, View};

/// Attributes that hold the inputs or the output; for each the first that is there.
const SOURCES: [(&str, &str); 4] = [
    ("mlflow.spanInputs", "inputs"),
    ("input.value", "inputs"),
    ("mlflow.spanOutputs", "output"),
    ("output.value", "output"),
];

/// Attributes of a span, or else of what it ran on, that name the model; most telling first.
const MODELS: [&str; 7] = [
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "mlflow.llm.model",
    "llm.hosted_vllm.model",
    "agentlightning.operation.output.model",
    "model",
];

/// Marks the texts that stand among attributes, whose names everyone shares.
pub(super) const MARK: &str = "token2text.";

/// MLflow reads attributes of its spans that look like JSON as JSON. A text that must stay one is a JSON string in them.
pub(super) const REREAD: &str = "mlflow.";

/// A node that is shown has what it is shown as in its topmost bits, below them the number of what is stored.
pub(super) const ROLE_SHIFT: u32 = 29;

/// The node of what is stored, shown as `role`. Nothing for those of numbers that no limit lets through.
pub(super) fn shown(role: u32, stored: NodeId) -> Option<NodeId> {
    (stored >> ROLE_SHIFT == 0).then_some(role << ROLE_SHIFT | stored)
}

/// What a node is shown as, and the number of what is stored.
pub(super) fn role(node: NodeId) -> (u32, NodeId) {
    (node >> ROLE_SHIFT, node & ((1 << ROLE_SHIFT) - 1))
}

/// What layouts see of a span. `resource` is what it ran on.
pub(super) fn view(tree: &mut dyn Tree, span: NodeId, path: String, resource: Option<NodeId>) -> View {
    let mut view = View { path, ..View::default() };
    let attributes = tree.member(span, "attributes");
    let mut model = None;
    if let Some(node) = attributes {
        let path = format!("{}/attributes", view.path);
        model = model_name(tree, node);
        for (key, name) in SOURCES {
            if view.places.iter().all(|(known, _)| *known != name)
                && let Some(place) = opened(tree, node, &path, key)
            {
                model = model.or_else(|| string_member(tree, place.node, "model"));
                view.places.push((name, place));
            }
        }
        let attributes = Place { node, path };
        // Without inputs the attributes may be the output themselves, as in spans whose instrumentation is flat.
        let has_inputs = view.places.iter().any(|(name, _)| *name == "inputs");
        view.bare = (!has_inputs).then(|| attributes.clone());
        view.whole = Some(attributes.clone());
        view.places.push(("attributes", attributes));
    }
    if let Some(node) = tree.member(span, "events") {
        view.places.push(("events", Place { node, path: format!("{}/events", view.path) }));
    }
    let resource = resource.and_then(|resource| tree.member(resource, "attributes"));
    view.model = model.or_else(|| model_name(tree, resource?));
    view
}

/// A member that is not null; what is inside if it is JSON in a string.
pub(super) fn opened(tree: &mut dyn Tree, object: NodeId, path: &str, key: &str) -> Option<Place> {
    let node = tree.member(object, key)?;
    match tree.kind(node) {
        Kind::Null => return None,
        Kind::String => {
            // A number in a string is text to everyone.
            let inside = tree
                .open_json(node)
                .filter(|&inside| matches!(tree.kind(inside), Kind::Object | Kind::Array | Kind::String));
            if let Some(node) = inside {
                return Some(Place { node, path: format!("{path}/{key}/!json") });
            }
        }
        _ => {}
    }
    Some(Place { node, path: format!("{path}/{key}") })
}

fn model_name(tree: &mut dyn Tree, attributes: NodeId) -> Option<String> {
    for key in MODELS {
        let name = string_member(tree, attributes, key);
        if name.is_some() {
            return name;
        }
    }
    None
}
