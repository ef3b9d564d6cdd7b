//! Any engine that can be asked about positions, as a player.

use super::{Look, Place, Speaker, count, seconds};
use sortie_core::exact::Asked;
use sortie_core::play::Fault;
use sortie_core::{AnyGame, AnyPlayer, Budget, PlayError, Thought};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// An engine that is told its time and cannot be stopped loses when it takes more CPU time than this: so many times its
/// budget, and so many seconds.
const CPU_TIMES: f64 = 2.0;
const CPU_GRACE: f64 = 0.5;

/// The engine, and the position that was set.
pub struct Spoken {
    speaker: Box<dyn Speaker>,
    game: Box<dyn AnyGame>,
    start: Option<String>,
    moves: Vec<String>,
}

impl Spoken {
    /// A player at the start of a game.
    pub fn new(speaker: Box<dyn Speaker>, game: &dyn AnyGame) -> Spoken {
        Spoken { speaker, game: game.share(), start: None, moves: Vec::new() }
    }
}

impl AnyPlayer for Spoken {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let mut board = self.game.board(start)?;
        for word in words {
            board.play(word)?;
        }
        (self.start, self.moves) = (start.map(str::to_string), board.words().to_vec());
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        _: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        let begun = Instant::now();
        let place = Place::of(&*self.game, self.start.as_deref(), &self.moves);
        let place = place.map_err(|error| Fault::Crashed(error.to_string()))?;
        if place.legal.is_empty() {
            return Ok(Thought { value: 0.5, ..Thought::default() });
        }
        let look = Look { place: &place, exclude: &[], nodes: count(budget), seconds: seconds(budget) };
        let never = AtomicBool::new(false);
        let before = self.speaker.cpu_seconds().unwrap_or(0.0);
        let seen = self.speaker.look(&look, Asked { stop, cancel: &never })?;
        let seconds = begun.elapsed().as_secs_f64();
        let Some(seen) = seen else {
            return Err(Fault::Crashed("it was stopped before it had a move".into()));
        };
        let Some(best) = place.find(&seen.best) else {
            return Err(Fault::Nonsense(seen.best.chars().take(80).collect()));
        };
        let cpu_seconds = self.speaker.cpu_seconds().map_or(0.0, |now| (now - before).max(0.0));
        if let Some(max) = budget.cpu_seconds
            && cpu_seconds > CPU_TIMES * max + CPU_GRACE
        {
            return Err(Fault::Crashed(format!("it took {cpu_seconds:.1} s of CPU time instead of {max}")));
        }
        let value = place.to_move.view(seen.value.unwrap_or(0.5));
        Ok(Thought {
            best: Some(best),
            value,
            playouts: seen.nodes,
            seconds,
            cpu_seconds,
            ..Thought::default()
        })
    }

    fn reset(&mut self, _seed: u64) {}
}
