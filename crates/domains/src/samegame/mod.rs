//! SameGame: remove groups of two or more equal neighbours; what is above falls, empty columns close to the left.
//! A group of n scores (n - 2)^2, a cleared board 1,000 more. Rules, scoring and the selective policy follow
//! Cazenave's programs; the `penalty` scoring is that of Schadd et al. (SP-MCTS) and subtracts (r - 2)^2 for the r
//! cells left of each colour.
//!
//! The state keeps its groups. A move disturbs the cells above what it removes; only groups that lose, gain or touch
//! disturbed cells are found again, by flooding bit boards.

mod bits;
mod board;
mod learn;
mod local;

use bits::{Bits, pack, spread};
use board::Board;
use sortie_core::measure::Measure;
use sortie_core::picture::{PALETTE, Picture, Shape};
use sortie_core::planes::Learnable;
use sortie_core::{Choices, Domain, Nrpa, Problem, Processor, Rng, Search, mix};
use sortie_core::{Entry, OpenError, Opened, Request};
use std::fmt::Write;
use std::hash::{Hash, Hasher};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "samegame",
    about: "remove groups of equal colour from a falling board",
    names: board::NAMES,
    options: &[
        ("score", "papers (default), or penalty: minus (r-2)^2 for the r cells left of each colour"),
        (
            "codes",
            "tiles (default): a policy knows a group by where its cells were at the start; or cells: by where they are",
        ),
    ],
    examples: &["samegame/1", "samegame/20:score=penalty", "samegame/10x12x4-7"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let penalty = options.choice("score", &["papers", "penalty"])? == 1;
    let tiles = options.choice("codes", &["tiles", "cells"])? == 0;
    options.finish(ENTRY.options)?;
    let board = board::open(request)?;
    Ok(Opened::Problem(if board.columns <= Small::COLUMNS_MAX && board.rows <= Small::ROWS_MAX {
        Box::new(SameGame::<16, 4>::new(board, penalty, tiles))
    } else {
        Box::new(SameGame::<64, 64>::new(board, penalty, tiles))
    }))
}

type Small = Bits<16, 4>;

/// The most colours a board may have.
const COLOURS_MAX: usize = 8;
/// The reward of an empty board.
const CLEARED: f64 = 1000.0;
/// Pairs of the tabu colour may be played after this many moves.
const TABU_MOVES: u16 = 10;

/// No group is preferred by more than this.
const BIAS_MAX: f64 = 8.0;

/// A board and its scoring.
pub struct SameGame<const LANE: usize, const W: usize> {
    board: Board,
    penalty: bool,
    /// The most frequent colour at the start (the lowest of equals): the selective policy saves it for last.
    tabu: u8,
    start: State<LANE, W>,
    processor: Processor,
}

/// A position.
#[derive(Debug)]
pub struct State<const LANE: usize, const W: usize> {
    /// `cells[c]` are the cells of colour c.
    cells: [Bits<LANE, W>; COLOURS_MAX],
    /// `tiles[column]`, a lane like those of `cells`: the rows at the start of the cells that are left of a column, in
    /// the order in which they lie on each other.
    tiles: Bits<LANE, W>,
    /// The columns of the start that are not empty.
    standing: u64,
    /// Codes go by tiles.
    by_tiles: bool,
    /// The colour that is kept back.
    tabu: u8,
    /// Colours of the board: the rest of `cells` is empty.
    colours: u8,
    /// Columns that are not empty; they are the leftmost ones.
    columns: u8,
    moves_played: u16,
    points: f64,
    /// The playable groups, old ones before new ones. Derived from `cells`, like all that follows, but the order and
    /// the names depend on the moves that led here.
    groups: Vec<Group>,
    /// `codes[name]` is the code of the group that has this name: of all groups since the beginning.
    codes: Vec<u64>,
    /// `shapes[name - first_shape]` are the cells of the group that has this name, if there still is one.
    shapes: Vec<Bits<LANE, W>>,
    first_shape: u32,
    /// `names[cell]` is the name of the group whose first cell this is, if there is one.
    names: Vec<u32>,
}

