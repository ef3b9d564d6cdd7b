//! How fast Lines of Action is played out from the start, uniformly and with two draws a move: playouts a CPU second,
//! how they end, and how many plies they take. Then a million positions in which the drawn moves are held against the
//! listed ones by chi-square.
//!
//! `cargo run --release -p sortie-domains --example loa_rollouts [CPU_SECONDS]`

use sortie_core::{Control, Domain, Game, Limits, Outcome, Rng};
use sortie_domains::{Loa, Rules};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

const POSITIONS: u32 = 1_000_000;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(3.0);
    println!("draws  playouts/CPU s  plies  Black  drawn");
    for draws in [1, 2] {
        time(draws, seconds);
    }
    let (chi2, freedom) = uniformity();
    let deviations = (chi2 - freedom) / (2.0 * freedom).sqrt();
    println!(
        "{POSITIONS} positions: chi-square {chi2:.0} with {freedom} degrees of freedom ({deviations:+.1} sigma)"
    );
}

/// Plays out for so many CPU seconds and prints a line.
fn time(draws: u32, seconds: f64) {
    let game = Loa::new(Rules::THESIS);
    let start = game.initial();
    let stop = AtomicBool::new(false);
    let (mut rng, mut scratch, mut state) = (Rng::new(1, 0), Vec::new(), start.clone());
    let (mut value, mut drawn, mut playouts) = (0.0, 0u64, 0u64);
    let clock = Control::new(Limits::default(), &stop, &|_| {});
    while clock.cpu_seconds() < seconds {
        for _ in 0..1000 {
            state.clone_from(&start);
            let outcome = game.rollout(&mut state, draws, u32::MAX, &mut rng, &mut scratch);
            let outcome = outcome.expect("playouts end");
            value += outcome.value();
            drawn += u64::from(outcome == Outcome::Draw);
        }
        playouts += 1000;
    }
    let rate = playouts as f64 / clock.cpu_seconds();
    let (n, plies) = (playouts as f64, mean_plies(draws, 2000));
    println!("{draws:5}  {rate:14.0}  {plies:5.1}  {:.3}  {:.4}", value / n, drawn as f64 / n);
}

/// The length of playouts, counted by the slow loop: the fast one does not tell.
fn mean_plies(draws: u32, playouts: u32) -> f64 {
    let game = Loa::new(Rules::THESIS);
    let (mut rng, mut scratch, mut plies) = (Rng::new(2, 0), Vec::new(), 0u64);
    for _ in 0..playouts {
        let mut state = game.initial();
        while let Some(mv) = game.appealing_move(&state, draws, &mut rng, &mut scratch) {
            game.play(&mut state, mv);
            plies += 1;
        }
    }
    plies as f64 / f64::from(playouts)
}

/// How often the i-th of n listed moves was drawn, against 1 in n: chi-square and its degrees of freedom.
fn uniformity() -> (f64, f64) {
    let game = Loa::new(Rules::THESIS);
    let (mut rng, mut scratch, mut moves) = (Rng::new(3, 0), Vec::new(), Vec::new());
    let mut state = game.initial();
    let mut counts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for _ in 0..POSITIONS {
        moves.clear();
        game.moves(&state, &mut moves);
        let drawn = game.random_move(&state, &mut rng, &mut scratch).expect("the game goes on");
        let i = moves.iter().position(|&mv| mv == drawn).expect("a listed move");
        counts.entry(moves.len()).or_insert_with(|| vec![0; moves.len()])[i] += 1;
        game.play(&mut state, drawn);
        if game.outcome(&state).is_some() {
            state = game.initial();
        }
    }
    let (mut chi2, mut freedom) = (0.0, 0.0);
    for (n, counts) in counts {
        let expected = f64::from(counts.iter().sum::<u32>()) / n as f64;
        // Where a number of moves is rare the distribution is not that of chi-square.
        if expected >= 10.0 {
            chi2 += counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum::<f64>();
            freedom += n as f64 - 1.0;
        }
    }
    (chi2, freedom)
}
