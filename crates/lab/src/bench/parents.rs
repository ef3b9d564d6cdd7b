//! `lab bench parents`: how many jobs a database spares, and what that depends on (the 32 parents of Shih et al. 2018).
//! A parent is a position that its side to move wins; it is solved without a database and with four different ones: its
//! winning child and the tree below, two children drawn at random, its own tree, and the trees of the other parents. A
//! worker looks up the position after its answer, as in the paper, and remembers nothing between jobs.

use crate::Verdict;
use crate::args::BenchParents;
use crate::commands::prove::named;
use crate::database::worker::{Book, Consulting};
use crate::database::{keep, name};
use crate::output::{self, count, rounded};
use crate::session::stop_on_signals;
use crate::source::Instance;
use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value as Json, json};
use sortie_core::exact::{Answer, AnyWorker, Asked, Effort, Job, Proof, Trust, Value};
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, JobSource, Rng};
use sortie_jobs::tree::{Ended, JobTree, Plan, Select};
use sortie_store::{Batch, Embedded, GameName, Source, Store};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Positions that the solver looks at for what a tree leaves open when it is written down, per position of a job.
const CERTIFY_TIMES: u64 = 200;
/// Games that are tried for a parent.
const GAMES_MAX: u64 = 10_000;

/// What a database holds in a row of the table.
const CONTENTS: [&str; 4] = ["winning child", "two children", "own tree", "other parents"];

/// What was published for the parents of 52 solved openings of Connect6 (Shih et al. 2018), in per cent.
const PUBLISHED: [(&str, f64); 2] = [("pns", 94.2), ("uct", 96.5)];

/// Runs the command.
pub fn run(args: &BenchParents) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let select = named("--select", &args.select, &Select::ALL)?;
    let plan = Plan {
        select,
        jobs_max: args.jobs,
        effort: Effort { nodes: args.job_nodes, playouts: 0 },
        ..Plan::default()
    };
    let folder = std::env::temp_dir().join(format!("sortie-parents-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let stop = stop_on_signals()?;
    let bench = Bench {
        game: instance.game()?,
        name: name(&instance)?,
        args,
        plan,
        folder: folder.clone(),
        stop: &stop,
    };
    let ran = bench.run();
    let _ = std::fs::remove_dir_all(&folder);
    ran
}

struct Bench<'a> {
    game: &'a dyn AnyGame,
    name: GameName,
    args: &'a BenchParents,
    plan: Plan,
    folder: PathBuf,
    stop: &'a AtomicBool,
}

/// A search that has ended.
struct Solved {
    tree: JobTree,
    answers: Vec<(Job, Answer)>,
    moves: Vec<String>,
}

impl Solved {
    fn jobs(&self) -> u64 {
        self.tree.tally().answered
    }

    fn value(&self) -> Option<Value> {
        self.tree.bounds().value()
    }
}

/// A position that its side to move wins.
struct Parent {
    solved: Solved,
    /// The moves to the position after the winning turn.
    child: Vec<String>,
    /// What its tree proves.
    own: Vec<Batch>,
}

/// Jobs of one row.
#[derive(Default, Clone, Copy)]
struct Row {
    fill: u64,
    warm: u64,
    hits: u64,
}

