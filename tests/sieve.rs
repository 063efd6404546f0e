//! Spans that their keys tell to have no ids are not looked into: the body and the report are those of a run that looks into
//! every span. The keys are spelled in every way that JSON has, in JSON in strings to any depth, and sometimes broken.
#![cfg(not(target_arch = "wasm32"))]

mod common;
#[path = "common/otlp_encode.rs"]
mod otlp_encode;

use common::letters;
use serde_json::json;
use token2text::{EnrichOptions, Format, Layout, enrich};

/// A layout that asks for no key, so that no span is passed over. It finds nothing.
const NO_KEYS: &str = r#"{ "name": "nothing", "when": ["/output"],
    "fields": [{ "kind": "prompt", "ids": "/output/0/0/0/0/0/0/0/0", "text": "/output/nothing" }] }"#;

/// A layout of a user whose key is spelled in several ways.
const SLASH: &str = r#"{ "name": "slash", "when": ["/output/!json/a~1b"],
    "fields": [{ "kind": "response", "ids": "/output/!json/a~1b", "text": "/output/!json/text" }] }"#;

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn one<'l>(&mut self, list: &[&'l str]) -> &'l str {
        list[self.below(list.len())]
    }

    /// A JSON string, some of whose characters are spelled by their numbers or with a backslash that need not be.
    fn quoted(&mut self, content: &str, often: usize) -> String {
        let mut out = String::from("\"");
        for char in content.chars() {
            let is_odd = self.below(often) == 0;
            match char {
                '/' if is_odd => out.push_str("\\/"),
                _ if is_odd => {
                    let mut units = [0; 2];
                    for unit in char.encode_utf16(&mut units) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                '"' | '\\' => out.extend(['\\', char]),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                _ => out.push(char),
            }
        }
        out.push('"');
        out
    }

    /// An object with a few members, and what may be ids in some.
    fn object(&mut self, depth: usize) -> String {
        const KEYS: [&str; 18] = [
            "prompt_ids",
            "response_ids",
            "token_ids",
            "prompt_token_ids",
            "output_ids",
            "logprobs",
            "prompt",
            "a/b",
            "model",
            "content",
            "choices",
            "",
            "!json",
            "text",
            "inputs.token_ids",
            "output.token_ids",
            "output.value",
            "traceId",
        ];
        let often = [3, 40, 1000, 1000][self.below(4)];
        let mut members = Vec::new();
        for _ in 0..self.below(4) {
            let key = self.one(&KEYS);
            let value = match self.below(7) {
                0 | 1 => "[0, 1, 2]".to_owned(),
                2 if depth > 0 => self.object(depth - 1),
                3 if depth > 0 => {
                    let inside = self.object(depth - 1);
                    let broken = inside.replacen('}', "", self.below(12) / 11);
                    self.quoted(&broken, often)
                }
                4 if depth > 0 => format!("[{}]", self.object(depth - 1)),
                5 => self.quoted("say \"token_ids\": [1]\n\\ \u{e9}\u{1F600}", often),
                _ => self.one(&["null", "1", "\"x\"", "[]", "\"[0, 1]\"", "\"{'token_ids': [0]}\""]).to_owned(),
            };
            let space = self.one(&["", " ", "\n"]);
            members.push(format!("{}{space}:{space}{value}", self.quoted(key, often)));
        }
        format!("{{{}}}", members.join(self.one(&[",", ", "])))
    }

    /// What stands in a place of a span: an object, in a string or not.
    fn place(&mut self) -> String {
        let object = self.object(2);
        let often = [3, 200][self.below(2)];
        match self.below(6) {
            0 => object,
            1 => self.quoted("a text with \"prompt_ids\"", 200),
            2 => {
                let string = self.quoted(&object, often);
                self.quoted(&string, often)
            }
            _ => self.quoted(&object, often),
        }
    }
}

/// The same body and report with and without the sieve; how many fields were found.
fn check(body: &[u8], format: Format, layouts: &str) -> usize {
    let mut options = EnrichOptions::default();
    options.format = format;
    options.layouts.extend(Layout::from_json(layouts.as_bytes()).unwrap());
    let shown = String::from_utf8_lossy(body);
    let sifted = enrich(body, &letters(), &options).unwrap_or_else(|error| panic!("{shown}: {error}"));
    options.layouts.extend(Layout::from_json(NO_KEYS.as_bytes()).unwrap());
    assert_eq!(sifted, enrich(body, &letters(), &options).unwrap(), "{shown}");
    sifted.report.fields.len()
}

