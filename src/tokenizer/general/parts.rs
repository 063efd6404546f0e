//! What is asked of an encoder by those who compare its ids with others: its added tokens, its normalizer, and where a
//! text may be cut.

use tokenizers::{AddedToken, Model};

use super::Encoder;

/// So long may a text become that is normalized to be compared.
const MOST_FORM: usize = 16 << 20;

/// Added tokens that are longer may lie anywhere.
const MOST_CONTENT: usize = 1024;

/// What an added token does to the text around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Added<'a> {
    pub content: &'a str,
    /// It takes the white space beside it.
    pub strips: bool,
    /// It is no token inside a word.
    pub single_word: bool,
    /// The model has a token of this id as well.
    pub in_model: bool,
    /// It is looked for in the normalized text.
    pub normalized: bool,
}

impl Encoder {
    /// The added token of an id.
    pub fn added(&self, id: u32) -> Option<Added<'_>> {
        self.added.get_added_tokens_decoder().get(&id).map(|token| Added {
            content: &token.content,
            strips: token.lstrip || token.rstrip,
            single_word: token.single_word,
            in_model: self.model.id_to_token(id).is_some(),
            normalized: token.normalized,
        })
    }

    /// What the model gives for what it has no tokens for, and how that is spelled.
    pub fn unknown(&self) -> Option<(u32, String)> {
        let id = self.unknown?;
        Some((id, self.added.simple_id_to_token(id).or_else(|| self.model.id_to_token(id))?))
    }

    /// Whether two texts are the same once they are normalized. Not told of long ones.
    pub fn same_form(&self, left: &str, right: &str) -> bool {
        let form = |text| self.normalizer.form(text, MOST_FORM).ok();
        !self.normalizer.is_empty() && form(left).is_some_and(|left| form(right) == Some(left))
    }

    /// Whether the ids of a text are those of its two parts: an added token begins there that leaves what is before it
    /// alone, and none lies across.
    pub fn is_cut(&self, text: &str, at: usize) -> bool {
        let Some((before, behind)) = text.split_at_checked(at) else { return false };
        // White space there may belong to a token before it, a letter may keep one from being a single word.
        if behind.starts_with(|first: char| first.is_whitespace() || first.is_alphanumeric() || first == '_') {
            return false;
        }
        let mut begins = false;
        for token in self.added.get_added_tokens_decoder().values().filter(|token| !token.normalized) {
            if behind.starts_with(&token.content) && !token.content.is_empty() {
                if token.lstrip || token.single_word {
                    return false;
                }
                begins = true;
            }
            if lies_across(token, before, behind) {
                return false;
            }
        }
        begins
    }
}

/// Whether the content of a token begins in one text and ends in the next.
fn lies_across(token: &AddedToken, before: &str, behind: &str) -> bool {
    let content = token.content.as_str();
    if content.len() > MOST_CONTENT {
        return true;
    }
    let mut halves = content.char_indices().skip(1).map(|(at, _)| content.split_at(at));
    halves.any(|(first, second)| before.ends_with(first) && behind.starts_with(second))
}
