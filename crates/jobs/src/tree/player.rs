//! The playing agent of Shih et al. (2018): for every turn a job tree of so many jobs. JL-UCT plays the move with the
//! largest subtree, JL-PNS the best status and ratio. The tree is kept: the next turn begins with the part of it that the
//! moves played lead to. Where a turn has several moves (Connect6), the search is done once a turn.

use super::nodes::Policy;
use super::select::Select;
use super::source::{Ended, JobTree, Plan, RootMove, Tally};
use serde::{Deserialize, Serialize};
use sortie_core::AnyGame;
use sortie_core::exact::{Answer, Job};
use sortie_core::exact::{AnyWorker, Asked};
use sortie_core::exact::{Bounds, Value};
use sortie_core::exact::{Effort, Trust};
use sortie_core::job::run_jobs;
use sortie_core::play::{Fault, Line};
use sortie_core::{AnyBoard, AnyPlayer, Budget, PlayError, Thought};
use sortie_core::{JobId, JobSource};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// Jobs of a turn where nothing else ends it.
const JOBS: u32 = 200;
/// Seconds between two reports.
const TELL: f64 = 0.25;
/// Lines of a thought.
const LINES_MAX: usize = 64;

/// How it plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobPlay {
    /// Jobs of a turn; 0: as many as its budget allows, and 200 where that has no end.
    pub jobs: u32,
    /// How a leaf is selected.
    pub select: Select,
    /// What it counts as until its job comes back.
    pub policy: Policy,
    /// The weight of exploration.
    pub c: f64,
    /// Positions that the exact solver, or the game's own engine, looks at in a job.
    pub nodes: u32,
    /// Simulations of our player where the exact solver has no result.
    pub playouts: u32,
    /// Jobs at a time.
    pub threads: u32,
    /// What a worker remembers, in MiB.
    pub memory: u32,
    /// Begin with what the last turn has found out.
    pub reuse: bool,
}

impl Default for JobPlay {
    fn default() -> Self {
        JobPlay {
            jobs: 0,
            select: Select::Uct,
            policy: Policy::VeFlag,
            // Opinions of solvers and engines differ by little, and a new sibling comes with every leaf.
            c: 0.05,
            nodes: 1000,
            playouts: 100,
            threads: 1,
            memory: 64,
            reuse: true,
        }
    }
}

impl JobPlay {
    /// What is wrong with parameters from outside.
    pub fn check(&self) -> Result<(), String> {
        if !(0.0..=100.0).contains(&self.c) {
            return Err(format!("c {}: expected 0 to 100", self.c));
        }
        if self.nodes == 0 {
            return Err("nodes 0: expected at least 1".into());
        }
        if !(1..=1024).contains(&self.threads) {
            return Err(format!("threads {}: expected 1 to 1024", self.threads));
        }
        if !(1..=1_000_000).contains(&self.memory) {
            return Err(format!("memory {}: expected 1 to 1000000", self.memory));
        }
        Ok(())
    }

    fn plan(&self, jobs_max: u64) -> Plan {
        Plan {
            select: self.select,
            policy: self.policy,
            jobs_max,
            effort: Effort { nodes: self.nodes.into(), playouts: self.playouts.into() },
            trust: Trust::Solver,
            c: self.c,
            ..Plan::default()
        }
    }
}

/// Finds another worker. This is also where a worker that consults a database would come from.
pub type Hire = Box<dyn Fn() -> Result<Box<dyn AnyWorker>, String> + Send + Sync>;

/// The player.
pub struct JobPlayer {
    game: Box<dyn AnyGame>,
    spec: JobPlay,
    team: Team,
    start: Option<String>,
    board: Box<dyn AnyBoard>,
    /// Of the position on the board, if it is known.
    tree: Option<JobTree>,
    /// The rest of the turn that was thought about, and the thought.
    rest: Vec<String>,
    last: Thought,
}

impl JobPlayer {
    /// A player at the start of a game. The first worker is hired at once, so that one that cannot be is refused.
    pub fn new(game: &dyn AnyGame, spec: JobPlay, hire: Hire) -> Result<JobPlayer, String> {
        let board = game.board(None).map_err(|error| error.to_string())?;
        let team = Team { idle: Mutex::new(vec![hire()?]), hire };
        let (rest, last) = (Vec::new(), Thought::default());
        Ok(JobPlayer { game: game.share(), spec, team, start: None, board, tree: None, rest, last })
    }
}

/// Workers, warm from their last job.
struct Team {
    hire: Hire,
    idle: Mutex<Vec<Box<dyn AnyWorker>>>,
}

