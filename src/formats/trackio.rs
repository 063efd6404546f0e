//! Format `trackio`: traces as Trackio's server takes them (`bulk_log`, files of its inbox) and gives them
//! (`get_traces`), and the spans in them.

use super::record::string_member;
use super::walk;
use crate::view::{Kind, NodeId, Place, Tree, View};

/// Where a body has its entries or traces, if it is not one itself.
const LISTS: [&str; 4] = ["/kwargs/logs", "/logs", "/data", "/traces"];

/// Where a trace has what layouts point into, and where a span has it. In each the name of the model may stand as `model`.
const IN_TRACE: [(&str, &str); 3] =
    [("/metadata", "attributes"), ("/metadata/output", "output"), ("/metadata/inputs", "inputs")];
const IN_SPAN: [(&str, &str); 3] = [("/metadata", "attributes"), ("/output", "output"), ("/input", "inputs")];

/// The traces of a body, or of a line, and their spans.
pub(super) fn views(tree: &mut dyn Tree, root: NodeId, path: &str) -> Vec<View> {
    let mut from = Place { node: root, path: path.to_owned() };
    for steps in LISTS {
        let found = (from.node == root).then(|| walk(tree, root, steps)).flatten();
        if let Some(node) = found.filter(|&node| tree.kind(node) == Kind::Array) {
            from = Place { node, path: format!("{path}{steps}") };
        }
    }
    let mut views = Vec::new();
    for item in items(tree, from) {
        match tree.member(item.node, "metrics") {
            // An entry of a log: traces by name, one or a list, among numbers.
            Some(metrics) => {
                for (key, node) in tree.containers(metrics) {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    for value in items(tree, Place { node, path: format!("{}/metrics/{key}", item.path) }) {
                        if string_member(tree, value.node, "_type").as_deref() == Some("trackio.trace") {
                            trace(tree, value, &mut views);
                        }
                    }
                }
            }
            None => trace(tree, item, &mut views),
        }
    }
    views
}

/// The objects of a list; an object alone.
fn items(tree: &mut dyn Tree, place: Place) -> Vec<Place> {
    let mut items = Vec::new();
    // A list of numbers can be long, and each would become a node.
    let first = tree.element(place.node, 0);
    if first.is_some_and(|first| tree.kind(first) != Kind::Number) {
        for (i, node) in tree.elements(place.node).into_iter().enumerate() {
            items.push(Place { node, path: format!("{}/{i}", place.path) });
        }
    } else {
        items.push(place);
    }
    items.retain(|item| tree.kind(item.node) == Kind::Object);
    items
}

fn trace(tree: &mut dyn Tree, trace: Place, views: &mut Vec<View>) {
    let mut of_trace = view(tree, &trace, &IN_TRACE);
    if let Some(node) = tree.member(trace.node, "messages").filter(|&node| tree.kind(node) == Kind::Array) {
        // verl's client writes the inputs and the output into messages too.
        for message in items(tree, Place { node, path: format!("{}/messages", trace.path) }) {
            let content = tree.member(message.node, "content").filter(|&node| tree.kind(node) == Kind::String);
            of_trace.copies.extend(content.map(|node| Place { node, path: format!("{}/content", message.path) }));
        }
    }
    views.push(of_trace);
    let spans = tree.member(trace.node, "spans").filter(|&node| tree.kind(node) == Kind::Array);
    let Some(node) = spans else { return };
    for span in items(tree, Place { node, path: format!("{}/spans", trace.path) }) {
        views.push(view(tree, &span, &IN_SPAN));
    }
}

fn view(tree: &mut dyn Tree, from: &Place, places: &[(&str, &'static str)]) -> View {
    let mut view = View { path: from.path.clone(), ..View::default() };
    view.model = string_member(tree, from.node, "model");
    for (steps, name) in places {
        let Some(node) = walk(tree, from.node, steps).filter(|&node| tree.kind(node) != Kind::Null) else { continue };
        view.model = view.model.or_else(|| string_member(tree, node, "model"));
        view.places.push((name, Place { node, path: format!("{}{steps}", from.path) }));
    }
    let metadata = view.places.first().filter(|(name, _)| *name == "attributes").map(|(_, place)| place.clone());
    // The metadata may be the output itself.
    view.bare =
        metadata.clone().filter(|_| places == IN_TRACE && view.places.iter().all(|(name, _)| *name != "inputs"));
    // Messages stay as they are. A span need not have metadata.
    view.whole = metadata.or_else(|| (places == IN_SPAN).then(|| from.clone()));
    view
}
