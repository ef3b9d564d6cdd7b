//! NRPA on toys: forms, limits, resuming, and the formula by hand.

use super::*;
use crate::domain::Domain;
use crate::run::{Control, Event, Limits, StopReason, StreamCheckpoint};
use crate::search::{BestOf, Outcomes, best_of};
use crate::search::{Brought, CallMaker, CallSource, Search, answer_call};
use crate::toy::{LeftMove, Tree};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Every path of `depth` binary choices; the score is a hash of the path, so that a policy has nothing to hold on to.
fn bushy(depth: u32) -> Tree {
    let inner = (1usize << depth) - 1;
    let nodes = (1usize << (depth + 1)) - 1;
    Tree {
        children: (0..nodes).map(|n| if n < inner { vec![2 * n + 1, 2 * n + 2] } else { vec![] }).collect(),
        scores: (0..nodes).map(|n| (crate::rng::mix(n as u64) % 1000) as f64).collect(),
    }
}

fn solve<P: Problem>(problem: &P, nrpa: &Nrpa, threads: u32, limits: Limits) -> Outcomes {
    nrpa.check().unwrap();
    let stop = AtomicBool::new(false);
    let control = Control::new(limits, &stop, &|_| {});
    let spec = BestOf { search: Search::Nrpa(nrpa.clone()), seed: 3, streams: 1, threads };
    best_of(problem, &spec, &control, Vec::new())
}

fn small(parallel: Parallel, workers: u32) -> Nrpa {
    Nrpa { level: 3, iterations: 9, parallel, workers, ..Nrpa::default() }
}

const FORMS: [Parallel; 6] = [
    Parallel::Shared(1),
    Parallel::Shared(2),
    Parallel::Shared(3),
    Parallel::Local(1),
    Parallel::Local(2),
    Parallel::Local(3),
];

#[test]
fn one_shared_worker_is_the_sequential_search() {
    let tree = bushy(10);
    let sequential = solve(&tree, &small(Parallel::None, 1), 1, Limits::default());
    for level in 1..=3 {
        let shared = solve(&tree, &small(Parallel::Shared(level), 1), 2, Limits::default());
        assert_eq!(shared.best, sequential.best);
        assert_eq!(shared.playouts, sequential.playouts);
    }
}

#[test]
fn islands_find_the_same_on_any_number_of_threads() {
    let tree = bushy(12);
    for playouts in [None, Some(1001), Some(3)] {
        let limits = Limits { playouts, ..Limits::default() };
        let islands = small(Parallel::Islands(2), 4);
        let [one, two, three] = [1, 2, 3].map(|threads| solve(&tree, &islands, threads, limits.clone()));
        assert_eq!(one.playouts, playouts.unwrap_or(4 * 9 * 9 * 9));
        for other in [two, three] {
            assert_eq!((&one.best, one.playouts, one.reason), (&other.best, other.playouts, other.reason));
        }
    }
    let every = |text: &str| Parallel::try_from(text.to_string());
    assert_eq!(every("islands:5"), Ok(Parallel::Islands(5)));
    assert!(small(Parallel::Islands(0), 4).check().is_err() && every("islands").is_err());
}

/// Makes calls as a worker elsewhere would, some of them twice and some wrongly.
struct Elsewhere<'a, P: Problem> {
    problem: &'a P,
    nrpa: Nrpa,
    limits: Limits,
    refused: AtomicU64,
}

impl<P: Problem> CallMaker for Elsewhere<'_, P> {
    fn make(&self, source: &mut dyn CallSource) {
        let stop = AtomicBool::new(false);
        let limits = Limits { target: self.limits.target, ..Limits::default() };
        let refuse = |taken: bool| {
            self.refused.fetch_add(u64::from(!taken), Ordering::Relaxed);
        };
        let mut made = 0;
        while !source.finished() {
            let Some((id, call)) = source.next() else { break };
            let control = Control::new(limits.clone(), &stop, &|_| {});
            let brought = answer_call(self.problem, &self.nrpa, &call, &control).expect("nobody stops it");
            made += 1;
            if made % 3 == 1 {
                // The job comes again.
                refuse(source.done(id, Brought { score: brought.score + 1.0, ..brought.clone() }));
                refuse(source.done(id, Brought { indices: vec![99], ..brought }));
                continue;
            }
            source.done(id, brought.clone());
            refuse(source.done(id, brought));
        }
    }
}

