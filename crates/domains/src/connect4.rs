//! Connect Four on the board of 7 columns and 6 rows: stones fall to the bottom, four in a line win, a full board is
//! a draw.
//!
//! The board is bits, seven to a column: six cells from the bottom and one that stays empty, so that no line goes on
//! in the next column. Everything is done with whole-board shifts (as in J. Tromp's Fhourstones).

mod follow;
mod solve;
mod strategy;
mod winner;

use crate::grid::{self, Grid, Image, Look, column_name, out_of_range};
use sortie_core::exact::{Goal, Strategist, Value};
use sortie_core::picture::Picture;
use sortie_core::{Boxed, Domain, Game, Outcome, Precondition, Rng, Side, mix};
use sortie_core::{Entry, OpenError, Opened, Request};
use std::sync::Arc;

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "connect4",
    about: "game: Connect Four, stones fall in columns, four in a line win",
    names: "7x6",
    options: &[],
    examples: &["connect4/7x6"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(ENTRY.options)?;
    match request.name {
        "7x6" => Ok(Opened::Game(Box::new(Boxed::new(Connect4)))),
        _ => Err(out_of_range(request, &ENTRY)),
    }
}

const WIDTH: usize = 7;
const HEIGHT: usize = 6;
/// Bits from one column to the next.
const STRIDE: usize = HEIGHT + 1;
/// The lowest cell of every column.
const BOTTOM: u64 = 0x0408_1020_4081;
/// Every cell.
const BOARD: u64 = BOTTOM * 0x3f;

/// The game; there is one board only.
#[derive(Debug, Clone, Copy)]
pub struct Connect4;

/// A position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// The stones of the side to move.
    own: u64,
    /// All stones.
    all: u64,
    /// The last move made four in a line.
    won: bool,
}

impl State {
    /// The lowest empty cell of every column that has one.
    #[inline]
    fn landing(self) -> u64 {
        // One more stone carries to the first empty cell; a full column carries into the bit that is no cell.
        (self.all + BOTTOM) & BOARD
    }

    fn to_move(self) -> Side {
        grid::turn(self.all.count_ones())
    }

    #[inline]
    fn outcome(self) -> Option<Outcome> {
        if self.won {
            Some(Outcome::Win(self.to_move().other()))
        } else {
            (self.all == BOARD).then_some(Outcome::Draw)
        }
    }

    fn stone(self, column: usize, row: usize) -> Option<Side> {
        let bit = 1 << (STRIDE * column + row);
        let side = if self.own & bit != 0 { self.to_move() } else { self.to_move().other() };
        (self.all & bit != 0).then_some(side)
    }

    /// Puts a stone of the side to move on an empty cell.
    #[inline]
    fn drop(&mut self, cell: u64) {
        self.won = four(self.own | cell);
        self.own ^= self.all;
        self.all |= cell;
    }
}

/// The cells of a column.
#[inline]
fn column_bits(column: usize) -> u64 {
    0x3f << (STRIDE * column)
}

/// Whether four stones are in a line.
#[inline]
fn four(stones: u64) -> bool {
    let line = |shift: usize| {
        let pairs = stones & stones >> shift;
        pairs & pairs >> (2 * shift)
    };
    line(1) | line(STRIDE - 1) | line(STRIDE) | line(STRIDE + 1) != 0
}

impl Domain for Connect4 {
    type State = State;
    type Move = u8; // the column

    fn initial(&self) -> State {
        State { own: 0, all: 0, won: false }
    }

    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        if !state.won {
            let landing = state.landing();
            out.extend((0..WIDTH as u8).filter(|&c| landing & column_bits(c.into()) != 0));
        }
    }

    #[inline]
    fn play(&self, state: &mut State, column: u8) {
        state.drop(state.landing() & column_bits(column.into()));
    }

    fn show(&self, state: &State) -> String {
        let below = grid::standing(state.outcome(), state.to_move());
        Grid::new(WIDTH, HEIGHT).text(|column, row| state.stone(column, row), &below)
    }

    fn show_move(&self, _: &State, column: u8) -> String {
        column_name(column.into()).into()
    }

    /// Columns by letter, and by number as other programs write them.
    fn parse_move(&self, state: &State, word: &str) -> Option<u8> {
        let column = match *word.as_bytes() {
            [letter @ b'a'..=b'g'] => letter - b'a',
            [digit @ b'1'..=b'7'] => digit - b'1',
            _ => return None,
        };
        (!state.won && state.landing() & column_bits(column.into()) != 0).then_some(column)
    }

    #[inline]
    fn random_move(&self, state: &State, rng: &mut Rng, _: &mut Vec<u8>) -> Option<u8> {
        let landing = state.landing();
        if state.won || landing == 0 {
            return None;
        }
        // Columns are full late in the game only: drawing again is cheaper than counting.
        loop {
            let column = rng.below(WIDTH);
            if landing & column_bits(column) != 0 {
                return Some(column as u8);
            }
        }
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        let standing = Look::Discs.standing(state.outcome(), state.to_move());
        let at = |column, row| state.stone(column, row);
        let mut picture = Grid::new(WIDTH, HEIGHT).picture(Look::Discs, at, &standing);
        // A move names the column alone.
        picture.spots.iter_mut().for_each(|spot| spot.name.truncate(1));
        Some(picture)
    }
}

