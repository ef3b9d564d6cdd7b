//! A tree that is asked what to evaluate and told what came of it: the search of an expensive evaluation.
//!
//! Every node is evaluated once, by whoever was given its job, in whatever order the answers come. What is in flight counts
//! as in our own searches (`Counting::Mixed`): as visits that leave the mean as it is where they are few beside those
//! that came back, and the more as lost ones the more they are. So hundreds may be in flight without all going one way.
//!
//! Two kinds of tree. In a listed one an answer says which children the node has; a job is a leaf. In a grown one a job is
//! a child to be made of a node, and a node may have about `width * visits ^ growth` of them (progressive widening).
//! This file knows no Python: states and moves are numbers into tables of `tree_py`.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// How a tree chooses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Rules {
    /// The weight of exploration.
    pub c: f64,
    /// Choose by priors (PUCT) rather than by visits alone (UCB1).
    pub prior: bool,
    /// The least and the largest value; `None`: what was seen so far.
    pub range: Option<(f64, f64)>,
    /// Two players in turn; values are the first one's.
    pub two: bool,
    /// A grown tree: children of a node with n visits are `width * n ^ growth`, at least one.
    pub grown: Option<(f64, f64)>,
    /// An end is asked for again and again: evaluations differ from time to time.
    pub noisy: bool,
    pub counting: Counting,
    /// The weight of the best value below a node beside the mean: 0 for games, more where the best is all that counts.
    pub greed: f64,
}

/// How answers that have not come yet are counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    Ignore,
    VirtualLoss,
    Unobserved,
    Mixed,
}

impl Counting {
    /// What is left of the mean of so many visits with so many in flight.
    fn weight(self, visits: f64, flying: f64) -> f64 {
        match self {
            Counting::VirtualLoss => visits / (visits + flying),
            Counting::Mixed => visits / (visits + flying * flying / (visits + flying)),
            Counting::Unobserved | Counting::Ignore => 1.0,
        }
    }
}

pub const NONE: u32 = u32::MAX;

/// A position of the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Node {
    pub parent: u32,
    pub depth: u32,
    pub children: Vec<u32>,
    /// Answers below it, its own among them, and their sum.
    pub visits: u32,
    pub sum: f64,
    /// Jobs below it that are out.
    pub flying: u32,
    /// Of them, children that are being made of this node.
    pub making: u32,
    /// The share of its parent's prior.
    pub prior: f32,
    /// Its own answer.
    pub value: Option<f64>,
    /// The best value below it, for whoever moves here.
    pub best: f64,
    /// Its exact value.
    pub proven: Option<f64>,
    /// Its job is out.
    pub out: bool,
    /// The second player moves here.
    pub second: bool,
}

/// A job that is out.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Flight {
    /// The leaf, or in a grown tree the node that a child is made of.
    pub node: u32,
}

/// What an answer says of the children of a node.
pub struct Offspring {
    pub count: usize,
    /// One a child, or none at all.
    pub priors: Vec<f64>,
}

/// The tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tree {
    pub rules: Rules,
    pub nodes: Vec<Node>,
    pub out: HashMap<u64, Flight>,
    pub next_job: u64,
    pub told: u64,
    pub dropped: u64,
    pub seen: (f64, f64),
}

impl Tree {
    pub fn new(rules: Rules) -> Tree {
        let seen = (f64::INFINITY, f64::NEG_INFINITY);
        let mut tree =
            Tree { rules, nodes: Vec::new(), out: HashMap::new(), next_job: 0, told: 0, dropped: 0, seen };
        tree.add(NONE, 1.0);
        tree
    }

    fn add(&mut self, parent: u32, prior: f32) -> u32 {
        let depth = if parent == NONE { 0 } else { self.nodes[parent as usize].depth + 1 };
        self.nodes.push(Node {
            parent,
            depth,
            children: Vec::new(),
            visits: 0,
            sum: 0.0,
            flying: 0,
            making: 0,
            prior,
            value: None,
            best: f64::NEG_INFINITY,
            proven: None,
            out: false,
            second: self.rules.two && depth % 2 == 1,
        });
        (self.nodes.len() - 1) as u32
    }

