//! Inputs and outputs that stand in no value of their own, but flattened over dotted keys among the attributes.

use super::string_member;
use crate::view::{Flattened, Kind, Place, Tree, View};

/// What the keys begin with, and what they are of; most telling first. Not among them are OpenInference's
/// (`llm.input_messages.0.message.content`) and those of `gen_ai`, which have no key for ids.
const PREFIXES: [(&str, &str); 8] = [
    // Agent Lightning 0.3 with Weave as its tracer: an operation's arguments, and the response that it gave.
    ("agentlightning.operation.input", "inputs"),
    ("agentlightning.operation.output", "output"),
    // LiteLLM's span `raw_gen_ai_request`, also written by strands-vllm: the members of vLLM's response, printed.
    ("llm.hosted_vllm", "output"),
    // A record that was flattened whole, as OpenTelemetry has it for nested attributes: by what records call them.
    ("inputs", "inputs"),
    ("request", "inputs"),
    ("output", "output"),
    ("outputs", "output"),
    ("response", "output"),
];

/// Shows layouts what is flattened over the keys of some attributes, if the span has it nowhere else.
pub(super) fn add_flattened(tree: &mut dyn Tree, attributes: &Place, view: &mut View) {
    if tree.kind(attributes.node) != Kind::Object {
        return;
    }
    let mut found = 0u32;
    tree.keys(attributes.node, &mut |key| {
        for (i, (prefix, _)) in PREFIXES.iter().enumerate() {
            if key.starts_with(prefix.as_bytes()) && key.get(prefix.len()) == Some(&b'.') {
                found |= 1 << i;
            }
        }
    });
    for (i, &(prefix, name)) in PREFIXES.iter().enumerate() {
        let mut is_new = found >> i & 1 == 1;
        for (known, _) in &view.places {
            is_new &= *known != name;
        }
        for known in &view.flattened {
            is_new &= known.name != name;
        }
        if is_new {
            if view.model.is_none() {
                view.model = string_member(tree, attributes.node, &[prefix, ".model"].concat());
            }
            view.flattened.push(Flattened { name, prefix, object: attributes.clone() });
        }
    }
}
