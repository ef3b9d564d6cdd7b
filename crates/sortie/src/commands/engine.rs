//! `sortie engine`: the text protocol of docs/protocol.md. One thread reads what it is told and answers at once, another
//! searches and tells what it finds. Nonsense gives a line `error ...` and changes nothing; the end of the input is
//! `quit`.

use crate::Verdict;
use crate::args;
use crate::output;
use crate::players::Player;
use crate::source::Instance;
use crate::words;
use anyhow::{Result, anyhow, bail};
use serde_json::Value;
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, Outcome, Side, Thought};
use std::io::{BufRead, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Longer lines are refused.
const LINE_BYTES_MAX: usize = 1 << 20;
/// More moves are refused.
const MOVES_MAX: usize = 20_000;
/// The seed of a new engine; the option `Seed` changes it.
const SEED: u64 = 1;

/// Runs the command.
pub fn run(args: &args::Engine) -> Result<Verdict> {
    let instance = Instance::open_game(&args.game)?;
    let mut engine = Engine::new(instance.game()?, Player::parse(&args.player)?)?;
    let mut stdin = std::io::stdin().lock();
    loop {
        let line = match read_line(&mut stdin)? {
            Input::End => break,
            Input::Line(line) => line,
            Input::Bad(message) => {
                output::print(&format!("error {message}"))?;
                continue;
            }
        };
        match engine.obey(&line) {
            Ok(Next::Go) => {}
            Ok(Next::Quit) => break,
            // What cannot be said any more ends the program; everything else is told.
            Err(error) if error.is::<std::io::Error>() => return Err(error),
            Err(error) => {
                output::print(&format!("error {}", format!("{error:#}").replace(['\n', '\r'], " ")))?
            }
        }
    }
    engine.finish();
    Ok(Verdict::Done)
}

enum Input {
    Line(String),
    Bad(String),
    End,
}

/// The next line, within its bound.
fn read_line(from: &mut impl BufRead) -> std::io::Result<Input> {
    let mut bytes = Vec::new();
    from.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Input::End);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > LINE_BYTES_MAX {
        from.skip_until(b'\n')?;
        return Ok(Input::Bad(format!("a line of more than {LINE_BYTES_MAX} bytes")));
    }
    Ok(match String::from_utf8(bytes) {
        Ok(line) => Input::Line(line),
        Err(_) => Input::Bad("a line that is not UTF-8".into()),
    })
}

enum Next {
    Go,
    Quit,
}

/// What a search is asked for.
struct Job {
    player: Player,
    /// The player is made anew, or only told that a game begins.
    fresh: bool,
    new_game: bool,
    seed: u64,
    start: Option<String>,
    words: Vec<String>,
    side: Side,
    budget: Budget,
    ponder: bool,
    /// Nothing is answered before `stop`.
    infinite: bool,
    lines: usize,
    short: bool,
    /// The only moves to consider; all if there are none.
    only: Vec<String>,
}

/// What the two threads share.
#[derive(Default)]
struct Shared {
    /// What the search looks at.
    stop: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    searching: bool,
    pondering: bool,
    stopped: bool,
    /// The pondered move was played: the clock runs from now on.
    hit: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait_while(&self, condition: impl Fn(&State) -> bool) {
        let _unused = self.changed.wait_while(self.lock(), |state| condition(state));
    }
}

struct Engine<'a> {
    game: &'a dyn AnyGame,
    player: Player,
    seed: u64,
    /// Options changed, or a new game began, since the last search.
    fresh: bool,
    new_game: bool,
    lines: usize,
    short: bool,
    start: Option<String>,
    board: Box<dyn AnyBoard>,
    shared: Arc<Shared>,
    jobs: Option<SyncSender<Job>>,
    searcher: Option<JoinHandle<()>>,
}

