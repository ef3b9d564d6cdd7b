//! A worker: threads that do jobs, and one that talks to the engine. It dials out and listens nowhere. A job is leased:
//! while it is in hand the engine hears of it, and if that stops, somebody else gets it. The answer is stored first and
//! the job acknowledged afterwards, so that a death in between costs time and nothing else.

use crate::client::{ANNOUNCE_SECONDS, tasks_per_core};
use crate::crew::{Assignment, Crew, Work};
use crate::link::{self, Address, GridError, Status};
use crate::wire::{self, Done, Note, PROTOCOL, Presence, Report, Run, Task, names};
use async_nats::{Client, Message};
use futures_util::StreamExt;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::unbounded_channel;

const TICK: Duration = Duration::from_millis(100);
/// A worker says how it is at least this often.
const PRESENCE_SECONDS: f64 = 2.0;
/// A run that was silent for so long, with the engine there, has no client any more.
const RUN_SECONDS_MAX: f64 = 30.0;
/// A request for jobs is good for so long.
const PULL_SECONDS: f64 = 5.0;
/// An answer whose storing is not confirmed by then is sent again.
const STORED_WITHIN: Duration = Duration::from_secs(5);
/// A job that was told to stop and has not after so long hangs.
const GRACE_SECONDS: f64 = 5.0;
/// Deliveries after which a job is given up: whoever took it died of it.
const ATTEMPTS_MAX: u32 = 10;
/// Cancelled jobs that are remembered, in case they come after all.
const CANCELLED_MAX: usize = 10_000;
/// A worker without a job for so long is idle.
const IDLE_AFTER: Duration = Duration::from_secs(1);
/// Runs that are known at a time, and bytes of what they say of themselves: a run that is heard of first when there are
/// as many waits until one of them has gone.
const RUNS_MAX: usize = 64;
const RUN_BYTES_MAX: usize = 16 << 20;

/// Who works where.
#[derive(Debug, Clone)]
pub struct Volunteer {
    /// The engine.
    pub address: Address,
    /// Its name, which is to be unlike that of others.
    pub name: String,
    /// What the engine knows it by, if it was let in by a credential of its own.
    pub credential: Option<String>,
    /// Jobs at a time.
    pub cores: usize,
    /// The version of the program.
    pub version: String,
}

/// How a job may be ended early, and how it is told of.
pub struct Told<'a> {
    /// The job is not wanted any more.
    pub cancel: &'a AtomicBool,
    /// Hears how it is going.
    pub tell: &'a mut dyn FnMut(Box<RawValue>),
}

/// Somebody who does the jobs of one run, one after the other. What it learnt in one it may use in the next.
pub trait Hand: Send {
    /// Does a job; `None`: it was ended early.
    fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String>;
}

/// Who makes hands.
pub trait Workshop: Send + Sync + 'static {
    /// Whether it has what a run needs; if not, what is missing. It may take its time.
    fn can(&self, run: &Run) -> Result<(), String>;
    /// A hand for a run.
    fn open(&self, run: &Run) -> Result<Box<dyn Hand>, String>;
}

/// Works until `stop` is set and what is in hand is done. `say` hears what people may want to know.
pub fn work(
    volunteer: &Volunteer,
    shop: Arc<dyn Workshop>,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<(), GridError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let fail = |why: String| GridError::Engine { url: volunteer.address.url.clone(), why };
    let runtime = runtime.map_err(|error| fail(error.to_string()))?;
    runtime.block_on(shift(volunteer, shop, stop, say))
}

/// A run as a worker sees it.
struct Known {
    run: Arc<Run>,
    heard: Instant,
    /// Why nothing is done for it.
    unfit: Option<String>,
    /// Jobs that were asked for and have not come.
    outstanding: usize,
    asked: Instant,
}

/// A task in hand.
struct Held {
    assignment: Arc<Assignment>,
    progressed: Instant,
    /// The report, once it is on its way, and when it was sent.
    report: Option<(Vec<u8>, Instant)>,
}

/// Jobs that were cancelled, by session and number: for looking up, and in the order in which they are forgotten.
type Cancelled = (BTreeSet<(String, u64)>, VecDeque<(String, u64)>);

