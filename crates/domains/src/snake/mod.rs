//! Snakes and coils in the d-cube with spread k: the longest path, or closed path, in which two vertices less than k
//! apart in the cube are exactly that far apart along the path (Hood, Recoskie, Sawada and Wong, "Snakes, coils, and
//! single-track circuit codes with spread k"). Spread 2 is the snake in the box. The score is the length in edges.
//!
//! A move is the dimension to flip. The walk starts at vertex 0 and a dimension may first be used only after all lower
//! ones: every snake and coil has exactly such a form, its mirror images and rotations are never seen. A coil is
//! closed by its last move. A path that can no longer be closed ends there and scores minus the distance from its
//! head to the start, so that no open path is ever taken for a coil.
//!
//! Leaves out: the joining of smaller ones that holds the records beyond dimension 8.

mod form;
mod frame;
mod symmetric;

use form::Form;
use frame::Turns;
use sortie_core::measure::Measure;
use sortie_core::picture::{FAINT, INK, PALETTE, PAPER, Picture, Shape};
use sortie_core::search::Lifted;
use sortie_core::{Choices, Domain, Problem};
use sortie_core::{Entry, OpenError, Opened, Request};
use symmetric::Symmetric;

const NAMES: &str =
    "a dimension from 2 to 20, or dimension-spread with a spread from 2 to 16, as in 8 or 9-3";

const OPTIONS: &[(&str, &str)] = &[
    (
        "symmetric",
        "off (default), on: only what a symmetry of the cube maps to itself; 1 to 40: one of that order",
    ),
    ("form", "plain (default), interleaved: coils in which some dimensions take turns at every second edge"),
    ("turns", "how many take turns, 1 to 8 (interleaved; by default (k + 1) / 2)"),
    ("every", "which edge is a turn: every second (default) to every eighth (interleaved)"),
    ("draw", "a number: only coils in the one symmetry of the given order that it draws"),
];

/// The row of open paths.
pub static SNAKE: Entry = Entry {
    name: "snake",
    about: "snake in the box: the longest path in the d-cube that keeps its distance from itself",
    names: NAMES,
    options: OPTIONS,
    examples: &["snake/7", "snake/8", "snake/9-3"],
    open: |request| open(request, "snake", false),
};

/// The row of closed paths.
pub static COIL: Entry = Entry {
    name: "coil",
    about: "coil in the box: the longest closed path in the d-cube that keeps its distance from itself",
    names: NAMES,
    options: OPTIONS,
    examples: &["coil/7", "coil/8", "coil/9-3"],
    open: |request| open(request, "coil", true),
};

fn open(request: &Request, domain: &'static str, closed: bool) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let orders: Vec<String> =
        ["off", "on"].map(String::from).into_iter().chain((1..=ORDER_MAX).map(|n| n.to_string())).collect();
    let orders: Vec<&str> = orders.iter().map(String::as_str).collect();
    let symmetric = options.choice("symmetric", &orders)?;
    let interleaved = options.choice("form", &["plain", "interleaved"])? == 1;
    let count = options.number("turns", 0, 8)? as usize;
    let every = options.number("every", 2, 8)? as usize;
    let draw = options.number("draw", u64::MAX, u64::MAX)?;
    options.finish(OPTIONS)?;
    let (dimension, spread) = request.name.split_once('-').unwrap_or((request.name, "2"));
    let fail = |message: &str| {
        Err(OpenError::OutOfRange { domain, name: request.name.to_string(), message: message.into() })
    };
    let (Ok(d @ 2..=20), Ok(k @ 2..=16)) = (dimension.parse(), spread.parse()) else {
        return fail(&format!("expected {NAMES}"));
    };
    if !interleaved && (count > 0 || every != 2) || every < 2 {
        return fail("turns and every: expected form=interleaved, and every from 2 on");
    }
    let cube = Cube::new(d, k, closed);
    let own_order = symmetric.saturating_sub(1); // the orders begin with 1
    if interleaved || draw != u64::MAX || own_order > *symmetric::ORDERS.end() || d > 16 {
        if !closed && (interleaved || symmetric > 0) {
            return fail(
                "expected a coil: there are snakes of this kind up to dimension 16, symmetric=2 alone",
            );
        }
        if symmetric == 1 || draw != u64::MAX && own_order < 2 {
            return fail("expected symmetric=2 or more: this kind has one order at a time");
        }
        let turns = match (interleaved, count) {
            (false, _) => Turns { count: 0, every },
            (true, 0) => Turns { count: (k as usize).div_ceil(2), every },
            (true, count) => Turns { count, every },
        };
        let draw = (draw != u64::MAX).then_some(draw);
        return match Form::new(cube, own_order.max(1), turns, draw) {
            Ok(form) => Ok(Opened::Problem(Box::new(form))),
            Err(message) => fail(message),
        };
    }
    let orders = match symmetric {
        0 => return Ok(Opened::Problem(Box::new(cube))),
        1 => symmetric::ORDERS,
        _ => own_order..=own_order,
    };
    match Symmetric::new(cube, orders) {
        Some(part) => Ok(Opened::Problem(Box::new(part))),
        None => fail("symmetric: expected a spread up to the dimension, and for a snake order 2"),
    }
}

