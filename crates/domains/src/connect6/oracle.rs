//! Proofs against the truth: exhaustive search where few cells are left, every answer of the other side where there are
//! more, stones dropped at random outside the zones.

use super::board::NONE;
use super::*;
use sortie_core::{Domain, Game, Outcome, Rng, Side};
use std::collections::HashMap;
use std::sync::Arc;

fn side_of(state: &State) -> usize {
    usize::from(state.to_move() == Side::Second)
}

/// The outcome under perfect play, stone by stone, all of them.
fn solve(game: &Connect6, state: &State, known: &mut HashMap<u64, Outcome>) -> Outcome {
    if let Some(outcome) = game.outcome(state) {
        return outcome;
    }
    if let Some(&outcome) = known.get(&game.key(state)) {
        return outcome;
    }
    let side = state.to_move();
    let mut best = Outcome::Win(side.other());
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    for mv in moves {
        let mut next = state.clone();
        game.play(&mut next, mv);
        let outcome = solve(game, &next, known);
        if outcome.value_for(side) > best.value_for(side) {
            best = outcome;
        }
        if best == Outcome::Win(side) {
            break;
        }
    }
    known.insert(game.key(state), best);
    best
}

/// A position with so many cells left, in which stones lie in runs: full of threats, and nobody has six.
fn crowded(game: &Connect6, left: usize, rng: &mut Rng) -> State {
    let cells = game.size() * game.size();
    loop {
        let mut stones = vec![None; cells];
        let played = cells - left;
        // Who plays which of the stones is settled by the rules.
        let mut rest = [0; 2];
        (0..played).for_each(|n| rest[n.div_ceil(2) % 2] += 1);
        let mut empty: Vec<usize> = (0..cells).collect();
        while rest[0] + rest[1] > 0 {
            let cell = empty.swap_remove(rng.below(empty.len()));
            let beside: Vec<Side> = [1, game.size(), game.size() + 1, game.size() - 1]
                .into_iter()
                .flat_map(|step| [cell.checked_sub(step), Some(cell + step)])
                .filter_map(|at| stones.get(at?).copied().flatten())
                .collect();
            let mut side = usize::from(rng.below(2) == 1);
            if !beside.is_empty() && rng.below(4) > 0 {
                side = usize::from(beside[rng.below(beside.len())] == Side::Second);
            }
            side = if rest[side] == 0 { 1 - side } else { side };
            rest[side] -= 1;
            stones[cell] = Some(if side == 0 { Side::First } else { Side::Second });
        }
        let to_move = if played.div_ceil(2) % 2 == 0 { Side::First } else { Side::Second };
        if let Ok(state) = game.with_stones(&stones, to_move)
            && game.outcome(&state).is_none()
        {
            return state;
        }
    }
}

#[test]
fn what_is_called_proved_is_true() {
    let mut rng = Rng::new(3, 0);
    let (mut wins, mut losses, mut calls) = ([0; 2], [0; 2], 0);
    for size in [7, 8] {
        let game = Connect6::new(size);
        let windows = Arc::new(Windows::new(size));
        let mut vcdt = Vcdt::default();
        for round in 0..1500 {
            let state = crowded(&game, 8 + round % 3, &mut rng);
            let (side, left) = (side_of(&state), state.stones_left());
            let mut board = Board::of(windows.clone(), &game, &state);
            let verdict = vcdt.search_turn(&mut board, side, left, &[], 1000, &|| false);
            let attempt = prove_loss(&mut vcdt, &mut board, side, left, &[], 200, &|| false);
            calls += 1;
            let truth = || solve(&game, &state, &mut HashMap::new());
            if let Verdict::Wins(proof) = verdict {
                wins[usize::from(proof.steps.len() > 1)] += 1;
                assert_eq!(check(size, board.stones(), side as u8, &proof), Ok(()));
                assert_eq!(truth(), Outcome::Win(state.to_move()), "{}", game.show(&state));
            }
            if let Attempt::Lost(loss) = attempt {
                losses[left as usize - 1] += 1;
                assert_eq!(check_loss(size, board.stones(), side as u8, left, &[], &loss), Ok(()));
                assert_eq!(truth(), Outcome::Win(state.to_move().other()), "{}", game.show(&state));
            }
        }
    }
    println!("{calls} positions: wins {wins:?}, losses {losses:?}");
    assert!(wins[0] > 100 && wins[1] > 5 && losses[0] > 10 && losses[1] > 10, "{wins:?} {losses:?}");
}

/// The most valuable of some random cells again and again: games full of threats.
fn lively(game: &Connect6, stones: usize, rng: &mut Rng) -> Option<State> {
    let (mut state, mut scratch) = (game.initial(), Vec::new());
    while state.played() < stones {
        let mv = game.appealing_move(&state, 30, rng, &mut scratch)?;
        game.play(&mut state, mv);
        if game.outcome(&state).is_some() {
            return None;
        }
    }
    Some(state)
}

