//! What `transformers` changes in a tokenizer when it loads a folder with `AutoTokenizer.from_pretrained`: tokens of
//! `tokenizer_config.json` are added or become special, version 5 builds the decoders of some classes itself, and a
//! text may be cleaned up after decoding.
//!
//! All of it is a change of the [`Spec`] before anything is numbered. Version 4 is 4.57, version 5 is 5.24; what was
//! measured and what is left out stands in `tests/oracle/README.md`. A missing config counts as an empty one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::Compat;
use super::chain::Step;
use super::json::Reader;
use super::spec::{AddedToken, Decoder, Spec};
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
    if config.clean_up && (!five || spec.model != "BPE" || config.clean_up_bpe) {
        spec.clean_up = Some(clean_up);
    }
    Ok(())
}

/// The clean-up of both versions, replacement by replacement.
fn clean_up(text: &str) -> String {
    const REPLACEMENTS: [(&str, &str); 10] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    REPLACEMENTS.iter().fold(
        text.to_owned(),
        |text, (from, to)| {
            if text.contains(from) { text.replace(from, to) } else { text }
        },
    )
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

    let known: HashSet<String> = spec
        .added
        .iter()
        .map(|token| token.content.clone())
        .chain(stored.list.iter().map(|t| t.content.clone()))
        .collect();
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

    let known: HashSet<String> = spec
        .added
        .iter()
        .map(|token| token.content.clone())
        .chain(stored.list.iter().map(|t| t.content.clone()))
        .collect();
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

/// The members of a JSON object as texts.
fn members(text: &str) -> Result<Vec<(Cow<'_, str>, &str)>, Error> {
    let mut reader = Reader::new(text.as_bytes());
    let (mut list, mut first) = (Vec::new(), true);
    reader.expect(b'{')?;
    while let Some(key) = reader.key(&mut first)? {
        list.push((key, reader.value()?));
    }
    reader.end()?;
    Ok(list)
}

/// `extra_special_tokens`: names in version 4, names or a list in version 5.
#[derive(Debug, Default)]
enum Extra {
    #[default]
    None,
    Map(Vec<(String, Token)>),
    List(Vec<Token>),
}

/// What matters of a tokenizer_config.json.
#[derive(Debug, Default)]
struct Config {
    class: Option<String>,
    clean_up: bool,
    clean_up_bpe: bool,
    /// Tokens of the names in [`NAMED`] that the config has; `None` for null.
    named: BTreeMap<String, Option<Token>>,
    /// Tokens of other names that end in `_token`.
    own: Vec<(String, Token)>,
    additional: Option<Vec<Token>>,
    extra: Extra,
    /// `added_tokens_decoder` in its order.
    added: Option<Vec<(i64, Token)>>,
    add_prefix_space: Option<bool>,
    lowercase: Option<bool>,
    chinese: Option<bool>,
    strip_accents: Option<bool>,
}

impl Config {
    fn read(bytes: &[u8]) -> Result<Config, Error> {
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
    fn class(&self, five: bool, file: &[u8]) -> Result<Option<&'static Class>, Error> {
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

    fn stored_tokens(&self, spec: &Spec) -> Stored {
        let boxed = |token: &AddedToken| {
            let (content, special, normalized) = (token.content.clone(), token.special, Some(token.normalized));
            (i64::from(token.id), Token { content, special, normalized, boxed: true })
        };
        let all = self.added.clone().unwrap_or_else(|| spec.added.iter().map(boxed).collect());
        let by_id: BTreeMap<i64, Token> = all.iter().cloned().collect();
        Stored { list: by_id.into_values().collect(), all: all.into_iter().map(|(_, token)| token).collect() }
    }
}

fn added_tokens_decoder(value: &str) -> Result<Vec<(i64, Token)>, Error> {
    let mut tokens = Vec::new();
    for (id, value) in members(value)? {
        let id = id.trim().parse().map_err(|_| invalid(format!("added_tokens_decoder: {id:?} is no id")))?;
        let token = object_token(value)?;
        tokens.push((id, token.ok_or_else(|| invalid(format!("added_tokens_decoder: {id} needs an object")))?));
    }
    Ok(tokens)
}

/// A token: a text, or an object that says it is one.
fn token(value: &str) -> Result<Option<Token>, Error> {
    if value.starts_with('{') {
        let is_token = members(value)?
            .iter()
            .any(|(name, value)| name == "__type" && string(value).as_deref() == Some("AddedToken"));
        return if is_token { object_token(value) } else { Ok(None) };
    }
    Ok(string(value).map(|content| Token::plain(&content)))
}

fn expect_token(value: &str) -> Result<Token, Error> {
    token(value)?.ok_or_else(|| invalid(format!("expected a token, found {:.40}", value)))
}

fn object_token(value: &str) -> Result<Option<Token>, Error> {
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

fn token_list(value: &str) -> Result<Vec<Token>, Error> {
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

fn string(value: &str) -> Option<String> {
    Reader::new(value.as_bytes()).string().ok().map(Cow::into_owned)
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

/// Whether Python takes a value for true.
fn truth(value: &str) -> bool {
    let is_zero = value.parse::<f64>().is_ok_and(|number| number == 0.0);
    let is_empty = value.starts_with(['[', '{']) && value.get(1..value.len() - 1).is_some_and(|s| s.trim().is_empty());
    !(matches!(value, "null" | "false" | "\"\"") || is_zero || is_empty)
}

/// What version 4 turns into a token object when it is a text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Boxes {
    None,
    /// The ends, the unknown and the pad token.
    Basic,
    Mask,
}

/// How version 5 builds the tokenizer of a class.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// From the file as it is.
    File,
    ByteLevel,
    ByteLevelNfc,
    Llama,
    Gemma,
    WordPiece,
    Metaspace,
}

/// Whether version 5 adds all special tokens, the listed ones too, once more at the end.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Again {
    No,
    /// Without their flags.
    Text,
    /// With their flags.
    Token,
}

/// A tokenizer class of transformers.
#[derive(Debug)]
struct Class {
    /// Its names without `Tokenizer` and `Fast`.
    names: &'static [&'static str],
    /// Whether version 4 has it.
    in4: bool,
    /// The tokens it has when the config does not name them, in the order of [`NAMED`]; empty for none.
    defaults4: [&'static str; 7],
    boxes4: Boxes,
    defaults5: [&'static str; 7],
    form5: Form,
    again5: Again,
}

const END: &str = "<|endoftext|>";
const NONE: [&str; 7] = [""; 7];
const ROBERTA: [&str; 7] = ["<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>"];
const BERT: [&str; 7] = ["", "", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"];

/// Most fields of most classes.
const PLAIN: Class = Class {
    names: &[],
    in4: true,
    defaults4: NONE,
    boxes4: Boxes::None,
    defaults5: NONE,
    form5: Form::File,
    again5: Again::No,
};

const CLASSES: [Class; 11] = [
    Class {
        names: &["Llama"],
        defaults4: ["<s>", "</s>", "<unk>", "", "", "", ""],
        defaults5: ["<s>", "</s>", "<unk>", "", "", "", ""],
        form5: Form::Llama,
        ..PLAIN
    },
    Class {
        names: &["Gemma"],
        defaults4: ["<bos>", "<eos>", "<unk>", "", "<pad>", "", ""],
        defaults5: ["<bos>", "<eos>", "<unk>", "", "<pad>", "", "<mask>"],
        form5: Form::Gemma,
        ..PLAIN
    },
    Class {
        names: &["Qwen2"],
        defaults4: ["", END, END, "", END, "", ""],
        boxes4: Boxes::Basic,
        defaults5: ["", END, END, "", END, "", ""],
        form5: Form::ByteLevelNfc,
        again5: Again::Text,
        ..PLAIN
    },
    Class {
        names: &["Qwen3_5"],
        in4: false,
        defaults5: ["", END, END, "", END, "", ""],
        form5: Form::ByteLevelNfc,
        ..PLAIN
    },
    Class {
        names: &["GPT2"],
        defaults4: [END, END, END, "", "", "", ""],
        defaults5: [END, END, END, "", "", "", ""],
        form5: Form::ByteLevel,
        ..PLAIN
    },
    Class {
        names: &["GPTNeoX"],
        defaults4: [END, END, END, "", "", "", ""],
        defaults5: [END, END, END, "", "<|padding|>", "", ""],
        form5: Form::ByteLevelNfc,
        ..PLAIN
    },
    Class {
        names: &["Cohere"],
        defaults4: ["<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", "", "", "", ""],
        defaults5: ["<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", "<SEP>", "<PAD>", "<CLS>", "<MASK_TOKEN>"],
        form5: Form::ByteLevelNfc,
        again5: Again::Token,
        ..PLAIN
    },
    Class {
        names: &["Roberta", "Bart"],
        defaults4: ROBERTA,
        boxes4: Boxes::Mask,
        defaults5: ROBERTA,
        form5: Form::ByteLevel,
        ..PLAIN
    },
    Class {
        names: &["Bert", "DistilBert", "Electra"],
        defaults4: BERT,
        defaults5: BERT,
        form5: Form::WordPiece,
        ..PLAIN
    },
    Class {
        names: &["XLMRoberta"],
        defaults4: ROBERTA,
        boxes4: Boxes::Mask,
        defaults5: ROBERTA,
        form5: Form::Metaspace,
        ..PLAIN
    },
    Class { names: &["Bloom"], defaults4: ["<s>", "</s>", "<unk>", "", "<pad>", "", ""], ..PLAIN },
];

/// Classes that transformers has and that are not known here. Any other name means the class that reads any file.
const OTHER_CLASSES: &str = "Albert Barthez Bartpho BertGeneration BertJapanese Bertweet BigBird BioGpt BlenderbotSmall \
    Blenderbot ByT5 CLIP CTRL Camembert Canine Clvp CodeGen CodeLlama ConvBert CpmAnt Cpm DPRContextEncoder \
    DPRQuestionEncoder DPRReader Deberta DebertaV2 Dia ErnieM Esm Esmc FNet FSMT FastSpeech2Conformer Flaubert Funnel \
    GPTNeoXJapanese GPTSanJapanese GPTSw3 Herbert Jukebox LED Lasr LayoutLM LayoutLMv2 LayoutLMv3 LayoutXLM Longformer Luke \
    Lxmert M2M100 MBart50 MBart MLuke MPNet MT5 Marian MarkupLM Mgpstr MistralCommon MobileBert Mvp MyT5 Nllb Nougat \
    OpenAIGPT PLBart ParakeetCTC Parakeet Pegasus Perceiver Phobert Pop2Piano ProphetNet Rag Realm Reformer RemBert \
    RetriBert RoCBert RoFormer SeamlessM4T Siglip2 Siglip Speech2Text2 Speech2Text SpeechT5 Splinter SqueezeBert T5 TFBert \
    TFGPT2 Tapas Tapex Tipsv2 TransfoXL Udop VideoPrism Vits Wav2Vec2CTC Wav2Vec2PhonemeCTC Wav2Vec2 Whisper XGLM \
    XLMProphetNet XLM XLNet";

fn invalid(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::InvalidTokenizer, format!("tokenizer_config.json: {what}"))
}

fn unsupported(class: &Class, what: &str) -> Error {
    let name = class.names.first().copied().unwrap_or_default();
    let what = format!("tokenizer_config.json: tokenizer_class {name}Tokenizer {what}");
    Error::new(ErrorCode::UnsupportedTokenizer, what)
}
