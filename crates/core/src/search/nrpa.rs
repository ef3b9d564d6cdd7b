//! Nested Rollout Policy Adaptation (Rosin, IJCAI 2011), with the parameters of its kin: bias and temperature (GNRPA,
//! Cazenave 2020), several playouts a step (Stabilised NRPA, Cazenave, Sevestre and Toulemont 2021), limited
//! repetitions (Cazenave 2024), and the shared and thread-local parallel forms of Negrevergne and Cazenave (2017).
//! A level calls the level below N times and moves its policy towards the best sequence it has seen after each; level
//! 0 is a playout. Ties replace the best, and nothing is learnt after the last iteration, as in the C++ of 2017.

use super::islands::{self, Lesson};
use super::parallel::{Member, Round, together};
use super::{SpecError, check_level, check_stabilise};
use crate::domain::Problem;
use crate::playout::{Offer, Scratch, Trace, indices_of, playout, retrace};
use crate::policy::{Mark, Policy, SavedPolicy};
use crate::replay::words;
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
        let Some(moves) = self.problem.improve(self.scratch.end(), &mut run.rng) else { return };
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
mod tests {
    use super::*;
    use crate::best_of::{BestOf, Outcomes, best_of};
    use crate::domain::Domain;
    use crate::run::{Control, Event, Limits, StopReason, StreamCheckpoint};
    use crate::search::Search;
    use crate::toy::{LeftMove, Tree};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::time::{Duration, Instant};

    /// Every path of `depth` binary choices; the score is a hash of the path, so that a policy has nothing to hold on to.
    fn bushy(depth: u32) -> Tree {
        let inner = (1usize << depth) - 1;
        let nodes = (1usize << (depth + 1)) - 1;
        Tree {
            children: (0..nodes)
                .map(|n| if n < inner { vec![2 * n + 1, 2 * n + 2] } else { vec![] })
                .collect(),
            scores: (0..nodes).map(|n| (crate::rng::mix(n as u64) % 1000) as f64).collect(),
        }
    }

    fn solve<P: Problem>(problem: &P, nrpa: &Nrpa, threads: u32, limits: Limits) -> Outcomes {
        nrpa.check().unwrap();
        let stop = AtomicBool::new(false);
        let control = Control::new(limits, &stop, &|_| {});
        let spec = BestOf { search: Search::Nrpa(nrpa.clone()), seed: 3, streams: 1, threads };
        best_of(problem, &spec, &control, Vec::new())
    }

    fn small(parallel: Parallel, workers: u32) -> Nrpa {
        Nrpa { level: 3, iterations: 9, parallel, workers, ..Nrpa::default() }
    }

    const FORMS: [Parallel; 6] = [
        Parallel::Shared(1),
        Parallel::Shared(2),
        Parallel::Shared(3),
        Parallel::Local(1),
        Parallel::Local(2),
        Parallel::Local(3),
    ];

    #[test]
    fn one_shared_worker_is_the_sequential_search() {
        let tree = bushy(10);
        let sequential = solve(&tree, &small(Parallel::None, 1), 1, Limits::default());
        for level in 1..=3 {
            let shared = solve(&tree, &small(Parallel::Shared(level), 1), 2, Limits::default());
            assert_eq!(shared.best, sequential.best);
            assert_eq!(shared.playouts, sequential.playouts);
        }
    }

    #[test]
    fn islands_find_the_same_on_any_number_of_threads() {
        let tree = bushy(12);
        for playouts in [None, Some(1001), Some(3)] {
            let limits = Limits { playouts, ..Limits::default() };
            let islands = small(Parallel::Islands(2), 4);
            let [one, two, three] = [1, 2, 3].map(|threads| solve(&tree, &islands, threads, limits.clone()));
            assert_eq!(one.playouts, playouts.unwrap_or(4 * 9 * 9 * 9));
            for other in [two, three] {
                assert_eq!(
                    (&one.best, one.playouts, one.reason),
                    (&other.best, other.playouts, other.reason)
                );
            }
        }
        let every = |text: &str| Parallel::try_from(text.to_string());
        assert_eq!(every("islands:5"), Ok(Parallel::Islands(5)));
        assert!(small(Parallel::Islands(0), 4).check().is_err() && every("islands").is_err());
    }

