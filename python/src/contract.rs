//! The Python object as a domain: the contract of `sortie_core` in terms of `Host`.

use crate::host::{Host, Node};
use sortie_core::{Choices, Domain, Game, Outcome, Problem, Rng, Side};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A problem or a game of Python's, shared by whoever searches it.
#[derive(Clone)]
pub struct Hosted(pub Arc<Host>);

/// A position of it.
#[derive(Clone)]
pub struct State(pub Arc<Node>);

impl PartialEq for State {
    fn eq(&self, other: &State) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.number().hash(state);
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "position {}", self.0.number())
    }
}

impl Domain for Hosted {
    type State = State;
    type Move = u32;

    fn initial(&self) -> State {
        State(self.0.root())
    }

    fn moves(&self, state: &State, out: &mut Vec<u32>) {
        let game = self.0.is_game();
        // Legal moves of a finished game are nobody's business.
        if game && self.0.outcome(&state.0).is_some() && !self.0.failed() {
            return;
        }
        out.extend_from_slice(&self.0.offer(&state.0).moves);
        // After an exception a tree still wants a move of every node, while it comes to its end.
        if game && out.is_empty() && self.0.failed() {
            out.push(0);
        }
    }

    fn play(&self, state: &mut State, mv: u32) {
        state.0 = self.0.step(&state.0, mv);
    }

    fn show(&self, state: &State) -> String {
        self.0.show(&state.0)
    }

    fn show_move(&self, _state: &State, mv: u32) -> String {
        self.0.word(mv)
    }
}

impl Problem for Hosted {
    fn score(&self, state: &State) -> f64 {
        self.0.score(&state.0)
    }

    fn code(&self, state: &State, mv: u32) -> u64 {
        let offer = self.0.offer(&state.0);
        offer.moves.iter().position(|&other| other == mv).map_or(0, |i| offer.codes[i])
    }

    fn bias(&self, state: &State, mv: u32) -> f64 {
        let offer = self.0.offer(&state.0);
        let place = offer.moves.iter().position(|&other| other == mv);
        place.and_then(|i| offer.bias.get(i)).copied().unwrap_or(0.0)
    }

    fn choices(&self, state: &State, out: &mut Choices<u32>) {
        let offer = self.0.offer(&state.0);
        out.moves.extend_from_slice(&offer.moves);
        out.codes.extend_from_slice(&offer.codes);
    }

    fn promise(&self, state: &State) -> Option<f64> {
        if self.0.has_promise() { self.0.promise(&state.0) } else { None }
    }
}

impl Game for Hosted {
    fn to_move(&self, state: &State) -> Side {
        self.0.side(&state.0)
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        self.0.outcome(&state.0)
    }

    fn key(&self, state: &State) -> u64 {
        self.0.key(&state.0)
    }

    fn move_id(&self, mv: u32) -> u16 {
        mv as u16
    }

    fn move_of(&self, _state: &State, id: u16) -> u32 {
        u32::from(id)
    }

    fn rollout(
        &self,
        state: &mut State,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        _scratch: &mut Vec<u32>,
    ) -> Option<Outcome> {
        self.0.play_out(&state.0, draws, moves_max, rng)
    }

    fn plays_out_together(&self) -> bool {
        self.0.plays_out_together()
    }

    fn rollouts(&self, states: &[&State], rng: &mut Rng) -> Vec<f64> {
        let nodes: Vec<_> = states.iter().map(|state| &state.0).collect();
        // 32 bits, which every generator of Python's and of numpy takes.
        self.0.play_out_together(&nodes, rng.bits() >> 32)
    }
}
