//! Layouts: data that says which fields of a span hold token ids, and where their text goes. The schema is in the
//! documentation of [`Layout`].

mod find;
mod join;
mod pointer;
mod resolve;
mod schema;
mod select;
mod sieve;
mod sources;
mod unfolded;

use crate::Error;
use crate::json::{Json, listed};
use crate::report::FieldKind;
use crate::view::Keys;

pub(crate) use pointer::{Pointer, unescape_key};
pub(crate) use resolve::{Existing, Found, Target, Wanted, resolve};
pub(crate) use select::Select;
pub(crate) use sieve::Sieve;
pub(crate) use sources::Source;

/// The layouts that ship, in the order in which they are tried: one that asks for more members before one that asks for
/// fewer of them. Without the spaces between values; none stands in a name or a pointer.
static BUILTIN: [u8; count_without_space(BUILTIN_FILE)] = without_space(BUILTIN_FILE);

const BUILTIN_FILE: &[u8] = include_bytes!("builtin.json");

const fn count_without_space(text: &[u8]) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        count += !text[at].is_ascii_whitespace() as usize;
        at += 1;
    }
    count
}

const fn without_space<const COUNT: usize>(text: &[u8]) -> [u8; COUNT] {
    let mut kept = [0; COUNT];
    let (mut count, mut at) = (0, 0);
    while at < text.len() {
        if !text[at].is_ascii_whitespace() {
            kept[count] = text[at];
            count += 1;
        }
        at += 1;
    }
    kept
}

/// Where one producer puts token ids, as read from JSON:
///
/// ```json
/// { "name": "verl",
///   "when": ["/output/response_ids"],
///   "fields": [
///     { "kind": "prompt", "ids": ["/output/prompt_ids", "/inputs/prompt_ids"], "text": "/output/prompt_text" },
///     { "kind": "response", "ids": ["/output/response_ids"], "text": "/output/response_text",
///       "mask": "/output/response_mask", "logprobs": "/output/response_logprobs" } ] }
/// ```
///
/// Pointers are JSON Pointers over `/inputs`, `/output`, `/attributes` and `/events` of a span, with the extra steps
/// `*` (every element), `!json`, `!repr`, `!numpy`, `!b64i32` and `!tokenid` (which finds only what is so spelled).
///
/// Inputs or an output that are flattened over dotted keys of the attributes (`output.choices.0.token_ids`) are found as if
/// they stood there. Into those, and into what `!repr` opens, nothing can be written: the text goes among the attributes,
/// or beside the output; of an `each` in them all texts together, as a list if there are several.
///
/// | member | meaning |
/// |---|---|
/// | `name` | shown in the report; several layouts may share one |
/// | `when` | all must be there and not null; of an inner list one |
/// | `each` | the fields' pointers are relative to each value this finds |
/// | `fields[].kind` | `"prompt"` or `"response"` |
/// | `fields[].ids` | the first that is there and not null; of `*`, all that are |
/// | `fields[].where` | members, with their values, of the object that holds the last key of the ids pointer |
/// | `fields[].select` | `{mask, value}`, `{mask, not}`, `{ranges, inside}` (pairs of start and end, end not included) or `{tail, inside}` (the last n ids, or all before them); with a mask, `length` may point to the number of ids that count, before padding |
/// | `fields[].join` | what to make of the lists that `*` finds: `"concat"`, `"last"`, `"auto"` (last if each list begins with the one before, else concat), `"parents"` (one text for each leaf, along the elements' `parent` index) |
/// | `fields[].by` | a member of the elements that groups them before they are joined |
/// | `fields[].text` | where the text goes: a member of an object that is there; of one step: beside the output |
/// | `fields[].existing` | where the producer may have put the text itself |
/// | `fields[].mask`, `fields[].logprobs` | lists as long as the ids, or as the selection; log-probabilities also as long as the ids that the mask has |
///
/// Layouts are tried in order, and the first that reads some ids has them. Where a later one would read them otherwise,
/// and does not merely ask for less in `when`, the report has the warning `ambiguous_layout`.
#[derive(Debug, Clone, PartialEq)]
pub struct Layout {
    pub(crate) name: String,
    pub(crate) when: Vec<Vec<Pointer>>,
    pub(crate) each: Option<Pointer>,
    pub(crate) fields: Vec<Field>,
}

impl Layout {
    /// Reads a layout, or a list of them, from JSON.
    ///
    /// # Errors
    /// `invalid_layout`: the text is not JSON, or does not follow the schema; the message says where and how.
    pub fn from_json(json: &[u8]) -> Result<Vec<Layout>, Error> {
        schema::read_text(json)
    }

    /// The layouts that ship with this crate.
    pub fn builtin() -> Vec<Layout> {
        // A test reads the file: an error here cannot reach a user.
        Layout::from_json(&BUILTIN).unwrap_or_default()
    }

    /// The name in the report.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of some layouts, for a message.
    pub(crate) fn names(layouts: &[Layout]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for layout in layouts {
            if !names.contains(&layout.name()) {
                names.push(layout.name());
            }
        }
        listed(&names, ", ")
    }

    /// Whether the layout may find ids in a span, as the keys there tell.
    pub(crate) fn may_apply(&self, keys: &Keys) -> bool {
        let may_be_there = |pointer: &Pointer| pointer.may_be_there(keys);
        self.when.iter().all(|alternatives| alternatives.iter().any(may_be_there))
            && self.each.as_ref().is_none_or(may_be_there)
            && (self.has_hidden_elements() || self.fields.iter().any(|field| field.ids.iter().any(may_be_there)))
    }

    /// Whether the elements of `each` are in a string, so that nothing is known of their keys.
    fn has_hidden_elements(&self) -> bool {
        self.each.as_ref().is_some_and(Pointer::enters_string)
    }

    /// Reads a layout of a JSON value; `place` says where it stands, for the message.
    pub(crate) fn from_value(json: &mut Json<'_>, node: u32, place: &str) -> Result<Layout, Error> {
        schema::read(json, node, place)
    }
}

/// One field of a [`Layout`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Field {
    pub kind: FieldKind,
    pub ids: Vec<Pointer>,
    /// Key and JSON text of the value.
    pub where_members: Vec<(String, Vec<u8>)>,
    pub select: Option<Select>,
    pub join: Join,
    pub by: Option<String>,
    pub text: Pointer,
    pub existing: Vec<Pointer>,
    pub mask: Option<Pointer>,
    pub logprobs: Option<Pointer>,
}

/// What becomes of the lists that `*` finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    Concat,
    Last,
    Auto,
    Parents,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_layouts_follow_the_schema() {
        let layouts = Layout::from_json(BUILTIN_FILE).unwrap();
        assert!(layouts.iter().any(|layout| layout.name() == "verl"));
        assert_eq!(Layout::builtin(), layouts);
    }
}
