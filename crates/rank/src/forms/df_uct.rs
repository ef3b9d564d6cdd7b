//! df-UCT (Yoshizoe et al. 2011): TDS whose jobs stay where the search is, as Christoph (2020) describes it.
//!
//! Nodes live at homes as in `tds`, and all jobs begin at the front, which has the root. But a job is not over with its
//! playout. It carries a stack with the numbers of the best move and of the second best (the `siblings` best) of every
//! node above, adds each value it finds, and goes on where it is until the numbers say that a node above would choose
//! another move. Only then it goes back up, with all it has found as one record for every rank on its way.
//!
//! What differs from the descriptions:
//! - Within a rank nothing is delayed: its own nodes are told at once, and each next playout is chosen from where the job
//!   came in by what they know, which may be more than the job does. So the stack matters between ranks only, on one
//!   rank df-UCT is UCT, and a job goes back rank by rank until it is where the choice changes: every rank on the way
//!   must be told anyhow, and judges by its own nodes whether to send the job down again.
//! - With `stay` a node asks for the job only when that share of its visits is new to it. It halves the records of a
//!   large search, and makes its tree shallower.
//! - A job keeps no more to itself than its part of a share (`keep`) of what is home. Whoever has bad luck goes home at once
//!   and whoever has good luck stays, so that otherwise the root hears the worse half of all.
//! - A job is granted so many playouts; the front hands them out in shrinking lots, so that a number of playouts is met
//!   exactly. What a job does not use is granted again when it is home.
//! - Jobs in flight count as unobserved at every node above them, also where it is asked whether a position has been
//!   tried often enough to get a node: thousands of jobs that begin at once go on down instead of waiting for the first
//!   playouts. Proofs travel with those who go up.
//!
//! With histories in the nodes it is MP-MCTS (`mp`).

use crate::forms::flights::Flights;
use crate::forms::mp_mcts::Histories;
use crate::forms::stack::Level;
use crate::ground::{Ground, PATH_MAX, Trail, from_code, to_code};
use crate::{Account, Gang, Nanos, Next, Outbox, Played, Rank, RankId, Reader, Refused, Tally, Ticket, Walk};
use sortie_core::Outcome;
use sortie_core::PlayError;
use sortie_core::parts::NodeId;
use sortie_core::parts::prove;
use sortie_core::parts::sixteenths;
use std::collections::VecDeque;

const DOWN: u8 = 32;
const UP: u8 = 33;
/// Playouts that a job is granted at most.
const GRANT_MAX: u32 = 1024;
/// Jobs at most: as many as a move can have in flight.
const JOBS_MAX: u64 = 0x7fff;

pub(crate) struct Df {
    me: RankId,
    /// The ranks that are there, in order; positions are spread over them.
    alive: Vec<RankId>,
    ground: Ground,
    /// The node of the root, at the front.
    root: Option<NodeId>,
    jobs: Flights<Job>,
    /// Playouts that wait for a thread.
    ready: VecDeque<Ticket>,
    /// Jobs whose simulation ended without a playout, and who go on.
    again: VecDeque<Job>,
    histories: Option<Histories>,
    /// Jobs under way at most, and the playouts that those under way may do; the front's.
    cap: u64,
    granted: u64,
    account: Account,
    gang: Gang,
    /// Moves are chosen by knowledge too.
    known: bool,
}

/// A job that is at this rank or below.
#[derive(Default)]
struct Job {
    /// Who sent it and by what ticket; `None`: it began here.
    from: Option<(RankId, u32)>,
    /// The node where it came in; `None`: there is none.
    first: Option<NodeId>,
    /// The moves from the root to where it is; the first `entry` of them lead to where it came in.
    path: Vec<u16>,
    entry: usize,
    /// The stack of the nodes above this rank: `levels[i]` is the node after `i` moves.
    levels: Vec<Level>,
    /// The nodes of this rank it has passed.
    trail: Trail,
    /// Playouts it may still do.
    grant: u32,
    /// The values found since it came in, and their sum.
    found: u32,
    sum: u32,
    /// Where it has gone on to.
    away: Option<RankId>,
}

impl Df {
    pub fn new(gang: &Gang, me: RankId, walk: Box<dyn Walk>, histories: Option<Histories>) -> Df {
        let ground = Ground::new(walk, true);
        Df {
            me,
            alive: Vec::new(),
            root: None,
            jobs: Flights::default(),
            ready: VecDeque::new(),
            again: VecDeque::new(),
            histories,
            cap: 0,
            granted: 0,
            account: Account::default(),
            gang: gang.clone(),
            known: ground.uct.needs_knowledge(),
            ground,
        }
    }

