//! Selection: from the root to a leaf, or to a node that needs another move. One function for each way of choosing.
//!
//! JL-PNS follows the proof number of the side to move (Wu et al. 2013), JL-UCT the upper confidence bound (Wei et al.
//! 2015), PN-UCT adds the rank by proof number to it (PN-MCTS, Kowalski et al. 2023). JL-ABS is an alpha-beta search
//! over the job tree itself, deepened and widened step by step: the walk stops at the first leaf whose value it needs.

use super::nodes::{Step, Tree, UNIT};
use serde::{Deserialize, Serialize};
use sortie_core::Side;

/// How a leaf is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Select {
    /// JL-PNS: the smallest proof number of the side to move.
    Pns,
    /// JL-UCT: the highest upper confidence bound.
    Uct,
    /// JL-ABS: the first leaf that an alpha-beta search needs.
    Abs,
    /// PN-MCTS: the upper confidence bound and the rank by proof number.
    PnUct,
}

impl Select {
    /// All of them, with their names on the command line.
    pub const ALL: [(&'static str, Select); 4] =
        [("pns", Select::Pns), ("uct", Select::Uct), ("abs", Select::Abs), ("pn-uct", Select::PnUct)];
}

/// A node that a job is to be made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// It has no children yet.
    Leaf(usize),
    /// Its children are not enough.
    Rest(usize),
}

/// What selection remembers between calls.
#[derive(Debug, Clone)]
pub(super) struct Selector {
    pub select: Select,
    /// The weight of exploration.
    pub c: f64,
    /// JL-ABS: how deep and how wide the search is by now.
    depth: usize,
}

impl Selector {
    pub fn new(select: Select, c: f64) -> Selector {
        Selector { select, c, depth: 1 }
    }

    /// Where the next job is. `None`: nowhere until an answer comes.
    pub fn find(&mut self, tree: &Tree) -> Option<Found> {
        if !tree.is_open(0) {
            return None;
        }
        match self.select {
            Select::Pns => descend(tree, |id, steps| {
                steps.min_by_key(|&step| tree.step_number(id, step)).expect("an open node has a step")
            }),
            Select::Uct => {
                descend(tree, |id, steps| best(steps.map(|step| (self.bound(tree, id, step), step))))
            }
            Select::PnUct => descend(tree, |id, steps| {
                let mut ranked: Vec<(u64, Step)> =
                    steps.map(|step| (tree.step_number(id, step), step)).collect();
                ranked.sort_by_key(|&(number, _)| number);
                let ranks = ranked.chunk_by(|a, b| a.0 == b.0).count() as f64;
                let mut rank = 0.0;
                let mut before = None;
                best(ranked.into_iter().map(|(number, step)| {
                    rank += f64::from(before.is_some_and(|b| b != number));
                    before = Some(number);
                    (self.bound(tree, id, step) + self.c * (1.0 - rank / ranks), step)
                }))
            }),
            Select::Abs => self.alpha_beta(tree),
        }
    }

    /// The upper confidence bound of a step, for the side to move.
    fn bound(&self, tree: &Tree, id: usize, step: Step) -> f64 {
        let node = &tree.nodes[id];
        let (visits, value) = match step {
            Step::Child(c) => {
                let child = &tree.nodes[c];
                let visits = (child.visits + child.virtual_visits).max(1) as f64;
                (visits, (child.sum + child.virtual_sum) as f64 / UNIT / visits)
            }
            Step::Rest => (1.0, tree.statuses.value[node.rest_status as usize]),
        };
        let total = ((node.visits + node.virtual_visits).max(1) as f64).ln();
        node.mover.view(value) + self.c * (total / visits).sqrt()
    }

    /// Deepens until a job is needed. While answers are out the next depths are searched ahead of time, with what
    /// the reserved leaves count as.
    fn alpha_beta(&mut self, tree: &Tree) -> Option<Found> {
        let mut ahead = 0;
        loop {
            let mut walk = Walk { tree, width: 1 + self.depth + ahead, waiting: false };
            if let Err(found) = walk.value(0, self.depth + ahead, 0.0, 1.0) {
                return Some(found);
            }
            if walk.waiting {
                ahead += 1;
                if ahead > AHEAD_MAX {
                    return None;
                }
            } else {
                // Nothing is out and nothing is needed: an open root has a leaf at some depth.
                self.depth += 1 + ahead;
                ahead = 0;
            }
        }
    }
}

/// Depths that JL-ABS searches while it waits.
const AHEAD_MAX: usize = 3;

/// From the root down to the first node that needs a job.
fn descend(tree: &Tree, choose: impl Fn(usize, &mut dyn Iterator<Item = Step>) -> Step) -> Option<Found> {
    let flags = tree.policy.flags();
    let mut id = 0;
    loop {
        let node = &tree.nodes[id];
        if flags && node.blocked {
            return None;
        }
        if node.children.is_empty() {
            return node.leaf_job.is_none().then_some(Found::Leaf(id));
        }
        match choose(id, &mut tree.steps(id)) {
            Step::Child(child) => id = child,
            Step::Rest => return node.rest_job.is_none().then_some(Found::Rest(id)),
        }
    }
}

/// The step with the highest mark, the first of equals.
fn best(marked: impl Iterator<Item = (f64, Step)>) -> Step {
    let better = |a: (f64, Step), b: (f64, Step)| if b.0 > a.0 { b } else { a };
    marked.reduce(better).expect("an open node has a step").1
}

/// One alpha-beta search.
struct Walk<'a> {
    tree: &'a Tree,
    /// Children of a node that are looked at.
    width: usize,
    /// A leaf or a sibling under way was met that the search would have needed.
    waiting: bool,
}

impl Walk<'_> {
    /// The value of a node for the first side, or the job that is needed to know it.
    fn value(&mut self, id: usize, depth: usize, alpha: f64, beta: f64) -> Result<f64, Found> {
        let tree = self.tree;
        let node = &tree.nodes[id];
        if let Some(value) = node.bounds.value() {
            return Ok(value.number());
        }
        if !tree.is_open(id) {
            return Ok(if node.bounds.low >= tree.ask { 1.0 } else { 0.0 });
        }
        if node.children.is_empty() {
            return match node.leaf_job {
                Some(_) => {
                    self.waiting |= depth > 0;
                    Ok(tree.virtual_value(id).unwrap_or(node.value))
                }
                None if depth > 0 => Err(Found::Leaf(id)),
                None => Ok(node.value),
            };
        }
        if depth == 0 {
            return Ok(node.value);
        }
        let (mut alpha, mut beta) = (alpha, beta);
        let mut best = node.mover.view(0.0);
        // What looks best goes first: the more is cut off.
        let mut children = node.children.clone();
        children.sort_by(|&a, &b| {
            let seen = |c: usize| node.mover.view(tree.nodes[c].value);
            seen(b).total_cmp(&seen(a))
        });
        for child in children {
            let value = self.value(child, depth - 1, alpha, beta)?;
            match node.mover {
                Side::First => {
                    best = best.max(value);
                    alpha = alpha.max(best);
                }
                Side::Second => {
                    best = best.min(value);
                    beta = beta.min(best);
                }
            }
            if alpha >= beta {
                return Ok(best);
            }
        }
        let open = tree.open_children(id).count();
        if open < self.width && tree.rest_option(id) {
            if node.rest_job.is_none() {
                return Err(Found::Rest(id));
            }
            self.waiting = true;
        }
        Ok(best)
    }
}
