//! A JavaScript value as a [`Tree`]. Layouts look only where they point, so of a span little more than the id lists
//! is ever copied.

mod spans;

use std::borrow::Cow;

use js_sys::{Array, ArrayBuffer, Float64Array, JSON, Object, Reflect, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::formats::span::MAX_LISTS;
use crate::formats::typed::{ATTRIBUTES, ENCODED, EVENT, PART, PLAIN, VALUE};
use crate::json::{Edits, Json};
use crate::view::{Kind, MARK, Names, NodeId, Tree, Write};
use spans::{DIGITS, Keys, PAIRS, Pairs};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(thread_local_v2, js_name = Number)]
    static NUMBER: JsValue;
    /// `js_sys` has `every` and `from` with a closure only, which would be called for each element.
    #[wasm_bindgen(catch, js_namespace = ["Array", "prototype", "every"], js_name = call)]
    fn every(list: &JsValue, test: &JsValue) -> Result<bool, JsValue>;
    #[wasm_bindgen(catch, js_namespace = Array, js_name = from)]
    fn array_from(list: &JsValue, map: &JsValue) -> Result<JsValue, JsValue>;
}

/// A JavaScript value, and the JSON in its strings.
pub(super) struct JsTree {
    nodes: Vec<Node>,
    /// The JSON texts of strings that were opened, each with its string's node.
    inner: Vec<(NodeId, Json<'static>)>,
    /// Nodes by parent and key, so that a value has one node however often it is reached.
    children: Names,
    max_depth: usize,
    /// Of spans: whether MLflow reads them, and whether types are spelled with underscores.
    is_reread: bool,
    is_snake: bool,
}

enum Node {
    /// A JavaScript value, the node that holds it and its key there; what it is shown as, and its keys if it is a list of
    /// pairs.
    Js { value: JsValue, parent: NodeId, key: String, role: u32, keys: Keys },
    /// A value in the JSON of an opened string.
    Inner { json: usize, node: NodeId },
}

impl JsTree {
    pub(super) const ROOT: NodeId = 0;

    pub(super) fn new(value: JsValue, max_depth: usize) -> JsTree {
        let root = Node::Js { value, parent: JsTree::ROOT, key: String::new(), role: PLAIN, keys: None };
        let (nodes, inner, children) = (vec![root], Vec::new(), Names::default());
        JsTree { nodes, inner, children, max_depth, is_reread: false, is_snake: false }
    }

    /// The value with the texts written: a copy of each object and list on the way, everything else shared.
    pub(super) fn with(&self, writes: &[Write]) -> JsValue {
        let mut copies = Copies { tree: self, by_node: Vec::new(), pairs: Pairs::default() };
        copies.by_node.resize_with(self.nodes.len(), || None);
        let mut edits = Vec::new();
        edits.resize_with(self.inner.len(), Edits::default);
        for write in writes {
            match &self.nodes[write.object as usize] {
                Node::Js { .. } => copies.write_to_span(write),
                Node::Inner { json, node } => self.inner[*json].1.write(*node, write, &mut edits[*json]),
            }
        }
        for ((string, json), edits) in self.inner.iter().zip(edits) {
            if !edits.is_empty() {
                copies.replace_string(*string, &json.render(edits));
            }
        }
        copies.change_pairs();
        copies.root()
    }

    fn js(&self, node: NodeId) -> Option<&JsValue> {
        match &self.nodes[node as usize] {
            Node::Js { value, .. } => Some(value),
            Node::Inner { .. } => None,
        }
    }

    fn push_child(&mut self, parent: NodeId, key: &str, value: JsValue) -> NodeId {
        let new = self.nodes.len() as NodeId;
        let known = self.children.insert(&format!("{parent}/{key}"), new);
        if known.is_none() {
            self.nodes.push(Node::Js { value, parent, key: key.to_owned(), role: PLAIN, keys: None });
        }
        known.unwrap_or(new)
    }

