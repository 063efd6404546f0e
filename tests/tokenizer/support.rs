//! Small tokenizer.json files, and the reference's answers about them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};
use token2text::{DecodeOptions, Tokenizer};

#[path = "../common/parts.rs"]
mod parts;

/// A tokenizer.json to be.
#[derive(Debug, Clone)]
pub struct File {
    pub added: Vec<Value>,
    pub normalizer: Value,
    pub decoder: Value,
    pub model: Value,
}

/// A file with the words as ids 0, 1, 2 and so on.
pub fn words(words: &[&str]) -> File {
    map(words.iter().zip(0..).map(|(word, id)| (*word, id)))
}

/// A file with the given ids.
pub fn map<'a>(entries: impl IntoIterator<Item = (&'a str, u32)>) -> File {
    let vocab: serde_json::Map<String, Value> =
        entries.into_iter().map(|(word, id)| (word.into(), id.into())).collect();
    let model = json!({"type": "BPE", "vocab": vocab, "merges": []});
    File { added: Vec::new(), normalizer: Value::Null, decoder: json!({"type": "Fuse"}), model }
}

impl File {
    /// Adds a token; `flags` may hold `s` for special and `n` for normalized.
    pub fn add(mut self, content: &str, id: u32, flags: &str) -> File {
        self.added.push(json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": flags.contains('n'), "special": flags.contains('s'),
        }));
        self
    }

    pub fn decoder(mut self, decoder: Value) -> File {
        self.decoder = decoder;
        self
    }

    pub fn normalizer(mut self, normalizer: Value) -> File {
        self.normalizer = normalizer;
        self
    }

    pub fn json(&self) -> String {
        json!({
            "version": "1.0", "truncation": null, "padding": null, "added_tokens": self.added,
            "normalizer": self.normalizer, "pre_tokenizer": null, "post_processor": null,
            "decoder": self.decoder, "model": self.model,
        })
        .to_string()
    }

    /// Our text, after a check that the reference gives the same.
    #[track_caller]
    pub fn decode(&self, ids: &[u32], skip_special_tokens: bool) -> String {
        let json = self.json();
        let text = ours(&load(&json), ids, skip_special_tokens);
        match reference(&json).map(|tokenizer| reference_decode(&tokenizer, ids, skip_special_tokens)) {
            Some(Some(expected)) => assert_eq!(text, expected, "the reference differs"),
            Some(None) => {}
            None => panic!("the reference refuses the file"),
        }
        text
    }

    /// Whether the file loads, after a check that the reference says the same.
    #[track_caller]
    pub fn loads(&self) -> bool {
        loads(&self.json())
    }
}

#[track_caller]
pub fn load(json: &str) -> Tokenizer {
    Tokenizer::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether a text loads, after a check that the reference says the same.
#[track_caller]
pub fn loads(json: &str) -> bool {
    let ours = Tokenizer::from_json(json.as_bytes());
    assert_eq!(ours.is_ok(), reference(json).is_some(), "the reference differs: {ours:?}");
    ours.is_ok()
}

/// Our text, after a check that all ways to it agree.
#[track_caller]
pub fn ours(tokenizer: &Tokenizer, ids: &[u32], skip_special_tokens: bool) -> String {
    let options = DecodeOptions { skip_special_tokens };
    let text = tokenizer.decode(ids, options);
    assert_eq!(String::from_utf8_lossy(&tokenizer.decode_bytes(ids, options)), text);
    let mut appended = b"before".to_vec();
    tokenizer.decode_into(ids, options, &mut appended);
    assert_eq!(String::from_utf8_lossy(&appended[6..]), text);
    parts::check(tokenizer, ids, skip_special_tokens);
    text
}

/// The reference's tokenizer, if it takes the text.
pub fn reference(json: &str) -> Option<tokenizers::Tokenizer> {
    reference_or_panic(json).flatten()
}

/// The same; the outer `None` if it panics.
pub fn reference_or_panic(json: &str) -> Option<Option<tokenizers::Tokenizer>> {
    quiet(|| tokenizers::Tokenizer::from_bytes(json).ok())
}

/// The reference's text, or `None` where it panics.
pub fn reference_decode(tokenizer: &tokenizers::Tokenizer, ids: &[u32], skip_special_tokens: bool) -> Option<String> {
    quiet(|| tokenizer.decode(ids, skip_special_tokens).expect("decoding returns no errors"))
}

/// Runs something that may panic, without the message of the panic.
fn quiet<T>(run: impl FnOnce() -> T) -> Option<T> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    thread_local!(static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(run)).ok();
    QUIET.set(false);
    result
}
