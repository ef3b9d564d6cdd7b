//! Job trees on real games: schedules in which jobs are lost, answered twice, late, out of order, by workers that fail
//! and by workers that lie, for every selector and policy, against values found by plain minimax. No schedule may end
//! with a false proof, and none may hang.

use sortie_core::exact::*;
use sortie_core::{AnyGame, Boxed, Game, JobSource, Rng};
use sortie_domains::{Breakthrough, Connect4, Hex, TicTacToe};
use sortie_jobs::tree::*;
use std::sync::atomic::AtomicBool;

/// A position and its value.
struct Case {
    game: Box<dyn AnyGame>,
    moves: Vec<String>,
    drill: Drill,
}

fn case<G: Game>(game: G, moves: &str) -> Case {
    let game = Boxed::new(game);
    let moves: Vec<String> = moves.split_whitespace().map(String::from).collect();
    let drill = Drill::new(&game, &moves).expect("legal moves");
    Case { game: Box::new(game), moves, drill }
}

/// So many moves from a seed, none of which ends the game.
fn random_moves<G: Game>(game: &G, plies: usize, seed: u64) -> String {
    let mut rng = Rng::new(seed, 9);
    'again: loop {
        let (mut state, mut words) = (game.initial(), Vec::new());
        for _ in 0..plies {
            let mv = game.random_move(&state, &mut rng, &mut Vec::new()).expect("a move");
            words.push(game.show_move(&state, mv));
            game.play(&mut state, mv);
            if game.outcome(&state).is_some() {
                continue 'again;
            }
        }
        return words.join(" ");
    }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        case(TicTacToe::new(3), ""),
        case(TicTacToe::new(3), "b2 a2"),
        case(Breakthrough::new(4, 4), ""),
        case(Breakthrough::new(3, 4), ""),
        case(Hex::new(3, false), ""),
        case(Hex::new(4, false), "a1 d4 a2 b3 c2 c1"),
    ];
    cases.extend((0..6).map(|seed| case(Connect4, &random_moves(&Connect4, 26, seed))));
    cases
}

fn tree(case: &Case, plan: &Plan) -> JobTree {
    let mut board = case.game.board(None).expect("the start");
    case.moves.iter().for_each(|word| board.play(word).expect("a legal move"));
    JobTree::new(board, None, plan.clone())
}

/// A few of each pair; `lab drill schedules` runs ten thousand.
#[test]
fn random_schedules_never_prove_what_is_false() {
    let mut cases = cases();
    let (count, mut decided, mut all) = (cases.len(), 0, 0);
    for (_, select) in Select::ALL {
        for (_, policy) in Policy::ALL {
            let plan = Plan { select, policy, ..Plan::default() };
            for seed in 0..36 {
                let drilled = cases[seed % count].drill.run(&plan, seed as u64 * 7 + 1).unwrap();
                decided += u64::from(drilled.decided);
                all += 1;
            }
        }
    }
    assert!(decided * 2 > all, "only {decided} of {all} came to a proof");
}

#[test]
fn every_selector_solves_every_case_with_a_proof_that_checks() {
    let cases = cases();
    for (name, select) in Select::ALL {
        for case in &cases {
            let plan = Plan { select, effort: Effort { nodes: 100, playouts: 0 }, ..Plan::default() };
            let mut worker = case.game.worker(1 << 24, &plan.statuses, 1);
            let mut tree = tree(case, &plan);
            let never = AtomicBool::new(false);
            let asked = Asked { stop: &never, cancel: &never };
            simulate(&mut tree, &Virtual::workers(3), |job, _| {
                Some((worker.answer(job, asked, &mut |_| {}).expect("a job of ours")?, 1))
            });
            assert!(tree.finished());
            assert_eq!(tree.bounds().value(), Some(case.drill.value()), "{name} {:?}", case.moves);
            let goals: Vec<Goal> = tree.goals();
            let section = |&goal: &Goal| {
                let guide = tree.guide(goal);
                case.game.certify(None, &case.moves, goal, &guide, 100_000, &|| false).expect("a strategy")
            };
            let proof = Proof {
                instance: "test".into(),
                moves: case.moves.clone(),
                sections: goals.iter().map(section).collect(),
                ..Proof::default()
            };
            assert_eq!(case.game.check(&proof).expect("a proof").goals, goals);
            assert_eq!(goals.len(), if case.drill.value() == Value::Draw { 2 } else { 1 });
        }
    }
}
