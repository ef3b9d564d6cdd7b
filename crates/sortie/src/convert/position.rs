//! Positions as people have them: the game's own line, FEN, a file of SGF, a board as it is drawn, the columns of a game
//! of Connect Four. What is read is told by its text; what comes out is where the game begins and the moves from there.

use super::{Format, Wrong, wrong};
use crate::source::{Instance, read_stdin, read_text};
use anyhow::{Context, Result, anyhow, bail};
use sortie_core::AnyBoard;
use sortie_runs::limits::INSTANCE_BYTES_MAX;
use std::path::Path;

/// A position.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Setup {
    /// The game's own text of where it begins, if not at its own start.
    pub start: Option<String>,
    /// The moves from there.
    pub moves: Vec<String>,
}

/// The board that `--position` and `--moves` ask for, and where its game begins.
pub fn board(
    instance: &Instance,
    position: Option<&str>,
    moves: Option<&str>,
) -> Result<(Option<String>, Box<dyn AnyBoard>)> {
    let Setup { start, moves: before } = given(instance, position)?;
    let mut board = instance.game()?.board(start.as_deref())?;
    for word in before.iter().map(String::as_str).chain(moves.unwrap_or_default().split_whitespace()) {
        crate::words::play(&mut *board, word)?;
    }
    Ok((start, board))
}

/// What was given on a command line: a text, the file it is in, or `-` for what is piped in.
fn given(instance: &Instance, given: Option<&str>) -> Result<Setup> {
    let Some(given) = given else { return Ok(Setup::default()) };
    let path = Path::new(given);
    let text = match given {
        "-" => Some(read_stdin(INSTANCE_BYTES_MAX)),
        _ if !given.contains('\n') && (path.is_file() || looks_like_a_file(given)) => {
            Some(read_text(path, INSTANCE_BYTES_MAX))
        }
        _ => None,
    };
    match text {
        None => read(instance, given),
        Some(Err(message)) => bail!("{given}: {message}"),
        Some(Ok(text)) => {
            let name = if given == "-" { "stdin" } else { given };
            read(instance, &text).with_context(|| name.to_string())
        }
    }
}

/// `game.sgf`, which is no position of any game.
fn looks_like_a_file(given: &str) -> bool {
    let ending = Path::new(given).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ending.len() > 1 && ending.chars().all(|c| c.is_ascii_alphanumeric()))
}

/// The position that a text describes.
pub fn read(instance: &Instance, text: &str) -> Result<Setup> {
    let (game, text) = (instance.game()?, text.trim_matches(['\n', '\r']));
    let line = text.trim();
    let own = match game.board(Some(line)) {
        Ok(_) => return Ok(Setup { start: Some(line.to_string()), moves: Vec::new() }),
        Err(error) => anyhow!("{}", error),
    };
    let start = |start: String| Setup { start: Some(start), moves: Vec::new() };
    let domain = instance.domain();
    let setup = if Format::of(text) == Some(Format::Sgf) {
        sgf(text, &instance.name).map_err(|error| told(&error))?
    } else if domain == "connect4" && !line.is_empty() && line.bytes().all(|c| c.is_ascii_digit()) {
        Setup { start: None, moves: columns(line)? }
    } else if let Some(own) = fen(domain, line) {
        start(own)
    } else if line.lines().count() > 2 {
        start(drawn(domain, text).map_err(|error| told(&error))?)
    } else {
        return Err(own);
    };
    // Whatever it was written in, it is a position by the rules of the game.
    let mut board = game.board(setup.start.as_deref())?;
    for (number, word) in (1..).zip(&setup.moves) {
        crate::words::play(&mut *board, word).map_err(|error| anyhow!("move {number}: {error:#}"))?;
    }
    Ok(Setup { moves: board.words().to_vec(), ..setup })
}

fn told(error: &Wrong) -> anyhow::Error {
    anyhow!("line {}: {}", error.line, error.message)
}

fn sgf(text: &str, instance: &str) -> Result<Setup, Wrong> {
    let read = Format::Sgf.translate(Format::Sgf.read(text)?, instance)?;
    let start = read.fields.into_iter().find(|(key, _)| key == crate::source::POSITION);
    Ok(Setup { start: start.map(|(_, text)| text), moves: read.moves })
}

/// Columns by number, from the left, as collections of Connect Four positions have them.
fn columns(line: &str) -> Result<Vec<String>> {
    let column = |(number, digit): (usize, u8)| match digit {
        b'1'..=b'7' => Ok(((b'a' + digit - b'1') as char).to_string()),
        other => Err(anyhow!("move {}: there is no column {}: expected 1 to 7", number + 1, other as char)),
    };
    line.bytes().enumerate().map(column).collect()
}

