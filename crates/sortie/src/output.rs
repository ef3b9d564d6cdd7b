//! What goes to stdout: results, for people and for programs. Messages and progress go to stderr, elsewhere.

use crate::duration;
use crate::source::Instance;
use anyhow::Result;
use serde_json::{Map, Value, json};
use sortie_core::Position;
use sortie_core::measure::{Measure, Standing, standing, told};
use sortie_runs::result::Objective;
pub use sortie_runs::text::{number, rounded, score};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Prints a text and a line break. A reader that has gone away is an error that `main` takes for success.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", text.trim_end_matches('\n'))?;
    stdout.flush()?;
    Ok(())
}

/// Prints a JSON object on one line.
pub fn print_json(value: &impl serde::Serialize) -> Result<()> {
    print(&serde_json::to_string(value)?)
}

/// Says something to the user beside the result. Nobody listening is no reason to fail.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A count in groups of three: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A path as JSON; what is not Unicode in it is replaced.
pub fn path(path: &Path) -> Value {
    json!(path.to_string_lossy())
}

/// A result for people: the board, then what was found and how.
pub fn human(result: &Map<String, Value>, instance: &Instance, position: &Position, folder: &Path) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or("?").to_string();
    let real = |key: &str| result.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let whole = |key: &str| result.get(key).and_then(Value::as_u64).unwrap_or(0);
    let found = real("score");
    let moves = result.get("moves").and_then(Value::as_array).map_or(0, Vec::len);
    let mut rows =
        vec![("instance", text("instance")), ("score", instance.told(found) + &compare(instance, found))];
    let measures = instance.measures(found);
    let said = |key: &str| measures.iter().any(|measure| measure.what == key);
    let facts = position.facts.iter().filter(|(key, _)| !said(key));
    rows.extend(facts.map(|(key, value)| (*key, score(*value))));
    if measures.len() > 1 {
        // What --target and the events mean by it.
        rows.push(("in one", score(found)));
    }
    rows.push(("moves", count(moves as u64)));
    let playouts = format!(
        "{} in {} ({}/s, {} of CPU time)",
        count(whole("playouts")),
        duration::show(real("seconds")),
        count(real("playouts_per_second") as u64),
        duration::show(real("cpu_seconds")),
    );
    rows.push(("playouts", playouts));
    rows.push(("seed", format!("{}, best of {}", whole("seed"), whole("streams"))));
    rows.push(("ended", why(&text("reason")).to_string()));
    rows.push(("folder", folder.display().to_string()));
    rows.push(("verify", command("verify", folder)));
    let more = if text("reason") == "asked" { "" } else { " --time 1m" };
    rows.push(("go on", command("resume", folder) + more));
    let width = rows.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
    let mut out = format!("{}\n\n", crate::paint::board(position.text.trim_end()));
    for (key, value) in rows {
        let _ = writeln!(out, "{key:width$}  {value}");
    }
    out
}

/// A command on a folder that can be pasted, with the program as it was called.
pub fn command(name: &str, folder: &Path) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "sortie".into());
    format!("{} {name} {}", quoted(&program), quoted(&folder.to_string_lossy()))
}

fn quoted(word: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "/\\._-+:,=@%".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// How a score stands to the best known, aim by aim. What is better was replayed by the rules before anybody says so.
pub fn compare(instance: &Instance, found: f64) -> String {
    let Some(known) = instance.best_known() else { return String::new() };
    against(&instance.measures(found), &instance.measures(known))
}

fn against(found: &[Measure], known: &[Measure]) -> String {
    match standing(found, known) {
        Some(Standing::Equal) => "  (equals the best known)".into(),
        Some(Standing::Better) => {
            format!("  (better than the best known, {}: replayed and true)", told(known))
        }
        Some(Standing::Worse { measure, behind, gap }) => {
            let gap = match (known.len(), measure.what) {
                (1, _) | (_, "") => format!("gap {gap:.1} %"),
                (_, what) if measure.rounding < 1e-6 => format!("{} {what} behind", score(behind)),
                (_, what) => format!("{gap:.1} % of {what} behind"),
            };
            format!("  (best known {}, {gap})", told(known))
        }
        None => format!("  (best known {})", told(known)),
    }
}

/// The aims of a score, each with the best known and how far it is behind in per cent.
pub fn objectives(instance: &Instance, found: f64) -> Vec<Objective> {
    let known = instance.best_known().map(|known| instance.measures(known));
    sortie_runs::result::objectives(&instance.measures(found), known.as_deref())
}

fn why(reason: &str) -> &str {
    match reason {
        "done" => "the search is done",
        "playouts" => "the playouts are used up",
        "time" => "the time is up",
        "cpu-time" => "the CPU time is used up",
        "target" => "the target is reached",
        "patience" => "no improvement for too long",
        "asked" => "interrupted",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn scores_are_compared_with_the_best_known() {
        let points = |score| vec![Measure::most("points", score)];
        assert_eq!(against(&points(75.0), &points(100.0)), "  (best known 100 points, gap 25.0 %)");
        assert_eq!(against(&points(100.0), &points(100.0)), "  (equals the best known)");
        assert!(against(&points(101.0), &points(100.0)).contains("better than the best known, 100 points"));
        let instance = Instance::open("vrptw/R101").unwrap();
        let known = instance.best_known().unwrap();
        assert_eq!(compare(&instance, known + 0.0003), "  (equals the best known)");
        let words = "best known 19 vehicles, distance 1650.80";
        assert_eq!(compare(&instance, known - 111.62), format!("  ({words}, 6.8 % of distance behind)"));
        assert_eq!(compare(&instance, known - 10_000.0), format!("  ({words}, 1 vehicles behind)"));
        assert_eq!(compare(&Instance::open("schur/6").unwrap(), 1.0), "");
    }

    #[test]
    fn commands_can_be_pasted() {
        assert_eq!(quoted("runs/a-1"), "runs/a-1");
        assert_eq!(quoted("my run's"), "'my run'\\''s'");
    }
}
