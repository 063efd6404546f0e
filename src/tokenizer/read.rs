//! The bytes of a tokenizer.json to a [`Spec`], in one pass and in pieces. Keys may come in any order.
//!
//! Refused is what the reference refuses in the members that decide how ids decode. Of the others (`merges`,
//! `pre_tokenizer`, `post_processor`, `truncation`) only the JSON is checked, and nothing is kept.

use super::json::Reader;
use super::model::Model;
use super::skip::Skip;
use super::spec::{AddedToken, Spec, Vocab};
use super::{decoders, invalid, quoted, sniff, utf8, vocab};
use crate::Error;

/// Reads a tokenizer.json piece by piece. Between two pieces nothing is kept but what will be in the [`Spec`].
#[derive(Debug, Default)]
pub(super) struct Parser {
    spec: Spec,
    state: State,
    /// Whether what comes next is the first in its container.
    is_first: bool,
    /// How many bytes came before the next piece.
    base: usize,
    /// How many bytes will come, as far as that is known.
    expected: usize,
    has_model: bool,
    model: Model,
    vocab: Vocab,
    skip: Skip,
    /// A content on the way.
    content: Vec<u8>,
}

/// What is being read.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum State {
    #[default]
    Start,
    /// The members of the file.
    Top,
    AddedTokens,
    /// The members of the model.
    Model,
    Vocab,
    /// A member that does not matter, of the file or of the model.
    Skip {
        in_model: bool,
    },
    End,
}

impl Parser {
    /// Goes on with a piece, and gives how much of it is done with; the next piece must begin there. All of the last
    /// one is done with, or it is an error.
    pub fn read(&mut self, piece: &[u8], is_last: bool) -> Result<usize, Error> {
        if self.base == 0 {
            sniff::check(piece, is_last)?;
        }
        let (len, is_broken) = utf8::whole(piece);
        let is_cut = !is_last || len < piece.len();
        let mut reader = Reader::piece(piece.get(..len).unwrap_or_default(), self.base, is_cut);
        while self.state != State::End || reader.peek().is_some() {
            let before = (self.state, self.is_first);
            // White space is nothing to wait for.
            reader.peek();
            reader.commit();
            let stepped = self.step(&mut reader);
            if reader.starved() {
                (self.state, self.is_first) = before;
                break;
            }
            stepped?;
        }
        if self.state == State::End {
            reader.commit();
        }
        if reader.starved() && (is_broken || is_last) {
            return Err(reader.not_utf8());
        }
        self.base += reader.done();
        Ok(reader.done())
    }

    /// Tells how long the file will be, about.
    pub fn expect(&mut self, bytes: usize) {
        self.expected = bytes;
    }

    /// What was read.
    pub fn finish(self) -> Spec {
        self.spec
    }

    /// Reads one member, one element or some entries.
    fn step(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        match self.state {
            State::Start => {
                reader.expect(b'{')?;
                self.enter(State::Top);
            }
            State::Top => self.top_member(reader)?,
            State::AddedTokens => {
                if reader.element(&mut self.is_first, b']')? {
                    let token = added_token(reader, self.spec.added.len())?;
                    self.spec.added.push(token);
                } else {
                    self.state = State::Top;
                }
            }
            State::Model => self.model_member(reader)?,
            State::Vocab => {
                if !vocab::read_some(reader, &mut self.vocab, &mut self.content)? {
                    self.model.vocab = Some(std::mem::take(&mut self.vocab));
                    self.leave(State::Model);
                }
            }
            State::Skip { in_model } => {
                let is_done = reader.skip_some(&mut self.skip);
                reader.commit();
                if is_done? {
                    self.leave(if in_model { State::Model } else { State::Top });
                }
            }
            State::End => return Err(reader.fail("something follows the end of the value")),
        }
        Ok(())
    }

    fn enter(&mut self, state: State) {
        (self.state, self.is_first) = (state, true);
    }

    fn leave(&mut self, state: State) {
        (self.state, self.is_first) = (state, false);
    }

    fn top_member(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let Some(key) = reader.key(&mut self.is_first)? else {
            if !self.has_model {
                return Err(invalid(&["the key \"model\" is missing, so the file is no tokenizer.json"]));
            }
            self.state = State::End;
            return Ok(());
        };
        match key.as_ref() {
            "version" => {
                let version = reader.value()?;
                if !matches!(Reader::new(version.as_bytes()).string().as_deref(), Ok("1.0")) {
                    return Err(invalid(&["version: only \"1.0\" is known, not ", &quoted(version)]));
                }
            }
            "added_tokens" => {
                if !reader.take(b'[') {
                    return Err(invalid(&["added_tokens: expected a list"]));
                }
                self.spec.added.clear();
                self.enter(State::AddedTokens);
            }
            "normalizer" => {
                let normalizer = reader.value()?;
                self.spec.normalizer = (!does_nothing(normalizer)).then(|| normalizer.to_owned());
            }
            "decoder" => {
                let decoder = reader.value()?;
                self.spec.decoder = if decoder == "null" { None } else { Some(decoders::read(decoder)?) };
            }
            "model" => {
                if !reader.take(b'{') {
                    return Err(invalid(&["model: expected an object"]));
                }
                self.model = Model::default();
                self.enter(State::Model);
            }
            "padding" => {
                let padding = reader.value()?;
                self.spec.padding = (padding != "null").then(|| padding.to_owned());
            }
            "truncation" | "pre_tokenizer" | "post_processor" => self.pass_over(false),
            other => {
                let next = reader.peek();
                return Err(sniff::unknown_key(other, next));
            }
        }
        Ok(())
    }

    fn pass_over(&mut self, in_model: bool) {
        self.skip = Skip::default();
        self.state = State::Skip { in_model };
    }

    fn model_member(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let Some(key) = reader.key(&mut self.is_first)? else {
            (self.spec.model, self.spec.vocab) = std::mem::take(&mut self.model).finish()?;
            self.has_model = true;
            self.leave(State::Top);
            return Ok(());
        };
        let next = reader.peek();
        if key == "vocab" && matches!(next, Some(b'{' | b'[')) {
            self.vocab = Vocab { is_list: next == Some(b'['), ..Vocab::default() };
            self.vocab.words.reserve(self.expected);
            reader.take(next.unwrap_or_default());
            self.state = State::Vocab;
        } else if self.model.member(&key, next, reader)? {
            self.pass_over(true);
        }
        Ok(())
    }
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
fn added_token(reader: &mut Reader<'_>, at: usize) -> Result<AddedToken, Error> {
    const FLAGS: [&str; 5] = ["single_word", "lstrip", "rstrip", "normalized", "special"];
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
    Ok(AddedToken { id, call: 0, content, special, normalized })
}

#[cold]
#[inline(never)]
fn wrong_field(at: usize, field: &str, what: &str) -> Error {
    invalid(&["added_tokens[", &at.to_string(), "].", field, ": ", what])
}