/// Pieces by letters in FEN: capitals are white. The rest of it, who may castle and such, says nothing here.
fn fen(domain: &str, line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (board, side) = (words.next().filter(|board| board.contains('/'))?, words.next()?);
    let letters: Vec<char> = board.chars().filter(char::is_ascii_alphabetic).collect();
    let piece = letters.first()?.to_ascii_lowercase();
    let named = letters.iter().all(|c| "bw".contains(c.to_ascii_lowercase()));
    let white = |c: char| match named {
        true => c.eq_ignore_ascii_case(&'w'),
        false => c.is_ascii_uppercase(),
    };
    if !named && letters.iter().any(|c| c.to_ascii_lowercase() != piece) {
        return None;
    }
    let stone = |white: bool| if white == (domain == "breakthrough") { 'x' } else { 'o' };
    let side = match side {
        "w" | "W" => stone(true),
        "b" | "B" => stone(false),
        _ => return None,
    };
    let cell = |c: char| if c.is_ascii_alphabetic() { stone(white(c)) } else { c };
    Some(format!("{} {side}", board.chars().map(cell).collect::<String>()))
}

/// A board as `show` draws it, or as people type it: a line a row, one sign a cell, with or without coordinates, and where
/// the stones do not tell, a line that says who is to move.
fn drawn(domain: &str, text: &str) -> Result<String, Wrong> {
    let (mut rows, mut side): (Vec<Vec<Option<bool>>>, Option<bool>) = (Vec::new(), None);
    for (number, line) in (1..).zip(text.lines()) {
        let lower = line.to_ascii_lowercase();
        let first = lower.split_whitespace().next().unwrap_or_default();
        if lower.contains(" to move") {
            side = Some(match first {
                "x" | "black" | "first" => true,
                "o" | "white" | "second" => false,
                other => return Err(wrong(number, format!("'{other}' to move: expected x or o"))),
            });
            // What `show` says of the position stands below.
            if rows.is_empty() { continue } else { break }
        }
        // Letters below or above the columns, and lines that are empty.
        if first.is_empty() || first.starts_with('a') || first.starts_with('#') && first.len() > 1 {
            continue;
        }
        rows.push(row(line, number)?);
    }
    let count = |which| rows.iter().flatten().filter(|cell| **cell == Some(which)).count();
    let side = side.or_else(|| turn(domain, count(true), count(false)));
    let side = side.ok_or_else(|| {
        wrong(text.lines().count(), "who is to move? expected a line 'x to move' or 'o to move'")
    })?;
    Ok(line(&rows, side))
}

/// The cells of a drawn row: `Some(true)` is a stone of the first side.
fn row(line: &str, number: usize) -> Result<Vec<Option<bool>>, Wrong> {
    let mut cells = Vec::new();
    let end = line.trim_end().trim_end_matches(|c: char| c.is_ascii_digit()).len();
    for (column, c) in (1..).zip(line[..end].chars()) {
        match c {
            'x' | 'X' | 'b' | 'B' | '*' | '#' | '●' => cells.push(Some(true)),
            'o' | 'O' | 'w' | 'W' | '○' => cells.push(Some(false)),
            '.' | '-' | '+' | '_' | '·' => cells.push(None),
            c if c.is_whitespace() || c == '|' || cells.is_empty() && c.is_ascii_digit() => {}
            c => {
                return Err(wrong(number, format!("column {column}: '{c}' is no cell: expected x, o or .")));
            }
        }
    }
    Ok(cells)
}

/// Whose turn it is after so many stones, where they tell; true: the first side's.
pub(super) fn turn(domain: &str, first: usize, second: usize) -> Option<bool> {
    let n = first + second;
    match domain {
        // One stone, then two each.
        "connect6" => {
            let side = n.div_ceil(2).is_multiple_of(2);
            let of_first = (0..n).filter(|n: &usize| n.div_ceil(2).is_multiple_of(2)).count();
            (of_first == first).then_some(side)
        }
        "loa" | "breakthrough" => None,
        _ => (first == second || first == second + 1).then_some(first == second),
    }
}

