//! The `decoder` member of a tokenizer.json to the steps of a chain, with the reference's required and optional fields.

use std::borrow::Cow;

use super::chain::Step;
use super::general::RegexReplace;
use super::json::Reader;
use super::spec::Decoder;
use super::{limit_exceeded, quoted};
use crate::Error;
use crate::json::joined;

use Absent::{Allowed, OrNull, Refused};
use Holds::{Any, Character, Count, Flag, List, Text};

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
    let (kind, _, needs) = fields.kind()?;
    fields.check(needs)?;
    decoder.words.push_str(kind);
    let step = match *kind {
        "Sequence" => return add_sequence(&fields, depth, decoder),
        "ByteLevel" => Step::ByteLevel,
        "Metaspace" => metaspace(&fields)?,
        "WordPiece" => Step::WordPiece { prefix: fields.string("prefix"), cleanup: fields.flag("cleanup") },
        "BPEDecoder" => Step::Bpe { suffix: fields.string("suffix") },
        "ByteFallback" => Step::ByteFallback,
        "Strip" => {
            let (start, stop) = (fields.count("start"), fields.count("stop"));
            Step::Strip { content: fields.character("content"), start, stop }
        }
        "Replace" => replace(&fields)?,
        "CTC" => Step::Ctc {
            pad: fields.string("pad_token"),
            delimiter: fields.string("word_delimiter_token"),
            cleanup: fields.flag("cleanup"),
        },
        _ => Step::Fuse,
    };
    decoder.steps.push(step);
    Ok(())
}

fn add_sequence(fields: &Fields<'_>, depth: usize, decoder: &mut Decoder) -> Result<(), Error> {
    let mut reader = fields.reader("decoders");
    reader.expect(b'[')?;
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
    let scheme = if fields.has("prepend_scheme") { fields.string("prepend_scheme") } else { "always".to_owned() };
    if !matches!(scheme.as_str(), "always" | "first" | "never") {
        return Err(fields.wrong("prepend_scheme", "\"always\", \"first\" or \"never\""));
    }
    let drop_first = scheme != "never";
    // The older spelling may stand beside the newer one, but must not say something else.
    if drop_first && fields.value("add_prefix_space") == Some("false") {
        return Err(fields.wrong("add_prefix_space", "true, as the prepend_scheme is not \"never\""));
    }
    Ok(Step::Metaspace { replacement: fields.character("replacement"), drop_first })
}

fn replace(fields: &Fields<'_>) -> Result<Step, Error> {
    let content = fields.string("content");
    let path = joined(&[fields.path, ".pattern"]);
    let pattern = Fields::new(fields.value("pattern").unwrap_or_default(), &path)?;
    for key in ["String", "Regex"] {
        if pattern.has(key) && pattern.count_of(key) == pattern.members.len() {
            pattern.check(&[(key, Text, Refused)])?;
            let pattern = pattern.string(key);
            return if key == "String" {
                Ok(Step::Replace { pattern, content })
            } else {
                Ok(Step::Regex(RegexReplace::new(&pattern, &content)?))
            };
        }
    }
    Err(fields.wrong("pattern", "{\"String\": ...} or {\"Regex\": ...}"))
}

/// What a field must hold.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    Character,
    Flag,
    Count,
    List,
    Any,
}

/// Whether a field may be missing.
#[derive(Clone, Copy, PartialEq)]
enum Absent {
    Refused,
    Allowed,
    /// And it may be null.
    OrNull,
}

