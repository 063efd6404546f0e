//! Makes one field of the lists that `*` finds.

use super::Join;
use super::select::number;
use crate::ids::{Ids, MaxIds, Refusal, too_many};

/// A list that `*` found, and what its element says of it.
pub(super) struct Part {
    pub ids: Ids,
    /// JSON text of the member that `by` names.
    pub group: Option<Vec<u8>>,
    /// The element's `parent` index.
    pub parent: Option<usize>,
}

/// Joins the parts: one list, or one row for each group or leaf. Branches repeat what they share, so they may come to
/// more than `max` ids.
pub(super) fn join(parts: Vec<Part>, join: Join, by_group: bool, max: MaxIds) -> Result<Ids, Box<Refusal>> {
    let mut ids = Ids::default();
    for (i, part) in parts.iter().enumerate() {
        if part.ids.rows.is_some() {
            return Err(Refusal::new("nested_too_deep", format!("element {i} holds a list of lists")));
        }
        ids.converted = ids.converted.or(part.ids.converted);
    }
    let rows = match join {
        Join::Parents => along_parents(&parts, max)?,
        _ if by_group => groups(&parts),
        _ => vec![(0..parts.len()).collect()],
    };
    let mut ends = Vec::new();
    for row in &rows {
        let list = |i: usize| &parts[i].ids.ids;
        let is_cumulative = || row.windows(2).all(|pair| list(pair[1]).starts_with(list(pair[0])));
        let only_last = join == Join::Last || join == Join::Auto && is_cumulative();
        let skipped = if only_last { row.len().saturating_sub(1) } else { 0 };
        for &i in &row[skipped..] {
            ids.ids.extend_from_slice(list(i));
        }
        ends.push(ids.ids.len());
    }
    if join == Join::Parents || rows.len() > 1 {
        ids.rows = Some(ends);
    }
    Ok(ids)
}

/// The parts of each group; groups with a number, as the choices of a stream, in its order.
fn groups(parts: &[Part]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        if let Some(group) = groups.iter_mut().find(|group| parts[group[0]].group == part.group) {
            group.push(i);
            continue;
        }
        groups.push(vec![i]);
        for at in (1..groups.len()).rev() {
            let [left, right] = [at - 1, at].map(|at| parts[groups[at][0]].group.as_deref().and_then(number));
            if left.is_some() && right.is_some() && left > right {
                groups.swap(at - 1, at);
            }
        }
    }
    groups
}

/// For each element that is nobody's parent: the elements from its root down to it.
fn along_parents(parts: &[Part], max: MaxIds) -> Result<Vec<Vec<usize>>, Box<Refusal>> {
    let mut has_child = vec![false; parts.len()];
    for (i, part) in parts.iter().enumerate() {
        if let Some(parent) = part.parent {
            // A parent stands before its child, so that no chain is endless.
            if parent >= i {
                let what = format!("element {i} has the parent {parent}, which is not before it");
                return Err(Refusal::new("bad_parents", what));
            }
            has_child[parent] = true;
        }
    }
    let mut chains = Vec::new();
    let mut room = max;
    for (leaf, _) in has_child.iter().enumerate().filter(|&(_, &has_child)| !has_child) {
        let mut chain = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next {
            // Of an element without ids its place in the chain counts.
            room = room.checked_sub(parts[at].ids.ids.len().max(1)).ok_or_else(|| too_many(max))?;
            chain.push(at);
            next = parts[at].parent;
        }
        chain.reverse();
        chains.push(chain);
    }
    Ok(chains)
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
        assert_eq!(join(cumulative, Join::Auto, false, 9).unwrap().ids, [1, 2, 3]);
        let deltas = vec![part(&[1], None), part(&[2], None)];
        assert_eq!(join(deltas, Join::Auto, false, 9).unwrap().ids, [1, 2]);
    }

    #[test]
    fn groups_become_rows() {
        let joined =
            join(vec![grouped(&[1], "0"), grouped(&[7], "1"), grouped(&[2], "0")], Join::Concat, true, 9).unwrap();
        assert_eq!(joined.rows().collect::<Vec<_>>(), [&[1, 2][..], &[7]]);
    }

    #[test]
    fn branches_follow_parents() {
        let tree = vec![part(&[1], None), part(&[2], Some(0)), part(&[3], Some(1)), part(&[4], Some(0))];
        let joined = join(tree, Join::Parents, false, 9).unwrap();
        assert_eq!(joined.rows().collect::<Vec<_>>(), [&[1, 2, 3][..], &[1, 4]]);
        assert!(join(vec![part(&[1], Some(0))], Join::Parents, false, 9).is_err());
        // Two branches of five ids in a tree of eight.
        let tree = || vec![part(&[1, 2], None), part(&[3, 4, 5], Some(0)), part(&[6, 7, 8], Some(0))];
        assert!(join(tree(), Join::Parents, false, 10).is_ok());
        assert_eq!(join(tree(), Join::Parents, false, 9).unwrap_err().reason, "limit_exceeded");
    }
}
