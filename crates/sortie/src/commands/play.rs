//! `sortie play`: a game in the terminal. It reads lines, so it works the same from a pipe. Nothing that is typed ends
//! the game but `quit`; whatever ends it, the moves are not lost.

use super::analyse::{ended, name};
use crate::Verdict;
use crate::args::{Play, Seats};
use crate::convert::position;
use crate::folder::write_whole;
use crate::output;
use crate::session::stop_on_signals;
use crate::source::{Instance, POSITION, RESULT, Source, UNFINISHED, plain};
use crate::{clock, duration, players, progress, thought, words};
use anyhow::{Context, Result, anyhow, bail};
use sortie_core::{AnyBoard, AnyPlayer, Budget, Record, Side, Thought};
use std::collections::VecDeque;
use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a move is thought about if nobody says.
const SECONDS: f64 = 2.0;
/// How often it is looked whether Ctrl-C was pressed.
const SLICE: Duration = Duration::from_millis(50);
/// How often it is said that the engine thinks.
const LIVE: Duration = Duration::from_millis(200);
/// Nobody types longer lines; the rest is dropped.
const LINE_BYTES_MAX: u64 = 4096;

const HELP: &str = "\
a move         as its word (b1-b3, or b1b3) or as its number in the list of `moves`
moves          the legal moves
hint           what the engine would play
Enter          while it thinks: move now (so does Ctrl-C)
undo           take back, up to your last move
swap           change sides
board          draw the board
save FILE      write the game so far as a record
load FILE      go on with a game that was saved
help           this
quit           end";

/// Runs the command.
pub fn run(args: &Play) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let game = instance.game()?;
    if args.position.as_deref() == Some("-") {
        bail!("--position -: moves are typed there: give the position as a text or a file");
    }
    let (start, board) = position::board(&instance, args.position.as_deref(), None)?;
    let seed = args.seed.unwrap_or_else(super::solve::draw_seed);
    let player = players::open(&args.player, game, seed)?;
    let mut table = Table {
        args,
        instance: &instance,
        start,
        board,
        player,
        seats: args.side,
        budget: args.budget.budget(SECONDS),
        stop: stop_on_signals()?,
        lines: read_lines(),
        typed: VecDeque::new(),
    };
    let played = table.play();
    // Also when the output is gone: the game is written first.
    table.leave()?;
    played
}

/// Lines of stdin from a thread of their own, so that Ctrl-C is noticed while nobody types.
fn read_lines() -> Receiver<String> {
    let (lines, receiver) = sync_channel(1);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        loop {
            let mut bytes = Vec::new();
            let read = std::io::Read::take(&mut stdin, LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
            match read {
                Ok(0) | Err(_) => return,
                Ok(n) if n as u64 == LINE_BYTES_MAX && bytes.last() != Some(&b'\n') => {
                    if stdin.skip_until(b'\n').is_err() {
                        return;
                    }
                }
                Ok(_) => {}
            }
            if lines.send(String::from_utf8_lossy(&bytes).trim().to_string()).is_err() {
                return;
            }
        }
    });
    receiver
}

struct Table<'a> {
    args: &'a Play,
    instance: &'a Instance,
    /// Where the game began.
    start: Option<String>,
    board: Box<dyn AnyBoard>,
    player: Box<dyn AnyPlayer>,
    seats: Seats,
    budget: Budget,
    stop: Arc<AtomicBool>,
    lines: Receiver<String>,
    /// What was typed while the engine thought.
    typed: VecDeque<String>,
}

/// The line that says that the engine thinks, on a terminal only.
struct Thinking {
    side: Side,
    begun: Instant,
    told: Instant,
    live: bool,
    drawn: bool,
}

impl Thinking {
    fn new(side: Side) -> Thinking {
        let (begun, live) = (Instant::now(), progress::is_live());
        Thinking { side, begun, told: begun, live, drawn: false }
    }