/// Up to this dimension the symmetries are few enough to be tried beside the rest.
const SYMMETRIC_MAX: u32 = 12;

/// The highest order of a symmetry that may be asked for: twice the dimensions of the largest cube.
const ORDER_MAX: usize = 40;

/// The instance. Sets of vertices are bits; a word holds the 64 vertices that differ in the dimensions 0 to 5 only.
#[derive(Debug, Clone)]
struct Cube {
    d: u32,
    k: u32,
    closed: bool,
    /// min(k, d): the first so many moves are forced, and a coil this close to its start is on its way home.
    reach: u32,
    /// `near[r][v]` are the vertices of a word at most `r` from its vertex `v`.
    near: [[u64; 64]; 7],
    /// `next[v]` are the neighbours of `v` in its word.
    next: [u64; 64],
    /// The ball of radius k - 1, word by word: the xor of the word's number, and the radius that is left in it.
    ball: Vec<(usize, usize)>,
}

/// The walk so far.
#[derive(Debug, PartialEq, Eq, Hash)]
struct State {
    /// Vertices less than k from the path, but for the last k - 1 vertices of it. A coil may still come home through
    /// its gates: the vertices k - 1 from the start are blocked only by what comes later.
    blocked: Vec<u64>,
    /// The vertices, from 0.
    path: Vec<u16>,
    /// Dimensions in use: the lowest ones.
    used: u32,
    /// Gates that are not blocked.
    gates: u32,
}

/// Written out so that `clone_from` keeps the memory of the last playout.
impl Clone for State {
    fn clone(&self) -> State {
        State { blocked: self.blocked.clone(), path: self.path.clone(), ..*self }
    }

    fn clone_from(&mut self, from: &State) {
        self.blocked.clone_from(&from.blocked);
        self.path.clone_from(&from.path);
        (self.used, self.gates) = (from.used, from.gates);
    }
}

impl State {
    #[inline]
    fn head(&self) -> u16 {
        self.path[self.path.len() - 1]
    }

    /// Edges.
    #[inline]
    fn length(&self) -> usize {
        self.path.len() - 1
    }
}

impl Cube {
    fn new(d: u32, k: u32, closed: bool) -> Cube {
        let within = |v: usize, r: u32| {
            (0..64).filter(|w| (v ^ w).count_ones() <= r).fold(0u64, |bits, w| bits | 1 << w)
        };
        let near = std::array::from_fn(|r| std::array::from_fn(|v| within(v, r as u32)));
        let words = 1usize << d.saturating_sub(6);
        let ball = (0..words)
            .filter(|word| word.count_ones() < k)
            .map(|word| (word, (k - 1 - word.count_ones()).min(6) as usize))
            .collect();
        let next = std::array::from_fn(|v| within(v, 1) & !(1 << v));
        Cube { d, k, closed, reach: k.min(d), near, next, ball }
    }

