//! A study: a table or a figure of a paper as a list of runs, ours beside theirs. Every run that has ended is a line
//! of `cells.jsonl`; a study that was stopped goes on with the first run that is not there.

pub mod command;
#[cfg(feature = "neural")]
pub mod morpion;
pub mod papers;
mod table;

use crate::folder::{self, write_whole};
use crate::journal::{self, Journal};
use crate::output::{self, number, rounded};
use crate::source::Instance;
use crate::{clock, duration, raster, searches};
use anyhow::{Context, Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use sortie_core::{BestOf, Control, Event, Limits, Record, Search, StopReason};
use sortie_runs::claim::{self, FORMAT};
use sortie_runs::kind::{CELLS, STUDY};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

const TABLE: &str = "table.md";
const RESULTS: &str = "results.json";

/// Every study of this build with one line about it.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    #[cfg(feature = "neural")]
    let of_networks = morpion::STUDIES;
    #[cfg(not(feature = "neural"))]
    let of_networks = [];
    papers::STUDIES.into_iter().chain(of_networks)
}

/// Everything needed to repeat a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The version of the folder's format.
    pub format: u32,
    /// The version of the program that began the study.
    pub sortie: String,
    /// The name of the study.
    pub study: String,
    /// Seconds a run.
    pub seconds: f64,
    /// These are seconds of CPU time of each thread: for machines that have other things to do as well.
    #[serde(default)]
    pub cpu: bool,
    /// Runs of each cell that has any randomness in its answer.
    pub seeds: u32,
    /// Threads of a run.
    pub threads: u32,
    /// Only these rows; empty: all.
    #[serde(default)]
    pub rows: Vec<String>,
}

impl Request {
    /// A request of this version.
    pub fn new(study: &str, seconds: f64, seeds: u32, threads: u32, rows: Vec<String>) -> Request {
        let sortie = env!("CARGO_PKG_VERSION").to_string();
        Request {
            format: FORMAT,
            sortie,
            study: study.to_string(),
            seconds,
            cpu: false,
            seeds,
            threads,
            rows,
        }
    }
}

/// A table or figure.
pub struct Study {
    /// What it is, for the title.
    pub title: String,
    /// Which paper, which table; and what the reader must know to compare.
    pub notes: String,
    /// What is printed of it.
    pub shape: Shape,
    /// The runs.
    pub cells: Vec<Cell>,
}

/// What a study is printed as.
pub enum Shape {
    /// One row an instance, published columns beside ours.
    Table {
        /// The heads of the published columns.
        published: Vec<&'static str>,
        /// `theirs[row]` are the published entries of that row.
        theirs: Vec<(String, Vec<String>)>,
        /// Whether a last row adds the columns up.
        sum: bool,
    },
    /// Best score over time or playouts, a line a column.
    Curves {
        /// By playouts rather than by seconds.
        by_playouts: bool,
        /// Titles and lines of the charts it is divided into; none: all lines are in one.
        panels: &'static [(&'static str, &'static [&'static str])],
    },
}

/// One kind of run.
pub struct Cell {
    /// The row of the table, or the instance of a figure.
    pub row: String,
    /// The column of the table, or the name of a line.
    pub column: String,
    /// What to solve.
    pub instance: String,
    /// How.
    pub search: Search,
    /// Independent searches.
    pub streams: u32,
    /// Threads that work through them.
    pub threads: u32,
    /// When a run ends.
    pub limits: Limits,
    /// Runs, with the seeds 1, 2, 3 ...
    pub seeds: u32,
}

/// A run that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Done {
    /// The cell.
    pub row: String,
    /// The cell.
    pub column: String,
    /// The seed.
    pub seed: u64,
    /// The score.
    pub score: f64,
    /// What else the domain says of it.
    pub facts: Vec<(String, f64)>,
    /// Playouts made.
    pub playouts: u64,
    /// Wall time spent.
    pub seconds: f64,
    /// CPU time spent.
    pub cpu_seconds: f64,
    /// Why it ended.
    pub reason: StopReason,
    /// Every improvement: seconds, playouts of its stream, score.
    pub curve: Vec<(f64, u64, f64)>,
    /// The moves.
    pub moves: Vec<String>,
}

