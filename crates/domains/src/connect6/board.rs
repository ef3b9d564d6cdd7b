//! The engine's board: every window of six cells with its stones of either side, kept up to date stone by stone, and
//! lists of the windows that only one side has stones in. Who has four or five in such a window completes it in one
//! turn, so these lists are the immediate wins and what has to be blocked, exactly.
//!
//! It knows nothing of turns: an attack search passes for the other side, a proof puts stones where no game would.

use super::rules::{Connect6, State};
use crate::grid::{Grid, Image, SIDE_MAX, zobrist};
use sortie_core::{Ident, Precondition, Side, mix};
use std::sync::Arc;

/// No cell: the second stone of a turn that has only one.
pub const NONE: u16 = u16::MAX;

/// What a live window with so many stones is worth to its side.
const WORTH: [i32; 7] = [0, 1, 4, 10, 16, 20, 20];

/// The windows of a board: which cells each has, and which lead through a cell.
#[derive(Debug)]
pub struct Windows {
    /// The width of the board.
    pub size: usize,
    cells: Vec<[u16; 6]>,
    /// The windows through a cell; the first `.0` of them count.
    through: Vec<(u8, [u16; 24])>,
    keys: Vec<[u64; 2]>,
}

impl Windows {
    /// Those of a board of `size` times `size`.
    pub fn new(size: usize) -> Windows {
        let n = size as i32;
        let mut windows = Windows {
            size,
            cells: Vec::new(),
            through: vec![(0, [0; 24]); size * size],
            keys: (0..size * size).map(|c| [zobrist(c, Side::First), zobrist(c, Side::Second)]).collect(),
        };
        for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
            for start in 0..n * n {
                let row = (0..6).map(|i| (start % n + i * dc, start / n + i * dr));
                if !row.clone().all(|(c, r)| (0..n).contains(&c) && (0..n).contains(&r)) {
                    continue;
                }
                let mut cells = [0; 6];
                for (cell, (c, r)) in cells.iter_mut().zip(row) {
                    *cell = (r * n + c) as u16;
                    let (count, through) = &mut windows.through[usize::from(*cell)];
                    through[usize::from(*count)] = windows.cells.len() as u16;
                    *count += 1;
                }
                windows.cells.push(cells);
            }
        }
        windows
    }
}

/// Stones, and what they make of the windows. Sides are 0 and 1.
#[derive(Debug, Clone)]
pub struct Board {
    windows: Arc<Windows>,
    /// `stones[cell]`: 0 and 1 for the sides, 2 for nobody.
    stones: Vec<u8>,
    /// Stones of either side in a window.
    counts: Vec<[u8; 2]>,
    /// `live[side][n]`: the windows with n stones of the side, n from 2 on, and none of the other.
    live: [[Vec<u16>; 7]; 2],
    /// Where a window is in its list.
    slot: Vec<u16>,
    key: u64,
    score: [i32; 2],
}

impl Board {
    /// An empty board.
    pub fn new(windows: Arc<Windows>) -> Board {
        let (cells, count) = (windows.size * windows.size, windows.cells.len());
        Board {
            windows,
            stones: vec![2; cells],
            counts: vec![[0; 2]; count],
            live: Default::default(),
            slot: vec![0; count],
            key: 0,
            score: [0; 2],
        }
    }

    /// The stones of a position.
    pub fn of(windows: Arc<Windows>, game: &Connect6, state: &State) -> Board {
        let mut board = Board::new(windows);
        for cell in 0..board.stones.len() as u16 {
            if let Some(side) = game.stone(state, cell) {
                board.place(cell, usize::from(side == Side::Second));
            }
        }
        board
    }

    /// The number of cells.
    pub fn cells(&self) -> u16 {
        self.stones.len() as u16
    }

    /// The width of the board.
    pub fn size(&self) -> usize {
        self.windows.size
    }

    /// Whose stones are where: 0 and 1 for the sides, 2 for nobody.
    pub fn stones(&self) -> &[u8] {
        &self.stones
    }

    /// Whether nobody's stone is there.
    #[inline]
    pub fn is_empty(&self, cell: u16) -> bool {
        self.stones[usize::from(cell)] == 2
    }

    /// A hash of the stones.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// A hash of the stones and the side to move that all eight mirror images of a position share.
    pub fn symmetric_key(&self, to_move: usize) -> u128 {
        self.ident(to_move).key
    }

