//! What can be typed after `lab`.

use clap::{Args, Parser, Subcommand};
use sortie::parts::args::EngineArg;
pub use sortie::parts::args::{ReportArgs, SearchArgs};
use sortie::parts::policy::PolicyArgs;
use sortie_runs::duration;
use std::ffi::OsString;
use std::path::PathBuf;

/// The laboratory of Sortie: benches, studies and drills. Every command of `sortie` is one of `lab` too.
#[derive(Debug, Parser)]
#[command(name = "lab", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 not found or not as it should be, 2 misuse.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What runs searches that are spread over ranks and do not say it themselves: threads or mpi
    #[arg(long, value_name = "NAME", global = true, hide_possible_values = true, help_heading = "Clusters")]
    pub engine: Option<EngineArg>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure
    #[command(subcommand)]
    Bench(Bench),
    /// Try whether something holds that must, at random
    #[command(subcommand)]
    Drill(Drill),
    /// Study how a search spread over more and more nodes scales
    Scale(crate::scale::args::Scale),
    /// Run a table or figure of a paper and print ours beside theirs
    #[command(alias = "reproduce")]
    Paper(Paper),
    /// Learn how often moves of each category are played, from the games of matches
    #[command(alias = "learn")]
    Categories(Categories),
    /// Go on with a study that was stopped or killed, or with any run
    Resume(Resume),
    /// A command of `sortie`
    #[command(external_subcommand)]
    Sortie(Vec<OsString>),
}

/// `lab resume`.
#[derive(Debug, Args)]
pub struct Resume {
    /// The folder of a study or a run
    pub folder: PathBuf,
    /// What `sortie resume` takes, for other runs
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION", num_args = 0..)]
    pub rest: Vec<OsString>,
}

/// How a study goes on.
#[derive(Debug, Parser)]
#[command(name = "lab resume", no_binary_name = true)]
pub struct GoOn {
    /// Threads [default: as before]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `lab drill`.
#[derive(Debug, Subcommand)]
pub enum Drill {
    /// Kill runs at random moments and see whether they go on as if nothing had been
    Resume(crate::drill::resume::DrillResume),
    /// Run long commands on disks that lose, tear, fill up and fail: nothing announced may be lost
    Disk(crate::drill::disk::DrillDisk),
    /// Run one command on such a disk
    Machine(crate::drill::machine::DrillMachine),
    /// Random schedules of job trees: none may prove what is false
    Schedules(DrillSchedules),
}

/// `lab bench`.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Playouts per second of CPU time, on one thread
    Playouts(BenchPlayouts),
    /// What is done when nobody names a search, beside all searches that have a name
    Default(crate::bench::default::BenchDefault),
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
    /// What is lost by the optimum that a tuning tells, on a hill whose top is known
    Tuning(crate::bench::tuning::BenchTuning),
    /// Bytes and look-up time of the database of proved positions
    Db(BenchDb),
    /// How many jobs a database of proved positions spares, by what it holds
    Parents(BenchParents),
    /// What jobs over a grid cost, against the same jobs on threads
    Grid(BenchGrid),
    /// CPU time of a network for one state of a playout
    #[cfg(feature = "neural")]
    Neural(crate::bench::neural::BenchNeural),
    /// The same search with and without a network at equal CPU time
    #[cfg(feature = "neural")]
    Policy(crate::bench::policy::BenchPolicy),
}

/// `lab bench playouts`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab bench playouts samegame/1 --search nrpa --level 2 --iterations 100 --seconds 10 --json")]
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

/// `lab bench joblevel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab bench joblevel breakthrough/4x4 --workers 16,64 --policy ve-flag --job-nodes 200

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

/// `lab bench solved`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab bench solved --only hex/5
  lab bench solved --proofs

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

/// `lab drill schedules`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab drill schedules
  lab drill schedules --pairs uct/flag,pns --seed 20000 --schedules 1000
  lab drill schedules --ranks --seed 0             the set that never changes
  lab drill schedules --ranks --forms canopy,tds --schedules 1000

