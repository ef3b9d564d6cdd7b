//! The commands that are tried on simulated disks, and what must be so of their folders whenever the power is back.

use crate::journal;
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use sortie_core::Record;
use std::path::Path;

/// A command.
pub struct Subject {
    /// What it is called here.
    pub name: &'static str,
    /// How it is begun.
    pub begin: &'static [&'static str],
    /// How it is gone on with.
    pub go_on: &'static [&'static str],
    /// The file without which it has not begun.
    pub request: &'static str,
    /// What a complaint about its disk may name.
    pub names: &'static [&'static str],
    /// What it comes to, of its result, whatever happened on the way.
    pub end: fn(&Value) -> Value,
    /// Whether its folder holds what was announced, and nothing false.
    pub look: fn(&Look) -> Result<()>,
    /// Commands that read what it has left, and when they must be able to.
    pub readers: &'static [(&'static [&'static str], Needs)],
    /// Files that it reads, there from the beginning.
    pub files: &'static [(&'static str, &'static str)],
}

/// When there is something to read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// As soon as this file is there.
    File(&'static str),
    /// Once it has come to a result.
    Result,
}

/// What there is to look at.
pub struct Look<'a> {
    /// The disk.
    pub root: &'a Path,
    /// A disk on which the command came to its end.
    pub whole: &'a Path,
    /// All that people were told, by all machines so far.
    pub told: &'a str,
    /// The result that was told, on a disk that had not failed.
    pub result: Option<&'a Value>,
}

/// What a run folder is called on every disk.
const RUN: &str = "runs/new/run";
const VERIFY: (&[&str], Needs) = (&["verify", RUN], Needs::Result);
const REPORT: (&[&str], Needs) = (&["report", RUN], Needs::Result);
const CHECK: (&[&str], Needs) = (&["db", "check", "proved.db", "--all"], Needs::File("proved.db"));

