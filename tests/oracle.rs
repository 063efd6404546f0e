//! Every text must be what Python `tokenizers` gives, for real tokenizers and hand-made ones.
//! `tests/oracle/README.md` says where the expected texts come from.
#![cfg(not(target_arch = "wasm32"))]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use token2text::{Compat, DecodeOptions, ErrorCode, LoadOptions, Tokenizer};

const BLOCK: usize = 1000;

fn path(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(relative)
}

fn read_json(relative: &str) -> Value {
    let text = fs::read_to_string(path(relative)).unwrap_or_else(|error| panic!("cannot read {relative}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{relative} is not JSON: {error}"))
}

fn tokenizer_file(key: &str, name: &str) -> Vec<u8> {
    let relative = format!(".cache/tokenizers/{key}/{name}");
    fs::read(path(&relative)).unwrap_or_else(|error| panic!("{relative}: {error}. Run `make fetch-tokenizers` first."))
}

fn ids_of(value: &Value) -> Vec<u32> {
    let ids = value.as_array().expect("a list of ids");
    ids.iter().map(|id| u32::try_from(id.as_u64().expect("an id")).expect("a 32-bit id")).collect()
}

fn options(skip: bool) -> DecodeOptions {
    DecodeOptions { skip_special_tokens: skip }
}

/// Which ids stand where the texts part, and both texts around that place.
fn difference(tokenizer: &Tokenizer, ids: &[u32], skip: bool, expected: &str, got: &str) -> String {
    let same = expected.bytes().zip(got.bytes()).take_while(|(a, b)| a == b).count();
    let near = |text: &str| {
        let (from, to) = (same.saturating_sub(40).min(text.len()), (same + 40).min(text.len()));
        String::from_utf8_lossy(&text.as_bytes()[from..to]).into_owned()
    };
    let at = (0..ids.len()).find(|&n| tokenizer.decode(&ids[..n + 1], options(skip)).len() > same).unwrap_or(ids.len());
    let around = &ids[at.saturating_sub(6)..(at + 6).min(ids.len())];
    format!(
        "skip_special_tokens={skip}, {} ids, texts part at byte {same}, near id number {at}\n     ids: {around:?}\nexpected: {:?}\n     got: {:?}",
        ids.len(),
        near(expected),
        near(got)
    )
}

fn check_text(tokenizer: &Tokenizer, ids: &[u32], skip: bool, expected: &str) -> Result<(), String> {
    let got = tokenizer.decode(ids, options(skip));
    if got != expected {
        return Err(difference(tokenizer, ids, skip, expected, &got));
    }
    let bytes = tokenizer.decode_bytes(ids, options(skip));
    if String::from_utf8_lossy(&bytes) != expected {
        return Err(format!("decode_bytes gives other text for {ids:?}: {bytes:?}"));
    }
    Ok(())
}

/// The tokenizer when it was packed and read again, which must pack to the same bytes.
fn repacked(tokenizer: &Tokenizer) -> Result<Tokenizer, String> {
    let packed = tokenizer.to_packed();
    let again = Tokenizer::from_json(&packed).map_err(|error| format!("does not load again: {error}"))?;
    if again.to_packed() != packed {
        return Err("packs to other bytes when it was packed and read".to_owned());
    }
    Ok(again)
}

/// The numbers of the generator.
struct Lcg(u32);

impl Lcg {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(self.0) * u64::from(n)) >> 32) as u32
    }
}

fn sweep_lists(name: &str, count: u32) -> (usize, Vec<Vec<u32>>) {
    match name {
        "single" => (BLOCK, (0..count).map(|id| vec![id]).collect()),
        "pair" => {
            let mut second = Lcg(1);
            (BLOCK, (0..count).map(|id| vec![id, second.below(count)]).collect())
        }
        "run" => (BLOCK / 10, (0..count).step_by(10).map(|id| (id..(id + 10).min(count)).collect()).collect()),
        "random" => {
            let mut random = Lcg(2);
            (BLOCK / 50, (0..400).map(|_| (0..50).map(|_| random.below(count)).collect()).collect())
        }
        _ => panic!("unknown sweep {name}"),
    }
}

