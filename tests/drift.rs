//! What ids are encoded to again must be what Python `tokenizers` gives, for real tokenizers; runs must be the difference, as
//! short as it can be, and each cause must be told by real ones. `tests/oracle/README.md` says where the expected ids come from.
#![cfg(all(feature = "general", not(target_arch = "wasm32")))]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use token2text::rollout::{Drift, DriftCause, drift, drift_with_progress};
use token2text::{Compat, DecodeOptions, EncodeOptions, Engine, ErrorCode, LoadOptions, Tokenizer};

const PLAIN: EncodeOptions = EncodeOptions { add_special_tokens: false };

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn file(key: &str) -> Vec<u8> {
    let relative = format!(".cache/tokenizers/{key}/tokenizer.json");
    std::fs::read(path(&relative))
        .unwrap_or_else(|error| panic!("{relative}: {error}. Run `make fetch-tokenizers` first."))
}

fn general(file: &[u8]) -> Tokenizer {
    Tokenizer::load(file, &LoadOptions { engine: Engine::General, ..LoadOptions::default() }).expect("loads")
}

fn digest(ids: &[u32]) -> String {
    let mut hash = Sha256::new();
    ids.iter().for_each(|id| hash.update(id.to_le_bytes()));
    let hex: String = hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}:{hex}", ids.len())
}

