//! `sortie verify`: replays records and checks proofs by the rules alone. No search code runs here.

use crate::Verdict;
use crate::args::Verify;
use crate::contest;
use crate::output::{self, number, score};
use crate::source::{Instance, RESULT, Source, UNFINISHED, read_text};
use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use sortie_core::Position;
use sortie_core::joblevel::{CheckError, Checked as Proved, Proof};
use std::io::Read;
use std::path::Path;

/// How far a claimed score may be off: texts of sums of distances differ in the last digits.
const TOLERANCE: f64 = 1e-6;

/// What came of one record.
struct Checked {
    instance: String,
    claimed: f64,
    /// The position at its end, or what is wrong with it.
    outcome: Result<Position, String>,
}

/// Runs the command.
pub fn run(args: &Verify) -> Result<Verdict> {
    let mut rows = Vec::new();
    let (mut wrong, mut misused) = (false, None);
    for path in &args.records {
        if is_log(path) {
            match contest::verify(path) {
                Ok((games, errors)) => {
                    wrong |= !errors.is_empty();
                    errors.iter().for_each(|error| output::say(&format!("sortie: WRONG  {error}")));
                    if !args.json && errors.is_empty() {
                        output::print(&format!("OK  {games} games  {}", path.display()))?;
                    }
                    let ok = errors.is_empty();
                    rows.push(
                        json!({ "file": output::path(path), "ok": ok, "games": games, "errors": errors }),
                    );
                }
                Err(error) => {
                    rows.push(
                        json!({ "file": output::path(path), "ok": false, "error": format!("{error:#}") }),
                    );
                    if let Some(earlier) = misused.replace(error) {
                        output::say(&format!("sortie: {earlier:#}"));
                    }
                }
            }
            continue;
        }
        if is_proof(path) {
            match check_proof(path, args.instance.as_deref()) {
                Ok((instance, checked)) => {
                    wrong |= checked.is_err();
                    if let Err(message) = &checked {
                        output::say(&format!("sortie: {}: WRONG  {instance}  {message}", path.display()));
                    } else if let (Ok(checked), false) = (&checked, args.json) {
                        output::print(&proof_line(path, &instance, checked))?;
                    }
                    rows.push(proof_row(path, &instance, &checked));
                }
                Err(error) => {
                    rows.push(
                        json!({ "file": output::path(path), "ok": false, "error": format!("{error:#}") }),
                    );
                    if let Some(earlier) = misused.replace(error) {
                        output::say(&format!("sortie: {earlier:#}"));
                    }
                }
            }
            continue;
        }
        match check(path, args.instance.as_deref()) {
            Ok(checked) => {
                wrong |= checked.outcome.is_err();
                if !args.json {
                    tell(path, &checked)?;
                }
                rows.push(row(path, &checked));
            }
            Err(error) => {
                rows.push(json!({ "file": output::path(path), "ok": false, "error": format!("{error:#}") }));
                // The last one is told by `main`, like every misuse.
                if let Some(earlier) = misused.replace(error) {
                    output::say(&format!("sortie: {earlier:#}"));
                }
            }
        }
    }
    if args.json {
        output::print_json(&json!({ "ok": !wrong && misused.is_none(), "records": rows }))?;
    }
    match misused {
        Some(error) => Err(error),
        None if wrong => Ok(Verdict::NotFound),
        None => Ok(Verdict::Done),
    }
}

/// The log of a match or a tuning, or its folder.
fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl") || path.join(contest::GAMES).is_file()
}

/// No proof is larger than this.
const PROOF_BYTES_MAX: u64 = 4 << 30;

/// Whether a file begins as a proof does.
fn is_proof(path: &Path) -> bool {
    let mut begin = [0; 12];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && Proof::begins(&format!("{} 1", String::from_utf8_lossy(&begin)))
}

/// The instance of a proof, and what its check came to.
fn check_proof(path: &Path, instance: Option<&str>) -> Result<(String, Result<Proved, CheckError>)> {
    let text =
        read_text(path, PROOF_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let proof = Proof::parse(&text).map_err(|e| anyhow!("{}:{}: {}", path.display(), e.line, e.message))?;
    let opened = Instance::open_game(instance.unwrap_or(&proof.instance))
        .with_context(|| format!("{}: cannot open its instance", path.display()))?;
    let checked = opened.game()?.check(&proof);
    Ok((opened.name, checked))
}

fn goals(checked: &Proved) -> Vec<String> {
    checked.goals.iter().map(|goal| goal.to_string()).collect()
}

fn proof_line(path: &Path, instance: &str, checked: &Proved) -> String {
    let (goals, positions) = (goals(checked).join(", "), output::count(checked.positions as u64));
    format!("OK  {instance}  {goals}, {positions} positions  {}", path.display())
}

fn proof_row(path: &Path, instance: &str, checked: &Result<Proved, CheckError>) -> Value {
    let mut row = json!({ "file": output::path(path), "ok": checked.is_ok(), "instance": instance });
    match checked {
        Ok(checked) => {
            row["proved"] = json!(goals(checked));
            row["positions"] = json!(checked.positions);
        }
        Err(error) => row["error"] = json!(error.to_string()),
    }
    row
}

fn check(path: &Path, instance: Option<&str>) -> Result<Checked> {
    let source = Source::read(path)?;
    let instance = match instance {
        Some(name) => Instance::open(name)?.begin_as(&source.record)?,
        None => source.instance()?,
    };
    let record = &source.record;
    let unfinished = instance.game().is_ok() && record.field(RESULT) == Some(UNFINISHED);
    let replayed = if unfinished { instance.position(&record.moves) } else { instance.verify(&record.moves) };
    let outcome = match replayed {
        Ok(position) if unfinished && position.legal.is_empty() => {
            Err("the record says that the game goes on, and it has ended".into())
        }
        Err(error) => Err(error.to_string()),
        Ok(position) if agree(position.score, record.score) => Ok(position),
        Ok(position) => {
            Err(format!("the record claims {} and its moves score {}", record.score, position.score))
        }
    };
    Ok(Checked { instance: instance.name, claimed: record.score, outcome })
}

fn agree(found: f64, claimed: f64) -> bool {
    (found - claimed).abs() <= TOLERANCE * found.abs().max(claimed.abs())
}

fn tell(path: &Path, checked: &Checked) -> Result<()> {
    match &checked.outcome {
        Ok(position) => {
            let facts: Vec<String> =
                position.facts.iter().map(|(key, value)| format!(", {key} {}", score(*value))).collect();
            let line = format!("OK  {}  score {}{}", checked.instance, score(position.score), facts.concat());
            output::print(&format!("{line}  {}", path.display()))
        }
        Err(message) => {
            output::say(&format!("sortie: {}: WRONG  {}  {message}", path.display(), checked.instance));
            Ok(())
        }
    }
}

fn row(path: &Path, checked: &Checked) -> Value {
    let mut row = json!({
        "file": output::path(path),
        "ok": checked.outcome.is_ok(),
        "instance": checked.instance,
        "claimed": number(checked.claimed),
    });
    match &checked.outcome {
        Ok(position) => {
            row["score"] = number(position.score);
            for &(key, value) in &position.facts {
                row[key] = number(value);
            }
        }
        Err(message) => row["error"] = json!(message),
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_agree_to_the_last_digits() {
        assert!(agree(1650.8, 1650.8000001));
        assert!(!agree(1650.8, 1650.9));
        assert!(agree(0.0, 0.0));
        assert!(!agree(0.0, 1.0));
        assert!(!agree(3145.0, 3146.0));
    }
}