    #[test]
    fn the_answer_does_not_depend_on_the_threads() {
        let tree = bushy(12);
        for form in FORMS {
            for limits in [
                Limits::default(),
                Limits { playouts: Some(1001), ..Limits::default() },
                Limits { patience: Some(300), ..Limits::default() },
            ] {
                let [one, two, three] =
                    [1, 2, 3].map(|threads| solve(&tree, &small(form, 4), threads, limits.clone()));
                for other in [&two, &three] {
                    assert_eq!(one.best, other.best, "{form} {limits:?}");
                    assert_eq!(
                        (one.playouts, one.reason),
                        (other.playouts, other.reason),
                        "{form} {limits:?}"
                    );
                }
                if limits.is_empty() {
                    assert_eq!(one.playouts, 729, "{form}: N^level, though 4 does not divide 9");
                } else if limits.playouts.is_some() {
                    assert_eq!((one.playouts, one.reason), (1001, StopReason::Playouts), "{form}");
                }
            }
        }
    }

    #[test]
    fn every_form_finds_the_best_of_the_toys() {
        let tree = bushy(5);
        let highest = tree.scores[31..].iter().copied().fold(0.0, f64::max);
        for form in FORMS {
            let nrpa = Nrpa { level: 2, iterations: 30, parallel: form, workers: 3, ..Nrpa::default() };
            if nrpa.check().is_err() {
                continue; // level 3 of a search of level 2
            }
            let left = solve(&LeftMove { depth: 20 }, &nrpa, 2, Limits::default());
            assert_eq!(left.best.unwrap().score, 20.0, "{form}");
            let limits = Limits { playouts: Some(20_000), target: Some(highest), ..Limits::default() };
            assert_eq!(solve(&tree, &nrpa, 2, limits).reason, StopReason::Target, "{form}");
        }
    }

