//! The packed form: a loaded tokenizer as bytes, read again at about the cost of a copy. docs/packed.md has the layout.
//!
//! The checksum finds damage; what keeps a file that was made to do harm from doing any is that every count is held
//! against the bytes left, every form against the buffers, and the memory against that of the file.

mod forms;
mod parts;
mod steps;
#[cfg(test)]
mod tests;

use super::chain::{Chain, has_regex};
use super::spec::{Contents, Word};
use super::table::{BYTE, PARTIAL, PRESENT, SPECIAL, Slot, Table};
use super::{Engine, Tokenizer, Vocabulary, invalid, limit_exceeded};
use crate::Error;
use forms::{Forms, Written};
use parts::{Parts, bytes, count, number, numbers};

/// No JSON begins like this, nor any text.
const MAGIC: [u8; 8] = *b"\x89T2TPACK";

/// Another number for every change of what follows.
const FORMAT: u32 = 2;

/// What holds the vocabulary.
const TABLE: u32 = 0;
/// A table whose tokens that are no text are byte tokens.
const RUNS: u32 = 1;
const JOINED: u32 = 2;
const CHAIN: u32 = 3;

/// Whether bytes begin as those of a packed tokenizer.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The SHA-256 of a file.
pub(super) type Sha256 = [u8; 32];

/// A tokenizer from its packed form, whose bytes it keeps: the forms of its tokens stay where they are. `room` is what
/// its tokens may take.
pub(super) fn read(file: Vec<u8>, engine: Engine, room: usize) -> Result<Tokenizer, Error> {
    let mut tokenizer = read_parts(&file, engine, room)?;
    if let Vocabulary::Table(table) = &mut tokenizer.vocabulary {
        table.bytes = file;
    }
    Ok(tokenizer)
}

/// The tokenizer without the bytes of its table.
#[inline(never)]
fn read_parts(file: &[u8], engine: Engine, room: usize) -> Result<Tokenizer, Error> {
    let mut parts = Parts::new(file);
    parts.damaged |= parts.take(MAGIC.len()) != MAGIC;
    let format = parts.number();
    if !parts.damaged && format != FORMAT {
        let which = if format > FORMAT { "a newer" } else { "an older" };
        let format = (format as usize).to_string();
        let what = ["packed by ", which, " version of token2text (format ", &format, "); load its tokenizer.json"];
        return Err(invalid(&what));
    }
    let sum = parts.take(8);
    if sum != checksum(parts.rest).to_le_bytes() {
        return Err(damaged());
    }
    let source: Sha256 = parts.take(32).first_chunk().copied().unwrap_or_default();
    let (kind, cleans_up) = (parts.number(), parts.number() != 0);
    let decoder = parts.text().to_owned();
    let mut special_tokens = Vec::new();
    // An id and the length of its text.
    for _ in 0..parts.count(8) {
        special_tokens.push((parts.number(), parts.text().to_owned()));
    }
    let other = if kind == RUNS { PRESENT | PARTIAL | BYTE } else { PRESENT | PARTIAL };
    let mut table = Table { has_runs: kind == RUNS, ..Table::default() };
    read_table(&mut parts, other, room, &mut table)?;
    special_tokens.iter().for_each(|&(id, _)| table.set_special(id));
    let mut is_general = engine == Engine::General;
    let vocabulary = if kind <= RUNS {
        Vocabulary::Table(table)
    } else {
        let steps = if kind == CHAIN { Some(steps::read(&mut parts)?) } else { None };
        parts.damaged |= kind > CHAIN;
        let chain = Chain { words: words(&table, file, &mut parts.damaged), steps };
        chain.check(room)?;
        is_general |= cfg!(feature = "general") && has_regex(chain.steps.as_deref());
        Vocabulary::Chain(chain)
    };
    if parts.damaged || !parts.rest.is_empty() {
        return Err(damaged());
    }
    let mut tokenizer = Tokenizer::new(vocabulary, cleans_up, decoder, special_tokens, is_general);
    tokenizer.info.source_sha256 = Some(source).filter(|source| *source != Sha256::default());
    Ok(tokenizer)
}

