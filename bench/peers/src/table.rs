//! The table: every search in a fresh process, the searches taking turns, medians at the end.

use crate::{GAMES, NAMES, number};
use serde_json::Value;
use std::process::Command;

/// The searches that the ratios are to.
const YARDSTICK: &str = "arbor";

pub fn print(repeats: &str, threads: &str) -> Result<(), String> {
    let (repeats, threads) = (number(repeats, 1000)?, number(threads, 64)?);
    println!("load average {}; {repeats} runs each, medians", load_average());
    for (game, simulations) in GAMES {
        let mut rows: Vec<Row> = Vec::new();
        for (name, several) in NAMES {
            rows.push(Row { name, threads: 1, runs: Vec::new() });
            if threads > 1 && several {
                rows.push(Row { name, threads, runs: Vec::new() });
            }
        }
        for _ in 0..repeats {
            for row in &mut rows {
                row.runs.push(run(row.name, game, simulations, row.threads)?);
            }
        }
        print_game(game, simulations, &rows);
    }
    println!("load average {}", load_average());
    Ok(())
}

struct Row {
    name: &'static str,
    threads: u64,
    runs: Vec<Value>,
}

impl Row {
    fn median(&self, key: &str) -> f64 {
        let mut values: Vec<f64> = self.runs.iter().filter_map(|run| run[key].as_f64()).collect();
        values.sort_by(f64::total_cmp);
        match values.len() {
            0 => f64::NAN,
            n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
        }
    }
}

fn print_game(game: &str, simulations: u64, rows: &[Row]) {
    println!("\n{game}, {simulations} simulations");
    println!(
        "{:<8} {:>7} {:>15} {:>9} {:>15} {:>8} {:>9} {:>9} {:>9}  best",
        "", "threads", "sims/CPU s", YARDSTICK, "sims/s", "MB", YARDSTICK, "counted", "playouts"
    );
    let yardstick = rows.iter().find(|row| row.name == YARDSTICK).expect("the yardstick is measured");
    for row in rows {
        let ratio = |key| row.median(key) / yardstick.median(key);
        let last = row.runs.last().expect("at least one run");
        let count = |key: &str| last[key].as_u64().filter(|&n| n > 0).map_or("-".into(), |n| n.to_string());
        println!(
            "{:<8} {:>7} {:>15.0} {:>8.2}x {:>15.0} {:>8.1} {:>8.2}x {:>9} {:>9}  {}",
            row.name,
            row.threads,
            row.median("rate"),
            ratio("rate"),
            simulations as f64 / row.median("seconds"),
            row.median("max_rss_mb"),
            ratio("max_rss_mb"),
            count("counted"),
            count("playouts"),
            last["best"].as_str().unwrap_or("?"),
        );
    }
}

/// One search in a process of its own. A search that did not do what it claims ends the table.
fn run(name: &str, game: &str, simulations: u64, threads: u64) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
    let words = ["run", name, game, &simulations.to_string(), &threads.to_string()];
    let output = Command::new(program).args(words).output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} on {game}: {}: {}", output.status, said.trim()));
    }
    let line: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("{name} on {game}: {e}"))?;
    match line["counted"].as_u64() {
        Some(counted) if counted != simulations => {
            Err(format!("{name} on {game}: {counted} simulations counted, {simulations} expected"))
        }
        _ => Ok(line),
    }
}

/// Of the last 1, 5 and 15 minutes, where the system tells.
fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().take(3).collect();
    if words.is_empty() { "unknown".into() } else { words.join(" ") }
}
