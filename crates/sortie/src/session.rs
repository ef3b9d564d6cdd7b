//! One session of a run: the searches on their threads, the scribe on its own, and the end. `solve` begins a run with
//! it and `resume` goes on with one.

use crate::checkpoint::Checkpoint;
use crate::folder::{self, Folder};
use crate::grid::island::Maker;
use crate::hook::Hook;
use crate::mailbox::{Found, Mailbox};
use crate::output;
use crate::progress::{Progress, RunTeller};
use crate::scribe::{Scribe, record};
use crate::source::Instance;
use crate::{Verdict, clock, searches};
use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use sortie_core::prior::Guide;
use sortie_core::run::StreamCheckpoint;
use sortie_core::search::{CallMaker, Outcomes};
use sortie_core::{Control, Record, Rng, Solution, StopReason};
use sortie_runs::event::Event;
use sortie_runs::result::RunResult;
use sortie_runs::spec::Spec;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How the end of a session is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// The position and all about it.
    Whole,
    /// In one line, as one of many.
    Line,
    /// As JSON.
    Json,
    /// Not at all: somebody else reads the folder.
    Nothing,
}

/// What a session is about.
pub struct Session {
    /// What to run.
    pub spec: Spec,
    /// On what.
    pub instance: Instance,
    /// What weighs the moves, if the spec has a policy.
    pub guide: Option<Guide>,
    /// Where it is kept.
    pub folder: Folder,
    /// Where an earlier session left the streams.
    pub checkpoint: Option<Checkpoint>,
    /// The best record of an earlier session.
    pub best: Option<Record>,
    /// Whether there was an earlier session.
    pub resumed: bool,
    /// How often each stream saves its state, in seconds.
    pub checkpoint_every: f64,
    /// Who makes the calls of its islands, if not the threads of this process.
    pub grid: Option<crate::grid::Spec>,
    /// What is run whenever a better solution is on disk.
    pub on_improve: Option<String>,
    /// How the end is told.
    pub told: Told,
    /// No progress.
    pub quiet: bool,
}

impl Session {
    /// Runs to the end, or until somebody asks to stop, and prints the result.
    pub fn run(self) -> Result<Verdict> {
        let stop = stop_on_signals()?;
        let Session { spec, instance, folder, .. } = &self;
        let before = self.checkpoint.clone().unwrap_or_else(|| Checkpoint {
            identity: spec.identity(),
            seconds: 0.0,
            cpu_seconds: 0.0,
            streams: Vec::new(),
        });
        let mailbox =
            Mailbox::new(spec.streams, self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.score));
        mailbox.begin_at(&before.streams);
        let mut control = Control::new(spec.limits.clone(), &stop, &mailbox);
        control.checkpoint_every = Some(Duration::from_secs_f64(self.checkpoint_every));
        control.seconds_before = before.seconds;
        control.cpu_seconds_before = before.cpu_seconds;
        control.guide = self.guide.clone();
        let maker = match &self.grid {
            Some(grid) => Some(Maker::new(grid, spec, instance, (folder, self.quiet), &stop)?),
            None => None,
        };
        control.calls = maker.as_ref().map(|maker| maker as &dyn CallMaker);
        let mut resume = before.streams.clone();
        let started = self.best.as_ref().filter(|_| !self.resumed);
        if let Some(best) = started {
            control.start = Some(best.moves.clone());
            resume.extend(begun_with(spec, best));
        }
        let progress = Progress::new(self.quiet, control.seconds());
        let hook = self.on_improve.as_deref();
        let hook = hook.map(|command| Hook::new(command, &folder.path, &spec.instance));
        let teller = Box::new(RunTeller::new(instance, progress, hook));
        let mut scribe = Scribe::new((folder, spec), (&control, &mailbox), self.best.clone(), before, teller);
        if let Some(best) = started {
            // What it begins with is there from the beginning, whatever becomes of the search.
            scribe.write_record(best.clone());
        }
        self.announce(&mut scribe, &control, &mailbox);

