//! A run folder that Python writes: `sortie_runs` behind one class, so that the command and Python write the same files.

use crate::solve::read_streams;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use serde::Deserialize;
use sortie_core::{Limits, Record, Search, Solution, StopReason};
use sortie_runs::checkpoint::Checkpoint;
use sortie_runs::clock;
use sortie_runs::event::Event;
use sortie_runs::folder::{CHECKPOINT, Events, FORMAT, Folder, RECORD, RESULT};
use sortie_runs::result::RunResult;
use sortie_runs::spec::Spec;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

pyo3::import_exception!(sortie_search.folder, FolderError);

/// What is searched and how, as JSON from the Python side.
#[derive(Deserialize)]
struct Asked {
    search: Search,
    seed: u64,
    streams: u32,
    threads: u32,
    limits: Limits,
}

struct Open {
    folder: Folder,
    spec: Spec,
    events: Events,
    checkpoint: Checkpoint,
}

/// A run folder, whose lock is held until `close`.
#[pyclass(frozen, module = "sortie_search._native")]
pub struct Book(Mutex<Option<Open>>);

fn refused(error: impl std::fmt::Display) -> PyErr {
    FolderError::new_err(format!("{error:#}"))
}

fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Book {
    /// A new folder with its spec, and the text of the instance if that is a file.
    #[staticmethod]
    #[pyo3(signature = (path, instance, asked, text=None))]
    fn create(path: PathBuf, instance: &str, asked: &str, text: Option<String>) -> PyResult<Book> {
        let Asked { search, seed, streams, threads, limits } =
            serde_json::from_str(asked).map_err(invalid)?;
        let sortie = env!("CARGO_PKG_VERSION").to_string();
        let instance = instance.to_string();
        let spec =
            Spec { format: FORMAT, sortie, instance, seed, streams, threads, search, policy: None, limits };
        let folder = Folder::create(&path, &spec, text.as_deref()).map_err(refused)?;
        let mut book = Open::new(folder, spec.clone(), None)?;
        let Spec { instance, search, limits, sortie: version, .. } = spec;
        let time = clock::now();
        book.append(&Event::Started { time, instance, search, seed, streams, threads, limits, version })?;
        Ok(Book(Mutex::new(Some(book))))
    }

    /// The folder of an earlier session. A checkpoint that is damaged or of another spec is not used.
    #[staticmethod]
    fn open(path: PathBuf) -> PyResult<Book> {
        let folder = Folder::open(&path).map_err(refused)?;
        let spec = folder.read_spec().map_err(refused)?;
        if spec.policy.is_some() {
            return Err(refused("a network guides this run: `sortie resume` goes on with it"));
        }
        let checkpoint = folder.read_checkpoint(&spec).unwrap_or_default();
        Ok(Book(Mutex::new(Some(Open::new(folder, spec, checkpoint)?))))
    }

    /// The spec, as JSON.
    fn spec(&self, py: Python) -> PyResult<String> {
        self.with(py, |book| Ok(serde_json::to_string(&book.spec).expect("plain data")))
    }

    /// Seconds and CPU seconds so far, and where the streams stand.
    #[allow(clippy::type_complexity)]
    fn standing<'py>(&self, py: Python<'py>) -> PyResult<(f64, f64, Vec<Bound<'py, PyBytes>>)> {
        self.with(py, |book| {
            let bytes = |stream| PyBytes::new(py, &postcard::to_stdvec(stream).expect("plain data"));
            let streams = book.checkpoint.streams.iter().map(bytes).collect();
            Ok((book.checkpoint.seconds, book.checkpoint.cpu_seconds, streams))
        })
    }

    /// The best record: its score and its moves.
    fn best(&self, py: Python) -> PyResult<Option<(f64, Vec<String>)>> {
        self.with(py, |book| {
            let record = book.folder.read_record().map_err(refused)?;
            Ok(record.map(|record| (record.score, record.moves)))
        })
    }

    /// Other limits: streams that came to the end of the old ones go on.
    fn limit(&self, py: Python, limits: &str) -> PyResult<()> {
        let limits: Limits = serde_json::from_str(limits).map_err(invalid)?;
        self.with(py, |book| {
            book.spec.limits = limits;
            book.checkpoint.streams.iter_mut().for_each(|stream| stream.ended = None);
            book.folder.write_spec(&book.spec).map_err(refused)
        })
    }

    /// Another session begins.
    fn go_on(&self, py: Python) -> PyResult<()> {
        self.with(py, |book| {
            book.folder.remove(RESULT).map_err(refused)?;
            let best = book.folder.read_record().map_err(refused)?.map(|record| record.score);
            let playouts = book.checkpoint.streams.iter().map(|stream| stream.playouts).sum();
            let (seconds, threads) = (book.checkpoint.seconds, book.spec.threads);
            book.append(&Event::Resumed { time: clock::now(), seconds, playouts, best, threads })
        })
    }

    /// A newer checkpoint of a stream.
    fn take(&self, py: Python, stream: Vec<u8>) -> PyResult<()> {
        let stream = read_streams(vec![stream])?.swap_remove(0);
        self.with(py, |book| {
            book.checkpoint.put(stream);
            Ok(())
        })
    }

    /// Makes this the best record.
    fn keep(
        &self,
        py: Python,
        score: f64,
        words: Vec<String>,
        fields: Vec<(String, String)>,
    ) -> PyResult<()> {
        self.with(py, |book| {
            let mut fields = fields;
            fields.push(("found".into(), clock::now()));
            fields.push(("version".into(), format!("sortie {}", env!("CARGO_PKG_VERSION"))));
            let record = Record { instance: book.spec.instance.clone(), score, fields, moves: words };
            book.folder.write(RECORD, record.to_text().as_bytes()).map_err(refused)
        })
    }

    /// A better solution was found, and is on the disk by now.
    fn improved(&self, py: Python, stream: u32, score: f64, playouts: u64, seconds: f64) -> PyResult<()> {
        self.with(py, |book| book.append(&Event::Improved { seconds, stream, score, playouts }))
    }

    /// How it stands; and where the streams stand goes to the disk.
    fn progress(
        &self,
        py: Python,
        seconds: f64,
        cpu_seconds: f64,
        playouts: u64,
        best: Option<f64>,
    ) -> PyResult<()> {
        self.with(py, |book| {
            let event = Event::Progress { seconds, cpu_seconds, playouts, best, band: None, entropy: None };
            book.append(&event)?;
            (book.checkpoint.seconds, book.checkpoint.cpu_seconds) = (seconds, cpu_seconds);
            book.folder.write(CHECKPOINT, &book.checkpoint.to_bytes()).map_err(refused)
        })
    }

    /// The end: the result, and the event that tells of it.
    #[allow(clippy::too_many_arguments)]
    fn finish(
        &self,
        py: Python,
        score: f64,
        words: Vec<String>,
        playouts: u64,
        seconds: f64,
        cpu_seconds: f64,
        reason: &str,
        best_known: Option<f64>,
        facts: BTreeMap<String, f64>,
    ) -> PyResult<()> {
        let reason: StopReason = serde_json::from_value(reason.into()).map_err(invalid)?;
        self.with(py, |book| {
            let best = Solution { score, moves: words };
            let result = RunResult::new(&book.spec, &book.folder.path, &best, best_known);
            let result = result.ended(playouts, seconds, cpu_seconds, reason);
            let mut map = serde_json::to_value(&result).expect("plain data");
            for (name, value) in facts {
                if map.get(&name).is_none() {
                    map[&name] = value.into();
                }
            }
            book.append(&Event::Finished {
                time: clock::now(),
                seconds,
                cpu_seconds,
                playouts,
                score,
                reason,
            })?;
            let text = serde_json::to_string_pretty(&map).expect("plain data") + "\n";
            book.folder.write(RESULT, text.as_bytes()).map_err(refused)
        })
    }

    /// Another file of the folder.
    fn write(&self, py: Python, name: &str, bytes: &[u8]) -> PyResult<()> {
        self.with(py, |book| book.folder.write(name, bytes).map_err(refused))
    }

    /// Lets go of the folder.
    fn close(&self, py: Python) {
        *self.lock(py) = None;
    }
}

