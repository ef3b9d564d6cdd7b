//! `lab scale --calibrate` and `--check`: what a search costs here, and whether the model of it holds.
//!
//! What can be compared on a machine that has other things to do is CPU time: playouts per CPU second of the process
//! against playouts per second of work of the modelled cores, and messages for each playout. Wall time is printed beside
//! them and means something only when the machine is idle. Whoever waits sleeps and is woken, which costs CPU time that
//! the model does not know: searches whose ranks wait for each other, or hand playouts to threads of their own, are shown
//! and do not count.

use super::args::Scale;
use super::positions;
use crate::costs::{self, Profile};
use crate::folder::write_whole;
use crate::players::Player;
use crate::source::Instance;
use crate::{Verdict, clock, output};
use anyhow::{Context, Result, bail};
use cpu_time::{ProcessTime, ThreadTime};
use serde_json::json;
use sortie_core::{AnyGame, AnyPlayer, Budget, Thought};
use sortie_rank::Calibration;
use std::sync::atomic::AtomicBool;

/// Playouts of a search, unless the user says.
const CALIBRATE_PLAYOUTS: u64 = 4_000;
const CHECK_PLAYOUTS: u64 = 5_000;
/// The bar: within so much of what is measured.
const ERROR_MAX: f64 = 0.15;
/// Nodes, threads and simulations in flight of what is checked.
const CHECKED: [(u32, u32, u32); 6] = [(1, 1, 1), (2, 1, 4), (2, 1, 16), (2, 1, 64), (1, 2, 4), (2, 2, 8)];
/// Equal searches, of which the fastest counts.
const REPEATS: usize = 3;

/// Measures the costs and writes them.
pub fn calibrate(args: &Scale) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let game = instance.game()?;
    let Player::Own(uct) = Player::parse(&args.player)? else {
        bail!("--player {}: expected our own search, as in default or plain", args.player);
    };
    let positions = positions::draw(game, args.positions, args.plies, args.seed)?;
    let begun = ThreadTime::now();
    let calibration = Calibration {
        game,
        uct: &uct,
        positions: &positions,
        playouts: args.playouts.unwrap_or(CALIBRATE_PLAYOUTS),
        seed: args.seed,
        clock: &|| begun.elapsed().as_nanos() as f64,
    };
    let mut costs = calibration.costs()?;
    for cost in [
        &mut costs.step,
        &mut costs.replay,
        &mut costs.add,
        &mut costs.task,
        &mut costs.record,
        &mut costs.frame,
    ] {
        *cost = (*cost * 10.0).round() / 10.0;
    }
    let profile = Profile {
        game: game.kind(),
        player: args.player.clone(),
        machine: machine(),
        measured: clock::now().chars().take(10).collect(),
        costs,
    };
    let text = format!(
        "# What a search costs in nanoseconds of CPU time, measured by `lab scale {} --calibrate --player {}`.\n{}",
        args.game,
        args.player,
        toml::to_string(&profile)?
    );
    match &args.out {
        Some(path) => {
            write_whole(path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
            if args.report.json {
                output::print_json(&profile)?;
            } else if !args.report.quiet {
                output::print(&format!("{text}\nwritten to {}", path.display()))?;
            }
        }
        None if args.report.json => output::print_json(&profile)?,
        None => output::print(&text)?,
    }
    Ok(Verdict::Done)
}

/// What kind of machine this is, and how the program was built.
fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':')).map(|(_, m)| m.trim());
    let build = if cfg!(debug_assertions) { "with debug assertions" } else { "optimised" };
    format!(
        "{}, {} processors, {}, sortie {} {build}",
        model.unwrap_or("unknown processor"),
        crate::contest::processors(),
        std::env::consts::ARCH,
        env!("CARGO_PKG_VERSION"),
    )
}

/// What searches of one configuration came to.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    playouts: f64,
    /// Seconds by the clock, real or modelled.
    seconds: f64,
    /// Seconds of work of all cores.
    work: f64,
    records: f64,
}

impl Sum {
    fn add(&mut self, thought: &Thought, work: f64) {
        let records = thought.gang.as_ref().map_or(0.0, |gang| gang.records);
        self.playouts += thought.playouts as f64;
        self.seconds += thought.seconds;
        self.work += work;
        self.records += records * thought.playouts as f64;
    }

    fn rate(&self) -> f64 {
        self.playouts / self.seconds.max(1e-9)
    }

    fn messages(&self) -> f64 {
        self.records / self.playouts.max(1.0)
    }
}

