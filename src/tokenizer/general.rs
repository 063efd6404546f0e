//! The parts of a tokenizer that need the `tokenizers` crate: regular expressions in a decoder, and the normalizer
//! of added tokens. The only file that names `tokenizers` and `serde_json`.
//!
//! The crate panics on some damaged normalizers, and in wasm a panic ends the instance, so what could reach those
//! places is checked here first.

use serde_json::Value;
use tokenizers::normalizers::replace::ReplacePattern;
use tokenizers::normalizers::{Precompiled, Replace};
use tokenizers::{Decoder, NormalizedString, Normalizer, NormalizerWrapper};

use super::{limit_exceeded, quoted};
use crate::{Error, ErrorCode};

/// So long may the added tokens be in all, normalized.
const MAX_NORMALIZED: usize = 64 << 20;

/// So long may one added token become at any step. The crate takes dozens of bytes for each.
const MAX_FORM: usize = 4 << 20;

/// A `Replace` step whose pattern is a regular expression.
#[derive(Debug)]
pub(super) struct RegexReplace {
    replace: Replace,
    pattern: String,
    content: String,
}

impl RegexReplace {
    pub fn new(pattern: &str, content: &str) -> Result<RegexReplace, Error> {
        let replace = Replace::new(ReplacePattern::Regex(pattern.into()), content);
        match replace {
            Ok(replace) => Ok(RegexReplace { replace, pattern: pattern.to_owned(), content: content.to_owned() }),
            Err(error) => {
                Err(invalid(format!("decoder: the pattern {} is no regular expression: {error}", quoted(pattern))))
            }
        }
    }

    /// What it is made of: the pattern, and what stands for each match.
    pub fn parts(&self) -> (&str, &str) {
        (&self.pattern, &self.content)
    }

    /// Appends the token with its matches replaced.
    pub fn replace(&self, token: &str, out: &mut String) {
        match self.replace.decode_chain(vec![token.to_owned()]) {
            Ok(pieces) => pieces.iter().for_each(|piece| out.push_str(piece)),
            // The crate stops at a match that fails and never returns an error here.
            Err(_) => out.push_str(token),
        }
    }
}

/// The forms of some contents under a normalizer given as JSON text.
pub(super) fn normalize(normalizer: &str, contents: &[&str]) -> Result<Vec<String>, Error> {
    let value = serde_json::from_str(normalizer).map_err(|error| invalid(format!("normalizer: {error}")))?;
    let mut steps = Vec::new();
    collect(value, &mut steps)?;
    let mut room = MAX_NORMALIZED;
    let mut forms = Vec::with_capacity(contents.len());
    for content in contents {
        let mut form = (*content).to_owned();
        for step in &steps {
            if form.len().saturating_add(1).saturating_mul(step.growth) > MAX_FORM {
                return Err(limit_exceeded("normalizer: its steps could make an added token longer without bound"));
            }
            if let Some(map) = &step.map {
                map.check(&form)?;
            }
            // A fresh string for each step: some steps leave the crate's offsets in a state in which a later one panics.
            let mut fresh = NormalizedString::from(form.as_str());
            step.normalizer.normalize(&mut fresh).map_err(|error| invalid(format!("normalizer: {error}")))?;
            form = fresh.get().to_owned();
            if form.len() > room {
                return Err(limit_exceeded("normalizer: the added tokens grow beyond 64 MiB"));
            }
        }
        room -= form.len();
        forms.push(form);
    }
    Ok(forms)
}

struct NormalizerStep {
    normalizer: NormalizerWrapper,
    map: Option<CharsMap>,
    /// The most bytes that the step can make of one byte, or of the end.
    growth: usize,
}

/// Takes a normalizer apart into the steps of its sequences.
fn collect(mut value: Value, steps: &mut Vec<NormalizerStep>) -> Result<(), Error> {
    if value.get("type").and_then(Value::as_str) == Some("Sequence") {
        let Some(Value::Array(parts)) = value.get_mut("normalizers").map(Value::take) else {
            return Err(invalid("normalizer: a Sequence needs the list \"normalizers\"".to_owned()));
        };
        return parts.into_iter().try_for_each(|part| collect(part, steps));
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
    steps.push(NormalizerStep { normalizer, map, growth });
    Ok(())
}

/// The tables inside a `Precompiled` normalizer, read only to see that the crate's unchecked walk stays inside them.
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

    /// `None` where a step leaves the tables.
    fn walk(&self, text: &[u8]) -> Option<()> {
        let unit = |node: usize| self.trie.get(node).map(|&unit| unit as usize);
        let offset = |unit: usize| (unit >> 10) << ((unit & (1 << 9)) >> 6);
        let mut node = offset(unit(0)?);
        for &byte in text {
            if byte == 0 {
                break;
            }
            node ^= usize::from(byte);
            let reached = unit(node)?;
            if reached & ((1 << 31) | 0xff) != usize::from(byte) {
                break;
            }
            node ^= offset(reached);
            if (reached >> 8) & 1 == 1 {
                let value = unit(node)? & ((1 << 31) - 1);
                self.normalized.is_char_boundary(value).then_some(())?;
            }
        }
        Some(())
    }
}

fn damaged_map() -> Error {
    invalid("normalizer: the precompiled_charsmap of a Precompiled step is missing or damaged".to_owned())
}

fn invalid(what: String) -> Error {
    Error::new(ErrorCode::InvalidTokenizer, what)
}
