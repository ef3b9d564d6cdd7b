//! Beam-NRPA (Cazenave and Teytaud 2012, as figure 2 of Cazenave and Edelkamp 2016 gives it).
//!
//! A level keeps its B best solutions, each with a policy of its own. An iteration develops every one of them by a
//! call of the level below under its policy; what comes back joins the beam with that policy adapted to it, and the
//! B best stay. An entry that stays keeps its policy: it is adapted when a solution is found, not once an iteration.
//! The paper copies a policy per solution returned; here only those that enter the beam get one.

use super::{PerLevel, SpecError, check_alpha, check_level};
use crate::domain::Problem;
use crate::playout::{Offer, Scratch, Trace, playout, retrace};
use crate::policy::{Policy, SavedPolicy};
use crate::replay::words;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// The parameters of Beam-NRPA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BeamNrpa {
    /// Levels of nesting.
    pub level: u32,
    /// Rounds in which a level develops all its entries.
    pub iterations: PerLevel,
    /// Solutions a level keeps, each with its policy.
    pub beam: PerLevel,
    /// The step of an adaptation.
    pub alpha: f64,
    /// Offer the domain's choices rather than all legal moves.
    pub selective: bool,
    /// Add the domain's bias to the weights (GNRPA).
    pub bias: bool,
}

impl Default for BeamNrpa {
    fn default() -> Self {
        BeamNrpa {
            level: 3,
            iterations: PerLevel::Same(100),
            beam: PerLevel::Each(vec![1, 4]),
            alpha: 1.0,
            selective: true,
            bias: false,
        }
    }
}

/// No beam is wider than this: every entry has a policy.
const BEAM_MAX: u32 = 1000;

impl BeamNrpa {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_level(self.level)?;
        self.iterations.check("iterations", self.level, u32::MAX, "at least 1")?;
        self.beam.check("beam", self.level, BEAM_MAX, "from 1 to 1000 solutions")?;
        check_alpha(self.alpha)
    }

    /// The playouts of one whole search. A beam is not full at once: it begins with one entry.
    pub fn playouts(&self) -> f64 {
        let (mut playouts, mut returned) = (1.0, 1.0);
        for level in 1..=self.level as usize {
            let width = self.beam.at(level) as f64;
            let (mut calls, mut entries, mut solutions) = (0.0, 1.0, 0.0);
            for iteration in 0..self.iterations.at(level) {
                calls += entries;
                solutions = f64::min(width, solutions + entries * returned);
                // The entry that is no solution goes when there is no room for it.
                entries = f64::min(width, solutions + 1.0);
                if entries == width && solutions == width {
                    calls += width * (self.iterations.at(level) - iteration - 1) as f64;
                    break;
                }
            }
            (playouts, returned) = (playouts * calls, solutions);
        }
        playouts
    }

    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let mut nest = Nest::new(problem, self);
        let policy = nest.scratch.follow(problem, run.guide());
        // A checkpoint that does not fit is no reason to lose the run: the stream goes on with a fresh search.
        let resumed = run.take_resumed().is_some_and(|bytes| nest.load(&bytes));
        let top = self.level as usize;
        if !resumed {
            nest.levels[top].begin(&policy);
        }
        nest.search(top, resumed, run);
    }
}

/// A nested search under way.
struct Nest<'a, P: Problem> {
    problem: &'a P,
    params: &'a BeamNrpa,
    offer: Offer,
    /// `levels[l]` is the call of level `l` under way, from 1.
    levels: Vec<Level<P::Move>>,
    scratch: Scratch<P>,
}

/// A call of a level.
struct Level<M> {
    iteration: u32,
    /// The entry to develop next in this iteration.
    next: usize,
    /// Best first.
    beam: Vec<Entry<M>>,
    /// What this iteration has found so far, each with the entry it came from.
    found: Vec<(Trace<M>, usize)>,
    /// Memory for entries and traces.
    spare_entries: Vec<Entry<M>>,
    spare_traces: Vec<Trace<M>>,
}

/// A solution and its policy. The first entry of a call is no solution yet: its score is negative infinity.
struct Entry<M> {
    trace: Trace<M>,
    policy: Policy,
}

