//! What matters of a `tokenizer_config.json`, read by Python's rules of truth.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::classes::{CLASSES, Class, Form, OTHER_CLASSES};
use super::{NAMED, Stored, Token, invalid};
use crate::tokenizer::json::Reader;
use crate::tokenizer::spec::{AddedToken, Spec};
use crate::{Error, ErrorCode};

/// The members of a JSON object as texts.
pub(super) fn members(text: &str) -> Result<Vec<(Cow<'_, str>, &str)>, Error> {
    let mut reader = Reader::new(text.as_bytes());
    let (mut list, mut first) = (Vec::new(), true);
    reader.expect(b'{')?;
    while let Some(key) = reader.key(&mut first)? {
        list.push((key, reader.value()?));
    }
    if reader.peek().is_some() {
        return Err(reader.fail("something follows the end of the value"));
    }
    Ok(list)
}

/// `extra_special_tokens`: names in version 4, names or a list in version 5.
#[derive(Debug, Default)]
pub(super) enum Extra {
    #[default]
    None,
    Map(Vec<(String, Token)>),
    List(Vec<Token>),
}

/// What matters of a tokenizer_config.json.
#[derive(Debug, Default)]
pub(super) struct Config {
    pub class: Option<String>,
    pub clean_up: bool,
    pub clean_up_bpe: bool,
    /// Tokens of the names in [`NAMED`] that the config has; `None` for null.
    pub named: BTreeMap<String, Option<Token>>,
    /// Tokens of other names that end in `_token`.
    pub own: Vec<(String, Token)>,
    pub additional: Option<Vec<Token>>,
    pub extra: Extra,
    /// `added_tokens_decoder` in its order.
    pub added: Option<Vec<(i64, Token)>>,
    pub add_prefix_space: Option<bool>,
    pub lowercase: Option<bool>,
    pub chinese: Option<bool>,
    pub strip_accents: Option<bool>,
}

