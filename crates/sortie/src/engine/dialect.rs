//! Engines with words of their own: a table in a file says which (docs/engines.md). The engine is told the whole game turn
//! by turn and asked for the next one; a turn may have several stones in one answer, which are played one after the other.

use super::child::Child;
use super::{Look, Place, Program, SLICE, Seen, Speaker, count, seconds};
use crate::source::read_text;
use serde::Deserialize;
use sortie_core::Side;
use sortie_core::exact::Asked;
use sortie_core::play::Fault;
use std::path::Path;
use std::sync::atomic::Ordering;

/// No table is larger than this.
const BYTES_MAX: u64 = 64 << 10;
/// Where the moves of a turn stand in a line.
const POINTS: &str = "{points}";

/// The words of an engine.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// What it is called.
    #[serde(default)]
    name: String,
    /// Said once, after it has started.
    #[serde(default)]
    greeting: Vec<String>,
    /// Said before every game that it is told.
    new: Vec<String>,
    /// A turn of each side.
    first: String,
    second: String,
    /// Limits, where there are any: `{ms}`, `{seconds}`, `{nodes}`.
    #[serde(default)]
    time: Option<String>,
    #[serde(default)]
    nodes: Option<String>,
    /// Asks for the turn of the side to move.
    ask: Vec<String>,
    /// The line with its answer; others are passed over.
    answer: String,
    /// How moves are written.
    #[serde(default)]
    points: Points,
    /// Capital letters.
    #[serde(default)]
    capitals: bool,
    /// No letter i, as on Go boards.
    #[serde(default)]
    skip_i: bool,
    /// Moves of a turn at most.
    #[serde(default = "one")]
    stones: usize,
}

fn one() -> usize {
    1
}

/// How moves are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Points {
    /// As we do, between blanks.
    #[default]
    Words,
    /// `j10`, one after the other.
    LetterNumber,
    /// `jj`, one after the other.
    Letters,
}

impl Words {
    /// Reads a table.
    pub fn read(path: &Path) -> Result<Words, String> {
        let at = |message: String| format!("{}: {message}", path.display());
        let text = read_text(path, BYTES_MAX).map_err(at)?;
        let words: Words = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            format!("{}:{line}: {}", path.display(), error.message())
        })?;
        for line in [&words.first, &words.second, &words.answer] {
            if line.matches(POINTS).count() != 1 {
                return Err(at(format!("'{line}': expected {POINTS} once")));
            }
        }
        if words.ask.is_empty() || !(1..=16).contains(&words.stones) {
            return Err(at("expected something in 'ask', and 'stones' from 1 to 16".into()));
        }
        Ok(words)
    }

    fn letter(&self, number: u32) -> char {
        let number = number + u32::from(self.skip_i && number >= 8);
        let letter = char::from(b'a' + number.min(25) as u8);
        if self.capitals { letter.to_ascii_uppercase() } else { letter }
    }

    fn number(&self, letter: char) -> Option<u32> {
        let number =
            u32::from(letter.to_ascii_lowercase()).checked_sub(u32::from('a')).filter(|n| *n < 26)?;
        match self.skip_i {
            true if number == 8 => None,
            true if number > 8 => Some(number - 1),
            _ => Some(number),
        }
    }

    /// One of our moves as the engine writes it.
    fn write(&self, word: &str) -> Option<String> {
        if self.points == Points::Words {
            return Some(word.into());
        }
        let (column, row) = (word.chars().next()?, word.get(1..)?.parse::<u32>().ok()?);
        let column = u32::from(column).checked_sub(u32::from('a')).filter(|n| *n < 25)?;
        match self.points {
            Points::Letters if !(1..=25).contains(&row) => None,
            Points::Letters => Some(format!("{}{}", self.letter(column), self.letter(row - 1))),
            _ => Some(format!("{}{row}", self.letter(column))),
        }
    }

    fn turn(&self, side: Side, words: &[String]) -> Option<String> {
        let written: Vec<String> = words.iter().map(|word| self.write(word)).collect::<Option<_>>()?;
        let pattern = if side == Side::First { &self.first } else { &self.second };
        Some(pattern.replace(POINTS, &written.join(if self.points == Points::Words { " " } else { "" })))
    }

    /// The moves of a line, in our words; `None` if it is not the answer, an error if it is one and makes no sense.
    fn answer(&self, line: &str) -> Option<Result<Vec<String>, Fault>> {
        let (before, after) = self.answer.split_once(POINTS).expect("looked at when it was read");
        let line = line.trim();
        let nonsense = || Fault::Nonsense(line.chars().filter(|c| !c.is_control()).take(40).collect());
        // An answer without its points is none that could be waited for.
        if !line.is_empty() && line.eq_ignore_ascii_case(before.trim_end()) {
            return Some(Err(nonsense()));
        }
        let (begin, rest) = line.split_at_checked(before.len())?;
        let rest = rest.strip_suffix(after).filter(|_| begin.eq_ignore_ascii_case(before))?;
        let points = self.points(rest).ok_or_else(nonsense);
        Some(points.and_then(|points| match (1..=self.stones).contains(&points.len()) {
            true => Ok(points),
            false => Err(nonsense()),
        }))
    }

    fn points(&self, text: &str) -> Option<Vec<String>> {
        if self.points == Points::Words {
            return Some(text.split_whitespace().map(String::from).collect());
        }
        let mut points: Vec<String> = Vec::new();
        let mut chars = text.chars().filter(|c| !c.is_whitespace() && *c != ',').peekable();
        while let Some(letter) = chars.next() {
            let column = char::from(b'a' + self.number(letter)? as u8);
            let row = match self.points {
                Points::Letters => self.number(chars.next()?)? + 1,
                _ => {
                    let mut row = chars.next()?.to_digit(10)?;
                    while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)).filter(|_| row < 100) {
                        row = 10 * row + digit;
                        chars.next();
                    }
                    row
                }
            };
            let point = format!("{column}{row}");
            // Where a turn has one stone, some engines write it twice.
            if points.last() != Some(&point) {
                points.push(point);
            }
        }
        Some(points)
    }
}