impl<'a, P: Problem> Nest<'a, P> {
    fn new(problem: &'a P, params: &'a BeamNrpa) -> Self {
        Nest {
            problem,
            params,
            offer: Offer { selective: params.selective, bias: params.bias },
            levels: (0..=params.level).map(|_| Level::new()).collect(),
            scratch: Scratch::new(problem),
        }
    }

    /// One call of a level, begun by the caller; its solutions are left in `levels[level].beam`. `resumed`: the call
    /// of the level below that comes first goes on, too, from level 2 up.
    fn search(&mut self, level: usize, resumed: bool, run: &mut Run) {
        let iterations = self.params.iterations.at(level);
        let mut resumed = resumed && level > 2;
        while self.levels[level].iteration < iterations {
            while self.levels[level].next < self.levels[level].beam.len() {
                if level == 2 {
                    run.checkpoint(|| self.save());
                }
                self.develop(level, resumed, run);
                resumed = false;
                if run.stopped() {
                    return;
                }
                self.levels[level].next += 1;
            }
            self.levels[level].select(self.params.beam.at(level) as usize, self.params.alpha);
            self.levels[level].iteration += 1;
        }
    }

    /// One call of the level below under the policy of the entry whose turn it is.
    fn develop(&mut self, level: usize, resumed: bool, run: &mut Run) {
        if level == 1 {
            return self.playout(run);
        }
        let (below, here) = self.levels.split_at_mut(level);
        let (below, here) = (&mut below[level - 1], &here[0]);
        if !resumed {
            below.begin(&here.beam[here.next].policy);
        }
        self.search(level - 1, resumed, run);
        let (below, here) = self.levels.split_at_mut(level);
        here[0].take_from(&mut below[level - 1]);
    }

    fn playout(&mut self, run: &mut Run) {
        let here = &mut self.levels[1];
        let policy = &here.beam[here.next].policy;
        let mut trace = here.spare_traces.pop().unwrap_or_default();
        playout(self.problem, self.offer, policy, &mut run.rng, &mut self.scratch, &mut trace);
        run.count_playout();
        run.offer(trace.score, || words(self.problem, &trace.moves));
        here.found.push((trace, here.next));
    }

    /// The calls of levels 2 and up, as they stand before a call of level 1.
    fn save(&self) -> Vec<u8> {
        let levels = self.levels[2..].iter().map(|level| SavedLevel {
            iteration: level.iteration,
            next: level.next,
            beam: level.beam.iter().map(Entry::save).collect(),
            found: level.found.iter().map(|(trace, parent)| (trace.indices(), *parent)).collect(),
        });
        postcard::to_stdvec(&levels.collect::<Vec<_>>()).expect("plain data always serialises")
    }

    /// Restores what `save` gave. False, and nothing changed, if it is not of this search.
    fn load(&mut self, bytes: &[u8]) -> bool {
        let Ok(saved) = postcard::from_bytes::<Vec<SavedLevel>>(bytes) else { return false };
        if saved.len() + 2 != self.levels.len() {
            return false;
        }
        let Some(restored) = saved.iter().map(|level| self.load_level(level)).collect::<Option<Vec<_>>>()
        else {
            return false;
        };
        self.levels.truncate(2);
        self.levels.extend(restored);
        true
    }

    fn load_level(&mut self, saved: &SavedLevel) -> Option<Level<P::Move>> {
        let mut level = Level { iteration: saved.iteration, next: saved.next, ..Level::new() };
        for entry in &saved.beam {
            let policy = Policy::load(&entry.policy, self.problem.codes_max())?;
            let trace = match &entry.indices {
                Some(indices) => retrace(self.problem, self.offer, &policy, indices, &mut self.scratch)?,
                None => Trace::default(),
            };
            level.beam.push(Entry { trace, policy });
        }
        level.beam.get(saved.next)?;
        for (indices, parent) in &saved.found {
            let policy = &level.beam.get(*parent)?.policy;
            let mut trace = retrace(self.problem, self.offer, policy, indices, &mut self.scratch)?;
            trace.forget_all_ids();
            level.found.push((trace, *parent));
        }
        Some(level)
    }
}

