//! A search for a proof as a tree that is opened bit by bit: the answers in `jobs.jsonl`, read once and from then on only
//! what was added. What is proved follows from the claims in the answers and from the rules, as in
//! `sortie_jobs::tree`; what only selection needs (reservations) is left out, proof numbers are counted once for all
//! (`numbers`), and every position is played once, so that 100,000 answers are read in a fraction of a second.

use crate::instance::open_instance;
use crate::kind::{JOBS, Kind as Folder};
use crate::lines::read_lines;
use crate::text::read_whole;
use serde::Deserialize;
use sortie_core::Opened;
use sortie_core::exact::{Bounds, Claim, Kind, Status, Trust, Value};
use sortie_core::{AnyBoard, Position, Side, mix};
use sortie_jobs::tree::Plan;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

mod numbers;
pub use numbers::Numbers;

/// More nodes than this are not kept.
const NODES_MAX: usize = 1_000_000;
/// Trees that are kept for the next click.
const TREES_MAX: usize = 4;
/// No node.
const NONE: u32 = u32::MAX;
/// The root.
pub const ROOT: u32 = 0;

/// Logs that are smaller than this are read in no time.
const WARM_BYTES: u64 = 1 << 20;

/// The trees that were looked at last.
#[derive(Default)]
pub struct Forest {
    trees: Mutex<VecDeque<(PathBuf, Arc<Mutex<Tree>>)>>,
    warming: AtomicBool,
}

impl Forest {
    /// Reads the trees that somebody who looks at a list of runs may want to see next, on a thread of its own.
    pub fn warm(self: &Arc<Forest>, folders: impl Iterator<Item = PathBuf>) {
        let large =
            |folder: &PathBuf| std::fs::metadata(folder.join(JOBS)).is_ok_and(|log| log.len() >= WARM_BYTES);
        let folders: Vec<PathBuf> = folders.filter(large).take(TREES_MAX).collect();
        if folders.is_empty() || self.warming.swap(true, Ordering::Relaxed) {
            return;
        }
        let forest = self.clone();
        std::thread::spawn(move || {
            for folder in folders.iter().rev() {
                // What is wrong with it will be said on its page.
                let _ = forest.with(folder, |_| ());
            }
            forest.warming.store(false, Ordering::Relaxed);
        });
    }

    /// Does something with the tree of a folder, which is up to date then.
    pub fn with<T>(&self, folder: &Path, look: impl FnOnce(&mut Tree) -> T) -> Result<T, String> {
        let text = read_whole(&folder.join(Folder::Prove.request()))?;
        let tree = self.find(folder, &text)?;
        let mut tree = lock(&tree);
        match tree.go_on(&folder.join(JOBS)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Another file than the one that was read.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                *tree = Tree::open(folder, &text)?;
                tree.go_on(&folder.join(JOBS)).map_err(|error| format!("{JOBS} cannot be read: {error}"))?;
            }
            Err(error) => return Err(format!("{JOBS} cannot be read: {error}")),
        }
        Ok(look(&mut tree))
    }

    fn find(&self, folder: &Path, text: &str) -> Result<Arc<Mutex<Tree>>, String> {
        let mut trees = lock(&self.trees);
        let known = trees.iter().position(|(path, _)| path == folder);
        let kept = known.and_then(|at| trees.remove(at)).filter(|(_, tree)| lock(tree).request == text);
        let kept = match kept {
            Some(kept) => kept,
            None => (folder.to_path_buf(), Arc::new(Mutex::new(Tree::open(folder, text)?))),
        };
        let tree = kept.1.clone();
        trees.push_front(kept);
        trees.truncate(TREES_MAX);
        Ok(tree)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What a search was asked for, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Request {
    instance: String,
    position: Option<String>,
    #[serde(default)]
    moves: Vec<String>,
    #[serde(default)]
    plan: Plan,
}

/// What a bound rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Open,
    End,
    Claim(Trust),
    Child(u32),
    All,
    Twin(u32),
}

