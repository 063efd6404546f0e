//! The `decoder` member of a tokenizer.json to the steps of a chain, with the reference's required and optional fields.

use super::chain::Step;
use super::fields::{Fields, Need, invalid};
use super::general::RegexReplace;
use super::spec::Decoder;
use super::{limit_exceeded, quoted};
use crate::Error;
use crate::json::joined;

use super::fields::Absent::{Allowed, OrNull, Refused};
use super::fields::Holds::{Any, Character, Count, Flag, List, Text};

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
    let (name, kind, _, needs) = kind(&fields)?;
    fields.check(needs)?;
    decoder.words.push_str(name);
    let step = match kind {
        Kind::Sequence => return add_sequence(&fields, depth, decoder),
        Kind::ByteLevel => Step::ByteLevel,
        Kind::Metaspace => metaspace(&fields)?,
        Kind::WordPiece => Step::WordPiece { prefix: fields.string("prefix"), cleanup: fields.flag("cleanup") },
        Kind::Bpe => Step::Bpe { suffix: fields.string("suffix") },
        Kind::ByteFallback => Step::ByteFallback,
        Kind::Strip => {
            let (start, stop) = (fields.count("start"), fields.count("stop"));
            Step::Strip { content: fields.character("content"), start, stop }
        }
        Kind::Replace => replace(&fields)?,
        Kind::Ctc => Step::Ctc {
            pad: fields.string("pad_token"),
            delimiter: fields.string("word_delimiter_token"),
            cleanup: fields.flag("cleanup"),
        },
        Kind::Fuse => Step::Fuse,
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
        return Err(fields.refuse("prepend_scheme", &["must be ", "\"always\", \"first\" or \"never\""]));
    }
    let drop_first = scheme != "never";
    // The older spelling may stand beside the newer one, but must not say something else.
    if drop_first && fields.value("add_prefix_space") == Some("false") {
        return Err(fields.refuse("add_prefix_space", &["must be ", "true, as the prepend_scheme is not \"never\""]));
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
    Err(fields.refuse("pattern", &["must be ", "{\"String\": ...} or {\"Regex\": ...}"]))
}

enum Kind {
    Bpe,
    ByteLevel,
    WordPiece,
    Metaspace,
    Ctc,
    Sequence,
    Replace,
    Fuse,
    Strip,
    ByteFallback,
}

/// The name of a kind of decoder; the kind; whether the reference knows one without a type by its fields; all fields that it
/// reads, also those that change nothing.
type Known = (&'static str, Kind, bool, &'static [Need]);

/// In the reference's order.
static KINDS: [Known; 10] = [
    ("BPEDecoder", Kind::Bpe, true, &[("suffix", Text, Refused)]),
    (
        "ByteLevel",
        Kind::ByteLevel,
        false,
        &[("add_prefix_space", Flag, Refused), ("trim_offsets", Flag, Refused), ("use_regex", Flag, Allowed)],
    ),
    ("WordPiece", Kind::WordPiece, true, &[("prefix", Text, Refused), ("cleanup", Flag, Refused)]),
    (
        "Metaspace",
        Kind::Metaspace,
        false,
        &[
            ("replacement", Character, Refused),
            ("prepend_scheme", Text, Allowed),
            ("split", Flag, OrNull),
            ("str_rep", Text, OrNull),
            ("add_prefix_space", Flag, OrNull),
        ],
    ),
    (
        "CTC",
        Kind::Ctc,
        true,
        &[("pad_token", Text, Refused), ("word_delimiter_token", Text, Refused), ("cleanup", Flag, Refused)],
    ),
    ("Sequence", Kind::Sequence, false, &[("decoders", List, Refused)]),
    ("Replace", Kind::Replace, true, &[("content", Text, Refused), ("pattern", Any, Refused)]),
    ("Fuse", Kind::Fuse, false, &[]),
    (
        "Strip",
        Kind::Strip,
        true,
        &[("start", Count, Refused), ("stop", Count, Refused), ("content", Character, Refused)],
    ),
    ("ByteFallback", Kind::ByteFallback, false, &[]),
];

/// The decoder's kind. Without a type that is known the reference takes the first kind whose fields are all there,
/// among those old enough to have been written without a type.
fn kind(fields: &Fields<'_>) -> Result<&'static Known, Error> {
    let declared = fields.reader("type").string().ok();
    let is_one = fields.count_of("type") == 1;
    for is_typed in [true, false] {
        for kind in &KINDS {
            let (name, _, by_fields, needs) = kind;
            let fits = if by_fields & !is_typed {
                fields.check(needs).is_ok()
            } else {
                declared.as_deref() == Some(name) && (is_one || !is_typed)
            };
            if fits {
                return Ok(kind);
            }
        }
    }
    Err(match declared {
        Some(kind) => invalid(fields.path, &["the type ", &quoted(&kind), " is no decoder the reference knows"]),
        None => invalid(fields.path, &["no type is no decoder the reference knows"]),
    })
}
