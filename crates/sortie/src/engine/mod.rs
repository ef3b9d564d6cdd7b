//! Engines of somebody else's as players and as workers for job trees: programs that speak UCI, GTP, Gomocup's protocol
//! or plain lines on their pipes. Whatever such a program does costs it the game or the job and nothing else: every
//! wait, line and number of bytes has a bound.

mod child;
mod cpu;
mod dialect;
mod family;
mod gomocup;
mod gtp;
mod lines;
mod place;
mod player;
mod probe;
mod uci;
mod worker;

pub use gomocup::Gomocup;
pub use gtp::{Gtp, GtpSpeaker};
pub use lines::speaker as lines;
pub use place::{Place, Rules};
pub use player::Spoken;
pub use probe::{Probe, probe};
#[cfg(test)]
pub use uci::chance;
pub use uci::{Uci, UciSpeaker};
pub use worker::{hire, register};

use sortie_core::Budget;
use sortie_core::exact::Asked;
use sortie_core::play::Fault;
use std::time::{Duration, Instant};

/// How long a wait for a line lasts before it is looked at whether to go on.
const SLICE: Duration = Duration::from_millis(10);
/// Time for a look where neither time nor nodes are given.
const LOOK_SECONDS: f64 = 1.0;

/// How long an engine may take beyond the time it was given, and for everything that is not thinking.
const GRACE_SECONDS: f64 = 10.0;
/// How long a move may take that is limited by something else than time.
const UNTIMED_SECONDS: f64 = 60.0;

/// A program that is an engine, as a player spec names it.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Seconds that replace `GRACE_SECONDS` and `UNTIMED_SECONDS`.
    pub timeout: Option<f64>,
    /// Seconds for a job.
    pub time: Option<f64>,
    /// What the engine is told before its first game.
    pub options: Vec<(String, String)>,
}

/// A position and what may not be played there.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub place: &'a Place,
    pub exclude: &'a [String],
    /// Limits; with none of them `LOOK_SECONDS`.
    pub nodes: Option<u64>,
    pub seconds: Option<f64>,
}

impl Look<'_> {
    fn budget(&self) -> Budget {
        let seconds = self.seconds.or(if self.nodes.is_none() { Some(LOOK_SECONDS) } else { None });
        Budget { playouts: self.nodes, seconds, ..Budget::default() }
    }

    /// The legal moves that are left.
    fn allowed(&self) -> impl Iterator<Item = &String> {
        self.place.legal.iter().filter(|word| !self.exclude.contains(word))
    }
}

/// What an engine says of a position. None of it is believed: the move may be anything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// The move, in the engine's spelling.
    pub best: String,
    /// The chances of the side to move, in `0..=1`.
    pub value: Option<f64>,
    /// It says that `value`, a win or a loss, is certain.
    pub sure: bool,
    /// Positions or simulations.
    pub nodes: u64,
}

/// An engine that is asked about one position after the other.
pub trait Speaker: Send {
    /// What it calls itself, as far as it is known by now.
    fn name(&self) -> String;
    /// Its protocol.
    fn protocol(&self) -> &'static str;
    /// How it is told to leave moves out.
    fn way(&self) -> String;
    /// The legal moves there as the engine itself says them; `None` where its protocol has no way to ask.
    fn legal(&mut self, place: &Place) -> Result<Option<Vec<String>>, Fault>;
    /// Asks it; `None` if that was ended early. After a fault the engine is ended with all it has started, and started
    /// again when it is next asked.
    fn look(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault>;
    /// The CPU time of its process so far, where the system says so.
    fn cpu_seconds(&self) -> Option<f64> {
        None
    }
}

/// When a wait is over.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    start: Instant,
    limit: Option<Duration>,
    /// CPU time after which an engine that can be stopped is.
    cpu_seconds: Option<f64>,
}

impl Deadline {
    fn after(seconds: Option<f64>) -> Deadline {
        // A year stands for all longer times, which an `Instant` might not hold.
        let limit = seconds.map(|s| Duration::from_secs_f64(s.clamp(0.001, 365.0 * 86400.0)));
        Deadline { start: Instant::now(), limit, cpu_seconds: None }
    }

    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.start.elapsed() >= limit)
    }

    /// The limit in whole seconds, for the fault.
    fn seconds(&self) -> u64 {
        self.limit.map_or(0, |limit| limit.as_secs_f64().ceil() as u64)
    }
}

impl Program {
    fn grace(&self) -> Deadline {
        Deadline::after(Some(self.timeout.unwrap_or(GRACE_SECONDS)))
    }

    /// For a move with this budget; endless only where the budget is, which then ends by `stop`.
    fn deadline(&self, budget: &Budget) -> Deadline {
        let timed = wall(budget).map(|s| s + self.timeout.unwrap_or(GRACE_SECONDS));
        let counted = budget.playouts.or(budget.nodes).map(|_| self.timeout.unwrap_or(UNTIMED_SECONDS));
        Deadline { cpu_seconds: budget.cpu_seconds, ..Deadline::after(timed.or(counted)) }
    }
}

/// How many times as long as its CPU time a move may take on a machine that has other work.
const BUSY: f64 = 20.0;

/// The wall time of a budget: CPU time may take longer where that can be measured.
fn wall(budget: &Budget) -> Option<f64> {
    let busy = if cfg!(target_os = "linux") { BUSY } else { 1.0 };
    match (budget.seconds, budget.cpu_seconds.map(|seconds| busy * seconds)) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The time that an engine is told of which knows wall time only.
fn seconds(budget: &Budget) -> Option<f64> {
    match (budget.seconds, budget.cpu_seconds) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The number of simulations or nodes of a budget, which to engines are the same.
fn count(budget: &Budget) -> Option<u64> {
    match (budget.playouts, budget.nodes) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
