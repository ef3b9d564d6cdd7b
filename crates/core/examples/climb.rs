//! A search of your own: climbing. A random prefix of the best sequence, finished at random, replaces it if it is not worse.
//!
//! ```sh
//! cargo run -p sortie-core --example climb
//! ```

use sortie_core::record::words;
use sortie_core::run::{Run, StreamCheckpoint};
use sortie_core::toy::LeftMove;
use sortie_core::{Control, Limits, Problem};
use std::sync::atomic::AtomicBool;

/// The parameters of a climb.
#[derive(Debug, Clone, PartialEq)]
pub struct Climb {
    /// Playouts of one climb.
    pub iterations: u32,
}

impl Climb {
    /// One climb. `Search::run` repeats a search for as long as the limits of the run allow.
    pub fn run<P: Problem>(&self, problem: &P, run: &mut Run) {
        let start = problem.initial();
        let mut state = start.clone();
        let (mut best, mut best_score) = (Vec::new(), f64::NEG_INFINITY);
        let (mut moves, mut scratch) = (Vec::new(), Vec::new());
        for _ in 0..self.iterations {
            state.clone_from(&start);
            moves.clear();
            moves.extend_from_slice(&best[..run.rng.below(best.len() + 1)]);
            for &mv in &moves {
                problem.play(&mut state, mv);
            }
            while let Some(mv) = problem.random_move(&state, &mut run.rng, &mut scratch) {
                moves.push(mv);
                problem.play(&mut state, mv);
            }
            let score = problem.score(&state);
            run.count_playout();
            run.offer(score, || words(problem, &moves));
            if score >= best_score {
                best_score = score;
                std::mem::swap(&mut best, &mut moves);
            }
            if run.stopped() {
                return;
            }
        }
    }
}

/// A stream of its own, with a bound on its playouts.
fn climb(depth: u32, playouts: u64) -> StreamCheckpoint {
    let stop = AtomicBool::new(false);
    let control = Control::new(Limits { playouts: Some(playouts), ..Limits::default() }, &stop, &|_| {});
    let mut run = Run::new(&control, 1, 0, 1);
    Climb { iterations: 10_000 }.run(&LeftMove { depth }, &mut run);
    run.finish()
}

fn main() {
    let end = climb(8, 10_000);
    let best = end.best.expect("playouts");
    println!("{} after {} playouts: {}", best.score, end.playouts, best.moves.join(" "));
}

#[cfg(test)]
mod tests {
    use super::climb;

    #[test]
    fn climbs_to_the_top_of_a_toy() {
        assert_eq!(climb(8, 10_000).best.expect("playouts").score, 8.0);
    }

    #[test]
    fn ends_with_its_playouts() {
        assert_eq!(climb(8, 100).playouts, 100);
    }
}
