//! Places where decoders have been seen to differ from the reference, each with the reference's answer. Every case
//! is checked against the `tokenizers` crate as well, so a wrong expectation fails too.

use serde_json::{Value, json};
use token2text::{ErrorCode, Tokenizer};

use crate::support::{File, load, loads, map, ours, words};

fn byte_level() -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true})
}

fn sequence(decoders: &[Value]) -> Value {
    json!({"type": "Sequence", "decoders": decoders})
}

fn replace(pattern: &str, content: &str) -> Value {
    json!({"type": "Replace", "pattern": {"String": pattern}, "content": content})
}

fn strip(content: &str, start: usize, stop: usize) -> Value {
    json!({"type": "Strip", "content": content, "start": start, "stop": stop})
}

fn simple(kind: &str) -> Value {
    json!({"type": kind})
}

fn spm3() -> Value {
    sequence(&[replace("▁", " "), simple("ByteFallback"), simple("Fuse")])
}

fn spm4() -> Value {
    sequence(&[replace("▁", " "), simple("ByteFallback"), simple("Fuse"), strip(" ", 1, 0)])
}

fn fallback() -> Value {
    sequence(&[simple("ByteFallback"), simple("Fuse")])
}

fn word_piece(cleanup: bool) -> Value {
    json!({"type": "WordPiece", "prefix": "##", "cleanup": cleanup})
}

fn metaspace(scheme: &str) -> Value {
    json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": true})
}

fn bytes(list: &[&str]) -> File {
    words(list).decoder(byte_level())
}

#[track_caller]
fn check(file: &File, cases: &[(&[u32], bool, &str)]) {
    for (ids, skip, expected) in cases {
        assert_eq!(file.decode(ids, *skip), *expected, "{ids:?} skip {skip}");
    }
}

// Ids and added tokens

#[test]
fn trap_1_unknown_ids_vanish_before_the_decoder() {
    check(&words(&["a", "b"]), &[(&[0, 99, 1], false, "ab"), (&[], false, ""), (&[u32::MAX], false, "")]);
    check(&words(&["▁a", "▁b"]).decoder(metaspace("always")), &[(&[99, 0, 99, 1], false, "a b")]);
    check(&words(&["<0xC3>", "<0xA9>"]).decoder(fallback()), &[(&[0, 99, 1], false, "é")]);
}

#[test]
fn trap_2_the_id_of_an_added_token_is_ignored() {
    let file = words(&["a", "b"]).add("<X>", 10, "s").add("<Y>", 20, "");
    check(&file, &[(&[2], false, "<X>"), (&[3], false, "<Y>"), (&[10, 20], false, "")]);
}

#[test]
fn trap_3_numbering_starts_at_the_count_of_the_vocabulary() {
    let file = map([("a", 0), ("b", 1), ("c", 3)]).add("<X>", 9, "s");
    check(&file, &[(&[3], false, "<X>"), (&[9], false, ""), (&[0, 1], false, "ab")]);
    let file = map([("a", 0), ("b", 1), ("<s>", 5)]).add("<s>", 5, "s").add("<Y>", 6, "s");
    check(&file, &[(&[3], false, "<Y>"), (&[5], false, "<s>"), (&[6], false, "")]);
    // The overwritten token of the model, added again, takes its id back.
    let file = map([("a", 0), ("b", 1), ("c", 3)]).add("<X>", 9, "s").add("c", 3, "");
    check(&file, &[(&[3], false, "c"), (&[3], true, "c")]);
}

#[test]
fn trap_4_a_low_id_does_not_override() {
    check(&words(&["a", "b", "c"]).add("<X>", 1, "s"), &[(&[1], false, "b"), (&[3], false, "<X>")]);
}

#[test]
fn trap_5_a_content_of_the_model_keeps_its_id_and_becomes_special() {
    let file = words(&["a", "<X>"]).add("<X>", 7, "s");
    check(&file, &[(&[1], false, "<X>"), (&[7], false, ""), (&[0, 1], true, "a")]);
}

#[test]
fn trap_6_two_entries_with_one_id() {
    check(&words(&["a"]).add("<X>", 1, "s").add("<Y>", 1, ""), &[(&[1], false, "<X>"), (&[2], false, "<Y>")]);
}

#[test]
fn trap_7_an_empty_content_takes_no_id() {
    check(&words(&["a"]).add("", 1, "s").add("<X>", 2, "s"), &[(&[1], false, "<X>"), (&[2], false, "")]);
}

#[test]
fn trap_8_a_repeated_content() {
    check(&words(&["a"]).add("<X>", 1, "").add("<X>", 2, "s"), &[(&[0, 1, 2], true, "a"), (&[1], false, "<X>")]);
    // Once special, special for good.
    check(&words(&["a"]).add("<X>", 1, "s").add("<X>", 2, ""), &[(&[0, 1, 2], true, "a")]);
}

