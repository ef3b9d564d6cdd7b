//! Proofs against the truth: exhaustive search where few cells are left, every answer of the other side where there are
//! more, stones dropped at random outside the zones.

use super::board::NONE;
use super::*;
use sortie_core::{Domain, Game, Outcome, Rng, Side};
use std::collections::HashMap;
use std::sync::Arc;

const EFFORT: Effort = Effort { each: 300, total: 100_000, over: &|| false };

fn side_of(state: &State) -> usize {
    usize::from(state.to_move() == Side::Second)
}

/// The outcome under perfect play, stone by stone, all of them.
fn solve(game: &Connect6, state: &State, known: &mut HashMap<u64, Outcome>) -> Outcome {
    if let Some(outcome) = game.outcome(state) {
        return outcome;
    }
    if let Some(&outcome) = known.get(&game.key(state)) {
        return outcome;
    }
    let side = state.to_move();
    let mut best = Outcome::Win(side.other());
    let mut moves = Vec::new();
    game.moves(state, &mut moves);
    for mv in moves {
        let mut next = state.clone();
        game.play(&mut next, mv);
        let outcome = solve(game, &next, known);
        if outcome.value_for(side) > best.value_for(side) {
            best = outcome;
        }
        if best == Outcome::Win(side) {
            break;
        }
    }
    known.insert(game.key(state), best);
    best
}

/// A position with so many cells left, in which stones lie in runs: full of threats, and nobody has six.
fn crowded(game: &Connect6, left: usize, rng: &mut Rng) -> State {
    let cells = game.size() * game.size();
    loop {
        let mut stones = vec![None; cells];
        let played = cells - left;
        // Who plays which of the stones is settled by the rules.
        let mut rest = [0; 2];
        (0..played).for_each(|n| rest[n.div_ceil(2) % 2] += 1);
        let mut empty: Vec<usize> = (0..cells).collect();
        while rest[0] + rest[1] > 0 {
            let cell = empty.swap_remove(rng.below(empty.len()));
            let beside: Vec<Side> = [1, game.size(), game.size() + 1, game.size() - 1]
                .into_iter()
                .flat_map(|step| [cell.checked_sub(step), Some(cell + step)])
                .filter_map(|at| stones.get(at?).copied().flatten())
                .collect();
            let mut side = usize::from(rng.below(2) == 1);
            if !beside.is_empty() && rng.below(4) > 0 {
                side = usize::from(beside[rng.below(beside.len())] == Side::Second);
            }
            side = if rest[side] == 0 { 1 - side } else { side };
            rest[side] -= 1;
            stones[cell] = Some(if side == 0 { Side::First } else { Side::Second });
        }
        let to_move = if played.div_ceil(2).is_multiple_of(2) { Side::First } else { Side::Second };
        if let Ok(state) = game.with_stones(&stones, to_move)
            && game.outcome(&state).is_none()
        {
            return state;
        }
    }
}

#[test]
fn what_is_called_proved_is_true() {
    let mut rng = Rng::new(3, 0);
    // Wins by six at once and by threats that cannot be stopped; losses with one stone and with two. Wins that take
    // several turns need more room than a search of everything allows: they are played out below.
    let (mut wins, mut losses) = ([0; 2], [0; 2]);
    for size in [7, 8] {
        let game = Connect6::new(size);
        let windows = Arc::new(Windows::new(size));
        let mut vcdt = Vcdt::default();
        for round in 0..2500 {
            let state = crowded(&game, 7 + round % 3, &mut rng);
            let (side, left) = (side_of(&state), state.stones_left());
            let mut board = Board::of(windows.clone(), &game, &state);
            let truth = || solve(&game, &state, &mut HashMap::new());
            if let Verdict::Wins(proof) = vcdt.search_turn(&mut board, side, left, &[], 1000, &|| false) {
                let kind = usize::from(board.winning_turns(side, left).next().is_none());
                wins[kind] += 1;
                if wins[kind] <= 12 {
                    assert_eq!(check(size, board.stones(), side as u8, &proof), Ok(()));
                    assert_eq!(truth(), Outcome::Win(state.to_move()), "{}", game.show(&state));
                }
                continue;
            }
            if losses[left as usize - 1] < 12
                && let Attempt::Lost(loss) = prove_loss(&mut vcdt, &mut board, side, left, &[], EFFORT)
            {
                losses[left as usize - 1] += 1;
                assert_eq!(check_loss(size, board.stones(), side as u8, left, &[], &loss), Ok(()));
                assert_eq!(truth(), Outcome::Win(state.to_move().other()), "{}", game.show(&state));
            }
        }
    }
    println!("wins {wins:?}, losses {losses:?}");
    assert!(wins.iter().chain(&losses).all(|&count| count >= 3), "{wins:?} {losses:?}");
}

