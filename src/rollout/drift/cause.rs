//! Why a run of ids is not what its text is encoded to.

use std::collections::HashSet;

use super::DriftCause;
use super::runs::{Run, Side};
use crate::tokenizer::{DecodeOptions, Encoder, Pieces, Tokenizer};

/// How much of the text around a run is normalized with it.
const AROUND: usize = 32;

/// What causes are told by.
pub(super) struct Evidence<'a> {
    pub tokenizer: &'a Tokenizer,
    pub encoder: &'a Encoder,
    /// The ids that were given.
    pub given: Side<'a>,
    /// Those that their text is encoded to, and where pieces of it begin.
    pub encoded: Side<'a>,
    pub begins: &'a [bool],
    /// What the model gives for what it has no tokens for.
    pub unknown: Option<(u32, String)>,
}

impl Evidence<'_> {
    /// The cause of a run: the first that there is evidence for.
    pub fn cause(&self, run: Run) -> DriftCause {
        let (text, encoded_text) = (self.given.text(run.ids), self.encoded.text(run.encoded));
        let (ids, encoded) = (self.given.ids(run.ids), self.encoded.ids(run.encoded));
        let mut tokens = run.ids[0]..run.ids[1];
        if tokens.any(|token| self.given.has(token, Pieces::UNKNOWN)) {
            return DriftCause::UnknownId;
        }
        if text.contains(char::REPLACEMENT_CHARACTER) && self.is_invalid(run.ids) {
            return DriftCause::InvalidUtf8;
        }
        if let Some((unknown, content)) = &self.unknown
            && encoded.contains(unknown)
            && !ids.contains(unknown)
            && !text.contains(content.as_str())
        {
            return DriftCause::UnknownText;
        }
        if let Some(cause) = self.of_added_tokens(ids, encoded) {
            return cause;
        }
        if text != encoded_text {
            return match () {
                _ if self.is_stripped(run, text, encoded_text) => DriftCause::AddedTokenWhitespace,
                _ if self.begins(run) && encoded_text.strip_prefix(' ') == Some(text) => DriftCause::Decoder,
                _ if self.is_normalized(run, text, encoded_text) => DriftCause::Normalizer,
                _ => DriftCause::Decoder,
            };
        }
        // What the decoder takes away at the start of a text is no difference there.
        if self.given.at(run.ids[0]) == 0 && self.behind_another(ids, encoded) != self.behind_another(encoded, encoded)
        {
            return DriftCause::Decoder;
        }
        if self.lies_across(run) { DriftCause::PreTokenizer } else { DriftCause::Merge }
    }

    /// Whether the bytes of some tokens are no UTF-8, so that U+FFFD stands for them.
    fn is_invalid(&self, [start, end]: [usize; 2]) -> bool {
        // A byte that is no text gives a U+FFFD of its own; of several that spell one, the first owns it.
        let is_lost = |token: usize| {
            self.given.has(token, Pieces::BYTE)
                && self.given.text([token, token + 1]) == "\u{fffd}"
                && !self.given.has(token + 1, Pieces::CONTINUES)
        };
        let bytes = self.tokenizer.decode_bytes(self.given.ids([start, end]), DecodeOptions::default());
        std::str::from_utf8(&bytes).is_err() || (start..end).any(is_lost)
    }

    /// The cause, if other added tokens are found in the text than those that were given.
    fn of_added_tokens(&self, ids: &[u32], encoded: &[u32]) -> Option<DriftCause> {
        // A token of the model that is written otherwise than the added one of its id (`▁▁`) is plain.
        let text_of = |id: u32| self.tokenizer.decode(&[id], DecodeOptions::default());
        let added =
            |id: &&u32| self.encoder.added(**id).is_some_and(|token| !token.in_model || text_of(**id) == token.content);
        if ids.iter().filter(added).eq(encoded.iter().filter(added)) {
            return None;
        }
        let encoded: HashSet<u32> = encoded.iter().copied().collect();
        for id in ids.iter().filter(added).filter(|id| !encoded.contains(id)) {
            let Some(token) = self.encoder.added(*id) else { continue };
            if token.single_word {
                return Some(DriftCause::AddedTokenWhitespace);
            }
            if text_of(*id) != token.content {
                return Some(DriftCause::Decoder);
            }
        }
        Some(DriftCause::SpecialAsText)
    }

    /// Whether a run begins the text, or that behind an added token: where a space may be put in front.
    fn begins(&self, Run { ids: [start, _], .. }: Run) -> bool {
        let before = start.checked_sub(1).and_then(|before| self.given.ids.get(before));
        before.is_none_or(|&id| self.encoder.added(id).is_some())
    }

    /// Whether white space went into an added token in the run or beside it.
    fn is_stripped(&self, Run { ids: [start, end], .. }: Run, text: &str, encoded_text: &str) -> bool {
        let beside = self.given.ids.get(start.saturating_sub(1)..(end + 1).min(self.given.ids.len()));
        let mut beside = beside.unwrap_or_default().iter();
        let black = |text: &str| text.split_whitespace().collect::<String>();
        beside.any(|&id| self.encoder.added(id).is_some_and(|token| token.strips)) && black(text) == black(encoded_text)
    }

    /// Whether both texts are the same when they are normalized where they stand.
    fn is_normalized(&self, Run { ids: [start, end], .. }: Run, text: &str, encoded_text: &str) -> bool {
        let before = self.given.text([0, start]);
        let behind = self.given.text([end, self.given.ids.len()]);
        let before = before.get(floor(before, before.len().saturating_sub(AROUND))..).unwrap_or_default();
        let behind = behind.get(..floor(behind, AROUND)).unwrap_or_default();
        self.encoder.same_form(&[before, text, behind].concat(), &[before, encoded_text, behind].concat())
    }

    /// The text of some ids where they do not begin it.
    fn behind_another(&self, ids: &[u32], others: &[u32]) -> String {
        let Some(&first) = others.first() else { return String::new() };
        let Pieces { mut text, ends, .. } = self.tokenizer.pieces(&[&[first], ids].concat(), DecodeOptions::default());
        text.split_off(ends.first().copied().unwrap_or_default())
    }

    /// Whether one of the tokens given lies across the beginning of a piece, where no merge could have made it.
    fn lies_across(&self, run: Run) -> bool {
        let mut token = run.ids[0];
        let inner = (run.encoded[0]..run.encoded[1]).skip(1).filter(|at| self.begins.get(*at) == Some(&true));
        for cut in inner.map(|at| self.encoded.at(at) - self.encoded.at(run.encoded[0]) + self.given.at(run.ids[0])) {
            while token < run.ids[1] && self.given.at(token + 1) <= cut {
                token += 1;
            }
            if self.given.at(token) < cut && token < run.ids[1] {
                return true;
            }
        }
        false
    }
}

/// The last place in a text where a character begins that is not behind another.
fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}
