//! Which token gave which part of a text.

use super::flow::Flow;
use super::{DecodeOptions, Tokenizer, chain};
use crate::json::push_lossy;

/// A text, and which token gave which part of it: each begins where the one before ends.
///
/// A character that several tokens share belongs to the one that holds its first byte, and U+FFFD to the one that holds
/// the first byte it stands for. A space that a decoder puts between two tokens belongs to the second. Ids that are unknown
/// or left out own nothing, and so do tokens that a CTC decoder drops as repeated; but where a decoder makes a text of no token at
/// all, the last id has it ([`Pieces::UNATTRIBUTED`]).
///
/// ```
/// use token2text::{DecodeOptions, Pieces, Tokenizer};
///
/// let json = br#"{"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true},
///     "model":{"type":"BPE","vocab":{"a":0,"\u00c3":1,"\u00a9":2},"merges":[]}}"#;
/// let pieces = Tokenizer::from_json(json)?.pieces(&[0, 1, 2, 7], DecodeOptions::default());
/// assert_eq!(pieces.text, "a\u{e9}");
/// assert_eq!(pieces.ends, [1, 3, 3, 3]);
/// assert_eq!(pieces.utf16_ends(), [1, 2, 2, 2]);
/// assert_eq!(pieces.flags, [0, 0, Pieces::CONTINUES, Pieces::UNKNOWN]);
/// # Ok::<(), token2text::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// What [`Tokenizer::decode`] gives.
    pub text: String,
    /// Where the part of each token ends in the text, in bytes. The last end is that of the text.
    pub ends: Vec<usize>,
    /// What is to be known of each token: the sum of the constants below.
    pub flags: Vec<u8>,
}

impl Pieces {
    /// `skip_special_tokens` leaves it out.
    pub const SPECIAL: u8 = 1;
    /// The id has no token.
    pub const UNKNOWN: u8 = 2;
    /// It begins inside a character that began in an earlier token.
    pub const CONTINUES: u8 = 4;
    /// It stands for one byte (`<0x0A>`, `ByteFallback`).
    pub const BYTE: u8 = 8;
    /// Its part is that of the tokens before it too, back to the last one that owns text: the decoder changes their texts
    /// as one, so that it cannot be told what is whose. Or it is nobody's: the decoder makes it of no token at all.
    pub const UNATTRIBUTED: u8 = 16;

    /// The ends in UTF-16 code units.
    pub fn utf16_ends(&self) -> Vec<usize> {
        let (mut at, mut units) = (0, 0);
        let mut ends = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            units += self.text.get(at..end).unwrap_or_default().encode_utf16().count();
            at = end;
            ends.push(units);
        }
        ends
    }
}

impl Tokenizer {
    /// The text of the ids, and which of them gave which part of it.
    pub fn pieces(&self, ids: &[u32], options: DecodeOptions) -> Pieces {
        let mut flow = Flow::new(self.steps());
        flow.flags = vec![0; ids.len()];
        for (token, &id) in ids.iter().enumerate() {
            flow.token = token;
            self.send(id, options, &mut flow);
        }
        if !flow.seen {
            // Whatever comes is the last one's.
            flow.close(flow.token);
        }
        flow.end(self.steps());
        if !flow.seen && !flow.text.is_empty() {
            flow.flag(Pieces::UNATTRIBUTED);
        }
        flow.close(ids.len());
        let Flow { text, ends, flags, .. } = flow;
        let mut pieces = lossy(&text, ends, flags);
        if self.cleans_up {
            clean_up(&mut pieces);
        }
        pieces
    }
}

/// Bytes as text, with the ends there.
fn lossy(bytes: &[u8], mut ends: Vec<usize>, mut flags: Vec<u8>) -> Pieces {
    let mut text = String::with_capacity(bytes.len());
    let (mut token, mut at) = (0, 0);
    // The end of the token before, and whether it is inside a character.
    let (mut before, mut is_inside) = (0, false);
    while at < bytes.len() {
        let start = text.len();
        let (valid, invalid) = push_lossy(bytes.get(at..).unwrap_or_default(), &mut text);
        let invalid_at = at + valid;
        let next = invalid_at + invalid;
        while let Some(end) = ends.get_mut(token).filter(|end| **end <= next) {
            if let Some(flags) = flags.get_mut(token).filter(|_| is_inside && *end > before) {
                *flags |= Pieces::CONTINUES;
            }
            before = *end;
            let in_text = start + before - at;
            is_inside = if before > invalid_at { before < next } else { !text.is_char_boundary(in_text) };
            *end = if before > invalid_at { text.len() } else { in_text };
            while !text.is_char_boundary(*end) {
                *end += 1;
            }
            token += 1;
        }
        at = next;
    }
    Pieces { text, ends, flags }
}

/// Cleans up the whole text, which takes nothing out but spaces. Of several in a row, the last ones.
fn clean_up(pieces: &mut Pieces) {
    let before = pieces.text.clone();
    chain::clean_up(&mut pieces.text, 0, false);
    let (mut token, mut kept) = (0, 0);
    for at in 0..=before.len() {
        while let Some(end) = pieces.ends.get_mut(token).filter(|end| **end == at) {
            *end = kept;
            token += 1;
        }
        kept += usize::from(before.as_bytes().get(at) == pieces.text.as_bytes().get(kept));
    }
}