type Need = (&'static str, Holds, Absent);

/// The name of a kind of decoder; whether the reference knows one without a type by its fields; all fields that it reads,
/// also those that change nothing.
type Kind = (&'static str, bool, &'static [Need]);

/// In the reference's order.
const KINDS: [Kind; 10] = [
    ("BPEDecoder", true, &[("suffix", Text, Refused)]),
    (
        "ByteLevel",
        false,
        &[("add_prefix_space", Flag, Refused), ("trim_offsets", Flag, Refused), ("use_regex", Flag, Allowed)],
    ),
    ("WordPiece", true, &[("prefix", Text, Refused), ("cleanup", Flag, Refused)]),
    (
        "Metaspace",
        false,
        &[
            ("replacement", Character, Refused),
            ("prepend_scheme", Text, Allowed),
            ("split", Flag, OrNull),
            ("str_rep", Text, OrNull),
            ("add_prefix_space", Flag, OrNull),
        ],
    ),
    ("CTC", true, &[("pad_token", Text, Refused), ("word_delimiter_token", Text, Refused), ("cleanup", Flag, Refused)]),
    ("Sequence", false, &[("decoders", List, Refused)]),
    ("Replace", true, &[("content", Text, Refused), ("pattern", Any, Refused)]),
    ("Fuse", false, &[]),
    ("Strip", true, &[("start", Count, Refused), ("stop", Count, Refused), ("content", Character, Refused)]),
    ("ByteFallback", false, &[]),
];

/// The members of an object as JSON texts.
struct Fields<'a> {
    path: &'a str,
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Fields<'a> {
    fn new(text: &'a str, path: &'a str) -> Result<Fields<'a>, Error> {
        let mut reader = Reader::new(text.as_bytes());
        if !reader.take(b'{') {
            return Err(invalid(path, &["expected an object"]));
        }
        let mut fields = Fields { path, members: Vec::new() };
        let mut first = true;
        while let Some(key) = reader.key(&mut first)? {
            fields.members.push((key, reader.value()?));
        }
        Ok(fields)
    }

    /// The decoder's kind. Without a type that is known the reference takes the first kind whose fields are all there,
    /// among those old enough to have been written without a type.
    fn kind(&self) -> Result<&'static Kind, Error> {
        let declared = self.reader("type").string().ok();
        let is_one = self.count_of("type") == 1;
        for is_typed in [true, false] {
            for kind in &KINDS {
                let (name, by_fields, needs) = kind;
                let fits = if by_fields & !is_typed {
                    self.check(needs).is_ok()
                } else {
                    declared.as_deref() == Some(name) && (is_one || !is_typed)
                };
                if fits {
                    return Ok(kind);
                }
            }
        }
        Err(match declared {
            Some(kind) => invalid(self.path, &["the type ", &quoted(&kind), " is no decoder the reference knows"]),
            None => invalid(self.path, &["no type is no decoder the reference knows"]),
        })
    }

    /// Checks that all fields are there that a kind needs.
    #[inline(never)]
    fn check(&self, needs: &[Need]) -> Result<(), Error> {
        for &(key, holds, absent) in needs {
            let Some(value) = self.value(key).filter(|value| absent != OrNull || *value != "null") else {
                if absent == Refused {
                    return Err(invalid(self.path, &["the field \"", key, "\" is missing"]));
                }
                continue;
            };
            let (fits, expected) = match holds {
                Text => (value.starts_with('"'), "a string"),
                Character => (self.string(key).chars().count() == 1, "one character"),
                Flag => (matches!(value, "true" | "false"), "true or false"),
                Count => (value.parse::<u64>().is_ok(), "a count"),
                List => (value.starts_with('['), "a list"),
                Any => (true, ""),
            };
            if !fits {
                return Err(self.wrong(key, expected));
            }
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn wrong(&self, key: &str, expected: &str) -> Error {
        invalid(self.path, &["the field \"", key, "\" must be ", expected])
    }

    /// Of equal keys the last counts.
    #[inline(never)]
    fn value(&self, key: &str) -> Option<&'a str> {
        let mut last = None;
        for (name, value) in &self.members {
            if name == key {
                last = Some(*value);
            }
        }
        last
    }

    /// How many members have a key.
    fn count_of(&self, key: &str) -> usize {
        self.members.iter().filter(|(name, _)| name == key).count()
    }

    fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    fn reader(&self, key: &str) -> Reader<'a> {
        Reader::new(self.value(key).unwrap_or_default().as_bytes())
    }

    fn flag(&self, key: &str) -> bool {
        self.value(key) == Some("true")
    }

    /// Nothing for what is no string.
    #[inline(never)]
    fn string(&self, key: &str) -> String {
        self.reader(key).string().unwrap_or_default().into_owned()
    }

    fn character(&self, key: &str) -> char {
        self.string(key).chars().next().unwrap_or_default()
    }

    /// Beyond what a token can hold, all counts are alike.
    fn count(&self, key: &str) -> usize {
        let count = self.value(key).and_then(|count| count.parse::<u64>().ok());
        count.map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX))
    }
}

#[cold]
#[inline(never)]
fn invalid(path: &str, what: &[&str]) -> Error {
    super::invalid(&[path, ": ", &joined(what), "; check the file against the tokenizers library"])
}
