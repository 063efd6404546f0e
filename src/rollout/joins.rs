//! How a prompt takes up a turn before it: ids against ids, and text against text where they differ.
//!
//! What is legal is what verl's `verl/utils/tokenizer/continuous_token.py` does at the join of two turns (Qwen and MiniMax:
//! a newline behind the end token; GLM: the last mark taken away), and what chat templates do to the history: they close a
//! message that the model left open, and leave the reasoning of earlier answers out.

use super::chat::{Chat, Mark};
use crate::json::are_same;
use crate::tokenizer::{DecodeOptions, Tokenizer};

/// What joins ask of tokens. Whoever knows nothing of them says so by the answers of the methods as they are.
pub trait Tokens {
    /// The bytes whose lossy UTF-8 reading is the text of ids, as [`Tokenizer::decode_bytes`].
    fn bytes(&self, _ids: &[u32]) -> Option<Vec<u8>> {
        None
    }

    /// What a token is for the chat template, as [`Chat::mark`].
    fn mark(&self, _id: u32) -> Option<Mark> {
        None
    }

    /// The ranges `[start, end)` of the model's reasoning in order, its marks and the white space behind it included, as
    /// [`Chat::reasoning`].
    fn reasoning(&self, _ids: &[u32]) -> Vec<[usize; 2]> {
        Vec::new()
    }
}

/// Nothing is known of tokens: ids are compared, and what is the same text in other ids counts as edited.
impl Tokens for () {}

/// A tokenizer, and a chat template bound to it.
#[derive(Debug, Clone, Copy)]
pub struct Known<'k> {
    /// What makes texts of ids.
    pub tokenizer: &'k Tokenizer,
    /// What knows the marks.
    pub chat: Option<&'k Chat>,
}

impl Tokens for Known<'_> {
    fn bytes(&self, ids: &[u32]) -> Option<Vec<u8>> {
        Some(self.tokenizer.decode_bytes(ids, DecodeOptions::default()))
    }

    fn mark(&self, id: u32) -> Option<Mark> {
        self.chat.and_then(|chat| chat.mark(id))
    }

    fn reasoning(&self, ids: &[u32]) -> Vec<[usize; 2]> {
        self.chat.map(|chat| chat.reasoning(ids, self.tokenizer)).unwrap_or_default()
    }
}

/// How a prompt takes up a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinKind {
    /// It begins with all of the turn's ids.
    Extends,
    /// With all but the last, which is a mark: the model ended its turn by one that the template does not repeat.
    Trimmed,
    /// With all but reasoning, which the template leaves out of the history.
    ThinkingStripped,
    /// Older ids are left out, and then it goes on with all of the turn: the context window was cut.
    TruncatedLeft,
    /// With the same text in other ids. What the model saw is not what it wrote, nor what is trained on.
    Retokenized,
    /// With another text.
    Edited,
    /// It shares only what was before the turn's response: another conversation with the same beginning.
    Branch,
}

impl JoinKind {
    /// The name in JavaScript and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            JoinKind::Extends => "extends",
            JoinKind::Trimmed => "trimmed",
            JoinKind::ThinkingStripped => "thinking_stripped",
            JoinKind::TruncatedLeft => "truncated_left",
            JoinKind::Retokenized => "retokenized",
            JoinKind::Edited => "edited",
            JoinKind::Branch => "branch",
        }
    }

    /// Whether templates and servers do this of themselves.
    pub fn is_legal(self) -> bool {
        !matches!(self, JoinKind::Retokenized | JoinKind::Edited)
    }
}

/// How a prompt takes up a turn. Positions are those of ids in the two calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Join {
    /// The name of it.
    pub kind: JoinKind,
    /// How many ids the two have in common from the first on.
    pub common: usize,
    /// Where in the prompt that ends which is the turn's. What follows is new: `inserted`, then the next messages.
    pub continued: usize,
    /// What the template put between the turn and the next message, a range `[start, end)` of the prompt: an end token where
    /// the model stopped without, white space before the next mark.
    pub inserted: [usize; 2],
    /// What of the turn is not in the prompt, ranges `[start, end)` of the turn's ids; of legal joins alone.
    pub removed: Vec<[usize; 2]>,
    /// Where the two begin to differ, unless the prompt extends the turn.
    pub divergence: Option<Divergence>,
}

