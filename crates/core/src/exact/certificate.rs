//! A certificate: a whole strategy in a few bits a position, for checkers that share nothing with us. docs/certificates.md
//! describes the format, `proofs/check.c` is such a checker. Nothing in it points anywhere: positions are met layer by
//! layer, in an order that the rules alone determine, and only what the side of the claim answers is written down.

use super::coder::{Decoder, Encoder};
use super::dfpn::Solver;
use super::proof::Goal;
use super::value::Value;
use super::worker::position;
use crate::domain::{Domain, Game, Side};
use crate::ident::Precondition;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

/// The first line of a certificate, before its number: 1, or 2 where replies are left out by a rule of the game
/// (`Game::replies`).
pub const HEADER: &str = "sortie certificate ";
/// Positions of one layer at most: two layers are in memory.
const LAYER_MAX: usize = 1 << 26;

/// What a certificate says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// `domain/name`.
    pub instance: String,
    /// 1 or 2.
    pub format: u8,
    /// The moves from the start of the game to the position that is proved.
    pub moves: Vec<String>,
    /// What is claimed.
    pub goal: Goal,
    /// Positions in it, and answers that are written down.
    pub positions: u64,
    /// The number of answers.
    pub answers: u64,
    /// Bits of a number of a move.
    pub bits: u32,
    /// The answers, coded.
    pub body: Vec<u8>,
    /// FNV-1a of everything before it.
    pub checksum: u64,
}

/// How a certificate is made.
pub struct Making<'a> {
    /// Positions that are looked at for one answer, at most, where the game has no solver of its own.
    pub nodes_max: u64,
    /// What the solver remembers, in bytes.
    pub memory_max: usize,
    /// Answers that are known already, by the text of the position.
    pub known: HashMap<String, u16>,
    /// Told every answer that was found, so that it can be known another time.
    pub found: &'a mut dyn FnMut(&str, u16) -> Result<(), String>,
    /// Raised when it should stop.
    pub stop: &'a dyn Fn() -> bool,
}

/// Who knows the moves of a strategy.
pub trait Strategist<S, M>: Send {
    /// A move after which the side to move still reaches the goal; the error says why there is none.
    fn answer(&mut self, state: &S, stop: &dyn Fn() -> bool) -> Result<M, String>;
}

