//! A problem of your own, and the whole command over it: `cargo run -- solve @name@/20`.
//!
//! The example splits the first n square numbers into two heaps whose sums differ as little as possible. Change the
//! rules below to yours: `initial`, `moves`, `play`, `score` and `code` are all that a search needs.

use sortie::{Domain, Entry, OpenError, Opened, Problem, Request};
use std::process::ExitCode;

fn main() -> ExitCode {
    sortie::main(&[&ENTRY])
}

/// What the command knows of the domain: `sortie list` shows it.
static ENTRY: Entry = Entry {
    name: "@name@",
    about: "square numbers in two heaps: how equal?",
    names: "how many numbers, 1 to 60",
    options: &[],
    examples: &["@name@/20"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let numbers = request.number(&ENTRY, 1..=60)?;
    Ok(Opened::problem(Heaps { numbers: (1..=numbers).map(|n| (n * n) as i64).rev().collect() }))
}

/// The instance: what does not change while it is solved.
struct Heaps {
    numbers: Vec<i64>,
}

/// The position. Small and flat, because every playout begins with a copy of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    /// How many numbers have been placed.
    placed: usize,
    /// The left heap less the right one.
    difference: i64,
}

impl Domain for Heaps {
    type State = State;
    type Move = bool; // whether the next number goes to the left

    fn initial(&self) -> State {
        State { placed: 0, difference: 0 }
    }

    // Every legal move, in an order that depends on the state only. None: the end.
    fn moves(&self, state: &State, out: &mut Vec<bool>) {
        if state.placed < self.numbers.len() {
            out.extend([true, false]);
        }
    }

    fn play(&self, state: &mut State, left: bool) {
        let number = self.numbers[state.placed];
        state.difference += if left { number } else { -number };
        state.placed += 1;
    }

    fn show(&self, state: &State) -> String {
        format!("{} of {} placed, difference {}", state.placed, self.numbers.len(), state.difference)
    }

    // One word, different for every legal move: records are lists of them.
    fn show_move(&self, _: &State, left: bool) -> String {
        if left { "left" } else { "right" }.into()
    }
}

impl Problem for Heaps {
    // Higher is better, always: costs are negated.
    fn score(&self, state: &State) -> f64 {
        -(state.difference.abs() as f64)
    }

    // What a search learns by: moves that should be learnt as one share a code.
    fn code(&self, state: &State, left: bool) -> u64 {
        (state.placed * 2 + usize::from(left)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie::{Budget, conformance};

    #[test]
    fn keeps_the_rules_of_every_domain() {
        conformance::problem(&Heaps { numbers: vec![9, 4, 1] }, 20, 1);
    }

    /// 49 + 36 + 16 + 1 = 25 + 9 + 4 + 64.
    #[test]
    fn finds_what_is_known() {
        let eight = Heaps { numbers: (1..=8).map(|n| n * n).collect() };
        let best = sortie::solve(&eight, Budget::playouts(5_000).until(0.0)).run().unwrap();
        assert_eq!(best.score, 0.0);
    }
}
