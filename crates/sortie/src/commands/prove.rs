//! `sortie prove`: the value of a position by a tree of jobs, on the threads of this process. The folder keeps what was
//! asked for and every answer, so that a search that was stopped or killed goes on; `--proof` writes down the strategy.

use crate::args::Prove as Args;
use crate::commands::analyse::{ended, name};
use crate::commands::certificate;
use crate::contest::{ask_more, claim, fresh_path, processors, read_request, say_stopped};
use crate::convert::position;
use crate::database::worker::{Before, Book, Consulting, Reader};
use crate::database::{self, keep};
use crate::folder::write_whole;
use crate::grid;
use crate::grid::audit::{Audit, Said};
use crate::journal::{self, Journal};
use crate::output::{self, count, rounded};
use crate::players::Player;
use crate::progress::Progress;
use crate::session::stop_on_signals;
use crate::source::{Instance, read_text};
use crate::{Verdict, duration};
use anyhow::{Context, Result, anyhow, bail};
use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use sortie_core::exact::{
    After, Answer, AnyWorker, Asked, Bounds, Effort, Fault, Goal, Job, Partial, Proof, Statuses, Trust, Value,
};
use sortie_core::job::run_jobs;
use sortie_core::{AnyGame, JobId, JobSource, Side};
use sortie_jobs::tree::{Ended, JobTree, Plan, Policy, Question, RootMove, Select};
use sortie_runs::claim::FORMAT;
use sortie_runs::folder::RESULT;
use sortie_runs::job::JobLine;
use sortie_runs::kind::{JOBS, PROVE};
use sortie_store::{Added, Source};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

/// The proof that a database refers to, if `--proof` names no other place.
const PROOF: &str = "solution.proof";
const STATUSES_BYTES_MAX: u64 = 1 << 20;
/// Positions that the solver looks at for what the tree leaves open, when a proof is written down: for each of those so
/// many times the positions of a job.
const CERTIFY_TIMES: u64 = 200;
/// Moves of the root that are shown.
const MOVES_SHOWN: usize = 10;

/// Everything needed to repeat a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    format: u32,
    /// `domain/name`.
    pub instance: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// The moves to the position.
    pub moves: Vec<String>,
    /// The seed of our player.
    pub seed: u64,
    /// What a worker remembers, in MiB.
    pub memory: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proof: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    certificate: Option<PathBuf>,
    /// Who is asked where the exact solver has no result, as a player is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
    /// The database of proved positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    db: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    db_successors: bool,
    /// How the tree is grown.
    pub plan: Plan,
}

impl Said for JobLine {
    fn job(&self) -> &Job {
        &self.job
    }

    fn answer(&self) -> &Answer {
        &self.answer
    }