impl Bench<'_> {
    fn run(&self) -> Result<Verdict> {
        let parents = self.parents()?;
        let cold: u64 = parents.iter().map(|parent| parent.solved.jobs()).sum();
        let mut rows = [Row::default(); CONTENTS.len()];
        let mut rng = Rng::new(self.args.seed, 1);
        for (i, parent) in parents.iter().enumerate() {
            let child = self.solve(&parent.child, None)?;
            let mut others = Vec::new();
            for _ in 0..2 {
                others.push(self.solve(&self.random_child(&parent.solved.moves, &mut rng)?, None)?);
            }
            let fills = [child.jobs(), others.iter().map(Solved::jobs).sum(), parent.solved.jobs(), 0];
            let mut two = Vec::new();
            for other in &others {
                two.extend(self.facts(other)?);
            }
            // The parent itself is not looked up, but the other way to it through its own tree would be.
            let rest =
                parents.iter().zip(0..).filter(|(_, j)| *j != i).flat_map(|(other, _)| other.own.clone());
            let contents = [self.facts(&child)?, two, parent.own.clone(), rest.collect()];
            for (((row, fill), batches), n) in rows.iter_mut().zip(fills).zip(contents).zip(0..) {
                let path = self.folder.join(format!("{i}-{n}.db"));
                let store = Embedded::new(&path, Duration::from_secs(60));
                store.put(&self.name, &batches)?;
                let book = Arc::new(Book {
                    itself: false,
                    ..Book::new(Box::new(store), self.name.clone(), self.args.successors)
                });
                let warm = self.solve(&parent.solved.moves, Some(&book))?;
                if warm.value() != parent.solved.value() {
                    bail!("a parent has another value with a database: this is a bug");
                }
                row.fill += fill;
                row.warm += warm.jobs();
                row.hits += book.tally.won.load(Relaxed) + book.tally.lost.load(Relaxed);
            }
            if !self.args.json {
                output::say(&format!("{} of {} parents", i + 1, parents.len()));
            }
        }
        // What the trees of the others cost is shared by all.
        rows[3].fill = cold;
        self.report(parents.len(), cold, &rows)
    }

    fn report(&self, parents: usize, cold: u64, rows: &[Row]) -> Result<Verdict> {
        let published =
            PUBLISHED.iter().find(|(select, _)| *select == self.args.select).map(|(_, saved)| *saved);
        let saved = |row: &Row| 100.0 * (1.0 - row.warm as f64 / cold.max(1) as f64);
        let even = |row: &Row| (row.warm < cold).then(|| row.fill as f64 / (cold - row.warm) as f64);
        if self.args.json {
            let row = |(row, content): (&Row, &&str)| {
                json!({
                    "database": content, "jobs": row.warm, "saved_percent": rounded(saved(row)), "hits": row.hits,
                    "fill_jobs": row.fill, "break_even": even(row).map(rounded),
                })
            };
            let rows: Vec<Json> = rows.iter().zip(&CONTENTS).map(row).collect();
            output::print_json(&json!({
                "game": self.name.game, "select": self.args.select, "parents": parents, "job_nodes": self.args.job_nodes,
                "successors": self.args.successors, "cold_jobs": cold, "rows": rows,
                "published_saved_percent": published,
            }))?;
            return Ok(Verdict::Done);
        }
        let mut text = format!(
            "{} parents of {}, {}, jobs of {} nodes: {} jobs without a database\n{:<15} {:>9} {:>8} {:>7} {:>9}  break-even\n",
            parents,
            self.name.game,
            self.args.select,
            self.args.job_nodes,
            count(cold),
            "database holds",
            "jobs",
            "saved",
            "hits",
            "fill jobs",
        );
        for (row, content) in rows.iter().zip(CONTENTS) {
            let even = even(row).map_or("never".into(), |uses| format!("after {uses:.2} uses"));
            text += &format!(
                "{content:<15} {:>9} {:>6.1} % {:>7} {:>9}  {even}\n",
                count(row.warm),
                saved(row),
                count(row.hits),
                count(row.fill),
            );
        }
        if let Some(published) = published {
            text += &format!("published: {published} % (32 parents of solved openings of Connect6)");
        }
        output::print(&text)?;
        Ok(Verdict::Done)
    }

    /// Positions that their side to move wins, from games.
    fn parents(&self) -> Result<Vec<Parent>> {
        let mut parents: Vec<Parent> = Vec::new();
        let mut engine = self.game.engine(self.args.seed);
        for number in 0..GAMES_MAX {
            if parents.len() == self.args.parents as usize {
                return Ok(parents);
            }
            if self.stop.load(Relaxed) {
                bail!("interrupted");
            }
            let moves = match &mut engine {
                Some(engine) => self.before_the_end(&mut **engine, number)?,
                None => self.random_position(number)?,
            };
            let Some(moves) = moves else { continue };
            let solved = self.solve(&moves, None)?;
            // A parent that one job solves has nothing to spare.
            if solved.tree.ended() != Some(Ended::Decided) || solved.jobs() < 3 {
                continue;
            }
            let mover = self.board(&moves)?.to_move();
            if solved.value().map(|value| value.view(mover)) != Some(Value::Win) {
                continue;
            }
            let Some(child) = self.winning_child(&solved)? else { continue };
            let (Ok(own), true) = (self.facts(&solved), self.solve(&child, None)?.value().is_some()) else {
                continue;
            };
            if !self.args.json {
                output::say(&format!("parent {}: {} jobs", parents.len() + 1, count(solved.jobs())));
            }
            parents.push(Parent { solved, child, own });
        }
        bail!("{GAMES_MAX} games gave {} parents: try other --plies or --jobs", parents.len())
    }

    /// A position of a random game that is not over.
    fn random_position(&self, number: u64) -> Result<Option<Vec<String>>> {
        let (mut board, mut rng) = (self.game.board(None)?, Rng::new(self.args.seed, 1000 + number));
        while board.outcome().is_none() && board.words().len() < self.args.plies as usize {
            let legal = board.legal();
            board.play(&legal[rng.below(legal.len())])?;
        }
        Ok(board.outcome().is_none().then(|| board.words().to_vec()))
    }

    /// The position before the last turn of the winner's that left the other side a lost position, in a game of the
    /// engine against itself.
    fn before_the_end(&self, engine: &mut dyn AnyPlayer, number: u64) -> Result<Option<Vec<String>>> {
        let (mut board, mut rng) = (self.game.board(None)?, Rng::new(self.args.seed, 1000 + number));
        let budget = Budget { nodes: Some(200), ..Budget::default() };
        engine.reset(self.args.seed);
        let mut turns: Vec<usize> = Vec::new();
        let mut before = None;
        while board.outcome().is_none() && board.words().len() < 120 {
            if before.replace(board.to_move()) != Some(board.to_move()) {
                let played = board.words().len();
                if played > 5 {
                    let settled = self.game.settle(None, board.words(), self.args.job_nodes.max(500))?;
                    if let Some(fact) = settled.facts.first() {
                        let value = fact.bounds.value().map(|value| value.view(board.to_move()));
                        // If it is won, what came before was the loser's turn: a mistake, and no parent.
                        let at = turns.last().filter(|at| **at > 5 && value == Some(Value::Loss));
                        return Ok(at.map(|at| board.words()[..*at].to_vec()));
                    }
                }
                turns.push(played);
            }
            let played = board.words().len();
            let word = if (1..5).contains(&played) {
                let near: Vec<String> =
                    board.categories().0.into_iter().filter(|m| m.1 > 0).map(|m| m.0).collect();
                let all = if near.is_empty() { board.legal() } else { near };
                all[rng.below(all.len())].clone()
            } else {
                engine.set(None, board.words())?;
                let thought = engine.think(&budget, self.stop, &mut |_| {}).context("the engine failed")?;
                match thought.best {
                    Some(word) => word,
                    None => return Ok(None),
                }
            };
            board.play(&word)?;
        }
        Ok(None)
    }

    fn board(&self, moves: &[String]) -> Result<Box<dyn AnyBoard>> {
        let mut board = self.game.board(None)?;
        for word in moves {
            board.play(word)?;
        }
        Ok(board)
    }

    /// The moves to the position after the turn that wins; `None` if the game is over then.
    fn winning_child(&self, solved: &Solved) -> Result<Option<Vec<String>>> {
        let goal = *solved.tree.goals().first().ok_or_else(|| anyhow!("nothing is proved"))?;
        let guide = solved.tree.guide(goal);
        let mut moves = solved.moves.clone();
        let mut board = self.board(&moves)?;
        let mover = board.to_move();
        while board.outcome().is_none() && board.to_move() == mover {
            let play = guide.iter().find(|(path, _)| *path == moves).and_then(|(_, play)| play.clone());
            // Below the tree the answer says how it goes on.
            let answered = solved.answers.iter().filter(|(job, _)| job.moves == moves);
            let claimed = answered.filter_map(|(_, answer)| answer.claim.and(answer.best.clone())).next();
            let Some(word) = play.or(claimed) else { return Ok(None) };
            board.play(&word)?;
            moves.push(word);
        }
        Ok(board.outcome().is_none().then_some(moves))
    }

    /// The moves to a position after a turn at random.
    fn random_child(&self, moves: &[String], rng: &mut Rng) -> Result<Vec<String>> {
        for _ in 0..1000 {
            let mut board = self.board(moves)?;
            let mover = board.to_move();
            while board.outcome().is_none() && board.to_move() == mover {
                let near: Vec<String> =
                    board.categories().0.into_iter().filter(|m| m.1 > 0).map(|m| m.0).collect();
                let all = if near.is_empty() { board.legal() } else { near };
                board.play(&all[rng.below(all.len())])?;
            }
            if board.outcome().is_none() {
                return Ok(board.words().to_vec());
            }
        }
        bail!("all that follows is the end of the game")
    }

    /// Solves a position, job by job.
    fn solve(&self, moves: &[String], book: Option<&Arc<Book>>) -> Result<Solved> {
        let mut tree = JobTree::new(self.board(moves)?, None, self.plan.clone());
        let inner = self.game.worker(1, &self.plan.statuses, self.args.seed);
        let mut worker: Box<dyn AnyWorker> = match book {
            Some(book) => Box::new(Consulting::new(inner, book.clone(), self.game, &self.plan.statuses)),
            None => inner,
        };
        let asked = Asked { stop: self.stop, cancel: self.stop };
        let mut answers = Vec::new();
        while !tree.finished() {
            let Some((id, job)) = tree.next() else { break };
            let Some(answer) = worker.answer(&job, asked, &mut |_| {})? else { bail!("interrupted") };
            answers.push((job, answer.clone()));
            tree.done(id, answer);
        }
        Ok(Solved { tree, answers, moves: moves.to_vec() })
    }

    /// Everything that a search has proved, as a database stores it.
    fn facts(&self, solved: &Solved) -> Result<Vec<Batch>> {
        if solved.value().is_none() {
            return Ok(Vec::new());
        }
        if keep::own(&solved.answers) {
            return keep::batches(self.game, &solved.tree, &solved.answers, "bench");
        }
        let nodes_max = self.args.job_nodes.saturating_mul(CERTIFY_TIMES);
        let section = |goal| {
            let guide = solved.tree.guide(goal);
            let stop = || self.stop.load(Relaxed);
            self.game
                .certify(None, &solved.moves, goal, &guide, nodes_max, &stop)
                .map_err(|error| anyhow!("{error}"))
        };
        let sections: Result<Vec<_>> = solved.tree.goals().into_iter().map(section).collect();
        let proof = Proof { moves: solved.moves.clone(), sections: sections?, ..Proof::default() };
        let facts = self.game.harvest(&proof)?;
        let source = Source { run: "bench".into(), ..Source::default() };
        Ok(vec![Batch { source, trust: Trust::Checked, facts }])
    }
}
