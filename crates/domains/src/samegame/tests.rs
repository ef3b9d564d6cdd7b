//! SameGame against a slow, plain implementation of the same rules.

use super::*;
use sortie_core::{AnyProblem, BestOf, Control, Limits, Nrpa, Rng, Search, conformance};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;

fn game(name: &str) -> SameGame<16, 4> {
    SameGame::new(board(name), false, true)
}

fn board(name: &str) -> Board {
    board::open(&Request { name, options: Default::default(), read: &|_| Err("no files here".into()) })
        .unwrap()
}

#[test]
fn conforms() {
    conformance::problem(&game("1"), 5, 1);
    conformance::problem(&SameGame::<16, 4>::new(board("6"), true, false), 5, 2);
    conformance::problem(&game("1x9x2-3"), 5, 3);
    conformance::problem(&game("16x15x3-3"), 3, 4);
    conformance::problem(&SameGame::<64, 64>::new(board("1"), false, false), 2, 5);
    conformance::problem(&SameGame::<64, 64>::new(board("20x31x8-5"), false, false), 1, 6);
}

/// The rules once more, cell by cell.
struct Plain {
    columns: Vec<Vec<u8>>, // bottom first
    /// `tiles[column][row]`: where the cell was at the start.
    tiles: Vec<Vec<(usize, usize)>>,
    points: f64,
}

impl Plain {
    fn new(board: &Board) -> Plain {
        let column = |c| (0..board.rows).map(|r| board.colour(c, r)).collect();
        Plain {
            columns: (0..board.columns).map(column).collect(),
            tiles: (0..board.columns).map(|c| (0..board.rows).map(|r| (c, r)).collect()).collect(),
            points: 0.0,
        }
    }

    fn group(&self, column: usize, row: usize) -> Vec<(usize, usize)> {
        let colour = self.columns[column][row];
        let mut group = vec![(column, row)];
        let mut i = 0;
        while i < group.len() {
            let (c, r) = group[i];
            for (c, r) in [(c.wrapping_sub(1), r), (c + 1, r), (c, r.wrapping_sub(1)), (c, r + 1)] {
                let here = self.columns.get(c).and_then(|column| column.get(r));
                if here == Some(&colour) && !group.contains(&(c, r)) {
                    group.push((c, r));
                }
            }
            i += 1;
        }
        group.sort();
        group
    }

    fn groups(&self) -> Vec<Vec<(usize, usize)>> {
        let cells =
            self.columns.iter().enumerate().flat_map(|(c, column)| (0..column.len()).map(move |r| (c, r)));
        let mut groups: Vec<_> =
            cells.map(|(c, r)| self.group(c, r)).filter(|group| group.len() > 1).collect();
        groups.sort();
        groups.dedup();
        groups
    }

    fn play(&mut self, group: &[(usize, usize)]) {
        for &(c, r) in group.iter().rev() {
            self.columns[c].remove(r);
            self.tiles[c].remove(r);
        }
        self.columns.retain(|column| !column.is_empty());
        self.tiles.retain(|column| !column.is_empty());
        self.points += ((group.len() - 2) * (group.len() - 2)) as f64;
        if self.columns.is_empty() {
            self.points += 1000.0;
        }
    }
}

fn agrees_with_the_plain_rules<const LANE: usize, const W: usize>(name: &str, seed: u64) {
    let board = board(name);
    let mut plain = Plain::new(&board);
    let game = SameGame::<LANE, W>::new(board, false, true);
    let mut state = game.initial();
    let mut rng = Rng::new(seed, 0);
    let mut codes = HashMap::new();
    loop {
        let expected = plain.groups();
        let firsts: Vec<u16> = expected.iter().map(|group| (group[0].0 * LANE + group[0].1) as u16).collect();
        let mut moves = Vec::new();
        game.moves(&state, &mut moves);
        assert_eq!(moves, firsts, "board {name}\n{}", game.show(&state));
        for (group, &first) in expected.iter().zip(&firsts) {
            let found = state.find(first).unwrap();
            assert_eq!(group.len(), state.shape(found.name).count() as usize);
            // The code is that of the tiles, wherever they have fallen to.
            let mut tiles: Vec<_> = group.iter().map(|&(c, r)| plain.tiles[c][r]).collect();
            tiles.sort();
            let code = game.code(&state, first);
            assert_eq!(*codes.entry(tiles).or_insert(code), code);
        }
        if expected.is_empty() {
            break;
        }
        let i = rng.below(moves.len());
        game.play(&mut state, moves[i]);
        plain.play(&expected[i]);
        assert_eq!(state.points, plain.points);
    }
    assert_eq!(codes.values().collect::<HashSet<_>>().len(), codes.len());
}

#[test]
fn groups_kept_up_to_date_are_the_groups_there_are() {
    for seed in 0..20 {
        agrees_with_the_plain_rules::<16, 4>(&(seed % 20 + 1).to_string(), seed);
        agrees_with_the_plain_rules::<16, 4>(&format!("16x15x2-{seed}"), seed);
        agrees_with_the_plain_rules::<16, 4>(&format!("5x4x2-{seed}"), seed);
    }
    agrees_with_the_plain_rules::<64, 64>("3", 1);
    agrees_with_the_plain_rules::<64, 64>("40x50x5-1", 1);
}

fn from_rows(rows: &str) -> SameGame<16, 4> {
    let read = |_: &str| Ok(rows.to_string());
    let board = board::open(&Request { name: "file", options: Default::default(), read: &read }).unwrap();
    SameGame::new(board, false, false)
}

