//! A rollout, cut and counted, and what is wrong with it.

use super::calls::{Call, calls};
use super::chat::Chat;
use super::findings::{Context, Finding, Side, of_call, of_disagreement, of_join, quoted};
use super::joins::{Divergence, Known, Tokens};
use super::messages::Message;
use super::request::Request;
use super::rollouts::{Rollout, rollouts};
use super::segments::{Segment, segments};
use super::statistics::Statistics;
use super::totals::{Totals, is_counted};
use crate::span::Span;
use crate::tokenizer::{Tokenizer, TokenizerSet};
use crate::{Error, ErrorCode};

/// How rollouts are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Whether texts are encoded again, to see where that gives other ids. It needs a build with the feature `general` and
    /// tokenizers that encode.
    pub drift: bool,
    /// Most tokens of a call, padding apart.
    pub max_tokens: Option<usize>,
    /// Name of the chat template; none takes the one whose marks the tokenizer has.
    pub template: Option<String>,
}

/// The rollouts of some spans.
///
/// ```
/// use token2text::rollout::{CheckOptions, Rollouts};
/// use token2text::{ReadOptions, Tokenizer, TokenizerSet, read};
///
/// let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[]}}"#;
/// let body = br#"{"inputs":{"prompt_ids":[0,1]},"outputs":{"token_ids":[1],"log_probs":[0.5]}}
/// {"inputs":{"prompt_ids":[0,1,1,0]},"outputs":{"token_ids":[2],"log_probs":[-0.1]}}"#;
/// let spans = read(body, &ReadOptions::default())?;
/// let tokenizers = TokenizerSet::from(Tokenizer::from_json(json)?);
/// let rollouts = Rollouts::new(spans, tokenizers, CheckOptions::default())?;
/// let found = &rollouts.check(0)?.findings[0];
/// assert_eq!(found.code, "bad_logprob");
/// assert_eq!(found.message, "token 2 has 0.5: no log-probability of a token that was sampled");
/// # Ok::<(), token2text::Error>(())
/// ```
#[derive(Debug)]
pub struct Rollouts {
    /// The spans.
    pub spans: Vec<Span>,
    /// Their calls, those of one tokenizer in a row.
    pub calls: Vec<Call>,
    /// Which of them belong together.
    pub list: Vec<Rollout>,
    tokenizers: TokenizerSet,
    /// The pattern of each tokenizer that is needed, and the chat template that fits it.
    chats: Vec<(String, Option<Chat>)>,
    options: CheckOptions,
}

/// A rollout, cut and counted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// Pattern of the tokenizer; none if none is for the model, so that nothing could be looked at.
    pub tokenizer: Option<String>,
    /// Name of the chat template.
    pub template: Option<String>,
    /// What its calls share as `request_id`.
    pub request_id: Option<String>,
    /// What each of its nodes holds, in their order.
    pub calls: Vec<CheckedCall>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Sums over its turns.
    pub totals: Totals,
}

/// A call, cut and counted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CheckedCall {
    /// Whose which token is.
    pub segments: Vec<Segment>,
    /// The messages in which the tokens stand that are new in this call.
    pub messages: Vec<Message>,
    /// Sums over these tokens.
    pub statistics: Statistics,
    /// Where it begins to differ from its parent, unless it extends it.
    pub divergence: Option<DivergedText>,
}

/// Where a prompt begins to differ from the call that it goes on from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DivergedText {
    /// Position of the first difference, in either list.
    pub at: usize,
    /// What stands there in the call before, and in the prompt: up to sixteen ids of each, and their text.
    pub sides: [Side; 2],
}

impl DivergedText {
    fn of(divergence: &Divergence, tokenizer: &Tokenizer) -> DivergedText {
        let sides = [&divergence.turn, &divergence.prompt].map(|ids| Side::of(ids, tokenizer));
        DivergedText { at: divergence.at, sides }
    }
}

impl Rollouts {
    /// Finds the calls of spans, and which belong together.
    ///
    /// # Errors
    /// `invalid_options` if there is no chat template of the name that was given, or a tokenizer has not got its marks;
    /// `engine_not_available` for `drift` in a build without the general engine.
    pub fn new(spans: Vec<Span>, tokenizers: TokenizerSet, options: CheckOptions) -> Result<Rollouts, Error> {
        if options.drift && !cfg!(feature = "general") {
            let what = "`drift` needs the general engine; use a build that has it";
            return Err(Error::new(ErrorCode::EngineNotAvailable, what));
        }
        let mut all = Rollouts { spans, calls: Vec::new(), list: Vec::new(), tokenizers, chats: Vec::new(), options };
        // Ids of two tokenizers have nothing in common.
        let mut parts: Vec<(Option<usize>, Vec<Call>)> = Vec::new();
        for call in calls(&all.spans) {
            let chat = all.bind(all.spans.get(call.span).and_then(|span| span.model.clone()).as_deref())?;
            match parts.iter_mut().find(|(known, _)| *known == chat) {
                Some((_, calls)) => calls.push(call),
                None => parts.push((chat, vec![call])),
            }
        }
        for (chat, calls) in parts {
            let start = all.calls.len();
            let mut found = match chat.and_then(|chat| all.known(chat)) {
                Some(known) => rollouts(&all.spans, &calls, &known as &dyn Tokens),
                None => rollouts(&all.spans, &calls, &()),
            };
            for node in found.iter_mut().flat_map(|rollout| &mut rollout.nodes) {
                node.call += start;
            }
            all.calls.extend(calls);
            all.list.append(&mut found);
        }
        Ok(all)
    }

