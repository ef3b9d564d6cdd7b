//! `sortie data`: games to learn from, found by any search, in a folder that can be gone on with.
//!
//! Game number i is the best one that the search finds from seed `seed + i`: what `sortie solve --best-of 1` finds from
//! that seed. Games are written down in the order of their seeds, so the folder is the same at any number of threads,
//! and after any number of interruptions. Of what else a search has played some may be kept too: those stand before its
//! best, whose line says that the search is done with.

use crate::args::{SearchArgs, WorkArgs};
use crate::contest::{claim, processors, read_request, say_stopped};
use crate::folder::Folder;
use crate::journal::{self, Journal};
use crate::output::{self, count, number};
use crate::policy::{self, PolicyArgs, PolicySpec};
use crate::progress::Progress;
use crate::source::Instance;
use crate::{Verdict, searches, session};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};
use sortie_core::job::InOrder;
use sortie_core::planes::Layout;
use sortie_core::prior::Guide;
use sortie_core::run::Witness;
use sortie_core::{AnyProblem, BestOf, Control, Limits, Rng, Search, StopReason, mix};
use sortie_neural::data::{Diversity, Game, Key, keys};
use sortie_runs::chart::{Chart, Point, Series};
use sortie_runs::kind::{DATA, GAMES};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Instant;

/// The version of the folder's format.
pub const FORMAT: u32 = 1;

/// `sortie data`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie data morpion/5D --search nrpa --level 3 --iterations 40 --games 1000 --min-score 70 --out data/5D
  sortie data morpion/5D --search nrpa --level 2 --policy net.safetensors --games 200
  sortie data morpion/5D --search nrpa --level 3 --iterations 40 --games 9000 --min-score 70 --on-the-way 30
Game i is the best that the search finds from seed S + i; those out of bounds and those that were there before, under
a symmetry of the board too, are counted and left out. Stopped or killed, the same command goes on, or `sortie resume`.")]
#[command(allow_negative_numbers = true)]
pub struct Data {
    /// What to play: domain/name
    pub instance: String,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub policy: PolicyArgs,
    /// Games to keep
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub games: u64,
    /// Keep no game with a lower score
    #[arg(long, value_name = "SCORE")]
    pub min_score: Option<f64>,
    /// Keep no game with a higher score
    #[arg(long, value_name = "SCORE")]
    pub max_score: Option<f64>,
    /// Keep also up to N other games of each search within the bounds, drawn from all that it plays
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub on_the_way: Option<u32>,
    /// Playouts a game: the best of them is the game [default: one whole search]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u64).range(1..=i64::MAX as u64))]
    pub playouts: Option<u64>,
    /// Seed of the first game
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64))]
    pub seed: u64,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// What games are asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The version of the folder's format.
    pub format: u32,
    /// `domain/name`.
    pub instance: String,
    /// Games to keep.
    pub games: u64,
    /// Give up after so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games_tried_max: Option<u64>,
    /// The lowest score that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_score: Option<f64>,
    /// The highest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_score: Option<f64>,
    /// Other games of each search, at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_the_way: Option<u32>,
    /// Playouts a game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playouts: Option<u64>,
    /// The seed of the first game.
    pub seed: u64,
    /// Who finds them.
    pub search: Search,
    /// The network that guides the search, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySpec>,
}

impl Request {
    /// The search and its network, in a line.
    fn describe(&self) -> String {
        let policy = self.policy.as_ref().map_or(String::new(), |policy| format!(", {}", policy.describe()));
        searches::describe(&self.search) + &policy
    }

    /// Whether a score is within the bounds.
    fn wants(&self, score: f64) -> bool {
        self.min_score.is_none_or(|min| score >= min) && self.max_score.is_none_or(|max| score <= max)
    }
}

/// Runs the command.
pub fn run(args: &Data) -> Result<Verdict> {
    let policy = policy::open(&args.policy, &Instance::open(&args.instance)?)?;
    let request = Request {
        format: FORMAT,
        instance: args.instance.clone(),
        games: args.games,
        games_tried_max: None,
        min_score: args.min_score,
        max_score: args.max_score,
        on_the_way: args.on_the_way,
        playouts: args.playouts,
        seed: args.seed,
        search: searches::build(&args.search)?,
        policy: policy.map(|policy| policy.spec),
    };
    let path = args.work.folder("data", &request.instance);
    begin(&path, &request, args.work.threads, args.work.report.json, args.work.report.quiet)
}

/// Goes on with the games in a folder.
pub fn resume(path: &Path, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    begin(path, &read_request(path, DATA)?, threads, json, quiet)
}

