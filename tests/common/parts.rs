//! What holds for pieces and streams, whatever the tokenizer: both are held against `decode`, which the oracle holds.
#![allow(dead_code)]

use token2text::{DecodeOptions, Pieces, Tokenizer};

/// Pieces, and streams of every two parts and of single ids.
#[track_caller]
pub fn check(tokenizer: &Tokenizer, ids: &[u32], skip_special_tokens: bool) {
    let options = DecodeOptions { skip_special_tokens };
    check_pieces(tokenizer, ids, options);
    check_stream(tokenizer, ids, options, &vec![1; ids.len()]);
    for first in 0..=ids.len().min(12) {
        check_stream(tokenizer, ids, options, &[first]);
    }
}

/// What a stream gives for parts of these sizes, and for what is left, is the text of the whole.
#[track_caller]
pub fn check_stream(tokenizer: &Tokenizer, ids: &[u32], options: DecodeOptions, sizes: &[usize]) {
    let mut stream = tokenizer.stream(options);
    let (mut text, mut rest) = (String::new(), ids);
    for &size in sizes {
        let part;
        (part, rest) = rest.split_at(size.min(rest.len()));
        text += &stream.push(part);
    }
    text += &stream.push(rest);
    text += &stream.finish();
    assert_eq!(text, tokenizer.decode(ids, options), "{ids:?} in parts of {sizes:?}, {options:?}");
}

/// The pieces are the text of the whole, cut between characters; where tokens only ever add to the text, each has what it
/// adds.
#[track_caller]
pub fn check_pieces(tokenizer: &Tokenizer, ids: &[u32], options: DecodeOptions) -> Pieces {
    let pieces = tokenizer.pieces(ids, options);
    let Pieces { text, ends, flags } = &pieces;
    let what = format!("{ids:?}, {options:?}: {pieces:?}");
    assert_eq!(*text, tokenizer.decode(ids, options), "{what}");
    assert!(ends.len() == ids.len() && flags.len() == ids.len(), "{what}");
    assert!(ends.is_sorted() && ends.iter().all(|&end| text.is_char_boundary(end)), "{what}");
    assert!(ends.last().is_none_or(|&end| end == text.len()), "{what}");
    let utf16: Vec<usize> = ends.iter().map(|&end| text[..end].encode_utf16().count()).collect();
    assert_eq!(pieces.utf16_ends(), utf16, "{what}");
    let is_out = |id: u32| !tokenizer.contains(id) || options.skip_special_tokens && is_special(tokenizer, id);
    // A text of no token is the last id's, and said to be.
    let is_of_none = !text.is_empty() && ids.iter().all(|&id| is_out(id));
    for (at, (&id, &flags)) in ids.iter().zip(flags).enumerate() {
        let is_special = tokenizer.contains(id) && is_special(tokenizer, id);
        let is_last = at + 1 == ids.len();
        assert_eq!(flags & Pieces::UNKNOWN != 0, !tokenizer.contains(id), "{what}");
        assert_eq!(flags & Pieces::SPECIAL != 0, is_special, "{what}");
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        assert!(!is_out(id) || is_of_none && is_last || ends[at] == start, "{what}");
        assert!(!is_of_none || (flags & Pieces::UNATTRIBUTED != 0) == is_last, "{what}");
    }
    if let Some((ends, continues)) = adding(tokenizer, ids, options)
        && flags.iter().all(|flags| flags & Pieces::UNATTRIBUTED == 0)
    {
        assert_eq!(pieces.ends, ends, "{what}");
        assert!(flags.iter().map(|flags| flags & Pieces::CONTINUES != 0).eq(continues), "{what}");
    }
    pieces
}

fn is_special(tokenizer: &Tokenizer, id: u32) -> bool {
    // Alone it is what skipping makes of it, unless it has no text anyway.
    tokenizer.info().special_tokens.iter().any(|(special, _)| *special == id)
}

/// Where each token ends in the text, and whether it begins inside a character, by the texts of all beginnings of the list;
/// `None` unless each beginning gives a beginning of the text.
fn adding(tokenizer: &Tokenizer, ids: &[u32], options: DecodeOptions) -> Option<(Vec<usize>, Vec<bool>)> {
    if ids.len() > 64 || !only_adds(&tokenizer.info().decoder) {
        return None;
    }
    let whole = tokenizer.decode_bytes(ids, options);
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let text = lossy(&whole);
    // Between two characters the text can be cut.
    let is_between = |at: usize| lossy(&whole[..at]) + &lossy(&whole[at..]) == text;
    let (mut ends, mut continues, mut before) = (Vec::new(), Vec::new(), 0);
    for count in 1..=ids.len() {
        let bytes = tokenizer.decode_bytes(&ids[..count], options);
        if !whole.starts_with(&bytes) || bytes.len() < before {
            return None;
        }
        continues.push(bytes.len() > before && !is_between(before));
        before = bytes.len();
        let cut = (before..).find(|&at| is_between(at))?;
        ends.push(lossy(&whole[..cut]).len());
    }
    Some((ends, continues))
}

/// Whether what comes later changes nothing of what a decoder made of the tokens before, but for runs of bytes.
fn only_adds(decoder: &str) -> bool {
    let decoder = decoder.replace("Sequence", "").replace(['[', ']'], "");
    let steps: Vec<&str> = decoder.split(", ").filter(|step| !step.is_empty()).collect();
    let ends = ["ByteLevel", "ByteFallback", "Fuse", "BPEDecoder"];
    let first = steps.iter().position(|step| ends.contains(step)).unwrap_or(steps.len());
    matches!(steps[first..], [] | ["Fuse" | "ByteLevel" | "ByteFallback"] | ["ByteFallback", "Fuse"])
}