#[derive(Serialize, Deserialize)]
struct SavedLevel {
    iteration: u32,
    next: usize,
    beam: Vec<SavedEntry>,
    /// The index of the choice at each step, and the entry it came from.
    found: Vec<(Vec<u32>, usize)>,
}

#[derive(Serialize, Deserialize)]
struct SavedEntry {
    /// None for the entry that is no solution yet.
    indices: Option<Vec<u32>>,
    policy: SavedPolicy,
}

impl<M> Entry<M> {
    fn new() -> Self {
        Entry { trace: Trace::default(), policy: Policy::default() }
    }

    fn is_solution(&self) -> bool {
        self.trace.score > f64::NEG_INFINITY
    }

    fn save(&self) -> SavedEntry {
        SavedEntry { indices: self.is_solution().then(|| self.trace.indices()), policy: self.policy.save() }
    }
}

impl<M> Level<M> {
    fn new() -> Self {
        Level {
            iteration: 0,
            next: 0,
            beam: Vec::new(),
            found: Vec::new(),
            spare_entries: Vec::new(),
            spare_traces: Vec::new(),
        }
    }

    /// A new call: the beam is one entry without a solution, with the caller's policy.
    fn begin(&mut self, policy: &Policy) {
        (self.iteration, self.next) = (0, 0);
        self.spare_entries.append(&mut self.beam);
        self.spare_traces.extend(self.found.drain(..).map(|(trace, _)| trace));
        let mut entry = self.spare_entries.pop().unwrap_or_else(Entry::new);
        entry.trace.clear();
        entry.policy.copy_from(policy);
        self.beam.push(entry);
    }

    /// Takes the solutions of a call of the level below; the policies they come with are not needed any more.
    fn take_from(&mut self, below: &mut Level<M>) {
        for entry in below.beam.iter_mut().filter(|entry| entry.is_solution()) {
            let mut trace = self.spare_traces.pop().unwrap_or_default();
            std::mem::swap(&mut trace, &mut entry.trace);
            trace.forget_all_ids();
            self.found.push((trace, self.next));
        }
    }

    /// The end of an iteration: the `width` best of the beam and of what was found become the beam. Of equal scores
    /// the newest comes first, as in NRPA, where ties replace.
    fn select(&mut self, width: usize, alpha: f64) {
        let n = self.beam.len();
        let score = |i: usize| if i < n { self.beam[i].trace.score } else { self.found[i - n].0.score };
        let mut best: Vec<usize> = (0..n + self.found.len()).collect();
        let age = |i: usize| if i < n { (1, i) } else { (0, n + self.found.len() - i) };
        best.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then(age(a).cmp(&age(b))));
        best.truncate(width);

        // Policies are copied before any entry goes: a parent may go in the round in which its child comes.
        let mut old: Vec<Option<Entry<M>>> = self.beam.drain(..).map(Some).collect();
        let mut children = Vec::new();
        for &i in best.iter().filter(|&&i| i >= n) {
            let (trace, parent) = &mut self.found[i - n];
            let parent = old[*parent].as_ref().expect("no entry is gone yet");
            let mut child = self.spare_entries.pop().unwrap_or_else(Entry::new);
            child.policy.copy_from(&parent.policy);
            std::mem::swap(&mut child.trace, trace);
            child.policy.adapt(&mut child.trace, alpha);
            children.push(child);
        }
        let mut children = children.into_iter();
        for &i in &best {
            let entry = if i < n { old[i].take() } else { children.next() };
            self.beam.push(entry.expect("each is chosen once"));
        }
        self.spare_entries.extend(old.into_iter().flatten());
        self.spare_traces.extend(self.found.drain(..).map(|(trace, _)| trace));
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::trial::{end, optimum, resumes_exactly, tree};
    use crate::search::{Sample, Search};
    use crate::toy::LeftMove;

    fn beam(level: u32, iterations: u32, beam: &str) -> BeamNrpa {
        BeamNrpa {
            level,
            iterations: PerLevel::Same(iterations),
            beam: beam.parse().unwrap(),
            ..BeamNrpa::default()
        }
    }

