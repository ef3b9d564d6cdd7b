//! Learns what the windows of Connect6 are worth: the chances that the side to move wins are the logistic function of
//! the sum of the weights of all live windows, and the weights are those under which the results of the games were
//! likeliest (logistic regression on positions of games, as chess players tune their evaluations since Österlund's Texel).
//! A pattern with few examples stays near what windows with as many stones and such ends are worth on average.
//!
//! ```text
//! cargo run --release --example connect6_tune -p sortie-domains -- play 1000 200 1 > games.txt
//! cargo run --release --example connect6_tune -p sortie-domains -- learn games.txt > crates/domains/src/connect6/weights.txt
//! ```
//!
//! `play`: games, nodes of the engine a turn, seed. `learn`: files with a game a line, its stones between blanks or
//! commas and then `x` or `o`, who won; what does not read as a game is skipped and counted.

use sortie_core::{Domain, Game, Outcome, Rng, Side};
use sortie_domains::connect6::{
    Board, Connect6, Engine, Limits, PATTERNS, POINTS, State, Weights, Windows, mirrored,
};
use std::sync::Arc;

const SIZE: usize = 19;
/// Games are given up after so many stones.
const STONES_MAX: usize = 160;
const EPOCHS: usize = 40;
/// Of the positions, one in so many is kept apart to see how well the rest was learned.
const APART: usize = 10;
/// How strongly a pattern is held to its group.
const HOLD: f64 = 2e-6;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: u64| words.get(i).and_then(|word| word.parse().ok()).unwrap_or(default);
    match words.first().map(String::as_str) {
        Some("play") => play(number(1, 100), number(2, 200), number(3, 1)),
        Some("learn") if words.len() > 1 => learn(&words[1..]),
        _ => eprintln!("usage: connect6_tune play [games] [nodes] [seed] | learn FILE..."),
    }
}

/// Games of the engine against itself from random openings, one a line.
fn play(games: u64, nodes: u64, seed: u64) {
    let (game, mut engine) = (Connect6::new(SIZE), Engine::new(SIZE));
    for number in 0..games {
        let mut rng = Rng::new(seed, number);
        let (mut state, mut stones) = (game.initial(), Vec::new());
        let opening = 1 + 2 * rng.below(3) + 2;
        while game.outcome(&state).is_none() && state.played() < STONES_MAX {
            let turn = if state.played() == 0 {
                vec![(SIZE * SIZE / 2) as u16]
            } else if state.played() < opening || rng.below(12) == 0 {
                vec![near(&game, &state, &mut rng)]
            } else {
                let nodes = nodes / 2 + rng.below(nodes as usize) as u64;
                engine.answer(&game, &state, &[], Limits::nodes(nodes)).turn
            };
            for cell in turn {
                stones.push(game.show_move(&state, cell));
                game.play(&mut state, cell);
            }
        }
        if let Some(Outcome::Win(side)) = game.outcome(&state) {
            println!("{} {}", stones.join(" "), if side == Side::First { 'x' } else { 'o' });
        }
    }
}

/// An empty cell at most three from a stone.
fn near(game: &Connect6, state: &State, rng: &mut Rng) -> u16 {
    loop {
        let cell = rng.below(SIZE * SIZE);
        let (column, row) = (cell % SIZE, cell / SIZE);
        let stone = |other: usize| game.stone(state, other as u16).is_some();
        let close = |other: usize| (other % SIZE).abs_diff(column).max((other / SIZE).abs_diff(row)) <= 3;
        if !stone(cell) && (0..SIZE * SIZE).any(|other| stone(other) && close(other)) {
            return cell as u16;
        }
    }
}

/// A position: the patterns of its live windows, twice the pattern and one more if the side waits; and whether the side
/// to move won.
struct Example {
    seen: Vec<u16>,
    won: bool,
}

fn learn(files: &[String]) {
    let (mut examples, mut games, mut skipped) = (Vec::new(), 0, 0);
    let windows = Arc::new(Windows::new(SIZE));
    for file in files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for line in text.lines() {
            match read(line, windows.clone()) {
                Some(mut found) => {
                    games += 1;
                    examples.append(&mut found);
                }
                None => skipped += 1,
            }
        }
    }
    eprintln!("{games} games, {} positions, {skipped} lines skipped", examples.len());
    let weights = regress(&examples);
    let origin = format!(
        "What a window of six cells and its two ends are worth to its side: if that side is to move, and if it waits.\n\
         {POINTS} points are a factor e of the odds. x: a stone of the side, #: a stone of the other side's or the edge.\n\
         Made by examples/connect6_tune.rs from {} positions of {games} games.",
        examples.len()
    );
    print!("{}", weights.show(&origin));
}

