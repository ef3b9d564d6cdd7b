//! P-games: synthetic game trees on which parallel searches are measured, since their width, their depth and the time of
//! a playout can be set (K. Yoshizoe et al., "Scalable Distributed Monte-Carlo Tree Search", 2011). As in L. Kocsis and
//! C. Szepesvari, "Bandit based Monte-Carlo Planning", 2006, every edge has a random value, 0 to 127 for moves of the
//! first side and -127 to 0 for those of the second; the sign of the sum along the path tells who has won.
//!
//! The tree is never stored: the value of an edge is a hash of the path that ends with it. No two paths meet again.

use crate::grid::{out_of_range, short, standing, turn};
use sortie_core::playout::exp;
use sortie_core::{Boxed, Domain, Game, Outcome, Rng, Side, mix};
use sortie_core::{Entry, OpenError, Opened, Request};

/// The row of the table of domains.
pub static ENTRY: Entry = Entry {
    name: "pgame",
    about: "game: a synthetic tree, its width, depth and playout time to be set",
    names: "the number of moves in every position, 1 to 256",
    options: &[
        ("depth", "moves to the end, 1 to 64 (default 20)"),
        ("cost", "rounds of useless work a playout, up to 1000000000 (default 0)"),
        ("seed", "another tree of the same shape (default 1)"),
    ],
    examples: &["pgame/8", "pgame/8:depth=20,cost=1000"],
    open,
};

fn open(request: &Request) -> Result<Opened, OpenError> {
    let mut options = request.options.clone();
    let depth = options.number("depth", 20, DEPTH_MAX as u64)?;
    let cost = options.number("cost", 0, 1_000_000_000)?;
    let seed = options.number("seed", 1, u64::MAX)?;
    options.finish(ENTRY.options)?;
    if depth == 0 {
        let expected = format!("a whole number from 1 to {DEPTH_MAX}");
        return Err(OpenError::OptionValue { key: "depth", given: "0".into(), expected });
    }
    match request.name.parse() {
        Ok(branching @ 1..=256) => {
            Ok(Opened::Game(Box::new(Boxed::new(PGame { branching, depth: depth as usize, cost, seed }))))
        }
        _ => Err(out_of_range(request, &ENTRY)),
    }
}

const DEPTH_MAX: usize = 64;

/// A tree.
#[derive(Debug, Clone)]
pub struct PGame {
    /// Moves in every position, 1 to 256.
    pub branching: u16,
    /// Moves of a game, 1 to 64.
    pub depth: usize,
    /// Rounds of useless work a playout.
    pub cost: u64,
    /// Which tree.
    pub seed: u64,
}

/// A path from the root.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The first `played` are the moves, the rest is 0.
    path: [u8; DEPTH_MAX],
    played: u8,
    /// The values of the edges so far.
    sum: i32,
    /// The hash of the path.
    hash: u64,
}

impl State {
    #[inline]
    fn to_move(&self) -> Side {
        turn(self.played.into())
    }
}

impl Domain for PGame {
    type State = State;
    type Move = u8; // the child, from 0

    fn initial(&self) -> State {
        State { path: [0; DEPTH_MAX], played: 0, sum: 0, hash: mix(self.seed) }
    }

    fn moves(&self, state: &State, out: &mut Vec<u8>) {
        if usize::from(state.played) < self.depth {
            out.extend((0..self.branching).map(|mv| mv as u8));
        }
    }

    #[inline]
    fn play(&self, state: &mut State, mv: u8) {
        state.hash = mix(state.hash ^ u64::from(mv));
        let value = (state.hash >> 57) as i32;
        state.sum += if state.to_move() == Side::First { value } else { -value };
        state.path[usize::from(state.played)] = mv;
        state.played += 1;
    }

    fn show(&self, state: &State) -> String {
        let path = self.position(state).unwrap_or_default();
        let end = standing(self.outcome(state), state.to_move());
        format!("path {path}\nmove {} of {}, sum {}\n{end}", state.played, self.depth, state.sum)
    }

    fn show_move(&self, _: &State, mv: u8) -> String {
        (u16::from(mv) + 1).to_string()
    }

    #[inline]
    fn random_move(&self, state: &State, rng: &mut Rng, _: &mut Vec<u8>) -> Option<u8> {
        (usize::from(state.played) < self.depth).then(|| rng.below(self.branching.into()) as u8)
    }
}

impl Game for PGame {
    fn to_move(&self, state: &State) -> Side {
        state.to_move()
    }

    #[inline]
    fn outcome(&self, state: &State) -> Option<Outcome> {
        (usize::from(state.played) == self.depth).then_some(match state.sum {
            1.. => Outcome::Win(Side::First),
            0 => Outcome::Draw,
            _ => Outcome::Win(Side::Second),
        })
    }

    fn key(&self, state: &State) -> u64 {
        state.hash
    }

    fn move_id(&self, mv: u8) -> u16 {
        mv.into()
    }

    fn move_of(&self, _: &State, id: u16) -> u8 {
        id as u8
    }

    /// The moves from the root, with commas; the root is a hyphen.
    fn position(&self, state: &State) -> Option<String> {
        let moves = &state.path[..usize::from(state.played)];
        let words: Vec<String> = moves.iter().map(|&mv| self.show_move(state, mv)).collect();
        Some(if words.is_empty() { "-".into() } else { words.join(",") })
    }

