//! Fine-grained distribution: one search of a game spread over many ranks.
//!
//! A `Rank` is a state machine. It is told what came and how late it is, and it leaves records in an outbox; it knows no
//! clock, no thread and no network. It does not play out either: it hands out tickets for playouts and takes their
//! values, so that the same rank has one core or a dozen. One file of `forms` is one algorithm:
//!
//! | file | algorithm |
//! |---|---|
//! | `tds` | nodes live at home ranks, searches travel to them (Romein et al. 1999, Yoshizoe et al. 2011) |
//! | `canopy` | ours: a replicated top, and below it subtrees that each have one owner |
//! | `root` | every rank has a tree of its own and shares the top of it (Gelly et al. 2008, Bourki et al. 2010) |
//! | `leaf` | ranks that play out for those with trees (Cazenave and Jouandeau 2008) |
//! | `df_uct` | jobs stay at depth as long as the nodes above choose alike: df-UCT (Yoshizoe et al. 2011) |
//! | `mp_mcts` | the same with a memory in the nodes: MP-MCTS (Yang et al. 2021) |
//! | `treesplit` | TDS begun by all, with copies of hot nodes everywhere: UCT-Treesplit (Schaefers and Platzner 2015) |
//!
//! `Member` is what all of them have in common: a search is prepared, begun, ended and counted. Drivers run members: on
//! threads (`threads`), in virtual time (`virtual_time`), and elsewhere on a `Port` (`pump`). `Gang` is the player made
//! of them.

mod calibrate;
mod drill;
mod errand;
mod forms;
mod gang;
mod ground;
mod member;
#[cfg(feature = "mpi")]
pub mod mpi;
mod port_conformance;
mod pump;
mod relay;
mod sketch;
mod spec;
#[cfg(test)]
mod tests;
mod threads;
mod virtual_time;
mod wire;

pub use calibrate::Calibration;
pub use drill::{RankDrilled, drill_rank};
pub use errand::{Errand, Serve};
pub use gang::{Engine, GangPlayer, Plan, serve};
pub use port_conformance::{Conformed, conform};
pub use pump::{Port, SendError};
pub use relay::{Relayed, Traffic, relay, relay_on_threads};
pub use spec::{Form, Gang, Vote};
pub use virtual_time::{Costs, Net};
pub use wire::FRAME_MAX;

use forms::rank;
use sortie_core::parts::{Played, Walk};
use sortie_core::{Outcome, PlayError};
use wire::{Outbox, Reader, Refused, Work};

/// The number of a rank in its gang, from 0 on. Rank 0 is the front: it talks to the player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankId(pub u32);

/// A playout that somebody has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket(pub u32);

/// What a rank has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A playout.
    Play(Ticket),
    /// It has done something itself, and may have more to do.
    Again,
    /// Nothing until something comes.
    Nothing,
}

/// Time in nanoseconds, since whenever the driver likes.
pub type Nanos = u64;

