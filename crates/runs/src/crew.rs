//! Who works for a run, and why somebody does not: the last word of every worker in `workers.jsonl`, or, for a run on the
//! threads of one process, what its events tell of them.

use crate::event::Glance;
use crate::folder::EVENTS;
use crate::kind::{Kind, WORKERS};
use crate::lines::{read_back, read_lines};
use crate::show;
use crate::summary::{State, Summary};
use crate::worker::{Doing, SILENT_SECONDS, WorkerLine};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// No more workers are shown.
const WORKERS_MAX: usize = 10_000;
/// Threads that are busy for less than this share of the time are worth a word.
const BUSY_SHARE: f64 = 0.9;

/// A worker.
#[derive(Debug, Clone, PartialEq)]
pub struct Worker {
    /// Its name.
    pub name: String,
    /// How many jobs it can do at a time.
    pub cores: u64,
    /// `working`, `idle`, `gone`, or `silent` if it should have said something since.
    pub state: &'static str,
    /// Why it is idle or gone.
    pub reason: String,
    /// What it is at.
    pub job: String,
    /// Jobs done.
    pub done: u64,
    /// CPU time spent.
    pub cpu_seconds: f64,
    /// Seconds since it was last heard of.
    pub heard: f64,
    /// The share of the time since it came in which it worked.
    pub busy: Option<f64>,
}

/// How a worker was between its first word and its last.
#[derive(Default)]
struct Past {
    working: f64,
    whole: f64,
    last: Option<(f64, bool)>,
}

/// What a file of workers says.
#[derive(Debug, Default)]
pub struct Crew {
    /// By name.
    pub workers: Vec<Worker>,
    /// Lines that are not about workers.
    pub skipped: u64,
}

/// Reads the workers of a folder; `None` if it has no such file.
pub fn read(run: &Summary) -> io::Result<Option<Crew>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    read_at(&run.path, run.state == State::Running, now)
}

fn read_at(folder: &Path, running: bool, now: f64) -> io::Result<Option<Crew>> {
    let mut crew = Crew::default();
    let mut known: BTreeMap<String, (WorkerLine, Past)> = BTreeMap::new();
    let read = read_lines(&folder.join(WORKERS), 0, u64::MAX, &mut |_, text| {
        let Ok(line) = serde_json::from_slice::<WorkerLine>(text) else {
            crew.skipped += u64::from(!text.is_empty());
            return;
        };
        if known.len() >= WORKERS_MAX && !known.contains_key(&line.worker) {
            return;
        }
        let entry = known.entry(line.worker.clone()).or_insert_with(|| (line.clone(), Past::default()));
        if let Some(at) = show::utc_seconds(&line.time) {
            if let Some((before, working)) = entry.1.last {
                entry.1.whole += (at - before).max(0.0);
                entry.1.working += if working { (at - before).max(0.0) } else { 0.0 };
            }
            // While it is gone no time passes for it.
            entry.1.last = (line.state != Doing::Gone).then_some((at, line.state == Doing::Working));
        }
        entry.0 = line;
    });
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    crew.workers = known.into_values().map(|(line, past)| worker(line, &past, running, now)).collect();
    Ok(Some(crew))
}

fn worker(line: WorkerLine, past: &Past, running: bool, now: f64) -> Worker {
    let heard = show::utc_seconds(&line.time).map_or(0.0, |at| (now - at).max(0.0));
    let silent = line.state == Doing::Working && running && heard > SILENT_SECONDS;
    let reason = match line.reason.filter(|reason| !reason.is_empty()) {
        _ if silent => format!("nothing was heard of it for {}", show::time(heard)),
        _ if !running && line.state != Doing::Gone => "the run does not go on".into(),
        Some(reason) => reason,
        None if line.state == Doing::Idle => "it did not say why".into(),
        None => String::new(),
    };
    let job = line.job.filter(|_| line.state == Doing::Working && running);
    Worker {
        name: line.worker,
        cores: line.cores,
        state: match line.state {
            Doing::Gone => "gone",
            _ if silent => "silent",
            Doing::Working if running => "working",
            Doing::Working | Doing::Idle => "idle",
        },
        reason,
        job: job.map_or_else(String::new, |job| job.to_string()),
        done: line.done,
        cpu_seconds: line.cpu_seconds,
        heard,
        busy: (past.whole > 0.0).then(|| past.working / past.whole),
    }
}

/// The threads of the one process that works in a folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Threads {
    /// How many it has, where the folder tells.
    pub threads: Option<i64>,
    /// How many of them were busy lately, on average.
    pub busy: Option<f64>,
    /// Why not all of them are, a sentence each.
    pub said: Vec<String>,
}

