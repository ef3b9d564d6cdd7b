//! `lab bench policy`: whether a network is worth its price. The same search with and without it, from the same
//! seeds and for the same CPU time, one after the other on one thread; the interval of the difference is that of
//! Student (1908) for pairs.

use crate::args::SearchArgs;
use crate::output::{self, count, number, rounded, score};
use crate::policy::{self, PolicyArgs};
use crate::source::Instance;
use crate::{Verdict, duration, searches, session};
use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;
use sortie_core::prior::Guide;
use sortie_core::{AnyProblem, BestOf, Control, Limits};
use sortie_jobs::stats::mean_and_half;
use std::sync::atomic::{AtomicBool, Ordering};

/// `lab bench policy`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab bench policy morpion/5D --level 3 --policy net.safetensors --one-pass --seeds 20 --cpu-time 10s

Exit codes: 0 not significantly worse with the network, 1 significantly worse, 2 misuse.")]
#[command(allow_negative_numbers = true)]
pub struct BenchPolicy {
    /// What to run on: domain/name or domain/path/to/file
    pub instance: String,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Pairs of runs
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub seeds: u32,
    /// CPU time of every run
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration::parse)]
    pub cpu_time: f64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// No line for every pair
    #[arg(long)]
    pub quiet: bool,
}

/// What the runs of one side came to.
#[derive(Debug, Default)]
struct Side {
    scores: Vec<f64>,
    playouts: u64,
    cpu_seconds: f64,
}

impl Side {
    fn mean(&self) -> f64 {
        self.scores.iter().sum::<f64>() / self.scores.len() as f64
    }

    fn rate(&self) -> f64 {
        self.playouts as f64 / self.cpu_seconds.max(1e-9)
    }
}

/// Runs the command.
pub fn run(args: &BenchPolicy) -> Result<Verdict> {
    let instance = Instance::open(&args.instance)?;
    let problem = instance.problem()?;
    let search = searches::build(&args.search)?;
    let Some(policy) = policy::open(&args.policy, &instance)? else {
        bail!("nothing to compare: give --policy FILE");
    };
    let stop = session::stop_on_signals()?;
    let (mut plain, mut guided) = (Side::default(), Side::default());
    for seed in (args.seed..).take(args.seeds as usize) {
        let spec = BestOf { search: search.clone(), seed, streams: 1, threads: 1 };
        let without = one(problem, &spec, None, args.cpu_time, &stop, &mut plain)?;
        let with = one(problem, &spec, Some(&policy.guide), args.cpu_time, &stop, &mut guided)?;
        if !args.quiet {
            output::say(&format!("seed {seed}: plain {}, with the network {}", score(without), score(with)));
        }
    }
    let differences: Vec<f64> = guided.scores.iter().zip(&plain.scores).map(|(a, b)| a - b).collect();
    let (mean, half) = mean_and_half(&differences);
    let verdict = match mean {
        _ if mean - half > 0.0 => "significantly better",
        _ if mean + half < 0.0 => "significantly worse",
        _ => "no significant difference",
    };
    if args.json {
        let side = |side: &Side| {
            let scores: Vec<_> = side.scores.iter().map(|&score| number(score)).collect();
            json!({
                "mean": rounded(side.mean()), "scores": scores, "playouts": side.playouts,
                "playouts_per_cpu_second": number(side.rate().round()), "cpu_seconds": rounded(side.cpu_seconds),
            })
        };
        output::print_json(&json!({
            "instance": instance.name,
            "search": search.name(),
            "parameters": searches::parameters_of(&search),
            "policy": policy.spec,
            "seed": args.seed,
            "seeds": args.seeds,
            "cpu_seconds_each": rounded(args.cpu_time),
            "plain": side(&plain),
            "guided": side(&guided),
            "difference": rounded(mean),
            "half_of_95": rounded(half),
            "verdict": verdict,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
    } else {
        output::print(&format!(
            "{}  {}\n          {}\nruns      {} pairs, {} of CPU time each\n\
             plain     mean {:.2}, {} playouts per CPU second\n\
             network   mean {:.2}, {} playouts per CPU second\n\
             paired    {mean:+.2}, 95 % interval {:+.2} to {:+.2}: {verdict}\n",
            instance.name,
            searches::describe(&search),
            policy.spec.describe(),
            args.seeds,
            duration::show(args.cpu_time),
            plain.mean(),
            count(plain.rate() as u64),
            guided.mean(),
            count(guided.rate() as u64),
            mean - half,
            mean + half,
        ))?;
    }
    Ok(if mean + half < 0.0 { Verdict::NotFound } else { Verdict::Done })
}

/// One run, added to its side: its score.
fn one(
    problem: &dyn AnyProblem,
    spec: &BestOf,
    guide: Option<&Guide>,
    cpu_seconds: f64,
    stop: &AtomicBool,
    side: &mut Side,
) -> Result<f64> {
    let limits = Limits { cpu_seconds: Some(cpu_seconds), ..Limits::default() };
    let mut control = Control::new(limits, stop, &|_| {});
    control.guide = guide.cloned();
    let outcomes = problem.solve(spec, &control, Vec::new());
    if stop.load(Ordering::Relaxed) {
        bail!("stopped after {} runs, which say nothing yet", side.scores.len());
    }
    let Some(best) = outcomes.best else { bail!("seed {}: no playout in time", spec.seed) };
    side.scores.push(best.score);
    side.playouts += outcomes.playouts;
    side.cpu_seconds += control.cpu_seconds();
    Ok(best.score)
}