impl<'a> Engine<'a> {
    fn new(game: &'a dyn AnyGame, player: Player) -> Result<Engine<'a>> {
        let shared = Arc::new(Shared::default());
        let (jobs, queue) = sync_channel(1);
        // Opened here, so that a player that is not there is misuse; used there.
        let opened = player.open(game, SEED)?;
        let searcher = {
            let (game, shared) = (game.share(), shared.clone());
            std::thread::spawn(move || search(&*game, opened, queue, &shared))
        };
        Ok(Engine {
            game,
            player,
            seed: SEED,
            fresh: false,
            new_game: false,
            lines: 1,
            short: false,
            start: None,
            board: game.board(None)?,
            shared,
            jobs: Some(jobs),
            searcher: Some(searcher),
        })
    }

    fn obey(&mut self, line: &str) -> Result<Next> {
        let line = line.trim();
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        match command {
            "" => {}
            "uci" => self.introduce()?,
            "isready" => output::print("readyok")?,
            "ucinewgame" => {
                self.at_rest("ucinewgame")?;
                self.new_game = true;
            }
            "setoption" => self.set_option(rest)?,
            "position" => self.set_position(rest)?,
            "go" => self.go(rest)?,
            "stop" => self.stop(),
            "ponderhit" => self.ponderhit()?,
            "wait" => self.shared.wait_while(|state| state.searching),
            "show" => {
                for line in self.board.show().lines() {
                    output::print(&format!("info string {line}"))?;
                }
                if let Some(text) = self.board.position() {
                    output::print(&format!("info string position {text}"))?;
                }
            }
            "moves" => output::print(&format!("moves {}", self.spell(self.board.legal()).join(" ")))?,
            "debug" | "register" => {}
            "quit" => return Ok(Next::Quit),
            _ => bail!(
                "'{}': expected uci, isready, setoption, ucinewgame, position, go, stop, ponderhit, show, moves, wait \
                 or quit",
                cut(command)
            ),
        }
        Ok(Next::Go)
    }

    fn introduce(&self) -> Result<()> {
        let mut text =
            format!("id name Sortie {}\nid author the authors of Sortie\n", env!("CARGO_PKG_VERSION"));
        text += "option name MultiPV type spin default 1 min 1 max 256\n";
        text += "option name Ponder type check default false\n";
        text += "option name ShortMoves type check default false\n";
        text += &format!("option name Seed type spin default {SEED} min 0 max {}\n", i64::MAX);
        for (key, value) in self.player.parameters() {
            text += &match value {
                Value::Bool(on) => format!("option name {key} type check default {on}\n"),
                Value::Number(n) if n.is_u64() => {
                    format!("option name {key} type spin default {n} min 0 max {}\n", u32::MAX)
                }
                Value::String(word) => format!("option name {key} type string default {word}\n"),
                other => format!("option name {key} type string default {other}\n"),
            };
        }
        output::print(&(text + "uciok"))
    }

    fn at_rest(&self, what: &str) -> Result<()> {
        if self.shared.lock().searching {
            bail!("{what} while a search is under way: say stop first");
        }
        Ok(())
    }

    fn set_option(&mut self, text: &str) -> Result<()> {
        self.at_rest("setoption")?;
        let expected = || anyhow!("expected setoption name NAME value VALUE");
        let rest = text.strip_prefix("name ").ok_or_else(expected)?;
        let (name, value) = rest.split_once(" value ").ok_or_else(expected)?;
        let (name, value) = (name.trim(), value.trim());
        let whole = |max: u64| match value.parse::<u64>() {
            Ok(n) if n <= max => Ok(n),
            _ => Err(anyhow!("{name} {}: expected a whole number up to {max}", cut(value))),
        };
        let switch =
            || value.parse::<bool>().map_err(|_| anyhow!("{name} {}: expected true or false", cut(value)));
        match name.to_ascii_lowercase().as_str() {
            "multipv" => self.lines = whole(256)?.max(1) as usize,
            "ponder" => drop(switch()?),
            "shortmoves" => self.short = switch()?,
            "seed" => (self.seed, self.new_game) = (whole(i64::MAX as u64)?, true),
            key => {
                let own = matches!(self.player, Player::Own(_));
                // The names that programs for chess know.
                let key = match key {
                    "hash" if own => "memory",
                    key if own => key,
                    _ => name,
                };
                self.player = self.player.with(key, value)?;
                self.fresh = true;
            }
        }
        Ok(())
    }

    fn set_position(&mut self, text: &str) -> Result<()> {
        self.at_rest("position")?;
        let expected =
            || anyhow!("expected position startpos or position fen TEXT, then moves and the moves");
        let (place, moves) = match text.find("moves").filter(|&at| at == 0 || text[..at].ends_with(' ')) {
            Some(at) => (text[..at].trim(), &text[at + "moves".len()..]),
            None => (text, ""),
        };
        let start = match place.split_once(char::is_whitespace) {
            None if place == "startpos" => None,
            Some(("fen", text)) => Some(text.trim().to_string()),
            _ => return Err(expected()),
        };
        let mut board = self.game.board(start.as_deref())?;
        for word in moves.split_whitespace() {
            if board.words().len() == MOVES_MAX {
                bail!("more than {MOVES_MAX} moves");
            }
            words::play(&mut *board, word)?;
        }
        // Only now: a position that is refused leaves the old one.
        (self.start, self.board) = (start, board);
        Ok(())
    }

    fn go(&mut self, text: &str) -> Result<()> {
        self.at_rest("go")?;
        let side = self.board.to_move();
        let asked = Asked::parse(text, side)?;
        let legal = self.board.legal();
        let meant = |word: &String| {
            let found = words::find(word, &legal).map(str::to_string);
            found.ok_or_else(|| anyhow!("go searchmoves {}: expected legal moves", cut(word)))
        };
        let only = asked.only.iter().map(meant).collect::<Result<_>>()?;
        let job = Job {
            player: self.player.clone(),
            fresh: std::mem::take(&mut self.fresh),
            new_game: std::mem::take(&mut self.new_game),
            seed: self.seed,
            start: self.start.clone(),
            words: self.board.words().to_vec(),
            side,
            budget: asked.budget,
            ponder: asked.ponder,
            infinite: asked.infinite,
            lines: self.lines,
            short: self.short,
            only,
        };
        self.shared.stop.store(false, Ordering::Relaxed);
        *self.shared.lock() = State { searching: true, pondering: job.ponder, ..State::default() };
        let jobs = self.jobs.as_ref().expect("open until the end");
        jobs.send(job).map_err(|_| anyhow!("the search has ended: start this program again"))
    }

    fn stop(&self) {
        self.shared.lock().stopped = true;
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
    }

    fn ponderhit(&self) -> Result<()> {
        let mut state = self.shared.lock();
        if !state.searching || !state.pondering {
            bail!("ponderhit without go ponder");
        }
        (state.pondering, state.hit) = (false, true);
        // Ends the endless search; what it has learnt is where the timed one begins.
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.changed.notify_all();
        Ok(())
    }

    fn spell(&self, legal: Vec<String>) -> Vec<String> {
        if self.short { legal.iter().map(|word| words::short(word)).collect() } else { legal }
    }

    fn finish(mut self) {
        self.stop();
        self.jobs = None;
        if let Some(searcher) = self.searcher.take() {
            let _ = searcher.join();
        }
    }
}

/// What follows `go`.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    budget: Budget,
    ponder: bool,
    infinite: bool,
    only: Vec<String>,
}

