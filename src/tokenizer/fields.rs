//! The members of an object, and what they must hold, for the parts of a file that are read whole.

use std::borrow::Cow;

use super::json::Reader;
use crate::Error;
use crate::json::joined;

/// What a field must hold.
#[derive(Clone, Copy)]
pub(super) enum Holds {
    Text,
    Character,
    Flag,
    Count,
    List,
    Id,
    Any,
}

/// Whether a field may be missing.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Absent {
    Refused,
    /// Nor may it stand twice.
    Never,
    Allowed,
    /// And it may be null.
    OrNull,
}

/// A field by name.
pub(super) type Need = (&'static str, Holds, Absent);

/// The members of an object as JSON texts.
pub(super) struct Fields<'a> {
    pub path: &'a str,
    pub members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Fields<'a> {
    pub fn new(text: &'a str, path: &'a str) -> Result<Fields<'a>, Error> {
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

    /// Checks that all fields are there that a kind needs.
    #[inline(never)]
    pub fn check(&self, needs: &[Need]) -> Result<(), Error> {
        for &(key, holds, absent) in needs {
            let (value, count) = self.find(key);
            if count > 1 && absent == Absent::Never {
                return Err(self.refuse(key, &["stands twice"]));
            }
            let Some(value) = value.filter(|value| absent != Absent::OrNull || *value != "null") else {
                if matches!(absent, Absent::Refused | Absent::Never) {
                    return Err(self.refuse(key, &["is missing"]));
                }
                continue;
            };
            let (fits, expected) = match holds {
                Holds::Text => (value.starts_with('"'), "a string"),
                Holds::Character => (is_one_character(&self.string(key)), "one character"),
                Holds::Flag => (matches!(value, "true" | "false"), "true or false"),
                Holds::Count => (value.parse::<u64>().is_ok(), "a count"),
                Holds::List => (value.starts_with('['), "a list"),
                Holds::Id => (self.reader(key).id().is_some(), "an id"),
                Holds::Any => (true, ""),
            };
            if !fits {
                return Err(self.refuse(key, &["must be ", expected]));
            }
        }
        Ok(())
    }

    /// The error about a field.
    #[cold]
    #[inline(never)]
    pub fn refuse(&self, key: &str, what: &[&str]) -> Error {
        invalid(&joined(&[self.path, ".", key]), what)
    }

    /// The value of a field, the last one if there are several, and how many there are.
    #[inline(never)]
    fn find(&self, key: &str) -> (Option<&'a str>, usize) {
        let mut found = (None, 0);
        for (name, value) in &self.members {
            if name == key {
                found = (Some(*value), found.1 + 1);
            }
        }
        found
    }

    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.find(key).0
    }

    /// How many members have a key.
    pub fn count_of(&self, key: &str) -> usize {
        self.find(key).1
    }

    pub fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    pub fn reader(&self, key: &str) -> Reader<'a> {
        Reader::new(self.value(key).unwrap_or_default().as_bytes())
    }

    pub fn flag(&self, key: &str) -> bool {
        self.value(key) == Some("true")
    }

    /// Nothing for what is no string.
    #[inline(never)]
    pub fn string(&self, key: &str) -> String {
        self.reader(key).string().unwrap_or_default().into_owned()
    }

    pub fn character(&self, key: &str) -> char {
        self.string(key).chars().next().unwrap_or_default()
    }

    pub fn id(&self, key: &str) -> u32 {
        self.reader(key).id().unwrap_or_default()
    }

    /// Beyond what a token can hold, all counts are alike.
    pub fn count(&self, key: &str) -> usize {
        let count = self.value(key).and_then(|count| count.parse::<u64>().ok());
        count.map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX))
    }
}

fn is_one_character(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some() && characters.next().is_none()
}

#[cold]
#[inline(never)]
pub(super) fn invalid(path: &str, what: &[&str]) -> Error {
    super::invalid(&[path, ": ", &joined(what), "; check the file against the tokenizers library"])
}
