//! NRPA that is asked for sequences and told their scores, for scores that take seconds: by nobody in particular, in
//! whatever order they come.
//!
//! One answer is one iteration of the call of level 1 that is under way, whichever call the sequence was drawn for: with
//! one sequence out at a time this is NRPA to the last bit; with n out, the policy lags n answers behind. Calls nest as in
//! the search itself: a policy that is marked, adapted and taken back.

use crate::contract::Hosted;
use crate::host::{Habits, Host};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};
use sortie_core::Rng;
use sortie_core::playout::{Mark, Offer, Policy, Scratch, Trace, exp, playout};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// What is asked for, as JSON from the Python side.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    level: u32,
    iterations: u32,
    alpha: f64,
    bias: bool,
    seed: u64,
}

/// A call of a level.
struct Level {
    iteration: u32,
    best: Trace<u32>,
    mark: Mark,
}

struct Inner {
    rules: Rules,
    problem: Hosted,
    rng: Rng,
    policy: Policy,
    /// `levels[l]` is the call of level `l + 1` under way.
    levels: Vec<Level>,
    scratch: Scratch<Hosted>,
    out: BTreeMap<u64, Trace<u32>>,
    next: u64,
    told: u64,
    dropped: u64,
    best: Option<(f64, Vec<String>)>,
    /// Whole searches that came to their end.
    searches: u64,
}

/// A level: iteration, best score, its choices, changed weights.
type SavedLevel = (u32, f64, Vec<u32>, Vec<(u64, f64)>);

/// What is kept of a policy: choices by their index, weights by level.
#[derive(Serialize, Deserialize)]
struct Saved {
    rules: Rules,
    rng: Rng,
    /// From the highest level down.
    levels: Vec<SavedLevel>,
    out: Vec<(u64, Vec<u32>)>,
    counts: (u64, u64, u64, u64),
    best: Option<(f64, Vec<String>)>,
}

/// A nested policy that is asked for sequences and told their scores.
#[pyclass(frozen, module = "sortie_search._native")]
pub struct Nest(Mutex<Inner>);

/// A sequence: its number, its moves, their words, its end.
type Asked = (u64, Vec<Py<PyAny>>, Vec<String>, Py<PyAny>);

#[pymethods]
impl Nest {
    #[new]
    #[pyo3(signature = (object, rules, in_place=false, cache=200_000, steps_max=100_000))]
    fn new(
        object: &Bound<PyAny>,
        rules: &str,
        in_place: bool,
        cache: usize,
        steps_max: u32,
    ) -> PyResult<Nest> {
        let rules: Rules = serde_json::from_str(rules).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let good = (1..=8).contains(&rules.level)
            && rules.iterations > 0
            && rules.alpha > 0.0
            && rules.alpha <= 100.0;
        if !good {
            return Err(PyValueError::new_err(
                "expected level from 1 to 8, iterations from 1 on, alpha above 0 to 100",
            ));
        }
        let habits = Habits { in_place, cache: cache.max(16), steps_max };
        let host = Arc::new(Host::unscored(object, habits)?);
        let problem = Hosted(host);
        let scratch = Scratch::new(&problem);
        raise(&problem)?;
        let mut inner = Inner {
            rng: Rng::new(rules.seed, 0),
            policy: Policy::new(None),
            levels: Vec::new(),
            scratch,
            out: BTreeMap::new(),
            next: 0,
            told: 0,
            dropped: 0,
            best: None,
            searches: 0,
            problem,
            rules,
        };
        inner.begin();
        Ok(Nest(Mutex::new(inner)))
    }

    /// `n` sequences.
    fn ask(&self, py: Python, n: usize) -> PyResult<Vec<Asked>> {
        let inner = &mut *self.lock(py);
        (0..n).map(|_| inner.ask(py)).collect()
    }

