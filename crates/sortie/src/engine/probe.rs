//! The registration of an engine: does it leave out what it is told to leave out? It is asked for its move again and
//! again, each time without the moves it has given, and once with a single move left; in several positions. Feature
//! lines are not believed: some engines announce it and play the excluded move all the same.

use super::{Look, Place, Rules, Seen, Speaker};
use anyhow::{Result, bail};
use serde::Serialize;
use sortie_core::exact::Asked;
use std::fmt;
use std::sync::atomic::AtomicBool;

/// Positions, each after the engine's own first choice in the one before.
const POSITIONS: usize = 3;
/// Its best moves that are left out one after the other.
const DEEP: usize = 3;

/// What was asked and what it said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The moves that lead to the position.
    pub moves: Vec<String>,
    /// The moves left out.
    pub exclude: Vec<String>,
    /// Its answer.
    pub answer: String,
    /// What it thinks, for the side to move.
    pub value: Option<f64>,
}

/// Why an engine cannot work for a job tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum Refusal {
    /// It played what it was to leave out.
    Ignored(Question),
    /// Its answer is no legal move.
    Illegal(Question),
    /// It failed.
    Fault {
        /// The moves that lead to the position.
        moves: Vec<String>,
        /// The moves left out.
        exclude: Vec<String>,
        /// How.
        fault: String,
    },
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Probe {
    /// What the engine calls itself.
    pub name: String,
    /// Its protocol.
    pub protocol: &'static str,
    /// How it is told to leave moves out.
    pub way: String,
    /// All that was asked.
    pub questions: Vec<Question>,
    /// Why it is refused, if it is.
    pub refusal: Option<Refusal>,
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let exclude = shorten(&self.exclude);
        write!(f, "{} without {exclude} it plays {}", after(&self.moves), self.answer)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refusal::Ignored(question) => write!(f, "it plays excluded moves: {question}"),
            Refusal::Illegal(question) => write!(f, "its answer is no legal move: {question}"),
            Refusal::Fault { moves, exclude, fault } => {
                write!(f, "{} without {}: {fault}", after(moves), shorten(exclude))
            }
        }
    }
}

impl fmt::Display for Probe {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let name = if self.name.is_empty() { "engine" } else { &self.name };
        write!(f, "{name} ({}): {} obeyed in {} questions", self.protocol, self.way, self.questions.len())
    }
}

fn after(moves: &[String]) -> String {
    if moves.is_empty() { "at the start".into() } else { format!("after {}", moves.join(" ")) }
}

fn shorten(words: &[String]) -> String {
    match words {
        [] => "nothing".into(),
        few if few.len() <= 8 => few.join(" "),
        many => format!("{} and {} more", many[..8].join(" "), many.len() - 8),
    }
}

/// Asks for the references of an engine. An error is one of the position; everything the engine does is a refusal.
pub fn probe(
    speaker: &mut dyn Speaker,
    rules: Rules,
    start: Option<&str>,
    moves: &[String],
    nodes: Option<u64>,
    seconds: Option<f64>,
) -> Result<Probe> {
    let (mut questions, mut moves) = (Vec::new(), moves.to_vec());
    let refusal = loop {
        let place = Place::by(rules, speaker, start, &moves)?;
        if place.over || questions_of(&questions) >= POSITIONS {
            break None;
        }
        match examine(speaker, &place, nodes, seconds, &mut questions) {
            Ok(best) => moves.push(best),
            Err(refusal) => break Some(refusal),
        }
    };
    if questions.is_empty() && refusal.is_none() {
        bail!("the game is over at this position: there is nothing to ask the engine");
    }
    let (name, protocol, way) = (speaker.name(), speaker.protocol(), speaker.way());
    Ok(Probe { name, protocol, way, questions, refusal })
}

/// Positions asked about so far.
fn questions_of(questions: &[Question]) -> usize {
    questions.chunk_by(|a, b| a.moves == b.moves).count()
}

/// One position. Returns the engine's first choice.
fn examine(
    speaker: &mut dyn Speaker,
    place: &Place,
    nodes: Option<u64>,
    seconds: Option<f64>,
    questions: &mut Vec<Question>,
) -> Result<String, Refusal> {
    let mut exclude: Vec<String> = Vec::new();
    let mut best = None;
    while exclude.len() <= DEEP && exclude.len() < place.legal.len() {
        let answer = ask(speaker, place, &exclude, nodes, seconds, questions)?;
        let Some(answer) = answer else { break };
        best.get_or_insert(answer.clone());
        exclude.push(answer);
    }
    // A move that it would not choose is all that is left.
    if let Some(last) = place.legal.iter().rev().find(|word| !exclude.contains(word)) {
        let all_others: Vec<String> = place.legal.iter().filter(|word| *word != last).cloned().collect();
        ask(speaker, place, &all_others, nodes, seconds, questions)?;
    }
    Ok(best.unwrap_or_else(|| place.legal[0].clone()))
}

/// One question. `None`: it passed, where nobody asked it not to.
fn ask(
    speaker: &mut dyn Speaker,
    place: &Place,
    exclude: &[String],
    nodes: Option<u64>,
    seconds: Option<f64>,
    questions: &mut Vec<Question>,
) -> Result<Option<String>, Refusal> {
    let never = AtomicBool::new(false);
    let asked = Asked { stop: &never, cancel: &never };
    let look = Look { place, exclude, nodes, seconds };
    let moves: Vec<String> = place.words().cloned().collect();
    let seen = match speaker.look(&look, asked) {
        Ok(seen) => seen.unwrap_or_default(),
        Err(fault) => {
            return Err(Refusal::Fault { moves, exclude: exclude.to_vec(), fault: fault.to_string() });
        }
    };
    let Seen { best, value, .. } = seen;
    let answer: String = best.chars().filter(|c| !c.is_control()).take(40).collect();
    let question = Question { moves, exclude: exclude.to_vec(), answer, value };
    match place.find(&best) {
        Some(word) if exclude.contains(&word) => Err(Refusal::Ignored(question)),
        Some(word) => {
            questions.push(Question { answer: word.clone(), ..question });
            Ok(Some(word))
        }
        // The rules of Go let a side pass, and lists of moves do not say so.
        None if best.eq_ignore_ascii_case("pass") && place.size.is_none() => {
            questions.push(question);
            Ok(None)
        }
        None => Err(Refusal::Illegal(question)),
    }
}
