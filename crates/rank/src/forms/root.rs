//! Root parallelisation with slow-tree sharing (Gelly et al. 2008, Bourki et al. 2010, Christoph 2020).
//!
//! A rank with a tree searches it on its own. So often a second it tells all others with trees what is new in the
//! statistics of the nodes at its top: those less than `depth` moves from the root with at least a `share` of its
//! visits. What it is told counts for choosing as if it were its own, but is never told on and is not in its tally; the
//! `Ledger` keeps the two apart. The answer is the sum of what everybody saw.
//!
//! What differs from the descriptions: nodes are named by the moves that lead to them, and the trees have no table, so
//! that without others this is serial UCT; moves of the root that are proved are told at once. Ranks without trees, and
//! playouts elsewhere, are in `leaf`.

use crate::forms::flights::Flights;
use crate::forms::leaf::{self, Bench};
use crate::forms::ledger::{Ledger, PageId, Seen};
use crate::ground::{Ground, PATH_MAX, Trail, from_code, to_code};
use crate::wire::played_byte;
use crate::{Account, Gang, Nanos, Next, Outbox, Played, Rank, RankId, Reader, Refused, Tally, Ticket, Walk};
use sortie_core::Outcome;
use sortie_core::PlayError;
use sortie_core::parts::{LINE, NodeId};
use sortie_core::parts::{back_up, prove};
use std::collections::VecDeque;

const SHARE: u8 = 20;
const PROOF: u8 = 21;
/// Simulations in flight in one tree at most: an edge counts them in fifteen bits.
const IN_FLIGHT_MAX: u64 = 1 << 14;
/// Simulations that end without a playout before the others are heard.
const TRIES_AT_ONCE: usize = 32;
/// A tree fuller than this gives up what was rarely visited before the next search.
const FILL_MAX: f64 = 0.6;

pub(crate) struct Root {
    pub(super) gang: Gang,
    me: RankId,
    alive: Vec<RankId>,
    /// For whom it plays out; itself, if it has a tree.
    pub(super) boss: RankId,
    /// The other ranks with trees.
    peers: Vec<RankId>,
    /// Who plays out for it.
    pub(super) bench: Bench,
    pub(super) ground: Ground,
    ledger: Ledger,
    /// The root of its tree, if it has one.
    root: Option<NodeId>,
    /// The position that the root stands for.
    start: Option<String>,
    words: Vec<String>,
    pub(super) flights: Flights<Flight>,
    /// Playouts that wait for a thread.
    ready: VecDeque<Ticket>,
    /// Playouts of its own that wait here or are being played.
    here: u64,
    account: Account,
    share_at: Nanos,
}

/// A leaf that is played out.
#[derive(Default)]
pub(super) struct Flight {
    /// Who sent it and by what ticket; `None`: it is our own.
    pub from: Option<(RankId, u32)>,
    /// The nodes passed, of our own.
    pub trail: Trail,
    /// The moves from the root to where it is.
    pub path: Vec<u16>,
    /// Who plays it out; `None`: we do.
    pub away: Option<RankId>,
    /// Playouts still to come.
    pub waits: u32,
    /// The values that have come, for somebody else.
    pub values: Vec<u8>,
}

impl Root {
    pub fn new(gang: &Gang, me: RankId, walk: Box<dyn Walk>) -> Root {
        Root {
            gang: gang.clone(),
            me,
            alive: Vec::new(),
            boss: me,
            peers: Vec::new(),
            bench: Bench::default(),
            ground: Ground::new(walk, false),
            ledger: Ledger::default(),
            root: None,
            start: None,
            words: Vec::new(),
            flights: Flights::default(),
            ready: VecDeque::new(),
            here: 0,
            account: Account::default(),
            share_at: Nanos::MAX,
        }
    }

    /// For whom a rank works.
    fn boss_of(&self, rank: RankId) -> RankId {
        let place = self.alive.iter().position(|&r| r == rank);
        place.map_or(rank, |place| self.alive[leaf::boss(&self.gang, place, self.alive.len())])
    }

