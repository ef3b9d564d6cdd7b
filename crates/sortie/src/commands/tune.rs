//! `sortie tune`: good parameters of a player, by games.

use crate::contest::args::Tune as Args;
use crate::contest::referee::{Bench, Game, Seat, play};
use crate::contest::table::{Table, TableSpec};
use crate::contest::{self, FORMAT, Home, TUNE, report};
use crate::players::Player;
use crate::{Verdict, duration, output, session};
use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sortie_core::JobSource;
use sortie_jobs::contest::{Gains, Interval, Method, Parameter, Trial, Tuning, TuningPlan};
use sortie_runs::chart::{Chart, Point, Series};
use sortie_runs::folder::RESULT;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Pairs of games under way at most. Part of what is repeated: the samples depend on it.
const LAG: u64 = 16;
/// Stretches of a parameter's range whose samples are drawn as one dot.
const DOTS: usize = 40;

/// Everything needed to repeat a tuning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    format: u32,
    player: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    against: Option<String>,
    /// Pairs of games.
    samples: u64,
    lag: u64,
    method: Method,
    table: TableSpec,
    parameters: Vec<Parameter>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Verdict> {
    let method = match args.method.as_str() {
        "clop" => Method::Clop,
        "spsa" => Method::Spsa(Gains { c_end: args.c_end, r_end: args.r_end }),
        other => bail!("--method {other}: expected clop or spsa"),
    };
    let request = Request {
        format: FORMAT,
        player: args.player.clone(),
        against: args.against.clone(),
        samples: args.games.div_ceil(2),
        lag: LAG,
        method,
        table: TableSpec::new(&args.game, &args.table)?,
        parameters: args.parameters.iter().map(|text| parameter(text)).collect::<Result<_>>()?,
    };
    let path = match &args.table.out {
        Some(path) => path.clone(),
        None => contest::fresh_path("tune", &args.game),
    };
    let concurrency = args.table.concurrency.unwrap_or_else(contest::processors);
    tune(&request, &path, concurrency, args.report.json, args.report.quiet)
}

/// Goes on with the tuning in a folder.
pub fn resume(path: &Path, threads: Option<u32>, json: bool, quiet: bool) -> Result<Verdict> {
    let request: Request = contest::read_request(path, TUNE)?;
    tune(&request, path, threads.unwrap_or_else(contest::processors), json, quiet)
}

/// `c=0.1..2.0`.
fn parameter(text: &str) -> Result<Parameter> {
    let refuse = || anyhow!("--param {text}: expected a name and a range, as in c=0.1..2.0");
    let (name, range) = text.split_once('=').ok_or_else(refuse)?;
    let (low, high) = range.split_once("..").ok_or_else(refuse)?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(refuse);
    let whole = [low, high].iter().all(|end| end.trim().parse::<i64>().is_ok());
    Ok(Parameter { name: name.trim().to_string(), low: number(low)?, high: number(high)?, whole })
}

/// Everything that a game needs.
struct Workshop {
    table: Table,
    base: (String, Player),
    opponent: Option<(String, Player)>,
    parameters: Vec<Parameter>,
    bench: Bench,
}

impl Workshop {
    fn open(request: &Request) -> Result<Workshop> {
        let read = |text: &String| Ok::<_, anyhow::Error>((text.clone(), Player::parse(text)?));
        let workshop = Workshop {
            table: request.table.open(2)?,
            base: read(&request.player)?,
            opponent: request.against.as_ref().map(read).transpose()?,
            parameters: request.parameters.clone(),
            bench: Bench::default(),
        };
        // Slips show before the first game: both ends of every range make a player, and all can be opened.
        let game = workshop.table.instance.game()?;
        for ends in [|p: &Parameter| p.low, |p: &Parameter| p.high] {
            let values: Vec<f64> = workshop.parameters.iter().map(ends).collect();
            workshop.tuned(&values)?.1.open(game, 0)?;
        }
        if let Some((_, player)) = &workshop.opponent {
            player.open(game, 0)?;
        }
        Ok(workshop)
    }

    /// The player with these parameters, and what the log calls it.
    fn tuned(&self, values: &[f64]) -> Result<(String, Player)> {
        let (name, mut player) = self.base.clone();
        let mut told = Vec::new();
        for (parameter, value) in self.parameters.iter().zip(values) {
            player = player.with(&parameter.name, &value.to_string())?;
            told.push(format!("{}={value}", parameter.name));
        }
        Ok((format!("{name} with {}", told.join(" ")), player))
    }

