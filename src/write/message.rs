//! A message of protocol buffers, written as such or in their JSON.

use super::out::{JsonOut, hex};

/// A field: its number in the one encoding, its name in the other.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub number: u32,
    pub name: &'static str,
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

/// A message that is being written.
pub(super) struct Message {
    is_json: bool,
    out: JsonOut,
}

impl Message {
    pub(super) fn new(is_json: bool) -> Message {
        let mut out = JsonOut::default();
        if is_json {
            out.open(b'{');
        }
        Message { is_json, out }
    }

    /// The whole message.
    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        if self.is_json {
            self.out.close(b'}');
        }
        self.out.bytes
    }

    /// Begins a message in a field that is there once; [`Message::end`] is given the answer.
    pub(super) fn begin(&mut self, field: Field) -> usize {
        if self.is_json {
            self.out.key(field.name);
        }
        self.item(field)
    }

    /// Begins a message in a list, likewise.
    pub(super) fn item(&mut self, field: Field) -> usize {
        if self.is_json {
            self.out.open(b'{');
        } else {
            self.tag(field, LENGTH);
        }
        self.out.bytes.len()
    }

    /// Ends a message. Its length, which is known now, goes before it.
    pub(super) fn end(&mut self, start: usize) {
        if self.is_json {
            return self.out.close(b'}');
        }
        let bytes = &mut self.out.bytes;
        let end = bytes.len();
        varint_into((end - start) as u64, bytes);
        let length = bytes.split_off(end);
        bytes.extend_from_slice(&length);
        bytes.copy_within(start..end, start + length.len());
        bytes[start..start + length.len()].copy_from_slice(&length);
    }

    /// Begins a field that is there several times: [`Message::item`] for each.
    pub(super) fn list(&mut self, field: Field) {
        if self.is_json {
            self.out.key(field.name);
            self.out.open(b'[');
        }
    }

    pub(super) fn end_list(&mut self) {
        if self.is_json {
            self.out.close(b']');
        }
    }

    fn tag(&mut self, field: Field, wire: u32) {
        varint_into(u64::from(field.number << 3 | wire), &mut self.out.bytes);
    }

    pub(super) fn text(&mut self, field: Field, text: &[u8]) {
        if self.is_json {
            self.out.key(field.name);
            return self.out.string(text);
        }
        self.bytes(field, text);
    }

    /// Bytes, which OTLP spells in hexadecimal.
    pub(super) fn id(&mut self, field: Field, id: &[u8]) {
        if self.is_json {
            return self.out.text(field.name, Some(&hex(id)));
        }
        self.bytes(field, id);
    }

    fn bytes(&mut self, field: Field, bytes: &[u8]) {
        self.tag(field, LENGTH);
        varint_into(bytes.len() as u64, &mut self.out.bytes);
        self.out.bytes.extend_from_slice(bytes);
    }

    /// A time; 0 says that there is none.
    pub(super) fn fixed(&mut self, field: Field, number: u64) {
        if number == 0 {
            return;
        }
        if self.is_json {
            return self.out.text(field.name, Some(&number.to_string()));
        }
        self.tag(field, FIXED64);
        self.out.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// A number of an enumeration, below ten.
    pub(super) fn number(&mut self, field: Field, number: u8) {
        if self.is_json {
            return self.out.member(field.name, Some(&[b'0' + number]));
        }
        self.tag(field, VARINT);
        self.out.bytes.push(number);
    }

    pub(super) fn boolean(&mut self, field: Field, value: bool) {
        if self.is_json {
            return self.out.member(field.name, Some(if value { b"true" } else { b"false" }));
        }
        self.number(field, u8::from(value));
    }

    /// An integer, and its digits.
    pub(super) fn integer(&mut self, field: Field, number: i64, digits: &[u8]) {
        if self.is_json {
            return self.text(field, digits);
        }
        self.tag(field, VARINT);
        varint_into(number as u64, &mut self.out.bytes);
    }

    /// A double, and how JSON spells it.
    pub(super) fn double(&mut self, field: Field, number: f64, spelled: &[u8]) {
        if !self.is_json {
            self.tag(field, FIXED64);
            return self.out.bytes.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        self.out.key(field.name);
        if number.is_finite() { self.out.raw(spelled) } else { self.out.string(spelled) }
    }
}

fn varint_into(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
