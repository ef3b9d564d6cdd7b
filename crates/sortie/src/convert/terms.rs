//! Proofs as terms of Rocq (Coq), for a checker that is proved there: `proofs/rocq/Strategy.v` has the rules of three games,
//! the checker and its theorem, and what is written here is a strategy and one application of it.

use anyhow::{Result, anyhow, bail};
use sortie_core::exact::{Proof, Section, Value};
use sortie_core::{AnyGame, Side};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Positions of a strategy, at most: every one is a definition.
const LINES_MAX: usize = 100_000;
/// The largest heap of nim: numbers are unary there.
const HEAP_MAX: u32 = 1000;

/// The games whose rules are in `Strategy.v`.
#[derive(Clone, Copy)]
enum Rules {
    Nim(u32),
    TicTacToe,
    Hex(usize),
}

impl Rules {
    fn of(instance: &str) -> Result<Rules> {
        let refuse = || anyhow!("{instance}: expected nim/N up to {HEAP_MAX}, tictactoe/3 or hex/N");
        let (domain, name) = instance.split_once('/').ok_or_else(refuse)?;
        match (domain, name.parse::<u32>()) {
            ("nim", Ok(heap)) if heap <= HEAP_MAX => Ok(Rules::Nim(heap)),
            ("tictactoe", Ok(3)) => Ok(Rules::TicTacToe),
            ("hex", Ok(size)) => Ok(Rules::Hex(size as usize)),
            _ => Err(refuse()),
        }
    }

    /// The order of moves there: the number taken, or the cell, row by row.
    fn order(self, word: &str) -> Result<usize> {
        let refuse = || anyhow!("'{word}' is no move that Strategy.v knows");
        let size = match self {
            Rules::Nim(_) => return word.parse().map_err(|_| refuse()),
            Rules::TicTacToe => 3,
            Rules::Hex(size) => size,
        };
        let column = word.bytes().next().and_then(|b| b.checked_sub(b'a')).ok_or_else(refuse)?;
        let row: usize = word.get(1..).and_then(|row| row.parse().ok()).ok_or_else(refuse)?;
        Ok(size * row.saturating_sub(1) + usize::from(column))
    }
}

/// A proof as a file of Rocq. It has been checked.
pub fn rocq(game: &dyn AnyGame, proof: &Proof) -> Result<String> {
    let rules = Rules::of(&proof.instance)?;
    if proof.start.is_some() {
        bail!("expected a proof that begins at the start of the game");
    }
    if proof.positions() > LINES_MAX {
        bail!("{} positions: expected at most {LINES_MAX}", proof.positions());
    }
    let mut text = format!(
        "(* {}: written by sortie {} from a proof of {} positions. *)\nFrom Sortie Require Import Strategy.\nFrom Coq Require Import List.\nImport ListNotations.\n\n",
        proof.instance,
        env!("CARGO_PKG_VERSION"),
        proof.positions()
    );
    let kind = if matches!(rules, Rules::Nim(_)) { "nat * bool" } else { "board" };
    let _ = writeln!(text, "Definition start : {kind} := {}.\n", start(game, rules, &proof.moves)?);
    for (section, number) in proof.sections.iter().zip(1..) {
        let strategy = strategy(game, rules, proof, section, &format!("s{number}_"), &mut text)?;
        let first = section.goal.side == Side::First;
        let game = match rules {
            Rules::Nim(_) => format!("nim {first}"),
            Rules::TicTacToe => format!("tictactoe {first} {}", section.goal.at_least == Value::Draw),
            Rules::Hex(size) => format!("hex {size} {first}"),
        };
        let _ = writeln!(
            text,
            "\n(* {} *)\nTheorem claim_{number} : wins ({game}) start.\nProof. apply (check_sound ({game}) {strategy}). vm_compute. reflexivity. Qed.\n",
            section.goal
        );
    }
    Ok(text)
}

/// The position after some moves.
fn start(game: &dyn AnyGame, rules: Rules, moves: &[String]) -> Result<String> {
    let mut board = game.board(None)?;
    let mut cells = match rules {
        Rules::Nim(_) => Vec::new(),
        Rules::TicTacToe => vec!["None"; 9],
        Rules::Hex(size) => vec!["None"; size * size],
    };
    let mut taken = 0;
    for word in moves {
        let order = rules.order(word)?;
        taken += order as u32;
        if let Some(cell) = cells.get_mut(order) {
            *cell = if board.to_move() == Side::First { "Some true" } else { "Some false" };
        }
        board.play(word)?;
    }
    let first = board.to_move() == Side::First;
    Ok(match rules {
        Rules::Nim(heap) => format!("({}, {first})", heap.saturating_sub(taken)),
        _ => format!("([{}], {first})", cells.join("; ")),
    })
}

/// Writes a definition for every line, those it leads to before it; returns the name of the last.
fn strategy(
    game: &dyn AnyGame,
    rules: Rules,
    proof: &Proof,
    section: &Section,
    name: &str,
    text: &mut String,
) -> Result<String> {
    let Some(last) = section.lines.len().checked_sub(1) else { return Ok("Done".into()) };
    // A line does not say whose turn it is: the moves that lead to it do.
    let mut paths = HashMap::from([(last, proof.moves.clone())]);
    for line in (0..=last).rev() {
        let path = paths.get(&line).ok_or_else(|| anyhow!("line {line}: nothing leads here"))?.clone();
        for (word, to) in &section.lines[line] {
            if let Some(to) = to {
                paths.entry(*to).or_insert_with(|| [&path[..], std::slice::from_ref(word)].concat());
            }
        }
    }
    for (line, entries) in section.lines.iter().enumerate() {
        let mut board = game.board(None)?;
        for word in &paths[&line] {
            board.play(word)?;
        }
        let rest = |to: &Option<usize>| to.map_or("Done".to_string(), |to| format!("{name}{to}"));
        let order = |word: &String| rules.order(word);
        let _ = if board.to_move() == section.goal.side {
            let (word, to) = entries.first().ok_or_else(|| anyhow!("line {line}: no move"))?;
            let mut legal = board.legal().iter().map(order).collect::<Result<Vec<_>>>()?;
            legal.sort_unstable();
            let number =
                legal.binary_search(&order(word)?).map_err(|_| anyhow!("line {line}: no such move"))?;
            writeln!(text, "Definition {name}{line} := Play {number} {}.", rest(to))
        } else {
            let mut replies =
                entries.iter().map(|(word, to)| Ok((order(word)?, rest(to)))).collect::<Result<Vec<_>>>()?;
            replies.sort();
            let all: Vec<String> = replies.into_iter().map(|(_, rest)| rest).collect();
            writeln!(text, "Definition {name}{line} := Reply [{}].", all.join("; "))
        };
    }
    Ok(format!("{name}{last}"))
}
