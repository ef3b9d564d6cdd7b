//! What every search is handed: its random stream, its limits, a stop flag and somebody to tell.
//!
//! A `Control` belongs to a whole run and is shared by its threads; each of its streams (the independent searches of
//! best-of-M, numbered from 0) has a `Run`. No search reads the clock: they ask the `Run`.
//!
//! Several threads may run one stream together (`search::team`): each then has a copy of the stream's `Run`, all of
//! which count and end alike because they are told the same at the same points, and a hand, the `Run` of what the
//! thread does by itself between two such points.

mod team;
mod turns;

use crate::prior::Guide;
use crate::rng::Rng;
use crate::search::CallMaker;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// When a run ends, besides when its search is done. Several limits: whichever comes first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Playouts of the whole run, divided evenly among the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playouts: Option<u64>,
    /// Wall time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// CPU time of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// A score that is good enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// Playouts of one stream without an improvement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

impl Limits {
    /// Wall time.
    pub fn seconds(seconds: f64) -> Limits {
        Limits { seconds: Some(seconds), ..Limits::default() }
    }

    /// So many playouts of the whole run.
    pub fn playouts(playouts: u64) -> Limits {
        Limits { playouts: Some(playouts), ..Limits::default() }
    }

    /// The same, or until this score is reached.
    pub fn until(self, target: f64) -> Limits {
        Limits { target: Some(target), ..self }
    }

    /// Whether nothing but the search itself ends the run.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    /// Whether the answer of a run depends on how fast the machine is.
    pub fn depends_on_clock(&self) -> bool {
        self.seconds.is_some() || self.cpu_seconds.is_some()
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// The search came to its end.
    Done,
    /// The playout limit.
    Playouts,
    /// The wall-time limit.
    Time,
    /// The CPU-time limit.
    CpuTime,
    /// The target score was reached.
    Target,
    /// Too many playouts without an improvement.
    Patience,
    /// Somebody asked (Ctrl-C).
    Asked,
}

/// What a search tells while it runs.
#[derive(Debug, Clone)]
pub enum Event {
    /// A stream found a better solution than it had.
    Improved {
        /// The stream.
        stream: u32,
        /// Its score.
        score: f64,
        /// The solution.
        moves: Vec<String>,
        /// Playouts of this stream so far.
        playouts: u64,
        /// Seconds since the start of the run, earlier sessions included.
        seconds: f64,
    },
    /// A stream is alive. Sent a few times a second.
    Progress {
        /// The stream.
        stream: u32,
        /// Playouts of this stream so far.
        playouts: u64,
    },
    /// How sure a stream's policy is. Sent before checkpoints, by searches that have one.
    Policy {
        /// The stream.
        stream: u32,
        /// The mean entropy of the policy's choices along its best sequence, in nats.
        entropy: f64,
    },
    /// What a stream is about to do and why, in one line. Said by searches that choose.
    Course {
        /// The stream.
        stream: u32,
        /// The line.
        text: String,
    },
    /// Everything needed to go on from here.
    Checkpoint(StreamCheckpoint),
}

/// Receives events, from any thread, and must not hold a search up: hand the work to another thread.
pub trait Observer: Sync {
    /// Something happened.
    fn on(&self, event: Event);
}

impl<F: Fn(Event) + Sync> Observer for F {
    fn on(&self, event: Event) {
        self(event)
    }
}

/// Sees more of a run than its best: all that its searches offer, which is every playout. It must not hold them up
/// either.
pub trait Witness: Sync {
    /// Something with this score was offered. Its moves are rendered if they are asked for.
    fn saw(&self, score: f64, moves: &dyn Fn() -> Vec<String>);
}

/// One stream at one moment: what its `Run` counted and where its search stood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamCheckpoint {
    /// The stream.
    pub stream: u32,
    /// Its random numbers.
    pub rng: Rng,
    /// Its playouts.
    pub playouts: u64,
    /// The playout of its last improvement.
    pub improved_at: u64,
    /// Its best solution so far.
    pub best: Option<Solution>,
    /// Why it ended, if it has.
    pub ended: Option<StopReason>,
    /// The search's own state; empty: it starts anew.
    pub search: Vec<u8>,
}

