//! Job trees on real games: schedules in which jobs are lost, answered twice, late, out of order, by workers that fail
//! and by workers that lie, for every selector and policy, against values found by plain minimax. No schedule may end
//! with a false proof, and none may hang.

use sortie_core::joblevel::*;
use sortie_core::{AnyGame, Boxed, Game, JobSource, Rng};
use sortie_domains::{Breakthrough, Connect4, Hex, TicTacToe};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

/// The value by plain minimax: no pruning, no proof numbers, nothing shared with what is tested.
fn minimax<G: Game>(game: &G, state: &G::State, seen: &mut HashMap<G::State, Value>) -> Value {
    if let Some(outcome) = game.outcome(state) {
        return Value::of(outcome);
    }
    if let Some(&value) = seen.get(state) {
        return value;
    }
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    let side = game.to_move(state);
    let after = |mv| {
        let mut next = state.clone();
        game.play(&mut next, mv);
        minimax(game, &next, seen).view(side)
    };
    let value = moves.into_iter().map(after).max().expect("a game that goes on has moves").view(side);
    seen.insert(state.clone(), value);
    value
}

/// A position and its value.
struct Case {
    game: Box<dyn AnyGame>,
    moves: Vec<String>,
    value: Value,
}

fn case<G: Game + Clone>(game: G, moves: &str) -> Case {
    let moves: Vec<String> = moves.split_whitespace().map(String::from).collect();
    let mut state = game.initial();
    for word in &moves {
        let mv = game.parse_move(&state, word).expect("a legal move");
        game.play(&mut state, mv);
    }
    let value = minimax(&game, &state, &mut HashMap::new());
    Case { game: Box::new(Boxed::new(game)), moves, value }
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

/// Somebody who says anything: a random move, a random opinion, and claims that are not so.
fn lie(case: &Case, job: &Job, rng: &mut Rng) -> Answer {
    let mut board = case.game.board(None).expect("the start");
    job.moves.iter().for_each(|word| board.play(word).expect("a legal move"));
    let mut legal = board.legal();
    if rng.below(8) > 0 {
        legal.retain(|word| !job.exclude.contains(word));
    }
    let best = (!legal.is_empty() && rng.below(8) > 0).then(|| legal[rng.below(legal.len())].clone());
    let best = if rng.below(20) == 0 { Some("nonsense".into()) } else { best };
    let value = [Value::Loss, Value::Draw, Value::Win][rng.below(3)];
    let claim = Claim { bounds: Bounds::exactly(value), trust: Trust::Checked };
    Answer {
        best,
        status: Status::ALL[rng.below(13)],
        value: (rng.below(2) == 0).then(|| 1.2 * rng.unit() - 0.1),
        claim: (rng.below(2) == 0).then_some(claim),
        after: legal.into_iter().take(rng.below(2)).map(|word| After { word, claim }).collect(),
        nodes: 1,
        seconds: 0.0,
    }
}

/// Runs one random schedule. Returns whether it came to a proof.
fn schedule(case: &Case, plan: &Plan, worker: &mut dyn AnyWorker, seed: u64) -> bool {
    let mut rng = Rng::new(seed, 1);
    let grid = Virtual {
        workers: 1 + rng.below(12),
        seed,
        lost: [0.0, 0.1, 0.4][rng.below(3)],
        twice: [0.0, 0.2, 0.5][rng.below(3)],
        jitter: [0.0, 1.0, 20.0][rng.below(3)],
        overhead: rng.below(50) as u64,
        cancel: rng.below(2) == 0,
    };
    let (liars, fail) = ([0.0, 0.2, 0.5][rng.below(3)], [0.0, 0.1][rng.below(2)]);
    let mut tree = tree(case, plan);
    let never = AtomicBool::new(false);
    let ran = simulate(&mut tree, &grid, |job, rng| {
        if rng.unit() < fail {
            return None;
        }
        let cost = 1 + rng.below(30) as u64;
        if rng.unit() < liars {
            // Strangers are distrusted, whatever they say of themselves.
            return Some((lie(case, job, rng).distrusted(), cost));
        }
        let asked = Asked { stop: &never, cancel: &never };
        Some((worker.answer(job, asked, &mut |_| {}).expect("a job of ours")?, cost))
    });
    let what = format!("{:?} {:?} seed {seed} after {:?}", plan.select, plan.policy, case.moves);
    assert!(!ran.stuck, "{what}: nothing is out and nothing comes");
    let bounds = tree.bounds();
    let holds = bounds.low <= case.value && case.value <= bounds.high;
    assert!(holds, "{what}: {bounds:?}, and it is {:?}", case.value);
    assert_ne!(tree.ended(), Some(Ended::Contradiction), "{what}");
    assert_ne!(tree.ended(), Some(Ended::Failures), "{what}");
    tree.ended() == Some(Ended::Decided)
}

/// Random schedules of all selectors and policies: so many of each.
fn schedules(count: u64) {
    let cases = cases();
    let (mut decided, mut all) = (0, 0);
    for (name, select) in Select::ALL {
        for (policy_name, policy) in Policy::ALL {
            for seed in 0..count {
                let case = &cases[(seed as usize) % cases.len()];
                let effort = Effort { nodes: [4, 20, 100][(seed as usize / cases.len()) % 3], playouts: 0 };
                let plan = Plan { select, policy, jobs_max: 300, effort, ..Plan::default() };
                let mut worker = case.game.worker(1, &plan.statuses, 1);
                decided += u64::from(schedule(case, &plan, &mut *worker, seed * 7 + 1));
                all += 1;
            }
            println!("{name} {policy_name}: {decided} of {all} decided so far");
        }
    }
    assert!(decided * 2 > all, "only {decided} of {all} came to a proof");
}

#[test]
fn random_schedules_never_prove_what_is_false() {
    schedules(36);
}

/// Ten thousand of each: minutes, so only on request (`--ignored`).
#[test]
#[ignore]
fn ten_thousand_schedules_of_each() {
    schedules(10_000);
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
            assert_eq!(tree.bounds().value(), Some(case.value), "{name} {:?}", case.moves);
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
            assert_eq!(goals.len(), if case.value == Value::Draw { 2 } else { 1 });
        }
    }
}
