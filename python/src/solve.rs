//! Single-player searches from Python: ours on threads of their own with the interpreter free, those of a Python class
//! on the thread that asked, stream after stream.

use crate::contract::Hosted;
use crate::host::Host;
use crate::news::News;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Deserialize;
use sortie_core::run::{Run, StreamCheckpoint};
use sortie_core::search::Outcomes;
use sortie_core::{AnyProblem, BestOf, Control, Limits, Search, Solution, StopReason};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// How often Python gets its turn while a search of ours runs.
const TURN: Duration = Duration::from_millis(50);

/// What is to be run, as JSON from the Python side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    search: Search,
    seed: u64,
    streams: u32,
    threads: u32,
    #[serde(default)]
    limits: Limits,
    /// The streams of this process; empty: all.
    #[serde(default)]
    only: Vec<u32>,
    #[serde(default)]
    seconds_before: f64,
    #[serde(default)]
    cpu_seconds_before: f64,
    /// Seconds between checkpoints of a stream; none without it.
    #[serde(default)]
    checkpoint_every: Option<f64>,
}

impl Spec {
    pub fn parse(text: &str) -> PyResult<Spec> {
        let spec: Spec = serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
        spec.search.check().map_err(|e| PyValueError::new_err(e.to_string()))?;
        if spec.streams == 0 || spec.threads == 0 || spec.streams > 1 << 20 || spec.threads > 1024 {
            return Err(PyValueError::new_err("threads and streams: expected 1 to 1024, and 1 to 1048576"));
        }
        let numbers = [spec.limits.seconds, spec.limits.cpu_seconds, spec.limits.target];
        if numbers.iter().flatten().any(|n| !n.is_finite()) {
            return Err(PyValueError::new_err("a limit is not a finite number"));
        }
        Ok(spec)
    }

    fn control<'a>(&self, stop: &'a AtomicBool, news: &'a News) -> Control<'a> {
        let mut control = Control::new(self.limits.clone(), stop, news);
        control.seconds_before = self.seconds_before;
        control.cpu_seconds_before = self.cpu_seconds_before;
        control.checkpoint_every = self.checkpoint_every.map(|s| Duration::from_secs_f64(s.clamp(0.0, 1e6)));
        control
    }
}

/// A search of one of our own problems. Ctrl-C ends it as it ends the command: with the best so far.
pub fn ours<'py>(
    py: Python<'py>,
    problem: &dyn AnyProblem,
    spec: &Spec,
    resume: Vec<StreamCheckpoint>,
    on: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let news = News::new(on);
    let stop = AtomicBool::new(false);
    let best_of =
        BestOf { search: spec.search.clone(), seed: spec.seed, streams: spec.streams, threads: spec.threads };
    let control = spec.control(&stop, &news);
    let (ended, trouble) = py.detach(|| {
        std::thread::scope(|scope| {
            let search = scope.spawn(|| {
                let ended = catch_unwind(AssertUnwindSafe(|| problem.solve(&best_of, &control, resume)));
                news.close();
                ended
            });
            let mut trouble: Option<PyErr> = None;
            loop {
                let over = news.wait(TURN);
                let turn = Python::attach(|py| py.check_signals().and_then(|()| news.deliver(py)));
                if let Err(error) = turn {
                    stop.store(true, Relaxed);
                    trouble.get_or_insert(error);
                }
                if over {
                    return (search.join().expect("panics are caught within"), trouble);
                }
            }
        })
    });
    let outcomes = ended.unwrap_or_else(|panic| resume_unwind(panic));
    let best = outcomes.best.clone().or_else(|| news.best());
    let fault = trouble.filter(|e| !e.is_instance_of::<PyKeyboardInterrupt>(py));
    report(py, best, &outcomes, (control.seconds(), control.cpu_seconds()), fault)
}

/// A search of a Python class.
pub fn yours<'py>(
    py: Python<'py>,
    host: &Arc<Host>,
    spec: &Spec,
    resume: Vec<StreamCheckpoint>,
    on: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let news = News::new(on);
    host.begin(Some(news.clone()));
    let stop = host.stop.clone();
    let control = spec.control(&stop, &news);
    let all: Vec<u32> = (0..spec.streams).collect();
    let streams = if spec.only.is_empty() { &all } else { &spec.only };
    let problem = Hosted(host.clone());
    let searched = catch_unwind(AssertUnwindSafe(|| run_streams(&problem, spec, &control, streams, resume)));
    host.end();
    let fault = host.take_fault();
    let fault = fault.filter(|e| !e.is_instance_of::<PyKeyboardInterrupt>(py));
    let outcomes = match (searched, &fault) {
        (Ok(outcomes), _) => outcomes,
        // A search may stumble over what a class left behind that failed in the middle of it.
        (Err(_), Some(_)) => {
            Outcomes { best: None, playouts: 0, reason: StopReason::Asked, streams: Vec::new() }
        }
        (Err(panic), None) => resume_unwind(panic),
    };
    // The end may have been offered by positions that an exception cut off: what was announced before counts.
    let best = if fault.is_some() { news.best() } else { outcomes.best.clone().or_else(|| news.best()) };
    let delivered = news.deliver(py);
    let fault = fault.or(delivered.err());
    report(py, best, &outcomes, (control.seconds(), control.cpu_seconds()), fault)
}

