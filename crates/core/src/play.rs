//! Two-player games for whoever does not know their types: a board on which a game is under way, and a player who is
//! asked for a move. The referee, the terminal, the text protocol and the dashboard see nothing else.

use crate::any::Position;
use crate::domain::{Game, Outcome, Side};
use crate::ident::Ident;
use crate::picture::Picture;
use crate::replay::{ReplayError, legal_texts};
use cpu_time::ThreadTime;
use serde::Serialize;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// A game under way.
pub trait AnyBoard: Send {
    /// Plays a move given as a word.
    fn play(&mut self, word: &str) -> Result<(), ReplayError>;
    /// Takes the last move back; false if there is none.
    fn undo(&mut self) -> bool;
    /// The moves so far.
    fn words(&self) -> &[String];
    /// Whose move it is. Meaningless once the game is over.
    fn to_move(&self) -> Side;
    /// How the game ended, if it has.
    fn outcome(&self) -> Option<Outcome>;
    /// The legal moves.
    fn legal(&self) -> Vec<String>;
    /// The hash of the position.
    fn key(&self) -> u64;
    /// A hash of the whole state, of everything that later play depends on: other than `key` it tells positions apart
    /// that differ in their history where the rules look at that. Not the same from one build to the next.
    fn identity(&self) -> u128;
    /// The name of the position in a database; `None` if the game has none.
    fn ident(&self) -> Option<Ident>;
    /// The number of a legal move in a mirror image of the position; `None` if it is not legal.
    fn image_of(&self, word: &str, image: u8) -> Option<u16>;
    /// The legal move that has this number in a mirror image of the position.
    fn of_image(&self, number: u16, image: u8) -> Option<String>;
    /// The domain's glance at the position, seen by the first side, in `0..=1`.
    fn evaluate(&self) -> f64;
    /// The position as text for a terminal.
    fn show(&self) -> String;
    /// The position as a drawing.
    fn draw(&self) -> Option<Picture>;
    /// The position as one line, where the game has such a text.
    fn position(&self) -> Option<String>;
    /// The position in the form that `show` and the reports print.
    fn view(&self) -> Position;
    /// For every legal move its word and its category, and how many categories there are: what a table of move
    /// categories is learnt from.
    fn categories(&self) -> (Vec<(String, usize)>, usize);
}

/// How much thought a move may cost. Several limits: whichever comes first. None: until somebody says stop.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Simulations.
    pub playouts: Option<u64>,
    /// Nodes added to the tree.
    pub nodes: Option<u64>,
    /// Wall time.
    pub seconds: Option<f64>,
    /// CPU time of the threads that search.
    pub cpu_seconds: Option<f64>,
}

impl Budget {
    /// So many simulations.
    pub fn playouts(playouts: u64) -> Budget {
        Budget { playouts: Some(playouts), ..Budget::default() }
    }
}

impl Budget {
    /// The clock of a move that begins now and is thought about by this thread alone.
    pub fn meter<'a>(&self, stop: &'a AtomicBool) -> Meter<'a> {
        Meter { budget: *self, stop, begun: Instant::now(), cpu: ThreadTime::now() }
    }
}

/// How much of the time of a budget is spent: for engines of a domain's own, which read no clock. Not to be sent to
/// another thread.
#[derive(Debug)]
pub struct Meter<'a> {
    budget: Budget,
    stop: &'a AtomicBool,
    begun: Instant,
    cpu: ThreadTime,
}

impl Meter<'_> {
    /// The share of the wall or CPU time that is spent, whichever is more; 1 or above: it is over. Limits by playouts
    /// and nodes are the engine's own business.
    pub fn spent(&self) -> f64 {
        if self.stop.load(Relaxed) {
            return 1.0;
        }
        let wall = self.budget.seconds.map_or(0.0, |s| self.seconds() / s.max(1e-9));
        let cpu = self.budget.cpu_seconds.map_or(0.0, |s| self.cpu_seconds() / s.max(1e-9));
        wall.max(cpu)
    }

    /// Wall time since it began.
    pub fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// CPU time of this thread since it began.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu.elapsed().as_secs_f64()
    }
}

