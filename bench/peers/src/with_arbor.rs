//! `arbor`: positions are copied, the tree is an enum of nodes in one vector, one thread.

use crate::Found;
use crate::game::{Ground, play_out, word};
use arbor::{Action, GameResult, GameState, MCTS, Player};
use sortie_core::{Outcome, Side};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Who(Side);

impl Player for Who {}

/// A move as the number that our tree stores as well.
#[derive(Debug, Clone, Copy)]
struct Id(u16);

impl Action for Id {}

struct Spot<G: Ground>(G::Flat);

impl<G: Ground> Clone for Spot<G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Ground> Copy for Spot<G> {}

impl<G: Ground> fmt::Debug for Spot<G> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        fmt::Debug::fmt(G::state(&self.0), f)
    }
}

impl<G: Ground> fmt::Display for Spot<G> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&G::ground().show(G::state(&self.0)))
    }
}

impl<G: Ground> GameState<Who, Id> for Spot<G> {
    fn actions<F: FnMut(Id)>(&self, f: &mut F) {
        let game = G::ground();
        crate::game::moves::<G>(G::state(&self.0)).into_iter().for_each(|mv| f(Id(game.move_id(mv))));
    }

    fn make(&self, Id(id): Id) -> Self {
        let (game, mut next) = (G::ground(), *self);
        let state = G::state_mut(&mut next.0);
        let mv = game.move_of(state, id);
        game.play(state, mv);
        next
    }

    fn gameover(&self) -> Option<GameResult> {
        let (game, state) = (G::ground(), G::state(&self.0));
        game.outcome(state).map(|outcome| match outcome {
            Outcome::Draw => GameResult::Draw,
            Outcome::Win(side) if side == game.to_move(state) => GameResult::Win,
            Outcome::Win(_) => GameResult::Lose,
        })
    }

    fn player(&self) -> Who {
        Who(G::ground().to_move(G::state(&self.0)))
    }

    fn custom_evaluation(&self) -> f32 {
        let mut end = self.0;
        let side = self.player().0;
        play_out::<G>(G::state_mut(&mut end)).value_for(side) as f32
    }
}

pub fn search<G: Ground>(simulations: u64) -> Found {
    let game = G::ground();
    let root = Spot::<G>(G::flat(game.initial()));
    // Its exploration constant is sqrt 2 unless told otherwise.
    let mut search = MCTS::new(root).with_custom_evaluation();
    search.ponder(simulations as usize);
    let best = search.best().map(|Id(id)| game.move_of(G::state(&root.0), id));
    // The root begins with one visit that no simulation made.
    let counted = u64::from(search.info.n) - 1;
    std::mem::forget(search);
    Found { best: word::<G>(best), counted: Some(counted) }
}
