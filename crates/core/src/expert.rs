//! What a domain may have of its own making. A game that knows more than its rules: a player and a worker, and arguments
//! that its proofs may rest on (`Expert`); every game plays and is proved without it, by the searches and the exact solver.
//! A problem with a search that suits nothing else (`Specialist`).

use crate::domain::Side;
use crate::exact::{AnyWorker, Argued, Settled, Statuses};
use crate::play::AnyPlayer;
use crate::rng::Rng;

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

/// A search under way that a domain brings itself (`Problem::specialist`).
pub trait Specialist<M> {
    /// Works for some milliseconds. Every end that is better than all before is handed to `found`, as all the moves to it
    /// from the initial position, each of them legal.
    fn work(&mut self, rng: &mut Rng, found: &mut dyn FnMut(&[M]));

    /// Takes a solution of somebody else's, to begin with it.
    fn learn(&mut self, _moves: &[M]) {}

    /// What it needs to go on later with what it has found. Whatever else `specialist` is given, it must not panic.
    fn save(&self) -> Vec<u8>;
}
