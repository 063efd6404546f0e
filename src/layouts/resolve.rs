//! Finds the fields of one span by the layouts: where the ids are, what they are, where their text goes.

use std::borrow::Cow;
use std::hint::black_box;

use super::find::{Element, Finder, Located};
use super::join::{Part, join};
use super::pointer::{split_first, unescape_key};
use super::select::{Segment, is_one, number};
use super::sources::Source;
use super::unfolded::Unfolded;
use super::{Field, Join, Layout, Pointer};
use crate::ids::{self, Ids, Refusal};
use crate::json::{items, joined, string_content};
use crate::limits::Limits;
use crate::report::{FieldReport, Warning};
use crate::view::{Kind, Names, NodeId, Place, Text, Tree, View, json_into};

/// A field that a layout found.
#[derive(Debug)]
pub(crate) struct Found {
    /// What is known of it so far; skipped if there is no target.
    pub report: FieldReport,
    pub target: Option<Target>,
    /// What else is worth a look.
    pub warnings: Vec<Warning>,
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
    /// Of a selection: the ranges of the list that the ids are.
    pub segments: Option<Vec<Segment>>,
    /// The members that hold the ids, if they were asked for.
    pub sources: Vec<Source>,
    /// The mask and the log-probabilities as JSON, if they were asked for.
    pub lists: Lists,
}

/// What is asked for besides the ids and the place of the text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted {
    Nothing,
    /// The members that hold the ids.
    Sources,
    /// The mask and the log-probabilities.
    Lists(TakeLists),
}

/// The mask and the log-probabilities as JSON, if they are there.
type Lists = [Option<Vec<u8>>; 2];

/// What takes the lists of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TakeLists(fn(&mut Resolver<'_>, &Field, Element<'_>) -> Lists);

impl Wanted {
    /// With the mask and the log-probabilities. The compiler is kept from seeing what takes them: it would put that into
    /// [`resolve`], and so into the WebAssembly modules that never ask for them.
    pub(crate) fn lists() -> Wanted {
        Wanted::Lists(black_box(TakeLists(|resolver, field, element| resolver.lists(field, element))))
    }
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

/// Finds all fields of a span, layout by layout.
pub(crate) fn resolve(
    tree: &mut dyn Tree,
    view: &View,
    layouts: &[Layout],
    limits: &Limits,
    wanted: Wanted,
) -> Vec<Found> {
    let flattened = Unfolded::places(view);
    let mut resolver = Resolver {
        find: Finder::new(Unfolded::new(tree, view, limits.depth), view, &flattened),
        view,
        limits,
        wanted,
        claimed: Names::default(),
        claims: Vec::new(),
        taken: Names::default(),
        found: Vec::new(),
        homeless: Vec::new(),
    };
    // All by the keys first, which costs next to nothing.
    let keys = resolver.find.keys();
    for layout in layouts {
        if layout.may_apply(&keys) {
            resolver.layout(layout);
        }
    }
    // Ids without a place for their text are reported once, if no other layout had one.
    for field in resolver.homeless {
        if resolver.claimed.insert(&field.report.path, 0).is_none() {
            resolver.found.push(field);
        }
    }
    resolver.found
}

/// The candidates for the ids of a field in one element.
struct Row<'e, 'p> {
    element: Element<'e>,
    candidates: Vec<Located<'p>>,
}

pub(super) struct Resolver<'r> {
    pub find: Finder<'r>,
    pub view: &'r View,
    pub limits: &'r Limits,
    wanted: Wanted,
    /// Addresses of ids that some layout has dealt with, each with its number in `claims`.
    claimed: Names,
    claims: Vec<Claim<'r>>,
    /// Addresses of texts that some layout has dealt with.
    taken: Names,
    found: Vec<Found>,
    homeless: Vec<Found>,
}

/// The layout that dealt with some ids, and the number in `found` of what it made of them.
#[derive(Clone, Copy)]
struct Claim<'r> {
    layout: &'r Layout,
    found: usize,
}

