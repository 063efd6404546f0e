//! The conversation that the ids of a span are, written where a backend shows one (`messages: true`).
//!
//! | format | where |
//! |---|---|
//! | OTLP and MLflow, spans that have an attribute of MLflow's | attribute `mlflow.chat.messages` |
//! | OTLP, other spans | attributes `gen_ai.input.messages` and `gen_ai.output.messages` |
//! | Weave | `inputs.messages` and `output.choices[].message` |
//! | Trackio | in `messages`, in place of the contents that verl made of the inputs and the output |
//!
//! What is there already stays. A conversation is whole or it is not written: the report says why.

use super::conversation::{Conversation, Why};
use super::messages_json::{GEN_AI, MLFLOW, OPEN_AI, Shape, json_of};
use crate::formats::{Format, is_of_mlflow};
use crate::json::{joined, skip_space, string_content};
use crate::report::{MessagesReport, Report, Status};
use crate::rollout::Message;
use crate::view::{Form, Kind, NodeId, Place, Text, Tree, View, Write};

const MLFLOW_KEY: &str = "mlflow.chat.messages";
const GEN_AI_KEYS: [&str; 2] = ["gen_ai.input.messages", "gen_ai.output.messages"];
/// In which members of a call of Weave what stands, and how it begins.
const WEAVE: [(&str, &str, &str); 2] =
    [("inputs", "messages", "[{\"role\":\""), ("output", "choices", "[{\"index\":0,\"message\":{\"role\":\"")];
/// How the text of an attribute begins.
const IN_ATTRIBUTE: &str = "[{\"role\": \"";

/// Writes a conversation where the format has a place for it, and reports it.
pub(super) fn write(
    tree: &mut dyn Tree,
    view: &View,
    format: Format,
    conversation: Result<Conversation, Why>,
    report: &mut Report,
    writes: &mut Vec<Write>,
) {
    let mut places = Places { tree, view, found: Vec::new(), writes };
    let told = match format {
        Format::OtlpJson | Format::OtlpProto | Format::Mlflow => places.of_attributes(format, conversation),
        Format::Weave => conversation.and_then(|conversation| places.of_weave(&conversation)),
        Format::Trackio => places.of_trackio(conversation),
        _ => return,
    };
    let found = places.found;
    if let Err(Why(reason, detail)) = told {
        let mut skipped = MessagesReport::new(Status::Skipped, &view.path, 0);
        (skipped.reason, skipped.detail) = (Some(reason), Some(detail));
        report.messages(skipped);
    }
    found.into_iter().for_each(|place| report.messages(place));
}

struct Places<'p> {
    tree: &'p mut dyn Tree,
    view: &'p View,
    found: Vec<MessagesReport>,
    writes: &'p mut Vec<Write>,
}