/// Two or more connected cells of one colour: what a playout asks of it. Its cells stand elsewhere, so that going
/// through all groups touches little memory.
#[derive(Debug, Clone, Copy)]
struct Group {
    name: u32,
    /// The cell that names the group: its leftmost column, and there the lowest.
    first: u16,
    kept: Kept,
}

/// How far the selective policy keeps a group back: not, unless the game is young, or as long as there are others.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Kept {
    Never,
    Pair,
    Group,
}

/// By hand because a derived `clone_from` would allocate, once a playout.
impl<const LANE: usize, const W: usize> Clone for State<LANE, W> {
    fn clone(&self) -> Self {
        State {
            groups: self.groups.clone(),
            codes: self.codes.clone(),
            shapes: self.shapes.clone(),
            names: self.names.clone(),
            ..*self
        }
    }

    fn clone_from(&mut self, from: &Self) {
        self.groups.clone_from(&from.groups);
        self.codes.clone_from(&from.codes);
        self.shapes.clone_from(&from.shapes);
        self.first_shape = from.first_shape;
        self.names.clone_from(&from.names);
        (self.cells, self.colours, self.columns) = (from.cells, from.colours, from.columns);
        self.tabu = from.tabu;
        (self.tiles, self.standing, self.by_tiles) = (from.tiles, from.standing, from.by_tiles);
        (self.moves_played, self.points) = (from.moves_played, from.points);
    }
}

impl<const LANE: usize, const W: usize> PartialEq for State<LANE, W> {
    fn eq(&self, other: &Self) -> bool {
        (self.moves_played, self.points) == (other.moves_played, other.points)
            && (self.cells, self.tiles, self.standing) == (other.cells, other.tiles, other.standing)
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
    fn new(board: Board, penalty: bool, by_tiles: bool) -> Self {
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
        let mut start = State {
            tiles: cells.iter().fold(Bits::EMPTY, |all, cells| all.or(cells)),
            standing: u64::MAX >> (64 - board.columns),
            by_tiles,
            tabu,
            cells,
            colours: counts.iter().rposition(|&n| n > 0).map_or(0, |last| last + 1) as u8,
            columns: board.columns as u8,
            moves_played: 0,
            points: 0.0,
            groups: Vec::new(),
            codes: Vec::new(),
            shapes: Vec::new(),
            first_shape: 0,
            names: vec![0; W * 64],
        };
        let processor = Processor::here();
        start.find_all_groups(processor);
        SameGame { board, penalty, tabu, start, processor }
    }

    /// Whether all cells of the tabu colour hang together, of which there are so many groups: a lone cell is a group of its
    /// own here, for it could still be joined to others.
    fn tabu_is_one(&self, state: &State<LANE, W>, groups: u32) -> bool {
        let cells = &state.cells[self.tabu as usize];
        groups + cells.without(&cells.neighbours(Processor::PORTABLE)).count() == 1
    }

    /// The same on another processor.
    #[cfg(test)]
    fn on(self, processor: Processor) -> Self {
        SameGame { processor, ..self }
    }
}

impl<const LANE: usize, const W: usize> Domain for SameGame<LANE, W> {
    type State = State<LANE, W>;
    type Move = u16; // the first cell of a group

    fn initial(&self) -> State<LANE, W> {
        self.start.clone()
    }

    fn moves(&self, state: &State<LANE, W>, out: &mut Vec<u16>) {
        let start = out.len();
        out.extend(state.groups.iter().map(|group| group.first));
        out[start..].sort_unstable();
    }

    fn play(&self, state: &mut State<LANE, W>, mv: u16) {
        let shape = *state.shape(state.names[mv as usize]);
        self.processor.run(
            #[inline(always)]
            |processor| state.remove(&shape, processor),
        );
        state.moves_played += 1;
        let n = shape.count() as f64;
        state.points += (n - 2.0) * (n - 2.0);
        if state.columns == 0 {
            state.points += CLEARED;
        }
    }

    fn random_move(&self, state: &State<LANE, W>, rng: &mut Rng, _: &mut Vec<u16>) -> Option<u16> {
        let n = state.groups.len();
        (n > 0).then(|| state.groups[rng.below(n)].first)
    }