fn ids_of(value: &Value) -> Vec<u32> {
    value.as_array().expect("ids").iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

/// The ids with the runs put in, after a look at whether the result agrees with itself.
fn encoded(tokenizer: &Tokenizer, ids: &[u32], drift: &Drift) -> Vec<u32> {
    let (mut out, mut at, mut differing) = (Vec::new(), 0, 0);
    for run in &drift.runs {
        let [start, end] = run.tokens;
        assert!(at <= start && start <= end, "{:?} behind {at}", run.tokens);
        assert_ne!(ids[start..end], run.ids, "{:?} is no difference", run.tokens);
        out.extend_from_slice(&ids[at..start]);
        out.extend_from_slice(&run.ids);
        (at, differing) = (end, differing + end - start);
    }
    out.extend_from_slice(&ids[at..]);
    assert_eq!((drift.equal, drift.run_count), (drift.runs.is_empty(), drift.runs.len()));
    assert_eq!((drift.tokens, drift.encoded_tokens, drift.differing), (ids.len(), out.len(), differing));
    assert_eq!(drift.causes.iter().map(|count| count.runs).sum::<usize>(), drift.run_count);
    assert_eq!(drift.causes.iter().map(|count| count.tokens).sum::<usize>(), differing);
    if drift.equal {
        assert_eq!(out, ids);
    }
    let text = tokenizer.decode(ids, DecodeOptions::default());
    for run in &drift.runs {
        assert!(text.contains(&run.text), "{:?} is not in the text", run.text);
    }
    out
}

/// Whether a run could be cut in two where tokens of both lists end, both parts being equal text.
fn could_be_shorter(tokenizer: &Tokenizer, run: &token2text::rollout::DriftRun, ids: &[u32]) -> bool {
    let ends = |ids: &[u32]| {
        let pieces = tokenizer.pieces(ids, DecodeOptions::default());
        let is_end = |at: usize| pieces.flags.get(at + 1).is_some_and(|next| *next == 0) && pieces.flags[at] == 0;
        (0..ids.len()).filter(|&at| is_end(at)).map(|at| pieces.ends[at]).filter(|end| *end > 0).collect::<Vec<_>>()
    };
    let (left, right) = (ends(ids), ends(&run.ids));
    left.iter().any(|end| *end < run.text.len() && right.contains(end))
}

#[test]
fn real_tokenizers() {
    let expected: Value = serde_json::from_slice(&std::fs::read(path("tests/oracle/drift.json")).unwrap()).unwrap();
    let items = expected["real"].as_array().unwrap();
    let check = |item: &Value| {
        let key = item["key"].as_str().unwrap();
        let tokenizer = general(&file(key));
        let (mut failures, mut causes) = (Vec::new(), BTreeMap::<&str, usize>::new());
        let mut compare = |name: &str, ids: &[u32], wanted: &str| {
            let drift = drift(&tokenizer, ids, &[]).unwrap_or_else(|error| panic!("{key} {name}: {error}"));
            let got = digest(&encoded(&tokenizer, ids, &drift));
            if got != wanted {
                failures.push(format!("{key} {name} {ids:?}: {got} for {wanted}"));
            }
            for run in &drift.runs {
                *causes.entry(run.cause.as_str()).or_default() += 1;
                let [start, end] = run.tokens;
                if matches!(run.cause, DriftCause::Merge | DriftCause::PreTokenizer) && start > 0 {
                    let is_long = could_be_shorter(&tokenizer, run, &ids[start..end]);
                    assert!(!is_long, "{key} {name}: {run:?} of {:?}", &ids[start..end]);
                }
            }
        };
        let cases = item["cases"].as_array().unwrap();
        for case in cases {
            compare(case[0].as_str().unwrap(), &ids_of(&case[1]), case[2].as_str().unwrap());
        }
        let (mut state, count) = (7_u64, item["count"].as_u64().unwrap());
        let mut below = |n: u64| {
            state = (state * 1_664_525 + 1_013_904_223) % (1 << 32);
            ((state * n) >> 32) as u32
        };
        let random = item["random"].as_array().unwrap();
        for wanted in random {
            let ids: Vec<u32> = (0..20).map(|_| below(count)).collect();
            compare("random", &ids, wanted.as_str().unwrap());
        }
        // The ids of a text that has every character of every script are other ones, for every tokenizer.
        assert!(causes["merge"] > 200 && causes["unknown_id"] >= 6, "{key}: {causes:?}");
        (cases.len() + random.len(), failures)
    };
    let (left, right) = items.split_at(items.len() / 2);
    let results: Vec<(usize, Vec<String>)> = std::thread::scope(|scope| {
        let other = scope.spawn(|| left.iter().map(check).collect::<Vec<_>>());
        let here: Vec<_> = right.iter().map(check).collect();
        [here, other.join().expect("a thread that failed")].concat()
    });
    let compared: usize = results.iter().map(|(compared, _)| compared).sum();
    let failures: Vec<String> = results.into_iter().flat_map(|(_, failures)| failures).collect();
    assert!(failures.is_empty(), "{} of {compared}:\n{}", failures.len(), failures.join("\n"));
    assert_eq!((items.len(), compared), (19, 8199), "tokenizers, lists of ids");
}

/// A real tokenizer, some members of its file changed, and the ids of its tokens as the file spells them.
struct Spelled {
    tokenizer: Tokenizer,
    vocab: BTreeMap<String, u32>,
}

impl Spelled {
    fn of(file: &[u8], change: impl Fn(&mut Value)) -> Spelled {
        let mut value: Value = serde_json::from_slice(file).unwrap();
        change(&mut value);
        let mut vocab = BTreeMap::new();
        match &value["model"]["vocab"] {
            Value::Array(words) => {
                vocab.extend(
                    words.iter().enumerate().map(|(id, word)| (word[0].as_str().unwrap().to_owned(), id as u32)),
                );
            }
            words => {
                let words = words.as_object().unwrap().iter();
                vocab.extend(words.map(|(word, id)| (word.clone(), id.as_u64().unwrap() as u32)));
            }
        }
        // Which `encode` does, and `drift` does not.
        (value["truncation"], value["padding"]) = (Value::Null, Value::Null);
        for token in value["added_tokens"].as_array().unwrap() {
            vocab.insert(token["content"].as_str().unwrap().to_owned(), token["id"].as_u64().unwrap() as u32);
        }
        Spelled { tokenizer: general(value.to_string().as_bytes()), vocab }
    }

    fn real(key: &str) -> Arc<Spelled> {
        static LOADED: Mutex<BTreeMap<String, Arc<Spelled>>> = Mutex::new(BTreeMap::new());
        let mut loaded = LOADED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        loaded.entry(key.to_owned()).or_insert_with(|| Arc::new(Spelled::of(&file(key), |_| {}))).clone()
    }

    /// With flags of an added token set.
    fn flagged(key: &str, content: &str, flag: &str) -> Spelled {
        Spelled::of(&file(key), |value| {
            let tokens = value["added_tokens"].as_array_mut().unwrap();
            let token = tokens.iter_mut().find(|token| token["content"] == content).expect("the token");
            token[flag] = true.into();
        })
    }

    fn ids(&self, words: &[&str]) -> Vec<u32> {
        words.iter().map(|word| *self.vocab.get(*word).unwrap_or_else(|| panic!("no token {word:?}"))).collect()
    }

    fn drift(&self, ids: &[u32]) -> Drift {
        let drift = drift(&self.tokenizer, ids, &[]).expect("drift");
        let again = self.tokenizer.encode(&self.tokenizer.decode(ids, DecodeOptions::default()), PLAIN).unwrap();
        assert_eq!(encoded(&self.tokenizer, ids, &drift), again);
        drift
    }

    /// The only run of some tokens must be these ones, in whose place others stand.
    fn check(&self, words: &[&str], tokens: [usize; 2], others: &[&str], cause: DriftCause) {
        let drift = self.drift(&self.ids(words));
        let [run] = drift.runs.as_slice() else { panic!("{words:?}: {:?}", drift.runs) };
        assert_eq!((run.tokens, &run.ids, run.cause), (tokens, &self.ids(others), cause), "{words:?}: {run:?}");
    }
}

#[test]
fn merges_that_were_not_taken() {
    let merge = DriftCause::Merge;
    Spelled::real("qwen2_5").check(&["a", "Ġhel", "lo", "Ġworld"], [1, 3], &["Ġhello"], merge);
    Spelled::real("llama2").check(&["▁a", "▁H", "ello", "▁world"], [1, 3], &["▁Hello"], merge);
    Spelled::real("llama2").check(&["▁", "Hello"], [0, 2], &["▁Hello"], merge);
    Spelled::real("minilm").check(&["hello", "hell", "##o"], [1, 3], &["hello"], merge);
    Spelled::real("e5_multilingual").check(&["▁He", "llo", "▁world"], [0, 2], &["▁Hello"], merge);
    // The other way round: the model's token is one that merges do not reach.
    let gpt2 = Spelled::real("gpt2");
    let drift = gpt2.drift(&gpt2.ids(&["Ġthe", "Ġ", "Ġthe"]));
    assert!(drift.equal && drift.runs.is_empty() && drift.causes.is_empty(), "{drift:?}");
    // Two runs, since both lists end between them, and a character that three tokens share is one.
    let qwen = Spelled::real("qwen2_5");
    let ids = qwen.ids(&["hel", "lo", "Ġwor", "ld", "Ġ", "ä", "½", "ł", "a"]);
    let runs = qwen.drift(&ids).runs;
    let texts: Vec<_> = runs.iter().map(|run| (run.text.as_str(), run.tokens)).collect();
    assert_eq!(texts, [("hello", [0, 2]), (" world", [2, 4]), ("\u{4f60}", [5, 8])]);
}

#[test]
fn tokens_across_places_where_pre_tokenizers_cut() {
    for key in ["gpt35turbo", "qwen2_5", "gptoss", "llama3_1"] {
        Spelled::real(key).check(&["k", "ĠĠĠ", "a"], [1, 3], &["ĠĠ", "Ġa"], DriftCause::PreTokenizer);
    }
    Spelled::real("qwen2_5").check(&["|", "_id"], [1, 2], &["_", "id"], DriftCause::PreTokenizer);
    let digits = Spelled::real("llama3_1");
    digits.check(&["12", "34"], [0, 2], &["123", "4"], DriftCause::PreTokenizer);
    digits.check(&["1", "2", "34"], [0, 3], &["123", "4"], DriftCause::PreTokenizer);
    digits.check(&["1", "23", "4"], [0, 2], &["123"], DriftCause::Merge);
}

#[test]
fn special_tokens_as_text() {
    let cause = DriftCause::SpecialAsText;
    let qwen = Spelled::real("qwen2_5");
    let end = ["<", "|", "im", "_end", "|", ">"];
    qwen.check(&[&["hi"][..], &end, &["hi"]].concat(), [1, 7], &["<|im_end|>"], cause);
    // Spelled half by another token.
    qwen.check(&["a", "Ġ<", "|", "im", "_end", "|", ">", "hi"], [1, 7], &["Ġ", "<|im_end|>"], cause);
    let llama = Spelled::real("llama3_1");
    llama.check(&["a", "<", "|", "e", "ot", "_id", "|", ">"], [1, 8], &["<|eot_id|>"], cause);
    Spelled::real("gpt2").check(&["<", "|", "end", "of", "text", "|", ">"], [0, 7], &["<|endoftext|>"], cause);
    Spelled::real("llama2").check(&["▁a", "</", "s", ">"], [1, 4], &["</s>"], cause);
    // An added token that is not special, and one that becomes another by what stands beside it.
    Spelled::real("gemma3").check(&["a", "\n", "\n", "b"], [1, 3], &["\n\n"], cause);
    Spelled::real("gemma3").check(&["a", "\n\n", "\n", "b"], [1, 3], &["\n\n\n"], cause);
    // Runs of spaces are added tokens of Gemma that no text has: plain merges.
    Spelled::real("gemma3").check(&["a", "▁▁", "▁", "b"], [1, 3], &["▁▁▁"], DriftCause::Merge);
}

#[test]
fn bytes_that_are_no_utf8() {
    let cause = DriftCause::InvalidUtf8;
    for key in ["qwen2_5", "gpt2", "llama3_1"] {
        let spelled = Spelled::real(key);
        // Half a character before a letter, and at the end.
        let mut drift = spelled.drift(&spelled.ids(&["a", "Ã", "b", "Ġthe", "ä", "½"]));
        assert_eq!(
            drift.causes.iter().map(|count| (count.cause, count.runs)).collect::<Vec<_>>(),
            [(cause, 2)],
            "{key}"
        );
        let run = drift.runs.pop().unwrap();
        assert_eq!((run.tokens, run.text.as_str(), run.encoded_text), ([4, 6], "\u{fffd}", None), "{key}");
    }
    for key in ["llama2", "gemma3", "yi"] {
        let spelled = Spelled::real(key);
        let drift = spelled.drift(&spelled.ids(&["▁a", "<0xE4>", "<0xBD>", "b"]));
        // One for each byte; Gemma has a token for two of them.
        assert!(drift.runs.iter().all(|run| run.cause == cause) && drift.differing == 2, "{key}: {drift:?}");
        let texts: String = drift.runs.iter().map(|run| run.text.as_str()).collect();
        assert_eq!((drift.runs[0].tokens[0], texts.as_str()), (1, "\u{fffd}\u{fffd}"), "{key}");
    }
    // U+FFFD that the tokens spell is text.
    let qwen = Spelled::real("qwen2_5");
    let runs = qwen.drift(&qwen.ids(&["a", "ï", "¿", "½", "a"])).runs;
    assert_eq!(runs.iter().map(|run| (run.tokens, run.cause)).collect::<Vec<_>>(), [([1, 4], DriftCause::Merge)]);
    let llama = Spelled::real("llama2");
    let runs = llama.drift(&llama.ids(&["▁a", "<0xEF>", "<0xBF>", "<0xBD>", "a"])).runs;
    assert_eq!(runs.iter().map(|run| (run.tokens, run.cause)).collect::<Vec<_>>(), [([1, 4], DriftCause::Merge)]);
}

#[test]
fn white_space_beside_added_tokens() {
    let cause = DriftCause::AddedTokenWhitespace;
    let space = |key, content, flag, words: &[&str], tokens, others: &[&str]| {
        Spelled::flagged(key, content, flag).check(words, tokens, others, cause);
    };
    space("qwen2_5", "<|im_end|>", "lstrip", &["hi", "Ġ", "<|im_end|>", "a"], [1, 2], &[]);
    space("qwen2_5", "<|im_end|>", "rstrip", &["hi", "<|im_end|>", "Ċ", "a"], [2, 3], &[]);
    space("llama3_1", "<|eot_id|>", "rstrip", &["hi", "<|eot_id|>", "Ġthe", "Ġa"], [2, 3], &["the"]);
    space("gpt2", "<|endoftext|>", "lstrip", &["a", "Ġ", "Ġ", "<|endoftext|>"], [1, 3], &[]);
    space("e5_multilingual", "<mask>", "lstrip", &["▁a", "▁", "<mask>"], [1, 2], &[]);
    for key in ["gpt2", "qwen2_5", "llama3_1"] {
        let content = if key == "llama3_1" { "<|eot_id|>" } else { "<|endoftext|>" };
        let spelled = Spelled::flagged(key, content, "single_word");
        let ids = spelled.ids(&["hi", content, "hi"]);
        let drift = spelled.drift(&ids);
        assert_eq!(
            drift.runs.iter().map(|run| (run.tokens, run.cause)).collect::<Vec<_>>(),
            [([1, 2], cause)],
            "{key}"
        );
    }
}

#[test]
fn normalizers() {
    let cause = DriftCause::Normalizer;
    for key in ["qwen2_5", "command_r_plus", "qwen3"] {
        // e and an accent in two bytes, which NFC makes one character.
        Spelled::real(key).check(&["x", "Ġe", "Ì", "ģ", "Ġthe"], [1, 4], &["ĠÃ©"], cause);
    }
    Spelled::real("claude").check(&["x", "Ġ", "ï", "¬", "ģ", "Ġthe"], [1, 5], &["Ġfi"], cause);
    Spelled::real("e5_multilingual").check(&["▁a", "▁", "▁the"], [1, 2], &[], cause);
    let lower = Spelled::of(&file("gpt2"), |value| value["normalizer"] = json!({ "type": "Lowercase" }));
    lower.check(&["Hello", "Ġthe", "Ġworld", "Ġa"], [0, 1], &["hello"], cause);
    let runs = lower.drift(&lower.ids(&["Hello", "Ġthe", "ĠWorld", "Ġa"])).runs;
    assert_eq!(runs.iter().map(|run| (run.tokens, run.cause)).collect::<Vec<_>>(), [([0, 1], cause), ([2, 3], cause)]);
    assert_eq!((runs[1].text.as_str(), runs[1].encoded_text.as_deref()), (" World", Some(" world")));
}

#[test]
fn ids_without_tokens() {
    for key in ["qwen2_5", "llama2", "minilm", "e5_multilingual"] {
        let spelled = Spelled::real(key);
        let hello = spelled.tokenizer.encode("hello the", PLAIN).unwrap();
        let ids = [&hello[..1], &[4_000_000, 4_000_001], &hello[1..], &[4_000_000]].concat();
        let drift = spelled.drift(&ids);
        let runs: Vec<_> = drift.runs.iter().map(|run| (run.tokens, run.ids.len(), run.cause)).collect();
        let end = ids.len();
        assert_eq!(runs, [([1, 3], 0, DriftCause::UnknownId), ([end - 1, end], 0, DriftCause::UnknownId)], "{key}");
    }
    // Inside a word, and inside a character.
    let qwen = Spelled::real("qwen2_5");
    let mut ids = qwen.ids(&["hel", "lo", "Ġ", "ä", "½", "ł"]);
    ids.insert(1, 4_000_000);
    ids.insert(5, 4_000_000);
    let runs: Vec<_> = qwen.drift(&ids).runs.iter().map(|run| (run.tokens, run.cause)).collect();
    assert_eq!(runs, [([0, 3], DriftCause::UnknownId), ([4, 8], DriftCause::UnknownId)]);
}

#[test]
fn text_that_the_model_has_no_tokens_for() {
    let cause = DriftCause::UnknownText;
    // Words of more than a hundred characters are not looked into.
    let bert = Spelled::real("minilm");
    let long: Vec<&str> = std::iter::once("a").chain(std::iter::repeat_n("##b", 120)).collect();
    bert.check(&[&["the"][..], &long, &["the"]].concat(), [1, 122], &["[UNK]"], cause);
    for model in [
        json!({ "type": "WordLevel", "unk_token": "<u>", "vocab": { "<u>": 0, "a": 1, "b c": 2, "d": 3 } }),
        json!({ "type": "WordPiece", "unk_token": "<u>", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 9, "vocab": { "<u>": 0, "a": 1, "b c": 2, "d": 3 } }),
        json!({ "type": "Unigram", "unk_id": 0, "vocab": [["<u>", 0.0], ["a", -1.0], ["b", -1.0], ["d", -1.0]] }),
    ] {
        let is_unigram = model["type"] == "Unigram";
        let file = json!({ "added_tokens": [], "model": model, "decoder": null,
            "pre_tokenizer": { "type": "WhitespaceSplit" } });
        let spelled = Spelled::of(file.to_string().as_bytes(), |value| {
            // Of the unigram model the normalizer makes a letter that it does not have.
            if is_unigram {
                value["normalizer"] = json!({ "type": "Replace", "pattern": { "String": "b" }, "content": "z" });
            }
        });
        let drift = spelled.drift(&spelled.ids(&["a", if is_unigram { "b" } else { "b c" }, "d"]));
        let causes: Vec<_> = drift.runs.iter().map(|run| (run.tokens, run.cause)).collect();
        assert_eq!(causes, [([1, 2], cause)], "{drift:?}");
    }
}

#[test]
fn decoders_that_do_not_give_back_what_encoding_takes() {
    let cause = DriftCause::Decoder;
    for key in ["llama2", "chatglm3"] {
        let spelled = Spelled::real(key);
        let end = "</s>";
        assert!(spelled.drift(&spelled.ids(&["▁Hello", "▁world", end])).equal, "{key}");
        // A space goes in front of the text and behind every special token, and only the first is taken away.
        spelled.check(&["Hello", "▁world"], [0, 1], &["▁Hello"], cause);
        let runs = spelled.drift(&spelled.ids(&["▁Hello", end, "▁world"])).runs;
        assert_eq!(runs.iter().map(|run| run.cause).collect::<Vec<_>>(), [cause], "{key}: {runs:?}");
        assert_eq!(runs[0].encoded_text, Some([" ", &runs[0].text].concat()), "{key}: {runs:?}");
        spelled.check(&["▁Hello", end, "world"], [2, 3], &["▁world"], cause);
    }
    // The space is a token of its own, or part of another one.
    Spelled::real("llama2").check(&["▁Hello", "</s>", "▁world"], [2, 2], &["▁"], cause);
    let prefix = Spelled::real("e5_multilingual");
    assert!(prefix.drift(&prefix.ids(&["<s>", "▁Hello", "▁world", "</s>"])).equal);
    prefix.check(&["<s>", "man", "▁world"], [1, 2], &["▁man"], cause);
    prefix.check(&["go", "▁world"], [0, 1], &["▁go"], cause);
    // Its decoder takes a space away, which its normalizer does not put there.
    Spelled::real("internlm2").check(&["▁Hello", "▁world"], [0, 1], &["Hello"], cause);
    let bert = Spelled::real("minilm");
    assert!(bert.drift(&bert.ids(&["[CLS]", "hello", "world", "[SEP]"])).equal);
    bert.check(&["##s", "hello"], [0, 1], &["#", "#", "s"], cause);
    bert.check(&["[CLS]", "##s", "hello"], [1, 2], &["s"], cause);
    // An added token that is decoded as if it were bytes.
    let mangled = Spelled::of(&file("gpt2"), |value| {
        let mut token = value["added_tokens"][0].clone();
        (token["content"], token["id"]) = ("<đ>".into(), 50257.into());
        value["added_tokens"].as_array_mut().unwrap().push(token);
    });
    mangled.check(&["hi", "<đ>", "hi"], [1, 2], &["<", "đ", ">"], cause);
}

#[test]
fn ranges_are_parts_of_one_comparison() {
    let qwen = Spelled::real("qwen2_5");
    let start = ["<|im_start|>", "user", "Ċ", "hel", "lo", "<|im_end|>", "Ċ"];
    let words = [&start[..], &["<|im_start|>", "assistant", "Ċ", "hi", "<", "|", "im", "_end", "|", ">", "Ċ"]].concat();
    let mut ids = qwen.ids(&words);
    ids.push(4_000_000);
    let len = ids.len();
    let ranges = [[0, 7], [7, len], [0, len], [3, 4], [4, 5], [5, 11], [12, 13], [len, len], [0, 0]];
    let result = drift(&qwen.tokenizer, &ids, &ranges).unwrap();
    encoded(&qwen.tokenizer, &ids, &result);
    let found: Vec<_> = result
        .ranges
        .iter()
        .map(|range| {
            let causes: Vec<_> =
                range.causes.iter().map(|count| (count.cause.as_str(), count.runs, count.tokens)).collect();
            assert_eq!(range.equal, causes.is_empty());
            (range.tokens, range.differing, causes)
        })
        .collect();
    let whole = vec![("merge", 1, 2), ("special_as_text", 1, 6), ("unknown_id", 1, 1)];
    assert_eq!(
        found,
        [
            (ranges[0], 2, vec![("merge", 1, 2)]),
            (ranges[1], 7, vec![("special_as_text", 1, 6), ("unknown_id", 1, 1)]),
            (ranges[2], 9, whole),
            (ranges[3], 1, vec![("merge", 1, 1)]),
            (ranges[4], 1, vec![("merge", 1, 1)]),
            (ranges[5], 0, vec![]),
            (ranges[6], 1, vec![("special_as_text", 1, 1)]),
            (ranges[7], 0, vec![]),
            (ranges[8], 0, vec![]),
        ]
    );
    // Ids that encoding puts between two others belong to the range of the second.
    let llama = Spelled::real("llama2");
    let ids = llama.ids(&["▁Hello", "</s>", "▁world"]);
    let result = drift(&llama.tokenizer, &ids, &[[0, 2], [2, 3]]).unwrap();
    assert_eq!(result.ranges.iter().map(|range| range.equal).collect::<Vec<_>>(), [true, false]);
    assert_eq!((result.differing, result.run_count, result.ranges[1].differing), (0, 1, 0));
    for range in [[0, 4], [2, 1], [usize::MAX, usize::MAX]] {
        let error = drift(&llama.tokenizer, &ids, &[[0, 1], range]).expect_err("no range");
        assert_eq!(error.code(), ErrorCode::InvalidOptions);
        assert_eq!(error.message(), "ranges[1]: not a range `[start, end)` of the 3 ids");
    }
}

#[test]
fn long_texts_are_encoded_in_parts() {
    for (key, end) in [("qwen2_5", "<|im_end|>"), ("llama2", "</s>"), ("e5_multilingual", "</s>"), ("minilm", "[SEP]")]
    {
        let spelled = Spelled::real(key);
        let text = std::fs::read_to_string(path("tests/oracle/corpus.txt")).unwrap();
        let end = spelled.ids(&[end])[0];
        let mut ids = Vec::new();
        let mut lines = text.lines().cycle();
        let mut bytes = 0;
        while bytes < 400_000 {
            let line = lines.next().unwrap();
            bytes += line.len();
            ids.extend(spelled.tokenizer.encode(line, PLAIN).unwrap());
            ids.push(end);
        }
        let mut told = Vec::new();
        let result = drift_with_progress(&spelled.tokenizer, &ids, &[], &mut |done, of| told.push((done, of))).unwrap();
        let of = spelled.tokenizer.decode(&ids, DecodeOptions::default()).len();
        assert!(told.len() > 2 && told.is_sorted() && told.last() == Some(&(of, of)), "{key}: {told:?}");
        let whole = spelled.tokenizer.encode(&spelled.tokenizer.decode(&ids, DecodeOptions::default()), PLAIN).unwrap();
        assert_eq!(result.encoded_tokens, whole.len(), "{key}");
        if result.run_count <= 1000 {
            assert!(encoded(&spelled.tokenizer, &ids, &result) == whole, "{key}");
        }
        // Of more runs than are listed all are counted.
        assert_eq!(result.runs.len(), result.run_count.min(1000), "{key}");
        assert_eq!(result.causes.iter().map(|count| count.runs).sum::<usize>(), result.run_count, "{key}");
    }
}

#[test]
fn texts_are_cut_only_where_that_changes_nothing() {
    let small = |tokens: Value, pre_tokenizer: Value| {
        let file = json!({
            "added_tokens": tokens, "decoder": { "type": "Fuse" }, "pre_tokenizer": pre_tokenizer,
            "model": { "type": "BPE", "vocab": { "a": 0, " ": 1, "<": 2, "x": 3, "_": 4, "__": 5, "_a": 6 }, "merges": [] },
        });
        Spelled::of(file.to_string().as_bytes(), |_| {})
    };
    let added = |id: u32, content: &str, flag: &str| {
        let mut token = json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true });
        token[flag] = true.into();
        token
    };
    let first = json!({ "type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": false });
    let filler = 135_000;
    for (tokens, behind, parts) in [
        (json!([added(7, "<s>", "special")]), "<s>", 2),
        // The white space before it, or the one behind the token before it, is in another part.
        (json!([added(7, "<s>", "lstrip")]), "  <s>", 1),
        (json!([added(7, "<s>", "single_word")]), "<s>", 1),
        (json!([added(7, "<s>", "special"), added(8, "x<", "special")]), "x<s>", 1),
        (json!([added(7, "<s>", "special"), added(8, "<s>a", "single_word")]), "<s>a", 1),
        (json!([added(7, "<s>", "normalized")]), "<s>", 1),
        (json!([added(7, "a<s>", "special"), added(8, "s", "special")]), " a<s>", 1),
        (json!([added(7, " ", "special"), added(8, "x", "rstrip")]), "x  ", 1),
    ] {
        for pre_tokenizer in [Value::Null, first.clone()] {
            let spelled = small(tokens.clone(), pre_tokenizer);
            let text = ["a ".repeat(filler / 2).trim_end(), behind, " a"].concat();
            // Any ids with that text do: here those of its encoding.
            let ids = spelled.tokenizer.encode(&text, PLAIN).unwrap();
            let mut count = 0;
            let result = drift_with_progress(&spelled.tokenizer, &ids, &[], &mut |_, _| count += 1).unwrap();
            let again =
                spelled.tokenizer.encode(&spelled.tokenizer.decode(&ids, DecodeOptions::default()), PLAIN).unwrap();
            assert!(encoded(&spelled.tokenizer, &ids, &result) == again, "{behind:?}");
            assert_eq!(count, parts, "{behind:?}");
        }
    }
}