impl Places<'_> {
    fn of_attributes(&mut self, format: Format, conversation: Result<Conversation, Why>) -> Result<(), Why> {
        let conversation = conversation?;
        let attributes = self.view.places.iter().find(|(name, _)| *name == "attributes");
        let Some((_, attributes)) = attributes.cloned() else {
            return Err(Why::new("no_place", "the span has no attributes"));
        };
        if format == Format::Mlflow || is_of_mlflow(self.tree, attributes.node) {
            let all = only_choice(&conversation)?;
            return self.put(&attributes, MLFLOW_KEY, json(&all, MLFLOW)?, all.len());
        }
        let outputs: Vec<&Message> = conversation.choices.iter().flatten().collect();
        let inputs = conversation.inputs.iter().collect();
        for (key, messages) in GEN_AI_KEYS.into_iter().zip([inputs, outputs]) {
            if !messages.is_empty() {
                self.put(&attributes, key, json(&messages, GEN_AI)?, messages.len())?;
            }
        }
        Ok(())
    }

    /// The last message of each choice is the answer; what came before it was the input of that.
    fn of_weave(&mut self, conversation: &Conversation) -> Result<(), Why> {
        let mut inputs: Vec<&Message> = conversation.inputs.iter().collect();
        let mut answers = Vec::new();
        for choice in &conversation.choices {
            let [before @ .., last] = &**choice else { continue };
            if conversation.choices.len() > 1 && !before.is_empty() {
                return Err(Why::new("several_choices", "several choices, of which one has several messages"));
            }
            inputs.extend(before);
            answers.push(last);
        }
        if !inputs.is_empty() {
            self.put_inside(WEAVE[0], json(&inputs, OPEN_AI)?, inputs.len())?;
        }
        if !answers.is_empty() {
            let mut choices = String::from("[");
            for (i, answer) in answers.iter().enumerate() {
                let index = i.to_string();
                let comma = if i > 0 { "," } else { "" };
                let message = json(&[answer], OPEN_AI)?;
                choices.push_str(&joined(&[comma, "{\"index\":", &index, ",\"message\":", unlisted(&message), "}"]));
            }
            choices.push(']');
            self.put_inside(WEAVE[1], choices, answers.len())?;
        }
        Ok(())
    }

    fn put_inside(&mut self, (place, key, _): (&str, &str, &str), json: String, count: usize) -> Result<(), Why> {
        let path = joined(&[&self.view.path, "/", place]);
        let node = self.tree.member(self.view.node, place).filter(|&node| self.tree.kind(node) == Kind::Object);
        if let Some(node) = node {
            return self.put(&Place { node, path }, key, json, count);
        }
        let mut report = MessagesReport::new(Status::Skipped, &joined(&[&path, "/", key]), 0);
        (report.reason, report.detail) = (Some("no_place"), Some(joined(&["`", &path, "` is no object"])));
        self.found.push(report);
        Ok(())
    }

    /// Writes a value under a key that is not there.
    fn put(&mut self, object: &Place, key: &str, json: String, count: usize) -> Result<(), Why> {
        let there = self.tree.member(object.node, key).is_some_and(|node| self.tree.kind(node) != Kind::Null);
        let (status, count) = if there { (Status::Kept, 0) } else { (Status::Decoded, count) };
        self.found.push(MessagesReport::new(status, &joined(&[&object.path, "/", key]), count));
        if !there {
            self.replace(object.node, key, json);
        }
        Ok(())
    }

    fn replace(&mut self, object: NodeId, key: &str, json: String) {
        let text = Text { texts: vec![json], form: Form::Json };
        self.writes.push(Write { object, key: key.to_owned(), before: None, text });
    }

    /// Puts messages in place of those whose content verl made of the inputs and the output. A span inside a trace has none.
    fn of_trackio(&mut self, conversation: Result<Conversation, Why>) -> Result<(), Why> {
        let messages = self.tree.member(self.view.node, "messages");
        let Some(messages) = messages.filter(|&messages| self.tree.kind(messages) == Kind::Array) else {
            return Ok(());
        };
        let conversation = conversation?;
        only_choice(&conversation)?;
        let outputs = conversation.choices.first().map_or(&[][..], |choice| choice);
        let elements = self.tree.elements(messages);
        let mut made = Vec::new();
        for &element in &elements {
            let of_element = match self.made_by_verl(element) {
                Some("inputs") => &conversation.inputs,
                Some(_) => outputs,
                None => &[],
            };
            made.push(of_element);
        }
        let path = joined(&[&self.view.path, "/messages"]);
        let count = made.iter().map(|of_element| of_element.len()).sum();
        if count == 0 {
            self.found.push(MessagesReport::new(Status::Kept, &path, 0));
            return Ok(());
        }
        let whole = self.tree.json(messages).into_owned();
        // What stands between the elements stays: a bracket, space and commas.
        let (mut out, mut copied, mut at) = (Vec::new(), 0, 1);
        for (&element, of_element) in elements.iter().zip(made) {
            let start = skip_space(&whole, at);
            let end = start + self.tree.json(element).len();
            if !of_element.is_empty() {
                let json = json(&of_element.iter().collect::<Vec<_>>(), OPEN_AI)?;
                out.extend_from_slice(whole.get(copied..start).unwrap_or_default());
                out.extend_from_slice(unlisted(&json).as_bytes());
                copied = end;
            }
            // Behind the comma.
            at = skip_space(&whole, end) + 1;
        }
        out.extend_from_slice(whole.get(copied..).unwrap_or_default());
        let Ok(json) = String::from_utf8(out) else {
            return Err(Why::new("no_place", "`messages` is no text"));
        };
        self.found.push(MessagesReport::new(Status::Replaced, &path, count));
        self.replace(self.view.node, "messages", json);
        Ok(())
    }

    /// Of what verl made the content of a message: `inputs` or `output`.
    fn made_by_verl(&mut self, message: NodeId) -> Option<&'static str> {
        if self.tree.kind(message) != Kind::Object {
            return None;
        }
        let role = self.tree.member(message, "role")?;
        let made_of = match &*self.tree.json(role) {
            b"\"user\"" => "inputs",
            b"\"assistant\"" => "output",
            _ => return None,
        };
        let content =
            self.tree.member(message, "content").filter(|&content| self.tree.kind(content) == Kind::String)?;
        let inside = self.tree.open_json(content).filter(|&inside| self.tree.kind(inside) == Kind::Object)?;
        let is_made = matches!(&*self.tree.members(inside), [(key, _)] if key == made_of);
        is_made.then_some(made_of)
    }
}

/// All messages of a conversation with at most one choice.
fn only_choice(conversation: &Conversation) -> Result<Vec<&Message>, Why> {
    match &*conversation.choices {
        [] => Ok(conversation.inputs.iter().collect()),
        [choice] => Ok(conversation.inputs.iter().chain(choice).collect()),
        _ => Err(Why::new("several_choices", "the span has several choices, and the place is for one conversation")),
    }
}

fn json(messages: &[&Message], shape: Shape) -> Result<String, Why> {
    json_of(messages, shape).map_err(|role| Why::new("unknown_role", format!("the backend knows no role `{role}`")))
}

/// The elements of a list of JSON.
fn unlisted(list: &str) -> &str {
    list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or_default()
}

/// The members of a span that look as [`write`] writes them, for `strip`.
pub(super) fn written(tree: &mut dyn Tree, view: &View, format: Format) -> Vec<(NodeId, &'static str)> {
    let mut candidates = Vec::new();
    let attributes = view.places.iter().find(|(name, _)| *name == "attributes").map(|(_, place)| place.node);
    match (format, attributes) {
        (Format::OtlpJson | Format::OtlpProto | Format::Mlflow, Some(attributes)) => {
            candidates.extend([MLFLOW_KEY, GEN_AI_KEYS[0], GEN_AI_KEYS[1]].map(|key| (attributes, key, IN_ATTRIBUTE)));
        }
        (Format::Weave, _) => {
            for (place, key, beginning) in WEAVE {
                candidates.extend(tree.member(view.node, place).map(|object| (object, key, beginning)));
            }
        }
        _ => {}
    }
    candidates.retain(|&(object, key, beginning)| {
        let Some(node) = tree.member(object, key) else { return false };
        let json = tree.json(node);
        string_content(&json).unwrap_or(json.clone()).starts_with(beginning.as_bytes())
    });
    candidates.into_iter().map(|(object, key, _)| (object, key)).collect()
}
