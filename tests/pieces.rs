//! Which token gives which part of a text.
#![cfg(not(target_arch = "wasm32"))]

#[path = "common/parts.rs"]
mod parts;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use token2text::{DecodeOptions, Pieces, Tokenizer};

const KEEP: DecodeOptions = DecodeOptions { skip_special_tokens: false };
const SKIP: DecodeOptions = DecodeOptions { skip_special_tokens: true };

const SPECIAL: u8 = Pieces::SPECIAL;
const UNKNOWN: u8 = Pieces::UNKNOWN;
const CONTINUES: u8 = Pieces::CONTINUES;
const BYTE: u8 = Pieces::BYTE;
const UNATTRIBUTED: u8 = Pieces::UNATTRIBUTED;

/// An id that no tokenizer here has.
const NONE: u32 = 99;

/// A tokenizer with the words as ids 0, 1, 2, ...; a last word `<s>` is special.
fn tokenizer(words: &[&str], decoder: Value) -> Tokenizer {
    let vocab: serde_json::Map<String, Value> =
        words.iter().zip(0..).map(|(word, id)| ((*word).to_owned(), id.into())).collect();
    let added = json!({ "id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true });
    let json = json!({ "added_tokens": [added], "decoder": decoder, "model": { "type": "BPE", "merges": [], "vocab": vocab } });
    Tokenizer::from_json(json.to_string().as_bytes()).unwrap()
}

fn sequence(decoders: &[Value]) -> Value {
    json!({ "type": "Sequence", "decoders": decoders })
}

fn byte_level() -> Value {
    json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true })
}

fn replace(from: &str, to: &str) -> Value {
    json!({ "type": "Replace", "pattern": { "String": from }, "content": to })
}

fn strip(start: usize, stop: usize) -> Value {
    json!({ "type": "Strip", "content": " ", "start": start, "stop": stop })
}

fn kind(kind: &str) -> Value {
    json!({ "type": kind })
}

/// Llama 2's decoder.
fn spm4() -> Value {
    sequence(&[replace("▁", " "), kind("ByteFallback"), kind("Fuse"), strip(1, 0)])
}

/// The part of each token, and its flags.
#[track_caller]
fn pieces(tokenizer: &Tokenizer, ids: &[u32], options: DecodeOptions) -> Vec<(String, u8)> {
    let Pieces { text, ends, flags } = parts::check_pieces(tokenizer, ids, options);
    let starts = [0].into_iter().chain(ends.iter().copied());
    let texts = starts.zip(&ends).map(|(start, &end)| text[start..end].to_owned());
    texts.zip(flags).collect()
}

#[track_caller]
fn assert_pieces(tokenizer: &Tokenizer, ids: &[u32], options: DecodeOptions, expected: &[(&str, u8)]) {
    let expected: Vec<_> = expected.iter().map(|&(text, flags)| (text.to_owned(), flags)).collect();
    assert_eq!(pieces(tokenizer, ids, options), expected, "{ids:?}");
}

#[test]
fn a_character_belongs_to_the_token_with_its_first_byte() {
    // "😀" is F0 9F 98 80, "é" is C3 A9, "あ" is E3 81 82.
    let words = ["ðŁĺ", "Ģ", "xÃ", "©y", "ã", "ģ", "Ĥ", "<s>"];
    let tokenizer = tokenizer(&words, byte_level());
    assert_pieces(&tokenizer, &[0, 1], KEEP, &[("😀", 0), ("", CONTINUES)]);
    assert_pieces(&tokenizer, &[2, 3], KEEP, &[("xé", 0), ("y", CONTINUES)]);
    assert_pieces(&tokenizer, &[4, 5, 6], KEEP, &[("あ", 0), ("", CONTINUES), ("", CONTINUES)]);
    let (special, unknown) = (("", SPECIAL), ("", UNKNOWN));
    assert_pieces(&tokenizer, &[0, NONE, 7, 1], SKIP, &[("😀", 0), unknown, special, ("", CONTINUES)]);
    let utf16 = tokenizer.pieces(&[0, 1, 2], KEEP).utf16_ends();
    assert_eq!(utf16, [2, 2, 4]);
}

