//! The invariants of the fuzz targets over every recorded body, and over what a few changes make of it.
#![cfg(not(target_arch = "wasm32"))]

#[path = "common/invariants.rs"]
mod invariants;

use std::path::{Path, PathBuf};

use token2text::{Format, Layout};

/// Longer bodies are cut: the invariants are about shapes.
const LONGEST: usize = 20_000;

/// A generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }

    /// The bytes with a few changes.
    fn change(&mut self, bytes: &[u8]) -> Vec<u8> {
        const PIECES: [&[u8]; 12] = [
            b"null",
            b"[]",
            b"{}",
            b"[0,1]",
            b"\"",
            b"\\",
            b",",
            b"\n",
            b"\"token_ids\":[0],",
            b"data: ",
            &[0xFF],
            &[0x80, 0],
        ];
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            let end = (at + self.below(12)).min(bytes.len());
            match self.below(5) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..end)),
                2 => drop(bytes.splice(at..end, PIECES[self.below(PIECES.len())].iter().copied())),
                3 => {
                    let copy = bytes[at..end].to_vec();
                    let to = self.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }
}

fn fixtures(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fixtures(&path, out);
        } else {
            out.push(path);
        }
    }
}

/// The recorded bodies, as bytes.
fn bodies() -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    fixtures(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), &mut paths);
    paths.retain(|path| !["meta.json", "expected.json", "README.md"].iter().any(|name| path.ends_with(name)));
    paths.sort();
    let mut bodies: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    for body in &mut bodies {
        body.truncate(LONGEST);
    }
    assert!(bodies.len() > 100, "only {} bodies", bodies.len());
    bodies
}

#[test]
fn recorded_and_changed_bodies() {
    let mut numbers = Numbers(1);
    const FORMATS: [Format; 7] = [
        Format::Record,
        Format::OtlpJson,
        Format::OtlpProto,
        Format::Mlflow,
        Format::Weave,
        Format::Trackio,
        Format::Sse,
    ];
    for body in bodies() {
        invariants::body(&body, Format::Auto);
        for _ in 0..4 {
            let changed = numbers.change(&body);
            invariants::body(&changed, Format::Auto);
            invariants::body(&changed, FORMATS[numbers.below(FORMATS.len())]);
        }
    }
}

#[test]
fn changed_layouts_and_options() {
    let mut numbers = Numbers(2);
    let builtin = include_bytes!("../src/layouts/builtin.json");
    assert!(Layout::from_json(builtin).is_ok());
    for _ in 0..200 {
        invariants::layouts(&numbers.change(builtin));
    }
    let layout = br#"[{ "name": "l", "when": ["/output/choices", ["/output/rows", "/attributes/a/!json"]], "each": "/output/choices/*",
        "fields": [{ "kind": "response", "ids": ["/ids"], "where": { "index": 0 }, "text": "/text", "existing": ["/t"] }] },
      { "name": "m", "when": ["/output"], "fields": [{ "kind": "prompt", "ids": "/output/token_ids", "text": "/output/text",
        "select": { "mask": "/output/mask", "value": 1 } }, { "kind": "response", "ids": "/output/choices/*/ids", "join": "auto",
        "by": "index", "text": "/response_text", "logprobs": "/output/x" }] }]"#;
    let options = br#"{"format": "record", "layouts": ["verl", "auto"], "existing": "replace", "skipSpecialTokens": true, "ids": "drop",
        "maxTextChars": 2, "limits": {"bodyBytes": 1000, "depth": 9, "idsPerField": 3, "textBytesPerField": 10}}"#;
    for _ in 0..2000 {
        invariants::layouts(&numbers.change(layout));
        invariants::options(&numbers.change(options));
    }
}

#[test]
fn changed_tokenizers() {
    let mut numbers = Numbers(3);
    let handmade: serde_json::Value = serde_json::from_str(include_str!("oracle/handmade.json")).unwrap();
    for item in handmade["items"].as_array().unwrap() {
        let text = match &item["raw"] {
            serde_json::Value::String(raw) => raw.clone(),
            _ => item["tokenizer"].to_string(),
        };
        for round in 0..4 {
            let text = if round == 0 { text.clone().into_bytes() } else { numbers.change(text.as_bytes()) };
            invariants::tokenizer(&text);
        }
    }
    for kind in 0..4 {
        // As it is, the hash fits.
        invariants::packed(&[kind]);
        for _ in 0..500 {
            let changes: Vec<u8> = (0..=3 * numbers.below(4)).map(|_| numbers.below(256) as u8).collect();
            invariants::packed(&[&[kind], &changes[..]].concat());
        }
    }
}

#[test]
fn random_ids() {
    let mut numbers = Numbers(4);
    for kind in 0..2 * invariants::DECODER_KINDS {
        let first = (kind / 2) | ((kind % 2) << 7);
        for _ in 0..2000 {
            let ids = (0..numbers.below(20)).map(|_| numbers.below(256) as u8);
            let data: Vec<u8> = std::iter::once(first).chain(ids).collect();
            invariants::decode(&data);
            invariants::pieces(&data);
            invariants::stream(&data);
        }
    }
}
