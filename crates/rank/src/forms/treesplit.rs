//! UCT-Treesplit (Schaefers and Platzner 2015): TDS in which every rank has a copy of the nodes that are visited most.
//!
//! All ranks begin simulations, each at its own copy of the root. A node with more than `dup` visits is told to everybody
//! and is then at hand everywhere, so that simulations travel only below the nodes that all of them pass. Each rank
//! counts what it has added to a copy since it last told the others, and tells them when a move has
//!
//! ```text
//! new visits >= min(sync_max, max(sync_min, alpha * all visits)),   alpha = 1 / error^2 - 1
//! ```
//!
//! so that the standard error of its mean has come down to the share `error` of what the others know. With
//! `broadcasters` the news go through the last ranks, each with a group of its own, which collect for `merge`
//! microseconds and pass on what came from everybody else in one record for a node; without them everybody tells
//! everybody.
//!
//! What differs from the paper: broadcast ranks search as well; copies lie in the same tree as the other nodes, and a
//! record of news makes a copy where there is none, so that it does not matter in which order records come; visits in
//! flight count as unobserved where they set out; proofs are told at once. What has not been told when a search ends
//! is told in the next. This file is what a rank of `tds` does besides.

use crate::ground::{Ground, Trail, from_code, to_code};
use crate::wire::Outbox;
use crate::{Gang, Nanos, RankId, Reader, Refused, Tally};
use sortie_core::Outcome;
use sortie_core::parts::node_outcome;
use sortie_core::parts::{FULL, NodeId, Tree};
use std::collections::{BTreeMap, HashMap};

/// News of a node for a rank, and the same between broadcast ranks.
pub(super) const NEWS: u8 = 18;
pub(super) const PASSED_ON: u8 = 19;
/// News that a broadcast rank holds back at most.
const HELD_MAX: usize = 4096;
/// Visits that the statistics of a move take at a time, and can have at all.
const AT_ONCE: u32 = 0xffff;
const VISITS_SANE: u32 = 1 << 27;

/// What a rank knows of the nodes that all ranks have.
pub(crate) struct Split {
    me: RankId,
    alive: Vec<RankId>,
    gang: Gang,
    /// By node: what the others have not been told, move by move.
    shared: HashMap<u32, Vec<Untold>>,
    /// The root, what it held when the search began (where its home is), and what our own simulations added.
    root: Option<NodeId>,
    own: Vec<(u64, u64)>,
    /// What a broadcast rank holds back, by the path of the node: an ordered map, so that the same seed gives the same
    /// search.
    held: BTreeMap<Vec<u16>, Vec<Heard>>,
    holds: usize,
    due: Nanos,
}

#[derive(Debug, Clone, Copy, Default)]
struct Untold {
    visits: u32,
    sum: u32,
    /// Its proof has been told.
    proof: bool,
}

/// News of a node, and which rank of the group said so; `None`: another broadcast rank.
type Heard = (Option<RankId>, Vec<Move>);

/// News of a move.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Move {
    edge: u16,
    visits: u32,
    sum: u32,
    proof: Option<Outcome>,
}

impl Split {
    pub fn new(gang: &Gang, me: RankId) -> Split {
        Split {
            me,
            alive: Vec::new(),
            gang: gang.clone(),
            shared: HashMap::new(),
            root: None,
            own: Vec::new(),
            held: BTreeMap::new(),
            holds: 0,
            due: Nanos::MAX,
        }
    }

    /// A new position; `cleared`: there are no nodes any more.
    pub fn set(&mut self, alive: &[RankId], cleared: bool) {
        self.alive = alive.to_vec();
        if cleared {
            self.shared.clear();
        }
        self.root = None;
        self.held.clear();
        (self.holds, self.due) = (0, Nanos::MAX);
    }

    /// A search begins at this root; `home`: it lives here.
    pub fn begin(&mut self, tree: &Tree, root: NodeId, home: bool) {
        self.share(tree, root);
        self.root = Some(root);
        let of = |edge| {
            let stats = tree.stats(root, edge);
            if home { (stats.visits().into(), (stats.0 as u32).into()) } else { (0, 0) }
        };
        self.own = (0..tree.edges(root)).map(of).collect();
    }

    /// Makes a node one that all ranks have; whatever it holds the others do not know yet.
    fn share(&mut self, tree: &Tree, node: NodeId) -> &mut Vec<Untold> {
        let untold = |edge| {
            let stats = tree.stats(node, edge);
            Untold { visits: stats.visits(), sum: stats.0 as u32, proof: false }
        };
        self.shared.entry(node.0).or_insert_with(|| (0..tree.edges(node)).map(untold).collect())
    }

