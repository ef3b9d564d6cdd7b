//! What every search must do: find the optimum of tiny problems, repeat from its seed, stop when told, beat plain
//! sampling, and come to the same end when it is interrupted anywhere and resumed.

use sortie_core::run::StreamCheckpoint;
use sortie_core::search::Outcomes;
use sortie_core::toy::{LeftMove, Tree};
use sortie_core::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn searches() -> Vec<Search> {
    vec![
        Search::Sample(Sample::default()),
        Search::Nmcs(Nmcs { level: 1, ..Nmcs::default() }),
        Search::Nmcs(Nmcs { level: 3, selective: true, ..Nmcs::default() }),
        Search::Nrpa(Nrpa { level: 1, ..Nrpa::default() }),
        Search::Nrpa(Nrpa { level: 3, iterations: 12, ..Nrpa::default() }),
        Search::Nrpa(Nrpa { level: 2, iterations: 20, selective: false, bias: true, ..Nrpa::default() }),
    ]
}

fn solve<P: Problem>(problem: &P, search: &Search, seed: u64, limits: Limits) -> Outcomes {
    let stop = AtomicBool::new(false);
    let control = Control::new(limits, &stop, &|_| {});
    problem.solve(&BestOf { search: search.clone(), seed, streams: 1, threads: 1 }, &control, Vec::new())
}

fn playouts(n: u64) -> Limits {
    Limits { playouts: Some(n), ..Limits::default() }
}

/// A random tree of about `size` nodes with scores at its leaves.
fn random_tree(size: usize, seed: u64) -> Tree {
    let mut rng = Rng::new(seed, 0);
    let mut tree = Tree { children: vec![vec![]], scores: vec![0.0] };
    while tree.children.len() < size {
        let parent = rng.below(tree.children.len());
        for _ in 0..1 + rng.below(3) {
            tree.children[parent].push(tree.scores.len());
            tree.children.push(Vec::new());
            tree.scores.push(rng.below(1000) as f64);
        }
    }
    tree
}

/// The best score that any sequence of moves reaches, by looking at all of them.
fn optimum<P: Problem>(problem: &P, state: &P::State) -> f64 {
    let mut moves = Vec::new();
    problem.moves(state, &mut moves);
    let after = |mv| {
        let mut next = state.clone();
        problem.play(&mut next, mv);
        optimum(problem, &next)
    };
    moves.into_iter().map(after).reduce(f64::max).unwrap_or_else(|| problem.score(state))
}

