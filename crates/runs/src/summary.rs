//! A run folder at a glance: what kind it is, how it stands, what it was told, its best. Reading never fails:
//! what is missing, torn or foreign becomes a sentence in `trouble`. Nothing is written and no lock is taken.

use crate::curve::History;
use crate::event::Glance;
use crate::folder::{EVENTS, FORMAT, LOCK, RECORD, RESULT};
use crate::kind::{GAMES, JOBS, Kind, SPEC};
use crate::lines::read_back;
use crate::text::{line_of, plain, plain_file, read_whole};
use crate::told::Told;
use serde_json::Value;
use sortie_core::Record;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Who has written nothing for so long is not at work, if the lock cannot tell.
const SILENT_SECONDS: f64 = 5.0;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Somebody is at work.
    Running,
    /// It came to its end.
    Finished,
    /// Somebody asked it to stop; it can go on.
    Stopped,
    /// It ended without a word: killed, or the machine went down; it can go on.
    Interrupted,
    /// Nothing tells.
    Unknown,
}

impl State {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Finished => "finished",
            State::Stopped => "stopped",
            State::Interrupted => "interrupted",
            State::Unknown => "idle",
        }
    }
}

/// A folder at a glance.
#[derive(Debug, Clone)]
pub struct Summary {
    /// Its name under the served folder.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub kind: Kind,
    /// How it stands.
    pub state: State,
    /// What it was told.
    pub told: Told,
    /// The best score.
    pub best: Option<f64>,
    /// Playouts so far.
    pub playouts: Option<f64>,
    /// Playouts a second, lately.
    pub rate: Option<f64>,
    /// Wall time of the run.
    pub seconds: Option<f64>,
    /// Since the last sign of life.
    pub age: Option<f64>,
    /// Why it ended.
    pub reason: Option<String>,
    /// Games of a match.
    pub games: Option<u64>,
    /// Answers of a proof search.
    pub jobs: Option<u64>,
    /// What is wrong with the folder, a sentence each.
    pub trouble: Vec<String>,
}

impl Summary {
    /// Looks at a folder: a few small reads, and a count of its games or jobs.
    pub fn read(name: &str, path: &Path) -> Summary {
        let mut summary = Summary::glance(name, path);
        let count = |file: &str| count_lines(&path.join(file)).ok();
        match summary.kind {
            Kind::Foreign => {}
            Kind::Prove => summary.jobs = count(JOBS),
            _ => summary.games = count(GAMES),
        }
        summary
    }

    /// The same without the count: a few small reads, however long the run.
    pub fn glance(name: &str, path: &Path) -> Summary {
        let kind = Kind::of(path);
        let mut summary = Summary {
            name: name.to_string(),
            path: path.to_path_buf(),
            kind,
            state: State::Unknown,
            told: Told::default(),
            best: None,
            playouts: None,
            rate: None,
            seconds: None,
            age: age(&path.join(kind.log())).or(age(path)),
            reason: None,
            games: None,
            jobs: None,
            trouble: Vec::new(),
        };
        match kind {
            Kind::Foreign => summary.trouble.push(
                "This folder holds no run of Sortie: none of spec.toml, match.toml, tune.toml, prove.toml, scale.toml or \
                 study.toml is in it."
                    .into(),
            ),
            Kind::Torn => summary.trouble.push(
                format!(
                    "Files of a run are here, but {} is missing, which says what was run. If it was deleted, put it \
                     back from a copy; what is left is shown below.",
                    missing(path)
                ),
            ),
            _ => summary.read_request(),
        }
        if kind != Kind::Foreign {
            summary.read_result();
            summary.read_tail();
        }
        summary.state = summary.state();
        summary
    }

    /// How long ago the last sign of life is, by now.
    pub fn look_at_age(&mut self) {
        self.age = age(&self.path.join(self.kind.log())).or(age(&self.path));
    }

    fn read_request(&mut self) {
        let path = self.path.join(self.kind.request());
        let name = self.kind.request();
        let text = match read_whole(&path) {
            Ok(text) => text,
            Err(message) => return self.trouble.push(format!("{name} cannot be read: {message}.")),
        };
        let table: toml::Table = match toml::from_str(&text) {
            Ok(table) => table,
            Err(error) => {
                let line = line_of(&text, &error);
                let message = error.message().lines().next().unwrap_or_default().to_string();
                return self.trouble.push(format!("{name} is damaged at line {line}: {message}."));
            }
        };
        match table.get("format").and_then(toml::Value::as_integer) {
            Some(format) if format == i64::from(FORMAT) => {}
            Some(other) => self.trouble.push(format!(
                "{name} has format {other}, and this program reads format {FORMAT}: what is shown may be wrong."
            )),
            None => self.trouble.push(format!("{name} does not say its format: it may not be of Sortie.")),
        }
        self.told = Told::of(&table);
    }

