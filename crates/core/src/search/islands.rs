//! Islands: NRPA searches side by side that show each other their best sequences now and then. Beyond the papers.
//!
//! An island is the highest level of an NRPA: it calls the level below, keeps the best sequence and adapts to it. After
//! every so many calls it looks at the island before it, in a ring, and takes that one's best sequence if it is better
//! than its own; its policy it keeps, and with it a different view of what to do about that sequence.
//!
//! The policy of an island follows from the sequences it has adapted to, in order, so a job is those sequences (a few
//! dozen numbers each) and a seed: everything a stranger needs, and far less than a policy. The islands are a
//! `JobSource` that does no work itself. What an island does next depends on its own calls and on what its neighbour
//! had found after as many, so the answer is the same on any number of threads.

use super::nrpa::{Nrpa, brought};
use crate::domain::Problem;
use crate::job::{JobId, JobSource, run_jobs};
use crate::playout::{Offer, Scratch, retrace};
use crate::policy::Policy;
use crate::replay::{replay_whole, words};
use crate::rng::{Rng, mix};
use crate::run::{Control, Run, StopReason};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// A sequence that a policy has adapted to, so many times in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lesson {
    /// The index of the choice at each step.
    pub indices: Vec<u32>,
    /// How often.
    pub times: u32,
}

