//! The `decoder` member of a tokenizer.json to the steps of a chain, with the reference's required and optional fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::chain::Step;
use super::general::RegexReplace;
use super::json::Reader;
use super::spec::Decoder;
use crate::{Error, ErrorCode};

/// Sequences may nest this deep, about as deep as the reference reads.
const MAX_DEPTH: usize = 64;

/// Reads the JSON text of a decoder that is not null.
pub(super) fn read(text: &str) -> Result<Decoder, Error> {
    let mut decoder = Decoder { steps: Vec::new(), words: String::new() };
    add(text, "decoder", 0, &mut decoder)?;
    Ok(decoder)
}

fn add(text: &str, path: &str, depth: usize, decoder: &mut Decoder) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(invalid(path, format!("sequences nest deeper than {MAX_DEPTH}")));
    }
    let fields = Fields::new(text, path)?;
    let kind = fields.kind()?;
    decoder.words.push_str(&kind);
    let step = match kind.as_ref() {
        "Sequence" => return add_sequence(&fields, depth, decoder),
        "ByteLevel" => {
            // They change nothing, but the reference reads them.
            fields.flag("add_prefix_space")?;
            fields.flag("trim_offsets")?;
            if fields.has("use_regex") {
                fields.flag("use_regex")?;
            }
            Step::ByteLevel
        }
        "Metaspace" => metaspace(&fields)?,
        "WordPiece" => Step::WordPiece { prefix: fields.string("prefix")?, cleanup: fields.flag("cleanup")? },
        "BPEDecoder" => Step::Bpe { suffix: fields.string("suffix")? },
        "ByteFallback" => Step::ByteFallback,
        "Fuse" => Step::Fuse,
        "Strip" => {
            let (start, stop) = (fields.count("start")?, fields.count("stop")?);
            Step::Strip { content: fields.character("content")?, start, stop }
        }
        "Replace" => replace(&fields)?,
        "CTC" => Step::Ctc {
            pad: fields.string("pad_token")?,
            delimiter: fields.string("word_delimiter_token")?,
            cleanup: fields.flag("cleanup")?,
        },
        other => return Err(invalid(path, format!("unknown type {other:?}"))),
    };
    decoder.steps.push(step);
    Ok(())
}

fn add_sequence(fields: &Fields<'_>, depth: usize, decoder: &mut Decoder) -> Result<(), Error> {
    let list = fields.get("decoders")?;
    let mut reader = Reader::new(list.as_bytes());
    if !reader.take(b'[') {
        return Err(fields.wrong("decoders", "a list"));
    }
    decoder.words.push('[');
    let (mut first, mut at) = (true, 0);
    while reader.element(&mut first, b']')? {
        if at > 0 {
            decoder.words.push_str(", ");
        }
        let path = format!("{}.decoders[{at}]", fields.path);
        add(reader.value()?, &path, depth + 1, decoder)?;
        at += 1;
    }
    decoder.words.push(']');
    Ok(())
}

fn metaspace(fields: &Fields<'_>) -> Result<Step, Error> {
    let replacement = fields.character("replacement")?;
    let scheme = if fields.has("prepend_scheme") { fields.string("prepend_scheme")? } else { "always".to_owned() };
    if !matches!(scheme.as_str(), "always" | "first" | "never") {
        return Err(fields.wrong("prepend_scheme", "\"always\", \"first\" or \"never\""));
    }
    fields.optional("split", Fields::flag)?;
    fields.optional("str_rep", Fields::string)?;
    // The older spelling may stand beside the newer one, but must not say something else.
    if fields.optional("add_prefix_space", Fields::flag)? == Some(false) && scheme != "never" {
        return Err(fields.wrong("add_prefix_space", "true, as the prepend_scheme is not \"never\""));
    }
    Ok(Step::Metaspace { replacement, drop_first: scheme != "never" })
}

fn replace(fields: &Fields<'_>) -> Result<Step, Error> {
    let content = fields.string("content")?;
    let path = format!("{}.pattern", fields.path);
    let pattern = Fields::new(fields.get("pattern")?, &path)?;
    if pattern.values.len() == 1 && pattern.has("String") {
        Ok(Step::Replace { pattern: pattern.string("String")?, content })
    } else if pattern.values.len() == 1 && pattern.has("Regex") {
        Ok(Step::Regex(RegexReplace::new(&pattern.string("Regex")?, &content)?))
    } else {
        Err(fields.wrong("pattern", "{\"String\": ...} or {\"Regex\": ...}"))
    }
}

