//! Normalizers, each step on a string of its own: some leave the crate's offsets in a state in which a later one panics.

use serde_json::Value;
use tokenizers::normalizers::Precompiled;
use tokenizers::{NormalizedString, Normalizer, NormalizerWrapper};

use super::{invalid, limit_exceeded};
use crate::Error;

/// So long may the added tokens be in all, normalized.
const MAX_NORMALIZED: usize = 64 << 20;

/// So long may one added token become at any step. The crate takes dozens of bytes for each.
const MAX_FORM: usize = 4 << 20;

/// The forms of some contents under a normalizer given as JSON text.
pub(in crate::tokenizer) fn normalize(normalizer: &str, contents: &[&str]) -> Result<Vec<String>, Error> {
    let steps = Steps::read(normalizer)?;
    let mut room = MAX_NORMALIZED;
    let mut forms = Vec::with_capacity(contents.len());
    for content in contents {
        let form = steps.form(content, MAX_FORM)?;
        let Some(left) = room.checked_sub(form.len()) else {
            return Err(limit_exceeded("normalizer: the added tokens grow beyond 64 MiB"));
        };
        room = left;
        forms.push(form);
    }
    Ok(forms)
}

/// A normalizer, its sequences taken apart.
#[derive(Debug, Default)]
pub(super) struct Steps(Vec<Step>);

#[derive(Debug)]
struct Step {
    normalizer: NormalizerWrapper,
    map: Option<CharsMap>,
    /// The most bytes that the step can make of one byte, or of the end.
    growth: usize,
}

impl Steps {
    /// Reads a normalizer given as JSON text.
    pub fn read(normalizer: &str) -> Result<Steps, Error> {
        let value = serde_json::from_str(normalizer).map_err(|error| invalid(format!("normalizer: {error}")))?;
        let mut steps = Steps::default();
        steps.collect(value)?;
        Ok(steps)
    }

    /// Whether every text stays as it is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The form of a text, if it cannot be longer than `most` at any step.
    pub fn form(&self, text: &str, most: usize) -> Result<String, Error> {
        let mut form = text.to_owned();
        for step in &self.0 {
            if form.len().saturating_add(1).saturating_mul(step.growth) > most {
                return Err(limit_exceeded("normalizer: its steps could make a token or a text longer without bound"));
            }
            if let Some(map) = &step.map {
                map.check(&form)?;
            }
            let mut fresh = NormalizedString::from(form.as_str());
            step.normalizer.normalize(&mut fresh).map_err(|error| invalid(format!("normalizer: {error}")))?;
            form = fresh.get().to_owned();
        }
        Ok(form)
    }

    /// Refuses tables that some text could lead out of.
    pub fn check_for_any_text(&self) -> Result<(), Error> {
        for map in self.0.iter().filter_map(|step| step.map.as_ref()) {
            map.check_all().ok_or_else(damaged_map)?;
        }
        Ok(())
    }

    fn collect(&mut self, mut value: Value) -> Result<(), Error> {
        if value.get("type").and_then(Value::as_str) == Some("Sequence") {
            let Some(Value::Array(parts)) = value.get_mut("normalizers").map(Value::take) else {
                return Err(invalid("normalizer: a Sequence needs the list \"normalizers\"".to_owned()));
            };
            return parts.into_iter().try_for_each(|part| self.collect(part));
        }
        // Unicode's longest decomposition makes eleven times as many bytes; most steps copy what they are given.
        let text = |key: &str| value.get(key).and_then(Value::as_str).map_or(0, str::len);
        let mut growth = 12 + text("content") + text("prepend");
        let mut map = None;
        if value.get("type").and_then(Value::as_str) == Some("Precompiled") {
            let charsmap = value.get("precompiled_charsmap").and_then(Value::as_str);
            let charsmap = charsmap.and_then(CharsMap::new).ok_or_else(damaged_map)?;
            growth += charsmap.normalized.split('\0').map(str::len).max().unwrap_or_default();
            map = Some(charsmap);
            serde_json::from_str::<Precompiled>(&value.to_string()).map_err(|_| damaged_map())?;
        }
        let normalizer = serde_json::from_value(value).map_err(|error| invalid(format!("normalizer: {error}")))?;
        self.0.push(Step { normalizer, map, growth });
        Ok(())
    }
}

/// The tables inside a `Precompiled` normalizer, read only to see that the crate's unchecked walk stays inside them.
#[derive(Debug)]
struct CharsMap {
    trie: Vec<u32>,
    normalized: String,
}

impl CharsMap {
    fn new(base64: &str) -> Option<CharsMap> {
        let bytes = crate::base64::decode(base64.as_bytes())?;
        let (size, rest) = bytes.split_first_chunk::<4>()?;
        let (trie, normalized) = rest.split_at_checked(u32::from_le_bytes(*size) as usize / 4 * 4)?;
        let trie = trie.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit)).collect();
        Some(CharsMap { trie, normalized: String::from_utf8(normalized.to_vec()).ok()? })
    }

    /// Walks the trie from each character of a text, as the crate may, and fails where the crate would leave it.
    fn check(&self, text: &str) -> Result<(), Error> {
        for (at, _) in text.char_indices() {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            self.walk(rest).ok_or_else(damaged_map)?;
        }
        // Of an empty text the crate reads nothing.
        Ok(())
    }

    /// Walks the trie along every text that there is; `None` where one would leave it.
    fn check_all(&self) -> Option<()> {
        let mut seen = vec![false; self.trie.len()];
        let mut open = vec![offset(self.unit(0)?)];
        while let Some(node) = open.pop() {
            if std::mem::replace(seen.get_mut(node)?, true) {
                continue;
            }
            for byte in 1..=0xff {
                let reached = self.unit(node ^ byte)?;
                if reached & LABEL != byte {
                    continue;
                }
                let next = node ^ byte ^ offset(reached);
                self.check_value(reached, next)?;
                open.push(next);
            }
        }
        Some(())
    }

    fn unit(&self, node: usize) -> Option<usize> {
        self.trie.get(node).map(|&unit| unit as usize)
    }

    /// Checks the replacement that may stand behind a unit.
    fn check_value(&self, reached: usize, next: usize) -> Option<()> {
        if (reached >> 8) & 1 == 1 {
            let value = self.unit(next)? & ((1 << 31) - 1);
            self.normalized.is_char_boundary(value).then_some(())?;
        }
        Some(())
    }

    /// `None` where a step leaves the tables.
    fn walk(&self, text: &[u8]) -> Option<()> {
        let mut node = offset(self.unit(0)?);
        for &byte in text {
            if byte == 0 {
                break;
            }
            node ^= usize::from(byte);
            let reached = self.unit(node)?;
            if reached & LABEL != usize::from(byte) {
                break;
            }
            node ^= offset(reached);
            self.check_value(reached, node)?;
        }
        Some(())
    }
}

/// The bits of a unit that say by which byte it is reached.
const LABEL: usize = 1 << 31 | 0xff;

/// How a unit leads on.
fn offset(unit: usize) -> usize {
    (unit >> 10) << ((unit & (1 << 9)) >> 6)
}

fn damaged_map() -> Error {
    invalid("normalizer: the precompiled_charsmap of a Precompiled step is missing or damaged".to_owned())
}
