//! The search: select, expand, play out, back up, on any number of threads and one tree.
//!
//! Each worker keeps up to `in_flight` simulations selected but not yet played out. With one, and one thread, this is
//! plain UCT; with more it is what a batch of network evaluations or a distributed tree does to a search, and the same
//! seed gives the same answer. With several threads the order in which they meet in the tree is the machine's.
//!
//! Proofs (MCTS-Solver, Winands et al. 2008) go up as far as they hold: a move that wins proves its node, a node all of
//! whose moves are proved is worth the best of them. Sides need not alternate.

use super::batch::at_least_a_draw;
use super::choose::Chooser;
use super::kit::{Kit, sixteenths};
use super::spec::{Counting, Uct};
use super::tree::{Apart, Chunk, NodeId, Tree};
use crate::domain::{Game, Outcome};
use crate::play::Budget;
use crate::processor::Processor;
use cpu_time::ThreadTime;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// How many simulations a worker claims, and does, between two looks at the clock.
const CLAIM: u64 = 32;
/// A search by nodes ends when so many simulations in a row have added none: there may be no position left to add.
const BARREN: u64 = 10_000;
/// A line in the tree longer than this is played out, not followed.
pub(super) const PATH_MAX: usize = 4096;

/// What the workers of one search share.
pub struct Shared<'a, G: Game> {
    pub game: &'a G,
    pub uct: &'a Uct,
    pub chooser: &'a Chooser,
    pub tree: &'a Tree,
    /// The position at the root.
    pub root: &'a G::State,
    pub budget: &'a Budget,
    pub stop: &'a AtomicBool,
    pub begun: Instant,
    /// Simulations claimed by workers so far.
    pub claimed: Apart<AtomicU64>,
    /// The nodes ever added to the tree when the search began.
    pub added_before: u64,
    /// No room for another node.
    pub full: AtomicBool,
    /// The root is proved, or the budget spent: everybody ends.
    pub done: AtomicBool,
}

/// One thread of a search. It lives as long as the player: its random numbers and buffers go on from move to move.
pub struct Worker<G: Game> {
    pub kit: Kit<G>,
    waiting: VecDeque<Flight<G>>,
    /// Flights that are over, for their buffers.
    spare: Vec<Flight<G>>,
    /// Where the simulations of a batch begin.
    pub(super) gate: Option<G::State>,
    /// Simulations finished, and the longest path, since the search began.
    pub playouts: u64,
    pub depth: u32,
    pub cpu_seconds: f64,
    /// The nodes ever added to the tree when it was seen to grow last, and `playouts` then.
    grown: (u64, u64),
}

/// A simulation that has been selected: where it went, and what is there.
pub(super) struct Flight<G: Game> {
    pub(super) state: G::State,
    pub(super) path: Vec<(NodeId, u32)>,
    /// The outcome, where the path itself ends the game or meets a proof.
    outcome: Option<Outcome>,
}

impl<G: Game> Flight<G> {
    fn new(root: &G::State) -> Self {
        Flight { state: root.clone(), path: Vec::new(), outcome: None }
    }

    /// Goes back to the root.
    #[inline(always)]
    pub(super) fn begin(&mut self, root: &G::State) {
        self.state.clone_from(root);
        self.path.clear();
    }
}

impl<G: Game> Worker<G> {
    pub fn new(seed: u64, number: u64) -> Self {
        Worker {
            kit: Kit::new(seed, number),
            waiting: VecDeque::new(),
            spare: Vec::new(),
            gate: None,
            playouts: 0,
            depth: 0,
            cpu_seconds: 0.0,
            grown: (0, 0),
        }
    }

    /// Forgets its place in the arena: the arena was compacted.
    pub fn leave_chunk(&mut self) {
        self.kit.chunk = Chunk::default();
    }

