//! Writes a proof down: follows what the job tree decided as far as it goes, and from there on takes an argument of the
//! game's own, or the solver's moves. What the tree took from an answer is found again here, so that a certificate rests
//! on nobody's word.

use super::check::{ARGUMENT, Argued};
use super::dfpn::Solver;
use super::proof::{Goal, Section};
use super::value::Value;
use super::worker::position;
use crate::domain::{Domain, Game, Side};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The text of an argument, and the moves that it leaves to lines of their own.
type Argument<M> = (String, Vec<M>);

/// A strategy that reaches `goal` from the position after `moves`. `guide` is that of `JobTree::guide`; whatever it
/// leaves open is solved with up to `nodes_max` positions each.
pub(crate) fn certify<G: Game>(
    game: &Arc<G>,
    start: Option<&str>,
    moves: &[String],
    goal: Goal,
    guide: &[(Vec<String>, Option<String>)],
    nodes_max: u64,
    stop: &dyn Fn() -> bool,
) -> Result<Section, String> {
    let mut guided = HashMap::new();
    for (path, play) in guide {
        let state = position(&**game, start, path).map_err(|error| error.to_string())?;
        let play = match play {
            Some(word) => {
                Some(game.parse_move(&state, word).ok_or_else(|| format!("'{word}' is not legal"))?)
            }
            None => None,
        };
        guided.insert(state, play);
    }
    let root = position(&**game, start, moves).map_err(|error| error.to_string())?;
    let ask = match (goal.side, goal.at_least) {
        (Side::First, value) => value,
        // The second side gets a win if the first does not get a draw, and a draw if it does not get a win.
        (Side::Second, Value::Win) => Value::Draw,
        (Side::Second, _) => Value::Win,
    };
    let solver = Solver::new(game.clone(), MEMORY_MAX);
    let mut writer = Writer {
        game,
        goal,
        ask,
        guided,
        solver,
        nodes_max,
        stop,
        at: HashMap::new(),
        on_path: HashSet::new(),
        lines: Vec::new(),
        bytes: 0,
    };
    if game.outcome(&root).is_none() {
        writer.write(&root)?;
    }
    Ok(Section { goal, lines: writer.lines })
}

/// What the solver remembers while a proof is written, in bytes.
const MEMORY_MAX: usize = 1 << 30;
/// No proof is longer than this, in bytes of words and arguments.
const BYTES_MAX: usize = 256 << 20;
/// So many moves are taken out of an argument at most: where more do not fit it, every move has a line of its own.
const EXCEPT_MAX: usize = 64;

struct Writer<'a, G: Game> {
    game: &'a Arc<G>,
    goal: Goal,
    ask: Value,
    /// The states of the tree's proof, with the move of the side that reaches the goal.
    guided: HashMap<G::State, Option<G::Move>>,
    solver: Solver<G>,
    nodes_max: u64,
    stop: &'a dyn Fn() -> bool,
    /// The lines that are written, by state.
    at: HashMap<G::State, usize>,
    on_path: HashSet<G::State>,
    lines: Vec<Vec<(String, Option<usize>)>>,
    bytes: usize,
}

impl<G: Game> Writer<'_, G> {
    /// Writes a position that is not an end, and all it leads to; returns its line.
    fn write(&mut self, state: &G::State) -> Result<usize, String> {
        if let Some(&line) = self.at.get(state) {
            return Ok(line);
        }
        if !self.on_path.insert(state.clone()) {
            return Err("the proof goes round in a circle and cannot be written down".into());
        }
        if (self.stop)() {
            return Err("stopped".into());
        }
        let game = &**self.game;
        let mut moves: Vec<<G as Domain>::Move> = Vec::new();
        let mut entries = Vec::new();
        if let Some((argument, except)) = self.argue(state)? {
            entries.push((format!("{ARGUMENT}{argument}"), None));
            moves = except;
        } else {
            match self.choice(state)? {
                Some(mv) => moves.push(mv),
                None => game.moves(state, &mut moves),
            }
        }
        for mv in moves {
            let mut next = state.clone();
            game.play(&mut next, mv);
            let to = if game.outcome(&next).is_some() { None } else { Some(self.write(&next)?) };
            entries.push((game.show_move(state, mv), to));
        }
        self.bytes += entries.iter().map(|(word, _)| word.len() + 8).sum::<usize>();
        if self.bytes > BYTES_MAX {
            return Err(format!("it is longer than {} MiB", BYTES_MAX >> 20));
        }
        self.on_path.remove(state);
        self.lines.push(entries);
        self.at.insert(state.clone(), self.lines.len() - 1);
        Ok(self.lines.len() - 1)
    }

    /// An argument of the game's own for this position, and the moves of the other side that it leaves to lines of their
    /// own: those the tree has proved, and those the game takes out.
    fn argue(&self, state: &G::State) -> Result<Option<Argument<G::Move>>, String> {
        let (game, side) = (&**self.game, self.goal.side);
        let Some(expert) = game.expert() else { return Ok(None) };
        let ours = game.to_move(state) == side;
        let guided = self.guided.get(state);
        if guided.is_some_and(|play| play.is_some()) {
            return Ok(None);
        }
        let mut except = Vec::new();
        if guided.is_some() && !ours {
            game.moves(state, &mut except);
            except.retain(|&mv| {
                let mut next = state.clone();
                game.play(&mut next, mv);
                self.guided.contains_key(&next)
            });
        }
        while except.len() <= EXCEPT_MAX {
            if (self.stop)() {
                return Err("stopped".into());
            }
            match expert.argue(state, side, &except, self.nodes_max, self.stop) {
                Argued::Proved(text) => return Ok(Some((text, except))),
                Argued::Except(more) => {
                    let before = except.len();
                    except.extend(
                        more.into_iter().filter(|mv| !ours && !except.contains(mv)).collect::<Vec<_>>(),
                    );
                    if except.len() == before {
                        break;
                    }
                }
            }
        }
        Ok(None)
    }

    /// The move of the side that reaches the goal; `None` if it is the other's turn.
    fn choice(&mut self, state: &G::State) -> Result<Option<G::Move>, String> {
        let ours = self.game.to_move(state) == self.goal.side;
        if let Some(play) = self.guided.get(state)
            && play.is_some() == ours
        {
            return Ok(*play);
        }
        let wanted = self.goal.side == Side::First;
        let done = |solver: &Solver<G>, ask| {
            let entry = solver.entry(state, ask)?;
            (if wanted { entry.proof } else { entry.disproof } == 0).then_some(entry.mv)
        };
        let mv = match done(&self.solver, self.ask) {
            Some(mv) => mv,
            None => {
                self.solver.trim();
                let solved = self.solver.solve(state, &[], self.ask, self.nodes_max, self.stop);
                match (done(&self.solver, self.ask), solved.decided) {
                    (Some(mv), _) => mv,
                    (None, Some(_)) => return Err("an answer that was trusted is false".into()),
                    _ if (self.stop)() => return Err("stopped".into()),
                    _ => {
                        let nodes = self.nodes_max;
                        return Err(format!("a position could not be solved again within {nodes} nodes"));
                    }
                }
            }
        };
        Ok(ours.then(|| self.game.move_of(state, mv)))
    }
}
