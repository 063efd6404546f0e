//! JSON text as a [`Tree`], and edits that leave every other byte as it was.

mod against_serde;
mod bytes;
pub(crate) mod double;
mod edit;
pub(crate) mod number;
mod object;
mod python;
mod scan;
mod string;
mod tree;
mod values;

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::view::{Names, NodeId, key_hash};

#[cfg(feature = "rollouts")]
pub(crate) use bytes::are_same;
#[cfg(any(all(target_feature = "simd128", feature = "reader"), test))]
pub(crate) use bytes::{MOST_IDS, ids_run};
pub(crate) use bytes::{any_behind_quote, decimal_into, line_end, plain_end, short_digits, short_plain_end, space_end};
pub(crate) use edit::{Edits, leaving, splice, splice_body, splice_into, text_into};
pub(crate) use object::{Object, listed, parse};
pub(crate) use python::python_to_json;
pub(crate) use scan::{Node, ScanError, TOO_DEEP};
pub(crate) use string::{escape_into, joined, lossy, push_lossy, quote_into, string_content, unescape};
pub(crate) use values::{items, number_end, skip_space, value_end};

use scan::{Tag, scan, scan_from};
use values::typed_numbers;

/// A JSON value and the JSON values inside its strings, opened on demand.
pub(crate) struct Json<'t> {
    documents: Vec<Document<'t>>,
    /// The nodes of all documents, one after the other.
    nodes: Vec<Node>,
    /// What [`Tree::open_json`] said before, by string node.
    opened: Names,
    max_depth: usize,
}

/// What `opened` has for a string that holds no JSON.
const NOT_JSON: NodeId = NodeId::MAX;

struct Document<'t> {
    text: Cow<'t, [u8]>,
    /// The string that holds the text; none for the body itself.
    holder: Option<NodeId>,
}

impl<'t> Json<'t> {
    /// Scans text that from `at` on is one value and nothing else.
    pub(crate) fn scan(text: &'t [u8], at: usize, max_depth: usize) -> Result<Json<'t>, ScanError> {
        Json::scan_with(Vec::new(), text, at, max_depth)
    }

    /// As [`Json::scan`], with the room of the nodes of another value.
    pub(crate) fn scan_with(
        mut nodes: Vec<Node>,
        text: &'t [u8],
        at: usize,
        max_depth: usize,
    ) -> Result<Json<'t>, ScanError> {
        nodes.clear();
        scan(text, at, max_depth, &mut nodes)?;
        let documents = vec![Document { text: Cow::Borrowed(text), holder: None }];
        Ok(Json { documents, nodes, opened: Names::default(), max_depth })
    }

    /// The room of the nodes, for [`Json::scan_with`].
    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    /// Scans text that is one value and nothing else.
    pub(crate) fn parse(text: &'t [u8], max_depth: usize) -> Result<Json<'t>, ScanError> {
        Json::scan(text, 0, max_depth)
    }

    /// No value yet: each is taken in by [`Json::add`].
    pub(crate) fn none(max_depth: usize) -> Json<'t> {
        Json { documents: Vec::new(), nodes: Vec::new(), opened: Names::default(), max_depth }
    }

    /// Takes in text that is one value and stands in no string of another; its number among the documents, and the value.
    pub(crate) fn add(&mut self, text: Vec<u8>) -> Option<(usize, NodeId)> {
        let root = self.take_in(text, None)?;
        Some((self.documents.len() - 1, root))
    }

    /// The value itself.
    pub(crate) const ROOT: NodeId = 0;

