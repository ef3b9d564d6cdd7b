//! Records as others write them: one file a format. Each turns a record of ours into its text and back; the words of the
//! moves keep the line they stood on, so that a move that is not legal is told by its line.

mod morpion;
pub mod position;
mod routes;
mod sgf;
pub mod terms;

use anyhow::{Result, anyhow, bail};
use sortie_core::{Position, Record};

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Our own
    Record,
    /// Morpion Solitaire, as the record pages and the Pentasol player have it
    Pentasol,
    /// Morpion Solitaire Record 0.1, as JSON
    Msr,
    /// Routes, as CVRPLIB has them
    Sol,
    /// Routes, as SINTEF's pages of best solutions have them
    Sintef,
    /// Games for two: Smart Game Format
    Sgf,
    /// Proofs: a strategy as a term of Rocq, for the checker in proofs/rocq
    Rocq,
}

/// What a text of any format says.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Read {
    /// `domain/name`, where the text tells.
    pub instance: Option<String>,
    /// Further header lines.
    pub fields: Vec<(String, String)>,
    /// Words of moves.
    pub moves: Vec<String>,
    /// The line each stood on, from 1.
    pub lines: Vec<usize>,
    /// Stones that lie there when the game begins.
    pub setup: Vec<Stones>,
}

/// A property of SGF that sets up a position: `AB`, `AW`, `AE` or `PL`.
#[derive(Debug, Clone, PartialEq)]
pub struct Stones {
    /// Its name.
    pub name: String,
    /// Its values.
    pub points: Vec<String>,
    /// The line it stood on.
    pub line: usize,
}

impl Format {
    /// Of which format a text is, by how it begins.
    pub fn of(text: &str) -> Option<Format> {
        let begin = text.trim_start_matches('\u{feff}').trim_start();
        let first = begin.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
        let begins = |word: &str| first.get(..word.len()).is_some_and(|is| is.eq_ignore_ascii_case(word));
        if first.starts_with("sortie record") {
            Some(Format::Record)
        } else if first.starts_with("MS1:") || first.starts_with('{') {
            Some(Format::Msr)
        } else if first.strip_prefix('(').is_some_and(|rest| rest.trim_start().starts_with(';'))
            || (first == "(" && begin[1..].trim_start().starts_with(';'))
        {
            Some(Format::Sgf)
        } else if first.starts_with('(') {
            Some(Format::Pentasol)
        } else if begins("route") {
            Some(Format::Sol)
        } else if begins("instance") || begins("solution") || begins("author") {
            Some(Format::Sintef)
        } else {
            None
        }
    }

    /// Reads a text; an error names the line.
    pub fn read(self, text: &str) -> Result<Read, Wrong> {
        match self {
            Format::Record => read_record(text),
            Format::Pentasol => morpion::read_pentasol(text),
            Format::Msr => morpion::read_msr(text),
            Format::Sol | Format::Sintef => routes::read(text),
            Format::Sgf => sgf::read(text),
            Format::Rocq => unreachable!("no text is taken for it"),
        }
    }

    /// The moves that were read in our words, now that it is known what they are of.
    pub fn translate(self, read: Read, instance: &str) -> Result<Read, Wrong> {
        match self {
            Format::Sgf => sgf::translate(read, instance),
            _ => Ok(read),
        }
    }

    /// Writes a record whose moves lead to this position.
    pub fn write(self, record: &Record, end: &Position) -> Result<String> {
        let domain = record.instance.split('/').next().unwrap_or_default();
        let fits = match self {
            Format::Record => true,
            Format::Pentasol | Format::Msr => domain == "morpion",
            Format::Sol | Format::Sintef => domain == "vrptw",
            Format::Sgf => sgf::GAMES.contains(&domain),
            Format::Rocq => bail!("--to rocq: expected a proof, as `sortie prove --proof` writes it"),
        };
        if !fits {
            let fit = match domain {
                "morpion" => "pentasol, msr",
                "vrptw" => "sol, sintef",
                domain if sgf::GAMES.contains(&domain) => "sgf",
                _ => "record",
            };
            bail!("{} is not written in this format: expected --to {fit}", record.instance);
        }
        match self {
            Format::Record => Ok(record.to_text()),
            Format::Pentasol => morpion::write_pentasol(record),
            Format::Msr => morpion::write_msr(record, end),
            Format::Sol => routes::write_sol(record, end),
            Format::Sintef => routes::write_sintef(record, end),
            Format::Sgf => sgf::write(record),
            Format::Rocq => unreachable!("refused above"),
        }
    }
}

/// What is wrong with a text, and on which line.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// From 1.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

fn wrong(line: usize, message: impl Into<String>) -> Wrong {
    Wrong { line, message: message.into() }
}

fn read_record(text: &str) -> Result<Read, Wrong> {
    let record = Record::parse(text).map_err(|error| wrong(error.line, error.message))?;
    let head = text.lines().position(|line| line.trim().is_empty()).unwrap_or(0);
    let words = text.lines().enumerate().skip(head);
    let lines = words.flat_map(|(at, line)| line.split_whitespace().map(move |_| at + 1)).collect();
    Ok(Read {
        instance: Some(record.instance),
        fields: record.fields,
        moves: record.moves,
        lines,
        ..Read::default()
    })
}

/// `key = value` of a comment, where it is one.
fn field(text: &str) -> Option<(String, String)> {
    let (key, value) = text.split_once('=')?;
    let key = key.trim();
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    plain.then(|| (key.to_string(), value.trim().to_string()))
}

/// The lines that tell where a record comes from, as `key = value`. Long values of others may have line breaks.
fn provenance(record: &Record) -> Vec<String> {
    let line = |key: &str, value: &str| format!("{key} = {}", value.replace(['\n', '\r'], " "));
    let mut lines = vec![line("instance", &record.instance), line("score", &record.score.to_string())];
    lines.extend(record.fields.iter().map(|(key, value)| line(key, value)));
    lines
}

/// Fields without those that a record has by itself.
fn further(fields: Vec<(String, String)>) -> (Option<String>, Vec<(String, String)>) {
    let instance = fields.iter().find(|(key, _)| key == "instance").map(|(_, value)| value.clone());
    let own = |(key, _): &(String, String)| key != "instance" && key != "score";
    (instance, fields.into_iter().filter(own).collect())
}

/// A number on a line.
fn number<T: std::str::FromStr>(text: &str, what: &str, line: usize) -> Result<T, Wrong> {
    text.trim().parse().map_err(|_| wrong(line, format!("'{}' is not {what}", text.trim())))
}

/// A fact of the end of a record.
fn fact(end: &Position, name: &str) -> Result<f64> {
    let found = end.facts.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
    found.ok_or_else(|| anyhow!("the end of this record has no {name}"))
}

#[cfg(test)]
mod tests;
