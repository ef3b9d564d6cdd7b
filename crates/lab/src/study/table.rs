//! What a study is printed as: a markdown table with ours beside theirs, or curves with 95 % intervals.

use super::{Cell, Done, Request, Shape, Study};
use crate::{duration, output};
use sortie_core::picture::Picture;
use sortie_jobs::stats::mean_and_half;
use sortie_runs::chart::{Chart, Point, Series, stack};
use std::fmt::Write;

/// The study as markdown.
pub fn markdown(study: &Study, request: &Request, done: &[Done]) -> String {
    let mut text = format!("# {}\n\n{}\n\n", study.title, study.notes);
    let _ = writeln!(
        text,
        "Each run: {} on {} thread{}, sortie {}. {} of {} runs done.\n",
        budget(study, request),
        request.threads,
        if request.threads == 1 { "" } else { "s" },
        request.sortie,
        done.len(),
        study.cells.iter().map(|cell| cell.seeds as usize).sum::<usize>(),
    );
    match &study.shape {
        Shape::Table { published, theirs, sum } => table(&mut text, study, published, theirs, *sum, done),
        Shape::Curves { .. } => ends(&mut text, study, done),
    }
    text
}

/// What every run may spend.
fn budget(study: &Study, request: &Request) -> String {
    match study.cells.first().and_then(|cell| cell.limits.playouts) {
        Some(playouts) => format!("{} playouts", output::count(playouts)),
        None if request.cpu => format!("{} of CPU time each", duration::show(request.seconds)),
        None => duration::show(request.seconds),
    }
}

fn table(
    text: &mut String,
    study: &Study,
    published: &[&str],
    theirs: &[(String, Vec<String>)],
    sum: bool,
    done: &[Done],
) {
    let mut columns: Vec<&str> = Vec::new();
    for cell in &study.cells {
        if !columns.contains(&cell.column.as_str()) {
            columns.push(&cell.column);
        }
    }
    let heads: Vec<&str> = published.iter().copied().chain(columns.iter().copied()).collect();
    let _ = writeln!(text, "| | {} | seconds |", heads.join(" | "));
    let _ = writeln!(text, "|---|{}---|", "---|".repeat(heads.len()));
    let mut totals = vec![0.0; heads.len()];
    for (row, entries) in theirs {
        let mut line = format!("| {row} ");
        for (i, entry) in entries.iter().enumerate() {
            let _ = write!(line, "| {entry} ");
            totals[i] += entry.parse().unwrap_or(0.0);
        }
        let mut spent = String::new();
        for (i, column) in columns.iter().enumerate() {
            let runs: Vec<&Done> = done.iter().filter(|d| d.row == *row && d.column == *column).collect();
            let best = runs.iter().max_by(|a, b| a.score.total_cmp(&b.score));
            let _ = write!(line, "| {} ", best.map_or("".into(), |best| show(best)));
            totals[entries.len() + i] += best.map_or(0.0, |best| best.score);
            spent = best.map_or(spent, |best| format!("{:.1}", best.seconds));
        }
        let _ = writeln!(text, "{line}| {spent} |");
    }
    if sum {
        let totals: Vec<String> = totals.iter().map(|&total| output::score(total)).collect();
        let _ = writeln!(text, "| sum | {} | |", totals.join(" | "));
    }
}

/// A result in a table: the score, or for routes what it is made of.
fn show(done: &Done) -> String {
    let fact = |key: &str| done.facts.iter().find(|(k, _)| k == key).map(|(_, value)| *value);
    match (fact("vehicles"), fact("distance")) {
        (Some(vehicles), Some(distance)) => format!("{vehicles} / {distance:.2}"),
        _ => output::score(done.score),
    }
}