#[test]
fn trap_9_every_field_of_an_added_token_is_required() {
    for field in ["id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"] {
        let mut file = words(&["a"]).add("<X>", 1, "s");
        file.added[0].as_object_mut().expect("an object").remove(field);
        assert!(!file.loads(), "{field}");
        file.added[0][field] = Value::Null;
        assert!(!file.loads(), "{field} null");
        file.added[0][field] = json!([1]);
        assert!(!file.loads(), "{field} list");
    }
    let json = words(&["a"]).add("<X>", 1, "s").json();
    assert!(loads(&json));
    assert!(loads(&json.replace("\"lstrip\"", "\"more\":[{}],\"lstrip\"")));
    for field in ["\"id\":1,", "\"content\":\"<Y>\",", "\"special\":true,"] {
        assert!(!loads(&json.replace("\"lstrip\"", &format!("{field}\"lstrip\""))), "{field}");
    }
    for id in ["-1", "1.0", "1e0", "4294967296", "\"1\""] {
        assert!(!loads(&json.replace("\"id\":1", &format!("\"id\":{id}"))), "{id}");
    }
    assert!(loads(&json.replace("\"id\":1", "\"id\":4294967295")));
}

#[test]
fn trap_10_added_tokens_are_numbered_in_file_order() {
    check(&words(&["a"]).add("<Y>", 2, "s").add("<X>", 1, "s"), &[(&[1], false, "<Y>"), (&[2], false, "<X>")]);
}

#[test]
fn trap_11_matching_flags_do_nothing() {
    let mut file = words(&["a"]).add(" X ", 1, "");
    for flag in ["single_word", "lstrip", "rstrip"] {
        file.added[0][flag] = json!(true);
    }
    check(&file, &[(&[0, 1, 0], false, "a X a")]);
}

#[test]
fn trap_12_an_added_token_wins_and_goes_through_the_decoder() {
    let file = words(&["▁a", "x▁y"]).decoder(spm3()).add("x▁y", 1, "");
    check(&file, &[(&[0, 1], false, " ax y")]);
}

#[test]
fn trap_13_repeated_keys_and_ids() {
    let json = words(&["a"]).json();
    let twice = json.replace("{\"a\":0}", "{\"a\":0,\"b\":2,\"a\":1}");
    let tokenizer = load(&twice);
    assert_eq!((ours(&tokenizer, &[0, 1, 1, 2], false), tokenizer.info().vocab_size), ("aab".to_owned(), 2));
    let reference = crate::support::reference(&twice).expect("a tokenizer");
    assert_eq!(reference.decode(&[0, 1, 1, 2], false).expect("text"), "aab");
    assert!(!tokenizer.contains(0));
    // Two contents with one id: random in the reference, the last in the file here. Both count for the numbering.
    let shared = words(&["a"]).add("<X>", 9, "").json().replace("{\"a\":0}", "{\"a\":0,\"b\":1,\"c\":1}");
    assert_eq!(ours(&load(&shared), &[0, 1, 3], false), "ac<X>");
}

#[test]
#[cfg(feature = "general")]
fn trap_14_skipping_compares_the_decoded_string() {
    let file = words(&["x"]).add("a", 1, "s").add("A", 2, "n").normalizer(simple("Lowercase"));
    check(&file, &[(&[0, 1, 2, 0], true, "xx"), (&[0, 1, 2, 0], false, "xaax")]);
    let mut file = words(&[]).add("<s>", 1, "s");
    file.model = json!({"type": "Unigram", "vocab": [["<s>", 0.0], ["a", -1], ["<s>", -2.5e-1]], "unk_id": 0});
    check(&file, &[(&[0, 1, 2], true, "a"), (&[0, 1, 2], false, "<s>a<s>")]);
}

// Normalized added tokens

#[test]
#[cfg(feature = "general")]
fn trap_15_a_normalized_token_decodes_to_its_normalized_form() {
    check(&words(&["a"]).add("HELLO", 1, "n").normalizer(simple("Lowercase")), &[(&[1], false, "hello")]);
    let nfc = words(&["a"]).add("e\u{301}", 1, "n").normalizer(sequence_of_normalizers(&[simple("NFC")]));
    check(&nfc, &[(&[1], false, "é")]);
    // An empty sequence changes nothing, and other tokens are left alone.
    check(&words(&["A"]).add("HELLO", 1, "").normalizer(simple("Lowercase")), &[(&[0, 1], false, "AHELLO")]);
    check(&words(&["A"]).add("HELLO", 1, "n").normalizer(sequence_of_normalizers(&[])), &[(&[0, 1], false, "AHELLO")]);
}

#[cfg(feature = "general")]
fn sequence_of_normalizers(normalizers: &[Value]) -> Value {
    json!({"type": "Sequence", "normalizers": normalizers})
}

#[test]
#[cfg(feature = "general")]
fn trap_16_normalized_forms_go_through_the_decoder() {
    let prepend = json!({"type": "Prepend", "prepend": "▁"});
    let normalizer = sequence_of_normalizers(&[prepend, replace(" ", "▁")]);
    let file = words(&["▁a"]).add("<foo bar>", 1, "n").decoder(spm4()).normalizer(normalizer);
    check(&file, &[(&[0, 1, 0], false, "a <foo bar> a"), (&[1, 0], false, "<foo bar> a")]);
}

#[test]
#[cfg(feature = "general")]
fn trap_17_a_changed_special_token_is_not_skipped() {
    let file = words(&["a"]).add("HELLO", 1, "sn").normalizer(simple("Lowercase"));
    check(&file, &[(&[0, 1], true, "ahello")]);
}

#[test]
#[cfg(feature = "general")]
fn trap_18_a_byte_level_normalizer() {
    check(&bytes(&["a"]).add("é x", 1, "n").normalizer(simple("ByteLevel")), &[(&[1], false, "é x")]);
}

