//! The rules on two bare bit boards, as the side to move sees them, and the playout that needs nothing else.
//!
//! Square 0 is a1, 7 is h1, 63 is h8. A move is a piece and one of eight directions: it goes as far as there are pieces
//! on its line, so each such pair has at most one legal move. Drawing pairs uniformly and throwing the illegal ones
//! away is therefore exactly uniform over the legal moves, without listing them.

use super::knowledge;
use sortie_core::{Processor, Rng};
use std::hint::select_unpredictable;

/// From and to, six bits each. No move leaves a piece where it is, so zero is free: it means to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(pub u16);

impl Move {
    pub const PASS: Move = Move(0);

    pub fn new(from: usize, to: usize) -> Move {
        Move((from | to << 6) as u16)
    }

    #[inline]
    pub fn from(self) -> usize {
        self.0 as usize & 63
    }

    #[inline]
    pub fn to(self) -> usize {
        self.0 as usize >> 6 & 63
    }
}

/// The pieces of the side to move and of the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces {
    pub own: u64,
    pub opp: u64,
}

/// How a playout ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The last move connected the pieces of one side or of both.
    Connected { mover: bool, other: bool },
    /// The side to move cannot, and may not pass.
    Stuck,
    /// Neither side can move.
    Blocked,
}

/// Pairs are drawn two at a time, without a branch on the first: three in ten are legal, which nobody can predict. (One
/// at a time and three, four or six were slower.)
const BATCHES: u32 = 32;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;
/// Columns and rows of a step in each direction; 4 to 7 are the opposites of 0 to 3.
const STEPS: [(i32, i32); 8] = [(1, 0), (0, 1), (1, 1), (-1, 1), (-1, 0), (0, -1), (-1, -1), (1, -1)];

/// `RAYS[square][direction]` are the squares from there to the edge.
static RAYS: [[u64; 8]; 64] = rays();
/// `LINES[square][axis]` is the whole line through the square.
static LINES: [[u64; 4]; 64] = lines();
/// `PATHS[direction][n]` are the square n steps from square 0 and those on the way, both modulo 64: rotated to where a
/// piece stands, they are right as long as it stays on the board.
static PATHS: [[Path; 16]; 8] = paths();

#[derive(Clone, Copy)]
struct Path {
    end: u64,
    passed: u64,
}

const fn rays() -> [[u64; 8]; 64] {
    let mut table = [[0; 8]; 64];
    let mut i = 0;
    while i < 64 * 8 {
        let (square, (x, y)) = (i / 8, STEPS[i % 8]);
        let (mut column, mut row) = (square as i32 % 8 + x, square as i32 / 8 + y);
        while column >= 0 && column < 8 && row >= 0 && row < 8 {
            table[square][i % 8] |= 1 << (row * 8 + column);
            column += x;
            row += y;
        }
        i += 1;
    }
    table
}

const fn lines() -> [[u64; 4]; 64] {
    let rays = rays();
    let mut table = [[0; 4]; 64];
    let mut i = 0;
    while i < 64 * 4 {
        let (square, axis) = (i / 4, i % 4);
        table[square][axis] = rays[square][axis] | rays[square][axis + 4] | 1 << square;
        i += 1;
    }
    table
}

const fn paths() -> [[Path; 16]; 8] {
    let mut table = [[Path { end: 0, passed: 0 }; 16]; 8];
    let mut i = 0;
    while i < 8 * 8 {
        let (direction, n) = (i / 8, i % 8);
        let (x, y) = STEPS[direction];
        let mut step = 1;
        while step <= n {
            let square = 1 << ((step as i32 * (x + 8 * y)) & 63);
            if step < n {
                table[direction][n].passed |= square;
            } else {
                table[direction][n].end = square;
            }
            step += 1;
        }
        i += 1;
    }
    // Eight pieces on a line: no move is that long. An end that is never on a ray makes it illegal.
    let mut direction = 0;
    while direction < 8 {
        table[direction][8].end = 1;
        direction += 1;
    }
    table
}

impl Pieces {
    /// The move of a piece (a bit) in a direction as the squares it changes, or 0 if it is not legal. Without a branch.
    #[inline(always)]
    fn flip(self, piece: u64, direction: usize) -> u64 {
        let (from, direction) = (piece.trailing_zeros() & 63, direction & 7);
        let n = ((self.own | self.opp) & LINES[from as usize][direction & 3]).count_ones();
        let path = PATHS[direction][n as usize & 15];
        let to = path.end.rotate_left(from);
        let free = RAYS[from as usize][direction] & !self.own;
        let blocked = to & !free | path.passed.rotate_left(from) & self.opp;
        select_unpredictable(blocked == 0, piece | to, 0)
    }

    /// The move that changes these squares.
    #[inline(always)]
    fn unflip(self, flip: u64) -> Move {
        Move::new((flip & self.own).trailing_zeros() as usize, (flip & !self.own).trailing_zeros() as usize)
    }