/// How a gang was busy.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GangReport {
    /// Ranks.
    pub ranks: u32,
    /// The time is modelled, not measured.
    pub modelled: bool,
    /// Simulations begun.
    pub begun: u64,
    /// Come home with a value.
    pub home: u64,
    /// Given up, with a rank or a frame that was lost.
    pub lost: u64,
    /// Playouts of the busiest rank over the mean of all.
    pub busiest: f64,
    /// Nodes added.
    pub added: u64,
    /// About how many of them were different positions.
    pub distinct: f64,
    /// Records sent for each simulation.
    pub records: f64,
    /// Bytes sent for each simulation.
    pub bytes: f64,
    /// Bytes of a record, its share of the frame included.
    pub bytes_a_record: f64,
    /// Simulations of the front in flight when it was halted.
    pub in_flight: u64,
    /// Core seconds of work, where the time is modelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_seconds: Option<f64>,
    /// The share of the time in which the busiest core that keeps a tree was busy, where the time is modelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busiest_core: Option<f64>,
    /// Records refused.
    pub refused: u64,
    /// What went wrong.
    pub note: Option<String>,
}

/// What a player thinks of a position.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Thought {
    /// The move to play; `None` only where there is none.
    pub best: Option<String>,
    /// The value of the position for the first side, in `0..=1`.
    pub value: f64,
    /// The outcome under perfect play, where it is proved.
    pub proved: Option<Outcome>,
    /// The moves considered, the best first.
    pub lines: Vec<Line>,
    /// Simulations of this search.
    pub playouts: u64,
    /// Nodes in the tree.
    pub nodes: u64,
    /// The longest line in the tree.
    pub depth: u32,
    /// Wall time.
    pub seconds: f64,
    /// CPU time of the threads that searched.
    pub cpu_seconds: f64,
    /// The share of the memory bound in use, in `0..=1`.
    pub fill: f64,
    /// How often the least visited part of the tree was given up to make room.
    pub recycled: u64,
    /// How the ranks were busy, where the search was spread over several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang: Option<GangReport>,
}

/// One move of a position and what is expected to follow it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Line {
    /// The moves, the first of them the one considered.
    pub moves: Vec<String>,
    /// Simulations that began with it.
    pub visits: u64,
    /// Their mean value for the first side.
    pub value: f64,
    /// The outcome under perfect play, where it is proved.
    pub proved: Option<Outcome>,
}

/// Somebody who chooses moves.
pub trait AnyPlayer: Send {
    /// Sets the position: a start (`None`: the game's own) and the moves played from it. What was thought before is
    /// kept where the new position follows from the old one.
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError>;
    /// Thinks until the budget is spent or `stop` is set. `tell` hears a few times a second how it is going. Our own
    /// searches never fail; an engine of somebody else's may.
    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault>;
    /// Forgets everything: a new game begins. The random numbers begin anew from `seed`.
    fn reset(&mut self, seed: u64);
}

/// Why a player has no move: the game is lost for it, and the log says so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It ended, or closed its output.
    #[error("the engine ended: {0}")]
    Crashed(String),
    /// It did not answer in time.
    #[error("no answer within {0} s")]
    Hung(u64),
    /// It wrote more than anybody reads.
    #[error("more than {0} bytes of output for one move")]
    Flooded(u64),
    /// It answered with something else than a legal move.
    #[error("'{0}' is not a legal move")]
    Nonsense(String),
}

/// Why a position cannot be set up.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlayError {
    /// The text of the start means nothing.
    #[error("'{text}' is not a position: {message}")]
    Position {
        /// The text.
        text: String,
        /// What is wrong with it.
        message: String,
    },
    /// The moves after it are not all legal.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// Whoever was asked about it failed too often to be asked again.
    #[error("{0}")]
    Engine(String),
}

/// A game under way, of any type: its states from the start on, so that a move can be taken back.
pub(crate) struct Board<G: Game> {
    game: Arc<G>,
    /// `states[i]` is the position after `words[..i]`.
    states: Vec<G::State>,
    words: Vec<String>,
}

impl<G: Game> Board<G> {
    /// A game from `start`, the game's own if there is none.
    pub fn new(game: Arc<G>, start: Option<&str>) -> Result<Self, PlayError> {
        let state = start_of(&*game, start)?;
        Ok(Board { game, states: vec![state], words: Vec::new() })
    }

    fn state(&self) -> &G::State {
        self.states.last().expect("the start is never taken back")
    }

    /// The position before the last turn, which has several moves in some games.
    fn before_last_turn(&self) -> Option<&G::State> {
        let mut before = self.states.iter().rev().skip(1);
        let last = before.next()?;
        let mover = self.game.to_move(last);
        Some(before.take_while(|state| self.game.to_move(state) == mover).last().unwrap_or(last))
    }
}

/// The position that a text describes, or the game's own start.
pub(crate) fn start_of<G: Game>(game: &G, start: Option<&str>) -> Result<G::State, PlayError> {
    match start {
        None => Ok(game.initial()),
        Some(text) => game
            .parse_position(text)
            .map_err(|message| PlayError::Position { text: text.chars().take(200).collect(), message }),
    }
}

