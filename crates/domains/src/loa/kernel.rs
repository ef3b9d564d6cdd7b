//! The rules on two bare bit boards, as the side to move sees them, and the playout that needs nothing else.
//!
//! Square 0 is a1, 7 is h1, 63 is h8. A move is a piece and one of eight directions: it goes as far as there are pieces
//! on its line, so each such pair has at most one legal move. Drawing pairs uniformly and throwing the illegal ones
//! away is therefore exactly uniform over the legal moves, without listing them.

use super::knowledge;
use sortie_core::Rng;

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

/// Pairs are drawn in batches and the first legal one is taken: that is one branch, nearly always the same way, where
/// stopping at the first would be guessed wrong at every move. About three pairs in ten are legal.
const BATCHES: u32 = 16;

const FILE_A: u64 = 0x0101_0101_0101_0101;
const FILE_H: u64 = FILE_A << 7;
/// Columns and rows of a step in directions 0 to 3; 4 to 7 are their opposites. All four lead to higher squares.
const STEPS: [(i32, i32); 4] = [(1, 0), (0, 1), (1, 1), (-1, 1)];

/// `LINES[square][axis]` is the whole line through the square.
static LINES: [[u64; 4]; 64] = lines();
/// `ROOM[square][direction]` is the number of squares to the edge.
static ROOM: [[u8; 8]; 64] = room();
/// `BETWEEN[axis][n]` are the squares 1 to n - 1 steps from square 0: shifted, what a move over n squares passes.
static BETWEEN: [[u64; 16]; 4] = between();
/// What a step in a direction adds to the square.
static STRIDES: [i32; 8] = [1, 8, 9, 7, -1, -8, -9, -7];

const fn room() -> [[u8; 8]; 64] {
    let mut table = [[0; 8]; 64];
    let mut i = 0;
    while i < 64 * 8 {
        let (square, direction) = (i / 8, i % 8);
        let (x, y) = STEPS[direction % 4];
        let sign = if direction < 4 { 1 } else { -1 };
        let (mut column, mut row) = (square as i32 % 8 + sign * x, square as i32 / 8 + sign * y);
        while column >= 0 && column < 8 && row >= 0 && row < 8 {
            table[square][direction] += 1;
            column += sign * x;
            row += sign * y;
        }
        i += 1;
    }
    table
}

const fn lines() -> [[u64; 4]; 64] {
    let room = room();
    let mut table = [[0; 4]; 64];
    let mut i = 0;
    while i < 64 * 4 {
        let (square, axis) = (i / 4, i % 4);
        let mut at = square as i32 - room[square][axis + 4] as i32 * STRIDES[axis];
        let last = square as i32 + room[square][axis] as i32 * STRIDES[axis];
        while at <= last {
            table[square][axis] |= 1 << at;
            at += STRIDES[axis];
        }
        i += 1;
    }
    table
}

const fn between() -> [[u64; 16]; 4] {
    let mut table = [[0; 16]; 4];
    let mut i = 0;
    while i < 4 * 8 {
        let (axis, n) = (i / 8, i % 8);
        let mut step = 1;
        while step < n {
            table[axis][n] |= 1 << (step as i32 * STRIDES[axis]);
            step += 1;
        }
        i += 1;
    }
    table
}

impl Pieces {
    /// The move of the piece on `from` in a direction, or `PASS` if it is not legal. Without a branch.
    #[inline(always)]
    fn target(self, from: usize, direction: usize) -> Move {
        let (from, direction) = (from & 63, direction & 7);
        let axis = direction & 3;
        let n = ((self.own | self.opp) & LINES[from][axis]).count_ones();
        // Beyond the edge this is nonsense, hence the masks.
        let to = (from as i32 + STRIDES[direction] * n as i32) as u32 & 63;
        let passed = BETWEEN[axis][n as usize & 15] << (to.min(from as u32) & 63);
        let legal =
            (n <= u32::from(ROOM[from][direction])) & (passed & self.opp == 0) & (self.own >> to & 1 == 0);
        if legal { Move((from as u32 | to << 6) as u16) } else { Move::PASS }
    }

