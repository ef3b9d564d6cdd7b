//! Certificates for `sortie prove` and `sortie verify`: written whole, with the answers found so far beside the file, so
//! that a long one goes on where it was stopped or killed.

use crate::folder::write_whole;
use crate::output::{self, count};
use crate::progress::Progress;
use crate::source::{Instance, read_text};
use crate::{duration, output::rounded};
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value as Json, json};
use sortie_core::Side;
use sortie_core::exact::{Certificate, Goal, Making};
use sortie_disk::File;
use sortie_runs::text::read_bytes;
use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// No certificate is larger than this, nor the answers beside it.
const BYTES_MAX: u64 = 1 << 30;
const ANSWERS_BYTES_MAX: u64 = 16 << 30;
/// Positions that the solver looks at for one answer: so many times those of a job.
const NODES_TIMES: u64 = 200;
/// Answers are on the disk after so long at the latest.
const FLUSH_EVERY: Duration = Duration::from_secs(2);

/// What making one may cost.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    nodes_max: u64,
    memory_max: usize,
}

impl Budget {
    /// That of a command with these positions a job and this memory.
    pub fn of(job_nodes: u64, memory: u32) -> Budget {
        Budget { nodes_max: job_nodes.saturating_mul(NODES_TIMES), memory_max: (memory as usize) << 20 }
    }
}

/// A certificate that was written.
pub struct Made {
    file: PathBuf,
    certificate: Certificate,
    bytes: usize,
    seconds: f64,
}

impl Made {
    /// For `--json`.
    pub fn to_json(&self) -> Json {
        let mut row = facts(&self.certificate);
        row["file"] = json!(output::path(&self.file));
        row["bytes"] = json!(self.bytes);
        row["seconds"] = json!(rounded(self.seconds));
        row
    }

    /// For people.
    pub fn text(&self) -> String {
        let Certificate { instance, goal, positions, answers, .. } = &self.certificate;
        format!(
            "{instance}  {goal}: {} positions, {} answers, {} bytes in {}  {}",
            count(*positions),
            count(*answers),
            count(self.bytes as u64),
            duration::show(self.seconds),
            self.file.display(),
        )
    }
}

/// What a certificate says of itself.
pub fn facts(certificate: &Certificate) -> Json {
    let Certificate { instance, moves, goal, positions, answers, checksum, .. } = certificate;
    json!({
        "instance": instance, "moves": moves, "proved": [goal.to_string()], "positions": positions,
        "answers": answers, "checksum": format!("{checksum:016x}"),
    })
}

/// The file of one side's claim, where both sides have one: `x.cert` becomes `x.first.cert`.
pub fn beside(file: &Path, side: Side) -> PathBuf {
    let side = if side == Side::First { "first" } else { "second" };
    match file.extension() {
        Some(extension) => file.with_extension(format!("{side}.{}", extension.to_string_lossy())),
        None => file.with_extension(side),
    }
}

/// Makes, checks and writes the certificate of a claim.
pub fn make(
    instance: &Instance,
    moves: &[String],
    goal: Goal,
    file: &Path,
    budget: Budget,
    stop: &AtomicBool,
    quiet: bool,
) -> Result<Made> {
    let (game, begun) = (instance.game()?, Instant::now());
    let mut answers = Answers::open(file, &format!("{} {goal}", instance.name))?;
    let known = std::mem::take(&mut answers.known);
    let before = known.len();
    if before > 0 && !quiet {
        output::say(&format!("going on: {} answers were found before", count(before as u64)));
    }
    let mut progress = Progress::new(quiet, 0.0);
    let mut found = |text: &str, number: u16| {
        answers.append(text, number).map_err(|error| format!("{}: {error}", answers.path.display()))?;
        let seconds = begun.elapsed().as_secs_f64();
        progress.show(seconds, || {
            format!("{:>9}  {} answers", duration::show(seconds), count(answers.count + before as u64))
        });
        Ok(())
    };
    let stopped = || stop.load(Relaxed);
    let Budget { nodes_max, memory_max } = budget;
    let making = Making { nodes_max, memory_max, known, found: &mut found, stop: &stopped };
    let made = game.make_certificate(&instance.name, moves, goal, making);
    progress.clear();
    answers.out.flush().with_context(|| answers.path.display().to_string())?;
    let certificate = made.map_err(|message| match stopped() {
        true => anyhow!("stopped; the same command goes on with the answers in {}", answers.path.display()),
        false => anyhow!("no certificate of '{goal}': {message}"),
    })?;
    game.check_certificate(&certificate).context("the certificate does not check: this is a bug")?;
    let bytes = certificate.to_bytes();
    write_whole(file, &bytes).with_context(|| format!("cannot write {}", file.display()))?;
    // They have served; the certificate has them all.
    let _ = sortie_disk::remove_file(&answers.path);
    let seconds = begun.elapsed().as_secs_f64();
    Ok(Made { file: file.to_path_buf(), certificate, bytes: bytes.len(), seconds })
}

