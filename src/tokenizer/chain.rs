//! The decoder chain: what each declared step makes of a token, exactly as in the reference; [`flow`](super::flow) runs them.
//!
//! This is the definition of what a tokenizer decodes to. The tables of [`table`](super::table) are faster forms of it.

use super::flow::Flow;
use super::general::RegexReplace;
use super::spec::Contents;
use super::{DecodeOptions, Pieces, limit_exceeded};
use crate::Error;

/// One step of a decoder.
#[derive(Debug)]
pub(super) enum Step {
    /// Characters of the byte alphabet to the bytes they stand for, then all tokens become one text.
    ByteLevel,
    /// `replacement` to a space; in the first token, to nothing if `drop_first`.
    Metaspace { replacement: char, drop_first: bool },
    /// Tokens without the prefix get a space in front, except the first.
    WordPiece { prefix: String, cleanup: bool },
    /// The suffix to a space; in the last token, to nothing.
    Bpe { suffix: String },
    /// Runs of `<0xHH>` tokens to the bytes they stand for.
    ByteFallback,
    /// All tokens become one.
    Fuse,
    /// At most `start` and `stop` characters equal to `content` are cut from the ends of each token.
    Strip { content: char, start: usize, stop: usize },
    /// Each occurrence of a string, in each token, to another one.
    Replace { pattern: String, content: String },
    /// Each match of a regular expression, in each token, to a string.
    Regex(RegexReplace),
    /// Repeated tokens once, without the pad token; with `cleanup`, the delimiter to a space.
    Ctc { pad: String, delimiter: String, cleanup: bool },
}

/// A vocabulary with the chain that decodes it.
#[derive(Debug)]
pub(super) struct Chain {
    pub words: Contents,
    /// `None` joins the tokens with a space.
    pub steps: Option<Vec<Step>>,
}

impl Chain {
    /// More bytes than any token has in a text.
    pub fn longest(&self) -> usize {
        let longest = self.words.list.iter().map(|word| word.len as usize).max().unwrap_or(0);
        // Of many tokens as long as the longest, so that no rounding is lost, and four times that for good measure.
        most_bytes(self.steps.as_deref(), longest.saturating_mul(64), 64) / 16
    }

    /// [`check`] of this one.
    pub fn check(&self, room: usize) -> Result<(), Error> {
        check(self.steps.as_deref(), self.words.buffer.len(), self.words.list.len(), room)
    }

    /// The most bytes that decoding the ids takes at any step.
    pub fn text_bytes_bound(&self, ids: &[u32]) -> usize {
        let (mut bytes, mut pieces) = (0_usize, 0);
        for &id in ids {
            if let Some(word) = self.words.get(id) {
                bytes = bytes.saturating_add(word.len as usize);
                pieces += 1;
            }
        }
        most_bytes(self.steps.as_deref(), bytes, pieces)
    }

    pub fn decode_into(&self, ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        let mut flow = Flow::new(self.steps());
        flow.text = std::mem::take(out);
        for &id in ids {
            self.send(id, options, &mut flow);
        }
        flow.end(self.steps());
        *out = flow.text;
    }

    #[cfg(target_arch = "wasm32")]
    pub fn held_bound(&self, held: usize) -> usize {
        most_bytes(self.steps.as_deref(), held, held)
    }

    /// Sends a token through the steps.
    pub fn send(&self, id: u32, options: DecodeOptions, flow: &mut Flow) {
        let Some(word) = self.words.get(id) else { return flow.flag(Pieces::UNKNOWN) };
        if word.special {
            flow.flag(Pieces::SPECIAL);
            if options.skip_special_tokens {
                return;
            }
        }
        if self.steps.is_none() && flow.seen {
            flow.push(&[], b" ");
        }
        flow.push(self.steps(), self.words.bytes(word));
    }

    /// The steps of each token.
    pub fn steps(&self) -> &[Step] {
        self.steps.as_deref().unwrap_or_default()
    }
}

/// Refuses steps that could take more room for so many tokens with so many bytes, before any of them runs.
pub(super) fn check(steps: Option<&[Step]>, bytes: usize, tokens: usize, room: usize) -> Result<(), Error> {
    if most_bytes(steps, bytes, tokens) > room {
        return Err(limit_exceeded("decoder: its steps could make the tokens longer without bound"));
    }
    Ok(())
}

/// Whether a step needs the `tokenizers` crate.
pub(super) fn has_regex(steps: Option<&[Step]>) -> bool {
    steps.into_iter().flatten().any(|step| matches!(step, Step::Regex(_)))
}

impl Step {
    /// Whether the step treats each token by itself, wherever it stands.
    pub fn is_free(&self) -> bool {
        matches!(self, Step::Strip { .. } | Step::Replace { .. } | Step::Regex(_))
    }

    /// Whether the step treats each token by itself, except that the first one differs.
    pub fn is_first_aware(&self) -> bool {
        matches!(self, Step::Metaspace { .. } | Step::WordPiece { .. })
    }