/// The packed form of a tokenizer.
pub(super) fn write(tokenizer: &Tokenizer, source: Option<Sha256>) -> Vec<u8> {
    let contents;
    let (kind, table, steps) = match &tokenizer.vocabulary {
        Vocabulary::Table(table) => (if table.has_runs { RUNS } else { TABLE }, table, None),
        Vocabulary::Chain(chain) => {
            // There always is one: `Tokenizer::build` has refused tokens that are too long.
            contents = Table::new(&mut chain.words.clone(), &[]).unwrap_or_default();
            (if chain.steps.is_some() { CHAIN } else { JOINED }, &contents, chain.steps.as_deref())
        }
    };
    let mut packed = MAGIC.to_vec();
    number(FORMAT, &mut packed);
    let start = packed.len() + size_of::<u64>();
    packed.resize(start, 0);
    packed.extend_from_slice(&source.unwrap_or_default());
    number(kind, &mut packed);
    number(u32::from(tokenizer.cleans_up), &mut packed);
    bytes(tokenizer.info.decoder.as_bytes(), &mut packed);
    count(tokenizer.info.special_tokens.len(), &mut packed);
    for (id, token) in &tokenizer.info.special_tokens {
        number(*id, &mut packed);
        bytes(token.as_bytes(), &mut packed);
    }
    write_table(table, &mut packed);
    if let Some(steps) = steps {
        steps::write(steps, &mut packed);
    }
    if let Some((head, content)) = packed.split_at_mut_checked(start)
        && let Some(sum) = head.last_chunk_mut()
    {
        *sum = checksum(content).to_le_bytes();
    }
    packed
}

/// The forms of a table; of a chain, the contents of the tokens. `other` are the flags of what is no text.
fn read_table(parts: &mut Parts<'_>, other: u64, room: usize, table: &mut Table) -> Result<(), Error> {
    for id in parts.numbers() {
        table.far.push(u32::from_le_bytes(*id));
    }
    let (mut normal, mut first) = (Forms::read(parts, other), Forms::read(parts, other));
    let (character, cut) = (parts.character(), parts.number() as usize);
    table.cut = (cut > 0).then_some((character, cut));
    // A code becomes a slot, or two, or a word.
    if normal.codes.len().saturating_mul(2 * size_of::<Slot>()) > room {
        return Err(limit_exceeded("the packed tokenizer has more ids than its bytes account for"));
    }
    let is_sound = normal.fill(&[], &mut table.slots) && first.fill(&table.slots, &mut table.first);
    (table.count, table.longest_first) = (normal.count, first.longest);
    table.longest = normal.longest.saturating_add(first.longest);
    parts.damaged |= !is_sound || !table.restore();
    Ok(())
}

fn write_table(table: &Table, out: &mut Vec<u8>) {
    numbers(&table.far, out);
    let (mut normal, mut first) = (Written::default(), Written::default());
    for (at, &slot) in table.slots.iter().enumerate() {
        normal.push(slot.flags(), table.form(slot));
        let Some(&other) = table.first.get(at) else { continue };
        let is_rest = slot.start() + slot.len() == other.start() + other.len();
        match slot.len().checked_sub(other.len()) {
            Some(cut) if is_rest && slot.flags() & !SPECIAL == other.flags() & !SPECIAL => first.push_rest(cut),
            _ => first.push(other.flags(), table.form(other)),
        }
    }
    normal.write(out);
    first.write(out);
    let (character, cut) = table.cut.filter(|&(_, count)| count > 0).unwrap_or_default();
    number(character.into(), out);
    count(cut, out);
}

/// The tokens of a chain, all of which are texts.
fn words(table: &Table, file: &[u8], damaged: &mut bool) -> Contents {
    let mut words = Contents::default();
    for (at, slot) in table.slots.iter().enumerate() {
        *damaged |= slot.has(PARTIAL);
        if slot.has(PRESENT) {
            let far = table.far.get(at.wrapping_sub(table.near)).copied();
            let content = file.get(slot.start()..slot.start() + slot.len()).unwrap_or_default();
            let word = words.write(far.unwrap_or(at as u32), content);
            words.list.push(Word { special: slot.has(SPECIAL), ..word });
        }
    }
    words
}

/// A quick sum of bytes that finds damage, not intent: two sums of eight bytes at a time, each over every other word, so
/// that one need not wait for the other; through pieces, as in [`forms`].
fn checksum(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let (pairs, odd) = words.as_chunks();
    let mut sums = [bytes.len() as u64, 0];
    pairs.chunks(256).for_each(|pairs| add(pairs, &mut sums));
    let mut last = [[0; 8]; 2];
    let rest = odd.as_flattened().iter().chain(tail);
    last.as_flattened_mut().iter_mut().zip(rest).for_each(|(last, byte)| *last = *byte);
    add(&[last], &mut sums);
    let [first, second] = sums;
    mix(first, second)
}

#[inline(never)]
fn add(pairs: &[[[u8; 8]; 2]], sums: &mut [u64; 2]) {
    let [mut first, mut second] = *sums;
    for [one, other] in pairs {
        first = mix(first, u64::from_le_bytes(*one));
        second = mix(second, u64::from_le_bytes(*other));
    }
    *sums = [first, second];
}

#[inline(always)]
fn mix(sum: u64, word: u64) -> u64 {
    let sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    sum ^ sum >> 32
}

#[cold]
#[inline(never)]
fn damaged() -> Error {
    invalid(&["the packed tokenizer is cut short or damaged; pack it again, or load its tokenizer.json"])
}