#[test]
fn islands_find_the_same_when_somebody_else_makes_their_calls() {
    let tree = bushy(12);
    let highest = tree.scores[4095..].iter().copied().fold(0.0, f64::max);
    for limits in [
        Limits::default(),
        Limits { playouts: Some(1001), ..Limits::default() },
        Limits { target: Some(highest), playouts: Some(100_000), ..Limits::default() },
    ] {
        let nrpa = small(Parallel::Islands(2), 4);
        let here = solve(&tree, &nrpa, 1, limits.clone());
        let elsewhere = Elsewhere {
            problem: &tree,
            nrpa: nrpa.clone(),
            limits: limits.clone(),
            refused: AtomicU64::new(0),
        };
        let stop = AtomicBool::new(false);
        let mut control = Control::new(limits.clone(), &stop, &|_| {});
        control.calls = Some(&elsewhere);
        let spec = BestOf { search: Search::Nrpa(nrpa), seed: 3, streams: 1, threads: 1 };
        let there = best_of(&tree, &spec, &control, Vec::new());
        assert_eq!((&here.best, here.playouts, here.reason), (&there.best, there.playouts, there.reason));
        assert!(elsewhere.refused.load(Ordering::Relaxed) > 0);
    }
}

#[test]
fn the_answer_does_not_depend_on_the_threads() {
    let tree = bushy(12);
    for form in FORMS {
        for limits in [
            Limits::default(),
            Limits { playouts: Some(1001), ..Limits::default() },
            Limits { patience: Some(300), ..Limits::default() },
        ] {
            let [one, two, three] =
                [1, 2, 3].map(|threads| solve(&tree, &small(form, 4), threads, limits.clone()));
            for other in [&two, &three] {
                assert_eq!(one.best, other.best, "{form} {limits:?}");
                assert_eq!((one.playouts, one.reason), (other.playouts, other.reason), "{form} {limits:?}");
            }
            if limits.is_empty() {
                assert_eq!(one.playouts, 729, "{form}: N^level, though 4 does not divide 9");
            } else if limits.playouts.is_some() {
                assert_eq!((one.playouts, one.reason), (1001, StopReason::Playouts), "{form}");
            }
        }
    }
}

#[test]
fn every_form_finds_the_best_of_the_toys() {
    let tree = bushy(5);
    let highest = tree.scores[31..].iter().copied().fold(0.0, f64::max);
    for form in FORMS {
        let nrpa = Nrpa { level: 2, iterations: 30, parallel: form, workers: 3, ..Nrpa::default() };
        if nrpa.check().is_err() {
            continue; // level 3 of a search of level 2
        }
        let left = solve(&LeftMove { depth: 20 }, &nrpa, 2, Limits::default());
        assert_eq!(left.best.unwrap().score, 20.0, "{form}");
        let limits = Limits { playouts: Some(20_000), target: Some(highest), ..Limits::default() };
        assert_eq!(solve(&tree, &nrpa, 2, limits).reason, StopReason::Target, "{form}");
    }
}

