//! Breakthrough (D. Troyka, 2000): pieces step one row forward, straight onto an empty cell or diagonally onto an empty
//! or enemy one. Who reaches the far row or takes the last enemy piece wins; there are no draws, and as the foremost
//! pieces always have a move, nobody is ever without one.
//!
//! The board is bits, `width * row + column`, so it has at most 64 cells. Both sides start with two full rows, on
//! boards of three or four rows with one.

use crate::grid::{self, Grid, Image, Look, cell_name, parse_size, zobrist};
use sortie_core::picture::Picture;
use sortie_core::{Boxed, Domain, Game, Outcome, Precondition, Rng, Side, mix};
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "breakthrough",
    about: "game: Breakthrough, the first piece on the far row wins",
    names: "the size of the board, as in 8 or 6x8 (columns x rows), 3 to 8 each",
    options: &[],
    examples: &["breakthrough/8", "breakthrough/6", "breakthrough/6x8"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(ENTRY.options)?;
    let grid = parse_size(request, &ENTRY, 3, 8)?;
    Ok(Opened::Game(Box::new(Boxed::new(Breakthrough::new(grid.width, grid.height)))))
}

/// The game on a board of some size.
#[derive(Debug, Clone)]
pub struct Breakthrough {
    grid: Grid,
    /// The first side's pieces at the start, and the second's.
    start: [u64; 2],
    /// The row each side wants to reach.
    goal: [u64; 2],
    /// The leftmost and the rightmost column.
    left: u64,
    right: u64,
}

/// A position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// The pieces of the first and of the second side.
    pieces: [u64; 2],
    to_move: Side,
    /// The side that moved last has won.
    won: bool,
}

/// A step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    from: u8,
    to: u8,
}

impl State {
    fn stone(&self, cell: usize) -> Option<Side> {
        let of = |side: Side| (self.pieces[side as usize] >> cell & 1 == 1).then_some(side);
        of(Side::First).or(of(Side::Second))
    }
}

impl Breakthrough {
    /// A board of 3 to 8 columns and 3 to 8 rows.
    pub fn new(width: usize, height: usize) -> Breakthrough {
        let row = u64::MAX >> (64 - width);
        let rows =
            |first: usize, count: usize| (first..first + count).map(|r| row << (width * r)).sum::<u64>();
        let deep = if height <= 4 { 1 } else { 2 };
        let left = (0..height).map(|r| 1u64 << (width * r)).sum::<u64>();
        Breakthrough {
            grid: Grid::new(width, height),
            start: [rows(0, deep), rows(height - deep, deep)],
            goal: [rows(height - 1, 1), rows(0, 1)],
            left,
            right: left << (width - 1),
        }
    }

    /// The cells that the side to move can step onto, by direction: column - 1, the same column, column + 1.
    #[inline]
    fn targets(&self, state: &State) -> [u64; 3] {
        let width = self.grid.width;
        let [first, second] = state.pieces;
        // Nobody stands on the goal row while the game goes on, so nothing is shifted over the end of the board.
        match state.to_move {
            Side::First => [
                (first & !self.left) << (width - 1) & !first,
                first << width & !(first | second),
                (first & !self.right) << (width + 1) & !first,
            ],
            Side::Second => [
                (second & !self.left) >> (width + 1) & !second,
                second >> width & !(first | second),
                (second & !self.right) >> (width - 1) & !second,
            ],
        }
    }

    /// The step that ends on `to` in a direction of `targets`.
    #[inline]
    fn step(&self, state: &State, direction: usize, to: u32) -> Move {
        let width = self.grid.width as u32;
        let straight = if state.to_move == Side::First { to - width } else { to + width };
        Move { from: (straight + 1 - direction as u32) as u8, to: to as u8 }
    }

    fn captures(&self, state: &State, mv: Move) -> bool {
        state.pieces[state.to_move.other() as usize] >> mv.to & 1 == 1
    }

    fn name(&self, cell: u8) -> String {
        cell_name(usize::from(cell) % self.grid.width, usize::from(cell) / self.grid.width)
    }

