//! The tables and figures of Doux, Negrevergne and Cazenave (2021) about networks for Morpion Solitaire 5D, at a scale
//! that a small machine carries.
//!
//! A study is made of pieces: games, networks trained on them, scores of players. Each piece is a folder below that of
//! the study, is made once, can be gone on with, and serves all studies that share the folder.

use super::Request;
use crate::commands::data::{self, Set};
use crate::commands::exit;
use crate::commands::train::{self, Epoch, HowArgs, NET, Pace};
use crate::contest::claim;
use crate::folder::write_whole;
use crate::output::{self, count};
use crate::policy;
use crate::source::Instance;
use crate::{duration, raster, session};
use anyhow::{Context, Result, anyhow};
use serde::{Deserialize, Serialize};
use sortie_core::prior::Trust;
use sortie_core::{Nmcs, Nrpa, Sample, Search};
use sortie_runs::chart::{Chart, Point, Series};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The studies, with one line each.
pub const STUDIES: [(&str, &str); 8] = [
    ("morpion-table1", "accuracy of networks that imitate NRPA, by representation (Doux et al. 2021)"),
    ("morpion-table2", "scores of uniform play, NRPA and networks"),
    ("morpion-table3", "NRPA(3), nested search with a network, the network alone"),
    ("morpion-table4", "networks of expert iteration, by expert"),
    ("morpion-figure2", "how diverse games are, by their scores"),
    ("morpion-figure5", "the distribution of the networks' scores"),
    ("morpion-figure6", "expert iteration over time"),
    ("morpion-pipeline", "games, networks, searches and a report: tables 1 to 3, figures 2 and 5"),
];

const INSTANCE: &str = "morpion/5D";
/// Games a second of `--time`: what two cores find.
const GAMES_A_SECOND: f64 = 4.0;
/// The paper trained for 80 epochs.
const EPOCHS: u32 = 12;
/// Games that a network or uniform play is judged by; the paper has 100,000.
const SAMPLES: u64 = 1000;

/// Whether this is one of these studies.
pub fn has(name: &str) -> bool {
    STUDIES.iter().any(|(known, _)| *known == name)
}

/// What the pieces of a folder depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Scale {
    format: u32,
    seconds: f64,
}

/// A folder of pieces.
struct Lab<'a> {
    path: PathBuf,
    request: &'a Request,
    quiet: bool,
    stop: Arc<AtomicBool>,
}

