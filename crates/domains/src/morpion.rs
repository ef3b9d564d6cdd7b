//! Morpion Solitaire: on squared paper, add a point that completes a line of five (or four) and draw that line.
//!
//! Lines of one direction may not share a point (D, disjoint) or may share one end point (T, touching); lines of
//! different directions never disturb each other. The score is the number of lines. A line is coded by itself alone,
//! as in Rosin (IJCAI 2011); his rule for dominated moves is left out. The paper is 48 x 48 and its rim is never
//! played: 18 free rows on every side of the cross, where the record games need 9.

mod learn;

use sortie_core::measure::Measure;
use sortie_core::picture::{Colour, FAINT, INK, PALETTE, PAPER, Picture, Shape};
use sortie_core::planes::{Cell, Learnable};
use sortie_core::{Choices, Domain, Problem, Rng};
use sortie_core::{Entry, OpenError, Opened, Request};
use std::fmt::Write;
use std::hash::{Hash, Hasher};

const NAMES: &str = "5T, 5D, 4T or 4D";

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "morpion",
    about: "Morpion Solitaire: as many lines of five as will fit; T lines may touch, D lines are disjoint",
    names: NAMES,
    options: &[(
        "box",
        "A,B,C,D: only games this far to the left, top, right and bottom of the cross, 0 to 16 each",
    )],
    examples: &["5D", "5T", "4D", "4T"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(&[])?;
    let fail = |message: String| {
        Err(OpenError::OutOfRange { domain: ENTRY.name, name: request.name.to_string(), message })
    };
    // Four numbers with commas between them are no list of options: they come with the name.
    let (name, room) = match request.name.split_once(":box=") {
        None => (request.name, Some(ROOM)),
        Some((name, sides)) => {
            let sides: Option<Vec<i32>> =
                sides.split(',').map(|side| side.parse().ok().filter(|n| (0..=16).contains(n))).collect();
            (name, sides.and_then(|sides| sides.try_into().ok()))
        }
    };
    let Some(room) = room else {
        return fail("box: expected four numbers from 0 to 16, as in box=4,3,1,2".into());
    };
    match VARIANTS.iter().find(|v| v.name.eq_ignore_ascii_case(name)) {
        Some(variant) => Ok(Opened::Problem(Box::new(Morpion::new(variant, room)))),
        None => fail(format!("expected {NAMES}")),
    }
}

/// How far a game may go beyond the cross: left, top, right, bottom.
type Room = [i32; 4];

/// Farther than the paper reaches: its rim decides.
const ROOM: Room = [SIZE as i32; 4];

/// What makes one variant of the game.
#[derive(Debug, Clone, Copy)]
struct Variant {
    name: &'static str,
    /// Points on a line.
    length: usize,
    /// What a drawn line uses up in its direction, counted from its first point: as many points as it has (D), or
    /// as many unit segments (T). Two lines conflict when these overlap, so this one number is the whole difference.
    marks: usize,
    best_known: f64,
}

const VARIANTS: [Variant; 4] = [
    Variant { name: "5T", length: 5, marks: 4, best_known: 178.0 },
    Variant { name: "5D", length: 5, marks: 5, best_known: 82.0 },
    Variant { name: "4T", length: 4, marks: 3, best_known: 62.0 },
    Variant { name: "4D", length: 4, marks: 4, best_known: 35.0 },
];

/// The paper is SIZE points wide and high. At most 60: a lane and its margin are the bits of a u64.
const SIZE: usize = 48;

/// The directions a line runs in, seen from its first point; y grows downwards.
const DIRECTIONS: [Direction; 4] = [
    Direction { name: "H", dx: 1, dy: 0 },
    Direction { name: "V", dx: 0, dy: 1 },
    Direction { name: "DP", dx: 1, dy: -1 },
    Direction { name: "DN", dx: 1, dy: 1 },
];

struct Direction {
    name: &'static str,
    dx: i32,
    dy: i32,
}

/// A line and the new point on it. At any time at most one point of a line is missing, so the line alone tells the
/// legal moves of a state apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// `lane * SIZE + position of the first point`.
    line: u16,
    /// `64 * y + x`.
    point: u16,
}

