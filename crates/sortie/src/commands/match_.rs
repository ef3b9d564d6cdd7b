//! `sortie match`: games between two or more players, and what they say about them.

use crate::contest::args::Match as Args;
use crate::contest::referee::{Bench, Game, Reason, Seat, play};
use crate::contest::table::{Table, TableSpec};
use crate::contest::{self, FORMAT, Home, MATCH, report};
use crate::players::Player;
use crate::{Verdict, duration, grid, output, session};
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sortie_core::JobSource;
use sortie_jobs::contest::{Format, Match, Model, Pairing, Plan, Sprt};
use sortie_runs::folder::RESULT;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Everything needed to repeat a match.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    format: u32,
    /// The players, as text.
    pub players: Vec<String>,
    /// Pairs of games of each pairing.
    rounds: u64,
    meet: Format,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sprt: Option<Sprt>,
    /// How they play.
    pub table: TableSpec,
}

impl Request {
    /// A match of two.
    pub fn pair(players: [&str; 2], rounds: u64, table: TableSpec) -> Request {
        let players = players.map(String::from).to_vec();
        Request { format: FORMAT, players, rounds, meet: Format::RoundRobin, sprt: None, table }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Verdict> {
    let request = Request {
        format: FORMAT,
        players: args.players.clone(),
        rounds: args.games.div_ceil(2),
        meet: if args.gauntlet { Format::Gauntlet } else { Format::RoundRobin },
        sprt: args.sprt.as_deref().map(|bounds| sprt(bounds, args)).transpose()?,
        table: TableSpec::new(&args.game, &args.table)?,
    };
    let path = match &args.table.out {
        Some(path) => path.clone(),
        None => contest::fresh_path("match", &args.game),
    };
    let grid = grid::Spec::of(&args.grid, args.table.concurrency)?;
    if path.join(MATCH).exists() {
        // The same match with more games is the same match.
        contest::ask_more(&path, MATCH, |there: &mut Request| {
            let more = there.rounds < request.rounds
                && Request { rounds: request.rounds, ..there.clone() } == request;
            if more {
                there.rounds = request.rounds;
            }
            Ok(more)
        })?;
    }
    let concurrency = args.table.concurrency.unwrap_or_else(contest::processors);
    hold(&request, &path, (concurrency, grid), args.report.json, args.report.quiet)
}

/// Goes on with the match in a folder, up to so many games if that is said.
pub fn resume(
    path: &Path,
    games: Option<u64>,
    threads: Option<u32>,
    grid: Option<grid::Spec>,
    json: bool,
    quiet: bool,
) -> Result<Verdict> {
    if let Some(games) = games {
        contest::ask_more(path, MATCH, |there: &mut Request| {
            let more = games.div_ceil(2) > there.rounds;
            if !more {
                bail!("--games {games}: {} has {} already", path.display(), 2 * there.rounds);
            }
            there.rounds = games.div_ceil(2);
            Ok(more)
        })?;
    }
    let request: Request = contest::read_request(path, MATCH)?;
    hold(&request, path, (threads.unwrap_or_else(contest::processors), grid), json, quiet)
}

fn sprt(bounds: &str, args: &Args) -> Result<Sprt> {
    let numbers =
        bounds.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    let Some((elo0, elo1)) = numbers else {
        bail!("--sprt {bounds}: expected two bounds in Elo, as in 0,10");
    };
    let model = match args.model.as_str() {
        "normalised" | "normalized" => Model::Normalised,
        "logistic" => Model::Logistic,
        other => bail!("--model {other}: expected normalised or logistic"),
    };
    let sprt = Sprt { elo0, elo1, alpha: args.alpha, beta: args.beta, model };
    sprt.check().map_err(|message| anyhow::anyhow!("--sprt: {message}"))?;
    Ok(sprt)
}

/// The match, with everything opened.
pub struct Hall {
    table: Table,
    players: Vec<Player>,
    /// The players' texts, told apart where two are the same.
    names: Vec<String>,
    bench: Bench,
}

impl Hall {
    /// Opens the game and tries every player.
    pub fn open(request: &Request) -> Result<Hall> {
        if request.players.len() < 2 {
            bail!("one player: expected two or more, each with --player");
        }
        let players = request.players.iter().map(|text| Player::parse(text)).collect::<Result<Vec<_>>>()?;
        let table = request.table.open(players.len())?;
        let hall = Hall { table, players, names: told_apart(&request.players), bench: Bench::default() };
        // A player who cannot even be opened is a slip of the user's, not a lost game.
        for i in 0..hall.players.len() {
            let player = hall.bench.take(&hall.seat(i, 0), hall.table.instance.game()?)?;
            hall.bench.put(&hall.names[i], player);
        }
        Ok(hall)
    }

    fn seat(&self, player: usize, seed: u64) -> Seat<'_> {
        Seat {
            name: self.names[player].clone(),
            player: &self.players[player],
            budget: self.table.budgets[player],
            seed,
        }
    }

    /// Plays a game. `None`: somebody asked to stop.
    pub fn play(&self, pairing: &Pairing, stop: &AtomicBool) -> Result<Option<Game>> {
        let seats = [self.seat(pairing.first, pairing.seeds[0]), self.seat(pairing.second, pairing.seeds[1])];
        let opening = self.table.opening(pairing.round)?;
        let game = play(&self.table, &self.bench, seats, &opening, stop)?;
        Ok(game.map(|game| Game { game: pairing.number, ..game }))
    }
}

#[cfg(feature = "grid")]
impl Hall {
    /// How many players there are.
    pub fn players(&self) -> usize {
        self.players.len()
    }

