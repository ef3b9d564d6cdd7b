//! The domain's own search: fewer routes first, then shorter ones, for as long as it is asked to go on.
//!
//! Two kinds of rounds take turns, both of ruin and recreate (`ruin.rs`). Rounds for a route less keep customers waiting
//! until there is room for all; who waits long becomes dear, and ejections (`eject.rs`) let the dear change places with
//! the cheap. Rounds for shorter routes anneal a plan. The first anneals the plan there is; then a few plans are kept,
//! and each anneal begins with a child of two of them (`cross.rs`). Anneals grow longer as long as nothing better is
//! found, and attempts at a route less get a share of all rounds, so that the search is never finished and never stuck.

use super::cross::cross;
use super::eject;
use super::local::{Near, Plan, drive};
use super::ruin::Ruin;
use super::{Objective, Vrptw};
use sortie_core::Rng;
use sortie_core::expert::Specialist;

/// Rounds of one call of `work`: some milliseconds.
const SLICE: u32 = 100;
/// Rounds of the first attempt at a route less, and of the longest.
const ATTEMPT: u64 = 4_000;
const ATTEMPT_MAX: u64 = 400_000;
/// One round in so many is for a route less, once the first attempt has failed.
const FLEET_SHARE: u64 = 3;
/// Rounds of the first anneal, and of the longest.
const ANNEAL: u64 = 8_000;
const ANNEAL_MAX: u64 = 200_000;
/// Plans that are kept.
const POOL: usize = 8;
/// What is accepted at the beginning and at the end of an anneal, in mean distances between two places: of the first
/// one, and of those that begin with a child.
const HOT: f64 = 0.3;
const WARM: f64 = 0.1;
const COLD: f64 = 0.003;
/// What is accepted in an attempt at a route less.
const ATTEMPT_HEAT: f64 = 0.03;
/// The heat is lowered after so many rounds.
const COOL_EVERY: u64 = 64;
/// One round in so many of an attempt ejects.
const EJECT_EVERY: usize = 4;
const GAIN_MIN: f64 = 1e-7;

/// What the rounds are for.
#[allow(clippy::large_enum_variant)] // there is one of it, and it is asked every round
enum Stage<'a, const W: usize> {
    /// A route less: the plan without it and who waits.
    Fewer { now: Plan<'a, W>, waiting: Vec<u16>, distance: f64, left: u64 },
    /// Shorter routes: the plan now and the best of this anneal.
    Shorter {
        now: Plan<'a, W>,
        distance: f64,
        best: Plan<'a, W>,
        best_distance: f64,
        heat: f64,
        cooling: f64,
        left: u64,
    },
}

pub struct Own<'a, const W: usize> {
    vrptw: &'a Vrptw<W>,
    ruin: Ruin<'a, W>,
    near: Near,
    stage: Option<Stage<'a, W>>,
    /// The plan the next round is made on.
    next: Plan<'a, W>,
    /// Plans with the fewest routes, the shortest first, no two of the same length.
    pool: Vec<(f64, Plan<'a, W>)>,
    /// No plan has fewer routes: all vehicles but the last would be full.
    routes_min: usize,
    attempt: u64,
    anneal: u64,
    fleet_rounds: u64,
    rounds: u64,
}

impl<'a, const W: usize> Own<'a, W> {
    /// From nothing, or from tours of an earlier one.
    pub fn new(vrptw: &'a Vrptw<W>, saved: Option<&[u8]>) -> Self {
        let demand: u64 = vrptw.demand.iter().map(|&d| u64::from(d)).sum();
        let mut own = Own {
            vrptw,
            ruin: Ruin::new(vrptw),
            near: Near::new(vrptw),
            stage: None,
            next: Plan::new(vrptw, &[]),
            pool: Vec::new(),
            routes_min: demand.div_ceil(u64::from(vrptw.capacity)).max(1) as usize,
            attempt: ATTEMPT,
            anneal: ANNEAL,
            fleet_rounds: 0,
            rounds: 0,
        };
        own.load(saved.unwrap_or(&[]));
        own
    }

    /// Whether a route less would be better.
    fn wants_fewer(&self, routes: usize) -> bool {
        routes > self.routes_min
            && (self.vrptw.objective == Objective::Vehicles || routes > self.vrptw.fleet as usize)
    }

