//! What is wrong with a call, in words that stand alone in a log.

use super::calls::Call;
use super::chat::Chat;
use super::check::DivergedText;
use super::cover::{Disagreement, DisagreementKind};
use super::joins::{Join, JoinKind};
use super::segments::SegmentKind;
use super::statistics::Statistics;
use crate::json::double::print::double_into;
use crate::json::{lossy, quote_into};
use crate::tokenizer::Tokenizer;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Level {
    /// Worth knowing.
    Info,
    /// May spoil the training.
    Warning,
    /// What was trained on is not what the model saw or wrote.
    Error,
}

impl Level {
    /// The name in JavaScript.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// Each code that a finding can have, its level, and what it means.
pub const CODES: [(&str, Level, &str); 21] = [
    ("unreadable", Level::Error, "A field of ids, or a line, could not be read."),
    ("unknown_ids", Level::Error, "The tokenizer has no token for some ids: it is not the one that the model has."),
    ("length_mismatch", Level::Error, "A mask or a list of log-probabilities is not as long as the ids."),
    ("bad_logprob", Level::Error, "A log-probability of a token of the model is above zero, or no finite number."),
    ("retokenized", Level::Error, "The next prompt spells the same text with other ids than the model wrote or read."),
    ("trajectory_mismatch", Level::Error, "The ids of a trajectory are not those of its turns."),
    (
        "mask_mismatch",
        Level::Error,
        "The mask of a trajectory says that the model wrote what no turn wrote, or the reverse.",
    ),
    ("edited_history", Level::Warning, "The next prompt has another text than what came before it."),
    ("mask_all_zero", Level::Warning, "The mask leaves nothing to learn from."),
    ("logprob_where_masked", Level::Warning, "Tokens that the mask leaves out have log-probabilities."),
    ("over_limit", Level::Warning, "There are more tokens than the request or the caller allows."),
    ("mark_in_text", Level::Warning, "The model wrote a token of the chat template where none belongs."),
    ("loop", Level::Warning, "The model repeats itself."),
    (
        "special_as_text",
        Level::Warning,
        "The model spelled a special token letter by letter: as text it is another token.",
    ),
    ("invalid_utf8", Level::Warning, "The bytes of the tokens are no text, so no text can give these ids back."),
    ("no_tokenizer", Level::Warning, "No tokenizer is given for the model: nothing but the ids could be looked at."),
    ("drift_unchecked", Level::Warning, "The text could not be encoded again, so drift was not looked at."),
    ("drift", Level::Info, "Encoding the text gives other ids than the model wrote."),
    ("truncated", Level::Info, "The model's text has no end: it ran into a limit or was stopped."),
    ("thinking_stripped", Level::Info, "The next prompt has the history without the model's thoughts."),
    ("no_template", Level::Info, "No known chat template fits the tokenizer: messages and padding are not told apart."),
];

/// Something to look at.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// One of [`CODES`].
    pub code: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What is wrong, and where, in a sentence.
    pub message: String,
    /// Position of the call among all.
    pub call: usize,
    /// The tokens of the call that it is about, `[start, end)`.
    pub tokens: Option<[usize; 2]>,
    /// Where two lists part: what stands in the call before, or of drift in the trace; and in this call, or in what its text is
    /// encoded to.
    pub sides: Option<[Side; 2]>,
}

/// Some ids, and their text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Side {
    /// The ids.
    pub ids: Vec<u32>,
    /// Their text.
    pub text: String,
}

impl Side {
    pub(super) fn of(ids: &[u32], tokenizer: &Tokenizer) -> Side {
        Side { ids: ids.to_vec(), text: tokenizer.decode(ids, Default::default()) }
    }
}

impl Finding {
    /// A finding of a code, whose level stands in the table.
    pub(super) fn new(code: &'static str, call: usize, tokens: Option<[usize; 2]>, message: String) -> Finding {
        let level = CODES.iter().find(|(known, ..)| *known == code).map_or(Level::Error, |(_, level, _)| *level);
        Finding { code, level, message, call, tokens, sides: None }
    }
}