    fn stone_at(&self, state: &State) -> impl Fn(usize, usize) -> Option<Side> {
        move |column, row| state.stone(self.grid.width * row + column)
    }

    /// Rows that the pieces of a side have gone, in all.
    fn advance(&self, pieces: u64, side: Side) -> u32 {
        let (width, height) = (self.grid.width, self.grid.height);
        let row = |r: usize| pieces >> (width * r) & u64::MAX >> (64 - width);
        let gone = |r: usize| if side == Side::First { r } else { height - 1 - r };
        (0..height).map(|r| row(r).count_ones() * gone(r) as u32).sum()
    }
}

/// The position of the `k`-th bit that is set, from 0.
#[inline]
fn nth_bit(mut bits: u64, mut k: u32) -> u32 {
    let mut at = 0;
    for half in [32, 16, 8, 4, 2, 1] {
        let below = (bits & ((1 << half) - 1)).count_ones();
        let up = k >= below;
        k -= if up { below } else { 0 };
        at += if up { half } else { 0 };
        bits >>= if up { half } else { 0 };
    }
    at
}

impl Domain for Breakthrough {
    type State = State;
    type Move = Move;

    fn initial(&self) -> State {
        State { pieces: self.start, to_move: Side::First, won: false }
    }

    fn moves(&self, state: &State, out: &mut Vec<Move>) {
        if state.won {
            return;
        }
        for (direction, mut targets) in self.targets(state).into_iter().enumerate() {
            while targets != 0 {
                out.push(self.step(state, direction, targets.trailing_zeros()));
                targets &= targets - 1;
            }
        }
    }

    #[inline]
    fn play(&self, state: &mut State, mv: Move) {
        let (own, other) = (state.to_move as usize, state.to_move.other() as usize);
        state.pieces[own] ^= 1 << mv.from | 1 << mv.to;
        state.pieces[other] &= !(1 << mv.to);
        state.won = state.pieces[own] & self.goal[own] != 0 || state.pieces[other] == 0;
        state.to_move = state.to_move.other();
    }

    fn show(&self, state: &State) -> String {
        self.grid.text(self.stone_at(state), &grid::standing(self.outcome(state), state.to_move))
    }

    fn show_move(&self, state: &State, mv: Move) -> String {
        let sign = if self.captures(state, mv) { 'x' } else { '-' };
        format!("{}{sign}{}", self.name(mv.from), self.name(mv.to))
    }

    #[inline]
    fn random_move(&self, state: &State, rng: &mut Rng, _: &mut Vec<Move>) -> Option<Move> {
        if state.won {
            return None;
        }
        let targets = self.targets(state);
        let counts = targets.map(u64::count_ones);
        let mut k = rng.below((counts[0] + counts[1] + counts[2]) as usize) as u32;
        let mut direction = 0;
        while k >= counts[direction] {
            k -= counts[direction];
            direction += 1;
        }
        Some(self.step(state, direction, nth_bit(targets[direction], k)))
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        let standing = Look::Pieces.standing(self.outcome(state), state.to_move);
        Some(self.grid.picture(Look::Pieces, self.stone_at(state), &standing))
    }
}

impl Game for Breakthrough {
    fn to_move(&self, state: &State) -> Side {
        state.to_move
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.won.then(|| Outcome::Win(state.to_move.other()))
    }

    fn draws(&self) -> bool {
        false
    }

    fn key(&self, state: &State) -> u64 {
        let mut key = if state.to_move == Side::First { 0 } else { mix(u64::MAX) };
        for side in [Side::First, Side::Second] {
            let mut pieces = state.pieces[side as usize];
            while pieces != 0 {
                key ^= zobrist(pieces.trailing_zeros() as usize, side);
                pieces &= pieces - 1;
            }
        }
        key
    }

    fn move_id(&self, mv: Move) -> u16 {
        u16::from(mv.from) << 6 | u16::from(mv.to)
    }

    fn move_of(&self, _: &State, id: u16) -> Move {
        Move { from: (id >> 6) as u8, to: (id & 63) as u8 }
    }

