//! The bytes of a tokenizer.json to a [`Spec`], in one pass. Keys may come in any order.
//!
//! Refused is what the reference refuses in the members that decide how ids decode. Of the others (`merges`,
//! `pre_tokenizer`, `post_processor`, `truncation`, `padding`) only the JSON is checked.

use std::borrow::Cow;

use super::json::Reader;
use super::spec::{AddedToken, Spec, Vocab, Word};
use super::{decoders, invalid, limit_exceeded, quoted, sniff};
use crate::Error;

/// The largest tokenizer.json that is read.
const MAX_BYTES: usize = 256 << 20;

/// The most tokens a model may have; the largest vocabularies in use have a quarter of it.
const MAX_TOKENS: usize = 1 << 22;

/// Reads a tokenizer.json.
pub(super) fn read(bytes: &[u8]) -> Result<Spec, Error> {
    if bytes.len() > MAX_BYTES {
        return Err(limit_exceeded("the file has more than 256 MiB"));
    }
    sniff::check(bytes)?;
    let mut reader = Reader::new(bytes);
    let (mut spec, mut has_model, mut first) = (Spec::default(), false, true);
    reader.expect(b'{')?;
    while let Some(key) = reader.key(&mut first)? {
        match key.as_ref() {
            "version" => {
                let version = reader.value()?;
                if !matches!(Reader::new(version.as_bytes()).string().as_deref(), Ok("1.0")) {
                    return Err(invalid(&["version: only \"1.0\" is known, not ", &quoted(version)]));
                }
            }
            "added_tokens" => spec.added = added_tokens(&mut reader)?,
            "normalizer" => {
                let normalizer = reader.value()?;
                spec.normalizer = (!does_nothing(normalizer)).then(|| normalizer.to_owned());
            }
            "decoder" => {
                let decoder = reader.value()?;
                spec.decoder = if decoder == "null" { None } else { Some(decoders::read(decoder)?) };
            }
            "model" => {
                (spec.model, spec.vocab) = model(&mut reader)?;
                has_model = true;
            }
            "padding" => {
                let padding = reader.value()?;
                spec.padding = (padding != "null").then(|| padding.to_owned());
            }
            "truncation" | "pre_tokenizer" | "post_processor" => {
                reader.skip()?;
            }
            other => return Err(sniff::unknown_key(other, reader.value()?)),
        }
    }
    reader.end()?;
    if !has_model {
        return Err(invalid(&["the key \"model\" is missing, so the file is no tokenizer.json"]));
    }
    Ok(spec)
}

/// Whether a normalizer leaves every text as it is.
fn does_nothing(normalizer: &str) -> bool {
    let members = || -> Result<(bool, bool, usize), Error> {
        let mut reader = Reader::new(normalizer.as_bytes());
        reader.expect(b'{')?;
        let (mut sequence, mut empty, mut types, mut first) = (false, false, 0, true);
        while let Some(key) = reader.key(&mut first)? {
            let value = reader.value()?;
            match key.as_ref() {
                "type" => {
                    sequence = value == "\"Sequence\"";
                    types += 1;
                }
                "normalizers" => {
                    // Nothing but white space between the brackets.
                    let inside = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
                    empty = inside.is_some_and(|inside| inside.bytes().all(|byte| byte.is_ascii_whitespace()));
                }
                _ => {}
            }
        }
        Ok((sequence, empty, types))
    };
    normalizer == "null" || matches!(members(), Ok((true, true, 1)))
}

