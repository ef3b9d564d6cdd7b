//! An engine that speaks the Universal Chess Interface, as a player of any game. Of the protocol this needs `uci`,
//! `isready`, `setoption`, `ucinewgame`, `position`, `go nodes`, `go movetime`, `go infinite`, `stop`, `bestmove` and
//! what `info` says of score, nodes, depth and pv; of a worker for job trees also `go searchmoves`. Moves are sent
//! without separators and understood with or without.

use super::child::Child;
use super::{Deadline, Look, Place, Program, SLICE, Seen, Speaker, count, wall};
use crate::words;
use sortie_core::exact::Asked;
use sortie_core::play::{Fault, Line};
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, Outcome, PlayError, Side, Thought};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it is told how the search is going.
const TELL: Duration = Duration::from_millis(250);
/// Lines (multipv) that are kept.
const LINES_MAX: usize = 256;

/// The conversation.
struct Talk {
    program: Program,
    child: Option<Child>,
    /// The engine has been greeted, and told that a game begins.
    greeted: bool,
    new_game: bool,
    /// What it calls itself.
    name: String,
    /// How many lines it can show, and how many it shows.
    lines_max: usize,
    lines: usize,
}

impl Talk {
    fn start(program: Program) -> Result<Talk, String> {
        let child = Some(Child::start(&program.command)?);
        let name = String::new();
        Ok(Talk { program, child, greeted: false, new_game: true, name, lines_max: 1, lines: 1 })
    }

    /// The engine, started again if it failed before, greeted and ready.
    fn ready(&mut self) -> Result<&mut Child, Fault> {
        if self.child.is_none() {
            self.child = Some(Child::start(&self.program.command).map_err(Fault::Crashed)?);
            (self.greeted, self.new_game, self.lines) = (false, true, 1);
        }
        let child = self.child.as_mut().expect("just started");
        child.begin();
        if !self.greeted {
            child.say("uci")?;
            let (name, lines_max) = (&mut self.name, &mut self.lines_max);
            wait_for(child, "uciok", self.program.grace(), &mut |line| {
                if let Some(text) = line.strip_prefix("id name ") {
                    *name = text.trim().chars().filter(|c| !c.is_control()).take(80).collect();
                } else if let Some(rest) = line.strip_prefix("option name MultiPV ") {
                    let max = rest.split_whitespace().skip_while(|token| *token != "max").nth(1);
                    *lines_max = whole(max).map_or(1, |n| n.clamp(1, LINES_MAX as u64) as usize);
                }
            })?;
            for (name, value) in &self.program.options {
                child.say(&format!("setoption name {name} value {value}"))?;
            }
            self.greeted = true;
        }
        if self.new_game {
            child.say("ucinewgame")?;
            self.new_game = false;
        }
        child.say("isready")?;
        wait_for(child, "readyok", self.program.grace(), &mut |_| {})?;
        Ok(child)
    }

    /// Has so many moves told of.
    fn show_lines(&mut self, lines: usize) -> Result<(), Fault> {
        self.ready()?;
        if self.lines != lines {
            self.lines = lines;
            self.ready()?.say(&format!("setoption name MultiPV value {lines}"))?;
        }
        Ok(())
    }

    /// Searches, and returns what follows `bestmove`, which an engine that is told to stop says, too. `each` hears now
    /// and then what has been said.
    fn search(
        &mut self,
        position: &str,
        go: &str,
        mut deadline: Deadline,
        stop: &dyn Fn() -> bool,
        said: &mut Said,
        each: &mut dyn FnMut(&Said),
    ) -> Result<String, Fault> {
        let grace = self.program.grace();
        let child = self.ready()?;
        child.say(position)?;
        child.say(go)?;
        let begun = Instant::now();
        deadline.start = begun;
        let (mut told, mut stopped) = (begun, false);
        // An engine that knows wall time only is stopped when its CPU time is used up.
        let cpu_begun = deadline.cpu_seconds.and_then(|_| child.cpu_seconds());
        let cpu_max = deadline.cpu_seconds;
        let used_up = |child: &Child| match (cpu_max, cpu_begun) {
            (Some(max), Some(begun)) => child.cpu_seconds().is_some_and(|now| now - begun >= max),
            _ => false,
        };
        loop {
            if !stopped && (stop() || used_up(child)) {
                child.say("stop")?;
                deadline = Deadline { start: Instant::now(), ..grace };
                stopped = true;
            }
            match child.hear(SLICE)? {
                Some(line) => match line.split_once(char::is_whitespace) {
                    Some(("info", rest)) => said.note(rest),
                    Some(("bestmove", rest)) => {
                        return Ok(rest.split_whitespace().next().unwrap_or("").to_string());
                    }
                    _ if line.trim() == "bestmove" => return Ok(String::new()),
                    _ => {}
                },
                None if deadline.is_over() => return Err(Fault::Hung(deadline.seconds())),
                None => {}
            }
            // Also while it talks without an end.
            if deadline.is_over() {
                return Err(Fault::Hung(deadline.seconds()));
            }
            if told.elapsed() >= TELL {
                told = Instant::now();
                each(said);
            }
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.leave();
        }
    }
}

