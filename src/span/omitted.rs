//! Lists that a span's fields hold are left out of its texts: ids and log-probabilities are most of what a training run logs, and
//! of what reading takes, memory that is new takes much. They are put back when a text is looked at.

use std::borrow::Cow;
use std::ops::Range;

use super::{Span, SpanField};
use crate::json::{are_same, decimal_into};
use crate::report::FieldKind;

/// A list of a field, and where it stands in the inputs or the output of its span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ListPlace {
    pub is_output: bool,
    /// Of the text, with the brackets.
    pub range: Range<usize>,
    /// Position of the field.
    pub field: usize,
    pub list: List,
}

/// Which list of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Ids,
    Logprobs,
}

/// A list that was left out: its brackets are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Omitted {
    is_output: bool,
    /// Where its items stood in the text as it is now.
    at: usize,
    field: usize,
    /// What stood between ids; none: log-probabilities, whose text the field has.
    between: Option<&'static str>,
}

impl Span {
    /// Leaves out lists that can be put back byte for byte, of those that were just read from these places. The others stay: rows,
    /// selections, and what is spelled otherwise.
    pub(crate) fn omit(&mut self, mut places: Vec<ListPlace>) {
        places.sort_by_key(|place| place.range.start);
        for is_output in [false, true] {
            let Some(text) = (if is_output { &self.output } else { &self.inputs }) else { continue };
            let (mut kept, mut from, mut omitted) = (Vec::new(), 0, Vec::new());
            for place in places.iter().filter(|place| place.is_output == is_output) {
                let between = self.fields.get(place.field).and_then(|field| kept_by(field, place, text));
                let Some(between) = between.filter(|_| place.range.start >= from) else { continue };
                kept.extend(text.get(from..=place.range.start));
                from = place.range.end - 1;
                let at = kept.iter().map(|piece: &&str| piece.len()).sum();
                omitted.push(Omitted { is_output, at, field: place.field, between });
            }
            if omitted.is_empty() {
                continue;
            }
            kept.extend(text.get(from..));
            let text = Some(kept.concat());
            if is_output {
                self.output = text
            } else {
                self.inputs = text
            }
            self.omitted.append(&mut omitted);
        }
    }

    /// The span with its whole texts, given the ids of a field by its position.
    pub(crate) fn whole<'i>(&self, ids: impl Fn(usize) -> &'i [u32]) -> Cow<'_, Span> {
        if self.omitted.is_empty() {
            return Cow::Borrowed(self);
        }
        let text = |is_output: bool| {
            let text = if is_output { self.output.as_deref() } else { self.inputs.as_deref() }?;
            let (mut whole, mut from) = (Vec::new(), 0);
            for Omitted { at, field, between, .. } in self.omitted.iter().filter(|one| one.is_output == is_output) {
                whole.extend_from_slice(text.get(from..*at).unwrap_or_default().as_bytes());
                from = *at;
                match between {
                    Some(between) => digits_into(ids(*field), between, &mut whole),
                    None => {
                        let items = self.fields.get(*field).and_then(|field| inside(field.logprobs.as_deref()?));
                        whole.extend_from_slice(items.unwrap_or_default().as_bytes());
                    }
                }
            }
            whole.extend_from_slice(text.get(from..).unwrap_or_default().as_bytes());
            String::from_utf8(whole).ok()
        };
        Cow::Owned(Span { inputs: text(false), output: text(true), omitted: Vec::new(), ..self.clone() })
    }
}

/// Whether a field has all of a list that stands at a place of a text; for ids what stands between them.
fn kept_by(field: &SpanField, place: &ListPlace, text: &str) -> Option<Option<&'static str>> {
    let list = text.get(place.range.clone())?;
    if field.rows.is_some() || field.segments.is_some() {
        return None;
    }
    match place.list {
        List::Ids => between(inside(list)?.as_bytes()).map(Some),
        List::Logprobs => {
            inside(list)?;
            (field.kind == FieldKind::Response
                && field.logprobs.as_ref().is_some_and(|held| are_same(held.as_bytes(), list.as_bytes())))
            .then_some(None)
        }
    }
}

/// The items of a list.
fn inside(list: &str) -> Option<&str> {
    list.strip_prefix('[')?.strip_suffix(']')
}

/// What stands between the items of a list of whole numbers, if its bytes are told by the numbers. It is JSON, so that no number begins
/// with a zero that could be left out, and two commas do not follow one another.
fn between(items: &[u8]) -> Option<&'static str> {
    let is_digit = |byte: u8| byte.wrapping_sub(b'0') < 10;
    // Without a way out of the loops, so that they take sixteen bytes a step.
    if items.iter().fold(true, |are, &byte| are & (is_digit(byte) | (byte == b','))) {
        return Some(",");
    }
    // A space follows each comma, and nothing else.
    let first = items.first().is_some_and(|&byte| is_digit(byte));
    let rest = items.get(1..).unwrap_or_default();
    let are_spaced = items.iter().zip(rest).fold(first, |are, (&before, &byte)| {
        are & (is_digit(byte) | (byte == b',') | (byte == b' ')) & ((before == b',') == (byte == b' '))
    });
    are_spaced.then_some(", ")
}

fn digits_into(ids: &[u32], between: &str, out: &mut Vec<u8>) {
    for (at, &id) in ids.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(between.as_bytes());
        }
        decimal_into(u64::from(id), out);
    }
}
