//! `lab bench tuning`: what is lost by the optimum that a tuning tells, on a hill whose top is known. Games are coins: who is
//! so many Elo stronger wins so often. So it says what the methods make of so many games, and costs no games.

use crate::Verdict;
use crate::output::{self, count};
use anyhow::{Result, anyhow};
use clap::Args;
use serde_json::json;
use sortie_core::job::run_jobs;
use sortie_core::{Outcome, Rng};
use sortie_jobs::contest::{Gains, Method, Parameter, Trial, Tuning, TuningPlan};
use std::sync::atomic::AtomicBool;

/// One in log-odds, in Elo.
const ELO: f64 = 400.0 / std::f64::consts::LN_10;

/// `lab bench tuning`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab bench tuning
  lab bench tuning --parameters 6 --games 6000,24000 --method spsa

Every parameter goes from 0 to 1, and begins in the middle; the top is at 0.3 of the first, 0.8 of the second and so on. The
opponent is as strong as a player half way up.")]
pub struct BenchTuning {
    /// Which methods: clop, spsa (its two points play the opponent), spsa-self (they play each other) [default: all]
    #[arg(long = "method", value_name = "NAME", value_delimiter = ',', value_parser = ["clop", "spsa", "spsa-self"])]
    pub methods: Vec<String>,
    /// How many parameters
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=50))]
    pub parameters: u32,
    /// How many games
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',', default_value = "300,1200,6000", value_parser = clap::value_parser!(u64).range(20..=10_000_000))]
    pub games: Vec<u64>,
    /// How far below the top the middle is, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 87.0)]
    pub hill: f64,
    /// Tunings of each, from seeds 0, 1, 2 ...
    #[arg(long, value_name = "R", default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub seeds: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: &BenchTuning) -> Result<Verdict> {
    let named = |name: &str| args.methods.is_empty() || args.methods.iter().any(|method| method == name);
    let ways = [
        ("clop", Method::Clop, true),
        ("spsa", Method::Spsa(Gains::default()), true),
        ("spsa-self", Method::Spsa(Gains::default()), false),
    ];
    if !args.json {
        output::print(&format!("{:<10} {:>8} {:>10} {:>7}", "method", "games", "Elo lost", "±"))?;
    }
    let mut rows = Vec::new();
    // Five parameters are all that clop takes, unless it is asked for by name: then it says so itself.
    for (name, method, opponent) in ways.into_iter().filter(|(name, ..)| {
        named(name) && (*name != "clop" || args.parameters <= 5 || !args.methods.is_empty())
    }) {
        for &games in &args.games {
            let hill = Hill::new(args.parameters as usize, args.hill);
            let lost = (0..args.seeds)
                .map(|seed| hill.lost(method, opponent, games, seed))
                .collect::<Result<Vec<f64>>>()?;
            let n = lost.len() as f64;
            let mean = lost.iter().sum::<f64>() / n;
            let spread = lost.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
            let within = 1.96 * (spread / n).sqrt();
            if !args.json {
                output::print(&format!("{name:<10} {:>8} {mean:>10.1} {within:>7.1}", count(games)))?;
            }
            rows.push(
                json!({ "method": name, "games": games, "elo_lost": round(mean), "within": round(within) }),
            );
        }
    }
    if args.json {
        output::print_json(&json!({
            "parameters": args.parameters, "hill": args.hill, "seeds": args.seeds, "rows": rows,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
    }
    Ok(Verdict::Done)
}

fn round(elo: f64) -> f64 {
    (elo * 100.0).round() / 100.0
}

/// A quadratic hill in log-odds over the unit cube.
struct Hill {
    tops: Vec<f64>,
    steepness: f64,
}

impl Hill {
    /// Whose middle is so many Elo below its top.
    fn new(parameters: usize, elo: f64) -> Hill {
        let tops: Vec<f64> = (0..parameters).map(|i| [0.3, 0.8][i % 2]).collect();
        let far: f64 = tops.iter().map(|top| (0.5 - top) * (0.5 - top)).sum();
        Hill { tops, steepness: elo / ELO / far }
    }

    /// How far below the top a player with these values is, in log-odds.
    fn below(&self, values: &[f64]) -> f64 {
        let far: f64 = values.iter().zip(&self.tops).map(|(value, top)| (value - top) * (value - top)).sum();
        self.steepness * far
    }

    /// One tuning: how much the optimum that it tells is below the top, in Elo.
    fn lost(&self, method: Method, opponent: bool, games: u64, seed: u64) -> Result<f64> {
        let parameters = (0..self.tops.len())
            .map(|i| Parameter { name: format!("p{i}"), low: 0.0, high: 1.0, whole: false })
            .collect();
        let plan = TuningPlan { parameters, method, samples: games / 2, opponent, lag: 16, seed };
        plan.check().map_err(|why| anyhow!(why))?;
        let half_way = self.below(&vec![0.5; self.tops.len()]) / 2.0;
        let play = |trial: &Trial| {
            let rival = trial.rival.as_deref().map_or(half_way, |values| self.below(values));
            let odds = rival - self.below(&trial.values);
            let mut coin = Rng::new(trial.seeds[0], trial.seeds[1]);
            let wins = coin.unit() < 1.0 / (1.0 + (-odds).exp());
            Outcome::Win(if wins { trial.side } else { trial.side.other() })
        };
        let mut tuning = Tuning::new(plan, &[]);
        run_jobs(&mut tuning, 1, &AtomicBool::new(false), |_, trial| Some(play(trial)));
        let told: Vec<f64> = tuning.optima().iter().map(|optimum| optimum.value).collect();
        Ok(ELO * self.below(&told))
    }
}
