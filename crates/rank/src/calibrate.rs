//! What a search costs on this machine, for the model of `virtual_time`: every cost is taken from the code that runs, in
//! CPU time, so that a loaded machine does not matter.
//!
//! Ranks run in turn on one thread, over the ports they have among threads: all the work of a real gang and none of its
//! waiting. Playouts are timed one by one. What is pure arithmetic (replaying a path, looking for a win, adding a node)
//! is timed in loops over positions of the tree. The rest of one rank is what its steps cost; what two ranks need beyond
//! that is split between records and frames by least squares over runs that put more or fewer records into a frame.

use crate::ground::Ground;
use crate::member::{Member, Order};
use crate::pump::Port;
use crate::threads::{ThreadPort, ports};
use crate::virtual_time::Costs;
use crate::wire::{Outbox, Work};
use crate::{Form, Gang, RankId, rank};
use sortie_core::AnyGame;
use sortie_core::PlayError;
use sortie_core::Rng;
use sortie_core::Uct;
use std::sync::mpsc::sync_channel;

/// What is measured, and on what.
pub struct Calibration<'a> {
    /// The game.
    pub game: &'a dyn AnyGame,
    /// How it is searched.
    pub uct: &'a Uct,
    /// Positions, as moves from the start.
    pub positions: &'a [Vec<String>],
    /// Playouts of one search; there are about a dozen for every position.
    pub playouts: u64,
    /// The seed.
    pub seed: u64,
    /// Nanoseconds of CPU time that this thread has used.
    pub clock: &'a dyn Fn() -> f64,
}

/// Quantiles of playout times, the ends included.
const QUANTILES: usize = 41;
/// Paths below each position.
const PATHS: usize = 200;
/// The longest of them.
const PATH_STEPS: usize = 10;
/// How often the loops over paths are run; the fastest counts.
const REPEATS: usize = 7;
/// Turns of a rank before its frames are sent, and simulations in flight: the runs of two ranks.
const RUNS: [(u32, u32); 6] = [(1, 2), (1, 8), (4, 8), (8, 16), (16, 32), (64, 32)];
/// The same for one rank, which has nothing to send.
const FLUSH: u32 = 16;
/// Equal runs, of which the fastest counts.
const RUNS_EQUAL: usize = 3;
/// Playouts handed over in a loop, and places of the channels.
const TASKS: u32 = 2_000;
const HANDED: usize = 4;
/// Nanoseconds that a record, a frame and half a hand-over cost at least. Those of the hand-over are not measured: a few
/// lines of memory that move from one core to another.
const RECORD_MIN: f64 = 20.0;
const FRAME_MIN: f64 = 50.0;
const TASK_MIN: f64 = 150.0;
const PATIENCE: u64 = u64::MAX / 2;

/// The time of a run of ranks in turn, and what was done in it.
#[derive(Default)]
struct Spent {
    /// All of it.
    nanos: f64,
    /// Each playout, where they were timed.
    samples: Vec<f64>,
    playouts: u64,
    work: Work,
    frames_in: u64,
}

impl Spent {
    fn add(&mut self, other: Spent) {
        self.nanos += other.nanos;
        self.samples.extend(other.samples);
        self.playouts += other.playouts;
        self.work.add(&other.work);
        self.frames_in += other.frames_in;
    }
}

/// How ranks take turns.
#[derive(Clone, Copy)]
struct Turns {
    ranks: u32,
    par: u32,
    /// Turns of a rank before its frames are sent.
    flush: u32,
    /// Every playout is timed, and a look at the clock costs so much.
    look: Option<f64>,
}