    /// An element as it is stored.
    fn stored_element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        let value = self.js(array).filter(|value| is_list(value) && index < list_len(value))?;
        let element = Reflect::get_u32(value, index as u32).ok()?;
        Some(self.push_child(array, &index.to_string(), element))
    }

    fn push_inner(&mut self, json: usize, node: NodeId) -> NodeId {
        self.nodes.push(Node::Inner { json, node });
        self.nodes.len() as NodeId - 1
    }

    /// Looks into the JSON that a node is in.
    fn in_inner(
        &mut self,
        node: NodeId,
        find: &dyn Fn(&mut Json<'static>, NodeId) -> Option<NodeId>,
    ) -> Option<NodeId> {
        let Node::Inner { json, node } = self.nodes[node as usize] else { return None };
        let found = find(&mut self.inner[json].1, node)?;
        Some(self.push_inner(json, found))
    }
}

impl Tree for JsTree {
    fn kind(&self, node: NodeId) -> Kind {
        match self.role(node) {
            PAIRS | ATTRIBUTES => return Kind::Object,
            DIGITS => return Kind::Number,
            _ => {}
        }
        match &self.nodes[node as usize] {
            Node::Inner { json, node } => self.inner[*json].1.kind(*node),
            Node::Js { value, .. } if is_list(value) => Kind::Array,
            Node::Js { value, .. } if value.is_string() => Kind::String,
            Node::Js { value, .. } if value.as_bool().is_some() => Kind::Bool,
            Node::Js { value, .. } if value.as_f64().is_some() || value.is_bigint() => Kind::Number,
            Node::Js { value, .. } if value.is_object() => Kind::Object,
            // What JSON has no word for is null there or left out.
            Node::Js { .. } => Kind::Null,
        }
    }

    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        let Some(value) = self.js(object) else {
            return self.in_inner(object, &|json, node| json.member(node, key));
        };
        let member = if let Some(keys) = self.keys_of_pairs(object) {
            self.paired(object, &keys, key)?
        } else {
            if !value.is_object() || is_list(value) || descriptor(value, &key.into()).is_undefined() {
                return None;
            }
            let member = get(value, key);
            if member.is_undefined() || member.is_function() {
                return None;
            }
            let member = self.push_child(object, key, member);
            self.shown_member(object, key, member)
        };
        let is_encoded = key.starts_with(MARK) && self.is_encoded(object);
        is_encoded.then(|| self.open_json(member)).flatten().or(Some(member))
    }

    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8])) {
        match &self.nodes[object as usize] {
            Node::Inner { json, node } => self.inner[*json].1.keys(*node, tell),
            Node::Js { value, keys, .. } => {
                let keys = keys.clone().unwrap_or_else(|| Reflect::own_keys(value).unwrap_or_default());
                for index in 0..keys.length() {
                    // A symbol is no key of JSON.
                    if let Some(key) = keys.get(index).as_string() {
                        tell(key.as_bytes());
                    }
                }
            }
        }
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        if self.js(array).is_none() {
            return self.in_inner(array, &|json, node| json.element(node, index));
        }
        let element = self.stored_element(array, index)?;
        match self.role(array) {
            VALUE => Some(self.content(element)),
            role @ (PART | EVENT) => Some(self.show(element, role)),
            _ => Some(element),
        }
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        let mut elements = Vec::new();
        if let Node::Inner { json, node } = self.nodes[array as usize] {
            for node in self.inner[json].1.elements(node) {
                elements.push(self.push_inner(json, node));
            }
        } else {
            for index in 0..self.len(array) {
                elements.extend(self.element(array, index));
            }
        }
        elements
    }

    fn members(&mut self, object: NodeId) -> Vec<(String, NodeId)> {
        let mut members = Vec::new();
        if let Node::Inner { json, node } = self.nodes[object as usize] {
            for (key, node) in self.inner[json].1.members(node) {
                members.push((key, self.push_inner(json, node)));
            }
            return members;
        }
        let keys = self.js(object).and_then(|value| Reflect::own_keys(value).ok()).unwrap_or_default();
        for index in 0..keys.length() {
            // A symbol is no key of JSON.
            let Some(key) = keys.get(index).as_string() else { continue };
            if let Some(node) = self.member(object, &key) {
                members.push((key, node));
            }
        }
        members
    }

    fn len(&mut self, array: NodeId) -> usize {
        match &self.nodes[array as usize] {
            Node::Js { value, .. } if is_list(value) => list_len(value),
            Node::Js { .. } => 0,
            &Node::Inner { json, node } => self.inner[json].1.len(node),
        }
    }

    fn open_json(&mut self, string: NodeId) -> Option<NodeId> {
        let Some(value) = self.js(string).filter(|value| value.is_string()) else {
            return self.in_inner(string, &|json, node| json.open_json(node));
        };
        // Among the children of the string, where a string has none.
        let name = format!("{string}/!json");
        let json = match self.children.get(&name) {
            Some(json) => json as usize,
            None => {
                // As JSON text, for a lone surrogate would not survive as UTF-8.
                self.inner.push((string, Json::own(stringify(value).into_bytes(), self.max_depth)?));
                self.children.insert(&name, self.inner.len() as NodeId - 1);
                self.inner.len() - 1
            }
        };
        let root = self.inner[json].1.open_json(Json::ROOT)?;
        Some(self.push_inner(json, root))
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        match &self.nodes[node as usize] {
            Node::Js { value, role: PLAIN, .. } => Cow::Owned(stringify(value).into_bytes()),
            Node::Js { .. } => {
                let mut json = Vec::new();
                self.json_into(node, MAX_LISTS, &mut json);
                Cow::Owned(json)
            }
            &Node::Inner { json, node } => self.inner[json].1.json(node),
        }
    }

    fn may_drop(&self) -> bool {
        true
    }

    fn mark(&self, object: NodeId) -> &'static str {
        if let ATTRIBUTES | ENCODED = self.role(object) { MARK } else { "" }
    }

    fn token_ids(&mut self, array: NodeId) -> Option<Vec<u32>> {
        let value = self.js(array).filter(|_| self.role(array) == PLAIN)?;
        if let Some(ids) = value.dyn_ref::<Uint32Array>() {
            return Some(ids.to_vec());
        }
        // One call for all elements; a call for each would cost more than the decode.
        let is_integer = Array::is_array(value).then(|| NUMBER.with(|number| get(number, "isInteger")))?;
        if !every(value, &is_integer).unwrap_or(false) {
            return None;
        }
        let numbers = Float64Array::new(value).to_vec();
        let ids: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        ids.iter().zip(&numbers).all(|(&id, &number)| f64::from(id) == number).then_some(ids)
    }
}

