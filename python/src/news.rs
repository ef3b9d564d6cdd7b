//! What a search tells while it runs, on its way to Python: events wait here until whoever holds the interpreter has
//! a moment for them.

use crate::host::Listener;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use sortie_core::run::Observer;
use sortie_core::{Event, Solution};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Events on their way, newest of each kind only where older ones do not matter.
#[derive(Default)]
struct Waiting {
    improved: Vec<Event>,
    playouts: BTreeMap<u32, u64>,
    entropy: BTreeMap<u32, f64>,
    checkpoints: BTreeMap<u32, Vec<u8>>,
    best: Option<Solution>,
    over: bool,
}

/// Improvements that may wait; beyond this only the newest are told.
const IMPROVED_MAX: usize = 256;

/// The mailbox of a search, and the callable that takes what is in it.
pub struct News {
    waiting: Mutex<Waiting>,
    rang: Condvar,
    on: Option<Py<PyAny>>,
}

impl News {
    pub fn new(on: Option<Py<PyAny>>) -> Arc<News> {
        Arc::new(News { waiting: Mutex::default(), rang: Condvar::new(), on })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The best that was announced.
    pub fn best(&self) -> Option<Solution> {
        self.lock().best.clone()
    }

    /// The search is over.
    pub fn close(&self) {
        self.lock().over = true;
        self.rang.notify_all();
    }

    /// Waits for the end, but not long; true if it has come.
    pub fn wait(&self, time: Duration) -> bool {
        let waiting = self.lock();
        if waiting.over {
            return true;
        }
        let (waiting, _) =
            self.rang.wait_timeout(waiting, time).unwrap_or_else(|poisoned| poisoned.into_inner());
        waiting.over
    }

    /// Hands over what is waiting: a list of tuples that begin with the name of the event.
    pub fn deliver(&self, py: Python) -> PyResult<()> {
        let (improved, playouts, entropy, checkpoints) = {
            let mut waiting = self.lock();
            (
                std::mem::take(&mut waiting.improved),
                std::mem::take(&mut waiting.playouts),
                std::mem::take(&mut waiting.entropy),
                std::mem::take(&mut waiting.checkpoints),
            )
        };
        let Some(on) = &self.on else { return Ok(()) };
        let list = PyList::empty(py);
        for event in improved {
            if let Event::Improved { stream, score, moves, playouts, seconds } = event {
                list.append(("improved", stream, score, moves, playouts, seconds))?;
            }
        }
        for (stream, playouts) in playouts {
            list.append(("progress", stream, playouts))?;
        }
        for (stream, entropy) in entropy {
            list.append(("policy", stream, entropy))?;
        }
        for (stream, bytes) in checkpoints {
            let bytes = PyBytes::new(py, &bytes).into_any();
            let event =
                ["checkpoint".into_pyobject(py)?.into_any(), stream.into_pyobject(py)?.into_any(), bytes];
            list.append(PyTuple::new(py, event)?)?;
        }
        on.call1(py, (list,))?;
        Ok(())
    }
}

impl Listener for News {
    fn turn(&self, py: Python) -> PyResult<()> {
        self.deliver(py)
    }
}

impl Observer for News {
    fn on(&self, event: Event) {
        let mut waiting = self.lock();
        match event {
            Event::Improved { score, ref moves, .. } => {
                // What is offered after an exception is worth nothing.
                if score == f64::NEG_INFINITY {
                    return;
                }
                if waiting.best.as_ref().is_none_or(|best| score > best.score) {
                    waiting.best = Some(Solution { score, moves: moves.clone() });
                }
                if waiting.improved.len() >= IMPROVED_MAX {
                    waiting.improved.remove(0);
                }
                waiting.improved.push(event);
            }
            Event::Progress { stream, playouts } => {
                waiting.playouts.insert(stream, playouts);
            }
            Event::Policy { stream, entropy } => {
                waiting.entropy.insert(stream, entropy);
            }
            // What a portfolio is about to do is for people at a terminal.
            Event::Course { .. } => {}
            Event::Checkpoint(checkpoint) => {
                let bytes = postcard::to_stdvec(&checkpoint).expect("plain data always serialises");
                waiting.checkpoints.insert(checkpoint.stream, bytes);
            }
        }
    }
}
