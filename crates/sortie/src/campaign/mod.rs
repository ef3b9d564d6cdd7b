//! `sortie campaign`: many searches over many instances, each tried where it pays. The choice and the books are in
//! `engine.rs`, what a campaign is about in `plan.rs`; here are the folder, the threads and what is printed.
//!
//! A record is written before the journal mentions it, and the journal is all that a campaign is resumed from: killed at
//! any point, it loses the tries under way.

mod engine;
mod plan;

use crate::args::ReportArgs;
use crate::journal::{self, Journal};
use crate::output::{self, number, rounded};
use crate::source::{Instance, read_text};
use crate::{Verdict, clock, duration, folder, searches, session};
use anyhow::{Context, Result, anyhow, bail};
use engine::{Campaign, Tried, Try};
use plan::{BUILT_IN, Plan};
use serde_json::{Value, json};
use sortie_core::{BestOf, Control, Event, Limits, Record};
use sortie_runs::kind::{CAMPAIGN, TRIES};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// `sortie campaign`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file, or one of ours by name; none: list ours
    pub campaign: Option<String>,
    /// Time of all tries added up over the threads, those of earlier sessions included
    #[arg(long, value_name = "TIME", value_parser = duration::parse, allow_hyphen_values = true, default_value = "10m")]
    pub time: f64,
    /// Threads, a try each [default: the number of processors]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// The folder, new or of the same campaign, which goes on [default: runs/campaign-NAME]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportArgs,
}

const RECORDS: &str = "records";
/// No plan is larger than this.
const PLAN_BYTES_MAX: u64 = 1 << 20;

/// Runs the command.
pub fn run(args: &Args) -> Result<Verdict> {
    let Some(name) = &args.campaign else {
        let lines: Vec<String> = BUILT_IN.iter().map(|(name, about)| format!("{name:16} {about}")).collect();
        output::print(&lines.join("\n"))?;
        return Ok(Verdict::Done);
    };
    let plan = match Plan::built_in(name) {
        Some(plan) => plan,
        None => {
            let text = read_text(Path::new(name), PLAN_BYTES_MAX)
                .map_err(|message| anyhow!("{name}: {message}; `sortie campaign` lists ours"))?;
            Plan::parse(&text).with_context(|| name.clone())?
        }
    };
    for cell in &plan.cells {
        Instance::open(&cell.instance)?.problem()?;
    }
    let path = args.out.clone().unwrap_or_else(|| Path::new("runs").join(format!("campaign-{}", plan.name)));
    go_on(plan, &path, |_| args.time, args.threads, (args.report.json, args.report.quiet))
}

/// Goes on with the campaign in a folder, for so much more time.
pub fn resume(
    path: &Path,
    more: Option<f64>,
    threads: Option<u32>,
    json: bool,
    quiet: bool,
) -> Result<Verdict> {
    let file = path.join(CAMPAIGN);
    let text =
        read_text(&file, PLAN_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", file.display()))?;
    let plan = Plan::parse(&text).with_context(|| file.display().to_string())?;
    let Some(more) = more else {
        bail!("{}: a campaign has no end of its own: give --time for how much longer", path.display())
    };
    go_on(plan, path, |campaign| campaign.seconds() + more, threads, (json, quiet))
}

/// Makes tries in a folder until they have taken so much time.
fn go_on(
    plan: Plan,
    path: &Path,
    seconds_max: impl FnOnce(&Campaign) -> f64,
    threads: Option<u32>,
    (json, quiet): (bool, bool),
) -> Result<Verdict> {
    sortie_disk::create_dir_all(&path.join(RECORDS)).with_context(|| path.display().to_string())?;
    let folder = folder::lock(path)?;
    let campaign = open(path, plan)?;
    let seconds_max = seconds_max(&campaign);
    let stop = session::stop_on_signals()?;
    let office = Office {
        campaign: Mutex::new((campaign, Journal::open(&folder, TRIES)?)),
        path,
        seconds_max,
        stop: &stop,
        quiet,
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let threads = threads.unwrap_or(cores);
    let ends: Vec<Result<()>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| office.work())).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect()
    });
    let (campaign, mut journal) = office.campaign.into_inner().unwrap_or_else(PoisonError::into_inner);
    journal.sync()?;
    ends.into_iter().collect::<Result<()>>()?;
    if json {
        output::print_json(&to_json(&campaign, path))?;
    } else {
        output::print(&table(&campaign))?;
    }
    Ok(Verdict::Done)
}

/// The campaign of a folder as its journal tells it; a new one where there is none.
fn open(path: &Path, plan: Plan) -> Result<Campaign> {
    let file = path.join(CAMPAIGN);
    let text = toml::to_string(&plan)?;
    if file.exists() {
        let kept =
            read_text(&file, PLAN_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", file.display()))?;
        if Plan::parse(&kept).with_context(|| file.display().to_string())? != plan {
            bail!("{}: holds another campaign: give another --out", path.display());
        }
    } else {
        folder::write_whole(&file, text.as_bytes()).with_context(|| file.display().to_string())?;
    }
    let mut campaign = Campaign::new(plan);
    for tried in journal::read::<Tried>(&path.join(TRIES))? {
        if !campaign.knows(&tried.what) {
            bail!("{}: a try of another campaign", path.join(TRIES).display());
        }
        campaign.record(&tried);
    }
    Ok(campaign)
}

/// What the threads have in common.
struct Office<'a> {
    campaign: Mutex<(Campaign, Journal)>,
    path: &'a Path,
    seconds_max: f64,
    stop: &'a AtomicBool,
    quiet: bool,
}

