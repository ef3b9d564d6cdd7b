//! A game of your own, and the whole command over it: `cargo run -- play @name@/21`.
//!
//! The example is a heap of counters: who is to move takes one, two or three of them, and who takes the last one wins.
//! Change the rules below to yours.

use sortie::{Domain, Entry, Game, OpenError, Opened, Outcome, Request, Side};
use std::process::ExitCode;

fn main() -> ExitCode {
    sortie::main(&[&ENTRY])
}

/// What the command knows of the domain: `sortie list` shows it.
static ENTRY: Entry = Entry {
    name: "@name@",
    about: "game: take one, two or three counters; who takes the last one wins",
    names: "how many counters, 1 to 200",
    options: &[],
    examples: &["@name@/21"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let counters = request.number(&ENTRY, 1..=200)? as u8;
    Ok(Opened::game(Counters { counters }))
}

/// The instance: what does not change while it is played.
struct Counters {
    counters: u8,
}

/// The position. Small and flat, because every playout begins with a copy of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    left: u8,
    to_move: Side,
}

impl Domain for Counters {
    type State = State;
    type Move = u8; // how many are taken

    fn initial(&self) -> State {
        State { left: self.counters, to_move: Side::First }
    }

    // Every legal move, in an order that depends on the state only. None: the end.
    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        out.extend(1..=state.left.min(3));
    }

    fn play(&self, state: &mut State, taken: u8) {
        state.left -= taken;
        state.to_move = state.to_move.other();
    }

    fn show(&self, state: &State) -> String {
        format!("{} left: {}", state.left, "o".repeat(state.left.into()))
    }

    // One word, different for every legal move: records are lists of them.
    fn show_move(&self, _: &State, taken: u8) -> String {
        taken.to_string()
    }
}

impl Game for Counters {
    fn to_move(&self, state: &State) -> Side {
        state.to_move
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        (state.left == 0).then(|| Outcome::Win(state.to_move.other()))
    }

    // Equal states have equal keys; others should differ.
    fn key(&self, state: &State) -> u64 {
        u64::from(state.left) * 2 + u64::from(state.to_move == Side::First)
    }

    fn move_id(&self, taken: u8) -> u16 {
        taken.into()
    }

    fn move_of(&self, _: &State, id: u16) -> u8 {
        id as u8
    }

    // Nobody can draw: a proof then needs to answer one question only.
    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie::conformance;

    #[test]
    fn keeps_the_rules_of_every_game() {
        conformance::game(&Counters { counters: 13 }, 20, 1);
    }
}