#[test]
#[cfg(not(feature = "general"))]
fn without_the_general_engine_only_what_needs_it_is_refused() {
    let file = words(&["a"]).add("HELLO", 1, "n").normalizer(simple("Lowercase"));
    let error = Tokenizer::from_json(file.json().as_bytes()).expect_err("needs the normalizer");
    assert_eq!(error.code(), ErrorCode::EngineNotAvailable);
    assert!(error.message().contains("HELLO"), "{error}");
    let regex = json!({"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""});
    let error = Tokenizer::from_json(words(&["a"]).decoder(regex).json().as_bytes()).expect_err("needs the regex");
    assert_eq!(error.code(), ErrorCode::EngineNotAvailable);
    let empty = json!({"type": "Sequence", "normalizers": []});
    assert!(words(&["a"]).add("HELLO", 1, "n").normalizer(empty).loads());
    assert!(words(&["a"]).add("HELLO", 1, "n").loads());
    assert!(words(&["a"]).add("HELLO", 1, "s").normalizer(simple("Lowercase")).loads());
}

// ByteLevel

#[test]
fn trap_19_tokens_outside_the_alphabet_stay() {
    check(&bytes(&["a", "日本", "Ġ é"]), &[(&[1, 2, 0], false, "日本Ġ éa")]);
}

#[test]
fn trap_20_added_tokens_go_through_the_alphabet() {
    let file = bytes(&["a"]).add("ilÖveyou", 1, "").add("đem", 2, "").add("Ġx", 3, "").add("é x", 4, "");
    let file = file.add("<｜User｜>", 5, "s").add("õ", 6, "").add("č", 7, "");
    let cases: [(&[u32], bool, &str); 7] = [
        (&[1], false, "il\u{fffd}veyou"),
        (&[2], false, "\u{11}em"),
        (&[3], false, " x"),
        (&[4], false, "é x"),
        (&[5], false, "<｜User｜>"),
        (&[6], false, "\u{fffd}"),
        (&[7], false, "\r"),
    ];
    check(&file, &cases);
}

#[test]
fn trap_21_the_lossy_reading_is_over_the_whole() {
    let file = bytes(&["Ã", "©"]).add("<s>", 2, "s");
    check(&file, &[(&[0, 2, 1], true, "é"), (&[0, 2, 1], false, "\u{fffd}<s>\u{fffd}"), (&[0, 99, 1], false, "é")]);
    // The alphabet's characters for the bytes F0 9F 98, 80, 80 80, C0 80, ED A0 80, F5 80 80 80.
    let file = bytes(&["ðŁĺ", "Ģ", "ĢĢ", "ÀĢ", "íłĢ", "õĢĢĢ"]);
    for (id, count) in [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 4)] {
        assert_eq!(file.decode(&[id], false), "\u{fffd}".repeat(count), "{id}");
    }
    check(&file, &[(&[1, 2], false, "\u{fffd}\u{fffd}\u{fffd}"), (&[0, 1], false, "😀")]);
}

#[test]
fn trap_22_a_byte_order_mark_and_nul_survive() {
    check(&bytes(&["ï»¿", "a", "Ā"]), &[(&[0, 1, 2], false, "\u{feff}a\0"), (&[2, 0], false, "\0\u{feff}")]);
    check(&words(&["\u{feff}", "\0"]).decoder(spm4()), &[(&[0, 1], false, "\u{feff}\0")]);
}

#[test]
fn trap_23_the_options_of_byte_level_do_nothing() {
    for prefix in [true, false] {
        let decoder = json!({"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": !prefix});
        check(&words(&["Ġa"]).decoder(decoder), &[(&[0, 0], false, " a a")]);
    }
    let mut decoder = byte_level();
    for (field, value) in [("use_regex", Value::Null), ("trim_offsets", json!(1)), ("add_prefix_space", json!("true"))]
    {
        decoder[field] = value;
        assert!(!words(&["a"]).decoder(decoder.clone()).loads(), "{field}");
        decoder = byte_level();
    }
    decoder.as_object_mut().expect("an object").remove("trim_offsets");
    assert!(!words(&["a"]).decoder(decoder).loads());
}

#[test]
fn trap_24_byte_level_fuses() {
    let decoder = sequence(&[byte_level(), replace("é", "E")]);
    check(&words(&["Ã", "©", "x"]).decoder(decoder), &[(&[0, 1, 2], false, "Ex"), (&[0, 2], false, "\u{fffd}x")]);
    check(&words(&["a"]).decoder(sequence(&[byte_level(), strip("a", 1, 0)])), &[(&[0, 0], false, "a")]);
}

// ByteFallback

#[test]
fn trap_25_what_is_a_byte_token() {
    let file =
        words(&["<0xe5>", "<0x+A>", "<0xGG>", "<0x1>", "<0x41>", "<0x-1>", "<0xé>", "<0x 1>", "<0x++>", "<0xA+>"]);
    let file = file.decoder(fallback());
    let cases: [(&[u32], bool, &str); 10] = [
        (&[0], false, "\u{fffd}"),
        (&[1], false, "\n"),
        (&[2], false, "<0xGG>"),
        (&[3], false, "<0x1>"),
        (&[4], false, "A"),
        (&[5], false, "<0x-1>"),
        (&[6], false, "<0xé>"),
        (&[7], false, "<0x 1>"),
        (&[8], false, "<0x++>"),
        (&[9], false, "<0xA+>"),
    ];
    check(&file, &cases);
    check(&file.decoder(spm4()), &cases);
}

#[test]
fn trap_26_a_run_is_all_or_nothing() {
    for decoder in [fallback(), spm3(), spm4(), simple("ByteFallback")] {
        let file = words(&["<0x61>", "<0xE5>", "b"]).decoder(decoder);
        check(&file, &[(&[0, 0, 1, 2], false, "\u{fffd}\u{fffd}\u{fffd}b"), (&[0, 0, 2, 1], false, "aab\u{fffd}")]);
    }
}

#[test]
fn trap_27_what_breaks_a_run() {
    let file = words(&["<0xC3>", "<0xA9>"]).decoder(fallback()).add("<s>", 2, "s");
    check(&file, &[(&[0, 2, 1], false, "\u{fffd}<s>\u{fffd}"), (&[0, 2, 1], true, "é"), (&[0, 77, 1], false, "é")]);
}

#[test]
fn trap_28_an_added_byte_token() {
    check(&words(&["a"]).decoder(fallback()).add("<0x41>", 1, ""), &[(&[0, 1], false, "aA")]);
}

#[test]
fn trap_29_strip_after_fuse_eats_a_space_byte() {
    check(&words(&["<0x20>", "a"]).decoder(spm4()), &[(&[0, 1], false, "a"), (&[0, 0, 1], false, " a")]);
}

// SentencePiece sequences and Metaspace

#[test]
fn trap_30_one_leading_space_of_the_whole() {
    let file = words(&["▁▁▁a", "▁Hello"]).decoder(spm4()).add("<s>", 2, "s");
    check(&file, &[(&[0], false, "  a"), (&[2, 1], false, "<s> Hello"), (&[2, 1], true, "Hello"), (&[], false, "")]);
}

#[test]
fn trap_31_without_strip_the_space_stays() {
    check(&words(&["▁Hello", "▁world"]).decoder(spm3()), &[(&[0, 1], false, " Hello world")]);
}

#[test]
fn trap_32_replace_acts_inside_added_tokens() {
    check(&words(&["a"]).decoder(spm3()).add("x▁y", 1, "").add("▁▁", 2, ""), &[(&[1, 2, 0], false, "x y  a")]);
}

#[test]
fn trap_33_metaspace() {
    for scheme in ["first", "always"] {
        let file = words(&["▁▁d▁e", "▁a", "▁b"]).decoder(metaspace(scheme)).add("<s>", 3, "s");
        check(&file, &[(&[0], false, "de"), (&[1, 0], false, "a  d e"), (&[3, 1, 2], false, "<s> a b")]);
        check(&file, &[(&[3, 1, 2], true, "a b"), (&[99, 1, 2], false, "a b")]);
    }
    check(&words(&["▁▁d▁e"]).decoder(metaspace("never")), &[(&[0, 0], false, "  d e  d e")]);
    let fused = sequence(&[simple("Fuse"), metaspace("always")]);
    check(&words(&["▁a", "▁b"]).decoder(fused), &[(&[0, 1], false, "ab")]);
    let old = |flag: Value| json!({"type": "Metaspace", "replacement": "_", "add_prefix_space": flag, "str_rep": "_"});
    check(&words(&["_a"]).decoder(old(json!(true))), &[(&[0, 0], false, "a a")]);
    check(&words(&["_a"]).decoder(old(Value::Null)), &[(&[0, 0], false, "a a")]);
    assert!(!words(&["_a"]).decoder(old(json!(false))).loads());
    let mut both = old(json!(false));
    both["prepend_scheme"] = json!("never");
    check(&words(&["_a"]).decoder(both.clone()), &[(&[0, 0], false, " a a")]);
    for (field, value) in [
        ("prepend_scheme", json!("always")),
        ("prepend_scheme", json!("Never")),
        ("prepend_scheme", Value::Null),
        ("replacement", json!("__")),
        ("replacement", json!("")),
        ("split", json!(0)),
    ] {
        let mut decoder = both.clone();
        decoder[field] = value;
        assert!(!words(&["_a"]).decoder(decoder).loads(), "{field}");
    }
    // A real space in the first token stays, whatever the replacement.
    check(
        &words(&[" ▁ a", "  "]).decoder(metaspace("always")),
        &[(&[0, 0], false, "  a   a"), (&[1, 0], false, "     a")],
    );
}

// The rest

#[test]
fn trap_34_keys_in_any_order() {
    let parts = [
        r#""model":{"merges":[],"vocab":{"Ġa":0},"type":"BPE"}"#,
        r#""decoder":{"trim_offsets":true,"add_prefix_space":true,"type":"ByteLevel"}"#,
        r#""added_tokens":[{"special":true,"normalized":false,"rstrip":false,"lstrip":false,"single_word":false,"content":"<s>","id":1}]"#,
    ];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0]] {
        let json = format!("{{{}}}", order.map(|at| parts[at]).join(","));
        assert!(loads(&json));
        assert_eq!(ours(&load(&json), &[1, 0], false), "<s> a");
        let twice = json.replace("{\"merges\"", "{\"merges\":7,\"merges\"");
        assert_eq!(ours(&load(&twice), &[1, 0], false), "<s> a");
    }
}

