//! A problem or a game that is a Python object: its methods, its moves as small numbers, and the positions that were
//! seen, so that nothing is asked of Python twice.
//!
//! Positions form a tree by the moves that lead to them; equal ones are joined where they can be hashed. A step to a
//! position that was seen before costs some tens of nanoseconds and no call of Python. What is remembered is bounded:
//! beyond `cache` positions all are forgotten but those in use. With play in place no states are kept at all: one object
//! is moved from position to position, from the beginning where it cannot go on.
//!
//! An exception cannot pass through a search. It is put down here, the search is asked to stop, and until it has, every
//! position is an end. Whoever started the search raises it.

mod playouts;

use crate::moves::{Moves, stable_hash};
use playouts::{Ends, Habitat, Listed, no_outcome};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyTuple};
use sortie_core::{Outcome, Side};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::{Duration, Instant};

/// Moves as objects, the position after them, and the words of what is legal there.
pub type Replayed = (Vec<Py<PyAny>>, Py<PyAny>, Vec<String>);

/// Moves of one position, more than anybody lists.
const MOVES_MAX: usize = 1 << 20;
/// Different moves of a game: a tree has 16 bits for one.
const GAME_MOVES_MAX: usize = 1 << 16;
/// Calls of Python between two looks at the clock.
const CALLS_PER_LOOK: u64 = 64;
/// How often other threads, signals and listeners get their turn.
const TURN: Duration = Duration::from_millis(20);
/// Joins are given up when fewer than one in so many finds a partner, after a trial of `JOIN_TRIAL`.
const JOIN_ONE_IN: u64 = 32;
const JOIN_TRIAL: u64 = 4096;

/// What a search on a Python object is told besides its spec.
#[derive(Debug, Clone)]
pub struct Habits {
    /// `play` changes the state it is given.
    pub in_place: bool,
    /// Positions remembered.
    pub cache: usize,
    /// A sequence longer than this is taken for endless.
    pub steps_max: u32,
}

/// The methods, bound once.
struct Methods {
    initial: Py<PyAny>,
    moves: Py<PyAny>,
    play: Py<PyAny>,
    score: Option<Py<PyAny>>,
    to_move: Option<Py<PyAny>>,
    outcome: Option<Py<PyAny>>,
    code: Option<Py<PyAny>>,
    bias: Option<Py<PyAny>>,
    key: Option<Py<PyAny>>,
    promise: Option<Py<PyAny>>,
    render: Option<Py<PyAny>>,
    playouts: Option<Py<PyAny>>,
}

/// The Python object behind a search.
pub struct Host {
    object: Py<PyAny>,
    name: String,
    methods: Methods,
    habits: Habits,
    moves: Mutex<Moves>,
    cache: Mutex<Cache>,
    root: Mutex<Option<Arc<Node>>>,
    /// With play in place: the object and the position it is in.
    cursor: Mutex<Option<(Arc<Node>, Py<PyAny>)>>,
    /// Raised to end the search.
    pub stop: Arc<AtomicBool>,
    failed: AtomicBool,
    fault: Mutex<Option<PyErr>>,
    calls: AtomicU64,
    looked: Mutex<Instant>,
    listener: Mutex<Option<Arc<dyn Listener>>>,
    numbers: AtomicU64,
    habitat: Mutex<Habitat>,
    ends: Ends,
}

/// Whoever wants its turn now and then while a search holds the interpreter.
pub trait Listener: Send + Sync {
    /// Its turn.
    fn turn(&self, py: Python) -> PyResult<()>;
}

/// A position. What is known of it is filled in as it is asked for.
pub struct Node {
    state: Option<Py<PyAny>>,
    parent: Option<(Arc<Node>, u32)>,
    depth: u32,
    number: u64,
    offer: OnceLock<Offer>,
    score: OnceLock<f64>,
    outcome: OnceLock<Option<Outcome>>,
    side: OnceLock<Side>,
    /// `children[i]` is the position after move `i` of the offer.
    children: Mutex<Vec<Weak<Node>>>,
}

/// The moves of a position with their codes; the bias is empty where there is none.
pub struct Offer {
    pub moves: Vec<u32>,
    pub codes: Vec<u64>,
    pub bias: Vec<f64>,
}

