//! Local search on finished tours: what `Problem::improve` does to the result of a playout.
//!
//! A `Plan` is a tour as routes, with the earliest departure from every customer and the latest start of its service:
//! whether the head of one route can be followed by the tail of another is then one comparison. `descend` makes the
//! better of neighbouring plans until there is none: it swaps tails (2-opt*), and moves or exchanges up to `SEGMENT`
//! consecutive customers between two routes (relocate, exchange, cross-exchange) or within one (Or-opt). What leaves
//! the valley that a descent ends in, and what takes routes away, is in `ruin.rs`.

use super::ruin::Ruin;
use super::{Objective, State, Vrptw};
use sortie_core::{Domain, Problem, Rng};

/// The longest run of customers that is moved at once.
const SEGMENT: usize = 3;
/// Customers that are tried next to each other: so many of the nearest.
const NEAR: usize = 20;
/// A change must be worth more than the rounding of its sums.
const GAIN_MIN: f64 = 1e-7;
/// Sums from the far end of a route round otherwise than those of `play`: stay clear of the windows by less than
/// `ROUNDING`, which `play` allows.
pub const CLEAR: f64 = super::ROUNDING / 2.0;

/// A better tour than the one that `end` has driven, or none.
pub fn improve<const W: usize>(vrptw: &Vrptw<W>, end: &State<W>, rng: &mut Rng) -> Option<Vec<u16>> {
    let mut plan = Plan::new(vrptw, &end.tour);
    let near = Near::new(vrptw);
    plan.descend(&near);
    Ruin::new(vrptw).run(&mut plan, rng);
    plan.descend(&near);

    let state = drive(vrptw, &plan)?;
    (vrptw.score(&state) > vrptw.score(end)).then_some(state.tour)
}

/// The end of the tour that a plan describes.
pub fn drive<const W: usize>(vrptw: &Vrptw<W>, plan: &Plan<W>) -> Option<State<W>> {
    let mut routes: Vec<&Vec<u16>> = plan.routes.iter().collect();
    // Customers beyond the fleet are dear: the shortest routes come last.
    if routes.len() > vrptw.fleet as usize {
        routes.sort_by_key(|route| std::cmp::Reverse(route.len()));
    }
    let mut state = vrptw.initial();
    for route in routes {
        for &j in route {
            if !vrptw.reaches(&state, j as usize) {
                return None; // a difference of roundings: as good as impossible, but `play` trusts its caller
            }
            vrptw.play(&mut state, j);
        }
        vrptw.play(&mut state, 0);
    }
    Some(state)
}

/// `near[i]`: the customers that can follow `i`, the nearest first.
pub struct Near(Vec<Vec<u16>>);

impl Near {
    pub fn new<const W: usize>(vrptw: &Vrptw<W>) -> Near {
        let n = vrptw.n;
        let row = |i: usize| {
            let mut others: Vec<u16> =
                (1..n as u16).filter(|&j| j as usize != i && vrptw.select.follows(i, j as usize)).collect();
            others.sort_by(|&a, &b| {
                vrptw.distance[i * n + a as usize].total_cmp(&vrptw.distance[i * n + b as usize])
            });
            others.truncate(NEAR);
            others
        };
        Near((0..n).map(row).collect())
    }
}

/// A tour as routes. Tables by customer have an entry for the depot as well, which stands for both ends of any route.
pub struct Plan<'a, const W: usize> {
    pub vrptw: &'a Vrptw<W>,
    /// The customers of each vehicle. Empty routes exist within a change only.
    pub routes: Vec<Vec<u16>>,
    /// `loads[r]` is what vehicle `r` carries.
    pub loads: Vec<u32>,
    /// The route of a customer and its place in it.
    pub route: Vec<u16>,
    pub place: Vec<u16>,
    /// When the vehicle leaves a customer at the earliest; of the depot its opening.
    pub leaves: Vec<f64>,
    /// When the service of a customer must have begun, for the rest of the route to be in time; of the depot never:
    /// `due` of every customer leaves time for the way home.
    pub latest: Vec<f64>,
    /// On board up to and including a customer.
    carried: Vec<u32>,
    scratch: [Vec<u16>; 2],
}

impl<'a, const W: usize> Plan<'a, W> {
    pub fn new(vrptw: &'a Vrptw<W>, tour: &[u16]) -> Self {
        let n = vrptw.n;
        let routes: Vec<Vec<u16>> =
            tour.split(|&j| j == 0).filter(|route| !route.is_empty()).map(<[u16]>::to_vec).collect();
        let mut plan = Plan {
            vrptw,
            loads: vec![0; routes.len()],
            routes,
            route: vec![0; n],
            place: vec![0; n],
            leaves: vec![vrptw.ready[0]; n],
            latest: vec![f64::INFINITY; n],
            carried: vec![0; n],
            scratch: [Vec::new(), Vec::new()],
        };
        for r in 0..plan.routes.len() {
            plan.refresh(r);
        }
        plan
    }