impl Asked {
    fn parse(text: &str, side: Side) -> Result<Asked> {
        let mut asked = Asked::default();
        let (mut clock, mut increment, mut moves_to_go) = (None, 0.0, 30.0);
        let mut tokens = text.split_whitespace();
        while let Some(token) = tokens.next() {
            match token {
                "ponder" => asked.ponder = true,
                "infinite" => asked.infinite = true,
                // The last of all, as UCI leaves open where the moves end.
                "searchmoves" => asked.only = tokens.by_ref().map(str::to_string).collect(),
                "nodes" | "movetime" | "wtime" | "btime" | "winc" | "binc" | "movestogo" => {
                    let given = tokens.next().unwrap_or("nothing");
                    // Clocks may be overdrawn.
                    let number: i64 = given
                        .parse()
                        .map_err(|_| anyhow!("go {token} {}: expected a whole number", cut(given)))?;
                    let seconds = number.clamp(0, 1_000_000_000_000) as f64 / 1000.0;
                    let mine = token.starts_with('w') == (side == Side::First);
                    match token {
                        "nodes" => asked.budget.playouts = Some(number.max(1) as u64),
                        "movetime" => asked.budget.seconds = Some(seconds.max(0.001)),
                        "movestogo" => moves_to_go = (number.clamp(1, 1000)) as f64,
                        "wtime" | "btime" if mine => clock = Some(seconds),
                        "winc" | "binc" if mine => increment = seconds,
                        _ => {}
                    }
                }
                _ => bail!(
                    "go {}: expected nodes, movetime, wtime, btime, winc, binc, movestogo, ponder, infinite or searchmoves",
                    cut(token)
                ),
            }
        }
        if let (Some(clock), None) = (clock, asked.budget.seconds) {
            // An even share of what is left, most of the increment, and never all of the clock.
            let share = clock / moves_to_go + 0.8 * increment;
            asked.budget.seconds = Some(share.min(0.8 * clock).max(0.001));
        }
        if asked.budget == Budget::default() && !asked.ponder {
            asked.infinite = true;
        }
        Ok(asked)
    }
}

