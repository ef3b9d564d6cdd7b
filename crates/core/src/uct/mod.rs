//! Monte-Carlo tree search for two-player games: UCT as data (`Uct`) and one loop (`search`) over one kind of tree
//! (`tree`).
//!
//! Every enhancement is a number or a choice in `Uct`; none is a copy of the search. PUCT is another `Rule`, a network
//! another source of `Knowledge`. Values are the first side's everywhere in the tree; `Side::view` turns them once,
//! where a move is chosen. What each parameter does is on the page `docs/searches/uct.md`.

mod batch;
// Public for `parts` alone: what names itself there is not documented twice.
#[allow(missing_docs)]
pub(crate) mod choose;
pub(crate) mod kit;
pub(crate) mod player;
pub(crate) mod search;
mod spec;
#[cfg(test)]
mod tests;
#[allow(missing_docs)]
pub(crate) mod tree;
pub(crate) mod walk;

pub(crate) use kit::Kit;
pub(crate) use player::Searcher;
pub(crate) use player::within_reach;
pub use spec::{Counting, FinalMove, Knowledge, Rule, Uct};