    /// The chat template of a model's tokenizer, a position in the list; none if there is no tokenizer.
    fn bind(&mut self, model: Option<&str>) -> Result<Option<usize>, Error> {
        let Some((pattern, tokenizer)) = self.tokenizers.find(model) else { return Ok(None) };
        if let Some(known) = self.chats.iter().position(|(known, _)| known == pattern) {
            return Ok(Some(known));
        }
        let chat = match &self.options.template {
            None => Chat::of(tokenizer),
            Some(name) => Some(Chat::named(name, tokenizer).ok_or_else(|| no_template(name))?),
        };
        self.chats.push((pattern.to_owned(), chat));
        Ok(Some(self.chats.len() - 1))
    }

    fn known(&self, chat: usize) -> Option<Known<'_>> {
        let (pattern, chat) = self.chats.get(chat)?;
        let tokenizer = self.tokenizers.get(pattern)?;
        Some(Known { tokenizer, chat: chat.as_ref() })
    }

    /// The model of a rollout, if its first span says so.
    pub fn model(&self, rollout: &Rollout) -> Option<&str> {
        self.span(rollout, 0)?.model.as_deref()
    }

    fn span(&self, rollout: &Rollout, node: usize) -> Option<&Span> {
        self.spans.get(self.calls.get(rollout.nodes.get(node)?.call)?.span)
    }

    /// Looks at a rollout of the list. One that is not there has nothing in it.
    ///
    /// # Errors
    /// With `drift`: `engine_not_available` if the tokenizer was not loaded to encode.
    pub fn check(&self, at: usize) -> Result<Checked, Error> {
        let Some(rollout) = self.list.get(at) else { return Ok(Checked::default()) };
        let model = self.model(rollout);
        let request = self.span(rollout, 0).map(Request::of).unwrap_or_default();
        let known = self.tokenizers.find(model).map(|(pattern, _)| pattern);
        let known = known.and_then(|pattern| self.chats.iter().position(|(known, _)| known == pattern));
        let mut checked = Checked { request_id: request.id, ..Checked::default() };
        let Some((known, chat)) = known.and_then(|at| Some((self.known(at)?, self.chats.get(at)?))) else {
            checked.calls.resize(rollout.nodes.len(), CheckedCall::default());
            checked.findings.push(no_tokenizer(model));
            return Ok(checked);
        };
        checked.tokenizer = Some(chat.0.clone());
        checked.template = known.chat.map(|chat| chat.name().to_owned());
        for node in 0..rollout.nodes.len() {
            self.look_at(rollout, node, known, &mut checked)?;
        }
        if known.chat.is_none() {
            let what = "no known chat template has the tokenizer's special tokens";
            checked.findings.push(Finding::new("no_template", 0, None, what.to_owned()));
        }
        checked.totals = Totals::of(&rollout.nodes, &checked.calls);
        checked.findings.sort_by_key(|finding| finding.call);
        Ok(checked)
    }

    fn look_at(&self, rollout: &Rollout, at: usize, known: Known<'_>, checked: &mut Checked) -> Result<(), Error> {
        let node = &rollout.nodes[at];
        let call = &self.calls[node.call];
        let Known { tokenizer, chat } = known;
        let mut messages = chat.map_or(Vec::new(), |chat| chat.messages(&call.ids, tokenizer));
        let parent = node.parent.and_then(|parent| checked.calls.get(parent));
        let history = parent.map_or(Vec::new(), |parent| up_to(&parent.segments, node.common()));
        let segments = segments(call, chat, &messages, &history);
        let from = node.continued();
        let statistics = Statistics::of(call, chat, &segments, &messages, from);
        let context = Context {
            at,
            tokenizer,
            chat,
            is_counted: is_counted(&rollout.nodes, at),
            most_written: Request::of(&self.spans[call.span]).most_written,
            most_tokens: self.options.max_tokens,
        };
        checked.findings.extend(of_call(call, &statistics, &context));
        let divergence = node.join.as_ref().and_then(|join| join.divergence.as_ref());
        let divergence = divergence.map(|divergence| DivergedText::of(divergence, tokenizer));
        if let (Some(join), Some(divergence)) = (&node.join, &divergence) {
            checked.findings.extend(of_join(join, divergence, &context));
        }
        checked.findings.extend(node.disagreements.iter().map(|found| of_disagreement(found, &context)));
        messages.retain(|message| message.tokens[1] > from);
        #[cfg(feature = "general")]
        if self.options.drift && context.is_counted {
            // From the message on that the new tokens begin in, or end: what stands before a mark changes nothing behind it.
            let start = messages.first().map_or(from, |message| message.tokens[0]);
            checked.findings.extend(super::drift::findings::of_call(call, [start, from], &context)?);
        }
        checked.calls.push(CheckedCall { segments, messages, statistics, divergence });
        Ok(())
    }
}

/// The segments before a token.
fn up_to(segments: &[Segment], end: usize) -> Vec<Segment> {
    segments.iter().filter_map(|segment| segment.up_to(end)).collect()
}

#[cold]
fn no_template(name: &str) -> Error {
    let known: Vec<&str> = Chat::names().collect();
    let what = format!("no chat template `{name}` fits the tokenizer; there are {}", known.join(", "));
    Error::new(ErrorCode::InvalidOptions, what)
}

fn no_tokenizer(model: Option<&str>) -> Finding {
    let what = match model {
        Some(model) => format!("no tokenizer is given for the model {}", quoted(model)),
        None => "no tokenizer is given for calls that name no model".to_owned(),
    };
    Finding::new("no_tokenizer", 0, None, what)
}
