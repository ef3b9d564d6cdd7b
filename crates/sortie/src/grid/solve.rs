//! Searches over a grid: K jobs, each a whole search on one core with a seed of its own, of which the best counts. Job i
//! has the seed of the run plus i, so `sortie solve --best-of 1 --seed` repeats it anywhere. The client replays every
//! solution by the rules before it counts.

use super::Spec as Grid;
use super::hands::{read, write};
use super::run::{Log, options};
use crate::Verdict;
use crate::folder::{Folder, RECORD, RESULT};
use crate::journal::{self, Journal};
use crate::mailbox::Found;
use crate::output::{self, score};
use crate::scribe::record;
use crate::source::Instance;
use anyhow::{Context, Result, bail};
use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sortie_core::job::Ledger;
use sortie_core::{BestOf, Control, JobId, JobSource, Limits, Search, Solution, StopReason};
use sortie_grid::desk::NoClaims;
use sortie_grid::wire::Kind;
use sortie_grid::{GridSource, Hand, Told, drive};
use sortie_runs::kind::SEARCHES;
use sortie_runs::result::RunResult;
use sortie_runs::spec::Spec;
use std::time::Instant;

/// No search is said to have made more.
const PLAYOUTS_MAX: u64 = 1 << 44;

/// What a worker needs to know besides the seed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SolveSpec {
    instance: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    search: Search,
    #[serde(default)]
    limits: Limits,
}

impl SolveSpec {
    /// The problem, if this program has it.
    pub fn open(&self) -> Result<Instance> {
        let instance = Instance::open_sent(&self.instance, self.text.as_deref())?;
        instance.problem()?;
        self.search.check()?;
        Ok(instance)
    }
}

/// A search that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    job: u64,
    seed: u64,
    score: f64,
    moves: Vec<String>,
    playouts: u64,
    cpu_seconds: f64,
}

/// Runs whole searches, one after the other.
pub struct SolveHand {
    instance: Instance,
    spec: SolveSpec,
}

impl SolveHand {
    /// Opens the problem.
    pub fn new(spec: SolveSpec) -> Result<SolveHand> {
        Ok(SolveHand { instance: spec.open()?, spec })
    }
}

impl Hand for SolveHand {
    fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String> {
        let (job, seed): (u64, u64) = read(job)?;
        let control = Control::new(self.spec.limits.clone(), told.cancel, &|_| {});
        let search = BestOf { search: self.spec.search.clone(), seed, streams: 1, threads: 1 };
        let problem = self.instance.problem().map_err(|error| error.to_string())?;
        let begun = ThreadTime::now();
        let outcomes = problem.solve(&search, &control, Vec::new());
        if outcomes.reason == StopReason::Asked {
            return Ok(None);
        }
        let Some(best) = outcomes.best else { return Err("it ended before its first playout".into()) };
        let (playouts, cpu_seconds) = (outcomes.playouts, begun.elapsed().as_secs_f64());
        write(&Ended { job, seed, score: best.score, moves: best.moves, playouts, cpu_seconds }).map(Some)
    }
}

/// The run, as a grid sees it.
struct Searches<'a> {
    spec: &'a Spec,
    instance: &'a Instance,
    folder: &'a Folder,
    journal: Journal,
    ledger: Ledger,
    ended: Vec<Ended>,
    begun: Instant,
    quiet: bool,
    trouble: Option<anyhow::Error>,
}

impl Searches<'_> {
    fn best(&self) -> Option<&Ended> {
        // Of equal ones the first job's, whoever was faster.
        self.ended.iter().min_by(|a, b| b.score.total_cmp(&a.score).then(a.job.cmp(&b.job)))
    }

    /// Whether it is the answer to this job, by the rules.
    fn is_sound(&self, job: u64, ended: &Ended) -> bool {
        let replayed = self.instance.verify(&ended.moves);
        ended.job == job
            && ended.seed == self.spec.seed.wrapping_add(job)
            && (0.0..1e9).contains(&ended.cpu_seconds)
            && ended.playouts < PLAYOUTS_MAX
            && replayed.is_ok_and(|position| position.score == ended.score)
    }

    /// Writes an answer down before it counts.
    fn take(&mut self, ended: Ended) -> Result<()> {
        self.journal.append(&ended)?;
        self.ended.push(ended.clone());
        if self.best() == Some(&ended) {
            let seconds = self.begun.elapsed().as_secs_f64();
            let text = record(self.spec, &found(&ended, seconds)).to_text();
            self.folder.write(RECORD, text.as_bytes()).context("cannot write the record")?;
            if !self.quiet {
                let (done, all) = (self.ended.len(), self.spec.streams);
                output::say(&format!(
                    "best {} (seed {}), {done} of {all} searches",
                    score(ended.score),
                    ended.seed
                ));
            }
        }
        Ok(())
    }
}

