//! Files that are cut, changed or no tokenizer at all: an error or a tokenizer, never a panic.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use token2text::{DecodeOptions, ErrorCode, Tokenizer};

use crate::support::{File, words};

fn whole() -> File {
    let list = ["a", "▁b", "<0xC3>", "<0xA9>", "é\n\"", "日本", "\u{1f600}"];
    let decoders = json!([
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ]);
    let mut file = words(&list).add("<s>", 7, "s").decoder(json!({"type": "Sequence", "decoders": decoders}));
    file.model["merges"] = json!(["a b", ["a", "b"], -1.5e-3, true, {"x": [null, {}]}]);
    file
}

/// Loads bytes and uses what comes of it in every way.
fn use_all(bytes: &[u8]) -> Result<Tokenizer, token2text::Error> {
    let tokenizer = Tokenizer::from_json(bytes)?;
    let ids: Vec<u32> = (0..40).chain([u32::MAX, 1 << 31]).collect();
    for skip_special_tokens in [false, true] {
        let options = DecodeOptions { skip_special_tokens };
        for at in 0..ids.len() {
            tokenizer.decode(&ids[at..], options);
        }
    }
    tokenizer.info();
    Ok(tokenizer)
}

#[test]
fn every_strict_prefix_is_refused() {
    let json = whole().json();
    assert!(use_all(json.as_bytes()).is_ok());
    // With the raw characters escaped, and with white space between everything.
    let escaped: String = json
        .chars()
        .map(|c| {
            if c.is_ascii() {
                c.to_string()
            } else {
                c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            }
        })
        .collect();
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let pretty = serde_json::to_string_pretty(&value).expect("JSON");
    for text in [json, escaped, pretty] {
        assert!(use_all(text.as_bytes()).is_ok());
        for end in 0..text.len() {
            let error = use_all(&text.as_bytes()[..end]).err().unwrap_or_else(|| panic!("a cut at {end} loads"));
            assert_eq!(error.code(), ErrorCode::InvalidTokenizer, "{error}");
        }
    }
}

#[test]
fn deep_nesting_is_refused_without_a_deep_stack() {
    let json = whole().json();
    for open in ["[", "{\"a\":", "[[{\"b\":"] {
        let deep = open.repeat(200_000);
        for member in ["\"truncation\":", "\"decoder\":", "\"normalizer\":", "\"model\":", "\"added_tokens\":"] {
            assert!(use_all(json.replace(member, &format!("{member}{deep}")).as_bytes()).is_err());
        }
    }
    let nested = |depth: usize| {
        let open = "{\"type\":\"Sequence\",\"decoders\":[";
        whole()
            .decoder(json!("HERE"))
            .json()
            .replace("\"HERE\"", &format!("{}{}", open.repeat(depth), "]}".repeat(depth)))
    };
    assert!(use_all(nested(40).as_bytes()).is_ok());
    assert!(use_all(nested(400).as_bytes()).is_err());
    assert!(use_all(nested(5000).as_bytes()).is_err());
}

#[track_caller]
fn exceeds(bytes: &[u8]) {
    let error = Tokenizer::from_json(bytes).expect_err("beyond a limit");
    assert_eq!(error.code(), ErrorCode::LimitExceeded, "{error}");
}

#[test]
fn too_large_files_are_refused() {
    let mut bytes = whole().json().into_bytes();
    bytes.resize(256 << 20, b' ');
    assert!(use_all(&bytes).is_ok());
    bytes.push(b' ');
    exceeds(&bytes);
    let many = "\"\":1,".repeat(1 << 22);
    let file = |last: &str| format!("{{\"model\":{{\"type\":\"BPE\",\"merges\":[],\"vocab\":{{{many}{last}}}}}}}");
    exceeds(file("\"a\":2").as_bytes());
    let lists = "[\"\",0],".repeat(1 << 22);
    let unigram = format!("{{\"model\":{{\"type\":\"Unigram\",\"vocab\":[{lists}[\"a\",0]]}}}}");
    exceeds(unigram.as_bytes());
}

#[test]
fn decoders_that_make_tokens_longer_are_refused_beyond_a_limit() {
    let grow =
        |pattern: &str, content: &str| json!({"type": "Replace", "pattern": {"String": pattern}, "content": content});
    let thousand = "a".repeat(1000);
    let file = |decoders: Vec<serde_json::Value>| {
        whole().decoder(json!({"type": "Sequence", "decoders": decoders})).json().into_bytes()
    };
    let first =
        [json!({"type": "ByteFallback"}), json!({"type": "Fuse"}), json!({"type": "BPEDecoder", "suffix": "b"})];
    for step in [grow("a", &thousand), grow("", &thousand), grow("", &"é".repeat(20_000))] {
        assert!(use_all(&file(vec![step.clone()])).is_ok());
        exceeds(&file(vec![step.clone(); 6]));
        for before in &first {
            exceeds(&file([vec![before.clone()], vec![step.clone(); 6]].concat()));
        }
    }
    // Each step may double the text.
    exceeds(&file(vec![grow("", "b"); 40]));
    assert!(use_all(&file(vec![json!({"type": "Fuse"}); 64])).is_ok());
    exceeds(&file(vec![json!({"type": "Fuse"}); 65]));
}

