//! SameGame: remove groups of two or more equal neighbours; what is above falls, empty columns close to the left.
//! A group of n scores (n - 2)^2, a cleared board 1,000 more. Rules, scoring and the selective policy follow
//! Cazenave's programs; the `penalty` scoring is that of Schadd et al. (SP-MCTS) and subtracts (r - 2)^2 for the r
//! cells left of each colour.
//!
//! The state keeps its groups. A move disturbs the cells above what it removes; only groups that lose, gain or touch
//! disturbed cells are found again, by flooding bit boards.

mod bits;
mod board;

use crate::instance::{Entry, OpenError, Opened, Request};
use bits::{Bits, pack};
use board::Board;
use sortie_core::picture::{PALETTE, Picture, Shape};
use sortie_core::{Choices, Domain, Problem, mix};
use std::fmt::Write;
use std::hash::{Hash, Hasher};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "samegame",
    about: "remove groups of equal colour from a falling board",
    names: board::NAMES,
    options: &[("score", "papers (default), or penalty: minus (r-2)^2 for the r cells left of each colour")],
    examples: &["samegame/1", "samegame/20:score=penalty", "samegame/10x12x4-7"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let penalty = options.choice("score", &["papers", "penalty"])? == 1;
    options.finish(ENTRY.options)?;
    let board = board::open(request)?;
    Ok(Opened::Problem(if board.columns <= Small::COLUMNS_MAX && board.rows <= Small::ROWS_MAX {
        Box::new(SameGame::<16, 4>::new(board, penalty))
    } else {
        Box::new(SameGame::<64, 64>::new(board, penalty))
    }))
}

type Small = Bits<16, 4>;

/// The most colours a board may have.
const COLOURS_MAX: usize = 8;
/// The reward of an empty board.
const CLEARED: f64 = 1000.0;
/// Pairs of the tabu colour may be played after this many moves.
const TABU_MOVES: u32 = 10;

/// A board and its scoring.
pub struct SameGame<const LANE: usize, const W: usize> {
    board: Board,
    penalty: bool,
    /// The most frequent colour at the start (the lowest of equals): the selective policy saves it for last.
    tabu: u8,
    start: State<LANE, W>,
}

/// A position.
#[derive(Debug, Clone)]
pub struct State<const LANE: usize, const W: usize> {
    /// `cells[c]` are the cells of colour c.
    cells: [Bits<LANE, W>; COLOURS_MAX],
    /// Columns that are not empty; they are the leftmost ones.
    columns: u32,
    moves_played: u32,
    points: f64,
    /// The playable groups in the order of their first cells. Derived from `cells`.
    groups: Vec<Group<LANE, W>>,
}

/// Two or more connected cells of one colour.
#[derive(Debug, Clone, Copy)]
struct Group<const LANE: usize, const W: usize> {
    cells: Bits<LANE, W>,
    code: u64,
    /// The cell that names the group: its leftmost column, and there the lowest.
    first: u16,
    size: u16,
    colour: u8,
}

impl<const LANE: usize, const W: usize> PartialEq for State<LANE, W> {
    fn eq(&self, other: &Self) -> bool {
        self.moves_played == other.moves_played && self.points == other.points && self.cells == other.cells
    }
}

impl<const LANE: usize, const W: usize> Eq for State<LANE, W> {}

impl<const LANE: usize, const W: usize> Hash for State<LANE, W> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.moves_played.hash(hasher);
        self.cells.hash(hasher);
    }
}

impl<const LANE: usize, const W: usize> SameGame<LANE, W> {
    fn new(board: Board, penalty: bool) -> Self {
        let mut cells = [Bits::EMPTY; COLOURS_MAX];
        let mut counts = [0; COLOURS_MAX];
        for column in 0..board.columns {
            for row in 0..board.rows {
                let colour = board.colour(column, row) as usize;
                cells[colour].insert(column * LANE + row);
                counts[colour] += 1;
            }
        }
        let most = *counts.iter().max().expect("there are colours");
        let tabu = counts.iter().position(|&n| n == most).expect("the maximum is among them") as u8;
        let mut start =
            State { cells, columns: board.columns as u32, moves_played: 0, points: 0.0, groups: vec![] };
        start.find_all_groups();
        SameGame { board, penalty, tabu, start }
    }
}

impl<const LANE: usize, const W: usize> Domain for SameGame<LANE, W> {
    type State = State<LANE, W>;
    type Move = u16; // the first cell of a group

    fn initial(&self) -> State<LANE, W> {
        self.start.clone()
    }

