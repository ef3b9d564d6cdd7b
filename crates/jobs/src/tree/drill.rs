//! Random schedules against known values: workers that vanish, answer twice, late, out of order, fail or lie, all from
//! one seed. No schedule may end with a false proof, contradict itself or hang. Values come from plain minimax, which
//! shares nothing with what is tested.

use super::simulate::{Virtual, simulate};
use super::source::{Ended, JobTree, Plan};
use sortie_core::AnyGame;
use sortie_core::Rng;
use sortie_core::exact::Status;
use sortie_core::exact::{After, Answer, Claim, Effort, Job, Trust};
use sortie_core::exact::{AnyWorker, Asked};
use sortie_core::exact::{Bounds, Value};
use sortie_core::{AnyBoard, PlayError};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

/// Answers of one search, at most.
const JOBS_MAX: u64 = 300;
/// Positions that a job looks at: schedules take turns.
const NODES: [u64; 3] = [4, 20, 100];

/// A position whose value is known, and what honest workers answer there.
pub struct Drill {
    game: Box<dyn AnyGame>,
    moves: Vec<String>,
    value: Value,
    /// An honest worker that remembers nothing answers the same again, so it is asked once.
    answers: HashMap<(Vec<String>, Vec<String>, Value, u64), Answer>,
    worker: Box<dyn AnyWorker>,
}

/// How a schedule went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drilled {
    /// The question was decided.
    pub decided: bool,
    /// Jobs that were handed out.
    pub jobs: u64,
    /// Answers of liars among them.
    pub lies: u64,
}

impl Drill {
    /// A position of a small game: all of it is looked at.
    pub fn new(game: &dyn AnyGame, moves: &[String]) -> Result<Drill, PlayError> {
        let mut board = game.board(None)?;
        for word in moves {
            board.play(word)?;
        }
        let value = minimax(&mut *board, &mut HashMap::new());
        let worker = game.worker(1, &Plan::default().statuses, 1);
        let moves = board.words().to_vec();
        Ok(Drill { game: game.share(), moves, value, answers: HashMap::new(), worker })
    }

    /// What the position is worth to the first side.
    pub fn value(&self) -> Value {
        self.value
    }

    /// Runs one schedule; the seed says who works and what goes wrong. The error is what must never be.
    pub fn run(&mut self, plan: &Plan, seed: u64) -> Result<Drilled, String> {
        let mut rng = Rng::new(seed, 1);
        let grid = Virtual {
            workers: 1 + rng.below(12),
            seed,
            lost: [0.0, 0.1, 0.4][rng.below(3)],
            twice: [0.0, 0.2, 0.5][rng.below(3)],
            jitter: [0.0, 1.0, 20.0][rng.below(3)],
            overhead: rng.below(50) as u64,
            cancel: rng.below(2) == 0,
        };
        let (liars, fail) = ([0.0, 0.2, 0.5][rng.below(3)], [0.0, 0.1][rng.below(2)]);
        let nodes = NODES[rng.below(NODES.len())];
        let plan = Plan { jobs_max: JOBS_MAX, effort: Effort { nodes, playouts: 0 }, ..plan.clone() };
        let mut tree = JobTree::new(self.board(&self.moves), None, plan.clone());
        let mut lies = 0;
        let ran = simulate(&mut tree, &grid, |job, rng| {
            if rng.unit() < fail {
                return None;
            }
            let cost = 1 + rng.below(30) as u64;
            if rng.unit() < liars {
                lies += 1;
                // Strangers are distrusted, whatever they say of themselves.
                return Some((self.lie(job, rng).distrusted(), cost));
            }
            Some((self.honest(job), cost))
        });
        let what = format!("{:?} {:?} seed {seed} after {:?}", plan.select, plan.policy, self.moves);
        let bounds = tree.bounds();
        if ran.stuck {
            return Err(format!("{what}: nothing is out and nothing comes"));
        }
        if self.value < bounds.low || bounds.high < self.value {
            return Err(format!("{what}: proved {bounds:?}, and it is {:?}", self.value));
        }
        match tree.ended() {
            Some(ended @ (Ended::Contradiction | Ended::Failures)) => Err(format!("{what}: {ended:?}")),
            ended => Ok(Drilled { decided: ended == Some(Ended::Decided), jobs: ran.jobs, lies }),
        }
    }

