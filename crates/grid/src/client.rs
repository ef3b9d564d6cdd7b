//! The client: works through a source of jobs with whoever is on the grid. The source and its journal stay here; what
//! is out there can be lost altogether and is sent again.
//!
//! A thread of its own keeps the connection (`session`); this one owns the source and sees events one after the other.

use crate::desk::{Desk, Heard, Judge, Ruling, Tally, Trust, Who};
use crate::link::{Address, GridError};
use crate::session::{self, Event, Order, Session};
use crate::wire::{self, Kind, Note, PROTOCOL, Presence, Run, Task, Work, names};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sortie_core::{JobId, JobSource};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// A run says that it is there at least this often.
pub const ANNOUNCE_SECONDS: f64 = 2.0;
/// A worker that was not heard of for so long is gone.
pub const WORKER_SECONDS_MAX: f64 = 10.0;
/// Tasks shorter than this are fetched before they are needed.
const SHORT_SECONDS: f64 = 0.1;
/// Jobs are bundled up to so much work, and no further: a message costs some tenths of a millisecond in all processes
/// together, but a tree that has many jobs out chooses worse. Bundles of eight brought 2.5 times as many answers a second
/// as none, of jobs below 0.1 ms on two cores, and the proof took 2.7 times as many.
const BUNDLE_SECONDS: f64 = 0.010;
const BUNDLE_MAX: f64 = 4.0;
/// Bodies of a bundle, together.
const BUNDLE_BYTES_MAX: usize = 1 << 18;
/// The driver looks at `stop` at least this often.
const LOOK: Duration = Duration::from_millis(50);
/// Jobs that are out at a time, at most.
const WINDOW_MAX: usize = 10_000;
/// Workers that are known at a time; a further one is heard when one of them has gone.
const WORKERS_MAX: usize = 4096;

/// Tasks for one core, the one it is at included, by the seconds that a task takes.
pub(crate) fn tasks_per_core(mean: Option<f64>) -> usize {
    if mean.is_some_and(|mean| mean < SHORT_SECONDS) { 2 } else { 1 }
}

/// Jobs of a task, by the seconds that a job takes.
fn bundle(mean: Option<f64>) -> usize {
    mean.map_or(1, |mean| (BUNDLE_SECONDS / mean.max(1e-6)).clamp(1.0, BUNDLE_MAX) as usize)
}

/// A source whose jobs go over a grid.
pub trait GridSource: JobSource<Job: Serialize + Clone + Send> {
    /// An answer as it travels.
    type Wire: DeserializeOwned + Clone + Send + 'static;
    /// Takes an answer, as `done` does; `by` is who brought it, and nothing where our own solver answered.
    fn accept(&mut self, id: JobId, answer: Self::Wire, by: &str) -> bool;
    /// A worker tells how its job is going.
    fn told(&mut self, _id: JobId, _body: &RawValue) {}
    /// Jobs that are not wanted any more since this was last asked.
    fn called_off(&mut self) -> Vec<JobId> {
        Vec::new()
    }
}

/// What a client wants of a grid.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the engine is.
    pub address: Address,
    /// Whose claims count.
    pub trust: Trust,
    /// A job whose worker is silent for so long goes to another one.
    pub lease_seconds: f64,
    /// A job that takes longer has failed.
    pub job_seconds_max: f64,
    /// Workers whose word was found false before.
    pub refused: Vec<String>,
    /// Jobs at a time; `None`: as many as there are cores, and some more while jobs are short.
    pub window: Option<usize>,
    /// What sort of work.
    pub kind: Kind,
    /// What it is about, for people.
    pub title: String,
    /// All that a worker needs to know besides the jobs.
    pub spec: Box<RawValue>,
}

/// What there is to tell while a run is under way.
pub trait Watcher {
    /// Something happened.
    fn line(&mut self, text: &str);
    /// A worker came, changed or went.
    fn worker(&mut self, presence: &Presence, there: bool);
}

