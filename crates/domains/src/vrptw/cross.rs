//! A child of two plans: some routes of the one, those of the other that go with them, and the rest put back.
//!
//! Routes near a random customer are taken from the second plan in the place of as many of the first that share most
//! customers with them (in the manner of the selective route exchange of Nagata, Bräysy and Dullaert, "A penalty-based
//! edge assembly memetic algorithm", 2010, and of Koch and others' SREX). Whoever would then be served twice stays in the
//! new routes; whoever is in none goes to `out`, for `Ruin::recreate`.

use super::local::Plan;
use sortie_core::Rng;

/// Makes `child`, a copy of one parent, take over routes of `other`. Those in no route are left in `out`.
pub fn cross<const W: usize>(child: &mut Plan<W>, other: &Plan<W>, out: &mut Vec<u16>, rng: &mut Rng) {
    let (vrptw, n) = (child.vrptw, child.vrptw.n);
    let routes = child.routes.len();
    out.clear();
    // The routes of the other plan by their distance from a random customer.
    let centre = 1 + rng.below(n - 1);
    let close = |route: &Vec<u16>| {
        route.iter().map(|&j| vrptw.distance[centre * n + j as usize]).fold(f64::INFINITY, f64::min)
    };
    let mut given: Vec<(f64, usize)> = other.routes.iter().map(close).zip(0..).collect();
    given.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    given.truncate(1 + rng.below((routes / 2).max(1)));

    let mut taken = vec![false; n];
    given.iter().flat_map(|&(_, s)| &other.routes[s]).for_each(|&j| taken[j as usize] = true);
    // As many routes of the child go: those that lose the largest part of their customers.
    let kept = |route: &Vec<u16>| {
        let kept = route.iter().filter(|&&j| !taken[j as usize]).count();
        (kept as f64 / route.len() as f64, kept)
    };
    let mut order: Vec<(f64, usize, usize)> =
        child.routes.iter().enumerate().map(|(r, route)| (kept(route).0, kept(route).1, r)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut leave: Vec<usize> = order.iter().take(given.len()).map(|&(_, _, r)| r).collect();
    leave.sort_unstable_by(|a, b| b.cmp(a));
    for r in leave {
        out.extend(child.remove_route(r).into_iter().filter(|&j| !taken[j as usize]));
    }
    for r in (0..child.routes.len()).rev() {
        let before = child.routes[r].len();
        child.routes[r].retain(|&j| !taken[j as usize]);
        if child.routes[r].is_empty() {
            child.remove_route(r);
        } else if child.routes[r].len() < before {
            child.refresh(r);
        }
    }
    for &(_, s) in &given {
        child.routes.push(other.routes[s].clone());
        child.loads.push(0);
        child.refresh(child.routes.len() - 1);
    }
}
