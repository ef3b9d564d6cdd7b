//! What a proof says of every position in it, stone by stone: for a database. Nothing is told that `check` or
//! `check_loss` has not been through.

use super::board::{Board, NONE, Windows};
use super::proof::{Proof, check, check_loss};
use super::rules::{Connect6, State};
use super::vcdt::{Vcdt, Verdict};
use super::zone::{Attempt, Effort, prove_loss};
use sortie_core::exact::{Bounds, Fact, Settled, Value};
use sortie_core::{Game, Side};
use std::sync::Arc;

/// A loss takes an attack search for every turn in a zone: all of them together so many times the nodes of one.
const LOSS_TIMES: u64 = 100;

/// Proves that the side to move wins by double threats, or that it has lost to them.
pub(super) fn settle(game: &Connect6, state: &State, nodes_max: u64) -> Settled {
    let mut harvest = Harvest { game, whole: Vec::new(), half: Vec::new() };
    if game.outcome(state).is_some() {
        return harvest.settled();
    }
    let mut board = Board::of(Arc::new(Windows::new(game.size())), game, state);
    let side = usize::from(state.to_move() == Side::Second);
    let left = state.stones_left().min(u32::from(board.cells()) - state.played() as u32);
    let mut vcdt = Vcdt::default();
    if let Verdict::Wins(proof) = vcdt.search_turn(&mut board, side, left, &[], nodes_max, &|| false) {
        let begun = left == 2 || proof.steps[0].turn[1] == NONE;
        if begun && check(game.size(), board.stones(), side as u8, &proof).is_ok() {
            harvest.win(&mut board, side, &proof, 0, &mut vec![false; proof.steps.len()]);
        }
        return harvest.settled();
    }
    let effort = Effort { each: nodes_max, total: nodes_max.saturating_mul(LOSS_TIMES), over: &|| false };
    let attempt = prove_loss(&mut vcdt, &mut board, side, left, &[], effort);
    if let Attempt::Lost(loss) = attempt
        && check_loss(game.size(), board.stones(), side as u8, left, &[], &loss).is_ok()
    {
        harvest.add(&board, side, 1 - side, NONE);
        // The proofs against a pass and against a single stone of two are of positions that no game has.
        let stones = loss.stones.iter().map(|(cell, proof)| ([*cell, NONE], proof));
        let turns = loss.turns.iter().map(|(turn, proof)| (*turn, proof));
        for (turn, proof) in turns.chain(stones.filter(|_| left == 1)) {
            harvest.answer(&mut board, side, turn);
            board.play(turn, side);
            harvest.win(&mut board, 1 - side, proof, 0, &mut vec![false; proof.steps.len()]);
            board.undo(turn, side);
        }
    }
    harvest.settled()
}

struct Harvest<'a> {
    game: &'a Connect6,
    /// Positions in which a turn begins, and those in the middle of one.
    whole: Vec<Fact>,
    half: Vec<Fact>,
}

impl Harvest<'_> {
    fn add(&mut self, board: &Board, to_move: usize, winner: usize, best: u16) {
        let ident = board.ident(to_move);
        let value = if winner == 0 { Value::Win } else { Value::Loss };
        let best = (best != NONE).then(|| self.game.cell_image(best, ident.image.into()));
        let fact = Fact { ident, bounds: Bounds::exactly(value), best };
        // From the first turn on, an odd number of stones is on the board when a turn begins.
        let stones = board.stones().iter().filter(|stone| **stone != 2).count();
        let facts = if stones % 2 == 1 { &mut self.whole } else { &mut self.half };
        facts.push(fact);
    }

    /// The position itself was the first of its kind.
    fn settled(mut self) -> Settled {
        let turns = self.whole.len();
        self.whole.append(&mut self.half);
        Settled { facts: self.whole, turns }
    }

    /// The positions in the middle of a turn of the side that loses: either stone may come first.
    fn answer(&mut self, board: &mut Board, loser: usize, turn: [u16; 2]) {
        if turn[1] == NONE {
            return;
        }
        for cell in turn {
            board.place(cell, loser);
            self.add(board, loser, 1 - loser, NONE);
            board.lift(cell, loser);
        }
    }

    /// A position that `side` wins, and all that follows; the same step is always the same position.
    fn win(&mut self, board: &mut Board, side: usize, proof: &Proof, at: u32, seen: &mut [bool]) {
        if std::mem::replace(&mut seen[at as usize], true) {
            return;
        }
        let step = &proof.steps[at as usize];
        self.add(board, side, side, step.turn[0]);
        board.place(step.turn[0], side);
        if step.turn[1] != NONE && board.live(side, 6).is_empty() {
            self.add(board, side, side, step.turn[1]);
        }
        board.lift(step.turn[0], side);
        board.play(step.turn, side);
        if board.live(side, 6).is_empty() {
            self.add(board, 1 - side, side, NONE);
            for &(answer, next) in &step.answers {
                self.answer(board, 1 - side, answer);
                board.play(answer, 1 - side);
                self.win(board, side, proof, next, seen);
                board.undo(answer, 1 - side);
            }
        }
        board.undo(step.turn, side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::{AnyGame, Boxed, Domain, Rng};

    fn lines(how: &'static str) -> Vec<&'static str> {
        let lines = include_str!("../../instances/connect6/positions.txt").lines();
        lines.filter_map(|line| line.strip_prefix(how)?.splitn(3, ' ').nth(2)).collect()
    }

    #[test]
    fn a_proof_names_every_position_that_a_game_along_it_meets() {
        let game = Connect6::new(19);
        for text in lines("attack").into_iter().take(6) {
            let state = game.parse_position(text).expect("a position");
            let facts = settle(&game, &state, 20_000).facts;
            assert_eq!(Some(facts[0].ident), game.ident(&state), "{text}");
            // Follow the best moves, and for the other side a reply of the proof if it has one.
            let mut now = state;
            while game.outcome(&now).is_none() {
                let ident = game.ident(&now).expect("a name");
                let Some(fact) = facts.iter().find(|fact| fact.ident.key == ident.key) else { break };
                let Some(best) = fact.best else { break };
                let mut moves = Vec::new();
                game.moves(&now, &mut moves);
                let image = |mv: &&u16| game.move_image(**mv, ident.image.into()) == best;
                let mv = *moves.iter().find(image).expect("the best move is legal");
                game.play(&mut now, mv);
            }
            assert!(game.outcome(&now).is_some() || game.to_move(&now) != facts[0].ident.side);
        }
    }

    #[test]
    fn mirror_images_have_one_name_and_their_moves_are_images() {
        let (game, mut rng) = (Connect6::new(9), Rng::new(4, 0));
        for _ in 0..20 {
            let mut state = game.initial();
            for _ in 0..rng.below(20) {
                let mv = game.random_move(&state, &mut rng, &mut Vec::new()).expect("a move");
                game.play(&mut state, mv);
            }
            let ident = game.ident(&state).expect("a name");
            for image in 0..8 {
                let text = game.written(&state, image).expect("a text");
                let other = game.parse_position(&text).expect("its image");
                let again = game.ident(&other).expect("a name");
                assert_eq!((again.key, again.check, again.side), (ident.key, ident.check, ident.side));
            }
        }
        assert_eq!(Boxed::new(game).rules_version(), 1);
    }
}