    /// Searches until the budget is spent, the root is proved, somebody says stop, or the arena is full. `tell` is
    /// called now and then.
    pub fn search(&mut self, shared: &Shared<G>, tell: &mut dyn FnMut(&Shared<G>)) {
        shared.game.processor().run(
            #[inline(always)]
            |processor| self.search_on(shared, tell, processor),
        );
    }

    #[inline(always)]
    fn search_on(&mut self, shared: &Shared<G>, tell: &mut dyn FnMut(&Shared<G>), processor: Processor) {
        let cpu = ThreadTime::now();
        let cpu_before = self.cpu_seconds;
        self.grown = (shared.tree.added(), self.playouts);
        let mut granted = 0;
        // One at a time needs no queue, and knows how many came to the root.
        let single = shared.uct.in_flight == 1 && shared.uct.threads == 1;
        let flying = self.flies(shared);
        // A playout that is cut off or weighted is no plain one.
        let uct = shared.uct;
        let together = shared.game.plays_out_together() && uct.cut == 0 && !uct.weighted;
        let mut arrived = shared.tree.arrived(shared.tree.root);
        let mut own = self.spare.pop().unwrap_or_else(|| Flight::new(shared.root));
        loop {
            if granted == 0 {
                if shared.budget.cpu_seconds.is_some() {
                    self.cpu_seconds = cpu_before + cpu.elapsed().as_secs_f64();
                }
                shared.tree.count_nodes(&mut self.kit.chunk);
                granted = self.claim(shared);
                tell(shared);
            }
            let over = granted == 0
                || shared.stop.load(Relaxed)
                || shared.done.load(Relaxed)
                || shared.full.load(Relaxed);
            if over && self.waiting.is_empty() {
                break;
            }
            if single {
                granted -= 1;
                own.begin(shared.root);
                self.select(shared, &mut own, shared.tree.root, arrived, false, processor);
                self.finish(shared, &mut own, 0, false);
                arrived += 1;
                continue;
            }
            if shared.uct.in_flight == 1 {
                granted -= self.batch(shared, &mut own, granted, processor);
                continue;
            }
            if !over && self.waiting.len() < shared.uct.in_flight as usize {
                granted -= 1;
                let mut flight = self.spare.pop().unwrap_or_else(|| Flight::new(shared.root));
                flight.begin(shared.root);
                let arrived = shared.tree.arrived(shared.tree.root);
                self.select(shared, &mut flight, shared.tree.root, arrived, flying, processor);
                self.waiting.push_back(flight);
                if self.waiting.len() < shared.uct.in_flight as usize && (granted > 0 || together) {
                    continue;
                }
            }
            if together {
                self.finish_together(shared, flying);
                continue;
            }
            let mut flight = self.waiting.pop_front().expect("one is in flight");
            self.finish(shared, &mut flight, 0, flying);
            self.spare.push(flight);
        }
        self.spare.push(own);
        self.cpu_seconds = cpu_before + cpu.elapsed().as_secs_f64();
        shared.tree.count_nodes(&mut self.kit.chunk);
        // What was claimed and not begun is there for others, or for the next round.
        shared.claimed.0.fetch_sub(granted, Relaxed);
    }

    /// How many more simulations this worker may begin; 0: the budget is spent.
    fn claim(&mut self, shared: &Shared<G>) -> u64 {
        let budget = shared.budget;
        let added = shared.tree.added();
        if added != self.grown.0 {
            self.grown = (added, self.playouts);
        }
        let threads = f64::from(shared.uct.threads);
        let spent = budget.seconds.is_some_and(|s| shared.begun.elapsed().as_secs_f64() >= s)
            || budget.cpu_seconds.is_some_and(|s| self.cpu_seconds * threads >= s)
            || budget
                .nodes
                .is_some_and(|n| added - shared.added_before >= n || self.playouts - self.grown.1 >= BARREN);
        if spent {
            return 0;
        }
        let Some(playouts) = budget.playouts else {
            shared.claimed.0.fetch_add(CLAIM, Relaxed);
            return CLAIM;
        };
        let take = |claimed: u64| (claimed < playouts).then(|| (claimed + CLAIM).min(playouts));
        match shared.claimed.0.fetch_update(Relaxed, Relaxed, take) {
            Ok(before) => CLAIM.min(playouts - before),
            Err(_) => 0,
        }
    }

