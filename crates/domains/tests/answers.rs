//! Whoever is asked in a legal, unfinished position answers with a legal move: every player of every game over whole
//! games that are partly played by others, with hardly any time, with time that was spent before it began, and with
//! stones in the middle of a turn. A game that is over is answered with no move.

use sortie_core::{AnyGame, AnyPlayer, Budget, Opened, Rng, Uct};
use sortie_domains::{catalogue, open};
use std::sync::atomic::AtomicBool;

/// Games that random moves do not end are given up.
const PLIES_MAX: usize = 400;
/// Positions of a game that one player is asked about.
const QUESTIONS: usize = 10;

fn games() -> impl Iterator<Item = (&'static str, Box<dyn AnyGame>)> {
    // Names without a domain are puzzles.
    let examples = catalogue().entries().flat_map(|entry| entry.examples).filter(|name| name.contains('/'));
    examples.filter_map(|name| match open(name, &|_| Err("no files".into())).expect("an example opens") {
        Opened::Game(game) => Some((*name, game)),
        Opened::Problem(_) => None,
    })
}

/// Budgets that end everything nearly at once, each in its way.
fn budget(rng: &mut Rng) -> Budget {
    let few = Some(1 + rng.below(30) as u64);
    match rng.below(5) {
        0 => Budget { seconds: Some(0.0), ..Budget::default() },
        1 => Budget { cpu_seconds: Some(0.0), ..Budget::default() },
        2 => Budget { nodes: few, ..Budget::default() },
        _ => Budget { playouts: few, ..Budget::default() },
    }
}

/// One game: the player is asked now and then, and its move is played as often as a random one. Returns the questions.
fn drill(name: &str, game: &dyn AnyGame, player: &mut dyn AnyPlayer, seed: u64, every: usize) -> usize {
    let mut rng = Rng::new(seed, 5);
    let mut board = game.board(None).expect("the start");
    let obeys = rng.below(3) > 0;
    let mut asked = 0;
    loop {
        let legal = board.legal();
        let over = board.outcome().is_some();
        let mut best = None;
        if over || rng.below(every) == 0 {
            asked += 1;
            player.set(None, board.words()).expect("legal moves");
            let stop = AtomicBool::new(rng.below(10) == 0);
            let thought = player.think(&budget(&mut rng), &stop, &mut |_| {}).expect("ours never fail");
            let place = || format!("{name}, seed {seed}, after {}", board.words().join(" "));
            match &thought.best {
                Some(word) => assert!(legal.contains(word), "{word}: {}", place()),
                None => assert!(over, "no move: {}", place()),
            }
            best = thought.best;
        }
        if over || board.words().len() >= PLIES_MAX {
            return asked;
        }
        let random = &legal[rng.below(legal.len())];
        let word = best.filter(|_| obeys && rng.below(8) > 0).unwrap_or_else(|| random.clone());
        board.play(&word).expect("a legal move");
    }
}

#[test]
fn every_search_answers_every_legal_position_with_a_legal_move() {
    for (name, game) in games() {
        let length = {
            let (mut board, mut rng) = (game.board(None).expect("the start"), Rng::new(1, 1));
            while board.outcome().is_none() && board.words().len() < PLIES_MAX {
                let legal = board.legal();
                board.play(&legal[rng.below(legal.len())]).expect("a legal move");
            }
            board.words().len()
        };
        for (preset, seed) in Uct::PRESETS.iter().zip(1..) {
            let uct = Uct::preset(preset.0).expect("a preset");
            let mut player = game.player(&uct, seed).expect("a sound preset");
            assert!(drill(name, &*game, &mut *player, seed, (length / QUESTIONS).max(1)) > 0);
        }
    }
}

#[test]
fn an_engine_of_a_game_s_own_answers_over_whole_games() {
    let mut asked = 0;
    for (name, game) in games() {
        let Some(mut player) = game.engine(1) else { continue };
        for seed in 0..12 {
            player.reset(seed);
            asked += drill(name, &*game, &mut *player, seed, 1 + seed as usize % 3);
        }
    }
    assert!(asked > 500, "{asked}");
}
