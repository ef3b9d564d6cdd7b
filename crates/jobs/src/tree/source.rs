//! The job tree as a source of jobs. A selection reserves a leaf and makes two jobs: one on the leaf, one on its parent
//! for another move than those it has (postponed sibling generation). An answer adds one child; a claim that is trusted
//! enough also adds to what is proved. Only what is proved ends the search, and a job that is lost, faulty or cancelled
//! leaves no trace but a count.

use super::nodes::{Fresh, Policy, Tree, UNIT, Why};
use super::select::{Found, Select, Selector};
use serde::{Deserialize, Serialize};
use sortie_core::AnyBoard;
use sortie_core::Side;
use sortie_core::exact::Goal;
use sortie_core::exact::{Answer, Effort, Fault, Job, Kind, Partial, Trust};
use sortie_core::exact::{Bounds, Value};
use sortie_core::exact::{Status, Statuses};
use sortie_core::{JobId, JobSource};
use std::collections::{BTreeMap, HashSet, VecDeque};

/// What is to be found out about the position, for the side to move there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Its value.
    Value,
    /// Does it win?
    Win,
    /// Does it get at least a draw?
    Draw,
}

impl Question {
    /// What is asked, one after the other, where this side is to move: is the position worth at least so much to the
    /// first side?
    pub fn asks(self, side: Side) -> Vec<Value> {
        match (self, side) {
            (Question::Win, Side::First) | (Question::Draw, Side::Second) => vec![Value::Win],
            (Question::Draw, Side::First) | (Question::Win, Side::Second) => vec![Value::Draw],
            (Question::Value, Side::First) => vec![Value::Win, Value::Draw],
            (Question::Value, Side::Second) => vec![Value::Draw, Value::Win],
        }
    }
}

/// How a job tree is grown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What is to be found out.
    pub question: Question,
    /// How a leaf is selected.
    pub select: Select,
    /// What it counts as until its job comes back.
    pub policy: Policy,
    /// Answers after which the search ends.
    pub jobs_max: u64,
    /// The work of one job.
    pub effort: Effort,
    /// What a claim must be at least to count as proved.
    pub trust: Trust,
    /// The weight of exploration (JL-UCT and PN-UCT).
    pub c: f64,
    /// What the statuses stand for.
    #[serde(default)]
    pub statuses: Statuses,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            question: Question::Value,
            select: Select::Pns,
            policy: Policy::VeFlag,
            jobs_max: 10_000,
            effort: Effort { nodes: 10_000, playouts: 0 },
            trust: Trust::Solver,
            c: std::f64::consts::SQRT_2,
            statuses: Statuses::default(),
        }
    }
}

/// Why a search has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The question is answered.
    Decided,
    /// The jobs are used up.
    Jobs,
    /// One job after the other failed.
    Failures,
    /// Two answers that were trusted contradict each other: neither is worth anything.
    Contradiction,
}

/// What happened to the jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Tally {
    /// Answers that were used.
    pub answered: u64,
    /// Jobs that nobody answered.
    pub lost: u64,
    /// Answers that could not be used.
    pub faulty: u64,
    /// Jobs that did not matter any more.
    pub cancelled: u64,
    /// Answers that nobody waited for.
    pub refused: u64,
    /// Claims that were not trusted.
    pub doubted: u64,
    /// Positions that the answers looked at.
    pub nodes: u64,
    /// CPU time of the answers.
    pub seconds: f64,
}

/// A move of the root and what the tree says of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RootMove {
    /// The move.
    pub word: String,
    /// What is proved of it, for the first side.
    pub bounds: Bounds,
    /// What its job thought of it.
    pub status: Status,
    /// Nodes of its subtree.
    pub size: u64,
    /// The mean value of the answers in it, for the first side.
    pub value: f64,
    /// Its numbers.
    pub proof: u64,
    /// Its numbers.
    pub disproof: u64,
}

/// A search for the value of a position by jobs.
pub struct JobTree {
    plan: Plan,
    /// At the root, between calls.
    board: Box<dyn AnyBoard>,
    start: Option<String>,
    /// The moves from the start to the root.
    prefix: Vec<String>,
    tree: Tree,
    selector: Selector,
    /// What is asked, one after the other.
    asks: Vec<Value>,
    out: BTreeMap<JobId, Out>,
    /// Made and not handed out.
    pending: VecDeque<JobId>,
    cancelled: Vec<JobId>,
    next_id: u64,
    tally: Tally,
    /// Failures since the last good answer.
    failures: u64,
}

/// A job that is out.
struct Out {
    node: usize,
    kind: Kind,
    exclude: Vec<String>,
    /// What it added to the means above.
    added: Option<i64>,
}

