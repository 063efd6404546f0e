//! The `decoder` member of a tokenizer.json to the steps of a chain, with the reference's required and optional fields.

use std::borrow::Cow;

use super::chain::Step;
use super::general::RegexReplace;
use super::json::Reader;
use super::spec::Decoder;
use super::{limit_exceeded, quoted};
use crate::Error;
use crate::json::joined;

/// Sequences may nest this deep, about as deep as the reference reads.
const MAX_DEPTH: usize = 64;

/// The most steps of a decoder; those in use have a handful.
pub(super) const MAX_STEPS: usize = 64;

/// Reads the JSON text of a decoder that is not null.
pub(super) fn read(text: &str) -> Result<Decoder, Error> {
    let mut decoder = Decoder { steps: Vec::new(), words: String::new() };
    add(text, "decoder", 0, &mut decoder)?;
    Ok(decoder)
}

fn add(text: &str, path: &str, depth: usize, decoder: &mut Decoder) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(invalid(path, &["sequences nest deeper than 64"]));
    }
    if decoder.steps.len() == MAX_STEPS {
        return Err(limit_exceeded("decoder: more than 64 steps"));
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
        other => return Err(invalid(path, &["unknown type ", &quoted(other)])),
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
    let (mut first, mut at) = (true, 0_usize);
    while reader.element(&mut first, b']')? {
        if at > 0 {
            decoder.words.push_str(", ");
        }
        let path = joined(&[fields.path, ".decoders[", &at.to_string(), "]"]);
        add(reader.value()?, &path, depth + 1, decoder)?;
        at += 1;
    }
    decoder.words.push(']');
    Ok(())
}

fn metaspace(fields: &Fields<'_>) -> Result<Step, Error> {
    let replacement = fields.character("replacement")?;
    let scheme = if fields.has("prepend_scheme") { fields.text("prepend_scheme")? } else { Cow::Borrowed("always") };
    if !matches!(scheme.as_ref(), "always" | "first" | "never") {
        return Err(fields.wrong("prepend_scheme", "\"always\", \"first\" or \"never\""));
    }
    if !fields.is_null("split") {
        fields.flag("split")?;
    }
    if !fields.is_null("str_rep") {
        fields.text("str_rep")?;
    }
    // The older spelling may stand beside the newer one, but must not say something else.
    if !fields.is_null("add_prefix_space") && !fields.flag("add_prefix_space")? && scheme != "never" {
        return Err(fields.wrong("add_prefix_space", "true, as the prepend_scheme is not \"never\""));
    }
    Ok(Step::Metaspace { replacement, drop_first: scheme != "never" })
}

fn replace(fields: &Fields<'_>) -> Result<Step, Error> {
    let content = fields.string("content")?;
    let path = joined(&[fields.path, ".pattern"]);
    let pattern = Fields::new(fields.get("pattern")?, &path)?;
    let is_single = !pattern.has_others && pattern.values.iter().flatten().count() == 1;
    if is_single && pattern.has("String") {
        Ok(Step::Replace { pattern: pattern.string("String")?, content })
    } else if is_single && pattern.has("Regex") {
        Ok(Step::Regex(RegexReplace::new(&pattern.string("Regex")?, &content)?))
    } else {
        Err(fields.wrong("pattern", "{\"String\": ...} or {\"Regex\": ...}"))
    }
}

/// The names of all fields that are read.
const NAMES: [&str; 20] = [
    "type",
    "decoders",
    "pattern",
    "content",
    "String",
    "Regex",
    "start",
    "stop",
    "prefix",
    "cleanup",
    "suffix",
    "replacement",
    "prepend_scheme",
    "add_prefix_space",
    "split",
    "str_rep",
    "trim_offsets",
    "use_regex",
    "pad_token",
    "word_delimiter_token",
];

