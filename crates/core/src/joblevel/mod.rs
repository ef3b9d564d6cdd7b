//! Job-level search (Wu et al. 2013; Shih et al. 2018): a tree whose nodes are grown by jobs that take milliseconds to
//! minutes each, done by a solver or an engine somewhere.
//!
//! Four phases. Selection walks to a leaf (`select`); pre-update marks it so that the next selection goes elsewhere
//! (`tree`); execution is a worker's (`worker`, or anybody's who reads a `Job`); update takes the answer (`source`).
//! What is proved (`Bounds`) and what is guessed (`Status`, proof numbers, means) are kept apart: pre-update touches
//! only the guesses, and only the proofs end a search.
//!
//! Repetition: a `Domain::State` is all that later play depends on, history included where the rules look at it. The
//! solver's tables and the certificates are keyed by whole states, never by `Game::key`, so that a value that depends
//! on the path is a value of another state; and only values proved by a finite line of play are ever stored.

mod certify;
mod check;
mod drill;
#[cfg(test)]
mod history;
mod player;
mod proof;
mod script;
mod select;
mod simulate;
mod solve;
mod source;
mod status;
mod task;
#[cfg(test)]
mod tests;
mod tree;
mod value;
mod worker;

pub use check::{Argued, CheckError, Checked, Fact, Settled};
pub use drill::{Drill, Drilled};
pub use player::{Hire, JobPlay, JobPlayer};
pub use proof::{Goal, Proof, ProofError, Section};
pub use script::{Packed, Script};
pub use select::Select;
pub use simulate::{Simulated, Virtual, simulate};
pub use source::{Ended, JobTree, Plan, Question, RootMove, Tally};
pub use status::{Status, Statuses};
pub use task::{After, Answer, Claim, Effort, Fault, Job, Kind, Partial, Trust};
pub use tree::Policy;
pub use value::{Bounds, Value};
pub use worker::{AnyWorker, Asked};

pub(crate) use certify::certify;
pub(crate) use check::{check, harvest};
pub(crate) use worker::{Worker, position};
