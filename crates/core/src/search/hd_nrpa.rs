//! High-Diversity NRPA (Cazenave and Edelkamp 2016; a shorter version is Edelkamp and Cazenave, KI 2016).
//!
//! NRPA whose levels keep a beam of solutions, best first, no two of them alike, and learn from all of them at once:
//! what a better solution teaches is not taught again by a worse one. One call of the level below per iteration, so
//! it plays as many playouts as NRPA. The paper's arrays become recorded traces in buckets allocated once; its linear
//! scans become look-ups by policy id; and what a beam teaches is worked out only when the beam has changed.
//! docs/searches/hd-nrpa.md lists what the paper's figures leave open and what was decided.

use super::{PerLevel, SpecError, check_alpha, check_level};
use crate::domain::Problem;
use crate::playout::{Offer, Scratch, Trace, playout, retrace};
use crate::policy::{Mark, Policy, SavedPolicy};
use crate::replay::words;
use crate::run::Run;
use serde::{Deserialize, Serialize};

/// The parameters of HD-NRPA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HdNrpa {
    /// Levels of nesting.
    pub level: u32,
    /// Calls of the level below; their product is the number of playouts.
    pub iterations: PerLevel,
    /// Solutions a level keeps.
    pub beam: PerLevel,
    /// Share of a level's iterations that pass before it learns.
    pub learn_after: f64,
    /// The step of an adaptation.
    pub alpha: f64,
    /// Offer the domain's choices rather than all legal moves.
    pub selective: bool,
    /// Add the domain's bias to the weights (GNRPA).
    pub bias: bool,
}

impl Default for HdNrpa {
    fn default() -> Self {
        HdNrpa {
            level: 3,
            iterations: PerLevel::Same(100),
            beam: PerLevel::Each(vec![1, 10]),
            learn_after: 0.1,
            alpha: 1.0,
            selective: true,
            bias: false,
        }
    }
}

/// No beam is wider than this.
const BEAM_MAX: u32 = 1000;

impl HdNrpa {
    pub(super) fn check(&self) -> Result<(), SpecError> {
        check_level(self.level)?;
        self.iterations.check("iterations", self.level, u32::MAX, "at least 1")?;
        self.beam.check("beam", self.level, BEAM_MAX, "from 1 to 1000 solutions")?;
        check_alpha(self.alpha)?;
        if !(0.0..1.0).contains(&self.learn_after) {
            let given = self.learn_after.to_string();
            return Err(SpecError {
                parameter: "learn_after",
                given,
                expected: "a share from 0 up to below 1",
            });
        }
        Ok(())
    }

    pub(super) fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let mut nest = Nest::new(problem, self);
        nest.policy = nest.scratch.follow(problem, run.guide());
        // A checkpoint that does not fit is no reason to lose the run: the stream goes on with a fresh search.
        let resumed = run.take_resumed().is_some_and(|bytes| nest.load(&bytes));
        nest.search(self.level as usize, resumed, run);
    }

    /// The iterations of a level that teach nothing.
    fn deaf(&self, level: usize) -> u32 {
        (self.learn_after * self.iterations.at(level) as f64).round() as u32
    }
}

/// A nested search under way.
struct Nest<'a, P: Problem> {
    problem: &'a P,
    params: &'a HdNrpa,
    offer: Offer,
    policy: Policy,
    /// `levels[l]` is the call of level `l` under way; the only bucket of level 0 is the last playout.
    levels: Vec<Level<P::Move>>,
    teacher: Teacher,
    scratch: Scratch<P>,
}

struct Level<M> {
    iteration: u32,
    mark: Mark,
    beam: Beam<M>,
    /// What the beam teaches, if it has not changed since.
    lesson: Option<Trace<M>>,
    /// The memory of a lesson that is out of date.
    spare: Trace<M>,
}

