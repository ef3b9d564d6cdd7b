//! Whether the first side wins Connect Four: a search for yes or no, which asks less than a score does and knows who wins by
//! following (`follow.rs`). What it says is believed by nobody: certificates are checked.

use super::follow::forces;
use super::solve::{Position, after, landing, safe, winning};
use super::{BOARD, BOTTOM, STRIDE, WIDTH, column_bits, four};

/// Every second cell of a column, from the lowest.
const ODD: u64 = BOTTOM * 0b01_0101;
/// Below this many stones mirror images are looked up as one.
const MIRRORED: u32 = 20;
/// Columns in the order in which they are tried.
pub const COLUMNS: [usize; WIDTH] = [3, 2, 4, 1, 5, 0, 6];
/// Positions between two looks at whether to stop.
const POLL: u64 = 1 << 16;

/// The search and what it remembers.
pub struct Oracle {
    /// `key << 1 | answer`, at the key modulo the length.
    table: Vec<u64>,
    /// Positions looked at.
    nodes: u64,
    nodes_max: u64,
}

/// One number for a position and its mirror image.
pub fn key((own, all): Position) -> u64 {
    (own + all).min(mirror(own) + mirror(all))
}

fn mirror(bits: u64) -> u64 {
    let column = |c: usize| bits >> (STRIDE * c) & 0x7f;
    (0..WIDTH).fold(0, |image, c| image | column(c) << (STRIDE * (WIDTH - 1 - c)))
}

/// Whether the second side, to answer, keeps the first from making four by following: it answers in the same column, or
/// the lowest cell of one column with an odd number of empty cells by that of another. The first side is to move, so there
/// is an even number of these.
pub fn holds((own, all): Position) -> bool {
    !four(own | BOARD & !all & ODD | landing(all) & !ODD)
}

impl Oracle {
    /// Remembers about so many bytes.
    pub fn new(memory_max: usize) -> Self {
        // Odd, so that no bit of the key is left out.
        Oracle { table: vec![0; (memory_max / 8).max(1 << 10) | 1], nodes: 0, nodes_max: 0 }
    }

    /// Positions looked at so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Whether the first side wins; `None` if so many positions do not tell, or it was stopped.
    pub fn wins(&mut self, position: Position, nodes: u64, stop: &dyn Fn() -> bool) -> Option<bool> {
        self.nodes_max = self.nodes.saturating_add(nodes);
        let (own, all) = position;
        match winning(own, all) & landing(all) {
            0 => self.search(position, stop),
            _ => Some(all.count_ones() % 2 == 0),
        }
    }

    /// The same, where the side to move cannot make four at once.
    fn search(&mut self, position: Position, stop: &dyn Fn() -> bool) -> Option<bool> {
        self.nodes += 1;
        if self.nodes > self.nodes_max || self.nodes.is_multiple_of(POLL) && stop() {
            return None;
        }
        let (own, all) = position;
        let first = all.count_ones().is_multiple_of(2);
        let cells = safe(position);
        if cells == 0 {
            return Some(!first && all != BOARD);
        }
        if first && holds(position) {
            return Some(false);
        }
        let slot = self.slot(position);
        if let Some(known) = self.known(slot) {
            return Some(known);
        }
        let answer = match first && forces(position) {
            true => true,
            false => self.expand((own, all), cells, first, stop)?,
        };
        self.table[slot.1] = slot.0 << 1 | u64::from(answer);
        Some(answer)
    }

    fn expand(
        &mut self,
        position: Position,
        cells: u64,
        first: bool,
        stop: &dyn Fn() -> bool,
    ) -> Option<bool> {
        // Whoever makes more threats first, then the columns of the middle.
        let mut moves = [((0, 0), 0u32); WIDTH];
        let mut count = 0;
        for cell in COLUMNS.map(|column| cells & column_bits(column)) {
            if cell == 0 {
                continue;
            }
            let next = after(position, cell);
            if !first && (safe(next) == 0 || holds(next)) {
                return Some(false);
            }
            match self.known(self.slot(next)) {
                Some(known) if known == first => return Some(known),
                Some(_) => continue,
                None => {}
            }
            let threats = winning(position.0 | cell, next.1).count_ones();
            let mut at = count;
            while at > 0 && moves[at - 1].1 < threats {
                moves[at] = moves[at - 1];
                at -= 1;
            }
            moves[at] = (next, threats);
            count += 1;
        }
        for &(next, _) in &moves[..count] {
            if self.search(next, stop)? == first {
                return Some(first);
            }
        }
        Some(!first)
    }

    /// The key of a position, and where it is.
    fn slot(&self, position: Position) -> (u64, usize) {
        let (own, all) = position;
        let key = if all.count_ones() < MIRRORED { key(position) } else { own + all };
        (key, (key % self.table.len() as u64) as usize)
    }

    fn known(&self, (key, at): (u64, usize)) -> Option<bool> {
        let entry = self.table[at];
        (entry >> 1 == key && key != 0).then_some(entry & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::solve::Solver;
    use super::*;
    use sortie_core::Rng;

    #[test]
    fn it_says_what_the_scores_say() {
        let (mut rng, mut solver, mut oracle) =
            (Rng::new(7, 0), Solver::new(16 << 20), Oracle::new(16 << 20));
        let (mut won, mut asked) = (0, 0);
        for _ in 0..400 {
            let mut position: Position = (0, 0);
            loop {
                let cells = safe(position);
                if cells == 0 || winning(position.0, position.1) & landing(position.1) != 0 {
                    break;
                }
                let mut left = cells;
                (0..rng.below(cells.count_ones() as usize)).for_each(|_| left &= left - 1);
                position = after(position, left & left.wrapping_neg());
                let stones = position.1.count_ones();
                if stones < 20 {
                    continue;
                }
                let wins = match stones % 2 {
                    0 => solver.reaches(position, 1),
                    _ => !solver.reaches(position, 0),
                };
                asked += 1;
                won += u32::from(wins);
                assert_eq!(oracle.wins(position, u64::MAX, &|| false), Some(wins), "{position:?}");
            }
        }
        assert!(asked > 2000 && won > 400 && won < asked - 400, "{won} of {asked}");
    }

    #[test]
    fn it_ends_when_it_has_looked_at_enough_or_is_told() {
        let mut oracle = Oracle::new(1 << 20);
        assert_eq!(oracle.wins((0, 0), 1000, &|| false), None);
        assert_eq!(oracle.nodes(), 1001);
        assert_eq!(oracle.wins((0, 0), u64::MAX, &|| true), None);
    }
}
