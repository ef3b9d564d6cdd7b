//! Nested Rollout Policy Adaptation (Rosin, IJCAI 2011), with the parameters of its kin: the bias of GNRPA
//! (Cazenave 2020). A level calls the level below N times and moves its policy towards the best sequence it has
//! seen after each; level 0 is a playout. Ties replace the best, and nothing is learnt after the last iteration,
//! as in the C++ of Negrevergne and Cazenave (2017).

use super::{SpecError, check_level};
use crate::domain::Problem;
use crate::playout::{Offer, Scratch, Trace, playout, retrace};
use crate::policy::{Mark, Policy, SavedPolicy};
use crate::replay::words;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// The parameters of NRPA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Nrpa {
    /// Levels of nesting: `iterations` to this power is the number of playouts.
    pub level: u32,
    /// Calls of the level below, per level.
    pub iterations: u32,
    /// The step of an adaptation.
    pub alpha: f64,
    /// Offer the domain's choices rather than all legal moves.
    pub selective: bool,
    /// Add the domain's bias to the weights (GNRPA).
    pub bias: bool,
}

impl Default for Nrpa {
    fn default() -> Self {
        Nrpa { level: 3, iterations: 100, alpha: 1.0, selective: true, bias: false }
    }
}

impl Nrpa {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_level(self.level)?;
        if self.iterations == 0 {
            return Err(SpecError { parameter: "iterations", given: "0".into(), expected: "at least 1" });
        }
        if !(self.alpha > 0.0 && self.alpha <= 100.0) {
            let given = self.alpha.to_string();
            return Err(SpecError { parameter: "alpha", given, expected: "a number above 0 and up to 100" });
        }
        Ok(())
    }

    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let mut nest = Nest::new(problem, self);
        // A checkpoint that does not fit is no reason to lose the run: the stream goes on with a fresh search.
        let resumed = run.take_resumed().is_some_and(|bytes| nest.load(&bytes));
        nest.search(self.level as usize, resumed, run);
    }
}

/// A nested search under way. The levels are the checkpoint: iteration counts, best sequences and policy marks.
struct Nest<'a, P: Problem> {
    problem: &'a P,
    params: &'a Nrpa,
    offer: Offer,
    policy: Policy,
    /// `levels[l]` is the call of level `l` under way; `levels[0].best` is the last playout.
    levels: Vec<Level<P::Move>>,
    scratch: Scratch<P>,
}

struct Level<M> {
    iteration: u32,
    best: Trace<M>,
    mark: Mark,
}

impl<'a, P: Problem> Nest<'a, P> {
    fn new(problem: &'a P, params: &'a Nrpa) -> Self {
        let level = || Level { iteration: 0, best: Trace::default(), mark: Mark::default() };
        Nest {
            problem,
            params,
            offer: Offer { selective: params.selective, bias: params.bias },
            policy: Policy::new(problem.codes_max()),
            levels: (0..=params.level).map(|_| level()).collect(),
            scratch: Scratch::new(problem),
        }
    }

    /// One call of a level; its best sequence is left in `levels[level].best`. `resumed`: go on with the calls that
    /// `load` restored, from level 2 up, instead of beginning new ones.
    fn search(&mut self, level: usize, resumed: bool, run: &mut Run) {
        if level == 0 {
            return self.playout(run);
        }
        if !resumed {
            self.levels[level].iteration = 0;
            self.levels[level].best.clear();
            self.levels[level].mark = self.policy.mark();
        }
        let mut resumed = resumed && level > 2;
        while self.levels[level].iteration < self.params.iterations {
            if level == 2 {
                run.checkpoint(|| self.save());
            }
            self.search(level - 1, resumed, run);
            resumed = false;
            let (below, here) = self.levels.split_at_mut(level);
            let (below, here) = (&mut below[level - 1], &mut here[0]);
            if below.best.score >= here.best.score {
                std::mem::swap(&mut below.best, &mut here.best);
            }
            if run.stopped() {
                break;
            }
            here.iteration += 1;
            if here.iteration < self.params.iterations {
                self.policy.adapt(&mut here.best, self.params.alpha);
            }
        }
        let here = &mut self.levels[level];
        self.policy.rewind(here.mark);
        here.best.forget_ids(&self.policy);
    }

    fn playout(&mut self, run: &mut Run) {
        let trace = &mut self.levels[0].best;
        playout(self.problem, self.offer, &self.policy, &mut run.rng, &mut self.scratch, trace);
        run.count_playout();
        run.offer(trace.score, || words(self.problem, &trace.moves));
    }

    /// The calls of levels 2 and up, as they stand before a call of level 1.
    fn save(&self) -> Vec<u8> {
        let levels = self.levels[2..].iter().map(|level| {
            let starts = std::iter::once(&0).chain(&level.best.ends);
            SavedLevel {
                iteration: level.iteration,
                mark: level.mark,
                played: level.best.score > f64::NEG_INFINITY,
                indices: level.best.chosen.iter().zip(starts).map(|(chosen, start)| chosen - start).collect(),
            }
        });
        let saved = Saved { levels: levels.collect(), policy: self.policy.save() };
        postcard::to_stdvec(&saved).expect("plain data always serialises")
    }

    /// Restores what `save` gave. False, and nothing changed, if it is not of this search.
    fn load(&mut self, bytes: &[u8]) -> bool {
        let Ok(saved) = postcard::from_bytes::<Saved>(bytes) else { return false };
        let Some(policy) = Policy::load(&saved.policy, self.problem.codes_max()) else { return false };
        if saved.levels.len() + 2 != self.levels.len() {
            return false;
        }
        let mut restored = Vec::new();
        for level in saved.levels {
            let mut best = Trace::default();
            if level.played {
                match retrace(self.problem, self.offer, &policy, &level.indices, &mut self.scratch) {
                    Some(trace) => best = trace,
                    None => return false,
                }
            }
            restored.push(Level { iteration: level.iteration, best, mark: level.mark });
        }
        self.levels.truncate(2);
        self.levels.extend(restored);
        self.policy = policy;
        true
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    levels: Vec<SavedLevel>,
    policy: SavedPolicy,
}

#[derive(Serialize, Deserialize)]
struct SavedLevel {
    iteration: u32,
    mark: Mark,
    played: bool,
    /// The index of the choice at each step of the best sequence.
    indices: Vec<u32>,
}
