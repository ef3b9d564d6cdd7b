//! An engine that speaks the Go Text Protocol, version 2, as a player of a game whose words are points (`b3`) or pairs
//! of them. Of the protocol this needs `protocol_version`, `list_commands`, `boardsize`, `clear_board`, `play`,
//! `genmove` and, where the engine knows it, `time_settings`. The first side is black. The protocol has no positions,
//! no limit by simulations, and no way to interrupt a thought.
//!
//! A worker for job trees leaves moves out by `restricted_genmove` (GNU Go), which names those that remain, or by `avoid`
//! in `kata-search_analyze`, `kata-genmove_analyze` or `lz-genmove_analyze` (KataGo, Leela Zero).

use super::child::Child;
use super::{Deadline, Look, Place, Program, SLICE, Seen, Speaker, seconds};
use crate::words;
use sortie_core::exact::Asked;
use sortie_core::play::Fault;
use sortie_core::{AnyGame, AnyPlayer, Budget, PlayError, Side, Thought};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The conversation.
struct Talk {
    program: Program,
    /// Columns are lettered without an i, as on a Go board.
    skips_i: bool,
    child: Option<Child>,
    /// What the engine has been told since `clear_board`; `None`: nothing yet.
    told: Option<Vec<(Side, String)>>,
    knows: HashSet<String>,
    name: String,
}

impl Talk {
    fn start(program: Program, skips_i: bool) -> Result<Talk, String> {
        let child = Some(Child::start(&program.command)?);
        Ok(Talk { program, skips_i, child, told: None, knows: HashSet::new(), name: String::new() })
    }

