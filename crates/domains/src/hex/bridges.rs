//! Who is connected but for disjoint pairs of empty cells: who loses one of a pair plays the other. The rule by which
//! strategies in certificates end early (docs/certificates.md); a checker has it too, so it is as simple as can be.

use super::connect::Stones;
use sortie_core::Side;

/// Whether the stones of a side connect its edges, two empty cells that touch both standing for a link.
pub fn connected(board: Stones, side: Side) -> bool {
    let size = board.size;
    let all = if size * size == 64 { u64::MAX } else { (1 << (size * size)) - 1 };
    let row: u64 = (1 << size) - 1;
    let column = (0..size).fold(0u64, |cells, row| cells | 1 << (size * row));
    let (left, right) = (column, column << (size - 1));
    let around = |cells: u64| {
        let beside = (cells & !right) << 1 | (cells & !left) >> 1 | cells << size | cells >> size;
        (beside | (cells & !left) << (size - 1) | (cells & !right) >> (size - 1)) & all
    };
    let (stones, from, to) = match side {
        Side::First => (board.first, row, row << (size * (size - 1))),
        Side::Second => (board.second, left, right),
    };
    let flood = |from: u64| {
        let mut group = from & stones;
        loop {
            let grown = group | around(group) & stones;
            if grown == group {
                return group;
            }
            group = grown;
        }
    };
    let empty = all & !(board.first | board.second);
    let (mut reached, mut used) = (flood(from), 0u64);
    loop {
        let near = (around(reached) | from) & empty & !used;
        if reached & to != 0 || (near & to).count_ones() >= 2 {
            return true;
        }
        let mut rest = stones & !reached;
        let link = loop {
            if rest == 0 {
                return false;
            }
            let group = flood(rest & rest.wrapping_neg());
            let both = near & around(group);
            if both.count_ones() >= 2 {
                break (group, both);
            }
            rest &= !group;
        };
        let (group, both) = link;
        let others = both & (both - 1);
        used |= both & both.wrapping_neg() | others & others.wrapping_neg();
        reached |= group;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(size: usize, list: &[(usize, usize)]) -> u64 {
        list.iter().fold(0, |cells, &(column, row)| cells | 1 << (size * row + column))
    }

    #[test]
    fn bridges_connect_and_pairs_are_used_once() {
        // b2 of 3x3 has two cells to either edge of both sides.
        let board = |first, second| Stones { size: 3, first, second };
        let middle = cells(3, &[(1, 1)]);
        assert!(connected(board(middle, 0), Side::First) && connected(board(0, middle), Side::Second));
        assert!(!connected(board(middle, 0), Side::Second));
        // One cell of a pair is taken: no link there any more.
        assert!(!connected(board(middle, cells(3, &[(1, 0)])), Side::First));
        assert!(connected(board(middle | cells(3, &[(2, 0)]), cells(3, &[(1, 0)])), Side::First));
        assert!(!connected(board(0, 0), Side::First));
        assert!(connected(Stones { size: 1, first: 1, second: 0 }, Side::First));
        // On 4x4 b2 and c4 touch through b3 and c3: a bridge between stones.
        let far = cells(4, &[(1, 1), (0, 3)]);
        assert!(connected(Stones { size: 4, first: far, second: 0 }, Side::First));
        assert!(!connected(Stones { size: 4, first: far, second: cells(4, &[(0, 2)]) }, Side::First));
    }
}