    fn read_result(&mut self) {
        if let Ok(text) = read_whole(&self.path.join(RESULT)) {
            match serde_json::from_str::<Value>(&text) {
                Ok(result) => {
                    let number = |key: &str| result.get(key).and_then(Value::as_f64);
                    self.best = number("score");
                    self.playouts = number("playouts");
                    self.seconds = number("seconds");
                    self.rate = number("playouts_per_second");
                    self.reason = result.get("reason").and_then(Value::as_str).map(str::to_string);
                    // Matches and tunings say it this way.
                    if let Some(finished) = result.get("finished").and_then(Value::as_bool) {
                        self.reason = Some(if finished { "done" } else { "asked" }.into());
                    }
                    // And proof searches this way: null if somebody asked them to stop.
                    if let Some(ended) = result.get("ended") {
                        self.reason = Some(ended.as_str().unwrap_or("asked").into());
                    }
                }
                Err(error) => self.trouble.push(format!("{RESULT} is damaged: {error}.")),
            }
        }
    }

    /// The last events, which tell what is newer than the result.
    fn read_tail(&mut self) {
        let lines = match read_back(&self.path.join(EVENTS), u64::MAX, 16 << 10, 60) {
            Ok(lines) => lines,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if self.kind == Kind::Solve {
                    self.trouble.push(
                        "events.jsonl is missing: there is no curve to show. A run that has just begun will write it \
                         in a moment."
                            .into(),
                    );
                }
                return;
            }
            Err(error) => return self.trouble.push(format!("{EVENTS} cannot be read: {}.", plain(&error))),
        };
        let events: Vec<Glance> =
            lines.iter().filter_map(|(_, line)| Glance::parse(line.as_bytes())).collect();
        let progress: Vec<(f64, f64)> = events
            .iter()
            .filter(|event| event.event != "improved")
            .filter_map(|event| event.seconds.zip(event.playouts))
            .collect();
        let Some(last) = events.last() else { return };
        self.seconds = events.iter().rev().find_map(|event| event.seconds).or(self.seconds);
        self.best = events.iter().rev().find_map(Glance::best_by_then).or(self.best);
        if let (Some(first), Some(last)) = (progress.first(), progress.last()) {
            self.playouts = Some(last.1);
            // A result tells the rate of the whole run; while it goes on, the lately one is of interest.
            if last.0 > first.0 && self.reason.is_none() {
                self.rate = Some((last.1 - first.1) / (last.0 - first.0));
            }
        }
        if last.event == "finished" {
            self.reason = last.reason.as_deref().map(str::to_string);
        }
    }

    fn state(&self) -> State {
        if self.kind == Kind::Foreign {
            return State::Unknown;
        }
        match (locked(&self.path.join(LOCK)), self.reason.as_deref()) {
            (Some(true), _) => State::Running,
            (_, Some("asked")) => State::Stopped,
            (_, Some(_)) => State::Finished,
            // The lock may be held on another machine that shares the folder.
            (_, None) if self.age.is_some_and(|age| age < SILENT_SECONDS) => State::Running,
            (_, None) if matches!(self.kind, Kind::Study | Kind::Scale) => State::Unknown,
            (_, None) => State::Interrupted,
        }
    }

    /// The events, as a curve.
    pub fn history(&self) -> io::Result<History> {
        History::read(&self.path.join(EVENTS))
    }

    /// The best record, with what is wrong with it.
    pub fn record(&self) -> Result<Option<Record>, String> {
        let path = self.path.join(RECORD);
        if !path.exists() {
            return Ok(None);
        }
        let text = read_whole(&path).map_err(|message| format!("{RECORD} cannot be read: {message}"))?;
        Record::parse(&text)
            .map(Some)
            .map_err(|e| format!("{RECORD} is damaged at line {}: {}", e.line, e.message))
    }

    /// Runs that differ in their seed alone have the same label.
    pub fn group(&self) -> (String, String) {
        (self.told.instance.clone(), self.told.search.clone())
    }
}

/// The request that belongs to the files of a folder without one.
fn missing(path: &Path) -> &'static str {
    match path {
        path if path.join(JOBS).is_file() => Kind::Prove.request(),
        path if path.join(GAMES).is_file() => "match.toml, tune.toml or scale.toml",
        _ => SPEC,
    }
}

/// Seconds since a file was written. One of the future was written before the clock stepped back, and nobody knows when:
/// whoever still writes has written since, so it is as old as it is ahead.
fn age(path: &Path) -> Option<f64> {
    let written = fs::metadata(path).ok()?.modified().ok()?;
    let age = SystemTime::now().duration_since(written).unwrap_or_else(|ahead| ahead.duration());
    Some(age.as_secs_f64())
}

