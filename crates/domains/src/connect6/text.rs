//! Stones and positions as text. A stone is `j10` (column letter from the left, `i` included, row number from below) or
//! two letters as in SGF, both from the top left corner, alone (`jj`, `JJ`) or as a property (`B[jj]`). A position is a
//! line of rows, or the stones that were played: `j10 i9k9 ...`, or the nodes of an SGF game, `;B[jj];W[kh];W[lh]`.

use super::rules::{Connect6, State};
use crate::grid::{self, cell_name, short};
use sortie_core::{Domain, Game, Outcome, Side};

/// The name of a cell.
pub fn name(size: usize, cell: u16) -> String {
    cell_name(usize::from(cell) % size, usize::from(cell) / size)
}

/// The cell that a word means, in either notation.
pub fn parse_stone(size: usize, word: &str) -> Option<u16> {
    let word = word.strip_prefix(';').unwrap_or(word);
    let property =
        ["B[", "W[", "b[", "w["].iter().find_map(|open| word.strip_prefix(open)?.strip_suffix(']'));
    let word = property.unwrap_or(word);
    let (column, row) = match word.as_bytes() {
        [column, row] if column.is_ascii_alphabetic() && row.is_ascii_alphabetic() => {
            let at = |letter: &u8| usize::from(letter.to_ascii_lowercase() - b'a');
            (at(column), size.checked_sub(1 + at(row))?)
        }
        _ => grid::Grid::new(size, size).parse_cell(word)?,
    };
    (column < size).then(|| (row * size + column) as u16)
}

/// How a game stands, in words.
pub fn standing(outcome: Option<Outcome>, state: &State) -> String {
    with_stones(grid::standing(outcome, state.to_move()), outcome, state)
}

/// The same with how many stones are left of the turn.
pub fn with_stones(standing: String, outcome: Option<Outcome>, state: &State) -> String {
    match (outcome, state.stones_left()) {
        (None, 1) => standing + ", one stone",
        (None, _) => standing + ", two stones",
        (Some(_), _) => standing,
    }
}

/// The position that a text describes.
pub fn parse_position(game: &Connect6, text: &str) -> Result<State, String> {
    let text = text.trim();
    if text.contains('/') {
        let (stones, to_move) = game.grid().parse_line(text)?;
        return game.with_stones(&stones, to_move);
    }
    if text.is_empty() {
        return Err("expected rows and who is to move, or stones as in 'j10 i9k9'".into());
    }
    let mut state = game.initial();
    let mut number = 0;
    for word in text.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty()) {
        for stone in stones_of(word) {
            number += 1;
            let wrong = |what: &str| Err(format!("stone {number} ('{}') {what}", short(stone)));
            if game.outcome(&state).is_some() {
                return wrong("comes after the end of the game");
            }
            let named = match stone.as_bytes() {
                [b'B' | b'b', b'[', ..] => Some(Side::First),
                [b'W' | b'w', b'[', ..] => Some(Side::Second),
                _ => None,
            };
            if named.is_some_and(|side| side != state.to_move()) {
                return wrong(
                    "is of the side whose turn it is not: black plays one stone, then both two a turn",
                );
            }
            match parse_stone(game.size(), stone) {
                None => {
                    return wrong(
                        "is no cell: expected a letter and a number as in j10, or two letters as in jj",
                    );
                }
                Some(cell) if game.stone(&state, cell).is_some() => return wrong("lies on another"),
                Some(cell) => game.play(&mut state, cell),
            }
        }
    }
    Ok(state)
}

/// The stones in a word: `i9k9` is two of them.
pub fn stones_of(word: &str) -> impl Iterator<Item = &str> {
    let second = word
        .char_indices()
        .zip(word.chars().skip(1))
        .find(|&((_, c), next)| c.is_ascii_digit() && next.is_ascii_alphabetic())
        .map_or(word.len(), |((at, _), _)| at + 1);
    let (first, rest) = word.split_at(second);
    [first, rest].into_iter().filter(|stone| !stone.is_empty())
}
