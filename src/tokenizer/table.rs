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
pub(super) const WIDE: usize = 16;

/// So many tokens are copied between two looks at the room in the output.
const BATCH: usize = 64;

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
    fn most(self) -> usize {
        if self.has(PARTIAL) { self.len() * 3 } else { self.len() }
    }
}

/// A vocabulary, decoded.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The bytes of all tokens, and then `WIDE` zeros, so that every token can be read in whole pieces.
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

    /// Appends what a token is, and gives the flags of what was appended.
    fn form(&self, token: &str, is_first: bool, scratch: &mut [String; 2], out: &mut Vec<u8>) -> u64 {
        let [form, next] = scratch;
        form.clear();
        form.push_str(token);
        for step in self.forms {
            next.clear();
            step.form(form, is_first, false, next);
            std::mem::swap(form, next);
        }
        if self.byte_level {
            let start = out.len();
            byte_level(form, out);
            return if is_text(out.get(start..).unwrap_or_default()) { 0 } else { PARTIAL };
        }
        match fallback_byte(form.as_bytes()).filter(|_| self.runs) {
            Some(byte) => {
                out.push(byte);
                BYTE | PARTIAL
            }
            None => {
                out.extend_from_slice(form.as_bytes());
                0
            }
        }
    }
}

impl Table {
    /// Decodes a vocabulary; `None` if the steps have no table, or it would be out of all proportion to the file.
    pub fn new(words: &Words, steps: &[Step]) -> Option<Table> {
        let plan = Plan::new(steps)?;
        let room = words.buffer.len().saturating_mul(8).saturating_add(words.list.len() * 64);
        let near = near(&words.list);
        let far: Vec<u32> = words.list.iter().map(|word| word.id).filter(|&id| id as usize >= near).collect();
        let mut table = Table {
            bytes: Vec::with_capacity(words.buffer.len() + WIDE),
            slots: vec![Slot::default(); near + far.len()],
            near,
            far,
            first: Vec::new(),
            longest_first: 0,
            longest: 0,
            count: 0,
            cut: plan.cut,
            has_runs: plan.runs,
        };
        if plan.first_aware {
            table.first = table.slots.clone();
        }
        let mut scratch = [String::new(), String::new()];
        let mut first_form = Vec::new();
        for &word in &words.list {
            let text = words.text(word);
            let flags = if word.special { PRESENT | SPECIAL } else { PRESENT };
            let start = table.bytes.len();
            let form_flags = plan.form(text, false, &mut scratch, &mut table.bytes);
            let at = table.position(word.id)?;
            *table.slots.get_mut(at)? = Slot::new(start, table.bytes.len() - start, flags | form_flags)?;
            if plan.first_aware {
                first_form.clear();
                let form_flags = plan.form(text, true, &mut scratch, &mut first_form);
                *table.first.get_mut(at)? = table.first_slot(start, &first_form, flags | form_flags)?;
            }
            if table.bytes.len() > room {
                return None;
            }
        }
        table.finish();
        Some(table)
    }

    /// Completes a table that was put together from slots and the bytes that they say; false if its ids are not in order.
    pub fn restore(&mut self) -> bool {
        let ascends = self.far.is_sorted_by(|id, next| id < next);
        let near = self.slots.len().checked_sub(self.far.len());
        self.near = near.unwrap_or_default();
        self.finish();
        let is_apart = self.far.first().is_none_or(|&id| id as usize >= self.near);
        let has_first = self.first.is_empty() || self.first.len() == self.slots.len();
        near.is_some() && ascends && is_apart && has_first
    }

    /// Adds what goes without saying.
    fn finish(&mut self) {
        self.bytes.extend_from_slice(&[0; WIDE]);
        let (_, longest_first) = weigh(&self.first);
        self.longest_first = longest_first;
        let (count, longest) = weigh(&self.slots);
        self.count = count;
        self.longest = longest.saturating_add(longest_first);
    }

    /// The bytes of a slot.
    pub fn form(&self, slot: Slot) -> &[u8] {
        self.bytes.get(slot.start()..slot.start() + slot.len()).unwrap_or_default()
    }