    /// Where the node of a position lives. (The root's is at the front, whatever its hash.)
    fn home(&self, key: u64) -> RankId {
        self.alive[(sortie_core::mix(key) % self.alive.len() as u64) as usize]
    }

    /// Goes down from where the job came in, where the walker stands, until it leaves this rank or needs a playout.
    fn descend(&mut self, mut job: Job, out: &mut Outbox) {
        let Some(mut node) = job.first else { return self.wait_for_playout(job) };
        loop {
            let edge = self.ground.set_out(node, out);
            job.trail.push((node, edge as u32));
            let (stats, link) = (self.ground.tree.stats(node, edge), self.ground.tree.link(node, edge));
            job.path.push(link.move_id());
            let outcome = self.ground.walk.step(link.move_id());
            if let Some(outcome) = stats.proof().or(outcome) {
                return self.decided(job, outcome, out);
            }
            // Our own mark is among those in flight.
            let tried = stats.visits() + link.in_flight().saturating_sub(1);
            if tried < self.ground.uct.expand || job.path.len() >= PATH_MAX {
                return self.wait_for_playout(job);
            }
            let home = self.home(self.ground.walk.key());
            if home != self.me {
                return self.send_down(job, home, out);
            }
            match self.arrive(&job.path, out) {
                Arrived::Node(next) => node = next,
                Arrived::Decided(outcome) => return self.decided(job, outcome, out),
                Arrived::Leaf => return self.wait_for_playout(job),
            }
        }
    }

    /// The node of the position where the walker stands, which lives here.
    fn arrive(&mut self, path: &[u16], out: &mut Outbox) -> Arrived {
        let Some(node) = self.ground.node_here(out) else { return Arrived::Leaf };
        if let Some(outcome) = self.ground.tree.node_proof(node) {
            return Arrived::Decided(outcome);
        }
        // A position that came before on this very line: to follow it would be to go round in circles.
        if self.ground.walk.repeats(&path[..path.len().saturating_sub(1)]) {
            Arrived::Leaf
        } else {
            Arrived::Node(node)
        }
    }

    /// The stack goes with the job: what came with it, and what the nodes of this rank say now.
    fn send_down(&mut self, mut job: Job, to: RankId, out: &mut Outbox) {
        job.away = Some(to);
        out.work.steps += job.trail.len() as u64;
        let ticket = self.jobs.add(job);
        let job = self.jobs.at(ticket);
        let mut record = out.record(to, DOWN);
        record.u32(ticket.0).u32(job.grant).path(&job.path);
        for level in &job.levels {
            level.write(&mut record, self.known);
        }
        let Ground { tree, chooser, .. } = &self.ground;
        for &(node, edge) in &job.trail {
            let siblings = self.gang.siblings as usize;
            let level = Level::of(tree, chooser, node, edge as usize, siblings, self.known);
            level.write(&mut record, self.known);
        }
    }

    fn wait_for_playout(&mut self, job: Job) {
        let ticket = self.jobs.add(job);
        self.ground.walk.park(ticket.0 as usize);
        self.ready.push_back(ticket);
    }

    /// A simulation is over without a playout.
    fn decided(&mut self, job: Job, outcome: Outcome, out: &mut Outbox) {
        if let Some(job) = self.found(job, 1, sixteenths(outcome) as u32, Some(outcome), out) {
            self.again.push_back(job);
        }
    }