#[test]
fn what_cannot_be_compared_says_why() {
    let file = json!({ "added_tokens": [], "decoder": { "type": "Fuse" },
        "model": { "type": "BPE", "vocab": { "a": 0, "b": 1, "ab": 2 }, "merges": ["a b"] } });
    let file = file.to_string().into_bytes();
    let refused = |tokenizer: &Tokenizer, ids: &[u32]| drift(tokenizer, ids, &[]).expect_err("refused").code();
    let spelled = general(&file);
    assert_eq!(refused(&Tokenizer::from_json(&file).unwrap(), &[0]), ErrorCode::EngineNotAvailable);
    assert_eq!(refused(&general(&spelled.to_packed()), &[0]), ErrorCode::UnsupportedTokenizer);
    let compat = LoadOptions { compat: Compat::Transformers5, ..LoadOptions::default() };
    assert_eq!(refused(&Tokenizer::load(&file, &compat).unwrap(), &[0]), ErrorCode::UnsupportedTokenizer);
    assert_eq!(refused(&spelled, &vec![0; (4 << 20) + 1]), ErrorCode::LimitExceeded);
    // No special token to cut at.
    assert_eq!(refused(&spelled, &vec![2; (2 << 20) + 1]), ErrorCode::LimitExceeded);
    let drift = drift(&spelled, &[], &[[0, 0]]).unwrap();
    assert!(drift.equal && drift.ranges[0].equal && drift.tokens == 0);
}

