//! Gomoku: five stones in a row, column or diagonal win; a full board is a draw. Option `rule`: with `free` more than
//! five win too, with `exact` only exactly five do.
//!
//! Leaves out: the forbidden moves of Renju and the openings of tournaments.

use crate::grid::{self, Grid, Image, Look, SIDE_MAX, cell_name, parse_square, zobrist};
use sortie_core::picture::Picture;
use sortie_core::{Boxed, Domain, Game, Outcome, Precondition, Rng, Side};
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "gomoku",
    about: "game: Gomoku, five in a row",
    names: "the size of the board, 5 to 19",
    options: &[("rule", "free (default): five or more win; exact: exactly five")],
    examples: &["gomoku/15", "gomoku/15:rule=exact"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let exact = options.choice("rule", &["free", "exact"])? == 1;
    options.finish(ENTRY.options)?;
    let size = parse_square(request, &ENTRY, 5, SIDE_MAX)?;
    Ok(Opened::Game(Box::new(Boxed::new(Gomoku::new(size, exact)))))
}

/// Cells with a border around them: `at = stride * (row + 1) + column + 1`, `stride = size + 2`.
const AREA_MAX: usize = (SIDE_MAX + 2) * (SIDE_MAX + 2);

const EMPTY: u8 = 0;
const FIRST: u8 = 1;
const SECOND: u8 = 2;
const OUTSIDE: u8 = 4;

/// The game on a board of some size.
#[derive(Debug, Clone)]
pub struct Gomoku {
    size: usize,
    exact: bool,
    start: State,
}

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    cells: [u8; AREA_MAX],
    /// Stones on the board.
    stones: u16,
    /// The last move made a five.
    won: bool,
}

impl State {
    #[inline]
    fn to_move(&self) -> Side {
        grid::turn(self.stones.into())
    }
}

impl Gomoku {
    /// A board of `size` times `size`, 5 to 19; `exact`: more than five do not win.
    pub fn new(size: usize, exact: bool) -> Gomoku {
        let mut game =
            Gomoku { size, exact, start: State { cells: [OUTSIDE; AREA_MAX], stones: 0, won: false } };
        for cell in 0..size * size {
            game.start.cells[usize::from(game.at(cell % size, cell / size))] = EMPTY;
        }
        game
    }

    fn grid(&self) -> Grid {
        Grid::new(self.size, self.size)
    }

    #[inline]
    fn at(&self, column: usize, row: usize) -> u16 {
        ((self.size + 2) * (row + 1) + column + 1) as u16
    }

    fn column_and_row(&self, at: u16) -> (usize, usize) {
        let at = usize::from(at);
        (at % (self.size + 2) - 1, at / (self.size + 2) - 1)
    }

    fn stone_at(&self, state: &State) -> impl Fn(usize, usize) -> Option<Side> {
        move |column, row| match state.cells[usize::from(self.at(column, row))] {
            FIRST => Some(Side::First),
            SECOND => Some(Side::Second),
            _ => None,
        }
    }

    /// Whether a stone at `at` is part of a row that wins.
    #[inline]
    fn wins(&self, cells: &[u8; AREA_MAX], at: usize, stone: u8) -> bool {
        let stride = self.size + 2;
        for step in [1, stride - 1, stride, stride + 1] {
            let (mut low, mut high) = (at - step, at + step);
            // The border is no stone of anybody's: both walks end on the board or one cell beside it.
            while cells[low] == stone {
                low -= step;
            }
            while cells[high] == stone {
                high += step;
            }
            let length = (high - low) / step - 1;
            if length == 5 || length > 5 && !self.exact {
                return true;
            }
        }
        false
    }

    /// Whether any stone of a kind is part of a row that wins.
    fn has_five(&self, cells: &[u8; AREA_MAX], stone: u8) -> bool {
        (0..AREA_MAX).any(|at| cells[at] == stone && self.wins(cells, at, stone))
    }
}

impl Domain for Gomoku {
    type State = State;
    type Move = u16; // the cell

    fn initial(&self) -> State {
        self.start.clone()
    }

    fn moves(&self, state: &State, out: &mut Vec<u16>) {
        if state.won {
            return;
        }
        for row in 0..self.size {
            let first = usize::from(self.at(0, row));
            let empty = (first..first + self.size).filter(|&at| state.cells[at] == EMPTY);
            out.extend(empty.map(|at| at as u16));
        }
    }