    /// The gates in a word.
    #[inline]
    fn gates(&self, word: usize) -> u64 {
        match (self.reach - 1).checked_sub(word.count_ones()) {
            Some(0) => 1,
            Some(r @ 1..=6) => self.near[r as usize][0] & !self.near[r as usize - 1][0],
            _ => 0,
        }
    }

    /// The gates that the ball around a vertex would block.
    fn gates_lost(&self, state: &State, centre: u16) -> u32 {
        if centre.count_ones() > 2 * self.k - 2 {
            return 0;
        }
        let (word, low) = ((centre >> 6) as usize, (centre & 63) as usize);
        let lost = |&(xor, r): &(usize, usize)| {
            (self.near[r][low] & !state.blocked[word ^ xor] & self.gates(word ^ xor)).count_ones()
        };
        self.ball.iter().map(lost).sum()
    }

    /// Calls `f` with the dimension of every free neighbour of a vertex, dimensions below `used` + 1 only.
    #[inline]
    fn each_free(&self, state: &State, v: u16, mut f: impl FnMut(u8)) {
        let (word, low) = ((v >> 6) as usize, (v & 63) as usize);
        let mut free = self.next[low] & !state.blocked[word];
        while free != 0 {
            let dimension = (free.trailing_zeros() ^ low as u32).trailing_zeros();
            free &= free - 1;
            if dimension <= state.used {
                f(dimension as u8);
            }
        }
        for dimension in 6..self.d.min(state.used + 1) {
            if state.blocked[word ^ 1 << (dimension - 6)] >> low & 1 == 0 {
                f(dimension as u8);
            }
        }
    }

    /// The free neighbours of a vertex, unused dimensions included: what a step there would go on to block.
    #[inline]
    fn room(&self, state: &State, v: u16) -> u32 {
        free_neighbours(self, &state.blocked, v)
    }

    /// Calls `f` with every legal move.
    #[inline]
    fn each_move(&self, state: &State, mut f: impl FnMut(u8)) {
        let (length, head) = (state.length(), state.head());
        if length < self.reach as usize {
            // Before this a dimension used twice would bring the path too near to its start.
            f(state.used as u8);
        } else if !self.closed {
            self.each_free(state, head, f);
        } else if head.count_ones() < self.reach {
            self.each_way_home(state, f);
        } else {
            // Any move but into a gate blocks what the vertex k - 2 behind the head blocks. Not the last gates.
            let centre = (length + 2).checked_sub(self.k as usize).filter(|&i| i > 0);
            let lost = centre.map_or(0, |i| self.gates_lost(state, state.path[i]));
            let onward = lost < state.gates;
            self.each_free(state, head, |dimension| {
                let to = head ^ 1 << dimension;
                let into_gate = to.count_ones() < self.reach;
                if if into_gate { self.comes_home(state, to) } else { onward } {
                    f(dimension);
                }
            });
        }
    }

    /// Calls `f` with the moves of a coil on its last k edges that lead home.
    fn each_way_home(&self, state: &State, mut f: impl FnMut(u8)) {
        let head = state.head();
        for dimension in (0..self.d as u8).filter(|dimension| head >> dimension & 1 == 1) {
            if self.comes_home(state, head ^ 1 << dimension) {
                f(dimension);
            }
        }
    }

    /// Whether the coil can be closed by going from its head to `v` and then straight home.
    fn comes_home(&self, state: &State, v: u16) -> bool {
        // With spread 2 a free gate is next to the start and the head and to nothing else.
        self.k == 2 || self.closes(state, v, state.path.len())
    }

    /// Whether `v` fits as vertex number `at`, and then the shortest way home in some order of dimensions.
    fn closes(&self, state: &State, v: u16, at: usize) -> bool {
        let total = at + v.count_ones() as usize;
        let fits = |(i, w): (usize, &u16)| {
            let apart = (v ^ w).count_ones();
            apart >= self.k || apart as usize == (at - i).min(total - at + i)
        };
        v == 0
            || state.path.iter().enumerate().all(fits)
                && (0..self.d).any(|i| v >> i & 1 == 1 && self.closes(state, v ^ 1 << i, at + 1))
    }

    fn is_closed(&self, state: &State) -> bool {
        state.length() > 0 && state.head() == 0
    }