/// Compares real searches with their model. Exit code 1 if one is further off than the bar.
pub fn check(args: &Scale) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let game = instance.game()?;
    let positions = positions::draw(game, args.positions, args.plies, args.seed)?;
    let playouts = args.playouts.unwrap_or(CHECK_PLAYOUTS);
    let player = super::plan::with_memory(&args.player, args.memory);
    let (mut rows, mut worst) = (Vec::new(), 0.0f64);
    let processors = crate::contest::processors();
    let mut text = format!(
        "{}  {}  {} positions, {playouts} playouts each\ncosts: {}\n\n",
        instance.name,
        args.player,
        positions.len(),
        whose(args, game)?
    );
    text += "                         playouts a second             messages a playout           modelled    CPU\n";
    text += "ranks, threads, par   measured   modelled    error   measured   modelled    error       busy   time\n";
    for (nodes, threads, par) in CHECKED {
        let options = format!("nodes={nodes},threads={threads},par={par}");
        let open = |engine: &str| {
            let mut options = format!("{options},engine={engine}");
            if let Some(path) = &args.costs {
                options += &format!(",costs={}", path.display());
            }
            Player::parse(&format!("tds[{options}]:{player}"))?.open(game, args.seed)
        };
        let (mut real, mut modelled) = (open("threads")?, open("virtual")?);
        let (mut measured, mut model) = (Sum::default(), Sum::default());
        for position in &positions {
            let mut best: Option<(Thought, f64)> = None;
            for _ in 0..REPEATS {
                let begun = ProcessTime::now();
                let thought = search(&mut *real, position, playouts, args.seed)?;
                let work = begun.elapsed().as_secs_f64();
                // Whatever made the others slower was not ours.
                if best.as_ref().is_none_or(|(best, _)| thought.seconds < best.seconds) {
                    best = Some((thought, work));
                }
            }
            let (thought, work) = best.expect("at least one");
            measured.add(&thought, work);
            let thought = search(&mut *modelled, position, playouts, args.seed)?;
            let busy = thought.gang.as_ref().and_then(|gang| gang.busy_seconds).unwrap_or(0.0);
            model.add(&thought, busy);
        }
        let busy = model.work / (model.seconds * f64::from(nodes * threads)).max(1e-9);
        let counts = threads == 1 && nodes * threads <= processors;
        let rate_error = model.rate() / measured.rate() - 1.0;
        let message_error =
            if nodes == 1 { 0.0 } else { model.messages() / measured.messages().max(1e-9) - 1.0 };
        if counts {
            worst = worst.max(rate_error.abs()).max(message_error.abs());
        }
        text += &format!(
            "{:19} {:>10.0} {:>10.0} {:>+7.1}% {:>10.2} {:>10.2} {:>+7.1}% {:>9.1}% {:>5.0}%{}\n",
            format!("{nodes}, {threads}, {par}"),
            measured.rate(),
            model.rate(),
            100.0 * rate_error,
            measured.messages(),
            model.messages(),
            100.0 * message_error,
            100.0 * busy,
            100.0 * measured.work / (measured.seconds * f64::from(nodes * threads)).max(1e-9),
            if counts { "" } else { "  (does not count)" },
        );
        rows.push(json!({
            "nodes": nodes, "threads": threads, "par": par, "engine": "threads", "busy": busy, "counts": counts,
            "measured": { "pps": measured.rate(), "messages": measured.messages(), "cpu_seconds": measured.work },
            "modelled": { "pps": model.rate(), "messages": model.messages(), "busy_seconds": model.work },
            "error": { "pps": rate_error, "messages": message_error },
        }));
    }
    let holds = worst <= ERROR_MAX;
    text += &format!(
        "\nThe worst that counts is {:.1} % off: {}.\nThe clock decides: other work on the machine makes what is measured slower. Rows of ranks that hand playouts to threads\nof their own, or of more ranks than processors, do not count.",
        100.0 * worst,
        if holds { "within 15 %, the model holds" } else { "more than 15 %, the model does not hold here" }
    );
    if args.report.json {
        output::print_json(
            &json!({ "instance": instance.name, "player": args.player, "rows": rows, "worst": worst, "holds": holds }),
        )?;
    } else {
        output::print(&text)?;
    }
    Ok(if holds { Verdict::Done } else { Verdict::NotFound })
}

fn search(player: &mut dyn AnyPlayer, position: &[String], playouts: u64, seed: u64) -> Result<Thought> {
    player.reset(seed);
    player.set(None, position)?;
    Ok(player.think(&Budget::playouts(playouts), &AtomicBool::new(false), &mut |_| {})?)
}

/// Where the costs of a model come from, for people.
pub fn whose(args: &Scale, game: &dyn AnyGame) -> Result<String> {
    if let Some(path) = &args.costs {
        let profile = costs::read(path)?;
        return Ok(format!("{} ({}, {})", path.display(), profile.machine, profile.measured));
    }
    let Player::Own(uct) = Player::parse(&args.player)? else {
        bail!("--player {}: expected our own search, as in default or plain", args.player);
    };
    Ok(match costs::built_in(&game.kind(), &uct) {
        Some(profile) => format!(
            "built in for {} {} ({}, {})",
            profile.game, profile.player, profile.machine, profile.measured
        ),
        None => "none were measured for this game and player: nominal ones".into(),
    })
}