    #[inline]
    fn play(&self, state: &mut State, at: u16) {
        let stone = if state.to_move() == Side::First { FIRST } else { SECOND };
        state.cells[usize::from(at)] = stone;
        state.stones += 1;
        state.won = self.wins(&state.cells, at.into(), stone);
    }

    fn show(&self, state: &State) -> String {
        let below = grid::standing(self.outcome(state), state.to_move());
        self.grid().text(self.stone_at(state), &below)
    }

    fn show_move(&self, _: &State, at: u16) -> String {
        let (column, row) = self.column_and_row(at);
        cell_name(column, row)
    }

    fn parse_move(&self, state: &State, word: &str) -> Option<u16> {
        let (column, row) = self.grid().parse_cell(word)?;
        let at = self.at(column, row);
        (!state.won && state.cells[usize::from(at)] == EMPTY).then_some(at)
    }

    fn random_move(&self, state: &State, rng: &mut Rng, scratch: &mut Vec<u16>) -> Option<u16> {
        // Most cells are empty most of the time: a few tries before all are listed. Each way is uniform.
        if !state.won {
            for _ in 0..4 {
                let at = self.at(rng.below(self.size), rng.below(self.size));
                if state.cells[usize::from(at)] == EMPTY {
                    return Some(at);
                }
            }
        }
        scratch.clear();
        self.moves(state, scratch);
        if scratch.is_empty() { None } else { Some(scratch[rng.below(scratch.len())]) }
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        let standing = Look::Stones.standing(self.outcome(state), state.to_move());
        Some(self.grid().picture(Look::Stones, self.stone_at(state), &standing))
    }
}

impl Game for Gomoku {
    fn to_move(&self, state: &State) -> Side {
        state.to_move()
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.won {
            Some(Outcome::Win(state.to_move().other()))
        } else {
            (usize::from(state.stones) == self.size * self.size).then_some(Outcome::Draw)
        }
    }

    fn key(&self, state: &State) -> u64 {
        let at = self.stone_at(state);
        let stone = |cell| at(cell % self.size, cell / self.size).map(|side| zobrist(cell, side));
        (0..self.size * self.size).filter_map(stone).fold(0, |key, stone| key ^ stone)
    }

    fn move_id(&self, at: u16) -> u16 {
        at
    }

    fn move_of(&self, _: &State, id: u16) -> u16 {
        id
    }

    fn images(&self) -> usize {
        Image::SQUARE.len()
    }

    fn written(&self, state: &State, image: usize) -> Option<String> {
        Some(self.grid().line_image(Image::SQUARE[image], self.stone_at(state), state.to_move()))
    }

    fn move_image(&self, at: u16, image: usize) -> u16 {
        let (column, row) = self.grid().image(Image::SQUARE[image], self.column_and_row(at));
        self.at(column, row)
    }

    // The text of a position says all there is.
    fn precondition(&self, _: &State) -> Precondition {
        Precondition::NONE
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(self.grid().line(self.stone_at(state), state.to_move()))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (stones, to_move) = self.grid().parse_line(text)?;
        grid::check_turns(&stones, to_move)?;
        let mut state = self.start.clone();
        for (i, side) in stones.iter().enumerate() {
            let at = usize::from(self.at(i % self.size, i / self.size));
            if let Some(side) = side {
                state.cells[at] = if *side == Side::First { FIRST } else { SECOND };
                state.stones += 1;
            }
        }
        let (own, other) = if to_move == Side::First { (FIRST, SECOND) } else { (SECOND, FIRST) };
        if self.has_five(&state.cells, own) {
            return Err("the side to move has five in a row: the game ended before".into());
        }
        state.won = self.has_five(&state.cells, other);
        let mut last = (0..AREA_MAX).filter(|&at| state.cells[at] == other);
        let possible = |at: usize| {
            let mut before = state.cells;
            before[at] = EMPTY;
            self.wins(&state.cells, at, other) && !self.has_five(&before, other)
        };
        if state.won && !last.any(possible) {
            return Err("no last move can have made these fives".into());
        }
        Ok(state)
    }

