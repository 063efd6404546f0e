//! A rollout, cut and counted, and what is wrong with it.

use super::calls::Call;
use super::chat::Chat;
use super::findings::{Context, Finding, Side, of_call, of_disagreement, of_join, quoted};
use super::joins::{Divergence, Known, Tokens};
use super::later::CallFinder;
use super::messages::Message;
use super::overview::Traces;
use super::request::Request;
use super::rollouts::{Rollout, rollouts};
use super::segments::{Segment, segments};
use super::statistics::Statistics;
use super::totals::{Totals, counted};
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
    /// The spans. Fields that are the prompt and the response of one call have no ids any more: the call has them.
    pub spans: Vec<Span>,
    /// Their calls, those of one tokenizer in a row. Log-probabilities, and whether they fit, are read when a rollout is looked at
    /// ([`Rollouts::call`]): they are here only in spans with rows or choices.
    pub calls: Vec<Call>,
    /// Which of them belong together.
    pub list: Vec<Rollout>,
    pub(super) traces: Traces,
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
        Rollouts::of(spans, CallFinder::default(), tokenizers, options)
    }

    /// As [`Rollouts::new`], with the calls of those spans that were looked at before.
    pub(crate) fn of(
        mut spans: Vec<Span>,
        calls: CallFinder,
        tokenizers: TokenizerSet,
        options: CheckOptions,
    ) -> Result<Rollouts, Error> {
        let (calls, traces) = (calls.finish(&mut spans), Traces::of(&spans));
        let (list, chats, none) = (Vec::new(), Vec::new(), TokenizerSet::new());
        let mut all =
            Rollouts { spans, calls, list, traces, tokenizers: none, chats, options: CheckOptions::default() };
        all.use_tokenizers(tokenizers, options)?;
        Ok(all)
    }

    /// Looks at the same spans with other tokenizers. Which calls belong together may change, and where they stand in the lists.
    ///
    /// # Errors
    /// As [`Rollouts::new`]; then nothing has changed.
    pub fn use_tokenizers(&mut self, tokenizers: TokenizerSet, options: CheckOptions) -> Result<(), Error> {
        if options.drift && !cfg!(feature = "general") {
            let what = "`drift` needs the general engine; use a build that has it";
            return Err(Error::new(ErrorCode::EngineNotAvailable, what));
        }
        let mut chats: Vec<(String, Option<Chat>)> = Vec::new();
        let mut chat_of_span = Vec::with_capacity(self.spans.len());
        for span in &self.spans {
            let has_fields = !span.fields.is_empty();
            let found = tokenizers.find(span.model.as_deref()).filter(|_| has_fields);
            chat_of_span.push(match found {
                Some((pattern, tokenizer)) => Some(bind(&mut chats, pattern, tokenizer, &options)?),
                None => None,
            });
        }
        // In the order of the spans, in which they came; those of a span stand in order already.
        let mut calls: Vec<Vec<Call>> = self.spans.iter().map(|_| Vec::new()).collect();
        for call in std::mem::take(&mut self.calls) {
            if let Some(of_span) = calls.get_mut(call.span) {
                of_span.push(call);
            }
        }
        // Ids of two tokenizers have nothing in common.
        let mut parts: Vec<(Option<usize>, Vec<Call>)> = Vec::new();
        for call in calls.into_iter().flatten() {
            let chat = chat_of_span.get(call.span).copied().flatten();
            match parts.iter_mut().find(|(known, _)| *known == chat) {
                Some((_, calls)) => calls.push(call),
                None => parts.push((chat, vec![call])),
            }
        }
        self.list.clear();
        (self.tokenizers, self.chats, self.options) = (tokenizers, chats, options);
        for (chat, mut calls) in parts {
            let start = self.calls.len();
            let mut found = match chat.and_then(|chat| self.known(chat)) {
                Some(known) => rollouts(&self.spans, &calls, &known as &dyn Tokens),
                None => rollouts(&self.spans, &calls, &()),
            };
            for node in found.iter_mut().flat_map(|rollout| &mut rollout.nodes) {
                node.call += start;
            }
            self.calls.append(&mut calls);
            self.list.append(&mut found);
        }
        Ok(())
    }

    fn known(&self, chat: usize) -> Option<Known<'_>> {
        let (pattern, chat) = self.chats.get(chat)?;
        let tokenizer = self.tokenizers.get(pattern)?;
        Some(Known { tokenizer, chat: chat.as_ref() })
    }

    /// The pattern of the tokenizer for a rollout; none if none is for its model.
    pub fn tokenizer(&self, rollout: &Rollout) -> Option<&str> {
        self.tokenizers.find(self.model(rollout)).map(|(pattern, _)| pattern)
    }

    /// The model of a rollout, if its first span says so.
    pub fn model(&self, rollout: &Rollout) -> Option<&str> {
        self.span(rollout, 0)?.model.as_deref()
    }

    /// What its calls share as `request_id`, as its first span has it.
    pub(super) fn request_id(&self, rollout: &Rollout) -> Option<String> {
        self.span(rollout, 0)?.request_id.clone()
    }

    /// The span of a call of a rollout.
    pub(super) fn span(&self, rollout: &Rollout, node: usize) -> Option<&Span> {
        self.spans.get(self.calls.get(rollout.nodes.get(node)?.call)?.span)
    }

    /// Looks at a rollout of the list. One that is not there has nothing in it.
    ///
    /// # Errors
    /// With `drift`: `engine_not_available` if the tokenizer was not loaded to encode.
    pub fn check(&self, at: usize) -> Result<Checked, Error> {
        let Some(rollout) = self.list.get(at) else { return Ok(Checked::default()) };
        let model = self.model(rollout);
        let known =
            self.tokenizer(rollout).and_then(|pattern| self.chats.iter().position(|(known, _)| known == pattern));
        let mut checked = Checked { request_id: self.request_id(rollout), ..Checked::default() };
        let Some((known, chat)) = known.and_then(|at| Some((self.known(at)?, self.chats.get(at)?))) else {
            checked.calls.resize(rollout.nodes.len(), CheckedCall::default());
            checked.findings.push(no_tokenizer(model));
            return Ok(checked);
        };
        checked.tokenizer = Some(chat.0.clone());
        checked.template = known.chat.map(|chat| chat.name().to_owned());
        for (node, is_counted) in counted(&rollout.nodes).into_iter().enumerate() {
            self.look_at(rollout, node, is_counted, known, &mut checked)?;
        }
        if known.chat.is_none() {
            let what = "no known chat template has the tokenizer's special tokens";
            checked.findings.push(Finding::new("no_template", 0, None, what.to_owned()));
        }
        checked.totals = Totals::of(&rollout.nodes, &checked.calls);
        checked.findings.sort_by_key(|finding| finding.call);
        Ok(checked)
    }

    fn look_at(
        &self,
        rollout: &Rollout,
        at: usize,
        is_counted: bool,
        known: Known<'_>,
        checked: &mut Checked,
    ) -> Result<(), Error> {
        let node = &rollout.nodes[at];
        let Some(call) = self.call(node.call) else { return Ok(()) };
        let call = &*call;
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
            is_counted,
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

/// The chat template of a tokenizer, a position in the list.
fn bind(
    chats: &mut Vec<(String, Option<Chat>)>,
    pattern: &str,
    tokenizer: &Tokenizer,
    options: &CheckOptions,
) -> Result<usize, Error> {
    if let Some(known) = chats.iter().position(|(known, _)| known == pattern) {
        return Ok(known);
    }
    let chat = match &options.template {
        None => Chat::of(tokenizer),
        Some(name) => Some(Chat::named(name, tokenizer).ok_or_else(|| no_template(name))?),
    };
    chats.push((pattern.to_owned(), chat));
    Ok(chats.len() - 1)
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
