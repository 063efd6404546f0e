//! Tables out of vocabularies. The forms are those that the steps of the [`chain`](super::chain) make, and chosen by the
//! declared steps only; those of the decoders of nearly all files have ways of their own, and tests hold them to the
//! steps.

use super::buffer::Buffer;
use super::chain::{Step, alphabet_bytes, byte_level, fallback_byte};
use super::spec::{Contents, SOME, Word};
use super::table::{BYTE, PARTIAL, PRESENT, SPECIAL, Slot, Table, is_text};

/// A decoder in the shape that a table can have.
struct Plan<'a> {
    /// Steps on single tokens.
    forms: &'a [Step],
    first_aware: bool,
    byte_level: bool,
    runs: bool,
    cut: Option<(char, usize)>,
}

/// Where forms are made.
#[derive(Default)]
struct Scratch {
    form: String,
    next: String,
    bytes: Vec<u8>,
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

    /// Appends what a token is, and gives the flags of what was appended.
    #[inline(always)]
    fn form(&self, token: &[u8], scratch: &mut Scratch, out: &mut Buffer) -> u64 {
        match self.forms {
            [] if self.byte_level => {
                let room = out.room(token.len());
                let Some((len, bits)) = alphabet_bytes(token, room) else {
                    out.push(token);
                    return 0;
                };
                let flags = if bits < 0x80 || is_text(room.get(..len).unwrap_or_default()) { 0 } else { PARTIAL };
                out.advance(len);
                flags
            }
            [] => self.push(token, out),
            [Step::Replace { pattern, content }]
                if !self.byte_level && content.len() <= pattern.len() && !token.is_empty() =>
            {
                let room = out.room(token.len());
                let len = replace_shorter(token, pattern.as_bytes(), content.as_bytes(), room);
                match fallback_byte(room.get(..len).unwrap_or_default()).filter(|_| self.runs) {
                    Some(byte) => self.push_byte(byte, out),
                    None => {
                        out.advance(len);
                        0
                    }
                }
            }
            _ => self.stepped(token, false, scratch, out),
        }
    }

    /// The same by the steps.
    #[inline(never)]
    fn stepped(&self, token: &[u8], is_first: bool, scratch: &mut Scratch, out: &mut Buffer) -> u64 {
        let Scratch { form, next, bytes } = scratch;
        form.clear();
        form.push_str(std::str::from_utf8(token).unwrap_or_default());
        for step in self.forms {
            next.clear();
            step.form(form, is_first, false, next);
            std::mem::swap(form, next);
        }
        if self.byte_level {
            bytes.clear();
            byte_level(form, bytes);
            out.push(bytes);
            return if is_text(bytes) { 0 } else { PARTIAL };
        }
        self.push(form.as_bytes(), out)
    }

    fn push(&self, form: &[u8], out: &mut Buffer) -> u64 {
        match fallback_byte(form).filter(|_| self.runs) {
            Some(byte) => self.push_byte(byte, out),
            None => {
                out.push(form);
                0
            }
        }
    }

    fn push_byte(&self, byte: u8, out: &mut Buffer) -> u64 {
        out.push(&[byte]);
        BYTE | PARTIAL
    }
}

/// Writes a token to the start of `out`, each occurrence of a pattern, left to right, as something that is not longer.
/// By hand, so that it is as fast in builds for size.
#[inline(always)]
fn replace_shorter(token: &[u8], pattern: &[u8], content: &[u8], out: &mut [u8]) -> usize {
    let first = pattern.first().copied().unwrap_or_default();
    let (mut from, mut to) = (0, 0);
    while let Some(&byte) = token.get(from) {
        if byte == first && token.get(from..).is_some_and(|rest| rest.starts_with(pattern)) {
            for &byte in content {
                if let Some(slot) = out.get_mut(to) {
                    *slot = byte;
                }
                to += 1;
            }
            from += pattern.len();
            continue;
        }
        if let Some(slot) = out.get_mut(to) {
            *slot = byte;
        }
        from += 1;
        to += 1;
    }
    to
}

impl Table {
    /// Decodes a vocabulary; `None` if the steps have no table, or it would be out of all proportion to the file.
    pub fn new(words: &Contents, steps: &[Step]) -> Option<Table> {
        let plan = Plan::new(steps)?;
        let room = words.buffer.len().saturating_mul(8).saturating_add(words.list.len() * 64);
        let near = near(&words.list);
        let behind = words.list.partition_point(|word| (word.id as usize) < near);
        let mut far = Vec::new();
        for word in words.list.get(behind..).unwrap_or_default() {
            far.push(word.id);
        }
        let slots = vec![Slot::default(); near + far.len()];
        let first = vec![Slot::default(); if plan.first_aware { slots.len() } else { 0 }];
        let mut table = Table {
            bytes: Vec::new(),
            slots,
            near,
            far,
            first,
            cut: plan.cut,
            has_runs: plan.runs,
            count: words.list.len(),
            ..Table::default()
        };
        let mut forms = Buffer::with_capacity(words.buffer.len());
        let mut scratch = Scratch::default();
        for some in words.list.chunks(SOME) {
            table.add(words, some, &plan, &mut scratch, &mut forms)?;
            if forms.len() > room {
                return None;
            }
        }
        table.bytes = forms.into_bytes();
        table.finish();
        Some(table)
    }

    #[inline(never)]
    fn add(
        &mut self,
        words: &Contents,
        some: &[Word],
        plan: &Plan<'_>,
        scratch: &mut Scratch,
        forms: &mut Buffer,
    ) -> Option<()> {
        for &word in some {
            let token = words.bytes(word);
            let flags = if word.special { PRESENT | SPECIAL } else { PRESENT };
            let start = forms.len();
            let form_flags = plan.form(token, scratch, forms);
            let at = self.position(word.id)?;
            let slot = Slot::new(start, forms.len() - start, flags | form_flags)?;
            *self.slots.get_mut(at)? = slot;
            self.longest = slot.most().max(self.longest);
            if plan.first_aware {
                let first = first_slot(plan, token, start, flags, scratch, forms)?;
                *self.first.get_mut(at)? = first;
                self.longest_first = first.most().max(self.longest_first);
            }
        }
        Some(())
    }
}

/// The slot of a first form, in the bytes of the other one where it can be: most often it lacks a leading space.
fn first_slot(
    plan: &Plan<'_>,
    token: &[u8],
    start: usize,
    flags: u64,
    scratch: &mut Scratch,
    forms: &mut Buffer,
) -> Option<Slot> {
    let end = forms.len();
    let form_flags = plan.stepped(token, true, scratch, forms);
    let len = forms.len() - end;
    if forms.get(start, end - start).ends_with(forms.get(end, len)) {
        forms.truncate(end);
    }
    Slot::new(forms.len() - len, len, flags | form_flags)
}

/// Below which id every id gets a slot: as far as at least a quarter of the slots would be used.
fn near(list: &[Word]) -> usize {
    // Without holes, as in most files, there is nothing to look for.
    if list.last().is_none_or(|word| (word.id as usize).saturating_add(1) == list.len()) {
        return list.len();
    }
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
