//! The model of a tokenizer.json, of which only the vocabulary is kept.

use super::json::Reader;
use super::spec::Vocab;
use super::{invalid, quoted};
use crate::Error;

/// Members that some type of model needs, and the bytes that their values may begin with.
const NEEDED: [(&str, &[u8]); 4] = [
    ("merges", b"["),
    ("unk_token", b"\""),
    ("continuing_subword_prefix", b"\""),
    ("max_input_chars_per_word", b"0123456789"),
];

/// What the members of a model were.
#[derive(Debug, Default)]
pub(super) struct Model {
    kind: Option<String>,
    types: usize,
    pub has_vocab: bool,
    /// Which of [`NEEDED`] are there.
    has: [bool; NEEDED.len()],
    /// Unigram: the id of the unknown token, if it is one.
    unk_id: Option<String>,
}

impl Model {
    /// Takes notice of any member but a vocabulary of the right kind, given its key and the first byte of its value;
    /// true if the value is still to be passed over.
    pub fn member(&mut self, key: &str, next: Option<u8>, reader: &mut Reader<'_>) -> Result<bool, Error> {
        match (key, next) {
            ("type", Some(b'"')) => {
                self.kind = Some(reader.string()?.into_owned());
                self.types += 1;
                return Ok(false);
            }
            ("type", _) => return Err(invalid(&["model.type: expected a string"])),
            ("vocab", _) => return Err(invalid(&["model.vocab: expected an object or a list"])),
            ("unk_id", _) => {
                self.unk_id = Some(reader.value()?.to_owned());
                return Ok(false);
            }
            _ => {
                for (has, (name, begins)) in self.has.iter_mut().zip(&NEEDED) {
                    if key == *name {
                        *has = next.is_some_and(|byte| begins.contains(&byte));
                    }
                }
            }
        }
        Ok(true)
    }

    /// Checks that the model has what the reference needs to load it, and gives its type.
    pub fn finish(&self, vocab: &Vocab) -> Result<&'static str, Error> {
        if !self.has_vocab {
            return Err(invalid(&["model.vocab: is missing"]));
        }
        let [merges, word_level, prefix, max_chars] = self.has;
        let word_piece = word_level && prefix && max_chars;
        // Files from before there was a type are told apart by their members.
        let (kind, list, complete) = match self.kind.as_deref() {
            None if vocab.is_list => ("Unigram", true, true),
            None if merges => ("BPE", false, true),
            None if word_piece => ("WordPiece", false, true),
            None => ("WordLevel", false, word_level),
            Some("BPE") => ("BPE", false, merges),
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
        if let Some(id) = self.unk_id.as_deref().filter(|id| list && *id != "null")
            && Reader::new(id.as_bytes()).id().is_none_or(|id| id as usize >= vocab.words.list.len())
        {
            return Err(invalid(&["model.unk_id: ", &quoted(id), " is no position in the vocabulary"]));
        }
        Ok(kind)
    }
}
