//! Rollouts as JavaScript has them (`rollout.d.ts` of the package).

use super::check::{Checked, CheckedCall, DivergedText, Rollouts};
use super::findings::{Finding, Side};
use super::loops::Loop;
use super::messages::{Message, ToolCall};
use super::rollouts::{Node, Rollout};
use super::segments::{Segment, SegmentKind};
use super::statistics::{Logprobs, Statistics};
use super::totals::Totals;
use crate::report::Value;

type Members<'r> = Vec<(&'static str, Value<'r>)>;

impl Rollouts {
    /// A rollout that was looked at, without its ids.
    pub(crate) fn value<'r>(&'r self, at: usize, checked: &'r Checked) -> Value<'r> {
        let rollout = &self.list[at];
        let calls = rollout.nodes.iter().zip(&checked.calls).map(|(node, call)| self.call_value(node, call)).collect();
        let mut members = self.identity(rollout, checked.request_id.as_deref(), self.reward(at));
        members.push(("tokenizer", Value::text(checked.tokenizer.as_deref())));
        members.push(("template", Value::text(checked.template.as_deref())));
        members.push(("calls", Value::List(calls)));
        members.push(("findings", Value::list(&checked.findings, Finding::value)));
        members.push(("statistics", checked.totals.value()));
        Value::Members(members)
    }

    /// What tells a rollout from others.
    fn identity<'r>(&'r self, rollout: &'r Rollout, request: Option<&'r str>, reward: Option<f64>) -> Members<'r> {
        let trajectory = &rollout.trajectory;
        vec![
            ("traceId", Value::text(Some(rollout.trace_id.as_str()).filter(|id| !id.is_empty()))),
            ("requestId", Value::text(request)),
            ("model", Value::text(self.model(rollout))),
            ("step", number(trajectory.step)),
            ("sampleIndex", number(trajectory.sample_index)),
            ("rolloutN", number(trajectory.rollout_n)),
            ("validate", trajectory.validate.map_or(Value::Nothing, Value::Flag)),
            ("experimentName", Value::text(trajectory.experiment_name.as_deref())),
            ("reward", reward.map_or(Value::Nothing, Value::Number)),
        ]
    }

    /// The lines of a list of rollouts, as JSON text.
    pub(crate) fn overview_json(&self, from: usize, to: usize, write: fn(&Value<'_>) -> String) -> String {
        let mut json = String::from("[");
        for at in from..to.min(self.list.len()) {
            let (rollout, overview) = (&self.list[at], self.overview(at));
            let times =
                [overview.start_unix_nano, overview.end_unix_nano].map(|time| time.map(|time| time.to_string()));
            let mut members = self.identity(rollout, overview.request_id.as_deref(), overview.reward);
            members.push(("turns", Value::Count(overview.turns)));
            members.push(("calls", Value::Count(rollout.nodes.len())));
            members.push(("tokens", Value::Count(overview.tokens)));
            members.push(("startUnixNano", Value::text(times[0].as_deref())));
            members.push(("endUnixNano", Value::text(times[1].as_deref())));
            members.push(("path", Value::text(self.span(rollout, 0).map(|span| span.path.as_str()))));
            json.push_str(if at > from { "," } else { "" });
            json.push_str(&write(&Value::Members(members)));
        }
        json.push(']');
        json
    }

    /// The spans around the calls of a rollout, as JSON text.
    pub(crate) fn spans_json(&self, rollout: &Rollout, write: fn(&Value<'_>) -> String) -> String {
        let in_spans = self.nodes_in_spans(rollout);
        let mut json = String::from("[");
        for (i, at) in self.spans_of(rollout).into_iter().enumerate() {
            let span = &self.spans[at];
            let times = [span.start_unix_nano, span.end_unix_nano].map(|time| time.map(|time| time.to_string()));
            let calls = in_spans.get(&at).map_or(&[][..], Vec::as_slice);
            json.push_str(if i > 0 { "," } else { "" });
            json.push_str(&write(&Value::Members(vec![
                ("spanId", Value::Text(&span.span_id)),
                ("parentId", Value::text(span.parent_id.as_deref())),
                ("name", Value::Text(&span.name)),
                ("startUnixNano", Value::text(times[0].as_deref())),
                ("endUnixNano", Value::text(times[1].as_deref())),
                ("status", Value::Text(span.status.as_str())),
                ("calls", Value::list(calls, |&call| Value::Count(call))),
            ])));
        }
        json.push(']');
        json
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
