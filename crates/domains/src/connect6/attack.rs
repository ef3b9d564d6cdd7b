//! The turns of an attack by double threats: after each, the other side needs both stones, or more than it has, to stop
//! every window with four or five stones. Nothing is placed to find them: a window with three stones and one more
//! leaves two cells to defend on, and whether one cell lies in all such pairs is quickly seen.

use super::board::{Board, Covers, NONE, hits};

/// More attacks than this are not offered at one position: the ones with the fewest answers are.
const ATTACKS_MAX: usize = 96;
/// Cells for a second stone where the first does it alone.
const SPARE_MAX: usize = 24;

/// A turn that threatens twice or more.
#[derive(Debug, Clone, Copy)]
pub struct Attack {
    /// The stones.
    pub turn: [u16; 2],
    /// How many answers there are, at most four; 0: it cannot be stopped.
    pub answers: u8,
    /// How much it builds, to order those with as many answers.
    weight: u16,
}

/// Buffers that are kept from position to position.
#[derive(Debug, Default)]
pub struct Attacks {
    /// The attacks found.
    pub found: Vec<Attack>,
    /// By cell: the pairs of cells left to defend when a stone makes four there.
    edges: Vec<Vec<[u16; 2]>>,
    /// The cells with edges.
    fours: Vec<u16>,
    /// By cell of `fours`: the one or two cells that answer it alone.
    answers: Vec<[u16; 2]>,
    /// Two cells in a common window, and what is left to defend there when both are taken.
    joint: Vec<(u32, [u16; 2])>,
    /// By two cells: they are in `joint`.
    shared: Vec<u64>,
    /// What the other side threatens.
    danger: Vec<[u16; 2]>,
    threats: Vec<[u16; 2]>,
    spare: Vec<u16>,
    /// Turns that are not to be found, the smaller cell first.
    pub excluded: Vec<[u16; 2]>,
}

impl Attacks {
    /// Finds the attacks of `side` with a turn of two stones. The side must not be able to win at once. If one cannot
    /// be stopped, it is the only one found.
    pub fn find(&mut self, board: &Board, side: usize) {
        self.found.clear();
        board.threats(1 - side, &mut self.danger);
        if Covers::of(&self.danger).number > 2 {
            return;
        }
        self.collect(board, side);
        if !self.pairs_in_a_window() && !self.pairs_of_fours() {
            self.fours_with_a_spare(board, side);
        }
        self.clean();
        self.found.sort_by_key(|attack| (attack.answers, u16::MAX - attack.weight));
        self.found.truncate(ATTACKS_MAX);
    }

    /// The same with one stone left in the turn. Rare, so it is done by trying.
    pub fn find_single(&mut self, board: &mut Board, side: usize) {
        self.found.clear();
        board.threats(1 - side, &mut self.danger);
        for cell in 0..board.cells() {
            if !board.is_empty(cell) {
                continue;
            }
            board.place(cell, side);
            board.threats(side, &mut self.threats);
            board.lift(cell, side);
            if self.offer([cell, NONE]) {
                return;
            }
        }
    }

    fn collect(&mut self, board: &Board, side: usize) {
        let cells = usize::from(board.cells());
        self.edges.resize_with(cells, Vec::new);
        self.shared.resize((cells * cells).div_ceil(64), 0);
        for &window in board.live(side, 3) {
            let ([a, b, c, ..], _) = board.empties(window);
            for (cell, edge, alone) in
                [(a, [b, c], (b, c, a)), (b, [a, c], (a, c, b)), (c, [a, b], (a, b, c))]
            {
                if self.edges[usize::from(cell)].is_empty() {
                    self.fours.push(cell);
                }
                self.edges[usize::from(cell)].push(edge);
                self.joint.push((pair(alone.0, alone.1), [alone.2; 2]));
            }
        }
        for &window in board.live(side, 2) {
            let ([a, b, c, d, ..], _) = board.empties(window);
            for (x, y, edge) in [
                (a, b, [c, d]),
                (a, c, [b, d]),
                (a, d, [b, c]),
                (b, c, [a, d]),
                (b, d, [a, c]),
                (c, d, [a, b]),
            ] {
                self.joint.push((pair(x, y), edge));
            }
        }
        self.joint.sort_unstable();
        self.fours.sort_unstable();
        for &cell in &self.fours {
            let edges = &self.edges[usize::from(cell)];
            let mut alone = edges[0];
            for at in &mut alone {
                if !edges.iter().all(|edge| edge.contains(at)) {
                    *at = NONE;
                }
            }
            self.answers.push(alone);
        }
    }

    fn clean(&mut self) {
        for &cell in &self.fours {
            self.edges[usize::from(cell)].clear();
        }
        for &(key, _) in &self.joint {
            let (word, _) = self.bit(key);
            self.shared[word] = 0;
        }
        self.fours.clear();
        self.answers.clear();
        self.joint.clear();
    }