struct Node {
    parent: u32,
    /// Children are a list, the newest first.
    first: u32,
    next: u32,
    depth: u32,
    /// Nodes of the subtree, itself included.
    size: u32,
    /// Answers about this position, and the positions they looked at.
    answers: u32,
    work: u64,
    /// The move that leads here; empty for the root.
    word: Box<str>,
    /// Nodes with equal states are a ring: the next of them, itself if it is the only one.
    twin: u32,
    /// What the answers about the subtree think of it, added up, for the first side: one in `0..=1` a node.
    sum: f64,
    status: Status,
    /// What the last answer thinks of the moves without a node.
    rest_status: Status,
    /// The work that proof and disproof of the question seem to take.
    numbers: Numbers,
    /// The job that found the move.
    kind: Kind,
    mover: Side,
    /// For the first side.
    bounds: Bounds,
    /// What `bounds.low` and `bounds.high` rest on.
    why: [Why; 2],
    /// The most that a move without a node can give to the side to move, as that side sees it.
    rest: Value,
    /// Legal moves, once they were counted.
    legal: Option<u32>,
    state: State,
    /// Something below it is new.
    dirty: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not yet played.
    Unseen,
    Seen,
    /// The game is over here.
    End,
    /// The move is not legal: whoever answered was wrong.
    Faulty,
}

/// A claim of an answer about a node.
struct Claimed {
    /// The move it is about; `NONE` where there is none.
    child: u32,
    claim: Claim,
    /// Whether it is about the position, and not only about the position after the move.
    whole: bool,
    /// Children that the answer left out.
    exclude: Vec<u32>,
    /// Nodes from this one on came later.
    before: u32,
}

/// A tree as a page needs it.
pub struct Tree {
    /// The text of the request it was made from.
    request: String,
    plan: Plan,
    /// The moves from the start to the root.
    prefix: Vec<String>,
    /// At the root, between calls.
    board: Box<dyn AnyBoard>,
    nodes: Vec<Node>,
    /// Nodes by parent and move.
    index: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// A node of every position.
    positions: HashMap<u128, u32, BuildHasherDefault<Mixed>>,
    claims: HashMap<u32, Vec<Claimed>>,
    /// Nodes of which more is proved than their twins know.
    news: Vec<u32>,
    offset: u64,
    /// Answers in all.
    pub answers: u64,
    /// Positions they looked at.
    pub work: u64,
    /// CPU time of them.
    pub seconds: f64,
    /// Lines that are no answers of this search.
    pub skipped: u64,
    /// There are more nodes than are kept.
    pub cut: bool,
    /// Two answers cannot both be true.
    pub contradiction: bool,
}

/// A node for a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its number, which never changes.
    pub id: u32,
    /// The move that leads to it.
    pub word: String,
    /// Moves from the root.
    pub depth: u32,
    /// Moves of it that have nodes.
    pub children: usize,
    /// Nodes below it, itself included.
    pub size: u32,
    /// Who moves there.
    pub mover: Side,
    /// Who made the move that leads there; of the root, who moves there.
    pub chooser: Side,
    /// What is proved of it, for the first side.
    pub bounds: Bounds,
    /// What the worker thought of it.
    pub status: Status,
    /// The mean of what the answers about it and all below it thought, for the first side.
    pub value: f64,
    /// The work that proof and disproof of the question seem to take.
    pub numbers: Numbers,
    /// Positions that the jobs there looked at.
    pub work: u64,
    /// The job that found it, and what the proof rests on.
    pub why: String,
}

impl Tree {
    /// The tree of a folder before its first answer.
    fn open(folder: &Path, text: &str) -> Result<Tree, String> {
        let file = Folder::Prove.request();
        let request: Request =
            toml::from_str(text).map_err(|error| format!("{file} is damaged: {}", error.message()))?;
        let game = match open_instance(folder, &request.instance)? {
            Opened::Game(game) => game,
            Opened::Problem(_) => {
                return Err(format!("{} is a problem for one, not a game for two", request.instance));
            }
        };
        let mut board = game.board(request.position.as_deref()).map_err(|error| error.to_string())?;
        for word in &request.moves {
            board.play(word).map_err(|error| format!("the moves in {file}: {error}"))?;
        }
        let prefix = board.words().to_vec();
        let mut tree = Tree {
            request: text.to_string(),
            plan: request.plan,
            prefix,
            board,
            nodes: Vec::new(),
            index: HashMap::default(),
            positions: HashMap::default(),
            claims: HashMap::new(),
            news: Vec::new(),
            offset: 0,
            answers: 0,
            work: 0,
            seconds: 0.0,
            skipped: 0,
            cut: false,
            contradiction: false,
        };
        tree.add(NONE, "", Kind::Leaf, Status::Stable, 0.5);
        tree.see(ROOT);
        Ok(tree)
    }

