//! Games for two in the Smart Game Format, `FF[4]`: the main line of a game from its own start, as
//! `sortie_domains::sgf` writes it.

use super::{Read, Wrong, field, further, provenance, wrong};
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
        of("C").map(|comment| comment.value.lines().filter_map(field).collect()).unwrap_or_default();
    for (name, key) in
        [("PB", "first"), ("PW", "second"), ("DT", "played"), ("SO", "source"), ("EV", "event")]
    {
        if let Some(property) = of(name)
            && !fields.iter().any(|(known, _)| known == key || (key == "played" && known == "found"))
        {
            fields.push((key.into(), property.value.replace(['\n', '\r'], " ")));
        }
    }
    let (told, fields) = further(fields);
    let instance = told.or_else(|| {
        let number: u32 = of("GM")?.value.trim().parse().ok()?;
        let domain = GAMES.iter().find(|domain| sgf::number(domain).0 == Some(number))?;
        let size = of("SZ").and_then(|size| size.value.trim().parse().ok()).or(sgf::number(domain).1)?;
        Some(format!("{domain}/{size}"))
    });
    let setup = nodes.iter().flatten().find(|property| ["AB", "AW", "AE"].contains(&property.name.as_str()));
    if let Some(setup) = setup {
        return Err(wrong(setup.line, "stones are set up: only games from their own start are read"));
    }
    let (mut moves, mut lines) = (Vec::new(), Vec::new());
    for property in nodes.iter().flatten().filter(|property| property.name == "B" || property.name == "W") {
        moves.push(property.value.clone());
        lines.push(property.line);
    }
    Ok(Read { instance, fields, moves, lines })
}

/// The moves of a file in our words, once it is known what is played.
pub fn translate(read: Read, instance: &str) -> Result<Read, Wrong> {
    let domain = instance.split('/').next().unwrap_or_default();
    let (board, mut moves, mut lines) = (sgf::size(instance), Vec::new(), Vec::new());
    for (value, line) in read.moves.iter().zip(read.lines) {
        // These end a game without a move.
        if ["resign", "draw", "forfeit", "time", ""].contains(&value.trim().to_ascii_lowercase().as_str()) {
            break;
        }
        let cut: String = value.chars().take(40).collect();
        let found = words(domain, board, value)
            .ok_or_else(|| wrong(line, format!("'{cut}' is not a move of {domain}")))?;
        lines.extend(found.iter().map(|_| line));
        moves.extend(found);
    }
    Ok(Read { moves, lines, ..read })
}

struct Property {
    name: String,
    /// The first of its values.
    value: String,
    line: usize,
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
                let moves = name == "B" || name == "W";
                // A turn of several stones may be written as several values.
                let value = if moves { values.concat() } else { values.swap_remove(0) };
                nodes.last_mut().expect("not empty").push(Property { name, value, line: begun });
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