/// What is known of a call besides its ids.
pub(super) struct Context<'c> {
    /// Position of the call among all.
    pub at: usize,
    pub tokenizer: &'c Tokenizer,
    pub chat: Option<&'c Chat>,
    /// Whether its text is looked at, which stands in another call too if not.
    pub is_counted: bool,
    /// Most tokens that the model was to write in the call, if the request says so.
    pub most_written: Option<usize>,
    /// Most tokens of a whole call, if the caller says so.
    pub most_tokens: Option<usize>,
}

/// What is wrong with a call by itself.
pub(super) fn of_call(call: &Call, statistics: &Statistics, context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |code, tokens, message| findings.push(Finding::new(code, context.at, tokens, message));
    unknown_ids(call, context.tokenizer, &mut found);
    for misfit in &call.misfits {
        let list = if misfit.list == "mask" { "mask" } else { "list of log-probabilities" };
        let message = format!("the {list} has {} for {}", count(misfit.len, "item"), count(misfit.ids, "id"));
        found("length_mismatch", None, message);
    }
    masks_and_logprobs(call, statistics, &mut found);
    if context.is_counted {
        text(call, statistics, context, &mut found);
    }
    findings
}

type Found<'f> = dyn FnMut(&'static str, Option<[usize; 2]>, String) + 'f;

/// What is wrong with the text of a call.
fn text(call: &Call, statistics: &Statistics, context: &Context<'_>, found: &mut Found<'_>) {
    lengths(call, statistics, context, found);
    let mut marks: Vec<(u32, usize, usize)> = Vec::new();
    for &at in &statistics.marks_inside {
        let Some(&id) = call.ids.get(at) else { continue };
        match marks.iter_mut().find(|(known, ..)| *known == id) {
            Some((_, _, more)) => *more += 1,
            None => marks.push((id, at, 0)),
        }
    }
    for (_, at, more) in marks {
        let mark = text_of(call, context.tokenizer, at);
        let mut message = format!("the model wrote {mark} at token {at}, inside its own text");
        if more > 0 {
            message += &format!("; {more} more of it");
        }
        found("mark_in_text", Some([at, at + 1]), message);
    }
    for repeated in &statistics.loops {
        let [start, end] = repeated.tokens;
        let rounds = (end - start) / repeated.period;
        let message =
            format!("{rounds} rounds of the same {} from token {start} to {end}", count(repeated.period, "token"));
        found("loop", Some(repeated.tokens), message);
    }
}

/// What a trajectory and its turns disagree on.
pub(super) fn of_disagreement(found: &Disagreement, context: &Context<'_>) -> Finding {
    let turn = found.turn.map_or_else(|| "any turn".to_owned(), |turn| format!("call {turn}"));
    let (code, what) = match found.kind {
        DisagreementKind::Ids => ("trajectory_mismatch", format!("the ids are not those of {turn}")),
        DisagreementKind::MaskOnes => ("mask_mismatch", "the mask is 1 where no turn wrote".to_owned()),
        DisagreementKind::MaskZeros => ("mask_mismatch", format!("the mask is 0 where {turn} wrote")),
    };
    let [start, end] = found.tokens;
    Finding::new(code, context.at, Some(found.tokens), format!("{what}, from token {start} to {end}"))
}

/// What is wrong with how a call goes on from the one before.
pub(super) fn of_join(join: &Join, divergence: &DivergedText, context: &Context<'_>) -> Option<Finding> {
    let (code, what) = match join.kind {
        JoinKind::Retokenized => ("retokenized", "the prompt has the same text as the call before in other ids"),
        JoinKind::Edited => ("edited_history", "the prompt has another text than the call before"),
        JoinKind::ThinkingStripped => ("thinking_stripped", "the prompt has no thoughts of the calls before"),
        _ => return None,
    };
    let at = divergence.at;
    let [_, after] = &divergence.sides;
    let message = format!("{what}, from token {at} on");
    let mut finding = Finding::new(code, context.at, Some([at, at + after.ids.len()]), message);
    finding.sides = Some(divergence.sides.clone());
    Some(finding)
}

