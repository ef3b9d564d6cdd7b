//! A gang in virtual time: the ranks are real, their playouts too; only the clock is modelled. One thread runs them all,
//! event by event, and everything follows from the seed, so that a hundred nodes play real games on a laptop and a fault
//! that was seen once is seen again.
//!
//! A node is a core that keeps the tree and cores that play out (with one core, both in turn). What a core does costs
//! what `Costs` says it cost where it was measured; a frame takes `Net::latency` plus its bytes over the bandwidth of
//! both ends, more or less by `jitter`, and stays behind frames sent before it. Loss is loss: nothing is sent again,
//! which no engine in use does to its users, so it is for tests.

use crate::member::{Answer, Member, Order, Task};
use crate::pump::{BACKLOG_MAX, LINGER};
use crate::wire::{Outbox, Work};
use crate::{Nanos, Played, RankId};
use serde::{Deserialize, Serialize};
use sortie_core::PlayError;
use sortie_core::Rng;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What things cost a core, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Costs {
    /// A playout, the look for a win at once included: quantiles at equal distances, from the shortest to the longest.
    pub playout: Vec<f64>,
    /// Passing a node, down or up.
    pub step: f64,
    /// Replaying a move of a path.
    pub replay: f64,
    /// Adding a node.
    pub add: f64,
    /// Giving a playout to another core, and as much again for taking its value; cores that play out do not sleep.
    pub task: f64,
    /// Writing and reading a record.
    pub record: f64,
    /// Sending or receiving a frame.
    pub frame: f64,
    /// Taking over the statistics of a move.
    pub merge: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Costs {
            playout: vec![20_000.0],
            step: 60.0,
            replay: 40.0,
            add: 600.0,
            task: 150.0,
            record: 60.0,
            frame: 400.0,
            merge: 20.0,
        }
    }
}

impl Costs {
    fn of(&self, work: &Work) -> f64 {
        self.step * work.steps as f64
            + self.replay * work.replayed as f64
            + self.add * work.added as f64
            + self.record * (work.records_out + work.records_in) as f64
            + self.frame * work.frames_out as f64
            + self.merge * work.merged as f64
    }

    fn draw_playout(&self, rng: &mut Rng) -> f64 {
        match self.playout.as_slice() {
            [] => 0.0,
            &[only] => only,
            all => {
                let at = rng.unit() * (all.len() - 1) as f64;
                let low = all[at as usize];
                low + (all[at as usize + 1] - low) * at.fract()
            }
        }
    }
}

/// The network and the faults of machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Net {
    /// From one end to the other, in nanoseconds.
    pub latency: f64,
    /// Of every node, each way.
    pub gbit_per_second: f64,
    /// A frame takes up to so many times the latency longer, at random.
    pub jitter: f64,
    /// The share of frames that never arrive.
    pub loss: f64,
    /// Ranks that die, and when.
    pub crash: Vec<(u32, Nanos)>,
    /// Ranks that are slower, and how many times.
    pub slow: Vec<(u32, f64)>,
}

impl Default for Net {
    fn default() -> Self {
        Net {
            latency: 2_000.0,
            gbit_per_second: 10.0,
            jitter: 0.1,
            loss: 0.0,
            crash: Vec::new(),
            slow: Vec::new(),
        }
    }
}

/// How long after a death the others hear of it.
const DEATH_NOTICE: Nanos = 1_000_000;
/// A simulation that does nothing for so long is over: nobody can be that patient.
const EVENTS_WITHOUT_TIME: u64 = 100_000_000;

/// Events between two looks at `stop`.
const LOOK_AT_STOP: u64 = 1024;

/// A gang in virtual time.
pub(crate) struct Simulation {
    nodes: Vec<Node>,
    /// Cores of a rank that play out; 0: one core does everything.
    players: u32,
    net: Net,
    costs: Costs,
    rng: Rng,
    now: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, u32, Event)>>,
    /// Numbers events, so that equal times have an order.
    number: u64,
    /// Events handled, for whoever wants to know what a simulation costs.
    pub handled: u64,
}

struct Node {
    member: Member,
    out: Outbox,
    seen: Work,
    inbox: VecDeque<(RankId, Vec<u8>)>,
    results: VecDeque<(Task, Played)>,
    /// Playing cores with nothing to do.
    idle: u32,
    /// Until when its own core is busy.
    busy: Nanos,
    /// When the last frame to each rank arrives, and when the way out and in is free.
    last_arrival: Vec<Nanos>,
    out_free: Nanos,
    in_free: Nanos,
    flushed: Nanos,
    wake: Nanos,
    /// A turn is in the queue.
    called: bool,
    dead: bool,
    slowness: f64,
    /// Nanoseconds that its own core was busy, and all that play out together; and when the search began.
    worked: f64,
    played: f64,
    worked_before: f64,
    played_before: f64,
}

