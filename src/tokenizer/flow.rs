//! Tokens on their way through the steps of a decoder, one by one.
//!
//! Each step remembers what it must: whether a token came before, the run of bytes that is open, the whole text where it
//! works on the whole. So what comes out can never change any more: this is a stream. And each text carries along which
//! token gave which part of it: this makes [`Pieces`].

use super::chain::{Step, byte_level, fallback_byte, leading};
use super::pieces::Pieces;
use crate::json::lossy;

/// Whose part of a text ends where.
#[derive(Debug, Clone, Copy, Default)]
struct Owner {
    token: usize,
    end: usize,
}

/// A text between two steps, and its owners in order.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a [u8],
    owners: &'a [Owner],
}

/// A text that a step holds back.
#[derive(Debug, Default)]
struct Held {
    text: Vec<u8>,
    owners: Vec<Owner>,
}

impl Held {
    fn add(&mut self, piece: Piece<'_>) {
        let start = self.text.len();
        self.text.extend_from_slice(piece.text);
        for &Owner { token, end } in piece.owners {
            let end = start + end;
            match self.owners.last_mut() {
                // In a stream all belongs to one, so that this takes no room.
                Some(last) if last.token == token => last.end = end,
                _ => self.owners.push(Owner { token, end }),
            }
        }
    }

    fn piece(&self) -> Piece<'_> {
        Piece { text: &self.text, owners: &self.owners }
    }
}

/// What a step remembers.
#[derive(Debug, Default)]
struct Memory {
    /// What waits; for CTC, the token before.
    held: Held,
    /// Whether a token came before.
    seen: bool,
    /// How many characters were cut from the front.
    cut: usize,
}

impl Memory {
    /// How many bytes are cut from the front of the next part of a text.
    fn cut(&mut self, text: &[u8], content: char, most: usize) -> usize {
        let cut = leading(text, content, most.saturating_sub(self.cut));
        self.cut = if cut < text.len() { most } else { self.cut + cut / content.len_utf8() };
        cut
    }
}

/// Tokens under way, and what has come of them.
#[derive(Debug, Default)]
pub(super) struct Flow {
    memories: Vec<Memory>,
    /// Bytes whose lossy UTF-8 reading is the text.
    pub text: Vec<u8>,
    /// Where the tokens end in it, as far as later ones have come out.
    pub ends: Vec<usize>,
    /// The flags of [`Pieces`] for each token, where they are asked for.
    pub flags: Vec<u8>,
    /// The number of the token that comes next; always the same where nobody asks for the ends.
    pub token: usize,
    /// Whether a token came that is not left out.
    pub seen: bool,
}

impl Flow {
    /// A way through these steps.
    pub fn new(steps: &[Step]) -> Flow {
        let mut flow = Flow::default();
        steps.iter().for_each(|_| flow.memories.push(Memory::default()));
        flow
    }

    /// Sends the text of the next token through the steps.
    pub fn push(&mut self, steps: &[Step], text: &[u8]) {
        self.seen = true;
        let owner = Owner { token: self.token, end: text.len() };
        self.pass(steps, Piece { text, owners: &[owner] });
    }

    /// Marks the next token.
    pub fn flag(&mut self, flag: u8) {
        self.mark(self.token, flag);
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        let mut held = self.text.len();
        for memory in &self.memories {
            held = held.saturating_add(memory.held.text.len());
        }
        held
    }

