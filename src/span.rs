//! A span as plain data: what every format yields to those who do not edit bytes (exporters, viewers, checks).

#[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
mod omitted;

use crate::report::FieldKind;

#[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
pub(crate) use omitted::{List, ListPlace, Omitted};

/// A span, whatever wire format it came from. What a format does not have is absent.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Span {
    /// Address of the span in its body, a JSON Pointer.
    pub path: String,
    /// Id of the trace: 32 hexadecimal digits from OTLP and MLflow, the backend's own spelling from others, empty if there
    /// is none.
    pub trace_id: String,
    /// Id of the span: 16 hexadecimal digits from OTLP and MLflow, the backend's own spelling from others, empty if there
    /// is none.
    pub span_id: String,
    /// Id of the span around this one.
    pub parent_id: Option<String>,
    /// The name; the operation where the backend calls it so.
    pub name: String,
    /// Start in nanoseconds since 1970.
    pub start_unix_nano: Option<u64>,
    /// End in nanoseconds since 1970.
    pub end_unix_nano: Option<u64>,
    /// How it ended.
    pub status: SpanStatus,
    /// What went wrong, in the backend's words.
    pub error: Option<String>,
    /// Name of the model.
    pub model: Option<String>,
    /// Which sample of which training step this is.
    pub trajectory: Trajectory,
    /// What the training gave for it, if a record says so beside its inputs and its output.
    pub reward: Option<f64>,
    /// What its inputs have as `request_id`, which calls of one conversation share.
    pub request_id: Option<String>,
    /// The inputs as JSON text, byte for byte as they stand in the body; values that are no JSON there (OTLP's) as JSON.
    pub inputs: Option<String>,
    /// The output, likewise.
    pub output: Option<String>,
    /// The attributes as JSON text of an object, without those that hold the inputs and the output.
    pub attributes: Option<String>,
    /// The events as JSON text of a list.
    pub events: Option<String>,
    /// The fields of token ids that the layouts find.
    pub fields: Vec<SpanField>,
    /// What was left out of the inputs and the output, in order.
    #[cfg(any(all(test, feature = "rollouts"), all(target_arch = "wasm32", feature = "reader")))]
    pub(crate) omitted: Vec<Omitted>,
}

/// How a span ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpanStatus {
    /// Nobody said.
    #[default]
    Unset,
    /// Well.
    Ok,
    /// With an error.
    Error,
}

impl SpanStatus {
    /// The name in JavaScript.
    pub fn as_str(self) -> &'static str {
        match self {
            SpanStatus::Unset => "unset",
            SpanStatus::Ok => "ok",
            SpanStatus::Error => "error",
        }
    }
}

/// The place of a rollout in a training run, as verl marks it: in attributes (Weave, OTLP), in the tags of the trace
/// (MLflow), in metadata (Trackio).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trajectory {
    /// Step of the training.
    pub step: Option<i64>,
    /// Number of the sample in the data.
    pub sample_index: Option<i64>,
    /// Number of the rollout among those of the sample.
    pub rollout_n: Option<i64>,
    /// Whether it is a validation.
    pub validate: Option<bool>,
    /// Name of the experiment.
    pub experiment_name: Option<String>,
}

/// A field of token ids in a span.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SpanField {
    /// What the ids are.
    pub kind: FieldKind,
    /// Name of the layout that found them.
    pub layout: String,
    /// Address of the ids in the body.
    pub path: String,
    /// Address of the text, where it is or would go.
    pub text_path: Option<String>,
    /// Number of the choice, turn or sample, where a layout has several.
    pub index: Option<usize>,
    /// The ids of the field, in order: those that the layout selects, of a list of lists all rows joined.
    pub ids: Vec<u32>,
    /// Of a list of lists: for each row where it ends in `ids`.
    pub rows: Option<Vec<usize>>,
    /// Of a selection: the ranges `[start, end)` of the list in the body that `ids` are, in order.
    pub segments: Option<Vec<[usize; 2]>>,
    /// The mask that stands with the ids, as JSON text of a list.
    pub mask: Option<String>,
    /// The log-probabilities that stand with the ids, as JSON text of a list.
    pub logprobs: Option<String>,
    /// The text that is there already; of a list of lists one for each row.
    pub existing: Option<Vec<String>>,
}