    fn dimensions(&self, state: &State) -> impl Iterator<Item = u32> {
        state.path.windows(2).map(|edge| (edge[0] ^ edge[1]).trailing_zeros())
    }
}

/// A length; of a coil that is not closed, how far from home it is.
fn edges(score: f64) -> Vec<Measure> {
    vec![if score < 0.0 { Measure::fewest("steps_from_home", -score) } else { Measure::most("edges", score) }]
}

#[inline]
fn free_neighbours(cube: &Cube, blocked: &[u64], v: u16) -> u32 {
    let (word, low) = ((v >> 6) as usize, (v & 63) as usize);
    let mut free = (cube.next[low] & !blocked[word]).count_ones();
    for dimension in 6..cube.d {
        free += 1 - (blocked[word ^ 1 << (dimension - 6)] >> low & 1) as u32;
    }
    free
}

/// The vertices that are free when the ball around the head is blocked as well: what a path has left to grow into.
fn free_beyond(cube: &Cube, blocked: &[u64], head: u16) -> u32 {
    let (word, low) = ((head >> 6) as usize, (head & 63) as usize);
    let free: u32 = blocked.iter().map(|bits| bits.count_zeros()).sum();
    let taken = |&(xor, r): &(usize, usize)| (cube.near[r][low] & !blocked[word ^ xor]).count_ones();
    free - cube.ball.iter().map(taken).sum::<u32>()
}

impl Domain for Cube {
    type State = State;
    type Move = u8; // the dimension, from 0

    fn initial(&self) -> State {
        let words = 1usize << self.d.saturating_sub(6);
        // The ball around the start is there from the beginning: until it matters, moves are forced.
        let mut blocked = vec![0; words];
        for &(word, r) in &self.ball {
            blocked[word] = self.near[r][0];
        }
        if self.d < 6 {
            blocked[0] |= u64::MAX << (1 << self.d);
        }
        let mut gates = 0;
        if self.closed {
            for (word, blocked) in blocked.iter_mut().enumerate() {
                let in_cube = if self.d < 6 { !(u64::MAX << (1 << self.d)) } else { u64::MAX };
                let here = self.gates(word) & in_cube;
                *blocked &= !here;
                gates += here.count_ones();
            }
        }
        State { blocked, path: vec![0], used: 0, gates }
    }

    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        if !(self.closed && self.is_closed(state)) {
            self.each_move(state, |dimension| out.push(dimension));
        }
    }

    #[inline]
    fn play(&self, state: &mut State, dimension: u8) {
        let to = state.head() ^ 1 << dimension;
        state.path.push(to);
        state.used = state.used.max(dimension as u32 + 1);
        let Some(i) = state.path.len().checked_sub(self.k as usize).filter(|&i| i > 0) else { return };
        let centre = state.path[i];
        if self.closed {
            state.gates -= self.gates_lost(state, centre);
        }
        let (word, low) = ((centre >> 6) as usize, (centre & 63) as usize);
        for &(xor, r) in &self.ball {
            state.blocked[word ^ xor] |= self.near[r][low];
        }
    }

    fn show(&self, state: &State) -> String {
        let kind = match (self.closed, self.is_closed(state)) {
            (false, _) => "snake",
            (true, true) => "coil",
            (true, false) => "open path, not a coil,",
        };
        let mut text =
            format!("{kind} of length {} in the {}-cube, spread {}", state.length(), self.d, self.k);
        for (i, dimension) in self.dimensions(state).enumerate() {
            text += if i % 32 == 0 { "\n" } else { " " };
            text += &dimension.to_string();
        }
        text
    }

    fn show_move(&self, _: &State, dimension: u8) -> String {
        dimension.to_string()
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        Some(draw(self, state))
    }
}

impl Problem for Cube {
    fn score(&self, state: &State) -> f64 {
        if !self.closed || self.is_closed(state) {
            state.length() as f64
        } else {
            -f64::from(state.head().count_ones())
        }
    }

    // The edge: measured at levels 2 and 3 against the vertex, the position in the path and recent dimensions.
    #[inline]
    fn code(&self, state: &State, dimension: u8) -> u64 {
        u64::from(state.head()) * u64::from(self.d) + u64::from(dimension)
    }

