//! What is searched: one of our instances or a Python object, behind one class. Problems are solved, games are thought
//! about, played and proved.

use crate::contract::Hosted;
use crate::host::{Habits, Host, Replayed};
use crate::solve::{self, Spec};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;
use sortie_core::exact::{Asked, Effort, Statuses};
use sortie_core::job::run_jobs;
use sortie_core::{AnyGame, AnyPlayer, Boxed, Budget, Opened, Position, Thought, Uct};
use sortie_domains::catalogue;
use sortie_jobs::tree::{JobTree, Plan};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Something that can be searched.
#[pyclass(frozen, module = "sortie_search._native")]
pub struct Instance {
    what: Opened,
    host: Option<Arc<Host>>,
}

/// A flag that ends a game, from any thread.
#[pyclass(frozen, module = "sortie_search._native")]
#[derive(Default)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    fn set(&self) {
        self.0.store(true, Relaxed);
    }
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Instance {
    /// One of ours: `domain/name`. `text` is the text of its file, if it is one.
    #[staticmethod]
    #[pyo3(signature = (name, text=None))]
    fn open(name: &str, text: Option<String>) -> PyResult<Instance> {
        let read = |_: &str| text.clone().ok_or_else(|| "no such file".to_string());
        let what = sortie_domains::open(name, &read).map_err(value_error)?;
        Ok(Instance { what, host: None })
    }

    /// A Python object.
    #[staticmethod]
    #[pyo3(signature = (object, in_place=false, cache=200_000, steps_max=100_000))]
    fn hosted(object: &Bound<PyAny>, in_place: bool, cache: usize, steps_max: u32) -> PyResult<Instance> {
        let host = Arc::new(Host::new(object, Habits { in_place, cache: cache.max(16), steps_max })?);
        let what = match host.is_game() {
            true => Opened::Game(Box::new(Boxed::new(Hosted(host.clone())))),
            false => Opened::Problem(Box::new(Hosted(host.clone()))),
        };
        Ok(Instance { what, host: Some(host) })
    }

    /// Whether it is a game for two.
    #[getter]
    fn is_game(&self) -> bool {
        matches!(self.what, Opened::Game(_))
    }

    /// Whether the class has a bias, so that searches may use it.
    #[getter]
    fn has_bias(&self) -> bool {
        self.host.as_ref().is_some_and(|host| host.has_bias())
    }

    /// The search to take where nobody asks for one, as JSON; a problem's.
    #[getter]
    fn suits(&self) -> Option<String> {
        match &self.what {
            Opened::Problem(problem) => Some(serde_json::to_string(&problem.suits()).expect("plain data")),
            Opened::Game(_) => None,
        }
    }

    /// The best score known.
    #[getter]
    fn best_known(&self) -> Option<f64> {
        match &self.what {
            Opened::Problem(problem) => problem.best_known(),
            Opened::Game(_) => None,
        }
    }

    /// Runs a search; `on` takes lists of events.
    #[pyo3(signature = (spec, on=None, resume=Vec::new()))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        spec: &str,
        on: Option<Py<PyAny>>,
        resume: Vec<Vec<u8>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let spec = Spec::parse(spec)?;
        let resume = solve::read_streams(resume)?;
        match (&self.host, &self.what) {
            (_, Opened::Game(_)) => {
                Err(PyTypeError::new_err("a game for two is analysed or matched, not solved"))
            }
            (Some(host), _) => solve::yours(py, host, &spec, resume, on),
            (None, Opened::Problem(problem)) => solve::ours(py, &**problem, &spec, resume, on),
        }
    }

    /// The position after some moves: text, picture, score, facts and legal moves. `whole`: it must be an end.
    #[pyo3(signature = (words, whole=false, start=None))]
    fn position<'py>(
        &self,
        py: Python<'py>,
        words: Vec<String>,
        whole: bool,
        start: Option<String>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.fresh();
        let position = match &self.what {
            Opened::Problem(problem) if whole => problem.verify(&words).map_err(value_error),
            Opened::Problem(problem) => problem.position(&words).map_err(value_error),
            Opened::Game(game) => match start {
                None => game.position(&words).map_err(value_error),
                Some(start) => set_up(&**game, &start, &words),
            },
        };
        self.faults()?;
        let position = position?;
        if whole && self.is_game() && !position.legal.is_empty() {
            return Err(PyValueError::new_err(format!(
                "the moves stop though '{}' is legal",
                position.legal[0]
            )));
        }
        let dict = PyDict::new(py);
        dict.set_item("text", position.text)?;
        dict.set_item("picture", position.picture.map(|picture| picture.svg()))?;
        dict.set_item("score", position.score)?;
        let facts = PyDict::new(py);
        for (name, value) in position.facts {
            facts.set_item(name, value)?;
        }
        dict.set_item("facts", facts)?;
        dict.set_item("legal", position.legal)?;
        Ok(dict)
    }

    /// Plays words of a Python object by its rules, asking everything anew: moves as objects, the end, what is legal
    /// there.
    fn replay(&self, py: Python, words: Vec<String>) -> PyResult<Replayed> {
        self.hosts()?.replay(py, &words)
    }

    /// The move of a Python object that a word was made of; the word itself where it is of none.
    fn r#move(&self, py: Python, word: &str) -> PyResult<Py<PyAny>> {
        let known = self.hosts()?.move_of(py, word);
        Ok(known.unwrap_or(word.into_pyobject(py)?.into_any().unbind()))
    }

    /// The words of moves of a Python object.
    fn words(&self, moves: &Bound<PyAny>) -> PyResult<Vec<String>> {
        self.hosts()?.words(moves)
    }

    /// The object itself.
    #[getter]
    fn object(&self, py: Python) -> Option<Py<PyAny>> {
        self.host.as_ref().map(|host| host.itself(py))
    }

    /// Thinks about a position; the answer is JSON.
    #[pyo3(signature = (player, moves, budget, seed, start=None, on=None))]
    #[allow(clippy::too_many_arguments)]
    fn think(
        &self,
        py: Python,
        player: &str,
        moves: Vec<String>,
        budget: &str,
        seed: u64,
        start: Option<String>,
        on: Option<Py<PyAny>>,
    ) -> PyResult<String> {
        let (uct, budget) = (uct(player)?, Budget::from(budget_of(budget)?));
        let game = self.game()?;
        self.fresh();
        let searched = self.guarded(py, |stop| {
            let mut player = game.player(&uct, seed).map_err(value_error)?;
            player.set(start.as_deref(), &moves).map_err(value_error)?;
            let mut tell = |thought: &Thought| {
                if let Some(on) = &on {
                    let told = Python::attach(|py| on.call1(py, (json(thought),)).map(drop));
                    if told.is_err() {
                        stop.store(true, Relaxed);
                    }
                }
            };
            player.think(&budget, stop, &mut tell).map_err(|fault| PyRuntimeError::new_err(fault.to_string()))
        })?;
        Ok(json(&searched))
    }

    /// One game between two players: the moves, and what it is worth to the first side (`None`: stopped).
    #[pyo3(signature = (players, budgets, opening, seed, stop, plies_max=10_000))]
    #[allow(clippy::type_complexity, clippy::too_many_arguments)]
    fn play_game(
        &self,
        py: Python,
        players: (String, String),
        budgets: (String, String),
        opening: Vec<String>,
        seed: u64,
        stop: &Stop,
        plies_max: usize,
    ) -> PyResult<(Vec<String>, Option<f64>, (u64, u64))> {
        let specs = [uct(&players.0)?, uct(&players.1)?];
        let budgets = [Budget::from(budget_of(&budgets.0)?), Budget::from(budget_of(&budgets.1)?)];
        let game = self.game()?;
        self.fresh();
        let asked = stop.0.clone();
        self.guarded(py, |stop| {
            let mut board = game.board(None).map_err(value_error)?;
            for word in &opening {
                board.play(word).map_err(value_error)?;
            }
            let player =
                |i: usize| game.player(&specs[i], seed.wrapping_mul(2) + i as u64).map_err(value_error);
            let mut sides: [Box<dyn AnyPlayer>; 2] = [player(0)?, player(1)?];
            let mut playouts = [0; 2];
            while board.outcome().is_none()
                && board.words().len() < plies_max
                && !stop.load(Relaxed)
                && !asked.load(Relaxed)
            {
                let i = usize::from(board.to_move() == sortie_core::Side::Second);
                sides[i].set(None, board.words()).map_err(value_error)?;
                let thought = sides[i].think(&budgets[i], stop, &mut |_| {});
                let thought = thought.map_err(|fault| PyRuntimeError::new_err(fault.to_string()))?;
                playouts[i] += thought.playouts;
                let Some(best) = thought.best else { break };
                board.play(&best).map_err(value_error)?;
            }
            let value = match board.outcome() {
                Some(outcome) => Some(outcome.value()),
                None if board.words().len() >= plies_max => Some(0.5),
                None => None,
            };
            Ok((board.words().to_vec(), value, (playouts[0], playouts[1])))
        })
    }

    /// The value of a position by a tree of jobs for the exact solver: `("first" | "second" | "draw" | None, jobs)`.
    #[pyo3(signature = (moves, start=None, jobs_max=None, nodes=100_000, threads=1, seed=1))]
    #[allow(clippy::too_many_arguments)]
    fn prove(
        &self,
        py: Python,
        moves: Vec<String>,
        start: Option<String>,
        jobs_max: Option<u64>,
        nodes: u64,
        threads: usize,
        seed: u64,
    ) -> PyResult<(Option<f64>, u64)> {
        let game = self.game()?;
        self.fresh();
        let statuses = Statuses::default();
        // A class is asked by one thread: this one.
        let threads = if self.host.is_some() { 1 } else { threads.clamp(1, 64) };
        self.guarded(py, |stop| {
            let mut board = game.board(start.as_deref()).map_err(value_error)?;
            for word in &moves {
                board.play(word).map_err(value_error)?;
            }
            if let Some(outcome) = board.outcome() {
                return Ok((Some(outcome.value()), 0));
            }
            let default = Plan::default();
            let effort = Effort { nodes, ..default.effort };
            let plan = Plan { jobs_max: jobs_max.unwrap_or(default.jobs_max), effort, ..default };
            let mut tree = JobTree::new(board, start.clone(), plan);
            let idle = Mutex::new(Vec::new());
            run_jobs(&mut tree, threads, stop, |_, job| {
                let taken = idle.lock().unwrap_or_else(|e| e.into_inner()).pop();
                let mut worker = taken.unwrap_or_else(|| game.worker(64 << 20, &statuses, seed));
                let cancel = AtomicBool::new(false);
                let answer = worker.answer(job, Asked { stop, cancel: &cancel }, &mut |_| {});
                idle.lock().unwrap_or_else(|e| e.into_inner()).push(worker);
                answer.ok().flatten()
            });
            let jobs = tree.tally().answered;
            Ok((tree.bounds().value().map(|value| value.number()), jobs))
        })
    }

    fn __repr__(&self) -> String {
        let kind = if self.is_game() { "game" } else { "problem" };
        format!("<{kind} of {}>", if self.host.is_some() { "a Python class" } else { "ours" })
    }
}

