//! Relevance zones (Wu and Lin 2010), and losses proved with them. A proof that the attack wins after the defence has
//! passed holds as well when the defence has put stones somewhere that the proof never looks at. So a lost position is
//! proved without trying all 60,000 turns: pass; then every single stone in the zone of that proof; then every second
//! stone in the zone of each of those.
//!
//! The zone for k stones of the defence: the cells the attack plays on, the empty cells of the windows it threatens in,
//! and the empty cells of every window in which the defence, after a turn of the attack, needs at most k stones to have
//! four. Stones outside cannot stand in the way, cannot stop a threat, and cannot become one.

use super::attack::sorted;
use super::board::{Board, NONE};
use super::proof::{Loss, Proof};
use super::vcdt::{Vcdt, Verdict};

/// What became of an attempt to prove a loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// It is lost.
    Lost(Loss),
    /// Passing loses, but nothing is known against this turn; with the zone of the pass.
    Held([u16; 2], Zone),
    /// Not even passing is known to lose.
    Open,
}

/// A set of cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Zone(Vec<bool>);

impl Zone {
    /// The zone of a proof for `side` against `extra` stones of the other side, in order.
    pub fn of(board: &mut Board, side: usize, proof: &Proof, extra: usize) -> Zone {
        assert!(extra <= 2, "a turn has two stones");
        let mut zone = Zone(vec![false; usize::from(board.cells())]);
        let mut seen = vec![false; proof.steps.len()];
        zone.follow(board, side, proof, 0, extra, &mut seen);
        zone
    }

    /// Whether a cell belongs to it.
    pub fn has(&self, cell: u16) -> bool {
        self.0.get(usize::from(cell)).copied().unwrap_or(false)
    }

    /// The cells.
    pub fn cells(&self) -> impl Iterator<Item = u16> {
        self.0.iter().zip(0..).filter(|(is_in, _)| **is_in).map(|(_, cell)| cell)
    }

    fn add(&mut self, cells: &[u16]) {
        for &cell in cells.iter().filter(|&&cell| cell != NONE) {
            self.0[usize::from(cell)] = true;
        }
    }

    fn follow(
        &mut self,
        board: &mut Board,
        side: usize,
        proof: &Proof,
        at: u32,
        extra: usize,
        seen: &mut [bool],
    ) {
        // The same step is always the same position.
        if std::mem::replace(&mut seen[at as usize], true) {
            return;
        }
        let step = &proof.steps[at as usize];
        self.add(&step.turn);
        board.play(step.turn, side);
        if board.live(side, 6).is_empty() {
            let own = (4..6).map(|stones| (side, stones));
            let other = (4 - extra..4).map(|stones| (1 - side, stones));
            for (side, stones) in own.chain(other) {
                for &window in board.live(side, stones) {
                    let (empty, count) = board.empties(window);
                    self.add(&empty[..count]);
                }
            }
            for &(answer, next) in &step.answers {
                board.play(answer, 1 - side);
                self.follow(board, side, proof, next, extra, seen);
                board.undo(answer, 1 - side);
            }
        }
        board.undo(step.turn, side);
    }
}

/// What an attempt to prove a loss may cost.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Nodes of a single attack search.
    pub each: u64,
    /// Nodes of all of them together.
    pub total: u64,
    /// Asked now and then; true ends it.
    pub over: &'a dyn Fn() -> bool,
}

/// Tries to prove that `side`, with a turn of `stones` stones and no win at hand, has lost; turns in `excluded`
/// (in order) are as if they were not legal.
pub fn prove_loss(
    vcdt: &mut Vcdt,
    board: &mut Board,
    side: usize,
    stones: u32,
    excluded: &[[u16; 2]],
    effort: Effort,
) -> Attempt {
    if board.winning_turns(side, stones).next().is_some() {
        return Attempt::Open;
    }
    let end = vcdt.visited.saturating_add(effort.total);
    let mut refute = |board: &mut Board| {
        let nodes_max = effort.each.min(end.saturating_sub(vcdt.visited));
        if nodes_max == 0 || (effort.over)() {
            return None;
        }
        match vcdt.search_turn(board, 1 - side, 2, &[], nodes_max, effort.over) {
            Verdict::Wins(proof) => Some(proof),
            _ => None,
        }
    };
    let Some(pass) = refute(board) else { return Attempt::Open };
    let zone = Zone::of(board, 1 - side, &pass, stones as usize);
    let mut loss = Loss { pass, stones: Vec::new(), turns: Vec::new() };
    let cells: Vec<u16> = zone.cells().collect();
    for cell in cells {
        if stones == 1 && excluded.binary_search(&[cell, NONE]).is_ok() {
            continue;
        }
        board.place(cell, side);
        let refuted = refute(board);
        let seconds: Vec<u16> = match &refuted {
            Some(proof) if stones == 2 => Zone::of(board, 1 - side, proof, 1).cells().collect(),
            Some(_) => Vec::new(),
            None if stones == 1 => {
                board.lift(cell, side);
                return Attempt::Held([cell, NONE], zone);
            }
            // The stone holds alone. Whether a second stone that is left makes it a legal turn is still to be seen.
            None => (0..board.cells()).filter(|&other| board.is_empty(other)).collect(),
        };
        loss.stones.extend(refuted.map(|proof| (cell, proof)));
        for other in seconds {
            let turn = sorted([cell, other]);
            if excluded.binary_search(&turn).is_ok() || loss.turns.iter().any(|(known, _)| *known == turn) {
                continue;
            }
            board.place(other, side);
            let refuted = refute(board);
            board.lift(other, side);
            match refuted {
                Some(proof) => loss.turns.push((turn, proof)),
                None => {
                    board.lift(cell, side);
                    return Attempt::Held(turn, zone);
                }
            }
        }
        board.lift(cell, side);
    }
    Attempt::Lost(loss)
}
