//! The command as a function: words in, an exit code out. It parses, dispatches, and turns what happened into a code: 0
//! done, 1 not found or not verified, 2 misuse.

use crate::args::{Cli, Command};
use crate::{campaign, commands, grid, help, output, processor, ranks};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::OsString;
use std::process::ExitCode;

/// How a command that was no misuse ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should.
    Done,
    /// Nothing found, or not verified.
    NotFound,
}

/// The whole command for words that were typed, the first being the program.
pub fn command_line(words: Vec<OsString>) -> ExitCode {
    if asks_for_all_of_the_version(&words) {
        let said = output::print(&processor::version());
        return if said.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let words = match help::screen(words) {
        Ok(screen) => {
            return if output::print(screen).is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
        Err(words) => words,
    };
    let mut cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(error) => return usage("sortie", &error),
    };
    // Of the processes of a cluster only the first runs the command.
    match cli.engine.map_or(Ok(ranks::Role::Front), |engine| ranks::join(engine, &mut cli.command)) {
        Ok(ranks::Role::Front) => ranks::leave(command(cli)),
        Ok(ranks::Role::Done(code)) => code,
        Err(error) => code("sortie", Err(error)),
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
        Command::Gauntlet(args) => commands::gauntlet::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        #[cfg(feature = "neural")]
        Command::Data(args) => commands::data::run(&args),
        #[cfg(feature = "neural")]
        Command::Exit(args) => commands::exit::run(&args),
        #[cfg(feature = "neural")]
        Command::Train(args) => commands::train::run(&args),
        Command::Play(args) => commands::play::run(&args),
        Command::Analyse(args) => commands::analyse::run(&args),
        Command::Review(args) => commands::review::run(&args),
        Command::Engine(args) => commands::engine::run(&args),
        Command::Prove(args) => commands::prove::run(&args),
        Command::Probe(args) => commands::probe::run(&args),
        Command::Db(args) => commands::db::run(&args),
        Command::Worker(args) => grid::worker(&args),
        Command::Broker(args) => grid::broker(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::New(args) => commands::new::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Man(args) => commands::manual::man(&args),
        Command::Schema(args) => commands::schema::run(&args),
    };
    code("sortie", verdict)
}

/// What a command came to, as a program ends; what went wrong is said in the name of the program.
pub fn code(program: &str, verdict: anyhow::Result<Verdict>) -> ExitCode {
    match verdict {
        Ok(Verdict::Done) => ExitCode::SUCCESS,
        Ok(Verdict::NotFound) => ExitCode::from(1),
        Err(error) if reader_is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            output::say(&format!("{program}: {}", format!("{error:#}").replace('\n', " ")));
            ExitCode::from(2)
        }
    }
}

/// Clap's help and version as they are, its errors as one line.
pub fn usage(program: &str, error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    if let Some(elsewhere) = missing_feature(error).or_else(|| moved(error)) {
        output::say(&format!("{program}: {elsewhere}"));
        return ExitCode::from(2);
    }
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.starts_with("Usage:"));
    let lines: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("For more information")).collect();
    let text = lines.join(" ").replace(" tip: ", "; ");
    // What Rust says of a number is no help.
    let text = ["invalid digit found in string", "cannot parse integer from empty string"]
        .iter()
        .fold(text, |text, said| text.replace(said, "expected a whole number that is not negative"));
    output::say(&format!("{program}: {} (--help shows more)", text.trim_start_matches("error: ")));
    ExitCode::from(2)
}

/// A command that a build with networks would know: which feature it needs, instead of a guess at what was meant.
fn missing_feature(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let known = !cfg!(feature = "neural") && ["data", "train", "exit"].contains(&&**command);
    known.then(|| {
        format!(
            "{command}: this sortie was built without networks: build it with `cargo build --release --features neural`"
        )
    })
}

/// A command that is one of the laboratory now.
fn moved(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let now = match &**command {
        "bench" => "bench",
        "scale" => "scale",
        "reproduce" => "paper",
        "learn" => "categories",
        _ => return None,
    };
    Some(format!(
        "{command} is a command of the laboratory now: `lab {now} ...`, in the repository \
         `cargo run --release -p sortie-lab -- {now} ...`"
    ))
}

/// `sortie list | head -1` is not a failure.
fn reader_is_gone(error: &anyhow::Error) -> bool {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

/// `sortie --version --verbose`: what one line of a version does not say. Clap answers `--version` before it has read on.
fn asks_for_all_of_the_version(words: &[OsString]) -> bool {
    let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let version = |word: &str| ["--version", "-V"].contains(&word);
    matches!(words.iter().map(String::as_str).collect::<Vec<_>>()[..],
        [a, b] if version(a) && b == "--verbose" || a == "--verbose" && version(b))
}
