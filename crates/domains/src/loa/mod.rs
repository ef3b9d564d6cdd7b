//! Lines of Action: who first has all pieces in one group, connected side by side or corner to corner, wins. A piece
//! moves in a straight line as many squares as there are pieces of both colours on that line, over its own pieces but
//! not over the opponent's; it captures what it lands on.
//!
//! What sources disagree about is an option: a move that connects both sides, a side that cannot move, repetition, and
//! a limit to the length. The rules proper are in `kernel.rs`, what a player knows in `knowledge.rs`.

mod kernel;
mod knowledge;
mod text;

use kernel::{End, Pieces, connected};
use sortie_core::picture::Picture;
use sortie_core::{Boxed, Domain, Game, Outcome, Processor, Rng, Side, mix};
use sortie_core::{Entry, OpenError, Opened, Request};
use std::hash::{Hash, Hasher};

pub use kernel::Move;

const NAMES: &str = "8 (the board of 8 by 8), or the path of a file with a position in one line";

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "loa",
    about: "Lines of Action: bring all your pieces together",
    names: NAMES,
    options: &[
        ("rules", "icga (default), thesis, mover-wins or openspiel: what the four options below are"),
        ("both", "a move that connects both sides: draw, or mover (who made it wins)"),
        ("stuck", "a side that cannot move: pass, or loses"),
        ("repetition", "third (time, same side to move: a draw), first (time, whoever is to move), or none"),
        ("plies", "a game of so many plies is a draw, up to 1000000; 0: no limit"),
        ("categories", "thesis (default), or the path of a table of move categories"),
    ],
    examples: &["loa/8", "loa/8:rules=thesis", "loa/8:both=mover,plies=300"],
    open,
};

const PLIES_MAX: u64 = 1_000_000;

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let presets = [Rules::ICGA, Rules::THESIS, Rules::MOVER_WINS, Rules::OPENSPIEL];
    let mut rules = presets[options.choice("rules", &["icga", "thesis", "mover-wins", "openspiel"])?];
    // What is not given stays as the preset has it.
    match options.choice("both", &["preset", "draw", "mover"])? {
        0 => {}
        n => rules.mover_wins = n == 2,
    }
    match options.choice("stuck", &["preset", "pass", "loses"])? {
        0 => {}
        n => rules.stuck_loses = n == 2,
    }
    match options.choice("repetition", &["preset", "third", "first", "none"])? {
        0 => {}
        n => rules.repetition = [Repetition::Third, Repetition::First, Repetition::None][n - 1],
    }
    rules.plies_max = options.number("plies", u64::from(rules.plies_max), PLIES_MAX)? as u32;
    let mut game = Loa::new(rules);
    match options.choice("categories", &["thesis"]) {
        // What is not a name is a path.
        Err(OpenError::OptionValue { key, given, .. }) => {
            let text = (request.read)(&given).map_err(|message| OpenError::OptionValue {
                key,
                given: given.clone(),
                expected: format!("thesis or a readable file ({message})"),
            })?;
            game.categories = knowledge::parse_categories(&text)
                .map_err(|(line, message)| OpenError::Parse { path: given, line, message })?;
        }
        other => _ = other?,
    }
    options.finish(ENTRY.options)?;
    if request.name != "8" {
        let text = request.read_file(ENTRY.name, NAMES)?;
        game.start = position_in(&game, &text).map_err(|(line, message)| OpenError::Parse {
            path: request.name.to_string(),
            line,
            message,
        })?;
    }
    Ok(Opened::Game(Box::new(Boxed::new(game))))
}

/// The position in a file: the only line that is neither empty nor a comment.
fn position_in(game: &Loa, text: &str) -> Result<State, (usize, String)> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or_default().trim()))
        .filter(|(_, line)| !line.is_empty());
    let (number, line) = lines.next().ok_or((1, "expected a position in one line".to_string()))?;
    if let Some((number, _)) = lines.next() {
        return Err((number, "expected nothing after the position".into()));
    }
    game.parse_position(line).map_err(|message| (number, message))
}