/// A scored sequence of moves, as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// Its score.
    pub score: f64,
    /// Its moves, from the initial position to the end.
    pub moves: Vec<String>,
}

/// What the streams of a run share.
pub struct Control<'a> {
    /// When to end.
    pub limits: Limits,
    /// Raised from outside to end the run.
    pub stop: &'a AtomicBool,
    /// Who is told.
    pub observer: &'a dyn Observer,
    /// Who sees every playout, if anybody does.
    pub witness: Option<&'a dyn Witness>,
    /// How often each stream sends a checkpoint; zero: whenever it can; `None`: never.
    pub checkpoint_every: Option<Duration>,
    /// Wall time already spent by earlier sessions of the same run.
    pub seconds_before: f64,
    /// CPU time already spent by earlier sessions.
    pub cpu_seconds_before: f64,
    /// What weighs the moves of every playout, if anything does.
    pub guide: Option<Guide>,
    /// Who makes the calls of islands, if not the threads of this process.
    pub calls: Option<&'a dyn CallMaker>,
    /// A solution to begin with: searches that can, look around it.
    pub start: Option<Vec<String>>,
    started: Instant,
    cpu_started: ProcessTime,
    target_reached: AtomicBool,
}

impl<'a> Control<'a> {
    /// A run that starts now.
    pub fn new(limits: Limits, stop: &'a AtomicBool, observer: &'a dyn Observer) -> Control<'a> {
        Control {
            limits,
            stop,
            observer,
            witness: None,
            checkpoint_every: None,
            seconds_before: 0.0,
            cpu_seconds_before: 0.0,
            guide: None,
            calls: None,
            start: None,
            started: Instant::now(),
            cpu_started: ProcessTime::now(),
            target_reached: AtomicBool::new(false),
        }
    }

    /// Wall time of the run, earlier sessions included.
    pub fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// CPU time of the run, all threads, earlier sessions included.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu_seconds_before + self.cpu_started.elapsed().as_secs_f64()
    }
}

/// The clock is looked at about this often.
const CHECK_SECONDS: f64 = 0.002;
/// A stream says that it is alive about this often.
const PROGRESS_SECONDS: f64 = 0.2;

/// What the threads that run one stream together share besides their rounds.
#[derive(Debug)]
struct Crew {
    /// The best score that was announced. Held while announcing, so that scores are announced in rising order.
    announced: Mutex<f64>,
    /// Why the stream must end, as soon as one thread knows.
    stop: OnceLock<StopReason>,
    /// Playouts so far, a few milliseconds late. For progress only.
    playouts: AtomicU64,
    /// The time of the last progress event, as bits.
    progress_seconds: AtomicU64,
}

/// Which part of a stream a `Run` is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// All of it.
    Whole,
    /// One thread's copy of it. Only one of the copies speaks to the observer.
    Replica { speaks: bool },
    /// What a thread does by itself. `minds_target`: ends at once when it reaches the target.
    Hand { speaks: bool, minds_target: bool },
}

/// The turn of one search of several that share a stream: see `search::auto`.
#[derive(Debug, Clone, Default)]
struct Turn {
    playouts_max: u64,
    seconds_max: f64,
    /// It has lasted long enough: it ends where the search can be gone on with.
    over: bool,
    /// Where the search and its random numbers stood then.
    state: Option<(Vec<u8>, Rng)>,
}

/// One stream of a run.
pub struct Run<'a> {
    /// The stream's random numbers.
    pub rng: Rng,
    control: &'a Control<'a>,
    part: Part,
    crew: Arc<Crew>,
    threads: u32,
    stream: u32,
    /// Streams of the run, among which its processor time is taken to be divided.
    streams: f64,
    playouts: u64,
    playouts_max: u64,
    improved_at: u64,
    best: Option<Solution>,
    ended: Option<StopReason>,
    resumed: Vec<u8>,
    /// The turn under way of a search that takes turns with others, and the best score offered in it.
    turn: Option<Turn>,
    turn_best: f64,
    /// The search under way is not to know of the solution that the run begins with.
    blank: bool,
    /// The wall time this stream may reach: later than the run's own start when threads take streams in turn.
    seconds_max: f64,
    check_at: u64,
    check_interval: u64,
    checked_seconds: f64,
    /// Of a hand: the playouts that its crew knows of.
    reported: u64,
    progress_seconds: f64,
    checkpoint_seconds: f64,
    checkpoint_due: bool,
}

