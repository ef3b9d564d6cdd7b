//! Threads that run one nested search together: the rounds in which they share work, and the meetings between.
//!
//! Every member of a team runs the same search on its own copy of everything: policy, best sequences, counts, random
//! stream. They stay equal because all that happens to them is the same. Only the calls of a round are divided: child
//! `j` goes to whoever is free first, draws from random stream `j` of a seed that all copies know, and at the end of
//! the round everybody takes over the best child's sequence. So no policy is ever sent or shared, there is nothing to
//! lock while children run, and the answer depends on the number of children and not on the number of threads.
//!
//! A round at level 1 lasts as long as a playout or two, some 20 us, and waking a sleeping thread costs about as much:
//! a member that is early looks for the others some thousand times before it sleeps. What members leave for the others
//! to read is kept twice, for even and odd rounds: nobody can be two rounds ahead, so one meeting a round is enough.

use crate::playout::Trace;
use crate::rng::Rng;
use crate::run::{Run, StopReason};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::thread;

/// How often an early member looks before it sleeps: for some 50 us.
const LOOKS_MAX: u32 = 3000;
/// Set in the epoch when a member has panicked.
const ABANDONED: u64 = 1;
/// The epoch counts meetings in steps of this.
const STEP: u64 = 2;

/// Runs `work` on `threads` threads as the members of a team; this thread is one of them. `minds_target`: a child is
/// long enough to be broken off when it reaches the target. A panic of any member ends all and goes on from here.
pub(super) fn together<M: Copy + Send + Sync>(
    run: &mut Run,
    threads: usize,
    minds_target: bool,
    work: impl Fn(Member<'_, M>, &mut Run) + Sync,
) {
    let team = Team::new(threads);
    run.lead();
    let panic = thread::scope(|scope| {
        let (team, work) = (&team, &work);
        // Made first: should a thread fail to start, those that did are released.
        let guard = Guard { team, hand: run.hand(minds_target) };
        let others: Vec<_> = (1..threads)
            .map(|number| {
                let mut follower = run.follow();
                let member = Member::new(team, number, follower.hand(minds_target));
                scope.spawn(move || {
                    let _guard = Guard { team, hand: follower.hand(minds_target) };
                    work(member, &mut follower);
                })
            })
            .collect();
        work(Member::new(team, 0, run.hand(minds_target)), run);
        drop(guard);
        others.into_iter().find_map(|other| other.join().err())
    });
    run.disband();
    if let Some(panic) = panic {
        std::panic::resume_unwind(panic);
    }
}

/// Releases the others when its thread panics: those that wait, and those whose children would last long.
struct Guard<'t, M> {
    team: &'t Team<M>,
    hand: Run<'t>,
}

impl<M> Drop for Guard<'_, M> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.hand.interrupt(StopReason::Asked);
            self.team.abandon();
        }
    }
}

/// What the members of a team share.
struct Team<M> {
    members: usize,
    /// The next child of the round. The last to arrive at a meeting puts it back to 0.
    next_child: AtomicUsize,
    arrived: AtomicUsize,
    /// STEP times the meetings so far, and ABANDONED.
    epoch: AtomicU64,
    asleep: AtomicUsize,
    bed: Mutex<()>,
    wake: Condvar,
    looks_max: u32,
    verdict: SharedVerdict,
    /// `desks[odd][number]` is where a member leaves what it found in an odd or even round.
    desks: [Vec<Desk<M>>; 2],
}

/// Aligned so that no two members write to one cache line, nor to the next, which the processor fetches along.
#[repr(align(128))]
struct Desk<M> {
    /// The bits of the score of its best child, that child, and the playouts of all its children.
    score: AtomicU64,
    child: AtomicUsize,
    playouts: AtomicU64,
    find: RwLock<Find<M>>,
}

/// What the best child of a member brought.
pub(super) struct Find<M> {
    /// Its sequence.
    pub trace: Trace<M>,
    /// What its policy had learnt, where that is wanted: see `Policy::changes`.
    pub changes: Vec<(u64, f64)>,
}

