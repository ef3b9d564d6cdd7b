//! Games against our engines. The game is in the address: a page asks for the board after some moves, and for a thought
//! about it as a stream. So nothing is kept between requests, and a game survives a restart, a reload and a link sent
//! to a friend. What costs is thinking: it is bounded in time, memory and number at a time.

use crate::http::{Place, Reply, Request, Sink};
use crate::instance::open_game;
use crate::site::Site;
use serde_json::{Value, json};
use sortie_core::picture::{Picture, Shape};
use sortie_core::play::Line;
use sortie_core::search::SpecError;
use sortie_core::{AnyBoard, AnyGame, AnyPlayer, Budget, Outcome, Side, Thought, Uct};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// No game has more moves.
pub const MOVES_MAX: usize = 2000;
/// Thinking time of a move.
const SECONDS_MAX: f64 = 30.0;
const SECONDS_MIN: f64 = 0.05;
/// Memory of a thinker, in MiB.
const MEMORY: u32 = 128;
/// Whoever finds all thinkers at work waits so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// A thought ends so long after its time whatever it is at.
const OVERTIME: Duration = Duration::from_millis(500);
/// Moves that are shown of a thought.
const LINES: usize = 10;
/// A thought is told so often at most.
const TELL_EVERY: Duration = Duration::from_millis(150);
/// The name of a game's own player.
const ENGINE: &str = "engine";

/// Who can be played against, the strongest first.
pub fn players(game: &dyn AnyGame) -> Vec<(&'static str, &'static str)> {
    let own = game.engine(1).map(|_| (ENGINE, "the engine made for this game"));
    own.into_iter().chain(Uct::PRESETS.iter().copied()).collect()
}

/// Who thinks.
enum Thinker {
    Engine,
    Search(Box<Uct>),
}

impl Thinker {
    /// Only players of ours: a name from an address must never start a program.
    fn of(game: &dyn AnyGame, name: &str) -> Result<Thinker, String> {
        if !players(game).iter().any(|(known, _)| *known == name) {
            return Err("there is no such player here".into());
        }
        match Uct::preset(name) {
            Some(uct) => Ok(Thinker::Search(Box::new(Uct { memory: MEMORY, threads: 1, ..uct }))),
            None => Ok(Thinker::Engine),
        }
    }

    fn sit(&self, game: &dyn AnyGame, seed: u64) -> Result<Box<dyn AnyPlayer>, SpecError> {
        match self {
            Thinker::Engine => Ok(game.engine(seed).expect("it was there when it was chosen")),
            Thinker::Search(uct) => game.player(uct, seed),
        }
    }
}

/// What a request says: a game, the moves so far, whose move it is.
pub struct Table {
    /// The game.
    pub game: Box<dyn AnyGame>,
    /// Where it stands.
    pub board: Box<dyn AnyBoard>,
}

impl Table {
    /// As the address says: `game` and `moves`.
    pub fn of(request: &Request) -> Result<Table, String> {
        let game = open_game(request.ask("game").unwrap_or_default())?;
        let mut board = game.board(None).map_err(|error| error.to_string())?;
        for (i, word) in request.ask("moves").unwrap_or_default().split_whitespace().enumerate() {
            if i == MOVES_MAX {
                return Err(format!("more than {MOVES_MAX} moves"));
            }
            board.play(word).map_err(|error| error.to_string())?;
        }
        Ok(Table { game, board })
    }
}

/// The board after some moves: a drawing, the places to click, the legal moves, how the game stands.
pub fn board(request: &Request) -> Reply {
    match Table::of(request) {
        Ok(mut table) => Reply::json(&describe(&mut *table.board)),
        Err(why) => Reply { status: 400, ..Reply::json(&json!({ "error": why })) },
    }
}

fn describe(board: &mut dyn AnyBoard) -> Value {
    let picture = board.draw();
    let over = board.outcome();
    let legal = if over.is_some() { Vec::new() } else { board.legal() };
    let moves: Vec<Value> = legal.iter().map(|word| move_json(board, picture.as_ref(), word)).collect();
    let spots = picture.iter().flat_map(|p| &p.spots);
    let side_json =
        |(name, colour): &(&str, u32)| json!({ "name": name, "colour": format!("#{colour:06x}") });
    json!({
        "svg": picture.as_ref().map(Picture::markup),
        "text": board.show(),
        "spots": spots.map(|s| json!([s.name, s.x, s.y, s.r])).collect::<Vec<_>>(),
        "sides": picture.as_ref().map(|picture| picture.sides.iter().map(side_json).collect::<Vec<_>>()),
        "legal": moves,
        "words": board.words(),
        "to_move": side(board.to_move()),
        "over": over.map(|outcome| match outcome {
            Outcome::Draw => "draw",
            Outcome::Win(winner) => side(winner),
        }),
    })
}

