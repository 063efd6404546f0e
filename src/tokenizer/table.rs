//! The fast form of the common decoders: every token decoded once, at load, into one flat buffer.
//!
//! A decoder has a table if each token's share of the text can be known beforehand, up to three things that are
//! settled while decoding: whether it is the first one, whether a run of byte tokens is UTF-8, and what is cut from
//! the front of the whole. What makes the forms is [`build`](super::build).

use super::chain::{Step, fallback_token, leading};
use super::flow::Flow;
use super::{DecodeOptions, Pieces};

/// Tokens are copied in pieces of this many bytes: one load and one store for nearly all of them.
pub(super) const WIDE: usize = 16;

/// So many tokens are copied between two looks at the room in the output.
const BATCH: usize = 64;

/// A mask for the places that a batch is written to.
const PLACES: usize = BATCH * WIDE - 1;

/// Room for a batch: at every place there is some for a piece.
const WINDOW: usize = PLACES + WIDE;

/// The id decodes to a token.
pub(super) const PRESENT: u64 = 1;
/// `skip_special_tokens` leaves it out.
pub(super) const SPECIAL: u64 = 2;
/// It is one byte of a run.
pub(super) const BYTE: u64 = 4;
/// By itself it is not UTF-8, so each of its bytes may become U+FFFD.
pub(super) const PARTIAL: u64 = 8;

/// Where a token's bytes are: start in the low 32 bits, length in 24 above them, flags in the top 8.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot(pub u64);

impl Slot {
    #[inline]
    pub fn new(start: usize, len: usize, flags: u64) -> Option<Slot> {
        let start = u64::from(u32::try_from(start).ok()?);
        (len < 1 << 24).then_some(Slot(start | (len as u64) << 32 | flags << 56))
    }

    #[inline(always)]
    pub fn start(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        (self.0 >> 32) as usize & 0xff_ffff
    }

    #[inline(always)]
    pub fn has(self, flag: u64) -> bool {
        self.flags() & flag != 0
    }

    #[inline(always)]
    pub fn flags(self) -> u64 {
        self.0 >> 56
    }

    /// The most bytes of text.
    pub fn most(self) -> usize {
        if self.has(PARTIAL) { self.len() * 3 } else { self.len() }
    }
}

/// A vocabulary, decoded.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// Among others, the bytes of all tokens, and behind nearly each of them `WIDE` others: so it is read in whole pieces.
    pub bytes: Vec<u8>,
    /// The tokens with small ids, at their ids; then the others, in the order of `far`.
    pub slots: Vec<Slot>,
    /// How many slots are at their ids.
    pub near: usize,
    /// The ids that are so large that a slot for each smaller one would waste memory, ascending.
    pub far: Vec<u32>,
    /// What each token is when it comes first, if that can differ.
    pub first: Vec<Slot>,
    /// How long a token that comes first can be.
    pub longest_first: usize,
    /// At least as many bytes as any token has in a text.
    pub longest: usize,
    /// How many ids decode to a token.
    pub count: usize,
    /// How many of which character are cut from the front of the whole.
    pub cut: Option<(char, usize)>,
    /// Whether what is no text by itself is a byte token.
    pub has_runs: bool,
    /// The steps that are left for tokens that come one by one.
    pub steps: Vec<Step>,
}

impl Table {
    /// Completes a table that was put together from slots and the bytes that they say; false if its ids are not in order.
    pub fn restore(&mut self) -> bool {
        let ascends = self.far.is_sorted_by(|id, next| id < next);
        let near = self.slots.len().checked_sub(self.far.len());
        self.near = near.unwrap_or_default();
        self.add_steps();
        let is_apart = self.far.first().is_none_or(|&id| id as usize >= self.near);
        let has_first = self.first.is_empty() || self.first.len() == self.slots.len();
        near.is_some() && ascends && is_apart && has_first
    }

    /// Adds what goes without saying.
    pub fn finish(&mut self) {
        self.bytes.extend_from_slice(&[0; WIDE]);
        self.longest = self.longest.saturating_add(self.longest_first);
        self.add_steps();
    }

    /// Adds the steps that are left.
    fn add_steps(&mut self) {
        if self.has_runs {
            self.steps.push(Step::ByteFallback);
        }
        if let Some((content, start)) = self.cut {
            self.steps.push(Step::Fuse);
            self.steps.push(Step::Strip { content, start, stop: 0 });
        }
    }

