//! Uniformly random games per CPU second: `cargo run --release --example rollouts -p sortie-domains -- connect4/7x6`.
//! Without a name, all six games. The rules are compiled for their type here, as below the seam of the searches.

use cpu_time::ThreadTime;
use sortie_core::{Game, Rng};
use sortie_domains::{Breakthrough, Connect4, Gomoku, Hex, PGame, TicTacToe};

const SECONDS: f64 = 1.0;
/// Games between two looks at the clock.
const BATCH: u32 = 256;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let all = ["connect4/7x6", "breakthrough/8", "hex/11", "gomoku/15", "tictactoe/3", "pgame/8"];
    let names = if names.is_empty() { all.map(String::from).to_vec() } else { names };
    println!("{:<16} {:>14} {:>14} {:>8}", "game", "rollouts/s", "two-sample/s", "first");
    for name in names {
        match name.as_str() {
            "connect4/7x6" => measure(&name, &Connect4),
            "breakthrough/8" => measure(&name, &Breakthrough::new(8, 8)),
            "hex/11" => measure(&name, &Hex::new(11, false)),
            "gomoku/15" => measure(&name, &Gomoku::new(15, false)),
            "tictactoe/3" => measure(&name, &TicTacToe::new(3)),
            "pgame/8" => measure(&name, &PGame { branching: 8, depth: 20, cost: 0, seed: 1 }),
            _ => {
                eprintln!("'{name}': expected one of {}", all.join(", "));
                std::process::exit(2);
            }
        }
    }
}

/// One line: games per CPU second with one and with two draws a move, and what the first side scores in the uniform ones.
fn measure<G: Game>(name: &str, game: &G) {
    let (uniform, first) = rate(game, 1);
    let (two, _) = rate(game, 2);
    println!("{name:<16} {uniform:>14.0} {two:>14.0} {first:>8.4}");
}

fn rate<G: Game>(game: &G, draws: u32) -> (f64, f64) {
    let (mut rng, mut scratch) = (Rng::new(1, 0), Vec::new());
    let start = game.initial();
    let mut state = start.clone();
    let (mut games, mut value) = (0u64, 0.0);
    let clock = ThreadTime::now();
    loop {
        for _ in 0..BATCH {
            state.clone_from(&start);
            let outcome = game.rollout(&mut state, draws, u32::MAX, &mut rng, &mut scratch);
            value += outcome.map_or(0.5, |outcome| outcome.value());
        }
        games += u64::from(BATCH);
        let seconds = clock.elapsed().as_secs_f64();
        if seconds >= SECONDS {
            return (games as f64 / seconds, value / games as f64);
        }
    }
}