    /// The first of the steps that are left, and what it remembers.
    fn next<'a>(&mut self, steps: &'a [Step]) -> Option<(&'a Step, &'a [Step], &mut Memory)> {
        let (step, behind) = steps.split_first()?;
        let at = self.memories.len().checked_sub(steps.len())?;
        Some((step, behind, self.memories.get_mut(at)?))
    }

    fn mark(&mut self, token: usize, flag: u8) {
        if let Some(flags) = self.flags.get_mut(token) {
            *flags |= flag;
        }
    }

    /// Ends the tokens before the one with this number here.
    pub fn close(&mut self, token: usize) {
        while self.ends.len() < token {
            self.ends.push(self.text.len());
        }
    }

    /// Takes what has come through all steps, from `start` on.
    fn write(&mut self, piece: Piece<'_>, mut start: usize) {
        for owner in piece.owners {
            self.close(owner.token);
            self.text.extend_from_slice(piece.text.get(start..owner.end).unwrap_or_default());
            start = start.max(owner.end);
        }
        self.text.extend_from_slice(piece.text.get(start..).unwrap_or_default());
    }

    /// Sends a text through the first step and on to the others.
    fn pass(&mut self, steps: &[Step], piece: Piece<'_>) {
        let Some((step, behind, memory)) = self.next(steps) else { return self.write(piece, 0) };
        match step {
            Step::Fuse if !waits(step, behind) => {
                let cut = match behind {
                    [Step::Strip { content, start, .. }] => memory.cut(piece.text, *content, *start),
                    _ => 0,
                };
                return self.write(piece, cut);
            }
            Step::ByteFallback => {
                let Some(byte) = fallback_byte(piece.text) else {
                    self.release(steps);
                    return self.pass(behind, piece);
                };
                if let Some(last) = piece.owners.last() {
                    self.mark(last.token, Pieces::BYTE);
                }
                return self.send(steps, piece, &[byte], true);
            }
            Step::Ctc { .. } => {
                if memory.seen && memory.held.text == piece.text {
                    return;
                }
                memory.held.text.clear();
                memory.held.text.extend_from_slice(piece.text);
            }
            Step::Bpe { .. } => {
                // The last one differs, so each waits for the next.
                let before = std::mem::take(&mut memory.held);
                memory.held.add(piece);
                if std::mem::replace(&mut memory.seen, true) {
                    self.form(steps, before.piece(), false, false);
                }
                return;
            }
            _ => {}
        }
        let is_first = !std::mem::replace(&mut memory.seen, true);
        self.form(steps, piece, is_first, false);
    }

    /// Sends on what the steps hold back.
    pub fn end(&mut self, steps: &[Step]) {
        let Some((step, behind, memory)) = self.next(steps) else { return };
        match step {
            Step::ByteFallback => self.release(steps),
            Step::Bpe { .. } if memory.seen => {
                let last = std::mem::take(&mut memory.held);
                self.form(steps, last.piece(), false, true);
            }
            _ if waits(step, behind) => {
                let whole = std::mem::take(&mut memory.held);
                let text = lossy(whole.text.to_vec());
                self.send(steps, whole.piece(), text.as_bytes(), false);
            }
            _ => {}
        }
        self.end(behind);
    }

    /// Sends on the form that the first step gives to a text, or holds it back until the end.
    fn form(&mut self, steps: &[Step], piece: Piece<'_>, is_first: bool, is_last: bool) {
        let Some((step, behind)) = steps.split_first() else { return };
        let text = std::str::from_utf8(piece.text).unwrap_or_default();
        let mut bytes = Vec::new();
        if let Step::ByteLevel = step {
            byte_level(piece.text, &mut bytes);
        } else {
            let mut form = String::new();
            step.form(text, is_first, is_last, &mut form);
            bytes = form.into_bytes();
        }
        // Tokens of CTC that have no text are none.
        if !(bytes.is_empty() && matches!(step, Step::Ctc { .. })) {
            self.send(steps, piece, &bytes, waits(step, behind));
        }
    }

    /// Sends another form of a text behind the first step, or holds it there. Where it had several owners it can no longer
    /// be told what is whose: all goes to the last.
    fn send(&mut self, steps: &[Step], piece: Piece<'_>, text: &[u8], is_held: bool) {
        let is_same = text == piece.text;
        let mut piece = Piece { text, ..piece };
        let one;
        if let [before @ .., last] = piece.owners
            && !is_same
        {
            if !before.is_empty() {
                self.mark(last.token, Pieces::UNATTRIBUTED);
            }
            one = [Owner { token: last.token, end: text.len() }];
            piece.owners = &one;
        }
        match self.next(steps) {
            Some((_, _, memory)) if is_held => memory.held.add(piece),
            Some((_, behind, _)) => self.pass(behind, piece),
            None => {}
        }
    }

    /// Sends on the run of bytes that the first step holds: its text, or one U+FFFD for each of its bytes if they are not
    /// UTF-8 as a whole.
    fn release(&mut self, steps: &[Step]) {
        const INVALID: &[u8] = "\u{fffd}".as_bytes();
        let Some((_, behind, memory)) = self.next(steps) else { return };
        let run = std::mem::take(&mut memory.held);
        let is_text = std::str::from_utf8(&run.text).is_ok();
        if is_text && !run.text.is_empty() {
            return self.pass(behind, run.piece());
        }
        let mut at = 0;
        for owner in &run.owners {
            let owners = &[Owner { token: owner.token, end: INVALID.len() }];
            while at < owner.end {
                self.pass(behind, Piece { text: INVALID, owners });
                at += 1;
            }
        }
    }
}

/// Whether a step gives nothing before the end: it makes one text of all, and the steps behind it must see the whole.
fn waits(step: &Step, behind: &[Step]) -> bool {
    match step {
        Step::Fuse => !matches!(behind, [] | [Step::Strip { stop: 0, .. }]),
        Step::ByteLevel => !behind.is_empty(),
        _ => false,
    }
}
