//! What a request says of itself, out of the inputs of its span.

use crate::json::Json;
use crate::span::Span;
use crate::view::{NodeId, Tree};

/// Names for the most tokens that a model is to write: vLLM's and verl's, OpenAI's, SGLang's and TGI's.
const MOST_WRITTEN: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_new_tokens"];

/// Where they stand, if not among the inputs themselves.
const PARAMETERS: [&str; 2] = ["sampling_params", "parameters"];

/// Inputs are not nested deeper than bodies may be.
const MAX_DEPTH: usize = 1024;

/// What the inputs of a span say, as far as they are a JSON object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Request {
    /// The most tokens that the model was to write.
    pub most_written: Option<usize>,
}

impl Request {
    pub fn of(span: &Span) -> Request {
        let inputs = span.inputs.as_deref().unwrap_or_default();
        let Ok(mut json) = Json::parse(inputs.as_bytes(), MAX_DEPTH) else { return Request::default() };
        let mut objects: Vec<NodeId> = vec![Json::ROOT];
        objects.extend(PARAMETERS.iter().filter_map(|name| json.member(Json::ROOT, name)));
        let mut most_written = None;
        for (object, name) in objects.iter().flat_map(|&object| MOST_WRITTEN.map(|name| (object, name))) {
            let Some(value) = json.member(object, name) else { continue };
            most_written =
                most_written.or(std::str::from_utf8(json.raw(value)).ok().and_then(|text| text.parse().ok()));
        }
        Request { most_written }
    }
}
