//! Alpha-beta over turns, one turn deeper each time: principal variation search with a table. Every position is looked at
//! for six, for threats that cannot be stopped and, unless it is at the horizon, for a win by double threats. Where two
//! stones have to stop a double threat there are at most four turns, and they cost no depth.

use super::board::{Board, Covers, NONE};
use super::turns::Turns;
use super::vcdt::{Vcdt, Verdict};
use sortie_core::mix;

/// A win in the evaluation; one more turn costs one.
pub const WIN: i32 = 1_000_000;
/// Above this, a value is a win.
pub const NEAR_WIN: i32 = WIN - 1000;
/// The deepest line, in turns.
const PLY_MAX: i32 = 24;
/// The deepest search, in turns that are not forced.
const DEPTH_MAX: i32 = 20;
/// And that of a turn to which there is no alternative.
const ALONE_DEPTH: i32 = 3;
const TABLE_BITS: u32 = 18;

/// How alpha-beta looks ahead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// What it is worth to be to move, in points of the evaluation.
    pub tempo: i32,
    /// Turns are pairs of so many cells at most.
    pub cells: usize,
    /// The turns looked at one turn before the horizon, and earlier.
    pub width: [usize; 2],
    /// Nodes of the attack search at the horizon, one turn before it, and earlier.
    pub attack_nodes: [u64; 3],
}

impl Default for Params {
    fn default() -> Self {
        Params { tempo: 30, cells: 12, width: [16, 24], attack_nodes: [0, 15, 60] }
    }
}

/// The search with its table and buffers.
#[derive(Debug)]
pub struct LookAhead {
    /// How it looks ahead.
    pub params: Params,
    /// Positions looked at since `begin`.
    pub nodes: u64,
    table: Vec<Known>,
    /// Changes from question to question, so that what is in the table counts for one only.
    salt: u64,
    turns: Turns,
    threats: Vec<[u16; 2]>,
}

/// What is remembered of a position.
#[derive(Debug, Clone, Copy)]
struct Known {
    key: u64,
    turn: [u16; 2],
    value: i32,
    depth: i8,
    bound: Bound,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The best turn, its value for the side to move, and how many turns were looked ahead.
#[derive(Debug, Clone, Copy)]
pub struct Best {
    pub turn: [u16; 2],
    pub value: i32,
    pub depth: u32,
}

/// The search ran out of its limits.
struct Cut;

/// What does not change within a search.
struct Within<'a> {
    vcdt: &'a mut Vcdt,
    over: &'a dyn Fn(u64) -> bool,
}

impl LookAhead {
    pub fn new() -> LookAhead {
        let empty = Known { key: 0, turn: [NONE; 2], value: 0, depth: -1, bound: Bound::Exact };
        LookAhead {
            params: Params::default(),
            nodes: 0,
            table: vec![empty; 1 << TABLE_BITS],
            salt: 0,
            turns: Turns::default(),
            threats: Vec::new(),
        }
    }

    /// Forgets the last question.
    pub fn begin(&mut self) {
        self.nodes = 0;
        self.salt = mix(self.salt + 1);
    }

    /// The best of the first `width` turns, of which there is at least one, as far as can be seen before `over`, which is
    /// told the nodes so far, says so. If all of those lose, the others are looked at as well.
    pub fn best(
        &mut self,
        vcdt: &mut Vcdt,
        board: &mut Board,
        side: usize,
        (turns, mut width): (&mut [[u16; 2]], usize),
        over: &dyn Fn(u64) -> bool,
    ) -> Best {
        let mut within = Within { vcdt, over };
        let mut best = Best { turn: turns[0], value: 0, depth: 0 };
        let mut depth = 0;
        while depth < DEPTH_MAX && !over(self.nodes) {
            let Ok(value) = self.root(board, &mut within, side, &mut turns[..width], depth) else { break };
            best = Best { turn: turns[0], value, depth: depth as u32 + 1 };
            if value < -NEAR_WIN && width < turns.len() {
                width = turns.len();
                continue;
            }
            // One turn that holds is played, whatever it is worth.
            if value.abs() > NEAR_WIN || width == 1 && depth >= ALONE_DEPTH {
                break;
            }
            depth += 1;
        }
        best
    }

