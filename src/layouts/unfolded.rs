//! The values of a span, and those that are folded away in it: an object that is flattened over dotted keys, and Python
//! literals in strings. They are looked into as if they stood there; nothing can be written into them.

use std::borrow::Cow;

use super::pointer::split_first;
use crate::json::{Json, joined, python_to_json, string_content};
use crate::view::{Flattened, Kind, Names, NodeId, Place, Tree, View};

/// What a node is has its topmost bits: a value of dotted keys, or one in a Python literal. Both are set in no node of the
/// tree below, whose numbers are less.
const SHIFT: u32 = 29;
const DOTTED: u32 = 6;
const PRINTED: u32 = 7;

/// Keys with more steps are left alone.
const MOST_STEPS: usize = 16;

pub(super) struct Unfolded<'r> {
    tree: &'r mut dyn Tree,
    /// What dotted keys lead through, first the objects that are flattened.
    branches: Vec<Branch>,
    /// Branches by their keys.
    by_key: Names,
    /// The Python literals, and which string holds which: a node, or the string itself if it holds none.
    printed: Json<'static>,
    opened: Names,
}

/// What keys with one beginning lead through, or what stands at one key.
#[derive(Default)]
struct Branch {
    /// The beginning, whole.
    key: String,
    children: Vec<NodeId>,
    /// Whether the children are the elements of a list, which are in order then.
    is_list: bool,
    /// The value that has just this key. It stands for what stands in it, once that was looked for: `step` leads there.
    value: Option<NodeId>,
    step: Option<&'static str>,
}

