//! The command line as types. What they mean is said in `commands`.

use crate::duration;
use crate::policy::PolicyArgs;
use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use sortie_core::search::PerLevel;
use std::path::PathBuf;

/// Monte-Carlo search for puzzles, routing and games.
#[derive(Debug, Parser)]
#[command(name = "sortie", version, max_term_width = 100)]
#[command(after_help = "\
Begin with:
  sortie list                               what there is to solve
  sortie solve samegame/1                   a good first minute
  sortie verify runs/<the folder it names>  check the answer

Exit codes: 0 done, 1 not found or not verified, 2 misuse.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What runs searches that are spread over ranks and do not say it themselves: threads or mpi
    #[arg(long, value_name = "NAME", global = true, hide_possible_values = true, help_heading = "Clusters")]
    pub engine: Option<EngineArg>,
}

/// What runs ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineArg {
    /// Threads of this process.
    Threads,
    /// The processes that mpirun or srun started with this one.
    Mpi,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the domains, their instances and the searches
    List(List),
    /// Search for the best solution of an instance
    Solve(Solve),
    /// Go on with a run that was stopped or killed
    Resume(Resume),
    /// Check records and proofs by the rules alone
    Verify(Verify),
    /// Play a record move by move in the terminal
    Replay(Replay),
    /// Show an instance or a record as text, SVG or PNG
    Show(Show),
    /// Write a record as others do, or read one of theirs
    Convert(crate::commands::convert::Convert),
    /// Let players play games and say what the results mean
    Match(crate::contest::args::Match),
    /// One player against a list of named opponents, and a table of the results
    Gauntlet(Gauntlet),
    /// Find good parameters of a player by games
    Tune(crate::contest::args::Tune),
    /// Search many instances by many searches, where it pays, and keep the best of each
    Campaign(crate::campaign::Args),
    /// Find games for a network to learn from
    #[cfg(feature = "neural")]
    Data(crate::commands::data::Data),
    /// Teach a network the moves of games
    #[cfg(feature = "neural")]
    Train(crate::commands::train::Train),
    /// Let a network and a search teach each other: expert iteration
    #[cfg(feature = "neural")]
    Exit(crate::commands::exit::Exit),
    /// Play a game against the engine, or watch it
    Play(Play),
    /// Show the best moves of a position and what is expected to follow them
    Analyse(Analyse),
    /// Look at a game move by move: a graph of its value, and where it turned
    Review(Review),
    /// Be an engine for other programs: the text protocol on stdin and stdout
    Engine(Engine),
    /// Find the value of a position by a tree of jobs, and prove it
    Prove(Prove),
    /// Try whether an engine can do jobs: whether it leaves out the moves it is told to leave out
    Probe(Probe),
    /// The database of proved positions
    Db(crate::database::args::Db),
    /// Do the jobs of others: join a grid
    Worker(crate::grid::args::Worker),
    /// Start the job engine of a grid
    Broker(crate::grid::args::Broker),
    /// Show the runs in a folder in the browser, live
    Serve(Serve),
    /// Write a report about runs: HTML, markdown, SVG or JSON
    Report(Report),
    /// Say whether one set of runs is better than another
    Compare(Compare),
    /// Write a crate with a problem or a game of your own
    New(crate::commands::new::New),
    /// Tell what this machine has, and what to type to get the rest
    Doctor(crate::commands::doctor::Doctor),
    /// Print completions for a shell
    Completions(Completions),
    /// Print the manual page, or write those of all commands
    Man(Man),
    /// Print the formats of the run folder as JSON schema
    Schema(Schema),
}

/// `sortie list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie list
  sortie list samegame      one domain: its instances and options
  sortie list searches      the searches and their parameters
  sortie list players       the players of games and their parameters")]