    fn by(&self) -> &str {
        &self.by
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let (start, board) = position::board(&instance, args.position.as_deref(), args.moves.as_deref())?;
    if let (Some(claim), Some(file)) = (&args.claim, &args.certificate) {
        let goal = Goal::parse(claim).ok_or_else(|| {
            anyhow!("--claim {claim}: expected 'first' or 'second', and 'wins' or 'draws at least'")
        })?;
        let stop = stop_on_signals()?;
        let budget = certificate::Budget::of(args.job_nodes, args.memory);
        let made = certificate::make(&instance, board.words(), goal, file, budget, &stop, args.report.quiet)?;
        match args.report.json {
            true => output::print_json(&made.to_json())?,
            false => output::print(&made.text())?,
        }
        return Ok(Verdict::Done);
    }
    if args.certificate.is_some() && args.position.is_some() {
        bail!(
            "--certificate: a certificate begins at the start of the game: give --moves instead of --position"
        );
    }
    let statuses = match &args.statuses {
        None => Statuses::default(),
        Some(path) => read_statuses(path)?,
    };
    if !(0.0..=100.0).contains(&args.c) {
        bail!("--c {}: expected a number from 0 to 100", args.c);
    }
    let request = Request {
        format: FORMAT,
        instance: instance.name.clone(),
        position: start,
        moves: board.words().to_vec(),
        seed: args.seed,
        memory: args.memory,
        proof: args.proof.clone(),
        certificate: args.certificate.clone(),
        player: args.player.clone(),
        db: args.db.clone(),
        db_successors: args.db_successors,
        plan: Plan {
            question: named("--ask", &args.ask, &QUESTIONS)?,
            select: named("--select", &args.select, &Select::ALL)?,
            policy: named("--policy", &args.policy, &Policy::ALL)?,
            jobs_max: args.jobs,
            effort: Effort { nodes: args.job_nodes, playouts: args.job_playouts },
            trust: named("--trust", &args.trust, &TRUST)?,
            c: args.c,
            statuses,
        },
    };
    let path = args.out.clone().unwrap_or_else(|| fresh_path("prove", &instance.name));
    if path.join(PROVE).exists() {
        // The same search with more jobs is the same search.
        ask_more(&path, PROVE, |there: &mut Request| {
            let jobs_max = request.plan.jobs_max;
            let plan = Plan { jobs_max, ..there.plan.clone() };
            let more = there.plan.jobs_max < jobs_max && Request { plan, ..there.clone() } == request;
            if more {
                there.plan.jobs_max = jobs_max;
            }
            Ok(more)
        })?;
    }
    let grid = grid::Spec::of(&args.grid, args.workers)?;
    let workers = args.workers.unwrap_or_else(processors);
    search(&request, &path, (workers, grid), args.report.json, args.report.quiet)
}

/// Goes on with the search in a folder, up to so many jobs if that is said.
pub fn resume(
    path: &Path,
    jobs: Option<u64>,
    workers: Option<u32>,
    grid: Option<grid::Spec>,
    json: bool,
    quiet: bool,
) -> Result<Verdict> {
    if let Some(jobs) = jobs {
        ask_more(path, PROVE, |there: &mut Request| {
            if jobs <= there.plan.jobs_max {
                bail!("--jobs {jobs}: {} may do {} already", path.display(), there.plan.jobs_max);
            }
            there.plan.jobs_max = jobs;
            Ok(true)
        })?;
    }
    let request: Request = read_request(path, PROVE)?;
    if request.format != FORMAT {
        bail!("{}: format {} is of another version: expected {FORMAT}", path.display(), request.format);
    }
    request.plan.statuses.check().map_err(|message| anyhow!("{}: {message}", path.join(PROVE).display()))?;
    search(&request, path, (workers.unwrap_or_else(processors), grid), json, quiet)
}

const QUESTIONS: [(&str, Question); 3] =
    [("value", Question::Value), ("win", Question::Win), ("draw", Question::Draw)];

const TRUST: [(&str, Trust); 3] =
    [("word", Trust::Word), ("solver", Trust::Solver), ("checked", Trust::Checked)];

/// What a word on the command line means.
pub fn named<T: Copy>(option: &str, word: &str, all: &[(&str, T)]) -> Result<T> {
    let found = all.iter().find(|(name, _)| *name == word);
    found.map(|(_, item)| *item).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        anyhow!("{option} {word}: expected one of {}", names.join(", "))
    })
}

fn read_statuses(path: &Path) -> Result<Statuses> {
    let text =
        read_text(path, STATUSES_BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let statuses: Statuses = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        anyhow!("{}:{line}: {}", path.display(), error.message())
    })?;
    statuses.check().map_err(|message| anyhow!("{}: {message}", path.display()))?;
    Ok(statuses)
}

