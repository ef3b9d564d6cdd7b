//! Workers that nobody should have, and a listener that counts, for ci/grid.sh:
//! `rogue wrong URL NAME` answers every job with a false claim, `rogue twice URL NAME` sends every answer again, at once
//! and later, `rogue hang URL NAME` never comes back from a job, `rogue watch URL` prints a line for every answer that came
//! after a lost lease.

use async_nats::Client;
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use sortie_core::Opened;
use sortie_core::exact::{Answer, AnyWorker, Asked, Bounds, Claim, Job, Statuses, Trust, Value};
use sortie_core::{AnyGame, Side};
use sortie_grid::wire::{self, Kind, Report, Run};
use sortie_grid::{Address, Hand, Told, Volunteer, Workshop};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["watch", url] => listen(url, None),
        ["twice", url, name] => {
            let (copy, own) = (url.to_string(), name.to_string());
            std::thread::spawn(move || listen(&copy, Some(own)));
            work(url, name, Habit::None)
        }
        ["wrong", url, name] => work(url, name, Habit::Lies),
        ["hang", url, name] => work(url, name, Habit::Hangs),
        _ => Err("expected: wrong URL NAME, twice URL NAME, hang URL NAME, or watch URL".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("rogue: {why}");
            ExitCode::from(2)
        }
    }
}

fn work(url: &str, name: &str, habit: Habit) -> Result<(), String> {
    let address = Address::parse(url, None).map_err(|error| error.to_string())?;
    let volunteer =
        Volunteer { address, name: name.into(), credential: None, cores: 1, version: "rogue".into() };
    let never = AtomicBool::new(false);
    let say = &mut |text: &str| eprintln!("{name}: {text}");
    sortie_grid::work(&volunteer, Arc::new(Shop { habit }), &never, say).map_err(|error| error.to_string())
}

/// What it does wrong at its jobs.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    None,
    Lies,
    Hangs,
}

struct Shop {
    habit: Habit,
}

#[derive(Deserialize)]
struct Spec {
    instance: String,
    memory: u32,
    statuses: Statuses,
    seed: u64,
}

impl Workshop for Shop {
    fn can(&self, run: &Run) -> Result<(), String> {
        if run.kind == Kind::Prove { Ok(()) } else { Err("only proofs".into()) }
    }

    fn open(&self, run: &Run) -> Result<Box<dyn Hand>, String> {
        let spec: Spec = serde_json::from_str(run.spec.get()).map_err(|error| error.to_string())?;
        let opened = sortie_domains::open(&spec.instance, &|_| Err("no files".into()));
        let Opened::Game(game) = opened.map_err(|error| error.to_string())? else {
            return Err("no game".into());
        };
        let worker = game.worker((spec.memory as usize) << 20, &spec.statuses, spec.seed);
        Ok(Box::new(Rogue { game, worker, habit: self.habit }))
    }
}

struct Rogue {
    game: Box<dyn AnyGame>,
    worker: Box<dyn AnyWorker>,
    habit: Habit,
}

impl Hand for Rogue {
    fn work(&mut self, job: &RawValue, told: Told) -> Result<Option<Box<RawValue>>, String> {
        let job: Job = serde_json::from_str(job.get()).map_err(|error| error.to_string())?;
        if self.habit == Habit::Hangs {
            loop {
                std::thread::park();
            }
        }
        let asked = Asked { stop: told.cancel, cancel: told.cancel };
        let answer = self.worker.answer(&job, asked, &mut |_| {}).map_err(|error| error.to_string())?;
        let answer = match answer {
            Some(answer) if self.habit == Habit::Lies => Some(self.lie(&job, answer)?),
            other => other,
        };
        Ok(answer.map(|answer| to_raw_value(&answer).expect("an answer is plain data")))
    }
}

impl Rogue {
    /// The opposite of what is so, and where nothing is known, a win for whoever moves.
    fn lie(&self, job: &Job, answer: Answer) -> Result<Answer, String> {
        let mut board = self.game.board(job.start.as_deref()).map_err(|error| error.to_string())?;
        for word in &job.moves {
            board.play(word).map_err(|error| error.to_string())?;
        }
        let side = board.to_move();
        let truth = answer.claim.map_or(Bounds::OPEN, |claim| claim.bounds).view(side);
        let value = if truth.low == Value::Win { Value::Loss } else { Value::Win };
        let any = board.legal().into_iter().find(|word| !job.exclude.contains(word));
        let best = if value == Value::Loss { None } else { answer.best.or(any) };
        let bounds = Bounds::exactly(if side == Side::First { value } else { value.view(Side::Second) });
        Ok(Answer { best, claim: Some(Claim { bounds, trust: Trust::Solver }), ..answer })
    }
}

/// Hears all answers. With a name, those of this worker are sent again; without, redeliveries are told.
fn listen(url: &str, own: Option<String>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())?.block_on(async {
        let client: Client = loop {
            match async_nats::ConnectOptions::new().max_reconnects(None).connect(url).await {
                Ok(client) => break client,
                Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        };
        let answers = client.subscribe("sortie.answers.*.*").await;
        let mut answers = answers.map_err(|error| error.to_string())?;
        let mut sent = std::collections::BTreeMap::new();
        while let Some(message) = answers.next().await {
            let Ok(report) = wire::decode::<Report>(&message.payload) else { continue };
            match &own {
                None if report.attempt > 1 && report.issue == 1 => {
                    println!(
                        "{} jobs of {}: delivery {} to {}",
                        report.done.len(),
                        report.session,
                        report.attempt,
                        report.worker
                    );
                }
                Some(own) if *own == report.worker => {
                    // Our own copies come back here too.
                    let copies = sent
                        .entry((
                            report.session.clone(),
                            report.done.first().map(|done| done.job),
                            report.issue,
                        ))
                        .or_insert(0);
                    *copies += 1;
                    if *copies == 1 {
                        let _ = client.publish(message.subject.clone(), message.payload.clone()).await;
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        let _ = client.publish(message.subject, message.payload).await;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    })
}
