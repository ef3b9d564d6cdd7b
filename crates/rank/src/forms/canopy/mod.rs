//! Canopy: our own way to spread one tree over many ranks.
//!
//! The top of the tree, the canopy, is replicated: every rank has it and begins simulations there by itself, so nothing
//! is a bottleneck that all must pass. Below the canopy every subtree has one owner, so nothing is searched twice. A
//! simulation goes down the canopy at the rank that began it, makes at most one hop to the owner of the subtree it comes
//! to, is played out there, and its value comes back in a record of nine bytes. An owner whose cores are all busy sends
//! the leaf back instead, to be played out where the simulation began: whoever begins it has a core for it.
//!
//! *Replicas agree by differences.* What a rank adds to the canopy (visits, values, and what is in flight) goes to its
//! neighbours in a tree of ranks, merged per move with what came from its other neighbours, often while the search is
//! young and less often as it grows: a replica is behind by a set share of all visits, not by a set time.
//!
//! *The canopy grows where the search does.* When a subtree has more than its share of all visits, its owner gives its root to the
//! canopy, with all statistics, and what hangs below each of its moves to the owner of that move, so nothing learnt is
//! lost and no owner has more than a small share of the work (`grow`).
//!
//! *What is in flight counts* at home and, by the differences, everywhere. A rank begins no more than it
//! takes to keep its cores busy, and no more than a share of the visits there are: in flight is raised while a core has
//! nothing to do and lowered while playouts wait for one, which is Little's law without a clock.
//!
//! *Proofs travel as facts*: a proved move of the canopy is told to everybody and each rank draws the conclusions.

mod grow;
mod sync;

use crate::forms::flights::Flights;
use crate::ground::{Ground, PATH_MAX, from_code, to_code};
use crate::wire::{played_byte, played_of};
use crate::{
    Account, Gang, Nanos, Next, Outbox, Played, Rank, RankId, Reader, Refused, RootMove, Tally, Ticket, Walk,
};
use sortie_core::PlayError;
use sortie_core::mix;
use sortie_core::parts::node_outcome;
use sortie_core::parts::sixteenths;
use sortie_core::parts::{FULL, NodeId};
use sortie_core::{Outcome, Side};
use std::collections::{HashMap, VecDeque};
use sync::{Found, Neighbour};

const SEARCH: u8 = 16;
const REPORT: u8 = 17;
const SYNC: u8 = 18;
const GROW: u8 = 19;
const HANDOVER: u8 = 20;
const PROVE: u8 = 21;
const LEAF: u8 = 22;
const VALUE: u8 = 23;

/// Nanoseconds in which a simulation is begun and comes back from its owner as a leaf, about.
const HOP_AND_BACK: f64 = 30_000.0;
/// A core may be idle for this share of a playout before more are begun.
const IDLE_SHARE: f64 = 0.05;
/// How many more a rank may then have in flight, and how many fewer each time too many wait for a core. News comes in
/// lumps, a frame at a time: a rank that asks for little is idle again before the next frame.
const RAISE: f64 = 2.0;
const LOWER: f64 = 0.1;

pub(crate) struct Canopy {
    me: RankId,
    alive: Vec<RankId>,
    ground: Ground,
    /// Where the game stood when the tree was last rooted: start, moves.
    start: Option<String>,
    played: Vec<u16>,
    /// The nodes of the canopy; the first is the root. `Tree::tag` of a node is its index.
    tops: Vec<Top>,
    by_name: HashMap<u64, u32>,
    neighbours: Vec<Neighbour>,
    /// What is used while a record is merged, and empty otherwise.
    found: Vec<Found>,
    flights: Flights<Flight>,
    spare: Vec<Flight>,
    ready: VecDeque<Ticket>,
    /// `own[edge]`: visits and values of this rank's simulations at the root in this search.
    own: Vec<(u64, u64)>,
    /// The statistics of the root when the search began; the front's.
    base: Vec<(u64, f64)>,
    /// In flight at the root for ranks that have not been heard of yet.
    phantoms: Vec<usize>,
    /// When the search began.
    begun: Nanos,
    /// All visits of the root that this rank knows of.
    total: u64,
    /// Levels that belong to the canopy without having to grow.
    depth: usize,
    /// How many simulations this rank may have in flight.
    cap: f64,
    /// Since when a core has had nothing to do although as many are out.
    idle_since: Option<Nanos>,
    /// What had come home when that was last raised.
    raised: u64,
    /// How long a playout takes here, about.
    playout: f64,
    account: Account,
    gang: Gang,
}

