//! A domain's own search, run like any other: limits, checkpoints, streams and records are the same.
//!
//! What it does is the domain's affair (`Problem::specialist`): it works in slices of some milliseconds and tells of
//! what it finds. A slice counts as a playout. A domain without one is searched by NRPA with local search. A resumed run
//! goes on with the solutions that were kept; which slice it stood in is not saved.

use super::Nrpa;
use crate::domain::Problem;
use crate::replay::{moves_of, words};
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// A domain's own search. It has no parameters.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Own {}

/// Slices of a run without limits.
const SLICES: u32 = 2000;

impl Own {
    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let resumed = run.take_resumed();
        let Some(mut specialist) = problem.specialist(resumed.as_deref()) else {
            return Nrpa { level: 5, repetitions: 8, improve: true, ..Nrpa::default() }.run(problem, run);
        };
        if resumed.is_none()
            && let Some(moves) = run.start().and_then(|words| moves_of(problem, words).ok())
        {
            specialist.learn(&moves);
        }
        let (start, mut slices) = (problem.initial(), 0);
        let mut state = start.clone();
        while !run.stopped() && (slices < SLICES || run.restarts()) {
            let mut found = Vec::new();
            specialist.work(&mut run.rng, &mut |moves| found.push(moves.to_vec()));
            for moves in found {
                state.clone_from(&start);
                moves.iter().for_each(|&mv| problem.play(&mut state, mv));
                run.offer(problem.score(&state), || words(problem, &moves));
            }
            run.count_playout();
            run.checkpoint(|| specialist.save());
            slices = slices.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Search;
    use crate::search::trial::end;
    use crate::toy::LeftMove;

    #[test]
    fn a_domain_without_a_search_of_its_own_is_searched_all_the_same() {
        let end = end(&LeftMove { depth: 30 }, &Search::Own(Own {}), Some(2000), 1);
        assert_eq!(end.playouts, 2000);
        assert!(end.best.expect("played").score > 20.0);
    }
}
