//! Picks some of the ids of a field: by a mask, by ranges, or from the end.

use super::Pointer;
use crate::ids::{Ids, Refusal};
use crate::json::items;
use crate::json::number::double;

/// Which ids of a list are meant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Select {
    /// Those where the mask has the wanted number (`equal`), or any other.
    Mask { mask: Pointer, wanted: f64, equal: bool },
    /// Those inside the ranges `[start, end)`, or outside.
    Ranges { ranges: Pointer, inside: bool },
    /// The last n, or all before them.
    Tail { tail: Pointer, inside: bool },
}

impl Select {
    /// Where the mask, the ranges or the number stand.
    pub(crate) fn pointer(&self) -> &Pointer {
        match self {
            Select::Mask { mask, .. } => mask,
            Select::Ranges { ranges, .. } => ranges,
            Select::Tail { tail, .. } => tail,
        }
    }

    /// The selected ids; `json` is the text of what [`Select::pointer`] points to.
    pub(crate) fn apply(&self, ids: &Ids, json: &[u8]) -> Result<Ids, Box<Refusal>> {
        let chosen = match self {
            Select::Mask { wanted, equal, .. } => {
                let numbers = mask_rows(json, ids)?;
                numbers.into_iter().map(|number| (number == *wanted) == *equal).collect()
            }
            Select::Ranges { inside, .. } => {
                let mut chosen = vec![!inside; flat_len(ids)?];
                for (start, end) in ranges(json, chosen.len())? {
                    chosen[start..end].fill(*inside);
                }
                chosen
            }
            Select::Tail { inside, .. } => {
                let len = flat_len(ids)?;
                let tail = number(json).filter(|n| n.fract() == 0.0 && (0.0..=len as f64).contains(n));
                let Some(tail) = tail else {
                    return Err(Refusal::new(
                        "bad_selection",
                        format!("the length of the tail is not from 0 to {len}"),
                    ));
                };
                let head = len - tail as usize;
                (0..len).map(|i| (i >= head) == *inside).collect()
            }
        };
        Ok(keep(ids, &chosen))
    }
}

/// The number that a JSON text is; true is 1, false is 0.
pub(crate) fn number(json: &[u8]) -> Option<f64> {
    match json {
        b"true" => Some(1.0),
        b"false" => Some(0.0),
        [b'-' | b'0'..=b'9' | b'N' | b'I', ..] => double(json),
        _ => None,
    }
}

fn keep(ids: &Ids, chosen: &[bool]) -> Ids {
    let mut kept = Ids { converted: ids.converted, rows: ids.rows.as_ref().map(|_| Vec::new()), ..Ids::default() };
    let mut at = 0;
    for row in ids.rows() {
        let picked = row.iter().zip(&chosen[at..]).filter(|&(_, &chosen)| chosen).map(|(&id, _)| id);
        kept.ids.extend(picked);
        at += row.len();
        let end = kept.ids.len();
        if let Some(rows) = &mut kept.rows {
            rows.push(end);
        }
    }
    kept
}

/// Ranges and tails are said of one list.
fn flat_len(ids: &Ids) -> Result<usize, Box<Refusal>> {
    match ids.rows {
        None => Ok(ids.ids.len()),
        Some(_) => Err(Refusal::new("bad_selection", "ranges and tails select from a list, not from a list of lists")),
    }
}

/// The numbers of a mask, row by row as the ids.
fn mask_rows(json: &[u8], ids: &Ids) -> Result<Vec<f64>, Box<Refusal>> {
    let mut numbers = Vec::with_capacity(ids.ids.len());
    let mut read_row = |json: &[u8], row: &[u32], place: &str| {
        let start = numbers.len();
        for (index, item) in list_items(json)?.enumerate() {
            match number(item) {
                Some(number) => numbers.push(number),
                None => {
                    return Err(Refusal::new("bad_selection", format!("{place}item {index} of the mask is no number")));
                }
            }
        }
        let len = numbers.len() - start;
        if len != row.len() {
            return Err(Refusal::new("mask_length", format!("{place}the mask has {len} items, the ids {}", row.len())));
        }
        Ok(())
    };
    if ids.rows.is_none() {
        read_row(json, &ids.ids, "")?;
        return Ok(numbers);
    }
    let mut masks = list_items(json)?;
    for (i, row) in ids.rows().enumerate() {
        let mask = masks.next().ok_or(Refusal::new("mask_length", format!("the mask has no row {i}")))?;
        read_row(mask, row, &format!("row {i}: "))?;
    }
    Ok(numbers)
}

fn list_items(json: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Box<Refusal>> {
    if json.first() != Some(&b'[') {
        return Err(Refusal::new("bad_selection", "the mask or ranges are not a list"));
    }
    Ok(items(json))
}

/// Pairs of start and end, each checked against the number of ids.
fn ranges(json: &[u8], len: usize) -> Result<Vec<(usize, usize)>, Box<Refusal>> {
    let bad = |i: usize| Refusal::new("bad_selection", format!("range {i} is not [start, end] within 0 to {len}"));
    let bound = |json: Option<&[u8]>| number(json?).filter(|n| n.fract() == 0.0 && (0.0..=len as f64).contains(n));
    let mut pairs = Vec::new();
    for (i, pair) in list_items(json)?.enumerate() {
        let mut bounds = list_items(pair).map_err(|_| bad(i))?;
        match (bound(bounds.next()), bound(bounds.next()), bounds.next()) {
            (Some(start), Some(end), None) if start <= end => pairs.push((start as usize, end as usize)),
            _ => return Err(bad(i)),
        }
    }
    Ok(pairs)
}