        let problem = instance.problem()?;
        let (outcomes, mut scribe) = std::thread::scope(|scope| {
            let scribe = scope.spawn(|| scribe.run());
            // Also when the search panics: the scribe must come to its end.
            let closing = Closing(&mailbox);
            let outcomes = problem.solve(&spec.best_of(), &control, resume);
            drop(closing);
            (outcomes, scribe.join().expect("the scribe does not panic"))
        });
        let concluded = self.conclude(&outcomes, &mut scribe, &control);
        drop(scribe);
        // Whatever the grid did, what was found before is told and kept.
        control.calls = None;
        let grid = maker.map(Maker::end).transpose();
        match (concluded, grid) {
            (Ok(verdict), Ok(Some(Some(tally)))) if self.told == Told::Whole => {
                output::print(&crate::grid::tally_text(&tally))?;
                Ok(verdict)
            }
            (Ok(verdict), Ok(_)) => Ok(verdict),
            (Err(error), _) | (_, Err(error)) => Err(error),
        }
    }

    fn announce(&self, scribe: &mut Scribe, control: &Control, mailbox: &Mailbox) {
        let spec = &self.spec;
        let event = if self.resumed {
            Event::Resumed {
                time: clock::now(),
                seconds: control.seconds(),
                playouts: mailbox.playouts(),
                best: self.best.as_ref().map(|best| best.score),
                threads: spec.threads,
            }
        } else {
            Event::Started {
                time: clock::now(),
                instance: spec.instance.clone(),
                search: spec.search.clone(),
                seed: spec.seed,
                streams: spec.streams,
                threads: spec.threads,
                limits: spec.limits.clone(),
                version: spec.sortie.clone(),
            }
        };
        scribe.event(event);
        if !self.quiet {
            let verb = if self.resumed { "going on with" } else { "solving" };
            let policy =
                spec.policy.as_ref().map_or(String::new(), |policy| format!(", {}", policy.describe()));
            output::say(&format!("{verb} {} by {}{policy}", spec.instance, searches::describe(&spec.search)));
            output::say(&format!(
                "seed {}, best of {}, threads {}, in {}",
                spec.seed,
                spec.streams,
                spec.threads,
                self.folder.path.display(),
            ));
        }
    }

    /// The end: the best of this session and the earlier ones is written down and printed.
    fn conclude(&self, outcomes: &Outcomes, scribe: &mut Scribe, control: &Control) -> Result<Verdict> {
        let (seconds, cpu_seconds) = (control.seconds(), control.cpu_seconds());
        let Some(found) = best_of_all(outcomes, self.best.as_ref(), seconds) else {
            output::say("sortie: the run ended before its first playout: give it a larger limit");
            return Ok(Verdict::NotFound);
        };
        let best = &found.solution;
        // What is printed has been replayed like a stranger's record.
        let position = self.instance.verify(&best.moves).with_context(|| {
            format!(
                "the search returned moves that do not replay: a bug in the domain of {}",
                self.spec.instance
            )
        })?;
        let same = |saved: &Record| saved.score == best.score && saved.moves == best.moves;
        // Also when the folder has vanished since.
        if !scribe.saved.as_ref().is_some_and(same) || !self.folder.path.join(folder::RECORD).exists() {
            scribe.write_record(record(&self.spec, &found));
        }
        let (playouts, reason) = (outcomes.playouts, outcomes.reason);
        let result = RunResult::new(&self.spec, &self.folder.path, best, self.instance.best_known());
        let result = result.told(output::objectives(&self.instance, best.score));
        let result = result.ended(playouts, seconds, cpu_seconds, reason).to_json(&position);
        let (time, score) = (clock::now(), best.score);
        scribe.event(Event::Finished { time, seconds, cpu_seconds, playouts, score, reason });
        let text = serde_json::to_string_pretty(&result)?;
        let written = self.folder.write(folder::RESULT, (text + "\n").as_bytes());
        scribe.check(folder::RESULT, written);
        match self.told {
            Told::Json => output::print_json(&result)?,
            Told::Line => output::print(&format!(
                "{} seed {}: {}{}",
                self.spec.instance,
                self.spec.seed,
                self.instance.told(best.score),
                output::compare(&self.instance, best.score)
            ))?,
            Told::Nothing => {}
            Told::Whole => {
                output::print(&output::human(&result, &self.instance, &position, &self.folder.path))?
            }
        }
        if self.told == Told::Whole && scribe.trouble {
            // The folder does not have it: here it is.
            output::print(&format!("\n{}", record(&self.spec, &found).to_text()))?;
        }
        let missed = self.spec.limits.target.is_some_and(|target| best.score < target);
        Ok(if missed && outcomes.reason != StopReason::Asked { Verdict::NotFound } else { Verdict::Done })
    }
}

