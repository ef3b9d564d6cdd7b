//! `lab categories`: how often moves of each category are played where there is one, counted in the games of matches.
//! The table it writes is one that the game reads (Lines of Action: the option `categories`).

use crate::args::Categories;
use crate::contest::{GAMES, referee::Game};
use crate::folder::write_whole;
use crate::output::{self, count};
use crate::source::Instance;
use crate::{Verdict, journal};
use anyhow::{Context, Result, bail};
use serde_json::json;

/// Runs the command.
pub fn run(args: &Categories) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let rules = instance.game()?;
    if args.out.exists() {
        bail!("{} exists: give another --out", args.out.display());
    }
    let (mut played, mut available): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    let (mut games, mut positions) = (0, 0);
    for from in &args.from {
        let path = if from.is_dir() { from.join(GAMES) } else { from.clone() };
        if !path.is_file() {
            bail!("{}: no such file", path.display());
        }
        for (game, line) in journal::read::<Game>(&path)?.iter().zip(1..) {
            if game.instance != instance.name {
                bail!("{}:{line}: a game of {}, expected {}", path.display(), game.instance, instance.name);
            }
            let mut board = rules.board(None)?;
            for (number, word) in game.moves.iter().enumerate() {
                // An opening is nobody's choice.
                if number >= game.opening {
                    let (moves, categories) = board.categories();
                    played.resize(categories, 0);
                    available.resize(categories, 0);
                    let mut there = vec![false; categories];
                    moves.iter().for_each(|(_, category)| there[*category] = true);
                    there.iter().zip(&mut available).for_each(|(&is, n)| *n += u64::from(is));
                    if let Some((_, category)) = moves.iter().find(|(w, _)| w == word) {
                        played[*category] += 1;
                    }
                    positions += 1;
                }
                board.play(word).with_context(|| format!("{}:{line}", path.display()))?;
            }
            games += 1;
        }
    }
    if positions == 0 {
        bail!("there is no game to learn from");
    }
    let share = |(&p, &a): (&u64, &u64)| if a == 0 { 0.0 } else { p as f64 / a as f64 };
    let weights: Vec<f64> = played.iter().zip(&available).map(share).collect();
    let Some(table) = rules.show_categories(&weights) else {
        bail!("{} reads no table of move categories", instance.domain());
    };
    let text = format!("# Learnt from {games} games, {positions} positions, of {}.\n{table}", instance.name);
    write_whole(&args.out, text.as_bytes()).with_context(|| args.out.display().to_string())?;
    if args.json {
        output::print_json(&json!({
            "instance": instance.name, "games": games, "positions": positions, "weights": weights,
            "file": output::path(&args.out),
        }))?;
    } else {
        let (games, positions) = (count(games), count(positions));
        output::print(&format!("{text}\n{games} games, {positions} positions: {}", args.out.display()))?;
    }
    Ok(Verdict::Done)
}
