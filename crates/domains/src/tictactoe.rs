//! Noughts and crosses: a row, column or diagonal of one's own wins, a full board is a draw. On 3 x 3 it is the oracle
//! of the tree searches: small enough to try everything, and drawn under perfect play.

use crate::grid::{self, Grid, Image, Look, cell_name, parse_square, zobrist};
use sortie_core::picture::Picture;
use sortie_core::{Boxed, Domain, Game, Outcome, Precondition, Rng, Side};
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "tictactoe",
    about: "game: noughts and crosses, a whole line of one's own wins",
    names: "the size of the board, 3 to 8",
    options: &[],
    examples: &["tictactoe/3"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(ENTRY.options)?;
    let size = parse_square(request, &ENTRY, 3, 8)?;
    Ok(Opened::Game(Box::new(Boxed::new(TicTacToe::new(size)))))
}

/// The game on a board of some size.
#[derive(Debug, Clone)]
pub struct TicTacToe {
    size: usize,
    /// Every cell.
    board: u64,
    /// `lines[i]` are the cells of a line: rows, columns, diagonals.
    lines: Vec<u64>,
}

/// A position: bits `size * row + column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// The stones of the side to move.
    own: u64,
    /// All stones.
    all: u64,
    /// The last move completed a line.
    won: bool,
}

impl State {
    fn stone(self, cell: usize) -> Option<Side> {
        let to_move = grid::turn(self.all.count_ones());
        let side = if self.own >> cell & 1 == 1 { to_move } else { to_move.other() };
        (self.all >> cell & 1 == 1).then_some(side)
    }
}

impl TicTacToe {
    /// A board of `size` times `size`, 3 to 8.
    pub fn new(size: usize) -> TicTacToe {
        let bits = |cell: &dyn Fn(usize) -> usize| (0..size).map(|i| 1u64 << cell(i)).sum::<u64>();
        let mut lines = Vec::new();
        for k in 0..size {
            lines.push(bits(&|i| size * k + i));
            lines.push(bits(&|i| size * i + k));
        }
        lines.push(bits(&|i| size * i + i));
        lines.push(bits(&|i| size * i + size - 1 - i));
        TicTacToe { size, board: u64::MAX >> (64 - size * size), lines }
    }

    #[inline]
    fn has_line(&self, stones: u64) -> bool {
        self.lines.iter().any(|line| stones & line == *line)
    }

    fn grid(&self) -> Grid {
        Grid::new(self.size, self.size)
    }
}

impl Domain for TicTacToe {
    type State = State;
    type Move = u8; // the cell

    fn initial(&self) -> State {
        State { own: 0, all: 0, won: false }
    }

    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        let mut empty = if state.won { 0 } else { self.board & !state.all };
        while empty != 0 {
            out.push(empty.trailing_zeros() as u8);
            empty &= empty - 1;
        }
    }

    #[inline]
    fn play(&self, state: &mut State, cell: u8) {
        state.won = self.has_line(state.own | 1 << cell);
        state.own ^= state.all;
        state.all |= 1 << cell;
    }

    fn show(&self, state: &State) -> String {
        let below = grid::standing(self.outcome(state), self.to_move(state));
        self.grid().text(|column, row| state.stone(self.size * row + column), &below)
    }

    fn show_move(&self, _: &State, cell: u8) -> String {
        cell_name(usize::from(cell) % self.size, usize::from(cell) / self.size)
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        let standing = Look::Signs.standing(self.outcome(state), self.to_move(state));
        Some(self.grid().picture(Look::Signs, |column, row| state.stone(self.size * row + column), &standing))
    }
}

impl Game for TicTacToe {
    fn to_move(&self, state: &State) -> Side {
        grid::turn(state.all.count_ones())
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.won {
            Some(Outcome::Win(self.to_move(state).other()))
        } else {
            (state.all == self.board).then_some(Outcome::Draw)
        }
    }

    fn key(&self, state: &State) -> u64 {
        let cells = (0..self.size * self.size).filter_map(|cell| state.stone(cell).map(|s| zobrist(cell, s)));
        cells.fold(0, |key, stone| key ^ stone)
    }

    fn move_id(&self, cell: u8) -> u16 {
        cell.into()
    }

    fn move_of(&self, _: &State, id: u16) -> u8 {
        id as u8
    }

    fn images(&self) -> usize {
        Image::SQUARE.len()
    }

    fn written(&self, state: &State, image: usize) -> Option<String> {
        let at = |column, row| state.stone(self.size * row + column);
        Some(self.grid().line_image(Image::SQUARE[image], at, self.to_move(state)))
    }

