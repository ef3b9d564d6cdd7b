//! Games for two in the Smart Game Format, `FF[4]`: the main line of a game, as `sortie_domains::sgf` writes it; a game of
//! others may begin with stones that are set up.

use super::{Read, Stones, Wrong, field, further, position, provenance, wrong};
use crate::source::POSITION;
use anyhow::{Result, anyhow};
use sortie_core::Record;
use sortie_domains::sgf;

pub use sgf::GAMES;

/// Nodes of a file; no game is longer.
const NODES_MAX: usize = 1 << 20;

/// A game as SGF.
pub fn write(record: &Record) -> Result<String> {
    sgf::write(record, &provenance(record).join("\n")).map_err(|why| {
        anyhow!("{why}{}", if record.field("position").is_some() { ": --to record keeps it" } else { "" })
    })
}

/// The words of ours that a move of SGF means.
fn words(domain: &str, board: Option<usize>, value: &str) -> Option<Vec<String>> {
    let value = value.trim().to_ascii_lowercase();
    match domain {
        "gomoku" | "connect6" => {
            let bytes = value.as_bytes();
            let one = |pair: &[u8]| {
                let [column @ b'a'..=b'z', row @ b'a'..=b'z'] = *pair else { return None };
                let row = board?.checked_sub(usize::from(row - b'a'))?;
                Some(format!("{}{row}", column as char))
            };
            let most = if domain == "connect6" { 4 } else { 2 };
            let whole = !bytes.is_empty() && bytes.len().is_multiple_of(2) && bytes.len() <= most;
            whole.then(|| bytes.chunks(2).map(one).collect::<Option<Vec<String>>>()).flatten()
        }
        // A move may end with signs of praise.
        "loa" => Some(vec![value.trim_end_matches(['+', '!', '?', '#']).replace(':', "x")]),
        "hex" if value == "swap-pieces" || value == "swap" => Some(vec!["swap".into()]),
        _ => Some(vec![value]),
    }
}

/// Reads the main line of the first game of a file.
pub fn read(text: &str) -> Result<Read, Wrong> {
    let nodes = parse(text.trim_start_matches('\u{feff}'))?;
    let root = nodes.first().ok_or_else(|| wrong(1, "there is no node in it"))?;
    let of = |name: &str| root.iter().find(|property| property.name == name);
    let mut fields: Vec<(String, String)> =
        of("C").map(|comment| comment.value().lines().filter_map(field).collect()).unwrap_or_default();
    for (name, key) in
        [("PB", "first"), ("PW", "second"), ("DT", "played"), ("SO", "source"), ("EV", "event")]
    {
        if let Some(property) = of(name)
            && !fields.iter().any(|(known, _)| known == key || (key == "played" && known == "found"))
        {
            fields.push((key.into(), property.value().replace(['\n', '\r'], " ")));
        }
    }
    let (told, fields) = further(fields);
    let instance = told.or_else(|| {
        let number: u32 = of("GM")?.value().trim().parse().ok()?;
        let domain = GAMES.iter().find(|domain| sgf::number(domain).0 == Some(number))?;
        let size = of("SZ").and_then(|size| size.value().trim().parse().ok()).or(sgf::number(domain).1)?;
        Some(format!("{domain}/{size}"))
    });
    let (mut moves, mut lines, mut setup) = (Vec::new(), Vec::new(), Vec::new());
    for property in nodes.iter().flatten() {
        match property.name.as_str() {
            "B" | "W" => {
                // A turn of several stones may be written as several values.
                moves.push(property.values.concat());
                lines.push(property.line);
            }
            "AB" | "AW" | "AE" | "PL" => {
                if !moves.is_empty() {
                    return Err(wrong(property.line, "stones are set up after a move: only before is read"));
                }
                let Property { name, values, line } = property;
                setup.push(Stones { name: name.clone(), points: values.clone(), line: *line });
            }
            _ => {}
        }
    }
    Ok(Read { instance, fields, moves, lines, setup })
}

/// The moves of a file in our words, and the position they begin at, once it is known what is played.
pub fn translate(read: Read, instance: &str) -> Result<Read, Wrong> {
    let domain = instance.split('/').next().unwrap_or_default();
    let (board, mut moves, mut lines) = (sgf::size(instance), Vec::new(), Vec::new());
    for (value, line) in read.moves.iter().zip(&read.lines) {
        // These end a game without a move.
        if ["resign", "draw", "forfeit", "time", ""].contains(&value.trim().to_ascii_lowercase().as_str()) {
            break;
        }
        let cut: String = value.chars().take(40).collect();
        let found = words(domain, board, value)
            .ok_or_else(|| wrong(*line, format!("'{cut}' is not a move of {domain}")))?;
        lines.extend(found.iter().map(|_| *line));
        moves.extend(found);
    }
    let mut fields = read.fields;
    if let Some(start) = set_up(domain, board, &read.setup)? {
        fields.insert(0, (POSITION.into(), start));
    }
    Ok(Read { moves, lines, fields, ..read })
}

