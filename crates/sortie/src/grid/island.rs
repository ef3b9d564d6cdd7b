//! Islands over a grid: one search whose calls are made by whoever is there. The search itself, its clock, checkpoints and
//! record stay with the client as on threads, and so does its answer: what a call brings depends on the call alone. A
//! sequence counts only with the score that it has by the rules.

use super::Spec as Grid;
use super::hands::{read, write};
use super::run::{Log, options};
use crate::folder::Folder;
use crate::source::Instance;
use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sortie_core::search::{Brought, Call, CallMaker, CallSource};
use sortie_core::{Control, JobId, JobSource, Limits, Nrpa, Search};
use sortie_grid::desk::NoClaims;
use sortie_grid::wire::Kind;
use sortie_grid::{GridSource, Hand, Told, drive};
use sortie_runs::spec::Spec;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a worker needs to know besides the calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IslandSpec {
    instance: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    nrpa: Nrpa,
    /// A score that is good enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
}

impl IslandSpec {
    /// The problem, if this program has it.
    pub fn open(&self) -> Result<Instance> {
        let instance = Instance::open_sent(&self.instance, self.text.as_deref())?;
        instance.problem()?;
        let search = Search::Nrpa(self.nrpa.clone());
        search.check()?;
        if !super::is_islands(&search) {
            bail!("parallel {}: expected islands", self.nrpa.parallel);
        }
        Ok(instance)
    }
}

/// Makes calls, one after the other.
pub struct IslandHand {
    instance: Instance,
    spec: IslandSpec,
}

impl IslandHand {
    /// Opens the problem.
    pub fn new(spec: IslandSpec) -> Result<IslandHand> {
        Ok(IslandHand { instance: spec.open()?, spec })
    }
}

impl Hand for IslandHand {
    fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String> {
        let call: Call = read(job)?;
        let problem = self.instance.problem().map_err(|error| error.to_string())?;
        let limits = Limits { target: self.spec.target, ..Limits::default() };
        let control = Control::new(limits, told.cancel, &|_| {});
        problem.call(&self.spec.nrpa, &call, &control).map(|brought| write(&brought)).transpose()
    }
}

/// The islands of a run, as a grid sees them.
struct Calls<'a>(&'a mut dyn CallSource);

impl JobSource for Calls<'_> {
    type Job = Call;
    type Answer = Brought;

    fn next(&mut self) -> Option<(JobId, Call)> {
        self.0.next()
    }

    fn done(&mut self, id: JobId, brought: Brought) -> bool {
        self.0.done(id, brought)
    }

    fn lost(&mut self, id: JobId) {
        self.0.lost(id);
    }

    fn finished(&self) -> bool {
        self.0.finished()
    }
}

impl GridSource for Calls<'_> {
    type Wire = Brought;

    fn accept(&mut self, id: JobId, brought: Brought, _: &str) -> bool {
        self.done(id, brought)
    }

    // Asked all the time: so a limit by the clock ends the run though no call has come back.
    fn called_off(&mut self) -> Vec<JobId> {
        self.0.look();
        Vec::new()
    }
}

/// Who has the calls of a run made.
pub struct Maker<'a> {
    grid: &'a Grid,
    spec: IslandSpec,
    folder: &'a Folder,
    quiet: bool,
    stop: &'a AtomicBool,
    /// What the grid did, or what ended the run early.
    outcome: Mutex<Result<Option<serde_json::Value>>>,
}

impl<'a> Maker<'a> {
    /// For the run in a folder.
    pub fn new(
        grid: &'a Grid,
        spec: &Spec,
        instance: &Instance,
        (folder, quiet): (&'a Folder, bool),
        stop: &'a AtomicBool,
    ) -> Result<Maker<'a>> {
        let Search::Nrpa(nrpa) = &spec.search else { bail!("only NRPA has islands") };
        grid.keep(&folder.path)?;
        let spec = IslandSpec {
            instance: spec.instance.clone(),
            text: instance.text.clone(),
            nrpa: nrpa.clone(),
            target: spec.limits.target,
        };
        Ok(Maker { grid, spec, folder, quiet, stop, outcome: Mutex::new(Ok(None)) })
    }

    /// What the grid did.
    pub fn end(self) -> Result<Option<serde_json::Value>> {
        self.outcome.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn work(&self, source: &mut dyn CallSource) -> Result<serde_json::Value> {
        let options = options(self.grid, Kind::Island, &self.spec.instance, &self.spec)?;
        let mut log = Log::open(self.folder, self.quiet)?;
        let worked = drive(&mut Calls(source), &options, &NoClaims, self.stop, &mut log);
        let closed = log.close();
        let tally = worked?;
        closed?;
        Ok(serde_json::to_value(tally)?)
    }
}

impl CallMaker for Maker<'_> {
    fn make(&self, source: &mut dyn CallSource) {
        let worked = self.work(source).map(Some);
        if worked.is_err() {
            // The run has nobody left: it ends and can be resumed.
            self.stop.store(true, Relaxed);
            source.look();
        }
        *self.outcome.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = worked;
    }
}
