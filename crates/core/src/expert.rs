//! A game that knows more than its rules: a player and a worker of its own making, and arguments that its proofs may rest
//! on. Every game plays and is proved without it, by the searches and the exact solver.

use crate::domain::Side;
use crate::exact::{AnyWorker, Argued, Settled, Statuses};
use crate::play::AnyPlayer;

/// What a game has of its own making. What it proves is checked by code that shares nothing with the search for it.
pub trait Expert: Send + Sync {
    /// A position of the game.
    type State;
    /// A move of the game.
    type Move;

    /// A player, beside the searches that play every game.
    fn player(&self, seed: u64) -> Box<dyn AnyPlayer>;

    /// Somebody who answers jobs, in place of the exact solver.
    fn worker(&self, statuses: &Statuses) -> Box<dyn AnyWorker>;

    /// Proves a position with up to `nodes_max` nodes, and has the proof checked.
    fn settle(&self, state: &Self::State, nodes_max: u64) -> Settled;

    /// Looks for an argument that `side` wins from here, with up to `nodes_max` nodes for each search in it; where the
    /// other side is to move, whatever it plays but the moves in `except`. A proof carries the text.
    fn argue(
        &self,
        state: &Self::State,
        side: Side,
        except: &[Self::Move],
        nodes_max: u64,
        stop: &dyn Fn() -> bool,
    ) -> Argued<Self::Move>;

    /// Checks such an argument. The error says what is wrong.
    fn check_argument(
        &self,
        state: &Self::State,
        side: Side,
        except: &[Self::Move],
        text: &str,
    ) -> Result<(), String>;
}