impl<'r> Resolver<'r> {
    fn layout(&mut self, layout: &'r Layout) {
        for alternatives in &layout.when {
            if !alternatives.iter().any(|pointer| self.find.is_there(pointer)) {
                return;
            }
        }
        let Some(each) = &layout.each else { return self.fields(layout, &[None]) };
        let places = self.find.each(each);
        let elements: Vec<Element<'_>> = places.iter().enumerate().map(|(index, place)| Some((place, index))).collect();
        // The texts of elements that cannot be written into stand in one place.
        let at_once =
            if places.first().is_some_and(|place| Unfolded::is_folded(place.node)) { elements.len() } else { 1 };
        for elements in elements.chunks(at_once) {
            self.fields(layout, elements);
        }
    }

    fn fields(&mut self, layout: &'r Layout, elements: &[Element<'_>]) {
        for field in &layout.fields {
            self.field(layout, field, elements);
        }
    }

    /// A field of one element, or of several whose texts are one list.
    fn field(&mut self, layout: &'r Layout, field: &Field, elements: &[Element<'_>]) {
        let mut rows = Vec::with_capacity(elements.len());
        let mut first = None;
        let mut with_ids = 0;
        for &element in elements {
            let mut candidates = Vec::new();
            for pointer in &field.ids {
                candidates.extend(self.candidate(field, pointer, element));
            }
            if !candidates.is_empty() {
                first.get_or_insert(rows.len());
                with_ids += 1;
            }
            rows.push(Row { element, candidates });
        }
        let Some(first) = first else { return };
        let rows = if with_ids == 1 { &rows[first..=first] } else { &*rows };
        let Row { element, candidates } = &rows[if with_ids == 1 { 0 } else { first }];
        let (element, located) = (*element, &candidates[0]);
        if let Some(claim) = self.claimed.get(&located.path) {
            let claim = self.claims[claim as usize];
            // The fields of one layout may share ids, each with a selection of its own.
            if !std::ptr::eq(claim.layout, layout) {
                return self.ambiguity(claim, layout, field, &located.path);
            }
        }
        let mut report = FieldReport::new(field.kind, &layout.name, &located.path);
        match element {
            Some((place, _)) if rows.len() > 1 => {
                // The path of all: with `*` in place of the number.
                let number = place.path.bytes().rev().position(|byte| !byte.is_ascii_digit()).unwrap_or(0);
                let of_list = place.path.get(..place.path.len() - number).unwrap_or_default();
                let inside = located.path.get(place.path.len()..).unwrap_or_default();
                report.path = joined(&[of_list, "*", inside]);
            }
            _ => report.index = element.map(|(_, index)| index),
        }
        let mut found = Found { report, target: None, warnings: Vec::new() };
        let object = match self.text_object(field, element, located) {
            Ok(object) => object,
            Err(refusal) => {
                refusal.report(&mut found.report);
                self.homeless.push(found);
                return;
            }
        };
        // The fields that this one stands for are dealt with too: they say the same, less well.
        let claim = Claim { layout, found: self.found.len() };
        for candidate in rows.iter().flat_map(|row| &row.candidates) {
            if self.claimed.insert(&candidate.path, self.claims.len() as NodeId).is_none() {
                self.claims.push(claim);
            }
        }
        let text_path = format!("{}/{}", object.path, self.text_step(field, object.node));
        if self.taken.insert(&text_path, 0).is_some() {
            return;
        }
        match self.target(field, rows, located, &object, &text_path, &mut found) {
            Ok(target) => found.target = Some(target),
            Err(refusal) => refusal.report(&mut found.report),
        }
        found.report.text_path = Some(text_path);
        self.found.push(found);
    }

    /// Tells that a layout reads ids otherwise than the one before it that took them. One that asks for no more than
    /// that one did is only the more general, as one for any `token_ids` is beside one for those with a certain mask.
    fn ambiguity(&mut self, claim: Claim<'_>, layout: &Layout, field: &Field, path: &str) {
        let is_same = claim.layout.fields.iter().any(|other| other.kind == field.kind && other.select == field.select);
        let is_implied = layout
            .when
            .iter()
            .all(|wanted| claim.layout.when.iter().any(|given| given.iter().all(|pointer| wanted.contains(pointer))));
        // A field without a place for its text may have gone elsewhere.
        let Some(found) = self.found.get_mut(claim.found) else { return };
        if is_same || is_implied || found.warnings.iter().any(|warning| warning.code == "ambiguous_layout") {
            return;
        }
        let message = format!(
            "the layout `{}` reads these ids otherwise than `{}`, which comes first; the option `layouts` can name the right one",
            layout.name, claim.layout.name
        );
        found.warnings.push(Warning { code: "ambiguous_layout", message, path: path.to_owned() });
    }

    fn candidate<'p>(&mut self, field: &Field, pointer: &'p Pointer, element: Element<'_>) -> Option<Located<'p>> {
        let mut located = self.find.locate(element, pointer)?;
        for (key, wanted) in &field.where_members {
            located.matches.retain(|found| {
                let member = found.holder.and_then(|holder| self.find.tree.member(holder, key));
                member.is_some_and(|node| same_scalar(&self.find.tree.json(node), wanted))
            });
        }
        (!located.matches.is_empty()).then_some(located)
    }

    fn target(
        &mut self,
        field: &Field,
        rows: &[Row<'_, '_>],
        located: &Located<'_>,
        object: &Place,
        text_path: &str,
        found: &mut Found,
    ) -> Result<Target, Box<Refusal>> {
        let mut ids = Ids::default();
        let (mut of, mut sources) = (0, Vec::new());
        let (mut segments, mut lists) = (None, [None, None]);
        for Row { element, candidates } in rows {
            let mut row = Ids::default();
            if let Some(located) = candidates.first() {
                let all = self.joined(field, located)?;
                of += all.ids.len();
                if let Wanted::Sources = self.wanted {
                    sources = self.sources(field, candidates, &all);
                }
                (row, segments) = self.ids(field, *element, all, found)?;
            }
            if rows.len() == 1 {
                ids = row;
                if let Wanted::Lists(TakeLists(take)) = self.wanted {
                    lists = take(self, field, *element);
                }
            } else {
                // Ranges and lists are told of one row alone.
                segments = None;
                ids.push_row(row, self.limits.ids_per_field)?;
            }
        }
        let step = self.text_step(field, object.node);
        let key = unescape_key(&step).unwrap_or_default();
        let element = if let [Row { element, .. }] = rows { Some(*element) } else { None };
        let existing = self.existing(field, element, object.node, &key, ids.rows.is_some());
        let in_text = located.path.strip_prefix(text_path);
        let holds_ids = in_text.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if holds_ids && matches!(existing, Existing::Other(Kind::Array | Kind::Object)) {
            return Err(Refusal::new("no_text_place", format!("`{text_path}` holds the ids themselves")));
        }
        // The text stands before the member that leads to the ids.
        let inside = located.path.strip_prefix(&object.path).and_then(split_first);
        let before = inside.and_then(|(step, _)| unescape_key(step)).map(Cow::into_owned);
        let (object, key) = (object.node, key.into_owned());
        Ok(Target { ids, object, key, before, existing, of, segments, sources, lists })
    }

    /// The ids that a pointer found, joined.
    pub(super) fn joined(&mut self, field: &Field, located: &Located<'_>) -> Result<Ids, Box<Refusal>> {
        if located.pointer.is_every() {
            let parts = self.parts(field, located)?;
            join(parts, field.join, field.by.is_some(), self.limits.ids_per_field)
        } else {
            self.read(located.matches[0].node, located.pointer, self.limits.ids_per_field)
        }
    }

    /// Those ids of a field that it selects.
    fn ids(
        &mut self,
        field: &Field,
        element: Element<'_>,
        all: Ids,
        found: &mut Found,
    ) -> Result<(Ids, Option<Vec<Segment>>), Box<Refusal>> {
        let all_count = all.ids.len();
        let (ids, segments) = match &field.select {
            None => (all, None),
            Some(select) => {
                let Some(by) = self.beside(element, &select.pointer) else {
                    let what = format!("`{}`, which selects the ids, is not there", select.pointer.text);
                    return Err(Refusal::new("bad_selection", what));
                };
                let length = select.length.as_ref().and_then(|length| self.beside(element, length));
                let count = length.as_ref().map(|length| self.find.tree.json(length.matches[0].node).into_owned());
                found.report.select = Some(select.report(by.path, length.map(|length| length.path)));
                let json = self.find.tree.json(by.matches[0].node);
                let (ids, segments) = select.apply(&all, &json, count.as_deref())?;
                (ids, Some(segments))
            }
        };
        if ids.rows.is_none() {
            self.check_lengths(field, element, [all_count, ids.ids.len(), all_count], found);
        }
        Ok((ids, segments))
    }

    /// The mask and the log-probabilities of a field; of what `*` finds, the items of all as one list.
    fn lists(&mut self, field: &Field, element: Element<'_>) -> Lists {
        [self.list(&field.mask, element), self.list(&field.logprobs, element)]
    }

    fn list(&mut self, pointer: &Option<Pointer>, element: Element<'_>) -> Option<Vec<u8>> {
        let pointer = pointer.as_ref()?;
        let located = self.beside(element, pointer)?;
        let mut json = Vec::new();
        if !pointer.is_every() {
            json_into(&mut self.find.tree, located.matches[0].node, &mut json);
            return Some(json);
        }
        json.push(b'[');
        for node in self.find.all(&located) {
            let start = json.len();
            if start > 1 {
                json.push(b',');
            }
            let mut one = Vec::new();
            json_into(&mut self.find.tree, node, &mut one);
            match one.strip_prefix(b"[").and_then(|one| one.strip_suffix(b"]")) {
                Some(items) if items.trim_ascii().is_empty() => json.truncate(start),
                Some(items) => json.extend_from_slice(items),
                None => json.extend_from_slice(&one),
            }
        }
        json.push(b']');
        Some(json)
    }

    /// What says something of ids, a mask as much as a length: as JSON in a string too, once or twice, as the ids may be.
    fn beside<'p>(&mut self, element: Element<'_>, pointer: &'p Pointer) -> Option<Located<'p>> {
        let mut located = self.find.locate(element, pointer)?;
        for found in &mut located.matches {
            for _ in 0..2 {
                found.node = self.find.tree.open_json(found.node).unwrap_or(found.node);
            }
        }
        Some(located)
    }

    /// The ids of each value that `*` found.
    fn parts(&mut self, field: &Field, located: &Located<'_>) -> Result<Vec<Part>, Box<Refusal>> {
        let mut parts = Vec::with_capacity(located.matches.len());
        let mut room = self.limits.ids_per_field;
        // An element without ids is on the way from one with ids to its root all the same.
        let pairs = if field.join == Join::Parents { self.find.elements_with(located) } else { Vec::new() };
        let matches = located.matches.iter().map(|found| (found.element.unwrap_or(found.node), Some(found.node)));
        let pairs = if pairs.is_empty() { matches.collect() } else { pairs };
        for (i, (element, value)) in pairs.into_iter().enumerate() {
            let mut ids = match value {
                None => Ids::default(),
                Some(value) => self
                    .read(value, located.pointer, room)
                    .map_err(|refusal| Refusal::new(refusal.reason, format!("element {i}: {}", refusal.detail)))?,
            };
            room -= ids.ids.len();
            if ids.converted == Some(ids::Spelling::SingleInteger) {
                ids.converted = None;
            }
            parts.push(Part { ids, group: self.group(field, element), parent: self.parent(element) });
        }
        Ok(parts)
    }

    /// Reports a mask or log-probabilities that are not as long as the ids, all or selected. Log-probabilities may also
    /// be there for those ids only that the mask has.
    fn check_lengths(&mut self, field: &Field, element: Element<'_>, mut lengths: [usize; 3], found: &mut Found) {
        let all = lengths[0];
        for (name, pointer) in [("mask", &field.mask), ("logprobs", &field.logprobs)] {
            let Some(located) = pointer.as_ref().and_then(|pointer| self.beside(element, pointer)) else { continue };
            let len = self.find.count(&located);
            if !lengths.contains(&len) {
                let message = format!("the {name} has {len} items, the ids are {all}");
                found.warnings.push(Warning { code: "odd_length", message, path: located.path });
            } else if name == "mask" && len == all {
                let json = self.find.tree.json(located.matches[0].node);
                let mut ones = 0;
                for item in items(&json) {
                    ones += usize::from(is_one(item));
                }
                lengths[2] = ones;
            }
        }
    }

    pub(super) fn read(&mut self, node: NodeId, pointer: &Pointer, max: usize) -> Result<Ids, Box<Refusal>> {
        if let Some(ids) = self.find.tree.token_ids(node).filter(|ids| ids.len() <= max) {
            return Ok(Ids::list(ids));
        }
        ids::read(&self.find.tree.json(node), pointer.encoding(), max)
    }

    fn group(&mut self, field: &Field, element: NodeId) -> Option<Vec<u8>> {
        let node = self.find.tree.member(element, field.by.as_ref()?)?;
        Some(self.find.tree.json(node).into_owned())
    }

    fn parent(&mut self, element: NodeId) -> Option<usize> {
        let node = self.find.tree.member(element, "parent")?;
        std::str::from_utf8(&self.find.tree.json(node)).ok()?.parse().ok()
    }

    /// The last step of the text's place, marked where the object asks for it.
    fn text_step<'f>(&self, field: &'f Field, object: NodeId) -> Cow<'f, str> {
        let (step, mark) = (field.text.split_last().1, self.find.tree.mark(object));
        if step.starts_with(mark) { Cow::Borrowed(step) } else { Cow::Owned(joined(&[mark, step])) }
    }

    /// The object that the text goes into: of what cannot be written into, the object around it or that of the span.
    fn text_object(&mut self, field: &Field, element: Element<'_>, ids: &Located<'_>) -> Result<Place, Box<Refusal>> {
        let above = field.text.split_last().0;
        let mut object = None;
        if above.is_empty() {
            object = element.map(|(place, _)| place).or(self.view.whole.as_ref()).cloned();
        } else {
            for (start, steps, is_bare) in self.find.starts(element, above, true).into_iter().flatten() {
                // The text stays with the ids: a body that is itself the output takes it, even if it has an `output`.
                if object.is_none() && (is_bare || !ids.is_bare) {
                    let found = self.find.walk(start.node, steps).first().copied();
                    object = found.map(|found| Place { node: found.node, path: format!("{}{steps}", start.path) });
                }
            }
        }
        // A text that stands in the other record of the span is not written again here.
        let mut object = object.or_else(|| self.elsewhere_text(field));
        if object.as_ref().is_some_and(|object| Unfolded::is_folded(object.node)) {
            let flattened = self.view.flattened.first().map(|flattened| &flattened.object);
            object = flattened.or(self.view.whole.as_ref()).cloned();
        }
        let Some(object) = object else {
            return Err(Refusal::new("no_text_place", format!("`{above}`, where the text would go, is not there")));
        };
        match self.find.tree.kind(object.node) {
            Kind::Object => Ok(object),
            other => {
                let what = format!("`{}`, where the text would go, is {}, not an object", object.path, other.name());
                Err(Refusal::new("no_text_place", what))
            }
        }
    }

    /// `element`: the one that the field is of, if it is of one.
    fn existing(
        &mut self,
        field: &Field,
        element: Option<Element<'_>>,
        object: NodeId,
        key: &str,
        in_rows: bool,
    ) -> Existing {
        let at_place = self.find.tree.member(object, key);
        if let Some(texts) = at_place.and_then(|node| self.texts(node, in_rows)) {
            return Existing::Text { texts, at_place: true };
        }
        for pointer in &field.existing {
            let located = element.and_then(|element| self.find.locate(element, pointer));
            if let Some(texts) = located.and_then(|located| self.texts(located.matches[0].node, in_rows)) {
                return Existing::Text { texts, at_place: false };
            }
        }
        match at_place.map(|node| self.find.tree.kind(node)) {
            None | Some(Kind::Null) => Existing::Nothing,
            Some(kind) => Existing::Other(kind),
        }
    }

    /// The content of a string; of a list of strings where there is a text for each row.
    fn texts(&mut self, node: NodeId, in_rows: bool) -> Option<Vec<Vec<u8>>> {
        let kind = self.find.tree.kind(node);
        let json = self.find.tree.json(node);
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

    /// The object in another record of the span that has the text of a field.
    fn elsewhere_text(&mut self, field: &Field) -> Option<Place> {
        let text = self.find.elsewhere(&field.text.text)?;
        let object = self.find.elsewhere(field.text.split_last().0)?;
        (self.find.tree.kind(text.node) == Kind::String).then_some(object)
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