/// A legal move: its word, the places to click for it, and where it ends on the drawing.
fn move_json(board: &mut dyn AnyBoard, picture: Option<&Picture>, word: &str) -> Value {
    let Some(picture) = picture else { return json!({ "word": word, "path": [] }) };
    let names: Vec<&str> = picture.spots.iter().map(|spot| spot.name.as_str()).collect();
    let path = path(word, &names);
    let mut there = picture.spots.iter().filter(|spot| path.last().is_some_and(|name| *name == spot.name));
    let to = match (there.next(), there.next()) {
        (Some(spot), None) => Some((spot.x, spot.y)),
        // Several places of one name: a stone finds its own.
        (Some(_), Some(_)) => lands(board, picture, word),
        _ => None,
    };
    json!({ "word": word, "path": path, "to": to.map(|(x, y)| json!([x, y])) })
}

/// Where a move leaves a stone that was not there before.
fn lands(board: &mut dyn AnyBoard, before: &Picture, word: &str) -> Option<(f64, f64)> {
    board.play(word).ok()?;
    let after = board.draw();
    board.undo();
    let came = |shape: &Shape| match shape {
        Shape::Stone { x, y, .. } if !before.shapes.contains(shape) => Some((*x, *y)),
        _ => None,
    };
    after?.shapes.iter().find_map(came)
}

/// The places that a move names, in their order; none if it names anything else, such as a pass.
fn path<'a>(word: &'a str, spots: &[&str]) -> Vec<&'a str> {
    if spots.contains(&word) {
        return vec![word];
    }
    let parts: Vec<&str> = word.split(['-', 'x', ':']).collect();
    if parts.iter().all(|part| spots.contains(part)) { parts } else { Vec::new() }
}

fn side(side: Side) -> &'static str {
    match side {
        Side::First => "first",
        Side::Second => "second",
    }
}

/// A thought about a position, as a stream: `thought` again and again, `move` at the end, `refused` if there is none.
pub fn think(site: &Site, request: &Request) -> Reply {
    let asked = Table::of(request).and_then(|table| {
        let thinker = Thinker::of(&*table.game, request.ask("player").unwrap_or("default"))?;
        let seconds = request.ask("seconds").unwrap_or("1").parse::<f64>().ok();
        let seconds = seconds.filter(|s| s.is_finite()).ok_or("the seconds are not a number")?;
        Ok((table, thinker, seconds.clamp(SECONDS_MIN, SECONDS_MAX)))
    });
    let (thinking, thinkers) = (site.thinking.clone(), site.thinkers);
    Reply::stream(move |sink| match asked {
        Err(why) => refuse(sink, &why),
        Ok((table, _, _)) if table.board.outcome().is_some() => refuse(sink, "the game is over"),
        Ok((table, thinker, seconds)) => answer(&table, &thinker, seconds, &thinking, thinkers, sink),
    })
}

fn answer(
    table: &Table,
    thinker: &Thinker,
    seconds: f64,
    thinking: &Arc<AtomicUsize>,
    thinkers: usize,
    sink: &mut Sink,
) -> io::Result<()> {
    let begun = Instant::now();
    let _place = loop {
        if let Some(place) = Place::take(thinking, thinkers) {
            break place;
        }
        if thinkers == 0 || begun.elapsed() > PATIENCE {
            return refuse(sink, "the engine is busy with other games: try again in a while");
        }
        // Also tells whether somebody still waits.
        sink.send("waiting", None, "{}")?;
        std::thread::sleep(Duration::from_millis(500));
    };
    let side_to_move = table.board.to_move();
    // Another game, other moves: the number of the move is a seed that makes a game repeatable all the same.
    let seed = 1 + table.board.words().len() as u64;
    let mut engine = match thinker.sit(&*table.game, seed) {
        Ok(engine) => engine,
        Err(error) => return refuse(sink, &error.to_string()),
    };
    if let Err(error) = engine.set(None, table.board.words()) {
        return refuse(sink, &error.to_string());
    }
    let stop = AtomicBool::new(false);
    let (mut told, mut gone) = (Instant::now(), Ok(()));
    let budget = Budget { seconds: Some(seconds), ..Budget::default() };
    // A thought may look up only now and then: whoever hung up, or a limit that has passed, ends it all the same.
    let (reader, longest) = (sink.reader(), Duration::from_secs_f64(seconds) + OVERTIME);
    let mut tell = |thought: &Thought| {
        if told.elapsed() >= TELL_EVERY && gone.is_ok() {
            told = Instant::now();
            gone = sink.send("thought", None, &opinion(thought, side_to_move).to_string());
            stop.store(gone.is_err(), Ordering::Relaxed);
        }
    };
    let thought = reader.attend(longest, &stop, || engine.think(&budget, &stop, &mut tell));
    gone?;
    match thought {
        Ok(thought) => {
            let mut data = opinion(&thought, side_to_move);
            data["best"] = json!(thought.best);
            sink.send("move", None, &data.to_string())
        }
        Err(fault) => refuse(sink, &fault.to_string()),
    }
}

