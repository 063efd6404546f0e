//! Format `weave`: calls as W&B's trace service takes and gives them. A body is a batch, one request or answer, or a
//! line of an answer; a call is whole, or its start and its end stand apart.

use super::record::string_member;
use super::walk;
use crate::view::{Kind, Names, NodeId, Place, Tree, View};

/// What of a call layouts point into; the name of its model may stand in each as `model`.
const PLACES: [&str; 3] = ["attributes", "output", "inputs"];

/// Where a body has its calls, if it is not a call itself.
const LISTS: [&str; 2] = ["/batch", "/calls"];

/// Where an item of a list, or a body, has its call, if it is not a call itself.
const CALLS: [(&str, Half); 5] = [
    ("/req/start", Half::Start),
    ("/req/end", Half::End),
    ("/start", Half::Start),
    ("/end", Half::End),
    ("/call", Half::Both),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Start,
    End,
    Both,
}

struct Call {
    view: View,
    half: Half,
    id: Option<String>,
}

/// The calls of a body, or of a line.
pub(super) fn views(tree: &mut dyn Tree, root: NodeId, path: &str) -> Vec<View> {
    let mut list = (tree.kind(root) == Kind::Array).then(|| Place { node: root, path: path.to_owned() });
    for steps in LISTS {
        let found = list.is_none().then(|| walk(tree, root, steps)).flatten();
        if let Some(node) = found.filter(|&node| tree.kind(node) == Kind::Array) {
            list = Some(Place { node, path: format!("{path}{steps}") });
        }
    }
    let mut calls = Vec::new();
    match list {
        Some(list) => {
            // A list of numbers has no calls.
            let is_numbers = tree.element(list.node, 0).is_none_or(|first| tree.kind(first) == Kind::Number);
            let items = if is_numbers { Vec::new() } else { tree.elements(list.node) };
            for (i, node) in items.into_iter().enumerate() {
                calls.extend(call(tree, Place { node, path: format!("{}/{i}", list.path) }));
            }
        }
        None => calls.extend(call(tree, Place { node: root, path: path.to_owned() })),
    }
    join_halves(calls)
}

/// The call that an item is or holds; of half a call its id too.
fn call(tree: &mut dyn Tree, item: Place) -> Option<Call> {
    let (mut place, mut half) = (item.clone(), Half::Both);
    for (steps, found_half) in CALLS {
        let found = walk(tree, item.node, steps).filter(|&node| tree.kind(node) == Kind::Object);
        if let Some(node) = found.filter(|_| half == Half::Both) {
            place = Place { node, path: format!("{}{steps}", item.path) };
            half = found_half;
        }
    }
    if tree.kind(place.node) != Kind::Object {
        return None;
    }
    let id = string_member(tree, place.node, "id").filter(|_| half != Half::Both);
    Some(Call { view: view(tree, place), half, id })
}

fn view(tree: &mut dyn Tree, call: Place) -> View {
    let mut view = View { path: call.path, ..View::default() };
    for name in PLACES {
        let node = tree.member(call.node, name).filter(|&node| tree.kind(node) != Kind::Null);
        let Some(mut node) = node else { continue };
        let mut path = format!("{}/{name}", view.path);
        view.model = view.model.or_else(|| string_member(tree, node, "model"));
        // The npm client knows no names of arguments: a function of one object has it as `arg0`.
        let argument = walk(tree, node, "/arg0").filter(|&node| name == "inputs" && tree.kind(node) == Kind::Object);
        if let Some(argument) = argument {
            node = argument;
            path.push_str("/arg0");
            view.model = view.model.or_else(|| string_member(tree, node, "model"));
        }
        let place = Place { node, path };
        // The service takes any output and no member beside it, so a text for beside it goes into the attributes.
        if name == "attributes" {
            view.whole = Some(place.clone());
        }
        view.places.push((name, place));
    }
    view
}

/// Tells the halves of a call of each other, so that a layout that needs inputs and output applies to both.
fn join_halves(calls: Vec<Call>) -> Vec<View> {
    let (mut starts, mut ends) = (Names::default(), Names::default());
    for (index, call) in calls.iter().enumerate() {
        if let Some(id) = &call.id {
            let halves = if call.half == Half::Start { &mut starts } else { &mut ends };
            halves.insert(id, index as NodeId);
        }
    }
    let mut views = Vec::with_capacity(calls.len());
    for call in &calls {
        let others = if call.half == Half::Start { &ends } else { &starts };
        let mut view = call.view.clone();
        if let Some(other) = call.id.as_ref().and_then(|id| others.get(id)) {
            let other = &calls[other as usize].view;
            view.elsewhere.clone_from(&other.places);
            view.whole = view.whole.or_else(|| other.whole.clone());
        }
        views.push(view);
    }
    views
}
