//! The bytes of a tokenizer.json to a [`Spec`], in one pass and in pieces. Keys may come in any order.
//!
//! Refused is what the reference refuses in the members that decide how ids decode. Of the others (`merges`,
//! `pre_tokenizer`, `post_processor`, `truncation`) only the JSON is checked, and nothing is kept.

use super::fields::{Absent, Fields, Holds, Need};
use super::json::Reader;
use super::model::Model;
use super::skip::Skip;
use super::spec::{AddedToken, Spec, Vocab};
use super::vocab::{self, AtHand};
use super::{decoders, invalid, quoted, sniff, utf8};
use crate::Error;
use crate::json::joined;

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
    at_hand: AtHand,
    skip: Skip,
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

    /// Reads one member, one element or some entries. What is called often is in functions of its own, and small: a wasm
    /// engine takes long to compile large functions well.
    #[inline(never)]
    fn step(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        match self.state {
            State::Vocab => {
                if !vocab::read_some(reader, &mut self.spec.vocab, &mut self.at_hand)? {
                    self.model.has_vocab = true;
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
            _ => self.other_step(reader)?,
        }
        Ok(())
    }

    #[inline(never)]
    fn other_step(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        match self.state {
            State::Start => {
                reader.expect(b'{')?;
                self.enter(State::Top);
            }
            State::Top => self.top_member(reader)?,
            State::AddedTokens => {
                if reader.element(&mut self.is_first, b']')? {
                    let token = added_token(reader.value()?, self.spec.added.len())?;
                    self.spec.added.push(token);
                } else {
                    self.state = State::Top;
                }
            }
            State::Model => self.model_member(reader)?,
            State::End | State::Vocab | State::Skip { .. } => {
                return Err(reader.fail("something follows the end of the value"));
            }
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
            // Only the general engine pads.
            "padding" if cfg!(feature = "general") => {
                let padding = reader.value()?;
                self.spec.padding = (padding != "null").then(|| padding.to_owned());
            }
            "truncation" | "padding" | "pre_tokenizer" | "post_processor" => self.pass_over(false),
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
            self.spec.model = self.model.finish(&self.spec.vocab)?;
            self.has_model = true;
            self.leave(State::Top);
            return Ok(());
        };
        let next = reader.peek();
        if key == "vocab" && matches!(next, Some(b'{' | b'[')) {
            self.spec.vocab = Vocab { is_list: next == Some(b'['), ..Vocab::default() };
            self.spec.vocab.words.reserve(self.expected);
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
    let Ok(fields) = Fields::new(normalizer, "normalizer") else { return normalizer == "null" };
    // Nothing but white space between the brackets.
    let list = fields.value("normalizers").unwrap_or_default();
    let inside = list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    fields.value("type") == Some("\"Sequence\"")
        && fields.count_of("type") == 1
        && inside.is_some_and(|inside| inside.bytes().all(|byte| byte.is_ascii_whitespace()))
}

/// Every field is required and may stand once, as in the reference; others are passed over.
fn added_token(token: &str, at: usize) -> Result<AddedToken, Error> {
    const NEEDS: [Need; 7] = [
        ("id", Holds::Id, Absent::Never),
        ("content", Holds::Text, Absent::Never),
        ("single_word", Holds::Flag, Absent::Never),
        ("lstrip", Holds::Flag, Absent::Never),
        ("rstrip", Holds::Flag, Absent::Never),
        ("normalized", Holds::Flag, Absent::Never),
        ("special", Holds::Flag, Absent::Never),
    ];
    let read = |path: &str| {
        let fields = Fields::new(token, path)?;
        fields.check(&NEEDS)?;
        let (special, normalized) = (fields.flag("special"), fields.flag("normalized"));
        Ok(AddedToken { id: fields.id("id"), call: 0, content: fields.string("content"), special, normalized })
    };
    // What is wrong is told with the place, which is put into words only then.
    read("").or_else(|_: Error| read(&joined(&["added_tokens[", &at.to_string(), "]"])))
}