/// Every field is required and may stand once, as in the reference; others are passed over.
fn added_tokens(reader: &mut Reader<'_>) -> Result<Vec<AddedToken>, Error> {
    const FLAGS: [&str; 5] = ["single_word", "lstrip", "rstrip", "normalized", "special"];
    if !reader.take(b'[') {
        return Err(invalid(&["added_tokens: expected a list"]));
    }
    let (mut tokens, mut first_token) = (Vec::new(), true);
    while reader.element(&mut first_token, b']')? {
        let at = tokens.len();
        let wrong = |field: &str, what: &str| wrong_field(at, field, what);
        if !reader.take(b'{') {
            return Err(invalid(&["added_tokens[", &at.to_string(), "]: expected an object"]));
        }
        let (mut id, mut content, mut flags, mut first) = (None, None, [None; 5], true);
        while let Some(key) = reader.key(&mut first)? {
            let repeated = match key.as_ref() {
                "id" => id.replace(reader.id().ok_or_else(|| wrong("id", "expected an id"))?).is_some(),
                "content" if reader.peek() == Some(b'"') => content.replace(reader.string()?.into_owned()).is_some(),
                "content" => return Err(wrong("content", "expected a string")),
                field => {
                    let flag = FLAGS.iter().position(|name| *name == field).and_then(|at| flags.get_mut(at));
                    match (flag, reader.value()?) {
                        (None, _) => false,
                        (Some(flag), "true") => flag.replace(true).is_some(),
                        (Some(flag), "false") => flag.replace(false).is_some(),
                        (Some(_), _) => return Err(wrong(field, "expected true or false")),
                    }
                }
            };
            if repeated {
                return Err(wrong(&key, "stands twice"));
            }
        }
        let id = id.ok_or_else(|| wrong("id", "is missing"))?;
        let content = content.ok_or_else(|| wrong("content", "is missing"))?;
        if let Some(missing) = flags.iter().position(Option::is_none) {
            return Err(wrong(FLAGS.get(missing).copied().unwrap_or_default(), "is missing"));
        }
        let [.., normalized, special] = flags.map(|flag| flag == Some(true));
        tokens.push(AddedToken { id, call: 0, content, special, normalized });
    }
    Ok(tokens)
}

/// What the members of a model were.
#[derive(Default)]
struct Model<'a> {
    kind: Option<Cow<'a, str>>,
    types: usize,
    vocab: Option<Vocab>,
    merges: bool,
    unk_token: bool,
    prefix: bool,
    max_chars: bool,
    /// Unigram: the id of the unknown token, if it is one.
    unk_id: Option<&'a str>,
}

fn model(reader: &mut Reader<'_>) -> Result<(&'static str, Vocab), Error> {
    if !reader.take(b'{') {
        return Err(invalid(&["model: expected an object"]));
    }
    let (mut model, mut first) = (Model::default(), true);
    while let Some(key) = reader.key(&mut first)? {
        match (key.as_ref(), reader.peek()) {
            ("type", Some(b'"')) => {
                model.kind = Some(reader.string()?);
                model.types += 1;
            }
            ("type", _) => return Err(invalid(&["model.type: expected a string"])),
            ("vocab", Some(b'{')) => model.vocab = Some(vocab_map(reader)?),
            ("vocab", Some(b'[')) => model.vocab = Some(vocab_list(reader)?),
            ("vocab", _) => return Err(invalid(&["model.vocab: expected an object or a list"])),
            ("unk_id", _) => model.unk_id = Some(reader.value()?),
            (name, next) => {
                reader.skip()?;
                match name {
                    "merges" => model.merges = next == Some(b'['),
                    "unk_token" => model.unk_token = next == Some(b'"'),
                    "continuing_subword_prefix" => model.prefix = next == Some(b'"'),
                    "max_input_chars_per_word" => model.max_chars = matches!(next, Some(b'0'..=b'9')),
                    _ => {}
                }
            }
        }
    }
    model.finish()
}

