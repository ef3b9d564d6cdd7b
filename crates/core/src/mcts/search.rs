//! The search: select, expand, play out, back up, on any number of threads and one tree.
//!
//! Each worker keeps up to `in_flight` simulations selected but not yet played out. With one, and one thread, this is
//! plain UCT; with more it is what a batch of network evaluations or a distributed tree does to a search, and the same
//! seed gives the same answer. With several threads the order in which they meet in the tree is the machine's.
//!
//! Proofs (MCTS-Solver, Winands et al. 2008) go up as far as they hold: a move that wins proves its node, a node all of
//! whose moves are proved is worth the best of them. Sides need not alternate.

use super::choose::Chooser;
use super::spec::{Counting, Knowledge, Rule, Uct};
use super::tree::{Chunk, FULL, NodeId, Tree};
use crate::domain::{Game, Outcome, Side};
use crate::play::Budget;
use crate::policy::exp;
use crate::rng::Rng;
use cpu_time::ThreadTime;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

/// How many simulations a worker claims, and does, between two looks at the clock.
const CLAIM: u64 = 32;
/// Moves after which a playout is taken for endless; it then counts as a draw.
const PLAYOUT_MOVES_MAX: u32 = 100_000;
/// A line in the tree longer than this is played out, not followed.
const PATH_MAX: usize = 4096;

/// What the workers of one search share.
pub(super) struct Shared<'a, G: Game> {
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
    pub claimed: AtomicU64,
    /// The nodes ever added to the tree when the search began.
    pub added_before: u64,
    /// No room for another node.
    pub full: AtomicBool,
    /// The root is proved, or the budget spent: everybody ends.
    pub done: AtomicBool,
}

/// One thread of a search. It lives as long as the player: its random numbers and buffers go on from move to move.
pub(super) struct Worker<G: Game> {
    rng: Rng,
    chunk: Chunk,
    waiting: VecDeque<Flight<G>>,
    /// Flights that are over, for their buffers.
    spare: Vec<Flight<G>>,
    moves: Vec<G::Move>,
    known: Vec<(u16, f32)>,
    scratch: Vec<G::Move>,
    probe: Option<G::State>,
    /// Simulations finished, and the longest path, since the search began.
    pub playouts: u64,
    pub depth: u32,
    pub cpu_seconds: f64,
}

/// A simulation that has been selected: where it went, and what is there.
struct Flight<G: Game> {
    state: G::State,
    path: Vec<(NodeId, u32)>,
    /// The outcome, where the path itself ends the game or meets a proof.
    outcome: Option<Outcome>,
}

impl<G: Game> Flight<G> {
    fn new(root: &G::State) -> Self {
        Flight { state: root.clone(), path: Vec::new(), outcome: None }
    }
}

impl<G: Game> Worker<G> {
    pub fn new(seed: u64, number: u64) -> Self {
        Worker {
            rng: Rng::new(seed, number),
            chunk: Chunk::default(),
            waiting: VecDeque::new(),
            spare: Vec::new(),
            moves: Vec::new(),
            known: Vec::new(),
            scratch: Vec::new(),
            probe: None,
            playouts: 0,
            depth: 0,
            cpu_seconds: 0.0,
        }
    }

    /// Forgets its place in the arena: the arena was compacted.
    pub fn leave_chunk(&mut self) {
        self.chunk = Chunk::default();
    }

    /// Searches until the budget is spent, the root is proved, somebody says stop, or the arena is full. `tell` is
    /// called now and then.
    pub fn search(&mut self, shared: &Shared<G>, tell: &mut dyn FnMut(&Shared<G>)) {
        let cpu = ThreadTime::now();
        let cpu_before = self.cpu_seconds;
        let mut granted = 0;
        // One at a time needs no queue, and knows how many came to the root.
        let single = shared.uct.in_flight == 1 && shared.uct.threads == 1;
        let mut arrived = shared.tree.arrived(shared.tree.root);
        let mut own = self.spare.pop().unwrap_or_else(|| Flight::new(shared.root));
        loop {
            if granted == 0 {
                if shared.budget.cpu_seconds.is_some() {
                    self.cpu_seconds = cpu_before + cpu.elapsed().as_secs_f64();
                }
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
                self.select(shared, &mut own, arrived);
                self.finish(shared, &mut own);
                arrived += 1;
                continue;
            }
            if !over && self.waiting.len() < shared.uct.in_flight as usize {
                granted -= 1;
                let mut flight = self.spare.pop().unwrap_or_else(|| Flight::new(shared.root));
                self.select(shared, &mut flight, shared.tree.arrived(shared.tree.root));
                self.waiting.push_back(flight);
                if self.waiting.len() < shared.uct.in_flight as usize && granted > 0 {
                    continue;
                }
            }
            let mut flight = self.waiting.pop_front().expect("one is in flight");
            self.finish(shared, &mut flight);
            self.spare.push(flight);
        }
        self.spare.push(own);
        self.cpu_seconds = cpu_before + cpu.elapsed().as_secs_f64();
        // What was claimed and not begun is there for others, or for the next round.
        shared.claimed.fetch_sub(granted, Relaxed);
    }