    fn codes_max(&self) -> Option<usize> {
        // Beyond, an array would be mostly never touched.
        (self.d <= 12).then_some((self.d as usize) << self.d)
    }

    // Long snakes are tight: they step where little is left to block (Warnsdorff's rule).
    fn bias(&self, state: &State, dimension: u8) -> f64 {
        -2.0 * f64::from(self.room(state, state.head() ^ 1 << dimension))
    }

    /// Leaves out dead ends and steps to vertices with over two more free neighbours than the tightest. The longest
    /// snakes of dimension 7 that were found keep to it, but for one step of some of them; a gate is always offered.
    fn choices(&self, state: &State, out: &mut Choices<u8>) {
        if self.closed && self.is_closed(state) {
            return;
        }
        let (mut dimensions, mut n) = ([0u8; 16], 0);
        self.each_move(state, |dimension| {
            dimensions[n] = dimension;
            n += 1;
        });
        let head = state.head();
        let mut keep = |dimension: u8| {
            out.moves.push(dimension);
            out.codes.push(self.code(state, dimension));
        };
        if n <= 1 {
            // Most steps late in a walk: nothing to weigh.
            dimensions[..n].iter().for_each(|&dimension| keep(dimension));
            return;
        }
        let gate = |dimension: u8| self.closed && (head ^ 1 << dimension).count_ones() < self.reach;
        let (mut rooms, mut tightest) = ([0u32; 16], u32::MAX);
        for (room, &dimension) in rooms.iter_mut().zip(&dimensions[..n]) {
            *room = self.room(state, head ^ 1 << dimension);
            if *room > 0 && !gate(dimension) {
                tightest = tightest.min(*room);
            }
        }
        for (&room, &dimension) in rooms.iter().zip(&dimensions[..n]) {
            // Nothing but dead ends and gates: all of them are offered.
            if tightest == u32::MAX || (1..=tightest + 2).contains(&room) || gate(dimension) {
                keep(dimension);
            }
        }
    }

    fn promise(&self, state: &State) -> Option<f64> {
        Some(f64::from(free_beyond(self, &state.blocked, state.head())))
    }

    /// What a symmetry maps to itself: half of the moves or fewer, and most of the longest known are such.
    fn forms(&self) -> Vec<Box<dyn sortie_core::search::Form<u8> + '_>> {
        if self.d > SYMMETRIC_MAX {
            return Vec::new();
        }
        let lift = |part: &Symmetric, end: &symmetric::State| part.lift(end);
        let form = Symmetric::new(self.clone(), symmetric::ORDERS);
        let boxed = |problem| {
            Box::new(Lifted { name: "symmetric ones", problem, lift })
                as Box<dyn sortie_core::search::Form<u8>>
        };
        form.map(boxed).into_iter().collect()
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        edges(score)
    }

    fn best_known(&self) -> Option<f64> {
        let table = if self.closed { &COILS } else { &SNAKES };
        let row = table.get((self.d as usize).checked_sub(3)?)?;
        row.get(self.k as usize - 2).filter(|&&length| length > 0).map(|&length| f64::from(length))
    }
}

/// Best known lengths by dimension from 3 and spread from 2, 0 where none is known to us. Cazenave and Edelkamp
/// (2016), tables 2 and 3; spread 2 from dimension 9 on: the census of July 2026 (arXiv 2607.15270).
const SNAKES: [[u16; 6]; 11] = [
    [4, 3, 3, 3, 3, 3],
    [7, 5, 4, 4, 4, 4],
    [13, 7, 6, 5, 5, 5],
    [26, 13, 8, 7, 6, 6],
    [50, 21, 11, 9, 8, 7],
    [98, 35, 19, 11, 10, 9],
    [191, 63, 28, 19, 12, 11],
    [379, 103, 47, 25, 15, 13],
    [746, 157, 68, 39, 25, 15],
    [1476, 286, 104, 56, 33, 25],
    [2924, 493, 181, 79, 47, 31],
];
const COILS: [[u16; 6]; 11] = [
    [6, 6, 6, 6, 6, 6],
    [8, 8, 8, 8, 8, 8],
    [14, 10, 10, 10, 10, 10],
    [26, 16, 12, 12, 12, 12],
    [48, 24, 14, 14, 14, 14],
    [96, 36, 22, 16, 16, 16],
    [192, 64, 30, 24, 18, 18],
    [374, 102, 46, 28, 20, 20],
    [732, 160, 70, 40, 30, 22],
    [1466, 288, 102, 60, 36, 32],
    [0, 494, 182, 80, 50, 36],
];

