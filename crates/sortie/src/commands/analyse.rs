//! `sortie analyse`: the best moves of a position, live while the search goes on. The live table is redrawn in place on
//! a terminal and is plain lines elsewhere, both on stderr; the final one goes to stdout.

use crate::Verdict;
use crate::args::Analyse;
use crate::convert::position;
use crate::output::{self, rounded};
use crate::session::stop_on_signals;
use crate::source::Instance;
use crate::{players, thought};
use anyhow::{Result, anyhow};
use crossterm::terminal;
use serde_json::{Value, json};
use sortie_core::play::Line;
use sortie_core::{AnyBoard, Outcome, Side, Thought};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// How long a position is looked at if nobody says.
const SECONDS: f64 = 10.0;
/// A live table is redrawn so often at most.
const LIVE: Duration = Duration::from_millis(200);
/// A plain line so often at most.
const PLAIN: Duration = Duration::from_secs(2);

/// Runs the command.
pub fn run(args: &Analyse) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let game = instance.game()?;
    if args.jsonl {
        return super::analysis::run(args, &instance);
    }
    let (start, board) = position::board(&instance, args.position.as_deref(), args.moves.as_deref())?;
    let mut player = players::open(&args.player, game, args.seed)?;
    player.set(start.as_deref(), board.words())?;
    let (side, lines) = (board.to_move(), args.lines as usize);
    if !args.json {
        output::print(&heading(&instance, &*board))?;
    }
    if board.outcome().is_some() {
        if args.json {
            output::print_json(&answer(args, lines, &instance, &*board, &Thought::default()))?;
        }
        return Ok(Verdict::Done);
    }
    let stop = stop_on_signals()?;
    let mut live = Live::new(args, side);
    let thought = player
        .think(&args.budget.budget(SECONDS), &stop, &mut |thought| live.tell(thought))
        .map_err(|fault| anyhow!("player '{}': {fault}", args.player))?;
    live.clear();
    if args.json {
        output::print_json(&answer(args, lines, &instance, &*board, &thought))?;
    } else {
        let table = thought::table(&thought, side, lines);
        let best = thought.best.as_deref().unwrap_or("none");
        output::print(&format!("{table}\nbest {best}  {}", thought::status(&thought)))?;
        if let Some(gang) = &thought.gang {
            output::print(&thought::gang(gang))?;
        }
    }
    Ok(Verdict::Done)
}

/// The position and who is to move.
fn heading(instance: &Instance, board: &dyn AnyBoard) -> String {
    let state = match board.outcome() {
        Some(outcome) => ended(outcome).to_string(),
        None => format!("{} to move, {} legal moves", name(board.to_move()), board.legal().len()),
    };
    let after = match board.words().len() {
        0 => String::new(),
        n => format!(" after {n} moves"),
    };
    format!("{}\n\n{}{after}: {state}", crate::paint::board(board.show().trim_end()), instance.name)
}

/// A side in words.
pub fn name(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// How a game ended, in words.
pub fn ended(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win(Side::First) => "first wins",
        Outcome::Win(Side::Second) => "second wins",
        Outcome::Draw => "a draw",
    }
}

/// What a player thinks of a position, as JSON: values are the view of the side to move.
pub fn answer(
    args: &Analyse,
    lines_max: usize,
    instance: &Instance,
    board: &dyn AnyBoard,
    thought: &Thought,
) -> Value {
    let side = board.to_move();
    let proved = |outcome: Option<Outcome>| outcome.map(ended);
    let line = |line: &Line| {
        json!({
            "move": line.moves.first(),
            "visits": line.visits,
            "value": rounded(side.view(line.value)),
            "proved": proved(line.proved),
            "line": line.moves,
        })
    };
    json!({
        "instance": instance.name,
        "position": board.position(),
        "moves": board.words(),
        "outcome": board.outcome().map(ended),
        "to_move": board.outcome().is_none().then(|| name(side)),
        "player": args.player,
        "seed": args.seed,
        "best": thought.best,
        "value": board.outcome().is_none().then(|| rounded(side.view(thought.value))),
        "proved": proved(thought.proved.or(board.outcome())),
        "lines": thought.lines.iter().take(lines_max).map(line).collect::<Vec<_>>(),
        "playouts": thought.playouts,
        "playouts_per_second": (thought.playouts as f64 / thought.seconds.max(1e-6)).round(),
        "nodes": thought.nodes,
        "depth": thought::depth(thought),
        "seconds": rounded(thought.seconds),
        "cpu_seconds": rounded(thought.cpu_seconds),
        "memory_fill": rounded(thought.fill),
        "recycled": thought.recycled,
        "gang": thought.gang,
    })
}

/// The teller.
struct Live {
    silent: bool,
    terminal: bool,
    side: Side,
    lines: usize,
    told: Instant,
    /// Lines on the screen that the next table takes the place of.
    drawn: usize,
}

impl Live {
    fn new(args: &Analyse, side: Side) -> Live {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let terminal = std::io::stderr().is_terminal() && !dumb;
        Live { silent: args.json, terminal, side, lines: args.lines as usize, told: Instant::now(), drawn: 0 }
    }

    fn tell(&mut self, thought: &Thought) {
        if self.silent || self.told.elapsed() < if self.terminal { LIVE } else { PLAIN } {
            return;
        }
        self.told = Instant::now();
        if !self.terminal {
            let best = thought.best.as_deref().unwrap_or("-");
            let value = 100.0 * self.side.view(thought.value);
            return output::say(&format!("best {best}  {value:.1} %  {}", thought::status(thought)));
        }
        let (columns, rows) = terminal::size().unwrap_or((80, 24));
        // What wraps or scrolls could not be redrawn.
        let (columns, rows) = ((columns as usize).max(10), (rows as usize).max(5));
        let text = format!("{}{}", thought::table(thought, self.side, self.lines), thought::status(thought));
        let lines: Vec<String> =
            text.lines().take(rows - 2).map(|line| line.chars().take(columns - 1).collect()).collect();
        self.clear();
        let _ = writeln!(std::io::stderr(), "{}", lines.join("\n"));
        let _ = std::io::stderr().flush();
        self.drawn = lines.len();
    }

    fn clear(&mut self) {
        if self.drawn > 0 {
            let _ = write!(std::io::stderr(), "\x1b[{}A\r\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }
}
