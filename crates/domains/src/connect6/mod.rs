//! Connect6 (Wu, Huang and Chang 2006): the first side begins with one stone, from then on both play two a turn, and six
//! or more in a row, column or diagonal win. A full board is a draw.
//!
//! A move is one stone, so a side has two plies in a row: the contract allows it, 361 numbers are enough for all moves
//! (pairs would need 65,000 a position), and playouts, proofs and the tree need no special case. What it costs is that
//! a pair is found twice, once in each order; with `transpositions` the tree joins them. A word is one stone too; texts
//! of positions may hold pairs.
//!
//! `board.rs` and what builds on it is the engine: it thinks in turns.

mod argument;
mod attack;
mod board;
mod defence;
mod engine;
mod facts;
mod lookahead;
#[cfg(test)]
mod oracle;
mod player;
mod proof;
mod rules;
mod status;
#[cfg(test)]
mod tests;
mod text;
mod turns;
mod vcdt;
mod worker;
mod zone;

pub use board::{Board, Covers, Windows};
pub use engine::{Answer, Engine, Evidence, Limits};
pub use lookahead::Params;
pub use proof::{Loss, Proof, Step, check, check_loss};
pub use rules::{Connect6, State};
pub use status::Status;
pub use vcdt::{Vcdt, Verdict};
pub use zone::{Attempt, Effort, Zone, prove_loss};

use crate::grid::{SIDE_MAX, parse_square};
use sortie_core::Boxed;
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "connect6",
    about: "game: Connect6, two stones a turn, six in a row",
    names: "the size of the board, 6 to 19",
    options: &[],
    examples: &["connect6/19", "connect6/9"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(ENTRY.options)?;
    let size = parse_square(request, &ENTRY, 6, SIDE_MAX)?;
    Ok(Opened::Game(Box::new(Boxed::new(Connect6::new(size)))))
}
