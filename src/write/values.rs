//! The JSON in a span, checked and cleaned, as values that writers put where they want them.

use crate::json::{Json, quote_into};
use crate::span::Span;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

use super::clean::{Taste, clean};

/// A span and its values.
pub(super) struct Values<'s> {
    pub span: &'s Span,
    pub json: Json<'static>,
    pub inputs: Option<NodeId>,
    pub output: Option<NodeId>,
    /// The attributes, and after them what of the trajectory they do not have.
    pub attributes: Vec<(String, NodeId)>,
    pub events: Vec<Event>,
    /// The list of events and the object of attributes as they are.
    pub events_node: Option<NodeId>,
    pub attributes_node: Option<NodeId>,
    /// The trajectory: keys as verl spells them, and values.
    pub trajectory: Vec<(&'static str, NodeId)>,
}

/// An event of a span.
pub(super) struct Event {
    pub name: String,
    pub unix_nano: u64,
    pub attributes: Vec<(String, NodeId)>,
}

impl<'s> Values<'s> {
    /// The values of the span that has this place in its list.
    ///
    /// # Errors
    /// `invalid_body`: one of its texts is not the JSON that it has to be. `limit_exceeded`: it is too deep.
    pub(super) fn of(span: &'s Span, place: usize, taste: Taste) -> Result<Values<'s>, Error> {
        let mut values = Values {
            span,
            json: Json::none(taste.depth),
            inputs: None,
            output: None,
            attributes: Vec::new(),
            events: Vec::new(),
            events_node: None,
            attributes_node: None,
            trajectory: Vec::new(),
        };
        let place = ["spans[", &place.to_string(), "]"].concat();
        values.inputs = values.take(&span.inputs, &place, "inputs", None, taste)?;
        values.output = values.take(&span.output, &place, "output", None, taste)?;
        values.attributes_node = values.take(&span.attributes, &place, "attributes", Some(Kind::Object), taste)?;
        if let Some(node) = values.attributes_node {
            values.attributes = values.json.members(node);
        }
        values.events_node = values.take(&span.events, &place, "events", Some(Kind::Array), taste)?;
        if let Some(node) = values.events_node {
            for event in values.json.elements(node) {
                let event = values.event(event);
                values.events.push(event);
            }
        }
        values.add_trajectory();
        Ok(values)
    }

    /// Takes a text of the span in; null counts as absent where a kind is needed.
    fn take(
        &mut self,
        text: &Option<String>,
        place: &str,
        name: &str,
        needed: Option<Kind>,
        taste: Taste,
    ) -> Result<Option<NodeId>, Error> {
        let Some(text) = text else { return Ok(None) };
        let place = [place, ".", name].concat();
        let node = self.add(clean(text, &place, taste)?);
        let kind = node.map(|node| self.json.kind(node));
        match (kind, needed) {
            (Some(Kind::Null), Some(_)) => Ok(None),
            (Some(kind), Some(needed)) if kind != needed => {
                let what = format!("{place} must be {}, not {}", needed.name(), kind.name());
                Err(Error::new(ErrorCode::InvalidBody, what))
            }
            _ => Ok(node),
        }
    }

    /// Takes in text that is one JSON value.
    fn add(&mut self, text: Vec<u8>) -> Option<NodeId> {
        self.json.add(text).map(|(_, node)| node)
    }

    fn event(&mut self, event: NodeId) -> Event {
        let name = self.member(event, "name").and_then(|name| self.json.str(name));
        let mut unix_nano = 0;
        for key in ["timeUnixNano", "time_unix_nano"] {
            if let Some(time) = self.member(event, key) {
                let digits = std::str::from_utf8(self.json.raw(time)).unwrap_or_default();
                unix_nano = digits.trim_matches('"').parse().unwrap_or(0);
            }
        }
        let attributes = self.member(event, "attributes").map(|attributes| self.json.members(attributes));
        Event { name: name.unwrap_or_default(), unix_nano, attributes: attributes.unwrap_or_default() }
    }

    /// A member of an object; nothing of another value.
    pub(super) fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        self.json.find_member(object, key).map(|(_, value)| value)
    }

    fn add_trajectory(&mut self) {
        let trajectory = &self.span.trajectory;
        let integer = |number: Option<i64>| number.map(|number| number.to_string().into_bytes());
        let name = trajectory.experiment_name.as_ref().map(|name| {
            let mut quoted = Vec::new();
            quote_into(name.as_bytes(), &mut quoted);
            quoted
        });
        let validate = trajectory.validate.map(|validate| if validate { b"true".to_vec() } else { b"false".to_vec() });
        for (key, value) in [
            ("step", integer(trajectory.step)),
            ("sample_index", integer(trajectory.sample_index)),
            ("rollout_n", integer(trajectory.rollout_n)),
            ("validate", validate),
            ("experiment_name", name),
        ] {
            if let Some(node) = value.and_then(|value| self.add(value)) {
                self.trajectory.push((key, node));
                if !self.has_attribute(key) {
                    self.attributes.push((key.to_owned(), node));
                }
            }
        }
    }

    pub(super) fn has_attribute(&self, wanted: &str) -> bool {
        self.attributes.iter().any(|(key, _)| key == wanted)
    }

    /// The JSON text of a value.
    pub(super) fn text(&self, node: NodeId) -> &[u8] {
        self.json.raw(node)
    }
}