/// One binary choice, the left child worth 1: after a round of M the weights are those of one step of alpha M.
#[test]
fn the_step_of_a_round_is_weighted_by_its_calls() {
    let tree = Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 0.0] };
    let params = Nrpa { parallel: Parallel::Shared(1), workers: 4, ..small(Parallel::None, 1) };
    let params = Nrpa { level: 1, iterations: 8, ..params };
    let stop = AtomicBool::new(false);
    let control = Control::new(Limits::default(), &stop, &|_| {});
    let mut run = Run::new(&control, 1, 0, 1);
    let weights = Mutex::new(Vec::new());
    together(&mut run, 2, false, |member, run| {
        let mut nest = Nest::new(&tree, &params, Some(member));
        nest.begin(1);
        nest.iterate(1, 8, false, run);
        let weight = |child| nest.policy.log_weight(tree.code(&0, child));
        weights.lock().unwrap().push((weight(1), weight(2), nest.levels[1].best.score));
    });
    assert_eq!(run.playouts(), 8);
    // Two rounds of four, one step between them: 4 (1 - 1/2) for the chosen one, -4 / 2 for the other.
    for (left, right, score) in weights.into_inner().unwrap() {
        assert_eq!(score, 1.0, "one of eight playouts goes left");
        let (won, lost) = if left > right { (left, right) } else { (right, left) };
        assert!((won - 2.0).abs() < 1e-12 && (lost + 2.0).abs() < 1e-12, "{left} {right}");
    }
}

/// The best local policy becomes that of the level above: with one worker, all that the call has learnt.
#[test]
fn a_local_policy_outlives_its_call() {
    let tree = Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 1.0] };
    let params = Nrpa { level: 2, iterations: 1, ..small(Parallel::Local(1), 1) };
    let stop = AtomicBool::new(false);
    let control = Control::new(Limits::default(), &stop, &|_| {});
    let mut run = Run::new(&control, 1, 0, 1);
    together(&mut run, 1, true, |member, run| {
        let mut nest = Nest::new(&tree, &params, Some(member));
        nest.begin(2);
        nest.divide(1, run);
        let chosen = nest.levels[1].best.moves[0];
        let weight = |child| nest.policy.log_weight(tree.code(&0, child));
        assert!((weight(chosen) - 0.5).abs() < 1e-12 && (weight(3 - chosen) + 0.5).abs() < 1e-12);
        let mark = nest.levels[2].mark;
        nest.policy.rewind(mark);
        assert_eq!(nest.policy.log_weight(tree.code(&0, chosen)), 0.0);
    });
}

/// GNRPA as its paper has it: w by code, p = exp(w / tau) / z, w += alpha / tau (1 or 0 - p).
#[test]
fn temperature_is_that_of_gnrpa() {
    let tau = 1.7;
    let tree = Tree { children: vec![vec![1, 2], vec![], vec![]], scores: vec![0.0, 1.0, 1.0] };
    let params = Nrpa { level: 1, iterations: 40, temperature: tau, ..small(Parallel::None, 1) };
    let mut nest = Nest::new(&tree, &params, None);
    nest.levels[1].best = retrace(&tree, nest.offer, &nest.policy, &[0], &mut nest.scratch).unwrap();
    let mut w = [0.0f64; 2];
    for _ in 0..10 {
        let exps = w.map(|w| (w / tau).exp());
        let p = exps.map(|e| e / (exps[0] + exps[1]));
        w[0] += params.alpha / tau * (1.0 - p[0]);
        w[1] -= params.alpha / tau * p[1];
        nest.policy.adapt(&mut nest.levels[1].best, nest.step);
        for (child, w) in [(1, w[0]), (2, w[1])] {
            assert!((nest.policy.log_weight(tree.code(&0, child)) - w / tau).abs() < 1e-12);
        }
    }
}

#[test]
fn stabilise_plays_more_and_adapts_to_the_best() {
    let tree = bushy(10);
    let params = Nrpa { stabilise: 5, ..small(Parallel::None, 1) };
    let out = solve(&tree, &params, 1, Limits::default());
    assert_eq!(out.playouts, 729 * 5);
    let limited = solve(&tree, &params, 1, Limits { playouts: Some(733), ..Limits::default() });
    assert_eq!(limited.playouts, 733, "a limit within a step is exact");
    let shared = Nrpa { stabilise: 5, ..small(Parallel::Shared(1), 4) };
    assert_eq!(solve(&tree, &shared, 2, Limits::default()).playouts, 729 * 5);
    // The trace of a call of level 0 is the best of its playouts.
    let stop = AtomicBool::new(false);
    let best = AtomicU32::new(0);
    let observer = |event: Event| {
        if let Event::Improved { score, .. } = event {
            best.fetch_max(score as u32, Ordering::Relaxed);
        }
    };
    let control = Control::new(Limits::default(), &stop, &observer);
    let mut run = Run::new(&control, 1, 0, 1);
    let mut nest = Nest::new(&tree, &params, None);
    nest.sample(&mut run);
    assert_eq!(run.playouts(), 5);
    assert_eq!(nest.levels[0].best.score, best.load(Ordering::Relaxed) as f64);
}

