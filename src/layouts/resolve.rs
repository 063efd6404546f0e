//! Finds the fields of one span by the layouts: where the ids are, what they are, where their text goes.

use std::borrow::Cow;

use super::join::{Part, join};
use super::pointer::{split_first, steps, unescape_key};
use super::select::number;
use super::sources::Source;
use super::{Field, Layout, Pointer};
use crate::ids::{self, Ids, Refusal};
use crate::json::{items, string_content};
use crate::limits::Limits;
use crate::report::FieldReport;
use crate::view::{Kind, Names, NodeId, Place, Text, Tree, View};

/// A field that a layout found.
#[derive(Debug)]
pub(crate) struct Found {
    /// What is known of it so far; skipped if there is no target.
    pub report: FieldReport,
    pub target: Option<Target>,
    /// Masks and log-probabilities of an odd length: address and message.
    pub odd_lengths: Vec<(String, String)>,
}

/// Ids that can be decoded, and where their text goes.
#[derive(Debug)]
pub(crate) struct Target {
    pub ids: Ids,
    pub object: NodeId,
    pub key: String,
    pub before: Option<String>,
    pub existing: Existing,
    /// How many ids there are, of which some may be selected.
    pub of: usize,
    /// The members that hold the ids, if they were asked for.
    pub sources: Vec<Source>,
}

/// What stands where the text would go, or where the producer may have put it.
#[derive(Debug, PartialEq)]
pub(crate) enum Existing {
    /// Nothing, or null.
    Nothing,
    /// A value that is no text of this field.
    Other(Kind),
    /// A text, as bytes since a JSON string need not be Unicode; one for each row of a list of lists.
    Text { texts: Vec<Vec<u8>>, at_place: bool },
}

impl Existing {
    /// Whether the text that is there says the same as `text`.
    pub(crate) fn is_same(texts: &[Vec<u8>], text: &Text) -> bool {
        texts.len() == text.texts.len() && texts.iter().zip(&text.texts).all(|(there, ours)| there == ours.as_bytes())
    }
}

/// Finds all fields of a span, layout by layout; with the members that hold their ids, if they are to go.
pub(crate) fn resolve(
    tree: &mut dyn Tree,
    view: &View,
    layouts: &[Layout],
    limits: &Limits,
    with_sources: bool,
) -> Vec<Found> {
    let mut resolver = Resolver {
        tree,
        view,
        limits,
        with_sources,
        claimed: Names::default(),
        taken: Names::default(),
        found: Vec::new(),
        homeless: Vec::new(),
    };
    for layout in layouts {
        resolver.layout(layout);
    }
    // Ids without a place for their text are reported once, if no other layout had one.
    for field in resolver.homeless {
        if resolver.claimed.insert(&field.report.path, 0).is_none() {
            resolver.found.push(field);
        }
    }
    resolver.found
}

pub(super) struct Resolver<'r> {
    pub tree: &'r mut dyn Tree,
    pub view: &'r View,
    pub limits: &'r Limits,
    with_sources: bool,
    /// Addresses of ids that some layout has dealt with.
    claimed: Names,
    /// Addresses of texts that some layout has dealt with.
    taken: Names,
    found: Vec<Found>,
    homeless: Vec<Found>,
}

/// What a pointer found.
pub(super) struct Located<'p> {
    pub pointer: &'p Pointer,
    /// Not null, in order, at least one.
    pub matches: Vec<Match>,
    pub path: String,
    /// Found from the root of a bare body.
    is_bare: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Match {
    pub node: NodeId,
    /// The object or list that holds the value.
    pub holder: Option<NodeId>,
    /// The element of the last `*`.
    element: Option<NodeId>,
}

/// The element that `each` found, where pointers start instead of the span, and its number.
type Element<'e> = Option<(&'e Place, usize)>;

/// A place, the steps of a pointer from there, and whether it is the root of a bare body.
type Start<'s> = (&'s Place, &'s str, bool);

impl<'r> Resolver<'r> {
    fn layout(&mut self, layout: &Layout) {
        for alternatives in &layout.when {
            if !alternatives.iter().any(|pointer| self.is_there(pointer)) {
                return;
            }
        }
        let Some(each) = &layout.each else { return self.fields(layout, None) };
        for (start, steps, _) in self.starts(None, &each.text, false).into_iter().flatten() {
            let mut elements = Vec::new();
            self.each(start.clone(), steps, &mut elements);
            for (index, element) in elements.iter().enumerate() {
                self.fields(layout, Some((element, index)));
            }
            if !elements.is_empty() {
                break;
            }
        }
    }