#[derive(Default)]
struct Cache {
    nodes: Vec<Arc<Node>>,
    /// From a state, or its key, to its place in `nodes`.
    known: Option<Py<PyDict>>,
    lookups: u64,
    joined: u64,
    join: Join,
}

#[derive(Default, PartialEq, Clone, Copy)]
enum Join {
    #[default]
    Unknown,
    On,
    Off,
}

impl Drop for Node {
    /// Not by recursion: a line may be a hundred thousand positions long.
    fn drop(&mut self) {
        let mut above = self.parent.take();
        while let Some((node, _)) = above {
            above = Arc::into_inner(node).and_then(|mut node| node.parent.take());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Host {
    /// Binds the methods of an object. The error names the one that is missing.
    pub fn new(object: &Bound<PyAny>, habits: Habits) -> PyResult<Host> {
        Self::bind(object, habits, true)
    }

    /// The same for a problem whose scores come from elsewhere: it needs no method for them, and none is called.
    pub fn unscored(object: &Bound<PyAny>, habits: Habits) -> PyResult<Host> {
        Self::bind(object, habits, false)
    }

    fn bind(object: &Bound<PyAny>, habits: Habits, scored: bool) -> PyResult<Host> {
        let name = object.get_type().name()?.to_string();
        let optional = |method: &str| -> PyResult<Option<Py<PyAny>>> {
            match object.getattr_opt(method)? {
                Some(found) if found.is_callable() => Ok(Some(found.unbind())),
                _ => Ok(None),
            }
        };
        let needed = |method: &str| -> PyResult<Py<PyAny>> {
            optional(method)?.ok_or_else(|| {
                let wanted = "a problem has initial, moves, play and score; a game to_move and outcome in place of score";
                PyTypeError::new_err(format!("{name} has no method {method}: {wanted}"))
            })
        };
        let methods = Methods {
            initial: needed("initial")?,
            moves: needed("moves")?,
            play: needed("play")?,
            score: if scored { optional("score")? } else { None },
            to_move: optional("to_move")?,
            outcome: optional("outcome")?,
            code: optional("code")?,
            bias: optional("bias")?,
            key: optional("key")?,
            promise: optional("promise")?,
            render: optional("render")?,
            playouts: optional("playouts")?,
        };
        let game = methods.to_move.is_some() && methods.outcome.is_some();
        if !game && scored {
            needed(if methods.to_move.is_some() { "outcome" } else { "score" })?;
        }
        let word = optional("word")?;
        Ok(Host {
            object: object.clone().unbind(),
            moves: Mutex::new(Moves::new(
                object.py(),
                &name,
                word,
                if game { GAME_MOVES_MAX } else { u32::MAX as usize },
            )),
            name,
            methods,
            habits,
            cache: Mutex::default(),
            root: Mutex::default(),
            cursor: Mutex::default(),
            stop: Arc::default(),
            failed: AtomicBool::new(false),
            fault: Mutex::default(),
            calls: AtomicU64::new(0),
            looked: Mutex::new(Instant::now()),
            listener: Mutex::default(),
            numbers: AtomicU64::new(0),
            habitat: Mutex::default(),
            ends: Ends::default(),
        })
    }

    /// Whether it is a game for two.
    pub fn is_game(&self) -> bool {
        self.methods.outcome.is_some() && self.methods.to_move.is_some()
    }

    pub fn has_bias(&self) -> bool {
        self.methods.bias.is_some()
    }

    pub fn has_promise(&self) -> bool {
        self.methods.promise.is_some()
    }

    /// Forgets the stop, the fault and all positions: a new search begins.
    pub fn begin(&self, listener: Option<Arc<dyn Listener>>) {
        self.stop.store(false, Relaxed);
        self.failed.store(false, Relaxed);
        *lock(&self.fault) = None;
        *lock(&self.listener) = listener;
        *lock(&self.looked) = Instant::now();
        self.forget();
    }

    /// Forgets the stop and the fault and nothing else: the same search goes on.
    pub fn go_on(&self) {
        self.stop.store(false, Relaxed);
        self.failed.store(false, Relaxed);
        *lock(&self.fault) = None;
    }

    fn forget(&self) {
        let nodes = std::mem::take(&mut *lock(&self.cache)).nodes;
        let root = lock(&self.root).take();
        let cursor = lock(&self.cursor).take();
        drop((nodes, root, cursor));
    }

    /// The search is over: nobody listens any more.
    pub fn end(&self) {
        *lock(&self.listener) = None;
    }

    /// The exception that ended the search, if one did.
    pub fn take_fault(&self) -> Option<PyErr> {
        lock(&self.fault).take()
    }

    pub fn failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Puts an exception down and asks the search to stop. Only the first counts.
    pub fn fail(&self, error: PyErr) {
        lock(&self.fault).get_or_insert(error);
        self.failed.store(true, Relaxed);
        self.stop.store(true, Relaxed);
    }

    /// Others get their turn: signals, listeners, other threads of Python.
    pub fn tick(&self) {
        if self.calls.fetch_add(1, Relaxed).is_multiple_of(CALLS_PER_LOOK) {
            self.look();
        }
    }

    #[cold]
    fn look(&self) {
        {
            let mut looked = lock(&self.looked);
            if looked.elapsed() < TURN {
                return;
            }
            *looked = Instant::now();
        }
        Python::attach(|py| {
            if let Err(error) = py.check_signals() {
                return self.fail(error);
            }
            let listener = lock(&self.listener).clone();
            if let Some(listener) = listener
                && let Err(error) = listener.turn(py)
            {
                return self.fail(error);
            }
            py.detach(std::thread::yield_now);
        });
    }

    /// Runs a method; an exception becomes the fault, with a note of where it happened.
    fn ask<T>(
        &self,
        method: &str,
        node: Option<&Arc<Node>>,
        f: impl FnOnce(Python) -> PyResult<T>,
    ) -> Option<T> {
        if self.failed() {
            return None;
        }
        self.tick();
        Python::attach(|py| match f(py) {
            Ok(value) => Some(value),
            Err(error) => {
                if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    let place = node.map_or_else(String::new, |node| self.place(node));
                    note(py, &error, &format!("in {}.{method}{place}", self.name));
                }
                self.fail(error);
                None
            }
        })
    }

    /// The moves that lead to a position, for people.
    fn place(&self, node: &Arc<Node>) -> String {
        let words = self.path_words(node);
        match words.len() {
            0 => " at the start".into(),
            n if n <= 12 => format!(" after {}", words.join(" ")),
            n => format!(" after {n} moves, the last of them {}", words[n - 6..].join(" ")),
        }
    }

    fn path_words(&self, node: &Arc<Node>) -> Vec<String> {
        let moves = lock(&self.moves);
        path(node).into_iter().map(|mv| moves.word(mv).to_string()).collect()
    }

    /// The position at the start.
    pub fn root(&self) -> Arc<Node> {
        if let Some(root) = &*lock(&self.root) {
            return root.clone();
        }
        let state = self.ask("initial", None, |py| self.methods.initial.call0(py));
        let state = if self.habits.in_place { None } else { state };
        let root = Arc::new(self.node(state, None));
        *lock(&self.root) = Some(root.clone());
        root
    }

    fn node(&self, state: Option<Py<PyAny>>, parent: Option<(Arc<Node>, u32)>) -> Node {
        Node {
            state,
            depth: parent.as_ref().map_or(0, |(above, _)| above.depth + 1),
            parent,
            number: self.numbers.fetch_add(1, Relaxed),
            offer: OnceLock::new(),
            score: OnceLock::new(),
            outcome: OnceLock::new(),
            side: OnceLock::new(),
            children: Mutex::default(),
        }
    }

    /// Calls `f` with the state of a position.
    fn with<T>(
        &self,
        node: &Arc<Node>,
        py: Python<'_>,
        f: impl FnOnce(&Py<PyAny>) -> PyResult<T>,
    ) -> PyResult<T> {
        match &node.state {
            Some(state) => f(state),
            None => {
                let state = self.materialise(node, py)?;
                f(&state)
            }
        }
    }

    /// With play in place: the object, brought to a position.
    fn materialise(&self, node: &Arc<Node>, py: Python) -> PyResult<Py<PyAny>> {
        let mut cursor = lock(&self.cursor).take();
        let at = cursor.as_ref().map(|(at, _)| at.clone());
        let onwards = match (&at, &node.parent) {
            (Some(at), _) if Arc::ptr_eq(at, node) => Vec::new(),
            (Some(at), Some((above, mv))) if Arc::ptr_eq(at, above) => vec![*mv],
            _ => {
                cursor = Some((self.root(), self.methods.initial.call0(py)?));
                path(node)
            }
        };
        let (_, state) = cursor.expect("there is an object by now");
        for mv in onwards {
            let object = lock(&self.moves).object(py, mv);
            let returned = self.methods.play.bind(py).call1((&state, object))?;
            self.after(state.bind(py).clone(), returned)?;
        }
        *lock(&self.cursor) = Some((node.clone(), state.clone_ref(py)));
        Ok(state)
    }

    /// The moves of a position.
    pub fn offer<'a>(&self, node: &'a Arc<Node>) -> &'a Offer {
        static NONE: Offer = Offer { moves: Vec::new(), codes: Vec::new(), bias: Vec::new() };
        // After an exception every position is an end.
        if self.failed() {
            return &NONE;
        }
        if let Some(offer) = node.offer.get() {
            return offer;
        }
        if node.depth >= self.habits.steps_max {
            self.ask("moves", Some(node), |_| -> PyResult<()> { Err(self.endless()) });
        }
        match self.ask("moves", Some(node), |py| self.list(node, py)) {
            Some(offer) => node.offer.get_or_init(|| offer),
            None => &NONE,
        }
    }

