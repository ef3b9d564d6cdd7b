//! `lab drill disk`: long commands on machines whose disks fill up, fail and lose what was not synced. Each is begun and
//! gone on with as a user would, until nothing hinders it. What it announced must be there whenever the power is back, what
//! is there must be true, and it must come to what it comes to on a good disk.

mod subjects;

use super::machine::NO_POWER;
use crate::{Verdict, output};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};
use sortie_core::Rng;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use subjects::{Look, Needs, Subject};

/// Machines of one trial that lose their power; the next one is good.
const MACHINES_MAX: u64 = 4;
/// No command takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(300);
const SLICE: Duration = Duration::from_millis(2);

/// `lab drill disk`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lab drill disk --seeds 100                              all commands, from a fresh seed, which is printed
  lab drill disk --commands solve,prove --seed 7 --seeds 1

A trial is a command and a seed: machines whose power goes at any call to the disk, or whose disk is full or fails for a while, and
at last a good one. What each of them did is said as a `lab drill machine` line that does it again.

Exit code 0: nothing that was announced was lost and nothing false was shown. 1: not so; the folders are kept.")]
pub struct DrillDisk {
    /// Which commands [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub commands: Vec<String>,
    /// Seeds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub seeds: u64,
    /// The first; the others follow it [default: of the clock, and printed]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// A new folder for the disks of trials that went wrong [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the command.
pub fn run(args: &DrillDisk) -> Result<Verdict> {
    let subjects = subjects::named(&args.commands)?;
    let seed = args.seed.unwrap_or_else(fresh_seed);
    let home = match &args.out {
        Some(path) => path.clone(),
        None => std::env::temp_dir().join(format!("sortie-disk-{}", std::process::id())),
    };
    std::fs::create_dir_all(&home).with_context(|| home.display().to_string())?;
    let home = home.canonicalize()?;
    let lab = std::env::current_exe().context("the path of this program is not known")?;
    if !args.json {
        output::print(&format!("seed {seed}"))?;
    }
    let mut rows = Vec::new();
    for subject in subjects {
        rows.push(drill(subject, &lab, &home, seed, args)?);
    }
    let _ = std::fs::remove_dir(&home);
    let good = rows.iter().all(|row| row["wrong"].as_array().is_some_and(Vec::is_empty));
    if args.json {
        output::print_json(&json!({
            "seed": seed, "seeds": args.seeds, "rows": rows, "version": env!("CARGO_PKG_VERSION"),
        }))?;
    }
    Ok(if good { Verdict::Done } else { Verdict::NotFound })
}

/// A seed that nobody has had.
pub fn fresh_seed() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    (since.as_micros() as u64) % 1_000_000_000_000
}

/// All seeds of a command.
fn drill(subject: &'static Subject, lab: &Path, home: &Path, seed: u64, args: &DrillDisk) -> Result<Value> {
    let begun = Instant::now();
    let whole = whole(subject, lab, &home.join(format!("{}-whole", subject.name)))?;
    let (mut machines, mut wrong) = (Tally::default(), Vec::new());
    for seed in seed..seed + args.seeds {
        let mut trial = Trial {
            subject,
            lab,
            root: home.join(format!("{}-{seed}", subject.name)),
            whole: &whole,
            // A stream of its own for each command.
            rng: Rng::new(seed, subject.name.bytes().fold(0, |sum, byte| 31 * sum + u64::from(byte))),
            tally: &mut machines,
            lines: Vec::new(),
        };
        if let Err(why) = trial.run() {
            wrong.push(
                json!({ "seed": seed, "why": format!("{why:#}"), "folder": output::path(&trial.root) }),
            );
            if !args.json {
                let again = format!("lab drill disk --commands {} --seed {seed} --seeds 1", subject.name);
                output::print(&format!("WRONG: {why:#}\n{}\nagain: {again}", trial.lines.join("\n")))?;
            }
        }
    }
    if !args.json {
        output::print(&format!(
            "{:<10} {:>6} trials  {:>6} lost their power  {:>6} full or failing disks  {:>7.1} s  {} wrong",
            subject.name,
            output::count(args.seeds),
            output::count(machines.powerless),
            output::count(machines.failing),
            begun.elapsed().as_secs_f64(),
            wrong.len(),
        ))?;
    }
    Ok(json!({
        "command": subject.name, "trials": args.seeds, "powerless": machines.powerless, "failing": machines.failing,
        "calls": whole.calls, "seconds": output::rounded(begun.elapsed().as_secs_f64()), "wrong": wrong,
    }))
}