    fn node(&self, id: u32) -> &Node {
        &self.nodes[id as usize]
    }

    /// A job, or `None` if nothing can be asked for until answers come, or ever.
    pub fn ask(&mut self) -> Option<(u64, Flight)> {
        let node = self.select(0)?;
        let grown = self.rules.grown.is_some() && self.node(node).value.is_some();
        if grown {
            self.nodes[node as usize].making += 1;
        } else {
            self.nodes[node as usize].out = true;
        }
        self.fly(node, true);
        let (id, flight) = (self.next_job, Flight { node });
        self.next_job += 1;
        self.out.insert(id, flight);
        Some((id, flight))
    }

    /// Marks a job on its way to the root.
    fn fly(&mut self, node: u32, starts: bool) {
        let mut at = node;
        while at != NONE {
            let here = &mut self.nodes[at as usize];
            here.flying = if starts { here.flying + 1 } else { here.flying.saturating_sub(1) };
            at = here.parent;
        }
    }

    /// The leaf to evaluate, or the node to make a child of. Where the best way is blocked by jobs that are out, the next
    /// best is taken.
    fn select(&self, from: u32) -> Option<u32> {
        // Most of the time the best way is open: no list is made.
        let mut at = from;
        loop {
            match self.here(at) {
                Here::This => return Some(at),
                Here::Nothing => break,
                Here::Below => match self.best_child(at) {
                    Some(child) => at = child,
                    None => break,
                },
            }
        }
        self.select_around(from)
    }

    fn select_around(&self, at: u32) -> Option<u32> {
        // A stack of the ways not yet tried, the best last.
        let mut ways = vec![at];
        while let Some(at) = ways.pop() {
            match self.here(at) {
                Here::This => return Some(at),
                Here::Nothing => {}
                Here::Below => {
                    let mut order: Vec<(f64, u32)> =
                        self.open_children(at).map(|child| (self.worth(at, child), child)).collect();
                    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                    ways.extend(order.into_iter().map(|(_, child)| child));
                }
            }
        }
        None
    }

    fn here(&self, at: u32) -> Here {
        let node = self.node(at);
        if node.proven.is_some() {
            return Here::Nothing;
        }
        if node.value.is_none() {
            return if node.out { Here::Nothing } else { Here::This };
        }
        match self.rules.grown {
            Some((width, growth)) => {
                let visits = f64::from(node.visits + node.flying).max(1.0);
                let room = (width * visits.powf(growth)).max(1.0) as usize;
                let wanted = node.children.len() + (node.making as usize) < room;
                if wanted || node.children.is_empty() { Here::This } else { Here::Below }
            }
            // An end whose evaluations differ is asked for again.
            None if node.children.is_empty() => {
                if node.out {
                    Here::Nothing
                } else {
                    Here::This
                }
            }
            None => Here::Below,
        }
    }

    fn open_children(&self, at: u32) -> impl Iterator<Item = u32> {
        let closed = |child: &u32| self.node(*child).proven.is_some();
        self.node(at).children.iter().copied().filter(move |child| !closed(child))
    }

    fn best_child(&self, at: u32) -> Option<u32> {
        let (mut best, mut most) = (None, f64::NEG_INFINITY);
        for child in self.open_children(at) {
            let worth = self.worth(at, child);
            if worth > most {
                (best, most) = (Some(child), worth);
            }
        }
        best
    }