    fn moves(&self, state: &State<LANE, W>, out: &mut Vec<u16>) {
        out.extend(state.groups.iter().map(|group| group.first));
    }

    fn play(&self, state: &mut State<LANE, W>, mv: u16) {
        let group = *state.group(mv);
        state.remove(&group);
        state.moves_played += 1;
        let n = group.size as f64;
        state.points += (n - 2.0) * (n - 2.0);
        if state.columns == 0 {
            state.points += CLEARED;
        }
    }

    fn show(&self, state: &State<LANE, W>) -> String {
        let mut text = String::new();
        for row in (0..self.board.rows).rev() {
            let _ = write!(text, "{:>3} ", row + 1);
            for column in 0..self.board.columns {
                match state.colour_at(column * LANE + row) {
                    Some(colour) => text.push((b'0' + colour as u8) as char),
                    None => text.push('.'),
                }
            }
            text.push('\n');
        }
        text.push_str("    ");
        for column in 0..self.board.columns {
            text.push((b'a' + (column % 26) as u8) as char);
        }
        let _ = write!(text, "\n{} points after {} moves", self.score(state), state.moves_played);
        text
    }

    fn show_move(&self, _: &State<LANE, W>, mv: u16) -> String {
        board::cell_name(mv as usize / LANE, mv as usize % LANE)
    }

    fn parse_move(&self, state: &State<LANE, W>, word: &str) -> Option<u16> {
        let (column, row) = board::parse_cell(word)?;
        let legal = column < self.board.columns && row < self.board.rows;
        let mv = legal.then_some((column * LANE + row) as u16)?;
        state.find(mv).is_ok().then_some(mv)
    }

    fn draw(&self, state: &State<LANE, W>) -> Option<Picture> {
        const SIDE: f64 = 32.0;
        let (columns, rows) = (self.board.columns, self.board.rows);
        let (width, height) = ((columns as f64 + 1.0) * SIDE, (rows as f64 + 1.0) * SIDE);
        let title = format!("SameGame: {} points after {} moves", self.score(state), state.moves_played);
        let mut picture = Picture::new(width, height, title);
        for column in 0..columns {
            for row in 0..rows {
                let (x, y) = ((column as f64 + 0.5) * SIDE, (rows - row) as f64 * SIDE - 0.5 * SIDE);
                match state.colour_at(column * LANE + row) {
                    Some(colour) => picture.shapes.push(Shape::Rect {
                        x: x + 1.0,
                        y: y + 1.0,
                        w: SIDE - 2.0,
                        h: SIDE - 2.0,
                        round: 5.0,
                        fill: PALETTE[colour],
                    }),
                    None => picture.shapes.push(Shape::Circle {
                        x: x + SIDE / 2.0,
                        y: y + SIDE / 2.0,
                        r: 1.5,
                        fill: sortie_core::picture::FAINT,
                    }),
                }
            }
        }
        Some(picture)
    }
}

impl<const LANE: usize, const W: usize> Problem for SameGame<LANE, W> {
    fn score(&self, state: &State<LANE, W>) -> f64 {
        if !self.penalty || !state.groups.is_empty() {
            return state.points;
        }
        let lost = |cells: &Bits<LANE, W>| match cells.count() {
            0 => 0.0,
            left => (left as f64 - 2.0) * (left as f64 - 2.0),
        };
        state.points - state.cells.iter().map(lost).sum::<f64>()
    }

    fn code(&self, state: &State<LANE, W>, mv: u16) -> u64 {
        state.group(mv).code
    }

    /// The selective policy (Cazenave 2016): groups of the tabu colour are kept back, except pairs once more than ten
    /// moves are played, until the colour is one single group or nothing else is left.
    fn choices(&self, state: &State<LANE, W>, out: &mut Choices<u16>) {
        let (mut tabu_groups, mut tabu_cells) = (0, 0);
        for group in state.groups.iter().filter(|group| group.colour == self.tabu) {
            tabu_groups += 1;
            tabu_cells += group.size as u32;
        }
        // A lone cell is a group of its own here: it could still be joined to others.
        let lone = state.cells[self.tabu as usize].count() - tabu_cells;
        let pairs = state.moves_played > TABU_MOVES;
        if tabu_groups > 0 && tabu_groups + lone != 1 {
            for group in &state.groups {
                if group.colour != self.tabu || (group.size == 2 && pairs) {
                    out.moves.push(group.first);
                    out.codes.push(group.code);
                }
            }
        }
        if out.moves.is_empty() {
            for group in &state.groups {
                out.moves.push(group.first);
                out.codes.push(group.code);
            }
        }
    }

