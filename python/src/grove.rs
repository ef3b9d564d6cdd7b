//! The asked tree for Python: its nodes' states and moves as objects, behind one lock. No Python code runs while the
//! lock is held, so any thread may ask and tell at any time.

use crate::tree::{Counting, Offspring, Rules, Tree};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyList, PyTuple};
use serde::Deserialize;
use std::sync::{Mutex, MutexGuard};

/// Children that one answer may list.
const CHILDREN_MAX: usize = 1 << 20;
/// Nodes of a tree.
const NODES_MAX: usize = 1 << 30;

/// The rules of a tree, as JSON from the Python side.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    c: f64,
    prior: bool,
    range: Option<(f64, f64)>,
    two: bool,
    grown: Option<(f64, f64)>,
    noisy: bool,
    counting: Counting,
    greed: f64,
}

struct Inner {
    tree: Tree,
    /// `states[i]` and `moves[i]` are of node i: its state, and the move that leads to it.
    states: Vec<Option<Py<PyAny>>>,
    moves: Vec<Option<Py<PyAny>>>,
}

/// A tree that is asked what to evaluate and told what came of it.
#[pyclass(frozen, module = "sortie_search._native")]
pub struct Grove(Mutex<Inner>);

/// A job: its number, its node, the node's state, the moves that lead there, whether the node has its value.
type Asked<'py> = (u64, u32, Option<Py<PyAny>>, Bound<'py, PyTuple>, bool);
/// A node: visits, in flight, sum, best, proven, prior, own value, second player to move.
type Seen = (u32, u32, f64, f64, Option<f64>, f32, Option<f64>, bool);

#[pymethods]
impl Grove {
    #[new]
    fn new(rules: &str, root: Option<Py<PyAny>>) -> PyResult<Grove> {
        let told: Told = serde_json::from_str(rules).map_err(|e| PyValueError::new_err(e.to_string()))?;
        let Told { c, prior, range, two, grown, noisy, counting, greed } = told;
        let good = c >= 0.0 && c.is_finite() && (0.0..=1.0).contains(&greed);
        if !good {
            return Err(PyValueError::new_err("c: expected a number from 0 on; greed: one from 0 to 1"));
        }
        if range.is_some_and(|(low, high)| !(low < high && low.is_finite() && high.is_finite())) {
            return Err(PyValueError::new_err("values: expected the least and the largest value"));
        }
        if grown.is_some_and(|(width, growth)| !(width > 0.0 && width < 1e6 && (0.0..=1.0).contains(&growth)))
        {
            return Err(PyValueError::new_err("width: expected a number above 0; growth: one from 0 to 1"));
        }
        let rules = Rules { c, prior, range, two, grown, noisy, counting, greed };
        let inner = Inner { tree: Tree::new(rules), states: vec![root], moves: vec![None] };
        Ok(Grove(Mutex::new(inner)))
    }

