//! Finds the fields of one span by the layouts: where the ids are, what they are, where their text goes.

use super::join::{Part, join};
use super::pointer::value_steps;
use super::select::number;
use super::{Field, Layout, Pointer, Select, Step, escape_key, spell};
use crate::ids::{self, Ids, Refusal};
use crate::json::{items, unescape};
use crate::limits::Limits;
use crate::report::FieldKind;
use crate::view::{Kind, Names, NodeId, Place, Text, Tree, View};

/// A field that a layout found.
#[derive(Debug)]
pub(crate) struct Found<'l> {
    pub kind: FieldKind,
    pub layout: &'l str,
    /// Address of the ids.
    pub path: String,
    /// Number of the element that `each` found.
    pub index: Option<usize>,
    /// The selection, and the address of what it is made by.
    pub select: Option<(&'l Select, String)>,
    pub state: Result<Resolved, Box<Refusal>>,
    /// Masks and log-probabilities of an odd length: address and message.
    pub odd_lengths: Vec<(String, String)>,
    pub text_path: Option<String>,
}

/// Ids that can be decoded, and where their text goes.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub ids: Ids,
    pub object: NodeId,
    pub key: String,
    pub before: Option<String>,
    pub existing: Existing,
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
        match text {
            Text::One(one) => matches!(texts, [only] if only == one.as_bytes()),
            Text::Many(many) => {
                texts.len() == many.len() && texts.iter().zip(many).all(|(there, ours)| there == ours.as_bytes())
            }
        }
    }
}

/// Finds all fields of a span, layout by layout.
pub(crate) fn resolve<'l>(tree: &mut dyn Tree, view: &View, layouts: &'l [Layout], limits: &Limits) -> Vec<Found<'l>> {
    let mut resolver = Resolver {
        tree,
        view,
        limits,
        claimed: Names::default(),
        taken: Names::default(),
        found: Vec::new(),
        homeless: Vec::new(),
    };
    for layout in layouts {
        resolver.layout(layout);
    }
    let Resolver { mut found, homeless, claimed, .. } = resolver;
    // Ids without a place for their text are reported once, if no other layout had one.
    let mut reported = claimed;
    found.extend(homeless.into_iter().filter(|field| reported.insert(field.path.clone(), 0).is_none()));
    found
}

struct Resolver<'r, 'l> {
    tree: &'r mut dyn Tree,
    view: &'r View,
    limits: &'r Limits,
    /// Addresses of ids that some layout has dealt with.
    claimed: Names,
    /// Addresses of texts that some layout has dealt with.
    taken: Names,
    found: Vec<Found<'l>>,
    homeless: Vec<Found<'l>>,
}

/// Where the pointers of a field start.
struct Context {
    element: Option<Place>,
    index: Option<usize>,
}

/// What a pointer found: not null, in order.
struct Located {
    matches: Vec<Match>,
    path: String,
    /// Found from the root of a bare body.
    is_bare: bool,
}

#[derive(Clone)]
struct Match {
    node: NodeId,
    /// The object or list that holds the value.
    holder: Option<NodeId>,
    /// The element of the last `*`.
    element: Option<NodeId>,
    /// Address within the start, if asked for.
    path: String,
}