/// The curves as a table: means at three places that are the same for all studies, so that nobody chooses them by the
/// curves, and how far each line is above the first one there, seed by seed.
fn ends(text: &mut String, study: &Study, done: &[Done]) {
    let Shape::Curves { by_playouts, .. } = study.shape else { return };
    let runs_of = |cell: &Cell| {
        done.iter().filter(|d| d.row == cell.row && d.column == cell.column).collect::<Vec<_>>()
    };
    let Some(whole) = done.iter().map(|run| extent(run, by_playouts)).reduce(f64::min) else { return };
    let [early, third] = [whole / 12.0, whole / 3.0];
    let place = |x: f64| match by_playouts {
        true => output::count(x.round() as u64),
        false => duration::show(x.round().max(1.0)),
    };
    let first = study.cells.first().map(runs_of).unwrap_or_default();
    let name = study.cells.first().map_or("", |cell| &cell.column);
    let _ = writeln!(
        text,
        "![curves](plot.svg)\n\n| | runs | mean at {} | at {1} | at the end | 95 % interval | over {name} at {1} | at \
         the end | playouts/s |\n|---|---|---|---|---|---|---|---|---|",
        place(early),
        place(third),
    );
    for cell in &study.cells {
        let runs = runs_of(cell);
        let mean_at = |x: f64| mean_and_half(&scores_at(&runs, x, by_playouts)).0;
        let (mean, half) = mean_and_half(&scores_at(&runs, f64::INFINITY, by_playouts));
        let rate: f64 = runs.iter().map(|run| run.playouts as f64 / run.seconds.max(1e-9)).sum::<f64>();
        let _ = writeln!(
            text,
            "| {} {} | {} | {:.1} | {:.1} | {mean:.1} | {:.1} to {:.1} | {} | {} | {:.0} |",
            cell.row,
            cell.column,
            runs.len(),
            mean_at(early),
            mean_at(third),
            mean - half,
            mean + half,
            over(&first, &runs, third, by_playouts),
            over(&first, &runs, f64::INFINITY, by_playouts),
            rate / runs.len().max(1) as f64
        );
    }
}

/// How far some runs are above others of the same seeds, with its 95 % interval; nothing for those themselves.
fn over(first: &[&Done], runs: &[&Done], x: f64, by_playouts: bool) -> String {
    let above = |run: &&&Done| {
        let other = first.iter().find(|other| other.seed == run.seed && other.column != run.column)?;
        Some(score_at(run, x, by_playouts)? - score_at(other, x, by_playouts)?)
    };
    let differences: Vec<f64> = runs.iter().filter_map(|run| above(&run)).collect();
    let (mean, half) = mean_and_half(&differences);
    if differences.len() < 2 { String::new() } else { format!("{mean:+.1} ± {half:.1}") }
}

/// How far a run went.
fn extent(run: &Done, by_playouts: bool) -> f64 {
    if by_playouts { run.playouts as f64 } else { run.seconds }
}

/// The best score of a run up to a place.
fn score_at(run: &Done, x: f64, by_playouts: bool) -> Option<f64> {
    let within = |p: &&(f64, u64, f64)| if by_playouts { p.1 as f64 <= x } else { p.0 <= x };
    run.curve.iter().take_while(within).last().map(|&(_, _, score)| score)
}

fn scores_at(runs: &[&Done], x: f64, by_playouts: bool) -> Vec<f64> {
    runs.iter().filter_map(|run| score_at(run, x, by_playouts)).collect()
}

/// The curves of a figure, if the study is one.
pub fn plot(study: &Study, done: &[Done]) -> Option<Picture> {
    let Shape::Curves { by_playouts, panels } = study.shape else { return None };
    let chart = |title: &str, columns: Option<&[&str]>| {
        let shown = study.cells.iter().filter(|cell| columns.is_none_or(|c| c.contains(&&*cell.column)));
        let lines = shown.filter_map(|cell| {
            let of_cell = |d: &&Done| d.row == cell.row && d.column == cell.column;
            let runs: Vec<&Done> = done.iter().filter(of_cell).collect();
            Some(Series { name: cell.column.clone(), points: curve(&runs, by_playouts)? })
        });
        Chart {
            title: title.into(),
            x_label: if by_playouts { "playouts of one stream" } else { "seconds" }.into(),
            y_label: "best score".into(),
            series: lines.collect(),
            ..Chart::default()
        }
    };
    let charts: Vec<Chart> = match panels {
        [] => vec![chart(&study.title, None)],
        panels => panels.iter().map(|(title, columns)| chart(title, Some(columns))).collect(),
    };
    Some(stack(&charts, &study.title))
}

/// The mean of some runs over time or playouts, as far as the shortest of them goes.
fn curve(runs: &[&Done], by_playouts: bool) -> Option<Vec<Point>> {
    let end = runs.iter().map(|run| extent(run, by_playouts)).reduce(f64::min)?;
    let mut points = Vec::new();
    for step in 1..=PLACES {
        let x = end * step as f64 / PLACES as f64;
        let scores = scores_at(runs, x, by_playouts);
        // Before every run has a score their mean would be that of the lucky ones.
        if scores.len() == runs.len() {
            let (mean, half) = mean_and_half(&scores);
            points.push(Point { x, mean, half });
        }
    }
    Some(points)
}

/// Places of a curve.
const PLACES: usize = 120;