/// Rows from the top as one line, and who is to move.
pub(super) fn line(rows: &[Vec<Option<bool>>], first_to_move: bool) -> String {
    let letter = |first: bool| if first { 'x' } else { 'o' };
    let row = |cells: &Vec<Option<bool>>| {
        let (mut text, mut empty) = (String::new(), 0);
        let flush = |text: &mut String, empty: &mut usize| {
            if *empty > 0 {
                text.push_str(&std::mem::take(empty).to_string());
            }
        };
        for cell in cells {
            match cell {
                None => empty += 1,
                Some(first) => {
                    flush(&mut text, &mut empty);
                    text.push(letter(*first));
                }
            }
        }
        flush(&mut text, &mut empty);
        text
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("{} {}", rows.join("/"), letter(first_to_move))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(name: &str) -> Instance {
        Instance::open_game(name).unwrap()
    }

    fn start(game: &str, text: &str) -> String {
        read(&open(game), text).unwrap().start.unwrap()
    }

    fn error(game: &str, text: &str) -> String {
        format!("{:#}", read(&open(game), text).unwrap_err())
    }

    #[test]
    fn the_games_own_line_is_taken_as_it_is() {
        for game in ["loa", "gomoku/15", "hex/5", "connect6", "connect4", "breakthrough/6"] {
            let own = open(game).game().unwrap().board(None).unwrap().position().unwrap();
            assert_eq!(start(game, &format!("{own}\n")), own);
        }
    }

    #[test]
    fn what_is_shown_can_be_pasted() {
        for (game, moves) in [
            ("loa", "b1-b3 a6-c6"),
            ("gomoku/9", "e5 e6"),
            ("hex/5", "c3 b2 a1"),
            ("connect6", "j10 i9 k9 a1"),
            ("connect4", "d d e"),
            ("breakthrough/6", "b2-b3"),
            ("tictactoe", "a1 b2"),
        ] {
            let instance = open(game);
            let mut board = instance.game().unwrap().board(None).unwrap();
            moves.split(' ').for_each(|word| crate::words::play(&mut *board, word).unwrap());
            assert_eq!(start(game, &board.show()), board.position().unwrap(), "{}", board.show());
        }
    }

    #[test]
    fn fen_has_white_in_capitals() {
        let loa = "1LLLLLL1/l6l/l6l/l6l/l6l/l6l/l6l/1LLLLLL1";
        let ours = loa.replace('L', "o").replace('l', "x");
        assert_eq!(start("loa", &format!("{loa} b - - 0 1")), format!("{ours} x"));
        let pawns = start("breakthrough/8", "pppppppp/pppppppp/8/8/8/P7/1PPPPPPP/PPPPPPPP b 0 1");
        assert_eq!(pawns, "oooooooo/oooooooo/8/8/8/x7/1xxxxxxx/xxxxxxxx o");
        assert!(error("loa", "1LLLLLL1/k6l/8/8/8/8/8/8 b").contains("not a position"));
    }

    #[test]
    fn connect_four_has_columns_by_number() {
        assert_eq!(read(&open("connect4"), "4453").unwrap().moves, ["d", "d", "e", "c"]);
        assert!(error("connect4", "4480").contains("move 3: there is no column 8"));
        assert!(error("connect4", "4444444").contains("move 7"));
    }

    #[test]
    fn sgf_may_have_stones_set_up_and_moves() {
        let setup = read(&open("gomoku/15"), "(;GM[4]SZ[15];B[hh];W[ii];B[hi])").unwrap();
        assert_eq!((setup.start, setup.moves.join(" ")), (None, "h8 i7 h7".into()));
        let text = "(;GM[4]SZ[15]AB[hh][hi]AW[ii][aa]PL[B];B[hj])";
        let setup = read(&open("gomoku/15"), text).unwrap();
        assert_eq!(setup.start.as_deref(), Some("o14/15/15/15/15/15/15/7x7/7xo6/15/15/15/15/15/15 x"));
        assert_eq!(setup.moves, ["h6"]);
        assert_eq!(start("hex/5", "(;GM[11]SZ[5]AB[a1][c3]AW[b2])"), "x4/1o3/2x2/5/5 o");
        assert!(error("gomoku/15", "(;GM[4]SZ[15]AB[hh]\nAW[zz])").starts_with("line 2: "));
        assert!(error("gomoku/15", "(;GM[4]SZ[15]AB[hh][hi])").contains("PL"));
    }

    #[test]
    fn a_board_that_was_typed_names_its_errors() {
        assert_eq!(start("gomoku/5", ".....\n.X...\n..O..\n.....\n.....\n"), "5/1x3/2o2/5/5 x");
        assert!(
            error("gomoku/5", "x....\n.....\n..?..\n.....\n.....\n").starts_with("line 3: column 3: '?'")
        );
        assert!(error("gomoku/5", "xx...\n.....\n.....\n.....\n.....\n").contains("who is to move"));
    }
}
