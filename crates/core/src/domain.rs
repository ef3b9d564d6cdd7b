//! The contract: what a problem or a game tells a search about itself.
//!
//! `self` is always the instance (a board, a set of customers), immutable and shared by all threads; the position
//! is the `State`. A search clones states into scratch space and never undoes a move. `moves` and `play` are the
//! rules; everything else has a default or is one line. `crate::toy` holds the smallest complete examples.

use crate::exact::{Goal, Strategist};
use crate::expert::{Expert, Specialist};
use crate::ident::{Ident, Precondition};
use crate::measure::Measure;
use crate::picture::Picture;
use crate::planes::Learnable;
use crate::processor::Processor;
use crate::rng::Rng;
use crate::search::{Auto, Form, Search};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

/// The rules of an instance: where it starts, what may be done, what doing it changes.
pub trait Domain: Send + Sync + 'static {
    /// A position. Flat data: it is cloned at the start of every playout.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// A move: a few bytes.
    type Move: Copy + Eq + Hash + Debug + Send + Sync;

    /// The position a playout starts from.
    fn initial(&self) -> Self::State;

    /// Appends every legal move. The order depends on the state only. No legal move means the end.
    fn moves(&self, state: &Self::State, out: &mut Vec<Self::Move>);

    /// Plays a legal move. Trusts the caller: text from outside goes through `parse_move` first.
    fn play(&self, state: &mut Self::State, mv: Self::Move);

    /// The position as text for a terminal, several lines, without a trailing newline.
    fn show(&self, state: &Self::State) -> String;

    /// A move as one word. Words are what records consist of, so they must tell the legal moves of a state apart.
    fn show_move(&self, state: &Self::State, mv: Self::Move) -> String;

    /// The legal move that a word means, or `None`. Overridden where listing all moves is slow.
    fn parse_move(&self, state: &Self::State, word: &str) -> Option<Self::Move> {
        let mut moves = Vec::new();
        self.moves(state, &mut moves);
        moves.into_iter().find(|&mv| self.show_move(state, mv) == word)
    }

    /// A uniformly random legal move, or `None` at the end. `scratch` is any buffer of the caller's.
    /// Overridden where a move can be drawn without listing all of them.
    fn random_move(
        &self,
        state: &Self::State,
        rng: &mut Rng,
        scratch: &mut Vec<Self::Move>,
    ) -> Option<Self::Move> {
        scratch.clear();
        self.moves(state, scratch);
        if scratch.is_empty() { None } else { Some(scratch[rng.below(scratch.len())]) }
    }

    /// The position as a drawing, for `sortie show` and the reports.
    fn draw(&self, _state: &Self::State) -> Option<Picture> {
        None
    }

    /// The processor that searches of it run on. A domain whose kernel has been told which one it is says so.
    fn processor(&self) -> Processor {
        Processor::here()
    }

    /// The domain as a network sees it: `Some(self)` where it is `Learnable`.
    fn learnable(&self) -> Option<&dyn Learnable<State = Self::State, Move = Self::Move>> {
        None
    }
}

/// A sequence to build, scored at its end. Higher is better, always: costs are negated.
pub trait Problem: Domain {
    /// The score of a position. Only asked at the end of a playout, so it may be slow.
    fn score(&self, state: &Self::State) -> f64;

    /// Where the policy keeps the weight of this move: two moves that should be learnt as one share a code.
    fn code(&self, state: &Self::State, mv: Self::Move) -> u64;

    /// All codes are below this number, and it is small (at most about a million): the policy becomes an array.
    /// `None`: codes are hashes.
    fn codes_max(&self) -> Option<usize> {
        None
    }

    /// GNRPA's prior: added to the weight of the move wherever a probability is computed from it.
    fn bias(&self, _state: &Self::State, _mv: Self::Move) -> f64 {
        0.0
    }

    /// The moves a policy search is offered, with their codes, into the caller's empty buffers: `moves` by default.
    /// Overridden to leave out moves that a good player would not consider (the selective policy of SameGame), or to
    /// copy codes that the state already knows. At least one choice whenever there is a legal move; all of them legal;
    /// the order depends on nothing but the moves that led here.
    fn choices(&self, state: &Self::State, out: &mut Choices<Self::Move>) {
        self.moves(state, &mut out.moves);
        for &mv in &out.moves {
            out.codes.push(self.code(state, mv));
        }
    }

