//! What goes to stdout: results, for people and for programs. Messages and progress go to stderr, elsewhere.

use crate::duration;
use anyhow::Result;
use serde_json::{Map, Value, json};
use sortie_core::Position;
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
pub fn human(result: &Map<String, Value>, position: &Position, folder: &Path) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or("?").to_string();
    let real = |key: &str| result.get(key).and_then(Value::as_f64).unwrap_or(0.0);
    let whole = |key: &str| result.get(key).and_then(Value::as_u64).unwrap_or(0);
    let found = real("score");
    let known = result.get("best_known").and_then(Value::as_f64);
    let moves = result.get("moves").and_then(Value::as_array).map_or(0, Vec::len);
    let mut rows = vec![("instance", text("instance")), ("score", score(found) + &compare(found, known))];
    rows.extend(position.facts.iter().map(|(key, value)| (*key, score(*value))));
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
    let mut out = format!("{}\n\n", position.text.trim_end());
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

/// How a score stands to the best known.
fn compare(found: f64, known: Option<f64>) -> String {
    let Some(known) = known else { return String::new() };
    if found > known {
        return format!("  (better than the best known, {}!)", score(known));
    }
    if found == known {
        return "  (the best known)".into();
    }
    let gap = 100.0 * (known - found) / known.abs().max(1e-9);
    format!("  (best known {}, gap {gap:.1} %)", score(known))
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
        assert_eq!(compare(75.0, Some(100.0)), "  (best known 100, gap 25.0 %)");
        assert_eq!(compare(-110.0, Some(-100.0)), "  (best known -100, gap 10.0 %)");
        assert_eq!(compare(100.0, Some(100.0)), "  (the best known)");
        assert!(compare(101.0, Some(100.0)).contains("better"));
        assert_eq!(compare(1.0, None), "");
    }

    #[test]
    fn commands_can_be_pasted() {
        assert_eq!(quoted("runs/a-1"), "runs/a-1");
        assert_eq!(quoted("my run's"), "'my run'\\''s'");
    }
}
