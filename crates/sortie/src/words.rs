//! Moves as others write them. Our words are `b1-b3` and `b1xb3`; engines say `b1b3`, people say `B1-b3`. Two words
//! mean the same when they are equal without separators, in small letters.

use sortie_core::{AnyBoard, ReplayError};

/// A word without its separators: `-` and `=` go, and an `x` where it takes something, between a digit and a point.
/// At the beginning nothing is a separator, and an `x` elsewhere is a column.
pub fn short(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    let takes = |i: usize| {
        chars[i - 1].is_ascii_digit()
            && chars.get(i + 1).is_some_and(|c| c.is_ascii_alphabetic())
            && chars.get(i + 2).is_some_and(|c| c.is_ascii_digit())
    };
    let separates = |i: usize| i > 0 && (chars[i] == '-' || chars[i] == '=' || chars[i] == 'x' && takes(i));
    (0..chars.len()).filter(|&i| !separates(i)).map(|i| chars[i]).collect()
}

/// What was typed for several moves in a row as the words it consists of: apart, or cells one behind the other.
pub fn split(typed: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for mut rest in typed.split_whitespace() {
        let boundary = |rest: &str| {
            let next = rest.chars().skip(1);
            let mut pairs = rest.char_indices().zip(next);
            pairs.find(|((_, c), next)| c.is_ascii_digit() && next.is_alphabetic()).map(|((at, _), _)| at + 1)
        };
        while let Some(at) = boundary(rest) {
            words.push(&rest[..at]);
            rest = &rest[at..];
        }
        words.push(rest);
    }
    words
}

/// The one legal word that a word means, if there is exactly one.
pub fn find<'a>(word: &str, legal: &'a [String]) -> Option<&'a str> {
    if let Some(exact) = legal.iter().find(|l| *l == word) {
        return Some(exact);
    }
    let wanted = short(word).to_ascii_lowercase();
    let mut same = legal.iter().filter(|l| short(l).to_ascii_lowercase() == wanted);
    same.next().filter(|_| same.next().is_none()).map(String::as_str)
}

/// Plays a move that is written in whatever way.
pub fn play(board: &mut dyn AnyBoard, word: &str) -> Result<(), ReplayError> {
    let Err(error) = board.play(word) else { return Ok(()) };
    match find(word, &board.legal()) {
        Some(found) => board.play(found),
        None => Err(error),
    }
}

/// As many of the words as are legal one after the other, in our spelling. The board is left as it was.
pub fn follow<'a>(board: &mut dyn AnyBoard, words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let before = board.words().len();
    for word in words {
        if play(board, word).is_err() {
            break;
        }
    }
    let line = board.words()[before..].to_vec();
    for _ in &line {
        board.undo();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_several_moves_are_split() {
        assert_eq!(split("i9k9"), ["i9", "k9"]);
        assert_eq!(split(" i10  k9j10a1 "), ["i10", "k9", "j10", "a1"]);
        assert_eq!(split("jj"), ["jj"]);
        assert_eq!(split("9é9é"), ["9", "é9", "é"]);
        assert!(split("  ").is_empty());
    }

    #[test]
    fn words_are_compared_without_separators() {
        assert_eq!(
            ["b1-b3", "b1xb3", "a7xb8=Q", "x5", "-1", "3", "", "a1x"].map(short),
            ["b1b3", "b1b3", "a7b8Q", "x5", "-1", "3", "", "a1x"]
        );
        let legal = ["b1-b3", "b1xd3", "x5", "e5-f6", "e5f6"].map(String::from);
        assert_eq!(find("b1b3", &legal), Some("b1-b3"));
        assert_eq!(find("B1xD3", &legal), Some("b1xd3"));
        assert_eq!(find("X5", &legal), Some("x5"));
        assert_eq!(find("5", &legal), None);
        assert_eq!(find("e5f6", &legal), Some("e5f6"), "exact first");
        assert_eq!(find("E5F6", &legal), None, "two would fit");
    }
}
