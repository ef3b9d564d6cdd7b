//! The player: a position, a tree that grows with the game, and the workers that search it.

use super::choose::{Candidate, Chooser, candidates, rank};
use super::search::{Shared, Worker, root_outcome};
use super::spec::{FinalMove, Knowledge, Rule, Uct};
use super::tree::{Apart, NodeId, Tree};
use crate::domain::Game;
use crate::play::{AnyPlayer, Budget, Fault, Line, PlayError, Thought, start_of};
use crate::replay::{ReplayError, legal_texts};
use crate::search::SpecError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// How often somebody is told how it is going.
const TELL_SECONDS: f64 = 0.25;
/// The share of a budget after which max-robust may end.
const MAX_ROBUST_SHARE: f64 = 0.8;
/// The moves of a line that are shown.
const LINE_MOVES_MAX: usize = 24;

/// Plays a game by tree search.
pub struct Searcher<G: Game> {
    game: Arc<G>,
    uct: Uct,
    start: Option<String>,
    words: Vec<String>,
    state: G::State,
    tree: Tree,
    chooser: Chooser,
    workers: Vec<Worker<G>>,
    recycled: u64,
}

impl<G: Game> Searcher<G> {
    /// Fails where `uct` cannot be.
    pub fn new(game: Arc<G>, uct: Uct, seed: u64) -> Result<Self, SpecError> {
        uct.check()?;
        let uct = within_reach(&*game, uct);
        let mut tree = Tree::new((uct.memory as usize) << 20, uct.needs_knowledge(), uct.transpositions);
        tree.alone = uct.threads == 1;
        let state = game.initial();
        let workers = workers(&uct, seed);
        let chooser = Chooser::new(&uct);
        let (start, words) = (None, Vec::new());
        Ok(Searcher { game, uct, start, words, state, tree, chooser, workers, recycled: 0 })
    }

    /// Follows the moves that were played since the last search, as far as the tree has them.
    fn advance(&mut self, words: &[String]) -> Result<(), ReplayError> {
        for word in words {
            let Some(mv) = self.game.parse_move(&self.state, word) else {
                let legal = legal_texts(&*self.game, &self.state).into_iter().take(8).collect();
                let number = self.words.len() + 1;
                return Err(ReplayError::Illegal { number, word: word.clone(), legal });
            };
            if self.tree.root != NodeId::NONE {
                let (id, root) = (self.game.move_id(mv), self.tree.root);
                let edge = (0..self.tree.edges(root)).find(|&e| self.tree.link(root, e).move_id() == id);
                let child = edge.map_or(NodeId::NONE, |e| self.tree.link(root, e).child());
                // Only the address changes here: the compaction waits for the last of the moves.
                self.tree.root = child;
            }
            self.game.play(&mut self.state, mv);
            self.words.push(word.clone());
        }
        Ok(())
    }

    /// Frees what the game has left behind.
    fn settle(&mut self) {
        if self.tree.root == NodeId::NONE || !self.uct.reuse {
            self.tree.clear();
        } else {
            self.tree.keep(self.tree.root, 0);
        }
        self.workers.iter_mut().for_each(Worker::leave_chunk);
    }

