//! `read`: spans as one JSON text and one list of ids, which JavaScript takes apart.

use js_sys::{Array, Uint32Array};
use wasm_bindgen::prelude::*;

use super::to_js_error;
use crate::formats::Origin;
use crate::json::quote_into;
use crate::read::{ReadOptions, read_from};
use crate::report::FieldKind;
use crate::span::{Span, SpanField, SpanStatus};

/// Reads the spans of a body: a list of their JSON text, without ids, and of the ids of all fields one after the other.
/// `options` as JSON: `format`, `layouts`, `limits`. Of where the body comes from, and of traces, what is empty says nothing.
#[wasm_bindgen]
pub fn read(body: &[u8], options: &str, content_type: &str, url: &str, trace_infos: &[u8]) -> Result<Array, JsValue> {
    let origin = Origin { content_type: Some(content_type), url: Some(url) };
    let spans = ReadOptions::from_json(options.as_bytes()).and_then(|mut options| {
        options.trace_infos = Some(trace_infos).filter(|infos| !infos.is_empty()).map(<[u8]>::to_vec);
        read_from(body, &origin, &options)
    });
    let mut writer = Writer { json: Vec::new(), ids: Vec::new() };
    writer.list(&spans.map_err(to_js_error)?, Writer::span);
    let json = String::from_utf8(writer.json).unwrap_or_default();
    Ok(Array::of2(&json.into(), &Uint32Array::from(writer.ids.as_slice())))
}

struct Writer {
    json: Vec<u8>,
    ids: Vec<u32>,
}

impl Writer {
    fn list<T>(&mut self, items: &[T], item: fn(&mut Writer, &T)) {
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

    fn count(&mut self, count: &usize) {
        self.json.extend_from_slice(count.to_string().as_bytes());
    }

    fn span(&mut self, span: &Span) {
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
        self.key("fields");
        self.list(&span.fields, Writer::field);
        self.json.push(b'}');
    }

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