    /// Becomes a copy of another plan, in the memory there is.
    pub fn copy_from(&mut self, other: &Self) {
        self.routes.clone_from(&other.routes);
        self.loads.clone_from(&other.loads);
        self.route.clone_from(&other.route);
        self.place.clone_from(&other.place);
        self.leaves.clone_from(&other.leaves);
        self.latest.clone_from(&other.latest);
        self.carried.clone_from(&other.carried);
    }

    pub fn twin(&self) -> Self {
        let mut twin = Plan::new(self.vrptw, &[]);
        twin.copy_from(self);
        twin
    }

    #[inline]
    pub fn d(&self, i: u16, j: u16) -> f64 {
        self.vrptw.distance[i as usize * self.vrptw.n + j as usize]
    }

    /// The distance of all routes.
    pub fn distance(&self) -> f64 {
        let route = |route: &Vec<u16>| {
            let mut at = 0;
            let mut sum = 0.0;
            for &j in route {
                sum += self.d(at, j);
                at = j;
            }
            sum + self.d(at, 0)
        };
        self.routes.iter().map(route).sum()
    }

    /// Computes the tables of a route again.
    pub fn refresh(&mut self, r: usize) {
        let vrptw = self.vrptw;
        let (mut at, mut load) = (0, 0);
        for p in 0..self.routes[r].len() {
            let j = self.routes[r][p];
            let i = j as usize;
            load += vrptw.demand[i];
            self.leaves[i] =
                (self.leaves[at as usize] + self.d(at, j)).max(vrptw.ready[i]) + vrptw.service[i];
            (self.route[i], self.place[i], self.carried[i]) = (r as u16, p as u16, load);
            at = j;
        }
        self.loads[r] = load;
        let mut next = 0;
        for p in (0..self.routes[r].len()).rev() {
            let j = self.routes[r][p];
            let rest = self.latest[next as usize] - self.d(j, next) - vrptw.service[j as usize];
            self.latest[j as usize] = rest.min(vrptw.due[j as usize] - CLEAR);
            next = j;
        }
    }

    /// The customer at a place of a route; the depot before the first and behind the last.
    #[inline]
    fn at(&self, r: usize, p: usize) -> u16 {
        self.routes[r].get(p).copied().unwrap_or(0)
    }

    #[inline]
    fn before(&self, r: usize, p: usize) -> u16 {
        if p == 0 { 0 } else { self.routes[r][p - 1] }
    }

    /// Whether a vehicle that leaves `from` as early as it can may serve `segment` and then go on with `next`.
    fn in_time(&self, from: u16, segment: &[u16], next: u16) -> bool {
        let vrptw = self.vrptw;
        let (mut at, mut time) = (from, self.leaves[from as usize]);
        for &j in segment {
            let i = j as usize;
            let arrives = time + self.d(at, j);
            if arrives > vrptw.due[i] - CLEAR {
                return false;
            }
            time = arrives.max(vrptw.ready[i]) + vrptw.service[i];
            at = j;
        }
        time + self.d(at, next) <= self.latest[next as usize]
    }

    /// Changes the plan for the better until no neighbour is better.
    pub fn descend(&mut self, near: &Near) {
        loop {
            let mut changed = false;
            let mut r = 0;
            while r < self.routes.len() {
                let mut p = 0;
                while r < self.routes.len() && p <= self.routes[r].len() {
                    if self.improve_gap(near, r, p) {
                        changed = true;
                    } else {
                        p += 1;
                    }
                }
                r += 1;
            }
            if !changed {
                return;
            }
        }
    }

    /// Tries to put somebody near into the gap before place `p` of route `r`, in the ways there are.
    fn improve_gap(&mut self, near: &Near, r: usize, p: usize) -> bool {
        let pred = self.before(r, p);
        let close = if pred != 0 { pred } else { self.at(r, p) };
        for &v in &near.0[close as usize] {
            let (s, q) = (self.route[v as usize] as usize, self.place[v as usize] as usize);
            let done = if s == r {
                self.shift(r, p, q)
            } else {
                self.swap_tails(r, p, s, q) || self.exchange(r, p, s, q)
            };
            if done {
                self.drop_empty();
                return true;
            }
        }
        false
    }

    fn drop_empty(&mut self) {
        for r in (0..self.routes.len()).rev() {
            if self.routes[r].is_empty() {
                self.remove_route(r);
            }
        }
    }

    /// Takes a route away; another one gets its number. Gives its customers.
    pub fn remove_route(&mut self, r: usize) -> Vec<u16> {
        let route = self.routes.swap_remove(r);
        self.loads.swap_remove(r);
        if r < self.routes.len() {
            self.refresh(r);
        }
        route
    }

    /// What an empty route is worth.
    fn vehicle(&self) -> f64 {
        if self.vrptw.objective == Objective::Vehicles { self.vrptw.vehicle_cost } else { 0.0 }
    }

