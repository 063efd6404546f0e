//! Makes one field of the lists that `*` finds.

use super::Join;
use crate::ids::{Ids, Refusal};

/// A list that `*` found, and what its element says of it.
pub(super) struct Part {
    pub ids: Ids,
    /// JSON text of the member that `by` names.
    pub group: Option<Vec<u8>>,
    /// The element's `parent` index.
    pub parent: Option<usize>,
}

/// Joins the parts: one list, or one row for each group or leaf.
pub(super) fn join(parts: Vec<Part>, join: Join, by_group: bool) -> Result<Ids, Box<Refusal>> {
    if let Some(i) = parts.iter().position(|part| part.ids.rows.is_some()) {
        return Err(Refusal::new("nested_too_deep", format!("element {i} holds a list of lists")));
    }
    let converted = parts.iter().find_map(|part| part.ids.converted);
    if join == Join::Parents {
        return Ok(Ids { converted, ..along_parents(&parts)? });
    }
    if !by_group {
        let lists: Vec<Ids> = parts.into_iter().map(|part| part.ids).collect();
        return Ok(Ids { converted, ..Ids::list(join_lists(lists, join)) });
    }
    let mut groups: Vec<(Option<Vec<u8>>, Vec<Ids>)> = Vec::new();
    for part in parts {
        match groups.iter_mut().find(|(group, _)| *group == part.group) {
            Some((_, lists)) => lists.push(part.ids),
            None => groups.push((part.group, vec![part.ids])),
        }
    }
    let rows: Vec<Vec<u32>> = groups.into_iter().map(|(_, lists)| join_lists(lists, join)).collect();
    Ok(Ids { converted, ..rows_or_list(rows) })
}

fn join_lists(mut lists: Vec<Ids>, join: Join) -> Vec<u32> {
    let is_cumulative = || lists.windows(2).all(|pair| pair[1].ids.starts_with(&pair[0].ids));
    match join {
        Join::Last => lists.pop().unwrap_or_default().ids,
        Join::Auto if is_cumulative() => lists.pop().unwrap_or_default().ids,
        _ => lists.into_iter().flat_map(|list| list.ids).collect(),
    }
}

fn rows_or_list(mut rows: Vec<Vec<u32>>) -> Ids {
    if rows.len() == 1 { Ids::list(rows.pop().unwrap_or_default()) } else { with_rows(rows) }
}

fn with_rows(rows: Vec<Vec<u32>>) -> Ids {
    let mut ids = Ids { rows: Some(Vec::with_capacity(rows.len())), ..Ids::default() };
    for row in rows {
        ids.ids.extend(row);
        let end = ids.ids.len();
        ids.rows.get_or_insert_default().push(end);
    }
    ids
}

/// One row for each element that is nobody's parent: the lists from its root down to it.
fn along_parents(parts: &[Part]) -> Result<Ids, Box<Refusal>> {
    let mut has_child = vec![false; parts.len()];
    for (i, part) in parts.iter().enumerate() {
        if let Some(parent) = part.parent {
            // A parent stands before its child, so that no chain is endless.
            if parent >= i {
                return Err(Refusal::new(
                    "bad_parents",
                    format!("element {i} has the parent {parent}, which is not before it"),
                ));
            }
            has_child[parent] = true;
        }
    }
    let leaves = (0..parts.len()).filter(|&i| !has_child[i]);
    let rows = leaves.map(|leaf| {
        let mut chain: Vec<usize> = std::iter::successors(Some(leaf), |&i| parts[i].parent).collect();
        chain.reverse();
        chain.into_iter().flat_map(|i| parts[i].ids.ids.iter().copied()).collect()
    });
    Ok(with_rows(rows.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(ids: &[u32], parent: Option<usize>) -> Part {
        Part { ids: Ids::list(ids.to_vec()), group: None, parent }
    }

    fn grouped(ids: &[u32], group: &str) -> Part {
        Part { group: Some(group.into()), ..part(ids, None) }
    }

    #[test]
    fn auto_tells_cumulative_lists_from_deltas() {
        let cumulative = vec![part(&[1], None), part(&[1, 2], None), part(&[1, 2, 3], None)];
        assert_eq!(join(cumulative, Join::Auto, false).unwrap().ids, [1, 2, 3]);
        let deltas = vec![part(&[1], None), part(&[2], None)];
        assert_eq!(join(deltas, Join::Auto, false).unwrap().ids, [1, 2]);
    }

    #[test]
    fn groups_become_rows() {
        let joined =
            join(vec![grouped(&[1], "0"), grouped(&[7], "1"), grouped(&[2], "0")], Join::Concat, true).unwrap();
        assert_eq!(joined.rows().collect::<Vec<_>>(), [&[1, 2][..], &[7]]);
    }

    #[test]
    fn branches_follow_parents() {
        let tree = vec![part(&[1], None), part(&[2], Some(0)), part(&[3], Some(1)), part(&[4], Some(0))];
        let joined = join(tree, Join::Parents, false).unwrap();
        assert_eq!(joined.rows().collect::<Vec<_>>(), [&[1, 2, 3][..], &[1, 4]]);
        assert!(join(vec![part(&[1], Some(0))], Join::Parents, false).is_err());
    }
}