/// All of them.
pub const SUBJECTS: [Subject; 9] = [
    Subject {
        name: "solve",
        begin: &[
            "solve",
            "samegame/1",
            "--search",
            "nrpa",
            "--level",
            "2",
            "--iterations",
            "8",
            "--seed",
            "3",
            "--best-of",
            "2",
            "--threads",
            "1",
            "--checkpoint-every",
            "1ms",
            "--json",
            "--out",
            RUN,
        ],
        go_on: &["resume", RUN, "--checkpoint-every", "1ms", "--json"],
        request: "runs/new/run/spec.toml",
        names: &[RUN],
        end: |result| json!([result["score"], result["moves"], result["playouts"]]),
        look: solved,
        readers: &[VERIFY, REPORT],
        files: &[],
    },
    Subject {
        name: "many",
        begin: &MANY,
        go_on: &MANY,
        request: "runs/new/run/samegame-1/seed-1/spec.toml",
        names: &[RUN],
        end: |result| {
            let told = |run: &Value| json!([run["instance"], run["seed"], run["score"]]);
            result["runs"].as_array().map(|runs| runs.iter().map(told).collect()).unwrap_or_default()
        },
        look: |_| Ok(()),
        readers: &[(&["verify", "runs/new/run/samegame-1/seed-1"], Needs::Result), REPORT],
        files: &[],
    },
    Subject {
        name: "match",
        begin: &[
            "match",
            "tictactoe/3",
            "--player",
            "plain",
            "--player",
            "random",
            "--limit",
            "30playouts",
            "--games",
            "12",
            "--seed",
            "5",
            "--concurrency",
            "1",
            "--json",
            "--out",
            RUN,
        ],
        go_on: &["resume", RUN, "--json"],
        request: "runs/new/run/match.toml",
        names: &[RUN],
        end: |result| json!([result["games"], result["players"], result["pairings"]]),
        look: |look| kept(look, "games.jsonl", &["seconds", "thought_seconds"]),
        readers: &[VERIFY, REPORT],
        files: &[],
    },
    Subject {
        name: "tune",
        begin: &[
            "tune",
            "tictactoe/3",
            "--player",
            "default",
            "--param",
            "c=0.1..2.0",
            "--against",
            "plain",
            "--games",
            "8",
            "--limit",
            "20playouts",
            "--concurrency",
            "1",
            "--json",
            "--out",
            RUN,
        ],
        go_on: &["resume", RUN, "--json"],
        request: "runs/new/run/tune.toml",
        names: &[RUN],
        end: |result| json!([result["games"], result["optimum"], result["score"]]),
        look: |look| kept(look, "games.jsonl", &["seconds", "thought_seconds"]),
        readers: &[VERIFY, REPORT],
        files: &[],
    },
    Subject {
        name: "prove",
        begin: &[
            "prove",
            "nim/9",
            "--job-nodes",
            "2",
            "--workers",
            "1",
            "--seed",
            "1",
            "--proof",
            "game.proof",
            "--json",
            "--out",
            RUN,
        ],
        go_on: &["resume", RUN, "--json"],
        request: "runs/new/run/prove.toml",
        names: &[RUN, "game.proof"],
        end: |result| json!([result["value"], result["proved"], result["ended"]]),
        look: proved,
        readers: &[REPORT],
        files: &[],
    },
    Subject {
        name: "database",
        begin: &[
            "prove",
            "nim/9",
            "--job-nodes",
            "2",
            "--workers",
            "1",
            "--seed",
            "1",
            "--db",
            "proved.db",
            "--json",
            "--out",
            RUN,
        ],
        go_on: &["resume", RUN, "--json"],
        request: "runs/new/run/prove.toml",
        names: &[RUN, "proved.db"],
        end: |result| json!([result["value"], result["proved"], result["ended"]]),
        look: |look| match look.result {
            Some(_) if !look.root.join("proved.db").exists() => {
                Err(anyhow!("a result was told and there is no database"))
            }
            _ => Ok(()),
        },
        readers: &[REPORT, CHECK],
        files: &[],
    },
    Subject {
        name: "fill",
        begin: &FILL,
        go_on: &FILL,
        request: "proved.db",
        names: &["proved.db"],
        // As far as it gets in its time.
        end: |_| Value::Null,
        look: |_| Ok(()),
        readers: &[CHECK],
        files: &[],
    },
    Subject {
        name: "campaign",
        begin: &CAMPAIGN,
        go_on: &CAMPAIGN,
        request: "runs/new/run/campaign.toml",
        names: &[RUN],
        end: |_| Value::Null,
        look: campaigned,
        readers: &[],
        files: &[(
            "plan.toml",
            "name = 'disk'\nslice_seconds = 0.01\n[[cells]]\ninstance = 'samegame/1'\n[[cells]]\ninstance = 'samegame/2'\n\
             [[searches]]\nname = 'nrpa'\nlevel = 1\niterations = 20\n",
        )],
    },
    Subject {
        name: "study",
        begin: &[
            "paper",
            "samegame-table1",
            "--rows",
            "1..2",
            "--time",
            "0.05s",
            "--threads",
            "1",
            "--json",
            "--out",
            RUN,
        ],
        go_on: &["resume", RUN, "--json"],
        request: "runs/new/run/study.toml",
        names: &[RUN],
        end: |_| Value::Null,
        look: |_| Ok(()),
        readers: &[],
        files: &[],
    },
];

const MANY: [&str; 16] = [
    "solve",
    "samegame/1",
    "samegame/2",
    "--seeds",
    "2",
    "--search",
    "nrpa",
    "--level",
    "1",
    "--iterations",
    "8",
    "--threads",
    "1",
    "--json",
    "--out",
    RUN,
];
const FILL: [&str; 7] = ["db", "fill", "proved.db", "connect6/19", "--time", "0.3s", "--json"];
const CAMPAIGN: [&str; 9] =
    ["campaign", "plan.toml", "--time", "0.2s", "--threads", "1", "--json", "--out", RUN];

/// By name, or all.
pub fn named(names: &[String]) -> Result<Vec<&'static Subject>> {
    if names.is_empty() {
        return Ok(SUBJECTS.iter().collect());
    }
    let all = || SUBJECTS.iter().map(|subject| subject.name).collect::<Vec<_>>().join(", ");
    let named = |name: &String| {
        let found = SUBJECTS.iter().find(|subject| subject.name == name);
        found.ok_or_else(|| anyhow!("--commands {name}: expected {}", all()))
    };
    names.iter().map(named).collect()
}

/// The lines of a log of the run.
fn lines(root: &Path, name: &str) -> Result<Vec<Value>> {
    journal::read(&root.join("runs/new/run").join(name))
}

