//! The rules, on bits: every row, column and diagonal is a word for each side, so six in a row are five shifts and what
//! a cell is worth to a playout is read off eleven bits a direction.

use super::player::EnginePlayer;
use super::worker::EngineWorker;
use super::{argument, board, facts, text};
use crate::grid::{self, Grid, Image, Look, SIDE_MAX, zobrist};
use sortie_core::exact::{AnyWorker, Argued, Settled, Statuses};
use sortie_core::expert::Expert;
use sortie_core::picture::Picture;
use sortie_core::{AnyPlayer, Domain, Game, Ident, Outcome, Precondition, Rng, Side};
use std::sync::Arc;

/// Rows, columns and both kinds of diagonals of the largest board.
const LINES: usize = 2 * SIDE_MAX + 2 * (2 * SIDE_MAX - 1);
/// The first cell of a line is this bit of its word: windows that begin before the edge have bits too.
const MARGIN: u8 = 5;
/// The five cells on either side of a cell, itself in the middle.
const AROUND: u32 = 0x7ff;

/// What a live window with so many stones, the cell itself empty, adds to the appeal of a cell: to the side to move,
/// and to stop the other one. Four or five of one's own win this turn or are one stone short of it, those of the other
/// have to be stopped.
const OWN: [i32; 6] = [0, 2, 10, 30, 4000, 40_000];
const OTHER: [i32; 6] = [0, 1, 7, 22, 1000, 1000];

/// The category of a move is the size of its appeal: this many, each a factor of the square root of two wide.
const CATEGORIES: usize = 32;
const WEIGHTS: [f64; CATEGORIES] = {
    let mut weights = [0.0; CATEGORIES];
    let mut i = 0;
    while i < CATEGORIES {
        weights[i] = i as f64 / (CATEGORIES - 1) as f64;
        i += 1;
    }
    weights
};

/// The game on a board of some size.
#[derive(Debug, Clone)]
pub struct Connect6 {
    size: usize,
    /// Where each cell lies on its four lines; `spots[row * size + column]`.
    spots: Vec<[Spot; 4]>,
    /// The bits of a line that are not on the board.
    walls: [u32; LINES],
}

/// A place on a line.
#[derive(Debug, Clone, Copy)]
struct Spot {
    line: u8,
    bit: u8,
}

/// A position.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The stones of the first and the second side, line by line.
    stones: [[u32; LINES]; 2],
    /// Stones on the board.
    played: u16,
    /// The last move made six.
    won: bool,
}

impl State {
    /// Whose stone is next.
    #[inline]
    pub fn to_move(&self) -> Side {
        turn(self.played)
    }

    /// How many stones the side to move has left in this turn.
    pub fn stones_left(&self) -> u32 {
        if self.played % 2 == 1 { 2 } else { 1 }
    }

    /// How many stones lie on the board.
    pub fn played(&self) -> usize {
        self.played.into()
    }
}

/// Whose stone comes after so many: 1, 2, 2, 2, ...
#[inline]
fn turn(played: u16) -> Side {
    if played.div_ceil(2).is_multiple_of(2) { Side::First } else { Side::Second }
}

#[inline]
fn index(side: Side) -> usize {
    usize::from(side == Side::Second)
}

impl Connect6 {
    /// A board of `size` times `size`, 6 to 19.
    pub fn new(size: usize) -> Connect6 {
        let mut walls = [u32::MAX; LINES];
        let spots: Vec<[Spot; 4]> = (0..size * size)
            .map(|cell| {
                let (column, row) = (cell % size, cell / size);
                let diagonals = 2 * SIDE_MAX;
                let lines = [
                    (row, column),
                    (SIDE_MAX + column, row),
                    (diagonals + column + SIDE_MAX - 1 - row, column),
                    (diagonals + 2 * SIDE_MAX - 1 + column + row, column),
                ];
                lines.map(|(line, at)| {
                    walls[line] &= !(1 << (at as u8 + MARGIN));
                    Spot { line: line as u8, bit: at as u8 + MARGIN }
                })
            })
            .collect();
        Connect6 { size, spots, walls }
    }

    /// The width of the board.
    pub fn size(&self) -> usize {
        self.size
    }

    pub(super) fn grid(&self) -> Grid {
        Grid::new(self.size, self.size)
    }

    /// Whose stone lies on a cell.
    #[inline]
    pub fn stone(&self, state: &State, cell: u16) -> Option<Side> {
        let Spot { line, bit } = self.spots[usize::from(cell)][0];
        let on = |side: usize| state.stones[side][usize::from(line)] >> bit & 1 == 1;
        if on(0) { Some(Side::First) } else { on(1).then_some(Side::Second) }
    }

    /// Where a cell is in a mirror image of the board.
    pub(super) fn cell_image(&self, cell: u16, image: usize) -> u16 {
        let at = (usize::from(cell) % self.size, usize::from(cell) / self.size);
        let (column, row) = self.grid().image(Image::SQUARE[image], at);
        (row * self.size + column) as u16
    }

    fn stone_at(&self, state: &State) -> impl Fn(usize, usize) -> Option<Side> {
        |column, row| self.stone(state, (row * self.size + column) as u16)
    }

