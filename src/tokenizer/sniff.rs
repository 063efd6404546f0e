//! What a file seems to be when it is not a tokenizer.json, so that the error can say it.

use super::{invalid, quoted, utf8};
use crate::json::{joined, skip_space};
use crate::{Error, ErrorCode};

/// Refuses the beginning of a file that cannot be a tokenizer.json, naming what it seems to be.
pub(super) fn check(bytes: &[u8], is_whole: bool) -> Result<(), Error> {
    let body = bytes.get(skip_space(bytes, 0)..).unwrap_or_default();
    if body.starts_with(b"{") || body.is_empty() && !is_whole {
        return Ok(());
    }
    let starts = |magic: &[u8]| bytes.starts_with(magic);
    if body.is_empty() {
        return Err(invalid(&["the file is empty; fetch it again"]));
    }
    if starts(b"\x1f\x8b") || starts(b"\x28\xb5\x2f\xfd") || starts(b"BZh") || starts(b"\xfd7zXZ") {
        return Err(Error::new(ErrorCode::CompressedInput, "the file is compressed; decompress it first"));
    }
    if starts(b"PK\x03\x04") {
        return Err(unsupported("a zip archive"));
    }
    if starts(b"GGUF") {
        return Err(unsupported("a GGUF model"));
    }
    if bytes.get(8) == Some(&b'{') && bytes.get(5..8) == Some(&[0, 0, 0]) {
        return Err(unsupported("a safetensors file of weights"));
    }
    if starts(b"\x0a") && bytes.get(2) == Some(&0x0a) && utf8::whole(bytes).1 {
        return Err(unsupported("a SentencePiece model"));
    }
    if starts(b"\xef\xbb\xbf") {
        return Err(invalid(&[
            "the file begins with a byte order mark, which the reference refuses; remove its first three bytes",
        ]));
    }
    if starts(b"\xff\xfe") || starts(b"\xfe\xff") {
        return Err(invalid(&["the file is UTF-16 text; save it as UTF-8"]));
    }
    if body.starts_with(b"<") {
        return Err(invalid(&[
            "the file is an HTML or XML page, perhaps an error page or a login page; check the address",
        ]));
    }
    if starts(b"version https://git-lfs") {
        return Err(invalid(&["the file is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`"]));
    }
    if starts(b"#version") {
        return Err(unsupported("a list of merges (merges.txt)"));
    }
    if is_rank_line(body) {
        return Err(unsupported("a tiktoken vocabulary"));
    }
    if body.starts_with(b"[PAD]") || body.starts_with(b"[UNK]") {
        return Err(unsupported("a list of words (vocab.txt)"));
    }
    Err(invalid(&["the file does not begin with '{', so it is no tokenizer.json"]))
}

/// Names the file by a top-level key that no tokenizer.json has, and the first byte of its value.
pub(super) fn unknown_key(key: &str, next: Option<u8>) -> Error {
    match key {
        _ if next.is_some_and(|byte| byte.is_ascii_digit()) => unsupported("a map of words to numbers (vocab.json)"),
        "config" | "special_tokens" | "vocab" | "image" => unsupported("a tekken.json"),
        "pat_str" | "bpe_ranks" | "explicit_n_vocab" => unsupported("a tiktoken vocabulary in JSON"),
        "tokenizer_class"
        | "added_tokens_decoder"
        | "add_bos_token"
        | "add_prefix_space"
        | "bos_token"
        | "clean_up_tokenization_spaces" => unsupported("a tokenizer_config.json"),
        "architectures" | "model_type" => unsupported("a config.json"),
        "error" | "message" => invalid(&["the file is the error message of a server; check the address"]),
        _ => invalid(&["the file has the top-level key ", &quoted(key), ", which the reference refuses"]),
    }
}

/// Whether the first line is `<base64> <number>`.
fn is_rank_line(bytes: &[u8]) -> bool {
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let count = |from: usize, fits: &dyn Fn(&u8) -> bool| {
        let mut at = from;
        while bytes.get(at).is_some_and(fits) {
            at += 1;
        }
        at - from
    };
    let word = count(0, &is_base64);
    let rank = count(word + 1, &is_digit);
    let is_end = matches!(bytes.get(word + 1 + rank), None | Some(b'\n' | b'\r'));
    word > 0 && word % 4 == 0 && bytes.get(word) == Some(&b' ') && rank > 0 && is_end
}

fn unsupported(what: &str) -> Error {
    let rest = ", not a tokenizer.json; convert it, or fetch the tokenizer.json of the model";
    Error::new(ErrorCode::UnsupportedTokenizer, joined(&["the file seems to be ", what, rest]))
}