    /// What the steps of `each` lead to, one by one.
    fn each(&mut self, from: Place, steps: &str, out: &mut Vec<Place>) {
        match split_first(steps) {
            None if self.tree.kind(from.node) == Kind::Null => {}
            None => out.push(from),
            Some(("*", rest)) => {
                for (i, node) in self.tree.elements(from.node).into_iter().enumerate() {
                    self.each(Place { node, path: format!("{}/{i}", from.path) }, rest, out);
                }
            }
            Some((step, rest)) => {
                if let Some(node) = self.step(from.node, step) {
                    self.each(Place { node, path: format!("{}/{step}", from.path) }, rest, out);
                }
            }
        }
    }

    fn fields(&mut self, layout: &Layout, element: Element<'_>) {
        for field in &layout.fields {
            self.field(layout, field, element);
        }
    }

    fn field(&mut self, layout: &Layout, field: &Field, element: Element<'_>) {
        let mut candidates = Vec::new();
        for pointer in &field.ids {
            candidates.extend(self.candidate(field, pointer, element));
        }
        let Some(located) = candidates.first() else { return };
        if self.claimed.get(&located.path).is_some() {
            return;
        }
        let mut report = FieldReport::new(field.kind, &layout.name, &located.path);
        report.index = element.map(|(_, index)| index);
        let mut found = Found { report, target: None, odd_lengths: Vec::new() };
        let object = match self.text_object(field, element, located) {
            Ok(object) => object,
            Err(refusal) => {
                refusal.report(&mut found.report);
                self.homeless.push(found);
                return;
            }
        };
        // The fields that this one stands for are dealt with too: they say the same, less well.
        for candidate in &candidates {
            self.claimed.insert(&candidate.path, 0);
        }
        let text_path = format!("{}/{}", object.path, field.text.split_last().1);
        if self.taken.insert(&text_path, 0).is_some() {
            return;
        }
        match self.target(field, element, &candidates, &object, &text_path, &mut found) {
            Ok(target) => found.target = Some(target),
            Err(refusal) => refusal.report(&mut found.report),
        }
        found.report.text_path = Some(text_path);
        self.found.push(found);
    }

    fn candidate<'p>(&mut self, field: &Field, pointer: &'p Pointer, element: Element<'_>) -> Option<Located<'p>> {
        let mut located = self.locate(element, pointer)?;
        for (key, wanted) in &field.where_members {
            located.matches.retain(|found| {
                let member = found.holder.and_then(|holder| self.tree.member(holder, key));
                member.is_some_and(|node| same_scalar(&self.tree.json(node), wanted))
            });
        }
        (!located.matches.is_empty()).then_some(located)
    }

