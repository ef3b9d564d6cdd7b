//! `lab bench solved`: games and positions whose value is known from elsewhere, solved end to end by a tree of jobs. Each
//! begins with a worker that knows nothing; with `--proofs` its proof is written down and checked by the rules alone.

use crate::Verdict;
use crate::args::BenchSolved;
use crate::commands::analyse::ended;
use crate::output::{self, count, rounded};
use crate::session::stop_on_signals;
use crate::source::Instance;
use anyhow::{Context, Result, anyhow, bail};
use cpu_time::ThreadTime;
use serde_json::{Value as Json, json};
use sortie_core::JobSource;
use sortie_core::exact::{Asked, Effort, Proof};
use sortie_jobs::tree::{JobTree, Plan};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Positions of Connect Four with their values, from an alpha-beta search that is no part of this program.
const CONNECT4: &str = sortie_domains::CONNECT4_SOLVED;
/// The winning first moves of Hex 4x4, by plain minimax over all positions.
const HEX4: &str = "a4 b3 c2 d1";
/// How many first moves of Hex 5x5 win: what MoHex 2.0 finds.
const HEX5_WINNING: usize = 13;
/// Whole games: 4x4, with one row each, by plain minimax; of 4x5 no value was at hand, and `--proofs` says whether ours is
/// right.
const GAMES: [(&str, Option<&str>); 2] = [("breakthrough/4x4", Some(FIRST)), ("breakthrough/4x5", None)];
/// Positions that the solver looks at for what a tree leaves open when it is written down, per position of a job.
const CERTIFY_TIMES: u64 = 200;

const FIRST: &str = "first wins";

/// A position to solve.
struct Entry {
    instance: String,
    moves: Vec<String>,
    known: Option<String>,
}

/// What came of it.
struct Row {
    value: Option<String>,
    jobs: u64,
    nodes: u64,
    cpu_seconds: f64,
    /// Positions in its proof, and the CPU time of writing and checking it.
    proof: Option<(usize, f64)>,
}

/// Runs the command.
pub fn run(args: &BenchSolved) -> Result<Verdict> {
    let entries: Vec<Entry> = list()?.into_iter().filter(|entry| matches(entry, &args.only)).collect();
    if entries.is_empty() {
        bail!(
            "--only {}: expected a beginning of hex/4, hex/5, connect4 or breakthrough",
            args.only.join(",")
        );
    }
    let stop = stop_on_signals()?;
    let (mut rows, mut wrong, mut open, mut hex5) = (Vec::new(), 0, 0, Vec::new());
    if !args.json {
        output::print(&format!(
            "{:<18} {:<32} {:<12} {:<12} {:>7} {:>11} {:>8} {:>9}",
            "game", "moves", "value", "known", "jobs", "positions", "CPU s", "proof"
        ))?;
    }
    for entry in &entries {
        let row = solve(entry, args, &stop)?;
        open += usize::from(row.value.is_none());
        wrong += usize::from(entry.known.is_some() && row.value.is_some() && row.value != entry.known);
        if !args.json {
            output::print(&format!(
                "{:<18} {:<32} {:<12} {:<12} {:>7} {:>11} {:>8.2} {:>9}",
                entry.instance,
                entry.moves.join(" "),
                row.value.as_deref().unwrap_or("open"),
                entry.known.as_deref().unwrap_or("-"),
                count(row.jobs),
                count(row.nodes),
                row.cpu_seconds,
                row.proof.map_or("-".into(), |(positions, _)| count(positions as u64)),
            ))?;
        }
        rows.push(to_json(entry, &row));
        if entry.instance == "hex/5" {
            hex5.push(row.value.as_deref() == Some(FIRST));
        }
    }
    if !hex5.is_empty() && !is_map(&hex5) {
        output::say("sortie: these are not the openings of Hex 5x5 as they are known");
        wrong += 1;
    }
    match args.json {
        true => output::print_json(&json!({
            "job_nodes": args.job_nodes, "memory": args.memory, "rows": rows, "open": open, "wrong": wrong,
            "version": env!("CARGO_PKG_VERSION"),
        }))?,
        false => output::print(&format!("{} solved, {open} open, {wrong} wrong", entries.len() - open))?,
    }
    Ok(if open + wrong == 0 { Verdict::Done } else { Verdict::NotFound })
}

fn matches(entry: &Entry, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|beginning| entry.instance.starts_with(beginning.as_str()))
}

