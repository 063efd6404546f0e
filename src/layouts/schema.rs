//! Reads layouts from JSON, and says of each mistake where it is and what would be right.

use super::{Field, Join, Layout, Pointer, Select, Step};
use crate::json::{Json, Object};
use crate::report::FieldKind;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

const ROOTS: [&str; 4] = ["inputs", "output", "attributes", "events"];

fn error(place: &str, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidLayout, format!("{place}: {what}"))
}

/// Reads the text of a layout or of a list of them.
pub(super) fn read_text(text: &[u8]) -> Result<Vec<Layout>, Error> {
    let mut json = Json::parse(text, 64)
        .map_err(|scan| error("layout", format!("not JSON: {} at byte {}", scan.what, scan.at)))?;
    match json.kind(Json::ROOT) {
        Kind::Array => {
            let layouts = json.elements(Json::ROOT);
            layouts.into_iter().enumerate().map(|(i, node)| read(&mut json, node, &format!("layout {i}"))).collect()
        }
        _ => Ok(vec![read(&mut json, Json::ROOT, "layout")?]),
    }
}

/// Reads one layout; `place` says which, for the message.
pub(super) fn read(json: &mut Json<'_>, node: NodeId, place: &str) -> Result<Layout, Error> {
    let mut layout = Layout::default();
    read_into(json, node, place, &mut layout)?;
    Ok(layout)
}

// Layouts and fields are filled in place: that leaves one thing to drop where a mistake ends the reading, not one for
// each member.
fn read_into(json: &mut Json<'_>, node: NodeId, place: &str, layout: &mut Layout) -> Result<(), Error> {
    let mut object = Object::open(json, node, place, ErrorCode::InvalidLayout)?;
    object.done(&["name", "when", "each", "fields"])?;
    layout.name = object.string("name")?.ok_or_else(|| object.error("`name` is missing"))?;
    let place = format!("{place} (`{}`)", layout.name);
    object.place.clone_from(&place);
    layout.each = object.pointer("each", Scope::View)?;
    object.when(&mut layout.when)?;
    let scope = if layout.each.is_some() { Scope::Element } else { Scope::View };
    let fields = object.list("fields")?.ok_or_else(|| object.error("`fields` is missing"))?;
    if fields.is_empty() {
        return Err(object.error("`fields` is empty"));
    }
    for (i, node) in fields.into_iter().enumerate() {
        layout.fields.push(Field::default());
        if let Some(last) = layout.fields.last_mut() {
            field(json, node, &format!("{place}, fields[{i}]"), scope, last)?;
        }
    }
    Ok(())
}

fn field(json: &mut Json<'_>, node: NodeId, place: &str, scope: Scope, field: &mut Field) -> Result<(), Error> {
    let mut object = Object::open(json, node, place, ErrorCode::InvalidLayout)?;
    object.done(&["kind", "ids", "where", "select", "join", "by", "text", "existing", "mask", "logprobs"])?;
    field.kind = object
        .choice("kind", &[("prompt", FieldKind::Prompt), ("response", FieldKind::Response)])?
        .ok_or_else(|| object.error("`kind` is missing: `prompt` or `response`"))?;
    object.pointers("ids", scope, &mut field.ids)?;
    if field.ids.is_empty() {
        return Err(object.error("`ids` needs at least one pointer"));
    }
    field.text = object.text_pointer(scope)?;
    let joins = [("concat", Join::Concat), ("last", Join::Last), ("auto", Join::Auto), ("parents", Join::Parents)];
    let join = object.choice("join", &joins)?;
    field.by = object.string("by")?;
    if (join.is_some() || field.by.is_some()) && !field.ids.iter().any(Pointer::is_every) {
        return Err(object.error("`join` and `by` need a `*` in `ids`: they say what becomes of its elements"));
    }
    field.join = join.unwrap_or_default();
    object.where_members(&mut field.where_members)?;
    object.pointers("existing", scope, &mut field.existing)?;
    field.mask = object.pointer("mask", scope)?;
    field.logprobs = object.pointer("logprobs", scope)?;
    field.select = object.select(scope)?;
    Ok(())
}

/// What a pointer starts from.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// The span: the first step is one of [`ROOTS`].
    View,
    /// A value that `each` found.
    Element,
}

/// What a layout's objects hold besides plain values.
impl Object<'_, '_> {
    fn parse(&self, key: &str, node: NodeId, scope: Scope) -> Result<Pointer, Error> {
        let Some(text) = self.json.str(node) else { return self.wrong(key, "a pointer", node) };
        let pointer = Pointer::parse(&text).map_err(|what| self.error(format!("`{key}`: {what}")))?;
        match pointer.steps.first() {
            Some(Step::Key(root)) if scope == Scope::View && !ROOTS.contains(&root.as_str()) => {
                Err(self.error(format!("`{key}`: `{text}` must start with /inputs, /output, /attributes or /events")))
            }
            Some(Step::Key(_)) => Ok(pointer),
            _ if scope == Scope::Element => Ok(pointer),
            _ => Err(self.error(format!("`{key}`: `{text}` must start with a key"))),
        }
    }

