//! `lab scale`: chapter 5 of Christoph (2020) as a command, with what it asked for and nobody ran. Forms of a spread
//! search on more and more nodes: how fast they are on a set of positions, and how strong against a reference.
//!
//! Everything that was found is a line of a log: `rates.jsonl` a line for each configuration, `games.jsonl` a line for
//! each game. Lines know by the whole text of their players what they belong to, so a study goes on, or grows.

pub mod args;
mod calibrate;
mod ladder;
mod plan;
mod positions;
mod report;
mod rounds;

use crate::args::{Cli, Command};
use crate::contest::referee::{Bench, Game, Seat, play};
use crate::contest::table::{Table, TableSpec};
use crate::contest::{self, Home};
use crate::journal;
use crate::players::Player;
use crate::source::Instance;
use crate::{Verdict, duration, output, session};
use anyhow::{Context, Result, anyhow, bail};
use args::Scale;
use clap::Parser;
use plan::{Config, Contender};
use rounds::{Job, Rounds};
use serde::{Deserialize, Serialize};
use sortie_core::{AnyGame, Budget};
use sortie_runs::kind::{RATES, SCALE};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// The command that was last given for the folder, which `sortie resume` gives again.
const COMMAND: &str = "command.toml";
const FORMAT: u32 = 1;
/// Threads for each processor, at most, where the clock is real: more measure the system, not the search.
const REAL_THREADS_MAX: u32 = 16;

/// What all studies of a folder have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ground {
    format: u32,
    instance: String,
    /// Random moves before positions and games.
    plies: u32,
    draw_after: u32,
    /// Positions that are searched.
    positions: u32,
    seed: u64,
}

/// The command that was last given for a folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    format: u32,
    /// The version of the program.
    sortie: String,
    /// Where it was given: names of files are relative to that.
    directory: PathBuf,
    words: Vec<String>,
}

/// How fast somebody was on every position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Rate {
    /// The name of the contender.
    name: String,
    searches: Vec<Search>,
}

/// One search of one position.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Search {
    playouts: u64,
    seconds: f64,
    added: u64,
    distinct: f64,
    /// For each playout.
    records: f64,
    bytes: f64,
    busiest: f64,
    #[serde(default)]
    busy_seconds: Option<f64>,
    #[serde(default)]
    busiest_core: Option<f64>,
    begun: u64,
    in_flight: u64,
    depth: u32,
    fill: f64,
    proved: bool,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nodes,
    Par,
    Effect,
    Speedup,
}

impl Mode {
    fn of(args: &Scale) -> Mode {
        match args {
            _ if args.par_study => Mode::Par,
            _ if args.parallel_effect => Mode::Effect,
            _ if args.strength_speedup => Mode::Speedup,
            _ => Mode::Nodes,
        }
    }
}

/// Runs the command.
pub fn run(args: &Scale) -> Result<Verdict> {
    if args.calibrate {
        return calibrate::calibrate(args);
    }
    if args.check {
        return calibrate::check(args);
    }
    if !args.modelled && !args.real {
        bail!("a study needs --virtual (the clock is modelled) or --real (threads of this machine)");
    }
    let most = args.nodes.iter().max().unwrap_or(&1) * args.threads;
    if args.real && most > REAL_THREADS_MAX * contest::processors() {
        bail!(
            "--real with {most} threads on {} processors: give fewer --nodes and --threads, or --virtual",
            contest::processors()
        );
    }
    if let Some(width) = args.width.filter(|width| !(*width > 0.0 && *width <= 1.0)) {
        bail!("--width {width}: expected a share above 0 and at most 1, as in 0.1");
    }
    let path = match &args.out {
        Some(path) => path.clone(),
        None => contest::fresh_path("scale", &args.game),
    };
    let study = Study::open(args)?;
    study.run(&path, &std::env::args_os().skip(1).collect::<Vec<_>>())
}