/// Where a prompt begins to differ from the turn that it takes up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Divergence {
    /// Position of the first difference, in either list.
    pub at: usize,
    /// The turn's ids from there on: those that have other ids in the prompt if the text is the same, or up to sixteen.
    pub turn: Vec<u32>,
    /// The prompt's ids from there on, likewise.
    pub prompt: Vec<u32>,
}

/// How many ids of each side are shown.
const WINDOW: usize = 16;
/// How many ids before a difference are decoded with it: what a decoder does to the beginning of a text must not count.
const CONTEXT: usize = 4;
/// The window was cut where at least so many ids are left.
const LEAST_LEFT: usize = 8;
/// A turn is known again by so many ids at its end: more than a header and a short answer or call of a tool, which many turns
/// have.
const KNOWN_BY: usize = 32;
/// The most ids that a template puts between two messages.
const MOST_INSERTED: usize = 8;

/// A list of ids with the ranges of reasoning in it.
#[derive(Clone, Copy)]
pub(super) struct Side<'s> {
    pub ids: &'s [u32],
    pub reasoning: &'s [[usize; 2]],
}

/// The length of the common prefix.
pub(super) fn common(a: &[u32], b: &[u32]) -> usize {
    // Only the block that differs is looked into.
    const BLOCK: usize = 256;
    let whole = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)).take_while(|(a, b)| are_same(a, b)).count() * BLOCK;
    let rest = a.iter().skip(whole).zip(b.iter().skip(whole));
    whole + rest.take_while(|(a, b)| a == b).count()
}

/// A prompt that begins with all of a turn.
pub(super) fn extends(turn: usize, prompt: &[u32], tokens: &dyn Tokens) -> Join {
    let inserted = inserted(prompt, turn, tokens);
    Join { kind: JoinKind::Extends, common: turn, continued: turn, inserted, removed: Vec::new(), divergence: None }
}

/// A prompt that does not begin with all of a turn but takes it up as templates do, from the first difference on.
pub(super) fn legal(turn: Side<'_>, prompt: Side<'_>, common: usize, tokens: &dyn Tokens) -> Option<Join> {
    let Walk { end, continued, mut removed, is_stripped } = walk(turn, prompt, common, tokens);
    let kind = if is_stripped { JoinKind::ThinkingStripped } else { JoinKind::Trimmed };
    match turn.ids.get(end..).unwrap_or_default() {
        [] if is_stripped => {}
        rest @ [_] if ends_in_mark(rest, tokens) => removed.push([end, end + 1]),
        _ => return None,
    }
    let inserted = inserted(prompt.ids, continued, tokens);
    let divergence = Some(divergence(turn.ids, prompt.ids, common));
    Some(Join { kind, common, continued, inserted, removed, divergence })
}

/// How far a walk along two lists came.
struct Walk {
    /// In the turn.
    end: usize,
    /// In the prompt.
    continued: usize,
    /// What of the turn it left out.
    removed: Vec<[usize; 2]>,
    /// Whether reasoning was left out, or the marks of an empty one put in, as Qwen3's template does.
    is_stripped: bool,
}

/// Walks along both lists while they say the same, over reasoning that one of them has not.
fn walk(turn: Side<'_>, prompt: Side<'_>, common: usize, tokens: &dyn Tokens) -> Walk {
    let block_at = |side: Side<'_>, at: usize| {
        let found = side.reasoning.binary_search_by_key(&at, |&[start, _]| start).ok();
        found
            .and_then(|found| side.reasoning.get(found))
            .map(|&[_, end]| end.min(side.ids.len()))
            .filter(|&end| end > at)
    };
    // The two may begin to differ inside a block.
    let around = turn.reasoning.iter().find(|&&[start, end]| start <= common && common < end);
    let mut at = around.map_or(common, |&[start, _]| start);
    let (mut other, mut removed, mut is_stripped) = (at, Vec::new(), false);
    loop {
        if let Some(end) = block_at(turn, at) {
            let block = &turn.ids[at..end];
            let rest = prompt.ids.get(other..).unwrap_or_default();
            if rest.starts_with(block) {
                (at, other) = (end, other + block.len());
                continue;
            }
            let hollow = hollow(prompt.ids, other, tokens);
            if hollow > other || block_at(prompt, other).is_none() {
                removed.push([at, end]);
                (at, other, is_stripped) = (end, hollow, true);
                continue;
            }
            break;
        }
        match (turn.ids.get(at), prompt.ids.get(other)) {
            (Some(id), Some(same)) if id == same => (at, other) = (at + 1, other + 1),
            (Some(_), Some(_)) if hollow(prompt.ids, other, tokens) > other => {
                (other, is_stripped) = (hollow(prompt.ids, other, tokens), true);
            }
            _ => break,
        }
    }
    Walk { end: at, continued: other, removed, is_stripped }
}