#[test]
fn repetitions_end_a_level_early() {
    // One path only: every playout is the best again, so that each level makes 1 + R calls.
    let path = Tree { children: vec![vec![1], vec![2], vec![]], scores: vec![0.0, 0.0, 7.0] };
    for (form, calls) in [(Parallel::None, 1), (Parallel::Shared(1), 4)] {
        let workers = calls;
        let params = Nrpa { repetitions: 2, iterations: 100, ..small(form, workers) };
        let out = solve(&path, &params, 2, Limits::default());
        assert_eq!(out.playouts, 3 * 3 * 3 * calls as u64, "{form}: a round counts as one");
    }
    let params = Nrpa { repetitions: 1000, ..small(Parallel::None, 1) };
    let plain = solve(&bushy(10), &small(Parallel::None, 1), 1, Limits::default());
    assert_eq!(solve(&bushy(10), &params, 1, Limits::default()).best, plain.best);
}

#[test]
fn bad_parameters_are_refused() {
    let refused = |nrpa: Nrpa| nrpa.check().unwrap_err().parameter;
    let plain = Nrpa::default;
    assert_eq!(refused(Nrpa { temperature: 0.0, ..plain() }), "temperature");
    assert_eq!(refused(Nrpa { temperature: f64::NAN, ..plain() }), "temperature");
    assert_eq!(refused(Nrpa { stabilise: 0, ..plain() }), "stabilise");
    assert_eq!(refused(Nrpa { workers: 0, ..plain() }), "workers");
    assert_eq!(refused(Nrpa { parallel: Parallel::Shared(4), ..plain() }), "parallel");
    assert_eq!(refused(Nrpa { parallel: Parallel::Local(0), ..plain() }), "parallel");
    for text in ["none", "shared:1", "local:2"] {
        assert_eq!(Parallel::try_from(text.to_string()).unwrap().to_string(), text);
    }
    for text in ["", "shared", "shared:", "shared:-1", "none:1", "root", "local:x"] {
        assert!(Parallel::try_from(text.to_string()).is_err(), "{text}");
    }
}

#[test]
fn every_form_stops_when_told() {
    let left = LeftMove { depth: 200 };
    for form in FORMS {
        let nrpa = Nrpa { level: 4, iterations: 1000, parallel: form, workers: 4, ..Nrpa::default() };
        let start = Instant::now();
        let limits = Limits { seconds: Some(0.05), ..Limits::default() };
        assert_eq!(solve(&left, &nrpa, 2, limits).reason, StopReason::Time, "{form}");
        let stop = AtomicBool::new(true);
        let control = Control::new(Limits::default(), &stop, &|_| {});
        let spec = BestOf { search: Search::Nrpa(nrpa), seed: 3, streams: 2, threads: 4 };
        assert_eq!(best_of(&left, &spec, &control, Vec::new()).reason, StopReason::Asked, "{form}");
        assert!(start.elapsed() < Duration::from_secs(5), "{form}"); // a search that does not stop takes years
    }
}

#[test]
fn what_is_announced_is_counted_and_right() {
    let tree = bushy(12);
    for form in FORMS {
        let found = Mutex::new(Vec::new());
        let observer = |event: Event| {
            if let Event::Improved { score, moves, .. } = event {
                assert_eq!(tree.score(&crate::replay::replay_whole(&tree, &moves).unwrap()), score);
                found.lock().unwrap().push(score);
            }
        };
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits::default(), &stop, &observer);
        let spec = BestOf { search: Search::Nrpa(small(form, 4)), seed: 3, streams: 1, threads: 3 };
        let best = best_of(&tree, &spec, &control, Vec::new()).best.unwrap();
        let found = found.into_inner().unwrap();
        assert!(found.is_sorted_by(|a, b| a < b), "{form}: {found:?}");
        assert_eq!(found.last(), Some(&best.score), "{form}");
    }
}