    fn target(
        &mut self,
        field: &Field,
        element: Element<'_>,
        candidates: &[Located<'_>],
        object: &Place,
        text_path: &str,
        found: &mut Found,
    ) -> Result<Target, Box<Refusal>> {
        let located = &candidates[0];
        let all = self.joined(field, located)?;
        let of = all.ids.len();
        let sources = if self.with_sources { self.sources(field, candidates, &all) } else { Vec::new() };
        let ids = self.ids(field, element, all, found)?;
        let key = unescape_key(field.text.split_last().1).unwrap_or_default();
        let existing = self.existing(field, element, object.node, &key, ids.rows.is_some());
        let in_text = located.path.strip_prefix(text_path);
        let holds_ids = in_text.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if holds_ids && matches!(existing, Existing::Other(Kind::Array | Kind::Object)) {
            return Err(Refusal::new("no_text_place", format!("`{text_path}` holds the ids themselves")));
        }
        // The text stands before the member that leads to the ids.
        let inside = located.path.strip_prefix(&object.path).and_then(split_first);
        let before = inside.and_then(|(step, _)| unescape_key(step)).map(Cow::into_owned);
        Ok(Target { ids, object: object.node, key: key.into_owned(), before, existing, of, sources })
    }

    /// The ids that a pointer found, joined.
    pub(super) fn joined(&mut self, field: &Field, located: &Located<'_>) -> Result<Ids, Box<Refusal>> {
        if located.pointer.is_every() {
            let mut parts = Vec::with_capacity(located.matches.len());
            let mut room = self.limits.ids_per_field;
            for (i, found) in located.matches.iter().enumerate() {
                let mut ids = self
                    .read(found.node, located.pointer, room)
                    .map_err(|refusal| Refusal::new(refusal.reason, format!("element {i}: {}", refusal.detail)))?;
                room -= ids.ids.len();
                if ids.converted == Some(ids::Spelling::SingleInteger) {
                    ids.converted = None;
                }
                parts.push(Part { ids, group: self.group(field, found), parent: self.parent(found) });
            }
            join(parts, field.join, field.by.is_some())
        } else {
            self.read(located.matches[0].node, located.pointer, self.limits.ids_per_field)
        }
    }

    /// Those ids of a field that it selects.
    fn ids(&mut self, field: &Field, element: Element<'_>, all: Ids, found: &mut Found) -> Result<Ids, Box<Refusal>> {
        let all_count = all.ids.len();
        let ids = match &field.select {
            None => all,
            Some(select) => {
                let Some(by) = self.locate(element, &select.pointer) else {
                    let what = format!("`{}`, which selects the ids, is not there", select.pointer.text);
                    return Err(Refusal::new("bad_selection", what));
                };
                found.report.select = Some(select.report(by.path));
                select.apply(&all, &self.tree.json(by.matches[0].node))?
            }
        };
        if ids.rows.is_none() {
            for (name, pointer) in [("mask", &field.mask), ("logprobs", &field.logprobs)] {
                let Some(located) = pointer.as_ref().and_then(|pointer| self.locate(element, pointer)) else {
                    continue;
                };
                let len = match &*located.matches {
                    [only] => self.tree.len(only.node),
                    many => many.len(),
                };
                if len != all_count && len != ids.ids.len() {
                    let message = format!("the {name} has {len} items, the ids are {all_count}");
                    found.odd_lengths.push((located.path, message));
                }
            }
        }
        Ok(ids)
    }

    pub(super) fn read(&mut self, node: NodeId, pointer: &Pointer, max: usize) -> Result<Ids, Box<Refusal>> {
        if let Some(ids) = self.tree.token_ids(node).filter(|ids| ids.len() <= max) {
            return Ok(Ids::list(ids));
        }
        ids::read(&self.tree.json(node), pointer.encoding(), max)
    }

    fn group(&mut self, field: &Field, found: &Match) -> Option<Vec<u8>> {
        let node = self.tree.member(found.element?, field.by.as_ref()?)?;
        Some(self.tree.json(node).into_owned())
    }

    fn parent(&mut self, found: &Match) -> Option<usize> {
        let node = self.tree.member(found.element?, "parent")?;
        std::str::from_utf8(&self.tree.json(node)).ok()?.parse().ok()
    }

    /// The object that the text goes into.
    fn text_object(&mut self, field: &Field, element: Element<'_>, ids: &Located<'_>) -> Result<Place, Box<Refusal>> {
        let above = field.text.split_last().0;
        let mut object = None;
        if above.is_empty() {
            object = element.map(|(place, _)| place).or(self.view.whole.as_ref()).cloned();
        } else {
            for (start, steps, is_bare) in self.starts(element, above, true).into_iter().flatten() {
                // The text stays with the ids: a body that is itself the output takes it, even if it has an `output`.
                if object.is_none() && (is_bare || !ids.is_bare) {
                    let found = self.walk(start.node, steps).first().copied();
                    object = found.map(|found| Place { node: found.node, path: format!("{}{steps}", start.path) });
                }
            }
        }
        // A text that stands in the other record of the span is not written again here.
        let object = object.or_else(|| self.elsewhere_text(field));
        let Some(object) = object else {
            return Err(Refusal::new("no_text_place", format!("`{above}`, where the text would go, is not there")));
        };
        match self.tree.kind(object.node) {
            Kind::Object => Ok(object),
            other => {
                let what = format!("`{}`, where the text would go, is {}, not an object", object.path, other.name());
                Err(Refusal::new("no_text_place", what))
            }
        }
    }

    fn existing(&mut self, field: &Field, element: Element<'_>, object: NodeId, key: &str, in_rows: bool) -> Existing {
        let at_place = self.tree.member(object, key);
        if let Some(texts) = at_place.and_then(|node| self.texts(node, in_rows)) {
            return Existing::Text { texts, at_place: true };
        }
        for pointer in &field.existing {
            let located = self.locate(element, pointer);
            if let Some(texts) = located.and_then(|located| self.texts(located.matches[0].node, in_rows)) {
                return Existing::Text { texts, at_place: false };
            }
        }
        match at_place.map(|node| self.tree.kind(node)) {
            None | Some(Kind::Null) => Existing::Nothing,
            Some(kind) => Existing::Other(kind),
        }
    }

    /// The content of a string; of a list of strings where there is a text for each row.
    fn texts(&mut self, node: NodeId, in_rows: bool) -> Option<Vec<Vec<u8>>> {
        let kind = self.tree.kind(node);
        let json = self.tree.json(node);
        let mut texts = Vec::new();
        match kind {
            Kind::String => texts.push(string_content(&json)?.into_owned()),
            Kind::Array if in_rows => {
                for item in items(&json) {
                    texts.push(string_content(item)?.into_owned());
                }
            }
            _ => return None,
        }
        Some(texts)
    }

    /// Whether a pointer finds anything, here or in another record of the span.
    fn is_there(&mut self, pointer: &Pointer) -> bool {
        self.locate(None, pointer).is_some() || self.elsewhere(&pointer.text).is_some()
    }

    /// What a pointer finds in another record of the span.
    fn elsewhere(&mut self, pointer: &str) -> Option<Place> {
        let (root, steps) = split_first(pointer)?;
        let (_, place) = self.view.elsewhere.iter().find(|(name, _)| *name == root)?;
        let found = *self.walk(place.node, steps).first()?;
        Some(Place { node: found.node, path: format!("{}{steps}", place.path) })
    }

    /// The object in another record of the span that has the text of a field.
    fn elsewhere_text(&mut self, field: &Field) -> Option<Place> {
        let text = self.elsewhere(&field.text.text)?;
        let object = self.elsewhere(field.text.split_last().0)?;
        (self.tree.kind(text.node) == Kind::String).then_some(object)
    }

    /// What a pointer finds, without nulls; nothing if that is nothing.
    fn locate<'p>(&mut self, element: Element<'_>, pointer: &'p Pointer) -> Option<Located<'p>> {
        for (start, steps, is_bare) in self.starts(element, &pointer.text, false).into_iter().flatten() {
            let matches = self.walk(start.node, steps);
            if !matches.is_empty() {
                return Some(Located { pointer, matches, path: format!("{}{steps}", start.path), is_bare });
            }
        }
        None
    }

    /// Where a pointer may start. One under the output, or what such a pointer goes through (`is_parent`), may start from
    /// a bare body too.
    fn starts<'s>(&self, element: Element<'s>, pointer: &'s str, is_parent: bool) -> [Option<Start<'s>>; 2]
    where
        'r: 's,
    {
        if let Some((place, _)) = element {
            return [Some((place, pointer, false)), None];
        }
        let Some((root, steps)) = split_first(pointer) else { return [None, None] };
        let mut usual = None;
        for (name, place) in &self.view.places {
            if *name == root {
                usual = Some((place, steps, false));
            }
        }
        let bare = self.view.bare.as_ref().filter(|_| root == "output" && (is_parent || !steps.is_empty()));
        [usual, bare.map(|place| (place, steps, true))]
    }

    pub(super) fn walk(&mut self, start: NodeId, pointer: &str) -> Vec<Match> {
        let mut matches = vec![Match { node: start, holder: None, element: None }];
        for step in steps(pointer) {
            let mut next = Vec::with_capacity(matches.len());
            for from in matches {
                if step == "*" {
                    for node in self.tree.elements(from.node) {
                        next.push(Match { node, element: Some(node), ..from });
                    }
                } else if let Some(node) = self.step(from.node, step) {
                    let holder = if step.starts_with('!') { from.holder } else { Some(from.node) };
                    next.push(Match { node, holder, ..from });
                }
            }
            matches = next;
        }
        matches.retain(|found| self.tree.kind(found.node) != Kind::Null);
        matches
    }

    /// One step that is not `*`.
    fn step(&mut self, node: NodeId, step: &str) -> Option<NodeId> {
        match step {
            "!json" => self.tree.open_json(node),
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
}

/// Whether two JSON scalars are the same value.
fn same_scalar(left: &[u8], right: &[u8]) -> bool {
    match (string_content(left), string_content(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left == right || matches!((number(left), number(right)), (Some(l), Some(r)) if l == r),
        _ => false,
    }
}
