//! An engine that speaks the Go Text Protocol, version 2, as a player of a game whose words are points (`b3`) or pairs
//! of them. Of the protocol this needs `protocol_version`, `list_commands`, `boardsize`, `clear_board`, `play`,
//! `genmove` and, where the engine knows it, `time_settings`. The first side is black. The protocol has no positions,
//! no limit by simulations, and no way to interrupt a thought.

use super::child::Child;
use super::{Deadline, Program, seconds};
use crate::words;
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, Fault, PlayError, Side, Thought};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a wait for a line lasts before `stop` is looked at again.
const SLICE: Duration = Duration::from_millis(10);

/// The player.
pub struct Gtp {
    program: Program,
    game: Box<dyn AnyGame>,
    /// The moves that were set.
    moves: Vec<String>,
    /// Columns are lettered without an i, as on a Go board.
    skips_i: bool,
    child: Option<Child>,
    /// What the engine has been told since `clear_board`; `None`: nothing yet.
    told: Option<Vec<String>>,
    knows: HashSet<String>,
}

impl Gtp {
    /// Starts the program, so that one that is not there is refused at once. It is greeted before its first move.
    pub fn new(program: Program, skips_i: bool, game: &dyn AnyGame) -> Result<Gtp, String> {
        let child = Some(Child::start(&program.command)?);
        let game = game.share();
        Ok(Gtp { program, game, moves: Vec::new(), skips_i, child, told: None, knows: HashSet::new() })
    }

    /// Sends a command and returns what the engine answers.
    fn command(&mut self, line: &str, deadline: Deadline, stop: &AtomicBool) -> Result<Answer, Fault> {
        let child = self.child.as_mut().expect("started before");
        child.say(line)?;
        let (mut deadline, mut stopped) = (Deadline { start: Instant::now(), ..deadline }, false);
        let mut answer: Option<Answer> = None;
        loop {
            if stop.load(Ordering::Relaxed) && !stopped {
                stopped = true;
                if deadline.limit.is_none() {
                    deadline = Deadline { start: Instant::now(), ..self.program.grace() };
                }
            }
            let Some(line) = child.hear(SLICE)? else {
                if deadline.is_over() {
                    return Err(Fault::Hung(deadline.seconds()));
                }
                continue;
            };
            if deadline.is_over() {
                return Err(Fault::Hung(deadline.seconds()));
            }
            // An answer begins with = or ? and ends with an empty line; lines before it are chatter.
            match &mut answer {
                None => match line.trim().split_at_checked(1) {
                    Some(("=", text)) => answer = Some(Ok(text.trim().to_string())),
                    Some(("?", text)) => answer = Some(Err(text.trim().to_string())),
                    _ => {}
                },
                Some(_) if line.trim().is_empty() => return Ok(answer.expect("begun")),
                Some(Ok(text) | Err(text)) => {
                    text.push('\n');
                    text.push_str(line.trim());
                }
            }
        }
    }

    /// Brings the engine to the position that was set. Returns the board there.
    fn ready(&mut self, stop: &AtomicBool) -> Result<Box<dyn AnyBoard>, Fault> {
        let grace = self.program.grace();
        let mut board = self.game.board(None).map_err(|error| Fault::Crashed(error.to_string()))?;
        if self.child.is_none() {
            self.child = Some(Child::start(&self.program.command).map_err(Fault::Crashed)?);
            (self.told, self.knows) = (None, HashSet::new());
        }
        self.child.as_mut().expect("just started").begin();
        if self.knows.is_empty() {
            expect("protocol_version", self.command("protocol_version", grace, stop)?)?;
            // An engine that cannot list them knows at least these.
            let known = self.command("list_commands", grace, stop)?.unwrap_or_default();
            self.knows = ["boardsize", "clear_board", "play", "genmove"].map(String::from).into();
            self.knows.extend(known.split_whitespace().map(str::to_string));
            for (name, value) in self.program.options.clone() {
                let line = format!("{name} {value}");
                expect(&line, self.command(line.trim(), grace, stop)?)?;
            }
        }
        let known = self.told.as_ref().is_some_and(|told| self.moves.starts_with(told));
        if !known {
            if let Some(size) = size(&board.legal()) {
                let line = format!("boardsize {size}");
                expect(&line, self.command(&line, grace, stop)?)?;
            }
            expect("clear_board", self.command("clear_board", grace, stop)?)?;
            self.told = Some(Vec::new());
        }
        for word in self.moves.clone() {
            let told = self.told.as_ref().expect("cleared").len();
            if board.words().len() >= told {
                let line = format!("play {} {}", colour(board.to_move()), self.write_vertex(&word));
                expect(&line, self.command(&line, grace, stop)?)?;
                self.told.as_mut().expect("cleared").push(word.clone());
            }
            board.play(&word).map_err(|error| Fault::Crashed(error.to_string()))?;
        }
        Ok(board)
    }

