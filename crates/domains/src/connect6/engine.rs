//! The engine: a turn for a position, and what the position is worth. In this order: complete six; win by continuous
//! double threats; show that everything loses, or find what holds against the other side's threats; and if nothing is
//! decided, alpha-beta over turns, whose candidates are pairs of the cells that matter most to either side.
//!
//! It is what NCTU6 was to its job-level system: it takes a list of turns that are not to be considered, and answers
//! with one of thirteen statuses. What it calls proved is proved, and comes with its proof.

use super::attack::sorted;
use super::board::{Board, NONE, Windows};
use super::defence::defend;
use super::lookahead::{LookAhead, Params};
use super::proof::{Loss, Proof};
use super::rules::{Connect6, State};
use super::status::Status;
use super::turns::Turns;
use super::vcdt::{Vcdt, Verdict};
use super::zone::{Attempt, Effort, Zone, prove_loss};
use sortie_core::{Game, Side};
use std::sync::Arc;

/// Turns at the root are pairs of so many cells, and so many of them are looked ahead from.
const CELLS: usize = 20;
const WIDTH: usize = 40;
/// One attack search within an attempt to prove a loss has no more nodes than this.
const ATTEMPT_NODES_MAX: u64 = 5000;
/// So many turns are tried for a win without double threats, each attack search with so many nodes.
const QUIET_TURNS: usize = 16;
const QUIET_NODES: u64 = 200;
/// The attack search of a position that is asked about has no more nodes than this, however much time there is.
const ATTACK_NODES_MAX: u64 = 50_000;

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
    windows: Arc<Windows>,
    vcdt: Vcdt,
    turns: Turns,
    ahead: LookAhead,
}

impl Engine {
    /// An engine for boards of `size` times `size`.
    pub fn new(size: usize) -> Engine {
        Engine {
            windows: Arc::new(Windows::new(size)),
            vcdt: Vcdt::default(),
            turns: Turns::default(),
            ahead: LookAhead::new(),
        }
    }

    /// How it looks ahead.
    pub fn params(&mut self) -> &mut Params {
        &mut self.ahead.params
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
        self.ahead.begin();
        let mut answer = self.think(&mut board, &asked);
        answer.nodes = self.ahead.nodes + self.vcdt.visited - before;
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
        let nodes = asked.part(3).min(ATTACK_NODES_MAX);
        let verdict =
            self.vcdt.search_turn(board, side, stones, asked.excluded, nodes, &|| asked.spent() > 0.2);
        if let Verdict::Wins(proof) = verdict {
            let turn = proof.steps[0].turn;
            return Answer::certain(turn, Status::won_by(mover), Evidence::Win(proof));
        }
        let (mut turns, mut width) = (self.candidates(board, asked), WIDTH);
        if let Some(zone) = self.danger(board, asked) {
            let over = || asked.spent() > 0.5;
            let effort =
                Effort { each: asked.part(30).min(ATTEMPT_NODES_MAX), total: asked.part(3), over: &over };
            let defence = defend(&mut self.vcdt, board, side, &zone, &turns, effort);
            let untried = turns.split_off(defence.tried);
            if !defence.holds.is_empty() {
                width = defence.holds.len();
                turns = defence.holds;
                turns.extend(untried);
            } else {
                // What was tried loses; there may have been no time for all.
                if !untried.is_empty() {
                    turns = untried;
                }
                let over = || asked.spent() > 0.6;
                let effort = Effort { over: &over, ..effort };
                match prove_loss(&mut self.vcdt, board, side, stones, asked.excluded, effort) {
                    Attempt::Lost(loss) => {
                        let turn = self.hardest(board, asked, &loss);
                        let evidence = Evidence::Loss(Box::new(loss));
                        return Answer::certain(turn, Status::won_by(mover.other()), evidence);
                    }
                    Attempt::Held(turn, _) => {
                        width = 1;
                        turns.retain(|other| *other != turn);
                        turns.insert(0, turn);
                    }
                    Attempt::Open => {}
                }
            }
        }
        let width = width.min(turns.len());
        if let Some((turn, loss)) = self.quiet_win(board, asked, &turns[..width]) {
            let evidence = Evidence::Quiet(turn, Box::new(loss));
            return Answer::certain(turn, Status::won_by(mover), evidence);
        }
        self.look_ahead(board, asked, turns, width)
    }

