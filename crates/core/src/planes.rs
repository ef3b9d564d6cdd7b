//! What a domain tells a network about itself: positions as planes of zeros and ones, moves as places in planes.
//!
//! A position is a short list of the cells that are one (`Scene::inputs`), in coordinates of the whole board; a
//! network sees a square window of it, which may move with the game. Nothing here depends on a network or a framework:
//! training expands a scene into dense planes, the search reads the list as it is.

use crate::domain::Domain;
use std::cmp::Reverse;

/// A domain that a network can learn. Problems and games say so by `Domain::learnable`.
pub trait Learnable: Domain {
    /// The planes of this instance. Plain data; asked once a run.
    fn layout(&self) -> Layout;

    /// Appends the cells that are one in a state, each once and in any order. `representation` is an index into
    /// `Layout::representations`.
    fn features(&self, state: &Self::State, representation: usize, out: &mut Vec<Cell>);

    /// Where in the output planes the value of a move stands. Different legal moves of a state, different cells.
    fn output(&self, state: &Self::State, mv: Self::Move) -> Cell;

    /// Where moves of this code have their value, if their code alone tells. A network that is asked once is then the
    /// policy that a search begins with, and costs it nothing.
    fn output_of_code(&self, _code: u64) -> Option<Cell> {
        None
    }

    /// The upper left cell of the window of `size` by `size` cells that shows this state: in each direction the window
    /// lies on the board or, if it is the larger one, holds all of it. It depends on nothing but the state, and follows
    /// the symmetries.
    fn corner(&self, _state: &Self::State, _size: usize) -> (i32, i32) {
        (0, 0)
    }

    /// The places of these moves, written over `out`.
    fn outputs(&self, state: &Self::State, moves: &[Self::Move], out: &mut Vec<Cell>) {
        out.clear();
        out.extend(moves.iter().map(|&mv| self.output(state, mv)));
    }

    /// Everything a network is shown about a state and these of its moves, written over `scene`.
    fn scene(
        &self,
        state: &Self::State,
        moves: &[Self::Move],
        representation: usize,
        size: usize,
        scene: &mut Scene,
    ) {
        scene.inputs.clear();
        self.features(state, representation, &mut scene.inputs);
        self.outputs(state, moves, &mut scene.outputs);
        scene.corner = self.corner(state, size);
    }
}

/// One cell of one plane. Boards are at most 256 cells wide and high, with at most 256 planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The plane.
    pub plane: u8,
    /// The column, from 0 at the left of the board.
    pub x: u8,
    /// The row, from 0 at the top of the board.
    pub y: u8,
}

/// The planes of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The domain as the file of a network names it: `morpion-5D`.
    pub domain: String,
    /// Columns of the board.
    pub width: usize,
    /// Rows of the board.
    pub height: usize,
    /// The ways to show a position.
    pub representations: Vec<Representation>,
    /// The planes in which moves have their places.
    pub outputs: Planes,
}

/// One way to show a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Representation {
    /// Its name: `r1`.
    pub name: &'static str,
    /// Its planes.
    pub planes: Planes,
}

/// Planes, and what the symmetries of the board make of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planes {
    /// How many there are.
    pub count: usize,
    /// `turns[symmetry][plane]`. Symmetry 0 is the identity; either it is the only one, or there are eight.
    pub turns: Vec<Vec<Turn>>,
}

/// What becomes of a plane under a symmetry: its cells move with the board, into another plane and a little further.
/// A line that is marked at its third point of four is marked at the second, seen from the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turn {
    /// The plane it becomes.
    pub plane: u8,
    /// To be added to the column after the board has turned.
    pub dx: i8,
    /// To be added to the row after the board has turned.
    pub dy: i8,
}

impl Planes {
    /// Planes of a board without symmetries.
    pub fn fixed(count: usize) -> Planes {
        let same = |plane| Turn { plane: plane as u8, dx: 0, dy: 0 };
        Planes { count, turns: vec![(0..count).map(same).collect()] }
    }
}

impl Layout {
    /// How many symmetries there are, with the identity.
    pub fn symmetries(&self) -> usize {
        self.outputs.turns.len()
    }

    /// The index of a representation.
    pub fn representation(&self, name: &str) -> Option<usize> {
        self.representations.iter().position(|representation| representation.name == name)
    }

    /// The cell that a symmetry makes of one of `planes`.
    fn turn(&self, planes: &Planes, symmetry: usize, cell: Cell) -> Cell {
        let Turn { plane, dx, dy } = planes.turns[symmetry][cell.plane as usize];
        let (x, y) =
            turn_point(symmetry, (cell.x as i32, cell.y as i32), (self.width as i32, self.height as i32));
        Cell { plane, x: (x + dx as i32) as u8, y: (y + dy as i32) as u8 }
    }
}

/// The point that a symmetry of a `width` by `height` board makes of a point: bit 0 mirrors the columns, bit 1 the
/// rows, and then bit 2 exchanges them.
pub fn turn_point(symmetry: usize, (x, y): (i32, i32), (width, height): (i32, i32)) -> (i32, i32) {
    let x = if symmetry & 1 != 0 { width - 1 - x } else { x };
    let y = if symmetry & 2 != 0 { height - 1 - y } else { y };
    if symmetry & 4 != 0 { (y, x) } else { (x, y) }
}

/// The symmetry that takes another one back.
pub fn inverse_symmetry(symmetry: usize) -> usize {
    match symmetry {
        5 => 6,
        6 => 5,
        other => other,
    }
}

/// A position as a network sees it, and the moves it is asked about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scene {
    /// The cells that are one, in coordinates of the board.
    pub inputs: Vec<Cell>,
    /// The places of the moves, in their order.
    pub outputs: Vec<Cell>,
    /// The upper left cell of the window.
    pub corner: (i32, i32),
}