/// An engine with words of its own.
pub struct Dialect {
    program: Program,
    words: Words,
    child: Option<Child>,
    greeted: bool,
    /// Moves of an answer that are still to be played: after these moves, these.
    rest: (Vec<String>, Vec<String>),
}

impl Dialect {
    /// Starts the program, so that one that is not there is refused at once.
    pub fn new(program: Program, words: Words) -> Result<Dialect, String> {
        let child = Some(Child::start(&program.command)?);
        Ok(Dialect { program, words, child, greeted: false, rest: Default::default() })
    }

    /// What it is told of the game, line by line.
    fn story(&self, place: &Place) -> Result<Vec<String>, Fault> {
        let refuse = |what: &str| Fault::Crashed(format!("it cannot be asked: {what}"));
        if place.start.is_some() {
            return Err(refuse("it knows no positions but by the moves that lead there"));
        }
        let mut lines = self.words.new.clone();
        let turns = place.moves.chunk_by(|a, b| a.0 == b.0);
        for turn in turns {
            let side = turn[0].0;
            let words: Vec<String> = turn.iter().map(|(_, word)| word.clone()).collect();
            let line = self.words.turn(side, &words);
            lines.push(
                line.ok_or_else(|| refuse("its moves are points of a board, and this game's are not"))?,
            );
        }
        if self.words.stones > 1 && place.moves.last().is_some_and(|(side, _)| *side == place.to_move) {
            return Err(refuse("a turn is half played; openings must end with one (--plies)"));
        }
        Ok(lines)
    }

    fn ask(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        if !look.exclude.is_empty() {
            return Err(Fault::Crashed("it has no words for moves that are to be left out".into()));
        }
        let before: Vec<String> = look.place.words().cloned().collect();
        if self.rest.0 == before && !self.rest.1.is_empty() {
            let best = self.rest.1.remove(0);
            self.rest.0.push(best.clone());
            return Ok(Some(Seen { best, ..Seen::default() }));
        }
        let mut lines = self.story(look.place)?;
        let budget = look.budget();
        if let (Some(pattern), Some(seconds)) = (&self.words.time, seconds(&budget)) {
            let ms = ((seconds * 1000.0) as u64).max(1);
            lines.push(pattern.replace("{ms}", &ms.to_string()).replace("{seconds}", &format!("{seconds}")));
        }
        if let (Some(pattern), Some(nodes)) = (&self.words.nodes, count(&budget)) {
            lines.push(pattern.replace("{nodes}", &nodes.to_string()));
        }
        if self.child.is_none() {
            self.child = Some(Child::start(&self.program.command).map_err(Fault::Crashed)?);
            self.greeted = false;
        }
        let child = self.child.as_mut().expect("just started");
        child.begin();
        let greeting = self.words.greeting.iter().filter(|_| !self.greeted);
        let all: Vec<&str> = greeting.chain(&lines).chain(&self.words.ask).map(String::as_str).collect();
        self.greeted = true;
        // One message: only so many may wait to be read.
        child.say(&all.join("\n"))?;
        let deadline = self.program.deadline(&budget);
        loop {
            if asked.stop.load(Ordering::Relaxed) {
                // Its answer would be taken for one to the next question.
                self.child = None;
                return Ok(None);
            }
            if deadline.is_over() {
                return Err(Fault::Hung(deadline.seconds()));
            }
            let Some(line) = child.hear(SLICE)? else { continue };
            let Some(points) = self.words.answer(&line) else { continue };
            let mut points = points?;
            let best = points.remove(0);
            let mut after = before;
            after.push(best.clone());
            self.rest = (after, points);
            return Ok(if asked.over() { None } else { Some(Seen { best, ..Seen::default() }) });
        }
    }
}

