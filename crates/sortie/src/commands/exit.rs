//! `sortie exit`: expert iteration (Anthony, Tian and Barber 2017; for Morpion Doux, Negrevergne and Cazenave 2021,
//! section 4). A round: the expert, a search guided by the network, finds games; the network learns the best games so
//! far; then it plays some games by itself, which show what it has learnt. In the first round there is no network yet,
//! and the expert is the plain search.
//!
//! A round is a folder of folders, each of which can be gone on with, so a run that was killed loses next to nothing.

use super::data::{self, Set};
use super::train::{self, HowArgs, NET, Pace};
use crate::args::{SearchArgs, WorkArgs};
use crate::contest::{claim, processors, read_request, say_stopped};
use crate::folder::{Folder, write_whole};
use crate::journal::{self, Journal};
use crate::output::{self, count};
use crate::policy::{self, PolicyArgs};
use crate::source::Instance;
use crate::{Verdict, clock, duration, searches, session};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use sortie_core::prior::Trust;
use sortie_core::{Record, Sample, Search};
use sortie_neural::data::Game;
use sortie_runs::chart::{Chart, Point, Series};
use sortie_runs::kind::{CURVE, EXIT};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The network whose own games are best.
const BEST: &str = "best.safetensors";
/// The seconds that were spent when it was last stopped: more than at the end of the last round.
const SPENT: &str = "spent";
/// The version of the folder's format.
pub const FORMAT: u32 = 1;
/// Seeds of one round, more than it has games.
const SEEDS: u64 = 1_000_000;
/// How often the clock is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// `sortie exit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie exit morpion/5D --search nrpa --level 2 --iterations 20 --time 45m --out runs/exit
  sortie exit morpion/5D --search sample --playouts 100 --policy-temperature 0.4      NeuralNMCS(0)
  sortie exit morpion/5D --search nmcs --level 1 --stabilise 10 --early-stop          NeuralNMCS(1)c
Every round the expert, guided by the network, finds --games games; the network learns the --memory best games of all
rounds; then --samples games are drawn from the network alone. Stopped or killed, `sortie resume DIR` goes on.")]
pub struct Exit {
    /// What to play: domain/name
    pub instance: String,
    /// The expert.
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Playouts a game of the expert: the best of them is the game [default: one whole search]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub playouts: Option<u64>,
    /// Games of the expert, a round
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..SEEDS))]
    pub games: u64,
    /// Games of the first round, in which the search has no network yet and is a hundred times as fast [default: ten
    /// times --games]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..SEEDS))]
    pub first_games: Option<u64>,
    /// The network learns so many games: the best of all rounds, newer ones before older ones
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub memory: u64,
    /// Games that the network plays by itself after every round
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..SEEDS))]
    pub samples: u64,
    #[command(flatten)]
    pub how: HowArgs,
    /// End after so many rounds
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub rounds: u32,
    /// End after so much time: 45m, 3h
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub time: Option<f64>,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// What an expert iteration was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The version of the folder's format.
    pub format: u32,
    /// `domain/name`.
    pub instance: String,
    /// Games of the expert, a round.
    pub games: u64,
    /// And in the first round.
    pub first_games: u64,
    /// Games that are learnt.
    pub memory: u64,
    /// Games of the network alone, a round.
    pub samples: u64,
    /// Rounds.
    pub rounds: u32,
    /// Wall time of all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Playouts a game of the expert.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playouts: Option<u64>,
    /// A network to begin with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// The expert.
    pub search: Search,
    /// How much it makes of the network.
    pub trust: Trust,
    /// How the network learns; its data and its beginning are those of the round.
    pub train: train::Request,
}

/// How a round went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Its number, from 1.
    pub round: u32,
    /// Wall time at its end, of all sessions.
    pub seconds: f64,
    /// Mean and highest score of the expert's games.
    pub expert: (f64, f64),
    /// The lowest score that was learnt.
    pub learnt_from: f64,
    /// Top-1 accuracy on the held-out games.
    pub top1: f64,
    /// Mean and highest score of the network's own games.
    pub network: (f64, f64),
    /// The highest score so far, by either.
    pub best: f64,
}

/// Runs the command.
pub fn run(args: &Exit) -> Result<Verdict> {
    let instance = Instance::open(&args.instance)?;
    let request = Request {
        format: FORMAT,
        instance: args.instance.clone(),
        games: args.games,
        first_games: args
            .first_games
            .unwrap_or(if args.policy.policy.is_some() { 1 } else { 10 } * args.games),
        memory: args.memory,
        samples: args.samples,
        rounds: args.rounds,
        seconds: args.time,
        playouts: args.playouts,
        from: args.policy.policy.clone(),
        search: searches::build(&args.search)?,
        trust: args.policy.trust()?,
        train: args.how.request(&instance, Vec::new(), args.policy.policy.clone())?,
    };
    let path = args.work.folder("exit", &request.instance);
    begin(&path, &request, args.work.threads, args.work.report.json, args.work.report.quiet)
}

