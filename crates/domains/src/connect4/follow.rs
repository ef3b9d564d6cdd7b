//! Who wins Connect Four for certain by answering in the column that the other side has just played: the rule by which
//! strategies in certificates end early (docs/certificates.md). A checker has it too, so it is as simple as can be.
//!
//! Who answers above every stone gets the upper cell of each pair in columns with an even number of empty cells. If one
//! column has an odd number, the other side must begin there in the end, and whoever answers gets every second cell of it:
//! a cell among these that makes four (an odd threat) wins, unless the other side makes four of all it may get before
//! that. V. Allis, "A knowledge-based approach of Connect-Four" (1988), has more rules of this kind.

use super::four;
use super::solve::{Position, after, landing, safe, winning};
use super::{BOARD, BOTTOM, WIDTH, column_bits};

/// The lowest cell of a column, and every second one above it.
const ODD: u64 = BOTTOM * 0b01_0101;

/// Whether the side that has just moved wins by following. `position` is that of the side to move, as everywhere here.
pub fn follows((other, all): Position) -> bool {
    let (own, empty) = (other ^ all, BOARD & !all);
    let columns = || (0..WIDTH).map(|column| empty & column_bits(column));
    let odd = || columns().filter(|cells| cells.count_ones() % 2 == 1);
    let four_at = winning(own, all) & ODD;
    // With an even number of empty cells nobody is forced to begin anywhere.
    if odd().count() % 2 == 0 || four_at == 0 || winning(other, all) & landing(all) != 0 {
        return false;
    }
    odd().filter(|cells| cells & four_at != 0).any(|begun| {
        let threat = begun & four_at & (begun & four_at).wrapping_neg();
        // What the other side may get, all at once. Of the other odd columns, of which there is an even number, the lowest
        // cells are answered by one another, whichever goes to whom.
        let gets = |cells: u64| match (cells == begun, cells.count_ones() % 2) {
            (true, _) => cells & (threat - 1) & !ODD,
            (_, 1) => cells & ODD | cells & cells.wrapping_neg(),
            _ => cells & ODD,
        };
        !four(columns().fold(other, |stones, cells| stones | gets(cells)))
    })
}

/// Whether the side to move wins by stones that the other side must answer, one after the other, and then by following or
/// by a four.
pub fn forces(position: Position) -> bool {
    let (own, all) = position;
    if winning(own, all) & landing(all) != 0 {
        return true;
    }
    let mut cells = safe(position);
    while cells != 0 {
        let cell = cells & cells.wrapping_neg();
        cells ^= cell;
        let next = after(position, cell);
        let threats = winning(own | cell, all | cell) & landing(all | cell);
        if threats.count_ones() > 1
            || follows(next)
            || threats.count_ones() == 1 && forces(after(next, threats))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::solve::Solver;
    use super::*;
    use sortie_core::Rng;

    #[test]
    fn who_follows_or_forces_wins_whatever_the_other_side_does() {
        let (mut rng, mut solver) = (Rng::new(5, 0), Solver::new(64 << 20));
        let (mut followed, mut forced) = (0, 0);
        for _ in 0..6000 {
            let mut position: Position = (0, 0);
            loop {
                let cells = landing(position.1);
                if cells == 0 || winning(position.0, position.1) & cells != 0 {
                    break;
                }
                let mut left = cells;
                (0..rng.below(cells.count_ones() as usize)).for_each(|_| left &= left - 1);
                position = after(position, left & left.wrapping_neg());
                if position.1.count_ones() < 14 || four(position.0 ^ position.1) {
                    continue;
                }
                if follows(position) {
                    followed += 1;
                    assert!(!solver.reaches(position, 0), "{position:?}");
                }
                if forces(position) {
                    forced += 1;
                    assert!(solver.reaches(position, 1), "{position:?}");
                }
            }
        }
        assert!(followed > 50 && forced > 3000, "{followed} {forced}");
    }
}
