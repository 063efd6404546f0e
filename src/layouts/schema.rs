//! Reads layouts from JSON, and says of each mistake where it is and what would be right.

use super::pointer::{is_key, split_first, steps};
use super::select::Rule;
use super::{Field, Join, Layout, Pointer, Select};
use crate::json::{Json, Object, parse};
use crate::report::FieldKind;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

const ROOTS: [&str; 4] = ["inputs", "output", "attributes", "events"];

/// Reads the text of a layout or of a list of them.
pub(super) fn read_text(text: &[u8]) -> Result<Vec<Layout>, Error> {
    let mut json = parse(text, "layout", ErrorCode::InvalidLayout)?;
    if json.kind(Json::ROOT) != Kind::Array {
        return Ok(vec![read(&mut json, Json::ROOT, "layout")?]);
    }
    let mut layouts = Vec::new();
    for (i, node) in json.elements(Json::ROOT).into_iter().enumerate() {
        layouts.push(read(&mut json, node, &format!("layout {i}"))?);
    }
    Ok(layouts)
}

/// Reads one layout; `place` says which, for the message.
pub(super) fn read(json: &mut Json<'_>, node: NodeId, place: &str) -> Result<Layout, Error> {
    let mut object = Object::open(json, node, place, ErrorCode::InvalidLayout);
    object.done(&["name", "when", "each", "fields"]);
    let name = object.string("name").unwrap_or_else(|| {
        object.fail("`name` is missing");
        String::new()
    });
    object.place.push_str(&format!(" (`{name}`)"));
    let each = object.pointer("each", true);
    let when = object.when();
    let nodes = object.list("fields");
    match &nodes {
        None => object.fail("`fields` is missing"),
        Some(nodes) if nodes.is_empty() => object.fail("`fields` is empty"),
        Some(_) => {}
    }
    let mut fields = Vec::new();
    for (i, node) in nodes.into_iter().flatten().enumerate() {
        let outer = object.enter(node, &format!(", fields[{i}]"));
        fields.push(object.field(each.is_none()));
        object.leave(outer);
    }
    object.finish()?;
    Ok(Layout { name, when, each, fields })
}

/// What a layout's objects hold besides plain values. Pointers start in the span (`in_span`: their first step is one
/// of [`ROOTS`]) or in a value that `each` found.
impl Object<'_, '_> {
    fn field(&mut self, in_span: bool) -> Field {
        self.done(&["kind", "ids", "where", "select", "join", "by", "text", "existing", "mask", "logprobs"]);
        let kind = self.choice("kind", &["prompt", "response"]);
        if kind.is_none() {
            self.fail("`kind` is missing: `prompt` or `response`");
        }
        let join = self.choice("join", &["concat", "last", "auto", "parents"]);
        let field = Field {
            kind: if kind == Some(0) { FieldKind::Prompt } else { FieldKind::Response },
            ids: self.pointers("ids", in_span),
            where_members: self.where_members(),
            select: self.select(in_span),
            join: [Join::Concat, Join::Last, Join::Auto, Join::Parents][join.unwrap_or(0)],
            by: self.string("by"),
            text: self.text(in_span),
            existing: self.pointers("existing", in_span),
            mask: self.pointer("mask", in_span),
            logprobs: self.pointer("logprobs", in_span),
        };
        if field.ids.is_empty() {
            self.fail("`ids` needs at least one pointer");
        }
        if (join.is_some() || field.by.is_some()) && !field.ids.iter().any(Pointer::is_every) {
            self.fail("`join` and `by` need a `*` in `ids`: they say what becomes of its elements");
        }
        field
    }

    fn parse(&mut self, key: &str, node: NodeId, in_span: bool) -> Pointer {
        let Some(text) = self.json.str(node) else {
            self.wrong(key, "a pointer", node);
            return Pointer::default();
        };
        let root = split_first(&text).unwrap_or_default().0;
        match Pointer::parse(&text, in_span) {
            Err(what) => self.fail(&format!("`{key}`: {what}")),
            Ok(_) if in_span && !ROOTS.contains(&root) => {
                self.fail(&format!("`{key}`: `{text}` must start with /inputs, /output, /attributes or /events"));
            }
            Ok(pointer) => return pointer,
        }
        Pointer::default()
    }

