//! A position as engines are told of it, and where its legal moves come from: our rules, or, for games that we have no
//! rules of (chess, Go), the engine itself.

use super::Speaker;
use crate::words;
use anyhow::{Result, bail};
use sortie_core::{AnyGame, Side};

/// A position: where the game began, the moves since then with who made them, and what is legal now.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub start: Option<String>,
    pub moves: Vec<(Side, String)>,
    pub to_move: Side,
    pub legal: Vec<String>,
    /// The number of rows and columns, where all moves are points.
    pub size: Option<u32>,
    /// The game is over there.
    pub over: bool,
}

/// Whose rules hold.
#[derive(Clone, Copy)]
pub enum Rules<'a> {
    /// Ours.
    Game(&'a dyn AnyGame),
    /// The engine's: two sides move in turn, and the first begins unless the text of the position says otherwise.
    Engine,
}

impl Place {
    /// The position after some moves, by our rules.
    pub fn of(game: &dyn AnyGame, start: Option<&str>, moves: &[String]) -> Result<Place> {
        let mut board = game.board(start)?;
        let size = size(&board.legal());
        let mut made = Vec::new();
        for word in moves {
            let side = board.to_move();
            words::play(&mut *board, word)?;
            made.push((side, board.words().last().expect("a move was played").clone()));
        }
        let over = board.outcome().is_some();
        let legal = if over { Vec::new() } else { board.legal() };
        let start = start.map(str::to_string);
        Ok(Place { start, moves: made, to_move: board.to_move(), legal, size, over })
    }

    /// The same by the rules of somebody.
    pub fn by(
        rules: Rules,
        speaker: &mut dyn Speaker,
        start: Option<&str>,
        moves: &[String],
    ) -> Result<Place> {
        if let Rules::Game(game) = rules {
            return Place::of(game, start, moves);
        }
        // The second field of chess's text says who is to move.
        let second = start.is_some_and(|text| text.split_whitespace().nth(1) == Some("b"));
        let mut to_move = if second { Side::Second } else { Side::First };
        let mut made = Vec::new();
        for word in moves {
            made.push((to_move, word.clone()));
            to_move = to_move.other();
        }
        let start = start.map(str::to_string);
        let mut place = Place { start, moves: made, to_move, legal: Vec::new(), size: None, over: false };
        let Some(legal) = speaker.legal(&place)? else {
            bail!(
                "this engine cannot say which moves are legal: name the game, as in `sortie probe ENGINE gomoku`"
            );
        };
        (place.over, place.legal) = (legal.is_empty(), legal);
        Ok(place)
    }

    /// The moves without who made them.
    pub fn words(&self) -> impl Iterator<Item = &String> {
        self.moves.iter().map(|(_, word)| word)
    }

    /// The legal move that an answer means.
    pub fn find(&self, answer: &str) -> Option<String> {
        words::find(answer, &self.legal).map(str::to_string)
    }
}

/// The size of the board, where all moves from the start are points: the highest row or column.
pub fn size(legal: &[String]) -> Option<u32> {
    let mut size = 0;
    for word in legal {
        let (letter, number) = word.split_at_checked(1)?;
        let column = letter.chars().next().filter(char::is_ascii_lowercase)?;
        let row: u32 = number.parse().ok()?;
        size = size.max(row).max(column as u32 - 'a' as u32 + 1);
    }
    (size > 0).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Boxed;
    use sortie_domains::{Connect6, TicTacToe};

    #[test]
    fn the_board_is_as_large_as_its_last_point() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(size(&words("a1 c2 b11")), Some(11));
        assert_eq!(size(&words("a1 k2")), Some(11));
        assert_eq!(size(&words("a1 pass")), None);
        assert_eq!(size(&words("a1-a2")), None);
        assert_eq!(size(&[]), None);
    }

    #[test]
    fn a_place_knows_who_made_its_moves() {
        let game = Boxed::new(Connect6::new(9));
        let moves = ["e5", "a1", "B2", "c3"].map(String::from);
        let place = Place::of(&game, None, &moves).unwrap();
        let sides: Vec<Side> = place.moves.iter().map(|(side, _)| *side).collect();
        assert_eq!(sides, [Side::First, Side::Second, Side::Second, Side::First]);
        assert_eq!((place.to_move, place.size, place.legal.len()), (Side::First, Some(9), 77));
        assert_eq!(place.words().nth(2).unwrap(), "b2");
        assert!(Place::of(&game, None, &["e5", "e5"].map(String::from)).is_err());
        let won = ["a1", "b1", "a2", "b2", "a3"].map(String::from);
        let over = Place::of(&Boxed::new(TicTacToe::new(3)), None, &won).unwrap();
        assert!(over.over && over.legal.is_empty());
    }
}
