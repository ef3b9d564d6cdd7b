//! Checks a proof by the rules alone: every reply is there, every move is legal, every line ends as it should. No search
//! code runs here. Where a line has an argument of the game's own, the game checks it, as strictly. Lines lead to earlier
//! lines only, so nothing goes round in circles; a line stands for one position, compared as a whole, so what one path
//! proves is not taken for what another would need.

use super::proof::{Goal, Proof, Section};
use super::value::{Bounds, Value};
use super::worker::position;
use crate::domain::{Domain, Game};
use crate::ident::Ident;
use crate::play::PlayError;
use std::collections::HashMap;

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

/// What is proved of a position, as a database keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact {
    /// The position.
    pub ident: Ident,
    /// Its value, for the first side.
    pub bounds: Bounds,
    /// The number of the move that gets it for the side to move, in the mirror image that the name belongs to.
    pub best: Option<u16>,
}

/// What a game has proved by its own means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settled {
    /// What. Empty: nothing.
    pub facts: Vec<Fact>,
    /// So many of them, the first ones, are positions in which a turn begins: all, where a turn is one move.
    pub turns: usize,
}

/// What a game has to say for the value of a position, beyond moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argued<M> {
    /// Its argument: one word without `=`.
    Proved(String),
    /// None that covers these moves as well; empty: none at all.
    Except(Vec<M>),
}

/// Before a word of a line: it is no move but an argument of the game's own.
pub(super) const ARGUMENT: char = '!';

/// Checks all sections of a proof.
pub(crate) fn check<G: Game>(game: &G, proof: &Proof) -> Result<Checked, CheckError> {
    visit(game, proof, &mut |_, _, _| {})
}

/// What a proof that holds says of every position in it, the one that is proved last.
pub(crate) fn harvest<G: Game>(game: &G, proof: &Proof) -> Result<Vec<Fact>, CheckError> {
    let (mut facts, mut at) = (Vec::<Fact>::new(), HashMap::new());
    visit(game, proof, &mut |state, goal, word| {
        let Some(ident) = game.ident(state) else { return };
        let mv = word.and_then(|word| game.parse_move(state, word));
        let best = mv.map(|mv| game.move_id(game.move_image(mv, ident.image.into())));
        let fact = Fact { ident, bounds: goal.bounds(), best };
        let slot = *at.entry((ident.key, ident.check, ident.precondition)).or_insert(facts.len());
        match facts.get_mut(slot) {
            None => facts.push(fact),
            // Both sides of a draw, or the mirror image of a position that was there.
            Some(known) => {
                known.bounds = known.bounds.meet(fact.bounds).unwrap_or(known.bounds);
                known.best = known.best.or(best);
            }
        }
    })?;
    Ok(facts)
}

/// Called with a position, what is proved of it, and the move if it is the turn of the side that reaches the goal.
type Visit<'a, G> = &'a mut dyn FnMut(&<G as Domain>::State, Goal, Option<&str>);

/// Checks all sections of a proof, and calls `each` for every position of those that hold.
fn visit<G: Game>(game: &G, proof: &Proof, each: Visit<G>) -> Result<Checked, CheckError> {
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
        let Checker { met, path, .. } = checker;
        checked.map_err(|(line, message)| CheckError::Wrong { section: number, line, path, message })?;
        for (state, moves) in met.iter().flatten().zip(&section.lines) {
            let ours = game.to_move(state) == section.goal.side;
            each(state, section.goal, moves.first().filter(|_| ours).map(|(word, _)| &**word));
        }
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
        let argument = entries.first().and_then(|(word, _)| word.strip_prefix(ARGUMENT));
        let entries = &entries[usize::from(argument.is_some())..];
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
        let side = self.section.goal.side;
        if let Some(text) = argument {
            if self.game.to_move(&state) == side && !played.is_empty() {
                return Err((line, "a move beside an argument that needs none".into()));
            }
            let checked = self.game.check_argument(&state, side, &played, text);
            checked.map_err(|message| (line, message))?;
        } else if self.game.to_move(&state) == side {
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
