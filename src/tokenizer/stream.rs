//! Text as its tokens arrive.

use std::ops::Deref;

use super::flow::Flow;
use super::{DecodeOptions, Tokenizer, chain};
use crate::json::lossy;

/// Decodes ids that arrive in parts. What it has given never changes: all that it gives is, put together, the text that
/// [`Tokenizer::decode`] gives for all the ids. Each id costs the same, however many came before.
///
/// Made by [`Tokenizer::stream`], or by [`TextStream::new`] with an `Arc<Tokenizer>` to keep.
///
/// It holds back what later ids can still change, and nothing else:
///
/// - of a character that is not complete yet, at most three bytes;
/// - an open run of byte tokens (`ByteFallback`), because one bad byte changes all of them, until another token comes;
/// - with `BPEDecoder`, the last token;
/// - with steps behind a `Fuse` that must see the whole, steps behind a `ByteLevel`, and the clean-up of `transformers`,
///   everything until [`TextStream::finish`].
///
/// ```
/// use token2text::{DecodeOptions, Tokenizer};
///
/// let json = br#"{"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},
///     "model":{"type":"BPE","vocab":{"a":0,"\u00c3":1,"\u00a9":2},"merges":[]}}"#;
/// let tokenizer = Tokenizer::from_json(json)?;
/// let mut stream = tokenizer.stream(DecodeOptions::default());
/// assert_eq!(stream.push(&[0, 1]), "a");
/// assert_eq!(stream.push(&[2]), "\u{e9}");
/// assert_eq!(stream.push(&[1]), "");
/// assert_eq!(stream.finish(), "\u{fffd}");
/// # Ok::<(), token2text::Error>(())
/// ```
#[derive(Debug)]
pub struct TextStream<T> {
    tokenizer: T,
    options: DecodeOptions,
    flow: Flow,
}

impl Tokenizer {
    /// Decodes ids that arrive in parts.
    pub fn stream(&self, options: DecodeOptions) -> TextStream<&Tokenizer> {
        TextStream::new(self, options)
    }
}

impl<T: Deref<Target = Tokenizer>> TextStream<T> {
    /// A stream that borrows a tokenizer or shares it.
    pub fn new(tokenizer: T, options: DecodeOptions) -> TextStream<T> {
        let flow = Flow::new(tokenizer.steps());
        TextStream { tokenizer, options, flow }
    }

    /// Takes the next ids and gives the text that no later ones can change.
    pub fn push(&mut self, ids: &[u32]) -> String {
        for &id in ids {
            self.tokenizer.send(id, self.options, &mut self.flow);
        }
        if self.tokenizer.cleans_up {
            return String::new();
        }
        let bytes = &mut self.flow.text;
        let open = bytes.split_off(bytes.len() - open(bytes));
        lossy(std::mem::replace(bytes, open))
    }

    /// Gives the rest of the text.
    pub fn finish(mut self) -> String {
        self.flow.end(self.tokenizer.steps());
        let mut text = lossy(self.flow.text);
        if self.tokenizer.cleans_up {
            chain::clean_up(&mut text, 0, false);
        }
        text
    }

    /// Whether the text that is held back and that of the ids might take more than so many bytes: asked before memory is
    /// taken.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn may_exceed(&self, ids: &[u32], most: usize) -> bool {
        let held = match &self.tokenizer.vocabulary {
            // Each byte may become U+FFFD.
            super::Vocabulary::Table(_) => self.held().saturating_mul(3),
            super::Vocabulary::Chain(chain) => chain.held_bound(self.held()),
        };
        self.tokenizer.may_exceed(ids, most.saturating_sub(held))
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        self.flow.held()
    }
}

/// How many bytes at the end begin a character that is not complete.
fn open(bytes: &[u8]) -> usize {
    for count in 1..=3 {
        let end = bytes.len().checked_sub(count).and_then(|at| bytes.get(at..)).unwrap_or_default();
        if std::str::from_utf8(end).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none()) {
            return count;
        }
    }
    0
}