    fn narrow(&self, state: &State, moves: &mut Vec<Move>) {
        let (own, other) = (state.to_move as usize, state.to_move.other() as usize);
        if let Some(&last) = moves.iter().find(|mv| self.goal[own] >> mv.to & 1 == 1) {
            moves.clear();
            moves.push(last);
            return;
        }
        // Who stands before the far row steps onto it, unless it is taken; of two one is left.
        let (goal, width) = (self.goal[other], self.grid.width);
        let before = if state.to_move == Side::First { goal << width } else { goal >> width };
        let threats = state.pieces[other] & before;
        moves.retain(|mv| threats == 0 || threats == 1 << mv.to);
    }

    fn images(&self) -> usize {
        Image::MIRROR.len()
    }

    fn written(&self, state: &State, image: usize) -> Option<String> {
        Some(self.grid.line_image(Image::MIRROR[image], self.stone_at(state), state.to_move))
    }

    fn move_image(&self, mv: Move, image: usize) -> Move {
        let width = self.grid.width;
        let cell = |cell: u8| {
            let at = (usize::from(cell) % width, usize::from(cell) / width);
            let (column, row) = self.grid.image(Image::MIRROR[image], at);
            (width * row + column) as u8
        };
        Move { from: cell(mv.from), to: cell(mv.to) }
    }

    // The text of a position says all there is.
    fn precondition(&self, _: &State) -> Precondition {
        Precondition::NONE
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(self.grid.line(self.stone_at(state), state.to_move))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (stones, to_move) = self.grid.parse_line(text)?;
        let bits = |side| (0..stones.len()).filter(|&i| stones[i] == Some(side)).map(|i| 1u64 << i).sum();
        let pieces: [u64; 2] = [bits(Side::First), bits(Side::Second)];
        for side in [Side::First, Side::Second] {
            let (count, max) = (pieces[side as usize].count_ones(), self.start[side as usize].count_ones());
            if count > max {
                return Err(format!("{count} pieces of {}: there are {max} at most", grid::letter(side)));
            }
        }
        let (own, other) = (to_move as usize, to_move.other() as usize);
        if pieces[own] & self.goal[own] != 0 {
            return Err("the side to move stands on the far row: the game ended before".into());
        }
        let through = (pieces[other] & self.goal[other]).count_ones();
        if pieces[other] == 0 || through > 1 || through == 1 && pieces[own] == 0 {
            return Err("no last move can have led here: the game ended before".into());
        }
        Ok(State { pieces, to_move, won: through == 1 || pieces[own] == 0 })
    }

    /// The last step and captures first, then pieces that are far ahead.
    #[inline]
    fn appeal(&self, state: &State, mv: Move) -> i32 {
        let goal = self.goal[state.to_move as usize] >> mv.to & 1 == 1;
        let row = i32::from(mv.to) / self.grid.width as i32;
        let gone = if state.to_move == Side::First { row } else { self.grid.height as i32 - 1 - row };
        64 * i32::from(goal) + 8 * i32::from(self.captures(state, mv)) + gone
    }

