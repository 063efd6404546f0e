//! What the tests of `write` share: its options and formats, and the spans of the recorded bodies.

use std::path::PathBuf;

use token2text::{Error, ErrorCode, Format, ReadOptions, Span, WriteOptions, read, write};

use super::common::project;

pub fn options() -> WriteOptions {
    let text = br#"{"projectId": "entity/project", "project": "rollouts", "run": "exp1", "runId": "0123456789abcdef"}"#;
    WriteOptions::from_json(text).unwrap().1
}

pub const FORMATS: [(Format, &str); 6] = [
    (Format::OtlpProto, "otlp.pb"),
    (Format::OtlpJson, "otlp.json"),
    (Format::Mlflow, "mlflow.json"),
    (Format::Weave, "weave.json"),
    (Format::Trackio, "trackio.json"),
    (Format::Record, "record.jsonl"),
];

/// Writes the spans that are not too deep for a format, and says which are.
pub fn write_shallow(spans: &[Span], format: Format) -> Result<(Vec<u8>, Vec<usize>), Error> {
    let (mut kept, mut too_deep): (Vec<usize>, Vec<usize>) = ((0..spans.len()).collect(), Vec::new());
    loop {
        let left: Vec<Span> = kept.iter().map(|&i| spans[i].clone()).collect();
        match write(&left, format, &options()) {
            Ok(body) => return Ok((body, too_deep)),
            Err(error) if error.code() == ErrorCode::LimitExceeded => {
                let place = error.message().strip_prefix("spans[").and_then(|rest| rest.split_once(']')).unwrap().0;
                too_deep.push(kept.remove(place.parse().unwrap()));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Files beside the recorded bodies.
const NO_BODIES: [&str; 5] = ["expected.json", "meta.json", "index.json", "tokenizers.json", "README.md"];

/// The spans of every recorded body of the project, or of the folder that `READ_CAPTURES` names.
pub fn recorded() -> Vec<(String, Vec<Span>)> {
    let folder = std::env::var_os("READ_CAPTURES").map_or_else(|| project("tests/fixtures"), PathBuf::from);
    let mut pending = match std::env::var_os("READ_CAPTURES") {
        Some(_) => vec![folder.clone()],
        None => vec![folder.join("wire"), folder.join("captures")],
    };
    let mut bodies = Vec::new();
    while let Some(at) = pending.pop() {
        for entry in std::fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            if NO_BODIES.contains(&path.file_name().unwrap().to_str().unwrap()) {
                continue;
            }
            // What is compressed or a protocol of its own is no body.
            let Ok(spans) = read(&std::fs::read(&path).unwrap(), &ReadOptions::default()) else { continue };
            if !spans.is_empty() {
                bodies.push((path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('/', "+"), spans));
            }
        }
    }
    bodies.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(bodies.len() > 80, "{} bodies", bodies.len());
    bodies
}
