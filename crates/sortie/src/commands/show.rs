//! `sortie show`: an instance or a record as text, and as pictures.

use crate::args::Show;
use crate::folder::write_whole;
use crate::output::{self, number, score};
use crate::source::{Instance, Source, plain};
use crate::{Verdict, raster};
use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use sortie_core::Position;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Runs the command.
pub fn run(args: &Show) -> Result<Verdict> {
    let (instance, moves) = find(args)?;
    let position = instance.position(&moves)?;
    let mut files = Vec::new();
    if let Some(path) = &args.svg {
        files.push((path, picture(&instance, &position)?.svg().into_bytes()));
    }
    if let Some(path) = &args.png {
        files.push((path, raster::png(picture(&instance, &position)?, args.scale)?));
    }
    for (path, bytes) in files {
        write(path, &bytes)
            .map_err(|error| anyhow!("cannot write {} ({})", path.display(), plain(&error)))?;
        output::say(&format!("wrote {}", path.display()));
    }
    if args.json {
        output::print_json(&json(&instance, &position, &moves))?;
    } else {
        output::print(&text(&instance, &position, moves.len()))?;
    }
    Ok(Verdict::Done)
}

/// Files are replaced whole; a device or a link (/dev/stdout) is written to.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if !meta.is_file() => std::fs::write(path, bytes),
        _ => write_whole(path, bytes),
    }
}

/// The instance and the moves to play on it.
fn find(args: &Show) -> Result<(Instance, Vec<String>)> {
    let path = Path::new(&args.what);
    if !path.is_dir() && !is_record(path) {
        if args.after.is_some() {
            bail!("--after needs a record or a run folder: {} is an instance, give --moves", args.what);
        }
        let words = args.moves.as_deref().unwrap_or_default().split_whitespace();
        return Ok((Instance::first(&args.what)?, words.map(str::to_string).collect()));
    }
    if args.moves.is_some() {
        bail!("--moves needs an instance: {} holds moves of its own, give --after", path.display());
    }
    let source = Source::read(path)?;
    let instance = source.instance()?;
    let mut moves = source.record.moves;
    if let Some(after) = args.after {
        if after > moves.len() {
            bail!("--after {after}: the record has {} moves", moves.len());
        }
        moves.truncate(after);
    }
    Ok((instance, moves))
}

/// Whether a file says that it is a record. Other files may still be part of the name of an instance.
fn is_record(path: &Path) -> bool {
    let mut start = [0; 14];
    path.is_file()
        && File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && &start == b"sortie record "
}

fn picture<'a>(instance: &Instance, position: &'a Position) -> Result<&'a sortie_core::picture::Picture> {
    position.picture.as_ref().ok_or_else(|| anyhow!("{} has no picture, only text", instance.domain()))
}

fn json(instance: &Instance, position: &Position, moves: &[String]) -> Value {
    let mut value = json!({
        "domain": instance.domain(),
        "instance": instance.name,
        "moves": moves,
        "score": number(position.score),
        "best_known": instance.best_known().map(number),
        "legal": position.legal,
        "text": position.text,
    });
    for &(key, fact) in &position.facts {
        if value.get(key).is_none() {
            value[key] = number(fact);
        }
    }
    value
}

fn text(instance: &Instance, position: &Position, moves: usize) -> String {
    let mut text = format!("{}\n\n{}", crate::paint::board(position.text.trim_end()), instance.name);
    if moves > 0 {
        text += &format!(" after {moves} moves");
    }
    text += &format!(": {}", instance.told(position.score));
    let measures = instance.measures(position.score);
    for (key, value) in position.facts.iter().filter(|(key, _)| measures.iter().all(|m| m.what != *key)) {
        text += &format!(", {key} {}", score(*value));
    }
    match position.legal.len() {
        0 => text += ", the end",
        n => text += &format!(", {n} legal moves"),
    }
    if let Some(known) = instance.best_known() {
        text += &format!(", best known {}", instance.told(known));
    }
    text
}
