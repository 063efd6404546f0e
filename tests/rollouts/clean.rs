//! Nothing is found where nothing is wrong.

use token2text::rollout::{CheckOptions, Checked, JoinKind, Role, Rollouts, SegmentKind};

use crate::made::{Made, Numbers, Plan, lines, make};
use crate::support::{checked, covers_everything};
use crate::templates::TEMPLATES;

const ROLLOUTS: usize = 200;

/// What is read of a clean rollout.
fn read(made: &Made, in_tree: bool, is_reversed: bool) -> (Rollouts, Checked) {
    let mut records = made.records(in_tree);
    if is_reversed {
        records.reverse();
    }
    let (rollouts, mut checked) = checked(&lines(&records), &made.template.set(), &CheckOptions::default());
    covers_everything(&rollouts, &checked);
    assert_eq!(checked.len(), 1);
    (rollouts, checked.remove(0))
}

/// The joins of the turns, each of which takes up the one before.
fn joins(rollouts: &Rollouts) -> Vec<JoinKind> {
    let nodes = &rollouts.list[0].nodes;
    let turns: Vec<usize> = (0..nodes.len()).filter(|&at| nodes[at].role == Role::Turn).collect();
    for pair in turns.windows(2) {
        assert_eq!(nodes[pair[1]].parent, Some(pair[0]));
    }
    turns.iter().filter_map(|&at| nodes[at].join.as_ref()).map(|join| join.kind).collect()
}

/// What the joins must be.
fn wanted(made: &Made, strips: bool) -> Vec<JoinKind> {
    let of_pair = |pair: &[crate::made::Turn]| match pair[1].prompt.starts_with(&pair[0].ids()) {
        true => JoinKind::Extends,
        false if strips && pair[0].has_thought(made.template) => JoinKind::ThinkingStripped,
        false => JoinKind::Trimmed,
    };
    made.turns.windows(2).map(of_pair).collect()
}

#[test]
fn clean_rollouts_have_nothing_to_find() {
    for template in &TEMPLATES {
        let mut numbers = Numbers(7);
        let mut seen = [0; 3];
        for number in 0..ROLLOUTS {
            let strips = template.thought.is_some() && number % 5 == 4;
            let plan = Plan { turns: 1 + number % 5, words: 1 + number % 17, strips, cut: number % 30 };
            let made = make(template, plan, &mut numbers);
            let at = format!("{} {number}", template.name);
            let (rollouts, checked) = read(&made, number % 2 == 0, number % 4 > 1);
            // A turn that was cut has no end, and one whose thoughts the template leaves out is told, which are notes.
            let mut notes = vec!["truncated"];
            notes.extend(strips.then_some("thinking_stripped"));
            let found: Vec<_> = checked.findings.iter().filter(|found| !notes.contains(&found.code)).collect();
            assert!(found.is_empty(), "{at}: {found:?}");
            let joins = joins(&rollouts);
            assert_eq!(joins, wanted(&made, strips), "{at}");
            for (count, kind) in seen.iter_mut().zip([JoinKind::Extends, JoinKind::Trimmed, JoinKind::ThinkingStripped])
            {
                *count += joins.iter().filter(|&&known| known == kind).count();
            }
            let nodes = &rollouts.list[0].nodes;
            assert!(nodes.iter().all(|node| node.disagreements.is_empty()), "{at}");
            let has = |role: Role| nodes.iter().filter(|node| node.role == role).count();
            assert_eq!((has(Role::Trajectory), has(Role::Copy)), (usize::from(!strips), plan.turns), "{at}");
            assert_eq!(checked.totals.turns, plan.turns, "{at}");
            let written: usize = made.turns.iter().map(|turn| turn.response.len()).sum();
            assert_eq!(checked.totals.tokens[SegmentKind::Model as usize], written, "{at}");
            if !strips {
                let taken = joins.iter().filter(|&&kind| kind == JoinKind::Trimmed).count();
                let all: usize = checked.totals.tokens.iter().sum();
                assert_eq!(all, made.turns.last().unwrap().ids().len() + taken, "{at}");
            }
            // Nested and flat, and in any order, give the same.
            if number % 20 == 7 {
                let (other, again) = read(&made, number % 2 == 1, number % 4 < 2);
                assert_eq!((self::joins(&other), &again.totals), (joins, &checked.totals), "{at}");
            }
        }
        let [extends, trimmed, stripped] = seen;
        assert!(extends > 100 || trimmed > 100, "{}: {seen:?}", template.name);
        assert_eq!(trimmed > 40, !template.ends.is_empty(), "{}: {seen:?}", template.name);
        assert_eq!(stripped > 20, template.thought.is_some(), "{}: {seen:?}", template.name);
    }
}