fn position_line<'a>(start: Option<&str>, words: impl Iterator<Item = &'a String>) -> String {
    let mut position = match start {
        Some(text) => format!("position fen {text}"),
        None => "position startpos".to_string(),
    };
    for (i, word) in words.enumerate() {
        position += if i == 0 { " moves " } else { " " };
        position += &words::short(word);
    }
    position
}

fn go_line(budget: &Budget) -> String {
    let mut go = "go".to_string();
    if let Some(count) = count(budget) {
        go += &format!(" nodes {count}");
    }
    if let Some(seconds) = wall(budget) {
        go += &format!(" movetime {}", ((seconds * 1000.0) as u64).max(1));
    }
    if go == "go" {
        go += " infinite";
    }
    go
}

/// The player.
pub struct Uci {
    talk: Talk,
    game: Box<dyn AnyGame>,
    /// The position that was set.
    board: Box<dyn AnyBoard>,
    start: Option<String>,
}

impl Uci {
    /// Starts the program, so that one that is not there is refused at once. It is greeted before its first move.
    pub fn new(program: Program, game: &dyn AnyGame) -> Result<Uci, String> {
        let talk = Talk::start(program)?;
        let board = game.board(None).map_err(|error| error.to_string())?;
        Ok(Uci { talk, game: game.share(), board, start: None })
    }

    fn ask(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        let position = position_line(self.start.as_deref(), self.board.words().iter());
        let deadline = self.talk.program.deadline(budget);
        let (begun, mut said) = (Instant::now(), Said::default());
        let cpu = self.talk.ready()?.cpu_seconds();
        let board = &mut *self.board;
        let mut each = |said: &Said| tell(&said.thought(board, begun));
        let stop = || stop.load(Ordering::Relaxed);
        let answer = self.talk.search(&position, &go_line(budget), deadline, &stop, &mut said, &mut each)?;
        let legal = self.board.legal();
        let mut thought = said.thought(&mut *self.board, begun);
        let now = self.talk.child.as_ref().and_then(Child::cpu_seconds);
        thought.cpu_seconds = now.zip(cpu).map_or(0.0, |(now, before)| (now - before).max(0.0));
        match words::find(&answer, &legal) {
            Some(word) => thought.best = Some(word.to_string()),
            None if legal.is_empty() => thought.best = None,
            None => return Err(Fault::Nonsense(answer.chars().take(80).collect())),
        }
        Ok(thought)
    }
}

impl AnyPlayer for Uci {
    fn set(&mut self, start: Option<&str>, words: &[String]) -> Result<(), PlayError> {
        let mut board = self.game.board(start)?;
        for word in words {
            board.play(word)?;
        }
        self.board = board;
        self.start = start.map(str::to_string);
        Ok(())
    }

    fn think(
        &mut self,
        budget: &Budget,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(&Thought),
    ) -> Result<Thought, Fault> {
        // Whatever it still has to say belongs to a move that is over, so it does not live to say it.
        self.ask(budget, stop, tell).inspect_err(|_| self.talk.child = None)
    }

    fn reset(&mut self, _seed: u64) {
        self.talk.new_game = true;
    }
}

/// The worker.
pub struct UciSpeaker(Talk);

impl UciSpeaker {
    /// Starts the program, so that one that is not there is refused at once.
    pub fn new(program: Program) -> Result<UciSpeaker, String> {
        Talk::start(program).map(UciSpeaker)
    }

