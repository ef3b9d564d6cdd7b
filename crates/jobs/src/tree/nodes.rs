//! The tree: what is proved of every node (`bounds`), what is guessed of it (status, proof numbers, means), and which
//! jobs are out. Everything guessed is computed from the children, the status and the reservations alone, so that a
//! reservation that is taken back leaves the numbers exactly as they would be without it.
//!
//! Only some moves of a node have children. What is known of all others together is `rest`: the most that any of them
//! can give to the side to move. It starts at a win and is lowered by completed sibling jobs only.

use serde::{Deserialize, Serialize};
use sortie_core::JobId;
use sortie_core::Side;
use sortie_core::exact::{Bounds, Value};
use sortie_core::exact::{Status, Statuses};
use std::collections::HashMap;

/// What a reserved leaf counts as until its job comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// As before, but it is not selected again.
    Flag,
    /// As proved.
    VirtualWin,
    /// As disproved.
    VirtualLoss,
    /// As proved if that looks easier, else as disproved.
    Greedy,
    /// As if the expected children were there with the numbers of the leaf itself.
    Ve,
    /// Both: the published winner.
    VeFlag,
}

impl Policy {
    /// All of them, with their names on the command line.
    pub const ALL: [(&'static str, Policy); 6] = [
        ("flag", Policy::Flag),
        ("virtual-win", Policy::VirtualWin),
        ("virtual-loss", Policy::VirtualLoss),
        ("greedy", Policy::Greedy),
        ("ve", Policy::Ve),
        ("ve-flag", Policy::VeFlag),
    ];

    /// Reserved leaves are passed over by selection.
    pub(super) fn flags(self) -> bool {
        matches!(self, Policy::Flag | Policy::VeFlag)
    }

    /// A sibling that is under way counts already.
    fn expects(self) -> bool {
        matches!(self, Policy::Ve | Policy::VeFlag)
    }
}

/// More than any sum of proof numbers.
pub(super) const INFINITE: u64 = u64::MAX >> 8;
/// Means are sums of whole numbers, so that what is added can be taken back exactly.
pub(super) const UNIT: f64 = (1u64 << 20) as f64;

/// The work to prove and to disprove what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub proof: u64,
    pub disproof: u64,
}

impl Numbers {
    const PROVED: Numbers = Numbers { proof: 0, disproof: INFINITE };
    const DISPROVED: Numbers = Numbers { proof: INFINITE, disproof: 0 };

    fn of(decided: bool) -> Numbers {
        if decided { Numbers::PROVED } else { Numbers::DISPROVED }
    }

    /// The number that the side to move wants to be small: the proof number of the first side.
    pub fn for_side(self, side: Side) -> u64 {
        match side {
            Side::First => self.proof,
            Side::Second => self.disproof,
        }
    }
}

/// What a bound of a node rests on, as it was when the bound was found: so no proof rests on itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// Nothing yet.
    Open,
    /// The game is over here.
    End,
    /// An answer.
    Claim,
    /// The move to this child.
    Child(usize),
    /// All children, and the answers about all other moves.
    All,
    /// A node with the same position.
    Twin(usize),
}

pub(super) struct Node {
    /// Itself for the root.
    pub parent: usize,
    /// The move that leads here; empty for the root.
    pub word: Box<str>,
    pub mover: Side,
    /// Legal moves; 0: the game is over.
    pub legal: usize,
    pub children: Vec<usize>,
    /// Equal for nodes with equal states.
    pub identity: u128,
    /// What is proved of the node other than by its children, for the first side.
    pub base: Bounds,
    /// All that is proved of it, for the first side.
    pub bounds: Bounds,
    /// What `bounds.low` and `bounds.high` rest on.
    pub why: [Why; 2],
    /// The most that a move without a child can give to the side to move, as that side sees it.
    pub rest: Value,
    /// What a worker thinks of the position, and of the moves without a child.
    pub status: Status,
    pub rest_status: Status,
    /// The same in `0..=1`, for the first side.
    pub value: f64,
    /// The jobs that are out.
    pub leaf_job: Option<JobId>,
    pub rest_job: Option<JobId>,
    /// Guesses, reservations included.
    pub numbers: Numbers,
    /// Nothing below can be selected until a job comes back.
    pub blocked: bool,
    /// Answers in the subtree and the sum of their values, in `1 / UNIT`.
    pub visits: u64,
    pub sum: i64,
    /// What the reservations in the subtree add to them.
    pub virtual_visits: u64,
    pub virtual_sum: i64,
    /// Nodes of the subtree, itself included.
    pub size: u64,
}

