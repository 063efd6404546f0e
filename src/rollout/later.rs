//! Log-probabilities are read when a rollout is looked at: nothing else takes as long to read, and which calls belong together does
//! not depend on them.

use std::borrow::Cow;

use super::calls::{Call, of_span};
use super::check::Rollouts;
use crate::span::Span;

/// The texts of log-probabilities, while the calls of the spans are found: position of the span, of the field, and the text.
pub(super) struct SetAside(Vec<(usize, usize, String)>);

impl SetAside {
    pub fn of(spans: &mut [Span]) -> SetAside {
        let mut texts = Vec::new();
        for (at, span) in spans.iter_mut().enumerate().filter(|(_, span)| has_few_calls(span)) {
            for (number, field) in span.fields.iter_mut().enumerate() {
                texts.extend(field.logprobs.take().map(|text| (at, number, text)));
            }
        }
        SetAside(texts)
    }

    pub fn put_back(self, spans: &mut [Span]) {
        for (at, number, text) in self.0 {
            spans[at].fields[number].logprobs = Some(text);
        }
    }
}

impl Rollouts {
    /// A call with its log-probabilities, by its position in [`Rollouts::calls`].
    pub fn call(&self, at: usize) -> Option<Cow<'_, Call>> {
        let call = self.calls.get(at)?;
        let span = self.spans.get(call.span)?;
        if !has_few_calls(span) || span.fields.iter().all(|field| field.logprobs.is_none()) {
            return Some(Cow::Borrowed(call));
        }
        let whole = of_span(span).into_iter().nth(call.number)?;
        Some(Cow::Owned(Call { span: call.span, ..whole }))
    }
}

/// Whether the calls of a span may be found once for each of them: it has no rows and no choices.
fn has_few_calls(span: &Span) -> bool {
    span.fields.iter().all(|field| field.rows.is_none() && field.index.is_none())
}