    /// Whether a stone on this cell is part of six in a row.
    #[inline]
    fn wins(&self, state: &State, cell: u16, side: Side) -> bool {
        self.spots[usize::from(cell)]
            .iter()
            .any(|spot| six(state.stones[index(side)][usize::from(spot.line)]))
    }

    #[inline]
    fn flip(&self, state: &mut State, cell: u16, side: Side) {
        for spot in &self.spots[usize::from(cell)] {
            state.stones[index(side)][usize::from(spot.line)] ^= 1 << spot.bit;
        }
    }

    /// The state with these stones, of which the caller says nothing but whose they are; `Err` says why no game leads
    /// there.
    pub(super) fn with_stones(&self, stones: &[Option<Side>], to_move: Side) -> Result<State, String> {
        let mut state = self.initial();
        let mut counts = [0u16; 2];
        for (cell, side) in stones.iter().enumerate() {
            if let Some(side) = *side {
                self.flip(&mut state, cell as u16, side);
                counts[index(side)] += 1;
            }
        }
        state.played = counts[0] + counts[1];
        let first = (0..state.played).filter(|&played| turn(played) == Side::First).count();
        if usize::from(counts[0]) != first
            || state.to_move() != to_move && usize::from(state.played) < stones.len()
        {
            return Err(format!(
                "{} x and {} o with {} to move: x plays one stone, then both sides two a turn",
                counts[0],
                counts[1],
                grid::letter(to_move)
            ));
        }
        self.settle(state)
    }

    /// Finds out whether the game is over, and whether it can have ended like this.
    fn settle(&self, mut state: State) -> Result<State, String> {
        let has_six = |state: &State, side: Side| state.stones[index(side)].iter().any(|&line| six(line));
        let last = turn(state.played.saturating_sub(1));
        if has_six(&state, last.other()) {
            return Err(format!("{} has six in a row: the game ended before", grid::letter(last.other())));
        }
        state.won = has_six(&state, last);
        if state.won {
            let mut cells = 0..(self.size * self.size) as u16;
            let possible = cells.any(|cell| {
                let mut before = state.clone();
                self.stone(&state, cell) == Some(last) && {
                    self.flip(&mut before, cell, last);
                    !has_six(&before, last)
                }
            });
            if !possible {
                return Err("no last stone can have made these sixes".into());
            }
        }
        Ok(state)
    }
}

/// Whether six bits in a row are set.
#[inline]
fn six(line: u32) -> bool {
    let two = line & line >> 1;
    two & two >> 2 & two >> 4 != 0
}

/// The sum of what the live windows through the middle are worth.
#[inline]
fn worth(own: u32, blocked: u32, weights: &[i32; 6]) -> i32 {
    if own == 0 {
        return 0;
    }
    let mut sum = 0;
    for shift in 0..6 {
        if blocked >> shift & 0x3f == 0 {
            sum += weights[((own >> shift & 0x3f).count_ones() as usize).min(5)];
        }
    }
    sum
}

impl Domain for Connect6 {
    type State = State;
    type Move = u16; // the cell: row * size + column

    fn initial(&self) -> State {
        State { stones: [[0; LINES]; 2], played: 0, won: false }
    }

    fn moves(&self, state: &State, out: &mut Vec<u16>) {
        if state.won {
            return;
        }
        for row in 0..self.size {
            let taken = state.stones[0][row] | state.stones[1][row] | self.walls[row];
            let mut empty = !taken;
            while empty != 0 {
                let column = empty.trailing_zeros() as usize - usize::from(MARGIN);
                out.push((row * self.size + column) as u16);
                empty &= empty - 1;
            }
        }
    }

    #[inline]
    fn play(&self, state: &mut State, cell: u16) {
        let side = state.to_move();
        self.flip(state, cell, side);
        state.played += 1;
        state.won = self.wins(state, cell, side);
    }

    fn show(&self, state: &State) -> String {
        self.grid().text(self.stone_at(state), &text::standing(self.outcome(state), state))
    }

    fn show_move(&self, _: &State, cell: u16) -> String {
        text::name(self.size, cell)
    }

    fn parse_move(&self, state: &State, word: &str) -> Option<u16> {
        let cell = text::parse_stone(self.size, word)?;
        (!state.won && self.stone(state, cell).is_none()).then_some(cell)
    }

    fn random_move(&self, state: &State, rng: &mut Rng, scratch: &mut Vec<u16>) -> Option<u16> {
        // Most cells are empty most of the time: a few tries before all are listed. Each way is uniform.
        if !state.won {
            for _ in 0..4 {
                let cell = rng.below(self.spots.len()) as u16;
                if self.stone(state, cell).is_none() {
                    return Some(cell);
                }
            }
        }
        scratch.clear();
        self.moves(state, scratch);
        if scratch.is_empty() { None } else { Some(scratch[rng.below(scratch.len())]) }
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        let standing = Look::Stones.standing(self.outcome(state), state.to_move());
        let standing = text::with_stones(standing, self.outcome(state), state);
        Some(self.grid().picture(Look::Stones, self.stone_at(state), &standing))
    }
}