#[test]
fn what_replaces_bytes_belongs_to_the_first_of_them() {
    let words = ["ðŁ", "ĺ", "a", "ã", "Ģ", "<s>", "ĢĢ", "ģã"];
    let tokenizer = tokenizer(&words, byte_level());
    // Three bytes of four are one U+FFFD.
    assert_pieces(&tokenizer, &[0, 1], KEEP, &[("\u{fffd}", 0), ("", CONTINUES)]);
    assert_pieces(&tokenizer, &[0, 1, 2], KEEP, &[("\u{fffd}", 0), ("", CONTINUES), ("a", 0)]);
    assert_pieces(&tokenizer, &[0, 3, 2], KEEP, &[("\u{fffd}", 0), ("\u{fffd}", 0), ("a", 0)]);
    assert_pieces(&tokenizer, &[3, 5, 4], KEEP, &[("\u{fffd}", 0), ("<s>", SPECIAL), ("\u{fffd}", 0)]);
    assert_pieces(&tokenizer, &[6, 4], KEEP, &[("\u{fffd}\u{fffd}", 0), ("\u{fffd}", 0)]);
    // E3 81 | E3 80: the second byte of a token may end what the first one of another began.
    assert_pieces(&tokenizer, &[3, 7, 4], KEEP, &[("\u{fffd}", 0), ("\u{fffd}", CONTINUES), ("", CONTINUES)]);
}

#[test]
fn byte_tokens_are_exact_also_where_they_are_no_text() {
    let words = ["<0xC3>", "<0xA9>", "b", "<0x41>", "▁c", "<s>", "<0x20>"];
    let tokenizer = tokenizer(&words, spm4());
    assert_pieces(&tokenizer, &[2, 0, 1, 2], KEEP, &[("b", 0), ("é", BYTE), ("", BYTE | CONTINUES), ("b", 0)]);
    let bad = ("\u{fffd}", BYTE);
    assert_pieces(&tokenizer, &[3, 0, 2, 1, 1], KEEP, &[bad, bad, ("b", 0), bad, bad]);
    // Neither an unknown id nor one that is left out ends a run.
    assert_pieces(
        &tokenizer,
        &[0, NONE, 5, 1],
        SKIP,
        &[("é", BYTE), ("", UNKNOWN), ("", SPECIAL), ("", BYTE | CONTINUES)],
    );
    assert_pieces(&tokenizer, &[0, 5, 1], KEEP, &[bad, ("<s>", SPECIAL), bad]);
    assert_pieces(&tokenizer, &[3, 0, 1, 3], KEEP, &[("A", BYTE), ("é", BYTE), ("", BYTE | CONTINUES), ("A", BYTE)]);
    // What is cut from the front is lost to the token that it belonged to.
    assert_pieces(&tokenizer, &[4, 4], KEEP, &[("c", 0), (" c", 0)]);
    assert_pieces(&tokenizer, &[6, 4], KEEP, &[("", BYTE), (" c", 0)]);
    assert_pieces(&tokenizer, &[6, 3, 4], KEEP, &[("", BYTE), ("A", BYTE), (" c", 0)]);
    assert_pieces(&tokenizer, &[5, 4], SKIP, &[("", SPECIAL), ("c", 0)]);
    assert_pieces(&tokenizer, &[], KEEP, &[]);
}