/// The cube as a Karnaugh map, rows and columns in Gray order, so that a step is often to the next cell; longer steps
/// are arcs. The path goes from blue to red; grey cells are blocked.
fn draw(cube: &Cube, state: &State) -> Picture {
    let (column_bits, row_bits) = (cube.d.div_ceil(2), cube.d / 2);
    let (columns, rows) = (1usize << column_bits, 1usize << row_bits);
    let cell = (960.0 / columns as f64).min(64.0);
    let (margin, top) = (24.0, 56.0);
    let (width, height) = (columns as f64 * cell + 2.0 * margin, rows as f64 * cell + top + margin);
    let title = cube.show(state).lines().next().unwrap_or_default().to_string();
    let mut picture = Picture::new(width.max(460.0), height, title.clone());
    let left = (picture.width - columns as f64 * cell) / 2.0;
    let shapes = &mut picture.shapes;
    shapes.push(Shape::Text { x: left.max(230.0), y: 28.0, size: 16.0, fill: INK, text: title });

    // Neighbouring cells of a row that look alike become one shape: a large cube must not give a large file.
    let gray = |i: usize| i ^ i >> 1;
    let on_path: std::collections::HashSet<usize> = state.path.iter().map(|&v| v as usize).collect();
    let gap = if cell >= 8.0 { 1.0 } else { 0.0 };
    for row in 0..rows {
        let blocked = |column: usize| {
            let v = gray(row) << column_bits | gray(column);
            state.blocked[v >> 6] >> (v & 63) & 1 == 1 && !on_path.contains(&v)
        };
        let mut column = 0;
        while column < columns {
            let first = column;
            while column < columns && blocked(column) == blocked(first) && (column == first || gap == 0.0) {
                column += 1;
            }
            let fill = if blocked(first) { FAINT } else { 0xf4f1ea };
            let (x, y) = (left + first as f64 * cell + gap, top + row as f64 * cell + gap);
            let (w, h) = ((column - first) as f64 * cell - 2.0 * gap, cell - 2.0 * gap);
            shapes.push(Shape::Rect { x, y, w, h, round: 3.0 * gap, fill });
        }
    }

    let place = |v: u16| {
        let ungray = |mut g: usize| {
            for shift in [1, 2, 4, 8] {
                g ^= g >> shift;
            }
            g
        };
        let (column, row) = (ungray(v as usize & (columns - 1)), ungray(v as usize >> column_bits));
        (left + (column as f64 + 0.5) * cell, top + (row as f64 + 0.5) * cell)
    };
    let colour = |i: usize| blend(PALETTE[1], PALETTE[0], i as f64 / state.length().max(1) as f64);
    for (i, edge) in state.path.windows(2).enumerate() {
        let (from, to) = (place(edge[0]), place(edge[1]));
        let points = arc(from, to, cell);
        shapes.push(Shape::Line { points, width: (cell / 9.0).max(0.8), stroke: colour(i) });
    }
    let open_end = !cube.is_closed(state);
    if cell >= 8.0 {
        for (i, &v) in state.path.iter().enumerate().take(state.length() + usize::from(open_end)) {
            let (x, y) = place(v);
            shapes.push(Shape::Circle { x, y, r: cell / 6.0, fill: colour(i) });
        }
    }
    let mut mark = |v: u16, text: &str, fill| {
        let ((x, y), r) = (place(v), (cell / 3.0).max(5.0));
        shapes.push(Shape::Circle { x, y, r, fill });
        shapes.push(Shape::Text { x, y, size: 1.2 * r, fill: PAPER, text: text.into() });
    };
    if open_end && state.length() > 0 {
        mark(state.head(), "E", PALETTE[0]);
    }
    mark(0, "S", PALETTE[1]);
    picture
}

