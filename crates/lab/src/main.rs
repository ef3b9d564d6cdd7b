//! The laboratory: benches, studies of papers and of scaling, drills. It is the command `sortie` with more to it, so that
//! what is measured is what people run: whatever is no command of its own goes to `sortie` as it was typed.

#![forbid(unsafe_code)]

mod args;
mod bench;
mod categories;
mod drill;
mod scale;
mod study;

// The parts of the command that the laboratory is made of are known here by the same names as there.
#[cfg(feature = "grid")]
use sortie::parts::grid;
use sortie::parts::{
    Verdict, commands, contest, costs, database, output, players, policy, ranks, raster, searches, session,
    source, words,
};
use sortie_runs::{clock, duration, folder, journal};

use args::{Bench, Cli, Command, Drill, GoOn};
use clap::Parser;
use sortie_runs::kind::Kind;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    sortie::parts::install();
    command_line(std::env::args_os().collect())
}

/// Does what was typed.
fn command_line(words: Vec<OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => return sortie::parts::usage("lab", &error),
    };
    if is_of_sortie(&cli.command) {
        return sortie::parts::command_line(words);
    }
    // Of the processes of a cluster only the first runs the command.
    match cli.engine.map_or(Ok(ranks::Role::Front), ranks::enter) {
        Ok(ranks::Role::Front) => ranks::leave(command(cli.command)),
        Ok(ranks::Role::Done(code)) => code,
        Err(error) => sortie::parts::code("lab", Err(error)),
    }
}

/// Whether `sortie` does it, and reads all that was typed by itself.
fn is_of_sortie(command: &Command) -> bool {
    match command {
        Command::Sortie(_) => true,
        Command::Resume(args) => !matches!(Kind::of(&args.folder), Kind::Study | Kind::Scale),
        _ => false,
    }
}

fn command(command: Command) -> ExitCode {
    let done = match command {
        Command::Bench(bench) => measure(bench),
        Command::Drill(Drill::Resume(args)) => drill::resume::run(&args),
        Command::Drill(Drill::Disk(args)) => drill::disk::run(&args),
        Command::Drill(Drill::Machine(args)) => match drill::machine::run(args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Drill(Drill::Schedules(args)) => drill::schedules::run(&args),
        Command::Scale(args) => scale::run(&args),
        Command::Paper(args) => study::command::run(&args),
        Command::Categories(args) => categories::run(&args),
        Command::Resume(args) => match GoOn::try_parse_from(&args.rest) {
            Ok(GoOn { threads, report }) if Kind::of(&args.folder) == Kind::Scale => {
                scale::resume(&args.folder, threads, report.json, report.quiet)
            }
            Ok(GoOn { report, .. }) => study::command::resume(&args.folder, report.json, report.quiet),
            Err(error) => return sortie::parts::usage("lab", &error),
        },
        Command::Sortie(words) => unreachable!("{words:?} went to sortie"),
    };
    sortie::parts::code("lab", done)
}

fn measure(bench: Bench) -> anyhow::Result<Verdict> {
    match bench {
        Bench::Playouts(args) => bench::playouts(&args),
        Bench::Default(args) => bench::default::run(&args),
        Bench::Rollouts(args) => bench::games::rollouts(&args),
        Bench::Search(args) => bench::games::search(&args),
        Bench::Perft(args) => bench::games::perft(&args),
        Bench::Messages(args) => bench::messages::run(&args),
        Bench::Joblevel(args) => bench::joblevel::run(&args),
        Bench::Solved(args) => bench::solved::run(&args),
        Bench::Tuning(args) => bench::tuning::run(&args),
        Bench::Db(args) => bench::db::run(&args),
        Bench::Parents(args) => bench::parents::run(&args),
        #[cfg(feature = "grid")]
        Bench::Grid(args) => bench::grid::run(&args),
        #[cfg(not(feature = "grid"))]
        Bench::Grid(_) => {
            anyhow::bail!("bench grid: this lab was built without grids: build it with --features grid")
        }
        #[cfg(feature = "neural")]
        Bench::Neural(args) => bench::neural::run(&args),
        #[cfg(feature = "neural")]
        Bench::Policy(args) => bench::policy::run(&args),
    }
}
