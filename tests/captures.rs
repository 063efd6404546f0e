//! Recorded bodies with the texts that must come out. Each capture says what its ids decode to, by the reference
//! library; `tests/fixtures/captures/README.md` explains the files.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{at, project, real_set};
use serde_json::Value;
use token2text::{Comparison, EnrichOptions, Enriched, Existing, FieldReport, Layout, Status, enrich, strip};

struct Capture {
    name: String,
    tokenizer: String,
    file: String,
    body: Vec<u8>,
    expected: Vec<Value>,
}

impl Capture {
    /// Whether verl or a record in its shape: only of these does `expected.json` say what verl's rule makes of them.
    fn is_verl(&self) -> bool {
        self.name.starts_with("verl-") || self.name.starts_with("edge-")
    }
}

/// Each body of each capture.
fn captures() -> Vec<Capture> {
    let mut captures = Vec::new();
    for entry in std::fs::read_dir(project("tests/fixtures/captures")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let json = |name: &str| -> Value { serde_json::from_slice(&json_bytes(&folder.join(name))).unwrap() };
        let meta = json("meta.json");
        for file in meta["files"].as_array().unwrap() {
            let file = file["file"].as_str().unwrap().to_owned();
            // Events of a stream are no record.
            if !file.ends_with(".sse") {
                let body = std::fs::read(folder.join(&file)).unwrap();
                captures.push(Capture {
                    name: folder.file_name().unwrap().to_string_lossy().into_owned(),
                    tokenizer: meta["tokenizer"][0].as_str().unwrap().to_owned(),
                    expected: expected_in(&json("expected.json"), &file, &body),
                    body,
                    file,
                });
            }
        }
    }
    captures.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(captures.len() >= 46, "only {} captures found", captures.len());
    captures
}

/// The expected entries that have an address in a file, with those addresses only, as the report spells them.
fn expected_in(all: &Value, file: &str, body: &[u8]) -> Vec<Value> {
    // The addresses count lines, but a body of one line is one value.
    let is_one_line = file.ends_with(".jsonl") && value_of(body).as_array().map(Vec::len) == Some(1);
    let mut entries = Vec::new();
    for entry in all.as_array().unwrap() {
        let mut addresses = Vec::new();
        for place in entry["where"].as_array().unwrap() {
            let (in_file, address) = place.as_str().unwrap().split_once('#').unwrap();
            let address = address.strip_prefix("/0").filter(|_| is_one_line).unwrap_or(address);
            let encoding = if entry["encoding"] == "token_id" { "/!tokenid" } else { "" };
            if in_file == file {
                addresses.push(Value::String(format!("{address}{encoding}")));
            }
        }
        if !addresses.is_empty() {
            let mut entry = entry.clone();
            entry["where"] = addresses.into();
            entries.push(entry);
        }
    }
    entries
}

/// The file, with lone surrogate escapes, which serde_json refuses, written as U+FFFD.
fn json_bytes(path: &std::path::Path) -> Vec<u8> {
    let text = std::fs::read_to_string(path).unwrap();
    text.replace("half \\ud83d\"", "half \u{FFFD}\"").into_bytes()
}

/// The value of a body, JSON lines as an array; a line that serde_json cannot read is null.
fn value_of(body: &[u8]) -> Value {
    let lines = body.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap_or(Value::Null)).collect()
}

fn run(capture: &Capture, options: &EnrichOptions) -> Enriched {
    let tokenizers = real_set(&capture.tokenizer);
    enrich(&capture.body, &tokenizers, options).unwrap_or_else(|error| panic!("{}: {error}", capture.name))
}

/// The addresses of an expected entry.
fn addresses(expected: &Value) -> impl Iterator<Item = &str> {
    expected["where"].as_array().unwrap().iter().map(|place| place.as_str().unwrap())
}