/// The positions of a game in which a turn begins and six cannot be completed at once: search sees those.
fn read(line: &str, windows: Arc<Windows>) -> Option<Vec<Example>> {
    let mut words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let winner = match words.pop()? {
        "x" => 0,
        "o" => 1,
        _ => return None,
    };
    let game = Connect6::new(SIZE);
    let (mut state, mut board) = (game.initial(), Board::new(windows));
    let mut examples = Vec::new();
    for word in words {
        let side = usize::from(state.to_move() == Side::Second);
        if state.played() > 2 && state.stones_left() == 2 && !board.threatens(side) {
            let seen =
                board.patterns().map(|(of, at)| (2 * at.min(mirrored(at)) + usize::from(of != side)) as u16);
            examples.push(Example { seen: seen.collect(), won: winner == side });
        }
        let cell = game.parse_move(&state, word)?;
        board.place(cell, side);
        game.play(&mut state, cell);
    }
    Some(examples)
}

/// The group of a pattern: how many stones, and how many of the ends are blocked.
fn group(pattern: usize) -> usize {
    let (stones, ends) = ((pattern % 64).count_ones() as usize, pattern / 64);
    let blocked = usize::from(ends / 3 == 2) + usize::from(ends % 3 == 2);
    stones * 3 + blocked
}

/// Logistic regression by Adam, one weight for a group and one for how a pattern differs from it.
fn regress(examples: &[Example]) -> Weights {
    const GROUPS: usize = 21;
    let groups_at = 2 * PATTERNS;
    let tempo_at = groups_at + 2 * GROUPS;
    let count = tempo_at + 1;
    let group_of = |seen: u16| groups_at + 2 * group(usize::from(seen) / 2) + usize::from(seen) % 2;
    let sign = |seen: u16| if seen.is_multiple_of(2) { 1.0 } else { -1.0 };
    let mut weights = vec![0.0f64; count];
    let (mut mean, mut square) = (vec![0.0; count], vec![0.0; count]);
    let mut order: Vec<usize> = (0..examples.len()).filter(|i| i % APART != 0).collect();
    let mut rng = Rng::new(1, 0);
    let chance = |weights: &[f64], example: &Example| {
        let sum: f64 =
            example.seen.iter().map(|&s| sign(s) * (weights[usize::from(s)] + weights[group_of(s)])).sum();
        1.0 / (1.0 + (-(sum + weights[tempo_at])).exp())
    };
    let mut step = 0;
    for epoch in 0..EPOCHS {
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
        let rate = 0.01 * (1.0 - epoch as f64 / EPOCHS as f64);
        for batch in order.chunks(256) {
            let mut slope = vec![0.0; count];
            for &i in batch {
                let example = &examples[i];
                let miss = chance(&weights, example) - f64::from(u8::from(example.won));
                for &s in &example.seen {
                    slope[usize::from(s)] += sign(s) * miss / batch.len() as f64;
                    slope[group_of(s)] += sign(s) * miss / batch.len() as f64;
                }
                slope[tempo_at] += miss / batch.len() as f64;
            }
            step += 1;
            for (i, weight) in weights.iter_mut().enumerate() {
                let slope = slope[i] + if i < groups_at { HOLD * *weight * 256.0 } else { 0.0 };
                mean[i] = 0.9 * mean[i] + 0.1 * slope;
                square[i] = 0.999 * square[i] + 0.001 * slope * slope;
                let (m, s) = (mean[i] / (1.0 - 0.9f64.powi(step)), square[i] / (1.0 - 0.999f64.powi(step)));
                *weight -= rate * m / (s.sqrt() + 1e-8);
            }
        }
        let apart: Vec<&Example> = examples.iter().step_by(APART).collect();
        let loss: f64 = apart
            .iter()
            .map(|e| -(if e.won { chance(&weights, e) } else { 1.0 - chance(&weights, e) }).max(1e-9).ln())
            .sum();
        eprintln!("epoch {epoch}: loss {:.4} of those kept apart", loss / apart.len() as f64);
    }
    let points = |weight: f64| (weight * POINTS).round().clamp(-30_000.0, 30_000.0) as i16;
    let worth = (0..PATTERNS).map(|at| {
        let at = at.min(mirrored(at));
        [0, 1].map(|role| points(weights[2 * at + role] + weights[group_of((2 * at + role) as u16)]))
    });
    Weights { worth: worth.collect(), tempo: points(weights[tempo_at]) }
}
