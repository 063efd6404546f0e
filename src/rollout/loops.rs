//! Text that repeats itself: what a policy that collapses writes.

use std::collections::HashMap;

/// So many ids in a row are looked for further back.
const GRAM: usize = 8;

/// A loop has at least so many tokens behind its first round: shorter ones are rulers, tables and lists of zeros.
const LEAST_TOKENS: usize = 64;

/// And at least so many rounds behind the first.
const LEAST_ROUNDS: usize = 3;

/// A stretch of ids that repeats itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loop {
    /// Where it stands, `[start, end)`, with its first round.
    pub tokens: [usize; 2],
    /// Tokens of a round.
    pub period: usize,
}

/// Finds stretches in which each id is the one a fixed distance before it, for four rounds and 64 tokens or more.
///
/// ```
/// let ids: Vec<u32> = (0..50).chain((0..200).map(|at| 100 + at % 20)).collect();
/// let found = token2text::rollout::loops(&ids);
/// assert_eq!((found[0].tokens, found[0].period), ([50, 250], 20));
/// ```
pub fn loops(ids: &[u32]) -> Vec<Loop> {
    let mut found = Vec::new();
    let mut seen: HashMap<&[u32], usize> = HashMap::new();
    // The distance at which the last grams were seen before, and where the first of them stands.
    let (mut period, mut start) = (0, 0);
    for (at, gram) in ids.windows(GRAM).enumerate() {
        let before = seen.insert(gram, at).map_or(0, |before| at - before);
        if before != period {
            found.extend(closed(period, start, at));
            (period, start) = (before, at);
        }
    }
    found.extend(closed(period, start, (ids.len() + 1).saturating_sub(GRAM)));
    found
}

/// The loop whose grams from `start` to `end` were all seen a period before, if it is long enough.
fn closed(period: usize, start: usize, end: usize) -> Option<Loop> {
    // The last gram reaches further.
    let repeated = end - start + GRAM - 1;
    let is_loop = period > 0 && repeated >= LEAST_TOKENS && repeated / period >= LEAST_ROUNDS;
    is_loop.then(|| Loop { tokens: [start - period, end + GRAM - 1], period })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(ids: &[u32]) -> Vec<([usize; 2], usize)> {
        loops(ids).iter().map(|found| (found.tokens, found.period)).collect()
    }

    #[test]
    fn loops_of_any_period_are_found() {
        for period in [1, 2, 7, 8, 9, 40, 300] {
            let rounds = (LEAST_ROUNDS + 1).max(LEAST_TOKENS.div_ceil(period) + 1);
            let looped = (0..period * rounds).map(|at| 1000 + (at % period) as u32);
            let ids: Vec<u32> = (0..30).chain(looped).chain(40..70).collect();
            assert_eq!(told(&ids), [([30, 30 + period * rounds], period)], "period {period}");
        }
    }

    #[test]
    fn what_is_short_is_no_loop() {
        let ids: Vec<u32> = (0..64).map(|at| at % 8).collect();
        assert_eq!(told(&ids), []);
        let ids: Vec<u32> = (0..900).map(|at| at % 300).collect();
        assert_eq!(told(&ids), []);
        assert_eq!(told(&[]), []);
        assert_eq!(told(&[5; 7]), []);
    }
}