/// The members of an object as JSON texts; of equal keys the last counts.
struct Fields<'a> {
    path: &'a str,
    values: BTreeMap<Cow<'a, str>, &'a str>,
    types: usize,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str, path: &'a str) -> Result<Fields<'a>, Error> {
        let mut reader = Reader::new(text.as_bytes());
        if !reader.take(b'{') {
            return Err(invalid(path, "expected an object".to_owned()));
        }
        let mut fields = Fields { path, values: BTreeMap::new(), types: 0 };
        let mut first = true;
        while let Some(key) = reader.key(&mut first)? {
            fields.types += usize::from(key == "type");
            fields.values.insert(key, reader.value()?);
        }
        Ok(fields)
    }

    /// The decoder's type. Without one that is known the reference takes the first kind whose fields are all there,
    /// among those old enough to have been written without a type.
    fn kind(&self) -> Result<Cow<'a, str>, Error> {
        let declared = self.values.get("type").map(|text| Reader::new(text.as_bytes()).string()).and_then(Result::ok);
        const KINDS: [&str; 10] = [
            "BPEDecoder",
            "ByteLevel",
            "WordPiece",
            "Metaspace",
            "CTC",
            "Sequence",
            "Replace",
            "Fuse",
            "Strip",
            "ByteFallback",
        ];
        if let Some(kind) = declared.as_ref().filter(|kind| self.types == 1 && KINDS.contains(&kind.as_ref())) {
            return Ok(kind.clone());
        }
        let fits = |kind: &str| match kind {
            "BPEDecoder" => self.string("suffix").is_ok(),
            "WordPiece" => self.string("prefix").is_ok() && self.flag("cleanup").is_ok(),
            "CTC" => {
                let strings = self.string("pad_token").and(self.string("word_delimiter_token"));
                strings.is_ok() && self.flag("cleanup").is_ok()
            }
            "Replace" => self.has("pattern") && self.string("content").is_ok(),
            "Strip" => {
                let counts = self.count("start").and(self.count("stop"));
                counts.is_ok() && self.character("content").is_ok()
            }
            kind => declared.as_deref() == Some(kind),
        };
        KINDS.into_iter().find(|kind| fits(kind)).map(Cow::Borrowed).ok_or_else(|| {
            let kind = declared.as_ref().map_or("no type".to_owned(), |kind| format!("the type {kind:?}"));
            invalid(self.path, format!("{kind} is no decoder the reference knows"))
        })
    }

    fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    fn get(&self, key: &str) -> Result<&'a str, Error> {
        self.values.get(key).copied().ok_or_else(|| invalid(self.path, format!("the field {key:?} is missing")))
    }

    fn wrong(&self, key: &str, expected: &str) -> Error {
        invalid(self.path, format!("the field {key:?} must be {expected}"))
    }

    fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.get(key)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong(key, "true or false")),
        }
    }

    fn string(&self, key: &str) -> Result<String, Error> {
        let text = self.get(key)?;
        Reader::new(text.as_bytes()).string().map(Cow::into_owned).map_err(|_| self.wrong(key, "a string"))
    }

    fn character(&self, key: &str) -> Result<char, Error> {
        let string = self.string(key)?;
        let mut characters = string.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.wrong(key, "one character")),
        }
    }

    fn count(&self, key: &str) -> Result<usize, Error> {
        let count: u64 = self.get(key)?.parse().map_err(|_| self.wrong(key, "a count"))?;
        // Beyond what a token can hold, all counts are alike.
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Reads a field that may be missing or null.
    fn optional<T>(&self, key: &str, read: fn(&Self, &str) -> Result<T, Error>) -> Result<Option<T>, Error> {
        if matches!(self.values.get(key), None | Some(&"null")) { Ok(None) } else { read(self, key).map(Some) }
    }
}

fn invalid(path: &str, what: String) -> Error {
    Error::new(ErrorCode::InvalidTokenizer, format!("{path}: {what}; check the file against the tokenizers library"))
}
