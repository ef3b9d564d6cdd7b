//! `sortie solve A B C --seeds 10`: every instance with every seed, one run folder each below one folder, and a table of
//! what came of them. Typed again with the same folder it goes on: runs that have ended are read, one that was stopped
//! is resumed, the rest are begun.

use super::solve::single;
use crate::args::{ReportArgs, Resume, Solve};
use crate::folder::{self, Folder, write_whole};
use crate::output::{self, number};
use crate::session::{Told, stop_on_signals};
use crate::source::Instance;
use crate::{Verdict, contest};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::Ordering;

/// A run that has ended.
struct Row {
    instance: String,
    seed: u64,
    score: f64,
    seconds: f64,
    cpu_seconds: f64,
    folder: String,
}

/// Runs the command.
pub fn run(args: &Solve) -> Result<Verdict> {
    if args.from.is_some() {
        bail!("--from: expected one instance and no --seeds: a record is a solution of one instance");
    }
    // All of them are looked at before the first is begun.
    let instances =
        args.instances.iter().map(|name| Instance::open_or_first(name)).collect::<Result<Vec<_>>>()?;
    for instance in &instances {
        instance.problem()?;
    }
    let out = args.out.clone().unwrap_or_else(|| contest::fresh_path("many", &instances[0].name));
    let (first, seeds) = (args.seed.unwrap_or(1), args.seeds.unwrap_or(1));
    let all = instances.len() as u64 * u64::from(seeds);
    if !args.report.quiet {
        output::say(&format!("{all} runs below {}", out.display()));
    }
    let (stop, mut rows, mut missed) = (stop_on_signals()?, Vec::new(), false);
    'all: for instance in &instances {
        for seed in (first..).take(seeds as usize) {
            if stop.load(Ordering::Relaxed) {
                break 'all;
            }
            let path = out.join(plain(&instance.name)).join(format!("seed-{seed}"));
            let verdict = go(args, &instance.name, seed, &path)?;
            missed |= verdict == Verdict::NotFound;
            match read(instance, seed, &path)? {
                Some(row) => rows.push(row),
                None => break 'all, // it was asked to stop
            }
        }
    }
    for (name, text) in [("table.md", markdown(&instances, &rows)), ("table.csv", csv(&instances, &rows))] {
        let path = out.join(name);
        write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if args.report.json {
        output::print_json(&json(&instances, &rows, &out))?;
    } else {
        output::print(&format!(
            "\n{}\n{} of {all} runs; {} and {} hold the tables",
            markdown(&instances, &rows).trim_end(),
            rows.len(),
            out.join("table.md").display(),
            out.join("table.csv").display()
        ))?;
    }
    if (rows.len() as u64) < all {
        output::say("stopped: the same command with the same --out goes on");
    }
    Ok(if missed { Verdict::NotFound } else { Verdict::Done })
}

/// Begins a run, goes on with it, or leaves it as it is.
fn go(args: &Solve, name: &str, seed: u64, path: &Path) -> Result<Verdict> {
    let told = if args.report.json || args.report.quiet { Told::Nothing } else { Told::Line };
    if !path.join(folder::SPEC).exists() {
        return single(args, name, Some(seed), Some(path), told);
    }
    let ended = Folder::open(path)?.read_result().is_some_and(|result| result["reason"] != "asked");
    if ended {
        return Ok(Verdict::Done);
    }
    let report = ReportArgs { json: false, quiet: true };
    let grid = crate::grid::args::ResumeGridArgs {
        grid: args.grid.grid.grid.clone(),
        keys: args.grid.grid.keys.clone(),
    };
    let resume = Resume {
        folder: path.to_path_buf(),
        time: None,
        games: None,
        jobs: None,
        programs: false,
        threads: args.threads,
        grid,
        report,
        checkpoint_every: args.checkpoint_every,
    };
    super::resume::run_told(&resume, told)
}

