//! Files that were made to do harm, whole and as they come: an error that says where, and no more memory than is known
//! beforehand.

use serde_json::json;
use token2text::{Error, ErrorCode, LoadOptions, Tokenizer, TokenizerLoader};

use crate::support::words;

/// Loads what comes in chunks.
fn load<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Tokenizer, Error> {
    let mut loader = TokenizerLoader::new(LoadOptions::default())?;
    chunks.into_iter().try_for_each(|chunk| loader.push(chunk))?;
    loader.finish()
}

#[track_caller]
fn refused(result: Result<Tokenizer, Error>, code: ErrorCode, what: &str) {
    let error = result.err().unwrap_or_else(|| panic!("it loads: {what}"));
    assert_eq!(error.code(), code, "{error}");
    assert!(error.message().contains(what), "{error} has no {what:?}");
}

/// A file with `part` once, in the place of a small value.
fn around(part: &str, json: &str) -> (String, String) {
    let (before, after) = json.split_once(part).expect("the part");
    (before.to_owned(), after.to_owned())
}

#[test]
fn the_result_does_not_depend_on_the_chunks() {
    // Longer than a window, so that many things are cut at its end.
    let list: Vec<String> = (0..9000).map(|id| format!("token \n é▁日本 {id}")).collect();
    let mut file = words(&list.iter().map(String::as_str).collect::<Vec<_>>()).add("<s>", 9000, "s");
    file.model["merges"] = json!(vec![json!(["▁", "\u{1f600}\t"]); 9000]);
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(&file.json()).unwrap()).unwrap();
    for text in [file.json(), pretty] {
        let whole = Tokenizer::from_json(text.as_bytes()).unwrap().to_packed();
        let damaged = text.replacen("8888,", "8888x,", 1);
        let error = Tokenizer::from_json(damaged.as_bytes()).unwrap_err();
        for size in [1, 2, 3, 7, 1000, 64 << 10, 100_000] {
            assert!(load(text.as_bytes().chunks(size)).unwrap().to_packed() == whole, "chunks of {size}");
            assert!(load(whole.chunks(size)).unwrap().to_packed() == whole, "packed, chunks of {size}");
            assert_eq!(load(damaged.as_bytes().chunks(size)).unwrap_err(), error, "chunks of {size}");
        }
        for end in (0..text.len()).step_by(10_007) {
            refused(load(text.as_bytes()[..end].chunks(4096)), ErrorCode::InvalidTokenizer, "");
        }
    }
}

#[test]
fn an_error_stays_an_error() {
    let mut loader = TokenizerLoader::new(LoadOptions::default()).unwrap();
    let error = loader.push(&[b'x'; 100_000]).unwrap_err();
    assert_eq!(loader.push(b"{}").unwrap_err(), error);
    assert_eq!(loader.finish().unwrap_err(), error);
}