/// All points of the paper on one straight line in one direction. Lanes `0..SIZE` are the rows, then follow the
/// columns, the rising and the falling diagonals; along a lane the position is x, in a column y. Two diagonals share
/// a lane, the second beginning where the first ends: rim points lie between them, so no line can cross the seam.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    /// Bit `MARGIN + position`: the point is on the paper.
    points: u64,
    /// Bit `MARGIN + position`: no line may begin there, because of a drawn line or the rim.
    blocked: u64,
}

/// Keeps the window around a point from starting below bit 0.
const MARGIN: usize = 4;

/// A position: the moves played, and what follows from them.
#[derive(Debug)]
pub struct State {
    played: Vec<Move>,
    /// In the order in which they became legal.
    legal: Vec<Move>,
    lanes: [Lane; 4 * SIZE],
}

impl Clone for State {
    fn clone(&self) -> State {
        State { played: self.played.clone(), legal: self.legal.clone(), lanes: self.lanes }
    }

    fn clone_from(&mut self, from: &State) {
        self.played.clone_from(&from.played);
        self.legal.clone_from(&from.legal);
        self.lanes = from.lanes;
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        self.played == other.played
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.played.hash(hasher);
    }
}

/// Morpion Solitaire in one of its four variants.
#[derive(Debug)]
pub struct Morpion {
    variant: Variant,
    /// Where on the paper the point (0, 0) of the move texts lies: the corner of the square around the cross.
    corner: i32,
    start: State,
    /// The points of the cross, for networks.
    cross: Vec<Cell>,
}

impl Morpion {
    fn new(variant: &Variant, room: Room) -> Morpion {
        // The cross is three squares of `side` wide.
        let side = variant.length as i32 - 2;
        let corner = (SIZE as i32 - (3 * side + 1)) / 2;
        let start = start(variant, corner, corner, room);
        Morpion { variant: *variant, corner, start, cross: learn::cross(side, corner) }
    }

    /// The point in the coordinates of the move texts.
    fn text_xy(&self, point: u16) -> (i32, i32) {
        let (x, y) = xy(point);
        (x as i32 - self.corner, y as i32 - self.corner)
    }

    /// The smallest square of text coordinates around everything, as (left, top, right, bottom).
    fn extent(&self, state: &State) -> (i32, i32, i32, i32) {
        let last = 3 * (self.variant.length as i32 - 2);
        let grow = |(l, t, r, b): (i32, i32, i32, i32), mv: &Move| {
            let (x, y) = self.text_xy(mv.point);
            (l.min(x), t.min(y), r.max(x), b.max(y))
        };
        state.played.iter().fold((0, 0, last, last), grow)
    }
}

/// The direction of a move's line and the index of the new point on it.
fn place(mv: Move) -> (usize, usize) {
    let direction = mv.line as usize / (SIZE * SIZE);
    let (x, y) = xy(mv.point);
    (direction, position(direction, x, y) - mv.line as usize % SIZE)
}

fn xy(point: u16) -> (usize, usize) {
    (point as usize % 64, point as usize / 64)
}

/// The position of a point along its lane.
fn position(direction: usize, x: usize, y: usize) -> usize {
    if direction == 1 { y } else { x }
}

/// The lanes through a point, one a direction.
#[inline]
fn lanes_through(x: usize, y: usize) -> [usize; 4] {
    [y, SIZE + x, 2 * SIZE + (x + y) % SIZE, 3 * SIZE + (x + SIZE - y) % SIZE]
}

/// Whether (x, y) belongs to the start cross of a square 3 * side + 1 points wide.
fn in_cross(side: i32, x: i32, y: i32) -> bool {
    let edge = |a: i32, b: i32| {
        (a == 0 || a == 3 * side) && (side..=2 * side).contains(&b)
            || (a == side || a == 2 * side) && ((0..=side).contains(&b) || (2 * side..=3 * side).contains(&b))
    };
    edge(x, y) || edge(y, x)
}