    /// The name of the position in a database, with this side to move.
    pub fn ident(&self, to_move: usize) -> Ident {
        let stones = self.stones.iter().zip(0..).filter(|(stone, _)| **stone != 2);
        ident(self.windows.size, stones.map(|(&stone, cell)| (cell, stone.into())), to_move)
    }

    /// What the live windows of a side are worth.
    #[inline]
    pub fn score(&self, side: usize) -> i32 {
        self.score[side]
    }

    /// The live windows of a side with so many stones, at least two.
    #[inline]
    pub fn live(&self, side: usize, stones: usize) -> &[u16] {
        &self.live[side][stones]
    }

    /// The empty cells of a window; the first `.1` of them count.
    #[inline]
    pub fn empties(&self, window: u16) -> ([u16; 6], usize) {
        let (mut empty, mut count) = ([NONE; 6], 0);
        for &cell in &self.windows.cells[usize::from(window)] {
            if self.is_empty(cell) {
                empty[count] = cell;
                count += 1;
            }
        }
        (empty, count)
    }

    /// The cells of a window.
    #[inline]
    pub fn cells_of(&self, window: u16) -> &[u16; 6] {
        &self.windows.cells[usize::from(window)]
    }

    /// The windows through a cell.
    pub fn through(&self, cell: u16) -> &[u16] {
        let (count, through) = &self.windows.through[usize::from(cell)];
        &through[..usize::from(*count)]
    }

    /// The stones of both sides in a window.
    #[inline]
    pub fn counts(&self, window: u16) -> [u8; 2] {
        self.counts[usize::from(window)]
    }

    /// A side can complete six with two stones.
    #[inline]
    pub fn threatens(&self, side: usize) -> bool {
        !self.live[side][4].is_empty() || !self.live[side][5].is_empty()
    }

    /// The turns that complete six, of at most `stones` stones. Where one stone is enough, the turn is that stone alone.
    pub fn winning_turns(&self, side: usize, stones: u32) -> impl Iterator<Item = [u16; 2]> {
        let fours = if stones == 2 { &self.live[side][4][..] } else { &[] };
        let pairs = fours.iter().map(|&window| {
            let ([a, b, ..], _) = self.empties(window);
            [a, b]
        });
        let pairs = pairs.filter(move |turn| turn.iter().all(|&cell| !self.wins_alone(cell, side)));
        self.live[side][5].iter().map(|&window| [self.empties(window).0[0], NONE]).chain(pairs)
    }

    /// Whether a stone on an empty cell completes six.
    pub fn wins_alone(&self, cell: u16, side: usize) -> bool {
        self.live[side][5].iter().any(|&window| self.empties(window).0[0] == cell)
    }

    /// What the other side has to hit to stop a side from completing six in its next turn: for each window one of two
    /// cells, or the only one twice.
    pub fn threats(&self, side: usize, out: &mut Vec<[u16; 2]>) {
        out.clear();
        for &window in self.live[side][5].iter().chain(&self.live[side][4]) {
            let (empty, count) = self.empties(window);
            let edge = if count == 1 { [empty[0]; 2] } else { [empty[0], empty[1]] };
            if !out.contains(&edge) {
                out.push(edge);
            }
        }
    }

    /// Puts a stone on an empty cell.
    #[inline]
    pub fn place(&mut self, cell: u16, side: usize) {
        debug_assert!(self.is_empty(cell), "a stone on a stone");
        self.stones[usize::from(cell)] = side as u8;
        self.key ^= self.windows.keys[usize::from(cell)][side];
        let (count, through) = self.windows.through[usize::from(cell)];
        for &window in &through[..usize::from(count)] {
            let counts = self.counts[usize::from(window)];
            let (own, other) = (usize::from(counts[side]), usize::from(counts[1 - side]));
            if other == 0 {
                self.remove(window, side, own);
                self.insert(window, side, own + 1);
            } else if own == 0 {
                self.remove(window, 1 - side, other);
            }
            self.counts[usize::from(window)][side] += 1;
        }
    }

    /// Takes the stone back that `place` put there.
    #[inline]
    pub fn lift(&mut self, cell: u16, side: usize) {
        debug_assert!(usize::from(self.stones[usize::from(cell)]) == side, "a stone to take back");
        self.stones[usize::from(cell)] = 2;
        self.key ^= self.windows.keys[usize::from(cell)][side];
        let (count, through) = self.windows.through[usize::from(cell)];
        for &window in &through[..usize::from(count)] {
            let counts = self.counts[usize::from(window)];
            let (own, other) = (usize::from(counts[side]), usize::from(counts[1 - side]));
            if other == 0 {
                self.remove(window, side, own);
                self.insert(window, side, own - 1);
            } else if own == 1 {
                self.insert(window, 1 - side, other);
            }
            self.counts[usize::from(window)][side] -= 1;
        }
    }

