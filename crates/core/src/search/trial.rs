//! What the tests of the searches share: toy instances, whole runs, and runs that are interrupted.

use super::Search;
use crate::domain::Problem;
use crate::prior::Guide;
use crate::rng::mix;
use crate::run::{Control, Event, Limits, Run, StreamCheckpoint};
use crate::toy::Tree;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Checkpoints of a run that are tried.
const RESUMED_MAX: usize = 60;

/// A complete tree of three children a node; no two leaves have the same score.
pub fn tree(depth: u32) -> Tree {
    let nodes = (3usize.pow(depth + 1) - 1) / 2;
    let leaves = 3usize.pow(depth);
    let children = |n: usize| if n < nodes - leaves { vec![3 * n + 1, 3 * n + 2, 3 * n + 3] } else { vec![] };
    let mut order: Vec<usize> = (0..nodes).collect();
    order.sort_by_key(|&n| mix(n as u64));
    let mut scores = vec![0.0; nodes];
    order.iter().enumerate().for_each(|(rank, &n)| scores[n] = rank as f64);
    Tree { children: (0..nodes).map(children).collect(), scores }
}

/// The best leaf, by looking at all.
pub fn optimum(tree: &Tree) -> f64 {
    let leaves = tree.children.iter().zip(&tree.scores).filter(|(children, _)| children.is_empty());
    leaves.map(|(_, &score)| score).fold(f64::NEG_INFINITY, f64::max)
}

/// The end of a run.
pub fn end<P: Problem>(problem: &P, search: &Search, playouts: Option<u64>, seed: u64) -> StreamCheckpoint {
    guided_end(problem, search, None, playouts, seed)
}

/// The end of a run with a guide.
pub fn guided_end<P: Problem>(
    problem: &P,
    search: &Search,
    guide: Option<Guide>,
    playouts: Option<u64>,
    seed: u64,
) -> StreamCheckpoint {
    let stop = AtomicBool::new(false);
    let mut control = Control::new(Limits { playouts, ..Limits::default() }, &stop, &|_| {});
    control.guide = guide;
    let mut run = Run::new(&control, seed, 0, 1);
    search.run(problem, &mut run);
    run.finish()
}

/// Goes on from checkpoints of a run, of which there are at least `n`, and expects the end of the whole run.
pub fn resumes_exactly<P: Problem>(problem: &P, search: &Search, n: usize) {
    resumes(problem, search, None, None, n);
}

/// The same of a run that ends after so many playouts, and so begins its search again and again.
pub fn resumes_exactly_within<P: Problem>(problem: &P, search: &Search, playouts: u64, n: usize) {
    resumes(problem, search, None, Some(playouts), n);
}

/// The same with a guide.
pub fn resumes_exactly_guided<P: Problem>(problem: &P, search: &Search, guide: Option<Guide>, n: usize) {
    resumes(problem, search, guide, None, n);
}

fn resumes<P: Problem>(problem: &P, search: &Search, guide: Option<Guide>, playouts: Option<u64>, n: usize) {
    let limits = Limits { playouts, ..Limits::default() };
    let whole = guided_end(problem, search, guide.clone(), playouts, 5);
    let stop = AtomicBool::new(false);
    let checkpoints = Mutex::new(Vec::new());
    let observer = |event| {
        if let Event::Checkpoint(checkpoint) = event {
            checkpoints.lock().unwrap().push(checkpoint);
        }
    };
    let mut control = Control::new(limits.clone(), &stop, &observer);
    control.checkpoint_every = Some(Duration::ZERO);
    control.guide = guide.clone();
    let mut run = Run::new(&control, 5, 0, 1);
    search.run(problem, &mut run);
    assert_eq!(run.finish(), whole, "checkpoints must not change a run");
    let taken: Vec<StreamCheckpoint> =
        checkpoints.lock().unwrap().iter().filter(|c| !c.search.is_empty()).cloned().collect();
    assert!(taken.len() >= n, "{} checkpoints", taken.len());
    let step = 1 + taken.len() / RESUMED_MAX;
    for checkpoint in taken.into_iter().step_by(step) {
        let mut control = Control::new(limits.clone(), &stop, &|_| {});
        control.guide = guide.clone();
        let at = checkpoint.playouts;
        let mut run = Run::new(&control, 5, 0, 1).resume(checkpoint);
        search.run(problem, &mut run);
        assert_eq!(run.finish(), whole, "resumed at playout {at}");
    }
}
