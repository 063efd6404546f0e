//! The packed form: a loaded tokenizer as bytes, read again at about the cost of a copy.
//!
//! Eight bytes of magic, the number of the format (four), a hash of the content (eight), the content. All numbers are
//! little-endian; texts and lists follow their count of four bytes. The hash finds damage; what keeps a file that was
//! made to do harm from doing any is that every count is held against the bytes left, and [`Table::restored`].

use super::chain::{Chain, Step, has_regex};
use super::decoders::MAX_STEPS;
use super::general::RegexReplace;
use super::spec::{Word, Words, hash};
use super::table::{Slot, Table};
use super::{Engine, Tokenizer, Vocabulary, invalid};
use crate::Error;

/// No JSON begins like this, nor any text.
const MAGIC: [u8; 8] = *b"\x89T2TPACK";

/// Another number for every change of what follows.
const FORMAT: u32 = 1;

/// What holds the vocabulary.
const TABLE: u32 = 0;
const JOINED: u32 = 1;
const CHAIN: u32 = 2;

/// Whether bytes begin as those of a packed tokenizer.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The content of a packed tokenizer; `None` if the bytes are something else.
pub(super) fn content(bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let Some(rest) = bytes.strip_prefix(&MAGIC) else { return Ok(None) };
    let mut parts = Parts { rest, damaged: false };
    let format = parts.number();
    if !parts.damaged && format != FORMAT {
        let format = format.to_string();
        let what = ["packed by another version of token2text (format ", &format, "); load its tokenizer.json"];
        return Err(invalid(&what));
    }
    let sum = parts.long();
    if parts.damaged || sum != hash(parts.rest) {
        return Err(damaged());
    }
    Ok(Some(parts.rest))
}

/// A tokenizer from the content of its packed form. `room` is what its tokens may take.
#[inline(never)]
pub(super) fn read(content: &[u8], engine: Engine, room: usize) -> Result<Tokenizer, Error> {
    let mut parts = Parts { rest: content, damaged: false };
    let cleans_up = parts.number() != 0;
    let decoder = parts.text().to_owned();
    let mut special_tokens = Vec::new();
    // An id and the length of its text.
    for _ in 0..parts.count(8) {
        special_tokens.push((parts.number(), parts.text().to_owned()));
    }
    let mut is_general = engine == Engine::General;
    let vocabulary = match parts.number() {
        TABLE => read_table(&mut parts).map(Vocabulary::Table),
        kind => {
            let words = read_words(&mut parts);
            let steps = if kind == CHAIN { Some(read_steps(&mut parts)?) } else { None };
            parts.damaged |= kind > CHAIN;
            words.map(|words| Vocabulary::Chain(Chain { words, steps }))
        }
    };
    parts.damaged |= !parts.rest.is_empty();
    let Some(vocabulary) = vocabulary.filter(|_| !parts.damaged) else { return Err(damaged()) };
    if let Vocabulary::Chain(chain) = &vocabulary {
        chain.check(room)?;
        is_general |= has_regex(chain.steps.as_deref());
    }
    Ok(Tokenizer::new(vocabulary, cleans_up, decoder, special_tokens, is_general))
}

/// The packed form of a tokenizer.
pub(super) fn write(tokenizer: &Tokenizer) -> Vec<u8> {
    let mut content = Vec::new();
    number(u32::from(tokenizer.cleans_up), &mut content);
    text(&tokenizer.info.decoder, &mut content);
    count(tokenizer.info.special_tokens.len(), &mut content);
    for (id, token) in &tokenizer.info.special_tokens {
        number(*id, &mut content);
        text(token, &mut content);
    }
    match &tokenizer.vocabulary {
        Vocabulary::Table(table) => write_table(table, &mut content),
        Vocabulary::Chain(chain) => {
            number(if chain.steps.is_some() { CHAIN } else { JOINED }, &mut content);
            write_words(&chain.words, &mut content);
            if let Some(steps) = &chain.steps {
                count(steps.len(), &mut content);
                steps.iter().for_each(|step| write_step(step, &mut content));
            }
        }
    }
    let mut packed = Vec::with_capacity(content.len() + 20);
    packed.extend_from_slice(&MAGIC);
    number(FORMAT, &mut packed);
    packed.extend_from_slice(&hash(&content).to_le_bytes());
    packed.extend_from_slice(&content);
    packed
}