    /// A value came up a trail, which ends where `path` does; `began`: its simulation began here.
    pub fn visited(
        &mut self,
        tree: &Tree,
        path: &[u16],
        trail: &Trail,
        value: u64,
        began: bool,
        out: &mut Outbox,
    ) {
        if let (true, Some(&(_, edge))) = (began, trail.first()) {
            let (visits, sum) = &mut self.own[edge as usize];
            (*visits, *sum) = (*visits + 1, *sum + value);
        }
        if self.alive.len() < 2 {
            return;
        }
        let entry = path.len() - trail.len();
        for (i, &(node, edge)) in trail.iter().enumerate() {
            let stats = tree.stats(node, edge as usize);
            let sync = self.sync(stats.visits());
            let tell = match self.shared.get_mut(&node.0) {
                None if tree.node_stats(node).visits() <= self.gang.dup => continue,
                None => true,
                Some(untold) => {
                    let untold = &mut untold[edge as usize];
                    (untold.visits, untold.sum) = (untold.visits + 1, untold.sum + value as u32);
                    untold.visits >= sync || (stats.proof().is_some() && !untold.proof)
                }
            };
            if tell {
                self.share(tree, node);
                self.tell(tree, node, &path[..entry + i], out);
            }
        }
    }

    /// The new visits of a move from which on the others are told.
    fn sync(&self, visits: u32) -> u32 {
        let alpha = 1.0 / (self.gang.error * self.gang.error) - 1.0;
        let share = (alpha * f64::from(visits)).ceil() as u32;
        share.max(self.gang.sync_min).min(self.gang.sync_max)
    }

    /// Tells the others what they do not know of a node.
    fn tell(&mut self, tree: &Tree, node: NodeId, path: &[u16], out: &mut Outbox) {
        let Some(untold) = self.shared.get_mut(&node.0) else { return };
        let mut news = Vec::new();
        for (edge, of) in untold.iter_mut().enumerate() {
            let proof = tree.stats(node, edge).proof().filter(|&o| !of.proof && o != Outcome::Draw);
            if of.visits > 0 || proof.is_some() {
                news.push(Move { edge: edge as u16, visits: of.visits, sum: of.sum, proof });
                *of = Untold { proof: of.proof || proof.is_some(), ..Untold::default() };
            }
        }
        match self.broadcaster(self.me) {
            Some(rank) if rank == self.me => self.hold(Some(self.me), path, news, out),
            Some(rank) => write(out, rank, NEWS, path, &news),
            None => self.others().for_each(|rank| write(out, rank, NEWS, path, &news)),
        }
    }

    fn others(&self) -> impl Iterator<Item = RankId> {
        self.alive.iter().copied().filter(|&rank| rank != self.me)
    }

    /// The broadcast ranks: the last ones.
    fn broadcasters(&self) -> &[RankId] {
        &self.alive[self.alive.len() - (self.gang.broadcasters as usize).min(self.alive.len())..]
    }

    /// The broadcast rank of a rank; its own, if it is one.
    fn broadcaster(&self, rank: RankId) -> Option<RankId> {
        let all = self.broadcasters();
        let at = self.alive.binary_search(&rank).ok()?;
        if all.contains(&rank) { Some(rank) } else { all.get(at % all.len().max(1)).copied() }
    }

    /// Takes news of a node.
    pub fn receive(
        &mut self,
        ground: &mut Ground,
        from: RankId,
        record: Reader,
        out: &mut Outbox,
    ) -> Result<(), Refused> {
        let mut record = record;
        let mut path = Vec::new();
        record.path(&mut path)?;
        let mut news = Vec::new();
        for _ in 0..record.u16()? {
            let (edge, visits, sum, code) = (record.u16()?, record.u32()?, record.u32()?, record.u8()?);
            let proof = from_code(code).map_err(|()| record.wrong("no such outcome"))?;
            if visits > VISITS_SANE
                || u64::from(sum) > FULL * u64::from(visits)
                || proof == Some(Outcome::Draw)
            {
                return Err(record.wrong("numbers that are none"));
            }
            news.push(Move { edge, visits, sum, proof });
        }
        record.end()?;
        let ours = self.broadcaster(self.me);
        let theirs = self.broadcaster(from);
        let expected = match (record.kind, ours) {
            (PASSED_ON, Some(rank)) => rank == self.me && theirs == Some(from),
            (PASSED_ON, None) => false,
            (_, Some(rank)) if rank == self.me => theirs == ours && from != self.me,
            (_, Some(rank)) => rank == from,
            (_, None) => self.alive.contains(&from),
        };
        if !expected {
            return Err(record.wrong("not from this rank to this one"));
        }
        if ground.walk.follow(&path)?.is_some() {
            return Err(record.wrong("the game is over there"));
        }
        out.work.replayed += path.len() as u64;
        // Without room for a copy its simulations go on travelling to its home.
        if let Some(node) = ground.node_here(out) {
            let edges = ground.tree.edges(node);
            if news.iter().any(|of| usize::from(of.edge) >= edges) {
                return Err(record.wrong("no such move"));
            }
            out.work.steps += 1;
            self.learn(&ground.tree, node, &news, ground.uct.solver);
        }
        if ours == Some(self.me) {
            self.hold((record.kind == NEWS).then_some(from), &path, news, out);
        }
        Ok(())
    }

