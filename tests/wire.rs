//! Recorded bodies of OTLP and MLflow with the texts that must come out, as `tests/captures.rs` has them for records.
//! `TOKEN2TEXT_CAPTURES` names another folder to read them from.
#![cfg(not(target_arch = "wasm32"))]

mod common;
#[path = "common/proto.rs"]
mod proto;

use std::collections::BTreeMap;
use std::path::PathBuf;

use common::{project, real_set};
use serde_json::{Map, Value};
use token2text::{Comparison, EnrichOptions, Existing, FieldReport, Layout, Status, enrich, strip};

/// Layouts of producers that only write spans, beside those for verl.
const LAYOUTS: &[u8] = br#"[
  { "name": "flat", "when": [["/attributes/prompt_token_ids", "/attributes/response_token_ids"]], "fields": [
    { "kind": "prompt", "ids": "/attributes/prompt_token_ids", "text": "/attributes/prompt_text" },
    { "kind": "response", "ids": "/attributes/response_token_ids", "text": "/attributes/response_text" } ] },
  { "name": "printed", "when": ["/attributes/llm.hosted_vllm.prompt_token_ids"], "fields": [
    { "kind": "prompt", "ids": "/attributes/llm.hosted_vllm.prompt_token_ids/!repr",
      "text": "/attributes/prompt_text" },
    { "kind": "response", "ids": "/attributes/llm.hosted_vllm.response_token_ids/!repr",
      "text": "/attributes/response_text" } ] },
  { "name": "dotted", "when": ["/attributes/agentlightning.operation.output.prompt_token_ids"], "fields": [
    { "kind": "prompt", "ids": "/attributes/agentlightning.operation.output.prompt_token_ids",
      "text": "/attributes/prompt_text" },
    { "kind": "response", "ids": ["/attributes/agentlightning.operation.output.response_token_ids.0",
        "/attributes/agentlightning.operation.output.choices.0.token_ids",
        "/attributes/agentlightning.operation.output.choices.0.provider_specific_fields.token_ids"],
      "text": "/attributes/response_text" } ] },
  { "name": "chat", "when": ["/output/choices/*/token_ids"], "fields": [
    { "kind": "prompt", "ids": "/output/prompt_token_ids", "text": "/output/prompt_text" } ] },
  { "name": "chat", "when": ["/output/choices/*/token_ids"], "each": "/output/choices/*", "fields": [
    { "kind": "response", "ids": "/token_ids", "text": "/text" } ] } ]"#;

struct Body {
    name: String,
    format: String,
    tokenizer: String,
    bytes: Vec<u8>,
    expected: Vec<Value>,
}

/// The bodies of all captures, each with the entries that address it.
fn bodies() -> Vec<Body> {
    let root = std::env::var_os("TOKEN2TEXT_CAPTURES").map_or(project("tests/fixtures/wire"), PathBuf::from);
    let mut bodies = Vec::new();
    for format in ["otlp", "mlflow"] {
        for entry in std::fs::read_dir(root.join(format)).unwrap() {
            let folder = entry.unwrap().path();
            let json =
                |name: &str| -> Value { serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap() };
            let (meta, expected) = (json("meta.json"), json("expected.json"));
            for file in meta["files"].as_array().unwrap() {
                let name = file["file"].as_str().unwrap();
                let Ok(bytes) = std::fs::read(folder.join(name)) else { continue };
                let mut own = expected.as_array().unwrap().clone();
                for entry in &mut own {
                    let places = entry["where"].as_array_mut().unwrap();
                    places.retain(|place| place.as_str().unwrap().starts_with(&format!("{name}#")));
                }
                own.retain(|entry| entry["where"] != Value::Array(Vec::new()));
                bodies.push(Body {
                    name: format!("{}/{name}", folder.file_name().unwrap().to_string_lossy()),
                    format: file["format"].as_str().unwrap().to_owned(),
                    tokenizer: meta["tokenizer"][0].as_str().unwrap().to_owned(),
                    bytes,
                    expected: own,
                });
            }
        }
    }
    bodies.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(bodies.len() >= 20, "only {} bodies", bodies.len());
    bodies
}

fn options() -> EnrichOptions {
    let mut options = EnrichOptions::default();
    options.layouts.retain(|layout| layout.name().starts_with("verl"));
    options.layouts.extend(Layout::from_json(LAYOUTS).unwrap());
    options
}