#[test]
#[cfg(feature = "general")]
fn regular_expressions_and_normalizers_that_make_tokens_longer_are_refused_beyond_a_limit() {
    let thousand = "a".repeat(1000);
    for pattern in [json!({"String": "a"}), json!({"Regex": "a"}), json!({"Regex": "(?=a)|a"})] {
        let grow = json!({"type": "Replace", "pattern": pattern, "content": thousand});
        let decoder = json!({"type": "Sequence", "decoders": vec![grow.clone(); 5]});
        exceeds(whole().decoder(decoder).json().as_bytes());
        let normalizer = json!({"type": "Sequence", "normalizers": vec![grow.clone(); 5]});
        exceeds(whole().add("aaa", 9, "n").normalizer(normalizer).json().as_bytes());
        assert!(use_all(whole().add("<x>", 9, "n").normalizer(grow).json().as_bytes()).is_ok());
    }
    let prepend = json!({"type": "Prepend", "prepend": "é".repeat(3 << 20)});
    exceeds(whole().add("<x>", 9, "n").normalizer(prepend).json().as_bytes());
}

#[test]
#[cfg(feature = "general")]
fn damaged_normalizers_are_refused() {
    let map = |bytes: &[u8]| {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |group: &[u8]| -> String {
            let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
            let digit = |at: usize| {
                if at > group.len() { '=' } else { char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]) }
            };
            (0..4).map(digit).collect()
        };
        bytes.chunks(3).map(group).collect::<String>()
    };
    let check = |charsmap: serde_json::Value| {
        let normalizer = json!({"type": "Precompiled", "precompiled_charsmap": charsmap});
        for normalizer in [normalizer.clone(), json!({"type": "Sequence", "normalizers": [normalizer]})] {
            let json = whole().add("<aé>", 9, "n").normalizer(normalizer).json();
            assert_eq!(use_all(json.as_bytes()).expect_err("damaged").code(), ErrorCode::InvalidTokenizer);
        }
    };
    for charsmap in [json!(null), json!(""), json!("AAAA"), json!("*"), json!("AAAAAA"), json!("/////w==")] {
        check(charsmap);
    }
    let unit = |units: &[u32], text: &[u8]| {
        let mut bytes = (units.len() as u32 * 4).to_le_bytes().to_vec();
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        bytes.extend_from_slice(text);
        json!(map(&bytes))
    };
    check(unit(&[], b"x"));
    check(unit(&[0], b"x"));
    check(unit(&[u32::MAX; 4], b"x"));
    check(unit(&[0, 0], b"\xff"));
    // A root whose child for '<' says where to go, outside and to a value outside.
    let mut units = vec![0_u32; 256];
    units[usize::from(b'<')] = u32::from(b'<') | 1 << 8 | 4096 << 10;
    check(unit(&units, b"x"));
    units[usize::from(b'<')] = u32::from(b'<') | 1 << 8 | 1 << 10;
    units[usize::from(b'<') ^ 1] = 7;
    check(unit(&units, b"x"));
    units[usize::from(b'<') ^ 1] = 1;
    check(unit(&units, "é".as_bytes()));
    // With a value inside, the same map is taken, and is what the reference takes.
    units[usize::from(b'<') ^ 1] = 0;
    let normalizer = json!({"type": "Precompiled", "precompiled_charsmap": unit(&units, b"[\0")});
    let file = words(&["x"]).add("<a>", 9, "n").normalizer(normalizer);
    assert_eq!(file.decode(&[1], false), "[a>");
    for normalizer in [json!("Lowercase"), json!({"type": "Nothing"}), json!({"type": "Sequence"}), json!([]), json!(7)]
    {
        assert!(!words(&["x"]).add("<a>", 9, "n").normalizer(normalizer).loads());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..60)) {
        let _ = use_all(&bytes);
        let _ = use_all(&[b"{\"model\":", bytes.as_slice()].concat());
        let _ = use_all(&[b"{\"decoder\":", bytes.as_slice()].concat());
    }

    #[test]
    fn changed_files_never_panic(edits in vec((any::<usize>(), any::<u8>(), 0..4_u8), 1..5)) {
        const PARTS: [&str; 8] = ["null", "[]", "{}", "\"\"", "4294967295", "true", ",", "\"type\":\"CTC\","];
        let mut bytes = whole().json().into_bytes();
        for (at, byte, edit) in edits {
            let at = at % bytes.len();
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => drop(bytes.splice(at..at, PARTS[usize::from(byte) % 8].bytes())),
            }
        }
        let _ = use_all(&bytes);
    }
}