/// What a study comes to.
struct Finding {
    text: String,
    chart: Option<(&'static str, Chart)>,
}

/// Runs a study and prints it.
pub fn run(request: &Request, path: &Path, quiet: bool) -> Result<()> {
    let scale = Scale { format: 1, seconds: request.seconds };
    let _folder = claim(path, "lab.toml", &scale, "study (of another --time)")?;
    let lab = Lab { path: path.to_path_buf(), request, quiet, stop: session::stop_on_signals()? };
    let findings = match request.study.as_str() {
        "morpion-table1" => vec![table1(&lab)?],
        "morpion-table2" => vec![table2(&lab)?],
        "morpion-table3" => vec![table3(&lab)?],
        "morpion-table4" | "morpion-figure6" => vec![table4(&lab)?],
        "morpion-figure2" => vec![figure2(&lab)?],
        "morpion-figure5" => vec![figure5(&lab)?],
        _ => vec![figure2(&lab)?, table1(&lab)?, table2(&lab)?, figure5(&lab)?, table3(&lab)?],
    };
    let mut report = String::new();
    for Finding { text, chart } in findings {
        report += &text;
        if let Some((name, chart)) = chart {
            let picture = chart.draw();
            lab.write(&format!("{name}.svg"), picture.svg().as_bytes())?;
            lab.write(&format!("{name}.png"), &raster::png(&picture, 1.0)?)?;
            let _ = writeln!(report, "\n![{}]({name}.svg)", chart.title);
        }
        report.push('\n');
    }
    lab.write(&format!("{}.md", request.study), report.as_bytes())?;
    output::print(&report)?;
    output::print(&format!("in {}: {}.md, pictures, games and networks", path.display(), request.study))
}

impl Lab<'_> {
    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        write_whole(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            output::say(text);
        }
    }

    fn stopped<T>(&self, piece: Option<T>) -> Result<T> {
        piece.ok_or_else(|| anyhow!("stopped; the same command goes on"))
    }

    /// The games that networks learn: by NRPA of level 3 with 40 iterations, scores from 70 to 82.
    fn games(&self) -> Result<(PathBuf, Set)> {
        let path = self.path.join("games");
        let games = ((self.request.seconds * GAMES_A_SECOND) as u64).max(20);
        if !path.exists() {
            self.say(&format!("games: {} by NRPA", count(games)));
        }
        let search = Search::Nrpa(Nrpa { level: 3, iterations: 40, ..Nrpa::default() });
        let request = data::Request { min_score: Some(70.0), max_score: Some(82.0), ..ask(search, games) };
        let set = data::generate(&path, &request, self.request.threads, self.quiet, &self.stop)?;
        Ok((path, self.stopped(set)?))
    }

    /// A network that learnt them: `residual-r2`.
    fn net(&self, name: &str) -> Result<(PathBuf, Vec<Epoch>)> {
        let (games, _) = self.games()?;
        let path = self.path.join(name);
        if !path.exists() {
            self.say(&format!("network: {name}"));
        }
        let (net, rep) = name.split_once('-').expect("an architecture and a representation");
        let how = HowArgs { net: net.into(), rep: Some(rep.into()), epochs: EPOCHS, ..HowArgs::default() };
        let request = how.request(&Instance::open(INSTANCE)?, vec![games], None)?;
        let epochs = train::train(&path, &request, Pace::new(self.request.threads, self.quiet), &self.stop)?;
        Ok((path.join(NET), self.stopped(epochs)?))
    }

    /// The scores of a player, and the CPU time of one game.
    fn scores(&self, name: &str, search: Search, net: Option<&str>, games: u64) -> Result<(Vec<f64>, f64)> {
        let policy = match net {
            Some(net) => Some(policy::spec_of(&self.net(net)?.0, Trust::default())?),
            None => None,
        };
        self.say(&format!("player: {name}, {} games", count(games)));
        let playouts = matches!(search, Search::Sample(_)).then_some(1);
        let request = data::Request { games_tried_max: Some(games), playouts, policy, ..ask(search, games) };
        let path = self.path.join(format!("player-{name}"));
        let set = data::generate(&path, &request, self.request.threads, true, &self.stop)?;
        let set = self.stopped(set)?;
        Ok((set.scores.clone(), set.cpu_seconds()))
    }
}

fn ask(search: Search, games: u64) -> data::Request {
    data::Request {
        format: data::FORMAT,
        instance: INSTANCE.into(),
        games,
        games_tried_max: None,
        min_score: None,
        max_score: None,
        on_the_way: None,
        playouts: None,
        seed: 1,
        search,
        policy: None,
    }
}

fn nrpa(level: u32) -> Search {
    Search::Nrpa(Nrpa { level, ..Nrpa::default() })
}

fn sample() -> Search {
    Search::Sample(Sample::default())
}

fn table1(lab: &Lab) -> Result<Finding> {
    let nets = ["basic-r1", "residual-r1", "residual-r2"];
    let mut curves = Vec::new();
    for net in nets {
        curves.push(lab.net(net)?.1);
    }
    let theirs = [(1, "25 / 27 / 47"), (40, "45.5 / 45.3 / 67"), (80, "45.5 / 45.5 / 68.9")];
    let first = &curves[0][0];
    let mut text = format!(
        "## Table 1: top-1 accuracy on held-out games, %\n\n\
         Ours: {} positions to learn from and {} held out (theirs: 694,716 in all), {EPOCHS} epochs (80), Adam, window \
         20 x 20 (30 x 30), lines marked at their middle.\n\n\
         | epoch | BasicCNN R1 | Resnet R1 | Resnet R2 | | published epoch | R1 basic / R1 / R2 |\n|---|---|---|---|---|---|---|\n",
        count(first.train.positions),
        count(first.test.positions),
    );
    for (ours, (epoch, published)) in [1, EPOCHS / 2, EPOCHS].into_iter().zip(theirs) {
        let _ = write!(text, "| {ours} ");
        for curve in &curves {
            let _ = write!(text, "| {:.1} ", 100.0 * curve[ours as usize - 1].test.means().1);
        }
        let _ = writeln!(text, "| | {epoch} | {published} |");
    }
    let series = nets.iter().zip(&curves).map(|(name, curve)| Series {
        name: name.to_string(),
        points: curve
            .iter()
            .map(|e| Point { x: e.epoch as f64, mean: 100.0 * e.test.means().1, half: 0.0 })
            .collect(),
    });
    let chart = chart("Accuracy on held-out games", "epochs", "moves foreseen, %", series.collect());
    Ok(Finding { text, chart: Some(("table1", chart)) })
}

