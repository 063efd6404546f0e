//! What a file seems to be when it is not a tokenizer.json, so that the error can say it.

use super::{invalid, quoted, utf8};
use crate::ErrorCode::{CompressedInput, InvalidTokenizer, UnsupportedTokenizer};
use crate::json::{joined, skip_space};
use crate::{Error, ErrorCode};

/// What a file is that begins like this, and the code of the error about it.
const BEGINNINGS: [(&[u8], ErrorCode, &str); 14] = [
    (b"\x1f\x8b", CompressedInput, COMPRESSED),
    (b"\x28\xb5\x2f\xfd", CompressedInput, COMPRESSED),
    (b"BZh", CompressedInput, COMPRESSED),
    (b"\xfd7zXZ", CompressedInput, COMPRESSED),
    (b"PK\x03\x04", UnsupportedTokenizer, "a zip archive"),
    (b"GGUF", UnsupportedTokenizer, "a GGUF model"),
    (b"\xef\xbb\xbf", InvalidTokenizer, "the file begins with a byte order mark; remove its first three bytes"),
    (b"\xff\xfe", InvalidTokenizer, UTF_16),
    (b"\xfe\xff", InvalidTokenizer, UTF_16),
    (
        b"<",
        InvalidTokenizer,
        "the file is an HTML or XML page, perhaps an error page or a login page; check the address",
    ),
    (
        b"version https://git-lfs",
        InvalidTokenizer,
        "the file is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`",
    ),
    (b"#version", UnsupportedTokenizer, "a list of merges (merges.txt)"),
    (b"[PAD]", UnsupportedTokenizer, WORDS),
    (b"[UNK]", UnsupportedTokenizer, WORDS),
];
const COMPRESSED: &str = "the file is compressed; decompress it first";
const UTF_16: &str = "the file is UTF-16 text; save it as UTF-8";
const WORDS: &str = "a list of words (vocab.txt)";

/// Refuses the beginning of a file that cannot be a tokenizer.json, naming what it seems to be.
pub(super) fn check(bytes: &[u8], is_whole: bool) -> Result<(), Error> {
    let body = bytes.get(skip_space(bytes, 0)..).unwrap_or_default();
    if body.starts_with(b"{") || body.is_empty() && !is_whole {
        return Ok(());
    }
    if body.is_empty() {
        return Err(invalid(&["the file is empty; fetch it again"]));
    }
    for &(beginning, code, what) in &BEGINNINGS {
        if body.starts_with(beginning) {
            return Err(if code == UnsupportedTokenizer { unsupported(what) } else { Error::new(code, what) });
        }
    }
    if bytes.get(5..9) == Some(b"\0\0\0{") {
        return Err(unsupported("a safetensors file of weights"));
    }
    if bytes.starts_with(b"\x0a") && bytes.get(2) == Some(&0x0a) && utf8::whole(bytes).1 {
        return Err(unsupported("a SentencePiece model"));
    }
    if is_rank_line(body) {
        return Err(unsupported("a tiktoken vocabulary"));
    }
    Err(invalid(&["the file does not begin with '{', so it is no tokenizer.json"]))
}

/// Top-level keys that no tokenizer.json has, and what has them.
const KEYS: [(&str, &str); 15] = [
    ("config", TEKKEN),
    ("special_tokens", TEKKEN),
    ("vocab", TEKKEN),
    ("image", TEKKEN),
    ("pat_str", TIKTOKEN),
    ("bpe_ranks", TIKTOKEN),
    ("explicit_n_vocab", TIKTOKEN),
    ("tokenizer_class", CONFIG),
    ("added_tokens_decoder", CONFIG),
    ("add_bos_token", CONFIG),
    ("add_prefix_space", CONFIG),
    ("bos_token", CONFIG),
    ("clean_up_tokenization_spaces", CONFIG),
    ("architectures", "a config.json"),
    ("model_type", "a config.json"),
];
const TEKKEN: &str = "a tekken.json";
const TIKTOKEN: &str = "a tiktoken vocabulary in JSON";
const CONFIG: &str = "a tokenizer_config.json";

/// Names the file by a top-level key that no tokenizer.json has, and the first byte of its value.
pub(super) fn unknown_key(key: &str, next: Option<u8>) -> Error {
    if next.is_some_and(|byte| byte.is_ascii_digit()) {
        return unsupported("a map of words to numbers (vocab.json)");
    }
    if matches!(key, "error" | "message") {
        return invalid(&["the file is the error message of a server; check the address"]);
    }
    for &(known, what) in &KEYS {
        if key == known {
            return unsupported(what);
        }
    }
    invalid(&["the file has the top-level key ", &quoted(key), ", which the reference refuses"])
}

/// Whether the first line is `<base64> <number>`.
fn is_rank_line(bytes: &[u8]) -> bool {
    let mut at = 0;
    let mut pass = |is_one: fn(u8) -> bool| {
        let start = at;
        while bytes.get(at).is_some_and(|&byte| is_one(byte)) {
            at += 1;
        }
        at - start
    };
    let word = pass(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
    let space = pass(|byte| byte == b' ');
    let rank = pass(|byte| byte.is_ascii_digit());
    let is_end = matches!(bytes.get(at), None | Some(b'\n' | b'\r'));
    word > 0 && word % 4 == 0 && space == 1 && rank > 0 && is_end
}

fn unsupported(what: &str) -> Error {
    let rest = ", not a tokenizer.json; convert it, or fetch the tokenizer.json of the model";
    Error::new(UnsupportedTokenizer, joined(&["the file seems to be ", what, rest]))
}