fn refuse(sink: &mut Sink, why: &str) -> io::Result<()> {
    sink.send("refused", None, &json!({ "why": why }).to_string())
}

/// A thought, values for the side to move.
fn opinion(thought: &Thought, side: Side) -> Value {
    let proved = |outcome: Option<Outcome>| {
        outcome.map(|outcome| match outcome {
            Outcome::Draw => "draw",
            Outcome::Win(winner) if winner == side => "win",
            Outcome::Win(_) => "loss",
        })
    };
    let line = |line: &Line| {
        json!({
            "moves": line.moves.iter().take(10).collect::<Vec<_>>(),
            "visits": line.visits,
            "value": side.view(line.value),
            "proved": proved(line.proved),
        })
    };
    json!({
        "side": self::side(side),
        "value": side.view(thought.value),
        "proved": proved(thought.proved),
        "playouts": thought.playouts,
        "nodes": thought.nodes,
        "depth": thought.depth,
        "seconds": thought.seconds,
        "lines": thought.lines.iter().take(LINES).map(line).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Body, parse};

    fn ask(address: &str) -> Value {
        let request = parse(format!("GET {address} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        match board(&request).body {
            Body::Whole(bytes) => serde_json::from_slice(&bytes).unwrap(),
            Body::Stream(_) => panic!("not a stream"),
        }
    }

    #[test]
    fn boards_tell_where_to_click() {
        let loa = ask("/api/board?game=loa/8&moves=b1-b3");
        assert_eq!((loa["to_move"].as_str(), loa["spots"].as_array().unwrap().len()), (Some("second"), 64));
        let legal = loa["legal"].as_array().unwrap();
        assert!(legal.iter().all(|m| m["path"].as_array().unwrap().len() == 2), "{legal:?}");
        let four = ask("/api/board?game=connect4/7x6");
        let d = &four["legal"][3];
        assert_eq!((d["word"].as_str(), &d["path"]), (Some("d"), &json!(["d"])));
        let lowest = |key: usize| {
            let of_d = four["spots"].as_array().unwrap().iter().filter(|spot| spot[0] == "d");
            of_d.map(|spot| spot[key].as_f64().unwrap()).fold(0.0, f64::max)
        };
        assert_eq!(d["to"], json!([lowest(1), lowest(2)]), "a stone falls down");
        assert_eq!(four["sides"][0], json!({ "name": "red", "colour": "#d8432e" }));
        assert_eq!(four["spots"].as_array().unwrap().iter().filter(|spot| spot[0] == "d").count(), 6);
        assert_eq!(ask("/api/board?game=nim/21")["legal"][0]["path"], json!([]));
        assert!(ask("/api/board?game=loa/8&moves=a1-a2")["error"].is_string());
        assert!(ask("/api/board?game=samegame/1")["error"].as_str().unwrap().contains("problem"));
    }

    #[test]
    fn a_game_with_an_engine_of_its_own_offers_it_first() {
        let request = parse(b"GET /api/think?game=connect6/9&moves=e5 HTTP/1.1\r\n\r\n").unwrap();
        let table = Table::of(&request).unwrap();
        assert_eq!(players(&*table.game)[0].0, ENGINE);
        let engine = Thinker::of(&*table.game, ENGINE).unwrap();
        let mut out = Vec::new();
        answer(&table, &engine, 0.05, &Arc::default(), 1, &mut Sink::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("event: move") && text.contains("\"best\":\""), "{text}");
        let loa = open_game("loa/8").unwrap();
        assert_eq!(players(&*loa)[0].0, "default");
        assert!(Thinker::of(&*loa, ENGINE).is_err() && Thinker::of(&*loa, "/bin/true").is_err());
    }

    #[test]
    fn the_engine_answers_within_its_bounds() {
        let request = parse(b"GET /api/board?game=connect4/7x6&moves=a+b+a+b+a+b HTTP/1.1\r\n\r\n").unwrap();
        let table = Table::of(&request).unwrap();
        let search = Thinker::of(&*table.game, "default").unwrap();
        let (thinking, mut out) = (Arc::new(AtomicUsize::new(0)), Vec::new());
        answer(&table, &search, 0.1, &thinking, 1, &mut Sink::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("event: move") && text.contains("\"best\":\"a\""),
            "four in a row wins: {text}"
        );
        assert_eq!(thinking.load(Ordering::Relaxed), 0);
        let mut out = Vec::new();
        answer(&table, &search, 0.1, &thinking, 0, &mut Sink::new(&mut out)).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("refused"));
    }
}