    fn show(&self, state: &State<LANE, W>) -> String {
        let mut text = String::new();
        if state.cells.iter().all(|cells| cells.count() == 0) {
            let _ = write!(
                text,
                "the board is cleared: {} points after {} moves",
                self.score(state),
                state.moves_played
            );
            return text;
        }
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
        state.find(mv).map(|_| mv)
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

    fn processor(&self) -> Processor {
        self.processor
    }

    fn learnable(&self) -> Option<&dyn Learnable<State = State<LANE, W>, Move = u16>> {
        Some(self)
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
        state.codes[state.find(mv).expect("a legal move names a group").name as usize]
    }

    /// Larger groups first, as in GNRPA (Cazenave 2020), and the tabu colour later.
    fn bias(&self, state: &State<LANE, W>, mv: u16) -> f64 {
        let tabu = state.cells[self.tabu as usize].contains(mv as usize);
        let size = state.shape(state.names[mv as usize]).count();
        (f64::from(size) - 2.0 - f64::from(u8::from(tabu))).min(BIAS_MAX)
    }

    /// The selective policy (Cazenave 2016): groups of the tabu colour are kept back, except pairs once more than ten
    /// moves are played, until the colour is one single group or nothing else is left.
    fn choices(&self, state: &State<LANE, W>, out: &mut Choices<u16>) {
        self.places(state, out);
        out.codes.extend(out.places.iter().map(|&place| state.codes[place as usize]));
    }

    #[inline(always)]
    fn places<'s>(&self, state: &'s State<LANE, W>, out: &mut Choices<u16>) -> Option<&'s [u64]> {
        let most = if state.moves_played > TABU_MOVES { Kept::Pair } else { Kept::Never };
        let tabu_groups = offer(state, out, most);
        if out.moves.is_empty() || tabu_groups < 2 && self.tabu_is_one(state, tabu_groups) {
            offer(state, out, Kept::Group);
        }
        Some(&state.codes)
    }

    fn improve(&self, _: &State<LANE, W>, moves: &[u16], rng: &mut Rng) -> Option<Vec<u16>> {
        local::improve(self, moves, rng)
    }

    fn facts(&self, state: &State<LANE, W>) -> Vec<(&'static str, f64)> {
        vec![("cells_left", state.cells.iter().map(|cells| cells.count()).sum::<u32>() as f64)]
    }

    // Local search on what level 1 finds: 3,723 points in two CPU seconds of board 15x15x5-9001, where several searches in
    // turn had 2,895.
    fn suits(&self) -> Search {
        Search::Nrpa(Nrpa { level: 5, repetitions: 8, improve: true, ..Nrpa::default() })
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        vec![Measure::most("points", score)]
    }

    fn best_known(&self) -> Option<f64> {
        if self.penalty { None } else { self.board.best_known }
    }
}

/// Fills `out` with the groups that are kept back no more than this, without a branch on it; gives how many groups are
/// kept back at all.
#[inline(always)]
fn offer<const LANE: usize, const W: usize>(
    state: &State<LANE, W>,
    out: &mut Choices<u16>,
    most: Kept,
) -> u32 {
    out.clear();
    out.moves.reserve(state.groups.len());
    out.places.reserve(state.groups.len());
    let (moves, places) = (out.moves.as_mut_ptr(), out.places.as_mut_ptr());
    let (mut offered, mut kept) = (0, 0);
    // SAFETY: there is room for all groups, `offered` grows by at most one a group, and what is below it has been written.
    unsafe {
        for group in &state.groups {
            moves.add(offered).write(group.first);
            places.add(offered).write(group.name);
            offered += usize::from(group.kept <= most);
            kept += u32::from(group.kept != Kept::Never);
        }
        out.moves.set_len(offered);
        out.places.set_len(offered);
    }
    kept
}

impl<const LANE: usize, const W: usize> State<LANE, W> {
    /// The group with this first cell, if there is one.
    fn find(&self, first: u16) -> Option<&Group> {
        self.groups.iter().find(|group| group.first == first)
    }