pub struct List {
    /// A domain, or searches, forms or players; nothing: all
    pub what: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie solve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie solve samegame/1
  sortie solve samegame/1 --time 4m
  sortie solve morpion/5D --level 4 --seed 7 --time 10m --out runs/hunt
  sortie solve samegame/1 --parallel shared:1 --workers 8 --threads 2 --time 1m
  sortie solve samegame/15x15x5-7 --search nmcs --level 2 --playouts 100000 --json
  sortie solve vrptw/R101 vrptw/C104 --seeds 10 --time 20s --out runs/many
  sortie solve vrptw/R104 --from runs/first --on-improve 'cp $SORTIE_RECORD best.txt'

An instance is domain/name or domain/path/to/file.
Several limits: whichever comes first. A run with a limit repeats its search until then.
With --level or --width and no limit it is one whole search, with none of them a minute.
The same seed, search, --best-of, --workers and --playouts give the same moves at any number of threads.
Ctrl-C ends the run with the best so far; `sortie resume` goes on with it.

Exit codes: 0 done, 1 the --target was not reached, 2 misuse.")]
#[command(allow_negative_numbers = true)] // so that -1 is refused as a value, and not as an option
pub struct Solve {
    /// What to solve: domain/name or domain/path/to/file (see `sortie list`); several: one after the other
    #[arg(required = true, value_name = "INSTANCE")]
    pub instances: Vec<String>,
    /// Solve each with so many seeds, from --seed on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: Option<u32>,
    /// Begin with the solution of this record or run folder, and never fall behind it
    #[arg(long, value_name = "RECORD")]
    pub from: Option<PathBuf>,
    /// Run this whenever a better solution is on disk, with SORTIE_RECORD, SORTIE_SCORE and SORTIE_INSTANCE set
    #[arg(long, value_name = "CMD")]
    pub on_improve: Option<String>,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Seed of all random numbers; drawn and printed if not given
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Threads [default: the number of processors]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Independent searches of which the best counts [default: the number of threads; with --parallel 1]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub best_of: Option<u32>,
    #[command(flatten)]
    pub limits: LimitArgs,
    /// The run folder, new or empty [default: a new one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub grid: crate::grid::args::SolveGridArgs,
    /// How often the state of the search is saved
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1s", hide = true)]
    pub checkpoint_every: f64,
}

/// Which search, with which parameters. Serialised, it is the search as a spec holds it: what is not given is left to
/// the search's own defaults, and what the search does not have is refused there.
#[derive(Debug, Clone, Args, Serialize)]
pub struct SearchArgs {
    /// The search: auto, nrpa, hd-nrpa, beam-nrpa, nmcs, beam, own or sample [default: nrpa where parameters of a search
    /// are given, otherwise what the domain says suits it, which is auto unless it knows better]
    #[arg(long = "search", value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Levels of nesting, 1 to 8 (nrpa and its kin: 3, nmcs: 2)
    #[arg(long, value_name = "L")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// Calls of the level below, per level (100); beam-nrpa and hd-nrpa: or one number a level, from level 1 up
    #[arg(long, value_name = "N[,N...]")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<PerLevel>,
    /// Solutions a level keeps (beam-nrpa, hd-nrpa): one number for all levels, or one a level from level 1 up, the
    /// last standing for all above (hd-nrpa: 1,10, beam-nrpa: 1,4)
    #[arg(long, value_name = "B[,B...]")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beam: Option<PerLevel>,
    /// Share of a level's iterations that pass before it learns (hd-nrpa: 0.1)
    #[arg(long, value_name = "SHARE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learn_after: Option<f64>,
    /// The step of an adaptation (nrpa and its kin: 1)
    #[arg(long, value_name = "A")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Add the domain's bias to the weights (nrpa and its kin)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<bool>,
    /// Leave out moves the domain thinks poor (nrpa and its kin, beam: true, nmcs and sample: false)
    #[arg(long, value_name = "true|false", hide_possible_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selective: Option<bool>,
    /// Divide the weights by this where probabilities are computed (nrpa: 1)
    #[arg(long, value_name = "TAU")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Playouts of a call of level 0, the best of which counts (nrpa, nmcs: 1); of a position (beam: 0, what the domain says of it)
    #[arg(long, value_name = "P")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stabilise: Option<u32>,
    /// Positions of each length that are kept, 1 to 1000000 (beam: 10000)
    #[arg(long, value_name = "W")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// The most that chance adds to what a position promises (beam: 0, equals are ordered by chance)
    #[arg(long, value_name = "X")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// End after the first step of the top level (nmcs)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub early_stop: Option<bool>,
    /// End a level when its best sequence has come again so many times (nrpa: 0, never)
    #[arg(long, value_name = "R")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u32>,
    /// Hand the results of level 1 to the domain's local search, where it has one (nrpa)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub improve: Option<bool>,
    /// Calls in parallel: shared:L, local:L (L is a level), islands:E (they look at each other every E iterations), root
    /// or none (nrpa: none)
    #[arg(long, value_name = "FORM")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel: Option<String>,
    /// Parallel calls at a time, on which the answer depends [default: the number of threads]
    #[arg(long, value_name = "M")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<u32>,
}

/// When a run ends.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// End after so many playouts of the whole run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub playouts: Option<u64>,
    /// End after so much time: 500ms, 20s, 4m, 1h30m
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// End after so much CPU time of all threads
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub cpu_time: Option<f64>,
    /// End when the score is at least this
    #[arg(long, value_name = "SCORE")]
    pub target: Option<f64>,
    /// End after so many playouts of a stream without an improvement
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub patience: Option<u64>,
}