/// Mean, highest, and the standard error of the mean.
fn stats(scores: &[f64]) -> (f64, f64, f64) {
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    (mean, scores.iter().copied().fold(f64::NEG_INFINITY, f64::max), (variance / n).sqrt())
}

fn table2(lab: &Lab) -> Result<Finding> {
    let rows = [
        ("Uniform", "uniform", sample(), None, SAMPLES, "39.1, 61, 0.059"),
        ("NRPA(1)", "nrpa1", nrpa(1), None, SAMPLES, "58.5, 66, 0.014"),
        ("NRPA(2)", "nrpa2", nrpa(2), None, 100, "65.9, 72, 0.024"),
        ("NRPA(3)", "nrpa3", nrpa(3), None, 4, "68.2, 78, 0.119"),
        ("BasicCNN R1", "basic-r1", sample(), Some("basic-r1"), SAMPLES, "41.7, 60, 0.024"),
        ("Resnet R1", "residual-r1", sample(), Some("residual-r1"), SAMPLES, "44.0, 58, 0.018"),
        ("Resnet R2", "residual-r2", sample(), Some("residual-r2"), SAMPLES, "50.5, 74, 0.032"),
    ];
    let mut text = String::from(
        "## Table 2: scores without and with networks\n\n\
         Theirs: 100,000 games (NRPA(2): 10,000, NRPA(3): 400). Samples are drawn at temperature 1.\n\n\
         | player | games | mean | max | error of the mean | published mean, max, error |\n|---|---|---|---|---|---|\n",
    );
    for (title, name, search, net, games, published) in rows {
        let (mean, high, error) = stats(&lab.scores(name, search, net, games)?.0);
        let _ = writeln!(text, "| {title} | {games} | {mean:.1} | {high} | {error:.2} | {published} |");
    }
    Ok(Finding { text, chart: None })
}

fn table3(lab: &Lab) -> Result<Finding> {
    let nested = Search::Nmcs(Nmcs { level: 1, ..Nmcs::default() });
    let rows = [
        ("NRPA(3)", "nrpa3", nrpa(3), None, 4, "68.2, 78, 16:40"),
        ("Nested(1) + Resnet R2", "nested-r2", nested, Some("residual-r2"), 40, "68.8, 79, 6:26"),
        ("Resnet R2", "residual-r2", sample(), Some("residual-r2"), SAMPLES, "50.5, 74, 0:01"),
    ];
    let mut text = String::from(
        "## Table 3: a network inside a search\n\n\
         | player | games | mean | max | CPU time a game | published mean, max, time |\n|---|---|---|---|---|---|\n",
    );
    for (title, name, search, net, games, published) in rows {
        let (scores, seconds) = lab.scores(name, search, net, games)?;
        let ((mean, high, _), time) = (stats(&scores), duration::show(seconds));
        let _ = writeln!(text, "| {title} | {games} | {mean:.1} | {high} | {time} | {published} |");
    }
    Ok(Finding { text, chart: None })
}

