//! A body that is read as it comes.

use super::{ReadOptions, Reader, Reading};
use crate::Error;
use crate::formats::{Beginning, Origin};
use crate::json::{line_end, skip_space};
#[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
use crate::span::Span;

/// Reads a body piece by piece, with the result of [`read_all`](crate::read_all) for all of it. Of JSON lines each is read when its end
/// is there, so that only an unfinished one is kept; any other body is kept until the end.
///
/// ```
/// use token2text::{BodyReader, Origin, ReadOptions};
///
/// let mut reader = BodyReader::new(ReadOptions::default(), &Origin::default());
/// for piece in [&b"{\"outputs\": {\"token_ids\": [1, 2]}}\n{\"outp"[..], b"uts\": {\"token_ids\": [3]}}\n"] {
///     reader.push(piece)?;
/// }
/// let spans = reader.finish()?.spans;
/// assert_eq!(spans[1].fields[0].ids, [3]);
/// # Ok::<(), token2text::Error>(())
/// ```
pub struct BodyReader {
    options: ReadOptions,
    content_type: Option<String>,
    url: Option<String>,
    beginning: Beginning,
    /// What came and was not read yet: an unfinished line, or everything.
    pending: Vec<u8>,
    /// How much of that was looked at to tell what it is, and whether it had a line feed.
    searched: usize,
    has_line: bool,
    bytes: usize,
    expected: usize,
    reader: Reader,
}

impl BodyReader {
    /// Before the first piece.
    pub fn new(options: ReadOptions, origin: &Origin<'_>) -> BodyReader {
        BodyReader {
            options,
            content_type: origin.content_type.map(str::to_owned),
            url: origin.url.map(str::to_owned),
            beginning: Beginning::Short,
            pending: Vec::new(),
            searched: 0,
            has_line: false,
            bytes: 0,
            expected: 0,
            reader: Reader::default(),
        }
    }

    /// For a body of so many bytes, as far as one knows: one that has to be kept is kept without being moved as it grows.
    ///
    /// # Errors
    /// `limit_exceeded`, as [`BodyReader::push`].
    pub fn expect(mut self, bytes: usize) -> Result<BodyReader, Error> {
        self.options.limits.check_bytes(bytes)?;
        self.expected = bytes;
        Ok(self)
    }

    /// Leaves lists that a span's fields hold out of its texts: `Span::whole` puts them back.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub(crate) fn omitting_lists(mut self) -> BodyReader {
        self.reader.omits = true;
        self
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// `limit_exceeded` if the body is larger than [`Limits::body_bytes`](crate::Limits::body_bytes).
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.bytes = self.bytes.saturating_add(piece.len());
        self.options.limits.check_bytes(self.bytes)?;
        if let Beginning::Lines(lines) = &mut self.beginning {
            let (mut at, mut end) = (0, line_end(piece, 0));
            while piece[at..end].ends_with(b"\n") {
                if self.pending.is_empty() {
                    self.reader.line(lines, &piece[at..end], &self.options);
                } else {
                    self.pending.extend_from_slice(&piece[at..end]);
                    self.reader.line(lines, &self.pending, &self.options);
                    self.pending.clear();
                }
                (at, end) = (end, line_end(piece, end));
            }
            self.pending.extend_from_slice(&piece[at..]);
            return Ok(());
        }
        self.pending.extend_from_slice(piece);
        if let Beginning::Short = self.beginning {
            self.begin()?;
        }
        Ok(())
    }

    /// Looks at what there is so far. If it is JSON lines they are read.
    fn begin(&mut self) -> Result<(), Error> {
        let new = &self.pending[self.searched..];
        let has_line = self.has_line || new[..line_end(new, 0)].ends_with(b"\n");
        // Each byte is looked at once: without its first line, or what follows that, there is nothing new to say.
        let is_same = if self.has_line { skip_space(new, 0) == new.len() } else { self.searched > 0 && !has_line };
        (self.searched, self.has_line) = (self.pending.len(), has_line);
        if is_same {
            return Ok(());
        }
        let origin = Origin { content_type: self.content_type.as_deref(), url: self.url.as_deref() };
        self.beginning = Beginning::of(&self.pending, self.options.format, &origin)?;
        match self.beginning {
            Beginning::Lines(_) => {
                let pieces = std::mem::take(&mut self.pending);
                self.bytes -= pieces.len();
                return self.push(&pieces);
            }
            Beginning::Whole => self.pending.reserve_exact(self.expected.saturating_sub(self.pending.len())),
            Beginning::Short => {}
        }
        Ok(())
    }

    /// The spans that came so far and stay what they are but for their trajectories. What is taken out of them is missing at the end.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub(crate) fn settled(&mut self) -> &mut [Span] {
        self.reader.settled()
    }

    /// The spans of the body.
    ///
    /// # Errors
    /// As [`read_all`](crate::read_all).
    pub fn finish(mut self) -> Result<Reading, Error> {
        match &mut self.beginning {
            Beginning::Lines(lines) => {
                if !self.pending.is_empty() {
                    self.reader.line(lines, &self.pending, &self.options);
                }
            }
            _ => {
                let origin = Origin { content_type: self.content_type.as_deref(), url: self.url.as_deref() };
                self.reader.body(&self.pending, &origin, &self.options)?;
            }
        }
        self.reader.finish(&self.options)
    }
}
