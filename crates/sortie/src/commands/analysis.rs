//! `sortie analyse GAME --jsonl`: positions to look at come in as lines of JSON, as many as one likes, and answers go out as
//! lines of JSON, each as soon as it is there. For programs that look at many games at once; the words are those of
//! docs/analysis.md, near those of KataGo's analysis engine.
//!
//! One thread reads and never waits for a search; workers take the most urgent position that waits, of equals the oldest.
//! Each position has a flag of its own, so that one can be called off without the others.

use crate::args::Analyse;
use crate::commands::analyse::{answer, name};
use crate::convert::position::{self, Setup};
use crate::output;
use crate::players::Player;
use crate::source::Instance;
use crate::{Verdict, words};
use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};
use sortie_core::{AnyGame, AnyPlayer, Budget, Thought};
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longer lines are refused.
const LINE_BYTES_MAX: u64 = 1 << 20;
/// No more positions wait at a time; whoever sends more is told so.
const WAITING_MAX: usize = 100_000;
/// More turns of one game are refused.
const TURNS_MAX: usize = 10_000;
/// How long a position is looked at if nobody says.
const SECONDS: f64 = 1.0;

/// A line that came in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    /// What its answers are called.
    id: Option<String>,
    /// Something else than a position: `cancel`, `cancel_all`, `version` or `stats`.
    action: Option<String>,
    /// The query that `cancel` means.
    cancel: Option<String>,
    /// Where the game begins, if not at its own start.
    position: Option<String>,
    /// The moves from there.
    #[serde(default)]
    moves: Vec<String>,
    /// The positions to look at, each after so many of the moves; nothing: that after all of them.
    turns: Option<Vec<usize>>,
    playouts: Option<u64>,
    seconds: Option<f64>,
    /// Moves told of each position.
    lines: Option<usize>,
    /// The higher the sooner.
    #[serde(default)]
    priority: i64,
    /// Seconds between two answers while a position is looked at.
    report_every: Option<f64>,
    seed: Option<u64>,
}

/// A position that waits or is being looked at.
struct Job {
    id: String,
    turn: usize,
    start: Option<String>,
    words: Vec<String>,
    budget: Budget,
    lines: usize,
    report_every: Option<Duration>,
    seed: u64,
    off: Arc<AtomicBool>,
}

#[derive(Default)]
struct Desk {
    /// By urgency, then by age: the first is the next.
    waiting: BTreeMap<(i64, u64), Job>,
    /// Being looked at: name and flag.
    hands: BTreeMap<u64, (String, Arc<AtomicBool>)>,
    sent: u64,
    answered: u64,
    over: bool,
}

#[derive(Default)]
struct Shared {
    desk: Mutex<Desk>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs until the input ends and everything has been answered.
pub fn run(args: &Analyse, instance: &Instance) -> Result<Verdict> {
    let game = instance.game()?;
    let player = Player::parse(&args.player)?;
    // A player that cannot be opened is misuse, and no answer.
    drop(player.open(game, args.seed)?);
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    let workers = args.workers.unwrap_or(cores);
    let shared = Shared::default();
    std::thread::scope(|scope| {
        let hands: Vec<_> =
            (0..workers).map(|_| scope.spawn(|| work(args, instance, &player, &shared))).collect();
        let read = read(args, instance, &shared);
        shared.lock().over = true;
        shared.changed.notify_all();
        let worked = hands.into_iter().map(|hand| hand.join().expect("a worker does not panic"));
        worked.fold(read, |all, one| all.and(one))
    })?;
    Ok(Verdict::Done)
}

fn read(args: &Analyse, instance: &Instance, shared: &Shared) -> Result<()> {
    let mut stdin = std::io::stdin().lock();
    for line in 1.. {
        let mut bytes = Vec::new();
        stdin.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            break;
        }
        if bytes.len() as u64 > LINE_BYTES_MAX && bytes.last() != Some(&b'\n') {
            stdin.skip_until(b'\n')?;
            output::print_json(
                &json!({ "error": format!("a line of more than {LINE_BYTES_MAX} bytes"), "line": line }),
            )?;
            continue;
        }
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice::<Query>(&bytes) {
            // Its words go on behind a place in this line, which is what the reader wants to know.
            Err(error) => output::print_json(&json!({
                "error": error.to_string(), "line": line, "column": error.column(),
            }))?,
            Ok(query) => {
                let id = query.id.clone();
                if let Err(error) = obey(query, args, instance, shared) {
                    if error.is::<std::io::Error>() {
                        return Err(error);
                    }
                    output::print_json(&json!({ "id": id, "error": format!("{error:#}"), "line": line }))?;
                }
            }
        }
    }
    Ok(())
}

fn obey(query: Query, args: &Analyse, instance: &Instance, shared: &Shared) -> Result<()> {
    match query.action.as_deref() {
        None => enqueue(query, args, instance, shared),
        Some("version") => output::print_json(
            &json!({ "id": query.id, "action": "version", "version": env!("CARGO_PKG_VERSION") }),
        ),
        Some("stats") => {
            let desk = shared.lock();
            let (waiting, hands, answered) = (desk.waiting.len(), desk.hands.len(), desk.answered);
            drop(desk);
            output::print_json(&json!({
                "id": query.id, "action": "stats", "waiting": waiting, "under_way": hands, "answered": answered,
            }))
        }
        Some(action @ ("cancel" | "cancel_all")) => {
            let meant = |id: &str| action == "cancel_all" || query.cancel.as_deref() == Some(id);
            let mut desk = shared.lock();
            let waiting = std::mem::take(&mut desk.waiting);
            let (off, on): (BTreeMap<_, _>, BTreeMap<_, _>) =
                waiting.into_iter().partition(|(_, job)| meant(&job.id));
            desk.waiting = on;
            let mut cancelled = off.len();
            for (_, flag) in desk.hands.values().filter(|(id, _)| meant(id)) {
                flag.store(true, Ordering::Relaxed);
                cancelled += 1;
            }
            drop(desk);
            for job in off.into_values() {
                output::print_json(&json!({ "id": job.id, "turn": job.turn, "cancelled": true }))?;
            }
            output::print_json(&json!({
                "id": query.id, "action": action, "cancel": query.cancel, "positions": cancelled,
            }))
        }
        Some(other) => anyhow::bail!("action {other}: expected cancel, cancel_all, version or stats"),
    }
}

