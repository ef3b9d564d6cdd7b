//! The engine's proofs as words of a certificate. An argument is one word, in the notation of stones:
//!
//! - `win:PROOF`, the side to move wins by double threats;
//! - `lost:LOSS`, it has lost, but for the stones that have lines of their own in the certificate;
//! - `quiet:TURN:LOSS`, it wins by this turn, after which the other side has lost.
//!
//! A PROOF is its steps with `;` between them, a step its turn and `,ANSWER.STEP` for every answer. A LOSS is the proof
//! against a pass, then `/STONES:PROOF` for a stone or two. What is read is checked by `proof.rs`, which knows no search.

use super::board::{Board, NONE, Windows};
use super::engine::{Engine, Evidence, Limits};
use super::proof::{Loss, Proof, Step, check, check_loss};
use super::rules::{Connect6, State};
use super::text;
use super::vcdt::{Vcdt, Verdict};
use super::zone::{Attempt, Effort, prove_loss};
use sortie_core::exact::Argued;
use sortie_core::{Game, Side};
use std::sync::Arc;

/// A search within a loss has one of so many parts of the nodes, and all of them together so many times the nodes.
const LOSS_PART: u64 = 20;
const LOSS_TIMES: u64 = 20;

/// Looks for an argument that `side` wins; where the other side is to move, whatever it plays but the stones in `except`.
pub(super) fn argue(
    game: &Connect6,
    state: &State,
    side: Side,
    except: &[u16],
    nodes_max: u64,
    stop: &dyn Fn() -> bool,
) -> Argued<u16> {
    if game.outcome(state).is_some() {
        return Argued::Except(Vec::new());
    }
    let (size, mover) = (game.size(), usize::from(state.to_move() == Side::Second));
    let mut board = Board::of(Arc::new(Windows::new(size)), game, state);
    let (left, mut vcdt) = (stones_left(game, state), Vcdt::default());
    if state.to_move() == side {
        if let Verdict::Wins(proof) = vcdt.search_turn(&mut board, mover, left, &[], nodes_max, stop) {
            return Argued::Proved(format!("win:{}", show_proof(size, &proof)));
        }
        let limits = Limits { nodes_max, spent: &|| if stop() { 1.0 } else { 0.0 } };
        return match Engine::new(size).answer(game, state, &[], limits).evidence {
            Some(Evidence::Win(proof)) => Argued::Proved(format!("win:{}", show_proof(size, &proof))),
            Some(Evidence::Quiet(turn, loss)) => {
                Argued::Proved(format!("quiet:{}:{}", show_turn(size, turn), show_loss(size, &loss)))
            }
            _ => Argued::Except(Vec::new()),
        };
    }
    let each = (nodes_max / LOSS_PART).max(1);
    let effort = Effort { each, total: nodes_max.saturating_mul(LOSS_TIMES), over: stop };
    match prove_loss(&mut vcdt, &mut board, mover, left, &turns_within(except), effort) {
        Attempt::Lost(loss) => Argued::Proved(format!("lost:{}", show_loss(size, &loss))),
        Attempt::Held(turn, _) => {
            Argued::Except(turn.into_iter().filter(|cell| *cell != NONE && !except.contains(cell)).collect())
        }
        Attempt::Open => Argued::Except(Vec::new()),
    }
}

/// Checks an argument that `side` wins, but for the stones in `except` where the other side is to move.
pub(super) fn check_argument(
    game: &Connect6,
    state: &State,
    side: Side,
    except: &[u16],
    text: &str,
) -> Result<(), String> {
    let (size, left) = (game.size(), stones_left(game, state));
    let mover = u8::from(state.to_move() == Side::Second);
    let mut stones: Vec<u8> = (0..(size * size) as u16)
        .map(|cell| game.stone(state, cell).map_or(2, |side| u8::from(side == Side::Second)))
        .collect();
    let (kind, rest) = text.split_once(':').ok_or("expected 'win:', 'lost:' or 'quiet:'")?;
    match (kind, state.to_move() == side) {
        ("win", true) => {
            let proof = parse_proof(size, rest)?;
            let first = &proof.steps[0];
            // One stone of two is enough where nothing can be done against it.
            if (first.turn[1] == NONE) != (left == 1) && !first.answers.is_empty()
                || first.turn[1] != NONE && left == 1
            {
                return Err(format!("the first turn is not of {left} stones"));
            }
            check(size, &stones, mover, &proof)
        }
        ("quiet", true) => {
            let (turn, loss) = rest.split_once(':').ok_or("expected 'quiet:TURN:LOSS'")?;
            let turn = parse_turn(size, turn)?;
            if (turn[1] == NONE) != (left == 1) || turn[0] == turn[1] {
                return Err(format!("the turn is not of {left} stones"));
            }
            for cell in turn.into_iter().filter(|&cell| cell != NONE) {
                if std::mem::replace(&mut stones[usize::from(cell)], mover) != 2 {
                    return Err("the turn is not on empty cells".into());
                }
            }
            check_loss(size, &stones, 1 - mover, 2, &[], &parse_loss(size, loss)?)
        }
        ("lost", false) => {
            let loss = parse_loss(size, rest)?;
            check_loss(size, &stones, mover, left, &turns_within(except), &loss)
        }
        ("win" | "quiet" | "lost", _) => Err(format!("'{kind}:' where the other side is to move")),
        _ => Err(format!("'{}:': expected 'win:', 'lost:' or 'quiet:'", crate::grid::short(kind))),
    }
}