    /// Places the stones of a turn, of which the second may be missing.
    #[inline]
    pub fn play(&mut self, turn: [u16; 2], side: usize) {
        turn.into_iter().filter(|&cell| cell != NONE).for_each(|cell| self.place(cell, side));
    }

    /// Takes back what `play` placed.
    #[inline]
    pub fn undo(&mut self, turn: [u16; 2], side: usize) {
        turn.into_iter().rev().filter(|&cell| cell != NONE).for_each(|cell| self.lift(cell, side));
    }

    #[inline]
    fn insert(&mut self, window: u16, side: usize, stones: usize) {
        self.score[side] += WORTH[stones];
        // Nobody asks for windows with one stone, and they are the most.
        if stones >= 2 {
            let list = &mut self.live[side][stones];
            self.slot[usize::from(window)] = list.len() as u16;
            list.push(window);
        }
    }

    #[inline]
    fn remove(&mut self, window: u16, side: usize, stones: usize) {
        self.score[side] -= WORTH[stones];
        if stones >= 2 {
            let list = &mut self.live[side][stones];
            let slot = self.slot[usize::from(window)];
            list.swap_remove(usize::from(slot));
            if let Some(&moved) = list.get(usize::from(slot)) {
                self.slot[usize::from(moved)] = slot;
            }
        }
    }
}

/// The name of a position in a database: of the eight mirror images, the least sum of random numbers, one a stone.
pub fn ident(size: usize, stones: impl Iterator<Item = (u16, usize)>, to_move: usize) -> Ident {
    let grid = Grid::new(size, size);
    let mut names = [(u128::from(to_move as u64), to_move as u64); 8];
    for (cell, stone) in stones {
        let at = (usize::from(cell) % size, usize::from(cell) / size);
        for ((key, check), how) in names.iter_mut().zip(Image::SQUARE) {
            let (c, r) = grid.image(how, at);
            let number = (2 * (r * SIDE_MAX + c) + stone) as u64;
            *key ^= u128::from(mix(number)) << 64 | u128::from(mix(!number));
            *check ^= mix(number << 32);
        }
    }
    let named = names.into_iter().zip(0..).min().expect("eight of them");
    let ((key, check), image) = named;
    let side = if to_move == 0 { Side::First } else { Side::Second };
    Ident { key, check: check as u32, side, image, precondition: Precondition::NONE }
}

/// How many stones it takes to hit every one of some threats, and with which turns it can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covers {
    /// 0 to 2, or 3 for three and more.
    pub number: u8,
    turns: [[u16; 2]; 4],
    count: u8,
}

impl Covers {
    /// All ways with as few stones as possible, if these are at most two.
    #[inline]
    pub fn of(threats: &[[u16; 2]]) -> Covers {
        let mut covers = Covers { number: 0, turns: [[NONE; 2]; 4], count: 0 };
        let Some(&first) = threats.first() else { return covers };
        covers.number = 3;
        // Whatever hits all hits the first, with one of its two cells; what that misses has two cells again.
        for u in ends(first) {
            match threats.iter().find(|threat| !threat.contains(&u)) {
                None => covers.add(1, [u, NONE]),
                Some(&missed) => {
                    for v in ends(missed) {
                        if threats.iter().all(|threat| threat.contains(&u) || threat.contains(&v)) {
                            covers.add(2, [u.min(v), u.max(v)]);
                        }
                    }
                }
            }
        }
        covers
    }

    /// The turns.
    #[inline]
    pub fn turns(&self) -> &[[u16; 2]] {
        &self.turns[..usize::from(self.count)]
    }

    #[inline]
    fn add(&mut self, number: u8, turn: [u16; 2]) {
        if number < self.number {
            (self.number, self.count) = (number, 0);
        }
        if number == self.number && !self.turns().contains(&turn) {
            self.turns[usize::from(self.count)] = turn;
            self.count += 1;
        }
    }
}

#[inline]
fn ends(threat: [u16; 2]) -> impl Iterator<Item = u16> {
    threat.into_iter().take(if threat[0] == threat[1] { 1 } else { 2 })
}

/// Whether a turn hits all threats.
#[inline]
pub fn hits(threats: &[[u16; 2]], turn: [u16; 2]) -> bool {
    threats.iter().all(|threat| threat.contains(&turn[0]) || threat.contains(&turn[1]))
}