/// Goes on with the study in a folder: gives the command again that was last given for it.
pub fn resume(path: &Path, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    contest::read_request::<Ground>(path, SCALE)?;
    if !path.join(COMMAND).is_file() {
        bail!(
            "{}: it has no {COMMAND}, which says what was asked last; the `lab scale` command that began it goes on \
             with it, with the same --out",
            path.display()
        );
    }
    let given: Given = contest::read_request(path, COMMAND)?;
    let refuse = || format!("{}: not a command of lab scale", path.join(COMMAND).display());
    let cli = Cli::try_parse_from(std::iter::once("lab").chain(given.words.iter().map(String::as_str)));
    let cli = cli.map_err(|error| anyhow!("{}", error.kind())).with_context(refuse)?;
    let Command::Scale(mut args) = cli.command else { bail!(refuse()) };
    args.costs = args.costs.map(|file| given.directory.join(file));
    args.out = Some(path.to_path_buf());
    args.concurrency = threads.or(args.concurrency);
    (args.report.json, args.report.quiet) = (json, quiet);
    Study::open(&args)?.run(path, &given.words.iter().map(OsString::from).collect::<Vec<_>>())
}

/// A study with everything opened.
struct Study<'a> {
    args: &'a Scale,
    mode: Mode,
    instance: Instance,
    configs: Vec<Config>,
    /// The gang of one node.
    one_node: Contender,
    stop: std::sync::Arc<AtomicBool>,
}

/// A match: somebody against somebody. Which configuration it is of, or which rung of the ladder.
struct Pairing {
    a: Contender,
    b: Contender,
    of: Of,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The number of the configuration, and the rung of the ladder that it plays against.
    Config(usize, i32),
    /// The weaker of two rungs.
    Rung(i32),
}

impl<'a> Study<'a> {
    fn open(args: &'a Scale) -> Result<Study<'a>> {
        let instance = Instance::open_game(&args.game)?;
        let mode = Mode::of(args);
        let game = instance.game()?;
        let budget = match (mode, args.playouts) {
            (Mode::Effect, Some(playouts)) => Budget::playouts(playouts),
            _ => plan::time(args),
        };
        let pars: Vec<Option<u32>> = match mode {
            Mode::Par => args.pars.iter().copied().map(Some).collect(),
            _ => vec![None],
        };
        let mut configs = Vec::new();
        for form in plan::forms(args)? {
            for &nodes in &args.nodes {
                for &par in &pars {
                    configs.push(plan::config(args, game, &form, nodes, par, budget)?);
                }
            }
        }
        let one_node = Contender::new(&plan::one_node(args), plan::time(args), game)?;
        let stop = session::stop_on_signals()?;
        Ok(Study { args, mode, configs, one_node, stop, instance })
    }

    /// Runs what is left of it; `words` is the command that asks for it.
    fn run(&self, path: &Path, words: &[OsString]) -> Result<Verdict> {
        let args = self.args;
        let ground = Ground {
            format: FORMAT,
            instance: self.instance.name.clone(),
            plies: args.plies,
            draw_after: args.draw_after,
            positions: args.positions,
            seed: args.seed,
        };
        let home = Home::open(path, SCALE, &ground)?;
        remember(&home, path, words)?;
        let game = self.instance.game()?;
        if !args.report.quiet {
            output::say(&format!(
                "{} configurations of {} in {}",
                self.configs.len(),
                ground.instance,
                path.display()
            ));
            if args.modelled {
                output::say(&format!("costs: {}", calibrate::whose(args, game)?));
            }
        }
        let rates = self.rates(&home, game)?;
        let reference = self.reference(&rates, game)?;
        let matches = if args.games == 0 { Vec::new() } else { self.matches(&reference, &rates, game)? };
        let names = matches.iter().map(|m| [m.a.name.clone(), m.b.name.clone()]).collect();
        let mut rounds = Rounds::new(names, args.games, args.width, args.seed);
        for (game, line) in home.before.iter().zip(1..) {
            rounds.know(game).with_context(|| format!("{}:{line}", home.games().display()))?;
        }
        let mut ran = Ok(());
        if !self.stop.load(Relaxed) && !matches.is_empty() {
            ran = self.play(&home, &matches, &mut rounds);
        }
        let standings: Vec<_> = (0..matches.len()).map(|cell| rounds.standing(cell)).collect();
        let report = report::Report {
            study: self,
            reference: &reference,
            one_node_playouts: self.one_node_playouts(&rates),
            rates: &rates,
            matches: &matches,
            standings: &standings,
        };
        // What was found is told also when the disk is full by now.
        let (text, json, written) = report.write(&home)?;
        if args.report.json {
            output::print_json(&json)?;
        } else {
            output::print(&format!("{text}\nfolder    {}", path.display()))?;
        }
        if self.stop.load(Relaxed) {
            contest::say_stopped(path);
        }
        ran.and(written)?;
        Ok(Verdict::Done)
    }

    fn concurrency(&self) -> u32 {
        let default = if self.args.real { 1 } else { contest::processors() };
        self.args.concurrency.unwrap_or(default)
    }

    /// How fast everybody is; what is in the log already is taken from there.
    fn rates(&self, home: &Home, game: &dyn AnyGame) -> Result<Vec<Rate>> {
        let known: Vec<Rate> = journal::read(&home.games().with_file_name(RATES))?;
        let wanted = || self.configs.iter().map(|config| &config.who).chain([&self.one_node]);
        let mut missing: Vec<&Contender> = Vec::new();
        for who in wanted() {
            if !known.iter().any(|rate| rate.name == who.name) && !missing.iter().any(|m| m.name == who.name)
            {
                missing.push(who);
            }
        }
        let found = Mutex::new((known, None));
        if !missing.is_empty() {
            let positions = positions::draw(game, self.args.positions, self.args.plies, self.args.seed)?;
            let journal = Mutex::new(home.journal(RATES)?);
            let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let worker = || {
                while let Some(who) = missing.get(next.fetch_add(1, Relaxed)) {
                    let rate = self.rate(who, &positions, game).and_then(|rate| {
                        let Some(rate) = rate else { return Ok(None) };
                        let mut journal = journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                        journal.append(&rate)?;
                        journal.sync()?;
                        // As the next session reads it: the last digit of a number may not survive the log.
                        Ok(Some(serde_json::from_str::<Rate>(&serde_json::to_string(&rate)?)?))
                    });
                    let mut found = found.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                    match rate {
                        Ok(Some(rate)) => found.0.push(rate),
                        Ok(None) => return,
                        Err(error) => {
                            found.1.get_or_insert(error);
                            return;
                        }
                    }
                    drop(found);
                    if !self.args.report.quiet {
                        let done = 1 + done.fetch_add(1, Relaxed);
                        output::say(&format!("rate {done} of {}: {}", missing.len(), who.name));
                    }
                }
            };
            std::thread::scope(|scope| {
                for _ in 0..self.concurrency() {
                    scope.spawn(worker);
                }
            });
        }
        match found.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            (_, Some(error)) => Err(error),
            (rates, None) => Ok(rates),
        }
    }

