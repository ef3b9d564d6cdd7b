//! Lines of Action for people: squares, moves and positions as text, and the drawing.

use super::State;
use super::kernel::Move;
use sortie_core::picture::{self, CELL, FAINT, INK, Picture, SHADED, Shape, Spot, rim};
use sortie_core::{Outcome, Side};
use std::fmt::Write;

/// Pieces of a side at the start: there are never more.
const PIECES_MAX: u32 = 12;
const BLACK: char = 'x';
const WHITE: char = 'o';

/// `b1-b3`, `b1xb3` where it captures, or `pass`.
pub fn show_move(opp: u64, mv: Move) -> String {
    if mv == Move::PASS {
        return "pass".into();
    }
    let how = if opp >> mv.to() & 1 == 1 { 'x' } else { '-' };
    format!("{}{how}{}", square(mv.from()), square(mv.to()))
}

fn square(square: usize) -> String {
    format!("{}{}", (b'a' + (square % 8) as u8) as char, square / 8 + 1)
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::First => "Black",
        Side::Second => "White",
    }
}

fn side_char(side: Side) -> char {
    match side {
        Side::First => BLACK,
        Side::Second => WHITE,
    }
}

fn piece(state: &State, square: usize) -> Option<Side> {
    let [black, white] = state.boards.map(|board| board >> square & 1 == 1);
    if black { Some(Side::First) } else { white.then_some(Side::Second) }
}

/// What there is to say below a board.
fn status(state: &State) -> String {
    match state.outcome {
        None => format!("{} ({}) to move", side_name(state.to_move), side_char(state.to_move)),
        Some(Outcome::Win(side)) => format!("{} ({}) has won", side_name(side), side_char(side)),
        Some(Outcome::Draw) => "a draw".into(),
    }
}

/// The board with its coordinates.
pub fn show(state: &State) -> String {
    let mut text = String::new();
    for row in (0..8).rev() {
        let _ = write!(text, "{} ", row + 1);
        for column in 0..8 {
            let _ = write!(text, " {}", piece(state, row * 8 + column).map_or('.', side_char));
        }
        text.push('\n');
    }
    let _ = write!(text, "   a b c d e f g h\n{}", status(state));
    text
}

/// One line: rows from 8 to 1, digits for empty squares, who is to move, and the plies so far where they count.
pub fn position(state: &State, with_plies: bool) -> String {
    let mut text = String::new();
    for row in (0..8).rev() {
        let mut empty = 0;
        for column in 0..8 {
            let Some(side) = piece(state, row * 8 + column) else {
                empty += 1;
                continue;
            };
            if empty > 0 {
                let _ = write!(text, "{empty}");
                empty = 0;
            }
            text.push(side_char(side));
        }
        if empty > 0 {
            let _ = write!(text, "{empty}");
        }
        text.push(if row > 0 { '/' } else { ' ' });
    }
    text.push(side_char(state.to_move));
    if with_plies {
        let _ = write!(text, " {}", state.plies);
    }
    text
}

/// The boards, who is to move, and the plies so far (0 if the text has none).
pub fn parse_position(text: &str) -> Result<([u64; 2], Side, u32), String> {
    const EXPECTED: &str = "expected a board, who is to move and at most a number of plies, as in \
                            '1xxxxxx1/o6o/o6o/o6o/o6o/o6o/o6o/1xxxxxx1 x'";
    let words: Vec<&str> = text.split_whitespace().collect();
    let (board, side, plies) = match words[..] {
        [board, side] => (board, side, "0"),
        [board, side, plies] => (board, side, plies),
        _ => return Err(EXPECTED.into()),
    };
    let rows: Vec<&str> = board.split('/').collect();
    if rows.len() != 8 {
        return Err(format!("{EXPECTED}: {} rows instead of 8", rows.len()));
    }
    let mut boards = [0u64; 2];
    for (row, text) in (0..8).rev().zip(rows) {
        let mut column = 0;
        for c in text.chars() {
            let side = match c {
                BLACK => 0,
                WHITE => 1,
                '1'..='8' => {
                    column += c as usize - '0' as usize;
                    continue;
                }
                _ => {
                    return Err(format!(
                        "row {}: '{c}' is neither x, o nor a number of empty squares",
                        row + 1
                    ));
                }
            };
            if column < 8 {
                boards[side] |= 1 << (row * 8 + column);
            }
            column += 1;
        }
        if column != 8 {
            return Err(format!("row {}: {column} squares instead of 8", row + 1));
        }
    }
    for (side, board) in [Side::First, Side::Second].into_iter().zip(boards) {
        if !(1..=PIECES_MAX).contains(&board.count_ones()) {
            let n = board.count_ones();
            return Err(format!("{n} pieces of {}: expected 1 to {PIECES_MAX}", side_name(side)));
        }
    }
    let to_move = match side {
        "x" => Side::First,
        "o" => Side::Second,
        _ => return Err(format!("'{}' is to move: expected x or o", clip(side))),
    };
    let plies = plies.parse().map_err(|_| format!("'{}' is not a number of plies", clip(plies)))?;
    Ok((boards, to_move, plies))
}

/// Enough of a word to recognise it.
fn clip(word: &str) -> String {
    word.chars().take(20).collect()
}

/// The board as a drawing.
pub fn draw(state: &State) -> Picture {
    const SIDE: f64 = 48.0;
    const MARGIN: f64 = 28.0;
    let size = 8.0 * SIDE + 2.0 * MARGIN;
    let mut picture = Picture::new(size, size, format!("Lines of Action: {}", status(state)));
    picture.sides = [("black", picture::BLACK), ("white", picture::WHITE)];
    let corner =
        |square: usize| (MARGIN + (square % 8) as f64 * SIDE, MARGIN + (7 - square / 8) as f64 * SIDE);
    let middle = |square: usize| {
        let (x, y) = corner(square);
        (x + SIDE / 2.0, y + SIDE / 2.0)
    };
    for square in 0..64 {
        let (x, y) = corner(square);
        let fill = if (square % 8 + square / 8) % 2 == 0 { SHADED } else { CELL };
        picture.shapes.push(Shape::Rect { x, y, w: SIDE, h: SIDE, round: 0.0, fill });
    }
    for i in 0..8 {
        let mut label = |x, y, text| picture.shapes.push(Shape::Text { x, y, size: 14.0, fill: INK, text });
        let along = MARGIN + (i as f64 + 0.5) * SIDE;
        for edge in [MARGIN / 2.0, size - MARGIN / 2.0] {
            label(along, edge, ((b'a' + i) as char).to_string());
            label(edge, along, (8 - i).to_string());
        }
    }
    for at in 0..64 {
        let (x, y) = middle(at);
        picture.spots.push(Spot { name: square(at), x, y, r: SIDE / 2.0 });
        let Some(side) = piece(state, at) else { continue };
        let fill = picture.sides[side as usize].1;
        picture.shapes.push(Shape::Stone { x, y, r: SIDE * 0.38, fill, rim: rim(fill) });
    }
    // A frame, thin enough to stay in the background.
    let (low, high) = (MARGIN, size - MARGIN);
    let points = vec![(low, low), (high, low), (high, high), (low, high), (low, low)];
    picture.shapes.push(Shape::Line { points, width: 1.0, stroke: FAINT });
    picture
}