    /// One binary choice, the left child worth 1: after a round of M the weights are those of one step of alpha M.
    #[test]
    fn the_step_of_a_round_is_weighted_by_its_calls() {
        let tree = Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 0.0] };
        let params = Nrpa { parallel: Parallel::Shared(1), workers: 4, ..small(Parallel::None, 1) };
        let params = Nrpa { level: 1, iterations: 8, ..params };
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits::default(), &stop, &|_| {});
        let mut run = Run::new(&control, 1, 0, 1);
        let weights = Mutex::new(Vec::new());
        together(&mut run, 2, false, |member, run| {
            let mut nest = Nest::new(&tree, &params, Some(member));
            nest.begin(1);
            nest.iterate(1, 8, false, run);
            let weight = |child| nest.policy.log_weight(tree.code(&0, child));
            weights.lock().unwrap().push((weight(1), weight(2), nest.levels[1].best.score));
        });
        assert_eq!(run.playouts(), 8);
        // Two rounds of four, one step between them: 4 (1 - 1/2) for the chosen one, -4 / 2 for the other.
        for (left, right, score) in weights.into_inner().unwrap() {
            assert_eq!(score, 1.0, "one of eight playouts goes left");
            let (won, lost) = if left > right { (left, right) } else { (right, left) };
            assert!((won - 2.0).abs() < 1e-12 && (lost + 2.0).abs() < 1e-12, "{left} {right}");
        }
    }

    /// The best local policy becomes that of the level above: with one worker, all that the call has learnt.
    #[test]
    fn a_local_policy_outlives_its_call() {
        let tree = Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 1.0] };
        let params = Nrpa { level: 2, iterations: 1, ..small(Parallel::Local(1), 1) };
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits::default(), &stop, &|_| {});
        let mut run = Run::new(&control, 1, 0, 1);
        together(&mut run, 1, true, |member, run| {
            let mut nest = Nest::new(&tree, &params, Some(member));
            nest.begin(2);
            nest.divide(1, run);
            let chosen = nest.levels[1].best.moves[0];
            let weight = |child| nest.policy.log_weight(tree.code(&0, child));
            assert!((weight(chosen) - 0.5).abs() < 1e-12 && (weight(3 - chosen) + 0.5).abs() < 1e-12);
            let mark = nest.levels[2].mark;
            nest.policy.rewind(mark);
            assert_eq!(nest.policy.log_weight(tree.code(&0, chosen)), 0.0);
        });
    }

    /// GNRPA as its paper has it: w by code, p = exp(w / tau) / z, w += alpha / tau (1 or 0 - p).
    #[test]
    fn temperature_is_that_of_gnrpa() {
        let tau = 1.7;
        let tree = Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 1.0] };
        let params = Nrpa { level: 1, iterations: 40, temperature: tau, ..small(Parallel::None, 1) };
        let mut nest = Nest::new(&tree, &params, None);
        nest.levels[1].best = retrace(&tree, nest.offer, &nest.policy, &[0], &mut nest.scratch).unwrap();
        let mut w = [0.0f64; 2];
        for _ in 0..10 {
            let exps = w.map(|w| (w / tau).exp());
            let p = exps.map(|e| e / (exps[0] + exps[1]));
            w[0] += params.alpha / tau * (1.0 - p[0]);
            w[1] -= params.alpha / tau * p[1];
            nest.policy.adapt(&mut nest.levels[1].best, nest.step);
            for (child, w) in [(1, w[0]), (2, w[1])] {
                assert!((nest.policy.log_weight(tree.code(&0, child)) - w / tau).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn stabilise_plays_more_and_adapts_to_the_best() {
        let tree = bushy(10);
        let params = Nrpa { stabilise: 5, ..small(Parallel::None, 1) };
        let out = solve(&tree, &params, 1, Limits::default());
        assert_eq!(out.playouts, 729 * 5);
        let limited = solve(&tree, &params, 1, Limits { playouts: Some(733), ..Limits::default() });
        assert_eq!(limited.playouts, 733, "a limit within a step is exact");
        let shared = Nrpa { stabilise: 5, ..small(Parallel::Shared(1), 4) };
        assert_eq!(solve(&tree, &shared, 2, Limits::default()).playouts, 729 * 5);
        // The trace of a call of level 0 is the best of its playouts.
        let stop = AtomicBool::new(false);
        let best = AtomicU32::new(0);
        let observer = |event: Event| {
            if let Event::Improved { score, .. } = event {
                best.fetch_max(score as u32, Ordering::Relaxed);
            }
        };
        let control = Control::new(Limits::default(), &stop, &observer);
        let mut run = Run::new(&control, 1, 0, 1);
        let mut nest = Nest::new(&tree, &params, None);
        nest.sample(&mut run);
        assert_eq!(run.playouts(), 5);
        assert_eq!(nest.levels[0].best.score, best.load(Ordering::Relaxed) as f64);
    }

    #[test]
    fn repetitions_end_a_level_early() {
        // One path only: every playout is the best again, so that each level makes 1 + R calls.
        let path = Tree { children: vec![vec![1], vec![2], vec![]], scores: vec![0.0, 0.0, 7.0] };
        for (form, calls) in [(Parallel::None, 1), (Parallel::Shared(1), 4)] {
            let workers = calls;
            let params = Nrpa { repetitions: 2, iterations: 100, ..small(form, workers) };
            let out = solve(&path, &params, 2, Limits::default());
            assert_eq!(out.playouts, 3 * 3 * 3 * calls as u64, "{form}: a round counts as one");
        }
        let params = Nrpa { repetitions: 1000, ..small(Parallel::None, 1) };
        let plain = solve(&bushy(10), &small(Parallel::None, 1), 1, Limits::default());
        assert_eq!(solve(&bushy(10), &params, 1, Limits::default()).best, plain.best);
    }

    #[test]
    fn bad_parameters_are_refused() {
        let refused = |nrpa: Nrpa| nrpa.check().unwrap_err().parameter;
        let plain = Nrpa::default;
        assert_eq!(refused(Nrpa { temperature: 0.0, ..plain() }), "temperature");
        assert_eq!(refused(Nrpa { temperature: f64::NAN, ..plain() }), "temperature");
        assert_eq!(refused(Nrpa { stabilise: 0, ..plain() }), "stabilise");
        assert_eq!(refused(Nrpa { workers: 0, ..plain() }), "workers");
        assert_eq!(refused(Nrpa { parallel: Parallel::Shared(4), ..plain() }), "parallel");
        assert_eq!(refused(Nrpa { parallel: Parallel::Local(0), ..plain() }), "parallel");
        for text in ["none", "shared:1", "local:2"] {
            assert_eq!(Parallel::try_from(text.to_string()).unwrap().to_string(), text);
        }
        for text in ["", "shared", "shared:", "shared:-1", "none:1", "root", "local:x"] {
            assert!(Parallel::try_from(text.to_string()).is_err(), "{text}");
        }
    }

    #[test]
    fn every_form_stops_when_told() {
        let left = LeftMove { depth: 200 };
        for form in FORMS {
            let nrpa = Nrpa { level: 4, iterations: 1000, parallel: form, workers: 4, ..Nrpa::default() };
            let start = Instant::now();
            let limits = Limits { seconds: Some(0.05), ..Limits::default() };
            assert_eq!(solve(&left, &nrpa, 2, limits).reason, StopReason::Time, "{form}");
            let stop = AtomicBool::new(true);
            let control = Control::new(Limits::default(), &stop, &|_| {});
            let spec = BestOf { search: Search::Nrpa(nrpa), seed: 3, streams: 2, threads: 4 };
            assert_eq!(best_of(&left, &spec, &control, Vec::new()).reason, StopReason::Asked, "{form}");
            assert!(start.elapsed() < Duration::from_secs(5), "{form}"); // a search that does not stop takes years
        }
    }

    #[test]
    fn what_is_announced_is_counted_and_right() {
        let tree = bushy(12);
        for form in FORMS {
            let found = Mutex::new(Vec::new());
            let observer = |event: Event| {
                if let Event::Improved { score, moves, .. } = event {
                    assert_eq!(tree.score(&crate::replay::replay_whole(&tree, &moves).unwrap()), score);
                    found.lock().unwrap().push(score);
                }
            };
            let stop = AtomicBool::new(false);
            let control = Control::new(Limits::default(), &stop, &observer);
            let spec = BestOf { search: Search::Nrpa(small(form, 4)), seed: 3, streams: 1, threads: 3 };
            let best = best_of(&tree, &spec, &control, Vec::new()).best.unwrap();
            let found = found.into_inner().unwrap();
            assert!(found.is_sorted_by(|a, b| a < b), "{form}: {found:?}");
            assert_eq!(found.last(), Some(&best.score), "{form}");
        }
    }

    #[test]
    fn a_shared_search_resumes_where_it_was() {
        let shared = [Parallel::Shared(1), Parallel::Shared(2)];
        for form in [Parallel::None, Parallel::Local(1), Parallel::Islands(2)].into_iter().chain(shared) {
            assert!(resumes(&bushy(12), &small(form, 4)) > 2, "{form}");
        }
    }

    const RESUMED_MAX: usize = 30;

    /// Checks that checkpoints of a run lead to the same end as no interruption at all; how many were tried.
    fn resumes<P: Problem>(problem: &P, nrpa: &Nrpa) -> usize {
        let spec = BestOf { search: Search::Nrpa(nrpa.clone()), seed: 3, streams: 1, threads: 2 };
        let saved: Mutex<Vec<StreamCheckpoint>> = Mutex::new(Vec::new());
        let observer = |event: Event| {
            if let Event::Checkpoint(checkpoint) = event {
                saved.lock().unwrap().push(checkpoint);
            }
        };
        let stop = AtomicBool::new(false);
        let mut control = Control::new(Limits::default(), &stop, &observer);
        control.checkpoint_every = Some(Duration::ZERO);
        let whole = best_of(problem, &spec, &control, Vec::new());
        let saved = saved.into_inner().unwrap();
        let middle: Vec<_> = saved.iter().filter(|c| !c.search.is_empty()).collect();
        let middle: Vec<_> = middle.iter().step_by(1 + middle.len() / RESUMED_MAX).collect();
        let quiet = Control::new(Limits::default(), &stop, &|_| {});
        for checkpoint in &middle {
            let again = best_of(problem, &spec, &quiet, vec![(**checkpoint).clone()]);
            assert_eq!((&again.best, again.playouts), (&whole.best, whole.playouts), "{}", nrpa.parallel);
        }
        middle.len()
    }

    /// LeftMove that offers nothing but right, and whose local search turns the first right to the left.
    struct Shy(LeftMove);

    impl Domain for Shy {
        type State = Vec<bool>;
        type Move = bool;

        fn initial(&self) -> Vec<bool> {
            Vec::new()
        }
        fn moves(&self, state: &Vec<bool>, out: &mut Vec<bool>) {
            self.0.moves(&(state.len() as u32, 0), out)
        }
        fn play(&self, state: &mut Vec<bool>, left: bool) {
            state.push(left)
        }
        fn show(&self, state: &Vec<bool>) -> String {
            format!("{state:?}")
        }
        fn show_move(&self, _: &Vec<bool>, left: bool) -> String {
            self.0.show_move(&(0, 0), left)
        }
    }

    impl Problem for Shy {
        fn score(&self, state: &Vec<bool>) -> f64 {
            state.iter().filter(|&&left| left).count() as f64
        }
        fn code(&self, state: &Vec<bool>, left: bool) -> u64 {
            self.0.code(&(state.len() as u32, 0), left)
        }
        fn codes_max(&self) -> Option<usize> {
            self.0.codes_max()
        }
        fn choices(&self, state: &Vec<bool>, out: &mut crate::domain::Choices<bool>) {
            // From the middle on all is offered.
            self.moves(state, &mut out.moves);
            if 2 * state.len() < self.0.depth as usize {
                out.moves.retain(|&left| !left);
            }
            for &mv in &out.moves {
                out.codes.push(self.code(state, mv));
            }
        }
        fn improve(&self, end: &Vec<bool>, rng: &mut crate::rng::Rng) -> Option<Vec<bool>> {
            let rights: Vec<usize> = (0..end.len()).filter(|&i| !end[i]).collect();
            let mut better = end.clone();
            better[*rights.get(rng.below(rights.len().max(1)))?] = true;
            Some(better)
        }
    }

    #[test]
    fn improved_sequences_are_taken_and_learnt_from() {
        let shy = Shy(LeftMove { depth: 20 });
        crate::conformance::problem(&shy, 2, 1);
        let best = |improve, level| {
            let nrpa = Nrpa { improve, level, ..small(Parallel::None, 1) };
            solve(&shy, &nrpa, 1, Limits::default()).best.unwrap().score
        };
        assert!(best(false, 3) <= 10.0, "the first half is never offered");
        assert!(best(true, 1) > best(false, 1));
        assert!(best(true, 3) > 10.0);
        // A move that was not offered is listed behind the choices, so that its code gains.
        let params = Nrpa { improve: true, ..small(Parallel::None, 1) };
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits::default(), &stop, &|_| {});
        let mut run = Run::new(&control, 1, 0, 1);
        let mut nest = Nest::new(&shy, &params, None);
        for _ in 0..30 {
            nest.search(1, false, &mut run);
            let best = &mut nest.levels[1].best;
            assert_eq!(best.ends.len(), 20);
            for (step, &left) in best.moves.iter().enumerate() {
                assert_eq!(best.ids[best.chosen[step] as usize], 2 * step as u32 + u32::from(left));
            }
            let mut policy = Policy::new(shy.codes_max());
            policy.adapt(best, 1.0);
            for step in 0..10 {
                let gained = policy.log_weight(2 * step + 1);
                assert_eq!(gained > 0.0, best.moves[step as usize], "step {step}");
            }
        }
    }

    #[test]
    fn improved_searches_repeat_on_any_threads_and_resume() {
        let shy = Shy(LeftMove { depth: 20 });
        for form in [Parallel::None].into_iter().chain(FORMS) {
            let nrpa = Nrpa { improve: true, ..small(form, 4) };
            let alone = solve(&shy, &nrpa, 1, Limits::default());
            for threads in 1..=3 {
                let again = solve(&shy, &nrpa, threads, Limits::default());
                assert_eq!((&again.best, again.playouts), (&alone.best, alone.playouts), "{form}");
            }
            resumes(&shy, &nrpa);
        }
    }

    /// LeftMove whose hundredth playout panics.
    struct Fragile {
        inner: LeftMove,
        scored: AtomicU32,
    }

    impl Domain for Fragile {
        type State = (u32, u32);
        type Move = bool;

        fn initial(&self) -> (u32, u32) {
            self.inner.initial()
        }
        fn moves(&self, state: &(u32, u32), out: &mut Vec<bool>) {
            self.inner.moves(state, out)
        }
        fn play(&self, state: &mut (u32, u32), left: bool) {
            self.inner.play(state, left)
        }
        fn show(&self, state: &(u32, u32)) -> String {
            self.inner.show(state)
        }
        fn show_move(&self, state: &(u32, u32), left: bool) -> String {
            self.inner.show_move(state, left)
        }
    }

    impl Problem for Fragile {
        fn score(&self, state: &(u32, u32)) -> f64 {
            assert_ne!(self.scored.fetch_add(1, Ordering::Relaxed), 100, "fragile");
            self.inner.score(state)
        }
        fn code(&self, state: &(u32, u32), left: bool) -> u64 {
            self.inner.code(state, left)
        }
    }

    #[test]
    fn a_panic_of_one_worker_ends_all_and_is_passed_on() {
        for form in FORMS {
            for threads in 1..=3 {
                let fragile = Fragile { inner: LeftMove { depth: 30 }, scored: AtomicU32::new(0) };
                let nrpa = Nrpa { level: 3, iterations: 50, parallel: form, workers: 4, ..Nrpa::default() };
                let run = || solve(&fragile, &nrpa, threads, Limits::default());
                let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
                let message = panic.downcast_ref::<String>().expect("a message");
                assert!(message.contains("fragile"), "{form}: {message}");
            }
        }
    }
}