    /// Values have come in, from here or from below: tells the nodes of this rank, and sends the job up, unless it goes
    /// on from where it came in.
    fn found(
        &mut self,
        mut job: Job,
        n: u32,
        sum: u32,
        outcome: Option<Outcome>,
        out: &mut Outbox,
    ) -> Option<Job> {
        self.ground.depth = self.ground.depth.max(job.path.len() as u32);
        out.work.steps += job.trail.len() as u64;
        self.ground.call_off(&job.trail);
        for &(node, edge) in &job.trail {
            self.ground.tree.record_many(node, edge as usize, n, sum);
        }
        // On another path to the same node a repetition may not be one, so draws prove nothing.
        let outcome = outcome.filter(|&o| self.ground.uct.solver && o != Outcome::Draw);
        let proved = outcome.and_then(|outcome| prove(&self.ground.tree, &job.trail, outcome));
        (job.found, job.sum, job.grant) = (job.found + n, job.sum + sum, job.grant - n);
        job.trail.clear();
        job.path.truncate(job.entry);
        job.away = None;
        let Some((from, ticket)) = job.from else {
            self.come_home(&job);
            return None;
        };
        match (&mut self.histories, job.first) {
            (Some(histories), Some(first)) => histories.add(first, &job.path, n, sum, &mut job.levels),
            _ => job.levels.iter_mut().for_each(|level| level.add(n, sum)),
        }
        // Whoever comes back with nothing has been where the search is over.
        let over = n == 0 || job.grant == 0 || self.account.halted;
        let known = job.first.map(|first| self.ground.tree.node_proof(first));
        let (chooser, stay) = (&self.ground.chooser, self.gang.stay);
        if !over && known == Some(None) && !job.levels.iter().any(|level| level.turned(chooser, stay)) {
            return Some(job);
        }
        if let (Some(histories), Some(first)) = (&mut self.histories, job.first) {
            histories.leave(first);
        }
        let proved = proved.or(known.flatten()).filter(|_| self.ground.uct.solver);
        out.record(from, UP).u32(ticket).u32(job.found).u32(job.sum).u8(to_code(proved));
        None
    }

    /// A job of the front is over.
    fn come_home(&mut self, job: &Job) {
        let found = u64::from(job.found);
        self.granted -= found + u64::from(job.grant);
        // While it was under way it counted as one simulation.
        self.account.home += found;
        self.account.begun = self.account.begun - 1 + found;
    }

    /// Goes on from where the job came in.
    fn go_on(&mut self, job: Job, out: &mut Outbox) {
        self.ground.walk.to_root();
        for &id in &job.path {
            self.ground.walk.step(id);
        }
        out.work.replayed += job.path.len() as u64;
        self.descend(job, out);
    }

    /// How many playouts the next job is granted; 0: there is nothing left to do.
    fn grant(&self) -> u32 {
        let left = self.account.quota - self.account.home - self.granted;
        let fair = (self.gang.keep * self.account.home as f64 / self.cap as f64) as u64;
        (left / (2 * self.cap)).min(fair).clamp(1, GRANT_MAX.into()).min(left) as u32
    }
}

enum Arrived {
    Node(NodeId),
    Decided(Outcome),
    Leaf,
}

impl Rank for Df {
    fn set(&mut self, start: Option<&str>, words: &[String], alive: &[RankId]) -> Result<(), PlayError> {
        self.give_up();
        self.ground.walk.set(start, words)?;
        // As in TDS.
        if !self.ground.uct.reuse || self.alive != alive || self.ground.tree.fill() > 0.5 {
            self.ground.clear();
        }
        self.alive = alive.to_vec();
        Ok(())
    }

    fn begin(&mut self, quota: u64, _now: Nanos) {
        self.account = Account::of(quota);
        self.ground.begin();
        let players = u64::from(self.gang.players());
        self.cap = (u64::from(self.gang.par) * players * self.alive.len() as u64).min(JOBS_MAX);
        self.granted = 0;
        self.root = None;
        if self.me == RankId(0) && self.ground.walk.root_outcome().is_none() {
            self.ground.walk.to_root();
            self.root = self.ground.node_here(&mut Outbox::new(0));
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
            DOWN => {
                let (ticket, grant) = (record.u32()?, record.u32()?);
                let mut job = Job { from: Some((from, ticket)), grant, ..Job::default() };
                record.path(&mut job.path)?;
                job.entry = job.path.len();
                for _ in 0..job.entry {
                    job.levels.push(Level::read(&mut record, self.known)?);
                }
                record.end()?;
                if grant == 0 || grant > GRANT_MAX {
                    return Err(record.wrong("a job without work"));
                }
                if self.ground.walk.follow(&job.path)?.is_some() || job.path.is_empty() {
                    return Err(record.wrong("the game is over there"));
                }
                out.work.replayed += job.path.len() as u64;
                match self.arrive(&job.path, out) {
                    Arrived::Node(node) => {
                        job.first = Some(node);
                        if let Some(histories) = &mut self.histories {
                            histories.enter(node, &job.path, &mut job.levels);
                        }
                        self.descend(job, out);
                    }
                    // Without a node of its own here it goes back up.
                    Arrived::Decided(outcome) => self.decided(job, outcome, out),
                    Arrived::Leaf => self.wait_for_playout(job),
                }
                if self.account.halted {
                    self.halt(out);
                }
            }
            UP => {
                let (ticket, found, sum) = (Ticket(record.u32()?), record.u32()?, record.u32()?);
                let code = record.u8()?;
                record.end()?;
                let outcome = from_code(code).map_err(|()| record.wrong("no such outcome"))?;
                let sound = |job: &mut Job| job.away == Some(from) && found <= job.grant;
                if !self.jobs.get_mut(ticket).is_some_and(sound) || sum > 16 * found {
                    return Err(record.wrong("nobody waits for it"));
                }
                let job = self.jobs.remove(ticket).expect("it was there");
                if let Some(job) = self.found(job, found, sum, outcome, out) {
                    self.go_on(job, out);
                }
            }
            _ => return Err(record.wrong("no such kind")),
        }
        Ok(())
    }

