//! The fast form of the common decoders: every token decoded once, at load, into one flat buffer.
//!
//! A decoder has a table if each token's share of the text can be known beforehand, up to three things that are
//! settled while decoding: whether it is the first one, whether a run of byte tokens is UTF-8, and what is cut from
//! the front of the whole. The forms are made by the steps of the [`chain`](super::chain) themselves, and chosen by
//! the declared steps only.

use super::DecodeOptions;
use super::chain::{Step, byte_level, fallback_byte};
use super::spec::{Word, Words};

/// Tokens are copied in pieces of this many bytes: one load and one store for nearly all of them.
const WIDE: usize = 16;

/// The id decodes to a token.
const PRESENT: u64 = 1;
/// `skip_special_tokens` leaves it out.
const SPECIAL: u64 = 2;
/// It is one byte of a run.
const BYTE: u64 = 4;

/// Where a token's bytes are: start in the low 32 bits, length in 24 above them, flags in the top 8.
#[derive(Debug, Clone, Copy, Default)]
struct Slot(u64);

impl Slot {
    fn new(start: usize, len: usize, flags: u64) -> Option<Slot> {
        let start = u64::from(u32::try_from(start).ok()?);
        (len < 1 << 24).then_some(Slot(start | (len as u64) << 32 | flags << 56))
    }

    fn start(self) -> usize {
        self.0 as u32 as usize
    }

    fn len(self) -> usize {
        (self.0 >> 32) as usize & 0xff_ffff
    }

    fn has(self, flag: u64) -> bool {
        self.0 >> 56 & flag != 0
    }
}

/// A vocabulary, decoded.
#[derive(Debug)]
pub(super) struct Table {
    /// The bytes of all tokens, and then `WIDE` zeros, so that every token can be read in whole pieces.
    bytes: Vec<u8>,
    /// The tokens with small ids, at their ids; then the others, in the order of `far`.
    slots: Vec<Slot>,
    /// How many slots are at their ids.
    near: usize,
    /// The ids that are so large that a slot for each smaller one would waste memory, ascending.
    far: Vec<u32>,
    /// What each token is when it comes first, if that can differ.
    first: Vec<Slot>,
    /// Whether byte tokens form runs.
    runs: bool,
    /// How many of which character are cut from the front of the whole.
    cut: Option<(char, usize)>,
}

/// A decoder in the shape that a table can have.
struct Plan<'a> {
    /// Steps on single tokens.
    forms: &'a [Step],
    first_aware: bool,
    byte_level: bool,
    runs: bool,
    cut: Option<(char, usize)>,
}

impl<'a> Plan<'a> {
    /// Sees whether the steps have that shape.
    fn new(steps: &'a [Step]) -> Option<Plan<'a>> {
        let count = steps.iter().take_while(|step| step.is_free() || step.is_first_aware()).count();
        let (forms, rest) = steps.split_at_checked(count)?;
        let mut plan = Plan {
            forms,
            first_aware: forms.iter().any(Step::is_first_aware),
            byte_level: false,
            runs: false,
            cut: None,
        };
        match rest {
            [] | [Step::Fuse] => {}
            [Step::ByteLevel] => plan.byte_level = true,
            [Step::ByteFallback] | [Step::ByteFallback, Step::Fuse] => plan.runs = true,
            [Step::ByteFallback, Step::Fuse, Step::Strip { content, start, stop: 0 }] => {
                plan.runs = true;
                plan.cut = Some((*content, *start));
            }
            [Step::Fuse, Step::Strip { content, start, stop: 0 }] => plan.cut = Some((*content, *start)),
            _ => return None,
        }
        Some(plan)
    }

    /// Appends what a token is; true if it is a byte of a run.
    fn form(&self, token: &str, is_first: bool, scratch: &mut [String; 2], out: &mut Vec<u8>) -> bool {
        let [form, next] = scratch;
        form.clear();
        form.push_str(token);
        for step in self.forms {
            next.clear();
            step.form(form, is_first, false, next);
            std::mem::swap(form, next);
        }
        if self.byte_level {
            byte_level(form, out);
            return false;
        }
        let byte = fallback_byte(form.as_bytes()).filter(|_| self.runs);
        match byte {
            Some(byte) => out.push(byte),
            None => out.extend_from_slice(form.as_bytes()),
        }
        byte.is_some()
    }
}

impl Table {
    /// Decodes a vocabulary; `None` if the steps have no table, or it would be out of all proportion to the file.
    pub fn new(words: &Words, steps: &[Step]) -> Option<Table> {
        let plan = Plan::new(steps)?;
        let room = words.bytes.len().saturating_mul(8).saturating_add(words.list.len() * 64);
        let near = near(&words.list);
        let far: Vec<u32> = words.list.iter().map(|word| word.id).filter(|&id| id as usize >= near).collect();
        let mut table = Table {
            bytes: Vec::with_capacity(words.bytes.len() + WIDE),
            slots: vec![Slot::default(); near + far.len()],
            near,
            far,
            first: Vec::new(),
            runs: plan.runs,
            cut: plan.cut,
        };
        if plan.first_aware {
            table.first = table.slots.clone();
        }
        let mut scratch = [String::new(), String::new()];
        let mut first_form = Vec::new();
        for &word in &words.list {
            let text = std::str::from_utf8(words.text(word)).unwrap_or_default();
            let flags = if word.special { PRESENT | SPECIAL } else { PRESENT };
            let start = table.bytes.len();
            let byte = plan.form(text, false, &mut scratch, &mut table.bytes);
            let len = table.bytes.len() - start;
            let at = table.position(word.id)?;
            *table.slots.get_mut(at)? = Slot::new(start, len, if byte { flags | BYTE } else { flags })?;
            if plan.first_aware {
                first_form.clear();
                let byte = plan.form(text, true, &mut scratch, &mut first_form);
                let flags = if byte { flags | BYTE } else { flags };
                *table.first.get_mut(at)? = table.first_slot(start, &first_form, flags)?;
            }
            if table.bytes.len() > room {
                return None;
            }
        }
        table.bytes.extend_from_slice(&[0; WIDE]);
        Some(table)
    }

