//! Job-level search (Wu et al. 2013; Shih et al. 2018): a tree whose nodes are grown by jobs that take milliseconds to
//! minutes each, done by a solver or an engine somewhere.
//!
//! Four phases. Selection walks to a leaf (`select`); pre-update marks it so that the next selection goes elsewhere
//! (`nodes`); execution is a worker's (`AnyWorker`, or anybody's who reads a `Job`); update takes the answer (`source`).
//! What is proved (`Bounds`) and what is guessed (`Status`, proof numbers, means) are kept apart: pre-update touches
//! only the guesses, and only the proofs end a search.

mod drill;
#[cfg(test)]
mod history;
mod nodes;
mod player;
mod select;
mod simulate;
mod source;
#[cfg(test)]
mod tests;

pub use drill::{Drill, Drilled};
pub use nodes::Policy;
pub use player::{Hire, JobPlay, JobPlayer};
pub use select::Select;
pub use simulate::{Simulated, Virtual, simulate};
pub use source::{Ended, JobTree, Plan, Question, RootMove, Tally};
