//! Ids as backends want them, of whatever spelling, and which span is around which.

use crate::span::Span;
use crate::view::Names;

use super::out::{hex, joined};

/// The ids of a list of spans. None is empty: those that are come from the span's place in the list and its content.
pub(super) struct Ids {
    pub spans: Vec<Id>,
    /// For each span the outermost one around it in the list, which may be itself.
    pub roots: Vec<usize>,
}

/// What a span is called.
pub(super) struct Id {
    pub trace: String,
    pub span: String,
}

impl Ids {
    pub(super) fn of(spans: &[Span]) -> Ids {
        let mut index = Names::default();
        for (i, span) in spans.iter().enumerate() {
            index.insert(&span.span_id, i as u32);
        }
        // A span without a trace is in that of the span around it.
        let mut parents = Vec::new();
        for span in spans {
            let parent = parent(span).filter(|_| span.trace_id.is_empty()).and_then(|parent| index.get(parent));
            parents.push(parent.map(|parent| parent as usize));
        }
        let mut ids = Vec::new();
        for (i, (span, root)) in spans.iter().zip(outermost(&parents)).enumerate() {
            let of_trace = spans.get(root).unwrap_or(span);
            let trace =
                if of_trace.trace_id.is_empty() { hex(&made(of_trace, root)) } else { of_trace.trace_id.clone() };
            let span = if span.span_id.is_empty() { hex(&made(span, i)[..8]) } else { span.span_id.clone() };
            ids.push(Id { trace, span });
        }
        let mut index = Names::default();
        for (i, id) in ids.iter().enumerate() {
            index.insert(&in_trace(&id.trace, &id.span), i as u32);
        }
        parents.clear();
        for (span, id) in spans.iter().zip(&ids) {
            let parent = parent(span).and_then(|parent| index.get(&in_trace(&id.trace, parent)));
            parents.push(parent.map(|parent| parent as usize));
        }
        Ids { spans: ids, roots: outermost(&parents) }
    }
}

fn in_trace(trace: &str, span: &str) -> String {
    joined(&[trace, "\n", span])
}

/// The id of the span around a span.
pub(super) fn parent(span: &Span) -> Option<&str> {
    span.parent_id.as_deref().filter(|parent| !parent.is_empty())
}

/// For each span the outermost of those around it. Of spans that are around each other one counts as the outermost.
fn outermost(parents: &[Option<usize>]) -> Vec<usize> {
    let mut roots = vec![None; parents.len()];
    let mut seen_from = vec![usize::MAX; parents.len()];
    for start in 0..parents.len() {
        let mut path = Vec::new();
        let mut at = start;
        let root = loop {
            if let Some(root) = roots[at] {
                break root;
            }
            if seen_from[at] == start {
                break at;
            }
            seen_from[at] = start;
            path.push(at);
            match parents[at] {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        for span in path {
            roots[span] = Some(root);
        }
    }
    roots.into_iter().enumerate().map(|(i, root)| root.unwrap_or(i)).collect()
}

/// The 16 bytes of a trace id: of 32 hexadecimal digits, in a UUID or after MLflow's `tr-` too, those; else of a hash.
pub(super) fn trace_bytes(id: &str) -> [u8; 16] {
    let mut bytes = [0; 16];
    if !digits_into(id.strip_prefix("tr-").unwrap_or(id), &mut bytes) {
        bytes = two_hashes(&[id]);
    }
    bytes
}

/// The 8 bytes of a span id: of 16 hexadecimal digits those; else of a hash.
pub(super) fn span_bytes(id: &str) -> [u8; 8] {
    let mut bytes = [0; 8];
    if !digits_into(id, &mut bytes) {
        bytes = hash(&[id]);
    }
    bytes
}

/// Reads hexadecimal digits, as many as there is room for; not of an id that is all zeros, which says that there is none.
fn digits_into(id: &str, bytes: &mut [u8]) -> bool {
    let mut count = 0;
    for byte in id.bytes() {
        let Some(digit) = char::from(byte).to_digit(16) else {
            if byte == b'-' {
                continue;
            }
            return false;
        };
        let Some(place) = bytes.get_mut(count / 2) else { return false };
        *place = *place << 4 | digit as u8;
        count += 1;
    }
    count == bytes.len() * 2 && bytes.iter().any(|&byte| byte != 0)
}

/// FNV-1a of 64 bits over some texts, each with its end. Never all zeros.
fn hash(texts: &[&str]) -> [u8; 8] {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    for text in texts {
        for byte in text.bytes().chain([0xFF]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
    hash.max(1).to_be_bytes()
}

/// An id for a span that has none.
fn made(span: &Span, place: usize) -> [u8; 16] {
    let start = span.start_unix_nano.unwrap_or(0).to_string();
    let place = place.to_string();
    let (inputs, output) = (span.inputs.as_deref().unwrap_or(""), span.output.as_deref().unwrap_or(""));
    two_hashes(&[&span.trace_id, &span.span_id, &span.name, &start, inputs, output, &place])
}

/// 16 bytes of some texts.
pub(super) fn two_hashes(texts: &[&str]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let first = hash(texts);
    bytes[..8].copy_from_slice(&first);
    bytes[8..].copy_from_slice(&hash(&[texts.last().unwrap_or(&""), &hex(&first)]));
    bytes
}