/// A node of the canopy.
struct Top {
    node: NodeId,
    /// The same on every rank and in every search of a game: a hash of the moves from its start.
    name: u64,
    /// The node above, as an index, and the edge from it.
    parent: Option<(u32, u16)>,
    /// Where its moves begin in the lists of neighbours.
    base: u32,
}

/// A simulation that came through here.
#[derive(Default)]
struct Flight {
    /// Who sent it and by what ticket; `None`: it began here.
    from: Option<(RankId, u32)>,
    /// The nodes it passed at this rank.
    trail: Vec<(NodeId, u32)>,
    /// All edges, and all moves, from the root to where it is.
    edges: Vec<u16>,
    moves: Vec<u16>,
    /// How many of the edges lead to the subtree of this rank that it is in, if it is in one.
    gate: Option<usize>,
    /// Where it has gone on to, or who plays it out.
    away: Option<RankId>,
    /// It is played out here for the owner of the subtree it ended in, who knows it by this ticket.
    guest_of: Option<(RankId, u32)>,
}

impl Canopy {
    pub fn new(gang: &Gang, me: RankId, walk: Box<dyn Walk>) -> Canopy {
        Canopy {
            me,
            alive: vec![me],
            ground: Ground::new(walk, false),
            start: None,
            played: Vec::new(),
            tops: Vec::new(),
            by_name: HashMap::new(),
            neighbours: Vec::new(),
            found: Vec::new(),
            flights: Flights::default(),
            spare: Vec::new(),
            ready: VecDeque::new(),
            own: Vec::new(),
            base: Vec::new(),
            phantoms: Vec::new(),
            begun: 0,
            total: 0,
            depth: 0,
            cap: 1.0,
            idle_since: None,
            raised: 0,
            playout: 0.0,
            account: Account::default(),
            gang: gang.clone(),
        }
    }

    /// Who owns what lies below a move of the canopy.
    fn owner(&self, name: u64) -> RankId {
        self.alive[(mix(name) % self.alive.len() as u64) as usize]
    }

    fn players(&self) -> f64 {
        f64::from(self.gang.players())
    }

    /// Playouts that may wait here for a core: one that comes free should find one, and what is begun only then takes
    /// a hop and back. While long playouts last many hops nothing need wait; and whatever waits was chosen too early.
    fn queue(&self) -> f64 {
        let meanwhile = self.players() * HOP_AND_BACK / self.playout.max(1.0);
        (1.0 + meanwhile).min(3.0 + self.players() / 4.0)
    }

    /// A core asks for work at `now`: looks whether too few are in flight, if it had to wait, or too many, if others do.
    fn adapt(&mut self, now: Nanos) {
        let elapsed = now.saturating_sub(self.begun) as f64;
        self.playout = elapsed * self.players() / self.account.home.max(1) as f64;
        let idle = self.idle_since.map_or(0, |since| now.saturating_sub(since)) as f64;
        if idle > IDLE_SHARE * self.playout && self.account.home > self.raised {
            // One more look for each that comes home.
            self.cap = (self.cap + RAISE).min(64.0 * self.players());
            self.raised = self.account.home;
        } else if self.ready.len() as f64 > 1.0 + 2.0 * self.queue() {
            self.cap = (self.cap - LOWER).max(1.0);
        }
    }