impl Team {
    /// One job, by whoever is free. `None`: it was ended early; an error ends the search.
    fn work(&self, job: &Job, asked: Asked) -> Result<Option<Answer>, String> {
        let taken = lock(&self.idle).pop();
        let mut worker = match taken {
            Some(worker) => worker,
            None => (self.hire)()?,
        };
        let answer = worker.answer(job, asked, &mut |_| {}).map_err(|error| error.to_string());
        lock(&self.idle).push(worker);
        answer
    }
}

/// What a tree says.
fn thought(tree: &JobTree) -> Thought {
    let moves = tree.root_moves();
    let line = |m: &RootMove| Line {
        moves: tree.line(&m.word).0,
        visits: m.size,
        value: m.bounds.value().map_or(m.value, |value| value.number()),
        proved: m.bounds.value().map(|value| value.outcome()),
    };
    let lines: Vec<Line> = moves.iter().take(LINES_MAX).map(line).collect();
    let proved = tree.bounds().value();
    let value = proved.map_or_else(|| lines.first().map_or(0.5, |line| line.value), |value| value.number());
    Thought {
        best: moves.first().map(|m| m.word.clone()),
        value,
        proved: proved.map(|value| value.outcome()),
        depth: lines.iter().map(|line| line.moves.len() as u32).max().unwrap_or(0),
        lines,
        playouts: tree.tally().nodes,
        nodes: tree.nodes() as u64,
        ..Thought::default()
    }
}

/// The tree with the budget of a turn.
struct Timed<'a> {
    tree: JobTree,
    budget: Budget,
    stop: &'a AtomicBool,
    /// Ends jobs under way.
    halt: &'a AtomicBool,
    clock: &'a (dyn Fn() -> f64 + Sync),
    /// Answers and positions of an earlier thought about the same position.
    before: Tally,
    cpu_seconds: f64,
    /// When it is time for a report.
    report: f64,
    trouble: Option<String>,
}

impl Timed<'_> {
    /// Nothing more is to be done in this turn. Without a single answer there is no move.
    fn over(&self) -> bool {
        let tally = self.tree.tally();
        let (nodes, answered) = (tally.nodes - self.before.nodes, tally.answered - self.before.answered);
        let reached = |limit: Option<u64>| limit.is_some_and(|limit| nodes >= limit);
        let passed = |limit: Option<f64>, now: f64| limit.is_some_and(|limit| now >= limit);
        let spent = reached(self.budget.playouts)
            || reached(self.budget.nodes)
            || passed(self.budget.cpu_seconds, self.cpu_seconds)
            || passed(self.budget.seconds, (self.clock)())
            || self.stop.load(Relaxed);
        self.trouble.is_some() || self.tree.finished() || spent && answered > 0
    }

    /// Does something with the tree and counts what it cost this thread.
    fn measured<T>(&mut self, work: impl FnOnce(&mut JobTree) -> T) -> T {
        let never = AtomicBool::new(false);
        let meter = Budget::default().meter(&never);
        let result = work(&mut self.tree);
        self.cpu_seconds += meter.cpu_seconds();
        result
    }
}

impl JobSource for Timed<'_> {
    type Job = Job;
    type Answer = Result<(Answer, f64), String>;

    fn next(&mut self) -> Option<(JobId, Job)> {
        self.measured(JobTree::next)
    }

    fn done(&mut self, id: JobId, answer: Self::Answer) -> bool {
        match answer {
            Ok((answer, cpu_seconds)) => {
                self.cpu_seconds += cpu_seconds;
                self.measured(|tree| tree.done(id, answer))
            }
            Err(trouble) => {
                self.tree.lost(id);
                self.trouble.get_or_insert(trouble);
                false
            }
        }
    }

    fn lost(&mut self, id: JobId) {
        self.tree.lost(id);
    }

    fn finished(&self) -> bool {
        let over = self.over();
        if over {
            self.halt.store(true, Relaxed);
        }
        over || (self.clock)() >= self.report
    }
}