A schedule is a search in virtual time in which workers vanish, answer twice, late, out of order, fail and lie. Its seed
says all of it. The positions are small, and their values are known from plain minimax. With --ranks it is a search that
is spread over ranks, on a gang and a network drawn from the seed: no simulation may be lost or counted twice.

Exit codes: 0 every schedule was right, 1 one was not, 2 misuse.")]
pub struct DrillSchedules {
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
    /// The first seed; the others follow it [default: of the clock, and printed]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(0..=1_000_000_000_000))]
    pub seed: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `lab bench rollouts`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab bench rollouts loa/8 --draws 2 --seconds 5")]
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

/// `lab bench search`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  lab bench search connect4/7x6 --player plain --playouts 400000
  lab bench search loa/8 --player plain:threads=2 --playouts 1000000 --repeat 5

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

/// `lab bench perft`.
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

/// `lab bench messages`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab bench messages                              among two threads
  mpirun -np 2 lab bench messages --engine mpi    among the processes of a job

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

/// `lab bench db`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab bench db --positions 1000000
  lab bench db --db 'mysql://root@localhost/sortie?socket=/path' --positions 300000

The positions are random numbers under a name of their own; a file is removed afterwards.")]
pub struct BenchDb {
    /// The database [default: a file in the folder for temporary files]
    #[arg(long, value_name = "DB")]
    pub db: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 300_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub positions: u64,
    /// How many are stored at a time
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub batch: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `lab bench parents`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab bench parents connect4 --plies 22 --job-nodes 500
  lab bench parents connect6/19 --select uct --job-nodes 200

The positions come from games of the game's own engine, where it has one, else from random games of --plies moves.")]
pub struct BenchParents {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// How many positions
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub parents: u32,
    /// How the next leaf is selected
    #[arg(long, value_name = "NAME", default_value = "pns")]
    pub select: String,
    /// Moves before the position, in random games
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub plies: u32,
    /// Jobs of a search, at most
    #[arg(long, value_name = "N", default_value_t = 3000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub jobs: u64,
    /// Positions a job looks at, at most
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub job_nodes: u64,
    /// Look up every position after a move
    #[arg(long)]
    pub successors: bool,
    /// Seed of the games
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `lab bench grid`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab bench grid --job-ms 5 --workers 2 --jobs 2000 --rounds 3

It starts a broker and workers of its own and ends them. A job burns so much CPU time.")]
pub struct BenchGrid {
    /// CPU time of a job, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub job_ms: u32,
    /// Worker processes of one core each; and threads, to compare
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub workers: u32,
    /// Jobs of a round
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub jobs: u64,
    /// Rounds, each with threads and grid in turn
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rounds: u32,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `lab paper`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab paper                                            what there is
  lab paper samegame-table1 --time 4m --threads 2      the whole table: 80 minutes
  lab paper samegame-table1 --rows 1..3 --time 10s
Stopped or killed, the same command with the same --out goes on and loses at most the run under way;
with more --seeds it is carried further.")]
#[command(allow_negative_numbers = true)]
pub struct Paper {
    /// The study; none: list them
    pub study: Option<String>,
    /// Time of each run
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, default_value = "60s")]
    pub time: f64,
    /// Count --time as CPU time of each thread, for a machine that is busy with other things as well
    #[arg(long)]
    pub cpu: bool,
    /// Runs of each cell, with the seeds 1, 2, 3 ...
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10000))]
    pub seeds: u32,
    /// Threads of a run [default: the number of processors]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Only these rows: 1,4,7 or 1..5
    #[arg(long, value_name = "ROWS", value_delimiter = ',', alias = "boards")]
    pub rows: Vec<String>,
    /// The folder, new or of the same study [default: a new one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `lab categories`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sortie match loa/8 --player default --player default --games 200 --out runs/self
  lab categories loa/8 --from runs/self --out categories.txt
  sortie match loa/8:categories=categories.txt --player pu-mc --player default")]
pub struct Categories {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// Folders of matches, or their games.jsonl
    #[arg(long, required = true, value_name = "DIR|FILE", num_args = 1..)]
    pub from: Vec<PathBuf>,
    /// The table to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
