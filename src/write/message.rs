//! A message of protocol buffers, written as such or in their JSON.

use super::out::{JsonOut, hex};

/// A field: its number in the one encoding, its name in the other.
#[derive(Clone, Copy)]
pub(super) struct Field {
    pub number: u32,
    pub name: &'static str,
}

/// What fills a message.
type Fill<'f> = &'f mut dyn FnMut(&mut Message);

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
        Message { is_json, out: JsonOut::default() }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out.bytes
    }

    /// The outermost message.
    pub(super) fn whole(&mut self, fill: Fill<'_>) {
        if self.is_json {
            return self.braces(fill);
        }
        fill(self);
    }

    /// A message in a field that is there once.
    pub(super) fn message(&mut self, field: Field, fill: Fill<'_>) {
        if self.is_json {
            self.out.key(field.name);
            return self.braces(fill);
        }
        self.framed(field, fill);
    }

    /// A field that is there several times: [`Message::item`] for each.
    pub(super) fn list(&mut self, field: Field, fill: Fill<'_>) {
        if !self.is_json {
            return fill(self);
        }
        self.out.key(field.name);
        self.out.open(b'[');
        fill(self);
        self.out.close(b']');
    }

    /// A message in a list.
    pub(super) fn item(&mut self, field: Field, fill: Fill<'_>) {
        if self.is_json {
            return self.braces(fill);
        }
        self.framed(field, fill);
    }

    fn braces(&mut self, fill: Fill<'_>) {
        self.out.open(b'{');
        fill(self);
        self.out.close(b'}');
    }

    /// A message after its length, which is known when it is written.
    fn framed(&mut self, field: Field, fill: Fill<'_>) {
        self.tag(field, LENGTH);
        let start = self.out.bytes.len();
        fill(self);
        let mut length = Vec::new();
        varint_into((self.out.bytes.len() - start) as u64, &mut length);
        self.out.bytes.splice(start..start, length);
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

    /// A number of an enumeration.
    pub(super) fn number(&mut self, field: Field, number: u32) {
        if self.is_json {
            return self.out.member(field.name, Some(number.to_string().as_bytes()));
        }
        self.tag(field, VARINT);
        varint_into(u64::from(number), &mut self.out.bytes);
    }

    pub(super) fn boolean(&mut self, field: Field, value: bool) {
        if self.is_json {
            return self.out.member(field.name, Some(if value { b"true" } else { b"false" }));
        }
        self.number(field, u32::from(value));
    }

    pub(super) fn integer(&mut self, field: Field, number: i64) {
        if self.is_json {
            return self.out.text(field.name, Some(&number.to_string()));
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