    /// Up to `n` jobs.
    fn ask<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Vec<Asked<'py>>> {
        let inner = &mut *self.lock(py);
        let mut jobs = Vec::with_capacity(n.min(1 << 16));
        while jobs.len() < n {
            let Some((id, flight)) = inner.tree.ask() else { break };
            let state = inner.states[flight.node as usize].as_ref().map(|state| state.clone_ref(py));
            let known = inner.tree.nodes[flight.node as usize].value.is_some();
            jobs.push((id, flight.node, state, inner.path(py, flight.node)?, known));
        }
        Ok(jobs)
    }

    /// Takes an answer. In a listed tree `moves` and `states` are of the children; in a grown one of the node itself.
    #[pyo3(signature = (job, value, moves, states, priors, exact, second, grown))]
    #[allow(clippy::too_many_arguments)]
    fn tell(
        &self,
        py: Python,
        job: u64,
        value: f64,
        moves: Vec<Py<PyAny>>,
        states: Vec<Py<PyAny>>,
        priors: Vec<f64>,
        exact: bool,
        second: Option<bool>,
        grown: Option<(Py<PyAny>, Py<PyAny>)>,
    ) -> PyResult<u32> {
        if !value.is_finite() {
            return Err(PyValueError::new_err(format!(
                "value {value}: expected a finite number; the job is still out"
            )));
        }
        if priors.iter().any(|p| !(p.is_finite() && *p >= 0.0)) {
            return Err(PyValueError::new_err("priors: expected numbers from 0 on; the job is still out"));
        }
        let count = moves.len();
        if !priors.is_empty() && priors.len() != count || !states.is_empty() && states.len() != count {
            let message = "priors and states: expected as many as there are children; the job is still out";
            return Err(PyValueError::new_err(message));
        }
        let mut inner = self.lock(py);
        if count > CHILDREN_MAX || inner.tree.nodes.len() + count > NODES_MAX {
            return Err(PyValueError::new_err(
                "the tree has no room for so many children; the job is still out",
            ));
        }
        if let Some((low, high)) = inner.tree.rules.range
            && !(low..=high).contains(&value)
        {
            return Err(PyValueError::new_err(format!(
                "value {value}: expected {low} to {high}; the job is still out"
            )));
        }
        let offspring = (count > 0).then_some(Offspring { count, priors });
        let Some(node) = inner.tree.tell(job, value, offspring, exact, second) else {
            return Err(PyKeyError::new_err(format!(
                "job {job} is not out: told or dropped before, or of another tree"
            )));
        };
        let nodes = inner.tree.nodes.len();
        let known = inner.states.len();
        if let Some((mv, state)) = grown
            && nodes > known
        {
            inner.moves.push(Some(mv));
            inner.states.push(Some(state));
        }
        // An end that is told again lists nothing new.
        let fresh = nodes - inner.states.len();
        if fresh > 0 {
            inner.moves.extend(moves.into_iter().map(Some));
            let mut states = states.into_iter().map(Some);
            inner.states.extend((0..fresh).map(|_| states.next().flatten()));
        }
        Ok(node)
    }

    /// Gives a job back; false if it is not out.
    fn drop_job(&self, py: Python, job: u64) -> bool {
        self.lock(py).tree.give_back(job)
    }

    /// Jobs that are out, as `ask` returned them.
    fn out<'py>(&self, py: Python<'py>) -> PyResult<Vec<Asked<'py>>> {
        let inner = self.lock(py);
        let mut jobs = Vec::with_capacity(inner.tree.out.len());
        for (&id, flight) in &inner.tree.out {
            let state = inner.states[flight.node as usize].as_ref().map(|state| state.clone_ref(py));
            let known = inner.tree.nodes[flight.node as usize].value.is_some();
            jobs.push((id, flight.node, state, inner.path(py, flight.node)?, known));
        }
        jobs.sort_by_key(|job| job.0);
        Ok(jobs)
    }

    /// Asked, told, in flight, dropped; nodes.
    fn counts(&self, py: Python) -> (u64, u64, u64, u64, u64) {
        let tree = &self.lock(py).tree;
        (tree.next_job, tree.told, tree.out.len() as u64, tree.dropped, tree.nodes.len() as u64)
    }

    /// What is known of a node.
    fn node(&self, py: Python, node: u32) -> PyResult<Seen> {
        let inner = self.lock(py);
        let Some(n) = inner.tree.nodes.get(node as usize) else {
            return Err(PyKeyError::new_err(format!("there is no node {node}")));
        };
        Ok((n.visits, n.flying, n.sum, n.best, n.proven, n.prior, n.value, n.second))
    }

    fn children(&self, py: Python, node: u32) -> PyResult<Vec<u32>> {
        let inner = self.lock(py);
        let found = inner.tree.nodes.get(node as usize).map(|n| n.children.clone());
        found.ok_or_else(|| PyKeyError::new_err(format!("there is no node {node}")))
    }

    /// The state of a node and the moves that lead there.
    fn place<'py>(&self, py: Python<'py>, node: u32) -> PyResult<(Option<Py<PyAny>>, Bound<'py, PyTuple>)> {
        let inner = self.lock(py);
        let state = inner.states[node as usize].as_ref().map(|state| state.clone_ref(py));
        Ok((state, inner.path(py, node)?))
    }

    /// The node with the best value of its own, for the first player.
    fn best(&self, py: Python) -> Option<u32> {
        self.lock(py).tree.best()
    }

    /// The nodes of the main line, the root first.
    fn line(&self, py: Python) -> Vec<u32> {
        self.lock(py).tree.line()
    }

    /// What is wrong with the accounts, if anything is.
    fn audit(&self, py: Python) -> Option<String> {
        self.lock(py).tree.audit()
    }

    /// The tree as bytes, its states, its moves.
    #[allow(clippy::type_complexity)]
    fn save<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyList>, Bound<'py, PyList>)> {
        let inner = self.lock(py);
        let bytes = postcard::to_stdvec(&inner.tree).expect("plain data always serialises");
        let list = |of: &[Option<Py<PyAny>>]| {
            PyList::new(py, of.iter().map(|o| o.as_ref().map(|o| o.clone_ref(py))))
        };
        Ok((PyBytes::new(py, &bytes), list(&inner.states)?, list(&inner.moves)?))
    }

    /// What `save` returned.
    #[staticmethod]
    fn load(bytes: &[u8], states: Vec<Option<Py<PyAny>>>, moves: Vec<Option<Py<PyAny>>>) -> PyResult<Grove> {
        let damaged = || PyValueError::new_err("the saved tree is damaged or of another version");
        let tree: Tree = postcard::from_bytes(bytes).map_err(|_| damaged())?;
        let nodes = tree.nodes.len();
        let sound = nodes > 0 && nodes == states.len() && nodes == moves.len() && tree.is_sound();
        if !sound {
            return Err(damaged());
        }
        Ok(Grove(Mutex::new(Inner { tree, states, moves })))
    }
}

impl Grove {
    /// Whoever waits lets go of the interpreter: the one it waits for may need it.
    fn lock(&self, py: Python) -> MutexGuard<'_, Inner> {
        self.0.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Inner {
    fn path<'py>(&self, py: Python<'py>, node: u32) -> PyResult<Bound<'py, PyTuple>> {
        let path = self.tree.path(node);
        let moves = path[1..].iter().map(|&id| match &self.moves[id as usize] {
            Some(mv) => mv.clone_ref(py),
            None => py.None(),
        });
        PyTuple::new(py, moves)
    }
}
