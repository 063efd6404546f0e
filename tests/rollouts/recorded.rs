//! Recorded bodies.

use std::path::{Path, PathBuf};

use token2text::rollout::{Call, Role, Rollout, calls, rollouts as read_rollouts};
use token2text::{ReadOptions, Span, read};

use crate::common::project;
use crate::support::{check_tree, spans_of};

/// The roles, spans' names, prompts and parents of a rollout, without what depends on the order of copies.
fn shape(spans: &[Span], calls: &[Call], rollout: &Rollout) -> Vec<(String, String, usize, usize, Option<usize>)> {
    let node = |node: &token2text::rollout::Node| {
        let call = &calls[node.call];
        let parent = node.parent.map(|parent| calls[rollout.nodes[parent].call].ids.len());
        (node.role.as_str().to_owned(), spans[call.span].name.clone(), call.prompt, call.ids.len(), parent)
    };
    let mut shape: Vec<_> = rollout.nodes.iter().map(node).collect();
    shape.sort();
    shape
}

/// Folders of recordings: those of the repository, or all if `READ_CAPTURES` names where they are.
fn capture_folders() -> Vec<PathBuf> {
    let roots = match std::env::var_os("READ_CAPTURES") {
        Some(root) => ["mlflow", "otlp", "plain", "trackio", "weave-js", "weave-python"]
            .map(|part| Path::new(&root).join(part))
            .to_vec(),
        None => ["captures", "wire/mlflow", "wire/otlp"].map(|part| project("tests/fixtures").join(part)).to_vec(),
    };
    let entries = roots.into_iter().flat_map(|root| std::fs::read_dir(root).unwrap());
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[test]
fn recorded_rollouts_are_clean() {
    let (mut joins, mut trajectories, mut bodies) = (0, 0, 0);
    for folder in capture_folders() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in std::fs::read_dir(&folder).unwrap() {
            let path = file.unwrap().path();
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            if file == "meta.json" || file == "expected.json" {
                continue;
            }
            let Ok(spans) = read(&std::fs::read(&path).unwrap(), &ReadOptions::default()) else { continue };
            let calls = calls(&spans);
            let rollouts = read_rollouts(&spans, &calls, &());
            check_tree(&calls, &rollouts);
            bodies += 1;
            for node in rollouts.iter().flat_map(|rollout| &rollout.nodes) {
                trajectories += usize::from(node.role == Role::Trajectory);
                // Odd values stand in bodies that are called so; a body with all of them has what was never one rollout.
                if let Some(join) = node.join.as_ref().filter(|_| !name.contains("edge")) {
                    assert!(join.kind.is_legal(), "{name}/{file}: {join:?}");
                    joins += 1;
                }
                if !name.contains("edge") {
                    assert_eq!(node.disagreements, [], "{name}/{file}");
                }
            }
        }
    }
    println!("{bodies} bodies, {joins} joins, {trajectories} trajectories");
    assert!(
        bodies > 60 && joins > 10 && trajectories > 8,
        "{bodies} bodies, {joins} joins, {trajectories} trajectories"
    );
}

#[test]
fn backends_tell_the_same_turns() {
    // Two rollouts in one body each: MLflow's is nested, Weave's has no span around the run, Trackio's is flat, and what its
    // server answers is in no order.
    let folders = [
        ("wire/mlflow/verl-qwen3-ids", "15-get-trace-artifact.json"),
        ("wire/mlflow/verl-qwen3-ids", "16-traces-get.json"),
        ("captures/weave-python-verl-qwen3-ids", "01-calls-complete.json"),
        ("captures/weave-python-verl-qwen3-ids", "02-stream-query.jsonl"),
        ("captures/trackio-verl-qwen3-ids", "01-bulk-log.json"),
        ("captures/trackio-verl-qwen3-ids", "02-get-traces.json"),
    ];
    let mut bodies: Vec<(&str, PathBuf)> =
        folders.iter().map(|(folder, file)| ("qwen3", project("tests/fixtures").join(folder).join(file))).collect();
    if let Some(root) = std::env::var_os("READ_CAPTURES") {
        for tokenizer in ["qwen3", "llama3_1", "llama2"] {
            for backend in ["mlflow", "weave-python", "trackio"] {
                let folder = Path::new(&root).join(backend).join(format!("verl-{tokenizer}-ids"));
                let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
                let wanted = [
                    "put-traces-json",
                    "get-trace-artifact",
                    "calls-complete",
                    "stream-query",
                    "bulk-log",
                    "get-traces.",
                ];
                let files = files.filter(|path| {
                    wanted.iter().any(|part| path.file_name().unwrap().to_string_lossy().contains(part))
                });
                bodies.extend(files.map(|path| (tokenizer, path)));
            }
        }
    }
    // What is told of the first conversation, by tokenizer.
    let mut told = std::collections::BTreeMap::new();
    for (tokenizer, path) in &bodies {
        let spans = spans_of(&std::fs::read(path).unwrap());
        let calls = calls(&spans);
        let rollouts = read_rollouts(&spans, &calls, &());
        check_tree(&calls, &rollouts);
        assert!(!rollouts.is_empty(), "{}", path.display());
        for rollout in &rollouts {
            let shape = shape(&spans, &calls, rollout);
            let key = (*tokenizer, shape.iter().map(|(.., len, _)| *len).max());
            let known = told.entry(key).or_insert_with(|| shape.clone());
            assert_eq!(*known, shape, "{}", path.display());
        }
    }
    let kyoto = &told[&("qwen3", Some(485))];
    let roles: Vec<&str> = kyoto.iter().map(|(role, ..)| role.as_str()).collect();
    assert_eq!(roles, ["copy", "copy", "copy", "trajectory", "turn", "turn", "turn"]);
    let parents: Vec<Option<usize>> = kyoto.iter().map(|&(.., parent)| parent).collect();
    assert_eq!(parents, [None, None, None, None, None, Some(290), Some(390)]);
    println!("{} bodies, {} rollouts", bodies.len(), told.len());
}