    /// Searches every position; `None`: somebody asked to stop.
    fn rate(&self, who: &Contender, positions: &[Vec<String>], game: &dyn AnyGame) -> Result<Option<Rate>> {
        let mut player = who.player.open(game, self.args.seed)?;
        let mut searches = Vec::new();
        for position in positions {
            player.reset(self.args.seed);
            player.set(None, position)?;
            let thought = player.think(&who.budget, &self.stop, &mut |_| {})?;
            if self.stop.load(Relaxed) {
                return Ok(None);
            }
            let gang = thought.gang.clone().unwrap_or_default();
            searches.push(Search {
                playouts: thought.playouts,
                seconds: thought.seconds,
                added: gang.added,
                distinct: gang.distinct,
                records: gang.records,
                bytes: gang.bytes,
                busiest: gang.busiest,
                busy_seconds: gang.busy_seconds,
                busiest_core: gang.busiest_core,
                begun: gang.begun,
                in_flight: gang.in_flight,
                depth: thought.depth,
                fill: thought.fill,
                proved: thought.proved.is_some(),
            });
        }
        Ok(Some(Rate { name: who.name.clone(), searches }))
    }

    /// The playouts of a search on one node in the time of a move, to two digits.
    fn one_node_playouts(&self, rates: &[Rate]) -> u64 {
        if let Some(playouts) = self.args.playouts {
            return playouts;
        }
        let rate = rates.iter().find(|rate| rate.name == self.one_node.name);
        let playouts = rate.map_or(0.0, |rate| report::pps(rate) * self.args.time).max(1.0);
        let digit = 10f64.powf(playouts.log10().floor() - 1.0).max(1.0);
        ((playouts / digit).round() * digit) as u64
    }

    /// The serial searcher with 2^`rung` times the playouts of one node.
    fn serial(&self, one: u64, rung: i32, game: &dyn AnyGame) -> Result<Contender> {
        let playouts = (one as f64 * 2f64.powi(rung)).round().max(1.0);
        Contender::new(&self.args.player, Budget::playouts(playouts as u64), game)
    }

