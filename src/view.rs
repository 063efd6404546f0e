//! What a format shows of one span: a tree of values, and where in it the inputs, the output, the attributes
//! and the events stand. Layouts read this and know nothing of the wire.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A value of a [`Tree`].
pub(crate) type NodeId = u32;

/// Values by a name, as their address. One type for all uses: each other one is code in the WebAssembly module.
pub(crate) type Names = HashMap<String, NodeId, BuildHasherDefault<DefaultHasher>>;

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// The kind in words, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "a list",
            Kind::Object => "an object",
        }
    }
}

/// Values with members and elements, whatever they are stored in: JSON text, JavaScript objects.
pub(crate) trait Tree {
    fn kind(&self, node: NodeId) -> Kind;
    /// The member of an object; of members with one key the last, as every JSON parser reads it.
    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId>;
    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId>;
    /// All elements of an array, in order.
    fn elements(&mut self, array: NodeId) -> Vec<NodeId>;
    /// Number of elements of an array.
    fn len(&mut self, array: NodeId) -> usize;
    /// The JSON value inside a string.
    fn open_json(&mut self, string: NodeId) -> Option<NodeId>;
    /// The value as JSON text.
    fn json(&mut self, node: NodeId) -> std::borrow::Cow<'_, [u8]>;
    /// The elements of an array of integers from 0 to 2^32 - 1, where the tree has them faster than as JSON text.
    fn token_ids(&mut self, _array: NodeId) -> Option<Vec<u32>> {
        None
    }
}

/// A value and its address in the body, a JSON Pointer with the steps of [`crate::layouts::Step`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub node: NodeId,
    pub path: String,
}

/// One span, as its format shows it to the layouts.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// Address of the span in the body.
    pub path: String,
    pub inputs: Option<Place>,
    pub output: Option<Place>,
    pub attributes: Option<Place>,
    pub events: Option<Place>,
    /// Where a pointer under `/output` that finds nothing is tried again: a body that is itself the output.
    pub bare: Option<Place>,
    /// The object for a text that stands beside the output.
    pub beside_output: Option<Place>,
    /// Name of the model, if the span tells.
    pub model: Option<String>,
}

/// A text to be written into an object of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub object: NodeId,
    pub key: String,
    /// The member to stand directly before; none: the first member. Without meaning where the key is there already.
    pub before: Option<String>,
    pub text: Text,
}

/// Text of a field: one, or one for each row of a list of lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Text {
    One(String),
    Many(Vec<String>),
}
