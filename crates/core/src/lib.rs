//! Monte-Carlo search for puzzles, routing and games: the contract of a domain, the searches, the run.
//!
//! Read `domain` (what a problem says about itself), `run` (what a search is handed), `playout` and `policy` (the hot
//! loop), then `search` (one file an algorithm). This crate is pure: no files, no sockets, no global state.
//!
//! ```
//! use sortie_core::{AnyProblem, BestOf, Control, Limits, Nrpa, Search, toy::LeftMove};
//! use std::sync::atomic::AtomicBool;
//!
//! let problem = LeftMove { depth: 30 };
//! let search = Search::Nrpa(Nrpa { level: 2, iterations: 30, ..Nrpa::default() });
//! let stop = AtomicBool::new(false);
//! let control = Control::new(Limits::default(), &stop, &|_| {});
//! let spec = BestOf { search, seed: 1, streams: 1, threads: 1 };
//! let answer = problem.solve(&spec, &control, Vec::new()).best.unwrap();
//! assert_eq!(answer.score, 30.0);
//! assert_eq!(problem.verify(&answer.moves).unwrap().score, 30.0);
//! ```

mod any;
mod catalogue;
pub mod conformance;
mod domain;
pub mod exact;
mod expert;
mod ident;
mod job;
pub mod measure;
pub mod picture;
pub mod planes;
mod play;
mod playout;
mod policy;
mod prior;
mod processor;
mod record;
mod replay;
mod rng;
mod run;
mod search;
pub mod toy;
mod uct;

pub use any::{AnyGame, AnyProblem, Boxed, Origin, Position};
pub use catalogue::{Catalogue, Entry, OpenError, Opened, Options, Request, nearest};
pub use domain::{Choices, Domain, Game, Outcome, Problem, Side, Specialist};
pub use expert::Expert;
pub use ident::{Ident, Precondition};
pub use job::{InOrder, JobId, JobSource, Ledger, run_jobs};
pub use measure::{Measure, Standing};
pub use play::{AnyBoard, AnyPlayer, Budget, Fault, GangReport, Line, Meter, PlayError, Thought};
pub use playout::{Offer, Scratch, Trace, playout};
pub use policy::{Mark, Policy, exp};
pub use prior::{Advice, Guide, Prior, Reader, Trust};
pub use processor::Processor;
pub use record::{Record, RecordError};
pub use replay::{ReplayError, legal_texts, replay, replay_whole, words};
pub use rng::{Rng, mix};
pub use run::{Control, Event, Limits, Observer, Run, Solution, StopReason, StreamCheckpoint, Witness};
pub use search::{
    Auto, BeamNrpa, BeamSearch, BestOf, Brought, Call, CallMaker, CallSource, Form, HdNrpa, Islands, Lesson,
    Lifted, Nmcs, Nrpa, Outcomes, Own, Parallel, PerLevel, Sample, Search, SpecError, best_of,
};
pub use uct::{Counting, FinalMove, Knowledge, PRESETS, Rule, Uct};

/// What the other crates of this project build on and nobody else should: it changes without notice.
#[doc(hidden)]
pub mod parts {
    pub use crate::exact::Solver;
    pub use crate::uct::Searcher;
    pub use crate::uct::choose::{Candidate, Chooser, rank as order};
    pub use crate::uct::kit::sixteenths;
    pub use crate::uct::search::{back_up, node_outcome, prove};
    pub use crate::uct::tree::{Chunk, FULL, LINE, NodeId, Stats, Tree, VISIT, code_of, outcome_of};
    pub use crate::uct::walk::{GameWalker, PathError, Played, Walk, Walker};
}
