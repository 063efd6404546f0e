//! Where the spans of OTLP and of MLflow are in a body, and where in a span its inputs, output, attributes and events.

use super::dotted::add_flattened;
use super::{has_none, has_room, string_at, string_member};
use crate::json::joined;
use crate::view::{KeySet, Kind, NodeId, Place, Tree, View, numbered};

/// What leads to spans, in both spellings of OTLP and in what MLflow's server gives: requests, traces.
pub(super) const CONTAINERS: [&str; 10] = [
    "resourceSpans",
    "resource_spans",
    "scopeSpans",
    "scope_spans",
    "trace",
    "traces",
    "trace_info",
    "trace_infos",
    "info",
    "data",
];
pub(super) const SPANS: &str = "spans";

/// The most containers around a span, lists among them.
const MAX_DEPTH: usize = 8;

/// How many lists inside each other are written as JSON. Ids in more than two are refused.
pub(crate) const MAX_LISTS: usize = 4;

/// Attributes that hold the inputs or the output; for each the first that is there.
const SOURCES: [(&str, &str); 4] = [
    ("mlflow.spanInputs", "inputs"),
    ("input.value", "inputs"),
    ("mlflow.spanOutputs", "output"),
    ("output.value", "output"),
];

/// What the server tells of a trace: JSON text, cut where it is long.
const PREVIEWS: [(&str, &str); 2] = [("request_preview", "inputs"), ("response_preview", "output")];

/// What tells of a trace has its id and some of these.
const TRACE_IDS: [&str; 2] = ["trace_id", "request_id"];
const TOLD: [&str; 3] = ["tags", "trace_metadata", "request_metadata"];

/// Attributes of a span, or else of what it ran on, that name the model; most telling first.
pub(crate) const MODELS: [&str; 7] = [
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
    "mlflow.llm.model",
    "llm.hosted_vllm.model",
    "agentlightning.operation.output.model",
    "model",
];

/// MLflow reads attributes of its spans that look like JSON as JSON. A text that must stay one is a JSON string in them.
pub(crate) const REREAD: &str = "mlflow.";

/// Whether MLflow's clients wrote some attributes.
#[cfg(feature = "rollouts")]
pub(crate) fn is_of_mlflow(tree: &dyn Tree, attributes: NodeId) -> bool {
    let mut is_of_mlflow = false;
    tree.keys(attributes, &mut |key| is_of_mlflow |= key.starts_with(REREAD.as_bytes()));
    is_of_mlflow
}

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

/// The spans of a body. Those that have none of the keys are not looked into.
pub(super) fn views(tree: &mut dyn Tree, root: NodeId, path: &str, keys: Option<&KeySet>) -> Vec<View> {
    let mut finder = Finder { tree, keys, views: Vec::new() };
    finder.container(Place { node: root, path: path.to_owned() }, None, MAX_DEPTH);
    finder.views
}

struct Finder<'f> {
    tree: &'f mut dyn Tree,
    keys: Option<&'f KeySet>,
    views: Vec<View>,
}

impl Finder<'_> {
    /// The spans in an object or a list; `resource` is what they ran on.
    fn container(&mut self, at: Place, resource: Option<NodeId>, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        if self.tree.kind(at.node) == Kind::Array {
            for element in self.elements(&at) {
                self.container(element, resource, depth);
            }
            return;
        }
        let resource = self.tree.member(at.node, "resource").or(resource);
        self.told(&at);
        if let Some(spans) = self.member(&at, SPANS) {
            for (i, node) in self.tree.elements(spans.node).into_iter().enumerate() {
                if has_room(&self.views) {
                    self.span(Place { node, path: numbered(&spans.path, i) }, resource);
                }
            }
        }
        for key in CONTAINERS {
            if let Some(inner) = self.member(&at, key) {
                self.container(inner, resource, depth);
            }
        }
    }

    fn member(&mut self, object: &Place, key: &str) -> Option<Place> {
        let node = self.tree.member(object.node, key)?;
        Some(Place { node, path: joined(&[&object.path, "/", key]) })
    }

    fn elements(&mut self, list: &Place) -> Vec<Place> {
        let mut elements = Vec::new();
        for (i, node) in self.tree.elements(list.node).into_iter().enumerate() {
            elements.push(Place { node, path: numbered(&list.path, i) });
        }
        elements
    }

    /// What layouts see of a span.
    fn span(&mut self, span: Place, resource: Option<NodeId>) {
        let mut view = View::of(&span);
        if has_none(self.tree, span.node, self.keys, true, &SOURCES) {
            view.has_none = true;
            return self.views.push(view);
        }
        view.around = resource.map(|node| Place { node, path: String::new() });
        let attributes = self.member(&span, "attributes");
        if let Some(attributes) = &attributes {
            view.model = self.model(attributes.node);
            self.sources(attributes, &SOURCES, &mut view);
            add_flattened(self.tree, attributes, &mut view);
            // Without inputs the attributes may be the output themselves, as in spans whose instrumentation is flat.
            view.bare = Some(attributes.clone());
            for (name, place) in &view.places {
                if *name == "inputs" {
                    view.bare = None;
                }
                view.model = view.model.or_else(|| string_member(self.tree, place.node, "model"));
            }
        }
        view.whole.clone_from(&attributes);
        for (name, place) in [("attributes", attributes), ("events", self.member(&span, "events"))] {
            if let Some(place) = place {
                view.places.push((name, place));
            }
        }
        if let (None, Some(resource)) = (&view.model, resource)
            && let Some(attributes) = self.tree.member(resource, "attributes")
        {
            view.model = self.model(attributes);
        }
        self.views.push(view);
    }

    /// What is told of a trace, with its previews if they are whole.
    fn told(&mut self, info: &Place) {
        let mut view = View { is_trace: true, ..View::of(info) };
        self.sources(info, &PREVIEWS, &mut view);
        view.places.retain(|(_, place)| self.tree.kind(place.node) != Kind::String);
        let mut has = |keys: &[&str]| keys.iter().any(|key| self.tree.member(info.node, key).is_some());
        let is_told = !view.places.is_empty() || has(&TRACE_IDS) && has(&TOLD);
        if is_told && has_room(&self.views) {
            self.views.push(view);
        }
    }

    /// Members that are not null; of those that are JSON in a string what is inside.
    fn sources(&mut self, object: &Place, sources: &[(&str, &'static str)], view: &mut View) {
        for (key, name) in sources {
            let Some(mut place) = self.member(object, key).filter(|place| self.tree.kind(place.node) != Kind::Null)
            else {
                continue;
            };
            if self.tree.kind(place.node) == Kind::String
                && let Some(node) = self.tree.open_json(place.node)
                // A number in a string is text to everyone.
                && matches!(self.tree.kind(node), Kind::Object | Kind::Array | Kind::String)
            {
                place.node = node;
                place.path.push_str("/!json");
            }
            match view.places.iter().find(|(known, _)| known == name) {
                None => view.places.push((name, place)),
                Some((_, first)) => view.copies.push((first.path.clone(), place)),
            }
        }
    }

    /// The name of the model; of a string that holds a JSON string, as in MLflow's files, what is inside.
    fn model(&mut self, attributes: NodeId) -> Option<String> {
        for key in MODELS {
            let Some(node) = self.tree.member(attributes, key) else { continue };
            let Some(name) = string_at(self.tree, node) else { continue };
            let inner = if name.starts_with('"') { self.tree.open_json(node) } else { None };
            return inner.and_then(|inner| string_at(self.tree, inner)).or(Some(name));
        }
        None
    }
}
