//! Rollouts as JavaScript has them (`rollout.d.ts` of the package).

use super::check::{Checked, CheckedCall, DivergedText, Rollouts};
use super::findings::{Finding, Side};
use super::loops::Loop;
use super::messages::{Message, ToolCall};
use super::rollouts::Node;
use super::segments::{Segment, SegmentKind};
use super::statistics::{Logprobs, Statistics};
use super::totals::Totals;
use crate::report::Value;

impl Rollouts {
    /// A rollout that was looked at, without its ids.
    pub(crate) fn value<'r>(&'r self, at: usize, checked: &'r Checked) -> Value<'r> {
        let rollout = &self.list[at];
        let trajectory = &rollout.trajectory;
        let calls = rollout.nodes.iter().zip(&checked.calls).map(|(node, call)| self.call_value(node, call)).collect();
        Value::Members(vec![
            ("traceId", Value::text(Some(rollout.trace_id.as_str()).filter(|id| !id.is_empty()))),
            ("requestId", Value::text(checked.request_id.as_deref())),
            ("model", Value::text(self.model(rollout))),
            ("step", number(trajectory.step)),
            ("sampleIndex", number(trajectory.sample_index)),
            ("rolloutN", number(trajectory.rollout_n)),
            ("validate", trajectory.validate.map_or(Value::Nothing, Value::Flag)),
            ("experimentName", Value::text(trajectory.experiment_name.as_deref())),
            ("tokenizer", Value::text(checked.tokenizer.as_deref())),
            ("template", Value::text(checked.template.as_deref())),
            ("calls", Value::List(calls)),
            ("findings", Value::list(&checked.findings, Finding::value)),
            ("statistics", checked.totals.value()),
        ])
    }

    fn call_value<'r>(&'r self, node: &'r Node, checked: &'r CheckedCall) -> Value<'r> {
        let call = &self.calls[node.call];
        let span = &self.spans[call.span];
        Value::Members(vec![
            ("path", Value::Text(&span.path)),
            ("spanId", Value::text(Some(span.span_id.as_str()).filter(|id| !id.is_empty()))),
            ("name", Value::Text(&span.name)),
            ("index", count(call.index)),
            ("role", Value::Text(node.role.as_str())),
            ("partOf", count(node.within)),
            ("parent", count(node.parent)),
            ("join", Value::text(node.join.as_ref().map(|join| join.kind.as_str()))),
            ("divergence", checked.divergence.as_ref().map_or(Value::Nothing, DivergedText::value)),
            ("inserted", node.inserted().map_or(Value::Nothing, range)),
            ("common", Value::Count(node.common())),
            ("continued", Value::Count(node.continued())),
            ("ids", Value::Count(call.ids.len())),
            ("prompt", Value::Count(call.prompt)),
            ("segments", Value::list(&checked.segments, Segment::value)),
            ("messages", Value::list(&checked.messages, Message::value)),
            ("statistics", checked.statistics.value()),
        ])
    }
}

impl Segment {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![("kind", Value::Text(self.kind.as_str())), ("tokens", range(&self.tokens))])
    }
}

impl Message {
    pub(crate) fn value(&self) -> Value<'_> {
        let tool_calls = match &*self.tool_calls {
            [] => Value::Nothing,
            calls => Value::list(calls, ToolCall::value),
        };
        Value::Members(vec![
            ("role", Value::text(self.role.as_deref())),
            ("content", Value::Text(&self.content)),
            ("reasoning", Value::text(self.reasoning.as_deref())),
            ("toolCalls", tool_calls),
            ("tokens", range(&self.tokens)),
            ("body", range(&self.body)),
            ("closed", Value::Flag(self.is_closed)),
        ])
    }
}

impl ToolCall {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![("name", Value::Text(&self.name)), ("arguments", Value::Text(&self.arguments))])
    }
}

impl Statistics {
    fn value(&self) -> Value<'_> {
        let logprobs = self.logprobs.as_ref();
        Value::Members(vec![
            ("tokens", by_kind(&self.tokens)),
            ("toolCalls", Value::Count(self.tool_calls)),
            ("logprobs", logprobs.map_or(Value::Nothing, |logprobs| logprobs.value(true))),
            ("truncated", self.is_truncated.map_or(Value::Nothing, Value::Flag)),
            ("marksInside", Value::list(&self.marks_inside, |&at| Value::Count(at))),
            ("loops", Value::list(&self.loops, Loop::value)),
        ])
    }
}

impl Totals {
    fn value(&self) -> Value<'_> {
        let logprobs = self.logprobs.as_ref();
        Value::Members(vec![
            ("turns", Value::Count(self.turns)),
            ("tokens", by_kind(&self.tokens)),
            ("toolCalls", Value::Count(self.tool_calls)),
            ("logprobs", logprobs.map_or(Value::Nothing, |logprobs| logprobs.value(false))),
        ])
    }
}

impl Logprobs {
    fn value(&self, with_place: bool) -> Value<'_> {
        Value::Members(vec![
            ("count", Value::Count(self.count)),
            ("mean", Value::Number(self.mean)),
            ("least", Value::Number(self.least)),
            ("leastAt", if with_place { Value::Count(self.least_at) } else { Value::Nothing }),
        ])
    }
}

impl Finding {
    fn value(&self) -> Value<'_> {
        let [before, after] = match &self.sides {
            Some([before, after]) => [before.value(), after.value()],
            None => [Value::Nothing, Value::Nothing],
        };
        Value::Members(vec![
            ("code", Value::Text(self.code)),
            ("level", Value::Text(self.level.as_str())),
            ("message", Value::Text(&self.message)),
            ("call", Value::Count(self.call)),
            ("tokens", self.tokens.as_ref().map_or(Value::Nothing, range)),
            ("before", before),
            ("after", after),
        ])
    }
}

impl DivergedText {
    fn value(&self) -> Value<'_> {
        let [before, after] = &self.sides;
        Value::Members(vec![("at", Value::Count(self.at)), ("before", before.value()), ("after", after.value())])
    }
}

impl Loop {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![("tokens", range(&self.tokens)), ("period", Value::Count(self.period))])
    }
}

impl Side {
    fn value(&self) -> Value<'_> {
        let ids = Value::list(&self.ids, |&id| Value::Count(id as usize));
        Value::Members(vec![("ids", ids), ("text", Value::Text(&self.text))])
    }
}

fn by_kind(tokens: &[usize; SegmentKind::ALL.len()]) -> Value<'_> {
    let members = SegmentKind::ALL.iter().zip(tokens).map(|(kind, &tokens)| (kind.as_str(), Value::Count(tokens)));
    Value::Members(members.collect())
}

fn range(range: &[usize; 2]) -> Value<'_> {
    Value::list(range, |&at| Value::Count(at))
}

fn count<'v>(count: Option<usize>) -> Value<'v> {
    count.map_or(Value::Nothing, Value::Count)
}

/// Steps of a training and numbers of samples are far below the whole numbers that a double cannot hold.
fn number<'v>(number: Option<i64>) -> Value<'v> {
    number.map_or(Value::Nothing, |number| Value::Number(number as f64))
}
