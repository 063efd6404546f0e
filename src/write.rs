//! Spans as bodies that backends take: the way back from [`Span`]s to a wire format.

mod clean;
mod ids;
mod message;
mod mlflow;
mod number;
mod otlp;
mod out;
mod record;
mod spans;
mod time;
mod trackio;
mod values;
mod weave;

use crate::formats::Format;
use crate::span::Span;
use crate::{Error, ErrorCode};

/// What a backend asks for that no span has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Weave's name of the project, `entity/project`. Weave needs it.
    pub project_id: Option<String>,
    /// Trackio's name of the project. Trackio needs it.
    pub project: Option<String>,
    /// Trackio's name of the run. Trackio needs it.
    pub run: Option<String>,
    /// Trackio's id of the run; without one its server takes the name.
    pub run_id: Option<String>,
}

/// Writes spans as one body of a format.
///
/// | format | what comes out |
/// |---|---|
/// | `OtlpProto`, `OtlpJson` | an `ExportTraceServiceRequest` |
/// | `Mlflow` | the file `traces.json`, of which MLflow has one a trace |
/// | `Weave` | a batch for `calls/complete` |
/// | `Trackio` | a body for `bulk_log` |
/// | `Record` | JSON lines, a span each |
///
/// Ids of other spellings than a format's become ids of its own, the same each time. JSON stays as it is spelled, but
/// half a surrogate pair becomes U+FFFD.
///
/// # Errors
/// `invalid_options`: the format cannot be written, or needs an option that is absent. `invalid_body`: the inputs, output,
/// attributes or events of a span are not JSON. `limit_exceeded`: they are nested too deep.
///
/// # Example
/// ```
/// use token2text::{Format, Span, WriteOptions, write};
///
/// let mut span = Span::default();
/// span.name = "generate".to_owned();
/// span.output = Some(r#"{"token_ids":[1,2]}"#.to_owned());
/// let body = write(&[span], Format::Record, &WriteOptions::default())?;
/// assert_eq!(body, br#"{"name":"generate","output":{"token_ids":[1,2]}}
/// "#);
/// # Ok::<(), token2text::Error>(())
/// ```
pub fn write(spans: &[Span], format: Format, options: &WriteOptions) -> Result<Vec<u8>, Error> {
    match format {
        Format::OtlpProto => otlp::write(spans, false),
        Format::OtlpJson => otlp::write(spans, true),
        Format::Mlflow => mlflow::write(spans),
        Format::Weave => {
            let project_id = needed(&options.project_id, "projectId")?;
            let slash = project_id.bytes().position(|byte| byte == b'/').unwrap_or(0);
            if slash == 0 || slash + 1 == project_id.len() {
                let what = "`projectId` must be \"entity/project\"";
                return Err(Error::new(ErrorCode::InvalidOptions, what));
            }
            weave::write(spans, project_id)
        }
        Format::Trackio => {
            let project = needed(&options.project, "project")?;
            trackio::write(spans, project, needed(&options.run, "run")?, options)
        }
        Format::Record => record::write(spans),
        Format::Auto | Format::Sse => {
            let what = format!("spans cannot be written as `{}`; name the format of a backend", format.as_str());
            Err(Error::new(ErrorCode::InvalidOptions, what))
        }
    }
}

/// An option that a backend needs.
fn needed<'o>(option: &'o Option<String>, name: &str) -> Result<&'o str, Error> {
    let given = option.as_deref().filter(|text| !text.is_empty());
    given.ok_or_else(|| Error::new(ErrorCode::InvalidOptions, format!("the backend needs the option `{name}`")))
}