    /// The score of a sequence.
    fn tell(&self, py: Python, id: u64, score: f64) -> PyResult<()> {
        if !score.is_finite() {
            return Err(PyValueError::new_err(format!(
                "score {score}: expected a finite number; the sequence is still out"
            )));
        }
        let mut inner = self.lock(py);
        let Some(trace) = inner.out.remove(&id) else {
            return Err(PyKeyError::new_err(format!("sequence {id} is not out: told or dropped before")));
        };
        inner.tell(trace, score);
        Ok(())
    }

    /// Gives a sequence back; false if it is not out.
    fn drop_sequence(&self, py: Python, id: u64) -> bool {
        let mut inner = self.lock(py);
        let known = inner.out.remove(&id).is_some();
        inner.dropped += u64::from(known);
        known
    }

    /// The best score that was told, and its words.
    fn best(&self, py: Python) -> Option<(f64, Vec<String>)> {
        self.lock(py).best.clone()
    }

    /// Asked, told, in flight, dropped, whole searches.
    fn counts(&self, py: Python) -> (u64, u64, u64, u64, u64) {
        let inner = self.lock(py);
        (inner.next, inner.told, inner.out.len() as u64, inner.dropped, inner.searches)
    }

    /// The sequences that are out.
    fn out(&self, py: Python) -> PyResult<Vec<Asked>> {
        let inner = &mut *self.lock(py);
        let traces: Vec<(u64, Vec<u32>)> =
            inner.out.iter().map(|(&id, trace)| (id, trace.moves.clone())).collect();
        traces.into_iter().map(|(id, moves)| inner.sequence(py, id, &moves)).collect()
    }

    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let inner = self.lock(py);
        let mut policy = inner.policy.clone();
        let mut levels: Vec<_> = Vec::new();
        for level in &inner.levels {
            let mut changes = Vec::new();
            policy.changes(level.mark, &mut changes);
            policy.rewind(level.mark);
            levels.push((level.iteration, level.best.score, choices(&level.best), changes));
        }
        levels.reverse();
        let saved = Saved {
            rules: inner.rules.clone(),
            rng: inner.rng.clone(),
            levels,
            out: inner.out.iter().map(|(&id, trace)| (id, choices(trace))).collect(),
            counts: (inner.next, inner.told, inner.dropped, inner.searches),
            best: inner.best.clone(),
        };
        PyBytes::new(py, &postcard::to_stdvec(&saved).expect("plain data always serialises"))
    }

    /// What `save` returned, for the same object.
    #[staticmethod]
    #[pyo3(signature = (object, bytes, in_place=false, cache=200_000, steps_max=100_000))]
    fn load(
        object: &Bound<PyAny>,
        bytes: &[u8],
        in_place: bool,
        cache: usize,
        steps_max: u32,
    ) -> PyResult<Nest> {
        let damaged =
            || PyValueError::new_err("the saved policy is damaged, of another version or of another problem");
        let saved: Saved = postcard::from_bytes(bytes).map_err(|_| damaged())?;
        let rules = serde_json::to_string(&saved.rules).expect("plain data");
        let nest = Nest::new(object, &rules, in_place, cache, steps_max)?;
        {
            let inner = &mut *nest.lock(object.py());
            if saved.levels.len() != inner.levels.len() {
                return Err(damaged());
            }
            inner.policy = Policy::new(None);
            inner.levels.clear();
            for (iteration, score, indices, changes) in saved.levels {
                let mark = inner.policy.mark();
                inner.policy.assign(&changes);
                let best = inner.retrace(&indices, score).ok_or_else(damaged)?;
                inner.levels.insert(0, Level { iteration, best, mark });
            }
            for (id, indices) in saved.out {
                let trace = inner.retrace(&indices, f64::NEG_INFINITY).ok_or_else(damaged)?;
                inner.out.insert(id, trace);
            }
            (inner.next, inner.told, inner.dropped, inner.searches) = saved.counts;
            (inner.rng, inner.best) = (saved.rng, saved.best);
            raise(&inner.problem)?;
        }
        Ok(nest)
    }
}

