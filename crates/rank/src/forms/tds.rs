//! TDS-UCT: transposition-driven scheduling (Romein et al. 1999) of UCT, as Yoshizoe et al. (2011) and Christoph (2020)
//! describe it.
//!
//! Every position has a home rank, found from its hash, and its node lives there and nowhere else. A simulation begins at
//! the home of the root, which is always the front; where the chosen move leads to a position with another home, a
//! *search* record goes there, and later a *report* comes back the same way, rank by rank. The front keeps `par`
//! simulations in flight for every thread of the gang that plays out.
//!
//! What differs from the descriptions: a rank remembers the simulations that passed through it, so that a record holds a
//! ticket and the moves from the root instead of boards and paths of nodes; visits in flight count as unobserved; proofs
//! of the solver travel with the reports. A position without a node is played out where its parent lives.
//!
//! With copies of nodes at every rank it is UCT-Treesplit (`treesplit`).

use crate::forms::flights::Flights;
use crate::forms::treesplit::{NEWS, PASSED_ON, Split};
use crate::ground::{Ground, PATH_MAX, Trail, from_code, to_code};
use crate::{Account, Gang, Nanos, Next, Outbox, Played, Rank, RankId, Reader, Refused, Tally, Ticket, Walk};
use sortie_core::Outcome;
use sortie_core::PlayError;
use sortie_core::parts::NodeId;
use sortie_core::parts::sixteenths;
use sortie_core::parts::{back_up, prove};
use std::collections::VecDeque;

const SEARCH: u8 = 16;
const REPORT: u8 = 17;
/// Simulations in flight at most: as many as a move can have.
const FLIGHTS_MAX: u64 = 0x7fff;

pub(crate) struct Tds {
    me: RankId,
    /// The ranks that are there, in order; positions are spread over them.
    alive: Vec<RankId>,
    ground: Ground,
    /// The node of the root, at the front; with copies everywhere.
    root: Option<NodeId>,
    flights: Flights<Flight>,
    /// Playouts that wait for a thread.
    ready: VecDeque<Ticket>,
    /// The nodes that are at every rank.
    split: Option<Split>,
    /// Simulations in flight at most, where they begin.
    cap: u64,
    account: Account,
    players: u64,
    par: u64,
}

/// A simulation that came through here.
#[derive(Default)]
struct Flight {
    /// Who sent it and by what ticket; `None`: it began here.
    from: Option<(RankId, u32)>,
    /// The nodes it passed at this rank.
    trail: Trail,
    /// The moves from the root to where it is.
    path: Vec<u16>,
    /// Where it has gone on to.
    away: Option<RankId>,
}

impl Tds {
    pub fn new(gang: &Gang, me: RankId, walk: Box<dyn Walk>, split: Option<Split>) -> Tds {
        Tds {
            me,
            alive: Vec::new(),
            ground: Ground::new(walk, true),
            root: None,
            flights: Flights::default(),
            ready: VecDeque::new(),
            split,
            cap: 0,
            account: Account::default(),
            players: gang.players().into(),
            par: gang.par.into(),
        }
    }

    /// Every node of this rank with its statistics.
    #[cfg(test)]
    pub(crate) fn dump(&mut self) -> std::collections::BTreeMap<u64, Vec<u64>> {
        self.ground.tree.dump()
    }

    /// Where the node of a position lives. (The root's is at the front, whatever its hash.)
    fn home(&self, key: u64) -> RankId {
        self.alive[(sortie_core::mix(key) % self.alive.len() as u64) as usize]
    }

    /// The same, if it is another rank and there is no copy of the node here.
    fn away(&self, key: u64) -> Option<RankId> {
        let home = self.home(key);
        let copied = || self.split.is_some() && self.ground.tree.find(key).is_some();
        (home != self.me && !copied()).then_some(home)
    }

