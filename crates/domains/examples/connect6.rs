//! Proved positions per CPU second: the engine plays itself from random openings, every position of every game is searched
//! for a win by double threats, and each proof is checked by code that shares nothing with the search. All positions of a
//! proof tree are counted once, symmetric ones as one: `cargo run --release --example connect6 -p sortie-domains -- 60`.

use cpu_time::ThreadTime;
use sortie_core::{Domain, Game, Rng, Side};
use sortie_domains::connect6::{Board, Connect6, Engine, Limits, Proof, Vcdt, Verdict, Windows, check};
use std::collections::HashSet;
use std::sync::Arc;

fn main() {
    let argument = |n: usize, default: f64| std::env::args().nth(n).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (seconds, engine_nodes, vcdt_nodes) = (argument(1, 10.0), argument(2, 300.0) as u64, argument(3, 500.0) as u64);
    let game = Connect6::new(19);
    let windows = Arc::new(Windows::new(19));
    let (mut engine, mut vcdt) = (Engine::new(19), Vcdt::default());
    let mut rng = Rng::new(1, 0);
    let (mut games, mut proofs, mut steps, mut failed) = (0u64, 0u64, 0u64, 0u64);
    let mut vcdt_seconds = 0.0;
    let mut check_seconds = 0.0;
    let mut count_seconds = 0.0;
    let mut positions: HashSet<u128> = HashSet::new();
    let clock = ThreadTime::now();
    let mut moves = Vec::new();
    while clock.elapsed().as_secs_f64() < seconds {
        games += 1;
        let mut state = game.initial();
        // The middle, then four stones near it.
        game.play(&mut state, 180);
        for _ in 0..4 {
            loop {
                let (c, r) = (6 + rng.below(7), 6 + rng.below(7));
                moves.clear();
                game.moves(&state, &mut moves);
                if moves.contains(&((r * 19 + c) as u16)) {
                    game.play(&mut state, (r * 19 + c) as u16);
                    break;
                }
            }
        }
        while game.outcome(&state).is_none() && state.played() < 200 {
            let side = usize::from(state.to_move() == Side::Second);
            let mut board = Board::of(windows.clone(), &game, &state);
            let begun = ThreadTime::now();
            let verdict = vcdt.search(&mut board, side, vcdt_nodes);
            vcdt_seconds += begun.elapsed().as_secs_f64();
            match verdict {
                Verdict::Wins(proof) => {
                    proofs += 1;
                    steps += proof.steps.len() as u64;
                    let begun = ThreadTime::now();
                    check(19, board.stones(), side as u8, &proof).expect("a proof that holds");
                    check_seconds += begun.elapsed().as_secs_f64();
                    let begun = ThreadTime::now();
                    collect(&mut board, side, &proof, 0, &mut vec![false; proof.steps.len()], &mut positions);
                    count_seconds += begun.elapsed().as_secs_f64();
                }
                _ => failed += 1,
            }
            let answer = engine.answer(&game, &state, &[], Limits::nodes(engine_nodes));
            for cell in answer.turn {
                game.play(&mut state, cell);
            }
        }
    }
    let total = clock.elapsed().as_secs_f64();
    println!(
        "{games} games, {proofs} proofs ({steps} steps), {failed} searches without, {} distinct positions in {total:.1} CPU s: {:.0} a second",
        positions.len(),
        positions.len() as f64 / total
    );
    println!(
        "VCDT {:.1} s, {} nodes, {:.0} nodes/s; checking {check_seconds:.1} s; counting {count_seconds:.1} s",
        vcdt_seconds,
        vcdt.visited,
        vcdt.visited as f64 / vcdt_seconds
    );
}

/// The positions of a proof, each as a number that its mirror images share.
fn collect(board: &mut Board, side: usize, proof: &Proof, at: u32, seen: &mut [bool], out: &mut HashSet<u128>) {
    if std::mem::replace(&mut seen[at as usize], true) {
        return;
    }
    out.insert(board.symmetric_key(side));
    let step = &proof.steps[at as usize];
    board.play(step.turn, side);
    out.insert(board.symmetric_key(1 - side));
    for &(answer, next) in &step.answers {
        board.play(answer, 1 - side);
        collect(board, side, proof, next, seen, out);
        board.undo(answer, 1 - side);
    }
    board.undo(step.turn, side);
}
