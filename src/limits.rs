//! The documented bounds on what one call takes in and gives out.

use crate::{Error, ErrorCode};

/// Spans of one body, or of one of its JSON lines. A span takes some hundred bytes while it is looked into, and a body can
/// have one in two bytes.
pub(crate) const MOST_SPANS: usize = 1 << 20;

/// Messages of a protocol buffers body that are looked into.
pub(crate) const MOST_MESSAGES: usize = 16 << 20;

/// Bounds on one call. Each is checked before memory is taken for what would pass it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one body. A larger body is refused whole.
    pub body_bytes: usize,
    /// Nesting depth of arrays and objects, also of JSON inside strings. A deeper body is refused whole.
    pub depth: usize,
    /// Token ids of one field. A longer field is skipped.
    pub ids_per_field: usize,
    /// Bytes of text decoded for one field. A longer text is skipped.
    pub text_bytes_per_field: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { body_bytes: 64 << 20, depth: 1024, ids_per_field: 4 << 20, text_bytes_per_field: 64 << 20 }
    }
}

impl Limits {
    /// Refuses a body that is too large.
    pub(crate) fn check(&self, body: &[u8]) -> Result<(), Error> {
        self.check_bytes(body.len())
    }

    /// The same for a body of so many bytes.
    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<(), Error> {
        if bytes <= self.body_bytes {
            return Ok(());
        }
        let what = format!("the body has {bytes} bytes, the limit `bodyBytes` is {}", self.body_bytes);
        Err(Error::new(ErrorCode::LimitExceeded, what))
    }

    /// Bytes that the output for a body of `body_bytes` may have: four times the body and 64 MiB.
    pub fn output_bytes(&self, body_bytes: usize) -> usize {
        body_bytes.saturating_mul(4).saturating_add(64 << 20)
    }
}
