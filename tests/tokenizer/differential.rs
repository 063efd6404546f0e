//! Random tokenizers against the reference: every decoder kind, every model type, awkward words, random ids.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use token2text::Tokenizer;

use crate::support::{File, ours, reference_decode, reference_or_panic};

/// Pieces of words that some decoder treats in its own way.
const PIECES: [&str; 44] = [
    "", "a", "b", "ab", "aa", " ", "  ", "▁", "▁▁", "_", "##", "#", "</w>", "<pad>", "|", "<0x41>", "<0xC3>", "<0xA9>",
    "<0xe5>", "<0x+A>", "<0xGG>", "<0x20>", "Ġ", "Ċ", "Ã", "©", "ðŁ", "ĺ", "Ā", "é", "e\u{301}", "É", "日本", "😀",
    "\u{feff}", "\0", "\u{fffd}", "\u{200d}", " .", " do not", "n't", " ' ", "\"\\\n", "$1",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(&PIECES[..]).prop_map(str::to_owned),
        2 => vec(select(&PIECES[..]), 2..4).prop_map(|pieces| pieces.concat()),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// Single characters, and a few things that are none.
fn character() -> impl Strategy<Value = String> {
    let one = select(vec![" ", "▁", "a", "_", "é", "#"]).prop_map(str::to_owned);
    prop_oneof![20 => one, 1 => word()]
}

fn leaf() -> impl Strategy<Value = Value> {
    let cut = || prop_oneof![4 => 0..3_usize, 1 => Just(usize::MAX)];
    let scheme = select(vec![json!("always"), json!("first"), json!("never"), Value::Null]);
    prop_oneof![
        (any::<bool>(), any::<Option<bool>>()).prop_map(|(flag, regex)| {
            let mut decoder = json!({"type": "ByteLevel", "add_prefix_space": flag, "trim_offsets": flag});
            if let Some(regex) = regex {
                decoder["use_regex"] = json!(regex);
            }
            decoder
        }),
        (character(), scheme, any::<Option<bool>>()).prop_map(|(replacement, scheme, prefix)| {
            let mut decoder = json!({"type": "Metaspace", "replacement": replacement, "add_prefix_space": prefix});
            if !scheme.is_null() {
                decoder["prepend_scheme"] = scheme;
            }
            decoder
        }),
        (word(), any::<bool>())
            .prop_map(|(prefix, cleanup)| json!({"type": "WordPiece", "prefix": prefix, "cleanup": cleanup})),
        word().prop_map(|suffix| json!({"type": "BPEDecoder", "suffix": suffix})),
        Just(json!({"type": "ByteFallback"})),
        Just(json!({"type": "Fuse"})),
        (character(), cut(), cut()).prop_map(
            |(content, start, stop)| json!({"type": "Strip", "content": content, "start": start, "stop": stop})
        ),
        (word(), word()).prop_map(|(from, to)| json!({"type": "Replace", "pattern": {"String": from}, "content": to})),
        (word(), word(), any::<bool>()).prop_map(|(pad, delimiter, cleanup)| {
            json!({"type": "CTC", "pad_token": pad, "word_delimiter_token": delimiter, "cleanup": cleanup})
        }),
        regex_leaf(),
    ]
}

#[cfg(feature = "general")]
fn regex_leaf() -> impl Strategy<Value = Value> {
    let pattern = select(vec!["a+", "", "(?<=a)b", "[^a]", "▁", "$", "(", "\\s"]);
    (pattern, word()).prop_map(|(from, to)| json!({"type": "Replace", "pattern": {"Regex": from}, "content": to}))
}

#[cfg(not(feature = "general"))]
fn regex_leaf() -> impl Strategy<Value = Value> {
    Just(json!({"type": "Fuse"}))
}

/// The decoders of real files.
fn real() -> impl Strategy<Value = Value> {
    let replace = json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "});
    let strip = json!({"type": "Strip", "content": " ", "start": 1, "stop": 0});
    let (bytes, fuse) = (json!({"type": "ByteFallback"}), json!({"type": "Fuse"}));
    select(vec![
        json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}),
        json!({"type": "Sequence", "decoders": [replace, bytes, fuse]}),
        json!({"type": "Sequence", "decoders": [replace, bytes, fuse, strip]}),
        json!({"type": "Metaspace", "replacement": "▁", "add_prefix_space": true}),
        json!({"type": "WordPiece", "prefix": "##", "cleanup": true}),
        Value::Null,
    ])
}

fn decoder() -> impl Strategy<Value = Value> {
    let nested = leaf().prop_recursive(3, 8, 4, |inner| {
        vec(inner, 0..4).prop_map(|decoders| json!({"type": "Sequence", "decoders": decoders}))
    });
    prop_oneof![real(), leaf(), nested]
}

