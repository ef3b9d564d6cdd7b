//! Games against our engine. The game is in the address: a page asks for the board after some moves, and for a thought
//! about it as a stream. So nothing is kept between requests, and a game survives a restart, a reload and a link sent
//! to a friend. What costs is thinking: it is bounded in time, memory and number at a time.

use crate::http::{Place, Reply, Request, Sink};
use crate::run::open_game;
use crate::site::Site;
use serde_json::{Value, json};
use sortie_core::{AnyBoard, AnyGame, Budget, Line, Outcome, PRESETS, Side, Thought, Uct};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// No game has more moves.
const MOVES_MAX: usize = 2000;
/// Thinking time of a move.
const SECONDS_MAX: f64 = 30.0;
const SECONDS_MIN: f64 = 0.05;
/// Memory of a thinker, in MiB.
const MEMORY: u32 = 128;
/// Whoever finds all thinkers at work waits so long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Moves that are shown of a thought.
const LINES: usize = 8;
/// A thought is told so often at most.
const TELL_EVERY: Duration = Duration::from_millis(150);

/// What a request says: a game, the moves so far, whose move it is.
struct Table {
    game: Box<dyn AnyGame>,
    board: Box<dyn AnyBoard>,
}

impl Table {
    fn of(request: &Request) -> Result<Table, String> {
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
        Ok(table) => Reply::json(&describe(&*table.board)),
        Err(why) => Reply { status: 400, ..Reply::json(&json!({ "error": why })) },
    }
}

fn describe(board: &dyn AnyBoard) -> Value {
    let picture = board.draw();
    let spots: Vec<Value> =
        picture.iter().flat_map(|p| &p.spots).map(|s| json!([s.name, s.x, s.y, s.r])).collect();
    let names: Vec<&str> = picture.iter().flat_map(|p| &p.spots).map(|s| s.name.as_str()).collect();
    let over = board.outcome();
    let legal = if over.is_some() { Vec::new() } else { board.legal() };
    let path = |word: &String| json!({ "word": word, "path": path(word, &names) });
    json!({
        "svg": picture.as_ref().map(|picture| picture.svg()),
        "text": board.show(),
        "width": picture.as_ref().map(|picture| picture.width),
        "height": picture.as_ref().map(|picture| picture.height),
        "spots": spots,
        "legal": legal.iter().map(path).collect::<Vec<_>>(),
        "words": board.words(),
        "to_move": side(board.to_move()),
        "over": over.map(|outcome| match outcome {
            Outcome::Draw => "draw",
            Outcome::Win(winner) => side(winner),
        }),
    })
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
        let name = request.ask("player").unwrap_or("default");
        // Only our own players: a name from an address must never start a program.
        let known = PRESETS.iter().any(|(preset, _)| *preset == name);
        let player = Uct::preset(name).filter(|_| known).ok_or("there is no such player here")?;
        let seconds = request.ask("seconds").unwrap_or("1").parse::<f64>().ok();
        let seconds = seconds.filter(|s| s.is_finite()).ok_or("the seconds are not a number")?;
        Ok((table, Uct { memory: MEMORY, threads: 1, ..player }, seconds.clamp(SECONDS_MIN, SECONDS_MAX)))
    });
    let (thinking, thinkers) = (site.thinking.clone(), site.thinkers);
    Reply::stream(move |sink| match asked {
        Err(why) => refuse(sink, &why),
        Ok((table, _, _)) if table.board.outcome().is_some() => refuse(sink, "the game is over"),
        Ok((table, player, seconds)) => answer(&table, &player, seconds, &thinking, thinkers, sink),
    })
}

fn answer(
    table: &Table,
    player: &Uct,
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
    let mut engine = match table.game.player(player, seed) {
        Ok(engine) => engine,
        Err(error) => return refuse(sink, &error.to_string()),
    };
    if let Err(error) = engine.set(None, table.board.words()) {
        return refuse(sink, &error.to_string());
    }
    let stop = AtomicBool::new(false);
    let (mut told, mut gone) = (Instant::now(), Ok(()));
    let budget = Budget { seconds: Some(seconds), ..Budget::default() };
    let thought = engine.think(&budget, &stop, &mut |thought| {
        if told.elapsed() >= TELL_EVERY && gone.is_ok() {
            told = Instant::now();
            gone = sink.send("thought", None, &opinion(thought, side_to_move).to_string());
            stop.store(gone.is_err(), Ordering::Relaxed);
        }
    });
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
        assert_eq!(four["legal"][3], json!({ "word": "d", "path": ["d"] }));
        assert_eq!(four["spots"].as_array().unwrap().iter().filter(|spot| spot[0] == "d").count(), 6);
        assert_eq!(ask("/api/board?game=nim/21")["legal"][0]["path"], json!([]));
        assert!(ask("/api/board?game=loa/8&moves=a1-a2")["error"].is_string());
        assert!(ask("/api/board?game=samegame/1")["error"].as_str().unwrap().contains("problem"));
    }

    #[test]
    fn the_engine_answers_within_its_bounds() {
        let request = parse(b"GET /api/board?game=connect4/7x6&moves=a+b+a+b+a+b HTTP/1.1\r\n\r\n").unwrap();
        let table = Table::of(&request).unwrap();
        let (thinking, mut out) = (Arc::new(AtomicUsize::new(0)), Vec::new());
        answer(&table, &Uct::default(), 0.1, &thinking, 1, &mut Sink::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("event: move") && text.contains("\"best\":\"a\""),
            "four in a row wins: {text}"
        );
        assert_eq!(thinking.load(Ordering::Relaxed), 0);
        let mut out = Vec::new();
        answer(&table, &Uct::default(), 0.1, &thinking, 0, &mut Sink::new(&mut out)).unwrap();
        assert!(String::from_utf8(out).unwrap().contains("refused"));
    }
}
