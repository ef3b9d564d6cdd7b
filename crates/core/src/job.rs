//! Coarse-grained work: a source hands out jobs that take seconds to minutes and takes their answers, in whatever order
//! they come. Matches and tunings are sources. A source does no work and no I/O, so the same one runs on the threads of
//! this process (`run_jobs`) and over a network: a worker that vanished is a job that is `lost` and comes again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// The number of a job within its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub u64);

/// Work in pieces.
pub trait JobSource {
    /// What has to be done: everything a stranger needs to know.
    type Job;
    /// What came of it.
    type Answer;

    /// A job to do now. `None`: there is none until an answer comes or a job is lost, or all is `finished`.
    fn next(&mut self) -> Option<(JobId, Self::Job)>;
    /// Takes an answer. False, and nothing changes, if nobody waits for it: it came before, or was never asked for.
    fn done(&mut self, id: JobId, answer: Self::Answer) -> bool;
    /// Nobody is going to answer: the job comes again.
    fn lost(&mut self, id: JobId);
    /// Nothing is left to do. Jobs that are still out do not matter any more.
    fn finished(&self) -> bool;
}

/// Which of the jobs 0, 1, 2 ... are out, which came back, which come again: the accounts of a source whose jobs are
/// numbered.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// All below this number have been handed out or were done before.
    fresh: u64,
    out: BTreeSet<u64>,
    again: BTreeSet<u64>,
    /// Done before they were handed out: of an earlier session.
    before: BTreeSet<u64>,
}

impl Ledger {
    /// The lowest number below `end` that is neither out nor done.
    pub fn next(&mut self, end: u64) -> Option<u64> {
        if let Some(&number) = self.again.first()
            && number < end
        {
            self.again.pop_first();
            self.out.insert(number);
            return Some(number);
        }
        while self.before.remove(&self.fresh) {
            self.fresh += 1;
        }
        if self.fresh >= end {
            return None;
        }
        self.out.insert(self.fresh);
        self.fresh += 1;
        Some(self.fresh - 1)
    }

    /// An answer has come. False if it was not out.
    pub fn done(&mut self, number: u64) -> bool {
        self.out.remove(&number)
    }

    /// It comes again, if it is out.
    pub fn lost(&mut self, number: u64) {
        if self.out.remove(&number) {
            self.again.insert(number);
        }
    }

    /// An earlier session has its answer. False if it is known already.
    pub fn known(&mut self, number: u64) -> bool {
        number >= self.fresh && self.before.insert(number)
    }
}

/// Answers that come in any order, read in the order of their numbers.
#[derive(Debug, Clone)]
pub struct InOrder<T> {
    next: u64,
    waiting: BTreeMap<u64, T>,
}

impl<T> InOrder<T> {
    /// Nothing has come yet.
    pub fn new() -> Self {
        InOrder { next: 0, waiting: BTreeMap::new() }
    }

    /// Takes number `number`.
    pub fn put(&mut self, number: u64, item: T) {
        if number >= self.next {
            self.waiting.insert(number, item);
        }
    }

    /// The next in order, if it has come.
    pub fn take(&mut self) -> Option<T> {
        let item = self.waiting.remove(&self.next)?;
        self.next += 1;
        Some(item)
    }
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// How long a thread without a job sleeps before it looks at `stop` again.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Works through a source on so many threads until it is finished or `stop` is set. `work` answers a job, or `None` if
/// it could not be done, after which the job comes again; it watches `stop` itself where a job takes long. When `stop`
/// is set, no further job is begun. A panic of `work` ends the run and is passed on.
pub fn run_jobs<S>(
    source: &mut S,
    threads: usize,
    stop: &AtomicBool,
    work: impl Fn(JobId, &S::Job) -> Option<S::Answer> + Sync,
) where
    S: JobSource + Send,
{
    let source = Mutex::new(source);
    let changed = Condvar::new();
    let failed = AtomicBool::new(false);
    let worker = || {
        let hurt = OnPanic(&failed, &changed);
        let mut held = lock(&source);
        while !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) && !held.finished() {
            let Some((id, job)) = held.next() else {
                held = match changed.wait_timeout(held, LOOK_AGAIN) {
                    Ok((held, _)) => held,
                    Err(poisoned) => poisoned.into_inner().0,
                };
                continue;
            };
            drop(held);
            let answer = work(id, &job);
            held = lock(&source);
            match answer {
                Some(answer) => {
                    held.done(id, answer);
                }
                None => held.lost(id),
            }
            changed.notify_all();
        }
        std::mem::forget(hurt);
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.max(1) {
            scope.spawn(worker);
        }
        // This thread is one of them.
        worker();
    });
}