    /// The bytes of a slot.
    pub fn form(&self, slot: Slot) -> &[u8] {
        self.bytes.get(slot.start()..slot.start() + slot.len()).unwrap_or_default()
    }

    /// Lets `skip_special_tokens` leave a token out.
    pub fn set_special(&mut self, id: u32) {
        let Some(at) = self.position(id) else { return };
        for slots in [&mut self.slots, &mut self.first] {
            if let Some(slot) = slots.get_mut(at) {
                slot.0 |= SPECIAL << 56;
            }
        }
    }

    /// The position of an id among the slots.
    #[inline(always)]
    pub fn position(&self, id: u32) -> Option<usize> {
        let at = id as usize;
        if at < self.near { Some(at) } else { self.far_position(id) }
    }

    #[cold]
    #[inline(never)]
    fn far_position(&self, id: u32) -> Option<usize> {
        Some(self.near + self.far.binary_search(&id).ok()?)
    }

    /// The slot of an id, at least of one that decodes to nothing.
    #[inline(always)]
    fn slot(&self, id: u32) -> Slot {
        match self.slots.get(id as usize) {
            Some(&slot) if (id as usize) < self.near => slot,
            _ => self.far_slot(id),
        }
    }

    #[cold]
    #[inline(never)]
    fn far_slot(&self, id: u32) -> Slot {
        self.position(id).and_then(|at| self.slots.get(at)).copied().unwrap_or_default()
    }

    /// Whether the id decodes to a token.
    pub fn contains(&self, id: u32) -> bool {
        self.slot(id).has(PRESENT)
    }

    /// Whether each of some ids decodes to a token.
    pub fn contains_all(&self, ids: &[u32]) -> bool {
        for &id in ids {
            if !self.slot(id).has(PRESENT) {
                return false;
            }
        }
        true
    }

    /// The most bytes that the text of the ids has.
    pub fn text_bytes_bound(&self, ids: &[u32]) -> usize {
        let mut bytes = self.longest_first;
        for &id in ids {
            bytes = bytes.saturating_add(self.slot(id).most());
        }
        bytes
    }

    /// Sends a token on its way to those that came before.
    pub fn send(&self, id: u32, options: DecodeOptions, flow: &mut Flow) {
        let mut slot = self.slot(id);
        if !slot.has(PRESENT) {
            return flow.flag(Pieces::UNKNOWN);
        }
        if slot.has(SPECIAL) {
            flow.flag(Pieces::SPECIAL);
            if options.skip_special_tokens {
                return;
            }
        }
        if !flow.seen && !self.first.is_empty() {
            slot = self.position(id).and_then(|at| self.first.get(at)).copied().unwrap_or_default();
        }
        let form = self.bytes.get(slot.start()..slot.start() + slot.len()).unwrap_or_default();
        match form {
            &[byte] if slot.has(BYTE) => flow.push(&self.steps, &fallback_token(byte)),
            form => flow.push(&self.steps, form),
        }
    }

    pub fn decode_into(&self, ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        let start = out.len();
        // A guess for most texts; beyond it, the buffer grows as it must.
        out.reserve(ids.len().saturating_mul(5).min(1 << 24) + BATCH * WIDE);
        self.walk(ids, hidden(options), out);
        if let Some((content, count)) = self.cut {
            let cut = leading(out.get(start..).unwrap_or_default(), content, count);
            out.copy_within(start + cut.., start);
            out.truncate(out.len() - cut);
        }
    }