/// The members of an object as JSON texts; of equal keys the last counts.
struct Fields<'a> {
    path: &'a str,
    /// By position in [`NAMES`].
    values: [Option<&'a str>; NAMES.len()],
    /// Whether there are other members.
    has_others: bool,
    types: usize,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str, path: &'a str) -> Result<Fields<'a>, Error> {
        let mut reader = Reader::new(text.as_bytes());
        if !reader.take(b'{') {
            return Err(invalid(path, &["expected an object"]));
        }
        let mut fields = Fields { path, values: [None; NAMES.len()], has_others: false, types: 0 };
        let mut first = true;
        while let Some(key) = reader.key(&mut first)? {
            let value = reader.value()?;
            match position(&key).and_then(|at| fields.values.get_mut(at)) {
                Some(field) => *field = Some(value),
                None => fields.has_others = true,
            }
            fields.types += usize::from(key == "type");
        }
        Ok(fields)
    }

    /// The decoder's type. Without one that is known the reference takes the first kind whose fields are all there,
    /// among those old enough to have been written without a type.
    fn kind(&self) -> Result<Cow<'a, str>, Error> {
        let declared = self.text("type").ok();
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
        for kind in KINDS {
            let fits = match kind {
                "BPEDecoder" => self.text("suffix").is_ok(),
                "WordPiece" => self.text("prefix").is_ok() && self.flag("cleanup").is_ok(),
                "CTC" => {
                    let strings = self.text("pad_token").is_ok() && self.text("word_delimiter_token").is_ok();
                    strings && self.flag("cleanup").is_ok()
                }
                "Replace" => self.has("pattern") && self.text("content").is_ok(),
                "Strip" => {
                    let counts = self.count("start").is_ok() && self.count("stop").is_ok();
                    counts && self.character("content").is_ok()
                }
                kind => declared.as_deref() == Some(kind),
            };
            if fits {
                return Ok(Cow::Borrowed(kind));
            }
        }
        Err(match declared {
            Some(kind) => invalid(self.path, &["the type ", &quoted(&kind), " is no decoder the reference knows"]),
            None => invalid(self.path, &["no type is no decoder the reference knows"]),
        })
    }

    fn value(&self, key: &str) -> Option<&'a str> {
        self.values.get(position(key)?).copied().flatten()
    }

    fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Whether a field is missing or null.
    fn is_null(&self, key: &str) -> bool {
        matches!(self.value(key), None | Some("null"))
    }

    fn get(&self, key: &str) -> Result<&'a str, Error> {
        self.value(key).ok_or_else(|| invalid(self.path, &["the field \"", key, "\" is missing"]))
    }

    #[cold]
    #[inline(never)]
    fn wrong(&self, key: &str, expected: &str) -> Error {
        invalid(self.path, &["the field \"", key, "\" must be ", expected])
    }

    #[inline(never)]
    fn flag(&self, key: &str) -> Result<bool, Error> {
        match self.get(key)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong(key, "true or false")),
        }
    }

    #[inline(never)]
    fn text(&self, key: &str) -> Result<Cow<'a, str>, Error> {
        Reader::new(self.get(key)?.as_bytes()).string().map_err(|_| self.wrong(key, "a string"))
    }

    fn string(&self, key: &str) -> Result<String, Error> {
        self.text(key).map(Cow::into_owned)
    }

    #[inline(never)]
    fn character(&self, key: &str) -> Result<char, Error> {
        let string = self.text(key)?;
        let mut characters = string.chars();
        match (characters.next(), characters.next()) {
            (Some(character), None) => Ok(character),
            _ => Err(self.wrong(key, "one character")),
        }
    }

    #[inline(never)]
    fn count(&self, key: &str) -> Result<usize, Error> {
        let count: u64 = self.get(key)?.parse().map_err(|_| self.wrong(key, "a count"))?;
        // Beyond what a token can hold, all counts are alike.
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

#[inline(never)]
fn position(name: &str) -> Option<usize> {
    NAMES.iter().position(|known| *known == name)
}

#[cold]
#[inline(never)]
fn invalid(path: &str, what: &[&str]) -> Error {
    super::invalid(&[path, ": ", &joined(what), "; check the file against the tokenizers library"])
}