impl Certificate {
    /// Whether a file begins as a certificate does.
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(HEADER.as_bytes())
    }

    /// The file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("{HEADER}{}\n", self.format);
        let _ = writeln!(head, "instance = {}\nmoves = {}", self.instance, self.moves.join(" "));
        let _ = writeln!(head, "claim = {}", self.goal);
        let Certificate { positions, answers, bits, .. } = self;
        let _ = writeln!(head, "positions = {positions}\nanswers = {answers}\nbits = {bits}\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes.extend_from_slice(&fnv(&bytes).to_be_bytes());
        bytes
    }

    /// Reads a file. What the header says twice is refused.
    pub fn parse(bytes: &[u8]) -> Result<Certificate, String> {
        let text_end = bytes
            .windows(2)
            .position(|two| two == b"\n\n")
            .ok_or("line 1: no empty line after the header")?;
        let text = std::str::from_utf8(&bytes[..text_end]).map_err(|_| "line 1: the header is not text")?;
        let mut fields = HashMap::new();
        let mut lines = text.lines().zip(1..);
        let format = match lines.next().and_then(|(line, _)| line.strip_prefix(HEADER)) {
            Some("1") => 1,
            Some("2") => 2,
            _ => return Err(format!("line 1: expected '{HEADER}1' or '{HEADER}2'")),
        };
        for (line, number) in lines {
            let (key, value) =
                line.split_once('=').ok_or_else(|| format!("line {number}: expected 'key = value'"))?;
            if fields.insert(key.trim(), value.trim()).is_some() {
                return Err(format!("line {number}: '{}' is there twice", key.trim()));
            }
        }
        let field = |key: &str| fields.get(key).copied().ok_or_else(|| format!("the header has no '{key}'"));
        let number = |key: &str| field(key)?.parse::<u64>().map_err(|_| format!("'{key}' is not a number"));
        let goal = Goal::parse(field("claim")?).ok_or("'claim' is not known")?;
        let rest = &bytes[text_end + 2..];
        let (body, sum) = rest.split_last_chunk::<8>().ok_or("the file ends before its checksum")?;
        let checksum = u64::from_be_bytes(*sum);
        if fnv(&bytes[..bytes.len() - 8]) != checksum {
            return Err("the checksum differs: the file is damaged".into());
        }
        Ok(Certificate {
            instance: field("instance")?.into(),
            format,
            moves: field("moves")?.split_whitespace().map(String::from).collect(),
            goal,
            positions: number("positions")?,
            answers: number("answers")?,
            bits: number("bits")?.min(u64::from(u32::MAX)) as u32,
            body: body.to_vec(),
            checksum,
        })
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Makes a certificate: every answer from the game's own strategist, or by the solver.
pub(crate) fn make<G: Game>(
    game: &Arc<G>,
    instance: &str,
    moves: &[String],
    goal: Goal,
    making: Making,
) -> Result<Certificate, String> {
    let root = position(&**game, None, moves).map_err(|error| error.to_string())?;
    let Making { nodes_max, memory_max, known, found, stop } = making;
    let solver = || Box::new(Solving::new(game.clone(), goal, nodes_max, memory_max)) as _;
    let mut strategist = game.strategist(goal, memory_max).unwrap_or_else(solver);
    let mut said = Vec::new();
    let ruled = goal.at_least == Value::Win && game.replies(&root, goal.side, &mut Vec::new());
    let format = if ruled { 2 } else { 1 };
    let counts = walk(&**game, root, goal, format, &mut |state, context| {
        if stop() {
            return Err("stopped".into());
        }
        let mv = match recall(&**game, state, &known) {
            Some(mv) => mv,
            None => {
                let mv = strategist.answer(state, stop)?;
                if let Some(text) = game.written(state, 0) {
                    found(&text, game.move_id(mv))?;
                }
                mv
            }
        };
        said.push((context, game.move_id(mv)));
        Ok(mv)
    });
    let Counts { positions, answers, top } = counts.map_err(|wrong| wrong.to_string())?;
    // Replies are coded nowhere, but a checker that tries all numbers must come to them.
    let bits = u16::BITS - top.max(1).leading_zeros();
    let mut encoder = Encoder::new(bits);
    said.iter().for_each(|&(context, number)| encoder.put(context, number));
    let mut certificate = Certificate {
        instance: instance.into(),
        format,
        moves: moves.to_vec(),
        goal,
        positions,
        answers,
        bits,
        body: encoder.finish(),
        checksum: 0,
    };
    let bytes = certificate.to_bytes();
    certificate.checksum = fnv(&bytes[..bytes.len() - 8]);
    Ok(certificate)
}

fn recall<G: Game>(game: &G, state: &G::State, known: &HashMap<String, u16>) -> Option<G::Move> {
    let number = |image: usize| known.get(&game.written(state, image)?).copied();
    if let Some(mv) = number(0).and_then(|id| game.legal_move(state, id)) {
        return Some(mv);
    }
    // Of two images each is the other's.
    let other = (game.images() == 2).then(|| number(1)).flatten()?;
    let mut legal = Vec::new();
    game.moves(state, &mut legal);
    legal.into_iter().find(|&mv| game.move_id(game.move_image(mv, 1)) == other)
}

/// Checks a certificate by the rules alone.
pub(crate) fn check<G: Game>(game: &G, certificate: &Certificate) -> Result<(), Wrong> {
    let root = position(game, None, &certificate.moves).map_err(|error| Wrong::before(error.to_string()))?;
    let bits = certificate.bits;
    if !(1..=12).contains(&bits) {
        return Err(Wrong::before(format!("{bits} bits: expected 1 to 12")));
    }
    let mut decoder = Decoder::new(&certificate.body, bits);
    let Certificate { goal, format, .. } = *certificate;
    if format == 2 && !(goal.at_least == Value::Win && game.replies(&root, goal.side, &mut Vec::new())) {
        return Err(Wrong::before("format 2 has no rule for this claim".into()));
    }
    let Counts { positions, answers, top } = walk(game, root, goal, format, &mut |state, context| {
        let number = decoder.get(context).ok_or("the file ends, and there is no answer here")?;
        game.legal_move(state, number).ok_or_else(|| format!("the answer {number} is not a legal move"))
    })?;
    if !decoder.is_done() {
        return Err(Wrong::before("bytes are left over".into()));
    }
    if u32::from(top) >> bits != 0 {
        return Err(Wrong::before(format!("{bits} bits are too few for the moves")));
    }
    if (positions, answers) != (certificate.positions, certificate.answers) {
        return Err(Wrong::before("the header counts otherwise".into()));
    }
    Ok(())
}

/// What is wrong with a certificate, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("layer {layer}, position {index}{}: {message}", shown(.position))]
pub struct Wrong {
    /// Half-moves after the position that is proved, from 0.
    pub layer: usize,
    /// The position within its layer, from 0.
    pub index: usize,
    /// The position, if the game has a text for it.
    pub position: Option<String>,
    /// What is wrong there.
    pub message: String,
}

fn shown(position: &Option<String>) -> String {
    position.as_ref().map_or(String::new(), |text| format!(" ({text})"))
}

impl Wrong {
    fn before(message: String) -> Wrong {
        Wrong { layer: 0, index: 0, position: None, message }
    }
}

/// Gives the answer in a position; the last move is a context of the coder.
type Ask<'a, G> = &'a mut dyn FnMut(&<G as Domain>::State, u8) -> Result<<G as Domain>::Move, String>;

/// What there is in a strategy, and the largest number of a move that was legal somewhere.
struct Counts {
    positions: u64,
    answers: u64,
    top: u16,
}

/// Goes through a strategy layer by layer.
fn walk<G: Game>(game: &G, root: G::State, goal: Goal, format: u8, ask: Ask<G>) -> Result<Counts, Wrong> {
    let (mut positions, mut answers, mut top) = (0, 0, 0);
    let mut layer = Layer::new();
    let reached = |state: &G::State| {
        game.outcome(state).map(|outcome| Value::of(outcome).view(goal.side) >= goal.at_least)
    };
    let finished =
        |state: &G::State| format == 1 && goal.at_least == Value::Win && game.finished(state, goal.side);
    let wrong = |layer, index, state: &G::State, message: &str| Wrong {
        layer,
        index,
        position: game.position(state),
        message: message.into(),
    };
    if reached(&root).is_some() {
        return Err(wrong(0, 0, &root, "the game is over here"));
    }
    layer.add(game, root, 0);
    let mut legal = Vec::new();
    for number in 0.. {
        if layer.list.is_empty() {
            break;
        }
        let mut next = Layer::new();
        for (index, (state, context)) in layer.list.iter().enumerate() {
            positions += 1;
            if finished(state) {
                continue;
            }
            legal.clear();
            game.moves(state, &mut legal);
            legal.sort_by_key(|&mv| game.move_id(mv));
            top = top.max(legal.last().map_or(0, |&mv| game.move_id(mv)));
            let after = |mv| {
                let mut after = state.clone();
                game.play(&mut after, mv);
                after
            };
            if format == 2 {
                game.replies(state, goal.side, &mut legal);
                if legal.is_empty() {
                    continue;
                }
            }
            if game.to_move(state) == goal.side {
                let at_once = legal.iter().any(|&mv| {
                    let after = after(mv);
                    reached(&after) == Some(true) || finished(&after)
                });
                if at_once {
                    continue;
                }
                answers += 1;
                let mv = ask(state, *context).map_err(|message| wrong(number, index, state, &message))?;
                legal.clear();
                legal.push(mv);
            }
            for &mv in &legal {
                let after = after(mv);
                match reached(&after) {
                    Some(true) => {}
                    Some(false) => {
                        return Err(wrong(number, index, &after, "the game ends otherwise than claimed"));
                    }
                    None => next.add(game, after, (game.move_id(mv) & 63) as u8),
                }
            }
            if next.list.len() > LAYER_MAX {
                return Err(wrong(number, index, state, "the layer after this one is too large"));
            }
        }
        layer = next;
    }
    Ok(Counts { positions, answers, top })
}

/// The positions of a layer in the order they were met, each with the last move; of two mirror images the first.
struct Layer<S> {
    list: Vec<(S, u8)>,
    texts: HashSet<String>,
    states: HashSet<S>,
}

impl<S: Clone + Eq + std::hash::Hash> Layer<S> {
    fn new() -> Self {
        Layer { list: Vec::new(), texts: HashSet::new(), states: HashSet::new() }
    }

    fn add<G: Game<State = S>>(&mut self, game: &G, state: S, context: u8) {
        let text = game.written(&state, 0).filter(|_| game.precondition(&state) == Precondition::NONE);
        let new = match text {
            Some(text) => {
                // Boards with more images than two are small enough without.
                let image = (game.images() == 2).then(|| game.written(&state, 1)).flatten();
                let key = image.map_or(text.clone(), |image| text.min(image));
                self.texts.insert(key)
            }
            None => self.states.insert(state.clone()),
        };
        if new {
            self.list.push((state, context));
        }
    }
}

/// The solver of any game as a strategist.
struct Solving<G: Game> {
    game: Arc<G>,
    solver: Solver<G>,
    goal: Goal,
    nodes_max: u64,
}

impl<G: Game> Solving<G> {
    fn new(game: Arc<G>, goal: Goal, nodes_max: u64, memory_max: usize) -> Self {
        Solving { solver: Solver::new(game.clone(), memory_max), game, goal, nodes_max }
    }
}

impl<G: Game> Strategist<G::State, G::Move> for Solving<G> {
    fn answer(&mut self, state: &G::State, stop: &dyn Fn() -> bool) -> Result<G::Move, String> {
        let yes = self.goal.side == Side::First;
        let ask = match (self.goal.side, self.goal.at_least) {
            (Side::First, value) => value,
            (Side::Second, Value::Win) => Value::Draw,
            (Side::Second, _) => Value::Win,
        };
        self.solver.trim();
        let decided = |solver: &Solver<G>| {
            let entry = solver.entry(state, ask)?;
            (if yes { entry.proof } else { entry.disproof } == 0).then_some(entry.mv)
        };
        if let Some(mv) = decided(&self.solver) {
            return Ok(self.game.move_of(state, mv));
        }
        let solved = self.solver.solve(state, &[], ask, self.nodes_max, stop);
        match (decided(&self.solver), solved.decided) {
            (Some(mv), _) => Ok(self.game.move_of(state, mv)),
            (None, Some(_)) => Err("the claim does not hold here".into()),
            _ if stop() => Err("stopped".into()),
            _ => Err(format!("not solved within {} positions", self.nodes_max)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Nim;

    fn nim(heap: u32, side: Side) -> Result<Certificate, String> {
        let goal = Goal { side, at_least: Value::Win };
        let making = Making {
            nodes_max: 10_000,
            memory_max: 1 << 20,
            known: HashMap::new(),
            found: &mut |_, _| Ok(()),
            stop: &|| false,
        };
        make(&Arc::new(Nim { heap }), &format!("nim/{heap}"), &[], goal, making)
    }

    #[test]
    fn a_certificate_round_trips_and_every_flipped_bit_is_refused() {
        for (heap, side) in [(21, Side::First), (20, Side::Second)] {
            let made = nim(heap, side).unwrap();
            let bytes = made.to_bytes();
            assert_eq!(Certificate::parse(&bytes).unwrap(), made);
            assert_eq!(check(&Nim { heap }, &made), Ok(()));
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(Certificate::parse(&flipped).is_err(), "bit {bit}");
            }
            // What is changed with a checksum that fits is found by the rules, with the place.
            let mut other = made.clone();
            other.goal.side = side.other();
            assert!(check(&Nim { heap }, &other).is_err());
            let mut less = made.clone();
            less.body.truncate(1);
            less.body.push(0);
            assert!(check(&Nim { heap }, &less).is_err());
            assert!(nim(heap, side.other()).unwrap_err().contains("the claim does not hold"));
        }
    }
}