    /// The first plan: everybody put where it costs least.
    fn build(&mut self, rng: &mut Rng) -> Plan<'a, W> {
        let n = self.vrptw.n;
        let mut plan = Plan::new(self.vrptw, &[]);
        self.ruin.out.clear();
        self.ruin.out.extend(1..n as u16);
        self.ruin.recreate(&mut plan, n, rng);
        plan.descend(&self.near);
        plan
    }

    /// What is to be done next.
    fn plan_stage(&mut self, rng: &mut Rng, found: &mut dyn FnMut(&[u16])) -> Stage<'a, W> {
        if self.pool.is_empty() {
            let plan = self.build(rng);
            self.keep(plan, found);
        }
        let routes = self.pool[0].1.routes.len();
        if self.wants_fewer(routes) && self.fleet_rounds * FLEET_SHARE <= self.rounds {
            let from = rng.below(self.pool.len());
            return self.begin_attempt(from);
        }
        let crossed = self.pool.len() >= POOL / 2;
        let now = if crossed { self.child(rng) } else { self.pool[0].1.twin() };
        let heat = self.vrptw.select.unit() * if crossed { WARM } else { HOT };
        // The power that leads from the first heat to the last in so many steps, by products alone: the library's would
        // not be the same on every machine.
        let steps = (self.anneal / COOL_EVERY).max(1) as f64;
        let cooling = root(COLD / if crossed { WARM } else { HOT }, steps);
        let distance = now.distance();
        let best = now.twin();
        Stage::Shorter { now, distance, best, best_distance: distance, heat, cooling, left: self.anneal }
    }

    fn begin_attempt(&mut self, from: usize) -> Stage<'a, W> {
        let mut now = self.pool[from].1.twin();
        // Who waited long in an earlier attempt is hard to place.
        let waited = &self.ruin.waited;
        let cost = |r: &usize| now.routes[*r].iter().map(|&j| 1 + waited[j as usize]).sum::<u32>();
        let easiest = (0..now.routes.len()).min_by_key(cost).expect("there are routes");
        let waiting = now.remove_route(easiest);
        let distance = now.distance();
        Stage::Fewer { now, waiting, distance, left: self.attempt }
    }

    /// A child of two plans that are kept, everybody served; one of the two if that fails.
    fn child(&mut self, rng: &mut Rng) -> Plan<'a, W> {
        let a = rng.below(self.pool.len());
        let b = (a + 1 + rng.below(self.pool.len() - 1)) % self.pool.len();
        let mut child = self.pool[a].1.twin();
        let routes = child.routes.len();
        cross(&mut child, &self.pool[b].1, &mut self.ruin.out, rng);
        self.ruin.recreate(&mut child, routes, rng);
        if !self.ruin.out.is_empty() {
            child.copy_from(&self.pool[a].1);
        }
        child
    }

    /// Keeps a plan if it is one of the best, and tells of it if it is the best.
    fn keep(&mut self, plan: Plan<'a, W>, found: &mut dyn FnMut(&[u16])) {
        let Some(state) = drive(self.vrptw, &plan) else { return };
        let (routes, distance) = (plan.routes.len(), plan.distance());
        if let Some((_, best)) = self.pool.first()
            && self.vrptw.objective == Objective::Vehicles
        {
            match routes.cmp(&best.routes.len()) {
                std::cmp::Ordering::Less => self.pool.clear(),
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => return,
            }
        }
        let at = self.pool.partition_point(|(length, _)| *length < distance - GAIN_MIN);
        if self.pool.get(at).is_some_and(|(length, _)| *length < distance + GAIN_MIN) {
            return;
        }
        if at == 0 {
            found(&state.tour);
        }
        self.pool.insert(at, (distance, plan));
        self.pool.truncate(POOL);
    }

    /// One round of an attempt at a route less. True: it is over.
    fn round_fewer(
        &mut self,
        stage: &mut Stage<'a, W>,
        rng: &mut Rng,
        found: &mut dyn FnMut(&[u16]),
    ) -> bool {
        let Stage::Fewer { now, waiting, distance, left } = stage else { return true };
        let (ruin, next) = (&mut self.ruin, &mut self.next);
        next.copy_from(now);
        ruin.out.clear();
        ruin.out.extend_from_slice(waiting);
        ruin.ruin(next, rng);
        ruin.recreate(next, now.routes.len(), rng);
        if !ruin.out.is_empty() && rng.below(EJECT_EVERY) == 0 {
            let dearest = (0..ruin.out.len()).max_by_key(|&k| ruin.waited[ruin.out[k] as usize]);
            let j = ruin.out.swap_remove(dearest.expect("somebody waits"));
            if !eject::insert(next, j, &ruin.waited, &mut ruin.out, rng) {
                ruin.out.push(j);
            }
        }
        if ruin.out.is_empty() {
            let mut plan = next.twin();
            plan.descend(&self.near);
            (self.attempt, self.anneal) = (ATTEMPT, ANNEAL);
            // The next route less is tried at once.
            self.fleet_rounds = 0;
            self.rounds = 0;
            self.keep(plan, found);
            return true;
        }
        let cost = |out: &[u16]| out.iter().map(|&j| ruin.waited[j as usize]).sum::<u32>();
        let (before, after) = (cost(waiting), cost(&ruin.out));
        let length = next.distance();
        let heat = self.vrptw.select.unit() * ATTEMPT_HEAT;
        if after < before || ruin.out.len() <= waiting.len() && length < *distance + heat * rng.unit() {
            std::mem::swap(now, next);
            waiting.clone_from(&ruin.out);
            *distance = length;
        }
        for &j in &ruin.out {
            ruin.waited[j as usize] = ruin.waited[j as usize].saturating_add(1).min(1 << 20);
        }
        *left -= 1;
        if *left == 0 {
            self.attempt = (2 * self.attempt).min(ATTEMPT_MAX);
        }
        *left == 0
    }

    /// One round of an anneal. True: it is over.
    fn round_shorter(
        &mut self,
        stage: &mut Stage<'a, W>,
        rng: &mut Rng,
        found: &mut dyn FnMut(&[u16]),
    ) -> bool {
        let Stage::Shorter { now, distance, best, best_distance, heat, cooling, left } = stage else {
            return true;
        };
        let (ruin, next) = (&mut self.ruin, &mut self.next);
        let vehicles_count = self.vrptw.objective == Objective::Vehicles;
        let free = if vehicles_count { 0 } else { self.vrptw.fleet as usize };
        next.copy_from(now);
        ruin.out.clear();
        ruin.ruin(next, rng);
        ruin.recreate(next, free.max(now.routes.len()), rng);
        let fewer = vehicles_count && next.routes.len() < now.routes.len();
        if ruin.out.is_empty() {
            let length = next.distance();
            if fewer || length < *distance + *heat * rng.unit() {
                std::mem::swap(now, next);
                *distance = length;
                if fewer || length < *best_distance - GAIN_MIN {
                    best.copy_from(now);
                    *best_distance = length;
                    let shortest = self.pool.first().map_or(f64::INFINITY, |(length, _)| *length);
                    if fewer || length < shortest - GAIN_MIN {
                        let plan = best.twin();
                        self.keep(plan, found);
                    }
                }
            }
        }
        *left -= 1;
        if *left % COOL_EVERY == 0 {
            *heat *= *cooling;
        }
        if *left > 0 {
            return false;
        }
        let mut plan = best.twin();
        plan.descend(&self.near);
        let length = plan.distance();
        let better = self.pool.first().is_none_or(|(shortest, _)| length <= shortest + GAIN_MIN);
        self.keep(plan, found);
        if !better {
            self.anneal = (self.anneal + self.anneal / 4).min(ANNEAL_MAX);
        }
        true
    }

    /// Tours that were saved: counts and places as two bytes each. Whatever does not drive is left out.
    fn load(&mut self, saved: &[u8]) {
        let numbers: Vec<u16> = saved.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
        for tour in numbers.split(|&j| j == u16::MAX) {
            let mut seen = vec![false; self.vrptw.n];
            let sound = tour.iter().all(|&j| {
                (j as usize) < seen.len() && (j == 0 || !std::mem::replace(&mut seen[j as usize], true))
            });
            if sound && !tour.is_empty() && seen[1..].iter().all(|&seen| seen) {
                let plan = Plan::new(self.vrptw, tour);
                self.keep(plan, &mut |_| {});
            }
        }
    }
}

