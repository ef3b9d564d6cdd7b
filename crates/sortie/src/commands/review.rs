//! `sortie review`: a game looked at move by move: what each was worth, where the game turned, and what would have been
//! better. The game is a record (`play` saves them, `convert` reads SGF) or one of a match, whose log holds what its own
//! players thought, which `--logged` shows without any search.

use super::analyse::name;
use crate::args::Review;
use crate::contest::{GAMES, MATCH};
use crate::output::{self, rounded};
use crate::session::stop_on_signals;
use crate::source::Instance;
use crate::{Verdict, duration, journal, players, progress};
use anyhow::{Result, anyhow, bail};
use serde_json::{Value, json};
use sortie_core::{AnyGame, Outcome, Side};
use sortie_runs::game::Game;
use std::fmt::Write;
use std::sync::atomic::Ordering;

/// How long each position is looked at if nobody says.
const SECONDS: f64 = 1.0;
/// A move that gives away so much of the value of the game, and what it is called. The names and the order are those of
/// chess annotation; the bars are ours.
const MARKS: [(f64, &str, &str); 3] =
    [(0.3, "??", "blunder"), (0.15, "?", "mistake"), (0.07, "?!", "inaccuracy")];
/// Rows of the graph.
const GRAPH_ROWS: usize = 9;

/// A game to look at.
struct Sheet {
    instance: Instance,
    start: Option<String>,
    moves: Vec<String>,
    /// Moves of the opening, which nobody chose.
    opening: usize,
    /// What its players thought after each move behind the opening, where that is known.
    logged: Vec<f64>,
    title: String,
}

/// A move of the game.
struct Step {
    side: Side,
    mv: String,
    /// The value for the first side before and after it.
    before: f64,
    after: f64,
    /// What would have been played instead.
    better: Option<String>,
}

impl Step {
    /// What the move gave away, as who made it sees it.
    fn lost(&self) -> f64 {
        (self.side.view(self.before) - self.side.view(self.after)).max(0.0)
    }

    fn mark(&self) -> Option<(&'static str, &'static str)> {
        // Who plays what the engine would have played has not erred, however the value moved afterwards.
        let same = self.better.as_deref() == Some(&self.mv);
        let found = MARKS.iter().find(|(bar, ..)| !same && self.lost() >= *bar);
        found.map(|&(_, mark, word)| (mark, word))
    }
}

/// Runs the command.
pub fn run(args: &Review) -> Result<Verdict> {
    let sheet = find(args)?;
    let steps = if args.logged { logged(&sheet)? } else { searched(args, &sheet)? };
    if args.json {
        output::print_json(&json(args, &sheet, &steps))?;
    } else {
        output::print(&text(&sheet, &steps))?;
    }
    Ok(Verdict::Done)
}

fn find(args: &Review) -> Result<Sheet> {
    let path = &args.game;
    if !path.join(MATCH).is_file() {
        if args.number.is_some() || args.logged {
            bail!(
                "--number and --logged: {} is no match, whose folder has games and what was thought",
                path.display()
            );
        }
        let (record, instance) = super::convert::read(path, args.instance.as_deref())?;
        instance.game()?;
        let start = record.field(crate::source::POSITION).map(str::to_string);
        let (moves, title) = (record.moves, path.display().to_string());
        return Ok(Sheet { instance, start, moves, opening: 0, logged: Vec::new(), title });
    }
    let games: Vec<Game> = journal::read(&path.join(GAMES))?;
    let number = args.number.unwrap_or_else(|| games.first().map_or(0, |game| game.game));
    let Some(game) = games.into_iter().find(|game| game.game == number) else {
        bail!("--number {number}: {} has no such game", path.join(GAMES).display());
    };
    Ok(Sheet {
        instance: Instance::open_game(&game.instance)?,
        start: None,
        moves: game.moves,
        opening: game.opening,
        logged: game.evaluations,
        title: format!("game {number} of {}: {} against {}", path.display(), game.first, game.second),
    })
}