/// Failures in a row after which a search gives up: whatever does the work is broken.
const FAILURES_MAX: u64 = 1000;

impl JobTree {
    /// A search of the position on the board, which began at `start`.
    pub fn new(board: Box<dyn AnyBoard>, start: Option<String>, plan: Plan) -> JobTree {
        let side = board.to_move();
        let asks = plan.question.asks(side);
        let root = Fresh {
            word: "".into(),
            mover: side,
            legal: board.legal().len(),
            end: board.outcome().map(Value::of),
            identity: board.identity(),
            status: Status::Stable,
            value: 0.5,
        };
        let prefix = board.words().to_vec();
        let tree = Tree::new(root, plan.statuses.clone(), plan.policy, asks[0]);
        let selector = Selector::new(plan.select, plan.c);
        JobTree {
            plan,
            board,
            start,
            prefix,
            tree,
            selector,
            asks,
            out: BTreeMap::new(),
            pending: VecDeque::new(),
            cancelled: Vec::new(),
            next_id: 0,
            tally: Tally::default(),
            failures: 0,
        }
    }

    /// What is proved of the root, for the first side.
    pub fn bounds(&self) -> Bounds {
        self.tree.nodes[0].bounds
    }

    /// The positions whose answers a goal rests on, as moves from the start of the game.
    pub fn rests_on(&self, goal: Goal) -> HashSet<Vec<String>> {
        let which = if goal.side == Side::First { 0 } else { 1 };
        let (mut positions, mut seen, mut stack) = (HashSet::new(), HashSet::new(), vec![0]);
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = &self.tree.nodes[id];
            let mut path = self.prefix.clone();
            path.extend(self.tree.path(id));
            match node.why[which] {
                Why::Open | Why::End => {}
                // Whatever is said of a move was said by an answer about the position before it.
                Why::Claim => {
                    path.pop();
                    positions.insert(path);
                }
                Why::Twin(twin) => stack.push(twin),
                Why::Child(child) => stack.push(child),
                // The moves without a node are those of an answer about the position itself.
                Why::All => {
                    stack.extend(&node.children);
                    positions.insert(path);
                }
            }
        }
        positions
    }

    /// What is proved of the root, as goals: none while nothing is, two for a draw.
    pub fn goals(&self) -> Vec<Goal> {
        let bounds = self.bounds();
        let goals = [Side::First, Side::Second]
            .map(|side| Goal { side, at_least: bounds.view(side).low })
            .into_iter();
        goals.filter(|goal| goal.at_least > Value::Loss).collect()
    }

    /// Who is to move at the root.
    pub fn to_move(&self) -> Side {
        self.tree.nodes[0].mover
    }

    /// Why the search has ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        if self.tree.contradiction {
            return Some(Ended::Contradiction);
        }
        let decided = |ask: &Value| self.bounds().decides(*ask).is_some();
        if self.asks.iter().all(decided) {
            Some(Ended::Decided)
        } else if self.tally.answered >= self.plan.jobs_max {
            Some(Ended::Jobs)
        } else {
            (self.failures >= FAILURES_MAX).then_some(Ended::Failures)
        }
    }

    /// What happened to the jobs.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The plan, as it is followed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Nodes of the tree.
    pub fn nodes(&self) -> usize {
        self.tree.nodes.len()
    }

    /// The proof and disproof number of the root, with what the jobs that are out count as.
    pub fn numbers(&self) -> (u64, u64) {
        let numbers = self.tree.nodes[0].numbers;
        (numbers.proof, numbers.disproof)
    }

    /// Jobs that do not matter any more since this was last asked: whoever works at them may stop.
    pub fn take_cancelled(&mut self) -> Vec<JobId> {
        std::mem::take(&mut self.cancelled)
    }

    /// Whether an answer to this job is waited for.
    pub fn waits(&self, id: JobId) -> bool {
        self.out.contains_key(&id)
    }

    /// A worker tells how its job is going.
    pub fn partial(&mut self, id: JobId, partial: &Partial) {
        let Some(out) = self.out.get(&id) else { return };
        let value = partial.value.unwrap_or(self.plan.statuses.value[partial.status as usize]);
        let node = &mut self.tree.nodes[out.node];
        match out.kind {
            Kind::Leaf if (0.0..=1.0).contains(&value) => (node.status, node.value) = (partial.status, value),
            Kind::Leaf => return,
            Kind::Sibling => node.rest_status = partial.status,
        }
        self.tree.refresh(out.node);
    }

    /// Takes an answer of an earlier session. Answers must come in the order in which they came then.
    pub fn known(&mut self, job: &Job, answer: Answer) -> Result<(), Fault> {
        let below = job.moves.strip_prefix(&self.prefix[..]).ok_or(Fault::Unknown)?;
        let mut node = 0;
        for word in below {
            node = self.child(node, word).ok_or(Fault::Unknown)?;
        }
        self.take(node, &job.exclude, answer)
    }

    /// The moves of the root, the best first: as the playing agents of the papers choose. JL-UCT and JL-ABS play the
    /// largest subtree, JL-PNS the best status and among equals the best ratio of the numbers.
    pub fn root_moves(&self) -> Vec<RootMove> {
        self.moves_at(0)
    }

    /// A move of the root and what the tree expects to follow, and how many of them, from the first on, are made by the
    /// side to move at the root: more than one where a turn has several moves.
    pub fn line(&self, word: &str) -> (Vec<String>, usize) {
        let (mut line, mut own) = (Vec::new(), 0);
        let (mut node, mut next) = (0, Some(word.to_string()));
        while let Some(word) = next {
            let Some(child) = self.child(node, &word) else { break };
            own += usize::from(own == line.len() && self.tree.nodes[node].mover == self.to_move());
            line.push(word);
            node = child;
            next = self.moves_at(node).into_iter().next().map(|m| m.word);
        }
        (line, own)
    }

    /// The search of the position after a move of the root, with all that is known of it; `None` where no answer has
    /// led there. Jobs that are out are forgotten, and the count of jobs begins anew.
    pub fn advance(mut self, word: &str) -> Option<JobTree> {
        let child = self.child(0, word)?;
        let out: Vec<JobId> = self.out.keys().copied().collect();
        out.into_iter().for_each(|id| drop(self.release(id)));
        self.board.play(word).ok()?;
        let prefix = self.board.words().to_vec();
        let asks = self.plan.question.asks(self.board.to_move());
        let mut tree = self.tree.subtree(child);
        let bounds = tree.nodes[0].bounds;
        tree.ask = *asks.iter().find(|ask| bounds.decides(**ask).is_none()).unwrap_or(&asks[0]);
        tree.refresh_all();
        let selector = Selector::new(self.plan.select, self.plan.c);
        let (tally, failures) = (Tally::default(), 0);
        Some(JobTree { prefix, asks, tree, selector, tally, failures, cancelled: Vec::new(), ..self })
    }

    /// Answers after which the search ends, from now on.
    pub fn set_jobs_max(&mut self, jobs_max: u64) {
        self.plan.jobs_max = jobs_max;
    }

    fn child(&self, node: usize, word: &str) -> Option<usize> {
        self.tree.nodes[node].children.iter().copied().find(|&c| *self.tree.nodes[c].word == *word)
    }

    fn moves_at(&self, node: usize) -> Vec<RootMove> {
        let root = &self.tree.nodes[node];
        let mut moves: Vec<RootMove> = root
            .children
            .iter()
            .map(|&c| {
                let child = &self.tree.nodes[c];
                RootMove {
                    word: child.word.to_string(),
                    bounds: child.bounds,
                    status: child.status,
                    size: child.size,
                    value: child.sum as f64 / UNIT / child.visits.max(1) as f64,
                    proof: child.numbers.proof,
                    disproof: child.numbers.disproof,
                }
            })
            .collect();
        let side = root.mover;
        let rank = |m: &RootMove| {
            let seen = m.bounds.view(side);
            let (small, large) = match side {
                Side::First => (m.proof, m.disproof),
                Side::Second => (m.disproof, m.proof),
            };
            let ratio = small as f64 / (large as f64).max(1e-9);
            let status = match side {
                Side::First => m.status as i32,
                Side::Second => 12 - m.status as i32,
            };
            let by_numbers = matches!(self.plan.select, Select::Pns);
            let guess = if by_numbers { (f64::from(status), ratio) } else { (-(m.size as f64), 0.0) };
            // A proved win first, a proved loss last, and what may still be won before a proved draw.
            (std::cmp::Reverse((seen.low == Value::Win, seen.high != Value::Loss, seen.high)), guess)
        };
        moves.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.0.total_cmp(&b.1.0)).then(a.1.1.total_cmp(&b.1.1))
        });
        moves
    }

    /// What the tree plays for whoever reaches `goal`: for every node of the proof the moves from the start to it, and
    /// the move if it is his turn. What rests on answers alone ends there.
    pub fn guide(&self, goal: Goal) -> Vec<(Vec<String>, Option<String>)> {
        let which = if goal.side == Side::First { 0 } else { 1 };
        let mut guide = Vec::new();
        let mut seen = HashSet::new();
        let mut stack = vec![0];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = &self.tree.nodes[id];
            let play = match node.why[which] {
                Why::Open | Why::End | Why::Claim => continue,
                Why::Twin(twin) => {
                    stack.push(twin);
                    continue;
                }
                Why::Child(child) => {
                    stack.push(child);
                    Some(self.tree.nodes[child].word.to_string())
                }
                Why::All => {
                    stack.extend(&node.children);
                    None
                }
            };
            let mut path = self.prefix.clone();
            path.extend(self.tree.path(id));
            guide.push((path, play));
        }
        guide
    }

    /// Reserves what was selected and makes its jobs.
    fn reserve(&mut self, found: Found) {
        match found {
            Found::Rest(node) => self.reserve_rest(node),
            Found::Leaf(leaf) => {
                let added = self.tree.virtual_value(leaf).map(|value| (value * UNIT).round() as i64);
                let id = self.issue(Out { node: leaf, kind: Kind::Leaf, exclude: Vec::new(), added });
                self.tree.nodes[leaf].leaf_job = Some(id);
                if let Some(value) = added {
                    self.tree.up(leaf, |node| {
                        node.virtual_visits += 1;
                        node.virtual_sum += value;
                    });
                }
                let parent = self.tree.nodes[leaf].parent;
                let wanted = leaf != 0 && self.tree.rest_open(parent);
                if wanted && self.tree.nodes[parent].rest_job.is_none() && self.room() {
                    self.reserve_rest(parent);
                }
                self.tree.refresh(leaf);
            }
        }
    }

    fn reserve_rest(&mut self, node: usize) {
        let children = &self.tree.nodes[node].children;
        let exclude = children.iter().map(|&c| self.tree.nodes[c].word.to_string()).collect();
        let id = self.issue(Out { node, kind: Kind::Sibling, exclude, added: None });
        self.tree.nodes[node].rest_job = Some(id);
        self.tree.refresh(node);
    }

    fn issue(&mut self, out: Out) -> JobId {
        let id = JobId(self.next_id);
        self.next_id += 1;
        self.out.insert(id, out);
        self.pending.push_back(id);
        id
    }

    /// Whether another job may be made.
    fn room(&self) -> bool {
        self.tally.answered + (self.out.len() as u64) < self.plan.jobs_max
    }

    /// Takes a reservation back, exactly.
    fn release(&mut self, id: JobId) -> Option<Out> {
        let out = self.out.remove(&id)?;
        self.pending.retain(|&waiting| waiting != id);
        match out.kind {
            Kind::Leaf => self.tree.nodes[out.node].leaf_job = None,
            Kind::Sibling => self.tree.nodes[out.node].rest_job = None,
        }
        if let Some(value) = out.added {
            self.tree.up(out.node, |node| {
                node.virtual_visits -= 1;
                node.virtual_sum -= value;
            });
        }
        self.tree.refresh(out.node);
        Some(out)
    }

    fn job(&self, id: JobId) -> Job {
        let out = &self.out[&id];
        let mut moves = self.prefix.clone();
        moves.extend(self.tree.path(out.node));
        Job {
            start: self.start.clone(),
            moves,
            exclude: out.exclude.clone(),
            ask: self.tree.ask,
            effort: self.plan.effort,
            kind: out.kind,
            priority: if out.kind == Kind::Leaf { 1 } else { 0 },
        }
    }

    /// Takes an answer about a node.
    fn take(&mut self, node: usize, exclude: &[String], answer: Answer) -> Result<(), Fault> {
        let value = answer.value.unwrap_or(self.plan.statuses.value[answer.status as usize]);
        if !(0.0..=1.0).contains(&value) {
            return Err(Fault::Value);
        }
        let child = match &answer.best {
            Some(word) => Some(self.look(node, word, answer.status, value)?),
            None => None,
        };
        if let Some(child) = &child
            && exclude.iter().any(|word| **word == *child.word)
        {
            return Err(Fault::Excluded(child.word.to_string()));
        }
        let mut facts = Vec::new();
        let trust = self.plan.trust;
        for after in answer.after.iter().filter(|after| after.claim.trust >= trust) {
            let bounds = after.claim.bounds;
            let value = (bounds.low.number() + bounds.high.number()) / 2.0;
            facts.push((self.look(node, &after.word, self.plan.statuses.nearest(value), value)?, bounds));
        }
        let claim = answer.claim.filter(|claim| claim.trust >= self.plan.trust);
        self.tally.doubted += u64::from(answer.claim.is_some() && claim.is_none());
        let side = self.tree.nodes[node].mover;
        let seen = claim.map_or(Bounds::OPEN, |claim| claim.bounds.view(side));
        if child.is_none() && seen.high > Value::Loss && self.tree.nodes[node].legal > exclude.len() {
            return Err(Fault::Nothing);
        }
        self.tally.answered += 1;
        self.tally.nodes += answer.nodes;
        self.tally.seconds += answer.seconds;
        self.failures = 0;
        // What holds for all moves but the excluded ones holds for those that are yet to come, because the excluded
        // ones are all among the children, and for the children that were not excluded.
        self.tree.nodes[node].rest = self.tree.nodes[node].rest.min(seen.high);
        let at_most = Bounds { low: Value::Loss, high: seen.high }.view(side);
        let mut touched = vec![node];
        for child in self.tree.nodes[node].children.clone() {
            if at_most != Bounds::OPEN && !exclude.iter().any(|word| **word == *self.tree.nodes[child].word) {
                self.tree.learn(child, at_most, Why::Claim);
                touched.push(child);
            }
        }
        for (fresh, bounds) in child.map(|child| (child, seen.view(side))).into_iter().chain(facts) {
            let there = self.tree.nodes[node].children.iter().copied();
            let mut there = there.filter(|&c| self.tree.nodes[c].word == fresh.word);
            let child = match there.next() {
                Some(child) => child,
                None => self.tree.add_child(node, fresh),
            };
            if bounds != Bounds::OPEN {
                self.tree.learn(child, bounds, Why::Claim);
            }
            touched.push(child);
        }
        for node in touched {
            self.tree.refresh(node);
        }
        self.move_on();
        Ok(())
    }

    /// What a move of a node leads to.
    fn look(&mut self, node: usize, word: &str, status: Status, value: f64) -> Result<Fresh, Fault> {
        let path = self.tree.path(node);
        let board = &mut self.board;
        for word in &path {
            board.play(word).expect("the tree holds legal moves");
        }
        let played = board.play(word);
        let fresh = played.map(|()| Fresh {
            word: board.words().last().expect("a move was played").as_str().into(),
            mover: board.to_move(),
            legal: if board.outcome().is_some() { 0 } else { board.legal().len() },
            end: board.outcome().map(Value::of),
            identity: board.identity(),
            status,
            value,
        });
        for _ in 0..path.len() + usize::from(fresh.is_ok()) {
            board.undo();
        }
        fresh.map_err(|_| Fault::Illegal(word.chars().take(40).collect()))
    }

    /// After an answer: the next question if this one is decided, and the end of the jobs that do not matter any more.
    fn move_on(&mut self) {
        if let Some(&ask) = self.asks.iter().find(|ask| self.bounds().decides(**ask).is_none())
            && ask != self.tree.ask
        {
            self.tree.ask = ask;
            self.tree.refresh_all();
        }
        let idle = |(id, out): (&JobId, &Out)| {
            let matters = self.tree.matters(out.node)
                && match out.kind {
                    Kind::Leaf => self.tree.nodes[out.node].children.is_empty(),
                    Kind::Sibling => self.tree.rest_open(out.node),
                };
            (!matters).then_some(*id)
        };
        let idle: Vec<JobId> = self.out.iter().filter_map(idle).collect();
        for id in idle {
            self.release(id);
            self.cancelled.push(id);
            self.tally.cancelled += 1;
        }
    }
}

