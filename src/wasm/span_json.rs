//! A span as JSON text, as JavaScript has it (`span.d.ts` of the package).

use crate::json::quote_into;
#[cfg(feature = "spans")]
use crate::report::FieldKind;
#[cfg(feature = "spans")]
use crate::span::SpanField;
use crate::span::{Span, SpanStatus};

/// Writes spans as JSON, and collects the ids of their fields.
#[derive(Default)]
pub(super) struct Writer {
    json: Vec<u8>,
    ids: Vec<u32>,
}

impl Writer {
    /// The JSON text, and the ids one after the other.
    pub(super) fn finish(self) -> (String, Vec<u32>) {
        (String::from_utf8(self.json).unwrap_or_default(), self.ids)
    }

    /// A list.
    #[cfg(feature = "spans")]
    pub(super) fn list<T>(&mut self, items: &[T], item: fn(&mut Writer, &T)) {
        self.json.push(b'[');
        for (i, one) in items.iter().enumerate() {
            if i > 0 {
                self.json.push(b',');
            }
            item(self, one);
        }
        self.json.push(b']');
    }

    fn key(&mut self, key: &str) {
        if !self.json.ends_with(b"{") {
            self.json.push(b',');
        }
        quote_into(key.as_bytes(), &mut self.json);
        self.json.push(b':');
    }

    fn text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.key(key);
            quote_into(text.as_bytes(), &mut self.json);
        }
    }

    fn number(&mut self, key: &str, number: Option<i64>) {
        if let Some(number) = number {
            self.key(key);
            self.json.extend_from_slice(number.to_string().as_bytes());
        }
    }

    #[cfg(feature = "spans")]
    fn count(&mut self, count: &usize) {
        self.json.extend_from_slice(count.to_string().as_bytes());
    }

    /// A span with its fields.
    #[cfg(feature = "spans")]
    pub(super) fn span(&mut self, span: &Span) {
        self.facts(span);
        self.json.pop();
        self.key("fields");
        self.list(&span.fields, Writer::field);
        self.json.push(b'}');
    }

    /// A span without its fields.
    pub(super) fn facts(&mut self, span: &Span) {
        self.json.push(b'{');
        let times = [span.start_unix_nano, span.end_unix_nano].map(|time| time.map(|time| time.to_string()));
        let trajectory = &span.trajectory;
        for (key, text) in [
            ("path", Some(&span.path)),
            ("traceId", Some(&span.trace_id)),
            ("spanId", Some(&span.span_id)),
            ("parentId", span.parent_id.as_ref()),
            ("name", Some(&span.name)),
            ("startUnixNano", times[0].as_ref()),
            ("endUnixNano", times[1].as_ref()),
            ("error", span.error.as_ref()),
            ("model", span.model.as_ref()),
            ("experimentName", trajectory.experiment_name.as_ref()),
            ("inputs", span.inputs.as_ref()),
            ("output", span.output.as_ref()),
            ("attributes", span.attributes.as_ref()),
            ("events", span.events.as_ref()),
        ] {
            self.text(key, text.map(String::as_str));
        }
        self.text("status", Some(SpanStatus::as_str(span.status)));
        self.number("step", trajectory.step);
        self.number("sampleIndex", trajectory.sample_index);
        self.number("rolloutN", trajectory.rollout_n);
        if let Some(validate) = trajectory.validate {
            self.key("validate");
            self.json.extend_from_slice(if validate { b"true" } else { b"false" });
        }
        self.json.push(b'}');
    }

    #[cfg(feature = "spans")]
    fn field(&mut self, field: &SpanField) {
        self.json.push(b'{');
        let kind = match field.kind {
            FieldKind::Prompt => "prompt",
            FieldKind::Response => "response",
        };
        for (key, text) in [
            ("kind", Some(kind)),
            ("layout", Some(&*field.layout)),
            ("path", Some(&*field.path)),
            ("textPath", field.text_path.as_deref()),
            ("mask", field.mask.as_deref()),
            ("logprobs", field.logprobs.as_deref()),
        ] {
            self.text(key, text);
        }
        self.number("index", field.index.map(|index| index as i64));
        self.number("ids", Some(field.ids.len() as i64));
        self.ids.extend_from_slice(&field.ids);
        if let Some(rows) = &field.rows {
            self.key("rows");
            self.list(rows, Writer::count);
        }
        if let Some(segments) = &field.segments {
            self.key("segments");
            self.list(segments, |writer, segment| writer.list(segment, Writer::count));
        }
        if let Some(existing) = &field.existing {
            self.key("existing");
            self.list(existing, |writer, text| quote_into(text.as_bytes(), &mut writer.json));
        }
        self.json.push(b'}');
    }
}
