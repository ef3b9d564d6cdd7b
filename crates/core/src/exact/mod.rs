//! Exact values: who wins, proved. A depth-first proof-number solver for any game (`dfpn`), strategies as text
//! (`proof`, `certify`) and the checker that believes nobody (`check`); and what travels where positions are proved by
//! jobs (`job`, `status`, `value`), answered by a `worker`.
//!
//! Repetition: a `Domain::State` is all that later play depends on, history included where the rules look at it. The
//! solver's tables and the certificates are keyed by whole states, never by `Game::key`, so that a value that depends
//! on the path is a value of another state; and only values proved by a finite line of play are ever stored.

mod certificate;
mod certify;
mod check;
mod coder;
mod dfpn;
mod job;
mod proof;
mod script;
mod status;
mod value;
mod worker;

pub use certificate::{Certificate, Making, Strategist, Wrong};
pub use check::{Argued, CheckError, Checked, Fact, Settled};
pub use job::{After, Answer, Claim, Effort, Fault, Job, Kind, Partial, Trust};
pub use proof::{Goal, Proof, ProofError, Section};
pub use script::{Packed, Script};
pub use status::{Status, Statuses};
pub use value::{Bounds, Value};
pub use worker::{AnyWorker, Asked};

pub(crate) use certificate::{check as check_certificate, make as make_certificate};
pub(crate) use certify::certify;
pub(crate) use check::{check, harvest};
#[doc(hidden)]
pub use dfpn::Solver;
pub(crate) use worker::{Worker, position};