fn solved(look: &Look) -> Result<()> {
    let folder = look.root.join(RUN);
    let score = match std::fs::read_to_string(folder.join("best.record")) {
        Ok(text) => Some(Record::parse(&text).context("best.record")?.score),
        Err(_) => None,
    };
    // `   0.02 s  best 563 points (stream 1)`, which stays; lines without a stream only say how it stands.
    let improved = look.told.lines().filter(|line| line.contains("(stream "));
    let announced =
        improved.filter_map(|line| line.split(" best ").nth(1)?.split(' ').next()?.parse::<f64>().ok());
    let announced = announced.reduce(f64::max);
    if announced.is_some_and(|announced| score.is_none_or(|score| score < announced)) {
        bail!("{announced:?} was announced and the record has {score:?}");
    }
    // Nobody promises events: a crash leaves of them what it likes, and readers pass over what is none.
    let events = std::fs::read_to_string(folder.join("events.jsonl")).unwrap_or_default();
    for event in events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let told = event["score"].as_f64().filter(|_| event["event"] == "improved");
        if told.is_some_and(|told| score.is_none_or(|score| score < told)) {
            bail!("events.jsonl tells of {told:?} and the record has {score:?}");
        }
    }
    if let Some(result) = look.result {
        let kept = std::fs::read_to_string(folder.join("result.json")).context("result.json")?;
        let kept: Value = serde_json::from_str(&kept).context("result.json")?;
        if kept["score"] != result["score"] {
            bail!("{} was told and result.json has {}", result["score"], kept["score"]);
        }
    }
    Ok(())
}

/// Every line of a log that is there is one of the undisturbed run, but for what the clock says, and is there once; all are
/// there when the result was told.
fn kept(look: &Look, name: &str, times: &[&str]) -> Result<()> {
    let bare = |mut line: Value| {
        times.iter().for_each(|key| drop(line[*key].take()));
        line
    };
    let whole: Vec<Value> = lines(look.whole, name)?.into_iter().map(bare).collect();
    let ours: Vec<Value> = lines(look.root, name)?.into_iter().map(bare).collect();
    for (i, line) in ours.iter().enumerate() {
        if !whole.contains(line) {
            bail!("{name} has a line that the undisturbed run has not: {line}");
        }
        if ours[..i].contains(line) {
            bail!("{name} has a line twice: {line}");
        }
    }
    if look.result.is_some() && ours.len() != whole.len() {
        bail!("the result of {} lines of {name} was told and {} are there", whole.len(), ours.len());
    }
    Ok(())
}

/// A record that was announced is there, and nobody was told of more than it has.
fn campaigned(look: &Look) -> Result<()> {
    for cell in ["samegame/1", "samegame/2"] {
        let file = format!("{RUN}/records/{}.record", cell.replace('/', "-"));
        let score = match std::fs::read_to_string(look.root.join(&file)) {
            Ok(text) => Some(Record::parse(&text).with_context(|| file.clone())?.score),
            Err(_) => None,
        };
        // `samegame/1: 563 in samegame/1 by nrpa`
        let told = look
            .told
            .lines()
            .filter_map(|line| line.strip_prefix(cell)?.strip_prefix(": ")?.split(' ').next());
        let announced = told.filter_map(|word| word.parse::<f64>().ok()).reduce(f64::max);
        if announced.is_some_and(|announced| score.is_none_or(|score| score < announced)) {
            bail!("{cell}: {announced:?} was announced and the record has {score:?}");
        }
        for tried in lines(look.root, "tries.jsonl")? {
            let number = if cell.ends_with('1') { 0 } else { 1 };
            let told = tried["score"].as_f64().filter(|_| tried["cell"] == number);
            if told.is_some_and(|told| score.is_none_or(|score| score < told)) {
                bail!("{cell}: tries.jsonl tells of {told:?} and the record has {score:?}");
            }
        }
    }
    Ok(())
}

/// A proof that is there, is one; it is there when it was told.
fn proved(look: &Look) -> Result<()> {
    let file = look.root.join("game.proof");
    if !file.exists() {
        return match look.result {
            Some(_) => Err(anyhow!("a proof was told of and is not there")),
            None => Ok(()),
        };
    }
    let (ours, whole) =
        (std::fs::read_to_string(&file)?, std::fs::read_to_string(look.whole.join("game.proof"))?);
    // All but the date and what was answered on the way.
    let bare = |text: &str| -> Vec<String> {
        let told = |line: &&str| !["jobs", "found", "version"].iter().any(|key| line.starts_with(key));
        text.lines().filter(told).map(str::to_string).collect()
    };
    match bare(&ours) == bare(&whole) {
        true => Ok(()),
        false => Err(anyhow!("game.proof is another one than on a good disk")),
    }
}