    #[test]
    fn finds_the_optimum_of_tiny_instances() {
        let tree = tree(5);
        for width in ["1", "1,3", "4"] {
            let search = Search::BeamNrpa(beam(2, 40, width));
            assert_eq!(end(&tree, &search, None, 1).best.unwrap().score, optimum(&tree), "beam {width}");
            let best = end(&LeftMove { depth: 20 }, &search, None, 1).best.unwrap();
            assert_eq!(best.score, 20.0, "beam {width}");
        }
    }

    /// Figure 2 of the paper word for word: every solution returned gets a copy of its parent's policy.
    fn literally<P: Problem>(
        problem: &P,
        params: &BeamNrpa,
        level: usize,
        policy: &Policy,
        run: &mut Run,
    ) -> Vec<(Trace<P::Move>, Policy)> {
        let offer = Offer { selective: params.selective, bias: params.bias };
        if level == 0 {
            let mut trace = Trace::default();
            playout(problem, offer, policy, &mut run.rng, &mut Scratch::new(problem), &mut trace);
            run.count_playout();
            run.offer(trace.score, || words(problem, &trace.moves));
            return vec![(trace, policy.clone())];
        }
        let mut beam = vec![(Trace::default(), policy.clone())];
        for _ in 0..params.iterations.at(level) {
            let mut list = Vec::new();
            for (_, policy) in &beam {
                for (mut trace, _) in literally(problem, params, level - 1, policy, run) {
                    let mut adapted = policy.clone();
                    trace.forget_all_ids();
                    adapted.adapt(&mut trace, params.alpha);
                    list.insert(0, (trace, adapted));
                }
            }
            list.append(&mut beam);
            list.sort_by(|a, b| b.0.score.total_cmp(&a.0.score)); // stable: newest first
            list.truncate(params.beam.at(level) as usize);
            beam = list;
        }
        beam.retain(|(trace, _)| trace.score > f64::NEG_INFINITY);
        beam
    }

    #[test]
    fn is_the_papers_figure() {
        let params = beam(2, 12, "2,3");
        let tree = tree(7);
        let stop = std::sync::atomic::AtomicBool::new(false);
        let control = crate::run::Control::new(Default::default(), &stop, &|_| {});
        for seed in 0..4 {
            let mut run = Run::new(&control, seed, 0, 1);
            literally(&tree, &params, 2, &Policy::new(None), &mut run);
            assert_eq!(run.finish(), end(&tree, &Search::BeamNrpa(params.clone()), None, seed));
        }
    }

    #[test]
    fn beats_sampling_repeats_and_stops_when_told() {
        let problem = LeftMove { depth: 60 };
        let search = Search::BeamNrpa(beam(2, 100, "4"));
        let ours = end(&problem, &search, Some(3000), 1);
        assert_eq!(ours.playouts, 3000);
        assert_eq!(ours, end(&problem, &search, Some(3000), 1));
        let sampled = end(&problem, &Search::Sample(Sample::default()), Some(3000), 1);
        assert!(ours.best.unwrap().score > sampled.best.unwrap().score + 5.0);
    }

    #[test]
    fn playouts_are_foretold() {
        for (level, iterations, width) in
            [(1, 7, "1"), (1, 7, "3"), (1, 1, "3"), (2, 6, "1,4"), (3, 5, "2,3,1"), (2, 3, "9")]
        {
            let params = beam(level, iterations, width);
            let foretold = params.playouts();
            let played = end(&LeftMove { depth: 9 }, &Search::BeamNrpa(params), None, 1).playouts;
            assert_eq!(foretold, played as f64, "{level} {iterations} {width}");
        }
    }

    #[test]
    fn a_resumed_search_ends_where_the_whole_one_does() {
        resumes_exactly(&tree(8), &Search::BeamNrpa(beam(3, 8, "1,3")), 4);
        resumes_exactly(&LeftMove { depth: 40 }, &Search::BeamNrpa(beam(3, 8, "3")), 4);
    }
}