/// The most valuable of some random cells again and again: games full of threats.
fn lively(game: &Connect6, stones: usize, rng: &mut Rng) -> Option<State> {
    let (mut state, mut scratch) = (game.initial(), Vec::new());
    while state.played() < stones {
        let mv = game.appealing_move(&state, 30, rng, &mut scratch)?;
        game.play(&mut state, mv);
        if game.outcome(&state).is_some() {
            return None;
        }
    }
    Some(state)
}

/// Plays a proof against every turn of the other side, by the rules of six in a row alone: the number of turns tried.
fn replay(board: &mut Board, side: usize, proof: &Proof, at: u32) -> u64 {
    let step = &proof.steps[at as usize];
    board.play(step.turn, side);
    let mut tried = 0;
    if board.live(side, 6).is_empty() {
        assert!(!board.threatens(1 - side), "the other side makes six");
        for a in 0..board.cells() {
            for b in a + 1..board.cells() {
                if !board.is_empty(a) || !board.is_empty(b) {
                    continue;
                }
                tried += 1;
                board.play([a, b], 1 - side);
                // Either six can be made at once, or the proof has a step for it.
                if !board.threatens(side) {
                    let known = step.answers.iter().find(|(turn, _)| *turn == [a, b]);
                    let &(_, next) = known.expect("every answer has a step");
                    tried += replay(board, side, proof, next);
                }
                board.undo([a, b], 1 - side);
            }
        }
    }
    board.undo(step.turn, side);
    tried
}

#[test]
fn every_turn_against_a_proof_loses() {
    let (size, mut rng, mut vcdt) = (12, Rng::new(7, 0), Vcdt::default());
    let game = Connect6::new(size);
    let windows = Arc::new(Windows::new(size));
    let (mut deep, mut tried) = (0, 0);
    for round in 0..1500 {
        let Some(state) = lively(&game, 11 + 2 * (round % 12), &mut rng) else { continue };
        let mut board = Board::of(windows.clone(), &game, &state);
        let side = side_of(&state);
        if deep < 6
            && let Verdict::Wins(proof) = vcdt.search(&mut board, side, 300)
            && (2..10).contains(&proof.steps.len())
        {
            deep += 1;
            tried += replay(&mut board, side, &proof, 0);
        }
    }
    println!("{deep} proofs of several turns, {tried} turns against them");
    assert!(deep == 6, "{deep}");
}

#[test]
fn stones_outside_the_zone_change_nothing() {
    let (size, mut rng, mut vcdt) = (15, Rng::new(9, 0), Vcdt::default());
    let game = Connect6::new(size);
    let windows = Arc::new(Windows::new(size));
    let (mut proofs, mut changed) = (0, 0);
    for round in 0..80 {
        let Some(state) = lively(&game, 9 + 2 * (round % 20), &mut rng) else { continue };
        let mut board = Board::of(windows.clone(), &game, &state);
        // Whoever has just moved would win if the other passed.
        for side in 0..2 {
            let Verdict::Wins(proof) = vcdt.search(&mut board, side, 300) else { continue };
            proofs += 1;
            for extra in 1..3 {
                let zone = Zone::of(&mut board, side, &proof, extra);
                let outside: Vec<u16> =
                    (0..board.cells()).filter(|&cell| board.is_empty(cell) && !zone.has(cell)).collect();
                for _ in 0..6 {
                    let mut turn = [NONE; 2];
                    for cell in &mut turn[..extra] {
                        *cell = outside[rng.below(outside.len())];
                    }
                    if turn[0] == turn[1] {
                        continue;
                    }
                    board.play(turn, 1 - side);
                    let verdict = check(size, board.stones(), side as u8, &proof);
                    board.undo(turn, 1 - side);
                    assert_eq!(verdict, Ok(()), "{turn:?} in\n{}", game.show(&state));
                }
                // The other way round: some stone inside has to matter, or zones are drawn too wide.
                for cell in zone.cells() {
                    board.place(cell, 1 - side);
                    changed += usize::from(check(size, board.stones(), side as u8, &proof).is_err());
                    board.lift(cell, 1 - side);
                }
            }
        }
    }
    println!("{proofs} proofs, {changed} cells that mattered");
    assert!(proofs > 25 && changed > 300, "{proofs} {changed}");
}

