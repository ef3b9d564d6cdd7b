//! `lab bench default`: what `sortie solve` does when nobody names a search, beside every search that has a name, at equal
//! CPU time on one thread. The instances and the seed were used to choose nothing: a default that is changed because of this
//! table is measured on others.

mod strangers;

use crate::Verdict;
use crate::bench::check_seconds;
use crate::output::{self, number};
use crate::session::stop_on_signals;
use crate::source::Instance;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sortie_core::measure::told;
use sortie_core::search::{Auto, BeamNrpa, BeamSearch, HdNrpa, Own};
use sortie_core::{AnyProblem, BestOf, Control, Limits, Nmcs, Nrpa, Sample, Search};
use sortie_runs::journal;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use strangers::{Knapsack, Queens, Tour, Word};

const INSTANCES: [&str; 30] = [
    "vrptw/R106",
    "vrptw/R107",
    "vrptw/R202",
    "vrptw/R206",
    "vrptw/R210",
    "vrptw/C105",
    "vrptw/C203",
    "vrptw/C207",
    "vrptw/RC104",
    "vrptw/RC105",
    "vrptw/RC203",
    "vrptw/RC206",
    "samegame/15x15x5-4101",
    "samegame/15x15x5-4102",
    "samegame/15x15x5-4103",
    "samegame/15x15x5-4104",
    "samegame/15x15x5-4105",
    "samegame/15x15x5-4106",
    "samegame/20x10x4-4107",
    "samegame/10x10x3-4108",
    "morpion/5D",
    "morpion/5T",
    "snake/7",
    "snake/8",
    "snake/8-3",
    "snake/9-3",
    "coil/7",
    "coil/8",
    "coil/9-3",
    "coil/10-4",
];

/// `lab bench default`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab bench default --seconds 30 --out default.jsonl
  lab bench default samegame vrptw/R1 --seconds 2

Typed again with the same file it goes on where it was. Within: 1 % or one unit of the best of all that were tried, in the
first aim that differs; a vehicle more is no unit.")]
pub struct BenchDefault {
    /// Only instances whose names have one of these in them [default: all]
    #[arg(value_name = "PART")]
    pub parts: Vec<String>,
    /// CPU time of each search on each instance
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    pub seconds: f64,
    /// Seed of all of them
    #[arg(long, value_name = "S", default_value_t = 2026)]
    pub seed: u64,
    /// Keep what was measured here, a line a search, and do not measure it again
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// A search of an instance that was run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tried {
    instance: String,
    search: String,
    seconds: f64,
    seed: u64,
    score: Option<f64>,
}

/// Runs the command.
pub fn run(args: &BenchDefault) -> Result<Verdict> {
    check_seconds(args.seconds)?;
    let stop = stop_on_signals()?;
    let mut kept: Vec<Tried> = match &args.out {
        Some(path) if path.exists() => journal::read(path)?,
        _ => Vec::new(),
    };
    let mut log = match &args.out {
        None => None,
        Some(path) => {
            let opened = OpenOptions::new().create(true).append(true).open(path);
            Some(opened.with_context(|| path.display().to_string())?)
        }
    };
    let wanted =
        |name: &str| args.parts.is_empty() || args.parts.iter().any(|part| name.contains(part.as_str()));
    let names: Vec<&str> = INSTANCES.into_iter().chain(STRANGERS).filter(|name| wanted(name)).collect();
    if names.is_empty() {
        bail!(
            "{}: expected a part of {}",
            args.parts.join(" "),
            [&INSTANCES[..], &STRANGERS].concat().join(", ")
        );
    }
    let mut rows = Vec::new();
    'all: for name in names {
        let opened = Opened::open(name)?;
        let mut tried = Vec::new();
        for (search, spec) in searches(opened.problem()) {
            let is = |one: &&Tried| {
                one.instance == name
                    && one.search == search
                    && (one.seconds, one.seed) == (args.seconds, args.seed)
            };
            let before = kept.iter().find(is).cloned();
            let one = match before {
                Some(one) => one,
                None => {
                    let score = best(opened.problem(), spec, args, &stop);
                    if stop.load(Ordering::Relaxed) {
                        break 'all;
                    }
                    let (instance, search) = (name.to_string(), search.to_string());
                    let one = Tried { instance, search, seconds: args.seconds, seed: args.seed, score };
                    if let Some(log) = &mut log {
                        keep(log, &one)?;
                    }
                    kept.push(one.clone());
                    one
                }
            };
            tried.push(one);
        }
        let row = Row::of(name, opened.problem(), &tried);
        if !args.json {
            output::say(&row.line());
        }
        rows.push(row);
    }
    if args.json {
        output::print_json(&json!({
            "seconds": number(args.seconds), "seed": args.seed,
            "rows": rows.iter().map(Row::to_json).collect::<Vec<_>>(),
            "within": rows.iter().filter(|row| row.within).count(), "instances": rows.len(),
        }))?;
    } else {
        output::print(&markdown(&rows, args))?;
    }
    Ok(Verdict::Done)
}

fn keep(log: &mut File, one: &Tried) -> Result<()> {
    let line = serde_json::to_string(one)? + "\n";
    Ok(log.write_all(line.as_bytes())?)
}

const STRANGERS: [&str; 4] = ["stranger/tour", "stranger/knapsack", "stranger/queens", "stranger/word"];

/// An instance, or a problem that nobody has registered.
enum Opened {
    Ours(Instance),
    Theirs(Box<dyn AnyProblem>),
}

