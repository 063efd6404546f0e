//! Numbers that stand beside the ids of a call, one for each token: log-probabilities, and whatever else a trace has of that
//! length: entropies, advantages, values, ratios.

use super::calls::Call;
use super::check::Rollouts;
use super::lists::numbers;
use super::rollouts::Node;
use crate::json::{Json, items};
use crate::span::{Span, SpanField};
use crate::view::{Kind, NodeId, Tree};

/// Numbers for the tokens of a call.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Numbers {
    /// `logprobs` for the log-probabilities that the layout finds. Else the key of the list, with the key of the object around it
    /// if there are two alike.
    pub name: String,
    /// For each id of the call its number, NaN where it has none.
    pub values: Vec<f64>,
}

/// A shorter list is by chance as long as the ids.
const SHORTEST: usize = 4;
/// No call has more of them.
const MOST: usize = 64;
/// Lists are not looked for deeper inside of each other, nor in strings in strings.
const DEEPEST: usize = 64;
/// Inputs are not nested deeper than bodies may be.
const MAX_DEPTH: usize = 1024;
/// Ends of the keys of lists that are not measured at a token: they say what it is, where it is, or whether it counts.
const NO_NUMBERS: [&str; 5] = ["ids", "tokens", "mask", "masks", "labels"];
/// Beginnings of the keys of lists that belong to the prompt, should it be as long as the response.
const OF_PROMPT: [&str; 2] = ["prompt", "input"];

impl Rollouts {
    /// The numbers that stand beside the ids of each call of a rollout of the list, in the order of its nodes: the log-probabilities
    /// of its fields, and every list of numbers in the inputs, the output or the attributes of its span that is as long as the
    /// response, the prompt or both, and holds no ids and no mask. Of a list of lists, and of a list of choices, those with the
    /// call's index.
    ///
    /// ```
    /// use token2text::rollout::{CheckOptions, Rollouts};
    /// use token2text::{ReadOptions, TokenizerSet, read};
    ///
    /// let body = br#"{"output": {"prompt_ids": [1], "response_ids": [2, 3, 4, 5], "entropy": [0.5, null, 0.25, 2]}}"#;
    /// let spans = read(body, &ReadOptions::default())?;
    /// let rollouts = Rollouts::new(spans, TokenizerSet::new(), CheckOptions::default())?;
    /// let entropy = &rollouts.numbers(0)[0][0];
    /// assert_eq!((entropy.name.as_str(), &entropy.values[3..]), ("entropy", [0.25, 2.0].as_slice()));
    /// assert!(entropy.values[0].is_nan() && entropy.values[2].is_nan());
    /// # Ok::<(), token2text::Error>(())
    /// ```
    pub fn numbers(&self, at: usize) -> Vec<Vec<Numbers>> {
        let Some(rollout) = self.list.get(at) else { return Vec::new() };
        let of_node = |node: &Node| {
            let call = self.call(node.call)?;
            Some(of_call(&call, self.spans.get(call.span)?))
        };
        rollout.nodes.iter().map(|node| of_node(node).unwrap_or_default()).collect()
    }
}

fn of_call(call: &Call, span: &Span) -> Vec<Numbers> {
    let mut finder = Finder { call, span, picked: picked(call, span), found: Vec::new() };
    if let Some(logprobs) = &call.logprobs {
        let mut values = vec![f64::NAN; call.prompt];
        values.extend(logprobs);
        finder.found.push(Found { key: "logprobs".to_owned(), parent: String::new(), values });
    }
    for text in [&span.output, &span.attributes, &span.inputs].into_iter().flatten() {
        if let Ok(mut json) = Json::parse(text.as_bytes(), MAX_DEPTH) {
            finder.look_into(&mut json, Json::ROOT, &Place::default());
        }
    }
    named(finder.found)
}

/// Where in a span a list stands.
#[derive(Clone, Copy, Default)]
struct Place<'k> {
    key: &'k str,
    /// The key of the object around.
    parent: &'k str,
    /// Number of the element of the innermost list around.
    index: Option<usize>,
    depth: usize,
}

struct Found {
    key: String,
    parent: String,
    values: Vec<f64>,
}

struct Finder<'c> {
    call: &'c Call,
    span: &'c Span,
    /// If the ids are parts of a list: how long that is, and which.
    picked: Option<(usize, Vec<usize>)>,
    found: Vec<Found>,
}