    fn learn(&mut self, tree: &Tree, node: NodeId, news: &[Move], solver: bool) {
        let untold = self.share(tree, node);
        for of in news {
            let edge = usize::from(of.edge);
            let (mut visits, mut sum) = (of.visits, of.sum);
            while visits > 0 {
                let n = visits.min(AT_ONCE);
                let part = (u64::from(sum) * u64::from(n) / u64::from(visits)) as u32;
                tree.record_many(node, edge, n, part);
                (visits, sum) = (visits - n, sum - part);
            }
            if let Some(outcome) = of.proof.filter(|_| solver && tree.stats(node, edge).proof().is_none()) {
                tree.prove(node, edge, outcome);
                untold[edge].proof = true;
            }
        }
        if solver && let Some(outcome) = node_outcome(tree, node).filter(|&o| o != Outcome::Draw) {
            tree.prove_node(node, outcome);
        }
    }

    /// A broadcast rank keeps news for a while: `from` one of its group, or from another broadcast rank.
    fn hold(&mut self, from: Option<RankId>, path: &[u16], news: Vec<Move>, out: &mut Outbox) {
        self.held.entry(path.to_vec()).or_default().push((from, news));
        self.holds += 1;
        if self.holds >= HELD_MAX {
            self.pass_on(out);
        }
    }

    /// Passes on what was held back: to each of the group what the others have said, to other broadcast ranks what the
    /// group has.
    fn pass_on(&mut self, out: &mut Outbox) {
        let held = std::mem::take(&mut self.held);
        (self.holds, self.due) = (0, Nanos::MAX);
        let group: Vec<RankId> =
            self.others().filter(|&rank| self.broadcaster(rank) == Some(self.me)).collect();
        let peers: Vec<RankId> = self.broadcasters().iter().copied().filter(|&r| r != self.me).collect();
        for (path, parts) in &held {
            let merged = |keep: &dyn Fn(Option<RankId>) -> bool| {
                let mut all = BTreeMap::<u16, Move>::new();
                for of in parts.iter().filter(|part| keep(part.0)).flat_map(|part| &part.1) {
                    let none = Move { visits: 0, sum: 0, proof: None, ..*of };
                    let sum = all.entry(of.edge).or_insert(none);
                    sum.visits = (sum.visits + of.visits).min(VISITS_SANE);
                    sum.sum = sum.sum.saturating_add(of.sum).min(FULL as u32 * sum.visits);
                    sum.proof = sum.proof.or(of.proof);
                }
                all.into_values().collect::<Vec<_>>()
            };
            for &rank in &group {
                write(out, rank, NEWS, path, &merged(&|from| from != Some(rank)));
            }
            if !peers.is_empty() {
                let ours = merged(&|from| from.is_some());
                peers.iter().for_each(|&rank| write(out, rank, PASSED_ON, path, &ours));
            }
        }
    }

    /// Lets time pass; returns when it wants to be called again.
    pub fn tick(&mut self, now: Nanos, out: &mut Outbox) -> Nanos {
        if self.held.is_empty() {
            return Nanos::MAX;
        }
        if self.due == Nanos::MAX {
            self.due = now + Nanos::from(self.gang.merge) * 1000;
        }
        if now >= self.due {
            self.pass_on(out);
        }
        self.due
    }

    /// The nodes that are at every rank.
    #[cfg(test)]
    pub(super) fn copies(&self) -> usize {
        self.shared.len()
    }

    /// What our own simulations say of the root, in place of what all have told us.
    pub fn tally(&self, tally: &mut Tally) {
        for (mv, &(visits, sum)) in tally.moves.iter_mut().zip(&self.own) {
            (mv.visits, mv.sum) = (visits, sum as f64 / FULL as f64);
        }
    }
}

