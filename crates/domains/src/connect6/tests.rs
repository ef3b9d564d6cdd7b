//! The rules: turns, ends, texts.

use super::*;
use crate::grid;
use sortie_core::{Domain, Game, Outcome, Side, conformance};

#[test]
fn conforms() {
    for size in [6, 9, 19] {
        conformance::game(&Connect6::new(size), 2, 1);
    }
}

#[test]
fn one_stone_then_two_a_turn() {
    let game = Connect6::new(19);
    let mut state = game.initial();
    let mut sides = String::new();
    for cell in 0..9 {
        sides.push(grid::letter(game.to_move(&state)));
        game.play(&mut state, 7 * cell);
    }
    assert_eq!(sides, "xooxxooxx");
    assert_eq!((game.to_move(&state), state.stones_left()), (Side::Second, 2));
}

#[test]
fn six_win_in_every_direction_at_every_edge_and_five_do_not() {
    for size in [6usize, 8, 19] {
        let (game, n) = (Connect6::new(size), size as i32);
        for start in 0..n * n {
            for (dc, dr) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
                let row = (0..6).map(|i| (start % n + i * dc, start / n + i * dr));
                if !row.clone().all(|(c, r)| (0..n).contains(&c) && (0..n).contains(&r)) {
                    continue;
                }
                let cells: Vec<u16> = row.map(|(c, r)| (r * n + c) as u16).collect();
                let mut stones = vec![None; size * size];
                for &cell in &cells {
                    stones[usize::from(cell)] = Some(Side::First);
                }
                // Six of the first side need six or four of the second, nowhere near a row.
                let rest = (0..size * size).filter(|cell| !cells.contains(&(*cell as u16)));
                for cell in rest.filter(|cell| (cell % size + 2 * (cell / size)) % 5 == 0).take(6) {
                    stones[cell] = Some(Side::Second);
                }
                let won = game.with_stones(&stones, Side::First).expect("a position");
                assert_eq!(game.outcome(&won), Some(Outcome::Win(Side::First)));
                stones[usize::from(cells[2])] = None;
                let open = game.with_stones(&stones, Side::First).expect("a position");
                assert_eq!((game.outcome(&open), open.stones_left()), (None, 2));
                let mut moves = Vec::new();
                game.moves(&open, &mut moves);
                for mv in moves {
                    let mut next = open.clone();
                    game.play(&mut next, mv);
                    assert_eq!(game.outcome(&next).is_some(), mv == cells[2]);
                }
            }
        }
    }
}

#[test]
fn stones_have_three_notations() {
    let game = Connect6::new(19);
    let start = game.initial();
    let cell = game.parse_move(&start, "k12").expect("a cell");
    assert_eq!(game.show_move(&start, cell), "k12");
    for word in ["kh", "KH", "B[kh]", ";B[KH]", ";W[kh]"] {
        assert_eq!(game.parse_move(&start, word), Some(cell), "{word}");
    }
    assert_eq!(game.parse_move(&start, "aa"), game.parse_move(&start, "a19"));
    for word in ["", "k", "k0", "k20", "t1", "tt", "k12k13", "B[kh", "[kh]", "é1", "B[é]", "k1é"] {
        assert_eq!(game.parse_move(&start, word), None, "{word}");
    }
}

#[test]
fn positions_are_rows_or_moves() {
    let game = Connect6::new(19);
    let state = game.parse_position("j10 i9k9 h8,h12").expect("a position");
    assert_eq!(state.played(), 5);
    for text in [";B[jj];W[ik];W[kk];B[hl];B[hh]", "j10 i9 k9h8 h12", "jj ik kk hl hh"] {
        assert_eq!(game.parse_position(text).as_ref(), Ok(&state), "{text}");
    }
    let line = game.position(&state).expect("a line");
    assert_eq!(game.parse_position(&line), Ok(state));
    for (text, says) in [
        ("j10 j10", "stone 2 ('j10') lies on another"),
        ("j10 x9", "stone 2 ('x9') is no cell"),
        (";W[jj]", "whose turn it is not"),
        ("j10 i9é", "is no cell"),
        ("a1 b1c1 a2a3 d1e1 a4a5 f1g1 b2b3", "stone 12 ('b2') comes after the end"),
        ("19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19 o", "x plays one stone"),
        ("19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/19/x16oo o", "1 x and 2 o with o to move"),
    ] {
        let error = game.parse_position(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn impossible_positions_are_refused() {
    let game = Connect6::new(6);
    for (text, says) in [
        ("xxxxxx/ooo3/x5/ooo3/o5/6 o", "x has six in a row: the game ended before"),
        // Two sixes that share no stone.
        ("xxxxxx/oooo2/xxxxxx/oooo2/oooo2/x5 o", "no last stone"),
    ] {
        let error = game.parse_position(text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn random_moves_are_uniform() {
    let game = Connect6::new(6);
    let state = game.parse_position("xoxoxo/oxoxox/2xoxo/xoxo2/oxoxox/2oxox o");
    let state = state.unwrap_or_else(|error| panic!("{error}"));
    grid::assert_uniform(&game, &state, 6);
}

#[test]
fn what_has_to_be_stopped_comes_before_what_builds() {
    let game = Connect6::new(19);
    // o has four in a row; x has three elsewhere.
    let state = game.parse_position("c10 j3j4 c11c12 j5j6").expect("a position");
    let appeal = |word| game.appeal(&state, game.parse_move(&state, word).expect("a cell"));
    assert!(appeal("j7") > appeal("c13") && appeal("c13") > appeal("q17"));
    let category = |word| game.category(&state, game.parse_move(&state, word).expect("a cell"));
    assert!(category("j7") > category("c13") && category("c13") > category("q17"));
}