impl Calibration<'_> {
    /// Measures.
    pub fn costs(&self) -> Result<Costs, PlayError> {
        let look = self.look();
        let alone = Turns { ranks: 1, par: 1, flush: FLUSH, look: None };
        let (mut timed, mut clean) = (Spent::default(), Spent::default());
        let (mut replay, mut add) = (0.0, 0.0);
        // Once in vain: caches, branch predictors and the clock of the processor warm up.
        self.run(&self.positions[0], alone)?;
        for position in self.positions {
            timed.add(self.run(position, Turns { look: Some(look), ..alone })?);
            clean.add(self.fastest(position, alone)?);
            let [a, b] = self.loops(position)?;
            let share = 1.0 / self.positions.len() as f64;
            (replay, add) = (replay + a * share, add + b * share);
        }
        // Looking at the clock slows down what is between the looks. What a search takes without looks is the truth.
        let slowed = timed.nanos / clean.nanos.max(1.0);
        timed.samples.iter_mut().for_each(|nanos| *nanos /= slowed);
        let playout = timed.samples.iter().sum::<f64>() / timed.playouts.max(1) as f64;
        let mut costs = Costs { replay, add, step: 0.0, ..Costs::default() };
        let beyond = |costs: &Costs, spent: &Spent| {
            let work = &spent.work;
            spent.nanos
                - playout * spent.playouts as f64
                - costs.step * work.steps as f64
                - costs.replay * work.replayed as f64
                - costs.add * work.added as f64
        };
        let steps = clean.work.steps.max(1) as f64;
        costs.step = beyond(&costs, &clean).max(steps) / steps;
        // Least squares for what is left = record * records + frame * frames.
        let (mut aa, mut ab, mut bb, mut ay, mut by) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (flush, par) in RUNS {
            let mut two = Spent::default();
            for position in self.positions {
                two.add(self.fastest(position, Turns { ranks: 2, par, flush, look: None })?);
            }
            let records = (two.work.records_out + two.work.records_in) as f64;
            let frames = (two.work.frames_out + two.frames_in) as f64;
            // Every run weighs the same.
            let scale = 1.0 / records.max(1.0);
            let (a, b, y) = (1.0, frames * scale, beyond(&costs, &two) * scale);
            (aa, ab, bb) = (aa + a * a, ab + a * b, bb + b * b);
            (ay, by) = (ay + a * y, by + b * y);
        }
        let determinant = aa * bb - ab * ab;
        if determinant > 1e-12 {
            costs.record = (bb * ay - ab * by) / determinant;
            costs.frame = (aa * by - ab * ay) / determinant;
            // Nothing costs less than this; where noise says so, the other one bears the rest.
            if costs.record < RECORD_MIN {
                costs.record = RECORD_MIN;
                costs.frame = ((by - ab * RECORD_MIN) / bb).max(FRAME_MIN);
            } else if costs.frame < FRAME_MIN {
                costs.frame = FRAME_MIN;
                costs.record = ((ay - ab * FRAME_MIN) / aa).max(RECORD_MIN);
            }
        }
        costs.playout = quantiles(timed.samples);
        costs.task = self.task();
        Ok(costs)
    }

    /// The fastest of a few equal runs: whatever made the others slower was not ours.
    fn fastest(&self, position: &[String], turns: Turns) -> Result<Spent, PlayError> {
        let mut best = self.run(position, turns)?;
        for _ in 1..RUNS_EQUAL {
            let again = self.run(position, turns)?;
            if again.nanos < best.nanos {
                best = again;
            }
        }
        Ok(best)
    }

    /// What reading the clock costs.
    fn look(&self) -> f64 {
        let begun = (self.clock)();
        let mut now = begun;
        for _ in 0..10_000 {
            now = (self.clock)();
        }
        (now - begun) / 10_000.0
    }

    fn member(&self, gang: &Gang, me: RankId) -> Member {
        let walk = self.game.walk(self.uct, self.seed, me.0.into()).0;
        Member::new(gang.form, me, gang.size(), PATIENCE, rank(gang, me, walk))
    }

    /// A search by ranks that take turns on this thread.
    fn run(&self, position: &[String], turns: Turns) -> Result<Spent, PlayError> {
        let Turns { ranks, par, flush, look } = turns;
        let gang = Gang { form: Form::Tds, nodes: ranks, threads: 1, par, ..Gang::default() };
        let mut seats: Vec<(Member, Outbox, ThreadPort)> = ports(ranks)
            .into_iter()
            .enumerate()
            .map(|(i, port)| (self.member(&gang, RankId(i as u32)), Outbox::new(ranks), port))
            .collect();
        let mut spent = Spent::default();
        let order = Order { words: position.to_vec(), playouts: Some(self.playouts), ..Order::default() };
        let begun = (self.clock)();
        let (front, out, _) = &mut seats[0];
        front.order(order, 0, out)?;
        let (mut answer, mut turn) = (None, 0u64);
        while answer.is_none() {
            turn += 1;
            let mut idle = true;
            for (member, out, port) in &mut seats {
                while let Some((from, frame)) = port.poll() {
                    spent.frames_in += 1;
                    member.frame(from, &frame, turn, out);
                    out.reuse(frame);
                    idle = false;
                }
                let next = member.next(turn, out);
                idle &= next == Err(false);
                if let Ok(task) = next {
                    let before = look.map(|_| (self.clock)());
                    let value = member.play(task);
                    if let (Some(before), Some(look)) = (before, look) {
                        spent.samples.push(((self.clock)() - before - look).max(0.0));
                    }
                    spent.playouts += 1;
                    member.played(task, value, turn, out);
                }
                if next == Err(false) || turn.is_multiple_of(flush.into()) {
                    member.tick(turn, out);
                    out.flush();
                }
                while let Some((to, frame)) = out.pop() {
                    // A queue of a thousand frames is emptied every turn.
                    let _ = port.try_send(to, frame);
                }
            }
            answer = seats[0].0.answer();
            debug_assert!(!idle || turn < 1 << 40, "ranks wait for each other");
        }
        spent.nanos = (self.clock)() - begun - 2.0 * look.unwrap_or(0.0) * spent.samples.len() as f64;
        for (_, out, _) in &seats {
            spent.work.add(&out.work);
        }
        Ok(spent)
    }

    /// Nanoseconds to replay a move, and to add a node.
    fn loops(&self, position: &[String]) -> Result<[f64; 2], PlayError> {
        let mut ground = Ground::new(self.game.walk(self.uct, self.seed, 0).0, true);
        ground.walk.set(None, position)?;
        let mut out = Outbox::new(0);
        let paths = paths(&mut ground, self.seed, &mut out);
        let moves = paths.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        let mut timed = |what: &mut dyn FnMut(&mut Ground)| {
            let once = |_| {
                ground.clear();
                let begun = (self.clock)();
                for path in &paths {
                    let _ = ground.walk.follow(path);
                    what(&mut ground);
                }
                (self.clock)() - begun
            };
            (0..REPEATS).map(once).fold(f64::INFINITY, f64::min)
        };
        let follow = timed(&mut |_| {});
        let mut added = 0;
        let grown = timed(&mut |ground| {
            let before = ground.tree.nodes();
            ground.node_here(&mut out);
            added += ground.tree.nodes() - before;
        });
        let added = (added as f64 / REPEATS as f64).max(1.0);
        Ok([follow / moves, ((grown - follow) / added).max(1.0)])
    }

    /// Half of what it costs a rank to give a playout to another core and to take its value, through channels like those
    /// of `Hands`. One thread does not see memory move from core to core, which `TASK_MIN` stands for. A thread that
    /// sleeps has to be woken, which depends on the system and is left out.
    fn task(&self) -> f64 {
        let (give, given) = sync_channel::<Errand>(HANDED);
        let (done, take) = sync_channel::<(usize, u32, u64)>(HANDED);
        let path = [0u16; PATH_STEPS];
        let once = |_| {
            let begun = (self.clock)();
            for number in 0..TASKS {
                give.send(Errand(number, path.to_vec())).expect("there is room");
                let errand = given.try_recv().expect("it was sent");
                done.send((errand.1.len(), errand.0, 8)).expect("there is room");
                std::hint::black_box(take.try_recv().expect("it was sent"));
            }
            (self.clock)() - begun
        };
        let fastest = (0..REPEATS).map(once).fold(f64::INFINITY, f64::min);
        (fastest / f64::from(2 * TASKS)).max(TASK_MIN)
    }
}

