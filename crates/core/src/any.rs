//! The seam between static and dynamic: a domain behind a box. One virtual call per run; everything below it is
//! compiled for the domain, everything above it (the command, the dashboard, the workers) once.

use crate::domain::{Game, Problem};
use crate::exact::{
    AnyWorker, Certificate, CheckError, Checked, Fact, Goal, Making, Proof, Script, Section, Settled,
    Statuses, Worker, Wrong, certify, check, check_certificate, harvest, make_certificate, position,
};
use crate::measure::Measure;
use crate::picture::Picture;
use crate::planes::{Layout, Lesson, lessons, newest_first};
use crate::play::{AnyBoard, AnyPlayer, Board, PlayError, perft};
use crate::replay::{ReplayError, legal_texts, moves_of, replay, replay_whole};
use crate::rng::Rng;
use crate::run::{Control, StreamCheckpoint};
use crate::search::{BestOf, Brought, Call, Nrpa, Outcomes, Search, SpecError, answer_call, best_of};
use crate::uct::walk::{GameWalker, Walker};
use crate::uct::{Searcher, Uct};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A single-player problem of any type.
pub trait AnyProblem: Send + Sync {
    /// Runs a search. `resume` holds the checkpoints of streams that were begun before.
    fn solve(&self, spec: &BestOf, control: &Control, resume: Vec<StreamCheckpoint>) -> Outcomes;
    /// Makes one call of islands; `None` if it was broken off.
    fn call(&self, nrpa: &Nrpa, call: &Call, control: &Control) -> Option<Brought>;
    /// The position after some moves.
    fn position(&self, words: &[String]) -> Result<Position, ReplayError>;
    /// The position at the end of a solution, which must be an end.
    fn verify(&self, words: &[String]) -> Result<Position, ReplayError>;
    /// The best score known.
    fn best_known(&self) -> Option<f64>;
    /// A score in words: see `Problem::measures`.
    fn measures(&self, score: f64) -> Vec<Measure>;
    /// The search to take where nobody asks for one: see `Problem::suits`.
    fn suits(&self) -> Search;
    /// The planes in which a network sees it; `None` where it cannot be learnt.
    fn layout(&self) -> Option<Layout>;
    /// Every position of a game with the move played there, for a network whose window has this size. None at all where
    /// there is no such representation.
    fn lessons(
        &self,
        words: &[String],
        representation: usize,
        size: usize,
    ) -> Result<Vec<Lesson>, ReplayError>;
    /// The moves of a game in another order, always going on with what became possible last; as they are where that
    /// would be another game or another score.
    fn newest_first(&self, words: &[String]) -> Result<Vec<String>, ReplayError>;
}

/// A two-player game of any type.
pub trait AnyGame: Send + Sync {
    /// The name of the type of its rules in lower case, as in `loa`: what measured costs are kept by.
    fn kind(&self) -> String;
    /// The position after some moves; its score is the value for the first side.
    fn position(&self, words: &[String]) -> Result<Position, ReplayError>;
    /// A game from a position given as text, from the game's own start without one.
    fn board(&self, start: Option<&str>) -> Result<Box<dyn AnyBoard>, PlayError>;
    /// A player who searches as `spec` says.
    fn player(&self, spec: &Uct, seed: u64) -> Result<Box<dyn AnyPlayer>, SpecError>;
    /// A walker through the game for a rank of a distributed search, with stream `number` of the random numbers.
    fn walk(&self, spec: &Uct, seed: u64, number: u64) -> Walker;
    /// A player of the game's own making; `None` where there is none.
    fn engine(&self, seed: u64) -> Option<Box<dyn AnyPlayer>>;
    /// A table of move categories as the file that the game reads it from; `None` where it reads none.
    fn show_categories(&self, weights: &[f64]) -> Option<String>;
    /// The mean value, for the first side, of so many random playouts from the start: `Game::rollout` again and again.
    fn rollouts(&self, draws: u32, playouts: u64, rng: &mut Rng) -> f64;
    /// The number of ways to play `depth` moves from the start.
    fn perft(&self, depth: u32) -> u64;
    /// Somebody who answers jobs, remembering about so many bytes at most.
    fn worker(&self, memory_max: usize, statuses: &Statuses, seed: u64) -> Box<dyn AnyWorker>;
    /// A strategy that reaches `goal` from the position after `moves`, guided by `JobTree::guide`; what that leaves open
    /// is solved with up to `nodes_max` positions each. The error says why there is none.
    fn certify(
        &self,
        start: Option<&str>,
        moves: &[String],
        goal: Goal,
        guide: &[(Vec<String>, Option<String>)],
        nodes_max: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Section, String>;
    /// Checks a proof by the rules alone.
    fn check(&self, proof: &Proof) -> Result<Checked, CheckError>;
    /// Checks a proof in packed form by the rules alone.
    fn check_script(&self, script: &Script) -> Result<Checked, CheckError>;
    /// Makes a certificate of a claim about the position after some moves; the error says why there is none.
    fn make_certificate(
        &self,
        instance: &str,
        moves: &[String],
        goal: Goal,
        making: Making,
    ) -> Result<Certificate, String>;
    /// Checks a certificate by the rules alone.
    fn check_certificate(&self, certificate: &Certificate) -> Result<(), Wrong>;
    /// Checks a proof and says what it proves of every position in it.
    fn harvest(&self, proof: &Proof) -> Result<Vec<Fact>, CheckError>;
    /// Proves a position by the game's own means, where it has any: see `Expert::settle`.
    fn settle(&self, start: Option<&str>, moves: &[String], nodes_max: u64) -> Result<Settled, PlayError>;
    /// Which version of its rules it is: see `Game::rules_version`.
    fn rules_version(&self) -> u16;
    /// The same game in a box of its own, for whoever outlives this one.
    fn share(&self) -> Box<dyn AnyGame>;
    /// What it was opened from, where that is known: a process elsewhere can open it too.
    fn origin(&self) -> Option<&Origin>;
    /// Says what it was opened from.
    fn set_origin(&mut self, origin: Origin);
}

/// What an instance was opened from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// `domain/name`.
    pub name: String,
    /// The text of its file, if it is one.
    pub text: Option<String>,
}

