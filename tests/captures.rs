//! Recorded bodies with the texts that must come out. Each capture says what its ids decode to, by the reference
//! library; `tests/fixtures/captures/README.md` explains the files.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use common::{at, project, real_set};
use serde_json::Value;
use token2text::{Comparison, EnrichOptions, Enriched, Existing, FieldReport, Layout, Status, enrich, strip};

struct Capture {
    name: String,
    tokenizer: String,
    file: String,
    /// What the wire format must be told to be.
    format: &'static str,
    body: Vec<u8>,
    expected: Vec<Value>,
}

/// The formats that `meta.json` names, and what they are here. Of hand-built bodies it says no more than `json`.
const FORMATS: [(&str, &str); 9] = [
    ("json", "record"),
    ("jsonl", "record"),
    ("jsonl-broken", "record"),
    ("sse", "sse"),
    ("weave-complete", "weave"),
    ("weave-upsert", "weave"),
    ("weave-jsonl", "weave"),
    ("trackio-bulk-log", "trackio"),
    ("trackio-traces", "trackio"),
];

/// Fewest bodies and fields that must be checked, so that no test passes for want of captures.
const LEAST: (usize, usize) = (60, 550);

/// Where the captures are: `CAPTURES` can name another folder of them.
fn folder() -> PathBuf {
    std::env::var_os("CAPTURES").map_or_else(|| project("tests/fixtures/captures"), PathBuf::from)
}

impl Capture {
    /// Whether verl or a record in its shape: only of these does `expected.json` say what verl's rule makes of them.
    fn is_verl(&self) -> bool {
        let producers = ["verl-", "edge-", "weave-python-", "trackio-"];
        producers.iter().any(|producer| self.name.starts_with(producer))
    }

    /// The value of the body, or of the same body with texts in it.
    fn value(&self, body: &[u8]) -> Value {
        let lines = || body.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        match self.file.rsplit('.').next().unwrap() {
            "json" => lenient(body),
            "sse" => lines()
                .filter_map(|line| line.strip_prefix(b"data: ").filter(|data| *data != b"[DONE]"))
                .map(lenient)
                .collect(),
            _ if lines().count() == 1 => lenient(body),
            _ => lines().map(lenient).collect(),
        }
    }
}

/// Each body of each capture.
fn captures() -> Vec<Capture> {
    let mut captures = Vec::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let json = |name: &str| lenient(&std::fs::read(folder.join(name)).unwrap());
        let (meta, expected) = (json("meta.json"), json("expected.json"));
        for file in meta["files"].as_array().unwrap() {
            let named = file["format"].as_str().unwrap();
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let of_backend = ["weave", "trackio"].into_iter().find(|format| name.starts_with(format));
            let format = FORMATS.iter().find(|(name, _)| *name == named).unwrap_or_else(|| panic!("{name}: {named}")).1;
            let file = file["file"].as_str().unwrap().to_owned();
            let mut capture = Capture {
                name,
                tokenizer: meta["tokenizer"][0].as_str().unwrap().to_owned(),
                format: of_backend.unwrap_or(format),
                body: std::fs::read(folder.join(&file)).unwrap(),
                expected: Vec::new(),
                file,
            };
            capture.expected = expected_in(&expected, &capture);
            captures.push(capture);
        }
    }
    captures.sort_by(|a, b| (&a.name, &a.file).cmp(&(&b.name, &b.file)));
    assert!(captures.len() >= LEAST.0 || std::env::var_os("CAPTURES").is_some(), "only {} bodies", captures.len());
    captures
}

