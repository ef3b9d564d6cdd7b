//! Morpion Solitaire as others write it.
//!
//! Pentasol, the text of the record pages: a line with the place of the reference point, which is the inner corner (3,3) of
//! the cross, then a line for each move: its point as (column,row) counted from the left and from above, the direction as
//! `-`, `|`, `/` or `\`, and how far the middle of the line lies to the right (below, for `|`) of the point. It is for
//! lines of five and does not say whether they may touch; comments begin with `#`, and ours say it.
//!
//! MSR 0.1 (morpion-solitaire.io, docs/spec/0.1): JSON, or `MS1:` and the same compressed. Its frame, directions and
//! positions on a line are those of our words.

use super::{Read, Wrong, field, further, number, provenance, wrong};
use anyhow::{Result, anyhow, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sortie_core::{Position, Record};

/// Where the reference point is put: all coordinates are positive then, whatever the game.
const REFERENCE: i32 = 28;
/// The reference point in our words.
const CORNER: i32 = 3;
/// The middle of a line of five.
const MIDDLE: i32 = 2;
/// Signs of the directions in Pentasol, and names in our words and in MSR.
const DIRECTIONS: [(&str, &str); 4] = [("-", "H"), ("|", "V"), ("/", "DP"), ("\\", "DN")];
/// No game is larger than this, unpacked.
const BYTES_MAX: usize = 16 << 20;
/// Coordinates beyond this are none.
const FAR: i32 = 10_000;

/// A word of ours in its parts: x, y, direction, position on the line.
fn parts(word: &str) -> Option<(i32, i32, &str, i32)> {
    let (point, line) = word.split_once(':')?;
    let (x, y) = point.split_once(',')?;
    let (name, index) = line.split_at(line.find(|c: char| c.is_ascii_digit())?);
    Some((x.parse().ok()?, y.parse().ok()?, name, index.parse().ok()?))
}

fn all_parts(record: &Record) -> Result<Vec<(i32, i32, &'static str, i32)>> {
    let read = |word: &String| {
        let (x, y, name, at) = parts(word)?;
        let name = DIRECTIONS.iter().find(|(_, known)| *known == name).map(|(_, known)| *known)?;
        Some((x, y, name, at))
    };
    let all = record.moves.iter();
    all.map(|word| read(word).ok_or_else(|| anyhow!("'{word}' is not a move of Morpion"))).collect()
}

/// As Pentasol text.
pub fn write_pentasol(record: &Record) -> Result<String> {
    if !record.instance.starts_with("morpion/5") {
        bail!("{}: Pentasol is for lines of five; --to msr takes all variants", record.instance);
    }
    let mut out = String::from("# Pentasol form of a Morpion Solitaire game\n");
    for line in provenance(record) {
        out += &format!("# {line}\n");
    }
    out += &format!("({REFERENCE},{REFERENCE})\n");
    let far = REFERENCE - CORNER;
    for (x, y, name, at) in all_parts(record)? {
        let sign = DIRECTIONS.iter().find(|(_, known)| *known == name).map_or("?", |(sign, _)| sign);
        let middle = MIDDLE - at;
        let middle = if middle == 0 { "0".into() } else { format!("{middle:+}") };
        out += &format!("({},{}) {sign} {middle}\n", x + far, y + far);
    }
    Ok(out)
}

/// From Pentasol text.
pub fn read_pentasol(text: &str) -> Result<Read, Wrong> {
    let (mut fields, mut moves, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut reference = None;
    for (line, n) in text.trim_start_matches('\u{feff}').lines().map(str::trim).zip(1..) {
        if let Some(comment) = line.strip_prefix('#') {
            fields.extend(field(comment));
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let expected = "expected a point and a line, as in (27,25) - +2";
        let (point, rest) =
            line.strip_prefix('(').and_then(|line| line.split_once(')')).ok_or_else(|| wrong(n, expected))?;
        let (x, y) = point.split_once(',').ok_or_else(|| wrong(n, "expected a point, as in (27,25)"))?;
        let (x, y): (i32, i32) = (number(x, "a column", n)?, number(y, "a row", n)?);
        if x.abs() > FAR || y.abs() > FAR {
            return Err(wrong(n, "this point lies far beyond any game"));
        }
        let rest = rest.trim();
        let Some((rx, ry)) = reference else {
            if !rest.is_empty() {
                return Err(wrong(n, "expected the reference point first, as in (28,28)"));
            }
            reference = Some((x, y));
            continue;
        };
        let found = DIRECTIONS.iter().find_map(|(sign, name)| Some((*name, rest.strip_prefix(sign)?)));
        let (name, rest) = found.ok_or_else(|| wrong(n, "expected one of - | / \\ after the point"))?;
        let middle: i32 = number(rest, "how far the middle of the line is, from -2 to +2", n)?;
        if !(-MIDDLE..=MIDDLE).contains(&middle) {
            return Err(wrong(n, format!("{middle}: expected a number from -2 to +2")));
        }
        moves.push(format!("{},{}:{name}{}", x - rx + CORNER, y - ry + CORNER, MIDDLE - middle));
        lines.push(n);
    }
    if reference.is_none() {
        return Err(wrong(1, "expected the reference point, as in (28,28)"));
    }
    let (instance, fields) = further(fields);
    Ok(Read { instance, fields, moves, lines, ..Read::default() })
}

/// A file of MSR, as far as it is used.
#[derive(Deserialize)]
struct Msr {
    #[serde(default)]
    version: Value,
    variant: String,
    moves: Vec<MsrMove>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

#[derive(Deserialize)]
struct MsrMove {
    x: i64,
    y: i64,
    dir: String,
    pos: u32,
}

/// As MSR in its readable form.
pub fn write_msr(record: &Record, end: &Position) -> Result<String> {
    let all = all_parts(record)?;
    let moves: Vec<Value> =
        all.iter().map(|(x, y, dir, pos)| json!({ "x": x, "y": y, "dir": dir, "pos": pos })).collect();
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| out.insert(key.into(), value);
    put("version", "0.1".into());
    put("variant", record.instance.trim_start_matches("morpion/").to_uppercase().into());
    put("score", moves.len().into());
    put("producer", concat!("sortie/", env!("CARGO_PKG_VERSION")).into());
    put("available_moves", end.legal.len().into());
    put("terminal", end.legal.is_empty().into());
    let mut solver = Map::new();
    let mut rest = Vec::new();
    for (key, value) in &record.fields {
        match key.as_str() {
            "found" => drop(put("saved_at", value.as_str().into())),
            "source" => drop(put("source", value.as_str().into())),
            "author" => drop(put("author", value.as_str().into())),
            "search" => drop(solver.insert("method".into(), value.as_str().into())),
            "seed" => {
                if let Ok(seed) = value.parse::<u64>() {
                    solver.insert("seed".into(), seed.into());
                }
            }
            "playouts" => {
                if let Ok(playouts) = value.parse::<u64>() {
                    solver.insert("nodes_explored".into(), playouts.into());
                }
            }
            "version" => drop(solver.insert("tool".into(), value.as_str().into())),
            _ => rest.push(format!("{key} = {value}")),
        }
    }
    if !rest.is_empty() {
        put("description", rest.join("; ").into());
    }
    if !solver.is_empty() {
        put("solver", Value::Object(solver));
    }
    put("moves", moves.into());
    Ok(serde_json::to_string_pretty(&Value::Object(out))? + "\n")
}

/// From MSR in either form.
pub fn read_msr(text: &str) -> Result<Read, Wrong> {
    let text = text.trim();
    let unpacked;
    let (json, packed) = match text.strip_prefix("MS1:") {
        None => (text, false),
        Some(packed) => {
            let bytes = base64(packed).ok_or_else(|| wrong(1, "what follows MS1: is not URL-safe Base64"))?;
            let bytes = miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, BYTES_MAX)
                .map_err(|_| wrong(1, "what follows MS1: is damaged, or larger than any game"))?;
            unpacked = String::from_utf8(bytes).map_err(|_| wrong(1, "what follows MS1: is not text"))?;
            (unpacked.as_str(), true)
        }
    };
    let at = |line: usize| if packed { 1 } else { line };
    let msr: Msr = serde_json::from_str(json).map_err(|error| wrong(at(error.line()), error.to_string()))?;
    let known = match &msr.version {
        Value::Null => true,
        Value::Number(n) => n.as_u64() == Some(1),
        Value::String(version) => version.starts_with("0."),
        _ => false,
    };
    if !known {
        return Err(wrong(1, format!("version {}: expected 0.1", msr.version)));
    }
    let mut chars: Vec<char> = msr.variant.to_uppercase().chars().collect();
    chars.sort_unstable();
    let variant: String = chars.into_iter().collect();
    if !["4D", "4T", "5D", "5T"].contains(&variant.as_str()) {
        return Err(wrong(1, format!("variant {}: expected 5T, 5D, 4T or 4D", msr.variant)));
    }
    let mut moves = Vec::new();
    for (mv, n) in msr.moves.iter().zip(1..) {
        let name = DIRECTIONS.iter().find(|(_, name)| mv.dir.eq_ignore_ascii_case(name));
        let (_, name) = name.ok_or_else(|| wrong(1, format!("move {n}: direction {}", mv.dir)))?;
        moves.push(format!("{},{}:{name}{}", mv.x, mv.y, mv.pos));
    }
    Ok(Read {
        instance: Some(format!("morpion/{variant}")),
        fields: told(&msr.other),
        lines: vec![1; moves.len()],
        moves,
        ..Read::default()
    })
}

/// Where a game of MSR comes from, under our names.
fn told(other: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let solver = other.get("solver").and_then(Value::as_object);
    let of = |key: &str| other.get(key);
    let found = [
        ("author", of("author")),
        ("source", of("source")),
        ("found", of("saved_at")),
        ("search", solver.and_then(|solver| solver.get("method"))),
        ("seed", solver.and_then(|solver| solver.get("seed"))),
        ("playouts", solver.and_then(|solver| solver.get("nodes_explored"))),
        ("version", solver.and_then(|solver| solver.get("tool"))),
        ("description", of("description")),
    ];
    let found = found.into_iter().filter_map(|(key, value)| Some((key.to_string(), text(value?))));
    found.map(|(key, value)| (key, value.replace(['\n', '\r'], " "))).collect()
}

/// URL-safe Base64 without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        (bits, count) = (bits << 6 | u32::from(six), count + 6);
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}
