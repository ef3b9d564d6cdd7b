//! A line of `games.jsonl`: a game that was played in a match or a tuning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sortie_core::{Outcome, Side};

/// A game that was played. Keys that are not known are of a later version and do not matter here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "One line of games.jsonl of a match or a tuning")]
pub struct Game {
    /// Its number in the match.
    pub game: u64,
    /// What was played: `domain/name`.
    pub instance: String,
    /// Who moved first.
    pub first: String,
    /// Who moved second.
    pub second: String,
    /// The parameters of the tuned player, in a tuning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<f64>>,
    /// The parameters of its rival, where both are tuned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rival: Option<Vec<f64>>,
    /// The seeds of the first and the second player.
    pub seeds: [u64; 2],
    /// How many of the moves are the opening.
    pub opening: usize,
    /// All moves, the opening's first.
    pub moves: Vec<String>,
    /// How it ended.
    pub result: Ended,
    /// Why.
    pub reason: Reason,
    /// What else there is to say about that.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Wall time.
    pub seconds: f64,
    /// What the first and the second player's moves took.
    pub thought_seconds: [f64; 2],
    /// What the player who made it thought of each move after the opening: the value of the game for the first side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluations: Vec<f64>,
}

/// How a game ended, as the log writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Who moved first won.
    First,
    /// Who moved second won.
    Second,
    /// Nobody.
    Draw,
}

/// Why a game ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// By the rules.
    Rules,
    /// It took too many moves: a draw.
    Length,
    /// Both players agreed on its value.
    Agreed,
    /// A player failed and lost.
    Fault,
}

impl Reason {
    /// As the log writes it.
    pub fn name(self) -> &'static str {
        match self {
            Reason::Rules => "rules",
            Reason::Length => "length",
            Reason::Agreed => "agreed",
            Reason::Fault => "fault",
        }
    }
}

impl Ended {
    /// As the log writes it.
    pub fn name(self) -> &'static str {
        match self {
            Ended::First => "first",
            Ended::Second => "second",
            Ended::Draw => "draw",
        }
    }

    /// As the rules say it.
    pub fn outcome(self) -> Outcome {
        match self {
            Ended::First => Outcome::Win(Side::First),
            Ended::Second => Outcome::Win(Side::Second),
            Ended::Draw => Outcome::Draw,
        }
    }

    /// The other way round.
    pub fn of(outcome: Outcome) -> Ended {
        match outcome {
            Outcome::Win(Side::First) => Ended::First,
            Outcome::Win(Side::Second) => Ended::Second,
            Outcome::Draw => Ended::Draw,
        }
    }

    /// For who moved first: 1, 0.5 or 0.
    pub fn score(self) -> f64 {
        match self {
            Ended::First => 1.0,
            Ended::Second => 0.0,
            Ended::Draw => 0.5,
        }
    }
}