    fn endless(&self) -> PyErr {
        let steps = self.habits.steps_max;
        PyRuntimeError::new_err(format!("a sequence of {steps} moves has no end: is there one?"))
    }

    fn list(&self, node: &Arc<Node>, py: Python) -> PyResult<Offer> {
        self.with(node, py, |state| {
            let listed = self.methods.moves.call1(py, (state,))?;
            let moves = self.intern(listed.bind(py))?;
            let mut offer = Offer { codes: Vec::with_capacity(moves.len()), moves, bias: Vec::new() };
            let objects = |mv: u32| lock(&self.moves).object(py, mv);
            match &self.methods.code {
                None => {
                    let moves = lock(&self.moves);
                    offer.codes.extend(offer.moves.iter().map(|&mv| moves.code(mv)));
                }
                Some(code) => {
                    for &mv in &offer.moves {
                        let given = code.call1(py, (state, objects(mv)));
                        let given = given.and_then(|given| code_of(given.bind(py)));
                        offer.codes.push(given.inspect_err(|e| note(py, e, "in the code of a move"))?);
                    }
                }
            }
            if let Some(bias) = &self.methods.bias {
                for &mv in &offer.moves {
                    let given = bias.call1(py, (state, objects(mv)))?;
                    let value = number_of(given.bind(py), "bias")?;
                    offer.bias.push(value.clamp(-700.0, 700.0));
                }
            }
            Ok(offer)
        })
    }