struct Shift<'a> {
    volunteer: &'a Volunteer,
    say: &'a mut dyn FnMut(&str),
    client: Client,
    inbox: String,
    crew: Crew,
    runs: BTreeMap<String, Known>,
    held: BTreeMap<u64, Held>,
    next: u64,
    cancelled: Cancelled,
    /// Sessions of other versions, which were told of.
    strange: BTreeSet<String>,
    mean: Option<f64>,
    answered: u64,
    failed: u64,
    leaving: bool,
    /// The titles it works for, and since when it has had no job.
    doing: BTreeSet<String>,
    idle: Option<Instant>,
    shown: (Option<Presence>, Instant),
}

async fn shift(
    volunteer: &Volunteer,
    shop: Arc<dyn Workshop>,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<(), GridError> {
    let (linked, mut links) = unbounded_channel();
    let Some(client) = dial(volunteer, linked, stop, say).await? else { return Ok(()) };
    let fail = |why: String| GridError::Engine { url: volunteer.address.url.clone(), why };
    let inbox = client.new_inbox();
    let subscribe =
        async |subject: String| client.subscribe(subject).await.map_err(|error| fail(link::cause(&error)));
    let mut arrivals = subscribe(format!("{inbox}.>")).await?;
    let mut runs = subscribe(names::run("*")).await?;
    let mut cancels = subscribe(names::cancel("*")).await?;
    let (done, mut works) = unbounded_channel();
    let mut shift = Shift {
        volunteer,
        crew: Crew::new(shop, volunteer.cores, done),
        say,
        client: client.clone(),
        inbox,
        runs: BTreeMap::new(),
        held: BTreeMap::new(),
        next: 0,
        cancelled: Default::default(),
        strange: BTreeSet::new(),
        mean: None,
        answered: 0,
        failed: 0,
        leaving: false,
        doing: BTreeSet::new(),
        idle: None,
        shown: (None, Instant::now()),
    };
    let host = &volunteer.address.url;
    (shift.say)(&format!("{} is at {host} with {} cores", volunteer.name, volunteer.cores));
    shift.hello().await;
    let mut tick = tokio::time::interval(TICK);
    let mut there = true;
    loop {
        tokio::select! {
            Some(message) = arrivals.next() => shift.arrived(message).await,
            Some(work) = works.recv() => shift.worked(work).await,
            Some(message) = runs.next() => shift.announced(&message),
            Some(message) = cancels.next() => shift.called_off(&message),
            Some(up) = links.recv() => {
                if up && !there {
                    shift.relinked().await;
                }
                if up != there {
                    (shift.say)(if up { "the engine is back" } else { "the engine is gone; waiting for it" });
                }
                there = up;
            }
            _ = tick.tick() => {
                if stop.load(Relaxed) && !shift.leaving {
                    shift.leave().await;
                }
                shift.look_after(there).await;
                if shift.leaving && shift.held.is_empty() {
                    break;
                }
                if shift.crew.hung() >= volunteer.cores.max(2) {
                    return Err(fail("every core hangs in a job: this worker gives up".into()));
                }
            }
        }
        shift.refill().await;
    }
    shift.show(true).await;
    let _ = tokio::time::timeout(Duration::from_secs(2), client.flush()).await;
    Ok(())
}

/// Connects, however long that takes; `None`: it was told to stop before.
async fn dial(
    volunteer: &Volunteer,
    linked: tokio::sync::mpsc::UnboundedSender<bool>,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<Option<Client>, GridError> {
    let mut told = String::new();
    for attempt in 0.. {
        match link::connect(&volunteer.address, &format!("sortie worker {}", volunteer.name), linked.clone())
            .await
        {
            Ok(client) => return Ok(Some(client)),
            // It will not change by waiting.
            Err(error) if !matches!(error, GridError::Connect { .. }) => return Err(error),
            Err(error) => {
                let text = error.to_string();
                if text != told {
                    say(&format!("{text}; trying again"));
                    told = text;
                }
            }
        }
        let until = Instant::now() + link::back_off(attempt);
        while Instant::now() < until {
            if stop.load(Relaxed) {
                return Ok(None);
            }
            tokio::time::sleep(TICK).await;
        }
    }
    Ok(None)
}

impl Shift<'_> {
    async fn publish(&self, subject: String, bytes: Vec<u8>) {
        // A connection that is lost buffers; what gets lost all the same comes again by lease or tick.
        let _ = self.client.publish(subject, bytes.into()).await;
    }

    fn is_me(&self, name: &str) -> bool {
        name == self.volunteer.credential.as_deref().unwrap_or(&self.volunteer.name)
    }

    fn credential(&self) -> &str {
        self.volunteer.credential.as_deref().unwrap_or(names::ANYBODY)
    }

    async fn hello(&self) {
        self.publish(names::HELLO.into(), Vec::new()).await;
    }

    /// Tasks that a core is at or that wait for one.
    fn busy(&self) -> usize {
        self.held.values().filter(|held| held.report.is_none()).count()
    }

    /// Asks for as many jobs as there is room for.
    async fn refill(&mut self) {
        if self.leaving {
            return;
        }
        let room = (self.volunteer.cores * tasks_per_core(self.mean)).saturating_sub(self.busy());
        for (session, known) in self.runs.iter_mut().filter(|(_, known)| known.unfit.is_none()) {
            if known.outstanding > 0 && known.asked.elapsed().as_secs_f64() > PULL_SECONDS + 1.0 {
                known.outstanding = 0;
            }
            if room > known.outstanding {
                let batch = room - known.outstanding;
                known.outstanding = room;
                known.asked = Instant::now();
                let (stream, inbox) = (names::jobs_stream(session), format!("{}.j.{session}", self.inbox));
                link::pull(&self.client, &stream, names::WORKERS, &inbox, batch, PULL_SECONDS).await;
            }
        }
    }

    /// A job, the end of a request for jobs, or the confirmation that a report is stored.
    async fn arrived(&mut self, message: Message) {
        let subject = message.subject.to_string();
        if let Some((_, token)) = subject.rsplit_once(".s.") {
            if let Ok(token) = token.parse()
                && message.status.is_none()
                && message.payload.windows(5).any(|bytes| bytes == b"\"seq\"")
                && let Some(held) = self.held.remove(&token)
            {
                self.publish(held.assignment.reply.clone(), b"+ACK".to_vec()).await;
            }
            return;
        }
        // A job comes under its own subject, a status under that of the request.
        let job = subject.strip_prefix(names::jobs("").as_str());
        let Some(session) = job.or_else(|| Some(subject.rsplit_once(".j.")?.1)) else { return };
        if let Some(status) = link::status(&message) {
            if let Some(known) = self.runs.get_mut(session) {
                match status {
                    Status::Ended(missing) => known.outstanding = known.outstanding.saturating_sub(missing),
                    // Not at once again: `asked` lets it wait.
                    Status::Nobody => known.outstanding = usize::MAX / 2,
                }
            }
            return;
        }
        let Some(reply) = message.reply.as_ref().map(|reply| reply.to_string()) else { return };
        let run = match self.runs.get_mut(session) {
            Some(known) => {
                known.outstanding = known.outstanding.saturating_sub(1);
                known.run.clone()
            }
            None => return self.publish(reply, nak(1.0)).await,
        };
        let task: Task = match wire::decode(&message.payload) {
            Ok(task) => task,
            Err(why) => {
                (self.say)(&format!("a job of {} is no job: {why}", run.title));
                return self.publish(reply, b"+TERM".to_vec()).await;
            }
        };
        if self.leaving {
            return self.publish(reply, nak(0.0)).await;
        }
        let attempt = link::attempt(&reply);
        if task.not.iter().any(|name| self.is_me(name)) && attempt <= ATTEMPTS_MAX {
            return self.publish(reply, nak(0.2)).await;
        }
        let token = self.next;
        self.next += 1;
        let assignment = Arc::new(Assignment::new(token, run, task, attempt, reply));
        for work in &assignment.task.jobs {
            if self.cancelled.0.contains(&(assignment.task.session.clone(), work.job)) {
                assignment.leave_out(work.job);
            }
        }
        let progressed = Instant::now();
        self.held.insert(token, Held { assignment: assignment.clone(), progressed, report: None });
        if attempt > ATTEMPTS_MAX {
            let why = format!("given up after {ATTEMPTS_MAX} deliveries: whoever took it did not answer");
            return self.give_up(token, &why).await;
        }
        self.crew.give(assignment);
    }

    /// A hand has something to tell.
    async fn worked(&mut self, work: Work) {
        match work {
            Work::Judged(session, can) => self.judged(&session, can),
            Work::Told(token, job, body) => {
                let Some(held) = self.held.get(&token) else { return };
                let session = held.assignment.task.session.clone();
                let note = Note { protocol: PROTOCOL, session, jobs: vec![job], body: Some(body) };
                if let Ok(bytes) = wire::encode(&note) {
                    self.publish(names::notes(&note.session), bytes).await;
                }
            }
            Work::Done(token, done) => {
                let Some(held) = self.held.get(&token).filter(|held| held.report.is_none()) else { return };
                for failed in done.iter().filter(|done| done.answer.is_none()) {
                    let title = &held.assignment.run.title;
                    let why = wire::plain(&failed.failure, wire::FAILURE_CHARS_MAX);
                    (self.say)(&format!("job {} of {title}: {why}", failed.job));
                }
                let seconds: f64 = done.iter().map(|done| done.seconds).sum();
                if seconds > 0.0 {
                    let mean = self.mean.get_or_insert(seconds);
                    *mean += 0.1 * (seconds - *mean);
                }
                self.report(token, done).await;
            }
        }
    }

    /// Reports all jobs of a task as failed.
    async fn give_up(&mut self, token: u64, why: &str) {
        let Some(held) = self.held.get(&token) else { return };
        let failed =
            |work: &wire::Work| Done { job: work.job, seconds: 0.0, answer: None, failure: why.into() };
        let done = held.assignment.task.jobs.iter().map(failed).collect();
        self.report(token, done).await;
    }

    async fn report(&mut self, token: u64, done: Vec<Done>) {
        if done.is_empty() {
            // All were cancelled: nobody wants to hear of them.
            let Some(held) = self.held.remove(&token) else { return };
            return self.publish(held.assignment.reply.clone(), b"+TERM".to_vec()).await;
        }
        let Some(held) = self.held.get_mut(&token) else { return };
        let answered = done.iter().filter(|done| done.answer.is_some()).count() as u64;
        self.answered += answered;
        self.failed += done.len() as u64 - answered;
        let mut report = Report {
            protocol: PROTOCOL,
            session: held.assignment.task.session.clone(),
            issue: held.assignment.task.issue,
            ticket: held.assignment.task.ticket.clone(),
            attempt: held.assignment.attempt,
            worker: self.volunteer.name.clone(),
            done,
        };
        let bytes = wire::encode(&report).or_else(|error| {
            for done in &mut report.done {
                (done.answer, done.failure) = (None, format!("the report is {error}"));
            }
            wire::encode(&report)
        });
        let Ok(bytes) = bytes else {
            // It cannot be: a task is bounded. Nobody is to get it again all the same.
            let Some(held) = self.held.remove(&token) else { return };
            return self.publish(held.assignment.reply.clone(), b"+TERM".to_vec()).await;
        };
        if self.runs.contains_key(&report.session) {
            held.report = Some((bytes.clone(), Instant::now()));
        } else {
            // The run ended while the job was done: nobody will say that the report has come.
            self.held.remove(&token);
        }
        self.store(&names::answers(&report.session, self.credential()), token, bytes).await;
    }

    async fn store(&self, subject: &str, token: u64, bytes: Vec<u8>) {
        let reply = format!("{}.s.{token}", self.inbox);
        let _ = self.client.publish_with_reply(subject.to_string(), reply, bytes.into()).await;
    }

    /// A run says that it is there, or over.
    fn announced(&mut self, message: &Message) {
        let run: Run = match wire::decode(&message.payload) {
            Ok(run) => run,
            Err(why) => {
                let session = wire::to_name(message.subject.rsplit('.').next().unwrap_or_default());
                if self.strange.len() < CANCELLED_MAX && self.strange.insert(session.clone()) {
                    (self.say)(&format!("run {session} is not for this worker: {why}"));
                }
                return;
            }
        };
        if run.over {
            return self.drop_run(&run.session.clone(), "over");
        }
        let refused = run.refused.iter().any(|name| self.is_me(name));
        if let Some(known) = self.runs.get_mut(&run.session) {
            known.heard = Instant::now();
            if refused && known.unfit.is_none() {
                let why = format!(
                    "{} takes no more answers of this worker: too many were wrong or failed",
                    run.title
                );
                (self.say)(&why);
                known.unfit = Some(why);
            }
            return;
        }
        // A client that was resumed: the session before it has nobody left.
        let dead = |known: &Known| {
            let silent = known.heard.elapsed().as_secs_f64() > 1.5 * ANNOUNCE_SECONDS;
            silent && known.run.kind == run.kind && known.run.spec.get() == run.spec.get()
        };
        let before: Vec<String> =
            self.runs.iter().filter(|(_, known)| dead(known)).map(|(session, _)| session.clone()).collect();
        for session in before {
            self.drop_run(&session, "going on in another session");
        }
        let bytes: usize = self.runs.values().map(|known| known.run.spec.get().len()).sum();
        if self.runs.len() >= RUNS_MAX || bytes + run.spec.get().len() > RUN_BYTES_MAX {
            return;
        }
        let (now, run) = (Instant::now(), Arc::new(run));
        let unfit = Some(format!("{} is being looked at", run.title));
        let known = Known { run: run.clone(), heard: now, unfit, outstanding: 0, asked: now };
        self.runs.insert(run.session.clone(), known);
        self.crew.judge(run);
    }

    /// Whether a run can be worked for is known.
    fn judged(&mut self, session: &str, can: Result<(), String>) {
        let Some(known) = self.runs.get_mut(session) else { return };
        let run = &known.run;
        match &can {
            Err(why) => {
                let why = wire::plain(why, wire::FAILURE_CHARS_MAX);
                (self.say)(&format!("{}: not here: {why}", run.title));
            }
            Ok(()) => (self.say)(&format!("{} ({}) wants workers", run.title, run.kind.name())),
        }
        known.unfit = can.err().map(|why| wire::plain(&why, wire::FAILURE_CHARS_MAX));
    }

    fn drop_run(&mut self, session: &str, why: &str) {
        let Some(known) = self.runs.remove(session) else { return };
        (self.say)(&format!("{}: {why}", known.run.title));
        for held in self.held.values() {
            if held.assignment.task.session == session {
                held.assignment.stop_all();
            }
        }
        // What is stored for nobody is not waited for.
        self.held.retain(|_, held| held.report.is_none() || held.assignment.task.session != session);
    }

    fn called_off(&mut self, message: &Message) {
        let Ok(note) = wire::decode::<Note>(&message.payload) else { return };
        for job in note.jobs {
            let key = (note.session.clone(), job);
            if self.cancelled.0.insert(key.clone()) {
                self.cancelled.1.push_back(key);
            }
            for held in self.held.values() {
                if held.assignment.task.session == note.session {
                    held.assignment.leave_out(job);
                }
            }
        }
        while self.cancelled.1.len() > CANCELLED_MAX {
            let oldest = self.cancelled.1.pop_front().expect("it is not empty");
            self.cancelled.0.remove(&oldest);
        }
    }

    async fn relinked(&mut self) {
        for known in self.runs.values_mut() {
            (known.outstanding, known.heard) = (0, Instant::now());
        }
        self.hello().await;
    }

    /// First signal: what has not been begun goes back, what has is finished.
    async fn leave(&mut self) {
        self.leaving = true;
        for assignment in self.crew.take_back() {
            self.held.remove(&assignment.token);
            self.publish(assignment.reply.clone(), nak(0.0)).await;
        }
        let busy = self.busy();
        (self.say)(&format!("leaving: {busy} jobs are finished first; once more ends it at once"));
    }

    /// Leases, storing, hangs, silent runs, presence.
    async fn look_after(&mut self, there: bool) {
        if there {
            self.keep_leases().await;
            let silent = |known: &Known| known.heard.elapsed().as_secs_f64() > RUN_SECONDS_MAX;
            let gone: Vec<String> =
                self.runs.iter().filter(|(_, k)| silent(k)).map(|(session, _)| session.clone()).collect();
            for session in gone {
                self.drop_run(&session, "its client is silent");
            }
        }
        let mut hung = Vec::new();
        for (&token, held) in self.held.iter().filter(|(_, held)| held.report.is_none()) {
            let Some(seconds) = held.assignment.seconds() else { continue };
            let most = held.assignment.run.job_seconds_max;
            if seconds > most {
                held.assignment.stop();
            }
            // Also after a cancellation: a core that does not come back is lost.
            if held.assignment.cancelled_for() > GRACE_SECONDS {
                hung.push(token);
            }
        }
        for token in hung {
            let title = self.held[&token].assignment.run.title.clone();
            (self.say)(&format!("a job of {title} hangs and is given back; another thread takes its place"));
            self.crew.replace(token);
            self.give_up(token, "it hangs").await;
        }
        self.show(false).await;
    }

    async fn keep_leases(&mut self) {
        let mut again = Vec::new();
        let mut working = Vec::new();
        for (&token, held) in &mut self.held {
            if held.progressed.elapsed().as_secs_f64() > held.assignment.run.lease_seconds / 3.0 {
                held.progressed = Instant::now();
                working.push(held.assignment.reply.clone());
            }
            if let Some((bytes, sent)) = &mut held.report
                && sent.elapsed() > STORED_WITHIN
            {
                *sent = Instant::now();
                again.push((token, held.assignment.task.session.clone(), bytes.clone()));
            }
        }
        for reply in working {
            self.publish(reply, b"+WPI".to_vec()).await;
        }
        for (token, session, bytes) in again {
            self.store(&names::answers(&session, self.credential()), token, bytes).await;
        }
    }

    /// Says how it is, if that has changed or was long ago.
    async fn show(&mut self, gone: bool) {
        let at_work = self.held.values().filter(|held| held.report.is_none());
        let now: BTreeSet<String> = at_work.clone().map(|held| held.assignment.run.title.clone()).collect();
        let jobs = at_work.flat_map(|held| {
            let task = &held.assignment.task;
            task.jobs.iter().map(|work| (task.session.clone(), work.job))
        });
        let jobs: Vec<(String, u64)> = jobs.take(wire::NAMED_MAX).collect();
        // Between two short jobs it is not idle.
        match jobs.is_empty() {
            false => (self.doing, self.idle) = (now, None),
            true if self.idle.get_or_insert_with(Instant::now).elapsed() > IDLE_AFTER => self.doing.clear(),
            true => {}
        }
        let presence = Presence {
            protocol: PROTOCOL,
            worker: self.volunteer.name.clone(),
            cores: self.volunteer.cores as u32,
            version: self.volunteer.version.clone(),
            idle: self.doing.is_empty().then(|| self.why_idle()),
            doing: self.doing.iter().take(wire::DOING_MAX).cloned().collect(),
            jobs,
            answered: self.answered,
            failed: self.failed,
            leaving: self.leaving || gone,
        };
        let (last, when) = &self.shown;
        // Counts and job numbers change all the time; what it does and why not is told at once.
        let gist = |p: &Presence| (p.doing.clone(), p.idle.clone(), p.leaving);
        let changed = last.as_ref().is_none_or(|last| gist(last) != gist(&presence));
        let seconds = when.elapsed().as_secs_f64();
        if gone || seconds > PRESENCE_SECONDS || (changed && seconds > 0.3) || last.is_none() {
            if let Ok(bytes) = wire::encode(&presence) {
                self.publish(names::presence(self.credential(), &presence.worker), bytes).await;
            }
            self.shown = (Some(presence), Instant::now());
        }
    }

    fn why_idle(&self) -> String {
        if self.leaving {
            return "leaving".into();
        }
        let unfit: Vec<&str> = self.runs.values().filter_map(|known| known.unfit.as_deref()).collect();
        match (self.runs.len(), unfit.first()) {
            (0, _) => "no run wants workers".into(),
            (runs, Some(why)) if unfit.len() == runs => (*why).to_string(),
            _ => "no job is waiting".into(),
        }
    }
}

/// Gives a job back, to come again after so long.
fn nak(seconds: f64) -> Vec<u8> {
    format!("-NAK {{\"delay\":{}}}", (seconds * 1e9) as u64).into_bytes()
}