/// Table 4 and figure 6: `--time` for each expert.
fn table4(lab: &Lab) -> Result<Finding> {
    let nmcs =
        |early_stop, stabilise| Search::Nmcs(Nmcs { level: 1, early_stop, stabilise, ..Nmcs::default() });
    let adapt = |level, iterations| Search::Nrpa(Nrpa { level, iterations, ..Nrpa::default() });
    // Our softmax has the paper's temperature where the expert draws from the network alone.
    let rows = [
        ("NeuralNMCS(0)", sample(), Some(100), 0.4, "54.33, 70, 51 h"),
        ("NeuralNMCS(1)c", nmcs(true, 10), None, 0.2, "64.38, 72, 134 h"),
        ("NeuralNRPA(2)", adapt(2, 20), None, 1.0, "57.28, 73, 180 h"),
    ];
    let mut text = format!(
        "## Table 4 and figure 6: expert iteration from scratch\n\n\
         Ours: {} for each expert, threads: {}; theirs 180 hours. 1,000 games of the plain search in the first round, 100 \
         of the guided one in all others, the 400 best games of all rounds learnt for 4 epochs, 100 games of the network alone.\n\n\
         | expert | rounds | network mean | network best | best of both | published mean, best, hours |\n|---|---|---|---|---|---|\n",
        duration::show(lab.request.seconds),
        lab.request.threads,
    );
    let mut series = Vec::new();
    for (title, search, playouts, temperature, published) in rows {
        lab.say(&format!("expert iteration: {title}"));
        let how = HowArgs { epochs: 4, lr: 0.002, ..HowArgs::default() };
        let request = exit::Request {
            format: exit::FORMAT,
            instance: INSTANCE.into(),
            games: 100,
            first_games: 1000,
            memory: 400,
            samples: 100,
            rounds: 1000,
            seconds: Some(lab.request.seconds),
            playouts,
            from: None,
            search,
            trust: Trust { temperature, ..Trust::default() },
            train: how.request(&Instance::open(INSTANCE)?, Vec::new(), None)?,
        };
        let path = lab.path.join(format!("exit-{}", title.replace(['(', ')'], "").to_lowercase()));
        let rounds = exit::iterate(&path, &request, lab.request.threads, lab.quiet, &lab.stop)?;
        let last =
            rounds.last().ok_or_else(|| anyhow!("{title}: no round was finished: give more --time"))?;
        let high = rounds.iter().map(|round| round.network.1).fold(f64::NEG_INFINITY, f64::max);
        let mean = rounds.iter().map(|round| round.network.0).fold(f64::NEG_INFINITY, f64::max);
        let (count, best) = (rounds.len(), last.best);
        let _ = writeln!(text, "| {title} | {count} | {mean:.1} | {high} | {best} | {published} |");
        let point =
            |round: &exit::Round| Point { x: round.seconds / 3600.0, mean: round.network.1, half: 0.0 };
        series.push(Series { name: title.into(), points: rounds.iter().map(point).collect() });
    }
    let chart = chart("Best of 100 games of the network", "hours", "score", series);
    Ok(Finding { text, chart: Some(("figure6", chart)) })
}

fn figure2(lab: &Lab) -> Result<Finding> {
    let (_, set) = lab.games()?;
    let mut scores: Vec<f64> = set.games.iter().map(|game| game.score).collect();
    scores.sort_by(f64::total_cmp);
    let high = scores[scores.len() * 9 / 10];
    let mut text = format!(
        "## Figure 2: how diverse games are\n\n\
         Of the positions of all games, those that differ, symmetric ones counted as one. Theirs is a picture of 10,000 \
         games of 80 or more against as many from 70 to 82; ours are {} games of NRPA(3) with 40 iterations.\n\n\
         | games | how many | positions | different | share |\n|---|---|---|---|---|\n",
        count(set.games.len() as u64)
    );
    let mut series = Vec::new();
    for (name, low) in [("70 to 82".to_string(), 70.0), (format!("{high} to 82"), high)] {
        let (games, diversity) = data::diversity(&set.games, INSTANCE, low)?;
        let (positions, distinct) = diversity.total();
        let share = 100.0 * distinct as f64 / positions as f64;
        let _ = writeln!(text, "| {name} | {games} | {positions} | {distinct} | {share:.1} % |");
        let points = diversity.by_move().zip(1..).map(|((positions, distinct), i)| Point {
            x: i as f64,
            mean: 100.0 * distinct as f64 / positions as f64,
            half: 0.0,
        });
        series.push(Series { name, points: points.collect() });
    }
    let chart = chart("Positions that differ", "moves played", "%", series);
    Ok(Finding { text, chart: Some(("figure2", chart)) })
}

fn figure5(lab: &Lab) -> Result<Finding> {
    let mut series = Vec::new();
    let players =
        [("uniform", None), ("residual-r1", Some("residual-r1")), ("residual-r2", Some("residual-r2"))];
    for (name, net) in players {
        let scores = lab.scores(name, sample(), net, SAMPLES)?.0;
        let mut counts: BTreeMap<i64, f64> = (0..=82).map(|score| (score, 0.0)).collect();
        for score in &scores {
            *counts.entry(*score as i64).or_default() += 100.0 / scores.len() as f64;
        }
        let points = counts.into_iter().map(|(x, mean)| Point { x: x as f64, mean, half: 0.0 }).collect();
        series.push(Series { name: name.into(), points });
    }
    let text =
        format!("## Figure 5: the distribution of scores\n\nOurs: {SAMPLES} games each; theirs 100,000.\n");
    Ok(Finding { text, chart: Some(("figure5", chart("Scores of samples", "score", "games, %", series))) })
}

fn chart(title: &str, x_label: &str, y_label: &str, series: Vec<Series>) -> Chart {
    Chart {
        title: title.into(),
        x_label: x_label.into(),
        y_label: y_label.into(),
        series,
        ..Chart::default()
    }
}