/// Goes on with the expert iteration in a folder.
pub fn resume(path: &Path, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    begin(path, &read_request(path, EXIT)?, threads, json, quiet)
}

fn begin(path: &Path, request: &Request, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    let stop = session::stop_on_signals()?;
    let rounds = iterate(path, request, threads.unwrap_or_else(processors), quiet, &stop)?;
    if stop.load(Ordering::Relaxed) {
        say_stopped(path);
    }
    let Some(last) = rounds.last() else {
        bail!("no round was finished in time: give more --time, or fewer --games");
    };
    if json {
        return output::print_json(&serde_json::json!({
            "folder": output::path(path), "best": last.best, "net": output::path(&path.join(BEST)), "rounds": rounds,
        }))
        .map(|()| Verdict::Done);
    }
    output::print(&table(&rounds))?;
    output::print(&format!("in {}: {BEST}, best.record, {CURVE}, curve.svg", path.display()))?;
    Ok(Verdict::Done)
}

/// Goes on until the rounds or the time are used up, or somebody asks to stop: the rounds that were finished.
pub fn iterate(
    path: &Path,
    request: &Request,
    threads: u32,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<Vec<Round>> {
    if request.format != FORMAT {
        bail!("{}: format {}: expected {FORMAT}", path.join(EXIT).display(), request.format);
    }
    let folder = claim(path, EXIT, request, "expert iteration")?;
    let mut rounds: Vec<Round> = journal::read(&path.join(CURVE))?;
    let before = rounds.last().map_or(0.0, |round| round.seconds).max(spent(path));
    let begun = Instant::now();
    let seconds = || before + begun.elapsed().as_secs_f64();
    let late = || request.seconds.is_some_and(|limit| seconds() >= limit);
    let (ending, finished) = (AtomicBool::new(late()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Relaxed) {
                ending.fetch_or(late() || stop.load(Ordering::Relaxed), Ordering::Relaxed);
                std::thread::sleep(LOOK);
            }
        });
        let done = (|| -> Result<()> {
            while rounds.len() < request.rounds as usize && !ending.load(Ordering::Relaxed) {
                let number = rounds.len() as u32 + 1;
                let Some(mut round) = round(&folder, request, number, &rounds, threads, quiet, &ending)?
                else {
                    return Ok(());
                };
                round.seconds = seconds();
                if !quiet {
                    output::say(&line(&round));
                }
                let mut curve = Journal::open(&folder, CURVE)?;
                curve.append(&round).and_then(|()| curve.sync())?;
                rounds.push(round);
                publish(&folder, request, &rounds)?;
            }
            Ok(())
        })();
        finished.store(true, Ordering::Relaxed);
        done
    })?;
    let spent = path.join(SPENT);
    write_whole(&spent, format!("{:.3}\n", seconds()).as_bytes())
        .with_context(|| format!("cannot write {}", spent.display()))?;
    Ok(rounds)
}

/// The seconds that `SPENT` says; 0 if it says nothing, as after a kill.
fn spent(path: &Path) -> f64 {
    let text = std::fs::read_to_string(path.join(SPENT)).unwrap_or_default();
    text.trim().parse().ok().filter(|seconds: &f64| seconds.is_finite()).unwrap_or(0.0)
}

fn home(path: &Path, round: u32) -> PathBuf {
    path.join(format!("round-{round:04}"))
}

