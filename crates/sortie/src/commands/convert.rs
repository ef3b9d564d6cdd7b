//! `sortie convert`: a record in the form of another community, or one of theirs as a record of ours. Every move is played
//! by the rules before anything is written.

use crate::contest::{GAMES, referee::Game};
use crate::convert::{Format, Read, terms};
use crate::folder::{self, write_whole};
use crate::source::{Instance, POSITION, RESULT, UNFINISHED, plain, read_text};
use crate::{Verdict, clock, journal, output};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use sortie_core::exact::Proof;
use sortie_core::{Record, ReplayError};
use std::path::{Path, PathBuf};

const BYTES_MAX: u64 = 64 << 20;

/// `sortie convert`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  sortie convert runs/hunt --to pentasol --out mine.txt
  sortie convert Grid5T178.txt --instance morpion/5T --to msr
  sortie convert runs/match --game 17 --to sgf --out game.sgf
  sortie convert R101.sol --instance vrptw/R101 --to record --out R101.record

What is read is told by its text: records, Pentasol, MSR, routes (CVRPLIB, SINTEF), SGF.")]
pub struct Convert {
    /// A record of any format, a run folder, or the folder of a match
    pub file: PathBuf,
    /// The format to write
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub to: Format,
    /// What it is a solution or a game of, where the file does not tell: domain/name
    #[arg(long, value_name = "NAME")]
    pub instance: Option<String>,
    /// The game of a match, by its number
    #[arg(long, value_name = "N")]
    pub game: Option<u64>,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &Convert) -> Result<Verdict> {
    if args.to == Format::Rocq {
        return term(args);
    }
    let log = match args.file.is_dir() {
        true => args.file.join(GAMES),
        false => args.file.clone(),
    };
    let (record, instance) = match args.game {
        Some(number) => game(&log, number)?,
        None => read(&args.file, args.instance.as_deref())?,
    };
    // Not by `verify`: the game of a match may have been ended by its referee.
    let end = instance.position(&record.moves)?;
    let text = args.to.write(&record, &end)?;
    match &args.out {
        None => output::print(text.trim_end_matches('\n'))?,
        Some(path) => {
            write_whole(path, text.as_bytes())
                .map_err(|error| anyhow!("cannot write {} ({})", path.display(), plain(&error)))?;
            output::say(&format!(
                "{} moves of {} in {}",
                record.moves.len(),
                record.instance,
                path.display()
            ));
        }
    }
    Ok(Verdict::Done)
}

/// A proof as a term, once it has been checked.
fn term(args: &Convert) -> Result<Verdict> {
    let at = |message: String| anyhow!("{}: {message}", args.file.display());
    let text = read_text(&args.file, BYTES_MAX).map_err(at)?;
    let proof =
        Proof::parse(&text).map_err(|e| anyhow!("{}:{}: {}", args.file.display(), e.line, e.message))?;
    let instance = Instance::open_game(&proof.instance).with_context(|| args.file.display().to_string())?;
    let game = instance.game()?;
    game.check(&proof).with_context(|| args.file.display().to_string())?;
    let term = terms::rocq(game, &proof).with_context(|| args.file.display().to_string())?;
    match &args.out {
        None => output::print(term.trim_end_matches('\n'))?,
        Some(path) => write_whole(path, term.as_bytes())
            .map_err(|error| anyhow!("cannot write {} ({})", path.display(), plain(&error)))?,
    }
    Ok(Verdict::Done)
}

