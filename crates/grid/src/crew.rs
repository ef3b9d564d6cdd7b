//! The threads of a worker. Each keeps a warm hand for the runs it works for, takes the job that has waited longest, and
//! can be replaced when it hangs: a thread cannot be ended, but it can be left alone.

use crate::wire::{Done, FAILURE_CHARS_MAX, Run, Task, Work as Job};
use crate::worker::{Hand, Told, Workshop};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Runs for which a thread keeps its hand warm.
const HANDS_MAX: usize = 3;
/// A hand is heard of no more often: shorter jobs need no partial results.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// A task that was taken from the engine.
pub struct Assignment {
    /// Its number in this process.
    pub token: u64,
    /// Its run.
    pub run: Arc<Run>,
    /// What it is.
    pub task: Task,
    /// Which delivery.
    pub attempt: u32,
    /// Where it is acknowledged.
    pub reply: String,
    /// Which of its jobs are not wanted any more.
    pub cancel: Vec<AtomicBool>,
    /// Jobs that have come to an end.
    ended: AtomicUsize,
    begun: Mutex<Option<Instant>>,
    cancelled: Mutex<Option<(usize, Instant)>>,
}

impl Assignment {
    /// As it came.
    pub fn new(token: u64, run: Arc<Run>, task: Task, attempt: u32, reply: String) -> Assignment {
        let cancel = task.jobs.iter().map(|_| AtomicBool::new(false)).collect();
        let (ended, begun, cancelled) = (AtomicUsize::new(0), Mutex::new(None), Mutex::new(None));
        Assignment { token, run, task, attempt, reply, cancel, ended, begun, cancelled }
    }

    /// How long a thread has been at the job it is at; `None`: it waits.
    pub fn seconds(&self) -> Option<f64> {
        lock(&self.begun).map(|begun| begun.elapsed().as_secs_f64())
    }

    /// The job that a thread is at, or was last.
    fn at(&self) -> usize {
        self.ended.load(Relaxed).min(self.cancel.len().saturating_sub(1))
    }

    /// Tells it to stop at the job it is at.
    pub fn stop(&self) {
        if let Some(cancel) = self.cancel.get(self.at()) {
            cancel.store(true, Relaxed);
        }
    }

    /// Tells it to stop altogether.
    pub fn stop_all(&self) {
        self.cancel.iter().for_each(|cancel| cancel.store(true, Relaxed));
    }

    /// Tells it to leave out a job.
    pub fn leave_out(&self, job: u64) {
        for (work, cancel) in self.task.jobs.iter().zip(&self.cancel) {
            if work.job == job {
                cancel.store(true, Relaxed);
            }
        }
    }

    /// How long ago whoever asks this first saw that the job it is at was cancelled.
    pub fn cancelled_for(&self) -> f64 {
        let at = self.at();
        let mut cancelled = lock(&self.cancelled);
        if !self.cancel.get(at).is_some_and(|cancel| cancel.load(Relaxed)) {
            *cancelled = None;
            return 0.0;
        }
        match &*cancelled {
            Some((job, since)) if *job == at => since.elapsed().as_secs_f64(),
            _ => {
                *cancelled = Some((at, Instant::now()));
                0.0
            }
        }
    }
}

/// What a thread has to say.
pub enum Work {
    /// How a job of a task is going.
    Told(u64, u64, Box<RawValue>),
    /// A task has ended, with this of its jobs.
    Done(u64, Vec<Done>),
    /// Whether there is all that the run of this session needs; if not, what is missing.
    Judged(String, Result<(), String>),
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<(VecDeque<Arc<Assignment>>, bool)>,
    changed: Condvar,
}

/// All threads of a worker.
pub struct Crew {
    shop: Arc<dyn Workshop>,
    queue: Arc<Queue>,
    done: UnboundedSender<Work>,
    /// Which thread is at which job, and the flag that sends it home.
    at: Arc<Mutex<BTreeMap<u64, Arc<AtomicBool>>>>,
    hung: usize,
    /// Runs that are to be looked at, by a thread of its own: an engine that has to show what it can takes its time.
    runs: Sender<Arc<Run>>,
}

impl Crew {
    /// So many threads, which wait for work.
    pub fn new(shop: Arc<dyn Workshop>, cores: usize, done: UnboundedSender<Work>) -> Crew {
        let (runs, to_judge) = channel::<Arc<Run>>();
        let (judge, judged) = (shop.clone(), done.clone());
        std::thread::spawn(move || {
            for run in to_judge {
                let can = catch_unwind(AssertUnwindSafe(|| judge.can(&run)));
                let can = can.unwrap_or_else(|_| Err("looking at it ended in a panic".into()));
                if judged.send(Work::Judged(run.session.clone(), can)).is_err() {
                    return;
                }
            }
        });
        let crew = Crew { shop, queue: Arc::default(), done, at: Arc::default(), hung: 0, runs };
        (0..cores.max(1)).for_each(|_| crew.hire());
        crew
    }