/// JSON, with what serde_json refuses written otherwise.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| {
        let mut plain = text.replace("\\ud83d\"", "\u{FFFD}\"");
        for before in ["[", ":", ",", ": ", ", "] {
            for literal in ["NaN", "Infinity", "-Infinity"] {
                for after in [",", "]", "}"] {
                    plain = plain.replace(&[before, literal, after].concat(), &[before, "null", after].concat());
                }
            }
        }
        serde_json::from_str(&plain).unwrap_or(Value::Null)
    })
}

/// The value that captures address: attribute lists as objects.
fn value_of(body: &Body, bytes: &[u8]) -> Value {
    match body.format.as_str() {
        "otlp-proto" => proto::request(bytes),
        _ => plain(parse(&String::from_utf8_lossy(bytes))),
    }
}

fn plain(value: Value) -> Value {
    match value {
        Value::Array(list) if list.iter().any(|item| item.get("key").is_some()) => {
            let pair =
                |mut item: Value| (item["key"].as_str().unwrap_or_default().to_owned(), typed(item["value"].take()));
            Value::Object(list.into_iter().map(pair).collect())
        }
        Value::Array(list) => list.into_iter().map(plain).collect(),
        Value::Object(object) => {
            object.into_iter().map(|(key, value)| (key, plain(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

fn typed(value: Value) -> Value {
    let Some((kind, mut content)) = value.as_object().and_then(|object| object.clone().into_iter().next()) else {
        return Value::Null;
    };
    match kind.replace('_', "").to_lowercase().as_str() {
        "arrayvalue" => match content["values"].take() {
            Value::Array(list) => list.into_iter().map(typed).collect(),
            _ => Value::Array(Vec::new()),
        },
        "kvlistvalue" => plain(content["values"].take()),
        "intvalue" => content.as_str().map_or(content.clone(), |digits| digits.parse::<i64>().unwrap().into()),
        _ => content,
    }
}

/// The value at an address. What MLflow reads again is a JSON string in a string.
fn at(value: &Value, path: &str) -> Option<Value> {
    let mut value = value.clone();
    for step in path.split('/').skip(1) {
        value = match (&value, step) {
            (Value::String(text), "!json") => parse(text),
            (Value::Array(list), _) => list.get(step.parse::<usize>().ok()?)?.clone(),
            (Value::Object(object), _) => object.get(&step.replace("~1", "/").replace("~0", "~"))?.clone(),
            _ => return None,
        };
    }
    Some(value)
}

/// What must come of a field: its text, or none.
fn expected_text(expected: &Value) -> Option<&Value> {
    match expected["status"].as_str().unwrap() {
        "ok" | "ok-dropped" | "nested" | "single-int" | "numpy" => Some(&expected["text"]),
        "digit-strings" | "integral-floats" | "numpy-scalar-strings" => Some(&expected["text_if_converted"]),
        _ => None,
    }
}

/// What is wrong with a field.
fn mistake(field: &FieldReport, expected: &Value, value: &Value, is_encoded: bool) -> Option<String> {
    let Some(text) = expected_text(expected) else {
        return (field.status != Status::Skipped || field.reason.is_none()).then(|| format!("is {:?}", field.status));
    };
    let wanted = match &expected["existing"] {
        Value::Null => (Status::Decoded, None),
        Value::String(_) => (Status::Kept, Some(Comparison::Same)),
        there => match &there["value"] {
            Value::String(_) => (Status::Kept, Some(Comparison::Different)),
            Value::Null => (Status::Decoded, None),
            _ => (Status::Replaced, None),
        },
    };
    // verl made these strings integers, so the text is there.
    let is_converted = expected["status"] != "ok" && field.existing == Some(Comparison::Same);
    if (field.status, field.existing) != wanted && !is_converted {
        return Some(format!("is {:?} {:?} ({:?})", field.status, field.existing, field.detail));
    }
    if field.status == Status::Kept {
        return None;
    }
    let mut there = at(value, field.text_path.as_deref()?)?;
    if is_encoded && field.text_path.as_ref()?.contains("token2text.") {
        there = there.as_str().map_or(there.clone(), parse);
    }
    // A printed list of lists has a text for each.
    let there = match (&there, text) {
        (Value::Array(list), Value::String(_)) if list.len() == 1 => &list[0],
        (there, _) => there,
    };
    (there != text).then(|| format!("is {there}, not {text}"))
}

#[test]
fn every_expected_text_is_written_and_no_other() {
    let (mut right, mut wrong) = (0, Vec::new());
    for body in bodies() {
        let enriched = match enrich(&body.bytes, &real_set(&body.tokenizer), &options()) {
            Ok(enriched) => enriched,
            Err(error) => {
                wrong.push(format!("{}: {error}", body.name));
                continue;
            }
        };
        let told = if body.format.starts_with("otlp") { body.format.as_str() } else { "mlflow" };
        if enriched.report.format != told {
            wrong.push(format!("{}: told as {} by {}", body.name, enriched.report.format, enriched.report.rule));
        }
        let value = value_of(&body, &enriched.body);
        let mut fields: BTreeMap<&str, &FieldReport> =
            enriched.report.fields.iter().map(|field| (field.path.as_str(), field)).collect();
        for expected in &body.expected {
            let mut found = 0;
            for place in expected["where"].as_array().unwrap() {
                let path = place.as_str().unwrap().split_once('#').unwrap().1;
                // The first list of a printed list of lists.
                let Some(field) = fields.remove(path).or_else(|| fields.remove(path.strip_suffix("/0")?)) else {
                    continue;
                };
                found += 1;
                let span = path.rsplit_once("/attributes").unwrap().0;
                let is_encoded = at(&value, &format!("{span}/attributes")).is_some_and(|attributes| {
                    attributes.as_object().unwrap().keys().any(|key| key.starts_with("mlflow."))
                });
                match mistake(field, expected, &value, is_encoded && body.format != "mlflow-trace") {
                    None => right += 1,
                    Some(what) => wrong.push(format!("{} {path} ({}): {what}", body.name, expected["status"])),
                }
            }
            // Of several places of the same ids in a span one is read.
            if found == 0 {
                wrong.push(format!("{} {}: is not in the report", body.name, expected["where"]));
            }
        }
        // Of the hand-made bodies no event is listed.
        fields.retain(|path, _| !path.contains("/events/") || !body.name.starts_with("synthetic"));
        wrong.extend(fields.iter().map(|(path, field)| format!("{} {path} was not expected: {field:?}", body.name)));
        if body.expected.is_empty() && enriched.body != body.bytes {
            wrong.push(format!("{}: changed", body.name));
        }
    }
    println!("{right} fields right");
    assert!(wrong.is_empty(), "{right} right, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(right > 150, "only {right} fields checked");
}

/// Flattened and printed ids by the layouts that ship: each where it is expected, its text as expected, none twice.
#[test]
fn built_in_layouts_read_what_is_flattened_or_printed() {
    let mut checked = 0;
    for body in bodies() {
        let enriched = enrich(&body.bytes, &real_set(&body.tokenizer), &EnrichOptions::default()).unwrap();
        let value = value_of(&body, &enriched.body);
        let is_meant = |path: &str| path.contains("agentlightning.operation.") || path.contains("llm.hosted_vllm.");
        let fields: Vec<_> = enriched.report.fields.iter().filter(|field| is_meant(&field.path)).collect();
        let mut texts: Vec<_> = fields.iter().map(|field| field.text_path.as_ref()).collect();
        texts.dedup();
        assert_eq!(texts.len(), fields.len(), "{}: {fields:?}", body.name);
        for field in fields {
            let is_at = |place: &Value| {
                let address =
                    place.as_str().unwrap().split_once('#').unwrap().1.replace("/!repr/0", "").replace("/!repr", "");
                address == field.path
            };
            let mut entries = body.expected.iter();
            let expected = entries.find(|entry| entry["where"].as_array().unwrap().iter().any(is_at));
            let expected = expected.unwrap_or_else(|| panic!("{} {} was not expected", body.name, field.path));
            assert_eq!(mistake(field, expected, &value, false), None, "{} {}", body.name, field.path);
            checked += 1;
        }
    }
    assert!(checked > 3, "only {checked} fields checked");
}

#[test]
fn strip_gives_the_input_back() {
    for body in bodies() {
        let enriched = enrich(&body.bytes, &real_set(&body.tokenizer), &options()).unwrap();
        // A value that a text took the place of, or that stood just where a text goes, is not given back.
        let is_odd = body.expected.iter().any(|entry| entry["existing"].is_object());
        let stripped = strip(&enriched.body, &options()).unwrap();
        assert!(is_odd || stripped == body.bytes, "{}", body.name);
    }
}

#[test]
fn twice_is_once() {
    for body in bodies() {
        for existing in [Existing::Keep, Existing::Replace] {
            let mut options = options();
            options.existing = existing;
            let once = enrich(&body.bytes, &real_set(&body.tokenizer), &options).unwrap();
            let twice = enrich(&once.body, &real_set(&body.tokenizer), &options).unwrap();
            assert!(once.body == twice.body, "{} {existing:?}", body.name);
            assert_eq!(twice.report.totals.decoded, 0, "{}", body.name);
        }
    }
}

/// A value with the JSON in its strings.
fn opened(value: Value) -> Value {
    match value {
        Value::String(text) => match parse(&text) {
            inner @ (Value::Array(_) | Value::Object(_) | Value::String(_)) => opened(inner),
            _ => text.into(),
        },
        Value::Array(list) => list.into_iter().map(opened).collect(),
        Value::Object(object) => {
            object.into_iter().map(|(key, value)| (key, opened(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// Takes a member out that an address leads to.
fn remove(value: &mut Value, path: &str) -> bool {
    let mut value = value;
    let mut steps = path.split('/').skip(1).filter(|step| !step.starts_with('!')).peekable();
    while let Some(step) = steps.next() {
        let key = step.replace("~1", "/").replace("~0", "~");
        match value {
            Value::Object(object) if steps.peek().is_none() => return object.remove(&key).is_some(),
            Value::Object(object) if object.contains_key(&key) => value = &mut object[&key],
            Value::Array(list) if key.parse::<usize>().is_ok_and(|index| index < list.len()) => {
                value = &mut list[key.parse::<usize>().unwrap()];
            }
            _ => return false,
        }
    }
    false
}

#[test]
fn dropped_ids_are_gone_and_the_rest_is_as_it_was() {
    let mut count = BTreeMap::<String, usize>::new();
    for body in bodies() {
        let tokenizers = real_set(&body.tokenizer);
        let mut options = options();
        let kept = enrich(&body.bytes, &tokenizers, &options).unwrap();
        options.drop_ids = true;
        let dropped = enrich(&body.bytes, &tokenizers, &options).unwrap();
        assert!(enrich(&dropped.body, &tokenizers, &options).unwrap().body == dropped.body, "{}", body.name);
        let [mut before, mut after] = [&kept, &dropped].map(|enriched| opened(value_of(&body, &enriched.body)));
        assert_eq!(kept.report.fields.len(), dropped.report.fields.len());
        for field in &dropped.report.fields {
            let context = format!("{} {}", body.name, field.path);
            assert!(
                field.status == Status::Skipped || field.reason.is_none() != field.ids_dropped.is_empty(),
                "{context}"
            );
            for path in &field.ids_dropped {
                assert!(remove(&mut before, path), "{context}");
                assert!(!remove(&mut after, path), "{context}");
                *count.entry(body.format.clone()).or_default() += 1;
            }
        }
        assert!(before == after, "{}", body.name);
    }
    println!("{count:?}");
    assert!(count.len() >= 3 && count.values().sum::<usize>() > 60, "{count:?}");
}

/// FNV-1a of 64 bits.
fn digest(bytes: &[u8]) -> String {
    let step = |digest: u64, &byte: &u8| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    format!("{:016x}", bytes.iter().fold(0xCBF2_9CE4_8422_2325, step))
}

/// The bodies that OpenTelemetry's own classes read field by field: `tests/oracle/otlp.py` did, and noted their digests.
#[test]
fn an_independent_library_has_read_these_bodies() {
    if std::env::var_os("TOKEN2TEXT_CAPTURES").is_some() {
        return;
    }
    let golden: Value = serde_json::from_slice(&std::fs::read(project("tests/oracle/otlp.json")).unwrap()).unwrap();
    let folder = project("target/otlp");
    std::fs::create_dir_all(&folder).unwrap();
    let mut wrong = Vec::new();
    for body in bodies().iter().filter(|body| body.format.starts_with("otlp")) {
        let enriched = enrich(&body.bytes, &real_set(&body.tokenizer), &options()).unwrap().body;
        let name = body.name.replace('/', "+");
        let (stem, kind) = name.rsplit_once('.').unwrap();
        std::fs::write(folder.join(&name), &body.bytes).unwrap();
        std::fs::write(folder.join(format!("{stem}.enriched.{kind}")), &enriched).unwrap();
        let mut dropping = options();
        dropping.drop_ids = true;
        let dropped = enrich(&body.bytes, &real_set(&body.tokenizer), &dropping).unwrap().body;
        std::fs::write(folder.join(format!("{stem}.dropped.{kind}")), &dropped).unwrap();
        if golden[&name]["digest"] != digest(&enriched) || golden[&name]["dropped"] != digest(&dropped) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?} are new: run `\"$(scripts/venv.sh otlp)\" tests/oracle/otlp.py`");
}
