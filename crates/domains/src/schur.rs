//! Weak Schur numbers: 1, 2, 3, ... go one after the other into a fixed number of parts, and no part may hold three
//! different numbers with x + y = z. The playout ends when the next number fits nowhere; the score is the last one
//! placed. The smallest domain here that is worth searching: to add your own, copy this file and read
//! `sortie_core::Domain` beside it.
//!
//! Leaves out: the rules between parts that the record partitions are built from. Numbers end at `NUMBER_MAX`.

use sortie_core::measure::Measure;
use sortie_core::{Choices, Domain, Problem};
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains; `registry.rs` lists it.
pub static ENTRY: Entry = Entry {
    name: "schur",
    about: "weak Schur numbers: 1, 2, 3, ... into parts without x + y = z; how far?",
    names: "the number of parts, 1 to 8",
    options: &[],
    examples: &["schur/4", "schur/5"],
    open,
};

const PARTS_MAX: usize = 8;
/// More than twice what is known to be possible with eight parts (6,976: Rowley, arXiv 2011.11292).
const NUMBER_MAX: usize = 16_383;

fn open(request: &Request) -> Result<Opened, OpenError> {
    request.options.clone().finish(ENTRY.options)?;
    match request.name.parse() {
        Ok(parts @ 1..=PARTS_MAX) => Ok(Opened::Problem(Box::new(Schur { parts }))),
        _ => Err(OpenError::OutOfRange {
            domain: ENTRY.name,
            name: request.name.to_string(),
            message: format!("expected {}", ENTRY.names),
        }),
    }
}

/// The instance: everything that does not change during a playout. Here it is one number.
struct Schur {
    parts: usize,
}

/// The position. Parts are bits, so that one byte says something about all eight of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct State {
    /// `part[x]` is the bit of the part that holds x; `part[0]` is none, and the length is the next number.
    part: Vec<u8>,
    /// `sums[z]` has the bits of the parts in which z is the sum of two different numbers. Longer than `part`.
    sums: Vec<u8>,
    /// Parts that hold something: always the first ones.
    used: usize,
}

/// Written out because playouts call `clone_from`, which so keeps the memory of the last one.
impl Clone for State {
    fn clone(&self) -> State {
        State { part: self.part.clone(), sums: self.sums.clone(), used: self.used }
    }

    fn clone_from(&mut self, from: &State) {
        self.part.clone_from(&from.part);
        self.sums.clone_from(&from.sums);
        self.used = from.used;
    }
}

/// The rules.
impl Domain for Schur {
    type State = State;
    type Move = u8; // the part, from 0

    fn initial(&self) -> State {
        State { part: vec![0], sums: vec![0, 0], used: 0 }
    }

    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        let next = state.part.len();
        if next <= NUMBER_MAX {
            // Empty parts are all alike: only the first of them is offered.
            let parts = self.parts.min(state.used + 1) as u8;
            out.extend((0..parts).filter(|part| state.sums[next] >> part & 1 == 0));
        }
    }

    fn play(&self, state: &mut State, part: u8) {
        let (next, bit) = (state.part.len(), 1 << part);
        state.sums.resize(2 * next + 1, 0);
        // next + x is a sum now for every smaller x of the same part: one pass over bytes, which vectorises.
        for (sum, x) in state.sums[next..].iter_mut().zip(&state.part) {
            *sum |= x & bit;
        }
        state.part.push(bit);
        state.used = state.used.max(part as usize + 1);
    }

    fn show(&self, state: &State) -> String {
        let line = |part: usize| {
            let numbers = (1..state.part.len()).filter(|&x| state.part[x] == 1 << part);
            numbers.fold(format!("part {}:", part + 1), |line, x| format!("{line} {x}"))
        };
        (0..self.parts).map(line).collect::<Vec<_>>().join("\n")
    }

    // One word, different for every legal move: a record is a list of them. `parse_move` comes with the trait.
    fn show_move(&self, _: &State, part: u8) -> String {
        (part + 1).to_string()
    }
}

/// What is wanted.
impl Problem for Schur {
    fn score(&self, state: &State) -> f64 {
        (state.part.len() - 1) as f64
    }

    // What a policy search learns: which number belongs into which part, whatever else has happened.
    fn code(&self, state: &State, part: u8) -> u64 {
        (state.part.len() * PARTS_MAX + part as usize) as u64
    }

    // Optional: the codes are small numbers, so the policy can be an array.
    fn codes_max(&self) -> Option<usize> {
        Some((NUMBER_MAX + 1) * PARTS_MAX)
    }

    // Optional: good partitions have long runs, so a number goes with the one before it wherever that is legal
    // (Cazenave, NRPA with selective policies, 2016). Not with few parts: the rule cannot pass 61 of 66 with four.
    fn choices(&self, state: &State, out: &mut Choices<u8>) {
        self.moves(state, &mut out.moves);
        let last = state.part[state.part.len() - 1];
        if self.parts >= 5 && out.moves.iter().any(|part| 1 << part == last) {
            out.moves.retain(|part| 1 << part == last);
        }
        out.codes.extend(out.moves.iter().map(|&part| self.code(state, part)));
    }

    // Optional: proven up to four parts; five after Eliahou, Marin, Revuelta and Sanz (2012).
    fn measures(&self, score: f64) -> Vec<Measure> {
        vec![Measure::most("numbers", score)]
    }

    fn best_known(&self) -> Option<f64> {
        [2.0, 8.0, 23.0, 66.0, 196.0].get(self.parts - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::record::replay_whole;
    use sortie_core::{AnyProblem, BestOf, Control, Limits, Nrpa, Search, conformance};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn conforms() {
        for parts in [1, 3, 8] {
            conformance::problem(&Schur { parts }, 5, 1);
        }
    }

    /// The longest playout there is, by trying everything.
    fn longest(schur: &Schur, state: &State) -> usize {
        let mut moves = Vec::new();
        schur.moves(state, &mut moves);
        let after = |part| {
            let mut next = state.clone();
            schur.play(&mut next, part);
            longest(schur, &next)
        };
        moves.into_iter().map(after).max().unwrap_or(state.part.len() - 1)
    }

    #[test]
    fn exhaustive_search_finds_the_known_numbers() {
        for (parts, known) in [(1, 2), (2, 8), (3, 23)] {
            let schur = Schur { parts };
            assert_eq!(longest(&schur, &schur.initial()), known);
        }
    }

    #[test]
    fn nrpa_finds_a_whole_weakly_sum_free_partition() {
        let schur = Schur { parts: 5 };
        let search = Search::Nrpa(Nrpa { level: 2, ..Nrpa::default() });
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits::default(), &stop, &|_| {});
        let spec = BestOf { search, seed: 1, streams: 1, threads: 1 };
        let best = schur.solve(&spec, &control, Vec::new()).best.expect("playouts were played");
        assert!(best.score >= 170.0, "only {}", best.score);
        let end = replay_whole(&schur, &best.moves).expect("a solution replays");
        for z in 1..end.part.len() {
            // The rule itself, without the table of sums.
            assert!((1..z.div_ceil(2)).all(|x| end.part[x] & end.part[z - x] & end.part[z] == 0), "{z}");
        }
    }

    #[test]
    fn names_out_of_range_are_refused() {
        for name in ["0", "9", "-1", "four", "", "4 "] {
            let request = Request { name, options: Default::default(), read: &|_| Err("no files".into()) };
            assert!(open(&request).is_err_and(|e| e.to_string().contains("1 to 8")), "{name}");
        }
    }
}