/// The field at an address, and which of its texts is meant: a row of a batch is part of the field of the whole.
fn field_at<'f>(fields: &'f [FieldReport], kind: &Value, address: &str) -> Option<(&'f FieldReport, Option<usize>)> {
    let is_kind = |field: &&FieldReport| serde_json::to_value(field.kind).unwrap() == *kind;
    let find = |path: &str| fields.iter().filter(is_kind).find(|field| field.path == path);
    let row = || {
        let (path, row) = address.rsplit_once('/')?;
        Some((find(path)?, row.parse().ok()))
    };
    find(address).map(|field| (field, None)).or_else(row)
}

/// The record of a body that an address is in.
fn record_of<'a>(capture: &Capture, address: &'a str) -> &'a str {
    let is_many = value_of(&capture.body).as_array().is_some_and(|lines| lines.len() > 1);
    if is_many { address.split('/').nth(1).unwrap() } else { "" }
}

/// What must come of a field: its text, or none.
fn expected_text(expected: &Value) -> Option<Value> {
    match expected["status"].as_str().unwrap() {
        "ok" | "ok-dropped" | "nested" | "single-int" | "numpy" => Some(expected["text"].clone()),
        "digit-strings" | "integral-floats" | "numpy-scalar-strings" => Some(expected["text_if_converted"].clone()),
        _ => None,
    }
}

fn check_field(capture: &Capture, body: &[u8], (field, row): (&FieldReport, Option<usize>), expected: &Value) {
    let context = format!("{} {} ({})", capture.name, field.path, expected["status"]);
    let kind = serde_json::to_value(field.kind).unwrap();
    assert_eq!(kind, expected["kind"], "{context}");
    let Some(text) = expected_text(expected) else {
        assert_eq!(field.status, Status::Skipped, "{context}");
        assert!(field.reason.is_some() && field.detail.is_some(), "{context}");
        return;
    };
    match &expected["existing"] {
        Value::Null => assert_eq!(field.status, Status::Decoded, "{context}: {:?}", field.detail),
        Value::String(_) => {
            assert_eq!((field.status, field.existing), (Status::Kept, Some(Comparison::Same)), "{context}");
            return;
        }
        Value::Object(there) => match &there["value"] {
            Value::String(_) => {
                assert_eq!((field.status, field.existing), (Status::Kept, Some(Comparison::Different)), "{context}");
                return;
            }
            Value::Null => assert_eq!(field.status, Status::Decoded, "{context}"),
            _ => assert_eq!(field.status, Status::Replaced, "{context}"),
        },
        other => panic!("{context}: {other}"),
    }
    let text_path = field.text_path.as_deref().unwrap();
    let mut value = value_of(body);
    if value.as_array().map(Vec::len) == Some(1) {
        value = value[0].take();
    }
    let line = text_path.split('/').nth(1).unwrap();
    if at(&value, &format!("/{line}")) == Some(Value::Null) {
        // serde_json cannot read this line (NaN, lone surrogates, depth): the text must stand in its raw bytes.
        let lines = body.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let raw = lines.collect::<Vec<_>>()[line.parse::<usize>().unwrap()];
        let wanted = serde_json::to_string(&text).unwrap();
        let raw = String::from_utf8_lossy(raw);
        assert!(raw.contains(&wanted), "{context}: {wanted} is not in {raw}");
    } else {
        let mut there = at(&value, text_path);
        if let Some(texts) = there.as_ref().and_then(Value::as_array).filter(|_| text.is_string()) {
            // Of the branches of a graph, a capture has the only one.
            assert!(row.is_some() || texts.len() == 1, "{context} at {text_path}");
            there = texts.get(row.unwrap_or(0)).cloned();
        }
        assert_eq!(there, Some(text), "{context} at {text_path}");
    }
    if let Some(dropped) = expected["dropped_positions"].as_array() {
        let unknown = field.unknown.as_ref().unwrap_or_else(|| panic!("{context}: no unknown ids reported"));
        let positions: Vec<u64> = dropped.iter().map(|position| position.as_u64().unwrap()).collect();
        assert_eq!(
            unknown.positions.iter().map(|&position| position as u64).collect::<Vec<_>>(),
            positions,
            "{context}"
        );
    } else {
        assert_eq!(field.unknown, None, "{context}");
    }
}

