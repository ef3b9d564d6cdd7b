//! `sortie probe`: whether an engine can work for job trees. It is registered as a search would register it, and does
//! some jobs as a tree would hand them out: a leaf, and its parent without the moves it has (postponed siblings).

use crate::Verdict;
use crate::args::Probe as Args;
use crate::engine::{Look, Place, Rules, Speaker, probe};
use crate::output::{self, count, rounded};
use crate::players::Player;
use crate::source::Instance;
use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use sortie_core::exact::{Asked, Status, Statuses};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A job that was done.
#[derive(Debug, Serialize)]
struct Done {
    moves: Vec<String>,
    exclude: Vec<String>,
    best: String,
    status: Option<Status>,
    /// For the first side.
    value: Option<f64>,
    nodes: u64,
    /// What was wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<Verdict> {
    let instance = args.game.as_deref().map(Instance::open_game).transpose()?;
    let rules = match &instance {
        Some(instance) => Rules::Game(instance.game()?),
        None => Rules::Engine,
    };
    let (mut speaker, seconds) = Player::parse(&args.player)?.speaker()?;
    let moves: Vec<String> =
        args.moves.as_deref().unwrap_or_default().split_whitespace().map(String::from).collect();
    let start = args.position.as_deref();
    let begun = Instant::now();
    let found = probe(&mut *speaker, rules, start, &moves, args.nodes, seconds)?;
    if !args.json {
        output::print(&format!("engine    {} ({})", found.name, found.protocol))?;
        output::print(&format!("leaves out moves by {}\n", found.way))?;
        found.questions.iter().try_for_each(|question| output::print(&question.to_string()))?;
    }
    let mut jobs = Vec::new();
    if found.refusal.is_none() {
        let limits = (args.nodes, seconds);
        serve(&mut *speaker, rules, start, &moves, limits, args.jobs, &mut jobs)?;
    }
    let faults = jobs.iter().filter(|job| job.fault.is_some()).count();
    let seconds = begun.elapsed().as_secs_f64();
    let accepted = found.refusal.is_none() && faults == 0;
    if args.json {
        output::print_json(&json!({
            "engine": args.player, "game": instance.as_ref().map(|i| &i.name), "position": args.position,
            "moves": moves, "probe": found, "jobs": jobs, "faults": faults, "accepted": accepted,
            "seconds": rounded(seconds), "version": env!("CARGO_PKG_VERSION"),
        }))?;
    } else if let Some(refusal) = &found.refusal {
        output::print(&format!("\nREFUSED   {refusal}"))?;
    } else {
        output::print(&table(&jobs))?;
        let obeyed = found.questions.iter().filter(|question| !question.exclude.is_empty()).count();
        let nodes = jobs.iter().map(|job| job.nodes).sum();
        let (served, nodes) = (count((jobs.len() - faults) as u64), count(nodes));
        output::print(&format!(
            "\nobeyed    {obeyed} times of {obeyed}\njobs      {served} done, {faults} faults, {nodes} nodes, {seconds:.1} s",
        ))?;
    }
    Ok(if accepted { Verdict::Done } else { Verdict::NotFound })
}

/// Does jobs: for every answer one on the position it leads to, and one for another move where it was found.
fn serve(
    speaker: &mut dyn Speaker,
    rules: Rules,
    start: Option<&str>,
    moves: &[String],
    (nodes, seconds): (Option<u64>, Option<f64>),
    jobs: u64,
    done: &mut Vec<Done>,
) -> Result<()> {
    let never = AtomicBool::new(false);
    let asked = Asked { stop: &never, cancel: &never };
    let statuses = Statuses::default();
    let mut queue = VecDeque::from([(moves.to_vec(), Vec::new())]);
    while let Some((moves, exclude)) = queue.pop_front()
        && (done.len() as u64) < jobs
    {
        let place = Place::by(rules, speaker, start, &moves)?;
        if place.over || exclude.len() >= place.legal.len() {
            continue;
        }
        let look = Look { place: &place, exclude: &exclude, nodes, seconds };
        let mut job = Done {
            moves: moves.clone(),
            exclude: exclude.clone(),
            best: String::new(),
            status: None,
            value: None,
            nodes: 0,
            fault: None,
        };
        match speaker.look(&look, asked) {
            Err(fault) => job.fault = Some(fault.to_string()),
            Ok(seen) => {
                let seen = seen.unwrap_or_default();
                let word = place.find(&seen.best);
                job.value = seen.value.map(|value| (place.to_move.view(value) * 1e4).round() / 1e4);
                job.status = job.value.map(|value| statuses.nearest(value));
                (job.best, job.nodes) = (word.clone().unwrap_or(seen.best), seen.nodes);
                match word {
                    Some(word) if exclude.contains(&word) => job.fault = Some("it was excluded".into()),
                    Some(word) => {
                        let word = std::slice::from_ref(&word);
                        queue.push_back(([&moves[..], word].concat(), Vec::new()));
                        queue.push_back((moves, [&exclude[..], word].concat()));
                    }
                    None if matches!(rules, Rules::Engine) && job.best == "pass" => {}
                    None => job.fault = Some("it is not a legal move".into()),
                }
            }
        }
        done.push(job);
    }
    Ok(())
}

fn table(jobs: &[Done]) -> String {
    let mut text =
        format!("\n{:<28} {:<24} {:<8} {:<10} {:>7}\n", "job", "without", "best", "status", "value");
    for job in jobs {
        let status = job.status.and_then(|s| serde_json::to_value(s).ok());
        let status = status.as_ref().and_then(|s| s.as_str()).unwrap_or("-");
        let value = job.value.map_or("-".into(), |v| format!("{:.1} %", 100.0 * v));
        let at = if job.moves.is_empty() { "the start".into() } else { job.moves.join(" ") };
        text += &format!("{at:<28} {:<24} {:<8} {status:<10} {value:>7}", job.exclude.join(" "), job.best);
        text += &job.fault.as_ref().map_or(String::from("\n"), |fault| format!("  FAULT: {fault}\n"));
    }
    text.trim_end().to_string()
}