/// Works through a source until it is finished or `stop` is set.
pub fn drive<S: GridSource>(
    source: &mut S,
    options: &Options,
    judge: &dyn Judge<S::Job, S::Wire>,
    stop: &AtomicBool,
    watcher: &mut dyn Watcher,
) -> Result<Tally, GridError> {
    let (news, events) = session::news();
    let session = Session::open(&options.address, options.lease_seconds, news.clone())?;
    let (to_check, checks) = mpsc::channel::<(u64, S::Job)>();
    let closing = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let closing = &closing;
        scope.spawn(move || {
            for (number, job) in checks {
                if closing.load(Relaxed) {
                    break;
                }
                let own = judge.recheck(&job);
                if !news.tell(Event::Checked(number, own), 0) {
                    break;
                }
            }
        });
        let mut desk = Desk::new(options.trust, crate::link::random());
        for worker in &options.refused {
            // Whether it was a credential or a name then: neither gets in.
            for who in [Who::Named(worker.clone()), Who::Credential(worker.clone())] {
                desk.refuse(&who, "its word was false before".into());
            }
        }
        desk.expelled.clear();
        let mut driver = Driver {
            desk,
            source,
            options,
            judge,
            watcher,
            session: &session,
            to_check,
            begun: Instant::now(),
            workers: BTreeMap::new(),
            crowded: false,
            mean: None,
            announced: f64::NEG_INFINITY,
            roomy: None,
        };
        let ended = driver.run(&events, stop);
        closing.store(true, Relaxed);
        ended.map(|()| driver.desk.tally)
    })
    .and_then(|tally| session.close(options, tally))
}

struct Driver<'a, S: GridSource> {
    source: &'a mut S,
    desk: Desk<S::Job, S::Wire>,
    options: &'a Options,
    judge: &'a dyn Judge<S::Job, S::Wire>,
    watcher: &'a mut dyn Watcher,
    session: &'a Session,
    to_check: mpsc::Sender<(u64, S::Job)>,
    begun: Instant,
    /// Who is there, and when it was last heard of.
    workers: BTreeMap<(Who, String), (Presence, f64)>,
    /// There were more than are known.
    crowded: bool,
    /// Seconds of a job, about.
    mean: Option<f64>,
    announced: f64,
    /// Since when there is a core without a job.
    roomy: Option<f64>,
}