/// The record in a file of any format, and what it is of; `told` where the file does not say that.
pub fn read(file: &Path, told: Option<&str>) -> Result<(Record, Instance)> {
    let path = if file.is_dir() { file.join(folder::RECORD) } else { file.to_path_buf() };
    if file.is_dir() && !path.exists() && file.join(GAMES).exists() {
        bail!("{} has many games: say which, as in --game 0", file.display());
    }
    let text = read_text(&path, BYTES_MAX).map_err(|message| anyhow!("{}: {message}", path.display()))?;
    let format = Format::of(&text).ok_or_else(|| {
        anyhow!(
            "{}:1: not a format that is known: expected a record, Pentasol, MSR, routes or SGF",
            path.display()
        )
    })?;
    let at = |line: usize, message: &str| anyhow!("{}:{line}: {message}", path.display());
    let read = format.read(&text).map_err(|error| at(error.line, &error.message))?;
    let name = told.map(str::to_string).or(read.instance.clone()).ok_or_else(|| {
        anyhow!("{}: it does not say what it is of: give --instance, as in morpion/5T", path.display())
    })?;
    let read = format.translate(read, &name).map_err(|error| at(error.line, &error.message))?;
    let copy = path.parent().and_then(|folder| folder::instance_copy(folder, &name));
    let instance = Instance::open_copy(&name, copy).with_context(|| path.display().to_string())?;
    let record = as_record(&path, format, read, &name);
    let instance = instance.begin_as(&record.0).with_context(|| path.display().to_string())?;
    let (record, lines) = record;
    let played = match instance.game() {
        Ok(_) => instance.position(&record.moves),
        Err(_) => instance.verify(&record.moves),
    };
    let end = played.map_err(|error| match &error {
        ReplayError::Illegal { number, .. } => {
            at(lines.get(number - 1).copied().unwrap_or(1), &error.to_string())
        }
        ReplayError::Unfinished { .. } => at(lines.last().copied().unwrap_or(1), &error.to_string()),
    })?;
    let mut record = Record { score: end.score, ..record };
    if instance.game().is_ok() {
        let open = !end.legal.is_empty();
        let result = match end.score {
            _ if open => UNFINISHED,
            1.0 => "first wins",
            0.0 => "second wins",
            _ => "draw",
        };
        record.fields.retain(|(key, _)| key != RESULT);
        let after = record.fields.iter().take_while(|(key, _)| key == POSITION).count();
        record.fields.insert(after, (RESULT.into(), result.into()));
    }
    Ok((record, instance))
}

/// What was read as a record, and the lines of its moves. A stranger's says which file it was.
fn as_record(path: &Path, format: Format, read: Read, instance: &str) -> (Record, Vec<usize>) {
    let mut fields = read.fields;
    let told = fields.iter().any(|(key, _)| ["search", "source", "first", "version"].contains(&key.as_str()));
    if format != Format::Record && !told {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        fields.push(("source".into(), format!("{name}, read {}", clock::now())));
    }
    (Record { instance: instance.to_string(), score: 0.0, fields, moves: read.moves }, read.lines)
}

/// A game of a match.
fn game(log: &Path, number: u64) -> Result<(Record, Instance)> {
    if !log.is_file() {
        bail!("{}: no such file", log.display());
    }
    let games: Vec<Game> = journal::read(log)?;
    let game = games.into_iter().find(|game| game.game == number);
    let game = game.ok_or_else(|| anyhow!("{}: there is no game {number}", log.display()))?;
    let instance = Instance::open_game(&game.instance)?;
    let end = instance.position(&game.moves).with_context(|| log.display().to_string())?;
    let open = !end.legal.is_empty();
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_string();
    let (result, reason) = (serde_json::to_value(game.result)?, serde_json::to_value(game.reason)?);
    let ended = match word(result).as_str() {
        "draw" => "draw".to_string(),
        side => format!("{side} wins"),
    };
    let field = |key: &str, value: String| (key.to_string(), value);
    let mut fields = vec![
        field(RESULT, if open { UNFINISHED.into() } else { ended.clone() }),
        field("first", game.first),
        field("second", game.second),
        field("seeds", format!("{} {}", game.seeds[0], game.seeds[1])),
        field("game", number.to_string()),
        field("version", concat!("sortie ", env!("CARGO_PKG_VERSION")).into()),
    ];
    if open {
        fields.push(field("ended", format!("{ended} ({})", word(reason))));
    }
    let record = Record { instance: game.instance, score: end.score, fields, moves: game.moves };
    Ok((record, instance))
}
