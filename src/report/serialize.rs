//! Reports as serde sees them.

use serde::ser::{Serialize, Serializer};

#[cfg(any(all(test, not(target_arch = "wasm32")), target_arch = "wasm32"))]
use crate::json::{decimal_into, quote_into};

#[cfg(feature = "rollouts")]
use super::MessagesReport;
use super::{Comparison, Counts, FieldKind, FieldReport, Report, SelectReport, Status, Totals, Unknown, Warning};

/// A part of a report as serde sees it: one type, since each struct with a serializer of its own is code in the
/// WebAssembly module.
pub(crate) enum Value<'r> {
    /// A member that is left out.
    Nothing,
    Text(&'r str),
    Count(usize),
    Number(f64),
    Flag(bool),
    List(Vec<Value<'r>>),
    Members(Vec<(&'static str, Value<'r>)>),
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Nothing => serializer.serialize_unit(),
            Value::Text(text) => serializer.serialize_str(text),
            Value::Count(count) => serializer.serialize_u64(*count as u64),
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Flag(flag) => serializer.serialize_bool(*flag),
            Value::List(values) => serializer.collect_seq(values),
            Value::Members(members) => {
                let members = members.iter().filter(|(_, value)| !matches!(value, Value::Nothing));
                serializer.collect_map(members.map(|(key, value)| (key, value)))
            }
        }
    }
}

impl<'r> Value<'r> {
    /// A loop: adaptors and `collect` are code for each type in the WebAssembly module.
    pub(crate) fn list<T>(items: &'r [T], value: fn(&'r T) -> Value<'r>) -> Value<'r> {
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            list.push(value(item));
        }
        Value::List(list)
    }

    /// Appends the part as JSON: made into JavaScript values by the engine, it takes a fraction of the time that a call for
    /// each of them takes. `number` writes a number that may be no whole one.
    #[cfg(any(all(test, not(target_arch = "wasm32")), target_arch = "wasm32"))]
    pub(crate) fn json_into(&self, number: fn(f64) -> String, out: &mut Vec<u8>) {
        let start = out.len();
        match self {
            Value::Nothing => out.extend_from_slice(b"null"),
            Value::Text(text) => quote_into(text.as_bytes(), out),
            Value::Count(count) => decimal_into(*count as u64, out),
            Value::Number(value) => out.extend_from_slice(number(*value).as_bytes()),
            Value::Flag(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
            Value::List(values) => {
                out.push(b'[');
                for value in values {
                    if out.len() > start + 1 {
                        out.push(b',');
                    }
                    value.json_into(number, out);
                }
                out.push(b']');
            }
            Value::Members(members) => {
                out.push(b'{');
                for (key, value) in members {
                    if matches!(value, Value::Nothing) {
                        continue;
                    }
                    if out.len() > start + 1 {
                        out.push(b',');
                    }
                    quote_into(key.as_bytes(), out);
                    out.push(b':');
                    value.json_into(number, out);
                }
                out.push(b'}');
            }
        }
    }

    pub(crate) fn text(text: Option<&'r str>) -> Value<'r> {
        text.map_or(Value::Nothing, Value::Text)
    }
}

macro_rules! serialize_as_value {
    ($($type:ty)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.value().serialize(serializer)
            }
        }
    )*};
}

#[cfg(feature = "rollouts")]
serialize_as_value!(MessagesReport);
serialize_as_value!(Report FieldReport FieldKind Status Comparison SelectReport Unknown Warning Totals Counts);

impl Report {
    pub(crate) fn value(&self) -> Value<'_> {
        #[cfg(feature = "rollouts")]
        let messages = match &*self.messages {
            [] => Value::Nothing,
            messages => Value::list(messages, MessagesReport::value),
        };
        Value::Members(vec![
            ("format", Value::Text(self.format)),
            ("rule", Value::Text(self.rule)),
            ("spans", Value::Count(self.spans)),
            ("fields", Value::list(&self.fields, FieldReport::value)),
            ("warnings", Value::list(&self.warnings, Warning::value)),
            #[cfg(feature = "rollouts")]
            ("messages", messages),
            ("totals", self.totals.value()),
        ])
    }
}

impl FieldReport {
    fn value(&self) -> Value<'_> {
        let ids_dropped = match &*self.ids_dropped {
            [] => Value::Nothing,
            paths => Value::list(paths, |path| Value::Text(path)),
        };
        Value::Members(vec![
            ("path", Value::Text(&self.path)),
            ("textPath", Value::text(self.text_path.as_deref())),
            ("kind", self.kind.value()),
            ("layout", Value::Text(&self.layout)),
            ("tokenizer", Value::text(self.tokenizer.as_deref())),
            ("ids", Value::Count(self.ids)),
            ("status", self.status.value()),
            ("reason", Value::text(self.reason)),
            ("detail", Value::text(self.detail.as_deref())),
            ("existing", self.existing.as_ref().map_or(Value::Nothing, Comparison::value)),
            ("idsDropped", ids_dropped),
            ("shortened", self.shortened.map_or(Value::Nothing, Value::Count)),
            ("select", self.select.as_ref().map_or(Value::Nothing, SelectReport::value)),
            ("index", self.index.map_or(Value::Nothing, Value::Count)),
            ("converted", Value::text(self.converted)),
            ("unknown", self.unknown.as_ref().map_or(Value::Nothing, Unknown::value)),
        ])
    }
}