/// What is known of a position when it gets its node.
pub(super) struct Fresh {
    pub word: Box<str>,
    pub mover: Side,
    pub legal: usize,
    pub end: Option<Value>,
    pub identity: u128,
    pub status: Status,
    pub value: f64,
}

/// Where selection goes from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Child(usize),
    /// A move that has no child yet.
    Rest,
}

pub(super) struct Tree {
    pub nodes: Vec<Node>,
    pub statuses: Statuses,
    pub policy: Policy,
    /// What is asked now: is the root worth at least this to the first side?
    pub ask: Value,
    /// Two answers that were believed cannot both be true.
    pub contradiction: bool,
    /// The nodes of a position.
    twins: HashMap<u128, Vec<usize>>,
    /// Nodes whose bounds have changed and whose twins have not heard of it.
    news: Vec<usize>,
}

impl Tree {
    pub fn new(root: Fresh, statuses: Statuses, policy: Policy, ask: Value) -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            statuses,
            policy,
            ask,
            contradiction: false,
            twins: HashMap::new(),
            news: Vec::new(),
        };
        tree.insert(0, root);
        tree.refresh(0);
        tree
    }

    fn insert(&mut self, parent: usize, fresh: Fresh) -> usize {
        let id = self.nodes.len();
        let base = fresh.end.map_or(Bounds::OPEN, Bounds::exactly);
        let why = if fresh.end.is_some() { Why::End } else { Why::Open };
        self.nodes.push(Node {
            parent,
            word: fresh.word,
            mover: fresh.mover,
            legal: fresh.legal,
            children: Vec::new(),
            identity: fresh.identity,
            base,
            bounds: base,
            why: [why; 2],
            rest: Value::Win,
            status: fresh.status,
            rest_status: fresh.status,
            value: fresh.value,
            leaf_job: None,
            rest_job: None,
            numbers: Numbers::PROVED,
            blocked: false,
            visits: 0,
            sum: 0,
            virtual_visits: 0,
            virtual_sum: 0,
            size: 1,
        });
        let twins = self.twins.entry(fresh.identity).or_default();
        let solved = twins.iter().copied().find(|&t| self.nodes[t].bounds != Bounds::OPEN);
        twins.push(id);
        if let Some(twin) = solved {
            self.learn(id, self.nodes[twin].bounds, Why::Twin(twin));
        }
        id
    }

    /// A child of `parent`, with one visit of its value. The caller refreshes.
    pub fn add_child(&mut self, parent: usize, fresh: Fresh) -> usize {
        let value = (fresh.value * UNIT).round() as i64;
        self.nodes[parent].rest_status = fresh.status;
        let id = self.insert(parent, fresh);
        self.nodes[parent].children.push(id);
        self.up(id, |node| {
            node.visits += 1;
            node.sum += value;
        });
        self.up(parent, |node| node.size += 1);
        id
    }

    /// Something is proved of a node otherwise than by its children. The caller refreshes.
    pub fn learn(&mut self, id: usize, bounds: Bounds, why: Why) {
        let node = &mut self.nodes[id];
        let Some(both) = node.base.meet(bounds) else {
            self.contradiction = true;
            return;
        };
        node.base = both;
        // Only what is news gets a new reason: the old one is older than everything that rests on it.
        if both.low > node.bounds.low {
            (node.bounds.low, node.why[0]) = (both.low, why);
        }
        if both.high < node.bounds.high {
            (node.bounds.high, node.why[1]) = (both.high, why);
        }
        if node.bounds.low > node.bounds.high {
            self.contradiction = true;
        }
    }

    /// Computes a node and all above it anew, and then the twins of those of which more is known than before.
    pub fn refresh(&mut self, id: usize) {
        self.news.push(id);
        self.refresh_path(id);
        while let Some(id) = self.news.pop() {
            let bounds = self.nodes[id].bounds;
            let twins = &self.twins[&self.nodes[id].identity];
            if bounds == Bounds::OPEN || twins.len() == 1 {
                continue;
            }
            for twin in twins.clone() {
                let known = self.nodes[twin].bounds;
                if twin != id && (bounds.low > known.low || bounds.high < known.high) {
                    self.learn(twin, bounds, Why::Twin(id));
                    self.news.push(twin);
                    self.refresh_path(twin);
                }
            }
        }
    }

    fn refresh_path(&mut self, mut id: usize) {
        loop {
            let before = self.nodes[id].bounds;
            self.prove(id);
            if self.nodes[id].bounds != before {
                self.news.push(id);
            }
            self.nodes[id].numbers = self.numbers_of(id);
            self.nodes[id].blocked = self.is_blocked(id);
            if id == 0 {
                return;
            }
            id = self.nodes[id].parent;
        }
    }

    /// Computes every node anew: after a change of the question. Children have higher numbers than their parents.
    pub fn refresh_all(&mut self) {
        for id in (0..self.nodes.len()).rev() {
            self.nodes[id].numbers = self.numbers_of(id);
            self.nodes[id].blocked = self.is_blocked(id);
        }
    }

    /// The bounds of a node from those of its children and what is known of the other moves.
    fn prove(&mut self, id: usize) {
        let node = &self.nodes[id];
        if node.legal == 0 {
            return;
        }
        let side = node.mover;
        let seen = |c: &usize| self.nodes[*c].bounds.view(side);
        let rest = if node.children.len() < node.legal { node.rest } else { Value::Loss };
        let high = node.children.iter().map(|c| seen(c).high).max().map_or(rest, |high| high.max(rest));
        let best = node.children.iter().copied().max_by_key(|c| (seen(c).low, std::cmp::Reverse(*c)));
        let low = best.map_or(Value::Loss, |c| seen(&c).low);
        let known = node.bounds.view(side);
        // The lower bound of the side to move rests on one move, the upper one on all.
        let (one, all) = if side == Side::First { (0, 1) } else { (1, 0) };
        let (mut now, mut why) = (known, node.why);
        if low > known.low {
            (now.low, why[one]) = (low, Why::Child(best.expect("a move that is worth something")));
        }
        if high < known.high {
            (now.high, why[all]) = (high, Why::All);
        }
        self.contradiction |= now.low > now.high;
        let node = &mut self.nodes[id];
        (node.bounds, node.why) = (now.view(side), why);
    }

    fn numbers_of(&self, id: usize) -> Numbers {
        let node = &self.nodes[id];
        if let Some(decided) = node.bounds.decides(self.ask) {
            return Numbers::of(decided);
        }
        if node.children.is_empty() {
            return self.guess(node.status, node.leaf_job.is_some());
        }
        let rest = self.rest_open(id)
            && (!self.has_frontier(id) || (self.policy.expects() && node.rest_job.is_some()));
        let rest = rest.then(|| self.guess(node.rest_status, node.rest_job.is_some()));
        let options = self.open_children(id).map(|c| self.nodes[c].numbers).chain(rest);
        let (mut proof, mut disproof) = match node.mover {
            Side::First => (INFINITE, 0),
            Side::Second => (0, INFINITE),
        };
        for numbers in options {
            match node.mover {
                Side::First => (proof, disproof) = (proof.min(numbers.proof), disproof + numbers.disproof),
                Side::Second => (proof, disproof) = (proof + numbers.proof, disproof.min(numbers.disproof)),
            }
        }
        Numbers { proof: proof.min(INFINITE), disproof: disproof.min(INFINITE) }
    }

    /// The numbers of a status, as they count while a job is out.
    fn guess(&self, status: Status, reserved: bool) -> Numbers {
        let s = status as usize;
        let numbers =
            Numbers { proof: self.statuses.proof[s].into(), disproof: self.statuses.disproof[s].into() };
        match self.policy {
            Policy::VirtualWin if reserved => Numbers::PROVED,
            Policy::VirtualLoss if reserved => Numbers::DISPROVED,
            Policy::Greedy if reserved => Numbers::of(numbers.proof <= numbers.disproof),
            _ => numbers,
        }
    }

    fn is_blocked(&self, id: usize) -> bool {
        let node = &self.nodes[id];
        if node.children.is_empty() {
            return node.leaf_job.is_some();
        }
        let rest_free = self.rest_option(id) && node.rest_job.is_none();
        !rest_free && self.open_children(id).all(|c| self.nodes[c].blocked)
    }

    /// Whether the question is still open at a node.
    pub fn is_open(&self, id: usize) -> bool {
        self.nodes[id].bounds.decides(self.ask).is_none()
    }

    /// The children at which the question is still open.
    pub fn open_children(&self, id: usize) -> impl Iterator<Item = usize> + '_ {
        self.nodes[id].children.iter().copied().filter(|&c| self.is_open(c))
    }

    /// Whether there may be a move without a child that gives the side to move what it wants.
    pub fn rest_open(&self, id: usize) -> bool {
        let node = &self.nodes[id];
        let wanted = match node.mover {
            Side::First => node.rest >= self.ask,
            Side::Second => node.rest.view(Side::Second) < self.ask,
        };
        wanted && node.children.len() < node.legal
    }

    /// Whether selection may ask for another move: as long as a child waits for its first job, that job comes first
    /// and brings a sibling with it.
    pub fn rest_option(&self, id: usize) -> bool {
        self.rest_open(id) && !self.has_frontier(id)
    }

    fn has_frontier(&self, id: usize) -> bool {
        self.open_children(id).any(|c| self.nodes[c].children.is_empty())
    }

    /// Where selection may go from a node with children.
    pub fn steps(&self, id: usize) -> impl Iterator<Item = Step> + '_ {
        let flags = self.policy.flags();
        let node = &self.nodes[id];
        let children = self.open_children(id).filter(move |&c| !(flags && self.nodes[c].blocked));
        let rest = self.rest_option(id) && !(flags && node.rest_job.is_some());
        children.map(Step::Child).chain(rest.then_some(Step::Rest))
    }

    /// What the side to move wants to be small, for a step.
    pub fn step_number(&self, id: usize, step: Step) -> u64 {
        let node = &self.nodes[id];
        let numbers = match step {
            Step::Child(c) => self.nodes[c].numbers,
            Step::Rest => self.guess(node.rest_status, node.rest_job.is_some()),
        };
        numbers.for_side(node.mover)
    }

    /// What a leaf adds to the means above it while its job is out, for the first side.
    pub fn virtual_value(&self, leaf: usize) -> Option<f64> {
        let node = &self.nodes[leaf];
        // A win or loss of the side that moves here.
        let chooser = self.nodes[node.parent].mover;
        match self.policy {
            Policy::Flag => None,
            Policy::VirtualWin => Some(chooser.view(1.0)),
            Policy::VirtualLoss => Some(chooser.view(0.0)),
            Policy::Greedy => Some(if node.value >= 0.5 { 1.0 } else { 0.0 }),
            Policy::Ve | Policy::VeFlag => Some(node.value),
        }
    }

    /// Does something to a node and all above it.
    pub fn up(&mut self, mut id: usize, mut change: impl FnMut(&mut Node)) {
        loop {
            change(&mut self.nodes[id]);
            if id == 0 {
                return;
            }
            id = self.nodes[id].parent;
        }
    }

    /// Whether the answer to a job on this node still matters.
    pub fn matters(&self, mut id: usize) -> bool {
        loop {
            if !self.is_open(id) {
                return false;
            }
            if id == 0 {
                return true;
            }
            id = self.nodes[id].parent;
        }
    }

    /// The part of the tree below a node, without anything that is out there. The caller asks and refreshes.
    pub fn subtree(mut self, root: usize) -> Tree {
        // Children have higher numbers than their parents, so one pass finds them all.
        let mut places: Vec<Option<usize>> = vec![None; self.nodes.len()];
        let mut nodes = Vec::new();
        for (id, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if id != root && (id < root || places[node.parent].is_none()) {
                continue;
            }
            places[id] = Some(nodes.len());
            if id == root {
                (node.parent, node.word) = (0, "".into());
            } else {
                node.parent = places[node.parent].expect("it was kept");
            }
            nodes.push(node);
        }
        let mut twins: HashMap<u128, Vec<usize>> = HashMap::new();
        for (id, node) in nodes.iter_mut().enumerate() {
            for child in &mut node.children {
                *child = places[*child].expect("a child of a kept node");
            }
            for why in &mut node.why {
                // A proof that is not in this part of the tree any more is an answer from elsewhere.
                *why = match *why {
                    Why::Child(child) => Why::Child(places[child].expect("a child of a kept node")),
                    Why::Twin(twin) => places[twin].map_or(Why::Claim, Why::Twin),
                    why => why,
                };
            }
            twins.entry(node.identity).or_default().push(id);
        }
        Tree { nodes, twins, news: Vec::new(), ..self }
    }

    /// The moves from the root to a node.
    pub fn path(&self, mut id: usize) -> Vec<String> {
        let mut words = Vec::new();
        while id != 0 {
            words.push(self.nodes[id].word.to_string());
            id = self.nodes[id].parent;
        }
        words.reverse();
        words
    }
}
