//! Format `weave`: calls as W&B's trace service takes and gives them. A body is a batch, one request or answer, or a
//! line of an answer; a call is whole, or its start and its end stand apart.

use super::{add_place, has_room, string_member};
use crate::view::{Kind, Names, NodeId, Place, Tree, View};

/// Where a body has its calls, if it is not a call itself.
const LISTS: [&str; 2] = ["/batch", "/calls"];

/// Where an item of a list, or a body, has its call, if it is not a call itself.
const CALLS: [&str; 5] = ["/req/start", "/req/end", "/start", "/end", "/call"];

/// The calls of a body, or of a line.
pub(super) fn views(tree: &mut dyn Tree, root: Place) -> Vec<View> {
    let mut views = Vec::new();
    // The half of a call that came first, by the call's id.
    let mut halves = Names::default();
    for item in root.objects_in(tree, &LISTS) {
        if !has_room(&views) {
            break;
        }
        let mut call = None;
        for steps in CALLS {
            call = call.or_else(|| item.find_kind(tree, steps, Kind::Object));
        }
        let is_half = call.as_ref().is_some_and(|call| !call.path.ends_with("/call"));
        let call = call.unwrap_or(item);
        views.push(view(tree, &call));
        if is_half && let Some(id) = string_member(tree, call.node, "id") {
            let other = halves.insert(&id, views.len() as NodeId - 1);
            join(&mut views, other);
        }
    }
    views
}

/// Tells the last view and the other half of its call of each other, so that a layout that needs inputs and output
/// applies to both.
fn join(views: &mut [View], other: Option<NodeId>) {
    let Some((last, before)) = views.split_last_mut() else { return };
    let Some(other) = other.and_then(|other| before.get_mut(other as usize)) else { return };
    last.elsewhere = other.places.clone();
    other.elsewhere = last.places.clone();
    let (start, end) = if is_start(last) { (last, other) } else { (other, last) };
    if is_start(start) {
        end.whole = start.whole.clone();
    }
}

/// Only a start has attributes.
fn is_start(view: &View) -> bool {
    view.places.iter().any(|(name, _)| *name == "attributes")
}

fn view(tree: &mut dyn Tree, call: &Place) -> View {
    let mut view = View::of(call);
    add_place(tree, &mut view, call, "/attributes", "attributes");
    // The service takes any output and no member beside it, so a text for beside it goes into the attributes.
    view.whole = view.places.first().map(|(_, place)| place.clone());
    // An end whose start is elsewhere has none. Its summary takes any member too.
    view.whole = view.whole.or_else(|| call.find_kind(tree, "/summary", Kind::Object));
    add_place(tree, &mut view, call, "/output", "output");
    // The npm client knows no names of arguments: a function of one object has it as `arg0`.
    let is_named = call.find_kind(tree, "/inputs/arg0", Kind::Object).is_none();
    add_place(tree, &mut view, call, if is_named { "/inputs" } else { "/inputs/arg0" }, "inputs");
    view
}
