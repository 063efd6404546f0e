//! A JavaScript value as a [`Tree`]. Layouts look only where they point, so of a span little more than the id lists
//! is ever copied.

use std::borrow::Cow;

use js_sys::{Array, ArrayBuffer, Float64Array, Function, JSON, Object, Reflect, Uint32Array};
use wasm_bindgen::prelude::*;

use crate::json::{Edits, Json};
use crate::view::{Kind, Names, NodeId, Text, Tree, Write};

/// A JavaScript value, and the JSON in its strings.
pub(super) struct JsTree {
    nodes: Vec<Node>,
    /// The JSON texts of strings that were opened, each with its string's node.
    inner: Vec<(NodeId, Json<'static>)>,
    /// Nodes by parent and key, so that a value has one node however often it is reached.
    children: Names,
    max_depth: usize,
}

enum Node {
    /// A JavaScript value, the node that holds it and its key there.
    Js { value: JsValue, parent: NodeId, key: String },
    /// A value in the JSON of an opened string.
    Inner { json: usize, node: NodeId },
}

impl JsTree {
    pub(super) const ROOT: NodeId = 0;

    pub(super) fn new(value: JsValue, max_depth: usize) -> JsTree {
        let root = Node::Js { value, parent: JsTree::ROOT, key: String::new() };
        JsTree { nodes: vec![root], inner: Vec::new(), children: Names::default(), max_depth }
    }

    /// The value with the texts written: a copy of each object and list on the way, everything else shared.
    pub(super) fn with(&self, writes: &[Write]) -> JsValue {
        let mut copies = Copies { tree: self, by_node: vec![None; self.nodes.len()] };
        let mut edits: Vec<Edits> = self.inner.iter().map(|_| Edits::default()).collect();
        for write in writes {
            match &self.nodes[write.object as usize] {
                Node::Js { .. } => copies.write(write),
                Node::Inner { json, node } => {
                    self.inner[*json].1.write(&Write { object: *node, ..write.clone() }, &mut edits[*json])
                }
            }
        }
        for ((string, json), edits) in self.inner.iter().zip(edits) {
            if !edits.is_empty() {
                copies.replace_string(*string, &json.render(edits));
            }
        }
        copies.root()
    }

    fn js(&self, node: NodeId) -> Option<&JsValue> {
        match &self.nodes[node as usize] {
            Node::Js { value, .. } => Some(value),
            Node::Inner { .. } => None,
        }
    }

    fn push_child(&mut self, parent: NodeId, key: String, value: JsValue) -> NodeId {
        let new = self.nodes.len() as NodeId;
        let known = self.children.insert(&format!("{parent}/{key}"), new);
        if known.is_none() {
            self.nodes.push(Node::Js { value, parent, key });
        }
        known.unwrap_or(new)
    }

    fn push_inner(&mut self, json: usize, node: NodeId) -> NodeId {
        self.nodes.push(Node::Inner { json, node });
        self.nodes.len() as NodeId - 1
    }

    /// Runs on the JSON that a node is in; its answers are nodes of that JSON.
    fn in_inner(&mut self, node: NodeId, find: impl FnOnce(&mut Json<'static>, NodeId) -> Vec<NodeId>) -> Vec<NodeId> {
        let Node::Inner { json, node } = self.nodes[node as usize] else { return Vec::new() };
        let found = find(&mut self.inner[json].1, node);
        found.into_iter().map(|node| self.push_inner(json, node)).collect()
    }
}

impl Tree for JsTree {
    fn kind(&self, node: NodeId) -> Kind {
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
            return self.in_inner(object, |json, node| json.member(node, key).into_iter().collect()).pop();
        };
        if !value.is_object() || is_list(value) {
            return None;
        }
        let name = JsValue::from_str(key);
        let member = (!descriptor(value, &name).is_undefined()).then(|| Reflect::get(value, &name).ok()).flatten()?;
        (!member.is_undefined() && !member.is_function()).then(|| self.push_child(object, key.to_owned(), member))
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        let Some(value) = self.js(array) else {
            return self.in_inner(array, |json, node| json.element(node, index).into_iter().collect()).pop();
        };
        if !is_list(value) || index >= list_len(value) {
            return None;
        }
        let element = Reflect::get_u32(value, index as u32).ok()?;
        Some(self.push_child(array, index.to_string(), element))
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        if self.js(array).is_none() {
            return self.in_inner(array, |json, node| json.elements(node));
        }
        (0..self.len(array)).filter_map(|index| self.element(array, index)).collect()
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
            return self.in_inner(string, |json, node| json.open_json(node).into_iter().collect()).pop();
        };
        let known = self.inner.iter().position(|(node, _)| *node == string);
        let json = match known {
            Some(json) => json,
            None => {
                // As JSON text, for a lone surrogate would not survive as UTF-8.
                self.inner.push((string, Json::own(stringify(value).into_bytes(), self.max_depth)?));
                self.inner.len() - 1
            }
        };
        let root = self.inner[json].1.open_json(Json::ROOT)?;
        Some(self.push_inner(json, root))
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        match &self.nodes[node as usize] {
            Node::Js { value, .. } => Cow::Owned(stringify(value).into_bytes()),
            &Node::Inner { json, node } => self.inner[json].1.json(node),
        }
    }