impl Instance {
    fn game(&self) -> PyResult<&dyn AnyGame> {
        match &self.what {
            Opened::Game(game) => Ok(&**game),
            Opened::Problem(_) => Err(PyTypeError::new_err("this is a problem for one, not a game for two")),
        }
    }

    fn hosts(&self) -> PyResult<&Arc<Host>> {
        self.host.as_ref().ok_or_else(|| PyTypeError::new_err("only a Python object has moves as objects"))
    }

    fn fresh(&self) {
        if let Some(host) = &self.host {
            host.begin(None);
        }
    }

    /// Raises what the class raised.
    fn faults(&self) -> PyResult<()> {
        self.host.as_ref().and_then(|host| host.take_fault()).map_or(Ok(()), Err)
    }

    /// Runs a search that Ctrl-C can stop: on this thread for a Python object, beside it with the interpreter free for
    /// ours. What a class raised comes before whatever became of the search.
    fn guarded<T: Send>(
        &self,
        py: Python,
        work: impl FnOnce(&AtomicBool) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        if let Some(host) = &self.host {
            let stop = host.stop.clone();
            let done = catch_unwind(AssertUnwindSafe(|| work(&stop)));
            if let Some(fault) = host.take_fault()
                && !(fault.is_instance_of::<PyKeyboardInterrupt>(py) && matches!(done, Ok(Ok(_))))
            {
                return Err(fault);
            }
            return done.unwrap_or_else(|panic| resume_unwind(panic));
        }
        let stop = AtomicBool::new(false);
        py.detach(|| {
            std::thread::scope(|scope| {
                let search = scope.spawn(|| work(&stop));
                while !search.is_finished() {
                    std::thread::park_timeout(Duration::from_millis(5));
                    if Python::attach(|py| py.check_signals()).is_err() {
                        stop.store(true, Relaxed);
                    }
                }
                search.join().unwrap_or_else(|panic| resume_unwind(panic))
            })
        })
    }
}