    /// What `moves` returned, as numbers.
    fn intern(&self, listed: &Bound<PyAny>) -> PyResult<Vec<u32>> {
        let listed = Listed::of(listed.clone())?;
        let mut table = lock(&self.moves);
        (0..listed.len()).map(|i| table.intern(&listed.get(i)?)).collect()
    }

    /// The position after a move.
    pub fn step(&self, node: &Arc<Node>, mv: u32) -> Arc<Node> {
        let index = self.offer(node).moves.iter().position(|&other| other == mv);
        match index {
            Some(index) => self.child(node, index).0,
            // After an exception nothing is offered any more.
            None => node.clone(),
        }
    }

    /// The position after a move by its place in the offer; true if nobody knew it.
    fn child(&self, node: &Arc<Node>, index: usize) -> (Arc<Node>, bool) {
        if let Some(child) = lock(&node.children).get(index).and_then(Weak::upgrade) {
            return (child, false);
        }
        let offer = self.offer(node);
        let followed = offer
            .moves
            .get(index)
            .and_then(|&mv| self.ask("play", Some(node), |py| self.follow(node, mv, py)));
        let Some((child, joined)) = followed else { return (node.clone(), false) };
        let mut children = lock(&node.children);
        if children.is_empty() {
            children.resize_with(offer.moves.len(), Weak::new);
        }
        children[index] = Arc::downgrade(&child);
        drop(children);
        if !joined {
            self.keep(&child);
        }
        (child, !joined)
    }