/// Written by the last to arrive, read by all before they arrive again. Whether to stop is one of the things that all
/// must hear alike: a member that looked by itself might see what happened after another had looked.
struct SharedVerdict {
    winner: AtomicUsize,
    playouts: AtomicU64,
    stop: AtomicBool,
}

/// The result of a round: the same for every member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    /// The score of the best child.
    pub score: f64,
    /// Whether its find is there to be read.
    pub shown: bool,
    /// Playouts of all children.
    pub playouts: u64,
    /// Why the search must end, if so.
    pub stop: Option<StopReason>,
    winner: usize,
}

/// The division of a round, known to every copy of the stream.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    /// Children of the round.
    pub children: u32,
    seed: u64,
    playouts_left: u64,
}

impl Round {
    /// A round of `children` children.
    pub fn new(children: u32, run: &mut Run) -> Round {
        Round { children, seed: run.rng.bits(), playouts_left: run.playouts_left() }
    }

    /// `total` divided among the children as evenly as whole numbers can be.
    pub fn share(&self, total: u64, child: u32) -> u64 {
        let children = self.children as u64;
        total / children + u64::from((child as u64) < total % children)
    }
}

/// One thread's place in a team.
pub(super) struct Member<'t, M> {
    /// The `Run` of its children.
    pub hand: Run<'t>,
    team: &'t Team<M>,
    number: usize,
    epoch: u64,
    odd: bool,
    /// Its best child of this round, and the hand's playouts when the round began.
    child: u32,
    begun_at: u64,
    best: Find<M>,
}