/// The four questions that sources answer differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Who connects both sides by one move wins; otherwise that is a draw.
    pub mover_wins: bool,
    /// Who cannot move loses; otherwise passes. Where neither side can move the game is a draw.
    pub stuck_loses: bool,
    /// Which repetition of a position is a draw.
    pub repetition: Repetition,
    /// A game of so many plies is a draw; 0: no limit.
    pub plies_max: u32,
}

/// Which repetition of a position is a draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// None is.
    None,
    /// The third occurrence with the same side to move.
    Third,
    /// The first recurrence of the board, whoever is to move.
    First,
}

impl Rules {
    /// The Computer Olympiad's.
    pub const ICGA: Rules =
        Rules { mover_wins: false, stuck_loses: false, repetition: Repetition::Third, plies_max: 0 };
    /// Christoph's thesis: nothing is said about repetition, length, and a side that cannot move; here it passes.
    pub const THESIS: Rules = Rules { repetition: Repetition::None, ..Rules::ICGA };
    /// The Olympiad's, but for a move that connects both sides.
    pub const MOVER_WINS: Rules = Rules { mover_wins: true, ..Rules::ICGA };
    /// OpenSpiel 2.0.2.
    pub const OPENSPIEL: Rules =
        Rules { mover_wins: true, stuck_loses: true, repetition: Repetition::First, plies_max: 1000 };
}

/// The game under some rules, from some start.
pub struct Loa {
    rules: Rules,
    start: State,
    /// `categories[c]`: how often a strong player plays a move of category c where there is one.
    categories: [f64; knowledge::CATEGORIES],
    processor: Processor,
}

/// A position.
#[derive(Debug)]
pub struct State {
    /// The pieces of Black (`Side::First`) and of White.
    boards: [u64; 2],
    /// Of the boards alone.
    key: u64,
    /// The keys of the positions since the last capture, this one included. Empty where repetition does not matter.
    history: Vec<u64>,
    /// Plies so far; stays 0 where the length does not matter.
    plies: u32,
    to_move: Side,
    outcome: Option<Outcome>,
}

/// Written out so that `clone_from` keeps the memory of the history.
impl Clone for State {
    fn clone(&self) -> State {
        State { history: self.history.clone(), ..*self }
    }

    fn clone_from(&mut self, from: &State) {
        self.history.clone_from(&from.history);
        (self.boards, self.key, self.plies) = (from.boards, from.key, from.plies);
        (self.to_move, self.outcome) = (from.to_move, from.outcome);
    }
}

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        (self.boards, self.to_move, self.plies, self.outcome)
            == (other.boards, other.to_move, other.plies, other.outcome)
            && self.history == other.history
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.boards, self.to_move, self.plies).hash(hasher);
    }
}

/// `PLACES[side][square]`: what a piece adds to the key.
static PLACES: [[u64; 64]; 2] = places();
const WHITE_TO_MOVE: u64 = mix(128);

const fn places() -> [[u64; 64]; 2] {
    let mut table = [[0; 64]; 2];
    let mut i = 0;
    while i < 128 {
        table[i / 64][i % 64] = mix(i as u64);
        i += 1;
    }
    table
}

fn key_of(boards: [u64; 2]) -> u64 {
    let mut key = 0;
    for (mut pieces, places) in boards.into_iter().zip(&PLACES) {
        while pieces != 0 {
            key ^= places[pieces.trailing_zeros() as usize];
            pieces &= pieces - 1;
        }
    }
    key
}

impl State {
    /// As the side to move sees it.
    #[inline]
    fn pieces(&self) -> Pieces {
        let us = self.to_move as usize;
        Pieces { own: self.boards[us], opp: self.boards[1 - us] }
    }

    /// Takes over what a playout left, after so many plies.
    fn set_pieces(&mut self, pieces: Pieces, plies: u32) {
        if plies % 2 == 1 {
            self.to_move = self.to_move.other();
        }
        let us = self.to_move as usize;
        self.boards[us] = pieces.own;
        self.boards[1 - us] = pieces.opp;
        self.key = key_of(self.boards);
        self.history.clear();
    }
}