    fn move_image(&self, cell: u8, image: usize) -> u8 {
        let at = (usize::from(cell) % self.size, usize::from(cell) / self.size);
        let (column, row) = self.grid().image(Image::SQUARE[image], at);
        (self.size * row + column) as u8
    }

    // The text of a position says all there is.
    fn precondition(&self, _: &State) -> Precondition {
        Precondition::NONE
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(self.grid().line(|column, row| state.stone(self.size * row + column), self.to_move(state)))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (stones, to_move) = self.grid().parse_line(text)?;
        grid::check_turns(&stones, to_move)?;
        let bits =
            |side| (0..stones.len()).filter(|&i| stones[i] == Some(side)).map(|i| 1u64 << i).sum::<u64>();
        let (own, other) = (bits(to_move), bits(to_move.other()));
        if self.has_line(own) {
            return Err("the side to move has a whole line: the game ended before".into());
        }
        let won = self.has_line(other);
        // The last stone made every line that there is.
        if won && !(0..stones.len()).any(|i| other >> i & 1 == 1 && !self.has_line(other & !(1 << i))) {
            return Err("no last move can have completed these lines".into());
        }
        Ok(State { own, all: own | other, won })
    }

    #[inline(always)]
    fn rollout(
        &self,
        state: &mut State,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        scratch: &mut Vec<u8>,
    ) -> Option<Outcome> {
        grid::rollout_by_filling(self, state, draws, moves_max, rng, scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;
    use std::collections::{HashMap, HashSet};

    #[test]
    fn conforms() {
        for size in [3, 4, 8] {
            conformance::game(&TicTacToe::new(size), 20, 1);
        }
    }

    /// The value under perfect play, and every position on the way.
    fn solve(game: &TicTacToe, state: &State, seen: &mut HashMap<State, f64>) -> f64 {
        if let Some(&value) = seen.get(state) {
            return value;
        }
        let mut moves = Vec::new();
        game.moves(state, &mut moves);
        let side = game.to_move(state);
        let after = |mv| {
            let mut next = *state;
            game.play(&mut next, mv);
            side.view(solve(game, &next, seen))
        };
        let value = match game.outcome(state) {
            Some(outcome) => outcome.value(),
            None => side.view(moves.into_iter().map(after).fold(0.0, f64::max)),
        };
        seen.insert(*state, value);
        value
    }

    #[test]
    fn perfect_play_draws_and_there_are_5478_positions() {
        let game = TicTacToe::new(3);
        let mut seen = HashMap::new();
        assert_eq!(solve(&game, &game.initial(), &mut seen), 0.5);
        assert_eq!(seen.len(), 5478);
        let keys: HashSet<u64> = seen.keys().map(|state| game.key(state)).collect();
        assert_eq!(keys.len(), 5478);
        for state in seen.keys() {
            let text = game.position(state).unwrap();
            assert_eq!(game.parse_position(&text).as_ref(), Ok(state), "{text}");
        }
    }

    #[test]
    fn there_are_255168_games() {
        fn games(game: &TicTacToe, state: &State) -> u32 {
            let mut moves = Vec::new();
            game.moves(state, &mut moves);
            let after = |mv| {
                let mut next = *state;
                game.play(&mut next, mv);
                games(game, &next)
            };
            if moves.is_empty() { 1 } else { moves.into_iter().map(after).sum() }
        }
        let game = TicTacToe::new(3);
        assert_eq!(games(&game, &game.initial()), 255_168);
    }

    #[test]
    fn impossible_positions_are_refused() {
        let game = TicTacToe::new(3);
        let accepted = |text: &str| game.parse_position(text).is_ok();
        assert!(!accepted("xxx/3/3 o") && !accepted("xxx/ooo/3 x") && !accepted("xxx/oo1/3 x"));
        assert!(accepted("xxx/oo1/3 o") && accepted("xxx/xoo/xoo o"));
        assert!(!accepted("xxx/xxx/ooo o"));
        // Every text over the alphabet of three cells and a side: the accepted ones are those that can arise.
        let mut accepted_count = 0;
        for code in 0..3u32.pow(9) {
            let cell = |i: u32| ['1', 'x', 'o'][(code / 3u32.pow(i) % 3) as usize];
            let rows: Vec<String> = (0..3).map(|r| (0..3).map(|c| cell(3 * r + c)).collect()).collect();
            // Two numbers side by side would be read as one.
            let rows = rows.join("/").replace("111", "3").replace("11", "2");
            accepted_count += ["x", "o"].iter().filter(|s| accepted(&format!("{rows} {s}"))).count();
        }
        assert_eq!(accepted_count, 5478);
    }
}
