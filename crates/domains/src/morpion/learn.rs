//! Morpion Solitaire as planes, after Doux, Negrevergne and Cazenave (2021): r1 has the occupied points, the drawn
//! lines and the legal lines, both a plane a direction; r2 also has the new points of the last eight moves, the latest
//! first. The value of a move stands in the plane of its direction.
//!
//! The paper marks a line at its first point. Here it is the middle one: all of the line is then as near as it can be,
//! within what three layers of 3x3 see, and a mirrored line is marked at the mirrored cell.

use super::{DIRECTIONS, Direction, Morpion, Move, SIZE, State, in_cross, place, xy};
use sortie_core::planes::{Cell, Layout, Learnable, Planes, Representation, Turn, turn_point};

/// Planes of drawn lines begin here, those of legal lines behind them, then come the last moves.
const DRAWN: usize = 1;
const LEGAL: usize = DRAWN + DIRECTIONS.len();
const LAST: usize = LEGAL + DIRECTIONS.len();
/// How many moves r2 looks back.
const LAST_MOVES: usize = 8;

impl Learnable for Morpion {
    fn layout(&self) -> Layout {
        let length = self.variant.length as i32;
        let lines = |from: usize| Planes { count: DIRECTIONS.len(), turns: line_turns(from, length) };
        let points = |from, count| Planes { count, turns: (0..8).map(|_| still(from, count)).collect() };
        let r1 = join([points(0, DRAWN), lines(DRAWN), lines(LEGAL)]);
        let r2 = join([r1.clone(), points(LAST, LAST_MOVES)]);
        Layout {
            domain: format!("morpion-{}", self.variant.name),
            width: self.width() as usize,
            height: self.width() as usize,
            representations: vec![
                Representation { name: "r1", planes: r1 },
                Representation { name: "r2", planes: r2 },
            ],
            outputs: lines(0),
        }
    }

    fn features(&self, state: &State, representation: usize, out: &mut Vec<Cell>) {
        out.extend_from_slice(&self.cross);
        for &mv in &state.played {
            out.push(point_cell(0, mv));
            out.push(self.line_cell(DRAWN, mv));
        }
        out.extend(state.legal.iter().map(|&mv| self.line_cell(LEGAL, mv)));
        if representation == 1 {
            let last = state.played.iter().rev().take(LAST_MOVES);
            out.extend(last.enumerate().map(|(i, &mv)| point_cell(LAST + i, mv)));
        }
    }

    fn output(&self, _: &State, mv: Move) -> Cell {
        self.line_cell(0, mv)
    }

    fn output_of_code(&self, line: u64) -> Option<Cell> {
        let (lane, at) = (line as i32 / SIZE as i32, line as i32 % SIZE as i32);
        let (direction, lane) = ((lane / SIZE as i32) as usize, lane % SIZE as i32);
        // The first point, from what `lanes_through` and `position` make of it.
        let (x, y) = match direction {
            0 => (at, lane),
            1 => (lane, at),
            2 => (at, (lane - at).rem_euclid(SIZE as i32)),
            _ => (at, (at - lane).rem_euclid(SIZE as i32)),
        };
        let Direction { dx, dy, .. } = DIRECTIONS[direction];
        let steps = middle(self.variant.length as i32);
        let (x, y) = (x + steps * dx, y + steps * dy);
        let inside = |v: i32| (0..self.width()).contains(&v);
        (inside(x) && inside(y)).then_some(Cell { plane: direction as u8, x: x as u8, y: y as u8 })
    }

    /// The middle of the paper, moved no further than it takes to show all points; the middle of them if they are too
    /// many. It follows the symmetries if the window is even (5T, 5D) or odd (4T, 4D) like the paper.
    fn corner(&self, state: &State, size: usize) -> (i32, i32) {
        let (left, top, right, bottom) = self.extent(state);
        let fit = |low: i32, high: i32| {
            let (low, high, size) = (low + self.corner, high + self.corner, size as i32);
            let middle = (self.width() - size) / 2;
            if high - low < size {
                return middle.clamp(high - size + 1, low);
            }
            // Twice the corner; of two that are as good the one nearer to the middle.
            let twice = low + high + 1 - size;
            (twice + i32::from(twice % 2 != 0 && twice < 2 * middle)).div_euclid(2)
        };
        (fit(left, right), fit(top, bottom))
    }
}

impl Morpion {
    /// The paper as far as it is as wide on all sides of the cross.
    fn width(&self) -> i32 {
        2 * self.corner + 3 * (self.variant.length as i32 - 2) + 1
    }