    fn ask(&mut self, budget: &Budget, stop: &AtomicBool) -> Result<Thought, Fault> {
        let begun = Instant::now();
        let board = self.ready(stop)?;
        if let Some(seconds) = seconds(budget).filter(|_| self.knows.contains("time_settings")) {
            // No main time, and so many seconds for each move.
            let line = format!("time_settings 0 {} 1", (seconds.ceil() as u64).max(1));
            expect(&line, self.command(&line, self.program.grace(), stop)?)?;
        }
        let line = format!("genmove {}", colour(board.to_move()));
        let answer = expect(&line, self.command(&line, self.program.deadline(budget), stop)?)?;
        let word = answer.split_whitespace().next().unwrap_or("");
        let legal = board.legal();
        let Some(found) = words::find(&self.read_vertex(word), &legal) else {
            if legal.is_empty() {
                return Ok(Thought { value: board.evaluate(), ..Thought::default() });
            }
            return Err(Fault::Nonsense(answer.chars().take(80).collect()));
        };
        // The engine has played it on its own board.
        self.told.as_mut().expect("cleared").push(found.to_string());
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Thought { best: Some(found.to_string()), value: 0.5, seconds, ..Thought::default() })
    }

    fn write_vertex(&self, word: &str) -> String {
        self.shift(&words::short(word), |c| if c >= 'i' { (c as u8 + 1) as char } else { c })
    }

    fn read_vertex(&self, word: &str) -> String {
        let word = word.to_ascii_lowercase();
        self.shift(&word, |c| if c > 'i' { (c as u8 - 1) as char } else { c })
    }

    /// The letters of columns, on boards that leave out the i.
    fn shift(&self, word: &str, letter: impl Fn(char) -> char) -> String {
        let points = word.chars().any(|c| c.is_ascii_digit());
        let of = |c: char| if self.skips_i && points && c.is_ascii_lowercase() { letter(c) } else { c };
        word.chars().map(of).collect()
    }
}

/// What follows `=`, or what follows `?`.
type Answer = Result<String, String>;

/// An engine that refuses what it has to understand is of no use.
fn expect(line: &str, answer: Answer) -> Result<String, Fault> {
    let cut = |text: &str| text.chars().take(80).collect::<String>();
    answer.map_err(|why| Fault::Crashed(format!("it answers '{}' with '? {}'", cut(line), cut(&why))))
}

fn colour(side: Side) -> &'static str {
    match side {
        Side::First => "b",
        Side::Second => "w",
    }
}

/// The size of the board, where all moves from the start are points: the highest row or column.
fn size(legal: &[String]) -> Option<u32> {
    let mut size = 0;
    for word in legal {
        let (letter, number) = word.split_at_checked(1)?;
        let column = letter.chars().next().filter(char::is_ascii_lowercase)?;
        let row: u32 = number.parse().ok()?;
        size = size.max(row).max(column as u32 - 'a' as u32 + 1);
    }
    (size > 0).then_some(size)
}

impl AnyPlayer for Gtp {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        if let Some(text) = start {
            let message = "GTP has no positions: give the moves that lead there".to_string();
            return Err(PlayError::Position { text: text.chars().take(200).collect(), message });
        }
        let mut board = self.game.board(None)?;
        for word in words {
            board.play(word)?;
        }
        self.moves = board.words().to_vec();
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        _tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        self.ask(budget, stop).inspect_err(|_| self.child = None)
    }

    fn reset(&mut self, _seed: u64) {
        self.told = None;
    }
}

impl Drop for Gtp {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_board_is_as_large_as_its_last_point() {
        let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(size(&words("a1 c2 b11")), Some(11));
        assert_eq!(size(&words("a1 k2")), Some(11));
        assert_eq!(size(&words("a1 pass")), None);
        assert_eq!(size(&words("a1-a2")), None);
        assert_eq!(size(&[]), None);
    }

    #[cfg(unix)]
    #[test]
    fn columns_may_leave_out_the_i() {
        let game = sortie_core::Boxed::new(sortie_core::toy::Nim { heap: 3 });
        let program = Program { command: vec!["/bin/cat".into()], timeout: None, options: vec![] };
        let plain = Gtp::new(program.clone(), false, &game).unwrap();
        assert_eq!((plain.write_vertex("i9"), plain.read_vertex("I9")), ("i9".into(), "i9".into()));
        let go = Gtp::new(program, true, &game).unwrap();
        assert_eq!((go.write_vertex("i9"), go.read_vertex("J9")), ("j9".into(), "i9".into()));
        assert_eq!((go.write_vertex("h9"), go.read_vertex("H9")), ("h9".into(), "h9".into()));
        assert_eq!(go.read_vertex("PASS"), "pass");
    }
}
