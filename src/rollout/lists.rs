//! What stands beside ids, out of JSON text: masks and log-probabilities, row by row as the ids.

use super::calls::Misfit;
use crate::json::{items, number_end, skip_space};
use crate::span::SpanField;

/// A run of ids with the lists that stand beside it.
#[derive(Debug, Clone, Default)]
pub(super) struct Piece {
    pub ids: Vec<u32>,
    pub mask: Option<Vec<bool>>,
    pub logprobs: Option<Vec<f64>>,
    /// Where another piece begins, of those that were joined.
    pub breaks: Vec<usize>,
    pub misfits: Vec<Misfit>,
}

/// The value of labels where the model wrote nothing.
const MASKED_LABEL: f64 = -100.0;

/// The pieces of a field: one for each row of a list of lists, or all of it.
pub(super) fn pieces(field: &SpanField) -> Vec<Piece> {
    let Some(ends) = &field.rows else { return vec![piece(field, field.ids.clone())] };
    let mut masks = list_of(field, &field.mask, ends).into_iter();
    let mut logprobs = list_of(field, &field.logprobs, ends).into_iter();
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let ids = field.ids.get(start..end).unwrap_or_default().to_vec();
            start = end;
            let mut piece = Piece { ids, ..Piece::default() };
            piece.set(masks.next().flatten(), logprobs.next().flatten());
            piece
        })
        .collect()
}

/// A field without rows, and its ids.
pub(super) fn piece(field: &SpanField, ids: Vec<u32>) -> Piece {
    let ends = [ids.len()];
    let list = |json| list_of(field, json, &ends).into_iter().next().flatten();
    let mut piece = Piece { ids, ..Piece::default() };
    piece.set(list(&field.mask), list(&field.logprobs));
    piece
}

/// A list of numbers for one row, and which of them are those of its ids if the ids are a selection.
pub(super) struct Row {
    pub numbers: Vec<f64>,
    pub picked: Option<Vec<usize>>,
}

impl Row {
    /// The numbers of so many ids, or how many there are.
    fn fit(self, ids: usize) -> Result<Vec<f64>, usize> {
        let Row { numbers, picked } = self;
        if numbers.len() == ids {
            return Ok(numbers);
        }
        let picked = picked.filter(|picked| picked.len() == ids);
        let picked = picked.and_then(|picked| picked.iter().map(|&at| numbers.get(at).copied()).collect());
        picked.ok_or(numbers.len())
    }
}

impl Piece {
    /// Takes in the lists, as far as they fit. Log-probabilities may be there for those ids only that the mask has, as
    /// verifiers writes them (compact).
    pub(super) fn set(&mut self, mask: Option<Row>, logprobs: Option<Row>) {
        let ids = self.ids.len();
        match mask.map(|mask| mask.fit(ids)) {
            Some(Ok(numbers)) => self.mask = Some(bools(&numbers)),
            Some(Err(len)) => self.misfits.push(Misfit { list: "mask", len, ids }),
            None => {}
        }
        // An empty list says that none were asked for.
        let Some(logprobs) = logprobs.filter(|row| !row.numbers.is_empty()) else { return };
        let ones = self.mask.iter().flatten().filter(|&&is_model| is_model).count();
        let is_compact = self.mask.is_some() && logprobs.numbers.len() == ones && ones < ids;
        self.logprobs = match logprobs {
            Row { numbers, .. } if is_compact => {
                let mut rest = numbers.into_iter();
                let mut at = |is_model: &bool| if *is_model { rest.next().unwrap_or(f64::NAN) } else { f64::NAN };
                Some(self.mask.iter().flatten().map(&mut at).collect())
            }
            row => row.fit(ids).map_err(|len| self.misfits.push(Misfit { list: "logprobs", len, ids })).ok(),
        };
    }
}

/// What a mask says: 1, 1.0 and true are the model's; where -100 stands among the values they are labels, and it is what
/// the model did not write.
pub(super) fn bools(numbers: &[f64]) -> Vec<bool> {
    let are_labels = numbers.contains(&MASKED_LABEL);
    numbers.iter().map(|&number| if are_labels { number != MASKED_LABEL } else { number == 1.0 }).collect()
}

/// A list of a field, by row.
fn list_of(field: &SpanField, json: &Option<String>, ends: &[usize]) -> Vec<Option<Row>> {
    let Some(lists) = json.as_deref().and_then(|json| rows(json, field.rows.is_some(), ends)) else {
        return Vec::new();
    };
    // Where a row begins in the list that the ids were selected from: the rows before it are as long as their lists.
    let mut start = 0;
    let row = |numbers: Vec<f64>| {
        let end = start + numbers.len();
        let picked = field.segments.as_ref().map(|segments| within(segments, start, end));
        start = end;
        Some(Row { numbers, picked })
    };
    lists.into_iter().map(row).collect()
}

/// The positions in `[start, end)` that the ranges cover, from `start` on.
fn within(segments: &[[usize; 2]], start: usize, end: usize) -> Vec<usize> {
    let clipped = segments.iter().map(|&[from, to]| from.max(start)..to.min(end));
    clipped.flat_map(|range| range.map(|at| at - start)).collect()
}

/// The numbers of a list, for each row; a flat list is cut as the rows are. None for null and for no list at all.
pub(super) fn rows(json: &str, in_rows: bool, ends: &[usize]) -> Option<Vec<Vec<f64>>> {
    let list = Some(json.trim_ascii().as_bytes()).filter(|list| list.starts_with(b"["))?;
    let is_list = |item: &[u8]| item.starts_with(b"[");
    if in_rows && items(list).all(is_list) && (items(list).count() == ends.len()) {
        return Some(items(list).map(numbers).collect());
    }
    let numbers = match ends {
        // A list of one row around the numbers of ids that are flat.
        [ids] if *ids != 1 && items(list).nth(1).is_none() && items(list).next().is_some_and(is_list) => {
            items(list).next().map(numbers).unwrap_or_default()
        }
        _ => numbers(list),
    };
    if !in_rows || ends.last() != Some(&numbers.len()) {
        return Some(vec![numbers]);
    }
    let mut start = 0;
    Some(ends.iter().map(|&end| numbers[std::mem::replace(&mut start, end).min(end)..end].to_vec()).collect())
}

/// The numbers of a list, NaN for what is none. An item that is a list of one is that one (TRL writes a list of the k most
/// likely log-probabilities for each position; of more than one nobody can tell which the token had).
pub(super) fn numbers(list: &[u8]) -> Vec<f64> {
    // Nearly all lists hold plain numbers, whose ends are found faster.
    let mut plain = Vec::new();
    let mut at = skip_space(list, 1);
    while let Some(end) = number_end(list, at) {
        plain.push(number(&list[at..end]));
        at = skip_space(list, end);
        match list.get(at) {
            Some(b',') => at = skip_space(list, at + 1),
            Some(b']') => return plain,
            _ => break,
        }
    }
    let of_item = |item: &[u8]| match item {
        [b'[', ..] => {
            let mut inside = items(item);
            match (inside.next(), inside.next()) {
                (Some(only), None) => number(only),
                _ => f64::NAN,
            }
        }
        item => number(item),
    };
    items(list).map(of_item).collect()
}

fn number(item: &[u8]) -> f64 {
    match item {
        [b'1'] | b"true" => 1.0,
        [b'0'] | b"false" => 0.0,
        // Rust reads all that JSON writers write, `NaN` and `Infinity` too.
        [b'-' | b'0'..=b'9' | b'N' | b'I', ..] => {
            std::str::from_utf8(item).ok().and_then(|item| item.parse().ok()).unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}