fn play_all(game: &SameGame<16, 4>, words: &str) -> State<16, 4> {
    let words: Vec<String> = words.split_whitespace().map(str::to_string).collect();
    sortie_core::record::replay(game, &words).unwrap()
}

#[test]
fn clearing_the_board_gives_a_thousand_and_leftovers_cost_only_under_the_penalty() {
    let game = from_rows("11\n00\n00");
    assert_eq!(game.score(&play_all(&game, "a1 a1")), 4.0 + 0.0 + 1000.0);
    let game = from_rows("2121\n0000");
    let end = play_all(&game, "a1");
    assert_eq!(game.score(&end), 4.0);
    let strict = SameGame { penalty: true, ..game };
    assert_eq!(strict.score(&end), 4.0, "two of each left: (2 - 2)^2 is nothing");
    let strict = SameGame { penalty: true, ..from_rows("3121\n0000") };
    assert_eq!(strict.score(&play_all(&strict, "a1")), 4.0 - 1.0 - 1.0, "one 3 and one 2 left");
}

#[test]
fn a_group_above_a_hole_falls_and_an_empty_column_closes() {
    let game = from_rows("232\n010\n010");
    let end = play_all(&game, "b1");
    assert_eq!(game.show(&end), "  3 2.2\n  2 0.0\n  1 030\n    abc\n0 points after 1 moves");
    let game = from_rows("020\n010\n010");
    let end = play_all(&game, "b1");
    assert_eq!(game.show(&end).lines().nth(2).unwrap(), "  1 020");
}

#[test]
fn the_selective_policy_keeps_the_tabu_colour_back() {
    let choices = |game: &SameGame<16, 4>, state: &State<16, 4>| {
        let mut out = Choices::new();
        game.choices(state, &mut out);
        out.moves.sort();
        out.moves.iter().map(|&mv| game.show_move(state, mv)).collect::<Vec<_>>()
    };
    // Colour 0 is the most frequent, in two groups: only the pair of 1 is offered.
    let game = from_rows("0020\n0110\n0230");
    assert_eq!(choices(&game, &game.initial()), ["b2"]);
    // The same with colour 0 in one single group: it is free.
    let game = from_rows("0032\n0110\n0000");
    assert_eq!(choices(&game, &game.initial()), ["a1", "b2"]);
    // A lone cell of the colour counts as a group.
    let game = from_rows("0030\n0112\n0002");
    assert_eq!(choices(&game, &game.initial()), ["b2", "d1"]);
    // Nothing but the tabu colour: all of it.
    let game = from_rows("0010\n0020\n0040");
    assert_eq!(choices(&game, &game.initial()), ["a1", "d1"]);
    // Pairs of it only after more than ten moves.
    let game = from_rows("0020\n0110\n0231");
    let mut state = game.initial();
    state.moves_played = 10;
    assert_eq!(choices(&game, &state), ["b2"]);
    state.moves_played = 11;
    assert_eq!(choices(&game, &state), ["b2", "d2"]);
}

/// Every tile that is left is found, by its colour too, and those that were taken are not.
#[test]
fn tiles_are_found_where_they_have_fallen() {
    let game = game("3");
    let mut rng = Rng::new(5, 0);
    let mut scratch = Vec::new();
    for _ in 0..5 {
        let mut state = game.initial();
        let mut left: HashSet<u16> = (0..15u16).flat_map(|c| (0..15u16).map(move |r| c * 16 + r)).collect();
        while let Some(mv) = game.random_move(&state, &mut rng, &mut scratch) {
            let shape = *state.shape(state.names[mv as usize]);
            for cell in (0..256u16).filter(|&cell| shape.contains(cell as usize)) {
                assert!(left.remove(&state.tile_at(cell)), "a tile is taken once");
            }
            game.play(&mut state, mv);
            for tile in 0..256u16 {
                let cell = state.cell_of(tile);
                assert_eq!(cell.is_some(), left.contains(&tile));
                if let Some(cell) = cell {
                    assert_eq!(state.tile_at(cell as u16), tile);
                    let (column, row) = (tile as usize / 16, tile as usize % 16);
                    assert_eq!(state.colour_at(cell), Some(game.board.colour(column, row) as usize));
                }
            }
        }
    }
}

#[test]
fn local_search_finds_more_than_it_was_given() {
    let game = game("1");
    let mut scratch = Vec::new();
    let mut gains = 0;
    for seed in 0..10 {
        let (mut rng, mut state, mut moves) = (Rng::new(seed, 0), game.initial(), Vec::new());
        while let Some(mv) = game.random_move(&state, &mut rng, &mut scratch) {
            game.play(&mut state, mv);
            moves.push(mv);
        }
        gains += usize::from(game.improve(&state, &moves, &mut rng).is_some());
    }
    assert!(gains >= 8, "{gains} of 10 games of chance were improved");
}

#[test]
fn the_answer_is_the_same_on_every_processor() {
    let answer = |name: &str, processor: Processor| {
        let game = game(name).on(processor);
        let nrpa = Nrpa { level: 2, iterations: 12, ..Nrpa::default() };
        let spec = BestOf { search: Search::Nrpa(nrpa), seed: 3, streams: 1, threads: 1 };
        let stop = AtomicBool::new(false);
        let control = Control::new(Limits::default(), &stop, &|_| {});
        let best = game.solve(&spec, &control, Vec::new()).best.expect("played");
        (best.score, best.moves)
    };
    // Small enough that columns close.
    for name in ["1", "9x7x3-7"] {
        assert_eq!(answer(name, Processor::PORTABLE), answer(name, Processor::here()), "{name}");
    }
}
