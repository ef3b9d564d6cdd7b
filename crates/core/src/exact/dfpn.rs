//! An exact solver for any game: depth-first proof-number search (df-pn, Nagai 2002) with the 1 + epsilon thresholds of
//! Pawlewicz and Lew (2007), for one question: is the position worth at least so much to the first side?
//!
//! The table is kept between searches and is keyed by whole states, never by hashes of them. A state is all that later
//! play depends on, so two paths to one state have one value (see `joblevel`), and a proof of an entry rests only on
//! entries that were proved before: it is a finite line of play even in a game that can go round in circles.

use super::value::Value;
use crate::domain::{Domain, Game, Side};
use crate::rng::mix;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// Nothing is left to do.
const INFINITE: u32 = u32::MAX;
/// Beyond this a line is not followed: the stack has an end.
const DEPTH_MAX: usize = 1000;

/// How much the domain's glance at a position counts in its first numbers: from 1 to 1 more than this.
const GLANCE: f64 = 6.0;

/// What is known of a state.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub proof: u32,
    pub disproof: u32,
    /// The move that decided it, where one move does.
    pub mv: u16,
}

/// What a search found.
pub struct Solved<M> {
    /// Whether the answer is yes, if it was found.
    pub decided: Option<bool>,
    /// The best of the moves that were not excluded; where one move decides, that one.
    pub best: Option<M>,
    pub proof: u32,
    pub disproof: u32,
    /// Positions looked at.
    pub nodes: u64,
}

/// The solver and what it remembers.
pub struct Solver<G: Game> {
    game: Arc<G>,
    /// For the two questions that can be asked: at least a draw, at least a win.
    tables: [Table<G>; 2],
    entries_max: usize,
}

type Table<G> = HashMap<<G as Domain>::State, Entry, BuildHasherDefault<Mixer>>;

/// A quick hash: states are compared as a whole anyway, and nobody chooses them to collide.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u8(&mut self, n: u8) {
        self.write_u64(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(26) ^ n).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }

    fn write_usize(&mut self, n: usize) {
        self.write_u64(n as u64);
    }

    fn finish(&self) -> u64 {
        mix(self.0)
    }
}

impl<G: Game> Solver<G> {
    /// Remembers about so many bytes at most.
    pub fn new(game: Arc<G>, memory_max: usize) -> Self {
        let entries_max = memory_max / (size_of::<(G::State, Entry)>() + 8);
        Solver { game, tables: Default::default(), entries_max }
    }

    /// What the table holds of a state.
    pub fn entry(&self, state: &G::State, ask: Value) -> Option<Entry> {
        self.tables[self.table(ask)].get(state).copied()
    }

    /// Without draws both questions are one.
    fn table(&self, ask: Value) -> usize {
        usize::from(ask == Value::Win || !self.game.draws())
    }

    /// Makes room if the tables have grown too large: what is proved is kept as long as it can be.
    pub fn trim(&mut self) {
        for table in &mut self.tables {
            if table.len() > self.entries_max {
                table.retain(|_, entry| entry.proof == 0 || entry.disproof == 0);
            }
            if table.len() > self.entries_max / 4 * 3 {
                table.clear();
            }
        }
    }

    /// Looks at up to so many positions. The moves in `exclude` are as if they were not legal at the root.
    pub fn solve(
        &mut self,
        root: &G::State,
        exclude: &[G::Move],
        ask: Value,
        nodes_max: u64,
        stop: &dyn Fn() -> bool,
    ) -> Solved<G::Move> {
        let table = self.table(ask);
        let (table, game) = (&mut self.tables[table], &*self.game);
        let mut search = Search { game, table, ask, nodes: 0, nodes_max, stop, stopped: false };
        if let Some(entry) = search.ended(root) {
            let decided = Some(entry.proof == 0);
            return Solved { decided, best: None, proof: entry.proof, disproof: entry.disproof, nodes: 0 };
        }
        let mut legal = Vec::new();
        game.moves(root, &mut legal);
        legal.retain(|mv| !exclude.contains(mv));
        let any = legal.first().copied();
        let moves = search.after(root, legal);
        let (entry, best) = search.expand(root, &moves, INFINITE, INFINITE, 0);
        // Where all moves are lost, one is as good as another.
        let best = best.or(any);
        if exclude.is_empty() {
            search.store(root, entry);
        }
        let nodes = search.nodes;
        let decided = match entry {
            Entry { proof: 0, .. } => Some(true),
            Entry { disproof: 0, .. } => Some(false),
            _ => None,
        };
        Solved { decided, best, proof: entry.proof, disproof: entry.disproof, nodes }
    }
}

struct Search<'a, G: Game> {
    game: &'a G,
    table: &'a mut Table<G>,
    ask: Value,
    nodes: u64,
    nodes_max: u64,
    stop: &'a dyn Fn() -> bool,
    stopped: bool,
}

type Moves<G> = Vec<(<G as Domain>::Move, <G as Domain>::State)>;