    /// Calls `play`; true if the position was known.
    fn follow(&self, node: &Arc<Node>, mv: u32, py: Python) -> PyResult<(Arc<Node>, bool)> {
        if self.habits.in_place {
            return Ok((Arc::new(self.node(None, Some((node.clone(), mv)))), false));
        }
        let state = node.state.as_ref().expect("states are kept unless play is in place");
        let object = lock(&self.moves).object(py, mv);
        let next = self.methods.play.bind(py).call1((state, object))?;
        let next = self.after(state.bind(py).clone(), next)?.unbind();
        if let Some(known) = self.known(&next, node.depth + 1, py)? {
            return Ok((known, true));
        }
        Ok((Arc::new(self.node(Some(next), Some((node.clone(), mv)))), false))
    }

    /// A position that equals this one and is as many moves from the start, if it is remembered; otherwise the next to be
    /// kept is remembered under it. (As many moves: so there are no circles, and a playout that goes round has no end.)
    fn known(&self, state: &Py<PyAny>, depth: u32, py: Python) -> PyResult<Option<Arc<Node>>> {
        let mut cache = lock(&self.cache);
        if cache.join == Join::Off {
            return Ok(None);
        }
        let key = match &self.methods.key {
            Some(key) => key.call1(py, (state,))?,
            None => state.clone_ref(py),
        };
        if cache.join == Join::Unknown {
            let hashable = key.bind(py).hash().is_ok();
            if !hashable && self.methods.key.is_some() {
                return Err(PyTypeError::new_err("key returned something that cannot be hashed"));
            }
            cache.join = if hashable { Join::On } else { Join::Off };
            if !hashable {
                return Ok(None);
            }
        }
        let place = cache.nodes.len();
        let known = cache.known.get_or_insert_with(|| PyDict::new(py).unbind()).clone_ref(py);
        let known = known.bind(py);
        cache.lookups += 1;
        if let Some(found) = known.get_item(&key)? {
            let node = cache.nodes.get(found.extract::<usize>()?).cloned();
            if node.as_ref().is_some_and(|node| node.depth == depth) {
                cache.joined += 1;
                return Ok(node);
            }
        }
        known.set_item(key, place)?;
        if cache.lookups >= JOIN_TRIAL && cache.joined * JOIN_ONE_IN < cache.lookups {
            (cache.join, cache.known) = (Join::Off, None);
        }
        Ok(None)
    }

    fn keep(&self, node: &Arc<Node>) {
        let mut cache = lock(&self.cache);
        cache.nodes.push(node.clone());
        if cache.nodes.len() > self.habits.cache {
            let join = cache.join;
            let old = std::mem::replace(&mut *cache, Cache { join, ..Cache::default() });
            drop(cache);
            drop(old);
        }
    }

    /// The score of an end.
    pub fn score(&self, node: &Arc<Node>) -> f64 {
        self.tick();
        // What an exception cut off has no score, though it may be known as a part of something longer.
        if self.failed() {
            return f64::NEG_INFINITY;
        }
        if let Some(&score) = node.score.get() {
            return score;
        }
        let Some(method) = &self.methods.score else { return f64::NEG_INFINITY };
        let score = self.ask("score", Some(node), |py| {
            self.with(node, py, |state| number_of(method.call1(py, (state,))?.bind(py), "score"))
        });
        match score {
            Some(score) => *node.score.get_or_init(|| score),
            None => f64::NEG_INFINITY,
        }
    }

