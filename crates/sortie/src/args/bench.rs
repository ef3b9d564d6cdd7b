//! What can be typed after `sortie bench`.

use super::SearchArgs;
use crate::policy::PolicyArgs;
use clap::{Args, Subcommand};

/// `sortie bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Playouts per second of CPU time, on one thread
    Playouts(BenchPlayouts),
    /// Random games per second of CPU time, without a tree
    Rollouts(BenchRollouts),
    /// Simulations of a tree search per second, and its memory
    Search(BenchSearch),
    /// The number of ways to play so many moves, which tells whether rules are right
    Perft(BenchPerft),
    /// CPU time of a record between ranks, from send to receive
    Messages(BenchMessages),
    /// What many workers would gain in a proof search, in virtual time
    Joblevel(BenchJoblevel),
    /// Games and positions with known values, solved end to end by trees of jobs
    Solved(BenchSolved),
    /// Random schedules of job trees: none may prove what is false
    Schedules(BenchSchedules),
    /// Bytes and look-up time of the database of proved positions
    Db(crate::database::args::BenchDb),
    /// How many jobs a database of proved positions spares, by what it holds
    Parents(crate::database::args::BenchParents),
    /// Kill runs at random moments and see whether they go on as if nothing had been
    Resume(crate::commands::bench_resume::BenchResume),
    /// What jobs over a grid cost, against the same jobs on threads
    Grid(crate::grid::args::BenchGrid),
    /// CPU time of a network for one state of a playout
    #[cfg(feature = "neural")]
    Neural(crate::commands::bench_neural::BenchNeural),
    /// The same search with and without a network at equal CPU time
    #[cfg(feature = "neural")]
    Policy(crate::commands::bench_policy::BenchPolicy),
}

/// `sortie bench playouts`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sortie bench playouts samegame/1 --search nrpa --level 2 --iterations 100 --seconds 10 --json")]
#[command(allow_negative_numbers = true)]
pub struct BenchPlayouts {
    /// What to run on: domain/name or domain/path/to/file
    pub instance: String,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seconds to measure, after a short warm-up
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub seconds: f64,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench joblevel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sortie bench joblevel breakthrough/4x4 --workers 16,64 --policy ve-flag --job-nodes 200

Time is counted in positions that jobs look at. The first line of a policy is one worker.")]
#[command(allow_negative_numbers = true)]
pub struct BenchJoblevel {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// The position, instead of the game's own start
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// The moves to play from there first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub moves: Option<String>,
    /// How the next leaf is selected
    #[arg(long, value_name = "NAME", default_value = "pns")]
    pub select: String,
    /// What a leaf counts as until its job comes back [default: all of them, one after the other]
    #[arg(long = "policy", value_name = "NAME", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// How many workers
    #[arg(long, value_name = "N[,N...]", value_delimiter = ',', default_value = "16,64", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub workers: Vec<u32>,
    /// Jobs of a search, at most
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub jobs: u64,
    /// Positions a job looks at, at most
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub job_nodes: u64,
    /// Time that every job takes besides
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub overhead: u64,
    /// Seed of our player
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench solved`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie bench solved --only hex/5
  sortie bench solved --proofs

Every opening of Hex 4x4 and 5x5, Breakthrough 4x4 and 4x5, and Connect Four with 8 to 16 stones. One thread; the worker
begins anew with each.

Exit codes: 0 all were solved as they should, 1 one was not, 2 misuse.")]
pub struct BenchSolved {
    /// Only games whose names begin so
    #[arg(long, value_name = "GAME", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Jobs for each, at most
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub jobs: u64,
    /// Positions a job looks at, at most
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub job_nodes: u64,
    /// What the worker remembers between jobs, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub memory: u32,
    /// Write every proof down and check it
    #[arg(long)]
    pub proofs: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench schedules`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie bench schedules
  sortie bench schedules --pairs uct/flag,pns --seed 20000 --schedules 1000
  sortie bench schedules --ranks
  sortie bench schedules --ranks --forms canopy,tds --schedules 1000

A schedule is a search in virtual time in which workers vanish, answer twice, late, out of order, fail and lie. Its seed
says all of it. The positions are small, and their values are known from plain minimax. With --ranks it is a search that
is spread over ranks, on a gang and a network drawn from the seed: no simulation may be lost or counted twice.

Exit codes: 0 every schedule was right, 1 one was not, 2 misuse.")]
pub struct BenchSchedules {
    /// Which selectors, or selectors with policies [default: all 24]
    #[arg(long, value_name = "SELECT[/POLICY]", value_delimiter = ',')]
    pub pairs: Vec<String>,
    /// Searches spread over ranks instead of job trees
    #[arg(long, conflicts_with = "pairs")]
    pub ranks: bool,
    /// Which forms of them [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "ranks")]
    pub forms: Vec<String>,
    /// Schedules of each pair or form
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub schedules: u64,
    /// The first seed; the others follow it
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000_000))]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench rollouts`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sortie bench rollouts loa/8 --draws 2 --seconds 5")]
#[command(allow_negative_numbers = true)]
pub struct BenchRollouts {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// Moves drawn for each that is played, the most appealing of which counts; 1: uniform
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub draws: u32,
    /// Seconds to measure, after a short warm-up
    #[arg(long, value_name = "S", default_value_t = 5.0)]
    pub seconds: f64,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench search`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  sortie bench search connect4/7x6 --player plain --playouts 400000
  sortie bench search loa/8 --player plain:threads=2 --playouts 1000000 --repeat 5

{}", crate::players::help()))]
pub struct BenchSearch {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// Who searches
    #[arg(long, value_name = "SPEC", default_value = "plain")]
    pub player: String,
    /// Simulations from the start position, in a new tree
    #[arg(long, value_name = "N", default_value_t = 400_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub playouts: u64,
    /// How often; the median counts
    #[arg(long, value_name = "R", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench perft`.
#[derive(Debug, Args)]
pub struct BenchPerft {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// Moves to play
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub depth: u32,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie bench messages`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie bench messages                              among two threads
  mpirun -np 2 sortie bench messages --engine mpi    among the processes of a job

Tokens hop from rank to rank as searches do, batched as they are; nothing else is done.")]
pub struct BenchMessages {
    /// Threads, where no engine is named
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=64))]
    pub ranks: u32,
    /// Hops of the tokens of each rank
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub hops: u64,
    /// Tokens of each rank that are under way
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub tokens: u32,
    /// Moves of the path that each carries
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(0..=200))]
    pub path: u8,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