    /// Where the tree has the position that is set next: its node and the edges to it.
    fn find(&mut self, start: Option<&str>, words: &[String]) -> Option<(NodeId, Vec<usize>)> {
        let follows = self.start.as_deref() == start && words.starts_with(&self.words);
        if !follows || !self.ground.uct.reuse {
            return None;
        }
        let mut node = self.root?;
        let mut edges = Vec::new();
        self.ground.walk.to_root();
        for word in &words[self.words.len()..] {
            let id = self.ground.walk.id(word)?;
            let edge = self.edge(node, id)?;
            edges.push(edge);
            node = Some(self.ground.tree.link(node, edge).child()).filter(|&child| child != NodeId::NONE)?;
            self.ground.walk.step(id);
        }
        Some((node, edges))
    }

    /// The edge of a node with this move.
    fn edge(&self, node: NodeId, id: u16) -> Option<usize> {
        (0..self.ground.tree.edges(node)).find(|&edge| self.ground.tree.link(node, edge).move_id() == id)
    }

    /// Frees what the game has left behind.
    fn move_root(&mut self, node: NodeId, edges: &[usize]) {
        let tree = &mut self.ground.tree;
        tree.keep(node, 0);
        self.ledger.advance(edges, tree.edges(tree.root));
        if tree.fill() > FILL_MAX {
            tree.recycle();
            self.ledger.prune(tree, tree.root);
        }
        self.ground.walk.leave_chunk();
        self.root = Some(tree.root);
    }

    /// A tree that is nothing but its root.
    fn plant(&mut self) {
        self.ground.clear();
        self.ground.walk.to_root();
        let root = self.add_node(&mut Outbox::new(0)).expect("an empty tree has room for a node");
        self.ledger.clear(self.ground.tree.edges(root));
        self.root = Some(root);
    }

    fn add_node(&mut self, out: &mut Outbox) -> Option<NodeId> {
        let node = self.ground.walk.grow(&self.ground.tree)?;
        self.ground.distinct.add(self.ground.walk.key());
        out.work.added += 1;
        Some(node)
    }

    fn may_begin(&self) -> bool {
        self.root.is_some()
            && self.account.may_begin()
            && self.account.in_flight() < IN_FLIGHT_MAX
            && self.proved().is_none()
    }

    /// Begins a simulation; its playout is for `to`, or for us.
    fn simulate(&mut self, to: Option<RankId>, out: &mut Outbox) {
        self.account.begun += 1;
        self.ground.walk.to_root();
        let mut flight = Flight { waits: 1, ..Flight::default() };
        let mut node = self.root.expect("whoever begins has a tree");
        let mut page = Some(0);
        let mut arrived = self.ground.tree.arrived(node);
        loop {
            let tree = &self.ground.tree;
            let edge = self.ground.chooser.descend(tree, node, arrived);
            let (stats, link) = (tree.stats(node, edge), tree.link(node, edge));
            tree.set_out(node, edge);
            out.work.steps += 1;
            flight.trail.push((node, edge as u32));
            flight.path.push(link.move_id());
            let outcome = self.ground.walk.step(link.move_id());
            if let Some(outcome) = stats.proof().or(outcome) {
                return self.decide(&flight, outcome, out);
            }
            let mut child = link.child();
            if child == NodeId::NONE {
                if stats.visits() < self.ground.uct.expand || flight.path.len() >= PATH_MAX {
                    return self.hand_out(flight, to, out);
                }
                match self.add_node(out) {
                    Some(new) => child = self.ground.tree.connect(node, edge, new),
                    None => return self.hand_out(flight, to, out),
                }
            }
            // What others said about this move but not about those behind it did not arrive there.
            let visits = page.map_or(stats.visits(), |page| self.ledger.own(page, edge, stats).visits);
            page = page.and_then(|page| self.ledger.below(page, edge));
            arrived = visits + page.map_or(0, |page| self.ledger.received(page)) + link.in_flight();
            node = child;
        }
    }