/// Searches with so many threads, or with the workers of a grid.
fn search(
    request: &Request,
    path: &Path,
    (workers, grid): (u32, Option<grid::Spec>),
    json: bool,
    quiet: bool,
) -> Result<Verdict> {
    let instance = Instance::open_game(&request.instance)?;
    let game = instance.game()?;
    let mut board = game.board(request.position.as_deref())?;
    for word in &request.moves {
        board.play(word).with_context(|| path.join(PROVE).display().to_string())?;
    }
    if board.outcome().is_some() {
        bail!("the game is over at this position: there is nothing to prove");
    }
    if let (Some(player), Some(_)) = (&request.player, &grid) {
        // Its workers have it, and try it there.
        Player::parse(player)?.speaker()?;
    } else if let Some(player) = &request.player {
        let found = crate::engine::register(game, player, request.position.as_deref(), &request.moves)?;
        if !quiet {
            output::say(&found.to_string());
        }
    }
    let fresh = || -> Result<JobTree> {
        let mut board = game.board(request.position.as_deref())?;
        request.moves.iter().try_for_each(|word| board.play(word))?;
        Ok(JobTree::new(board, request.position.clone(), request.plan.clone()))
    };
    let mut tree = JobTree::new(board, request.position.clone(), request.plan.clone());
    let book = match &request.db {
        Some(place) => Some(Arc::new(Book::new(
            database::open(place)?,
            database::name(&instance)?,
            request.db_successors,
        ))),
        None => None,
    };
    let folder = claim(path, PROVE, request, "search")?;
    let mut audit = Audit::read(path)?;
    let before = know(&mut tree, path, &audit)?;
    let stop = stop_on_signals()?;
    if !quiet {
        output::say(&format!("proving {} in {}", instance.name, path.display()));
        if before > 0 {
            output::say(&format!("going on: {before} jobs were answered before"));
        }
    }
    let begun = Instant::now();
    let team = Team {
        game,
        request,
        book: book.clone(),
        idle: Mutex::default(),
        flags: Mutex::default(),
        told: Mutex::default(),
    };
    let (mut told, mut trouble, mut synced) = (None, None, Ok(()));
    // Whether all that is claimed was proved by this process, or is told by a database.
    let mut sound = false;
    while trouble.is_none() && !sound {
        let journal = Journal::open(&folder, JOBS)?;
        let mut recorder = Recorder {
            tree: &mut tree,
            journal,
            progress: Progress::new(quiet, 0.0),
            begun,
            before,
            team: &team,
            jobs: HashMap::new(),
            reader: match (&grid, &book) {
                (Some(_), Some(book)) => Some(Reader::new(book.clone(), game, &request.plan.statuses)),
                // Workers of this process ask it themselves.
                _ => None,
            },
            found: HashMap::new(),
            called_off: Vec::new(),
            trouble: None,
        };
        let worked = match &grid {
            None => {
                run_jobs(&mut recorder, workers as usize, &stop, |id, job| team.work(id, job, &stop));
                Ok(None)
            }
            Some(grid) => {
                let liars = audit.liars();
                let (about, place) = ((game, request), (&folder, quiet));
                grid::prove::drive(grid, &mut recorder, about, place, liars, &stop).map(Some)
            }
        };
        recorder.progress.clear();
        synced = recorder.journal.sync();
        trouble = recorder.trouble;
        match worked {
            Ok(grid) => told = grid.or(told),
            Err(error) => trouble = trouble.or(Some(error)),
        }
        let ended = matches!(tree.ended(), Some(Ended::Decided | Ended::Contradiction));
        if trouble.is_some() || !ended {
            break;
        }
        let lines = journal::read::<JobLine>(&path.join(JOBS))?;
        let own = (game, request.seed, (request.memory as usize) << 20);
        let reviewed = audit.review(&folder, &tree, &lines, own, &stop, &mut |text| {
            if !quiet {
                output::say(text);
            }
        });
        match reviewed {
            Ok(Some(true)) => sound = true,
            Ok(Some(false)) => {
                tree = fresh()?;
                know(&mut tree, path, &audit)?;
            }
            Ok(None) => break,
            Err(error) => trouble = Some(error),
        }
    }
    // What was decided and not proved again is nothing to tell.
    let sound = sound || !matches!(tree.ended(), Some(Ended::Decided | Ended::Contradiction));
    let (mut proof, mut stored) = (None, None);
    let decided = trouble.is_none() && sound && tree.ended() == Some(Ended::Decided);
    if decided && (request.proof.is_some() || book.is_some()) {
        if !quiet {
            output::say("decided; writing the proof down");
        }
        let answers = match book {
            Some(_) => journal::read::<JobLine>(&path.join(JOBS))?,
            None => Vec::new(),
        };
        let proved =
            |(number, line): (usize, JobLine)| (line.job, audit.proved(number, &line.by, line.answer));
        let answers: Vec<(Job, Answer)> = answers.into_iter().enumerate().map(proved).collect();
        let run = path.display().to_string();
        match &book {
            Some(book) if request.proof.is_none() && keep::own(&answers) => {
                stored = Some(keep::tree(&*book.store, &book.game, game, &tree, &answers, &run)?);
            }
            _ => {
                let file = request.proof.clone().unwrap_or_else(|| path.join(PROOF));
                let written = write_proof(game, request, &tree, &file, book.as_deref(), &stop)?;
                if let Some(book) = &book {
                    let source = Source { run, ..super::db::source(&written.proof, &file)? };
                    let added = keep::proof(&*book.store, &book.game, game, &written.proof, source);
                    stored = Some(added.with_context(|| {
                        let place = request.db.as_deref().unwrap_or_default();
                        format!("not stored; `sortie db put {place} {}` tries again", file.display())
                    })?);
                }
                proof = Some(written);
            }
        }
    }
    let mut certificates = Vec::new();
    if let Some(file) = request.certificate.as_ref().filter(|_| decided) {
        // A draw is two claims, each with a file of its own.
        let goals = tree.goals();
        for &goal in &goals {
            let file = match goals.len() {
                1 => file.clone(),
                _ => certificate::beside(file, goal.side),
            };
            let budget = certificate::Budget::of(request.plan.effort.nodes, request.memory);
            certificates.push(certificate::make(
                &instance,
                &request.moves,
                goal,
                &file,
                budget,
                &stop,
                quiet,
            )?);
        }
    }
    if let Some(unread) = book.as_ref().and_then(|book| lock(&book.trouble).take()) {
        output::say(&format!("sortie: the search went on without the database: {unread}"));
    }
    let seconds = begun.elapsed().as_secs_f64();
    if let Some(Json::Object(told)) = &mut told {
        told.insert("audit".into(), serde_json::to_value(audit.tally())?);
    }
    let book = book.as_deref();
    let report =
        Report { request, tree: &tree, sound, path, seconds, proof, certificates, book, stored, grid: told };
    let result = report.to_json();
    let written = folder.write(RESULT, (serde_json::to_string_pretty(&result)? + "\n").as_bytes());
    // What was found is told also when the disk is full by now.
    match json {
        true => output::print_json(&result)?,
        false => output::print(&report.text())?,
    }
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    synced?;
    written.with_context(|| format!("cannot write {}", path.join(RESULT).display()))?;
    match tree.ended().filter(|_| sound) {
        Some(Ended::Decided) => Ok(Verdict::Done),
        None => {
            say_stopped(path);
            Ok(Verdict::Done)
        }
        Some(Ended::Jobs) => Ok(Verdict::NotFound),
        Some(Ended::Failures) => bail!("one job after the other failed: see {}", path.join(JOBS).display()),
        Some(Ended::Contradiction) => bail!("two exact answers contradict each other: this is a bug"),
    }
}

