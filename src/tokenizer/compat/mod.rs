//! What `transformers` changes in a tokenizer when it loads a folder with `AutoTokenizer.from_pretrained`: tokens of
//! `tokenizer_config.json` are added or become special, version 5 builds the decoders of some classes itself, and a
//! text may be cleaned up after decoding.
//!
//! All of it is a change of the [`Spec`] before anything is numbered. Version 4 is 4.57, version 5 is 5.24; what was
//! measured and what is left out stands in `tests/oracle/README.md`. A missing config counts as an empty one.

mod classes;
mod config;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::Compat;
use super::chain::Step;
use super::json::Reader;
use super::spec::{AddedToken, Decoder, Spec};
use classes::{Again, Boxes, Class, Form};
use config::{Config, Extra, members, string};

use crate::{Error, ErrorCode};

/// The tokens with a name of their own, in the order in which transformers goes through them.
const NAMED: [&str; 7] = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"];

/// Changes what was read from `file` into what `transformers` makes of it.
pub(super) fn apply(spec: &mut Spec, compat: Compat, config: Option<&[u8]>, file: &[u8]) -> Result<(), Error> {
    let five = match compat {
        Compat::Tokenizers => return Ok(()),
        Compat::Transformers4 => false,
        Compat::Transformers5 => true,
    };
    let config = match config {
        Some(bytes) => Config::read(bytes)?,
        None => Config::default(),
    };
    let class = config.class(five, file)?;
    let stored = config.stored_tokens(spec);
    if five {
        version5(spec, &config, class, stored)?;
    } else {
        version4(spec, &config, class, stored)?;
    }
    // Version 5 leaves the texts of BPE models alone, unless it is told twice.
    spec.cleans_up = config.clean_up && (!five || spec.model != "BPE" || config.clean_up_bpe);
    Ok(())
}

/// A token as the config gives it: a text, or an object with flags.
#[derive(Debug, Clone, PartialEq)]
struct Token {
    content: String,
    special: bool,
    /// Where it is not said, special tokens are not normalized and others are.
    normalized: Option<bool>,
    boxed: bool,
}

impl Token {
    fn plain(content: &str) -> Token {
        Token { content: content.to_owned(), special: true, normalized: None, boxed: false }
    }

    fn boxed(content: &str, special: bool) -> Token {
        Token { content: content.to_owned(), special, normalized: None, boxed: true }
    }

    fn add(self, call: u32) -> AddedToken {
        let normalized = self.normalized.unwrap_or(!self.special);
        AddedToken { id: 0, call, content: self.content, special: self.special, normalized }
    }
}

/// The tokens that transformers adds again: those of the config, else those of the tokenizer.json.
struct Stored {
    /// By id, ascending; of those with one id the last.
    list: Vec<Token>,
    /// All of them in order.
    all: Vec<Token>,
}

impl Stored {
    /// The stored token of the same content in place of a token.
    fn resolve(&self, token: &Token) -> Token {
        self.all.iter().rev().find(|stored| stored.content == token.content).unwrap_or(token).clone()
    }
}