    /// A leaf is there, to be played out as often as leaves are.
    fn hand_out(&mut self, mut flight: Flight, to: Option<RankId>, out: &mut Outbox) {
        let more = u64::from(self.gang.leaf_playouts - 1).min(self.account.quota - self.account.begun);
        self.account.begun += more;
        for _ in 0..more {
            flight.trail.iter().for_each(|&(node, edge)| self.ground.tree.set_out(node, edge as usize));
        }
        flight.waits += more as u32;
        self.ground.depth = self.ground.depth.max(flight.path.len() as u32);
        match to {
            Some(to) => self.send_leaf(flight, to, out),
            None => {
                self.here += u64::from(flight.waits);
                self.wait_for_playouts(flight);
            }
        }
    }

    pub(super) fn wait_for_playouts(&mut self, flight: Flight) {
        let waits = flight.waits;
        let ticket = self.flights.add(flight);
        self.ground.walk.park(ticket.0 as usize);
        (0..waits).for_each(|_| self.ready.push_back(ticket));
    }

    /// A simulation needed no playout.
    fn decide(&mut self, flight: &Flight, outcome: Outcome, out: &mut Outbox) {
        self.ground.depth = self.ground.depth.max(flight.path.len() as u32);
        self.bring_home(&flight.trail, Played::decided(outcome), out);
    }

    /// Brings a value up the tree, and what it proves.
    pub(super) fn bring_home(&mut self, trail: &Trail, played: Played, out: &mut Outbox) {
        back_up(&self.ground.tree, trail, played.value, self.ground.uct.solver, true);
        out.work.steps += trail.len() as u64;
        self.account.home += 1;
        let Some(outcome) = played.outcome.filter(|_| self.ground.uct.solver) else { return };
        prove(&self.ground.tree, trail, outcome);
        let (root, edge) = (trail[0].0, trail[0].1);
        let proof = self.ground.tree.stats(root, edge as usize).proof();
        if proof.is_some() && self.ledger.tell_proof(0, edge as usize) {
            for &peer in &self.peers {
                out.record(peer, PROOF).u16(edge as u16).u8(to_code(proof));
            }
        }
    }

    /// Gives those who play out for us more to do.
    pub(super) fn refill(&mut self, out: &mut Outbox) {
        for _ in 0..TRIES_AT_ONCE {
            let Some(worker) = self.bench.free().filter(|_| self.may_begin()) else { return };
            self.simulate(Some(worker), out);
        }
    }

    /// Tells the others what is new at the top.
    fn share(&mut self, out: &mut Outbox) {
        let Some(root) = self.root else { return };
        let own = |ledger: &Ledger, page, edge, stats| ledger.own(page, edge, stats).visits;
        let edges = 0..self.ground.tree.edges(root);
        let all: u64 =
            edges.map(|edge| u64::from(own(&self.ledger, 0, edge, self.ground.tree.stats(root, edge)))).sum();
        let enough = (self.gang.share * all as f64).max(1.0);
        let mut news = Vec::new();
        let mut stack: Vec<(NodeId, PageId, Vec<u16>)> = vec![(root, 0, Vec::new())];
        while let Some((node, page, path)) = stack.pop() {
            let tree = &self.ground.tree;
            news.clear();
            for edge in 0..tree.edges(node) {
                let (stats, link) = (tree.stats(node, edge), tree.link(node, edge));
                let seen = self.ledger.tell(page, edge, stats);
                let proof = stats.proof().filter(|_| self.ledger.tell_proof(page, edge));
                if seen.visits > 0 || proof.is_some() {
                    news.push((edge as u16, seen, proof));
                }
                let deep = path.len() + 1 >= self.gang.depth as usize;
                let rare = f64::from(own(&self.ledger, page, edge, stats)) < enough;
                if !deep && !rare && link.child() != NodeId::NONE {
                    let mut path = path.clone();
                    path.push(link.move_id());
                    let page = self.ledger.open_below(page, edge, tree.edges(link.child()));
                    stack.push((link.child(), page, path));
                }
            }
            out.work.steps += (1 + tree.edges(node) / LINE) as u64;
            for &peer in self.peers.iter().filter(|_| !news.is_empty()) {
                let mut record = out.record(peer, SHARE);
                record.path(&path).u16(news.len() as u16);
                for (edge, seen, proof) in &news {
                    record.u16(*edge).u32(seen.visits).u32(seen.sum).u8(to_code(*proof));
                }
            }
        }
    }