    /// How promising a position is.
    pub fn promise(&self, node: &Arc<Node>) -> Option<f64> {
        let method = self.methods.promise.as_ref()?;
        let promise = self.ask("promise", Some(node), |py| {
            self.with(node, py, |state| number_of(method.call1(py, (state,))?.bind(py), "promise"))
        });
        Some(promise.unwrap_or(f64::MIN))
    }

    /// How a game ended, if it has.
    pub fn outcome(&self, node: &Arc<Node>) -> Option<Outcome> {
        if let Some(&outcome) = node.outcome.get() {
            self.tick();
            return outcome;
        }
        let method = self.methods.outcome.as_ref()?;
        let outcome = self.ask("outcome", Some(node), |py| {
            let outcome = self.with(node, py, |state| outcome_of(method.call1(py, (state,))?.bind(py)))?;
            if outcome.is_some() && !self.ends.trusted() {
                self.ends.look(py, || Ok(self.list(node, py)?.moves.len()))?;
            }
            Ok(outcome)
        });
        let Some(outcome) = outcome else { return Some(Outcome::Draw) };
        if outcome.is_none() && self.offer(node).moves.is_empty() {
            self.ask("outcome", Some(node), |_| -> PyResult<()> { Err(no_outcome()) });
            return Some(Outcome::Draw);
        }
        *node.outcome.get_or_init(|| outcome)
    }

    /// Whose move it is.
    pub fn side(&self, node: &Arc<Node>) -> Side {
        if let Some(&side) = node.side.get() {
            return side;
        }
        let Some(method) = &self.methods.to_move else { return Side::First };
        let side = self.ask("to_move", Some(node), |py| {
            let given = self.with(node, py, |state| method.call1(py, (state,)))?;
            match given.extract::<i64>(py) {
                Ok(0) => Ok(Side::First),
                Ok(1) => Ok(Side::Second),
                _ => {
                    let shown = given.bind(py).repr()?;
                    Err(PyValueError::new_err(format!("to_move returned {shown}: expected 0 or 1")))
                }
            }
        });
        side.map_or(Side::First, |side| *node.side.get_or_init(|| side))
    }

    /// A number for a position: equal ones that can be hashed have the same.
    pub fn key(&self, node: &Arc<Node>) -> u64 {
        let key = self.ask("key", Some(node), |py| {
            self.with(node, py, |state| match &self.methods.key {
                Some(key) => Ok(key.call1(py, (state,))?.bind(py).hash()? as u64),
                None if self.habits.in_place => Ok(node.number),
                None => Ok(state.bind(py).hash().map_or(node.number, |hash| hash as u64)),
            })
        });
        key.unwrap_or(node.number)
    }

    /// The word of a move.
    pub fn word(&self, mv: u32) -> String {
        lock(&self.moves).word(mv).to_string()
    }

    /// A position as text: what `render` says if it is no drawing, else the state as Python prints it.
    pub fn show(&self, node: &Arc<Node>) -> String {
        let shown = self.ask("render", Some(node), |py| {
            self.with(node, py, |state| {
                if let Some(render) = &self.methods.render {
                    let text: String = render.call1(py, (state,))?.extract(py)?;
                    if !text.trim_start().starts_with('<') {
                        return Ok(text);
                    }
                }
                Ok(state.bind(py).str()?.to_string())
            })
        });
        shown.unwrap_or_default()
    }

    /// Plays words by the rules alone, asking everything anew: the moves as objects, the end, and whether it is one.
    pub fn replay(&self, py: Python, words: &[String]) -> PyResult<Replayed> {
        let mut state = self.methods.initial.call0(py)?;
        let mut objects = Vec::with_capacity(words.len());
        let legal = |state: &Py<PyAny>| -> PyResult<Vec<u32>> {
            self.intern(self.methods.moves.call1(py, (state,))?.bind(py))
        };
        for (i, word) in words.iter().enumerate() {
            let moves = legal(&state)?;
            let found = moves.iter().find(|&&mv| lock(&self.moves).word(mv) == word).copied();
            let Some(mv) = found else {
                let some: Vec<String> = moves.iter().take(8).map(|&mv| self.word(mv)).collect();
                let (n, some) = (i + 1, some.join(" "));
                return Err(PyValueError::new_err(format!(
                    "move {n} '{word}' is not legal there (legal: {some})"
                )));
            };
            let object = lock(&self.moves).object(py, mv);
            let next = self.methods.play.call1(py, (&state, &object))?;
            objects.push(object);
            if !self.habits.in_place {
                state = next;
            }
        }
        let left = legal(&state)?;
        Ok((objects, state, left.iter().map(|&mv| self.word(mv)).collect()))
    }