impl<G: Game> AnyBoard for Board<G> {
    fn play(&mut self, word: &str) -> Result<(), ReplayError> {
        let mut state = self.state().clone();
        let Some(mv) = self.game.parse_move(&state, word) else {
            let legal = self.legal().into_iter().take(8).collect();
            return Err(ReplayError::Illegal { number: self.words.len() + 1, word: word.into(), legal });
        };
        let word = self.game.show_move(&state, mv);
        self.game.play(&mut state, mv);
        self.states.push(state);
        self.words.push(word);
        Ok(())
    }

    fn undo(&mut self) -> bool {
        if self.words.pop().is_none() {
            return false;
        }
        self.states.pop();
        true
    }

    fn words(&self) -> &[String] {
        &self.words
    }

    fn to_move(&self) -> Side {
        self.game.to_move(self.state())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.game.outcome(self.state())
    }

    fn legal(&self) -> Vec<String> {
        legal_texts(&*self.game, self.state())
    }

    fn key(&self) -> u64 {
        self.game.key(self.state())
    }

    fn identity(&self) -> u128 {
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            salt.hash(&mut hasher);
            self.state().hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(1) << 64 | half(2)
    }

    fn ident(&self) -> Option<Ident> {
        self.game.ident(self.state())
    }

    fn image_of(&self, word: &str, image: u8) -> Option<u16> {
        let mv = self.game.parse_move(self.state(), word)?;
        Some(self.game.move_id(self.game.move_image(mv, image.into())))
    }

    fn of_image(&self, number: u16, image: u8) -> Option<String> {
        let mut moves = Vec::new();
        self.game.moves(self.state(), &mut moves);
        let is = |mv: &&G::Move| self.game.move_id(self.game.move_image(**mv, image.into())) == number;
        moves.iter().find(is).map(|&mv| self.game.show_move(self.state(), mv))
    }

    fn evaluate(&self) -> f64 {
        self.game.evaluate(self.state())
    }

    fn show(&self) -> String {
        self.game.show(self.state())
    }

    fn draw(&self) -> Option<Picture> {
        let mut picture = self.game.draw(self.state())?;
        if let Some(before) = self.before_last_turn() {
            picture.mark(&self.game.draw(before)?);
        }
        Some(picture)
    }

    fn position(&self) -> Option<String> {
        self.game.position(self.state())
    }

    fn view(&self) -> Position {
        Position {
            text: self.show(),
            picture: self.draw(),
            score: self.outcome().map_or(0.5, |outcome| outcome.value()),
            facts: Vec::new(),
            legal: self.legal(),
        }
    }

    fn categories(&self) -> (Vec<(String, usize)>, usize) {
        let mut moves = Vec::new();
        self.game.moves(self.state(), &mut moves);
        let of = |mv| (self.game.show_move(self.state(), mv), self.game.category(self.state(), mv));
        (moves.into_iter().map(of).collect(), self.game.categories().len())
    }
}

/// The number of ways to play `depth` moves: the number that tells whether the rules are right.
pub(crate) fn perft<G: Game>(game: &G, state: &G::State, depth: u32) -> u64 {
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    if depth <= 1 {
        return if depth == 0 { 1 } else { moves.len() as u64 };
    }
    let mut next = state.clone();
    let mut count = 0;
    for mv in moves {
        next.clone_from(state);
        game.play(&mut next, mv);
        count += perft(game, &next, depth - 1);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Nim;

    #[test]
    fn a_board_plays_refuses_and_takes_back() {
        let mut board = Board::new(Arc::new(Nim { heap: 5 }), None).unwrap();
        board.play("2").unwrap();
        assert!(matches!(board.play("4"), Err(ReplayError::Illegal { number: 2, .. })));
        assert_eq!((board.to_move(), board.outcome()), (Side::Second, None));
        board.play("3").unwrap();
        assert_eq!(board.outcome(), Some(Outcome::Win(Side::Second)));
        assert!(board.undo() && board.undo() && !board.undo());
        assert_eq!(board.position().as_deref(), Some("5 first"));
        assert!(Board::new(Arc::new(Nim { heap: 5 }), Some("five")).is_err());
    }

    #[test]
    fn perft_of_nim_counts_compositions() {
        // The compositions of n into parts of at most three, cut after `depth` parts.
        let nim = Nim { heap: 4 };
        let counts: Vec<u64> = (0..=4).map(|depth| perft(&nim, &(4, false), depth)).collect();
        assert_eq!(counts, [1, 3, 6, 4, 1]);
    }
}