impl AnyPlayer for JobPlayer {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let mut board = self.game.board(start)?;
        for word in words {
            board.play(word)?;
        }
        let follows = start == self.start.as_deref() && board.words().starts_with(self.board.words());
        let new = if follows { board.words()[self.board.words().len()..].to_vec() } else { Vec::new() };
        // Whoever asks again about the same position wants more thought.
        let rest = self.rest.strip_prefix(&new[..]).filter(|_| !new.is_empty());
        self.rest = rest.map_or(Vec::new(), <[_]>::to_vec);
        if !follows || !self.spec.reuse && self.rest.is_empty() {
            self.tree = None;
        }
        for word in &new {
            self.tree = self.tree.take().and_then(|tree| tree.advance(word));
        }
        (self.start, self.board) = (start.map(str::to_string), board);
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        if let Some(outcome) = self.board.outcome() {
            return Ok(Thought { value: outcome.value(), proved: Some(outcome), ..Thought::default() });
        }
        if let Some(word) = self.rest.first() {
            return Ok(Thought { best: Some(word.clone()), ..self.last.clone() });
        }
        let jobs = match self.spec.jobs {
            0 if *budget == Budget::default() => JOBS.into(),
            0 => u64::MAX / 4,
            jobs => jobs.into(),
        };
        // What was proved above says that the position is won, but not always how.
        let usable = |tree: &JobTree| {
            let low = |bounds: Bounds| bounds.view(tree.to_move()).low;
            let best = tree.root_moves().first().map_or(Value::Loss, |m| low(m.bounds));
            tree.ended() != Some(Ended::Contradiction)
                && (tree.ended() != Some(Ended::Decided) || best >= low(tree.bounds()))
        };
        let mut tree = match self.tree.take().filter(usable) {
            Some(tree) => tree,
            None => {
                let mut board = self.game.board(self.start.as_deref()).expect("it was set before");
                self.board.words().iter().for_each(|word| board.play(word).expect("it was played before"));
                JobTree::new(board, self.start.clone(), self.spec.plan(jobs))
            }
        };
        let before = tree.tally();
        tree.set_jobs_max(before.answered + jobs);
        let (never, halt) = (AtomicBool::new(false), AtomicBool::new(false));
        let begun = std::time::Instant::now();
        let clock = || begun.elapsed().as_secs_f64();
        let mut source = Timed {
            tree,
            budget: *budget,
            stop,
            halt: &halt,
            clock: &clock,
            before,
            cpu_seconds: 0.0,
            report: TELL,
            trouble: None,
        };
        let team = &self.team;
        loop {
            run_jobs(&mut source, self.spec.threads as usize, &never, |_, job| {
                let meter = Budget::default().meter(&never);
                match team.work(job, Asked { stop: &never, cancel: &halt }) {
                    Ok(answer) => answer.map(|answer| Ok((answer, meter.cpu_seconds()))),
                    Err(trouble) => Some(Err(trouble)),
                }
            });
            if source.over() {
                break;
            }
            source.report = clock() + TELL;
            tell(&Thought { seconds: clock(), cpu_seconds: source.cpu_seconds, ..thought(&source.tree) });
        }
        let Timed { tree, cpu_seconds, trouble, .. } = source;
        if let Some(trouble) = trouble.filter(|_| tree.root_moves().is_empty()) {
            return Err(Fault::Crashed(trouble));
        }
        let mut found = Thought { seconds: clock(), cpu_seconds, ..thought(&tree) };
        if found.best.is_none() {
            // All is lost, or nobody could answer: any move is as good as another.
            found.best = self.board.legal().into_iter().next();
        }
        if let Some(best) = &found.best {
            let (line, own) = tree.line(best);
            self.rest = line.into_iter().take(own).collect();
            self.last = Thought { seconds: 0.0, cpu_seconds: 0.0, playouts: 0, ..found.clone() };
        }
        self.tree = Some(tree);
        Ok(found)
    }

    fn reset(&mut self, _seed: u64) {
        (self.tree, self.rest) = (None, Vec::new());
        self.board = self.game.board(None).expect("it was opened before");
        self.start = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Boxed;
    use sortie_core::toy::Nim;

    fn player(heap: u32, spec: JobPlay) -> JobPlayer {
        let game = Boxed::new(Nim { heap });
        let shared = game.share();
        let hire: Hire = Box::new(move || Ok(shared.worker(1 << 20, &Plan::default().statuses, 1)));
        JobPlayer::new(&game, spec, hire).unwrap()
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    #[test]
    fn it_plays_the_winning_move_with_every_selector_and_on_threads() {
        let never = AtomicBool::new(false);
        for (_, select) in Select::ALL {
            for threads in [1, 3] {
                let spec =
                    JobPlay { jobs: 300, select, nodes: 3, playouts: 5, threads, ..JobPlay::default() };
                let mut player = player(14, spec);
                for (moves, best) in [("", "2"), ("2 1", "3"), ("2 1 3 3", "1")] {
                    player.set(None, &words(moves)).unwrap();
                    let thought = player.think(&Budget::default(), &never, &mut |_| {}).unwrap();
                    assert_eq!(thought.best.as_deref(), Some(best), "{select:?} after '{moves}'");
                    assert!(thought.playouts > 0 || thought.proved.is_some());
                }
                player.set(None, &words("2 1 3 3 1 1 3")).unwrap();
                let end = player.think(&Budget::default(), &never, &mut |_| {}).unwrap();
                assert_eq!((end.best, end.value), (None, 1.0));
            }
        }
    }

    #[test]
    fn the_tree_is_kept_for_the_moves_that_were_played_and_dropped_otherwise() {
        let never = AtomicBool::new(false);
        let spec = JobPlay { jobs: 12, nodes: 1, playouts: 5, ..JobPlay::default() };
        let mut player = player(60, spec);
        player.set(None, &[]).unwrap();
        let thought = player.think(&Budget::default(), &never, &mut |_| {}).unwrap();
        let line = thought.lines[0].moves.clone();
        assert!(line.len() >= 2 && thought.nodes > 3, "{thought:?}");
        player.set(None, &line[..2]).unwrap();
        let kept = player.tree.as_ref().map(JobTree::nodes);
        assert!(kept.is_some_and(|nodes| nodes >= 1 && (nodes as u64) < thought.nodes));
        player.set(None, &words("3 3 3")).unwrap();
        assert!(player.tree.is_none());
        player.reset(1);
        assert!(player.set(None, &words("4")).is_err() && player.set(Some("x"), &[]).is_err());
    }

    #[test]
    fn a_part_of_a_tree_goes_on_to_the_same_value() {
        let game = Boxed::new(Nim { heap: 13 });
        let spec = JobPlay { nodes: 2, playouts: 0, ..JobPlay::default() };
        let never = AtomicBool::new(false);
        for (_, policy) in Policy::ALL {
            let plan = JobPlay { policy, ..spec.clone() }.plan(9);
            let mut tree = JobTree::new(game.board(None).unwrap(), None, plan);
            let mut worker = game.worker(1, &Plan::default().statuses, 1);
            let mut run = |tree: &mut JobTree| {
                while let Some((id, job)) = tree.next() {
                    let asked = Asked { stop: &never, cancel: &never };
                    let answer = worker.answer(&job, asked, &mut |_| {}).unwrap().unwrap();
                    tree.done(id, answer);
                }
            };
            run(&mut tree);
            let first = tree.root_moves()[0].word.clone();
            // One job is out: it is forgotten.
            tree.set_jobs_max(10);
            let out = tree.next().map(|(id, _)| id);
            let mut rest = tree.advance(&first).expect("it has children");
            assert!(out.is_none_or(|id| !rest.waits(id)));
            rest.set_jobs_max(5000);
            run(&mut rest);
            let left = 13 - first.parse::<u32>().unwrap();
            let wins = if left % 4 == 0 { sortie_core::Side::First } else { sortie_core::Side::Second };
            assert_eq!(rest.bounds().value().map(|v| v.outcome()), Some(sortie_core::Outcome::Win(wins)));
        }
    }

    #[test]
    fn nonsense_is_refused_and_a_worker_that_fails_is_a_fault() {
        for spec in [
            JobPlay { c: f64::NAN, ..JobPlay::default() },
            JobPlay { nodes: 0, ..JobPlay::default() },
            JobPlay { threads: 0, ..JobPlay::default() },
            JobPlay { memory: 0, ..JobPlay::default() },
        ] {
            assert!(spec.check().is_err());
        }
        struct Broken;
        impl AnyWorker for Broken {
            fn answer(
                &mut self,
                _: &Job,
                _: Asked,
                _: &mut dyn FnMut(sortie_core::exact::Partial),
            ) -> Result<Option<Answer>, PlayError> {
                Err(PlayError::Engine("it fell over".into()))
            }
        }
        let game = Boxed::new(Nim { heap: 9 });
        let hire: Hire = Box::new(|| Ok(Box::new(Broken)));
        let mut player = JobPlayer::new(&game, JobPlay::default(), hire).unwrap();
        let never = AtomicBool::new(false);
        let fault = player.think(&Budget::default(), &never, &mut |_| {});
        assert_eq!(fault, Err(Fault::Crashed("it fell over".into())));
        let none: Hire = Box::new(|| Err("nobody is there".into()));
        assert!(JobPlayer::new(&game, JobPlay::default(), none).is_err());
    }
}