/// Copies of the objects and lists that texts are written into, made when first needed.
struct Copies<'t> {
    tree: &'t JsTree,
    by_node: Vec<Option<JsValue>>,
    pairs: Pairs,
}

impl Copies<'_> {
    fn root(self) -> JsValue {
        self.by_node[JsTree::ROOT as usize]
            .as_ref()
            .or(self.tree.js(JsTree::ROOT))
            .cloned()
            .unwrap_or(JsValue::UNDEFINED)
    }

    fn write_member(&mut self, write: &Write) {
        let copy = self.copy(write.object);
        if write.drops() {
            let _ = Reflect::delete_property(copy.unchecked_ref::<Object>(), &write.key.as_str().into());
            return;
        }
        let texts = Array::new();
        for text in &write.text.texts {
            texts.push(&JsValue::from_str(text));
        }
        let text = if write.text.in_rows { texts.into() } else { texts.get(0) };
        // Members keep the order they are made in, so those after the text are made again.
        let mut later = Vec::new();
        if !Reflect::has(&copy, &JsValue::from_str(&write.key)).unwrap_or(false) {
            let keys = Reflect::own_keys(&copy).unwrap_or_default();
            let before = write.before.as_ref().map(|key| JsValue::from_str(key));
            let start = before.map_or(-1, |before| keys.index_of(&before, 0)).max(0);
            for index in start as u32..keys.length() {
                let key = keys.get(index);
                let member = descriptor(&copy, &key);
                let _ = Reflect::delete_property(copy.unchecked_ref::<Object>(), &key);
                later.push((key, member));
            }
        }
        define(&copy, &write.key.as_str().into(), &text);
        for (key, member) in later {
            define_by(&copy, &key, &member);
        }
    }

    /// Puts a string, given as JSON text, in place of another.
    fn replace_string(&mut self, node: NodeId, json: &[u8]) {
        let Node::Js { parent, key, .. } = &self.tree.nodes[node as usize] else { return };
        let text = std::str::from_utf8(json).ok().and_then(|json| JSON::parse(json).ok());
        if let Some(text) = text {
            define(&self.copy(*parent), &key.as_str().into(), &text);
        }
    }

    /// The copy of an object or list, in the copy of what holds it.
    fn copy(&mut self, node: NodeId) -> JsValue {
        if let Some(copy) = &self.by_node[node as usize] {
            return copy.clone();
        }
        let Node::Js { value, parent, key, .. } = &self.tree.nodes[node as usize] else { return JsValue::UNDEFINED };
        let copy = shallow_copy(value);
        if node != JsTree::ROOT {
            define(&self.copy(*parent), &key.as_str().into(), &copy);
        }
        self.by_node[node as usize] = Some(copy.clone());
        copy
    }
}