    /// How much a child should be looked at, for whoever moves at `at`.
    fn worth(&self, at: u32, child: u32) -> f64 {
        let (above, node) = (self.node(at), self.node(child));
        let flying = if self.rules.counting == Counting::Ignore { 0 } else { node.flying };
        let (visits, flying) = (f64::from(node.visits), f64::from(flying));
        let tried = visits + flying;
        let arrived = f64::from(above.visits)
            + if self.rules.counting == Counting::Ignore { 0.0 } else { f64::from(above.flying) };
        let mean = if visits > 0.0 {
            let mean = self.scaled(node.sum / visits, above.second);
            let best = self.scaled(node.best, above.second);
            (mean + self.rules.greed * (best - mean)) * self.rules.counting.weight(visits, flying)
        } else {
            // Nothing has come back: what its parent is worth, or nothing once somebody is on the way.
            let parent = if above.visits > 0 {
                self.scaled(above.sum / f64::from(above.visits), above.second)
            } else {
                0.5
            };
            parent * self.rules.counting.weight(1.0, flying)
        };
        if self.rules.prior {
            mean + self.rules.c * f64::from(node.prior) * arrived.max(1.0).sqrt() / (1.0 + tried)
        } else if tried == 0.0 {
            // Every child once, in their order of priors.
            1e6 + f64::from(node.prior)
        } else {
            mean + self.rules.c * (arrived.max(1.0).ln() / tried).sqrt()
        }
    }

    /// A value in `0..=1` for whoever moves.
    fn scaled(&self, value: f64, second: bool) -> f64 {
        let (low, high) = self.rules.range.unwrap_or(self.seen);
        let share = if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
        if second { 1.0 - share } else { share }
    }

    /// Takes the answer of a job. In a grown tree the node that it made is returned.
    pub fn tell(
        &mut self,
        job: u64,
        value: f64,
        offspring: Option<Offspring>,
        exact: bool,
        second: Option<bool>,
    ) -> Option<u32> {
        let Flight { node } = self.out.remove(&job)?;
        self.fly(node, false);
        self.told += 1;
        let makes = self.rules.grown.is_some() && self.node(node).value.is_some();
        let target = if makes {
            self.nodes[node as usize].making -= 1;
            let child = self.add(node, 0.0);
            self.nodes[node as usize].children.push(child);
            child
        } else {
            self.nodes[node as usize].out = false;
            node
        };
        if let Some(second) = second {
            self.nodes[target as usize].second = second;
        }
        self.seen = (self.seen.0.min(value), self.seen.1.max(value));
        let fresh = self.node(target).value.is_none();
        if fresh || self.rules.noisy {
            self.nodes[target as usize].value = Some(value);
        }
        if let Some(offspring) = offspring.filter(|_| self.node(target).children.is_empty()) {
            let total: f64 = offspring.priors.iter().sum();
            let even = 1.0 / offspring.count.max(1) as f64;
            for i in 0..offspring.count {
                let prior = match offspring.priors.get(i) {
                    Some(prior) if total > 0.0 => prior / total,
                    _ => even,
                };
                let child = self.add(target, prior as f32);
                self.nodes[target as usize].children.push(child);
            }
        }
        self.back_up(target, value);
        let end = self.rules.grown.is_none() && self.node(target).children.is_empty() && !self.rules.noisy;
        if exact || end {
            self.prove(target, value);
        }
        Some(target)
    }

    fn back_up(&mut self, from: u32, value: f64) {
        let mut at = from;
        while at != NONE {
            let parent = self.node(at).parent;
            // The best for whoever chose to come here.
            let second = parent != NONE && self.node(parent).second;
            let here = &mut self.nodes[at as usize];
            let better = here.visits == 0 || if second { value < here.best } else { value > here.best };
            if better {
                here.best = value;
            }
            here.visits += 1;
            here.sum += value;
            at = parent;
        }
    }

    /// Takes an exact value up as far as it decides anything.
    fn prove(&mut self, from: u32, value: f64) {
        self.nodes[from as usize].proven = Some(value);
        if self.rules.grown.is_some() {
            return;
        }
        let mut at = self.node(from).parent;
        while at != NONE {
            let here = self.node(at);
            let best_possible = self.rules.range.map(|(low, high)| if here.second { low } else { high });
            let mut exact: Option<f64> = None;
            let mut all = true;
            for &child in &here.children {
                match self.node(child).proven {
                    None => all = false,
                    Some(value) => {
                        let better = |known: f64| if here.second { value < known } else { value > known };
                        if exact.is_none_or(better) {
                            exact = Some(value);
                        }
                    }
                }
            }
            let decided = exact.filter(|&value| all || best_possible == Some(value));
            let Some(value) = decided else { return };
            self.nodes[at as usize].proven = Some(value);
            at = self.node(at).parent;
        }
    }

