//! A worker for our own games: the exact solver first, and where it has no result, its guess or that of our player.

use super::dfpn::Solver;
use super::job::{Answer, Claim, Job, Partial, Trust};
use super::proof::Goal;
use super::status::Statuses;
use super::value::{Bounds, Value};
use crate::domain::{Game, Side};
use crate::play::{AnyPlayer, Budget, PlayError, start_of};
use crate::replay::{ReplayError, legal_texts};
use crate::uct::{Searcher, Uct};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How a job may be ended early.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Everything is to stop.
    pub stop: &'a AtomicBool,
    /// This job is not wanted any more.
    pub cancel: &'a AtomicBool,
}

impl Asked<'_> {
    /// It is to end now, for whatever reason.
    pub fn over(&self) -> bool {
        self.stop.load(Relaxed) || self.cancel.load(Relaxed)
    }
}

/// Somebody who answers jobs. What it learnt in one job it may use in the next.
pub trait AnyWorker: Send {
    /// Answers a job; `None` if it was ended early. `tell` hears a few times how it is going.
    fn answer(
        &mut self,
        job: &Job,
        asked: Asked,
        tell: &mut dyn FnMut(Partial),
    ) -> Result<Option<Answer>, PlayError>;
}

/// Parts of a job after which the worker tells how it is going.
const PARTS: u64 = 4;

pub(crate) struct Worker<G: Game> {
    game: Arc<G>,
    solver: Solver<G>,
    /// Made when it is first needed: its tree takes memory.
    player: Option<Searcher<G>>,
    seed: u64,
    statuses: Statuses,
}

impl<G: Game> Worker<G> {
    /// It remembers about so many bytes at most.
    pub fn new(game: Arc<G>, memory_max: usize, statuses: Statuses, seed: u64) -> Self {
        Worker { solver: Solver::new(game.clone(), memory_max), game, player: None, seed, statuses }
    }

    fn player(&mut self) -> &mut Searcher<G> {
        self.player.get_or_insert_with(|| {
            let uct = Uct { memory: 32, reuse: false, ..Uct::default() };
            Searcher::new(self.game.clone(), uct, self.seed).expect("our own parameters are sound")
        })
    }

    fn exclude(&self, job: &Job, state: &G::State) -> Result<Vec<G::Move>, PlayError> {
        let parse = |word: &String| {
            self.game
                .parse_move(state, word)
                .ok_or_else(|| illegal(&*self.game, state, job.moves.len() + 1, word))
        };
        job.exclude.iter().map(parse).collect()
    }
}

impl<G: Game> AnyWorker for Worker<G> {
    fn answer(
        &mut self,
        job: &Job,
        asked: Asked,
        tell: &mut dyn FnMut(Partial),
    ) -> Result<Option<Answer>, PlayError> {
        let state = position(&*self.game, job.start.as_deref(), &job.moves)?;
        let exclude = self.exclude(job, &state)?;
        let side = self.game.to_move(&state);
        self.solver.trim();
        let mut nodes = 0;
        let mut last = None;
        for _ in 0..PARTS {
            let part = (job.effort.nodes / PARTS).max(1);
            let solved = self.solver.solve(&state, &exclude, job.ask, part, &|| asked.over());
            if asked.over() {
                return Ok(None);
            }
            nodes += solved.nodes;
            let ratio = ratio(solved.proof, solved.disproof);
            let decided = solved.decided.is_some();
            if !decided {
                tell(Partial { status: self.statuses.nearest(ratio), value: Some(ratio) });
            }
            last = Some((solved, ratio));
            if decided {
                break;
            }
        }
        let (solved, ratio) = last.expect("at least one part");
        let best = solved.best.map(|mv| self.game.show_move(&state, mv));
        if let Some(yes) = solved.decided {
            let mut goal = Goal::of(job.ask, yes);
            if !self.game.draws() {
                goal.at_least = Value::Win;
            }
            let value = if yes { 1.0 } else { 0.0 };
            let claim = Some(Claim { bounds: goal.bounds(), trust: Trust::Solver });
            // If the side to move has not got what it wants, all its moves are alike.
            let best =
                if goal.side == side || goal.bounds().view(side).high > Value::Loss { best } else { None };
            let (status, value) = (self.statuses.nearest(value), Some(value));
            return Ok(Some(Answer { best, status, value, claim, after: Vec::new(), nodes, seconds: 0.0 }));
        }
        let (mut best, mut value) = (best, ratio);
        if job.effort.playouts > 0 {
            let player = self.player();
            player.set(job.start.as_deref(), &job.moves)?;
            let thought = player.think(&Budget::playouts(job.effort.playouts), asked.stop, &mut |_| {});
            if asked.over() {
                return Ok(None);
            }
            let thought = thought.expect("our own player does not fail");
            nodes += thought.playouts;
            let allowed = |word: &&String| !job.exclude.contains(word);
            let line = thought.lines.iter().find(|line| line.moves.first().as_ref().is_some_and(allowed));
            if let Some(line) = line {
                (best, value) = (line.moves.first().cloned(), line.value.clamp(0.0, 1.0));
            }
        }
        let status = self.statuses.nearest(value);
        Ok(Some(Answer {
            best,
            status,
            value: Some(value),
            claim: None,
            after: Vec::new(),
            nodes,
            seconds: 0.0,
        }))
    }
}

/// Proof and disproof numbers as a value in `0..=1`, never certain.
fn ratio(proof: u32, disproof: u32) -> f64 {
    let (proof, disproof) = (f64::from(proof), f64::from(disproof));
    // Numbers differ by orders of magnitude: the square roots tell them apart more evenly.
    (disproof.sqrt() / (proof.sqrt() + disproof.sqrt())).clamp(0.01, 0.99)
}

/// The position after some moves.
pub(crate) fn position<G: Game>(
    game: &G,
    start: Option<&str>,
    words: &[String],
) -> Result<G::State, PlayError> {
    let mut state = start_of(game, start)?;
    for (word, number) in words.iter().zip(1..) {
        let mv = game.parse_move(&state, word).ok_or_else(|| illegal(game, &state, number, word))?;
        game.play(&mut state, mv);
    }
    Ok(state)
}

fn illegal<G: Game>(game: &G, state: &G::State, number: usize, word: &str) -> PlayError {
    let legal = legal_texts(game, state).into_iter().take(8).collect();
    PlayError::Replay(ReplayError::Illegal { number, word: word.into(), legal })
}

impl Goal {
    /// What an answer to a question says: yes, the first side gets at least that; no, the second gets more than that
    /// leaves it.
    pub(super) fn of(ask: Value, yes: bool) -> Goal {
        match (ask, yes) {
            (Value::Win, true) => Goal { side: Side::First, at_least: Value::Win },
            (Value::Win, false) => Goal { side: Side::Second, at_least: Value::Draw },
            (_, true) => Goal { side: Side::First, at_least: Value::Draw },
            (_, false) => Goal { side: Side::Second, at_least: Value::Win },
        }
    }

    /// The same as bounds for the first side.
    pub fn bounds(self) -> Bounds {
        Bounds { low: self.at_least, high: Value::Win }.view(self.side)
    }
}