/// How busy the cores were in a search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Busy {
    /// Core nanoseconds of all of them.
    pub nanos: f64,
    /// Nanoseconds of the busiest core that keeps a tree.
    pub busiest: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Frame(u32, Vec<u8>),
    Played(PlayedTask),
    Turn,
    Tick,
    Death,
    Left(u32),
}

/// A task in the queue: ordered by the number of its event, never by itself.
#[derive(Debug, Clone)]
struct PlayedTask(Task, Played);

impl PartialEq for PlayedTask {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for PlayedTask {}
impl PartialOrd for PlayedTask {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for PlayedTask {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl Simulation {
    /// Ranks of so many cores each.
    pub(crate) fn new(members: Vec<Member>, cores: u32, net: Net, costs: Costs, seed: u64) -> Simulation {
        let size = members.len() as u32;
        let players = cores.saturating_sub(1);
        let slow = |rank: u32| net.slow.iter().find(|(r, _)| *r == rank).map_or(1.0, |&(_, s)| s);
        let node = |(rank, member)| Node {
            member,
            out: Outbox::new(size),
            seen: Work::default(),
            inbox: VecDeque::new(),
            results: VecDeque::new(),
            idle: players,
            busy: 0,
            last_arrival: vec![0; size as usize],
            out_free: 0,
            in_free: 0,
            flushed: 0,
            wake: Nanos::MAX,
            called: false,
            dead: false,
            slowness: slow(rank as u32),
            worked: 0.0,
            played: 0.0,
            worked_before: 0.0,
            played_before: 0.0,
        };
        let mut simulation = Simulation {
            nodes: members.into_iter().enumerate().map(node).collect(),
            players,
            costs,
            rng: Rng::new(seed, u64::MAX),
            now: 0,
            events: BinaryHeap::new(),
            number: 0,
            handled: 0,
            net,
        };
        for (rank, at) in simulation.net.crash.clone() {
            if rank < size {
                simulation.at(at, rank, Event::Death);
            }
        }
        simulation
    }

    fn at(&mut self, time: Nanos, rank: u32, event: Event) {
        self.number += 1;
        self.events.push(Reverse((time, self.number, rank, event)));
    }

    /// The time that has passed.
    pub fn now(&self) -> Nanos {
        self.now
    }

    /// How busy the cores were in the last search.
    pub fn busy(&self) -> Busy {
        let worked = |node: &Node| node.worked - node.worked_before;
        Busy {
            nanos: self.nodes.iter().map(|node| worked(node) + node.played - node.played_before).sum(),
            busiest: self.nodes.iter().map(worked).fold(0.0, f64::max),
        }
    }

    /// What members refused, a line each.
    pub fn log(&mut self) -> Vec<String> {
        self.nodes.iter_mut().flat_map(|node| node.member.log()).collect()
    }

    /// Everybody forgets everything.
    pub fn reset(&mut self, seed: u64) {
        self.rng = Rng::new(seed, u64::MAX);
        let front = &mut self.nodes[0];
        front.member.reset(seed, &mut front.out);
        self.call(0);
    }

    /// Runs a search to its end, or until `stop` is set.
    pub fn search(&mut self, order: Order, stop: &AtomicBool) -> Result<Answer, PlayError> {
        let now = self.now.max(self.nodes[0].busy);
        for node in &mut self.nodes {
            (node.worked_before, node.played_before) = (node.worked, node.played);
        }
        let front = &mut self.nodes[0];
        front.member.order(order, now, &mut front.out)?;
        self.call(0);
        let mut standing = 0;
        while let Some(Reverse((time, _, rank, event))) = self.events.pop() {
            standing = if time > self.now { 0 } else { standing + 1 };
            assert!(standing < EVENTS_WITHOUT_TIME, "a simulation stands still");
            self.now = self.now.max(time);
            self.handled += 1;
            if self.handled.is_multiple_of(LOOK_AT_STOP) && stop.load(Relaxed) {
                let front = &mut self.nodes[0];
                front.member.stop(self.now, &mut front.out);
                self.call(0);
            }
            self.handle(rank, event);
            if rank == 0
                && let Some(answer) = self.nodes[0].member.answer()
            {
                return Ok(answer);
            }
        }
        unreachable!("the front always waits for something, if only for its patience to end")
    }