/// So many spans of a kind, with the layouts that ship, and sometimes with a user's.
fn spans(seed: u64, format: Format, body: &mut dyn FnMut(&mut Random) -> Vec<u8>) {
    let mut random = Random(seed);
    let (mut with, mut without) = (0, 0);
    for i in 0..1000 {
        let layouts = if i % 8 == 0 { SLASH } else { "[]" };
        match check(&body(&mut random), format, layouts) {
            0 => without += 1,
            _ => with += 1,
        }
    }
    assert!(with > 100 && without > 100, "{with} {without}");
}

#[test]
fn of_records() {
    spans(1, Format::Record, &mut |random| {
        let mut lines = String::new();
        for _ in 0..=random.below(2) {
            let mut members = Vec::new();
            for key in ["inputs", "output", "outputs", "response", "attributes", "traceId", "spanId", "events"] {
                if random.below(3) == 0 {
                    let value = if key == "attributes" { random.object(1) } else { random.place() };
                    members.push(format!("{}: {}", random.quoted(key, 300), value.replace('\n', " ")));
                }
            }
            lines.push_str(&format!("{{{}}}\n", members.join(", ")));
        }
        lines.into_bytes()
    });
}

#[test]
fn of_otlp_json() {
    spans(2, Format::OtlpJson, &mut |random| {
        let mut spans = Vec::new();
        for _ in 0..=random.below(2) {
            let mut pairs = Vec::new();
            for _ in 0..random.below(4) {
                let key = random.one(&[
                    "input.value",
                    "output.value",
                    "mlflow.spanOutputs",
                    "token_ids",
                    "output.x",
                    "model",
                ]);
                let value = random.place();
                let value = if value.starts_with('{') {
                    "{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"}]}}".into()
                } else {
                    format!("{{\"stringValue\":{value}}}")
                };
                pairs.push(format!("{{\"key\":{},\"value\":{value}}}", random.quoted(key, 100)));
            }
            spans.push(format!("{{\"name\":\"s\",\"attributes\":[{}]}}", pairs.join(",")));
        }
        format!("{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{}]}}]}}]}}", spans.join(",")).into_bytes()
    });
}

#[test]
fn of_otlp_in_protocol_buffers() {
    spans(3, Format::OtlpProto, &mut |random| {
        let mut pairs = Vec::new();
        for _ in 0..random.below(4) {
            let key =
                random.one(&["input.value", "output.value", "mlflow.spanOutputs", "token_ids", "output.x", "model"]);
            let content = random.object(2);
            let value = match random.below(5) {
                0 => json!({ "kvlistValue": { "values": [
                    { "key": random.one(&["prompt_ids", "token_ids", "x"]), "value": { "arrayValue": { "values": [{ "intValue": "1" }] } } },
                ] } }),
                1 => json!({ "arrayValue": { "values": [{ "intValue": "1" }] } }),
                2 => json!({ "stringValue": random.quoted(&content, 200) }),
                _ => json!({ "stringValue": content }),
            };
            pairs.push(json!({ "key": key, "value": value }));
        }
        let events = json!([{ "name": "e", "attributes": pairs.clone().split_off(pairs.len() / 2) }]);
        let span = json!({ "name": "s", "attributes": pairs, "events": events });
        otlp_encode::request(&json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] }))
    });
}

#[test]
fn of_mlflow() {
    spans(4, Format::Mlflow, &mut |random| {
        let mut members = Vec::new();
        for key in
            ["mlflow.spanInputs", "mlflow.spanOutputs", "prompt_token_ids", "output.token_ids", "mlflow.traceRequestId"]
        {
            if random.below(2) == 0 {
                let value = random.place();
                members.push(format!("{}: {value}", random.quoted(key, 200)));
            }
        }
        format!("{{\"spans\": [{{\"name\": \"s\", \"attributes\": {{{}}}}}]}}", members.join(", ")).into_bytes()
    });
}