/// A job: one call of the level below the highest, by a policy that has learnt this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What it draws from.
    pub seed: u64,
    /// What the policy has learnt, in order.
    pub lessons: Vec<Lesson>,
    /// Playouts it may make at most.
    pub playouts_max: u64,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Brought {
    /// The score of its best sequence; below all others if it found none.
    pub score: f64,
    /// That sequence.
    pub indices: Vec<u32>,
    /// The playouts it took.
    pub playouts: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Best {
    score: f64,
    indices: Vec<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Island {
    /// Calls that came back.
    calls: u32,
    /// Calls after which the policy was adapted.
    learnt: u32,
    lessons: Vec<Lesson>,
    best: Best,
    /// The best after each round of calls between two looks.
    shown: Vec<Best>,
    playouts_left: u64,
    /// A call is out. Nobody waits for those of an earlier session.
    #[serde(skip)]
    out: bool,
}

/// The islands as a source of calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Islands {
    seed: u64,
    iterations: u32,
    every: u32,
    islands: Vec<Island>,
}

impl Islands {
    /// So many islands of so many calls each, that look at each other after every `every` of them. The playouts are
    /// divided among them.
    pub fn new(islands: u32, iterations: u32, every: u32, playouts_max: u64, seed: u64) -> Islands {
        let island = |number: u64| {
            let count = u64::from(islands.max(1));
            Island {
                calls: 0,
                learnt: 0,
                lessons: Vec::new(),
                best: Best { score: f64::NEG_INFINITY, indices: Vec::new() },
                shown: Vec::new(),
                playouts_left: match playouts_max {
                    u64::MAX => u64::MAX,
                    all => all / count + u64::from(number < all % count),
                },
                out: false,
            }
        };
        Islands { seed, iterations, every: every.max(1), islands: (0..islands.into()).map(island).collect() }
    }

    fn over(&self, island: &Island) -> bool {
        island.calls >= self.iterations || island.playouts_left == 0
    }

    /// Lets an island learn from its last call, after a look at its neighbour where it is time for one. False: the
    /// neighbour has not got there yet.
    fn learn(&mut self, number: usize) -> bool {
        let island = &self.islands[number];
        if island.learnt == island.calls {
            return true;
        }
        if island.calls.is_multiple_of(self.every) {
            let looks = (island.calls / self.every) as usize;
            let before = &self.islands[(number + self.islands.len() - 1) % self.islands.len()];
            match before.shown.get(looks - 1) {
                Some(theirs) if theirs.score > island.best.score => {
                    self.islands[number].best = theirs.clone();
                }
                Some(_) => {}
                // One that has ended early shows nothing more.
                None if self.over(before) && !before.out => {}
                None => return false,
            }
        }
        let island = &mut self.islands[number];
        island.learnt = island.calls;
        match island.lessons.last_mut() {
            Some(last) if last.indices == island.best.indices => last.times += 1,
            _ => island.lessons.push(Lesson { indices: island.best.indices.clone(), times: 1 }),
        }
        true
    }

    fn number(&self, id: JobId) -> Option<usize> {
        let number = (id.0 % self.islands.len() as u64) as usize;
        let island = &self.islands[number];
        (island.out && u64::from(island.calls) == id.0 / self.islands.len() as u64).then_some(number)
    }
}

impl JobSource for Islands {
    type Job = Call;
    type Answer = Brought;

    fn next(&mut self) -> Option<(JobId, Call)> {
        let mut order: Vec<usize> = (0..self.islands.len()).collect();
        order.sort_by_key(|&number| self.islands[number].calls);
        let free = |islands: &mut Islands, number: usize| {
            let island = &islands.islands[number];
            !island.out && !islands.over(island) && islands.learn(number)
        };
        let number = order.into_iter().find(|&number| free(self, number))?;
        let count = self.islands.len() as u64;
        let island = &mut self.islands[number];
        island.out = true;
        let id = u64::from(island.calls) * count + number as u64;
        let seed = mix(self.seed ^ mix(id));
        Some((JobId(id), Call { seed, lessons: island.lessons.clone(), playouts_max: island.playouts_left }))
    }

    fn done(&mut self, id: JobId, answer: Brought) -> bool {
        let Some(number) = self.number(id) else { return false };
        let every = self.every;
        let island = &mut self.islands[number];
        island.out = false;
        island.calls += 1;
        island.playouts_left = island.playouts_left.saturating_sub(answer.playouts);
        if answer.score >= island.best.score {
            island.best = Best { score: answer.score, indices: answer.indices };
        }
        if island.calls.is_multiple_of(every) {
            island.shown.push(island.best.clone());
        }
        true
    }

    fn lost(&mut self, id: JobId) {
        if let Some(number) = self.number(id) {
            self.islands[number].out = false;
        }
    }

    fn finished(&self) -> bool {
        self.islands.iter().all(|island| self.over(island))
    }
}

/// Somebody else who makes the calls of islands, instead of the threads of this process. Works through the source until
/// it is finished; what it could not do is lost.
pub trait CallMaker: Sync {
    /// Has all calls made.
    fn make(&self, source: &mut dyn CallSource);
}

/// The islands as somebody else sees them. An answer that is not the score of its own sequence is not taken.
pub trait CallSource: JobSource<Job = Call, Answer = Brought> {
    /// Looks at the clock: between two answers nobody else does.
    fn look(&mut self);
}

/// Makes one call, for whoever asks; `None` if it was broken off.
pub(crate) fn answer<P: Problem>(
    problem: &P,
    nrpa: &Nrpa,
    call: &Call,
    control: &Control,
) -> Option<Brought> {
    let mut run = Run::new(control, call.seed, 0, 1);
    run.lead();
    let (brought, stop) = make(problem, nrpa, call, run.hand(true));
    matches!(stop, None | Some(StopReason::Target)).then_some(brought)
}

fn make<P: Problem>(problem: &P, nrpa: &Nrpa, call: &Call, mut hand: Run) -> (Brought, Option<StopReason>) {
    hand.begin(Rng::new(call.seed, 0), call.playouts_max);
    let before = hand.playouts();
    let (score, indices) = brought(problem, nrpa, &call.lessons, &mut hand);
    (Brought { score, indices, playouts: hand.playouts() - before }, hand.interrupted())
}

/// Runs the islands of a search on the threads of a stream, or wherever the run has its calls made.
pub(super) fn run<P: Problem>(problem: &P, nrpa: &Nrpa, every: u32, run: &mut Run, resumed: Option<&[u8]>) {
    let saved = resumed.and_then(|bytes| postcard::from_bytes::<Islands>(bytes).ok());
    let fits = |islands: &Islands| {
        islands.islands.len() == nrpa.workers as usize && sound(problem, nrpa, every, islands)
    };
    let islands = saved.filter(fits).unwrap_or_else(|| {
        Islands::new(nrpa.workers, nrpa.iterations, every, run.playouts_left(), run.rng.bits())
    });
    if let Some(maker) = run.call_maker() {
        let mut steward =
            Steward { problem, nrpa, islands, run, scratch: Scratch::new(problem), best_call: None };
        return maker.make(&mut Remote(&mut steward));
    }
    let threads = nrpa.workers.min(run.threads()) as usize;
    run.lead();
    let hand = run.hand(true);
    let mut steward =
        Steward { problem, nrpa, islands, run, scratch: Scratch::new(problem), best_call: None };
    let work = |_, call: &Call| {
        let alarm = Alarm(hand.twin());
        let made = make(problem, nrpa, call, hand.twin());
        drop(alarm);
        Some(made)
    };
    run_jobs(&mut steward, threads, &AtomicBool::new(false), work);
    run.disband();
}

/// Stops the other threads when its own panics.
struct Alarm<'a>(Run<'a>);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.interrupt(StopReason::Asked);
        }
    }
}

