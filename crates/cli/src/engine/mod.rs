//! Engines of somebody else's as players: programs that speak UCI or GTP on their pipes. Whatever such a program does
//! costs it the game and nothing else: every wait, line and number of bytes has a bound.

mod child;
mod gtp;
mod uci;

pub use gtp::Gtp;
pub use uci::Uci;
#[cfg(test)]
pub use uci::chance;

use sortie_core::Budget;
use std::time::{Duration, Instant};

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
    /// What the engine is told before its first game.
    pub options: Vec<(String, String)>,
}

/// When a wait is over.
#[derive(Debug, Clone, Copy)]
struct Deadline {
    start: Instant,
    limit: Option<Duration>,
}

impl Deadline {
    fn after(seconds: Option<f64>) -> Deadline {
        // A year stands for all longer times, which an `Instant` might not hold.
        let limit = seconds.map(|s| Duration::from_secs_f64(s.clamp(0.001, 365.0 * 86400.0)));
        Deadline { start: Instant::now(), limit }
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
        let timed = seconds(budget).map(|s| s + self.timeout.unwrap_or(GRACE_SECONDS));
        let counted = budget.playouts.or(budget.nodes).map(|_| self.timeout.unwrap_or(UNTIMED_SECONDS));
        Deadline::after(timed.or(counted))
    }
}

/// The time of a budget. An engine of somebody else's is not asked how much CPU time it took: wall time stands for it.
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
