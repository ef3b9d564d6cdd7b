//! Ruin and recreate: the bounded perturbation of `Problem::improve`, and what takes routes away.
//!
//! A round takes strings of neighbouring customers out of some routes near each other and puts them back one by one,
//! each where it costs least (Christiaens and Vanden Berghe, "Slack Induction by String Removals for Vehicle Routing
//! Problems", 2020); plans that are a little worse are accepted, less and less so. To do with a vehicle less, a whole
//! route goes to the waiting and the same rounds go on: a customer for whom there is no room waits, every round of
//! waiting makes it dearer, and a plan is accepted when what waits is cheaper. These are the ejection pool and the
//! penalty counters of Nagata and Bräysy (2009), with strings in the place of their ejections.

use super::local::{CLEAR, Plan};
use super::{Objective, Vrptw};
use sortie_core::Rng;

/// Rounds of one improvement that look for shorter routes, and for a route less.
const ROUNDS: u32 = 1000;
const ROUNDS_FEWER: u32 = 1000;
/// Customers that a round takes out, on average, and the longest string of them.
const REMOVED: f64 = 10.0;
const STRING: f64 = 10.0;
/// One place in so many is overlooked on average when a customer is put back.
const BLINK: usize = 100;
/// By how much a plan may be worse and still be accepted, at most, in mean distances between two places: in the first
/// and in the last round that looks for shorter routes, and in those that look for a route less.
const HOT: f64 = 0.1;
const COLD: f64 = 0.0;
const WARM: f64 = 0.03;
/// How much shorter the routes must be for a plan without waiting customers to be better.
const GAIN_MIN: f64 = 1e-7;

/// The tables and buffers of the rounds.
pub struct Ruin<'a, const W: usize> {
    vrptw: &'a Vrptw<W>,
    /// `around[i * (n - 1)..][..n - 1]`: all customers by their distance from customer `i`, itself first.
    around: Vec<u16>,
    /// Who is in no route.
    pub out: Vec<u16>,
    /// By customer: the rounds in which it waited.
    pub waited: Vec<u32>,
    /// By route: whether this round has taken something out of it.
    ruined: Vec<bool>,
    /// Places until one is overlooked.
    until_blink: usize,
    keys: Vec<(f64, u16)>,
}

impl<'a, const W: usize> Ruin<'a, W> {
    pub fn new(vrptw: &'a Vrptw<W>) -> Self {
        let n = vrptw.n;
        let mut around = Vec::with_capacity(n * (n - 1));
        for i in 0..n {
            let start = around.len();
            around.extend(1..n as u16);
            let row = &vrptw.distance[i * n..][..n];
            around[start..].sort_by(|&a, &b| row[a as usize].total_cmp(&row[b as usize]));
        }
        Ruin {
            vrptw,
            around,
            out: Vec::new(),
            waited: vec![0; n],
            ruined: Vec::new(),
            until_blink: BLINK,
            keys: Vec::new(),
        }
    }

    /// Fewer routes, then shorter ones.
    pub fn run(&mut self, plan: &mut Plan<W>, rng: &mut Rng) {
        let vehicles_count = self.vrptw.objective == Objective::Vehicles;
        while plan.routes.len() > 1
            && (vehicles_count || plan.routes.len() > self.vrptw.fleet as usize)
            && self.one_route_less(plan, rng)
        {}
        self.shorter(plan, rng);
    }

