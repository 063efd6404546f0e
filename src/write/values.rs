//! The JSON in a span, checked and cleaned, as values that writers put where they want them.

use crate::formats::MODELS;
use crate::json::{Json, quote_into};
use crate::span::Span;
use crate::view::{Kind, NodeId, Tree};
use crate::{Error, ErrorCode};

use super::clean::{Taste, clean};
use super::ids::{Id, Ids};
use super::number::unsigned;
use super::out::{JsonOut, joined};

/// The attributes of the inputs and of the output, which MLflow and Weave read, and of the model.
pub(super) const INPUTS: &str = "mlflow.spanInputs";
pub(super) const OUTPUTS: &str = "mlflow.spanOutputs";
pub(super) const MODEL: &str = "gen_ai.request.model";

/// Tells the values of each span, and its ids.
pub(super) fn each(spans: &[Span], taste: Taste, tell: &mut dyn FnMut(&mut Values<'_>, &Id)) -> Result<(), Error> {
    let ids = Ids::of(spans);
    for (i, (span, id)) in spans.iter().zip(&ids.spans).enumerate() {
        tell(&mut Values::of(span, i, taste)?, id);
    }
    Ok(())
}

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
        let place = joined(&["spans[", &place.to_string(), "]"]);
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
        let place = joined(&[place, ".", name]);
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
                let text = self.json.string(time).unwrap_or(self.json.raw(time).into());
                unix_nano = unsigned(&text).unwrap_or(0);
            }
        }
        let mut attributes = Vec::new();
        match self.member(event, "attributes") {
            Some(node) => attributes = self.json.members(node),
            // What has no attributes, as an event of a stream, is all attributes.
            None => {
                for (key, node) in self.json.members(event) {
                    if !matches!(key.as_str(), "name" | "timeUnixNano" | "time_unix_nano") {
                        attributes.push((key, node));
                    }
                }
            }
        }
        Event { name: name.unwrap_or_default(), unix_nano, attributes }
    }

    /// A member of an object; nothing of another value.
    pub(super) fn member(&mut self, object: NodeId, key: &str) -> Option<NodeId> {
        self.json.find_member(object, key).map(|(_, value)| value)
    }

    fn add_trajectory(&mut self) {
        let trajectory = &self.span.trajectory;
        for (key, number) in
            [("step", trajectory.step), ("sample_index", trajectory.sample_index), ("rollout_n", trajectory.rollout_n)]
        {
            if let Some(number) = number {
                self.add_to_trajectory(key, number.to_string().into_bytes());
            }
        }
        if let Some(validate) = trajectory.validate {
            self.add_to_trajectory("validate", if validate { b"true".to_vec() } else { b"false".to_vec() });
        }
        if let Some(name) = &trajectory.experiment_name {
            let mut json = Vec::new();
            quote_into(name.as_bytes(), &mut json);
            self.add_to_trajectory("experiment_name", json);
        }
    }

    fn add_to_trajectory(&mut self, key: &'static str, json: Vec<u8>) {
        let Some(node) = self.add(json) else { return };
        self.trajectory.push((key, node));
        if !self.has_attribute(key) {
            self.attributes.push((key.to_owned(), node));
        }
    }

    /// Takes a text in as an attribute.
    pub(super) fn add_text(&mut self, key: &str, text: Option<&str>) {
        let Some(text) = text else { return };
        let mut json = Vec::new();
        quote_into(text.as_bytes(), &mut json);
        if let Some(node) = self.add(json) {
            self.attributes.push((key.to_owned(), node));
        }
    }

    pub(super) fn has_attribute(&self, wanted: &str) -> bool {
        self.attributes.iter().any(|(key, _)| key == wanted)
    }

    /// The model, if no attribute names one.
    pub(super) fn unnamed_model(&self) -> Option<&'s str> {
        let is_named = MODELS.iter().any(|key| self.has_attribute(key));
        self.span.model.as_deref().filter(|_| !is_named)
    }

    /// A member that is an object of these.
    pub(super) fn members(&self, key: &str, members: &[(String, NodeId)], out: &mut JsonOut) {
        out.key(key);
        out.open(b'{');
        for (key, node) in members {
            out.member(key, Some(self.text(*node)));
        }
        out.close(b'}');
    }

    /// A member, if there is a value.
    pub(super) fn member_if(&self, key: &str, node: Option<NodeId>, out: &mut JsonOut) {
        if let Some(node) = node {
            out.member(key, Some(self.text(node)));
        }
    }

    /// The JSON text of a value.
    pub(super) fn text(&self, node: NodeId) -> &[u8] {
        self.json.raw(node)
    }
}