    /// Goes down from `node`, where the walker stands, until the simulation leaves this rank or ends.
    fn descend(&mut self, mut flight: Flight, node: NodeId, out: &mut Outbox) {
        let mut node = node;
        loop {
            let edge = self.ground.set_out(node, out);
            flight.trail.push((node, edge as u32));
            let (stats, link) = (self.ground.tree.stats(node, edge), self.ground.tree.link(node, edge));
            flight.path.push(link.move_id());
            let outcome = self.ground.walk.step(link.move_id());
            if let Some(outcome) = stats.proof().or(outcome) {
                return self.finish(flight, sixteenths(outcome), Some(outcome), out);
            }
            // Those who come while the first playouts are under way go on down instead of waiting behind them. Our own
            // mark is among those in flight.
            let tried = stats.visits() + link.in_flight().saturating_sub(1);
            if tried < self.ground.uct.expand || flight.path.len() >= PATH_MAX {
                return self.wait_for_playout(flight);
            }
            let home = self.away(self.ground.walk.key());
            if let Some(home) = home {
                flight.away = Some(home);
                let path = flight.path.clone();
                let ticket = self.flights.add(flight);
                out.record(home, SEARCH).u32(ticket.0).path(&path);
                return;
            }
            match self.arrive(&flight, out) {
                Arrived::Node(next) => node = next,
                Arrived::Decided(outcome) => {
                    return self.finish(flight, sixteenths(outcome), Some(outcome), out);
                }
                Arrived::Leaf => return self.wait_for_playout(flight),
            }
        }
    }

    /// The node of the position where the walker stands, which lives here.
    fn arrive(&mut self, flight: &Flight, out: &mut Outbox) -> Arrived {
        let Some(node) = self.ground.node_here(out) else { return Arrived::Leaf };
        if let Some(outcome) = self.ground.tree.node_proof(node) {
            return Arrived::Decided(outcome);
        }
        // A position that came before on this very line: to follow it would be to go round in circles.
        let before = &flight.path[..flight.path.len().saturating_sub(1)];
        if self.ground.walk.repeats(before) { Arrived::Leaf } else { Arrived::Node(node) }
    }

    fn wait_for_playout(&mut self, flight: Flight) {
        let ticket = self.flights.add(flight);
        self.ground.walk.park(ticket.0 as usize);
        self.ready.push_back(ticket);
    }

    /// Brings a value up through this rank, and on to where the simulation came from.
    fn finish(&mut self, flight: Flight, value: u64, outcome: Option<Outcome>, out: &mut Outbox) {
        let solver = self.ground.uct.solver;
        self.ground.depth = self.ground.depth.max(flight.path.len() as u32);
        out.work.steps += flight.trail.len() as u64;
        let value = back_up(&self.ground.tree, &flight.trail, value, solver, true);
        // On another path to the same node a repetition may not be one, so draws prove nothing.
        let outcome = outcome.filter(|&o| solver && o != Outcome::Draw);
        let proved = outcome.and_then(|outcome| prove(&self.ground.tree, &flight.trail, outcome));
        if let Some(split) = &mut self.split {
            split.visited(&self.ground.tree, &flight.path, &flight.trail, value, flight.from.is_none(), out);
        }
        match flight.from {
            None => self.account.home += 1,
            Some((from, ticket)) => {
                out.record(from, REPORT).u32(ticket).u8(value as u8).u8(to_code(proved));
            }
        }
    }
}

enum Arrived {
    Node(NodeId),
    Decided(Outcome),
    Leaf,
}

impl Rank for Tds {
    fn set(&mut self, start: Option<&str>, words: &[String], alive: &[RankId]) -> Result<(), PlayError> {
        self.give_up();
        self.ground.walk.set(start, words)?;
        // Positions keep their homes as long as the ranks are the same, and with them what was learnt. When half of the
        // room is gone everything goes: there is no root here from which one could tell what is still wanted.
        let clear = !self.ground.uct.reuse || self.alive != alive || self.ground.tree.fill() > 0.5;
        if clear {
            self.ground.clear();
        }
        if let Some(split) = &mut self.split {
            split.set(alive, clear);
        }
        self.alive = alive.to_vec();
        Ok(())
    }

    fn begin(&mut self, quota: u64, _now: Nanos) {
        self.account = Account::of(quota);
        self.ground.begin();
        let ranks = if self.split.is_some() { 1 } else { self.alive.len() as u64 };
        self.cap = (self.par * self.players * ranks).min(FLIGHTS_MAX);
        self.root = None;
        if (self.me == RankId(0) || self.split.is_some()) && self.ground.walk.root_outcome().is_none() {
            self.ground.walk.to_root();
            self.root = self.ground.node_here(&mut Outbox::new(0));
            let home = self.home(self.ground.walk.key()) == self.me;
            if let (Some(split), Some(root)) = (&mut self.split, self.root) {
                split.begin(&self.ground.tree, root, home);
            }
        }
    }

