//! The engine: a turn for a position, and what the position is worth. In this order: complete six; win by continuous
//! double threats; show that everything loses, or find what holds against the other side's threats; and if nothing is
//! decided, alpha-beta over turns, whose candidates are pairs of the cells that matter most to either side.
//!
//! It is what NCTU6 was to its job-level system: it takes a list of turns that are not to be considered, and answers
//! with one of thirteen statuses. What it calls proved is proved, and comes with its proof.

use super::attack::sorted;
use super::board::{Board, Covers, NONE, Windows, hits};
use super::proof::{Loss, Proof};
use super::rules::{Connect6, State};
use super::status::Status;
use super::vcdt::{Vcdt, Verdict};
use super::zone::{Attempt, Effort, Zone, prove_loss};
use sortie_core::{Game, Side, mix};
use std::sync::Arc;

/// A win in the evaluation of alpha-beta; one more turn costs one.
const WIN: i32 = 1_000_000;
/// Above this, a value is a win found by alpha-beta.
const NEAR_WIN: i32 = WIN - 1000;
/// The deepest line, in turns.
const PLY_MAX: i32 = 24;
/// One attack search within an attempt to prove a loss has no more nodes than this.
const ATTEMPT_NODES_MAX: u64 = 5000;
/// So many turns are tried for a win without double threats, each attack search with so many nodes.
const QUIET_TURNS: usize = 16;
const QUIET_NODES: u64 = 200;
/// The attack search of a position that is asked about has no more nodes than this, however much time there is.
const ATTACK_NODES_MAX: u64 = 50_000;

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
        Params { tempo: 30, cells: 8, width: [10, 14], attack_nodes: [0, 15, 60] }
    }
}

/// What an answer may cost.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Positions, of attack searches and of alpha-beta together.
    pub nodes_max: u64,
    /// Asked now and then: the share of its time that is spent. 1 ends the search.
    pub spent: &'a dyn Fn() -> f64,
}

impl Limits<'_> {
    /// So many positions, however long they take.
    pub fn nodes(nodes_max: u64) -> Limits<'static> {
        Limits { nodes_max, spent: &|| 0.0 }
    }
}

/// Why an answer is certain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The side to move wins like this.
    Win(Proof),
    /// The side to move has lost, but for the turns that were excluded.
    Loss(Box<Loss>),
    /// The side to move wins by this turn: the other has lost then.
    Quiet([u16; 2], Box<Loss>),
}

/// What the engine says about a position.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The turn: one or two cells in the order to play them. None where there is no move, or all are excluded.
    pub turn: Vec<u16>,
    /// How the position stands. With turns excluded: how it would stand without them.
    pub status: Status,
    /// The value for the first side, in `0..=1`.
    pub value: f64,
    /// The status is proved.
    pub evidence: Option<Evidence>,
    /// Positions looked at.
    pub nodes: u64,
    /// Turns that alpha-beta looked ahead.
    pub depth: u32,
}

impl Answer {
    /// Whether the value is proved.
    pub fn is_proved(&self) -> bool {
        self.evidence.is_some() || matches!(self.status, Status::BlackWins | Status::WhiteWins)
    }
}

/// The engine with its buffers. Answers depend on nothing but the question.
#[derive(Debug)]
pub struct Engine {
    /// How it looks ahead.
    pub params: Params,
    windows: Arc<Windows>,
    vcdt: Vcdt,
    nodes: u64,
    nodes_max: u64,
    table: Vec<Known>,
    /// Changes from question to question, so that what is in the table counts for one only.
    salt: u64,
    scores: Vec<i32>,
    order: Vec<u16>,
    threats: Vec<[u16; 2]>,
}

/// What alpha-beta remembers of a position.
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

const TABLE_BITS: u32 = 16;

/// The search ran out of its limits.
struct Cut;

impl Engine {
    /// An engine for boards of `size` times `size`.
    pub fn new(size: usize) -> Engine {
        let empty = Known { key: 0, turn: [NONE; 2], value: 0, depth: -1, bound: Bound::Exact };
        Engine {
            params: Params::default(),
            windows: Arc::new(Windows::new(size)),
            vcdt: Vcdt::default(),
            nodes: 0,
            nodes_max: 0,
            table: vec![empty; 1 << TABLE_BITS],
            salt: 0,
            scores: Vec::new(),
            order: Vec::new(),
            threats: Vec::new(),
        }
    }