    /// The same for a domain most of whose choices stay on offer from step to step: fills `moves` and, index by index, the
    /// `places` of their codes in a list that the state keeps of all codes there have been since the beginning, and gives
    /// that list. It has the codes of all legal moves, and only grows along a playout. A policy then looks up each entry
    /// once, and not at each step. `None` where the domain keeps no such list: `choices` is asked.
    fn places<'s>(&self, _state: &'s Self::State, _out: &mut Choices<Self::Move>) -> Option<&'s [u64]> {
        None
    }

    /// Local search on the end of a playout and the moves that led there from the initial position: a better end, as all
    /// the moves to it, or `None` where none is found or the domain has no such thing. Every move is legal, the last leads
    /// to an end, and the score is strictly higher. All chance comes from `rng`, and the effort is bounded: some
    /// milliseconds.
    fn improve(&self, _end: &Self::State, _moves: &[Self::Move], _rng: &mut Rng) -> Option<Vec<Self::Move>> {
        None
    }

    /// The domain's own search, for those that know more about their instances than moves and scores tell; `saved` is
    /// what `Specialist::save` of an earlier one returned. Chance comes from the numbers it is handed and nowhere else.
    fn specialist(&self, _saved: Option<&[u8]>) -> Option<Box<dyn Specialist<Self::Move> + '_>> {
        None
    }

    /// How good a position looks that the game may go on from: higher is better, and only positions of the same length
    /// are ever compared. `None`, of all positions, where the domain has nothing to say; a beam search then asks playouts.
    /// Where there is a promise, `score` is asked of any position: roughly the least that an end reached from it has.
    fn promise(&self, _state: &Self::State) -> Option<f64> {
        None
    }

    /// What tells ends apart besides score and length: a search that keeps several solutions (HD-NRPA) keeps one of
    /// those that are equal in all three. Overridden where score and length say too little, as when they are the same.
    fn fingerprint(&self, _end: &Self::State) -> u64 {
        0
    }

    /// The search to take where nobody asks for one: what does best on instances never seen, by measurement. The default
    /// is that of a domain nobody has measured: several searches that take turns, most of them to what pays.
    fn suits(&self) -> Search {
        Search::Auto(Auto {})
    }

    /// The problem in other forms, each of which finds some of the solutions with fewer moves: those that a symmetry maps
    /// to themselves, say. `Search::Auto` gives them turns as well.
    fn forms(&self) -> Vec<Box<dyn Form<Self::Move> + '_>> {
        Vec::new()
    }

    /// What else a result says about a finished position: `("vehicles", 19.0)`.
    fn facts(&self, _state: &Self::State) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// A score in the domain's own words, the aim that matters most first: `[vehicles, distance]`. By default it is nothing
    /// but a number.
    fn measures(&self, score: f64) -> Vec<Measure> {
        vec![Measure::most("", score)]
    }

    /// The best score known for this instance, where there is one worth comparing with.
    fn best_known(&self) -> Option<f64> {
        None
    }
}

/// What `Problem::choices` fills: the moves on offer and, index by index, their codes.
#[derive(Debug)]
pub struct Choices<M> {
    /// The moves on offer.
    pub moves: Vec<M>,
    /// `codes[i]` is the code of `moves[i]`.
    pub codes: Vec<u64>,
    /// What `Problem::places` fills instead of `codes`.
    pub places: Vec<u32>,
}

impl<M> Choices<M> {
    /// Empty buffers.
    pub fn new() -> Self {
        Choices { moves: Vec::new(), codes: Vec::new(), places: Vec::new() }
    }

    /// Empties the buffers and keeps their memory.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.codes.clear();
        self.places.clear();
    }
}

impl<M> Default for Choices<M> {
    fn default() -> Self {
        Self::new()
    }
}

/// The two sides of a game. Values are always seen by `First`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The side that makes the first move of the game.
    First,
    /// The other one.
    Second,
}

impl Side {
    /// The opponent.
    pub fn other(self) -> Side {
        match self {
            Side::First => Side::Second,
            Side::Second => Side::First,
        }
    }