/// A position as plain data.
#[derive(Debug, Clone)]
pub struct Position {
    /// Several lines for a terminal.
    pub text: String,
    /// A drawing, if the domain has one.
    pub picture: Option<Picture>,
    /// Its score.
    pub score: f64,
    /// What else the domain says about it.
    pub facts: Vec<(&'static str, f64)>,
    /// The legal moves.
    pub legal: Vec<String>,
}

impl<P: Problem> AnyProblem for P {
    fn solve(&self, spec: &BestOf, control: &Control, resume: Vec<StreamCheckpoint>) -> Outcomes {
        best_of(self, spec, control, resume)
    }

    fn call(&self, nrpa: &Nrpa, call: &Call, control: &Control) -> Option<Brought> {
        answer_call(self, nrpa, call, control)
    }

    fn position(&self, words: &[String]) -> Result<Position, ReplayError> {
        replay(self, words).map(|state| problem_position(self, &state))
    }

    fn verify(&self, words: &[String]) -> Result<Position, ReplayError> {
        replay_whole(self, words).map(|state| problem_position(self, &state))
    }

    fn best_known(&self) -> Option<f64> {
        Problem::best_known(self)
    }

    fn measures(&self, score: f64) -> Vec<Measure> {
        Problem::measures(self, score)
    }

    fn suits(&self) -> Search {
        Problem::suits(self)
    }

    fn layout(&self) -> Option<Layout> {
        self.learnable().map(|domain| domain.layout())
    }

    fn lessons(
        &self,
        words: &[String],
        representation: usize,
        size: usize,
    ) -> Result<Vec<Lesson>, ReplayError> {
        let moves = moves_of(self, words)?;
        let known = self.learnable().filter(|domain| representation < domain.layout().representations.len());
        Ok(known.map_or(Vec::new(), |domain| lessons(domain, &moves, representation, size)))
    }

    fn newest_first(&self, words: &[String]) -> Result<Vec<String>, ReplayError> {
        let moves = moves_of(self, words)?;
        let Some(order) = self.learnable().and_then(|domain| newest_first(domain, &moves)) else {
            return Ok(words.to_vec());
        };
        let play = |moves: &[P::Move]| {
            let mut state = self.initial();
            let mut words = Vec::with_capacity(moves.len());
            for &mv in moves {
                words.push(self.show_move(&state, mv));
                self.play(&mut state, mv);
            }
            (words, self.score(&state))
        };
        let ((words, score), (other, other_score)) = (play(&moves), play(&order));
        Ok(if score == other_score { other } else { words })
    }
}

fn problem_position<P: Problem>(problem: &P, state: &P::State) -> Position {
    Position {
        text: problem.show(state),
        picture: problem.draw(state),
        score: problem.score(state),
        facts: problem.facts(state),
        legal: legal_texts(problem, state),
    }
}

/// A game behind `AnyGame`. A wrapper, because one type may not carry both blanket implementations; shared, because
/// boards and players outlive the call that makes them.
pub struct Boxed<G>(Arc<G>, Option<Arc<Origin>>);

impl<G: Game> Boxed<G> {
    /// Puts a game behind the seam.
    pub fn new(game: G) -> Self {
        Boxed(Arc::new(game), None)
    }
}

impl<G: Game> AnyGame for Boxed<G> {
    fn kind(&self) -> String {
        let path = std::any::type_name::<G>();
        path.rsplit("::").next().unwrap_or(path).to_lowercase()
    }

