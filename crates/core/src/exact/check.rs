//! Checks a proof by the rules alone: every reply is there, every move is legal, every line ends as it should. No search
//! code runs here. Where a line has an argument of the game's own, the game checks it, as strictly. Lines lead to earlier
//! lines only, so nothing goes round in circles; a line stands for one position, history included, so what one path
//! proves is not taken for what another would need. There is no recursion: a proof may be as deep as it is long.

use super::proof::{Goal, Proof};
use super::script::{Packed, Ranked, Script};
use super::value::{Bounds, Value};
use super::worker::position;
use crate::domain::{Domain, Game};
use crate::ident::Ident;
use crate::play::PlayError;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

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

/// So many moves of a path are told at its beginning and at its end.
const PATH_TOLD: usize = 20;

fn after(path: &[String]) -> String {
    match path.len() {
        0 => String::new(),
        count if count > 2 * PATH_TOLD => {
            let (begin, end) = (&path[..PATH_TOLD], &path[count - PATH_TOLD..]);
            format!(" (after {} ... {}: {count} moves)", begin.join(" "), end.join(" "))
        }
        _ => format!(" (after {})", path.join(" ")),
    }
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
pub(crate) fn check<G: Game>(game: &G, script: &Script) -> Result<Checked, CheckError> {
    visit(game, script, &mut |_, _, _, _| {})
}

/// What a proof that holds says of every position in it, the one that is proved last.
pub(crate) fn harvest<G: Game>(game: &G, proof: &Proof) -> Result<Vec<Fact>, CheckError> {
    let (mut facts, mut at) = (Vec::<(usize, Fact)>::new(), HashMap::new());
    visit(game, &Script::of(proof), &mut |line, state, goal, word| {
        let Some(ident) = game.ident(state) else { return };
        let mv = word.and_then(|word| game.parse_move(state, word));
        let best = mv.map(|mv| game.move_id(game.move_image(mv, ident.image.into())));
        let fact = Fact { ident, bounds: goal.bounds(), best };
        let slot = *at.entry((ident.key, ident.check, ident.precondition)).or_insert(facts.len());
        match facts.get_mut(slot) {
            None => facts.push((line, fact)),
            // Both sides of a draw, or the mirror image of a position that was there.
            Some((known_line, known)) => {
                *known_line = line.max(*known_line);
                known.bounds = known.bounds.meet(fact.bounds).unwrap_or(known.bounds);
                known.best = known.best.or(best);
            }
        }
    })?;
    facts.sort_by_key(|&(line, _)| line);
    Ok(facts.into_iter().map(|(_, fact)| fact).collect())
}

/// Called with the number of a line, its position, what is proved of it, and the move if it is the turn of the side that
/// reaches the goal. Nothing may be made of it before the whole proof was found to hold.
type Visit<'a, G> = &'a mut dyn FnMut(usize, &<G as Domain>::State, Goal, Option<&str>);

/// Checks all sections of a proof, and calls `each` for every position.
fn visit<G: Game>(game: &G, script: &Script, each: Visit<G>) -> Result<Checked, CheckError> {
    let state = position(game, script.start.as_deref(), &script.moves)?;
    for (section, number) in script.sections.iter().zip(1..) {
        let shared = section.shared();
        let prints = vec![[0; 2]; shared.count];
        let hashers = [RandomState::new(), RandomState::new()];
        let mut checker = Checker { game, script, section, shared, prints, hashers, frames: Vec::new() };
        let checked = match (game.outcome(&state), section.lines()) {
            (Some(_), 0) => checker.end(&state),
            (Some(_), _) => Err((0, "the game is over at the position, and there are lines".into())),
            (None, 0) => Err((0, "the game is not over at the position, and there are no lines".into())),
            (None, _) => match section.lonely() {
                // Lines lead to earlier ones: what something leads to is reached from the last.
                Some(line) => Err((line, "nothing leads here".into())),
                None => checker.run(state.clone(), each),
            },
        };
        checked.map_err(|(line, message)| {
            let path = checker.path();
            CheckError::Wrong { section: number, line, path, message }
        })?;
    }
    let goals = script.sections.iter().map(|section| section.goal).collect();
    Ok(Checked { goals, positions: script.positions() })
}

struct Checker<'a, G: Game> {
    game: &'a G,
    script: &'a Script,
    section: &'a Packed,
    /// The lines that are met more than once, and for each 128 bits of its position under keys that nobody knows
    /// beforehand: whole states would be many times the size of the proof. Zero: not met yet.
    shared: Ranked<'a>,
    prints: Vec<[u64; 2]>,
    hashers: [RandomState; 2],
    /// The lines from the last one to where the checker is.
    frames: Vec<Frame<G::State>>,
}

/// A line whose entries are being followed.
struct Frame<S> {
    state: S,
    line: usize,
    /// Entries that are left, where the next begins, and where the one that is being followed does.
    left: usize,
    next: usize,
    here: usize,
}

type Wrong = (usize, String);