fn read_table(parts: &mut Parts<'_>) -> Option<Table> {
    let (character, cut) = (parts.character(), parts.number() as usize);
    let near = parts.number() as usize;
    let far = parts.list(|bytes| u32::from_le_bytes(*bytes));
    let [slots, first] = [(); 2].map(|()| parts.list(|bytes| Slot(u64::from_le_bytes(*bytes))));
    let bytes = parts.bytes().to_vec();
    let cut = (cut > 0).then_some((character, cut));
    Table { bytes, slots, near, far, first, longest_first: 0, cut, steps: Vec::new() }.restored()
}

fn write_table(table: &Table, out: &mut Vec<u8>) {
    number(TABLE, out);
    let (character, cut) = table.cut.filter(|&(_, count)| count > 0).unwrap_or_default();
    number(character.into(), out);
    count(cut, out);
    count(table.near, out);
    count(table.far.len(), out);
    table.far.iter().for_each(|&id| number(id, out));
    for slots in [&table.slots, &table.first] {
        count(slots.len(), out);
        slots.iter().for_each(|slot| out.extend_from_slice(&slot.0.to_le_bytes()));
    }
    let forms = table.forms();
    count(forms.len(), out);
    out.extend_from_slice(forms);
}

/// The words, each with its id, its length and whether it is special, and then their contents.
fn read_words(parts: &mut Parts<'_>) -> Option<Words> {
    let mut list = Vec::new();
    let mut start = 0_u32;
    for [id, len, special] in parts.list(three_numbers) {
        list.push(Word { id, start, len, special: special != 0 });
        start = start.checked_add(len)?;
    }
    let words = Words { buffer: parts.text().to_owned(), list };
    let is_whole = words.list.iter().all(|word| words.buffer.is_char_boundary(word.start as usize));
    let is_used = words.buffer.len() == start as usize;
    let ascends = words.list.is_sorted_by(|word, next| word.id < next.id);
    (is_whole && is_used && ascends).then_some(words)
}

fn write_words(words: &Words, out: &mut Vec<u8>) {
    count(words.list.len(), out);
    let mut len = 0;
    for word in &words.list {
        len += word.len;
        [word.id, word.len, u32::from(word.special)].into_iter().for_each(|part| number(part, out));
    }
    number(len, out);
    words.list.iter().for_each(|&word| out.extend_from_slice(words.text(word).as_bytes()));
}

/// What a step is, in the same parts for every kind: its number, a character, two counts or flags, two texts.
type Record<'a> = (u32, char, [usize; 2], [&'a str; 2]);

fn write_step(step: &Step, out: &mut Vec<u8>) {
    let none = char::default();
    let (kind, character, counts, texts): Record<'_> = match step {
        Step::ByteLevel => (0, none, [0; 2], [""; 2]),
        Step::Metaspace { replacement, drop_first } => (1, *replacement, [usize::from(*drop_first), 0], [""; 2]),
        Step::WordPiece { prefix, cleanup } => (2, none, [usize::from(*cleanup), 0], [prefix, ""]),
        Step::Bpe { suffix } => (3, none, [0; 2], [suffix, ""]),
        Step::ByteFallback => (4, none, [0; 2], [""; 2]),
        Step::Fuse => (5, none, [0; 2], [""; 2]),
        Step::Strip { content, start, stop } => (6, *content, [*start, *stop], [""; 2]),
        Step::Replace { pattern, content } => (7, none, [0; 2], [pattern, content]),
        Step::Regex(regex) => (8, none, [0; 2], regex.parts().into()),
        Step::Ctc { pad, delimiter, cleanup } => (9, none, [usize::from(*cleanup), 0], [pad, delimiter]),
    };
    number(kind, out);
    number(character.into(), out);
    counts.into_iter().for_each(|part| count(part, out));
    texts.into_iter().for_each(|part| text(part, out));
}

