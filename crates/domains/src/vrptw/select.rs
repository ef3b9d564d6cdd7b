//! What a policy search is offered, and how it is biased.
//!
//! The paper discards a candidate city that makes another one unreachable. With many vehicles nothing is ever out of
//! reach for good and, taken by the letter for the vehicle at hand, the rule throws away most good tours: it is here
//! narrowed to customers that lie on the way. A candidate `j` is cut when there is another candidate `k` such that
//! this vehicle can serve `k` and then `j`, cannot serve `j` and then `k`, and the way by `k` is longer than the
//! straight way by less than `WAY` times the mean distance between two places. If that cuts all, none is cut. Going
//! home is offered when there is no other choice. Routes may come in any order, so much of what is cut is only
//! postponed, but not all: the best known routes of R102, some of which end while a customer could still be added,
//! are in no order among the choices. All legal moves (`selective` off) lose nothing.

use super::{State, Vrptw, set::Set};
use sortie_core::Choices;

/// How far off the way a customer may lie and still come first, in mean distances between two places.
const WAY: f64 = 0.2;
/// The tables of the ways take a set for every two places: above this number of places nothing is cut.
const PLACES_MAX: usize = 256;

/// Tables of what can follow what.
#[derive(Debug, Default)]
pub struct Select<const W: usize> {
    /// `follow[i]`: whom a vehicle can serve after `i` if it leaves as early as can be.
    follow: Vec<Set<W>>,
    /// `sure[i]`: those it can serve even if it leaves `i` as late as can be.
    sure: Vec<Set<W>>,
    /// The distinct demands, in increasing order, and `fits[c]`: the customers with one of the `c` smallest.
    demands: Vec<u32>,
    fits: Vec<Set<W>>,
    /// By two places, or empty.
    ways: Vec<Way<W>>,
    /// The mean distance between two places.
    unit: f64,
}

/// Who lies on the way from one place to another and would be lost by going straight.
#[derive(Debug, Clone, Copy)]
struct Way<const W: usize> {
    /// At whatever time the vehicle leaves.
    always: Set<W>,
    /// At some times.
    maybe: Set<W>,
}

impl<const W: usize> Select<W> {
    /// The tables of an instance whose own tables are complete.
    pub fn new(vrptw: &Vrptw<W>) -> Select<W> {
        let n = vrptw.n;
        let mut select = Select {
            follow: vec![Set::EMPTY; n],
            sure: vec![Set::EMPTY; n],
            unit: vrptw.distance.iter().sum::<f64>() / (n * (n - 1)) as f64,
            ..Select::default()
        };
        // Everybody in one place: any unit will do, all distances are zero.
        if select.unit <= 0.0 {
            select.unit = 1.0;
        }
        for i in 0..n {
            let (earliest, latest) = departures(vrptw, i);
            for j in (1..n).filter(|&j| j != i) {
                let last = vrptw.leave_by[i * n + j];
                select.follow[i].insert_if(j, earliest <= last);
                select.sure[i].insert_if(j, latest <= last);
            }
        }
        select.demands = vrptw.demand[1..].to_vec();
        select.demands.sort_unstable();
        select.demands.dedup();
        select.fits.push(Set::EMPTY);
        for &demand in &select.demands {
            let mut fits = Set::EMPTY;
            for j in 1..n {
                fits.insert_if(j, vrptw.demand[j] <= demand);
            }
            select.fits.push(fits);
        }
        if n <= PLACES_MAX {
            select.ways = (0..n * n)
                .map(|arc| way(vrptw, &select.follow, select.unit * WAY, arc / n, arc % n))
                .collect();
        }
        select
    }

    /// The customers on offer and their codes; going home if there is none.
    pub fn choices(&self, vrptw: &Vrptw<W>, state: &State<W>, out: &mut Choices<u16>) {
        let at = state.at as usize;
        let row = at * vrptw.n;
        let candidates = self.candidates(vrptw, state);
        let mut kept = candidates;
        if !self.ways.is_empty() {
            candidates.each(|j| {
                let way = &self.ways[row + j];
                if way.always.meets(&candidates) || self.loses(vrptw, state, j, way.maybe.and(&candidates)) {
                    kept.remove(j);
                }
            });
            if kept.is_empty() {
                kept = candidates;
            }
        }
        kept.each(|j| {
            out.moves.push(j as u16);
            out.codes.push((row + j) as u64);
        });
        if kept.is_empty() && at != 0 {
            out.moves.push(0);
            out.codes.push(row as u64);
        }
    }