    /// The middle of a move's line, in the plane of its direction. Of four points it is the third.
    #[inline]
    fn line_cell(&self, plane: usize, mv: Move) -> Cell {
        let (direction, index) = place(mv);
        let (x, y) = xy(mv.point);
        let steps = middle(self.variant.length as i32) - index as i32;
        let Direction { dx, dy, .. } = DIRECTIONS[direction];
        let (x, y) = (x as i32 + steps * dx, y as i32 + steps * dy);
        Cell { plane: (plane + direction) as u8, x: x as u8, y: y as u8 }
    }
}

fn middle(length: i32) -> i32 {
    length / 2
}

fn point_cell(plane: usize, mv: Move) -> Cell {
    let (x, y) = xy(mv.point);
    Cell { plane: plane as u8, x: x as u8, y: y as u8 }
}

/// The points of the start cross.
pub fn cross(side: i32, corner: i32) -> Vec<Cell> {
    let square = 0..3 * side + 1;
    let points = square.clone().flat_map(|y| square.clone().map(move |x| (x, y)));
    points
        .filter(|&(x, y)| in_cross(side, x, y))
        .map(|(x, y)| Cell { plane: 0, x: (x + corner) as u8, y: (y + corner) as u8 })
        .collect()
}

/// Planes of points move with the board.
fn still(from: usize, count: usize) -> Vec<Turn> {
    (from..from + count).map(|plane| Turn { plane: plane as u8, dx: 0, dy: 0 }).collect()
}

/// A line turns into one of another direction. If it then runs backwards, its middle is counted from the other end.
fn line_turns(from: usize, length: i32) -> Vec<Vec<Turn>> {
    let turn = |symmetry: usize, line: &Direction| {
        // A vector turns like a point of the board of one cell around the origin.
        let (dx, dy) = turn_point(symmetry, (line.dx, line.dy), (1, 1));
        let forwards = |other: &Direction| (other.dx, other.dy) == (dx, dy);
        let backwards = |other: &Direction| (other.dx, other.dy) == (-dx, -dy);
        let plane = DIRECTIONS.iter().position(|other| forwards(other) || backwards(other));
        let plane = plane.expect("the directions are all there are, up to the sign");
        let shift = if forwards(&DIRECTIONS[plane]) { 0 } else { length - 1 - 2 * middle(length) };
        Turn { plane: (from + plane) as u8, dx: (shift * dx) as i8, dy: (shift * dy) as i8 }
    };
    (0..8).map(|symmetry| DIRECTIONS.iter().map(|line| turn(symmetry, line)).collect()).collect()
}