impl<S: GridSource> Driver<'_, S> {
    fn now(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn run(&mut self, events: &session::Heard<S::Wire>, stop: &AtomicBool) -> Result<(), GridError> {
        while !stop.load(Relaxed) && !self.source.finished() {
            self.hand_out()?;
            let first = match events.within(LOOK) {
                Ok(event) => Some(event),
                Err(mpsc::RecvTimeoutError::Timeout) => None,
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.session.died()),
            };
            // All that has come, before the next job is chosen: it is chosen better then.
            for event in first.into_iter().chain(std::iter::from_fn(|| events.now())) {
                self.event(event)?;
            }
            self.call_off()?;
            self.look_after()?;
        }
        Ok(())
    }

    fn cores(&self) -> usize {
        let cores = self.workers.values().filter(|(p, _)| !p.leaving).map(|(p, _)| p.cores as usize);
        cores.sum::<usize>().min(WINDOW_MAX)
    }

    /// Jobs at a time, and how many of them go together.
    fn window(&self) -> (usize, usize) {
        let (cores, bundle) = (self.cores().max(1), bundle(self.mean));
        match self.options.window {
            // Everybody is to have one at least.
            Some(window) => (window.min(WINDOW_MAX), bundle.min(window / (2 * cores)).max(1)),
            None => ((cores * bundle * tasks_per_core(self.mean)).min(WINDOW_MAX), bundle),
        }
    }

    fn hand_out(&mut self) -> Result<(), GridError> {
        loop {
            let (window, bundle) = self.window();
            let free = window.saturating_sub(self.desk.len());
            // What is short of a bundle waits for the answers that are on their way.
            if free == 0 || (free < bundle && !self.desk.is_empty()) {
                return Ok(());
            }
            let now = self.now();
            let mut numbers = Vec::new();
            while numbers.len() < bundle.min(free) && !self.source.finished() {
                let Some((id, job)) = self.source.next() else { break };
                self.desk.issue(id.0, job, now);
                numbers.push(id.0);
            }
            if numbers.is_empty() {
                return Ok(());
            }
            self.send(&numbers)?;
        }
    }

    /// Sends jobs, which go together.
    fn send(&mut self, numbers: &[u64]) -> Result<(), GridError> {
        let now = self.now();
        let (mut jobs, mut bytes): (Vec<Work>, usize) = (Vec::new(), 0);
        let (mut sending, mut others) = (1, Vec::new());
        for &job in numbers {
            let Some((issue, not)) = self.desk.send(job, now) else { continue };
            let body = wire::body(self.desk.job(job).expect("it is out"))?;
            if !jobs.is_empty() && bytes + body.get().len() > BUNDLE_BYTES_MAX {
                self.post(std::mem::take(&mut jobs), sending, std::mem::take(&mut others))?;
                bytes = 0;
            }
            bytes += body.get().len();
            (sending, others) = (issue, not);
            jobs.push(Work { job, body });
        }
        if jobs.is_empty() { Ok(()) } else { self.post(jobs, sending, others) }
    }

    fn post(&mut self, jobs: Vec<Work>, issue: u32, not: Vec<String>) -> Result<(), GridError> {
        let first = jobs[0].job;
        let ticket = format!("{:016x}{:016x}", crate::link::random(), crate::link::random());
        jobs.iter().for_each(|work| self.desk.ticket(work.job, &ticket));
        let task = Task { protocol: PROTOCOL, session: self.session.name.clone(), issue, ticket, not, jobs };
        self.session.order(Order::Job(first, wire::encode(&task)?));
        Ok(())
    }

    fn event(&mut self, event: Event<S::Wire>) -> Result<(), GridError> {
        match event {
            Event::Report(who, report, answers) => {
                let present: BTreeSet<Who> = self.workers.keys().map(|(who, _)| who.clone()).collect();
                for (done, answer) in report.done.iter().zip(answers) {
                    if answer.is_ok() && self.desk.job(done.job).is_some() {
                        let mean = self.mean.get_or_insert(done.seconds);
                        *mean += 0.1 * (done.seconds.clamp(0.0, 1e6) - *mean);
                    }
                    let heard = Heard {
                        job: done.job,
                        // A job for a second opinion is also passed on by those who gave the first.
                        attempt: if report.issue == 1 { report.attempt } else { 1 },
                        ticket: &report.ticket,
                        worker: &who,
                        answer,
                        present: &present,
                    };
                    let ruling = self.desk.hear(heard, self.judge);
                    self.rule(done.job, ruling, who.name())?;
                }
            }
            Event::Checked(number, own) => {
                let ruling = self.desk.checked(number, own, self.judge);
                self.rule(number, ruling, "")?;
            }
            Event::Note(note) => {
                let now = self.now();
                for job in note.jobs {
                    self.desk.seen(job, now);
                    if let Some(body) = &note.body
                        && self.desk.job(job).is_some()
                    {
                        self.source.told(JobId(job), body);
                    }
                }
            }
            Event::Presence(who, presence) => self.presence(who, presence),
            Event::Hello => self.announce(false)?,
            Event::Line(text) => self.watcher.line(&text),
            Event::Emptied => {
                self.watcher.line("the engine has lost its streams: all jobs are sent again");
                for number in self.desk.stale(f64::INFINITY, 0.0, 0.0) {
                    self.send(&[number])?;
                }
            }
        }
        for (worker, why) in std::mem::take(&mut self.desk.expelled) {
            self.watcher.line(&format!("{worker} is refused from now on: {why}"));
            self.announce(false)?;
        }
        Ok(())
    }

    fn rule(&mut self, number: u64, ruling: Ruling<S::Wire>, by: &str) -> Result<(), GridError> {
        match ruling {
            Ruling::Wait => {}
            Ruling::Take(answer) => {
                self.source.accept(JobId(number), answer, by);
            }
            Ruling::Again => self.send(&[number])?,
            Ruling::Check => {
                let job = self.desk.job(number).expect("it is out").clone();
                // The receiver lives as long as this loop.
                let _ = self.to_check.send((number, job));
            }
            Ruling::Lost(why) => {
                self.watcher.line(&format!("job {number} is given up: {why}"));
                self.source.lost(JobId(number));
            }
        }
        Ok(())
    }

    fn presence(&mut self, who: Who, presence: Presence) {
        let now = self.now();
        let key = (who, presence.worker.clone());
        if self.workers.len() >= WORKERS_MAX && !self.workers.contains_key(&key) {
            if !std::mem::replace(&mut self.crowded, true) {
                self.watcher.line(&format!("more than {WORKERS_MAX} workers: the others are not counted"));
            }
            return;
        }
        for (session, job) in &presence.jobs {
            if *session == self.session.name {
                self.desk.seen(*job, now);
            }
        }
        let before = self.workers.insert(key, (presence.clone(), now));
        match before {
            None => {
                self.watcher.line(&format!("{} is there, with {} cores", presence.worker, presence.cores))
            }
            Some((old, _)) if presence.leaving && !old.leaving => {
                self.watcher.line(&format!("{} leaves", presence.worker));
            }
            _ => {}
        }
        self.watcher.worker(&presence, true);
    }

    /// Tells workers to stop at what is not wanted any more.
    fn call_off(&mut self) -> Result<(), GridError> {
        let off = self.source.called_off();
        if off.is_empty() {
            return Ok(());
        }
        let jobs: Vec<u64> = off.iter().map(|id| id.0).collect();
        jobs.iter().for_each(|&job| self.desk.forget(job));
        let note = Note { protocol: PROTOCOL, session: self.session.name.clone(), jobs, body: None };
        self.session.order(Order::Say(names::cancel(&self.session.name), wire::encode(&note)?));
        Ok(())
    }

    /// What is due now and then: to say that we are there, to see who is gone, to send again what got lost.
    fn look_after(&mut self) -> Result<(), GridError> {
        let now = self.now();
        if now - self.announced < ANNOUNCE_SECONDS / 2.0 {
            return Ok(());
        }
        if !self.session.is_alive() {
            return Err(self.session.died());
        }
        self.announce(false)?;
        let silent = |(_, heard): &(Presence, f64)| now - *heard > WORKER_SECONDS_MAX;
        let gone: Vec<(Who, String)> =
            self.workers.iter().filter(|(_, worker)| silent(worker)).map(|(key, _)| key.clone()).collect();
        for key in gone {
            let (presence, _) = self.workers.remove(&key).expect("it was there");
            if !presence.leaving {
                self.watcher.line(&format!("{} is not heard of any more", key.1));
            }
            self.watcher.worker(&presence, false);
        }
        // A job that nobody is at, while somebody has nothing to do, is not in the queue.
        let room = self.workers.values().any(|(p, _)| !p.leaving && p.jobs.len() < p.cores as usize);
        self.roomy = if room && !self.desk.is_empty() { self.roomy.or(Some(now)) } else { None };
        let patience = 3.0 * self.options.lease_seconds;
        if self.roomy.is_some_and(|since| now - since > patience) {
            for number in self.desk.stale(now, patience, self.options.job_seconds_max + patience) {
                self.send(&[number])?;
            }
        }
        Ok(())
    }

    fn announce(&mut self, over: bool) -> Result<(), GridError> {
        self.announced = self.now();
        let run = run(self.options, &self.session.name, self.desk.refused(), over);
        self.session.order(Order::Say(names::run(&self.session.name), wire::encode(&run)?));
        Ok(())
    }
}

/// What a run says of itself.
pub(crate) fn run(options: &Options, session: &str, refused: Vec<String>, over: bool) -> Run {
    Run {
        protocol: PROTOCOL,
        session: session.to_string(),
        kind: options.kind,
        title: options.title.clone(),
        spec: options.spec.clone(),
        lease_seconds: options.lease_seconds,
        job_seconds_max: options.job_seconds_max,
        refused,
        over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_jobs_go_together_and_ahead_and_long_ones_alone() {
        assert_eq!([None, Some(10.0), Some(0.02), Some(0.005), Some(0.0)].map(bundle), [1, 1, 1, 2, 4]);
        assert_eq!([None, Some(10.0), Some(0.02)].map(tasks_per_core), [1, 1, 2]);
    }
}
