//! What a format shows of one span: a tree of values, and where in it the inputs, the output, the attributes
//! and the events stand. Layouts read this and know nothing of the wire.

mod key_set;

use crate::json::double::print::double_into;
use crate::json::{decimal_into, quote_into};

pub(crate) use key_set::KeySet;

/// Marks the texts that stand among attributes, whose names everyone shares.
pub(crate) const MARK: &str = "token2text.";

/// A value of a [`Tree`].
pub(crate) type NodeId = u32;

/// Nodes by a name. The standard library's map and hasher are many times the code in the WebAssembly module. Most names
/// are addresses, made of a layout's keys and of numbers: a simple hash will do. Where a body chooses names so that they
/// collide, those after the first [`MOST_PROBES`] are forgotten, which costs that body a look into its repeated keys.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// A name stands in the slot of its hash, or in the first after it that was free. At least half are free.
    slots: Vec<Option<(String, NodeId)>>,
    count: usize,
}

/// Slots that are looked at for a name. Of names that do not collide on purpose no one is ever so far from its slot.
const MOST_PROBES: usize = 1000;

impl Names {
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn get(&self, name: &str) -> Option<NodeId> {
        let slot = self.slots.get(self.slot(name)?)?;
        slot.as_ref().map(|(_, node)| *node)
    }

    /// Puts a name in; one that is there already stays, and its node is given back.
    pub(crate) fn insert(&mut self, name: &str, node: NodeId) -> Option<NodeId> {
        if self.count * 2 >= self.slots.len() {
            let old = std::mem::take(&mut self.slots);
            self.slots.resize_with(self.count * 4 + 8, || None);
            for entry in old.into_iter().flatten() {
                if let Some(slot) = self.slot(&entry.0) {
                    self.slots[slot] = Some(entry);
                }
            }
        }
        let slot = self.slot(name)?;
        if let Some((_, known)) = &self.slots[slot] {
            return Some(*known);
        }
        self.slots[slot] = Some((name.to_owned(), node));
        self.count += 1;
        None
    }

    /// Where a name stands or would stand.
    fn slot(&self, name: &str) -> Option<usize> {
        let mut slot = hash(name.as_bytes()) as usize % self.slots.len().max(1);
        for _ in 0..MOST_PROBES {
            match self.slots.get(slot) {
                Some(Some((other, _))) if other != name => slot = (slot + 1) % self.slots.len(),
                _ => return Some(slot),
            }
        }
        None
    }
}

/// FNV-1a.
fn hash(name: &[u8]) -> u32 {
    name.iter().fold(0x811C_9DC5, |hash: u32, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A hash of a key by its length, its first and its last eight bytes: the same few steps for a key of any length, since
/// each key of a body is hashed, and most spans have none that matters.
pub(crate) fn key_hash(key: &[u8]) -> u32 {
    match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) => mixed(u64::from_le_bytes(*first), u64::from_le_bytes(*last), key.len()),
        _ => mixed(key.iter().rev().fold(0, |word: u64, &byte| word << 8 | u64::from(byte)), 0, key.len()),
    }
}

/// The [`key_hash`] of the bytes of a text from `start` to `end`, faster for those of fewer than eight.
#[inline(always)]
pub(crate) fn key_hash_in(text: &[u8], start: usize, end: usize) -> u32 {
    let len = end - start;
    match text.get(start..).and_then(|rest| rest.first_chunk()) {
        Some(eight) if len < 8 => mixed(u64::from_le_bytes(*eight) & ((1 << (8 * len)) - 1), 0, len),
        _ => key_hash(&text[start..end]),
    }
}