/// What machines met with.
#[derive(Debug, Default)]
struct Tally {
    powerless: u64,
    failing: u64,
}

/// A command on a good disk.
struct Whole {
    /// What it comes to.
    end: Value,
    /// Its folder.
    root: PathBuf,
    calls: u64,
}

impl Drop for Whole {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn whole(subject: &Subject, lab: &Path, root: &Path) -> Result<Whole> {
    let told = root.with_extension("calls");
    std::fs::create_dir_all(root)?;
    for (name, text) in subject.files {
        std::fs::write(root.join(name), text)?;
    }
    let said = start(lab, root, &told, &[], subject.begin)?;
    if !said.status.success() {
        bail!("{} ends with {} on a good disk: {}", subject.name, said.status, said.told);
    }
    let calls = calls(&told)?;
    Ok(Whole { end: (subject.end)(&said.result()?), root: root.to_path_buf(), calls })
}

/// How many calls there were.
fn calls(told: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(told).with_context(|| told.display().to_string())?;
    let _ = std::fs::remove_file(told);
    text.lines().next().and_then(|line| line.parse().ok()).ok_or_else(|| anyhow!("no number of calls"))
}

/// What a command has said.
struct Said {
    status: ExitStatus,
    /// What is for programs.
    out: String,
    /// What is for people.
    told: String,
}

impl Said {
    fn result(&self) -> Result<Value> {
        let last = self.out.lines().last().ok_or_else(|| anyhow!("it printed no result"))?;
        serde_json::from_str(last).context("what it printed is no result")
    }
}

/// Runs a command of the laboratory, in a folder.
fn command(lab: &Path, root: &Path, words: &[&str]) -> Result<Said> {
    let mut command = Command::new(lab);
    command.args(words).current_dir(root);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().context("this program does not start as a process of its own")?;
    let (mut out, mut told) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let told = std::thread::spawn(move || {
        let mut text = Vec::new();
        told.read_to_end(&mut text).map(|_| text)
    });
    let out = std::thread::spawn(move || {
        let mut text = Vec::new();
        out.read_to_end(&mut text).map(|_| text)
    });
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            bail!("`{}` hangs", words.join(" "));
        }
        std::thread::sleep(SLICE);
    };
    let text = |thread: std::thread::JoinHandle<std::io::Result<Vec<u8>>>| -> Result<String> {
        Ok(String::from_utf8_lossy(&thread.join().expect("it does not panic")?).into_owned())
    };
    Ok(Said { status, out: text(out)?, told: text(told)? })
}

/// Runs a command of sortie on a simulated machine.
fn start(lab: &Path, root: &Path, told: &Path, trouble: &[String], words: &[&str]) -> Result<Said> {
    let told = told.display().to_string();
    let mut all = vec!["drill", "machine", ".", "--told", &told];
    all.extend(trouble.iter().map(String::as_str));
    all.push("--");
    all.extend(words);
    command(lab, root, &all)
}

struct Trial<'a> {
    subject: &'static Subject,
    lab: &'a Path,
    root: PathBuf,
    whole: &'a Whole,
    rng: Rng,
    tally: &'a mut Tally,
    /// What was done, to be done again.
    lines: Vec<String>,
}

