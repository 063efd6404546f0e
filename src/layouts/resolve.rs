//! Finds the fields of one span by the layouts: where the ids are, what they are, where their text goes.

mod beside;
mod text;

use std::borrow::Cow;

use super::find::{Element, Finder, Located};
use super::join::{Part, join};
use super::pointer::{split_first, unescape_key};
use super::select::{Segment, number};
use super::sources::Source;
use super::unfolded::Unfolded;
use super::{Field, Join, Layout, Pointer};
use crate::ids::{self, Ids, Refusal};
use crate::json::{joined, string_content};
use crate::limits::Limits;
use crate::report::{FieldReport, Warning};
use crate::view::{Kind, Names, NodeId, Place, Tree, View};

pub(crate) use beside::Wanted;
pub(crate) use text::Existing;

use beside::{Lists, TakeLists};

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
    /// Where the ids and the log-probabilities stand, if they are one value each.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub nodes: [Option<NodeId>; 2],
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
        Ok(Target {
            ids,
            object,
            key,
            before,
            existing,
            of,
            segments,
            sources,
            lists,
            #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
            nodes: self.nodes(field, element, located),
        })
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
}

/// Whether two JSON scalars are the same value.
fn same_scalar(left: &[u8], right: &[u8]) -> bool {
    match (string_content(left), string_content(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left == right || matches!((number(left), number(right)), (Some(l), Some(r)) if l == r),
        _ => false,
    }
}
