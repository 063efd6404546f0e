//! The inputs, the output, the attributes and the events of a span as JSON text.

use super::super::{Format, sse, string_member};
use super::{Text, text};
use crate::json::{lossy, number_end, quote_into};
use crate::span::Span;
use crate::view::{Kind, NodeId, Place, Tree, View, json_into, object_into};

/// Where a record has its attributes, if it has none by that name.
const OTHER_ATTRIBUTES: [&str; 2] = ["/metadata", "/extra_info"];

/// The name of what calls of one conversation share.
const REQUEST_ID: &str = "request_id";

/// The members of an event, in the spellings of OTLP/JSON and of MLflow's files. They are written as in the last.
const OF_EVENT: [[&str; 2]; 3] = [["name", "name"], ["timeUnixNano", "time_unix_nano"], ["attributes", "attributes"]];

pub(super) fn read(tree: &mut dyn Tree, view: &View, format: Format, span: &mut Span) {
    let mut attributes = None;
    for (name, place) in &view.places {
        match *name {
            "inputs" => read_inputs(tree, place.node, span),
            "output" => span.output = Some(json(tree, place.node)),
            "events" => span.events = events(tree, place.node, format),
            _ => attributes = Some(place.clone()),
        }
    }
    let record = Place { node: view.node, path: view.path.clone() };
    if let Format::Auto | Format::Record = format {
        for steps in OTHER_ATTRIBUTES {
            attributes = attributes.or_else(|| record.find_kind(tree, steps, Kind::Object));
        }
    }
    if let Some(attributes) = attributes.filter(|place| tree.kind(place.node) == Kind::Object) {
        read_attributes(tree, view, &attributes, span);
    }
}

fn read_inputs(tree: &mut dyn Tree, inputs: NodeId, span: &mut Span) {
    span.inputs = Some(json(tree, inputs));
    span.request_id = string_member(tree, inputs, REQUEST_ID);
}

/// The attributes without those that hold the inputs and the output.
fn read_attributes(tree: &mut dyn Tree, view: &View, attributes: &Place, span: &mut Span) {
    // The key of such a member, and whether it is JSON in a string that is open.
    let mut left_out = Vec::new();
    for (name, place) in &view.places {
        let rest = place.path.strip_prefix(&attributes.path).and_then(|rest| rest.strip_prefix('/'));
        if let Some(key) = rest.filter(|_| matches!(*name, "inputs" | "output")) {
            left_out.push((*name, key.strip_suffix("/!json").unwrap_or(key), key.ends_with("/!json")));
        }
    }
    if left_out.is_empty() && tree.is_plain(attributes.node) {
        span.attributes = Some(json(tree, attributes.node));
        return;
    }
    let mut kept = Vec::new();
    let are_encoded = tree.holds_json(attributes.node);
    for (key, node) in tree.members(attributes.node) {
        let node = if are_encoded { tree.open_json(node).unwrap_or(node) } else { node };
        let Some((name, _, is_open)) = left_out.iter().find(|(_, left_out, _)| *left_out == key) else {
            kept.push((key, node));
            continue;
        };
        // Among encoded attributes also a number is JSON in a string, and null, which is nothing.
        if !is_open {
            let is_null = tree.kind(node) == Kind::Null;
            match *name {
                "inputs" if is_null => (span.inputs, span.request_id) = (None, None),
                "inputs" => read_inputs(tree, node, span),
                _ => span.output = if is_null { None } else { Some(json(tree, node)) },
            }
            if is_null {
                kept.push((key, node));
            }
        }
    }
    let mut out = Vec::new();
    object_into(tree, &kept, &mut out);
    span.attributes = Some(lossy(out));
}

/// The events as a list; those of OTLP as MLflow's files have them.
fn events(tree: &mut dyn Tree, list: NodeId, format: Format) -> Option<String> {
    if tree.kind(list) != Kind::Array {
        return None;
    }
    if tree.is_plain(list) && format != Format::Sse {
        return Some(json(tree, list));
    }
    let mut out = vec![b'['];
    for event in tree.elements(list) {
        // The one that is not there yet.
        if format == Format::Sse && *tree.json(event) == *sse::EVENT.as_bytes() {
            continue;
        }
        if out.len() > 1 {
            out.push(b',');
        }
        if tree.is_plain(event) { json_into(tree, event, &mut out) } else { event_into(tree, event, &mut out) }
    }
    out.push(b']');
    Some(lossy(out))
}

/// Appends an event of OTLP as MLflow's files have it.
fn event_into(tree: &mut dyn Tree, event: NodeId, out: &mut Vec<u8>) {
    let mut before = b'{';
    for [camel, snake] in OF_EVENT {
        let Some(node) = tree.member(event, camel).or_else(|| tree.member(event, snake)) else { continue };
        out.push(before);
        before = b',';
        quote_into(snake.as_bytes(), out);
        out.push(b':');
        match text(tree, node, Text) {
            // A number of more than 53 bits is a string in OTLP/JSON.
            Some(digits) if snake != camel && number_end(digits.as_bytes(), 0) == Some(digits.len()) => {
                out.extend_from_slice(digits.as_bytes());
            }
            _ => json_into(tree, node, out),
        }
    }
    out.extend_from_slice(if before == b'{' { b"{}" } else { b"}" });
}

/// The JSON text of a value. Half a surrogate pair in a string that stands in a string is no Unicode.
pub(crate) fn json(tree: &mut dyn Tree, node: NodeId) -> String {
    let mut out = Vec::new();
    json_into(tree, node, &mut out);
    lossy(out)
}
