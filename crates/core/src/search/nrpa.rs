//! Nested Rollout Policy Adaptation (Rosin, IJCAI 2011), with the parameters of its kin: bias and temperature (GNRPA,
//! Cazenave 2020), several playouts a step (Stabilised NRPA, Cazenave, Sevestre and Toulemont 2021), limited
//! repetitions (Cazenave 2024), and the shared and thread-local parallel forms of Negrevergne and Cazenave (2017).
//! A level calls the level below N times and moves its policy towards the best sequence it has seen after each; level
//! 0 is a playout. Ties replace the best, and nothing is learnt after the last iteration, as in the C++ of 2017.

use super::islands::{self, Lesson};
use super::team::{Member, Round, together};
use super::{SpecError, check_level, check_stabilise};
use crate::domain::Problem;
use crate::playout::{Offer, Scratch, Trace, indices_of, playout, retrace};
use crate::policy::{Mark, Policy, SavedPolicy};
use crate::replay::{moves_of, words};
use crate::run::Run;
use serde::{Deserialize, Serialize};
use std::fmt;

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
    /// Divide the weights by this wherever a probability is computed from them (GNRPA).
    pub temperature: f64,
    /// Playouts of a call of level 0, the best of which counts (Stabilised NRPA).
    pub stabilise: u32,
    /// A level ends early when its best sequence has come again so many times; 0: never (limited repetitions).
    pub repetitions: u32,
    /// Hand the best sequence of every call of level 1 to the domain's local search (memetic NRPA).
    pub improve: bool,
    /// The level whose calls are made in parallel.
    pub parallel: Parallel,
    /// How many calls at a time. The answer depends on it, and not on the number of threads.
    pub workers: u32,
}

impl Default for Nrpa {
    fn default() -> Self {
        Nrpa {
            level: 3,
            iterations: 100,
            alpha: 1.0,
            selective: true,
            bias: false,
            temperature: 1.0,
            stabilise: 1,
            repetitions: 0,
            improve: false,
            parallel: Parallel::None,
            workers: 1,
        }
    }
}

/// Which calls are made in parallel, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Parallel {
    /// None.
    None,
    /// A call of this level makes its calls of the level below in rounds: those of a round share its policy, which
    /// then adapts to the best so far with a step as many times larger.
    Shared(u32),
    /// A call of this level is divided: each worker makes its share of the iterations on a policy of its own, and the
    /// best one's replaces that of the level above.
    Local(u32),
    /// So many searches as there are workers, each with the whole number of iterations; after every so many of them
    /// each takes the best sequence of the one before it, if it is better.
    Islands(u32),
}

impl fmt::Display for Parallel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Parallel::None => write!(f, "none"),
            Parallel::Shared(level) => write!(f, "shared:{level}"),
            Parallel::Local(level) => write!(f, "local:{level}"),
            Parallel::Islands(every) => write!(f, "islands:{every}"),
        }
    }
}

impl From<Parallel> for String {
    fn from(parallel: Parallel) -> String {
        parallel.to_string()
    }
}

impl TryFrom<String> for Parallel {
    type Error = SpecError;

    fn try_from(text: String) -> Result<Parallel, SpecError> {
        let form = match text.split_once(':') {
            Some(("shared", level)) => level.parse().ok().map(Parallel::Shared),
            Some(("local", level)) => level.parse().ok().map(Parallel::Local),
            Some(("islands", every)) => every.parse().ok().map(Parallel::Islands),
            None if text == "none" => Some(Parallel::None),
            _ => None,
        };
        let expected =
            "none, shared:L or local:L, where L is a level, or islands:N, where N is a number of iterations";
        form.ok_or(SpecError { parameter: "parallel", given: text, expected })
    }
}

/// More workers than any machine has threads.
const WORKERS_MAX: u32 = 1024;

