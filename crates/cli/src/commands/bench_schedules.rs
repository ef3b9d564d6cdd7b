//! `sortie bench schedules`: every selector and policy of job trees under random schedules, in virtual time, with lost,
//! late, repeated and false answers, on small positions whose values plain minimax knows. It can be run in parts: a
//! part is some of the pairs, or a range of seeds. A schedule that proves something false, contradicts itself or hangs
//! ends it with exit code 1, and its seed says how to see that again. With `--ranks` the same for the forms of searches
//! that are spread over ranks.

use crate::Verdict;
use crate::args::BenchSchedules;
use crate::commands::prove::named;
use crate::output::{self, count, rounded};
use crate::source::Instance;
use anyhow::{Result, anyhow};
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use sortie_core::joblevel::{Drill, Plan, Policy, Select};
use sortie_core::rank::{Form, RankDrilled, drill_rank};

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
pub fn run(args: &BenchSchedules) -> Result<Verdict> {
    if args.ranks { ranks(args) } else { job_trees(args) }
}

fn job_trees(args: &BenchSchedules) -> Result<Verdict> {
    let pairs = pairs(&args.pairs)?;
    let mut drills = Vec::new();
    for (name, moves) in POSITIONS {
        let instance = Instance::open_game(name)?;
        let moves: Vec<String> = moves.split_whitespace().map(String::from).collect();
        drills.push(Drill::new(instance.game()?, &moves)?);
    }
    let mut rows = Vec::new();
    let mut failure = None;
    for (name, select, policy) in pairs {
        let plan = Plan { select, policy, ..Plan::default() };
        let (begun, mut decided, mut jobs, mut lies) = (ProcessTime::now(), 0, 0, 0);
        let mut passed = 0;
        for seed in args.seed..args.seed + args.schedules {
            let drills_len = drills.len() as u64;
            match drills[(seed % drills_len) as usize].run(&plan, seed) {
                Ok(drilled) => {
                    decided += u64::from(drilled.decided);
                    jobs += drilled.jobs;
                    lies += drilled.lies;
                    passed += 1;
                }
                Err(error) => {
                    failure.get_or_insert(error);
                    break;
                }
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        if !args.json {
            output::print(&format!(
                "{name:<20} {:>8} passed  {:>8} proved  {:>10} jobs  {:>9} lies  {seconds:>7.1} s of CPU time",
                count(passed),
                count(decided),
                count(jobs),
                count(lies),
            ))?;
        }
        rows.push(json!({
            "pair": name, "passed": passed, "proved": decided, "jobs": jobs, "lies": lies,
            "cpu_seconds": rounded(seconds),
        }));
    }
    end(args, &rows, failure.as_deref())
}

fn ranks(args: &BenchSchedules) -> Result<Verdict> {
    let mut rows = Vec::new();
    let mut failure = None;
    for form in forms(&args.forms)? {
        let name = form.name();
        let (begun, mut passed, mut all) = (ProcessTime::now(), 0, RankDrilled::default());
        for seed in args.seed..args.seed + args.schedules {
            match drill_rank(form, seed) {
                Ok(drilled) => {
                    all.home += drilled.home;
                    all.lost += drilled.lost;
                    all.added += drilled.added;
                    passed += 1;
                }
                Err(error) => {
                    failure.get_or_insert(error);
                    break;
                }
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        if !args.json {
            output::print(&format!(
                "{name:<20} {:>8} passed  {:>10} simulations  {:>8} given up  {:>9} nodes  {seconds:>7.1} s of CPU time",
                count(passed),
                count(all.home),
                count(all.lost),
                count(all.added),
            ))?;
        }
        rows.push(json!({
            "form": name, "passed": passed, "simulations": all.home, "given_up": all.lost, "nodes": all.added,
            "cpu_seconds": rounded(seconds),
        }));
    }
    end(args, &rows, failure.as_deref())
}

/// Says how it ended.
fn end(args: &BenchSchedules, rows: &[Value], failure: Option<&str>) -> Result<Verdict> {
    if args.json {
        output::print_json(&json!({
            "schedules": args.schedules, "seed": args.seed, "rows": rows, "failure": failure,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
    } else if let Some(failure) = failure {
        output::print(&format!("\nFAILED: {failure}"))?;
    }
    Ok(if failure.is_some() { Verdict::NotFound } else { Verdict::Done })
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