/// Takes the answers of earlier sessions; returns how many there were.
fn know(tree: &mut JobTree, path: &Path, audit: &Audit) -> Result<u64> {
    let path = path.join(JOBS);
    let lines: Vec<JobLine> = journal::read(&path)?;
    let count = lines.len() as u64;
    for (number, line) in lines.into_iter().enumerate() {
        let answer = audit.counts(number, &line.by, line.answer);
        // What was a fault then is one now; an answer about a node that is not there is of another search, or was about
        // what a false claim had led to.
        if let Err(fault @ Fault::Unknown) = tree.known(&line.job, answer)
            && audit.is_empty()
        {
            bail!("{}:{}: {fault}", path.display(), number + 1);
        }
    }
    tree.take_cancelled();
    Ok(count)
}

/// The workers and what they are told.
struct Team<'a> {
    game: &'a dyn AnyGame,
    request: &'a Request,
    book: Option<Arc<Book>>,
    idle: Mutex<Vec<Box<dyn AnyWorker>>>,
    /// Raised when a job is not wanted any more.
    flags: Mutex<HashMap<JobId, Arc<AtomicBool>>>,
    /// What workers said of jobs that are under way.
    told: Mutex<Vec<(JobId, Partial)>>,
}

impl Team<'_> {
    fn hire(&self) -> Result<Box<dyn AnyWorker>> {
        let Request { player, memory, plan: Plan { statuses, .. }, seed, .. } = self.request;
        let worker =
            crate::engine::hire(self.game, player.as_deref(), (*memory as usize) << 20, statuses, *seed)?;
        Ok(match &self.book {
            Some(book) => Box::new(Consulting::new(worker, book.clone(), self.game, statuses)),
            None => worker,
        })
    }

    fn work(&self, id: JobId, job: &Job, stop: &AtomicBool) -> Option<Result<Answer>> {
        let cancel = lock(&self.flags).entry(id).or_default().clone();
        let taken = lock(&self.idle).pop();
        let mut worker = match taken.map_or_else(|| self.hire(), Ok) {
            Ok(worker) => worker,
            Err(error) => return Some(Err(error)),
        };
        let begun = ThreadTime::now();
        let asked = Asked { stop, cancel: &cancel };
        let answer = worker.answer(job, asked, &mut |partial| lock(&self.told).push((id, partial)));
        lock(&self.idle).push(worker);
        lock(&self.flags).remove(&id);
        let seconds = (begun.elapsed().as_secs_f64() * 1e6).round() / 1e6;
        match answer {
            Ok(answer) => answer.map(|answer| Ok(Answer { seconds, ..answer })),
            Err(error) => Some(Err(error.into())),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The tree, with its answers written down before they count.
pub struct Recorder<'a> {
    tree: &'a mut JobTree,
    journal: Journal,
    progress: Progress,
    begun: Instant,
    /// Answers of earlier sessions.
    before: u64,
    team: &'a Team<'a>,
    jobs: HashMap<JobId, Job>,
    /// Who asks the database for workers that have none.
    reader: Option<Reader>,
    /// What it knew before jobs that are out.
    found: HashMap<JobId, Vec<After>>,
    /// Jobs that are not wanted any more, for whoever tells workers elsewhere.
    pub called_off: Vec<JobId>,
    /// What ended the search early.
    trouble: Option<anyhow::Error>,
}

impl Recorder<'_> {
    fn take(&mut self, id: JobId, answer: Result<Answer>, by: &str) -> Result<bool> {
        let answer = answer?;
        let Some(job) = self.jobs.remove(&id).filter(|_| self.tree.waits(id)) else { return Ok(false) };
        let line = JobLine { job, answer, by: by.to_string() };
        self.journal.append(&line)?;
        Ok(self.tree.done(id, line.answer))
    }

    /// Takes the answer of a worker elsewhere, with what the database knows of the position after it.
    #[cfg(feature = "grid")]
    pub fn accept(&mut self, id: JobId, mut answer: Answer, by: &str) -> bool {
        let found = self.found.remove(&id).unwrap_or_default();
        let asked = match (&self.reader, self.jobs.get(&id)) {
            (Some(reader), Some(job)) => reader.after(job, &mut answer, found),
            _ => Ok(()),
        };
        self.hear(id, asked.map(|()| answer).map_err(Into::into), by)
    }

    /// Takes what a worker elsewhere says of a job that is under way.
    #[cfg(feature = "grid")]
    pub fn partial(&mut self, id: JobId, partial: Partial) {
        lock(&self.team.told).push((id, partial));
    }

    fn hear(&mut self, id: JobId, answer: Result<Answer>, by: &str) -> bool {
        let wanted = self.take(id, answer, by).unwrap_or_else(|trouble| {
            self.trouble.get_or_insert(trouble);
            false
        });
        self.call_off();
        let seconds = self.begun.elapsed().as_secs_f64();
        self.progress.show(seconds, || live(self.tree, self.before, seconds));
        wanted
    }

    fn call_off(&mut self) {
        let over = self.finished();
        let cancelled = self.tree.take_cancelled();
        self.called_off.extend(&cancelled);
        let flags = lock(&self.team.flags);
        for (id, flag) in flags.iter() {
            if over || cancelled.contains(id) {
                flag.store(true, Relaxed);
            }
        }
    }
}

