//! Every list of ids must be what Python `tokenizers` gives a text, for real tokenizers and hand-made ones, and nothing
//! that a file holds may make the crate panic. `tests/oracle/README.md` says where the expected ids come from.
#![cfg(not(target_arch = "wasm32"))]

use serde_json::{Value, json};
use token2text::{Engine, Error, LoadOptions, Tokenizer};

fn general(file: &[u8]) -> Result<Tokenizer, Error> {
    Tokenizer::load(file, &LoadOptions { engine: Engine::General, ..LoadOptions::default() })
}

fn small(members: Value) -> Vec<u8> {
    let mut file = json!({
        "added_tokens": [], "decoder": { "type": "Fuse" },
        "model": { "type": "BPE", "vocab": { "a": 0, "b": 1, "ab": 2 }, "merges": ["a b"] },
    });
    for (name, value) in members.as_object().unwrap() {
        file[name] = value.clone();
    }
    file.to_string().into_bytes()
}

#[cfg(not(feature = "general"))]
#[test]
fn encoding_needs_the_general_engine() {
    let error = general(&small(json!({}))).expect_err("no general engine");
    assert_eq!(error.code(), token2text::ErrorCode::EngineNotAvailable);
}

#[cfg(feature = "general")]
mod with_the_general_engine {
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    use serde_json::{Value, json};
    use sha2::{Digest, Sha256};
    use token2text::{Compat, EncodeOptions, ErrorCode, LoadOptions, Tokenizer};

    use super::{general, small};

    fn path(relative: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
    }

    fn expected() -> Value {
        serde_json::from_slice(&std::fs::read(path("tests/oracle/encode.json")).unwrap()).unwrap()
    }

    fn options(add_special_tokens: bool) -> EncodeOptions {
        EncodeOptions { add_special_tokens }
    }

    /// A text of the file: a string, or a string, how often it stands, and what comes behind.
    fn text_of(value: &Value) -> String {
        match value.as_array() {
            None => value.as_str().expect("a text").to_owned(),
            Some(parts) => {
                let count = parts[1].as_u64().expect("a count") as usize;
                parts[0].as_str().expect("a text").repeat(count) + parts[2].as_str().expect("a text")
            }
        }
    }

    fn digest(ids: &[u32]) -> String {
        let mut hash = Sha256::new();
        ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
        let hex: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        format!("{}:{hex}", ids.len())
    }