    fn position(&self, words: &[String]) -> Result<Position, ReplayError> {
        let mut board = Board::new(self.0.clone(), None).expect("the start of the game itself");
        words.iter().try_for_each(|word| board.play(word))?;
        Ok(board.view())
    }

    fn board(&self, start: Option<&str>) -> Result<Box<dyn AnyBoard>, PlayError> {
        Ok(Box::new(Board::new(self.0.clone(), start)?))
    }

    fn player(&self, spec: &Uct, seed: u64) -> Result<Box<dyn AnyPlayer>, SpecError> {
        Ok(Box::new(Searcher::new(self.0.clone(), spec.clone(), seed)?))
    }

    fn walk(&self, spec: &Uct, seed: u64, number: u64) -> Walker {
        Walker(Box::new(GameWalker::new(self.0.clone(), spec, seed, number)))
    }

    fn engine(&self, seed: u64) -> Option<Box<dyn AnyPlayer>> {
        self.0.expert().map(|expert| expert.player(seed))
    }

    fn show_categories(&self, weights: &[f64]) -> Option<String> {
        self.0.show_categories(weights)
    }

    fn rollouts(&self, draws: u32, playouts: u64, rng: &mut Rng) -> f64 {
        let (game, start) = (&*self.0, self.0.initial());
        let (mut state, mut scratch) = (start.clone(), Vec::new());
        let mut sum = 0.0;
        for _ in 0..playouts {
            state.clone_from(&start);
            sum += game.rollout(&mut state, draws, u32::MAX, rng, &mut scratch).map_or(0.5, |o| o.value());
        }
        sum / playouts as f64
    }

    fn perft(&self, depth: u32) -> u64 {
        perft(&*self.0, &self.0.initial(), depth)
    }

    fn worker(&self, memory_max: usize, statuses: &Statuses, seed: u64) -> Box<dyn AnyWorker> {
        match self.0.expert() {
            Some(expert) => expert.worker(statuses),
            None => Box::new(Worker::new(self.0.clone(), memory_max, statuses.clone(), seed)),
        }
    }

    fn certify(
        &self,
        start: Option<&str>,
        moves: &[String],
        goal: Goal,
        guide: &[(Vec<String>, Option<String>)],
        nodes_max: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<Section, String> {
        certify(&self.0, start, moves, goal, guide, nodes_max, stop)
    }

    fn check(&self, proof: &Proof) -> Result<Checked, CheckError> {
        check(&*self.0, &Script::of(proof))
    }

    fn check_script(&self, script: &Script) -> Result<Checked, CheckError> {
        check(&*self.0, script)
    }

    fn make_certificate(
        &self,
        instance: &str,
        moves: &[String],
        goal: Goal,
        making: Making,
    ) -> Result<Certificate, String> {
        make_certificate(&self.0, instance, moves, goal, making)
    }

    fn check_certificate(&self, certificate: &Certificate) -> Result<(), Wrong> {
        check_certificate(&*self.0, certificate)
    }

    fn harvest(&self, proof: &Proof) -> Result<Vec<Fact>, CheckError> {
        harvest(&*self.0, proof)
    }

    fn settle(&self, start: Option<&str>, moves: &[String], nodes_max: u64) -> Result<Settled, PlayError> {
        let state = position(&*self.0, start, moves)?;
        Ok(self.0.expert().map(|expert| expert.settle(&state, nodes_max)).unwrap_or_default())
    }

    fn rules_version(&self) -> u16 {
        self.0.rules_version()
    }

    fn share(&self) -> Box<dyn AnyGame> {
        Box::new(Boxed(self.0.clone(), self.1.clone()))
    }

    fn origin(&self) -> Option<&Origin> {
        self.1.as_deref()
    }

    fn set_origin(&mut self, origin: Origin) {
        self.1 = Some(Arc::new(origin));
    }
}