    /// Material, and a quarter of a piece for every row gone; the difference through a logistic curve.
    fn evaluate(&self, state: &State) -> f64 {
        if let Some(outcome) = self.outcome(state) {
            return outcome.value();
        }
        let worth = |side: Side| {
            let pieces = state.pieces[side as usize];
            f64::from(pieces.count_ones()) + 0.25 * f64::from(self.advance(pieces, side))
        };
        1.0 / (1.0 + sortie_core::playout::exp(0.4 * (worth(Side::Second) - worth(Side::First))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;

    #[test]
    fn conforms() {
        for (width, height) in [(8, 8), (6, 8), (8, 3), (3, 8), (5, 5), (3, 3), (4, 4)] {
            conformance::game(&Breakthrough::new(width, height), 10, 1);
        }
    }

    #[test]
    fn the_last_step_is_taken_and_stopped() {
        for (width, height) in [(3, 4), (4, 4), (3, 5)] {
            assert!(conformance::narrow(&Breakthrough::new(width, height), 100, 4, 1) > 100);
        }
    }

    #[test]
    fn the_nth_bit_is_found() {
        let mut rng = Rng::new(1, 0);
        for _ in 0..1000 {
            let bits = rng.bits() & rng.bits();
            let all: Vec<u32> = (0..64).filter(|i| bits >> i & 1 == 1).collect();
            for (k, &at) in all.iter().enumerate() {
                assert_eq!(nth_bit(bits, k as u32), at);
            }
        }
    }

    /// The moves by the wording of the rules, cell by cell.
    fn plain_moves(game: &Breakthrough, state: &State) -> Vec<(i32, i32, i32)> {
        let (width, height) = (game.grid.width as i32, game.grid.height as i32);
        let forward = if state.to_move == Side::First { 1 } else { -1 };
        let mut moves = Vec::new();
        for cell in (0..width * height).filter(|&cell| state.stone(cell as usize) == Some(state.to_move)) {
            for aside in [-1, 0, 1] {
                let (column, row) = (cell % width + aside, cell / width + forward);
                if !(0..width).contains(&column) || !(0..height).contains(&row) {
                    continue;
                }
                let there = state.stone((width * row + column) as usize);
                if there.is_none() || aside != 0 && there == Some(state.to_move.other()) {
                    moves.push((cell, column, row));
                }
            }
        }
        moves
    }

    #[test]
    fn moves_are_those_of_the_plain_rules() {
        let (mut rng, mut scratch) = (Rng::new(2, 0), Vec::new());
        for (width, height) in [(8, 8), (6, 8), (3, 7), (7, 4)] {
            let game = Breakthrough::new(width, height);
            for _ in 0..30 {
                let mut state = game.initial();
                while let Some(mv) = game.random_move(&state, &mut rng, &mut scratch) {
                    let mut listed = Vec::new();
                    game.moves(&state, &mut listed);
                    let width = width as i32;
                    let cells =
                        |m: &Move| (i32::from(m.from), i32::from(m.to) % width, i32::from(m.to) / width);
                    let mut listed: Vec<_> = listed.iter().map(cells).collect();
                    let mut plain = plain_moves(&game, &state);
                    listed.sort_unstable();
                    plain.sort_unstable();
                    assert_eq!(listed, plain, "{}", game.show(&state));
                    game.play(&mut state, mv);
                }
            }
        }
    }

    #[test]
    fn breaking_through_and_taking_the_last_piece_win() {
        let game = Breakthrough::new(5, 5);
        for (text, word, winner) in [
            ("5/1x3/5/3o1/5 x", "b4-c5", Side::First),
            ("o4/1x3/5/5/5 x", "b4xa5", Side::First),
            ("5/1x3/5/4o/5 o", "e2-e1", Side::Second),
            ("5/5/1x3/2o2/5 x", "b3-b4", Side::First),
            ("5/5/2o2/1x3/5 o", "c3xb2", Side::Second),
        ] {
            let mut state = game.parse_position(text).unwrap();
            let mv = game.parse_move(&state, word).unwrap_or_else(|| panic!("{word} in {text}"));
            game.play(&mut state, mv);
            let won = game.outcome(&state);
            assert_eq!(won, (word != "b3-b4").then_some(Outcome::Win(winner)), "{text}");
        }
    }

    #[test]
    fn impossible_positions_are_refused() {
        let game = Breakthrough::new(5, 5);
        for (text, says) in [
            ("5/5/5/5/5 x", "the game ended before"),
            ("x4/5/5/4o/5 x", "stands on the far row"),
            ("xx3/5/5/4o/5 o", "no last move"),
            ("x4/5/5/5/5 o", "no last move"),
            ("5/5/x4/xxxxx/xxxxx o", "11 pieces of x"),
        ] {
            let error = game.parse_position(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        assert_eq!(
            game.outcome(&game.parse_position("5/5/x4/5/5 o").unwrap()),
            Some(Outcome::Win(Side::First))
        );
    }

    #[test]
    fn random_moves_are_uniform() {
        let game = Breakthrough::new(6, 6);
        let state = game.parse_position("o1oo2/2o2o/x1xo2/o1xx1o/2xx1x/x4x o").expect("a position");
        grid::assert_uniform(&game, &state, plain_moves(&game, &state).len());
    }
}
