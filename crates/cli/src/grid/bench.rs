//! `sortie bench grid`: the same jobs on threads of this process and through the engine, in turn, so that both see the
//! same machine. Broker and workers are processes of their own, started and ended here.

use super::args::BenchGrid;
use super::hands::spin;
use super::run::options;
use super::Spec;
use crate::output::{self, rounded};
use crate::Verdict;
use anyhow::{Context, Result, bail};
use serde_json::json;
use sortie_core::{JobId, JobSource, run_jobs};
use sortie_grid::broker::{self, Broker};
use sortie_grid::desk::NoClaims;
use sortie_grid::wire::{Kind, Presence};
use sortie_grid::{GridSource, Watcher, drive};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The engine and the workers are there by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the command.
pub fn run(args: &BenchGrid) -> Result<Verdict> {
    let store = std::env::temp_dir().join(format!("sortie-bench-grid-{}", std::process::id()));
    let measured = measure(args, &store);
    let _ = std::fs::remove_dir_all(&store);
    let rows = measured?;
    let mut ratios: Vec<f64> = rows.iter().map(|(threads, grid)| threads / grid).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let rounds: Vec<_> = rows
        .iter()
        .map(|(threads, grid)| json!({ "threads_seconds": rounded(*threads), "grid_seconds": rounded(*grid), "ratio": rounded(threads / grid) }))
        .collect();
    if args.json {
        output::print_json(&json!({
            "job_ms": args.job_ms, "workers": args.workers, "jobs": args.jobs, "rounds": rounds,
            "ratio": rounded(median), "version": env!("CARGO_PKG_VERSION"),
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!("{:>10} {:>10} {:>8}\n", "threads", "grid", "ratio");
    for (threads, grid) in &rows {
        text += &format!("{threads:>8.2} s {grid:>8.2} s {:>7.3}x\n", threads / grid);
    }
    text += &format!(
        "\n{} jobs of {} ms, {} workers: {median:.3}x the speed of threads (median), {:.0} us a job more",
        args.jobs,
        args.job_ms,
        args.workers,
        rows.iter().map(|(t, g)| (g - t) / args.jobs as f64 * f64::from(args.workers) * 1e6).sum::<f64>() / rows.len() as f64,
    );
    output::print(&text)?;
    Ok(Verdict::Done)
}

/// Seconds on threads and over the grid, for every round.
fn measure(args: &BenchGrid, store: &std::path::Path) -> Result<Vec<(f64, f64)>> {
    let server = broker::find()?;
    // A port that was free a moment ago.
    let listen = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr())?;
    let broker = Broker { listen, store: store.to_path_buf(), token: None, bytes_max: 2 << 30 };
    let mut command = broker.prepare(&server)?;
    let _server = started(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
    let begun = Instant::now();
    while std::net::TcpStream::connect(listen).is_err() {
        if begun.elapsed() > PATIENCE {
            bail!("{} does not listen at {listen}", server.display());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let url = format!("nats://{listen}");
    let program = std::env::current_exe().context("where is this program?")?;
    let mut workers = Vec::new();
    for number in 0..args.workers {
        let name = format!("bench-{number}");
        workers.push(started(Command::new(&program).args(["worker", "--quiet", "--grid", &url, "--cores", "1", "--name", &name]))?);
    }
    let spec = Spec {
        url,
        quorum: 1,
        recheck: 0.0,
        lease_seconds: 10.0,
        job_seconds_max: 60.0,
        token: None,
        window: None,
    };
    let options = options(&spec, Kind::Bench, "bench", &())?;
    let stop = AtomicBool::new(false);
    let mut rows = Vec::new();
    // The first round finds cold caches and workers that are just arriving.
    for round in 0..=args.rounds {
        let jobs = if round == 0 { (args.jobs / 10).max(1) } else { args.jobs };
        let mut source = Spins::new(jobs, u64::from(args.job_ms));
        run_jobs(&mut source, args.workers as usize, &stop, |_, &job| {
            spin(job, &|| false);
            Some(job)
        });
        let (Some(begun), Some(ended)) = (source.begun, source.ended) else { bail!("no job was done") };
        let threads = (ended - begun).as_secs_f64();
        let mut source = Spins::new(jobs, u64::from(args.job_ms));
        let mut crowd = Crowd::default();
        drive(&mut source, &options, &NoClaims, &stop, &mut crowd)?;
        let (Some(begun), Some(ended)) = (source.begun, source.ended) else { bail!("no job was done") };
        let grid = (ended - begun).as_secs_f64();
        if crowd.0 < args.workers as usize && round > 0 {
            bail!("only {} of {} workers came", crowd.0, args.workers);
        }
        if round > 0 {
            rows.push((threads, grid));
        }
    }
    Ok(rows)
}

/// A process that ends with this value.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn started(command: &mut Command) -> Result<Ends> {
    command.stdin(Stdio::null()).spawn().map(Ends).with_context(|| format!("{:?}", command.get_program()))
}

/// So many jobs, each burning so many milliseconds.
struct Spins {
    ledger: sortie_core::Ledger,
    jobs: u64,
    job_ms: u64,
    done: u64,
    /// When the first answer was there: what comes before is workers arriving, once a run.
    begun: Option<Instant>,
    ended: Option<Instant>,
}

impl Spins {
    fn new(jobs: u64, job_ms: u64) -> Spins {
        Spins { ledger: Default::default(), jobs, job_ms, done: 0, begun: None, ended: None }
    }
}

impl JobSource for Spins {
    type Job = u64;
    type Answer = u64;

    fn next(&mut self) -> Option<(JobId, u64)> {
        self.ledger.next(self.jobs).map(|number| (JobId(number), self.job_ms))
    }

    fn done(&mut self, id: JobId, _: u64) -> bool {
        let wanted = self.ledger.done(id.0);
        self.done += u64::from(wanted);
        let now = Instant::now();
        self.begun.get_or_insert(now);
        self.ended = Some(now);
        wanted
    }

    fn lost(&mut self, id: JobId) {
        self.ledger.lost(id.0);
    }

    fn finished(&self) -> bool {
        self.done == self.jobs
    }
}

impl GridSource for Spins {
    type Wire = u64;

    fn accept(&mut self, id: JobId, answer: u64) -> bool {
        self.done(id, answer)
    }
}

/// Who was seen.
#[derive(Default)]
struct Crowd(usize, std::collections::BTreeSet<String>);

impl Watcher for Crowd {
    fn line(&mut self, _: &str) {}

    fn worker(&mut self, presence: &Presence, _: bool) {
        self.1.insert(presence.worker.clone());
        self.0 = self.1.len();
    }
}
