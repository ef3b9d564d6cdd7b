//! Sampling: random playouts, the best of them kept. The floor under every other search; with a guide the playouts are
//! drawn from its policy.

use crate::domain::{Choices, Problem};
use crate::playout::{Offer, draw, fill};
use crate::prior::Advice;
use crate::replay::words;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// Sampling.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sample {
    /// Draw from the domain's choices rather than from all legal moves.
    pub selective: bool,
}

/// Playouts of one call: the caller repeats as long as the run's limits allow.
const PLAYOUTS: u32 = 1000;

impl Sample {
    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let start = problem.initial();
        let mut state = start.clone();
        let (mut moves, mut scratch, mut choices) = (Vec::new(), Vec::new(), Choices::new());
        let mut advice = run.guide().and_then(|guide| Advice::new(guide, problem));
        let mut factors = Vec::new();
        for _ in 0..PLAYOUTS {
            state.clone_from(&start);
            moves.clear();
            if self.selective || advice.is_some() {
                loop {
                    fill(problem, Offer { selective: self.selective, bias: false }, &state, &mut choices);
                    if choices.moves.is_empty() {
                        break;
                    }
                    let i = match &mut advice {
                        Some(advice) => {
                            advice.weigh(problem, &state, &choices.moves, &mut factors);
                            draw(&mut factors, &mut run.rng)
                        }
                        None => run.rng.below(choices.moves.len()),
                    };
                    let mv = choices.moves[i];
                    moves.push(mv);
                    problem.play(&mut state, mv);
                }
            } else {
                while let Some(mv) = problem.random_move(&state, &mut run.rng, &mut scratch) {
                    moves.push(mv);
                    problem.play(&mut state, mv);
                }
            }
            run.count_playout();
            run.offer(problem.score(&state), || words(problem, &moves));
            if run.stopped() {
                return;
            }
        }
    }
}
