//! Messages as the JSON of backends.

use crate::json::quote_into;
use crate::rollout::Message;

/// How messages are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// With a space behind commas and colons, as Python writes JSON.
    is_spaced: bool,
    /// In parts, as the semantic conventions of OpenTelemetry have them; else as OpenAI's API.
    has_parts: bool,
    /// The roles that the backend knows, and what others are to it. Without any it takes all.
    roles: &'static [(&'static str, &'static str)],
}

/// As OpenAI's API.
pub(super) const OPEN_AI: Shape = Shape { is_spaced: false, has_parts: false, roles: &[] };

/// MLflow shows no conversation in which a message has another role.
pub(super) const MLFLOW: Shape = Shape { is_spaced: true, has_parts: false, roles: &MLFLOW_ROLES };

const MLFLOW_ROLES: [(&str, &str); 5] =
    [("system", "system"), ("developer", "system"), ("user", "user"), ("assistant", "assistant"), ("tool", "tool")];

/// As OpenTelemetry's `gen_ai.input.messages`.
pub(super) const GEN_AI: Shape = Shape { is_spaced: true, has_parts: true, roles: &[] };

/// What stands around reasoning where it has no place of its own. Templates differ in their marks; these are the most common.
const REASONING: [&str; 2] = ["<think>\n", "\n</think>\n\n"];

/// A list of messages as JSON.
///
/// # Errors
/// The first role that the backend does not know.
pub(super) fn json_of(messages: &[&Message], shape: Shape) -> Result<String, String> {
    let mut writer = Writer { out: Vec::new(), shape };
    // The calls that wait for their results.
    let mut calls = Vec::new();
    writer.open(b'[');
    for message in messages {
        writer.message(message, &mut calls)?;
    }
    writer.close(b']');
    Ok(String::from_utf8(writer.out).unwrap_or_default())
}

struct Writer {
    out: Vec<u8>,
    shape: Shape,
}

impl Writer {
    fn message(&mut self, message: &Message, calls: &mut Vec<String>) -> Result<(), String> {
        let role = message.role.as_deref().unwrap_or_default();
        let known = self.shape.roles.iter().find(|(name, _)| *name == role);
        if known.is_none() && !self.shape.roles.is_empty() {
            return Err(role.to_owned());
        }
        self.open(b'{');
        self.member("role", known.map_or(role, |(_, role)| role));
        if self.shape.has_parts {
            self.parts(message, role);
        } else {
            self.plain(message, role, calls);
        }
        self.close(b'}');
        Ok(())
    }

    fn plain(&mut self, message: &Message, role: &str, calls: &mut Vec<String>) {
        let mut content = message.content.clone();
        if let Some(reasoning) = &message.reasoning {
            content = [REASONING[0], reasoning, REASONING[1], &content].concat();
        }
        self.member("content", &content);
        if role == "tool" && !calls.is_empty() {
            let id = calls.remove(0);
            self.member("tool_call_id", &id);
        }
        if message.tool_calls.is_empty() {
            return;
        }
        calls.clear();
        self.key("tool_calls");
        self.open(b'[');
        for (i, call) in message.tool_calls.iter().enumerate() {
            // Models give their calls no ids. The place of a message in the list is one that stays.
            let id = format!("call_{}_{i}", message.tokens[0]);
            self.open(b'{');
            self.member("id", &id);
            self.member("type", "function");
            self.key("function");
            self.open(b'{');
            self.member("name", &call.name);
            self.member("arguments", &call.arguments);
            self.close(b'}');
            self.close(b'}');
            calls.push(id);
        }
        self.close(b']');
    }

    fn parts(&mut self, message: &Message, role: &str) {
        self.key("parts");
        self.open(b'[');
        if let Some(reasoning) = &message.reasoning {
            self.part("reasoning", &[("content", reasoning)]);
        }
        let is_silent = message.content.is_empty() && (message.reasoning.is_some() || !message.tool_calls.is_empty());
        if role == "tool" {
            self.part("tool_call_response", &[("response", &message.content)]);
        } else if !is_silent {
            self.part("text", &[("content", &message.content)]);
        }
        for call in &message.tool_calls {
            self.part("tool_call", &[("name", &call.name)]);
            // Behind its last member.
            self.out.pop();
            self.key("arguments");
            self.out.extend_from_slice(call.arguments.as_bytes());
            self.close(b'}');
        }
        self.close(b']');
    }

    fn part(&mut self, of_type: &str, members: &[(&str, &str)]) {
        self.open(b'{');
        self.member("type", of_type);
        for (key, text) in members {
            self.member(key, text);
        }
        self.close(b'}');
    }

    fn member(&mut self, key: &str, text: &str) {
        self.key(key);
        quote_into(text.as_bytes(), &mut self.out);
    }

    fn key(&mut self, key: &str) {
        self.separate();
        quote_into(key.as_bytes(), &mut self.out);
        self.out.push(b':');
        self.space();
    }

    fn open(&mut self, bracket: u8) {
        self.separate();
        self.out.push(bracket);
    }

    fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
    }

    /// A comma, where something stands before in the same object or list.
    fn separate(&mut self) {
        let before = self.out.iter().rev().find(|byte| **byte != b' ');
        if before.is_some_and(|byte| !matches!(byte, b'[' | b'{' | b':')) {
            self.out.push(b',');
            self.space();
        }
    }

    fn space(&mut self) {
        if self.shape.is_spaced {
            self.out.push(b' ');
        }
    }
}