/// One round; `None` if it was stopped.
fn round(
    folder: &Folder,
    request: &Request,
    number: u32,
    before: &[Round],
    threads: u32,
    quiet: bool,
    ending: &AtomicBool,
) -> Result<Option<Round>> {
    let here = home(&folder.path, number);
    let last = match number {
        1 => request.from.clone(),
        _ => Some(home(&folder.path, number - 1).join("net").join(NET)),
    };
    let seed = request.train.settings.seed * 1000 * SEEDS + number as u64 * SEEDS;
    let wanted = if number == 1 { request.first_games } else { request.games };
    let games = data::Request {
        format: data::FORMAT,
        instance: request.instance.clone(),
        games: wanted,
        games_tried_max: Some(wanted),
        min_score: None,
        max_score: None,
        on_the_way: None,
        playouts: request.playouts,
        seed,
        search: request.search.clone(),
        policy: last.as_ref().map(|net| policy::spec_of(net, request.trust)).transpose()?,
    };
    let Some(expert) = data::generate(&here.join("games"), &games, threads, true, ending)? else {
        return Ok(None);
    };
    if !quiet {
        let (mean, high) = spread(&expert.scores);
        let found = count(expert.scores.len() as u64);
        output::say(&format!("round {number}: {found} games of the expert, mean {mean:.1}, best {high}"));
    }

    let chosen = choose(&folder.path, request, number)?;
    let learnt_from = chosen.iter().map(|game| game.score).fold(f64::INFINITY, f64::min);
    data::write(&here.join("learnt"), &games, &chosen)?;
    let lesson = train::Request { data: vec![here.join("learnt")], from: last, ..request.train.clone() };
    let Some(epochs) = train::train(&here.join("net"), &lesson, Pace::new(threads, true), ending)? else {
        return Ok(None);
    };

    let net = here.join("net").join(NET);
    let own = data::Request {
        games: request.samples,
        games_tried_max: Some(request.samples),
        playouts: Some(1),
        search: Search::Sample(Sample::default()),
        policy: Some(policy::spec_of(&net, Trust::default())?),
        ..games
    };
    let Some(samples) = data::generate(&here.join("samples"), &own, threads, true, ending)? else {
        return Ok(None);
    };
    let network = spread(&samples.scores);
    let record = before.iter().map(|round| round.best).fold(f64::NEG_INFINITY, f64::max);
    let best = expert.games.iter().chain(&samples.games).max_by(|a, b| a.score.total_cmp(&b.score));
    let best = best.ok_or_else(|| anyhow!("round {number}: no game"))?;
    if best.score > record {
        write_record(folder, request, best)?;
    }
    if before.iter().all(|round| round.network.0 < network.0) {
        let bytes = policy::read(&net).map_err(|message| anyhow!("{}: {message}", net.display()))?;
        folder.write(BEST, &bytes).with_context(|| folder.path.join(BEST).display().to_string())?;
    }
    Ok(Some(Round {
        round: number,
        seconds: 0.0,
        expert: spread(&expert.scores),
        learnt_from,
        top1: epochs.last().map_or(0.0, |epoch| epoch.test.means().1),
        network,
        best: record.max(best.score),
    }))
}

/// The best games of all rounds, the newer one first of equals.
fn choose(path: &Path, request: &Request, number: u32) -> Result<Vec<Game>> {
    let mut games = Vec::new();
    for round in (1..=number).rev() {
        games.extend(Set::read(&home(path, round).join("games"))?.1);
    }
    games.sort_by(|a, b| b.score.total_cmp(&a.score));
    games.truncate(request.memory as usize);
    Ok(games)
}

/// Mean and highest.
fn spread(scores: &[f64]) -> (f64, f64) {
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    (mean, scores.iter().copied().fold(f64::NEG_INFINITY, f64::max))
}

fn write_record(folder: &Folder, request: &Request, game: &Game) -> Result<()> {
    let record = Record {
        instance: request.instance.clone(),
        score: game.score,
        fields: vec![
            ("search".into(), game.search.clone()),
            ("seed".into(), game.seed.to_string()),
            ("found".into(), clock::now()),
            ("version".into(), format!("sortie {}", env!("CARGO_PKG_VERSION"))),
        ],
        moves: game.words(),
    };
    let name = crate::folder::RECORD;
    folder
        .write(name, record.to_text().as_bytes())
        .with_context(|| folder.path.join(name).display().to_string())
}

fn publish(folder: &Folder, request: &Request, rounds: &[Round]) -> Result<()> {
    let series = |name: &str, of: &dyn Fn(&Round) -> f64| Series {
        name: name.into(),
        points: rounds.iter().map(|r| Point { x: r.seconds / 3600.0, mean: of(r), half: 0.0 }).collect(),
    };
    let chart = Chart {
        title: format!("{}: expert iteration by {}", request.instance, searches::describe(&request.search)),
        x_label: "hours".into(),
        y_label: "score".into(),
        series: vec![
            series("network, best", &|r| r.network.1),
            series("network, mean", &|r| r.network.0),
            series("expert, best", &|r| r.expert.1),
            series("expert, mean", &|r| r.expert.0),
        ],
        ..Chart::default()
    };
    let name = "curve.svg";
    folder
        .write(name, chart.draw().svg().as_bytes())
        .with_context(|| folder.path.join(name).display().to_string())
}

fn line(round: &Round) -> String {
    format!(
        "round {}, {}: network mean {:.1}, best {}; expert mean {:.1}, best {}; best so far {}",
        round.round,
        duration::show(round.seconds),
        round.network.0,
        output::score(round.network.1),
        round.expert.0,
        output::score(round.expert.1),
        output::score(round.best),
    )
}

fn table(rounds: &[Round]) -> String {
    let mut text = String::from(
        "| round | time | expert mean | expert best | learnt from | top-1 | network mean | network best |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for r in rounds {
        text += &format!(
            "| {} | {} | {:.1} | {} | {} | {:.1} % | {:.1} | {} |\n",
            r.round,
            duration::show(r.seconds),
            r.expert.0,
            output::score(r.expert.1),
            output::score(r.learnt_from),
            100.0 * r.top1,
            r.network.0,
            output::score(r.network.1),
        );
    }
    text
}