    /// Lets `skip_special_tokens` leave a token out.
    pub fn set_special(&mut self, id: u32) {
        if let Some(slot) = self.position(id).and_then(|at| self.slots.get_mut(at)) {
            slot.0 |= SPECIAL << 56;
        }
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

    pub fn decode_into(&self, ids: &[u32], options: DecodeOptions, out: &mut Vec<u8>) {
        // One bit of a slot hides it; which one, is settled here.
        let hidden = if options.skip_special_tokens { SPECIAL } else { 0 };
        let start = out.len();
        // A guess for most texts; beyond it, the buffer grows as it must.
        out.reserve(ids.len().saturating_mul(5).min(1 << 24) + BATCH * WIDE);
        self.walk(ids, hidden, out);
        if let Some((content, count)) = self.cut {
            let text = std::str::from_utf8(out.get(start..).unwrap_or_default()).unwrap_or_default();
            let cut = text.chars().take(count).take_while(|&c| c == content).count() * content.len_utf8();
            out.copy_within(start + cut.., start);
            out.truncate(out.len() - cut);
        }
    }

    /// Written out by hand, so that it is as fast in builds for size.
    fn walk(&self, mut ids: &[u32], hidden: u64, out: &mut Vec<u8>) {
        const NONE: usize = usize::MAX;
        let mask = (PRESENT | hidden) << 56;
        // Where the run that is open began; runs are checked when they end.
        let mut run = NONE;
        if !self.first.is_empty() {
            loop {
                let Some((&id, rest)) = ids.split_first() else { return };
                ids = rest;
                if self.slot(id).0 & mask == PRESENT << 56 {
                    let slot = self.position(id).and_then(|at| self.first.get(at)).copied().unwrap_or_default();
                    if slot.has(BYTE) {
                        run = out.len();
                    }
                    let form = self.bytes.get(slot.start()..slot.start() + slot.len());
                    out.extend_from_slice(form.unwrap_or_default());
                    break;
                }
            }
        }
        // Behind `at`, the output has zeros to write over.
        let mut at = out.len();
        for batch in ids.chunks(BATCH) {
            make_room(at, out);
            for &id in batch {
                let slot = self.slot(id);
                if slot.0 & mask != PRESENT << 56 {
                    continue;
                }
                if slot.has(BYTE) != (run != NONE) {
                    if run == NONE {
                        run = at;
                    } else {
                        out.truncate(at);
                        close_run(run, out);
                        at = out.len();
                        make_room(at, out);
                        run = NONE;
                    }
                }
                let (start, len) = (slot.start(), slot.len());
                let from = self.bytes.get(start..).and_then(|rest| rest.first_chunk::<WIDE>());
                let to = out.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<WIDE>());
                match (from, to) {
                    (Some(from), Some(to)) if len <= WIDE => {
                        *to = *from;
                        at += len;
                    }
                    _ => {
                        out.truncate(at);
                        out.extend_from_slice(self.bytes.get(start..start + len).unwrap_or_default());
                        at = out.len();
                        make_room(at, out);
                    }
                }
            }
        }
        out.truncate(at);
        if run != NONE {
            close_run(run, out);
        }
    }
}