    /// Nodes in all.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is such a node.
    pub fn has(&self, id: u32) -> bool {
        (id as usize) < self.nodes.len()
    }

    /// Reads what was added to the log.
    fn go_on(&mut self, path: &Path) -> io::Result<()> {
        let answers = self.answers;
        let reached = read_lines(path, self.offset, u64::MAX, &mut |_, line| {
            if !line.is_empty() && self.take(line).is_none() {
                self.skipped += 1;
            }
        })?;
        self.offset = reached.offset;
        if self.answers > answers {
            self.prove();
            self.claims.clear();
            self.count();
        }
        Ok(())
    }

    /// Takes a line of the log; `None` if it is no answer of this search.
    fn take(&mut self, bytes: &[u8]) -> Option<()> {
        let Line { job, answer } = serde_json::from_slice(bytes).ok()?;
        let (prefix, below) = job.moves.split_at_checked(self.prefix.len())?;
        if !prefix.iter().zip(&self.prefix).all(|(a, b)| a.0 == *b) {
            return None;
        }
        let mut at = ROOT;
        for word in below {
            at = self.child(at, &word.0)?;
        }
        self.answers += 1;
        self.work = self.work.saturating_add(answer.nodes);
        self.seconds += answer.seconds;
        self.node(at).answers += 1;
        self.node(at).work += answer.nodes;
        let opinion = |value: Option<f64>, status: Status, plan: &Plan| {
            value.filter(|value| (0.0..=1.0).contains(value)).unwrap_or(plan.statuses.value[status as usize])
        };
        let value = opinion(answer.value, answer.status, &self.plan);
        let best = answer.best.as_ref().map_or(NONE, |word| {
            let there = self.child(at, &word.0);
            there.unwrap_or_else(|| self.add(at, &word.0, job.kind, answer.status, value))
        });
        let trust = self.plan.trust;
        for after in answer.after.iter().filter(|after| after.claim.trust >= trust) {
            let Bounds { low, high } = after.claim.bounds;
            let value = (low.number() + high.number()) / 2.0;
            let (there, status) = (self.child(at, &after.word.0), self.plan.statuses.nearest(value));
            let child = there.unwrap_or_else(|| self.add(at, &after.word.0, job.kind, status, value));
            let before = self.nodes.len() as u32;
            let claimed = Claimed { child, claim: after.claim, whole: false, exclude: Vec::new(), before };
            self.claims.entry(at).or_default().push(claimed);
        }
        if let Some(claim) = answer.claim.filter(|claim| claim.trust >= trust) {
            // Few answers have one: the moves that were left out are read only then.
            let Excluding { job } = serde_json::from_slice(bytes).ok()?;
            let exclude = job.exclude.iter().filter_map(|word| self.child(at, &word.0)).collect();
            let before = self.nodes.len() as u32;
            self.claims.entry(at).or_default().push(Claimed {
                child: best,
                claim,
                whole: true,
                exclude,
                before,
            });
        }
        let mut id = at;
        while id != NONE && !self.nodes[id as usize].dirty {
            self.node(id).dirty = true;
            id = self.nodes[id as usize].parent;
        }
        Some(())
    }

    fn node(&mut self, id: u32) -> &mut Node {
        &mut self.nodes[id as usize]
    }

    fn child(&self, parent: u32, word: &str) -> Option<u32> {
        let mut key = key(parent, word);
        loop {
            let id = *self.index.get(&key)?;
            let node = &self.nodes[id as usize];
            if node.parent == parent && *node.word == *word {
                return Some(id);
            }
            key = key.wrapping_add(1);
        }
    }