impl Nrpa {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_level(self.level)?;
        let fail = |parameter, given: String, expected| Err(SpecError { parameter, given, expected });
        if self.iterations == 0 {
            return fail("iterations", "0".into(), "at least 1");
        }
        if !(self.alpha > 0.0 && self.alpha <= 100.0) {
            return fail("alpha", self.alpha.to_string(), "a number above 0 and up to 100");
        }
        if !(0.01..=100.0).contains(&self.temperature) {
            return fail("temperature", self.temperature.to_string(), "a number from 0.01 to 100");
        }
        check_stabilise(self.stabilise)?;
        if !(1..=WORKERS_MAX).contains(&self.workers) {
            return fail("workers", self.workers.to_string(), "a whole number from 1 to 1024");
        }
        if let Parallel::Shared(level) | Parallel::Local(level) = self.parallel
            && !(1..=self.level).contains(&level)
        {
            return fail("parallel", self.parallel.to_string(), "a level from 1 to that of the search");
        }
        if let Parallel::Islands(every) = self.parallel
            && (self.level < 2 || every == 0)
        {
            return fail("parallel", self.parallel.to_string(), "at least 1, in a search of level 2 or more");
        }
        Ok(())
    }

    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let resumed = run.take_resumed();
        if let Parallel::Islands(every) = self.parallel {
            return islands::run(problem, self, every, run, resumed.as_deref());
        }
        let work = |member: Option<Member<'_, P::Move>>, run: &mut Run| {
            let mut nest = Nest::new(problem, self, member);
            nest.policy = nest.scratch.follow(problem, run.guide());
            // A checkpoint that does not fit is no reason to lose the run: the stream goes on with a fresh search.
            let resumed = resumed.as_deref().is_some_and(|bytes| nest.load(bytes));
            nest.start = run.start().and_then(|words| nest.trace_of(words));
            nest.search(self.level as usize, resumed, run);
        };
        let threads = self.workers.min(run.threads()) as usize;
        match self.parallel {
            // One worker that shares with nobody is the sequential search.
            Parallel::Shared(level) if self.workers > 1 => {
                together(run, threads, level > 1, |member, run| work(Some(member), run))
            }
            Parallel::Local(_) => together(run, threads, true, |member, run| work(Some(member), run)),
            _ => work(None, run),
        }
    }
}

/// One call of the level below the highest, by a policy that has learnt this: the score and the choices of its best
/// sequence.
pub(super) fn brought<P: Problem>(
    problem: &P,
    params: &Nrpa,
    lessons: &[Lesson],
    run: &mut Run,
) -> (f64, Vec<u32>) {
    let mut nest = Nest::new(problem, params, None);
    nest.policy = nest.scratch.follow(problem, run.guide());
    nest.begin(params.level as usize);
    for lesson in lessons {
        let (policy, scratch) = (&nest.policy, &mut nest.scratch);
        let Some(mut trace) = retrace(problem, nest.offer, policy, &lesson.indices, scratch) else {
            continue;
        };
        (0..lesson.times).for_each(|_| nest.policy.adapt(&mut trace, nest.step));
    }
    let level = params.level as usize - 1;
    nest.search(level, false, run);
    let best = &nest.levels[level].best;
    (best.score, nest.indices(best))
}

/// A nested search under way. The levels are the checkpoint: iteration counts, best sequences and policy marks.
struct Nest<'a, P: Problem> {
    problem: &'a P,
    params: &'a Nrpa,
    offer: Offer,
    /// The table keeps w / temperature. The gradient of GNRPA has another 1 / temperature, so that a step of alpha in
    /// its w is one of alpha / temperature^2 here; all else is the same, and a playout need not divide.
    step: f64,
    policy: Policy,
    /// `levels[l]` is the call of level `l` under way; `levels[0].best` is the last playout.
    levels: Vec<Level<P::Move>>,
    /// Checkpoints are taken between the iterations of this level.
    floor: usize,
    scratch: Scratch<P>,
    spare: Trace<P::Move>,
    /// What every call above level 1 has for its best sequence when it begins, where the run was given one.
    start: Option<Trace<P::Move>>,
    /// This thread's place in the team that makes the parallel calls. Taken out while a child of its own runs.
    member: Option<Member<'a, P::Move>>,
}

struct Level<M> {
    iteration: u32,
    /// How often `best` has come again.
    repeats: u32,
    best: Trace<M>,
    mark: Mark,
}

impl<'a, P: Problem> Nest<'a, P> {
    fn new(problem: &'a P, params: &'a Nrpa, member: Option<Member<'a, P::Move>>) -> Self {
        let level = || Level { iteration: 0, repeats: 0, best: Trace::default(), mark: Mark::default() };
        // Below level 2 a checkpoint would come too often; within a parallel call there is nothing that could be saved.
        let floor = match params.parallel {
            Parallel::None | Parallel::Islands(_) => 2,
            Parallel::Shared(level) => level.max(2),
            Parallel::Local(level) => level + 1,
        };
        Nest {
            problem,
            params,
            offer: Offer { selective: params.selective, bias: params.bias },
            step: params.alpha / (params.temperature * params.temperature),
            policy: Policy::new(problem.codes_max()),
            levels: (0..=params.level).map(|_| level()).collect(),
            floor: floor as usize,
            scratch: Scratch::new(problem),
            spare: Trace::default(),
            start: None,
            member,
        }
    }