impl Model<'_> {
    /// Checks that the model has what the reference needs to load it.
    fn finish(self) -> Result<(&'static str, Vocab), Error> {
        let vocab = self.vocab.ok_or_else(|| invalid(&["model.vocab: is missing"]))?;
        let word_level = self.unk_token;
        let word_piece = word_level && self.prefix && self.max_chars;
        // Files from before there was a type are told apart by their members.
        let (kind, list, complete) = match self.kind.as_deref() {
            None if vocab.is_list => ("Unigram", true, true),
            None if self.merges => ("BPE", false, true),
            None if word_piece => ("WordPiece", false, true),
            None => ("WordLevel", false, word_level),
            Some("BPE") => ("BPE", false, self.merges),
            Some("WordPiece") => ("WordPiece", false, word_piece),
            Some("WordLevel") => ("WordLevel", false, word_level),
            Some("Unigram") => ("Unigram", true, true),
            Some(other) => return Err(invalid(&["model.type: ", &quoted(other), " is no type the reference knows"])),
        };
        if self.types > 1 {
            return Err(invalid(&["model.type: stands twice"]));
        }
        if list != vocab.is_list {
            return Err(invalid(&["model.vocab: ", kind, if list { " needs a list" } else { " needs an object" }]));
        }
        if !complete {
            let needs = "BPE needs merges, WordLevel unk_token, WordPiece also continuing_subword_prefix and max_input_chars_per_word";
            return Err(invalid(&["model: ", kind, " is incomplete: ", needs]));
        }
        if let Some(id) = self.unk_id.filter(|id| list && *id != "null")
            && Reader::new(id.as_bytes()).id().is_none_or(|id| id as usize >= vocab.words.list.len())
        {
            return Err(invalid(&["model.unk_id: ", &quoted(id), " is no position in the vocabulary"]));
        }
        Ok((kind, vocab))
    }
}

fn vocab_map(reader: &mut Reader<'_>) -> Result<Vocab, Error> {
    let (mut vocab, mut first) = (Vocab::default(), true);
    reader.expect(b'{')?;
    while vocab_entries(reader, &mut vocab, &mut first)? {}
    Ok(vocab)
}

/// Reads some entries; false at the end of the object. A wasm engine compiles a function better once it has been
/// called often enough, which it would not notice inside one long loop.
#[inline(never)]
fn vocab_entries(reader: &mut Reader<'_>, vocab: &mut Vocab, first: &mut bool) -> Result<bool, Error> {
    for _ in 0..256 {
        if !reader.element(first, b'}')? {
            return Ok(false);
        }
        let start = vocab.words.buffer.len();
        reader.string_into(&mut vocab.words.buffer)?;
        reader.expect(b':')?;
        let Some(id) = reader.id() else {
            // A file that was cut here should be called cut.
            reader.skip()?;
            let content = vocab.words.buffer.get(start..).unwrap_or_default();
            return Err(invalid(&["model.vocab: ", &quoted(content), " has no id below 2^32"]));
        };
        push(vocab, id, start)?;
    }
    Ok(true)
}

fn vocab_list(reader: &mut Reader<'_>) -> Result<Vocab, Error> {
    let (mut vocab, mut first) = (Vocab { is_list: true, ..Vocab::default() }, true);
    reader.expect(b'[')?;
    while reader.element(&mut first, b']')? {
        let start = vocab.words.buffer.len();
        let id = vocab.words.list.len() as u32;
        reader.expect(b'[').and_then(|()| reader.string_into(&mut vocab.words.buffer))?;
        reader.expect(b',').and_then(|()| reader.number())?;
        reader.expect(b']')?;
        push(&mut vocab, id, start)?;
    }
    Ok(vocab)
}

/// Adds the token whose content was just written to the buffer. A file of at most [`MAX_BYTES`] fits in 32 bits.
fn push(vocab: &mut Vocab, id: u32, start: usize) -> Result<(), Error> {
    if vocab.words.list.len() == MAX_TOKENS {
        return Err(limit_exceeded("model.vocab: more than 4194304 tokens"));
    }
    let len = (vocab.words.buffer.len() - start) as u32;
    vocab.words.list.push(Word { id, start: start as u32, len, special: false });
    Ok(())
}

#[cold]
#[inline(never)]
fn wrong_field(at: usize, field: &str, what: &str) -> Error {
    invalid(&["added_tokens[", &at.to_string(), "].", field, ": ", what])
}