/// The thread that searches.
fn search(game: &dyn AnyGame, mut player: Box<dyn AnyPlayer>, queue: Receiver<Job>, shared: &Shared) {
    for job in queue {
        let best = match answer(game, &mut player, &job, shared) {
            Ok(best) => best,
            Err(error) => {
                let _ = output::print(&format!("error {}", format!("{error:#}").replace(['\n', '\r'], " ")));
                "bestmove (none)".into()
            }
        };
        // Nobody is to hear of the move and find the search still under way.
        let mut state = shared.lock();
        let _ = output::print(&best);
        state.searching = false;
        shared.changed.notify_all();
    }
}

/// Thinks, and returns the line `bestmove`.
fn answer(game: &dyn AnyGame, player: &mut Box<dyn AnyPlayer>, job: &Job, shared: &Shared) -> Result<String> {
    if job.fresh {
        *player = job.player.open(game, job.seed)?;
    } else if job.new_game {
        player.reset(job.seed);
    }
    player.set(job.start.as_deref(), &job.words)?;
    let mut tell = |thought: &Thought| {
        let _ = output::print(&info(&restricted(thought.clone(), job), job));
    };
    let mut thought = None;
    if job.ponder {
        thought = Some(player.think(&Budget::default(), &shared.stop, &mut tell)?);
        shared.wait_while(|state| !state.stopped && !state.hit);
        // Between the two flags: `stop` after `ponderhit` must not be lost.
        let state = shared.lock();
        if state.hit && !state.stopped {
            shared.stop.store(false, Ordering::Relaxed);
            thought = None;
        }
    }
    let thought = match thought {
        Some(thought) => thought,
        None => {
            let thought = player.think(&job.budget, &shared.stop, &mut tell)?;
            if job.infinite {
                shared.wait_while(|state| !state.stopped);
            }
            thought
        }
    };
    let thought = restricted(thought, job);
    if !thought.lines.is_empty() {
        output::print(&info(&thought, job))?;
    }
    let spell = |word: &String| if job.short { words::short(word) } else { word.clone() };
    let mut line = format!("bestmove {}", thought.best.as_ref().map_or("(none)".into(), spell));
    let expected = thought.lines.iter().find(|line| line.moves.first() == thought.best.as_ref());
    if let Some(reply) = expected.and_then(|line| line.moves.get(1)) {
        line += &format!(" ponder {}", spell(reply));
    }
    Ok(line)
}