fn read(instance: &Instance, seed: u64, path: &Path) -> Result<Option<Row>> {
    let Some(result) = Folder::open(path)?.read_result() else { return Ok(None) };
    if result["reason"] == "asked" {
        return Ok(None);
    }
    let real = |key: &str| result[key].as_f64().unwrap_or(0.0);
    let (score, seconds, cpu_seconds) = (real("score"), real("seconds"), real("cpu_seconds"));
    let (instance, folder) = (instance.name.clone(), path.display().to_string());
    Ok(Some(Row { instance, seed, score, seconds, cpu_seconds, folder }))
}

/// A name as a folder.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

/// One row an instance: the best, the median and the worst of its runs, and how the best stands.
fn markdown(instances: &[Instance], rows: &[Row]) -> String {
    let mut text =
        "| instance | runs | best | median | worst | best known |\n|---|---|---|---|---|---|\n".to_string();
    for instance in instances {
        let mut scores: Vec<f64> =
            rows.iter().filter(|row| row.instance == instance.name).map(|row| row.score).collect();
        scores.sort_by(f64::total_cmp);
        let Some(&best) = scores.last() else { continue };
        let stands = output::compare(instance, best);
        let stands = stands.trim().trim_start_matches('(').trim_end_matches(')');
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {stands} |",
            instance.name,
            scores.len(),
            instance.told(best),
            instance.told(scores[(scores.len() - 1) / 2]),
            instance.told(scores[0]),
        );
    }
    text
}

/// One row a run.
fn csv(instances: &[Instance], rows: &[Row]) -> String {
    let mut text = "instance,seed,score,in_words,seconds,cpu_seconds,folder\n".to_string();
    for row in rows {
        let told = instances.iter().find(|instance| instance.name == row.instance).map(|i| i.told(row.score));
        let fields = [
            row.instance.clone(),
            row.seed.to_string(),
            number(row.score).to_string(),
            told.unwrap_or_default(),
            format!("{:.3}", row.seconds),
            format!("{:.3}", row.cpu_seconds),
            row.folder.clone(),
        ];
        let quoted = |field: &String| match field.contains([',', '"', '\n']) {
            true => format!("\"{}\"", field.replace('"', "\"\"")),
            false => field.clone(),
        };
        let _ = writeln!(text, "{}", fields.iter().map(quoted).collect::<Vec<_>>().join(","));
    }
    text
}

fn json(instances: &[Instance], rows: &[Row], out: &Path) -> Value {
    let objectives = |row: &Row| {
        let instance = instances.iter().find(|instance| instance.name == row.instance);
        instance.map(|instance| output::objectives(instance, row.score))
    };
    let runs = rows.iter().map(|row| {
        json!({
            "instance": row.instance,
            "seed": row.seed,
            "score": number(row.score),
            "objectives": objectives(row),
            "seconds": output::rounded(row.seconds),
            "cpu_seconds": output::rounded(row.cpu_seconds),
            "folder": row.folder,
        })
    });
    json!({ "folder": out.display().to_string(), "runs": runs.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duration;

    #[test]
    fn tables_have_a_row_an_instance_and_a_row_a_run() {
        let instances = vec![Instance::open("vrptw/R101").unwrap(), Instance::open("schur/3").unwrap()];
        let row = |instance: &str, seed, score| Row {
            instance: instance.into(),
            seed,
            score,
            seconds: duration::parse("2s").unwrap(),
            cpu_seconds: 1.5,
            folder: "runs/a b".into(),
        };
        let rows = [row("schur/3", 1, 20.0), row("schur/3", 2, 23.0), row("vrptw/R101", 1, -191_650.799_3)];
        let table = markdown(&instances, &rows);
        assert!(
            table.contains("| schur/3 | 2 | 23 numbers | 20 numbers | 20 numbers | equals the best known |")
        );
        assert!(table.contains("| vrptw/R101 | 1 | 19 vehicles, distance 1650.80 |"), "{table}");
        let csv = csv(&instances, &rows);
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.contains("\"19 vehicles, distance 1650.80\",2.000,1.500,runs/a b"), "{csv}");
    }
}