impl<G: Game> Checker<'_, G> {
    /// Checks everything that the last line leads to.
    fn run(&mut self, root: G::State, each: Visit<G>) -> Result<(), Wrong> {
        let mut legal = Vec::new();
        self.open(self.section.lines() - 1, root, &mut legal, each)?;
        while let Some(frame) = self.frames.last_mut() {
            if frame.left == 0 {
                self.frames.pop();
                continue;
            }
            let (line, step) = (frame.line, self.script.step(self.section, frame.line, frame.next));
            (frame.left, frame.here, frame.next) = (frame.left - 1, frame.next, step.next);
            let word = step.word;
            let mv = self.game.parse_move(&frame.state, word).expect("parsed when the line was opened");
            let mut next = frame.state.clone();
            self.game.play(&mut next, mv);
            match (self.game.outcome(&next), step.to) {
                (Some(_), None) => self.end(&next).map_err(|(_, message)| (line, message))?,
                (None, Some(to)) => self.open(to, next, &mut legal, each)?,
                (Some(_), Some(_)) => return Err((line, format!("the game is over after '{word}'"))),
                (None, None) => return Err((line, format!("the game goes on after '{word}'"))),
            }
        }
        Ok(())
    }

    /// Checks the moves of a line, and has them followed next, unless the line was met before.
    fn open(
        &mut self,
        line: usize,
        state: G::State,
        legal: &mut Vec<G::Move>,
        each: Visit<G>,
    ) -> Result<(), Wrong> {
        if let Some(rank) = self.shared.rank(line) {
            let [one, two] = &self.hashers;
            let print = [one.hash_one(&state) | 1, two.hash_one(&state)];
            let known = std::mem::replace(&mut self.prints[rank], print);
            if known == print {
                return Ok(());
            } else if known != [0; 2] {
                return Err((line, "two paths lead here to different positions".into()));
            }
        }
        legal.clear();
        self.game.moves(&state, legal);
        let (mut left, mut next) = self.section.line(self.script, line);
        let side = self.section.goal.side;
        let ours = self.game.to_move(&state) == side;
        let mut argument = None;
        if left > 0 {
            let step = self.script.step(self.section, line, next);
            argument = step.word.strip_prefix(ARGUMENT);
            each(line, &state, self.section.goal, ours.then_some(step.word));
            if argument.is_some() {
                (left, next) = (left - 1, step.next);
            }
        }
        let mut played = Vec::new();
        let mut at = next;
        for _ in 0..left {
            let step = self.script.step(self.section, line, at);
            let mv = self.game.parse_move(&state, step.word);
            let mv = mv.ok_or_else(|| (line, format!("'{}' is not a legal move", step.word)))?;
            if played.contains(&mv) {
                return Err((line, format!("'{}' is there twice", step.word)));
            }
            played.push(mv);
            at = step.next;
        }
        if let Some(text) = argument {
            if ours && !played.is_empty() {
                return Err((line, "a move beside an argument that needs none".into()));
            }
            let checked = match self.game.expert() {
                Some(expert) => expert.check_argument(&state, side, &played, text),
                None => Err("this game has no arguments of its own".into()),
            };
            checked.map_err(|message| (line, message))?;
        } else if ours {
            if played.len() != 1 {
                return Err((
                    line,
                    format!("expected one move of the side that reaches the goal, found {}", played.len()),
                ));
            }
        } else if let Some(&missing) = legal.iter().find(|mv| !played.contains(mv)) {
            return Err((line, format!("the reply '{}' is missing", self.game.show_move(&state, missing))));
        }
        self.frames.push(Frame { state, line, left, next, here: next });
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

    /// The moves to where the checker is.
    fn path(&self) -> Vec<String> {
        let word = |frame: &Frame<_>| self.script.step(self.section, frame.line, frame.here).word.to_string();
        // An argument alone is no move.
        let moved = self.frames.iter().filter(|frame| frame.here != frame.next);
        moved.map(word).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Nim;
    use std::fmt::Write as _;

    /// A proof that the second side takes the last one of `heap`, a multiple of four.
    fn nim(heap: usize) -> String {
        let mut text = format!("sortie proof 1\ninstance = nim/{heap}\nmoves = \n\ngoal second wins\n");
        for fours in 0..heap / 4 {
            let base = 4 * fours;
            let to = |line: usize| if fours == 0 { String::new() } else { format!("={}", line) };
            for taken in 1..4 {
                let _ = writeln!(text, "{taken}{}", to(base.wrapping_sub(1)));
            }
            let _ = writeln!(text, "1={} 2={} 3={}", base + 2, base + 1, base);
        }
        text
    }

    #[test]
    fn a_proof_as_deep_as_its_game_is_checked_without_recursion() {
        // 28.7: a stack of calls overflowed here.
        let heap = 400_000;
        let script = Script::read(&mut nim(heap).as_bytes()).unwrap();
        let game = Nim { heap: heap as u32 };
        assert_eq!(check(&game, &script).unwrap().positions, heap);
        let wrong = nim(heap).replacen("\n1\n2\n3\n", "\n1\n2\n2\n", 1);
        let error = check(&game, &Script::read(&mut wrong.as_bytes()).unwrap()).unwrap_err().to_string();
        assert!(error.starts_with("goal 1, line 2 (after 1 3 1 3"), "{}", &error[..80]);
        assert!(error.len() < 200 && error.contains(" ... "), "the path is told in part");
    }

    #[test]
    fn lines_that_nothing_leads_to_and_mixed_up_lines_are_refused() {
        let game = Nim { heap: 8 };
        let text = nim(8);
        let checked = |text: &str| check(&game, &Script::read(&mut text.as_bytes()).unwrap());
        assert!(checked(&text).is_ok());
        for (from, to, why) in [
            ("1=6 2=5 3=4", "1=6 2=5 3=6", "nothing leads here"),
            ("1=6 2=5 3=4", "1=6 2=5", "nothing leads here"),
            ("1=2 2=1 3=0", "1=2 2=0 3=1", "the game goes on after '1'"),
            ("1=6 2=5 3=4", "1=6 2=4 3=5", "two paths lead here"),
            ("goal second", "goal first", "expected one move"),
        ] {
            let error = checked(&text.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(why), "{from} -> {to}: {error}");
        }
    }
}