/// The end of reasoning marks at a position with only white space between: what templates leave of a block, or put in where
/// there was none.
fn hollow(ids: &[u32], start: usize, tokens: &dyn Tokens) -> usize {
    let is_mark = |at: usize| ids.get(at).is_some_and(|&id| tokens.mark(id) == Some(Mark::Reasoning));
    let mut end = start;
    while is_mark(end) || end > start && ids.get(end).is_some_and(|&id| is_space(id, tokens)) {
        end += 1;
    }
    end
}

fn is_space(id: u32, tokens: &dyn Tokens) -> bool {
    let bytes = tokens.bytes(&[id]);
    bytes.is_some_and(|bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_whitespace))
}

/// What a template put at a position, before the next message.
fn inserted(prompt: &[u32], start: usize, tokens: &dyn Tokens) -> [usize; 2] {
    let mark = |at: usize| prompt.get(at).and_then(|&id| tokens.mark(id));
    let most = start + MOST_INSERTED;
    let mut closed = start;
    while closed < most && mark(closed) == Some(Mark::Close) {
        closed += 1;
    }
    let mut end = closed;
    while end < most && mark(end).is_none() && prompt.get(end).is_some_and(|&id| is_space(id, tokens)) {
        end += 1;
    }
    let is_next = end >= prompt.len() || matches!(mark(end), Some(Mark::Open | Mark::Begin | Mark::Tool));
    [start, if is_next || closed > start && end > closed { end } else { closed }]
}

/// The two sides of a difference.
pub(super) fn divergence(turn: &[u32], prompt: &[u32], at: usize) -> Divergence {
    let window = |ids: &[u32]| ids.iter().skip(at).take(WINDOW).copied().collect();
    Divergence { at, turn: window(turn), prompt: window(prompt) }
}

/// A prompt that takes up a turn in a way that is not legal, if it does at all. `response` is where the turn's response
/// begins.
pub(super) fn broken(
    turn: Side<'_>,
    response: usize,
    prompt: Side<'_>,
    common: usize,
    tokens: &dyn Tokens,
) -> Option<Join> {
    if common >= prompt.ids.len() {
        return None;
    }
    if let Some(join) = retokenized(turn.ids, prompt.ids, common, tokens) {
        return Some(join);
    }
    // The beginning of the response is there, or what the turn ends with.
    let end = turn.ids.len() - usize::from(ends_in_mark(turn.ids, tokens));
    let core = turn.ids.get(common + 1..end).unwrap_or_default();
    let needle = core.get(core.len().saturating_sub(KNOWN_BY)..).unwrap_or_default();
    let rest = prompt.ids.get(common..).unwrap_or_default();
    let is_known = needle.len() >= CONTEXT && common + needle.len() >= KNOWN_BY;
    let is_there = common > response || is_known && find(rest, needle).is_some();
    let divergence = Some(divergence(turn.ids, prompt.ids, common));
    let inserted = [common, common];
    is_there.then_some(Join {
        kind: JoinKind::Edited,
        common,
        continued: common,
        inserted,
        removed: Vec::new(),
        divergence,
    })
}

/// Whether the last id is a mark that may end a turn.
pub(super) fn ends_in_mark(ids: &[u32], tokens: &dyn Tokens) -> bool {
    ids.last().and_then(|&id| tokens.mark(id)).is_some_and(|mark| mark != Mark::Reasoning)
}