/// Hand-made tokenizers with every kind of decoder: runs put in give what encoding gives, whatever the ids are.
#[test]
fn handmade_tokenizers() {
    let expected: Value = serde_json::from_slice(&std::fs::read(path("tests/oracle/encode.json")).unwrap()).unwrap();
    let fuse = json!({ "type": "Fuse" });
    let regex = json!({ "type": "Replace", "pattern": { "Regex": "a+" }, "content": "x" });
    let decoders = [
        Value::Null,
        fuse.clone(),
        json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true }),
        json!({ "type": "WordPiece", "prefix": "##", "cleanup": true }),
        json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true }),
        json!({ "type": "BPEDecoder", "suffix": "</w>" }),
        json!({ "type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "▁", "cleanup": true }),
        json!({ "type": "Sequence", "decoders": [{ "type": "ByteFallback" }, fuse, regex] }),
        json!({ "type": "Sequence", "decoders": [{ "type": "ByteFallback" }, { "type": "Fuse" },
            { "type": "Strip", "content": "a", "start": 1, "stop": 0 }] }),
    ];
    let mut state = 9_u64;
    let mut below = |n: u64| {
        state = (state * 1_664_525 + 1_013_904_223) % (1 << 32);
        (state * n) >> 32
    };
    let (mut compared, mut equal, mut causes) = (0, 0, BTreeMap::<&str, usize>::new());
    for (at, item) in expected["handmade"].as_array().unwrap().iter().enumerate() {
        let mut file = item["tokenizer"].clone();
        for member in ["truncation", "padding", "post_processor"] {
            file[member] = Value::Null;
        }
        for step in 0..3 {
            file["decoder"] = decoders[(3 * at + step) % decoders.len()].clone();
            let options = LoadOptions { engine: Engine::General, ..LoadOptions::default() };
            let Ok(tokenizer) = Tokenizer::load(file.to_string().as_bytes(), &options) else { continue };
            for _ in 0..12 {
                let count = below(12);
                let ids: Vec<u32> =
                    (0..count).map(|_| if below(9) == 0 { 100 + below(256) } else { below(32) } as u32).collect();
                let text = tokenizer.decode(&ids, DecodeOptions::default());
                let (Ok(again), Ok(drift)) = (tokenizer.encode(&text, PLAIN), drift(&tokenizer, &ids, &[])) else {
                    continue;
                };
                assert_eq!(encoded(&tokenizer, &ids, &drift), again, "{} {ids:?} {text:?}", item["name"]);
                drift.causes.iter().for_each(|count| *causes.entry(count.cause.as_str()).or_default() += count.runs);
                (compared, equal) = (compared + 1, equal + usize::from(drift.equal));
            }
        }
    }
    assert!(compared > 5000 && equal > 300 && causes.len() == DriftCause::ALL.len(), "{compared} {equal} {causes:?}");
}