/// The expected entries that have an address in a body, with those addresses only, as the report spells them.
fn expected_in(all: &Value, capture: &Capture) -> Vec<Value> {
    // The addresses count lines, but a body of one line is one value.
    let is_one_line = capture.file.ends_with(".jsonl") && !capture.value(&capture.body).is_array();
    let mut entries = Vec::new();
    for entry in all.as_array().unwrap() {
        let list = |key: &str| entry[key].as_array().into_iter().flatten().map(|place| place.as_str().unwrap());
        let mut addresses = Vec::new();
        // Of parts, which are joined, the report has one address.
        for place in list("where").chain(list("parts").take(1)) {
            let (in_file, address) = place.split_once('#').unwrap();
            if in_file == capture.file {
                let address = address.strip_prefix("/0").filter(|_| is_one_line).unwrap_or(address);
                let encoding = if entry["encoding"] == "token_id" { "/!tokenid" } else { "" };
                let address = if capture.format == "sse" { of_all_events(address) } else { address.to_owned() };
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

/// The address of what is in one event, or in one choice of it, for all of them.
fn of_all_events(address: &str) -> String {
    let mut steps: Vec<&str> = address.split('/').collect();
    steps[1] = "*";
    if steps.get(2) == Some(&"choices") {
        steps[3] = "*";
    }
    steps.join("/")
}

/// JSON as Python writes it: what serde_json refuses, lone surrogates and numbers that are none, is replaced. Null if it
/// is no JSON.
fn lenient(text: &[u8]) -> Value {
    let text = String::from_utf8_lossy(text);
    let (mut out, mut rest, mut in_string) = (String::new(), &*text, false);
    while let Some(char) = rest.chars().next() {
        let unit = |at: usize| rest.get(at..at + 6).and_then(|text| text.strip_prefix("\\u")).map(str::to_lowercase);
        let surrogate = |at: usize, from: &str| unit(at).is_some_and(|unit| (from..).contains(&&*unit) && *unit < *"e");
        let number = ["NaN", "-Infinity", "Infinity"].into_iter().find(|name| !in_string && rest.starts_with(name));
        let (len, replaced) = match char {
            _ if number.is_some() => (number.unwrap_or("").len(), "null"),
            '\\' if surrogate(0, "d800") && !surrogate(0, "dc00") && surrogate(6, "dc00") => (12, ""),
            '\\' if surrogate(0, "d800") => (6, "\u{FFFD}"),
            '\\' => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), ""),
            _ => (char.len_utf8(), ""),
        };
        in_string ^= char == '"';
        out.push_str(if replaced.is_empty() { &rest[..len] } else { replaced });
        rest = &rest[len..];
    }
    serde_json::from_str(&out).unwrap_or(Value::Null)
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

/// The record of a body that an address is in; of formats other than `record` all addresses are of their own.
fn record_of<'a>(capture: &Capture, is_many: bool, address: &'a str) -> &'a str {
    match capture.format {
        "record" if is_many => address.split('/').nth(1).unwrap(),
        "record" => "",
        _ => address,
    }
}

/// What must come of a field: its text, or none.
fn expected_text(expected: &Value) -> Option<Value> {
    match expected["status"].as_str().unwrap() {
        "ok" | "ok-dropped" | "nested" | "single-int" | "numpy" => Some(expected["text"].clone()),
        "digit-strings" | "integral-floats" | "numpy-scalar-strings" => Some(expected["text_if_converted"].clone()),
        _ => None,
    }
}

/// Whether the ids are a whole array that was printed with its `dtype`, which the captures do not read.
fn has_dtype(expected: &Value) -> bool {
    expected["ids"]
        .as_str()
        .is_some_and(|ids| ids.starts_with("array([") && ids.contains("dtype=") && !ids.contains("..."))
}

fn check_field(capture: &Capture, body: &[u8], (field, row): (&FieldReport, Option<usize>), expected: &Value) {
    let context = format!("{} {} ({})", capture.name, field.path, expected["status"]);
    let kind = serde_json::to_value(field.kind).unwrap();
    assert_eq!(kind, expected["kind"], "{context}");
    if has_dtype(expected) {
        assert_eq!(field.converted, Some("numpy_array"), "{context}");
        return;
    }
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
                let compared = if there["value"] == text { Comparison::Same } else { Comparison::Different };
                assert_eq!((field.status, field.existing), (Status::Kept, Some(compared)), "{context}");
                return;
            }
            Value::Null => assert_eq!(field.status, Status::Decoded, "{context}"),
            _ => assert_eq!(field.status, Status::Replaced, "{context}"),
        },
        other => panic!("{context}: {other}"),
    }
    let text_path = field.text_path.as_deref().unwrap();
    let value = capture.value(body);
    let line = text_path.split('/').nth(1).unwrap();
    if capture.file.ends_with(".jsonl") && at(&value, &format!("/{line}")) == Some(Value::Null) {
        // serde_json cannot read this line, which is too deep for it: the text must stand in its raw bytes.
        let lines = body.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let raw = lines.collect::<Vec<_>>()[line.parse::<usize>().unwrap()];
        let wanted = serde_json::to_string(&text).unwrap();
        let raw = String::from_utf8_lossy(raw);
        assert!(raw.contains(&wanted), "{context}: {wanted} is not in {raw}");
    } else {
        let mut there = at(&value, text_path);
        if let Some(texts) = there.as_ref().and_then(Value::as_array).filter(|_| text.is_string()) {
            // Of several choices the note says which; of the branches of a graph, a capture has the only one.
            let choices = expected["note"].as_str().and_then(|note| note.split_once("choice with index "));
            let choice = choices.and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
            assert!(row.or(choice).is_some() || texts.len() == 1, "{context} at {text_path}");
            there = texts.get(row.or(choice).unwrap_or(0)).cloned();
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

/// Whether a field is not expected but right: the prompt of a padded sequence, which the capture leaves out and
/// `input_lengths` tells from the padding, and a span of verl's whose output has SGLang's `output_ids` in place of the names
/// of verl's rule, which is all that `expected.json` goes by. They are ids, and the name means nothing else anywhere.
fn is_also_decoded(capture: &Capture, path: &str) -> bool {
    (&*capture.name, path) == ("nemo-rl", "/token_ids")
        || capture.name.contains("-verl-edge-") && path.ends_with("/output/output_ids")
}

#[test]
fn every_expected_text_is_written_and_no_other() {
    let mut checked = 0;
    let mut of_streams = BTreeSet::new();
    for capture in captures() {
        let enriched = run(&capture, &EnrichOptions::default());
        assert_eq!(enriched.report.format, capture.format, "{} {}", capture.name, enriched.report.rule);
        let is_many = capture.value(&capture.body).as_array().is_some_and(|lines| lines.len() > 1);
        let fields = &enriched.report.fields;
        let key = |field: &FieldReport| (field.path.clone(), serde_json::to_string(&field.kind).unwrap());
        let mut unexpected: BTreeSet<_> = fields.iter().map(key).collect();
        if capture.format == "sse" {
            of_streams.extend(fields.iter().map(|field| field.layout.clone()));
        }
        assert_eq!(unexpected.len(), fields.len(), "{}: one path twice", capture.name);
        for expected in &capture.expected {
            // Of copies of the ids in one record, the best is decoded.
            let mut missing: BTreeMap<&str, &str> =
                addresses(expected).map(|address| (record_of(&capture, is_many, address), address)).collect();
            for address in addresses(expected) {
                if let Some(field) = field_at(fields, &expected["kind"], address) {
                    check_field(&capture, &enriched.body, field, expected);
                    unexpected.remove(&key(field.0));
                    missing.remove(record_of(&capture, is_many, address));
                    checked += 1;
                }
            }
            assert!(missing.is_empty(), "{} {}: {missing:?} not in the report", capture.name, capture.file);
        }
        unexpected.retain(|(path, _)| !is_also_decoded(&capture, path));
        assert!(unexpected.is_empty(), "{}: {unexpected:?} was not expected", capture.name);
    }
    println!("{checked} fields checked");
    let streams: BTreeSet<String> = Layout::builtin()
        .iter()
        .map(|layout| layout.name().to_owned())
        .filter(|name| name.ends_with("-stream"))
        .collect();
    assert!(
        of_streams == streams || std::env::var_os("CAPTURES").is_some(),
        "layouts of event streams: {of_streams:?}"
    );
    assert!(checked > LEAST.1 || std::env::var_os("CAPTURES").is_some(), "only {checked} fields checked");
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
                // A span of Trackio's is no trace of verl's, but may have its shape.
                let is_shape = expected["rule"] == "verl" || expected["layout"] == "trackio-span";
                let by_verl = is_shape && (expected_text(expected).is_some() || has_dtype(expected));
                assert_eq!(is_decoded, by_verl, "{} {path}: {field:?}", capture.name);
                // What verl leaves is not silent: a field of the span says why, or the span that it holds no ids.
                if capture.format != "record" {
                    continue;
                }
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
        let is_lost = |field: &&FieldReport| {
            let expected = capture.expected.iter().find(|expected| addresses(expected).any(|path| path == field.path));
            expected.is_some_and(|expected| expected["existing"]["value"].is_null() && expected["existing"].is_object())
                || field.status == Status::Replaced
        };
        let lost: Vec<&FieldReport> = enriched.report.fields.iter().filter(is_lost).collect();
        if lost.is_empty() {
            let (before, after) = (String::from_utf8_lossy(&capture.body), String::from_utf8_lossy(&stripped));
            assert_eq!(before, after, "{} {}", capture.name, capture.file);
            continue;
        }
        let mut values = [capture.value(&capture.body), capture.value(&stripped)];
        for field in lost {
            let (object, key) = field.text_path.as_deref().unwrap().rsplit_once('/').unwrap();
            for value in &mut values {
                value.pointer_mut(object).unwrap().as_object_mut().unwrap().remove(key);
            }
        }
        assert_eq!(values[0], values[1], "{} {}", capture.name, capture.file);
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
        let value = capture.value(&enriched.body);
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
    assert!(compared >= 6 || std::env::var_os("CAPTURES").is_some(), "only {compared} texts compared");
}

#[test]
fn broken_lines_are_copied_and_reported() {
    let capture = captures().into_iter().find(|capture| capture.name == "edge-broken-lines").unwrap();
    let enriched = run(&capture, &EnrichOptions::default());
    let broken: Vec<&str> = enriched.report.warnings.iter().map(|warning| warning.path.as_str()).collect();
    assert_eq!(broken, ["/1", "/5"], "{}", capture.file);
    assert!(enriched.report.warnings.iter().all(|warning| warning.code == "invalid_body"));
}

/// Takes a member out; of `*`, that of every element. How many there were.
fn remove(value: &mut Value, steps: &[&str]) -> usize {
    match (steps, value) {
        ([key], Value::Object(object)) => {
            usize::from(object.remove(&key.replace("~1", "/").replace("~0", "~")).is_some())
        }
        (["*", rest @ ..], Value::Array(list)) => list.iter_mut().map(|value| remove(value, rest)).sum(),
        ([step, rest @ ..], value) => value.pointer_mut(&format!("/{step}")).map_or(0, |value| remove(value, rest)),
        ([], _) => 0,
    }
}

#[test]
fn dropped_ids_are_gone_and_the_rest_is_as_it_was() {
    let (mut count, mut compared) = (0, 0);
    for capture in captures() {
        let mut options = EnrichOptions::default();
        let kept = run(&capture, &options);
        options.drop_ids = true;
        let dropped = run(&capture, &options);
        let twice = enrich(&dropped.body, &real_set(&capture.tokenizer), &options).unwrap();
        assert!(twice.body == dropped.body, "{} {}", capture.name, capture.file);
        let mut values = [capture.value(&kept.body), capture.value(&dropped.body)];
        for (before, field) in kept.report.fields.iter().zip(&dropped.report.fields) {
            let context = format!("{} {}", capture.name, field.path);
            assert_eq!((before.status, &before.path), (field.status, &field.path), "{context}");
            if field.status != Status::Skipped {
                assert_eq!(field.reason.is_none(), !field.ids_dropped.is_empty(), "{context}");
            }
            for path in &field.ids_dropped {
                count += 1;
                let steps: Vec<&str> = path.split('/').skip(1).collect();
                let member = steps.split(|step| step.starts_with('!')).next().unwrap();
                let [kept, dropped] = &mut values;
                // What serde_json cannot read is not compared.
                if !path.contains("/!json") {
                    assert_eq!(remove(dropped, member), 0, "{context}");
                    compared += usize::from(remove(kept, member) > 0);
                } else if at(kept, path).is_some() {
                    assert_eq!(at(dropped, path), None, "{context}");
                    // Of JSON in a string the whole string.
                    compared += usize::from(remove(kept, member) + remove(dropped, member) == 2);
                }
            }
        }
        assert_eq!(values[0], values[1], "{} {}", capture.name, capture.file);
    }
    println!("{count} lists dropped, {compared} compared");
    assert!(compared > LEAST.1 || std::env::var_os("CAPTURES").is_some(), "only {compared} lists compared");
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