    fn tell(&mut self, thought: Option<&Thought>) {
        if !self.live || self.told.elapsed() < LIVE {
            return;
        }
        self.told = Instant::now();
        let mut text =
            format!("thinking {} (Enter: move now)", duration::show(self.begun.elapsed().as_secs_f64()));
        if let Some((thought, best)) = thought.and_then(|thought| Some((thought, thought.best.as_deref()?))) {
            text += &format!("  {best}  {:.1} %", 100.0 * self.side.view(thought.value));
        }
        progress::redraw(&text);
        self.drawn = true;
    }

    fn clear(&self) {
        if self.drawn {
            progress::erase();
        }
    }
}

impl Table<'_> {
    fn play(&mut self) -> Result<Verdict> {
        output::print(&format!("{}: `help` says what can be typed", self.instance.name))?;
        self.show()?;
        while !self.stop.load(Ordering::Relaxed) {
            if self.is_engines_turn() {
                self.engine_moves()?;
                continue;
            }
            let Some(line) = self.ask()? else { break };
            if line == "quit" || line == "exit" {
                break;
            }
            // What is wrong is said, and the game goes on; only an output that is gone ends it.
            match self.obey(&line) {
                Err(error) if error.is::<std::io::Error>() => return Err(error),
                Err(error) => output::print(&format!("{error:#}").replace('\n', " "))?,
                Ok(()) => {}
            }
        }
        Ok(Verdict::Done)
    }

    fn is_engines_turn(&self) -> bool {
        let side = self.board.to_move();
        self.board.outcome().is_none()
            && match self.seats {
                Seats::First => side == Side::Second,
                Seats::Second => side == Side::First,
                Seats::Both => false,
                Seats::None => true,
            }
    }

    /// The next line that is typed. None at the end of the input and after Ctrl-C. A game that has ended waits for
    /// `undo` or `quit`, unless nobody plays or nobody is there to type.
    fn ask(&mut self) -> Result<Option<String>> {
        if self.board.outcome().is_some() && self.seats == Seats::None {
            return Ok(None);
        }
        let mut stdout = std::io::stdout().lock();
        match self.board.outcome() {
            Some(_) => write!(stdout, "> ")?,
            None => write!(stdout, "{}> ", name(self.board.to_move()))?,
        }
        stdout.flush()?;
        let line = loop {
            if let Some(line) = self.typed.pop_front() {
                writeln!(stdout, "{line}")?;
                return Ok(Some(line));
            }
            match self.lines.recv_timeout(SLICE) {
                Ok(line) => break Some(line),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        // From a pipe the lines are not echoed: the transcript reads better with them.
        match &line {
            Some(line) if !std::io::stdin().is_terminal() => writeln!(stdout, "{line}")?,
            None => writeln!(stdout)?,
            _ => {}
        }
        Ok(line)
    }

    fn obey(&mut self, line: &str) -> Result<()> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match command {
            "" => Ok(()),
            "help" | "?" => output::print(HELP),
            "moves" => output::print(&numbered(&self.board.legal())),
            "board" => self.show(),
            "hint" => self.hint(),
            "undo" => self.undo(),
            "swap" => self.swap(),
            "save" => self.save(Path::new(rest.trim())),
            "load" => self.load(Path::new(rest.trim())),
            _ => {
                self.play_turn(line)?;
                self.show()
            }
        }
    }

    /// Plays what was typed: a move, or where a side has several in a row, as many of them (`i9k9`, `i9 k9`). All of it
    /// or nothing.
    fn play_turn(&mut self, typed: &str) -> Result<()> {
        let error = match self.resolve(typed) {
            Ok(word) => return Ok(self.board.play(&word)?),
            Err(error) => error,
        };
        let (side, before) = (self.board.to_move(), self.board.words().len());
        for word in words::split(typed) {
            let resolved = self.resolve(word).ok().filter(|_| self.board.to_move() == side);
            let played = resolved.is_some_and(|word| self.board.play(&word).is_ok());
            if !played {
                while self.board.words().len() > before && self.board.undo() {}
                return Err(error);
            }
        }
        Ok(())
    }

    /// The legal move that was meant: its word, in any spelling, or its number in the list.
    fn resolve(&mut self, typed: &str) -> Result<String> {
        let legal = self.board.legal();
        if legal.is_empty() {
            bail!("the game is over: `undo`, `save FILE` or `quit`");
        }
        // The rules may know other spellings.
        if self.board.play(typed).is_ok() {
            let word = self.board.words().last().cloned();
            self.board.undo();
            return word.context("a move was played");
        }
        if let Some(word) = words::find(typed, &legal) {
            return Ok(word.to_string());
        }
        let number = typed.trim_start_matches('#').parse::<usize>().ok();
        if let Some(word) = number.and_then(|n| legal.get(n.checked_sub(1)?)) {
            return Ok(word.clone());
        }
        let typed: String = typed.chars().filter(|c| !c.is_control()).take(40).collect();
        let near: Vec<&str> =
            legal.iter().map(String::as_str).filter(|word| word.starts_with(&typed)).take(8).collect();
        match (near.is_empty(), sortie_core::parts::nearest(&typed, legal.iter().map(String::as_str))) {
            (false, _) => bail!("'{typed}' is not a legal move: did you mean {}?", near.join(" or ")),
            (true, Some(near)) => bail!("'{typed}' is not a legal move: did you mean {near}?"),
            (true, None) => {
                bail!("'{typed}' is not a legal move: `moves` lists them, `help` says what else there is")
            }
        }
    }

    fn show(&self) -> Result<()> {
        let mut text = format!("\n{}\n", crate::paint::board(self.board.show().trim_end()));
        if let Some(outcome) = self.board.outcome() {
            text += &format!("\n{} after {} moves", ended(outcome), self.board.words().len());
        }
        output::print(&text)
    }

    fn engine_moves(&mut self) -> Result<()> {
        let side = self.board.to_move();
        let thought = match self.think() {
            Ok(thought) => thought,
            Err(error) => {
                // The engine is out of the game; whoever sits here can go on alone.
                output::print(&format!("{error:#}; you play both sides now, `swap` tries it again"))?;
                if self.seats == Seats::None {
                    return Err(error);
                }
                self.seats = Seats::Both;
                return Ok(());
            }
        };
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let best = thought.best.clone().context("the engine has no move, and there are legal ones")?;
        self.board.play(&best)?;
        output::print(&format!("{} plays {best}: {}", name(side), thought::sentence(&thought, side)))?;
        self.show()
    }

    /// The engine thinks on a thread of its own, so that Ctrl-C, or Enter where somebody types, makes it move at once
    /// with what it has; the game goes on.
    fn think(&mut self) -> Result<Thought> {
        self.player.set(self.start.as_deref(), self.board.words())?;
        let now = AtomicBool::new(false);
        let (side, news) = (self.board.to_move(), Mutex::new(None));
        let Table { player, budget, stop, lines, typed, seats, .. } = self;
        let mut told = Thinking::new(side);
        let terminal = std::io::stdin().is_terminal();
        let somebody = terminal && *seats != Seats::None;
        let thought = std::thread::scope(|scope| {
            let thinking = scope.spawn(|| {
                player.think(budget, &now, &mut |thought| {
                    *news.lock().unwrap_or_else(PoisonError::into_inner) = Some(thought.clone());
                })
            });
            while !thinking.is_finished() {
                // Where lines come from a pipe they are moves, and wait their turn.
                if terminal {
                    match lines.recv_timeout(SLICE) {
                        Ok(line) if line.is_empty() => now.store(true, Ordering::Relaxed),
                        Ok(line) => typed.push_back(line),
                        Err(RecvTimeoutError::Disconnected) => std::thread::sleep(SLICE),
                        Err(RecvTimeoutError::Timeout) => {}
                    }
                } else {
                    std::thread::park_timeout(Duration::from_millis(5));
                }
                if stop.load(Ordering::Relaxed) {
                    now.store(true, Ordering::Relaxed);
                    // Where somebody plays it is a wish for a move, and only the next one, at the prompt, for the end.
                    if somebody {
                        stop.store(false, Ordering::Relaxed);
                    }
                }
                told.tell(news.lock().unwrap_or_else(PoisonError::into_inner).as_ref());
            }
            thinking.join().expect("the player does not panic")
        });
        told.clear();
        thought.map_err(|fault| anyhow!("player '{}': {fault}", self.args.player))
    }

    fn hint(&mut self) -> Result<()> {
        if self.board.outcome().is_some() {
            bail!("the game is over: `undo`, `save FILE` or `quit`");
        }
        let side = self.board.to_move();
        let thought = self.think()?;
        let best = thought.best.as_deref().unwrap_or("nothing");
        output::print(&format!("it would play {best}: {}", thought::sentence(&thought, side)))?;
        if thought.lines.len() > 1 {
            output::print(&thought::table(&thought, side, 5))?;
        }
        Ok(())
    }

    /// Takes back until somebody who types is to move.
    fn undo(&mut self) -> Result<()> {
        if !self.board.undo() {
            bail!("there is no move to take back");
        }
        while self.is_engines_turn() && self.board.undo() {}
        self.show()
    }

    fn swap(&mut self) -> Result<()> {
        self.seats = match self.board.to_move() {
            Side::First => Seats::Second,
            Side::Second => Seats::First,
        };
        output::print(&format!(
            "you play {} now",
            if self.seats == Seats::First { "first" } else { "second" }
        ))
    }

    fn record(&self) -> Record {
        let outcome = self.board.outcome();
        let mut fields = Vec::new();
        if let Some(start) = &self.start {
            fields.push((POSITION.to_string(), start.clone()));
        }
        fields.push((RESULT.into(), outcome.map_or(UNFINISHED, ended).into()));
        let who = |side| match (self.seats, side) {
            (Seats::Both, _) | (Seats::First, Side::First) | (Seats::Second, Side::Second) => {
                "a person".into()
            }
            _ => self.args.player.clone(),
        };
        fields.push(("first".into(), who(Side::First)));
        fields.push(("second".into(), who(Side::Second)));
        fields.push(("played".into(), clock::now()));
        Record {
            instance: self.instance.name.clone(),
            score: outcome.map_or(0.5, |outcome| outcome.value()),
            fields,
            moves: self.board.words().to_vec(),
        }
    }

    fn save(&self, path: &Path) -> Result<()> {
        if path.as_os_str().is_empty() {
            bail!("save where? expected save FILE");
        }
        write_whole(path, self.record().to_text().as_bytes())
            .map_err(|error| anyhow!("cannot write {} ({})", path.display(), plain(&error)))?;
        output::print(&format!("saved {}", path.display()))
    }

    fn load(&mut self, path: &Path) -> Result<()> {
        if path.as_os_str().is_empty() {
            bail!("load what? expected load FILE");
        }
        let record = Source::read(path)?.record;
        if record.instance != self.instance.name {
            bail!("{}: a game of {}, and this is {}", path.display(), record.instance, self.instance.name);
        }
        let start = record.field(POSITION).map(str::to_string);
        let mut board = self.instance.game()?.board(start.as_deref())?;
        record.moves.iter().try_for_each(|word| board.play(word))?;
        (self.start, self.board) = (start, board);
        self.show()
    }

    /// The moves are kept, or at least printed.
    fn leave(&self) -> Result<()> {
        if let Some(path) = &self.args.save {
            return self.save(path);
        }
        match self.board.words() {
            [] => Ok(()),
            words => output::print(&format!("moves: {}", words.join(" "))),
        }
    }
}

/// Words in columns, each with its number.
fn numbered(words: &[String]) -> String {
    const WIDTH: usize = 80;
    let cells: Vec<String> = words.iter().zip(1..).map(|(word, n)| format!("{n:3} {word}")).collect();
    let width = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0) + 2;
    let columns = (WIDTH / width).max(1);
    let rows = cells.chunks(columns).map(|row| {
        let row: String = row.iter().map(|cell| format!("{cell:width$}")).collect();
        row.trim_end().to_string()
    });
    rows.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_listed_in_columns() {
        let words: Vec<String> = (0..12).map(|i| format!("b1-b{i}")).collect();
        let text = numbered(&words);
        assert_eq!(text.lines().count(), 2);
        assert!(text.starts_with("  1 b1-b0     2 b1-b1"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80));
        assert_eq!(numbered(&[]), "");
    }
}