    fn all_moves(&mut self, place: &Place) -> Result<Vec<String>, Fault> {
        self.0.ready()?;
        self.0.show_lines(self.0.lines_max)?;
        let position = position_line(place.start.as_deref(), place.words());
        let mut said = Said::default();
        let deadline = self.0.program.grace();
        self.0.search(&position, "go depth 1", deadline, &|| false, &mut said, &mut |_| {})?;
        self.0.show_lines(1)?;
        let first = |line: &SaidLine| line.words.first().cloned();
        let mut words: Vec<String> = said.lines.values().filter_map(first).collect();
        words.sort();
        words.dedup();
        Ok(words)
    }

    fn ask(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        let position = position_line(look.place.start.as_deref(), look.place.words());
        let mut go = go_line(&look.budget());
        if !look.exclude.is_empty() {
            go += " searchmoves";
            for word in look.allowed() {
                go += &format!(" {}", words::short(word));
            }
        }
        let deadline = self.0.program.deadline(&look.budget());
        let mut said = Said::default();
        let stop = || asked.over();
        let best = self.0.search(&position, &go, deadline, &stop, &mut said, &mut |_| {})?;
        if asked.over() {
            return Ok(None);
        }
        let line = said.lines.get(&1);
        Ok(Some(Seen {
            best,
            value: line.map(|line| line.value),
            sure: line.is_some_and(|line| line.sure),
            nodes: said.nodes,
        }))
    }
}

impl Speaker for UciSpeaker {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn protocol(&self) -> &'static str {
        "uci"
    }

    fn way(&self) -> String {
        "go searchmoves".into()
    }

    fn legal(&mut self, place: &Place) -> Result<Option<Vec<String>>, Fault> {
        self.all_moves(place).map(Some).inspect_err(|_| self.0.child = None)
    }

    fn look(&mut self, look: &Look, asked: Asked) -> Result<Option<Seen>, Fault> {
        self.ask(look, asked).inspect_err(|_| self.0.child = None)
    }
}

/// Reads up to a line that begins with this word, and hands on those before it.
fn wait_for(
    child: &mut Child,
    word: &str,
    deadline: Deadline,
    each: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    let deadline = Deadline { start: Instant::now(), ..deadline };
    while !deadline.is_over() {
        let Some(line) = child.hear(SLICE)? else { continue };
        if line.split_whitespace().next() == Some(word) {
            return Ok(());
        }
        each(&line);
    }
    Err(Fault::Hung(deadline.seconds()))
}

/// What the engine has said of its search so far.
#[derive(Debug, Default)]
struct Said {
    /// By multipv.
    lines: BTreeMap<usize, SaidLine>,
    nodes: u64,
    depth: u32,
    fill: f64,
}

/// A line as it was said.
#[derive(Debug)]
struct SaidLine {
    /// For the side to move, in `0..=1`.
    value: f64,
    visits: u64,
    /// Certain, as `sortie engine` says it.
    proved: bool,
    /// The same, or a mate.
    sure: bool,
    words: Vec<String>,
}

impl Said {
    /// Takes in what follows `info`. What is not understood is passed over.
    fn note(&mut self, text: &str) {
        let mut tokens = text.split_whitespace().peekable();
        let (mut number, mut value, mut visits, mut exact) = (1, None, 0, true);
        let (mut proved, mut mate) = (false, false);
        while let Some(token) = tokens.next() {
            match token {
                "string" => return,
                "nodes" => self.nodes = whole(tokens.next()).unwrap_or(self.nodes),
                "depth" => self.depth = whole(tokens.next()).map_or(self.depth, |d| d.min(1 << 20) as u32),
                "hashfull" => {
                    self.fill = whole(tokens.next()).map_or(self.fill, |f| f.min(1000) as f64 / 1e3)
                }
                "multipv" => number = whole(tokens.next()).unwrap_or(1) as usize,
                "visits" => visits = whole(tokens.next()).unwrap_or(0),
                "lowerbound" | "upperbound" => exact = false,
                "proved" => {
                    proved = true;
                    value = match tokens.next() {
                        Some("win") => Some(1.0),
                        Some("loss") => Some(0.0),
                        _ => Some(0.5),
                    };
                }
                "score" => {
                    let kind = tokens.next();
                    let given = tokens.next().and_then(|n| n.parse::<f64>().ok()).filter(|n| n.is_finite());
                    mate = kind == Some("mate") && given.is_some();
                    value = value.or(match (kind, given) {
                        (Some("cp"), Some(cp)) => Some(chance(cp)),
                        (Some("mate"), Some(moves)) => Some(if moves > 0.0 { 1.0 } else { 0.0 }),
                        _ => None,
                    });
                }
                "wdl" => {
                    let mut next = || whole(tokens.next()).map(|n| n.min(1000) as f64);
                    if let (Some(win), Some(draw), Some(loss)) = (next(), next(), next())
                        && !mate
                    {
                        value = Some((win + draw / 2.0) / (win + draw + loss).max(1.0));
                    }
                }
                "pv" => {
                    if let Some(value) = value.filter(|_| exact && (1..=LINES_MAX).contains(&number)) {
                        let words = tokens.by_ref().map(str::to_string).collect();
                        // Half a point is a draw, which a move proves of itself only.
                        let sure = (proved || mate) && value != 0.5;
                        self.lines.insert(number, SaidLine { value, visits, proved, sure, words });
                    }
                    return;
                }
                _ => {}
            }
        }
    }

