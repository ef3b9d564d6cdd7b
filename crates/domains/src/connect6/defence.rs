//! What holds when passing loses: turns in the relevance zone of the attack that wins then, the most promising first,
//! each tried against the other side's double threats. A stone that loses alone has a zone too, and its second stone must
//! lie in it; so most pairs are refuted by the search for one of their stones.

use super::attack::sorted;
use super::board::{Board, NONE};
use super::vcdt::{Vcdt, Verdict};
use super::zone::{Effort, Zone};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// So many turns that hold are enough to choose from.
const HOLDS_MAX: usize = 24;

/// What an attack that wins after a pass leaves to the defence.
#[derive(Debug)]
pub struct Defence {
    /// Turns that are not known to lose, in the order they came.
    pub holds: Vec<[u16; 2]>,
    /// The turns that were tried: the others may hold as well, or not.
    pub tried: usize,
}

/// Sorts out the turns that hold. `zone` is that of the attack after a pass, with `side` to move.
pub fn defend(
    vcdt: &mut Vcdt,
    board: &mut Board,
    side: usize,
    zone: &Zone,
    turns: &[[u16; 2]],
    effort: Effort,
) -> Defence {
    let end = vcdt.visited.saturating_add(effort.total);
    let mut refute = |board: &mut Board| {
        let nodes_max = effort.each.min(end.saturating_sub(vcdt.visited));
        if nodes_max == 0 || (effort.over)() {
            return None;
        }
        match vcdt.search_turn(board, 1 - side, 2, &[], nodes_max, effort.over) {
            Verdict::Wins(proof) => Some(Some(proof)),
            _ => Some(None),
        }
    };
    // By cell in the zone: where a second stone may help, or nothing if the stone holds alone.
    let mut alone: HashMap<u16, Option<Zone>> = HashMap::new();
    let mut defence = Defence { holds: Vec::new(), tried: 0 };
    'turns: for &turn in turns {
        if defence.holds.len() >= HOLDS_MAX {
            break;
        }
        let mut loses = !turn.iter().any(|&cell| zone.has(cell));
        for [cell, other] in [turn, [turn[1], turn[0]]] {
            if loses || other == NONE || cell == NONE || !zone.has(cell) {
                continue;
            }
            if let Entry::Vacant(vacant) = alone.entry(cell) {
                board.place(cell, side);
                let refuted = refute(board);
                let needed = refuted
                    .as_ref()
                    .map(|proof| proof.as_ref().map(|proof| Zone::of(board, 1 - side, proof, 1)));
                board.lift(cell, side);
                let Some(needed) = needed else { break 'turns };
                vacant.insert(needed);
            }
            loses = alone[&cell].as_ref().is_some_and(|zone| !zone.has(other));
        }
        if !loses {
            board.play(turn, side);
            let refuted = refute(board);
            board.undo(turn, side);
            let Some(proof) = refuted else { break };
            loses = proof.is_some();
        }
        defence.tried += 1;
        if !loses {
            defence.holds.push(sorted(turn));
        }
    }
    defence
}