    #[test]
    fn real_tokenizers() {
        let expected = expected();
        let list = |name: &str| expected[name].as_array().expect("texts").iter().map(text_of).collect::<Vec<_>>();
        let shared = [list("corpus"), list("texts")].concat();
        let items = expected["real"].as_array().unwrap();
        let check = |item: &Value| {
            let (mut compared, mut failures) = (0, Vec::new());
            let key = item["key"].as_str().unwrap();
            let relative = format!(".cache/tokenizers/{key}/tokenizer.json");
            let file = std::fs::read(path(&relative))
                .unwrap_or_else(|error| panic!("{relative}: {error}. Run `make fetch-tokenizers` first."));
            let tokenizer = general(&file).unwrap_or_else(|error| panic!("{key}: {error}"));
            let own = item["own"].as_array().unwrap().iter().map(text_of);
            let ids = item["ids"].as_array().unwrap();
            assert_eq!(ids.len(), shared.len() + own.len(), "{key}: texts");
            for (text, ids) in shared.iter().cloned().chain(own).zip(ids) {
                let ids = ids.as_str().unwrap();
                let (without, special) = ids.split_once(' ').unwrap_or((ids, ids));
                for (add, wanted) in [(false, without), (true, special)] {
                    let got = tokenizer.encode(&text, options(add)).unwrap_or_else(|error| panic!("{key}: {error}"));
                    compared += 1;
                    if digest(&got) != wanted {
                        let text: String = text.chars().take(60).collect();
                        failures.push(format!("{key} {text:?} special={add}: {} for {wanted}", digest(&got)));
                    }
                }
            }
            (compared, failures)
        };
        // The crate loads slowly, so by two threads.
        let (left, right) = items.split_at(items.len() / 2);
        let results: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
            let other = scope.spawn(|| left.iter().map(check).collect::<Vec<_>>());
            let here: Vec<_> = right.iter().map(check).collect();
            [here, other.join().expect("a thread that failed")].concat()
        });
        let compared: usize = results.iter().map(|(compared, _)| compared).sum();
        let failures: Vec<String> = results.into_iter().flat_map(|(_, failures)| failures).collect();
        assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
        assert_eq!((items.len(), compared), (19, 3562), "tokenizers, lists of ids");
    }

    /// Compares one hand-made tokenizer and gives the number of lists compared.
    fn check_handmade(item: &Value, texts: &[String]) -> Result<usize, String> {
        let file = item["tokenizer"].to_string();
        let loaded = general(file.as_bytes());
        let Some(cases) = item["cases"].as_array() else {
            let encoded = loaded.and_then(|tokenizer| tokenizer.encode("", options(false)));
            return encoded.map_or(Ok(0), |_| Err("encodes, but the reference refuses the file".to_owned()));
        };
        let tokenizer = loaded.map_err(|error| format!("does not load: {error}"))?;
        // A file is refused as a whole where the reference panics on every text that is not empty.
        let panics = cases.iter().skip(1).flat_map(|case| case.as_array().unwrap()).all(|ids| ids == "panics");
        if panics && tokenizer.encode("", options(false)).is_err() {
            return Ok(0);
        }
        for (text, case) in texts.iter().zip(cases) {
            for add in [false, true] {
                let wanted = &case[usize::from(add).min(case.as_array().unwrap().len() - 1)];
                let got = tokenizer.encode(text, options(add));
                let same = match (wanted.as_str(), &got) {
                    (None, Ok(got)) => json!(got) == *wanted,
                    (Some("error"), got) => got.is_err(),
                    // The reference panics; here it must only not.
                    (Some(_), _) => true,
                    (None, Err(_)) => false,
                };
                if !same {
                    return Err(format!("{text:?} special={add}: {got:?} for {wanted}"));
                }
            }
        }
        Ok(2 * cases.len())
    }

    #[test]
    fn handmade_tokenizers() {
        let expected = expected();
        let texts: Vec<String> = expected["small"].as_array().unwrap().iter().map(text_of).collect();
        let (mut compared, mut differing, mut failures) = (0, 0, Vec::new());
        let items = expected["handmade"].as_array().unwrap();
        for item in items {
            match (check_handmade(item, &texts), item["differs"].as_str()) {
                (Ok(count), None) => compared += count,
                (Ok(_), Some(why)) => failures.push(format!("{}: no longer differs ({why})", item["name"])),
                (Err(_), Some(_)) => differing += 1,
                (Err(error), None) => failures.push(format!("{}: {error}", item["name"])),
            }
        }
        assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), items.len(), failures.join("\n"));
        assert_eq!((items.len(), compared, differing), (208, 5018, 4), "tokenizers, lists of ids, known differences");
    }

    #[test]
    fn what_cannot_encode_says_why() {
        let file = small(json!({}));
        let refused = |tokenizer: Tokenizer| {
            let error = tokenizer.encode("a", EncodeOptions::default()).expect_err("cannot encode");
            (error.code(), error.message().to_owned())
        };
        assert_eq!(
            refused(Tokenizer::from_json(&file).unwrap()),
            (
                ErrorCode::EngineNotAvailable,
                "`encode` needs the general engine: load the tokenizer with `engine: \"general\"`".to_owned()
            )
        );
        let packed = general(&general(&file).unwrap().to_packed()).unwrap();
        assert_eq!(packed.info().engine, "general");
        let (code, message) = refused(packed);
        assert_eq!(code, ErrorCode::UnsupportedTokenizer);
        assert_eq!(message, "a packed tokenizer holds no merges, so it cannot encode; load its tokenizer.json");
        for compat in [Compat::Transformers4, Compat::Transformers5] {
            let options = LoadOptions { compat, ..LoadOptions::default() };
            let (code, message) = refused(Tokenizer::load(&file, &options).unwrap());
            assert_eq!(code, ErrorCode::UnsupportedTokenizer);
            assert_eq!(message, "`encode` follows `tokenizers` only: load the tokenizer without `compat`");
        }
    }

    #[test]
    fn a_file_that_cannot_encode_still_decodes() {
        let file = small(json!({ "model": { "type": "BPE", "vocab": { "a": 0, "b": 1 }, "merges": ["a zz"] } }));
        let tokenizer = general(&file).expect("decodes");
        assert_eq!(tokenizer.decode(&[1, 0], Default::default()), "ba");
        let error = tokenizer.encode("a", EncodeOptions::default()).expect_err("a merge of nothing");
        assert_eq!(error.code(), ErrorCode::InvalidTokenizer, "{error}");
    }

    #[test]
    fn what_would_take_too_much_is_refused() {
        let pad = |size: u64, multiple: u64| {
            json!({ "padding": { "strategy": { "Fixed": size }, "direction": "Left", "pad_to_multiple_of": multiple,
                "pad_id": 0, "pad_type_id": 0, "pad_token": "a" } })
        };
        let level = json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": false });
        let levels = vec![level; 40];
        let grow =
            |content: &str| json!({ "type": "Replace", "pattern": { "String": "a" }, "content": content.repeat(1000) });
        for members in [
            pad(1 << 40, 1),
            pad(1, 1 << 40),
            pad(u64::MAX, u64::MAX),
            json!({ "pre_tokenizer": { "type": "Sequence", "pretokenizers": levels } }),
            json!({ "normalizer": { "type": "Sequence", "normalizers": [grow("a"), grow("a"), grow("a")] } }),
            json!({ "model": { "type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##",
                "max_input_chars_per_word": u64::MAX, "vocab": { "a": 0 } } }),
        ] {
            let tokenizer = general(&small(members)).expect("decodes");
            let error = tokenizer.encode(&"aé".repeat(9999), EncodeOptions::default()).expect_err("too much");
            assert_eq!(error.code(), ErrorCode::LimitExceeded, "{error}");
        }
        let tokenizer = general(&small(json!({}))).unwrap();
        assert_eq!(tokenizer.encode(&"ab".repeat(2 << 20), EncodeOptions::default()).unwrap().len(), 2 << 20);
        let error = tokenizer.encode(&"a".repeat((4 << 20) + 1), EncodeOptions::default()).expect_err("too long");
        assert_eq!(error.code(), ErrorCode::LimitExceeded);
    }

    /// Bytes of hand-made files are changed at random: whatever then loads encodes or says why it does not.
    #[test]
    fn damaged_files_never_panic() {
        let expected = expected();
        let mut state = 1_u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as usize) % below
        };
        const PARTS: [&str; 16] = [
            "0",
            "1",
            "9",
            "-1",
            "18446744073709551615",
            "null",
            "\"\"",
            "\"a\"",
            "\"A\"",
            "\"B\"",
            "true",
            "false",
            "[]",
            "{}",
            "\" \"",
            "\"é\"",
        ];
        const TEXTS: [&str; 6] = ["", "a", " ab  b\n", "é漢 </s> a", "\u{0}e\u{301}A1", "aaaaaaa b"];
        let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
        for item in expected["handmade"].as_array().unwrap() {
            let file = item["tokenizer"].to_string().into_bytes();
            for _ in 0..40 {
                // A value or a byte in place of another one.
                let mut changed = file.clone();
                let at = random(changed.len());
                let from = (at..changed.len()).find(|&at| b":,[".contains(&changed[at])).map_or(at, |at| at + 1);
                let to = (from..changed.len()).find(|&at| b",]}".contains(&changed[at])).unwrap_or(from);
                if random(4) == 0 {
                    changed[at] = b"0a\"{}[],: "[random(10)];
                } else {
                    changed.splice(from..to, PARTS[random(PARTS.len())].bytes());
                }
                let Ok(tokenizer) = general(&changed) else {
                    *outcomes.entry("refused").or_default() += 1;
                    continue;
                };
                for text in TEXTS {
                    for add in [false, true] {
                        let outcome = match tokenizer.encode(text, options(add)) {
                            Ok(_) => "encoded",
                            Err(_) => "not encoded",
                        };
                        *outcomes.entry(outcome).or_default() += 1;
                    }
                }
            }
        }
        assert!(outcomes.values().all(|&count| count > 500) && outcomes.len() == 3, "{outcomes:?}");
    }
}