#[test]
fn every_search_finds_the_optimum_of_tiny_problems() {
    for search in searches() {
        for seed in 0..5 {
            let tree = random_tree(40, seed);
            let best = solve(&tree, &search, seed, playouts(5_000)).best.expect("playouts were made");
            assert_eq!(best.score, optimum(&tree, &tree.initial()), "{search:?} on tree {seed}");
            assert_eq!(tree.verify(&best.moves).unwrap().score, best.score);
        }
        let left = LeftMove { depth: 6 };
        let best = solve(&left, &search, 1, playouts(5_000)).best.expect("playouts were made");
        assert_eq!(best.score, optimum(&left, &left.initial()), "{search:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_answer_and_another_another() {
    let problem = LeftMove { depth: 200 };
    for search in searches() {
        let moves = |seed| solve(&problem, &search, seed, playouts(2_000)).best.unwrap().moves;
        assert_eq!(moves(3), moves(3), "{search:?}");
        assert_ne!(moves(3), moves(4), "{search:?}");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_answer() {
    let problem = LeftMove { depth: 120 };
    for search in searches() {
        let moves = |threads| {
            let stop = AtomicBool::new(false);
            let control = Control::new(playouts(4_001), &stop, &|_| {});
            let spec = BestOf { search: search.clone(), seed: 5, streams: 5, threads };
            let outcomes = problem.solve(&spec, &control, Vec::new());
            assert_eq!(outcomes.playouts, 4_001);
            outcomes.best.unwrap().moves
        };
        assert_eq!(moves(1), moves(2), "{search:?}");
        assert_eq!(moves(1), moves(8), "{search:?}");
    }
}

#[test]
fn searches_beat_sampling_at_equal_playouts() {
    let problem = LeftMove { depth: 60 };
    let mean = |search: &Search| -> f64 {
        (0..5).map(|seed| solve(&problem, search, seed, playouts(3_000)).best.unwrap().score).sum::<f64>()
            / 5.0
    };
    let sampling = mean(&Search::Sample(Sample::default()));
    for search in searches().into_iter().skip(1) {
        assert!(mean(&search) > sampling, "{search:?}: {} against {sampling}", mean(&search));
    }
}

#[test]
fn every_search_stops_when_told() {
    let problem = LeftMove { depth: 50 };
    for search in searches() {
        let stop = AtomicBool::new(false);
        // The stop comes with the first solution; the limit is one that would never be reached.
        let observer = |event: Event| {
            if matches!(event, Event::Improved { .. }) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let limits = Limits { target: Some(1e9), ..Limits::default() };
        let control = Control::new(limits, &stop, &observer);
        let spec = BestOf { search: search.clone(), seed: 1, streams: 2, threads: 2 };
        let outcomes = problem.solve(&spec, &control, Vec::new());
        assert_eq!(outcomes.reason, StopReason::Asked, "{search:?}");
        assert!(outcomes.best.is_some());
    }
}

#[test]
fn a_target_ends_all_streams() {
    let problem = LeftMove { depth: 30 };
    let stop = AtomicBool::new(false);
    let control = Control::new(Limits { target: Some(25.0), ..Limits::default() }, &stop, &|_| {});
    let search = Search::Nrpa(Nrpa { level: 2, iterations: 30, ..Nrpa::default() });
    let outcomes = problem.solve(&BestOf { search, seed: 1, streams: 3, threads: 3 }, &control, Vec::new());
    assert_eq!(outcomes.reason, StopReason::Target);
    assert!(outcomes.best.unwrap().score >= 25.0);
}

/// Runs with checkpoints as often as there can be, and resumes from each of some: always the same end.
fn resumes_anywhere<P: Problem>(problem: &P, search: &Search, limits: Limits) {
    let spec = BestOf { search: search.clone(), seed: 11, streams: 2, threads: 1 };
    let checkpoints = Mutex::new(Vec::new());
    let stop = AtomicBool::new(false);
    let observer = |event: Event| {
        if let Event::Checkpoint(checkpoint) = event {
            checkpoints.lock().unwrap().push(checkpoint);
        }
    };
    let mut control = Control::new(limits.clone(), &stop, &observer);
    control.checkpoint_every = Some(Duration::ZERO);
    let whole = problem.solve(&spec, &control, Vec::new());
    let checkpoints = checkpoints.into_inner().unwrap();
    let under_way = checkpoints.iter().filter(|c| c.ended.is_none()).count();
    assert!(under_way >= 5, "{search:?}: only {under_way} checkpoints to test");
    for checkpoint in checkpoints.iter().step_by(checkpoints.len() / 7 + 1) {
        let bytes = postcard::to_stdvec(checkpoint).unwrap();
        let checkpoint: StreamCheckpoint = postcard::from_bytes(&bytes).unwrap();
        let control = Control::new(limits.clone(), &stop, &|_| {});
        let resumed = problem.solve(&spec, &control, vec![checkpoint]);
        assert_eq!(resumed.best, whole.best, "{search:?}");
        assert_eq!(resumed.playouts, whole.playouts, "{search:?}");
    }
}

#[test]
fn an_interrupted_search_ends_where_it_would_have() {
    let nrpa = |level, iterations| Search::Nrpa(Nrpa { level, iterations, ..Nrpa::default() });
    let dense = LeftMove { depth: 60 };
    let hashed = random_tree(1000, 1);
    for search in [nrpa(2, 40), nrpa(3, 12), nrpa(4, 6)] {
        resumes_anywhere(&dense, &search, Limits::default());
        resumes_anywhere(&hashed, &search, Limits::default());
    }
    resumes_anywhere(&dense, &Search::Nmcs(Nmcs { level: 2, ..Nmcs::default() }), playouts(20_000));
    resumes_anywhere(
        &hashed,
        &Search::Nmcs(Nmcs { level: 2, selective: true, ..Nmcs::default() }),
        playouts(5_000),
    );
    resumes_anywhere(&dense, &Search::Sample(Sample::default()), playouts(30_000));
}

#[test]
fn a_checkpoint_of_another_problem_is_not_believed() {
    let search = Search::Nrpa(Nrpa { level: 2, iterations: 30, ..Nrpa::default() });
    for bytes in [vec![1, 2, 3], vec![0xff; 400], vec![0; 64]] {
        let stop = AtomicBool::new(false);
        let control = Control::new(playouts(1_000), &stop, &|_| {});
        let spec = BestOf { search: search.clone(), seed: 1, streams: 1, threads: 1 };
        let checkpoint = StreamCheckpoint {
            stream: 0,
            rng: Rng::new(1, 0),
            playouts: 10,
            improved_at: 0,
            best: None,
            ended: None,
            search: bytes,
        };
        let outcomes = LeftMove { depth: 20 }.solve(&spec, &control, vec![checkpoint]);
        assert_eq!(outcomes.playouts, 1_000);
    }
}