    /// Another tree says what is new at its top.
    fn take_share(&mut self, record: Reader, out: &mut Outbox) -> Result<(), Refused> {
        let mut record = record;
        let mut path = Vec::new();
        record.path(&mut path)?;
        let count = record.u16()?;
        let mut news = Vec::with_capacity(count.into());
        for _ in 0..count {
            let (edge, seen) = (record.u16()?, Seen { visits: record.u32()?, sum: record.u32()? });
            let proof = from_code(record.u8()?).map_err(|()| record.wrong("no such outcome"))?;
            news.push((usize::from(edge), seen, proof));
        }
        record.end()?;
        if path.len() >= self.gang.depth as usize {
            return Err(record.wrong("too deep a node"));
        }
        let root = self.root.ok_or(record.wrong("there is no tree here"))?;
        let (mut node, mut page, mut trail) = (root, 0, Trail::new());
        for (i, &id) in path.iter().enumerate() {
            let edge = self.edge(node, id).ok_or(record.wrong("no such move"))?;
            trail.push((node, edge as u32));
            let mut child = self.ground.tree.link(node, edge).child();
            if child == NodeId::NONE {
                out.work.replayed += i as u64 + 1;
                if self.ground.walk.follow(&path[..=i])?.is_some() {
                    return Err(record.wrong("the game is over there"));
                }
                // Without room for the node there is none for what is known of it.
                let Some(new) = self.add_node(out) else { return Ok(()) };
                child = self.ground.tree.connect(node, edge, new);
            }
            page = self.ledger.open_below(page, edge, self.ground.tree.edges(child));
            node = child;
        }
        let edges = self.ground.tree.edges(node);
        out.work.steps += (1 + path.len() + edges / LINE) as u64;
        if news.iter().any(|&(edge, ..)| edge >= edges) {
            return Err(record.wrong("no such move"));
        }
        for (edge, seen, proof) in news {
            if !self.ground.tree.merge(node, edge, seen.visits, seen.sum) {
                return Err(record.wrong("visits and values that cannot be"));
            }
            self.ledger.receive(page, edge, seen);
            if let Some(outcome) = proof {
                trail.push((node, edge as u32));
                self.believe(&trail, page, outcome);
                trail.pop();
            }
        }
        Ok(())
    }

    /// Somebody has proved the last move of a way down.
    fn believe(&mut self, trail: &Trail, page: PageId, outcome: Outcome) {
        let (_, edge) = trail[trail.len() - 1];
        self.ledger.tell_proof(page, edge as usize);
        if self.ground.uct.solver {
            prove(&self.ground.tree, trail, outcome);
        }
    }

    fn call_off(&mut self, flight: &Flight) {
        (0..flight.waits).for_each(|_| self.ground.call_off(&flight.trail));
    }
}

impl Rank for Root {
    fn set(&mut self, start: Option<&str>, words: &[String], alive: &[RankId]) -> Result<(), PlayError> {
        self.give_up();
        let found = self.find(start, words);
        self.ground.walk.set(start, words)?;
        (self.start, self.words) = (start.map(String::from), words.to_vec());
        self.alive = alive.to_vec();
        self.boss = self.boss_of(self.me);
        let others = || alive.iter().copied().filter(|&rank| rank != self.me);
        self.peers = others().filter(|&rank| self.boss_of(rank) == rank).collect();
        let workers = others().filter(|&rank| self.boss_of(rank) == self.me).collect();
        self.bench = Bench::new(workers, u64::from(self.gang.par) * u64::from(self.gang.players()));
        self.ground.begin();
        self.root = None;
        let over = self.ground.walk.root_outcome().is_some();
        match found {
            _ if self.boss != self.me || over => self.ground.clear(),
            Some((node, edges)) => self.move_root(node, &edges),
            None => self.plant(),
        }
        Ok(())
    }

