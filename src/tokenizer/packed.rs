//! The packed form: a loaded tokenizer as bytes, read again at about the cost of a copy. docs/packed.md has the layout.
//!
//! The checksum finds damage; what keeps a file that was made to do harm from doing any is that every count is held
//! against the bytes left, every form against the buffers, and the memory against that of the file.

mod forms;
mod parts;
mod steps;
#[cfg(test)]
mod tests;

use super::chain::Chain;
use super::spec::{Word, Words};
use super::table::{BYTE, PARTIAL, PRESENT, SPECIAL, Slot, Table, WIDE, near};
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

/// The SHA-256 of a file.
pub(super) type Sha256 = [u8; 32];

/// What the checksum is about; `None` if the bytes are no packed tokenizer.
pub(super) fn content(bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let Some(rest) = bytes.strip_prefix(&MAGIC) else { return Ok(None) };
    let mut parts = Parts::new(rest);
    let format = parts.number();
    if !parts.damaged && format != FORMAT {
        let which = if format > FORMAT { "a newer" } else { "an older" };
        let format = format.to_string();
        let what = ["packed by ", which, " version of token2text (format ", &format, "); load its tokenizer.json"];
        return Err(invalid(&what));
    }
    let sum = parts.take(8);
    if sum != checksum(parts.rest).to_le_bytes() {
        return Err(damaged());
    }
    Ok(Some(parts.rest))
}

/// A tokenizer from the content of its packed form. `room` is what its tokens may take.
#[inline(never)]
pub(super) fn read(content: &[u8], engine: Engine, room: usize) -> Result<Tokenizer, Error> {
    let mut parts = Parts::new(content);
    let source: Sha256 = parts.take(32).first_chunk().copied().unwrap_or_default();
    let (kind, cleans_up) = (parts.number(), parts.number() != 0);
    let decoder = parts.text().to_owned();
    let mut special_tokens = Vec::new();
    // An id and the length of its text.
    for _ in 0..parts.count(8) {
        special_tokens.push((parts.number(), parts.text().to_owned()));
    }
    let far: Vec<u32> = parts.numbers().iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let forms = Forms::read(&mut parts);
    let mut is_general = engine == Engine::General;
    // A code becomes a slot, or two, or a word.
    if forms.codes.len().saturating_mul(2 * size_of::<Slot>()) > room {
        return Err(limit_exceeded("the packed tokenizer has more ids than its bytes account for"));
    }
    let vocabulary = if kind <= RUNS {
        let other = if kind == RUNS { PRESENT | PARTIAL | BYTE } else { PRESENT | PARTIAL };
        read_table(&mut parts, &forms, far, other).map(|mut table| {
            special_tokens.iter().for_each(|&(id, _)| table.set_special(id));
            Vocabulary::Table(table)
        })
    } else {
        let words = read_words(&forms, &far, &special_tokens);
        let steps = if kind == CHAIN { Some(steps::read(&mut parts)?) } else { None };
        parts.damaged |= kind > CHAIN;
        words.map(|words| Vocabulary::Chain(Chain { words, steps }))
    };
    parts.damaged |= !parts.rest.is_empty();
    let Some(vocabulary) = vocabulary.filter(|_| !parts.damaged) else { return Err(damaged()) };
    if let Vocabulary::Chain(chain) = &vocabulary {
        chain.check(room)?;
        is_general |= chain.has_regex();
    }
    let mut tokenizer = Tokenizer::new(vocabulary, cleans_up, decoder, special_tokens, is_general);
    tokenizer.info.source_sha256 = Some(source).filter(|source| *source != Sha256::default());
    Ok(tokenizer)
}

/// The packed form of a tokenizer.
pub(super) fn write(tokenizer: &Tokenizer, source: Option<Sha256>) -> Vec<u8> {
    let mut content = source.unwrap_or_default().to_vec();
    let kind = match &tokenizer.vocabulary {
        Vocabulary::Table(table) if table.slots.iter().chain(&table.first).any(|slot| slot.has(BYTE)) => RUNS,
        Vocabulary::Table(_) => TABLE,
        Vocabulary::Chain(chain) => {
            if chain.steps.is_some() {
                CHAIN
            } else {
                JOINED
            }
        }
    };
    number(kind, &mut content);
    number(u32::from(tokenizer.cleans_up), &mut content);
    bytes(tokenizer.info.decoder.as_bytes(), &mut content);
    count(tokenizer.info.special_tokens.len(), &mut content);
    for (id, token) in &tokenizer.info.special_tokens {
        number(*id, &mut content);
        bytes(token.as_bytes(), &mut content);
    }
    match &tokenizer.vocabulary {
        Vocabulary::Table(table) => write_table(table, &mut content),
        Vocabulary::Chain(chain) => {
            write_words(&chain.words, &mut content);
            if let Some(steps) = &chain.steps {
                steps::write(steps, &mut content);
            }
        }
    }
    let mut packed = MAGIC.to_vec();
    number(FORMAT, &mut packed);
    packed.extend_from_slice(&checksum(&content).to_le_bytes());
    packed.extend_from_slice(&content);
    packed
}

