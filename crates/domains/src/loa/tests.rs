use super::*;
use crate::registry;
use sortie_core::picture::Shape;
use sortie_core::{AnyGame, Budget, Uct, conformance};
use std::collections::HashMap;

const PRESETS: [Rules; 4] = [Rules::ICGA, Rules::THESIS, Rules::MOVER_WINS, Rules::OPENSPIEL];
const BLACK_WINS: Option<Outcome> = Some(Outcome::Win(Side::First));
const WHITE_WINS: Option<Outcome> = Some(Outcome::Win(Side::Second));

fn at(rules: Rules, text: &str) -> (Loa, State) {
    let game = Loa::new(rules);
    let state = game.parse_position(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (game, state)
}

fn play(game: &Loa, state: &mut State, words: &str) {
    for word in words.split_whitespace() {
        let mv = game.parse_move(state, word).unwrap_or_else(|| panic!("{word} in\n{}", game.show(state)));
        game.play(state, mv);
        assert_eq!(state.key, key_of(state.boards), "the key after {word}");
    }
}

fn words(game: &Loa, state: &State) -> Vec<String> {
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    moves.into_iter().map(|mv| game.show_move(state, mv)).collect()
}

#[test]
fn all_presets_conform() {
    for (seed, rules) in PRESETS.into_iter().enumerate() {
        conformance::game(&Loa::new(rules), 3, seed as u64);
    }
}

#[test]
fn perft_is_as_others_count() {
    let game = Boxed::new(Loa::new(Rules::ICGA));
    for line in include_str!("perft.txt").lines().filter(|line| !line.starts_with('#')) {
        let (depth, count) = line.split_once(' ').expect("depth and count");
        assert_eq!(game.perft(depth.parse().unwrap()), count.parse::<u64>().unwrap(), "depth {depth}");
    }
}

#[test]
fn the_start_is_shown_and_read() {
    let game = Loa::new(Rules::ICGA);
    let start = game.initial();
    assert_eq!(
        game.show(&start),
        "8  . x x x x x x .\n7  o . . . . . . o\n6  o . . . . . . o\n5  o . . . . . . o\n4  o . . . . . . o\n\
         3  o . . . . . . o\n2  o . . . . . . o\n1  . x x x x x x .\n   a b c d e f g h\nBlack (x) to move"
    );
    let text = "1xxxxxx1/o6o/o6o/o6o/o6o/o6o/o6o/1xxxxxx1 x";
    assert_eq!(game.position(&start).as_deref(), Some(text));
    assert_eq!(game.parse_position(text), Ok(start));
}

#[test]
fn pieces_jump_over_their_own_and_stop_at_others() {
    // Two pieces on a line: two squares. d4 may pass its own e4 and not White's d5; it captures on f6.
    let (game, state) = at(Rules::ICGA, "8/8/5o2/3o4/3xx3/8/8/1x5o x");
    let words = words(&game, &state);
    for legal in ["d4-f4", "d4xf6", "d4-d2", "e4-c4"] {
        assert!(words.iter().any(|word| word == legal), "{legal} of {words:?}");
    }
    assert!(!words.iter().any(|word| word == "d4-d6"), "over an opponent: {words:?}");
    assert_eq!(game.parse_move(&state, "d4-f6"), None);
    assert_eq!(game.parse_move(&state, "pass"), None);
}

#[test]
fn a_move_that_connects_both_sides() {
    // c1 takes the piece that kept White apart, and closes up with its own.
    let text = "8/8/8/8/8/2ox4/8/1ox5 x";
    for (rules, outcome) in [(Rules::ICGA, Some(Outcome::Draw)), (Rules::MOVER_WINS, BLACK_WINS)] {
        let (game, mut state) = at(rules, text);
        assert_eq!(state.outcome, None);
        play(&game, &mut state, "c1xc3");
        assert_eq!(state.outcome, outcome);
        assert!(words(&game, &state).is_empty());
    }
}

#[test]
fn a_capture_may_connect_the_opponent_alone() {
    let (game, mut state) = at(Rules::MOVER_WINS, "x7/8/8/8/8/2o4x/8/1ox5 x");
    play(&game, &mut state, "c1xc3");
    assert_eq!(state.outcome, WHITE_WINS);
}

#[test]
fn positions_already_won_have_their_outcome() {
    let outcome = |rules, text| at(rules, text).1.outcome;
    assert_eq!(outcome(Rules::ICGA, "8/8/8/8/8/8/o7/x1o5 o"), BLACK_WINS);
    assert_eq!(outcome(Rules::ICGA, "8/8/8/8/8/8/o7/xo6 x"), Some(Outcome::Draw));
    // White moved last.
    assert_eq!(outcome(Rules::MOVER_WINS, "8/8/8/8/8/8/o7/xo6 x"), WHITE_WINS);
}

/// Black's corner pieces have White's in every way.
const STUCK: &str = "xo4ox/oo4oo/8/8/8/8/8/o7 x";

#[test]
fn who_cannot_move_passes_or_loses() {
    let (game, mut state) = at(Rules::ICGA, STUCK);
    assert_eq!(words(&game, &state), ["pass"]);
    play(&game, &mut state, "pass");
    assert_eq!((state.to_move, state.outcome), (Side::Second, None));
    let (mut rng, mut scratch) = (Rng::new(1, 0), Vec::new());
    let (_, mut state) = at(Rules::ICGA, STUCK);
    assert_eq!(game.random_move(&state, &mut rng, &mut scratch), Some(Move::PASS));
    assert!(game.rollout(&mut state, 2, u32::MAX, &mut rng, &mut scratch).is_some());
    let (game, state) = at(Rules { stuck_loses: true, ..Rules::ICGA }, STUCK);
    assert_eq!(state.outcome, WHITE_WINS);
    assert!(words(&game, &state).is_empty());
}

#[test]
fn the_third_occurrence_is_a_draw() {
    let there_and_back = "b1-b3 a2-c2 b3-b1 c2-a2";
    let game = Loa::new(Rules::ICGA);
    let mut state = game.initial();
    play(&game, &mut state, there_and_back);
    assert_eq!(state.outcome, None);
    play(&game, &mut state, "b1-b3 a2-c2 b3-b1");
    assert_eq!(state.outcome, None, "the position with White to move occurs for the second time");
    play(&game, &mut state, "c2-a2");
    assert_eq!(state.outcome, Some(Outcome::Draw));
    // Without the rule the game goes on and remembers nothing.
    let game = Loa::new(Rules::THESIS);
    let mut state = game.initial();
    for _ in 0..3 {
        play(&game, &mut state, there_and_back);
    }
    assert_eq!(state, game.initial());
}

#[test]
fn the_first_recurrence_is_a_draw_whoever_is_to_move() {
    let game = Loa::new(Rules::OPENSPIEL);
    let mut state = game.initial();
    play(&game, &mut state, "b1-b3 a2-c2 b3-b1 c2-a2");
    assert_eq!(state.outcome, Some(Outcome::Draw));
    // Recurrences with the other side to move count for the one rule and not for the other.
    for (history, first, third) in [
        (&[1, 2, 3][..], false, false),
        (&[1, 2, 3, 1], true, false),
        (&[1, 2, 1, 3, 1], true, true),
        (&[1, 1, 2, 1], true, false),
    ] {
        assert_eq!(Rules::OPENSPIEL.repeated(history), first, "{history:?}");
        assert_eq!(Rules::ICGA.repeated(history), third, "{history:?}");
    }
}

#[test]
fn a_capture_forgets_what_was_before() {
    let game = Loa::new(Rules::ICGA);
    let mut state = game.initial();
    play(&game, &mut state, "b1-b3 a2-c2");
    assert_eq!(state.history.len(), 3);
    let mut rng = Rng::new(5, 0);
    while state.outcome.is_none() {
        let pieces = state.boards[0].count_ones() + state.boards[1].count_ones();
        let before = state.history.len();
        let mv = game.random_move(&state, &mut rng, &mut Vec::new()).expect("the game goes on");
        game.play(&mut state, mv);
        let captured = state.boards[0].count_ones() + state.boards[1].count_ones() < pieces;
        assert_eq!(state.history.len(), if captured { 1 } else { before + 1 });
    }
}

#[test]
fn a_long_game_is_a_draw() {
    let rules = Rules { plies_max: 6, ..Rules::ICGA };
    let game = Loa::new(rules);
    let mut state = game.initial();
    play(&game, &mut state, "b1-b3 a2-c2 b3-b1 c2-a2 b1-b3");
    assert_eq!(state.outcome, None);
    let text = game.position(&state).unwrap();
    assert!(text.ends_with(" o 5"), "{text}");
    let again = game.parse_position(&text).unwrap();
    assert_eq!(game.key(&again), game.key(&state));
    let (mut rng, mut scratch) = (Rng::new(1, 0), Vec::new());
    let mut rolled = again.clone();
    assert_eq!(game.rollout(&mut rolled, 1, 100, &mut rng, &mut scratch), Some(Outcome::Draw));
    assert_eq!(rolled.plies, 6);
    play(&game, &mut state, "a2-c2");
    assert_eq!(state.outcome, Some(Outcome::Draw));
    assert_eq!(game.parse_position(&text.replace(" 5", " 7")).unwrap().outcome, Some(Outcome::Draw));
}

#[test]
fn bad_positions_say_what_is_wrong() {
    let game = Loa::new(Rules::ICGA);
    let full = "xxxxxxxx/8/8/8/8/8/8";
    for (text, said) in [
        ("", "expected a board"),
        ("8/8 x", "2 rows instead of 8"),
        ("8/8/8/8/8/8/8/xo6 x 1 2", "expected a board"),
        ("8/8/8/8/8/8/8/xo7 x", "row 1: 9 squares"),
        ("8/8/8/8/8/8/xo/8 x", "row 2: 2 squares"),
        ("8/8/8/8/8/8/8/xoé5 x", "row 1: 'é'"),
        ("8/8/8/8/8/8/8/x9 x", "row 1: '9'"),
        ("8/8/8/8/8/8/8/x7 x", "0 pieces of White"),
        (&format!("{full}/xxxxxo2 x"), "13 pieces of Black"),
        ("8/8/8/8/8/8/8/xo6 black", "'black' is to move"),
        ("8/8/8/8/8/8/8/xo6 x -3", "'-3' is not a number of plies"),
        (&format!("8/8/8/8/8/8/8/{} x", "x".repeat(100)), "row 1: 100 squares"),
    ] {
        let error = game.parse_position(text).unwrap_err();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn instances_are_opened_with_their_rules() {
    let read = |path: &str| match path {
        "won.loa" => Ok("# won\n\n8/8/8/8/8/8/o7/x1o5 o # indeed\n".to_string()),
        "two.loa" => Ok("8/8/8/8/8/8/o7/x1o5 o\n8/8/8/8/8/8/o7/x1o5 o\n".to_string()),
        "empty.loa" => Ok(String::new()),
        "flat.txt" => Ok(knowledge::THESIS.replace(['1', '2', '3'], "0")),
        "bad.txt" => Ok("A A 0.1\n".to_string()),
        _ => Err("no such file".to_string()),
    };
    let open = |name: &str| match registry::open(name, &read) {
        Ok(Opened::Game(game)) => game,
        Ok(_) => panic!("{name} is a game"),
        Err(error) => panic!("{name}: {error}"),
    };
    assert_eq!(open("loa/won.loa").board(None).unwrap().outcome(), BLACK_WINS);
    open("loa/8:categories=flat.txt,rules=openspiel,repetition=none");
    let mut board = open("loa/8:plies=2").board(None).unwrap();
    board.play("b1-b3").unwrap();
    board.play("a2-c2").unwrap();
    assert_eq!(board.outcome(), Some(Outcome::Draw));
    for (name, said) in [
        ("loa/9", "not a readable file"),
        ("loa/two.loa", "two.loa:2: expected nothing"),
        ("loa/empty.loa", "empty.loa:1: expected a position"),
        ("loa/8:rules=chess", "expected one of icga, thesis, mover-wins, openspiel"),
        ("loa/8:plies=many", "expected a whole number"),
        ("loa/8:both=win", "expected one of"),
        ("loa/8:categories=none.txt", "no such file"),
        ("loa/8:categories=bad.txt", "bad.txt:1: expected two regions"),
        ("loa/8:size=8", "unknown option 'size'"),
    ] {
        let error = registry::open(name, &read).err().expect("refused").to_string();
        assert!(error.contains(said), "{name}: {error}");
    }
}

#[test]
fn evaluation_is_fair_and_prefers_the_closer_side() {
    let game = Loa::new(Rules::ICGA);
    assert_eq!(game.evaluate(&game.initial()), 0.5);
    let (_, state) = at(Rules::ICGA, "o6o/8/8/3xx3/3x4/5x2/8/o6o o");
    assert!(game.evaluate(&state) > 0.5);
    let (_, mirrored) = at(Rules::ICGA, "x6x/8/8/3oo3/3o4/5o2/8/x6x x");
    assert!((game.evaluate(&mirrored) - (1.0 - game.evaluate(&state))).abs() < 1e-12);
}

#[test]
fn the_picture_has_every_piece() {
    let game = Loa::new(Rules::ICGA);
    let mut state = game.initial();
    play(&game, &mut state, "b1-b3");
    let mut picture = game.draw(&state).expect("a picture");
    let pieces = picture.shapes.iter().filter(|shape| matches!(shape, Shape::Stone { .. })).count();
    assert_eq!(pieces, 24);
    let shapes = picture.shapes.len();
    picture.mark(&game.draw(&game.initial()).expect("a picture"));
    assert_eq!(picture.shapes.len(), shapes + 2, "where the piece came from, and where it went");
    assert_eq!(picture.title, "Lines of Action: White (o) to move");
}

/// Draws in `positions` positions of random games, and compares how often the i-th listed move of n was drawn with 1 in
/// n: chi-square over all i and n, in standard deviations from its mean.
fn non_uniformity(positions: u32, seed: u64) -> f64 {
    let game = Loa::new(Rules::ICGA);
    let mut rng = Rng::new(seed, 0);
    let (mut state, mut moves) = (game.initial(), Vec::new());
    let mut counts: HashMap<usize, Vec<u32>> = HashMap::new();
    for _ in 0..positions {
        moves.clear();
        game.moves(&state, &mut moves);
        let drawn = game.random_move(&state, &mut rng, &mut Vec::new()).expect("the game goes on");
        let i = moves.iter().position(|&mv| mv == drawn).expect("a listed move");
        counts.entry(moves.len()).or_insert_with(|| vec![0; moves.len()])[i] += 1;
        game.play(&mut state, drawn);
        if state.outcome.is_some() {
            state = game.initial();
        }
    }
    let (mut chi2, mut freedom) = (0.0, 0.0);
    for (n, counts) in counts {
        let expected = f64::from(counts.iter().sum::<u32>()) / n as f64;
        // Rare numbers of moves say too little.
        if expected >= 10.0 && n > 1 {
            chi2 += counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum::<f64>();
            freedom += n as f64 - 1.0;
        }
    }
    assert!(freedom > 500.0, "only {freedom} degrees of freedom");
    (chi2 - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn random_moves_are_uniform_over_the_listed_ones() {
    let deviations = non_uniformity(100_000, 1);
    assert!(deviations.abs() < 3.5, "{deviations} standard deviations");
}

/// Mean value for Black and mean number of pieces left after so many playouts, each with its variance.
fn summary(
    playouts: u32,
    mut playout: impl FnMut(&mut State, &mut Rng) -> Option<Outcome>,
    seed: u64,
) -> [(f64, f64); 2] {
    let game = Loa::new(Rules::THESIS);
    let mut rng = Rng::new(seed, 0);
    let mut sums = [(0.0, 0.0); 2];
    for _ in 0..playouts {
        let mut state = game.initial();
        let value = playout(&mut state, &mut rng).expect("playouts end").value();
        let left = state.boards.iter().map(|board| board.count_ones()).sum::<u32>();
        for (sum, x) in sums.iter_mut().zip([value, f64::from(left)]) {
            sum.0 += x;
            sum.1 += x * x;
        }
    }
    let n = f64::from(playouts);
    sums.map(|(sum, squares)| (sum / n, (squares / n - (sum / n).powi(2)) / n))
}

#[test]
fn rollouts_end_as_the_slow_loop_does() {
    let game = Loa::new(Rules::THESIS);
    for draws in [1, 2] {
        let fast = summary(4000, |s, rng| game.rollout(s, draws, u32::MAX, rng, &mut Vec::new()), 1);
        let mut scratch = Vec::new();
        let slow = summary(
            1000,
            |state, rng| {
                while state.outcome.is_none() {
                    let mv = game.appealing_move(state, draws, rng, &mut scratch)?;
                    game.play(state, mv);
                }
                state.outcome
            },
            2,
        );
        for ((a, var_a), (b, var_b)) in fast.into_iter().zip(slow) {
            assert!((a - b).abs() < 4.0 * (var_a + var_b).sqrt(), "{draws} draws: {a} and {b}");
        }
    }
}

#[test]
fn a_rollout_stops_where_it_is_told() {
    let game = Loa::new(Rules::ICGA);
    let (mut rng, mut scratch) = (Rng::new(3, 0), Vec::new());
    let mut state = game.initial();
    assert_eq!(game.rollout(&mut state, 1, 3, &mut rng, &mut scratch), None);
    assert_eq!((state.to_move, state.key), (Side::Second, key_of(state.boards)));
    assert_eq!(game.rollout(&mut state, 1, 0, &mut rng, &mut scratch), None);
    let outcome = game.rollout(&mut state, 2, u32::MAX, &mut rng, &mut scratch);
    assert_eq!(outcome, state.outcome);
    assert!(outcome.is_some() && words(&game, &state).is_empty());
}

#[test]
fn games_are_the_same_on_every_processor() {
    let ends = |processor: Processor, draws: u32| {
        let (game, mut rng) = (Loa::new(Rules::ICGA).on(processor), Rng::new(5, 0));
        let one = |_| {
            let mut state = game.initial();
            game.rollout(&mut state, draws, u32::MAX, &mut rng, &mut Vec::new());
            state
        };
        (0..200).map(one).collect::<Vec<State>>()
    };
    for draws in 1..=3 {
        assert!(ends(Processor::PORTABLE, draws) == ends(Processor::here(), draws), "{draws} draws");
    }
    let thought = |processor: Processor| {
        let game = Boxed::new(Loa::new(Rules::ICGA).on(processor));
        let mut player = game.player(&Uct::plain(), 1).expect("sound");
        player.set(None, &[]).expect("the start");
        let stop = std::sync::atomic::AtomicBool::new(false);
        let thought = player.think(&Budget::playouts(3000), &stop, &mut |_| {}).expect("time to think");
        (thought.best, thought.nodes, thought.depth)
    };
    assert_eq!(thought(Processor::PORTABLE), thought(Processor::here()));
}