    /// How many more simulations this worker may begin; 0: the budget is spent.
    fn claim(&self, shared: &Shared<G>) -> u64 {
        let budget = shared.budget;
        let threads = f64::from(shared.uct.threads);
        let spent = budget.seconds.is_some_and(|s| shared.begun.elapsed().as_secs_f64() >= s)
            || budget.cpu_seconds.is_some_and(|s| self.cpu_seconds * threads >= s)
            || budget.nodes.is_some_and(|n| shared.tree.added() - shared.added_before >= n);
        if spent {
            return 0;
        }
        let Some(playouts) = budget.playouts else {
            shared.claimed.fetch_add(CLAIM, Relaxed);
            return CLAIM;
        };
        let take = |claimed: u64| (claimed < playouts).then(|| (claimed + CLAIM).min(playouts));
        match shared.claimed.fetch_update(Relaxed, Relaxed, take) {
            Ok(before) => CLAIM.min(playouts - before),
            Err(_) => 0,
        }
    }

    /// Goes down the tree from the root, which `arrived` simulations have come to, to where a playout has to begin, and
    /// adds a node on the way out.
    fn select(&mut self, shared: &Shared<G>, flight: &mut Flight<G>, arrived: u32) {
        flight.state.clone_from(shared.root);
        flight.path.clear();
        flight.outcome = None;
        let (tree, game) = (shared.tree, shared.game);
        let flying = self.flies(shared);
        let (mut node, mut arrived) = (tree.root, arrived);
        loop {
            let edge = shared.chooser.descend(tree, node, arrived);
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
                    flight.outcome = self.decisive(shared, &flight.state);
                    break;
                }
                match self.expand(shared, node, edge, &flight.state) {
                    Some(new) => child = new,
                    None => break,
                }
            }
            if shared.uct.transpositions {
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
    fn flies(&self, shared: &Shared<G>) -> bool {
        (shared.uct.in_flight > 1 || shared.uct.threads > 1) && shared.uct.counting != Counting::Ignore
    }

    /// Gives the position at the end of `edge` a node, or finds out that it needs none: it is won at once, or there is
    /// no room.
    fn expand(&mut self, shared: &Shared<G>, node: NodeId, edge: usize, state: &G::State) -> Option<NodeId> {
        let (tree, game) = (shared.tree, shared.game);
        let key = if shared.uct.transpositions { game.key(state) } else { 0 };
        if shared.uct.transpositions
            && let Some(known) = tree.find(key)
        {
            return Some(tree.connect(node, edge, known));
        }
        let Some(new) = self.add_node(game, shared.uct, tree, state, key) else {
            shared.full.store(true, Relaxed);
            return None;
        };
        let child = tree.connect(node, edge, new);
        if child != new {
            tree.take_back(&mut self.chunk, new);
        } else if shared.uct.transpositions {
            tree.enter(key, new);
        }
        Some(child)
    }

    /// A node for a position, its moves in the order of what is known of them.
    pub fn add_node(
        &mut self,
        game: &G,
        uct: &Uct,
        tree: &Tree,
        state: &G::State,
        key: u64,
    ) -> Option<NodeId> {
        let side = game.to_move(state);
        self.moves.clear();
        game.moves(state, &mut self.moves);
        self.known.clear();
        for &mv in &self.moves {
            let known = match uct.knowledge {
                Knowledge::None => 0.0,
                Knowledge::Categories => game.categories()[game.category(state, mv)],
                Knowledge::Evaluation => {
                    let next = after(game, state, mv, &mut self.probe);
                    2.0 * side.view(game.evaluate(next)) - 1.0
                }
            };
            self.known.push((game.move_id(mv), known as f32));
        }
        if uct.knowledge != Knowledge::None {
            // Stable: equals stay in the order of the rules.
            self.known.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        if uct.rule == Rule::Puct {
            share(&mut self.known);
        }
        tree.add(&mut self.chunk, side, key, self.known.iter().copied())
    }

    /// A win at the next move, if the search looks for such.
    fn decisive(&mut self, shared: &Shared<G>, state: &G::State) -> Option<Outcome> {
        if !shared.uct.decisive {
            return None;
        }
        let game = shared.game;
        let win = Outcome::Win(game.to_move(state));
        self.moves.clear();
        game.moves(state, &mut self.moves);
        let wins = self.moves.iter().any(|&mv| {
            let next = after(game, state, mv, &mut self.probe);
            game.outcome(next) == Some(win)
        });
        wins.then_some(win)
    }

    /// Plays a simulation out and brings its value up the tree.
    fn finish(&mut self, shared: &Shared<G>, flight: &mut Flight<G>) {
        let tree = shared.tree;
        let mut value = match flight.outcome {
            Some(outcome) => sixteenths(outcome),
            None => self.play_out(shared, &mut flight.state),
        };
        let flown = self.flies(shared);
        let draws = shared.uct.solver && flight.path.iter().any(|&(node, _)| tree.has_draw(node));
        if draws {
            for &(node, edge) in flight.path.iter().rev() {
                tree.record(node, edge as usize, value, flown);
                // Whoever has a sure draw need not take less: what lies above sees at least that.
                if tree.has_draw(node) {
                    value = match tree.side(node) {
                        Side::First => value.max(FULL / 2),
                        Side::Second => value.min(FULL / 2),
                    };
                }
            }
        } else {
            // From the root on: the next simulation reads it first, and waits for what is not yet written.
            for &(node, edge) in &flight.path {
                tree.record(node, edge as usize, value, flown);
            }
        }
        if let (true, Some(outcome)) = (shared.uct.solver, flight.outcome) {
            self.prove(shared, &flight.path, outcome);
        }
        self.playouts += 1;
    }

    /// The value of a playout from here for the first side, in sixteenths.
    fn play_out(&mut self, shared: &Shared<G>, state: &mut G::State) -> u64 {
        let (game, uct) = (shared.game, shared.uct);
        let moves_max = if uct.cut > 0 { uct.cut } else { PLAYOUT_MOVES_MAX };
        let outcome = if uct.weighted {
            self.weighted_rollout(game, state, moves_max)
        } else {
            game.rollout(state, uct.draws, moves_max, &mut self.rng, &mut self.scratch)
        };
        match outcome {
            Some(outcome) => sixteenths(outcome),
            None if uct.cut > 0 => {
                let value = 1.0 / (1.0 + exp(-uct.steepness * (2.0 * game.evaluate(state) - 1.0)));
                // What lies between two sixteenths is rounded up or down at random, so that means stay true.
                let scaled = value * FULL as f64;
                let exact = scaled.fract() == 0.0;
                if exact { scaled as u64 } else { (scaled + self.rng.unit()) as u64 }
            }
            None => FULL / 2,
        }
    }

    /// A playout whose moves are drawn by the weights of their categories.
    fn weighted_rollout(&mut self, game: &G, state: &mut G::State, moves_max: u32) -> Option<Outcome> {
        let weights = game.categories();
        for _ in 0..moves_max {
            let outcome = game.outcome(state);
            if outcome.is_some() {
                return outcome;
            }
            self.moves.clear();
            game.moves(state, &mut self.moves);
            // No category is impossible: a weight learnt as 0 only means that nobody played it yet.
            let weight = |mv| weights[game.category(state, mv)].max(1e-3);
            let total: f64 = self.moves.iter().map(|&mv| weight(mv)).sum();
            let mut left = self.rng.unit() * total;
            let drawn = self.moves.iter().copied().find(|&mv| {
                left -= weight(mv);
                left < 0.0
            });
            let mv = drawn.or(self.moves.last().copied())?;
            game.play(state, mv);
        }
        game.outcome(state)
    }

    /// Takes the outcome of the last move of a path up as far as it proves anything.
    fn prove(&self, shared: &Shared<G>, path: &[(NodeId, u32)], outcome: Outcome) {
        let tree = shared.tree;
        // On another path to the same node a repetition may not be one.
        if outcome == Outcome::Draw && shared.uct.transpositions {
            return;
        }
        let mut outcome = outcome;
        for &(node, edge) in path.iter().rev() {
            tree.prove(node, edge as usize, outcome);
            if outcome == Outcome::Draw {
                tree.note_draw(node);
            }
            let Some(proved) = node_outcome(tree, node) else { return };
            tree.prove_node(node, proved);
            outcome = proved;
        }
        shared.done.store(true, Relaxed);
    }
}

/// The value of an outcome for the first side.
#[inline]
fn sixteenths(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Win(Side::First) => FULL,
        Outcome::Win(Side::Second) => 0,
        Outcome::Draw => FULL / 2,
    }
}

/// What the proofs of its moves prove of a node.
fn node_outcome(tree: &Tree, node: NodeId) -> Option<Outcome> {
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

/// The position after a move, in a buffer.
fn after<'b, G: Game>(
    game: &G,
    state: &G::State,
    mv: G::Move,
    buffer: &'b mut Option<G::State>,
) -> &'b G::State {
    let next = buffer.get_or_insert_with(|| state.clone());
    next.clone_from(state);
    game.play(next, mv);
    next
}

/// Turns knowledge into shares that add up to 1, for PUCT.
fn share(known: &mut [(u16, f32)]) {
    let least = known.iter().map(|k| k.1).fold(0.0, f32::min);
    let total: f32 = known.iter().map(|k| k.1 - least).sum();
    let even = 1.0 / known.len() as f32;
    for (_, knowledge) in known {
        *knowledge = if total > 0.0 { (*knowledge - least) / total } else { even };
    }
}

/// The outcome of the root, where it is proved.
pub(super) fn root_outcome(tree: &Tree) -> Option<Outcome> {
    tree.node_proof(tree.root)
}
