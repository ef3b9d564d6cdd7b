//! One game: an opening, two players, the rules, and when it is enough. Whatever a player does costs it the game and
//! nothing else.

use super::table::Table;
use crate::players::Player;
use anyhow::{Result, anyhow};
use sortie_core::play::Fault;
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, Outcome, Side, Thought};
pub use sortie_runs::game::{Ended, Game, Reason};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Values of both players agree when each has said so in this many of its moves, one after the other.
const AGREED_MOVES: u32 = 3;

/// A player at the table.
pub struct Seat<'a> {
    /// What the log calls it.
    pub name: String,
    /// Who it is.
    pub player: &'a Player,
    /// What a move may cost.
    pub budget: Budget,
    /// The seed of its random numbers.
    pub seed: u64,
}

/// Players who wait for their next game: a program is started once, not once a game.
#[derive(Default)]
pub struct Bench(Mutex<HashMap<String, Vec<Box<dyn AnyPlayer>>>>);

impl Bench {
    /// A player ready for a new game.
    pub fn take(&self, seat: &Seat, game: &dyn AnyGame) -> Result<Box<dyn AnyPlayer>> {
        let mut waiting = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(mut player) = waiting.get_mut(&seat.name).and_then(Vec::pop) {
            drop(waiting);
            player.reset(seat.seed);
            return Ok(player);
        }
        drop(waiting);
        seat.player.open(game, seat.seed)
    }

    /// Lets the players of a name go.
    pub fn forget(&self, name: &str) {
        let mut waiting = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        waiting.remove(name);
    }

    /// Takes a player back.
    pub fn put(&self, name: &str, player: Box<dyn AnyPlayer>) {
        let mut waiting = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        waiting.entry(name.to_string()).or_default().push(player);
    }
}

/// How a game under way came to its end.
struct End {
    result: Ended,
    reason: Reason,
    detail: String,
    /// The side that failed.
    failed: Option<Side>,
}

/// Plays a game. `None`: somebody asked to stop. Numbers, parameters and the like are left to the caller.
pub fn play(
    table: &Table,
    bench: &Bench,
    seats: [Seat; 2],
    opening: &[String],
    stop: &AtomicBool,
) -> Result<Option<Game>> {
    let begun = Instant::now();
    let game = table.instance.game()?;
    let mut board = game.board(None)?;
    for word in opening {
        board.play(word)?;
    }
    let (mut thought_seconds, mut evaluations) = ([0.0; 2], Vec::new());
    let end = match [bench.take(&seats[0], game), bench.take(&seats[1], game)] {
        [Ok(first), Ok(second)] => {
            let mut players = [first, second];
            let end = moves(
                table,
                &mut *board,
                &mut players,
                &seats,
                (&mut thought_seconds, &mut evaluations),
                stop,
            );
            let failed = end.as_ref().and_then(|end| end.failed);
            for ((player, seat), side) in players.into_iter().zip(&seats).zip([Side::First, Side::Second]) {
                if failed != Some(side) {
                    bench.put(&seat.name, player);
                }
            }
            end
        }
        [Err(error), _] => Some(fail(Side::First, &Fault::Crashed(format!("{error:#}")))),
        [_, Err(error)] => Some(fail(Side::Second, &Fault::Crashed(format!("{error:#}")))),
    };
    let [first, second] = seats;
    Ok(end.map(|end| Game {
        game: 0,
        instance: table.instance.name.clone(),
        first: first.name,
        second: second.name,
        values: None,
        rival: None,
        seeds: [first.seed, second.seed],
        opening: opening.len(),
        moves: board.words().to_vec(),
        result: end.result,
        reason: end.reason,
        detail: end.detail,
        seconds: begun.elapsed().as_secs_f64(),
        thought_seconds,
        evaluations,
    }))
}