/// Every stream as it is before its first playout, but for a solution that it has already.
fn begun_with(spec: &Spec, best: &Record) -> Vec<StreamCheckpoint> {
    let solution = Solution { score: best.score, moves: best.moves.clone() };
    let stream = |stream: u32| StreamCheckpoint {
        stream,
        rng: Rng::new(spec.seed, stream.into()),
        playouts: 0,
        improved_at: 0,
        best: Some(solution.clone()),
        ended: None,
        search: Vec::new(),
    };
    (0..spec.streams).map(stream).collect()
}

/// Prints the result of a run that has ended.
pub fn print_ended(
    folder: &Folder,
    spec: &Spec,
    instance: &Instance,
    result: Value,
    json: bool,
) -> Result<Verdict> {
    let Value::Object(mut result) = result else { return Err(anyhow!("{}: not a result", folder::RESULT)) };
    // The folder may have been moved since.
    result.insert("folder".into(), output::path(&folder.path));
    result.insert("record".into(), output::path(&folder.path.join(folder::RECORD)));
    if json {
        output::print_json(&result)?;
        return Ok(Verdict::Done);
    }
    let moves: Vec<String> =
        result.get("moves").cloned().map(serde_json::from_value).transpose()?.unwrap_or_default();
    let position =
        instance.verify(&moves).with_context(|| format!("{} of {}", folder::RESULT, spec.instance))?;
    output::print(&output::human(&result, instance, &position, &folder.path))?;
    Ok(Verdict::Done)
}

/// The best of this session, or the record of an earlier one if that is better still. Of equal ones that of this
/// session: which is then the lowest stream's, as if there had been no interruption.
fn best_of_all(outcomes: &Outcomes, earlier: Option<&Record>, seconds: f64) -> Option<Found> {
    let now = outcomes.best.as_ref();
    if let Some(record) = earlier
        && now.is_none_or(|best| record.score > best.score)
    {
        let solution = Solution { score: record.score, moves: record.moves.clone() };
        return Some(Found { stream: 0, playouts: 0, seconds, solution });
    }
    let best = now?;
    let stream = outcomes.streams.iter().find(|stream| stream.best.as_ref() == Some(best))?;
    Some(Found { stream: stream.stream, playouts: stream.improved_at, seconds, solution: best.clone() })
}

/// The first Ctrl-C or SIGTERM raises the flag, the second ends the process at once.
pub fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for (signal, code) in [(SIGINT, 130), (SIGTERM, 143)] {
        // In this order: the first signal finds the flag still down.
        flag::register_conditional_shutdown(signal, code, stop.clone())?;
        flag::register(signal, stop.clone())?;
    }
    // A limit on the size of files is then an error like a full disk, and not the end of the process.
    #[cfg(unix)]
    flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    Ok(stop)
}

struct Closing<'a>(&'a Mailbox);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