#[test]
fn trap_34_the_last_of_equal_keys_counts() {
    let json = words(&["Ġa"]).json();
    let both = json.replace("\"decoder\"", &format!("\"decoder\":{},\"decoder\"", byte_level()));
    assert!(loads(&both));
    assert_eq!(ours(&load(&both), &[0], false), "Ġa");
    assert!(!loads(&json.replace("\"decoder\"", "\"decoder\":{},\"decoder\"")));
}

#[test]
fn trap_34_escapes_in_tokens() {
    let json = words(&["WORD"]).json();
    let escapes = r#"\ud83d\ude00\udbff\udfff\ud800\udc00\u0041\u00e9\u2581\n\t\r\b\f\/\\\"\u0000é"#;
    let json = json.replace("WORD", escapes);
    let expected = "😀\u{10ffff}\u{10000}Aé▁\n\t\r\u{8}\u{c}/\\\"\0é";
    assert_eq!(ours(&load(&json), &[0], false), expected);
    assert_eq!(crate::support::reference(&json).expect("a tokenizer").decode(&[0], false).expect("text"), expected);
}

#[test]
fn trap_34_a_decoder_with_two_types_is_known_by_its_fields() {
    let json = words(&["a</w>"]).json();
    let twice = json.replace("{\"type\":\"Fuse\"}", r#"{"type":"Fuse","type":"Fuse","suffix":"</w>"}"#);
    assert_eq!(ours(&load(&twice), &[0, 0], false), "a a");
    assert_eq!(crate::support::reference(&twice).expect("a tokenizer").decode(&[0, 0], false).expect("text"), "a a");
}

/// Where we read more than the reference, or less, on purpose: (from, to, ours, the reference's).
#[test]
fn deliberate_differences_at_load() {
    let json = words(&["a"]).json();
    let deep = format!("\"padding\":{}{}", "[".repeat(300), "]".repeat(300));
    let cases = [
        // Members that do not change how ids decode are not looked into.
        ("\"merges\":[]", "\"merges\":[\"a z\"]", true, false),
        ("\"merges\":[]", "\"merges\":[],\"dropout\":7", true, false),
        ("\"pre_tokenizer\":null", "\"pre_tokenizer\":{\"type\":\"Foo\"}", true, false),
        ("\"post_processor\":null", "\"post_processor\":1", true, false),
        ("\"truncation\":null", "\"truncation\":{}", true, false),
        ("\"padding\":null", deep.as_str(), true, false),
        // Nor is a normalizer that no added token goes through.
        ("\"normalizer\":null", "\"normalizer\":{\"type\":\"Foo\"}", true, false),
        // The fields of a decoder without their names.
        ("{\"type\":\"Fuse\"}", "[\"</w>\"]", false, true),
    ];
    for (from, to, ours, theirs) in cases {
        let json = json.replace(from, to);
        assert_eq!(Tokenizer::from_json(json.as_bytes()).is_ok(), ours, "{to}");
        assert_eq!(crate::support::reference(&json).is_some(), theirs, "{to}");
    }
}

#[test]
fn trap_34_what_is_refused() {
    let json = words(&["a"]).json();
    let cases = [
        ("\"version\":\"1.0\"", "\"version\":\"1.1\"", false),
        ("\"version\":\"1.0\"", "\"version\":1.0", false),
        ("\"version\":\"1.0\"", "\"version\":null", false),
        ("\"version\":\"1.0\"", "\"version\":\"1\\u002e0\"", true),
        ("\"version\":\"1.0\",", "", true),
        ("{\"version\"", "\u{feff}{\"version\"", false),
        ("{\"a\":0}", "{\"\\ud800\":0}", false),
        ("{\"a\":0}", "{\"\\udc00\":0}", false),
        ("{\"a\":0}", "{\"\\ud83d\\ude00\":0}", true),
        ("{\"a\":0}", "{\"a\":-1}", false),
        ("{\"a\":0}", "{\"a\":1.0}", false),
        ("{\"a\":0}", "{\"a\":null}", false),
        ("{\"a\":0}", "{\"a\":4294967296}", false),
        ("{\"a\":0}", "{\"a\":00}", false),
        ("{\"a\":0}", "{\"a\":\"0\"}", false),
        ("{\"a\":0}", "{}", true),
        ("{\"a\":0}", "[]", false),
        ("{\"a\":0}", "[[\"a\",0]]", false),
        ("{\"a\":0}", "null", false),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Foo\"}", false),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"fuse\"}", false),
        ("{\"type\":\"Fuse\"}", "{}", false),
        ("{\"type\":\"Fuse\"}", "\"Fuse\"", false),
        ("{\"type\":\"Fuse\"}", "null", true),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Fuse\",\"more\":1}", true),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Sequence\"}", false),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Sequence\",\"decoders\":[]}", true),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Sequence\",\"decoders\":[null]}", false),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Sequence\",\"decoders\":[{}]}", false),
        // Written before decoders had a type, or with a type that is none.
        ("{\"type\":\"Fuse\"}", "{\"suffix\":\"</w>\"}", true),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Foo\",\"suffix\":\"</w>\"}", true),
        ("{\"type\":\"Fuse\"}", "{\"prefix\":\"##\",\"cleanup\":true}", true),
        ("{\"type\":\"Fuse\"}", "{\"prefix\":\"##\"}", false),
        ("{\"type\":\"Fuse\"}", "{\"pattern\":{\"String\":\"a\"},\"content\":\"b\"}", true),
        ("{\"type\":\"Fuse\"}", "{\"content\":\"b\",\"start\":1,\"stop\":0}", true),
        ("{\"type\":\"Fuse\"}", "{\"pad_token\":\"\",\"word_delimiter_token\":\"\",\"cleanup\":true}", true),
        ("{\"type\":\"Fuse\"}", "{\"add_prefix_space\":true,\"trim_offsets\":true}", false),
        ("{\"type\":\"Fuse\"}", "{\"type\":\"Fuse\",\"type\":\"ByteFallback\"}", true),
        ("{\"type\":\"Fuse\"}", "{\"type\":1}", false),
        ("\"type\":\"BPE\",", "", true),
        ("\"type\":\"BPE\"", "\"type\":\"bpe\"", false),
        ("\"type\":\"BPE\"", "\"type\":\"WordLevel\"", false),
        ("\"type\":\"BPE\"", "\"type\":\"WordLevel\",\"unk_token\":\"u\"", true),
        ("\"type\":\"BPE\"", "\"type\":\"WordLevel\",\"unk_token\":null", false),
        ("\"type\":\"BPE\"", "\"type\":\"WordPiece\",\"unk_token\":\"u\"", false),
        (
            "\"type\":\"BPE\"",
            "\"type\":\"WordPiece\",\"unk_token\":\"u\",\"continuing_subword_prefix\":\"\",\"max_input_chars_per_word\":9",
            true,
        ),
        ("\"type\":\"BPE\"", "\"type\":\"BPE\",\"type\":\"BPE\"", false),
        ("\"type\":\"BPE\"", "\"type\":null", false),
        (",\"merges\":[]", "", false),
        ("\"merges\":[]", "\"merges\":null", false),
        ("\"padding\":null", "\"padding\":null,\"padding\":null", true),
        ("\"padding\":null", "\"more\":null", false),
        ("\"added_tokens\":[]", "\"added_tokens\":null", false),
        ("\"added_tokens\":[]", "\"added_tokens\":[1]", false),
        ("\"added_tokens\":[],", "", true),
    ];
    for (from, to, expected) in cases {
        assert!(json.contains(from), "{from}");
        assert_eq!(loads(&json.replace(from, to)), expected, "{from} to {to}");
    }
    assert!(!loads("{}"));
    assert!(!loads(&format!("{json}x")));
    assert!(loads(&format!(" \n{json}\r\t")));
    let unigram = |more: &str| format!("{{\"model\":{{\"type\":\"Unigram\",\"vocab\":[[\"a\",1]]{more}}}}}");
    for (more, expected) in [
        ("", true),
        (",\"unk_id\":0", true),
        (",\"unk_id\":1", false),
        (",\"unk_id\":null", true),
        (",\"unk_id\":\"0\"", false),
    ] {
        assert_eq!(loads(&unigram(more)), expected, "{more}");
    }
    for vocab in ["[[\"a\"]]", "[[\"a\",1,2]]", "[[\"a\",null]]", "[[1,1]]", "[\"a\"]", "[[\"a\",1e999]]"] {
        assert!(!loads(&unigram("").replace("[[\"a\",1]]", vocab)), "{vocab}");
    }
    // Bytes that are not UTF-8, in a token and in what is passed over.
    for member in ["\"a\":0", "\"truncation\":null"] {
        let mut bytes = json.clone().into_bytes();
        let at = json.find(member).expect("a member") + 1;
        bytes[at] = 0xff;
        assert!(Tokenizer::from_json(&bytes).is_err() && tokenizers::Tokenizer::from_bytes(&bytes).is_err());
    }
    let mut bytes = json.replace("\"merges\":[]", "\"merges\":[],\"more\":\"é\"").into_bytes();
    assert!(Tokenizer::from_json(&bytes).is_ok());
    let at = bytes.iter().position(|&byte| byte == 0xc3).expect("é");
    bytes.remove(at);
    assert!(Tokenizer::from_json(&bytes).is_err() && tokenizers::Tokenizer::from_bytes(&bytes).is_err());
    // The list is enough to see that a model without a type is a Unigram.
    assert!(loads(&unigram("").replace("\"type\":\"Unigram\",", "")));
}