    /// Searches the turns to a depth and puts the best one first.
    fn root(
        &mut self,
        board: &mut Board,
        within: &mut Within,
        side: usize,
        turns: &mut [[u16; 2]],
        depth: i32,
    ) -> Result<i32, Cut> {
        let (mut best, mut alpha) = (0, -WIN);
        for (i, &turn) in turns.iter().enumerate() {
            board.play(turn, side);
            let value = self.narrow(board, within, 1 - side, depth, 1, alpha, WIN, i == 0);
            board.undo(turn, side);
            let value = match value {
                Ok(value) => value,
                // What was found at this depth before the end is as good as the move it was tried after.
                Err(Cut) if best > 0 => break,
                Err(Cut) => return Err(Cut),
            };
            if value > alpha || i == 0 {
                (best, alpha) = (i, value);
            }
        }
        turns[..=best].rotate_right(1);
        Ok(alpha)
    }

    /// The value of a turn for the side that has just played it: the first one of a position in full, the others
    /// are first only asked whether they are better.
    #[allow(clippy::too_many_arguments)]
    fn narrow(
        &mut self,
        board: &mut Board,
        within: &mut Within,
        side: usize,
        depth: i32,
        ply: i32,
        alpha: i32,
        beta: i32,
        first: bool,
    ) -> Result<i32, Cut> {
        if !first {
            let value = -self.alpha_beta(board, within, side, depth, ply, -alpha - 1, -alpha)?;
            if value <= alpha || value >= beta {
                return Ok(value);
            }
        }
        self.alpha_beta(board, within, side, depth, ply, -beta, -alpha).map(|value| -value)
    }

    /// The value for `side`, which is to move with two stones.
    #[allow(clippy::too_many_arguments)]
    fn alpha_beta(
        &mut self,
        board: &mut Board,
        within: &mut Within,
        side: usize,
        depth: i32,
        ply: i32,
        mut alpha: i32,
        beta: i32,
    ) -> Result<i32, Cut> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(64) && (within.over)(self.nodes) {
            return Err(Cut);
        }
        if board.threatens(side) {
            return Ok(WIN - ply);
        }
        board.threats(1 - side, &mut self.threats);
        let covers = Covers::of(&self.threats);
        if covers.number >= 3 {
            return Ok(ply + 1 - WIN);
        }
        let forced = covers.number == 2 && ply < PLY_MAX;
        let key = board.key() ^ self.salt.wrapping_add(side as u64);
        let slot = (key >> (64 - TABLE_BITS)) as usize;
        let known = self.table[slot];
        if known.key == key && i32::from(known.depth) >= depth {
            match known.bound {
                Bound::Exact => return Ok(known.value),
                Bound::AtLeast if known.value >= beta => return Ok(known.value),
                Bound::AtMost if known.value <= alpha => return Ok(known.value),
                _ => {}
            }
        }
        let attack_nodes = self.params.attack_nodes[depth.clamp(0, 2) as usize];
        if attack_nodes > 0
            && board.live(side, 3).len() + board.live(side, 2).len() > 3
            && let Verdict::Wins(_) = within.vcdt.search(board, side, attack_nodes)
        {
            let value = WIN - ply - 4;
            self.table[slot] = Known { key, turn: [NONE; 2], value, depth: i8::MAX, bound: Bound::AtLeast };
            return Ok(value);
        }
        if depth <= 0 && !forced {
            return Ok(board.score(side) - board.score(1 - side) + self.params.tempo);
        }
        let mut turns = if forced {
            covers.turns().to_vec()
        } else {
            let width = self.params.width[usize::from(depth > 1)];
            self.turns.list(board, side, 2, self.params.cells, width)
        };
        if known.key == key
            && let Some(at) = turns.iter().position(|turn| *turn == known.turn)
        {
            turns[..=at].rotate_right(1);
        }
        let (mut best, mut best_turn, from) = (-WIN, [NONE; 2], alpha);
        for (i, turn) in turns.into_iter().enumerate() {
            board.play(turn, side);
            let next = if forced { depth } else { depth - 1 };
            let value = self.narrow(board, within, 1 - side, next, ply + 1, alpha, beta, i == 0);
            board.undo(turn, side);
            let value = value?;
            if value > best {
                (best, best_turn) = (value, turn);
                alpha = alpha.max(value);
                if alpha >= beta {
                    break;
                }
            }
        }
        let bound = if best >= beta {
            Bound::AtLeast
        } else if best <= from {
            Bound::AtMost
        } else {
            Bound::Exact
        };
        self.table[slot] = Known { key, turn: best_turn, value: best, depth: depth as i8, bound };
        Ok(best)
    }
}
