//! The player that is a gang: a position, the front, and whatever drives the others.

use crate::member::{Answer, Member, Order};
use crate::pump::{Hands, Port, pump};
use crate::threads::{Crew, ports};
use crate::virtual_time::{Costs, Net, Simulation};
use crate::wire::Outbox;
use crate::{Gang, Nanos, RankId, RootMove, Tally, Vote, Walk, rank};
use sortie_core::AnyGame;
use sortie_core::Uct;
use sortie_core::parts::{Candidate, order};
use sortie_core::play::{Fault, GangReport, Line};
use sortie_core::search::SpecError;
use sortie_core::{AnyPlayer, Budget, PlayError, Thought};
use std::cmp::Reverse;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// How long a rank may be silent before it is taken for gone.
const PATIENCE: Nanos = 10_000_000_000;
/// The same in virtual time, where nobody's process is stopped for a while.
const PATIENCE_VIRTUAL: Nanos = 1_000_000_000;
/// How often somebody is told how it is going.
const TELL: Nanos = 250_000_000;

/// What runs the ranks.
pub enum Engine {
    /// Threads of this process.
    Threads,
    /// One thread, in virtual time.
    Virtual(Net, Costs),
    /// Other processes, behind a port. They run `serve` with the same gang.
    Remote(Box<dyn Port>),
}

/// A gang, how it searches, and its random numbers: what all of its processes have to know alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The ranks.
    pub gang: Gang,
    /// How they search.
    pub uct: Uct,
    /// The seed.
    pub seed: u64,
}

/// A player whose search is spread over ranks.
pub struct GangPlayer {
    uct: Uct,
    gang: Gang,
    start: Option<String>,
    words: Vec<String>,
    /// Stands on the position, for its outcome and the words of its moves.
    walk: Box<dyn Walk>,
    driver: Driver,
    log: Vec<String>,
}

enum Driver {
    Virtual(Box<Simulation>),
    Real(Box<Real>),
}

struct Real {
    front: Member,
    hands: Hands,
    port: Box<dyn Port>,
    out: Outbox,
    begun: Instant,
    _crew: Option<Crew>,
}

/// The member with this number of a gang, and its hands.
fn member(game: &dyn AnyGame, plan: &Plan, me: RankId) -> (Member, Hands) {
    let Plan { gang, uct, seed } = plan;
    let walk = game.walk(uct, *seed, me.0.into()).0;
    let others = if gang.threads > 1 { gang.players() } else { 0 };
    // Random numbers of hands come after those of all ranks.
    let first = u64::from(gang.size() + me.0 * gang.players());
    let walkers = (0..others).map(|i| game.walk(uct, *seed, first + u64::from(i)).0).collect();
    (Member::new(gang.form, me, gang.size(), PATIENCE, rank(gang, me, walk)), Hands::new(walkers))
}

/// Serves as one rank until the front is gone or `stop` is set. `log` hears what is refused.
pub fn serve(
    game: &dyn AnyGame,
    plan: &Plan,
    me: RankId,
    port: &mut dyn Port,
    stop: &AtomicBool,
    log: &mut dyn FnMut(String),
) {
    let (mut member, mut hands) = member(game, plan, me);
    let mut out = Outbox::new(plan.gang.size());
    pump(&mut member, port, &mut out, &mut hands, Instant::now(), &mut |member, _, _| {
        member.log().into_iter().for_each(&mut *log);
        stop.load(Relaxed) || member.is_gone(RankId(0))
    });
}