/// Whether what was saved is of this search: its sequences can be played and have the scores that are said, and its
/// counts fit each other. With counts that do not, an island would wait for ever for a neighbour's word.
fn sound<P: Problem>(problem: &P, nrpa: &Nrpa, every: u32, saved: &Islands) -> bool {
    let (policy, mut scratch) = (Policy::new(problem.codes_max()), Scratch::new(problem));
    let mut score = |indices: &[u32]| {
        retrace(problem, offer(nrpa), &policy, indices, &mut scratch).map(|trace| trace.score)
    };
    if saved.iterations != nrpa.iterations || saved.every != every.max(1) {
        return false;
    }
    saved.islands.iter().all(|island| {
        let lessons = island.lessons.iter().try_fold(0u32, |sum, lesson| sum.checked_add(lesson.times));
        let counts = island.calls <= saved.iterations
            && (island.learnt == island.calls || island.learnt + 1 == island.calls)
            && lessons == Some(island.learnt)
            && island.shown.len() == (island.calls / saved.every) as usize;
        counts
            && island.lessons.iter().all(|lesson| score(&lesson.indices).is_some())
            && island.shown.iter().chain([&island.best]).all(|best| {
                let nothing = best.score == f64::NEG_INFINITY && best.indices.is_empty();
                nothing || score(&best.indices) == Some(best.score)
            })
    })
}

fn offer(nrpa: &Nrpa) -> Offer {
    Offer { selective: nrpa.selective, bias: nrpa.bias }
}

/// The islands, with the stream told of all that comes back.
struct Steward<'r, 'c, 'p, P: Problem> {
    problem: &'p P,
    nrpa: &'p Nrpa,
    islands: Islands,
    run: &'r mut Run<'c>,
    scratch: Scratch<P>,
    /// The call that brought the best of this session: of equals the earliest call counts, not the first to come back.
    best_call: Option<JobId>,
}

impl<P: Problem> JobSource for Steward<'_, '_, '_, P> {
    type Job = Call;
    type Answer = (Brought, Option<StopReason>);

    fn next(&mut self) -> Option<(JobId, Call)> {
        self.islands.next()
    }

    fn done(&mut self, id: JobId, (brought, stop): Self::Answer) -> bool {
        let best = self.run.best_score();
        if brought.score > best || brought.score == best && self.best_call.is_some_and(|call| id < call) {
            let policy = Policy::new(self.problem.codes_max());
            let offer = offer(self.nrpa);
            let trace = retrace(self.problem, offer, &policy, &brought.indices, &mut self.scratch);
            let moves = words(self.problem, &trace.expect("a call returns what it has played").moves);
            self.best_call = Some(id);
            match brought.score > best {
                true => self.run.offer(brought.score, || moves.clone()),
                false => self.run.prefer(|| moves),
            }
        }
        self.run.count_round(brought.playouts, stop);
        let wanted = match stop {
            // It was broken off: a later session makes the call again, from its beginning.
            Some(_) => {
                self.islands.lost(id);
                false
            }
            None => self.islands.done(id, brought),
        };
        self.run.checkpoint(|| postcard::to_stdvec(&self.islands).expect("plain data always serialises"));
        wanted
    }

    fn lost(&mut self, id: JobId) {
        self.islands.lost(id);
    }

    fn finished(&self) -> bool {
        self.run.stopped() || self.islands.finished()
    }
}

/// The islands whose calls are made elsewhere.
struct Remote<'s, 'r, 'c, 'p, P: Problem>(&'s mut Steward<'r, 'c, 'p, P>);

impl<P: Problem> JobSource for Remote<'_, '_, '_, '_, P> {
    type Job = Call;
    type Answer = Brought;

    fn next(&mut self) -> Option<(JobId, Call)> {
        self.0.next()
    }

    fn done(&mut self, id: JobId, brought: Brought) -> bool {
        let Steward { problem, nrpa, islands, scratch, run, .. } = &mut *self.0;
        if islands.number(id).is_none() {
            return false;
        }
        let policy = Policy::new(problem.codes_max());
        let trace = retrace(*problem, offer(nrpa), &policy, &brought.indices, scratch);
        let end = trace.and_then(|trace| replay_whole(*problem, &words(*problem, &trace.moves)).ok());
        if end.is_none_or(|end| problem.score(&end) != brought.score) {
            islands.lost(id);
            return false;
        }
        let stop = run.reaches_target(brought.score).then_some(StopReason::Target);
        self.0.done(id, (brought, stop))
    }