impl Speaker for Dialect {
    fn name(&self) -> String {
        self.words.name.clone()
    }

    fn protocol(&self) -> &'static str {
        "text"
    }

    fn way(&self) -> String {
        "none".into()
    }

    fn legal(&mut self, _: &Place) -> Result<Option<Vec<String>>, Fault> {
        Ok(None)
    }

    fn look(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        self.ask(look, asked).inspect_err(|_| (self.child, self.rest) = (None, Default::default()))
    }

    fn cpu_seconds(&self) -> Option<f64> {
        self.child.as_ref()?.cpu_seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Boxed;
    use sortie_domains::Connect6;

    fn words(more: &str) -> Words {
        let text = format!(
            "new = ['new']\nfirst = 'black {{points}}'\nsecond = 'white {{points}}'\nask = ['next']\nanswer = 'move {{points}}'\n{more}"
        );
        toml::from_str(&text).expect("a table")
    }

    #[test]
    fn turns_are_told_and_answers_understood_in_the_words_of_the_engine() {
        let letters = words("points = 'letters'\ncapitals = true\nstones = 2");
        assert_eq!(letters.write("j10"), Some("JJ".into()));
        let ours = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        assert_eq!(letters.turn(Side::Second, &ours("j11 k10")), Some("white JKKJ".into()));
        assert_eq!(letters.answer("Move JKKJ"), Some(Ok(ours("j11 k10"))));
        assert_eq!(letters.answer("move JJJJ"), Some(Ok(ours("j10"))), "one stone, written twice");
        assert_eq!(letters.answer("thinking about JK"), None);
        for wrong in ["move ", "move J", "move JKKJAA", "move J1"] {
            assert!(matches!(letters.answer(wrong), Some(Err(Fault::Nonsense(_)))), "{wrong}");
        }
        let go = words("points = 'letter-number'\nskip_i = true\nstones = 2");
        assert_eq!(go.write("i9"), Some("j9".into()));
        assert_eq!(go.answer("move j9k10"), Some(Ok(ours("i9 j10"))));
        assert!(matches!(go.answer("move i9"), Some(Err(_))), "there is no i");
        let plain = words("");
        assert_eq!(plain.answer("move b1-b3"), Some(Ok(ours("b1-b3"))));
    }

    #[test]
    fn a_game_is_told_turn_by_turn_and_not_in_the_middle_of_one() {
        let table = words("points = 'letters'\nstones = 2");
        let command = ["/bin/sh", "-c", "cat"].map(String::from).to_vec();
        let program = Program { command, timeout: None, time: None, options: Vec::new() };
        let dialect = Dialect::new(program, table).expect("a shell");
        let game = Boxed::new(Connect6::new(9));
        let place = |moves: &[&str]| {
            Place::of(&game, None, &moves.iter().map(|m| m.to_string()).collect::<Vec<_>>()).expect("legal")
        };
        let story = dialect.story(&place(&["e5", "a1", "b2"])).expect("whole turns");
        assert_eq!(story, ["new", "black ee", "white aabb"]);
        let half = dialect.story(&place(&["e5", "a1"])).unwrap_err().to_string();
        assert!(half.contains("half played"), "{half}");
    }

    #[test]
    fn tables_that_make_no_sense_are_refused_with_the_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("words.toml");
        let good =
            "new = []\nfirst = 'b {points}'\nsecond = 'w {points}'\nask = ['go']\nanswer = 'm {points}'\n";
        for (text, says) in [
            (good.replace("b {points}", "b"), "expected {points} once"),
            (good.replace("['go']", "[]"), "something in 'ask'"),
            (format!("{good}colour = 1\n"), ":6: unknown field"),
        ] {
            std::fs::write(&path, text).expect("a disk");
            let error = Words::read(&path).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