/// Plays a proof against every turn of the other side, by the rules of six in a row alone: the number of turns tried.
fn replay(board: &mut Board, side: usize, proof: &Proof, at: u32) -> u64 {
    let step = &proof.steps[at as usize];
    board.play(step.turn, side);
    let mut tried = 0;
    if board.live(side, 6).is_empty() {
        assert!(!board.threatens(1 - side), "the other side makes six");
        for a in 0..board.cells() {
            for b in a + 1..board.cells() {
                if !board.is_empty(a) || !board.is_empty(b) {
                    continue;
                }
                tried += 1;
                board.play([a, b], 1 - side);
                // Either six can be made at once, or the proof has a step for it.
                if !board.threatens(side) {
                    let known = step.answers.iter().find(|(turn, _)| *turn == [a, b]);
                    let &(_, next) = known.expect("every answer has a step");
                    tried += replay(board, side, proof, next);
                }
                board.undo([a, b], 1 - side);
            }
        }
    }
    board.undo(step.turn, side);
    tried
}

#[test]
fn every_turn_against_a_proof_loses() {
    let (size, mut rng, mut vcdt) = (9, Rng::new(7, 0), Vcdt::default());
    let game = Connect6::new(size);
    let windows = Arc::new(Windows::new(size));
    let (mut deep, mut tried) = (0, 0);
    for round in 0..600 {
        let Some(state) = lively(&game, 9 + 2 * (round % 10), &mut rng) else { continue };
        let mut board = Board::of(windows.clone(), &game, &state);
        let side = side_of(&state);
        if let Verdict::Wins(proof) = vcdt.search(&mut board, side, 300)
            && proof.steps.len() > 1
            && proof.steps.len() < 12
        {
            deep += 1;
            tried += replay(&mut board, side, &proof, 0);
        }
    }
    println!("{deep} proofs of several turns, {tried} turns against them");
    assert!(deep > 10);
}

#[test]
fn stones_outside_the_zone_change_nothing() {
    let (size, mut rng, mut vcdt) = (15, Rng::new(9, 0), Vcdt::default());
    let game = Connect6::new(size);
    let windows = Arc::new(Windows::new(size));
    let (mut proofs, mut changed) = (0, 0);
    for round in 0..400 {
        let Some(state) = lively(&game, 9 + 2 * (round % 20), &mut rng) else { continue };
        let mut board = Board::of(windows.clone(), &game, &state);
        // Whoever has just moved would win if the other passed.
        for side in 0..2 {
            let Verdict::Wins(proof) = vcdt.search(&mut board, side, 300) else { continue };
            proofs += 1;
            for extra in 1..3 {
                let zone = Zone::of(&mut board, side, &proof, extra);
                let outside: Vec<u16> =
                    (0..board.cells()).filter(|&cell| board.is_empty(cell) && !zone.has(cell)).collect();
                for _ in 0..6 {
                    let mut turn = [NONE; 2];
                    for cell in &mut turn[..extra] {
                        *cell = outside[rng.below(outside.len())];
                    }
                    if turn[0] == turn[1] {
                        continue;
                    }
                    board.play(turn, 1 - side);
                    let verdict = check(size, board.stones(), side as u8, &proof);
                    board.undo(turn, 1 - side);
                    assert_eq!(verdict, Ok(()), "{turn:?} in\n{}", game.show(&state));
                }
                // The other way round: some stone inside has to matter, or zones are drawn too wide.
                for cell in zone.cells() {
                    board.place(cell, 1 - side);
                    changed += usize::from(check(size, board.stones(), side as u8, &proof).is_err());
                    board.lift(cell, 1 - side);
                }
            }
        }
    }
    println!("{proofs} proofs, {changed} cells that mattered");
    assert!(proofs > 100 && changed > 1000);
}

#[test]
fn a_proof_that_is_tampered_with_is_refused() {
    let (size, mut rng, mut vcdt) = (13, Rng::new(4, 0), Vcdt::default());
    let game = Connect6::new(size);
    let windows = Arc::new(Windows::new(size));
    let mut tampered = 0;
    for round in 0..200 {
        let Some(state) = lively(&game, 15 + 2 * (round % 10), &mut rng) else { continue };
        let (mut board, side) = (Board::of(windows.clone(), &game, &state), side_of(&state));
        let Verdict::Wins(proof) = vcdt.search(&mut board, side, 300) else { continue };
        if proof.steps.len() < 3 {
            continue;
        }
        let refuses = |proof: &Proof| check(size, board.stones(), side as u8, proof).is_err();
        let mut missing = proof.clone();
        missing.steps[0].answers.pop();
        let mut elsewhere = proof.clone();
        elsewhere.steps[0].answers[0].1 = 9999;
        let mut circular = proof.clone();
        circular.steps[0].answers[0].1 = 0;
        let mut outside = proof.clone();
        outside.steps[0].turn[1] = 60_000;
        assert!(refuses(&missing) && refuses(&elsewhere) && refuses(&circular) && refuses(&outside));
        tampered += 1;
    }
    assert!(tampered > 10);
}