/// The way from one cell to another of the same row or column, bent aside unless they touch.
fn arc(from: (f64, f64), to: (f64, f64), cell: f64) -> Vec<(f64, f64)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy);
    if length < 1.5 * cell {
        return vec![from, to];
    }
    // Flatter the longer it is, and always less than what would leave the picture.
    let bend = (0.2 + 0.06 * length / cell).min(0.75) * cell;
    (0..=10)
        .map(|i| {
            let t = i as f64 / 10.0;
            let aside = 4.0 * t * (1.0 - t) * bend / length;
            (from.0 + t * dx + aside * dy, from.1 + t * dy - aside * dx)
        })
        .collect()
}

/// A colour between two.
fn blend(a: u32, b: u32, t: f64) -> u32 {
    [16, 8, 0].iter().fold(0, |colour, shift| {
        let (a, b) = (f64::from(a >> shift & 255), f64::from(b >> shift & 255));
        colour | ((a + (b - a) * t) as u32) << shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::record::replay_whole;
    use sortie_core::{Record, Rng, conformance};

    #[test]
    fn conforms() {
        for (d, k) in [(2, 2), (3, 7), (5, 2), (7, 3), (8, 2), (9, 4), (13, 3)] {
            for closed in [false, true] {
                conformance::problem(&Cube::new(d, k, closed), 5, 1);
            }
        }
    }

    fn longest(cube: &Cube, state: &State) -> f64 {
        let mut moves = Vec::new();
        cube.moves(state, &mut moves);
        let after = |dimension| {
            let mut next = state.clone();
            cube.play(&mut next, dimension);
            longest(cube, &next)
        };
        moves.into_iter().map(after).fold(cube.score(state), f64::max)
    }

    #[test]
    fn exhaustive_search_finds_the_known_optima() {
        let tiny: &[(u32, &[u32])] = &[
            (3, &[2, 3, 4, 7]),
            (4, &[2, 3, 4, 5, 7]),
            (5, &[2, 3, 4, 5, 6]),
            (6, &[3, 4, 5, 6]),
            (7, &[4, 5, 6]),
        ];
        for &(d, spreads) in tiny {
            for &k in spreads {
                for closed in [false, true] {
                    let cube = Cube::new(d, k, closed);
                    let found = longest(&cube, &cube.initial());
                    assert_eq!(Some(found), cube.best_known(), "dimension {d} spread {k} closed {closed}");
                }
            }
        }
    }

    /// The definition itself, on every pair of vertices.
    fn check(cube: &Cube, state: &State) {
        let n = state.length();
        let closed = cube.closed && cube.is_closed(state);
        let vertices = &state.path[..n + usize::from(!closed)];
        for (j, v) in vertices.iter().enumerate() {
            for (i, w) in vertices[..j].iter().enumerate() {
                let along = if closed { (j - i).min(n - (j - i)) } else { j - i };
                let apart = (v ^ w).count_ones();
                assert!(apart >= cube.k || apart as usize == along, "{i} and {j} in\n{}", cube.show(state));
            }
        }
    }

    #[test]
    fn random_walks_keep_their_distance_and_coils_close() {
        let mut rng = Rng::new(3, 0);
        for (d, k) in [(5, 2), (7, 2), (8, 3), (9, 4), (10, 5), (6, 9)] {
            for closed in [false, true] {
                let cube = Cube::new(d, k, closed);
                let mut coils = 0;
                for _ in 0..100 {
                    let (mut state, mut scratch) = (cube.initial(), Vec::new());
                    while let Some(mv) = cube.random_move(&state, &mut rng, &mut scratch) {
                        cube.play(&mut state, mv);
                    }
                    check(&cube, &state);
                    coils += usize::from(cube.is_closed(&state));
                    assert_eq!(cube.score(&state) > 0.0, !closed || cube.is_closed(&state));
                }
                assert_eq!(coils > 0, closed, "dimension {d} spread {k}: {coils} coils");
            }
        }
    }

    #[test]
    fn the_snake_of_the_paper_replays() {
        // Cazenave and Edelkamp 2016, dimension 7, its dimensions renamed in the order of their first use.
        let vertices = [
            0u16, 1, 33, 35, 43, 42, 10, 26, 27, 25, 57, 56, 48, 52, 53, 55, 63, 62, 126, 122, 123, 115, 113,
            81, 80, 88, 92, 93, 95, 87, 86, 22, 6, 7, 15, 13, 12, 44, 108, 104, 105, 73, 75, 67, 66, 98, 102,
            103, 101, 69, 68,
        ];
        let mut names: Vec<u32> = Vec::new();
        let mut words = Vec::new();
        for edge in vertices.windows(2) {
            let dimension = (edge[0] ^ edge[1]).trailing_zeros();
            if !names.contains(&dimension) {
                names.push(dimension);
            }
            words.push(names.iter().position(|&name| name == dimension).unwrap().to_string());
        }
        let cube = Cube::new(7, 2, false);
        let end = replay_whole(&cube, &words).unwrap();
        assert_eq!(Some(cube.score(&end)), cube.best_known());
    }

    #[test]
    fn the_records_are_no_shorter_than_the_best_known() {
        let records = [
            (8, 2, true, include_str!("../../records/coil-8-96.record")),
            (9, 3, true, include_str!("../../records/coil-9-3-64.record")),
            (9, 4, true, include_str!("../../records/coil-9-4-30.record")),
            (10, 4, true, include_str!("../../records/coil-10-4-46.record")),
            (11, 4, true, include_str!("../../records/coil-11-4-72.record")),
            (11, 5, false, include_str!("../../records/snake-11-5-39.record")),
            (12, 6, false, include_str!("../../records/snake-12-6-33.record")),
            (13, 6, false, include_str!("../../records/snake-13-6-47.record")),
        ];
        for (d, k, closed, text) in records {
            let (record, cube) = (Record::parse(text).unwrap(), Cube::new(d, k, closed));
            let end = replay_whole(&cube, &record.moves).unwrap();
            check(&cube, &end);
            assert_eq!(cube.score(&end), record.score, "{}", record.instance);
            assert!(cube.best_known().is_some_and(|known| record.score >= known), "{}", record.instance);
        }
    }

    #[test]
    fn bad_names_are_refused_and_pictures_stay_small() {
        for name in ["1", "21", "8-1", "8-17", "8-", "-3", "eight", "", "8-3-2"] {
            let request = Request { name, options: Default::default(), read: &|_| Err("no files".into()) };
            assert!((SNAKE.open)(&request).is_err_and(|e| e.to_string().contains("from 2 to 20")), "{name}");
        }
        let open = |name| crate::open(&format!("coil/{name}"), &|_| Err("no files".into()));
        assert!(open("8:symmetric=on").is_ok() && open("8:symmetric=2").is_ok() && open("3-4").is_ok());
        assert!(open("8:symmetric=6").is_ok() && open("17-8").is_ok());
        assert!(open("13-3:form=interleaved,symmetric=8,draw=3").is_ok());
        assert!(open("8:symmetric=41").is_err_and(|e| e.to_string().contains("off, on, 1, 2")));
        assert!(open("8:turns=2").is_err() && open("8:draw=2").is_err() && open("17:symmetric=on").is_err());
        assert!(open("4:form=interleaved,turns=3").is_err() && open("8:form=interleaved,every=0").is_err());
        assert!(open("3-4:symmetric=on").is_err_and(|e| e.to_string().contains("up to the dimension")));
        assert!(open("8:symmetric=yes").is_err() && open("8:symmetry=on").is_err());
        let cube = Cube::new(16, 2, false);
        let (mut state, mut rng, mut scratch) = (cube.initial(), Rng::new(1, 0), Vec::new());
        while let Some(mv) = cube.random_move(&state, &mut rng, &mut scratch) {
            cube.play(&mut state, mv);
        }
        assert!(draw(&cube, &state).svg().len() < 10_000_000);
    }
}