    /// Whether a vehicle can serve `j` after `i` if it leaves as early as can be.
    pub fn follows(&self, i: usize, j: usize) -> bool {
        self.follow[i].has(j)
    }

    /// The mean distance between two places.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Those whom the vehicle can serve next.
    #[inline]
    fn candidates(&self, vrptw: &Vrptw<W>, state: &State<W>) -> Set<W> {
        let at = state.at as usize;
        let room = vrptw.capacity - state.load;
        let smaller = self.demands.iter().rev().skip_while(|&&demand| demand > room).count();
        let open = state.left.and(&self.follow[at]).and(&self.fits[smaller]);
        let mut candidates = open.and(&self.sure[at]);
        open.without(&self.sure[at]).each(|j| {
            candidates.insert_if(j, state.time <= vrptw.leave_by[at * vrptw.n + j]);
        });
        candidates
    }

    /// Whether one of `others` can be served before `j` and not after it.
    #[inline]
    fn loses(&self, vrptw: &Vrptw<W>, state: &State<W>, j: usize, others: Set<W>) -> bool {
        let n = vrptw.n;
        !others.is_empty() && {
            let leaves = vrptw.leaves(state, j);
            others.any(|k| {
                leaves > vrptw.leave_by[j * n + k] && vrptw.leaves(state, k) <= vrptw.leave_by[k * n + j]
            })
        }
    }

    /// GNRPA's prior: near is better than far, soon better than late, urgent better than not. The weights were tuned by
    /// hand on R101, R102 and R103.
    pub fn bias(&self, vrptw: &Vrptw<W>, state: &State<W>, j: usize) -> f64 {
        if j == 0 {
            return 0.0;
        }
        let at = state.at as usize;
        let distance = vrptw.distance[at * vrptw.n + j];
        let arrives = state.time + distance;
        let begins = arrives.max(vrptw.ready[j]);
        let (waiting, slack) = (begins - arrives, vrptw.due[j] - begins);
        let [far, late, patient] = if at == 0 { FIRST } else { NEXT };
        -(far * distance + late * waiting + patient * slack) / self.unit
    }
}

/// The weights of distance, waiting and slack: for the first customer of a vehicle, and for the others.
const FIRST: [f64; 3] = [2.0, 8.0, 2.0];
const NEXT: [f64; 3] = [6.0, 2.4, 0.8];

/// The earliest and the latest moment at which a vehicle can leave a place.
fn departures<const W: usize>(vrptw: &Vrptw<W>, i: usize) -> (f64, f64) {
    let opens = vrptw.ready[0];
    if i == 0 {
        return (opens, opens);
    }
    ((opens + vrptw.distance[i]).max(vrptw.ready[i]) + vrptw.service[i], vrptw.due[i] + vrptw.service[i])
}

/// Who lies on the way from `i` to `j`, at most `detour` off it, and is lost by going straight.
fn way<const W: usize>(vrptw: &Vrptw<W>, follow: &[Set<W>], detour: f64, i: usize, j: usize) -> Way<W> {
    let (n, mut way) = (vrptw.n, Way { always: Set::EMPTY, maybe: Set::EMPTY });
    if !follow[i].has(j) {
        return way;
    }
    let distance = |a: usize, b: usize| vrptw.distance[a * n + b];
    let last = |a: usize, b: usize| vrptw.leave_by[a * n + b];
    let leaves = |time: f64, k: usize| (time + distance(i, k)).max(vrptw.ready[k]) + vrptw.service[k];
    let (earliest, latest) = departures(vrptw, i);
    let latest = latest.min(last(i, j));
    follow[i].each(|k| {
        if k == j || distance(i, k) + distance(k, j) - distance(i, j) >= detour {
            return;
        }
        // `k` is lost after a certain departure and can come first before another; both are monotone in time.
        let lost = |time: f64| leaves(time, j) > last(j, k);
        let first = |time: f64| time <= last(i, k) && leaves(time, k) <= last(k, j);
        way.always.insert_if(k, lost(earliest) && first(latest));
        way.maybe.insert_if(k, lost(latest) && first(earliest));
    });
    way.maybe = way.maybe.without(&way.always);
    way
}