/// The prompt of a padded sequence, which the capture leaves out and `input_lengths` tells from the padding.
const ALSO_DECODED: [(&str, &str); 1] = [("nemo-rl", "/token_ids")];

#[test]
fn every_expected_text_is_written_and_no_other() {
    let mut checked = 0;
    for capture in captures() {
        let enriched = run(&capture, &EnrichOptions::default());
        let fields = &enriched.report.fields;
        let key = |field: &FieldReport| (field.path.clone(), serde_json::to_string(&field.kind).unwrap());
        let mut unexpected: BTreeSet<_> = fields.iter().map(key).collect();
        assert_eq!(unexpected.len(), fields.len(), "{}: one path twice", capture.name);
        for expected in &capture.expected {
            // Of copies of the ids in one record, the best is decoded.
            let mut missing: BTreeMap<&str, &str> =
                addresses(expected).map(|address| (record_of(&capture, address), address)).collect();
            for address in addresses(expected) {
                if let Some(field) = field_at(fields, &expected["kind"], address) {
                    check_field(&capture, &enriched.body, field, expected);
                    unexpected.remove(&key(field.0));
                    missing.remove(record_of(&capture, address));
                    checked += 1;
                }
            }
            assert!(missing.is_empty(), "{}: {missing:?} is not in the report", capture.name);
        }
        unexpected.retain(|(path, _)| !ALSO_DECODED.contains(&(&capture.name, path)));
        assert!(unexpected.is_empty(), "{}: {unexpected:?} was not expected", capture.name);
    }
    assert!(checked > 220, "only {checked} fields checked");
}

#[test]
fn the_layout_verl_is_verls_rule_exactly() {
    let layouts: Vec<Layout> = Layout::builtin().into_iter().filter(|layout| layout.name() == "verl").collect();
    for capture in captures().into_iter().filter(Capture::is_verl) {
        let mut options = EnrichOptions::default();
        options.layouts.clone_from(&layouts);
        options.expect_ids = true;
        let enriched = run(&capture, &options);
        for expected in &capture.expected {
            for path in addresses(expected) {
                let field = enriched.report.fields.iter().find(|field| field.path == path);
                let is_decoded = field.is_some_and(|field| field.status != Status::Skipped);
                let by_verl = expected["rule"] == "verl" && expected_text(expected).is_some();
                assert_eq!(is_decoded, by_verl, "{} {path}: {field:?}", capture.name);
                // What verl leaves is not silent: a field of the span says why, or the span that it holds no ids.
                let span = format!("/{}", path.split('/').nth(1).unwrap());
                let fields = enriched.report.fields.iter().map(|field| &field.path);
                let mut said = fields.chain(enriched.report.warnings.iter().map(|warning| &warning.path));
                let said = said.any(|path| *path == span || path.starts_with(&format!("{span}/")));
                assert!(said, "{} {path}: nothing is said", capture.name);
            }
        }
    }
}

#[test]
fn strip_gives_the_input_back() {
    for capture in captures() {
        let options = EnrichOptions::default();
        let enriched = run(&capture, &options);
        let stripped = strip(&enriched.body, &options).unwrap();
        // A value that a text took the place of cannot be given back: null, or one that is no text.
        let replaced = |record: &Value| record["name"] == "existing text other types";
        let lines = |body: &[u8]| body.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
        for (before, after) in lines(&capture.body).iter().zip(lines(&stripped)) {
            if serde_json::from_slice(before).is_ok_and(|record: Value| replaced(&record)) {
                continue;
            }
            assert_eq!(String::from_utf8_lossy(before), String::from_utf8_lossy(&after), "{}", capture.name);
        }
        assert_eq!(lines(&capture.body).len(), lines(&stripped).len());
    }
}