    /// One call of a level; its best sequence is left in `levels[level].best`. `resumed`: go on with the calls that
    /// `load` restored, from the floor up, instead of beginning new ones.
    fn search(&mut self, level: usize, resumed: bool, run: &mut Run) {
        if level == 0 {
            return self.sample(run);
        }
        if self.params.parallel == Parallel::Local(level as u32) {
            self.divide(level, run);
        } else {
            if !resumed {
                self.begin(level);
            }
            self.iterate(level, self.params.iterations, resumed, run);
            let here = &mut self.levels[level];
            self.policy.rewind(here.mark);
            here.best.forget_ids(&self.policy);
        }
        if self.params.improve && level == 1 && !run.stopped() {
            self.improve(level, run);
        }
    }

    /// Local search on the result of a call, which the level above then takes for the result.
    fn improve(&mut self, level: usize, run: &mut Run) {
        let best = &mut self.levels[level].best;
        self.scratch.replay(self.problem, &best.moves);
        let Some(moves) = self.problem.improve(self.scratch.end(), &best.moves, &mut run.rng) else { return };
        let indices = indices_of(self.problem, self.offer, &moves, &mut self.scratch);
        let indices = indices.expect("an improvement consists of legal moves");
        let trace = retrace(self.problem, self.offer, &self.policy, &indices, &mut self.scratch);
        *best = trace.expect("the indices are of this problem");
        run.offer(best.score, || words(self.problem, &best.moves));
    }

    fn begin(&mut self, level: usize) {
        let here = &mut self.levels[level];
        (here.iteration, here.repeats) = (0, 0);
        here.best.clear();
        here.mark = self.policy.mark();
        if level > 1
            && let Some(start) = &self.start
        {
            here.best.copy_from(start);
            here.best.adopt(&self.policy);
        }
    }

    /// A solution as a sequence of this search; `None` where it has moves that this search is not offered.
    fn trace_of(&mut self, words: &[String]) -> Option<Trace<P::Move>> {
        let moves = moves_of(self.problem, words).ok()?;
        let indices = indices_of(self.problem, self.offer, &moves, &mut self.scratch)?;
        retrace(self.problem, self.offer, &self.policy, &indices, &mut self.scratch)
    }

    /// The iterations of a call.
    fn iterate(&mut self, level: usize, iterations: u32, resumed: bool, run: &mut Run) {
        let mut resumed = resumed && level > self.floor;
        let shared = self.member.is_some() && self.params.parallel == Parallel::Shared(level as u32);
        // A local policy outlives its call, so that its last iteration is learnt from as well.
        let local = self.params.parallel == Parallel::Local(level as u32);
        while self.levels[level].iteration < iterations {
            if level == self.floor {
                run.policy(|| self.entropy());
                run.checkpoint(|| self.save());
            }
            let mut calls = 1;
            if shared {
                calls = self.params.workers.min(iterations - self.levels[level].iteration);
                self.share(level, calls, run);
            } else {
                self.search(level - 1, resumed, run);
            }
            resumed = false;
            self.keep_best(level);
            let here = &mut self.levels[level];
            if run.stopped() {
                break;
            }
            here.iteration += calls;
            if self.params.repetitions > 0 && here.repeats >= self.params.repetitions {
                break;
            }
            if here.iteration < iterations || local {
                self.policy.adapt(&mut here.best, self.step * calls as f64);
            }
        }
    }

    /// How sure the policy is, along the best sequence of the lowest call under way that has one.
    fn entropy(&self) -> Option<f64> {
        self.levels[self.floor..].iter().find_map(|level| self.policy.entropy(&level.best))
    }

    /// Takes what the level below has found, if it is as good as the best.
    fn keep_best(&mut self, level: usize) {
        let (below, here) = self.levels.split_at_mut(level);
        let (below, here) = (&mut below[level - 1], &mut here[0]);
        if below.best.score >= here.best.score {
            if self.params.repetitions > 0 {
                let again = below.best.moves == here.best.moves;
                here.repeats = if again { here.repeats + 1 } else { 0 };
            }
            std::mem::swap(&mut below.best, &mut here.best);
        }
    }