    /// Goes down from `node`, where the walker stands, until the simulation leaves this rank or ends.
    fn descend(&mut self, mut flight: Flight, node: NodeId, out: &mut Outbox) {
        let mut node = node;
        let mut arrived = self.ground.tree.arrived(node);
        loop {
            let top = self.ground.tree.tag(node);
            let mut edge = self.ground.chooser.descend(&self.ground.tree, node, arrived);
            if top.is_some() {
                edge = self.own_first(node, edge, arrived);
            }
            self.ground.tree.set_out(node, edge);
            out.work.steps += 1;
            if let Some(top) = top {
                self.note(top, edge, 0, 0, 1, None);
            }
            flight.trail.push((node, edge as u32));
            let (stats, link) = (self.ground.tree.stats(node, edge), self.ground.tree.link(node, edge));
            flight.edges.push(edge as u16);
            flight.moves.push(link.move_id());
            let outcome = self.ground.walk.step(link.move_id());
            if let Some(outcome) = stats.proof().or(outcome) {
                return self.finish(flight, sixteenths(outcome), Some(outcome), out);
            }
            // Those who come while the first playouts are under way go on down instead of waiting behind them. Our own
            // mark is among those in flight.
            let tried = stats.visits() + link.in_flight().saturating_sub(1);
            if tried < self.ground.uct.expand || flight.edges.len() >= PATH_MAX {
                return self.wait_for_playout(flight, out);
            }
            arrived = tried;
            let child = link.child();
            let inside = child != NodeId::NONE && self.ground.tree.flagged(child);
            if let (Some(top), false) = (top, inside) {
                // The edge of the canopy. Its first levels are everybody's from the beginning: few subtrees would make
                // few owners, whom all would wait for. What has many visits already has an owner, of the last search.
                if flight.edges.len() < self.depth && tried < self.gang.grow_min {
                    match self.sprout(node, edge, &flight, out) {
                        Some(next) => node = next,
                        None => return self.wait_for_playout(flight, out),
                    }
                    continue;
                }
                let owner = self.owner(name_below(self.tops[top].name, link.move_id()));
                if owner != self.me {
                    flight.away = Some(owner);
                    let ticket = self.flights.add(flight);
                    out.record(owner, SEARCH).u32(ticket.0).path(&self.flights.at(ticket).edges);
                    return;
                }
                flight.gate = Some(flight.edges.len());
            }
            match self.below(node, edge, out) {
                Some(next) => node = next,
                None => return self.wait_for_playout(flight, out),
            }
        }
    }

    /// Where moves that nobody has tried are all alike, the same would be the first to every rank. So in the canopy each
    /// begins with another.
    fn own_first(&self, node: NodeId, edge: usize, arrived: u32) -> usize {
        let tree = &self.ground.tree;
        let untried = |e: &usize| {
            let (stats, link) = (tree.stats(node, *e), tree.link(node, *e));
            stats.visits() + link.in_flight() == 0 && stats.proof().is_none()
        };
        if !self.ground.chooser.untried_alike() || !untried(&edge) {
            return edge;
        }
        let considered = self.ground.chooser.considered(arrived, tree.edges(node));
        let count = (0..considered).filter(untried).count().max(1);
        (0..considered).filter(untried).nth(self.me.0 as usize % count).unwrap_or(edge)
    }

    /// The node at the end of an edge, new if there is none; the walker stands there. `None`: no room.
    fn below(&mut self, node: NodeId, edge: usize, out: &mut Outbox) -> Option<NodeId> {
        let child = self.ground.tree.link(node, edge).child();
        if child != NodeId::NONE {
            return Some(child);
        }
        let child = self.ground.walk.grow(&self.ground.tree)?;
        self.ground.distinct.add(self.ground.walk.key());
        out.work.added += 1;
        Some(self.ground.tree.connect(node, edge, child))
    }

    /// The simulation has come to where a playout has to begin; the walker stands there.
    fn wait_for_playout(&mut self, mut flight: Flight, out: &mut Outbox) {
        if let Some((from, theirs)) = flight.from
            && self.ready.len() as f64 > self.queue()
        {
            flight.away = Some(from);
            let ticket = self.flights.add(flight);
            out.record(from, LEAF).u32(theirs).u32(ticket.0).path(&self.flights.at(ticket).moves);
            return;
        }
        self.play_here(flight);
    }

    fn play_here(&mut self, flight: Flight) {
        let ticket = self.flights.add(flight);
        self.ground.walk.park(ticket.0 as usize);
        self.ready.push_back(ticket);
    }

    /// Brings a value up through this rank, and on to where the simulation came from.
    fn finish(&mut self, flight: Flight, value: u64, outcome: Option<Outcome>, out: &mut Outbox) {
        self.conclude(flight, value, outcome, true, out);
    }