fn unknown_ids(call: &Call, tokenizer: &Tokenizer, found: &mut Found<'_>) {
    let mut unknown = call.ids.iter().enumerate().filter(|&(_, &id)| !tokenizer.contains(id));
    let Some((at, id)) = unknown.next() else { return };
    let all = unknown.count() + 1;
    let message = format!("the tokenizer does not know {all} of {}; the first is {id} at token {at}", call.ids.len());
    found("unknown_ids", Some([at, at + 1]), message);
}

/// Above zero by more than rounding.
const ROUNDING: f64 = 1e-3;

fn masks_and_logprobs(call: &Call, statistics: &Statistics, found: &mut Found<'_>) {
    let responses = call.response_ids().len();
    if call.mask.as_ref().is_some_and(|mask| responses > 0 && !mask.contains(&true)) {
        found(
            "mask_all_zero",
            Some([call.prompt, call.ids.len()]),
            format!("the mask is 0 for all {}", count(responses, "token")),
        );
    }
    let Some(logprobs) = &call.logprobs else { return };
    // A list of nothing but gaps says that none were asked for.
    if statistics.logprobs.is_none() && logprobs.iter().all(|logprob| logprob.is_nan()) {
        return;
    }
    let (mut bad, mut masked) = (Tally::default(), Tally::default());
    for (at, &logprob) in (call.prompt..).zip(logprobs) {
        let is_masked = call.mask.as_ref().is_some_and(|mask| mask.get(at - call.prompt) == Some(&false));
        let is_sampled = logprob.is_finite() && logprob <= ROUNDING;
        match is_masked {
            true if logprob != 0.0 && !logprob.is_nan() => masked.add(at, logprob),
            false if !is_sampled => bad.add(at, logprob),
            _ => {}
        }
    }
    if let Some((tokens, words)) = bad.told() {
        found("bad_logprob", Some(tokens), format!("{words}: no log-probability of a token that was sampled"));
    }
    if let Some((tokens, words)) = masked.told() {
        found("logprob_where_masked", Some(tokens), format!("{words}, where the mask is 0"));
    }
}

/// Log-probabilities of a kind: how many, and the first and the last place.
#[derive(Default)]
struct Tally {
    count: usize,
    first: usize,
    end: usize,
    logprob: f64,
}

impl Tally {
    fn add(&mut self, at: usize, logprob: f64) {
        if self.count == 0 {
            (self.first, self.logprob) = (at, logprob);
        }
        self.count += 1;
        self.end = at + 1;
    }

    fn told(&self) -> Option<([usize; 2], String)> {
        let words = match self.count {
            0 => return None,
            1 => format!("token {} has {}", self.first, number(self.logprob)),
            all => format!("{all} from token {} to {}, the first {}", self.first, self.end, number(self.logprob)),
        };
        Some(([self.first, self.end], words))
    }
}

fn lengths(call: &Call, statistics: &Statistics, context: &Context<'_>, found: &mut Found<'_>) {
    let written = statistics.tokens[SegmentKind::Model as usize];
    if let Some(most) = context.most_written.filter(|&most| written > most) {
        let message = format!("the model wrote {}, the request allows {most}", count(written, "token"));
        found("over_limit", Some([call.prompt, call.ids.len()]), message);
    }
    let len = call.ids.len() - statistics.tokens[SegmentKind::Padding as usize];
    if let Some(most) = context.most_tokens.filter(|&most| len > most) {
        found(
            "over_limit",
            Some([0, call.ids.len()]),
            format!("there are {}, the limit is {most}", count(len, "token")),
        );
    }
    if statistics.is_truncated == Some(true) && context.chat.is_some() {
        let end = call.ids.len();
        let message = format!("the model's text ends with {}, no end token", text_of(call, context.tokenizer, end - 1));
        found("truncated", Some([end - 1, end]), message);
    }
}

/// So many of something, in words.
pub(super) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The text of a token in quotes, with escapes.
fn text_of(call: &Call, tokenizer: &Tokenizer, at: usize) -> String {
    let ids = call.ids.get(at..at + 1).unwrap_or_default();
    quoted(&tokenizer.decode(ids, Default::default()))
}

/// A text in quotes, with the escapes of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = Vec::new();
    quote_into(text.as_bytes(), &mut quoted);
    lossy(quoted)
}

fn number(number: f64) -> String {
    let mut text = Vec::new();
    double_into(number, &mut text);
    lossy(text)
}
