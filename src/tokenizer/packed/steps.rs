//! The steps of a chain as records with the same parts for every kind: one writer and one reader in place of ten.

use super::damaged;
use super::parts::{Parts, bytes, count, number};
use crate::Error;
use crate::tokenizer::chain::Step;
use crate::tokenizer::decoders::MAX_STEPS;
use crate::tokenizer::general::RegexReplace;

/// What a step is: its kind, a character, two counts or flags, two texts.
type Record<'a> = (u32, char, [usize; 2], [&'a str; 2]);

pub(super) fn write(steps: &[Step], out: &mut Vec<u8>) {
    count(steps.len(), out);
    for step in steps {
        let (kind, character, counts, texts) = record(step);
        number(kind, out);
        number(character.into(), out);
        counts.into_iter().for_each(|part| count(part, out));
        texts.into_iter().for_each(|part| bytes(part.as_bytes(), out));
    }
}

fn record(step: &Step) -> Record<'_> {
    let none = char::default();
    match step {
        Step::ByteLevel => (0, none, [0; 2], [""; 2]),
        Step::Metaspace { replacement, drop_first } => (1, *replacement, [usize::from(*drop_first), 0], [""; 2]),
        Step::WordPiece { prefix, cleanup } => (2, none, [usize::from(*cleanup), 0], [prefix, ""]),
        Step::Bpe { suffix } => (3, none, [0; 2], [suffix, ""]),
        Step::ByteFallback => (4, none, [0; 2], [""; 2]),
        Step::Fuse => (5, none, [0; 2], [""; 2]),
        Step::Strip { content, start, stop } => (6, *content, [*start, *stop], [""; 2]),
        Step::Replace { pattern, content } => (7, none, [0; 2], [pattern, content]),
        Step::Regex(regex) => (8, none, [0; 2], regex.parts().into()),
        Step::Ctc { pad, delimiter, cleanup } => (9, none, [usize::from(*cleanup), 0], [pad, delimiter]),
    }
}

pub(super) fn read(parts: &mut Parts<'_>) -> Result<Vec<Step>, Error> {
    // Six numbers, of which two are lengths of texts.
    let len = parts.count(24);
    parts.damaged |= len > MAX_STEPS;
    let mut steps = Vec::new();
    for _ in 0..len.min(MAX_STEPS) {
        let (kind, character) = (parts.number(), parts.character());
        let (start, stop) = (parts.number() as usize, parts.number() as usize);
        let (first, second) = (parts.text(), parts.text());
        if parts.damaged {
            break;
        }
        let (flag, string) = (start != 0, first.to_owned());
        steps.push(match kind {
            0 => Step::ByteLevel,
            1 => Step::Metaspace { replacement: character, drop_first: flag },
            2 => Step::WordPiece { prefix: string, cleanup: flag },
            3 => Step::Bpe { suffix: string },
            4 => Step::ByteFallback,
            5 => Step::Fuse,
            6 => Step::Strip { content: character, start, stop },
            7 => Step::Replace { pattern: string, content: second.to_owned() },
            8 => Step::Regex(RegexReplace::new(first, second)?),
            9 => Step::Ctc { pad: string, delimiter: second.to_owned(), cleanup: flag },
            _ => return Err(damaged()),
        });
    }
    Ok(steps)
}
