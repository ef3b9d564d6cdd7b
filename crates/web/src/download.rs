//! Games to take home: as a record, which every other command reads, as SGF where the game is written so, and as text
//! with the moves numbered, in the manner of PGN.

use crate::http::{Reply, Request};
use crate::play::Table;
use sortie_core::{Outcome, Record, Side};
use sortie_domains::sgf;
use sortie_runs::game::{Ended, Game};
use std::fmt::Write;

/// Moves are wrapped at this column.
const WRAP: usize = 80;

/// The forms of a game: the ending of the file, and what it is called.
pub fn forms(instance: &str) -> Vec<(&'static str, &'static str)> {
    let domain = instance.split('/').next().unwrap_or_default();
    let sgf = sgf::GAMES.contains(&domain).then_some(("sgf", "SGF"));
    sgf.into_iter().chain([("txt", "text"), ("record", "record")]).collect()
}

/// A game that the address tells: `game` and `moves`.
pub fn of_address(request: &Request, form: &str) -> Reply {
    let table = match Table::of(request) {
        Ok(table) => table,
        Err(why) => return Reply::whole(400, "text/plain; charset=utf-8", why.into_bytes()),
    };
    let instance = request.ask("game").unwrap_or_default().to_string();
    let outcome = table.board.outcome();
    reply(&record(instance, table.board.words().to_vec(), outcome, Vec::new()), form)
}

/// A game of a match.
pub fn of_match(game: &Game, form: &str) -> Reply {
    let outcome = match game.result {
        Ended::First => Outcome::Win(Side::First),
        Ended::Second => Outcome::Win(Side::Second),
        Ended::Draw => Outcome::Draw,
    };
    let field = |key: &str, value: &str| (key.to_string(), value.to_string());
    let mut fields = vec![field("first", &game.first), field("second", &game.second)];
    fields.push(field("reason", game.reason.name()));
    reply(&record(game.instance.clone(), game.moves.clone(), Some(outcome), fields), form)
}

fn record(
    instance: String,
    moves: Vec<String>,
    outcome: Option<Outcome>,
    mut fields: Vec<(String, String)>,
) -> Record {
    let result = match outcome {
        Some(Outcome::Win(Side::First)) => "first",
        Some(Outcome::Win(Side::Second)) => "second",
        Some(Outcome::Draw) => "draw",
        None => "unfinished",
    };
    fields.push(("result".into(), result.into()));
    Record { instance, score: outcome.map_or(0.5, Outcome::value), fields, moves }
}

fn reply(record: &Record, form: &str) -> Reply {
    if !forms(&record.instance).iter().any(|(known, _)| *known == form) {
        return Reply::whole(404, "text/plain; charset=utf-8", b"there is no such form of this game".into());
    }
    let (kind, text) = match form {
        "sgf" => ("application/x-go-sgf", sgf::write(record, &comment(record))),
        "record" => ("text/plain; charset=utf-8", Ok(record.to_text())),
        _ => ("text/plain; charset=utf-8", Ok(text(record))),
    };
    match text {
        Ok(text) => {
            let name: String =
                record.instance.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let file = format!("attachment; filename=\"{name}.{form}\"");
            Reply::whole(200, kind, text.into_bytes()).with("Content-Disposition", file)
        }
        Err(why) => Reply::whole(404, "text/plain; charset=utf-8", why.into_bytes()),
    }
}

/// What `sortie convert` finds the instance in.
fn comment(record: &Record) -> String {
    let mut lines = vec![format!("instance = {}", record.instance), format!("score = {}", record.score)];
    lines.extend(record.fields.iter().map(|(key, value)| format!("{key} = {value}")));
    lines.join("\n")
}

/// Tags in brackets, then the moves: a number for every turn of the first side, stones of one turn with a comma.
fn text(record: &Record) -> String {
    let domain = record.instance.split('/').next().unwrap_or_default();
    let tag = |name: &str, value: &str| {
        format!("[{name} \"{}\"]\n", value.replace('\\', "\\\\").replace('"', "\\\""))
    };
    let result = match record.field("result") {
        Some("first") => "1-0",
        Some("second") => "0-1",
        Some("draw") => "1/2-1/2",
        _ => "*",
    };
    let mut out = tag("Game", &record.instance);
    for (name, key) in [("First", "first"), ("Second", "second"), ("Termination", "reason")] {
        if let Some(value) = record.field(key) {
            out += &tag(name, value);
        }
    }
    out += &tag("Result", result);
    out.push('\n');
    let mut column = 0;
    let mut words = Vec::new();
    for (i, (first, turn)) in sgf::turns(domain, &record.moves).into_iter().enumerate() {
        if first {
            words.push(format!("{}.", i / 2 + 1));
        }
        words.push(turn.join(","));
    }
    words.push(result.into());
    for word in words {
        if column > 0 && column + word.len() >= WRAP {
            out.push('\n');
            column = 0;
        }
        let _ = write!(out, "{}{word}", if column > 0 { " " } else { "" });
        column += word.len() + usize::from(column > 0);
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Body, parse};

    fn ask(form: &str, address: &str) -> (u16, String) {
        let request = parse(format!("GET {address} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let reply = of_address(&request, form);
        let Body::Whole(bytes) = reply.body else { panic!("not a stream") };
        (reply.status, String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn a_game_is_taken_home_in_every_form() {
        let at = "/api/game?game=connect6/19&moves=j10+k10+i9+a1+s19";
        let (_, text) = ask("txt", at);
        assert_eq!(text, "[Game \"connect6/19\"]\n[Result \"*\"]\n\n1. j10 k10,i9 2. a1,s19 *\n");
        assert!(ask("sgf", at).1.contains(";B[jj]\n;W[kjik]\n"));
        let record = Record::parse(&ask("record", at).1).unwrap();
        assert_eq!((record.moves.len(), record.field("result")), (5, Some("unfinished")));
        assert_eq!(ask("txt", "/api/game?game=connect6/19&moves=z9").0, 400);
        assert_eq!(ask("sgf", "/api/game?game=nim/21&moves=3").0, 404);
        assert!(forms("nim/21").iter().all(|(ending, _)| *ending != "sgf"));
        let (_, over) = ask("txt", "/api/game?game=connect4/7x6&moves=a+b+a+b+a+b+a");
        assert!(over.ends_with("1. a b 2. a b 3. a b 4. a 1-0\n"), "{over}");
    }

    #[test]
    fn long_games_are_wrapped() {
        let record =
            Record { instance: "nim/99".into(), score: 0.5, fields: vec![], moves: vec!["3".into(); 200] };
        assert!(text(&record).lines().all(|line| line.len() <= WRAP));
    }
}
