//! Hex (P. Hein, J. Nash): stones on a rhombus of hexagons; the first side connects top and bottom, the second left
//! and right. There are no draws. Option `swap`: after the first stone the second side may take it over instead of
//! answering, mirrored so that it serves the other direction.
//!
//! A position knows which stones are connected to their side's first edge. A new stone beside one of those floods on
//! from there, so every stone is reached once in a game, and nothing depends on the order in which stones came.

mod bridges;
mod connect;

use crate::grid::{self, Grid, Image, Look, SIDE_MAX, cell_name, letter, parse_square, zobrist};
use connect::{Forecast, Stones, forecast};
use sortie_core::picture::Picture;
use sortie_core::{Boxed, Domain, Game, Outcome, Precondition, Rng, Side, mix};
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "hex",
    about: "game: Hex, connect your two edges of the rhombus",
    names: "the size of the board, 1 to 19",
    options: &[("swap", "off (default), on: the second side may take over the first stone")],
    examples: &["hex/11", "hex/7:swap=on"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let swap = options.choice("swap", &["off", "on"])? == 1;
    options.finish(ENTRY.options)?;
    let size = parse_square(request, &ENTRY, 1, SIDE_MAX)?;
    Ok(Opened::Game(Box::new(Boxed::new(Hex::new(size, swap)))))
}

/// Cells with a border around them: `at = stride * (row + 1) + column + 1`, `stride = size + 2`.
const AREA_MAX: usize = (SIDE_MAX + 2) * (SIDE_MAX + 2);
/// The move that is no cell: a corner of the border.
const SWAP: u16 = 0;

/// What a cell holds, as bits. Edges hold the stones of their side.
const FIRST: u8 = 1;
const SECOND: u8 = 2;
/// Connected to the top (first side) or to the left edge (second side).
const REACHED: u8 = 4;
/// The bottom or the right edge.
const GOAL: u8 = 8;
/// The corners of the border: neither a stone nor empty.
const OUTSIDE: u8 = 16;

fn stone_bit(side: Side) -> u8 {
    match side {
        Side::First => FIRST,
        Side::Second => SECOND,
    }
}

/// The game on a board of some size.
#[derive(Debug, Clone)]
pub struct Hex {
    size: usize,
    swap: bool,
    start: State,
}

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    cells: [u8; AREA_MAX],
    /// Stones on the board.
    stones: u16,
    to_move: Side,
    /// The side that moved last has won.
    won: bool,
}

impl Hex {
    /// A board of `size` times `size`, 1 to 19, with or without the swap.
    pub fn new(size: usize, swap: bool) -> Hex {
        let stride = size + 2;
        let mut cells = [0; AREA_MAX];
        for i in 1..=size {
            cells[i] = FIRST | REACHED;
            cells[stride * (size + 1) + i] = FIRST | GOAL;
            cells[stride * i] = SECOND | REACHED;
            cells[stride * i + size + 1] = SECOND | GOAL;
        }
        for corner in [0, size + 1, stride * (size + 1), stride * stride - 1] {
            cells[corner] = OUTSIDE;
        }
        Hex { size, swap, start: State { cells, stones: 0, to_move: Side::First, won: false } }
    }

    fn grid(&self) -> Grid {
        Grid { width: self.size, height: self.size, slanted: true }
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
        move |column, row| match state.cells[usize::from(self.at(column, row))] & (FIRST | SECOND) {
            FIRST => Some(Side::First),
            SECOND => Some(Side::Second),
            _ => None,
        }
    }

    fn may_swap(&self, state: &State) -> bool {
        self.swap && state.stones == 1 && state.to_move == Side::Second
    }