    fn pointer(&mut self, key: &str, in_span: bool) -> Option<Pointer> {
        let node = self.member(key)?;
        Some(self.parse(key, node, in_span))
    }

    /// A list of pointers; one alone may stand without its list.
    fn pointers(&mut self, key: &str, in_span: bool) -> Vec<Pointer> {
        let Some(node) = self.member(key) else { return Vec::new() };
        self.alternatives(key, node, in_span)
    }

    fn alternatives(&mut self, key: &str, node: NodeId, in_span: bool) -> Vec<Pointer> {
        let nodes = match self.json.kind(node) {
            Kind::Array => self.json.elements(node),
            _ => vec![node],
        };
        let mut pointers = Vec::new();
        for node in nodes {
            pointers.push(self.parse(key, node, in_span));
        }
        pointers
    }

    fn when(&mut self) -> Vec<Vec<Pointer>> {
        let Some(conditions) = self.list("when") else {
            self.fail("`when` is missing: pointers that must be there for the layout to apply");
            return Vec::new();
        };
        let mut when = Vec::new();
        for node in conditions {
            let alternatives = self.alternatives("when", node, true);
            if alternatives.is_empty() {
                self.fail("`when` has an empty list of alternatives, which can never hold");
            }
            when.push(alternatives);
        }
        when
    }

    fn text(&mut self, in_span: bool) -> Pointer {
        let Some(node) = self.member("text") else {
            self.fail("`text` is missing: where the text goes");
            return Pointer::default();
        };
        let mut pointer = self.parse("text", node, false);
        // Of one step it names a member beside the output, so its first step is free.
        if !pointer.split_last().0.is_empty() {
            pointer = self.parse("text", node, in_span);
        }
        let (above, last) = pointer.split_last();
        if !is_key(last) || !steps(above).all(|step| is_key(step) || step == "!json") {
            self.fail("`text` must be keys, and `!json`, that end in a key");
        }
        pointer
    }

    fn where_members(&mut self) -> Vec<(String, Vec<u8>)> {
        let mut wanted = Vec::new();
        let Some(node) = self.member("where") else { return wanted };
        if self.json.kind(node) != Kind::Object {
            self.wrong("where", "an object", node);
        }
        let members: Vec<_> = self.json.pairs(node).collect();
        for (key, value) in members {
            if matches!(self.json.kind(value), Kind::Array | Kind::Object) {
                self.wrong("where", "an object of strings, numbers, booleans or nulls", value);
            }
            wanted.push((self.json.str(key).unwrap_or_default(), self.json.raw(value).to_vec()));
        }
        wanted
    }

    fn select(&mut self, in_span: bool) -> Option<Select> {
        let node = self.member("select")?;
        let outer = self.enter(node, ", select");
        let by = ["mask", "ranges", "tail"].map(|key| self.pointer(key, in_span));
        let rule = match &by {
            [Some(_), None, None] => {
                self.done(&["mask", "value", "not", "length"]);
                match (self.number("value"), self.number("not")) {
                    (Some(wanted), None) => Rule::Mask { wanted, equal: true },
                    (None, Some(wanted)) => Rule::Mask { wanted, equal: false },
                    _ => {
                        self.fail("a mask needs one of `value` and `not`");
                        Rule::Mask { wanted: 0.0, equal: true }
                    }
                }
            }
            [None, Some(_), None] => Rule::Ranges { inside: self.inside("ranges") },
            [None, None, Some(_)] => Rule::Tail { inside: self.inside("tail") },
            _ => {
                self.fail("one of `mask`, `ranges` and `tail` is needed");
                Rule::Tail { inside: true }
            }
        };
        let length = self.pointer("length", in_span);
        self.leave(outer);
        let pointer = by.into_iter().flatten().next()?;
        Some(Select { pointer, rule, length })
    }

    /// A number; true counts as 1, false as 0.
    fn number(&mut self, key: &str) -> Option<f64> {
        let node = self.member(key)?;
        let number = super::select::number(self.json.raw(node));
        if number.is_none() {
            self.wrong(key, "a number or a boolean", node);
        }
        number
    }

    fn inside(&mut self, by: &str) -> bool {
        self.done(&[by, "inside"]);
        self.boolean("inside").unwrap_or_else(|| {
            self.fail("`inside` is missing: true or false");
            false
        })
    }
}
