//! `sortie resume`: go on from the checkpoint, and never fall behind the best record.

use crate::Verdict;
use crate::args::Resume;
use crate::checkpoint::Checkpoint;
use crate::folder::{self, Folder, instance_copy};
use crate::output;
use crate::players::Player;
use crate::session::{Session, Told, print_ended};
use crate::source::Instance;
use anyhow::{Context, Result, bail};
use sortie_core::{Limits, Record, StopReason};
use sortie_runs::kind::Kind;
use sortie_runs::spec::Spec;

/// Runs the command.
pub fn run(args: &Resume) -> Result<Verdict> {
    run_told(args, if args.report.json { Told::Json } else { Told::Whole })
}

/// The same; how its end is told where it is a search for a solution.
pub fn run_told(args: &Resume, told: Told) -> Result<Verdict> {
    let kind = Kind::of(&args.folder);
    if args.games.is_some() && !matches!(kind, Kind::Match) {
        bail!("--games: {} is no match", args.folder.display());
    }
    if args.jobs.is_some() && !matches!(kind, Kind::Prove) {
        bail!("--jobs: {} is no search for a proof", args.folder.display());
    }
    let (path, threads) = (&args.folder, args.threads);
    let (json, quiet) = (args.report.json, args.report.quiet);
    let grid = || crate::grid::Spec::resumed(path, &args.grid, threads);
    let programs = programs(path);
    if !args.programs && !programs.is_empty() {
        bail!("{}: it starts {}: `--programs` allows it", path.display(), programs.join(" and "));
    }
    match kind {
        // What is missing in a folder, the search says.
        Kind::Solve | Kind::Torn | Kind::Foreign => search(args, told),
        Kind::Match => super::match_::resume(path, args.games, threads, grid()?, json, quiet),
        Kind::Tune => super::tune::resume(path, threads, json, quiet),
        Kind::Prove => super::prove::resume(path, args.jobs, threads, grid()?, json, quiet),
        kind @ (Kind::Study | Kind::Scale) => bail!(
            "{0}: a {1} is of the laboratory: `lab resume {0}` goes on with it",
            path.display(),
            kind.name()
        ),
        Kind::Campaign => crate::campaign::resume(path, args.time, threads, json, quiet),
        #[cfg(feature = "neural")]
        Kind::Data => super::data::resume(path, threads, json, quiet),
        #[cfg(feature = "neural")]
        Kind::Train => super::train::resume(path, threads, json, quiet),
        #[cfg(feature = "neural")]
        Kind::Exit => super::exit::resume(path, threads, json, quiet),
        #[cfg(not(feature = "neural"))]
        kind @ (Kind::Data | Kind::Train | Kind::Exit) => bail!(
            "{}: {} need a build with networks: `cargo build --release --features neural`",
            path.display(),
            kind.name()
        ),
    }
}

/// No text of what a folder was asked for is looked through further.
const ASKED_BYTES_MAX: u64 = 4 << 20;

/// The programs of others that going on with a folder would start. The folder may be a stranger's.
pub fn programs(path: &std::path::Path) -> Vec<String> {
    let asked = path.join(Kind::of(path).request());
    let text = sortie_runs::text::read_inside(&asked, ASKED_BYTES_MAX).unwrap_or_default();
    let mut found = Vec::new();
    if let Ok(value) = String::from_utf8_lossy(&text).parse::<toml::Table>() {
        value.values().for_each(|value| name_programs(value, &mut found));
    }
    found.sort();
    found.dedup();
    found
}

fn name_programs(value: &toml::Value, found: &mut Vec<String>) {
    match value {
        toml::Value::String(text) => {
            let foreign = ["uci", "gtp", "gomocup", "text", "job-level"];
            let begins = |name: &&str| text.trim_start().starts_with(name);
            if foreign.iter().any(begins) && Player::parse(text).is_ok_and(|p| p.starts_a_program()) {
                let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200);
                found.push(format!("'{}'", shown.collect::<String>()));
            }
        }
        toml::Value::Array(values) => values.iter().for_each(|value| name_programs(value, found)),
        toml::Value::Table(table) => table.values().for_each(|value| name_programs(value, found)),
        _ => {}
    }
}

