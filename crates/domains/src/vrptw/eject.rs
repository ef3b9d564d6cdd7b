//! Ejections: room for a customer who fits nowhere, made by sending others to wait instead.
//!
//! The customer is put into some gap of some route and one or two others of that route are taken out so that the rest
//! is in time and not too heavy: those who have waited least so far, and only if together they have waited less than the
//! one who goes in (Nagata and Bräysy, "A powerful route minimization heuristic for the vehicle routing problem with
//! time windows", 2009). Unlike theirs, at most two are ejected, and between two ejections routes are not disturbed by
//! random moves: the rounds of `ruin.rs` do that.

use super::local::{CLEAR, Plan};
use sortie_core::Rng;

/// In routes longer than this only one customer is ejected: pairs are too many.
const PAIRS_MAX: usize = 24;

/// The cheapest ejection so far.
struct Swap {
    r: usize,
    gap: usize,
    out: [usize; 2],
    outs: usize,
    cost: u32,
    ties: usize,
}

/// Puts `j` into the plan in exchange for customers that have waited less, and adds those to `out`. Ties are broken at
/// random.
pub fn insert<const W: usize>(
    plan: &mut Plan<W>,
    j: u16,
    waited: &[u32],
    out: &mut Vec<u16>,
    rng: &mut Rng,
) -> bool {
    let mut best = Swap { r: 0, gap: 0, out: [0; 2], outs: 0, cost: waited[j as usize], ties: 0 };
    for r in 0..plan.routes.len() {
        for gap in 0..=plan.routes[r].len() {
            search(plan, j, r, gap, waited, &mut best, rng);
        }
    }
    if best.ties == 0 {
        return false;
    }
    let route = &mut plan.routes[best.r];
    let mut gap = best.gap;
    for &p in best.out[..best.outs].iter().rev() {
        out.push(route.remove(p));
        gap -= usize::from(p < gap);
    }
    route.insert(gap, j);
    plan.refresh(best.r);
    true
}

/// Tries to eject one or two of route `r` for `j` in a gap of it.
fn search<const W: usize>(
    plan: &Plan<W>,
    j: u16,
    r: usize,
    gap: usize,
    waited: &[u32],
    best: &mut Swap,
    rng: &mut Rng,
) {
    let (route, vrptw) = (&plan.routes[r], plan.vrptw);
    let over = (plan.loads[r] + vrptw.demand[j as usize]).saturating_sub(vrptw.capacity);
    let cost = |p: usize| waited[route[p] as usize];
    for a in 0..route.len() {
        let first = cost(a);
        if first > best.cost || first == best.cost && best.outs == 0 {
            continue;
        }
        let light = vrptw.demand[route[a] as usize] >= over;
        if light && fits(plan, j, r, gap, [a, a]) {
            offer(best, Swap { r, gap, out: [a, a], outs: 1, cost: first, ties: 1 }, rng);
            continue;
        }
        if route.len() > PAIRS_MAX {
            continue;
        }
        for b in a + 1..route.len() {
            let both = first + cost(b);
            if both > best.cost || both == best.cost && best.outs == 0 {
                continue;
            }
            let weight = vrptw.demand[route[a] as usize] + vrptw.demand[route[b] as usize];
            if weight >= over && fits(plan, j, r, gap, [a, b]) {
                offer(best, Swap { r, gap, out: [a, b], outs: 2, cost: both, ties: 1 }, rng);
            }
        }
    }
}

fn offer(best: &mut Swap, swap: Swap, rng: &mut Rng) {
    if swap.cost < best.cost || best.ties == 0 {
        *best = swap;
    } else {
        let ties = best.ties + 1;
        if rng.below(ties) == 0 {
            *best = swap;
        }
        best.ties = ties;
    }
}

/// Whether route `r` is in time with `j` in its gap and without the customers at two places.
fn fits<const W: usize>(plan: &Plan<W>, j: u16, r: usize, gap: usize, out: [usize; 2]) -> bool {
    let (route, vrptw) = (&plan.routes[r], plan.vrptw);
    // All before the first change is as it was.
    let start = gap.min(out[0]);
    let mut at = if start == 0 { 0 } else { route[start - 1] };
    let mut time = plan.leaves[at as usize];
    let end = gap.max(out[1] + 1);
    #[allow(clippy::needless_range_loop)] // places, some of them between two customers
    for p in start..=end {
        if p == gap {
            match drive(plan, at, j, time) {
                Some(leaves) => (at, time) = (j, leaves),
                None => return false,
            }
        }
        if p == end {
            break;
        }
        if p != out[0] && p != out[1] {
            match drive(plan, at, route[p], time) {
                Some(leaves) => (at, time) = (route[p], leaves),
                None => return false,
            }
        }
    }
    // All behind the last change must only be reached early enough.
    match route.get(end) {
        Some(&next) => time + plan.d(at, next) <= plan.latest[next as usize],
        None => time + plan.d(at, 0) <= vrptw.due[0] - CLEAR,
    }
}

/// When a vehicle that leaves `at` at some time leaves `j`, if it is in time there.
#[inline]
fn drive<const W: usize>(plan: &Plan<W>, at: u16, j: u16, time: f64) -> Option<f64> {
    let (vrptw, i) = (plan.vrptw, j as usize);
    let arrives = time + plan.d(at, j);
    (arrives <= vrptw.due[i] - CLEAR).then(|| arrives.max(vrptw.ready[i]) + vrptw.service[i])
}