fn version4(spec: &mut Spec, config: &Config, class: Option<&Class>, stored: Stored) -> Result<(), Error> {
    let padding = padding_token(spec);
    let mut specials: Vec<Token> = Vec::new();
    for (at, name) in NAMED.iter().enumerate() {
        let default = class.and_then(|class| class.defaults4.get(at)).filter(|text| !text.is_empty());
        let mut token = match config.named.get(*name) {
            Some(given) => given.as_ref().map(|token| stored.resolve(token)),
            None if *name == "pad_token" && default.is_none() => padding.clone(),
            None => default.map(|text| Token::plain(text)),
        };
        if let Some(token) = token.as_mut().filter(|token| !token.boxed) {
            match class.map(|class| class.boxes4) {
                Some(Boxes::Basic) if ["bos_token", "eos_token", "unk_token", "pad_token"].contains(name) => {
                    *token = Token::boxed(&token.content, true);
                }
                Some(Boxes::Mask) if *name == "mask_token" => {
                    *token = Token::boxed(&token.content, false);
                }
                _ => {}
            }
        }
        specials.extend(token);
    }
    // Of equal contents the first counts, but a list is compared with what stands before it only.
    let mut seen: HashSet<String> = HashSet::new();
    specials.retain(|token| !token.content.is_empty() && seen.insert(token.content.clone()));
    let listed = config.additional.iter().flatten().filter(|token| !seen.contains(&token.content)).cloned();
    specials.extend(listed.collect::<Vec<_>>());
    seen.extend(specials.iter().map(|token| token.content.clone()));
    match &config.extra {
        Extra::None => {}
        Extra::Map(map) => specials
            .extend(map.iter().map(|(_, token)| token).filter(|token| seen.insert(token.content.clone())).cloned()),
        Extra::List(_) => {
            return Err(invalid("extra_special_tokens: transformers 4 does not load a list here; use transformers5"));
        }
    }

    let known = known_contents(spec, &stored);
    let mut list = stored.list;
    for token in &mut list {
        token.special |= seen.contains(&token.content);
    }
    let further = specials.into_iter().filter(|token| token.boxed || !known.contains(&token.content));
    list.extend(further.map(|token| Token { special: true, ..token }));
    spec.added.extend(list.into_iter().map(|token| token.add(1)));

    // Version 4 runs on tokenizers 0.22, where added tokens decode to their own text, not to its normalized form.
    spec.normalizer = None;
    Ok(())
}

fn version5(spec: &mut Spec, config: &Config, class: Option<&Class>, stored: Stored) -> Result<(), Error> {
    // `additional_special_tokens` is the older name of a list of `extra_special_tokens`.
    let extra: &[Token] = match (&config.extra, &config.additional) {
        (Extra::List(list), _) if !list.is_empty() => list,
        (_, Some(additional)) => additional,
        _ => &[],
    };
    // GPT2Tokenizer says itself that it has none.
    let padding = padding_token(spec).filter(|_| class.is_none_or(|class| class.form5 != Form::ByteLevel));
    let mut names: Vec<&str> = NAMED.to_vec();
    let mut named: BTreeMap<&str, Option<Token>> = BTreeMap::new();
    for (at, name) in NAMED.iter().enumerate() {
        let default = class.and_then(|class| class.defaults5.get(at)).filter(|text| !text.is_empty());
        let token = match config.named.get(*name) {
            Some(given) => given.as_ref().map(|token| stored.resolve(token)),
            None if *name == "pad_token" && default.is_none() => padding.clone(),
            None => default.map(|text| Token::plain(text)),
        };
        named.insert(name, token);
    }
    let map: &[(String, Token)] = if let Extra::Map(map) = &config.extra { map } else { &[] };
    let own = || config.own.iter();
    for (name, token) in
        own().filter(|(_, token)| token.boxed).chain(own().filter(|(_, token)| !token.boxed)).chain(map)
    {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
        named.insert(name, Some(token.clone()));
    }
    let named: Vec<Token> = names.iter().filter_map(|name| named.get(name).cloned().flatten()).collect();

    if let Some(class) = class {
        rebuild(spec, config, class)?;
    }

    let known = known_contents(spec, &stored);
    let mut list = stored.list;
    for token in named.iter().chain(extra) {
        if !known.contains(&token.content) && !list.contains(token) {
            list.push(token.clone());
        }
    }
    for token in &mut list {
        token.special |= named.iter().any(|named| named.content == token.content && !named.content.is_empty());
    }
    spec.added.extend(list.into_iter().map(|token| token.add(1)));
    let again = named.iter().chain(extra).map(|token| match class.map(|class| class.again5) {
        Some(Again::Text) => Some(Token::boxed(&token.content, true)),
        Some(Again::Token) => Some(Token { special: true, ..token.clone() }),
        _ => None,
    });
    spec.added.extend(again.flatten().map(|token| token.add(2)));
    Ok(())
}

/// The contents of all tokens that are there before the config's own are added.
fn known_contents(spec: &Spec, stored: &Stored) -> HashSet<String> {
    let file = spec.added.iter().map(|token| token.content.clone());
    file.chain(stored.list.iter().map(|token| token.content.clone())).collect()
}

