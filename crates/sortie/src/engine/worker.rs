//! An engine of somebody else's as a worker for job trees. Our exact solver looks first; where it has no result, the
//! engine suggests a move and says what it thinks, as our own player would. What it is sure of is its word and no more.
//! After a fault it is started again and the job is given back; after several in a row nobody is asked any more.

use super::{Look, Place, Probe, Rules, Seen, Speaker, probe};
use crate::output;
use crate::players::Player;
use anyhow::{Result, bail};
use sortie_core::exact::{
    Answer, AnyWorker, Asked, Bounds, Claim, Effort, Job, Partial, Statuses, Trust, Value,
};
use sortie_core::{AnyGame, Outcome, PlayError, Side};

/// Faults in a row after which an engine is given up.
const FAULTS_MAX: u32 = 5;

/// The worker.
pub struct EngineWorker {
    game: Box<dyn AnyGame>,
    own: Box<dyn AnyWorker>,
    speaker: Box<dyn Speaker>,
    /// Seconds for a job.
    seconds: Option<f64>,
    statuses: Statuses,
    /// In a row.
    faults: u32,
}

/// Asks an engine for its references: one that does not leave out what it is told to leave out is refused, with the
/// evidence.
pub fn register(game: &dyn AnyGame, text: &str, start: Option<&str>, moves: &[String]) -> Result<Probe> {
    let (mut speaker, seconds) = Player::parse(text)?.speaker()?;
    let found = probe(&mut *speaker, Rules::Game(game), start, moves, None, seconds)?;
    match &found.refusal {
        Some(refusal) => bail!("engine '{text}' is refused: {refusal}"),
        None => Ok(found),
    }
}

/// A worker for a game: our own, or with the engine that a text names.
pub fn hire(
    game: &dyn AnyGame,
    engine: Option<&str>,
    memory_max: usize,
    statuses: &Statuses,
    seed: u64,
) -> Result<Box<dyn AnyWorker>> {
    let own = game.worker(memory_max, statuses, seed);
    let Some(text) = engine else { return Ok(own) };
    let (speaker, seconds) = Player::parse(text)?.speaker()?;
    let (game, statuses) = (game.share(), statuses.clone());
    Ok(Box::new(EngineWorker { game, own, speaker, seconds, statuses, faults: 0 }))
}

impl EngineWorker {
    /// The engine's answer, in our words.
    fn look(&mut self, job: &Job, asked: Asked) -> Result<Option<(Side, String, Seen)>, String> {
        let place = Place::of(&*self.game, job.start.as_deref(), &job.moves).map_err(|e| e.to_string())?;
        let nodes = (job.effort.playouts > 0).then_some(job.effort.playouts);
        let look = Look { place: &place, exclude: &job.exclude, nodes, seconds: self.seconds };
        let Some(seen) = self.speaker.look(&look, asked).map_err(|fault| fault.to_string())? else {
            return Ok(None);
        };
        let cut: String = seen.best.chars().filter(|c| !c.is_control()).take(40).collect();
        match place.find(&seen.best) {
            None => Err(format!("'{cut}' is not a legal move")),
            Some(word) if job.exclude.contains(&word) => Err(format!("'{cut}' was excluded")),
            Some(word) => Ok(Some((place.to_move, word, seen))),
        }
    }
}

impl AnyWorker for EngineWorker {
    fn answer(
        &mut self,
        job: &Job,
        asked: Asked,
        tell: &mut dyn FnMut(Partial),
    ) -> Result<Option<Answer>, PlayError> {
        let exact = Job { effort: Effort { playouts: 0, ..job.effort }, ..job.clone() };
        let Some(solved) = self.own.answer(&exact, asked, tell)? else { return Ok(None) };
        if solved.claim.is_some() || solved.best.is_none() {
            return Ok(Some(solved));
        }
        let (side, best, seen) = match self.look(job, asked) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(fault) => {
                self.faults += 1;
                let name = self.speaker.name();
                if self.faults >= FAULTS_MAX {
                    let many = format!("the engine {name} failed {FAULTS_MAX} times in a row: {fault}");
                    return Err(PlayError::Engine(many));
                }
                output::say(&format!("the engine {name} failed: {fault}; it is started again"));
                return Ok(None);
            }
        };
        self.faults = 0;
        let value = seen.value.map(|value| side.view(value)).or(solved.value);
        let winner = seen.value.filter(|_| seen.sure).map(|v| if v > 0.5 { side } else { side.other() });
        let claim = winner
            .map(|side| Claim { bounds: Bounds::exactly(Value::of(Outcome::Win(side))), trust: Trust::Word });
        let status = value.map_or(solved.status, |value| self.statuses.nearest(value));
        let nodes = solved.nodes + seen.nodes;
        Ok(Some(Answer { best: Some(best), status, value, claim, nodes, ..solved }))
    }
}
