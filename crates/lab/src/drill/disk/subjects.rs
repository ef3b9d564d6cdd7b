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
    /// Commands that read what it has left.
    pub readers: &'static [&'static [&'static str]],
}

/// What there is to look at.
pub struct Look<'a> {
    /// The disk.
    pub root: &'a Path,
    /// A disk on which the command came to its end.
    pub whole: &'a Path,
    /// The best score that was announced.
    pub announced: Option<f64>,
    /// The result that was told, on a disk that had not failed.
    pub result: Option<&'a Value>,
}

/// All of them.
pub const SUBJECTS: [Subject; 3] = [
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
            "runs/new/run",
        ],
        go_on: &["resume", "runs/new/run", "--checkpoint-every", "1ms", "--json"],
        request: "runs/new/run/spec.toml",
        names: &["runs/new/run"],
        end: |result| json!([result["score"], result["moves"], result["playouts"]]),
        look: solved,
        readers: &[&["verify", "runs/new/run"], &["report", "runs/new/run"]],
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
            "runs/new/run",
        ],
        go_on: &["resume", "runs/new/run", "--json"],
        request: "runs/new/run/match.toml",
        names: &["runs/new/run"],
        end: |result| json!([result["games"], result["players"], result["pairings"]]),
        look: |look| played(look, 12),
        readers: &[&["verify", "runs/new/run"], &["report", "runs/new/run"]],
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
            "runs/new/run",
        ],
        go_on: &["resume", "runs/new/run", "--json"],
        request: "runs/new/run/prove.toml",
        names: &["runs/new/run", "game.proof"],
        end: |result| json!([result["value"], result["proved"], result["ended"]]),
        look: proved,
        readers: &[&["report", "runs/new/run"]],
    },
];

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
    let folder = look.root.join("runs/new/run");
    let score = match std::fs::read_to_string(folder.join("best.record")) {
        Ok(text) => Some(Record::parse(&text).context("best.record")?.score),
        Err(_) => None,
    };
    if look.announced.is_some_and(|announced| score.is_none_or(|score| score < announced)) {
        bail!("{:?} was announced and the record has {score:?}", look.announced);
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

/// Every game that is there is one of the undisturbed run, once; and all are there when the result was told.
fn played(look: &Look, all: usize) -> Result<()> {
    let bare = |mut game: Value| {
        for key in ["seconds", "thought_seconds"] {
            game[key].take();
        }
        game
    };
    let whole: Vec<Value> = lines(look.whole, "games.jsonl")?.into_iter().map(bare).collect();
    let mut seen = Vec::new();
    for game in lines(look.root, "games.jsonl")? {
        let game = bare(game);
        if !whole.contains(&game) {
            bail!("games.jsonl has a game that was never played: {game}");
        }
        if seen.contains(&game["game"]) {
            bail!("games.jsonl has game {} twice", game["game"]);
        }
        seen.push(game["game"].clone());
    }
    if look.result.is_some() && seen.len() != all {
        bail!("the result of {all} games was told and {} are there", seen.len());
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