    /// The best turn it finds for the side to move that is not `excluded`, within `limits`. Turns are compared without
    /// their order; one whose first stone wins, or that has only one, is that stone and `u16::MAX`.
    pub fn answer(
        &mut self,
        game: &Connect6,
        state: &State,
        excluded: &[[u16; 2]],
        limits: Limits,
    ) -> Answer {
        if let Some(outcome) = game.outcome(state) {
            let status = match outcome {
                sortie_core::Outcome::Win(side) => Status::won_by(side),
                sortie_core::Outcome::Draw => Status::Stable,
            };
            return Answer {
                turn: Vec::new(),
                status,
                value: outcome.value(),
                evidence: None,
                nodes: 0,
                depth: 0,
            };
        }
        let mut board = self.board(game, state);
        let mut excluded: Vec<[u16; 2]> = excluded.iter().map(|&turn| sorted(turn)).collect();
        excluded.sort_unstable();
        let asked = Question {
            side: usize::from(state.to_move() == Side::Second),
            stones: state.stones_left().min(u32::from(board.cells()) - state.played() as u32),
            excluded: &excluded,
            limits,
        };
        let before = self.vcdt.visited;
        (self.nodes, self.nodes_max) = (0, limits.nodes_max);
        self.salt = mix(self.salt + 1);
        let mut answer = self.think(&mut board, &asked);
        answer.nodes = self.nodes + self.vcdt.visited - before;
        answer
    }

    /// A position with its windows counted.
    pub(super) fn board(&self, game: &Connect6, state: &State) -> Board {
        Board::of(self.windows.clone(), game, state)
    }

    /// The search for attacks.
    pub(super) fn vcdt(&mut self) -> &mut Vcdt {
        &mut self.vcdt
    }

    fn think(&mut self, board: &mut Board, asked: &Question) -> Answer {
        let middle = board.cells() / 2;
        if board.key() == 0 && !asked.excluded.contains(&[middle, NONE]) {
            return Answer::guess([middle, NONE], Status::Stable, 0);
        }
        let (side, stones) = (asked.side, asked.stones);
        let mover = if side == 0 { Side::First } else { Side::Second };
        let share = |part: u64| (asked.limits.nodes_max / part).max(1);
        let spent = asked.limits.spent;
        let over = || spent() > 0.3;
        let verdict =
            self.vcdt.search_turn(board, side, stones, asked.excluded, share(3).min(ATTACK_NODES_MAX), &over);
        if let Verdict::Wins(proof) = verdict {
            let turn = proof.steps[0].turn;
            return Answer::certain(turn, Status::won_by(mover), Evidence::Win(proof));
        }
        let over = || spent() > 0.5;
        let effort = Effort { each: share(30).min(ATTEMPT_NODES_MAX), total: share(3), over: &over };
        let attempt = prove_loss(&mut self.vcdt, board, side, stones, asked.excluded, effort);
        let zone = match attempt {
            Attempt::Lost(loss) => {
                let turn = self.hardest(board, asked, &loss);
                return Answer::certain(turn, Status::won_by(mover.other()), Evidence::Loss(Box::new(loss)));
            }
            Attempt::Held(turn, zone) => Some((turn, zone)),
            Attempt::Open => None,
        };
        if let Some((turn, loss)) = self.quiet_win(board, asked, zone.as_ref()) {
            let evidence = Evidence::Quiet(turn, Box::new(loss));
            return Answer::certain(turn, Status::won_by(mover), evidence);
        }
        self.look_ahead(board, asked, zone)
    }