fn join<const N: usize>(parts: [Planes; N]) -> Planes {
    let turns = (0..8).map(|s| parts.iter().flat_map(|part| part.turns[s].iter().copied()).collect());
    Planes { count: parts.iter().map(|part| part.count).sum(), turns: turns.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::{VARIANTS, Variant};
    use super::*;
    use sortie_core::planes::{Scene, inverse_symmetry};
    use sortie_core::{AnyProblem, Domain, Problem, Rng};
    use std::collections::HashSet;

    fn variant(name: &str) -> Variant {
        *VARIANTS.iter().find(|variant| variant.name == name).expect("a variant")
    }

    /// Cells in the coordinates of the move texts, as (plane, x, y).
    fn seen(m: &Morpion, cells: &[Cell], planes: std::ops::Range<usize>) -> HashSet<(usize, i32, i32)> {
        let text = |cell: &Cell| (cell.plane as usize, cell.x as i32 - m.corner, cell.y as i32 - m.corner);
        cells.iter().map(text).filter(|cell| planes.contains(&cell.0)).collect()
    }

    fn scene_of(m: &Morpion, state: &State, representation: usize, size: usize) -> Scene {
        let mut scene = Scene::default();
        m.scene(state, &state.legal, representation, size, &mut scene);
        scene
    }

    #[test]
    fn a_board_drawn_by_hand() {
        let m = Morpion::new(&variant("5D"), super::super::ROOM);
        let mut state = m.initial();
        // A row to the right of its four points, a column above its four.
        for word in ["4,3:H4", "3,-1:V0"] {
            let mv = m.parse_move(&state, word).expect("legal");
            m.play(&mut state, mv);
        }
        let scene = scene_of(&m, &state, 1, 30);
        let points = seen(&m, &scene.inputs, 0..1);
        assert_eq!(points.len(), 38);
        assert!(points.contains(&(0, 4, 3)) && points.contains(&(0, 3, -1)) && points.contains(&(0, 3, 0)));
        assert_eq!(seen(&m, &scene.inputs, DRAWN..LEGAL), [(DRAWN, 2, 3), (DRAWN + 1, 3, 1)].into());
        assert_eq!(seen(&m, &scene.inputs, LAST..99), [(LAST, 3, -1), (LAST + 1, 4, 3)].into());
        // The legal lines are marked where the moves have their values.
        let legal = seen(&m, &scene.inputs, LEGAL..LAST);
        let outputs = seen(&m, &scene.outputs, 0..4);
        assert_eq!(legal, outputs.iter().map(|&(plane, x, y)| (plane + LEGAL, x, y)).collect());
        assert_eq!(legal.len(), state.legal.len());
        let row = m.parse_move(&state, "5,3:H0").expect("5..9 shares nothing with 0..4");
        assert_eq!(seen(&m, &[m.output(&state, row)], 0..4), [(0, 7, 3)].into());
        // r1 is r2 without the last moves.
        let r1 = scene_of(&m, &state, 0, 30);
        assert_eq!(r1.inputs, scene.inputs[..scene.inputs.len() - 2]);
        assert_eq!(scene.corner, (9, 9));
    }

    /// Playing the turned moves of a game gives the turned scenes.
    #[test]
    fn scenes_turn_with_the_board() {
        let mut rng = Rng::new(8, 0);
        for variant in &VARIANTS {
            let m = Morpion::new(variant, super::super::ROOM);
            let layout = Learnable::layout(&m);
            for symmetry in 0..8 {
                let (mut state, mut turned) = (m.initial(), m.initial());
                while let Some(mv) = m.random_move(&state, &mut rng, &mut Vec::new()) {
                    let size = [30, 14][symmetry % 2] + layout.width % 2;
                    let mut scene = scene_of(&m, &state, 1, size);
                    let here = scene.clone();
                    scene.turn(&layout, 1, size, symmetry);
                    let there = scene_of(&m, &turned, 1, size);
                    let set = |cells: &[Cell]| cells.iter().copied().collect::<HashSet<Cell>>();
                    assert_eq!(set(&scene.inputs), set(&there.inputs), "{} {symmetry}", variant.name);
                    assert_eq!(set(&scene.outputs), set(&there.outputs), "{} {symmetry}", variant.name);
                    assert_eq!(set(&there.inputs).len(), there.inputs.len());
                    assert_eq!(scene.corner, there.corner);
                    // And there is a way back.
                    scene.turn(&layout, 1, size, inverse_symmetry(symmetry));
                    assert_eq!(scene, here);

                    for &mv in &state.legal {
                        let told = m.output_of_code(m.code(&state, mv));
                        assert_eq!(told, Some(m.output(&state, mv)), "{}", variant.name);
                    }
                    let i = state.legal.iter().position(|&other| other == mv).expect("legal");
                    scene.turn(&layout, 1, size, symmetry);
                    let same = |&&other: &&Move| m.output(&turned, other) == scene.outputs[i];
                    let other = *turned.legal.iter().find(same).expect("the turned move is legal");
                    m.play(&mut state, mv);
                    m.play(&mut turned, other);
                }
                assert!(turned.legal.is_empty());
            }
        }
    }

    #[test]
    fn the_window_follows_the_game() {
        let record = include_str!("../../records/morpion-5T-178.record");
        let (_, words) = record.split_once("\n\n").expect("a blank line");
        let words: Vec<String> = words.split_whitespace().map(String::from).collect();
        let m = Morpion::new(&variant("5T"), super::super::ROOM);
        for size in [24, 30] {
            let lessons = AnyProblem::lessons(&m, &words, 1, size).expect("a legal game");
            assert_eq!(lessons.len(), 178);
            for lesson in &lessons {
                let cells = lesson.scene.inputs.iter().chain(&lesson.scene.outputs);
                assert!(cells.into_iter().all(|&cell| lesson.scene.index(cell, size).is_some()));
                assert!(lesson.played < lesson.scene.outputs.len());
            }
        }
        // Too small for the game: the window stays in the middle of it.
        let narrow = AnyProblem::lessons(&m, &words, 1, 10).expect("a legal game");
        let last = &narrow[177].scene;
        let inside = last.inputs.iter().filter(|&&cell| last.index(cell, 10).is_some()).count();
        assert!(inside > 100 && inside < last.inputs.len());
        assert!(AnyProblem::lessons(&m, &words, 2, 24).expect("a legal game").is_empty());
    }
}