/// The position of stones that are set up, as the game writes it.
fn set_up(domain: &str, board: Option<usize>, setup: &[Stones]) -> Result<Option<String>, Wrong> {
    let Some(last) = setup.last() else { return Ok(None) };
    let size = board.filter(|size| (1..=26).contains(size)).ok_or_else(|| {
        wrong(last.line, format!("stones are set up, which is read for square boards only, not for {domain}"))
    })?;
    let (mut rows, mut side) = (vec![vec![None; size]; size], None);
    for Stones { name, points, line } in setup {
        for text in points {
            let no =
                || wrong(*line, format!("{name}[{}] is no cell", text.chars().take(20).collect::<String>()));
            match name.as_str() {
                "PL" => side = Some(text.trim().eq_ignore_ascii_case("b")),
                _ => {
                    // Two corners stand for all between them.
                    let (from, to) = text.split_once(':').unwrap_or((text, text));
                    let (from, to) = (cell(domain, size, from), cell(domain, size, to));
                    let ((left, top), (right, below)) = from.zip(to).ok_or_else(no)?;
                    let stone = (name != "AE").then_some(name == "AB");
                    for row in rows.iter_mut().take(below + 1).skip(top) {
                        row.iter_mut().take(right + 1).skip(left).for_each(|cell| *cell = stone);
                    }
                }
            }
        }
    }
    let count = |which| rows.iter().flatten().filter(|cell| **cell == Some(which)).count();
    let side = side.or_else(|| position::turn(domain, count(true), count(false)));
    let side = side.ok_or_else(|| wrong(last.line, "who is to move? expected PL[B] or PL[W]"))?;
    Ok(Some(position::line(&rows, side)))
}

/// A point: its column and its row from the top.
fn cell(domain: &str, size: usize, point: &str) -> Option<(usize, usize)> {
    let point = point.trim().to_ascii_lowercase();
    let (column, row) = point.split_at_checked(1)?;
    let letter = |text: &str| Some(usize::from(text.bytes().next()?.checked_sub(b'a')?));
    let row = match domain {
        "gomoku" | "connect6" if row.len() == 1 => letter(row)?,
        "hex" => row.parse::<usize>().ok()?.checked_sub(1)?,
        _ => size.checked_sub(row.parse().ok()?)?,
    };
    Some((letter(column)?, row)).filter(|&(column, row)| column < size && row < size)
}

struct Property {
    name: String,
    /// One or more.
    values: Vec<String>,
    line: usize,
}

impl Property {
    fn value(&self) -> &str {
        &self.values[0]
    }
}

/// The nodes of the main line: of every choice the first.
fn parse(text: &str) -> Result<Vec<Vec<Property>>, Wrong> {
    let mut nodes: Vec<Vec<Property>> = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut line = 1;
    let mut depth = 0usize;
    while let Some((at, c)) = chars.next() {
        match c {
            '\n' => line += 1,
            c if c.is_whitespace() => {}
            '(' => depth += 1,
            // The first line that ends is the main one.
            ')' if depth > 0 && !nodes.is_empty() => return Ok(nodes),
            ';' if depth > 0 => nodes.push(Vec::new()),
            c if c.is_ascii_alphabetic() && !nodes.is_empty() => {
                let mut name = String::from(c);
                while let Some((_, c)) = chars.next_if(|(_, c)| c.is_ascii_alphabetic()) {
                    name.push(c);
                }
                // Older files have small letters in long names.
                name.retain(|c| c.is_ascii_uppercase());
                let (begun, mut values) = (line, Vec::new());
                loop {
                    while let Some((_, c)) = chars.next_if(|(_, c)| c.is_whitespace()) {
                        line += usize::from(c == '\n');
                    }
                    if chars.next_if(|(_, c)| *c == '[').is_none() {
                        break;
                    }
                    values.push(value(&mut chars, &mut line)?);
                }
                if values.is_empty() {
                    return Err(wrong(begun, format!("{name} has no value: expected one in brackets")));
                }
                nodes.last_mut().expect("not empty").push(Property { name, values, line: begun });
            }
            other => {
                let near: String = text[at..].chars().take(20).collect();
                let near = near.lines().next().unwrap_or_default();
                return Err(wrong(line, format!("'{other}' has no place in SGF, near '{near}'")));
            }
        }
        if nodes.len() > NODES_MAX {
            return Err(wrong(line, format!("more than {NODES_MAX} nodes")));
        }
    }
    Err(wrong(line, "the file ends before the game does: expected a closing parenthesis"))
}

/// A value up to its bracket.
fn value(chars: &mut std::iter::Peekable<std::str::CharIndices>, line: &mut usize) -> Result<String, Wrong> {
    let begun = *line;
    let mut out = String::new();
    while let Some((_, c)) = chars.next() {
        match c {
            ']' => return Ok(out),
            '\\' => match chars.next() {
                // A line break after a backslash is none.
                Some((_, '\n')) => *line += 1,
                Some((_, c)) => out.push(c),
                None => break,
            },
            c => {
                *line += usize::from(c == '\n');
                out.push(c);
            }
        }
    }
    Err(wrong(begun, "a value has no end: expected a closing bracket"))
}
