//! `lab bench playouts`: the speed of a search on one thread. The rate is per second of CPU time, so that a busy
//! machine does not change it much. The other benches measure games: see `games`.

pub mod db;
pub mod default;
pub mod games;
#[cfg(feature = "grid")]
pub mod grid;
pub mod joblevel;
pub mod messages;
#[cfg(feature = "neural")]
pub mod neural;
pub mod parents;
#[cfg(feature = "neural")]
pub mod policy;
pub mod solved;
pub mod tuning;

use crate::args::BenchPlayouts;
use crate::output::{self, count, number, rounded, score};
use crate::source::Instance;
use crate::{Verdict, searches};
use anyhow::{Result, bail};
use serde_json::json;
use sortie_core::prior::Guide;
use sortie_core::search::Outcomes;
use sortie_core::{AnyProblem, BestOf, Control, Limits};
use std::sync::atomic::AtomicBool;

/// Caches, branch predictors and the clock of the processor settle in this time.
pub const WARM_UP_SECONDS: f64 = 0.5;

/// Runs the command.
pub fn playouts(args: &BenchPlayouts) -> Result<Verdict> {
    let instance = Instance::open(&args.instance)?;
    let problem = instance.problem()?;
    let search = searches::build(&args.search)?;
    check_seconds(args.seconds)?;
    let policy = crate::policy::open(&args.policy, &instance)?;
    let guide = policy.as_ref().map(|policy| &policy.guide);
    let spec = BestOf { search, seed: args.seed, streams: 1, threads: 1 };
    measure(problem, &spec, guide, WARM_UP_SECONDS.min(args.seconds));
    let (outcomes, seconds, cpu_seconds) = measure(problem, &spec, guide, args.seconds);
    let rate = outcomes.playouts as f64 / cpu_seconds.max(1e-9);
    let best = outcomes.best.map(|best| best.score);
    let memory = max_rss_mb();
    if args.json {
        output::print_json(&json!({
            "domain": instance.domain(),
            "instance": instance.name,
            "search": spec.search.name(),
            "parameters": searches::parameters_of(&spec.search),
            "seed": args.seed,
            "threads": 1,
            "playouts": outcomes.playouts,
            "playouts_per_cpu_second": number(rate.round()),
            "score": best.map(number),
            "seconds": rounded(seconds),
            "cpu_seconds": rounded(cpu_seconds),
            "max_rss_mb": memory,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!(
        "{}  {}\nplayouts  {} in {cpu_seconds:.2} s of CPU time\nrate      {} playouts per CPU second\nbest      {}\n",
        instance.name,
        searches::describe(&spec.search),
        count(outcomes.playouts),
        count(rate as u64),
        best.map_or("-".into(), score),
    );
    if let Some(memory) = memory {
        text += &format!("memory    {memory} MB\n");
    }
    output::print(&text)?;
    Ok(Verdict::Done)
}

/// Refuses what is no time to measure.
pub fn check_seconds(seconds: f64) -> Result<()> {
    if !(seconds > 0.0 && seconds <= 1e6) {
        bail!("--seconds {seconds}: expected a number above 0 and up to 1000000");
    }
    Ok(())
}

fn measure(
    problem: &dyn AnyProblem,
    spec: &BestOf,
    guide: Option<&Guide>,
    seconds: f64,
) -> (Outcomes, f64, f64) {
    let stop = AtomicBool::new(false);
    let limits = Limits { seconds: Some(seconds), ..Limits::default() };
    let mut control = Control::new(limits, &stop, &|_| {});
    control.guide = guide.cloned();
    let outcomes = problem.solve(spec, &control, Vec::new());
    (outcomes, control.seconds(), control.cpu_seconds())
}

/// The most memory this process ever held, where the system tells.
pub fn max_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((kib / 102.4).round() / 10.0)
}