    fn receive(
        &mut self,
        from: RankId,
        record: Reader,
        _now: Nanos,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        let mut record = record;
        match record.kind {
            SEARCH => {
                let ticket = record.u32()?;
                let mut flight = Flight { from: Some((from, ticket)), ..Flight::default() };
                record.path(&mut flight.path)?;
                record.end()?;
                if self.ground.walk.follow(&flight.path)?.is_some() || flight.path.is_empty() {
                    return Err(record.wrong("the game is over there"));
                }
                out.work.replayed += flight.path.len() as u64;
                match self.arrive(&flight, out) {
                    Arrived::Node(node) => self.descend(flight, node, out),
                    Arrived::Decided(outcome) => {
                        self.finish(flight, sixteenths(outcome), Some(outcome), out);
                    }
                    Arrived::Leaf => self.wait_for_playout(flight),
                }
            }
            REPORT => {
                let (ticket, value, code) = (Ticket(record.u32()?), record.u8()?, record.u8()?);
                record.end()?;
                let outcome = from_code(code).map_err(|()| record.wrong("no such outcome"))?;
                let waits = self.flights.get_mut(ticket).is_some_and(|flight| flight.away == Some(from));
                if !waits || value > 16 {
                    return Err(record.wrong("nobody waits for it"));
                }
                let flight = self.flights.remove(ticket).expect("it was there");
                self.finish(flight, value.into(), outcome, out);
            }
            NEWS | PASSED_ON if self.split.is_some() => {
                let split = self.split.as_mut().expect("it is there");
                split.receive(&mut self.ground, from, record, out)?;
            }
            _ => return Err(record.wrong("no such kind")),
        }
        Ok(())
    }

    fn next(&mut self, _now: Nanos, out: &mut Outbox) -> Next {
        if let Some(ticket) = self.ready.pop_front() {
            return Next::Play(ticket);
        }
        let Some(root) = self.root else { return Next::Nothing };
        let idle =
            !self.account.may_begin() || self.account.in_flight() >= self.cap || self.proved().is_some();
        if idle {
            return Next::Nothing;
        }
        self.account.begun += 1;
        self.ground.walk.to_root();
        self.descend(Flight::default(), root, out);
        self.ready.pop_front().map_or(Next::Again, Next::Play)
    }

    fn ground(&mut self) -> &mut Ground {
        &mut self.ground
    }

    fn path(&self, ticket: Ticket) -> &[u16] {
        &self.flights.at(ticket).path
    }

    fn played(&mut self, ticket: Ticket, played: Played, _now: Nanos, out: &mut Outbox) {
        self.ground.playouts += 1;
        let flight = self.flights.remove(ticket).expect("a ticket that is out");
        self.finish(flight, played.value, played.outcome, out);
    }

    fn tick(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        self.split.as_mut().map_or(Nanos::MAX, |split| split.tick(now, out))
    }

    fn halt(&mut self, _out: &mut Outbox) {
        self.account.halted = true;
    }

    fn give_up(&mut self) {
        for flight in self.flights.drain() {
            self.ground.call_off(&flight.trail);
        }
        self.ready.clear();
        self.account.lost += self.account.in_flight();
    }

    fn account(&self) -> Account {
        self.account
    }

    fn proved(&self) -> Option<Outcome> {
        self.root.and_then(|root| self.ground.tree.node_proof(root))
    }

    fn tally(&self, tally: &mut Tally) {
        self.ground.tally(self.root, tally);
        if let Some(split) = &self.split {
            split.tally(tally);
        }
    }

    fn reset(&mut self, seed: u64) {
        self.give_up();
        self.ground.clear();
        if let Some(split) = &mut self.split {
            split.set(&self.alive, true);
        }
        self.ground.walk.reseed(seed);
        self.root = None;
    }
}

#[cfg(test)]
impl Tds {
    /// What the node of the root says, whoever told it.
    pub(super) fn view(&self) -> Tally {
        let mut tally = Tally::default();
        self.ground.tally(self.root, &mut tally);
        tally
    }

    /// The nodes that are at every rank.
    pub(super) fn copies(&self) -> usize {
        self.split.as_ref().map_or(0, Split::copies)
    }
}