    /// A value in `0..=1` of the first side as this side sees it, or the other way round. The only place where a value
    /// changes its owner.
    pub fn view(self, value: f64) -> f64 {
        match self {
            Side::First => value,
            Side::Second => 1.0 - value,
        }
    }
}

/// How a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// This side won.
    Win(Side),
    /// Nobody won.
    Draw,
}

impl Outcome {
    /// 1 if the first side won, 0 if it lost, 1/2 for a draw. The only place where an outcome becomes a number.
    pub fn value(self) -> f64 {
        match self {
            Outcome::Win(Side::First) => 1.0,
            Outcome::Win(Side::Second) => 0.0,
            Outcome::Draw => 0.5,
        }
    }

    /// The same with First's view turned into `side`'s.
    pub fn value_for(self, side: Side) -> f64 {
        side.view(self.value())
    }
}

/// Two players, perfect information, not necessarily strictly alternating: a side may have several plies in a row.
///
/// The first five methods are the game. The rest is knowledge that a search may use or leave: each has a default
/// that knows nothing.
pub trait Game: Domain {
    /// Whose move it is. Meaningless once the game is over.
    fn to_move(&self, state: &Self::State) -> Side;

    /// How the game ended, or `None` while it goes on. A state without legal moves has an outcome, and a state with an
    /// outcome has no legal moves. Asked after every move of a playout: `play` should have found it out already.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// A hash of everything that later play depends on, but for what a search may overlook (how often a position has
    /// occurred). Equal states have equal keys. Asked in the tree only, never in playouts.
    fn key(&self, state: &Self::State) -> u64;

    /// A move as a small number: what a tree stores and what travels between machines. Any two moves that are ever
    /// legal in one state have different numbers.
    fn move_id(&self, mv: Self::Move) -> u16;

    /// The move that `move_id` made into this number. Only asked for numbers of moves that are legal in `state`.
    fn move_of(&self, state: &Self::State, id: u16) -> Self::Move;

    /// The legal move with this number, or `None`: for numbers that somebody else sent. Overridden where one move can
    /// be judged without listing all.
    fn legal_move(&self, state: &Self::State, id: u16) -> Option<Self::Move> {
        let mut moves = Vec::new();
        self.moves(state, &mut moves);
        moves.into_iter().find(|&mv| self.move_id(mv) == id)
    }

    /// A position as one line of text, from which `parse_position` makes it again. What came before it (repetitions)
    /// is forgotten.
    fn position(&self, _state: &Self::State) -> Option<String> {
        None
    }

    /// The position that a line of text describes, or what is wrong with it.
    fn parse_position(&self, _text: &str) -> Result<Self::State, String> {
        Err("this game has no text for positions: give the moves that lead there".into())
    }

    /// Counted up when rules change under the same name: what was proved before is not taken for proved then.
    fn rules_version(&self) -> u16 {
        1
    }

    /// How many mirror images the board has under which the rules stay as they are, the board itself among them.
    fn images(&self) -> usize {
        1
    }

    /// What is on the board and who is to move, as one line, of mirror image `image`; 0 is the board itself. A database
    /// knows a position by it. `None` if the game has no such text.
    fn written(&self, state: &Self::State, _image: usize) -> Option<String> {
        self.position(state)
    }

    /// A move in mirror image `image`.
    fn move_image(&self, mv: Self::Move, _image: usize) -> Self::Move {
        mv
    }

    /// What later play depends on besides `written`: a value is stored under it. The default finds out: nothing if the
    /// state is the one that its text makes again, otherwise all of the state.
    fn precondition(&self, state: &Self::State) -> Precondition {
        let again = self.position(state).map(|text| self.parse_position(&text));
        match again {
            Some(Ok(again)) if again == *state => Precondition::NONE,
            _ => Precondition::history(state),
        }
    }

    /// The name of the position in a database. Overridden where there is a quicker way than texts.
    fn ident(&self, state: &Self::State) -> Option<Ident>
    where
        Self: Sized,
    {
        crate::ident::by_text(self, state)
    }

    /// Whether a game can end in a draw. Where it cannot, who does not win has lost, and one question is enough.
    fn draws(&self) -> bool {
        true
    }