#[inline(always)]
fn mixed(first: u64, last: u64, len: usize) -> u32 {
    ((first ^ last.rotate_left(29) ^ (len as u64) << 56).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// Stands among the keys of a span for a place that is a string, which may have anything in it.
pub(crate) const IN_STRING: &[u8] = b"!json";

/// Tells of most keys at once that some values have not got them. There are many layouts, each looks for keys of its own,
/// and most spans have none of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys {
    /// A bit for the hash of each key.
    bits: Vec<u64>,
    /// Whether they are the keys of all objects inside, not only of the values themselves.
    pub is_deep: bool,
}

impl Keys {
    /// The keys of an object; another value has none.
    pub(crate) fn of(tree: &dyn Tree, node: NodeId) -> Keys {
        let mut hashes = Vec::new();
        keys_of(tree, node, &mut hashes);
        Keys::with(&hashes, false)
    }

    /// The keys of all objects in some values, or of the values alone where the tree cannot tell more.
    pub(crate) fn inside(tree: &dyn Tree, nodes: &[NodeId]) -> Keys {
        let mut hashes = Vec::new();
        let mut is_deep = true;
        for &node in nodes {
            is_deep = is_deep && tree.keys_inside(node, &mut |hash| hashes.push(hash));
        }
        if !is_deep {
            hashes.clear();
        }
        for &node in nodes {
            match tree.kind(node) {
                Kind::String => hashes.push(key_hash(IN_STRING)),
                _ if !is_deep => keys_of(tree, node, &mut hashes),
                _ => {}
            }
        }
        Keys::with(&hashes, is_deep)
    }

    fn with(hashes: &[u32], is_deep: bool) -> Keys {
        // Sixteen bits a key, so that few have the bit of another.
        let mut bits = vec![0; (hashes.len() / 4 + 1).next_power_of_two()];
        for hash in hashes {
            let word = (*hash as usize / 64) & (bits.len() - 1);
            bits[word] |= 1 << (hash % 64);
        }
        Keys { bits, is_deep }
    }

    /// Whether there may be a key of this hash.
    #[inline(always)]
    pub(crate) fn may_have(&self, hash: u32) -> bool {
        let word = (hash as usize / 64) & self.bits.len().wrapping_sub(1);
        self.bits.get(word).is_some_and(|bits| (bits >> (hash % 64)) & 1 == 1)
    }
}

fn keys_of(tree: &dyn Tree, node: NodeId, hashes: &mut Vec<u32>) {
    if tree.kind(node) == Kind::Object {
        tree.keys(node, &mut |key| hashes.push(key_hash(key)));
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
    /// Tells the [`key_hash`] of the keys of all objects in a value, those in strings not, if the tree can tell them in one
    /// pass.
    fn keys_inside(&self, _node: NodeId, _tell: &mut dyn FnMut(u32)) -> bool {
        false
    }
    /// Whether some keys may be in a value: in its objects, as names of attributes, or in JSON in the strings that are its
    /// members, or in all strings inside (`in_strings`). True where the tree cannot tell.
    fn may_have(&self, _node: NodeId, _keys: &KeySet, _in_strings: bool) -> bool {
        true
    }
    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId>;
    /// All elements of an array, in order.
    fn elements(&mut self, array: NodeId) -> Vec<NodeId>;
    /// The members of an object or of attributes, of repeated keys the last.
    fn members(&mut self, _object: NodeId) -> Vec<(String, NodeId)> {
        Vec::new()
    }
    /// Number of elements of an array.
    fn len(&mut self, array: NodeId) -> usize;
    /// The JSON value inside a string.
    fn open_json(&mut self, string: NodeId) -> Option<NodeId>;
    /// The value as JSON text. Of one that is no plain JSON (see [`Tree::is_plain`]) as far as ids, masks and lengths need
    /// it; [`json_into`] says all of it.
    fn json(&mut self, node: NodeId) -> std::borrow::Cow<'_, [u8]>;
    /// Whether the members of an object are JSON in strings.
    fn holds_json(&self, _object: NodeId) -> bool {
        false
    }
    /// Whether the value stands as JSON in the body, so that [`Tree::json`] is its bytes.
    fn is_plain(&self, _node: NodeId) -> bool {
        true
    }
    /// The number that a value is, where the body has a double instead of digits.
    fn double(&self, _node: NodeId) -> Option<f64> {
        None
    }
    /// What the key of a text in this object begins with: `token2text.` where the names of everyone stand side by side.
    fn mark(&self, _object: NodeId) -> &'static str {
        ""
    }
    /// Whether members can be taken out of objects.
    fn may_drop(&self) -> bool {
        false
    }
    /// The elements of an array of integers from 0 to 2^32 - 1, where the tree has them faster than as JSON text.
    fn token_ids(&mut self, _array: NodeId) -> Option<Vec<u32>> {
        None
    }
}

/// Appends a value as JSON: its bytes where it is plain JSON, else written anew, with exact numbers.
pub(crate) fn json_into(tree: &mut dyn Tree, node: NodeId, out: &mut Vec<u8>) {
    let kind = tree.kind(node);
    if let Some(double) = tree.double(node) {
        return double_into(double, out);
    }
    if tree.is_plain(node) || !matches!(kind, Kind::Array | Kind::Object) {
        return out.extend_from_slice(&tree.json(node));
    }
    if kind == Kind::Object {
        let members = tree.members(node);
        return object_into(tree, &members, out);
    }
    out.push(b'[');
    for (i, element) in tree.elements(node).into_iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        json_into(tree, element, out);
    }
    out.push(b']');
}

/// Appends an object of some members.
pub(crate) fn object_into(tree: &mut dyn Tree, members: &[(String, NodeId)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (i, (key, value)) in members.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        quote_into(key.as_bytes(), out);
        out.push(b':');
        json_into(tree, *value, out);
    }
    out.push(b'}');
}

/// The address of an element of a list.
pub(crate) fn numbered(list: &str, index: usize) -> String {
    let mut path = Vec::with_capacity(list.len() + 8);
    path.extend_from_slice(list.as_bytes());
    path.push(b'/');
    decimal_into(index as u64, &mut path);
    String::from_utf8(path).unwrap_or_default()
}

/// A value and its address in the body, a JSON Pointer with the extra steps of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub node: NodeId,
    pub path: String,
}

impl Place {
    /// The value that some steps lead to from here. One function for the paths of all formats, since each place that
    /// makes one is code.
    pub(crate) fn then(&self, node: NodeId, steps: &str) -> Place {
        let mut path = String::with_capacity(self.path.len() + steps.len());
        path.push_str(&self.path);
        path.push_str(steps);
        Place { node, path }
    }