#[test]
fn trap_35_word_piece() {
    let list = ["##uelo", "Ara", "##új", "##o", "No", ".", "?", "'", "s", "do", "not", "n't", " ."];
    let file = words(&list).decoder(word_piece(true)).add("[CLS]", 13, "s");
    let cases: [(&[u32], bool, &str); 9] = [
        (&[0, 1, 2, 4], false, "##uelo Araúj No"),
        (&[1, 5, 4, 6], false, "Ara. No?"),
        (&[1, 7, 8], false, "Ara ' s"),
        (&[1, 9, 10], false, "Ara do not"),
        (&[9, 11], false, "don't"),
        (&[12], false, "."),
        (&[13, 0, 1], true, "##uelo Ara"),
        (&[13, 0, 1], false, "[CLS]uelo Ara"),
        (&[], false, ""),
    ];
    check(&file, &cases);
    check(&words(&["a", "do not", " do not"]).decoder(word_piece(true)), &[(&[0, 1, 2], false, "a don't  don't")]);
    check(&words(&["Ara", "."]).decoder(word_piece(false)), &[(&[0, 1], false, "Ara .")]);
    let empty = json!({"type": "WordPiece", "prefix": "", "cleanup": false});
    check(&words(&["a", "b"]).decoder(empty), &[(&[0, 1], false, "ab")]);
}