/// The normal forms, those of tokens that come first where these can differ, and what is cut from the front.
fn read_table(parts: &mut Parts<'_>, normal: &Forms<'_>, far: Vec<u32>, other: u64) -> Option<Table> {
    let first = Forms::read(parts);
    let (character, cut) = (parts.character(), parts.number() as usize);
    let all = normal.buffers.iter().chain(&first.buffers).map(|buffer| buffer.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(all + WIDE);
    let mut start = 0;
    for forms in [normal, &first] {
        start = bytes.len();
        forms.buffers.iter().for_each(|buffer| bytes.extend_from_slice(buffer));
    }
    let slots = normal.slots(normal.walk(&bytes, 0, other), &[])?;
    let first = first.slots(first.walk(&bytes, start, other), &slots)?;
    let near = slots.len().checked_sub(far.len())?;
    let cut = (cut > 0).then_some((character, cut));
    Table { bytes, slots, near, far, first, longest_first: 0, longest: 0, count: 0, cut }.restored()
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

/// Contents of tokens, all of them texts.
fn read_words(forms: &Forms<'_>, far: &[u32], special_tokens: &[(u32, String)]) -> Option<Words> {
    let [ascii, text, others] = forms.buffers;
    let buffer = String::from_utf8([ascii, text].concat()).ok().filter(|_| others.is_empty())?;
    let near = forms.codes.len().checked_sub(far.len())?;
    let mut walk = forms.walk(buffer.as_bytes(), 0, PRESENT);
    let mut list = Vec::new();
    let mut special = special_tokens.iter().map(|&(id, _)| id).peekable();
    for (at, &code) in forms.codes.iter().enumerate() {
        let (flags, start, len) = walk.next(code);
        let id = at.checked_sub(near).map_or(at as u32, |at| far.get(at).copied().unwrap_or_default());
        if flags != 0 {
            let special = special.next_if_eq(&id).is_some();
            list.push(Word { id, start: start as u32, len: len as u32, special });
        }
    }
    let ascends = list.is_sorted_by(|word: &Word, next| word.id < next.id);
    (walk.ends_well() && ascends && special.next().is_none()).then_some(Words { buffer, list })
}

fn write_words(words: &Words, out: &mut Vec<u8>) {
    let near = near(&words.list);
    let mut forms = Written::default();
    let mut far = Vec::new();
    let mut next = 0;
    for &word in &words.list {
        if word.id as usize >= near {
            far.push(word.id);
        } else {
            // The ids between are nobody's.
            (next..word.id).for_each(|_| forms.push_rest(0));
            next = word.id + 1;
        }
        forms.push(PRESENT, words.text(word).as_bytes());
    }
    numbers(&far, out);
    forms.write(out);
}

/// A quick sum of bytes that finds damage, not intent: two sums of eight bytes at a time, each over every other word, so that one need
/// not wait for the other; through pieces, as in [`forms`].
fn checksum(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks();
    let mut sums = [bytes.len() as u64, 0];
    for words in words.chunks(256) {
        sums = add(sums, words);
    }
    let mut last = [0; 16];
    last.iter_mut().zip(tail).for_each(|(last, byte)| *last = *byte);
    let [first, second] = add(sums, &[last]);
    // Once more, so that every bit depends on every byte.
    let [sum, _] = add([first, 0], &[(u128::from(second)).to_le_bytes()]);
    sum
}

#[inline(never)]
fn add([mut first, mut second]: [u64; 2], words: &[[u8; 16]]) -> [u64; 2] {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    for word in words {
        let word = u128::from_le_bytes(*word);
        first = (first ^ word as u64).wrapping_mul(K);
        second = (second ^ (word >> 64) as u64).wrapping_mul(K);
        first ^= first >> 32;
        second ^= second >> 32;
    }
    [first, second]
}

#[cold]
#[inline(never)]
fn damaged() -> Error {
    invalid(&["the packed tokenizer is cut short or damaged; pack it again, or load its tokenizer.json"])
}
