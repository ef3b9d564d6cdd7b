//! The engine as a worker of job trees. A job is about one stone; the engine thinks in turns. A turn is left out of its
//! search when both its stones are, because otherwise it can be begun with the one that is not. What it claims has been
//! through the checker of proofs.

use super::board::NONE;
use super::engine::{Answer as Found, Engine, Evidence, Limits};
use super::proof::{check, check_loss};
use super::rules::{Connect6, State};
use sortie_core::joblevel::{
    Answer, AnyWorker, Asked, Bounds, Claim, Job, Partial, Status, Statuses, Trust, Value,
};
use sortie_core::{Domain, Game, PlayError, ReplayError, Side, legal_texts};
use std::sync::Arc;

pub(super) struct EngineWorker {
    game: Arc<Connect6>,
    engine: Engine,
    statuses: Statuses,
}

impl EngineWorker {
    pub fn new(game: Arc<Connect6>, statuses: Statuses) -> EngineWorker {
        EngineWorker { engine: Engine::new(game.size()), game, statuses }
    }

    fn cell(&self, state: &State, number: usize, word: &str) -> Result<u16, PlayError> {
        self.game.parse_move(state, word).ok_or_else(|| {
            let legal = legal_texts(&*self.game, state).into_iter().take(8).collect();
            PlayError::Replay(ReplayError::Illegal { number, word: word.into(), legal })
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
            let cell = self.cell(&state, number, word)?;
            self.game.play(&mut state, cell);
        }
        Ok(state)
    }

    /// Whether the side to move wins, if that is proved and the proof holds.
    fn verdict(&self, state: &State, excluded: &[[u16; 2]], found: &Found) -> Option<bool> {
        let (game, side) = (&*self.game, u8::from(state.to_move() == Side::Second));
        let mut stones: Vec<u8> = (0..(game.size() * game.size()) as u16)
            .map(|cell| game.stone(state, cell).map_or(2, |side| u8::from(side == Side::Second)))
            .collect();
        let empty = stones.iter().filter(|stone| **stone == 2).count() as u32;
        let left = state.stones_left().min(empty);
        let fits = |turn: [u16; 2]| left == 2 || turn[1] == NONE;
        match found.evidence.as_ref()? {
            Evidence::Win(proof) => (fits(proof.steps[0].turn)
                && check(game.size(), &stones, side, proof).is_ok())
            .then_some(true),
            Evidence::Loss(loss) => {
                check_loss(game.size(), &stones, side, left, excluded, loss).ok().map(|()| false)
            }
            Evidence::Quiet(turn, loss) => {
                let cells = || turn.iter().filter(|cell| **cell != NONE).map(|&cell| usize::from(cell));
                if !fits(*turn) || cells().count() as u32 != left || cells().any(|cell| stones[cell] != 2) {
                    return None;
                }
                cells().for_each(|cell| stones[cell] = side);
                (empty - left >= 2 && check_loss(game.size(), &stones, 1 - side, 2, &[], loss).is_ok())
                    .then_some(true)
            }
        }
    }
}

/// The turns that cannot be played when these stones may not come first.
fn excluded_turns(cells: &[u16], left: u32) -> Vec<[u16; 2]> {
    let mut turns: Vec<[u16; 2]> = cells.iter().map(|&cell| [cell, NONE]).collect();
    if left == 2 {
        for (i, &a) in cells.iter().enumerate() {
            turns.extend(cells[i + 1..].iter().map(|&b| [a.min(b), a.max(b)]));
        }
    }
    turns
}

impl AnyWorker for EngineWorker {
    fn answer(
        &mut self,
        job: &Job,
        asked: Asked,
        _tell: &mut dyn FnMut(Partial),
    ) -> Result<Option<Answer>, PlayError> {
        let state = self.position(job)?;
        let number = job.moves.len() + 1;
        let cells: Result<Vec<u16>, PlayError> =
            job.exclude.iter().map(|word| self.cell(&state, number, word)).collect();
        let cells = cells?;
        let excluded = excluded_turns(&cells, state.stones_left());
        let spent = || f64::from(u8::from(asked.over()));
        let limits = Limits { nodes_max: job.effort.nodes, spent: &spent };
        let found = self.engine.answer(&self.game, &state, &excluded, limits);
        if asked.over() {
            return Ok(None);
        }
        let side = state.to_move();
        let verdict = self.verdict(&state, &excluded, &found);
        let claim = verdict.map(|wins| {
            let value = if wins { Value::Win } else { Value::Loss };
            Claim { bounds: Bounds::exactly(value.view(side)), trust: Trust::Checked }
        });
        let first = found.turn.iter().copied().find(|cell| !cells.contains(cell));
        let other = || {
            let mut moves = Vec::new();
            self.game.moves(&state, &mut moves);
            moves.into_iter().find(|cell| !cells.contains(cell))
        };
        let best = if verdict == Some(false) { None } else { first.or_else(other) };
        // Without a proof that holds, certainty is an opinion.
        let value = match verdict {
            Some(wins) => side.view(f64::from(u8::from(wins))),
            None => found.value.clamp(0.01, 0.99),
        };
        let status = match verdict {
            Some(_) => self.statuses.nearest(value),
            None => Status::ALL[found.status as usize],
        };
        Ok(Some(Answer {
            best: best.map(|cell| self.game.show_move(&state, cell)),
            status,
            value: Some(value),
            claim,
            after: Vec::new(),
            nodes: found.nodes,
            seconds: 0.0,
        }))
    }
}