/// The first position of a game, the corner of the cross at (left, top), and as much room around it.
fn start(variant: &Variant, left: i32, top: i32, room: Room) -> State {
    let mut lanes = [Lane { points: 0, blocked: u64::MAX }; 4 * SIZE];
    let width = 3 * (variant.length as i32 - 2);
    let inside = |x: i32, y: i32| {
        let within = |v: i32, first: i32, before: i32, after: i32| {
            (1..SIZE as i32 - 1).contains(&v) && (first - before..=first + width + after).contains(&v)
        };
        within(x, left, room[0], room[2]) && within(y, top, room[1], room[3])
    };
    let mut lines = Vec::new();
    for y in 0..SIZE {
        for x in 0..SIZE {
            for (d, lane) in lanes_through(x, y).into_iter().enumerate() {
                let bit = MARGIN + position(d, x, y);
                if in_cross(variant.length as i32 - 2, x as i32 - left, y as i32 - top) {
                    lanes[lane].points |= 1 << bit;
                }
                let Direction { dx, dy, .. } = DIRECTIONS[d];
                let point = move |i: usize| (x as i32 + dx * i as i32, y as i32 + dy * i as i32);
                let (far_x, far_y) = point(variant.length - 1);
                if inside(x as i32, y as i32) && inside(far_x, far_y) {
                    lanes[lane].blocked &= !(1 << bit);
                    lines.push((lane, bit, point));
                }
            }
        }
    }
    let mut legal = Vec::new();
    for (lane, bit, point) in lines {
        let missing = !(lanes[lane].points >> bit) & ((1 << variant.length) - 1);
        if missing.count_ones() == 1 {
            let (x, y) = point(missing.trailing_zeros() as usize);
            legal.push(Move { line: (lane * SIZE + bit - MARGIN) as u16, point: (64 * y + x) as u16 });
        }
    }
    State { played: Vec::new(), legal, lanes }
}

impl Domain for Morpion {
    type State = State;
    type Move = Move;

    fn initial(&self) -> State {
        self.start.clone()
    }

    fn moves(&self, state: &State, out: &mut Vec<Move>) {
        out.extend_from_slice(&state.legal);
    }

    fn random_move(&self, state: &State, rng: &mut Rng, _: &mut Vec<Move>) -> Option<Move> {
        if state.legal.is_empty() { None } else { Some(state.legal[rng.below(state.legal.len())]) }
    }

    fn play(&self, state: &mut State, mv: Move) {
        let Variant { length, marks, .. } = self.variant;
        state.played.push(mv);

        // Lines of this lane that begin less than `marks` away conflict with the drawn one, now and later.
        let lane = &mut state.lanes[mv.line as usize / SIZE];
        lane.blocked |= (((1 << (2 * marks - 1)) - 1) << (MARGIN + mv.line as usize % SIZE)) >> (marks - 1);
        let mut kept = 0;
        for i in 0..state.legal.len() {
            let other = state.legal[i];
            state.legal[kept] = other;
            let apart = other.line.wrapping_sub(mv.line).wrapping_add(marks as u16 - 1);
            kept += usize::from((other.point != mv.point) & (apart >= 2 * marks as u16 - 1));
        }
        state.legal.truncate(kept);

        // What became legal runs through the new point. The windows of four points to either side are looked at in
        // all directions at once: direction d has bits 16 d to 16 d + 8 of these words, bit 4 being the new point.
        let (x, y) = xy(mv.point);
        let lanes = lanes_through(x, y);
        let positions = [x, y, x, x];
        let (mut missing, mut blocked) = (0, 0);
        for d in 0..4 {
            let lane = &mut state.lanes[lanes[d]];
            lane.points |= 1 << (MARGIN + positions[d]);
            missing |= (!lane.points >> positions[d] & 0x1ff) << (16 * d);
            blocked |= (lane.blocked >> positions[d] & 0x1f) << (16 * d);
        }
        // Of the `length` points from each bit on: is one missing, are two?
        let (mut one, mut two) = (missing, 0);
        for i in 1..length {
            two |= one & (missing >> i);
            one |= missing >> i;
        }
        let through = 0x001f_001f_001f_001f & (0x001f_001f_001f_001f << (5 - length));
        let mut begins = one & !two & !blocked & through;
        while begins != 0 {
            let bit = begins.trailing_zeros() as usize;
            begins &= begins - 1;
            let (d, offset) = (bit / 16, bit % 16);
            let line = lanes[d] * SIZE + positions[d] + offset - MARGIN;
            let missing_at = (missing >> bit).trailing_zeros() as usize + offset;
            let steps = missing_at as i32 - MARGIN as i32;
            let point = mv.point as i32 + steps * (64 * DIRECTIONS[d].dy + DIRECTIONS[d].dx);
            state.legal.push(Move { line: line as u16, point: point as u16 });
        }
    }

