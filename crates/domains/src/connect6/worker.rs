//! The engine as a worker for job trees, as NCTU6 was in the paper. The tree plays single stones and the engine thinks in
//! turns, so a list of stones that are left out means two things. For the move to suggest it means every turn with such
//! a stone: else each answer would be the best stone again, played second. For a claim that all is lost it means what the
//! tree means by it: turns of two such stones, because with one of them the other can be played first.

use super::argument::turns_within;
use super::attack::sorted;
use super::board::{Board, NONE};
use super::engine::{Answer as Found, Engine, Evidence, Limits};
use super::proof::{check, check_loss};
use super::rules::{Connect6, State};
use super::zone::{Attempt, Effort, prove_loss};
use sortie_core::exact::{Answer, AnyWorker, Asked, Bounds, Claim, Job, Partial, Status, Trust, Value};
use sortie_core::record::legal_texts;
use sortie_core::{Domain, Game, Outcome, PlayError, ReplayError, Side};
use std::collections::HashMap;
use std::sync::Arc;

/// Second stones that are remembered.
const SECONDS_MAX: usize = 100_000;
/// Of the nodes of a job so many parts go to the claim that everything else is lost.
const CLAIM_PART: u64 = 2;

/// The engine, and the second stones of the turns it has suggested.
pub struct EngineWorker {
    game: Arc<Connect6>,
    engine: Engine,
    /// By the position after the first stone: the turn was thought about as a whole, so the second needs no thought.
    seconds: HashMap<State, (u16, Status, f64)>,
}

impl EngineWorker {
    /// A worker that has seen nothing.
    pub fn new(game: Arc<Connect6>) -> EngineWorker {
        EngineWorker { engine: Engine::new(game.size()), game, seconds: HashMap::new() }
    }

    fn cell(&self, state: &State, word: &str, number: usize) -> Result<u16, PlayError> {
        self.game.parse_move(state, word).ok_or_else(|| {
            let legal = legal_texts(&*self.game, state).into_iter().take(8).collect();
            ReplayError::Illegal { number, word: word.into(), legal }.into()
        })
    }

    fn position(&self, job: &Job) -> Result<State, PlayError> {
        let mut state = match &job.start {
            None => self.game.initial(),
            Some(text) => self
                .game
                .parse_position(text)
                .map_err(|message| PlayError::Position { text: text.chars().take(200).collect(), message })?,
        };
        for (word, number) in job.moves.iter().zip(1..) {
            let cell = self.cell(&state, word, number)?;
            self.game.play(&mut state, cell);
        }
        Ok(state)
    }

    /// Whether what the engine calls certain holds, by the checker that shares no code with it.
    fn holds(&self, state: &State, excluded: &[[u16; 2]], evidence: &Evidence) -> bool {
        let (size, mut board) = (self.game.size(), self.engine.board(&self.game, state));
        let side = usize::from(state.to_move() == Side::Second);
        // A turn of two stones is none where one is left to play.
        let fits = |turn: [u16; 2]| state.stones_left() == 2 || turn[1] == NONE;
        match evidence {
            Evidence::Win(proof) => {
                proof.steps.first().is_some_and(|step| fits(step.turn))
                    && check(size, board.stones(), side as u8, proof).is_ok()
            }
            Evidence::Loss(loss) => {
                let left = state.stones_left();
                check_loss(size, board.stones(), side as u8, left, excluded, loss).is_ok()
            }
            Evidence::Quiet(turn, _) if !fits(*turn) => false,
            Evidence::Quiet(turn, loss) => {
                board.play(*turn, side);
                check_loss(size, board.stones(), 1 - side as u8, 2, &[], loss).is_ok()
            }
        }
    }

    /// Tries to show that every stone which is not left out loses, in the sense of the tree.
    fn all_lost(&mut self, state: &State, exclude: &[u16], nodes: u64, over: &dyn Fn() -> bool) -> bool {
        let pairs = turns_within(exclude);
        let side = usize::from(state.to_move() == Side::Second);
        let mut board: Board = self.engine.board(&self.game, state);
        let effort = Effort { each: (nodes / 10).max(1), total: nodes, over };
        match prove_loss(self.engine.vcdt(), &mut board, side, state.stones_left(), &pairs, effort) {
            Attempt::Lost(loss) => self.holds(state, &pairs, &Evidence::Loss(Box::new(loss))),
            _ => false,
        }
    }

    /// What is proved of the position, if anything.
    fn claim(
        &mut self,
        state: &State,
        exclude: &[u16],
        found: &Found,
        asked: Asked,
        nodes: u64,
    ) -> Option<Claim> {
        let side = state.to_move();
        let won = match found.evidence.as_ref()? {
            evidence @ (Evidence::Win(_) | Evidence::Quiet(..)) => {
                self.holds(state, &[], evidence).then_some(side)
            }
            evidence @ Evidence::Loss(_) if exclude.is_empty() || state.stones_left() == 1 => {
                let pairs: Vec<_> = exclude.iter().map(|&cell| [cell, NONE]).collect();
                self.holds(state, &pairs, evidence).then_some(side.other())
            }
            Evidence::Loss(_) => {
                self.all_lost(state, exclude, nodes / CLAIM_PART, &|| asked.over()).then_some(side.other())
            }
        }?;
        let bounds = Bounds::exactly(Value::of(Outcome::Win(won)));
        Some(Claim { bounds, trust: Trust::Checked })
    }
}

