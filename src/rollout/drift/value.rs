//! Drift as JavaScript has it (`drift.js` of the package).

use super::{CauseCount, Drift, DriftRun, RangeDrift};
use crate::report::Value;

impl Drift {
    pub(crate) fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("equal", Value::Flag(self.equal)),
            ("tokens", Value::Count(self.tokens)),
            ("encodedTokens", Value::Count(self.encoded_tokens)),
            ("differing", Value::Count(self.differing)),
            ("runCount", Value::Count(self.run_count)),
            ("causes", Value::list(&self.causes, CauseCount::value)),
            ("runs", Value::list(&self.runs, DriftRun::value)),
            ("ranges", Value::list(&self.ranges, RangeDrift::value)),
        ])
    }
}

impl DriftRun {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("tokens", range(&self.tokens)),
            ("ids", Value::list(&self.ids, |id| Value::Count(*id as usize))),
            ("text", Value::Text(&self.text)),
            ("encodedText", self.encoded_text.as_deref().map_or(Value::Nothing, Value::Text)),
            ("cause", Value::Text(self.cause.as_str())),
        ])
    }
}

impl CauseCount {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("cause", Value::Text(self.cause.as_str())),
            ("runs", Value::Count(self.runs)),
            ("tokens", Value::Count(self.tokens)),
        ])
    }
}

impl RangeDrift {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("tokens", range(&self.tokens)),
            ("equal", Value::Flag(self.equal)),
            ("differing", Value::Count(self.differing)),
            ("causes", Value::list(&self.causes, CauseCount::value)),
        ])
    }
}

fn range(tokens: &[usize; 2]) -> Value<'_> {
    Value::list(tokens, |at| Value::Count(*at))
}