/// The thought without the moves that are not to be considered. All were searched: the restriction holds for the answer.
fn restricted(mut thought: Thought, job: &Job) -> Thought {
    if job.only.is_empty() {
        return thought;
    }
    thought.lines.retain(|line| line.moves.first().is_some_and(|word| job.only.contains(word)));
    if thought.best.as_ref().is_none_or(|word| !job.only.contains(word)) {
        let first = thought.lines.first().and_then(|line| line.moves.first());
        thought.best = first.or(job.only.first()).cloned();
    }
    thought
}

/// What is told of a search: one line for each move that is to be told of.
fn info(thought: &Thought, job: &Job) -> String {
    let milliseconds = (thought.seconds * 1000.0).round();
    let rate = thought.playouts as f64 / thought.seconds.max(1e-6);
    let lines = thought.lines.iter().take(job.lines).enumerate().map(|(i, line)| {
        let value = job.side.view(line.value).clamp(0.0, 1.0);
        let wins = (1000.0 * value).round();
        let mut text = format!(
            "info depth {} multipv {} score cp {:.0} wdl {wins} 0 {} nodes {} nps {rate:.0} time {milliseconds} \
             hashfull {:.0} visits {}",
            crate::thought::depth(thought),
            i + 1,
            centipawns(value),
            1000.0 - wins,
            thought.playouts,
            1000.0 * thought.fill,
            line.visits,
        );
        if let Some(outcome) = line.proved {
            text += match outcome {
                Outcome::Draw => " proved draw",
                Outcome::Win(side) if side == job.side => " proved win",
                Outcome::Win(_) => " proved loss",
            };
        }
        text += " pv";
        for word in &line.moves {
            text.push(' ');
            text += &if job.short { words::short(word) } else { word.clone() };
        }
        text
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A chance to win in hundredths of a pawn: the inverse of `engine::uci::chance`, within what programs for chess print.
fn centipawns(value: f64) -> f64 {
    let value = value.clamp(1e-9, 1.0 - 1e-9);
    400.0 * (value / (1.0 - value)).log10()
}

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_go_becomes_a_budget() {
        let parse = |text| Asked::parse(text, Side::Second).unwrap();
        assert_eq!(parse("nodes 50").budget, Budget::playouts(50));
        assert_eq!(parse("movetime 1500").budget.seconds, Some(1.5));
        assert_eq!(parse("wtime 1 btime 30000 winc 9 binc 500").budget.seconds, Some(1.4));
        assert_eq!(parse("btime 1000 binc 5000").budget.seconds, Some(0.8), "never the whole clock");
        assert_eq!(parse("btime -5").budget.seconds, Some(0.001));
        assert!(parse("").infinite && parse("infinite").infinite && !parse("nodes 1").infinite);
        assert!(parse("ponder nodes 5").ponder && !parse("ponder").infinite);
        for bad in ["nodes", "nodes x", "movetime 1e9", "depth 5", "ponder hit", "nodes 99999999999999999999"]
        {
            assert!(Asked::parse(bad, Side::First).is_err(), "{bad}");
        }
    }

    #[test]
    fn lines_have_a_bound_and_are_text() {
        let read = |bytes: &[u8]| {
            let (mut from, mut heard) = (bytes, Vec::new());
            loop {
                match read_line(&mut from).unwrap() {
                    Input::End => return heard,
                    Input::Line(line) => heard.push(line.trim_end().len() as i64),
                    Input::Bad(_) => heard.push(-1),
                }
            }
        };
        assert_eq!(read(b"uci\n\nquit"), [3, 0, 4]);
        assert_eq!(read(b"\xff\xfe\nuci\n"), [-1, 3]);
        let long = [vec![b'x'; LINE_BYTES_MAX + 1], b"\nuci\n".to_vec()].concat();
        assert_eq!(read(&long), [-1, 3]);
        assert_eq!(read(&long[1..]), [LINE_BYTES_MAX as i64, 3]);
    }

    #[test]
    fn pawns_and_chances_are_inverse() {
        for value in [0.01, 0.5, 0.75] {
            assert!((crate::engine::chance(centipawns(value)) - value).abs() < 1e-9);
        }
        assert!(centipawns(0.0) > -4000.0 && centipawns(1.0) < 4000.0);
    }
}