#[test]
fn a_proof_that_is_tampered_with_is_refused() {
    let (size, mut rng, mut vcdt) = (13, Rng::new(4, 0), Vcdt::default());
    let game = Connect6::new(size);
    let windows = Arc::new(Windows::new(size));
    let mut tampered = 0;
    for round in 0..200 {
        let Some(state) = lively(&game, 15 + 2 * (round % 10), &mut rng) else { continue };
        let (mut board, side) = (Board::of(windows.clone(), &game, &state), side_of(&state));
        let Verdict::Wins(proof) = vcdt.search(&mut board, side, 300) else { continue };
        if proof.steps.len() < 3 {
            continue;
        }
        let refuses = |proof: &Proof| check(size, board.stones(), side as u8, proof).is_err();
        let mut missing = proof.clone();
        missing.steps[0].answers.pop();
        let mut elsewhere = proof.clone();
        elsewhere.steps[0].answers[0].1 = 9999;
        let mut circular = proof.clone();
        circular.steps[0].answers[0].1 = 0;
        let mut outside = proof.clone();
        outside.steps[0].turn[1] = 60_000;
        assert!(refuses(&missing) && refuses(&elsewhere) && refuses(&circular) && refuses(&outside));
        tampered += 1;
    }
    assert!(tampered > 10);
}

/// The outcome for the side to move if it may play none of these turns.
fn solve_without(game: &Connect6, state: &State, excluded: &[[u16; 2]]) -> Option<Outcome> {
    let (side, mut known) = (state.to_move(), HashMap::new());
    let mut cells = Vec::new();
    game.moves(state, &mut cells);
    let after = |state: &State, cell: u16| {
        let mut next = state.clone();
        game.play(&mut next, cell);
        next
    };
    let (alone, rest): (Vec<u16>, Vec<u16>) =
        cells.iter().partition(|&&cell| game.outcome(&after(state, cell)) == Some(Outcome::Win(side)));
    let mut outcomes = Vec::new();
    outcomes
        .extend(alone.iter().filter(|&&cell| !excluded.contains(&[cell, NONE])).map(|_| Outcome::Win(side)));
    for (i, &a) in rest.iter().enumerate() {
        let next = after(state, a);
        if state.stones_left() == 1 {
            outcomes.extend((!excluded.contains(&[a, NONE])).then(|| solve(game, &next, &mut known)));
            continue;
        }
        for &b in rest[i + 1..].iter().filter(|&&b| !excluded.contains(&[a, b])) {
            outcomes.push(solve(game, &after(&next, b), &mut known));
        }
    }
    outcomes.into_iter().max_by(|a, b| a.value_for(side).total_cmp(&b.value_for(side)))
}

#[test]
fn the_engine_is_right_when_it_is_sure_and_keeps_off_excluded_turns() {
    let (size, mut rng) = (7, Rng::new(21, 0));
    let (game, mut engine) = (Connect6::new(size), Engine::new(size));
    let (mut won, mut lost, mut open) = (0, 0, 0);
    for round in 0..150 {
        let state = crowded(&game, 7 + round % 2, &mut rng);
        let mut cells = Vec::new();
        game.moves(&state, &mut cells);
        let pairs = cells.iter().flat_map(|&a| cells.iter().filter(move |&&b| a < b).map(move |&b| [a, b]));
        let mut excluded: Vec<[u16; 2]> = pairs.filter(|_| rng.below(3) == 0).collect();
        excluded.extend(cells.iter().filter(|_| rng.below(2) == 0).map(|&cell| [cell, NONE]));
        let answer = engine.answer(&game, &state, &excluded, Limits::nodes(2000));
        let turn = match answer.turn[..] {
            [] => continue,
            [a] => [a, NONE],
            [a, b, ..] => [a.min(b), a.max(b)],
        };
        assert!(!excluded.contains(&turn), "{turn:?} is excluded in\n{}", game.show(&state));
        let truth = || solve_without(&game, &state, &excluded);
        match answer.evidence {
            Some(Evidence::Loss(_)) => {
                assert_eq!(truth(), Some(Outcome::Win(state.to_move().other())), "{}", game.show(&state));
                lost += 1;
            }
            Some(_) => {
                assert_eq!(truth(), Some(Outcome::Win(state.to_move())), "{}", game.show(&state));
                won += 1;
            }
            None => open += 1,
        }
    }
    println!("{won} won, {lost} lost, {open} open");
    assert!(won > 10 && lost > 2 && open > 10, "{won} {lost} {open}");
}

#[test]
fn an_answer_depends_on_the_question_only() {
    let (size, mut rng) = (19, Rng::new(2, 0));
    let (game, mut engine) = (Connect6::new(size), Engine::new(size));
    let states: Vec<State> = (0..6).filter_map(|_| lively(&game, 11, &mut rng)).collect();
    let ask = |engine: &mut Engine, state| engine.answer(&game, state, &[], Limits::nodes(500));
    let first: Vec<Answer> = states.iter().map(|state| ask(&mut engine, state)).collect();
    let again: Vec<Answer> = states.iter().rev().map(|state| ask(&mut engine, state)).collect();
    assert!(first.iter().eq(again.iter().rev()));
    assert!(first.iter().any(|answer| answer.depth > 0));
}