impl AnyWorker for EngineWorker {
    fn answer(
        &mut self,
        job: &Job,
        asked: Asked,
        _: &mut dyn FnMut(Partial),
    ) -> Result<Option<Answer>, PlayError> {
        let state = self.position(job)?;
        let number = job.moves.len() + 1;
        let exclude = job.exclude.iter().map(|word| self.cell(&state, word, number));
        let exclude: Vec<u16> = exclude.collect::<Result<_, _>>()?;
        let show = |cell: u16| self.game.show_move(&state, cell);
        let answer = |best, status, value, claim, nodes| {
            Ok(Some(Answer {
                best,
                status,
                value: Some(value),
                claim,
                after: Vec::new(),
                nodes,
                seconds: 0.0,
            }))
        };
        if exclude.is_empty()
            && let Some(&(cell, status, value)) = self.seconds.get(&state)
        {
            return answer(Some(show(cell)), status, value, None, 1);
        }
        let mut legal = Vec::new();
        self.game.moves(&state, &mut legal);
        let mut excluded: Vec<[u16; 2]> = exclude.iter().map(|&cell| [cell, NONE]).collect();
        if state.stones_left() == 2 {
            let with =
                |&cell: &u16| legal.iter().filter(move |&&o| o != cell).map(move |&o| sorted([cell, o]));
            excluded.extend(exclude.iter().flat_map(with));
        }
        let spent = || if asked.over() { 1.0 } else { 0.0 };
        let nodes_max = job.effort.nodes;
        let found = self.engine.answer(&self.game, &state, &excluded, Limits { nodes_max, spent: &spent });
        if asked.over() {
            return Ok(None);
        }
        let claim = self.claim(&state, &exclude, &found, asked, nodes_max);
        let side = state.to_move();
        let status = Status::ALL[found.status as usize];
        let lost = claim.is_some_and(|claim| claim.bounds.view(side).high == Value::Loss);
        // A turn may hold no stone that is left out, unless there is no other.
        let first = found.turn.first().copied().filter(|cell| !exclude.contains(cell));
        let first = first.or_else(|| legal.iter().copied().find(|cell| !exclude.contains(cell)));
        if let [a, b] = found.turn[..]
            && first == Some(a)
            && !exclude.contains(&b)
        {
            let mut next = state.clone();
            self.game.play(&mut next, a);
            if self.seconds.len() >= SECONDS_MAX {
                self.seconds.clear();
            }
            if self.game.outcome(&next).is_none() {
                self.seconds.insert(next, (b, status, found.value));
            }
        }
        let best = first.filter(|_| !lost).map(|cell| self.game.show_move(&state, cell));
        answer(best, status, found.value, claim, found.nodes.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::exact::{Effort as Work, Kind};
    use sortie_core::{AnyGame, Boxed};
    use sortie_jobs::tree::{JobTree, Plan, Virtual, simulate};
    use std::sync::atomic::AtomicBool;

    fn job(position: &str, exclude: &[&str]) -> Job {
        Job {
            start: Some(position.into()),
            moves: Vec::new(),
            exclude: exclude.iter().map(|w| w.to_string()).collect(),
            ask: Value::Win,
            effort: Work { nodes: 2000, playouts: 0 },
            kind: Kind::Leaf,
            priority: 0,
        }
    }

    /// The positions of the file that an attack wins.
    fn attacks() -> impl Iterator<Item = &'static str> {
        let text = include_str!("../../instances/connect6/positions.txt");
        text.lines().filter(|l| l.starts_with("attack")).map(|l| l.splitn(3, ' ').nth(2).expect("a position"))
    }

    #[test]
    fn wins_are_claimed_with_checked_proofs_and_stones_are_left_out() {
        let game = Arc::new(Connect6::new(19));
        let never = AtomicBool::new(false);
        let asked = Asked { stop: &never, cancel: &never };
        let mut worker = EngineWorker::new(game.clone());
        for position in attacks().take(4) {
            let won = worker.answer(&job(position, &[]), asked, &mut |_| {}).unwrap().unwrap();
            let claim = won.claim.expect("an attack wins");
            let side = game.parse_position(position).unwrap().to_move();
            assert_eq!(claim.bounds.view(side).low, Value::Win);
            assert_eq!(claim.trust, Trust::Checked);
            let (mut exclude, mut answers) = (Vec::new(), vec![won.best.unwrap()]);
            for _ in 0..3 {
                exclude.push(answers.last().unwrap().clone());
                let words: Vec<&str> = exclude.iter().map(String::as_str).collect();
                let next = worker.answer(&job(position, &words), asked, &mut |_| {}).unwrap().unwrap();
                answers.push(next.best.expect("there are other stones"));
                assert!(!exclude.contains(answers.last().unwrap()), "{answers:?}");
            }
        }
        assert!(worker.answer(&job("nonsense", &[]), asked, &mut |_| {}).is_err());
        assert!(worker.answer(&job(attacks().next().unwrap(), &["z99"]), asked, &mut |_| {}).is_err());
    }

    #[test]
    fn a_job_tree_proves_what_one_search_proves() {
        let game = Boxed::new(Connect6::new(19));
        let never = AtomicBool::new(false);
        let position = attacks().next().unwrap();
        let board = game.board(Some(position)).unwrap();
        let side = board.to_move();
        let plan = Plan { effort: Work { nodes: 500, playouts: 0 }, jobs_max: 20, ..Plan::default() };
        let mut tree = JobTree::new(board, Some(position.into()), plan.clone());
        let mut worker = game.worker(1 << 20, &plan.statuses, 1);
        let asked = Asked { stop: &never, cancel: &never };
        simulate(&mut tree, &Virtual::workers(2), |job, _| {
            Some((worker.answer(job, asked, &mut |_| {}).expect("a job of ours")?, 1))
        });
        assert_eq!(tree.bounds().view(side).low, Value::Win);
    }
}
