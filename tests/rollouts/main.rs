//! Rollouts: calls, turns, joins, segments and findings, of recorded bodies, of rollouts that were made with the marks of real
//! templates, and of any ids.
#![cfg(all(not(target_arch = "wasm32"), feature = "rollouts"))]

#[path = "../common/chats.rs"]
mod chats;
#[path = "../common/mod.rs"]
mod common;

mod calls;
mod clean;
mod codes;
#[cfg(feature = "general")]
mod drift;
mod faults;
mod joins;
mod made;
mod properties;
mod recorded;
mod support;
mod templates;
mod trees;