    /// Tries to do with a route less.
    fn one_route_less(&mut self, plan: &mut Plan<W>, rng: &mut Rng) -> bool {
        let mut now = plan.twin();
        // Who waited long in an earlier attempt is hard to place.
        let cost = |r: &usize| plan.routes[*r].iter().map(|&j| 1 + self.waited[j as usize]).sum::<u32>();
        let easiest = (0..plan.routes.len()).min_by_key(cost).expect("there are routes");
        let mut waiting = now.remove_route(easiest);
        let routes = now.routes.len();
        let mut next = now.twin();
        let mut distance = now.distance();
        let heat = self.vrptw.select.unit() * WARM;
        for _ in 0..ROUNDS_FEWER {
            next.copy_from(&now);
            self.out.clear();
            self.out.extend_from_slice(&waiting);
            self.ruin(&mut next, rng);
            self.recreate(&mut next, routes, rng);
            if self.out.is_empty() {
                plan.copy_from(&next);
                return true;
            }
            let cost = |out: &[u16]| out.iter().map(|&j| self.waited[j as usize]).sum::<u32>();
            let (before, after) = (cost(&waiting), cost(&self.out));
            let length = next.distance();
            if after < before || self.out.len() <= waiting.len() && length < distance + heat * rng.unit() {
                now.copy_from(&next);
                waiting.clone_from(&self.out);
                distance = length;
            }
            for &j in &self.out {
                self.waited[j as usize] += 1;
            }
        }
        false
    }

    /// Looks for shorter routes, no more of them unless vehicles of the fleet cost nothing.
    fn shorter(&mut self, plan: &mut Plan<W>, rng: &mut Rng) {
        let (mut now, mut next) = (plan.twin(), plan.twin());
        let mut distance = plan.distance();
        let mut best = distance;
        let vehicles_count = self.vrptw.objective == Objective::Vehicles;
        let free = if vehicles_count { 0 } else { self.vrptw.fleet as usize };
        // A straight line: a power would be the library's, and not the same on every machine.
        let unit = self.vrptw.select.unit();
        let cooling = (HOT - COLD) * unit / f64::from(ROUNDS);
        let mut heat = HOT * unit;
        for _ in 0..ROUNDS {
            next.copy_from(&now);
            self.out.clear();
            self.ruin(&mut next, rng);
            self.recreate(&mut next, free.max(now.routes.len()), rng);
            heat -= cooling;
            if !self.out.is_empty() {
                continue;
            }
            let length = next.distance();
            if length < distance + heat * rng.unit() {
                std::mem::swap(&mut now, &mut next);
                distance = length;
                if distance < best - GAIN_MIN || vehicles_count && now.routes.len() < plan.routes.len() {
                    best = distance;
                    plan.copy_from(&now);
                }
            }
        }
    }

    /// Takes strings of customers out of routes near a random customer, to `out`.
    pub fn ruin(&mut self, plan: &mut Plan<W>, rng: &mut Rng) {
        let n = self.vrptw.n;
        let seed = 1 + rng.below(n - 1);
        let mean = ((n - 1 - self.out.len()) as f64 / plan.routes.len() as f64).max(1.0);
        let longest = STRING.min(mean);
        let strings_max = 4.0 * REMOVED / (1.0 + longest) - 1.0;
        let strings = (1.0 + rng.unit() * strings_max) as usize;
        self.ruined.clear();
        self.ruined.resize(plan.routes.len(), false);
        let mut done = 0;
        for k in 0..n - 1 {
            if done == strings {
                break;
            }
            let c = self.around[seed * (n - 1) + k];
            let r = plan.route[c as usize] as usize;
            if self.out.contains(&c) || self.ruined[r] {
                continue;
            }
            self.ruined[r] = true;
            done += 1;
            let len = plan.routes[r].len();
            let string = (1.0 + rng.unit() * longest.min(len as f64)) as usize;
            self.take_string(plan, r, plan.place[c as usize] as usize, string.min(len), rng);
        }
        for r in (0..plan.routes.len()).rev() {
            if self.ruined[r] {
                if plan.routes[r].is_empty() {
                    plan.remove_route(r);
                } else {
                    plan.refresh(r);
                }
            }
        }
    }

