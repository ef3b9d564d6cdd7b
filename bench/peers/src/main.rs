//! Tree search by other people's crates and by ours, on the same games. `bench/peers.sh` builds and runs it.
//!
//! ```text
//! peers run NAME GAME SIMULATIONS [THREADS]    one search; one line of JSON
//! peers table [REPEATS] [THREADS]              all of them in fresh processes, as a table
//! ```
//!
//! # What is compared
//!
//! The crates `arbor` 0.2, `treant` 0.4, `mcts` 0.3 and `minimax` 0.6, and `sortie` itself through the same door as
//! everybody uses it (`AnyGame::player`). They search Connect Four (400,000 simulations) and Lines of Action (60,000)
//! from the start position. Reported are simulations per CPU second of the process, from before the tree is made until
//! the move is known (freeing the tree is left out; `minimax` allows no other way than with it), and the peak resident memory of a process that does nothing else, some 2 MB of program included.
//!
//! # How fairly
//!
//! - Rules and playouts are `sortie-domains`' for everybody: every crate lets one plug in a playout of one's own
//!   (`minimax` by overriding a provided method that its documentation says needs no overriding), so nobody generates
//!   all moves in a playout. What is left to differ is the tree.
//! - UCT with the exploration constant sqrt 2 on values from 0 to 1, a node for a position at its second visit
//!   (`mcts` and `treant`: at its first, they know nothing else), uniform playouts to the end, no transpositions.
//!   `minimax` has its constant built in (sqrt 2 with a binary logarithm: 1.70 here) and always proves wins and losses;
//!   a simulation that ends in a proved node has no playout there, `playouts` in the JSON tells.
//! - Lines of Action without the rule of repetition (the preset `thesis`): `arbor` copies positions bit by bit, and
//!   this way they own no memory.
//! - The search is checked, not believed: `counted` is what the tree of the crate says about itself, `playouts` how
//!   often our playout was called. `minimax` tells no counts.
//! - The runs take turns, so that a busy minute hits everybody; the table has medians. Two threads are worth a look on
//!   a quiet machine only, and `arbor` has none.

mod game;
mod ours;
mod table;
mod with_arbor;
mod with_mcts;
mod with_minimax;

use cpu_time::ProcessTime;
use game::{Ground, playouts};
use serde_json::{Value, json};
use sortie_domains::{Connect4, Loa};
use std::process::ExitCode;
use std::time::Instant;

/// Who can search, ours last, and whether on several threads.
const NAMES: [(&str, bool); 5] =
    [("arbor", false), ("treant", true), ("mcts", true), ("minimax", true), ("sortie", true)];
/// The games, and the simulations of the table.
const GAMES: [(&str, u64); 2] = [("connect4", 400_000), ("loa", 60_000)];

const USAGE: &str = "usage: peers run NAME GAME SIMULATIONS [THREADS]
       peers table [REPEATS] [THREADS]
NAME is arbor, treant, mcts, minimax or sortie; GAME is connect4 or loa";

/// What a search found.
struct Found {
    /// The move, as our game writes it.
    best: String,
    /// Simulations by the tree's own count, where it tells.
    counted: Option<u64>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["run", name, game, simulations] => run(name, game, simulations, "1"),
        ["run", name, game, simulations, threads] => run(name, game, simulations, threads),
        ["table"] => table::print("5", "1"),
        ["table", repeats] => table::print(repeats, "1"),
        ["table", repeats, threads] => table::print(repeats, threads),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(name: &str, game: &str, simulations: &str, threads: &str) -> Result<(), String> {
    let simulations = number(simulations, u32::MAX.into())?;
    let threads = number(threads, 64)? as usize;
    let line = match game {
        "connect4" => measure::<Connect4>(name, game, simulations, threads)?,
        "loa" => measure::<Loa>(name, game, simulations, threads)?,
        _ => return Err(format!("no game '{game}'\n{USAGE}")),
    };
    println!("{line}");
    Ok(())
}

/// A whole number from 1 on.
fn number(word: &str, max: u64) -> Result<u64, String> {
    let given = word.parse().ok().filter(|n| (1..=max).contains(n));
    given.ok_or_else(|| format!("'{word}' is not a number from 1 to {max}\n{USAGE}"))
}

fn measure<G: Ground>(name: &str, game: &str, simulations: u64, threads: usize) -> Result<Value, String> {
    if threads > 1 && NAMES.contains(&(name, false)) {
        return Err(format!("{name} searches on one thread only"));
    }
    let (cpu, wall) = (ProcessTime::now(), Instant::now());
    let found = match name {
        "arbor" => with_arbor::search::<G>(simulations),
        "treant" => with_mcts::treant::search::<G>(simulations, threads),
        "mcts" => with_mcts::mcts::search::<G>(simulations, threads),
        "minimax" => with_minimax::search::<G>(simulations, threads),
        "sortie" => ours::search::<G>(simulations, threads)?,
        _ => return Err(format!("no search '{name}'\n{USAGE}")),
    };
    let (cpu_seconds, seconds) = (cpu.elapsed().as_secs_f64(), wall.elapsed().as_secs_f64());
    Ok(json!({
        "name": name,
        "game": game,
        "simulations": simulations,
        "threads": threads,
        "counted": found.counted,
        "playouts": playouts(),
        "best": found.best,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "rate": simulations as f64 / cpu_seconds,
        "max_rss_mb": max_rss_mb(),
    }))
}

/// The most memory that was ever resident, where the system tells (Linux).
fn max_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}