impl Book {
    fn lock(&self, py: Python) -> MutexGuard<'_, Option<Open>> {
        self.0.lock_py_attached(py).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn with<T>(&self, py: Python, f: impl FnOnce(&mut Open) -> PyResult<T>) -> PyResult<T> {
        match &mut *self.lock(py) {
            Some(book) => f(book),
            None => Err(refused("the run folder is closed")),
        }
    }
}

impl Open {
    fn new(folder: Folder, spec: Spec, checkpoint: Option<Checkpoint>) -> PyResult<Open> {
        let events = folder.events().map_err(refused)?;
        let nothing =
            || Checkpoint { identity: spec.identity(), seconds: 0.0, cpu_seconds: 0.0, streams: Vec::new() };
        let checkpoint = checkpoint.unwrap_or_else(nothing);
        Ok(Open { folder, spec, events, checkpoint })
    }

    fn append(&mut self, event: &Event) -> PyResult<()> {
        self.events.append(event).map_err(refused)
    }
}

/// A record as its parts: instance, score, further lines, moves.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn record_read(text: &str) -> PyResult<(String, f64, Vec<(String, String)>, Vec<String>)> {
    let Record { instance, score, fields, moves } = Record::parse(text).map_err(invalid)?;
    Ok((instance, score, fields, moves))
}
