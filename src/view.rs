//! What a format shows of one span: a tree of values, and where in it the inputs, the output, the attributes
//! and the events stand. Layouts read this and know nothing of the wire.

/// A value of a [`Tree`].
pub(crate) type NodeId = u32;

/// Nodes by a name. The standard library's map and hasher are many times the code in the WebAssembly module. The names
/// are addresses, made of a layout's keys and of numbers, which no body chooses freely: a simple hash will do.
#[derive(Default)]
pub(crate) struct Names {
    /// A name stands in the slot of its hash, or in the first after it that was free. At least half are free.
    slots: Vec<Option<(String, NodeId)>>,
    count: usize,
}

impl Names {
    pub(crate) fn get(&self, name: &str) -> Option<NodeId> {
        let slot = self.slots.get(self.slot(name))?;
        slot.as_ref().map(|(_, node)| *node)
    }

    /// Puts a name in; one that is there already stays, and its node is given back.
    pub(crate) fn insert(&mut self, name: &str, node: NodeId) -> Option<NodeId> {
        if self.count * 2 >= self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots.resize_with(self.count * 4 + 8, || None);
            for entry in old.into_iter().flatten() {
                let slot = self.slot(&entry.0);
                self.slots[slot] = Some(entry);
            }
        }
        let slot = self.slot(name);
        if let Some((_, known)) = &self.slots[slot] {
            return Some(*known);
        }
        self.slots[slot] = Some((name.to_owned(), node));
        self.count += 1;
        None
    }

    /// Where a name stands or would stand.
    fn slot(&self, name: &str) -> usize {
        let mut slot = hash(name.as_bytes()) as usize % self.slots.len().max(1);
        while let Some(Some((other, _))) = self.slots.get(slot)
            && other != name
        {
            slot = (slot + 1) % self.slots.len();
        }
        slot
    }
}

/// FNV-1a.
pub(crate) fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Tells of most keys at once that a value has not got them. There are many layouts, each looks for keys of its own, and
/// most objects have none of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    /// A bit for the hash of each key of an object; none for another value, of which nothing is known.
    bits: Vec<u64>,
}

impl Keys {
    pub(crate) fn of(tree: &mut dyn Tree, node: NodeId) -> Keys {
        let mut hashes = Vec::new();
        let mut bits = Vec::new();
        if tree.kind(node) == Kind::Object {
            tree.keys(node, &mut |key| hashes.push(hash(key)));
            // Sixteen bits a key, so that few have the bit of another.
            bits.resize((hashes.len() / 4 + 1).next_power_of_two(), 0);
        }
        for hash in hashes {
            let word = (hash as usize / 64) & (bits.len() - 1);
            bits[word] |= 1 << (hash % 64);
        }
        Keys { bits }
    }

    /// Whether the value may have a member with a key of this hash.
    pub(crate) fn may_have(&self, hash: u32) -> bool {
        let word = (hash as usize / 64) & self.bits.len().wrapping_sub(1);
        self.bits.get(word).is_none_or(|bits| (bits >> (hash % 64)) & 1 == 1)
    }
}

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

/// Values with members and elements, whatever they are stored in: JSON text, protocol buffers, JavaScript objects.
pub(crate) trait Tree {
    fn kind(&self, node: NodeId) -> Kind;
    /// The member of an object; of members with one key the last, as every JSON parser reads it.
    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId>;
    /// Tells the keys of an object.
    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8]));
    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId>;
    /// All elements of an array, in order.
    fn elements(&mut self, array: NodeId) -> Vec<NodeId>;
    /// Number of elements of an array.
    fn len(&mut self, array: NodeId) -> usize;
    /// The JSON value inside a string.
    fn open_json(&mut self, string: NodeId) -> Option<NodeId>;
    /// The value as JSON text.
    fn json(&mut self, node: NodeId) -> std::borrow::Cow<'_, [u8]>;
    /// What the key of a text in this object begins with: `token2text.` where the names of everyone stand side by side.
    fn mark(&self, _object: NodeId) -> &'static str {
        ""
    }
    /// The elements of an array of integers from 0 to 2^32 - 1, where the tree has them faster than as JSON text.
    fn token_ids(&mut self, _array: NodeId) -> Option<Vec<u32>> {
        None
    }
}

/// A value and its address in the body, a JSON Pointer with the extra steps of a layout.
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
    /// `inputs`, `output`, `attributes` and `events`, as far as they are there: what a pointer starts with.
    pub places: Vec<(&'static str, Place)>,
    /// Where a pointer under `/output` that finds nothing is tried again: a body that is itself the output.
    pub bare: Option<(Place, Keys)>,
    /// The object for a text that stands beside the output.
    pub whole: Option<Place>,
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

/// Text of a field: one, or (`in_rows`) one for each row of a list of lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub texts: Vec<String>,
    pub in_rows: bool,
}
