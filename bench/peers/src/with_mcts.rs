//! `mcts`, and `treant`, which grew out of it and kept its traits: nodes on the heap, any number of threads on one
//! tree, virtual loss.

use crate::game::Ground;
use sortie_core::{Outcome, Side};
use std::marker::PhantomData;

/// A position.
pub struct Spot<G: Ground>(G::State);

impl<G: Ground> Clone for Spot<G> {
    fn clone(&self) -> Self {
        Spot(self.0.clone())
    }
}

/// Names the game where there is no position.
pub struct Of<G>(PhantomData<fn() -> G>);

/// 1 for a win of the first side, -1 for one of the second.
fn reward(outcome: Outcome) -> i8 {
    match outcome {
        Outcome::Win(Side::First) => 1,
        Outcome::Draw => 0,
        Outcome::Win(Side::Second) => -1,
    }
}

macro_rules! adapter {
    ($name:ident, $($option:item)*) => {
        pub mod $name {
            use super::{Of, Spot, reward};
            use crate::Found;
            use crate::game::{Ground, moves, play_out, word};
            use ::$name::tree_policy::UCTPolicy;
            use ::$name::{Evaluator, GameState, MCTS, MCTSManager, SearchHandle};
            use sortie_core::Side;
            use std::f64::consts::SQRT_2;
            use std::marker::PhantomData;

            impl<G: Ground> GameState for Spot<G> {
                type Move = G::Move;
                type Player = Side;
                type MoveList = Vec<G::Move>;

                fn current_player(&self) -> Side {
                    G::ground().to_move(&self.0)
                }

                fn available_moves(&self) -> Vec<G::Move> {
                    moves::<G>(&self.0)
                }

                fn make_move(&mut self, mv: &G::Move) {
                    G::ground().play(&mut self.0, *mv);
                }
            }

            impl<G: Ground> Evaluator<Of<G>> for Of<G> {
                type StateEvaluation = i8;

                fn evaluate_new_state(
                    &self,
                    spot: &Spot<G>,
                    moves: &Vec<G::Move>,
                    _: Option<SearchHandle<Of<G>>>,
                ) -> (Vec<()>, i8) {
                    let outcome = G::ground().outcome(&spot.0);
                    let outcome = outcome.unwrap_or_else(|| play_out::<G>(&mut spot.0.clone()));
                    (vec![(); moves.len()], reward(outcome))
                }

                fn evaluate_existing_state(&self, _: &Spot<G>, known: &i8, _: SearchHandle<Of<G>>) -> i8 {
                    *known
                }

                fn interpret_evaluation_for_player(&self, known: &i8, side: &Side) -> i64 {
                    i64::from(if *side == Side::First { *known } else { -known })
                }
            }

            impl<G: Ground> MCTS for Of<G> {
                type State = Spot<G>;
                type Eval = Of<G>;
                type TreePolicy = UCTPolicy;
                type NodeData = ();
                type TranspositionTable = ();
                type ExtraThreadData = ();

                /// A simulation on its way counts as lost.
                fn virtual_loss(&self) -> i64 {
                    1
                }

                $($option)*
            }

            pub fn search<G: Ground>(simulations: u64, threads: usize) -> Found {
                let root = Spot::<G>(G::ground().initial());
                // The exploration term has a factor of 2 and our rewards a range of 2: this is sqrt 2 on 0 to 1.
                let policy = UCTPolicy::new(SQRT_2);
                let mut search = MCTSManager::new(root, Of(PhantomData), Of(PhantomData), policy, ());
                if threads == 1 {
                    search.playout_n(simulations);
                } else {
                    search.playout_n_parallel(simulations as u32, threads);
                }
                let counted = search.tree().root_node().moves().map(|mv| mv.visits()).sum();
                let found = Found { best: word::<G>(search.best_move()), counted: Some(counted) };
                std::mem::forget(search);
                found
            }
        }
    };
}

adapter!(mcts,);
adapter!(
    treant,
    fn rng_seed(&self) -> Option<u64> {
        Some(1)
    }
);
