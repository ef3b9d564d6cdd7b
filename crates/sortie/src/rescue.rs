//! `sortie doctor --folder`: what of a run folder is whole, what is damaged, and what of that can be read all the same. The
//! folder stays as it is; `--save` makes another one of what can be read, which `sortie resume` goes on with.

use crate::output;
use crate::source::{Instance, plain};
use anyhow::{Context, Result, anyhow, bail};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sortie_core::Record;
use sortie_runs::checkpoint::Checkpoint;
use sortie_runs::folder::{
    self, CHECKPOINT, EVENTS, INSTANCE, LOCK, RECORD, RESULT, instance_copy, write_whole,
};
use sortie_runs::game::Game;
use sortie_runs::job::JobLine;
use sortie_runs::kind::{GAMES, JOBS, Kind, SPEC};
use sortie_runs::limits::LOG_BYTES_MAX;
use sortie_runs::spec::Spec;
use sortie_runs::text::read_inside;
use std::path::{Path, PathBuf};

/// How a file of the folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Whole,
    /// It ends in the middle of a line, as a crash leaves it: whoever goes on with the run mends that.
    Torn,
    Damaged,
}

/// A file, and what can be saved of it.
struct Finding {
    name: String,
    state: State,
    told: String,
    /// Its bytes as they are to be saved; `None`: nothing of it can be read.
    saved: Option<Vec<u8>>,
}

/// What was found in a folder.
pub struct Findings {
    folder: PathBuf,
    kind: Kind,
    all: Vec<Finding>,
}

/// Looks at a folder that nobody is working in.
pub fn look(path: &Path) -> Result<Findings> {
    if path.is_file() {
        bail!(
            "{}: a file: `sortie verify` checks records and proofs, `sortie db check` databases",
            path.display()
        );
    }
    let entries = path.read_dir().map_err(|error| anyhow!("{}: {}", path.display(), plain(&error)))?;
    let kind = Kind::of(path);
    if kind == Kind::Foreign {
        bail!("{}: not a run folder", path.display());
    }
    // Who is at work writes: half a line is no damage then.
    let _locked = if path.join(LOCK).is_file() { Some(folder::lock(path)?) } else { None };
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.retain(|name| name != LOCK && !(name.starts_with('.') && name.ends_with(".tmp")));
    names.sort();
    let opened = opened(path);
    let mut all: Vec<Finding> = names.iter().map(|name| finding(path, name, kind, &opened)).collect();
    if !names.iter().any(|name| name == kind.request()) {
        let told = "it is not there: nobody can tell what this run was asked for".to_string();
        all.push(Finding { name: kind.request().into(), state: State::Damaged, told, saved: None });
    }
    if let Ok(instance) = &opened {
        rescue_record(path, instance, &mut all);
    }
    Ok(Findings { folder: path.to_path_buf(), kind, all })
}

/// The instance of a search for a solution.
fn opened(path: &Path) -> Result<Instance> {
    let text = String::from_utf8(read(path, SPEC)?)?;
    let spec: Spec = toml::from_str(&text)?;
    let instance = Instance::open_copy(&spec.instance, instance_copy(path, &spec.instance))?;
    instance.problem()?;
    Ok(instance)
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    read_inside(&folder.join(name), LOG_BYTES_MAX).map_err(|message| anyhow!("{name}: {message}"))
}

fn finding(folder: &Path, name: &str, kind: Kind, instance: &Result<Instance>) -> Finding {
    let of = |state, told: String, saved| Finding { name: name.to_string(), state, told, saved };
    let whole = |told: &str, bytes: Vec<u8>| of(State::Whole, told.to_string(), Some(bytes));
    let damaged = |why: String| of(State::Damaged, why, None);
    if folder.join(name).is_dir() {
        return of(State::Whole, "a folder, which was not looked into".into(), None);
    }
    let bytes = match read(folder, name) {
        Ok(bytes) => bytes,
        Err(error) => return damaged(format!("{error:#}")),
    };
    let checked = |check: Result<String>, bytes| match check {
        Ok(told) => whole(&told, bytes),
        Err(error) => damaged(format!("{error:#}").lines().next().unwrap_or_default().to_string()),
    };
    match name {
        GAMES => log::<Game>(name, &bytes),
        JOBS => log::<JobLine>(name, &bytes),
        _ if name.ends_with(".jsonl") => log::<Value>(name, &bytes),
        RECORD => checked(record(&bytes, instance), bytes),
        CHECKPOINT => {
            let read = Checkpoint::from_bytes(&bytes);
            let told = read.map(|checkpoint| format!("{} streams", checkpoint.streams.len()));
            checked(told.context("it does not fit its checksum, or is of another version"), bytes)
        }
        RESULT => {
            let read = serde_json::from_slice::<Value>(&bytes).map(|_| String::new());
            checked(read.map_err(anyhow::Error::from), bytes)
        }
        _ if name == kind.request() || name.ends_with(".toml") => {
            let read = String::from_utf8(bytes.clone()).map_err(anyhow::Error::from);
            let read = read.and_then(|text| Ok(toml::from_str::<toml::Table>(&text)?));
            checked(read.map(|_| String::new()), bytes)
        }
        INSTANCE => {
            checked(instance.as_ref().map(|_| String::new()).map_err(|error| anyhow!("{error:#}")), bytes)
        }
        _ => whole("not looked into", bytes),
    }
}