impl Nest {
    fn lock(&self, py: Python) -> MutexGuard<'_, Inner> {
        self.0.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Inner {
    fn offer(&self) -> Offer {
        Offer { selective: true, bias: self.rules.bias }
    }

    /// Begins a whole search: a call of every level, the highest first.
    fn begin(&mut self) {
        self.policy = Policy::new(None);
        self.levels.clear();
        for _ in 0..self.rules.level {
            let mark = self.policy.mark();
            self.levels.insert(0, Level { iteration: 0, best: Trace::default(), mark });
        }
    }

    fn ask(&mut self, py: Python) -> PyResult<Asked> {
        self.problem.0.go_on();
        let mut trace = Trace::default();
        let offer = self.offer();
        playout(&self.problem, offer, &self.policy, &mut self.rng, &mut self.scratch, &mut trace);
        raise(&self.problem)?;
        let asked = self.sequence(py, self.next, &trace.moves)?;
        self.out.insert(self.next, trace);
        self.next += 1;
        Ok(asked)
    }

    /// A sequence for Python.
    fn sequence(&mut self, py: Python, id: u64, moves: &[u32]) -> PyResult<Asked> {
        let host = &self.problem.0;
        let mut node = host.root();
        for &mv in moves {
            node = host.step(&node, mv);
        }
        raise(&self.problem)?;
        let objects = moves.iter().map(|&mv| host.object(py, mv)).collect();
        let words = moves.iter().map(|&mv| host.word(mv)).collect();
        Ok((id, objects, words, host.state(py, &node)?))
    }

    fn tell(&mut self, mut trace: Trace<u32>, score: f64) {
        self.told += 1;
        trace.score = score;
        trace.adopt(&self.policy);
        if self.best.as_ref().is_none_or(|(best, _)| score > *best) {
            let words = trace.moves.iter().map(|&mv| self.problem.0.word(mv)).collect();
            self.best = Some((score, words));
        }
        // The result of a call goes up until a level has calls left to make.
        for l in 0..self.levels.len() {
            let here = &mut self.levels[l];
            if trace.score >= here.best.score {
                std::mem::swap(&mut here.best, &mut trace);
            }
            here.iteration += 1;
            if here.iteration < self.rules.iterations {
                let step = self.rules.alpha;
                self.policy.adapt(&mut here.best, step);
                for below in (0..l).rev() {
                    let mark = self.policy.mark();
                    self.levels[below] = Level { iteration: 0, best: Trace::default(), mark };
                }
                return;
            }
            self.policy.rewind(here.mark);
            trace = std::mem::take(&mut here.best);
            trace.adopt(&self.policy);
        }
        self.searches += 1;
        self.begin();
    }

    /// The trace of a sequence from the index of its choice at each step; `None` if that is of another problem.
    fn retrace(&mut self, indices: &[u32], score: f64) -> Option<Trace<u32>> {
        let host = &self.problem.0;
        let mut trace = Trace { score, ..Trace::default() };
        let mut node = host.root();
        for &i in indices {
            let offer = host.offer(&node);
            let mv = *offer.moves.get(i as usize)?;
            trace.push_step(&offer.codes, i as usize, mv);
            if self.rules.bias {
                trace.factors.extend(offer.bias.iter().map(|&bias| exp(bias)));
            }
            node = host.step(&node, mv);
        }
        trace.adopt(&self.policy);
        Some(trace)
    }
}

/// The index of the choice at each step.
fn choices(trace: &Trace<u32>) -> Vec<u32> {
    let starts = std::iter::once(&0).chain(&trace.ends);
    trace.chosen.iter().zip(starts).map(|(chosen, start)| chosen - start).collect()
}

/// Raises what the class raised.
fn raise(problem: &Hosted) -> PyResult<()> {
    problem.0.take_fault().map_or(Ok(()), Err)
}
