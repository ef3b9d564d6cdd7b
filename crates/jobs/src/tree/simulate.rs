//! A job tree in virtual time: so many workers, jobs that take as long as they are said to, and faults from a seed.
//! What 64 workers would need is found on one, and a schedule that goes wrong is replayed from its seed.

use super::source::JobTree;
use sortie_core::Rng;
use sortie_core::exact::{Answer, Job};
use sortie_core::{JobId, JobSource};
use std::collections::{BTreeMap, HashMap};

/// Who works, and what goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Virtual {
    /// Workers.
    pub workers: usize,
    /// The seed of everything that is random.
    pub seed: u64,
    /// The share of jobs whose worker vanishes; its answer may still come, late.
    pub lost: f64,
    /// The share of answers that come twice.
    pub twice: f64,
    /// Jobs take up to so many times as long as they should, which changes the order of their answers.
    pub jitter: f64,
    /// Time that a worker needs besides, for every job: to fetch it and to bring the answer.
    pub overhead: u64,
    /// Whether a worker hears that its job is cancelled.
    pub cancel: bool,
}

impl Virtual {
    /// So many workers, and nothing goes wrong.
    pub fn workers(workers: usize) -> Virtual {
        Virtual { workers, seed: 0, lost: 0.0, twice: 0.0, jitter: 0.0, overhead: 0, cancel: true }
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Simulated {
    /// The time at the end.
    pub time: u64,
    /// Time that workers spent on jobs whose answers were used.
    pub useful: u64,
    /// Jobs that were handed out.
    pub jobs: u64,
    /// Nothing could happen any more, and the search had not ended: must never be.
    pub stuck: bool,
}

enum Event {
    Answer(JobId, Answer, u64),
    Lost(JobId),
    /// A worker is free again.
    Free(usize),
}

/// Runs a search to its end. `work` answers a job and says how long that takes; `None`: it fails.
pub fn simulate(
    tree: &mut JobTree,
    grid: &Virtual,
    mut work: impl FnMut(&Job, &mut Rng) -> Option<(Answer, u64)>,
) -> Simulated {
    let mut rng = Rng::new(grid.seed, 0);
    let mut result = Simulated::default();
    // In the order of time, and of making where that is equal.
    let mut events: BTreeMap<(u64, u64), Event> = BTreeMap::new();
    let mut made = 0;
    let mut idle: Vec<usize> = (0..grid.workers.max(1)).rev().collect();
    let mut at_work: HashMap<JobId, (usize, (u64, u64))> = HashMap::new();
    while !tree.finished() {
        while let Some(&worker) = idle.last() {
            let Some((id, job)) = tree.next() else { break };
            idle.pop();
            result.jobs += 1;
            let mut add = |time: u64, event: Event| {
                made += 1;
                events.insert((time, made), event);
                (time, made)
            };
            match work(&job, &mut rng) {
                None => {
                    add(result.time + 1, Event::Lost(id));
                    add(result.time + 1, Event::Free(worker));
                }
                Some((answer, cost)) => {
                    let slow = 1.0 + grid.jitter * rng.unit();
                    let cost = grid.overhead + ((cost as f64 * slow) as u64).max(1);
                    let end = result.time + cost;
                    if rng.unit() < grid.lost {
                        // The lease ends somewhere before or after the answer is there.
                        add(result.time + 1 + rng.below(2 * cost as usize) as u64, Event::Lost(id));
                    }
                    if rng.unit() < grid.twice {
                        add(end + rng.below(3 * cost as usize) as u64, Event::Answer(id, answer.clone(), 0));
                    }
                    add(end, Event::Answer(id, answer, cost));
                    let free = add(end, Event::Free(worker));
                    at_work.insert(id, (worker, free));
                }
            }
        }
        let Some(((time, _), event)) = events.pop_first() else {
            result.stuck = true;
            return result;
        };
        result.time = time;
        match event {
            Event::Answer(id, answer, cost) => {
                if tree.done(id, answer) {
                    result.useful += cost;
                }
            }
            Event::Lost(id) => tree.lost(id),
            Event::Free(worker) => idle.push(worker),
        }
        for id in tree.take_cancelled() {
            if let Some((worker, free)) = at_work.remove(&id)
                && grid.cancel
                && events.remove(&free).is_some()
            {
                idle.push(worker);
            }
        }
    }
    result
}