/// A record is what its moves are worth.
fn record(bytes: &[u8], instance: &Result<Instance>) -> Result<String> {
    let record =
        Record::parse(std::str::from_utf8(bytes)?).map_err(|e| anyhow!("line {}: {}", e.line, e.message))?;
    let Ok(instance) = instance else { return Ok(format!("it says {}", output::score(record.score))) };
    let worth = instance.verify(&record.moves)?.score;
    if (worth - record.score).abs() > 1e-6 * worth.abs().max(1.0) {
        bail!("it says {} of moves that are worth {}", output::score(record.score), output::score(worth));
    }
    Ok(output::score(worth))
}

/// A log: its lines that are whole.
fn log<T: DeserializeOwned>(name: &str, bytes: &[u8]) -> Finding {
    let (mut kept, mut lines, mut broken, mut torn) = (Vec::new(), 0u64, Vec::new(), false);
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1u64..) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<T>(line) {
            Ok(_) => {
                lines += 1;
                kept.extend_from_slice(line.trim_ascii_end());
                kept.push(b'\n');
            }
            Err(_) if !line.ends_with(b"\n") => torn = true,
            Err(_) => broken.push(number),
        }
    }
    let count = output::count(lines);
    // A crash may leave any event: nobody promises them.
    let (state, told) = match (broken.first(), torn) {
        (Some(first), _) => {
            let state = if name == EVENTS { State::Torn } else { State::Damaged };
            (
                state,
                format!("{count} lines are whole; {} are not, the first of them line {first}", broken.len()),
            )
        }
        (None, true) => (State::Torn, format!("{count} lines, and a last one that was cut off")),
        (None, false) => (State::Whole, format!("{count} lines")),
    };
    Finding { name: name.to_string(), state, told, saved: Some(kept) }
}

/// A record that is damaged or gone, out of what else tells of solutions: the best that replays.
fn rescue_record(folder: &Path, instance: &Instance, all: &mut Vec<Finding>) {
    let streams = read(folder, CHECKPOINT).ok().and_then(|bytes| Checkpoint::from_bytes(&bytes));
    let streams = streams.map(|checkpoint| checkpoint.streams).unwrap_or_default();
    let mut found: Vec<Vec<String>> = streams.into_iter().filter_map(|s| Some(s.best?.moves)).collect();
    let result = read(folder, RESULT).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    found.extend(result.and_then(|mut result| serde_json::from_value(result["moves"].take()).ok()));
    let worth = |moves: Vec<String>| Some((instance.verify(&moves).ok()?.score, moves));
    let best = found.into_iter().filter_map(worth).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((score, moves)) = best else { return };
    let known = all.iter_mut().find(|finding| finding.name == RECORD);
    if known.as_ref().is_some_and(|known| known.state == State::Whole) {
        return;
    }
    let fields =
        vec![("source".to_string(), "saved from the checkpoint or the result of its run".to_string())];
    let record = Record { instance: instance.name.clone(), score, fields, moves };
    let saved = Some(record.to_text().into_bytes());
    let told = format!("; {} is in another file of the run", output::score(score));
    match known {
        Some(known) => {
            known.told += &told;
            known.saved = saved;
        }
        None => all.push(Finding {
            name: RECORD.into(),
            state: State::Damaged,
            told: format!("it is not there{told}"),
            saved,
        }),
    }
}

impl Findings {
    /// Whether nothing is damaged.
    pub fn is_whole(&self) -> bool {
        self.all.iter().all(|finding| finding.state != State::Damaged)
    }

    /// Makes a folder of what can be read. It must not be there.
    pub fn save(&self, to: &Path) -> Result<()> {
        if to.exists() {
            bail!("{} is there already: give --save another folder", to.display());
        }
        sortie_disk::create_dir_all(to)
            .with_context(|| format!("cannot make the folder {}", to.display()))?;
        for finding in &self.all {
            if let Some(bytes) = &finding.saved {
                let file = to.join(&finding.name);
                write_whole(&file, bytes).with_context(|| format!("cannot write {}", file.display()))?;
            }
        }
        Ok(())
    }

    /// For programs.
    pub fn to_json(&self, saved: Option<&Path>) -> Value {
        let one = |finding: &Finding| {
            let state = word(finding.state);
            json!({ "file": finding.name, "state": state, "found": finding.told, "readable": finding.saved.is_some() })
        };
        json!({
            "folder": output::path(&self.folder), "kind": self.kind.name(), "whole": self.is_whole(),
            "files": self.all.iter().map(one).collect::<Vec<_>>(), "saved": saved.map(output::path),
        })
    }

    /// For people.
    pub fn text(&self, saved: Option<&Path>) -> String {
        let width = self.all.iter().map(|finding| finding.name.len()).max().unwrap_or(0);
        let mut lines = vec![format!("{}: {}", self.folder.display(), self.kind.name())];
        for Finding { name, state, told, .. } in &self.all {
            lines.push(format!("{:8} {name:width$}  {told}", word(*state)).trim_end().to_string());
        }
        let folder = self.folder.display();
        lines.push(match (self.is_whole(), saved) {
            (_, Some(to)) => format!("what can be read is in {}; {folder} is as it was", to.display()),
            (true, None) => "nothing is damaged".into(),
            (false, None) => format!("`sortie doctor --folder {folder} --save NEW` saves what can be read"),
        });
        lines.join("\n")
    }
}

fn word(state: State) -> &'static str {
    match state {
        State::Whole => "whole",
        State::Torn => "torn",
        State::Damaged => "DAMAGED",
    }
}