    /// Takes a string that holds place `p` out of route `r`; every other time some customers in it stay.
    fn take_string(&mut self, plan: &mut Plan<W>, r: usize, p: usize, string: usize, rng: &mut Rng) {
        let len = plan.routes[r].len();
        let mut kept = 0;
        if string > 1 && string < len && rng.below(2) == 0 {
            kept = 1;
            while string + kept < len && rng.below(100) != 0 {
                kept += 1;
            }
        }
        let span = string + kept;
        let first = (p + 1).saturating_sub(span);
        let last = p.min(len - span);
        let start = first + rng.below(last - first + 1);
        let skip = if kept > 0 { start + 1 + rng.below(string - 1) } else { start + span };
        let (out, mut at) = (&mut self.out, 0);
        plan.routes[r].retain(|&j| {
            let stays = at < start || at >= start + span || (kept > 0 && at >= skip && at < skip + kept);
            at += 1;
            if !stays {
                out.push(j);
            }
            stays
        });
    }

    /// Puts the customers of `out` back, each where it costs least, with up to `routes_max` routes; those for whom there
    /// is no room stay in `out`.
    pub fn recreate(&mut self, plan: &mut Plan<W>, routes_max: usize, rng: &mut Rng) {
        self.sort_out(rng);
        let mut left = 0;
        for k in 0..self.out.len() {
            let j = self.out[k];
            let open = plan.routes.len() < routes_max;
            let alone = if open { plan.d(0, j) + plan.d(j, 0) } else { f64::INFINITY };
            match self.best_place(plan, j, alone, rng) {
                Some((r, p)) => {
                    plan.routes[r].insert(p, j);
                    plan.refresh(r);
                }
                None if open => {
                    plan.routes.push(vec![j]);
                    plan.loads.push(0);
                    plan.refresh(plan.routes.len() - 1);
                }
                None => {
                    self.out[left] = j;
                    left += 1;
                }
            }
        }
        self.out.truncate(left);
    }

    /// The order in which customers are put back: by chance, the large, the far, the near, the urgent or the early first.
    fn sort_out(&mut self, rng: &mut Rng) {
        let vrptw = self.vrptw;
        let pick = rng.below(17);
        let keys = &mut self.keys;
        keys.clear();
        for &j in &self.out {
            let i = j as usize;
            let key = match pick {
                0..4 => rng.unit(),
                4..8 => -f64::from(vrptw.demand[i]),
                8..10 => -vrptw.distance[i],
                10 => vrptw.distance[i],
                11..13 => vrptw.due[i] - vrptw.ready[i],
                13..15 => vrptw.ready[i],
                _ => -vrptw.due[i],
            };
            keys.push((key, j));
        }
        keys.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        self.out.clear();
        self.out.extend(keys.iter().map(|&(_, j)| j));
    }

    /// The cheapest place for `j` that costs less than `bound`, now and then overlooking one.
    fn best_place(&mut self, plan: &Plan<W>, j: u16, bound: f64, rng: &mut Rng) -> Option<(usize, usize)> {
        let (vrptw, jj) = (self.vrptw, j as usize);
        let (ready, due, service) = (vrptw.ready[jj], vrptw.due[jj] - CLEAR, vrptw.service[jj]);
        let (to, from) = (vrptw.towards(jj), &vrptw.distance[jj * vrptw.n..][..vrptw.n]);
        let (mut best, mut found) = (bound, None);
        for (r, route) in plan.routes.iter().enumerate() {
            if plan.loads[r] + vrptw.demand[jj] > vrptw.capacity {
                continue;
            }
            let mut i = 0usize;
            for p in 0..=route.len() {
                let k = route.get(p).map_or(0, |&k| k as usize);
                let arrives = plan.leaves[i] + to[i];
                if arrives > due {
                    if plan.leaves[i] > due {
                        break;
                    }
                    i = k;
                    continue;
                }
                let cost = to[i] + from[k] - vrptw.distance[i * vrptw.n + k];
                if cost < best && arrives.max(ready) + service + from[k] <= plan.latest[k] {
                    if self.until_blink == 0 {
                        self.until_blink = rng.below(2 * BLINK);
                    } else {
                        self.until_blink -= 1;
                        best = cost;
                        found = Some((r, p));
                    }
                }
                i = k;
            }
        }
        found
    }
}