impl Game for Connect4 {
    fn to_move(&self, state: &State) -> Side {
        state.to_move()
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.outcome()
    }

    // In a column of k stones the sum lies from 2^k - 1 to 2^(k+1) - 2: it tells all positions apart, and `mix` is a
    // bijection. So two positions never share a key.
    fn key(&self, state: &State) -> u64 {
        mix(state.own + state.all)
    }

    fn move_id(&self, column: u8) -> u16 {
        column.into()
    }

    fn move_of(&self, _: &State, id: u16) -> u8 {
        id as u8
    }

    fn narrow(&self, state: &State, moves: &mut Vec<u8>) {
        let (landing, own, other) = (state.landing(), state.own, state.own ^ state.all);
        let cell = |column: u8| landing & column_bits(column.into());
        if let Some(&winner) = moves.iter().find(|&&column| four(own | cell(column))) {
            moves.clear();
            moves.push(winner);
            return;
        }
        // Of two fours of the other side one comes; nobody helps it to one that has nothing under it yet.
        let four_at = |cell: u64| four(other | cell);
        let threats = (0..WIDTH as u8).filter(|&column| cell(column) != 0 && four_at(cell(column)));
        for threat in threats {
            moves.retain(|&column| column == threat);
        }
        moves.retain(|&column| !four_at(cell(column) << 1 & BOARD));
    }

    fn strategist(self: &Arc<Self>, goal: Goal, memory_max: usize) -> Option<Box<dyn Strategist<State, u8>>> {
        Some(match (goal.side, goal.at_least) {
            (Side::First, Value::Win) => Box::new(strategy::Strategy::new(memory_max)),
            _ => Box::new(Scores { solver: solve::Solver::new(memory_max), goal }),
        })
    }

    fn finished(&self, state: &State, side: Side) -> bool {
        let position = (state.own, state.all);
        state.outcome().is_none()
            && if state.to_move() == side { follow::forces(position) } else { follow::follows(position) }
    }

    fn images(&self) -> usize {
        Image::MIRROR.len()
    }

    fn written(&self, state: &State, image: usize) -> Option<String> {
        let at = |column, row| state.stone(column, row);
        Some(Grid::new(WIDTH, HEIGHT).line_image(Image::MIRROR[image], at, state.to_move()))
    }

    fn move_image(&self, column: u8, image: usize) -> u8 {
        Grid::new(WIDTH, HEIGHT).image(Image::MIRROR[image], (column.into(), 0)).0 as u8
    }

    // The text of a position says all there is.
    fn precondition(&self, _: &State) -> Precondition {
        Precondition::NONE
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(Grid::new(WIDTH, HEIGHT).line(|column, row| state.stone(column, row), state.to_move()))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (stones, to_move) = Grid::new(WIDTH, HEIGHT).parse_line(text)?;
        grid::check_turns(&stones, to_move)?;
        let (mut own, mut all) = (0u64, 0u64);
        for (i, side) in stones.iter().enumerate() {
            let bit = 1 << (STRIDE * (i % WIDTH) + i / WIDTH);
            if let Some(side) = side {
                all |= bit;
                own |= if *side == to_move { bit } else { 0 };
                if i >= WIDTH && stones[i - WIDTH].is_none() {
                    return Err(format!("{} has no stone under it", grid::cell_name(i % WIDTH, i / WIDTH)));
                }
            }
        }
        if four(own) {
            return Err("the side to move has four in a line: the game ended before".into());
        }
        let won = four(own ^ all);
        // The last stone lies on top of a column and made all fours that there are.
        let tops = (0..WIDTH).map(|column| all & column_bits(column)).filter(|&stones| stones != 0);
        let mut last = tops.map(|stones| 1u64 << stones.ilog2());
        if won && !last.any(|top| own & top == 0 && !four((own ^ all) & !top)) {
            return Err("no last move can have made these fours in a line".into());
        }
        Ok(State { own, all, won })
    }

