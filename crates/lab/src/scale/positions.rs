//! The positions that a study looks at: openings, the middle of the game and its end, the same for the same seed.

use crate::contest::opening;
use anyhow::{Result, anyhow};
use sortie_core::{AnyGame, Budget, Uct, mix};
use std::sync::atomic::AtomicBool;

/// Playouts of a move of the games that lead to the positions: enough not to play at random.
const PLAYOUTS: u64 = 200;
/// Moves played after the random ones: opening, middle, late.
const DEPTHS: [usize; 3] = [0, 12, 28];
/// A late position is at least so many moves before the end of its game.
const BEFORE_THE_END: usize = 6;

/// So many positions, as moves from the start: openings, middle, late, and again.
pub fn draw(game: &dyn AnyGame, count: u32, plies: u32, seed: u64) -> Result<Vec<Vec<String>>> {
    let uct = Uct { memory: 8, ..Uct::default() };
    let mut positions = Vec::new();
    for i in 0..u64::from(count) {
        let mut board = game.board(None)?;
        for word in opening::random(game, plies, seed ^ 0x5ca1e, i)? {
            board.play(&word)?;
        }
        let depth = DEPTHS[(i % DEPTHS.len() as u64) as usize];
        let mut player = game.player(&uct, mix(seed ^ i))?;
        let mut played = 0;
        while played < depth && board.outcome().is_none() {
            player.set(None, board.words())?;
            let thought = player.think(&Budget::playouts(PLAYOUTS), &AtomicBool::new(false), &mut |_| {})?;
            let word = thought.best.ok_or_else(|| anyhow!("a player without a move"))?;
            board.play(&word)?;
            played += 1;
        }
        if board.outcome().is_some() {
            // Where it is decided there is nothing left to search.
            let back = BEFORE_THE_END.min(played.max(1));
            for _ in 0..back {
                board.undo();
            }
        }
        positions.push(board.words().to_vec());
    }
    Ok(positions)
}
