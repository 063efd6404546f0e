//! Text to ids, by the crate's own parts in the crate's order: added tokens, normalizer, pre-tokenizer, model. What they
//! do with offsets is left out, since only ids are asked for.

use std::cell::Cell;
use std::fmt::Display;
use std::sync::Mutex;

use serde::Deserialize;
use tokenizers::normalizer::Range;
use tokenizers::{
    AddedToken, AddedVocabulary, Model, ModelWrapper, NormalizedString, Normalizer, OffsetReferential, OffsetType,
    PreTokenizedString, PreTokenizer, PreTokenizerWrapper,
};

use super::super::json::Reader;
use super::super::spec::Spec;
use super::super::{Compat, Engine, LoadOptions};
use super::finish::{Finish, member};
use super::normalize::Steps;
use super::{invalid, limit_exceeded, unsupported};
use crate::{Error, ErrorCode};

/// The longest text that is encoded. Each of its bytes may take hundreds on the way.
pub(crate) const MOST_TEXT: usize = 4 << 20;

/// So long may all pieces of a text become, normalized and cut up.
const MOST_FORM: usize = 64 << 20;

/// The most bytes that a pre-tokenizer makes of one: a space to a character of four bytes, and one in front.
const GROWTH: usize = 8;

/// Sequences of pre-tokenizers may have so many in all.
const MOST_STEPS: usize = 64;

/// The longest word that WordPiece looks into: the work grows with the cube of it.
const MOST_WORD: usize = 1000;

/// What encodes.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(super) added: AddedVocabulary,
    pub(super) normalizer: Steps,
    pre_tokenizers: Vec<PreTokenizerWrapper>,
    pub(super) model: ModelWrapper,
    /// What the model gives for what it has no tokens for.
    pub(super) unknown: Option<u32>,
    finish: Finish,
}

/// The ids of a text before anything is cut off, put around it or padded.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub ids: Vec<u32>,
    /// For each id whether a piece begins there: an added token, or what the pre-tokenizer cuts out. No token of the model
    /// reaches from one piece into the next.
    pub begins: Vec<bool>,
}

/// The encoder of a file that was read, or why there is none.
pub(in crate::tokenizer) fn encoder(file: &[u8], options: &LoadOptions<'_>, spec: &Spec) -> Result<Encoder, Error> {
    if options.compat != Compat::Tokenizers {
        return Err(unsupported("`encode` follows `tokenizers` only: load the tokenizer without `compat`"));
    }
    if options.engine != Engine::General {
        let what = "`encode` needs the general engine: load the tokenizer with `engine: \"general\"`";
        return Err(Error::new(ErrorCode::EngineNotAvailable, what));
    }
    Encoder::read(file, spec)
}

/// Why a packed tokenizer has no encoder.
pub(in crate::tokenizer) fn packed() -> Error {
    unsupported("a packed tokenizer holds no merges, so it cannot encode; load its tokenizer.json")
}