    /// The same; unless `report` is set, those who sent it know already.
    fn conclude(
        &mut self,
        mut flight: Flight,
        value: u64,
        outcome: Option<Outcome>,
        report: bool,
        out: &mut Outbox,
    ) {
        self.ground.depth = self.ground.depth.max(flight.edges.len() as u32);
        out.work.steps += flight.trail.len() as u64;
        let solver = self.ground.uct.solver;
        let mut value = value;
        let mut proof = outcome.filter(|_| solver);
        let mut first = None;
        for &(node, edge) in flight.trail.iter().rev() {
            let tree = &self.ground.tree;
            tree.record(node, edge as usize, value, true);
            let top = tree.tag(node);
            if let Some(top) = top {
                self.note(top, edge as usize, 1, value, -1, None);
                if top == 0 {
                    self.total += 1;
                    if flight.from.is_none() {
                        self.own[edge as usize].0 += 1;
                        self.own[edge as usize].1 += value;
                    }
                }
            }
            proof = proof.and_then(|outcome| self.prove(node, edge as usize, outcome, top, out));
            let tree = &self.ground.tree;
            // Whoever has a sure draw need not take less: what lies above sees at least that.
            if solver && tree.has_draw(node) {
                value = match tree.side(node) {
                    Side::First => value.max(FULL / 2),
                    Side::Second => value.min(FULL / 2),
                };
            }
            first = Some(node);
        }
        if first.is_none() {
            proof = outcome.filter(|_| solver);
        }
        match flight.from {
            None => self.account.home += 1,
            Some((from, ticket)) if report => {
                out.record(from, REPORT).u32(ticket).u8(value as u8).u8(to_code(proof));
            }
            Some(_) => {}
        }
        self.consider_growth(&flight, out);
        flight.trail.clear();
        flight.edges.clear();
        flight.moves.clear();
        self.spare.push(flight);
    }

    /// Writes down that a move is proved; what that proves of the node above. A move of the canopy is told to all.
    fn prove(
        &mut self,
        node: NodeId,
        edge: usize,
        outcome: Outcome,
        top: Option<usize>,
        out: &mut Outbox,
    ) -> Option<Outcome> {
        let tree = &self.ground.tree;
        if tree.stats(node, edge).proof().is_none() {
            tree.prove(node, edge, outcome);
            if outcome == Outcome::Draw {
                tree.note_draw(node);
            }
            if let Some(top) = top {
                let name = self.tops[top].name;
                for neighbour in &self.neighbours {
                    out.record(neighbour.to, PROVE).u64(name).u16(edge as u16).u8(to_code(Some(outcome)));
                }
            }
        }
        let proved = node_outcome(&self.ground.tree, node)?;
        self.ground.tree.prove_node(node, proved);
        Some(proved)
    }

    /// Another rank has proved a move of the canopy.
    fn learn_proof(&mut self, from: RankId, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        let mut record = record;
        let (name, edge, code) = (record.u64()?, record.u16()?, record.u8()?);
        record.end()?;
        let outcome = from_code(code).ok().flatten().ok_or(record.wrong("no such outcome"))?;
        // One that is not in this canopy (yet) is of no use here, and others do without.
        let Some(&top) = self.by_name.get(&name) else { return Ok(()) };
        let node = self.tops[top as usize].node;
        if usize::from(edge) >= self.ground.tree.edges(node) {
            return Err(record.wrong("no such move"));
        }
        if self.ground.tree.stats(node, edge.into()).proof().is_some() {
            return Ok(());
        }
        self.ground.tree.prove(node, edge.into(), outcome);
        if outcome == Outcome::Draw {
            self.ground.tree.note_draw(node);
        }
        for neighbour in self.neighbours.iter().filter(|neighbour| neighbour.to != from) {
            out.record(neighbour.to, PROVE).u64(name).u16(edge).u8(code);
        }
        // What follows from it, everybody finds out alike.
        let (mut node, mut at) = (node, top);
        while let Some(proved) = node_outcome(&self.ground.tree, node) {
            self.ground.tree.prove_node(node, proved);
            let Some((parent, edge)) = self.tops[at as usize].parent else { break };
            (node, at) = (self.tops[parent as usize].node, parent);
            self.ground.tree.prove(node, edge.into(), proved);
            if proved == Outcome::Draw {
                self.ground.tree.note_draw(node);
            }
        }
        Ok(())
    }

    /// A simulation that another rank began has come to the edge of its canopy, and what lies below is ours.
    fn take_in(&mut self, from: RankId, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        let mut record = record;
        let ticket = record.u32()?;
        let mut flight = self.spare.pop().unwrap_or_default();
        (flight.from, flight.away, flight.gate, flight.guest_of) = (Some((from, ticket)), None, None, None);
        record.path(&mut flight.edges)?;
        record.end()?;
        out.work.replayed += flight.edges.len() as u64;
        let Some((parent, node)) = self.locate(&flight.edges, &mut flight.moves, &record, out)? else {
            self.wait_for_playout(flight, out);
            return Ok(());
        };
        let tree = &self.ground.tree;
        if let Some(outcome) = tree.node_proof(node) {
            self.finish(flight, sixteenths(outcome), Some(outcome), out);
            return Ok(());
        }
        if tree.flagged(parent) && !tree.flagged(node) {
            flight.gate = Some(flight.edges.len());
        }
        self.descend(flight, node, out);
        Ok(())
    }

