//! A walker through a game: where a rank stands, and what it does there. Ranks know positions only by the moves that
//! lead to them, so they are compiled once and not for every game; each step costs one virtual call.

use super::kit::sixteenths;
use super::tree::{Chunk, NodeId, Tree};
use super::{Kit, Uct, within_reach};
use crate::domain::{Game, Outcome, Side};
use crate::play::{PlayError, start_of};
use crate::replay::{ReplayError, legal_texts};
use std::sync::Arc;

/// A path that somebody sent has a move that is not legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathError;

/// What came of a playout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    /// For the first side, in sixteenths.
    pub value: u64,
    /// Whoever played it saw a win at once: that is the outcome.
    pub outcome: Option<Outcome>,
}

impl Played {
    /// An outcome that was found in the tree.
    pub fn decided(outcome: Outcome) -> Played {
        Played { value: sixteenths(outcome), outcome: Some(outcome) }
    }
}

/// Stands on a position of a game and moves on from it.
pub trait Walk: Send {
    /// How it searches: as it was told, without what rests on knowledge that the game does not have.
    fn uct(&self) -> &Uct;
    /// Sets the root.
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError>;
    /// The numbers of the moves from the start to the root.
    fn played(&self) -> &[u16];
    /// How the game ended at the root, if it has.
    fn root_outcome(&self) -> Option<Outcome>;
    /// Goes back to the root.
    fn to_root(&mut self);
    /// Plays a move that is known to be legal, and tells how the game ended, if it has.
    fn step(&mut self, id: u16) -> Option<Outcome>;
    /// Goes from the root along moves that somebody sent, each checked. Tells how the game ended, if it has.
    fn follow(&mut self, path: &[u16]) -> Result<Option<Outcome>, PathError>;
    /// Goes from the root along moves that are known to be legal and to end no game.
    fn retrace(&mut self, path: &[u16]);
    /// Whether the position has been on the way from the root along these moves, before their end.
    fn repeats(&mut self, path: &[u16]) -> bool;
    /// The hash of the position.
    fn key(&self) -> u64;
    /// Whose move it is.
    fn side(&self) -> Side;
    /// A node for the position; `None`: no room.
    fn grow(&mut self, tree: &Tree) -> Option<NodeId>;
    /// The arena was compacted or emptied.
    fn leave_chunk(&mut self);
    /// Remembers the position under a number, to come back to.
    fn park(&mut self, slot: usize);
    /// Goes to the position with that number.
    fn resume(&mut self, slot: usize);
    /// Plays the position out, unless it is won at the next move and the search looks for such: that is for whoever
    /// plays out too, because it takes as long as all the rest. The walker ends anywhere.
    fn play_out(&mut self) -> Played;
    /// The random numbers begin anew.
    fn reseed(&mut self, seed: u64);
    /// A legal move of the position as a word.
    fn word(&self, id: u16) -> Option<String>;
    /// The number of the legal move that a word means.
    fn id(&self, word: &str) -> Option<u16>;
}

/// A walker through a game of any kind, for whoever makes ranks.
pub struct Walker(pub Box<dyn Walk>);

/// A walker through one kind of game.
pub struct GameWalker<G: Game> {
    game: Arc<G>,
    uct: Uct,
    kit: Kit<G>,
    number: u64,
    root: G::State,
    played: Vec<u16>,
    here: G::State,
    /// `parked[slot]` is a position to come back to.
    parked: Vec<G::State>,
}

impl<G: Game> GameWalker<G> {
    /// Stream `number` of the random numbers is its own.
    pub fn new(game: Arc<G>, uct: &Uct, seed: u64, number: u64) -> Self {
        let root = game.initial();
        GameWalker {
            kit: Kit::new(seed, number),
            number,
            uct: within_reach(&*game, uct.clone()),
            here: root.clone(),
            root,
            played: Vec::new(),
            game,
            parked: Vec::new(),
        }
    }
}

impl<G: Game> Walk for GameWalker<G> {
    fn uct(&self) -> &Uct {
        &self.uct
    }

    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let game = &*self.game;
        let mut state = start_of(game, start)?;
        let mut played = Vec::new();
        for (i, word) in words.iter().enumerate() {
            let Some(mv) = game.parse_move(&state, word) else {
                let legal = legal_texts(game, &state).into_iter().take(8).collect();
                return Err(ReplayError::Illegal { number: i + 1, word: word.clone(), legal }.into());
            };
            played.push(game.move_id(mv));
            game.play(&mut state, mv);
        }
        self.played = played;
        self.here.clone_from(&state);
        self.root = state;
        Ok(())
    }

    fn played(&self) -> &[u16] {
        &self.played
    }

    fn root_outcome(&self) -> Option<Outcome> {
        self.game.outcome(&self.root)
    }

    fn to_root(&mut self) {
        self.here.clone_from(&self.root);
    }

    fn step(&mut self, id: u16) -> Option<Outcome> {
        let mv = self.game.move_of(&self.here, id);
        self.game.play(&mut self.here, mv);
        self.game.outcome(&self.here)
    }

    fn follow(&mut self, path: &[u16]) -> Result<Option<Outcome>, PathError> {
        let wrong = PathError;
        self.here.clone_from(&self.root);
        let mut outcome = self.game.outcome(&self.here);
        for &id in path {
            if outcome.is_some() {
                return Err(wrong);
            }
            let mv = self.game.legal_move(&self.here, id).ok_or(wrong)?;
            self.game.play(&mut self.here, mv);
            outcome = self.game.outcome(&self.here);
        }
        Ok(outcome)
    }

    fn retrace(&mut self, path: &[u16]) {
        self.here.clone_from(&self.root);
        for &id in path {
            let mv = self.game.move_of(&self.here, id);
            self.game.play(&mut self.here, mv);
        }
    }

    fn repeats(&mut self, path: &[u16]) -> bool {
        let key = self.game.key(&self.here);
        let mut before = self.root.clone();
        for &id in path {
            if self.game.key(&before) == key {
                return true;
            }
            let mv = self.game.move_of(&before, id);
            self.game.play(&mut before, mv);
        }
        false
    }

    fn key(&self) -> u64 {
        self.game.key(&self.here)
    }

    fn side(&self) -> Side {
        self.game.to_move(&self.here)
    }

    fn grow(&mut self, tree: &Tree) -> Option<NodeId> {
        let key = self.game.key(&self.here);
        self.kit.add_node(&self.game, &self.uct, tree, &self.here, key)
    }

    fn leave_chunk(&mut self) {
        self.kit.chunk = Chunk::default();
    }

    fn park(&mut self, slot: usize) {
        while self.parked.len() <= slot {
            self.parked.push(self.here.clone());
        }
        self.parked[slot].clone_from(&self.here);
    }

    fn resume(&mut self, slot: usize) {
        self.here.clone_from(&self.parked[slot]);
    }

    fn play_out(&mut self) -> Played {
        if self.uct.decisive
            && let Some(outcome) = self.kit.decisive(&self.game, &self.here)
        {
            return Played::decided(outcome);
        }
        Played { value: self.kit.play_out(&self.game, &self.uct, &mut self.here), outcome: None }
    }

    fn reseed(&mut self, seed: u64) {
        self.kit = Kit::new(seed, self.number);
    }

    fn word(&self, id: u16) -> Option<String> {
        self.game.legal_move(&self.here, id).map(|mv| self.game.show_move(&self.here, mv))
    }

    fn id(&self, word: &str) -> Option<u16> {
        self.game.parse_move(&self.here, word).map(|mv| self.game.move_id(mv))
    }
}
