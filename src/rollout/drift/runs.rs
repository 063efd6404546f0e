//! Two lists of ids side by side: the runs in which they differ.

use super::gaps::Gaps;
use crate::tokenizer::Pieces;

/// Ids, and the text that each of them gave.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub ids: &'a [u32],
    pub pieces: &'a Pieces,
}

/// Tokens of both lists that stand for each other, `[start, end)`. One of them may be empty.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub ids: [usize; 2],
    pub encoded: [usize; 2],
}

impl<'a> Side<'a> {
    /// Where the text of a token begins, and where the whole ends.
    pub fn at(self, token: usize) -> usize {
        token.checked_sub(1).and_then(|before| self.pieces.ends.get(before)).copied().unwrap_or_default()
    }

    /// The text of some tokens.
    pub fn text(self, [start, end]: [usize; 2]) -> &'a str {
        self.pieces.text.get(self.at(start)..self.at(end)).unwrap_or_default()
    }

    pub fn ids(self, [start, end]: [usize; 2]) -> &'a [u32] {
        self.ids.get(start..end).unwrap_or_default()
    }

    pub fn has(self, token: usize, flags: u8) -> bool {
        self.pieces.flags.get(token).is_some_and(|of_token| of_token & flags != 0)
    }

    fn len(self) -> usize {
        self.ids.len()
    }

    fn is_unknown(self, token: usize) -> bool {
        self.has(token, Pieces::UNKNOWN)
    }

    /// Whether the token's text cannot be told from that of the one before.
    fn is_joined(self, token: usize) -> bool {
        self.has(token, Pieces::CONTINUES | Pieces::UNATTRIBUTED)
    }

    /// The end of the token and of those that share a character with it.
    fn next(self, token: usize) -> usize {
        let mut end = self.len().min(token + 1);
        if self.is_unknown(token) {
            return end;
        }
        loop {
            // Ids without a token may stand inside a character.
            let mut joined = end;
            while self.is_unknown(joined) {
                joined += 1;
            }
            if !self.is_joined(joined) {
                return end;
            }
            end = joined + 1;
        }
    }
}

/// The runs in which two lists differ, in order: outside them the ids are equal. Where the texts are the same, each run is as
/// short as it can be, and ends at the first place where tokens of both lists end.
pub(super) fn runs(left: Side<'_>, right: Side<'_>, gaps: &Gaps) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        let (next, other) = (left.next(i), right.next(j));
        let same = left.ids([i, next]) == right.ids([j, other]);
        if same && gaps.image(right.at(other)).is(left.at(next)) {
            (i, j) = (next, other);
            continue;
        }
        let (next, other) = run_end(left, right, gaps, i, j);
        let run = trimmed(left, right, Run { ids: [i, next], encoded: [j, other] });
        (i, j) = (next, other);
        match runs.last_mut() {
            _ if left.ids(run.ids) == right.ids(run.encoded) => {}
            // Ids without a token, one behind the other.
            Some(last) if last.ids[1] == run.ids[0] && is_dropped(left, *last) && is_dropped(left, run) => {
                last.ids[1] = run.ids[1];
            }
            _ => runs.push(run),
        }
    }
    runs
}

/// Whether a run is of ids without a token only.
fn is_dropped(left: Side<'_>, Run { ids: [start, end], encoded }: Run) -> bool {
    encoded[0] == encoded[1] && (start..end).all(|token| left.is_unknown(token))
}

/// Where the run that begins at two tokens ends.
fn run_end(left: Side<'_>, right: Side<'_>, gaps: &Gaps, i: usize, j: usize) -> (usize, usize) {
    let (mut next, mut other) = (i, j);
    loop {
        let is_level = gaps.image(right.at(other)).is(left.at(next));
        // Tokens without a text of their own belong to what follows.
        let is_hollow = left.at(next) == left.at(i)
            && right.at(other) == right.at(j)
            && !is_dropped(left, Run { ids: [i, next], encoded: [j, other] });
        let is_open = next < left.len() || other < right.len();
        if (is_level && !is_hollow && (next, other) != (i, j)) || !is_open {
            return (next, other);
        }
        // Who is behind goes on; if nobody is, who ends first.
        let [of_left, of_right] = match is_level {
            true => [left.at(left.next(next)), gaps.image(right.at(right.next(other))).to],
            false => [left.at(next), gaps.image(right.at(other)).to],
        };
        let is_left = if is_level { of_left <= of_right } else { of_left < of_right };
        if other == right.len() || (is_left && next < left.len()) {
            next = left.next(next);
        } else {
            other = right.next(other);
        }
    }
}

/// Where the texts differ, a run may begin and end with the same tokens: they are left out.
fn trimmed(left: Side<'_>, right: Side<'_>, run: Run) -> Run {
    let Run { ids: [mut i, mut next], encoded: [mut j, mut other] } = run;
    if left.text(run.ids) == right.text(run.encoded) {
        return run;
    }
    let is_same = |i: usize, j: usize| left.ids.get(i) == right.ids.get(j);
    while i < next && j < other && is_same(i, j) && !left.is_joined(i + 1) && !right.is_joined(j + 1) {
        (i, j) = (i + 1, j + 1);
    }
    while i < next && j < other && is_same(next - 1, other - 1) {
        if left.is_joined(next - 1) || right.is_joined(other - 1) {
            break;
        }
        (next, other) = (next - 1, other - 1);
    }
    Run { ids: [i, next], encoded: [j, other] }
}