    fn play(&self, trial: &Trial, stop: &AtomicBool) -> Result<Option<Game>> {
        let tuned = self.tuned(&trial.values)?;
        let rival = match (&trial.rival, &self.opponent) {
            (Some(values), _) => self.tuned(values)?,
            (None, Some(opponent)) => opponent.clone(),
            (None, None) => bail!("nobody to play against"),
        };
        let (first, second) = match trial.side {
            sortie_core::Side::First => (&tuned, &rival),
            sortie_core::Side::Second => (&rival, &tuned),
        };
        let seat =
            |(name, player): &'_ (String, Player), i: usize| (name.clone(), player.clone(), trial.seeds[i]);
        let (first, second) = (seat(first, 0), seat(second, 1));
        let budgets = match trial.side {
            sortie_core::Side::First => [self.table.budgets[0], self.table.budgets[1]],
            sortie_core::Side::Second => [self.table.budgets[1], self.table.budgets[0]],
        };
        let seats = [
            Seat { name: first.0, player: &first.1, budget: budgets[0], seed: first.2 },
            Seat { name: second.0, player: &second.1, budget: budgets[1], seed: second.2 },
        ];
        let opening = self.table.opening(trial.round)?;
        let bench = if self.opponent.is_some() { &self.bench } else { &Bench::default() };
        let game = play(&self.table, bench, seats, &opening, stop)?;
        // The tuned player is another one every time.
        bench.forget(&tuned.0);
        Ok(game.map(|game| Game {
            game: trial.number,
            values: Some(trial.values.clone()),
            rival: trial.rival.clone(),
            ..game
        }))
    }
}

fn tune(request: &Request, path: &Path, concurrency: u32, json: bool, quiet: bool) -> Result<Verdict> {
    let plan = TuningPlan {
        parameters: request.parameters.clone(),
        method: request.method,
        samples: request.samples,
        opponent: request.against.is_some(),
        lag: request.lag,
        seed: request.table.seed,
    };
    plan.check().map_err(|message| anyhow!("{message}"))?;
    let workshop = Workshop::open(request)?;
    let mut tuning = Tuning::new(plan, &[]);
    let home = Home::open(path, TUNE, request)?;
    for (game, line) in home.before.iter().zip(1..) {
        let values = game.values.as_deref().unwrap_or_default();
        if !tuning.known(game.game, values, game.rival.as_deref(), game.result.outcome()) {
            bail!(
                "{}:{line}: game {} is not of this tuning, or there twice",
                home.games().display(),
                game.game
            );
        }
    }
    let stop = session::stop_on_signals()?;
    let before = tuning.played();
    if !quiet {
        output::say(&format!(
            "{} games of {} in {}",
            tuning.games_max(),
            request.table.instance,
            path.display()
        ));
        if before > 0 {
            output::say(&format!("going on: {before} games were played before"));
        }
    }
    let begun = Instant::now();
    let tell = |tuning: &Tuning| live(tuning, before, begun.elapsed().as_secs_f64());
    let ran = contest::run(&home, &mut tuning, concurrency, quiet, &stop, &tell, |trial| {
        workshop.play(trial, &stop)
    });

    // What was found is told also when the disk is full by now.
    let optima = tuning.optima();
    let (mut pictures, mut written) = (Vec::new(), Ok(()));
    for (i, (parameter, optimum)) in request.parameters.iter().zip(&optima).enumerate() {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name = parameter.name.chars().map(plain).collect::<String>() + ".svg";
        written = written.and(home.write(&name, draw(&tuning, i, optimum).as_bytes()));
        pictures.push(name);
    }
    let result = to_json(request, &tuning, &optima, path);
    written = written.and(home.write(RESULT, (serde_json::to_string_pretty(&result)? + "\n").as_bytes()));
    if json {
        output::print_json(&result)?;
    } else {
        let mut text = format!("{} of {} games\n\n", tuning.played(), tuning.games_max());
        for (parameter, optimum) in request.parameters.iter().zip(&optima) {
            let _ = writeln!(text, "{:14}  {}", parameter.name, report::interval(optimum, 1.0, 4));
        }
        if let Some(score) = tuning.score_at_optimum() {
            let _ = writeln!(text, "{:14}  {} %", "score there", report::interval(&score, 100.0, 1));
        }
        let _ = writeln!(text, "{:14}  {}", "verdict", verdict(tuning.score_at_optimum().as_ref()));
        let _ = writeln!(text, "\nfolder    {}\npictures  {}", path.display(), pictures.join(", "));
        output::print(&text)?;
    }
    if stop.load(Ordering::Relaxed) && !tuning.finished() {
        contest::say_stopped(path);
    }
    ran.and(written)?;
    Ok(Verdict::Done)
}