impl GangPlayer {
    /// A gang that searches as `uct` says.
    pub fn new(game: &dyn AnyGame, plan: &Plan, engine: Engine) -> Result<GangPlayer, SpecError> {
        let Plan { gang, uct, seed } = plan;
        uct.check()?;
        gang.check()?;
        let all = || (0..gang.size()).map(RankId);
        let driver = match engine {
            Engine::Virtual(net, costs) => {
                let make = |me: u32| {
                    let walk = game.walk(uct, *seed, me.into()).0;
                    Member::new(
                        gang.form,
                        RankId(me),
                        gang.size(),
                        PATIENCE_VIRTUAL,
                        rank(gang, RankId(me), walk),
                    )
                };
                let members = (0..gang.size()).map(make).collect();
                Driver::Virtual(Box::new(Simulation::new(members, gang.threads, net, costs, *seed)))
            }
            Engine::Threads => {
                let mut ports = ports(gang.size()).into_iter();
                let port = Box::new(ports.next().expect("at least one rank"));
                let mut members = all().map(|me| member(game, plan, me));
                let (front, hands) = members.next().expect("at least one rank");
                let crew = Crew::start(members.collect(), ports.collect());
                let out = Outbox::new(gang.size());
                Driver::Real(Box::new(Real {
                    front,
                    hands,
                    port,
                    out,
                    begun: Instant::now(),
                    _crew: Some(crew),
                }))
            }
            Engine::Remote(port) => {
                let (front, hands) = member(game, plan, RankId(0));
                let out = Outbox::new(gang.size());
                Driver::Real(Box::new(Real { front, hands, port, out, begun: Instant::now(), _crew: None }))
            }
        };
        let walk = game.walk(uct, *seed, 0).0;
        let (start, words, log) = (None, Vec::new(), Vec::new());
        Ok(GangPlayer { uct: uct.clone(), gang: gang.clone(), start, words, walk, driver, log })
    }

    /// What ranks refused since it was last asked, a line each.
    pub fn log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// The time that has passed, if it is virtual.
    pub fn virtual_now(&self) -> Option<Nanos> {
        match &self.driver {
            Driver::Virtual(simulation) => Some(simulation.now()),
            Driver::Real(_) => None,
        }
    }

    pub(super) fn thought(&mut self, answer: Answer) -> Thought {
        let report = self.report(&answer);
        let seconds = answer.nanos as f64 * 1e-9;
        let cpu_seconds = seconds * f64::from(self.gang.size() * self.gang.threads);
        let tally = answer.tally;
        let side = self.walk.side();
        let candidate = |(edge, mv): (usize, &RootMove)| Candidate {
            edge,
            visits: mv.visits.min(u64::from(u32::MAX)) as u32,
            mean: side.view(mv.sum / mv.visits.max(1) as f64),
            proved: mv.proof.map(|outcome| outcome.value_for(side)),
        };
        let mut moves: Vec<Candidate> = tally.moves.iter().enumerate().map(candidate).collect();
        order(self.uct.final_move, &mut moves);
        if self.gang.vote == Vote::Majority {
            let votes = self.votes(&answer.ballots, candidate);
            let named = |c: &Candidate| votes.iter().filter(|&&id| id == tally.moves[c.edge].id).count();
            // What is proved is not voted on.
            moves.sort_by_key(|c| Reverse((c.proved == Some(1.0), c.proved != Some(0.0), named(c))));
        }
        let mut lines: Vec<Line> = Vec::new();
        for (i, c) in moves.iter().enumerate() {
            let Some(word) = self.walk.word(tally.moves[c.edge].id) else { continue };
            if i == 0 || c.visits > 0 || c.proved.is_some() {
                lines.push(Line {
                    moves: vec![word],
                    visits: c.visits.into(),
                    value: side.view(c.proved.unwrap_or(c.mean)),
                    proved: tally.moves[c.edge].proof,
                });
            }
        }
        let value = tally.proved.map_or_else(|| lines.first().map_or(0.5, |line| line.value), |o| o.value());
        Thought {
            best: lines.first().map(|line| line.moves[0].clone()),
            value,
            proved: tally.proved,
            lines,
            playouts: tally.account.home,
            nodes: tally.nodes,
            depth: tally.depth,
            seconds,
            cpu_seconds,
            fill: tally.fill,
            recycled: 0,
            gang: Some(report),
        }
    }