    fn next(&mut self, _now: Nanos, out: &mut Outbox) -> Next {
        if let Some(job) = self.again.pop_front() {
            self.go_on(job, out);
            return Next::Again;
        }
        // Everybody waits for the jobs of the front, so that they come before its own playouts.
        let idle = self.account.halted || self.account.in_flight() >= self.cap || self.proved().is_some();
        if let (Some(root), false) = (self.root, idle)
            && let grant @ 1.. = self.grant()
        {
            self.granted += u64::from(grant);
            self.account.begun += 1;
            self.ground.walk.to_root();
            self.descend(Job { grant, first: Some(root), ..Job::default() }, out);
            return Next::Again;
        }
        self.ready.pop_front().map_or(Next::Nothing, Next::Play)
    }

    fn ground(&mut self) -> &mut Ground {
        &mut self.ground
    }

    fn path(&self, ticket: Ticket) -> &[u16] {
        &self.jobs.at(ticket).path
    }

    fn played(&mut self, ticket: Ticket, played: Played, _now: Nanos, out: &mut Outbox) {
        self.ground.playouts += 1;
        let job = self.jobs.remove(ticket).expect("a ticket that is out");
        if let Some(job) = self.found(job, 1, played.value as u32, played.outcome, out) {
            self.go_on(job, out);
        }
    }

    /// Whoever waits here goes home with what it has.
    fn halt(&mut self, out: &mut Outbox) {
        self.account.halted = true;
        let ready = std::mem::take(&mut self.ready);
        let waiting: Vec<Job> = ready
            .into_iter()
            .map(|ticket| self.jobs.remove(ticket).expect("it waits"))
            .chain(std::mem::take(&mut self.again))
            .collect();
        for job in waiting {
            let gone_on = self.found(job, 0, 0, None, out);
            debug_assert!(gone_on.is_none());
        }
    }

    fn give_up(&mut self) {
        for job in self.jobs.drain() {
            self.ground.call_off(&job.trail);
        }
        self.ready.clear();
        self.again.clear();
        if let Some(histories) = &mut self.histories {
            histories.clear();
        }
        self.granted = 0;
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
    }

    fn reset(&mut self, seed: u64) {
        self.give_up();
        self.ground.clear();
        self.ground.walk.reseed(seed);
        self.root = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Form;
    use sortie_core::Uct;
    use sortie_core::parts::GameWalker;
    use sortie_core::toy::Nim;
    use std::sync::Arc;

    #[test]
    fn jobs_keep_a_share_of_what_is_home_and_no_more_than_is_asked_for() {
        let grant = |keep, quota, home| {
            let gang = Gang { form: Form::DfUct, par: 4, keep, ..Gang::default() };
            let walk = GameWalker::new(Arc::new(Nim { heap: 21 }), &Uct { memory: 1, ..Uct::plain() }, 1, 0);
            let mut df = Df::new(&gang, RankId(0), Box::new(walk), None);
            df.set(None, &[], &[RankId(0), RankId(1)]).unwrap();
            df.begin(quota, 0);
            df.account.home = home;
            df.grant()
        };
        // Eight jobs.
        assert_eq!([0, 8, 320, 32_000].map(|home| grant(0.25, u64::MAX, home)), [1, 1, 10, 1000]);
        assert_eq!([0, 8].map(|home| grant(1e6, u64::MAX, home)), [1, GRANT_MAX]);
        assert_eq!(grant(0.25, 32_100, 32_000), 6, "half of what is left, shared by eight");
        assert_eq!(grant(0.25, 320, 320), 0, "there is nothing left");
    }
}