    /// A node for a move; `NONE` if there is no room.
    fn add(&mut self, parent: u32, word: &str, kind: Kind, status: Status, value: f64) -> u32 {
        if self.nodes.len() >= NODES_MAX {
            self.cut = true;
            return NONE;
        }
        let id = self.nodes.len() as u32;
        let (next, depth) = match parent {
            NONE => (NONE, 0),
            _ => {
                let above = self.node(parent);
                (std::mem::replace(&mut above.first, id), above.depth + 1)
            }
        };
        if parent != NONE {
            self.node(parent).rest_status = status;
        }
        self.nodes.push(Node {
            parent,
            first: NONE,
            next,
            depth,
            size: 1,
            answers: 0,
            work: 0,
            word: word.into(),
            twin: id,
            sum: value,
            status,
            rest_status: status,
            numbers: Numbers::OPEN,
            kind,
            mover: Side::First,
            bounds: Bounds::OPEN,
            why: [Why::Open; 2],
            rest: Value::Win,
            legal: None,
            state: State::Unseen,
            dirty: true,
        });
        let mut key = key(parent, word);
        while self.index.contains_key(&key) {
            key = key.wrapping_add(1);
        }
        self.index.insert(key, id);
        let mut above = parent;
        while above != NONE {
            let node = self.node(above);
            node.size += 1;
            node.sum += value;
            above = node.parent;
        }
        id
    }

    fn children(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |id: u32| (id != NONE).then_some(id);
        let first = some(self.nodes[id as usize].first);
        std::iter::successors(first, move |&id| some(self.nodes[id as usize].next))
    }

    /// Plays through all that is new, and finds out what is proved on the way back.
    fn prove(&mut self) {
        // Each node on the way from the root, with the child that is looked at next.
        let mut path = vec![(ROOT, self.nodes[0].first)];
        while let Some((id, next)) = path.last_mut() {
            let (id, at) = (*id, *next);
            if at != NONE {
                *next = self.nodes[at as usize].next;
                if self.nodes[at as usize].dirty && self.enter(at) {
                    path.push((at, self.nodes[at as usize].first));
                }
                continue;
            }
            self.node(id).dirty = false;
            for claimed in self.claims.remove(&id).unwrap_or_default() {
                self.believe(id, &claimed);
            }
            if self.infer(id, true) {
                self.news.push(id);
            }
            if self.asks_for_more(id) {
                // The numbers will ask, and the position is on the board now.
                self.legal(id, true);
            }
            path.pop();
            if id != ROOT {
                self.board.undo();
            }
        }
        self.tell_twins();
    }

    /// Plays the move that leads to a node; false if it is not legal.
    fn enter(&mut self, id: u32) -> bool {
        let node = &mut self.nodes[id as usize];
        if node.state == State::Faulty || self.board.play(&node.word).is_err() {
            (node.state, node.dirty) = (State::Faulty, false);
            return false;
        }
        if node.state == State::Unseen {
            self.see(id);
        }
        true
    }

    /// Looks at the position of a node, which is on the board.
    fn see(&mut self, id: u32) {
        let (mover, outcome, identity) = (self.board.to_move(), self.board.outcome(), self.board.identity());
        let node = self.node(id);
        (node.mover, node.state) = (mover, State::Seen);
        if let Some(outcome) = outcome {
            node.state = State::End;
            node.bounds = Bounds::exactly(Value::of(outcome));
            node.why = [Why::End; 2];
        }
        let known = *self.positions.entry(identity).or_insert(id);
        if known == id {
            return;
        }
        self.nodes[id as usize].twin = std::mem::replace(&mut self.nodes[known as usize].twin, id);
        let solved = self.twins(id).find(|&twin| self.nodes[twin as usize].bounds != Bounds::OPEN);
        if let Some(twin) = solved {
            self.learn(id, self.nodes[twin as usize].bounds, Why::Twin(twin));
        }
    }

    /// The other nodes with the same state.
    fn twins(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |at: u32| Some(self.nodes[at as usize].twin).filter(|&twin| twin != id);
        std::iter::successors(next(id), move |&at| next(at))
    }