#[test]
fn wrong_types_are_refused_with_their_path() {
    let file = words(&["a", "b"]).add("<s>", 2, "s").add("<t>", 3, "").json();
    let unigram = file.replace(r#""type":"BPE""#, r#""type":"Unigram""#);
    for value in ["null", "true", "7", "-1.5e3", "\"text\"", "[]", "{}", "[[[7]]]", "{\"a\":{\"b\":null}}"] {
        for (from, path) in [
            (r#""1.0""#, "version"),
            (r#"{"type":"Fuse"}"#, "decoder"),
            (
                r#"{"id":3,"content":"<t>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":false}"#,
                "added_tokens[1]",
            ),
            (r#""<t>""#, "added_tokens[1].content"),
            (r#""BPE""#, "model.type"),
        ] {
            // Of what is not refused the reference knows.
            let changed = file.replacen(from, value, 1);
            assert_ne!(changed, file, "{from}");
            let accepted = tokenizers::Tokenizer::from_bytes(&changed).is_ok();
            match Tokenizer::from_json(changed.as_bytes()) {
                Ok(_) => assert!(accepted, "{path} {value}"),
                Err(error) => {
                    assert!(!accepted, "{path} {value}");
                    assert!(error.message().starts_with(path), "{path} {value}: {error}");
                }
            }
        }
        for (from, path) in [("\"a\":0", "model.vocab"), ("\"id\":3", "added_tokens[1].id")] {
            let changed = file.replacen(from, &format!("{}:{value}", from.split_once(':').unwrap().0), 1);
            if value != "7" {
                refused(Tokenizer::from_json(changed.as_bytes()), ErrorCode::InvalidTokenizer, path);
            }
        }
        for list in [
            format!("[{value}]"),
            format!("[[\"a\",1],{value}]"),
            format!("[[{value},1]]"),
            format!("[[\"a\",{value}]]"),
        ] {
            let changed = unigram.replacen(r#"{"a":0,"b":1}"#, &list, 1);
            assert_ne!(changed, unigram);
            let result = Tokenizer::from_json(changed.as_bytes());
            let accepted = tokenizers::Tokenizer::from_bytes(&changed).is_ok();
            match result {
                Ok(_) => assert!(accepted, "{list}"),
                Err(error) => assert!(!accepted && error.message().starts_with("model.vocab["), "{list}: {error}"),
            }
        }
    }
}

#[test]
fn what_is_no_utf8_is_refused_wherever_it_stands() {
    let json = words(&["é", "b"])
        .add("<s>", 2, "s")
        .json()
        .replace("\"merges\":[]", "\"merges\":[\"é b\"],\"more\":{\"é\":0}");
    let clean = json.as_bytes();
    assert!(load(clean.chunks(5)).is_ok());
    // Overlong, a surrogate, too large, a lead alone, a continuation alone.
    for bad in [
        &b"\xc0\x80"[..],
        b"\xe0\x80\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88\x80\x80\x80",
        b"\xe9",
        b"\x80",
    ] {
        for (at, _) in json.match_indices('é') {
            let changed = [&clean[..at], bad, &clean[at + 2..]].concat();
            let whole = Tokenizer::from_json(&changed);
            let place = format!("at byte {at}: text that is not UTF-8");
            refused(whole, ErrorCode::InvalidTokenizer, &place);
            refused(load(changed.chunks(3)), ErrorCode::InvalidTokenizer, &place);
        }
    }
    refused(load([&clean[..json.find('é').unwrap() + 1]]), ErrorCode::InvalidTokenizer, "text that is not UTF-8");
}

#[test]
fn a_gigabyte_of_white_space_takes_no_memory_and_is_refused() {
    let spaces = vec![b' '; 1 << 20];
    let (before, _) = around("null", &words(&["a"]).json());
    for start in ["", "{", before.as_str(), "{\"model\":{\"vocab\":{"] {
        let chunks = std::iter::once(start.as_bytes()).chain(std::iter::repeat_n(&spaces[..], 1024));
        refused(load(chunks), ErrorCode::LimitExceeded, "256 MiB");
    }
    // Inside a member it would be waited for.
    let chunks = std::iter::once(&b"{\"model\""[..]).chain(std::iter::repeat_n(&spaces[..], 1024));
    refused(load(chunks), ErrorCode::LimitExceeded, "16 MiB");
}

#[test]
fn long_parts_are_refused_before_they_take_memory() {
    let text = vec![b'x'; 1 << 20];
    let numbers = b"1,".repeat(1 << 19);
    let strings = b"\"x\",".repeat(1 << 18);
    let file = words(&["a"]).add("<s>", 1, "s").json();
    for (start, more) in [
        ("{\"normalizer\":\"", &text),
        ("{\"normalizer\":[", &numbers),
        ("{\"decoder\":[", &strings),
        ("{\"padding\":[", &numbers),
        ("{\"version\":[", &strings),
        ("{\"post_processor\":\"", &text),
        ("{\"model\":{\"vocab\":{\"", &text),
        ("{\"model\":{\"unk_id\":[", &numbers),
        ("{\"model\":{\"merges\":[1", &vec![b'0'; 1 << 20]),
        ("{\"added_tokens\":[{\"more\":[", &strings),
        ("{\"", &text),
    ] {
        // Only the general engine keeps it.
        if start.contains("padding") && !cfg!(feature = "general") {
            continue;
        }
        let chunks = std::iter::once(start.as_bytes()).chain(std::iter::repeat_n(&more[..], 40));
        refused(load(chunks), ErrorCode::LimitExceeded, "16 MiB");
    }
    // What is passed over may be long as a whole.
    for (part, more) in [("\"merges\":[", &strings), ("\"merges\":[", &numbers)] {
        let (before, after) = around(part, &file);
        let start = format!("{before}{part}");
        let end = format!("0{after}");
        let middle = std::iter::repeat_n(&more[..], 40);
        let chunks = std::iter::once(start.as_bytes()).chain(middle).chain(std::iter::once(end.as_bytes()));
        assert!(load(chunks).is_ok());
    }
}

#[test]
fn deep_nesting_is_refused_as_it_comes() {
    for open in ["[", "{\"a\":", "[[{\"b\":"] {
        for member in ["truncation", "decoder", "normalizer", "padding", "no such member"] {
            let start = format!("{{\"{member}\":");
            let chunks = std::iter::once(start.as_bytes()).chain(std::iter::repeat_n(open.as_bytes(), 200_000));
            refused(load(chunks), ErrorCode::InvalidTokenizer, "");
        }
        let chunks =
            std::iter::once(&b"{\"model\":{\"merges\":"[..]).chain(std::iter::repeat_n(open.as_bytes(), 200_000));
        refused(load(chunks), ErrorCode::InvalidTokenizer, "nested deeper than 1024");
    }
}

#[test]
fn huge_and_equal_ids_take_no_memory() {
    let ids: Vec<String> = (0..20).map(|at| format!("\"t{at}\":{}", u32::MAX - at % 3)).collect();
    let file = words(&["a"]).add("<s>", u32::MAX, "s").json().replace("\"a\":0", &ids.join(","));
    let tokenizer = load(file.as_bytes().chunks(2)).unwrap();
    assert_eq!(tokenizer.info().vocab_size, 4);
    assert!(tokenizer.to_packed().len() < 1000);
}

#[test]
#[cfg(feature = "general")]
fn a_file_for_the_general_engine_is_collected() {
    use token2text::{EncodeOptions, Engine};
    let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}"#;
    let options = LoadOptions { engine: Engine::General, ..LoadOptions::default() };
    let mut loader = TokenizerLoader::new(options).unwrap();
    json.chunks(3).try_for_each(|chunk| loader.push(chunk)).unwrap();
    assert_eq!(loader.finish().unwrap().encode("abb", EncodeOptions::default()).unwrap(), [2, 1]);
    let error = load(json.chunks(3)).unwrap().encode("abb", EncodeOptions::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::EngineNotAvailable);
}