/// Llama 2's decoder, written down once more in the plainest way.
fn plain_spm4(words: &[&str], ids: &[u32]) -> Vec<String> {
    let byte =
        |id: &u32| words.get(*id as usize).and_then(|word| word.strip_prefix("<0x")?.get(..2)).map(str::to_owned);
    let byte = |id: &u32| byte(id).map(|digits| u8::from_str_radix(&digits, 16).unwrap());
    let mut parts = vec![String::new(); ids.len()];
    let known: Vec<usize> = (0..ids.len()).filter(|&at| (ids[at] as usize) < words.len()).collect();
    for run in known.chunk_by(|&a, &b| byte(&ids[a]).is_some() && byte(&ids[b]).is_some()) {
        let bytes: Vec<u8> = run.iter().filter_map(|&at| byte(&ids[at])).collect();
        if bytes.is_empty() {
            run.iter().for_each(|&at| parts[at] = words[ids[at] as usize].replace('▁', " "));
        } else if let Ok(text) = String::from_utf8(bytes) {
            text.char_indices().for_each(|(start, character)| parts[run[start]].push(character));
        } else {
            run.iter().for_each(|&at| parts[at].push('\u{fffd}'));
        }
    }
    if let Some(first) = parts.iter_mut().find(|part| !part.is_empty())
        && first.starts_with(' ')
    {
        first.remove(0);
    }
    parts
}

#[test]
fn random_runs_of_bytes_are_as_in_a_plain_model() {
    let words = ["<0xC3>", "<0xA9>", "<0xE3>", "<0x81>", "<0x82>", "<0x41>", "<0x20>", "b", "▁c", "▁", "日本"];
    let tokenizer = tokenizer(&words, spm4());
    let mut state = 7_u32;
    for _ in 0..20_000 {
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        let ids: Vec<u32> = (0..random(12)).map(|_| if random(12) == 0 { NONE } else { random(11) }).collect();
        let texts: Vec<String> = pieces(&tokenizer, &ids, KEEP).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, plain_spm4(&words, &ids), "{ids:?}");
    }
}

