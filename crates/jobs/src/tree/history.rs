//! Games whose positions have a history, or no end: where values stored without their path would prove falsehoods.

use super::*;
use sortie_core::JobSource;
use sortie_core::exact::*;
use sortie_core::parts::Solver;
use sortie_core::{AnyGame, Boxed};
use sortie_core::{Domain, Game, Outcome, Side};
use sortie_core::{Rng, mix};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A token on a graph; no node is visited twice, and who cannot move loses. The token's node alone says little.
#[derive(Debug, Clone)]
struct Geography {
    /// `next[n]` are the nodes that the token can go to from `n`, as bits.
    next: Vec<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Token {
    at: u8,
    /// Bits.
    visited: u16,
}

impl Domain for Geography {
    type State = Token;
    type Move = u8;

    fn initial(&self) -> Token {
        Token { at: 0, visited: 1 }
    }

    fn moves(&self, state: &Token, out: &mut Vec<u8>) {
        out.extend((0..16).filter(|n| self.next[state.at as usize] & !state.visited & 1 << n != 0));
    }

    fn play(&self, state: &mut Token, to: u8) {
        *state = Token { at: to, visited: state.visited | 1 << to };
    }

    fn show(&self, state: &Token) -> String {
        format!("{state:?}")
    }

    fn show_move(&self, _: &Token, to: u8) -> String {
        to.to_string()
    }
}

impl Game for Geography {
    fn to_move(&self, state: &Token) -> Side {
        if state.visited.count_ones() % 2 == 1 { Side::First } else { Side::Second }
    }

    fn outcome(&self, state: &Token) -> Option<Outcome> {
        let stuck = self.next[state.at as usize] & !state.visited == 0;
        stuck.then(|| Outcome::Win(self.to_move(state).other()))
    }

    /// As a player of Go would hash a position: without what was there before.
    fn key(&self, state: &Token) -> u64 {
        mix(u64::from(state.at))
    }

    fn move_id(&self, to: u8) -> u16 {
        to.into()
    }

    fn move_of(&self, _: &Token, id: u16) -> u8 {
        id as u8
    }
}

fn minimax(game: &Geography, state: &Token, seen: &mut HashMap<Token, Value>) -> Value {
    if let Some(outcome) = game.outcome(state) {
        return Value::of(outcome);
    }
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    let side = game.to_move(state);
    let mut best = Value::Loss;
    for mv in moves {
        let mut next = state.clone();
        game.play(&mut next, mv);
        best = best.max(minimax(game, &next, seen).view(side));
    }
    seen.insert(state.clone(), best.view(side));
    best.view(side)
}

#[test]
fn values_that_depend_on_the_path_are_not_mixed_up() {
    let stop = AtomicBool::new(false);
    let mut differ = 0;
    for seed in 0..12 {
        let mut rng = Rng::new(seed, 0);
        let next =
            (0..9).map(|n| (0..9).filter(|&m| m != n && rng.below(3) == 0).map(|m| 1 << m).sum()).collect();
        let graph = Geography { next };
        let mut values = HashMap::new();
        let value = minimax(&graph, &graph.initial(), &mut values);
        if graph.outcome(&graph.initial()).is_some() {
            continue;
        }
        // Nodes that are won for the side to move after some paths and lost after others.
        let mut by_node: HashMap<u8, HashSet<Value>> = HashMap::new();
        for (state, value) in &values {
            by_node.entry(state.at).or_default().insert(value.view(graph.to_move(state)));
        }
        differ += by_node.values().filter(|values| values.len() > 1).count();
        let game = Boxed::new(graph);
        for (_, select) in Select::ALL {
            let plan = Plan { select, effort: Effort { nodes: 5, playouts: 0 }, ..Plan::default() };
            let mut tree = JobTree::new(game.board(None).unwrap(), None, plan.clone());
            let mut worker = game.worker(1 << 24, &plan.statuses, 1);
            let asked = Asked { stop: &stop, cancel: &stop };
            let ran = simulate(&mut tree, &Virtual::workers(4), |job, _| {
                Some((worker.answer(job, asked, &mut |_| {}).unwrap()?, 1))
            });
            assert!(!ran.stuck && tree.finished());
            assert_eq!(tree.bounds().value(), Some(value), "seed {seed} {select:?}");
            let goal = tree.goals()[0];
            let section = game.certify(None, &[], goal, &tree.guide(goal), 10_000, &|| false).unwrap();
            let proof = Proof { instance: "graph".into(), sections: vec![section], ..Proof::default() };
            assert_eq!(game.check(&proof).unwrap().goals, [goal]);
        }
    }
    assert!(differ > 10, "only {differ} nodes have values that depend on the path");
}

/// A token on a line that either side may push either way, for ever: the right end wins for the first side, the left
/// end for the second.
struct TugOfWar;

impl Domain for TugOfWar {
    type State = (i8, bool);
    type Move = i8;

    fn initial(&self) -> (i8, bool) {
        (0, false)
    }

    fn moves(&self, state: &(i8, bool), out: &mut Vec<i8>) {
        if state.0.abs() < 5 {
            out.extend([-1, 1, 2 - i8::from(state.1) * 4]);
        }
    }

    fn play(&self, state: &mut (i8, bool), step: i8) {
        *state = ((state.0 + step).clamp(-5, 5), !state.1);
    }

    fn show(&self, state: &(i8, bool)) -> String {
        format!("{state:?}")
    }

    fn show_move(&self, _: &(i8, bool), step: i8) -> String {
        step.to_string()
    }
}

impl Game for TugOfWar {
    fn to_move(&self, state: &(i8, bool)) -> Side {
        if state.1 { Side::Second } else { Side::First }
    }

    fn outcome(&self, state: &(i8, bool)) -> Option<Outcome> {
        match state.0 {
            5 => Some(Outcome::Win(Side::First)),
            -5 => Some(Outcome::Win(Side::Second)),
            _ => None,
        }
    }

    fn key(&self, state: &(i8, bool)) -> u64 {
        mix(state.0 as u64) ^ u64::from(state.1)
    }

    fn move_id(&self, step: i8) -> u16 {
        (step + 2) as u16
    }

    fn move_of(&self, _: &(i8, bool), id: u16) -> i8 {
        id as i8 - 2
    }
}

#[test]
fn a_game_that_goes_round_in_circles_is_left_open() {
    let mut solver = Solver::new(Arc::new(TugOfWar), 1 << 16);
    // Two steps from the end it is won; in the middle both sides can hold the balance for ever.
    assert_eq!(solver.solve(&(3, false), &[], Value::Win, 1000, &|| false).decided, Some(true));
    assert_eq!(solver.solve(&(-3, true), &[], Value::Draw, 1000, &|| false).decided, Some(false));
    let open = solver.solve(&(0, false), &[], Value::Win, 20_000, &|| false);
    assert_eq!((open.decided, open.nodes <= 20_000), (None, true));
}