/// How a run is told of.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// No progress, only the result
    #[arg(long, short)]
    pub quiet: bool,
}

/// How a piece of work in a folder of its own is done: `sortie data`, `train` and `exit`.
#[cfg(feature = "neural")]
#[derive(Debug, Args)]
pub struct WorkArgs {
    /// Threads [default: the number of processors]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// The folder, new or of the same request [default: a new one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArgs,
}

#[cfg(feature = "neural")]
impl WorkArgs {
    /// The folder, or a new one named after what is done there.
    pub fn folder(&self, what: &str, instance: &str) -> PathBuf {
        self.out.clone().unwrap_or_else(|| crate::contest::fresh_path(what, instance))
    }
}

/// `sortie resume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie resume runs/hunt             go on where it was stopped or killed
  sortie resume runs/hunt --time 1h   another hour, even if the run has ended
  sortie resume runs/duel --games 400   a match up to so many games
  sortie resume runs/open --jobs 50000  a search for a proof up to so many jobs")]
#[command(allow_negative_numbers = true)]
pub struct Resume {
    /// The run folder
    pub folder: PathBuf,
    /// Go on for so much more time, even if the run has ended: 20s, 4m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// Of a match: so many games in all, even if it has ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub games: Option<u64>,
    /// Of a search for a proof: so many jobs in all, even if it has ended
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub jobs: Option<u64>,
    /// Threads [default: as before]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Start the programs of others that the folder names as players
    #[arg(long)]
    pub programs: bool,
    #[command(flatten)]
    pub grid: crate::grid::args::ResumeGridArgs,
    #[command(flatten)]
    pub report: ReportArgs,
    /// How often the state of the search is saved
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1s", hide = true)]
    pub checkpoint_every: f64,
}

/// `sortie verify`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all are right, 1 one is wrong, 2 a file is neither a record nor a proof."
)]
pub struct Verify {
    /// Records, proofs, or run folders
    #[arg(required = true, value_name = "FILE|DIR")]
    pub records: Vec<PathBuf>,
    /// The instance to check against, instead of the one a record names
    #[arg(long)]
    pub instance: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie replay`.
#[derive(Debug, Args)]
#[command(after_help = "Keys: space or right = next, left = back, p = pause or go on, q = quit.")]
#[command(allow_negative_numbers = true)]
pub struct Replay {
    /// A record, or a run folder
    #[arg(value_name = "FILE|DIR")]
    pub record: PathBuf,
    /// Wait for a key after each move
    #[arg(long)]
    pub step: bool,
    /// Moves per second: 8 or 8/s
    #[arg(long, value_name = "N", default_value = "4", value_parser = speed)]
    pub speed: f64,
    /// Print the positions one below the other, as when the output is not a terminal
    #[arg(long)]
    pub plain: bool,
}

/// `sortie show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie show samegame/1
  sortie show runs/hunt --png best.png --scale 2
  sortie show leftmove/60 --moves \"left left right\"")]
