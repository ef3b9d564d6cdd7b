//! `lab bench joblevel`: what so many workers would gain, in virtual time. Every job is done once, by a worker that
//! remembers nothing, and its cost in positions is the time it takes; the same job takes the same time whenever it
//! comes again. So the speed-up is that of the search alone: no network, no waiting for a busy machine.

use crate::Verdict;
use crate::args::BenchJoblevel;
use crate::commands::prove::named;
use crate::output::{self, count};
use crate::source::Instance;
use anyhow::{Result, bail};
use serde_json::json;
use sortie_core::AnyGame;
use sortie_core::exact::{Answer, Asked, Effort};
use sortie_jobs::tree::{Ended, JobTree, Plan, Policy, Select, Virtual, simulate};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

/// The answers so far, by moves, excluded moves and question.
type Recorded = HashMap<(Vec<String>, Vec<String>, bool), (Answer, u64)>;

/// Runs the command.
pub fn run(args: &BenchJoblevel) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let game = instance.game()?;
    let select = named("--select", &args.select, &Select::ALL)?;
    let policies = match args.policies.as_slice() {
        [] => Policy::ALL.to_vec(),
        some => some
            .iter()
            .map(|word| {
                let policy = named("--policy", word, &Policy::ALL)?;
                Ok(*Policy::ALL.iter().find(|(_, p)| *p == policy).expect("it was found by name"))
            })
            .collect::<Result<_>>()?,
    };
    if !args.json {
        output::print(&format!(
            "{:<13} {:>7} {:>9} {:>9} {:>8} {:>6}",
            "policy", "workers", "jobs", "time", "speed-up", "busy"
        ))?;
    }
    let mut recorded = Recorded::new();
    let mut rows = Vec::new();
    for (policy_name, policy) in policies {
        let plan = Plan {
            select,
            policy,
            jobs_max: args.jobs,
            effort: Effort { nodes: args.job_nodes, playouts: 0 },
            ..Plan::default()
        };
        let mut alone = None;
        for workers in std::iter::once(1).chain(args.workers.iter().copied().filter(|&n| n > 1)) {
            let mut tree = JobTree::new(board(game, args)?, args.position.clone(), plan.clone());
            let grid = Virtual { overhead: args.overhead, ..Virtual::workers(workers as usize) };
            let ran = simulate(&mut tree, &grid, |job, _| {
                let key = (job.moves.clone(), job.exclude.clone(), job.ask == sortie_core::exact::Value::Win);
                let known = recorded.entry(key).or_insert_with(|| {
                    let never = AtomicBool::new(false);
                    let mut worker = game.worker(usize::MAX, &plan.statuses, args.seed);
                    let asked = Asked { stop: &never, cancel: &never };
                    let answer = worker.answer(job, asked, &mut |_| {}).ok().flatten();
                    let answer = answer.expect("the tree makes sound jobs, and nobody stops them");
                    let nodes = answer.nodes;
                    (answer, nodes)
                });
                Some(known.clone())
            });
            if tree.ended() != Some(Ended::Decided) {
                bail!("{policy_name}, {workers} workers: not decided within --jobs {}", args.jobs);
            }
            let time = ran.time.max(1);
            let speedup = *alone.get_or_insert(time) as f64 / time as f64;
            let busy = ran.useful as f64 / (time * u64::from(workers)) as f64;
            if !args.json {
                output::print(&format!(
                    "{policy_name:<13} {workers:>7} {:>9} {:>9} {speedup:>7.2}x {:>4.0} %",
                    count(ran.jobs),
                    count(time),
                    100.0 * busy
                ))?;
            }
            rows.push(json!({
                "policy": policy_name, "workers": workers, "jobs": ran.jobs, "time": time,
                "speedup": (speedup * 1000.0).round() / 1000.0, "busy": (busy * 1000.0).round() / 1000.0,
                "value": tree.bounds(),
            }));
        }
    }
    if args.json {
        output::print_json(&json!({
            "instance": instance.name, "position": args.position, "moves": args.moves, "select": args.select,
            "job_nodes": args.job_nodes, "overhead": args.overhead, "rows": rows,
            "version": env!("CARGO_PKG_VERSION"),
        }))?;
    }
    Ok(Verdict::Done)
}

fn board(game: &dyn AnyGame, args: &BenchJoblevel) -> Result<Box<dyn sortie_core::AnyBoard>> {
    let mut board = game.board(args.position.as_deref())?;
    for word in args.moves.as_deref().unwrap_or_default().split_whitespace() {
        crate::words::play(&mut *board, word)?;
    }
    Ok(board)
}