    fn lost(&mut self, id: JobId) {
        self.0.lost(id);
    }

    fn finished(&self) -> bool {
        self.0.finished()
    }
}

impl<P: Problem> CallSource for Remote<'_, '_, '_, '_, P> {
    fn look(&mut self) {
        self.0.run.look();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::LeftMove;

    /// Defect 10: a checkpoint whose islands had shown less than their calls made every island wait for another one.
    #[test]
    fn a_checkpoint_that_does_not_fit_itself_is_not_gone_on_with() {
        let problem = LeftMove { depth: 6 };
        let nrpa = Nrpa { level: 1, iterations: 4, workers: 2, ..Nrpa::default() };
        let mut islands = Islands::new(2, 4, 2, u64::MAX, 1);
        let stop = AtomicBool::new(false);
        let control = Control::new(crate::run::Limits::default(), &stop, &|_| {});
        for _ in 0..4 {
            let (id, call) = islands.next().expect("a call");
            let brought = answer_call(&problem, &nrpa, &call, &control);
            assert!(islands.done(id, brought));
        }
        assert!(sound(&problem, &nrpa, 2, &islands));
        let wrong = |change: &dyn Fn(&mut Islands)| {
            let mut changed = islands.clone();
            change(&mut changed);
            !sound(&problem, &nrpa, 2, &changed)
        };
        assert!(wrong(&|saved| drop(saved.islands[0].shown.pop())), "it hangs");
        assert!(wrong(&|saved| saved.islands[1].calls = 3));
        assert!(wrong(&|saved| saved.islands[1].learnt = 0));
        assert!(wrong(&|saved| saved.iterations = u32::MAX));
        assert!(wrong(&|saved| saved.every = 1));
        assert!(wrong(&|saved| saved.islands[0].best.score += 1.0), "a score that its moves have not");
        assert!(wrong(&|saved| saved.islands[0].shown[0].score += 1.0));
        assert!(wrong(&|saved| saved.islands[0].best.indices = vec![9]));
    }

    fn answer_call(problem: &LeftMove, nrpa: &Nrpa, call: &Call, control: &Control) -> Brought {
        super::answer(problem, nrpa, call, control).expect("a call")
    }

    fn answer(score: f64, sequence: u32) -> Brought {
        Brought { score, indices: vec![sequence], playouts: 10 }
    }

    #[test]
    fn an_island_takes_the_better_sequence_of_the_one_before_it_and_keeps_its_lessons() {
        let mut islands = Islands::new(2, 4, 2, u64::MAX, 1);
        let mut learnt = Vec::new();
        for (score, sequence) in [(1.0, 1), (5.0, 2), (2.0, 3), (4.0, 4)] {
            let (id, call) = islands.next().unwrap();
            learnt.push(call.lessons.len());
            assert!(islands.done(id, answer(score, sequence)));
            assert!(!islands.done(id, answer(9.0, 9)), "twice");
        }
        // Island 0 has found 1 and 2, island 1 has found 5 and 4: both go on from 5.
        assert_eq!(learnt, [0, 0, 1, 1]);
        let lesson = |sequence: u32, times: u32| Lesson { indices: vec![sequence], times };
        let (_, first) = islands.next().unwrap();
        assert_eq!(first.lessons, [lesson(1, 1), lesson(2, 1)]);
        let (_, second) = islands.next().unwrap();
        assert_eq!(second.lessons, [lesson(2, 2)]);
        assert!(islands.next().is_none() && !islands.finished());
    }

    #[test]
    fn whoever_is_ahead_waits_for_its_neighbour_and_a_lost_call_comes_again() {
        let mut islands = Islands::new(2, 2, 1, 25, 1);
        let (first, call) = islands.next().unwrap();
        let (second, _) = islands.next().unwrap();
        assert_eq!(call.playouts_max, 13);
        assert!(islands.done(first, answer(1.0, 1)));
        assert!(islands.next().is_none(), "its neighbour has not answered");
        islands.lost(second);
        let (again, _) = islands.next().unwrap();
        assert_eq!(again, second);
        assert!(islands.done(again, answer(0.0, 2)));
        let ids: Vec<JobId> = std::iter::from_fn(|| islands.next()).map(|(id, _)| id).collect();
        assert_eq!(ids, [JobId(2), JobId(3)]);
        ids.into_iter().for_each(|id| assert!(islands.done(id, answer(0.5, 3))));
        assert!(islands.finished());
    }
}