#[command(allow_negative_numbers = true)]
pub struct Show {
    /// An instance, a record or a run folder
    #[arg(value_name = "INSTANCE|FILE|DIR")]
    pub what: String,
    /// Write an SVG picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write a PNG picture
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,
    /// Pixels of the PNG per unit of the picture
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub scale: f64,
    /// The position of an instance after these moves
    #[arg(long, value_name = "WORDS", conflicts_with = "after", allow_hyphen_values = true)]
    pub moves: Option<String>,
    /// The position of a record after so many of its moves
    #[arg(long, value_name = "N")]
    pub after: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie play`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  sortie play loa
  sortie play hex/7 --side second --time 5s --save game.record
  sortie play connect4 --side none --playouts 1000     the engine against itself
  sortie play connect6 --player engine                 two stones a turn: i9k9

A move is typed as its word or as its number in the list; `help` says what else can be typed.
GAME is domain/name (see `sortie list`), or the domain alone.
Ctrl-C, quit or the end of the input end the session; the moves are printed, and saved with --save.

{}", crate::players::help()))]
#[command(allow_negative_numbers = true)]
pub struct Play {
    /// The game
    pub game: String,
    /// Who plays the other side
    #[arg(long, value_name = "SPEC", default_value = "default")]
    pub player: String,
    /// The side you play: first, second, both or none
    #[arg(long, value_name = "SIDE", default_value = "first")]
    pub side: Seats,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Begin at this position: its line, FEN, SGF, a board as it is drawn, or a file with any of these
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// Write the game here when it ends
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Seed of all random numbers; drawn if not given
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: Option<u64>,
}

/// Which sides the person at the terminal plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Seats {
    /// The side that begins.
    First,
    /// The other one.
    Second,
    /// Both: the engine only gives hints.
    Both,
    /// None: the engine plays itself.
    None,
}

/// How much thought a move may cost.
#[derive(Debug, Clone, Args)]
pub struct BudgetArgs {
    /// Think for so long: 500ms, 2s, 1m
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true)]
    pub time: Option<f64>,
    /// Think for so many simulations
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub playouts: Option<u64>,
}

impl BudgetArgs {
    /// The budget; so many seconds if nothing was said.
    pub fn budget(&self, seconds: f64) -> sortie_core::Budget {
        let seconds = self.time.or(self.playouts.is_none().then_some(seconds));
        sortie_core::Budget { playouts: self.playouts, seconds, ..sortie_core::Budget::default() }
    }
}

/// `sortie analyse`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Examples:
  sortie analyse loa
  sortie analyse loa --moves \"b1-b3 a6-c6\" --time 1m --lines 3
  sortie analyse connect4 --position 4453
  sortie analyse gomoku --position game.sgf
  sortie analyse connect4 --moves \"d d\" --playouts 100000 --player default:threads=2 --json

  echo '{{\"id\":\"a\",\"moves\":[\"d\",\"d\"],\"turns\":[0,1,2],\"playouts\":2000}}' | sortie analyse connect4 --jsonl

The lines are shown live while the search goes on; Ctrl-C stops it with what it has found.

{}", crate::players::help()))]
#[command(allow_negative_numbers = true)]
pub struct Analyse {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// The position to look at, instead of the game's own start: its line, FEN, SGF, a board as it is drawn, Connect Four's
    /// columns (4453), a file with any of these, or - for stdin
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// The moves to play from there first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub moves: Option<String>,
    /// Who looks at it
    #[arg(long, value_name = "SPEC", default_value = "default")]
    pub player: String,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Moves to show
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub lines: u32,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Print one JSON object at the end, and nothing before
    #[arg(long)]
    pub json: bool,
    /// Read positions as lines of JSON and answer with lines of JSON (docs/analysis.md)
    #[arg(long, conflicts_with_all = ["json", "moves", "position"])]
    pub jsonl: bool,
    /// Positions that are looked at at a time [default: the number of processors]
    #[arg(long, value_name = "N", requires = "jsonl", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
}

/// `sortie review`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie review game.record --time 2s          a game that `play` saved
  sortie review game.sgf                       one of other programs
  sortie review runs/duel --number 3           a game of a match
  sortie review runs/duel --number 3 --logged  what its players thought, without a search

A move is an inaccuracy (?!) where it gives away 7 % of the value, a mistake (?) from 15 %, a blunder (??) from 30 %.
What the engine would have played itself is none of them.")]
#[command(allow_negative_numbers = true)]
pub struct Review {
    /// The record of a game, in our form or as SGF, or the folder of a match
    #[arg(value_name = "GAME")]
    pub game: PathBuf,
    /// What was played, where the file does not tell: domain/name
    #[arg(long, value_name = "NAME")]
    pub instance: Option<String>,
    /// Which game of a match [default: the first of its log]
    #[arg(long, value_name = "N")]
    pub number: Option<u64>,
    /// Show what the players of a match thought themselves
    #[arg(long)]
    pub logged: bool,
    /// Who looks at it
    #[arg(long, value_name = "SPEC", default_value = "default")]
    pub player: String,
    #[command(flatten)]
    pub budget: BudgetArgs,
    /// Seed of all random numbers
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie engine`.
#[derive(Debug, Args)]
#[command(after_help = format!("\
Example:
  printf 'position startpos moves b1b3\\ngo nodes 1000\\nwait\\n' | sortie engine loa

The protocol is that of UCI with words of the game for moves; docs/protocol.md has all of it.

{}", crate::players::help()))]
pub struct Engine {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// Who thinks
    #[arg(long, value_name = "SPEC", default_value = "default")]
    pub player: String,
}

/// `sortie prove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie prove breakthrough/4x4 --proof win.proof
  sortie prove connect4 --moves \"d d d d d d c c\" --workers 2 --out runs/opening
  sortie prove hex/4 --moves a1 --select uct --policy flag --job-nodes 2000 --json
  sortie prove gomoku --player 'gomocup[time=500ms]:rapfi' --moves \"h8 i9\" --jobs 200
  sortie verify win.proof

A job looks at one position of the tree: with an exact solver for up to --job-nodes positions, and if that is not
enough and --job-playouts is given, with our player. The tree decides which positions, and what the answers prove.
--select: pns, uct, abs or pn-uct. --policy: flag, virtual-win, virtual-loss, greedy, ve or ve-flag.
--ask: value, win or draw, for the side to move.
--player is an engine, with --job-playouts as its limit by nodes. It must leave out the moves it is told to leave out,
which is tried before the search begins (`sortie probe`); what it is sure of counts only with --trust word.
A proof holds the whole strategy, down to the ends of the game; `sortie verify` checks it without any search.
Ctrl-C ends the search; `sortie resume DIR` goes on, after kill -9 too.

Exit codes: 0 decided, 1 not decided within --jobs, 2 misuse.")]
#[command(allow_negative_numbers = true)]
pub struct Prove {
    /// The game: domain/name, or the domain alone
    pub game: String,
    /// The position, instead of the game's own start
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// The moves to play from there first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub moves: Option<String>,
    /// What to find out: the value, or only whether the side to move gets a win, or a draw
    #[arg(long, value_name = "WHAT", default_value = "value")]
    pub ask: String,
    /// How the next leaf is selected
    #[arg(long, value_name = "NAME", default_value = "pns")]
    pub select: String,
    /// What a leaf counts as until its job comes back
    #[arg(long, value_name = "NAME", default_value = "ve-flag")]
    pub policy: String,
    /// Jobs, at most
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub jobs: u64,
    /// Jobs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
    /// Positions a job looks at, at most
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub job_nodes: u64,
    /// Simulations of our player where that is not enough
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1_000_000_000))]
    pub job_playouts: u64,
    /// Who is asked where the exact solver has no result, instead of our player: uci:, gtp:, gomocup: or text:PROGRAM
    #[arg(long, value_name = "SPEC")]
    pub player: Option<String>,
    /// Whose claims count as proved: checked, solver, or word, which is any engine's
    #[arg(long, value_name = "WHOSE", default_value = "solver")]
    pub trust: String,
    /// What a worker remembers between jobs, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub memory: u32,
    /// The weight of exploration, for uct and pn-uct
    #[arg(long, value_name = "C", default_value_t = std::f64::consts::SQRT_2)]
    pub c: f64,
    /// A file with proof numbers and values of the thirteen statuses (docs/prove.md)
    #[arg(long, value_name = "FILE")]
    pub statuses: Option<PathBuf>,
    /// Write the strategy here when the question is decided
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Write the strategy here in a few bits a position, for checkers of others (docs/certificates.md)
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Write the certificate of this claim without a tree of jobs: "first wins", "second draws at least" and so on
    #[arg(long, value_name = "CLAIM", requires = "certificate", conflicts_with_all = ["proof", "db", "player", "grid", "position"])]
    pub claim: Option<String>,
    /// Look positions up in this database of proved positions, and store what is proved: a file, or mysql://...
    #[arg(long, value_name = "DB")]
    pub db: Option<String>,
    /// Look up every position after a move, not only that after the answer
    #[arg(long, requires = "db")]
    pub db_successors: bool,
    /// Seed of our player
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    /// The run folder, new or of the same command [default: a new one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub grid: crate::grid::args::GridArgs,
}