impl Scene {
    /// The same scene on a board that a symmetry has turned. `size` is that of the window.
    pub fn turn(&mut self, layout: &Layout, representation: usize, size: usize, symmetry: usize) {
        let planes = &layout.representations[representation].planes;
        for cell in &mut self.inputs {
            *cell = layout.turn(planes, symmetry, *cell);
        }
        for cell in &mut self.outputs {
            *cell = layout.turn(&layout.outputs, symmetry, *cell);
        }
        // The corner that is the upper left one afterwards.
        let room = (layout.width as i32 + 1 - size as i32, layout.height as i32 + 1 - size as i32);
        self.corner = turn_point(symmetry, self.corner, room);
    }

    /// Where a cell lies in a window of `size` by `size` cells, as `(plane * size + row) * size + column`; `None`
    /// outside of it.
    #[inline]
    pub fn index(&self, cell: Cell, size: usize) -> Option<usize> {
        let (x, y) = (cell.x as i32 - self.corner.0, cell.y as i32 - self.corner.1);
        let inside = (0..size as i32).contains(&x) && (0..size as i32).contains(&y);
        inside.then(|| (cell.plane as usize * size + y as usize) * size + x as usize)
    }

    /// The window as dense planes of zeros and ones: `planes[(plane * size + row) * size + column]`, which are as many
    /// planes as the slice has room for.
    pub fn planes(&self, size: usize, planes: &mut [f32]) {
        planes.fill(0.0);
        for index in self.inputs.iter().filter_map(|&cell| self.index(cell, size)) {
            planes[index] = 1.0;
        }
    }
}

/// One position of a game and the move that was played there: what a network learns from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The position; its outputs are all legal moves.
    pub scene: Scene,
    /// The index in `scene.outputs` of the move that was played.
    pub played: usize,
}

/// The lessons of a game that is known to be legal.
pub(crate) fn lessons<D: Learnable + ?Sized>(
    domain: &D,
    moves: &[D::Move],
    representation: usize,
    size: usize,
) -> Vec<Lesson> {
    let (mut state, mut legal) = (domain.initial(), Vec::new());
    let mut lessons = Vec::with_capacity(moves.len());
    for &mv in moves {
        legal.clear();
        domain.moves(&state, &mut legal);
        let mut scene = Scene::default();
        domain.scene(&state, &legal, representation, size, &mut scene);
        let played = legal.iter().position(|&other| other == mv).expect("the moves are legal");
        lessons.push(Lesson { scene, played });
        domain.play(&mut state, mv);
    }
    lessons
}

/// The same moves in the order of somebody who always goes on with what became possible last: of the moves that are
/// left the newest legal one, of those that are as new the one nearest to the last move, then the one that was played
/// first. `None` where the moves do not commute, so that some of them cannot be played in this order.
///
/// Games of a search come in the order that its policy happened to have, which nobody can foresee. In this order the
/// next move follows from the last ones but for what matters: which of the moves on offer are part of the game.
pub(crate) fn newest_first<D: Learnable + ?Sized>(domain: &D, moves: &[D::Move]) -> Option<Vec<D::Move>> {
    let (mut state, mut legal, mut last) = (domain.initial(), Vec::new(), None);
    let mut order = Vec::with_capacity(moves.len());
    // The moves that are left: the step since which each is legal, if it is, its place in the game, and itself.
    let mut left: Vec<(Option<usize>, usize, D::Move)> =
        moves.iter().enumerate().map(|(i, &mv)| (None, i, mv)).collect();
    for step in 0..moves.len() {
        legal.clear();
        domain.moves(&state, &mut legal);
        for (since, _, mv) in &mut left {
            *since = legal.contains(mv).then(|| since.unwrap_or(step));
        }
        let cell = |mv| domain.output(&state, mv);
        let far = |mv| last.map_or(0, |last| distance(last, cell(mv)));
        let newest = (0..left.len()).filter(|&i| left[i].0.is_some()).max_by_key(|&i| {
            let (since, place, mv) = left[i];
            (since, Reverse(far(mv)), Reverse(place))
        })?;
        let (_, _, mv) = left.swap_remove(newest);
        last = Some(cell(mv));
        domain.play(&mut state, mv);
        order.push(mv);
    }
    Some(order)
}

/// How far apart two cells are, squared. Symmetries of the board leave it as it is.
fn distance(a: Cell, b: Cell) -> i32 {
    (a.x as i32 - b.x as i32).pow(2) + (a.y as i32 - b.y as i32).pow(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetries_are_taken_back_by_their_inverses() {
        for symmetry in 0..8 {
            for point in [(0, 0), (3, 1), (6, 5), (2, 2)] {
                let there = turn_point(symmetry, point, (7, 7));
                assert_eq!(
                    turn_point(inverse_symmetry(symmetry), there, (7, 7)),
                    point,
                    "symmetry {symmetry}"
                );
            }
        }
        let all: std::collections::HashSet<_> = (0..8).map(|s| turn_point(s, (1, 2), (7, 7))).collect();
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn a_window_is_cut_out_of_the_board() {
        let cell = |plane, x, y| Cell { plane, x, y };
        let scene = Scene {
            inputs: vec![cell(0, 3, 2), cell(1, 4, 4), cell(1, 9, 9)],
            outputs: vec![],
            corner: (2, 2),
        };
        let mut planes = [7.0; 18];
        scene.planes(3, &mut planes);
        let ones: Vec<usize> = (0..18).filter(|&i| planes[i] == 1.0).collect();
        assert_eq!(ones, [1, 17]);
        assert!(planes.iter().all(|&value| value == 0.0 || value == 1.0));
    }
}