impl<'a, P: Problem> Nest<'a, P> {
    fn new(problem: &'a P, params: &'a HdNrpa) -> Self {
        let level = |level: usize| Level {
            iteration: 0,
            mark: Mark::default(),
            beam: Beam::new(if level == 0 { 1 } else { params.beam.at(level) as usize }),
            lesson: None,
            spare: Trace::default(),
        };
        Nest {
            problem,
            params,
            offer: Offer { selective: params.selective, bias: params.bias },
            policy: Policy::new(problem.codes_max()),
            levels: (0..=params.level as usize).map(level).collect(),
            teacher: Teacher::default(),
            scratch: Scratch::new(problem),
        }
    }

    /// One call of a level (figure 4 of the paper); its solutions are left in `levels[level].beam`. `resumed`: go on
    /// with the calls that `load` restored, from level 2 up, instead of beginning new ones.
    fn search(&mut self, level: usize, resumed: bool, run: &mut Run) {
        if level == 0 {
            return self.playout(run);
        }
        let (iterations, deaf) = (self.params.iterations.at(level), self.params.deaf(level));
        if !resumed {
            self.levels[level].begin(self.policy.mark());
        }
        let mut resumed = resumed && level > 2;
        while self.levels[level].iteration < iterations {
            if level == 2 {
                run.checkpoint(|| self.save());
            }
            self.search(level - 1, resumed, run);
            resumed = false;
            let (below, here) = self.levels.split_at_mut(level);
            here[0].take_from(&mut below[level - 1].beam);
            if run.stopped() {
                break;
            }
            here[0].iteration += 1;
            // What is learnt after the last iteration would be forgotten at once.
            if here[0].iteration > deaf && here[0].iteration < iterations {
                self.adapt(level);
            }
        }
        let here = &mut self.levels[level];
        self.policy.rewind(here.mark);
        here.beam.forget_ids();
    }

    fn playout(&mut self, run: &mut Run) {
        let beam = &mut self.levels[0].beam;
        beam.len = 1;
        let last = &mut beam.buckets[0];
        playout(self.problem, self.offer, &self.policy, &mut run.rng, &mut self.scratch, &mut last.trace);
        last.fingerprint = self.problem.fingerprint(self.scratch.end());
        run.count_playout();
        run.offer(last.trace.score, || words(self.problem, &last.trace.moves));
    }

    /// Moves the policy towards the solutions of a level's beam, as its lesson says.
    fn adapt(&mut self, level: usize) {
        let here = &mut self.levels[level];
        let generation = self.policy.generation();
        let lesson = match here.lesson.take() {
            Some(lesson) if lesson.generation == generation => lesson,
            old => {
                let mut lesson = old.unwrap_or_else(|| std::mem::take(&mut here.spare));
                here.beam.learn_ids(&mut self.policy);
                self.teacher.prepare(here.beam.traces(), &self.policy, &mut lesson);
                lesson
            }
        };
        self.policy.adapt_known(&lesson, self.params.alpha);
        here.lesson = Some(lesson);
    }

    /// The calls of levels 2 and up, as they stand before a call of level 1.
    fn save(&self) -> Vec<u8> {
        let levels = self.levels[2..].iter().map(|level| SavedLevel {
            iteration: level.iteration,
            mark: level.mark,
            beam: level.beam.traces().map(Trace::indices).collect(),
        });
        let saved = Saved { levels: levels.collect(), policy: self.policy.save() };
        postcard::to_stdvec(&saved).expect("plain data always serialises")
    }