/// What the players of a match thought themselves: the value before a move is what its player thought of the position,
/// that after it what the opponent thought next.
fn logged(sheet: &Sheet) -> Result<Vec<Step>> {
    if sheet.logged.is_empty() {
        bail!("{}: this log has no evaluations: leave out --logged", sheet.title);
    }
    let mut board = sheet.instance.game()?.board(sheet.start.as_deref())?;
    let mut steps = Vec::new();
    for (i, mv) in sheet.moves.iter().enumerate() {
        let side = board.to_move();
        board.play(mv)?;
        let Some(at) = i.checked_sub(sheet.opening).filter(|&at| at < sheet.logged.len()) else { continue };
        let before = sheet.logged[at];
        let end = board.outcome().map(Outcome::value);
        let after = end.or(sheet.logged.get(at + 1).copied()).unwrap_or(before);
        steps.push(Step { side, mv: mv.clone(), before, after, better: None });
    }
    Ok(steps)
}

fn searched(args: &Review, sheet: &Sheet) -> Result<Vec<Step>> {
    let game: &dyn AnyGame = sheet.instance.game()?;
    let mut player = players::open(&args.player, game, args.seed)?;
    let mut board = game.board(sheet.start.as_deref())?;
    let (stop, budget) = (stop_on_signals()?, args.budget.budget(SECONDS));
    let live = progress::is_live() && !args.json;
    let mut seen: Vec<(Side, f64, Option<String>)> = Vec::new();
    for i in 0..=sheet.moves.len() {
        if i >= sheet.opening {
            let side = board.to_move();
            match board.outcome() {
                Some(outcome) => seen.push((side, outcome.value(), None)),
                None => {
                    if live {
                        progress::redraw(&format!("position {i} of {}", sheet.moves.len()));
                    }
                    player.set(sheet.start.as_deref(), board.words())?;
                    let thought = player
                        .think(&budget, &stop, &mut |_| {})
                        .map_err(|fault| anyhow!("player '{}': {fault}", args.player))?;
                    let value = thought.proved.map_or(thought.value, Outcome::value);
                    seen.push((side, value, thought.best));
                }
            }
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if let Some(mv) = sheet.moves.get(i) {
            board.play(mv)?;
        }
    }
    if live {
        progress::erase();
    }
    let steps = seen.windows(2).enumerate().map(|(i, pair)| Step {
        side: pair[0].0,
        mv: sheet.moves[sheet.opening + i].clone(),
        before: pair[0].1,
        after: pair[1].1,
        better: pair[0].2.clone(),
    });
    Ok(steps.collect())
}

/// The value for the first side after every move: a column a move, more moves a column where there are too many.
fn graph(steps: &[Step], columns: usize) -> String {
    let each = steps.len().div_ceil(columns.max(1)).max(1);
    let means: Vec<f64> = steps
        .chunks(each)
        .map(|part| part.iter().map(|s| s.after).sum::<f64>() / part.len() as f64)
        .collect();
    let row_of = |value: f64| ((1.0 - value) * (GRAPH_ROWS - 1) as f64).round() as usize;
    let mut text = String::new();
    for row in 0..GRAPH_ROWS {
        let label = match row {
            0 => "100 %",
            r if r == GRAPH_ROWS / 2 => " 50 %",
            r if r == GRAPH_ROWS - 1 => "  0 %",
            _ => "     ",
        };
        let mark = |value: &f64| match (row_of(*value) == row, row == GRAPH_ROWS / 2) {
            (true, _) => '●',
            (false, true) => '·',
            _ => ' ',
        };
        let line: String = means.iter().map(mark).collect();
        let _ = writeln!(text, "{label} {}", line.trim_end());
    }
    text
}

fn text(sheet: &Sheet, steps: &[Step]) -> String {
    let mut text = format!("{}\n\nvalue for first, after each move\n", sheet.title);
    text += &graph(steps, progress::columns().min(100) - 8);
    let _ = writeln!(text, "\n{:>4}  {:6}  {:10}  {:>7}  {:>6}", "move", "side", "played", "value", "lost");
    let mut counts = [[0u32; 3]; 2];
    for (i, step) in steps.iter().enumerate() {
        let mut line = format!(
            "{:>4}  {:6}  {:10}  {:>5.1} %  {:>5.1}",
            sheet.opening + i + 1,
            name(step.side),
            step.mv,
            100.0 * step.side.view(step.after),
            100.0 * step.lost(),
        );
        if let Some((mark, word)) = step.mark() {
            line += &format!("  {mark:2} {word}");
            if let Some(better) = &step.better {
                line += &format!(": better {better}");
            }
            let kind = MARKS.iter().position(|(_, _, w)| *w == word).unwrap_or(0);
            counts[usize::from(step.side == Side::Second)][kind] += 1;
        }
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text);
    for (side, counts) in [Side::First, Side::Second].into_iter().zip(counts) {
        let words: Vec<String> = MARKS
            .iter()
            .zip(counts)
            .map(|((_, _, word), n)| match (n, *word) {
                (1, word) => format!("1 {word}"),
                (n, "inaccuracy") => format!("{n} inaccuracies"),
                (n, word) => format!("{n} {word}s"),
            })
            .collect();
        let own = steps.iter().filter(|step| step.side == side);
        let (lost, n) = own.fold((0.0, 0), |(lost, n), step| (lost + step.lost(), n + 1));
        let mean = 100.0 * lost / f64::from(n.max(1));
        let _ = writeln!(text, "{:6}  {}, {mean:.1} % lost a move", name(side), words.join(", "));
    }
    let _ = write!(text, "values are the view of who made the move");
    text
}

fn json(args: &Review, sheet: &Sheet, steps: &[Step]) -> Value {
    let steps = steps.iter().enumerate().map(|(i, step)| {
        json!({
            "move": step.mv,
            "number": sheet.opening + i + 1,
            "side": name(step.side),
            "before": rounded(step.before),
            "after": rounded(step.after),
            "lost": rounded(step.lost()),
            "mark": step.mark().map(|(_, word)| word),
            "better": step.better,
        })
    });
    json!({
        "instance": sheet.instance.name,
        "opening": sheet.opening,
        "moves": steps.collect::<Vec<_>>(),
        "player": (!args.logged).then_some(&args.player),
        "seconds_a_position": (!args.logged).then(|| args.budget.time.map(duration::show)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(side: Side, before: f64, after: f64, better: &str) -> Step {
        Step { side, mv: "a1".into(), before, after, better: Some(better.into()) }
    }

    #[test]
    fn what_is_lost_is_seen_by_who_lost_it() {
        let blunder = step(Side::Second, 0.4, 0.9, "b2");
        assert_eq!(((100.0 * blunder.lost()).round(), blunder.mark()), (50.0, Some(("??", "blunder"))));
        assert_eq!(step(Side::First, 0.4, 0.9, "b2").mark(), None);
        assert_eq!(step(Side::First, 0.6, 0.5, "b2").mark(), Some(("?!", "inaccuracy")));
        assert_eq!(step(Side::First, 0.9, 0.1, "a1").mark(), None, "it would have been played");
    }

    #[test]
    fn the_graph_has_a_column_a_move_and_fits() {
        let steps: Vec<Step> = (0..40).map(|i| step(Side::First, 0.5, f64::from(i) / 39.0, "b2")).collect();
        let wide = graph(&steps, 60);
        assert_eq!(wide.lines().count(), GRAPH_ROWS);
        assert_eq!(wide.matches('●').count(), 40);
        assert!(graph(&steps, 10).lines().all(|line| line.chars().count() <= 6 + 10));
    }
}