fn read_steps(parts: &mut Parts<'_>) -> Result<Vec<Step>, Error> {
    // Six numbers, of which two are lengths of texts.
    let len = parts.count(24);
    parts.damaged |= len > MAX_STEPS;
    let mut steps = Vec::new();
    for _ in 0..len.min(MAX_STEPS) {
        let (kind, character) = (parts.number(), parts.character());
        let [start, stop] = [(); 2].map(|()| parts.number() as usize);
        let [first, second] = [(); 2].map(|()| parts.text());
        if parts.damaged {
            break;
        }
        let (flag, string) = (start != 0, first.to_owned());
        steps.push(match kind {
            0 => Step::ByteLevel,
            1 => Step::Metaspace { replacement: character, drop_first: flag },
            2 => Step::WordPiece { prefix: string, cleanup: flag },
            3 => Step::Bpe { suffix: string },
            4 => Step::ByteFallback,
            5 => Step::Fuse,
            6 => Step::Strip { content: character, start, stop },
            7 => Step::Replace { pattern: string, content: second.to_owned() },
            8 => Step::Regex(RegexReplace::new(first, second)?),
            9 => Step::Ctc { pad: string, delimiter: second.to_owned(), cleanup: flag },
            _ => return Err(damaged()),
        });
    }
    Ok(steps)
}

/// What is left of a packed tokenizer. After damage everything reads as nothing, so one look at the end is enough.
struct Parts<'a> {
    rest: &'a [u8],
    damaged: bool,
}

impl<'a> Parts<'a> {
    #[inline(never)]
    fn take(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or_else(|| {
            self.damaged = true;
            Default::default()
        });
        self.rest = rest;
        taken
    }

    fn long(&mut self) -> u64 {
        self.take(8).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    #[inline(never)]
    fn number(&mut self) -> u32 {
        self.take(4).first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    fn character(&mut self) -> char {
        let character = char::from_u32(self.number());
        self.damaged |= character.is_none();
        character.unwrap_or_default()
    }

    /// A count of parts that have at least so many bytes each, no more than there can be.
    fn count(&mut self, size: usize) -> usize {
        let count = self.number() as usize;
        let fits = count <= self.rest.len() / size;
        self.damaged |= !fits;
        if fits { count } else { 0 }
    }

    fn list<const N: usize, T>(&mut self, part: impl Fn(&[u8; N]) -> T) -> Vec<T> {
        let len = self.count(N) * N;
        self.take(len).as_chunks().0.iter().map(part).collect()
    }

    fn bytes(&mut self) -> &'a [u8] {
        let len = self.number() as usize;
        self.take(len)
    }

    #[inline(never)]
    fn text(&mut self) -> &'a str {
        let text = std::str::from_utf8(self.bytes());
        self.damaged |= text.is_err();
        text.unwrap_or_default()
    }
}

fn three_numbers(bytes: &[u8; 12]) -> [u32; 3] {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes)
}

fn number(number: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
}

/// A count of something in a file, which has fewer than 2^32 bytes. Steps may ask for more, which changes nothing.
fn count(count: usize, out: &mut Vec<u8>) {
    number(u32::try_from(count).unwrap_or(u32::MAX), out);
}

fn text(text: &str, out: &mut Vec<u8>) {
    count(text.len(), out);
    out.extend_from_slice(text.as_bytes());
}

