//! `sortie solve`: everything is checked before the first file is written.

use crate::args::{LimitArgs, Solve};
use crate::folder::{FORMAT, Folder};
use crate::session::{Session, Told};
use crate::source::{Instance, Source};
use crate::{Verdict, policy, searches};
use anyhow::{Context, Result, bail};
use sortie_core::{Limits, Record, Search};
use sortie_runs::spec::Spec;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

/// A run that was given no end lasts so long.
const FIRST_MINUTE: f64 = 60.0;
/// Seeds that are drawn stay short enough to be typed.
const DRAWN_SEED_MAX: u64 = 1_000_000_000;

/// Runs the command.
pub fn run(args: &Solve) -> Result<Verdict> {
    match &args.instances[..] {
        [one] if args.seeds.is_none() => {
            let told = if args.report.json { Told::Json } else { Told::Whole };
            single(args, one, args.seed, args.out.as_deref(), told)
        }
        _ => super::solve_many::run(args),
    }
}

/// Runs one search of one instance.
pub fn single(
    args: &Solve,
    name: &str,
    seed: Option<u64>,
    out: Option<&Path>,
    told: Told,
) -> Result<Verdict> {
    let instance = Instance::open_or_first(name)?;
    let suits = instance.problem()?.suits();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let threads = args.threads.unwrap_or(cores);
    let settled = searches::settle(&args.search, &suits);
    let (search, streams) = searches::divide(&settled, args.best_of, threads)?;
    let search = searches::build(&search)?;
    let policy = policy::open(&args.policy, &instance)?;
    let limits = limits(&args.limits, &search, args.search.level.is_some() || args.search.width.is_some())?;
    let grid = crate::grid::Spec::of(&args.grid.grid, None)?;
    if let Some(grid) = &grid {
        grid.fits(&limits)?;
    }
    let (streams, threads) = match &grid {
        Some(_) if policy.is_some() => {
            bail!("--policy: networks are for the searches of this machine, not of a grid")
        }
        Some(_) if args.best_of.is_some() => bail!("--best-of: over a grid --jobs says how many searches"),
        Some(_) if crate::grid::is_islands(&search) => (1, 1),
        Some(_) => (args.grid.jobs, 1),
        None => (streams, threads),
    };
    let spec = Spec {
        format: FORMAT,
        sortie: env!("CARGO_PKG_VERSION").into(),
        instance: instance.name.clone(),
        seed: seed.unwrap_or_else(draw_seed),
        streams,
        threads,
        search,
        policy: policy.as_ref().map(|policy| policy.spec.clone()),
        limits,
    };
    let from = args.from.as_deref().map(|path| start(path, &instance)).transpose()?;
    if from.is_some() && grid.is_some() {
        bail!("--from: searches over a grid begin with nothing");
    }
    let folder = match out {
        Some(path) => Folder::create(path, &spec, instance.text.as_deref())?,
        None => Folder::create_fresh(&spec, instance.text.as_deref())?,
    };
    if let Some(policy) = &policy {
        let written = folder.write(policy::POLICY, &policy.bytes);
        written.with_context(|| folder.path.join(policy::POLICY).display().to_string())?;
    }
    let islands = crate::grid::is_islands(&spec.search);
    if let Some(grid) = grid.as_ref().filter(|_| !islands) {
        return crate::grid::solve::run(
            grid,
            &spec,
            &instance,
            &folder,
            (args.report.json, args.report.quiet),
        );
    }
    let session = Session {
        spec,
        instance,
        guide: policy.map(|policy| policy.guide),
        folder,
        checkpoint: None,
        best: from,
        resumed: false,
        on_improve: args.on_improve.clone(),
        checkpoint_every: args.checkpoint_every,
        grid,
        told,
        quiet: args.report.quiet || told == Told::Line,
    };
    session.run()
}

/// A solution to begin with, replayed by the rules of the instance.
fn start(path: &Path, instance: &Instance) -> Result<Record> {
    let record = Source::read(path)?.record;
    let end = instance
        .verify(&record.moves)
        .with_context(|| format!("--from {}: not a solution of {}", path.display(), instance.name))?;
    Ok(Record { instance: instance.name.clone(), score: end.score, ..record })
}

/// The limits asked for. None at all: one whole search if its level or width was chosen, else a minute.
fn limits(args: &LimitArgs, search: &Search, size_chosen: bool) -> Result<Limits> {
    if let Some(target) = args.target
        && !target.is_finite()
    {
        bail!("--target {target}: expected a number");
    }
    let mut limits = Limits {
        playouts: args.playouts,
        seconds: args.time,
        cpu_seconds: args.cpu_time,
        target: args.target,
        patience: args.patience,
    };
    let endless = matches!(search, Search::Sample(_)) || !size_chosen;
    if limits.is_empty() && endless {
        limits.seconds = Some(FIRST_MINUTE);
    }
    Ok(limits)
}

/// A random seed. The keys of a `RandomState` come from the operating system.
pub fn draw_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) % DRAWN_SEED_MAX
}