fn normalizer() -> impl Strategy<Value = Value> {
    if !cfg!(feature = "general") {
        let empty = json!({"type": "Sequence", "normalizers": []});
        return prop_oneof![Just(Value::Null), Just(empty)].boxed();
    }
    let leaf = prop_oneof![
        select(vec!["Lowercase", "NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Nmt", "ByteLevel"])
            .prop_map(|kind| json!({"type": kind})),
        word().prop_map(|prepend| json!({"type": "Prepend", "prepend": prepend})),
        (word(), word()).prop_map(|(from, to)| json!({"type": "Replace", "pattern": {"String": from}, "content": to})),
        any::<(bool, bool)>().prop_map(|(left, right)| json!({"type": "Strip", "strip_left": left, "strip_right": right})),
        any::<(bool, bool)>().prop_map(|(clean, lower)| json!({
            "type": "BertNormalizer", "clean_text": clean, "handle_chinese_chars": lower, "strip_accents": null, "lowercase": lower,
        })),
    ];
    let sequence =
        vec(leaf.clone(), 0..3).prop_map(|normalizers| json!({"type": "Sequence", "normalizers": normalizers}));
    prop_oneof![2 => Just(Value::Null), 2 => leaf, 1 => sequence].boxed()
}

/// A map with distinct contents and distinct ids, as the reference picks among equal ids at random.
fn map_model() -> impl Strategy<Value = Value> {
    let kind = select(vec!["BPE", "WordPiece", "WordLevel", ""]);
    let gap = prop_oneof![8 => Just(1_u32), 1 => 1..4_u32, 1 => Just(1_u32 << 28)];
    (kind, vec((word(), gap), 0..14), 0..3_u32).prop_map(|(kind, words, mut next)| {
        let mut vocab = serde_json::Map::new();
        for (word, gap) in words {
            if !vocab.contains_key(&word) {
                vocab.insert(word, next.into());
                next += gap;
            }
        }
        let mut model = json!({
            "type": kind, "unk_token": "<unk>", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
            "vocab": vocab, "merges": [],
        });
        if kind.is_empty() {
            model.as_object_mut().expect("an object").remove("type");
        }
        model
    })
}

fn list_model() -> impl Strategy<Value = Value> {
    (vec((word(), -9.0..0.0_f64), 0..14), any::<Option<u8>>()).prop_map(|(vocab, unknown)| {
        let unknown = unknown.map(|unknown| unknown % 16);
        json!({"type": "Unigram", "unk_id": unknown, "vocab": vocab, "byte_fallback": false})
    })
}

fn file() -> impl Strategy<Value = File> {
    let model = prop_oneof![3 => map_model(), 1 => list_model()];
    (model, decoder(), normalizer(), vec((any::<u8>(), word(), any::<[bool; 6]>()), 0..6)).prop_map(
        |(model, decoder, normalizer, added)| {
            let known: Vec<String> = match &model["vocab"] {
                Value::Object(map) => map.keys().cloned().collect(),
                Value::Array(list) => list.iter().filter_map(|pair| pair[0].as_str().map(str::to_owned)).collect(),
                _ => Vec::new(),
            };
            let added = added.into_iter().map(|(id, word, flags)| {
                let [from_model, single_word, lstrip, rstrip, normalized, special] = flags;
                let word = known.get(usize::from(id) % 16).filter(|_| from_model).cloned().unwrap_or(word);
                json!({
                    "id": id % 24, "content": word, "single_word": single_word, "lstrip": lstrip, "rstrip": rstrip,
                    "normalized": normalized, "special": special,
                })
            });
            File { added: added.collect(), normalizer, decoder, model }
        },
    )
}

fn id() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 0..22_u32, 2 => (0..4_u32, 0..22_u32).prop_map(|(far, near)| (far << 28) + near), 1 => any::<u32>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Equal text, or refused by both. Where the reference panics, at load or on ids, ours must only not do so.
    #[test]
    fn random_tokenizers_decode_as_in_the_reference(file in file(), lists in vec(vec(id(), 0..12), 1..6)) {
        let json = file.json();
        let tokenizer = Tokenizer::from_json(json.as_bytes());
        let Some(reference) = reference_or_panic(&json) else { return Ok(()) };
        prop_assert_eq!(tokenizer.is_ok(), reference.is_some(), "{:?}\n{}", tokenizer.err(), json);
        let (Ok(tokenizer), Some(reference)) = (tokenizer, reference) else { return Ok(()) };
        for ids in lists {
            for skip in [false, true] {
                let text = ours(&tokenizer, &ids, skip);
                if let Some(expected) = reference_decode(&reference, &ids, skip) {
                    prop_assert_eq!(text, expected, "{:?} skip {} of {}", ids, skip, json);
                }
            }
            for id in ids {
                prop_assert_eq!(tokenizer.contains(id), reference.id_to_token(id).is_some(), "{} in {}", id, json);
            }
        }
    }
}

/// `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1500)
}