#[cold]
#[inline(never)]
fn damaged() -> Error {
    invalid(&["the packed tokenizer is cut short or damaged; pack it again, or load its tokenizer.json"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::DecodeOptions;

    const DECODERS: [&str; 7] = [
        "null",
        r#"{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}"#,
        r###"{"type":"WordPiece","prefix":"##","cleanup":true}"###,
        r#"{"type":"Sequence","decoders":[{"type":"Metaspace","replacement":"\u2581","prepend_scheme":"always"},
            {"type":"ByteFallback"},{"type":"Fuse"},{"type":"Strip","content":" ","start":1,"stop":0}]}"#,
        r#"{"type":"CTC","pad_token":"<pad>","word_delimiter_token":"|","cleanup":true}"#,
        r###"{"type":"Sequence","decoders":[{"type":"BPEDecoder","suffix":"</w>"},{"type":"Fuse"},
            {"type":"WordPiece","prefix":"##","cleanup":false},
            {"type":"Metaspace","replacement":"\u2581","prepend_scheme":"never"},
            {"type":"Strip","content":"x","start":18446744073709551615,"stop":2},{"type":"ByteFallback"},
            {"type":"Replace","pattern":{"String":"a"},"content":"\u00e9\u65e5"},{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true}]}"###,
        r#"{"type":"Sequence","decoders":[{"type":"Fuse"},{"type":"Replace","pattern":{"Regex":"a+|b"},"content":"-"}]}"#,
    ];

    /// Of the decoders, those that this build can run.
    fn tokenizers() -> Vec<Tokenizer> {
        let usable = if cfg!(feature = "general") { DECODERS.len() } else { DECODERS.len() - 1 };
        let mut all = Vec::new();
        for decoder in &DECODERS[..usable] {
            let vocab = r###""a":0,"ab":1,"":2,"\u0120x":3,"\u00c3":4,"<0xC3>":5,"<0x41>":6,"\u65e5":7,"a</w>":8,"##b":9,
                "\u2581c":10,"|":14,".":13,"far":4000000000,"\u2581far":7000000"###;
            let added = r#"[{"id":0,"content":"</s>","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}]"#;
            let json = format!(
                r#"{{"added_tokens":{added},"decoder":{decoder},"model":{{"type":"BPE","merges":[],"vocab":{{{vocab}}}}}}}"#
            );
            all.push(Tokenizer::from_json(json.as_bytes()).unwrap_or_else(|error| panic!("{decoder}: {error}")));
            all.extend(all.last().map(|tokenizer| Tokenizer {
                cleans_up: true,
                ..unpack(&tokenizer.to_packed()).expect("what was packed")
            }));
        }
        all
    }

    fn unpack(bytes: &[u8]) -> Result<Tokenizer, Error> {
        Tokenizer::from_json(bytes)
    }

    fn random(state: &mut u32, below: usize) -> usize {
        *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((u64::from(*state) * below as u64) >> 32) as usize
    }

    fn random_ids(state: &mut u32) -> Vec<u32> {
        const IDS: [u32; 20] =
            [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7_000_000, 4_000_000_000, 3_999_999_999];
        (0..random(state, 12)).map(|_| IDS[random(state, IDS.len())]).collect()
    }

    #[test]
    fn what_was_packed_decodes_alike_and_packs_alike() {
        let mut state = 1;
        for tokenizer in tokenizers() {
            let packed = tokenizer.to_packed();
            let again = unpack(&packed).expect("what was packed");
            assert!(again.to_packed() == packed && again.info() == tokenizer.info());
            for _ in 0..500 {
                let ids = random_ids(&mut state);
                for skip_special_tokens in [false, true] {
                    let options = DecodeOptions { skip_special_tokens };
                    assert_eq!(
                        again.decode(&ids, options),
                        tokenizer.decode(&ids, options),
                        "{ids:?} {:?}",
                        again.info
                    );
                }
                assert_eq!(again.text_bytes_bound(&ids), tokenizer.text_bytes_bound(&ids));
                assert!(ids.iter().all(|&id| again.contains(id) == tokenizer.contains(id)));
            }
        }
    }

    #[test]
    fn a_cut_file_is_refused() {
        for tokenizer in tokenizers() {
            let packed = tokenizer.to_packed();
            for len in 0..packed.len() {
                let error = unpack(&packed[..len]).expect_err("it was cut");
                assert_eq!(error.code(), crate::ErrorCode::InvalidTokenizer, "{len}: {error}");
            }
            let error = unpack(&[&packed[..], b"\0"].concat()).expect_err("something follows");
            assert_eq!(error.message(), damaged().message());
            let mut other = packed;
            other[8] = 9;
            let error = unpack(&other).expect_err("another format");
            assert_eq!(error.message(), "packed by another version of token2text (format 9); load its tokenizer.json");
        }
    }

    /// A packed form whose content was changed, with the hash that fits.
    fn with_hash(mut packed: Vec<u8>) -> Vec<u8> {
        let sum = hash(&packed[20..]).to_le_bytes();
        packed[12..20].copy_from_slice(&sum);
        packed
    }

    #[test]
    fn a_file_made_to_do_harm_does_none() {
        let (mut state, mut loaded, mut refused) = (7, 0, 0);
        for tokenizer in tokenizers() {
            let packed = tokenizer.to_packed();
            for len in 20..packed.len() {
                assert!(unpack(&with_hash(packed[..len].to_vec())).is_err(), "cut to {len}");
            }
            for turn in 0..3000 {
                let mut changed = packed.clone();
                for _ in 0..=turn % 3 {
                    let at = 20 + random(&mut state, packed.len() - 20);
                    changed[at] =
                        [0, 1, 0x7f, 0x80, 0xff, changed[at] ^ 1, changed[at].wrapping_add(1)][random(&mut state, 7)];
                }
                let Ok(tokenizer) = unpack(&with_hash(changed)) else {
                    refused += 1;
                    continue;
                };
                loaded += 1;
                let ids = random_ids(&mut state);
                for skip_special_tokens in [false, true] {
                    let bytes = tokenizer.decode_bytes(&ids, DecodeOptions { skip_special_tokens });
                    let text = String::from_utf8_lossy(&bytes);
                    assert!(text.len() <= tokenizer.text_bytes_bound(&ids), "{ids:?} {tokenizer:?}");
                    assert!(text.len() <= ids.len() * tokenizer.longest, "{ids:?} {tokenizer:?}");
                }
                let packed = tokenizer.to_packed();
                assert!(unpack(&packed).expect("what was packed").to_packed() == packed);
            }
        }
        assert!(loaded > 2000 && refused > 2000, "{loaded} {refused}: too few of one kind");
    }

    #[test]
    fn a_regular_expression_needs_the_general_engine() {
        let Vocabulary::Chain(mut chain) = tokenizers().swap_remove(10).vocabulary else { panic!("a chain") };
        chain.steps = Some(vec![Step::Fuse, Step::Replace { pattern: "a+".to_owned(), content: "-".to_owned() }]);
        let mut packed = Tokenizer { vocabulary: Vocabulary::Chain(chain), ..tokenizers().remove(0) }.to_packed();
        // The last step is six numbers, of which the first is its kind, and three bytes of text.
        let at = packed.len() - 27;
        assert_eq!(packed[at], 7);
        packed[at] = 8;
        let unpacked = unpack(&with_hash(packed));
        if cfg!(feature = "general") {
            let tokenizer = unpacked.expect("what was packed");
            assert_eq!(tokenizer.decode(&[0, 0, 3], DecodeOptions::default()), "-Ġx");
            assert_eq!(tokenizer.info().engine, "general");
        } else {
            let error = unpacked.expect_err("no general engine");
            assert_eq!(error.code(), crate::ErrorCode::EngineNotAvailable, "{error}");
        }
    }

    #[test]
    fn steps_that_grow_without_bound_are_refused() {
        let tokenizer = unpack(&tokenizers()[10].to_packed()).expect("a chain");
        let Vocabulary::Chain(mut chain) = tokenizer.vocabulary else { panic!("a chain") };
        let grow = || Step::Replace { pattern: String::new(), content: "a".repeat(1000) };
        chain.steps = Some(vec![grow(), grow(), grow(), Step::ByteFallback, Step::Fuse, Step::Fuse]);
        let packed = Tokenizer { vocabulary: Vocabulary::Chain(chain), ..tokenizers().remove(0) }.to_packed();
        assert_eq!(unpack(&packed).expect_err("it grows").code(), crate::ErrorCode::LimitExceeded);
    }
}