    /// Stones beside it: play goes where stones are.
    #[inline]
    fn appeal(&self, state: &State, at: u16) -> i32 {
        let (at, stride) = (usize::from(at), self.size + 2);
        let beside = [1, stride - 1, stride, stride + 1].into_iter().flat_map(|step| [at - step, at + step]);
        beside.map(|n| i32::from(state.cells[n] & (FIRST | SECOND) != 0)).sum()
    }

    #[inline(always)]
    fn rollout(
        &self,
        state: &mut State,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        scratch: &mut Vec<u16>,
    ) -> Option<Outcome> {
        grid::rollout_by_filling(self, state, draws, moves_max, rng, scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;

    #[test]
    fn conforms() {
        for (size, exact) in [(5, false), (6, true), (15, false), (19, true)] {
            conformance::game(&Gomoku::new(size, exact), 3, 1);
        }
    }

    /// The state with stones of the first side on some cells, which need not be a position of any game.
    fn with(game: &Gomoku, cells: impl Iterator<Item = (i32, i32)>) -> State {
        let mut state = game.initial();
        for (column, row) in cells {
            state.cells[usize::from(game.at(column as usize, row as usize))] = FIRST;
        }
        state
    }

    #[test]
    fn fives_win_in_every_direction_at_every_edge_and_do_not_wrap() {
        for size in [5, 7, 19] {
            let (game, n) = (Gomoku::new(size, false), size as i32);
            for cell in 0..n * n {
                for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let row = (0..5).map(|i| (cell % n + i * dc, cell / n + i * dr));
                    let inside = |(c, r): (i32, i32)| (0..n).contains(&c) && (0..n).contains(&r);
                    // A row over the edge comes in again on the other side and must not win.
                    let wrapped = row.clone().map(|(c, r)| (c.rem_euclid(n), r.rem_euclid(n)));
                    let state = with(&game, wrapped);
                    let wins = row.clone().all(inside);
                    if size == 5 && !wins {
                        continue; // on the smallest board it would be a whole line again
                    }
                    assert_eq!(game.has_five(&state.cells, FIRST), wins, "{size}: {cell} {dc},{dr}");
                    if wins {
                        // Whichever stone comes last makes the five.
                        for last in row.clone() {
                            let mut state = with(&game, row.clone().filter(|&c| c != last));
                            assert!(!game.has_five(&state.cells, FIRST));
                            game.play(&mut state, game.at(last.0 as usize, last.1 as usize));
                            assert_eq!(game.outcome(&state), Some(Outcome::Win(Side::First)));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_end_of_one_row_does_not_join_the_next() {
        // Three stones at the right end of a row and two at the left end of the row above.
        for size in [6, 9] {
            let (game, n) = (Gomoku::new(size, false), size as i32);
            let state = with(&game, [(n - 3, 2), (n - 2, 2), (n - 1, 2), (0, 3), (1, 3)].into_iter());
            assert!(!game.has_five(&state.cells, FIRST));
        }
    }

    #[test]
    fn six_win_or_not_by_the_rule() {
        let five = |exact, length| {
            let game = Gomoku::new(9, exact);
            game.has_five(&with(&game, (1..1 + length).map(|c| (c, 4))).cells, FIRST)
        };
        assert_eq!([4, 5, 6, 7].map(|n| five(false, n)), [false, true, true, true]);
        assert_eq!([4, 5, 6, 7].map(|n| five(true, n)), [false, true, false, false]);
    }

    #[test]
    fn impossible_positions_are_refused() {
        let game = Gomoku::new(6, false);
        for (text, says) in [
            ("6/6/6/6/6/6 o", "move in turn"),
            ("xxxxx1/ooooo1/6/6/6/6 x", "the side to move has five"),
            ("xxxxx1/oooo2/1o1o2/o1oo2/6/xxxxx1 o", "no last move"),
        ] {
            let error = game.parse_position(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let won = game.parse_position("xxxxx1/oooo2/6/6/6/6 o").unwrap();
        assert_eq!(game.outcome(&won), Some(Outcome::Win(Side::First)));
        // Six in a row are made by one of the middle stones.
        assert!(game.parse_position("xxxxxx/oooo2/o5/6/6/6 o").is_ok());
    }

    #[test]
    fn random_moves_are_uniform() {
        let game = Gomoku::new(5, false);
        let state = game.parse_position("xoxo1/1x1ox/oxox1/xoxo1/2x1o o").expect("a position");
        grid::assert_uniform(&game, &state, 8);
    }
}