    fn show(&self, state: &State) -> String {
        let (left, top, right, bottom) = self.extent(state);
        let mut cells =
            vec![vec![String::from("·"); (right - left + 1) as usize]; (bottom - top + 1) as usize];
        for (row, y) in cells.iter_mut().zip(top..) {
            for (cell, x) in row.iter_mut().zip(left..) {
                if in_cross(self.variant.length as i32 - 2, x, y) {
                    *cell = "o".into();
                }
            }
        }
        for (i, mv) in state.played.iter().enumerate() {
            let (x, y) = self.text_xy(mv.point);
            cells[(y - top) as usize][(x - left) as usize] = (i + 1).to_string();
        }
        let width = if state.played.len() < 100 { 3 } else { 4 };
        let mut text = String::new();
        for row in cells {
            for cell in row {
                let _ = write!(text, "{cell:>width$}");
            }
            text.push('\n');
        }
        let (played, legal) = (state.played.len(), state.legal.len());
        let _ = write!(text, "{}: {played} lines drawn, {legal} more possible", self.variant.name);
        text
    }

    /// New point, direction and index of the point on the line, as in `10,-1:DP2`. The square around the cross
    /// begins at 0,0.
    fn show_move(&self, _: &State, mv: Move) -> String {
        let (x, y) = self.text_xy(mv.point);
        let (direction, index) = place(mv);
        format!("{x},{y}:{}{index}", DIRECTIONS[direction].name)
    }

    fn parse_move(&self, state: &State, word: &str) -> Option<Move> {
        let (point, line) = word.split_once(':')?;
        let (x, y) = point.split_once(',')?;
        let (x, y): (i32, i32) = (x.parse().ok()?, y.parse().ok()?);
        let (name, index) = line.split_at(line.find(|c: char| c.is_ascii_digit())?);
        let index: usize = index.parse().ok()?;
        state.legal.iter().copied().find(|&mv| {
            let (direction, at) = place(mv);
            self.text_xy(mv.point) == (x, y) && DIRECTIONS[direction].name == name && at == index
        })
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        Some(draw(self, state))
    }

    fn learnable(&self) -> Option<&dyn Learnable<State = State, Move = Move>> {
        Some(self)
    }
}

impl Problem for Morpion {
    fn score(&self, state: &State) -> f64 {
        state.played.len() as f64
    }

    fn code(&self, _: &State, mv: Move) -> u64 {
        mv.line as u64
    }

    fn codes_max(&self) -> Option<usize> {
        Some(4 * SIZE * SIZE)
    }

    fn choices(&self, state: &State, out: &mut Choices<Move>) {
        out.moves.extend_from_slice(&state.legal);
        out.codes.extend(state.legal.iter().map(|mv| mv.line as u64));
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        vec![Measure::most("lines", score)]
    }

    fn best_known(&self) -> Option<f64> {
        Some(self.variant.best_known)
    }
}

/// One unit of the paper in the picture.
const CELL: f64 = 34.0;

