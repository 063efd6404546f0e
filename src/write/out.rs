//! JSON as it is written: a comma goes where the last byte asks for one.

use crate::base64::hex_into;
use crate::json::{escape_into, quote_into};

/// JSON text that grows.
#[derive(Default)]
pub(super) struct JsonOut {
    pub bytes: Vec<u8>,
}

impl JsonOut {
    /// Begins a value or a member.
    fn begin(&mut self) {
        if !matches!(self.bytes.last(), None | Some(b'{' | b'[' | b':' | b'\n')) {
            self.bytes.push(b',');
        }
    }

    /// Opens an object or a list, as a value.
    pub fn open(&mut self, bracket: u8) {
        self.begin();
        self.bytes.push(bracket);
    }

    pub fn close(&mut self, bracket: u8) {
        self.bytes.push(bracket);
    }

    pub fn key(&mut self, key: &str) {
        self.string(key.as_bytes());
        self.bytes.push(b':');
    }

    pub fn string(&mut self, text: &[u8]) {
        self.begin();
        quote_into(text, &mut self.bytes);
    }

    /// A value that is JSON text already.
    pub fn raw(&mut self, json: &[u8]) {
        self.begin();
        self.bytes.extend_from_slice(json);
    }

    /// A member whose value is JSON text; null where there is none.
    pub fn member(&mut self, key: &str, json: Option<&[u8]>) {
        self.key(key);
        self.raw(json.unwrap_or(b"null"));
    }

    /// A member whose value is a string; null where there is none.
    pub fn text(&mut self, key: &str, text: Option<&str>) {
        self.key(key);
        match text {
            Some(text) => self.string(text.as_bytes()),
            None => self.raw(b"null"),
        }
    }

    /// A member whose value is a string, if there is one.
    pub fn text_if(&mut self, key: &str, text: Option<&str>) {
        if text.is_some() {
            self.text(key, text);
        }
    }

    /// A member that is a whole number; null where there is none.
    pub fn time(&mut self, key: &str, number: Option<u64>) {
        let digits = number.map(|number| number.to_string());
        self.member(key, digits.as_deref().map(str::as_bytes));
    }

    /// A member whose value is a string that holds `{"key":value}` as JSON text.
    pub fn wrapped(&mut self, key: &str, inner_key: &str, json: &[u8]) {
        self.key(key);
        self.bytes.extend_from_slice(b"\"{\\\"");
        escape_into(inner_key.as_bytes(), &mut self.bytes);
        self.bytes.extend_from_slice(b"\\\": ");
        escape_into(json, &mut self.bytes);
        self.bytes.extend_from_slice(b"}\"");
    }
}

/// Texts, one after the other.
pub(super) fn joined(texts: &[&str]) -> String {
    let mut all = String::new();
    for text in texts {
        all.push_str(text);
    }
    all
}

/// Hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    hex_into(bytes, &mut text);
    String::from_utf8(text).unwrap_or_default()
}