impl<G: Game> Search<'_, G> {
    fn ended(&self, state: &G::State) -> Option<Entry> {
        let outcome = self.game.outcome(state)?;
        Some(match Value::of(outcome) >= self.ask {
            true => Entry { proof: 0, disproof: INFINITE, mv: 0 },
            false => Entry { proof: INFINITE, disproof: 0, mv: 0 },
        })
    }

    /// The moves of a list that may matter, with what they lead to.
    fn after(&self, state: &G::State, mut moves: Vec<G::Move>) -> Moves<G> {
        self.game.narrow(state, &mut moves);
        let after = |mv| {
            let mut next = state.clone();
            self.game.play(&mut next, mv);
            (mv, next)
        };
        moves.into_iter().map(after).collect()
    }

    /// What is known of a state before it is looked at.
    fn known(&self, state: &G::State) -> Entry {
        let stored = self.ended(state).or_else(|| self.table.get(state).copied());
        stored.unwrap_or_else(|| {
            // What looks good for the first side is taken to be easier to prove.
            let ahead = 2.0 * self.game.evaluate(state).clamp(0.0, 1.0) - 1.0;
            let number = |behind: f64| 1 + (GLANCE * behind.max(0.0)).round() as u32;
            Entry { proof: number(-ahead), disproof: number(ahead), mv: 0 }
        })
    }

    /// A proved entry is never replaced: what rests on it rests on its move.
    fn store(&mut self, state: &G::State, entry: Entry) {
        let solved = |e: &Entry| e.proof == 0 || e.disproof == 0;
        if !self.table.get(state).is_some_and(solved) {
            self.table.insert(state.clone(), entry);
        }
    }

    /// Looks below a state until one of its numbers reaches its limit.
    fn visit(&mut self, state: &G::State, proof_max: u32, disproof_max: u32, depth: usize) {
        let mut legal = Vec::new();
        self.game.moves(state, &mut legal);
        let moves = self.after(state, legal);
        let (entry, _) = self.expand(state, &moves, proof_max, disproof_max, depth);
        self.store(state, entry);
    }

    fn expand(
        &mut self,
        state: &G::State,
        moves: &Moves<G>,
        proof_max: u32,
        disproof_max: u32,
        depth: usize,
    ) -> (Entry, Option<G::Move>) {
        self.nodes += 1;
        let first = self.game.to_move(state) == Side::First;
        let mut known: Vec<Entry> = moves.iter().map(|(_, next)| self.known(next)).collect();
        loop {
            // `own` is what the side to move wants to be small: it can choose. `other` is a sum.
            let own = |e: &Entry| if first { e.proof } else { e.disproof };
            let other = |e: &Entry| if first { e.disproof } else { e.proof };
            let (mut best, mut second) = (0, INFINITE);
            let mut sum = 0u32;
            for (i, entry) in known.iter().enumerate() {
                if i > 0 && own(entry) < own(&known[best]) {
                    second = own(&known[best]);
                    best = i;
                } else if i > 0 {
                    second = second.min(own(entry));
                }
                sum = match other(entry) {
                    INFINITE => INFINITE,
                    number if sum == INFINITE => sum.max(number),
                    number => sum.saturating_add(number).min(INFINITE - 1),
                };
            }
            let small = known.get(best).map_or(INFINITE, own);
            let large = if small == 0 {
                INFINITE
            } else if small == INFINITE {
                0
            } else {
                sum
            };
            let mv = moves.get(best).map_or(0, |(mv, _)| self.game.move_id(*mv));
            let (proof, disproof) = if first { (small, large) } else { (large, small) };
            let entry = Entry { proof, disproof, mv };
            let chosen = moves.get(best).map(|(mv, _)| *mv);
            let (own_max, other_max) =
                if first { (proof_max, disproof_max) } else { (disproof_max, proof_max) };
            self.stopped |= self.nodes & 255 == 0 && (self.stop)();
            let over = self.nodes >= self.nodes_max || self.stopped;
            if small == 0
                || small == INFINITE
                || small >= own_max
                || large >= other_max
                || over
                || depth >= DEPTH_MAX
            {
                return (entry, chosen);
            }
            // A little beyond the second best, so that the search does not jump to and fro.
            let own_next = own_max.min(second.saturating_add(1 + second / 4));
            let other_next = (other_max - large).saturating_add(other(&known[best]));
            let (proof_next, disproof_next) =
                if first { (own_next, other_next) } else { (other_next, own_next) };
            self.visit(&moves[best].1, proof_next, disproof_next, depth + 1);
            known[best] = self.known(&moves[best].1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Nim;

    #[test]
    fn nim_is_solved_and_exclusion_is_obeyed() {
        for heap in 1..30 {
            let nim = Arc::new(Nim { heap });
            let mut solver = Solver::new(nim.clone(), 1 << 20);
            let solved = solver.solve(&(heap, false), &[], Value::Win, 100_000, &|| false);
            assert_eq!(solved.decided, Some(heap % 4 != 0), "{heap}");
            if heap % 4 != 0 {
                assert_eq!(solved.best, Some(heap % 4));
                // Without the only winning move it is lost, and the position itself is not forgotten to be won.
                let less = solver.solve(&(heap, false), &[heap % 4], Value::Win, 100_000, &|| false);
                assert_eq!(less.decided, Some(false), "{heap}");
                let again = solver.solve(&(heap, false), &[], Value::Win, 100_000, &|| false);
                assert_eq!(again.decided, Some(true));
            }
        }
    }

    #[test]
    fn a_search_keeps_to_its_limit_and_goes_on_where_it_was() {
        let nim = Arc::new(Nim { heap: 60 });
        let mut solver = Solver::new(nim, 1 << 20);
        let mut searches = 0;
        loop {
            let solved = solver.solve(&(60, false), &[], Value::Win, 80, &|| false);
            assert!(solved.nodes <= 80);
            searches += 1;
            if solved.decided.is_some() {
                assert_eq!(solved.decided, Some(false));
                break;
            }
            assert!(searches < 1000);
        }
        assert!(searches > 1);
    }
}