    /// What keys lead to from here, if it is of a kind.
    pub(crate) fn find_kind(&self, tree: &mut dyn Tree, steps: &str, kind: Kind) -> Option<Place> {
        self.find(tree, steps).filter(|place| tree.kind(place.node) == kind)
    }

    /// What keys lead to from here, if it is not null.
    pub(crate) fn find(&self, tree: &mut dyn Tree, steps: &str) -> Option<Place> {
        let mut node = self.node;
        let mut rest = steps;
        while let Some(after) = rest.strip_prefix('/') {
            let len = after.bytes().position(|byte| byte == b'/').unwrap_or(after.len());
            let (key, next) = after.split_at_checked(len)?;
            rest = next;
            node = match tree.kind(node) {
                Kind::Object => tree.member(node, key)?,
                Kind::Array => tree.element(node, key.parse().ok()?)?,
                _ => return None,
            };
        }
        (tree.kind(node) != Kind::Null).then(|| self.then(node, steps))
    }

    /// The objects of the last of some lists that is there, else of this one.
    pub(crate) fn objects_in(&self, tree: &mut dyn Tree, lists: &[&str]) -> Vec<Place> {
        let mut list = None;
        for steps in lists {
            list = self.find_kind(tree, steps, Kind::Array).or(list);
        }
        list.as_ref().unwrap_or(self).objects(tree)
    }

    /// The objects of a list, in it or alone.
    pub(crate) fn objects(&self, tree: &mut dyn Tree) -> Vec<Place> {
        let mut objects = Vec::new();
        if tree.kind(self.node) == Kind::Object {
            objects.push(self.clone());
        }
        // A list of numbers can be long, and each would become a node.
        let first = tree.element(self.node, 0);
        if first.is_some_and(|first| tree.kind(first) != Kind::Number) {
            for (i, node) in tree.elements(self.node).into_iter().enumerate() {
                if tree.kind(node) == Kind::Object {
                    objects.push(Place { node, path: numbered(&self.path, i) });
                }
            }
        }
        objects
    }
}

/// An object that is flattened over the keys of another: `output.choices.0.text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flattened {
    /// What a pointer starts with: `output`.
    pub name: &'static str,
    /// What its keys begin with, before a dot.
    pub prefix: &'static str,
    /// The object that has the keys.
    pub object: Place,
}

/// One span, as its format shows it to the layouts.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    /// Address of the span in the body.
    pub path: String,
    /// The span itself.
    pub node: NodeId,
    /// What holds it and tells of it: the resource of OTLP, the entry of Trackio's log that a trace is in, the trace that
    /// a span is in.
    pub around: Option<Place>,
    /// No layout finds ids in the span, as its keys tell. Nothing else is known of it then.
    pub has_none: bool,
    /// It is no span but what is told of a trace. Layouts look only into its places, if it has any.
    pub is_trace: bool,
    /// `inputs`, `output`, `attributes` and `events`, as far as they are there: what a pointer starts with.
    pub places: Vec<(&'static str, Place)>,
    /// Places of the same span in another record: a layout applies if they have what it needs, but their ids and texts
    /// are for the view of that record.
    pub elsewhere: Vec<(&'static str, Place)>,
    /// Where a pointer under `/output` that finds nothing is tried again: a body that is itself the output.
    pub bare: Option<Place>,
    /// Objects that are flattened over the keys of another, where there is no such place.
    pub flattened: Vec<Flattened>,
    /// The object for a text that stands beside the output.
    pub whole: Option<Place>,
    /// Values, or strings with JSON inside, that may repeat what stands at another address.
    pub copies: Vec<(String, Place)>,
    /// Name of the model, if the span tells.
    pub model: Option<String>,
}

impl View {
    /// The view of a span at a place, without anything in it.
    pub(crate) fn of(place: &Place) -> View {
        View { path: place.path.clone(), node: place.node, ..View::default() }
    }
}

/// A text to be written into an object of the tree. Without any text the member goes, if [`Tree::may_drop`] says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    pub object: NodeId,
    pub key: String,
    /// The member to stand directly before; none: the first member. Without meaning where the key is there already.
    pub before: Option<String>,
    pub text: Text,
}

impl Write {
    /// Takes members with a key out.
    pub(crate) fn drop_member(object: NodeId, key: &str) -> Write {
        Write { object, key: key.to_owned(), before: None, text: Text { texts: Vec::new(), form: Form::One } }
    }

    /// Whether the member goes.
    pub(crate) fn drops(&self) -> bool {
        self.text.texts.is_empty() && self.text.form != Form::Rows
    }
}

/// Text of a field: one, or one for each row of a list of lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    pub texts: Vec<String>,
    pub form: Form,
}

/// As what a [`Text`] is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As a string.
    One,
    /// As a list of strings.
    Rows,
    /// As the JSON value that it is the text of; among attributes as a string with that text.
    #[cfg(feature = "rollouts")]
    Json,
}

impl Form {
    pub(crate) fn of(in_rows: bool) -> Form {
        if in_rows { Form::Rows } else { Form::One }
    }
}