    #[inline(always)]
    fn shape(&self, name: u32) -> &Bits<LANE, W> {
        &self.shapes[(name - self.first_shape) as usize]
    }

    fn colour_at(&self, cell: usize) -> Option<usize> {
        self.cells.iter().position(|cells| cells.contains(cell))
    }

    /// Removes a group, lets the cells above it fall, closes empty columns and finds the groups of what moved.
    #[inline(always)]
    fn remove(&mut self, shape: &Bits<LANE, W>, processor: Processor) {
        // In each column that loses cells everything from the lowest of them up is disturbed. Cells beside it that
        // are of the same group as a disturbed one may lose their connection.
        let disturbed = shape.and_above(processor);
        let colours = self.colours as usize;
        let (mut seeds, mut stood) = (disturbed, Bits::EMPTY);
        for cells in &self.cells[..colours] {
            seeds = seeds.or(&cells.and(&disturbed).neighbours(processor).and(cells));
            stood = stood.or(cells);
        }
        for (word, tiles) in self.tiles.0.iter_mut().enumerate() {
            *tiles ^= spread(pack(shape.0[word], stood.0[word], processor), *tiles, processor);
        }
        Bits::fall(&mut self.cells[..colours], shape, processor);
        let all = self.cells[..colours].iter().fold(Bits::EMPTY, |all, cells| all.or(cells));
        let mut emptied = all.lanes_gone(&stood, processor);
        if emptied == 0 {
            return self.find_groups_again(&seeds, &all, processor);
        }
        while emptied != 0 {
            // From the right: those to the left stay where they are.
            let column = 63 - emptied.leading_zeros() as usize;
            for cells in &mut self.cells[..colours] {
                cells.close_lane(column);
            }
            self.tiles.close_lane(column);
            self.standing ^= spread(1 << column, self.standing, processor);
            self.columns -= 1;
            emptied ^= 1 << column;
        }
        self.find_all_groups(processor);
    }

    #[inline(never)]
    fn find_all_groups(&mut self, processor: Processor) {
        self.groups.clear();
        self.shapes.clear();
        self.first_shape = self.codes.len() as u32;
        let all = self.cells[..self.colours as usize].iter().fold(Bits::EMPTY, |all, cells| all.or(cells));
        processor.run(
            #[inline(always)]
            |processor| self.find_groups_in(&Bits([u64::MAX; W]), &all, processor),
        );
    }

    /// Brings the groups up to date. The cells of `seeds` (those that were disturbed and the ones that may have lost their
    /// connection) are all that a new group can begin with.
    #[inline(always)]
    fn find_groups_again(&mut self, seeds: &Bits<LANE, W>, all: &Bits<LANE, W>, processor: Processor) {
        let before = self.groups.len();
        // A group with a disturbed cell is no more; one that touches what is found now is part of it. Its first cell tells:
        // where that is not disturbed itself, it hangs together with a seed, and is one or is found from it.
        let stale = self.find_groups_in(seeds, all, processor).or(seeds);
        let groups = self.groups.as_mut_ptr();
        let mut kept = 0;
        // Without branches on the answers: nobody could predict them.
        for i in 0..before {
            // SAFETY: there are `before` groups, and `kept` is never more than `i`. First cells are cells of the board.
            unsafe {
                let group = *groups.add(i);
                let first = group.first as usize;
                let gone = *stale.0.get_unchecked(first / 64) >> (first % 64) & 1;
                *groups.add(kept) = group;
                kept += 1 - gone as usize;
            }
        }
        let end = self.groups.len();
        self.groups.copy_within(before..end, kept);
        self.groups.truncate(end - (before - kept));
    }

