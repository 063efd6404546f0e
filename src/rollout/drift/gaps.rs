//! Where two texts differ, so that a place in one is found in the other.

/// How many bytes must be equal again behind a difference, unless the texts end.
const AGAIN: usize = 4;
/// The most bytes of a difference, on both sides together, before what is left counts as different.
const WIDEST: usize = 512;
/// So many pairs of places are looked at in all.
const MOST_LOOKS: usize = 1 << 26;

/// Bytes of the first text that stand where the second has others. One of the two may be empty.
#[derive(Debug, PartialEq, Eq)]
struct Gap {
    left: [usize; 2],
    right: [usize; 2],
}

/// Two texts, side by side.
#[derive(Debug)]
pub(super) struct Gaps(Vec<Gap>);

/// The places of the first text that a place of the second one stands for: usually one, two where something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Image {
    pub from: usize,
    pub to: usize,
    /// False inside a difference, where no place stands for another.
    pub is_exact: bool,
}

impl Gaps {
    /// The differences, each as short as the texts are found to be equal again close to it.
    pub fn between(left: &str, right: &str) -> Gaps {
        let mut gaps = Vec::new();
        if left == right {
            return Gaps(gaps);
        }
        let (mut i, mut j, mut looks) = (0, 0, MOST_LOOKS);
        let behind = common_end(left, right);
        let ends = [left.len() - behind, right.len() - behind];
        loop {
            let rest = (left.get(i..ends[0]).unwrap_or_default(), right.get(j..ends[1]).unwrap_or_default());
            let same = common_start(rest.0, rest.1);
            (i, j) = (i + same, j + same);
            if [i, j] == ends {
                return Gaps(gaps);
            }
            let rest = (rest.0.get(same..).unwrap_or_default(), rest.1.get(same..).unwrap_or_default());
            let (x, y) = again(rest.0, rest.1, &mut looks);
            gaps.push(Gap { left: [i, i + x], right: [j, j + y] });
            (i, j) = (i + x, j + y);
        }
    }

    /// What a place in the second text is in the first.
    pub fn image(&self, at: usize) -> Image {
        let next = self.0.partition_point(|gap| gap.right[1] < at);
        if let Some(Gap { left, right }) = self.0.get(next).filter(|gap| gap.right[0] <= at) {
            let [from, to] = *left;
            return match (at == right[0], at == right[1]) {
                (true, false) => Image { from, to: from, is_exact: true },
                (false, true) => Image { from: to, to, is_exact: true },
                (is_exact, _) => Image { from, to, is_exact },
            };
        }
        let before = next.checked_sub(1).and_then(|before| self.0.get(before));
        let here = before.map_or(at, |gap| gap.left[1] + (at - gap.right[1]));
        Image { from: here, to: here, is_exact: true }
    }
}

impl Image {
    /// Whether a place in the first text is that in the second.
    pub fn is(self, at: usize) -> bool {
        self.is_exact && (at == self.from || at == self.to)
    }
}

/// How many bytes two texts have in common at the start, as whole characters.
fn common_start(left: &str, right: &str) -> usize {
    let mut same = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    while !left.is_char_boundary(same) || !right.is_char_boundary(same) {
        same -= 1;
    }
    same
}

/// The same at the end.
fn common_end(left: &str, right: &str) -> usize {
    let start = common_start(left, right);
    let pairs = left.bytes().skip(start).rev().zip(right.bytes().skip(start).rev());
    let mut same = pairs.take_while(|(left, right)| left == right).count();
    while !left.is_char_boundary(left.len() - same) {
        same -= 1;
    }
    same
}

/// How much of two texts that begin differently is passed until they are equal again; all if that is not close.
fn again(left: &str, right: &str, looks: &mut usize) -> (usize, usize) {
    for both in 1..=WIDEST.min(left.len() + right.len()) {
        for x in both.saturating_sub(right.len())..=both.min(left.len()) {
            let y = both - x;
            let Some(rest) = looks.checked_sub(1) else { return (left.len(), right.len()) };
            *looks = rest;
            let (behind_left, behind_right) = (left.as_bytes().get(x..), right.as_bytes().get(y..));
            if let (Some(behind_left), Some(behind_right)) = (behind_left, behind_right)
                && left.is_char_boundary(x)
                && let Some(same) = behind_left.get(..AGAIN)
                && behind_right.starts_with(same)
            {
                return (x, y);
            }
        }
    }
    (left.len(), right.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(left: &str, right: &str) -> Vec<([usize; 2], [usize; 2])> {
        Gaps::between(left, right).0.iter().map(|gap| (gap.left, gap.right)).collect()
    }

    #[test]
    fn differences_are_short() {
        assert_eq!(gaps("", ""), []);
        assert_eq!(gaps("same", "same"), []);
        assert_eq!(gaps("<s>Hello", "<s> Hello"), [([3, 3], [3, 4])]);
        assert_eq!(gaps("a  b and c", "a b and c"), [([2, 3], [2, 2])]);
        assert_eq!(
            gaps("one e\u{301} two A three", "one \u{e9} two a three"),
            [([4, 7], [4, 6]), ([12, 13], [11, 12])]
        );
        // Characters are never cut: both begin with the same byte.
        assert_eq!(gaps("\u{e9}", "\u{e8}"), [([0, 2], [0, 2])]);
        assert_eq!(gaps("x\u{e9}\u{4e00}", "x\u{e9}\u{4e01}"), [([3, 6], [3, 6])]);
        assert_eq!(gaps("aa", "a"), [([1, 2], [1, 1])]);
        assert_eq!(gaps("", "abc"), [([0, 0], [0, 3])]);
    }

    #[test]
    fn places_are_found() {
        let gaps = Gaps::between("one  two A three", "one two BBB three");
        let image = |at| {
            let Image { from, to, is_exact } = gaps.image(at);
            (from, to, is_exact)
        };
        assert_eq!(image(2), (2, 2, true));
        // A space was left out, so that two places are one.
        assert_eq!(image(4), (4, 5, true));
        assert_eq!(image(5), (6, 6, true));
        assert_eq!([image(8), image(9), image(11)], [(9, 9, true), (9, 10, false), (10, 10, true)]);
        assert_eq!(image(17), (16, 16, true));
    }

    #[test]
    fn texts_without_anything_in_common_end() {
        let (left, right) = ("ab".repeat(20_000), "cd".repeat(30_000));
        assert_eq!(gaps(&left, &right), [([0, 40_000], [0, 60_000])]);
    }
}
