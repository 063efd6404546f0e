//! Text as its tokens arrive: nothing comes late, and nothing changes.
#![cfg(not(target_arch = "wasm32"))]

#[path = "common/parts.rs"]
mod parts;

use std::sync::Arc;

use serde_json::{Value, json};
use token2text::{DecodeOptions, TextStream, Tokenizer};

const OPTIONS: DecodeOptions = DecodeOptions { skip_special_tokens: false };

fn tokenizer(words: &[&str], decoder: Value) -> Tokenizer {
    let vocab: serde_json::Map<String, Value> =
        words.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), id.into())).collect();
    let json =
        json!({ "added_tokens": [], "decoder": decoder, "model": { "type": "BPE", "merges": [], "vocab": vocab } });
    Tokenizer::from_json(json.to_string().as_bytes()).unwrap()
}

/// Each word is given alone; what comes for it, and in the end.
#[track_caller]
fn assert_steps(decoder: Value, steps: &[(&str, &str)], end: &str) {
    let words: Vec<&str> = steps.iter().map(|(word, _)| *word).collect();
    let mut distinct = words.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let tokenizer = tokenizer(&distinct, decoder);
    let ids: Vec<u32> =
        words.iter().map(|word| distinct.iter().position(|other| other == word).unwrap() as u32).collect();
    let mut stream = tokenizer.stream(OPTIONS);
    for (id, (word, text)) in ids.iter().zip(steps) {
        assert_eq!(stream.push(&[*id]), *text, "{word}");
    }
    assert_eq!(stream.finish(), end);
    parts::check(&tokenizer, &ids, false);
}

fn byte_level() -> Value {
    json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true })
}

fn sequence(decoders: &[Value]) -> Value {
    json!({ "type": "Sequence", "decoders": decoders })
}

fn bytes_and_strip() -> Value {
    let [bytes, fuse] = ["ByteFallback", "Fuse"].map(|kind| json!({ "type": kind }));
    sequence(&[bytes, fuse, json!({ "type": "Strip", "content": " ", "start": 2, "stop": 0 })])
}

#[test]
fn bytes_of_a_character_wait_only_while_it_can_be_completed() {
    let bad = "\u{fffd}";
    assert_steps(byte_level(), &[("a", "a"), ("ðŁĺ", ""), ("Ģ", "😀"), ("b", "b")], "");
    assert_steps(byte_level(), &[("ð", ""), ("Ł", ""), ("ĺ", ""), ("a", "\u{fffd}a")], "");
    assert_steps(byte_level(), &[("ðŁ", ""), ("ð", bad), ("ŁĺĢ", "😀")], "");
    assert_steps(byte_level(), &[("a", "a"), ("ðŁĺ", "")], bad);
    // These bytes begin nothing: no need to wait.
    assert_steps(byte_level(), &[("Ģ", bad), ("ÿ", bad), ("À", bad), ("íł", "\u{fffd}\u{fffd}"), ("à", "")], bad);
}

#[test]
fn runs_of_byte_tokens_wait_for_their_end() {
    let steps = [("<0x61>", ""), ("<0xE5>", ""), ("b", "\u{fffd}\u{fffd}b"), ("<0x0A>", "")];
    assert_steps(bytes_and_strip(), &steps, "\n");
    assert_steps(bytes_and_strip(), &[("<0xC3>", ""), ("<0xA9>", ""), ("b", "éb")], "");
    assert_steps(bytes_and_strip(), &[(" ", ""), ("<0x20>", ""), ("  x", "  x"), (" ", " ")], "");
    assert_steps(bytes_and_strip(), &[(" ", ""), ("x", "x"), (" y", " y")], "");
}

#[test]
fn one_token_of_context() {
    let suffix = json!({ "type": "BPEDecoder", "suffix": "</w>" });
    assert_steps(suffix, &[("llo</w>", ""), ("wor", "llo "), ("ld</w>", "wor")], "ld");
    let ctc = json!({ "type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": true });
    assert_steps(ctc, &[("a", "a"), ("a", ""), ("<pad>", ""), ("a", "a"), ("|", " ")], "");
    assert_steps(Value::Null, &[("a", "a"), ("", " "), ("b", " b")], "");
    let piece = json!({ "type": "WordPiece", "prefix": "##", "cleanup": true });
    assert_steps(piece, &[("##a", "##a"), ("##b", "b"), (".", "."), ("c", " c")], "");
}

#[test]
fn steps_on_the_whole_wait_for_the_end() {
    let replace = json!({ "type": "Replace", "pattern": { "String": "ab" }, "content": "x" });
    assert_steps(sequence(&[json!({ "type": "Fuse" }), replace.clone()]), &[("a", ""), ("b", "")], "x");
    assert_steps(sequence(&[byte_level(), replace]), &[("a", ""), ("b", "")], "x");
}

#[test]
fn a_long_run_costs_no_more_for_each_token() {
    let words = ["<0x0A>", "<0xC3>", "<0xA9>"];
    let tokenizer = tokenizer(&words, bytes_and_strip());
    let count = 1 << 20;
    for (id, end) in [(0, "\n".repeat(count)), (1, "\u{fffd}".repeat(count))] {
        let mut stream = tokenizer.stream(OPTIONS);
        assert!((0..count).all(|_| stream.push(&[id]).is_empty()));
        assert_eq!(stream.held(), count);
        assert!(stream.finish() == end);
    }
}

#[test]
fn little_is_held_where_little_can_change() {
    let tokenizer = tokenizer(&["ðŁĺ", "Ģ", "a long token"], byte_level());
    let mut stream = tokenizer.stream(OPTIONS);
    let mut text = String::new();
    for id in [0, 1, 2, 0, 0, 1, 7].repeat(1000) {
        text += &stream.push(&[id]);
        assert!(stream.held() <= 3);
    }
    assert_eq!(text + &stream.finish(), tokenizer.decode(&[0, 1, 2, 0, 0, 1, 7].repeat(1000), OPTIONS));
}

#[test]
fn a_stream_may_share_its_tokenizer() {
    let shared = Arc::new(tokenizer(&["a"], Value::Null));
    let mut stream = TextStream::new(Arc::clone(&shared), OPTIONS);
    drop(shared);
    assert_eq!(stream.push(&[0]) + &stream.push(&[0]) + &stream.finish(), "a a");
}
