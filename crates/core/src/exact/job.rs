//! What travels between the tree and those who work for it: a job, its answer, and what may be believed of it. Plain
//! data and plain text, so that it can go over any wire.

use super::status::Status;
use super::value::{Bounds, Value};
use serde::{Deserialize, Serialize};

/// How far a claim may be believed, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// An engine says so.
    Word,
    /// An exact solver says so.
    Solver,
    /// Our own checker has been through a proof of it.
    Checked,
}

/// How much work a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effort {
    /// Positions that an exact solver looks at.
    pub nodes: u64,
    /// Simulations of a player, where the solver has no result; 0: the solver's own guess is the answer.
    pub playouts: u64,
}

/// Which of the two jobs of a selection it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// On a leaf.
    Leaf,
    /// On a node that has children: another move than those (a postponed sibling).
    Sibling,
}

/// A position to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Where the game begins, as text; `None`: at its own start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The moves from there to the position.
    pub moves: Vec<String>,
    /// Moves that are as if they were not legal in the position.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// What is asked: is the position worth at least this to the first side?
    pub ask: Value,
    /// How much work it is worth.
    pub effort: Effort,
    /// Leaf or sibling.
    pub kind: Kind,
    /// The higher the sooner.
    pub priority: u8,
}

/// Something that holds whatever anybody plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The value of the position, the excluded moves left out, for the first side. Where it says more for the side to
    /// move than that it may lose, `best` is the move that gets it.
    pub bounds: Bounds,
    /// Whose word it is.
    pub trust: Trust,
}

/// Something that holds for the position after a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The move.
    pub word: String,
    /// What holds after it.
    pub claim: Claim,
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The best move that is not excluded. `None` only where there is none, or where a claim says that all are lost.
    pub best: Option<String>,
    /// What the worker thinks of the position after it, for the first side.
    pub status: Status,
    /// The same as a number in `0..=1`, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it has proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// What is proved of the positions after single moves: what a database knows of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<After>,
    /// Positions looked at: the cost, the same on every machine.
    pub nodes: u64,
    /// CPU time.
    pub seconds: f64,
}

impl Answer {
    /// The same answer of somebody who may lie: a claim becomes an engine's word.
    pub fn distrusted(mut self) -> Answer {
        let all = self.claim.iter_mut().chain(self.after.iter_mut().map(|after| &mut after.claim));
        all.for_each(|claim| claim.trust = Trust::Word);
        self
    }
}

/// What a worker thinks while it is still at a job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// What it thinks of the position, for the first side.
    pub status: Status,
    /// The same as a number in `0..=1`, where it has one.
    pub value: Option<f64>,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The move is not legal there.
    #[error("'{0}' is not a legal move")]
    Illegal(String),
    /// The move was to be left out.
    #[error("'{0}' was excluded")]
    Excluded(String),
    /// There is no move and no reason for there being none.
    #[error("no move, and no claim that all are lost")]
    Nothing,
    /// The value is not in `0..=1`.
    #[error("the value is not within 0 and 1")]
    Value,
    /// The claim cannot hold together with what is proved already.
    #[error("the claim contradicts what is proved")]
    Contradiction,
    /// There is no such node.
    #[error("no such position in the tree")]
    Unknown,
}