/// Whether somebody holds the lock; `None` where that cannot be seen without taking it, which would get in the way of
/// a run that is just starting.
#[cfg(target_os = "linux")]
fn locked(path: &Path) -> Option<bool> {
    use std::os::unix::fs::MetadataExt;
    let meta = fs::metadata(path).ok()?;
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`: the sixth word ends with the number of the file.
    let inode = meta.ino().to_string();
    let ours = |line: &str| {
        let place = line.split_whitespace().find(|word| word.matches(':').count() == 2);
        place.is_some_and(|place| place.rsplit(':').next() == Some(inode.as_str()))
    };
    Some(locks.lines().filter(|line| line.contains("FLOCK")).any(ours))
}

#[cfg(not(target_os = "linux"))]
fn locked(_: &Path) -> Option<bool> {
    None
}

/// Line breaks of a file.
fn count_lines(path: &Path) -> io::Result<u64> {
    plain_file(path)?;
    let mut file = File::open(path)?;
    let (mut count, mut buffer) = (0, vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(count),
            n => count += buffer[..n].iter().filter(|&&byte| byte == b'\n').count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = "format = 1\nsortie = \"0.1.0\"\ninstance = \"samegame/1\"\nseed = 7\nstreams = 2\nthreads = 1\n\
                        [search]\nname = \"nrpa\"\nlevel = 3\niterations = 100\nalpha = 1.0\nbias = false\n\
                        selective = true\nparallel = \"none\"\nworkers = 0\n[limits]\nseconds = 60.0\n";

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, Summary) {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(home.path().join(name), text).unwrap();
        }
        let summary = Summary::read("x", home.path());
        (home, summary)
    }

    #[test]
    fn a_run_is_read() {
        let events = "{\"event\":\"progress\",\"seconds\":1,\"playouts\":100,\"best\":5}\n\
                      {\"event\":\"progress\",\"seconds\":3,\"playouts\":500,\"best\":6}\n";
        let (_home, run) = folder(&[(SPEC, TOLD), (EVENTS, events)]);
        assert_eq!((run.kind, run.state), (Kind::Solve, State::Running), "just written");
        assert_eq!((run.best, run.playouts, run.rate), (Some(6.0), Some(500.0), Some(200.0)));
        assert_eq!(run.told.search, "nrpa level 3, iterations 100, selective");
        assert_eq!((run.told.seed, run.told.limits.as_str()), (Some(7), "1m 00s"));
        assert!(run.trouble.is_empty(), "{:?}", run.trouble);
    }

    /// Defect 11: the log of a dead run was written in the future, and so it ran until then.
    #[test]
    fn a_clock_that_steps_back_does_not_bring_the_dead_to_life() {
        let (home, _) = folder(&[(SPEC, TOLD), (EVENTS, "")]);
        let log = File::options().append(true).open(home.path().join(EVENTS)).unwrap();
        for (seconds, state) in [(3600, State::Interrupted), (5, State::Running)] {
            log.set_modified(SystemTime::now() + std::time::Duration::from_secs(seconds)).unwrap();
            assert_eq!(Summary::read("x", home.path()).state, state, "{seconds} s ahead");
        }
    }

    #[test]
    fn ends_are_told_apart() {
        let end = |reason: &str| {
            let result = format!("{{\"score\":9,\"reason\":\"{reason}\",\"playouts\":5}}");
            folder(&[(SPEC, TOLD), (EVENTS, ""), (RESULT, &result)]).1
        };
        assert_eq!((end("time").state, end("asked").state), (State::Finished, State::Stopped));
        assert_eq!(end("time").best, Some(9.0));
    }

    #[test]
    fn broken_folders_are_explained() {
        for (files, says) in [
            (vec![], "no run of Sortie"),
            (vec![(EVENTS, "")], "spec.toml is missing"),
            (vec![(SPEC, "format = 1\nseed = ")], "damaged at line 2"),
            (vec![(SPEC, "format = 9\n")], "format 9"),
            (vec![(SPEC, "a = 1\n")], "does not say its format"),
            (vec![(SPEC, TOLD)], "events.jsonl is missing"),
            (vec![(SPEC, TOLD), (EVENTS, ""), (RESULT, "{\"sco")], "result.json is damaged"),
        ] {
            let (_home, run) = folder(&files);
            assert!(run.trouble.join(" ").contains(says), "{files:?}: {:?}", run.trouble);
        }
        let (_home, run) = folder(&[(SPEC, TOLD), (RECORD, "nonsense")]);
        assert!(run.record().unwrap_err().contains("line 1"));
    }
}
