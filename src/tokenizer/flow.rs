//! Tokens on their way through the steps of a decoder, one by one.
//!
//! Each step remembers what it must: whether a token came before, the run of bytes that is open, the whole text where it
//! works on the whole. So what comes out can never change any more: this is a stream. And each text carries along which
//! token gave which part of it: this makes [`Pieces`].

use super::chain::{Step, byte_level, fallback_byte};
use super::pieces::Pieces;

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
        let mut buffer = [0; 4];
        let content = content.encode_utf8(&mut buffer).as_bytes();
        let mut at = 0;
        while self.cut < most && text.get(at..).is_some_and(|rest| rest.starts_with(content)) {
            at += content.len();
            self.cut += 1;
        }
        if at < text.len() {
            self.cut = most;
        }
        at
    }
}

/// What has come out of the last step.
#[derive(Debug, Default)]
pub(super) struct Sink {
    /// Bytes whose lossy UTF-8 reading is the text.
    pub text: Vec<u8>,
    /// Where the tokens end in it, as far as later ones have come out.
    pub ends: Vec<usize>,
    /// The flags of [`Pieces`] for each token, where they are asked for.
    pub flags: Vec<u8>,
}

impl Sink {
    /// Takes a text from `start` on.
    fn write(&mut self, piece: Piece<'_>, mut start: usize) {
        for owner in piece.owners {
            if self.ends.len() < owner.token {
                self.ends.resize(owner.token, self.text.len());
            }
            self.text.extend_from_slice(piece.text.get(start..owner.end).unwrap_or_default());
            start = start.max(owner.end);
        }
        self.text.extend_from_slice(piece.text.get(start..).unwrap_or_default());
    }

    fn flag(&mut self, token: usize, flag: u8) {
        if let Some(flags) = self.flags.get_mut(token) {
            *flags |= flag;
        }
    }
}

/// Tokens under way.
#[derive(Debug, Default)]
pub(super) struct Flow {
    memories: Vec<Memory>,
    pub sink: Sink,
    /// The number of the token that comes next; always the same where nobody asks for the ends.
    pub token: usize,
    /// Whether a token came that is not left out.
    pub seen: bool,
}

impl Flow {
    /// Sends the text of the next token through the steps, which must be the same each time.
    pub fn pass(&mut self, steps: &[Step], text: &[u8]) {
        self.seen = true;
        self.memories.resize_with(steps.len(), Memory::default);
        let owner = Owner { token: self.token, end: text.len() };
        pass(steps, &mut self.memories, Piece { text, owners: &[owner] }, &mut self.sink);
    }

    /// Sends on what the steps hold back.
    pub fn end(&mut self, steps: &[Step]) {
        self.memories.resize_with(steps.len(), Memory::default);
        end(steps, &mut self.memories, &mut self.sink);
    }

    /// Marks the next token.
    pub fn flag(&mut self, flag: u8) {
        self.sink.flag(self.token, flag);
    }