fn found(ended: &Ended, seconds: f64) -> Found {
    let solution = Solution { score: ended.score, moves: ended.moves.clone() };
    Found { stream: ended.job as u32, playouts: ended.playouts, seconds, solution }
}

impl JobSource for Searches<'_> {
    type Job = (u64, u64);
    type Answer = Ended;

    fn next(&mut self) -> Option<(JobId, (u64, u64))> {
        let job = self.ledger.next(u64::from(self.spec.streams))?;
        Some((JobId(job), (job, self.spec.seed.wrapping_add(job))))
    }

    fn done(&mut self, id: JobId, ended: Ended) -> bool {
        if !self.is_sound(id.0, &ended) {
            self.lost(id);
            return false;
        }
        let wanted = self.ledger.done(id.0);
        if wanted && let Err(trouble) = self.take(ended) {
            self.trouble.get_or_insert(trouble);
        }
        wanted
    }

    fn lost(&mut self, id: JobId) {
        self.ledger.lost(id.0);
    }

    fn finished(&self) -> bool {
        let target = self.spec.limits.target;
        let reached = target.is_some_and(|target| self.best().is_some_and(|best| best.score >= target));
        self.trouble.is_some() || reached || self.ended.len() as u64 >= u64::from(self.spec.streams)
    }
}

impl GridSource for Searches<'_> {
    type Wire = Ended;

    fn accept(&mut self, id: JobId, ended: Ended, _: &str) -> bool {
        self.done(id, ended)
    }
}

/// Runs the searches of a folder that have not ended yet; `spec.streams` says how many there are.
pub fn run(
    grid: &Grid,
    spec: &Spec,
    instance: &Instance,
    folder: &Folder,
    (json, quiet): (bool, bool),
) -> Result<Verdict> {
    grid.fits(&spec.limits)?;
    grid.keep(&folder.path)?;
    let path = folder.path.join(SEARCHES);
    let ended: Vec<Ended> = journal::read(&path)?;
    let mut ledger = Ledger::default();
    for (line, number) in ended.iter().zip(1..) {
        if line.job >= u64::from(spec.streams) || !ledger.known(line.job) {
            bail!("{}:{number}: job {} is there twice, or not of this run", path.display(), line.job);
        }
    }
    if !quiet {
        let (all, before) = (spec.streams, ended.len());
        output::say(&format!(
            "{all} searches of {} in {}, {before} done before",
            spec.instance,
            folder.path.display()
        ));
    }
    let work = SolveSpec {
        instance: spec.instance.clone(),
        text: instance.text.clone(),
        search: spec.search.clone(),
        limits: spec.limits.clone(),
    };
    let options = options(grid, Kind::Solve, &spec.instance, &work)?;
    let stop = crate::session::stop_on_signals()?;
    let journal = Journal::open(folder, SEARCHES)?;
    let (begun, trouble) = (Instant::now(), None);
    let mut searches = Searches { spec, instance, folder, journal, ledger, ended, begun, quiet, trouble };
    let mut log = Log::open(folder, quiet)?;
    let worked = drive(&mut searches, &options, &NoClaims, &stop, &mut log);
    let closed = log.close();
    searches.journal.sync()?;
    if let Some(trouble) = searches.trouble {
        return Err(trouble);
    }
    let (finished, tally) = (searches.finished(), worked?);
    closed?;
    if !finished {
        crate::contest::say_stopped(&folder.path);
    }
    let Some(best) = searches.best() else { return Ok(Verdict::NotFound) };
    let position = instance.verify(&best.moves)?;
    let missed = spec.limits.target.is_some_and(|target| best.score < target);
    let reason = match (finished, missed, spec.limits.target) {
        (false, ..) => StopReason::Asked,
        (true, false, Some(_)) => StopReason::Target,
        _ => StopReason::Done,
    };
    let result = RunResult::new(spec, &folder.path, &found(best, 0.0).solution, instance.best_known()).ended(
        searches.ended.iter().map(|ended| ended.playouts).sum(),
        begun.elapsed().as_secs_f64(),
        searches.ended.iter().map(|ended| ended.cpu_seconds).sum(),
        reason,
    );
    let result = result.told(output::objectives(instance, best.score));
    let mut result = result.to_json(&position);
    result.insert("grid".into(), serde_json::to_value(tally)?);
    let text = serde_json::to_string_pretty(&result)? + "\n";
    folder.write(RESULT, text.as_bytes()).with_context(|| format!("cannot write {RESULT}"))?;
    match json {
        true => output::print_json(&result)?,
        false => {
            output::print(&output::human(&result, instance, &position, &folder.path))?;
            output::print(&super::tally_text(&result["grid"]))?;
        }
    }
    Ok(if missed && finished { Verdict::NotFound } else { Verdict::Done })
}
