//! Which turn a prompt takes up.

use std::cell::OnceCell;

use super::calls::Call;
use super::chat::Mark;
use super::joins::{Join, JoinKind, Side, Tokens, broken, common, divergence, extends, legal, truncated};
use super::prefixes::Prefixes;
use crate::json::are_same;

/// How many turns without a follower, newest first, a prompt is compared with that extends none.
const MOST_LEAVES: usize = 32;

/// The turns that came before, as a tree.
pub(super) struct Turns<'t> {
    calls: &'t [Call],
    tokens: &'t dyn Tokens,
    turns: Vec<Turn>,
    prefixes: Prefixes,
    /// Those that no turn takes up yet, in order.
    leaves: Vec<usize>,
}

struct Turn {
    call: usize,
    parent: Option<usize>,
    reasoning: OnceCell<Vec<[usize; 2]>>,
}

/// The turn that is taken up, and how.
pub(super) type Parent = Option<(usize, Join)>;

impl<'t> Turns<'t> {
    pub(super) fn new(calls: &'t [Call], tokens: &'t dyn Tokens) -> Turns<'t> {
        Turns { calls, tokens, turns: Vec::new(), prefixes: Prefixes::default(), leaves: Vec::new() }
    }

    /// Takes in the next turn; the turn that it takes up is told by its number among them.
    pub(super) fn add(&mut self, call: usize) -> Parent {
        let new = self.turns.len();
        self.turns.push(Turn { call, parent: None, reasoning: OnceCell::new() });
        let prompt = self.call(new).prompt_ids();
        let mut extended = None;
        let hash = self.prefixes.tell(prompt, &mut |turns| {
            let is_one = |&turn: &usize| {
                let ids = &self.call(turn).ids;
                !ids.is_empty() && prompt.get(..ids.len()).is_some_and(|begin| are_same(begin, ids))
            };
            extended = turns.iter().copied().rfind(is_one).or(extended);
        });
        let parent = if prompt.is_empty() { None } else { self.parent(new, prompt, extended) };
        let taken_up = parent.as_ref().filter(|(_, join)| join.kind != JoinKind::Branch).map(|&(turn, _)| turn);
        self.turns[new].parent = taken_up;
        self.leaves.retain(|&leaf| Some(leaf) != taken_up);
        self.leaves.push(new);
        let call = &self.calls[call];
        self.prefixes.insert(call.ids.len(), hash.then(call.response_ids()), new);
        parent
    }

    fn call(&self, turn: usize) -> &'t Call {
        &self.calls[self.turns[turn].call]
    }

    /// All ids of a turn.
    fn whole(&self, turn: usize) -> Side<'_> {
        let call = self.call(turn);
        let reasoning = self.turns[turn].reasoning.get_or_init(|| self.tokens.reasoning(&call.ids));
        Side { ids: &call.ids, reasoning }
    }

    /// The turn that a prompt takes up, if `extended` is the last of those that it begins with.
    fn parent(&self, new: usize, prompt: &[u32], extended: Option<usize>) -> Parent {
        let extending = |turn: usize| Some((turn, extends(self.call(turn).ids.len(), prompt, self.tokens)));
        let last = new.checked_sub(1);
        if last.is_none() || extended == last {
            return extended.and_then(extending);
        }
        self.of_leaves(new, prompt, extended).or(extended.and_then(extending)).or_else(|| self.branch(new, prompt))
    }

    /// Where in the leaves, newest first, and the turn before, the prompt goes on better than in the turn that it extends.
    fn of_leaves(&self, new: usize, prompt: &[u32], extended: Option<usize>) -> Parent {
        let len = |turn: usize| self.call(turn).ids.len();
        let mut best: Parent = None;
        let mut bad: Parent = None;
        for &leaf in self.leaves.iter().rev().take(MOST_LEAVES) {
            let turn = self.call(leaf);
            let common = common(&turn.ids, prompt);
            let is_longer = |than: Option<usize>| than.is_none_or(|than| len(leaf) > len(than));
            if common == 0 && leaf + 1 != new || common == turn.ids.len() || !is_longer(extended) {
                continue;
            }
            let side = Side { ids: prompt, reasoning: self.whole(new).reasoning };
            if let Some(join) = legal(self.whole(leaf), side, common, self.tokens) {
                if is_longer(best.as_ref().map(|&(turn, _)| turn)) {
                    best = Some((leaf, join));
                }
                continue;
            }
            // Of those that it takes up badly, the one with which it has the most in common.
            let is_better = bad.as_ref().is_none_or(|(_, join)| join.common < common);
            if is_better && best.is_none() {
                let join = match broken(self.whole(leaf), turn.prompt, side, common, self.tokens) {
                    Some(join) if join.kind == JoinKind::Retokenized => Some(join),
                    // Only of the turn before: a window that was cut is otherwise hard to tell from chance.
                    join if leaf + 1 == new => truncated(&turn.ids, turn.prompt, prompt, common).or(join),
                    join => join,
                };
                bad = join.map(|join| (leaf, join)).or(bad);
            }
        }
        // A prompt that extends an older turn and takes up badly what came of it goes on with that.
        let comes_of = |leaf: usize| extended.is_none_or(|old| self.comes_of(leaf, old));
        best.or(bad.filter(|&(leaf, _)| comes_of(leaf)))
    }

    /// Whether a turn is in the line that a turn began.
    fn comes_of(&self, turn: usize, old: usize) -> bool {
        let mut at = Some(turn);
        while let Some(turn) = at.filter(|&turn| turn >= old) {
            if turn == old {
                return true;
            }
            at = self.turns[turn].parent;
        }
        false
    }

    /// The turn with whose prompt another conversation begins.
    fn branch(&self, new: usize, prompt: &[u32]) -> Parent {
        let mut best: Parent = None;
        for &leaf in self.leaves.iter().rev().take(MOST_LEAVES).filter(|&&leaf| leaf != new) {
            // The first turn of its line that has so much of it.
            let mut turn = leaf;
            let common = common(&self.call(leaf).ids, prompt);
            while let Some(parent) = self.turns[turn].parent.filter(|&parent| self.call(parent).prompt >= common) {
                turn = parent;
            }
            let shared = self::common(&self.call(turn).ids, prompt);
            if shared > best.as_ref().map_or(0, |(_, join)| join.common) && self.is_boundary(turn, prompt, shared) {
                let divergence = Some(divergence(&self.call(turn).ids, prompt, shared));
                let (kind, inserted, removed) = (JoinKind::Branch, [shared, shared], Vec::new());
                best = Some((turn, Join { kind, common: shared, continued: shared, inserted, removed, divergence }));
            }
        }
        best
    }

    /// Whether what a prompt shares with a turn is a beginning that conversations share: all of a prompt, or a message of it.
    fn is_boundary(&self, turn: usize, prompt: &[u32], shared: usize) -> bool {
        let is_whole = shared == prompt.len() || shared == self.call(turn).prompt;
        let is_mark = |id: &u32| self.tokens.mark(*id) == Some(Mark::Open);
        is_whole || prompt[..shared].iter().filter(|id| is_mark(id)).count() > 1
    }
}
