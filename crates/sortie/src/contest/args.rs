//! `sortie match` and `sortie tune` as types.

use crate::args::ReportArgs;
use clap::Args;
use std::path::PathBuf;

/// `sortie match`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  sortie match nim/21 --player default --player plain --games 200 --limit 1000playouts
  sortie match tictactoe/3 --player default:c=0.7 --player default --sprt 0,10 --games 40000 --out runs/c
  sortie match nim/21 --player default --player plain --player random --games 100 --concurrency 2

Every opening is played twice, colours swapped, and results are counted in such pairs.
--limit is playouts, nodes, wall or CPU time a move: 1000playouts, 500nodes, 200ms, 1s, 1s-cpu.
Given once it holds for all; given once a player, each has its own.
A player who crashes, hangs, floods or makes an illegal move loses that game; the match goes on.
Stopped or killed, the same command with the same --out, or `sortie resume DIR`, goes on.
With limits by playouts the same seed gives the same games at any --concurrency.

{}", crate::players::help()))]
#[command(allow_negative_numbers = true)]
pub struct Match {
    /// The game: domain/name
    pub game: String,
    /// A player; give two or more
    #[arg(long = "player", value_name = "SPEC", required = true)]
    pub players: Vec<String>,
    /// Games of each two players, at most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub games: u64,
    #[command(flatten)]
    pub table: TableArgs,
    /// Stop when the first player is found to be worth the second bound or only the first, in Elo
    #[arg(long, value_name = "ELO0,ELO1", allow_hyphen_values = true)]
    pub sprt: Option<String>,
    /// SPRT: how often what is worth ELO0 may be accepted
    #[arg(long, value_name = "RATE", default_value_t = 0.05, requires = "sprt")]
    pub alpha: f64,
    /// SPRT: how often what is worth ELO1 may be rejected
    #[arg(long, value_name = "RATE", default_value_t = 0.05, requires = "sprt")]
    pub beta: f64,
    /// SPRT: what the bounds are measured in: normalised or logistic Elo
    #[arg(long, value_name = "MODEL", default_value = "normalised", requires = "sprt")]
    pub model: String,
    /// The first player meets all others, who do not meet each other
    #[arg(long, conflicts_with = "round_robin")]
    pub gauntlet: bool,
    /// Everybody meets everybody: the default
    #[arg(long)]
    pub round_robin: bool,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub grid: crate::grid::args::GridArgs,
}

/// How games are played, in matches and tunings.
#[derive(Debug, Args)]
pub struct TableArgs {
    /// Thought a move: 1000playouts, 500nodes, 200ms, 1s-cpu, or several: 1000playouts,5s
    #[arg(long = "limit", value_name = "LIMIT", default_value = "1000playouts")]
    pub limits: Vec<String>,
    /// Random moves before the players take over; the same for both games of a pair
    #[arg(long, value_name = "PLIES", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub plies: u32,
    /// A file of openings instead, a line of moves each
    #[arg(long, value_name = "FILE", conflicts_with = "plies")]
    pub openings: Option<PathBuf>,
    /// A game is drawn after so many moves
    #[arg(long, value_name = "PLIES", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draw_after: u32,
    /// A game is won when both players value it so high, or so low, three moves in a row: 0.95
    #[arg(long, value_name = "VALUE")]
    pub adjudicate: Option<f64>,
    /// Seed of openings and players
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Games at a time [default: the number of processors]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub concurrency: Option<u32>,
    /// The run folder, new or of the same command [default: a new one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `sortie tune`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie tune nim/21 --player default --param c=0.1..2.0 --against plain --games 2000 --limit 200playouts
  sortie tune tictactoe/3 --player default --param c=0.1..2 --param draws=1..4 --against default --games 4000
  sortie tune nim/21 --player default --param c=0.1..2.0 --method spsa --games 20000

clop: up to five parameters, some thousand games. spsa: many parameters, many more games; without --against
its two points play each other. Ends without a decimal point mean whole numbers: draws=1..4.
Stopped or killed, the same command with the same --out, or `sortie resume DIR`, goes on.
The folder gets a picture for each parameter: the samples and what is believed of them.")]
#[command(allow_negative_numbers = true)]
pub struct Tune {
    /// The game: domain/name
    pub game: String,
    /// The player to tune
    #[arg(long, value_name = "SPEC", default_value = "default")]
    pub player: String,
    /// A parameter of the player and its range: c=0.1..2.0
    #[arg(long = "param", value_name = "NAME=LOW..HIGH", required = true, allow_hyphen_values = true)]
    pub parameters: Vec<String>,
    /// The opponent
    #[arg(long, value_name = "SPEC")]
    pub against: Option<String>,
    /// Games
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(2..=100_000_000))]
    pub games: u64,
    /// clop or spsa
    #[arg(long, value_name = "NAME", default_value = "clop")]
    pub method: String,
    /// spsa: how far a parameter is disturbed in the last step, as a share of its range
    #[arg(long, value_name = "SHARE", default_value_t = sortie_jobs::contest::Gains::default().c_end)]
    pub c_end: f64,
    /// spsa: how far it moves in the last step for a pair won 2 - 0, in such disturbances
    #[arg(long, value_name = "SHARE", default_value_t = sortie_jobs::contest::Gains::default().r_end)]
    pub r_end: f64,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub report: ReportArgs,
}
