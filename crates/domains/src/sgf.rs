//! Games for two as text in the Smart Game Format, `FF[4]`: what is written. `sortie convert` reads it again.
//!
//! Lines of Action (`GM[9]`) and Hex (`GM[11]`) write their moves as red-bean.com/sgf says: squares and cells by letter and
//! number. Gomoku (`GM[4]`) and Connect6 write points as two letters from the upper left corner; a turn of Connect6 is one
//! property with both stones, `W[iihj]`, as players of it do, and there is no number for it. Connect Four and
//! Breakthrough have no number either and keep their words. The root comment tells where a game comes from, and which
//! instance it is.

use sortie_core::Record;
use std::fmt::Write;

/// The domains that are written.
pub const GAMES: [&str; 6] = ["loa", "hex", "gomoku", "connect6", "connect4", "breakthrough"];

/// The number of a game in the format, and the size of a board where none is said.
pub fn number(domain: &str) -> (Option<u32>, Option<usize>) {
    match domain {
        "loa" => (Some(9), Some(8)),
        "hex" => (Some(11), Some(11)),
        "gomoku" => (Some(4), Some(15)),
        _ => (None, None),
    }
}

/// The size in the name of an instance: `hex/11:swap=on`.
pub fn size(instance: &str) -> Option<usize> {
    instance.split('/').next_back()?.split(':').next()?.parse().ok()
}

/// A game. The error says why it cannot be written.
pub fn write(record: &Record, comment: &str) -> Result<String, String> {
    let domain = record.instance.split('/').next().unwrap_or_default();
    if record.field("position").is_some() {
        return Err("this game begins at a position of its own, which is not written as SGF".into());
    }
    let board = size(&record.instance);
    let mut out = String::from("(;FF[4]");
    if let (Some(number), _) = number(domain) {
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
    out += &escape(comment);
    out += "]\n";
    for (first, turn) in turns(domain, &record.moves) {
        let words: Result<Vec<String>, String> = turn.iter().map(|word| point(domain, board, word)).collect();
        let _ = writeln!(out, ";{}[{}]", if first { 'B' } else { 'W' }, words?.concat());
    }
    Ok(out + ")\n")
}

/// The moves by turns: whether the first side makes it, and its words.
pub fn turns<'a>(domain: &str, moves: &'a [String]) -> Vec<(bool, &'a [String])> {
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

/// A word of ours as a point or move of the format.
fn point(domain: &str, board: Option<usize>, word: &str) -> Result<String, String> {
    match domain {
        "gomoku" | "connect6" => {
            let read = || {
                let (column, row) = word.split_at_checked(1)?;
                let column = column.bytes().next()?.checked_sub(b'a')?;
                let row = board?.checked_sub(row.parse().ok()?)?;
                Some(format!("{}{}", (b'a' + column) as char, (b'a' + row as u8) as char))
            };
            read().ok_or_else(|| format!("'{word}' is not a cell"))
        }
        "loa" => Ok(word.replace('x', ":")),
        "hex" if word == "swap" => Ok("swap-pieces".into()),
        _ => Ok(escape(word)),
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace(']', "\\]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_and_points_are_those_of_the_format() {
        let moves = |text: &str| text.split_whitespace().map(str::to_string).collect();
        let record = |instance: &str, words: &str| Record {
            instance: instance.into(),
            score: 1.0,
            fields: vec![("first".into(), "a]b".into())],
            moves: moves(words),
        };
        let game = write(&record("connect6/19", "j10 k10 i9 a1 s19"), "c").unwrap();
        assert!(game.contains("PB[a\\]b]") && game.contains("RE[B+]"), "{game}");
        assert!(game.contains(";B[jj]\n;W[kjik]\n;B[assa]\n"), "{game}");
        assert!(write(&record("loa/8", "b1xb3"), "").unwrap().contains("GM[9]"));
        assert!(write(&record("gomoku/15", "swap"), "").unwrap_err().contains("not a cell"));
    }
}
