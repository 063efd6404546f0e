//! What is not kept twice, and what is read when a rollout is looked at.
//!
//! Nearly every call is a prompt and a response: it takes their lists, so that the ids of a body are in memory once. Log-probabilities
//! wait: nothing else takes as long to read, and which calls belong together does not depend on them.

use std::borrow::Cow;

use super::calls::{Call, call, of_span};
use super::check::Rollouts;
use super::lists::{Piece, piece};
use crate::report::FieldKind;
use crate::span::{Span, SpanField};

/// The calls of spans, found as the spans come.
#[derive(Debug, Default)]
pub(crate) struct CallFinder {
    /// How many spans were looked at.
    spans: usize,
    calls: Vec<Call>,
}

impl CallFinder {
    /// Looks at the spans behind those that it knows.
    pub(crate) fn look_at(&mut self, spans: &mut [Span]) {
        for (at, span) in spans.iter_mut().enumerate().skip(self.spans) {
            let logprobs = SetAside::of(span);
            match pair(&span.fields) {
                Some(places) => self.calls.push(Call { span: at, ..taken(&mut span.fields, places) }),
                None => self.calls.extend(of_span(at, span)),
            }
            logprobs.put_back(span);
        }
        self.spans = self.spans.max(spans.len());
    }

    /// The calls, once all spans were looked at.
    pub(super) fn finish(mut self, spans: &mut [Span]) -> Vec<Call> {
        self.look_at(spans);
        self.calls
    }
}

/// The texts of a span's log-probabilities, while its calls are found: for each field.
struct SetAside(Vec<Option<String>>);

impl SetAside {
    fn of(span: &mut Span) -> SetAside {
        let is_later = has_few_calls(span);
        SetAside(span.fields.iter_mut().filter(|_| is_later).map(|field| field.logprobs.take()).collect())
    }

    fn put_back(self, span: &mut Span) {
        for (field, text) in span.fields.iter_mut().zip(self.0) {
            field.logprobs = text;
        }
    }
}

/// Where the prompt and the response stand among fields that are nothing else: its call has their ids, all of them in order.
fn pair(fields: &[SpanField]) -> Option<[usize; 2]> {
    let is_whole = |field: &SpanField| field.rows.is_none() && field.index.is_none() && field.segments.is_none();
    match fields {
        [one, other] if is_whole(one) && is_whole(other) => match (one.kind, other.kind) {
            (FieldKind::Prompt, FieldKind::Response) => Some([0, 1]),
            (FieldKind::Response, FieldKind::Prompt) => Some([1, 0]),
            _ => None,
        },
        _ => None,
    }
}

/// The call of a pair, with the ids that were those of the fields.
fn taken(fields: &mut [SpanField], places: [usize; 2]) -> Call {
    let [prompt, response] = places.map(|place| std::mem::take(&mut fields[place].ids));
    of_pair(prompt, piece(&fields[places[1]], response))
}

fn of_pair(prompt: Vec<u32>, response: Piece) -> Call {
    call(None, Piece { ids: prompt, ..Piece::default() }, response)
}

impl Rollouts {
    /// A call with its log-probabilities, by its position in [`Rollouts::calls`].
    pub fn call(&self, at: usize) -> Option<Cow<'_, Call>> {
        let call = self.calls.get(at)?;
        let span = self.spans.get(call.span)?;
        if !has_few_calls(span) || span.fields.iter().all(|field| field.logprobs.is_none()) {
            return Some(Cow::Borrowed(call));
        }
        let whole = match pair(&span.fields) {
            Some([_, response]) => {
                let response = piece(&span.fields[response], call.response_ids().to_vec());
                Call { span: call.span, ..of_pair(call.prompt_ids().to_vec(), response) }
            }
            None => of_span(call.span, span).into_iter().nth(call.number)?,
        };
        Some(Cow::Owned(whole))
    }
}