    /// A round of calls of the level below `level`, divided among the team. All members are left with the best one.
    fn share(&mut self, level: usize, calls: u32, run: &mut Run) {
        let mut member = self.member.take().expect("a shared level has a team");
        let round = Round::new(calls, run);
        while let Some(child) = member.begin(&round) {
            self.search(level - 1, false, &mut member.hand);
            member.end(child, &mut self.levels[level - 1].best);
        }
        let verdict = member.meet(self.levels[level].best.score);
        run.count_round(verdict.playouts, verdict.stop);
        let (below, here) = self.levels.split_at_mut(level);
        let (below, here) = (&mut below[level - 1].best, &mut here[0]);
        below.clear();
        if verdict.shown {
            let find = member.find(&verdict);
            if find.trace.moves == here.best.moves {
                here.repeats += 1; // the same again: everybody has it
            } else {
                below.copy_from(&find.trace);
                // Playouts leave a policy as it is, so that the members' tables are equal to the last place; searches
                // may have made one of them grow.
                if level > 1 {
                    below.adopt(&self.policy);
                }
                run.offer(below.score, || words(self.problem, &below.moves));
            }
        }
        self.member = Some(member);
    }

    /// A call of a local level: its iterations divided among the workers, each with a policy of its own.
    fn divide(&mut self, level: usize, run: &mut Run) {
        let mut member = self.member.take().expect("a local level has a team");
        let iterations = self.params.iterations;
        let round = Round::new(self.params.workers.min(iterations), run);
        while let Some(child) = member.begin(&round) {
            self.begin(level);
            self.iterate(level, round.share(iterations as u64, child) as u32, false, &mut member.hand);
            let here = &mut self.levels[level];
            if let Some(find) = member.end(child, &mut here.best) {
                self.policy.changes(here.mark, &mut find.changes);
            }
            self.policy.rewind(here.mark);
        }
        let bar = self.levels.get(level + 1).map_or(f64::NEG_INFINITY, |above| above.best.score);
        let verdict = member.meet(bar);
        run.count_round(verdict.playouts, verdict.stop);
        let best = &mut self.levels[level].best;
        best.clear();
        if verdict.shown {
            let find = member.find(&verdict);
            best.copy_from(&find.trace);
            self.policy.assign(&find.changes);
            drop(find);
            best.adopt(&self.policy);
            run.offer(best.score, || words(self.problem, &best.moves));
        }
        self.member = Some(member);
    }

    /// A call of level 0: a playout, or the best of several.
    fn sample(&mut self, run: &mut Run) {
        self.playout(run);
        for _ in 1..self.params.stabilise {
            if run.stopped() {
                break;
            }
            std::mem::swap(&mut self.spare, &mut self.levels[0].best);
            self.playout(run);
            if self.spare.score > self.levels[0].best.score {
                std::mem::swap(&mut self.spare, &mut self.levels[0].best);
            }
        }
    }

    fn playout(&mut self, run: &mut Run) {
        let trace = &mut self.levels[0].best;
        playout(self.problem, self.offer, &self.policy, &mut run.rng, &mut self.scratch, trace);
        run.count_playout();
        run.offer(trace.score, || words(self.problem, &trace.moves));
    }

    /// The calls from the floor up, as they stand before a call of the level below.
    fn save(&self) -> Vec<u8> {
        let levels = self.levels[self.floor..].iter().map(|level| SavedLevel {
            iteration: level.iteration,
            repeats: level.repeats,
            mark: level.mark,
            played: level.best.score > f64::NEG_INFINITY,
            indices: self.indices(&level.best),
        });
        let saved = Saved { levels: levels.collect(), policy: self.policy.save() };
        postcard::to_stdvec(&saved).expect("plain data always serialises")
    }

    /// What `retrace` makes the trace from again.
    fn indices(&self, trace: &Trace<P::Move>) -> Vec<u32> {
        if !self.params.improve {
            return trace.indices();
        }
        let mut scratch = Scratch::new(self.problem);
        indices_of(self.problem, self.offer, &trace.moves, &mut scratch).expect("these moves were played")
    }

    /// Restores what `save` gave. False, and nothing changed, if it is not of this search.
    fn load(&mut self, bytes: &[u8]) -> bool {
        let Ok(saved) = postcard::from_bytes::<Saved>(bytes) else { return false };
        let Some(policy) = Policy::load(&saved.policy, self.problem.codes_max()) else { return false };
        let marks = saved.levels.iter().map(|level| level.mark);
        if saved.levels.len() + self.floor != self.levels.len() || !policy.holds(marks.rev()) {
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
                // Places that a level below has taken are given back when it ends.
                best.forget_all_ids();
            }
            restored.push(Level {
                iteration: level.iteration,
                repeats: level.repeats,
                best,
                mark: level.mark,
            });
        }
        self.levels.truncate(self.floor);
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
    repeats: u32,
    mark: Mark,
    played: bool,
    /// The index of the choice at each step of the best sequence.
    indices: Vec<u32>,
}

#[cfg(test)]
mod tests;
