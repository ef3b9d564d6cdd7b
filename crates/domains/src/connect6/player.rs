//! The engine as a player: it thinks once a turn and remembers the second stone.

use super::engine::{Answer, Engine, Limits};
use super::rules::{Connect6, State};
use sortie_core::play::{Fault, Line};
use sortie_core::record::legal_texts;
use sortie_core::{AnyPlayer, Budget, Domain, Game, Outcome, PlayError, ReplayError, Side, Thought};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a move costs if nobody says.
const NODES: u64 = 20_000;

/// The engine, and where the game is.
pub struct EnginePlayer {
    game: Arc<Connect6>,
    engine: Engine,
    state: State,
    /// The position after the first stone of the last turn, and the second stone with what was thought.
    second: Option<(State, u16, Thought)>,
}

impl EnginePlayer {
    /// A player at the start of a game.
    pub fn new(game: Arc<Connect6>) -> EnginePlayer {
        let (engine, state) = (Engine::new(game.size()), game.initial());
        EnginePlayer { game, engine, state, second: None }
    }

    fn thought(&self, answer: &Answer) -> Thought {
        let mut words = Vec::new();
        let mut state = self.state.clone();
        for &cell in &answer.turn {
            words.push(self.game.show_move(&state, cell));
            self.game.play(&mut state, cell);
        }
        let winner = if answer.value > 0.5 { Side::First } else { Side::Second };
        let proved = answer.is_proved().then_some(Outcome::Win(winner));
        let line = Line { moves: words.clone(), visits: answer.nodes, value: answer.value, proved };
        Thought {
            best: words.first().cloned(),
            value: answer.value,
            proved,
            lines: vec![line],
            playouts: answer.nodes,
            nodes: answer.nodes,
            depth: answer.depth,
            ..Thought::default()
        }
    }
}

impl AnyPlayer for EnginePlayer {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let mut state = match start {
            None => self.game.initial(),
            Some(text) => self
                .game
                .parse_position(text)
                .map_err(|message| PlayError::Position { text: text.chars().take(200).collect(), message })?,
        };
        for (word, number) in words.iter().zip(1..) {
            let Some(mv) = self.game.parse_move(&state, word) else {
                let legal = legal_texts(&*self.game, &state).into_iter().take(8).collect();
                return Err(ReplayError::Illegal { number, word: word.clone(), legal }.into());
            };
            self.game.play(&mut state, mv);
        }
        self.state = state;
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        _: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        if let Some(outcome) = self.game.outcome(&self.state) {
            return Ok(Thought { value: outcome.value(), proved: Some(outcome), ..Thought::default() });
        }
        if let Some((state, cell, thought)) = self.second.take()
            && state == self.state
        {
            let word = self.game.show_move(&state, cell);
            return Ok(Thought { best: Some(word), ..thought });
        }
        let meter = budget.meter(stop);
        let bounded = *budget != Budget::default();
        let nodes_max = match (budget.playouts, budget.nodes) {
            (Some(a), Some(b)) => a.min(b),
            (Some(n), None) | (None, Some(n)) => n,
            (None, None) if bounded => u64::MAX / 4,
            (None, None) => NODES,
        };
        let limits = Limits { nodes_max, spent: &|| meter.spent() };
        let answer = self.engine.answer(&self.game, &self.state, &[], limits);
        let thought =
            Thought { seconds: meter.seconds(), cpu_seconds: meter.cpu_seconds(), ..self.thought(&answer) };
        if let [first, second] = answer.turn[..] {
            let mut next = self.state.clone();
            self.game.play(&mut next, first);
            if self.game.outcome(&next).is_none() {
                let rest = Line { moves: thought.lines[0].moves[1..].to_vec(), ..thought.lines[0].clone() };
                let later = Thought { lines: vec![rest], seconds: 0.0, cpu_seconds: 0.0, ..thought.clone() };
                self.second = Some((next, second, later));
            }
        }
        Ok(thought)
    }

    fn reset(&mut self, _: u64) {
        self.state = self.game.initial();
        self.second = None;
    }
}
