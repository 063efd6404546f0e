//! Drift: ids that are others once their text is encoded again.

mod cause;
pub(super) mod findings;
mod gaps;
mod runs;
#[cfg(target_arch = "wasm32")]
mod value;

use crate::tokenizer::{DecodeOptions, Encoded, Encoder, MOST_TEXT, Tokenizer};
use crate::{Error, ErrorCode};

use cause::Evidence;
use gaps::Gaps;
use runs::{Run, Side, runs};

/// How many runs a [`Drift`] lists.
const MOST_RUNS: usize = 1000;
/// Most ids and bytes of text of one call: what is known of them takes several times that.
const MOST_IDS: usize = 4 << 20;
const MOST_BYTES: usize = 64 << 20;
/// Ranges and runs that overlap are counted one by one, at most so many.
const MOST_OVERLAPS: usize = 64 << 20;
/// A long text is encoded in parts of this many bytes or more, where that changes nothing.
const LEAST_PART: usize = 128 << 10;
/// Where a text cannot be cut at an added token, one behind so many bytes is tried next: each try looks at all added tokens.
const RETRY: usize = 8 << 10;

/// How ids differ from those that their text is encoded to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Whether the text is encoded to exactly these ids.
    pub equal: bool,
    /// How many ids were given.
    pub tokens: usize,
    /// How many ids their text is encoded to.
    pub encoded_tokens: usize,
    /// How many of the ids given are in runs.
    pub differing: usize,
    /// How many runs there are, whether listed or not.
    pub run_count: usize,
    /// All runs by cause; causes without runs are left out.
    pub causes: Vec<CauseCount>,
    /// The first 1000 runs. With them put in, the ids given are those of the text; outside they are equal.
    pub runs: Vec<DriftRun>,
    /// The same for each range that was asked for, in that order.
    pub ranges: Vec<RangeDrift>,
}

/// Ids that differ from those which their text is encoded to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DriftRun {
    /// Which of the ids given, `[start, end)`. Empty where encoding puts ids between two others.
    pub tokens: [usize; 2],
    /// What is in their place when the text is encoded.
    pub ids: Vec<u32>,
    /// What the ids given are decoded to.
    pub text: String,
    /// What `ids` are decoded to, where it is another text.
    pub encoded_text: Option<String>,
    /// Why they differ.
    pub cause: DriftCause,
}

/// How many runs have a cause, and how many of the ids given are in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CauseCount {
    /// The cause.
    pub cause: DriftCause,
    /// How many runs. Of a range, those that share an id with it; an empty run is where the id behind it is, or the last one before it.
    pub runs: usize,
    /// How many ids.
    pub tokens: usize,
}

/// The drift of a part of the ids, when all of them are encoded together.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RangeDrift {
    /// Which of the ids, `[start, end)`.
    pub tokens: [usize; 2],
    /// Whether no run touches the range.
    pub equal: bool,
    /// How many of its ids are in runs.
    pub differing: usize,
    /// Its runs by cause.
    pub causes: Vec<CauseCount>,
}

/// Why ids differ from those that their text is encoded to.
///
/// The first two are the choice of the model that sampled, the next ones follow from what it sampled; with
/// [`Decoder`](DriftCause::Decoder) nobody chose: the tokenizer does not read back what it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DriftCause {
    /// The same text in other tokens: the tokenizer would have cut it up otherwise.
    Merge,
    /// The same, with a token across a place where the pre-tokenizer cuts: no merge could have made it.
    PreTokenizer,
    /// Plain tokens spell a special or other added token, which the text is encoded to; or tokens around an added one make
    /// it another.
    SpecialAsText,
    /// The bytes of the tokens are not UTF-8: their text has U+FFFD, which is not what they said.
    InvalidUtf8,
    /// An added token takes the white space beside it (`lstrip`, `rstrip`), or is none because it stands inside a word
    /// (`single_word`).
    AddedTokenWhitespace,
    /// The normalizer makes another text of it: a composed character, small letters, one space of several.
    Normalizer,
    /// Ids that the tokenizer has no token for: no text comes of them.
    UnknownId,
    /// The text has parts for which the model gives its unknown token.
    UnknownText,
    /// Decoding is not the reverse of encoding, whoever made the ids: the tokenizer puts a space before a text (`Metaspace`,
    /// `Prepend`) that its decoder takes away elsewhere or not at all, or writes tokens otherwise where they begin a text
    /// (`##` of WordPiece).
    Decoder,
}