/// The turns of two of these cells, and of one, in order: what a certificate has lines for when the side to move may
/// begin with any of these cells.
pub(super) fn turns_within(cells: &[u16]) -> Vec<[u16; 2]> {
    let pairs = cells.iter().flat_map(|&a| cells.iter().filter(move |&&b| a < b).map(move |&b| [a, b]));
    let mut turns: Vec<[u16; 2]> = pairs.chain(cells.iter().map(|&cell| [cell, NONE])).collect();
    turns.sort_unstable();
    turns
}

/// The stones of this turn: on a full board there may be less than two cells for them.
fn stones_left(game: &Connect6, state: &State) -> u32 {
    state.stones_left().min((game.size() * game.size() - state.played()) as u32)
}

fn show_turn(size: usize, turn: [u16; 2]) -> String {
    turn.into_iter().filter(|&cell| cell != NONE).map(|cell| text::name(size, cell)).collect()
}

fn show_proof(size: usize, proof: &Proof) -> String {
    let step = |step: &Step| {
        let answers = step.answers.iter();
        let answers = answers.map(|&(turn, next)| format!(",{}.{next}", show_turn(size, turn)));
        show_turn(size, step.turn) + &answers.collect::<String>()
    };
    proof.steps.iter().map(step).collect::<Vec<_>>().join(";")
}

fn show_loss(size: usize, loss: &Loss) -> String {
    let stones = loss.stones.iter().map(|(cell, proof)| ([*cell, NONE], proof));
    let turns = loss.turns.iter().map(|(turn, proof)| (*turn, proof));
    let against = stones
        .chain(turns)
        .map(|(turn, proof)| format!("/{}:{}", show_turn(size, turn), show_proof(size, proof)));
    show_proof(size, &loss.pass) + &against.collect::<String>()
}

fn parse_turn(size: usize, word: &str) -> Result<[u16; 2], String> {
    let mut turn = [NONE; 2];
    let wrong = || format!("'{}' is no turn", crate::grid::short(word));
    for (i, stone) in text::stones_of(word).enumerate() {
        turn[i] = text::parse_stone(size, stone).ok_or_else(wrong)?;
    }
    if turn[0] == NONE { Err(wrong()) } else { Ok(turn) }
}

fn parse_proof(size: usize, word: &str) -> Result<Proof, String> {
    let step = |word: &str| {
        let mut parts = word.split(',');
        let turn = parse_turn(size, parts.next().unwrap_or_default())?;
        let answers = parts.map(|part| {
            let (answer, next) = part.split_once('.').unwrap_or((part, ""));
            let next =
                next.parse().map_err(|_| format!("'{}': expected TURN.STEP", crate::grid::short(part)))?;
            Ok((parse_turn(size, answer)?, next))
        });
        Ok::<_, String>(Step { turn, answers: answers.collect::<Result<_, String>>()? })
    };
    Ok(Proof { steps: word.split(';').map(step).collect::<Result<_, _>>()? })
}