#[test]
fn a_shared_search_resumes_where_it_was() {
    let shared = [Parallel::Shared(1), Parallel::Shared(2)];
    for form in [Parallel::None, Parallel::Local(1), Parallel::Islands(2)].into_iter().chain(shared) {
        assert!(resumes(&bushy(12), &small(form, 4)) > 2, "{form}");
    }
}

const RESUMED_MAX: usize = 30;

/// Checks that checkpoints of a run lead to the same end as no interruption at all; how many were tried.
fn resumes<P: Problem>(problem: &P, nrpa: &Nrpa) -> usize {
    let spec = BestOf { search: Search::Nrpa(nrpa.clone()), seed: 3, streams: 1, threads: 2 };
    let saved: Mutex<Vec<StreamCheckpoint>> = Mutex::new(Vec::new());
    let observer = |event: Event| {
        if let Event::Checkpoint(checkpoint) = event {
            saved.lock().unwrap().push(checkpoint);
        }
    };
    let stop = AtomicBool::new(false);
    let mut control = Control::new(Limits::default(), &stop, &observer);
    control.checkpoint_every = Some(Duration::ZERO);
    let whole = best_of(problem, &spec, &control, Vec::new());
    let saved = saved.into_inner().unwrap();
    let middle: Vec<_> = saved.iter().filter(|c| !c.search.is_empty()).collect();
    let middle: Vec<_> = middle.iter().step_by(1 + middle.len() / RESUMED_MAX).collect();
    let quiet = Control::new(Limits::default(), &stop, &|_| {});
    for checkpoint in &middle {
        let again = best_of(problem, &spec, &quiet, vec![(**checkpoint).clone()]);
        assert_eq!((&again.best, again.playouts), (&whole.best, whole.playouts), "{}", nrpa.parallel);
    }
    middle.len()
}

/// LeftMove that offers nothing but right, and whose local search turns the first right to the left.
struct Shy(LeftMove);

impl Domain for Shy {
    type State = Vec<bool>;
    type Move = bool;

    fn initial(&self) -> Vec<bool> {
        Vec::new()
    }
    fn moves(&self, state: &Vec<bool>, out: &mut Vec<bool>) {
        self.0.moves(&(state.len() as u32, 0), out)
    }
    fn play(&self, state: &mut Vec<bool>, left: bool) {
        state.push(left)
    }
    fn show(&self, state: &Vec<bool>) -> String {
        format!("{state:?}")
    }
    fn show_move(&self, _: &Vec<bool>, left: bool) -> String {
        self.0.show_move(&(0, 0), left)
    }
}

impl Problem for Shy {
    fn score(&self, state: &Vec<bool>) -> f64 {
        state.iter().filter(|&&left| left).count() as f64
    }
    fn code(&self, state: &Vec<bool>, left: bool) -> u64 {
        self.0.code(&(state.len() as u32, 0), left)
    }
    fn codes_max(&self) -> Option<usize> {
        self.0.codes_max()
    }
    fn choices(&self, state: &Vec<bool>, out: &mut crate::domain::Choices<bool>) {
        // From the middle on all is offered.
        self.moves(state, &mut out.moves);
        if 2 * state.len() < self.0.depth as usize {
            out.moves.retain(|&left| !left);
        }
        for &mv in &out.moves {
            out.codes.push(self.code(state, mv));
        }
    }
    fn improve(&self, end: &Vec<bool>, moves: &[bool], rng: &mut crate::rng::Rng) -> Option<Vec<bool>> {
        assert_eq!(end, moves, "the moves that led here");
        let rights: Vec<usize> = (0..end.len()).filter(|&i| !end[i]).collect();
        let mut better = end.clone();
        better[*rights.get(rng.below(rights.len().max(1)))?] = true;
        Some(better)
    }
}