/// Whether the values found are worth taking, from the score of the tuned player where they are.
fn verdict(score: Option<&Interval>) -> &'static str {
    match score {
        None => {
            "nothing is believed of the score there: let `sortie match` play the values against the old ones"
        }
        Some(score) if score.low > 0.5 => "better than the opponent: take it, after a match of fresh games",
        Some(score) if score.high < 0.5 => "worse than the opponent: do not take it",
        Some(_) => "not told apart from the opponent: more games, or `sortie match` with these values",
    }
}

fn to_json(request: &Request, tuning: &Tuning, optima: &[Interval], path: &Path) -> Value {
    let parameters = request.parameters.iter().zip(optima).map(|(parameter, optimum)| {
        let mut row = report::interval_json(optimum);
        row["name"] = json!(parameter.name);
        row["range"] = json!([parameter.low, parameter.high]);
        row
    });
    json!({
        "instance": request.table.instance,
        "player": request.player,
        "against": request.against,
        "method": request.method,
        "games": tuning.played(),
        "games_max": tuning.games_max(),
        "finished": tuning.finished(),
        "optimum": parameters.collect::<Vec<_>>(),
        "score": tuning.score_at_optimum().map(|score| report::interval_json(&score)),
        "verdict": verdict(tuning.score_at_optimum().as_ref()),
        "seed": request.table.seed,
        "folder": output::path(path),
        "version": env!("CARGO_PKG_VERSION"),
    })
}

fn live(tuning: &Tuning, before: u64, seconds: f64) -> String {
    let (played, all) = (tuning.played(), tuning.games_max());
    let mut text = format!("{}  {played} of {all} games", duration::show(seconds));
    for (parameter, value) in tuning.plan().parameters.iter().zip(tuning.centre()) {
        let _ = write!(text, "  {} {value:.3}", parameter.name);
    }
    if played > before {
        let left = seconds / (played - before) as f64 * (all - played) as f64;
        let _ = write!(text, "  {} left", duration::show(left));
    }
    text
}

/// What is believed of a parameter, and what was seen of it.
fn draw(tuning: &Tuning, i: usize, optimum: &Interval) -> String {
    let parameter = &tuning.plan().parameters[i];
    let clop = tuning.plan().method == Method::Clop;
    let points =
        tuning.curve(i).into_iter().map(|(x, at)| Point { x, mean: at.value, half: at.half() }).collect();
    let chart = Chart {
        title: format!("{}: {}", parameter.name, report::interval(optimum, 1.0, 4)),
        x_label: if clop { parameter.name.clone() } else { "steps".into() },
        y_label: if clop { "score".into() } else { parameter.name.clone() },
        series: vec![Series { name: if clop { "believed" } else { &parameter.name }.into(), points }],
        dots: if clop { dots(tuning, i) } else { Vec::new() },
        ..Chart::default()
    };
    chart.draw().svg()
}

/// The mean score of the samples in each stretch of the range, and how many they are as the size of the dot.
fn dots(tuning: &Tuning, i: usize) -> Vec<(f64, f64, f64)> {
    let parameter = &tuning.plan().parameters[i];
    // Sums of places, scores and ones.
    let mut sums = [[0.0; 3]; DOTS];
    for sample in tuning.samples() {
        if let Some(score) = sample.score() {
            let share = (sample.values[i] - parameter.low) / (parameter.high - parameter.low);
            let sum = &mut sums[((share * DOTS as f64) as usize).min(DOTS - 1)];
            for (sum, part) in sum.iter_mut().zip([sample.values[i], score, 1.0]) {
                *sum += part;
            }
        }
    }
    let most = sums.iter().map(|sum| sum[2]).fold(1.0, f64::max);
    let seen = sums.iter().filter(|sum| sum[2] > 0.0);
    seen.map(|[place, score, n]| (place / n, score / n, 2.0 + 6.0 * (n / most).sqrt())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_loses_is_not_recommended() {
        let score = |value: f64| Interval { value, low: value - 0.05, high: value + 0.05 };
        assert!(verdict(Some(&score(0.37))).starts_with("worse"));
        assert!(verdict(Some(&score(0.52))).starts_with("not told apart"));
        assert!(verdict(Some(&score(0.61))).starts_with("better"));
        assert!(verdict(None).contains("sortie match"));
    }

    #[test]
    fn ranges_are_read() {
        let c = parameter("c=0.1..2.0").unwrap();
        assert_eq!((c.name.as_str(), c.low, c.high, c.whole), ("c", 0.1, 2.0, false));
        assert!(parameter("draws=1..8").unwrap().whole);
        assert_eq!(parameter("bias=-3..4.5").unwrap().low, -3.0);
        for bad in ["", "c", "c=", "c=1", "c=1..", "c=a..b", "c=1..inf", "c=nan..2"] {
            assert!(parameter(bad).is_err(), "{bad}");
        }
    }
}
