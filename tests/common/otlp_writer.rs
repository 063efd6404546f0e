//! Random trace requests as protocol buffers, with and without the texts that belong into them.

/// A generator of numbers that are the same in every run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Writes the same random request with and without the text of its ids. Lengths have the width that they need, or one
/// that has room for both.
pub struct Writer {
    pub numbers: Numbers,
    pub with_text: bool,
}

impl Writer {
    pub fn varint(value: u64, width: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut rest = value;
        while rest >= 0x80 || out.len() + 1 < width {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
        out
    }

    fn message(&mut self, number: u64, content: &[u8]) -> Vec<u8> {
        let width = if self.numbers.below(4) == 0 { 5 } else { 0 };
        [Self::varint(number << 3 | 2, 0), Self::varint(content.len() as u64, width), content.to_vec()].concat()
    }

    /// Fields that no schema has, of every type.
    fn unknown(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..self.numbers.below(3) {
            let number = 100 + self.numbers.below(5000);
            let bytes: Vec<u8> = (0..self.numbers.below(20)).map(|_| self.numbers.below(256) as u8).collect();
            match self.numbers.below(4) {
                0 => out.extend([Self::varint(number << 3, 0), Self::varint(self.numbers.below(1 << 40), 7)].concat()),
                1 => out.extend([Self::varint(number << 3 | 1, 0), vec![0xFF; 8]].concat()),
                2 => out.extend([Self::varint(number << 3 | 5, 0), vec![0x0A; 4]].concat()),
                _ => out.extend(self.message(number, &bytes)),
            }
        }
        out
    }

    fn text(&mut self, text: &[u8]) -> Vec<u8> {
        [&[0x0A, text.len() as u8][..], text].concat()
    }

    fn pair(&mut self, number: u64, key: &[u8], value: &[u8]) -> Vec<u8> {
        let parts = [self.unknown(), self.message(1, key), self.unknown(), self.message(2, value), self.unknown()];
        self.message(number, &parts.concat())
    }

    /// What enrichment writes.
    fn own(&mut self, number: u64, key: &[u8], text: &[u8]) -> Vec<u8> {
        if !self.with_text {
            return Vec::new();
        }
        let text = self.text(text);
        let content = [&[0x0A, key.len() as u8][..], key, &[0x12, text.len() as u8], &text].concat();
        [Self::varint(number << 3 | 2, 0), Self::varint(content.len() as u64, 0), content].concat()
    }

    fn value(&mut self, depth: u64) -> Vec<u8> {
        match self.numbers.below(if depth > 3 { 4 } else { 6 }) {
            0 => Vec::new(),
            1 => self.text("naïve \u{FFFD}".as_bytes()),
            2 => [Self::varint(3 << 3, 0), Self::varint(self.numbers.below(1 << 50), 0)].concat(),
            3 => [vec![4 << 3 | 1], f64::NAN.to_le_bytes().to_vec()].concat(),
            4 => {
                let values: Vec<Vec<u8>> = (0..self.numbers.below(3)).map(|_| self.value(depth + 1)).collect();
                let values: Vec<u8> = values.iter().flat_map(|value| self.message(1, value)).collect();
                self.message(5, &values)
            }
            _ => {
                let value = self.value(depth + 1);
                let pairs = [self.pair(1, b"token_ids", &value), self.unknown()].concat();
                self.message(6, &pairs)
            }
        }
    }

    /// The value `[0, 1, 2]`.
    fn ids(&mut self) -> Vec<u8> {
        let ids = [0x0A, 2, 0x18, 0, 0x0A, 2, 0x18, 1, 0x0A, 2, 0x18, 2];
        self.message(5, &ids)
    }

    fn span(&mut self) -> Vec<u8> {
        let mut parts = vec![self.unknown(), self.message(1, &[7; 16]), self.message(5, b"generate")];
        let extra = self.value(0);
        parts.push(self.pair(9, b"extra", &extra));
        match self.numbers.below(4) {
            0 => {
                let text = if self.with_text {
                    &br#"{"response_text": "abc", "token_ids": [0, 1, 2]}"#[..]
                } else {
                    br#"{"token_ids": [0, 1, 2]}"#
                };
                // Only the pair, the value and its string grow: their unknown fields stay.
                let value = self.text(text);
                parts.push(self.pair(9, b"mlflow.spanOutputs", &value));
            }
            1 => {
                let ids = self.ids();
                let pairs = [
                    self.unknown(),
                    self.own(1, b"response_text", b"abc"),
                    self.pair(1, b"token_ids", &ids),
                    self.unknown(),
                ];
                let value = self.message(6, &pairs.concat());
                parts.push(self.pair(9, b"mlflow.spanOutputs", &value));
            }
            2 => {
                let ids = self.ids();
                parts.push(self.own(9, b"token2text.text", b"abc"));
                parts.push(self.pair(9, b"ids", &ids));
            }
            _ => {}
        }
        let ids = self.ids();
        if self.numbers.below(3) == 0 {
            let event =
                [self.unknown(), self.own(3, b"token2text.response_text", b"abc"), self.pair(3, b"token_ids", &ids)];
            parts.push(self.message(11, &event.concat()));
        }
        parts.push(self.unknown());
        self.message(2, &parts.concat())
    }

    pub fn request(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..=self.numbers.below(2) {
            let mut scopes = self.message(1, b"");
            for _ in 0..self.numbers.below(3) {
                let spans: Vec<u8> = (0..self.numbers.below(4)).flat_map(|_| self.span()).collect();
                scopes.extend([self.unknown(), self.message(2, &spans), self.unknown()].concat());
            }
            out.extend(self.message(1, &scopes));
            out.extend(self.unknown());
        }
        out
    }
}