impl Opened {
    fn open(name: &str) -> Result<Opened> {
        Ok(Opened::Theirs(match name {
            "stranger/tour" => Box::new(Tour::new(60)),
            "stranger/knapsack" => Box::new(Knapsack::new(80)),
            "stranger/queens" => Box::new(Queens { n: 40 }),
            "stranger/word" => Box::new(Word { n: 64 }),
            ours => {
                let instance = Instance::open(ours)?;
                instance.problem()?;
                return Ok(Opened::Ours(instance));
            }
        }))
    }

    fn problem(&self) -> &dyn AnyProblem {
        match self {
            Opened::Ours(instance) => instance.problem().expect("it was asked before"),
            Opened::Theirs(problem) => &**problem,
        }
    }
}

/// What nobody chose first, then the searches by name, each as it is without parameters.
fn searches(problem: &dyn AnyProblem) -> Vec<(&'static str, Search)> {
    let named = [
        ("auto", Search::Auto(Auto::default())),
        ("nrpa", Search::Nrpa(Nrpa::default())),
        ("own", Search::Own(Own::default())),
        ("hd-nrpa", Search::HdNrpa(HdNrpa::default())),
        ("beam-nrpa", Search::BeamNrpa(BeamNrpa::default())),
        ("nmcs", Search::Nmcs(Nmcs::default())),
        ("beam", Search::Beam(BeamSearch::default())),
        ("sample", Search::Sample(Sample::default())),
    ];
    let default = problem.suits();
    // One run is enough of what is the default under another name.
    let others = named.into_iter().filter(|(_, search)| *search != default).collect::<Vec<_>>();
    std::iter::once(("default", default)).chain(others).collect()
}

fn best(problem: &dyn AnyProblem, search: Search, args: &BenchDefault, stop: &AtomicBool) -> Option<f64> {
    let limits = Limits { cpu_seconds: Some(args.seconds), ..Limits::default() };
    let control = Control::new(limits, stop, &|_| {});
    let spec = BestOf { search, seed: args.seed, streams: 1, threads: 1 };
    problem.solve(&spec, &control, Vec::new()).best.map(|best| best.score)
}

/// The default beside the best of the others.
struct Row {
    instance: String,
    default: Option<f64>,
    other: Option<f64>,
    by: String,
    within: bool,
    told: [String; 2],
}

impl Row {
    fn of(instance: &str, problem: &dyn AnyProblem, tried: &[Tried]) -> Row {
        let value = |one: &Tried| one.score.unwrap_or(f64::NEG_INFINITY);
        let default = tried.first().and_then(|one| one.score);
        let other = tried.iter().skip(1).max_by(|a, b| value(a).total_cmp(&value(b)));
        let (by, other) = other.map_or((String::new(), None), |one| (one.search.clone(), one.score));
        let within = match (default, other) {
            (Some(ours), Some(theirs)) => is_within(problem, ours, theirs),
            (ours, theirs) => ours.is_some() || theirs.is_none(),
        };
        let words = |score: Option<f64>| score.map_or("-".into(), |score| told(&problem.measures(score)));
        Row { instance: instance.into(), default, other, by, within, told: [words(default), words(other)] }
    }

    fn line(&self) -> String {
        let Row { instance, by, within, told: [ours, theirs], .. } = self;
        format!("{instance:24} {ours:>30} {theirs:>30} {by:10} {}", if *within { "" } else { "NOT WITHIN" })
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "instance": self.instance, "default": self.default.map(number), "best_of_others": self.other.map(number),
            "by": self.by, "within": self.within,
        })
    }
}

/// Aim by aim: what comes before must be equal, the last within 1 % or one unit.
fn is_within(problem: &dyn AnyProblem, ours: f64, theirs: f64) -> bool {
    let (ours, theirs) = (problem.measures(ours), problem.measures(theirs));
    for (i, (a, b)) in ours.iter().zip(&theirs).enumerate() {
        let behind = a.behind(b);
        if behind < 0.0 {
            return true;
        }
        if behind > 0.0 {
            let units = a.value.fract() == 0.0 && b.value.fract() == 0.0;
            return i + 1 == ours.len() && (units && behind <= 1.0 || a.gap(b) <= 1.0);
        }
    }
    true
}

fn markdown(rows: &[Row], args: &BenchDefault) -> String {
    let mut text = format!(
        "{} CPU seconds a search, one thread, seed {}\n\n| instance | default | best of the others | by | within |\n|---|---|---|---|---|\n",
        args.seconds, args.seed
    );
    for Row { instance, by, within, told: [ours, theirs], .. } in rows {
        text += &format!(
            "| {instance} | {ours} | {theirs} | {by} | {} |\n",
            if *within { "yes" } else { "**no**" }
        );
    }
    let within = rows.iter().filter(|row| row.within).count();
    let share = 100.0 * within as f64 / rows.len().max(1) as f64;
    text + &format!("\nwithin 1 % or one unit of the best: {within} of {} ({share:.0} %)", rows.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vehicle_more_is_no_unit_and_a_percent_of_distance_is_near() {
        let r101 = Instance::open("vrptw/R101").unwrap();
        let r101 = r101.problem().unwrap();
        assert!(is_within(r101, -191_660.0, -191_650.8) && is_within(r101, -191_650.8, -201_600.0));
        assert!(!is_within(r101, -201_600.0, -191_650.8) && !is_within(r101, -191_680.0, -191_650.8));
        let snake = Instance::open("snake/7").unwrap();
        assert!(
            is_within(snake.problem().unwrap(), 49.0, 50.0)
                && !is_within(snake.problem().unwrap(), 48.0, 50.0)
        );
    }

    #[test]
    fn every_instance_opens_and_the_default_is_not_measured_twice() {
        for name in INSTANCES.into_iter().chain(STRANGERS) {
            let searches = searches(Opened::open(name).unwrap().problem());
            assert!(searches.iter().skip(1).all(|(_, search)| *search != searches[0].1), "{name}");
        }
    }
}
