//! What a call counts up to.

use super::calls::Call;
use super::chat::{Chat, Mark};
use super::loops::{Loop, loops};
use super::messages::Message;
use super::segments::{Segment, SegmentKind};

/// Counts and sums over the tokens of a call.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of tokens of each kind, in the order of [`SegmentKind::ALL`].
    pub tokens: [usize; SegmentKind::ALL.len()],
    /// Messages of the assistant behind the prompt, also begun ones.
    pub model_messages: usize,
    /// Well-formed calls of tools in them.
    pub tool_calls: usize,
    /// Log-probabilities of the model's tokens, if the trace has any.
    pub logprobs: Option<Logprobs>,
    /// Whether the model's last message has no end: it ran into a limit, or was stopped. None without a chat template.
    pub is_truncated: Option<bool>,
    /// Where marks of the template stand inside what the model wrote, but for those that belong there: ends, reasoning, calls of
    /// tools.
    pub marks_inside: Vec<usize>,
    /// Stretches of the model's text that repeat themselves.
    pub loops: Vec<Loop>,
}

/// Log-probabilities of the model's tokens.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Logprobs {
    /// How many tokens have one.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The least one.
    pub least: f64,
    /// Where the least one stands in the ids.
    pub least_at: usize,
}

impl Statistics {
    /// Counts a call that was cut into segments and messages, from a token on: what stands before was counted with
    /// the call that this one goes on from.
    pub fn of(call: &Call, chat: Option<&Chat>, segments: &[Segment], messages: &[Message], from: usize) -> Statistics {
        let mut statistics = Statistics::default();
        let mut last_written = None;
        for segment in segments {
            let [start, end] = [segment.tokens[0].max(from), segment.tokens[1]];
            if start >= end {
                continue;
            }
            statistics.tokens[segment.kind as usize] += end - start;
            if segment.kind == SegmentKind::Model {
                last_written = end.checked_sub(1);
                let inside = call.breaks.iter().copied().filter(|at| (start + 1..end).contains(at));
                let mut start = start;
                for end in inside.chain([end]) {
                    statistics.look_into(call, chat, start, end);
                    start = end;
                }
            }
        }
        for message in messages {
            if message.role.as_deref() == Some("assistant") && message.body[1] > call.prompt.max(from) {
                statistics.model_messages += 1;
                statistics.tool_calls += message.tool_calls.len();
            }
        }
        let last = last_written.and_then(|at| call.ids.get(at));
        statistics.is_truncated = chat.zip(last).map(|(chat, &last)| !chat.ends_turn(last));
        statistics.logprobs = logprobs(call, segments, from);
        statistics
    }

    /// Looks for what should not be in a segment of the model's.
    fn look_into(&mut self, call: &Call, chat: Option<&Chat>, start: usize, end: usize) {
        let ids = call.ids.get(start..end).unwrap_or_default();
        for found in loops(ids) {
            self.loops.push(Loop { tokens: found.tokens.map(|at| at + start), ..found });
        }
        let Some(chat) = chat else { return };
        for (at, &id) in (start..).zip(ids) {
            // An engine stops at an end.
            let is_end = at + 1 == end && chat.ends_turn(id);
            let is_inside = match chat.mark(id) {
                Some(Mark::Begin | Mark::Padding) => true,
                Some(Mark::Open | Mark::Header | Mark::HeaderEnd | Mark::Close) => !is_end && !chat.writes_headers(),
                Some(Mark::Reasoning | Mark::Tool | Mark::Placeholder) | None => false,
            };
            if is_inside {
                self.marks_inside.push(at);
            }
        }
    }
}

/// A sum that stays a number, whatever the summands.
pub(super) fn bounded(sum: f64) -> f64 {
    sum.clamp(f64::MIN, f64::MAX)
}

fn logprobs(call: &Call, segments: &[Segment], from: usize) -> Option<Logprobs> {
    let given = call.logprobs.as_ref()?;
    let (mut told, mut sum) = (Logprobs { least: f64::INFINITY, ..Logprobs::default() }, 0.0);
    for segment in segments.iter().filter(|segment| segment.kind == SegmentKind::Model) {
        for at in segment.tokens[0].max(from)..segment.tokens[1] {
            let logprob = at.checked_sub(call.prompt).and_then(|at| given.get(at)).copied();
            let Some(logprob) = logprob.filter(|logprob| logprob.is_finite()) else { continue };
            told.count += 1;
            sum = bounded(sum + logprob);
            if logprob < told.least {
                (told.least, told.least_at) = (logprob, at);
            }
        }
    }
    (told.count > 0).then(|| Logprobs { mean: sum / told.count as f64, ..told })
}