    /// Finds the groups that have a cell in `seeds` and appends them to `groups`; gives all their
    /// cells. `all` are the cells of the board.
    #[inline(always)]
    fn find_groups_in(
        &mut self,
        seeds: &Bits<LANE, W>,
        all: &Bits<LANE, W>,
        processor: Processor,
    ) -> Bits<LANE, W> {
        let mut found = Bits::EMPTY;
        let (mut begin, mut some) = ([Bits::EMPTY; COLOURS_MAX], 0u32);
        for (colour, cells) in self.cells[..self.colours as usize].iter().enumerate() {
            // Only cells with a neighbour of their colour belong to a group.
            begin[colour] = cells.and(seeds).and(&cells.neighbours(processor));
            some |= u32::from(!begin[colour].is_empty(processor)) << colour;
        }
        let homes = Homes::new(self.standing);
        while some != 0 {
            let colour = some.trailing_zeros() as usize;
            let (cells, seed) = (self.cells[colour], mix(colour as u64));
            let mut left = begin[colour];
            some &= some - 1;
            loop {
                let cell = left.first(processor);
                let shape = Bits::flood(cell, &cells, processor);
                left = left.without(&shape);
                found = found.or(&shape);
                let (first, name) = (shape.first(processor) as u16, self.codes.len() as u32);
                self.shapes.push(shape);
                self.names[first as usize] = name;
                let named =
                    if self.by_tiles { self.at_the_start(&shape, all, &homes, processor) } else { shape };
                self.codes.push(named.hash(seed));
                let kept = match (colour == self.tabu as usize, shape.count()) {
                    (false, _) => Kept::Never,
                    (true, 2) => Kept::Pair,
                    (true, _) => Kept::Group,
                };
                self.groups.push(Group { name, first, kept });
                if left.is_empty(processor) {
                    break;
                }
            }
        }
        found
    }

    /// Where the cells of a group were at the start; `all` are the cells that are left.
    #[inline(always)]
    fn at_the_start(
        &self,
        shape: &Bits<LANE, W>,
        all: &Bits<LANE, W>,
        homes: &Homes<LANE, W>,
        processor: Processor,
    ) -> Bits<LANE, W> {
        // The cells that are left and the tiles stand for each other in their order, column by column.
        // A loop: a closure that is called from a function of the library would not be inlined for the processor.
        let mut rows = Bits::EMPTY;
        for i in 0..W {
            rows.0[i] = spread(pack(shape.0[i], all.0[i], processor), self.tiles.0[i], processor);
        }
        if homes.all_standing { rows } else { homes.of(&rows, processor) }
    }
}

/// Where the columns that are left stood at the start.
struct Homes<const LANE: usize, const W: usize> {
    all_standing: bool,
    /// Of each word of the start: its columns that are left, all bits of them, and how many are left before it.
    columns: [u64; W],
    before: [u32; W],
}

impl<const LANE: usize, const W: usize> Homes<LANE, W> {
    const PER_WORD: usize = 64 / LANE;

    #[inline(always)]
    fn new(standing: u64) -> Self {
        let all_standing = standing & standing.wrapping_add(1) == 0;
        let (mut columns, mut before) = ([0; W], [0; W]);
        if !all_standing {
            for i in 0..W {
                let here = standing >> (i * Self::PER_WORD);
                for column in 0..Self::PER_WORD {
                    let all = Bits::<LANE, W>::LANE_MASK << (column * LANE);
                    columns[i] |= all & (here >> column & 1).wrapping_neg();
                }
                before[i] = (standing & ((1 << (i * Self::PER_WORD)) - 1)).count_ones();
            }
        }
        Homes { all_standing, columns, before }
    }

    /// Cells of the columns that are left, put where these stood.
    #[inline(always)]
    fn of(&self, cells: &Bits<LANE, W>, processor: Processor) -> Bits<LANE, W> {
        let mut moved = Bits::EMPTY;
        for i in 0..W {
            let (word, shift) =
                (self.before[i] as usize / Self::PER_WORD, self.before[i] as usize % Self::PER_WORD);
            let at = |word: usize| cells.0.get(word).copied().unwrap_or(0);
            // The columns that are left from the first of this word on; twice shifted, for a shift by 64 is none.
            let bits = at(word) >> (shift * LANE) | at(word + 1) << 1 << (63 - shift * LANE);
            moved.0[i] = spread(bits, self.columns[i], processor);
        }
        moved
    }
}

#[cfg(test)]
mod tests;