    /// The zone of the attack that wins if the side to move passes.
    fn danger(&mut self, board: &mut Board, asked: &Question) -> Option<Zone> {
        let (other, nodes) = (1 - asked.side, asked.part(30).min(ATTEMPT_NODES_MAX));
        if board.winning_turns(asked.side, asked.stones).next().is_some() {
            return None;
        }
        match self.vcdt.search_turn(board, other, 2, &[], nodes, &|| asked.spent() > 0.3) {
            Verdict::Wins(pass) => Some(Zone::of(board, other, &pass, asked.stones as usize)),
            _ => None,
        }
    }

    /// A turn without double threats after which everything loses.
    fn quiet_win(
        &mut self,
        board: &mut Board,
        asked: &Question,
        turns: &[[u16; 2]],
    ) -> Option<([u16; 2], Loss)> {
        let side = asked.side;
        let end = self.vcdt.visited + asked.part(6);
        let until = (asked.spent() + 0.1).min(0.6);
        let over = || asked.spent() > until;
        for &turn in turns.iter().take(QUIET_TURNS) {
            let total = end.saturating_sub(self.vcdt.visited);
            if total == 0 || over() {
                return None;
            }
            board.play(turn, side);
            let effort = Effort { each: QUIET_NODES, total, over: &over };
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
        longest.or_else(|| self.candidates(board, asked).first().copied()).unwrap_or([NONE; 2])
    }

    /// What alpha-beta says of these turns: of the first `width` of them, and of the others if all of those lose.
    fn look_ahead(
        &mut self,
        board: &mut Board,
        asked: &Question,
        mut turns: Vec<[u16; 2]>,
        width: usize,
    ) -> Answer {
        let attacks = [0, 1].into_iter().filter(|&side| !board.live(side, 3).is_empty()).count();
        if turns.is_empty() {
            return Answer::guess([NONE; 2], Status::of(0, attacks), 0);
        }
        let over = |nodes: u64| nodes > asked.limits.nodes_max || asked.spent() >= 1.0;
        let best = self.ahead.best(&mut self.vcdt, board, asked.side, (&mut turns, width), &over);
        let points = if asked.side == 0 { best.value } else { -best.value };
        let mut answer = Answer::guess(best.turn, Status::of(points.clamp(-5000, 5000), attacks), best.depth);
        // Within a status the points still tell better from worse.
        answer.value = (0.5 + 0.5 * f64::from(points) / (150.0 + f64::from(points.abs()))).clamp(0.01, 0.99);
        answer
    }

    /// The turns worth a look at the root, the most promising first, and some even when nearly all are excluded.
    fn candidates(&mut self, board: &Board, asked: &Question) -> Vec<[u16; 2]> {
        let (side, stones) = (asked.side, asked.stones);
        // Had a stone that wins alone not been excluded, nobody would look for candidates.
        let allowed = |turn: &[u16; 2]| {
            asked.excluded.binary_search(&sorted(*turn)).is_err()
                && !turn.iter().any(|&cell| board.wins_alone(cell, side))
        };
        let mut turns = self.turns.list(board, side, stones, CELLS, usize::MAX);
        turns.retain(allowed);
        if turns.is_empty() {
            turns = self.turns.list(board, side, stones, usize::MAX, usize::MAX);
            turns.retain(allowed);
        }
        turns
    }
}

/// What was asked.
struct Question<'a> {
    side: usize,
    stones: u32,
    /// In order.
    excluded: &'a [[u16; 2]],
    limits: Limits<'a>,
}

impl Question<'_> {
    /// The share of its time that is spent.
    fn spent(&self) -> f64 {
        (self.limits.spent)()
    }

    /// One of so many parts of the nodes.
    fn part(&self, parts: u64) -> u64 {
        (self.limits.nodes_max / parts).max(1)
    }
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