/// Sets a member without running a setter, as of `__proto__`.
fn define(object: &JsValue, key: &JsValue, value: &JsValue) {
    let descriptor = Object::new();
    super::set(&descriptor, "value", value);
    for flag in ["writable", "enumerable", "configurable"] {
        super::set(&descriptor, flag, &JsValue::TRUE);
    }
    define_by(object, key, &descriptor);
}

/// Sets a member of a copy of ours, which cannot fail.
fn define_by(copy: &JsValue, key: &JsValue, descriptor: &JsValue) {
    let copy: &Object = copy.unchecked_ref();
    let _ = Reflect::define_property(copy, key, descriptor.unchecked_ref());
}

/// The descriptor of an object's own member; undefined if there is none.
fn descriptor(object: &JsValue, key: &JsValue) -> JsValue {
    let object: &Object = object.unchecked_ref();
    Reflect::get_own_property_descriptor(object, key).unwrap_or(JsValue::UNDEFINED)
}

fn shallow_copy(value: &JsValue) -> JsValue {
    if Array::is_array(value) {
        return value.unchecked_ref::<Array>().slice(0, u32::MAX).into();
    }
    let prototype: JsValue = Reflect::get_prototype_of(value).map_or(JsValue::NULL, Into::into);
    let copy: Object = Object::create(prototype.unchecked_ref::<Object>());
    let keys = Reflect::own_keys(value).unwrap_or_default();
    for index in 0..keys.length() {
        let key = keys.get(index);
        let member = descriptor(value, &key);
        // The copy of a frozen record is not frozen; what a getter gives, it gives in the copy too.
        match Reflect::has(&member, &"get".into()) {
            Ok(true) => define_by(&copy, &key, &member),
            _ => define(&copy, &key, &get(&member, "value")),
        }
    }
    copy.into()
}

/// A member; undefined if there is none or it throws.
fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap_or(JsValue::UNDEFINED)
}

fn is_list(value: &JsValue) -> bool {
    Array::is_array(value) || ArrayBuffer::is_view(value) && Reflect::has(value, &"length".into()).unwrap_or(false)
}

fn list_len(list: &JsValue) -> usize {
    get(list, "length").as_f64().unwrap_or(0.0) as usize
}

/// The JSON text of a value; `null` for what has none.
fn stringify(value: &JsValue) -> String {
    let is_typed = is_list(value) && !Array::is_array(value);
    // Big integers are made numbers.
    let plain = if is_typed { NUMBER.with(|number| array_from(value, number)) } else { Ok(value.clone()) };
    let text = plain.and_then(|plain| JSON::stringify(&plain)).ok();
    text.and_then(|text| JsValue::from(text).as_string()).unwrap_or_else(|| "null".into())
}
