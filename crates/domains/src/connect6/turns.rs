//! The turns worth a look: pairs of the cells that matter most to either side, by the live windows through them.

use super::attack::sorted;
use super::board::{Board, NONE, hits};

/// Finds them, with buffers that are kept from call to call.
#[derive(Debug, Default)]
pub struct Turns {
    /// What each cell is worth.
    scores: Vec<i32>,
    order: Vec<u16>,
    threats: Vec<[u16; 2]>,
}

impl Turns {
    /// The turns of a side, the most promising first: pairs of the `cells` best cells, at most `width` of them.
    pub fn list(
        &mut self,
        board: &Board,
        side: usize,
        stones: u32,
        cells: usize,
        width: usize,
    ) -> Vec<[u16; 2]> {
        self.weigh(board, side);
        board.threats(1 - side, &mut self.threats);
        let (scores, order, threats) = (&self.scores, &mut self.order, &self.threats);
        order.clear();
        order.extend((0..board.cells()).filter(|&cell| board.is_empty(cell)));
        // What stops a threat belongs to the best, whatever it scores.
        let stops_some = |cell: u16| threats.iter().any(|threat| threat.contains(&cell));
        let rank = |cell: u16| (!stops_some(cell), -scores[usize::from(cell)], cell);
        let cells = cells.min(order.len());
        if cells < order.len() {
            order.select_nth_unstable_by_key(cells, |&cell| rank(cell));
            order.truncate(cells);
        }
        order.sort_unstable_by_key(|&cell| rank(cell));
        if stones == 1 || order.len() == 1 {
            order.sort_by_key(|&cell| !hits(threats, [cell, NONE]));
            return order.iter().map(|&cell| [cell, NONE]).collect();
        }
        let mut turns: Vec<(bool, i32, [u16; 2])> = Vec::new();
        for (i, &a) in order.iter().enumerate() {
            for &b in &order[i + 1..] {
                let score = scores[usize::from(a)] + scores[usize::from(b)] + together(board, side, a, b);
                turns.push((!hits(threats, [a, b]), -score, sorted([a, b])));
            }
        }
        turns.sort_unstable();
        // As long as there are turns that stop what threatens, the others only lose.
        let stopping = turns.iter().filter(|turn| !turn.0).count();
        turns.truncate(if stopping > 0 { stopping.min(width) } else { width });
        turns.into_iter().map(|turn| turn.2).collect()
    }

    /// What each cell is worth to a side, by the live windows of both.
    fn weigh(&mut self, board: &Board, side: usize) {
        self.scores.clear();
        self.scores.resize(usize::from(board.cells()), 0);
        for (of, worth) in [(side, OWN), (1 - side, OTHER)] {
            for (stones, points) in worth.into_iter().enumerate().skip(2) {
                for &window in board.live(of, stones) {
                    let (empty, count) = board.empties(window);
                    for &cell in &empty[..count] {
                        self.scores[usize::from(cell)] += points;
                    }
                }
            }
        }
        // Windows with one stone are in no list; they only matter where there is little else.
        let few =
            board.live(0, 2).len() + board.live(1, 2).len() + board.live(0, 3).len() + board.live(1, 3).len();
        if few < 40 {
            let (size, middle) = (board.size() as i32, board.size() as i32 / 2);
            for cell in 0..board.cells() {
                let (column, row) = (i32::from(cell) % size, i32::from(cell) / size);
                let mut score = i32::from((column - middle).abs().max((row - middle).abs()) < 2);
                for &window in board.through(cell) {
                    let counts = board.counts(window);
                    score += i32::from(counts[side] == 1 && counts[1 - side] == 0) * 2;
                    score += i32::from(counts[1 - side] == 1 && counts[side] == 0);
                }
                self.scores[usize::from(cell)] += score;
            }
        }
    }
}

/// What a live window with so many stones adds to a cell in it, for the side whose it is and to stop it.
const OWN: [i32; 6] = [0, 2, 12, 32, 60, 60];
const OTHER: [i32; 6] = [0, 1, 10, 28, 100, 100];

/// What two cells are worth together beyond their sum: two stones in a window of one's own do more than twice as much,
/// and one is enough to close a window of the other's.
fn together(board: &Board, side: usize, a: u16, b: u16) -> i32 {
    let size = board.size() as i32;
    let (dc, dr) = (i32::from(a) % size - i32::from(b) % size, i32::from(a) / size - i32::from(b) / size);
    if dc.abs().max(dr.abs()) > 5 || dc != 0 && dr != 0 && dc.abs() != dr.abs() {
        return 0;
    }
    let mut sum = 0;
    for &window in board.through(a) {
        let counts = board.counts(window).map(usize::from);
        if board.cells_of(window).contains(&b) {
            if counts[1 - side] == 0 {
                sum += OWN[counts[side].min(4) + 1] - OWN[counts[side].min(5)];
            } else if counts[side] == 0 {
                sum -= OTHER[counts[1 - side].min(5)];
            }
        }
    }
    sum
}