/// What the checks look at in a model.
#[derive(Deserialize)]
struct ModelHead {
    #[serde(default)]
    dropout: Option<f32>,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    max_input_chars_per_word: Option<usize>,
    #[serde(default)]
    merges: Option<Merges>,
    #[serde(default)]
    unk_token: Option<String>,
    #[serde(default)]
    unk_id: Option<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Merges {
    Pairs(Vec<(String, String)>),
    Lines(Vec<String>),
}

impl Encoder {
    fn read(file: &[u8], spec: &Spec) -> Result<Encoder, Error> {
        const NAMES: [&str; 7] =
            ["truncation", "post_processor", "padding", "normalizer", "pre_tokenizer", "added_tokens", "model"];
        let mut values = ["null"; NAMES.len()];
        let mut reader = Reader::new(file);
        let mut first = true;
        reader.expect(b'{')?;
        while let Some(key) = reader.key(&mut first)? {
            let value = reader.value()?;
            if let Some(place) = NAMES.iter().position(|name| *name == key).and_then(|at| values.get_mut(at)) {
                *place = value;
            }
        }
        let [truncation, post_processor, padding, normalizer, pre_tokenizer, added_tokens, model] = values;

        let finish = Finish::read(truncation, post_processor, padding)?;
        let normalizer = if normalizer == "null" { Steps::default() } else { Steps::read(normalizer)? };
        normalizer.check_for_any_text()?;
        let mut pre_tokenizers = Vec::new();
        if let Some(pre_tokenizer) = member("pre_tokenizer", pre_tokenizer)? {
            collect(pre_tokenizer, &mut pre_tokenizers)?;
        }
        let head: ModelHead = member("model", model)?;
        check_model(&head, spec)?;
        let model: ModelWrapper = member("model", model)?;
        let unknown = head.unk_id.or_else(|| model.token_to_id(head.unk_token.as_ref()?));
        let tokens: Option<Vec<AddedToken>> = member("added_tokens", added_tokens)?;
        let tokens = tokens.unwrap_or_default();
        check_added(&tokens, &normalizer)?;

        let mut added = AddedVocabulary::new();
        let guard = Guard::new(&normalizer);
        let result = added.add_tokens(tokens, &model, Some(&guard));
        guard.finish()?;
        result.map_err(|error| invalid(format!("added_tokens: {error}")))?;
        Ok(Encoder { added, normalizer, pre_tokenizers, model, unknown, finish })
    }

    /// The ids of a text.
    pub fn encode(&self, text: &str, add_special_tokens: bool) -> Result<Vec<u32>, Error> {
        let mut encoded = Encoded::default();
        self.encode_into(text, &mut encoded)?;
        self.finish.apply(encoded.ids, add_special_tokens)
    }

