//! Format `trackio`: traces as Trackio's server takes them (`bulk_log`, files of its inbox) and gives them
//! (`get_traces`), and the spans in them.

use super::{add_place, has_room, string_member};
use crate::json::joined;
use crate::layouts::unescape_key;
use crate::view::{Kind, Place, Tree, View};

/// Where a body has its entries or traces, if it is not one itself.
const LISTS: [&str; 4] = ["/kwargs/logs", "/logs", "/data", "/traces"];

/// Where a trace has what layouts point into, and where a span has it.
const IN_TRACE: [(&str, &str); 3] =
    [("/metadata", "attributes"), ("/metadata/output", "output"), ("/metadata/inputs", "inputs")];
const IN_SPAN: [(&str, &str); 3] = [("/metadata", "attributes"), ("/output", "output"), ("/input", "inputs")];

/// The traces of a body, or of a line, and their spans.
pub(super) fn views(tree: &mut dyn Tree, root: Place) -> Vec<View> {
    let mut views = Vec::new();
    for item in root.objects_in(tree, &LISTS) {
        let Some(metrics) = item.find_kind(tree, "/metrics", Kind::Object) else {
            trace(tree, &item, None, &mut views);
            continue;
        };
        // An entry of a log: traces by name, one or a list, among numbers.
        for (key, node) in tree.members(metrics.node) {
            for value in metrics.then(node, &step(&key)).objects(tree) {
                if string_member(tree, value.node, "_type").as_deref() == Some("trackio.trace") {
                    trace(tree, &value, Some(&item), &mut views);
                }
            }
        }
    }
    views
}

/// A key as a step of a pointer.
fn step(key: &str) -> String {
    let mut step = String::from("/");
    for char in key.chars() {
        match char {
            '~' => step.push_str("~0"),
            '/' => step.push_str("~1"),
            other => step.push(other),
        }
    }
    step
}

/// The id that the server gives to a trace of an entry, and the name that it is logged by. Without an id of the entry the
/// server draws one.
pub(super) fn log_id(tree: &mut dyn Tree, entry: &Place, path: &str) -> (Option<String>, String) {
    let steps = path.strip_prefix(&entry.path).and_then(|rest| rest.strip_prefix("/metrics/")).unwrap_or_default();
    let end = steps.bytes().position(|byte| byte == b'/').unwrap_or(steps.len());
    let (step, index) = (steps.get(..end).unwrap_or_default(), steps.get(end + 1..));
    let key = unescape_key(step).unwrap_or_default().into_owned();
    let run = string_member(tree, entry.node, "run_id").or_else(|| string_member(tree, entry.node, "run"));
    let (Some(run), Some(log)) = (run, string_member(tree, entry.node, "log_id")) else { return (None, key) };
    let mut id = joined(&[&run, ":", &log, ":", &key]);
    if let Some(index) = index {
        id.push(':');
        id.push_str(index);
    }
    (Some(id), key)
}

fn trace(tree: &mut dyn Tree, trace: &Place, entry: Option<&Place>, views: &mut Vec<View>) {
    if !has_room(views) {
        return;
    }
    let mut of_trace = view(tree, trace, &IN_TRACE);
    of_trace.around = entry.cloned();
    // The metadata may be the output itself.
    if of_trace.places.last().is_none_or(|(name, _)| *name != "inputs")
        && let Some(whole) = &of_trace.whole
    {
        of_trace.bare = Some(whole.clone());
    }
    // verl's client writes the inputs and the output into messages too.
    if let Some(messages) = trace.find_kind(tree, "/messages", Kind::Array)
        && let Some(whole) = &of_trace.whole
    {
        for message in messages.objects(tree) {
            if let Some(content) = message.find_kind(tree, "/content", Kind::String) {
                of_trace.copies.push((whole.path.clone(), content));
            }
        }
    }
    views.push(of_trace);
    if let Some(spans) = trace.find_kind(tree, "/spans", Kind::Array) {
        for span in spans.objects(tree) {
            if !has_room(views) {
                return;
            }
            let mut of_span = view(tree, &span, &IN_SPAN);
            of_span.around = Some(trace.clone());
            // A span need not have metadata.
            if of_span.whole.is_none() {
                of_span.whole = Some(span);
            }
            views.push(of_span);
        }
    }
}

/// A trace or a span. A text for beside the output goes into the metadata; messages stay as they are.
fn view(tree: &mut dyn Tree, from: &Place, places: &[(&str, &'static str)]) -> View {
    let mut view = View::of(from);
    view.model = string_member(tree, from.node, "model");
    for (steps, name) in places {
        add_place(tree, &mut view, from, steps, name);
    }
    view.whole = from.find_kind(tree, "/metadata", Kind::Object);
    view
}
