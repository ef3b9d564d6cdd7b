//! Checks a proof by the rules alone: every reply is there, every move is legal, every line ends as it should. No search
//! code runs here. Lines lead to earlier lines only, so nothing goes round in circles; a line stands for one position,
//! compared as a whole, so what one path proves is not taken for what another would need.

use super::proof::{Goal, Proof, Section};
use super::value::Value;
use super::worker::position;
use crate::domain::Game;
use crate::play::PlayError;

/// A proof that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// What is proved.
    pub goals: Vec<Goal>,
    /// Positions that were checked.
    pub positions: usize,
}

/// Why a proof does not hold.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// Its position cannot be set up.
    #[error(transparent)]
    Position(#[from] PlayError),
    /// A line is wrong.
    #[error("goal {section}, line {line}{}: {message}", after(.path))]
    Wrong {
        /// The section, from 1.
        section: usize,
        /// The line of the section, from 0.
        line: usize,
        /// The moves that lead there.
        path: Vec<String>,
        /// What is wrong.
        message: String,
    },
}

fn after(path: &[String]) -> String {
    if path.is_empty() { String::new() } else { format!(" (after {})", path.join(" ")) }
}

/// Checks all sections of a proof.
pub(crate) fn check<G: Game>(game: &G, proof: &Proof) -> Result<Checked, CheckError> {
    let state = position(game, proof.start.as_deref(), &proof.moves)?;
    for (section, number) in proof.sections.iter().zip(1..) {
        let mut checker = Checker { game, section, met: vec![None; section.lines.len()], path: Vec::new() };
        let checked = match (game.outcome(&state), section.lines.len()) {
            (Some(_), 0) => checker.end(&state),
            (Some(_), _) => Err((0, "the game is over at the position, and there are lines".into())),
            (None, 0) => Err((0, "the game is not over at the position, and there are no lines".into())),
            (None, lines) => checker.line(lines - 1, state.clone()),
        };
        let checked = checked.and_then(|()| match checker.met.iter().position(Option::is_none) {
            Some(line) => Err((line, "nothing leads here".into())),
            None => Ok(()),
        });
        checked.map_err(|(line, message)| CheckError::Wrong {
            section: number,
            line,
            path: checker.path,
            message,
        })?;
    }
    let goals = proof.sections.iter().map(|section| section.goal).collect();
    Ok(Checked { goals, positions: proof.positions() })
}

struct Checker<'a, G: Game> {
    game: &'a G,
    section: &'a Section,
    /// The position of each line, once it was met: it holds then.
    met: Vec<Option<G::State>>,
    /// The moves to where the checker is; where it stopped, if something is wrong.
    path: Vec<String>,
}

type Wrong = (usize, String);

impl<G: Game> Checker<'_, G> {
    /// Checks a line from a position. As lines lead to earlier lines only, the stack is at most as deep as the game.
    fn line(&mut self, line: usize, state: G::State) -> Result<(), Wrong> {
        if let Some(met) = &self.met[line] {
            let same = *met == state;
            return if same {
                Ok(())
            } else {
                Err((line, "two paths lead here to different positions".into()))
            };
        }
        let mut legal = Vec::new();
        self.game.moves(&state, &mut legal);
        let entries = &self.section.lines[line];
        let mut played = Vec::new();
        for (word, _) in entries {
            let mv = self
                .game
                .parse_move(&state, word)
                .ok_or_else(|| (line, format!("'{word}' is not a legal move")))?;
            if played.contains(&mv) {
                return Err((line, format!("'{word}' is there twice")));
            }
            played.push(mv);
        }
        if self.game.to_move(&state) == self.section.goal.side {
            if played.len() != 1 {
                return Err((
                    line,
                    format!("expected one move of the side that reaches the goal, found {}", played.len()),
                ));
            }
        } else if let Some(&missing) = legal.iter().find(|mv| !played.contains(mv)) {
            return Err((line, format!("the reply '{}' is missing", self.game.show_move(&state, missing))));
        }
        for (&mv, (word, to)) in played.iter().zip(entries) {
            let mut next = state.clone();
            self.game.play(&mut next, mv);
            self.path.push(word.clone());
            match (self.game.outcome(&next), to) {
                (Some(_), None) => self.end(&next).map_err(|(_, message)| (line, message))?,
                (None, Some(to)) => self.line(*to, next)?,
                (Some(_), Some(_)) => return Err((line, format!("the game is over after '{word}'"))),
                (None, None) => return Err((line, format!("the game goes on after '{word}'"))),
            }
            self.path.pop();
        }
        self.met[line] = Some(state);
        Ok(())
    }

    /// Whether a game that is over ended as it should.
    fn end(&self, state: &G::State) -> Result<(), Wrong> {
        let Goal { side, at_least } = self.section.goal;
        match self.game.outcome(state).map(|outcome| Value::of(outcome).view(side)) {
            Some(value) if value >= at_least => Ok(()),
            _ => Err((0, format!("the game ends otherwise than '{}'", self.section.goal))),
        }
    }
}