/// Where a run of ids stands in a list.
pub(super) fn find(ids: &[u32], run: &[u32]) -> Option<usize> {
    let first = run.first()?;
    let starts = ids.iter().enumerate().filter(|&(_, id)| id == first);
    starts.map(|(at, _)| at).find(|&at| ids[at..].starts_with(run))
}

/// A prompt that leaves out older ids and then goes on with all that is left of a turn, its response at least.
pub(super) fn truncated(turn: &[u32], response: usize, prompt: &[u32], common: usize) -> Option<Join> {
    let (old, new) = (turn.get(common..)?, prompt.get(common..)?);
    let kept = overlap(old, new);
    let is_cut = kept >= LEAST_LEFT && kept >= turn.len() - response.min(turn.len()) && kept < old.len();
    is_cut.then(|| Join {
        kind: JoinKind::TruncatedLeft,
        common,
        continued: common + kept,
        inserted: [common + kept, common + kept],
        removed: vec![[common, turn.len() - kept]],
        divergence: Some(divergence(turn, prompt, common)),
    })
}

/// The length of the longest end of one list that the other begins with, in linear time (Knuth, Morris and Pratt).
fn overlap(old: &[u32], new: &[u32]) -> usize {
    let new = &new[..new.len().min(old.len())];
    let mut borders = vec![0; new.len() + 1];
    let step = |borders: &[usize], mut len: usize, id: u32| {
        while len > 0 && new.get(len) != Some(&id) {
            len = borders[len];
        }
        if new.get(len) == Some(&id) { len + 1 } else { 0 }
    };
    for len in 1..new.len() {
        borders[len + 1] = step(&borders, borders[len], new[len]);
    }
    old.iter().fold(0, |len, &id| step(&borders, len, id))
}

/// A prompt that has the turn's text in other ids.
fn retokenized(turn: &[u32], prompt: &[u32], common: usize, tokens: &dyn Tokens) -> Option<Join> {
    let start = common.saturating_sub(CONTEXT);
    let text = |ids: &[u32], end: usize| tokens.bytes(ids.get(start..end.min(ids.len())).unwrap_or_default());
    // Most prompts that say something else do so soon.
    let near = common + WINDOW;
    let (near_turn, near_prompt) = (text(turn, near)?, text(prompt, near)?);
    // The last character of either may not be whole.
    let sure = near_turn.len().min(near_prompt.len()).saturating_sub(CONTEXT);
    if near_turn[..sure] != near_prompt[..sure] {
        return None;
    }
    let whole = text(prompt, prompt.len())?;
    let end = [turn.len(), turn.len() - usize::from(ends_in_mark(turn, tokens))]
        .into_iter()
        .find(|&end| end > common && text(turn, end).is_some_and(|said| whole.starts_with(&said)))?;
    // Decoding more ids never gives less text.
    let len = text(turn, end)?.len();
    let (mut low, mut high) = (common, prompt.len());
    while low < high {
        let middle = low + (high - low) / 2;
        match text(prompt, middle).is_some_and(|said| said.len() >= len) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    let divergence = Divergence { at: common, ..run(turn, prompt, common, &text) };
    let inserted = inserted(prompt, low, tokens);
    let kind = JoinKind::Retokenized;
    Some(Join { kind, common, continued: low, inserted, removed: Vec::new(), divergence: Some(divergence) })
}

/// The first run in which the ids differ, up to where both lists go on alike.
fn run<T: PartialEq>(turn: &[u32], prompt: &[u32], at: usize, text: &dyn Fn(&[u32], usize) -> T) -> Divergence {
    let ends = |ids: &[u32]| at..=ids.len().min(at + WINDOW);
    for end in ends(turn) {
        for other in ends(prompt) {
            let (rest, others) = (&turn[end..], &prompt[other..]);
            let len = rest.len().min(others.len()).min(CONTEXT);
            if end + other > 2 * at && rest[..len] == others[..len] && text(turn, end) == text(prompt, other) {
                return Divergence { at, turn: turn[at..end].to_vec(), prompt: prompt[at..other].to_vec() };
            }
        }
    }
    divergence(turn, prompt, at)
}