/// A study in its folder.
pub struct Folder {
    path: PathBuf,
    lock: folder::Folder,
    /// The runs that have ended.
    pub done: Vec<Done>,
}

impl Folder {
    /// Makes the folder, or opens it if it is of the same request or of one with fewer seeds. True if there was one.
    pub fn open(path: &Path, request: &Request) -> Result<(Folder, bool)> {
        let file = path.join(STUDY);
        let found = if file.exists() { Some(read_request(path)?) } else { None };
        if let Some(found) = &found {
            // The program may have been updated meanwhile; and more seeds carry a study further.
            let same = Request { sortie: found.sortie.clone(), seeds: found.seeds, ..request.clone() };
            if *found != same || request.seeds < found.seeds {
                bail!(
                    "{} holds another study ({}, --seeds {}, {} a run): `lab resume {}` goes on with it, or give another --out",
                    path.display(),
                    found.study,
                    found.seeds,
                    duration::show(found.seconds),
                    path.display()
                );
            }
        } else {
            sortie_disk::create_dir_all(&path.join("records"))
                .with_context(|| format!("cannot make the folder {}: give another --out", path.display()))?;
        }
        let lock = folder::lock(path)?;
        let done = journal::read(&path.join(CELLS))?;
        if found.as_ref().is_none_or(|found| found.seeds < request.seeds) {
            let text = toml::to_string(request)?;
            write_whole(&file, text.as_bytes())
                .with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok((Folder { path: path.to_path_buf(), lock, done }, found.is_some()))
    }

    fn add(&mut self, record: &Record, done: Done) -> Result<()> {
        let name = format!("{}-{}-s{}.record", file_name(&done.row), file_name(&done.column), done.seed);
        self.write(&Path::new("records").join(name), record.to_text().as_bytes())?;
        let mut cells = Journal::open(&self.lock, CELLS)?;
        cells.append(&done)?;
        cells.sync()?;
        self.done.push(done);
        Ok(())
    }

    /// Writes what the study has come to: table, data and picture.
    fn publish(&self, study: &Study, request: &Request) -> Result<String> {
        let text = table::markdown(study, request, &self.done);
        self.write(Path::new(TABLE), text.as_bytes())?;
        let results = serde_json::json!({ "request": request, "title": study.title, "runs": self.done });
        self.write(Path::new(RESULTS), (serde_json::to_string(&results)? + "\n").as_bytes())?;
        if let Some(picture) = table::plot(study, &self.done) {
            self.write(Path::new("plot.svg"), picture.svg().as_bytes())?;
            self.write(Path::new("plot.png"), &raster::png(&picture, 1.0)?)?;
        }
        Ok(text)
    }

    fn write(&self, name: &Path, bytes: &[u8]) -> Result<()> {
        let file = self.path.join(name);
        write_whole(&file, bytes).with_context(|| format!("cannot write {}", file.display()))
    }
}

/// Reads what a study was asked for.
pub fn read_request(path: &Path) -> Result<Request> {
    claim::read_request(path, STUDY)
}

/// Runs what is left of a study and prints it.
pub fn run(request: &Request, path: &Path, json: bool, quiet: bool) -> Result<()> {
    let study = papers::study(request)?;
    let (mut folder, resumed) = Folder::open(path, request)?;
    let stop = crate::session::stop_on_signals()?;
    let had: HashSet<(String, String, u64)> =
        folder.done.iter().map(|done| (done.row.clone(), done.column.clone(), done.seed)).collect();
    let runs: u64 = study.cells.iter().map(|cell| cell.seeds as u64).sum();
    if !quiet {
        output::say(&format!("{}: {runs} runs in {}", study.title, path.display()));
        if resumed {
            output::say(&format!("going on: {} runs were done before", folder.done.len()));
        }
    }
    // Seed by seed: a study stopped half-way has every cell.
    let seeds = study.cells.iter().map(|cell| cell.seeds).max().unwrap_or(0) as u64;
    for seed in 1..=seeds {
        for cell in study.cells.iter().filter(|cell| seed <= cell.seeds as u64) {
            if had.contains(&(cell.row.clone(), cell.column.clone(), seed)) {
                continue;
            }
            let done = run_cell(cell, seed, &stop)?;
            if done.reason == StopReason::Asked {
                output::say(&format!("stopped; {} goes on", output::command("resume", path)));
                folder.publish(&study, request)?;
                return Ok(());
            }
            if !quiet {
                let score = output::score(done.score);
                let spent = duration::show(done.seconds);
                output::say(&format!("{:>10} {:14} seed {seed}: {score} in {spent}", done.row, done.column));
            }
            let record = record(cell, &done);
            if let Err(error) = folder.add(&record, done) {
                // The folder does not have it: here it is.
                output::print(&record.to_text())?;
                return Err(error.context(format!("cannot write to {}", path.display())));
            }
        }
        folder.publish(&study, request).with_context(|| format!("cannot write to {}", path.display()))?;
    }
    let text = folder.publish(&study, request)?;
    if json {
        let rows = folder.done.iter().map(|done| {
            serde_json::json!({
                "row": done.row, "column": done.column, "seed": done.seed, "score": number(done.score),
                "facts": done.facts.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                "playouts": done.playouts, "seconds": rounded(done.seconds), "reason": done.reason,
            })
        });
        let rows: Vec<_> = rows.collect();
        output::print_json(&serde_json::json!({ "study": request.study, "folder": path, "runs": rows }))
    } else {
        output::print(&text)?;
        output::print(&format!("\nin {}: {TABLE}, {RESULTS}, {CELLS}, records/", path.display()))
    }
}

/// The solution of a run with its origin.
fn record(cell: &Cell, done: &Done) -> Record {
    Record {
        instance: cell.instance.clone(),
        score: done.score,
        fields: vec![
            ("search".into(), searches::describe(&cell.search)),
            ("seed".into(), done.seed.to_string()),
            ("found".into(), clock::now()),
            ("version".into(), format!("sortie {}", env!("CARGO_PKG_VERSION"))),
        ],
        moves: done.moves.clone(),
    }
}

fn run_cell(cell: &Cell, seed: u64, stop: &AtomicBool) -> Result<Done> {
    let instance = Instance::open(&cell.instance)?;
    let curve = Mutex::new(Vec::new());
    let observer = |event: Event| {
        if let Event::Improved { score, playouts, seconds, .. } = event {
            let mut curve = curve.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            if curve.last().is_none_or(|&(_, _, best)| score > best) {
                curve.push((seconds, playouts, score));
            }
        }
    };
    let control = Control::new(cell.limits.clone(), stop, &observer);
    let spec = BestOf { search: cell.search.clone(), seed, streams: cell.streams, threads: cell.threads };
    let outcomes = instance.problem()?.solve(&spec, &control, Vec::new());
    let best = outcomes.best.ok_or_else(|| anyhow!("{}: no playout within the limits", cell.instance))?;
    let position = instance.verify(&best.moves).context("the search returned moves that do not replay")?;
    let (seconds, cpu_seconds) = (control.seconds(), control.cpu_seconds());
    Ok(Done {
        row: cell.row.clone(),
        column: cell.column.clone(),
        seed,
        score: best.score,
        facts: position.facts.iter().map(|&(key, value)| (key.to_string(), value)).collect(),
        playouts: outcomes.playouts,
        seconds,
        cpu_seconds,
        reason: outcomes.reason,
        curve: std::mem::take(&mut *curve.lock().unwrap_or_else(|poisoned| poisoned.into_inner())),
        moves: best.moves,
    })
}

fn file_name(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
