//! One error type for the whole crate: a stable code and a sentence that says what was wrong, where,
//! and what to do.

use std::fmt;

/// Why a call failed. The text of [`ErrorCode::as_str`] is stable; JavaScript sees it as `error.code`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// The bytes are not a whole, well-formed tokenizer.json.
    InvalidTokenizer,
    /// The bytes are a vocabulary, but of a kind this library does not read (`*.tiktoken`, `tekken.json`, SentencePiece).
    UnsupportedTokenizer,
    /// The tokenizer needs the general engine, which this build does not contain.
    EngineNotAvailable,
    /// A value that should be token ids is not.
    InvalidIds,
    /// The body is not well-formed in its format.
    InvalidBody,
    /// No format was recognised in the body.
    UnknownFormat,
    /// A layout does not follow the schema.
    InvalidLayout,
    /// An option has an unknown name or a wrong value.
    InvalidOptions,
    /// The bytes are compressed where plain bytes are needed.
    CompressedInput,
    /// A documented limit was passed.
    LimitExceeded,
}

impl ErrorCode {
    /// The stable name of this code.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::InvalidTokenizer => "invalid_tokenizer",
            ErrorCode::UnsupportedTokenizer => "unsupported_tokenizer",
            ErrorCode::EngineNotAvailable => "engine_not_available",
            ErrorCode::InvalidIds => "invalid_ids",
            ErrorCode::InvalidBody => "invalid_body",
            ErrorCode::UnknownFormat => "unknown_format",
            ErrorCode::InvalidLayout => "invalid_layout",
            ErrorCode::InvalidOptions => "invalid_options",
            ErrorCode::CompressedInput => "compressed_input",
            ErrorCode::LimitExceeded => "limit_exceeded",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error of every fallible call. A pointer, so that a `Result` is small where it is passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    inner: Box<(ErrorCode, String)>,
}

impl Error {
    /// Makes an error. `message` is a sentence for a person: what was wrong, where, what to do.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Error {
        Error { inner: Box::new((code, message.into())) }
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.inner.0
    }

    /// What was wrong, where, and what to do.
    pub fn message(&self) -> &str {
        &self.inner.1
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl std::error::Error for Error {}