    /// Four before stopping a four before the middle.
    #[inline]
    fn appeal(&self, state: &State, column: u8) -> i32 {
        let cell = state.landing() & column_bits(column.into());
        let (win, stop) = (four(state.own | cell), four((state.own ^ state.all) | cell));
        16 * i32::from(win) + 8 * i32::from(stop) + 3 - (i32::from(column) - 3).abs()
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
        if draws == 1 {
            return rollout_uniform(state, moves_max, rng);
        }
        for _ in 0..moves_max {
            let outcome = state.outcome();
            if outcome.is_some() {
                return outcome;
            }
            let mv = self.appealing_move(state, draws, rng, scratch)?;
            self.play(state, mv);
        }
        state.outcome()
    }
}

/// A uniformly random game. Which column is drawn does not depend on the board, so the processor draws ahead while
/// the last stone is still looked at; a full column is drawn again.
fn rollout_uniform(state: &mut State, moves_max: u32, rng: &mut Rng) -> Option<Outcome> {
    // Columns from one random number: 7^8 is below 2^23, so the bias stays below 2^-41.
    const DRAWS: u32 = 8;
    let mut now = *state;
    let (mut fraction, mut left) = (0u64, 0);
    let mut moves = 0;
    while moves < moves_max && !now.won && now.all != BOARD {
        if left == 0 {
            (fraction, left) = (rng.bits(), DRAWS);
        }
        let product = u128::from(fraction) * WIDTH as u128;
        (fraction, left) = (product as u64, left - 1);
        let cell = now.landing() & column_bits((product >> 64) as usize);
        if cell != 0 {
            now.drop(cell);
            moves += 1;
        }
    }
    *state = now;
    now.outcome()
}

/// Positions that each move gets at first; three times as many in each round that follows.
const NODES: u64 = 1000;

impl Strategist<State, u8> for strategy::Strategy {
    fn answer(&mut self, state: &State, stop: &dyn Fn() -> bool) -> Result<u8, String> {
        let cell = strategy::Strategy::answer(self, (state.own, state.all), stop)?;
        Ok((cell.trailing_zeros() as usize / STRIDE) as u8)
    }
}

/// The solver as one who knows a strategy.
struct Scores {
    solver: solve::Solver,
    goal: Goal,
}

