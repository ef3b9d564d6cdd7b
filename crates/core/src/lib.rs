//! Monte-Carlo search for puzzles, routing and games: the contract of a domain, the searches, the run.
//!
//! Here stands what a domain is written with ([`Domain`], [`Problem`], [`Game`]), what it is named and opened by
//! ([`Entry`], [`Catalogue`]), and what it looks like to who does not know its type ([`AnyProblem`], [`AnyGame`]). The
//! rest is by subject, a page each: how a search is told what to do ([`search`], [`uct`]), what it is handed and how it
//! plays ([`run`], [`playout`]: read these to write one), games under way and their players ([`play`]), what is proved
//! ([`exact`]), work in jobs ([`job`]), solutions as text ([`record`]), networks ([`planes`], [`prior`]), what a domain may
//! have of its own making ([`expert`]), and what it is tested by ([`conformance`], [`toy`]). This crate is pure: no files,
//! no sockets, no global state.
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
pub mod expert;
mod ident;
pub mod job;
pub mod measure;
pub mod picture;
pub mod planes;
pub mod play;
pub mod playout;
mod policy;
pub mod prior;
mod processor;
pub mod record;
mod replay;
mod rng;
pub mod run;
pub mod search;
pub mod toy;
mod trace;
pub mod uct;

pub use any::{AnyGame, AnyProblem, Boxed, Origin, Position};
pub use catalogue::{Catalogue, Entry, OpenError, Opened, Options, Request};
pub use domain::{Choices, Domain, Game, Outcome, Problem, Side};
pub use ident::{Ident, Precondition};
pub use job::{JobId, JobSource};
pub use play::{AnyBoard, AnyPlayer, Budget, PlayError, Thought};
pub use processor::Processor;
pub use record::Record;
pub use replay::ReplayError;
pub use rng::{Rng, mix};
pub use run::{Control, Event, Limits, Solution, StopReason};
pub use search::{BestOf, Nmcs, Nrpa, Sample, Search};
pub use uct::Uct;

/// What the other crates of this project build on and nobody else should: it changes without notice.
#[doc(hidden)]
pub mod parts {
    pub use crate::catalogue::nearest;
    pub use crate::exact::Solver;
    pub use crate::uct::choose::{Candidate, Chooser, rank as order};
    pub use crate::uct::kit::sixteenths;
    pub use crate::uct::player::Searcher;
    pub use crate::uct::search::{back_up, node_outcome, prove};
    pub use crate::uct::tree::{Chunk, FULL, LINE, NodeId, Stats, Tree, VISIT, code_of, outcome_of};
    pub use crate::uct::walk::{GameWalker, PathError, Played, Walk, Walker};
}