    /// Takes a claim about a node and its children.
    fn believe(&mut self, id: u32, claimed: &Claimed) {
        let usable = |child: u32| child == NONE || self.nodes[child as usize].state != State::Faulty;
        if !usable(claimed.child) || claimed.exclude.contains(&claimed.child) {
            return;
        }
        let why = Why::Claim(claimed.claim.trust);
        if claimed.whole {
            let node = self.node(id);
            let side = node.mover;
            let seen = claimed.claim.bounds.view(side);
            // What holds for all moves but those left out holds for the ones that are yet to come.
            node.rest = node.rest.min(seen.high);
            let at_most = Bounds { low: Value::Loss, high: seen.high }.view(side);
            if at_most != Bounds::OPEN {
                let before = |child: &u32| *child < claimed.before && !claimed.exclude.contains(child);
                for child in self.children(id).filter(before).collect::<Vec<_>>() {
                    self.learn(child, at_most, why);
                }
            }
        }
        if claimed.child != NONE {
            self.learn(claimed.child, claimed.claim.bounds, why);
        }
    }

    /// Something is proved of a node otherwise than by its children.
    fn learn(&mut self, id: u32, bounds: Bounds, why: Why) {
        let node = &mut self.nodes[id as usize];
        let before = node.bounds;
        if node.state == State::Faulty {
            return;
        }
        if bounds.low > before.low {
            (node.bounds.low, node.why[0]) = (bounds.low, why);
        }
        if bounds.high < before.high {
            (node.bounds.high, node.why[1]) = (bounds.high, why);
        }
        self.contradiction |= node.bounds.low > node.bounds.high;
        if node.bounds != before {
            self.news.push(id);
        }
    }

    /// What follows from the children of a node and the claims about all other moves. True if that is news.
    /// `here`: the position is on the board.
    fn infer(&mut self, id: u32, here: bool) -> bool {
        let node = &self.nodes[id as usize];
        if matches!(node.state, State::End | State::Faulty) {
            return false;
        }
        let (side, rest) = (node.mover, node.rest);
        let known = node.bounds.view(side);
        let (mut low, mut high, mut best, mut count) = (Value::Loss, Value::Loss, NONE, 0);
        for child in self.children(id) {
            let node = &self.nodes[child as usize];
            if node.state == State::Faulty {
                continue;
            }
            let seen = node.bounds.view(side);
            count += 1;
            high = high.max(seen.high);
            if seen.low >= low {
                (low, best) = (seen.low, child);
            }
        }
        // Whether there are other moves matters only where they could be better than these.
        if rest > high && high < known.high && (count == 0 || count < self.legal(id, here)) {
            high = rest;
        }
        let node = &mut self.nodes[id as usize];
        let (mut now, before) = (known, node.bounds);
        let (one, all) = if side == Side::First { (0, 1) } else { (1, 0) };
        if low > known.low {
            (now.low, node.why[one]) = (low, Why::Child(best));
        }
        if high < known.high {
            (now.high, node.why[all]) = (high, Why::All);
        }
        node.bounds = now.view(side);
        self.contradiction |= now.low > now.high;
        node.bounds != before
    }

    /// The legal moves of a node, counted when it is first asked.
    fn legal(&mut self, id: u32, here: bool) -> u32 {
        if let Some(legal) = self.nodes[id as usize].legal {
            return legal;
        }
        let count = |board: &dyn AnyBoard| board.legal().len() as u32;
        let legal = if here { count(&*self.board) } else { self.at(id, count).unwrap_or(NONE) };
        self.node(id).legal = Some(legal);
        legal
    }

    /// Positions that occur twice have one value: what is proved of one is told to the others, and to all above them.
    fn tell_twins(&mut self) {
        while let Some(id) = self.news.pop() {
            let bounds = self.nodes[id as usize].bounds;
            for twin in self.twins(id).collect::<Vec<_>>() {
                let known = self.nodes[twin as usize].bounds;
                if bounds.low <= known.low && bounds.high >= known.high {
                    continue;
                }
                self.learn(twin, bounds, Why::Twin(id));
                let mut above = self.nodes[twin as usize].parent;
                while above != NONE && self.infer(above, false) {
                    self.news.push(above);
                    above = self.nodes[above as usize].parent;
                }
            }
        }
    }

    /// Does something at the position of a node; `None` if a move to it is not legal.
    fn at<T>(&mut self, id: u32, look: impl FnOnce(&dyn AnyBoard) -> T) -> Option<T> {
        let path = self.path(id);
        let mut played = 0;
        let legal = path.iter().all(|(_, word)| {
            let good = self.board.play(word).is_ok();
            played += usize::from(good);
            good
        });
        let seen = legal.then(|| look(&*self.board));
        for _ in 0..played {
            self.board.undo();
        }
        seen
    }