    /// The stones as bits; `None` on boards that are too large for that.
    fn stones(&self, state: &State) -> Option<Stones> {
        if self.size > connect::SIZE_MAX {
            return None;
        }
        let (at, mut stones) = (self.stone_at(state), Stones { size: self.size, first: 0, second: 0 });
        for cell in 0..self.size * self.size {
            match at(cell % self.size, cell / self.size) {
                Some(Side::First) => stones.first |= 1 << cell,
                Some(Side::Second) => stones.second |= 1 << cell,
                None => {}
            }
        }
        Some(stones)
    }

    /// Puts a stone of a side on an empty cell; true if it connects the side's edges.
    #[inline]
    fn place(&self, state: &mut State, at: u16, side: Side) -> bool {
        let stone = stone_bit(side);
        state.stones += 1;
        let (at, stride) = (usize::from(at), self.size + 2);
        let around = |at: usize| [at - stride, at - stride + 1, at - 1, at + 1, at + stride - 1, at + stride];
        let reached = stone | REACHED;
        if around(at).iter().all(|&n| state.cells[n] & reached != reached) {
            state.cells[at] = stone;
            return false;
        }
        state.cells[at] = reached;
        let mut stack = [0u16; SIDE_MAX * SIDE_MAX];
        stack[0] = at as u16;
        let (mut depth, mut won) = (1, false);
        while depth > 0 {
            depth -= 1;
            for n in around(usize::from(stack[depth])) {
                let there = state.cells[n];
                if there == stone {
                    state.cells[n] = reached;
                    stack[depth] = n as u16;
                    depth += 1;
                } else if there == stone | GOAL {
                    won = true;
                }
            }
        }
        won
    }
}

impl Domain for Hex {
    type State = State;
    type Move = u16; // the cell, or SWAP

    fn initial(&self) -> State {
        self.start.clone()
    }

    fn moves(&self, state: &State, out: &mut Vec<u16>) {
        if state.won {
            return;
        }
        if self.may_swap(state) {
            out.push(SWAP);
        }
        for row in 0..self.size {
            let first = usize::from(self.at(0, row));
            let empty = (first..first + self.size).filter(|&at| state.cells[at] == 0);
            out.extend(empty.map(|at| at as u16));
        }
    }

    #[inline]
    fn play(&self, state: &mut State, mv: u16) {
        let side = state.to_move;
        if mv == SWAP {
            let stone = self.start.cells.iter().zip(&state.cells).position(|(before, now)| before != now);
            let (column, row) = self.column_and_row(stone.expect("a swap follows the first stone") as u16);
            *state = self.start.clone();
            state.won = self.place(state, self.at(row, column), side);
        } else {
            state.won = self.place(state, mv, side);
        }
        state.to_move = side.other();
    }

    fn show(&self, state: &State) -> String {
        let below = grid::standing(self.outcome(state), state.to_move);
        self.grid().text(self.stone_at(state), &format!("{below}; x connects top and bottom"))
    }

    fn show_move(&self, _: &State, mv: u16) -> String {
        if mv == SWAP {
            return "swap".into();
        }
        let (column, row) = self.column_and_row(mv);
        cell_name(column, row)
    }

    fn parse_move(&self, state: &State, word: &str) -> Option<u16> {
        if state.won {
            return None;
        }
        if word == "swap" {
            return self.may_swap(state).then_some(SWAP);
        }
        let (column, row) = self.grid().parse_cell(word)?;
        let at = self.at(column, row);
        (state.cells[usize::from(at)] == 0).then_some(at)
    }

    fn random_move(&self, state: &State, rng: &mut Rng, scratch: &mut Vec<u16>) -> Option<u16> {
        // Most cells are empty most of the time: a few tries before all are listed. Each way is uniform.
        if !state.won && !self.may_swap(state) {
            for _ in 0..4 {
                let at = self.at(rng.below(self.size), rng.below(self.size));
                if state.cells[usize::from(at)] == 0 {
                    return Some(at);
                }
            }
        }
        scratch.clear();
        self.moves(state, scratch);
        if scratch.is_empty() { None } else { Some(scratch[rng.below(scratch.len())]) }
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        let standing = Look::Hex.standing(self.outcome(state), state.to_move);
        Some(self.grid().picture(Look::Hex, self.stone_at(state), &standing))
    }
}