#[test]
fn improved_sequences_are_taken_and_learnt_from() {
    let shy = Shy(LeftMove { depth: 20 });
    crate::conformance::problem(&shy, 2, 1);
    let best = |improve, level| {
        let nrpa = Nrpa { improve, level, ..small(Parallel::None, 1) };
        solve(&shy, &nrpa, 1, Limits::default()).best.unwrap().score
    };
    assert!(best(false, 3) <= 10.0, "the first half is never offered");
    assert!(best(true, 1) > best(false, 1));
    assert!(best(true, 3) > 10.0);
    // A move that was not offered is listed behind the choices, so that its code gains.
    let params = Nrpa { improve: true, ..small(Parallel::None, 1) };
    let stop = AtomicBool::new(false);
    let control = Control::new(Limits::default(), &stop, &|_| {});
    let mut run = Run::new(&control, 1, 0, 1);
    let mut nest = Nest::new(&shy, &params, None);
    for _ in 0..30 {
        nest.search(1, false, &mut run);
        let best = &mut nest.levels[1].best;
        assert_eq!(best.ends.len(), 20);
        for (step, &left) in best.moves.iter().enumerate() {
            assert_eq!(best.id(best.chosen[step] as usize), 2 * step as u32 + u32::from(left));
        }
        let mut policy = Policy::new(shy.codes_max());
        policy.adapt(best, 1.0);
        for step in 0..10 {
            let gained = policy.log_weight(2 * step + 1);
            assert_eq!(gained > 0.0, best.moves[step as usize], "step {step}");
        }
    }
}

#[test]
fn improved_searches_repeat_on_any_threads_and_resume() {
    let shy = Shy(LeftMove { depth: 20 });
    for form in [Parallel::None].into_iter().chain(FORMS) {
        let nrpa = Nrpa { improve: true, ..small(form, 4) };
        let alone = solve(&shy, &nrpa, 1, Limits::default());
        for threads in 1..=3 {
            let again = solve(&shy, &nrpa, threads, Limits::default());
            assert_eq!((&again.best, again.playouts), (&alone.best, alone.playouts), "{form}");
        }
        resumes(&shy, &nrpa);
    }
}

/// LeftMove whose hundredth playout panics.
struct Fragile {
    inner: LeftMove,
    scored: AtomicU32,
}

impl Domain for Fragile {
    type State = (u32, u32);
    type Move = bool;

    fn initial(&self) -> (u32, u32) {
        self.inner.initial()
    }
    fn moves(&self, state: &(u32, u32), out: &mut Vec<bool>) {
        self.inner.moves(state, out)
    }
    fn play(&self, state: &mut (u32, u32), left: bool) {
        self.inner.play(state, left)
    }
    fn show(&self, state: &(u32, u32)) -> String {
        self.inner.show(state)
    }
    fn show_move(&self, state: &(u32, u32), left: bool) -> String {
        self.inner.show_move(state, left)
    }
}

impl Problem for Fragile {
    fn score(&self, state: &(u32, u32)) -> f64 {
        assert_ne!(self.scored.fetch_add(1, Ordering::Relaxed), 100, "fragile");
        self.inner.score(state)
    }
    fn code(&self, state: &(u32, u32), left: bool) -> u64 {
        self.inner.code(state, left)
    }
}

#[test]
fn a_panic_of_one_worker_ends_all_and_is_passed_on() {
    for form in FORMS {
        for threads in 1..=3 {
            let fragile = Fragile { inner: LeftMove { depth: 30 }, scored: AtomicU32::new(0) };
            let nrpa = Nrpa { level: 3, iterations: 50, parallel: form, workers: 4, ..Nrpa::default() };
            let run = || solve(&fragile, &nrpa, threads, Limits::default());
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
            let message = panic.downcast_ref::<String>().expect("a message");
            assert!(message.contains("fragile"), "{form}: {message}");
        }
    }
}
