//! The record of a solution: a few header lines and the moves as words. The moves are the truth; the score is a claim
//! that `verify` checks: it plays them (`replay_whole`), free of any search.
//!
//! ```text
//! sortie record 1
//! instance = samegame/1
//! score = 3145
//! search = nrpa level 3, 100 iterations
//!
//! c4 h12 a1 ...
//! ```

pub use crate::replay::{ReplayError, legal_texts, replay, replay_whole, words};
use std::fmt::Write;

/// The first line of every record. The number is the version of the format.
const MAGIC: &str = "sortie record 1";
/// Moves are wrapped at this column.
const WRAP: usize = 100;
/// No record has more moves than this; a larger file is not read as one.
const MOVES_MAX: usize = 1_000_000;

/// A solution with its instance, the score it claims, and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The instance, as it is named on the command line.
    pub instance: String,
    /// The score it claims.
    pub score: f64,
    /// Further header lines in their order: source, search, seed, found ...
    pub fields: Vec<(String, String)>,
    /// The moves.
    pub moves: Vec<String>,
}

/// A text that is not a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct RecordError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Record {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Record, RecordError> {
        let error = |line: usize, message: String| Err(RecordError { line, message });
        let mut lines = text.lines().zip(1..);
        match lines.next() {
            Some((first, _)) if first.trim_end() == MAGIC => {}
            Some((first, _)) if first.starts_with("sortie record ") => {
                return error(
                    1,
                    format!("'{}' is of another version: this program reads '{MAGIC}'", first.trim_end()),
                );
            }
            _ => return error(1, format!("not a record: expected '{MAGIC}'")),
        }
        let (mut instance, mut score, mut fields) = (None, None, Vec::new());
        let mut last = 1;
        for (line, number) in lines.by_ref() {
            last = number;
            if line.trim().is_empty() {
                break;
            }
            let Some((key, value)) = line.split_once('=') else {
                return error(
                    number,
                    format!("expected 'key = value' or an empty line, found '{}'", shorten(line)),
                );
            };
            let (key, value) = (key.trim(), value.trim());
            match key {
                "instance" => instance = Some(value.to_string()),
                "score" => match value.parse::<f64>() {
                    Ok(number) if number.is_finite() => score = Some(number),
                    _ => return error(number, format!("score '{}' is not a number", shorten(value))),
                },
                _ => fields.push((key.to_string(), value.to_string())),
            }
        }
        let Some(instance) = instance else {
            return error(last, "the header has no 'instance = ...'".into());
        };
        let Some(score) = score else { return error(last, "the header has no 'score = ...'".into()) };
        let moves: Vec<String> = lines
            .flat_map(|(line, _)| line.split_whitespace())
            .take(MOVES_MAX + 1)
            .map(str::to_string)
            .collect();
        if moves.len() > MOVES_MAX {
            return error(last + 1, format!("more than {MOVES_MAX} moves"));
        }
        Ok(Record { instance, score, fields, moves })
    }

    /// The value of a further header line.
    pub fn field(&self, key: &str) -> Option<&str> {
        self.fields.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
    }

    /// The record as text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{MAGIC}\ninstance = {}\nscore = {}\n", one_line(&self.instance), self.score);
        for (key, value) in &self.fields {
            let _ = writeln!(text, "{} = {}", one_line(key), one_line(value));
        }
        // The empty line that ends the header is the line break before the first word.
        let mut column = WRAP;
        for word in &self.moves {
            if column + 1 + word.len() > WRAP {
                text.push('\n');
                column = 0;
            } else {
                text.push(' ');
                column += 1;
            }
            text.push_str(word);
            column += word.len();
        }
        text.push('\n');
        text
    }
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn shorten(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= 40 {
        text.to_string()
    } else {
        text.chars().take(40).collect::<String>() + "..."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let record = Record {
            instance: "samegame/1".into(),
            score: -1650.25,
            fields: vec![("search".into(), "nrpa level 3 = good".into()), ("seed".into(), "7".into())],
            moves: (0..70).map(|i| format!("m{i}")).collect(),
        };
        let text = record.to_text();
        assert!(text.lines().all(|line| line.len() <= WRAP));
        assert_eq!(Record::parse(&text), Ok(record.clone()));
        assert_eq!(record.field("seed"), Some("7"));
        let empty = Record { moves: vec![], ..record };
        assert_eq!(Record::parse(&empty.to_text()), Ok(empty));
    }

    #[test]
    fn what_is_not_a_record_is_refused_with_its_line() {
        let line = |text: &str| Record::parse(text).unwrap_err().line;
        assert_eq!(line(""), 1);
        assert_eq!(line("sortie record 2\n"), 1);
        assert_eq!(line("sortie record 1\ninstance = a/b\nscore = many\n"), 3);
        assert_eq!(line("sortie record 1\nnonsense\n"), 2);
        assert_eq!(line("sortie record 1\nscore = 1\n\na b"), 3);
        assert!(Record::parse("sortie record 9\n").unwrap_err().message.contains("version"));
    }
}
