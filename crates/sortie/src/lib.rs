//! Monte-Carlo search for puzzles, routing and games: the library and the command.

mod args;
mod campaign;
mod checkpoint;
mod clock;
mod commands;
mod contest;
mod convert;
mod database;
mod duration;
mod engine;
mod folder;
mod font;
mod grid;
mod journal;
mod mailbox;
mod output;
mod players;
mod policy;
mod processor;
mod progress;
mod ranks;
mod raster;
mod scale;
mod scribe;
mod searches;
mod session;
mod source;
mod study;
mod thought;
mod words;

use args::{Bench, Cli, Command};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
pub use sortie_core::*;
use std::process::ExitCode;

/// How a command that was no misuse ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should.
    Done,
    /// Nothing found, or not verified.
    NotFound,
}

/// The whole command over the program's own domains and ours: `solve`, `resume`, `verify`, `show`, `serve`, `match` and
/// all the others. It parses, dispatches and turns what happened into an exit code: 0 done, 1 not found or not
/// verified, 2 misuse.
pub fn main(own: &[&'static Entry]) -> ExitCode {
    sortie_domains::install(own);
    // Before anything else, and nothing else in this function: it must run on the processor that lacks something.
    if let Some(feature) = processor::lacks() {
        return too_old(feature);
    }
    run()
}

#[inline(never)]
fn run() -> ExitCode {
    let mut cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    // Of the processes of a cluster only the first runs the command.
    match cli.engine.map_or(Ok(ranks::Role::Front), |engine| ranks::join(engine, &mut cli.command)) {
        Ok(ranks::Role::Front) => ranks::leave(command(cli)),
        Ok(ranks::Role::Done(code)) => code,
        Err(error) => failure(&error),
    }
}

fn command(cli: Cli) -> ExitCode {
    let verdict = match cli.command {
        Command::List(args) => commands::list::run(&args),
        Command::Solve(args) => commands::solve::run(&args),
        Command::Resume(args) => commands::resume::run(&args),
        Command::Verify(args) => commands::verify::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Show(args) => commands::show::run(&args),
        Command::Convert(args) => commands::convert::run(&args),
        Command::Match(args) => commands::match_::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Scale(args) => scale::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Learn(args) => commands::learn::run(&args),
        #[cfg(feature = "neural")]
        Command::Data(args) => commands::data::run(&args),
        #[cfg(feature = "neural")]
        Command::Exit(args) => commands::exit::run(&args),
        #[cfg(feature = "neural")]
        Command::Train(args) => commands::train::run(&args),
        Command::Bench(Bench::Playouts(args)) => commands::bench::playouts(&args),
        Command::Bench(Bench::Rollouts(args)) => commands::bench_games::rollouts(&args),
        Command::Bench(Bench::Search(args)) => commands::bench_games::search(&args),
        Command::Bench(Bench::Perft(args)) => commands::bench_games::perft(&args),
        Command::Bench(Bench::Messages(args)) => commands::bench_messages::run(&args),
        Command::Bench(Bench::Joblevel(args)) => commands::bench_jobs::run(&args),
        Command::Bench(Bench::Solved(args)) => commands::bench_solved::run(&args),
        Command::Bench(Bench::Schedules(args)) => commands::bench_schedules::run(&args),
        Command::Bench(Bench::Db(args)) => commands::bench_db::run(&args),
        Command::Bench(Bench::Parents(args)) => database::parents::run(&args),
        Command::Bench(Bench::Resume(args)) => commands::bench_resume::run(&args),
        Command::Bench(Bench::Grid(args)) => grid::bench(&args),
        #[cfg(feature = "neural")]
        Command::Bench(Bench::Neural(args)) => commands::bench_neural::run(&args),
        #[cfg(feature = "neural")]
        Command::Bench(Bench::Policy(args)) => commands::bench_policy::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Analyse(args) => commands::analyse::run(&args),
        Command::Engine(args) => commands::engine::run(&args),
        Command::Prove(args) => commands::prove::run(&args),
        Command::Probe(args) => commands::probe::run(&args),
        Command::Db(args) => commands::db::run(&args),
        Command::Worker(args) => grid::worker(&args),
        Command::Broker(args) => grid::broker(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Man(args) => commands::manual::man(&args),
        Command::Schema(args) => commands::schema::run(&args),
    };
    match verdict {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::NotFound) => ExitCode::from(1),
        Err(error) if reader_is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    output::say(&format!("sortie: {}", format!("{error:#}").replace('\n', " ")));
    ExitCode::from(2)
}

/// Clap's help and version as they are, its errors as one line.
fn usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    if let Some(missing) = missing_feature(error) {
        output::say(&format!("sortie: {missing}"));
        return ExitCode::from(2);
    }
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    let text = lines.join(" ").replace(" tip: ", "; ");
    output::say(&format!("sortie: {} (--help shows more)", text.trim_start_matches("error: ")));
    ExitCode::from(2)
}

/// A command that a build with networks would know: which feature it needs, instead of a guess at what was meant.
fn missing_feature(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let known =
        !cfg!(feature = "neural") && ["data", "train", "exit", "neural", "policy"].contains(&&**command);
    known.then(|| {
        format!(
            "{command}: this sortie was built without networks: build it with `cargo build --release --features neural`"
        )
    })
}

/// `sortie list | head -1` is not a failure.
fn reader_is_gone(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cold]
#[inline(never)]
fn too_old(feature: &str) -> ExitCode {
    output::say(&format!(
        "sortie: this build needs a processor with {feature}; build it without the rustflags in .cargo/config.toml"
    ));
    ExitCode::from(2)
}
