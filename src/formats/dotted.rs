//! Inputs and outputs that stand in no value of their own, but flattened over dotted keys among the attributes.

use super::string_member;
use crate::view::{Flattened, Kind, NodeId, Place, Tree, View};

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

/// Which of [`PREFIXES`] keys of some attributes begin with, as bits; those of sources not.
fn beginnings(tree: &dyn Tree, attributes: NodeId, sources: &[(&str, &'static str)]) -> u32 {
    let mut found = 0;
    if tree.kind(attributes) == Kind::Object {
        tree.keys(attributes, &mut |key| {
            for (i, (prefix, _)) in PREFIXES.iter().enumerate() {
                if key.get(prefix.len()) == Some(&b'.')
                    && key.starts_with(prefix.as_bytes())
                    && !sources.iter().any(|(source, _)| source.as_bytes() == key)
                {
                    found |= 1 << i;
                }
            }
        });
    }
    found
}

/// Whether something is flattened over the keys of some attributes that has no place among the `sources`: their keys, and
/// what each is. One of them that is null has nothing in it, whether it is a source or flattened.
pub(super) fn is_flattened(tree: &mut dyn Tree, attributes: NodeId, sources: &[(&str, &'static str)]) -> bool {
    let mut found = beginnings(tree, attributes, sources);
    for (key, name) in sources {
        let source = if found == 0 { None } else { tree.member(attributes, key) };
        if source.is_some_and(|source| tree.kind(source) != Kind::Null) {
            for (i, (_, flattened)) in PREFIXES.iter().enumerate() {
                found &= !(u32::from(flattened == name) << i);
            }
        }
    }
    found != 0
}

/// Shows layouts what is flattened over the keys of some attributes, if the span has it nowhere else.
pub(super) fn add_flattened(tree: &mut dyn Tree, attributes: &Place, view: &mut View) {
    let found = beginnings(tree, attributes.node, &[]);
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
