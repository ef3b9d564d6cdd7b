//! An exact solver for Connect Four: alpha-beta over whole-board shifts with a table, for the strategies that
//! certificates are made of. A score is how many stones the winner has left when the game ends, and one more: the larger
//! the sooner; below zero the side to move loses, zero is a draw.

use super::{BOARD, BOTTOM, HEIGHT, STRIDE, WIDTH, column_bits};

const CELLS: i32 = (WIDTH * HEIGHT) as i32;
/// Beyond any score.
const SCORE_MAX: i32 = 22;
/// Below this many stones positions are looked up as the smaller of the two mirror images.
const MIRRORED: u32 = 16;

/// The solver and what it remembers.
pub struct Solver {
    /// `key << 8 | bound`, at the key modulo the length. Bounds from 1: upper ones first, then lower ones.
    table: Vec<u64>,
    /// Positions looked at, and where a search that is limited is broken off.
    nodes: u64,
    nodes_max: u64,
}

/// A position: the stones of the side to move, and all.
pub type Position = (u64, u64);

/// The lowest empty cell of every column that has one.
pub fn landing(all: u64) -> u64 {
    (all + BOTTOM) & BOARD
}

/// The empty cells where one more stone makes four.
pub fn winning(stones: u64, all: u64) -> u64 {
    let mut cells = stones << 1 & stones << 2 & stones << 3;
    for shift in [STRIDE - 1, STRIDE, STRIDE + 1] {
        let up = stones << shift & stones << (2 * shift);
        cells |= up & (stones << (3 * shift) | stones >> shift);
        let down = stones >> shift & stones >> (2 * shift);
        cells |= down & (stones << shift | stones >> (3 * shift));
    }
    cells & BOARD & !all
}

/// The moves after which the other side cannot make four at once; none if there is no such move.
pub fn safe((own, all): Position) -> u64 {
    let threats = winning(own ^ all, all);
    let landing = landing(all);
    let forced = landing & threats;
    let cells = match forced.count_ones() {
        0 => landing,
        1 => forced,
        _ => return 0,
    };
    cells & !(threats >> 1)
}

/// The position after a stone on a cell.
pub fn after((own, all): Position, cell: u64) -> Position {
    (own ^ all, all | cell)
}

fn mirror(bits: u64) -> u64 {
    let column = |c: usize| (bits >> (STRIDE * c) & 0x7f) << (STRIDE * (WIDTH - 1 - c));
    (0..WIDTH).map(column).sum()
}

impl Solver {
    /// Remembers about so many bytes.
    pub fn new(memory_max: usize) -> Self {
        // Odd, so that no bit of the key is left out.
        Solver { table: vec![0; (memory_max / 8).max(1 << 10) | 1], nodes: 0, nodes_max: u64::MAX }
    }

    /// Whether the side to move gets at least this score; `None` if so many positions do not tell.
    pub fn reaches_within(&mut self, position: Position, score: i32, nodes: u64) -> Option<bool> {
        self.nodes_max = self.nodes.saturating_add(nodes);
        let reached = self.reaches(position, score);
        let over = self.nodes >= self.nodes_max;
        self.nodes_max = u64::MAX;
        (!over).then_some(reached)
    }

    /// Whether the side to move gets at least this score.
    pub fn reaches(&mut self, position: Position, score: i32) -> bool {
        let (own, all) = position;
        if winning(own, all) & landing(all) != 0 {
            return (CELLS + 1 - all.count_ones() as i32) / 2 >= score;
        }
        all != BOARD && self.search(position, score - 1, score) >= score || all == BOARD && score <= 0
    }

    fn search(&mut self, position: Position, mut alpha: i32, mut beta: i32) -> i32 {
        let (own, all) = position;
        self.nodes += 1;
        let stones = all.count_ones() as i32;
        let cells = safe(position);
        if cells == 0 {
            return if all == BOARD { 0 } else { -(CELLS - stones) / 2 };
        }
        if stones >= CELLS - 2 {
            return 0;
        }
        // Nobody makes four with the next stone of each.
        alpha = alpha.max(-(CELLS - 2 - stones) / 2);
        if alpha >= beta {
            return alpha;
        }
        beta = beta.min((CELLS - 1 - stones) / 2);
        if alpha >= beta {
            return beta;
        }
        let mut key = own + all;
        if (stones as u32) < MIRRORED {
            key = key.min(mirror(own) + mirror(all));
        }
        let slot = (key % self.table.len() as u64) as usize;
        let entry = self.table[slot];
        if entry >> 8 == key && entry != 0 {
            let bound = (entry & 0xff) as i32;
            if bound > 64 {
                let low = bound - 64 - SCORE_MAX;
                alpha = alpha.max(low);
            } else {
                let high = bound - SCORE_MAX - 1;
                beta = beta.min(high);
            }
            if alpha >= beta {
                return if bound > 64 { alpha } else { beta };
            }
        }
        // The columns of the middle first, and before that whoever makes more threats.
        let mut moves = [(0u64, 0u32); WIDTH];
        let mut count = 0;
        for column in [3, 2, 4, 1, 5, 0, 6] {
            let cell = cells & column_bits(column);
            if cell != 0 {
                let threats = winning(own | cell, all | cell).count_ones();
                let mut at = count;
                while at > 0 && moves[at - 1].1 < threats {
                    moves[at] = moves[at - 1];
                    at -= 1;
                }
                moves[at] = (cell, threats);
                count += 1;
            }
        }
        for &(cell, _) in &moves[..count] {
            let score = -self.search(after(position, cell), -beta, -alpha);
            if self.nodes >= self.nodes_max {
                return alpha;
            }
            if score >= beta {
                self.table[slot] = key << 8 | (score + 64 + SCORE_MAX) as u64;
                return score;
            }
            alpha = alpha.max(score);
        }
        self.table[slot] = key << 8 | (alpha + SCORE_MAX + 1) as u64;
        alpha
    }
}