impl DriftCause {
    /// All causes, as they are listed.
    pub const ALL: [DriftCause; 9] = [
        DriftCause::Merge,
        DriftCause::PreTokenizer,
        DriftCause::SpecialAsText,
        DriftCause::InvalidUtf8,
        DriftCause::AddedTokenWhitespace,
        DriftCause::Normalizer,
        DriftCause::UnknownId,
        DriftCause::UnknownText,
        DriftCause::Decoder,
    ];

    /// The stable name: `"merge"`, `"special_as_text"`.
    pub fn as_str(self) -> &'static str {
        match self {
            DriftCause::Merge => "merge",
            DriftCause::PreTokenizer => "pre_tokenizer",
            DriftCause::SpecialAsText => "special_as_text",
            DriftCause::InvalidUtf8 => "invalid_utf8",
            DriftCause::AddedTokenWhitespace => "added_token_whitespace",
            DriftCause::Normalizer => "normalizer",
            DriftCause::UnknownId => "unknown_id",
            DriftCause::UnknownText => "unknown_text",
            DriftCause::Decoder => "decoder",
        }
    }
}

/// Compares ids with `encode(decode(ids))`: special tokens are kept in the text and found in it again, none are added, and
/// nothing is truncated or padded. The ids are encoded as a whole; `ranges` (turns, messages; they may overlap) are parts of
/// them for which the result is given too.
///
/// ```
/// use token2text::{Engine, LoadOptions, Tokenizer, rollout};
///
/// let json = br#"{"decoder":{"type":"Fuse"},"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}}"#;
/// let tokenizer = Tokenizer::load(json, &LoadOptions { engine: Engine::General, ..LoadOptions::default() })?;
/// let drift = rollout::drift(&tokenizer, &[2, 0, 1, 1], &[[0, 1]])?;
/// assert_eq!((drift.runs[0].tokens, &drift.runs[0].ids[..], &*drift.runs[0].text), ([1, 3], &[2][..], "ab"));
/// assert_eq!(drift.runs[0].cause.as_str(), "merge");
/// assert!(!drift.equal && drift.ranges[0].equal);
/// # Ok::<(), token2text::Error>(())
/// ```
///
/// # Errors
///
/// Those of [`Tokenizer::encode`], of which `limit_exceeded` is for more than 4 MiB of text without a special token where it
/// could be cut; the same code for more than 4,194,304 ids, more than 64 MiB of text, and ranges that overlap too much;
/// `invalid_options` for a range that is not one of these ids.
pub fn drift(tokenizer: &Tokenizer, ids: &[u32], ranges: &[[usize; 2]]) -> Result<Drift, Error> {
    drift_with_progress(tokenizer, ids, ranges, &mut |_, _| {})
}

