//! Games for two in the Smart Game Format, `FF[4]`: the main line of a game from its own start.
//!
//! Lines of Action (`GM[9]`) and Hex (`GM[11]`) write their moves as red-bean.com/sgf says: squares and cells by letter and
//! number. Gomoku (`GM[4]`) and Connect6 write points as two letters from the upper left corner; a turn of Connect6 is one
//! property with both stones, `W[iihj]`, as players of it do, and there is no number for it. Connect Four and
//! Breakthrough have no number either and keep their words. The root comment tells where a game comes from, and which
//! instance it is.

use super::{Read, Wrong, field, further, provenance, wrong};
use anyhow::{Result, anyhow, bail};
use sortie_core::Record;
use std::fmt::Write;

/// The domains that are written.
pub const GAMES: [&str; 6] = ["loa", "hex", "gomoku", "connect6", "connect4", "breakthrough"];
/// Nodes of a file; no game is longer.
const NODES_MAX: usize = 1 << 20;

/// The number of a game, and the size of a board where none is said.
fn game(domain: &str) -> (Option<u32>, Option<usize>) {
    match domain {
        "loa" => (Some(9), Some(8)),
        "hex" => (Some(11), Some(11)),
        "gomoku" => (Some(4), Some(15)),
        _ => (None, None),
    }
}

/// The size in the name of an instance: `hex/11:swap=on`.
fn size(instance: &str) -> Option<usize> {
    instance.split('/').next_back()?.split(':').next()?.parse().ok()
}

/// A game as SGF.
pub fn write(record: &Record) -> Result<String> {
    let domain = record.instance.split('/').next().unwrap_or_default();
    if record.field("position").is_some() {
        bail!("this game begins at a position of its own, which is not written as SGF: --to record keeps it");
    }
    let board = size(&record.instance);
    let mut out = String::from("(;FF[4]");
    if let (Some(number), _) = game(domain) {
        let _ = write!(out, "GM[{number}]");
    }
    let _ = write!(out, "CA[UTF-8]AP[sortie:{}]", env!("CARGO_PKG_VERSION"));
    if let Some(size) = board {
        let _ = write!(out, "SZ[{size}]");
    }
    for (property, key) in [("PB", "first"), ("PW", "second")] {
        if let Some(name) = record.field(key) {
            let _ = write!(out, "{property}[{}]", escape(name));
        }
    }
    let day = record.field("played").or(record.field("found")).and_then(|time| time.get(..10));
    if let Some(day) = day {
        let _ = write!(out, "DT[{}]", escape(day));
    }
    let unfinished = record.field("result") == Some("unfinished");
    let result = match record.score {
        _ if unfinished => "?",
        1.0 => "B+",
        0.0 => "W+",
        _ => "0",
    };
    let _ = write!(out, "RE[{result}]GN[{}]C[", escape(&record.instance));
    out += &escape(&provenance(record).join("\n"));
    out += "]\n";
    for (first, turn) in turns(domain, &record.moves) {
        let words: Result<Vec<String>> = turn.iter().map(|word| point(domain, board, word)).collect();
        let _ = writeln!(out, ";{}[{}]", if first { 'B' } else { 'W' }, words?.concat());
    }
    Ok(out + ")\n")
}

/// The moves by turns: who makes it, and its words.
fn turns<'a>(domain: &str, moves: &'a [String]) -> Vec<(bool, &'a [String])> {
    if domain != "connect6" {
        return moves.chunks(1).zip(0..).map(|(turn, n)| (n % 2 == 0, turn)).collect();
    }
    // One stone, then two each.
    let (one, rest) = moves.split_at(moves.len().min(1));
    one.chunks(1)
        .map(|turn| (true, turn))
        .chain(rest.chunks(2).zip(0..).map(|(turn, n)| (n % 2 == 1, turn)))
        .collect()
}

/// A word of ours as a point or move of SGF.
fn point(domain: &str, board: Option<usize>, word: &str) -> Result<String> {
    match domain {
        "gomoku" | "connect6" => {
            let read = || {
                let (column, row) = word.split_at_checked(1)?;
                let column = column.bytes().next()?.checked_sub(b'a')?;
                let row = board?.checked_sub(row.parse().ok()?)?;
                Some(format!("{}{}", (b'a' + column) as char, (b'a' + row as u8) as char))
            };
            read().ok_or_else(|| anyhow!("'{word}' is not a cell"))
        }
        "loa" => Ok(word.replace('x', ":")),
        "hex" if word == "swap" => Ok("swap-pieces".into()),
        _ => Ok(escape(word)),
    }
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
        let domain = GAMES.iter().find(|domain| game(domain).0 == Some(number))?;
        let size = of("SZ").and_then(|size| size.value.trim().parse().ok()).or(game(domain).1)?;
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
    let (board, mut moves, mut lines) = (size(instance), Vec::new(), Vec::new());
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

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace(']', "\\]")
}