    fn board(&self, moves: &[String]) -> Box<dyn AnyBoard> {
        let mut board = self.game.board(None).expect("the start");
        moves.iter().for_each(|word| board.play(word).expect("a legal move"));
        board
    }

    fn honest(&mut self, job: &Job) -> Answer {
        let key = (job.moves.clone(), job.exclude.clone(), job.ask, job.effort.nodes);
        let answer = self.answers.entry(key).or_insert_with(|| {
            let never = AtomicBool::new(false);
            let asked = Asked { stop: &never, cancel: &never };
            let answer = self.worker.answer(job, asked, &mut |_| {}).expect("a job of ours");
            answer.expect("nobody stops it")
        });
        answer.clone()
    }

    /// Anything: a random move, a random opinion, and claims that are not so.
    fn lie(&self, job: &Job, rng: &mut Rng) -> Answer {
        let mut legal = self.board(&job.moves).legal();
        if rng.below(8) > 0 {
            legal.retain(|word| !job.exclude.contains(word));
        }
        let best = (!legal.is_empty() && rng.below(8) > 0).then(|| legal[rng.below(legal.len())].clone());
        let best = if rng.below(20) == 0 { Some("nonsense".into()) } else { best };
        let value = [Value::Loss, Value::Draw, Value::Win][rng.below(3)];
        let claim = Claim { bounds: Bounds::exactly(value), trust: Trust::Checked };
        Answer {
            best,
            status: Status::ALL[rng.below(13)],
            value: (rng.below(2) == 0).then(|| 1.2 * rng.unit() - 0.1),
            claim: (rng.below(2) == 0).then_some(claim),
            after: legal.into_iter().take(rng.below(2)).map(|word| After { word, claim }).collect(),
            nodes: 1,
            seconds: 0.0,
        }
    }
}

/// The value by plain minimax: no pruning, no proof numbers.
fn minimax(board: &mut dyn AnyBoard, seen: &mut HashMap<u128, Value>) -> Value {
    if let Some(outcome) = board.outcome() {
        return Value::of(outcome);
    }
    let identity = board.identity();
    if let Some(&value) = seen.get(&identity) {
        return value;
    }
    let side = board.to_move();
    let mut best = Value::Loss;
    for word in board.legal() {
        board.play(&word).expect("a legal move");
        best = best.max(minimax(board, seen).view(side));
        board.undo();
    }
    seen.insert(identity, best.view(side));
    best.view(side)
}

#[cfg(test)]
mod tests {
    use super::super::select::Select;
    use super::*;
    use sortie_core::Boxed;
    use sortie_core::toy::Nim;

    #[test]
    fn schedules_repeat_themselves_and_prove_the_value() {
        for (heap, value) in [(9, Value::Win), (12, Value::Loss)] {
            let mut drill = Drill::new(&Boxed::new(Nim { heap }), &[]).unwrap();
            assert_eq!(drill.value(), value);
            let plan = Plan { select: Select::Uct, ..Plan::default() };
            let ran: Vec<Drilled> = (0..20).map(|seed| drill.run(&plan, seed).unwrap()).collect();
            assert!(ran.iter().filter(|d| d.decided).count() > 10 && ran.iter().any(|d| d.lies > 0));
            assert!((0..20).all(|seed| drill.run(&plan, seed).unwrap() == ran[seed as usize]));
        }
    }

    #[test]
    fn a_liar_who_is_believed_is_found_out() {
        let mut drill = Drill::new(&Boxed::new(Nim { heap: 12 }), &[]).unwrap();
        let believing = Plan { trust: Trust::Word, ..Plan::default() };
        let errors = (0..40).filter(|&seed| drill.run(&believing, seed).is_err()).count();
        assert!(errors > 5, "only {errors} of 40 schedules show what trust is for");
    }
}
