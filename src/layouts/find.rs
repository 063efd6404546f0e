//! Follows the pointers of layouts through one span.

use super::Pointer;
use super::pointer::{split_first, unescape_key};
use super::unfolded::Unfolded;
use crate::json::{joined, string_content};
use crate::view::{Keys, Kind, NodeId, Place, Tree, View};

/// What a pointer found.
pub(super) struct Located<'p> {
    pub pointer: &'p Pointer,
    /// Not null, in order, at least one.
    pub matches: Vec<Match>,
    pub path: String,
    /// Found from the root of a bare body.
    pub is_bare: bool,
    /// Where it started, and the steps from there.
    start: NodeId,
    steps: &'p str,
}

#[derive(Clone, Copy)]
pub(super) struct Match {
    pub node: NodeId,
    /// The object or list that holds the value.
    pub holder: Option<NodeId>,
    /// The element of the last `*`.
    pub element: Option<NodeId>,
    /// Its number among all that this `*` found.
    number: usize,
}

/// The element that `each` found, where pointers start instead of the span, and its number.
pub(super) type Element<'e> = Option<(&'e Place, usize)>;

/// A place, the steps of a pointer from there, and whether it is the root of a bare body.
type Start<'s, 'p> = (&'s Place, &'p str, bool);

pub(super) struct Finder<'r> {
    pub tree: Unfolded<'r>,
    view: &'r View,
    flattened: &'r [(&'static str, Place)],
}