/// The token that the file pads with: the pad token when neither the config nor the class has one.
fn padding_token(spec: &Spec) -> Option<Token> {
    let fields = members(spec.padding.as_deref()?).ok()?;
    let (_, value) = fields.iter().rev().find(|(name, _)| name == "pad_token")?;
    string(value).map(|content| Token::plain(&content))
}

/// Version 5: the class takes nothing but the vocabulary from the file and brings its own decoder and normalizer.
fn rebuild(spec: &mut Spec, config: &Config, class: &Class) -> Result<(), Error> {
    let replace = || Step::Replace { pattern: "▁".to_owned(), content: " ".to_owned() };
    let nfc = || Some(r#"{"type":"NFC"}"#.to_owned());
    let (steps, words, normalizer) = match class.form5 {
        Form::File => return Ok(()),
        Form::ByteLevel => (vec![Step::ByteLevel], "ByteLevel", None),
        Form::ByteLevelNfc => (vec![Step::ByteLevel], "ByteLevel", nfc()),
        Form::Llama => {
            let mut steps = vec![replace(), Step::ByteFallback, Step::Fuse];
            let strips = config.add_prefix_space.unwrap_or(true);
            if strips {
                steps.push(Step::Strip { content: ' ', start: 1, stop: 0 });
            }
            let words = "Sequence[Replace, ByteFallback, Fuse, Strip]";
            (steps, if strips { words } else { "Sequence[Replace, ByteFallback, Fuse]" }, None)
        }
        Form::Gemma => {
            let normalizer = r#"{"type":"Replace","pattern":{"String":" "},"content":"▁"}"#.to_owned();
            let steps = vec![replace(), Step::ByteFallback, Step::Fuse];
            (steps, "Sequence[Replace, ByteFallback, Fuse]", Some(normalizer))
        }
        Form::WordPiece => {
            let step = Step::WordPiece { prefix: "##".to_owned(), cleanup: true };
            (vec![step], "WordPiece", Some(bert_normalizer(config)))
        }
        Form::Metaspace => {
            if !spec.vocab.is_list {
                return Err(unsupported(class, "reads Unigram models only"));
            }
            let drop_first = config.add_prefix_space.unwrap_or(true);
            let kept = spec.normalizer.as_deref().and_then(precompiled);
            (vec![Step::Metaspace { replacement: '▁', drop_first }], "Metaspace", kept)
        }
    };
    spec.decoder = Some(Decoder { steps, words: words.to_owned() });
    spec.normalizer = normalizer;
    spec.added.clear();
    Ok(())
}

fn bert_normalizer(config: &Config) -> String {
    let (chinese, lowercase) = (config.chinese.unwrap_or(true), config.lowercase.unwrap_or(true));
    let accents = config.strip_accents.map_or("null".to_owned(), |strip| strip.to_string());
    format!(
        r#"{{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":{chinese},"strip_accents":{accents},"lowercase":{lowercase}}}"#
    )
}

/// The Precompiled part of a normalizer, or of the Sequence that it is.
fn precompiled(normalizer: &str) -> Option<String> {
    let fields = members(normalizer).ok()?;
    let value = |key: &str| fields.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
    match string(value("type")?)?.as_str() {
        "Precompiled" => Some(normalizer.to_owned()),
        "Sequence" => {
            let mut reader = Reader::new(value("normalizers")?.as_bytes());
            let mut first = true;
            reader.expect(b'[').ok()?;
            while reader.element(&mut first, b']').ok()? {
                let part = reader.value().ok()?;
                let is_one = |(name, value): &(Cow<'_, str>, &str)| {
                    name == "type" && string(value).as_deref() == Some("Precompiled")
                };
                if members(part).ok()?.iter().any(is_one) {
                    return Some(part.to_owned());
                }
            }
            None
        }
        _ => None,
    }
}

fn invalid(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidTokenizer, format!("tokenizer_config.json: {what}"))
}

fn unsupported(class: &Class, what: &str) -> Error {
    let name = class.names.first().copied().unwrap_or_default();
    let what = format!("tokenizer_config.json: tokenizer_class {name}Tokenizer {what}");
    Error::new(ErrorCode::UnsupportedTokenizer, what)
}