    fn pointer(&mut self, key: &str, scope: Scope) -> Result<Option<Pointer>, Error> {
        match self.member(key) {
            Some(node) => self.parse(key, node, scope).map(Some),
            None => Ok(None),
        }
    }

    /// A list of pointers; one alone may stand without its list.
    fn pointers(&mut self, key: &str, scope: Scope, into: &mut Vec<Pointer>) -> Result<(), Error> {
        let Some(node) = self.member(key) else { return Ok(()) };
        let nodes = match self.json.kind(node) {
            Kind::Array => self.json.elements(node),
            Kind::String => vec![node],
            _ => return self.wrong(key, "a list of pointers", node),
        };
        for node in nodes {
            into.push(self.parse(key, node, scope)?);
        }
        Ok(())
    }

    fn when(&mut self, into: &mut Vec<Vec<Pointer>>) -> Result<(), Error> {
        let Some(conditions) = self.list("when")? else {
            return Err(self.error("`when` is missing: pointers that must be there for the layout to apply"));
        };
        for node in conditions {
            let alternatives = match self.json.kind(node) {
                Kind::Array => self.json.elements(node),
                _ => vec![node],
            };
            if alternatives.is_empty() {
                return Err(self.error("`when` has an empty list of alternatives, which can never hold"));
            }
            let mut pointers = Vec::new();
            for node in alternatives {
                pointers.push(self.parse("when", node, Scope::View)?);
            }
            into.push(pointers);
        }
        Ok(())
    }

    fn text_pointer(&mut self, scope: Scope) -> Result<Pointer, Error> {
        let Some(node) = self.member("text") else {
            return Err(self.error("`text` is missing: where the text goes"));
        };
        // Of one step it names a member beside the output, so its first step is free.
        let one_step = Pointer { steps: self.parse("text", node, Scope::Element)?.steps };
        if one_step.steps.len() > 1 {
            self.parse("text", node, scope)?;
        }
        match one_step.steps.split_last() {
            Some((Step::Key(_), above)) if above.iter().all(|step| matches!(step, Step::Key(_) | Step::Json)) => {
                Ok(one_step)
            }
            _ => Err(self.error("`text` must be keys, and `!json`, that end in a key")),
        }
    }

    fn where_members(&mut self, into: &mut Vec<(String, Vec<u8>)>) -> Result<(), Error> {
        let Some(node) = self.member("where") else { return Ok(()) };
        if self.json.kind(node) != Kind::Object {
            return self.wrong("where", "an object", node);
        }
        let members: Vec<_> = self.json.members(node).collect();
        for (key, value) in members {
            if matches!(self.json.kind(value), Kind::Array | Kind::Object) {
                return self.wrong("where", "an object of strings, numbers, booleans or nulls", value);
            }
            into.push((self.json.str(key).unwrap_or_default(), self.json.raw(value).to_vec()));
        }
        Ok(())
    }

    fn select(&mut self, scope: Scope) -> Result<Option<Select>, Error> {
        let Some(node) = self.member("select") else { return Ok(None) };
        let mut object = Object::open(self.json, node, &format!("{}, select", self.place), ErrorCode::InvalidLayout)?;
        let mask = object.pointer("mask", scope)?;
        let ranges = object.pointer("ranges", scope)?;
        let tail = object.pointer("tail", scope)?;
        let select = match (mask, ranges, tail) {
            (Some(mask), None, None) => {
                object.done(&["mask", "value", "not"])?;
                let (wanted, equal) = match (object.number("value")?, object.number("not")?) {
                    (Some(value), None) => (value, true),
                    (None, Some(not)) => (not, false),
                    _ => return Err(object.error("a mask needs one of `value` and `not`")),
                };
                Select::Mask { mask, wanted, equal }
            }
            (None, Some(ranges), None) => {
                object.done(&["ranges", "inside"])?;
                Select::Ranges { ranges, inside: object.inside()? }
            }
            (None, None, Some(tail)) => {
                object.done(&["tail", "inside"])?;
                Select::Tail { tail, inside: object.inside()? }
            }
            _ => return Err(object.error("one of `mask`, `ranges` and `tail` is needed")),
        };
        Ok(Some(select))
    }

    /// A number; true counts as 1, false as 0.
    fn number(&mut self, key: &str) -> Result<Option<f64>, Error> {
        let Some(node) = self.member(key) else { return Ok(None) };
        match super::select::number(self.json.raw(node)) {
            Some(number) => Ok(Some(number)),
            None => self.wrong(key, "a number or a boolean", node),
        }
    }

    fn inside(&mut self) -> Result<bool, Error> {
        self.boolean("inside")?.ok_or_else(|| self.error("`inside` is missing: true or false"))
    }
}
