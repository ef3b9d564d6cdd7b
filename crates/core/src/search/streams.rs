//! Root parallelism: the best of M independent searches. Stream `i` draws from random stream `i` of the seed, so the
//! answer depends on the number of streams and not on the number of threads that work through them.

use super::Search;
use crate::domain::Problem;
use crate::run::{Control, Run, Solution, StopReason, StreamCheckpoint};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A search, how many independent streams of it, and on how many threads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BestOf {
    /// What each stream runs.
    pub search: Search,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Independent searches.
    pub streams: u32,
    /// Threads that work through them.
    pub threads: u32,
}

/// How the streams of a run ended.
#[derive(Debug, Clone)]
pub struct Outcomes {
    /// The best solution of any stream; of equal ones that of the lowest stream.
    pub best: Option<Solution>,
    /// Playouts of all streams.
    pub playouts: u64,
    /// Why the run ended.
    pub reason: StopReason,
    /// Each stream's end.
    pub streams: Vec<StreamCheckpoint>,
}

/// Runs all streams to their ends. `resume` holds checkpoints of streams begun in an earlier session.
pub fn best_of<P: Problem>(
    problem: &P,
    spec: &BestOf,
    control: &Control,
    mut resume: Vec<StreamCheckpoint>,
) -> Outcomes {
    let threads = spec.threads.clamp(1, spec.streams.max(1)) as usize;
    let waves = (spec.streams as usize).div_ceil(threads);
    resume.retain(|checkpoint| checkpoint.stream < spec.streams);
    let resume = Mutex::new(resume);
    let ends = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = &|threads_here: u32| {
        loop {
            let stream = next.fetch_add(1, Ordering::Relaxed);
            if stream >= spec.streams as usize {
                return;
            }
            let mut run = Run::new(control, spec.seed, stream as u32, spec.streams).on_threads(threads_here);
            // Fewer threads than streams: a wall-time limit is divided among the waves, else the last get nothing.
            if let Some(seconds) = control.limits.seconds {
                run = run.until(seconds * (stream / threads + 1) as f64 / waves as f64);
            }
            let mut resume = resume.lock().expect("no panic while held");
            if let Some(i) = resume.iter().position(|checkpoint| checkpoint.stream == stream as u32) {
                run = run.resume(resume.swap_remove(i));
            }
            drop(resume);
            spec.search.run(problem, &mut run);
            ends.lock().expect("no panic while held").push(run.finish());
        }
    };
    std::thread::scope(|scope| {
        // More threads than streams: what is over helps the searches that can use it.
        let threads_here = |i: usize| {
            (spec.threads as usize / threads + usize::from(i < spec.threads as usize % threads)) as u32
        };
        for i in 1..threads {
            scope.spawn(move || work(threads_here(i)));
        }
        // This thread is one of them.
        work(threads_here(0));
    });
    let mut streams = ends.into_inner().expect("no panic while held");
    streams.sort_by_key(|end| end.stream);
    merge(streams)
}

fn merge(streams: Vec<StreamCheckpoint>) -> Outcomes {
    let mut best: Option<&Solution> = None;
    for solution in streams.iter().filter_map(|end| end.best.as_ref()) {
        if best.is_none_or(|best| solution.score > best.score) {
            best = Some(solution);
        }
    }
    let has = |reason| streams.iter().any(|end| end.ended == Some(reason));
    let order = [StopReason::Asked, StopReason::Target, StopReason::Time, StopReason::CpuTime];
    let reason = order.into_iter().find(|&reason| has(reason));
    Outcomes {
        best: best.cloned(),
        playouts: streams.iter().map(|end| end.playouts).sum(),
        reason: reason.or(streams.first().and_then(|end| end.ended)).unwrap_or(StopReason::Done),
        streams,
    }
}
