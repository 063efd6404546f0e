//! Where the lists of a span's fields stand in its texts.

use std::borrow::Cow;
use std::ops::Range;

use crate::json::are_same;
use crate::span::{List, ListPlace, Span};
use crate::view::{NodeId, Tree, View};

/// Where the ids and the log-probabilities of a field stand in the tree.
pub(super) type Nodes = [Option<NodeId>; 2];

/// The places of lists in the inputs and the output of a span, given the nodes of each of its fields: of those that stand there byte for
/// byte, log-probabilities if there are as many as ids.
pub(super) fn of_lists(tree: &mut dyn Tree, view: &View, span: &Span, nodes: &[Nodes]) -> Vec<ListPlace> {
    let place = |wanted: &str| view.places.iter().find(|(name, _)| *name == wanted).map(|(_, place)| place.node);
    // A record with ids beside its output is the output itself.
    let texts = [
        (false, &span.inputs, place("inputs")),
        (true, &span.output, place("output")),
        (true, &span.output, Some(view.node)),
    ];
    let mut places = Vec::new();
    for (field, &[ids, logprobs]) in nodes.iter().enumerate() {
        let len = span.fields.get(field).map_or(0, |field| field.ids.len());
        let logprobs = logprobs.filter(|&list| tree.len(list) == len);
        for (list, node) in [(List::Ids, ids), (List::Logprobs, logprobs)] {
            let Some(node) = node else { continue };
            for (is_output, text, whole) in texts {
                let range = text.as_deref().and_then(|text| range(tree, whole?, node, text));
                if let Some(range) = range {
                    places.push(ListPlace { is_output, range, field, list });
                    break;
                }
            }
        }
    }
    places
}

/// Where a value stands in the text of one around it.
fn range(tree: &mut dyn Tree, whole: NodeId, inside: NodeId, text: &str) -> Option<Range<usize>> {
    let outer = addresses(tree, whole)?;
    let inner = addresses(tree, inside)?;
    let start = inner.start.checked_sub(outer.start).filter(|_| inner.end <= outer.end && text.len() == outer.len())?;
    let range = start..start + inner.len();
    are_same(text.as_bytes().get(range.clone())?, &tree.json(inside)).then_some(range)
}

/// Where the text of a value is in memory, if it is not made when it is asked for.
fn addresses(tree: &mut dyn Tree, node: NodeId) -> Option<Range<usize>> {
    match tree.json(node) {
        Cow::Borrowed(text) => {
            let Range { start, end } = text.as_ptr_range();
            Some(start.addr()..end.addr())
        }
        Cow::Owned(_) => None,
    }
}