impl Rollouts {
    /// The span of a call with its whole texts, by the call's position in [`Rollouts::calls`].
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub(crate) fn whole_span(&self, at: usize) -> Option<Cow<'_, Span>> {
        let call = self.calls.get(at)?;
        let span = self.spans.get(call.span)?;
        let places = pair(&span.fields);
        Some(span.whole(|field| match places {
            Some([prompt, _]) if field == prompt => call.prompt_ids(),
            Some(_) => call.response_ids(),
            None => span.fields.get(field).map_or(&[], |field| &field.ids),
        }))
    }
}

/// Whether the calls of a span may be found once for each of them: it has no rows and no choices.
fn has_few_calls(span: &Span) -> bool {
    span.fields.iter().all(|field| field.rows.is_none() && field.index.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::{CheckOptions, calls};
    use crate::{BodyReader, Format, Origin, ReadOptions, TokenizerSet};

    /// A pair, in either order; an answer alone; choices.
    const RECORDS: &str = r#"{"inputs":{"prompt_ids":[1,2]},"outputs":{"token_ids":[3],"log_probs":[-0.5]}}
{"outputs":{"response_ids":[3,4],"response_mask":[1,0],"prompt_ids":[1,2]}}
{"outputs":{"token_ids":[5],"log_probs":[-1]}}
{"prompt_token_ids":[1],"choices":[{"index":0,"token_ids":[2]},{"index":1,"token_ids":[3]}]}
"#;
    /// Calls of Weave: one between the halves of another.
    const HALVES: &str = r#"{"start":{"project_id":"p","id":"a","trace_id":"t","op_name":"o","attributes":{},"inputs":{"prompt_ids":[7,8]}}}
{"call":{"project_id":"p","id":"b","trace_id":"t","op_name":"o","attributes":{},"inputs":{"prompt_ids":[9]},"output":{"token_ids":[9]}}}
{"end":{"project_id":"p","id":"a","output":{"token_ids":[6],"log_probs":[-2]}}}
"#;
    const BODIES: [(Format, &str); 2] = [(Format::Auto, RECORDS), (Format::Weave, HALVES)];

    fn read(format: Format, pieces: [&str; 2], as_they_come: bool) -> Rollouts {
        let options = ReadOptions { format, ..ReadOptions::default() };
        let mut reader = BodyReader::new(options, &Origin::default());
        let mut calls = CallFinder::default();
        for piece in pieces {
            reader.push(piece.as_bytes()).unwrap();
            if as_they_come {
                calls.look_at(reader.settled());
            }
        }
        let spans = reader.finish().unwrap().spans;
        Rollouts::of(spans, calls, TokenizerSet::new(), CheckOptions::default()).unwrap()
    }

    #[test]
    fn calls_are_the_same_as_they_come() {
        for (format, body) in BODIES {
            let whole = read(format, [body, ""], false);
            for split in 0..=body.len() {
                let coming = read(format, body.split_at(split).into(), true);
                assert_eq!((&coming.spans, &coming.calls), (&whole.spans, &whole.calls), "{split}");
                assert_eq!(coming.list, whole.list, "{split}");
            }
        }
    }

    #[test]
    fn calls_are_those_of_whole_spans() {
        for (format, body) in BODIES {
            let options = ReadOptions { format, ..ReadOptions::default() };
            let whole = calls(&crate::read(body.as_bytes(), &options).unwrap());
            let rollouts = read(format, [body, ""], true);
            assert!(rollouts.spans[0].fields.iter().all(|field| field.ids.is_empty()));
            let found: Vec<Call> =
                (0..rollouts.calls.len()).map(|at| rollouts.call(at).unwrap().into_owned()).collect();
            assert_eq!(found, whole);
            let joined: &[u32] = if format == Format::Weave { &[7, 8, 6] } else { &[1, 2, 3] };
            assert_eq!((found[0].ids.as_slice(), found[0].prompt), (joined, 2));
        }
    }

    /// A record, and how many lists of its first span are left out of its texts.
    const SPELLINGS: [(&str, usize); 12] = [
        (r#"{"inputs":{"prompt_ids":[0,10,4294967295],"x":"é"},"outputs":{"token_ids":[3],"log_probs":[-0.5e-3]}}"#, 3),
        (r#"{"outputs": {"log_probs": [-1, -2], "token_ids": [3, 40]}, "inputs": {"prompt_ids": [1, 2, 3]}}"#, 3),
        (r#"{"inputs":{"prompt_ids":[]},"outputs":{"token_ids":[3]}}"#, 2),
        (r#"{"response_ids":[3,4],"response_mask":[1,0],"prompt_ids":[1,2],"reward":[1,2]}"#, 2),
        (r#"{"inputs":{"prompt_ids":[1, 2,3]},"outputs":{"token_ids":[ 3],"log_probs":[-1]}}"#, 1),
        (r#"{"inputs":{"prompt_ids":[1,  2]},"outputs":{"token_ids":[3 ,4]}}"#, 0),
        (r#"{"inputs":{"prompt_ids":[1e0,2.0]},"outputs":{"token_ids":["3"],"log_probs":[-1,-2]}}"#, 0),
        (r#"{"inputs":{"prompt_ids":[[1,2],[3]]},"outputs":{"token_ids":[[4],[5]],"log_probs":[[-1],[-2]]}}"#, 0),
        (
            r#"{"inputs":{"mask":[1,1],"prompt_ids":[1,1]},"outputs":{"rewards":[-1],"token_ids":[7],"log_probs":[-1]}}"#,
            3,
        ),
        (r#"{"inputs":"{\"prompt_ids\":[1,2]}","outputs":{"token_ids":[3]},"traceId":"a","spanId":"b"}"#, 2),
        (r#"{"outputs":{"token_ids":[5],"log_probs":[-1]}}"#, 2),
        (r#"{"prompt_token_ids":[1],"choices":[{"index":0,"token_ids":[2]},{"index":1,"token_ids":[3, 4]}]}"#, 3),
    ];

    fn omitting(body: &str) -> Rollouts {
        let mut reader = BodyReader::new(ReadOptions::default(), &Origin::default()).omitting_lists();
        reader.push(body.as_bytes()).unwrap();
        let mut calls = CallFinder::default();
        calls.look_at(reader.settled());
        let spans = reader.finish().unwrap().spans;
        Rollouts::of(spans, calls, TokenizerSet::new(), CheckOptions::default()).unwrap()
    }

    #[test]
    fn texts_are_put_together_byte_for_byte() {
        for (record, omitted) in SPELLINGS {
            // Twice, so that they are read line by line.
            let body = format!("{record}\n{record}\n");
            let (whole, rollouts) = (crate::read(body.as_bytes(), &ReadOptions::default()).unwrap(), omitting(&body));
            assert_eq!(rollouts.spans[0].omitted.len(), omitted, "{record}");
            for (at, call) in rollouts.calls.iter().enumerate() {
                let (span, text) = (&whole[call.span], rollouts.whole_span(at).unwrap());
                assert_eq!((&text.inputs, &text.output), (&span.inputs, &span.output), "{record}");
                assert_eq!((&text.attributes, &text.path), (&span.attributes, &span.path), "{record}");
            }
        }
    }

    #[test]
    fn what_is_left_out_says_nothing_else() {
        for (record, _) in SPELLINGS {
            let body = format!("{record}\n{record}\n");
            let whole = read(Format::Auto, [&body, ""], false);
            let rollouts = omitting(&body);
            assert_eq!((&rollouts.calls, &rollouts.list), (&whole.calls, &whole.list), "{record}");
            for at in 0..whole.list.len() {
                assert_eq!(format!("{:?}", rollouts.numbers(at)), format!("{:?}", whole.numbers(at)), "{record}");
                assert_eq!(rollouts.reward(at), whole.reward(at), "{record}");
                assert_eq!(rollouts.check(at).unwrap(), whole.check(at).unwrap(), "{record}");
            }
        }
    }
}