    /// The node at the end of edges from the root, and the one before it; what is missing on the way is added. The
    /// walker stands there. `None`: there was no room, and the walker stands there all the same.
    fn locate(
        &mut self,
        edges: &[u16],
        moves: &mut Vec<u16>,
        record: &Reader,
        out: &mut Outbox,
    ) -> Result<Option<(NodeId, NodeId)>, Refused> {
        let Some(root) = self.tops.first().map(|top| top.node) else {
            return Err(record.wrong("there is no root"));
        };
        self.ground.walk.to_root();
        moves.clear();
        let (mut parent, mut node) = (NodeId::NONE, root);
        for &edge in edges {
            if usize::from(edge) >= self.ground.tree.edges(node) {
                return Err(record.wrong("no such move"));
            }
            let id = self.ground.tree.link(node, edge.into()).move_id();
            moves.push(id);
            if self.ground.walk.step(id).is_some() {
                return Err(record.wrong("the game is over there"));
            }
            parent = node;
            match self.below(node, edge.into(), out) {
                Some(next) => node = next,
                None => return self.rest_of_way(edges, moves, record),
            }
        }
        if edges.is_empty() { Err(record.wrong("no way")) } else { Ok(Some((parent, node))) }
    }

    /// Without nodes there are no moves for edges: the rest cannot be followed if it is more than nothing.
    fn rest_of_way(
        &self,
        edges: &[u16],
        moves: &[u16],
        record: &Reader,
    ) -> Result<Option<(NodeId, NodeId)>, Refused> {
        if moves.len() == edges.len() { Ok(None) } else { Err(record.wrong("no room for the way")) }
    }

    fn came_back(&mut self, from: RankId, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        let mut record = record;
        let (ticket, value, code) = (Ticket(record.u32()?), record.u8()?, record.u8()?);
        record.end()?;
        let outcome = from_code(code).map_err(|()| record.wrong("no such outcome"))?;
        let waits = self.flights.get_mut(ticket).is_some_and(|flight| flight.away == Some(from));
        if !waits || u64::from(value) > FULL {
            return Err(record.wrong("nobody waits for it"));
        }
        let flight = self.flights.remove(ticket).expect("it was there");
        self.finish(flight, value.into(), outcome, out);
        Ok(())
    }

    /// The owner of the subtree that a simulation of ours ended in is busy: it is played out here.
    fn take_leaf(&mut self, from: RankId, record: Reader) -> Result<(), Refused> {
        let mut record = record;
        let (ticket, theirs) = (Ticket(record.u32()?), record.u32()?);
        let mut moves = Vec::new();
        record.path(&mut moves)?;
        record.end()?;
        let waits = self.flights.get_mut(ticket).is_some_and(|flight| flight.away == Some(from));
        if !waits {
            return Err(record.wrong("nobody waits for it"));
        }
        if self.ground.walk.follow(&moves)?.is_some() {
            return Err(record.wrong("the game is over there"));
        }
        let mut flight = self.flights.remove(ticket).expect("it was there");
        (flight.away, flight.guest_of, flight.moves) = (None, Some((from, theirs)), moves);
        self.play_here(flight);
        Ok(())
    }

    /// A simulation that ended in a subtree of ours was played out where it began; there it is over already.
    fn take_value(&mut self, from: RankId, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        let mut record = record;
        let (ticket, byte) = (Ticket(record.u32()?), record.u8()?);
        record.end()?;
        let waits = self.flights.get_mut(ticket).is_some_and(|flight| flight.away == Some(from));
        let played = played_of(byte).filter(|_| waits).ok_or(record.wrong("nobody waits for it"))?;
        let flight = self.flights.remove(ticket).expect("it was there");
        self.conclude(flight, played.value, played.outcome, false, out);
        Ok(())
    }

    /// The most that this rank may have in flight now.
    fn limit(&self) -> u64 {
        let share = self.gang.flying * self.total as f64 / self.alive.len() as f64;
        self.cap.min(share.max(self.players().min(1.0 + share))) as u64
    }
}

