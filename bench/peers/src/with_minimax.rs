//! `minimax`: nodes on the heap, threads on one tree, virtual loss, wins and losses proved on the way. Its exploration
//! constant is built in, and it tells no counts.

use crate::Found;
use crate::game::{Ground, play_out, word};
use minimax::{Game, MCTSOptions, MonteCarloTreeSearch, RolloutPolicy, Strategy, Winner};
use rand::{Rng, rngs::SmallRng};
use sortie_core::Outcome;
use std::marker::PhantomData;

struct Of<G>(PhantomData<fn() -> G>);

/// A result as `minimax` says it: by who made the last move.
fn winner<G: Ground>(state: &G::State) -> Option<Winner> {
    let game = G::ground();
    game.outcome(state).map(|outcome| match outcome {
        Outcome::Draw => Winner::Draw,
        Outcome::Win(side) if side == game.to_move(state) => Winner::PlayerToMove,
        Outcome::Win(_) => Winner::PlayerJustMoved,
    })
}

impl<G: Ground> Game for Of<G> {
    type S = G::State;
    type M = G::Move;

    fn generate_moves(state: &G::State, out: &mut Vec<G::Move>) -> Option<Winner> {
        let winner = winner::<G>(state);
        if winner.is_none() {
            G::ground().moves(state, out);
        }
        winner
    }

    fn apply(state: &mut G::State, mv: G::Move) -> Option<G::State> {
        let mut next = state.clone();
        G::ground().play(&mut next, mv);
        Some(next)
    }

    fn get_winner(state: &G::State) -> Option<Winner> {
        winner::<G>(state)
    }
}

impl<G: Ground> RolloutPolicy for Of<G> {
    type G = Of<G>;

    fn random_move(
        &self,
        state: &mut G::State,
        scratch: &mut Vec<G::Move>,
        rng: &mut SmallRng,
    ) -> Result<G::Move, Winner> {
        match Of::<G>::generate_moves(state, scratch) {
            Some(winner) => Err(winner),
            None => Ok(scratch[rng.random_range(0..scratch.len())]),
        }
    }

    /// For who made the last move: 1, 0, -1; the largest numbers where the game is over already.
    fn rollout(&self, _: &MCTSOptions, state: &G::State) -> i32 {
        let mover = G::ground().to_move(state).other();
        let worth = |outcome: Outcome| match outcome {
            Outcome::Draw => 0,
            Outcome::Win(side) => {
                if side == mover {
                    1
                } else {
                    -1
                }
            }
        };
        match G::ground().outcome(state) {
            Some(outcome) => worth(outcome) * i32::MAX,
            None => worth(play_out::<G>(&mut state.clone())),
        }
    }
}

pub fn search<G: Ground>(simulations: u64, threads: usize) -> Found {
    // A node at the second visit, as with the others; the default is at the first.
    let options = MCTSOptions::default().with_num_threads(threads).with_rollouts_before_expanding(1);
    let policy = Box::new(Of::<G>(PhantomData));
    let mut search = MonteCarloTreeSearch::<Of<G>>::new_with_policy(options, policy);
    search.set_max_rollouts(simulations as u32);
    let best = search.choose_move(&G::ground().initial());
    Found { best: word::<G>(best), counted: None }
}
