//! The tokenizer against the `tokenizers` crate: known traps, random tokenizers, damaged files.
#![cfg(not(target_arch = "wasm32"))]

mod damage;
mod differential;
mod hostile;
mod support;
mod traps;