impl Strategist<State, u8> for Scores {
    fn answer(&mut self, state: &State, stop: &dyn Fn() -> bool) -> Result<u8, String> {
        let position = (state.own, state.all);
        // What the other side must not reach.
        let too_much = if self.goal.at_least == Value::Win { 0 } else { 1 };
        let columns = [3u8, 2, 4, 1, 5, 0, 6];
        let mut cells = match solve::safe(position) {
            0 => solve::landing(state.all),
            cells => cells,
        };
        let cell = |cells: u64, column: u8| cells & column_bits(column.into());
        let mut nodes = NODES;
        while cells != 0 {
            for column in columns {
                if stop() {
                    return Err("stopped".into());
                }
                let cell = cell(cells, column);
                if cell == 0 {
                    continue;
                }
                match self.solver.reaches_within(solve::after(position, cell), too_much, nodes) {
                    Some(false) => return Ok(column),
                    Some(true) => cells &= !cell,
                    None => {}
                }
            }
            nodes = nodes.saturating_mul(3);
        }
        Err("the claim does not hold here".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;

    fn after(words: &str) -> State {
        let mut state = Connect4.initial();
        for word in words.split(' ') {
            let mv = Connect4.parse_move(&state, word).unwrap_or_else(|| panic!("{word} in {words}"));
            Connect4.play(&mut state, mv);
        }
        state
    }

    #[test]
    fn fours_are_stopped_or_made() {
        // Only where most columns are full is it not far to the end for minimax.
        assert!(conformance::narrow(&Connect4, 1000, 3, 1) > 100);
    }

    #[test]
    fn conforms() {
        conformance::game(&Connect4, 60, 1);
    }

    #[test]
    fn fours_win_in_every_direction_and_do_not_wrap() {
        let first = Some(Outcome::Win(Side::First));
        assert_eq!(after("a b a b a b a").outcome(), first);
        assert_eq!(after("d d e e f f g").outcome(), first);
        assert_eq!(after("a b b c c d c d d g d").outcome(), first);
        assert_eq!(after("g f f e e d e d d a d").outcome(), first);
        assert_eq!(after("a b a b a b c b").outcome(), Some(Outcome::Win(Side::Second)));
        // Every four cells in a line win, and no other four cells of a straight or diagonal walk do.
        for column in 0..WIDTH as i32 {
            for row in 0..HEIGHT as i32 {
                for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                    let cells = (0..4).map(|i| (column + i * dc, row + i * dr));
                    let inside = |(c, r): (i32, i32)| (0..7).contains(&c) && (0..6).contains(&r);
                    // A walk over the edge comes in again at the other side.
                    let wrapped =
                        |(c, r): (i32, i32)| 1u64 << (STRIDE as i32 * c.rem_euclid(7) + r.rem_euclid(6));
                    let stones = cells.clone().map(wrapped).sum();
                    assert_eq!(four(stones), cells.clone().all(inside), "{column},{row} {dc},{dr}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_understood_and_full_columns_refused() {
        let state = after("1 1 1 1 1 1");
        assert_eq!(state, after("a a a a a a"));
        assert_eq!(Connect4.parse_move(&state, "a"), None);
        for bad in ["h", "0", "8", "aa", "é", "A"] {
            assert_eq!(Connect4.parse_move(&state, bad), None, "{bad}");
        }
    }

    #[test]
    fn a_full_board_is_a_draw() {
        let text = "oxoxoxo/oxoxoxo/xoxoxox/xoxoxox/oxoxoxo/xoxoxox x";
        let state = Connect4.parse_position(text).unwrap();
        assert_eq!(state.outcome(), Some(Outcome::Draw));
    }

    #[test]
    fn impossible_positions_are_refused() {
        for (text, says) in [
            ("7/7/7/7/7/7 o", "move in turn"),
            ("7/7/7/7/x6/7 o", "no stone under it"),
            ("7/7/7/7/ooo4/xxxx3 x", "move in turn"),
            ("7/7/7/o6/ooo4/xxxx3 x", "the side to move has four"),
            ("7/7/7/x6/x1x4/xoxoxo1", "expected 6 rows"),
        ] {
            let error = Connect4.parse_position(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let won = Connect4.parse_position("7/7/7/7/ooo4/xxxx3 o").unwrap();
        assert_eq!(won.outcome(), Some(Outcome::Win(Side::First)));
        // Two fours without a stone in common: no single move made both.
        let error = Connect4.parse_position("7/7/x5x/xoo3x/xoo3x/xoo1o1x o").unwrap_err();
        assert!(error.contains("no last move"), "{error}");
    }

    #[test]
    fn fast_and_plain_random_games_end_alike() {
        let (mut rng, mut scratch) = (Rng::new(3, 0), Vec::new());
        let (mut fast, mut plain, games) = ([0u32; 43], [0u32; 43], 40_000);
        for _ in 0..games {
            let mut state = Connect4.initial();
            Connect4.rollout(&mut state, 1, u32::MAX, &mut rng, &mut scratch);
            fast[state.all.count_ones() as usize] += 1;
            let mut state = Connect4.initial();
            while let Some(mv) = Connect4.random_move(&state, &mut rng, &mut scratch) {
                Connect4.play(&mut state, mv);
            }
            plain[state.all.count_ones() as usize] += 1;
        }
        // The lengths, as two samples of one distribution: 36 lengths, chi-square passes 68 once in a thousand.
        let chi2: f64 = (7..43)
            .filter(|&n| fast[n] + plain[n] > 0)
            .map(|n| (f64::from(fast[n]) - f64::from(plain[n])).powi(2) / f64::from(fast[n] + plain[n]))
            .sum();
        assert!(chi2 < 68.0, "chi-square {chi2}");
    }

    #[test]
    fn random_moves_are_uniform() {
        grid::assert_uniform(&Connect4, &after("a a a a a a d d d d d d b"), 5);
    }
}
