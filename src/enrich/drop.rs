//! Takes ids out whose text is written (`ids: "drop"`): only where nothing is lost with them.

use crate::layouts::Source;
use crate::report::{Comparison, FieldReport, NOT_DROPPED, Status};
use crate::view::{Names, NodeId, Text, Write};

/// A field that was dealt with, and what is needed to take its ids out.
pub(super) struct Done {
    pub field: FieldReport,
    pub sources: Vec<Source>,
    /// How many ids its list has; in the end, how many of them are in no text.
    pub left: usize,
    /// Why the ids stay.
    pub stays: Option<&'static str>,
    /// The first field of the same list, which stands for it.
    pub list: usize,
}

/// Why the ids of a field are more than its text.
pub(super) fn why_stays(field: &FieldReport, text: &Text) -> Option<&'static str> {
    if field.status == Status::Kept && field.existing != Some(Comparison::Same) {
        return Some("the text that is there is another");
    }
    if field.unknown.is_some() {
        return Some("some ids are unknown to the tokenizer");
    }
    if field.shortened.is_some() {
        return Some("the text is shortened");
    }
    for text in &text.texts {
        if text.as_bytes().windows(3).any(|bytes| matches!(bytes, [0xEF, 0xBF, 0xBD])) {
            return Some("the text has a replacement character (U+FFFD) in it");
        }
    }
    None
}

/// Decides for the fields of a span whose ids go, and has those members taken out.
pub(super) fn decide(done: &mut [Done], writes: &mut Vec<Write>) {
    let mut first_of = Names::default();
    for i in 0..done.len() {
        let Some((of_field, before)) = done.get_mut(..=i).and_then(<[Done]>::split_last_mut) else { return };
        if of_field.field.status == Status::Skipped {
            of_field.stays = Some("another text of them is not written");
        }
        // The first field of a list counts for all of them.
        let list = first_of.insert(&of_field.field.path, i as NodeId).unwrap_or(i as NodeId) as usize;
        of_field.list = list;
        let (ids, stays) = (of_field.field.ids, of_field.stays);
        let first = before.get_mut(list).unwrap_or(of_field);
        first.left = first.left.wrapping_sub(ids);
        first.stays = first.stays.or(stays);
    }
    for i in 0..done.len() {
        let Some((of_field, before)) = done.get_mut(..=i).and_then(<[Done]>::split_last_mut) else { return };
        let first = before.get(of_field.list).unwrap_or(of_field);
        let mut why = first.stays;
        if first.left != 0 {
            why = why.or(Some("some of the list's ids are in no text"));
        }
        let Done { field, sources, list, .. } = of_field;
        if sources.is_empty() {
            why = why.or(Some("they are no member that can be taken out"));
        }
        if field.status == Status::Skipped {
            continue;
        }
        if let Some(why) = why {
            field.reason = Some(NOT_DROPPED);
            field.detail = Some(why.to_owned());
            continue;
        }
        for source in sources {
            // Fields of one list name the same members.
            if *list == i {
                for &object in &source.objects {
                    writes.push(Write::drop_member(object, &source.key));
                }
            }
            field.ids_dropped.push(std::mem::take(&mut source.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::FieldKind;

    /// A field of the list at `path` that has `ids` of its four ids in its text.
    fn field(path: &str, ids: usize, status: Status, stays: Option<&'static str>) -> Done {
        let field = FieldReport { ids, status, ..FieldReport::new(FieldKind::Prompt, "l", path) };
        let source = Source { objects: vec![7], key: "ids".into(), path: path.into() };
        Done { field, sources: vec![source], left: 4, stays, list: 0 }
    }

    #[test]
    fn a_list_goes_when_all_its_selections_are_written() {
        for (second, why) in [
            (field("/a", 3, Status::Kept, None), None),
            (field("/a", 2, Status::Decoded, None), Some("some of the list's ids are in no text")),
            (field("/a", 3, Status::Decoded, Some("it says more")), Some("it says more")),
            (field("/a", 3, Status::Skipped, None), Some("another text of them is not written")),
            (field("/b", 3, Status::Decoded, None), Some("some of the list's ids are in no text")),
        ] {
            let mut done = [field("/a", 1, Status::Decoded, None), second];
            let mut writes = Vec::new();
            decide(&mut done, &mut writes);
            let field = &done[0].field;
            assert_eq!(field.detail.as_deref(), why);
            assert_eq!((field.ids_dropped.len(), writes.len()), if why.is_none() { (1, 1) } else { (0, 0) });
            assert_eq!(done[1].field.ids_dropped.len(), field.ids_dropped.len());
        }
    }
}
