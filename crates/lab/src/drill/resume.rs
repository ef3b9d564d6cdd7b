//! `lab drill resume`: the drill of `kill -9`. Runs of NRPA are killed at random moments and resumed, again and again,
//! by processes of this same program. Every one must go on, have every solution that it announced, and, where only
//! playouts end it, come to the answer of a run that nobody disturbed.

use crate::folder::{EVENTS, RECORD, SPEC};
use crate::source::{Instance, plain};
use crate::{Verdict, output};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::{Value, json};
use sortie_core::{Record, Rng};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Undisturbed runs to compare with; every further run has the seed of one of them.
const SEEDS: u64 = 5;
/// Every so many-th run is ended by CPU time, and its answer is its own.
const TIMED_EVERY: u64 = 5;
/// A run that ends before it is killed is begun anew with an earlier moment, so often.
const TRIES_MAX: u32 = 8;
/// How often it is looked whether a child has come so far.
const SLICE: Duration = Duration::from_millis(1);
/// Nothing takes so long unless it hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// `lab drill resume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab drill resume --times 50

Exit code 0: all runs went on, lost nothing and came to the same answers. 1: not all; their folders are kept.")]
pub struct DrillResume {
    /// What the runs solve
    #[arg(default_value = "samegame/1")]
    pub instance: String,
    /// Runs that are killed
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub times: u64,
    /// How often each is killed
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub kills: u64,
    /// Levels of nesting
    #[arg(long, value_name = "L", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub level: u32,
    /// Calls of the level below, per level
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub iterations: u32,
    /// Seed of the moments
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// A new folder for the runs, which is kept [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// What came of one run.
struct Trial {
    seed: u64,
    /// Only playouts end it.
    exact: bool,
    kills: u64,
    /// Seconds from the start to each kill.
    moments: Vec<f64>,
    /// What is wrong with it.
    faults: Vec<String>,
}

/// Runs the command.
pub fn run(args: &DrillResume) -> Result<Verdict> {
    let drill = Drill::open(args)?;
    let mut rng = Rng::new(args.seed, 0);
    let mut whole = HashMap::new();
    let mut trials = Vec::new();
    for number in 0..args.times {
        let seed = 1 + number % SEEDS;
        if let std::collections::hash_map::Entry::Vacant(entry) = whole.entry(seed) {
            entry.insert(drill.undisturbed(seed)?);
        }
        let (result, seconds) = &whole[&seed];
        let exact = (number + 1) % TIMED_EVERY != 0;
        let trial = drill.trial(number, seed, exact, result, *seconds, &mut rng)?;
        if !args.json {
            let moments: Vec<String> = trial.moments.iter().map(|at| format!("{at:.2} s")).collect();
            let verdict = if trial.faults.is_empty() { "ok".to_string() } else { trial.faults.join("; ") };
            output::say(&format!(
                "{:>3} of {}: seed {seed}, {}killed after {}: {verdict}",
                number + 1,
                args.times,
                if exact { "" } else { "by time, " },
                moments.join(" and "),
            ));
        }
        trials.push(trial);
    }
    let failed = trials.iter().filter(|trial| !trial.faults.is_empty()).count();
    report(args, &trials)?;
    if failed == 0 {
        drill.remove();
        return Ok(Verdict::Done);
    }
    output::say(&format!("the folders of the runs are kept in {}", drill.home.display()));
    Ok(Verdict::NotFound)
}

fn report(args: &DrillResume, trials: &[Trial]) -> Result<()> {
    let good = trials.iter().filter(|trial| trial.faults.is_empty()).count();
    let exact = trials.iter().filter(|trial| trial.exact);
    let same = exact.clone().filter(|trial| trial.faults.is_empty()).count();
    let kills: u64 = trials.iter().map(|trial| trial.kills).sum();
    if args.json {
        let fault = |trial: &Trial| json!({ "seed": trial.seed, "faults": trial.faults });
        return output::print_json(&json!({
            "instance": args.instance, "level": args.level, "iterations": args.iterations, "times": trials.len(),
            "kills": kills, "good": good, "deterministic": exact.count(), "same": same,
            "failed": trials.iter().filter(|trial| !trial.faults.is_empty()).map(fault).collect::<Vec<_>>(),
            "version": env!("CARGO_PKG_VERSION"),
        }));
    }
    output::print(&format!(
        "{} level {}, iterations {}: {good} of {} runs went on after kill -9 ({kills} kills) and kept what they had \
         announced\nof {} that only playouts end, {same} came to the answer of the undisturbed run",
        args.instance,
        args.level,
        args.iterations,
        trials.len(),
        exact.count(),
    ))
}

struct Drill<'a> {
    args: &'a DrillResume,
    program: PathBuf,
    home: PathBuf,
    instance: Instance,
}