    /// The slot of a first form, in the bytes just written where it can be: most often it lacks a leading space.
    fn first_slot(&mut self, start: usize, form: &[u8], flags: u64) -> Option<Slot> {
        if !self.bytes.get(start..)?.ends_with(form) {
            self.bytes.extend_from_slice(form);
        }
        Slot::new(self.bytes.len() - form.len(), form.len(), flags)
    }

    /// The position of an id among the slots.
    fn position(&self, id: u32) -> Option<usize> {
        let at = id as usize;
        if at < self.near { Some(at) } else { Some(self.near + self.far.binary_search(&id).ok()?) }
    }

    /// The slot of an id, at least of one that decodes to nothing.
    #[inline]
    fn slot(&self, id: u32) -> Slot {
        if (id as usize) < self.near {
            return self.slots.get(id as usize).copied().unwrap_or_default();
        }
        self.position(id).and_then(|at| self.slots.get(at)).copied().unwrap_or_default()
    }

    /// Whether the id decodes to a token.
    pub fn contains(&self, id: u32) -> bool {
        self.slot(id).has(PRESENT)
    }

    pub fn decode_into(&self, ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        // One bit of a slot hides it; which one, is settled here.
        let hidden = if options.skip_special_tokens { SPECIAL } else { 0 };
        let start = out.len();
        out.reserve(ids.len().saturating_mul(5).min(self.bytes.len().saturating_add(ids.len())) + WIDE);
        if self.runs {
            self.walk::<true>(ids, hidden, out)
        } else {
            self.walk::<false>(ids, hidden, out)
        }
        if let Some((content, count)) = self.cut {
            let text = std::str::from_utf8(out.get(start..).unwrap_or_default()).unwrap_or_default();
            let cut = text.chars().take(count).take_while(|&c| c == content).count() * content.len_utf8();
            out.drain(start..start + cut);
        }
    }

    fn walk<const RUNS: bool>(&self, mut ids: &[u32], hidden: u64, out: &mut Vec<u8>) {
        // Where the run that is open began; runs are checked when they end.
        let mut run = None;
        if !self.first.is_empty() {
            let visible = |&id: &u32| {
                let slot = self.slot(id);
                slot.has(PRESENT) && !slot.has(hidden)
            };
            let Some(at) = ids.iter().position(visible) else { return };
            let slot = ids.get(at).and_then(|&id| self.position(id)).and_then(|at| self.first.get(at));
            let slot = slot.copied().unwrap_or_default();
            run = (RUNS && slot.has(BYTE)).then_some(out.len());
            self.copy(slot, out);
            ids = ids.get(at + 1..).unwrap_or_default();
        }
        for &id in ids {
            let slot = self.slot(id);
            if !slot.has(PRESENT) || slot.has(hidden) {
                continue;
            }
            if RUNS && slot.has(BYTE) != run.is_some() {
                match run.take() {
                    None => run = Some(out.len()),
                    Some(start) => close_run(start, out),
                }
            }
            self.copy(slot, out);
        }
        if let Some(start) = run {
            close_run(start, out);
        }
    }

    #[inline]
    fn copy(&self, slot: Slot, out: &mut Vec<u8>) {
        let (start, len) = (slot.start(), slot.len());
        let rest = self.bytes.get(start..).unwrap_or_default();
        match rest.first_chunk::<WIDE>() {
            Some(wide) if len <= WIDE => {
                let end = out.len() + len;
                out.extend_from_slice(wide);
                out.truncate(end);
            }
            _ => out.extend_from_slice(rest.get(..len).unwrap_or_default()),
        }
    }
}

/// Puts one U+FFFD for each byte of a run that is not UTF-8 as a whole.
#[cold]
fn close_run(start: usize, out: &mut Vec<u8>) {
    let run = out.get(start..).unwrap_or_default();
    if std::str::from_utf8(run).is_err() {
        let count = run.len();
        out.truncate(start);
        out.extend_from_slice("\u{fffd}".repeat(count).as_bytes());
    }
}

/// Below which id every id gets a slot: as far as at least a quarter of the slots would be used.
fn near(list: &[Word]) -> usize {
    let mut near = 0;
    for (count, word) in list.iter().enumerate() {
        let needed = (word.id as usize).saturating_add(1);
        if needed > (count + 1).saturating_mul(4).saturating_add(1024) {
            break;
        }
        near = needed;
    }
    near
}