    /// The rules.
    pub fn game(&self) -> Result<&dyn sortie_core::AnyGame> {
        self.table.instance.game()
    }

    /// Whether a game is number `number` of the match: its players, seeds and opening.
    pub fn knows(&self, number: u64, game: &Game, contest: &Match) -> bool {
        let Some(pairing) = contest.game(number) else { return false };
        let names = (&self.names[pairing.first], &self.names[pairing.second]);
        let opening = self.table.opening(pairing.round).unwrap_or_default();
        game.game == number
            && names == (&game.first, &game.second)
            && pairing.seeds == game.seeds
            && game.instance == self.table.instance.name
            && game.opening == opening.len()
            && game.moves.starts_with(&opening)
    }
}

/// Plays a match, or goes on with it, without a word of the result but for the folder: for a gauntlet.
pub fn play_in(
    request: &Request,
    path: &Path,
    concurrency: u32,
    stop: &AtomicBool,
    quiet: bool,
) -> Result<serde_json::Value> {
    let hall = Hall::open(request)?;
    let (home, mut contest) = begin(request, path, &hall)?;
    let (before, begun) = (contest.played(), Instant::now());
    let tell = |contest: &Match| live(contest, before, begun.elapsed().as_secs_f64());
    let ran = contest::run(&home, &mut contest, concurrency, quiet, stop, &tell, |pairing| {
        hall.play(pairing, stop)
    });
    let faults = count_faults(&home, &hall)?;
    let mut result = report::to_json(&contest, &hall.names, &faults);
    about(&mut result, request, path);
    home.write(RESULT, (serde_json::to_string_pretty(&result)? + "\n").as_bytes())?;
    ran?;
    Ok(result)
}

/// The folder and the match, with the games that were played before.
fn begin(request: &Request, path: &Path, hall: &Hall) -> Result<(Home, Match)> {
    let mut contest = Match::new(Plan {
        players: request.players.len(),
        format: request.meet,
        rounds: request.rounds,
        sprt: request.sprt,
        seed: request.table.seed,
    });
    if let Some(sprt) = &request.sprt {
        sprt.check().map_err(|message| anyhow::anyhow!("{}: {message}", path.join(MATCH).display()))?;
    }
    let home = Home::open(path, MATCH, request)?;
    for (game, line) in home.before.iter().zip(1..) {
        know(&mut contest, hall, game).with_context(|| format!("{}:{line}", home.games().display()))?;
    }
    Ok((home, contest))
}

/// What a result says besides the figures.
fn about(result: &mut serde_json::Value, request: &Request, path: &Path) {
    result["instance"] = json!(request.table.instance);
    result["folder"] = output::path(path);
    result["seed"] = json!(request.table.seed);
    result["version"] = json!(env!("CARGO_PKG_VERSION"));
}

/// Plays with so many threads, or with the workers of a grid.
fn hold(
    request: &Request,
    path: &Path,
    (concurrency, grid): (u32, Option<grid::Spec>),
    json: bool,
    quiet: bool,
) -> Result<Verdict> {
    // Before the players are opened: what is refused starts no program.
    #[cfg(feature = "grid")]
    if let Some(grid) = &grid {
        grid::match_::check(request)?;
        grid.without_claims()?;
    }
    let hall = Hall::open(request)?;
    let (home, mut contest) = begin(request, path, &hall)?;
    let stop = session::stop_on_signals()?;
    let before = contest.played();
    if !quiet {
        output::say(&format!(
            "{} games of {} in {}",
            contest.games_max(),
            request.table.instance,
            path.display()
        ));
        if before > 0 {
            output::say(&format!("going on: {before} games were played before"));
        }
    }
    let begun = Instant::now();
    let tell = |contest: &Match| live(contest, before, begun.elapsed().as_secs_f64());
    let played: Result<Option<serde_json::Value>> = match &grid {
        None => contest::run(&home, &mut contest, concurrency, quiet, &stop, &tell, |pairing| {
            hall.play(pairing, &stop)
        })
        .map(|()| None),
        #[cfg(feature = "grid")]
        Some(grid) => contest::record(&home, &mut contest, quiet, &tell, |recorder| {
            grid::match_::drive(grid, recorder, (request, &hall), (&home.folder, quiet), &stop)
        })
        .map(Some),
        #[cfg(not(feature = "grid"))]
        Some(_) => grid::none(),
    };
    let (spread, ran) = match played {
        Ok(spread) => (spread, Ok(())),
        Err(error) => (None, Err(error)),
    };

    // What was played is told also when the disk is full by now.
    let faults = count_faults(&home, &hall)?;
    let mut result = report::to_json(&contest, &hall.names, &faults);
    about(&mut result, request, path);
    if let Some(tally) = &spread {
        result["grid"] = tally.clone();
    }
    let written = home.write(RESULT, (serde_json::to_string_pretty(&result)? + "\n").as_bytes());
    if json {
        output::print_json(&result)?;
    } else {
        output::print(&report::text(&contest, &hall.names, &faults))?;
        if let Some(tally) = &spread {
            output::print(&format!("\n{}", grid::tally_text(tally)))?;
        }
        output::print(&format!(
            "\nfolder    {}\nverify    {}",
            path.display(),
            output::command("verify", path)
        ))?;
    }
    if stop.load(Ordering::Relaxed) && !contest.finished() {
        contest::say_stopped(path);
    }
    ran.and(written)?;
    Ok(Verdict::Done)
}

/// Takes a game of the log.
fn know(contest: &mut Match, hall: &Hall, game: &Game) -> Result<()> {
    let Some(pairing) = contest.game(game.game) else {
        bail!("game {}: this match has only {}", game.game, contest.games_max());
    };
    let names = (&hall.names[pairing.first], &hall.names[pairing.second]);
    if names != (&game.first, &game.second) || pairing.seeds != game.seeds {
        bail!("game {} is not of this match: other players or seeds", game.game);
    }
    if !contest.known(game.game, game.result.outcome()) {
        bail!("game {} is there twice", game.game);
    }
    Ok(())
}

/// How often each player failed, over all sessions.
fn count_faults(home: &Home, hall: &Hall) -> Result<Vec<u64>> {
    let games: Vec<Game> = crate::journal::read(&home.games())?;
    let mut faults = vec![0; hall.names.len()];
    for game in games.iter().filter(|game| game.reason == Reason::Fault) {
        let loser =
            if game.result == crate::contest::referee::Ended::First { &game.second } else { &game.first };
        if let Some(player) = hall.names.iter().position(|name| name == loser) {
            faults[player] += 1;
        }
    }
    Ok(faults)
}

/// `12 of 200 games  61.3 % +-7.1  LLR 1.02 (-2.94, 2.94)  1m 20s left`.
fn live(contest: &Match, before: u64, seconds: f64) -> String {
    let (played, all) = (contest.played(), contest.games_max());
    let mut text = format!("{}  {played} of {all} games", duration::show(seconds));
    let (a, b) = contest.pairings()[0];
    let pairs = contest.tally(a, b).pairs;
    if contest.pairings().len() == 1 && pairs.total() > 0 {
        let score = pairs.estimate().score;
        text += &format!("  {:.1} % +-{:.1}", 100.0 * score.value, 100.0 * score.half());
    }
    if let Some(sprt) = contest.plan().sprt {
        let (low, high) = sprt.bounds();
        text += &format!("  LLR {:.2} ({low:.2}, {high:.2})", sprt.llr(contest.tested()));
    }
    if played > before {
        let left = seconds / (played - before) as f64 * (all - played) as f64;
        let at_most = if contest.plan().sprt.is_some() { "at most " } else { "" };
        text += &format!("  {at_most}{} left", duration::show(left));
    }
    text
}

/// Names, numbered where one comes again.
fn told_apart(texts: &[String]) -> Vec<String> {
    let number = |i: usize| texts[..=i].iter().filter(|text| **text == texts[i]).count();
    (0..texts.len())
        .map(|i| match number(i) {
            1 => texts[i].clone(),
            n => format!("{} #{n}", texts[i]),
        })
        .collect()
}