    /// Where the mark of two cells is.
    fn bit(&self, key: u32) -> (usize, u64) {
        let (a, b) = ((key >> 16) as usize, (key & 0xffff) as usize);
        let at = a * self.edges.len() + b;
        (at / 64, 1 << (at % 64))
    }

    /// Both stones in one window, which has two or three of the side's already. True: it cannot be stopped.
    fn pairs_in_a_window(&mut self) -> bool {
        let mut from = 0;
        while from < self.joint.len() {
            let key = self.joint[from].0;
            let to = from + self.joint[from..].iter().take_while(|entry| entry.0 == key).count();
            let (word, bit) = self.bit(key);
            self.shared[word] |= bit;
            let (a, b) = ((key >> 16) as u16, (key & 0xffff) as u16);
            self.threats.clear();
            self.threats.extend(self.joint[from..to].iter().map(|entry| entry.1));
            from = to;
            if !hits(&self.danger, [a, b]) {
                continue;
            }
            // A window that both stones are in is in `joint` already.
            for (one, other) in [(a, b), (b, a)] {
                let apart = self.edges[usize::from(one)].iter().filter(|edge| !edge.contains(&other));
                self.threats.extend(apart);
            }
            if self.offer([a, b]) {
                return true;
            }
        }
        false
    }

    /// Two stones that make four each, in windows of their own.
    fn pairs_of_fours(&mut self) -> bool {
        for i in 0..self.fours.len() {
            for j in i + 1..self.fours.len() {
                let (a, b) = (self.fours[i], self.fours[j]);
                let common = self.answers[i].iter().any(|&at| at != NONE && self.answers[j].contains(&at));
                let (word, bit) = self.bit(pair(a, b));
                if common || self.shared[word] & bit != 0 || !hits(&self.danger, [a, b]) {
                    continue;
                }
                self.threats.clone_from(&self.edges[usize::from(a)]);
                self.threats.extend_from_slice(&self.edges[usize::from(b)]);
                if self.offer([a, b]) {
                    return true;
                }
            }
        }
        false
    }

    /// One stone that threatens twice by itself: the other is free to block or to build.
    fn fours_with_a_spare(&mut self, board: &Board, side: usize) {
        if self.answers.iter().all(|alone| *alone != [NONE; 2]) {
            return;
        }
        self.spare.clear();
        self.spare.extend(self.danger.iter().flatten());
        let near = [(1 - side, 3), (side, 2)];
        for window in near.into_iter().flat_map(|(side, stones)| board.live(side, stones)) {
            let (empty, count) = board.empties(*window);
            self.spare.extend_from_slice(&empty[..count]);
        }
        self.spare.sort_unstable();
        self.spare.dedup();
        self.spare.retain(|&cell| self.edges[usize::from(cell)].is_empty());
        self.spare.truncate(SPARE_MAX);
        for i in 0..self.fours.len() {
            if self.answers[i] != [NONE; 2] {
                continue;
            }
            for k in 0..self.spare.len() {
                let (a, b) = (self.fours[i], self.spare[k]);
                let (word, bit) = self.bit(pair(a, b));
                if self.shared[word] & bit != 0 || !hits(&self.danger, [a, b]) {
                    continue;
                }
                self.threats.clone_from(&self.edges[usize::from(a)]);
                if self.offer([a, b]) {
                    return;
                }
            }
        }
    }

    /// Whether a turn is not to be found.
    #[inline]
    pub fn excludes(&self, turn: [u16; 2]) -> bool {
        self.excluded.binary_search(&sorted(turn)).is_ok()
    }

    /// Takes the turn that makes `threats`, if it takes two stones or more to stop them. True: it takes more.
    fn offer(&mut self, turn: [u16; 2]) -> bool {
        let covers = Covers::of(&self.threats);
        if covers.number < 2 || !hits(&self.danger, turn) || self.excludes(turn) {
            return false;
        }
        let edges = |cell: u16| self.edges.get(usize::from(cell)).map_or(0, Vec::len);
        let weight = (edges(turn[0]) + edges(turn[1]) + self.threats.len()) as u16;
        let attack = Attack { turn, answers: covers.turns().len() as u8, weight };
        if covers.number == 3 {
            self.found.clear();
            self.found.push(Attack { answers: 0, ..attack });
            return true;
        }
        self.found.push(attack);
        false
    }
}

/// A turn with the smaller cell first: how turns are compared.
#[inline]
pub fn sorted(turn: [u16; 2]) -> [u16; 2] {
    [turn[0].min(turn[1]), turn[0].max(turn[1])]
}

/// Two cells as one number, the smaller first.
#[inline]
fn pair(a: u16, b: u16) -> u32 {
    u32::from(a.min(b)) << 16 | u32::from(a.max(b))
}