    /// Goes down the tree from a node, which `arrived` simulations have come to and the flight has led to, to where a
    /// playout has to begin, and adds a node on the way out. `flying`: the others are to see that it is under way.
    #[inline(always)]
    pub(super) fn select(
        &mut self,
        shared: &Shared<G>,
        flight: &mut Flight<G>,
        node: NodeId,
        arrived: u32,
        flying: bool,
        processor: Processor,
    ) {
        flight.outcome = None;
        let (tree, game) = (shared.tree, shared.game);
        let (mut node, mut arrived) = (node, arrived);
        loop {
            let edge = shared.chooser.descend_on(tree, node, arrived, flying, processor);
            if flying {
                tree.set_out(node, edge);
            }
            flight.path.push((node, edge as u32));
            let (stats, link) = (tree.stats(node, edge), tree.link(node, edge));
            tree.prefetch(link.child());
            let mv = game.move_of(&flight.state, link.move_id());
            game.play(&mut flight.state, mv);
            flight.outcome = stats.proof().or_else(|| game.outcome(&flight.state));
            if flight.outcome.is_some() || flight.path.len() >= PATH_MAX {
                break;
            }
            let mut child = link.child();
            arrived = stats.visits() + link.in_flight();
            if child == NodeId::NONE {
                if arrived < shared.uct.expand + link.in_flight() {
                    if shared.uct.decisive {
                        flight.outcome = self.kit.decisive(game, &flight.state);
                    }
                    break;
                }
                match self.expand(shared, node, edge, &flight.state) {
                    Some(new) => child = new,
                    None => break,
                }
            }
            if shared.uct.transpositions {
                // Others may have come to it by other moves.
                arrived = tree.arrived(child);
                flight.outcome = tree.node_proof(child);
                // A position that came before on this very line: to follow it would be to go round in circles.
                if flight.outcome.is_some() || flight.path.iter().any(|&(n, _)| n == child) {
                    break;
                }
            }
            node = child;
        }
        self.depth = self.depth.max(flight.path.len() as u32);
    }

    /// Whether simulations in flight have to be marked in the tree: somebody else selects before they come back.
    pub(super) fn flies(&self, shared: &Shared<G>) -> bool {
        (shared.uct.in_flight > 1 || shared.uct.threads > 1) && shared.uct.counting != Counting::Ignore
    }

    /// Gives the position at the end of `edge` a node, or finds out that it needs none: it is won at once, or there is
    /// no room.
    #[inline]
    fn expand(&mut self, shared: &Shared<G>, node: NodeId, edge: usize, state: &G::State) -> Option<NodeId> {
        let (tree, game) = (shared.tree, shared.game);
        let key = if shared.uct.transpositions { game.key(state) } else { 0 };
        if shared.uct.transpositions
            && let Some(known) = tree.find(key)
        {
            return Some(tree.connect(node, edge, known));
        }
        let Some(new) = self.kit.add_node(game, shared.uct, tree, state, key) else {
            shared.full.store(true, Relaxed);
            return None;
        };
        let child = tree.connect(node, edge, new);
        if child != new {
            tree.take_back(&mut self.kit.chunk, new);
        } else if shared.uct.transpositions {
            tree.enter(key, new);
        }
        Some(child)
    }