    fn facts(&self, state: &State<LANE, W>) -> Vec<(&'static str, f64)> {
        vec![("cells_left", state.cells.iter().map(|cells| cells.count()).sum::<u32>() as f64)]
    }

    fn best_known(&self) -> Option<f64> {
        if self.penalty { None } else { self.board.best_known }
    }
}

impl<const LANE: usize, const W: usize> State<LANE, W> {
    fn find(&self, first: u16) -> Result<usize, usize> {
        self.groups.binary_search_by_key(&first, |group| group.first)
    }

    fn group(&self, first: u16) -> &Group<LANE, W> {
        &self.groups[self.find(first).expect("a legal move names a group")]
    }

    fn colour_at(&self, cell: usize) -> Option<usize> {
        self.cells.iter().position(|cells| cells.contains(cell))
    }

    /// Removes a group, lets the cells above it fall, closes empty columns and finds the groups of what moved.
    fn remove(&mut self, group: &Group<LANE, W>) {
        // The cells from the lowest removed one up, in each column that loses any: where things were and where
        // things are afterwards.
        let mut disturbed = Bits::EMPTY;
        let mut emptied = false;
        for column in 0..self.columns as usize {
            let gone = group.cells.lane(column);
            if gone == 0 {
                continue;
            }
            let above = u64::MAX >> 1 << gone.trailing_zeros() & (1u64 << (LANE - 1)).wrapping_sub(1);
            disturbed.set_lane(column, above);
            let mut left = 0;
            for cells in &mut self.cells {
                let lane = pack(cells.lane(column), !gone);
                cells.set_lane(column, lane);
                left |= lane;
            }
            emptied |= left == 0;
        }
        if emptied {
            self.close_columns();
            self.find_all_groups();
        } else {
            self.find_groups_again(&disturbed);
        }
    }

    fn close_columns(&mut self) {
        for column in (0..self.columns as usize).rev() {
            if self.cells.iter().all(|cells| cells.lane(column) == 0) {
                for cells in &mut self.cells {
                    cells.close_lane(column);
                }
                self.columns -= 1;
            }
        }
    }

    fn find_all_groups(&mut self) {
        self.groups.clear();
        let everything = Bits([u64::MAX; W]);
        self.find_groups_in(&everything);
        self.groups.sort_unstable_by_key(|group| group.first);
    }

    /// Brings `groups` up to date after the cells of `disturbed` changed.
    fn find_groups_again(&mut self, disturbed: &Bits<LANE, W>) {
        // A group that had disturbed cells may be in pieces: all of its cells are looked at again.
        let mut seeds = *disturbed;
        self.groups.retain(|group| {
            let hit = group.cells.meets(disturbed);
            if hit {
                seeds = seeds.or(&group.cells);
            }
            !hit
        });
        let kept = self.groups.len();
        let found = self.find_groups_in(&seeds);
        // What was undisturbed and now touches disturbed cells of its colour is part of a group just found.
        let mut i = 0;
        let mut write = 0;
        while i < kept {
            if !self.groups[i].cells.meets(&found) {
                self.groups[write] = self.groups[i];
                write += 1;
            }
            i += 1;
        }
        self.groups.copy_within(kept.., write);
        self.groups.truncate(self.groups.len() - (kept - write));
        // Few new ones at the end of a sorted list: insertion.
        for i in write..self.groups.len() {
            let group = self.groups[i];
            let mut j = i;
            while j > 0 && self.groups[j - 1].first > group.first {
                self.groups[j] = self.groups[j - 1];
                j -= 1;
            }
            self.groups[j] = group;
        }
    }

    /// Appends the groups that have a cell in `seeds`; gives all cells of those groups.
    fn find_groups_in(&mut self, seeds: &Bits<LANE, W>) -> Bits<LANE, W> {
        let mut found = Bits::EMPTY;
        for (colour, cells) in self.cells.iter().enumerate() {
            // Only cells with a neighbour of their colour belong to a group.
            let mut left = cells.and(seeds);
            if left.is_empty() {
                continue;
            }
            left = left.and(&cells.neighbours());
            while let Some(cell) = left.first() {
                let part = Bits::flood(cell, cells);
                left = left.without(&part);
                found = found.or(&part);
                self.groups.push(Group {
                    cells: part,
                    code: part.hash(mix(colour as u64)),
                    first: part.first().expect("it holds the seed") as u16,
                    size: part.count() as u16,
                    colour: colour as u8,
                });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
