//! Tables out of vocabularies. The forms are those that the steps of the [`chain`](super::chain) make, and chosen by the
//! declared steps only; those of the decoders of nearly all files have ways of their own, and tests hold them to the
//! steps.

use super::buffer::Buffer;
use super::chain::{Step, alphabet_bytes, fallback_byte};
use super::sign::Sign;
use super::spec::{Contents, SOME, Word};
use super::table::{BYTE, PARTIAL, PRESENT, SPECIAL, Slot, Table};
use super::utf8::is_text;

/// A decoder in the shape that a table can have.
struct Plan<'a> {
    /// Steps on single tokens.
    forms: &'a [Step],
    first_aware: bool,
    byte_level: bool,
    runs: bool,
    cut: Option<(char, usize)>,
    sign: Option<Sign>,
}

/// Where forms are made.
#[derive(Default)]
struct Scratch {
    /// The token, and what the steps make of it by turns.
    token: Vec<u8>,
    text: String,
    next: String,
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
            sign: None,
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
        plan.sign = match plan.forms {
            // Of the alphabet of bytes printable ASCII is as it is.
            [] if plan.byte_level => Sign::new("\u{120}", " ", 0x21, 0x7f - 0x21),
            [Step::Replace { pattern, content }] if !plan.byte_level => match pattern.as_bytes() {
                // Only the byte that begins a pattern may begin another one.
                [first, ..] => Sign::new(pattern, content, first.wrapping_add(1), u8::MAX),
                [] => None,
            },
            _ => None,
        };
        Some(plan)
    }

    /// Appends what the token in the scratch is, and gives the flags of what was appended.
    #[inline(never)]
    fn form(&self, is_first: bool, scratch: &mut Scratch, out: &mut Buffer) -> u64 {
        let Scratch { token, text, next } = scratch;
        let mut form = token.as_slice();
        if !self.forms.is_empty() {
            text.clear();
            text.push_str(std::str::from_utf8(token).unwrap_or_default());
            for step in self.forms {
                next.clear();
                step.form(text, is_first, false, next);
                std::mem::swap(text, next);
            }
            form = text.as_bytes();
        }
        if self.byte_level {
            let room = out.room(form.len());
            if let Some((len, bits)) = alphabet_bytes(form, room) {
                let is_whole = bits < 0x80 || is_text(room.get(..len).unwrap_or_default());
                out.advance(len);
                return if is_whole { 0 } else { PARTIAL };
            }
        }
        match fallback_byte(form).filter(|_| self.runs) {
            Some(byte) => {
                out.push(&[byte]);
                BYTE | PARTIAL
            }
            None => {
                out.push(form);
                0
            }
        }
    }
}

impl Table {
    /// Decodes a vocabulary; `None` if the steps have no table, or it would be out of all proportion to the file. Where steps
    /// have a [`Sign`] the forms take the place of the contents, for none of them is longer.
    #[inline(never)]
    pub fn new(words: &mut Contents, steps: &[Step]) -> Option<Table> {
        let plan = Plan::new(steps)?;
        let room = words.buffer.len().saturating_mul(8).saturating_add(words.list.len() * 64);
        let (near, behind) = near(&words.list);
        let mut far = Vec::new();
        for word in words.list.get(behind..).unwrap_or_default() {
            far.push(word.id);
        }
        // Each is written when its turn comes, so that no memory is touched twice.
        let slots = Vec::with_capacity(near + far.len());
        let first = Vec::with_capacity(if plan.first_aware { near + far.len() } else { 0 });
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
        let contents = std::mem::take(&mut words.buffer);
        let (contents, mut forms) = if plan.sign.is_some() {
            (None, contents)
        } else {
            let forms = Buffer::with_capacity(contents.len());
            (Some(contents), forms)
        };
        let mut scratch = Scratch::default();
        let mut is_right = true;
        for some in words.list.chunks(SOME) {
            let added = table.add(some, contents.as_ref(), &plan, &mut scratch, &mut forms);
            is_right = added.is_some() && forms.len() <= room;
            if !is_right {
                break;
            }
        }
        if let Some(contents) = contents {
            words.buffer = contents;
        }
        table.bytes = forms.into_bytes();
        table.finish();
        is_right.then_some(table)
    }

    /// Without contents those that the forms take the place of.
    #[inline(never)]
    fn add(
        &mut self,
        some: &[Word],
        contents: Option<&Buffer>,
        plan: &Plan<'_>,
        scratch: &mut Scratch,
        forms: &mut Buffer,
    ) -> Option<()> {
        for &word in some {
            let flags = if word.special { PRESENT | SPECIAL } else { PRESENT };
            let slot = match plan.sign.as_ref().and_then(|sign| sign.form(word, forms)) {
                // That of a byte, perhaps.
                Some((start, 6)) if plan.runs && forms.get(start, 1) == b"<" => None,
                Some((start, len)) => Slot::new(start, len, flags),
                None => None,
            };
            let slot = match slot {
                Some(slot) => slot,
                None => odd_slot(plan, word, flags, contents, scratch, forms)?,
            };
            if (word.id as usize) < self.near {
                while self.slots.len() < word.id as usize {
                    self.slots.push(Slot::default());
                }
            }
            self.slots.push(slot);
            self.longest = slot.most().max(self.longest);
            if plan.first_aware {
                while self.first.len() + 1 < self.slots.len() {
                    self.first.push(Slot::default());
                }
                let first = first_slot(plan, slot, flags, scratch, forms)?;
                self.first.push(first);
                self.longest_first = first.most().max(self.longest_first);
            }
        }
        Some(())
    }
}

/// The slot of any token, which is then in the scratch.
#[inline(never)]
fn odd_slot(
    plan: &Plan<'_>,
    word: Word,
    flags: u64,
    contents: Option<&Buffer>,
    scratch: &mut Scratch,
    forms: &mut Buffer,
) -> Option<Slot> {
    let (mut start, end) = (word.start as usize, forms.len());
    scratch.token.clear();
    scratch.token.extend_from_slice(contents.unwrap_or(forms).get(start, word.len as usize));
    let flags = flags | plan.form(false, scratch, forms);
    let len = forms.len() - end;
    if contents.is_some() || len > word.len as usize {
        start = end;
    } else {
        forms.move_back(end, start);
    }
    Slot::new(start, len, flags)
}

/// The slot of a first form, in the bytes of the other one where it can be: most often it lacks a leading space.
fn first_slot(plan: &Plan<'_>, slot: Slot, flags: u64, scratch: &mut Scratch, forms: &mut Buffer) -> Option<Slot> {
    let end = forms.len();
    let form_flags = plan.form(true, scratch, forms);
    let len = forms.len() - end;
    if forms.get(slot.start(), slot.len()).ends_with(forms.get(end, len)) {
        forms.truncate(end);
    }
    Slot::new(forms.len() - len, len, flags | form_flags)
}

/// Below which id every id gets a slot, as far as at least a quarter of the slots would be used; and of how many words.
fn near(list: &[Word]) -> (usize, usize) {
    // Without holes, as in most files, there is nothing to look for.
    if list.last().is_none_or(|word| (word.id as usize).saturating_add(1) == list.len()) {
        return (list.len(), list.len());
    }
    let (mut near, mut count) = (0, 0_usize);
    for word in list {
        let needed = (word.id as usize).saturating_add(1);
        if needed > (count + 1).saturating_mul(4).saturating_add(1024) {
            break;
        }
        near = needed;
        count += 1;
    }
    (near, count)
}