    /// Finds out whether there is all that a run needs; `Work::Judged` tells.
    pub fn judge(&self, run: Arc<Run>) {
        // The thread lives as long as this.
        let _ = self.runs.send(run);
    }

    /// Hands over a job.
    pub fn give(&self, assignment: Arc<Assignment>) {
        lock(&self.queue.waiting).0.push_back(assignment);
        self.queue.changed.notify_one();
    }

    /// Takes back what nobody has begun.
    pub fn take_back(&self) -> Vec<Arc<Assignment>> {
        lock(&self.queue.waiting).0.drain(..).collect()
    }

    /// The thread at this job hangs: another one takes its place.
    pub fn replace(&mut self, token: u64) {
        let home = lock(&self.at).remove(&token);
        if let Some(home) = home {
            home.store(true, Relaxed);
            self.hung += 1;
            self.hire();
        }
    }

    /// Threads that were replaced.
    pub fn hung(&self) -> usize {
        self.hung
    }

    fn hire(&self) {
        let thread = Thread {
            shop: self.shop.clone(),
            queue: self.queue.clone(),
            done: self.done.clone(),
            at: self.at.clone(),
            home: Arc::default(),
            hands: VecDeque::new(),
        };
        std::thread::spawn(move || thread.run());
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        lock(&self.queue.waiting).1 = true;
        self.queue.changed.notify_all();
    }
}

struct Thread {
    shop: Arc<dyn Workshop>,
    queue: Arc<Queue>,
    done: UnboundedSender<Work>,
    at: Arc<Mutex<BTreeMap<u64, Arc<AtomicBool>>>>,
    home: Arc<AtomicBool>,
    /// The hands by run, the one used last in front.
    hands: VecDeque<(Arc<Run>, Box<dyn Hand>)>,
}

impl Thread {
    fn run(mut self) {
        while let Some(assignment) = self.next() {
            lock(&self.at).insert(assignment.token, self.home.clone());
            let done = Work::Done(assignment.token, self.task(&assignment));
            lock(&self.at).remove(&assignment.token);
            if self.done.send(done).is_err() || self.home.load(Relaxed) {
                return;
            }
        }
    }

    /// Does the jobs of a task, one after the other.
    fn task(&mut self, assignment: &Assignment) -> Vec<Done> {
        let mut all = Vec::new();
        for (work, cancel) in assignment.task.jobs.iter().zip(&assignment.cancel) {
            let begun = Instant::now();
            *lock(&assignment.begun) = Some(begun);
            let answer = if cancel.load(Relaxed) { Ok(None) } else { self.work(assignment, work, cancel) };
            assignment.ended.fetch_add(1, Relaxed);
            let seconds = begun.elapsed().as_secs_f64();
            let most = assignment.run.job_seconds_max;
            let (answer, failure) = match answer {
                Ok(Some(answer)) => (Some(answer), String::new()),
                Ok(None) if seconds > most => (None, format!("it took longer than {most} s")),
                // Cancelled: nobody wants it.
                Ok(None) => continue,
                Err(why) => (None, why.chars().take(FAILURE_CHARS_MAX).collect()),
            };
            all.push(Done { job: work.job, seconds, answer, failure });
        }
        all
    }

    fn next(&self) -> Option<Arc<Assignment>> {
        let mut waiting = lock(&self.queue.waiting);
        loop {
            if waiting.1 {
                return None;
            }
            if let Some(assignment) = waiting.0.pop_front() {
                return Some(assignment);
            }
            waiting = self.queue.changed.wait(waiting).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    fn work(
        &mut self,
        assignment: &Assignment,
        job: &Job,
        cancel: &AtomicBool,
    ) -> Result<Option<Box<RawValue>>, String> {
        let run = &assignment.run;
        let same = |(other, _): &(Arc<Run>, _)| other.kind == run.kind && other.spec.get() == run.spec.get();
        let (kept, mut hand) = match self.hands.iter().position(same) {
            Some(at) => self.hands.remove(at).expect("it was found"),
            None => (run.clone(), self.shop.open(run)?),
        };
        let mut told = Instant::now();
        let mut tell = |body| {
            if told.elapsed() >= TELL_EVERY {
                told = Instant::now();
                // Nobody listens any more only at the very end.
                let _ = self.done.send(Work::Told(assignment.token, job.job, body));
            }
        };
        let told = Told { cancel, tell: &mut tell };
        let answer = catch_unwind(AssertUnwindSafe(|| hand.work(&job.body, told)));
        let answer = answer.map_err(|_| "the job ended in a panic".to_string())?;
        // A hand that failed may be in any state; one that panicked is gone already.
        if answer.is_ok() {
            self.hands.push_front((kept, hand));
            self.hands.truncate(HANDS_MAX);
        }
        answer
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
