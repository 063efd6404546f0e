//! The import direction of ARCHITECTURE.md, read from the sources: a part that names another it must not know fails
//! here.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module of `src`, and the modules it may name besides [`EVERYONE`].
const MAY_NAME: [(&str, &[&str]); 18] = [
    ("base64", &[]),
    ("error", &[]),
    ("view", &[]),
    ("limits", &[]),
    ("report", &[]),
    ("span", &[]),
    ("json", &[]),
    ("ids", &[]),
    ("tokenizer", &[]),
    ("layouts", &["ids"]),
    ("formats", &["layouts"]),
    ("enrich", &["formats", "layouts", "ids", "rollout", "tokenizer"]),
    ("read", &["formats", "layouts", "ids"]),
    ("write", &["formats"]),
    ("rollout", &["tokenizer"]),
    ("options", &["enrich", "formats", "layouts", "read", "rollout", "write"]),
    ("wasm", &["options", "rollout", "enrich", "read", "write", "formats", "layouts", "tokenizer"]),
    ("lib", &["options", "rollout", "enrich", "read", "write", "formats", "layouts", "ids", "tokenizer", "wasm"]),
];

/// Modules that every other may name. `Error` and `ErrorCode` stand at the root of the crate.
const EVERYONE: [&str; 9] = ["base64", "error", "report", "span", "limits", "json", "view", "Error", "ErrorCode"];

/// Crates that only one part may name.
const WALLED: [(&str, &str); 5] = [
    ("wasm_bindgen", "src/wasm/"),
    ("js_sys", "src/wasm/"),
    ("talc::", "src/wasm/"),
    ("tokenizers::", "src/tokenizer/general/"),
    ("serde_json", "src/tokenizer/general/"),
];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(rust_files(&path)),
            false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
            false => {}
        }
    }
    files
}

/// The code of a file, without comments and without its unit tests, which may be all of it.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    if text.contains("\n#![cfg(all(test") {
        return String::new();
    }
    let text = text.split("\nmod tests {").next().unwrap_or_default().to_owned();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The names that follow `crate::`, one or several in braces.
fn named(code: &str) -> BTreeSet<String> {
    let first_word =
        |text: &str| text.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    code.match_indices("crate::")
        .flat_map(|(at, found)| {
            let rest = &code[at + found.len()..];
            match rest.strip_prefix('{') {
                Some(group) => group.split('}').next().unwrap_or_default().split(',').map(first_word).collect(),
                None => vec![first_word(rest)],
            }
        })
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn modules_name_only_what_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = rust_files(&root.join("src"));
    let mut edges = 0;
    for file in &files {
        let relative = file.strip_prefix(root.join("src")).unwrap();
        let module = relative.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let allowed = MAY_NAME.iter().find(|(name, _)| *name == module);
        let (_, allowed) =
            allowed.unwrap_or_else(|| panic!("src/{} is no part of the architecture", relative.display()));
        for name in named(&code(file)) {
            let may = name == module || EVERYONE.contains(&name.as_str()) || allowed.contains(&name.as_str());
            assert!(may, "src/{}: `{module}` must not name `{name}`", relative.display());
            edges += 1;
        }
    }
    assert!(files.len() > 25 && edges > 40, "{} files, {edges} edges: the test reads too little", files.len());
}

#[test]
fn walled_crates_stay_in_their_part() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in rust_files(&root.join("src")) {
        let relative = file.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        for (walled, part) in WALLED {
            let is_named = code(&file).contains(walled);
            assert!(!is_named || relative.starts_with(part), "{relative} names {walled}, which is for {part}");
        }
    }
}