    fn begins(&self, rank: RankId) -> bool {
        self.boss_of(rank) == rank
    }

    fn begin(&mut self, quota: u64, now: Nanos) {
        self.account = Account::of(quota);
        // Everybody in his turn, so that not all talk at once.
        let before = self.peers.iter().filter(|&&rank| rank < self.me).count();
        let wait = 1e9 / self.gang.frequency * (before + 1) as f64 / (self.peers.len() + 1) as f64;
        self.share_at = now.saturating_add(wait as Nanos);
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
            leaf::LEAF => self.take_leaf(from, record, out),
            leaf::VALUES => self.take_values(from, record, out),
            SHARE | PROOF if !self.peers.contains(&from) => Err(record.wrong("not from a rank with a tree")),
            SHARE => self.take_share(record, out),
            PROOF => {
                let (edge, code) = (record.u16()?, record.u8()?);
                record.end()?;
                let outcome = from_code(code).ok().flatten().ok_or(record.wrong("no such outcome"))?;
                let root = self.root.filter(|&root| usize::from(edge) < self.ground.tree.edges(root));
                let root = root.ok_or(record.wrong("no such move"))?;
                self.believe(&vec![(root, edge.into())], 0, outcome);
                Ok(())
            }
            _ => Err(record.wrong("no such kind")),
        }
    }

    fn next(&mut self, _now: Nanos, out: &mut Outbox) -> Next {
        if let Some(ticket) = self.ready.pop_front() {
            return Next::Play(ticket);
        }
        if !self.may_begin() {
            return Next::Nothing;
        }
        let worker = self.bench.free();
        // With one thread only, it is better spent on keeping the others busy.
        let plays = self.bench.is_empty() || self.gang.threads > 1;
        let here_max = u64::from(self.gang.par) * u64::from(self.gang.players());
        if worker.is_none() && !(plays && self.here < here_max) {
            return Next::Nothing;
        }
        self.simulate(worker, out);
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
        let flight = self.flights.get_mut(ticket).expect("a ticket that is out");
        flight.waits -= 1;
        let last = flight.waits == 0;
        if flight.from.is_some() {
            flight.values.push(played_byte(played));
        } else {
            self.here -= 1;
            let trail = std::mem::take(&mut flight.trail);
            self.bring_home(&trail, played, out);
            self.flights.get_mut(ticket).expect("it was there").trail = trail;
        }
        if last {
            let flight = self.flights.remove(ticket).expect("it was there");
            self.send_values(&flight, out);
        }
        self.refill(out);
    }

    fn tick(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        let over = !self.account.may_begin() && self.account.in_flight() == 0;
        if self.gang.frequency == 0.0 || self.peers.is_empty() || self.root.is_none() || over {
            return Nanos::MAX;
        }
        if now >= self.share_at {
            self.share(out);
            let period = (1e9 / self.gang.frequency) as Nanos;
            self.share_at += (1 + (now - self.share_at) / period).saturating_mul(period);
        }
        self.share_at
    }

    fn halt(&mut self, _out: &mut Outbox) {
        self.account.halted = true;
    }

    fn give_up(&mut self) {
        for flight in self.flights.drain() {
            self.call_off(&flight);
        }
        self.ready.clear();
        self.bench.forget();
        self.here = 0;
        self.account.lost += self.account.in_flight();
    }

    fn left(&mut self, gone: RankId) -> bool {
        self.peers.retain(|&rank| rank != gone);
        self.bench.remove(gone);
        for flight in self.flights.remove_if(|flight| flight.away == Some(gone)) {
            self.call_off(&flight);
            self.account.lost += u64::from(flight.waits);
        }
        true
    }

    fn account(&self) -> Account {
        self.account
    }

    fn proved(&self) -> Option<Outcome> {
        self.root.and_then(|root| self.ground.tree.node_proof(root))
    }

    fn tally(&self, tally: &mut Tally) {
        self.ground.tally(self.root, tally);
        let Some(root) = self.root else { return };
        for (edge, mv) in tally.moves.iter_mut().enumerate() {
            let own = self.ledger.own(0, edge, self.ground.tree.stats(root, edge));
            (mv.visits, mv.sum) = (own.visits.into(), f64::from(own.sum) / 16.0);
        }
    }

    fn reset(&mut self, seed: u64) {
        self.give_up();
        self.ground.clear();
        self.ground.walk.reseed(seed);
        self.root = None;
        (self.start, self.words) = (None, Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Form;
    use crate::wire::open_frame;
    use sortie_core::Uct;
    use sortie_core::parts::GameWalker;
    use sortie_core::toy::Nim;
    use std::sync::Arc;

    struct Table {
        ranks: Vec<(Root, Outbox)>,
    }

    impl Table {
        fn new(gang: &Gang) -> Table {
            let uct = Uct { memory: 1, ..Uct::plain() };
            let alive: Vec<RankId> = (0..gang.size()).map(RankId).collect();
            let make = |&me: &RankId| {
                let walk = GameWalker::new(Arc::new(Nim { heap: 30 }), &uct, 1, me.0.into());
                let mut root = Root::new(gang, me, Box::new(walk));
                root.set(None, &[], &alive).unwrap();
                root.begin(u64::MAX, 0);
                (root, Outbox::new(gang.size()))
            };
            Table { ranks: alive.iter().map(make).collect() }
        }

        fn search(&mut self, rank: usize, simulations: u64) {
            let (root, out) = &mut self.ranks[rank];
            let goal = root.account.home + simulations;
            while root.account.home < goal {
                if let Next::Play(ticket) = root.next(0, out) {
                    let value = root.play(ticket);
                    root.played(ticket, value, 0, out);
                }
            }
        }

        /// Everybody shares; then everybody hears it. Returns the bytes.
        fn share(&mut self) -> usize {
            let mut frames = Vec::new();
            for (i, (root, out)) in self.ranks.iter_mut().enumerate() {
                root.share(out);
                out.flush();
                frames.extend(std::iter::from_fn(|| out.pop()).map(|(to, frame)| (i, to, frame)));
            }
            for (from, to, frame) in &frames {
                let (root, out) = &mut self.ranks[to.0 as usize];
                for record in open_frame(frame).unwrap().1 {
                    root.receive(RankId(*from as u32), record.unwrap(), 0, out).unwrap();
                }
            }
            frames.iter().map(|(_, _, frame)| frame.len()).sum()
        }

        /// Visits and sums of all edges of the node at the end of a path, in the tree and of its own.
        fn node(&self, rank: usize, path: &[usize]) -> Vec<(Seen, Seen)> {
            let root = &self.ranks[rank].0;
            let (mut node, mut page) = (root.root.unwrap(), Some(0));
            for &edge in path {
                node = root.ground.tree.link(node, edge).child();
                page = page.and_then(|page| root.ledger.below(page, edge));
            }
            let edge = |edge| {
                let stats = root.ground.tree.stats(node, edge);
                let seen = Seen { visits: stats.visits(), sum: stats.sixteenths() };
                (seen, page.map_or(seen, |page| root.ledger.own(page, edge, stats)))
            };
            (0..root.ground.tree.edges(node)).map(edge).collect()
        }
    }

    #[test]
    fn sharing_makes_trees_agree_and_counts_nothing_twice() {
        let gang = Gang { form: Form::RootTree, nodes: 3, share: 0.0, depth: 2, ..Gang::default() };
        let mut table = Table::new(&gang);
        for round in 1..=4u32 {
            for (rank, simulations) in [(0, 100), (1, 150), (2, 7)] {
                table.search(rank, simulations);
            }
            let bytes = table.share();
            assert!((100..4_000).contains(&bytes), "{bytes}");
            assert_eq!(table.share(), 0, "what was told is not told again");
            for path in [&[][..], &[0], &[1], &[2]] {
                let nodes: Vec<_> = (0..3).map(|rank| table.node(rank, path)).collect();
                for edge in 0..3 {
                    let visits: u32 = nodes.iter().map(|node| node[edge].1.visits).sum();
                    let sum: u32 = nodes.iter().map(|node| node[edge].1.sum).sum();
                    for node in &nodes {
                        assert_eq!(node[edge].0, Seen { visits, sum }, "round {round}, {path:?}, {edge}");
                    }
                }
            }
            for (rank, simulations) in [(0, 100u64), (1, 150), (2, 7)] {
                let mut tally = Tally::default();
                table.ranks[rank].0.tally(&mut tally);
                let own: u64 = tally.moves.iter().map(|mv| mv.visits).sum();
                assert_eq!(own, simulations * u64::from(round), "rank {rank}");
            }
        }
        // Deeper nodes stay private.
        assert!(table.node(0, &[0, 0]).iter().all(|(seen, own)| seen == own));
        // All are kept when the game goes on, and what is told then is again only what is new.
        let alive: Vec<RankId> = (0..3).map(RankId).collect();
        let before = table.node(1, &[1]);
        for (root, _) in &mut table.ranks {
            root.set(None, &["2".into()], &alive).unwrap();
            root.begin(u64::MAX, 0);
        }
        assert_eq!(table.node(1, &[]), before);
        table.share();
        let root_visits = |rank: usize| table.node(rank, &[]).iter().map(|(s, _)| s.visits).sum::<u32>();
        assert_eq!((root_visits(0), root_visits(1)), (root_visits(2), root_visits(2)));
    }

    #[test]
    fn rare_nodes_are_not_shared_and_nonsense_is_refused() {
        let gang = Gang { form: Form::RootTree, nodes: 2, share: 0.9, ..Gang::default() };
        let mut table = Table::new(&gang);
        table.search(0, 300);
        table.share();
        assert_eq!(table.node(1, &[]).iter().map(|(seen, _)| seen.visits).sum::<u32>(), 300);
        let (root, _) = &table.ranks[1];
        assert_eq!(root.ground.tree.nodes(), 1, "no move has nine tenths of the visits");
        let mut sender = Outbox::new(2);
        let path = |out: &mut Outbox, path: &[u16], edge, visits, sum| {
            out.record(RankId(1), SHARE).path(path).u16(1).u16(edge).u32(visits).u32(sum).u8(0);
        };
        path(&mut sender, &[9], 0, 1, 1);
        path(&mut sender, &[1, 1, 1], 0, 1, 1);
        path(&mut sender, &[], 3, 1, 1);
        path(&mut sender, &[], 0, 1, 17);
        path(&mut sender, &[], 0, u32::MAX, 0);
        sender.record(RankId(1), PROOF).u16(3).u8(1);
        sender.record(RankId(1), PROOF).u16(0).u8(0);
        sender.record(RankId(1), leaf::LEAF).u32(0).u8(1).path(&[1]);
        sender.record(RankId(1), leaf::VALUES).u32(0).u8(1).u8(8);
        sender.flush();
        let (_, frame) = sender.pop().unwrap();
        let (root, out) = &mut table.ranks[1];
        for record in open_frame(&frame).unwrap().1 {
            assert!(root.receive(RankId(0), record.unwrap(), 0, out).is_err());
        }
        assert_eq!(table.node(1, &[]).iter().map(|(seen, _)| seen.visits).sum::<u32>(), 300);
    }
}