#[cfg(feature = "rollouts")]
impl MessagesReport {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("path", Value::Text(&self.path)),
            ("status", self.status.value()),
            ("count", Value::Count(self.count)),
            ("reason", Value::text(self.reason)),
            ("detail", Value::text(self.detail.as_deref())),
        ])
    }
}

#[cfg(feature = "rollouts")]
fn count_or_nothing<'r>(count: usize) -> Value<'r> {
    if count > 0 { Value::Count(count) } else { Value::Nothing }
}

impl FieldKind {
    fn value(&self) -> Value<'_> {
        Value::Text(match self {
            FieldKind::Prompt => "prompt",
            FieldKind::Response => "response",
        })
    }
}

impl Status {
    fn value(&self) -> Value<'_> {
        Value::Text(match self {
            Status::Decoded => "decoded",
            Status::Kept => "kept",
            Status::Replaced => "replaced",
            Status::Skipped => "skipped",
        })
    }
}

impl Comparison {
    fn value(&self) -> Value<'_> {
        Value::Text(match self {
            Comparison::Same => "same",
            Comparison::Different => "different",
        })
    }
}

impl SelectReport {
    fn value(&self) -> Value<'_> {
        let (by, path, second, length) = match self {
            SelectReport::Value { mask, value, length } => ("mask", mask, ("value", Value::Number(*value)), length),
            SelectReport::Not { mask, not, length } => ("mask", mask, ("not", Value::Number(*not)), length),
            SelectReport::Ranges { ranges, inside } => ("ranges", ranges, ("inside", Value::Flag(*inside)), &None),
            SelectReport::Tail { tail, inside } => ("tail", tail, ("inside", Value::Flag(*inside)), &None),
        };
        Value::Members(vec![(by, Value::Text(path)), second, ("length", Value::text(length.as_deref()))])
    }
}

impl Unknown {
    fn value(&self) -> Value<'_> {
        let positions = Value::list(&self.positions, |position| Value::Count(*position));
        Value::Members(vec![("count", Value::Count(self.count)), ("positions", positions)])
    }
}

impl Warning {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("code", Value::Text(self.code)),
            ("message", Value::Text(&self.message)),
            ("path", Value::Text(&self.path)),
        ])
    }
}

impl Totals {
    fn value(&self) -> Value<'_> {
        Value::Members(vec![
            ("decoded", Value::Count(self.decoded)),
            ("kept", Value::Count(self.kept)),
            ("replaced", Value::Count(self.replaced)),
            ("skipped", Value::Count(self.skipped)),
            ("reasons", self.reasons.value()),
            ("ids", Value::Count(self.ids)),
            ("idsDropped", Value::Count(self.ids_dropped)),
            ("shortened", Value::Count(self.shortened)),
            ("unknownIds", Value::Count(self.unknown_ids)),
            ("different", Value::Count(self.different)),
            ("spansWithoutIds", Value::Count(self.spans_without_ids)),
            ("warnings", Value::Count(self.warnings)),
            #[cfg(feature = "rollouts")]
            ("messages", count_or_nothing(self.messages)),
            #[cfg(feature = "rollouts")]
            ("noMessages", if self.no_messages.is_empty() { Value::Nothing } else { self.no_messages.value() }),
        ])
    }
}

impl Counts {
    fn value(&self) -> Value<'_> {
        let mut members = Vec::new();
        for &(code, count) in &self.list {
            members.push((code, Value::Count(count)));
        }
        Value::Members(members)
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;

    #[test]
    fn json_is_what_serde_makes() {
        let mut report = Report { format: "record", rule: "a \"rule\"", spans: 12, ..Report::default() };
        let mut field = FieldReport::new(FieldKind::Response, "verl", "/inputs/\u{e9}\n");
        report.field(field.clone());
        field.reason = Some("not_dropped");
        field.ids_dropped = vec!["/a".into(), "/b".into()];
        field.existing = Some(Comparison::Same);
        field.unknown = Some(Unknown { count: 1, positions: vec![0, 1_234_567] });
        let (mask, length) = ("/mask".to_owned(), Some("/length".to_owned()));
        field.select = Some(SelectReport::Not { mask, not: 0.5, length });
        report.field(field.clone());
        field.select = Some(SelectReport::Tail { tail: "/tail".into(), inside: true });
        report.field(field);
        report.warn("code", "message".into(), String::new());
        let mut json = Vec::new();
        report.value().json_into(|number| number.to_string(), &mut json);
        assert_eq!(String::from_utf8(json).unwrap(), serde_json::to_string(&report).unwrap());
    }
}
