//! What stands in for [`general`](super::general) in a build without it: everything is refused, by name.

use crate::{Error, ErrorCode};

/// A step that cannot exist in this build.
#[derive(Debug)]
pub(super) enum RegexReplace {}

impl RegexReplace {
    pub fn new(pattern: &str, _content: &str) -> Result<RegexReplace, Error> {
        Err(missing(format!("the decoder replaces the regular expression {pattern:?}")))
    }

    pub fn replace(&self, _token: &str, _out: &mut String) {
        match *self {}
    }
}

/// Refuses: the contents cannot be normalized.
pub(super) fn normalize(_normalizer: &str, contents: &[&str]) -> Result<Vec<String>, Error> {
    let first = contents.first().copied().unwrap_or_default();
    Err(missing(format!(
        "the added token {first:?} and {} more go through the normalizer",
        contents.len().saturating_sub(1)
    )))
}

fn missing(what: String) -> Error {
    Error::new(
        ErrorCode::EngineNotAvailable,
        format!("{what}, which needs the general engine; use a build that has it"),
    )
}