    fn token_ids(&mut self, array: NodeId) -> Option<Vec<u32>> {
        let value = self.js(array)?;
        if let Some(ids) = value.dyn_ref::<Uint32Array>() {
            return Some(ids.to_vec());
        }
        // One call for all elements; a call for each would cost more than the decode.
        let is_integers = Array::is_array(value) && every_is_integer(value).unwrap_or(false);
        let numbers = is_integers.then(|| Float64Array::new(value).to_vec())?;
        let ids: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        ids.iter().zip(&numbers).all(|(&id, &number)| f64::from(id) == number).then_some(ids)
    }
}

/// Copies of the objects and lists that texts are written into, made when first needed.
struct Copies<'t> {
    tree: &'t JsTree,
    by_node: Vec<Option<JsValue>>,
}

impl Copies<'_> {
    fn root(self) -> JsValue {
        self.by_node[JsTree::ROOT as usize]
            .as_ref()
            .or(self.tree.js(JsTree::ROOT))
            .cloned()
            .unwrap_or(JsValue::UNDEFINED)
    }

    fn write(&mut self, write: &Write) {
        let text = match &write.text {
            Text::One(text) => JsValue::from_str(text),
            Text::Many(texts) => texts.iter().map(|text| JsValue::from_str(text)).collect::<Array>().into(),
        };
        let copy = self.copy(write.object);
        let is_there = Reflect::has(&copy, &JsValue::from_str(&write.key)).unwrap_or(false);
        if is_there {
            return define(&copy, &write.key.as_str().into(), &text);
        }
        // Members keep the order they are made in, so those after the text are made again.
        let keys = Reflect::own_keys(&copy).unwrap_or_default();
        let is_before =
            |key: &JsValue| write.before.as_ref().is_some_and(|before| key.as_string().as_ref() == Some(before));
        let start = keys.iter().position(|key| is_before(&key)).unwrap_or(0);
        let later: Vec<(JsValue, JsValue)> = keys
            .iter()
            .skip(start)
            .map(|key| {
                let member = descriptor(&copy, &key);
                let _ = Reflect::delete_property(copy.unchecked_ref::<Object>(), &key);
                (key, member)
            })
            .collect();
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
        let Node::Js { value, parent, key } = &self.tree.nodes[node as usize] else { return JsValue::UNDEFINED };
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
    for key in Reflect::own_keys(value).unwrap_or_default().iter() {
        let member = descriptor(value, &key);
        // The copy of a frozen record is not frozen; what a getter gives, it gives in the copy too.
        match Reflect::has(&member, &"get".into()) {
            Ok(true) => define_by(&copy, &key, &member),
            _ => define(&copy, &key, &Reflect::get(&member, &"value".into()).unwrap_or(JsValue::UNDEFINED)),
        }
    }
    copy.into()
}

fn is_list(value: &JsValue) -> bool {
    Array::is_array(value) || ArrayBuffer::is_view(value) && Reflect::has(value, &"length".into()).unwrap_or(false)
}

fn list_len(list: &JsValue) -> usize {
    Reflect::get(list, &"length".into()).ok().and_then(|len| len.as_f64()).unwrap_or(0.0) as usize
}

/// The JSON text of a value; `null` for what has none.
fn stringify(value: &JsValue) -> String {
    let is_typed = is_list(value) && !Array::is_array(value);
    let plain = if is_typed { numbers_of(value).unwrap_or(JsValue::NULL) } else { value.clone() };
    JSON::stringify(&plain).ok().and_then(|text| JsValue::from(text).as_string()).unwrap_or_else(|| "null".into())
}

/// The elements of a typed array, of big integers too, as numbers.
fn numbers_of(list: &JsValue) -> Option<JsValue> {
    let array: JsValue = Array::from(list).into();
    let map = Reflect::get(&array, &"map".into()).ok()?;
    let number = Reflect::get(&js_sys::global(), &"Number".into()).ok()?;
    let map: &Function = map.unchecked_ref();
    Reflect::apply(map, &array, &Array::of1(&number)).ok()
}

/// `Array.prototype.every.call(list, Number.isInteger)`, all inside the engine.
fn every_is_integer(list: &JsValue) -> Option<bool> {
    let number = Reflect::get(&js_sys::global(), &"Number".into()).ok()?;
    let is_integer = Reflect::get(&number, &"isInteger".into()).ok()?;
    let every: Function = Reflect::get(list, &"every".into()).ok()?.dyn_into().ok()?;
    Reflect::apply(&every, list, &Array::of1(&is_integer)).ok()?.as_bool()
}