impl Game for Hex {
    fn to_move(&self, state: &State) -> Side {
        state.to_move
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.won.then(|| Outcome::Win(state.to_move.other()))
    }

    fn key(&self, state: &State) -> u64 {
        let at = self.stone_at(state);
        let mut key = if state.to_move == Side::First { 0 } else { mix(u64::MAX) };
        for cell in 0..self.size * self.size {
            if let Some(side) = at(cell % self.size, cell / self.size) {
                key ^= zobrist(cell, side);
            }
        }
        key
    }

    fn move_id(&self, mv: u16) -> u16 {
        mv
    }

    fn move_of(&self, _: &State, id: u16) -> u16 {
        id
    }

    /// Every end is a connection, and every full board has one.
    fn draws(&self) -> bool {
        false
    }

    fn narrow(&self, state: &State, moves: &mut Vec<u16>) {
        if self.may_swap(state) {
            return;
        }
        let Some(stones) = self.stones(state) else { return };
        let cell = |mv: u16| {
            let (column, row) = self.column_and_row(mv);
            1u64 << (self.size * row + column)
        };
        let allowed = moves.iter().fold(0, |cells, &mv| cells | cell(mv));
        let (Forecast::Won(cells) | Forecast::Only(cells)) = forecast(stones, state.to_move, allowed);
        moves.retain(|&mv| cell(mv) & cells != 0);
    }

    fn replies(&self, state: &State, side: Side, moves: &mut Vec<u16>) -> bool {
        let Some(stones) = self.stones(state).filter(|_| !self.swap) else { return false };
        let cells = match state.to_move == side {
            true if connect::reaches(stones, side) => 0,
            true => u64::MAX,
            false => connect::replies(stones, side),
        };
        moves.retain(|&mv| {
            let (column, row) = self.column_and_row(mv);
            cells >> (self.size * row + column) & 1 == 1
        });
        true
    }

    fn finished(&self, state: &State, side: Side) -> bool {
        !self.may_swap(state) && self.stones(state).is_some_and(|stones| bridges::connected(stones, side))
    }

    fn images(&self) -> usize {
        Image::TURN.len()
    }

    fn written(&self, state: &State, image: usize) -> Option<String> {
        Some(self.grid().line_image(Image::TURN[image], self.stone_at(state), state.to_move))
    }

    fn move_image(&self, mv: u16, image: usize) -> u16 {
        if mv == SWAP {
            return SWAP;
        }
        let (column, row) = self.grid().image(Image::TURN[image], self.column_and_row(mv));
        self.at(column, row)
    }