impl Finder<'_> {
    fn look_into(&mut self, json: &mut Json<'_>, node: NodeId, place: &Place<'_>) {
        let depth = place.depth + 1;
        if depth > DEEPEST || self.found.len() >= MOST {
            return;
        }
        match json.kind(node) {
            Kind::Object => {
                for (key, value) in json.members(node) {
                    let inside = Place { key: &key, parent: place.key, depth, ..*place };
                    self.look_into(json, value, &inside);
                }
            }
            Kind::String if is_json(json.raw(node)) => {
                if let Some(inside) = json.open_json(node) {
                    self.look_into(json, inside, &Place { depth, ..*place });
                }
            }
            Kind::Array if self.is_list(json.raw(node), place) => {}
            Kind::Array => {
                let holds_more =
                    |json: &Json<'_>, node| matches!(json.kind(node), Kind::Object | Kind::Array | Kind::String);
                for (index, element) in json.nodes_in(node).into_iter().enumerate() {
                    if holds_more(json, element) {
                        self.look_into(json, element, &Place { index: Some(index), depth, ..*place });
                    }
                }
            }
            _ => {}
        }
    }

    /// Takes in a list of numbers, or of such lists; false for another.
    fn is_list(&mut self, list: &[u8], place: &Place<'_>) -> bool {
        let rows = items(list).all(|item| item.starts_with(b"[") && items(item).all(is_number));
        if !rows && !items(list).all(is_number) {
            return false;
        }
        if NO_NUMBERS.iter().any(|end| place.key.ends_with(end)) {
            return true;
        }
        let index = self.call.index;
        let values = match (rows, index) {
            (false, Some(wanted)) if place.index.is_some_and(|index| index != wanted) => return true,
            (false, _) => numbers(list),
            (true, Some(wanted)) => items(list).nth(wanted).map_or(Vec::new(), numbers),
            // The turns of one answer, or a batch of one.
            (true, None) => items(list).flat_map(numbers).collect(),
        };
        if let Some(values) = self.placed(values, place.key)
            && !self.is_known(&values, place)
        {
            self.found.push(Found { key: place.key.to_owned(), parent: place.parent.to_owned(), values });
        }
        true
    }

    /// The numbers for all ids of the call, if they are as many as those of a part of it.
    fn placed(&self, numbers: Vec<f64>, key: &str) -> Option<Vec<f64>> {
        let (len, all, prompt) = (numbers.len(), self.call.ids.len(), self.call.prompt);
        if len < SHORTEST || self.are_ids(&numbers) || self.are_mask(&numbers) || numbers.iter().all(|one| one.is_nan())
        {
            return None;
        }
        let is_of_prompt =
            len == prompt && (len + prompt != all || OF_PROMPT.iter().any(|start| key.starts_with(start)));
        let start = match len {
            _ if len == all || is_of_prompt => 0,
            _ if len + prompt == all => prompt,
            _ => {
                let (_, picked) = self.picked.as_ref().filter(|(whole, _)| *whole == len)?;
                return picked.iter().map(|&at| numbers.get(at).copied()).collect();
            }
        };
        let mut values = vec![f64::NAN; all];
        values.get_mut(start..start + len)?.copy_from_slice(&numbers);
        Some(values)
    }

    /// Whether they are ids: those of the call, or of a field of the span.
    fn are_ids(&self, numbers: &[f64]) -> bool {
        let are = |ids: &[u32]| {
            ids.len() == numbers.len() && ids.iter().zip(numbers).all(|(&id, &number)| f64::from(id) == number)
        };
        let own = [self.call.ids.as_slice(), self.call.prompt_ids(), self.call.response_ids()];
        own.into_iter().any(are) || self.span.fields.iter().any(|field| are(&field.ids))
    }

    fn are_mask(&self, numbers: &[f64]) -> bool {
        let Some(mask) = &self.call.mask else { return false };
        let behind = numbers.get(numbers.len().saturating_sub(mask.len())..).unwrap_or_default();
        behind.len() == mask.len()
            && behind.iter().zip(mask).all(|(&one, &is_model)| one == f64::from(u8::from(is_model)))
    }

    /// Whether the same numbers are there already: under the same key, or as log-probabilities, which may be 0 where there
    /// are none.
    fn is_known(&self, values: &[f64], place: &Place<'_>) -> bool {
        let is_same = |known: &Found, is_filled: bool| {
            known
                .values
                .iter()
                .zip(values)
                .all(|(&one, &other)| one == other || one.is_nan() && (other.is_nan() || is_filled && other == 0.0))
        };
        let logprobs = self.found.first().filter(|_| self.call.logprobs.is_some());
        logprobs.is_some_and(|known| is_same(known, true))
            || self.found.iter().any(|known| known.key == place.key && is_same(known, false))
    }
}

/// Gives each a name of its own: its key, with the key around it where several have the same.
fn named(found: Vec<Found>) -> Vec<Numbers> {
    let mut named: Vec<Numbers> = Vec::with_capacity(found.len());
    for at in 0..found.len() {
        let Found { key, parent, .. } = &found[at];
        let is_alone = found.iter().filter(|other| other.key == *key).count() == 1;
        let first = if is_alone { key.clone() } else { format!("{parent}.{key}") };
        let (mut name, mut count) = (first.clone(), 1);
        while named.iter().any(|known| known.name == name) {
            count += 1;
            name = format!("{first} {count}");
        }
        named.push(Numbers { name, values: Vec::new() });
    }
    for (named, found) in named.iter_mut().zip(found) {
        named.values = found.values;
    }
    named
}

/// Where in a list the ids of a call stand that were picked out of it by a mask, which says how long the list is.
fn picked(call: &Call, span: &Span) -> Option<(usize, Vec<usize>)> {
    let is_picked = |field: &&SpanField| field.segments.is_some() && field.rows.is_none();
    let fields: Vec<&SpanField> = span.fields.iter().filter(is_picked).collect();
    let mask = fields.iter().find_map(|field| field.mask.as_deref())?;
    let mut is_picked = vec![false; items(mask.as_bytes()).count()];
    for &[start, end] in fields.iter().filter_map(|field| field.segments.as_ref()).flatten() {
        is_picked.get_mut(start..end)?.fill(true);
    }
    let picked: Vec<usize> = (0..is_picked.len()).filter(|&at| is_picked[at]).collect();
    (picked.len() == call.ids.len()).then_some((is_picked.len(), picked))
}

/// Whether a string may hold a list or an object.
fn is_json(string: &[u8]) -> bool {
    string.get(1..).unwrap_or_default().trim_ascii_start().first().is_some_and(|byte| matches!(byte, b'[' | b'{'))
}

/// Whether an item of a list is a number, or says that there is none.
fn is_number(item: &[u8]) -> bool {
    matches!(item, [b'-' | b'0'..=b'9' | b'N' | b'I', ..] | b"null")
}
