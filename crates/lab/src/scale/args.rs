//! `lab scale` as types.

use crate::args::ReportArgs;
use crate::duration;
use clap::Args;
use std::path::PathBuf;

/// `lab scale`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab scale loa/8 --virtual --nodes 1,2,4,8,16,32,64,128 --time 5ms --games 40 --out runs/scale
  lab scale loa/8 --virtual --forms \"tds[par=1],tds[par=5]\" --nodes 1,4,16 --time 2ms --games 0
  lab scale loa/8 --virtual --par-study --forms tds --nodes 1,8 --pars 1,2,5,20,100 --time 2ms --games 40
  lab scale loa/8 --virtual --parallel-effect --forms tds --nodes 1,4,16 --playouts 2000 --games 100
  lab scale loa/8 --virtual --strength-speedup --forms tds --nodes 4,16,64 --time 1ms --rungs 4 --games 100
  lab scale loa/8 --calibrate --player default --out costs.toml
  lab scale loa/8 --check

--virtual models the clock: ranks, playouts and games are real, time is what things cost where they were measured.
--real measures on this machine. The two never share a table, and every modelled one says so.
Games are played round by round over all cells and kept: the same command with the same --out goes on, and a command
with more forms, nodes or games adds to what is there. `sortie verify DIR` replays the games.")]
#[command(allow_negative_numbers = true)]
pub struct Scale {
    /// The game: domain/name, or the domain alone
    #[arg(default_value = "loa/8")]
    pub game: String,
    /// Measure what a search costs on this machine and write it to --out
    #[arg(long, group = "mode")]
    pub calibrate: bool,
    /// Compare real searches of 1 and 2 ranks with their model
    #[arg(long, group = "mode")]
    pub check: bool,
    /// PPS and win rate over the simulations in flight for each thread
    #[arg(long, group = "mode")]
    pub par_study: bool,
    /// Win rate against the serial search with the same number of playouts
    #[arg(long, group = "mode", requires = "playouts")]
    pub parallel_effect: bool,
    /// How many times the playouts the serial search needs to be as strong
    #[arg(long, group = "mode")]
    pub strength_speedup: bool,
    /// The clock is modelled
    #[arg(long = "virtual", conflicts_with = "real")]
    pub modelled: bool,
    /// The clock is real: threads of this machine
    #[arg(long)]
    pub real: bool,
    /// Forms of search, each with options of its own if it likes: tds[par=1] [default: all]
    #[arg(long, value_name = "LIST")]
    pub forms: Option<String>,
    /// Numbers of nodes
    #[arg(long, value_name = "LIST", default_value = "1,2,4,8,16,32,64,128", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub nodes: Vec<u32>,
    /// Threads of a node
    #[arg(long, value_name = "T", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Simulations in flight for each thread that plays out (--par-study)
    #[arg(long, value_name = "LIST", default_value = "1,2,5,20,100", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub pars: Vec<u32>,
    /// Options of all gangs, as in latency=30us,jitter=1
    #[arg(long, value_name = "LIST", default_value = "")]
    pub options: String,
    /// Time a move
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "5ms", allow_hyphen_values = true)]
    pub time: f64,
    /// Playouts a move: of both sides (--parallel-effect), or of a one-node search (--strength-speedup), of a search
    /// (--calibrate, --check)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub playouts: Option<u64>,
    /// The search that is spread
    #[arg(long, value_name = "SPEC", default_value = "default")]
    pub player: String,
    /// Memory of a rank's tree in MiB, unless the player says
    #[arg(long, value_name = "MIB", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=16384))]
    pub memory: u32,
    /// Who everybody plays against [default: root-tree on one node where there is such a form, else tds on one node]
    #[arg(long, value_name = "SPEC")]
    pub reference: Option<String>,
    /// Games of each match, at most; 0: none
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub games: u64,
    /// End a match when its 95 % interval is no wider than this: 0.1
    #[arg(long, value_name = "SHARE")]
    pub width: Option<f64>,
    /// Doublings of the serial search's playouts that are played against each other (--strength-speedup)
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub rungs: u32,
    /// Positions that are searched: a third openings, a third from the middle, a third late
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub positions: u32,
    /// Measured costs to model with [default: those built in for the game and the player]
    #[arg(long, value_name = "FILE")]
    pub costs: Option<PathBuf>,
    /// Random moves before the players take over; the same for both games of a pair
    #[arg(long, value_name = "PLIES", default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub plies: u32,
    /// A game is drawn after so many moves
    #[arg(long, value_name = "PLIES", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub draw_after: u32,
    /// Seed of positions, openings and players
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Games at a time [default: the number of processors; with --real 1]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub concurrency: Option<u32>,
    /// The folder of the study, or the file of --calibrate [default: a new folder under runs/; standard output]
    #[arg(long, value_name = "DIR|FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArgs,
}
