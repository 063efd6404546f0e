//! Where the text of a field goes, and what stands there.

use std::borrow::Cow;

use super::Resolver;
use crate::ids::Refusal;
use crate::json::{items, joined, string_content};
use crate::layouts::Field;
use crate::layouts::find::{Element, Located};
use crate::layouts::unfolded::Unfolded;
use crate::view::{Kind, NodeId, Place, Text, Tree};

/// What stands where the text would go, or where the producer may have put it.
#[derive(Debug, PartialEq)]
pub(crate) enum Existing {
    /// Nothing, or null.
    Nothing,
    /// A value that is no text of this field.
    Other(Kind),
    /// A text, as bytes since a JSON string need not be Unicode; one for each row of a list of lists.
    Text { texts: Vec<Vec<u8>>, at_place: bool },
}

impl Existing {
    /// Whether the text that is there says the same as `text`.
    pub(crate) fn is_same(texts: &[Vec<u8>], text: &Text) -> bool {
        texts.len() == text.texts.len() && texts.iter().zip(&text.texts).all(|(there, ours)| there == ours.as_bytes())
    }
}

impl Resolver<'_> {
    /// The last step of the text's place, marked where the object asks for it.
    pub(super) fn text_step<'f>(&self, field: &'f Field, object: NodeId) -> Cow<'f, str> {
        let (step, mark) = (field.text.split_last().1, self.find.tree.mark(object));
        if step.starts_with(mark) { Cow::Borrowed(step) } else { Cow::Owned(joined(&[mark, step])) }
    }

    /// The object that the text goes into: of what cannot be written into, the object around it or that of the span.
    pub(super) fn text_object(
        &mut self,
        field: &Field,
        element: Element<'_>,
        ids: &Located<'_>,
    ) -> Result<Place, Box<Refusal>> {
        let above = field.text.split_last().0;
        let mut object = None;
        if above.is_empty() {
            object = element.map(|(place, _)| place).or(self.view.whole.as_ref()).cloned();
        } else {
            for (start, steps, is_bare) in self.find.starts(element, above, true).into_iter().flatten() {
                // The text stays with the ids: a body that is itself the output takes it, even if it has an `output`.
                if object.is_none() && (is_bare || !ids.is_bare) {
                    let found = self.find.walk(start.node, steps).first().copied();
                    object = found.map(|found| Place { node: found.node, path: format!("{}{steps}", start.path) });
                }
            }
        }
        // A text that stands in the other record of the span is not written again here.
        let mut object = object.or_else(|| self.elsewhere_text(field));
        if object.as_ref().is_some_and(|object| Unfolded::is_folded(object.node)) {
            let flattened = self.view.flattened.first().map(|flattened| &flattened.object);
            object = flattened.or(self.view.whole.as_ref()).cloned();
        }
        let Some(object) = object else {
            return Err(Refusal::new("no_text_place", format!("`{above}`, where the text would go, is not there")));
        };
        match self.find.tree.kind(object.node) {
            Kind::Object => Ok(object),
            other => {
                let what = format!("`{}`, where the text would go, is {}, not an object", object.path, other.name());
                Err(Refusal::new("no_text_place", what))
            }
        }
    }

    /// `element`: the one that the field is of, if it is of one.
    pub(super) fn existing(
        &mut self,
        field: &Field,
        element: Option<Element<'_>>,
        object: NodeId,
        key: &str,
        in_rows: bool,
    ) -> Existing {
        let at_place = self.find.tree.member(object, key);
        if let Some(texts) = at_place.and_then(|node| self.texts(node, in_rows)) {
            return Existing::Text { texts, at_place: true };
        }
        for pointer in &field.existing {
            let located = element.and_then(|element| self.find.locate(element, pointer));
            if let Some(texts) = located.and_then(|located| self.texts(located.matches[0].node, in_rows)) {
                return Existing::Text { texts, at_place: false };
            }
        }
        match at_place.map(|node| self.find.tree.kind(node)) {
            None | Some(Kind::Null) => Existing::Nothing,
            Some(kind) => Existing::Other(kind),
        }
    }

    /// The content of a string; of a list of strings where there is a text for each row.
    fn texts(&mut self, node: NodeId, in_rows: bool) -> Option<Vec<Vec<u8>>> {
        let kind = self.find.tree.kind(node);
        let json = self.find.tree.json(node);
        let mut texts = Vec::new();
        match kind {
            Kind::String => texts.push(string_content(&json)?.into_owned()),
            Kind::Array if in_rows => {
                for item in items(&json) {
                    texts.push(string_content(item)?.into_owned());
                }
            }
            _ => return None,
        }
        Some(texts)
    }

    /// The object in another record of the span that has the text of a field.
    fn elsewhere_text(&mut self, field: &Field) -> Option<Place> {
        let text = self.find.elsewhere(&field.text.text)?;
        let object = self.find.elsewhere(field.text.split_last().0)?;
        (self.find.tree.kind(text.node) == Kind::String).then_some(object)
    }
}