    /// Written out by hand, so that it is as fast in builds for size.
    fn walk(&self, mut ids: &[u32], hidden: u64, out: &mut Vec<u8>) {
        let mask = (PRESENT | BYTE | hidden) << 56;
        let near = self.slots.get(..self.near).unwrap_or_default();
        if !self.first.is_empty() {
            ids = self.step(ids, &self.first, hidden, out);
        }
        // Behind `end`, the output has zeros to write over.
        let mut end = out.len();
        while !ids.is_empty() {
            let batch = ids.get(..BATCH).unwrap_or(ids);
            let Some(window) = make_room(end, out) else { break };
            let (mut at, mut done) = (0, 0);
            for &id in batch {
                let Some(slot) = near.get(id as usize) else { break };
                let len = slot.len();
                if slot.0 & mask != PRESENT << 56 || len > WIDE {
                    break;
                }
                let from = self.bytes.get(slot.start()..).and_then(|rest| rest.first_chunk::<WIDE>());
                let to = window.get_mut(at & PLACES..).and_then(|rest| rest.first_chunk_mut());
                let (Some(from), Some(to)) = (from, to) else { break };
                *to = *from;
                at += len;
                done += 1;
            }
            end += at;
            let is_done = done == batch.len();
            ids = ids.get(done..).unwrap_or_default();
            if !is_done {
                out.truncate(end);
                ids = self.step(ids, &self.slots, hidden, out);
                end = out.len();
            }
        }
        out.truncate(end);
    }

    /// Appends one token, its form the one among these slots, or a run of byte tokens; gives the ids behind.
    #[cold]
    #[inline(never)]
    fn step<'a, 's>(&'s self, mut ids: &'a [u32], mut slots: &'s [Slot], hidden: u64, out: &mut Vec<u8>) -> &'a [u32] {
        let mask = (PRESENT | hidden) << 56;
        let start = out.len();
        let mut is_run = false;
        while let Some((&id, rest)) = ids.split_first() {
            let slot = self.position(id).and_then(|at| slots.get(at)).copied().unwrap_or_default();
            if slot.0 & mask == PRESENT << 56 {
                let is_byte = slot.has(BYTE);
                if is_run && !is_byte {
                    break;
                }
                out.extend_from_slice(self.bytes.get(slot.start()..slot.start() + slot.len()).unwrap_or_default());
                if !is_byte {
                    return rest;
                }
                is_run = true;
                slots = &self.slots;
            }
            ids = rest;
        }
        if is_run {
            close_run(start, out);
        }
        ids
    }
}

/// What cells are made of.
#[cfg(any(all(test, not(target_arch = "wasm32")), target_arch = "wasm32"))]
impl Table {
    /// Whether a token differs where it comes first.
    pub fn is_positional(&self) -> bool {
        self.cut.is_some() || !self.first.is_empty()
    }

    /// Whether the id gives a text that does not depend on its neighbours, unless it comes first.
    pub fn is_whole(&self, id: u32, options: DecodeOptions) -> bool {
        self.slot(id).0 >> 56 & (PRESENT | PARTIAL | hidden(options)) == PRESENT
    }

    /// Appends what [`Table::decode_into`] does for ids behind others, the fastest for one or a few of the odd ones.
    pub fn decode_odd(&self, mut ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        while !ids.is_empty() {
            ids = self.step(ids, &self.slots, hidden(options), out);
        }
    }

    /// What a token gives unless it comes first, and whether that is text by itself; `None` if it is left out by some options,
    /// or is a byte of a run.
    pub fn settled_form(&self, id: u32) -> Option<(&[u8], bool)> {
        let slot = self.slot(id);
        let form = self.bytes.get(slot.start()..)?.get(..slot.len())?;
        let is_settled = slot.0 >> 56 & (PRESENT | BYTE | SPECIAL) == PRESENT;
        is_settled.then_some((form, !slot.has(PARTIAL)))
    }
}

/// One bit of a slot hides it: which one.
fn hidden(options: DecodeOptions) -> u64 {
    if options.skip_special_tokens { SPECIAL } else { 0 }
}

/// Makes the output so long that a batch of tokens fits behind a place, and gives what is there.
#[inline(never)]
fn make_room(at: usize, out: &mut Vec<u8>) -> Option<&mut [u8; WINDOW]> {
    const ZEROS: [u8; WINDOW] = [0; WINDOW];
    let missing = (at + WINDOW).saturating_sub(out.len());
    out.extend_from_slice(ZEROS.get(..missing).unwrap_or(&ZEROS));
    out.get_mut(at..)?.first_chunk_mut()
}

/// Puts one U+FFFD for each byte of a run that is not UTF-8 as a whole.
#[cold]
fn close_run(start: usize, out: &mut Vec<u8>) {
    let run = out.get(start..).unwrap_or_default();
    if std::str::from_utf8(run).is_err() {
        let count = run.len();
        out.truncate(start);
        for _ in 0..count {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests;