    // The text of a position says all there is.
    fn precondition(&self, _: &State) -> Precondition {
        Precondition::NONE
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(self.grid().line(self.stone_at(state), state.to_move))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (stones, to_move) = self.grid().parse_line(text)?;
        let count = |side| stones.iter().filter(|stone| **stone == Some(side)).count();
        let (first, second) = (count(Side::First), count(Side::Second));
        // After a swap the second side is one stone ahead of its turn.
        let swapped = self.swap
            && match to_move {
                Side::First => second == first + 1,
                Side::Second => second == first && first > 0,
            };
        if !swapped {
            grid::check_turns(&stones, to_move)?;
        }
        // The winner's stones last: whoever is to move cannot have connected.
        let set_up = |without: Option<usize>| {
            let mut state = State { to_move, ..self.start.clone() };
            let mut won = [false; 2];
            for (i, &side) in stones.iter().enumerate().filter(|(i, _)| Some(*i) != without) {
                if let Some(side) = side {
                    won[side as usize] |= self.place(&mut state, self.at(i % self.size, i / self.size), side);
                }
            }
            state.won = won[to_move.other() as usize];
            (state, won[to_move as usize])
        };
        let (state, early) = set_up(None);
        if early {
            return Err(format!("{} is to move and has connected: the game ended before", letter(to_move)));
        }
        let last = |i: &usize| stones[*i] == Some(to_move.other()) && !set_up(Some(*i)).0.won;
        if state.won && !(0..stones.len()).any(|i| last(&i)) {
            return Err("no last move can have made this connection".into());
        }
        Ok(state)
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
        let mut left = moves_max;
        if left > 0 && self.may_swap(state) {
            // The only move that is no empty cell.
            let mv = self.random_move(state, rng, scratch)?;
            self.play(state, mv);
            left -= 1;
        }
        grid::rollout_by_filling(self, state, draws, left, rng, scratch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;

    /// Who wins, by trying everything.
    fn winner(game: &Hex, state: &State, known: &mut std::collections::HashMap<State, Side>) -> Side {
        if let Some(Outcome::Win(side)) = game.outcome(state) {
            return side;
        }
        if let Some(&side) = known.get(state) {
            return side;
        }
        let mut moves = Vec::new();
        game.moves(state, &mut moves);
        let wins = moves.into_iter().any(|mv| {
            let mut next = state.clone();
            game.play(&mut next, mv);
            winner(game, &next, known) == state.to_move
        });
        let side = if wins { state.to_move } else { state.to_move.other() };
        known.insert(state.clone(), side);
        side
    }

    #[test]
    fn replies_that_certificates_leave_out_lose() {
        let (game, mut rng, mut known) = (Hex::new(4, false), Rng::new(11, 0), Default::default());
        let (mut left_out, mut over) = (0, 0);
        for _ in 0..60 {
            let mut state = game.initial();
            while game.outcome(&state).is_none() {
                if state.stones >= 6 {
                    for side in [Side::First, Side::Second] {
                        let (mut all, mut kept) = (Vec::new(), Vec::new());
                        game.moves(&state, &mut all);
                        kept.extend(&all);
                        assert!(game.replies(&state, side, &mut kept));
                        if kept.is_empty() {
                            over += 1;
                            assert_eq!(winner(&game, &state, &mut known), side, "{}", game.show(&state));
                            continue;
                        }
                        for mv in all.into_iter().filter(|mv| !kept.contains(mv)) {
                            left_out += 1;
                            let mut next = state.clone();
                            game.play(&mut next, mv);
                            assert_eq!(winner(&game, &next, &mut known), side, "{}", game.show(&next));
                        }
                    }
                }
                let mv = game.random_move(&state, &mut rng, &mut Vec::new()).expect("the game goes on");
                game.play(&mut state, mv);
            }
        }
        assert!(left_out > 50 && over > 50, "{left_out} {over}");
        // Larger boards and the swap have no such rule.
        assert!(!Hex::new(9, false).replies(&Hex::new(9, false).initial(), Side::First, &mut Vec::new()));
        assert!(!Hex::new(4, true).replies(&Hex::new(4, true).initial(), Side::First, &mut Vec::new()));
    }

    #[test]
    fn conforms() {
        for (size, swap) in [(1, true), (2, false), (3, true), (5, false), (11, true), (19, false)] {
            conformance::game(&Hex::new(size, swap), 4, 1);
        }
    }

    #[test]
    fn connections_are_certain() {
        assert!(conformance::narrow(&Hex::new(2, true), 20, 4, 1) > 20);
        assert!(conformance::narrow(&Hex::new(3, false), 60, 9, 2) > 200);
        assert!(conformance::narrow(&Hex::new(4, false), 60, 10, 3) > 200);
        assert!(conformance::narrow(&Hex::new(5, false), 40, 11, 4) > 100);
        assert!(conformance::narrow(&Hex::new(8, false), 2, 8, 5) > 0);
    }

    /// Who connects, by filling from the edge over and over.
    fn connected(game: &Hex, state: &State, side: Side) -> bool {
        let (n, at) = (game.size as i32, game.stone_at(state));
        let mut reached = vec![false; (n * n) as usize];
        for _ in 0..n * n {
            for cell in 0..n * n {
                let (column, row) = (cell % n, cell / n);
                let edge = if side == Side::First { row == 0 } else { column == 0 };
                let beside = [(0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1)].iter().any(|(dc, dr)| {
                    let (c, r) = (column + dc, row + dr);
                    (0..n).contains(&c) && (0..n).contains(&r) && reached[(n * r + c) as usize]
                });
                let own = at(column as usize, row as usize) == Some(side);
                reached[cell as usize] |= own && (edge || beside);
            }
        }
        (0..n).any(|i| reached[(if side == Side::First { n * (n - 1) + i } else { n * i + n - 1 }) as usize])
    }

    #[test]
    fn the_first_connection_ends_the_game() {
        let (mut rng, mut scratch) = (Rng::new(4, 0), Vec::new());
        for size in [1, 2, 3, 4, 6] {
            let game = Hex::new(size, false);
            let mut wins = [0; 2];
            for _ in 0..50 {
                let mut state = game.initial();
                while let Some(mv) = game.random_move(&state, &mut rng, &mut scratch) {
                    let side = state.to_move;
                    assert!(
                        !connected(&game, &state, Side::First) && !connected(&game, &state, Side::Second)
                    );
                    game.play(&mut state, mv);
                    assert_eq!(state.won, connected(&game, &state, side), "{}", game.show(&state));
                }
                wins[state.to_move.other() as usize] += 1;
            }
            assert!(size == 1 || wins[0] > 5 && wins[1] > 5, "{wins:?}");
        }
    }

    #[test]
    fn straight_and_crooked_chains_connect_along_edges_and_corners() {
        let game = Hex::new(3, false);
        let first = |text: &str| game.parse_position(text).map(|state| game.outcome(&state));
        let won = |side| Ok(Some(Outcome::Win(side)));
        assert_eq!(first("xo1/xo1/x2 o"), won(Side::First));
        assert_eq!(first("1ox/1ox/2x o"), won(Side::First));
        assert_eq!(first("o1x/ox1/x2 o"), won(Side::First));
        // The other diagonal is no connection, and a row does not go on at the other edge of the board.
        assert_eq!(first("x1o/ox1/2x o"), Ok(None));
        assert_eq!(first("xx1/ooo/1x1 x"), won(Side::Second));
        assert_eq!(first("1xo/xo1/ox1 x"), won(Side::Second));
    }

    #[test]
    fn a_swap_mirrors_the_stone_and_is_offered_once() {
        let game = Hex::new(4, true);
        let mut state = game.initial();
        for word in ["c1", "swap"] {
            let mv = game.parse_move(&state, word).unwrap();
            game.play(&mut state, mv);
        }
        assert_eq!(game.position(&state).unwrap(), "4/4/o3/4 x");
        assert_eq!(game.parse_move(&state, "swap"), None);
        let mv = game.parse_move(&state, "a1").unwrap();
        game.play(&mut state, mv);
        assert_eq!(game.parse_position(&game.position(&state).unwrap()), Ok(state.clone()));
        assert_eq!(game.parse_move(&state, "swap"), None);
        assert!(Hex::new(4, false).parse_position("4/4/o3/4 x").is_err());
    }

    #[test]
    fn impossible_positions_are_refused() {
        let game = Hex::new(3, false);
        for (text, says) in [("xo1/xo1/xo1 x", "x is to move and has connected"), ("3/3/3 o", "move in turn")]
        {
            let error = game.parse_position(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let game = Hex::new(4, false);
        let error = game.parse_position("xo1x/xoox/xoox/xoox o").unwrap_err();
        assert!(error.contains("no last move"), "{error}");
    }

    #[test]
    fn random_moves_are_uniform() {
        let game = Hex::new(3, true);
        let state = game.parse_position("1x1/3/3 o").expect("a position");
        grid::assert_uniform(&game, &state, 9);
    }
}