/// The answers beside a certificate that is being made: a line that says of what, then one a line.
struct Answers {
    path: PathBuf,
    known: HashMap<String, u16>,
    out: BufWriter<File>,
    /// Appended by this process.
    count: u64,
    flushed: Instant,
}

impl Answers {
    fn open(file: &Path, of: &str) -> Result<Answers> {
        let mut name =
            file.file_name().ok_or_else(|| anyhow!("{}: not the name of a file", file.display()))?.to_owned();
        name.push(".answers");
        let path = file.with_file_name(name);
        let (mut known, mut whole) = (HashMap::new(), 0);
        if path.exists() {
            let text = read_text(&path, ANSWERS_BYTES_MAX)
                .map_err(|message| anyhow!("{}: {message}", path.display()))?;
            for (line, number) in text.split_inclusive('\n').zip(1..) {
                // What a crash left of the last line.
                let Some(line) = line.strip_suffix('\n') else { break };
                whole += line.len() as u64 + 1;
                let wrong = |what: &str| anyhow!("{}:{number}: {what}", path.display());
                if number == 1 {
                    if line != of {
                        return Err(wrong(&format!(
                            "answers for '{line}', not for '{of}': remove it, or name another file"
                        )));
                    }
                    continue;
                }
                let (text, answer) =
                    line.split_once('\t').ok_or_else(|| wrong("expected a position and a number"))?;
                let answer = answer.parse().map_err(|_| wrong("expected a number after the position"))?;
                known.insert(text.to_string(), answer);
            }
        }
        let open = || {
            let file = File::append(&path)?;
            file.set_len(whole)?;
            let mut out = BufWriter::new(file);
            if whole == 0 {
                writeln!(out, "{of}")?;
            }
            Ok::<_, std::io::Error>(out)
        };
        let out = open().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Answers { path, known, out, count: 0, flushed: Instant::now() })
    }

    fn append(&mut self, text: &str, answer: u16) -> std::io::Result<()> {
        writeln!(self.out, "{text}\t{answer}")?;
        self.count += 1;
        if self.flushed.elapsed() > FLUSH_EVERY {
            self.out.flush()?;
            self.flushed = Instant::now();
        }
        Ok(())
    }
}

/// Checks one by the rules: what `--json` and people are told.
pub fn check(path: &Path, instance: Option<&str>) -> Result<(Json, Result<String, Vec<String>>)> {
    let bytes = read_bytes(path, BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let certificate = match Certificate::parse(&bytes) {
        Ok(certificate) => certificate,
        Err(message) => {
            let row = json!({ "file": output::path(path), "ok": false, "error": message });
            return Ok((row, Err(vec![format!("{}: WRONG  {message}", path.display())])));
        }
    };
    if instance.is_some_and(|name| name != certificate.instance) {
        bail!("{}: it is of {}", path.display(), certificate.instance);
    }
    let opened = Instance::open_game(&certificate.instance)
        .with_context(|| format!("{}: cannot open its instance", path.display()))?;
    let checked = opened.game()?.check_certificate(&certificate);
    let mut row = facts(&certificate);
    row["file"] = json!(output::path(path));
    row["ok"] = json!(checked.is_ok());
    row["bytes"] = json!(bytes.len());
    let Certificate { instance, moves, goal, positions, answers, checksum, .. } = &certificate;
    let told = match checked {
        Ok(()) => {
            let after = if moves.is_empty() { String::new() } else { format!(" after {}", moves.join(" ")) };
            Ok(format!(
                "OK  {instance}{after}  {goal}, {} positions, {} answers, {checksum:016x}  {}",
                count(*positions),
                count(*answers),
                path.display(),
            ))
        }
        Err(wrong) => {
            row["error"] = json!(wrong.to_string());
            Err(vec![format!("{}: WRONG  {instance}  {wrong}", path.display())])
        }
    };
    Ok((row, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_a_crash_cut_off_do_not_count_and_those_of_another_claim_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.cert");
        let mut answers = Answers::open(&file, "nim/3 first wins").expect("new");
        answers.append("3 x", 3).expect("a disk");
        answers.out.flush().expect("a disk");
        let path = answers.path.clone();
        drop(answers);
        let whole = std::fs::read_to_string(&path).expect("answers");
        std::fs::write(&path, format!("{whole}2 x\t")).expect("a disk");
        let again = Answers::open(&file, "nim/3 first wins").expect("the same claim");
        assert_eq!(again.known, HashMap::from([("3 x".to_string(), 3)]));
        drop(again);
        assert_eq!(std::fs::read_to_string(&path).expect("answers"), whole);
        let other = Answers::open(&file, "nim/3 second wins").err().expect("another claim").to_string();
        assert!(other.contains(":1: answers for"), "{other}");
        std::fs::write(&path, format!("{whole}nonsense\n")).expect("a disk");
        assert!(
            Answers::open(&file, "nim/3 first wins").err().expect("nonsense").to_string().contains(":3:")
        );
    }

    #[test]
    fn two_claims_have_two_files() {
        assert_eq!(beside(Path::new("a/x.cert"), Side::First), Path::new("a/x.first.cert"));
        assert_eq!(beside(Path::new("x"), Side::Second), Path::new("x.second"));
    }
}