impl Game for Connect6 {
    fn to_move(&self, state: &State) -> Side {
        state.to_move()
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.won {
            Some(Outcome::Win(turn(state.played - 1)))
        } else {
            (usize::from(state.played) == self.spots.len()).then_some(Outcome::Draw)
        }
    }

    fn key(&self, state: &State) -> u64 {
        // The stones say whose turn it is and how much of it is left.
        let stone = |cell: usize| self.stone(state, cell as u16).map(|side| zobrist(cell, side));
        (0..self.spots.len()).filter_map(stone).fold(0, |key, stone| key ^ stone)
    }

    fn move_id(&self, cell: u16) -> u16 {
        cell
    }

    fn move_of(&self, _: &State, id: u16) -> u16 {
        id
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(self.grid().line(self.stone_at(state), state.to_move()))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        text::parse_position(self, text)
    }

    fn images(&self) -> usize {
        Image::SQUARE.len()
    }

    fn written(&self, state: &State, image: usize) -> Option<String> {
        Some(self.grid().line_image(Image::SQUARE[image], self.stone_at(state), state.to_move()))
    }

    fn move_image(&self, cell: u16, image: usize) -> u16 {
        self.cell_image(cell, image)
    }

    // The text of a position says all there is.
    fn precondition(&self, _: &State) -> Precondition {
        Precondition::NONE
    }

    fn ident(&self, state: &State) -> Option<Ident> {
        let cells = (0..self.spots.len() as u16).filter_map(|cell| Some((cell, self.stone(state, cell)?)));
        let stones = cells.map(|(cell, side)| (cell, index(side)));
        Some(board::ident(self.size, stones, index(state.to_move())))
    }

    fn expert(&self) -> Option<&dyn Expert<State = State, Move = u16>> {
        Some(self)
    }

    /// What the windows through the cell are worth to either side.
    #[inline]
    fn appeal(&self, state: &State, cell: u16) -> i32 {
        let side = index(state.to_move());
        let mut sum = 0;
        for spot in &self.spots[usize::from(cell)] {
            let (line, shift) = (usize::from(spot.line), spot.bit - MARGIN);
            let around = |word: u32| word >> shift & AROUND;
            let (own, other) = (around(state.stones[side][line]), around(state.stones[1 - side][line]));
            if own | other == 0 {
                continue;
            }
            let wall = around(self.walls[line]);
            sum += worth(own, other | wall, &OWN) + worth(other, own | wall, &OTHER);
        }
        sum
    }

    fn categories(&self) -> &[f64] {
        &WEIGHTS
    }

    fn category(&self, state: &State, cell: u16) -> usize {
        let appeal = self.appeal(state, cell) as u32;
        if appeal == 0 {
            return 0;
        }
        // Twice the binary logarithm, and one more above the square root of two.
        let log = appeal.ilog2();
        let half = u64::from(appeal).pow(2) >> (2 * log) >= 2;
        (1 + 2 * log as usize + usize::from(half)).min(CATEGORIES - 1)
    }

    /// Who has more of the windows that are still open, and how full they are.
    fn evaluate(&self, state: &State) -> f64 {
        if let Some(outcome) = self.outcome(state) {
            return outcome.value();
        }
        const WORTH: [f64; 7] = [0.0, 1.0, 4.0, 9.0, 22.0, 22.0, 22.0];
        let mut sum = 0.0;
        for line in 0..LINES {
            let (first, second) = (state.stones[0][line], state.stones[1][line]);
            if first | second == 0 {
                continue;
            }
            for shift in 0..26 {
                let (x, o) = (first >> shift & 0x3f, second >> shift & 0x3f);
                if self.walls[line] >> shift & 0x3f == 0 && (x == 0) != (o == 0) {
                    sum += WORTH[x.count_ones() as usize] - WORTH[o.count_ones() as usize];
                }
            }
        }
        // The turn is worth something, and a stone still to come twice as much.
        let tempo = 12.0 * f64::from(state.stones_left());
        sum += if state.to_move() == Side::First { tempo } else { -tempo };
        0.5 + 0.5 * (sum / (60.0 + sum.abs()))
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

impl Expert for Connect6 {
    type State = State;
    type Move = u16;

    fn player(&self, _seed: u64) -> Box<dyn AnyPlayer> {
        Box::new(EnginePlayer::new(Arc::new(self.clone())))
    }

    fn worker(&self, _: &Statuses) -> Box<dyn AnyWorker> {
        Box::new(EngineWorker::new(Arc::new(self.clone())))
    }

    fn settle(&self, state: &State, nodes_max: u64) -> Settled {
        facts::settle(self, state, nodes_max)
    }

    fn argue(
        &self,
        state: &State,
        side: Side,
        except: &[u16],
        nodes_max: u64,
        stop: &dyn Fn() -> bool,
    ) -> Argued<u16> {
        argument::argue(self, state, side, except, nodes_max, stop)
    }

    fn check_argument(&self, state: &State, side: Side, except: &[u16], text: &str) -> Result<(), String> {
        argument::check_argument(self, state, side, except, text)
    }
}