fn draw(morpion: &Morpion, state: &State) -> Picture {
    let (left, top, right, bottom) = morpion.extent(state);
    let (width, height) = ((right - left + 2) as f64 * CELL, (bottom - top + 2) as f64 * CELL);
    let caption = format!("Morpion Solitaire {}, {} lines", morpion.variant.name, state.played.len());
    let mut picture = Picture::new(width, height + CELL, caption.clone());
    let at = |x: i32, y: i32| ((x - left + 1) as f64 * CELL, (y - top + 1) as f64 * CELL);
    let mut line = |points: Vec<(f64, f64)>, width: f64, stroke: Colour| {
        picture.shapes.push(Shape::Line { points, width, stroke });
    };

    for x in left..=right {
        line(vec![(at(x, top).0, CELL / 2.0), (at(x, top).0, height - CELL / 2.0)], 0.8, FAINT);
    }
    for y in top..=bottom {
        line(vec![(CELL / 2.0, at(left, y).1), (width - CELL / 2.0, at(left, y).1)], 0.8, FAINT);
    }
    for &mv in &state.played {
        let (x, y) = morpion.text_xy(mv.point);
        let (direction, index) = place(mv);
        let Direction { dx, dy, .. } = DIRECTIONS[direction];
        let (before, after) = (index as i32, (morpion.variant.length - 1 - index) as i32);
        let ends = vec![at(x - before * dx, y - before * dy), at(x + after * dx, y + after * dy)];
        line(ends, 3.0, COLOURS[direction]);
    }
    for y in top..=bottom {
        for x in (left..=right).filter(|&x| in_cross(morpion.variant.length as i32 - 2, x, y)) {
            let (x, y) = at(x, y);
            picture.shapes.push(Shape::Circle { x, y, r: 6.5, fill: PAPER });
            picture.shapes.push(Shape::Circle { x, y, r: 5.0, fill: INK });
        }
    }
    for (i, &mv) in state.played.iter().enumerate() {
        let (x, y) = morpion.text_xy(mv.point);
        let (x, y) = at(x, y);
        // The colour of the line that the point was played for.
        picture.shapes.push(Shape::Circle { x, y, r: 11.5, fill: COLOURS[place(mv).0] });
        picture.shapes.push(Shape::Circle { x, y, r: 9.8, fill: PAPER });
        let size = if i < 99 { 11.0 } else { 9.5 };
        picture.shapes.push(Shape::Text { x, y, size, fill: INK, text: (i + 1).to_string() });
    }
    picture.shapes.push(Shape::Text {
        x: width / 2.0,
        y: height + 0.2 * CELL,
        size: 14.0,
        fill: INK,
        text: caption,
    });
    picture
}

