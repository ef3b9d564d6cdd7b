//! What a worker can do: the kinds of jobs, each with its spec and its hand.

use super::island::{IslandHand, IslandSpec};
use super::match_::{self, MatchHand};
use super::prove::{ProveHand, ProveSpec};
use super::solve::{SolveHand, SolveSpec};
use cpu_time::ThreadTime;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use sortie_grid::wire::{self, Kind, Run};
use sortie_grid::{Hand, Told, Workshop};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// No job of a bench is longer.
const SPIN_MS_MAX: u64 = 10_000;

/// Everything this program can do.
pub struct Shop {
    /// Engines of others that the worker offers, as players are named.
    pub engines: Vec<String>,
    /// What a job may have.
    pub bounds: Bounds,
}

/// What a job of somebody else's may have of this machine.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// MiB.
    pub memory_max: u32,
    /// Threads, its own among them.
    pub threads_max: u32,
}

impl Bounds {
    /// Refuses a job that wants so many MiB, if that is too much.
    pub fn memory(self, wanted: u64) -> Result<(), String> {
        let most = self.memory_max;
        if wanted <= u64::from(most) {
            return Ok(());
        }
        Err(format!("it wants {wanted} MiB for a job: this worker gives {most} (`sortie worker --memory`)"))
    }

    /// The same for threads.
    pub fn threads(self, wanted: u64) -> Result<(), String> {
        let most = self.threads_max;
        if wanted <= u64::from(most) {
            return Ok(());
        }
        Err(format!("it wants {wanted} threads for a job: this worker has {most} (`sortie worker --cores`)"))
    }
}

impl Workshop for Shop {
    fn can(&self, run: &Run) -> Result<(), String> {
        match run.kind {
            Kind::Prove => spec::<ProveSpec>(run)?.can(&self.engines, self.bounds),
            Kind::Bench => Ok(()),
            Kind::MatchGame => match_::fits(&spec(run)?, self.bounds).map_err(|error| format!("{error:#}")),
            Kind::Solve => spec::<SolveSpec>(run)?.open().map(drop).map_err(|error| format!("{error:#}")),
            Kind::Island => spec::<IslandSpec>(run)?.open().map(drop).map_err(|error| format!("{error:#}")),
        }
    }

    fn open(&self, run: &Run) -> Result<Box<dyn Hand>, String> {
        Ok(match run.kind {
            Kind::Prove => Box::new(ProveHand::new(spec(run)?, &self.engines)?),
            Kind::Bench => Box::new(Spin),
            Kind::MatchGame => {
                Box::new(MatchHand::new(&spec(run)?, self.bounds).map_err(|error| format!("{error:#}"))?)
            }
            Kind::Solve => Box::new(SolveHand::new(spec(run)?).map_err(|error| format!("{error:#}"))?),
            Kind::Island => Box::new(IslandHand::new(spec(run)?).map_err(|error| format!("{error:#}"))?),
        })
    }
}

fn spec<T: DeserializeOwned>(run: &Run) -> Result<T, String> {
    read(&run.spec).map_err(|why| format!("what it says of itself is not understood: {why}"))
}

/// The body of a message as what it should be.
pub fn read<T: DeserializeOwned>(body: &RawValue) -> Result<T, String> {
    serde_json::from_str(body.get()).map_err(|error| error.to_string())
}

/// The body of a message.
pub fn write(of: &impl serde::Serialize) -> Result<Box<RawValue>, String> {
    wire::body(of).map_err(|error| error.to_string())
}

/// Burns CPU time, for `lab bench grid`.
struct Spin;

impl Hand for Spin {
    fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String> {
        let milliseconds: u64 = read(job)?;
        spin(milliseconds.min(SPIN_MS_MAX), &|| told.cancel.load(Relaxed));
        write(&milliseconds).map(Some)
    }
}

/// Burns so much CPU time on this thread.
pub fn spin(milliseconds: u64, stop: &dyn Fn() -> bool) {
    let (begun, all) = (ThreadTime::now(), Duration::from_millis(milliseconds));
    while begun.elapsed() < all && !stop() {
        // The clock is a system call: some work in between, as a search would do.
        for i in 0..2000u64 {
            std::hint::black_box(i.wrapping_mul(i));
        }
    }
}
