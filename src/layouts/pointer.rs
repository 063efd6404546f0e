//! JSON Pointers with the extra steps of a layout.

use crate::ids::Encoding;

/// One step of a [`Pointer`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A member of an object, or the element of a list if the key is a number.
    Key(String),
    /// `*`: every element of a list.
    Every,
    /// `!json`: the JSON value inside a string.
    Json,
    /// `!repr`, `!numpy`: the printed list inside a string. [`crate::ids`] reads such strings anyway; the step says
    /// that nothing else is meant, and shows in the report's path.
    Printed(&'static str),
    /// `!b64i32`, `!tokenid`: an encoding that is never recognised by its looks.
    Encoded(Encoding),
}

/// The spellings of the extra steps.
const EXTRA_STEPS: [(&str, Step); 6] = [
    ("*", Step::Every),
    ("!json", Step::Json),
    ("!repr", Step::Printed("!repr")),
    ("!numpy", Step::Printed("!numpy")),
    ("!b64i32", Step::Encoded(Encoding::Base64Int32)),
    ("!tokenid", Step::Encoded(Encoding::TokenIdStrings)),
];

/// Where a layout finds a value.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Pointer {
    pub steps: Vec<Step>,
}

impl Pointer {
    /// Reads a pointer. The error says what is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Pointer, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!("`{text}` is not a JSON Pointer: it must start with `/`"));
        };
        let mut steps = Vec::new();
        for step in rest.split('/') {
            steps.push(match EXTRA_STEPS.iter().find(|(spelling, _)| *spelling == step) {
                Some((_, extra)) => extra.clone(),
                None if step.starts_with('!') => {
                    let known: Vec<&str> = EXTRA_STEPS.iter().map(|(spelling, _)| *spelling).collect();
                    return Err(format!("`{text}` has the unknown step `{step}` (known: {})", known.join(", ")));
                }
                None => Step::Key(unescape_key(step).ok_or(format!("`{text}` has a `~` that is not `~0` or `~1`"))?),
            });
        }
        let encoded = steps.iter().position(|step| matches!(step, Step::Encoded(_) | Step::Printed(_)));
        if encoded.is_some_and(|at| at + 1 < steps.len()) {
            return Err(format!("`{text}` goes on after a step that yields ids"));
        }
        Ok(Pointer { steps })
    }

    /// The encoding that the last step names.
    pub(crate) fn encoding(&self) -> Option<Encoding> {
        match self.steps.last() {
            Some(Step::Encoded(encoding)) => Some(*encoding),
            _ => None,
        }
    }

    /// Whether `*` is among the steps.
    pub(crate) fn is_every(&self) -> bool {
        self.steps.contains(&Step::Every)
    }
}

/// The steps up to the value itself, without a last step that only says how it is spelled.
pub(crate) fn value_steps(steps: &[Step]) -> &[Step] {
    match steps.split_last() {
        Some((Step::Encoded(_) | Step::Printed(_), steps)) => steps,
        _ => steps,
    }
}

/// The spelling of steps, as it stands in a path.
pub(crate) fn spell(steps: &[Step]) -> String {
    let mut path = String::new();
    for step in steps {
        path.push('/');
        match step {
            Step::Key(key) => path.push_str(&escape_key(key)),
            other => path.push_str(EXTRA_STEPS.iter().find(|(_, step)| step == other).map_or("", |(text, _)| text)),
        }
    }
    path
}

/// A key as it stands in a JSON Pointer (RFC 6901).
pub(crate) fn escape_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn unescape_key(step: &str) -> Option<String> {
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
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_kept() {
        for text in ["/output/a.b/*/1", "/output/!json/!json/x", "/a~1b~0c/!b64i32", "/x/!tokenid", "/x/!numpy", "/"] {
            assert_eq!(Pointer::parse(text).map(|pointer| spell(&pointer.steps)), Ok(text.to_owned()));
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
            let error = Pointer::parse(text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