impl JobSource for Recorder<'_> {
    type Job = Job;
    type Answer = Result<Answer>;

    fn next(&mut self) -> Option<(JobId, Job)> {
        for (id, partial) in std::mem::take(&mut *lock(&self.team.told)) {
            self.tree.partial(id, &partial);
        }
        loop {
            let (id, job) = self.tree.next()?;
            self.jobs.insert(id, job.clone());
            let answered = match self.reader.as_ref().map(|reader| reader.before(&job)) {
                None => return Some((id, job)),
                Some(Ok(Before::Open(found))) => {
                    self.found.insert(id, found);
                    return Some((id, job));
                }
                Some(Ok(Before::Answered(answer))) => Ok(answer),
                Some(Err(error)) => Err(error.into()),
            };
            self.done(id, answered);
            if self.finished() {
                return None;
            }
        }
    }

    fn done(&mut self, id: JobId, answer: Result<Answer>) -> bool {
        self.hear(id, answer, "")
    }

    fn lost(&mut self, id: JobId) {
        self.jobs.remove(&id);
        self.found.remove(&id);
        self.tree.lost(id);
    }

    fn finished(&self) -> bool {
        self.trouble.is_some() || self.tree.finished()
    }
}

/// `12.0 s  1,234 jobs  103/s  1,300 nodes  proof 12  disproof 34  best d4`.
fn live(tree: &JobTree, before: u64, seconds: f64) -> String {
    let tally = tree.tally();
    let (proof, disproof) = tree.numbers();
    let number = |n: u64| if n > u64::from(u32::MAX) { "-".to_string() } else { count(n) };
    let best = tree.root_moves().into_iter().next().map_or(String::new(), |m| format!("  best {}", m.word));
    format!(
        "{:>9}  {} jobs  {}/s  {} nodes  proof {}  disproof {}{best}",
        duration::show(seconds),
        count(tally.answered),
        count(((tally.answered - before.min(tally.answered)) as f64 / seconds.max(1e-3)) as u64),
        count(tree.nodes() as u64),
        number(proof),
        number(disproof),
    )
}