/// What a folder tells of the threads that work in it.
pub fn threads(run: &Summary) -> Threads {
    let told = &run.told;
    let mut threads = Threads { threads: None, busy: None, said: Vec::new() };
    if run.kind != Kind::Solve {
        threads.said.push(
            "This run goes on the threads of the process that was started for it. Its folder keeps what they found, \
             and does not tell them apart."
                .into(),
        );
    } else {
        threads.threads = Some(told.threads);
        threads.busy = busy(&run.path.join(EVENTS));
        if told.streams < told.threads && !told.parallel {
            threads.said.push(format!(
                "{} of {} threads have nothing to do: there {} only {} independent search{}, and each runs on one \
                 thread. --best-of {} gives them work.",
                told.threads - told.streams,
                told.threads,
                if told.streams == 1 { "is" } else { "are" },
                told.streams,
                if told.streams == 1 { "" } else { "es" },
                told.threads,
            ));
        } else if let Some(busy) = threads
            .busy
            .filter(|busy| run.state == State::Running && *busy < BUSY_SHARE * told.threads as f64)
        {
            threads.said.push(format!(
                "They got {busy:.1} processors of {} lately: other programs use the machine, or the last searches \
                 come to their end.",
                told.threads
            ));
        }
    }
    if run.state != State::Running {
        threads.busy = None;
        threads.said.push(format!("All of them are idle. {}", show::state(run)));
    }
    threads
}

/// Processors that were busy between the last events.
fn busy(events: &Path) -> Option<f64> {
    let lines = read_back(events, u64::MAX, 16 << 10, 40).ok()?;
    let events = lines.iter().filter_map(|(_, line)| Glance::parse(line.as_bytes()));
    let told: Vec<(f64, f64)> = events.filter_map(|event| event.seconds.zip(event.cpu_seconds)).collect();
    let (first, last) = (told.first()?, told.last()?);
    (last.0 > first.0).then(|| ((last.1 - first.1) / (last.0 - first.0)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(second: u32, worker: &str, state: &str, more: &str) -> String {
        format!(
            "{{\"time\":\"2026-11-16T07:00:{second:02}Z\",\"worker\":\"{worker}\",\"cores\":4,\"state\":\"{state}\"{more}}}\n"
        )
    }

    #[test]
    fn the_last_word_counts() {
        let home = tempfile::tempdir().unwrap();
        assert!(read_at(home.path(), true, 0.0).unwrap().is_none());
        let text = [
            line(0, "a", "working", ",\"job\":7,\"done\":1,\"cpu_seconds\":2.5"),
            line(0, "b", "idle", ",\"reason\":\"no job fits its memory\""),
            "torn\n".into(),
            line(30, "a", "idle", ",\"reason\":\"waits for a job\",\"job\":null,\"done\":2"),
            line(40, "a", "working", ",\"job\":\"d4 e5\",\"done\":2"),
            line(40, "c", "gone", ",\"reason\":\"asked to stop\",\"done\":9"),
            line(41, "d", "asleep", ""),
        ];
        std::fs::write(home.path().join(WORKERS), text.concat()).unwrap();
        let at = show::utc_seconds("2026-11-16T07:00:50Z").unwrap();
        let crew = read_at(home.path(), true, at).unwrap().unwrap();
        assert_eq!((crew.workers.len(), crew.skipped), (3, 2));
        let [a, b, c] = &crew.workers[..] else { panic!("three") };
        assert_eq!((a.state, a.job.as_str(), a.done, a.heard), ("working", "d4 e5", 2, 10.0));
        assert_eq!(a.busy, Some(0.75));
        assert_eq!((b.state, b.reason.as_str()), ("idle", "no job fits its memory"));
        assert_eq!((c.state, c.reason.as_str(), c.busy), ("gone", "asked to stop", None));
        // Later on, nothing was heard of the one at work; and in a run that does not go on nobody works.
        let crew = read_at(home.path(), true, at + 100.0).unwrap().unwrap();
        assert_eq!(crew.workers[0].state, "silent");
        let crew = read_at(home.path(), false, at).unwrap().unwrap();
        assert_eq!(
            (crew.workers[0].state, crew.workers[0].reason.as_str()),
            ("idle", "the run does not go on")
        );
    }

    #[test]
    fn idle_threads_are_explained() {
        let home = tempfile::tempdir().unwrap();
        let spec = "format = 1\ninstance = \"samegame/1\"\nseed = 1\nstreams = 1\nthreads = 4\n[search]\nname = \"nrpa\"\n";
        std::fs::write(home.path().join("spec.toml"), spec).unwrap();
        let event = |s: u32| {
            format!(
                "{{\"event\":\"progress\",\"seconds\":{s},\"cpu_seconds\":{s},\"playouts\":1,\"best\":1}}\n"
            )
        };
        std::fs::write(home.path().join(EVENTS), event(1) + &event(5)).unwrap();
        let run = Summary::read("x", home.path());
        let found = threads(&run);
        assert_eq!((found.threads, found.busy), (Some(4), Some(1.0)));
        assert!(found.said[0].contains("3 of 4 threads have nothing to do"), "{found:?}");
        std::fs::write(home.path().join("result.json"), "{\"reason\":\"time\",\"score\":1}").unwrap();
        assert!(threads(&Summary::read("x", home.path())).said.join(" ").contains("The time is up"));
    }
}