impl<'a> Drill<'a> {
    fn open(args: &'a DrillResume) -> Result<Drill<'a>> {
        let instance = Instance::open(&args.instance)?;
        instance.problem()?;
        let program = std::env::current_exe().context("the path of this program is not known")?;
        let home = match &args.out {
            Some(path) => path.clone(),
            None => std::env::temp_dir().join(format!("sortie-drill-{}", std::process::id())),
        };
        if home.exists() {
            bail!("{} is there already: give another --out", home.display());
        }
        std::fs::create_dir_all(&home)
            .map_err(|error| anyhow!("cannot make the folder {}: {}", home.display(), plain(&error)))?;
        Ok(Drill { args, program, home, instance })
    }

    fn remove(&self) {
        if self.args.out.is_none() {
            let _ = std::fs::remove_dir_all(&self.home);
        }
    }

    fn solve(&self, seed: u64, folder: &Path, cpu_seconds: Option<f64>) -> Result<Child> {
        let args = self.args;
        let mut command = Command::new(&self.program);
        command.arg("solve").arg(&args.instance);
        command.args(["--search", "nrpa", "--level", &args.level.to_string()]);
        command.args(["--iterations", &args.iterations.to_string(), "--seed", &seed.to_string()]);
        command.args(["--threads", "2", "--best-of", "2", "--checkpoint-every", "50ms", "--quiet", "--json"]);
        if let Some(seconds) = cpu_seconds {
            command.args(["--cpu-time", &format!("{seconds:.2}s")]);
        }
        spawn(command.arg("--out").arg(folder))
    }

    fn resume(&self, folder: &Path) -> Result<Child> {
        let mut command = Command::new(&self.program);
        command.arg("resume").arg(folder);
        spawn(command.args(["--checkpoint-every", "50ms", "--quiet", "--json"]))
    }

    /// The result of a run that nobody disturbs, and how long it took.
    fn undisturbed(&self, seed: u64) -> Result<(Value, f64)> {
        let begun = Instant::now();
        let child = self.solve(seed, &self.home.join(format!("whole-{seed}")), None)?;
        let result = end(child)?;
        Ok((result, begun.elapsed().as_secs_f64()))
    }

    /// Kills a run, goes on with it, and looks at what came of it.
    fn trial(
        &self,
        number: u64,
        seed: u64,
        exact: bool,
        whole: &Value,
        seconds: f64,
        rng: &mut Rng,
    ) -> Result<Trial> {
        let mut trial = Trial { seed, exact, kills: 0, moments: Vec::new(), faults: Vec::new() };
        let cpu_seconds = whole["cpu_seconds"].as_f64().unwrap_or(seconds);
        let mut share = 1.0;
        let mut tries = 0;
        // The kill must come before the end: the machine may be quicker than it was.
        let folder = loop {
            let folder = self.home.join(format!("run-{number}-{tries}"));
            let limit = (!exact).then_some(0.8 * cpu_seconds);
            let moment = rng.unit() * seconds * share * if exact { 1.0 } else { 0.8 };
            if kill_after(self.solve(seed, &folder, limit)?, &folder, moment)? {
                trial.moments.push(moment);
                break folder;
            }
            (tries, share) = (tries + 1, 0.7 * share);
            if tries == TRIES_MAX {
                bail!("the runs end before they can be killed: give more --iterations");
            }
        };
        trial.kills += 1;
        let mut announced = self.look(&folder, &mut trial.faults);
        for _ in 1..self.args.kills {
            let moment = rng.unit() * seconds * 0.5;
            if !kill_after(self.resume(&folder)?, &folder, moment)? {
                break;
            }
            trial.kills += 1;
            trial.moments.push(moment);
            let now = self.look(&folder, &mut trial.faults);
            announced = announced.into_iter().chain(now).reduce(f64::max);
        }
        match end(self.resume(&folder)?) {
            Err(error) => trial.faults.push(format!("it does not go on: {error:#}")),
            Ok(result) => {
                let score = result["score"].as_f64();
                if announced.is_some_and(|announced| score.is_none_or(|score| score < announced)) {
                    trial.faults.push(format!("{announced:?} was announced and the end is {score:?}"));
                }
                if exact && (result["moves"] != whole["moves"] || result["playouts"] != whole["playouts"]) {
                    trial.faults.push("it ended elsewhere than the undisturbed run".into());
                }
                self.look(&folder, &mut trial.faults);
            }
        }
        Ok(trial)
    }

    /// The best score that the events of a folder announce, after checking that its record has it.
    fn look(&self, folder: &Path, faults: &mut Vec<String>) -> Option<f64> {
        let text = std::fs::read_to_string(folder.join(EVENTS)).unwrap_or_default();
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let improved = events.filter(|event| event["event"] == "improved");
        let announced = improved.filter_map(|event| event["score"].as_f64()).reduce(f64::max)?;
        let check = || -> Result<f64> {
            let record = Record::parse(&std::fs::read_to_string(folder.join(RECORD))?)?;
            Ok(self.instance.verify(&record.moves)?.score)
        };
        match check() {
            Ok(score) if score >= announced => {}
            Ok(score) => faults.push(format!("{announced} was announced and the record has {score}")),
            Err(error) => {
                faults.push(format!("{announced} was announced and the record is broken: {error:#}"))
            }
        }
        Some(announced)
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().context("this program does not start as a process of its own")
}

/// Kills a child so many seconds after its folder has a spec, without which there is no run yet. False if it ended
/// before.
fn kill_after(mut child: Child, folder: &Path, seconds: f64) -> Result<bool> {
    let (begun, mut there) = (Instant::now(), None);
    loop {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        if there.is_none() && folder.join(SPEC).exists() {
            there = Some(Instant::now());
        }
        if there.is_some_and(|there: Instant| there.elapsed().as_secs_f64() >= seconds) {
            // On Unix this is SIGKILL.
            child.kill()?;
            child.wait()?;
            return Ok(true);
        }
        if begun.elapsed() > PATIENCE {
            child.kill()?;
            bail!("a run has not begun after {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(SLICE);
    }
}

/// The result of a child that comes to its end.
fn end(child: Child) -> Result<Value> {
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("it ended with {}", output.status);
    }
    serde_json::from_slice(&output.stdout).context("it printed no result")
}
