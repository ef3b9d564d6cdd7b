//! Nested Monte-Carlo search (Cazenave, IJCAI 2009). At every step a level tries each move, completes it with a
//! search of the level below (level 0 is a random playout), and plays the next move of the best sequence it has
//! seen, which it remembers from step to step.
//!
//! With a guide the playouts are drawn from its policy, and with `stabilise` and `early_stop` these are NeuralNMCS(1)
//! and (1)c of Doux, Negrevergne and Cazenave (2021).

use super::{SpecError, check_level, check_stabilise};
use crate::domain::{Choices, Problem};
use crate::playout::{Offer, draw, fill};
use crate::prior::Advice;
use crate::replay::words;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// The parameters of NMCS.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nmcs {
    /// Levels of nesting.
    pub level: u32,
    /// Try the domain's choices rather than all legal moves.
    pub selective: bool,
    /// Playouts of a call of level 0, the best of which counts.
    pub stabilise: u32,
    /// End after the first step of the top level, with the best sequence it has seen.
    pub early_stop: bool,
}

impl Default for Nmcs {
    fn default() -> Self {
        Nmcs { level: 2, selective: false, stabilise: 1, early_stop: false }
    }
}

impl Nmcs {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_level(self.level)?;
        check_stabilise(self.stabilise)
    }

    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let mut nest = Nest::new(problem, self);
        nest.advice = run.guide().and_then(|guide| Advice::new(guide, problem));
        nest.levels[self.level as usize].state = problem.initial();
        let saved =
            run.take_resumed().and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default();
        nest.search_top(saved, run);
    }
}

struct Nest<'a, P: Problem> {
    problem: &'a P,
    offer: Offer,
    stabilise: u32,
    early_stop: bool,
    advice: Option<Advice>,
    factors: Vec<f64>,
    top: usize,
    /// `levels[l]` is the call of level `l` under way; the level above sets its state.
    levels: Vec<Level<P>>,
    /// The moves from the initial position to the state of the level under way.
    prefix: Vec<P::Move>,
}

struct Level<P: Problem> {
    state: P::State,
    choices: Choices<P::Move>,
    /// The best sequence from here to the end, and its score.
    best: Vec<P::Move>,
    best_score: f64,
    /// How much of `best` is already played.
    played: usize,
}

/// The top level between two of its searches: indices of the choices played and of the best sequence's rest.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Saved {
    played: Vec<u32>,
    best_rest: Vec<u32>,
    best_score: Option<f64>,
    next: u32,
}

impl<'a, P: Problem> Nest<'a, P> {
    fn new(problem: &'a P, params: &Nmcs) -> Self {
        let level = || Level {
            state: problem.initial(),
            choices: Choices::new(),
            best: Vec::new(),
            best_score: f64::NEG_INFINITY,
            played: 0,
        };
        Nest {
            problem,
            offer: Offer { selective: params.selective, bias: false },
            stabilise: params.stabilise,
            early_stop: params.early_stop,
            advice: None,
            factors: Vec::new(),
            top: params.level as usize,
            levels: (0..=params.level).map(|_| level()).collect(),
            prefix: Vec::new(),
        }
    }

    /// The top level: the same loop as `search`, begun where a checkpoint left it.
    fn search_top(&mut self, saved: Saved, run: &mut Run) {
        let mut next = 0;
        if let Some(rest) = self.restore(&saved) {
            self.levels[self.top].best = rest;
            self.levels[self.top].best_score = saved.best_score.unwrap_or(f64::NEG_INFINITY);
            next = saved.next as usize;
        }
        let mut played = saved.played;
        self.search_from(self.top, next, &mut played, run);
    }

    /// Plays the saved moves; gives the rest of the best sequence, or `None` (and the initial state) if it misfits.
    fn restore(&mut self, saved: &Saved) -> Option<Vec<P::Move>> {
        let top = self.top;
        let walk = |state: &mut P::State, indices: &[u32]| -> Option<Vec<P::Move>> {
            let mut choices = Choices::new();
            indices
                .iter()
                .map(|&i| {
                    fill(self.problem, self.offer, state, &mut choices);
                    let mv = *choices.moves.get(i as usize)?;
                    self.problem.play(state, mv);
                    Some(mv)
                })
                .collect()
        };
        let mut state = self.problem.initial();
        let prefix = walk(&mut state, &saved.played)?;
        let rest = walk(&mut state.clone(), &saved.best_rest)?;
        self.levels[top].state = state;
        self.prefix = prefix;
        Some(rest)
    }

    /// One call of a level from the state in `levels[level]`; leaves the best sequence from there.
    fn search(&mut self, level: usize, run: &mut Run) {
        if level == 0 {
            return self.sample(run);
        }
        self.levels[level].best.clear();
        self.levels[level].best_score = f64::NEG_INFINITY;
        self.search_from(level, 0, &mut Vec::new(), run);
    }