    /// Who everybody plays against. Whoever has no modelled clock gets the playouts of one node instead of its time.
    fn reference(&self, rates: &[Rate], game: &dyn AnyGame) -> Result<Contender> {
        let one = self.one_node_playouts(rates);
        if matches!(self.mode, Mode::Effect | Mode::Speedup) {
            return self.serial(one, 0, game);
        }
        let text = plan::reference(self.args);
        let timed = !self.args.modelled || matches!(Player::parse(&text)?, Player::Gang(_));
        let budget = if timed { plan::time(self.args) } else { Budget::playouts(one) };
        Contender::new(&text, budget, game)
    }

    /// Who plays whom.
    fn matches(&self, reference: &Contender, rates: &[Rate], game: &dyn AnyGame) -> Result<Vec<Pairing>> {
        let one = self.one_node_playouts(rates);
        let mut matches = Vec::new();
        if self.mode == Mode::Speedup {
            for low in -1..self.args.rungs as i32 {
                let (a, b) = (self.serial(one, low + 1, game)?, self.serial(one, low, game)?);
                matches.push(Pairing { a, b, of: Of::Rung(low) });
            }
        }
        for (i, config) in self.configs.iter().enumerate() {
            // Somebody near in strength tells most: about half the doublings of the nodes.
            let rung = match self.mode {
                Mode::Speedup => ((config.nodes.ilog2() / 2) as i32).min(self.args.rungs as i32),
                _ => 0,
            };
            let against = if rung == 0 { reference.clone() } else { self.serial(one, rung, game)? };
            matches.push(Pairing { a: config.who.clone(), b: against, of: Of::Config(i, rung) });
        }
        Ok(matches)
    }

    fn play(&self, home: &Home, matches: &[Pairing], rounds: &mut Rounds) -> Result<()> {
        let args = self.args;
        let table = TableSpec {
            instance: self.instance.name.clone(),
            limits: vec!["1playouts".into()],
            plies: args.plies,
            openings: Vec::new(),
            draw_after: args.draw_after,
            adjudicate: None,
            seed: args.seed,
        };
        let table = table.open(2)?;
        let (before, begun) = (rounds.played(), Instant::now());
        let tell = |rounds: &Rounds| {
            let (played, all, seconds) = (rounds.played(), rounds.games_max(), begun.elapsed().as_secs_f64());
            let left = seconds / (played - before).max(1) as f64 * (all - played) as f64;
            format!(
                "{}  {played} of {all} games  at most {} left",
                duration::show(seconds),
                duration::show(left)
            )
        };
        if !args.report.quiet {
            output::say(&format!("{} games at most, {before} were played before", rounds.games_max()));
        }
        contest::run(home, rounds, self.concurrency(), args.report.quiet, &self.stop, &tell, |job| {
            one_game(&table, matches, job, &self.stop)
        })
    }
}

/// Writes down which command this is, unless it is there already. One that is not text can only be given again by hand.
fn remember(home: &Home, path: &Path, words: &[OsString]) -> Result<()> {
    let words: Option<Vec<String>> = words.iter().map(|word| word.to_str().map(str::to_string)).collect();
    let Some(words) = words else { return Ok(()) };
    let known = contest::read_request::<Given>(path, COMMAND);
    if known.is_ok_and(|known| known.words == words) {
        return Ok(());
    }
    let directory = std::env::current_dir().unwrap_or_default();
    let given = Given { format: FORMAT, sortie: env!("CARGO_PKG_VERSION").into(), directory, words };
    let text = format!("# The command that was last given for this folder.\n{}", toml::to_string(&given)?);
    home.write(COMMAND, text.as_bytes())
}

/// Plays a game of a match.
fn one_game(table: &Table, matches: &[Pairing], job: &Job, stop: &AtomicBool) -> Result<Option<Game>> {
    let pairing = &matches[job.cell];
    let (first, second) =
        if job.number.is_multiple_of(2) { (&pairing.a, &pairing.b) } else { (&pairing.b, &pairing.a) };
    let seat = |who: &'_ Contender| (who.name.clone(), who.budget);
    let [(name, budget), (other, its)] = [seat(first), seat(second)];
    let seats = [
        Seat { name, player: &first.player, budget, seed: job.seeds[0] },
        Seat { name: other, player: &second.player, budget: its, seed: job.seeds[1] },
    ];
    let opening = table.opening(job.number / 2)?;
    // A hundred ranks have a hundred trees: nobody is kept waiting for the next game.
    let game = play(table, &Bench::default(), seats, &opening, stop)?;
    Ok(game.map(|game| Game { game: job.number, ..game }))
}
