//! The problems and games of Sortie, one file each, and the table that names them.
//! A domain knows nothing of searches and does no I/O.

mod breakthrough;
mod connect4;
pub mod connect6;
mod gomoku;
mod grid;
mod hex;
mod loa;
mod morpion;
#[cfg(test)]
mod perft;
mod pgame;
mod records;
mod registry;
mod samegame;
mod schur;
pub mod sgf;
mod snake;
mod tictactoe;
mod toy;
mod vrptw;

// The games by type, for programs that play them without the table.
pub use breakthrough::Breakthrough;
pub use connect4::Connect4;
pub use connect6::Connect6;
pub use gomoku::Gomoku;
pub use hex::Hex;
pub use loa::{Loa, Repetition, Rules};
pub use pgame::PGame;
pub use records::{CONNECT4_SOLVED, record};
pub use registry::{catalogue, install, open};
pub use tictactoe::TicTacToe;