/// Goes on with a search for a solution.
fn search(args: &Resume, told: Told) -> Result<Verdict> {
    let (threads, report) = (args.threads, &args.report);
    let folder = Folder::open(&args.folder)?;
    let mut spec = folder.read_spec()?;
    let instance = Instance::open_copy(&spec.instance, instance_copy(&folder.path, &spec.instance))?;
    instance.problem()?;
    let grid = crate::grid::Spec::resumed(&args.folder, &args.grid, threads)?;
    let islands = crate::grid::is_islands(&spec.search);
    if let Some(grid) = grid.as_ref().filter(|_| !islands) {
        if args.time.is_some() {
            bail!("--time: a run over a grid ends with its searches; begin another one with another --seed");
        }
        return crate::grid::solve::run(grid, &spec, &instance, &folder, (report.json, report.quiet));
    }
    let reopen = |spec| crate::policy::reopen(spec, &folder.path, &instance);
    let guide = spec.policy.as_ref().map(reopen).transpose()?;
    if !islands && args.folder.join(crate::grid::GRID).exists() {
        bail!("{}: its searches are the jobs of a grid: give --grid URL", args.folder.display());
    }
    let ended = folder.read_result().filter(|result| result["reason"] != "asked");
    if let (Some(result), None) = (ended, args.time) {
        if !args.report.quiet {
            let command = output::command("resume", &folder.path);
            output::say(&format!("this run has ended; {command} --time 1m goes on"));
        }
        return print_ended(&folder, &spec, &instance, result, args.report.json);
    }
    let best = sound_record(&folder, &instance);
    if spec.sortie != env!("CARGO_PKG_VERSION") {
        output::say(&format!(
            "sortie: warning: sortie {} began this run; another version may end it elsewhere",
            spec.sortie
        ));
    }
    let mut checkpoint = folder.read_checkpoint(&spec).unwrap_or_else(|error| {
        output::say(&format!("sortie: warning: {error:#}; starting from the beginning with the same seed"));
        None
    });
    if let Some(why) = checkpoint.as_ref().and_then(|checkpoint| false_claim(checkpoint, &instance)) {
        let place = folder.path.join(folder::CHECKPOINT);
        output::say(&format!("sortie: warning: {}: {why}; starting from the beginning", place.display()));
        checkpoint = None;
    }
    if let Some(checkpoint) = &mut checkpoint {
        spread_target(checkpoint);
    }
    folder.remove(folder::RESULT).with_context(|| format!("{}", folder.path.display()))?;
    if let Some(more) = args.time {
        extend(&mut spec, checkpoint.as_mut(), best.as_ref().map(|best| best.score), more);
        folder.write_spec(&spec).with_context(|| format!("{}", folder.path.display()))?;
        if let Some(checkpoint) = &checkpoint {
            folder.write_checkpoint(checkpoint).with_context(|| format!("{}", folder.path.display()))?;
        }
    }
    spec.threads = args.threads.unwrap_or(spec.threads);
    let session = Session {
        spec,
        instance,
        guide,
        folder,
        checkpoint,
        best,
        resumed: true,
        checkpoint_every: args.checkpoint_every,
        grid,
        on_improve: None,
        told,
        quiet: args.report.quiet,
    };
    session.run()
}

/// What is wrong with what streams say they have found. A checkpoint is a file: its scores are those of its moves, or it
/// is not believed.
fn false_claim(checkpoint: &Checkpoint, instance: &Instance) -> Option<String> {
    checkpoint.streams.iter().find_map(|stream| {
        let best = stream.best.as_ref()?;
        match instance.verify(&best.moves) {
            Ok(position) if position.score.to_bits() == best.score.to_bits() => None,
            Ok(position) => Some(format!(
                "stream {} says {} of moves that are worth {}",
                stream.stream,
                output::score(best.score),
                output::score(position.score)
            )),
            Err(error) => Some(format!("stream {} has moves that do not replay: {error:#}", stream.stream)),
        }
    })
}

/// The best record so far, with the score that its moves have: what a false claim beats would be lost.
fn sound_record(folder: &Folder, instance: &Instance) -> Option<Record> {
    let check = || -> Result<Option<Record>> {
        let Some(record) = folder.read_record()? else { return Ok(None) };
        let score = instance.verify(&record.moves)?.score;
        let sound = Record { score, ..record.clone() };
        if sound != record {
            folder.write(folder::RECORD, sound.to_text().as_bytes())?;
        }
        Ok(Some(sound))
    };
    check().unwrap_or_else(|error| {
        output::say(&format!("sortie: warning: {} is not used: {error:#}", folder::RECORD));
        None
    })
}

/// A stream that reached the target has ended the run, though a crash may have come before the others heard of it.
fn spread_target(checkpoint: &mut Checkpoint) {
    if checkpoint.streams.iter().any(|stream| stream.ended == Some(StopReason::Target)) {
        for stream in &mut checkpoint.streams {
            stream.ended.get_or_insert(StopReason::Target);
        }
    }
}

/// More time replaces what ended the run: all limits but a target that is still out of reach.
fn extend(spec: &mut Spec, checkpoint: Option<&mut Checkpoint>, best: Option<f64>, more: f64) {
    let target = spec.limits.target.filter(|target| best.is_none_or(|best| best < *target));
    let mut seconds = more;
    if let Some(checkpoint) = checkpoint {
        seconds += checkpoint.seconds;
        for stream in &mut checkpoint.streams {
            stream.ended = None;
        }
    }
    spec.limits = Limits { seconds: Some(seconds), target, ..Limits::default() };
}