    /// 2-opt*: route `r` up to place `p` goes on as `s` does from place `q`, and the other way round.
    fn swap_tails(&mut self, r: usize, p: usize, s: usize, q: usize) -> bool {
        let (i, j) = (self.before(r, p), self.before(s, q));
        let (k, l) = (self.at(r, p), self.at(s, q));
        let mut change = self.d(i, l) + self.d(j, k) - self.d(i, k) - self.d(j, l);
        if i == 0 && l == 0 || j == 0 && k == 0 {
            change -= self.vehicle();
        }
        let (head, other) = (self.carried[i as usize], self.carried[j as usize]);
        if change > -GAIN_MIN
            || head + self.loads[s] - other > self.vrptw.capacity
            || other + self.loads[r] - head > self.vrptw.capacity
            || !self.in_time(i, &[], l)
            || !self.in_time(j, &[], k)
        {
            return false;
        }
        self.replace(r, p..self.routes[r].len(), s, q..self.routes[s].len());
        true
    }

    /// Exchanges some customers of `r` from place `p` on, possibly none, with one or more of `s` from place `q` on.
    fn exchange(&mut self, r: usize, p: usize, s: usize, q: usize) -> bool {
        let (i, j) = (self.before(r, p), self.before(s, q));
        let (from_r, from_s) = (self.routes[r].len() - p, self.routes[s].len() - q);
        let v = self.at(s, q);
        for n_s in 1..=from_s.min(SEGMENT) {
            let (end_s, next_s) = (self.at(s, q + n_s - 1), self.at(s, q + n_s));
            let weight_s = self.carried[end_s as usize] - self.carried[j as usize];
            for n_r in 0..=from_r.min(SEGMENT) {
                let next_r = self.at(r, p + n_r);
                let (first_r, end_r) =
                    if n_r == 0 { (next_s, j) } else { (self.at(r, p), self.at(r, p + n_r - 1)) };
                let mut change = self.d(i, v) + self.d(end_s, next_r) - self.d(j, v) - self.d(end_s, next_s);
                change += if n_r == 0 {
                    self.d(j, next_s) - self.d(i, next_r)
                } else {
                    self.d(j, first_r) + self.d(end_r, next_s) - self.d(i, first_r) - self.d(end_r, next_r)
                };
                if n_r == 0 && n_s == self.routes[s].len() {
                    change -= self.vehicle();
                }
                if change > -GAIN_MIN {
                    continue;
                }
                let weight_r =
                    if n_r == 0 { 0 } else { self.carried[end_r as usize] - self.carried[i as usize] };
                if self.loads[r] + weight_s - weight_r <= self.vrptw.capacity
                    && self.loads[s] + weight_r - weight_s <= self.vrptw.capacity
                    && self.in_time(i, &self.routes[s][q..q + n_s], next_r)
                    && self.in_time(j, &self.routes[r][p..p + n_r], next_s)
                {
                    self.replace(r, p..p + n_r, s, q..q + n_s);
                    return true;
                }
            }
        }
        false
    }

    /// Exchanges two pieces of two routes.
    fn replace(&mut self, r: usize, of_r: std::ops::Range<usize>, s: usize, of_s: std::ops::Range<usize>) {
        let [mut a, mut b] = std::mem::take(&mut self.scratch);
        a.clear();
        a.extend_from_slice(&self.routes[r][of_r.clone()]);
        b.clear();
        b.extend_from_slice(&self.routes[s][of_s.clone()]);
        self.routes[r].splice(of_r, b.iter().copied());
        self.routes[s].splice(of_s, a.iter().copied());
        self.scratch = [a, b];
        self.refresh(r);
        self.refresh(s);
    }

    /// Or-opt: moves one or more customers from place `q` on into the gap before place `p` of the same route.
    fn shift(&mut self, r: usize, p: usize, q: usize) -> bool {
        let len = self.routes[r].len();
        let (i, k) = (self.before(r, p), self.at(r, p));
        for n in 1..=SEGMENT.min(len - q) {
            if (q..=q + n).contains(&p) {
                continue;
            }
            let (j, v, end, next) =
                (self.before(r, q), self.at(r, q), self.at(r, q + n - 1), self.at(r, q + n));
            let change = self.d(i, v) + self.d(end, k) + self.d(j, next)
                - self.d(i, k)
                - self.d(j, v)
                - self.d(end, next);
            if change > -GAIN_MIN {
                continue;
            }
            let mut order = std::mem::take(&mut self.scratch[0]);
            order.clone_from(&self.routes[r]);
            if p < q {
                order[p..q + n].rotate_right(n)
            } else {
                order[q..p].rotate_left(n)
            }
            let fits = self.in_time(0, &order, 0);
            if fits {
                std::mem::swap(&mut order, &mut self.routes[r]);
                self.refresh(r);
            }
            self.scratch[0] = order;
            if fits {
                return true;
            }
        }
        false
    }
}

/// Routes and distance after a descent, and after a second one.
#[cfg(test)]
pub fn descents<const W: usize>(vrptw: &Vrptw<W>, tour: &[u16]) -> ((usize, f64), (usize, f64)) {
    let (mut plan, near) = (Plan::new(vrptw, tour), Near::new(vrptw));
    let mut descend = || {
        plan.descend(&near);
        (plan.routes.len(), plan.distance())
    };
    (descend(), descend())
}
