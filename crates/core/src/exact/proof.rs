//! A proof as text: the whole strategy of one side against every reply, from a position to the ends of the game.
//! docs/formats.md describes the format. `check` reads it without any search code.

use super::script::{HEADER, Script};
use super::value::Value;
use crate::domain::Side;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// What is proved: this side gets at least this, whatever the other plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Goal {
    /// The side.
    pub side: Side,
    /// As that side sees it: a draw or a win.
    pub at_least: Value,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == Side::First { "first" } else { "second" };
        let what = if self.at_least == Value::Win { "wins" } else { "draws at least" };
        write!(f, "{side} {what}")
    }
}

/// A strategy. Line by line the positions it meets, each after those it leads to, so that the last is where it begins;
/// none if the game is over there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// What it reaches.
    pub goal: Goal,
    /// For each position the moves that are followed, and the line each leads to; `None`: the game is over after it.
    pub lines: Vec<Vec<(String, Option<usize>)>>,
}

/// A proof.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Proof {
    /// `domain/name`.
    pub instance: String,
    /// Where the game begins, if not at its own start.
    pub start: Option<String>,
    /// The moves from there to the position that is proved.
    pub moves: Vec<String>,
    /// Further header lines, for people.
    pub fields: Vec<(String, String)>,
    /// The strategies: one for a win, two for a draw.
    pub sections: Vec<Section>,
}

/// What is wrong with the text of a proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ProofError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

impl Proof {
    /// Positions in all sections.
    pub fn positions(&self) -> usize {
        self.sections.iter().map(|section| section.lines.len()).sum()
    }

    /// Whether a text begins as a proof does.
    pub fn begins(text: &str) -> bool {
        text.starts_with(HEADER)
    }

    /// The proof as text.
    pub fn to_text(&self) -> String {
        let mut out = format!("{HEADER}\ninstance = {}\n", self.instance);
        if let Some(start) = &self.start {
            let _ = writeln!(out, "position = {start}");
        }
        let _ = writeln!(out, "moves = {}", self.moves.join(" "));
        for (key, value) in &self.fields {
            let _ = writeln!(out, "{key} = {value}");
        }
        for section in &self.sections {
            let _ = writeln!(out, "\ngoal {}", section.goal);
            for line in &section.lines {
                for (i, (word, to)) in line.iter().enumerate() {
                    out += if i == 0 { "" } else { " " };
                    out += word;
                    if let Some(to) = to {
                        let _ = write!(out, "={to}");
                    }
                }
                out += "\n";
            }
        }
        out
    }

    /// Reads a proof.
    pub fn parse(text: &str) -> Result<Proof, ProofError> {
        Script::read(&mut text.as_bytes()).map(Script::proof)
    }
}

impl Goal {
    /// Reads what `to_string` writes.
    pub fn parse(text: &str) -> Option<Goal> {
        let (side, what) = text.trim().split_once(' ')?;
        let side = match side {
            "first" => Side::First,
            "second" => Side::Second,
            _ => return None,
        };
        let at_least = match what.trim() {
            "wins" => Value::Win,
            "draws at least" => Value::Draw,
            _ => return None,
        };
        Some(Goal { side, at_least })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_round_trips_and_errors_name_the_line() {
        let text =
            "sortie proof 1\ninstance = nim/3\nmoves = \nby = hand\n\ngoal second wins\n1\n2\n1=0 2=1 3\n";
        let proof = Proof::parse(text).unwrap();
        assert_eq!((proof.positions(), proof.fields.len()), (3, 1));
        assert_eq!(proof.sections[0].lines[2][2], ("3".into(), None));
        assert_eq!(Proof::parse(&proof.to_text()).unwrap(), proof);
        for (from, to, line) in [
            ("sortie proof 1", "sortie record 1", 1),
            ("instance = nim/3\n", "", 1),
            ("by = hand", "by hand", 4),
            ("by = hand", "instance = nim/4", 4),
            ("by = hand", "moves = 1", 4),
            ("goal second wins\n", "", 6),
            ("second wins", "nobody wins", 6),
            ("2=1", "2=2", 9),
            ("2=1", "2=x", 9),
        ] {
            assert_eq!(Proof::parse(&text.replace(from, to)).unwrap_err().line, line, "{from} -> {to}");
        }
        assert!(Proof::parse("").is_err());
    }
}
