//! Takes ids out whose text is written (`ids: "drop"`): only where nothing is lost with them.

use crate::layouts::Source;
use crate::report::{Comparison, FieldReport, NOT_DROPPED, Report, SelectReport, Status};
use crate::view::{Names, NodeId, Text};

/// A field that was dealt with, and what is needed to take its ids out.
pub(super) struct Done {
    pub field: FieldReport,
    pub sources: Vec<Source>,
    /// How many ids its list has, of which the field may be a selection.
    pub of: usize,
    /// Why the ids stay.
    pub stays: Option<&'static str>,
}

/// The fields of one list of ids.
struct List {
    stays: Option<&'static str>,
    of: usize,
    /// How many ids are in a text.
    covered: usize,
    selections: Vec<Option<SelectReport>>,
    is_dropped: bool,
}

/// Why the ids of a field are more than its text.
pub(super) fn why_stays(field: &FieldReport, text: &Text) -> Option<&'static str> {
    let has_replacement = text.texts.iter().any(|text| text.contains('\u{FFFD}'));
    [
        (field.status == Status::Kept && field.existing != Some(Comparison::Same), "the text that is there is another"),
        (field.unknown.is_some(), "some ids are unknown to the tokenizer"),
        (has_replacement, "the text has a replacement character (U+FFFD) in it"),
        (field.shortened.is_some(), "the text is shortened"),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
}

/// Reports the fields of a span; gives the members that go.
pub(super) fn report(done: Vec<Done>, drop_ids: bool, report: &mut Report) -> Vec<(NodeId, String)> {
    let mut drops = Vec::new();
    let mut lists = if drop_ids { Lists::of(&done) } else { Lists::default() };
    for Done { mut field, sources, .. } in done {
        if drop_ids && field.status != Status::Skipped {
            let list = lists.get(&field.path);
            let why = match &list {
                Some(list) if list.stays.is_some() => list.stays,
                Some(list) if list.covered != list.of => Some("some of the list's ids are in no text"),
                _ if sources.is_empty() => Some("they are no member that can be taken out"),
                _ => None,
            };
            if let Some(why) = why {
                field.reason = Some(NOT_DROPPED);
                field.detail = Some(why.to_owned());
            } else {
                for Source { path, .. } in &sources {
                    if field.ids_dropped.last() != Some(path) {
                        field.ids_dropped.push(path.clone());
                    }
                }
                // Fields of one list name the same members.
                if list.is_some_and(|list| !std::mem::replace(&mut list.is_dropped, true)) {
                    for Source { object, key, .. } in sources {
                        drops.push((object, key));
                    }
                }
            }
        }
        report.field(field);
    }
    drops
}

#[derive(Default)]
struct Lists {
    by_path: Names,
    lists: Vec<List>,
}

impl Lists {
    fn of(done: &[Done]) -> Lists {
        let mut all = Lists::default();
        for Done { field, of, stays, .. } in done {
            let new = all.lists.len() as NodeId;
            let at = all.by_path.insert(&field.path, new).unwrap_or_else(|| {
                let selections = Vec::new();
                all.lists.push(List { stays: None, of: *of, covered: 0, selections, is_dropped: false });
                new
            });
            let list = &mut all.lists[at as usize];
            let stays =
                if field.status == Status::Skipped { Some("another text of them is not written") } else { *stays };
            list.stays = list.stays.or(stays);
            // Two selections that are the same are in the texts once.
            if !list.selections.contains(&field.select) {
                list.covered += field.ids;
                list.selections.push(field.select.clone());
            }
        }
        all
    }

    fn get(&mut self, path: &str) -> Option<&mut List> {
        let at = self.by_path.get(path)?;
        self.lists.get_mut(at as usize)
    }
}