    /// The position of a node, for a drawing.
    pub fn position(&mut self, id: u32) -> Option<Position> {
        self.at(id, |board| board.view())
    }

    /// The nodes and moves from the root to a node.
    pub fn path(&self, mut id: u32) -> Vec<(u32, String)> {
        let mut path = Vec::new();
        while id != ROOT {
            let node = &self.nodes[id as usize];
            path.push((id, node.word.to_string()));
            id = node.parent;
        }
        path.reverse();
        path
    }

    /// A node for a page.
    pub fn row(&self, id: u32) -> Row {
        let node = &self.nodes[id as usize];
        Row {
            id,
            word: node.word.to_string(),
            depth: node.depth,
            children: self.children(id).count(),
            size: node.size,
            mover: node.mover,
            chooser: self.nodes[if node.parent == NONE { id } else { node.parent } as usize].mover,
            bounds: node.bounds,
            status: node.status,
            value: node.sum / f64::from(node.size),
            numbers: node.numbers,
            work: node.work,
            why: self.why(node),
        }
    }

    /// Some children of a node, the best of the side that moves there first, and how many there are.
    pub fn rows(&self, id: u32, from: usize, max: usize) -> (Vec<Row>, usize) {
        let children = self.ranked(id);
        let rows = children.iter().skip(from).take(max).map(|&id| self.row(id)).collect();
        (rows, children.len())
    }

    fn why(&self, node: &Node) -> String {
        let job = match (node.parent, node.kind) {
            (NONE, _) => "",
            (_, Kind::Leaf) => "leaf job",
            (_, Kind::Sibling) => "sibling job",
        };
        let word = |id: u32| self.nodes[id as usize].word.to_string();
        let rests = |why: Why| match why {
            Why::Open => None,
            Why::End => Some("the game is over".to_string()),
            Why::Claim(Trust::Word) => Some("an engine says so".into()),
            Why::Claim(Trust::Solver) => Some("solved".into()),
            Why::Claim(Trust::Checked) => Some("checked proof".into()),
            Why::Child(child) => Some(format!("by {}", word(child))),
            Why::All => Some("all moves".into()),
            Why::Twin(_) => Some("same position elsewhere".into()),
        };
        let faulty = (node.state == State::Faulty).then(|| "not a legal move".to_string());
        let mut parts: Vec<String> = Vec::new();
        for part in node.why.into_iter().filter_map(rests).chain(faulty) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let proof = parts.join(", ");
        match (job, proof.as_str()) {
            ("", "") => String::new(),
            (job, "") => job.into(),
            ("", proof) => proof.into(),
            (job, proof) => format!("{job}; {proof}"),
        }
    }
}

/// A line of the log, without what is seldom needed.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    job: JobLine<'a>,
    #[serde(borrow)]
    answer: AnswerLine<'a>,
}

#[derive(Deserialize)]
struct JobLine<'a> {
    #[serde(borrow)]
    moves: Vec<Word<'a>>,
    kind: Kind,
}

#[derive(Deserialize)]
struct AnswerLine<'a> {
    #[serde(borrow)]
    best: Option<Word<'a>>,
    status: Status,
    value: Option<f64>,
    claim: Option<Claim>,
    #[serde(borrow, default)]
    after: Vec<AfterLine<'a>>,
    #[serde(default)]
    nodes: u64,
    #[serde(default)]
    seconds: f64,
}

#[derive(Deserialize)]
struct AfterLine<'a> {
    #[serde(borrow)]
    word: Word<'a>,
    claim: Claim,
}

#[derive(Deserialize)]
struct Excluding<'a> {
    #[serde(borrow)]
    job: Excluded<'a>,
}

#[derive(Deserialize)]
struct Excluded<'a> {
    #[serde(borrow, default)]
    exclude: Vec<Word<'a>>,
}

#[derive(Deserialize)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

/// Where a move of a node is looked for.
fn key(parent: u32, word: &str) -> u64 {
    let text = word.bytes().fold(0, |hash: u64, byte| hash.rotate_left(9) ^ u64::from(byte));
    mix(mix(u64::from(parent)) ^ text)
}

/// Keys are mixed already.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

#[cfg(test)]
mod tests;