impl<'r> Finder<'r> {
    /// `flattened` are the places of the view's flattened objects.
    pub(super) fn new(tree: Unfolded<'r>, view: &'r View, flattened: &'r [(&'static str, Place)]) -> Finder<'r> {
        Finder { tree, view, flattened }
    }

    /// The keys in all places that pointers lead to.
    pub(super) fn keys(&self) -> Keys {
        let mut nodes = Vec::with_capacity(8);
        for (_, place) in self.view.places.iter().chain(self.flattened).chain(&self.view.elsewhere) {
            nodes.push(place.node);
        }
        nodes.extend(self.view.bare.as_ref().map(|place| place.node));
        Keys::inside(&self.tree, &nodes)
    }

    /// What a pointer finds, without nulls; nothing if that is nothing.
    pub(super) fn locate<'p>(&mut self, element: Element<'_>, pointer: &'p Pointer) -> Option<Located<'p>> {
        for (start, steps, is_bare) in self.starts(element, &pointer.text, false).into_iter().flatten() {
            let matches = self.walk(start.node, steps);
            if !matches.is_empty() {
                let mut path = self.tree.address(start, steps);
                if self.tree.is_flattened_list(matches[0].node) {
                    path.push_str(".*");
                }
                return Some(Located { pointer, matches, path, is_bare, start: start.node, steps });
            }
        }
        None
    }

    /// Whether a pointer finds anything, in the span or in another record of it.
    pub(super) fn is_there(&mut self, pointer: &Pointer) -> bool {
        let starts = self.starts(None, &pointer.text, false);
        starts.into_iter().flatten().any(|(start, steps, _)| self.leads(start.node, steps))
            || self.elsewhere(&pointer.text).is_some()
    }

    /// What a pointer finds in another record of the span.
    pub(super) fn elsewhere(&mut self, pointer: &str) -> Option<Place> {
        let (root, steps) = split_first(pointer)?;
        let (_, place) = self.view.elsewhere.iter().find(|(name, _)| *name == root)?;
        let found = *self.walk(place.node, steps).first()?;
        Some(Place { node: found.node, path: format!("{}{steps}", place.path) })
    }

    fn leads(&mut self, node: NodeId, steps: &str) -> bool {
        match split_first(steps) {
            None => self.tree.kind(node) != Kind::Null,
            Some(("*", rest)) => self.elements(node, rest).into_iter().any(|element| self.leads(element, rest)),
            Some((step, rest)) => self.step(node, step, rest).is_some_and(|node| self.leads(node, rest)),
        }
    }

    /// The values that a pointer into the span leads to, one by one.
    pub(super) fn each(&mut self, pointer: &Pointer) -> Vec<Place> {
        let mut places = Vec::new();
        for (start, steps, _) in self.starts(None, &pointer.text, false).into_iter().flatten() {
            self.collect(start.clone(), steps, &mut places);
            if !places.is_empty() {
                break;
            }
        }
        places
    }

    fn collect(&mut self, from: Place, steps: &str, out: &mut Vec<Place>) {
        match split_first(steps) {
            None if self.tree.kind(from.node) == Kind::Null => {}
            None => out.push(from),
            Some(("*", rest)) => {
                for (i, node) in self.elements(from.node, rest).into_iter().enumerate() {
                    let path = self.tree.address(&from, &format!("/{i}"));
                    self.collect(Place { node, path }, rest, out);
                }
            }
            Some((step, rest)) => {
                if let Some(node) = self.step(from.node, step, rest) {
                    let path = self.tree.address(&from, &joined(&["/", step]));
                    self.collect(Place { node, path }, rest, out);
                }
            }
        }
    }

    /// How many values there are where something was found, nulls included.
    pub(super) fn count(&mut self, located: &Located<'_>) -> usize {
        if located.pointer.is_every() {
            return self.follow(located.start, located.steps).len();
        }
        self.tree.len(located.matches[0].node)
    }

    /// All values where something was found, nulls included.
    pub(super) fn all(&mut self, located: &Located<'_>) -> Vec<NodeId> {
        self.follow(located.start, located.steps).into_iter().map(|found| found.node).collect()
    }

    /// The elements of the last `*` of what was found, with the value found in each.
    pub(super) fn elements_with(&mut self, located: &Located<'_>) -> Vec<(NodeId, Option<NodeId>)> {
        let mut rest = located.steps;
        let mut after_star = rest;
        while let Some((step, after)) = split_first(rest) {
            rest = after;
            if step == "*" {
                after_star = after;
            }
        }
        let to_star = located.steps.get(..located.steps.len() - after_star.len()).unwrap_or_default();
        let mut pairs = Vec::new();
        for element in self.follow(located.start, to_star) {
            pairs.push((element.node, None));
        }
        for found in &located.matches {
            pairs[found.number].1 = Some(found.node);
        }
        pairs
    }

    /// Where a pointer may start. One under the output, or what such a pointer goes through (`is_parent`), may start from
    /// a bare body too.
    pub(super) fn starts<'s, 'p>(
        &self,
        element: Element<'s>,
        pointer: &'p str,
        is_parent: bool,
    ) -> [Option<Start<'s, 'p>>; 2]
    where
        'r: 's,
    {
        if let Some((place, _)) = element {
            return [Some((place, pointer, false)), None];
        }
        let Some((root, steps)) = split_first(pointer) else { return [None, None] };
        let mut usual = None;
        for (name, place) in self.view.places.iter().chain(self.flattened) {
            if *name == root {
                usual = Some((place, steps, false));
            }
        }
        let bare = self.view.bare.as_ref().filter(|_| root == "output" && (is_parent || !steps.is_empty()));
        [usual, bare.map(|place| (place, steps, true))]
    }

    /// The values that steps lead to, without nulls.
    pub(super) fn walk(&mut self, start: NodeId, steps: &str) -> Vec<Match> {
        let mut matches = self.follow(start, steps);
        matches.retain(|found| self.tree.kind(found.node) != Kind::Null);
        matches
    }

    fn follow(&mut self, start: NodeId, mut steps: &str) -> Vec<Match> {
        let mut matches = vec![Match { node: start, holder: None, element: None, number: 0 }];
        while let Some((step, rest)) = split_first(steps) {
            steps = rest;
            // The first tells for all: those that are spelled otherwise must not go unseen.
            if step == "!tokenid" {
                let first = matches.first().copied();
                if !first.is_some_and(|first| self.spells_token_ids(first.node)) {
                    matches.clear();
                }
                return matches;
            }
            let mut next = Vec::with_capacity(matches.len());
            for from in matches {
                if step == "*" {
                    for node in self.elements(from.node, rest) {
                        next.push(Match { node, element: Some(node), number: next.len(), ..from });
                    }
                } else if let Some(node) = self.step(from.node, step, rest) {
                    let holder = if step.starts_with('!') { from.holder } else { Some(from.node) };
                    next.push(Match { node, holder, ..from });
                }
            }
            matches = next;
        }
        matches
    }

    /// The elements of a list in which `rest` may lead on. Of a list of numbers, which can be long and of which each
    /// would become a node, nothing does.
    fn elements(&mut self, list: NodeId, rest: &str) -> Vec<NodeId> {
        let is_in_vain = !rest.is_empty()
            && self.tree.kind(list) == Kind::Array
            && self.tree.element(list, 0).is_some_and(|first| self.tree.kind(first) == Kind::Number);
        if is_in_vain { Vec::new() } else { self.tree.elements(list) }
    }

    /// One step that is not `*`; `rest` are those after it.
    fn step(&mut self, node: NodeId, step: &str, rest: &str) -> Option<NodeId> {
        match step {
            "!json" => self.tree.open_json(node),
            "!repr" if !rest.is_empty() => self.tree.open_python(node),
            "!tokenid" => self.spells_token_ids(node).then_some(node),
            // The others are last steps, which only say how the value is spelled.
            _ if step.starts_with('!') => Some(node),
            _ => {
                let key = unescape_key(step)?;
                match self.tree.kind(node) {
                    Kind::Object => self.tree.member(node, &key),
                    Kind::Array => self.tree.element(node, key.parse().ok()?),
                    _ => None,
                }
            }
        }
    }

    /// Whether a value is a string `token_id:N`, or a list that begins with one: elsewhere the same members hold text.
    fn spells_token_ids(&mut self, node: NodeId) -> bool {
        let first = if self.tree.kind(node) == Kind::Array { self.tree.element(node, 0) } else { Some(node) };
        first.is_some_and(|first| {
            string_content(&self.tree.json(first)).is_some_and(|content| content.starts_with(b"token_id:"))
        })
    }
}