impl<'l> Resolver<'_, 'l> {
    fn layout(&mut self, layout: &'l Layout) {
        let whole_span = Context { element: None, index: None };
        let applies = layout
            .when
            .iter()
            .all(|alternatives| alternatives.iter().any(|pointer| self.locate(&whole_span, &pointer.steps).is_some()));
        if !applies {
            return;
        }
        let contexts = match &layout.each {
            None => vec![whole_span],
            Some(each) => self.elements(each),
        };
        for context in &contexts {
            for field in &layout.fields {
                self.field(layout, field, context);
            }
        }
    }

    fn elements(&mut self, each: &Pointer) -> Vec<Context> {
        let whole_span = Context { element: None, index: None };
        let mut starts = self.starts(&whole_span, &each.steps, false).into_iter();
        let Some(located) = starts.find_map(|start| self.walk(start, true)) else { return Vec::new() };
        let contexts = located
            .matches
            .into_iter()
            .enumerate()
            .map(|(i, found)| Context { element: Some(Place { node: found.node, path: found.path }), index: Some(i) });
        contexts.collect()
    }

    fn field(&mut self, layout: &'l Layout, field: &'l Field, context: &Context) {
        let candidates: Vec<(&Pointer, Located)> =
            field.ids.iter().filter_map(|pointer| Some((pointer, self.candidate(field, pointer, context)?))).collect();
        let Some((pointer, located)) = candidates.first() else { return };
        if self.claimed.contains_key(&located.path) {
            return;
        }
        let mut found = Found {
            kind: field.kind,
            layout: &layout.name,
            path: located.path.clone(),
            index: context.index,
            select: None,
            state: Err(Refusal::new("no_text_place", "")),
            odd_lengths: Vec::new(),
            text_path: None,
        };
        let (object, key, text_path) = match self.text_place(field, context, located) {
            Ok(place) => place,
            Err(refusal) => {
                found.state = Err(refusal);
                self.homeless.push(found);
                return;
            }
        };
        // The fields that this one stands for are dealt with too: they say the same, less well.
        self.claimed.extend(candidates.iter().map(|(_, located)| (located.path.clone(), located.matches[0].node)));
        if self.taken.insert(text_path.clone(), object).is_some() {
            return;
        }
        let parent_path = &text_path[..text_path.rfind('/').unwrap_or(0)];
        let before = member_on_the_way(parent_path, &located.path);
        found.state = self.ids(field, pointer, located, context, &mut found).and_then(|ids| {
            let existing = self.existing(field, context, object, &key, ids.rows.is_some());
            let holds_ids = format!("{}/", text_path);
            if matches!(existing, Existing::Other(Kind::Array | Kind::Object))
                && (located.path == text_path || located.path.starts_with(&holds_ids))
            {
                return Err(Refusal::new("no_text_place", format!("`{text_path}` holds the ids themselves")));
            }
            Ok(Resolved { ids, object, key, before, existing })
        });
        found.text_path = Some(text_path);
        self.found.push(found);
    }

    fn candidate(&mut self, field: &Field, pointer: &Pointer, context: &Context) -> Option<Located> {
        let mut located = self.locate(context, &pointer.steps)?;
        if !field.where_members.is_empty() {
            located.matches.retain(|found| found.holder.is_some_and(|holder| self.has_members(holder, field)));
        }
        (!located.matches.is_empty()).then_some(located)
    }

    fn has_members(&mut self, holder: NodeId, field: &Field) -> bool {
        field.where_members.iter().all(|(key, wanted)| {
            let Some(node) = self.tree.member(holder, key) else { return false };
            same_scalar(&self.tree.json(node), wanted)
        })
    }

    /// The ids of a field, joined and selected.
    fn ids(
        &mut self,
        field: &'l Field,
        pointer: &Pointer,
        located: &Located,
        context: &Context,
        found: &mut Found<'l>,
    ) -> Result<Ids, Box<Refusal>> {
        let all = if pointer.is_every() {
            let mut parts = Vec::with_capacity(located.matches.len());
            let mut room = self.limits.ids_per_field;
            for (i, found) in located.matches.iter().enumerate() {
                let ids = self
                    .read(found.node, pointer, room)
                    .map_err(|refusal| Refusal::new(refusal.reason, format!("element {i}: {}", refusal.detail)))?;
                room -= ids.ids.len();
                let ids = Ids { converted: ids.converted.filter(|&how| how != ids::Spelling::SingleInteger), ..ids };
                parts.push(Part { ids, group: self.group(field, found), parent: self.parent(found) });
            }
            join(parts, field.join, field.by.is_some())?
        } else {
            self.read(located.matches[0].node, pointer, self.limits.ids_per_field)?
        };
        let all_count = all.ids.len();
        let ids = match &field.select {
            None => all,
            Some(select) => {
                let Some(by) = self.locate(context, &select.pointer().steps) else {
                    let path = spell(&select.pointer().steps);
                    return Err(Refusal::new(
                        "bad_selection",
                        format!("`{path}`, which selects the ids, is not there"),
                    ));
                };
                found.select = Some((select, by.path.clone()));
                let json = self.tree.json(by.matches[0].node).into_owned();
                select.apply(&all, &json)?
            }
        };
        if ids.rows.is_none() {
            for (name, pointer) in [("mask", &field.mask), ("logprobs", &field.logprobs)] {
                let Some(located) = pointer.as_ref().and_then(|pointer| self.locate(context, &pointer.steps)) else {
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

    fn read(&mut self, node: NodeId, pointer: &Pointer, max: usize) -> Result<Ids, Box<Refusal>> {
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

    /// The object that the text goes into, its key, and its address.
    fn text_place(
        &mut self,
        field: &Field,
        context: &Context,
        ids: &Located,
    ) -> Result<(NodeId, String, String), Box<Refusal>> {
        let (key, above) = match field.text.steps.split_last() {
            Some((Step::Key(key), above)) => (key, above),
            _ => return Err(Refusal::new("no_text_place", "the layout names none")),
        };
        let place = if above.is_empty() {
            context.element.clone().or_else(|| self.view.beside_output.clone())
        } else {
            // The text stays with the ids: a body that is itself the output takes it, even if it has an `output`.
            let starts = self.starts(context, above, true).into_iter().filter(|start| start.is_bare || !ids.is_bare);
            let located = starts.collect::<Vec<_>>().into_iter().find_map(|start| self.walk(start, false));
            located.and_then(|located| Some(Place { node: located.matches.first()?.node, path: located.path }))
        };
        let wanted = spell(above);
        let Some(place) = place else {
            return Err(Refusal::new("no_text_place", format!("`{wanted}`, where the text would go, is not there")));
        };
        match self.tree.kind(place.node) {
            Kind::Object => Ok((place.node, key.clone(), format!("{}/{}", place.path, escape_key(key)))),
            other => {
                let detail = format!("`{}`, where the text would go, is {}, not an object", place.path, other.name());
                Err(Refusal::new("no_text_place", detail))
            }
        }
    }

    fn existing(&mut self, field: &Field, context: &Context, object: NodeId, key: &str, in_rows: bool) -> Existing {
        let at_place = self.tree.member(object, key);
        if let Some(texts) = at_place.and_then(|node| self.texts(node, in_rows)) {
            return Existing::Text { texts, at_place: true };
        }
        for pointer in &field.existing {
            let node = self
                .locate(context, &pointer.steps)
                .and_then(|located| located.matches.first().map(|found| found.node));
            if let Some(texts) = node.and_then(|node| self.texts(node, in_rows)) {
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
        let content = |json: &[u8]| {
            let is_string = json.len() >= 2 && json[0] == b'"';
            is_string.then(|| unescape(&json[1..json.len() - 1]).into_owned())
        };
        match kind {
            Kind::String => Some(vec![content(&json)?]),
            Kind::Array if in_rows => items(&json).map(content).collect(),
            _ => None,
        }
    }

    /// What a pointer finds, without nulls; nothing if that is nothing.
    fn locate(&mut self, context: &Context, steps: &[Step]) -> Option<Located> {
        self.starts(context, steps, false).into_iter().find_map(|start| self.walk(start, false))
    }

    /// Where the steps of a pointer start. A pointer under the output, or what such a pointer goes through
    /// (`is_parent`), may start from a bare body too.
    fn starts<'s>(&self, context: &Context, steps: &'s [Step], is_parent: bool) -> Vec<Start<'s>> {
        if let Some(element) = &context.element {
            return vec![Start { place: element.clone(), steps, is_bare: false }];
        }
        let Some((Step::Key(root), steps)) = steps.split_first() else { return Vec::new() };
        let place = match root.as_str() {
            "inputs" => &self.view.inputs,
            "output" => &self.view.output,
            "attributes" => &self.view.attributes,
            "events" => &self.view.events,
            _ => &None,
        };
        let start = |is_bare| move |place: &Place| Start { place: place.clone(), steps, is_bare };
        let mut starts: Vec<_> = place.iter().map(start(false)).collect();
        if root == "output" && (is_parent || !steps.is_empty()) {
            starts.extend(self.view.bare.iter().map(start(true)));
        }
        starts
    }

    fn walk(&mut self, start: Start<'_>, with_paths: bool) -> Option<Located> {
        let Start { place, steps, is_bare } = start;
        let mut matches = vec![Match { node: place.node, holder: None, element: None, path: String::new() }];
        for step in value_steps(steps) {
            let mut next = Vec::with_capacity(matches.len());
            for found in matches {
                self.step(&found, step, with_paths, &mut next);
            }
            matches = next;
        }
        matches.retain(|found| self.tree.kind(found.node) != Kind::Null);
        if with_paths {
            matches.iter_mut().for_each(|found| found.path.insert_str(0, &place.path));
        }
        let path = format!("{}{}", place.path, spell(steps));
        (!matches.is_empty()).then_some(Located { matches, path, is_bare })
    }

    fn step(&mut self, from: &Match, step: &Step, with_paths: bool, next: &mut Vec<Match>) {
        let path =
            |name: &dyn Fn() -> String| if with_paths { format!("{}/{}", from.path, name()) } else { String::new() };
        match step {
            Step::Key(key) => {
                let node = match self.tree.kind(from.node) {
                    Kind::Object => self.tree.member(from.node, key),
                    Kind::Array => key.parse().ok().and_then(|index| self.tree.element(from.node, index)),
                    _ => None,
                };
                let holder = Some(from.node);
                next.extend(node.map(|node| Match {
                    node,
                    holder,
                    element: from.element,
                    path: path(&|| escape_key(key)),
                }));
            }
            Step::Every => {
                for (i, node) in self.tree.elements(from.node).into_iter().enumerate() {
                    next.push(Match { node, holder: from.holder, element: Some(node), path: path(&|| i.to_string()) });
                }
            }
            Step::Json => {
                let node = self.tree.open_json(from.node);
                next.extend(node.map(|node| Match { node, path: path(&|| "!json".into()), ..from.clone() }));
            }
            // These are last steps, which `value_steps` leaves out.
            Step::Printed(_) | Step::Encoded(_) => {}
        }
    }
}

/// Where the steps of a pointer start, and whether that is the root of a bare body.
struct Start<'s> {
    place: Place,
    steps: &'s [Step],
    is_bare: bool,
}

/// The key of the member of the object at `object` that leads to `path`.
fn member_on_the_way(object: &str, path: &str) -> Option<String> {
    let rest = path.strip_prefix(object)?.strip_prefix('/')?;
    let key = rest.split('/').next()?;
    Some(key.replace("~1", "/").replace("~0", "~"))
}

/// Whether two JSON scalars are the same value.
fn same_scalar(left: &[u8], right: &[u8]) -> bool {
    let string = |json: &[u8]| {
        let inside = json.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(unescape(inside).into_owned())
    };
    match (string(left), string(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left == right || matches!((number(left), number(right)), (Some(l), Some(r)) if l == r),
        _ => false,
    }
}