    /// Gives a job back; false if it is not out.
    pub fn give_back(&mut self, job: u64) -> bool {
        let Some(Flight { node }) = self.out.remove(&job) else { return false };
        self.fly(node, false);
        self.dropped += 1;
        let makes = self.rules.grown.is_some() && self.node(node).value.is_some();
        let here = &mut self.nodes[node as usize];
        if makes && here.making > 0 {
            here.making -= 1;
        } else {
            here.out = false;
        }
        true
    }

    /// The node with the best answer of its own.
    pub fn best(&self) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for (i, node) in self.nodes.iter().enumerate() {
            if let Some(value) = node.value
                && best.is_none_or(|(most, _)| value > most)
            {
                best = Some((value, i as u32));
            }
        }
        best.map(|(_, id)| id)
    }

    /// The nodes from the root along the children that were visited most; proved ones by their value.
    pub fn line(&self) -> Vec<u32> {
        let mut line = vec![0];
        loop {
            let here = self.node(*line.last().expect("begins at the root"));
            let rank = |&child: &u32| {
                let node = self.node(child);
                let view = |v: f64| if here.second { -v } else { v };
                let sure = match (here.proven, node.proven) {
                    (Some(here), Some(value)) if here == value => 1,
                    _ => 0,
                };
                // Of two proved alike the visits do not matter.
                (sure, node.visits, view(node.sum / f64::from(node.visits.max(1))))
            };
            let best = here.children.iter().copied().filter(|&c| self.node(c).visits > 0).max_by(|a, b| {
                let (a, b) = (rank(a), rank(b));
                a.0.cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.total_cmp(&b.2))
            });
            match best {
                Some(child) => line.push(child),
                None => return line,
            }
        }
    }

    /// The moves from the root to a node, as indices of children.
    pub fn path(&self, node: u32) -> Vec<u32> {
        let mut path = vec![node];
        while self.node(*path.last().expect("not empty")).parent != NONE {
            path.push(self.node(*path.last().expect("not empty")).parent);
        }
        path.reverse();
        path
    }

    /// Whether all numbers of nodes are those of nodes, parents before their children: what is read back may be damaged.
    pub fn is_sound(&self) -> bool {
        let nodes = self.nodes.len();
        let mut sound = self.nodes.first().is_some_and(|root| root.parent == NONE && root.depth == 0);
        for (i, node) in self.nodes.iter().enumerate() {
            let parent = self.nodes.get(node.parent as usize);
            sound &= i == 0
                || (node.parent as usize) < i && parent.is_some_and(|above| above.depth + 1 == node.depth);
            sound &= node
                .children
                .iter()
                .all(|&c| (c as usize) < nodes && self.nodes[c as usize].parent as usize == i);
        }
        sound && self.out.values().all(|flight| (flight.node as usize) < nodes)
    }

    /// Whether the accounts agree: what is wrong, or nothing.
    pub fn audit(&self) -> Option<String> {
        for (i, node) in self.nodes.iter().enumerate() {
            let below: u64 = node.children.iter().map(|&c| u64::from(self.node(c).visits)).sum();
            let own = u64::from(node.visits) - below.min(u64::from(node.visits));
            if !self.rules.noisy && own != u64::from(node.value.is_some()) {
                return Some(format!("node {i}: {} visits, {below} below it", node.visits));
            }
            let flying: u32 = node.children.iter().map(|&c| self.node(c).flying).sum();
            if node.flying != flying + node.making + u32::from(node.out) {
                return Some(format!("node {i}: {} in flight, {flying} below it", node.flying));
            }
        }
        let root = self.node(0);
        if u64::from(root.visits) != self.told || root.flying as usize != self.out.len() {
            return Some(format!("root: {} visits of {} told", root.visits, self.told));
        }
        (self.next_job != self.told + self.dropped + self.out.len() as u64).then(|| "jobs are missing".into())
    }
}

enum Here {
    /// Ask for this one.
    This,
    /// Go on below.
    Below,
    /// There is nothing to ask for.
    Nothing,
}
