//! JSON Pointers with the extra steps of a layout.

use std::borrow::Cow;

use crate::ids::Encoding;
use crate::json::listed;
use crate::view::{Keys, MARK, key_hash};

/// The extra steps: every element of a list; the JSON value, or the Python literal, inside a string; and last steps, which
/// say how ids are spelled. [`crate::ids`] reads what a last `!repr` and `!numpy` name anyway: they say that nothing else
/// is meant, and show in the report's path. `!b64i32` and `!tokenid` are encodings that are never recognised by their looks.
const EXTRA_STEPS: [&str; 6] = ["*", "!json", "!repr", "!numpy", "!b64i32", "!tokenid"];

/// Keys that spans without ids have as well, which tell little. Others are the rarer the longer they are.
const COMMON: [&str; 10] = [
    "attributes",
    "choices",
    "completion_tokens",
    "id",
    "input_tokens",
    "model",
    "output_tokens",
    "prompt_tokens",
    "token",
    "tokens",
];

/// Where a layout finds a value: its text, checked once, read again step by step where it is followed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pointer {
    pub text: String,
    /// The hashes of the keys that must be there, in any object of the span, and how rare they are: most pointers are seen by
    /// the hashes to lead nowhere.
    keys: Vec<(u32, u32)>,
    /// The first of them, if it must be in the place itself.
    outer: Option<u32>,
}

impl Pointer {
    /// Checks a pointer. `in_span`: the first step is one of the places of a span. The error says what is wrong.
    pub(crate) fn parse(text: &str, in_span: bool) -> Result<Pointer, String> {
        if !text.starts_with('/') {
            return Err(format!("`{text}` is not a JSON Pointer: it must start with `/`"));
        }
        let mut rest = text;
        while let Some((step, after)) = split_first(rest) {
            if step.starts_with('!') && !EXTRA_STEPS.contains(&step) {
                return Err(format!("`{text}` has the unknown step `{step}` (known: {})", listed(&EXTRA_STEPS, ", ")));
            }
            if unescape_key(step).is_none() {
                return Err(format!("`{text}` has a `~` that is not `~0` or `~1`"));
            }
            if step.starts_with('!') && step != "!json" && step != "!repr" && !after.is_empty() {
                return Err(format!("`{text}` goes on after a step that yields ids"));
            }
            rest = after;
        }
        let mut pointer = Pointer { text: text.to_owned(), ..Pointer::default() };
        pointer.note_keys(in_span);
        Ok(pointer)
    }

    fn note_keys(&mut self, in_span: bool) {
        for (i, step) in steps(&self.text).enumerate().skip(usize::from(in_span)) {
            let is_outer = in_span && i == 1;
            let is_string = matches!(step, "!json" | "!repr");
            let key = if is_string { Some(Cow::Borrowed("!json")) } else { unescape_key(step) };
            // A number may be the place in a list.
            let is_number = step.bytes().all(|byte| byte.is_ascii_digit());
            if let Some(key) = key.filter(|_| is_key(step) && !is_number || is_string && is_outer) {
                let hash = key_hash(key.as_bytes());
                let rarity = if COMMON.contains(&&*key) { 1 } else { key.len() as u32 };
                self.keys.push((hash, rarity));
                self.outer = self.outer.or(Some(hash).filter(|_| is_outer));
            }
            // What is in a string has keys of its own. Texts of ours may be such strings.
            if is_string || step.starts_with(MARK) {
                break;
            }
        }
    }

    /// Whether the pointer leads into what is in a string.
    pub(crate) fn enters_string(&self) -> bool {
        steps(&self.text).any(|step| matches!(step, "!json" | "!repr") || step.starts_with(MARK))
    }

    /// The hash of the rarest of the keys that must be there, and how rare it is: not at all, where there need be none.
    pub(crate) fn rarest(&self) -> (u32, u32) {
        let mut rarest = (0, 0);
        for &(hash, rarity) in &self.keys {
            if rarity > rarest.1 {
                rarest = (hash, rarity);
            }
        }
        rarest
    }

    /// Whether the keys are spelled in one way in JSON, and in JSON in strings, unless characters are spelled by their numbers.
    pub(crate) fn has_one_spelling(&self) -> bool {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'}') && byte != b'"' && byte != b'\\';
        self.text.bytes().all(is_plain) && !steps(&self.text).any(|step| step == "!repr")
    }

    /// Whether the pointer may find something in a span with these keys.
    pub(crate) fn may_be_there(&self, keys: &Keys) -> bool {
        if keys.is_deep {
            self.keys.iter().all(|&(hash, _)| keys.may_have(hash))
        } else {
            self.outer.is_none_or(|hash| keys.may_have(hash))
        }
    }

    /// The encoding that the last step names.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        match self.split_last().1 {
            "!b64i32" => Some(Encoding::Base64Int32),
            "!tokenid" => Some(Encoding::TokenIdStrings),
            _ => None,
        }
    }

    /// Whether `*` is among the steps.
    pub(crate) fn is_every(&self) -> bool {
        steps(&self.text).any(|step| step == "*")
    }

    /// What stands before the last step, and the last step.
    pub(crate) fn split_last(&self) -> (&str, &str) {
        let slash = self.text.bytes().rposition(|byte| byte == b'/').unwrap_or(0);
        (self.text.get(..slash).unwrap_or_default(), self.text.get(slash + 1..).unwrap_or_default())
    }
}

/// The first of some steps, and those after it.
pub(crate) fn split_first(steps: &str) -> Option<(&str, &str)> {
    let steps = steps.strip_prefix('/')?;
    steps.split_at_checked(steps.bytes().position(|byte| byte == b'/').unwrap_or(steps.len()))
}

/// The steps of a pointer, as they are spelled.
pub(crate) fn steps(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (step, rest) = split_first(text)?;
        text = rest;
        Some(step)
    })
}

/// Whether a step is a key: a member of an object, or the element of a list if it is a number.
pub(crate) fn is_key(step: &str) -> bool {
    !EXTRA_STEPS.contains(&step)
}

/// The key that a step spells (RFC 6901); nothing if it spells none.
pub(crate) fn unescape_key(step: &str) -> Option<Cow<'_, str>> {
    if !step.bytes().any(|byte| byte == b'~') {
        return Some(Cow::Borrowed(step));
    }
    let mut key = String::with_capacity(step.len());
    let mut chars = step.chars();
    while let Some(char) = chars.next() {
        key.push(match char {
            '~' => match chars.next() {
                Some('0') => '~',
                Some('1') => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(Cow::Owned(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_kept() {
        for text in ["/output/a.b/*/1", "/output/!json/!json/x", "/a~1b~0c/!b64i32", "/x/!tokenid", "/x/!numpy", "/"] {
            assert_eq!(Pointer::parse(text, true).map(|pointer| pointer.text), Ok(text.to_owned()));
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, message) in [
            ("output/a", "must start with `/`"),
            ("/a/!jsn", "unknown step `!jsn`"),
            ("/a~2", "a `~` that is not"),
            ("/a/!b64i32/b", "goes on after"),
        ] {
            let error = Pointer::parse(text, true).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