fn digest(texts: impl Iterator<Item = String>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u32).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.finalize().iter().take(8).fold(String::new(), |mut out, byte| {
        write!(out, "{byte:02x}").unwrap();
        out
    })
}

/// Asks the Rust crate, a second reference, which list of a differing block it is.
fn first_in_block(file: &[u8], tokenizer: &Tokenizer, lists: &[Vec<u32>], skip: bool) -> String {
    let reference = tokenizers::Tokenizer::from_bytes(file).expect("the reference loads the file");
    for ids in lists {
        let expected = reference.decode(ids, skip).expect("the reference decodes");
        let got = tokenizer.decode(ids, options(skip));
        if got != expected {
            return difference(tokenizer, ids, skip, &expected, &got);
        }
    }
    "(the tokenizers crate agrees with us and not with the Python package)".to_owned()
}

/// Checks one real tokenizer and gives the number of texts compared.
fn check_real(key: &str, file: &[u8], tokenizer: &Tokenizer) -> Result<usize, String> {
    let expected = read_json(&format!("tests/oracle/expected/{key}.json"));
    let mut texts = 0;
    let again = repacked(tokenizer)?;
    for case in expected["cases"].as_array().expect("cases") {
        let (name, ids, text) = (&case["name"], ids_of(&case["ids"]), case["text"].as_str().expect("a text"));
        let skipped = case["skipped"].as_str().unwrap_or(text);
        for (skip, text) in [(false, text), (true, skipped)] {
            for tokenizer in [tokenizer, &again] {
                check_text(tokenizer, &ids, skip, text).map_err(|error| format!("{key}, case {name}: {error}"))?;
            }
            texts += 1;
        }
    }
    let max_id = expected["max_id"].as_u64().expect("max_id") as u32;
    for sweep in expected["sweeps"].as_array().expect("sweeps") {
        let name = sweep["name"].as_str().expect("a name");
        let (per_block, lists) = sweep_lists(name, max_id + 1 + 24);
        for (skip, which) in [(false, "kept"), (true, "skipped")] {
            let digests = sweep[which].as_str().expect("digests");
            assert_eq!(digests.len(), lists.len().div_ceil(per_block) * 16, "{key}: blocks of sweep {name}");
            for (number, block) in lists.chunks(per_block).enumerate() {
                let got = digest(block.iter().map(|ids| tokenizer.decode(ids, options(skip))));
                if got != digests[number * 16..][..16] {
                    let first = first_in_block(file, tokenizer, block, skip);
                    return Err(format!("{key}, sweep {name}, block {number}: {first}"));
                }
                texts += block.len();
            }
        }
    }
    let ids = (0..=max_id + 1000).filter(|&id| tokenizer.contains(id)).count() as u64;
    if Some(ids) != expected["ids"].as_u64() {
        return Err(format!("{key}: {ids} ids have a token, the reference has {}", expected["ids"]));
    }
    Ok(texts)
}

macro_rules! real_tokenizers {
    ($($key:ident: $texts:literal,)*) => {
        mod real {
            $(#[test]
            fn $key() {
                let file = super::tokenizer_file(stringify!($key), "tokenizer.json");
                let tokenizer = super::Tokenizer::from_json(&file).unwrap_or_else(|error| panic!("{error}"));
                let texts = super::check_real(stringify!($key), &file, &tokenizer).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(texts, $texts, "texts compared");
            })*
        }
        const REAL: &[&str] = &[$(stringify!($key)),*];
    };
}

real_tokenizers! {
    qwen2_5: 638_274,
    qwen3: 638_292,
    llama3_1: 540_064,
    gpt2: 212_510,
    gpt35turbo: 422_578,
    gpt4o: 841_406,
    gptoss: 841_406,
    claude: 274_442,
    deepseek_v3: 542_360,
    mistral_nemo: 551_924,
    command_r_plus: 1_072_472,
    gemma3: 1_102_282,
    yi: 270_258,
    llama2: 135_802,
    internlm2: 390_126,
    chatglm3: 273_528,
    deepseek_v4: 544_314,
    minilm: 129_290,
    e5_multilingual: 1_051_254,
}