    /// Appends the ids of a text.
    pub fn encode_into(&self, text: &str, encoded: &mut Encoded) -> Result<(), Error> {
        if text.len() > MOST_TEXT {
            return Err(limit_exceeded("one call encodes at most 4 MiB of text; encode in parts"));
        }
        let guard = Guard::new(&self.normalizer);
        let mut pieces = self.added.extract_and_normalize(Some(&guard), text);
        guard.finish()?;
        for step in &self.pre_tokenizers {
            refresh(&mut pieces)?;
            step.pre_tokenize(&mut pieces).map_err(failed)?;
        }
        self.model.tokenize_in_pretokenized(&mut pieces, None).map_err(failed)?;
        for (_, _, tokens) in pieces.get_splits(OffsetReferential::Normalized, OffsetType::None) {
            for (at, token) in tokens.iter().flatten().enumerate() {
                encoded.ids.push(token.id);
                encoded.begins.push(at == 0);
            }
        }
        Ok(())
    }
}

/// Takes the sequences of a pre-tokenizer apart.
fn collect(step: PreTokenizerWrapper, steps: &mut Vec<PreTokenizerWrapper>) -> Result<(), Error> {
    match step {
        PreTokenizerWrapper::Sequence(sequence) => {
            return sequence.into_iter().try_for_each(|step| collect(step, steps));
        }
        PreTokenizerWrapper::FixedLength(fixed) if fixed.length == 0 => {
            return Err(invalid("pre_tokenizer: FixedLength needs a length of at least 1".to_owned()));
        }
        _ if steps.len() == MOST_STEPS => return Err(limit_exceeded("pre_tokenizer: more than 64 steps")),
        _ => steps.push(step),
    }
    Ok(())
}

/// Refuses models that the crate panics on when it reads them, that never come to an end, or that give other ids each
/// time.
fn check_model(head: &ModelHead, spec: &Spec) -> Result<(), Error> {
    if head.dropout.is_some_and(|dropout| dropout != 0.0) {
        return Err(unsupported("model.dropout: the ids would be others each time; encode without dropout"));
    }
    if head.max_input_chars_per_word.is_some_and(|most| most > MOST_WORD) {
        return Err(limit_exceeded("model.max_input_chars_per_word: more than 1000"));
    }
    let prefix = head.continuing_subword_prefix.as_ref().map_or(0, String::len);
    let longest = spec.vocab.words.list.iter().map(|word| word.len as usize).max().unwrap_or(0);
    // The second half is cut by the length of the prefix, and the whole must fit where the longest token does.
    let fits = |left: &str, right: &str| {
        right.is_char_boundary(prefix) && left.len() <= longest && left.len() + right.len() - prefix <= longest
    };
    let all_fit = match &head.merges {
        None => true,
        Some(Merges::Pairs(pairs)) => pairs.iter().all(|(left, right)| fits(left, right)),
        Some(Merges::Lines(lines)) => {
            let mut merges = lines.iter().filter(|line| !line.starts_with("#version"));
            merges.all(|line| line.split_once(' ').is_none_or(|(left, right)| fits(left, right)))
        }
    };
    if !all_fit {
        return Err(invalid("model.merges: one of them does not fit the vocabulary".to_owned()));
    }
    Ok(())
}

/// Refuses added tokens that the crate's search would panic on or never leave.
fn check_added(tokens: &[AddedToken], normalizer: &Steps) -> Result<(), Error> {
    let takes_space_after = tokens.iter().any(|token| token.rstrip);
    for token in tokens.iter().filter(|token| !token.content.is_empty()) {
        let form = if token.normalized { normalizer.form(&token.content, MOST_FORM)? } else { token.content.clone() };
        if form.is_empty() {
            return Err(unsupported("added_tokens: the normalizer leaves nothing of one of them, so it is everywhere"));
        }
        if takes_space_after && token.lstrip && form.trim().is_empty() {
            let what =
                "added_tokens: one is all white space with `lstrip` beside another with `rstrip`; the reference panics";
            return Err(unsupported(what));
        }
    }
    Ok(())
}

/// Gives each piece offsets of its own. Of them only whether a piece begins the text is ever asked.
fn refresh(pieces: &mut PreTokenizedString) -> Result<(), Error> {
    let count = Cell::new(0_usize);
    let refreshed = pieces.normalize(|piece| {
        count.set(count.get() + piece.len() + 1);
        *piece = fresh(piece.get(), piece);
        Ok(())
    });
    refreshed.map_err(failed)?;
    if count.get().saturating_mul(GROWTH) > MOST_FORM {
        return Err(limit_exceeded("pre_tokenizer: its steps could make the text longer without bound"));
    }
    Ok(())
}

/// A form of a piece that stands where the piece stood.
fn fresh(form: &str, piece: &NormalizedString) -> NormalizedString {
    if piece.offsets_original().0 == 0 {
        return NormalizedString::from(form);
    }
    NormalizedString::from(["x", form].concat()).slice(Range::Normalized(1..)).unwrap_or_default()
}

/// The normalizer as the crate calls it, which passes over its errors.
struct Guard<'a> {
    steps: &'a Steps,
    /// What is left of the room for all pieces, and the first error.
    state: Mutex<(usize, Option<Error>)>,
}

impl<'a> Guard<'a> {
    fn new(steps: &'a Steps) -> Guard<'a> {
        Guard { steps, state: Mutex::new((MOST_FORM, None)) }
    }

    fn finish(self) -> Result<(), Error> {
        let (_, error) = self.state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        error.map_or(Ok(()), Err)
    }
}

impl Normalizer for Guard<'_> {
    fn normalize(&self, piece: &mut NormalizedString) -> tokenizers::Result<()> {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (room, error) = &mut *state;
        if error.is_none() && !self.steps.is_empty() {
            match self.steps.form(piece.get(), room.saturating_mul(2)) {
                Ok(form) => {
                    *room = room.saturating_sub(form.len());
                    *piece = fresh(&form, piece);
                }
                Err(refused) => *error = Some(refused),
            }
        }
        Ok(())
    }
}

fn failed(error: impl Display) -> Error {
    unsupported(format!("the text cannot be encoded: {error}"))
}