    /// Restores what `save` gave. False, and nothing changed, if it is not of this search.
    fn load(&mut self, bytes: &[u8]) -> bool {
        let Ok(saved) = postcard::from_bytes::<Saved>(bytes) else { return false };
        let Some(policy) = Policy::load(&saved.policy, self.problem.codes_max()) else { return false };
        let marks = saved.levels.iter().map(|level| level.mark);
        if saved.levels.len() + 2 != self.levels.len() || !policy.holds(marks.rev()) {
            return false;
        }
        let mut restored = Vec::new();
        for (saved, level) in saved.levels.into_iter().zip(2..) {
            let mut beam = Beam::new(self.params.beam.at(level) as usize);
            if saved.beam.len() > beam.buckets.len() {
                return false;
            }
            for (indices, bucket) in saved.beam.iter().zip(&mut beam.buckets) {
                match retrace(self.problem, self.offer, &policy, indices, &mut self.scratch) {
                    Some(trace) => bucket.trace = trace,
                    None => return false,
                }
                // Places that a level below has taken are given back when it ends.
                bucket.trace.forget_all_ids();
                bucket.fingerprint = self.problem.fingerprint(self.scratch.end());
            }
            beam.len = saved.beam.len();
            let (iteration, mark) = (saved.iteration, saved.mark);
            restored.push(Level { iteration, mark, beam, lesson: None, spare: Trace::default() });
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
    /// The index of the choice at each step of each solution, best first.
    beam: Vec<Vec<u32>>,
}

impl<M> Level<M> {
    fn begin(&mut self, mark: Mark) {
        self.iteration = 0;
        self.mark = mark;
        self.beam.len = 0;
        self.outdate();
    }

    /// Offers the solutions of the level below to this one.
    fn take_from(&mut self, below: &mut Beam<M>) {
        let mut changed = false;
        for newcomer in &mut below.buckets[..below.len] {
            changed |= self.beam.insert(newcomer);
        }
        if changed {
            self.outdate();
        }
    }

    fn outdate(&mut self) {
        if let Some(lesson) = self.lesson.take() {
            self.spare = lesson;
        }
    }
}

/// The solutions a level keeps: the first `len` buckets, best first. The others are memory.
struct Beam<M> {
    buckets: Vec<Bucket<M>>,
    len: usize,
}

struct Bucket<M> {
    trace: Trace<M>,
    /// The domain's, of the end.
    fingerprint: u64,
}

impl<M> Beam<M> {
    fn new(width: usize) -> Self {
        let bucket = || Bucket { trace: Trace::default(), fingerprint: 0 };
        Beam { buckets: (0..width).map(|_| bucket()).collect(), len: 0 }
    }

    fn traces(&self) -> impl Iterator<Item = &Trace<M>> + Clone {
        self.buckets[..self.len].iter().map(|bucket| &bucket.trace)
    }

    /// Puts a solution in its place if it is like none here and better than the worst, and gives that one's bucket
    /// in exchange. Of equal scores the older comes first.
    fn insert(&mut self, newcomer: &mut Bucket<M>) -> bool {
        let score = newcomer.trace.score;
        let full = self.len == self.buckets.len();
        if full && score <= self.buckets[self.len - 1].trace.score {
            return false;
        }
        if self.buckets[..self.len].iter().any(|bucket| bucket.similar(newcomer)) {
            return false;
        }
        self.len += usize::from(!full);
        let last = self.len - 1;
        std::mem::swap(&mut self.buckets[last], newcomer);
        let place = self.buckets[..last].partition_point(|bucket| bucket.trace.score >= score);
        self.buckets[place..=last].rotate_right(1);
        true
    }

    /// Gives every code of the beam an id, all of one generation.
    fn learn_ids(&mut self, policy: &mut Policy) {
        loop {
            let generation = policy.generation();
            for bucket in &mut self.buckets[..self.len] {
                policy.learn_ids(&mut bucket.trace);
            }
            // Growing on the way has changed the ids given before.
            if generation == policy.generation() {
                return;
            }
        }
    }

    /// The policy has taken back what this level taught it.
    fn forget_ids(&mut self) {
        for bucket in &mut self.buckets[..self.len] {
            bucket.trace.forget_all_ids();
        }
    }
}

impl<M> Bucket<M> {
    /// Figure 5 of the paper, and the fingerprint.
    fn similar(&self, other: &Bucket<M>) -> bool {
        self.trace.score == other.trace.score
            && self.trace.moves.len() == other.trace.moves.len()
            && self.fingerprint == other.fingerprint
    }
}

/// Works out what a beam teaches (figure 6 of the paper, HD-Adapt and HD-Other) and writes it down as a trace: one
/// step for every code that a solution chose and no better one did, offering what was on offer there and, besides,
/// wherever a worse solution chose that code. With a single solution that is its own trace.
#[derive(Default)]
struct Teacher {
    /// `taught[id]`: the number of the lesson in which a code was last chosen, and its first fork there.
    taught: Vec<(u64, u32)>,
    lesson: u64,
    /// Chosen codes with what was on offer, chained code by code in the order of the beam.
    forks: Vec<Fork>,
    /// The forks that open a chain, in the order of the beam.
    heads: Vec<u32>,
    /// `offered[id]`: the number of the step in which a code was last put on offer.
    offered: Vec<u64>,
    step: u64,
}

struct Fork {
    bucket: u32,
    step: u32,
    next: Option<u32>,
}

impl Teacher {
    /// All ids of the traces, which come best first, must be known to the policy.
    fn prepare<'t, M: 't>(
        &mut self,
        traces: impl Iterator<Item = &'t Trace<M>>,
        policy: &Policy,
        lesson: &mut Trace<M>,
    ) {
        self.taught.resize(policy.places(), (0, 0));
        self.offered.resize(policy.places(), 0);
        let traces: Vec<&Trace<M>> = traces.collect();
        self.find_forks(&traces);
        lesson.clear();
        lesson.generation = policy.generation();
        for head in 0..self.heads.len() {
            self.write_step(self.heads[head], &traces, lesson);
        }
    }

    fn find_forks<M>(&mut self, traces: &[&Trace<M>]) {
        self.lesson += 1;
        self.forks.clear();
        self.heads.clear();
        for (bucket, trace) in traces.iter().enumerate() {
            for (step, &chosen) in trace.chosen.iter().enumerate() {
                let fork = Fork { bucket: bucket as u32, step: step as u32, next: None };
                let (lesson, head) = &mut self.taught[trace.id(chosen as usize) as usize];
                let new = self.forks.len() as u32;
                if *lesson != self.lesson {
                    (*lesson, *head) = (self.lesson, new);
                } else if self.forks[*head as usize].bucket != fork.bucket {
                    let head = *head;
                    self.chain(head, fork, traces);
                    continue;
                }
                // Also a code that one solution chose twice: it is taught twice, as in NRPA.
                self.heads.push(new);
                self.forks.push(fork);
            }
        }
    }

    /// Adds a fork to the chain of its code, unless the same was on offer at one that is there.
    fn chain<M>(&mut self, head: u32, fork: Fork, traces: &[&Trace<M>]) {
        let offers = |fork: &Fork| {
            let trace = traces[fork.bucket as usize];
            range(traces, fork).map(|i| trace.id(i))
        };
        let mut at = head as usize;
        while !offers(&self.forks[at]).eq(offers(&fork)) {
            match self.forks[at].next {
                Some(next) => at = next as usize,
                None => {
                    self.forks[at].next = Some(self.forks.len() as u32);
                    self.forks.push(fork);
                    return;
                }
            }
        }
    }

    fn write_step<M>(&mut self, head: u32, traces: &[&Trace<M>], lesson: &mut Trace<M>) {
        let fork = &self.forks[head as usize];
        let trace = traces[fork.bucket as usize];
        let offers = range(traces, fork);
        let start = lesson.rows.len();
        lesson.chosen.push((start + trace.chosen[fork.step as usize] as usize - offers.start) as u32);
        lesson.rows.extend(offers.clone().map(|i| trace.id(i)));
        lesson.factors.extend_from_slice(trace.factors.get(offers).unwrap_or_default());
        self.step += 1;
        if fork.next.is_some() {
            for &id in &lesson.rows[start..] {
                self.offered[id as usize] = self.step;
            }
        }
        let mut next = fork.next;
        while let Some(at) = next {
            let fork = &self.forks[at as usize];
            let trace = traces[fork.bucket as usize];
            for i in range(traces, fork) {
                let offered = &mut self.offered[trace.id(i) as usize];
                if *offered != self.step {
                    *offered = self.step;
                    lesson.rows.push(trace.id(i));
                    lesson.factors.extend(trace.factors.get(i));
                }
            }
            next = fork.next;
        }
        lesson.ends.push(lesson.rows.len() as u32);
    }
}

/// Where a fork's step stands in its trace.
fn range<M>(traces: &[&Trace<M>], fork: &Fork) -> std::ops::Range<usize> {
    let (ends, step) = (&traces[fork.bucket as usize].ends, fork.step as usize);
    let start = if step == 0 { 0 } else { ends[step - 1] };
    start as usize..ends[step] as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::trial::{end, optimum, resumes_exactly, tree};
    use crate::search::{Nrpa, Sample, Search};
    use crate::toy::{LeftMove, Tree};

    fn hd(level: u32, iterations: u32, beam: &str) -> HdNrpa {
        HdNrpa {
            level,
            iterations: PerLevel::Same(iterations),
            beam: beam.parse().unwrap(),
            ..HdNrpa::default()
        }
    }

    #[test]
    fn finds_the_optimum_of_tiny_instances() {
        let tree = tree(5);
        for beam in ["1", "1,4", "5"] {
            let search = Search::HdNrpa(hd(3, 20, beam));
            assert_eq!(end(&tree, &search, None, 1).best.unwrap().score, optimum(&tree), "beam {beam}");
            // Here length never differs, so that a wide beam holds solutions of different, lower scores: it gets 29.
            if beam != "5" {
                let best = end(&LeftMove { depth: 30 }, &search, None, 1).best.unwrap();
                assert_eq!(best.score, 30.0, "beam {beam}");
            }
        }
    }

    /// Where no two solutions have the same score, ties cannot tell the two apart.
    #[test]
    fn one_bucket_and_no_waiting_is_nrpa() {
        let params = HdNrpa { learn_after: 0.0, ..hd(3, 9, "1") };
        for seed in 0..5 {
            let nrpa = Search::Nrpa(Nrpa { level: 3, iterations: 9, ..Nrpa::default() });
            let tree = tree(6);
            let (ours, theirs) =
                (end(&tree, &Search::HdNrpa(params.clone()), None, seed), end(&tree, &nrpa, None, seed));
            assert_eq!(ours, theirs);
        }
    }

    /// Two solutions: 1 then 4, and 2 then 4, where 4 is a child of both, beside 5 and beside 6.
    #[test]
    fn two_buckets_teach_by_the_formula() {
        let children = vec![vec![1, 2, 3], vec![4, 5], vec![4, 6], vec![], vec![], vec![], vec![]];
        let tree = Tree { children, scores: vec![0.0; 7] };
        let offer = Offer { selective: true, bias: false };
        let mut policy = Policy::new(None);
        let mut scratch = Scratch::new(&tree);
        let mut beam = Beam::new(2);
        for (indices, score) in [([1, 0], 8.0), ([0, 0], 9.0)] {
            let mut trace = retrace(&tree, offer, &policy, &indices, &mut scratch).unwrap();
            trace.score = score;
            assert!(beam.insert(&mut Bucket { trace, fingerprint: 0 }));
        }
        let mut weights = [0.0f64; 7];
        for _ in 0..3 {
            // 1 is taught with what was beside it; so is 2; 4 once only, against all that was ever beside it.
            let mut expected = weights;
            for (chosen, offered) in [(1, [1, 2, 3]), (4, [4, 5, 6]), (2, [1, 2, 3])] {
                let z: f64 = offered.iter().map(|&c: &usize| weights[c].exp()).sum();
                expected[chosen] += 0.5;
                offered.iter().for_each(|&c| expected[c] -= 0.5 * weights[c].exp() / z);
            }
            let mut lesson = Trace::default();
            beam.learn_ids(&mut policy);
            Teacher::default().prepare(beam.traces(), &policy, &mut lesson);
            assert_eq!(lesson.ends, [3, 6, 9]);
            policy.adapt_known(&lesson, 0.5);
            for (node, expected) in expected.iter().enumerate().skip(1) {
                let weight = policy.log_weight(tree.code(&0, node));
                assert!((weight - expected).abs() < 1e-12, "node {node}: {weight}, {expected}");
            }
            weights = expected;
        }
    }

    #[test]
    fn a_beam_is_sorted_and_keeps_one_of_its_like() {
        let bucket = |score: f64, length: usize, fingerprint| {
            let trace = Trace { score, moves: vec![0u8; length], ..Trace::default() };
            Bucket { trace, fingerprint }
        };
        let mut beam = Beam::new(3);
        let offers = [(5.0, 2, 0, true), (5.0, 2, 0, false), (5.0, 3, 0, true), (7.0, 2, 0, true)];
        for (score, length, fingerprint, taken) in offers {
            assert_eq!(beam.insert(&mut bucket(score, length, fingerprint)), taken, "{score} {length}");
        }
        assert!(!beam.insert(&mut bucket(5.0, 4, 0)), "no better than the worst");
        assert!(beam.insert(&mut bucket(7.0, 2, 1)), "another fingerprint");
        let kept: Vec<(f64, usize)> = beam.traces().map(|t| (t.score, t.moves.len())).collect();
        assert_eq!(kept, [(7.0, 2), (7.0, 2), (5.0, 2)]);
    }

    #[test]
    fn learning_waits_for_its_share_of_the_iterations() {
        // Until it learns, a level is sampling: the same draws as from a policy that never changes.
        let params = HdNrpa { learn_after: 0.99, ..hd(1, 100, "3") };
        let sample = Search::Sample(Sample { selective: true });
        let problem = LeftMove { depth: 40 };
        let ours = end(&problem, &Search::HdNrpa(params.clone()), None, 3).best.unwrap().score;
        let learnt = HdNrpa { learn_after: 0.0, ..params };
        assert!(ours < end(&problem, &Search::HdNrpa(learnt), None, 3).best.unwrap().score);
        let sampled = end(&problem, &sample, Some(100), 3).best.unwrap().score;
        assert!((ours - sampled).abs() <= 6.0, "{ours} {sampled}");
    }

    #[test]
    fn beats_sampling_repeats_and_stops_when_told() {
        let problem = LeftMove { depth: 60 };
        let search = Search::HdNrpa(hd(3, 100, "1,10"));
        let ours = end(&problem, &search, Some(3000), 1);
        assert_eq!(ours.playouts, 3000);
        assert_eq!(ours, end(&problem, &search, Some(3000), 1));
        assert_ne!(ours.rng, end(&problem, &search, Some(3000), 2).rng);
        let sampled = end(&problem, &Search::Sample(Sample::default()), Some(3000), 1);
        assert!(ours.best.unwrap().score > sampled.best.unwrap().score + 5.0);
        assert_eq!(end(&problem, &Search::HdNrpa(hd(3, 12, "4")), None, 1).playouts, 12 * 12 * 12);
    }

    #[test]
    fn a_resumed_search_ends_where_the_whole_one_does() {
        resumes_exactly(&tree(8), &Search::HdNrpa(hd(3, 24, "3")), 4);
        resumes_exactly(&LeftMove { depth: 40 }, &Search::HdNrpa(hd(4, 10, "1,5")), 4);
        let (tree, params) = (tree(2), hd(3, 24, "3"));
        let mut nest = Nest::new(&tree, &params);
        assert!(!nest.load(b"nonsense") && !nest.load(&[]));
    }
}