#[test]
fn every_tokenizer_of_the_manifest_is_tested() {
    let manifest = read_json("tests/oracle/tokenizers.json");
    let keys: Vec<_> =
        manifest["tokenizers"].as_array().unwrap().iter().map(|entry| entry["key"].as_str().unwrap()).collect();
    assert_eq!(keys, REAL);
    for entry in manifest["tokenizers"].as_array().unwrap() {
        let key = entry["key"].as_str().unwrap();
        let expected = read_json(&format!("tests/oracle/expected/{key}.json"));
        assert_eq!(
            expected["sha256"], entry["files"]["tokenizer.json"]["sha256"],
            "{key}: expected texts of another file"
        );
    }
}

fn handmade_file(item: &Value) -> Vec<u8> {
    if let Some(raw) = item["raw"].as_str() {
        raw.as_bytes().to_vec()
    } else if let Some(hex) = item["hex"].as_str() {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    } else {
        serde_json::to_vec(&item["tokenizer"]).unwrap()
    }
}

/// What became of a hand-made tokenizer.
enum Outcome {
    /// So many texts were compared.
    Same(usize),
    /// It needs the general engine, which this build does not have.
    NeedsGeneral,
}

/// Checks one hand-made tokenizer.
fn check_handmade(item: &Value) -> Result<Outcome, String> {
    let loaded = Tokenizer::from_json(&handmade_file(item));
    if !cfg!(feature = "general") && loaded.as_ref().is_err_and(|error| error.code() == ErrorCode::EngineNotAvailable) {
        return Ok(Outcome::NeedsGeneral);
    }
    if item["load_error"] == true {
        return match loaded {
            Ok(_) => Err("loads, but the reference refuses it".to_owned()),
            Err(error) if error.code() == ErrorCode::InvalidTokenizer => Ok(Outcome::Same(0)),
            Err(error) => Err(format!("refused with another code: {error}")),
        };
    }
    let tokenizer = loaded.map_err(|error| format!("does not load: {error}"))?;
    let again = repacked(&tokenizer)?;
    let cases = item["cases"].as_array().expect("cases");
    for case in cases {
        let (ids, skip) = (ids_of(&case["ids"]), case["skip"].as_bool().expect("skip"));
        match case["text"].as_str() {
            Some(text) => {
                check_text(&tokenizer, &ids, skip, text)?;
                check_text(&again, &ids, skip, text)?;
            }
            // The reference panics: we must give text, and none for a token alone.
            None => {
                let text = tokenizer.decode(&ids, options(skip));
                if ids.len() < 2 && !text.is_empty() {
                    return Err(format!("ids {ids:?}, where the reference panics, give {text:?}"));
                }
            }
        }
    }
    Ok(Outcome::Same(cases.len()))
}