/// One rank of a search. What it is handed is trusted but for records, which came from elsewhere.
pub(crate) trait Rank: Send {
    /// Sets the position that is searched next, and who is there to search it.
    fn set(&mut self, start: Option<&str>, words: &[String], alive: &[RankId]) -> Result<(), PlayError>;
    /// Whether a rank is to begin simulations, in a form in which not only the front does.
    fn begins(&self, _rank: RankId) -> bool {
        true
    }
    /// A search begins. At most `quota` simulations are begun by this rank. Records of others may have come before.
    fn begin(&mut self, quota: u64, now: Nanos);
    /// Takes a record of another rank.
    fn receive(&mut self, from: RankId, record: Reader, now: Nanos, out: &mut Outbox) -> Result<(), Refused>;
    /// What is to be done now. It does not do much before it returns: time must pass.
    fn next(&mut self, now: Nanos, out: &mut Outbox) -> Next;
    /// What it stands on.
    fn ground(&mut self) -> &mut ground::Ground;
    /// Does a playout: that of the position parked under the number of its ticket.
    fn play(&mut self, ticket: Ticket) -> Played {
        let walk = &mut self.ground().walk;
        walk.resume(ticket.0 as usize);
        walk.play_out()
    }
    /// The moves from the root to where a playout begins, for somebody else to do it.
    fn path(&self, ticket: Ticket) -> &[u16];
    /// Takes what came of a playout.
    fn played(&mut self, ticket: Ticket, played: Played, now: Nanos, out: &mut Outbox);
    /// Called now and then, at the latest when it asked to be: returns when that is.
    fn tick(&mut self, _now: Nanos, _out: &mut Outbox) -> Nanos {
        Nanos::MAX
    }
    /// Begins no more simulations; what is in flight comes home.
    fn halt(&mut self, out: &mut Outbox);
    /// Gives up what is in flight: its visits are lost, the tree does not wait for them.
    fn give_up(&mut self);
    /// Another rank is gone. False: the search cannot go on without it.
    fn left(&mut self, _gone: RankId) -> bool {
        false
    }
    /// What it has begun and what came home.
    fn account(&self) -> Account;
    /// The outcome of the root, where this rank knows it.
    fn proved(&self) -> Option<Outcome>;
    /// What its own simulations say about the root, and how it was busy. The sum over all ranks is the answer.
    fn tally(&self, tally: &mut Tally);
    /// Forgets everything it has learnt.
    fn reset(&mut self, seed: u64);
}

/// The simulations that a rank began itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// How many it may begin.
    pub quota: u64,
    /// Begun.
    pub begun: u64,
    /// Come home with a value.
    pub home: u64,
    /// Given up.
    pub lost: u64,
    /// No more are begun.
    pub halted: bool,
}

impl Account {
    /// A new search.
    pub fn of(quota: u64) -> Account {
        Account { quota, ..Account::default() }
    }

    /// Whether another may be begun.
    pub fn may_begin(&self) -> bool {
        !self.halted && self.begun < self.quota
    }

    /// Under way.
    pub fn in_flight(&self) -> u64 {
        self.begun - self.home - self.lost
    }
}

/// What a rank, or all of them together, say about a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tally {
    /// The moves of the root by their numbers.
    pub moves: Vec<RootMove>,
    /// The outcome of the root, where it is proved.
    pub proved: Option<Outcome>,
    /// The simulations begun, come home and lost.
    pub account: Account,
    /// Playouts done here, whoever began the simulation.
    pub playouts: u64,
    /// Nodes added, and nodes now in the tree.
    pub added: u64,
    pub nodes: u64,
    /// The longest path from the root.
    pub depth: u32,
    /// The fill of the tree, in `0..=1`: the fullest.
    pub fill: f64,
    /// What was done.
    pub work: Work,
    /// Records that were refused, and frames of searches long over.
    pub refused: u64,
    /// Keys of the nodes added, counted without counting twice.
    pub distinct: sketch::Sketch,
}

/// A move of the root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RootMove {
    pub id: u16,
    pub visits: u64,
    /// The sum of the values for the first side.
    pub sum: f64,
    pub proof: Option<Outcome>,
}

impl Tally {
    /// Adds what another rank says.
    pub fn add(&mut self, other: &Tally) {
        for theirs in &other.moves {
            match self.moves.iter_mut().find(|ours| ours.id == theirs.id) {
                Some(ours) => {
                    ours.visits += theirs.visits;
                    ours.sum += theirs.sum;
                    ours.proof = ours.proof.or(theirs.proof);
                }
                None => self.moves.push(*theirs),
            }
        }
        self.proved = self.proved.or(other.proved);
        self.account.quota = self.account.quota.saturating_add(other.account.quota);
        self.account.begun += other.account.begun;
        self.account.home += other.account.home;
        self.account.lost += other.account.lost;
        self.playouts += other.playouts;
        self.added += other.added;
        self.nodes += other.nodes;
        self.depth = self.depth.max(other.depth);
        self.fill = self.fill.max(other.fill);
        self.work.add(&other.work);
        self.refused += other.refused;
        self.distinct.merge(&other.distinct);
    }
}