    fn handle(&mut self, rank: u32, event: Event) {
        let node = &mut self.nodes[rank as usize];
        if node.dead {
            return;
        }
        match event {
            Event::Frame(from, frame) => node.inbox.push_back((RankId(from), frame)),
            Event::Played(PlayedTask(task, value)) => {
                node.idle += 1;
                node.results.push_back((task, value));
            }
            Event::Turn => {
                node.called = false;
                return self.turn(rank);
            }
            Event::Tick => node.wake = Nanos::MAX,
            Event::Left(gone) => node.member.left(RankId(gone), self.now, &mut node.out),
            Event::Death => {
                node.dead = true;
                for other in (0..self.nodes.len() as u32).filter(|&other| other != rank) {
                    self.at(self.now + DEATH_NOTICE, other, Event::Left(rank));
                }
                return;
            }
        }
        self.call(rank);
    }

    /// Gives a rank its turn as soon as its core is free.
    fn call(&mut self, rank: u32) {
        let node = &mut self.nodes[rank as usize];
        if !node.called {
            node.called = true;
            let time = self.now.max(node.busy);
            self.at(time, rank, Event::Turn);
        }
    }

    /// A rank does one thing, as `pump` would, and is busy with it.
    fn turn(&mut self, rank: u32) {
        let now = self.now;
        let node = &mut self.nodes[rank as usize];
        let mut cost = 0.0;
        let mut did = true;
        if let Some((from, frame)) = node.inbox.pop_front() {
            cost += self.costs.frame;
            node.member.frame(from, &frame, now, &mut node.out);
            node.out.reuse(frame);
        } else if let Some((task, value)) = node.results.pop_front() {
            cost += self.costs.task;
            node.member.played(task, value, now, &mut node.out);
        } else if self.players > 0 && node.idle > 0 && node.out.backlog() < BACKLOG_MAX {
            match node.member.next(now, &mut node.out) {
                Ok(task) => {
                    node.idle -= 1;
                    let value = node.member.play(task);
                    cost += self.costs.task + self.costs.of(&node.out.work.since(&node.seen));
                    node.seen = node.out.work;
                    let playout = self.costs.draw_playout(&mut self.rng) * node.slowness;
                    node.played += playout;
                    let end = now + (cost * node.slowness + playout).max(1.0) as Nanos;
                    self.at(end, rank, Event::Played(PlayedTask(task, value)));
                }
                Err(again) => did = again,
            }
        } else if self.players == 0 && node.out.backlog() < BACKLOG_MAX {
            match node.member.next(now, &mut node.out) {
                Ok(task) => {
                    let value = node.member.play(task);
                    // One core does both: nothing is handed over.
                    cost += self.costs.draw_playout(&mut self.rng);
                    node.member.played(task, value, now, &mut node.out);
                }
                Err(again) => did = again,
            }
        } else {
            did = false;
        }
        let node = &mut self.nodes[rank as usize];
        if !did || now - node.flushed >= LINGER {
            let wake = node.member.tick(now, &mut node.out).max(now + 1);
            node.out.flush();
            node.flushed = now;
            if !did && wake < node.wake {
                node.wake = wake;
                self.at(wake, rank, Event::Tick);
            }
        }
        let node = &mut self.nodes[rank as usize];
        cost += self.costs.of(&node.out.work.since(&node.seen));
        node.seen = node.out.work;
        node.busy = now + (cost * node.slowness) as Nanos;
        node.worked += cost * node.slowness;
        let sent = node.busy;
        while let Some((to, frame)) = self.nodes[rank as usize].out.pop() {
            self.transmit(rank, to, frame, sent);
        }
        if did {
            self.call(rank);
        }
    }

    fn transmit(&mut self, from: u32, to: RankId, frame: Vec<u8>, sent: Nanos) {
        if self.net.loss > 0.0 && self.rng.unit() < self.net.loss {
            return;
        }
        // Nanoseconds that a frame occupies a wire.
        let wire = (frame.len() as f64 * 8.0 / self.net.gbit_per_second.max(1e-9)) as Nanos;
        let node = &mut self.nodes[from as usize];
        let gone = node.out_free.max(sent) + wire;
        node.out_free = gone;
        let delay = self.net.latency * (1.0 + self.net.jitter * self.rng.unit());
        let there = &mut self.nodes[to.0 as usize];
        // The far end takes one frame at a time too; its first byte came `wire` before its last.
        let arrival = (gone + delay as Nanos).max(there.in_free + wire);
        there.in_free = arrival;
        let node = &mut self.nodes[from as usize];
        let arrival = arrival.max(node.last_arrival[to.0 as usize]);
        node.last_arrival[to.0 as usize] = arrival;
        self.at(arrival, to.0, Event::Frame(from, frame));
    }
}
