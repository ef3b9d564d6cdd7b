//! Monte-Carlo search for puzzles, routing and games, from one core to a cluster: the library and the command.
//!
//! An instance of ours:
//!
//! ```
//! use sortie::Budget;
//!
//! let best = sortie::open("samegame/1")?.solve(Budget::playouts(2_000)).seed(7).run()?;
//! println!("{} in {} moves", best.score, best.moves.len());
//! # Ok::<(), sortie::Error>(())
//! ```
//!
//! A problem of yours is four methods of rules and two of what is wanted. `sortie::solve` searches it with what suits
//! problems best; `sortie::main` makes the whole command of it: solve, resume, verify, show, serve, report, match and
//! prove. `sortie new my-problem` writes such a crate.
//!
//! ```
//! use sortie::{Budget, Domain, Problem};
//!
//! /// Numbers from 1 to 9, each once, so that neighbours differ as much as they can.
//! struct Zigzag;
//!
//! impl Domain for Zigzag {
//!     type State = Vec<u8>;
//!     type Move = u8;
//!
//!     fn initial(&self) -> Vec<u8> {
//!         Vec::new()
//!     }
//!     fn moves(&self, state: &Vec<u8>, out: &mut Vec<u8>) {
//!         out.extend((1..=9).filter(|next| !state.contains(next)));
//!     }
//!     fn play(&self, state: &mut Vec<u8>, next: u8) {
//!         state.push(next);
//!     }
//!     fn show(&self, state: &Vec<u8>) -> String {
//!         format!("{state:?}")
//!     }
//!     fn show_move(&self, _: &Vec<u8>, next: u8) -> String {
//!         next.to_string()
//!     }
//! }
//!
//! impl Problem for Zigzag {
//!     fn score(&self, state: &Vec<u8>) -> f64 {
//!         state.windows(2).map(|pair| f64::from(pair[0].abs_diff(pair[1]))).sum()
//!     }
//!     fn code(&self, state: &Vec<u8>, next: u8) -> u64 {
//!         u64::from(next) * 10 + u64::from(state.last().copied().unwrap_or(0))
//!     }
//! }
//!
//! let best = sortie::solve(&Zigzag, Budget::playouts(20_000).until(39.0)).seed(7).run()?;
//! assert_eq!(best.score, 39.0);
//! # Ok::<(), sortie::Error>(())
//! ```

#![forbid(unsafe_code)]

mod args;
mod campaign;
mod command;
mod commands;
mod contest;
mod convert;
mod costs;
mod database;
#[doc(hidden)]
pub mod doors;
mod engine;
mod font;
mod front;
mod grid;
mod help;
mod hook;
mod output;
mod paint;
#[doc(hidden)]
pub mod parts;
mod players;
mod policy;
mod processor;
mod progress;
mod ranks;
mod raster;
mod rescue;
mod searches;
mod session;
mod source;
mod thought;
mod words;

// The run folder is a crate of its own; the commands know its modules by their names.
use sortie_runs::{checkpoint, clock, duration, folder, journal, mailbox, scribe};

pub(crate) use command::Verdict;
pub use front::{Error, Opened as Instance, Solve, Solved, open, solve};
/// All that a domain can be told and say, and all that a search can be told: the crate below this one.
pub use sortie_core as contract;
pub use sortie_core::record::replay_whole;
pub use sortie_core::{
    Choices, Domain, Entry, Event, Game, Limits as Budget, Nrpa, OpenError, Opened, Outcome, Problem,
    Request, Rng, Search, Side, StopReason, conformance, measure, picture, search,
};
use std::process::ExitCode;

/// The whole command over the program's own domains and ours: `solve`, `resume`, `verify`, `show`, `serve`, `match` and
/// all the others. It parses, dispatches and turns what happened into an exit code: 0 done, 1 not found or not
/// verified, 2 misuse.
pub fn main(own: &[&'static Entry]) -> ExitCode {
    sortie_domains::install(own);
    command::command_line(std::env::args_os().collect())
}