    fn thought(&self, board: &mut dyn AnyBoard, begun: Instant) -> Thought {
        let side: Side = board.to_move();
        let outcome = |value: f64| match value {
            1.0 => Outcome::Win(side),
            0.0 => Outcome::Win(side.other()),
            _ => Outcome::Draw,
        };
        let lines = self.lines.values().map(|said| Line {
            moves: words::follow(board, said.words.iter().map(String::as_str)),
            visits: said.visits,
            value: side.view(said.value),
            proved: said.proved.then(|| outcome(said.value)),
        });
        let lines: Vec<Line> = lines.filter(|line| !line.moves.is_empty()).collect();
        Thought {
            best: lines.first().and_then(|line| line.moves.first().cloned()),
            value: lines.first().map_or(0.5, |line| line.value),
            // A move that wins proves its position, and the best move that loses too; a draw leaves others open.
            proved: lines.first().and_then(|line| line.proved).filter(|outcome| *outcome != Outcome::Draw),
            lines,
            playouts: self.nodes,
            nodes: self.nodes,
            depth: self.depth,
            seconds: begun.elapsed().as_secs_f64(),
            fill: self.fill,
            ..Thought::default()
        }
    }
}

fn whole(token: Option<&str>) -> Option<u64> {
    token.and_then(|n| n.parse().ok())
}

/// Hundredths of a pawn as a chance to win, on the scale of Elo: 400 are ten to one.
pub fn chance(cp: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-cp / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_core::Boxed;
    use sortie_core::toy::Nim;

    #[test]
    fn info_is_understood_and_nonsense_passed_over() {
        let mut board = Boxed::new(Nim { heap: 9 }).board(None).unwrap();
        board.play("1").unwrap();
        let mut said = Said::default();
        for info in [
            "depth 7 seldepth 9 multipv 2 score cp 0 nodes 10 pv 2 3",
            "multipv 1 score cp 400 wdl 900 50 50 nodes 1200 hashfull 250 visits 88 time 3 pv 3 1 9 1",
            "multipv 1 score cp -900 lowerbound pv 1",
            "multipv 99999999999 score cp 1 pv 1",
            "score cp",
            "score mate x pv 1",
            "depth -4 nodes many pv",
            "string score cp 5 pv 1",
            "",
        ] {
            said.note(info);
        }
        let thought = said.thought(&mut *board, Instant::now());
        // The second side is to move, and values are the first side's.
        let line = |moves: &[&str], visits, value: f64| Line {
            moves: moves.iter().map(|m| m.to_string()).collect(),
            visits,
            value,
            proved: None,
        };
        assert_eq!(thought.lines.len(), 2);
        assert!((thought.value - 0.075).abs() < 1e-12);
        assert_eq!(thought.lines[0].moves, ["3", "1"]);
        assert_eq!(thought.lines[1], line(&["2", "3"], 0, 0.5));
        assert_eq!((thought.nodes, thought.depth, thought.fill), (1200, 7, 0.25));
        assert_eq!(board.words(), ["1"]);
        assert_eq!(thought.proved, None);
        said.note("multipv 1 score cp 3600 wdl 1000 0 0 proved win pv 3");
        let proved = said.thought(&mut *board, Instant::now());
        assert_eq!((proved.proved, proved.value), (Some(Outcome::Win(Side::Second)), 0.0));
    }

    #[test]
    fn a_pawn_is_a_chance() {
        assert_eq!(chance(0.0), 0.5);
        assert!((chance(400.0) - 10.0 / 11.0).abs() < 1e-12);
        assert!((chance(100.0) + chance(-100.0) - 1.0).abs() < 1e-12);
    }
}