#[test]
fn a_space_between_tokens_belongs_to_the_second() {
    let words = ["un", "##do", "it", ".", "<s>"];
    let piece = tokenizer(&words, json!({ "type": "WordPiece", "prefix": "##", "cleanup": true }));
    assert_pieces(&piece, &[0, 1, 2, 3], KEEP, &[("un", 0), ("do", 0), (" it", 0), (".", 0)]);
    assert_pieces(&piece, &[4, 1, NONE, 2], SKIP, &[("", SPECIAL), ("##do", 0), ("", UNKNOWN), (" it", 0)]);
    let joined = tokenizer(&words, Value::Null);
    assert_pieces(&joined, &[NONE, 0, NONE, 2], KEEP, &[("", UNKNOWN), ("un", 0), ("", UNKNOWN), (" it", 0)]);
    assert_pieces(&joined, &[4, 0], KEEP, &[("<s>", SPECIAL), (" un", 0)]);
    assert_pieces(&joined, &[4, 0], SKIP, &[("", SPECIAL), ("un", 0)]);
    let words = ["▁a", "▁▁b▁c", "<s>"];
    let space = tokenizer(&words, json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always" }));
    assert_pieces(&space, &[0, 1, 0], KEEP, &[("a", 0), ("  b c", 0), (" a", 0)]);
    assert_pieces(&space, &[NONE, 1, 0], KEEP, &[("", UNKNOWN), ("bc", 0), (" a", 0)]);
}

#[test]
fn decoders_that_look_at_their_neighbours() {
    let words = ["lo</w>", "w", "<pad>", "|", "a", "<s>"];
    let suffix = tokenizer(&words, json!({ "type": "BPEDecoder", "suffix": "</w>" }));
    assert_pieces(&suffix, &[0, 1, NONE, 0], KEEP, &[("lo ", 0), ("w", 0), ("", UNKNOWN), ("lo", 0)]);
    assert_pieces(&suffix, &[0, NONE, 5], SKIP, &[("lo", 0), ("", UNKNOWN), ("", SPECIAL)]);
    let ctc = json!({ "type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": true });
    let ctc = tokenizer(&words, ctc);
    let (none, a) = (("", 0), ("a", 0));
    assert_pieces(
        &ctc,
        &[4, 4, NONE, 4, 2, 4, 3, 3, 1],
        KEEP,
        &[a, none, ("", UNKNOWN), none, none, a, (" ", 0), none, ("w", 0)],
    );
}

#[test]
fn what_cannot_be_told_apart_goes_to_the_last_token() {
    let words = ["a", "b", "ab", " ", "<0xC3>", "<0xA9>", "<s>", "日"];
    let fused = |steps: &[Value]| tokenizer(&words, sequence(&[&[kind("Fuse")], steps].concat()));
    let whole = fused(&[replace("ab", "x")]);
    assert_pieces(&whole, &[0, 1, 0], KEEP, &[("", 0), ("", 0), ("xa", UNATTRIBUTED)]);
    assert_pieces(&whole, &[0, 1, NONE], KEEP, &[("", 0), ("x", UNATTRIBUTED), ("", UNKNOWN)]);
    // Where nothing changes, and where there is only one, everything is known.
    assert_pieces(&whole, &[1, 0, 0], KEEP, &[("b", 0), ("a", 0), ("a", 0)]);
    assert_pieces(&whole, &[2, NONE], KEEP, &[("x", 0), ("", UNKNOWN)]);
    let trimmed = fused(&[strip(0, 1)]);
    assert_pieces(&trimmed, &[0, 3], KEEP, &[("", 0), ("a", UNATTRIBUTED)]);
    assert_pieces(&trimmed, &[3, 0], KEEP, &[(" ", 0), ("a", 0)]);
    let level = tokenizer(&["Ã", "©", "a", "<s>"], sequence(&[byte_level(), replace("é", "e")]));
    assert_pieces(&level, &[2, 0, 1], KEEP, &[("", 0), ("", 0), ("ae", UNATTRIBUTED)]);
    assert_pieces(&level, &[2, 2], KEEP, &[("a", 0), ("a", 0)]);
    // Of a run of bytes only the run is one.
    let run = tokenizer(&words, sequence(&[kind("ByteFallback"), replace("é", "e"), kind("Fuse")]));
    assert_pieces(&run, &[0, 4, 5, 7], KEEP, &[("a", 0), ("", BYTE), ("e", BYTE | UNATTRIBUTED), ("日", 0)]);
}

#[test]
fn a_text_of_no_token_belongs_to_the_last_id() {
    // An empty text of no token, in which an empty delimiter is found once.
    let ctc = json!({ "type": "CTC", "pad_token": "", "word_delimiter_token": "", "cleanup": true });
    let none = tokenizer(&["a"], sequence(&[byte_level(), ctc]));
    assert_eq!(none.decode(&[NONE], KEEP), " ");
    assert_pieces(&none, &[NONE], KEEP, &[(" ", UNKNOWN | UNATTRIBUTED)]);
    assert_pieces(&none, &[NONE, 1], SKIP, &[("", UNKNOWN), (" ", SPECIAL | UNATTRIBUTED)]);
    assert_pieces(&none, &[], KEEP, &[]);
}

#[cfg(feature = "general")]
#[test]
fn cleaned_up_texts_lose_spaces_where_they_were() {
    use token2text::{Compat, LoadOptions};
    let vocab = json!({ "Hello": 0, "Ġ.": 1, "Ġ": 2, "Ġ'": 3, "s": 4, "Ã": 5, "©": 6, "Ġ!": 7 });
    let json = json!({ "added_tokens": [], "decoder": byte_level(), "model": { "type": "BPE", "merges": [], "vocab": vocab } });
    let config = br#"{ "clean_up_tokenization_spaces": true }"#;
    let options = LoadOptions { compat: Compat::Transformers4, config: Some(config), ..LoadOptions::default() };
    let tokenizer = Tokenizer::load(json.to_string().as_bytes(), &options).unwrap();
    assert_pieces(&tokenizer, &[0, 1, 0], KEEP, &[("Hello", 0), (".", 0), ("Hello", 0)]);
    assert_pieces(&tokenizer, &[0, 2, 1], KEEP, &[("Hello", 0), (" ", 0), (".", 0)]);
    assert_pieces(&tokenizer, &[0, 3, 4, 1], KEEP, &[("Hello", 0), ("'", 0), ("s", 0), (".", 0)]);
    assert_pieces(&tokenizer, &[5, 6, 7], KEEP, &[("é", 0), ("", CONTINUES), ("!", 0)]);
    for ids in [&[0, 1, 0, 2, 3, 4][..], &[2, 2, 1], &[3, 2, 2], &[2, 3, 2, 4], &[5, 1], &[]] {
        parts::check(&tokenizer, ids, false);
    }
}

#[test]
fn every_handmade_tokenizer() {
    let file = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/handmade.json")).unwrap();
    let file: Value = serde_json::from_slice(&file).unwrap();
    let mut checked = 0;
    for item in file["items"].as_array().unwrap() {
        let json = item["raw"].as_str().map_or_else(|| item["tokenizer"].to_string(), str::to_owned);
        let Ok(tokenizer) = Tokenizer::from_json(json.as_bytes()) else { continue };
        for case in item["cases"].as_array().into_iter().flatten() {
            let ids: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
            parts::check(&tokenizer, &ids, case["skip"] == true);
            checked += 1;
        }
    }
    assert!(checked > 3000, "{checked}");
}

/// Real tokenizers: each id alone and with another one, and the mixed texts of the oracle.
mod real {
    use super::*;

    fn check(key: &str) {
        let read = |path: String| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
            fs::read(&path)
                .unwrap_or_else(|error| panic!("{}: {error}. Run `make fetch-tokenizers` first.", path.display()))
        };
        let tokenizer = Tokenizer::from_json(&read(format!(".cache/tokenizers/{key}/tokenizer.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&read(format!("tests/oracle/expected/{key}.json"))).unwrap();
        for case in expected["cases"].as_array().unwrap() {
            let ids: Vec<u32> = serde_json::from_value(case["ids"].clone()).unwrap();
            for skip_special_tokens in [false, true] {
                let options = DecodeOptions { skip_special_tokens };
                parts::check_pieces(&tokenizer, &ids, options);
                for size in [1, 2, 7, 1000] {
                    parts::check_stream(&tokenizer, &ids, options, &vec![size; ids.len() / size]);
                }
                // In short lists each token is held against what it adds.
                for ids in ids.chunks(24) {
                    parts::check_pieces(&tokenizer, ids, options);
                }
            }
        }
        let count = expected["max_id"].as_u64().unwrap() as u32 + 24;
        let mut other = 1_u32;
        for id in 0..count {
            other = other.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let second = ((u64::from(other) * u64::from(count)) >> 32) as u32;
            let ids = [id, second];
            let [alone, both] = [&ids[..1], &ids[..]].map(|ids| tokenizer.pieces(ids, KEEP));
            assert_eq!(alone.text, tokenizer.decode(&[id], KEEP));
            assert_eq!(both.text, tokenizer.decode(&ids, KEEP));
            assert_eq!((alone.ends[0], both.ends[1]), (alone.text.len(), both.text.len()));
            assert_eq!((alone.flags[0], alone.flags.len()), (both.flags[0], 1));
            // What stands alone is the same in front of another, unless they share a character or a run of bytes.
            if !alone.text.contains('\u{fffd}') && both.text.starts_with(&alone.text) {
                assert_eq!(both.ends[0], alone.ends[0], "{ids:?}");
            } else {
                parts::check_pieces(&tokenizer, &ids, KEEP);
            }
            parts::check_stream(&tokenizer, &ids, KEEP, &[1]);
        }
    }

    macro_rules! tokenizers {
        ($($key:ident)*) => { $(#[test] fn $key() { check(stringify!($key)); })* };
    }

    tokenizers! {
        qwen2_5 qwen3 llama3_1 gpt2 gpt35turbo gpt4o gptoss claude deepseek_v3 mistral_nemo command_r_plus gemma3 yi llama2
        internlm2 chatglm3 deepseek_v4 minilm e5_multilingual
    }
}