    /// Calls `f` with every legal move, by piece and direction, until it says stop; tells whether it did.
    #[inline]
    fn any_move(self, mut f: impl FnMut(Move) -> bool) -> bool {
        let mut pieces = self.own;
        while pieces != 0 {
            let piece = pieces & pieces.wrapping_neg();
            pieces ^= piece;
            for direction in 0..8 {
                let flip = self.flip(piece, direction);
                if flip != 0 && f(self.unflip(flip)) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether this is a legal move.
    pub fn is_legal(self, mv: Move) -> bool {
        let piece = 1u64 << (mv.from() & 63);
        let wanted = piece | 1 << (mv.to() & 63);
        self.own & piece != 0 && (0..8).any(|direction| self.flip(piece, direction) == wanted)
    }

    /// Appends every legal move.
    pub fn list(self, out: &mut Vec<Move>) {
        self.any_move(|mv| {
            out.push(mv);
            false
        });
    }

    /// Whether the side to move can.
    pub fn can_move(self) -> bool {
        self.any_move(|_| true)
    }

    /// A uniformly random legal move, if there is one.
    pub fn draw(self, rng: &mut Rng) -> Option<Move> {
        let flip = self.draw_flip(rng, Processor::PORTABLE);
        (flip != 0).then(|| self.unflip(flip))
    }

    /// The same as the squares it changes; 0 if there is none.
    #[inline(always)]
    fn draw_flip(self, rng: &mut Rng, processor: Processor) -> u64 {
        let pairs = 8 * u64::from(self.own.count_ones());
        for _ in 0..BATCHES {
            let bits = rng.bits();
            let (a, b) = (self.drawn(bits, pairs, processor), self.drawn(bits >> 32, pairs, processor));
            let flip = select_unpredictable(a != 0, a, b);
            if flip != 0 {
                return flip;
            }
        }
        self.draw_listed(rng)
    }

    /// The pair that random bits mean, as the squares it changes.
    #[inline(always)]
    fn drawn(self, bits: u64, pairs: u64, processor: Processor) -> u64 {
        // 32 bits for a number below 97: the bias is below one in forty million.
        let pair = ((bits & 0xffff_ffff) * pairs) >> 32;
        self.flip(nth_bit(self.own, pair >> 3, processor), pair as usize & 7)
    }

    /// The same where moves are rare.
    #[cold]
    #[inline(never)]
    fn draw_listed(self, rng: &mut Rng) -> u64 {
        let mut moves = Vec::new();
        self.list(&mut moves);
        if moves.is_empty() {
            return 0;
        }
        let mv = moves[rng.below(moves.len())];
        1 << mv.from() | 1 << mv.to()
    }

    /// The most appealing of so many drawn moves, the first of equals.
    #[inline(always)]
    fn draw_best(self, draws: u32, rng: &mut Rng, processor: Processor) -> u64 {
        let mut best = self.draw_flip(rng, processor);
        if draws > 1 && best != 0 {
            let appeal = |flip| knowledge::appeal(self.opp, self.unflip(flip));
            let mut highest = appeal(best);
            for _ in 1..draws {
                let other = self.draw_flip(rng, processor);
                let height = appeal(other);
                best = select_unpredictable(height > highest, other, best);
                highest = highest.max(height);
            }
        }
        best
    }

    /// Plays a move; the sides change places. True if a piece was captured.
    #[inline]
    pub fn play(&mut self, mv: Move) -> bool {
        self.play_flip(1 << mv.from() | 1 << mv.to())
    }

    #[inline(always)]
    fn play_flip(&mut self, flip: u64) -> bool {
        let captured = self.opp & flip != 0;
        *self = Pieces { own: self.opp & !flip, opp: self.own ^ flip };
        captured
    }

    /// Plays at random until the game ends or `moves_max` moves are played; counts them.
    #[inline]
    pub fn rollout(
        &mut self,
        draws: u32,
        moves_max: u32,
        passing: bool,
        rng: &mut Rng,
        processor: Processor,
    ) -> (u32, Option<End>) {
        processor.run(
            #[inline(always)]
            |processor| match draws {
                0 | 1 => self.run(1, moves_max, passing, rng, processor),
                2 => self.run(2, moves_max, passing, rng, processor),
                _ => self.run(draws, moves_max, passing, rng, processor),
            },
        )
    }

    #[inline(always)]
    fn run(
        &mut self,
        draws: u32,
        moves_max: u32,
        passing: bool,
        rng: &mut Rng,
        processor: Processor,
    ) -> (u32, Option<End>) {
        for played in 0..moves_max {
            let flip = self.draw_best(draws, rng, processor);
            if flip == 0 {
                if !passing {
                    return (played, Some(End::Stuck));
                }
                *self = Pieces { own: self.opp, opp: self.own };
                if !self.can_move() {
                    return (played + 1, Some(End::Blocked));
                }
                continue;
            }
            let captured = self.play_flip(flip);
            let mover = connected(self.opp);
            let other = captured && connected(self.own);
            if mover | other {
                return (played + 1, Some(End::Connected { mover, other }));
            }
        }
        (moves_max, None)
    }
}

/// Whether all pieces hang together, side by side or corner to corner.
#[inline(always)]
pub fn connected(pieces: u64) -> bool {
    // A piece without a neighbour is there most of the time, and seen at once.
    if pieces & !neighbours(pieces) != 0 {
        return pieces & (pieces - 1) == 0;
    }
    flood(pieces)
}

#[inline(always)]
fn flood(pieces: u64) -> bool {
    let mut seen = pieces & pieces.wrapping_neg();
    loop {
        let grown = (seen | neighbours(seen)) & pieces;
        if grown == seen {
            return seen == pieces;
        }
        seen = grown;
    }
}

/// The squares next to any of these.
#[inline(always)]
fn neighbours(squares: u64) -> u64 {
    let beside = squares << 1 & !FILE_A | squares >> 1 & !FILE_H;
    let row = squares | beside;
    beside | row << 8 | row >> 8
}

/// The n-th of these pieces, from 0, as a bit.
#[inline(always)]
fn nth_bit(pieces: u64, n: u64, processor: Processor) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if processor.is_wide() {
        // SAFETY: a wide processor has BMI2.
        return unsafe { std::arch::x86_64::_pdep_u64(1 << n, pieces) };
    }
    let mut left = pieces;
    for _ in 0..n {
        left &= left - 1;
    }
    left & left.wrapping_neg()
}