fn parse_loss(size: usize, word: &str) -> Result<Loss, String> {
    let mut parts = word.split('/');
    let pass = parse_proof(size, parts.next().unwrap_or_default())?;
    let mut loss = Loss { pass, stones: Vec::new(), turns: Vec::new() };
    for part in parts {
        let (turn, proof) = part.split_once(':').ok_or("expected '/STONES:PROOF'")?;
        let (turn, proof) = (parse_turn(size, turn)?, parse_proof(size, proof)?);
        match turn {
            [cell, NONE] => loss.stones.push((cell, proof)),
            _ => loss.turns.push((super::attack::sorted(turn), proof)),
        }
    }
    Ok(loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::exact::{Goal, Proof as Certificate, Value};
    use sortie_core::{AnyGame, Boxed, Domain};

    const NODES: u64 = 40_000;

    /// The first position of a kind, and the word before it.
    fn line(how: &str) -> (&'static str, &'static str) {
        let mut lines = include_str!("../../instances/connect6/positions.txt").lines();
        let mut words = lines.find(|line| line.starts_with(how)).expect("such a line").splitn(3, ' ').skip(1);
        (words.next().expect("a word"), words.next().expect("a position"))
    }

    fn proved(game: &Connect6, state: &State, side: Side, except: &[u16]) -> String {
        match argue(game, state, side, except, NODES, &|| false) {
            Argued::Proved(text) => text,
            Argued::Except(held) => panic!("no argument: {held:?} hold in\n{}", game.show(state)),
        }
    }

    /// A position, the side that wins it, and why.
    fn argued(game: &Connect6, how: &str) -> (State, Side, String) {
        let (what, position) = line(how);
        let state = game.parse_position(position).expect("a position");
        let side = if how == "lost" { state.to_move().other() } else { state.to_move() };
        if how != "quiet" {
            let text = proved(game, &state, side, &[]);
            return (state, side, text);
        }
        let mut next = state.clone();
        for stone in text::stones_of(what) {
            game.play(&mut next, text::parse_stone(19, stone).expect("a cell"));
        }
        let lost = proved(game, &next, side, &[]);
        (state, side, format!("quiet:{what}:{}", lost.strip_prefix("lost:").expect("a loss")))
    }

    #[test]
    fn wins_losses_and_quiet_wins_are_written_and_hold_as_read() {
        let game = Connect6::new(19);
        for (how, kind) in [("attack", "win:"), ("lost", "lost:"), ("quiet", "quiet:")] {
            let (state, side, text) = argued(&game, how);
            assert!(text.starts_with(kind) && !text.contains(['=', ' ', '\n']), "{how}: one word");
            assert_eq!(check_argument(&game, &state, side, &[], &text), Ok(()), "{how}");
            // The other side has no such argument, nor does another position.
            assert!(check_argument(&game, &state, side.other(), &[], &text).is_err());
            assert!(check_argument(&game, &game.initial(), side, &[], &text).is_err());
            let cuts: Vec<usize> = text.match_indices([';', '/', ',']).map(|(at, _)| at).collect();
            for at in cuts.iter().step_by(cuts.len().div_ceil(8)) {
                assert!(check_argument(&game, &state, side, &[], &text[..*at]).is_err(), "{how}");
            }
        }
    }

    #[test]
    fn stones_with_lines_of_their_own_need_no_argument() {
        let game = Connect6::new(19);
        let (state, side, text) = argued(&game, "lost");
        let loss = parse_loss(19, text.strip_prefix("lost:").expect("a loss")).expect("as it was written");
        assert_eq!(show_loss(19, &loss), text["lost:".len()..]);
        let except = loss.turns[0].0;
        let less = proved(&game, &state, side, &except);
        assert_eq!(check_argument(&game, &state, side, &except, &less), Ok(()));
        let error = check_argument(&game, &state, side, &[], &less).expect_err("a turn is not covered");
        assert!(error.contains("nothing against stones"), "{error}");
    }

    #[test]
    fn a_certificate_carries_arguments_and_is_checked_as_it_is_read() {
        let (game, any) = (Connect6::new(19), Boxed::new(Connect6::new(19)));
        for how in ["attack", "lost", "quiet"] {
            let (what, position) = line(how);
            let state = game.parse_position(position).expect("a position");
            let side = if how == "lost" { state.to_move().other() } else { state.to_move() };
            let words: Vec<String> = text::stones_of(what).map(String::from).collect();
            let guide = match how {
                "quiet" => vec![
                    (Vec::new(), Some(words[0].clone())),
                    (vec![words[0].clone()], Some(words[1].clone())),
                ],
                _ => Vec::new(),
            };
            let goal = Goal { side, at_least: Value::Win };
            let section =
                any.certify(Some(position), &[], goal, &guide, NODES, &|| false).expect("a strategy");
            assert_eq!(section.lines.len(), if how == "quiet" { 3 } else { 1 }, "{how}");
            let start = Some(position.to_string());
            let proof = Certificate {
                instance: "connect6/19".into(),
                start,
                sections: vec![section],
                ..Certificate::default()
            };
            let text = proof.to_text();
            let read = Certificate::parse(&text).expect("a proof");
            assert_eq!(read, proof);
            assert_eq!(any.check(&read).expect("it holds").goals, [goal]);
            let cut = text.find('!').map(|at| at + text[at..].find([';', '/', ',']).expect("parts"));
            let end =
                text[cut.expect("an argument")..].find([' ', '\n']).expect("a line ends") + cut.unwrap();
            let less = text[..cut.unwrap()].to_string() + &text[end..];
            assert!(any.check(&Certificate::parse(&less).expect("still a proof")).is_err(), "{how}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let game = Connect6::new(19);
        let state = game.parse_position(line("attack").1).expect("a position");
        let side = state.to_move();
        for text in [
            "",
            "win",
            "win:",
            "win:z99",
            "win:a1,b2",
            "win:a1,b2.x",
            "lost:a1",
            "quiet:a1",
            "quiet:a1a1:b2",
            "x:é",
            "win:é;",
        ] {
            assert!(check_argument(&game, &state, side, &[], text).is_err(), "{text}");
        }
    }
}