fn enqueue(query: Query, args: &Analyse, instance: &Instance, shared: &Shared) -> Result<()> {
    let Some(id) = query.id else { anyhow::bail!("expected an id, which the answers carry") };
    if query.playouts == Some(0) || query.seconds.is_some_and(|seconds| !(0.0..=1e6).contains(&seconds)) {
        anyhow::bail!("playouts and seconds: expected more than nothing, and at most a million seconds");
    }
    let setup = match &query.position {
        None => Setup::default(),
        Some(text) => position::read(instance, text)?,
    };
    let mut board = instance.game()?.board(setup.start.as_deref())?;
    setup.moves.iter().try_for_each(|word| board.play(word))?;
    let mut after = vec![board.words().len()];
    for (i, word) in query.moves.iter().enumerate() {
        words::play(&mut *board, word).map_err(|error| anyhow::anyhow!("move {}: {error:#}", i + 1))?;
        after.push(board.words().len());
    }
    let turns = query.turns.unwrap_or_else(|| vec![query.moves.len()]);
    if turns.len() > TURNS_MAX || turns.iter().any(|&turn| turn > query.moves.len()) {
        anyhow::bail!("turns: expected at most {TURNS_MAX} numbers from 0 to {}", query.moves.len());
    }
    let seconds = query.seconds.or(args.budget.time);
    let playouts = query.playouts.or(args.budget.playouts);
    let seconds = seconds.or(playouts.is_none().then_some(SECONDS));
    let budget = Budget { playouts, seconds, ..Budget::default() };
    let mut desk = shared.lock();
    if desk.waiting.len() + turns.len() > WAITING_MAX {
        anyhow::bail!("{WAITING_MAX} positions wait already: send more when some have been answered");
    }
    for turn in turns {
        let number = desk.sent;
        desk.sent += 1;
        let job = Job {
            id: id.clone(),
            turn,
            start: setup.start.clone(),
            words: board.words()[..after[turn]].to_vec(),
            budget,
            lines: query.lines.unwrap_or(args.lines as usize).min(1000),
            report_every: query.report_every.map(|every| Duration::from_secs_f64(every.clamp(0.01, 1e6))),
            seed: query.seed.unwrap_or(args.seed),
            off: Arc::default(),
        };
        desk.waiting.insert((query.priority.saturating_neg(), number), job);
    }
    drop(desk);
    shared.changed.notify_all();
    Ok(())
}

/// Looks at positions until none will come any more.
fn work(args: &Analyse, instance: &Instance, player: &Player, shared: &Shared) -> Result<()> {
    let game = instance.game()?;
    let mut hand: Option<Box<dyn AnyPlayer>> = None;
    loop {
        let (number, job) = {
            let idle = |desk: &mut Desk| desk.waiting.is_empty() && !desk.over;
            let desk = shared.changed.wait_while(shared.lock(), idle);
            let mut desk = desk.unwrap_or_else(PoisonError::into_inner);
            let Some(((_, number), job)) = desk.waiting.pop_first() else { return Ok(()) };
            desk.hands.insert(number, (job.id.clone(), job.off.clone()));
            (number, job)
        };
        let looked = look(args, instance, game, player, &mut hand, &job);
        {
            let mut desk = shared.lock();
            desk.hands.remove(&number);
            desk.answered += 1;
        }
        output::print_json(&looked.unwrap_or_else(|error| {
            hand = None; // it may have died
            json!({ "id": job.id, "turn": job.turn, "error": format!("{error:#}") })
        }))?;
    }
}

fn look(
    args: &Analyse,
    instance: &Instance,
    game: &dyn AnyGame,
    player: &Player,
    hand: &mut Option<Box<dyn AnyPlayer>>,
    job: &Job,
) -> Result<Value> {
    let mut board = game.board(job.start.as_deref())?;
    job.words.iter().try_for_each(|word| board.play(word))?;
    let told = |thought: &Thought, during: bool| {
        let mut told = answer(args, job.lines, instance, &*board, thought);
        told["id"] = json!(job.id);
        told["turn"] = json!(job.turn);
        told["seed"] = json!(job.seed);
        told["during_search"] = json!(during);
        told["cancelled"] = json!(job.off.load(Ordering::Relaxed));
        told
    };
    if board.outcome().is_some() {
        return Ok(told(&Thought::default(), false));
    }
    let thinker = match hand {
        Some(thinker) => thinker,
        None => hand.insert(player.open(game, job.seed)?),
    };
    // What one position taught is not to tell on another one: the same query has the same answer.
    thinker.reset(job.seed);
    thinker.set(job.start.as_deref(), &job.words)?;
    let mut last = Instant::now();
    let mut say = |thought: &Thought| {
        if job.report_every.is_some_and(|every| last.elapsed() >= every) {
            last = Instant::now();
            // Whoever does not read any more will not read the answer either, and then it is told.
            let _ = output::print_json(&told(thought, true));
        }
    };
    let thought = thinker.think(&job.budget, &job.off, &mut say).map_err(|fault| {
        anyhow::anyhow!("player '{}', {} to move: {fault}", args.player, name(board.to_move()))
    })?;
    Ok(told(&thought, false))
}