#[test]
fn handmade_tokenizers() {
    let file = read_json("tests/oracle/handmade.json");
    let items = file["items"].as_array().unwrap();
    let (mut texts, mut refused, mut differing, mut unavailable, mut failures) = (0, 0, 0, 0, Vec::new());
    for item in items {
        let name = item["name"].as_str().unwrap();
        refused += usize::from(item["load_error"] == true);
        match (check_handmade(item), item["differs"].as_str()) {
            (Ok(Outcome::Same(count)), None) => texts += count,
            (Ok(Outcome::NeedsGeneral), _) => unavailable += 1,
            (Ok(_), Some(why)) => failures.push(format!("{name}: no longer differs ({why}): remove the note")),
            (Err(_), Some(_)) => differing += 1,
            (Err(error), None) => failures.push(format!("{name}: {error}")),
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n\n{}", failures.len(), items.len(), failures.join("\n\n"));
    let counts = (items.len(), refused, texts, differing, unavailable);
    let expected = if cfg!(feature = "general") { (358, 111, 4100, 19, 0) } else { (358, 111, 3495, 15, 83) };
    assert_eq!(
        counts, expected,
        "tokenizers, refused files, texts, known differences, files that need the general engine"
    );
}

#[cfg(not(feature = "general"))]
#[test]
fn the_transformers_readings_need_the_general_engine() {
    for compat in [Compat::Transformers4, Compat::Transformers5] {
        let options = LoadOptions { compat, ..LoadOptions::default() };
        let error = Tokenizer::load(b"{}", &options).expect_err("no general engine");
        assert_eq!(error.code(), ErrorCode::EngineNotAvailable);
    }
}

/// The readings of `transformers`, which need the general engine.
#[cfg(feature = "general")]
mod compat {
    use super::*;

    /// Compares with what one version of `transformers` gave: hand-made tokenizers and configs, and the real ones.
    fn check_compat(compat: Compat, name: &str) -> (usize, usize, usize) {
        let file = read_json(&format!("tests/oracle/compat/{name}.json"));
        let (mut checked, mut refused, mut texts, mut failures) = (0, 0, 0, Vec::new());
        for item in file["handmade"].as_array().unwrap() {
            let (name, json) = (item["name"].as_str().unwrap(), serde_json::to_vec(&item["tokenizer"]).unwrap());
            let config = (!item["config"].is_null()).then(|| serde_json::to_vec(&item["config"]).unwrap());
            let loaded =
                Tokenizer::load(&json, &LoadOptions { compat, config: config.as_deref(), ..LoadOptions::default() });
            // Where transformers itself fails there is nothing to be equal to.
            let Some(cases) = item["cases"].as_array() else {
                refused += 1;
                continue;
            };
            if !cfg!(feature = "general")
                && loaded.as_ref().is_err_and(|error| error.code() == ErrorCode::EngineNotAvailable)
            {
                continue;
            }
            checked += 1;
            let result = loaded.map_err(|error| format!("does not load: {error}")).and_then(|tokenizer| {
                let again = repacked(&tokenizer)?;
                for case in cases {
                    let ids = ids_of(&case["ids"]);
                    for tokenizer in [&tokenizer, &again] {
                        check_text(tokenizer, &ids, false, case["text"].as_str().unwrap())?;
                        check_text(tokenizer, &ids, true, case["skipped"].as_str().unwrap())?;
                    }
                    texts += 2;
                }
                Ok(())
            });
            if let Err(error) = result {
                failures.push(format!("{name} {}: {error}", item["config"]));
            }
        }
        for item in file["real"].as_array().unwrap() {
            let key = item["key"].as_str().unwrap();
            let (json, config) = (
                tokenizer_file(key, "tokenizer.json"),
                has_config(key).then(|| tokenizer_file(key, "tokenizer_config.json")),
            );
            let options = LoadOptions { compat, config: config.as_deref(), ..LoadOptions::default() };
            let tokenizer = match Tokenizer::load(&json, &options) {
                Ok(tokenizer) => tokenizer,
                Err(error) if !cfg!(feature = "general") && error.code() == ErrorCode::EngineNotAvailable => continue,
                Err(error) => panic!("{key}: {error}"),
            };
            checked += 1;
            match check_real_compat(key, item, &tokenizer) {
                Ok(count) => texts += count,
                Err(error) => failures.push(format!("{key}: {error}")),
            }
        }
        assert!(failures.is_empty(), "{} failures:\n\n{}", failures.len(), failures.join("\n\n"));
        (checked, refused, texts)
    }

    fn has_config(key: &str) -> bool {
        let manifest = read_json("tests/oracle/tokenizers.json");
        let entry = manifest["tokenizers"].as_array().unwrap().iter().find(|entry| entry["key"] == key);
        !entry.expect("a tokenizer of the manifest")["files"]["tokenizer_config.json"].is_null()
    }

    fn check_real_compat(key: &str, item: &Value, tokenizer: &Tokenizer) -> Result<usize, String> {
        let expected = read_json(&format!("tests/oracle/expected/{key}.json"));
        let others = item["other_texts"].as_array().expect("texts");
        let (mut texts, again) = (0, repacked(tokenizer)?);
        for case in expected["cases"].as_array().expect("cases") {
            let (ids, mut kept) = (ids_of(&case["ids"]), case["text"].as_str().expect("a text"));
            let mut skipped = case["skipped"].as_str().unwrap_or(kept);
            if let Some(other) = others.iter().find(|other| other["name"] == case["name"]) {
                (kept, skipped) = (other["text"].as_str().unwrap(), other["skipped"].as_str().unwrap());
            }
            for (skip, text) in [(false, kept), (true, skipped)] {
                check_text(&again, &ids, skip, text).map_err(|error| format!("packed, {}: {error}", case["name"]))?;
                check_text(tokenizer, &ids, skip, text).map_err(|error| format!("case {}: {error}", case["name"]))?;
                texts += 1;
            }
        }
        for sweep in item["sweeps"].as_array().expect("sweeps") {
            let name = sweep["name"].as_str().expect("a name");
            let (_, lists) = sweep_lists(name, expected["max_id"].as_u64().expect("max_id") as u32 + 1 + 24);
            for (skip, which) in [(false, "kept"), (true, "skipped")] {
                let got = digest(lists.iter().map(|ids| tokenizer.decode(ids, options(skip))));
                if sweep[which] != *got {
                    return Err(format!("sweep {name}, skip_special_tokens={skip}: another digest"));
                }
                texts += lists.len();
            }
        }
        Ok(texts)
    }

    #[test]
    fn transformers4() {
        assert_eq!(
            check_compat(Compat::Transformers4, "transformers4"),
            (288, 21, 5_016_858),
            "tokenizers, refused there, texts"
        );
    }

    #[test]
    fn transformers5() {
        assert_eq!(
            check_compat(Compat::Transformers5, "transformers5"),
            (301, 8, 5_017_606),
            "tokenizers, refused there, texts"
        );
    }

    #[test]
    fn configs_that_cannot_be_read_are_errors() {
        let items = read_json("tests/oracle/compat/transformers5.json");
        let json = serde_json::to_vec(&items["handmade"][0]["tokenizer"]).unwrap();
        let load = |config: &[u8], compat| {
            let options = LoadOptions { compat, config: Some(config), ..LoadOptions::default() };
            Tokenizer::load(&json, &options).map(|_| ())
        };
        let bad: [&[u8]; 13] = [
            b"",
            b"[]",
            b"null",
            b"{",
            b"{} x",
            b"\xff",
            b"{\"a\":1,}",
            b"{\"eos_token\":3}",
            b"{\"eos_token\":{\"content\":\"x\"}}",
            b"{\"added_tokens_decoder\":null}",
            b"{\"added_tokens_decoder\":{\"x\":{}}}",
            b"{\"added_tokens_decoder\":{\"1\":\"x\"}}",
            b"{\"additional_special_tokens\":\"x\"}",
        ];
        for compat in [Compat::Transformers4, Compat::Transformers5] {
            for config in bad {
                let error = load(config, compat).expect_err(&String::from_utf8_lossy(config));
                assert_eq!(error.code(), ErrorCode::InvalidTokenizer);
                assert!(error.message().starts_with("tokenizer_config.json: "), "{error}");
            }
            let error =
                load(b"{\"tokenizer_class\":\"CLIPTokenizerFast\"}", compat).expect_err("has a decode of its own");
            assert_eq!(error.code(), ErrorCode::UnsupportedTokenizer);
            assert_eq!(load(b" {} ", compat), Ok(()));
        }
        let list = b"{\"extra_special_tokens\":[\"x\"]}";
        assert!(load(list, Compat::Transformers4).is_err() && load(list, Compat::Transformers5).is_ok());
        assert_eq!(load(b"not read at all", Compat::Tokenizers), Ok(()));
    }
}