impl<'a> Run<'a> {
    /// Stream number `stream` of `streams`, from its beginning.
    pub fn new(control: &'a Control<'a>, seed: u64, stream: u32, streams: u32) -> Run<'a> {
        let share = |total: u64| {
            let (stream, streams) = (stream as u64, streams.max(1) as u64);
            total / streams + u64::from(stream < total % streams)
        };
        let now = control.seconds();
        let crew = Crew {
            announced: Mutex::new(f64::NEG_INFINITY),
            stop: OnceLock::new(),
            playouts: AtomicU64::new(0),
            progress_seconds: AtomicU64::new(now.to_bits()),
        };
        let mut run = Run {
            rng: Rng::new(seed, stream as u64),
            control,
            part: Part::Whole,
            crew: Arc::new(crew),
            threads: 1,
            stream,
            streams: f64::from(streams.max(1)),
            playouts: 0,
            playouts_max: control.limits.playouts.map_or(u64::MAX, share),
            improved_at: 0,
            best: None,
            ended: None,
            resumed: Vec::new(),
            turn: None,
            turn_best: f64::NEG_INFINITY,
            blank: false,
            seconds_max: control.limits.seconds.unwrap_or(f64::INFINITY),
            check_at: 1,
            check_interval: 1,
            checked_seconds: now,
            reported: 0,
            progress_seconds: now,
            checkpoint_seconds: now,
            checkpoint_due: false,
        };
        if run.playouts_max == 0 {
            run.ended = Some(StopReason::Playouts);
        }
        run
    }

    /// The same, going on from a checkpoint.
    pub fn resume(mut self, from: StreamCheckpoint) -> Run<'a> {
        self.rng = from.rng;
        self.playouts = from.playouts;
        self.improved_at = from.improved_at;
        self.best = from.best;
        self.ended = from.ended;
        self.resumed = from.search;
        self.check_at = self.playouts + 1;
        self
    }

    /// Ends this stream when the run's wall time reaches this, though the run's own limit may be later.
    pub fn until(mut self, seconds: f64) -> Run<'a> {
        self.seconds_max = self.seconds_max.min(seconds);
        self
    }

    /// Lets the search of this stream use so many threads.
    pub fn on_threads(mut self, threads: u32) -> Run<'a> {
        self.threads = threads.max(1);
        self
    }

    /// The threads that the search may use. What it finds must not depend on them.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// What weighs the moves of every playout, if anything does.
    pub fn guide(&self) -> Option<&'a Guide> {
        self.control.guide.as_ref()
    }

    /// A playout was finished. Nothing but an increment, most of the time.
    #[inline]
    pub fn count_playout(&mut self) {
        self.playouts += 1;
        if self.playouts >= self.check_at {
            self.check();
        }
    }

    /// Whether the search must return what it has.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.ended.is_some()
    }

    /// Offers a solution; it is rendered, kept and announced only if it is the stream's best so far.
    #[inline]
    pub fn offer(&mut self, score: f64, moves: impl Fn() -> Vec<String>) {
        if let Some(witness) = self.control.witness {
            self.show(witness, score, &moves);
        }
        self.turn_best = self.turn_best.max(score);
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            let silent = self.part == Part::Replica { speaks: false };
            self.improve(Solution { score, moves: if silent { Vec::new() } else { moves() } });
        }
    }

    /// Puts another solution of the same score in the place of the best: of equals that come from several threads, the
    /// search knows which one counts, however soon each was there.
    pub fn prefer(&mut self, moves: impl FnOnce() -> Vec<String>) {
        if let Some(best) = &mut self.best
            && !best.moves.is_empty()
        {
            best.moves = moves();
        }
    }

    /// What several threads have agreed on, each of them has offered by its own hand before.
    #[cold]
    fn show(&self, witness: &dyn Witness, score: f64, moves: &dyn Fn() -> Vec<String>) {
        if !matches!(self.part, Part::Replica { .. }) {
            witness.saw(score, moves);
        }
    }

    /// The best score so far.
    pub fn best_score(&self) -> f64 {
        self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.score)
    }

    /// Playouts of this stream.
    pub fn playouts(&self) -> u64 {
        self.playouts
    }

    /// A search calls this before `checkpoint`; `entropy` is asked only when one is due, so that it costs nothing.
    #[inline]
    pub fn policy(&mut self, entropy: impl FnOnce() -> Option<f64>) {
        let speaks = matches!(self.part, Part::Whole | Part::Replica { speaks: true });
        let always = speaks && self.control.checkpoint_every == Some(Duration::ZERO);
        if (self.checkpoint_due || always) && self.ended.is_none() {
            let stream = self.stream;
            if let Some(entropy) = entropy().filter(|_| self.part != Part::Replica { speaks: false }) {
                self.control.observer.on(Event::Policy { stream, entropy });
            }
        }
    }

    /// A search calls this where it could be resumed; `state` is asked only when a checkpoint is due.
    #[inline]
    pub fn checkpoint(&mut self, state: impl FnOnce() -> Vec<u8>) {
        if self.checkpoint_due && self.ended.is_none() {
            match &mut self.turn {
                None => {
                    let state = state();
                    self.send_checkpoint(state);
                }
                Some(turn) if turn.over => {
                    turn.state = Some((state(), self.rng.clone()));
                    self.end(StopReason::Asked);
                }
                Some(_) => {}
            }
        }
    }

    /// The search state this stream was resumed with, once.
    pub fn take_resumed(&mut self) -> Option<Vec<u8>> {
        (!self.resumed.is_empty()).then(|| std::mem::take(&mut self.resumed))
    }

    /// Whether the search should start again when it comes to its end.
    pub fn restarts(&self) -> bool {
        !self.control.limits.is_empty() && !self.stopped()
    }

    /// The end of the stream.
    pub fn finish(mut self) -> StreamCheckpoint {
        self.ended.get_or_insert(StopReason::Done);
        let last = self.snapshot(Vec::new());
        // Asked is not an end: the same run may go on later, from its last checkpoint.
        if self.control.checkpoint_every.is_some() && last.ended != Some(StopReason::Asked) {
            self.control.observer.on(Event::Checkpoint(last.clone()));
        }
        last
    }

    fn improve(&mut self, solution: Solution) {
        let score = solution.score;
        self.improved_at = self.playouts;
        match self.part {
            Part::Whole => {
                self.announce(&solution, self.playouts);
                self.best = Some(solution);
            }
            // The hand that found it has announced it.
            Part::Replica { .. } => self.best = Some(solution),
            Part::Hand { .. } => {
                let mut announced = self.crew.announced.lock().unwrap_or_else(PoisonError::into_inner);
                if score > *announced {
                    self.announce(&solution, self.crew.playouts.load(Ordering::Relaxed));
                    *announced = score;
                }
                self.best = Some(Solution { score: *announced, moves: Vec::new() });
            }
        }
        let minds_target = !matches!(self.part, Part::Hand { minds_target: false, .. });
        if minds_target && self.control.limits.target.is_some_and(|target| score >= target) {
            self.end(StopReason::Target);
            self.control.target_reached.store(true, Ordering::Relaxed);
            if let Part::Hand { .. } = self.part {
                self.interrupt(StopReason::Target);
            }
        }
        self.check_at = self.check_at.min(self.playouts + 1);
    }

    fn announce(&self, solution: &Solution, playouts: u64) {
        self.control.observer.on(Event::Improved {
            stream: self.stream,
            score: solution.score,
            moves: solution.moves.clone(),
            playouts,
            seconds: self.control.seconds(),
        });
    }

    fn end(&mut self, reason: StopReason) {
        self.ended.get_or_insert(reason);
    }

    #[cold]
    fn check(&mut self) {
        let now = self.control.seconds();
        self.pace(now);
        let reason = if let Part::Hand { .. } = self.part {
            let outside = self.interrupted().or_else(|| self.outside(now));
            if let Some(reason) = outside {
                self.interrupt(reason);
            }
            outside.or_else(|| self.counted())
        } else {
            self.counted().or_else(|| self.outside(now))
        };
        if let Some(reason) = reason {
            self.end(reason);
        }
        self.tell(now);
        if let Some(turn) = &mut self.turn
            && (self.playouts >= turn.playouts_max
                || turn.seconds_max.is_finite()
                    && self.control.cpu_seconds() / self.streams >= turn.seconds_max)
        {
            turn.over = true;
            self.checkpoint_due = true;
        }
    }

    /// Aims at one look at the clock in CHECK_SECONDS, whatever a playout costs.
    fn pace(&mut self, now: f64) {
        let spent = now - self.checked_seconds;
        if spent < CHECK_SECONDS / 2.0 {
            self.check_interval = (self.check_interval * 2).min(1 << 14);
        } else if spent > CHECK_SECONDS {
            self.check_interval = (self.check_interval / 2).max(1);
        }
        self.checked_seconds = now;
        // The counted limits are exact: the next look comes no later than they do.
        let patience_at = self.patience().map_or(u64::MAX, |max| self.improved_at.saturating_add(max));
        let turn_at = self.turn.as_ref().map_or(u64::MAX, |turn| turn.playouts_max.max(self.playouts + 1));
        self.check_at =
            (self.playouts + self.check_interval).min(self.playouts_max).min(patience_at).min(turn_at);
    }

    /// A hand is too short-lived to lose patience: the stream does, between its rounds.
    fn patience(&self) -> Option<u64> {
        self.control.limits.patience.filter(|_| !matches!(self.part, Part::Hand { .. }))
    }

    /// The ends that depend on nothing but counting: the same on all copies of a stream.
    fn counted(&self) -> Option<StopReason> {
        if self.playouts >= self.playouts_max {
            Some(StopReason::Playouts)
        } else if self.patience().is_some_and(|max| self.playouts - self.improved_at >= max) {
            Some(StopReason::Patience)
        } else {
            None
        }
    }

    /// The ends that come from outside.
    fn outside(&self, now: f64) -> Option<StopReason> {
        let cpu_seconds_max = self.control.limits.cpu_seconds;
        if self.control.target_reached.load(Ordering::Relaxed) {
            Some(StopReason::Target)
        } else if self.control.stop.load(Ordering::Relaxed) {
            Some(StopReason::Asked)
        } else if now >= self.seconds_max {
            Some(StopReason::Time)
        } else if cpu_seconds_max.is_some_and(|max| self.control.cpu_seconds() >= max) {
            Some(StopReason::CpuTime)
        } else {
            None
        }
    }

    /// Progress, and whether a checkpoint is due.
    fn tell(&mut self, now: f64) {
        let stream = self.stream;
        match self.part {
            Part::Whole => {
                if now - self.progress_seconds >= PROGRESS_SECONDS {
                    self.progress_seconds = now;
                    self.control.observer.on(Event::Progress { stream, playouts: self.playouts });
                }
            }
            Part::Replica { .. } => {}
            Part::Hand { speaks, .. } => {
                let new = self.playouts - std::mem::replace(&mut self.reported, self.playouts);
                let playouts = self.crew.playouts.fetch_add(new, Ordering::Relaxed) + new;
                let last = &self.crew.progress_seconds;
                if speaks && now - f64::from_bits(last.load(Ordering::Relaxed)) >= PROGRESS_SECONDS {
                    last.store(now.to_bits(), Ordering::Relaxed);
                    self.control.observer.on(Event::Progress { stream, playouts });
                }
                return;
            }
        }
        let every = self.control.checkpoint_every.map(|every| every.as_secs_f64());
        if every.is_some_and(|every| now - self.checkpoint_seconds >= every) {
            self.checkpoint_due = true;
        }
    }

    fn send_checkpoint(&mut self, search: Vec<u8>) {
        self.checkpoint_due = false;
        self.checkpoint_seconds = self.control.seconds();
        self.control.observer.on(Event::Checkpoint(self.snapshot(search)));
    }

    fn snapshot(&self, search: Vec<u8>) -> StreamCheckpoint {
        StreamCheckpoint {
            stream: self.stream,
            rng: self.rng.clone(),
            playouts: self.playouts,
            improved_at: self.improved_at,
            best: self.best.clone(),
            ended: self.ended,
            search,
        }
    }
}

#[cfg(test)]
mod tests;
