//! Reading rollouts: what the ids of a rollout's calls say together.
//!
//! A [`Call`] is one list of ids with what a trace says of them, out of the spans of [`read`](crate::read). A [`Chat`] is a
//! chat template bound to a tokenizer, which cuts a list into [`Message`]s. [`Rollouts`] are the calls in order, each with how
//! it goes on from the one before, whose which token is, and what is wrong. [`drift()`] says where a list differs from what its
//! text is encoded to (feature `general`).

mod body;
mod calls;
mod chat;
mod check;
mod cover;
#[cfg(feature = "general")]
mod drift;
mod findings;
mod groups;
mod header;
mod joins;
mod later;
mod lists;
mod loops;
mod messages;
mod numbers;
mod overview;
mod prefixes;
mod request;
mod reward;
mod rollouts;
mod scan;
mod segments;
#[cfg(all(target_arch = "wasm32", feature = "reader"))]
mod serialize;
mod statistics;
mod syntax;
mod templates;
mod tool_calls;
mod totals;
mod turns;
mod woven;

pub use calls::{Call, Misfit, calls};
pub use chat::{Chat, Mark};
pub use check::{CheckOptions, Checked, CheckedCall, DivergedText, Rollouts};
pub use cover::{Disagreement, DisagreementKind};
#[cfg(feature = "general")]
pub use drift::{CauseCount, Drift, DriftCause, DriftRun, RangeDrift, drift, drift_with_progress};
pub use findings::{CODES, Finding, Level, Side};
pub use joins::{Divergence, Join, JoinKind, Known, Tokens};
#[cfg(all(target_arch = "wasm32", feature = "reader"))]
pub(crate) use later::CallFinder;
pub use loops::{Loop, loops};
pub use messages::{Message, ToolCall};
pub use numbers::Numbers;
pub use overview::Overview;
pub use rollouts::{Node, Role, Rollout, rollouts};
pub use segments::{Segment, SegmentKind, segments};
pub use statistics::{Logprobs, Statistics};
pub use totals::Totals;
