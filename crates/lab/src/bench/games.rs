//! `lab bench rollouts`, `search` and `perft`: how fast a game is played at random and searched, and whether its
//! rules count right.

use super::{WARM_UP_SECONDS, check_seconds, max_rss_mb};
use crate::Verdict;
use crate::args::{BenchPerft, BenchRollouts, BenchSearch};
use crate::output::{self, count, number, rounded};
use crate::players;
use crate::source::Instance;
use anyhow::Result;
use cpu_time::ThreadTime;
use serde_json::json;
use sortie_core::{AnyGame, Budget, Rng, Thought};
use sortie_jobs::stats::median;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Random games.
pub fn rollouts(args: &BenchRollouts) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    check_seconds(args.seconds)?;
    let mut rng = Rng::new(args.seed, 0);
    play(instance.game()?, args.draws, WARM_UP_SECONDS.min(args.seconds), &mut rng);
    let (playouts, mean, seconds) = play(instance.game()?, args.draws, args.seconds, &mut rng);
    let rate = playouts as f64 / seconds.max(1e-9);
    if args.json {
        output::print_json(&json!({
            "domain": instance.domain(),
            "instance": instance.name,
            "draws": args.draws,
            "playouts": playouts,
            "playouts_per_cpu_second": number(rate.round()),
            "first_side": mean,
            "cpu_seconds": rounded(seconds),
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
    } else {
        output::print(&format!(
            "{}  {} drawn a move\ngames  {} in {seconds:.2} s of CPU time\nrate   {} games per CPU second\nfirst  {:.1} %\n",
            instance.name,
            args.draws,
            count(playouts),
            count(rate as u64),
            100.0 * mean,
        ))?;
    }
    Ok(Verdict::Done)
}

/// Games for so much CPU time: how many, the share of the first side, the time it took.
fn play(game: &dyn AnyGame, draws: u32, seconds: f64, rng: &mut Rng) -> (u64, f64, f64) {
    let begun = ThreadTime::now();
    let (mut playouts, mut sum, mut batch) = (0, 0.0, 1);
    loop {
        sum += game.rollouts(draws, batch, rng) * batch as f64;
        playouts += batch;
        let spent = begun.elapsed().as_secs_f64();
        if spent >= seconds {
            return (playouts, sum / playouts as f64, spent);
        }
        // The clock is read some twenty times in all.
        let rate = playouts as f64 / spent.max(1e-6);
        batch = ((rate * seconds / 20.0) as u64).clamp(1, 2 * playouts.max(1));
    }
}

/// A tree search from the start.
pub fn search(args: &BenchSearch) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let mut player = players::open(&args.player, instance.game()?, args.seed)?;
    let (budget, stop) = (Budget::playouts(args.playouts), AtomicBool::new(false));
    let mut runs: Vec<Thought> = Vec::new();
    for _ in 0..args.repeat {
        player.reset(args.seed);
        player.set(None, &[])?;
        runs.push(player.think(&budget, &stop, &mut |_| {})?);
    }
    let rate = |seconds: fn(&Thought) -> f64| {
        let rates: Vec<f64> = runs.iter().map(|t| t.playouts as f64 / seconds(t).max(1e-9)).collect();
        median(&rates).expect("there is at least one run")
    };
    let (wall, cpu) = (rate(|t| t.seconds), rate(|t| t.cpu_seconds));
    let last = runs.last().expect("at least one");
    let memory = max_rss_mb();
    if args.json {
        output::print_json(&json!({
            "domain": instance.domain(),
            "instance": instance.name,
            "player": args.player,
            "playouts": last.playouts,
            "playouts_per_second": number(wall.round()),
            "playouts_per_cpu_second": number(cpu.round()),
            "nodes": last.nodes,
            "depth": last.depth,
            "best": last.best,
            "fill": last.fill,
            "recycled": last.recycled,
            "max_rss_mb": memory,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!(
        "{}  {}\nsimulations  {}, {} times\nrate         {} per CPU second, {} per second\ntree         {} nodes, depth {}, best move {}\n",
        instance.name,
        args.player,
        count(last.playouts),
        args.repeat,
        count(cpu as u64),
        count(wall as u64),
        count(last.nodes),
        last.depth,
        last.best.as_deref().unwrap_or("-"),
    );
    text += &format!("bound        {:.1} % in use, room made {} times\n", 100.0 * last.fill, last.recycled);
    if let Some(memory) = memory {
        text += &format!("memory       {memory} MB\n");
    }
    output::print(&text)?;
    Ok(Verdict::Done)
}

/// The number of ways to play.
pub fn perft(args: &BenchPerft) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let game = instance.game()?;
    let mut text = String::new();
    let mut counts = Vec::new();
    for depth in 1..=args.depth {
        let begun = Instant::now();
        let ways = game.perft(depth);
        text += &format!("{depth:2}  {:>16}  {:.2} s\n", count(ways), begun.elapsed().as_secs_f64());
        counts.push(ways);
    }
    if args.json {
        output::print_json(&json!({ "instance": instance.name, "perft": counts }))?;
    } else {
        output::print(&text)?;
    }
    Ok(Verdict::Done)
}