/// `sortie gauntlet`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example of a file:
  game = \"connect6/19\"
  player = \"engine\"
  games = 100
  limit = \"1s-cpu\"
  plies = 5

  [[opponent]]
  name = \"Somebody\"
  version = \"1.0\"
  player = \"text[words=somebody.toml]:./somebody\"

Every opponent is a match in a folder of its own under --out; the table is in table.md and result.json there.
Stopped or killed, the same command with the same --out goes on. docs/gauntlet.md tells more.")]
pub struct Gauntlet {
    /// The file with the opponents
    pub file: PathBuf,
    /// The folder [default: a new one under runs/]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Games at a time: more than one only where limits are not times [default: 1]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub concurrency: Option<u32>,
    #[command(flatten)]
    pub report: ReportArgs,
}

/// `sortie probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie probe uci:/usr/games/stockfish --nodes 20000
  sortie probe 'gtp[boardsize=9]:gnugo --mode gtp' --jobs 20
  sortie probe 'gomocup[time=200ms]:rapfi' gomoku
  sortie probe 'uci:sortie engine hex/5' hex/5 --json

The engine is asked for its move, again without that move, and so on, and once with a single move left, in three
positions. Then it does some jobs, as a job tree would hand them out. Without a GAME the engine itself says which moves
are legal: UCI by MultiPV, GTP by all_legal. docs/engines.md has the protocols.