    /// The members of an object: key and value, in order, repeated keys included. Another value has none.
    pub(crate) fn pairs(&self, object: NodeId) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let node = self.node(object);
        let end = if node.tag == Tag::Object { node.next } else { 0 };
        let mut key = object + 1;
        std::iter::from_fn(move || {
            (key < end).then(|| {
                let value = key + 1;
                let member = (key, value);
                key = self.after(value);
                member
            })
        })
    }

    /// Whether the value is an object whose first key and value have more than a colon between them.
    pub(crate) fn is_spaced(&self) -> bool {
        let first = self.pairs(Json::ROOT).next();
        first.is_some_and(|(key, value)| self.text(key, self.range(key).end..self.range(value).start) != b":")
    }

    /// The elements of an array that has nodes for them.
    pub(crate) fn nodes_in(&self, array: NodeId) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        if let Node { tag: Tag::Array, next: end, .. } = self.node(array) {
            let mut element = array + 1;
            while element < end {
                nodes.push(element);
                element = self.after(element);
            }
        }
        nodes
    }

    /// The content of a string; nothing for another kind.
    pub(crate) fn string(&self, node: NodeId) -> Option<Cow<'_, [u8]>> {
        matches!(self.node(node).tag, Tag::String | Tag::Key).then(|| unescape(self.inside_quotes(node)))
    }

    /// The content of a string that is well-formed Unicode.
    pub(crate) fn str(&self, node: NodeId) -> Option<String> {
        self.string(node).and_then(|content| String::from_utf8(content.into_owned()).ok())
    }

    /// The bytes of a value as they stand in its document.
    pub(crate) fn raw(&self, node: NodeId) -> &[u8] {
        let node = self.node(node);
        &self.documents[node.document()].text[node.start as usize..node.end as usize]
    }

    /// Where a value stands in its document.
    #[inline(always)]
    pub(crate) fn range(&self, node: NodeId) -> std::ops::Range<usize> {
        let Node { start, end, .. } = self.node(node);
        start as usize..end as usize
    }

    fn inside_quotes(&self, string: NodeId) -> &[u8] {
        let raw = self.raw(string);
        raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default()
    }

    #[inline(always)]
    fn node(&self, node: NodeId) -> Node {
        self.nodes[node as usize]
    }

    /// Index of what follows a value.
    #[inline(always)]
    fn after(&self, node: NodeId) -> NodeId {
        match self.node(node) {
            Node { tag: Tag::Array | Tag::Object, next, .. } => next,
            _ => node + 1,
        }
    }

    /// The nodes of a value, its own first.
    fn nodes_at(&self, node: NodeId) -> &[Node] {
        self.nodes.get(node as usize..self.after(node) as usize).unwrap_or_default()
    }

    /// Whether a string, which may be a key, says this.
    pub(crate) fn has_key(&self, key: NodeId, wanted: &str) -> bool {
        let raw = self.inside_quotes(key);
        // An escape is longer than what it spells, so the lengths tell most keys apart.
        match raw.len().cmp(&wanted.len()) {
            Ordering::Less => false,
            Ordering::Equal => raw == wanted.as_bytes() && !raw.contains(&b'\\'),
            Ordering::Greater => raw.contains(&b'\\') && *unescape(raw) == *wanted.as_bytes(),
        }
    }

    /// The last member of an object with this key: key and value.
    pub(crate) fn find_member(&self, object: NodeId, wanted: &str) -> Option<(NodeId, NodeId)> {
        let Node { tag: Tag::Object, next: end, .. } = self.node(object) else { return None };
        let hash = key_hash(wanted.as_bytes());
        let (mut found, mut key) = (None, object + 1);
        while key < end {
            if self.node(key).next == hash && self.has_key(key, wanted) {
                found = Some((key, key + 1));
            }
            key = self.after(key + 1);
        }
        found
    }

    /// Tells the numbers of a list of OTLP/JSON's numbers that has no nodes for them; false for another value.
    pub(crate) fn typed_numbers<'j>(&'j self, list: NodeId, tell: &mut dyn FnMut(&'j [u8])) -> bool {
        let node = self.node(list);
        let text = &self.documents[node.document()].text;
        node.tag == Tag::Typed && typed_numbers(text, node.start as usize, tell).is_some()
    }

    /// Makes the nodes of such a list; the list that has them. Another value is what it is.
    pub(crate) fn with_nodes(&mut self, list: NodeId) -> NodeId {
        let Node { tag: Tag::Typed, start, end, .. } = self.node(list) else { return list };
        let (name, document) = (list.to_string(), self.node(list).document());
        self.opened.get(&name).unwrap_or_else(|| {
            let root = self.nodes.len();
            let text = &self.documents[document].text[..end as usize];
            // It was scanned before.
            let _ = scan_from(text, start as usize, self.max_depth, &mut self.nodes, start as usize);
            for node in &mut self.nodes[root..] {
                *node = node.in_document(document);
            }
            self.opened.insert(&name, root as NodeId);
            root as NodeId
        })
    }

    /// Tells the hashes of the keys that pairs inside a value name: `{"key": ..., "value": ...}`.
    pub(crate) fn pair_keys(&self, node: NodeId, tell: &mut dyn FnMut(u32)) {
        let of_pair = key_hash(b"key");
        for inside in node..self.after(node) {
            let Node { tag, next: hash, .. } = self.node(inside);
            if tag == Tag::Key && hash == of_pair && self.node(inside + 1).tag == Tag::String {
                tell(key_hash(&unescape(self.inside_quotes(inside + 1))));
            }
        }
    }

    /// Makes nodes for up to `count` numbers of an array that has none for them.
    fn number_nodes(&mut self, array: NodeId, from: usize, count: usize) -> Vec<NodeId> {
        let (document, start) = (self.node(array).document(), self.node(array).start);
        let text = &self.documents[document].text;
        let mut at = skip_space(text, start as usize + 1);
        let mut made = Vec::new();
        let mut index = 0;
        while let (Some(end), true) = (number_end(text, at), made.len() < count) {
            if index >= from {
                let id = self.nodes.len() as u32;
                self.nodes.push(Node::new(Tag::Number, at, end, 0).in_document(document));
                made.push(id);
            }
            index += 1;
            at = skip_space(text, end);
            if text.get(at) != Some(&b',') {
                break;
            }
            at = skip_space(text, at + 1);
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Tree;

    fn accepts(text: &[u8]) -> bool {
        Json::parse(text, 64).is_ok()
    }

    #[test]
    fn takes_what_python_writes_and_nothing_else() {
        for good in ["[]", " [ 1 , 2.5e-3, NaN,-Infinity ] ", "{\"a\":{},\"a\":[[],{}]}", "\"\\ud83d\"", "-0", "1e400"]
        {
            assert!(accepts(good.as_bytes()), "{good}");
        }
        for bad in [
            "", " ", "[1,]", "[,1]", "{\"a\"}", "{a:1}", "01", "1.", ".5", "+1", "[1 2]", "nul", "\"\\x\"", "[1]]",
            "\"\n\"",
        ] {
            assert!(!accepts(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(accepts(nested(64).as_bytes()));
        assert_eq!(Json::parse(nested(65).as_bytes(), 64).err().map(|error| error.what), Some(TOO_DEEP));
    }

    #[test]
    fn finds_members_and_elements() {
        let mut json = Json::parse(br#"{"a":[1,[2],"x"],"\u0061":{"b":[7,8,9]}}"#, 64).unwrap();
        let a = json.member(Json::ROOT, "a").unwrap();
        let b = json.member(a, "b").unwrap();
        assert_eq!(json.len(b), 3);
        let last = json.element(b, 2).unwrap();
        assert_eq!(json.raw(last), b"9");
        assert_eq!(json.element(b, 3), None);
        let numbers = json.elements(b);
        assert_eq!(numbers.iter().map(|&node| json.raw(node)).collect::<Vec<_>>(), [b"7", b"8", b"9"]);
    }

    #[test]
    fn opens_json_in_strings() {
        let mut json = Json::parse(br#"{"a":"{\"b\": \"[1]\"}","c":"no"}"#, 64).unwrap();
        let a = json.member(Json::ROOT, "a").unwrap();
        let inner = json.open_json(a).unwrap();
        let b = json.member(inner, "b").unwrap();
        let list = json.open_json(b).unwrap();
        assert_eq!(json.raw(list), b"[1]");
        let c = json.member(Json::ROOT, "c").unwrap();
        assert_eq!(json.open_json(c), None);
    }
}