    /// A turn without double threats after which everything loses.
    fn quiet_win(
        &mut self,
        board: &mut Board,
        asked: &Question,
        zone: Option<&([u16; 2], Zone)>,
    ) -> Option<([u16; 2], Loss)> {
        let side = asked.side;
        let over = || (asked.limits.spent)() > 0.6;
        let (each, end) = (QUIET_NODES, self.vcdt.visited + asked.limits.nodes_max / 6);
        for turn in self.candidates(board, asked, zone).into_iter().take(QUIET_TURNS) {
            let effort = Effort { each, total: end.saturating_sub(self.vcdt.visited), over: &over };
            if effort.total == 0 || over() {
                return None;
            }
            board.play(turn, side);
            let attempt = prove_loss(&mut self.vcdt, board, 1 - side, 2, &[], effort);
            board.undo(turn, side);
            if let Attempt::Lost(loss) = attempt {
                return Some((turn, loss));
            }
        }
        None
    }

    /// The turn of a lost position that takes the longest proof to refute.
    fn hardest(&mut self, board: &mut Board, asked: &Question, loss: &Loss) -> [u16; 2] {
        let singles = loss.stones.iter().map(|(cell, proof)| ([*cell, NONE], proof));
        let turns = loss.turns.iter().map(|(turn, proof)| (*turn, proof));
        let legal = turns.chain(singles.filter(|_| asked.stones == 1));
        let longest = legal.max_by_key(|(_, proof)| proof.steps.len()).map(|(turn, _)| turn);
        longest.or_else(|| self.candidates(board, asked, None).first().copied()).unwrap_or([NONE; 2])
    }

    /// Alpha-beta, one turn deeper each time, until the limits are reached.
    fn look_ahead(&mut self, board: &mut Board, asked: &Question, zone: Option<([u16; 2], Zone)>) -> Answer {
        let side = asked.side;
        let mut turns = self.candidates(board, asked, zone.as_ref());
        let attacks =
            [0, 1].map(|side| !board.live(side, 3).is_empty()).into_iter().filter(|can| *can).count();
        let Some(&first) = turns.first() else {
            return Answer::guess([NONE; 2], Status::of(0, attacks), 0);
        };
        // What loses at once to threats is not worth a look ahead, unless everything does.
        if zone.is_some() {
            let nodes_max = (asked.limits.nodes_max / 100).clamp(20, 2000);
            let mut refuted = Vec::new();
            for &turn in &turns {
                if self.is_over(asked) {
                    break;
                }
                board.play(turn, side);
                if matches!(self.vcdt.search(board, 1 - side, nodes_max), Verdict::Wins(_)) {
                    refuted.push(turn);
                }
                board.undo(turn, side);
            }
            if refuted.len() < turns.len() {
                turns.retain(|turn| !refuted.contains(turn));
            }
        }
        let (mut best, mut value, mut depth) = (turns.first().copied().unwrap_or(first), 0, 0);
        while depth < 12 && !self.is_over(asked) {
            let Ok((turn, found)) = self.root(board, asked, &mut turns, depth) else { break };
            (best, value) = (turn, found);
            depth += 1;
            if value.abs() > NEAR_WIN || turns.len() == 1 {
                break;
            }
        }
        let points = if side == 0 { value } else { -value };
        let mut answer = Answer::guess(best, Status::of(points.clamp(-5000, 5000), attacks), depth as u32);
        // Within a status the points still tell better from worse.
        answer.value = (0.5 + 0.5 * f64::from(points) / (150.0 + f64::from(points.abs()))).clamp(0.01, 0.99);
        answer
    }

    fn root(
        &mut self,
        board: &mut Board,
        asked: &Question,
        turns: &mut [[u16; 2]],
        depth: i32,
    ) -> Result<([u16; 2], i32), Cut> {
        let (mut best, mut alpha) = (0, -WIN);
        for (i, &turn) in turns.iter().enumerate() {
            board.play(turn, asked.side);
            let value = self.alpha_beta(board, asked, 1 - asked.side, depth, 1, -WIN, -alpha);
            board.undo(turn, asked.side);
            let value = match value {
                Ok(value) => -value,
                // What was found at this depth before the end is as good as the move it was tried after.
                Err(Cut) if i > 1 && best > 0 => break,
                Err(Cut) => return Err(Cut),
            };
            if value > alpha || i == 0 {
                (best, alpha) = (i, value);
            }
        }
        turns[..=best].rotate_right(1);
        Ok((turns[0], alpha))
    }