    /// The words of moves given as objects.
    pub fn words(&self, moves: &Bound<PyAny>) -> PyResult<Vec<String>> {
        Ok(self.intern(moves)?.iter().map(|&mv| self.word(mv)).collect())
    }

    /// The move that a word was made of.
    pub fn move_of(&self, py: Python, word: &str) -> Option<Py<PyAny>> {
        let moves = lock(&self.moves);
        moves.by_word(word).map(|mv| moves.object(py, mv))
    }

    /// A move as the class gave it.
    pub fn object(&self, py: Python, mv: u32) -> Py<PyAny> {
        lock(&self.moves).object(py, mv)
    }

    /// The state of a position, as an object of its own.
    pub fn state(&self, py: Python, node: &Arc<Node>) -> PyResult<Py<PyAny>> {
        self.with(node, py, |state| Ok(state.clone_ref(py)))
    }

    /// The object itself.
    pub fn itself(&self, py: Python) -> Py<PyAny> {
        self.object.clone_ref(py)
    }
}

impl Node {
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// The moves from the start to a position.
fn path(node: &Arc<Node>) -> Vec<u32> {
    let mut moves = Vec::with_capacity(node.depth as usize);
    let mut at = node;
    while let Some((above, mv)) = &at.parent {
        moves.push(*mv);
        at = above;
    }
    moves.reverse();
    moves
}

/// Whether a state is a value that nobody can change, so that it may come back as itself.
fn is_plain(state: &Bound<PyAny>) -> bool {
    state.is_instance_of::<PyInt>() || state.is_instance_of::<PyTuple>() || state.is_instance_of::<PyBool>()
}

/// A finite number.
fn number_of(given: &Bound<PyAny>, what: &str) -> PyResult<f64> {
    let Ok(value) = given.extract::<f64>() else {
        let shown = given.repr()?;
        return Err(PyTypeError::new_err(format!("{what} returned {shown}: expected a number")));
    };
    if !value.is_finite() {
        return Err(PyValueError::new_err(format!("{what} returned {value}: expected a finite number")));
    }
    Ok(value)
}

/// The value of an end for the first player.
fn outcome_of(given: &Bound<PyAny>) -> PyResult<Option<Outcome>> {
    if given.is_none() {
        return Ok(None);
    }
    match given.extract::<f64>() {
        Ok(1.0) => Ok(Some(Outcome::Win(Side::First))),
        Ok(0.0) => Ok(Some(Outcome::Win(Side::Second))),
        Ok(0.5) => Ok(Some(Outcome::Draw)),
        _ => {
            let shown = given.repr()?;
            let expected = "expected None, or what the game is worth to the first player: 1, 0.5 or 0";
            Err(PyValueError::new_err(format!("outcome returned {shown}: {expected}")))
        }
    }
}

/// A code as a number that is the same in every process.
fn code_of(given: &Bound<PyAny>) -> PyResult<u64> {
    if let Ok(value) = given.extract::<i64>() {
        return Ok(value as u64);
    }
    if given.cast::<PyFloat>().is_ok_and(|value| value.value().is_nan()) {
        return Err(PyValueError::new_err("code returned nan: two moves with it would never be the same"));
    }
    if let Err(error) = given.hash() {
        note(given.py(), &error, "a code is a whole number or anything else that can be hashed");
        return Err(error);
    }
    let text = given.repr()?;
    let text = text.to_str()?;
    if text.contains(" at 0x") {
        return Err(PyTypeError::new_err(format!(
            "code returned {text}: its repr is another in every process"
        )));
    }
    Ok(stable_hash(text))
}

/// Adds a line to an exception, where Python can (3.11 on).
pub fn note(py: Python, error: &PyErr, text: &str) {
    let _ = error.value(py).call_method1("add_note", (text,));
}