impl<'t, M: Copy> Member<'t, M> {
    fn new(team: &'t Team<M>, number: usize, hand: Run<'t>) -> Member<'t, M> {
        let best = Find { trace: Trace::default(), changes: Vec::new() };
        Member { hand, team, number, epoch: 0, odd: false, child: 0, begun_at: 0, best }
    }

    /// Begins the next child of the round, with its random stream and its share of the playouts left. `None` when
    /// there is none for this member.
    pub fn begin(&mut self, round: &Round) -> Option<u32> {
        while self.hand.interrupted().is_none() {
            let child = self.team.next_child.fetch_add(1, Ordering::Relaxed) as u32;
            if child >= round.children {
                return None;
            }
            let playouts_max = round.share(round.playouts_left, child);
            if self.hand.begin(Rng::new(round.seed, child as u64), playouts_max) {
                return Some(child);
            }
        }
        None
    }

    /// Ends a child. If it is the member's best, its trace is taken and the rest of the find is the caller's to fill.
    /// Of equal children the later one counts, as it would in a sequential search.
    pub fn end(&mut self, child: u32, trace: &mut Trace<M>) -> Option<&mut Find<M>> {
        let better = trace.score >= self.best.trace.score;
        if better {
            self.child = child;
            std::mem::swap(trace, &mut self.best.trace);
        }
        better.then_some(&mut self.best)
    }

    /// Ends the round: waits for the others. A find below `bar` is of no use to anybody and is not shown; `bar` is
    /// the same for every member.
    pub fn meet(&mut self, bar: f64) -> Verdict {
        let desk = &self.team.desks[usize::from(self.odd)][self.number];
        let score = self.best.trace.score;
        desk.score.store(score.to_bits(), Ordering::Relaxed);
        desk.child.store(self.child as usize, Ordering::Relaxed);
        desk.playouts.store(self.hand.playouts() - self.begun_at, Ordering::Relaxed);
        if score >= bar && score > f64::NEG_INFINITY {
            let mut find = desk.find.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *find, &mut self.best);
        }
        self.best.trace.score = f64::NEG_INFINITY;
        self.begun_at = self.hand.playouts();
        let mut verdict = self.team.meet(self.odd, &mut self.epoch, &self.hand);
        verdict.shown = verdict.score >= bar && verdict.score > f64::NEG_INFINITY;
        self.odd = !self.odd;
        verdict
    }

    /// What the winner of the last round has shown.
    pub fn find(&self, verdict: &Verdict) -> RwLockReadGuard<'_, Find<M>> {
        let desk = &self.team.desks[usize::from(!self.odd)][verdict.winner];
        desk.find.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<M> Team<M> {
    fn new(members: usize) -> Team<M> {
        let desk = |_| Desk {
            score: AtomicU64::new(0),
            child: AtomicUsize::new(0),
            playouts: AtomicU64::new(0),
            find: RwLock::new(Find { trace: Trace::default(), changes: Vec::new() }),
        };
        let cores = thread::available_parallelism().map_or(1, |n| n.get());
        Team {
            members,
            next_child: AtomicUsize::new(0),
            arrived: AtomicUsize::new(0),
            epoch: AtomicU64::new(0),
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            wake: Condvar::new(),
            // Whoever looks while another has no processor to run on keeps it from one.
            looks_max: if members <= cores { LOOKS_MAX } else { 0 },
            verdict: SharedVerdict {
                winner: AtomicUsize::new(0),
                playouts: AtomicU64::new(0),
                stop: AtomicBool::new(false),
            },
            desks: [(0..members).map(desk).collect(), (0..members).map(desk).collect()],
        }
    }

    /// Waits until all members are here. `epoch` is the caller's count of meetings.
    fn meet(&self, odd: bool, epoch: &mut u64, hand: &Run) -> Verdict {
        let desks = &self.desks[usize::from(odd)];
        // What the desks hold is written before this and read after: by the last here, who has seen all arrivals, and
        // by the others after they have seen the new epoch.
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.judge(desks, hand);
            self.arrived.store(0, Ordering::Relaxed);
            self.next_child.store(0, Ordering::Relaxed);
            self.epoch.fetch_add(STEP, Ordering::SeqCst);
            self.wake_all();
        } else {
            self.wait(*epoch);
        }
        *epoch += STEP;
        if self.epoch.load(Ordering::Acquire) & ABANDONED != 0 {
            let stop = Some(StopReason::Asked);
            return Verdict { score: f64::NEG_INFINITY, shown: false, playouts: 0, stop, winner: 0 };
        }
        let winner = self.verdict.winner.load(Ordering::Relaxed);
        Verdict {
            shown: false,
            score: f64::from_bits(desks[winner].score.load(Ordering::Relaxed)),
            playouts: self.verdict.playouts.load(Ordering::Relaxed),
            stop: hand.interrupted().filter(|_| self.verdict.stop.load(Ordering::Relaxed)),
            winner,
        }
    }

    /// The highest score wins, and of equal ones the latest child.
    fn judge(&self, desks: &[Desk<M>], hand: &Run) {
        let (mut winner, mut best, mut playouts) = (0, (f64::NEG_INFINITY, 0), 0);
        for (number, desk) in desks.iter().enumerate() {
            playouts += desk.playouts.load(Ordering::Relaxed);
            let score = f64::from_bits(desk.score.load(Ordering::Relaxed));
            let child = desk.child.load(Ordering::Relaxed);
            if score > best.0 || (score == best.0 && child > best.1) {
                (winner, best) = (number, (score, child));
            }
        }
        self.verdict.winner.store(winner, Ordering::Relaxed);
        self.verdict.playouts.store(playouts, Ordering::Relaxed);
        self.verdict.stop.store(hand.interrupted().is_some(), Ordering::Relaxed);
    }

    fn wait(&self, epoch: u64) {
        let here = || self.epoch.load(Ordering::SeqCst) == epoch;
        for _ in 0..self.looks_max {
            if self.epoch.load(Ordering::Acquire) != epoch {
                return;
            }
            std::hint::spin_loop();
        }
        let mut bed = self.bed.lock().unwrap_or_else(PoisonError::into_inner);
        // First to be counted, then to look again: the other side ends the wait first and then looks who is counted.
        self.asleep.fetch_add(1, Ordering::SeqCst);
        while here() {
            bed = self.wake.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }

    fn wake_all(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            // Whoever was counted and still saw the old epoch sleeps once this lock can be had.
            drop(self.bed.lock().unwrap_or_else(PoisonError::into_inner));
            self.wake.notify_all();
        }
    }

    /// Ends all waiting for ever.
    fn abandon(&self) {
        self.epoch.fetch_or(ABANDONED, Ordering::SeqCst);
        self.wake_all();
    }
}
