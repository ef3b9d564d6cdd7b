//! `sortie verify`: replays records and checks proofs by the rules alone. No search code runs here.

use crate::Verdict;
use crate::args::Verify;
use crate::commands::certificate;
use crate::contest;
use crate::output::{self, number, score};
use crate::source::{Instance, RESULT, Source, UNFINISHED, read_text};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use sortie_core::exact::{Certificate, Proof};
use sortie_core::{Position, Record};
use sortie_runs::kind::PROVE;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How far a claimed score may be off: texts of sums of distances differ in the last digits, and are rounded to two.
const TOLERANCE: f64 = 0.005;
/// What the digits of a sum may differ by where nothing was rounded.
const DIGITS: f64 = 1e-12;

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
    for (path, what) in args.records.iter().flat_map(|path| within(path)) {
        let checked = match what {
            Some(What::Log) => check_log(&path),
            Some(What::Proof) => check_proof(&path, args.instance.as_deref()),
            Some(What::Record) => check_record(&path, args.instance.as_deref()),
            None => check(&path, args.instance.as_deref()),
        };
        let path = &path;
        match checked {
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

/// What a part of a folder is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Log,
    Record,
    Proof,
}

/// What is to be checked of a path: everything in a folder that claims something, and a file as what it is. An empty log
/// says nothing of the record beside it.
fn within(path: &Path) -> Vec<(PathBuf, Option<What>)> {
    let mut all = Vec::new();
    if path.is_dir() {
        if path.join(contest::GAMES).exists() {
            all.push((path.to_path_buf(), Some(What::Log)));
        }
        if path.join(crate::folder::RECORD).exists() {
            all.push((path.to_path_buf(), Some(What::Record)));
        }
        let proof = path.join("solution.proof");
        if proof.exists() {
            all.push((proof, Some(What::Proof)));
        }
    }
    if all.is_empty() { vec![(path.to_path_buf(), None)] } else { all }
}

fn check(path: &Path, instance: Option<&str>) -> Result<Checked> {
    if path.join(PROVE).is_file() {
        bail!("{}: this search kept no proof: `sortie prove --proof FILE` writes one", path.display());
    }
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
            let (start, moves) = (proof.start.as_deref(), &proof.moves);
            (row["position"], row["moves"]) = (json!(start), json!(moves));
            let mut board = opened.game()?.board(start)?;
            moves.iter().try_for_each(|word| board.play(word))?;
            row["key"] = json!(board.ident().map(|ident| format!("{:032x}", ident.key)));
            // What is proved is about one position, which need not be the beginning.
            let start = start.map_or(String::new(), |start| format!(" from '{start}'"));
            let after = if moves.is_empty() { String::new() } else { format!(" after {}", moves.join(" ")) };
            let about = format!("{name}{start}{after}");
            let positions = output::count(checked.positions as u64);
            Ok(format!("OK  {about}  {}, {positions} positions  {}", goals.join(", "), path.display()))
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

/// Whether a claim is what was found, as far as it was written down: half of its last decimal, and no more than a rounding to
/// two decimals leaves, whatever else is in the score.
fn agree(found: f64, claimed: f64) -> bool {
    let text = claimed.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let resolution = (0.5 * 10f64.powi(-(decimals.min(15) as i32))).min(TOLERANCE);
    // A claim without decimals is of whole numbers, or exact.
    let resolution = if decimals == 0 { 0.0 } else { resolution };
    (found - claimed).abs() <= resolution + DIGITS * found.abs().max(claimed.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_agree_to_the_last_digits() {
        assert!(agree(1650.8, 1650.8000000000001) && agree(-1650.798633, -1650.8) && agree(1650.803, 1650.8));
        assert!(!agree(1650.8, 1650.9));
        assert!(agree(0.0, 0.0));
        assert!(!agree(0.0, 1.0));
        assert!(!agree(3145.0, 3146.0));
        // Defect 4: with 19 vehicles in the score a route that was 0.15 shorter than it is was right.
        assert!(!agree(-1901650.798633, -1901650.65) && !agree(-1901650.798633, -1901650.648633));
        assert!(agree(-1901650.798633, -1901650.8) && !agree(-1901650.4, -1901650.0));
    }
}