#[cfg(test)]
impl JobTree {
    pub(super) fn tree_for_tests(&self) -> &Tree {
        &self.tree
    }

    /// Takes back every job that is out.
    pub(super) fn drop_all_for_tests(&mut self) {
        let all: Vec<JobId> = self.out.keys().copied().collect();
        all.into_iter().for_each(|id| self.lost(id));
    }
}

impl JobSource for JobTree {
    type Job = Job;
    type Answer = Answer;

    fn next(&mut self) -> Option<(JobId, Job)> {
        if self.finished() {
            return None;
        }
        if self.pending.is_empty() && self.room() {
            let found = self.selector.find(&self.tree)?;
            self.reserve(found);
        }
        let id = self.pending.pop_front()?;
        Some((id, self.job(id)))
    }

    fn done(&mut self, id: JobId, answer: Answer) -> bool {
        let Some(out) = self.release(id) else {
            self.tally.refused += 1;
            return false;
        };
        if self.take(out.node, &out.exclude, answer).is_err() {
            self.tally.faulty += 1;
            self.failures += 1;
        }
        true
    }

    fn lost(&mut self, id: JobId) {
        if self.release(id).is_some() {
            self.tally.lost += 1;
            self.failures += 1;
        }
    }

    fn finished(&self) -> bool {
        self.ended().is_some()
    }
}