/// Whether this may be which openings of Hex 5x5 win, cell by cell: as many as do, and the same after half a turn.
fn is_map(wins: &[bool]) -> bool {
    wins.iter().filter(|wins| **wins).count() == HEX5_WINNING && wins.iter().eq(wins.iter().rev())
}

/// Everything, in the order in which it is solved.
fn list() -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for size in [4, 5] {
        for cell in 0..size * size {
            let word = format!("{}{}", char::from(b'a' + (cell % size) as u8), cell / size + 1);
            let wins = HEX4.split(' ').any(|cell| cell == word);
            let known = (size == 4).then(|| if wins { FIRST } else { "second wins" }.to_string());
            entries.push(Entry { instance: format!("hex/{size}"), moves: vec![word], known });
        }
    }
    for (instance, known) in GAMES {
        entries.push(Entry { instance: instance.into(), moves: Vec::new(), known: known.map(String::from) });
    }
    for line in CONNECT4.lines().filter(|line| !line.starts_with('#')) {
        let (moves, known) = line.split_once('=').context("instances/connect4/solved.txt")?;
        let moves = moves.split_whitespace().map(String::from).collect();
        entries.push(Entry { instance: "connect4/7x6".into(), moves, known: Some(known.trim().into()) });
    }
    Ok(entries)
}

/// Solves a position job by job, on one thread.
fn solve(entry: &Entry, args: &BenchSolved, stop: &AtomicBool) -> Result<Row> {
    let instance = Instance::open_game(&entry.instance)?;
    let game = instance.game()?;
    let mut board = game.board(None)?;
    for word in &entry.moves {
        board.play(word)?;
    }
    let effort = Effort { nodes: args.job_nodes, playouts: 0 };
    let plan = Plan { jobs_max: args.jobs, effort, ..Plan::default() };
    let begun = ThreadTime::now();
    let mut worker = game.worker((args.memory as usize) << 20, &plan.statuses, 1);
    let mut tree = JobTree::new(board, None, plan);
    let asked = Asked { stop, cancel: stop };
    while !tree.finished() {
        let Some((id, job)) = tree.next() else { break };
        let Some(answer) = worker.answer(&job, asked, &mut |_| {})? else { bail!("interrupted") };
        tree.done(id, answer);
    }
    let cpu_seconds = begun.elapsed().as_secs_f64();
    let value = tree.bounds().value().map(|value| ended(value.outcome()).to_string());
    let mut proof = None;
    if args.proofs && value.is_some() {
        let begun = ThreadTime::now();
        let section = |goal| {
            let nodes_max = args.job_nodes.saturating_mul(CERTIFY_TIMES);
            let guide = tree.guide(goal);
            let section = game.certify(None, &entry.moves, goal, &guide, nodes_max, &|| stop.load(Relaxed));
            section.map_err(|error| anyhow!("{} {}: {error}", entry.instance, entry.moves.join(" ")))
        };
        let sections = tree.goals().into_iter().map(section).collect::<Result<_>>()?;
        let written = Proof { moves: entry.moves.clone(), sections, ..Proof::default() };
        game.check(&written).context("the proof does not check: this is a bug")?;
        proof = Some((written.positions(), begun.elapsed().as_secs_f64()));
    }
    let tally = tree.tally();
    Ok(Row { value, jobs: tally.answered, nodes: tally.nodes, cpu_seconds, proof })
}

fn to_json(entry: &Entry, row: &Row) -> Json {
    json!({
        "instance": entry.instance, "moves": entry.moves, "value": row.value, "known": entry.known,
        "jobs": row.jobs, "positions": row.nodes, "cpu_seconds": rounded(row.cpu_seconds),
        "proof_positions": row.proof.map(|proof| proof.0),
        "proof_cpu_seconds": row.proof.map(|proof| rounded(proof.1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_of_legal_positions_that_are_not_over() {
        let entries = list().expect("our own list");
        assert_eq!(entries.len(), 16 + 25 + 2 + 18);
        for entry in entries {
            let instance = Instance::open_game(&entry.instance).expect("a game");
            let mut board = instance.game().expect("a game").board(None).expect("its start");
            entry.moves.iter().for_each(|word| board.play(word).expect("legal"));
            assert!(board.outcome().is_none(), "{} {:?}", entry.instance, entry.moves);
        }
    }

    #[test]
    fn the_map_of_hex_is_recognised() {
        let map = |winning: &[usize]| (0..25).map(|cell| winning.contains(&cell)).collect::<Vec<_>>();
        assert!(is_map(&map(&[4, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 18, 20])));
        assert!(!is_map(&map(&[4, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 18, 21])));
        assert!(!is_map(&map(&[12])));
    }
}