/// What was written.
struct Written {
    file: PathBuf,
    proof: Proof,
}

/// Writes the strategies of all that is proved, after checking them.
fn write_proof(
    game: &dyn AnyGame,
    request: &Request,
    tree: &JobTree,
    file: &Path,
    book: Option<&Book>,
    stop: &AtomicBool,
) -> Result<Written> {
    let nodes_max = request.plan.effort.nodes.saturating_mul(CERTIFY_TIMES);
    let section = |goal: Goal| {
        let (start, mut guide) = (request.position.as_deref(), tree.guide(goal));
        if let Some(book) = book {
            guide = keep::longer(book, game, start, &request.moves, goal, guide)?;
        }
        let section = game.certify(start, &request.moves, goal, &guide, nodes_max, &|| stop.load(Relaxed));
        section
            .map_err(|message| anyhow!("the question is decided, but the proof cannot be written: {message}"))
    };
    let tally = tree.tally();
    let proof = Proof {
        instance: request.instance.clone(),
        start: request.position.clone(),
        moves: request.moves.clone(),
        fields: vec![
            ("jobs".into(), tally.answered.to_string()),
            ("found".into(), crate::clock::now()),
            ("version".into(), format!("sortie {}", env!("CARGO_PKG_VERSION"))),
        ],
        sections: tree.goals().into_iter().map(section).collect::<Result<_>>()?,
    };
    game.check(&proof).context("the proof does not check: this is a bug")?;
    write_whole(file, proof.to_text().as_bytes())
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(Written { file: file.to_path_buf(), proof })
}

struct Report<'a> {
    request: &'a Request,
    tree: &'a JobTree,
    /// What is decided was proved by this process.
    sound: bool,
    path: &'a Path,
    seconds: f64,
    proof: Option<Written>,
    certificates: Vec<certificate::Made>,
    book: Option<&'a Book>,
    stored: Option<Added>,
    /// What a grid did.
    grid: Option<Json>,
}