impl<'r> Unfolded<'r> {
    /// The tree of a span; Python literals may be nested so deep.
    pub(super) fn new(tree: &'r mut dyn Tree, view: &View, max_depth: usize) -> Unfolded<'r> {
        let mut unfolded = Unfolded {
            tree,
            branches: Vec::new(),
            by_key: Names::default(),
            printed: Json::none(max_depth),
            opened: Names::default(),
        };
        for flattened in &view.flattened {
            unfolded.branch(flattened.prefix);
        }
        for flattened in &view.flattened {
            for (key, value) in unfolded.tree.members(flattened.object.node) {
                if starts_with_step(&key, flattened.prefix) {
                    unfolded.add(&key, flattened.prefix.len(), value);
                }
            }
        }
        for branch in 0..unfolded.branches.len() {
            let mut children = std::mem::take(&mut unfolded.branches[branch].children);
            unfolded.branches[branch].is_list = unfolded.put_in_order(branch, &mut children);
            unfolded.branches[branch].children = children;
        }
        unfolded
    }

    /// The places of the flattened objects.
    pub(super) fn places(view: &View) -> Vec<(&'static str, Place)> {
        let mut places = Vec::new();
        for (i, Flattened { name, prefix, object }) in view.flattened.iter().enumerate() {
            places.push((*name, object.then(DOTTED << SHIFT | i as NodeId, &joined(&["/", prefix]))));
        }
        places
    }

    /// Whether a value is folded away, so that nothing can be written into it.
    pub(super) fn is_folded(node: NodeId) -> bool {
        node >> SHIFT >= DOTTED
    }

    /// Adds the value at a key whose beginning up to `at` is a branch.
    fn add(&mut self, key: &str, mut at: usize, value: NodeId) {
        let mut parent = self.branch(key.get(..at).unwrap_or_default());
        for _ in 0..MOST_STEPS {
            at += 1;
            while key.as_bytes().get(at).is_some_and(|&byte| byte != b'.') {
                at += 1;
            }
            let count = self.branches.len();
            let child = self.branch(key.get(..at).unwrap_or_default());
            if self.branches.len() > count {
                self.branches[parent as usize].children.push(child);
            }
            parent = child;
            if at == key.len() {
                self.branches[parent as usize].value = Some(value);
                return;
            }
        }
    }

    /// The branch with a key; a new one if there is none.
    fn branch(&mut self, key: &str) -> NodeId {
        let new = self.branches.len() as NodeId;
        self.by_key.insert(key, new).unwrap_or_else(|| {
            self.branches.push(Branch { key: key.to_owned(), ..Branch::default() });
            new
        })
    }

    /// Puts the children of a branch in the order of a list; false if their keys are not all the numbers from 0 on.
    fn put_in_order(&self, branch: usize, children: &mut [NodeId]) -> bool {
        for i in 0..children.len() {
            loop {
                let step = self.step_of(&self.branches[branch], children[i]);
                let Ok(place) = step.parse::<usize>() else { return false };
                if place >= children.len() || step != place.to_string() {
                    return false;
                }
                if place == i {
                    break;
                }
                // No two have one number, so each exchange puts one where it stays.
                children.swap(i, place);
            }
        }
        !children.is_empty()
    }

    /// The last step of a child's key.
    fn step_of(&self, parent: &Branch, child: NodeId) -> &str {
        self.branches[child as usize].key.get(parent.key.len() + 1..).unwrap_or_default()
    }

    fn child(&self, branch: NodeId, step: &str) -> Option<NodeId> {
        let branch = &self.branches[branch as usize];
        if branch.is_list {
            return branch.children.get(step.parse::<usize>().ok()?).copied();
        }
        self.by_key.get(&joined(&[&branch.key, ".", step]))
    }

    /// What stands at a branch: the value that has its key, opened if it is an object in a string or a list of some.
    fn value(&mut self, branch: NodeId) -> NodeId {
        let Branch { value, step, .. } = self.branches[branch as usize];
        let Some(value) = value else { return DOTTED << SHIFT | branch };
        if step.is_some() {
            return value;
        }
        // MLflow's files have a string as JSON in a string.
        let (opened, step) = match self.tree.open_json(value) {
            Some(inner) if self.tree.kind(inner) == Kind::String => (self.open_python(inner), "/!json/!repr"),
            None => (self.open_python(value), "/!repr"),
            opened => (opened, "/!json"),
        };
        let opened = opened.filter(|&opened| self.holds_objects(opened));
        let branch = &mut self.branches[branch as usize];
        (branch.value, branch.step) = (opened.or(Some(value)), Some(if opened.is_some() { step } else { "" }));
        opened.unwrap_or(value)
    }

    fn holds_objects(&mut self, node: NodeId) -> bool {
        let inner = if self.kind(node) == Kind::Array { self.element(node, 0) } else { Some(node) };
        inner.is_some_and(|inner| self.kind(inner) == Kind::Object)
    }

    /// The value of the Python literal inside a string.
    pub(super) fn open_python(&mut self, string: NodeId) -> Option<NodeId> {
        if self.kind(string) != Kind::String {
            return None;
        }
        let name = string.to_string();
        let opened = self.opened.get(&name).unwrap_or_else(|| {
            let content = string_content(&self.json(string)).and_then(|content| python_to_json(content.trim_ascii()));
            let added = content.and_then(|json| self.printed.add(json));
            let root = added.map(|(_, root)| root).filter(|root| root >> SHIFT == 0);
            let opened = root.map_or(string, printed);
            self.opened.insert(&name, opened);
            opened
        });
        (opened != string).then_some(opened)
    }

    /// Whether a value is a list that is flattened itself, so that each of its elements has an address, but it has none.
    pub(super) fn is_flattened_list(&self, node: NodeId) -> bool {
        node >> SHIFT == DOTTED && self.kind(node) == Kind::Array
    }

    /// The address of what steps lead to. Dotted keys are one step of the object that they stand in.
    pub(super) fn address(&mut self, start: &Place, steps: &str) -> String {
        let (mut address, mut rest, mut node) = (start.path.clone(), steps, start.node);
        while let (DOTTED, Some((step, after))) = (node >> SHIFT, split_first(rest)) {
            (rest, node) = (after, inside(node));
            let branch = &self.branches[node as usize];
            let child = if step == "*" { branch.children.first().copied() } else { self.child(node, step) };
            address.push('.');
            address.push_str(step);
            let Some(child) = child else { break };
            node = self.value(child);
            address.push_str(self.branches[child as usize].step.unwrap_or_default());
        }
        address + rest
    }
}

/// Whether a key has a beginning and, after a dot, more.
fn starts_with_step(key: &str, prefix: &str) -> bool {
    key.starts_with(prefix) && key.as_bytes().get(prefix.len()) == Some(&b'.')
}

/// The number of a folded value.
fn inside(node: NodeId) -> NodeId {
    node & ((1 << SHIFT) - 1)
}

fn printed(node: NodeId) -> NodeId {
    PRINTED << SHIFT | node
}

impl Tree for Unfolded<'_> {
    fn kind(&self, node: NodeId) -> Kind {
        match node >> SHIFT {
            DOTTED if self.branches[inside(node) as usize].is_list => Kind::Array,
            DOTTED => Kind::Object,
            PRINTED => self.printed.kind(inside(node)),
            _ => self.tree.kind(node),
        }
    }

    fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        match object >> SHIFT {
            DOTTED => self.child(inside(object), key).map(|child| self.value(child)),
            PRINTED => self.printed.member(inside(object), key).map(printed),
            _ => self.tree.member(object, key),
        }
    }

    fn keys(&self, object: NodeId, tell: &mut dyn FnMut(&[u8])) {
        match object >> SHIFT {
            DOTTED => {
                let branch = &self.branches[inside(object) as usize];
                for &child in &branch.children {
                    tell(self.step_of(branch, child).as_bytes());
                }
            }
            PRINTED => self.printed.keys(inside(object), tell),
            _ => self.tree.keys(object, tell),
        }
    }

    fn keys_inside(&self, node: NodeId, tell: &mut dyn FnMut(u32)) -> bool {
        !Self::is_folded(node) && self.tree.keys_inside(node, tell)
    }

    fn element(&mut self, array: NodeId, index: usize) -> Option<NodeId> {
        match array >> SHIFT {
            DOTTED => {
                let branch = &self.branches[inside(array) as usize];
                let child = branch.children.get(index).copied().filter(|_| branch.is_list)?;
                Some(self.value(child))
            }
            PRINTED => self.printed.element(inside(array), index).map(printed),
            _ => self.tree.element(array, index),
        }
    }

    fn elements(&mut self, array: NodeId) -> Vec<NodeId> {
        let PRINTED = array >> SHIFT else {
            if array >> SHIFT != DOTTED {
                return self.tree.elements(array);
            }
            let mut elements = Vec::new();
            while let Some(element) = self.element(array, elements.len()) {
                elements.push(element);
            }
            return elements;
        };
        let mut elements = self.printed.elements(inside(array));
        for element in &mut elements {
            *element = printed(*element);
        }
        elements
    }

    fn double(&self, node: NodeId) -> Option<f64> {
        if matches!(node >> SHIFT, DOTTED | PRINTED) { None } else { self.tree.double(node) }
    }

    fn is_plain(&self, node: NodeId) -> bool {
        match node >> SHIFT {
            DOTTED => false,
            PRINTED => true,
            _ => self.tree.is_plain(node),
        }
    }

    fn members(&mut self, object: NodeId) -> Vec<(String, NodeId)> {
        if Self::is_folded(object) { Vec::new() } else { self.tree.members(object) }
    }

    fn len(&mut self, array: NodeId) -> usize {
        match array >> SHIFT {
            DOTTED => self.branches[inside(array) as usize].children.len(),
            PRINTED => self.printed.len(inside(array)),
            _ => self.tree.len(array),
        }
    }

    fn open_json(&mut self, string: NodeId) -> Option<NodeId> {
        match string >> SHIFT {
            DOTTED => None,
            PRINTED => self.printed.open_json(inside(string)).map(printed),
            _ => self.tree.open_json(string),
        }
    }

    fn json(&mut self, node: NodeId) -> Cow<'_, [u8]> {
        match node >> SHIFT {
            DOTTED if self.branches[inside(node) as usize].is_list => {
                let mut json = Vec::new();
                for element in self.elements(node) {
                    json.push(if json.is_empty() { b'[' } else { b',' });
                    let element = self.open_json(element).unwrap_or(element);
                    json.extend_from_slice(&self.json(element));
                }
                json.push(b']');
                Cow::Owned(json)
            }
            DOTTED => Cow::Borrowed(b"{}"),
            PRINTED => self.printed.json(inside(node)),
            _ => self.tree.json(node),
        }
    }

    fn mark(&self, object: NodeId) -> &'static str {
        self.tree.mark(object)
    }

    fn token_ids(&mut self, array: NodeId) -> Option<Vec<u32>> {
        if Unfolded::is_folded(array) { None } else { self.tree.token_ids(array) }
    }
}