    /// The move that each rank with a tree names.
    fn votes<'m>(
        &self,
        ballots: &'m [Vec<RootMove>],
        candidate: impl Fn((usize, &'m RootMove)) -> Candidate + Copy,
    ) -> Vec<u16> {
        let vote = |ballot: &'m Vec<RootMove>| {
            let mut moves: Vec<Candidate> = ballot.iter().enumerate().map(candidate).collect();
            order(self.uct.final_move, &mut moves);
            moves.first().filter(|c| c.visits > 0 || c.proved.is_some()).map(|c| ballot[c.edge].id)
        };
        ballots.iter().filter_map(vote).collect()
    }

    fn report(&self, answer: &Answer) -> GangReport {
        let tally: &Tally = &answer.tally;
        let simulations = tally.account.home.max(1) as f64;
        let mean = answer.playouts.iter().sum::<u64>() as f64 / answer.playouts.len().max(1) as f64;
        let most = answer.playouts.iter().copied().max().unwrap_or(0) as f64;
        let busy = match &self.driver {
            Driver::Virtual(simulation) => Some(simulation.busy()),
            Driver::Real(_) => None,
        };
        GangReport {
            ranks: self.gang.size(),
            modelled: matches!(self.driver, Driver::Virtual(_)),
            begun: tally.account.begun,
            home: tally.account.home,
            lost: tally.account.lost,
            busiest: if mean > 0.0 { most / mean } else { 1.0 },
            added: tally.added,
            distinct: tally.distinct.count(),
            records: tally.work.records_out as f64 / simulations,
            bytes: tally.work.bytes_out as f64 / simulations,
            bytes_a_record: tally.work.bytes_out as f64 / tally.work.records_out.max(1) as f64,
            in_flight: answer.in_flight,
            busy_seconds: busy.map(|busy| busy.nanos * 1e-9),
            busiest_core: busy.map(|busy| busy.busiest / answer.nanos.max(1) as f64),
            refused: tally.refused,
            note: answer.note.clone(),
        }
    }
}

impl AnyPlayer for GangPlayer {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        self.walk.set(start, words)?;
        self.start = start.map(String::from);
        self.words = words.to_vec();
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        self.walk.to_root();
        if let Some(outcome) = self.walk.root_outcome() {
            return Ok(Thought { value: outcome.value(), proved: Some(outcome), ..Thought::default() });
        }
        let cores = f64::from(self.gang.size() * self.gang.threads);
        let seconds = match (budget.seconds, budget.cpu_seconds.map(|s| s / cores)) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        // A simulation adds at most one node.
        let playouts = match (budget.playouts, budget.nodes) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let order = Order {
            start: self.start.clone(),
            words: self.words.clone(),
            playouts,
            nanos: seconds.map(|s| (s * 1e9) as Nanos),
        };
        let answer = match &mut self.driver {
            Driver::Virtual(simulation) => {
                let answer = simulation.search(order, stop).expect("the position was set before");
                self.log.extend(simulation.log());
                answer
            }
            Driver::Real(real) => {
                let Real { front, hands, port, out, begun, .. } = &mut **real;
                let now = begun.elapsed().as_nanos() as Nanos;
                front.order(order, now, out).expect("the position was set before");
                let mut told = now;
                let mut answer = None;
                pump(front, &mut **port, out, hands, *begun, &mut |front, now, out| {
                    if stop.load(Relaxed) {
                        front.stop(now, out);
                    }
                    if now - told >= TELL {
                        told = now;
                        tell(&glance(front));
                    }
                    answer = front.answer();
                    answer.is_some()
                });
                self.log.extend(front.log());
                answer.expect("the pump ends with it")
            }
        };
        Ok(self.thought(answer))
    }

    fn reset(&mut self, seed: u64) {
        match &mut self.driver {
            Driver::Virtual(simulation) => simulation.reset(seed),
            Driver::Real(real) => real.front.reset(seed, &mut real.out),
        }
        (self.start, self.words) = (None, Vec::new());
        self.walk.set(None, &[]).expect("the game's own start");
    }
}

/// How it is going, seen from the front.
fn glance(front: &Member) -> Thought {
    let tally = front.glance();
    Thought { playouts: tally.account.home, nodes: tally.nodes, depth: tally.depth, ..Thought::default() }
}
