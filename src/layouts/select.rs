//! Picks some of the ids of a field: by a mask, by ranges, or from the end.

use super::Pointer;
use crate::ids::{Ids, Refusal};
use crate::json::items;
use crate::json::number::double;
use crate::report::SelectReport;

/// A range `[start, end)` of a list.
pub(crate) type Segment = [usize; 2];

/// Ids that are selected, and where in the list they stand.
pub(crate) type Selected = (Ids, Vec<Segment>);

/// Which ids of a list are meant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Select {
    /// Where the mask, the ranges or the number stand.
    pub pointer: Pointer,
    pub rule: Rule,
    /// Where the number of ids stands that count: those after them fill the list up.
    pub length: Option<Pointer>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Rule {
    /// Those where the mask has the wanted number (`equal`), or any other.
    Mask { wanted: f64, equal: bool },
    /// Those inside the ranges `[start, end)`, or outside.
    Ranges { inside: bool },
    /// The last n, or all before them.
    Tail { inside: bool },
}

impl Select {
    /// The selection, for the report; `path` is the address of what `pointer` points to, `length` of what `length` does.
    pub(crate) fn report(&self, path: String, length: Option<String>) -> SelectReport {
        match self.rule {
            Rule::Mask { wanted, equal: true } => SelectReport::Value { mask: path, value: wanted, length },
            Rule::Mask { wanted, equal: false } => SelectReport::Not { mask: path, not: wanted, length },
            Rule::Ranges { inside } => SelectReport::Ranges { ranges: path, inside },
            Rule::Tail { inside } => SelectReport::Tail { tail: path, inside },
        }
    }

    /// The selected ids and the ranges of the list that they are; `json` is the text of what `pointer` points to, `length`
    /// of what `length` does.
    pub(crate) fn apply(&self, ids: &Ids, json: &[u8], length: Option<&[u8]>) -> Result<Selected, Box<Refusal>> {
        let len = ids.ids.len();
        if ids.rows.is_some() && !(matches!(self.rule, Rule::Mask { .. }) && length.is_none()) {
            let what = "ranges, tails and lengths select from a list, not from a list of lists";
            return Err(Refusal::new("bad_selection", what));
        }
        let count = length.map_or(Some(len), |length| whole(length, len));
        let Some(count) = count else {
            let what = format!("the number of ids that count is not from 0 to {len}");
            return Err(Refusal::new("bad_selection", what));
        };
        let mut chosen = Vec::with_capacity(len);
        match self.rule {
            Rule::Mask { wanted, equal } => mask_rows(json, ids, &mut |n| chosen.push((n == wanted) == equal))?,
            Rule::Ranges { inside } => {
                chosen.resize(len, !inside);
                for (i, pair) in list_items(json)?.enumerate() {
                    let mut bounds = items(pair).map(|bound| whole(bound, len));
                    match (bounds.next(), bounds.next(), bounds.next()) {
                        (Some(Some(start)), Some(Some(end)), None) if pair.starts_with(b"[") && start <= end => {
                            chosen[start..end].fill(inside);
                        }
                        _ => {
                            let what = format!("range {i} is not [start, end] within 0 to {len}");
                            return Err(Refusal::new("bad_selection", what));
                        }
                    }
                }
            }
            Rule::Tail { inside } => {
                let Some(tail) = whole(json, len) else {
                    let what = format!("the length of the tail is not from 0 to {len}");
                    return Err(Refusal::new("bad_selection", what));
                };
                chosen.resize(len - tail, !inside);
                chosen.resize(len, inside);
            }
        }
        chosen[count..].fill(false);
        Ok((keep(ids, &chosen), segments(&chosen)))
    }
}

/// A whole number from 0 to `most`.
fn whole(json: &[u8], most: usize) -> Option<usize> {
    number(json).filter(|n| n.fract() == 0.0 && (0.0..=most as f64).contains(n)).map(|n| n as usize)
}

/// Whether a JSON text is the number one, or true.
pub(crate) fn is_one(json: &[u8]) -> bool {
    match json {
        // Masks are made of these.
        [b'1'] => true,
        [b'0'] => false,
        _ => number(json) == Some(1.0),
    }
}

/// The number that a JSON text is; true is 1, false is 0.
pub(crate) fn number(json: &[u8]) -> Option<f64> {
    if let [digit @ b'0'..=b'9'] = json {
        return Some(f64::from(digit - b'0'));
    }
    match json {
        b"true" => Some(1.0),
        b"false" => Some(0.0),
        [b'-' | b'0'..=b'9' | b'N' | b'I', ..] => double(json),
        _ => None,
    }
}

/// The ranges of what is chosen.
fn segments(chosen: &[bool]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for (i, _) in chosen.iter().enumerate().filter(|&(_, &chosen)| chosen) {
        match segments.last_mut() {
            Some([_, end]) if *end == i => *end = i + 1,
            _ => segments.push([i, i + 1]),
        }
    }
    segments
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

/// Tells the numbers of a mask, row by row as the ids.
fn mask_rows(json: &[u8], ids: &Ids, tell: &mut dyn FnMut(f64)) -> Result<(), Box<Refusal>> {
    if ids.rows.is_none() {
        return mask_row(json, ids.ids.len(), "", tell);
    }
    let mut masks = list_items(json)?;
    for (i, row) in ids.rows().enumerate() {
        let Some(mask) = masks.next() else {
            return Err(Refusal::new("mask_length", format!("the mask has no row {i}")));
        };
        mask_row(mask, row.len(), &format!("row {i}: "), tell)?;
    }
    Ok(())
}

fn mask_row(json: &[u8], ids: usize, place: &str, tell: &mut dyn FnMut(f64)) -> Result<(), Box<Refusal>> {
    let mut len = 0;
    for item in list_items(json)? {
        let Some(number) = number(item) else {
            return Err(Refusal::new("bad_selection", format!("{place}item {len} of the mask is no number")));
        };
        tell(number);
        len += 1;
    }
    if len != ids {
        return Err(Refusal::new("mask_length", format!("{place}the mask has {len} items, the ids {ids}")));
    }
    Ok(())
}

fn list_items(json: &[u8]) -> Result<impl Iterator<Item = &[u8]>, Box<Refusal>> {
    if !json.starts_with(b"[") {
        return Err(Refusal::new("bad_selection", "the mask or ranges are not a list"));
    }
    Ok(items(json))
}
