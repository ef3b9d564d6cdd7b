//! `lab drill machine`: a command on a machine whose disk is simulated, and whose power goes.

use crate::source::plain;
use anyhow::{Result, anyhow};
use clap::Args;
use sortie_disk::{Disk, Failure, Fault, Plan, mount};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// How the process ends when the power goes.
pub const NO_POWER: u8 = 70;
/// How it ends when something was written past the door.
pub const PAST_THE_DOOR: u8 = 71;

/// `lab drill machine`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  lab drill machine here --power-until 40 --seed 7 -- solve samegame/1 --level 2 --out here/run

The folder is the disk: what is in it at the beginning is safe, and at the end, which is the last call or the power's, it is left as
a disk might leave it. Calls to the disk are counted from 1.

Exit codes: 70 the power went, 71 something was written past the door, and else those of the command.")]
pub struct DrillMachine {
    /// The folder
    pub root: PathBuf,
    /// Decides what is left of what was not synced
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// The power goes in the middle of this call [default: when the command has ended]
    #[arg(long, value_name = "CALL")]
    pub power_until: Option<u64>,
    /// The disk is full from this call on, for so many
    #[arg(long, value_name = "CALL+N", value_parser = calls)]
    pub full: Vec<(u64, u64)>,
    /// It fails in whatever it is asked
    #[arg(long, value_name = "CALL+N", value_parser = calls)]
    pub broken: Vec<(u64, u64)>,
    /// A file for the number of calls and the last ones in words, outside of the folder
    #[arg(long, value_name = "FILE")]
    pub told: Option<PathBuf>,
    /// The command
    #[arg(last = true, required = true)]
    pub command: Vec<OsString>,
}

fn calls(text: &str) -> Result<(u64, u64), String> {
    let numbers =
        text.split_once('+').and_then(|(from, calls)| Some((from.parse().ok()?, calls.parse().ok()?)));
    numbers.ok_or_else(|| "expected CALL+N, as in 12+3".into())
}

/// Runs the command.
pub fn run(args: DrillMachine) -> Result<ExitCode> {
    let fault = |failure| move |&(from, calls): &(u64, u64)| Fault { failure, from, calls };
    let full = args.full.iter().map(fault(Failure::Full));
    let faults = full.chain(args.broken.iter().map(fault(Failure::Broken))).collect();
    let plan = Plan { seed: args.seed, power_until: args.power_until, faults };
    let disk = Disk::new(&args.root, plan);
    let disk = disk.map_err(|error| anyhow!("{}: {}", args.root.display(), plain(&error)))?;
    let file = args.told.clone();
    let disk = mount(disk.at_the_end(move |left, calls| {
        let told = file.as_deref().map_or(Ok(()), |file| tell(file, calls));
        std::process::exit(match left.as_ref().err().or(told.as_ref().err()) {
            None => NO_POWER.into(),
            Some(error) => past(error).into(),
        });
    }));
    let words = std::iter::once("lab".into()).chain(args.command);
    let code = crate::command_line(words.collect());
    if let Some(file) = &args.told {
        tell(file, &disk.told()).map_err(|error| anyhow!("{}: {}", file.display(), plain(&error)))?;
    }
    Ok(disk.cut_power().map_or_else(|error| ExitCode::from(past(&error)), |()| code))
}

/// Writes down how many calls there were, and the last ones.
fn tell(file: &Path, calls: &VecDeque<String>) -> io::Result<()> {
    let all = calls.back().and_then(|last| last.split(' ').next()).unwrap_or("0");
    let lines: Vec<&str> = std::iter::once(all).chain(calls.iter().map(String::as_str)).collect();
    std::fs::write(file, lines.join("\n") + "\n")
}

fn past(error: &io::Error) -> u8 {
    crate::output::say(&format!("lab: {error}"));
    PAST_THE_DOOR
}