#[test]
fn twice_is_once() {
    for capture in captures() {
        for existing in [Existing::Keep, Existing::Replace] {
            let mut options = EnrichOptions::default();
            options.existing = existing;
            let once = run(&capture, &options);
            let twice = enrich(&once.body, &real_set(&capture.tokenizer), &options).unwrap();
            assert!(once.body == twice.body, "{} {existing:?}", capture.name);
            assert_eq!(twice.report.totals.decoded, 0, "{}", capture.name);
        }
    }
}

#[test]
fn replacing_is_what_verl_does() {
    let mut compared = 0;
    for capture in captures() {
        let mut options = EnrichOptions::default();
        options.existing = Existing::Replace;
        let enriched = run(&capture, &options);
        let value = value_of(&enriched.body);
        for field in enriched.report.fields.iter().filter(|field| field.status == Status::Replaced) {
            let expected = capture.expected.iter().find(|expected| addresses(expected).any(|path| path == field.path));
            let text = expected.and_then(expected_text).unwrap();
            let there = at(&value, field.text_path.as_deref().unwrap());
            // Lines that serde_json cannot read have no value to compare.
            if let Some(there) = there {
                assert_eq!(there, text, "{} {}", capture.name, field.path);
                compared += 1;
            }
        }
    }
    assert!(compared >= 6, "only {compared} texts compared");
}

#[test]
fn broken_lines_are_copied_and_reported() {
    let capture = captures().into_iter().find(|capture| capture.name == "edge-broken-lines").unwrap();
    let enriched = run(&capture, &EnrichOptions::default());
    let broken: Vec<&str> = enriched.report.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(broken, ["/1", "/5"], "{}", capture.file);
    assert!(enriched.report.warnings.iter().all(|warning| warning.code == "invalid_body"));
}

/// One value of each status of all captures, of formats that are not read yet too, as a record's own.
#[test]
fn every_status_is_what_its_name_says() {
    let rows: Value =
        serde_json::from_slice(&std::fs::read(project("tests/fixtures/captures/odd-ids.json")).unwrap()).unwrap();
    let mut seen = BTreeSet::new();
    for row in rows.as_array().unwrap() {
        let (status, ids) = (row["status"].as_str().unwrap(), &row["ids"]);
        let body = format!("{{\"token_ids\": {ids}}}");
        let enriched = enrich(body.as_bytes(), &real_set("qwen3"), &EnrichOptions::default()).unwrap();
        let value: Value = serde_json::from_slice(&enriched.body).unwrap();
        let field = &enriched.report.fields[0];
        assert_eq!(value.get("response_text").cloned(), expected_text(row), "{status}: {ids}: {:?}", field.detail);
        let said: &[&str] = match status {
            "out-of-range" => &["negative", "out_of_range"],
            "numpy-truncated" => &["truncated_at_source"],
            "null-inside" => &["null_inside", "not_ids"],
            "booleans" => &["boolean_inside"],
            "not-ids" => &["not_ids", "negative"],
            "numpy" => &["numpy_array"],
            "numpy-scalar-strings" => &["numpy_scalars"],
            "digit-strings" => &["decimal_strings"],
            "integral-floats" => &["integral_floats"],
            "single-int" => &["single_integer"],
            _ => &[],
        };
        let says = field.reason.or(field.converted);
        assert!(says.map_or(said.is_empty(), |says| said.contains(&says)), "{status}: {ids}: {says:?}");
        let dropped = field.unknown.as_ref().map(|unknown| serde_json::to_value(&unknown.positions).unwrap());
        assert_eq!(dropped.as_ref(), row.get("dropped_positions"), "{status}: {ids}");
        seen.insert(status);
    }
    assert_eq!(seen.len(), 12, "{seen:?}");
}