/// The name of what lies below a move.
fn name_below(name: u64, id: u16) -> u64 {
    mix(name ^ (u64::from(id) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Rank for Canopy {
    fn set(&mut self, start: Option<&str>, words: &[String], alive: &[RankId]) -> Result<(), PlayError> {
        self.give_up();
        self.ground.walk.set(start, words)?;
        let played = self.ground.walk.played().to_vec();
        let follows = self.ground.uct.reuse
            && self.alive == alive
            && self.start.as_deref() == start
            && played.starts_with(&self.played);
        self.alive = alive.to_vec();
        let root = if follows { self.follow(&played[self.played.len()..]) } else { None };
        self.start = start.map(String::from);
        self.played = played;
        self.reroot(root);
        Ok(())
    }

    fn begin(&mut self, quota: u64, now: Nanos) {
        self.account = Account::of(quota);
        self.begun = now;
        self.ground.begin();
        let Some(root) = self.tops.first().map(|top| top.node) else { return };
        let tree = &self.ground.tree;
        let edges = tree.edges(root);
        self.own = vec![(0, 0); edges];
        let stats = |edge| tree.stats(root, edge);
        self.base = (0..edges).map(|edge| (stats(edge).visits().into(), stats(edge).sum().into())).collect();
        self.total = self.base.iter().map(|b| b.0).sum();
        self.cap = self.players() * f64::from(self.gang.par);
        (self.idle_since, self.raised) = (None, 0);
        self.imagine_others(root);
    }

    fn receive(
        &mut self,
        from: RankId,
        record: Reader,
        _now: Nanos,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        match record.kind {
            SEARCH => self.take_in(from, record, out),
            REPORT => self.came_back(from, record, out),
            SYNC => self.merge(from, record, out),
            GROW => self.learn_growth(from, record, out),
            HANDOVER => self.take_over(record, out),
            PROVE => self.learn_proof(from, record, out),
            LEAF => self.take_leaf(from, record),
            VALUE => self.take_value(from, record, out),
            _ => Err(record.wrong("no such kind")),
        }
    }

    fn next(&mut self, now: Nanos, out: &mut Outbox) -> Next {
        self.adapt(now);
        if let Some(ticket) = self.ready.pop_front() {
            self.idle_since = None;
            return Next::Play(ticket);
        }
        let Some(root) = self.tops.first().map(|top| top.node) else { return Next::Nothing };
        if !self.account.may_begin() || self.proved().is_some() {
            return Next::Nothing;
        }
        if self.account.in_flight() >= self.limit().max(1) {
            // Where it is the share of all visits that does not allow more, to allow more would not help.
            let full = self.account.in_flight() >= self.cap as u64;
            self.idle_since = full.then(|| self.idle_since.unwrap_or(now));
            return Next::Nothing;
        }
        self.idle_since = None;
        self.account.begun += 1;
        self.ground.walk.to_root();
        let mut flight = self.spare.pop().unwrap_or_default();
        (flight.from, flight.away, flight.gate, flight.guest_of) = (None, None, None, None);
        self.descend(flight, root, out);
        self.ready.pop_front().map_or(Next::Again, Next::Play)
    }

    fn ground(&mut self) -> &mut Ground {
        &mut self.ground
    }

    fn path(&self, ticket: Ticket) -> &[u16] {
        &self.flights.at(ticket).moves
    }

    fn played(&mut self, ticket: Ticket, played: Played, _now: Nanos, out: &mut Outbox) {
        self.ground.playouts += 1;
        let flight = self.flights.remove(ticket).expect("a ticket that is out");
        let mut played = played;
        if let Some((owner, ticket)) = flight.guest_of {
            out.record(owner, VALUE).u32(ticket).u8(played_byte(played));
            // What it proves, it proves of a position below the owner's nodes, not of the last one here.
            played.outcome = None;
        }
        self.finish(flight, played.value, played.outcome, out);
    }

    fn tick(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        self.synchronise(now, out)
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
        self.tops.first().and_then(|root| self.ground.tree.node_proof(root.node))
    }

    fn tally(&self, tally: &mut Tally) {
        self.ground.tally(None, tally);
        let Some(root) = self.tops.first() else { return };
        tally.proved = self.proved();
        let front = self.me == self.alive[0];
        let of = |(edge, own): (usize, &(u64, u64))| {
            let (visits, sum) = if front { self.base[edge] } else { (0, 0.0) };
            RootMove {
                id: self.ground.tree.link(root.node, edge).move_id(),
                visits: own.0 + visits,
                sum: own.1 as f64 / FULL as f64 + sum,
                proof: self.ground.tree.stats(root.node, edge).proof(),
            }
        };
        tally.moves = self.own.iter().enumerate().map(of).collect();
    }

    fn reset(&mut self, seed: u64) {
        self.give_up();
        (self.start, self.played) = (None, Vec::new());
        self.tops.clear();
        self.by_name.clear();
        self.ground.clear();
        self.ground.walk.reseed(seed);
    }
}