impl Config {
    pub fn read(bytes: &[u8]) -> Result<Config, Error> {
        let text = std::str::from_utf8(bytes)
            .map_err(|error| invalid(format!("the file is not UTF-8 at byte {}", error.valid_up_to())))?;
        let fields = members(text).map_err(|error| invalid(error.message()))?;
        // Of equal keys the last counts, at the place of the first.
        let mut unique: Vec<(Cow<'_, str>, &str)> = Vec::new();
        for (key, value) in fields {
            match unique.iter_mut().find(|(known, _)| *known == key) {
                Some(known) => known.1 = value,
                None => unique.push((key, value)),
            }
        }
        let mut config = Config::default();
        for (key, value) in unique {
            config.field(&key, value).map_err(|error| {
                let message = error.message();
                if message.starts_with("tokenizer_config.json") { error } else { invalid(format!("{key}: {message}")) }
            })?;
        }
        Ok(config)
    }

    fn field(&mut self, key: &str, value: &str) -> Result<(), Error> {
        match key {
            "tokenizer_class" => self.class = string(value).filter(|class| !class.is_empty()),
            "clean_up_tokenization_spaces" => self.clean_up = truth(value),
            "clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output" => {
                self.clean_up_bpe = truth(value);
            }
            "add_prefix_space" => self.add_prefix_space = flag(value),
            "do_lower_case" => self.lowercase = flag(value),
            "tokenize_chinese_chars" => self.chinese = flag(value),
            "strip_accents" => self.strip_accents = flag(value),
            "added_tokens_decoder" => self.added = Some(added_tokens_decoder(value)?),
            "additional_special_tokens" if value != "null" => self.additional = Some(token_list(value)?),
            "extra_special_tokens" if value != "null" => {
                self.extra = if value.starts_with('[') {
                    Extra::List(token_list(value)?)
                } else {
                    let of = |(name, value): (Cow<'_, str>, &str)| Ok((name.into_owned(), expect_token(value)?));
                    Extra::Map(members(value)?.into_iter().map(of).collect::<Result<_, Error>>()?)
                };
            }
            name if NAMED.contains(&name) => {
                let token = if value == "null" { None } else { Some(expect_token(value)?) };
                self.named.insert(name.to_owned(), token);
            }
            name if name.ends_with("_token") => {
                self.own.extend(token(value)?.map(|token| (name.to_owned(), token)));
            }
            _ => {}
        }
        Ok(())
    }

    /// The class that transformers would take, `None` for the one that reads any tokenizer.json as it is.
    pub fn class(&self, five: bool, file: &[u8]) -> Result<Option<&'static Class>, Error> {
        let Some(name) = self.class.as_deref() else { return Ok(None) };
        let name = name.strip_suffix("Fast").unwrap_or(name);
        let name = name.strip_suffix("Tokenizer").unwrap_or(name);
        let class = CLASSES.iter().find(|class| class.names.contains(&name)).filter(|class| five || class.in4);
        if class.is_none() && OTHER_CLASSES.split_ascii_whitespace().any(|other| other == name) {
            return Err(Error::new(
                ErrorCode::UnsupportedTokenizer,
                format!(
                    "tokenizer_config.json: what transformers does with tokenizer_class {name}Tokenizer is not known here; \
                     use compat \"tokenizers\" to read the tokenizer.json as it is"
                ),
            ));
        }
        // Files of the Llama 3 kind name the class of Llama 2; version 5 sees it by this word anywhere in the file.
        let class = class.filter(|class| {
            let word = b"\"ByteLevel\"";
            !(five && class.form5 == Form::Llama && file.windows(word.len()).any(|window| window == word))
        });
        Ok(class)
    }

    pub fn stored_tokens(&self, spec: &Spec) -> Stored {
        let boxed = |token: &AddedToken| {
            let (content, special, normalized) = (token.content.clone(), token.special, Some(token.normalized));
            (i64::from(token.id), Token { content, special, normalized, boxed: true })
        };
        let all = self.added.clone().unwrap_or_else(|| spec.added.iter().map(boxed).collect());
        let by_id: BTreeMap<i64, Token> = all.iter().cloned().collect();
        Stored { list: by_id.into_values().collect(), all: all.into_iter().map(|(_, token)| token).collect() }
    }
}

pub(super) fn added_tokens_decoder(value: &str) -> Result<Vec<(i64, Token)>, Error> {
    let mut tokens = Vec::new();
    for (id, value) in members(value)? {
        let id = id.trim().parse().map_err(|_| invalid(format!("added_tokens_decoder: {id:?} is no id")))?;
        let token = object_token(value)?;
        tokens.push((id, token.ok_or_else(|| invalid(format!("added_tokens_decoder: {id} needs an object")))?));
    }
    Ok(tokens)
}

/// A token: a text, or an object that says it is one.
pub(super) fn token(value: &str) -> Result<Option<Token>, Error> {
    if value.starts_with('{') {
        let is_token = members(value)?
            .iter()
            .any(|(name, value)| name == "__type" && string(value).as_deref() == Some("AddedToken"));
        return if is_token { object_token(value) } else { Ok(None) };
    }
    Ok(string(value).map(|content| Token::plain(&content)))
}

pub(super) fn expect_token(value: &str) -> Result<Token, Error> {
    token(value)?.ok_or_else(|| invalid(format!("expected a token, found {:.40}", value)))
}

pub(super) fn object_token(value: &str) -> Result<Option<Token>, Error> {
    if !value.starts_with('{') {
        return Ok(None);
    }
    let (mut content, mut special, mut normalized) = (String::new(), false, None);
    for (name, value) in members(value)? {
        match name.as_ref() {
            "content" => content = string(value).unwrap_or_default(),
            "special" => special = value == "true",
            "normalized" => normalized = flag(value),
            _ => {}
        }
    }
    Ok(Some(Token { normalized, ..Token::boxed(&content, special) }))
}

pub(super) fn token_list(value: &str) -> Result<Vec<Token>, Error> {
    let mut reader = Reader::new(value.as_bytes());
    let (mut list, mut first) = (Vec::new(), true);
    if !reader.take(b'[') {
        return Err(invalid("expected a list of tokens"));
    }
    while reader.element(&mut first, b']')? {
        list.push(expect_token(reader.value()?)?);
    }
    Ok(list)
}

pub(super) fn string(value: &str) -> Option<String> {
    Reader::new(value.as_bytes()).string().ok().map(Cow::into_owned)
}

pub(super) fn flag(value: &str) -> Option<bool> {
    match value {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether Python takes a value for true.
pub(super) fn truth(value: &str) -> bool {
    let is_zero = value.parse::<f64>().is_ok_and(|number| number == 0.0);
    let is_empty = value.starts_with(['[', '{']) && value.get(1..value.len() - 1).is_some_and(|s| s.trim().is_empty());
    !(matches!(value, "null" | "false" | "\"\"") || is_zero || is_empty)
}