    /// Calls `f` with every legal move, by piece and direction, until it says stop; tells whether it did.
    #[inline]
    fn any_move(self, mut f: impl FnMut(Move) -> bool) -> bool {
        let mut pieces = self.own;
        while pieces != 0 {
            let from = pieces.trailing_zeros() as usize;
            pieces &= pieces - 1;
            for direction in 0..8 {
                let mv = self.target(from, direction);
                if mv != Move::PASS && f(mv) {
                    return true;
                }
            }
        }
        false
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
    #[inline(always)]
    pub fn draw(self, rng: &mut Rng) -> Option<Move> {
        let pairs = 8 * u64::from(self.own.count_ones());
        for _ in 0..BATCHES {
            let (a, b) = (rng.bits(), rng.bits());
            // 32 bits for a number below 97: the bias is below one in forty million.
            let drawn = [a >> 32, a & 0xffff_ffff, b >> 32, b & 0xffff_ffff].map(|bits| {
                let pair = bits * pairs >> 32;
                let from = nth_bit(self.own, pair >> 3);
                self.target(from, pair as usize & 7)
            });
            let first = |a: Move, b: Move| if a != Move::PASS { a } else { b };
            let mv = first(first(drawn[0], drawn[1]), first(drawn[2], drawn[3]));
            if mv != Move::PASS {
                return Some(mv);
            }
        }
        self.draw_listed(rng)
    }

    /// The same where moves are rare.
    #[cold]
    #[inline(never)]
    fn draw_listed(self, rng: &mut Rng) -> Option<Move> {
        let mut moves = Vec::new();
        self.list(&mut moves);
        if moves.is_empty() { None } else { Some(moves[rng.below(moves.len())]) }
    }

    /// The most appealing of so many drawn moves, the first of equals.
    #[inline(always)]
    fn draw_best(self, draws: u32, rng: &mut Rng) -> Option<Move> {
        let mut best = self.draw(rng)?;
        for _ in 1..draws {
            let other = self.draw(rng)?;
            if knowledge::appeal(self.opp, other) > knowledge::appeal(self.opp, best) {
                best = other;
            }
        }
        Some(best)
    }

    /// Plays a move; the sides change places. True if a piece was captured.
    #[inline(always)]
    pub fn play(&mut self, mv: Move) -> bool {
        let to = 1 << mv.to();
        let captured = self.opp & to != 0;
        let own = self.own ^ (1 << mv.from() | to);
        *self = Pieces { own: self.opp & !to, opp: own };
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
    ) -> (u32, Option<End>) {
        match draws {
            0 | 1 => self.run(1, moves_max, passing, rng),
            2 => self.run(2, moves_max, passing, rng),
            _ => self.run(draws, moves_max, passing, rng),
        }
    }

    #[inline(always)]
    fn run(&mut self, draws: u32, moves_max: u32, passing: bool, rng: &mut Rng) -> (u32, Option<End>) {
        for played in 0..moves_max {
            let Some(mv) = self.draw_best(draws, rng) else {
                if !passing {
                    return (played, Some(End::Stuck));
                }
                *self = Pieces { own: self.opp, opp: self.own };
                if !self.can_move() {
                    return (played + 1, Some(End::Blocked));
                }
                continue;
            };
            let captured = self.play(mv);
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

/// The square of the n-th of these pieces, from 0.
#[inline(always)]
fn nth_bit(pieces: u64, n: u64) -> usize {
    #[cfg(all(target_arch = "x86_64", target_feature = "bmi2"))]
    {
        // SAFETY: the build has the instruction switched on.
        let bit = unsafe { std::arch::x86_64::_pdep_u64(1 << n, pieces) };
        bit.trailing_zeros() as usize
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "bmi2")))]
    {
        let mut left = pieces;
        for _ in 0..n {
            left &= left - 1;
        }
        left.trailing_zeros() as usize
    }
}