fn moves(
    table: &Table,
    board: &mut dyn AnyBoard,
    players: &mut [Box<dyn AnyPlayer>; 2],
    seats: &[Seat; 2],
    (thought_seconds, evaluations): (&mut [f64; 2], &mut Vec<f64>),
    stop: &AtomicBool,
) -> Option<End> {
    // How often in a row each side has thought the first side to win (positive) or to lose (negative).
    let mut opinions = [0i32; 2];
    loop {
        if let Some(outcome) = board.outcome() {
            return Some(end(Ended::of(outcome), Reason::Rules));
        }
        if board.words().len() >= table.draw_after as usize {
            return Some(end(Ended::Draw, Reason::Length));
        }
        let side = board.to_move();
        let i = if side == Side::First { 0 } else { 1 };
        if let Err(error) = players[i].set(None, board.words()) {
            return Some(fail(side, &Fault::Crashed(error.to_string())));
        }
        let begun = Instant::now();
        let thought = players[i].think(&seats[i].budget, stop, &mut |_| {});
        thought_seconds[i] += begun.elapsed().as_secs_f64();
        // What was thought in a hurry is not played.
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let thought = match thought {
            Ok(thought) => thought,
            Err(fault) => return Some(fail(side, &fault)),
        };
        let word = thought.best.clone().unwrap_or_default();
        if board.play(&word).is_err() {
            return Some(fail(side, &Fault::Nonsense(word.chars().take(80).collect())));
        }
        let value = thought.proved.map_or(thought.value, Outcome::value);
        evaluations.push((value * 1e4).round() / 1e4);
        if let Some(bar) = table.adjudicate {
            opinions[i] = opinion(&thought, bar, opinions[i]);
            let all = |f: &dyn Fn(i32) -> bool| opinions.iter().all(|&opinion| f(opinion));
            let enough = AGREED_MOVES as i32;
            if board.outcome().is_none() {
                if all(&|opinion| opinion >= enough) {
                    return Some(end(Ended::First, Reason::Agreed));
                }
                if all(&|opinion| opinion <= -enough) {
                    return Some(end(Ended::Second, Reason::Agreed));
                }
            }
        }
    }
}

/// The count of opinions after one more; a proof counts at once.
fn opinion(thought: &Thought, bar: f64, before: i32) -> i32 {
    let proved = thought.proved.map(Outcome::value);
    let enough = AGREED_MOVES as i32;
    match proved.unwrap_or(thought.value) {
        value if value >= bar => {
            if proved.is_some() {
                enough
            } else {
                before.max(0) + 1
            }
        }
        value if value <= 1.0 - bar => {
            if proved.is_some() {
                -enough
            } else {
                before.min(0) - 1
            }
        }
        _ => 0,
    }
}

fn end(result: Ended, reason: Reason) -> End {
    End { result, reason, detail: String::new(), failed: None }
}

fn fail(side: Side, fault: &Fault) -> End {
    let result = if side == Side::First { Ended::Second } else { Ended::First };
    let kind = match fault {
        Fault::Crashed(_) => "crash",
        Fault::Hung(_) => "hang",
        Fault::Flooded(_) => "flood",
        Fault::Nonsense(_) => "illegal move",
    };
    End { result, reason: Reason::Fault, detail: format!("{kind}: {fault}"), failed: Some(side) }
}

/// Replays a game of a log: its moves are legal, and it ended as it says.
pub fn verify(game: &Game, rules: &dyn AnyGame) -> Result<()> {
    let mut board = rules.board(None)?;
    for word in &game.moves {
        board.play(word)?;
    }
    match (game.reason, board.outcome()) {
        (Reason::Rules, Some(outcome)) if Ended::of(outcome) == game.result => Ok(()),
        (Reason::Rules, Some(outcome)) => {
            Err(anyhow!("it claims {:?} and ended {:?}", game.result, Ended::of(outcome)))
        }
        (Reason::Rules, None) => Err(anyhow!("it claims to have ended by the rules and goes on")),
        (_, Some(_)) => Err(anyhow!("it claims to have been cut short and ended by the rules")),
        (Reason::Length, None) if game.result != Ended::Draw => {
            Err(anyhow!("a game that is too long is a draw"))
        }
        (_, None) => Ok(()),
    }
}
