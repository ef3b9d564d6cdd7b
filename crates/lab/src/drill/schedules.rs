//! `lab drill schedules`: every selector and policy of job trees under random schedules, in virtual time, with lost,
//! late, repeated and false answers, on small positions whose values plain minimax knows. It can be run in parts: a
//! part is some of the pairs, or a range of seeds. A schedule that proves something false, contradicts itself or hangs
//! ends it with exit code 1, and its seed says how to see that again. With `--ranks` the same for the forms of searches
//! that are spread over ranks.

use crate::Verdict;
use crate::args::DrillSchedules;
use crate::commands::prove::named;
use crate::output::{self, count, rounded};
use crate::source::Instance;
use anyhow::{Result, anyhow};
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use sortie_jobs::tree::{Drill, Plan, Policy, Select};
use sortie_rank::{Form, RankDrilled, drill_rank};

/// The positions: small enough for minimax, with wins, losses and draws for either side to move.
const POSITIONS: [(&str, &str); 10] = [
    ("tictactoe/3", ""),
    ("tictactoe/3", "b2 a2"),
    ("tictactoe/3", "a1 b2 c3"),
    ("breakthrough/4x4", ""),
    ("breakthrough/3x4", ""),
    ("hex/3", ""),
    ("hex/4", "a1 d4 a2 b3 c2 c1"),
    ("nim/12", ""),
    ("nim/21", ""),
    ("tictactoe/3", "a2 a1"),
];

/// Runs the command.
pub fn run(args: &DrillSchedules) -> Result<Verdict> {
    let seed = args.seed.unwrap_or_else(super::disk::fresh_seed);
    if !args.json {
        output::print(&format!("seed {seed}"))?;
    }
    if args.ranks { ranks(args, seed) } else { job_trees(args, seed) }
}

fn job_trees(args: &DrillSchedules, first: u64) -> Result<Verdict> {
    let pairs = pairs(&args.pairs)?;
    let mut drills = Vec::new();
    for (name, moves) in POSITIONS {
        let instance = Instance::open_game(name)?;
        let moves: Vec<String> = moves.split_whitespace().map(String::from).collect();
        drills.push(Drill::new(instance.game()?, &moves)?);
    }
    let mut table = Table::new(args, first);
    for (name, select, policy) in pairs {
        let plan = Plan { select, policy, ..Plan::default() };
        let (mut decided, mut jobs, mut lies) = (0, 0, 0);
        let ran = each_seed(first..first + args.schedules, |seed| {
            let at = (seed % drills.len() as u64) as usize;
            let drilled = drills[at].run(&plan, seed)?;
            decided += u64::from(drilled.decided);
            jobs += drilled.jobs;
            lies += drilled.lies;
            Ok(())
        });
        table.row("pair", &name, ran, [("proved", decided), ("jobs", jobs), ("lies", lies)])?;
    }
    table.end()
}

fn ranks(args: &DrillSchedules, first: u64) -> Result<Verdict> {
    let mut table = Table::new(args, first);
    for form in forms(&args.forms)? {
        let mut all = RankDrilled::default();
        let ran = each_seed(first..first + args.schedules, |seed| {
            let drilled = drill_rank(form, seed)?;
            all.home += drilled.home;
            all.lost += drilled.lost;
            all.added += drilled.added;
            Ok(())
        });
        let counts = [("simulations", all.home), ("given_up", all.lost), ("nodes", all.added)];
        table.row("form", form.name(), ran, counts)?;
    }
    table.end()
}

/// How the schedules of a row went: how many passed, their CPU time, and what was wrong with the first that did not.
struct Ran {
    passed: u64,
    seconds: f64,
    failure: Option<String>,
}

fn each_seed(seeds: std::ops::Range<u64>, mut run: impl FnMut(u64) -> Result<(), String>) -> Ran {
    let begun = ProcessTime::now();
    let (mut passed, mut failure) = (0, None);
    for seed in seeds {
        if let Err(error) = run(seed) {
            failure = Some(error);
            break;
        }
        passed += 1;
    }
    Ran { passed, seconds: begun.elapsed().as_secs_f64(), failure }
}

/// The rows, printed as they come, and the first failure.
struct Table<'a> {
    args: &'a DrillSchedules,
    seed: u64,
    rows: Vec<Value>,
    failure: Option<String>,
}

impl<'a> Table<'a> {
    fn new(args: &'a DrillSchedules, seed: u64) -> Table<'a> {
        Table { args, seed, rows: Vec::new(), failure: None }
    }

    fn row(&mut self, kind: &str, name: &str, ran: Ran, counts: [(&str, u64); 3]) -> Result<()> {
        if !self.args.json {
            let counts = counts.map(|(label, n)| format!("{:>10} {:<11}", count(n), label.replace('_', " ")));
            output::print(&format!(
                "{name:<20} {:>8} passed {} {:>7.1} s of CPU time",
                count(ran.passed),
                counts.join(" "),
                ran.seconds,
            ))?;
        }
        let mut row = json!({ kind: name, "passed": ran.passed });
        for (key, n) in counts {
            row[key] = n.into();
        }
        row["cpu_seconds"] = rounded(ran.seconds);
        self.rows.push(row);
        self.failure = self.failure.take().or(ran.failure);
        Ok(())
    }

    /// Says how it ended.
    fn end(self) -> Result<Verdict> {
        if self.args.json {
            output::print_json(&json!({
                "schedules": self.args.schedules, "seed": self.seed, "rows": self.rows, "failure": self.failure,
                "version": env!("CARGO_PKG_VERSION"),
            }))?;
        } else if let Some(failure) = &self.failure {
            output::print(&format!("\nFAILED: {failure}"))?;
        }
        Ok(if self.failure.is_some() { Verdict::NotFound } else { Verdict::Done })
    }
}

/// By name, or all.
fn forms(given: &[String]) -> Result<Vec<Form>> {
    let all: Vec<&str> = Form::ALL.iter().map(|(name, _)| *name).collect();
    let names = if given.is_empty() { all.clone() } else { given.iter().map(String::as_str).collect() };
    let named =
        |name: &str| Form::named(name).ok_or_else(|| anyhow!("--forms {name}: expected {}", all.join(", ")));
    names.into_iter().map(named).collect()
}

/// `uct/flag`, `uct` for all of its policies, or all.
fn pairs(given: &[String]) -> Result<Vec<(String, Select, Policy)>> {
    let all = Select::ALL.iter().flat_map(|(s, select)| {
        Policy::ALL.iter().map(move |(p, policy)| (format!("{s}/{p}"), *select, *policy))
    });
    let all: Vec<_> = all.collect();
    if given.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for word in given {
        let (select, policy) = word.split_once('/').unwrap_or((word, ""));
        named("--pairs", select, &Select::ALL)?;
        if !policy.is_empty() {
            named("--pairs", policy, &Policy::ALL)?;
        }
        let fits = |name: &str| name == word || policy.is_empty() && name.split('/').next() == Some(select);
        let some: Vec<_> = all.iter().filter(|(name, ..)| fits(name)).cloned().collect();
        if some.is_empty() {
            return Err(anyhow!("--pairs {word}: expected SELECT or SELECT/POLICY, as in uct/flag"));
        }
        chosen.extend(some);
    }
    Ok(chosen)
}