    /// The loop of a level, beginning with the choice number `next` of its first step.
    fn search_from(&mut self, level: usize, mut next: usize, played: &mut Vec<u32>, run: &mut Run) {
        let depth = self.prefix.len();
        self.levels[level].played = 0;
        loop {
            let here = &mut self.levels[level];
            fill(self.problem, self.offer, &here.state, &mut here.choices);
            let n = here.choices.moves.len();
            if n == 0 {
                // Called at an end: a playout of no moves.
                if here.best.is_empty() {
                    self.finish_playout(level, run);
                }
                break;
            }
            for i in next..n {
                if level == self.top {
                    run.checkpoint(|| self.save(played, i));
                }
                self.try_choice(level, i, run);
                if run.stopped() {
                    break;
                }
            }
            next = 0;
            if self.early_stop && level == self.top {
                break;
            }
            let here = &mut self.levels[level];
            if run.stopped() || here.played >= here.best.len() {
                break;
            }
            let mv = here.best[here.played];
            if level == self.top {
                let i = here
                    .choices
                    .moves
                    .iter()
                    .position(|&m| m == mv)
                    .expect("the best sequence is made of choices");
                played.push(i as u32);
            }
            here.played += 1;
            self.problem.play(&mut here.state, mv);
            self.prefix.push(mv);
        }
        self.prefix.truncate(depth);
    }

    /// Searches below one choice and keeps the sequence if it is better than the best one.
    fn try_choice(&mut self, level: usize, i: usize, run: &mut Run) {
        let (below, here) = self.levels.split_at_mut(level);
        let (below, here) = (&mut below[level - 1], &mut here[0]);
        let mv = here.choices.moves[i];
        below.state.clone_from(&here.state);
        self.problem.play(&mut below.state, mv);
        self.prefix.push(mv);
        self.search(level - 1, run);
        self.prefix.pop();
        let (below, here) = self.levels.split_at_mut(level);
        let (below, here) = (&below[level - 1], &mut here[0]);
        if below.best_score > here.best_score {
            here.best_score = below.best_score;
            here.best.truncate(here.played);
            here.best.push(mv);
            here.best.extend_from_slice(&below.best);
        }
    }

    /// A call of level 0: a playout, or the best of several.
    fn sample(&mut self, run: &mut Run) {
        if self.stabilise == 1 {
            return self.playout(run);
        }
        let start = self.levels[0].state.clone();
        let (mut best, mut best_score) = (Vec::new(), f64::NEG_INFINITY);
        for _ in 0..self.stabilise {
            self.levels[0].state.clone_from(&start);
            self.playout(run);
            let here = &mut self.levels[0];
            if here.best_score > best_score {
                best_score = here.best_score;
                std::mem::swap(&mut best, &mut here.best);
            }
            if run.stopped() {
                break;
            }
        }
        (self.levels[0].best, self.levels[0].best_score) = (best, best_score);
    }

    fn playout(&mut self, run: &mut Run) {
        let here = &mut self.levels[0];
        here.best.clear();
        loop {
            let mv = if self.offer.selective || self.advice.is_some() {
                fill(self.problem, self.offer, &here.state, &mut here.choices);
                let moves = &here.choices.moves;
                match &mut self.advice {
                    _ if moves.is_empty() => None,
                    Some(advice) => {
                        advice.weigh(self.problem, &here.state, moves, &mut self.factors);
                        Some(moves[draw(&mut self.factors, &mut run.rng)])
                    }
                    None => Some(moves[run.rng.below(moves.len())]),
                }
            } else {
                self.problem.random_move(&here.state, &mut run.rng, &mut here.choices.moves)
            };
            let Some(mv) = mv else { break };
            here.best.push(mv);
            self.problem.play(&mut here.state, mv);
        }
        self.finish_playout(0, run);
    }

    /// Scores the end that `levels[level]` has come to by the moves in its `best`.
    fn finish_playout(&mut self, level: usize, run: &mut Run) {
        let here = &mut self.levels[level];
        here.best_score = self.problem.score(&here.state);
        run.count_playout();
        run.offer(here.best_score, || {
            let moves: Vec<P::Move> = self.prefix.iter().chain(&here.best).copied().collect();
            words(self.problem, &moves)
        });
    }

    fn save(&self, played: &[u32], next: usize) -> Vec<u8> {
        let here = &self.levels[self.top];
        let mut state = here.state.clone();
        let mut choices = Choices::new();
        let best_rest = here.best[here.played..].iter().map(|&mv| {
            fill(self.problem, self.offer, &state, &mut choices);
            self.problem.play(&mut state, mv);
            choices.moves.iter().position(|&m| m == mv).expect("the best sequence is made of choices") as u32
        });
        let saved = Saved {
            best_rest: best_rest.collect(),
            played: played.to_vec(),
            best_score: here.best_score.is_finite().then_some(here.best_score),
            next: next as u32,
        };
        postcard::to_stdvec(&saved).expect("plain data always serialises")
    }
}