#[test]
fn trap_36_bpe_decoder() {
    let decoder = |suffix: &str| json!({"type": "BPEDecoder", "suffix": suffix});
    let file = words(&["a</w>b", "llo</w>"]).decoder(decoder("</w>"));
    check(&file, &[(&[0, 0], false, "a bab"), (&[1, 1], false, "llo llo"), (&[1, 99], false, "llo"), (&[], false, "")]);
    // As with any empty pattern of Rust, a space goes everywhere.
    check(&words(&["ab"]).decoder(decoder("")), &[(&[0, 0], false, " a b ab")]);
}

#[test]
fn trap_37_ctc() {
    let decoder =
        |cleanup: bool| json!({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": cleanup});
    let file = words(&["<pad>", "h", "l", "|", "<pad>x", " ."]).decoder(decoder(true)).add("<s>", 6, "s");
    let cases: [(&[u32], bool, &str); 6] = [
        (&[0, 0, 1, 2, 2, 0, 2, 3, 3, 1], false, "hll h"),
        (&[4, 1], false, "xh"),
        (&[1, 6, 1], true, "h"),
        (&[1, 99, 1], false, "h"),
        (&[1, 6, 1], false, "h<s>h"),
        (&[1, 5], false, "h."),
    ];
    check(&file, &cases);
    check(&file.decoder(decoder(false)), &[(&[1, 3, 1, 5], false, "h|h .")]);
    let empty = json!({"type": "CTC", "pad_token": "", "word_delimiter_token": "", "cleanup": true});
    check(&words(&["ab", ""]).decoder(empty), &[(&[0, 1, 0], false, " a b   a b ")]);
}

#[test]
fn trap_38_strip() {
    let file = words(&["HHHi", "iHH", "HH", "H", "", "ééxé"]).decoder(strip("H", 1, 0));
    check(&file, &[(&[0, 1, 2, 3, 4], false, "HHiiHHH")]);
    check(&file.clone().decoder(strip("H", 0, 1)), &[(&[0, 1, 2], false, "HHHiiHH")]);
    check(&file.clone().decoder(strip("é", 1, 3)), &[(&[5], false, "éx")]);
    // The reference panics on the tokens that are cut to nothing.
    check(
        &file.clone().decoder(strip("H", 2, 2)),
        &[(&[0, 2, 1], false, "Hii"), (&[3, 1], false, "i"), (&[4], false, "")],
    );
    check(&file.decoder(sequence(&[simple("Fuse"), strip("H", 0, 1)])), &[(&[], false, ""), (&[1], false, "iH")]);
    let json = words(&["H"]).decoder(strip("H", 1, 0)).json();
    for start in ["-1", "1.0", "1e0", "\"1\"", "null", "18446744073709551616"] {
        assert!(!loads(&json.replace("\"start\":1", &format!("\"start\":{start}"))), "{start}");
    }
    assert!(loads(&json.replace("\"start\":1", "\"start\":18446744073709551615")));
    assert!(!loads(&json.replace("\"content\":\"H\"", "\"content\":\"HH\"")));
}

#[test]
fn trap_39_replace_is_literal() {
    check(&words(&["aaa"]).decoder(replace("aa", "X")), &[(&[0, 0], false, "XaXa")]);
    check(&words(&["a.c", "abc"]).decoder(replace(".", "$1")), &[(&[0, 1], false, "a$1cabc")]);
    check(&words(&["ab", "", "é"]).decoder(replace("", "-")), &[(&[0, 1, 2], false, "-a-b--é-")]);
    check(&words(&["a", "b"]).decoder(replace("ab", "X")), &[(&[0, 1], false, "ab")]);
    let fused = sequence(&[simple("Fuse"), replace("ab", "X")]);
    check(&words(&["a", "b"]).decoder(fused), &[(&[0, 1], false, "X")]);
    for pattern in
        [json!({}), json!({"String": "a", "Regex": "b"}), json!("a"), json!({"String": 1}), json!({"Other": "a"})]
    {
        let decoder = json!({"type": "Replace", "pattern": pattern, "content": ""});
        assert!(!words(&["a"]).decoder(decoder).loads());
    }
}

#[test]
#[cfg(feature = "general")]
fn trap_39_regular_expressions() {
    let regex = |pattern: &str| json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": "<$0>"});
    check(&words(&["a12b", "", "3"]).decoder(regex("[0-9]+")), &[(&[0, 1, 2], false, "a<$0>b<$0>")]);
    let fused = sequence(&[simple("Fuse"), regex("(?<=a)b")]);
    check(&words(&["a", "b"]).decoder(fused.clone()), &[(&[0, 1, 1], false, "a<$0>b")]);
    assert!(!words(&["a"]).decoder(regex("(")).loads());
    assert_eq!(load(&words(&["a"]).decoder(fused).json()).info().engine, "general");
}

#[test]
fn trap_40_no_decoder_joins_with_a_space() {
    let file = words(&["a", "b", ""]).add("<s>", 2, "s").decoder(Value::Null);
    check(&file, &[(&[0, 3, 1, 99, 0], false, "a <s> b a"), (&[0, 3, 1], true, "a b"), (&[2, 2], false, " ")]);
    check(&words(&["a", "b"]).decoder(sequence(&[])), &[(&[0, 1], false, "ab")]);
}

#[test]
fn trap_41_vocabularies_of_every_shape() {
    let mut file = words(&[]).add("b", 9, "s").add("<X>", 9, "");
    file.model = json!({"type": "Unigram", "vocab": [["a", 0], ["b", -1.5]], "unk_id": null});
    check(&file, &[(&[0, 1, 2], false, "ab<X>"), (&[0, 1, 2], true, "a<X>")]);
    let far = map([("a", 0), ("b", u32::MAX), ("c", 1 << 31)]).add("<X>", 7, "s");
    check(&far, &[(&[0, u32::MAX, 1 << 31, 3, u32::MAX - 1], false, "abc<X>"), (&[u32::MAX, 3], true, "b")]);
    let tokenizer = load(&far.json());
    let known: Vec<u32> = [0, 1, 2, 3, 4, 1 << 31, u32::MAX].into_iter().filter(|&id| tokenizer.contains(id)).collect();
    assert_eq!(known, [0, 3, 1 << 31, u32::MAX]);
}

#[test]
fn trap_42_other_members_do_nothing() {
    let json = bytes(&["Ġa"]).json();
    let with = json
        .replace("\"truncation\":null", r#""truncation":{"max_length":1,"strategy":"LongestFirst","stride":0}"#)
        .replace("\"pre_tokenizer\":null", r#""pre_tokenizer":{"type":"Whitespace"}"#)
        .replace(
            "\"post_processor\":null",
            r#""post_processor":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#,
        );
    assert!(loads(&with));
    assert_eq!(ours(&load(&with), &[0, 0], false), " a a");
}

#[test]
fn facts_about_a_tokenizer() {
    let file = words(&["a", "<s>"]).add("<X>", 9, "s").add("<Y>", 9, "").add("<s>", 1, "s").decoder(spm4());
    let info = load(&file.json()).info();
    assert_eq!(info.vocab_size, 4);
    assert_eq!(info.decoder, "Sequence[Replace, ByteFallback, Fuse, Strip]");
    assert_eq!(info.special_tokens, [(1, "<s>".to_owned()), (2, "<X>".to_owned())]);
    let nested = sequence(&[simple("Fuse"), sequence(&[byte_level()])]);
    assert_eq!(load(&file.clone().decoder(nested).json()).info().decoder, "Sequence[Fuse, Sequence[ByteLevel]]");
    assert_eq!(load(&file.decoder(Value::Null).json()).info().decoder, "none");
}

#[test]
fn other_files_are_named() {
    let cases: [(&[u8], ErrorCode, &str); 17] = [
        (b"", ErrorCode::InvalidTokenizer, "empty"),
        (b" \n", ErrorCode::InvalidTokenizer, "empty"),
        (b"\x1f\x8b\x08", ErrorCode::CompressedInput, "decompress"),
        (b"IQ== 0\nIg== 1\n", ErrorCode::UnsupportedTokenizer, "tiktoken"),
        (b"\x0a\x0e\x0a\x05<unk>\x15\x00\x00\x80\xbf\x18\x02", ErrorCode::UnsupportedTokenizer, "SentencePiece"),
        (b"<!DOCTYPE html><html>", ErrorCode::InvalidTokenizer, "HTML"),
        (b"PK\x03\x04rest", ErrorCode::UnsupportedTokenizer, "zip"),
        (b"\x10\0\0\0\0\0\0\0{\"__metadata__\":{}}", ErrorCode::UnsupportedTokenizer, "safetensors"),
        (b"GGUF\x03\0\0\0", ErrorCode::UnsupportedTokenizer, "GGUF"),
        (b"version https://git-lfs.github.com/spec/v1\n", ErrorCode::InvalidTokenizer, "LFS"),
        (b"#version: 0.2\nt h\n", ErrorCode::UnsupportedTokenizer, "merges.txt"),
        (b"[PAD]\n[unused0]\n", ErrorCode::UnsupportedTokenizer, "vocab.txt"),
        (b"{\"config\":{\"pattern\":\"x\"},\"vocab\":[]}", ErrorCode::UnsupportedTokenizer, "tekken"),
        (b"{\"!\":0,\"a\":1}", ErrorCode::UnsupportedTokenizer, "vocab.json"),
        (b"{\"add_bos_token\":true}", ErrorCode::UnsupportedTokenizer, "tokenizer_config.json"),
        (b"{\"error\":\"Repository not found\"}", ErrorCode::InvalidTokenizer, "server"),
        (b"\xef\xbb\xbf{}", ErrorCode::InvalidTokenizer, "byte order mark"),
    ];
    for (bytes, code, word) in cases {
        let error = Tokenizer::from_json(bytes).expect_err("no tokenizer.json");
        assert_eq!(error.code(), code, "{error}");
        assert!(error.message().contains(word), "{error} lacks {word}");
    }
}