    /// Searches within `budget`, making room as often as the arena is full.
    fn search(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> (Instant, f64) {
        let begun = Instant::now();
        for worker in &mut self.workers {
            (worker.playouts, worker.depth, worker.cpu_seconds) = (0, 0, 0.0);
        }
        let added_before = self.tree.added();
        let mut claimed = 0;
        let mut told = 0.0;
        loop {
            let shared = Shared {
                game: &*self.game,
                uct: &self.uct,
                chooser: &self.chooser,
                tree: &self.tree,
                root: &self.state,
                budget,
                stop,
                begun,
                claimed: Apart(AtomicU64::new(claimed)),
                added_before,
                full: AtomicBool::new(false),
                done: AtomicBool::new(root_outcome(&self.tree).is_some()),
            };
            let (first, others) = self.workers.split_first_mut().expect("at least one worker");
            std::thread::scope(|scope| {
                for worker in others {
                    let shared = &shared;
                    scope.spawn(move || worker.search(shared, &mut |_| {}));
                }
                first.search(&shared, &mut |shared| {
                    let seconds = begun.elapsed().as_secs_f64();
                    if seconds - told >= TELL_SECONDS {
                        told = seconds;
                        let thought = think_of(shared.game, shared.uct, shared.tree, shared.root);
                        let playouts = shared.claimed.0.load(Relaxed);
                        tell(&Thought { playouts, seconds, recycled: self.recycled, ..thought });
                    }
                });
            });
            claimed = shared.claimed.0.into_inner();
            if stop.load(Relaxed) || shared.done.into_inner() || !shared.full.into_inner() {
                return (begun, self.workers.iter().map(|w| w.cpu_seconds).sum());
            }
            self.tree.recycle();
            self.workers.iter_mut().for_each(Worker::leave_chunk);
            self.recycled += 1;
        }
    }

    /// The root gets its node before anybody searches.
    fn plant(&mut self) {
        if self.tree.root != NodeId::NONE {
            return;
        }
        self.tree.clear();
        self.workers.iter_mut().for_each(Worker::leave_chunk);
        let key = self.game.key(&self.state);
        let root = self.workers[0].kit.add_node(&*self.game, &self.uct, &self.tree, &self.state, key);
        self.tree.root = root.expect("an empty tree has room for a node");
        if self.uct.transpositions {
            self.tree.enter(key, self.tree.root);
        }
    }

    /// Every node of the tree with its statistics.
    #[doc(hidden)]
    pub fn dump(&mut self) -> std::collections::BTreeMap<u64, Vec<u64>> {
        self.tree.dump()
    }

    /// Simulations that the tree believes in flight.
    #[cfg(test)]
    pub fn in_flight(&self) -> u32 {
        fn below(tree: &Tree, node: NodeId) -> u32 {
            let links = (0..tree.edges(node)).map(|edge| tree.link(node, edge));
            links
                .map(|l| l.in_flight() + if l.child() == NodeId::NONE { 0 } else { below(tree, l.child()) })
                .sum()
        }
        below(&self.tree, self.tree.root)
    }

    /// Whether the most visited move is also the one with the highest mean.
    fn agrees(&self) -> bool {
        let mut moves = candidates(&self.tree, self.tree.root);
        rank(FinalMove::Robust, &mut moves);
        let robust = moves[0].edge;
        rank(FinalMove::Max, &mut moves);
        robust == moves[0].edge
    }
}

/// Leaves out what rests on knowledge that the game does not have: moves all alike in category are in no order worth
/// unpruning. Where nothing looks at knowledge, the tree need not store it either.
pub(crate) fn within_reach<G: Game>(game: &G, uct: Uct) -> Uct {
    let mut uct = uct;
    let ignorant = match uct.knowledge {
        Knowledge::None => true,
        Knowledge::Categories => game.categories().len() < 2,
        Knowledge::Evaluation => false,
    };
    if ignorant {
        (uct.bias, uct.unprune_first) = (0.0, 0);
    }
    let used = uct.rule == Rule::Puct || uct.bias > 0.0 || uct.unprune_first > 0;
    if !used || (ignorant && uct.rule == Rule::Uct) {
        uct.knowledge = Knowledge::None;
    }
    uct
}

fn workers<G: Game>(uct: &Uct, seed: u64) -> Vec<Worker<G>> {
    (0..u64::from(uct.threads)).map(|number| Worker::new(seed, number)).collect()
}

impl<G: Game> AnyPlayer for Searcher<G> {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let follows = self.start.as_deref() == start && words.starts_with(&self.words);
        if !follows {
            self.state = start_of(&*self.game, start)?;
            self.start = start.map(String::from);
            self.words.clear();
            self.tree.root = NodeId::NONE;
        }
        let new = &words[self.words.len()..];
        if !new.is_empty() || !follows {
            let advanced = self.advance(new);
            self.settle();
            advanced?;
        }
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        if let Some(outcome) = self.game.outcome(&self.state) {
            return Ok(Thought { value: outcome.value(), proved: Some(outcome), ..Thought::default() });
        }
        if !self.uct.reuse {
            self.tree.root = NodeId::NONE;
        }
        self.plant();
        let (begun, cpu_seconds) = match self.uct.final_move {
            FinalMove::MaxRobust if *budget != Budget::default() => {
                let (begun, cpu) = self.search(&part(budget, MAX_ROBUST_SHARE), stop, tell);
                if self.agrees() || root_outcome(&self.tree).is_some() {
                    (begun, cpu)
                } else {
                    let before: u64 = self.workers.iter().map(|w| w.playouts).sum();
                    let (_, more) = self.search(&part(budget, 1.0 - MAX_ROBUST_SHARE), stop, tell);
                    self.workers[0].playouts += before;
                    (begun, cpu + more)
                }
            }
            _ => self.search(budget, stop, tell),
        };
        let mut thought = think_of(&*self.game, &self.uct, &self.tree, &self.state);
        thought.playouts = self.workers.iter().map(|w| w.playouts).sum();
        thought.depth = self.workers.iter().map(|w| w.depth).max().unwrap_or(0);
        thought.seconds = begun.elapsed().as_secs_f64();
        thought.cpu_seconds = cpu_seconds;
        thought.recycled = self.recycled;
        Ok(thought)
    }

