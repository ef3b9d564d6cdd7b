//! What a searching thread needs besides the tree: random numbers, its place in the arena, buffers; and what it does
//! with them to one position: give it a node, look for a win at once, play it out.

use super::spec::{Knowledge, Rule, Uct};
use super::tree::{Chunk, FULL, NodeId, Tree};
use crate::domain::{Game, Outcome, Side};
use crate::policy::exp;
use crate::rng::Rng;

/// Moves after which a playout is taken for endless; it then counts as a draw.
const PLAYOUT_MOVES_MAX: u32 = 100_000;

/// The tools of one thread. They live as long as the player: random numbers and buffers go on from move to move.
pub struct Kit<G: Game> {
    rng: Rng,
    pub chunk: Chunk,
    moves: Vec<G::Move>,
    known: Vec<(u16, f32)>,
    scratch: Vec<G::Move>,
    probe: Option<G::State>,
}

impl<G: Game> Kit<G> {
    pub fn new(seed: u64, number: u64) -> Self {
        Kit {
            rng: Rng::new(seed, number),
            chunk: Chunk::default(),
            moves: Vec::new(),
            known: Vec::new(),
            scratch: Vec::new(),
            probe: None,
        }
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

    /// A win at the next move.
    pub fn decisive(&mut self, game: &G, state: &G::State) -> Option<Outcome> {
        let win = Outcome::Win(game.to_move(state));
        self.moves.clear();
        game.moves(state, &mut self.moves);
        let wins = self.moves.iter().any(|&mv| {
            let next = after(game, state, mv, &mut self.probe);
            game.outcome(next) == Some(win)
        });
        wins.then_some(win)
    }

    /// The value of a playout from here for the first side, in sixteenths.
    #[inline(always)]
    pub fn play_out(&mut self, game: &G, uct: &Uct, state: &mut G::State) -> u64 {
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
                self.rounded(value)
            }
            None => FULL / 2,
        }
    }

    /// The values of many playouts, in sixteenths.
    pub fn play_out_together(&mut self, game: &G, states: &[&G::State]) -> Vec<u64> {
        let values = game.rollouts(states, &mut self.rng);
        assert_eq!(values.len(), states.len(), "every position has a value");
        values.into_iter().map(|value| self.rounded(value)).collect()
    }

    /// A value in sixteenths. What lies between two is rounded up or down at random, so that means stay true.
    #[inline]
    fn rounded(&mut self, value: f64) -> u64 {
        let scaled = value * FULL as f64;
        let exact = scaled.fract() == 0.0;
        if exact { scaled as u64 } else { (scaled + self.rng.unit()) as u64 }
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
}

/// The value of an outcome for the first side.
#[inline]
pub fn sixteenths(outcome: Outcome) -> u64 {
    match outcome {
        Outcome::Win(Side::First) => FULL,
        Outcome::Win(Side::Second) => 0,
        Outcome::Draw => FULL / 2,
    }
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