    /// The value for `side`, which is to move with two stones.
    #[allow(clippy::too_many_arguments)]
    fn alpha_beta(
        &mut self,
        board: &mut Board,
        asked: &Question,
        side: usize,
        depth: i32,
        ply: i32,
        mut alpha: i32,
        beta: i32,
    ) -> Result<i32, Cut> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(64) && self.is_over(asked) {
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
        let attack_nodes = self.params.attack_nodes[depth.clamp(0, 2) as usize];
        if attack_nodes > 0
            && board.live(side, 3).len() + board.live(side, 2).len() > 3
            && let Verdict::Wins(_) = self.vcdt.search(board, side, attack_nodes)
        {
            return Ok(WIN - ply - 4);
        }
        if depth <= 0 && !forced {
            return Ok(board.score(side) - board.score(1 - side) + self.params.tempo);
        }
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
        let mut turns = if forced {
            covers.turns().to_vec()
        } else {
            let width = self.params.width[usize::from(depth > 1)];
            self.turns(board, side, 2, self.params.cells, width)
        };
        if known.key == key
            && let Some(at) = turns.iter().position(|turn| *turn == known.turn)
        {
            turns[..=at].rotate_right(1);
        }
        let (mut best, mut best_turn, from) = (-WIN, [NONE; 2], alpha);
        for turn in turns {
            board.play(turn, side);
            let next = if forced { depth } else { depth - 1 };
            let value = self.alpha_beta(board, asked, 1 - side, next, ply + 1, -beta, -alpha);
            board.undo(turn, side);
            let value = -value?;
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

    /// The turns worth a look at the root: enough of them to answer even when many are excluded.
    fn candidates(
        &mut self,
        board: &Board,
        asked: &Question,
        zone: Option<&([u16; 2], Zone)>,
    ) -> Vec<[u16; 2]> {
        let (side, stones) = (asked.side, asked.stones);
        let width = 40;
        let mut turns = self.turns(board, side, stones, 16, 120);
        let allowed = |turns: &mut Vec<[u16; 2]>| {
            // Had a stone that wins alone not been excluded, nobody would look for candidates.
            let wins = |cell: u16| board.wins_alone(cell, side);
            turns.retain(|turn| {
                asked.excluded.binary_search(&sorted(*turn)).is_err() && !turn.iter().any(|&cell| wins(cell))
            });
            if let Some((held, zone)) = zone {
                // Stones outside the zone stop nothing.
                turns.retain(|turn| turn.iter().any(|&cell| zone.has(cell)));
                turns.retain(|turn| turn != held);
                turns.insert(0, *held);
            }
            turns.truncate(width);
        };
        allowed(&mut turns);
        if turns.is_empty() {
            turns = self.turns(board, side, stones, usize::MAX, usize::MAX);
            allowed(&mut turns);
        }
        turns
    }

    /// The turns of a side, the most promising first: pairs of the `cells` best cells, at most `width` of them.
    fn turns(
        &mut self,
        board: &Board,
        side: usize,
        stones: u32,
        cells: usize,
        width: usize,
    ) -> Vec<[u16; 2]> {
        self.weigh(board, side);
        board.threats(1 - side, &mut self.threats);
        let (scores, order, threats) = (&self.scores, &mut self.order, &self.threats);
        order.clear();
        order.extend((0..board.cells()).filter(|&cell| board.is_empty(cell)));
        // What stops a threat belongs to the best, whatever it scores.
        let stops_some = |cell: u16| threats.iter().any(|threat| threat.contains(&cell));
        let rank = |cell: u16| (!stops_some(cell), -scores[usize::from(cell)], cell);
        let cells = cells.min(order.len());
        if cells < order.len() {
            order.select_nth_unstable_by_key(cells, |&cell| rank(cell));
            order.truncate(cells);
        }
        order.sort_unstable_by_key(|&cell| rank(cell));
        if stones == 1 || order.len() == 1 {
            order.sort_by_key(|&cell| !hits(threats, [cell, NONE]));
            return order.iter().map(|&cell| [cell, NONE]).collect();
        }
        let mut turns: Vec<(bool, i32, [u16; 2])> = Vec::new();
        for (i, &a) in order.iter().enumerate() {
            for &b in &order[i + 1..] {
                let score = scores[usize::from(a)] + scores[usize::from(b)] + together(board, side, a, b);
                turns.push((!hits(threats, [a, b]), -score, sorted([a, b])));
            }
        }
        turns.sort_unstable();
        // As long as there are turns that stop what threatens, the others only lose.
        let stopping = turns.iter().filter(|turn| !turn.0).count();
        turns.truncate(if stopping > 0 { stopping.min(width) } else { width });
        turns.into_iter().map(|turn| turn.2).collect()
    }

    /// What each cell is worth to a side, by the live windows of both.
    fn weigh(&mut self, board: &Board, side: usize) {
        self.scores.clear();
        self.scores.resize(usize::from(board.cells()), 0);
        for (of, worth) in [(side, OWN), (1 - side, OTHER)] {
            for (stones, points) in worth.into_iter().enumerate().skip(2) {
                for &window in board.live(of, stones) {
                    let (empty, count) = board.empties(window);
                    for &cell in &empty[..count] {
                        self.scores[usize::from(cell)] += points;
                    }
                }
            }
        }
        // Windows with one stone are in no list; they only matter where there is little else.
        let few =
            board.live(0, 2).len() + board.live(1, 2).len() + board.live(0, 3).len() + board.live(1, 3).len();
        if few < 40 {
            let (size, middle) = (board.size() as i32, board.size() as i32 / 2);
            for cell in 0..board.cells() {
                let (column, row) = (i32::from(cell) % size, i32::from(cell) / size);
                let mut score = i32::from((column - middle).abs().max((row - middle).abs()) < 2);
                for &window in board.through(cell) {
                    let counts = board.counts(window);
                    score += i32::from(counts[side] == 1 && counts[1 - side] == 0) * 2;
                    score += i32::from(counts[1 - side] == 1 && counts[side] == 0);
                }
                self.scores[usize::from(cell)] += score;
            }
        }
    }

    fn is_over(&self, asked: &Question) -> bool {
        self.nodes > self.nodes_max || (asked.limits.spent)() >= 1.0
    }
}

/// What a live window with so many stones adds to a cell in it, for the side whose it is and to stop it.
const OWN: [i32; 6] = [0, 2, 12, 32, 60, 60];
const OTHER: [i32; 6] = [0, 1, 10, 28, 100, 100];

/// What two cells are worth together beyond their sum: two stones in a window of one's own do more than twice as much,
/// and one is enough to close a window of the other's.
fn together(board: &Board, side: usize, a: u16, b: u16) -> i32 {
    let size = board.size() as i32;
    let (dc, dr) = (i32::from(a) % size - i32::from(b) % size, i32::from(a) / size - i32::from(b) / size);
    if dc.abs().max(dr.abs()) > 5 || dc != 0 && dr != 0 && dc.abs() != dr.abs() {
        return 0;
    }
    let mut sum = 0;
    for &window in board.through(a) {
        let counts = board.counts(window).map(usize::from);
        if board.cells_of(window).contains(&b) {
            if counts[1 - side] == 0 {
                sum += OWN[counts[side].min(4) + 1] - OWN[counts[side].min(5)];
            } else if counts[side] == 0 {
                sum -= OTHER[counts[1 - side].min(5)];
            }
        }
    }
    sum
}

/// What was asked.
struct Question<'a> {
    side: usize,
    stones: u32,
    /// In order.
    excluded: &'a [[u16; 2]],
    limits: Limits<'a>,
}

impl Answer {
    fn certain(turn: [u16; 2], status: Status, evidence: Evidence) -> Answer {
        Answer { evidence: Some(evidence), ..Answer::guess(turn, status, 0) }
    }

    fn guess(turn: [u16; 2], status: Status, depth: u32) -> Answer {
        let turn = turn.into_iter().filter(|&cell| cell != NONE).collect();
        Answer { turn, status, value: status.value(), evidence: None, nodes: 0, depth }
    }
}