/// A playout on its way to another core, as `pump` sends it.
struct Errand(u32, Vec<u16>);

/// Ways down from the root by moves at random, none beyond the end of the game.
fn paths(ground: &mut Ground, seed: u64, out: &mut Outbox) -> Vec<Vec<u16>> {
    let mut rng = Rng::new(seed, 7);
    let mut paths = Vec::new();
    for _ in 0..PATHS {
        ground.walk.to_root();
        let mut path = Vec::new();
        let length = 1 + rng.below(PATH_STEPS);
        while path.len() < length {
            let Some(node) = ground.node_here(out) else { break };
            let edges = ground.tree.edges(node);
            if edges == 0 {
                break;
            }
            let id = ground.tree.link(node, rng.below(edges)).move_id();
            if ground.walk.step(id).is_some() {
                break;
            }
            path.push(id);
        }
        if !path.is_empty() {
            paths.push(path);
        }
    }
    paths
}

/// Quantiles at equal distances; the last is moved so that their mean is that of the values, which one value out of
/// thousands would spoil.
fn quantiles(values: Vec<f64>) -> Vec<f64> {
    let mut values = values;
    values.sort_by(f64::total_cmp);
    let Some(last) = values.len().checked_sub(1) else { return Costs::default().playout };
    let at = |i: usize| values[(i * last) / (QUANTILES - 1)];
    let mut all: Vec<f64> = (0..QUANTILES).map(at).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let inner: f64 = all[1..QUANTILES - 1].iter().sum();
    // The mean of what is drawn between quantiles: the ends count half.
    let end = 2.0 * (mean * (QUANTILES - 1) as f64 - inner - all[0] / 2.0);
    all[QUANTILES - 1] = end.max(all[QUANTILES - 2]);
    all.iter().map(|nanos| nanos.round()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Boxed;
    use sortie_core::toy::Nim;
    use std::cell::Cell;

    #[test]
    fn quantiles_keep_the_mean() {
        let mut values: Vec<f64> = (0..10_000).map(|i| 1000.0 + i as f64).collect();
        values.push(5e7);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let all = quantiles(values);
        let drawn = all.windows(2).map(|w| (w[0] + w[1]) / 2.0).sum::<f64>() / (all.len() - 1) as f64;
        assert!((drawn / mean - 1.0).abs() < 0.01, "{drawn} {mean}");
        assert!(all.windows(2).all(|w| w[0] <= w[1]));
        assert_eq!(quantiles(Vec::new()), Costs::default().playout);
    }

    #[test]
    fn every_cost_is_measured_on_any_game() {
        let game = Boxed::new(Nim { heap: 60 });
        let uct = Uct { memory: 1, ..Uct::plain() };
        // A clock that ticks when it is read: everything takes a whole number of looks, and nothing is left out.
        let ticks = Cell::new(0.0);
        let clock = || {
            ticks.set(ticks.get() + 100.0);
            ticks.get()
        };
        let positions = [Vec::new(), vec!["2".to_string(), "1".to_string()]];
        let calibration = Calibration {
            game: &game,
            uct: &uct,
            positions: &positions,
            playouts: 300,
            seed: 1,
            clock: &clock,
        };
        let costs = calibration.costs().unwrap();
        assert_eq!(costs.playout.len(), QUANTILES);
        assert!(costs.playout.iter().all(|&nanos| nanos == 0.0), "a look is taken off");
        for cost in [costs.step, costs.replay, costs.add, costs.task] {
            assert!(cost.is_finite() && cost > 0.0, "{costs:?}");
        }
        let wrong = [vec!["9".to_string()]];
        assert!(Calibration { positions: &wrong, ..calibration }.costs().is_err());
    }
}
