//! `sortie verify`: replays records and checks proofs by the rules alone. No search code runs here.

use crate::Verdict;
use crate::args::Verify;
use crate::commands::certificate;
use crate::contest;
use crate::output::{self, number, score};
use crate::source::{Instance, RESULT, Source, UNFINISHED, read_text};
use anyhow::{Context, Result, anyhow};
use serde_json::{Value, json};
use sortie_core::exact::{Certificate, Proof};
use sortie_core::{Position, Record};
use std::io::Read;
use std::path::Path;

/// How far a claimed score may be off: texts of sums of distances differ in the last digits.
const TOLERANCE: f64 = 1e-6;

/// What came of one file.
struct Checked {
    /// For `--json`.
    row: Value,
    /// What it is, or what is wrong with it.
    told: Result<String, Vec<String>>,
}

/// Runs the command.
pub fn run(args: &Verify) -> Result<Verdict> {
    let mut rows = Vec::new();
    let (mut wrong, mut misused) = (false, None);
    for path in &args.records {
        match check(path, args.instance.as_deref()) {
            Ok(checked) => {
                match checked.told {
                    Ok(line) if !args.json => output::print(&line)?,
                    Ok(_) => {}
                    Err(lines) => {
                        wrong = true;
                        lines.iter().for_each(|line| output::say(&format!("sortie: {line}")));
                    }
                }
                rows.push(checked.row);
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

fn check(path: &Path, instance: Option<&str>) -> Result<Checked> {
    if is_log(path) {
        check_log(path)
    } else if begins(path, 12, |begin| Proof::begins(&format!("{} 1", String::from_utf8_lossy(begin)))) {
        check_proof(path, instance)
    } else if begins(path, 20, Certificate::begins) {
        certificate::check(path, instance).map(|(row, told)| Checked { row, told })
    } else {
        check_record(path, instance)
    }
}

/// The log of a match or a tuning, or its folder.
fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl") || path.join(contest::GAMES).is_file()
}

/// No proof is larger than this.
const PROOF_BYTES_MAX: u64 = 4 << 30;

/// Whether a file begins with so many bytes of this kind.
fn begins(path: &Path, bytes: usize, kind: impl Fn(&[u8]) -> bool) -> bool {
    let mut begin = vec![0; bytes];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && kind(&begin)
}

fn check_log(path: &Path) -> Result<Checked> {
    let (games, errors) = contest::verify(path)?;
    let ok = errors.is_empty();
    let row = json!({ "file": output::path(path), "ok": ok, "games": games, "errors": errors });
    let told = if ok {
        Ok(format!("OK  {games} games  {}", path.display()))
    } else {
        Err(errors.iter().map(|error| format!("WRONG  {error}")).collect())
    };
    Ok(Checked { row, told })
}

fn check_proof(path: &Path, instance: Option<&str>) -> Result<Checked> {
    let text =
        read_text(path, PROOF_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let proof = Proof::parse(&text).map_err(|e| anyhow!("{}:{}: {}", path.display(), e.line, e.message))?;
    let opened = Instance::open_game(instance.unwrap_or(&proof.instance))
        .with_context(|| format!("{}: cannot open its instance", path.display()))?;
    let (name, checked) = (&opened.name, opened.game()?.check(&proof));
    let mut row = json!({ "file": output::path(path), "ok": checked.is_ok(), "instance": name });
    let told = match checked {
        Ok(checked) => {
            let goals: Vec<String> = checked.goals.iter().map(|goal| goal.to_string()).collect();
            row["proved"] = json!(goals);
            row["positions"] = json!(checked.positions);
            let positions = output::count(checked.positions as u64);
            Ok(format!("OK  {name}  {}, {positions} positions  {}", goals.join(", "), path.display()))
        }
        Err(error) => {
            row["error"] = json!(error.to_string());
            Err(vec![format!("{}: WRONG  {name}  {error}", path.display())])
        }
    };
    Ok(Checked { row, told })
}

fn check_record(path: &Path, instance: Option<&str>) -> Result<Checked> {
    let source = Source::read(path)?;
    let instance = match instance {
        Some(name) => Instance::open(name)?.begin_as(&source.record)?,
        None => source.instance()?,
    };
    let (name, record) = (&instance.name, &source.record);
    let outcome = replay(&instance, record);
    let mut row = json!({
        "file": output::path(path), "ok": outcome.is_ok(), "instance": name, "claimed": number(record.score),
    });
    let told = match outcome {
        Ok(position) => {
            row["score"] = number(position.score);
            let mut line = format!("OK  {name}  score {}", score(position.score));
            for &(key, value) in &position.facts {
                row[key] = number(value);
                line += &format!(", {key} {}", score(value));
            }
            Ok(format!("{line}  {}", path.display()))
        }
        Err(message) => {
            row["error"] = json!(message);
            Err(vec![format!("{}: WRONG  {name}  {message}", path.display())])
        }
    };
    Ok(Checked { row, told })
}

/// The position at the end of a record, or what is wrong with it.
fn replay(instance: &Instance, record: &Record) -> Result<Position, String> {
    let unfinished = instance.game().is_ok() && record.field(RESULT) == Some(UNFINISHED);
    let replayed = if unfinished { instance.position(&record.moves) } else { instance.verify(&record.moves) };
    match replayed {
        Ok(position) if unfinished && position.legal.is_empty() => {
            Err("the record says that the game goes on, and it has ended".into())
        }
        Err(error) => Err(error.to_string()),
        Ok(position) if agree(position.score, record.score) => Ok(position),
        Ok(position) => {
            Err(format!("the record claims {} and its moves score {}", record.score, position.score))
        }
    }
}

fn agree(found: f64, claimed: f64) -> bool {
    (found - claimed).abs() <= TOLERANCE * found.abs().max(claimed.abs())
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