    /// The most bytes that the step makes of `pieces` tokens with so many bytes in all. No step makes more tokens.
    pub fn most_bytes(&self, bytes: usize, pieces: usize) -> usize {
        let replaced = |pattern: usize, content: usize| match bytes.checked_div(pattern) {
            // It matches before each character and at the end of each token.
            None => bytes.saturating_add(pieces).saturating_mul(content).saturating_add(bytes),
            Some(matches) => matches.saturating_mul(content.saturating_sub(pattern)).saturating_add(bytes),
        };
        match self {
            // What is not UTF-8 becomes U+FFFD, which has three bytes.
            Step::ByteLevel => bytes.saturating_mul(3),
            Step::WordPiece { .. } => bytes.saturating_add(pieces),
            Step::Bpe { suffix } => replaced(suffix.len(), 1),
            Step::Replace { pattern, content } => replaced(pattern.len(), content.len()),
            Step::Regex(regex) => replaced(0, regex.parts().1.len()),
            Step::Ctc { delimiter, .. } => replaced(delimiter.len(), 1),
            Step::Metaspace { .. } | Step::ByteFallback | Step::Fuse | Step::Strip { .. } => bytes,
        }
    }

    /// Appends the form of one token, for the steps that keep tokens apart. Of CTC, only what it makes of a single one.
    pub fn form(&self, token: &str, is_first: bool, is_last: bool, out: &mut String) {
        match self {
            Step::Metaspace { replacement, drop_first } => {
                let space = if is_first && *drop_first { "" } else { " " };
                replace(token, replacement.encode_utf8(&mut [0; 4]), space, out);
            }
            Step::WordPiece { prefix, cleanup } => {
                let start = out.len();
                match token.strip_prefix(prefix.as_str()) {
                    _ if is_first => out.push_str(token),
                    Some(rest) => out.push_str(rest),
                    None => {
                        out.push(' ');
                        out.push_str(token);
                    }
                }
                if *cleanup {
                    clean_up(out, start, true);
                }
            }
            Step::Bpe { suffix } => replace(token, suffix, if is_last { "" } else { " " }, out),
            Step::Strip { content, start, stop } => out.push_str(strip(token, *content, *start, *stop)),
            // Unlike in other steps, an empty pattern does not match in an empty token.
            Step::Replace { pattern, content } if !token.is_empty() => replace(token, pattern, content, out),
            Step::Regex(regex) => regex.replace(token, out),
            Step::Ctc { pad, delimiter, cleanup } => {
                let start = out.len();
                replace(token, pad, "", out);
                if *cleanup {
                    clean_up(out, start, true);
                    let kept = out.split_off(start);
                    replace(&kept, delimiter, " ", out);
                }
            }
            Step::Replace { .. } | Step::ByteLevel | Step::ByteFallback | Step::Fuse => out.push_str(token),
        }
    }
}

/// The most bytes that `pieces` tokens with so many bytes in all are at any step, and in the end as text.
fn most_bytes(steps: Option<&[Step]>, bytes: usize, pieces: usize) -> usize {
    // Without a decoder, a space between all.
    let Some(steps) = steps else { return bytes.saturating_add(pieces) };
    let (mut now, mut most) = (bytes, bytes);
    for step in steps {
        now = step.most_bytes(now, pieces);
        most = most.max(now);
    }
    most
}

/// The byte of a token `<0xHH>`. The reference reads the digits as an integer, so a sign counts as one: `<0x+A>` is 10.
pub(super) fn fallback_byte(token: &[u8]) -> Option<u8> {
    let &[b'<', b'0', b'x', high, low, b'>'] = token else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let low = digit(low)?;
    let high = if high == b'+' { 0 } else { digit(high)? };
    u8::try_from(high * 16 + low).ok()
}

/// The token of a byte.
pub(super) fn fallback_token(byte: u8) -> [u8; 6] {
    let digit = |digit: u8| if digit < 10 { b'0' + digit } else { b'a' - 10 + digit };
    [b'<', b'0', b'x', digit(byte >> 4), digit(byte & 15), b'>']
}

/// The byte that a character stands for in the alphabet of bytes: printable ones for themselves; from U+0100 on the others follow.
#[inline(always)]
fn alphabet_byte(character: u32) -> Option<u8> {
    let byte = match character {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => character,
        0x100..=0x120 => character - 0x100,
        0x121..=0x142 => character - 0x121 + 0x7f,
        0x143 => 0xad,
        _ => return None,
    };
    Some(byte as u8)
}

/// Appends the bytes a token stands for, or the token as it is if a character is not in the alphabet.
pub(super) fn byte_level(token: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(token);
    match alphabet_bytes(token, out.get_mut(start..).unwrap_or_default()) {
        Some((len, _)) => out.truncate(start + len),
        None => {
            out.truncate(start);
            out.extend_from_slice(token);
        }
    }
}