impl Trial<'_> {
    fn run(&mut self) -> Result<()> {
        std::fs::create_dir_all(&self.root)?;
        let machines = 1 + self.rng.below(MACHINES_MAX as usize) as u64;
        for (name, text) in self.subject.files {
            std::fs::write(self.root.join(name), text)?;
        }
        let mut told = String::new();
        for machine in 0..=machines {
            self.machine(machine == machines, &mut told)?;
        }
        std::fs::remove_dir_all(&self.root)?;
        Ok(())
    }

    /// One machine, to its end, and what is on its disk then.
    fn machine(&mut self, good: bool, all_told: &mut String) -> Result<()> {
        let begun = self.root.join(self.subject.request).exists();
        let words = if begun { self.subject.go_on } else { self.subject.begin };
        let trouble = if good { vec![format!("--seed={}", self.rng.bits())] } else { self.trouble() };
        self.lines.push(format!("lab drill machine . {} -- {}", trouble.join(" "), words.join(" ")));
        let told = self.root.with_extension("calls");
        let said = start(self.lab, &self.root, &told, &trouble, words)?;
        let failing = trouble.iter().any(|word| word.starts_with("--full") || word.starts_with("--broken"));
        self.tally.failing += u64::from(failing);
        match said.status.code() {
            Some(code) if code == i32::from(NO_POWER) => self.tally.powerless += 1,
            Some(0) => {}
            // A disk that fails may end a command, which says of which file.
            Some(1 | 2) if failing => {
                let last = said.told.lines().last().unwrap_or_default();
                if !self.subject.names.iter().any(|name| last.contains(name)) {
                    bail!("a failing disk ends the command, which names no file: {last}");
                }
            }
            _ => bail!("it ended with {}: {}", said.status, said.told),
        }
        let calls = calls(&told)?;
        self.lines.push(format!("  {}, {calls} calls", said.status));
        all_told.push_str(&said.told);
        let result = said.status.success().then(|| said.result()).transpose()?;
        self.look(all_told, result.as_ref().filter(|_| !failing))?;
        if let Some(result) = result {
            let end = (self.subject.end)(&result);
            if good && end != self.whole.end {
                bail!("it came to {end}, and on a good disk to {}", self.whole.end);
            }
        } else if good {
            bail!("it did not come to its end");
        }
        Ok(())
    }

    /// What this machine meets with, as options of `lab drill machine`.
    fn trouble(&mut self) -> Vec<String> {
        let rng = &mut self.rng;
        let mut words = vec![format!("--seed={}", rng.bits())];
        let call = |rng: &mut Rng| 1 + rng.below(1 + self.whole.calls as usize * 9 / 8);
        match rng.below(8) {
            0 | 1 => words.push(format!("--full={}+{}", call(rng), 1 + rng.below(12))),
            2 => words.push(format!("--broken={}+{}", call(rng), 1 + rng.below(3))),
            _ => {}
        }
        if words.len() == 1 || rng.below(2) == 0 {
            words.push(format!("--power-until={}", call(rng)));
        }
        words
    }

    /// What is on the disk when the power is back.
    fn look(&self, told: &str, result: Option<&Value>) -> Result<()> {
        (self.subject.look)(&Look { root: &self.root, whole: &self.whole.root, told, result })?;
        if !self.root.join(self.subject.request).exists() {
            return match result {
                Some(_) => bail!("a result was told and there is no {}", self.subject.request),
                None => Ok(()),
            };
        }
        for (words, needs) in self.subject.readers {
            if matches!(needs, Needs::File(name) if !self.root.join(name).exists()) {
                continue;
            }
            let said = command(self.lab, &self.root, words)?;
            match said.status.code() {
                Some(0) => {}
                // There may be nothing to read yet; that something is wrong, or a panic, may never be.
                Some(2) if result.is_none() && *needs == Needs::Result => {}
                _ => bail!("`{}` ended with {}: {}{}", words.join(" "), said.status, said.out, said.told),
            }
        }
        Ok(())
    }
}