fn set_up(game: &dyn AnyGame, start: &str, words: &[String]) -> PyResult<Position> {
    let mut board = game.board(Some(start)).map_err(value_error)?;
    for word in words {
        board.play(word).map_err(value_error)?;
    }
    Ok(board.view())
}

fn json(thought: &Thought) -> String {
    serde_json::to_string(thought).expect("a thought is plain data")
}

/// A player as JSON: a preset and what differs from it.
fn uct(text: &str) -> PyResult<Uct> {
    let mut given: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text).map_err(value_error)?;
    let preset = given.shift_remove("preset");
    let preset = preset.as_ref().and_then(|name| name.as_str()).unwrap_or("default");
    let base = Uct::preset(preset).ok_or_else(|| value_error(format!("there is no player '{preset}'")))?;
    let mut merged = serde_json::to_value(base).expect("plain data");
    for (key, value) in given {
        merged[key.replace('_', "-")] = value;
    }
    let uct: Uct = serde_json::from_value(merged).map_err(value_error)?;
    uct.check().map_err(value_error)?;
    Ok(uct)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BudgetText {
    playouts: Option<u64>,
    nodes: Option<u64>,
    seconds: Option<f64>,
    cpu_seconds: Option<f64>,
}

impl From<BudgetText> for Budget {
    fn from(text: BudgetText) -> Budget {
        let BudgetText { playouts, nodes, seconds, cpu_seconds } = text;
        Budget { playouts, nodes, seconds, cpu_seconds }
    }
}

fn budget_of(text: &str) -> PyResult<BudgetText> {
    serde_json::from_str(text).map_err(value_error)
}

/// The domains: name, about, names, options, examples.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn domains() -> Vec<(String, String, String, Vec<(String, String)>, Vec<String>)> {
    let own = |s: &&str| s.to_string();
    let entry = |e: &&sortie_core::Entry| {
        let options = e.options.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        let examples = e.examples.iter().map(own).collect();
        (e.name.to_string(), e.about.to_string(), e.names.to_string(), options, examples)
    };
    catalogue().entries().map(|e| entry(&e)).collect()
}
