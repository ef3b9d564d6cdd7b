//! Where games begin: random moves, or the lines of a file. Round r of a match has one opening, whoever plays it.

use crate::source::{Instance, read_text};
use anyhow::{Result, anyhow, bail};
use sortie_core::{AnyGame, Rng, mix};
use std::path::Path;

/// No file of openings is larger than this.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// Random openings that are over before they begin are drawn again so often before one move is left out.
const TRIES: u64 = 50;

/// So many random moves, none of which ends the game; fewer where the game is too short for them.
pub fn random(game: &dyn AnyGame, plies: u32, seed: u64, round: u64) -> Result<Vec<String>> {
    let mut rng = Rng::new(mix(seed ^ 0x09e4_146e), round);
    for plies in (0..=plies).rev() {
        'again: for _ in 0..TRIES {
            let mut board = game.board(None)?;
            for _ in 0..plies {
                let legal = board.legal();
                if legal.is_empty() {
                    continue 'again;
                }
                board.play(&legal[rng.below(legal.len())])?;
            }
            if board.outcome().is_none() {
                return Ok(board.words().to_vec());
            }
        }
    }
    bail!("the game is over before it begins")
}

/// The openings in a file: a line of moves each; blank lines and those that begin with # are passed over.
pub fn read(path: &Path, instance: &Instance) -> Result<Vec<String>> {
    let text = read_text(path, FILE_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let mut openings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = || format!("{}:{number}", path.display());
        let mut board = instance.game()?.board(None)?;
        for word in line.split_whitespace() {
            board.play(word).map_err(|error| anyhow!("{}: {error}", place()))?;
        }
        if board.outcome().is_some() {
            bail!("{}: the game is over after this opening", place());
        }
        openings.push(board.words().join(" "));
    }
    if openings.is_empty() {
        bail!("{}: no opening in it: expected a line of moves each", path.display());
    }
    Ok(openings)
}