/// The root of a number between 0 and 1, by halving an interval.
fn root(value: f64, degree: f64) -> f64 {
    let power = |base: f64| {
        let (mut result, mut base, mut left) = (1.0, base, degree as u64);
        while left > 0 {
            if left & 1 == 1 {
                result *= base;
            }
            base *= base;
            left >>= 1;
        }
        result
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if power(middle) < value { low = middle } else { high = middle }
    }
    high
}

impl<const W: usize> Specialist<u16> for Own<'_, W> {
    fn work(&mut self, rng: &mut Rng, found: &mut dyn FnMut(&[u16])) {
        for _ in 0..SLICE {
            let mut stage = match self.stage.take() {
                Some(stage) => stage,
                None => self.plan_stage(rng, found),
            };
            if self.vrptw.n < 3 {
                return; // one customer: there is nothing to look for
            }
            let over = match stage {
                Stage::Fewer { .. } => {
                    self.fleet_rounds += 1;
                    self.round_fewer(&mut stage, rng, found)
                }
                Stage::Shorter { .. } => self.round_shorter(&mut stage, rng, found),
            };
            self.rounds += 1;
            if !over {
                self.stage = Some(stage);
            }
        }
    }

    fn learn(&mut self, moves: &[u16]) {
        self.load(&moves.iter().flat_map(|mv| mv.to_le_bytes()).collect::<Vec<u8>>());
    }

    fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (_, plan) in &self.pool {
            for route in &plan.routes {
                route.iter().chain(&[0]).for_each(|j| bytes.extend(j.to_le_bytes()));
            }
            bytes.extend(u16::MAX.to_le_bytes());
        }
        bytes
    }
}