/// Writes the bytes a token stands for to the start of `out`, which is as long as the token at least. Gives how many
/// they are, and all their bits together; nothing if a character is not in the alphabet. By hand, so that it is as fast
/// in builds for size.
#[inline(never)]
pub(super) fn alphabet_bytes(token: &[u8], out: &mut [u8]) -> Option<(usize, u8)> {
    let (mut from, mut to, mut bits) = (0, 0, 0);
    while let Some(&lead) = token.get(from) {
        let mut character = u32::from(lead);
        if lead >= 0x80 {
            // Larger characters are not in the alphabet.
            if lead >= 0xe0 {
                return None;
            }
            from += 1;
            character = u32::from(lead & 0x1f) << 6 | u32::from(*token.get(from)? & 0x3f);
        }
        let byte = alphabet_byte(character)?;
        *out.get_mut(to)? = byte;
        bits |= byte;
        from += 1;
        to += 1;
    }
    Some((to, bits))
}

/// Cuts characters equal to `content` from the ends. Where both cuts meet, or a token is shorter than `stop` and all
/// `content`, the reference panics; here nothing is left.
fn strip(token: &str, content: char, start: usize, mut stop: usize) -> &str {
    let leading = leading(token.as_bytes(), content, start);
    let mut end = token;
    while stop > 0
        && let Some(rest) = end.strip_suffix(content)
    {
        end = rest;
        stop -= 1;
    }
    end.get(leading..).unwrap_or_default()
}

/// How many bytes the characters equal to `content` have that a text begins with, of at most so many.
pub(super) fn leading(text: &[u8], content: char, mut most: usize) -> usize {
    let mut buffer = [0; 4];
    let content = content.encode_utf8(&mut buffer).as_bytes();
    let mut rest = text;
    while most > 0
        && let Some(next) = rest.strip_prefix(content)
    {
        rest = next;
        most -= 1;
    }
    text.len() - rest.len()
}

/// Replaces each occurrence, left to right; an empty pattern matches between all characters and at both ends.
#[inline(never)]
fn replace(token: &str, pattern: &str, content: &str, out: &mut String) {
    let Some(&first) = pattern.as_bytes().first() else {
        for character in token.chars() {
            out.push_str(content);
            out.push(character);
        }
        return out.push_str(content);
    };
    // For the short patterns of real files a plain search is several times faster than one with a table.
    let borders = if pattern.len() > 16 && pattern.len() <= token.len() { borders(pattern) } else { Vec::new() };
    let (bytes, wanted) = (token.as_bytes(), pattern.as_bytes());
    // Where the next match may begin, how much of it is known, and what was taken over so far.
    let (mut at, mut known, mut copied) = (0, 0, 0);
    while at + wanted.len() <= bytes.len() {
        if known == 0 && bytes.get(at) != Some(&first) {
            at += 1;
            continue;
        }
        while known < wanted.len() && bytes.get(at + known) == wanted.get(known) {
            known += 1;
        }
        if known == wanted.len() {
            out.push_str(token.get(copied..at).unwrap_or_default());
            out.push_str(content);
            at += known;
            (known, copied) = (0, at);
        } else {
            let border = known.checked_sub(1).and_then(|last| borders.get(last)).copied().unwrap_or_default();
            let border = border as usize;
            at += if borders.is_empty() { 1 } else { (known - border).max(1) };
            known = border;
        }
    }
    out.push_str(token.get(copied..).unwrap_or_default());
}

/// For each beginning of a pattern, the length of the longest shorter one that it ends with. With it, a search never
/// goes back (Knuth, Morris and Pratt).
#[cold]
fn borders(pattern: &str) -> Vec<u32> {
    let bytes = pattern.as_bytes();
    let mut borders: Vec<u32> = vec![0; bytes.len()];
    let mut border = 0_u32;
    for at in 1..bytes.len() {
        while border > 0 && bytes.get(at) != bytes.get(border as usize) {
            border = borders.get(border as usize - 1).copied().unwrap_or_default();
        }
        border += u32::from(bytes.get(at) == bytes.get(border as usize));
        if let Some(slot) = borders.get_mut(at) {
            *slot = border;
        }
    }
    borders
}

/// Takes out the reference's list of spaces, in its order, from `start` on. `transformers` has the same list without
/// the contraction of "do not".
#[inline(never)]
pub(super) fn clean_up(text: &mut String, start: usize, contracts: bool) {
    const DO_NOT: &str = " do not";
    const SPACES: [(&str, &str); 11] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (DO_NOT, " don't"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    let mut before = String::new();
    for (from, to) in SPACES {
        if from == DO_NOT && !contracts {
            continue;
        }
        before.clear();
        before.push_str(text.get(start..).unwrap_or_default());
        text.truncate(start);
        replace(&before, from, to, text);
    }
}

#[cfg(test)]
mod tests;