impl Office<'_> {
    /// Try after try, until the time is up or somebody asks to stop.
    fn work(&self) -> Result<()> {
        loop {
            let (what, cell, form, spec, seconds) = {
                let mut books = self.campaign.lock().unwrap_or_else(PoisonError::into_inner);
                let campaign = &mut books.0;
                if self.stop.load(Ordering::Relaxed) || campaign.seconds() >= self.seconds_max {
                    return Ok(());
                }
                let what = campaign.choose();
                let spec = BestOf {
                    search: campaign.plan.searches[what.search].clone(),
                    seed: campaign.seed(&what),
                    streams: 1,
                    threads: 1,
                };
                let cell = &campaign.plan.cells[what.cell];
                let form = cell.form(what.form, what.number);
                (what, cell.instance.clone(), form, spec, campaign.plan.slice_seconds)
            };
            // Of the clock: the processor's time of one thread is not to be had, and on a busy machine a try is worth less.
            let limits = Limits { seconds: Some(seconds), ..Limits::default() };
            let control = Control::new(limits, self.stop, &|_: Event| ());
            let found = attempt(&cell, &form, &spec, &control)?;
            if found.is_none() && self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.keep(what, &cell, &form, found, control.seconds())?;
        }
    }

    /// Enters a try into the books; its record first, if it is the best of its cell.
    fn keep(
        &self,
        what: Try,
        cell: &str,
        form: &str,
        found: Option<(f64, Vec<String>)>,
        seconds: f64,
    ) -> Result<()> {
        let mut books = self.campaign.lock().unwrap_or_else(PoisonError::into_inner);
        let (campaign, journal) = &mut *books;
        let tried =
            Tried { score: found.as_ref().map(|(score, _)| *score), seconds, time: clock::now(), what };
        let known = campaign.bests[tried.what.cell].score;
        if let Some((score, moves)) = found
            && known.is_none_or(|known| score > known)
        {
            let search = searches::describe(&campaign.plan.searches[tried.what.search]);
            let fields = vec![
                ("source".to_string(), format!("found by Sortie: {form}, {search}")),
                ("seed".to_string(), campaign.seed(&tried.what).to_string()),
                ("found".to_string(), tried.time.clone()),
            ];
            let record = Record { instance: cell.to_string(), score, fields, moves };
            let file = self.path.join(RECORDS).join(format!("{}.record", file_name(cell)));
            if worth(&file, cell).is_none_or(|kept| score > kept) {
                folder::write_whole(&file, record.to_text().as_bytes())
                    .with_context(|| file.display().to_string())?;
                if !self.quiet {
                    output::say(&format!("{cell}: {} in {form} by {search}", output::score(score)));
                }
            }
        }
        campaign.record(&tried);
        Ok(journal.append(&tried)?)
    }
}

/// What the record of a cell is worth that is there. A loss of power may have kept it without the try that found it.
fn worth(file: &Path, cell: &str) -> Option<f64> {
    let record = Record::parse(&read_text(file, PLAN_BYTES_MAX).ok()?).ok()?;
    Some(Instance::open(cell).ok()?.verify(&record.moves).ok()?.score)
}

/// One try: the best of a form as a solution of the cell, replayed there. `None` if nothing was found that is one, or if
/// the form that was drawn does not exist.
fn attempt(cell: &str, form: &str, spec: &BestOf, control: &Control) -> Result<Option<(f64, Vec<String>)>> {
    let plain = Instance::open(cell)?;
    let Ok(instance) = Instance::open(form) else { return Ok(None) };
    let Some(best) = instance.problem()?.solve(spec, control, Vec::new()).best else { return Ok(None) };
    if cell == form {
        let end = plain.verify(&best.moves)?;
        return Ok(Some((end.score, best.moves)));
    }
    // A form says its solution in the words of the plain instance below the first line of what it shows.
    let shown = instance.position(&best.moves)?.text;
    let words: Vec<String> =
        shown.lines().skip(1).flat_map(str::split_whitespace).map(str::to_string).collect();
    Ok(match plain.verify(&words) {
        Ok(end) if end.score == best.score => Some((end.score, words)),
        _ => None,
    })
}

/// An instance as the name of a file.
fn file_name(instance: &str) -> String {
    instance.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect()
}

fn table(campaign: &Campaign) -> String {
    let mut text = format!("{:24} {:>8} {:>8} {:>6} {:>9}  how\n", "cell", "known", "ours", "tries", "s");
    for (cell, best) in campaign.plan.cells.iter().zip(&campaign.bests) {
        let shown = |score: Option<f64>| score.map_or("-".into(), output::score);
        let how = match best.score {
            Some(_) => format!(
                "{}  {}  {}",
                best.time,
                best.form,
                searches::describe(&campaign.plan.searches[best.search])
            ),
            None => String::new(),
        };
        text += &format!(
            "{:24} {:>8} {:>8} {:>6} {:>9.1}  {how}\n",
            cell.instance,
            shown(cell.known),
            shown(best.score),
            best.tries,
            best.seconds
        );
    }
    let (above, level, below) = campaign.standing();
    text + &format!("{above} above what was known, {level} level, {below} below")
}

fn to_json(campaign: &Campaign, path: &Path) -> Value {
    let cells = campaign.plan.cells.iter().zip(&campaign.bests).map(|(cell, best)| {
        json!({
            "instance": cell.instance,
            "known": cell.known.map(number),
            "score": best.score.map(number),
            "time": best.score.map(|_| &best.time),
            "form": best.score.map(|_| &best.form),
            "search": best.score.map(|_| &campaign.plan.searches[best.search]),
            "tries": best.tries,
            "seconds": rounded(best.seconds),
        })
    });
    let (above, level, below) = campaign.standing();
    json!({
        "campaign": campaign.plan.name,
        "folder": output::path(path),
        "above": above,
        "level": level,
        "below": below,
        "cells": cells.collect::<Vec<_>>(),
    })
}