/// [`drift`], which tells how many of how many bytes of text are encoded. A long text is encoded in parts of 128 KiB or more,
/// cut at special tokens.
///
/// # Errors
///
/// Those of [`drift`].
pub fn drift_with_progress(
    tokenizer: &Tokenizer,
    ids: &[u32],
    ranges: &[[usize; 2]],
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Drift, Error> {
    if let Some(at) = ranges.iter().position(|&[start, end]| start > end || end > ids.len()) {
        let what = format!("ranges[{at}]: not a range `[start, end)` of the {} ids", ids.len());
        return Err(Error::new(ErrorCode::InvalidOptions, what));
    }
    compare(tokenizer, ids, progress, |found, given, encoded| {
        let listed = found.iter().take(MOST_RUNS);
        let (causes, differing) = counted(found, [0, ids.len()]);
        Ok(Drift {
            equal: found.is_empty(),
            tokens: ids.len(),
            encoded_tokens: encoded.ids.len(),
            differing,
            run_count: found.len(),
            causes,
            runs: listed.map(|&(run, cause)| listed_run(given, encoded, run, cause)).collect(),
            ranges: in_ranges(found, ranges, ids.len())?,
        })
    })?
}

/// Compares ids with those that their text is encoded to: what is told is made of all runs, in order, and of both sides.
fn compare<T>(
    tokenizer: &Tokenizer,
    ids: &[u32],
    progress: &mut dyn FnMut(usize, usize),
    tell: impl FnOnce(&[(Run, DriftCause)], Side<'_>, Side<'_>) -> T,
) -> Result<T, Error> {
    let encoder = tokenizer.encoder()?;
    if ids.len() > MOST_IDS || tokenizer.may_exceed(ids, MOST_BYTES) {
        return Err(limit_exceeded("drift takes at most 4194304 ids and 64 MiB of text at once; go in parts"));
    }
    let pieces = tokenizer.pieces(ids, DecodeOptions::default());
    let given = Side { ids, pieces: &pieces };
    let encoded = encode(encoder, given, progress)?;
    if ids == encoded.ids {
        return Ok(tell(&[], given, given));
    }
    let pieces = tokenizer.pieces(&encoded.ids, DecodeOptions::default());
    let other = Side { ids: &encoded.ids, pieces: &pieces };
    let gaps = Gaps::between(&given.pieces.text, &pieces.text);
    let unknown = encoder.unknown();
    let evidence = Evidence { tokenizer, encoder, given, encoded: other, begins: &encoded.begins, unknown };
    let found: Vec<(Run, DriftCause)> =
        runs(given, other, &gaps).into_iter().map(|run| (run, evidence.cause(run))).collect();
    Ok(tell(&found, given, other))
}

/// Encodes the text of the ids, in parts where it is long.
fn encode(encoder: &Encoder, given: Side<'_>, progress: &mut dyn FnMut(usize, usize)) -> Result<Encoded, Error> {
    let text = given.pieces.text.as_str();
    let mut encoded = Encoded::default();
    let (mut start, mut from) = (0, LEAST_PART);
    for (token, &id) in given.ids.iter().enumerate() {
        let end = given.at(token + 1);
        if end < from {
            continue;
        }
        let Some(added) = encoder.added(id).filter(|added| !added.normalized) else { continue };
        // A decoder may have put a space before it.
        let at = end.saturating_sub(added.content.len());
        if at > start && encoder.is_cut(text, at) {
            encode_part(encoder, text, [start, at], &mut encoded)?;
            progress(at, text.len());
            start = at;
            from = at + LEAST_PART;
        } else {
            from = end + RETRY;
        }
    }
    encode_part(encoder, text, [start, text.len()], &mut encoded)?;
    progress(text.len(), text.len());
    Ok(encoded)
}

fn encode_part(encoder: &Encoder, text: &str, [start, end]: [usize; 2], encoded: &mut Encoded) -> Result<(), Error> {
    if end - start > MOST_TEXT {
        let what = "more than 4 MiB of text without a special token where it could be cut; give the ids in parts";
        return Err(limit_exceeded(what));
    }
    encoder.encode_into(text.get(start..end).unwrap_or_default(), encoded)
}

fn listed_run(given: Side<'_>, encoded: Side<'_>, run: Run, cause: DriftCause) -> DriftRun {
    let (text, other) = (given.text(run.ids), encoded.text(run.encoded));
    DriftRun {
        tokens: run.ids,
        ids: encoded.ids(run.encoded).to_vec(),
        text: text.to_owned(),
        encoded_text: (text != other).then(|| other.to_owned()),
        cause,
    }
}

/// The results for ranges, in order.
fn in_ranges(found: &[(Run, DriftCause)], ranges: &[[usize; 2]], len: usize) -> Result<Vec<RangeDrift>, Error> {
    let mut left = MOST_OVERLAPS;
    let mut results = Vec::with_capacity(ranges.len());
    for &tokens in ranges {
        let first = found.partition_point(|(run, _)| run.ids[1] <= tokens[0] && run.ids[0] < tokens[0]);
        // What is put behind all ids belongs to the ranges that end there.
        let behind = found.partition_point(|(run, _)| run.ids[0] < tokens[1] || (tokens[1] == len && tokens[0] < len));
        let behind = behind.max(first);
        let Some(rest) = left.checked_sub(behind - first) else {
            return Err(limit_exceeded("the ranges overlap too much; ask for fewer at once"));
        };
        left = rest;
        let (causes, differing) = counted(found.get(first..behind).unwrap_or_default(), tokens);
        results.push(RangeDrift { tokens, equal: causes.is_empty(), differing, causes });
    }
    Ok(results)
}

/// Runs by cause, with their ids in a range, and how many ids that are in all.
fn counted(found: &[(Run, DriftCause)], [start, end]: [usize; 2]) -> (Vec<CauseCount>, usize) {
    let mut counts = DriftCause::ALL.map(|cause| CauseCount { cause, runs: 0, tokens: 0 });
    for (run, cause) in found {
        if let Some(count) = counts.iter_mut().find(|count| count.cause == *cause) {
            count.runs += 1;
            count.tokens += run.ids[1].min(end).saturating_sub(run.ids[0].max(start));
        }
    }
    let causes: Vec<_> = counts.into_iter().filter(|count| count.runs > 0).collect();
    let differing = causes.iter().map(|count| count.tokens).sum();
    (causes, differing)
}

fn limit_exceeded(what: &str) -> Error {
    Error::new(ErrorCode::LimitExceeded, what)
}