fn write(out: &mut Outbox, to: RankId, kind: u8, path: &[u16], news: &[Move]) {
    if news.is_empty() {
        return;
    }
    let mut record = out.record(to, kind);
    record.path(path).u16(news.len() as u16);
    for of in news {
        record.u16(of.edge).u32(of.visits).u32(of.sum).u8(to_code(of.proof));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::tds::Tds;
    use crate::wire::open_frame;
    use crate::{Form, Next, Rank};
    use sortie_core::Uct;
    use sortie_core::toy::Nim;
    use sortie_core::{AnyGame, Boxed};

    struct Bench {
        ranks: Vec<Tds>,
        boxes: Vec<Outbox>,
        now: Nanos,
    }

    impl Bench {
        fn new(gang: &Gang) -> Bench {
            let game = Boxed::new(Nim { heap: 21 });
            let uct = Uct { memory: 1, ..Uct::plain() };
            let all: Vec<RankId> = (0..gang.size()).map(RankId).collect();
            let rank = |&me: &RankId| {
                let split = Some(Split::new(gang, me));
                let mut rank = Tds::new(gang, me, game.walk(&uct, 1, me.0.into()).0, split);
                rank.set(None, &[], &all).unwrap();
                rank
            };
            let boxes = all.iter().map(|_| Outbox::new(gang.size())).collect();
            Bench { ranks: all.iter().map(rank).collect(), boxes, now: 0 }
        }

        /// Delivers whatever is under way; whether there was anything.
        fn deliver(&mut self) -> bool {
            self.now += 1_000_000;
            let mut any = false;
            for from in 0..self.ranks.len() {
                self.ranks[from].tick(self.now, &mut self.boxes[from]);
                self.boxes[from].flush();
                while let Some((to, frame)) = self.boxes[from].pop() {
                    any = true;
                    let at = to.0 as usize;
                    for record in open_frame(&frame).unwrap().1 {
                        let (rank, out) = (&mut self.ranks[at], &mut self.boxes[at]);
                        rank.receive(RankId(from as u32), record.unwrap(), self.now, out).unwrap();
                    }
                }
            }
            any
        }

        fn search(&mut self, quota: u64) {
            self.ranks.iter_mut().for_each(|rank| rank.begin(quota, 0));
            loop {
                let mut busy = false;
                for (rank, out) in self.ranks.iter_mut().zip(&mut self.boxes) {
                    match rank.next(self.now, out) {
                        Next::Play(ticket) => {
                            let value = rank.play(ticket);
                            rank.played(ticket, value, self.now, out);
                            busy = true;
                        }
                        Next::Again => busy = true,
                        Next::Nothing => {}
                    }
                }
                if !self.deliver() && !busy {
                    // What is held back comes with time.
                    if !self.deliver() && !self.deliver() {
                        return;
                    }
                }
            }
        }
    }

    #[test]
    fn copies_agree_when_everything_has_been_told() {
        for (nodes, broadcasters) in [(2, 0), (3, 0), (3, 1), (7, 2), (6, 3), (4, 4)] {
            let gang = Gang {
                form: Form::Treesplit,
                nodes,
                dup: 20,
                sync_min: 1,
                sync_max: 1,
                broadcasters,
                ..Gang::default()
            };
            let mut bench = Bench::new(&gang);
            bench.search(300);
            let views: Vec<_> = bench
                .ranks
                .iter()
                .map(|rank| {
                    let Tally { moves, .. } = rank.view();
                    moves.iter().map(|mv| (mv.visits, mv.sum)).collect::<Vec<_>>()
                })
                .collect();
            let what = format!("{nodes} ranks, {broadcasters} of them broadcast: {views:?}");
            assert!(views.iter().all(|view| *view == views[0]), "{what}");
            let mut all = Tally::default();
            for rank in &bench.ranks {
                let mut own = Tally::default();
                rank.tally(&mut own);
                all.add(&own);
            }
            let sums: Vec<_> = all.moves.iter().map(|mv| (mv.visits, mv.sum)).collect();
            assert_eq!(sums, views[0], "{what}");
            assert_eq!(sums.iter().map(|&(visits, _)| visits).sum::<u64>(), 300 * u64::from(nodes), "{what}");
            // Deeper nodes are at hand everywhere too.
            assert!(bench.ranks.iter().all(|rank| rank.copies() > 3), "{what}");
        }
    }

    #[test]
    fn the_others_are_told_by_the_standard_error() {
        let split =
            Split::new(&Gang { error: 0.9, sync_min: 8, sync_max: 100, ..Gang::default() }, RankId(0));
        // 1 / 0.81 - 1 is 0.2346.
        assert_eq!([0, 30, 100, 200, 1000].map(|visits| split.sync(visits)), [8, 8, 24, 47, 100]);
    }
}