    /// Plays a simulation out and brings its value up the tree, as far as step `top` of its path; gives what it has
    /// become there.
    #[inline(always)]
    pub(super) fn finish(
        &mut self,
        shared: &Shared<G>,
        flight: &mut Flight<G>,
        top: usize,
        flown: bool,
    ) -> u64 {
        let value = match flight.outcome {
            Some(outcome) => sixteenths(outcome),
            None => self.kit.play_out(shared.game, shared.uct, &mut flight.state),
        };
        self.bring_home(shared, flight, value, top, flown)
    }

    /// Plays everything out that is in flight, at once.
    fn finish_together(&mut self, shared: &Shared<G>, flown: bool) {
        let mut flights = std::mem::take(&mut self.waiting);
        let open: Vec<&G::State> =
            flights.iter().filter(|flight| flight.outcome.is_none()).map(|flight| &flight.state).collect();
        let mut values = self.kit.play_out_together(shared.game, &open).into_iter();
        for mut flight in flights.drain(..) {
            let value = match flight.outcome {
                Some(outcome) => sixteenths(outcome),
                None => values.next().expect("every open position has a value"),
            };
            self.bring_home(shared, &mut flight, value, 0, flown);
            self.spare.push(flight);
        }
        self.waiting = flights;
    }

    /// Brings the value of a simulation up the tree, and a proof if it met one.
    #[inline(always)]
    fn bring_home(
        &mut self,
        shared: &Shared<G>,
        flight: &mut Flight<G>,
        value: u64,
        top: usize,
        flown: bool,
    ) -> u64 {
        let (tree, solver) = (shared.tree, shared.uct.solver);
        let value = back_up(tree, &flight.path[top..], value, solver, flown);
        if let (true, Some(outcome)) = (solver, flight.outcome)
            && !(outcome == Outcome::Draw && shared.uct.transpositions)
            && prove(tree, &flight.path, outcome).is_some()
        {
            shared.done.store(true, Relaxed);
        }
        self.playouts += 1;
        value
    }
}

/// Brings a value up a path; returns what it has become at the top.
#[inline]
pub fn back_up(tree: &Tree, path: &[(NodeId, u32)], value: u64, solver: bool, flown: bool) -> u64 {
    let mut value = value;
    if solver && path.iter().any(|&(node, _)| tree.has_draw(node)) {
        for &(node, edge) in path.iter().rev() {
            tree.record(node, edge as usize, value, flown);
            if tree.has_draw(node) {
                value = at_least_a_draw(tree.side(node), value);
            }
        }
    } else {
        // From the root on: the next simulation reads it first, and waits for what is not yet written.
        for &(node, edge) in path {
            tree.record(node, edge as usize, value, flown);
        }
    }
    value
}

/// Takes the outcome of the last move of a path up as far as it proves anything; returns the outcome of the first node
/// if that is proved. (On another path to the same node a repetition may not be one: with transpositions draws are no
/// proofs, and whoever calls leaves them out.)
pub fn prove(tree: &Tree, path: &[(NodeId, u32)], outcome: Outcome) -> Option<Outcome> {
    let mut outcome = outcome;
    for &(node, edge) in path.iter().rev() {
        tree.prove(node, edge as usize, outcome);
        if outcome == Outcome::Draw {
            tree.note_draw(node);
        }
        outcome = node_outcome(tree, node)?;
        tree.prove_node(node, outcome);
    }
    Some(outcome)
}

/// What the proofs of its moves prove of a node.
pub fn node_outcome(tree: &Tree, node: NodeId) -> Option<Outcome> {
    let side = tree.side(node);
    let mut best = Some(Outcome::Win(side.other()));
    for edge in 0..tree.edges(node) {
        match tree.stats(node, edge).proof() {
            Some(Outcome::Win(winner)) if winner == side => return Some(Outcome::Win(side)),
            Some(Outcome::Draw) => best = best.map(|_| Outcome::Draw),
            Some(_) => {}
            None => best = None,
        }
    }
    best
}

/// The outcome of the root, where it is proved.
pub fn root_outcome(tree: &Tree) -> Option<Outcome> {
    tree.node_proof(tree.root)
}