    fn parse_position(&self, text: &str) -> Result<State, String> {
        let mut state = self.initial();
        if text.trim() == "-" {
            return Ok(state);
        }
        for (i, word) in text.trim().split(',').enumerate() {
            if i == self.depth {
                return Err(format!("more than {} moves: the game ended before", self.depth));
            }
            let mv = self.parse_move(&state, word).ok_or_else(|| {
                let number = i + 1;
                format!("move {number} '{}': expected 1 to {} (the root is '-')", short(word), self.branching)
            })?;
            self.play(&mut state, mv);
        }
        Ok(state)
    }

    /// The sum to expect at the end, in standard deviations of what is still to come, through a logistic curve.
    fn evaluate(&self, state: &State) -> f64 {
        const MEAN: f64 = 63.5;
        const DEVIATION: f64 = 36.95; // of 0..=127, uniform
        let left = self.depth - usize::from(state.played);
        // Moves alternate: one is left over if the number is odd, and it is the mover's.
        let odd = MEAN * (left % 2) as f64;
        let expected = f64::from(state.sum) + if state.to_move() == Side::First { odd } else { -odd };
        match self.outcome(state) {
            Some(outcome) => outcome.value(),
            None => 1.0 / (1.0 + exp(-1.7 * expected / (DEVIATION * (left as f64).sqrt()))),
        }
    }

    /// The moves, and then the useless work.
    #[inline(always)]
    fn rollout(
        &self,
        state: &mut State,
        draws: u32,
        moves_max: u32,
        rng: &mut Rng,
        scratch: &mut Vec<u8>,
    ) -> Option<Outcome> {
        let mut outcome = self.outcome(state);
        for _ in 0..moves_max {
            if outcome.is_some() {
                break;
            }
            let mv = self.appealing_move(state, draws, rng, scratch)?;
            self.play(state, mv);
            outcome = self.outcome(state);
        }
        let work = (0..self.cost).fold(state.hash, |x, round| mix(x ^ round));
        std::hint::black_box(work);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::conformance;

    #[test]
    fn conforms() {
        for (branching, depth, cost) in [(8, 20, 0), (256, 3, 10), (2, 64, 0), (1, 1, 0)] {
            conformance::game(&PGame { branching, depth, cost, seed: 1 }, 10, 1);
        }
    }

    /// The value under perfect play, by the rules of the contract.
    fn minimax(game: &PGame, state: &State) -> f64 {
        let mut moves = Vec::new();
        game.moves(state, &mut moves);
        let side = game.to_move(state);
        let after = |mv| {
            let mut next = state.clone();
            game.play(&mut next, mv);
            side.view(minimax(game, &next))
        };
        match game.outcome(state) {
            Some(outcome) => outcome.value(),
            None => side.view(moves.into_iter().map(after).fold(0.0, f64::max)),
        }
    }

    /// The sum that both sides can force, straight from the definition: no state, no game.
    fn forced_sum(hash: u64, sign: i64, branching: u64, left: u32) -> i64 {
        if left == 0 {
            return 0;
        }
        let child = |mv: u64| {
            let hash = mix(hash ^ mv);
            sign * (hash >> 57) as i64 + forced_sum(hash, -sign, branching, left - 1)
        };
        (0..branching).map(child).max_by_key(|sum| sign * sum).expect("at least one move")
    }

    #[test]
    fn minimax_agrees_with_the_definition() {
        let mut wins = [0; 3];
        for seed in 0..12 {
            for (branching, depth) in [(2, 8), (3, 6), (5, 4), (4, 5)] {
                let game = PGame { branching, depth, cost: 0, seed };
                let sum = forced_sum(mix(seed), 1, branching.into(), depth as u32);
                let value = minimax(&game, &game.initial());
                assert_eq!(value, 0.5 * (1 + sum.signum()) as f64, "seed {seed}: {branching}^{depth}");
                wins[(2.0 * value) as usize] += 1;
            }
        }
        assert!(wins[0] > 5 && wins[2] > 5, "{wins:?}: no test of both signs");
    }

    #[test]
    fn seeds_give_other_trees_and_costs_the_same() {
        let end = |cost, seed| {
            let game = PGame { branching: 8, depth: 20, cost, seed };
            let mut state = game.initial();
            game.rollout(&mut state, 1, 100, &mut Rng::new(5, 0), &mut Vec::new());
            (state.path, state.sum)
        };
        assert_eq!(end(0, 1), end(1000, 1));
        assert_ne!(end(0, 1).1, end(0, 2).1);
    }

    #[test]
    fn positions_off_the_tree_are_refused() {
        let game = PGame { branching: 3, depth: 4, cost: 0, seed: 1 };
        for (text, says) in [
            ("1,4", "move 2 '4': expected 1 to 3"),
            ("1,,2", "move 2 ''"),
            ("0", "move 1 '0'"),
            ("1,2,3,1,2", "more than 4 moves"),
            ("1 2", "expected 1 to 3"),
        ] {
            let error = game.parse_position(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn options_are_checked() {
        let read = |_: &str| Err("no files".to_string());
        assert!(crate::open("pgame/8:depth=3,cost=10,seed=7", &read).is_ok());
        for bad in ["pgame/0", "pgame/257", "pgame/8:depth=0", "pgame/8:depth=65", "pgame/8:width=3"] {
            let error = crate::open(bad, &read).err().expect("refused").to_string();
            assert!(error.contains("expected") || error.contains("unknown option"), "{bad}: {error}");
        }
    }
}