#[test]
fn the_engine_plays_on_to_the_last_cell() {
    for size in [6, 7] {
        let (game, mut engine) = (Connect6::new(size), Engine::new(size));
        let mut state = game.initial();
        while game.outcome(&state).is_none() {
            let answer = engine.answer(&game, &state, &[], Limits::nodes(50));
            assert!(!answer.turn.is_empty() && answer.turn.len() <= state.stones_left() as usize);
            for cell in answer.turn {
                assert!(game.stone(&state, cell).is_none() && game.outcome(&state).is_none());
                game.play(&mut state, cell);
            }
        }
    }
}

/// A position of the file.
struct Decided {
    how: &'static str,
    /// The turns it takes, or the turn that decides it.
    what: &'static str,
    board: Board,
    side: usize,
}

fn decided() -> Vec<Decided> {
    let (game, windows) = (Connect6::new(19), Arc::new(Windows::new(19)));
    let text = include_str!("../../instances/connect6/positions.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let [how, what, position] = [(); 3].map(|()| words.next().expect("how, what and a position"));
            let state = game.parse_position(position).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(state.stones_left(), 2, "{line}");
            Decided { how, what, board: Board::of(windows.clone(), &game, &state), side: side_of(&state) }
        })
        .collect()
}

impl Decided {
    /// Plays the quiet turn, after which the other side is to move and has lost.
    fn settle(&mut self) {
        let cells: Vec<u16> = super::text::stones_of(self.what)
            .map(|stone| super::text::parse_stone(19, stone).expect("a cell"))
            .collect();
        self.board.play([cells[0], cells[1]], self.side);
        self.side = 1 - self.side;
    }
}

#[test]
fn the_positions_of_the_file_are_proved() {
    let mut vcdt = Vcdt::default();
    let mut counts = HashMap::new();
    for mut position in decided() {
        let count = counts.entry(position.how).or_insert(0);
        *count += 1;
        // Losses take their time: two of each here, all of them below.
        if position.how != "attack" && *count > 2 {
            continue;
        }
        let side = position.side;
        let attack = vcdt.search(&mut position.board, side, 20_000);
        if position.how == "attack" {
            let Verdict::Wins(proof) = attack else { panic!("no win:\n{:?}", position.board) };
            assert!(!proof.steps[0].answers.is_empty(), "one turn is enough");
            assert_eq!(check(19, position.board.stones(), side as u8, &proof), Ok(()));
            continue;
        }
        assert!(
            !matches!(attack, Verdict::Wins(_)),
            "{} {} is won by an attack",
            position.how,
            position.what
        );
        if position.how == "quiet" {
            position.settle();
        }
        let (board, side) = (&mut position.board, position.side);
        let mut threats = Vec::new();
        board.threats(1 - side, &mut threats);
        assert!(Covers::of(&threats).number < 2, "lost to a double threat already");
        let effort = Effort { each: 2000, total: 500_000, over: &|| false };
        let Attempt::Lost(loss) = prove_loss(&mut vcdt, board, side, 2, &[], effort) else {
            panic!("not lost")
        };
        assert_eq!(check_loss(19, board.stones(), side as u8, 2, &[], &loss), Ok(()));
    }
    assert!(["attack", "quiet", "lost"].iter().all(|how| counts[how] >= 4), "{counts:?}");
}

/// Losses without zones: every turn there is, each refuted by a proof that is checked.
#[test]
#[ignore = "slow: all 60,000 turns of every lost position"]
fn the_losses_of_the_file_are_losses_whatever_is_played() {
    let mut vcdt = Vcdt::default();
    for mut position in decided().into_iter().filter(|position| position.how != "attack") {
        if position.how == "quiet" {
            position.settle();
        }
        let (board, loser) = (&mut position.board, position.side);
        for a in 0..board.cells() {
            for b in a + 1..board.cells() {
                if !board.is_empty(a) || !board.is_empty(b) {
                    continue;
                }
                board.play([a, b], loser);
                assert!(board.live(loser, 6).is_empty());
                let Verdict::Wins(proof) = vcdt.search(board, 1 - loser, 20_000) else {
                    panic!("{} and {} hold", text::name(19, a), text::name(19, b))
                };
                assert_eq!(check(19, board.stones(), 1 - loser as u8, &proof), Ok(()));
                board.undo([a, b], loser);
            }
        }
    }
}