fn begin(path: &Path, request: &Request, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    let stop = session::stop_on_signals()?;
    let Some(set) = generate(path, request, threads.unwrap_or_else(processors), quiet, &stop)? else {
        say_stopped(path);
        return Ok(Verdict::Done);
    };
    set.publish(path, request)?;
    if json {
        output::print_json(&set.to_json(path))?;
    } else {
        output::print(&set.summary(path))?;
    }
    Ok(Verdict::Done)
}

/// Finds the games that are still missing. `None` if somebody asked to stop before all were found.
pub fn generate(
    path: &Path,
    request: &Request,
    threads: u32,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<Option<Set>> {
    if request.format != FORMAT {
        bail!("{}: format {}: expected {FORMAT}", path.join(DATA).display(), request.format);
    }
    let instance = Instance::open(&request.instance)?;
    let problem = instance.problem()?;
    let layout = layout(&instance)?;
    request.search.check()?;
    let folder = claim(path, DATA, request, "set of games")?;
    let guide = request.policy.as_ref().map(|spec| keep_policy(&folder, spec, &instance)).transpose()?;
    let mut set = Set::default();
    for (game, line) in journal::read::<Game>(&path.join(GAMES))?.into_iter().zip(1..) {
        let (found, expected) = (game.seed, request.seed + set.tried);
        if found != expected {
            bail!("{}:{line}: seed {found}: expected {expected}", path.join(GAMES).display());
        }
        let keys = if game.moves.is_empty() { Vec::new() } else { keys_of(problem, &layout, &game)? };
        set.add(request, game, &keys);
    }
    let mut journal = Journal::open(&folder, GAMES)?;
    let (begun, mut progress) = (Instant::now(), Progress::new(quiet, 0.0));

    let next = AtomicU64::new(set.tried);
    let enough = AtomicBool::new(set.enough(request));
    // Either ends a search.
    let ending = || stop.load(Ordering::Relaxed) || enough.load(Ordering::Relaxed);
    std::thread::scope(|scope| -> Result<()> {
        let (sender, games) = mpsc::channel();
        for _ in 0..threads.max(1) {
            let (sender, next, ending, guide) = (sender.clone(), &next, &ending, &guide);
            scope.spawn(move || {
                while !ending() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let game = play(problem, request, guide, request.seed + number, stop);
                    let asked = matches!(game, Ok(None));
                    if asked || sender.send((number, game)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut order = InOrder::new();
        // What an earlier session has written need not come again.
        for number in 0..set.tried {
            order.put(number, None);
        }
        while order.take().is_some() {}
        let all = (|| {
            for (number, game) in games {
                order.put(number, Some(game));
                while let Some(found) = order.take().flatten() {
                    let Some(found) = found? else { return Ok(()) };
                    if set.enough(request) {
                        return Ok(());
                    }
                    for mut game in found {
                        let mut keys = keys_of(problem, &layout, &game)?;
                        let had = keys.last().is_none_or(|key| set.had.contains(key));
                        // Among those had before are those of a search that was written down by half.
                        if game.on_the_way && (had || set.games.len() as u64 + 1 >= request.games) {
                            continue;
                        }
                        if had || !request.wants(game.score) {
                            game.moves.clear();
                            keys.clear();
                        }
                        journal.append(&game)?;
                        set.add(request, game, &keys);
                    }
                    progress.show(begun.elapsed().as_secs_f64(), || set.line(request));
                    enough.store(set.enough(request), Ordering::Relaxed);
                }
            }
            Ok(())
        })();
        // Also after an error: the others must come to their ends.
        enough.store(true, Ordering::Relaxed);
        all
    })?;
    progress.clear();
    journal.sync()?;
    if !set.enough(request) {
        return Ok(None);
    }
    Ok(Some(set))
}

/// Opens the network of a folder, which keeps a copy: the file may change, the folder goes on with what it began with.
fn keep_policy(folder: &Folder, spec: &PolicySpec, instance: &Instance) -> Result<Guide> {
    if !folder.path.join(policy::POLICY).exists() {
        let file = Path::new(&spec.file);
        let bytes = policy::read(file).map_err(|message| anyhow!("{}: {message}", file.display()))?;
        let written = folder.write(policy::POLICY, &bytes);
        written.with_context(|| folder.path.join(policy::POLICY).display().to_string())?;
    }
    policy::reopen(spec, &folder.path, instance)
}

/// Writes games that were chosen from others as a set of their own, to be read and not to be gone on with.
pub fn write(path: &Path, request: &Request, games: &[Game]) -> Result<()> {
    let context = || format!("cannot write to {}", path.display());
    sortie_disk::create_dir_all(path).with_context(context)?;
    let mut text = String::new();
    for game in games {
        text += &(serde_json::to_string(game)? + "\n");
    }
    crate::folder::write_whole(&path.join(GAMES), text.as_bytes()).with_context(context)?;
    let request = toml::to_string(request)?;
    crate::folder::write_whole(&path.join(DATA), request.as_bytes()).with_context(context)
}

/// How diverse those games are that have a score of at least this, and how many there are.
pub fn diversity(games: &[Game], instance: &str, min_score: f64) -> Result<(usize, Diversity)> {
    let instance = Instance::open(instance)?;
    let (problem, layout) = (instance.problem()?, layout(&instance)?);
    let (mut count, mut diversity) = (0, Diversity::default());
    for game in games.iter().filter(|game| game.score >= min_score) {
        diversity.add(&keys_of(problem, &layout, game)?);
        count += 1;
    }
    Ok((count, diversity))
}

/// The planes of an instance, or why it has none.
pub fn layout(instance: &Instance) -> Result<Layout> {
    let none =
        || anyhow!("{}: networks cannot learn this domain: expected morpion or samegame", instance.name);
    instance.problem()?.layout().ok_or_else(none)
}

fn keys_of(problem: &dyn AnyProblem, layout: &Layout, game: &Game) -> Result<Vec<Key>> {
    let lessons = problem.lessons(&game.words(), 0, layout.width);
    Ok(keys(layout, &lessons.with_context(|| format!("the game of seed {}", game.seed))?))
}

/// Games of a search, each of those it plays within the bounds with the same chance to be among them.
struct Draw<'a> {
    request: &'a Request,
    room: usize,
    drawn: Mutex<Drawn>,
}

struct Drawn {
    rng: Rng,
    games: Vec<(f64, Vec<String>)>,
    /// How many there were to draw from.
    seen: usize,
    /// Those that were seen lately, whatever the order of their moves.
    lately: HashSet<u64>,
}

/// A game that comes again after so many others counts as another.
const LATELY_MAX: usize = 1 << 18;

impl Draw<'_> {
    fn new(request: &Request, seed: u64) -> Draw<'_> {
        // The streams of searches are numbered from 0.
        let rng = Rng::new(seed, u64::MAX);
        let drawn = Drawn { rng, games: Vec::new(), seen: 0, lately: HashSet::new() };
        Draw { request, room: request.on_the_way.unwrap_or(0) as usize, drawn: Mutex::new(drawn) }
    }

    fn games(self) -> Vec<(f64, Vec<String>)> {
        self.drawn.into_inner().unwrap_or_else(PoisonError::into_inner).games
    }
}

impl Witness for Draw<'_> {
    fn saw(&self, score: f64, moves: &dyn Fn() -> Vec<String>) {
        if !self.request.wants(score) {
            return;
        }
        let moves = moves();
        let hash = |word: &String| word.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
        let hash = moves.iter().fold(0u64, |sum, word| sum.wrapping_add(hash(word)));
        let drawn = &mut *self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.lately.len() >= LATELY_MAX {
            drawn.lately.clear();
        }
        if !drawn.lately.insert(hash) {
            return;
        }
        // Reservoir sampling (Vitter 1985, algorithm R).
        drawn.seen += 1;
        if drawn.games.len() < self.room {
            drawn.games.push((score, moves));
        } else {
            let place = drawn.rng.below(drawn.seen);
            if place < self.room {
                drawn.games[place] = (score, moves);
            }
        }
    }
}

/// The games of one seed, its best last; `None` if it was stopped.
fn play(
    problem: &dyn AnyProblem,
    request: &Request,
    guide: &Option<Guide>,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<Vec<Game>>> {
    let limits = Limits { playouts: request.playouts, ..Limits::default() };
    let draw = request.on_the_way.map(|_| Draw::new(request, seed));
    let mut control = Control::new(limits, stop, &|_| {});
    control.guide = guide.clone();
    control.witness = draw.as_ref().map(|draw| draw as &dyn Witness);
    let spec = BestOf { search: request.search.clone(), seed, streams: 1, threads: 1 };
    // The search has this thread to itself.
    let begun = ThreadTime::now();
    let outcomes = problem.solve(&spec, &control, Vec::new());
    if outcomes.reason == StopReason::Asked {
        return Ok(None);
    }
    let best = outcomes.best.ok_or_else(|| anyhow!("seed {seed}: the search found no game"))?;
    let game = Game {
        seed,
        search: request.describe(),
        score: best.score,
        playouts: outcomes.playouts,
        cpu_seconds: begun.elapsed().as_secs_f64(),
        moves: best.moves.join(" "),
        on_the_way: false,
    };
    let others = draw.map_or(Vec::new(), Draw::games).into_iter().filter(|(_, moves)| *moves != best.moves);
    // They cost nothing: the search was for the best.
    let other = |(score, moves): (f64, Vec<String>)| Game {
        score,
        moves: moves.join(" "),
        playouts: 0,
        cpu_seconds: 0.0,
        on_the_way: true,
        ..game.clone()
    };
    let mut games: Vec<Game> = others.map(other).collect();
    games.push(game);
    Ok(Some(games))
}

/// The games of a folder.
#[derive(Debug, Default)]
pub struct Set {
    /// Those that are kept.
    pub games: Vec<Game>,
    /// The scores of the best of all searches, kept or not.
    pub scores: Vec<f64>,
    cpu_seconds: f64,
    tried: u64,
    repeated: u64,
    had: HashSet<Key>,
    diversity: Diversity,
}

impl Set {
    /// Reads the games of a folder that `generate` made.
    pub fn read(path: &Path) -> Result<(Request, Vec<Game>)> {
        let request: Request = read_request(path, DATA)
            .with_context(|| format!("{}: not a set of games; `sortie data` makes one", path.display()))?;
        let games: Vec<Game> = journal::read(&path.join(GAMES))?;
        Ok((request, games.into_iter().filter(|game| !game.moves.is_empty()).collect()))
    }

    /// CPU time of one game, on average.
    pub fn cpu_seconds(&self) -> f64 {
        self.cpu_seconds / self.tried.max(1) as f64
    }

    fn add(&mut self, request: &Request, game: Game, keys: &[Key]) {
        if !game.on_the_way {
            self.tried += 1;
            self.scores.push(game.score);
            self.cpu_seconds += game.cpu_seconds;
            self.repeated += u64::from(keys.is_empty() && request.wants(game.score));
        }
        if let Some(&key) = keys.last() {
            self.had.insert(key);
            self.diversity.add(keys);
            self.games.push(game);
        }
    }

    fn enough(&self, request: &Request) -> bool {
        self.games.len() as u64 >= request.games
            || request.games_tried_max.is_some_and(|max| self.tried >= max)
    }

    fn line(&self, request: &Request) -> String {
        let (kept, tried) = (count(self.games.len() as u64), count(self.tried));
        format!("{kept} of {} games from {tried} searches, {}", count(request.games), self.spread())
    }

    /// Lowest, mean and highest score.
    fn spread(&self) -> String {
        let scores = || self.games.iter().map(|game| game.score);
        let mean = scores().sum::<f64>() / self.games.len().max(1) as f64;
        let (low, high) =
            (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
        if self.games.is_empty() {
            return "none yet".into();
        }
        format!("scores {} to {}, mean {mean:.1}", output::score(low), output::score(high))
    }

    /// How different the games are, as a line and a picture.
    fn publish(&self, path: &Path, request: &Request) -> Result<()> {
        let points = self.diversity.by_move().zip(1..).map(|((positions, distinct), i)| Point {
            x: i as f64,
            mean: 100.0 * distinct as f64 / positions as f64,
            half: 0.0,
        });
        let chart = Chart {
            title: format!("{}: {} games", request.instance, count(self.games.len() as u64)),
            x_label: "moves played".into(),
            y_label: "positions that differ, %".into(),
            y_bounds: Some((0.0, 100.0)),
            series: vec![Series { name: "distinct".into(), points: points.collect() }],
            ..Chart::default()
        };
        let file = path.join("diversity.svg");
        crate::folder::write_whole(&file, chart.draw().svg().as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))
    }

    fn summary(&self, path: &Path) -> String {
        let (positions, distinct) = self.diversity.total();
        format!(
            "{} games of {} searches kept, {} had before; {}\n{} positions, {} of them different ({:.1} %)\n\
             in {}: {DATA}, {GAMES}, diversity.svg",
            count(self.games.len() as u64),
            count(self.tried),
            count(self.repeated),
            self.spread(),
            count(positions),
            count(distinct),
            100.0 * distinct as f64 / positions.max(1) as f64,
            path.display()
        )
    }

    fn to_json(&self, path: &Path) -> serde_json::Value {
        let (positions, distinct) = self.diversity.total();
        let scores: Vec<_> = self.games.iter().map(|game| number(game.score)).collect();
        serde_json::json!({
            "folder": output::path(path), "games": self.games.len(), "searches": self.tried,
            "positions": positions, "distinct": distinct, "scores": scores,
        })
    }
}