/// Makes the output so long that a batch of tokens fits behind `at`.
#[inline(never)]
fn make_room(at: usize, out: &mut Vec<u8>) {
    const ZEROS: [u8; BATCH * WIDE] = [0; BATCH * WIDE];
    let missing = (at + ZEROS.len()).saturating_sub(out.len());
    out.extend_from_slice(ZEROS.get(..missing).unwrap_or(&ZEROS));
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

/// How many slots have a token, and the most bytes of text that one has. In pieces: a function that is called once runs
/// slowly in V8.
fn weigh(slots: &[Slot]) -> (usize, usize) {
    let mut sums = (0, 0);
    slots.chunks(512).for_each(|slots| weigh_some(slots, &mut sums));
    sums
}

#[inline(never)]
fn weigh_some(slots: &[Slot], (count, longest): &mut (usize, usize)) {
    for slot in slots {
        *count += usize::from(slot.has(PRESENT));
        *longest = slot.most().max(*longest);
    }
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
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

#[cfg(not(target_arch = "wasm32"))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::chain::Chain;
    use crate::tokenizer::read;

    const WORDS: [&str; 24] = [
        "a",
        "▁b",
        "▁▁",
        " ▁c ",
        "▁ ▁",
        "",
        " ",
        "##d",
        "##",
        ".",
        " .",
        "n't",
        "<0x41>",
        "<0xC3>",
        "<0xA9>",
        "<0x20>",
        "<0xFF>",
        "Ġé",
        "Ã",
        "©",
        "日本",
        "a long token ▁ of more than sixteen bytes",
        "do not",
        "</s>",
    ];

    fn file(decoder: &str) -> String {
        let vocab: Vec<String> =
            WORDS.iter().enumerate().map(|(id, word)| format!("{word:?}:{}", id * 3 % 29)).collect();
        let added = r#""single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true"#;
        format!(
            r#"{{"added_tokens":[{{"id":0,"content":"</s>",{added}}},{{"id":0,"content":"<▁x>",{added}}}],
            "decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{},"far":4000000000,"▁far":7000}}}}}}"#,
            vocab.join(",")
        )
    }

    #[test]
    fn tables_decode_as_the_chain_does() {
        let strip = |start| format!(r#"{{"type":"Strip","content":" ","start":{start},"stop":0}}"#);
        let metaspace = |scheme| format!(r#"{{"type":"Metaspace","replacement":"▁","prepend_scheme":"{scheme}"}}"#);
        let piece = |cleanup| format!(r###"{{"type":"WordPiece","prefix":"##","cleanup":{cleanup}}}"###);
        let level = r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#.to_owned();
        let replace = r#"{"type":"Replace","pattern":{"String":"▁"},"content":" "}"#.to_owned();
        let (bytes, fuse) = (r#"{"type":"ByteFallback"}"#.to_owned(), r#"{"type":"Fuse"}"#.to_owned());
        let sequences = [
            vec![level.clone()],
            vec![replace.clone(), level],
            vec![],
            vec![fuse.clone()],
            vec![replace.clone(), bytes.clone(), fuse.clone()],
            vec![replace.clone(), bytes.clone(), fuse.clone(), strip(1)],
            vec![bytes.clone()],
            vec![replace, fuse.clone(), strip(2)],
            vec![strip(1)],
            vec![metaspace("first")],
            vec![metaspace("never")],
            vec![metaspace("always"), bytes, fuse.clone(), strip(1)],
            vec![piece(true)],
            vec![piece(false), metaspace("always"), fuse],
        ];
        let mut state = 1_u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for sequence in sequences {
            let decoder = format!(r#"{{"type":"Sequence","decoders":[{}]}}"#, sequence.join(","));
            let mut spec = read::read(file(&decoder).as_bytes()).expect("a tokenizer");
            let words = spec.number().expect("numbers");
            let steps = spec.decoder.expect("a decoder").steps;
            let table = Table::new(&words, &steps).unwrap_or_else(|| panic!("no table for {decoder}"));
            let chain = Chain { words, steps: Some(steps) };
            for _ in 0..2000 {
                let id = |random: &mut dyn FnMut(u64) -> u64| match random(20) {
                    0 => 4_000_000_000,
                    1 => 7000,
                    2 => 3_999_999_999,
                    _ => random(34) as u32,
                };
                let ids: Vec<u32> = (0..random(9)).map(|_| id(&mut random)).collect();
                for skip_special_tokens in [false, true] {
                    let options = DecodeOptions { skip_special_tokens };
                    let (mut ours, mut expected) = (b"x".to_vec(), b"x".to_vec());
                    table.decode_into(&ids, options, &mut ours);
                    chain.decode_into(&ids, options, &mut expected);
                    assert_eq!(ours, expected, "{ids:?} {options:?} {decoder}");
                    let text = String::from_utf8_lossy(&ours[1..]).len();
                    let bounds = [table.text_bytes_bound(&ids), chain.text_bytes_bound(&ids)];
                    assert!(bounds.iter().all(|&bound| text <= bound), "{text} {bounds:?} {ids:?} {decoder}");
                }
                assert!(ids.iter().all(|&id| table.contains(id) == chain.words.get(id).is_some()));
            }
        }
    }

    #[test]
    fn a_table_out_of_proportion_is_left_to_the_chain() {
        let content = "x".repeat(100_000);
        let decoder = format!(r#"{{"type":"Replace","pattern":{{"String":""}},"content":"{content}"}}"#);
        let mut spec = read::read(file(&decoder).as_bytes()).expect("a tokenizer");
        let words = spec.number().expect("numbers");
        assert!(Table::new(&words, &spec.decoder.expect("a decoder").steps).is_none());
    }
}
