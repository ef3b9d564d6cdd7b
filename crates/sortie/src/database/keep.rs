//! What a search leaves in the database. Where its proof can be written down, every position of the proof, checked. Where
//! it cannot, because the game's own worker proves more than can be written move by move (Connect6 on a large board):
//! what that worker proves again and has checked, and the tree above it as what an exact search says.

use super::worker::Book;
use anyhow::{Context, Result};
use sortie_core::exact::{Answer, Fact, Goal, Job, Proof, Trust, Value};
use sortie_core::{AnyBoard, AnyGame};
use sortie_jobs::tree::JobTree;
use sortie_store::{Added, Batch, GameName, Source, Store};
use std::collections::{HashMap, HashSet};

/// Moves to a position, and the move there if it is the turn of the side that reaches the goal.
type Guide = Vec<(Vec<String>, Option<String>)>;

/// Positions that a guide is made longer by, at most.
const GUIDE_MAX: usize = 5_000_000;

/// Stores all positions of a proof, after checking it.
pub fn proof(
    store: &dyn Store,
    name: &GameName,
    game: &dyn AnyGame,
    proof: &Proof,
    source: Source,
) -> Result<Added> {
    let facts = game.harvest(proof).context("the proof does not check")?;
    Ok(store.put(name, &[Batch { source, trust: Trust::Checked, facts }])?)
}

/// Goes on with the guide of a job tree where the tree rests on the database: so the proof carries what it cites.
pub fn longer(
    book: &Book,
    game: &dyn AnyGame,
    start: Option<&str>,
    root: &[String],
    goal: Goal,
    mut guide: Guide,
) -> Result<Guide> {
    let mut guided = HashMap::new();
    for (path, play) in &guide {
        guided.insert(at(game, start, path)?.identity(), play.clone());
    }
    let mut seen = HashSet::new();
    let mut level = vec![root.to_vec()];
    while !level.is_empty() && guide.len() < GUIDE_MAX {
        let mut next = Vec::new();
        let (mut open, mut idents) = (Vec::new(), Vec::new());
        for path in level {
            let board = at(game, start, &path)?;
            if board.outcome().is_some() || !seen.insert(board.identity()) {
                continue;
            }
            match guided.get(&board.identity()) {
                Some(play) => follow(&*board, &path, play.as_deref(), &mut next),
                None => {
                    if let Some(ident) = board.ident() {
                        open.push(path);
                        idents.push(ident);
                    }
                }
            }
        }
        for ((path, ident), entry) in open.into_iter().zip(&idents).zip(book.look(&idents)) {
            let Some(entry) = entry.filter(|entry| entry.bounds.view(goal.side).low >= goal.at_least) else {
                continue;
            };
            let board = at(game, start, &path)?;
            let play = match board.to_move() == goal.side {
                false => None,
                true => match entry.best.and_then(|number| board.of_image(number, ident.image)) {
                    Some(word) => Some(word),
                    None => continue,
                },
            };
            follow(&*board, &path, play.as_deref(), &mut next);
            guide.push((path, play));
        }
        level = next;
    }
    Ok(guide)
}

/// The positions after the move, or after every move.
fn follow(board: &dyn AnyBoard, path: &[String], play: Option<&str>, out: &mut Vec<Vec<String>>) {
    let words = match play {
        Some(word) => vec![word.to_string()],
        None => board.legal(),
    };
    out.extend(words.into_iter().map(|word| {
        let mut path = path.to_vec();
        path.push(word);
        path
    }));
}

/// The board after some moves.
fn at(game: &dyn AnyGame, start: Option<&str>, path: &[String]) -> Result<Box<dyn AnyBoard>> {
    let mut board = game.board(start)?;
    for word in path {
        board.play(word)?;
    }
    Ok(board)
}

/// What is said of a position, under its name in a database.
fn fact(board: &dyn AnyBoard, bounds: sortie_core::exact::Bounds, best: Option<&str>) -> Option<Fact> {
    let ident = board.ident()?;
    let best = best.and_then(|word| board.image_of(word, ident.image));
    Some(Fact { ident, bounds, best })
}

/// Whether the workers have proofs of their own.
pub fn own(answers: &[(Job, Answer)]) -> bool {
    answers.iter().any(|(_, answer)| {
        answer.nodes > 0 && answer.claim.is_some_and(|claim| claim.trust == Trust::Checked)
    })
}

/// Stores what workers with proofs of their own have proved, and the tree above it.
pub fn tree(
    store: &dyn Store,
    name: &GameName,
    game: &dyn AnyGame,
    tree: &JobTree,
    answers: &[(Job, Answer)],
    run: &str,
) -> Result<Added> {
    Ok(store.put(name, &batches(game, tree, answers, run)?)?)
}

/// The same, not stored yet.
pub fn batches(
    game: &dyn AnyGame,
    tree: &JobTree,
    answers: &[(Job, Answer)],
    run: &str,
) -> Result<Vec<Batch>> {
    let mut batches = Vec::new();
    let mut start = None;
    let mut said = Vec::new();
    for (job, answer) in answers {
        start = job.start.clone();
        let Some(claim) = answer.claim.filter(|_| job.exclude.is_empty() && answer.nodes > 0) else {
            continue;
        };
        let settled = game.settle(job.start.as_deref(), &job.moves, job.effort.nodes)?;
        if settled.facts.is_empty() {
            if claim.trust >= Trust::Solver {
                let board = at(game, job.start.as_deref(), &job.moves)?;
                said.extend(fact(&*board, claim.bounds, answer.best.as_deref()));
            }
            continue;
        }
        let source = Source {
            run: run.to_string(),
            position: job.start.clone(),
            moves: job.moves.clone(),
            nodes: Some(job.effort.nodes),
            ..Source::default()
        };
        batches.push(Batch { source, trust: Trust::Checked, facts: settled.facts });
    }
    for goal in tree.goals().into_iter().filter(|goal| goal.at_least > Value::Loss) {
        for (path, play) in tree.guide(goal) {
            let board = at(game, start.as_deref(), &path)?;
            said.extend(fact(&*board, goal.bounds(), play.as_deref()));
        }
    }
    let source = Source { run: run.to_string(), ..Source::default() };
    batches.push(Batch { source, trust: Trust::Solver, facts: said });
    Ok(batches)
}