/// The streams of this process one after the other. A time limit is divided among them.
fn run_streams(
    problem: &Hosted,
    spec: &Spec,
    control: &Control,
    streams: &[u32],
    mut resume: Vec<StreamCheckpoint>,
) -> Outcomes {
    let mut ends = Vec::new();
    for (i, &stream) in streams.iter().enumerate() {
        let mut run = Run::new(control, spec.seed, stream, spec.streams);
        if let Some(seconds) = control.limits.seconds {
            run = run.until(seconds * (i + 1) as f64 / streams.len() as f64);
        }
        if let Some(i) = resume.iter().position(|checkpoint| checkpoint.stream == stream) {
            run = run.resume(resume.swap_remove(i));
        }
        spec.search.run(problem, &mut run);
        ends.push(run.finish());
        if problem.0.failed() || control.stop.load(Relaxed) {
            break;
        }
    }
    let mut best: Option<&Solution> = None;
    for solution in ends.iter().filter_map(|end| end.best.as_ref()).filter(|best| best.score.is_finite()) {
        if best.is_none_or(|best| solution.score > best.score) {
            best = Some(solution);
        }
    }
    let has = |reason| ends.iter().any(|end| end.ended == Some(reason));
    let order = [StopReason::Asked, StopReason::Target, StopReason::Time, StopReason::CpuTime];
    let reason = order.into_iter().find(|&reason| has(reason));
    Outcomes {
        best: best.cloned(),
        playouts: ends.iter().map(|end| end.playouts).sum(),
        reason: reason.or(ends.first().and_then(|end| end.ended)).unwrap_or(StopReason::Done),
        streams: ends,
    }
}

/// The end of a search, for Python.
fn report<'py>(
    py: Python<'py>,
    best: Option<Solution>,
    outcomes: &Outcomes,
    (seconds, cpu_seconds): (f64, f64),
    fault: Option<PyErr>,
) -> PyResult<Bound<'py, PyDict>> {
    let report = PyDict::new(py);
    report.set_item("score", best.as_ref().map(|best| best.score))?;
    report.set_item("words", best.map(|best| best.moves))?;
    report.set_item("playouts", outcomes.playouts)?;
    let reason = serde_json::to_value(outcomes.reason).expect("a word");
    report.set_item("reason", reason.as_str())?;
    report.set_item("seconds", seconds)?;
    report.set_item("cpu_seconds", cpu_seconds)?;
    let streams: Vec<Bound<PyBytes>> = outcomes
        .streams
        .iter()
        .map(|end| PyBytes::new(py, &postcard::to_stdvec(end).expect("plain data always serialises")))
        .collect();
    report.set_item("streams", streams)?;
    // Where streams are divided among processes: who has the best of all.
    let ends: Vec<(u32, Option<f64>, Vec<String>)> = outcomes
        .streams
        .iter()
        .map(|end| match &end.best {
            Some(best) => (end.stream, Some(best.score), best.moves.clone()),
            None => (end.stream, None, Vec::new()),
        })
        .collect();
    report.set_item("ends", ends)?;
    report.set_item("fault", fault.map(|fault| fault.into_value(py)))?;
    Ok(report)
}

/// Checkpoints of streams, as events carried them.
pub fn read_streams(resume: Vec<Vec<u8>>) -> PyResult<Vec<StreamCheckpoint>> {
    let read = |bytes: Vec<u8>| postcard::from_bytes(&bytes).ok();
    let streams: Option<Vec<StreamCheckpoint>> = resume.into_iter().map(read).collect();
    streams.ok_or_else(|| PyValueError::new_err("a checkpoint is damaged or of another version"))
}

/// Which stream a checkpoint is of.
#[pyfunction]
pub fn stream_of(bytes: Vec<u8>) -> PyResult<u32> {
    Ok(read_streams(vec![bytes])?[0].stream)
}

/// A text of TOML as JSON; the error names the line.
#[pyfunction]
pub fn toml_json(text: &str) -> PyResult<String> {
    let table: toml::Table = toml::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
    serde_json::to_string(&table).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// A search spec with all its parameters, as JSON; the error says what it has and expects.
#[pyfunction]
pub fn search_json(text: &str) -> PyResult<String> {
    let search: Search = serde_json::from_str(text).map_err(|e| PyValueError::new_err(e.to_string()))?;
    search.check().map_err(|e| PyValueError::new_err(e.to_string()))?;
    Ok(serde_json::to_string(&search).expect("a search is plain data"))
}