    /// How many bytes are held back.
    pub fn held(&self) -> usize {
        let mut held = self.sink.text.len();
        for memory in &self.memories {
            held = held.saturating_add(memory.held.text.len());
        }
        held
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

/// Sends a text through the first step and on to the others.
fn pass(steps: &[Step], memories: &mut [Memory], piece: Piece<'_>, sink: &mut Sink) {
    let (Some((step, steps)), Some((memory, memories))) = (steps.split_first(), memories.split_first_mut()) else {
        return sink.write(piece, 0);
    };
    let mut one = [Owner::default()];
    match step {
        Step::Fuse if waits(step, steps) => return memory.held.add(piece),
        Step::Fuse => {
            let cut = match steps {
                [Step::Strip { content, start, .. }] => memory.cut(piece.text, *content, *start),
                _ => 0,
            };
            return sink.write(piece, cut);
        }
        Step::ByteFallback => {
            let Some(byte) = fallback_byte(piece.text) else {
                release(std::mem::take(&mut memory.held), steps, memories, sink);
                return pass(steps, memories, piece, sink);
            };
            let owners = owners(piece, &[byte], sink, &mut one);
            if let Some(last) = owners.last() {
                sink.flag(last.token, Pieces::BYTE);
            }
            return memory.held.add(Piece { text: &[byte], owners });
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
                form(step, steps, memories, before.piece(), [false; 2], sink);
            }
            return;
        }
        Step::ByteLevel if waits(step, steps) => {
            let mut bytes = Vec::new();
            byte_level(as_text(piece), &mut bytes);
            let owners = owners(piece, &bytes, sink, &mut one);
            return memory.held.add(Piece { text: &bytes, owners });
        }
        _ => {}
    }
    let is_first = !std::mem::replace(&mut memory.seen, true);
    form(step, steps, memories, piece, [is_first, false], sink);
}

/// Sends on what the steps hold back.
fn end(steps: &[Step], memories: &mut [Memory], sink: &mut Sink) {
    let (Some((step, steps)), Some((memory, memories))) = (steps.split_first(), memories.split_first_mut()) else {
        return;
    };
    let held = std::mem::take(&mut memory.held);
    match step {
        Step::ByteFallback => release(held, steps, memories, sink),
        Step::Bpe { .. } if memory.seen => form(step, steps, memories, held.piece(), [false, true], sink),
        step if waits(step, steps) => {
            let text = String::from_utf8_lossy(&held.text);
            let mut one = [Owner::default()];
            let owners = owners(held.piece(), text.as_bytes(), sink, &mut one);
            pass(steps, memories, Piece { text: text.as_bytes(), owners }, sink);
        }
        _ => {}
    }
    end(steps, memories, sink);
}

/// Sends on the form that a step gives to a text.
fn form(
    step: &Step,
    steps: &[Step],
    memories: &mut [Memory],
    piece: Piece<'_>,
    [is_first, is_last]: [bool; 2],
    sink: &mut Sink,
) {
    let mut bytes = Vec::new();
    if let Step::ByteLevel = step {
        byte_level(as_text(piece), &mut bytes);
    } else {
        let mut text = String::new();
        step.form(as_text(piece), is_first, is_last, &mut text);
        bytes = text.into_bytes();
    }
    if bytes.is_empty() && matches!(step, Step::Ctc { .. }) {
        return;
    }
    let mut one = [Owner::default()];
    let owners = owners(piece, &bytes, sink, &mut one);
    pass(steps, memories, Piece { text: &bytes, owners }, sink);
}

/// Sends on a run of bytes: its text, or one U+FFFD for each of its bytes if they are not UTF-8 as a whole.
fn release(run: Held, steps: &[Step], memories: &mut [Memory], sink: &mut Sink) {
    const INVALID: &[u8] = "\u{fffd}".as_bytes();
    if std::str::from_utf8(&run.text).is_ok() {
        if !run.text.is_empty() {
            pass(steps, memories, run.piece(), sink);
        }
        return;
    }
    let mut at = 0;
    for owner in run.owners {
        let owners = &[Owner { token: owner.token, end: INVALID.len() }];
        while at < owner.end {
            pass(steps, memories, Piece { text: INVALID, owners }, sink);
            at += 1;
        }
    }
}

/// The owners of another form of a text. Where it had several it can no longer be told what is whose: all goes to the last.
fn owners<'a>(piece: Piece<'a>, text: &[u8], sink: &mut Sink, one: &'a mut [Owner; 1]) -> &'a [Owner] {
    match piece.owners {
        [before @ .., last] if text != piece.text => {
            if !before.is_empty() {
                sink.flag(last.token, Pieces::UNATTRIBUTED);
            }
            *one = [Owner { token: last.token, end: text.len() }];
            one
        }
        owners => owners,
    }
}

/// Between two steps there is only text.
fn as_text<'a>(piece: Piece<'a>) -> &'a str {
    std::str::from_utf8(piece.text).unwrap_or_default()
}