Exit codes: 0 it can do jobs, 1 it is refused, with the evidence, 2 misuse.")]
#[command(allow_negative_numbers = true)]
pub struct Probe {
    /// The engine: uci:, gtp:, gomocup: or text:PROGRAM, with options as players have them
    #[arg(value_name = "ENGINE")]
    pub player: String,
    /// The game whose rules hold: domain/name, or the domain alone [default: the engine's own rules]
    pub game: Option<String>,
    /// The position, instead of the game's own start: for chess a FEN
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub position: Option<String>,
    /// The moves to play from there first
    #[arg(long, value_name = "WORDS", allow_hyphen_values = true)]
    pub moves: Option<String>,
    /// Nodes of a job
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub nodes: Option<u64>,
    /// Jobs to do after that
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    pub jobs: u64,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie serve                                  the runs under runs/
  sortie serve studies --port 9000
  sortie serve --bind 0.0.0.0 --token-file token.txt

It reads folders and changes nothing. At an address that others can reach it wants a token.
From another machine without one: ssh -L 8080:127.0.0.1:8080 HOST, then http://127.0.0.1:8080 there.
/metrics has the same in the text format of Prometheus.")]
pub struct Serve {
    /// The folder with the runs, or a run
    #[arg(value_name = "DIR", default_value = "runs")]
    pub folder: PathBuf,
    /// The address to listen at
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: String,
    /// The port; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 8080)]
    pub port: u16,
    /// A file whose first line is the token that others must show
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// A name under which this machine is reached, besides its addresses; may be given again
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Moves of games that may be thought about at a time; 0: no games
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=256))]
    pub games: u32,
}

/// `sortie report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie report runs --out report.html
  sortie report runs/a runs/b --at 30s --format markdown
  sortie report runs/a runs/b --format svg --out curves.svg

A DIR is a run, or a folder with runs in it at any depth. Runs that differ in their seed alone are one group: its
line is the median, its band holds the middle 80 %. The HTML file needs nothing else to be read.")]
pub struct Report {
    /// Runs, or folders with runs
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Where to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// html, markdown, svg or json [default: as the name of --out says, otherwise markdown]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<ReportFormat>,
    /// Take the scores at this time of the runs [default: at their ends]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub at: Option<f64>,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// One file with everything in it.
    Html,
    /// Tables.
    Markdown,
    /// The curves; of one instance only.
    Svg,
    /// Data.
    Json,
}

/// `sortie compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie compare runs/level3 runs/level4
  sortie compare runs/level3 runs/level4 --at 30s --json

A and B are folders of runs that differ in their seed alone (or single runs), of the same instance.
The rank test of Mann and Whitney says whether B is really better or worse: p below 0.05, two-sided.
The bootstrap gives the interval of the difference of the medians. Four runs of each are the least that can tell.

Exit codes: 0 the difference is real, 1 it may be chance or the runs are too few, 2 misuse.")]
pub struct Compare {
    /// The first runs
    pub a: PathBuf,
    /// The others
    pub b: PathBuf,
    /// Take the scores at this time of the runs [default: at their ends]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub at: Option<f64>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `sortie completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie completions bash > ~/.local/share/bash-completion/completions/sortie
  sortie completions zsh > ~/.zfunc/_sortie
  sortie completions fish > ~/.config/fish/completions/sortie.fish")]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell
    pub shell: clap_complete::Shell,
}

/// `sortie man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie man | man -l -
  sortie man --dir ~/.local/share/man/man1")]
pub struct Man {
    /// Write the page of every command into this folder
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// `sortie schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie schema                 all of them in one object
  sortie schema events          one line of events.jsonl")]
pub struct Schema {
    /// spec, events, result or games; none: all
    pub part: Option<String>,
}

fn speed(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text).parse().ok();
    number.filter(|speed| (0.01..=1000.0).contains(speed)).ok_or_else(|| "expected 0.01 to 1000".into())
}
