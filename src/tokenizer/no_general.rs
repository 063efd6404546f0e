//! What stands in for [`general`](super::general) in a build without it: everything is refused, by name.

use super::quoted;
use crate::json::joined;
use crate::{Error, ErrorCode};

/// A step that cannot exist in this build.
#[derive(Debug)]
pub(super) enum RegexReplace {}

impl RegexReplace {
    pub fn new(pattern: &str, _content: &str) -> Result<RegexReplace, Error> {
        Err(missing(&["the decoder replaces the regular expression ", &quoted(pattern)]))
    }

    pub fn parts(&self) -> (&str, &str) {
        match *self {}
    }

    pub fn replace(&self, _token: &str, _out: &mut String) {
        match *self {}
    }
}

/// Refuses: the contents cannot be normalized.
pub(super) fn normalize(_normalizer: &str, contents: &[&str]) -> Result<Vec<String>, Error> {
    let first = contents.first().copied().unwrap_or_default();
    let more = contents.len().saturating_sub(1).to_string();
    Err(missing(&["the added token ", &quoted(first), " and ", &more, " more go through the normalizer"]))
}

#[cold]
fn missing(what: &[&str]) -> Error {
    let what = joined(&[&joined(what), ", which needs the general engine; use a build that has it"]);
    Error::new(ErrorCode::EngineNotAvailable, what)
}