impl Report<'_> {
    fn to_json(&self) -> Json {
        let (tree, request, tally) = (self.tree, self.request, self.tree.tally());
        let moves: Vec<Json> = tree.root_moves().iter().map(move_json).collect();
        json!({
            "instance": request.instance,
            "position": request.position,
            "moves": request.moves,
            "to_move": name(tree.to_move()),
            "value": tree.bounds().value().filter(|_| self.sound).map(|value| ended(value.outcome())),
            "proved": self.goals(),
            "ended": tree.ended().filter(|_| self.sound),
            "best": self.best(),
            "root_moves": moves,
            "player": request.player,
            "plan": request.plan,
            "jobs": tally,
            "nodes": tree.nodes(),
            "seconds": rounded(self.seconds),
            "proof": self.proof.as_ref().map(|w| json!({ "file": output::path(&w.file), "positions": w.proof.positions() })),
            "certificates": self.certificates.iter().map(certificate::Made::to_json).collect::<Vec<_>>(),
            "database": self.book.map(|book| self.book_json(book)),
            "grid": self.grid,
            "folder": output::path(self.path),
            "version": env!("CARGO_PKG_VERSION"),
        })
    }

    fn book_json(&self, book: &Book) -> Json {
        let tally = &book.tally;
        let number = |n: &std::sync::atomic::AtomicU64| n.load(Relaxed);
        json!({
            "place": self.request.db, "asked": number(&tally.asked), "won": number(&tally.won),
            "lost": number(&tally.lost), "spared": number(&tally.spared),
            "stored": self.stored.map(|added| added.new + added.better), "known": self.stored.map(|added| added.known),
        })
    }

    fn goals(&self) -> Vec<String> {
        let goals = if self.sound { self.tree.goals() } else { Vec::new() };
        goals.iter().map(|goal| goal.to_string()).collect()
    }

    /// The best move, unless all are lost.
    fn best(&self) -> Option<String> {
        let lost = self.tree.bounds().view(self.tree.to_move()).high == Value::Loss;
        self.tree.root_moves().into_iter().next().filter(|_| !lost).map(|m| m.word)
    }

    fn text(&self) -> String {
        let (tree, tally) = (self.tree, self.tree.tally());
        let proved = self.goals();
        let proved = match tree.bounds().value().filter(|_| self.sound) {
            Some(Value::Draw) => "a draw".to_string(),
            _ if proved.is_empty() => "nothing yet".to_string(),
            _ => proved.join(", "),
        };
        let mut text = format!("{:<14} {:<9} {:>9} {:>7}  status\n", "move", "proved", "nodes", "value");
        for m in tree.root_moves().iter().take(MOVES_SHOWN) {
            let value = 100.0 * tree.to_move().view(m.value);
            text += &format!(
                "{:<14} {:<9} {:>9} {value:>5.1} %  {}\n",
                m.word,
                bounds_text(m.bounds, tree.to_move()),
                count(m.size),
                status(m),
            );
        }
        let more = tree.root_moves().len().saturating_sub(MOVES_SHOWN);
        if more > 0 {
            text += &format!("... and {more} more moves\n");
        }
        text += &format!(
            "\nproved    {proved} ({} to move)\nbest      {}\njobs      {} ({} lost, {} faulty, {} cancelled, {} claims doubted), {} positions in {} of CPU time\n",
            name(tree.to_move()),
            self.best().unwrap_or_else(|| "none".into()),
            count(tally.answered),
            count(tally.lost),
            count(tally.faulty),
            count(tally.cancelled),
            count(tally.doubted),
            count(tally.nodes),
            duration::show(tally.seconds),
        );
        if let Some(grid) = &self.grid {
            text += &grid::tally_text(grid);
        }
        if let Some(written) = &self.proof {
            let file = written.file.display();
            text += &format!("proof     {file}, {} positions\n", count(written.proof.positions() as u64));
            text += &format!("verify    {}\n", output::command("verify", &written.file));
        }
        for made in &self.certificates {
            text += &format!("certified {}\n", made.text());
        }
        if let Some(book) = self.book {
            let (tally, added) = (&book.tally, self.stored.unwrap_or_default());
            text += &format!(
                "database  {} positions looked up, {} won and {} other hits, {} jobs spared; {} stored, {} were there\n",
                count(tally.asked.load(Relaxed)),
                count(tally.won.load(Relaxed)),
                count(tally.lost.load(Relaxed)),
                count(tally.spared.load(Relaxed)),
                count(added.new + added.better),
                count(added.known),
            );
        }
        text + &format!("folder    {}", self.path.display())
    }
}

fn status(m: &RootMove) -> String {
    let word = serde_json::to_value(m.status).ok();
    word.as_ref().and_then(Json::as_str).unwrap_or_default().to_string()
}

fn move_json(m: &RootMove) -> Json {
    let number = |n: u64| (n <= u64::from(u32::MAX)).then_some(n);
    json!({
        "move": m.word, "bounds": m.bounds, "status": m.status, "nodes": m.size, "value": rounded(m.value),
        "proof": number(m.proof), "disproof": number(m.disproof),
    })
}

/// What is proved of a move, for the side that makes it.
fn bounds_text(bounds: Bounds, side: Side) -> &'static str {
    let seen = bounds.view(side);
    match (seen.low, seen.high) {
        (Value::Win, _) => "wins",
        (_, Value::Loss) => "loses",
        (Value::Draw, Value::Draw) => "draws",
        (Value::Draw, _) => ">= draw",
        (_, Value::Draw) => "<= draw",
        _ => "-",
    }
}
