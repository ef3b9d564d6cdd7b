//! Random playouts of a game. Where positions come again (a small board, the first moves of any), they are remembered as
//! all others are, and a step costs no call. Where they do not, nothing is kept of a playout: states go from `play` to
//! `moves`, what is drawn is drawn here, and no call is made but those two.
//!
//! Which of the two it is is found out for every distance from the start by itself. The moves that are drawn are the same
//! either way.

use super::{Host, Node, lock, note, outcome_of};
use pyo3::exceptions::{PyException, PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use sortie_core::{Outcome, Rng};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Steps to some distance from the start, after which it is known whether positions come again there.
const STEPS_TRIED: u32 = 256;
/// They do where so many steps find one that was known.
const KNOWN_ONE_IN: u32 = 12;
/// Ends of games that were looked at before `moves` is believed to say by itself that a game is over.
const ENDS_TRIED: u32 = 64;
/// One playout in so many looks again.
const LOOK_AGAIN: u32 = 64;

/// What playouts have found out about a class.
#[derive(Default)]
pub(super) struct Habitat {
    /// By the distance from the start: steps that were taken, and those that led to a position nobody knew.
    distances: Vec<(u32, u32)>,
}

/// Whether `moves` lists none at the end of a game, so that `outcome` need not be asked where it lists some.
#[derive(Default)]
pub(super) struct Ends {
    seen: AtomicU32,
    broken: AtomicBool,
    playouts: AtomicU32,
}

impl Ends {
    /// Whether moves are enough to know that a game goes on.
    pub(super) fn trusted(&self) -> bool {
        self.seen.load(Relaxed) >= ENDS_TRIED && !self.broken.load(Relaxed)
    }

    /// Looks at the moves of an end, as long as there is something to find out.
    pub(super) fn look(&self, py: Python, moves: impl FnOnce() -> PyResult<usize>) -> PyResult<()> {
        if self.broken.load(Relaxed) {
            return Ok(());
        }
        let listed = match moves() {
            Ok(listed) => listed,
            // Nobody said that it can be asked.
            Err(error) if error.is_instance_of::<PyException>(py) => 1,
            Err(error) => return Err(error),
        };
        if listed > 0 && self.trusted() {
            let message = "moves lists moves of a game that is over, though it listed none before";
            return Err(PyValueError::new_err(message));
        }
        self.broken.store(listed > 0, Relaxed);
        self.seen.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Whether the next playout asks `outcome` at every step.
    fn doubted(&self) -> bool {
        !self.trusted() || self.playouts.fetch_add(1, Relaxed).is_multiple_of(LOOK_AGAIN)
    }
}

impl Habitat {
    /// Whether positions so far from the start are worth remembering.
    fn comes_again(&self, depth: u32) -> bool {
        let Some(&(steps, fresh)) = self.distances.get(depth as usize) else { return true };
        steps < STEPS_TRIED || (steps - fresh) * KNOWN_ONE_IN >= steps
    }

    fn note(&mut self, depth: u32, fresh: bool) {
        let depth = depth as usize;
        if self.distances.len() <= depth {
            self.distances.resize(depth + 1, (0, 0));
        }
        let (steps, news) = &mut self.distances[depth];
        *steps += 1;
        *news += u32::from(fresh);
        if *steps == u32::MAX {
            (*steps, *news) = (*steps / 2, *news / 2);
        }
    }
}

/// Where a playout is, for the note of an exception.
struct Place {
    method: &'static str,
    steps: u32,
}

impl Host {
    /// How a game ends that goes on from a position with random moves; `None` where it has not ended after `moves_max`. Of
    /// `draws` moves drawn the first is played: no class says which is the better.
    pub fn play_out(&self, from: &Arc<Node>, draws: u32, moves_max: u32, rng: &mut Rng) -> Option<Outcome> {
        let mut node = from.clone();
        let mut left = moves_max;
        loop {
            let outcome = self.outcome(&node);
            if outcome.is_some() || left == 0 {
                return outcome;
            }
            let offer = self.offer(&node);
            if offer.moves.is_empty() {
                return None;
            }
            let index = draw(offer.moves.len(), draws, rng);
            left -= 1;
            if self.habits.in_place || !lock(&self.habitat).comes_again(node.depth + 1) {
                return self.play_on(&node, offer.moves[index], draws, left, rng);
            }
            let (child, fresh) = self.child(&node, index);
            lock(&self.habitat).note(child.depth, fresh);
            node = child;
        }
    }

    /// The same from the position after a move, keeping nothing.
    fn play_on(
        &self,
        node: &Arc<Node>,
        mv: u32,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
    ) -> Option<Outcome> {
        let over = Some(Outcome::Draw);
        if self.failed() {
            return over;
        }
        Python::attach(|py| {
            let mut place = Place { method: "play", steps: 0 };
            let ended = self.free_play(py, node, mv, draws, moves_max, rng, &mut place);
            ended.unwrap_or_else(|error| {
                if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    let (name, method, steps) = (&self.name, place.method, place.steps);
                    let before = self.place(node);
                    note(py, &error, &format!("in {name}.{method}{before}, then {steps} random moves"));
                }
                self.fail(error);
                over
            })
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn free_play(
        &self,
        py: Python,
        node: &Arc<Node>,
        mv: u32,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        place: &mut Place,
    ) -> PyResult<Option<Outcome>> {
        let methods = &self.methods;
        let outcome = methods.outcome.as_ref().expect("a game has outcomes").bind(py);
        let (list, play) = (methods.moves.bind(py), methods.play.bind(py));
        let doubted = self.ends.doubted();
        let mut mv = lock(&self.moves).object(py, mv).into_bound(py);
        let mut state = self.with(node, py, |state| Ok(state.clone_ref(py)))?.into_bound(py);
        if self.habits.in_place {
            // The object goes on with the playout.
            *lock(&self.cursor) = None;
        }
        let mut left = moves_max;
        loop {
            self.tick();
            if self.failed() {
                return Ok(Some(Outcome::Draw));
            }
            place.method = "play";
            let next = play.call1((&state, &mv))?;
            state = self.after(state, next)?;
            place.steps += 1;
            if doubted {
                place.method = "outcome";
                if let Some(outcome) = outcome_of(&outcome.call1((&state,))?)? {
                    place.method = "moves";
                    self.ends.look(py, || Ok(Listed::of(list.call1((&state,))?)?.len()))?;
                    return Ok(Some(outcome));
                }
            }
            if place.steps + node.depth >= self.habits.steps_max {
                return Err(self.endless());
            }
            place.method = "moves";
            let moves = Listed::of(list.call1((&state,))?)?;
            if moves.len() == 0 {
                place.method = "outcome";
                return match outcome_of(&outcome.call1((&state,))?)? {
                    None => Err(no_outcome()),
                    ended => Ok(ended),
                };
            }
            if left == 0 {
                return Ok(None);
            }
            left -= 1;
            mv = moves.get(draw(moves.len(), draws, rng))?;
        }
    }

    /// Whether the class plays many positions out at once. Not with play in place, where there is one object for all.
    pub fn plays_out_together(&self) -> bool {
        self.methods.playouts.is_some() && !self.habits.in_place
    }

    /// What the class makes of many positions: values for the first side.
    pub fn play_out_together(&self, nodes: &[&Arc<Node>], seed: u64) -> Vec<f64> {
        let even = vec![0.5; nodes.len()];
        let (Some(method), false) = (&self.methods.playouts, nodes.is_empty()) else { return even };
        let values = self.ask("playouts", None, |py| {
            let states = nodes.iter().map(|node| self.state(py, node)).collect::<PyResult<Vec<_>>>()?;
            values_of(&method.bind(py).call1((PyList::new(py, states)?, seed))?, nodes.len())
        });
        values.unwrap_or(even)
    }

    /// What `play` made of a state, if that is one.
    pub(super) fn after<'py>(
        &self,
        state: Bound<'py, PyAny>,
        next: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.habits.in_place {
            if !next.is_none() && !next.is(&state) {
                let message = "play returned another state: with copy=False it changes the one it is given";
                return Err(PyTypeError::new_err(message));
            }
            return Ok(state);
        }
        if next.is_none() {
            let message = "play returned None: return the new state, or say copy=False if it changes the one it is given";
            return Err(PyTypeError::new_err(message));
        }
        if next.is(&state) && !super::is_plain(&next) {
            let message = "play returned the state it was given: return a new one, or say copy=False";
            return Err(PyValueError::new_err(message));
        }
        Ok(next)
    }
}

/// So many values from 0 to 1, as an array or a list.
fn values_of(given: &Bound<PyAny>, n: usize) -> PyResult<Vec<f64>> {
    let listed = match given.getattr_opt("tolist")? {
        Some(tolist) => tolist.call0()?,
        None => given.clone(),
    };
    let Ok(values) = listed.extract::<Vec<f64>>() else {
        let kind = given.get_type().name()?;
        return Err(PyTypeError::new_err(format!("playouts returned {kind}: expected {n} numbers")));
    };
    if values.len() != n {
        let given = values.len();
        return Err(PyValueError::new_err(format!("playouts returned {given} values for {n} states")));
    }
    match values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        Some(value) => {
            let expected = "expected what a game is worth to the first player, from 0 to 1";
            Err(PyValueError::new_err(format!("playouts returned {value}: {expected}")))
        }
        None => Ok(values),
    }
}

/// A position that is neither an end nor has a move.
pub(super) fn no_outcome() -> PyErr {
    PyValueError::new_err("no moves and no outcome: who has no move must have won, lost or drawn")
}

/// One of `n` moves; the others that are drawn change nothing but the random numbers.
fn draw(n: usize, draws: u32, rng: &mut Rng) -> usize {
    let first = rng.below(n);
    for _ in 1..draws {
        rng.below(n);
    }
    first
}

/// What `moves` returned, for whoever takes one of them.
pub(super) enum Listed<'py> {
    List(Bound<'py, PyList>),
    Tuple(Bound<'py, PyTuple>),
}

impl<'py> Listed<'py> {
    pub(super) fn of(given: Bound<'py, PyAny>) -> PyResult<Self> {
        let given = match given.cast_into_exact::<PyList>() {
            Ok(list) => return Ok(Listed::List(list)),
            Err(other) => other.into_inner(),
        };
        let given = match given.cast_into_exact::<PyTuple>() {
            Ok(tuple) => return Ok(Listed::Tuple(tuple)),
            Err(other) => other.into_inner(),
        };
        // Arrays of numpy give Python's own numbers this way, and faster.
        let given = match given.getattr_opt("tolist")? {
            Some(tolist) => tolist.call0()?,
            None => given,
        };
        let Ok(iterator) = given.try_iter() else {
            let kind = given.get_type().name()?;
            return Err(PyTypeError::new_err(format!("moves returned {kind}: expected a list of moves")));
        };
        let list = PyList::empty(given.py());
        for mv in iterator {
            list.append(mv?)?;
            if list.len() > super::MOVES_MAX {
                let most = super::MOVES_MAX;
                return Err(PyValueError::new_err(format!(
                    "moves returned more than {most} moves: does it end?"
                )));
            }
        }
        Ok(Listed::List(list))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Listed::List(list) => list.len(),
            Listed::Tuple(tuple) => tuple.len(),
        }
    }

    pub(super) fn get(&self, i: usize) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Listed::List(list) => list.get_item(i),
            Listed::Tuple(tuple) => tuple.get_item(i),
        }
    }
}
