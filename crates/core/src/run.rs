//! What every search is handed: its random stream, its limits, a stop flag and somebody to tell.
//!
//! A `Control` belongs to a whole run and is shared by its threads; each of its streams (the independent searches of
//! best-of-M, numbered from 0) has a `Run`. The clock is read here and nowhere else in this crate.

use crate::rng::Rng;
use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// How often each stream sends a checkpoint; `None`: never.
    pub checkpoint_every: Option<Duration>,
    /// Wall time already spent by earlier sessions of the same run.
    pub seconds_before: f64,
    /// CPU time already spent by earlier sessions.
    pub cpu_seconds_before: f64,
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
            checkpoint_every: None,
            seconds_before: 0.0,
            cpu_seconds_before: 0.0,
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

/// One stream of a run.
pub struct Run<'a> {
    /// The stream's random numbers.
    pub rng: Rng,
    control: &'a Control<'a>,
    stream: u32,
    playouts: u64,
    playouts_max: u64,
    improved_at: u64,
    best: Option<Solution>,
    ended: Option<StopReason>,
    resumed: Vec<u8>,
    /// The wall time this stream may reach: later than the run's own start when threads take streams in turn.
    seconds_max: f64,
    check_at: u64,
    check_interval: u64,
    checked_seconds: f64,
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
        let mut run = Run {
            rng: Rng::new(seed, stream as u64),
            control,
            stream,
            playouts: 0,
            playouts_max: control.limits.playouts.map_or(u64::MAX, share),
            improved_at: 0,
            best: None,
            ended: None,
            resumed: Vec::new(),
            seconds_max: control.limits.seconds.unwrap_or(f64::INFINITY),
            check_at: 1,
            check_interval: 1,
            checked_seconds: now,
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
    pub fn offer(&mut self, score: f64, moves: impl FnOnce() -> Vec<String>) {
        if self.best.as_ref().is_none_or(|best| score > best.score) {
            self.improve(Solution { score, moves: moves() });
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

    /// A search calls this where it could be resumed; `state` is asked only when a checkpoint is due.
    #[inline]
    pub fn checkpoint(&mut self, state: impl FnOnce() -> Vec<u8>) {
        if self.checkpoint_due && self.ended.is_none() {
            let state = state();
            self.send_checkpoint(state);
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
        self.improved_at = self.playouts;
        self.control.observer.on(Event::Improved {
            stream: self.stream,
            score: solution.score,
            moves: solution.moves.clone(),
            playouts: self.playouts,
            seconds: self.control.seconds(),
        });
        if self.control.limits.target.is_some_and(|target| solution.score >= target) {
            self.end(StopReason::Target);
            self.control.target_reached.store(true, Ordering::Relaxed);
        }
        self.best = Some(solution);
        self.check_at = self.check_at.min(self.playouts + 1);
    }

    fn end(&mut self, reason: StopReason) {
        self.ended.get_or_insert(reason);
    }

    #[cold]
    fn check(&mut self) {
        let limits = &self.control.limits;
        let now = self.control.seconds();
        // Aim at one look at the clock in CHECK_SECONDS, whatever a playout costs.
        let spent = now - self.checked_seconds;
        if spent < CHECK_SECONDS / 2.0 {
            self.check_interval = (self.check_interval * 2).min(1 << 14);
        } else if spent > CHECK_SECONDS {
            self.check_interval = (self.check_interval / 2).max(1);
        }
        self.checked_seconds = now;

        let reason = if self.control.target_reached.load(Ordering::Relaxed) {
            Some(StopReason::Target)
        } else if self.control.stop.load(Ordering::Relaxed) {
            Some(StopReason::Asked)
        } else if self.playouts >= self.playouts_max {
            Some(StopReason::Playouts)
        } else if now >= self.seconds_max {
            Some(StopReason::Time)
        } else if limits.cpu_seconds.is_some_and(|max| self.control.cpu_seconds() >= max) {
            Some(StopReason::CpuTime)
        } else if limits.patience.is_some_and(|max| self.playouts - self.improved_at >= max) {
            Some(StopReason::Patience)
        } else {
            None
        };
        if let Some(reason) = reason {
            self.end(reason);
        }

        if now - self.progress_seconds >= PROGRESS_SECONDS {
            self.progress_seconds = now;
            self.control.observer.on(Event::Progress { stream: self.stream, playouts: self.playouts });
        }
        if self
            .control
            .checkpoint_every
            .is_some_and(|every| now - self.checkpoint_seconds >= every.as_secs_f64())
        {
            self.checkpoint_due = true;
        }
        // The counted limits are exact: the next look comes no later than they do.
        let patience_at = limits.patience.map_or(u64::MAX, |max| self.improved_at.saturating_add(max));
        self.check_at = (self.playouts + self.check_interval).min(self.playouts_max).min(patience_at);
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
mod tests {
    use super::*;

    fn count(limits: Limits) -> (u64, Option<StopReason>) {
        let stop = AtomicBool::new(false);
        let control = Control::new(limits, &stop, &|_| {});
        let mut run = Run::new(&control, 1, 0, 1);
        while !run.stopped() {
            run.count_playout();
            run.offer(run.playouts().min(100) as f64, Vec::new);
        }
        let end = run.finish();
        (end.playouts, end.ended)
    }

    #[test]
    fn counted_limits_are_exact() {
        assert_eq!(
            count(Limits { playouts: Some(1000), ..Limits::default() }),
            (1000, Some(StopReason::Playouts))
        );
        assert_eq!(
            count(Limits { patience: Some(500), ..Limits::default() }),
            (600, Some(StopReason::Patience))
        );
        assert_eq!(count(Limits { target: Some(50.0), ..Limits::default() }), (50, Some(StopReason::Target)));
    }

    #[test]
    fn playouts_are_shared_among_streams() {
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits { playouts: Some(10), ..Limits::default() }, &stop, &|_| {});
        let shares: Vec<u64> = (0..4).map(|s| Run::new(&control, 1, s, 4).playouts_max).collect();
        assert_eq!(shares, [3, 3, 2, 2]);
    }
}