/// Tells the other threads when this one unwinds.
struct OnPanic<'a>(&'a AtomicBool, &'a Condvar);

impl Drop for OnPanic<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        self.1.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use std::sync::atomic::AtomicU64;

    /// Squares of the numbers below `end`, each to be done once.
    struct Squares {
        end: u64,
        ledger: Ledger,
        answers: Vec<(u64, u64)>,
        refused: u64,
    }

    impl Squares {
        fn new(end: u64) -> Squares {
            Squares { end, ledger: Ledger::default(), answers: Vec::new(), refused: 0 }
        }
    }

    impl JobSource for Squares {
        type Job = u64;
        type Answer = u64;

        fn next(&mut self) -> Option<(JobId, u64)> {
            self.ledger.next(self.end).map(|n| (JobId(n), n))
        }

        fn done(&mut self, id: JobId, answer: u64) -> bool {
            let wanted = self.ledger.done(id.0);
            match wanted {
                true => self.answers.push((id.0, answer)),
                false => self.refused += 1,
            }
            wanted
        }

        fn lost(&mut self, id: JobId) {
            self.ledger.lost(id.0);
        }

        fn finished(&self) -> bool {
            self.answers.len() as u64 == self.end
        }
    }

    #[test]
    fn every_job_is_answered_once_though_some_are_lost() {
        for threads in [1, 2, 5] {
            let mut source = Squares::new(200);
            let calls = AtomicU64::new(0);
            let stop = AtomicBool::new(false);
            run_jobs(&mut source, threads, &stop, |_, &n| {
                // Every third call fails, whatever the job.
                let call = calls.fetch_add(1, Ordering::Relaxed);
                (call % 3 != 1).then_some(n * n)
            });
            source.answers.sort_unstable();
            assert_eq!(source.answers, (0..200).map(|n| (n, n * n)).collect::<Vec<_>>());
            assert!(calls.load(Ordering::Relaxed) >= 299);
        }
    }

    #[test]
    fn random_schedules_with_loss_and_duplicates_count_exactly_once() {
        for seed in 0..50 {
            let mut rng = Rng::new(seed, 0);
            let mut source = Squares::new(30);
            let mut out: Vec<(JobId, u64)> = Vec::new();
            let mut late: Vec<(JobId, u64)> = Vec::new();
            while !source.finished() {
                match rng.below(4) {
                    0 => out.extend(source.next()),
                    1 if !out.is_empty() => {
                        let (id, n) = out.swap_remove(rng.below(out.len()));
                        source.lost(id);
                        late.push((id, n)); // the worker was only slow: its answer may still come
                    }
                    2 if !out.is_empty() => {
                        let (id, n) = out.swap_remove(rng.below(out.len()));
                        source.done(id, n * n);
                        late.push((id, n));
                    }
                    3 if !late.is_empty() => {
                        let (id, n) = late.swap_remove(rng.below(late.len()));
                        source.done(id, n * n);
                    }
                    _ => {}
                }
            }
            source.answers.sort_unstable();
            assert_eq!(source.answers, (0..30).map(|n| (n, n * n)).collect::<Vec<_>>(), "seed {seed}");
            assert!(source.refused > 0);
        }
    }

    #[test]
    fn a_stopped_run_ends_and_what_is_known_is_not_asked_again() {
        let mut source = Squares::new(1000);
        for n in [0, 1, 5] {
            assert!(source.ledger.known(n) && !source.ledger.known(n));
            source.answers.push((n, n * n));
        }
        let stop = AtomicBool::new(false);
        run_jobs(&mut source, 3, &stop, |id, &n| {
            assert!(![0, 1, 5].contains(&id.0));
            stop.store(n >= 20, Ordering::Relaxed);
            Some(n * n)
        });
        assert!(!source.finished() && source.answers.len() < 100);
    }

    #[test]
    fn answers_are_read_in_order() {
        let mut order = InOrder::new();
        order.put(1, 'b');
        assert_eq!(order.take(), None);
        order.put(0, 'a');
        assert_eq!([order.take(), order.take(), order.take()], [Some('a'), Some('b'), None]);
    }

    #[test]
    #[should_panic]
    fn a_panic_ends_the_run() {
        let stop = AtomicBool::new(false);
        run_jobs(&mut Squares::new(10), 2, &stop, |_, &n| if n == 4 { panic!("job {n}") } else { Some(n) });
    }
}