    /// Sends a command and returns what the engine answers.
    fn command(&mut self, line: &str, deadline: Deadline, stop: &dyn Fn() -> bool) -> Result<Answer, Fault> {
        let child = self.child.as_mut().expect("started before");
        child.say(line)?;
        let (mut deadline, mut stopped) = (Deadline { start: Instant::now(), ..deadline }, false);
        let mut answer: Option<Answer> = None;
        loop {
            if !stopped && stop() {
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

    /// The same for a command that must not fail, and that takes no time.
    fn must(&mut self, line: &str) -> Result<String, Fault> {
        let grace = self.program.grace();
        expect(line, self.command(line, grace, &|| false)?)
    }

    /// Starts the engine if it is not there, and greets it.
    fn greet(&mut self) -> Result<(), Fault> {
        if self.child.is_none() {
            self.child = Some(Child::start(&self.program.command).map_err(Fault::Crashed)?);
            (self.told, self.knows) = (None, HashSet::new());
        }
        self.child.as_mut().expect("just started").begin();
        if self.knows.is_empty() {
            self.must("protocol_version")?;
            // An engine that cannot list them knows at least these.
            let grace = self.program.grace();
            let known = self.command("list_commands", grace, &|| false)?.unwrap_or_default();
            self.knows = ["boardsize", "clear_board", "play", "genmove"].map(String::from).into();
            self.knows.extend(known.split_whitespace().map(str::to_string));
            if self.knows.contains("name") {
                let name = self.must("name")?;
                self.name = name.chars().filter(|c| !c.is_control()).take(80).collect();
            }
            for (name, value) in self.program.options.clone() {
                self.must(format!("{name} {value}").trim())?;
            }
        }
        Ok(())
    }

    /// Brings the engine to a position.
    fn place(&mut self, size: Option<u32>, moves: &[(Side, String)]) -> Result<(), Fault> {
        self.greet()?;
        let known = self.told.as_ref().is_some_and(|told| moves.starts_with(told));
        if !known {
            if let Some(size) = size {
                self.must(&format!("boardsize {size}"))?;
            }
            self.must("clear_board")?;
            self.told = Some(Vec::new());
        }
        let told = self.told.as_ref().expect("cleared").len();
        for (side, word) in &moves[told..] {
            self.must(&format!("play {} {}", colour(*side), self.write_vertex(word)))?;
            self.told.as_mut().expect("cleared").push((*side, word.clone()));
        }
        Ok(())
    }

    fn limit_time(&mut self, budget: &Budget) -> Result<(), Fault> {
        if let Some(seconds) = seconds(budget).filter(|_| self.knows.contains("time_settings")) {
            // No main time, and so many seconds for each move.
            self.must(&format!("time_settings 0 {} 1", (seconds.ceil() as u64).max(1)))?;
        }
        Ok(())
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

impl Drop for Talk {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.leave();
        }
    }
}

/// The player.
pub struct Gtp {
    talk: Talk,
    game: Box<dyn AnyGame>,
    /// The moves that were set.
    moves: Vec<String>,
}

impl Gtp {
    /// Starts the program, so that one that is not there is refused at once. It is greeted before its first move.
    pub fn new(program: Program, skips_i: bool, game: &dyn AnyGame) -> Result<Gtp, String> {
        let talk = Talk::start(program, skips_i)?;
        Ok(Gtp { talk, game: game.share(), moves: Vec::new() })
    }

    fn ask(&mut self, budget: &Budget, stop: &AtomicBool) -> Result<Thought, Fault> {
        let begun = Instant::now();
        let place = Place::of(&*self.game, None, &self.moves);
        let place = place.map_err(|error| Fault::Crashed(error.to_string()))?;
        self.talk.place(place.size, &place.moves)?;
        self.talk.limit_time(budget)?;
        let line = format!("genmove {}", colour(place.to_move));
        let deadline = self.talk.program.deadline(budget);
        let stop = || stop.load(Ordering::Relaxed);
        let answer = expect(&line, self.talk.command(&line, deadline, &stop)?)?;
        let word = answer.split_whitespace().next().unwrap_or("");
        let Some(found) = place.find(&self.talk.read_vertex(word)) else {
            if place.legal.is_empty() {
                let mut board = self.game.board(None).map_err(|e| Fault::Crashed(e.to_string()))?;
                let played = self.moves.iter().all(|word| board.play(word).is_ok());
                let value = if played { board.evaluate() } else { 0.5 };
                return Ok(Thought { value, ..Thought::default() });
            }
            return Err(Fault::Nonsense(answer.chars().take(80).collect()));
        };
        // The engine has played it on its own board.
        self.talk.told.as_mut().expect("cleared").push((place.to_move, found.clone()));
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Thought { best: Some(found), value: 0.5, seconds, ..Thought::default() })
    }
}

/// The worker.
pub struct GtpSpeaker(Talk);

/// How an engine is told to leave moves out, the best way first. The words are those after which it says `play MOVE`;
/// `true`: it also plays the move on its own board.
const WAYS: [(&str, bool); 4] = [
    ("restricted_genmove", false),
    ("kata-search_analyze", false),
    ("kata-genmove_analyze", true),
    ("lz-genmove_analyze", true),
];

impl GtpSpeaker {
    /// Starts the program, so that one that is not there is refused at once.
    pub fn new(program: Program, skips_i: bool) -> Result<GtpSpeaker, String> {
        Talk::start(program, skips_i).map(GtpSpeaker)
    }

    fn best_way(&self) -> Option<(&'static str, bool)> {
        WAYS.into_iter().find(|(command, _)| self.0.knows.contains(*command))
    }

    fn all_moves(&mut self, place: &Place) -> Result<Option<Vec<String>>, Fault> {
        self.0.place(place.size, &place.moves)?;
        if !self.0.knows.contains("all_legal") {
            return Ok(None);
        }
        let text = self.0.must(&format!("all_legal {}", colour(place.to_move)))?;
        Ok(Some(text.split_whitespace().map(str::to_ascii_lowercase).collect()))
    }

    fn ask(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        let place = look.place;
        self.0.place(place.size, &place.moves)?;
        self.0.limit_time(&look.budget())?;
        let side = colour(place.to_move);
        let (line, plays) = if look.exclude.is_empty() {
            match self.0.knows.contains("reg_genmove") {
                true => (format!("reg_genmove {side}"), false),
                false => (format!("genmove {side}"), true),
            }
        } else {
            let Some((command, plays)) = self.best_way() else {
                let names = WAYS.map(|(command, _)| command).join(", ");
                return Err(Fault::Crashed(format!("it knows no command that leaves moves out: {names}")));
            };
            let write = |word: &String| self.0.write_vertex(word);
            let line = if command == "restricted_genmove" {
                let allowed: Vec<String> = look.allowed().map(write).collect();
                format!("{command} {side} {}", allowed.join(" "))
            } else {
                let avoided: Vec<String> = look.exclude.iter().map(write).collect();
                format!("{command} {side} 100 avoid {side} {} 1", avoided.join(","))
            };
            (line, plays)
        };
        let deadline = self.0.program.deadline(&look.budget());
        let stop = || asked.stop.load(Ordering::Relaxed);
        let answer = expect(&line, self.0.command(&line, deadline, &stop)?)?;
        if plays {
            // Where it stands now nobody knows: the next position is told from the start.
            self.0.told = None;
        }
        if asked.over() {
            return Ok(None);
        }
        let (best, mut value, nodes) = read_answer(&answer);
        let best = self.0.read_vertex(&best);
        if value.is_none() && !plays {
            value = self.estimate(place, &best)?;
        }
        Ok(Some(Seen { best, value, sure: false, nodes }))
    }

    /// What GNU Go thinks of the position after a move, in points, as a chance.
    fn estimate(&mut self, place: &Place, best: &str) -> Result<Option<f64>, Fault> {
        if !["estimate_score", "undo"].iter().all(|command| self.0.knows.contains(*command)) {
            return Ok(None);
        }
        let grace = self.0.program.grace();
        let line = format!("play {} {}", colour(place.to_move), self.0.write_vertex(best));
        // What cannot be played is found out elsewhere.
        if self.0.command(&line, grace, &|| false)?.is_err() {
            return Ok(None);
        }
        let score = self.0.must("estimate_score")?;
        self.0.must("undo")?;
        Ok(points(&score).map(|points| place.to_move.view(chance(points))))
    }
}

/// The move of an answer, and what the lines of an analysis say of it: the value for the side to move, and the visits.
fn read_answer(answer: &str) -> (String, Option<f64>, u64) {
    let last = answer.lines().rev().find_map(|line| line.strip_prefix("play "));
    let first = answer.split_whitespace().next().unwrap_or("");
    let best = last.map_or(first, str::trim).to_string();
    let (mut value, mut visits) = (None, 0);
    // One line may hold many moves: `info move D4 visits 10 winrate 0.5 ... info move Q16 ...`.
    for info in answer.split("info ").skip(1) {
        let tokens: Vec<&str> = info.split_whitespace().collect();
        let field = |name: &str| tokens.iter().position(|t| *t == name).and_then(|at| tokens.get(at + 1));
        if field("move").is_some_and(|word| word.eq_ignore_ascii_case(&best)) {
            let rate = field("winrate").and_then(|n| n.parse::<f64>().ok());
            // Leela Zero counts in ten thousandths.
            value = rate.map(|n| if n > 1.0 { n / 10_000.0 } else { n }).filter(|n| (0.0..=1.0).contains(n));
            visits = field("visits").and_then(|n| n.parse().ok()).unwrap_or(0);
        }
    }
    (best, value, visits)
}

/// `B+3.5 (upper bound: ...)`, for black.
fn points(score: &str) -> Option<f64> {
    let word = score.split_whitespace().next()?;
    let (sign, number) = match word.split_once('+')? {
        ("B", number) => (1.0, number),
        ("W", number) => (-1.0, number),
        _ => return None,
    };
    number.parse::<f64>().ok().filter(|n| n.is_finite()).map(|n| sign * n)
}

/// Points on the board as a chance to win: ten are nine to one.
fn chance(points: f64) -> f64 {
    1.0 / (1.0 + 9f64.powf(-points / 10.0))
}

impl Speaker for GtpSpeaker {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn protocol(&self) -> &'static str {
        "gtp"
    }

    fn way(&self) -> String {
        self.best_way().map_or("none".into(), |(command, _)| command.into())
    }

    fn legal(&mut self, place: &Place) -> Result<Option<Vec<String>>, Fault> {
        self.all_moves(place).inspect_err(|_| self.0.child = None)
    }

    fn look(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        self.ask(look, asked).inspect_err(|_| self.0.child = None)
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
        self.ask(budget, stop).inspect_err(|_| self.talk.child = None)
    }

    fn reset(&mut self, _seed: u64) {
        self.talk.told = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn columns_may_leave_out_the_i() {
        let program =
            Program { command: vec!["/bin/cat".into()], timeout: None, time: None, options: vec![] };
        let plain = Talk::start(program.clone(), false).unwrap();
        assert_eq!((plain.write_vertex("i9"), plain.read_vertex("I9")), ("i9".into(), "i9".into()));
        let go = Talk::start(program, true).unwrap();
        assert_eq!((go.write_vertex("i9"), go.read_vertex("J9")), ("j9".into(), "i9".into()));
        assert_eq!((go.write_vertex("h9"), go.read_vertex("H9")), ("h9".into(), "h9".into()));
        assert_eq!(go.read_vertex("PASS"), "pass");
    }

    #[test]
    fn analyses_and_scores_are_understood() {
        assert_eq!(read_answer("D4"), ("D4".into(), None, 0));
        let text = "\ninfo move Q16 visits 3 winrate 0.4 info move d4 visits 12 winrate 0.61 pv d4\nplay D4";
        assert_eq!(read_answer(text), ("D4".into(), Some(0.61), 12));
        assert_eq!(read_answer("info move D4 visits 5 winrate 6100\nplay D4").1, Some(0.61));
        assert_eq!(read_answer("").0, "");
        assert_eq!(points("W+3.5 (upper bound: 1, lower: 2)"), Some(-3.5));
        assert_eq!((points("B+10"), points("0"), points("B+x"), points("")), (Some(10.0), None, None, None));
        assert!((chance(10.0) - 0.9).abs() < 1e-12 && (chance(0.0) - 0.5).abs() < 1e-12);
    }
}
