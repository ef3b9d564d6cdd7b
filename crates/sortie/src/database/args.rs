//! The arguments of `sortie db` and of the benchmarks of the database.

use crate::args::ReportArgs;
use crate::duration;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `sortie db`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie prove hex/4 --moves a1 --db proved.db      look up while searching, store what is proved
  sortie db get proved.db hex/4 --moves \"a1 b3\"
  sortie db put proved.db win.proof
  sortie db check proved.db --sample 1000
  sortie db export proved.db --out proved.jsonl
  sortie db fill proved.db connect6/19 --time 10m   prove positions of games against itself

A database is a file, or mysql://user:password@host/database of a MariaDB server (builds with --features mariadb).
It holds proved positions only, each with where its proof is. docs/database.md has all of it.

Exit codes: 0 done, 1 not there or not true, 2 misuse.")]
pub struct Db {
    /// What to do.
    #[command(subcommand)]
    pub command: DbCommand,
}

/// The commands of `sortie db`.
#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Check proofs and store every position in them
    Put(Put),
    /// Say what is known of a position and of those after it
    Get(Get),
    /// Count
    Stats(Stats),
    /// Store the lines that `export` wrote
    Import(Import),
    /// Write everything as lines of JSON
    Export(Export),
    /// Store what other databases hold
    Merge(Merge),
    /// Prove entries again from where they come from
    Check(Check),
    /// Prove positions of games of the game's own engine, and store all that comes up in the proofs
    Fill(Fill),
}

/// `sortie db put`.
#[derive(Debug, Args)]
pub struct Put {
    /// The database; made if it is not there
    pub db: String,
    /// Proofs, as `sortie prove --proof` writes them
    #[arg(required = true)]
    pub proofs: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie db get`.
#[derive(Debug, Args)]
pub struct Get {
    /// The database
    pub db: String,
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// The position, instead of the game's own start
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// The moves to play from there first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub moves: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie db stats`.
#[derive(Debug, Args)]
pub struct Stats {
    /// The database
    pub db: String,
    /// Give back the space that is not needed first
    #[arg(long)]
    pub tidy: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie db import`.
#[derive(Debug, Args)]
pub struct Import {
    /// The database; made if it is not there
    pub db: String,
    /// Lines that `export` wrote
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie db export`.
#[derive(Debug, Args)]
pub struct Export {
    /// The database
    pub db: String,
    /// The file [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Say on standard output how many there were, as JSON; needs --out
    #[arg(long, requires = "out")]
    pub json: bool,
}

/// `sortie db merge`.
#[derive(Debug, Args)]
pub struct Merge {
    /// The database that gets everything; made if it is not there
    pub db: String,
    /// The others
    #[arg(required = true)]
    pub from: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie db check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The database
    pub db: String,
    /// So many entries, drawn at random
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with = "all")]
    pub sample: u64,
    /// Write what can be read of a damaged file into a new one, and check nothing
    #[arg(long, value_name = "NEW", conflicts_with_all = ["all", "sample"])]
    pub save: Option<std::path::PathBuf>,
    /// Every entry
    #[arg(long)]
    pub all: bool,
    /// Seed of the draw
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie db fill`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  sortie db fill proved.db connect6/19 --positions 308111 --cpu-time 20m

The same command goes on where the last one ended, after kill -9 too: a game is stored whole or not at all.")]
pub struct Fill {
    /// The database; made if it is not there
    pub db: String,
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// Stop when the game has so many positions
    #[arg(long, value_name = "N")]
    pub positions: Option<u64>,
    /// Stop after this wall time
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub time: Option<f64>,
    /// Stop after this CPU time
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub cpu_time: Option<f64>,
    /// Nodes of a proof of one position
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub nodes: u64,
    /// Nodes that the engine has for a move
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub engine_nodes: u64,
    /// Seed of the openings
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub report: ReportArgs,
}