    /// What the rules let one know without looking ahead, for exact searches: takes moves that lose for certain out of a
    /// list of legal ones, or all but one that wins. None left: every move of the list loses. Proofs are checked without
    /// it.
    fn narrow(&self, _state: &Self::State, _moves: &mut Vec<Self::Move>) {}

    /// A quick guess at how good a move is, only compared between moves of one state. Playouts that draw two moves
    /// keep the more appealing one, so it has to be cheap.
    fn appeal(&self, _state: &Self::State, _mv: Self::Move) -> i32 {
        0
    }

    /// For each category of moves, how often a strong player plays one where there is one: in `0..=1`.
    fn categories(&self) -> &[f64] {
        &[1.0]
    }

    /// The category of a move, an index into `categories`.
    fn category(&self, _state: &Self::State, _mv: Self::Move) -> usize {
        0
    }

    /// A table of `categories` as the file that this game reads it from; `None` where it reads none.
    fn show_categories(&self, _weights: &[f64]) -> Option<String> {
        None
    }

    /// What a glance at the position is worth: 1 when the first side has all but won, 0 when the second has.
    fn evaluate(&self, _state: &Self::State) -> f64 {
        0.5
    }

    /// Plays random moves until the game is over or `moves_max` moves are played, and tells how it ended. Of `draws`
    /// moves drawn uniformly each time (1: uniform play), the most appealing is played. Overridden where a playout
    /// can do without the full state; the moves must then be distributed as here, and what later play depends on too
    /// rarely to matter (repetitions) may be left out.
    fn rollout(
        &self,
        state: &mut Self::State,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        scratch: &mut Vec<Self::Move>,
    ) -> Option<Outcome> {
        for _ in 0..moves_max {
            let outcome = self.outcome(state);
            if outcome.is_some() {
                return outcome;
            }
            let mv = self.appealing_move(state, draws, rng, scratch)?;
            self.play(state, mv);
        }
        self.outcome(state)
    }

    /// Whether many positions are played out more quickly at once than one by one: a search then gathers as many as it has
    /// in flight.
    fn plays_out_together(&self) -> bool {
        false
    }

    /// Plays positions out to the end: what each is worth to the first side, from 0 to 1, in their order.
    fn rollouts(&self, states: &[&Self::State], rng: &mut Rng) -> Vec<f64> {
        let mut scratch = Vec::new();
        let mut play_out = |state: &&Self::State| {
            let outcome = self.rollout(&mut (*state).clone(), 1, u32::MAX, rng, &mut scratch);
            outcome.map_or(0.5, Outcome::value)
        };
        states.iter().map(&mut play_out).collect()
    }

    /// What the game has of its own making: a player, a worker, proofs. `Some(self)` where it is an `Expert`.
    fn expert(&self) -> Option<&dyn Expert<State = Self::State, Move = Self::Move>> {
        None
    }

    /// The replies that a certificate of format 2 follows where `side` claims the win: takes out those that lose by a rule
    /// which every checker of that format knows; none are left where `side` has won, whoever is to move. `false` without
    /// such a rule.
    fn replies(&self, _state: &Self::State, _side: Side, _moves: &mut Vec<Self::Move>) -> bool {
        false
    }

    /// Whether a side has won for certain, by a rule that is part of the format of certificates (docs/certificates.md) and
    /// that every checker knows: a strategy need not be followed any further.
    fn finished(&self, _state: &Self::State, _side: Side) -> bool {
        false
    }

    /// Somebody of the game's own making who knows the moves of a strategy that reaches `goal`, remembering about so many
    /// bytes; `None`: the exact solver, which solves every game.
    fn strategist(
        self: &Arc<Self>,
        _goal: Goal,
        _memory_max: usize,
    ) -> Option<Box<dyn Strategist<Self::State, Self::Move>>>
    where
        Self: Sized,
    {
        None
    }

    /// The most appealing of `draws` uniformly random moves; the first drawn of equals.
    fn appealing_move(
        &self,
        state: &Self::State,
        draws: u32,
        rng: &mut Rng,
        scratch: &mut Vec<Self::Move>,
    ) -> Option<Self::Move> {
        let mut best = self.random_move(state, rng, scratch)?;
        for _ in 1..draws {
            let other = self.random_move(state, rng, scratch)?;
            if self.appeal(state, other) > self.appeal(state, best) {
                best = other;
            }
        }
        Some(best)
    }
}