    fn reset(&mut self, seed: u64) {
        self.tree.clear();
        self.workers = workers(&self.uct, seed);
        self.state = self.game.initial();
        self.start = None;
        self.words.clear();
        self.recycled = 0;
    }
}

/// A share of a budget.
fn part(budget: &Budget, share: f64) -> Budget {
    let whole = |n: u64| (n as f64 * share).ceil() as u64;
    Budget {
        playouts: budget.playouts.map(whole),
        nodes: budget.nodes.map(whole),
        seconds: budget.seconds.map(|s| s * share),
        cpu_seconds: budget.cpu_seconds.map(|s| s * share),
    }
}

/// What the tree says about the root: every move that was tried, the best first.
fn think_of<G: Game>(game: &G, uct: &Uct, tree: &Tree, root: &G::State) -> Thought {
    let side = game.to_move(root);
    let mut moves = candidates(tree, tree.root);
    rank(uct.final_move, &mut moves);
    let value = |c: &Candidate| side.view(c.proved.unwrap_or(c.mean));
    let tried = moves.iter().enumerate().filter(|(i, c)| *i == 0 || c.visits > 0 || c.proved.is_some());
    let lines: Vec<Line> = tried
        .map(|(_, c)| Line {
            moves: follow(game, tree, root, c.edge),
            visits: u64::from(c.visits),
            value: value(c),
            proved: tree.stats(tree.root, c.edge).proof(),
        })
        .collect();
    let proved = root_outcome(tree);
    Thought {
        best: lines.first().and_then(|line| line.moves.first().cloned()),
        value: proved.map_or_else(|| value(&moves[0]), |outcome| outcome.value()),
        proved,
        lines,
        nodes: tree.nodes(),
        fill: tree.fill(),
        ..Thought::default()
    }
}

/// A move and what the tree expects to follow: the most visited each time.
fn follow<G: Game>(game: &G, tree: &Tree, root: &G::State, edge: usize) -> Vec<String> {
    let (mut state, mut node, mut edge) = (root.clone(), tree.root, edge);
    let mut words = Vec::new();
    loop {
        let link = tree.link(node, edge);
        let mv = game.move_of(&state, link.move_id());
        words.push(game.show_move(&state, mv));
        game.play(&mut state, mv);
        node = link.child();
        if node == NodeId::NONE || words.len() >= LINE_MOVES_MAX || game.outcome(&state).is_some() {
            return words;
        }
        let mut moves = candidates(tree, node);
        rank(FinalMove::Robust, &mut moves);
        if moves[0].visits == 0 && moves[0].proved.is_none() {
            return words;
        }
        edge = moves[0].edge;
    }
}