impl Loa {
    /// The game from its usual start.
    pub fn new(rules: Rules) -> Loa {
        let categories =
            knowledge::parse_categories(knowledge::THESIS).expect("the built-in table is well formed");
        let (black, white) = (0x7e00_0000_0000_007e, 0x0081_8181_8181_8100);
        let start = Loa::state(rules, [black, white], Side::First, 0);
        Loa { rules, start, categories, processor: Processor::here() }
    }

    /// The same on another processor.
    #[cfg(test)]
    fn on(self, processor: Processor) -> Loa {
        Loa { processor, ..self }
    }

    /// A position without a past.
    fn state(rules: Rules, boards: [u64; 2], to_move: Side, plies: u32) -> State {
        let key = key_of(boards);
        let history = if rules.repetition == Repetition::None { Vec::new() } else { vec![key] };
        let mut state = State { boards, key, history, plies, to_move, outcome: None };
        let pieces = state.pieces();
        state.outcome = rules.ended(to_move.other(), connected(pieces.opp), connected(pieces.own));
        if state.outcome.is_none() {
            state.outcome = rules.ended_otherwise(&state, false);
        }
        state
    }
}

impl Rules {
    /// How a game has ended whose last move connected these.
    #[inline]
    fn ended(&self, mover: Side, mover_connected: bool, other_connected: bool) -> Option<Outcome> {
        match (mover_connected, other_connected) {
            (false, false) => None,
            (true, true) if !self.mover_wins => Some(Outcome::Draw),
            (true, _) => Some(Outcome::Win(mover)),
            (false, true) => Some(Outcome::Win(mover.other())),
        }
    }

    /// How a game has ended in which nobody is connected; whether the last move was to pass.
    #[inline]
    fn ended_otherwise(&self, state: &State, passed: bool) -> Option<Outcome> {
        if (self.stuck_loses || passed) && !state.pieces().can_move() {
            return Some(if self.stuck_loses { Outcome::Win(state.to_move.other()) } else { Outcome::Draw });
        }
        (self.plies_max > 0 && state.plies >= self.plies_max).then_some(Outcome::Draw)
    }

    /// Whether the last position of the history is one repetition too many.
    fn repeated(&self, history: &[u64]) -> bool {
        let Some((now, before)) = history.split_last() else { return false };
        match self.repetition {
            Repetition::None => false,
            Repetition::First => before.contains(now),
            // Every other position has the same side to move.
            Repetition::Third => {
                before.iter().rev().skip(1).step_by(2).filter(|key| *key == now).count() >= 2
            }
        }
    }
}

impl Domain for Loa {
    type State = State;
    type Move = Move;

    fn initial(&self) -> State {
        self.start.clone()
    }

    fn moves(&self, state: &State, out: &mut Vec<Move>) {
        if state.outcome.is_some() {
            return;
        }
        let before = out.len();
        state.pieces().list(out);
        if out.len() == before {
            out.push(Move::PASS);
        }
    }

    fn play(&self, state: &mut State, mv: Move) {
        let us = state.to_move as usize;
        let mut pieces = state.pieces();
        let passed = mv == Move::PASS;
        let mut ended = None;
        if passed {
            pieces = Pieces { own: pieces.opp, opp: pieces.own };
        } else {
            let captured = pieces.play(mv);
            state.key ^= PLACES[us][mv.from()] ^ PLACES[us][mv.to()];
            if captured {
                state.key ^= PLACES[1 - us][mv.to()];
                state.history.clear();
            }
            ended = self.rules.ended(state.to_move, connected(pieces.opp), captured && connected(pieces.own));
        }
        state.boards[us] = pieces.opp;
        state.boards[1 - us] = pieces.own;
        state.to_move = state.to_move.other();
        state.plies += u32::from(self.rules.plies_max > 0);
        state.outcome = ended.or_else(|| self.rules.ended_otherwise(state, passed));
        if self.rules.repetition != Repetition::None {
            state.history.push(state.key);
            if state.outcome.is_none() && self.rules.repeated(&state.history) {
                state.outcome = Some(Outcome::Draw);
            }
        }
    }