/// The colours of the directions.
const COLOURS: [Colour; 4] = [PALETTE[0], PALETTE[1], PALETTE[2], PALETTE[4]];

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;
    use sortie_core::record::replay_whole;
    use std::collections::HashSet;

    fn morpion(name: &str) -> Morpion {
        Morpion::new(VARIANTS.iter().find(|v| v.name == name).expect("a variant"), ROOM)
    }

    fn random_game(m: &Morpion, mut state: State, rng: &mut Rng, mut at: impl FnMut(&State)) -> State {
        while let Some(mv) = m.random_move(&state, rng, &mut Vec::new()) {
            at(&state);
            m.play(&mut state, mv);
        }
        at(&state);
        state
    }

    /// The points of a line of the lattice, from the first to the last.
    fn points_of(length: usize, first: (i32, i32), d: usize) -> Vec<(i32, i32)> {
        let Direction { dx, dy, .. } = DIRECTIONS[d];
        (0..length as i32).map(|i| (first.0 + i * dx, first.1 + i * dy)).collect()
    }

    /// A move as the first point of its line, the direction and the new point.
    type Plain = ((i32, i32), usize, (i32, i32));

    fn plain(mv: Move) -> Plain {
        let (x, y) = (xy(mv.point).0 as i32, xy(mv.point).1 as i32);
        let (d, index) = place(mv);
        assert_eq!(lanes_through(x as usize, y as usize)[d], mv.line as usize / SIZE);
        ((x - index as i32 * DIRECTIONS[d].dx, y - index as i32 * DIRECTIONS[d].dy), d, (x, y))
    }

    /// The legal moves after `played`, straight from the wording of the rules: sets of points and of unit segments,
    /// every line of the paper tried.
    fn slow_moves(variant: &Variant, corner: (i32, i32), played: &[Move]) -> HashSet<Plain> {
        let all = || (0..SIZE as i32).flat_map(|y| (0..SIZE as i32).map(move |x| (x, y)));
        let inside = |v: i32| (1..SIZE as i32 - 1).contains(&v);
        let cross = |&(x, y): &(i32, i32)| in_cross(variant.length as i32 - 2, x - corner.0, y - corner.1);
        let mut points: HashSet<(i32, i32)> = all().filter(cross).collect();
        let mut drawn = [const { Vec::new() }; 4];
        for &mv in played {
            let (first, d, new) = plain(mv);
            points.insert(new);
            drawn[d].push(points_of(variant.length, first, d));
        }
        let conflict = |a: &[(i32, i32)], b: &[(i32, i32)]| match variant.name {
            "5D" | "4D" => a.iter().any(|p| b.contains(p)),
            _ => a.windows(2).any(|s| b.windows(2).any(|t| s == t)),
        };
        let mut legal = HashSet::new();
        for (d, drawn) in drawn.iter().enumerate() {
            for first in all() {
                let line = points_of(variant.length, first, d);
                let mut missing = line.iter().filter(|p| !points.contains(p));
                if let (Some(&new), None) = (missing.next(), missing.next())
                    && line.iter().all(|&(x, y)| inside(x) && inside(y))
                    && !drawn.iter().any(|other| conflict(&line, other))
                {
                    legal.insert((first, d, new));
                }
            }
        }
        legal
    }

    fn assert_legal(variant: &Variant, corner: (i32, i32), state: &State) {
        let kept: HashSet<Plain> = state.legal.iter().map(|&mv| plain(mv)).collect();
        assert_eq!(kept, slow_moves(variant, corner, &state.played), "{}", variant.name);
        assert_eq!(kept.len(), state.legal.len());
    }

    #[test]
    fn a_box_keeps_every_point_inside() {
        let open = |name| crate::open(&format!("morpion/{name}"), &|_| Err("no files".into()));
        assert!(open("5D:box=4,3,1,2").is_ok());
        for name in ["5D:box=4,3,1", "5D:box=4,3,1,17", "5D:box=-1,3,1,2", "5D:box=", "5X:box=1,1,1,1"] {
            assert!(open(name).is_err(), "{name}");
        }
        let variant = VARIANTS.iter().find(|v| v.name == "5D").expect("a variant");
        let m = Morpion::new(variant, [4, 3, 1, 2]);
        conformance::problem(&m, 10, 1);
        let mut rng = Rng::new(2, 0);
        for _ in 0..50 {
            let (left, top, right, bottom) = m.extent(&random_game(&m, m.initial(), &mut rng, |_| ()));
            assert!(left >= -4 && top >= -3 && right <= 10 && bottom <= 11);
        }
    }

    #[test]
    fn conforms() {
        for variant in &VARIANTS {
            conformance::problem(&Morpion::new(variant, ROOM), 30, 1);
        }
    }

    #[test]
    fn crosses_have_their_points_and_first_moves() {
        for (name, points, moves) in [("5T", 36, 28), ("5D", 36, 28), ("4T", 24, 40), ("4D", 24, 40)] {
            let state = morpion(name).initial();
            let rows = &state.lanes[..SIZE];
            assert_eq!(rows.iter().map(|row| row.points.count_ones()).sum::<u32>(), points, "{name}");
            assert_eq!(state.legal.len(), moves, "{name}");
        }
        let text = morpion("5D").show(&morpion("5D").initial());
        assert!(
            text.starts_with("  ·  ·  ·  o  o  o  o  ·  ·  ·\n  ·  ·  ·  o  ·  ·  o  ·  ·  ·\n"),
            "{text}"
        );
        assert!(
            text.contains("\n  o  o  o  o  ·  ·  o  o  o  o\n  o  ·  ·  ·  ·  ·  ·  ·  ·  o\n"),
            "{text}"
        );
    }

    #[test]
    fn the_kept_moves_are_the_legal_moves() {
        let mut rng = Rng::new(3, 0);
        for variant in &VARIANTS {
            let m = Morpion::new(variant, ROOM);
            for _ in 0..2 {
                random_game(&m, m.initial(), &mut rng, |state| {
                    assert_legal(variant, (m.corner, m.corner), state)
                });
            }
        }
    }

    #[test]
    fn the_rim_is_a_wall() {
        let mut rng = Rng::new(4, 0);
        for variant in &VARIANTS {
            let m = Morpion::new(variant, ROOM);
            let far = SIZE as i32 - 3 * (variant.length as i32 - 2) - 2;
            for corner in [(1, 1), (far, 1), (1, far), (far, far), (1, 20), (20, far)] {
                let start = start(variant, corner.0, corner.1, ROOM);
                random_game(&m, start, &mut rng, |state| assert_legal(variant, corner, state));
            }
        }
    }

    /// The row y = 3 has points at x 0..3 and 6..9. With the line 0..4 drawn, the point 5 completes 4..8, which shares
    /// one point with it, and 1..5, which shares four.
    #[test]
    fn lines_that_touch_are_legal_in_t_only() {
        for (name, touching) in [("5T", true), ("5D", false)] {
            let m = morpion(name);
            let mut state = m.initial();
            let first = m.parse_move(&state, "4,3:H4").expect("legal");
            m.play(&mut state, first);
            assert_eq!(m.parse_move(&state, "5,3:H1").is_some(), touching, "{name}");
            assert!(m.parse_move(&state, "5,3:H4").is_none(), "{name}");
            assert!(m.parse_move(&state, "5,3:H0").is_some(), "{name}: 5..9 shares nothing");
        }
    }

    #[test]
    fn uniform_playouts_have_the_known_means() {
        // Means and standard deviations over 20,000 games of two other programs.
        for (name, mean, deviation) in [("5D", 42.86, 13.6), ("5T", 53.68, 17.7)] {
            let m = morpion(name);
            let (mut rng, games) = (Rng::new(5, 0), 10_000);
            let total: f64 =
                (0..games).map(|_| m.score(&random_game(&m, m.initial(), &mut rng, |_| ()))).sum();
            let (ours, error) = (total / games as f64, deviation / (games as f64).sqrt());
            assert!((ours - mean).abs() < 4.0 * error, "{name}: mean {ours}, expected {mean}");
        }
    }

    #[test]
    fn words_that_mean_no_move_are_refused() {
        let m = morpion("5D");
        let state = m.initial();
        assert!(m.parse_move(&state, "4,3:H4").is_some());
        for word in [
            "4,3:H3",
            "4,3:h4",
            "4,3:H",
            "4,3H4",
            "4:H4",
            "4,3:4",
            ",:",
            "é,ß:H٣",
            "4,3:H99999999999999999999",
        ] {
            assert_eq!(m.parse_move(&state, word), None, "{word}");
        }
    }

    #[test]
    fn variants_are_opened_by_name() {
        let open = |name| crate::open(name, &|_| Err("no files".into()));
        assert!(matches!(open("morpion/5d"), Ok(Opened::Problem(p)) if p.best_known() == Some(82.0)));
        let message = |name| open(name).err().map(|e| e.to_string());
        assert_eq!(message("morpion/6T").as_deref(), Some("morpion/6T: expected 5T, 5D, 4T or 4D"));
        assert!(message("morpion/5T:size=9").is_some_and(|m| m.contains("size")));
    }

    #[test]
    fn record_games_are_legal_and_complete() {
        let records = [
            include_str!("../records/morpion-5T-178.record"),
            include_str!("../records/morpion-5T-170.record"),
            include_str!("../records/morpion-5D-82.record"),
            include_str!("../records/morpion-4T-62.record"),
            include_str!("../records/morpion-4D-35.record"),
        ];
        for record in records {
            let (header, words) = record.split_once("\n\n").expect("a blank line");
            let field = |key: &str| {
                header.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(" = ")).expect("a field")
            };
            let m = morpion(field("instance").strip_prefix("morpion/").expect("a morpion"));
            let words: Vec<String> = words.split_whitespace().map(String::from).collect();
            let end = replay_whole(&m, &words).expect("a legal and complete game");
            assert_eq!(m.score(&end).to_string(), field("score"));
            let svg = m.draw(&end).expect("a picture").svg();
            assert_eq!(svg.matches("<text").count(), words.len() + 1);
        }
    }
}
