//! `lab bench grid`: the same jobs on threads of this process and through the engine, in turn, so that both see the
//! same machine. Broker and workers are processes of their own, started and ended here.

use crate::Verdict;
use crate::args::BenchGrid;
use crate::grid::Spec;
use crate::grid::hands::spin;
use crate::grid::run::options;
use crate::output::{self, rounded};
use anyhow::{Context, Result, bail};
use serde_json::json;
use sortie_core::job::run_jobs;
use sortie_core::{JobId, JobSource};
use sortie_grid::broker::{self, Broker};
use sortie_grid::desk::NoClaims;
use sortie_grid::wire::{Kind, Presence};
use sortie_grid::{GridSource, Watcher, drive};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The engine and the workers are there by then, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

/// One round. Wall time on a busy machine is a matter of luck; CPU time is not.
struct Round {
    threads_seconds: f64,
    grid_seconds: f64,
    /// CPU time of this process with threads; with the grid of this process, the engine, and all workers.
    threads_cpu: f64,
    grid_cpu: [f64; 3],
}

impl Round {
    fn ratio(&self) -> f64 {
        self.threads_seconds / self.grid_seconds
    }

    fn cpu_ratio(&self) -> f64 {
        self.threads_cpu / self.grid_cpu.iter().sum::<f64>().max(1e-9)
    }
}

/// Runs the command.
pub fn run(args: &BenchGrid) -> Result<Verdict> {
    let store = std::env::temp_dir().join(format!("sortie-bench-grid-{}", std::process::id()));
    let measured = measure(args, &store);
    let _ = std::fs::remove_dir_all(&store);
    let rounds = measured?;
    let median = |of: fn(&Round) -> f64| {
        let mut all: Vec<f64> = rounds.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let (ratio, cpu_ratio) = (median(Round::ratio), median(Round::cpu_ratio));
    if args.json {
        let row = |r: &Round| {
            json!({
                "threads_seconds": rounded(r.threads_seconds), "grid_seconds": rounded(r.grid_seconds), "ratio": rounded(r.ratio()),
                "threads_cpu_seconds": rounded(r.threads_cpu), "client_cpu_seconds": rounded(r.grid_cpu[0]),
                "engine_cpu_seconds": rounded(r.grid_cpu[1]), "workers_cpu_seconds": rounded(r.grid_cpu[2]), "cpu_ratio": rounded(r.cpu_ratio()),
            })
        };
        output::print_json(&json!({
            "job_ms": args.job_ms, "workers": args.workers, "jobs": args.jobs, "rounds": rounds.iter().map(row).collect::<Vec<_>>(),
            "ratio": rounded(ratio), "cpu_ratio": rounded(cpu_ratio), "version": env!("CARGO_PKG_VERSION"),
        }))?;
        return Ok(Verdict::Done);
    }
    let mut text = format!(
        "{:>10} {:>10} {:>8}   CPU: {:>8} {:>8} {:>8} {:>8} {:>8}\n",
        "threads", "grid", "ratio", "threads", "client", "engine", "workers", "ratio"
    );
    for r in &rounds {
        let [client, engine, workers] = r.grid_cpu;
        text += &format!(
            "{:>8.2} s {:>8.2} s {:>7.3}x        {:>6.2} s {client:>6.2} s {engine:>6.2} s {workers:>6.2} s {:>7.3}x\n",
            r.threads_seconds,
            r.grid_seconds,
            r.ratio(),
            r.threads_cpu,
            r.cpu_ratio(),
        );
    }
    let BenchGrid { jobs, job_ms, workers, .. } = args;
    text += &format!(
        "\n{jobs} jobs of {job_ms} ms, {workers} workers: {ratio:.3}x the speed of threads, {cpu_ratio:.3}x by CPU time (medians)"
    );
    output::print(&text)?;
    Ok(Verdict::Done)
}

/// Every round, on threads and over the grid.
fn measure(args: &BenchGrid, store: &std::path::Path) -> Result<Vec<Round>> {
    let server = broker::find()?;
    // A port that was free a moment ago.
    let listen = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr())?;
    let broker = Broker {
        listen,
        store: store.to_path_buf(),
        token: None,
        members: Vec::new(),
        tls: None,
        bytes_max: 2 << 30,
    };
    let mut command = broker.prepare(&server)?;
    let engine = started(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
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
        let options = ["worker", "--quiet", "--grid", &url, "--cores", "1", "--name", &name];
        workers.push(started(Command::new(&program).args(options))?);
    }
    let grid = Spec {
        url,
        quorum: 1,
        recheck: 0.0,
        lease_seconds: 10.0,
        job_seconds_max: 60.0,
        token: None,
        keys: Default::default(),
        window: None,
    };
    let options = options(&grid, Kind::Bench, "bench", &())?;
    let stop = AtomicBool::new(false);
    let used = || {
        let all = workers.iter().map(|worker| cpu_seconds(worker.0.id())).sum();
        [cpu_seconds(std::process::id()), cpu_seconds(engine.0.id()), all]
    };
    let mut rounds = Vec::new();
    // The first round finds cold caches and workers that are just arriving.
    // In all rounds: a short one may be over before a worker has said anything of itself.
    let mut crowd = Crowd::default();
    for round in 0..=args.rounds {
        let jobs = if round == 0 { (args.jobs / 10).max(1) } else { args.jobs };
        let before = used();
        let mut source = Spins::new(jobs, u64::from(args.job_ms));
        run_jobs(&mut source, args.workers as usize, &stop, |_, &job| {
            spin(job, &|| false);
            Some(job)
        });
        let (threads_seconds, middle) = (source.seconds()?, used());
        let mut source = Spins::new(jobs, u64::from(args.job_ms));
        drive(&mut source, &options, &NoClaims, &stop, &mut crowd)?;
        let (grid_seconds, after) = (source.seconds()?, used());
        if crowd.0.len() < args.workers as usize && round > 0 {
            bail!("only {} of {} workers came", crowd.0.len(), args.workers);
        }
        if round > 0 {
            let threads_cpu = middle[0] - before[0];
            let grid_cpu = std::array::from_fn(|i| after[i] - middle[i]);
            rounds.push(Round { threads_seconds, grid_seconds, threads_cpu, grid_cpu });
        }
    }
    Ok(rounds)
}

/// CPU time of a process so far; 0 where the system does not tell.
fn cpu_seconds(process: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in brackets may hold anything; user and system time are the twelfth and thirteenth after it.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
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
    ledger: sortie_core::job::Ledger,
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

    /// From the first answer to the last.
    fn seconds(&self) -> Result<f64> {
        match (self.begun, self.ended) {
            (Some(begun), Some(ended)) => Ok((ended - begun).as_secs_f64()),
            _ => bail!("no job was done"),
        }
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

    fn accept(&mut self, id: JobId, answer: u64, _: &str) -> bool {
        self.done(id, answer)
    }
}

/// Who was seen.
#[derive(Default)]
struct Crowd(BTreeSet<String>);

impl Watcher for Crowd {
    fn line(&mut self, _: &str) {}

    fn worker(&mut self, presence: &Presence, _: bool) {
        self.0.insert(presence.worker.clone());
    }
}