    fn show(&self, state: &State) -> String {
        text::show(state)
    }

    fn show_move(&self, state: &State, mv: Move) -> String {
        text::show_move(state.pieces().opp, mv)
    }

    fn random_move(&self, state: &State, rng: &mut Rng, _: &mut Vec<Move>) -> Option<Move> {
        if state.outcome.is_some() {
            return None;
        }
        Some(state.pieces().draw(rng).unwrap_or(Move::PASS))
    }

    fn draw(&self, state: &State) -> Option<Picture> {
        Some(text::draw(state))
    }

    fn processor(&self) -> Processor {
        self.processor
    }
}

impl Game for Loa {
    fn to_move(&self, state: &State) -> Side {
        state.to_move
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        state.outcome
    }

    fn key(&self, state: &State) -> u64 {
        let side = if state.to_move == Side::Second { WHITE_TO_MOVE } else { 0 };
        // 0 without a limit.
        let plies = u64::from(state.plies).wrapping_mul(WHITE_TO_MOVE | 1);
        state.key ^ side ^ plies
    }

    fn move_id(&self, mv: Move) -> u16 {
        mv.0
    }

    fn move_of(&self, _: &State, id: u16) -> Move {
        Move(id)
    }

    fn legal_move(&self, state: &State, id: u16) -> Option<Move> {
        if state.outcome.is_some() {
            return None;
        }
        let mv = Move(id);
        let legal = if mv == Move::PASS { !state.pieces().can_move() } else { state.pieces().is_legal(mv) };
        // A number has one form only.
        (legal && (mv == Move::PASS || Move::new(mv.from(), mv.to()) == mv)).then_some(mv)
    }

    fn position(&self, state: &State) -> Option<String> {
        Some(text::position(state, self.rules.plies_max > 0))
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let (boards, to_move, plies) = text::parse_position(text)?;
        Ok(Loa::state(self.rules, boards, to_move, if self.rules.plies_max > 0 { plies } else { 0 }))
    }

    fn appeal(&self, state: &State, mv: Move) -> i32 {
        knowledge::appeal(state.pieces().opp, mv)
    }

    fn categories(&self) -> &[f64] {
        &self.categories
    }

    fn show_categories(&self, weights: &[f64]) -> Option<String> {
        Some(knowledge::show_categories(weights))
    }

    fn category(&self, state: &State, mv: Move) -> usize {
        knowledge::category(mv, state.pieces().opp >> mv.to() & 1 == 1)
    }

    fn evaluate(&self, state: &State) -> f64 {
        let [black, white] = state.boards.map(knowledge::concentration);
        (0.5 + 0.5 * (black - white)).clamp(0.0, 1.0)
    }

    /// On the bare boards, with neither keys nor repetition.
    fn rollout(
        &self,
        state: &mut State,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        _: &mut Vec<Move>,
    ) -> Option<Outcome> {
        if state.outcome.is_some() || moves_max == 0 {
            return state.outcome;
        }
        let plies_max = self.rules.plies_max;
        // A game that goes on is shorter than the limit.
        let left = if plies_max == 0 { moves_max } else { moves_max.min(plies_max - state.plies) };
        let mut pieces = state.pieces();
        let (plies, end) = pieces.rollout(draws, left, !self.rules.stuck_loses, rng, self.processor);
        state.set_pieces(pieces, plies);
        if plies_max > 0 {
            state.plies += plies;
        }
        let mover = state.to_move.other();
        state.outcome = match end {
            Some(End::Connected { mover: ours, other }) => self.rules.ended(mover, ours, other),
            Some(End::Stuck) => Some(Outcome::Win(mover)),
            Some(End::Blocked) => Some(Outcome::Draw),
            None => self.rules.ended_otherwise(state, false),
        };
        state.outcome
    }
}

#[cfg(test)]
mod tests;
